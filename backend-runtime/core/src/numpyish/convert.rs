//! Conversion of slices to another dtype, for example before and after a computation; and storage for one element of
//! any dtype.

use super::{buffer, simd::versions};
use crate::{Complex, DType, DTypeKind, Element, Real, Result, bf16, f16, raw::RawElement, scalar::half::Half};

/// Returns whether elements of this dtype are 16-bit floats. They are computed in `f32`, and rounded once at the end.
pub const fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::Float16 | DType::BFloat16)
}

/// The dtype in which elements of a dtype are computed: `f32` for 16-bit floats, and otherwise the dtype itself.
pub const fn computed_in(dtype: DType) -> DType {
    if is_half(dtype) { DType::Float32 } else { dtype }
}

/// The dtype of a sum of elements of this dtype (see [`Element::Sum`]): int64 for bool and signed integers, uint64 for
/// unsigned integers, and otherwise the dtype itself.
pub const fn sum_dtype(dtype: DType) -> DType {
    match dtype.kind() {
        DTypeKind::Bool | DTypeKind::Signed => DType::Int64,
        DTypeKind::Unsigned => DType::UInt64,
        DTypeKind::Real | DTypeKind::Complex => dtype,
    }
}

/// A function that converts the `n` elements at `from` and writes the results to `to`. The two slices must not overlap.
pub type Convert = unsafe fn(from: *const u8, to: *mut u8, n: usize);

/// Returns the function that converts elements of dtype `from` to dtype `to`; `None` if the dtypes are equal. The
/// supported conversions are those to the dtype of sums ([`sum_dtype`]), between 16-bit floats and `f32`, and from real
/// to complex dtypes.
///
/// # Panics
/// Panics for all other pairs of dtypes.
pub fn conversion(from: DType, to: DType) -> Option<Convert> {
    use DType::*;
    Some(match (from, to) {
        (from, to) if from as usize == to as usize => return None,
        (Bool, Int64) => each::<bool, i64>,
        (Int8, Int64) => each::<i8, i64>,
        (Int16, Int64) => each::<i16, i64>,
        (Int32, Int64) => each::<i32, i64>,
        (UInt8, UInt64) => each::<u8, u64>,
        (UInt16, UInt64) => each::<u16, u64>,
        (UInt32, UInt64) => each::<u32, u64>,
        (Float16, Float32) => widen::<f16>,
        (BFloat16, Float32) => widen::<bf16>,
        (Float32, Float16) => shorten::<f16>,
        (Float32, BFloat16) => shorten::<bf16>,
        (Float16, Complex64) => each::<f16, Complex<f32>>,
        (BFloat16, Complex64) => each::<bf16, Complex<f32>>,
        (Float32, Complex64) => each::<f32, Complex<f32>>,
        (Float64, Complex128) => each::<f64, Complex<f64>>,
        _ => unreachable!("no computation converts {from} to {to}"),
    })
}

/// Converts `n` elements. If the dtypes are equal, copies them.
///
/// # Safety
/// `from` and `to` point to `n` elements of their dtypes, and the two slices do not overlap.
pub unsafe fn convert(from_dtype: DType, to_dtype: DType, from: *const u8, to: *mut u8, n: usize) {
    // SAFETY: the caller guarantees `n` elements of these dtypes in slices that do not overlap.
    unsafe {
        match conversion(from_dtype, to_dtype) {
            Some(f) => f(from, to, n),
            None => std::ptr::copy_nonoverlapping(from, to, n * from_dtype.size()),
        }
    }
}

versions! {
    unsafe fn each[T: Element, U: Element][T, U](from: *const u8, to: *mut u8, n: usize) {
        let (from, to) = (from.cast::<T>(), to.cast::<U>());
        for i in 0..n {
            // SAFETY: `from` and `to` have `n` elements each.
            unsafe { *to.add(i) = (*from.add(i)).cast() };
        }
    }
}

/// Converts a slice of 16-bit floats to `f32`, which is exact.
unsafe fn widen<T: Half>(from: *const u8, to: *mut u8, n: usize) {
    // SAFETY: `from` and `to` have `n` elements each.
    unsafe {
        let done = if T::DTYPE == DType::Float16 { instructions::widen(from.cast(), to.cast(), n) } else { 0 };
        widen_rest::<T>(from.cast::<T>().add(done).cast(), to.cast::<f32>().add(done).cast(), n - done);
    }
}

