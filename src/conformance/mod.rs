//! A backend's test file: every row of the table, in every dtype, against NumPy's results.
//!
//! `backends::conformance! { backend = Numpyish::new(), type = Numpyish }` makes a `#[test]` per row and dtype. The
//! results of NumPy are data of this crate (`tests/golden`, written by `cargo xtask golden`), so that a backend of
//! another crate is held to the same ones; a table of another crate brings data of its own.
//!
//! This module is what the generated tests call. Of one row they are:
//!
//! ```text
//! static SUITE: Suite<Numpyish> = Suite::new(
//!     || IntoBackend::into_backend(Numpyish::new()),
//!     conformance::golden,
//!     by_name,                // the calls by name of these rows in the dtypes of the tests, here
//!     conformance::reference, // and on Numpyish
//! );
//!
//! mod sum {
//!     use super::*;
//!
//!     const ROW: Row = Row {
//!         name: "sum",
//!         group: "reduction",
//!         params: &[ParamInfo::new("x", ParamKind::Array(ElementInfo::T), None), ..],
//!         result: ResultInfo::One(ElementInfo::Sum),
//!         signature: "sum(x: array, axis: axes, keepdims: bool = false) -> array<sum> = np.sum",
//!         cases: &["m, all", "m, 0"], // the row's, else those of [cases]
//!         accuracy: Accuracy { rtol: &[(DType::Float64, 1e-13), (DType::Float32, 1e-6)], sqrt_n: true, ..Accuracy::EXACT },
//!     };
//!
//!     #[test]
//!     fn float64() {
//!         SUITE.check(&ROW, DType::Float64);
//!     }
//! }
//! ```
//!
//! A test reads the arguments of each case, as what the row's parameters are, and calls the op by its name; the typed calls
//! are those of the rows' examples, which are tests of the documentation. A row with `types` has a check for each
//! second dtype: `SUITE.check_to(&ROW, DType::Float64, DType::Bool)`. The accuracy of a row is that of its
//! `accuracy` (or the group's) with the row's own `ulp` by dtype in `own_ulp`.
//!
//! Beside these every row, also one without cases, has a test `arguments`, `SUITE.answers(&ROW, &[DType::Float64, ..], None)`:
//! whatever it is called with, it answers with a result or an error, in bounded time. A test binary with the allocator
//! [`Refusing`] has its rows also called while memory is refused. And a test `errors`,
//! `SUITE.agrees(&ROW, &[DType::Float64, ..], None)`: it refuses what `Numpyish` refuses, in the same words. `BACKENDS_CALLS=5000`
//! makes that many calls of each row.
//!
//! A row that is a scalar expression has a test `formula` where the macro says `formulas = true`,
//! `SUITE.formulas(&ROW, &[(DType::Float64, formula::<Numpyish, f64>), ..])`: in `expr!` it gives what the op gives.
//!
//! A table of another crate has its results in one file, named like the table:
//!
//! ```text
//! static SUITE: Suite<Numpyish> = Suite::new(
//!     || IntoBackend::into_backend(Numpyish::new()),
//!     |_group| Some(include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/my_ops.golden"))),
//!     by_name,
//!     by_name,
//! );
//! ```
//!
//! A backend whose arrays are split over ranks is tested on all of them at once: `ranks = on_ranks` names a function that is given a check, and runs it on
//! each rank with a backend of that ([`OnRanks`]).
//!
//! A backend that cannot be had on this machine (no driver, no libtorch) skips its tests and says why on stderr, unless
//! the environment's `BACKENDS_REQUIRE` lists it (see
//! [`available`](backend_runtime::available)). A backend that has only some ops says `Suite::new(..).partial()`: then ops that
//! answer [`Error::Unsupported`](backend_runtime::Error::Unsupported) are skipped.

mod accuracy;
mod agreement;
mod arguments;
mod case;
mod compare;
mod compared;
mod data;
mod distance;
mod extreme;
mod formula;
mod fuzz;
mod gradient;
mod parse;
mod random;
mod refusing;
mod suite;
mod values;
mod watchdog;

pub use accuracy::Accuracy;
pub use case::{Call, Meter};
pub use data::golden;
pub use gradient::Gradients;
pub use refusing::Refusing;
pub use suite::{IntoBackend, OnRanks, Row, Suite, reference};
pub use values::Values;
