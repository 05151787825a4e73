//! The arrays of inputs one by one: what optimisers and solvers do with parameters whose structure they do not know.

use crate::{Arrays, Float, Result};

/// What makes of each array of the inputs another one, by [`Params::map`](super::Params::map).
pub trait MapArrays<B: Arrays> {
    /// The new array of one that is there.
    ///
    /// # Errors
    /// Those of the implementation.
    fn map<T: Float>(&mut self, x: &B::Array<T>) -> Result<B::Array<T>>;
}

/// What changes each array of parameters, given the one at the same place of their gradients, by [`Params::change`](super::Params::change).
pub trait ChangeArrays<B: Arrays> {
    /// Changes one array.
    ///
    /// # Errors
    /// Those of the implementation.
    fn change<T: Float>(&mut self, x: &mut B::Array<T>, beside: &B::Array<T>) -> Result<()>;
}
