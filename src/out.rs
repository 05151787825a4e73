//! Results in memory that is there, as NumPy's `out=`.

use crate::{Arrays, Element, runtime::formula};

/// An array that gets the result of an op, which `b.out(&mut y)` makes: its methods are the rows of the op table that give one array.
///
/// The result has to have the shape of `y`. That of a scalar expression, `b.out(&mut y).exp(&x)?`, is what `expr!(b, y = exp(x))?` gives, and
/// is written over the memory of `y` where no other handle or view of that is left, as formulas are; else, and for all other rows, `y`
/// becomes the new array. Other handles keep what they show, and after an error `y` is what it was.
#[must_use = "an array gets the result of the op that is called on this"]
pub struct Out<'y, B: Arrays, U: Element> {
    pub(crate) within: formula::Out<'y, B, U>,
}

impl<B: Arrays, U: Element> std::fmt::Debug for Out<'_, B, U> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Out(..)")
    }
}

/// Ops whose result goes to an array that is there, on every backend.
pub trait WriteTo: Arrays {
    /// The ops with a result that goes to `y`: `b.out(&mut y).exp(&x)?`.
    ///
    /// ```
    /// use backends::prelude::*;
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
