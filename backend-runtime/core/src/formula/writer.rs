//! Converts a formula to a list of steps and the numbers that the steps use. The steps depend only on the formula's
//! type. Code that is compiled once, and not for every formula, turns steps and numbers into the source of a kernel or
//! into text for users.

use crate::{DType, EachSource, Element, entry::Row, raw::RawElement};

/// Visits the nodes of a formula. The operands of an op are visited before the op.
pub trait Writer {
    /// Representation of a visited subexpression, for example its text.
    type Subexpression: Clone;

    /// Visits a leaf that is an array. `before` is the number of arrays before it in the list of leaves.
    fn element(&mut self, before: usize) -> Self::Subexpression;

    /// Visits a number of this dtype.
    fn number(&mut self, dtype: DType) -> Self::Subexpression;

    /// Visits an op, applied to these operands. `of` is the dtype of the first operand, and `out` is the dtype of the
    /// result.
    fn call<F: EachSource>(&mut self, of: DType, out: DType, operands: &[Self::Subexpression]) -> Self::Subexpression;

    /// Visits the gradient of an op with respect to its operand `k`. `of` is the op's dtype. `parts` are the operands,
    /// the result, and the gradient of the result. Returns `None` if the op has no expression for this gradient.
    fn pull<F: EachSource>(
        &mut self,
        k: usize,
        of: DType,
        parts: &[Self::Subexpression],
    ) -> Option<Self::Subexpression>;

    /// Visits the sum of two subexpressions.
    fn sum(&mut self, a: Self::Subexpression, b: Self::Subexpression) -> Self::Subexpression;
}

/// The constants of [`EachSource`] of one op, as data.
#[derive(Debug)]
#[allow(missing_docs)] // the constants of the same names are documented
pub struct RowSource {
    pub name: &'static str,
    pub cuda: &'static str,
    pub cuda_complex: &'static str,
    pub cuda_pulls: &'static [&'static str],
    pub inputs: &'static [&'static str],
    pub input_of_t: usize,
    pub params: &'static [&'static str],
    pub row: Option<&'static Row>,
    pub converts: bool,
}

impl RowSource {
    /// Returns the constants of the op `F`.
    pub const fn of<F: EachSource>() -> RowSource {
        RowSource {
            name: F::NAME,
            cuda: F::CUDA,
            cuda_complex: F::CUDA_COMPLEX,
            cuda_pulls: F::CUDA_PULLS,
            inputs: F::INPUTS,
            input_of_t: F::INPUT_OF_T,
            params: F::PARAMS,
            row: F::ROW,
            converts: F::CONVERTS,
        }
    }
}

/// A node of a formula. Steps are in a list; a step refers to its operands by their indices in this list.
#[derive(Clone, Debug)]
pub enum Step {
    /// An element of an array. The index is the number of arrays before this array.
    Element(usize),
    /// The next unused number of the formula's [`Numbers`], which has this dtype.
    Number(DType),
    /// The expression of an op, applied to operands. The op's parameters are the next unused numbers of [`Numbers`].
    Call {
        /// The op.
        row: &'static RowSource,
        /// For an expression of a gradient: index of the operand to which the gradient belongs. Otherwise `None`.
        gradient: Option<usize>,
        /// Dtype of the op's first operand.
        of: DType,
        /// Dtype of the result.
        out: DType,
        /// The indices of the steps that compute the operands. For a gradient, they are followed by the result and the
        /// gradient of the result.
        operands: Vec<usize>,
    },
    /// The sum of two steps, given by their indices.
    Sum(usize, usize),
}

/// A formula as a list of steps.
#[derive(Debug, Default)]
pub struct Steps {
    /// The steps. The operands of an op come before the op.
    pub steps: Vec<Step>,
    /// Index of the step that computes the formula's value; `None` if the formula is only a number.
    pub value: Option<usize>,
}

impl Steps {
    fn push(&mut self, step: Step) -> usize {
        self.steps.push(step);
        self.steps.len() - 1
    }

