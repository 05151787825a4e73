//! SIMD vectors for loops over rows of complex cells. They extend the vectors of the Fourier transforms ([`Vector`]) by
//! the operations that spreading and interpolation need.

use super::super::vector::{Plain, Vector};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::{
    ops::Add,
    sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
};

/// A SIMD vector that holds complex numbers of a row, as pairs of real numbers.
///
/// # Safety
/// Each function needs a processor with the instruction set of the type, as the functions of [`Vector`] do.
pub trait Row: Vector {
    /// Returns the first half of the elements, each of them twice in succession.
    unsafe fn double_low(self) -> Self;
    /// Returns the second half of the elements, each of them twice in succession.
    unsafe fn double_high(self) -> Self;
    /// Returns a vector in which each pair of neighbouring elements is this complex number.
    unsafe fn pairs(re: Self::Real, im: Self::Real) -> Self;
    /// Keeps the elements whose mask has all bits set, and sets the elements whose mask is 0 to 0. `mask` points to one
    /// mask per element.
    unsafe fn masked(self, mask: *const Self::Real) -> Self;
    /// Returns the sum of all elements at even indices of both vectors, and the sum of all elements at odd indices.
    /// The two vectors together hold 64 bytes: a vector type of 64 bytes has all elements in `even`, and zeros in
    /// `odd`. The order of the additions does not depend on the length of the vectors.
    unsafe fn sum_pairs(even: Self, odd: Self) -> (Self::Real, Self::Real);
}

/// The type of the real and imaginary parts of cells: `f32` or `f64`.
pub trait CellPart: Copy + Default + Send + Sync + Add<Output = Self> {
    /// A number with all bits set.
    const ALL_BITS: Self;

    /// Rounds `x` to this type.
    fn narrow(x: f64) -> Self;

    /// Stores a complex number. Other threads may store numbers at the same address at the same time.
    ///
    /// # Safety
    /// `to` must point to two numbers. Nobody may read them at the same time, and only this function may write them.
    unsafe fn store_pair(to: *mut Self, re: Self, im: Self);
}

macro_rules! part {
    ($($r:ident $bits:ident)*) => {$(
        impl CellPart for $r {
            const ALL_BITS: $r = $r::from_bits(!0);

            #[inline(always)]
            fn narrow(x: f64) -> $r {
                x as $r
            }

            #[inline(always)]
            unsafe fn store_pair(to: *mut $r, re: $r, im: $r) {
                // SAFETY: the caller guarantees two numbers, which are aligned, and only atomic accesses to them.
                unsafe {
                    $bits::from_ptr(to.cast()).store(re.to_bits(), Relaxed);
                    $bits::from_ptr(to.add(1).cast()).store(im.to_bits(), Relaxed);
                }
            }
        }
    )*};
}
part!(f32 AtomicU32 f64 AtomicU64);

macro_rules! plain {
    ($($r:ident $lanes:literal)*) => {$(
        impl Row for Plain<$r, $lanes> {
            #[inline(always)]
            unsafe fn double_low(self) -> Self {
                let x = self.elements();
                Plain::of(std::array::from_fn(|i| x[i / 2]))
            }

            #[inline(always)]
            unsafe fn double_high(self) -> Self {
                let x = self.elements();
                Plain::of(std::array::from_fn(|i| x[$lanes / 2 + i / 2]))
            }

            #[inline(always)]
            unsafe fn pairs(re: $r, im: $r) -> Self {
                Plain::of(std::array::from_fn(|i| if i % 2 == 0 { re } else { im }))
            }

            #[inline(always)]
            unsafe fn masked(self, mask: *const $r) -> Self {
                // SAFETY: the caller guarantees a mask for each element.
                let (x, mask) = (self.elements(), unsafe { Self::load(mask) }.elements());
                Plain::of(std::array::from_fn(|i| $r::from_bits(x[i].to_bits() & mask[i].to_bits())))
            }

            #[inline(always)]
            unsafe fn sum_pairs(even: Self, odd: Self) -> ($r, $r) {
                let (a, b) = (even.elements(), odd.elements());
                let mut sums: [$r; $lanes] = std::array::from_fn(|i| a[i] + b[i]);
                let mut half = $lanes;
                while half > 2 {
                    half /= 2;
                    for i in 0..half {
                        sums[i] += sums[i + half];
                    }
                }
                (sums[0], sums[1])
            }
        }
    )*};
}
plain!(f32 8 f64 4);

#[cfg(target_arch = "x86_64")]
impl Row for __m256d {
    #[inline(always)]
    unsafe fn double_low(self) -> Self {
        // SAFETY: the caller guarantees the instruction set, here and below.
        unsafe { _mm256_permute4x64_pd::<0b01_01_00_00>(self) }
    }

    #[inline(always)]
    unsafe fn double_high(self) -> Self {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { _mm256_permute4x64_pd::<0b11_11_10_10>(self) }
    }

    #[inline(always)]
    unsafe fn pairs(re: f64, im: f64) -> Self {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { _mm256_set_pd(im, re, im, re) }
    }

