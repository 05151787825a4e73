//! Detects formulas that are the product of two arrays. The sum of such a product can read the two arrays directly.

use super::{expression::Node, writer::Writer};
use crate::{DType, EachSource, each::is_identity};

/// The kind of a subexpression.
#[derive(Clone, Copy)]
enum Part {
    /// An element of the array with this index.
    Array(usize),
    /// The product of elements of the arrays with these indices, which may be equal.
    Product([usize; 2]),
    Other,
}

/// A writer that determines the kind of a subexpression, without writing text.
struct Parts;

impl Writer for Parts {
    type Part = Part;

    #[inline]
    fn element(&mut self, before: usize) -> Part {
        Part::Array(before)
    }

    #[inline]
    fn number(&mut self, _: DType) -> Part {
        Part::Other
    }

    #[inline]
    fn call<F: EachSource>(&mut self, of: DType, out: DType, operands: &[Part]) -> Part {
        match *operands {
            [Part::Array(x)] if is_identity::<F>(of, out) => Part::Array(x),
            [Part::Array(x)] if F::IS_PRODUCT => Part::Product([x, x]),
            [Part::Array(x), Part::Array(y)] if F::IS_PRODUCT => Part::Product([x, y]),
            _ => Part::Other,
        }
    }

    #[inline]
    fn pull<F: EachSource>(&mut self, _: usize, _: DType, _: &[Part]) -> Option<Part> {
        None
    }

    #[inline]
    fn sum(&mut self, _: Part, _: Part) -> Part {
        Part::Other
    }
}

/// Returns the indices of two arrays if the formula is their product. For a square, both indices are equal. Returns
/// `None` for other formulas.
#[inline]
pub fn factors<L, E: Node<L>>() -> Option<[usize; 2]> {
    match E::write(&mut Parts) {
        Some(Part::Product(factors)) => Some(factors),
        _ => None,
    }
}
