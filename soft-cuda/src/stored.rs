//! Numbers as they lie in device memory.

use crate::fault::{Access, Fault};
use backend_runtime::{Complex, Numeric, bf16, f16};

/// Refuses an address that is no multiple of `bytes`.
pub(crate) fn aligned(access: Access, address: u64, bytes: usize) -> Result<(), Fault> {
    if address.is_multiple_of(bytes as u64) { Ok(()) } else { Err(Fault::Misaligned { access, address, bytes }) }
}

/// A type of numbers in device memory.
pub(crate) trait Stored {
    /// What is computed in.
    type In: Computed;
    /// Its bytes.
    const SIZE: usize;
    /// The number of these bytes.
    fn get(bytes: &[u8]) -> Self::In;
    /// Rounds a number to these bytes.
    fn put(x: Self::In, bytes: &mut [u8]);
}

/// A type that is computed in.
pub(crate) trait Computed: Numeric {
    /// The nearest number; the real part of it where this type is real.
    fn narrowed(x: Complex<f64>) -> Self;
    /// The complex conjugate.
    fn conjugate(self) -> Self;
}

macro_rules! stored {
    ($($stored:ty as $computed:ty, $rounded:expr;)*) => {$(
        impl Stored for $stored {
            type In = $computed;
            const SIZE: usize = size_of::<$stored>();

            fn get(bytes: &[u8]) -> $computed {
                let mut own = [0; Self::SIZE];
                own.copy_from_slice(bytes);
                <$stored>::from_ne_bytes(own).into()
            }

            fn put(x: $computed, bytes: &mut [u8]) {
                let rounded: $stored = $rounded(x);
                bytes.copy_from_slice(&rounded.to_ne_bytes());
            }
        }
    )*};
}

stored! {
    f16 as f32, f16::from_f32;
    bf16 as f32, bf16::from_f32;
    f32 as f32, |x| x;
    f64 as f64, |x| x;
}

macro_rules! computed {
    ($($real:ident)*) => {$(
        impl Computed for $real {
            fn narrowed(x: Complex<f64>) -> $real {
                x.re as $real
            }

            fn conjugate(self) -> $real {
                self
            }
        }

        impl Computed for Complex<$real> {
            fn narrowed(x: Complex<f64>) -> Complex<$real> {
                Complex::new(x.re as $real, x.im as $real)
            }

            fn conjugate(self) -> Complex<$real> {
                self.conj()
            }
        }

        impl Stored for Complex<$real> {
            type In = Complex<$real>;
            const SIZE: usize = size_of::<Complex<$real>>();

            fn get(bytes: &[u8]) -> Complex<$real> {
                let (re, im) = bytes.split_at(size_of::<$real>());
                Complex::new($real::get(re), $real::get(im))
            }

            fn put(x: Complex<$real>, bytes: &mut [u8]) {
                let (re, im) = bytes.split_at_mut(size_of::<$real>());
                $real::put(x.re, re);
                $real::put(x.im, im);
            }
        }
    )*};
}
computed!(f32 f64);

#[cfg(test)]
pub(crate) mod testing {
    use super::Stored;
    use crate::memory::{Hint, Memory};

    /// Puts numbers into new memory. Where they are.
    pub(crate) fn upload<T: Stored>(memory: &mut Memory, numbers: &[T::In]) -> u64 {
        let bytes = numbers.len() * T::SIZE;
        let address = memory.allocate(bytes as u64).unwrap();
        let place = memory.write(&mut Hint::default(), address, bytes).unwrap();
        place.chunks_exact_mut(T::SIZE).zip(numbers).for_each(|(place, &x)| T::put(x, place));
        address
    }

    /// Numbers in memory.
    pub(crate) fn download<T: Stored>(memory: &Memory, address: u64, count: usize) -> Vec<T::In> {
        let bytes = memory.read(&mut Hint::default(), address, count * T::SIZE).unwrap();
        bytes.chunks_exact(T::SIZE).map(T::get).collect()
    }
}
