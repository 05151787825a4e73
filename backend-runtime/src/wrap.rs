//! Backends that wrap another: what their generated methods do around each op.

use crate::{Arrays, Element, Operand, Result};

/// A backend whose ops run on another. The generated methods of a column with `wrap = true` call these.
pub trait Wrap: Arrays {
    /// The backend that is wrapped.
    type Within: Arrays;

    /// The backend that runs the op; asked once for every call.
    fn within(&self, op: &'static str) -> Result<&Self::Within>;

    /// An array of that backend, of one of this.
    fn open<'a, T: Element>(
        &'a self,
        op: &'static str,
        x: &'a Self::Array<T>,
    ) -> Result<&'a <Self::Within as Arrays>::Array<T>>;

    /// An array of this backend, of the result of an op.
    fn close<T: Element>(&self, op: &'static str, x: <Self::Within as Arrays>::Array<T>) -> Result<Self::Array<T>>;

    /// Changes an array of this backend, by a function over that of the backend within.
    ///
    /// The default changes a copy of it; where the array itself can be given, nothing is copied.
    fn change<T: Element>(
        &self,
        op: &'static str,
        x: &mut Self::Array<T>,
        f: impl FnOnce(&mut <Self::Within as Arrays>::Array<T>) -> Result<()>,
    ) -> Result<()> {
        let mut within = self.open(op, x)?.clone();
        f(&mut within)?;
        *x = self.close(op, within)?;
        Ok(())
    }

    /// An operand of the backend that is wrapped.
    fn open_operand<'a, T: Element>(
        &'a self,
        op: &'static str,
        x: &'a Operand<'_, Self, T>,
    ) -> Result<Operand<'a, Self::Within, T>> {
        Ok(match x {
            Operand::Array(x) => Operand::array(self.open(op, x)?),
            Operand::Scalar(x) => Operand::Scalar(*x),
        })
    }
}
