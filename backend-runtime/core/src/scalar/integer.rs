//! Scalar functions of integers: wrapping arithmetic, and the results for zero divisors and large shifts.

macro_rules! common {
    ($t:ident) => {
        /// `x as T`: truncated toward 0, clamped to the range of the type, and 0 for NaN. The separate steps let a loop
        /// vectorise.
        #[inline(always)]
        pub fn from_f64(x: f64) -> $t {
            /// The first number above the range, a power of two.
            const ABOVE: f64 = 2.0 * ($t::MAX / 2 + 1) as f64;
            let low = if $t::MIN == 0 { x > -1.0 } else { x >= $t::MIN as f64 };
            let inside = low & (x < ABOVE);
            let near = if inside { x } else { 0.0 };
            // SAFETY: truncated `near` is in the range of the type, and therefore also in the range of a wider type.
            let whole = unsafe {
                if $t::BITS < 32 { near.to_int_unchecked::<i32>() as $t } else { near.to_int_unchecked::<$t>() }
            };
            let limit = if x >= ABOVE { $t::MAX } else { 0 };
            let limit = if x < 0.0 { $t::MIN } else { limit };
            if inside { whole } else { limit }
        }

        /// Shifts left; 0 if the shift is negative or at least the number of bits.
        #[inline(always)]
        pub fn shift_left(x: $t, by: $t) -> $t {
            if (0..$t::BITS as i128).contains(&(by as i128)) { x << by } else { 0 }
        }

        /// The greatest common divisor of the magnitudes; for 0 and `x` it is the magnitude of `x`.
        #[inline(always)]
        pub fn gcd(x: $t, y: $t) -> $t {
            let (mut x, mut y) = (size(x), size(y));
            if x == 0 || y == 0 {
                return (x | y) as $t;
            }
            // Stein's algorithm: both numbers are odd, so their difference is even
            let twos = (x | y).trailing_zeros();
            x >>= x.trailing_zeros();
            loop {
                y >>= y.trailing_zeros();
                if x > y {
                    std::mem::swap(&mut x, &mut y);
                }
                y -= x;
                if y == 0 {
                    return (x << twos) as $t;
                }
            }
        }

        /// The least common multiple of the magnitudes, which wraps if it overflows; 0 if either number is 0.
        #[inline(always)]
        pub fn lcm(x: $t, y: $t) -> $t {
            let divisor = size(gcd(x, y));
            if divisor == 0 { 0 } else { (size(x) / divisor).wrapping_mul(size(y)) as $t }
        }

        /// Number of set bits of the magnitude.
        #[inline(always)]
        pub fn popcount(x: $t) -> u8 {
            size(x).count_ones() as u8
        }

        /// `base` to the power of `exponent`, wrapping.
        #[inline(always)]
        fn power(base: $t, exponent: $t) -> $t {
            let (mut base, mut exponent, mut result) = (base, exponent, 1 as $t);
            while exponent > 0 {
                if exponent & 1 == 1 {
                    result = result.wrapping_mul(base);
                }
                base = base.wrapping_mul(base);
                exponent >>= 1;
            }
            result
        }
    };
}