/// Rounds a slice of `f32` to 16-bit floats.
unsafe fn shorten<T: Half>(from: *const u8, to: *mut u8, n: usize) {
    // SAFETY: `from` and `to` have `n` elements each.
    unsafe {
        let done = if T::DTYPE == DType::Float16 { instructions::shorten(from.cast(), to.cast(), n) } else { 0 };
        shorten_rest::<T>(from.cast::<f32>().add(done).cast(), to.cast::<T>().add(done).cast(), n - done);
    }
}

versions! {
    unsafe fn widen_rest[T: Half][T](from: *const u8, to: *mut u8, n: usize) {
        for i in 0..n {
            // SAFETY: `from` and `to` have `n` elements each.
            unsafe { *to.cast::<f32>().add(i) = (*from.cast::<T>().add(i)).widen() };
        }
    }

    unsafe fn shorten_rest[T: Half][T](from: *const u8, to: *mut u8, n: usize) {
        for i in 0..n {
            // SAFETY: `from` and `to` have `n` elements each.
            unsafe { *to.cast::<T>().add(i) = T::narrow(*from.cast::<f32>().add(i)) };
        }
    }
}

/// Conversions between `f16` and `f32` by the F16C instructions of x86-64. Each function returns how many elements it
/// converted, counted from the beginning of the slice. The number is 0 if the processor lacks these instructions.
mod instructions {
    /// # Safety
    /// `from` and `to` have `n` elements each.
    pub unsafe fn widen(from: *const u16, to: *mut f32, n: usize) -> usize {
        #[cfg(target_arch = "x86_64")]
        if crate::numpyish::simd::set() > 0 {
            // SAFETY: the processor has AVX2 and F16C, and the caller guarantees `n` elements in both slices.
            return unsafe { x86::widen(from, to, n) };
        }
        let _ = (from, to, n);
        0
    }

    /// # Safety
    /// `from` and `to` have `n` elements each.
    pub unsafe fn shorten(from: *const f32, to: *mut u16, n: usize) -> usize {
        #[cfg(target_arch = "x86_64")]
        if crate::numpyish::simd::set() > 0 {
            // SAFETY: the processor has AVX2 and F16C, and the caller guarantees `n` elements in both slices.
            return unsafe { x86::shorten(from, to, n) };
        }
        let _ = (from, to, n);
        0
    }

    #[cfg(target_arch = "x86_64")]
    mod x86 {
        use std::arch::x86_64::{
            _MM_FROUND_TO_NEAREST_INT, _mm_loadu_si128, _mm_storeu_si128, _mm256_cvtph_ps, _mm256_cvtps_ph,
            _mm256_loadu_ps, _mm256_storeu_ps,
        };

        /// Number of `f32` elements in a register.
        const WIDTH: usize = 8;

        /// # Safety
        /// `from` and `to` have `n` elements each.
        #[target_feature(enable = "avx2,f16c")]
        pub unsafe fn widen(from: *const u16, to: *mut f32, n: usize) -> usize {
            let whole = n / WIDTH * WIDTH;
            for i in (0..whole).step_by(WIDTH) {
                // SAFETY: both slices have `WIDTH` elements from `i` on; the load and the store need no alignment.
                unsafe { _mm256_storeu_ps(to.add(i), _mm256_cvtph_ps(_mm_loadu_si128(from.add(i).cast()))) };
            }
            whole
        }

        /// # Safety
        /// `from` and `to` have `n` elements each.
        #[target_feature(enable = "avx2,f16c")]
        pub unsafe fn shorten(from: *const f32, to: *mut u16, n: usize) -> usize {
            let whole = n / WIDTH * WIDTH;
            for i in (0..whole).step_by(WIDTH) {
                // SAFETY: both slices have `WIDTH` elements from `i` on; the load and the store need no alignment.
                unsafe {
                    let x = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(from.add(i)));
                    _mm_storeu_si128(to.add(i).cast(), x);
                }
            }
            whole
        }
    }
}

