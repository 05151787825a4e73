//! What a formula is written by in the language of a device: text, which depends on the formula's type alone, and the numbers that the
//! text has names for.

use crate::{DType, EachSource, Element};

/// Writes a formula's text.
pub trait Writer {
    /// The text of a part.
    type Part: Clone;

    /// The element of an array, of which `before` are before it.
    fn element(&mut self, before: usize) -> Self::Part;

    /// One more number, of this dtype.
    fn number(&mut self, dtype: DType) -> Self::Part;

    /// The row's expression of these operands: the first is of dtype `of`, the result of `out`.
    fn call<F: EachSource>(&mut self, of: DType, out: DType, operands: &[Self::Part]) -> Self::Part;

    /// The gradient of operand number `k` of the row, which is of dtype `of`: `parts` are the operands, the result and its gradient. None where it has none.
    fn pull<F: EachSource>(&mut self, k: usize, of: DType, parts: &[Self::Part]) -> Option<Self::Part>;

    /// The sum of two parts.
    fn sum(&mut self, a: Self::Part, b: Self::Part) -> Self::Part;
}

/// Takes a formula's numbers, in the order of [`Writer::number`] and [`Writer::call`].
pub trait Numbers {
    /// One more number.
    fn number<T: Element>(&mut self, x: T);

    /// The parameters of a row.
    fn params<F: EachSource>(&mut self, row: &F);
}