macro_rules! signed {
    ($($t:ident $unsigned:ident)*) => {$(
        #[doc = concat!("Words of `", stringify!($t), "`.")]
        pub mod $t {
            common!($t);

            /// The magnitude, which always fits the unsigned type.
            #[inline(always)]
            fn size(x: $t) -> $unsigned {
                x.unsigned_abs()
            }

            /// The magnitude; the smallest number gives itself, because its magnitude overflows.
            #[inline(always)]
            pub fn abs(x: $t) -> $t {
                x.wrapping_abs()
            }

            /// -1, 0 or 1.
            #[inline(always)]
            pub fn sign(x: $t) -> $t {
                x.signum()
            }

            /// Wrapping power; a negative exponent gives 0 unless the base is 1 or -1.
            #[inline(always)]
            pub fn pow(x: $t, y: $t) -> $t {
                match (y < 0, x) {
                    (false, _) => power(x, y),
                    (true, 1) => 1,
                    (true, -1) => if y & 1 == 0 { 1 } else { -1 },
                    (true, _) => 0,
                }
            }

            /// The quotient rounded toward minus infinity; 0 for a zero divisor.
            #[inline(always)]
            pub fn floor_divide(x: $t, y: $t) -> $t {
                if y == 0 {
                    return 0;
                }
                let (q, r) = (x.wrapping_div(y), x.wrapping_rem(y));
                if r != 0 && (r < 0) != (y < 0) { q - 1 } else { q }
            }

            /// The remainder with the sign of `y`; 0 for a zero divisor.
            #[inline(always)]
            pub fn remainder(x: $t, y: $t) -> $t {
                if y == 0 {
                    return 0;
                }
                let r = x.wrapping_rem(y);
                if r != 0 && (r < 0) != (y < 0) { r + y } else { r }
            }

            /// The remainder with the sign of `x`; 0 for a zero divisor.
            #[inline(always)]
            pub fn fmod(x: $t, y: $t) -> $t {
                if y == 0 { 0 } else { x.wrapping_rem(y) }
            }

            /// Arithmetic shift to the right. If the shift is negative or at least the number of bits, all bits of the
            /// result are the sign bit.
            #[inline(always)]
            pub fn shift_right(x: $t, by: $t) -> $t {
                if (0..$t::BITS as i128).contains(&(by as i128)) { x >> by } else { x >> ($t::BITS - 1) }
            }
        }
    )*};
}
signed!(i8 u8 i16 u16 i32 u32 i64 u64);

macro_rules! unsigned {
    ($($t:ident)*) => {$(
        #[doc = concat!("Words of `", stringify!($t), "`.")]
        pub mod $t {
            common!($t);

            /// The magnitude.
            #[inline(always)]
            fn size(x: $t) -> $t {
                x
            }

            /// The number itself.
            #[inline(always)]
            pub fn abs(x: $t) -> $t {
                x
            }

            /// 0 or 1.
            #[inline(always)]
            pub fn sign(x: $t) -> $t {
                (x != 0) as $t
            }

            /// Wrapping power.
            #[inline(always)]
            pub fn pow(x: $t, y: $t) -> $t {
                power(x, y)
            }

            /// The quotient; 0 for a zero divisor.
            #[inline(always)]
            pub fn floor_divide(x: $t, y: $t) -> $t {
                x.checked_div(y).unwrap_or(0)
            }

            /// The remainder; 0 for a zero divisor.
            #[inline(always)]
            pub fn remainder(x: $t, y: $t) -> $t {
                x.checked_rem(y).unwrap_or(0)
            }

            /// Like `remainder`, because no number is negative.
            #[inline(always)]
            pub fn fmod(x: $t, y: $t) -> $t {
                remainder(x, y)
            }

            /// Shifts right; 0 if the shift is at least the number of bits.
            #[inline(always)]
            pub fn shift_right(x: $t, by: $t) -> $t {
                if (by as u64) < $t::BITS as u64 { x >> by } else { 0 }
            }
        }
    )*};
}
unsigned!(u8 u16 u32 u64);

#[cfg(test)]
mod tests {
    macro_rules! as_rust_converts {
        ($($t:ident)*) => {$(
            let mut edges = vec![0.0, -0.0, 0.5, -0.5, -1.0, f64::MAX, f64::MIN, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324];
            for edge in [$t::MIN as f64, $t::MAX as f64] {
                for near in [edge.next_down(), edge, edge.next_up(), edge - 1.0, edge - 0.5, edge + 0.5, edge + 1.0] {
                    edges.extend([near, -near]);
                }
            }
            let mut bits = 1_u64;
            edges.extend((0..10_000).map(|_| {
                bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                f64::from_bits(bits)
            }));
            for x in edges {
                assert_eq!(super::$t::from_f64(x), x as $t, "{x:e}");
            }
        )*};
    }

    #[test]
    fn floats_become_integers_as_in_rust() {
        as_rust_converts!(i8 u8 i16 u16 i32 u32 i64 u64);
    }
}
