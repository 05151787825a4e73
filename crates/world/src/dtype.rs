//! Properties of dtypes that messages need, and the operations of reductions.

use crate::DType;
use backend_core::DTypeKind;
use std::fmt;

/// Returns whether the elements are real or complex floats.
pub(crate) fn is_float(dtype: DType) -> bool {
    matches!(dtype.kind(), DTypeKind::Real | DTypeKind::Complex)
}

/// An operation that joins two elements in a reduction over ranks. All operations are commutative, and associative up
/// to rounding.
///
/// Sums and products of integers wrap. `Max` and `Min` of floats are NaN if either operand is NaN. For bools, `Sum` and
/// `Max` are the same as `Or`, and `Prod` and `Min` are the same as `And`. Complex numbers have no `Max` or `Min`;
/// `And` and `Or` exist for bools only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Join {
    /// `a + b`
    Sum,
    /// `a * b`
    Prod,
    /// The larger of the two elements.
    Max,
    /// The smaller of the two elements.
    Min,
    /// `a && b`
    And,
    /// `a || b`
    Or,
}

impl Join {
    /// All joins.
    pub const ALL: [Join; 6] = [Join::Sum, Join::Prod, Join::Max, Join::Min, Join::And, Join::Or];
}

impl fmt::Display for Join {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Join::Sum => "sum",
            Join::Prod => "product",
            Join::Max => "maximum",
            Join::Min => "minimum",
            Join::And => "and",
            Join::Or => "or",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dtypes_are_numbered_in_order() {
        for (i, dtype) in DType::ALL.into_iter().enumerate() {
            assert_eq!(dtype as usize, i);
            assert_eq!(dtype.size() % dtype.align(), 0);
        }
        assert_eq!(format!("{:>9}{:>4}", DType::Float64, Join::Sum), "  float64 sum");
    }
}
