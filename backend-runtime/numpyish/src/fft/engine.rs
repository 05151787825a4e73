//! The precision of a transform as a type, `f32` or `f64`, with its vector types for each instruction set.

use super::vector::{Plain, Vector};
use backend_core::{Complex, Precision};
use rustfft::FftNum;

/// The precision of a transform: `f32` or `f64`.
pub trait Engine: Precision + FftNum {
    /// A vector of one number.
    type Single: Vector<Real = Self>;
    /// Portable vectors, for processors without the instruction sets below.
    type Plain: Vector<Real = Self>;
    /// Vectors of AVX2.
    #[cfg(target_arch = "x86_64")]
    type Avx2: Vector<Real = Self>;
    /// Vectors of AVX-512.
    #[cfg(target_arch = "x86_64")]
    type Avx512: Vector<Real = Self>;

    /// Converts a complex lane to the element type that `rustfft` takes.
    fn lane(x: &mut [Self::Complex]) -> &mut [Complex<Self>];
}

macro_rules! engine {
    ($($r:ident $lanes:literal $avx2:ident $avx512:ident)*) => {$(
        impl Engine for $r {
            type Single = Plain<$r, 1>;
            type Plain = Plain<$r, $lanes>;
            #[cfg(target_arch = "x86_64")]
            type Avx2 = std::arch::x86_64::$avx2;
            #[cfg(target_arch = "x86_64")]
            type Avx512 = std::arch::x86_64::$avx512;

            #[inline(always)]
            fn lane(x: &mut [Complex<$r>]) -> &mut [Complex<$r>] {
                x
            }
        }
    )*};
}
engine!(f32 8 __m256 __m512 f64 4 __m256d __m512d);
