//! The numbers and lists that the functions take.

use ndarray::{ArrayBase, Data, Dimension};

/// A real number that can be drawn. It is implemented for the real primitive types; convert other numbers first, for
/// example complex numbers by `x.mapv(|v| v.norm())` and 16-bit floats by `x.mapv(f32::from)`.
pub trait Number: Copy {
    /// The value of full brightness in a picture with red, green and blue: 255 for integers and 1 for floats, as in
    /// matplotlib.
    const FULL: f64;

    /// Returns the nearest `f64`.
    fn to_f64(self) -> f64;
}

macro_rules! numbers {
    ($full:literal: $($type:ty)*) => {
        $(impl Number for $type {
            const FULL: f64 = $full;

            fn to_f64(self) -> f64 {
                self as f64
            }
        })*
    };
}
numbers!(1.0: f32 f64);
numbers!(255.0: u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

impl Number for bool {
    const FULL: f64 = 1.0;

    fn to_f64(self) -> f64 {
        f64::from(u8::from(self))
    }
}

/// A list of real numbers: a slice, an array, a `Vec`, or an ndarray.
pub trait Values {
    /// The length along each axis.
    fn shape(&self) -> Vec<usize>;

    /// Copies the elements in C order.
    fn to_list(&self) -> Vec<f64>;
}

impl<T: Number> Values for [T] {
    fn shape(&self) -> Vec<usize> {
        vec![self.len()]
    }

    fn to_list(&self) -> Vec<f64> {
        self.iter().map(|v| v.to_f64()).collect()
    }
}

impl<T: Number, const N: usize> Values for [T; N] {
    fn shape(&self) -> Vec<usize> {
        vec![N]
    }

    fn to_list(&self) -> Vec<f64> {
        self[..].to_list()
    }
}

impl<T: Number> Values for Vec<T> {
    fn shape(&self) -> Vec<usize> {
        vec![self.len()]
    }

    fn to_list(&self) -> Vec<f64> {
        self[..].to_list()
    }
}

impl<T: Number, S: Data<Elem = T>, D: Dimension> Values for ArrayBase<S, D> {
    fn shape(&self) -> Vec<usize> {
        ndarray::LayoutRef::shape(self).to_vec()
    }

    fn to_list(&self) -> Vec<f64> {
        self.iter().map(|v| v.to_f64()).collect()
    }
}
