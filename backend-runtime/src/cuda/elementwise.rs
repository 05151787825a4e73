//! The elementwise functions: a row's expression inside one of two kernels, for contiguous and for other operands.

use super::{
    Cuda, CudaArray, Operand,
    array::Raw,
    check::Listed,
    kernel::{Argument, Expression, Grid, Instance, Program, Source},
    walk::Merged,
};
use crate::{DType, Each, EachSource, Element, Error, Result, shape};
use std::cmp::Reverse;

/// The template argument of a row's kernels.
const ROW: &str = "k_row";

/// Most scalar parameters of a row.
const PARAMS: usize = 8;

/// An operand of an elementwise op.
#[derive(Clone, Copy)]
pub(crate) enum Input<'a> {
    /// An array.
    Array(&'a Raw),
    /// One value for all elements.
    Value(DType, [u8; 16]),
}

impl Input<'_> {
    /// One value for all elements.
    pub(crate) fn value<T: Element>(x: T) -> Input<'static> {
        let mut bytes = [0; 16];
        // SAFETY: an element is at most 16 bytes and has no padding.
        unsafe {
            std::ptr::copy_nonoverlapping((&raw const x).cast(), bytes.as_mut_ptr(), size_of::<T>())
        };
        Input::Value(T::DTYPE, bytes)
    }

    fn dtype(&self) -> DType {
        match self {
            Input::Array(array) => array.dtype,
            Input::Value(dtype, _) => *dtype,
        }
    }

    fn shape(&self) -> &[usize] {
        match self {
            Input::Array(array) => &array.shape,
            Input::Value(..) => &[],
        }
    }
}

impl<'a, T: Element> From<Operand<'a, T>> for Input<'a> {
    fn from(operand: Operand<'a, T>) -> Input<'a> {
        match operand {
            Operand::Array(array) => Input::Array(&array.raw),
            Operand::Scalar(x) => Input::value(x),
        }
    }
}

/// The kernels' `Input`.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct KernelInput {
    array: u64,
    kind: u32,
    value: KernelValue,
}

#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct KernelValue([u8; 16]);

// SAFETY: the C++ struct has the same members in the same order, with the same alignment.
unsafe impl Argument for KernelInput {}

const ARRAY: u32 = 0;
const VALUE: u32 = 1;
const ELEMENT: u32 = 2;

/// Any `each` row with one operand.
pub fn each1<T: Element, F: Each<1, T> + EachSource>(
    b: &Cuda,
    f: &F,
    x: Operand<'_, T>,
) -> Result<CudaArray<F::Out>> {
    each::<F, F::Out>(b, f, &[x.into()])
}

/// Any `each` row with two operands.
pub fn each2<T: Element, F: Each<2, T> + EachSource>(
    b: &Cuda,
    f: &F,
    x1: Operand<'_, T>,
    x2: Operand<'_, T>,
) -> Result<CudaArray<F::Out>> {
    each::<F, F::Out>(b, f, &[x1.into(), x2.into()])
}

/// Any `each` row with three operands.
pub fn each3<T: Element, F: Each<3, T> + EachSource>(
    b: &Cuda,
    f: &F,
    x1: Operand<'_, T>,
    x2: Operand<'_, T>,
    x3: Operand<'_, T>,
) -> Result<CudaArray<F::Out>> {
    each::<F, F::Out>(b, f, &[x1.into(), x2.into(), x3.into()])
}

fn each<F: EachSource, U: Element>(b: &Cuda, f: &F, inputs: &[Input]) -> Result<CudaArray<U>> {
    let expression = Expression {
        text: F::CUDA,
        inputs: F::INPUTS,
        params: F::PARAMS,
    };
    let program = Program {
        name: F::NAME,
        source: Source::Each(expression),
    };
    Ok(CudaArray::of(map(
        b,
        F::NAME,
        &program,
        &f.params(),
        inputs,
        U::DTYPE,
    )?))
}

