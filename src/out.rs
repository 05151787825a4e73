//! Writes results to existing arrays, like NumPy's `out=`.

use crate::{Arrays, Element, runtime::formula};

/// The destination of an op's result, returned by `b.out(&mut y)`. Its methods are the ops that return one array.
///
/// The result must have the shape of `y`. For an elementwise op such as `exp`, `b.out(&mut y).exp(&x)?` is the same as
/// `expr!(b, y = exp(x))?`: the result overwrites the memory of `y` if no other handle or view uses this memory. In all
/// other cases, `y` becomes a new array. Other handles keep their values. After an error, `y` is unchanged.
#[must_use = "an array gets the result of the op that is called on this"]
pub struct Out<'y, B: Arrays, U: Element> {
    pub(crate) within: formula::Out<'y, B, U>,
}

impl<B: Arrays, U: Element> std::fmt::Debug for Out<'_, B, U> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Out(..)")
    }
}

/// Ops that write their result to an existing array, on every backend.
pub trait WriteTo: Arrays {
    /// The ops with `y` as the destination of the result: `b.out(&mut y).exp(&x)?`.
    ///
    /// ```
    /// use backends::{Result, prelude::*};
    /// # fn main() -> Result<()> {
    /// let b = Numpyish::new();
    /// let (x, mut y) = (b.asarray([1.0, 4.0])?, b.zeros([2])?);
    /// b.out(&mut y).sqrt(&x)?;
    /// assert_eq!(y, b.asarray([1.0, 2.0])?);
    /// b.out(&mut y).add(&x, 0.5)?;
    /// assert_eq!(y, b.asarray([1.5, 4.5])?);
    /// assert!(b.out(&mut y).exp(b.zeros::<f64>([3])?).is_err(), "the result has the shape of `y`");
    /// # Ok(())
    /// # }
    /// ```
    fn out<'y, U: Element>(&'y self, y: &'y mut Self::Array<U>) -> Out<'y, Self, U>;
}

impl<B: Arrays> WriteTo for B {
    #[inline(always)]
    fn out<'y, U: Element>(&'y self, y: &'y mut B::Array<U>) -> Out<'y, B, U> {
        Out { within: formula::Out::new(self, y) }
    }
}
