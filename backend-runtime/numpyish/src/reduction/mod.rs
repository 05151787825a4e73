//! Differences, quantiles and cumulative sums, and the reductions of `backend_core`, which formulas use too.

mod diff;
mod quantile;
mod scan;

pub use backend_core::numpyish::reduction::*;
pub use diff::diff;
pub use quantile::quantile;
pub use scan::{cumulative_prod, cumulative_sum};

/// The ops over arrays with a static dtype, for tests.
#[cfg(any(test, feature = "testing"))]
#[allow(missing_docs)] // each function is the op of its name
pub mod typed {
    use crate::reduction;
    use backend_core::{
        Axes, Element, Interpolation, Numeric, Result,
        numpyish::{NdArray, Numpyish, OpContext, raw::view, typed::changed_by},
    };

    pub use backend_core::numpyish::reduction::typed::*;

    backend_core::typed_ops! { reduction:
        cumulative_sum<T: Element>(x; axis: Option<isize>, include_initial: bool) -> T::Sum;
        cumulative_prod<T: Element>(x; axis: Option<isize>, include_initial: bool) -> T::Sum;
        quantile<T: Real>(x, q; axis: Axes, method: Interpolation, keepdims: bool) -> T;
    }

    pub fn diff<T: Numeric>(
        b: &Numpyish,
        x: &NdArray<T>,
        axis: isize,
        n: usize,
        prepend: Option<&NdArray<T>>,
        append: Option<&NdArray<T>>,
    ) -> Result<NdArray<T>> {
        let on = OpContext::new(b, "diff", <T as Element>::DTYPE);
        changed_by(x, reduction::diff(on, view(x), axis, n, prepend.map(view), append.map(view)))
    }
}
