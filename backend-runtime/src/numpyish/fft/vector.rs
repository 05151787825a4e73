//! Vectors of real numbers in one register, for loops that the compiler does not vectorise by itself: a butterfly has too many
//! operands for it. All round alike, so that a transform has the same bits on each instruction set.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Some numbers that are computed with at once.
///
/// # Safety
/// Each function needs a processor with the instruction set of the type; those with an address, [`LANES`](Vector::LANES)
/// numbers there, or twice as many for [`split`](Vector::split) and [`join`](Vector::join), at any alignment.
pub trait Vector: Copy {
    /// The type of the numbers.
    type Real: Copy;
    /// How many there are.
    const LANES: usize;

    /// The numbers at an address.
    unsafe fn load(from: *const Self::Real) -> Self;
    /// Writes the numbers to an address.
    unsafe fn store(self, to: *mut Self::Real);
    /// The real and the imaginary parts of the complex numbers at an address, in an order that [`join`](Vector::join) undoes.
    unsafe fn split(from: *const Self::Real) -> [Self; 2];
    /// Writes complex numbers, whose parts have the order of [`split`](Vector::split).
    unsafe fn join(re: Self, im: Self, to: *mut Self::Real);
    /// The same number everywhere.
    unsafe fn splat(x: Self::Real) -> Self;
    /// Sums.
    unsafe fn add(self, other: Self) -> Self;
    /// Differences.
    unsafe fn sub(self, other: Self) -> Self;
    /// Products.
    unsafe fn mul(self, other: Self) -> Self;
    /// `self * factor + term`, rounded once.
    unsafe fn mul_add(self, factor: Self, term: Self) -> Self;
    /// `self * factor - term`, rounded once.
    unsafe fn mul_sub(self, factor: Self, term: Self) -> Self;
}

