//! Calls by name and scripts on [`AnyBackend`], compiled once.
//!
//! [`backends::call`] and [`Script::run`] are generic: each crate that uses them compiles every row of the table in all of its dtypes, which takes minutes. The
//! functions here are the same for the backend that is chosen at run time. They are compiled with this crate, and linked by the programs that call them.
//!
//! ```
//! use backends::prelude::*;
//!
//! let b = AnyBackend::from(Numpyish::new());
//! let x = backends_dynamic::call(&b, "asarray", &[vec![1.0, 4.0].into()], &[])?;
//! let mut variables = Variables::from([("x".into(), x)]);
//! let last = backends_dynamic::run(&b, &"sum(sqrt(x))".parse()?, &mut variables)?.unwrap();
//! assert_eq!(b.item(last.as_array().unwrap().get::<f64>().unwrap())?, 3.0);
//! # Ok::<(), Error>(())
//! ```

use backends::{AnyBackend, Result, Script, Value, Variables};

/// As [`backends::call`].
///
/// # Errors
/// Those of the op, and [`Error::Argument`](backends::Error::Argument) where there is no such op, parameter or value of it.
pub fn call(
    b: &AnyBackend,
    op: &str,
    args: &[Value<AnyBackend>],
    options: &[(&str, Value<AnyBackend>)],
) -> Result<Value<AnyBackend>> {
    backends::call(b, op, args, options)
}

/// As [`Script::run`].
///
/// # Errors
/// Those of the ops; [`Error::Argument`](backends::Error::Argument) with the line for a variable that there is not, and for names that are not as many
/// as the results.
pub fn run(
    b: &AnyBackend,
    script: &Script,
    variables: &mut Variables<AnyBackend>,
) -> Result<Option<Value<AnyBackend>>> {
    script.run(b, variables)
}
