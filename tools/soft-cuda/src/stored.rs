//! Numbers in device memory, and their conversion to and from double precision. All products and transforms are
//! computed in double precision.

use crate::{
    exec::alu::rounding::odd,
    fault::{Access, Fault},
};
use half::{bf16, f16};
use num_complex::Complex;
use std::ops::{Add, Mul};

/// Returns a fault if an address is not a multiple of `bytes`.
pub(crate) fn aligned(access: Access, address: u64, bytes: usize) -> Result<(), Fault> {
    if address.is_multiple_of(bytes as u64) { Ok(()) } else { Err(Fault::Misaligned { access, address, bytes }) }
}

/// A number type in device memory.
pub(crate) trait Stored {
    /// The double-precision type that computations use for these numbers.
    type In: Computed;
    /// Size of a number in bytes.
    const SIZE: usize;
    /// Reads a number from its bytes.
    fn get(bytes: &[u8]) -> Self::In;
    /// Rounds a number and writes its bytes.
    fn put(x: Self::In, bytes: &mut [u8]);
}

/// A number type that computations use: `f64` or `Complex<f64>`.
pub(crate) trait Computed: Copy + PartialEq + Add<Output = Self> + Mul<Output = Self> {
    /// Converts a complex number to this type; a real type gets the real part.
    fn of(x: Complex<f64>) -> Self;
    /// Converts the number to a complex number.
    fn complex(self) -> Complex<f64>;
}

impl Computed for f64 {
    fn of(x: Complex<f64>) -> f64 {
        x.re
    }

    fn complex(self) -> Complex<f64> {
        self.into()
    }
}

impl Computed for Complex<f64> {
    fn of(x: Complex<f64>) -> Complex<f64> {
        x
    }

    fn complex(self) -> Complex<f64> {
        self
    }
}

macro_rules! stored {
    ($($stored:ty, $rounded:expr;)*) => {$(
        impl Stored for $stored {
            type In = f64;
            const SIZE: usize = size_of::<$stored>();

            fn get(bytes: &[u8]) -> f64 {
                let mut own = [0; Self::SIZE];
                own.copy_from_slice(bytes);
                <$stored>::from_ne_bytes(own).into()
            }

            fn put(x: f64, bytes: &mut [u8]) {
                let rounded: $stored = $rounded(x);
                bytes.copy_from_slice(&rounded.to_ne_bytes());
            }
        }
    )*};
}

stored! {
    f16, |x| f16::from_f32(odd(x));
    bf16, |x| bf16::from_f32(odd(x));
    f32, |x| x as f32;
    f64, |x| x;
}

macro_rules! stored_complex {
    ($($real:ident)*) => {$(
        impl Stored for Complex<$real> {
            type In = Complex<f64>;
            const SIZE: usize = size_of::<Complex<$real>>();

            fn get(bytes: &[u8]) -> Complex<f64> {
                let (re, im) = bytes.split_at(size_of::<$real>());
                Complex::new($real::get(re), $real::get(im))
            }

            fn put(x: Complex<f64>, bytes: &mut [u8]) {
                let (re, im) = bytes.split_at_mut(size_of::<$real>());
                $real::put(x.re, re);
                $real::put(x.im, im);
            }
        }
    )*};
}
stored_complex!(f32 f64);

#[cfg(test)]
pub(crate) mod testing {
    use super::Stored;
    use crate::memory::{Hint, Memory};

    /// Copies numbers into newly allocated memory; returns the address.
    pub(crate) fn upload<T: Stored>(memory: &mut Memory, numbers: &[T::In]) -> u64 {
        let bytes = numbers.len() * T::SIZE;
        let address = memory.allocate(bytes as u64).unwrap();
        let place = memory.write(&mut Hint::default(), address, bytes).unwrap();
        place.chunks_exact_mut(T::SIZE).zip(numbers).for_each(|(place, &x)| T::put(x, place));
        address
    }

    /// Reads `count` numbers from memory.
    pub(crate) fn download<T: Stored>(memory: &Memory, address: u64, count: usize) -> Vec<T::In> {
        let bytes = memory.read(&mut Hint::default(), address, count * T::SIZE).unwrap();
        bytes.chunks_exact(T::SIZE).map(T::get).collect()
    }
}
