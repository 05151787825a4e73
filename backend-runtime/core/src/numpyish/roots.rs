//! Square roots in AVX-512 registers. On Intel's processors, the square-root instruction takes twice as long if the
//! register is twice as wide. A few multiplications compute the same root in less than half of that time.
//!
//! The processor's estimate of `1 / sqrt(x)` has a relative error of at most 2^-14. Let `g` be near `sqrt(x)`, and `h`
//! near `1 / (2 sqrt(x))`. A step of Goldschmidt's algorithm turns them into approximations with twice as many digits:
//! `g + g r` and `h + h r`, where `r = 1/2 - g h`. The result is `g + (x - g g) h`, in which `x - g g` is exact if `g`
//! is next to the root (P. Markstein, "Software Division and Square Root Using Goldschmidt's Algorithms", 2004). Before
//! rounding, this sum is very close to the root. It can round differently from the result of the instruction only if
//! the root is next to the midpoint between two floats, which is true for few `x`. The tests check all such `x`, with
//! many estimates for float64 and every estimate for float32. Only for the float64 number just after a power of 4, some
//! estimates lead to a different result. The loop uses the instruction for this number, and for infinity, negative
//! numbers, NaN, and numbers so small that `x - g g` would lose digits. The roots of 0 and -0 are 0 and -0.

use super::signature::MAX_OPERANDS;
use std::arch::x86_64 as arch;

/// Minimum biased exponents of a float64 and of a float32 number `x` for which `x - g g` loses no digits.
const MIN_EXPONENT_64: u64 = 100;
const MIN_EXPONENT_32: u32 = 50;

/// A [`Loop`](super::signature::Loop) that computes square roots of float64 numbers.
///
/// # Safety
/// The conditions of a `Loop` without scalars hold, and the processor has AVX-512.
#[target_feature(enable = "avx512f")]
pub unsafe fn float64(_: *const u8, x: &[*const u8; MAX_OPERANDS], _: u8, out: *mut u8, n: usize) {
    const LANES: usize = 8;
    let (x, out) = (x[0].cast::<f64>(), out.cast::<f64>());
    let whole = n / LANES * LANES;
    // SAFETY: `x` and `out` have `n` elements each, and masks exclude the lanes beyond them.
    unsafe {
        for i in (0..whole).step_by(LANES) {
            arch::_mm512_storeu_pd(out.add(i), roots_64(arch::_mm512_loadu_pd(x.add(i))));
        }
        if whole < n {
            let rest = (1 << (n - whole)) - 1;
            let roots = roots_64(arch::_mm512_maskz_loadu_pd(rest, x.add(whole)));
            arch::_mm512_mask_storeu_pd(out.add(whole), rest, roots);
        }
    }
}

