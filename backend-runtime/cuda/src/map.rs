//! Evaluates a scalar expression for each element of its operands. There are two kernels: one for contiguous operands,
//! and one for strided operands.

use super::{
    Cuda, Operand,
    array::RawArray,
    kernel::{Argument, Bytes, Grid},
    program::{Instance, Program, mover},
    walk::Merged,
};
use backend_core::{DType, Element, Error, Result, raw::RawElement, rules};
use std::{borrow::Cow, cmp::Reverse, ffi::c_void, slice};

/// Template arguments of elementwise kernels: the number of axes (only for strided operands), and `k_row`, the struct
/// of the expression. The dtypes follow them.
pub(super) const FLAT: &str = "k_row";
const STRIDED: [(usize, &str); 5] =
    [(1, "1, k_row"), (2, "2, k_row"), (3, "3, k_row"), (4, "4, k_row"), (16, "16, k_row")];

/// The values of the members of an expression's C++ struct, as bytes in memory order.
#[derive(Clone, Copy)]
pub(crate) struct Members<'a>(&'a [u8]);

impl Members<'_> {
    /// Maximum size of the members in bytes. The limit leaves room for the other kernel arguments.
    pub(super) const MAX_BYTES: usize = 2048;

    /// The members of an empty struct, which still occupies one byte in C++.
    pub(crate) const NONE: Members<'static> = Members(&[0]);
}

// SAFETY: the kernel's parameter is a struct with exactly these bytes.
unsafe impl Argument for Members<'_> {
    fn pointer(&self) -> *mut c_void {
        self.0.as_ptr().cast_mut().cast()
    }
}

/// Implements `From<&[T]> for Members` for each of the number types `T`.
macro_rules! members {
    ($($t:ty)*) => {$(
        impl<'a> From<&'a [$t]> for Members<'a> {
            fn from(numbers: &'a [$t]) -> Members<'a> {
                if numbers.is_empty() {
                    return Members::NONE;
                }
                // SAFETY: the bytes are the slice's own memory, which has no padding.
                Members(unsafe { slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) })
            }
        }
    )*};
}
members!(f64 Bytes);

/// An operand of an elementwise op.
#[derive(Clone, Copy)]
pub(crate) enum Input<'a> {
    /// An array.
    Array(&'a RawArray),
    /// An array that its owner does not use again. If there is no other handle of the array, the result may overwrite
    /// it.
    Given(&'a RawArray),
    /// One value for all elements, as bytes, and its dtype.
    Value(DType, Bytes),
}

impl<'a> Input<'a> {
    /// The array; `None` for a value.
    pub(super) fn array(&self) -> Option<&'a RawArray> {
        match *self {
            Input::Array(array) | Input::Given(array) => Some(array),
            Input::Value(..) => None,
        }
    }

    /// Replaces the dtype of a value by the `mover` dtype of the same size, for kernels that only move elements.
    pub(super) fn as_mover(self) -> Input<'a> {
        match self {
            Input::Array(_) | Input::Given(_) => self,
            Input::Value(dtype, bytes) => Input::Value(mover(dtype), bytes),
        }
    }

    /// An input that has the value `x` for all elements.
    pub(crate) fn value<T: Element>(x: T) -> Input<'static> {
        Input::Value(T::DTYPE, Bytes::of(x))
    }

    /// An input that has the value `x` for all elements, for kernels that only move elements.
    pub(crate) fn moved(x: RawElement) -> Input<'static> {
        Input::Value(mover(x.dtype()), Bytes::from(x))
    }

    fn dtype(&self) -> DType {
        match self {
            Input::Array(array) | Input::Given(array) => array.dtype,
            Input::Value(dtype, _) => *dtype,
        }
    }

    pub(super) fn shape(&self) -> &[usize] {
        self.array().map_or(&[], |array| &array.shape)
    }

    /// The array, if a result of this dtype and shape may overwrite it.
    fn overwritable(&self, dtype: DType, shape: &[usize]) -> Option<&RawArray> {
        let Input::Given(x) = self else { return None };
        (x.dtype == dtype && x.shape == shape && x.is_overwritable()).then_some(x)
    }
}

