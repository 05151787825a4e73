//! Calls by name and scripts on [`AnyBackend`], compiled only once.
//!
//! [`backends::call`] and [`Script::run`] are generic, so each crate that uses them compiles the calls of all ops,
//! which takes a minute. The functions of this crate do the same for [`AnyBackend`], the backend chosen at run time.
//! They are compiled once, with this crate; programs that call them only link to them.
//!
//! ```
//! use backends::{Error, Variables, prelude::*};
//!
//! let b = AnyBackend::from(Numpyish::new());
//! let x = backends_dynamic::call(&b, "asarray", &[vec![1.0, 4.0].into()], &[])?;
//! let mut variables = Variables::from([("x".into(), x)]);
//! let last = backends_dynamic::run(&b, &"sum(sqrt(x))".parse()?, &mut variables)?.unwrap();
//! assert_eq!(b.item(last.as_array().unwrap().get::<f64>().unwrap())?, 3.0);
//! # Ok::<(), Error>(())
//! ```

use backends::{AnyBackend, Result, Script, Value, Variables};

/// Calls an op by its name, like [`backends::call`], on an [`AnyBackend`].
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

/// Runs a script, like [`Script::run`], on an [`AnyBackend`].
///
/// # Errors
/// Errors of the ops. For an unknown variable, or if the number of names differs from the number of results, the error
/// is [`Error::Argument`](backends::Error::Argument), and its message names the line.
pub fn run(
    b: &AnyBackend,
    script: &Script,
    variables: &mut Variables<AnyBackend>,
) -> Result<Option<Value<AnyBackend>>> {
    script.run(b, variables)
}
