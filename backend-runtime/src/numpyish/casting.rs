//! Conversion of arrays to another dtype, and copies of arrays.

use super::{
    NdArray, Numpyish, OpContext, Operand, copy as copying, elementwise,
    raw::{RawArray, View},
};
use crate::{Each, EachSource, Element, Result};
use std::marker::PhantomData;

/// Converts an array to the dtype `U`. If `x` already has this dtype, result and `x` share their memory until one of
/// them is written to.
pub fn astype<U: Element, T: Element>(b: &Numpyish, x: &NdArray<T>) -> Result<NdArray<U>> {
    if let Some(same) = (x as &dyn std::any::Any).downcast_ref::<NdArray<U>>() {
        return Ok(same.clone());
    }
    elementwise::each1(b, &Cast(PhantomData::<U>), Operand::array(x))
}

/// The elementwise op that implements [`astype`].
struct Cast<U>(PhantomData<U>);

impl<U: Element, T: Element> Each<1, T> for Cast<U> {
    type Out = U;

    #[inline(always)]
    fn apply(&self, &[x]: &[T; 1]) -> U {
        x.cast()
    }
}

impl<U: Element> EachSource for Cast<U> {
    const NAME: &'static str = "astype";
    const CUDA: &'static str = "cast(x)";
    const INPUTS: &'static [&'static str] = &["x"];
    const PARAMS: &'static [&'static str] = &[];
}

/// Copies the array to new memory.
pub fn copy(on: OpContext<'_>, x: View<'_>) -> Result<RawArray> {
    copying::duplicate(on.op, x)
}

/// The op [`copy`](super::copy) over arrays with a static dtype, for tests.
#[cfg(test)]
pub(crate) mod typed {
    use crate::numpyish::{casting, testing::typed_ops};

    typed_ops! { casting:
        copy<T: Element>(x;) -> T;
    }
}

#[cfg(test)]
mod tests {
    use super::{typed::copy, *};
    use ndarray::ArcArray;

    const B: Numpyish = Numpyish::new();

    #[test]
    fn casts_share_only_their_own_dtype() {
        let x = ArcArray::from_shape_fn((4, 3), |(i, j)| i as f64 - j as f64).reversed_axes().into_dyn();
        assert_eq!(astype::<f64, _>(&B, &x).unwrap().as_ptr(), x.as_ptr());
        let narrow = astype::<i8, _>(&B, &x).unwrap();
        assert_eq!((narrow[[2, 0]], narrow[[0, 3]], narrow.strides()), (-2, 3, x.strides()));
    }

    #[test]
    fn copies_have_their_own_memory_and_layout() {
        let x = ArcArray::from_shape_fn((4, 3), |(i, j)| (i * 3 + j) as u16).into_dyn();
        let t = x.clone().reversed_axes();
        let c = copy(&B, &t).unwrap();
        assert_eq!((&c, c.strides()), (&t, t.strides()));
        assert_ne!(c.as_ptr(), t.as_ptr());
        let step = x.slice_move(ndarray::s![..;2, ..;-1]).into_dyn();
        assert_eq!(copy(&B, &step).unwrap(), step);
    }
}
