//! A backend's test file: every row of the table, in every dtype, against NumPy's results.
//!
//! `backends::conformance! { backend = Numpyish::new(), type = Numpyish }` makes a `#[test]` per row and dtype. The
//! results of NumPy are data of this crate (`tests/golden`, written by `cargo xtask golden`), so that a backend of
//! another crate is held to the same ones; a table of another crate brings data of its own.
//!
//! This module is what the generated tests call. Of one row they are:
//!
//! ```text
//! static SUITE: Suite<Numpyish> = Suite::new(|| IntoBackend::into_backend(Numpyish::new()), conformance::golden);
//!
//! mod sum {
//!     use super::*;
//!
//!     const ROW: Row = Row {
//!         name: "sum",
//!         group: "reduction",
//!         params: &["x: array", "axis: axes", "keepdims: bool = false"], // as the table has them
//!         result: "array<sum>",                                          // "array" where the table says nothing
//!         reference: "np.sum",                                           // `golden`, else np.<numpy>, else np.<name>
//!         cases: &["m, all", "m, 0"],                                    // the row's, else those of [cases]
//!         accuracy: Accuracy { rtol: &[(DType::Float64, 1e-13), (DType::Float32, 1e-6)], sqrt_n: true, ..Accuracy::EXACT },
//!     };
//!
//!     // one call serves every case: the arguments are read from the text of the case at run time
//!     fn call<B: Backend, T: Element>(case: &Case<'_, B>) -> Result<Vec<Values>> {
//!         let mut options = SumOptions::new();
//!         if let Some(keepdims) = case.given::<bool>("keepdims")? {
//!             options = options.keepdims(keepdims);
//!         }
//!         let result = case.b.sum_with(&case.array::<T>("x")?, case.get::<Axes>("axis")?, options)?;
//!         Ok(vec![case.read(&result)?])
//!     }
//!
//!     #[test]
//!     fn float64() {
//!         SUITE.check(&ROW, DType::Float64, call::<Numpyish, f64>);
//!     }
//! }
//! ```
//!
//! What a parameter is read with:
//!
//! | type in the table | positional | with a default |
//! |---|---|---|
//! | `array`, `array<bool>` .. | `&case.array::<T>("x")?` | `case.optional_array::<T>("x")?`, an `Option` of an array |
//! | `operand` | `case.operand::<T>("x1")?.operand()` | |
//! | `arrays` | `&case.arrays::<T>("xs")?.iter().collect::<Vec<_>>()` | |
//! | `host` | `case.host::<T>("x")?` | |
//! | `bytes` | `&case.bytes::<T>("buffer")?` | |
//! | `scalar` | `case.scalar::<T>("value")?` | |
//! | `axes` | `case.get::<Axes>("axis")?` | `case.given::<Axes>("axis")?`, an `Option` of it |
//! | `axis`, `usize`, `f64`, `bool` .. | `case.get::<isize>("axis")?` | `case.given::<usize>("n")?` |
//! | `norm` and other choices | `case.choice::<Norm>("norm")?` | `case.optional_choice::<Norm>("norm")?` |
//! | `shape`; `newshape`, `shifts` | `case.get::<Vec<usize>>("shape")?`; `Vec<isize>` | |
//! | `slices` | `case.get::<Vec<Slice>>("slices")?` | |
//! | `lengths?` | | `case.given::<Lengths>("s")?` |
//!
//! Results: `vec![case.read(&r)?]` of one array, `vec![case.read(&r.values)?, case.read(&r.counts)?]` of named ones,
//! `r.iter().map(|x| case.read(x)).collect()` of a list. A row with `types` has one call per second dtype:
//! `SUITE.check_to(&ROW, DType::Float64, DType::Bool, call::<Numpyish, bool, f64>)`. The accuracy of a row is that of its
//! `accuracy` (or the group's) with the row's own `ulp` by dtype in `own_ulp`. Beside these every row,
//! also one without cases, has a test `arguments`, `SUITE.answers(&ROW, &[(DType::Float64, call::<Numpyish, f64>), ..])`:
//! whatever it is called with, it answers with a result or an error, in bounded time. A test binary with the allocator
//! [`Refusing`] has its rows also called while memory is refused. And a test `errors`,
//! `SUITE.agrees(&ROW, DType::Float64, call::<Torch, f64>, call::<Numpyish, f64>)`: it refuses what `Numpyish` refuses, in
//! the same words. `BACKENDS_CALLS=5000` makes that many calls of each row.
//!
//! A table of another crate has its results in one file, named like the table:
//!
//! ```text
//! static SUITE: Suite<Numpyish> = Suite::new(
//!     || IntoBackend::into_backend(Numpyish::new()),
//!     |_group| Some(include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/my_ops.golden"))),
//! );
//! ```
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
mod data;
mod extreme;
mod fuzz;
mod parse;
mod random;
mod refusing;
mod suite;
mod values;
mod watchdog;

pub use accuracy::Accuracy;
pub use arguments::Call;
pub use case::{Case, FromCase, Meter, OperandSample};
pub use data::golden;
pub use refusing::Refusing;
pub use suite::{IntoBackend, Row, Suite};
pub use values::Values;