/// Asks for the cache line of an address in the second cache, whatever is there.
#[inline(always)]
pub fn prefetch<T>(from: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has the instruction, which fails for no address.
    unsafe {
        _mm_prefetch::<_MM_HINT_T1>(from.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = from;
}

/// Vectors without instructions of their own.
#[derive(Clone, Copy)]
pub struct Plain<R, const LANES: usize>([R; LANES]);

macro_rules! plain {
    ($($r:ident)*) => {$(
        impl<const L: usize> Vector for Plain<$r, L> {
            type Real = $r;
            const LANES: usize = L;

            #[inline(always)]
            unsafe fn load(from: *const $r) -> Self {
                // SAFETY: the caller's promise, here and below.
                Plain(unsafe { from.cast::<[$r; L]>().read_unaligned() })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $r) {
                // SAFETY: as above.
                unsafe { to.cast::<[$r; L]>().write_unaligned(self.0) }
            }

            #[inline(always)]
            unsafe fn split(from: *const $r) -> [Self; 2] {
                // SAFETY: as above.
                let pairs = unsafe { from.cast::<[[$r; 2]; L]>().read_unaligned() };
                [Plain(pairs.map(|p| p[0])), Plain(pairs.map(|p| p[1]))]
            }

            #[inline(always)]
            unsafe fn join(re: Self, im: Self, to: *mut $r) {
                let pairs: [[$r; 2]; L] = std::array::from_fn(|k| [re.0[k], im.0[k]]);
                // SAFETY: as above.
                unsafe { to.cast::<[[$r; 2]; L]>().write_unaligned(pairs) }
            }

            #[inline(always)]
            unsafe fn splat(x: $r) -> Self {
                Plain([x; L])
            }

            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                Plain(std::array::from_fn(|k| self.0[k] + other.0[k]))
            }

            #[inline(always)]
            unsafe fn sub(self, other: Self) -> Self {
                Plain(std::array::from_fn(|k| self.0[k] - other.0[k]))
            }

            #[inline(always)]
            unsafe fn mul(self, other: Self) -> Self {
                Plain(std::array::from_fn(|k| self.0[k] * other.0[k]))
            }

            #[inline(always)]
            unsafe fn mul_add(self, factor: Self, term: Self) -> Self {
                Plain(std::array::from_fn(|k| self.0[k].mul_add(factor.0[k], term.0[k])))
            }

            #[inline(always)]
            unsafe fn mul_sub(self, factor: Self, term: Self) -> Self {
                Plain(std::array::from_fn(|k| self.0[k].mul_add(factor.0[k], -term.0[k])))
            }
        }
    )*};
}
plain!(f32 f64);

/// The vectors of an instruction set: their operations are one instruction each.
#[cfg(target_arch = "x86_64")]
macro_rules! registers {
    ($($v:ident of $lanes:literal $r:ident: $load:ident $store:ident $splat:ident $add:ident $sub:ident $mul:ident
        $mul_add:ident $mul_sub:ident, split: $even:expr, $odd:expr, join: $low:ident $high:ident;)*) => {$(
        impl Vector for $v {
            type Real = $r;
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn load(from: *const $r) -> Self {
                // SAFETY: the caller's promise, here and below.
                unsafe { $load(from) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $r) {
                // SAFETY: as above.
                unsafe { $store(to, self) }
            }

            #[inline(always)]
            unsafe fn split(from: *const $r) -> [Self; 2] {
                // SAFETY: as above.
                unsafe {
                    let (low, high) = ($load(from), $load(from.add($lanes)));
                    [$even(low, high), $odd(low, high)]
                }
            }

            #[inline(always)]
            unsafe fn join(re: Self, im: Self, to: *mut $r) {
                // SAFETY: as above.
                unsafe {
                    $store(to, $low(re, im));
                    $store(to.add($lanes), $high(re, im));
                }
            }

            #[inline(always)]
            unsafe fn splat(x: $r) -> Self {
                // SAFETY: as above.
                unsafe { $splat(x) }
            }

            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                // SAFETY: as above.
                unsafe { $add(self, other) }
            }

            #[inline(always)]
            unsafe fn sub(self, other: Self) -> Self {
                // SAFETY: as above.
                unsafe { $sub(self, other) }
            }

            #[inline(always)]
            unsafe fn mul(self, other: Self) -> Self {
                // SAFETY: as above.
                unsafe { $mul(self, other) }
            }

            #[inline(always)]
            unsafe fn mul_add(self, factor: Self, term: Self) -> Self {
                // SAFETY: as above.
                unsafe { $mul_add(self, factor, term) }
            }

            #[inline(always)]
            unsafe fn mul_sub(self, factor: Self, term: Self) -> Self {
                // SAFETY: as above.
                unsafe { $mul_sub(self, factor, term) }
            }
        }
    )*};
}

// within each 128 bits: real parts are numbers 0 and 2 of both registers, imaginary parts 1 and 3
#[cfg(target_arch = "x86_64")]
registers! {
    __m256d of 4 f64: _mm256_loadu_pd _mm256_storeu_pd _mm256_set1_pd _mm256_add_pd _mm256_sub_pd _mm256_mul_pd
        _mm256_fmadd_pd _mm256_fmsub_pd, split: _mm256_unpacklo_pd, _mm256_unpackhi_pd,
        join: _mm256_unpacklo_pd _mm256_unpackhi_pd;
    __m256 of 8 f32: _mm256_loadu_ps _mm256_storeu_ps _mm256_set1_ps _mm256_add_ps _mm256_sub_ps _mm256_mul_ps
        _mm256_fmadd_ps _mm256_fmsub_ps, split: _mm256_shuffle_ps::<0b10_00_10_00>, _mm256_shuffle_ps::<0b11_01_11_01>,
        join: _mm256_unpacklo_ps _mm256_unpackhi_ps;
    __m512d of 8 f64: _mm512_loadu_pd _mm512_storeu_pd _mm512_set1_pd _mm512_add_pd _mm512_sub_pd _mm512_mul_pd
        _mm512_fmadd_pd _mm512_fmsub_pd, split: _mm512_unpacklo_pd, _mm512_unpackhi_pd,
        join: _mm512_unpacklo_pd _mm512_unpackhi_pd;
    __m512 of 16 f32: _mm512_loadu_ps _mm512_storeu_ps _mm512_set1_ps _mm512_add_ps _mm512_sub_ps _mm512_mul_ps
        _mm512_fmadd_ps _mm512_fmsub_ps, split: _mm512_shuffle_ps::<0b10_00_10_00>, _mm512_shuffle_ps::<0b11_01_11_01>,
        join: _mm512_unpacklo_ps _mm512_unpackhi_ps;
}
