//! Detects formulas that are the product of two arrays. The sum of such a product can read the two arrays directly.

use super::{expression::Node, writer::Writer};
use crate::{DType, EachSource, each::is_identity};

/// The kind of a subexpression.
#[derive(Clone, Copy)]
enum SubexpressionKind {
    /// An element of the array with this index.
    Array(usize),
    /// The product of an element of one array and an element of another. The fields are the indices of the two arrays;
    /// both may be the same array.
    Product([usize; 2]),
    Other,
}

/// A writer that determines the kind of a subexpression, without writing text.
struct ProductDetector;

impl Writer for ProductDetector {
    type Subexpression = SubexpressionKind;

    #[inline]
    fn element(&mut self, before: usize) -> SubexpressionKind {
        SubexpressionKind::Array(before)
    }

    #[inline]
    fn number(&mut self, _: DType) -> SubexpressionKind {
        SubexpressionKind::Other
    }

    #[inline]
    fn call<F: EachSource>(&mut self, of: DType, out: DType, operands: &[SubexpressionKind]) -> SubexpressionKind {
        match *operands {
            [SubexpressionKind::Array(x)] if is_identity::<F>(of, out) => SubexpressionKind::Array(x),
            [SubexpressionKind::Array(x)] if F::IS_PRODUCT => SubexpressionKind::Product([x, x]),
            [SubexpressionKind::Array(x), SubexpressionKind::Array(y)] if F::IS_PRODUCT => {
                SubexpressionKind::Product([x, y])
            }
            _ => SubexpressionKind::Other,
        }
    }

    #[inline]
    fn pull<F: EachSource>(&mut self, _: usize, _: DType, _: &[SubexpressionKind]) -> Option<SubexpressionKind> {
        None
    }

    #[inline]
    fn sum(&mut self, _: SubexpressionKind, _: SubexpressionKind) -> SubexpressionKind {
        SubexpressionKind::Other
    }
}

/// Returns the indices of two arrays if the formula is their product. For a square, both indices are equal. Returns
/// `None` for other formulas.
#[inline]
pub fn factors<L, E: Node<L>>() -> Option<[usize; 2]> {
    match E::write(&mut ProductDetector) {
        Some(SubexpressionKind::Product(factors)) => Some(factors),
        _ => None,
    }
}