/// A [`Loop`](super::signature::Loop) that computes square roots of float32 numbers.
///
/// # Safety
/// The conditions of a `Loop` without scalars hold, and the processor has AVX-512.
#[target_feature(enable = "avx512f")]
pub unsafe fn float32(_: *const u8, x: &[*const u8; MAX_OPERANDS], _: u8, out: *mut u8, n: usize) {
    const LANES: usize = 16;
    let (x, out) = (x[0].cast::<f32>(), out.cast::<f32>());
    let whole = n / LANES * LANES;
    // SAFETY: `x` and `out` have `n` elements each, and masks exclude the lanes beyond them.
    unsafe {
        for i in (0..whole).step_by(LANES) {
            arch::_mm512_storeu_ps(out.add(i), roots_32(arch::_mm512_loadu_ps(x.add(i))));
        }
        if whole < n {
            let rest = (1 << (n - whole)) - 1;
            let roots = roots_32(arch::_mm512_maskz_loadu_ps(rest, x.add(whole)));
            arch::_mm512_mask_storeu_ps(out.add(whole), rest, roots);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn roots_64(x: arch::__m512d) -> arch::__m512d {
    const MIN_BITS: i64 = (MIN_EXPONENT_64 << (f64::MANTISSA_DIGITS - 1)) as i64;
    const INFINITY: i64 = f64::INFINITY.to_bits() as i64;
    const SIGNIFICAND: i64 = (1 << (f64::MANTISSA_DIGITS - 1)) - 1;
    let bits = arch::_mm512_castpd_si512(x);
    let above = arch::_mm512_sub_epi64(bits, arch::_mm512_set1_epi64(MIN_BITS));
    let outside = arch::_mm512_cmpge_epu64_mask(above, arch::_mm512_set1_epi64(INFINITY - MIN_BITS));
    let not_0 = arch::_mm512_test_epi64_mask(bits, arch::_mm512_set1_epi64(i64::MAX));
    let significands = arch::_mm512_and_si512(bits, arch::_mm512_set1_epi64(SIGNIFICAND));
    let after_a_power = arch::_mm512_cmpeq_epi64_mask(significands, arch::_mm512_set1_epi64(1));
    if outside & not_0 | after_a_power != 0 {
        return arch::_mm512_sqrt_pd(x);
    }
    let half = arch::_mm512_set1_pd(0.5);
    // the estimate for 0 is set to 0, so that `g`, `h` and the result are 0
    let estimate = arch::_mm512_maskz_rsqrt14_pd(not_0, x);
    let (mut g, mut h) = (arch::_mm512_mul_pd(x, estimate), arch::_mm512_mul_pd(half, estimate));
    // after the first step, about 28 binary digits are correct; after the second step, all digits are correct up to
    // rounding
    for _ in 0..2 {
        let r = arch::_mm512_fnmadd_pd(g, h, half);
        (g, h) = (arch::_mm512_fmadd_pd(g, r, g), arch::_mm512_fmadd_pd(h, r, h));
    }
    arch::_mm512_fmadd_pd(arch::_mm512_fnmadd_pd(g, g, x), h, g)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn roots_32(x: arch::__m512) -> arch::__m512 {
    const MIN_BITS: i32 = (MIN_EXPONENT_32 << (f32::MANTISSA_DIGITS - 1)) as i32;
    const INFINITY: i32 = f32::INFINITY.to_bits() as i32;
    let bits = arch::_mm512_castps_si512(x);
    let above = arch::_mm512_sub_epi32(bits, arch::_mm512_set1_epi32(MIN_BITS));
    let outside = arch::_mm512_cmpge_epu32_mask(above, arch::_mm512_set1_epi32(INFINITY - MIN_BITS));
    let not_0 = arch::_mm512_test_epi32_mask(bits, arch::_mm512_set1_epi32(i32::MAX));
    if outside & not_0 != 0 {
        return arch::_mm512_sqrt_ps(x);
    }
    let half = arch::_mm512_set1_ps(0.5);
    // the estimate for 0 is set to 0, so that `g`, `h` and the result are 0
    let estimate = arch::_mm512_maskz_rsqrt14_ps(not_0, x);
    let (g, h) = (arch::_mm512_mul_ps(x, estimate), arch::_mm512_mul_ps(half, estimate));
    // after one step, all digits are correct up to rounding
    let r = arch::_mm512_fnmadd_ps(g, h, half);
    let (g, h) = (arch::_mm512_fmadd_ps(g, r, g), arch::_mm512_fmadd_ps(h, r, h));
    arch::_mm512_fmadd_ps(arch::_mm512_fnmadd_ps(g, g, x), h, g)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::philox;

    /// True if the processor can run the loops.
    fn has_avx512() -> bool {
        std::arch::is_x86_feature_detected!("avx512f")
    }

    /// Computes the root of one number by the formula of the float64 loop. `estimate` approximates `1 / sqrt(x)`.
    fn by_64(x: f64, estimate: f64) -> f64 {
        let (mut g, mut h) = (x * estimate, 0.5 * estimate);
        for _ in 0..2 {
            let r = (-g).mul_add(h, 0.5);
            (g, h) = (g.mul_add(r, g), h.mul_add(r, h));
        }
        (-g).mul_add(g, x).mul_add(h, g)
    }

    /// Computes the root of one number by the formula of the float32 loop. `estimate` approximates `1 / sqrt(x)`.
    fn by_32(x: f32, estimate: f32) -> f32 {
        let (g, h) = (x * estimate, 0.5 * estimate);
        let r = (-g).mul_add(h, 0.5);
        let (g, h) = (g.mul_add(r, g), h.mul_add(r, h));
        (-g).mul_add(g, x).mul_add(h, g)
    }

    /// Maximum relative error of the processor's estimate of `1 / sqrt(x)`.
    const OFF: f64 = 1.0 / 16384.0;

    /// A pseudo-random number in [-1, 1].
    fn some(at: u64) -> f64 {
        f64::from(philox(7, at)[0]) / f64::from(u32::MAX) * 2.0 - 1.0
    }

    /// All four `z` below `2^p` with `z^2 = k` modulo `2^p`, for a `k` that is 1 modulo 8. The first `z` is found bit
    /// by bit; the other three differ from it in the sign, in the highest bit, or in both.
    fn roots_modulo(k: i128, p: u32) -> [u128; 4] {
        let modulo = |z: u128, p: u32| z & ((1 << p) - 1);
        let mut z = 1_u128;
        for p in 3..p {
            if modulo(z.wrapping_mul(z), p + 1) != modulo(k as u128, p + 1) {
                z += 1 << (p - 1);
            }
        }
        let other = z + (1 << (p - 1));
        [z, z.wrapping_neg(), other, other.wrapping_neg()].map(|z| modulo(z, p))
    }

    /// Numbers in [1, 4) of `digits` binary digits whose roots are next to the midpoint between two floats. A midpoint
    /// in [1, 2) is `z / 2^digits` with an odd `z`. For a small `k`, `z^2 - k` is such a number times a power of 2 if
    /// its last `p` bits are 0. `most` bounds `|k|`. Returns pairs of a number and `|k|`, sorted by `|k|`: the nearest
    /// roots come first.
    fn near_the_middle(digits: u32, most: i128) -> Vec<(f64, i128)> {
        let mut all = Vec::new();
        for (p, unit) in [(digits + 1, 1 - digits as i32), (digits + 2, 2 - digits as i32)] {
            for k in (-most / 8..most / 8).map(|i| 8 * i + 1) {
                for z in roots_modulo(k, p) {
                    let significand = ((z * z) as i128 - k) >> p;
                    if z >> digits == 1 && significand >> (digits - 1) == 1 {
                        all.push((significand as f64 * 2.0_f64.powi(unit), k.abs()));
                    }
                }
            }
        }
        all.sort_by_key(|&(_, k)| k);
        all
    }

    #[test]
    fn roots_of_float64_next_to_the_middle_between_two_numbers() {
        let hard = near_the_middle(53, 8000);
        assert!(hard.len() > 2000);
        // distance of the root from the midpoint, in units of the last place
        let from_the_middle = |x: f64| {
            let root = x.sqrt();
            ((-root).mul_add(root, x).abs() / (2.0 * root) / (root.next_up() - root) - 0.5).abs()
        };
        assert!(hard.iter().all(|&(x, _)| from_the_middle(x) < 1e-12));
        let after_1 = 1.0_f64.next_up();
        for (i, &(x, k)) in hard.iter().enumerate() {
            let tries = if cfg!(miri) {
                i.is_multiple_of(97).into()
            } else if k < 200 {
                20_000
            } else {
                20
            };
            let estimate = |i: usize| (1.0 + OFF * some(i as u64)) / x.sqrt();
            let is_right = (0..tries).all(|t| by_64(x, estimate(i + t)) == x.sqrt());
            assert!(is_right || x == after_1, "{x:e}");
        }
        let bad = 1.0 - 0.99983355 * OFF;
        assert!(by_64(after_1, bad) != 1.0, "what is left to the instruction");
        if has_avx512() {
            for power in [1.0, 4.0, 0.25, 2.0_f64.powi(-900), 2.0_f64.powi(1000)] {
                let x: Vec<f64> = hard.iter().map(|(x, _)| x * power).collect();
                // SAFETY: the processor has AVX-512.
                assert_eq!(unsafe { all_64(&x) }, x.iter().map(|x| x.sqrt()).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn roots_of_float32_next_to_the_middle_by_every_estimate() {
        let hard = near_the_middle(24, if cfg!(miri) { 8 } else { 800 });
        for (x, _) in hard {
            let x = x as f32;
            let [least, most] = [1.0 - OFF, 1.0 + OFF].map(|off| (off / f64::from(x).sqrt()) as f32);
            for estimate in least.to_bits()..=most.to_bits() {
                assert_eq!(by_32(x, f32::from_bits(estimate)), x.sqrt(), "{x:e} by {estimate:x}");
            }
        }
    }

    #[test]
    fn significands_of_float32() {
        let number = |significand: u32| f32::from_bits((127 << 23) + significand);
        for significand in (0..1_u32 << 24).step_by(if cfg!(miri) { 99_991 } else { 7 }) {
            let x = number(significand);
            for off in [-1.0, some(significand.into()), 1.0] {
                let estimate = ((1.0 + OFF * off) / f64::from(x).sqrt()) as f32;
                assert_eq!(by_32(x, estimate), x.sqrt(), "{x:e} by {estimate:e}");
            }
        }
        if has_avx512() {
            let x: Vec<f32> = (0..1_u32 << 24).map(number).collect();
            // SAFETY: the processor has AVX-512.
            let roots = unsafe { all_32(&x) };
            assert!(x.iter().zip(roots).all(|(x, root)| x.sqrt() == root));
        }
    }

    unsafe fn all_64(x: &[f64]) -> Vec<f64> {
        let mut out = vec![f64::NAN; x.len()];
        // SAFETY: both slices have the same length, and the caller guarantees AVX-512.
        unsafe { float64(std::ptr::null(), &[x.as_ptr().cast(); MAX_OPERANDS], 0, out.as_mut_ptr().cast(), x.len()) };
        out
    }

    unsafe fn all_32(x: &[f32]) -> Vec<f32> {
        let mut out = vec![f32::NAN; x.len()];
        // SAFETY: both slices have the same length, and the caller guarantees AVX-512.
        unsafe { float32(std::ptr::null(), &[x.as_ptr().cast(); MAX_OPERANDS], 0, out.as_mut_ptr().cast(), x.len()) };
        out
    }

    #[test]
    fn any_bits_in_any_number_of_elements() {
        if !has_avx512() {
            return;
        }
        let words = |key: u64, n: u64| (0..n).map(move |i| philox(key, i));
        let limits =
            [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MIN_POSITIVE, f64::MAX, 5e-324];
        let mut x = limits.to_vec();
        x.extend([-1, 0, 1].map(|off| f64::from_bits((MIN_EXPONENT_64 << 52).wrapping_add_signed(off))));
        x.extend(words(1, 2000).map(|w| f64::from_bits(u64::from(w[0]) << 32 | u64::from(w[1]))));
        // numbers for which the loop does not use the square-root instruction
        let exponents = MIN_EXPONENT_64 + 1..2046;
        x.extend(exponents.zip(words(2, 2000)).map(|(e, w)| f64::from_bits(e << 52 | u64::from(w[0]) << 20)));
        let mut narrow: Vec<f32> = limits.map(|x| x as f32).to_vec();
        narrow.extend([-1, 0, 1].map(|off| f32::from_bits((MIN_EXPONENT_32 << 23).wrapping_add_signed(off))));
        narrow.extend(words(3, 2000).map(|w| f32::from_bits(w[0])));
        let exponents = (MIN_EXPONENT_32 + 1..254).cycle();
        narrow.extend(exponents.zip(words(4, 2000)).map(|(e, w)| f32::from_bits(e << 23 | w[0] >> 9)));
        for len in (0..40).chain([1000, 2000]) {
            for from in [0, 7, x.len() - len] {
                let x = &x[from..][..len];
                // SAFETY: the processor has AVX-512.
                let roots = unsafe { all_64(x) };
                let same = |(&x, root): (&f64, f64)| {
                    x.sqrt().to_bits() == root.to_bits() || x.sqrt().is_nan() && root.is_nan()
                };
                assert!(x.iter().zip(roots).all(same), "{len} from {from}");
            }
            for from in [0, 7, narrow.len() - len] {
                let x = &narrow[from..][..len];
                // SAFETY: the processor has AVX-512.
                let roots = unsafe { all_32(x) };
                let same = |(&x, root): (&f32, f32)| {
                    x.sqrt().to_bits() == root.to_bits() || x.sqrt().is_nan() && root.is_nan()
                };
                assert!(x.iter().zip(roots).all(same), "{len} from {from}");
            }
        }
    }
}