/// A new array: `program`'s expression of the inputs, broadcast.
pub(crate) fn map(
    b: &Cuda,
    op: &'static str,
    program: &Program,
    params: &[f64],
    inputs: &[Input],
    dtype: DType,
) -> Result<Raw> {
    let shape = shape::broadcast_all(op, inputs.iter().map(Input::shape))?;
    let order = memory_order(&shape, inputs);
    let in_order: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
    let out = b.uninit_raw(op, dtype, &in_order)?;
    let mut back = vec![0; order.len()];
    order
        .iter()
        .enumerate()
        .for_each(|(place, &axis)| back[axis] = place);
    let out = out.permuted(&back);
    map_into(b, op, program, params, inputs, &out)?;
    Ok(out)
}

/// The axes from the one with the largest stride on, after the first input that has an element for each of the result:
/// the result is laid out as that input is, so that both are gone over as they lie in memory.
fn memory_order(shape: &[usize], inputs: &[Input]) -> Vec<usize> {
    let full = inputs.iter().find_map(|input| match input {
        Input::Array(x) if x.shape == shape && is_without_repetition(x) => Some(*x),
        _ => None,
    });
    order_of(shape.len(), full)
}

fn is_without_repetition(x: &Raw) -> bool {
    x.shape
        .iter()
        .zip(&x.strides)
        .all(|(&len, &stride)| len == 1 || stride != 0)
}

fn order_of(ndim: usize, of: Option<&Raw>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ndim).collect();
    if let Some(x) = of.filter(|x| !x.is_contiguous()) {
        // an axis of length 1 has any stride: it stays where it is, outermost among equals
        order.sort_by_key(|&axis| {
            Reverse(if x.shape[axis] == 1 {
                isize::MAX
            } else {
                x.strides[axis].abs()
            })
        });
    }
    order
}

/// As [`map`], into an array that is there: the shape of the inputs broadcasts to its shape. It shares no memory with an
/// input, unless element for element.
pub(crate) fn map_into(
    b: &Cuda,
    op: &'static str,
    program: &Program,
    params: &[f64],
    inputs: &[Input],
    out: &Raw,
) -> Result<()> {
    b.check(op, out)?;
    let order = order_of(out.shape.len(), Some(out));
    let out_in_order = out.permuted(&order);
    let mut arrays = Vec::with_capacity(inputs.len());
    for input in inputs {
        arrays.push(match input {
            Input::Array(x) => {
                b.check(op, x)?;
                x.broadcast(op, &out.shape)?.permuted(&order)
            }
            // its strides are all 0, and its place is never read
            Input::Value(..) => out.view(out_in_order.shape.clone(), vec![0; order.len()], 0),
        });
    }
    let operands: Vec<&Raw> = std::iter::once(&out_in_order).chain(&arrays).collect();
    let merged = Merged::new(&operands);
    if merged.n() == 0 {
        return Ok(());
    }
    let mut functor = [0.0; PARAMS];
    if params.len() > PARAMS {
        return Err(Error::argument(
            op,
            format!("more than {PARAMS} scalar parameters"),
        ));
    }
    functor[..params.len()].copy_from_slice(params);
    let flat =
        merged.is_flat(0) && (1..operands.len()).all(|k| merged.is_flat(k) || merged.is_one(k));
    let kernel_inputs: Vec<KernelInput> = inputs
        .iter()
        .enumerate()
        .map(|(k, input)| match input {
            Input::Value(_, value) => KernelInput {
                array: 0,
                kind: VALUE,
                value: KernelValue(*value),
            },
            Input::Array(_) => {
                let kind = if merged.is_one(k + 1) { ELEMENT } else { ARRAY };
                KernelInput {
                    array: arrays[k].pointer(),
                    kind,
                    value: KernelValue([0; 16]),
                }
            }
        })
        .collect();
    let mut dtypes = vec![out.dtype];
    dtypes.extend(inputs.iter().map(Input::dtype));
    let instance = Instance::new(if flat { "flat" } else { "strided" }, ROW, &dtypes);
    let kernel = b.kernel(op, program, instance)?;
    let pointer = out.pointer();
    let inputs = kernel_inputs.iter().map(|input| input as &dyn Argument);
    if flat {
        let width = dtypes.iter().map(|dtype| dtype.size()).max().unwrap_or(1);
        let per_pack = 16 / width;
        let aligned =
            |address: u64, dtype: DType| address.is_multiple_of((per_pack * dtype.size()) as u64);
        let arrays_aligned = kernel_inputs
            .iter()
            .zip(&dtypes[1..])
            .all(|(input, &dtype)| input.kind != ARRAY || aligned(input.array, dtype));
        let vectors = aligned(pointer, out.dtype) && arrays_aligned;
        let n = merged.n();
        let grid = Grid::over(if vectors { n.div_ceil(per_pack) } else { n });
        let (n, vectors) = (n as u64, vectors as u32);
        let arguments: Vec<&dyn Argument> = [&functor as &dyn Argument, &pointer, &n, &vectors]
            .into_iter()
            .chain(inputs)
            .collect();
        // SAFETY: the arguments are `flat`'s. Every operand has `n` elements from its pointer on, or is one element,
        // or a value; packs are only read where every pointer is aligned for them.
        return unsafe { b.launch(op, kernel, grid, &arguments) };
    }
    let grid = Grid::over(merged.n().div_ceil(4));
    macro_rules! launch {
        ($k:literal) => {{
            let walk = merged.walk::<$k>(op)?;
            let arguments: Vec<&dyn Argument> =
                [&functor as &dyn Argument, &pointer, &walk].into_iter().chain(inputs).collect();
            // SAFETY: the arguments are `strided`'s; shape and strides of every operand stay within its memory.
            unsafe { b.launch(op, kernel, grid, &arguments) }
        }};
    }
    match operands.len() {
        1 => launch!(1),
        2 => launch!(2),
        3 => launch!(3),
        4 => launch!(4),
        more => Err(Error::argument(
            op,
            format!("{} inputs of one expression", more - 1),
        )),
    }
}

