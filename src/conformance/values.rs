//! Arrays of any dtype as bytes; the tests compare results in this form.

use backend_runtime::{Complex, DType, Element, HostArray, bf16, dispatch, element::same, f16};
use ndarray::{ArrayD, IxDyn};

/// An array of any dtype: its elements as little-endian bytes in C order.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// The dtype of the elements.
    pub dtype: DType,
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    /// The bytes of the elements; `None` if only the shape and the dtype are guaranteed.
    pub bytes: Option<Vec<u8>>,
}

/// Conversion of an element to little-endian bytes and back.
trait Bytes: Element {
    fn put(self, to: &mut Vec<u8>);
    fn take(from: &[u8]) -> Self;
}

macro_rules! bytes {
    ($($t:ty)*) => {$(
        impl Bytes for $t {
            fn put(self, to: &mut Vec<u8>) {
                to.extend(self.to_le_bytes());
            }
            fn take(from: &[u8]) -> $t {
                <$t>::from_le_bytes(from.try_into().expect("the bytes of one element"))
            }
        }
    )*};
}
bytes!(i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);

impl Bytes for bool {
    fn put(self, to: &mut Vec<u8>) {
        to.push(self.into());
    }
    fn take(from: &[u8]) -> bool {
        from[0] != 0
    }
}

macro_rules! complex_bytes {
    ($($t:ty)*) => {$(
        impl Bytes for Complex<$t> {
            fn put(self, to: &mut Vec<u8>) {
                self.re.put(to);
                self.im.put(to);
            }
            fn take(from: &[u8]) -> Self {
                let (re, im) = from.split_at(size_of::<$t>());
                Complex::new(<$t>::take(re), <$t>::take(im))
            }
        }
    )*};
}
complex_bytes!(f32 f64);

impl Values {
    /// Converts an array of any memory layout to bytes.
    pub fn of<T: Element>(x: &HostArray<T>) -> Values {
        let elements: Vec<T> = x.iter().copied().collect();
        let mut bytes = Vec::with_capacity(size_of_val(&elements[..]));
        let put: backend_runtime::Result<()> = dispatch!(T::DTYPE, U => {
            same::<T, U>(&elements).expect("one dtype, one type").iter().for_each(|x| x.put(&mut bytes));
            Ok(())
        });
        put.expect("every dtype is dispatched");
        Values { dtype: T::DTYPE, shape: x.shape().to_vec(), bytes: Some(bytes) }
    }

    /// The elements in C order; `None` if the dtype is not `T`.
    pub fn elements<T: Element>(&self) -> Option<Vec<T>> {
        let bytes = self.bytes.as_ref().filter(|_| self.dtype == T::DTYPE)?;
        let taken: backend_runtime::Result<Vec<T>> = dispatch!(T::DTYPE, U => {
            let elements: Vec<U> = bytes.chunks_exact(size_of::<U>()).map(U::take).collect();
            Ok(same::<U, T>(&elements).expect("one dtype, one type").to_vec())
        });
        taken.ok()
    }

    /// The elements as a host array; `None` if the dtype is not `T`.
    pub fn array<T: Element>(&self) -> Option<HostArray<T>> {
        let array = ArrayD::from_shape_vec(IxDyn(&self.shape), self.elements()?).ok()?;
        Some(array.into_shared())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::arr2;

    #[test]
    fn arrays_survive_the_way_through_bytes() {
        let x = arr2(&[[1.5, -0.0], [f64::INFINITY, 3.0]]).into_dyn().into_shared();
        let transposed = x.clone().reversed_axes();
        let values = Values::of(&transposed);
        assert_eq!(values.array::<f64>().unwrap(), transposed, "C order whatever the memory is");
        assert_eq!(values.elements::<f32>(), None);
        let z = ndarray::arr0(Complex::new(1.0_f32, -2.0)).into_dyn().into_shared();
        assert_eq!(Values::of(&z).array::<Complex<f32>>().unwrap(), z);
        let flags = arr2(&[[true], [false]]).into_dyn().into_shared();
        assert_eq!(Values::of(&flags).bytes.unwrap(), [1, 0]);
    }
}
