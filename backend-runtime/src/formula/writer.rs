//! A formula in the language of a device: text, which depends on the formula's type alone, and the numbers that the
//! text has names for.

use crate::{DType, EachSource, Element};

/// Writes a formula's text.
pub trait Writer {
    /// The text of a part.
    type Part: Clone;

    /// The element of array number `before`.
    fn element(&mut self, before: usize) -> Self::Part;

    /// The next number, which has this dtype.
    fn number(&mut self, dtype: DType) -> Self::Part;

    /// The row's expression of these operands. The first operand has dtype `of`, the result dtype `out`.
    fn call<F: EachSource>(&mut self, of: DType, out: DType, operands: &[Self::Part]) -> Self::Part;

    /// The gradient of operand number `k` of a row of dtype `of`. `parts` are the operands, the result and the result's
    /// gradient. `None` if the operand has no gradient.
    fn pull<F: EachSource>(&mut self, k: usize, of: DType, parts: &[Self::Part]) -> Option<Self::Part>;

    /// The sum of two parts.
    fn sum(&mut self, a: Self::Part, b: Self::Part) -> Self::Part;
}

/// Receives a formula's numbers, in the order of [`Writer::number`] and [`Writer::call`].
pub trait Numbers {
    /// Takes the next number.
    fn number<T: Element>(&mut self, x: T);

    /// Takes the parameters of a row.
    fn params<F: EachSource>(&mut self, row: &F);
}
