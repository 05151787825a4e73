//! Elementwise ops on the CPU, without the conversions of an entry, which take as long as a loop over a few elements.

use super::{AnyArray, Row};
use crate::{
    Arrays, At, EachSource, Element, Operand, Result,
    numpyish::{
        Numpyish,
        raw::{self, View},
        run::is_reused,
    },
};
use std::{borrow::Cow, ptr};

/// Returns a view of an operand. Returns `None` for an array of another library, and for an array that is passed by
/// value if the result may overwrite it.
#[inline]
pub fn operand_view<'x, B: Arrays<Array<T> = AnyArray<T>>, T: Element>(x: &'x Operand<'_, B, T>) -> Option<View<'x>> {
    match x {
        Operand::Array(x) => array_view(x),
        Operand::Scalar(x) => Some(View::scalar(x)),
    }
}

/// Returns a view of an array like [`operand_view`].
#[inline]
#[allow(clippy::ptr_arg)] // whether the array is borrowed decides
pub fn array_view<'x, T: Element>(x: &'x Cow<'_, AnyArray<T>>) -> Option<View<'x>> {
    let view = raw::view(x.downcast_ref::<Numpyish>()?);
    match x {
        Cow::Owned(_) if is_reused(view.len(), size_of::<T>()) => None,
        _ => Some(view),
    }
}

/// Runs the loop of the elementwise op `f` of a row over operands of the dtype `T`. Returns `None` if the views are
/// missing, or if the op copies its operand; the row's entry then computes the result.
pub fn run_loop<'x, const N: usize, F: EachSource, T: Element, U: Element>(
    row: &'static Row,
    f: &F,
    views: impl FnOnce() -> Option<[View<'x>; N]>,
) -> Option<Result<AnyArray<U>>> {
    let each = row.loops?(T::DTYPE)?;
    let kernel = each.kernel_of::<F>();
    if each.is_identity() || kernel.output() != U::DTYPE {
        return None;
    }
    let views = views()?;
    if (0..N).any(|i| views[i].dtype != kernel.input(i)) {
        return None;
    }
    // SAFETY: the kernel belongs to ops of the type `F`, the operands have its dtypes, and `U` is the dtype of its
    // result.
    let result = unsafe { U::numpyish_run(kernel, ptr::from_ref(f).cast(), &views, At::default()) };
    Some(result.map(AnyArray::of::<Numpyish>))
}
