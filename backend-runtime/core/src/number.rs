//! Numbers that are converted to the dtype of an array argument. Before the conversion they are stored exactly.

use crate::{Complex, DType, DTypeKind, Element, Error, Result, bf16, f16};
use std::fmt;

/// A number for an array of any dtype, such as the fill value of
/// [`pad`](https://numpy.org/doc/stable/reference/generated/numpy.pad.html): a bool, an integer of up to 64 bits, a
/// real number or a complex number. It is made from a value of a Rust type.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Number {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Integer(i128),
    /// A real number.
    Real(f64),
    /// A complex number.
    Complex(Complex<f64>),
}

impl Number {
    /// Converts an element to a number, in code that is generic over the dtype.
    pub fn of<T: Element>(x: T) -> Number {
        match T::dtype().kind() {
            DTypeKind::Bool => Number::Bool(x.cast()),
            DTypeKind::Signed => Number::Integer(x.cast::<i64>().into()),
            DTypeKind::Unsigned => Number::Integer(x.cast::<u64>().into()),
            DTypeKind::Real => Number::Real(x.cast()),
            DTypeKind::Complex => Number::Complex(x.cast()),
        }
    }

    /// Converts the number to the dtype of `T`. A real number loses its fraction if the dtype is an integer, and digits
    /// if the dtype is a narrower float.
    ///
    /// # Errors
    /// [`Error::Argument`] if the dtype cannot hold the number: for example 300 in uint8, NaN in an integer dtype, or
    /// an imaginary part in a real dtype.
    pub fn element<T: Element>(self, op: &'static str) -> Result<T> {
        let kind = T::dtype().kind();
        match self {
            Number::Bool(x) => Ok(T::from_i64(x.into())),
            Number::Integer(x) if T::dtype().holds(x) => match (i64::try_from(x), u64::try_from(x)) {
                (Ok(x), _) => Ok(T::from_i64(x)),
                (_, Ok(x)) => Ok(T::from_u64(x)),
                _ => Ok(T::from_f64(x as f64)),
            },
            Number::Real(x) if matches!(kind, DTypeKind::Signed | DTypeKind::Unsigned) => {
                // NaN and infinities become numbers that are out of range for every integer dtype
                let whole = if x.is_nan() { i128::MAX } else { x as i128 };
                if T::dtype().holds(whole) { Ok(T::from_f64(x)) } else { Err(self.beyond(op, T::dtype())) }
            }
            Number::Real(x) => Ok(T::from_f64(x)),
            Number::Complex(x) if kind == DTypeKind::Complex => Ok(T::from_complex(x)),
            Number::Complex(x) if x.im == 0.0 => Number::Real(x.re).element(op),
            Number::Integer(_) | Number::Complex(_) => Err(self.beyond(op, T::dtype())),
        }
    }

    /// Returns the error for a number that `dtype` cannot hold.
    #[cold]
    pub(crate) fn beyond(self, op: &'static str, dtype: DType) -> Error {
        Error::argument(op, format!("{self} does not fit {dtype}"))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Bool(x) => x.fmt(f),
            Number::Integer(x) => x.fmt(f),
            Number::Real(x) => fmt::Debug::fmt(x, f),
            Number::Complex(x) => x.fmt(f),
        }
    }
}

macro_rules! from {
    ($($t:ty),*) => {$(
        impl From<$t> for Number {
            #[inline]
            fn from(x: $t) -> Number {
                Number::of(x)
            }
        }
    )*};
}
from!(bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, Complex<f32>, Complex<f64>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_or_refused() {
        let exact = (1_i64 << 53) + 1;
        assert_eq!(Number::from(exact).element("pad"), Ok(exact));
        assert_eq!(Number::from(u64::MAX).element("pad"), Ok(u64::MAX));
        assert_eq!(Number::from(i64::MIN).element("pad"), Ok(i64::MIN));
        assert_eq!(Number::from(u64::MAX).element("pad"), Ok(u64::MAX as f32));
        assert_eq!(Number::from(-0.0).element("pad").map(f64::to_bits), Ok((-0.0_f64).to_bits()));
        assert_eq!(Number::from(Complex::new(1.0, -2.0)).element("pad"), Ok(Complex::new(1.0_f32, -2.0)));
        assert_eq!((Number::from(1.9).element("pad"), Number::from(-1.9).element("pad")), (Ok(1_u8), Ok(-1_i8)));
        assert_eq!((Number::from(3).element("pad"), Number::from(0.0).element("pad")), (Ok(true), Ok(false)));
        assert_eq!(Number::from(true).element("pad"), Ok(1.0_f64));
        let why = |number: Number| number.element::<u8>("pad").unwrap_err().to_string();
        assert_eq!(why(300.into()), "pad: 300 does not fit uint8");
        assert_eq!(why((-1).into()), "pad: -1 does not fit uint8");
        assert_eq!(why(f64::NAN.into()), "pad: NaN does not fit uint8");
        assert_eq!(why(1e300.into()), "pad: 1e300 does not fit uint8");
        assert_eq!(why(Complex::new(1.0, 2.0).into()), "pad: 1+2i does not fit uint8");
        assert!(Number::from(i64::MAX as f64).element::<i64>("pad").is_err(), "2^63 is no int64");
        assert_eq!(Number::from(Complex::new(7.0, 0.0)).element("pad"), Ok(7_u8));
    }
}
