//! The elementwise operations of reductions, such as sum and maximum. All transports use these definitions.

use crate::{DType, Error, Join, Result, bytes::Item};
use half::{bf16, f16};
use num_complex::Complex;

/// The variants of [`Join`] as integers, for functions that are compiled once for each join.
pub(crate) const SUM: u8 = Join::Sum as u8;
pub(crate) const PROD: u8 = Join::Prod as u8;
pub(crate) const MAX: u8 = Join::Max as u8;
pub(crate) const MIN: u8 = Join::Min as u8;
pub(crate) const AND: u8 = Join::And as u8;
pub(crate) const OR: u8 = Join::Or as u8;

/// An element type whose elements reductions can join.
pub(crate) trait Joined: Item {
    /// Computes `a join b`, where `join` is the variant of [`Join`] with the number `J`. If this join does not exist
    /// for the type (see [`check`]), returns `b`.
    fn join<const J: u8>(a: Self, b: Self) -> Self;

    /// The identity of the join: joining it to an element does not change the element.
    fn identity(join: Join) -> Self;
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Joined for $t {
            #[inline(always)]
            fn join<const J: u8>(a: $t, b: $t) -> $t {
                match J {
                    SUM => a.wrapping_add(b),
                    PROD => a.wrapping_mul(b),
                    MAX => a.max(b),
                    MIN => a.min(b),
                    _ => b,
                }
            }
            fn identity(join: Join) -> $t {
                match join {
                    Join::Prod => 1,
                    Join::Max => <$t>::MIN,
                    Join::Min => <$t>::MAX,
                    _ => 0,
                }
            }
        }
    )*};
}
integers! { i8 i16 i32 i64 u8 u16 u32 u64 }

macro_rules! floats {
    ($($t:ty, $one:expr;)*) => {$(
        impl Joined for $t {
            #[inline(always)]
            fn join<const J: u8>(a: $t, b: $t) -> $t {
                // +0 counts as larger than -0, so the result does not depend on the order of the ranks
                match J {
                    SUM => a + b,
                    PROD => a * b,
                    MAX => if a.is_nan() || a > b || (a == b && a.is_sign_positive()) { a } else { b },
                    MIN => if a.is_nan() || a < b || (a == b && a.is_sign_negative()) { a } else { b },
                    _ => b,
                }
            }
            fn identity(join: Join) -> $t {
                match join {
                    Join::Prod => $one,
                    Join::Max => <$t>::NEG_INFINITY,
                    Join::Min => <$t>::INFINITY,
                    // the identity of sums is -0: adding -0 changes no bit of any number, while adding +0 changes -0
                    _ => -<$t>::default(),
                }
            }
        }
    )*};
}
floats! { f16, f16::ONE; bf16, bf16::ONE; f32, 1.0; f64, 1.0; }

macro_rules! complexes {
    ($($t:ty)*) => {$(
        impl Joined for Complex<$t> {
            #[inline(always)]
            fn join<const J: u8>(a: Complex<$t>, b: Complex<$t>) -> Complex<$t> {
                match J {
                    SUM => a + b,
                    PROD => a * b,
                    _ => b,
                }
            }
            fn identity(join: Join) -> Complex<$t> {
                match join {
                    Join::Prod => Complex::new(1.0, 0.0),
                    _ => Complex::new(-0.0, -0.0),
                }
            }
        }
    )*};
}
complexes! { f32 f64 }

impl Joined for bool {
    #[inline(always)]
    fn join<const J: u8>(a: bool, b: bool) -> bool {
        match J {
            SUM | MAX | OR => a | b,
            _ => a & b,
        }
    }
    fn identity(join: Join) -> bool {
        matches!(join, Join::Prod | Join::Min | Join::And)
    }
}

/// Returns an error if the join does not exist for this dtype.
pub(crate) fn check(dtype: DType, join: Join) -> Result<()> {
    let there = match (dtype, join) {
        (DType::Bool, _) => true,
        (_, Join::And | Join::Or) => false,
        (DType::Complex64 | DType::Complex128, Join::Max | Join::Min) => false,
        _ => DType::ALL.contains(&dtype),
    };
    if there { Ok(()) } else { Err(Error::NoJoin { dtype, join }) }
}

/// Joins the elements of two buffers: computes `into[i] = with[i] join into[i]` for each `i`. The elements in `with`
/// come from lower ranks than those in `into`. Both buffers have the same number of elements of type `T`.
pub(crate) fn join_elements<T: Joined, const J: u8>(with: &[u8], into: &mut [u8]) {
    let size = T::DTYPE.size();
    for (b, a) in into.chunks_exact_mut(size).zip(with.chunks_exact(size)) {
        T::join::<J>(T::read(a), T::read(b)).write(b);
    }
}

