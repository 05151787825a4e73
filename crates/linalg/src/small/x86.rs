//! Eight numbers in the vector registers of x86-64 processors.

use super::lanes::{AlignedVector, Mask, Vector, WIDTH};
use std::arch::x86_64::*;

/// Eight numbers in two registers of AVX2. Its functions may be called only if the processor has AVX2.
#[derive(Clone, Copy)]
pub struct Avx2([__m256d; 2]);

/// Eight numbers in a register of AVX-512. Its functions may be called only if the processor has AVX-512F and DQ.
#[derive(Clone, Copy)]
pub struct Avx512(__m512d);

/// A condition on each lane of [`Avx2`]: all bits are 1 where it holds.
#[derive(Clone, Copy)]
pub struct Bits([__m256d; 2]);

/// Evaluates an expression of intrinsics.
macro_rules! intrinsic {
    ($e:expr) => {
        // SAFETY: `sets` calls the functions of a type only if the processor has its instruction set. Intrinsics that
        // read or write memory do so in an `AlignedVector`, which has the size and the alignment of the registers.
        unsafe { $e }
    };
}

/// Defines the functions of [`Vector`] for [`Avx2`], given the value for one register.
macro_rules! halves {
    ($($name:ident($x:ident $(, $y:ident)*) -> $wrap:ident($out:ty) = $e:expr;)*) => {$(
        #[inline(always)]
        fn $name(self $(, $y: Self)*) -> $out {
            let first = {
                let ($x, $($y),*) = (self.0[0], $($y.0[0]),*);
                intrinsic!($e)
            };
            let ($x, $($y),*) = (self.0[1], $($y.0[1]),*);
            $wrap([first, intrinsic!($e)])
        }
    )*};
}

impl Mask for Bits {
    halves! {
        and(x, other) -> Bits(Self) = _mm256_and_pd(x, other);
        or(x, other) -> Bits(Self) = _mm256_or_pd(x, other);
    }

    #[inline(always)]
    fn bits(self) -> u8 {
        let [first, second] = [intrinsic!(_mm256_movemask_pd(self.0[0])), intrinsic!(_mm256_movemask_pd(self.0[1]))];
        (first | second << 4) as u8
    }
}

impl Vector for Avx2 {
    type Mask = Bits;

    #[inline(always)]
    fn load(from: &AlignedVector) -> Self {
        let from = from.0.as_ptr();
        Avx2([intrinsic!(_mm256_load_pd(from)), intrinsic!(_mm256_load_pd(from.add(4)))])
    }

    #[inline(always)]
    fn store(self, to: &mut AlignedVector) {
        let to = to.0.as_mut_ptr();
        intrinsic!(_mm256_store_pd(to, self.0[0]));
        intrinsic!(_mm256_store_pd(to.add(4), self.0[1]));
    }

    #[inline(always)]
    fn of(x: [f64; WIDTH]) -> Self {
        let [a, b, c, d, e, f, g, h] = x;
        Avx2([intrinsic!(_mm256_setr_pd(a, b, c, d)), intrinsic!(_mm256_setr_pd(e, f, g, h))])
    }

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Avx2([intrinsic!(_mm256_set1_pd(x)); 2])
    }

    halves! {
        abs(x) -> Avx2(Self) = _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
        times(x, other) -> Avx2(Self) = _mm256_mul_pd(x, other);
        over(x, other) -> Avx2(Self) = _mm256_div_pd(x, other);
        minus_product(x, factor, other) -> Avx2(Self) = _mm256_sub_pd(x, _mm256_mul_pd(factor, other));
        exceeds(x, other) -> Bits(Bits) = _mm256_cmp_pd::<_CMP_GT_OQ>(x, other);
        reaches(x, other) -> Bits(Bits) = _mm256_cmp_pd::<_CMP_GE_OQ>(x, other);
        equals(x, other) -> Bits(Bits) = _mm256_cmp_pd::<_CMP_EQ_OQ>(x, other);
    }

    #[inline(always)]
    fn replaced(self, mask: Bits, other: Self) -> Self {
        let first = intrinsic!(_mm256_blendv_pd(self.0[0], other.0[0], mask.0[0]));
        Avx2([first, intrinsic!(_mm256_blendv_pd(self.0[1], other.0[1], mask.0[1]))])
    }
}

impl Mask for __mmask8 {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self & other
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self | other
    }

    #[inline(always)]
    fn bits(self) -> u8 {
        self
    }
}

/// Defines the functions of [`Vector`] for [`Avx512`].
macro_rules! registers {
    ($($name:ident($x:ident $(, $y:ident)*) -> $out:ty = $e:expr;)*) => {$(
        #[inline(always)]
        fn $name(self $(, $y: Self)*) -> $out {
            let $x = self.0;
            $(let $y = $y.0;)*
            intrinsic!($e)
        }
    )*};
}

impl Vector for Avx512 {
    type Mask = __mmask8;

    #[inline(always)]
    fn load(from: &AlignedVector) -> Self {
        Avx512(intrinsic!(_mm512_load_pd(from.0.as_ptr())))
    }

    #[inline(always)]
    fn store(self, to: &mut AlignedVector) {
        intrinsic!(_mm512_store_pd(to.0.as_mut_ptr(), self.0));
    }

    #[inline(always)]
    fn of(x: [f64; WIDTH]) -> Self {
        let [a, b, c, d, e, f, g, h] = x;
        Avx512(intrinsic!(_mm512_setr_pd(a, b, c, d, e, f, g, h)))
    }

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Avx512(intrinsic!(_mm512_set1_pd(x)))
    }

    registers! {
        abs(x) -> Self = Avx512(_mm512_abs_pd(x));
        times(x, other) -> Self = Avx512(_mm512_mul_pd(x, other));
        over(x, other) -> Self = Avx512(_mm512_div_pd(x, other));
        minus_product(x, factor, other) -> Self = Avx512(_mm512_sub_pd(x, _mm512_mul_pd(factor, other)));
        exceeds(x, other) -> __mmask8 = _mm512_cmp_pd_mask::<_CMP_GT_OQ>(x, other);
        reaches(x, other) -> __mmask8 = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(x, other);
        equals(x, other) -> __mmask8 = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(x, other);
    }

    #[inline(always)]
    fn replaced(self, mask: __mmask8, other: Self) -> Self {
        Avx512(intrinsic!(_mm512_mask_blend_pd(mask, self.0, other.0)))
    }
}
