//! Indexing of arrays: slices, gathers, scatters and masks.

mod along;
mod index;
mod mask;
mod part;
mod sums;

pub use along::{scatter, scatter_add, scatter_max, scatter_min, scatter_mul, scatter_mul_of, take, take_along_axis};
pub use index::{add_at, get, places, set};
pub use mask::{argwhere, boolean_mask, nonzero};
pub use part::getitem;

/// The ops over arrays with a static dtype, for tests.
#[cfg(any(test, feature = "testing"))]
#[allow(missing_docs)] // each function is the op of its name
pub mod typed {
    use crate::indexing;
    use backend_core::{
        Element, Indices, Result, Slice,
        numpyish::{
            NdArray, Numpyish, OpContext, Operand,
            raw::{view, view_operand},
        },
        raw::{Finish, finish_all},
    };

    backend_core::typed_ops! { indexing:
        getitem<T: Element>(x; slices: &[Slice]) -> T;
        get<T: Element>(x; index: Indices<'_, Numpyish>) -> T;
        argwhere<T: Element>(x;) -> i64;
    }

    /// Defines a function for each given op. The parameters before `;` are arrays, each of its own dtype.
    macro_rules! picking {
        ($($name:ident<$t:ident: $bound:ident>($($x:ident: $of:ty),*; $($p:ident: $ty:ty),*);)*) => {$(
            pub fn $name<$t: backend_core::$bound>(
                b: &Numpyish,
                $($x: &NdArray<$of>,)*
                $($p: $ty),*
            ) -> Result<NdArray<$t>> {
                let on = OpContext::new(b, stringify!($name), $t::DTYPE);
                Finish::finish(indexing::$name(on, $(view($x),)* $($p),*)?, on.op, ())
            }
        )*};
    }
    picking! {
        take<T: Element>(x: T, indices: i64; axis: Option<isize>);
        take_along_axis<T: Element>(x: T, indices: i64; axis: isize);
        scatter<T: Element>(x: T, indices: i64, values: T; axis: isize);
        scatter_add<T: Numeric>(x: T, indices: i64, values: T; axis: isize);
        scatter_mul<T: Numeric>(x: T, indices: i64, values: T; axis: isize);
        scatter_max<T: Ordered>(x: T, indices: i64, values: T; axis: isize);
        scatter_min<T: Ordered>(x: T, indices: i64, values: T; axis: isize);
        boolean_mask<T: Element>(x: T, mask: bool;);
    }

    /// Defines a function for each given op that writes values to a part of an array.
    macro_rules! writing {
        ($($name:ident<$t:ident: $bound:ident>;)*) => {$(
            pub fn $name<$t: backend_core::$bound>(
                b: &Numpyish,
                x: &mut NdArray<$t>,
                index: Indices<'_, Numpyish>,
                values: Operand<'_, $t>,
            ) -> Result<()> {
                let on = OpContext::new(b, stringify!($name), $t::DTYPE);
                indexing::$name(on, x, index, view_operand(&values))
            }
        )*};
    }
    writing! {
        set<T: Element>;
        add_at<T: Numeric>;
    }

    pub fn nonzero<T: Element>(b: &Numpyish, x: &NdArray<T>) -> Result<Vec<NdArray<i64>>> {
        let on = OpContext::new(b, "nonzero", T::DTYPE);
        finish_all(on.op, indexing::nonzero(on, view(x))?, ())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NdArray, testing::array};

    /// An array with the elements 0, 1, 2 and so on.
    pub fn counting(shape: &[usize]) -> NdArray<i64> {
        let n = shape.iter().product::<usize>() as i64;
        array("test", shape, (0..n).collect()).unwrap()
    }

    /// The elements in C order.
    pub fn list(x: &NdArray<i64>) -> Vec<i64> {
        x.iter().copied().collect()
    }
}
