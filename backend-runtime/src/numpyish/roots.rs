//! Square roots in registers of AVX-512: on Intel's processors the instruction for square roots takes twice as long for twice as wide a register, and a few
//! multiplications that make the same root take less than half of its time.
//!
//! The processor's estimate of `1 / sqrt(x)` is within 2^-14. A step of Goldschmidt's makes of `g`, which is near `sqrt(x)`, and `h`, near
//! `1 / (2 sqrt(x))`, what has twice as many digits: `g + g r` and `h + h r`, where `r = 1/2 - g h`. At last `x - g g`, which is exact, times `h` is what the
//! root has beyond `g` (P. Markstein, "Software Division and Square Root Using Goldschmidt's Algorithms", 2004). What is rounded then is so near to the root that
//! few numbers could be rounded the other way than by the instruction: those whose roots are next to the middle between two numbers. The tests take all of
//! them, with estimates as any processor may give them, and every significand of float32.
//!
//! 0 and -0 stay; infinity, numbers below 0, NaN, and numbers so small that `x - g g` would lose digits are left to the instruction.

use super::kernel::MOST;
use std::arch::x86_64 as arch;

/// The least exponents of numbers of which `x - g g` has all digits.
const LEAST_64: u64 = 100;
const LEAST_32: u32 = 50;

/// Square roots of float64, as [`Loop`](super::kernel::Loop) says.
///
/// # Safety
/// As that says, with no scalars; the processor has AVX-512.
#[target_feature(enable = "avx512f")]
pub unsafe fn float64(_: *const u8, x: &[*const u8; MOST], _: u8, out: *mut u8, n: usize) {
    const LANES: usize = 8;
    let (x, out) = (x[0].cast::<f64>(), out.cast::<f64>());
    let whole = n / LANES * LANES;
    // SAFETY: `n` elements of both; of the rest only those that are there are read and written.
    unsafe {
        for i in (0..whole).step_by(LANES) {
            arch::_mm512_storeu_pd(out.add(i), roots_64(arch::_mm512_loadu_pd(x.add(i))));
        }
        let rest = (1 << (n - whole)) - 1;
        let roots = roots_64(arch::_mm512_maskz_loadu_pd(rest, x.wrapping_add(whole)));
        arch::_mm512_mask_storeu_pd(out.wrapping_add(whole), rest, roots);
    }
}

