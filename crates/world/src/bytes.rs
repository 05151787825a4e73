//! Views elements as bytes, and reads elements from bytes.
//!
//! The calls of a world take bytes, so that one method serves all dtypes.
//!
//! ```
//! use backends_world::{Join, DType, World, bytes};
//!
//! let world = World::alone();
//! let mut x = [1.0_f64, 2.0];
//! world.all_reduce(bytes::of_mut(&mut x), DType::Float64, Join::Sum)?;
//! assert_eq!(x, [1.0, 2.0]); // the sum over one rank
//!
//! // a bool may only be 0 or 1, so bytes are not written over bools in place
//! let mut y = bytes::of(&[true, false]).to_vec();
//! world.all_reduce(&mut y, DType::Bool, Join::And)?;
//! assert_eq!(bytes::to_vec::<bool>(&y), [true, false]);
//! # Ok::<(), backends_world::Error>(())
//! ```

use crate::DType;
use half::{bf16, f16};
use num_complex::Complex;

mod sealed {
    /// A private trait, so that only the 15 types of this module implement [`Item`].
    pub trait Sealed {}
}

/// An element type, which is one of the 15 dtypes.
pub trait Item: Copy + sealed::Sealed + Send + Sync + 'static {
    /// The [`DType`] of the elements of this type.
    const DTYPE: DType;

    /// Reads an element from `DTYPE.size()` bytes. For [`DType::Bool`], every byte except 0 is true.
    #[doc(hidden)]
    fn read(bytes: &[u8]) -> Self;

    /// Writes the element into `DTYPE.size()` bytes.
    #[doc(hidden)]
    fn write(self, bytes: &mut [u8]);
}

/// An [`Item`] type for which every combination of bytes is a valid value: all types except `bool`.
pub trait Plain: Item {}

macro_rules! items {
    ($($item:ty, $dtype:ident;)*) => {$(
        impl sealed::Sealed for $item {}
        impl Plain for $item {}
        impl Item for $item {
            const DTYPE: DType = DType::$dtype;
            #[inline(always)]
            fn read(bytes: &[u8]) -> $item {
                let mut own = [0; size_of::<$item>()];
                own.copy_from_slice(bytes);
                <$item>::from_ne_bytes(own)
            }
            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_ne_bytes());
            }
        }
    )*};
}
items! {
    i8, Int8; i16, Int16; i32, Int32; i64, Int64; u8, UInt8; u16, UInt16; u32, UInt32; u64, UInt64;
    f16, Float16; bf16, BFloat16; f32, Float32; f64, Float64;
}

macro_rules! complex_items {
    ($($part:ty, $dtype:ident;)*) => {$(
        impl sealed::Sealed for Complex<$part> {}
        impl Plain for Complex<$part> {}
        impl Item for Complex<$part> {
            const DTYPE: DType = DType::$dtype;
            #[inline(always)]
            fn read(bytes: &[u8]) -> Complex<$part> {
                let (re, im) = bytes.split_at(size_of::<$part>());
                Complex::new(<$part>::read(re), <$part>::read(im))
            }
            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                let (re, im) = bytes.split_at_mut(size_of::<$part>());
                self.re.write(re);
                self.im.write(im);
            }
        }
    )*};
}
complex_items! { f32, Complex64; f64, Complex128; }

impl sealed::Sealed for bool {}
impl Item for bool {
    const DTYPE: DType = DType::Bool;
    #[inline(always)]
    fn read(bytes: &[u8]) -> bool {
        bytes[0] != 0
    }
    #[inline(always)]
    fn write(self, bytes: &mut [u8]) {
        bytes[0] = u8::from(self);
    }
}

/// Views elements as bytes, in the byte order of this machine.
pub fn of<T: Item>(elements: &[T]) -> &[u8] {
    // SAFETY: the sealed types are numbers, or pairs of numbers of one type, without padding. The byte slice covers
    // exactly the elements.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

/// Views elements as mutable bytes. Bools cannot be viewed, because not every byte is a valid bool; read them with
/// [`to_vec`] instead.
pub fn of_mut<T: Plain>(elements: &mut [T]) -> &mut [u8] {
    // SAFETY: the byte slice covers exactly the elements, as in `of`, and all bytes are valid values of a `Plain` type.
    unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), size_of_val(elements)) }
}

/// Reads elements from bytes, whose address may be unaligned. For bools, every byte except 0 is true. Bytes after the
/// last complete element are ignored.
pub fn to_vec<T: Item>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(T::DTYPE.size()).map(T::read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back<T: Item + PartialEq + std::fmt::Debug>(elements: &[T]) {
        assert_eq!(size_of::<T>(), T::DTYPE.size());
        let bytes = of(elements);
        assert_eq!(bytes.len(), elements.len() * T::DTYPE.size());
        assert_eq!(to_vec::<T>(bytes), elements, "{}", T::DTYPE);
        // reads the same bytes from an address that is not aligned
        let mut shifted = vec![0];
        shifted.extend_from_slice(bytes);
        assert_eq!(to_vec::<T>(&shifted[1..]), elements);
        let mut written = vec![0; T::DTYPE.size()];
        elements[0].write(&mut written);
        assert_eq!(written, bytes[..T::DTYPE.size()]);
    }

    #[test]
    fn elements_of_every_kind_are_bytes_and_come_back() {
        there_and_back(&[true, false]);
        there_and_back(&[-1_i8, 2]);
        there_and_back(&[i16::MIN, 2]);
        there_and_back(&[i32::MIN, 2]);
        there_and_back(&[i64::MIN, 2]);
        there_and_back(&[u8::MAX, 2]);
        there_and_back(&[u16::MAX, 2]);
        there_and_back(&[u32::MAX, 2]);
        there_and_back(&[u64::MAX, 2]);
        there_and_back(&[f16::from_f32(1.5), f16::MAX]);
        there_and_back(&[bf16::from_f32(1.5), bf16::MAX]);
        there_and_back(&[1.5_f32, f32::MIN]);
        there_and_back(&[1.5_f64, f64::MIN]);
        there_and_back(&[Complex::new(1.5_f32, -2.0)]);
        there_and_back(&[Complex::new(1.5_f64, -2.0)]);
        let mut x = [1_u16, 2];
        of_mut(&mut x).copy_from_slice(of(&[3_u16, 4]));
        assert_eq!(x, [3, 4]);
        assert!(of::<f64>(&[]).is_empty() && of_mut::<f64>(&mut []).is_empty());
        assert_eq!(to_vec::<bool>(&[0, 7]), [false, true]);
    }
}
