//! The conformance tests of a backend, which compare every op (row of the op table), in every dtype, with NumPy's
//! results.
//!
//! `backends::conformance! { backend = Numpyish::new(), type = Numpyish }` generates a `#[test]` per row and dtype.
//! NumPy's results are data of the crate `backends-golden` (written by `cargo xtask golden`), so that backends in other
//! crates are compared with the same data. A table of another crate has its own data.
//!
//! The generated tests call functions of this module. For one row, the tests are:
//!
//! ```text
//! static SUITE: Suite<Numpyish> = Suite::new(
//!     || IntoBackend::into_backend(Numpyish::new()),
//!     conformance::golden,
//!     by_name,                // calls these rows by name, in the dtypes of the tests
//!     conformance::reference, // calls them on Numpyish
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
//!         cases: &["m, all", "m, 0"], // the cases of the row, or of [cases]
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
//! A test parses the arguments of each case by the types of the row's parameters, and calls the op by its name. The
//! typed functions are tested by the rows' examples, which are documentation tests. A row with a second dtype
//! (`types`) has one check per second dtype: `SUITE.check_to(&ROW, DType::Float64, DType::Bool)`. The accuracy of a
//! row is given by its key `accuracy` or, without this key, by its group; `own_ulp` holds the row's `ulp` by dtype.
//!
//! Every row, even without cases, also has a test `arguments`, `SUITE.answers(&ROW, &[DType::Float64, ..], None)`: with
//! any arguments, a call must return a result or an error, in bounded time. In a test binary with the allocator
//! [`Refusing`], the test also calls the row while memory is refused. A test `errors`, `SUITE.agrees(&ROW,
//! &[DType::Float64, ..], None)`, checks that the row refuses the same calls as `Numpyish`, with the same texts.
//! `BACKENDS_CALLS=5000` sets the number of calls of each row.
//!
//! If the macro has `methods = true`, the tests call the row's method in each dtype, with arrays whose dtype is static.
//! Otherwise, calls by name run the row's entry if the backend has one.
//!
//! If the macro has `formulas = true`, a row that is a scalar expression has a test `formula`, `SUITE.formulas(&ROW,
//! &[(DType::Float64, formula::<Numpyish, f64>), ..])`: the row must give the same result in `expr!` and as an op.
//!
//! The results for a table of another crate are in one file, which has the same name as the table:
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
//! A backend whose arrays are split over ranks is tested on all ranks at once. `ranks = on_ranks` names a function that
//! takes a check and runs it on each rank, with that rank's backend ([`OnRanks`]).
//!
//! If a backend is unavailable on this machine (no driver, no libtorch), its tests are skipped with the reason on
//! stderr, unless the environment variable `BACKENDS_REQUIRE` lists it (see [`available`](backend_runtime::available)).
//! For a backend with only some of the ops, use `Suite::new(..).partial()`: calls that return
//! [`Error::Unsupported`](backend_runtime::Error::Unsupported) are then skipped.

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
mod noise;
mod parse;
mod random;
mod refusing;
mod row;
mod settings;
mod suite;
mod values;
mod watchdog;

pub use accuracy::Accuracy;
pub use case::{Call, Meter};
pub use data::golden;
pub use gradient::Gradients;
pub use refusing::Refusing;
pub use row::Row;
#[cfg(not(test))]
pub use suite::reference;
pub use suite::{IntoBackend, OnRanks, Suite};
pub use values::Values;