/// Square roots of float32, as [`Loop`](super::kernel::Loop) says.
///
/// # Safety
/// As that says, with no scalars; the processor has AVX-512.
#[target_feature(enable = "avx512f")]
pub unsafe fn float32(_: *const u8, x: &[*const u8; MOST], _: u8, out: *mut u8, n: usize) {
    const LANES: usize = 16;
    let (x, out) = (x[0].cast::<f32>(), out.cast::<f32>());
    let whole = n / LANES * LANES;
    // SAFETY: `n` elements of both; of the rest only those that are there are read and written.
    unsafe {
        for i in (0..whole).step_by(LANES) {
            arch::_mm512_storeu_ps(out.add(i), roots_32(arch::_mm512_loadu_ps(x.add(i))));
        }
        let rest = (1 << (n - whole)) - 1;
        let roots = roots_32(arch::_mm512_maskz_loadu_ps(rest, x.wrapping_add(whole)));
        arch::_mm512_mask_storeu_ps(out.wrapping_add(whole), rest, roots);
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn roots_64(x: arch::__m512d) -> arch::__m512d {
    const LEAST: i64 = (LEAST_64 << (f64::MANTISSA_DIGITS - 1)) as i64;
    const INFINITY: i64 = f64::INFINITY.to_bits() as i64;
    let bits = arch::_mm512_castpd_si512(x);
    let above = arch::_mm512_sub_epi64(bits, arch::_mm512_set1_epi64(LEAST));
    let outside = arch::_mm512_cmpge_epu64_mask(above, arch::_mm512_set1_epi64(INFINITY - LEAST));
    let not_0 = arch::_mm512_test_epi64_mask(bits, arch::_mm512_set1_epi64(i64::MAX));
    if outside & not_0 != 0 {
        return arch::_mm512_sqrt_pd(x);
    }
    let half = arch::_mm512_set1_pd(0.5);
    // 0 for 0, so that all that follows is 0
    let estimate = arch::_mm512_maskz_rsqrt14_pd(not_0, x);
    let (mut g, mut h) = (arch::_mm512_mul_pd(x, estimate), arch::_mm512_mul_pd(half, estimate));
    // 28 digits, and all
    for _ in 0..2 {
        let r = arch::_mm512_fnmadd_pd(g, h, half);
        (g, h) = (arch::_mm512_fmadd_pd(g, r, g), arch::_mm512_fmadd_pd(h, r, h));
    }
    arch::_mm512_fmadd_pd(arch::_mm512_fnmadd_pd(g, g, x), h, g)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn roots_32(x: arch::__m512) -> arch::__m512 {
    const LEAST: i32 = (LEAST_32 << (f32::MANTISSA_DIGITS - 1)) as i32;
    const INFINITY: i32 = f32::INFINITY.to_bits() as i32;
    let bits = arch::_mm512_castps_si512(x);
    let above = arch::_mm512_sub_epi32(bits, arch::_mm512_set1_epi32(LEAST));
    let outside = arch::_mm512_cmpge_epu32_mask(above, arch::_mm512_set1_epi32(INFINITY - LEAST));
    let not_0 = arch::_mm512_test_epi32_mask(bits, arch::_mm512_set1_epi32(i32::MAX));
    if outside & not_0 != 0 {
        return arch::_mm512_sqrt_ps(x);
    }
    let half = arch::_mm512_set1_ps(0.5);
    // 0 for 0, so that all that follows is 0
    let estimate = arch::_mm512_maskz_rsqrt14_ps(not_0, x);
    let (g, h) = (arch::_mm512_mul_ps(x, estimate), arch::_mm512_mul_ps(half, estimate));
    // all digits
    let r = arch::_mm512_fnmadd_ps(g, h, half);
    let (g, h) = (arch::_mm512_fmadd_ps(g, r, g), arch::_mm512_fmadd_ps(h, r, h));
    arch::_mm512_fmadd_ps(arch::_mm512_fnmadd_ps(g, g, x), h, g)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::philox;

    /// The loop over float64, by an estimate that is off by some part of 2^-14.
    fn by_64(x: f64, off: f64) -> f64 {
        let estimate = (1.0 + off / 16384.0) / x.sqrt();
        let (mut g, mut h) = (x * estimate, 0.5 * estimate);
        for _ in 0..2 {
            let r = (-g).mul_add(h, 0.5);
            (g, h) = (g.mul_add(r, g), h.mul_add(r, h));
        }
        (-g).mul_add(g, x).mul_add(h, g)
    }

    /// The loop over float32, in the same way.
    fn by_32(x: f32, off: f64) -> f32 {
        let estimate = ((1.0 + off / 16384.0) / f64::from(x).sqrt()) as f32;
        let (g, h) = (x * estimate, 0.5 * estimate);
        let r = (-g).mul_add(h, 0.5);
        let (g, h) = (g.mul_add(r, g), h.mul_add(r, h));
        (-g).mul_add(g, x).mul_add(h, g)
    }

    /// A number in [-1, 1].
    fn some(at: u64) -> f64 {
        f64::from(philox(7, at)[0]) / f64::from(u32::MAX) * 2.0 - 1.0
    }

    /// All `z` below `2^p` with `z^2 = k` modulo `2^p`, for a `k` that is 1 modulo 8: one of them digit by digit, and the others by its sign and its highest bit.
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

    /// Numbers in [1, 4) whose roots are next to the middle between two numbers. Where `z / 2^53` is such a middle, `z` is odd and its square, of which some first
    /// digits make a number and the others are 0 but for `k`, is that of the middle by `x = (z^2 - k) / 2^106`.
    fn near_the_middle() -> Vec<f64> {
        let mut all = Vec::new();
        for (p, unit) in [(54, 2.0_f64.powi(-52)), (55, 2.0_f64.powi(-51))] {
            for k in (-1000..1000).map(|i| 8 * i + 1) {
                for z in roots_modulo(k, p) {
                    let significand = ((z * z) as i128 - k) >> p;
                    if z >> 53 == 1 && significand >> 52 == 1 {
                        all.push(significand as f64 * unit);
                    }
                }
            }
        }
        all
    }

    #[test]
    fn roots_next_to_the_middle_between_two_numbers_are_rounded_right() {
        let hard = near_the_middle();
        assert!(hard.len() > 2000);
        // their roots have 53 digits, a one, and zeros, or a zero, and ones: of most numbers that is not so
        let distance = |x: f64| {
            let root = x.sqrt();
            let rest = (-root).mul_add(root, x) / (2.0 * root);
            (rest.abs() / (root.next_up() - root) - 0.5).abs()
        };
        assert!(hard.iter().all(|&x| distance(x) < 1e-8));
        for (i, &x) in hard.iter().enumerate().step_by(if cfg!(miri) { 97 } else { 1 }) {
            for k in 0..50 {
                let off = some((50 * i + k) as u64);
                assert_eq!(by_64(x, off), x.sqrt(), "{x:e} by {off}");
            }
        }
        let has = super::super::simd::set() > 1;
        if has {
            // SAFETY: the processor has AVX-512.
            assert_eq!(unsafe { all_64(&hard) }, hard.iter().map(|x| x.sqrt()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_significand_of_float32() {
        let step = if cfg!(miri) { 99_991 } else { 7 };
        for significand in (0..1_u32 << 24).step_by(step) {
            let x = f32::from_bits((127 << 23) + significand);
            for off in [-1.0, some(significand.into()), 1.0] {
                assert_eq!(by_32(x, off), x.sqrt(), "{x:e} by {off}");
            }
        }
        if super::super::simd::set() > 1 {
            let x: Vec<f32> = (0..1_u32 << 24).map(|significand| f32::from_bits((127 << 23) + significand)).collect();
            // SAFETY: the processor has AVX-512.
            let roots = unsafe { all_32(&x) };
            assert!(x.iter().zip(roots).all(|(x, root)| x.sqrt() == root));
        }
    }

    unsafe fn all_64(x: &[f64]) -> Vec<f64> {
        let mut out = vec![f64::NAN; x.len()];
        // SAFETY: as many of both; for the processor, the caller's promise.
        unsafe { float64(std::ptr::null(), &[x.as_ptr().cast(); MOST], 0, out.as_mut_ptr().cast(), x.len()) };
        out
    }

    unsafe fn all_32(x: &[f32]) -> Vec<f32> {
        let mut out = vec![f32::NAN; x.len()];
        // SAFETY: as many of both; for the processor, the caller's promise.
        unsafe { float32(std::ptr::null(), &[x.as_ptr().cast(); MOST], 0, out.as_mut_ptr().cast(), x.len()) };
        out
    }

    #[test]
    fn any_bits_in_any_number_of_elements() {
        if super::super::simd::set() < 2 {
            return;
        }
        let limits =
            [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MIN_POSITIVE, f64::MAX, 5e-324];
        let around = |least: u64| [least - 1, least, least + 1].map(f64::from_bits);
        let mut x: Vec<f64> = limits.into_iter().chain(around(LEAST_64 << 52)).collect();
        x.extend((0..2000).map(|i| philox(1, i)).map(|w| f64::from_bits(u64::from(w[0]) << 32 | u64::from(w[1]))));
        // runs of numbers without any of these
        x.extend((0..2000).map(|i| f64::from_bits((LEAST_64 + 1 + i) % 2046 << 52 | u64::from(philox(2, i)[0]) << 20)));
        let mut narrow: Vec<f32> = x.iter().map(|&x| x as f32).collect();
        narrow.extend((0..5).map(|i| f32::from_bits((LEAST_32 << 23) + i - 2)));
        narrow.extend((0..2000).map(|i| f32::from_bits(philox(3, i)[0])));
        narrow.extend((0..2000).map(|i| f32::from_bits((LEAST_32 + 1 + i % 200) << 23 | philox(4, i.into())[0] >> 9)));
        for len in (0..40).chain([x.len()]) {
            for from in [0, 7, 2500] {
                let (x, narrow) =
                    (&x[from.min(x.len() - len)..][..len], &narrow[from.min(narrow.len() - len)..][..len]);
                // SAFETY: the processor has AVX-512.
                let (roots, narrow_roots) = unsafe { (all_64(x), all_32(narrow)) };
                let same = |(&x, root): (&f64, f64)| {
                    x.sqrt().to_bits() == root.to_bits() || x.sqrt().is_nan() && root.is_nan()
                };
                assert!(x.iter().zip(roots).all(same));
                let same = |(&x, root): (&f32, f32)| {
                    x.sqrt().to_bits() == root.to_bits() || x.sqrt().is_nan() && root.is_nan()
                };
                assert!(narrow.iter().zip(narrow_roots).all(same));
            }
        }
    }
}
