//! Gradients of functions that are generic over the backend.
//!
//! [`Diff`] is a backend around another one. It runs the ops of a function on the inner backend, and records them if a
//! gradient may be needed. A backward pass over the record computes the gradients. A function that is generic over the
//! backend needs no change:
//!
//! ```
//! use backends::{Error, Result, grad::{grad, value_and_grad}, prelude::*};
//!
//! /// The mean square of the residuals of a line.
//! fn loss<B: Backend>(b: &B, x: &B::Array<f64>, y: &B::Array<f64>, slope: &B::Array<f64>) -> Result<B::Array<f64>> {
//!     b.mean(b.square(b.subtract(b.multiply(x, slope)?, y)?)?, ..)
//! }
//!
//! let b = Numpyish::new();
//! let (x, y) = (b.asarray([1.0, 2.0])?, b.asarray([2.0, 5.0])?);
//! let slope = b.asarray(1.0)?;
//! let (value, slopes) = value_and_grad(&b, |d, slope| loss(d, &d.constant(x.clone()), &d.constant(y.clone()), slope), &slope)?;
//! assert_eq!((b.item(value)?, b.item(slopes)?), (5.0, -7.0));
//! # Ok::<(), Error>(())
//! ```

mod api;
pub(crate) mod casting;
mod custom;
mod diff;
mod formula;
pub(crate) mod forward;
mod implicit;
pub(crate) mod indexing;
mod leaves;
#[doc(hidden)]
pub mod rules;
mod state;
mod tape;

#[doc(hidden)]
pub use api::{Found, Struct};
pub use api::{Params, Pullback, grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp};
pub use backend_macros::Params;
pub use custom::checkpoint;
pub use forward::{Dual, Jvp};
pub use leaves::{ChangeArrays, MapArrays};
pub use state::{StateDict, load_state_dict, names, state_dict};
pub use tape::{Diff, Var};
#[doc(hidden)]
pub use {leaves::joined, state::stored};

/// Types for the generated methods of [`Diff`], and for the methods that users' op tables generate.
#[doc(hidden)]
pub mod recording {
    pub use super::{
        forward::Twice,
        tape::{Grads, Pull, Results, whole},
    };
}

backend! { overlay = "src/grad/diff.toml" }

backend! { overlay = "src/grad/jvp.toml" }