/// Calls a generic function with the Rust type of a dtype: `of_dtype!(dtype, T => f::<T>(x))`.
macro_rules! of_dtype {
    ($dtype:expr, $t:ident => $call:expr) => {
        of_dtype!(@arms $dtype, $t, $call, Bool bool, Int8 i8, Int16 i16, Int32 i32, Int64 i64, UInt8 u8, UInt16 u16, UInt32 u32,
            UInt64 u64, Float16 half::f16, BFloat16 half::bf16, Float32 f32, Float64 f64,
            Complex64 num_complex::Complex<f32>, Complex128 num_complex::Complex<f64>)
    };
    (@arms $dtype:expr, $t:ident, $call:expr, $($name:ident $type:ty),*) => {
        match $dtype {
            $($crate::DType::$name => {
                type $t = $type;
                $call
            })*
            // a dtype without joins, which `check` refuses
            _ => {}
        }
    };
}

/// Joins two buffers like [`join_elements`], for a dtype known at run time. The caller has checked that the join exists.
pub(crate) fn join_bytes(with: &[u8], into: &mut [u8], dtype: DType, join: Join) {
    fn go<T: Joined>(with: &[u8], into: &mut [u8], join: Join) {
        match join {
            Join::Sum => join_elements::<T, SUM>(with, into),
            Join::Prod => join_elements::<T, PROD>(with, into),
            Join::Max => join_elements::<T, MAX>(with, into),
            Join::Min => join_elements::<T, MIN>(with, into),
            Join::And => join_elements::<T, AND>(with, into),
            Join::Or => join_elements::<T, OR>(with, into),
        }
    }
    of_dtype!(dtype, T => go::<T>(with, into, join));
}

/// Fills a buffer with the identity of the join.
pub(crate) fn fill_identity(buf: &mut [u8], dtype: DType, join: Join) {
    fn go<T: Joined>(buf: &mut [u8], join: Join) {
        buf.chunks_exact_mut(T::DTYPE.size()).for_each(|element| T::identity(join).write(element));
    }
    of_dtype!(dtype, T => go::<T>(buf, join));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes;

    fn joined<T: Joined>(a: T, b: T, join: Join) -> T {
        let mut into = bytes::of(&[b]).to_vec();
        join_bytes(bytes::of(&[a]), &mut into, T::DTYPE, join);
        T::read(&into)
    }

    #[test]
    fn identities_change_nothing() {
        fn of<T: Joined + PartialEq + std::fmt::Debug>(values: &[T]) {
            for join in Join::ALL.into_iter().filter(|join| check(T::DTYPE, *join).is_ok()) {
                for &value in values {
                    let mut identity = vec![0; T::DTYPE.size()];
                    fill_identity(&mut identity, T::DTYPE, join);
                    let result = joined(T::read(&identity), value, join);
                    assert_eq!(bytes::of(&[result]), bytes::of(&[value]), "{join} of {}", T::DTYPE);
                }
            }
        }
        of(&[true, false]);
        of(&[i8::MIN, -1, 0, i8::MAX]);
        of(&[i16::MIN, 0, i16::MAX]);
        of(&[i32::MIN, 0, i32::MAX]);
        of(&[i64::MIN, 0, i64::MAX]);
        of(&[0, u8::MAX]);
        of(&[0, u16::MAX]);
        of(&[0, u32::MAX]);
        of(&[0, u64::MAX]);
        of(&[f16::from_f32(-0.0), f16::from_f32(0.0), f16::INFINITY]);
        of(&[bf16::from_f32(-0.0), bf16::from_f32(0.0), bf16::NEG_INFINITY]);
        of(&[-0.0_f32, 0.0, f32::INFINITY, f32::NEG_INFINITY]);
        of(&[-0.0_f64, 0.0, f64::INFINITY, f64::NEG_INFINITY]);
        of(&[Complex::new(-0.0_f32, 2.0)]);
        of(&[Complex::new(3.0_f64, 2.0)]);
    }

    #[test]
    fn integers_wrap_and_nan_wins_from_either_side() {
        assert_eq!(joined(i8::MAX, 1, Join::Sum), i8::MIN);
        assert_eq!(joined(i64::MIN, -1, Join::Prod), i64::MIN);
        assert_eq!(joined(u8::MAX, 2, Join::Sum), 1);
        for join in [Join::Max, Join::Min] {
            assert!(joined(f64::NAN, 1.0, join).is_nan() && joined(1.0, f64::NAN, join).is_nan());
            assert!(joined(f16::NAN, f16::ONE, join).is_nan() && joined(f16::ONE, f16::NAN, join).is_nan());
        }
        assert_eq!(joined(1.0, 2.0, Join::Max), 2.0);
        assert_eq!(joined(1.0, 2.0, Join::Min), 1.0);
        for (a, b) in [(0.0_f32, -0.0), (-0.0, 0.0)] {
            assert!(joined(a, b, Join::Max).is_sign_positive() && joined(a, b, Join::Min).is_sign_negative());
        }
        let (a, b) = (Complex::new(1.0_f64, 2.0), Complex::new(3.0, 4.0));
        assert_eq!(joined(a, b, Join::Prod), Complex::new(-5.0, 10.0));
    }

    #[test]
    fn some_reductions_do_not_exist() {
        assert_eq!(check(DType::Complex64, Join::Max), Err(Error::NoJoin { dtype: DType::Complex64, join: Join::Max }));
        assert!(check(DType::Int32, Join::And).is_err() && check(DType::Float64, Join::Or).is_err());
        assert!(Join::ALL.into_iter().all(|join| check(DType::Bool, join).is_ok()));
    }
}
