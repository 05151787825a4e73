//! Vectors of real numbers in one SIMD register. The compiler does not vectorise the loops of Fourier transforms by
//! itself, because a butterfly has too many operands. All vector types round in the same way, so that a transform has
//! the same bits on each instruction set.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// A vector of real numbers.
///
/// # Safety
/// Each function needs a processor with the instruction set of the type. Addresses must point to
/// [`LANES`](Vector::LANES) numbers, or to twice as many for [`split`](Vector::split) and [`join`](Vector::join). They
/// need no alignment.
pub trait Vector: Copy {
    /// The type of the numbers.
    type Real: Copy;
    /// Number of elements.
    const LANES: usize;

    /// Loads the numbers at an address.
    unsafe fn load(from: *const Self::Real) -> Self;
    /// Stores the numbers at an address.
    unsafe fn store(self, to: *mut Self::Real);
    /// Loads complex numbers as real and imaginary parts, in an order that [`join`](Vector::join) undoes.
    unsafe fn split(from: *const Self::Real) -> [Self; 2];
    /// Stores complex numbers, whose parts have the order of [`split`](Vector::split).
    unsafe fn join(re: Self, im: Self, to: *mut Self::Real);
    /// Returns the elements in reverse order. If they are in the order of [`split`](Vector::split), the result is in
    /// that order, too, and [`join`](Vector::join) stores the complex numbers in reverse order.
    unsafe fn reverse(self) -> Self;
    /// A vector with the same number in all elements.
    unsafe fn splat(x: Self::Real) -> Self;
    /// Elementwise sums.
    unsafe fn add(self, other: Self) -> Self;
    /// Elementwise differences.
    unsafe fn sub(self, other: Self) -> Self;
    /// Elementwise products.
    unsafe fn mul(self, other: Self) -> Self;
    /// `self * factor + term`, rounded once.
    unsafe fn mul_add(self, factor: Self, term: Self) -> Self;
    /// `self * factor - term`, rounded once.
    unsafe fn mul_sub(self, factor: Self, term: Self) -> Self;
}

/// Portable vectors, as arrays.
#[derive(Clone, Copy)]
pub struct Plain<R, const LANES: usize>([R; LANES]);

impl<R, const LANES: usize> Plain<R, LANES> {
    /// Makes a vector from its elements.
    #[inline(always)]
    pub fn of(elements: [R; LANES]) -> Self {
        Plain(elements)
    }

    /// The elements as an array.
    #[inline(always)]
    pub fn elements(self) -> [R; LANES] {
        self.0
    }
}