/// `x`, as it is.
static COPY: Program = Program::each("copy", "x", &["x"]);

/// `x` in the dtype of the result.
static CAST: Program = Program::each("astype", "cast<U>(x)", &["x"]);

/// The kernels of copies, listed for the check.
pub(super) const COPIES: Listed = (&COPY, || {
    let of = |template, dtype| Instance::new(template, ROW, &[dtype, dtype]);
    DType::ALL
        .into_iter()
        .flat_map(|dtype| [of("flat", dtype), of("strided", dtype)])
        .collect()
});

/// The kernels of conversions, listed for the check.
pub(super) const CASTS: Listed = (&CAST, || {
    let of = |template, to, from| Instance::new(template, ROW, &[to, from]);
    let to = |to| {
        DType::ALL
            .into_iter()
            .flat_map(move |from| [of("flat", to, from), of("strided", to, from)])
    };
    DType::ALL.into_iter().flat_map(to).collect()
});

/// Copies `x`, broadcast, into an array that is there, converting its dtype if need be.
pub(crate) fn copy_into(b: &Cuda, op: &'static str, x: &Raw, out: &Raw) -> Result<()> {
    let program = if x.dtype == out.dtype { &COPY } else { &CAST };
    map_into(b, op, program, &[], &[Input::Array(x)], out)
}

/// Sets every element of `out` to one value.
pub(crate) fn fill(b: &Cuda, op: &'static str, value: Input, out: &Raw) -> Result<()> {
    map_into(b, op, &COPY, &[], &[value], out)
}

/// A new array in C order with the elements of `x`.
pub(crate) fn copied(b: &Cuda, op: &'static str, x: &Raw) -> Result<Raw> {
    let out = b.uninit_raw(op, x.dtype, &x.shape)?;
    copy_into(b, op, x, &out)?;
    Ok(out)
}

/// `x`, or a copy of it in C order where it is in another.
pub(crate) fn contiguous(b: &Cuda, op: &'static str, x: &Raw) -> Result<Raw> {
    b.check(op, x)?;
    if x.is_contiguous() {
        Ok(x.clone())
    } else {
        copied(b, op, x)
    }
}