impl<'a, T: Element> From<&'a Operand<'_, T>> for Input<'a> {
    /// Converts an operand. An operand that owns its array becomes `Input::Given`, because nobody uses the array again.
    fn from(operand: &'a Operand<'_, T>) -> Input<'a> {
        match operand {
            Operand::Array(Cow::Owned(array)) => Input::Given(&array.raw),
            Operand::Array(Cow::Borrowed(array)) => Input::Array(&array.raw),
            Operand::Scalar(x) => Input::value(*x),
        }
    }
}

/// Counterpart of the C++ struct `Input` in the kernels.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct KernelInput {
    array: u64,
    kind: u32,
    value: Bytes,
}

// SAFETY: the C++ struct has the same members in the same order, with the same alignment.
unsafe impl Argument for KernelInput {}

const ARRAY: u32 = 0;
const VALUE: u32 = 1;
const ELEMENT: u32 = 2;

/// Evaluates the expression of `program` for each element of the inputs, which are broadcast to a common shape. The
/// result is a new array, or overwrites an input array that nobody uses again.
pub(crate) fn map(
    b: &Cuda,
    op: &'static str,
    program: &Program,
    members: Members,
    inputs: &[Input],
    dtype: DType,
) -> Result<RawArray> {
    let shape = rules::broadcast_all(op, inputs.iter().map(Input::shape))?;
    // the most frequent case: each array has the result's shape and is in C order, or is a single element
    let plain = |x: &RawArray| x.is_one() || (x.shape == shape && x.is_contiguous());
    let given = overwritable(inputs, dtype, &shape);
    if inputs.iter().filter_map(Input::array).all(plain) {
        let out = given.map_or_else(|| b.uninit_raw(op, dtype, &shape), Ok)?;
        let operands = inputs.iter().map(|input| operand(b, op, input)).collect::<Result<Vec<_>>>()?;
        flat(b, op, program, members, &operands, &out, out.size())?;
        return Ok(out);
    }
    if let Some(out) = given {
        map_into(b, op, program, members, inputs, &out)?;
        return Ok(out);
    }
    let mut out = b.uninit_raw(op, dtype, &shape)?;
    out.strides = result_strides(&shape, inputs);
    map_into(b, op, program, members, inputs, &out)?;
    Ok(out)
}

/// Returns an array among the inputs that a result of dtype `dtype` may overwrite, if there is one.
pub(super) fn given(op: &'static str, inputs: &[Input], dtype: DType) -> Result<Option<RawArray>> {
    Ok(overwritable(inputs, dtype, &rules::broadcast_all(op, inputs.iter().map(Input::shape))?))
}

fn overwritable(inputs: &[Input], dtype: DType, shape: &[usize]) -> Option<RawArray> {
    inputs.iter().find_map(|input| input.overwritable(dtype, shape)).cloned()
}

/// Returns the axes, sorted by descending stride in the first input that has the result's shape and no repeated
/// elements. The result gets the same memory order, so that the kernel traverses both arrays in memory order.
fn memory_order(shape: &[usize], inputs: &[Input]) -> Vec<usize> {
    let mut arrays = inputs.iter().filter_map(Input::array);
    order_of(shape.len(), arrays.find(|x| x.shape == shape && is_without_repetition(x)))
}

/// Returns the strides of a new result, whose axes have the same memory order as the axes of the inputs.
pub(super) fn result_strides(shape: &[usize], inputs: &[Input]) -> Vec<isize> {
    let order = memory_order(shape, inputs);
    let in_order: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
    let mut strides = vec![0; shape.len()];
    order.iter().zip(rules::c_strides(&in_order)).for_each(|(&axis, stride)| strides[axis] = stride);
    strides
}

fn is_without_repetition(x: &RawArray) -> bool {
    x.shape.iter().zip(&x.strides).all(|(&len, &stride)| len == 1 || stride != 0)
}