macro_rules! plain {
    ($($r:ident)*) => {$(
        impl<const L: usize> Vector for Plain<$r, L> {
            type Real = $r;
            const LANES: usize = L;

            #[inline(always)]
            unsafe fn load(from: *const $r) -> Self {
                // SAFETY: the caller guarantees the instruction set and valid memory, here and below.
                Plain(unsafe { from.cast::<[$r; L]>().read_unaligned() })
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $r) {
                // SAFETY: the caller guarantees the instruction set and valid memory.
                unsafe { to.cast::<[$r; L]>().write_unaligned(self.0) }
            }

            #[inline(always)]
            unsafe fn split(from: *const $r) -> [Self; 2] {
                // SAFETY: the caller guarantees the instruction set and valid memory.
                let pairs = unsafe { from.cast::<[[$r; 2]; L]>().read_unaligned() };
                [Plain(pairs.map(|p| p[0])), Plain(pairs.map(|p| p[1]))]
            }

            #[inline(always)]
            unsafe fn join(re: Self, im: Self, to: *mut $r) {
                let pairs: [[$r; 2]; L] = std::array::from_fn(|k| [re.0[k], im.0[k]]);
                // SAFETY: the caller guarantees the instruction set and valid memory.
                unsafe { to.cast::<[[$r; 2]; L]>().write_unaligned(pairs) }
            }

            #[inline(always)]
            unsafe fn reverse(self) -> Self {
                Plain(std::array::from_fn(|k| self.0[L - 1 - k]))
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

/// Implements `Vector` for the registers of an instruction set: each operation is one instruction.
#[cfg(target_arch = "x86_64")]
macro_rules! registers {
    ($($v:ident of $lanes:literal $r:ident: $load:ident $store:ident $splat:ident $add:ident $sub:ident $mul:ident
        $mul_add:ident $mul_sub:ident, split: $even:expr, $odd:expr, join: $low:ident $high:ident,
        reverse: $reverse:expr;)*) => {$(
        impl Vector for $v {
            type Real = $r;
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn load(from: *const $r) -> Self {
                // SAFETY: the caller guarantees the instruction set and valid memory, here and below.
                unsafe { $load(from) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $r) {
                // SAFETY: the caller guarantees the instruction set and valid memory.
                unsafe { $store(to, self) }
            }

            #[inline(always)]
            unsafe fn split(from: *const $r) -> [Self; 2] {
                // SAFETY: the caller guarantees the instruction set and valid memory.
                unsafe {
                    let (low, high) = ($load(from), $load(from.add($lanes)));
                    [$even(low, high), $odd(low, high)]
                }
            }

            #[inline(always)]
            unsafe fn join(re: Self, im: Self, to: *mut $r) {
                // SAFETY: the caller guarantees the instruction set and valid memory.
                unsafe {
                    $store(to, $low(re, im));
                    $store(to.add($lanes), $high(re, im));
                }
            }

            #[inline(always)]
            unsafe fn reverse(self) -> Self {
                // SAFETY: the caller guarantees the instruction set and valid memory.
                unsafe { $reverse(self) }
            }

            #[inline(always)]
            unsafe fn splat(x: $r) -> Self {
                // SAFETY: the caller guarantees the instruction set and valid memory.
                unsafe { $splat(x) }
            }

            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                // SAFETY: the caller guarantees the instruction set and valid memory.
                unsafe { $add(self, other) }
            }

            #[inline(always)]
            unsafe fn sub(self, other: Self) -> Self {
                // SAFETY: the caller guarantees the instruction set and valid memory.
                unsafe { $sub(self, other) }
            }

            #[inline(always)]
            unsafe fn mul(self, other: Self) -> Self {
                // SAFETY: the caller guarantees the instruction set and valid memory.
                unsafe { $mul(self, other) }
            }

            #[inline(always)]
            unsafe fn mul_add(self, factor: Self, term: Self) -> Self {
                // SAFETY: the caller guarantees the instruction set and valid memory.
                unsafe { $mul_add(self, factor, term) }
            }

            #[inline(always)]
            unsafe fn mul_sub(self, factor: Self, term: Self) -> Self {
                // SAFETY: the caller guarantees the instruction set and valid memory.
                unsafe { $mul_sub(self, factor, term) }
            }
        }
    )*};
}

/// The elements in reverse order.
///
/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn reverse_eight_singles(x: __m256) -> __m256 {
    // SAFETY: the caller guarantees AVX2.
    unsafe { _mm256_permutevar8x32_ps(x, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0)) }
}

/// The elements in reverse order.
///
/// # Safety
/// The processor has AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn reverse_eight(x: __m512d) -> __m512d {
    // SAFETY: the caller guarantees AVX-512.
    unsafe { _mm512_permutexvar_pd(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), x) }
}

/// The elements in reverse order.
///
/// # Safety
/// The processor has AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn reverse_sixteen(x: __m512) -> __m512 {
    // SAFETY: the caller guarantees AVX-512.
    unsafe { _mm512_permutexvar_ps(_mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), x) }
}

// for `f32`, `split` takes elements 0 and 2 of each 128 bits of both registers as real parts, and elements 1 and 3 as
// imaginary parts
#[cfg(target_arch = "x86_64")]
registers! {
    __m256d of 4 f64: _mm256_loadu_pd _mm256_storeu_pd _mm256_set1_pd _mm256_add_pd _mm256_sub_pd _mm256_mul_pd
        _mm256_fmadd_pd _mm256_fmsub_pd, split: _mm256_unpacklo_pd, _mm256_unpackhi_pd,
        join: _mm256_unpacklo_pd _mm256_unpackhi_pd, reverse: _mm256_permute4x64_pd::<0b00_01_10_11>;
    __m256 of 8 f32: _mm256_loadu_ps _mm256_storeu_ps _mm256_set1_ps _mm256_add_ps _mm256_sub_ps _mm256_mul_ps
        _mm256_fmadd_ps _mm256_fmsub_ps, split: _mm256_shuffle_ps::<0b10_00_10_00>, _mm256_shuffle_ps::<0b11_01_11_01>,
        join: _mm256_unpacklo_ps _mm256_unpackhi_ps,
        reverse: reverse_eight_singles;
    __m512d of 8 f64: _mm512_loadu_pd _mm512_storeu_pd _mm512_set1_pd _mm512_add_pd _mm512_sub_pd _mm512_mul_pd
        _mm512_fmadd_pd _mm512_fmsub_pd, split: _mm512_unpacklo_pd, _mm512_unpackhi_pd,
        join: _mm512_unpacklo_pd _mm512_unpackhi_pd,
        reverse: reverse_eight;
    __m512 of 16 f32: _mm512_loadu_ps _mm512_storeu_ps _mm512_set1_ps _mm512_add_ps _mm512_sub_ps _mm512_mul_ps
        _mm512_fmadd_ps _mm512_fmsub_ps, split: _mm512_shuffle_ps::<0b10_00_10_00>, _mm512_shuffle_ps::<0b11_01_11_01>,
        join: _mm512_unpacklo_ps _mm512_unpackhi_ps,
        reverse: reverse_sixteen;
}
