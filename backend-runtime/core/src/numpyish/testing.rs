//! Functions for tests: arrays in many layouts, and ops over arrays with a static dtype.

use super::{NdArray, raw::RawArray, typed::typed};
use crate::{Complex, Element, Result};
use ndarray::{Array, ArrayD, Axis, IxDyn, Slice};

/// Defines a function for each given op. The function takes and returns arrays with a static dtype, and calls the
/// function of the same name in the module `$module`. The parameters before `;` are arrays of the dtype of the call.
#[macro_export]
macro_rules! typed_ops {
    ($module:ident: $(
        $name:ident<$t:ident: $bound:ident>($first:ident $(, $x:ident)*; $($p:ident: $ty:ty),*) -> $out:ty;
    )*) => {$(
        pub fn $name<$t: $crate::$bound>(
            b: &$crate::numpyish::Numpyish,
            $first: &$crate::numpyish::NdArray<$t>,
            $($x: &$crate::numpyish::NdArray<$t>,)*
            $($p: $ty),*
        ) -> $crate::Result<$crate::numpyish::NdArray<$out>> {
            let on = $crate::numpyish::OpContext::new(b, stringify!($name), <$t as $crate::Element>::DTYPE);
            let result = $module::$name(
                on,
                $crate::numpyish::raw::view($first),
                $($crate::numpyish::raw::view($x),)*
                $($p),*
            )?;
            $crate::raw::Finish::finish(result, on.op, $first)
        }
    )*};
}

/// Creates an array in C order from a shape and the elements of a vector.
pub fn array<T: Element>(op: &'static str, shape: &[usize], v: Vec<T>) -> Result<NdArray<T>> {
    typed(RawArray::from_vec(op, shape.to_vec(), v))
}

/// Copies of `x` in several layouts: C order, transposed, every second element of a larger array, and reversed.
pub fn layouts<T: Element>(x: &ArrayD<T>) -> Vec<NdArray<T>> {
    let mut all = vec![x.clone().into_shared()];
    all.push(x.t().as_standard_layout().into_owned().into_shared().reversed_axes());
    for axis in 0..x.ndim() {
        let mut shape = x.shape().to_vec();
        shape[axis] = shape[axis] * 2 + 1;
        let mut big = ArrayD::from_elem(IxDyn(&shape), T::default());
        let every = Slice::new(1, None, 2);
        big.slice_axis_mut(Axis(axis), every).assign(x);
        let mut part = big.into_shared();
        part.slice_axis_inplace(Axis(axis), every);
        all.push(part);

        let mut reversed = x.clone();
        reversed.invert_axis(Axis(axis));
        let mut reversed = reversed.as_standard_layout().into_owned().into_shared();
        reversed.invert_axis(Axis(axis));
        all.push(reversed);
    }
    let same = |a: &T, x: &T| a == x || a.cast::<Complex<f64>>().is_nan() && x.cast::<Complex<f64>>().is_nan();
    assert!(all.iter().all(|a| a.shape() == x.shape() && a.iter().zip(x).all(|(a, x)| same(a, x))));
    all
}

/// An array of this shape with the values 0, 1, 2, .. in C order.
pub fn counting<T: Element>(shape: &[usize]) -> ArrayD<T> {
    let n = shape.iter().product::<usize>() as i64;
    ArrayD::from_shape_vec(IxDyn(shape), (0..n).map(T::from_i64).collect()).unwrap()
}

/// A small generator of pseudo-random numbers. The field is its state, so every run with the same seed
/// gets the same numbers.
pub struct Dice(pub u64);

impl Dice {
    /// A pseudo-random number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    /// Returns an array of a random shape, of at most four axes shorter than `longest`, in a random layout.
    pub fn layout<T: Element>(&mut self, longest: usize) -> ndarray::ArcArray<T, IxDyn> {
        let shape: Vec<usize> = (0..self.below(5)).map(|_| self.below(longest)).collect();
        self.layout_of(&shape)
    }

    /// Returns an array of this shape in a random layout: the axes are permuted, sliced with steps, and reversed at
    /// random.
    pub fn layout_of<T: Element>(&mut self, shape: &[usize]) -> ndarray::ArcArray<T, IxDyn> {
        let mut order: Vec<usize> = (0..shape.len()).collect();
        (0..shape.len()).for_each(|i| order.swap(i, self.below(i + 1)));
        let steps: Vec<usize> = shape.iter().map(|_| 1 + self.below(3) / 2 + self.below(2)).collect();
        let whole: Vec<usize> = order.iter().map(|&k| shape[k] * steps[k]).collect();
        let n = whole.iter().product();
        let values: Vec<T> = (0..n).map(|i| T::from_i64(i as i64 + 1)).collect();
        let mut a = Array::from_shape_vec(IxDyn(&whole), values).unwrap().into_shared();
        let mut back = order.clone();
        order.iter().enumerate().for_each(|(place, &k)| back[k] = place);
        a = a.permuted_axes(IxDyn(&back));
        for (k, &step) in steps.iter().enumerate() {
            let step = if self.below(3) == 0 { -(step as isize) } else { step as isize };
            a.slice_axis_inplace(ndarray::Axis(k), Slice::new(0, None, step));
        }
        assert_eq!(a.shape(), shape);
        a
    }
}