fn order_of(ndim: usize, of: Option<&RawArray>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ndim).collect();
    if let Some(x) = of.filter(|x| !x.is_contiguous()) {
        // the stride of an axis of length 1 has no meaning, so all such axes come first, in their original order
        let distance = |axis: usize| {
            if x.shape[axis] == 1 { usize::MAX } else { x.strides[axis].unsigned_abs() }
        };
        order.sort_by_key(|&axis| Reverse(distance(axis)));
    }
    order
}

/// Like [`map`], but writes into the existing array `out`, to whose shape the inputs are broadcast. `out` must not
/// overlap an input, unless each element of `out` has the same address as the input's element with the same index.
pub(crate) fn map_into(
    b: &Cuda,
    op: &'static str,
    program: &Program,
    members: Members,
    inputs: &[Input],
    out: &RawArray,
) -> Result<()> {
    b.check(op, out)?;
    let order = order_of(out.shape.len(), Some(out));
    let mut views = vec![out.permuted(&order)];
    for input in inputs {
        views.push(match input.array() {
            Some(x) => x.broadcast(op, &out.shape)?.permuted(&order),
            // a value has no memory; a view of `out` with strides 0 stands for it, and the kernel never reads this view
            None => out.view(views[0].shape.clone(), vec![0; order.len()], 0),
        });
    }
    let mut operands = inputs.iter().map(|input| operand(b, op, input)).collect::<Result<Vec<_>>>()?;
    let merged = Merged::new(&views.iter().collect::<Vec<_>>());
    if merged.is_flat(0) && (1..views.len()).all(|k| merged.is_flat(k) || merged.is_one(k)) {
        for (k, (operand, _)) in operands.iter_mut().enumerate().filter(|(_, (operand, _))| operand.kind == ARRAY) {
            operand.kind = if merged.is_one(k + 1) { ELEMENT } else { ARRAY };
        }
        return flat(b, op, program, members, &operands, out, merged.n());
    }
    strided(b, op, program, members, &operands, out, &merged)
}

/// Converts an input to the `Input` struct of the kernels. Also returns the input's dtype.
fn operand(b: &Cuda, op: &'static str, input: &Input) -> Result<(KernelInput, DType)> {
    let operand = match input {
        Input::Value(_, value) => KernelInput { array: 0, kind: VALUE, value: *value },
        Input::Array(x) | Input::Given(x) => {
            b.check(op, x)?;
            KernelInput { array: x.pointer(), kind: if x.is_one() { ELEMENT } else { ARRAY }, value: Bytes::NONE }
        }
    };
    Ok((operand, input.dtype()))
}

/// The dtype of the result, followed by the dtypes of the inputs.
fn dtypes(out: &RawArray, operands: &[(KernelInput, DType)]) -> Vec<DType> {
    std::iter::once(out.dtype).chain(operands.iter().map(|(_, dtype)| *dtype)).collect()
}

/// Runs the kernel for contiguous operands: each array has `n` elements, all arrays in the same memory order.
fn flat(
    b: &Cuda,
    op: &'static str,
    program: &Program,
    members: Members,
    operands: &[(KernelInput, DType)],
    out: &RawArray,
    n: usize,
) -> Result<()> {
    if n == 0 {
        return Ok(());
    }
    let dtypes = dtypes(out, operands);
    let kernel = b.kernel(op, program, Instance::new("flat", FLAT, &dtypes))?;
    let per_pack = 16 / dtypes.iter().map(|dtype| dtype.size()).max().unwrap_or(1);
    let aligned = |address: u64, dtype: DType| address.is_multiple_of((per_pack * dtype.size()) as u64);
    let pointer = out.pointer();
    let vectors = aligned(pointer, out.dtype)
        && operands.iter().all(|(input, dtype)| input.kind != ARRAY || aligned(input.array, *dtype));
    let grid = Grid::over(if vectors { n.div_ceil(per_pack) } else { n });
    let (n, vectors) = (n as u64, u32::from(vectors));
    let mut arguments: Vec<&dyn Argument> = vec![&members, &pointer, &n, &vectors];
    arguments.extend(operands.iter().map(|(input, _)| input as &dyn Argument));
    // SAFETY: the arguments match the parameters of `flat`. From its pointer on, every operand has `n` elements, or it
    // is a single element or a value. Several elements are loaded at once only if every pointer is aligned for this.
    unsafe { b.launch(op, kernel, grid, &arguments) }
}