    #[inline(always)]
    unsafe fn masked(self, mask: *const f64) -> Self {
        // SAFETY: the caller guarantees the instruction set, and a mask for each element.
        unsafe { _mm256_and_pd(self, Self::load(mask)) }
    }

    #[inline(always)]
    unsafe fn sum_pairs(even: Self, odd: Self) -> (f64, f64) {
        // SAFETY: the caller guarantees the instruction set.
        unsafe {
            let sums = _mm256_add_pd(even, odd);
            let sums = _mm_add_pd(_mm256_castpd256_pd128(sums), _mm256_extractf128_pd::<1>(sums));
            (_mm_cvtsd_f64(sums), _mm_cvtsd_f64(_mm_unpackhi_pd(sums, sums)))
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Row for __m256 {
    #[inline(always)]
    unsafe fn double_low(self) -> Self {
        // SAFETY: the caller guarantees the instruction set, here and below.
        unsafe { _mm256_permutevar8x32_ps(self, _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3)) }
    }

    #[inline(always)]
    unsafe fn double_high(self) -> Self {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { _mm256_permutevar8x32_ps(self, _mm256_setr_epi32(4, 4, 5, 5, 6, 6, 7, 7)) }
    }

    #[inline(always)]
    unsafe fn pairs(re: f32, im: f32) -> Self {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { _mm256_castpd_ps(_mm256_set1_pd(pair_of_bits(re, im))) }
    }

    #[inline(always)]
    unsafe fn masked(self, mask: *const f32) -> Self {
        // SAFETY: the caller guarantees the instruction set, and a mask for each element.
        unsafe { _mm256_and_ps(self, Self::load(mask)) }
    }

    #[inline(always)]
    unsafe fn sum_pairs(even: Self, odd: Self) -> (f32, f32) {
        // SAFETY: the caller guarantees the instruction set.
        unsafe {
            let sums = _mm256_add_ps(even, odd);
            let sums = _mm_add_ps(_mm256_castps256_ps128(sums), _mm256_extractf128_ps::<1>(sums));
            let sums = _mm_add_ps(sums, _mm_movehl_ps(sums, sums));
            (_mm_cvtss_f32(sums), _mm_cvtss_f32(_mm_shuffle_ps::<1>(sums, sums)))
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Row for __m512d {
    #[inline(always)]
    unsafe fn double_low(self) -> Self {
        // SAFETY: the caller guarantees the instruction set, here and below.
        unsafe { _mm512_permutexvar_pd(_mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3), self) }
    }

    #[inline(always)]
    unsafe fn double_high(self) -> Self {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { _mm512_permutexvar_pd(_mm512_setr_epi64(4, 4, 5, 5, 6, 6, 7, 7), self) }
    }

    #[inline(always)]
    unsafe fn pairs(re: f64, im: f64) -> Self {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { _mm512_broadcast_f64x2(_mm_set_pd(im, re)) }
    }

    #[inline(always)]
    unsafe fn masked(self, mask: *const f64) -> Self {
        // SAFETY: the caller guarantees the instruction set, and a mask for each element.
        unsafe { _mm512_and_pd(self, Self::load(mask)) }
    }

    #[inline(always)]
    unsafe fn sum_pairs(even: Self, odd: Self) -> (f64, f64) {
        // SAFETY: the caller guarantees the instruction set.
        unsafe {
            let sums = _mm512_add_pd(even, odd);
            __m256d::sum_pairs(_mm512_castpd512_pd256(sums), _mm512_extractf64x4_pd::<1>(sums))
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Row for __m512 {
    #[inline(always)]
    unsafe fn double_low(self) -> Self {
        // SAFETY: the caller guarantees the instruction set, here and below.
        unsafe { _mm512_permutexvar_ps(_mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7), self) }
    }

    #[inline(always)]
    unsafe fn double_high(self) -> Self {
        // SAFETY: the caller guarantees the instruction set.
        unsafe {
            _mm512_permutexvar_ps(_mm512_setr_epi32(8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15), self)
        }
    }

    #[inline(always)]
    unsafe fn pairs(re: f32, im: f32) -> Self {
        // SAFETY: the caller guarantees the instruction set.
        unsafe { _mm512_castpd_ps(_mm512_set1_pd(pair_of_bits(re, im))) }
    }

    #[inline(always)]
    unsafe fn masked(self, mask: *const f32) -> Self {
        // SAFETY: the caller guarantees the instruction set, and a mask for each element.
        unsafe { _mm512_and_ps(self, Self::load(mask)) }
    }

    #[inline(always)]
    unsafe fn sum_pairs(even: Self, odd: Self) -> (f32, f32) {
        // SAFETY: the caller guarantees the instruction set.
        unsafe {
            let sums = _mm512_add_ps(even, odd);
            __m256::sum_pairs(_mm512_castps512_ps256(sums), _mm512_extractf32x8_ps::<1>(sums))
        }
    }
}

/// Packs two float32 numbers into the bits of a float64, with `re` in the lower half.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn pair_of_bits(re: f32, im: f32) -> f64 {
    f64::from_bits(u64::from(im.to_bits()) << 32 | u64::from(re.to_bits()))
}