/// Returns a function that writes a byte for each element: 0 if the element is 0, and otherwise 1, also for NaN.
pub fn nonzero_bytes(dtype: DType) -> Convert {
    use DType::*;
    match dtype {
        Bool | Int8 | UInt8 => nonzero_integers::<u8>,
        Int16 | UInt16 => nonzero_integers::<u16>,
        Int32 | UInt32 => nonzero_integers::<u32>,
        Int64 | UInt64 => nonzero_integers::<u64>,
        Float16 | BFloat16 => nonzero_floats::<u16>,
        Float32 => nonzero_floats::<u32>,
        Float64 => nonzero_floats::<u64>,
        Complex64 => nonzero_pairs::<u32>,
        Complex128 => nonzero_pairs::<u64>,
    }
}

/// An unsigned integer with the bits of a real element, or of one part of a complex element.
trait Bits: Copy + PartialEq + Default + std::ops::Add<Output = Self> + std::ops::BitOr<Output = Self> {
    /// Shifts the bits left by one. This drops the highest bit, which is the sign of a float.
    fn unsigned(self) -> Self;
}

macro_rules! bits {
    ($($t:ty)*) => {$(
        impl Bits for $t {
            #[inline(always)]
            fn unsigned(self) -> $t {
                self << 1
            }
        }
    )*};
}
bits!(u8 u16 u32 u64);

versions! {
    unsafe fn nonzero_integers[U: Bits][U](from: *const u8, to: *mut u8, n: usize) {
        for i in 0..n {
            // SAFETY: `from` and `to` have `n` elements each.
            unsafe { *to.add(i) = (*from.cast::<U>().add(i) != U::default()) as u8 };
        }
    }

    unsafe fn nonzero_floats[U: Bits][U](from: *const u8, to: *mut u8, n: usize) {
        for i in 0..n {
            // SAFETY: `from` and `to` have `n` elements each.
            unsafe { *to.add(i) = ((*from.cast::<U>().add(i)).unsigned() != U::default()) as u8 };
        }
    }

    unsafe fn nonzero_pairs[U: Bits][U](from: *const u8, to: *mut u8, n: usize) {
        for i in 0..n {
            // SAFETY: `from` and `to` have `n` elements each, and a complex number has the layout of two floats.
            unsafe {
                let [re, im] = *from.cast::<[U; 2]>().add(i);
                *to.add(i) = (re.unsigned() | im.unsigned() != U::default()) as u8;
            }
        }
    }
}

/// Storage for one element of any dtype.
#[derive(Clone, Copy)]
pub struct Value([u128; 1]);

impl Value {
    /// The value 0 of any dtype.
    pub const ZERO: Value = Value([0]);

    /// Converts `x` to the dtype, like `from_f64` of the dtype's Rust type.
    pub fn from_f64(dtype: DType, x: f64) -> Value {
        let mut value = Value::ZERO;
        let to = value.0.as_mut_ptr().cast::<u8>();
        use DType::*;
        // SAFETY: `value` has room for an element of any dtype.
        unsafe {
            match dtype {
                Bool => *to.cast() = bool::from_f64(x),
                Int8 => *to.cast() = i8::from_f64(x),
                Int16 => *to.cast() = i16::from_f64(x),
                Int32 => *to.cast() = i32::from_f64(x),
                Int64 => *to.cast() = i64::from_f64(x),
                UInt8 => *to.cast() = u8::from_f64(x),
                UInt16 => *to.cast() = u16::from_f64(x),
                UInt32 => *to.cast() = u32::from_f64(x),
                UInt64 => *to.cast() = u64::from_f64(x),
                Float16 => *to.cast() = <f16 as Element>::from_f64(x),
                BFloat16 => *to.cast() = <bf16 as Element>::from_f64(x),
                Float32 => *to.cast() = x as f32,
                Float64 => *to.cast() = x,
                Complex64 => *to.cast() = Complex::<f32>::from_f64(x),
                Complex128 => *to.cast() = Complex::<f64>::from_f64(x),
            }
        }
        value
    }

    /// Reads an element of the dtype from memory.
    ///
    /// # Safety
    /// `x` points to an element of the dtype.
    pub unsafe fn read(dtype: DType, x: *const u8) -> Value {
        let mut value = Value::ZERO;
        // SAFETY: the caller guarantees an element at `x`, and `value` has room for an element of any dtype.
        unsafe { std::ptr::copy_nonoverlapping(x, value.0.as_mut_ptr().cast(), dtype.size()) };
        value
    }