/// Runs the kernel for strided arrays. Operand 0 of `merged` is the result, and the others are the inputs.
fn strided(
    b: &Cuda,
    op: &'static str,
    program: &Program,
    members: Members,
    operands: &[(KernelInput, DType)],
    out: &RawArray,
    merged: &Merged,
) -> Result<()> {
    if merged.n() == 0 {
        return Ok(());
    }
    let kernel = b.kernel(op, program, strided_instance(merged, &dtypes(out, operands)))?;
    let pointer = out.pointer();
    let inputs = operands.iter().map(|(input, _)| input as &dyn Argument);
    let grid = Grid::over(merged.n().div_ceil(4));
    macro_rules! launch {
        ($k:literal) => {{
            let walk = merged.walk::<$k>(op)?;
            let mut arguments: Vec<&dyn Argument> = vec![&members, &pointer, &walk];
            arguments.extend(inputs);
            // SAFETY: the arguments match the parameters of `strided`; the shape and strides of every operand stay
            // within its memory.
            unsafe { b.launch(op, kernel, grid, &arguments) }
        }};
    }
    match operands.len() {
        0 => launch!(1),
        1 => launch!(2),
        2 => launch!(3),
        3 => launch!(4),
        4 => launch!(5),
        5 => launch!(6),
        6 => launch!(7),
        7 => launch!(8),
        8 => launch!(9),
        more => Err(Error::argument(op, format!("one expression has {more} inputs, but must have at most 8"))),
    }
}

/// The kernel for strided operands, for the number of axes and elements of `merged`.
fn strided_instance(merged: &Merged, dtypes: &[DType]) -> Instance {
    let tag = STRIDED.iter().find(|(rank, _)| *rank == merged.rank()).map_or("", |(_, tag)| tag);
    Instance::new(if merged.is_small() { "strided" } else { "strided_wide" }, tag, dtypes)
}

/// Returns false for two rarely needed kinds of kernels: `strided_wide`, for 2^31 or more elements, and `strided` for
/// more than three axes.
pub(super) fn is_usual(instance: &Instance) -> bool {
    instance.template != "strided_wide"
        && (instance.template != "strided" || STRIDED[..3].iter().any(|(_, tag)| *tag == instance.tag))
}

/// Lists all kernels of an expression for these dtypes (result first, then inputs).
pub(super) fn instances(dtypes: &[DType]) -> impl Iterator<Item = Instance> + use<'_> {
    let strided = |name| STRIDED.iter().map(move |(_, tag)| Instance::new(name, tag, dtypes));
    std::iter::once(Instance::new("flat", FLAT, dtypes)).chain(strided("strided")).chain(strided("strided_wide"))
}

#[cfg(test)]
mod tests {
    use super::{super::nvrtc, *};
    use crate::testing::compiler;

    #[test]
    fn elements_that_a_result_may_be_written_over_are_loaded_by_plain_loads() {
        if compiler().is_none() {
            return;
        }
        let program = Program::each("scaled", "op_plus(op_times(x, x), y)", &["x", "y"]);
        for dtype in [DType::Bool, DType::UInt8, DType::Float16, DType::Int32, DType::Float64, DType::Complex128] {
            let text = if dtype == DType::Bool { Program::each("or", "x || y", &["x", "y"]) } else { program }.text();
            let kernels: Vec<String> = instances(&[dtype; 3]).map(|instance| instance.expression()).collect();
            let ptx = nvrtc::compile(&text, &kernels, &nvrtc::Target::named("compute_90")).unwrap();
            let ptx = String::from_utf8(ptx.image).unwrap();
            // CUDA allows non-coherent loads (`ld.global.nc`) only from memory that the kernel does not write. The
            // result of this kernel may overwrite an operand
            assert!(ptx.contains("ld.global") && !ptx.contains("ld.global.nc"), "{dtype}");
        }
    }
}
