//! Arrays whose dtype is known only at run time. The code that calls kernels works on such arrays, so that it is
//! compiled once, not once per dtype.
//!
//! The functions of this backend take [`View`]s of arrays and return [`RawArray`]s. The generated methods and the entries
//! of rows convert arrays to views, and the results to arrays with the element type of the call.

use super::{NdArray, Operand, buffer::Buffer};
use crate::{DType, Element, Error, Result, dispatch, raw::RawElement, rules};
use std::marker::PhantomData;

/// Marks scalars: the shape of a scalar is an empty slice at the address of element 1. No other shape has this address,
/// because it is inside this static.
static SCALAR: [usize; 2] = [0; 2];

/// A borrowed array. A view without axes is a scalar.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Address of the element at index 0 of every axis.
    pub start: *const u8,
    /// Dtype of the elements.
    pub dtype: DType,
    /// Lengths of the axes.
    pub shape: &'a [usize],
    /// Strides of the axes, in elements.
    pub strides: &'a [isize],
}

// SAFETY: a view stands for a shared borrow of elements, which are `Sync`.
unsafe impl Sync for View<'_> {}

/// A view of an array of any dtype.
#[inline]
pub fn view<T: Element>(x: &NdArray<T>) -> View<'_> {
    View { start: x.as_ptr().cast(), dtype: T::DTYPE, shape: x.shape(), strides: x.strides() }
}

/// A view of an array of `T` in host memory. The array may belong to any backend.
pub struct HostView<'a, T> {
    view: View<'a>,
    dtype: PhantomData<&'a T>,
}

impl<'a, T: Element> HostView<'a, T> {
    /// Creates a view of an ndarray array.
    #[inline]
    pub fn of(x: &'a NdArray<T>) -> HostView<'a, T> {
        HostView { view: view(x), dtype: PhantomData }
    }

    /// Creates a view of any array from its address, its shape, and its strides in elements.
    ///
    /// # Safety
    /// `start` is the address of the element at index 0 of every axis. With these strides, every index of the shape
    /// leads to an element of type `T`. No element is changed or freed during `'a`.
    #[inline]
    pub unsafe fn new(start: *const T, shape: &'a [usize], strides: &'a [isize]) -> HostView<'a, T> {
        HostView { view: View { start: start.cast(), dtype: T::dtype(), shape, strides }, dtype: PhantomData }
    }

    /// Returns the view, whose dtype is a run-time value.
    #[inline(always)]
    pub fn view(self) -> View<'a> {
        self.view
    }

    /// Wraps a view of an array. `T` must be the array's dtype, or a type that stands for this dtype.
    pub(crate) fn of_view(view: View<'a>) -> HostView<'a, T> {
        HostView { view, dtype: PhantomData }
    }

    /// The elements as a slice, or `None` if they are not in C order without gaps, or if `T` is no type of elements in
    /// memory, because it stands for a dtype that is known only at run time.
    pub fn as_slice(self) -> Option<&'a [T]> {
        (!T::IS_DYNAMIC && self.view.is_c_order()).then(|| self.view.as_slice())
    }
}

/// A view of an operand. The view of a scalar has no axes.
#[inline(always)]
pub fn view_operand<'a, T: Element>(x: &'a Operand<'_, T>) -> View<'a> {
    match x {
        Operand::Array(x) => view(x),
        Operand::Scalar(x) => View::scalar(x),
    }
}

