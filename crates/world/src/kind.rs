//! The kinds of elements, and the operations of reductions.

use std::fmt;

/// The kind of the elements of a buffer. There is one kind for each dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// A bool: one byte, 0 or 1.
    Bool,
    /// `i8`
    Int8,
    /// `i16`
    Int16,
    /// `i32`
    Int32,
    /// `i64`
    Int64,
    /// `u8`
    UInt8,
    /// `u16`
    UInt16,
    /// `u32`
    UInt32,
    /// `u64`
    UInt64,
    /// `half::f16`
    Float16,
    /// `half::bf16`
    BFloat16,
    /// `f32`
    Float32,
    /// `f64`
    Float64,
    /// Two `f32`; the real part comes first.
    Complex64,
    /// Two `f64`; the real part comes first.
    Complex128,
}

use Kind::*;

impl Kind {
    /// All kinds, in the order of their discriminants.
    pub const ALL: [Kind; 15] = [
        Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float16, BFloat16, Float32, Float64, Complex64,
        Complex128,
    ];

    /// Size of one element in bytes.
    pub const fn size(self) -> usize {
        match self {
            Bool | Int8 | UInt8 => 1,
            Int16 | UInt16 | Float16 | BFloat16 => 2,
            Int32 | UInt32 | Float32 => 4,
            Int64 | UInt64 | Float64 | Complex64 => 8,
            Complex128 => 16,
        }
    }

    /// Returns whether the elements are real or complex floats.
    pub(crate) const fn is_float(self) -> bool {
        matches!(self, Float16 | BFloat16 | Float32 | Float64 | Complex64 | Complex128)
    }

    /// The alignment in bytes that a C library requires to compute with elements of this kind.
    pub(crate) const fn align(self) -> usize {
        match self {
            Complex64 => 4,
            Complex128 => 8,
            other => other.size(),
        }
    }
}

impl fmt::Display for Kind {
    /// Writes the name of the dtype, such as `float64`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Bool => "bool",
            Int8 => "int8",
            Int16 => "int16",
            Int32 => "int32",
            Int64 => "int64",
            UInt8 => "uint8",
            UInt16 => "uint16",
            UInt32 => "uint32",
            UInt64 => "uint64",
            Float16 => "float16",
            BFloat16 => "bfloat16",
            Float32 => "float32",
            Float64 => "float64",
            Complex64 => "complex64",
            Complex128 => "complex128",
        })
    }
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
    fn kinds_are_numbered_in_order() {
        for (i, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, i);
            assert_eq!(kind.size() % kind.align(), 0);
        }
        assert_eq!(format!("{:>9}{:>4}", Kind::Float64, Join::Sum), "  float64 sum");
    }
}
