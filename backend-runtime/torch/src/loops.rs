//! Runs the ops that the op table defines by an expression and that libtorch lacks. The loops of
//! [`Numpyish`](backend_core::numpyish::Numpyish) compute them in host memory. The result overwrites the tensor of an
//! operand that was passed by value, if nothing else uses the memory of this tensor. Otherwise the result is a new
//! array, which becomes a tensor without a copy. Tensors on a GPU are copied to the host, and the result is copied
//! back.

use super::{
    Operand, Torch, TorchArray,
    array::{from_host, to_host},
    hosted::Hosted,
    tensor::{Tensor, device_name},
};
use backend_core::{
    Axes, Each, EachOf, EachSource, Element, Error, FoldSource, HostArray, Result, dispatch,
    each::is_identity,
    numpyish::{
        kernel::{Kernel, kernel, kernel_of},
        raw::{self, View},
        reduction::fold_of,
        run::run_over,
        typed::typed,
    },
};
use std::{borrow::Cow, ptr};

/// Runs a kernel, the loop of an op, over operands in host memory.
macro_rules! run {
    ($b:ident, $kernel:expr, $f:ident, $($x:ident: $t:ty),*) => {{
        $(let $x = OnHost::new($b, F::NAME, &$x)?;)*
        // SAFETY: the kernel belongs to this op with operands of these dtypes.
        unsafe { run($b, $kernel, ptr::from_ref($f).cast(), &[$($x.given::<F::Out>()),*]) }
    }};
}

/// Evaluates an elementwise op (an `each` row of the op table) with one operand.
pub fn each1<T: Element, F: Each<1, T> + EachSource>(
    b: &Torch,
    f: &F,
    x: Operand<'_, T>,
) -> Result<TorchArray<F::Out>> {
    if const { is_identity::<F>(T::DTYPE, <F::Out as Element>::DTYPE) }
        && let Operand::Array(x) = &x
    {
        return TorchArray::new(F::NAME, x.tensor().clone());
    }
    run!(b, kernel::<1, T, F>(), f, x: T)
}

/// Evaluates an elementwise op with two operands.
pub fn each2<T: Element, F: Each<2, T> + EachSource>(
    b: &Torch,
    f: &F,
    x1: Operand<'_, T>,
    x2: Operand<'_, T>,
) -> Result<TorchArray<F::Out>> {
    run!(b, kernel::<2, T, F>(), f, x1: T, x2: T)
}

/// Evaluates an elementwise op with three operands.
pub fn each3<T: Element, F: Each<3, T> + EachSource>(
    b: &Torch,
    f: &F,
    x1: Operand<'_, T>,
    x2: Operand<'_, T>,
    x3: Operand<'_, T>,
) -> Result<TorchArray<F::Out>> {
    run!(b, kernel::<3, T, F>(), f, x1: T, x2: T, x3: T)
}

/// Evaluates an elementwise op with one operand. [`EachOf`] takes the elements of the operands as a tuple.
pub fn each_of1<A: Element, F: EachOf<(A,)> + EachSource>(
    b: &Torch,
    f: &F,
    x: Operand<'_, A>,
) -> Result<TorchArray<F::Out>> {
    run!(b, kernel_of::<(A,), F>(), f, x: A)
}

/// Evaluates an elementwise op with two operands, whose dtypes may differ.
pub fn each_of2<X: Element, Y: Element, F: EachOf<(X, Y)> + EachSource>(
    b: &Torch,
    f: &F,
    x1: Operand<'_, X>,
    x2: Operand<'_, Y>,
) -> Result<TorchArray<F::Out>> {
    run!(b, kernel_of::<(X, Y), F>(), f, x1: X, x2: Y)
}

/// Evaluates an elementwise op with three operands, whose dtypes may differ.
pub fn each_of3<X: Element, Y: Element, Z: Element, F: EachOf<(X, Y, Z)> + EachSource>(
    b: &Torch,
    f: &F,
    x1: Operand<'_, X>,
    x2: Operand<'_, Y>,
    x3: Operand<'_, Z>,
) -> Result<TorchArray<F::Out>> {
    run!(b, kernel_of::<(X, Y, Z), F>(), f, x1: X, x2: Y, x3: Z)
}

/// Evaluates a reduction of the op table (a `fold` row) over axes. The result has the dtype `U`.
pub fn fold<U: Element, T: Element, F: FoldSource>(
    b: &Torch,
    f: &F,
    x: &TorchArray<T>,
    axis: Axes,
    keepdims: bool,
) -> Result<TorchArray<U>> {
    let x = OnHost::of_array(b, F::NAME, x, false)?;
    from_host(typed(fold_of(f, x.view().into(), U::DTYPE, axis, keepdims))?, b.index())
        .map_err(|why| why.within(F::NAME))
}