impl<'a> View<'a> {
    /// A view of a scalar, which broadcasts to every shape.
    pub fn scalar<T: Element>(x: &'a T) -> View<'a> {
        View { start: std::ptr::from_ref(x).cast(), dtype: T::DTYPE, shape: &SCALAR[1..1], strides: &[] }
    }

    /// A view of a number, like that of an array without axes.
    pub(crate) fn number<T: Element>(x: &'a T) -> View<'a> {
        View { start: std::ptr::from_ref(x).cast(), dtype: T::DTYPE, shape: &[], strides: &[] }
    }

    /// A view of an element whose dtype is known only at run time, like [`View::scalar`].
    pub fn element(x: &'a RawElement) -> View<'a> {
        View { start: std::ptr::from_ref(x.bytes_ref()).cast(), dtype: x.dtype(), shape: &SCALAR[1..1], strides: &[] }
    }

    /// Returns whether this is the view of a scalar. False for an array without axes.
    pub fn is_scalar(&self) -> bool {
        std::ptr::eq(self.shape, &SCALAR[1..1])
    }

    /// Number of elements.
    #[allow(clippy::len_without_is_empty)] // nothing needs `is_empty`
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns whether the elements are in C order without gaps.
    pub fn is_c_order(&self) -> bool {
        let mut expected = 1;
        self.len() == 0
            || self.shape.iter().zip(self.strides).rev().all(|(&len, &stride)| {
                let fits = len == 1 || stride == expected;
                expected *= len as isize;
                fits
            })
    }

    /// The address of the element at `offset`, which is counted in elements from `start`.
    ///
    /// # Safety
    /// The offset belongs to an index of the view.
    pub unsafe fn at(&self, offset: isize) -> *const u8 {
        // SAFETY: the caller guarantees that the offset leads to an element.
        unsafe { self.start.offset(offset * self.dtype.size() as isize) }
    }

    /// The elements as a slice of their type. They must be in C order without gaps.
    ///
    /// # Panics
    /// If `T` is not the type of the view's dtype, or if the elements are not in C order. Both are errors of the
    /// caller.
    pub fn as_slice<T: Element>(&self) -> &'a [T] {
        assert!(self.dtype == T::DTYPE && self.is_c_order(), "the elements are a slice of {}", T::DTYPE);
        if self.len() == 0 {
            return &[];
        }
        // SAFETY: the elements have this type and are contiguous.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.len()) }
    }
}

/// An array of any dtype, all of whose elements have been written.
#[derive(Debug)]
pub struct RawArray {
    buffer: Buffer,
    shape: Vec<usize>,
    /// Strides, in elements; `None` for C order.
    strides: Option<Vec<usize>>,
}

impl RawArray {
    /// Creates an array in C order. Returns an error if `shape` does not have as many elements as the buffer.
    ///
    /// # Safety
    /// Every element has been written.
    pub unsafe fn new(op: &'static str, shape: Vec<usize>, buffer: Buffer) -> Result<RawArray> {
        if rules::count(op, &shape, buffer.dtype().size())? != buffer.len() {
            return Err(Error::shape(op, &shape, format!("does not match {} elements", buffer.len())));
        }
        Ok(RawArray { buffer, shape, strides: None })
    }

    /// Creates an array without elements. Returns an error if none of the lengths is 0.
    pub fn empty(op: &'static str, shape: Vec<usize>, dtype: DType) -> Result<RawArray> {
        // SAFETY: an array without elements has no unwritten element, and `new` returns an error if the shape has
        // elements.
        unsafe { RawArray::new(op, shape, Buffer::new(op, 0, dtype)?) }
    }

    /// Creates an array in C order from the elements of a vector.
    pub fn from_vec<T: Element>(op: &'static str, shape: Vec<usize>, v: Vec<T>) -> Result<RawArray> {
        // SAFETY: the elements of a vector have been written.
        unsafe { RawArray::new(op, shape, Buffer::from_vec(v)) }
    }

    /// Permutes the axes: axis `k` of the result is axis `order[k]` of this array, which must be in C order.
    pub fn permuted(self, order: &[usize]) -> RawArray {
        assert!(
            order.len() == self.shape.len() && self.strides.is_none(),
            "an order of the axes of an array in C order"
        );
        if order.is_sorted() {
            return self;
        }
        let shape = order.iter().map(|&k| self.shape[k]).collect();
        if self.buffer.len() == 0 {
            return RawArray { shape, ..self };
        }
        let strides = rules::c_strides(&self.shape);
        RawArray { shape, strides: Some(order.iter().map(|&k| strides[k] as usize).collect()), ..self }
    }

    /// Inserts an axis of length 1.
    pub fn with_axis(mut self, axis: usize) -> RawArray {
        self.shape.insert(axis, 1);
        if let Some(strides) = &mut self.strides {
            strides.insert(axis, 1);
        }
        self
    }

    /// Removes an axis of length 1.
    ///
    /// # Panics
    /// If the axis has another length, which is an error of the caller.
    pub fn without_axis(mut self, axis: usize) -> RawArray {
        assert_eq!(self.shape.remove(axis), 1, "the axis has one index");
        if let Some(strides) = &mut self.strides {
            strides.remove(axis);
        }
        self
    }

    /// Splits the array into its elements, its shape, and its strides, which are `None` for C order.
    pub fn into_parts(self) -> (Buffer, Vec<usize>, Option<Vec<usize>>) {
        (self.buffer, self.shape, self.strides)
    }

    /// Dtype of the elements.
    pub fn dtype(&self) -> DType {
        self.buffer.dtype()
    }

    /// Strides of the axes, in elements.
    pub fn strides(&self) -> Vec<isize> {
        match &self.strides {
            None => rules::c_strides(&self.shape),
            Some(strides) => strides.iter().map(|&s| s as isize).collect(),
        }
    }

    /// Address of the first element in memory, through which elements may be written.
    pub fn start_mut(&self) -> *mut u8 {
        self.buffer.start()
    }

    /// A view of the array. `strides` must be the result of [`RawArray::strides`].
    pub fn view<'a>(&'a self, strides: &'a [isize]) -> View<'a> {
        View { start: self.buffer.start(), dtype: self.buffer.dtype(), shape: &self.shape, strides }
    }
}

impl rules::Parameter for View<'_> {
    fn number(&self) -> Option<f64> {
        if !self.is_scalar() {
            return None;
        }
        // SAFETY: a scalar has one element of its dtype.
        let number: Result<f64> = dispatch!(self.dtype, T => Ok(unsafe { self.start.cast::<T>().read() }.cast()));
        number.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{testing::array, typed::typed},
        *,
    };
    use ndarray::Axis;

    #[test]
    fn views_of_odd_layouts() {
        let x = array("test", &[2, 3], (0..6).collect::<Vec<i32>>()).unwrap();
        assert!(view(&x).is_c_order() && !view(&x.clone().reversed_axes()).is_c_order());
        assert_eq!(view(&x).as_slice::<i32>(), [0, 1, 2, 3, 4, 5]);
        let none = array("test", &[0, 3], Vec::<f32>::new()).unwrap();
        assert!(view(&none).is_c_order() && view(&none).as_slice::<f32>().is_empty());
        assert!(array("test", &[4], vec![1, 2]).is_err());
        let turned: NdArray<i32> = typed(
            RawArray::from_vec("test", vec![2, 3, 1], (0..6).collect()).map(|a| a.permuted(&[1, 2, 0]).with_axis(0)),
        )
        .unwrap();
        let again: NdArray<i32> = typed(RawArray::from_vec("test", vec![2, 1, 3], (0..6).collect()).map(|a| {
            let a = a.permuted(&[2, 1, 0]).without_axis(1);
            a.with_axis(1).without_axis(1)
        }))
        .unwrap();
        assert_eq!(again, x.clone().reversed_axes());
        assert_eq!(turned, x.reversed_axes().insert_axis(Axis(1)).insert_axis(Axis(0)));
    }

    #[test]
    fn scalars_are_no_arrays_without_axes() {
        let x = array("test", &[], vec![1.5]).unwrap();
        assert!(View::scalar(&1.5).is_scalar() && !view(&x).is_scalar());
        assert_eq!(View::scalar(&1.5).shape, view(&x).shape);
    }

    #[test]
    #[should_panic(expected = "the elements are a slice of float64")]
    fn another_dtype_is_refused() {
        view(&array("test", &[1], vec![1]).unwrap()).as_slice::<f64>();
    }
}