    fn push_call(
        &mut self,
        row: &'static RowSource,
        gradient: Option<usize>,
        [of, out]: [DType; 2],
        operands: &[usize],
    ) -> usize {
        self.push(Step::Call { row, gradient, of, out, operands: operands.to_vec() })
    }
}

impl Writer for Steps {
    type Subexpression = usize;

    fn element(&mut self, before: usize) -> usize {
        self.push(Step::Element(before))
    }

    fn number(&mut self, dtype: DType) -> usize {
        self.push(Step::Number(dtype))
    }

    fn call<F: EachSource>(&mut self, of: DType, out: DType, operands: &[usize]) -> usize {
        self.push_call(const { &RowSource::of::<F>() }, None, [of, out], operands)
    }

    fn pull<F: EachSource>(&mut self, k: usize, of: DType, parts: &[usize]) -> Option<usize> {
        let row = const { &RowSource::of::<F>() };
        let has = row.cuda_pulls.get(k).is_some_and(|text| !text.is_empty());
        has.then(|| self.push_call(row, Some(k), [of; 2], parts))
    }

    fn sum(&mut self, a: usize, b: usize) -> usize {
        self.push(Step::Sum(a, b))
    }
}

/// The numbers that the steps of a formula use, in the order in which the steps use them.
#[derive(Debug, Default)]
pub struct Numbers {
    /// The bytes of each number, padded with zeros.
    bytes: Vec<[u8; 16]>,
    dtypes: Vec<DType>,
    /// The addresses of the ops that have parameters.
    ops: Vec<*const u8>,
}

impl PartialEq for Numbers {
    fn eq(&self, other: &Numbers) -> bool {
        (&self.bytes, &self.dtypes) == (&other.bytes, &other.dtypes)
    }
}

impl Numbers {
    /// Adds a number.
    pub fn number<T: Element>(&mut self, x: T) {
        let raw = x.to_raw();
        self.bytes.push(raw.byte_array());
        self.dtypes.push(raw.dtype());
    }

    /// Adds the parameters of an op.
    pub fn params<F: EachSource>(&mut self, row: &F) {
        if const { !F::PARAMS.is_empty() } {
            row.params().into_iter().for_each(|x| self.number(x));
            self.ops.push(std::ptr::from_ref(row).cast());
        }
    }

    /// Returns the numbers.
    pub(crate) fn elements(&self) -> impl Iterator<Item = RawElement> {
        self.dtypes.iter().zip(&self.bytes).map(|(&dtype, &bytes)| RawElement::of_bytes(dtype, bytes))
    }

    /// Returns the addresses of the ops that have parameters. They are valid as long as the formula.
    pub(crate) fn ops(&self) -> impl Iterator<Item = *const u8> {
        self.ops.iter().copied()
    }

    /// Returns the bytes of each number, padded with zeros.
    pub fn bytes(&self) -> &[[u8; 16]] {
        &self.bytes
    }

    /// Returns the numbers as text.
    pub(super) fn texts(&self) -> Vec<String> {
        let text = |(dtype, bytes): (&DType, &[u8; 16])| {
            // SAFETY: `bytes` begins with an element of this dtype, and the read needs no alignment.
            let text = crate::dispatch!(*dtype, T => Ok::<_, crate::Error>(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }.to_string()));
            text.unwrap_or_default()
        };
        self.dtypes.iter().zip(&self.bytes).map(text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Complex, bf16, f16};

    #[test]
    fn numbers_are_read_back_as_text() {
        let mut numbers = Numbers::default();
        numbers.number(0.1_f32);
        numbers.number(true);
        numbers.number(-3_i8);
        numbers.number(u64::MAX);
        numbers.number(Complex::new(1.5, -2.0));
        numbers.number(f16::from_f32(0.1));
        numbers.number(bf16::from_f32(-2.5));
        let expected = ["0.1", "true", "-3", "18446744073709551615", "1.5-2i", "0.099975586", "-2.5"];
        assert_eq!(numbers.texts(), expected);
        assert_eq!(numbers.bytes()[0], [0xcd, 0xcc, 0xcc, 0x3d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
}
