//! Words of the 16-bit floats: computed in `f32` and rounded once.

/// All words of `$t`, a type of the `half` crate.
macro_rules! words {
    ($t:ty) => {
        use crate::scalar::float32;

        $crate::scalar::half::unary!($t: abs ceil floor trunc round sqrt exp expm1 log log2 log10 log1p
            sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sign erf erfc);
        $crate::scalar::half::binary!($t: maximum minimum pow floor_divide remainder atan2 hypot logaddexp);

        /// The nearest value of an integer.
        #[inline(always)]
        pub fn from_i64(x: i64) -> $t {
            <$t>::from_f64(x as f64)
        }

        /// The nearest value of an unsigned integer.
        #[inline(always)]
        pub fn from_u64(x: u64) -> $t {
            <$t>::from_f64(x as f64)
        }

        /// The next value from `x` toward `y`.
        pub fn nextafter(x: $t, y: $t) -> $t {
            if x.is_nan() || y.is_nan() {
                return <$t>::NAN;
            }
            if x == y {
                return y;
            }
            if x.to_f32() == 0.0 {
                return <$t>::from_bits(1).copysign(y);
            }
            let away = (y > x) == (x.to_f32() > 0.0);
            <$t>::from_bits(if away { x.to_bits() + 1 } else { x.to_bits() - 1 })
        }
    };
}

macro_rules! unary {
    ($t:ty: $($word:ident)*) => {$(
        #[doc = concat!("`", stringify!($word), "` in `f32`, rounded once.")]
        #[inline(always)]
        pub fn $word(x: $t) -> $t {
            <$t>::from_f32(float32::$word(x.to_f32()))
        }
    )*};
}

macro_rules! binary {
    ($t:ty: $($word:ident)*) => {$(
        #[doc = concat!("`", stringify!($word), "` in `f32`, rounded once.")]
        #[inline(always)]
        pub fn $word(x: $t, y: $t) -> $t {
            <$t>::from_f32(float32::$word(x.to_f32(), y.to_f32()))
        }
    )*};
}

pub(crate) use {binary, unary, words};