    /// Stores the element `x`.
    pub fn of<T: Element>(x: T) -> Value {
        // SAFETY: `x` is an element of `T`'s dtype.
        unsafe { Value::read(T::DTYPE, std::ptr::from_ref(&x).cast()) }
    }

    /// Address of the stored element.
    pub fn start(&self) -> *const u8 {
        self.0.as_ptr().cast()
    }

    /// Address of the stored element, for writing.
    pub fn start_mut(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }

    /// Writes `n` copies of the value to `to`.
    ///
    /// # Safety
    /// The value has this dtype, and `to` has room for `n` elements.
    pub unsafe fn fill(&self, dtype: DType, to: *mut u8, n: usize) {
        // SAFETY: the caller guarantees that the value has this dtype and that `to` has room for `n` elements.
        unsafe { super::copy::fill(dtype, self.start(), to, n) };
    }
}

impl From<RawElement> for Value {
    fn from(x: RawElement) -> Value {
        // SAFETY: a raw element stores an element of its dtype.
        unsafe { Value::read(x.dtype(), x.bytes().as_ptr().cast()) }
    }
}

/// Converts real elements to `f64`, exactly.
///
/// # Safety
/// `x` points to `n` elements of the dtype, which is a real float.
pub unsafe fn reals_to_f64(op: &'static str, dtype: DType, x: *const u8, n: usize) -> Result<Vec<f64>> {
    unsafe fn all<T: Real>(x: *const u8, out: &mut Vec<f64>, n: usize) {
        // SAFETY: the caller guarantees `n` elements at `x`.
        out.extend((0..n).map(|i| unsafe { (*x.cast::<T>().add(i)).to_f64() }));
    }
    let mut out = buffer::vec(op, n)?;
    // SAFETY: the caller guarantees `n` elements of the dtype at `x`.
    unsafe {
        match dtype {
            DType::Float16 => all::<f16>(x, &mut out, n),
            DType::BFloat16 => all::<bf16>(x, &mut out, n),
            DType::Float32 => all::<f32>(x, &mut out, n),
            _ => all::<f64>(x, &mut out, n),
        }
    }
    Ok(out)
}

/// Rounds `f64` numbers to the nearest elements of a real dtype, and writes them to `to`.
///
/// # Safety
/// `to` has room for as many elements of the dtype as `x` yields numbers. The dtype is a real float dtype.
pub unsafe fn reals_from_f64(dtype: DType, x: impl Iterator<Item = f64>, to: *mut u8) {
    for (i, x) in x.enumerate() {
        // SAFETY: the caller guarantees room for every number.
        unsafe {
            let to = to.add(i * dtype.size());
            match dtype {
                DType::Float16 => *to.cast() = f16::of(x),
                DType::BFloat16 => *to.cast() = bf16::of(x),
                DType::Float32 => *to.cast() = f32::of(x),
                _ => *to.cast() = x,
            }
        }
    }
}

/// Returns whether the two elements have the same bytes.
///
/// # Safety
/// `x` and `y` each point to an element of the dtype.
#[cfg(any(test, feature = "testing"))]
pub unsafe fn same_bits(dtype: DType, x: *const u8, y: *const u8) -> bool {
    // SAFETY: the caller guarantees an element of the dtype at both addresses.
    unsafe { super::copy::by_bits!(dtype, U => *x.cast::<U>() == *y.cast::<U>()) }
}

#[cfg(test)]
mod tests {
    use super::{super::simd, *};

    fn converted<T: Element, U: Element>(x: &[T]) -> Vec<U> {
        let mut to = vec![U::default(); x.len()];
        // SAFETY: `x` and `to` have the same number of elements, of these dtypes.
        unsafe { convert(T::DTYPE, U::DTYPE, x.as_ptr().cast(), to.as_mut_ptr().cast(), x.len()) };
        to
    }

