//! Access to each array of the inputs, and its name, for optimisers and solvers that do not depend on the structure of
//! the parameters.

use crate::{Arrays, Float, Result};

/// The name of a field or an item within `prefix`.
#[doc(hidden)]
pub fn joined(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.into() } else { format!("{prefix}.{name}") }
}

/// A function that maps each array of the inputs to a new one, for [`Params::map`](super::Params::map).
pub trait MapArrays<B: Arrays> {
    /// Returns the new array for `x`.
    ///
    /// # Errors
    /// The errors of the implementation.
    fn map<T: Float>(&mut self, x: &B::Array<T>) -> Result<B::Array<T>>;
}

/// A function that changes each array of the parameters in place, for [`Params::change`](super::Params::change). It
/// also gets the array at the same position of a second structure, such as the gradients.
pub trait ChangeArrays<B: Arrays> {
    /// Changes one array.
    ///
    /// # Errors
    /// The errors of the implementation.
    fn change<T: Float>(&mut self, x: &mut B::Array<T>, beside: &B::Array<T>) -> Result<()>;
}
