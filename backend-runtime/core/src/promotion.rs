//! Type promotion, and the limits of each dtype. Promotion finds the dtype that holds the values of two dtypes. The
//! functions and their rules follow the Python Array API standard 2025.12, "type promotion" and "data type functions".
//! The standard has no float16 and bfloat16; here the common dtype of the two is float32, as in PyTorch.
//!
//! Ops never promote implicitly. These functions return the dtype to which arrays can be converted with [`astype`].
//!
//! [`astype`]: https://data-apis.org/array-api/latest/API_specification/generated/array_api.astype.html

use crate::{DType, DTypeKind, Error, Result};

impl DType {
    /// Returns the dtype that holds the values of both dtypes, which is the dtype of `x + y` in the standard. Returns
    /// `None` if the standard defines no such dtype: for different kinds (except reals with complex numbers), and for
    /// uint64 with a signed integer.
    pub const fn promote(self, other: DType) -> Option<DType> {
        use DTypeKind::*;
        let (a, b) = (self, other);
        Some(match (a.kind(), b.kind()) {
            (Bool, Bool) => DType::Bool,
            (Signed, Signed) | (Unsigned, Unsigned) => larger(a, b),
            (Signed, Unsigned) => return signed_and_unsigned(a, b),
            (Unsigned, Signed) => return signed_and_unsigned(b, a),
            (Real, Real) => match (a, b) {
                (DType::Float16, DType::BFloat16) | (DType::BFloat16, DType::Float16) => DType::Float32,
                _ => larger(a, b),
            },
            (Real | Complex, Real | Complex) => larger(a.to_complex(), b.to_complex()),
            _ => return None,
        })
    }
}

const fn larger(a: DType, b: DType) -> DType {
    if a.size() >= b.size() { a } else { b }
}

/// Returns the smallest signed integer dtype that holds the values of both dtypes.
const fn signed_and_unsigned(signed: DType, unsigned: DType) -> Option<DType> {
    let next = match unsigned {
        DType::UInt8 => DType::Int16,
        DType::UInt16 => DType::Int32,
        DType::UInt32 => DType::Int64,
        _ => return None,
    };
    Some(larger(signed, next))
}

/// Returns the dtype that holds the values of all these dtypes, according to [`DType::promote`].
///
/// # Errors
/// [`Error::Argument`] if two dtypes do not promote, or the list is empty.
pub fn result_type(dtypes: &[DType]) -> Result<DType> {
    const OP: &str = "result_type";
    let (&first, rest) = dtypes.split_first().ok_or_else(|| Error::argument(OP, "there must be at least one dtype"))?;
    rest.iter().try_fold(first, |a, &b| {
        let why = || format!("{a} and {b} have no common dtype; convert one with astype");
        a.promote(b).ok_or_else(|| Error::argument(OP, why()))
    })
}

/// Returns whether every value of `from` is a value of `to`, according to [`DType::promote`].
pub const fn can_cast(from: DType, to: DType) -> bool {
    match from.promote(to) {
        Some(both) => both as u8 == to as u8,
        None => false,
    }
}

/// Limits of a float dtype; for a complex dtype, the limits of its parts.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FloatInfo {
    /// Number of bits of a number.
    pub bits: u32,
    /// The distance from 1 to the next larger number.
    pub eps: f64,
    /// The smallest number: `-max`.
    pub min: f64,
    /// The largest number.
    pub max: f64,
    /// The smallest positive number with full precision.
    pub smallest_normal: f64,
    /// The dtype of the numbers; for a complex dtype, the dtype of its parts.
    pub dtype: DType,
}

/// Limits of an integer dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IntegerInfo {
    /// Number of bits of a number.
    pub bits: u32,
    /// The smallest number.
    pub min: i128,
    /// The largest number.
    pub max: i128,
    /// The dtype.
    pub dtype: DType,
}