    #[test]
    fn every_half_and_what_rounds_to_it() {
        simd::with_each(|_| {
            let x: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
            let y: Vec<f32> = converted(&x);
            assert!(x.iter().zip(&y).all(|(a, b)| a.to_f32().to_bits() == b.to_bits() || a.is_nan() && b.is_nan()));
            // tests every 16-bit float, the next `f32` above and below each, and the midpoints between neighbouring
            // 16-bit floats
            for near in [|x: f32| x, f32::next_up, f32::next_down, |x: f32| f32::from_bits(x.to_bits() | 0x1000)] {
                let y: Vec<f32> = y.iter().copied().map(near).collect();
                let back: Vec<f16> = converted(&y);
                let same =
                    |(a, b): (&f32, &f16)| f16::from_f32(*a).to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
                assert!(y.iter().zip(&back).all(same));
            }
        });
    }

    #[test]
    fn halves_convert_exactly() {
        let x: Vec<f16> = (0..1000).map(|i| f16::from_bits(i * 31)).collect();
        let y: Vec<f32> = converted(&x);
        assert!(x.iter().zip(&y).all(|(a, b)| a.to_f32() == *b || b.is_nan()));
        let x: Vec<bf16> = (0..1000).map(|i| bf16::from_bits(i * 31)).collect();
        let y: Vec<f32> = converted(&x);
        assert!(x.iter().zip(&y).all(|(a, b)| a.to_f32() == *b || b.is_nan()));
        let back: Vec<bf16> = converted(&y);
        assert!(x.iter().zip(&back).all(|(a, b)| a == b || a.is_nan() && b.is_nan()));
        let half: Vec<f16> = converted(&y);
        assert!(y.iter().zip(&half).all(|(a, b)| f16::from_f32(*a) == *b || a.is_nan()));
        assert_eq!(converted::<i32, i64>(&[1, -2]), [1, -2]);
        assert_eq!(converted::<i32, i32>(&[1, -2]), [1, -2]);
        assert_eq!(converted::<f64, Complex<f64>>(&[2.5]), [Complex::new(2.5, 0.0)]);
    }

    #[test]
    fn what_is_not_zero() {
        fn bytes<T: Element>(x: &[T]) -> Vec<u8> {
            let mut to = vec![9; x.len()];
            // SAFETY: `to` has one byte per element of `x`.
            unsafe { nonzero_bytes(T::DTYPE)(x.as_ptr().cast(), to.as_mut_ptr(), x.len()) };
            assert!(x.iter().zip(&to).all(|(x, &byte)| x.is_nonzero() as u8 == byte));
            to
        }
        assert_eq!(bytes(&[0.0, -0.0, f64::NAN, 5e-324]), [0, 0, 1, 1]);
        assert_eq!(bytes(&[0.0, -0.0, f32::NAN, -1.0]), [0, 0, 1, 1]);
        assert_eq!(bytes(&[f16::NEG_ZERO, f16::NAN]), [0, 1]);
        assert_eq!(bytes(&[Complex::new(-0.0, 0.0), Complex::new(0.0, f32::NAN)]), [0, 1]);
        assert_eq!(bytes(&[Complex::new(0.0, -0.0), Complex::new(1e-300, 0.0)]), [0, 1]);
        assert_eq!((bytes(&[0_i8, -128]), bytes(&[256_u16, 0])), (vec![0, 1], vec![1, 0]));
        assert_eq!((bytes(&[1_u32 << 31]), bytes(&[i64::MIN, 0])), (vec![1], vec![1, 0]));
        assert_eq!(bytes(&[false, true]), [0, 1]);
    }

    #[test]
    fn values_of_every_dtype() {
        for dtype in DType::ALL {
            let done: crate::Result<()> = crate::dispatch!(dtype, T => {
                // the last number must be rounded only once: if it were first rounded to `f32`, the 16-bit result would
                // be 1
                for x in [0.0, 1.0, -2.5, 1.0 + 2_f64.powi(-11) + 2_f64.powi(-40)] {
                    let (value, expected) = (Value::from_f64(dtype, x), Value::of(<T as Element>::from_f64(x)));
                    // SAFETY: both values have this dtype.
                    assert!(unsafe { same_bits(dtype, value.start(), expected.start()) }, "{dtype} {x}");
                }
                assert_eq!(sum_dtype(dtype), <T as Element>::Sum::DTYPE);
                Ok(())
            });
            done.unwrap();
        }
    }
}