/// An operand that the host's loops can read.
pub(super) enum OnHost<'a, T: Element> {
    /// The memory of a tensor, and the tensor itself if it was passed by value.
    InPlace(View<'a>, Option<&'a TorchArray<T>>),
    /// A copy of a tensor that the loops cannot read in place.
    Copy(HostArray<T>),
    /// A single value, which stands for all elements.
    Scalar(&'a T),
}

impl<'a, T: Element> OnHost<'a, T> {
    pub(super) fn new(b: &Torch, op: &'static str, x: &'a Operand<'_, T>) -> Result<Self> {
        match x {
            Operand::Array(x) => OnHost::of_array(b, op, x, matches!(x, Cow::Owned(_))),
            Operand::Scalar(x) => Ok(OnHost::Scalar(x)),
        }
    }

    pub(super) fn of_array(b: &Torch, op: &'static str, x: &'a TorchArray<T>, is_given: bool) -> Result<Self> {
        let device = x.tensor().device();
        if device != b.index() {
            return Err(Error::device(op, device_name(b.index()), device_name(device)));
        }
        if !b.is_in_place() {
            return to_host(x.tensor()).map(OnHost::Copy).map_err(|why| why.within(op));
        }
        match x.host_view() {
            Some(view) => Ok(OnHost::InPlace(view.view(), is_given.then_some(x))),
            // the tensor is on the host, so one of its bools has a byte that is neither 0 nor 1
            None => Err(x.view().err().map_or_else(|| Error::unsupported(op, "torch"), |why| why.within(op))),
        }
    }

    /// A view of the operand's elements.
    pub(super) fn view(&self) -> View<'_> {
        match self {
            OnHost::InPlace(view, _) => *view,
            OnHost::Copy(x) => raw::view(x),
            OnHost::Scalar(x) => View::scalar(*x),
        }
    }

    /// Returns a view of this operand, together with its tensor if a result of the dtype `U` may overwrite the tensor's
    /// memory.
    fn given<U: Element>(&self) -> DynamicOperand<'_> {
        let over = match self {
            OnHost::InPlace(_, Some(x)) if T::DTYPE == U::DTYPE && x.is_alone() => Some(x.tensor()),
            _ => None,
        };
        DynamicOperand { view: self.view(), over }
    }
}

/// An operand whose dtype is known only at run time.
struct DynamicOperand<'a> {
    view: View<'a>,
    /// The tensor, if the result may overwrite its memory.
    over: Option<&'a Tensor>,
}

/// Runs a kernel over operands whose dtypes are known only at run time. If an operand comes with its tensor, the result
/// may overwrite the tensor.
///
/// # Safety
/// The kernel belongs to the op at `op`, and takes operands of these dtypes.
pub(super) unsafe fn run_raw(
    b: &Torch,
    kernel: &'static Kernel,
    op: *const u8,
    operands: &[(Hosted<'_>, Option<&Tensor>)],
) -> Result<Tensor> {
    let operands: Vec<DynamicOperand<'_>> =
        operands.iter().map(|(x, over)| DynamicOperand { view: x.view(), over: *over }).collect();
    dispatch!(kernel.output(), U => {
        // SAFETY: the caller guarantees that the kernel belongs to the op and takes these operands, and `U` is the
        // dtype of its result.
        let result: TorchArray<U> = unsafe { run(b, kernel, op, &operands)? };
        Ok(result.tensor().clone())
    })
}

/// # Safety
/// The conditions of [`numpyish_run`](backend_core::numpyish::typed::Typed::numpyish_run) hold.
unsafe fn run<U: Element>(
    b: &Torch,
    kernel: &'static Kernel,
    op: *const u8,
    operands: &[DynamicOperand<'_>],
) -> Result<TorchArray<U>> {
    let views: Vec<View<'_>> = operands.iter().map(|operand| operand.view).collect();
    for DynamicOperand { view, over } in operands {
        if let Some(tensor) = *over
            // SAFETY: the caller guarantees that the kernel fits the op and the views. The tensor has the dtype of the
            // result, and nothing else uses its memory.
            && unsafe { run_over(kernel, op, &views, *view) }
        {
            return TorchArray::new(kernel.name(), tensor.clone());
        }
    }
    // SAFETY: the caller guarantees the conditions of `numpyish_run`.
    from_host(unsafe { U::numpyish_run(kernel, op, &views, backend_core::At::default())? }, b.index())
        .map_err(|why| why.within(kernel.name()))
}
