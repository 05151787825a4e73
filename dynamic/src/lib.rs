//! Calls by name and scripts on [`AnyBackend`], compiled once.
//!
//! [`backends::call`] and [`Script::run`] are generic: each crate that uses them compiles the calls of every row
//! of the table, which takes a minute. The functions here do the same for [`AnyBackend`], the backend chosen at run
//! time. They are compiled once, with this crate, and linked into the programs that call them.
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

/// Like [`backends::call`].
///
/// # Errors
/// Errors of the op, and [`Error::Argument`](backends::Error::Argument) for an unknown op, parameter or value.
pub fn call(
    b: &AnyBackend,
    op: &str,
    args: &[Value<AnyBackend>],
    options: &[(&str, Value<AnyBackend>)],
) -> Result<Value<AnyBackend>> {
    backends::call(b, op, args, options)
}

/// Like [`Script::run`].
///
/// # Errors
/// Errors of the ops, and [`Error::Argument`](backends::Error::Argument) with the line, for an unknown variable and for
/// a number of names that differs from the number of results.
pub fn run(
    b: &AnyBackend,
    script: &Script,
    variables: &mut Variables<AnyBackend>,
) -> Result<Option<Value<AnyBackend>>> {
    script.run(b, variables)
}