/// Returns the limits of a float or complex dtype.
///
/// # Errors
/// [`Error::DType`] for integers and bool.
pub fn finfo(dtype: DType) -> Result<FloatInfo> {
    let dtype = dtype.to_real();
    // the number of fraction bits, and the exponents of the smallest normal number and of the largest number
    let (fraction, low, high) = match dtype {
        DType::Float16 => (10, -14, 15),
        DType::BFloat16 => (7, -126, 127),
        DType::Float32 => (23, -126, 127),
        DType::Float64 => (52, -1022, 1023),
        _ => return Err(Error::dtype("finfo", dtype)),
    };
    let eps = 2_f64.powi(-fraction);
    let max = (2.0 - eps) * 2_f64.powi(high);
    let bits = 8 * dtype.size() as u32;
    Ok(FloatInfo { bits, eps, min: -max, max, smallest_normal: 2_f64.powi(low), dtype })
}

/// Returns the limits of an integer dtype.
///
/// # Errors
/// [`Error::DType`] for all other dtypes.
pub fn iinfo(dtype: DType) -> Result<IntegerInfo> {
    let bits = 8 * dtype.size() as u32;
    let (min, max) = match dtype.kind() {
        DTypeKind::Signed => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        DTypeKind::Unsigned => (0, (1 << bits) - 1),
        _ => return Err(Error::dtype("iinfo", dtype)),
    };
    Ok(IntegerInfo { bits, min, max, dtype })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{bf16, f16};

    #[test]
    fn promotion_is_that_of_the_standard() {
        use DType::*;
        let table = [
            (Int8, Int64, Some(Int64)),
            (UInt8, Int8, Some(Int16)),
            (Int8, UInt16, Some(Int32)),
            (Int64, UInt32, Some(Int64)),
            (Int16, UInt32, Some(Int64)),
            (UInt64, Int8, None),
            (UInt64, UInt8, Some(UInt64)),
            (Float32, Float64, Some(Float64)),
            (Float32, Complex64, Some(Complex64)),
            (Float64, Complex64, Some(Complex128)),
            (Complex128, Float32, Some(Complex128)),
            (Float16, BFloat16, Some(Float32)),
            (Float16, Complex64, Some(Complex64)),
            (Int32, Float64, None),
            (Bool, Int8, None),
            (Bool, Bool, Some(Bool)),
        ];
        for (a, b, expected) in table {
            assert_eq!((a.promote(b), b.promote(a)), (expected, expected), "{a} and {b}");
        }
        for a in DType::ALL {
            assert_eq!(a.promote(a), Some(a));
            for b in DType::ALL {
                // a dtype that holds the values of both holds the values of each
                if let Some(both) = a.promote(b) {
                    assert!(can_cast(a, both) && can_cast(b, both), "{a}, {b}, {both}");
                }
            }
        }
        assert!(can_cast(Int8, Int16) && !can_cast(Int16, Int8) && !can_cast(Int8, Float64));
        assert_eq!(result_type(&[Int8, UInt8, Int32]), Ok(Int32));
        assert!(result_type(&[]).is_err());
        let error = result_type(&[Float32, Int8]).unwrap_err().to_string();
        assert!(error.contains("float32 and int8") && error.contains("astype"), "{error}");
    }

    #[test]
    fn limits_are_those_of_the_types() {
        let f = |dtype| finfo(dtype).unwrap();
        assert_eq!(f(DType::Float64).max, f64::MAX);
        assert_eq!(f(DType::Float64).smallest_normal, f64::MIN_POSITIVE);
        assert_eq!(f(DType::Float32).min, f64::from(f32::MIN));
        assert_eq!(f(DType::Float32).eps, f64::from(f32::EPSILON));
        assert_eq!(f(DType::Float16).max, f16::MAX.to_f64());
        assert_eq!(f(DType::BFloat16).max, bf16::MAX.to_f64());
        assert_eq!(f(DType::BFloat16).smallest_normal, bf16::MIN_POSITIVE.to_f64());
        assert_eq!(f(DType::Complex64), f(DType::Float32));
        assert_eq!(finfo(DType::Int8), Err(Error::dtype("finfo", DType::Int8)));
        let i = |dtype| iinfo(dtype).map(|i| (i.bits, i.min, i.max)).unwrap();
        assert_eq!(i(DType::Int64), (64, i64::MIN.into(), i64::MAX.into()));
        assert_eq!(i(DType::UInt64), (64, 0, u64::MAX.into()));
        assert_eq!(i(DType::UInt8), (8, 0, 255));
        assert!(iinfo(DType::Bool).is_err());
    }
}
