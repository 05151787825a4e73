//! Access to the single arrays of inputs, for optimisers and solvers that do not know the structure of the parameters.

use crate::{Arrays, Float, Result};

/// A function that maps each array of the inputs to a new one, for [`Params::map`](super::Params::map).
pub trait MapArrays<B: Arrays> {
    /// Returns the new array for `x`.
    ///
    /// # Errors
    /// The errors of the implementation.
    fn map<T: Float>(&mut self, x: &B::Array<T>) -> Result<B::Array<T>>;
}

/// A function that changes each array of parameters, given the array at the same position of their gradients, for
/// [`Params::change`](super::Params::change).
pub trait ChangeArrays<B: Arrays> {
    /// Changes one array.
    ///
    /// # Errors
    /// The errors of the implementation.
    fn change<T: Float>(&mut self, x: &mut B::Array<T>, beside: &B::Array<T>) -> Result<()>;
}
