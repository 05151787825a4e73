//! Rows of expressions that have no op of libtorch: the loops of [`Numpyish`](crate::numpyish::Numpyish) over the memory of tensors on
//! the host. The result is an array of its own, which becomes a tensor without a copy; nothing is written into a tensor.

use super::{Operand, Torch, TorchArray, array::from_host, tensor::device_name};
use crate::{
    Axes, Each, EachOf, EachSource, Element, Error, FoldSource, Result,
    numpyish::{
        kernel::{Kernel, kernel, kernel_of},
        raw::View,
        reduction::fold_of,
        typed::typed,
    },
};
use std::ptr;

/// Any `each` row with one operand.
pub fn each1<T: Element, F: Each<1, T> + EachSource>(
    b: &Torch,
    f: &F,
    x: Operand<'_, T>,
) -> Result<TorchArray<F::Out>> {
    if const { F::CONVERTS && T::DTYPE as u8 == <F::Out as Element>::DTYPE as u8 }
        && let Operand::Array(x) = &x
    {
        return TorchArray::new(F::NAME, x.tensor().clone());
    }
    let op = host::<F>(b)?;
    // SAFETY: the kernel is that of the op over one operand of this dtype.
    unsafe { run(b, kernel::<1, T, F>(), ptr::from_ref(f).cast(), &[view(op, &x)?]) }
}

/// Any `each` row with two operands.
pub fn each2<T: Element, F: Each<2, T> + EachSource>(
    b: &Torch,
    f: &F,
    x1: Operand<'_, T>,
    x2: Operand<'_, T>,
) -> Result<TorchArray<F::Out>> {
    let op = host::<F>(b)?;
    let views = [view(op, &x1)?, view(op, &x2)?];
    // SAFETY: the kernel is that of the op over two operands of this dtype.
    unsafe { run(b, kernel::<2, T, F>(), ptr::from_ref(f).cast(), &views) }
}

/// Any `each` row with three operands.
pub fn each3<T: Element, F: Each<3, T> + EachSource>(
    b: &Torch,
    f: &F,
    x1: Operand<'_, T>,
    x2: Operand<'_, T>,
    x3: Operand<'_, T>,
) -> Result<TorchArray<F::Out>> {
    let op = host::<F>(b)?;
    let views = [view(op, &x1)?, view(op, &x2)?, view(op, &x3)?];
    // SAFETY: the kernel is that of the op over three operands of this dtype.
    unsafe { run(b, kernel::<3, T, F>(), ptr::from_ref(f).cast(), &views) }
}

/// Any `each` row with one operand, as a tuple.
pub fn each_of1<A: Element, F: EachOf<(A,)> + EachSource>(
    b: &Torch,
    f: &F,
    x: Operand<'_, A>,
) -> Result<TorchArray<F::Out>> {
    let op = host::<F>(b)?;
    // SAFETY: the kernel is that of the op over an operand of this dtype.
    unsafe { run(b, kernel_of::<(A,), F>(), ptr::from_ref(f).cast(), &[view(op, &x)?]) }
}

/// Any `each` row with two operands of any dtypes.
pub fn each_of2<X: Element, Y: Element, F: EachOf<(X, Y)> + EachSource>(
    b: &Torch,
    f: &F,
    x1: Operand<'_, X>,
    x2: Operand<'_, Y>,
) -> Result<TorchArray<F::Out>> {
    let op = host::<F>(b)?;
    let views = [view(op, &x1)?, view(op, &x2)?];
    // SAFETY: the kernel is that of the op over operands of these dtypes.
    unsafe { run(b, kernel_of::<(X, Y), F>(), ptr::from_ref(f).cast(), &views) }
}

/// Any `each` row with three operands of any dtypes.
pub fn each_of3<X: Element, Y: Element, Z: Element, F: EachOf<(X, Y, Z)> + EachSource>(
    b: &Torch,
    f: &F,
    x1: Operand<'_, X>,
    x2: Operand<'_, Y>,
    x3: Operand<'_, Z>,
) -> Result<TorchArray<F::Out>> {
    let op = host::<F>(b)?;
    let views = [view(op, &x1)?, view(op, &x2)?, view(op, &x3)?];
    // SAFETY: the kernel is that of the op over operands of these dtypes.
    unsafe { run(b, kernel_of::<(X, Y, Z), F>(), ptr::from_ref(f).cast(), &views) }
}

/// The reduction of a `fold` row; its result is of the dtype `U`.
pub fn fold<U: Element, T: Element, F: FoldSource>(
    b: &Torch,
    f: &F,
    x: &TorchArray<T>,
    axis: Axes,
    keepdims: bool,
) -> Result<TorchArray<U>> {
    on_host(b, F::NAME)?;
    let x = view_array(F::NAME, x)?;
    from_host(typed(fold_of(f, x.into(), U::DTYPE, axis, keepdims))?, b.index())
}

/// The row's name, on the host.
fn host<F: EachSource>(b: &Torch) -> Result<&'static str> {
    on_host(b, F::NAME).map(|()| F::NAME)
}

/// An error on a GPU, whose memory the host's loops do not reach.
fn on_host(b: &Torch, op: &'static str) -> Result<()> {
    if b.index() < 0 {
        return Ok(());
    }
    let device = device_name(b.index());
    let why = format!(
        "libtorch has no such op, and on {device} no loop of ours: give the row a `torch` column with `aten` or `compose`"
    );
    Err(Error::library(op, "torch", why))
}

fn view<'a, T: Element>(op: &'static str, x: &'a Operand<'_, T>) -> Result<View<'a>> {
    match x {
        Operand::Array(x) => view_array(op, x),
        Operand::Scalar(x) => Ok(View::scalar(x)),
    }
}

fn view_array<'a, T: Element>(op: &'static str, x: &'a TorchArray<T>) -> Result<View<'a>> {
    let device = x.tensor().device();
    if device >= 0 {
        return Err(Error::Device { op, expected: device_name(-1), found: device_name(device) });
    }
    match x.host_view() {
        Some(view) => Ok(view.view()),
        // a tensor of bool whose bytes are none
        None => Err(x.view().err().map_or_else(|| Error::unsupported(op, "torch"), |why| why.within(op))),
    }
}

/// # Safety
/// As for [`numpyish_run`](crate::numpyish::typed::Typed::numpyish_run).
unsafe fn run<U: Element>(
    b: &Torch,
    kernel: &'static Kernel,
    op: *const u8,
    views: &[View<'_>],
) -> Result<TorchArray<U>> {
    // SAFETY: the caller's promise.
    from_host(unsafe { U::numpyish_run(kernel, op, views)? }, b.index())
}
