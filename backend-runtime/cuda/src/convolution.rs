//! Convolutions with channels, and pooling.

use super::{
    OpContext,
    array::RawArray,
    copy::contiguous,
    kernel::{Argument, Grid},
    program::{Instance, KernelList, Program, ProgramSource},
    walk::Divisor,
};
use backend_core::{
    DType, Lengths, Result,
    rules::{self, MAX_SPATIAL_AXES, WindowSteps},
};

static PROGRAM: Program =
    Program { name: "convolution", source: ProgramSource::File(include_str!("kernels/convolution.cuh")) };

/// C++ names of the three reductions of a pooling window: the largest element, the mean including the padding, and the
/// mean without the padding.
const POOLS: [&str; 3] = ["LARGEST", "MEAN", "MEAN_INSIDE"];

/// The kernels of this file, listed so that `check` can compile them all.
pub(super) const KERNELS: KernelList = (&PROGRAM, || {
    let numeric = || DType::ALL.into_iter().filter(|dtype| *dtype != DType::Bool);
    let real = [DType::Float16, DType::BFloat16, DType::Float32, DType::Float64];
    let sums =
        ["convolved", "spread"].into_iter().flat_map(|name| numeric().map(move |d| Instance::new(name, "", &[d])));
    let pools = POOLS.into_iter().flat_map(|tag| real.map(|d| Instance::new("pooled", tag, &[d])));
    sums.chain(pools).collect()
});

/// Number of output channels that one thread computes. It equals `CHANNELS` in the kernels.
const CHANNELS: usize = 4;

/// Counterpart of the C++ struct `Sliding` in the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct Sliding {
    numbers: [u64; 6],
    by_windows: Divisor,
    by_len: Divisor,
}

/// Counterpart of the C++ struct `Convolution` in the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct Convolution {
    n: u64,
    parts: u64,
    groups: u64,
    inputs: u64,
    outputs: u64,
    by_parts: Divisor,
    by_groups: Divisor,
    is_small: u32,
    biased: u32,
    axes: [Sliding; MAX_SPATIAL_AXES],
}

// SAFETY: the C++ struct has the same members in the same order.
unsafe impl Argument for Convolution {}

impl Convolution {
    fn new(plan: &rules::Convolution, biased: bool) -> Convolution {
        let parts = plan.outputs.div_ceil(CHANNELS);
        let n = plan.shape.iter().product::<usize>() / plan.outputs * parts;
        let is_small = n < 1 << 31;
        let divisor = |by: usize| if is_small { Divisor::new(by as u32) } else { Divisor::ONE };
        let axes = plan.axes.map(|a| Sliding {
            numbers: [a.len, a.windows, a.taps, a.stride, a.padding, a.dilation].map(|number| number as u64),
            by_windows: divisor(a.windows),
            by_len: divisor(a.len),
        });
        Convolution {
            n: n as u64,
            parts: parts as u64,
            groups: plan.groups as u64,
            inputs: plan.inputs as u64,
            outputs: plan.outputs as u64,
            by_parts: divisor(parts),
            by_groups: divisor(plan.groups),
            is_small: is_small.into(),
            biased: biased.into(),
            axes,
        }
    }
}

/// Convolution. Each element of the result is the sum of products of a window of `x` and the convolution kernel
/// `weight`, plus the bias.
#[allow(clippy::too_many_arguments)] // the op table fixes the parameters
pub fn conv(
    on: OpContext<'_>,
    x: &RawArray,
    weight: &RawArray,
    bias: Option<&RawArray>,
    stride: Option<Lengths>,
    padding: Option<Lengths>,
    dilation: Option<Lengths>,
    groups: usize,
) -> Result<RawArray> {
    let steps = WindowSteps { stride, padding, dilation };
    let bias_shape = bias.map(|bias| &bias.shape[..]);
    let plan = rules::convolution(on.op, &x.shape, &weight.shape, bias_shape, &steps, groups, on.dtype.size())?;
    run(on, "convolved", [x, weight], bias, &plan)
}

/// Transposed convolution. For each element of `x`, the convolution kernel `weight` times this element is added to a
/// window of the result; the bias is added to each element of the result.
#[allow(clippy::too_many_arguments)] // the op table fixes the parameters
pub fn conv_transpose(
    on: OpContext<'_>,
    x: &RawArray,
    weight: &RawArray,
    bias: Option<&RawArray>,
    stride: Option<Lengths>,
    padding: Option<Lengths>,
    output_padding: Option<Lengths>,
    dilation: Option<Lengths>,
    groups: usize,
) -> Result<RawArray> {
    let OpContext { op, dtype, .. } = on;
    let steps = WindowSteps { stride, padding, dilation };
    let (bias_shape, size) = (bias.map(|bias| &bias.shape[..]), dtype.size());
    let plan =
        rules::transposed_convolution(op, &x.shape, &weight.shape, bias_shape, &steps, output_padding, groups, size)?;
    run(on, "spread", [x, weight], bias, &plan)
}

fn run(
    on: OpContext<'_>,
    kernel: &'static str,
    [x, weight]: [&RawArray; 2],
    bias: Option<&RawArray>,
    plan: &rules::Convolution,
) -> Result<RawArray> {
    let OpContext { backend: b, op, dtype, .. } = on;
    on.require(&[x, weight, bias.unwrap_or(x)])?;
    let (x, weight) = (contiguous(b, op, x)?, contiguous(b, op, weight)?);
    let bias = bias.map(|bias| contiguous(b, op, bias)).transpose()?;
    let out = b.uninit_raw(op, dtype, &plan.shape)?;
    if out.size() > 0 {
        let kernel = b.kernel(op, &PROGRAM, Instance::new(kernel, "", &[dtype]))?;
        let convolution = Convolution::new(plan, bias.is_some());
        let (to, from, weight) = (out.pointer(), x.pointer(), weight.pointer());
        // without a bias, any valid pointer can be passed, because the kernel does not read it
        let bias = bias.as_ref().map_or(weight, RawArray::pointer);
        let grid = Grid::over(convolution.n as usize);
        // SAFETY: the arguments match the parameters of the kernel, and the arrays have the sizes in the plan.
        unsafe { b.launch(op, kernel, grid, &[&to, &from, &weight, &bias, &convolution])? };
    }
    Ok(out)
}

/// The largest element of each window.
pub fn max_pool(
    on: OpContext<'_>,
    x: &RawArray,
    kernel: &[usize],
    stride: Option<Lengths>,
    padding: Option<Lengths>,
    dilation: Option<Lengths>,
) -> Result<RawArray> {
    pool(on, x, kernel, &WindowSteps { stride, padding, dilation }, POOLS[0])
}

/// The mean of each window.
pub fn avg_pool(
    on: OpContext<'_>,
    x: &RawArray,
    kernel: &[usize],
    stride: Option<Lengths>,
    padding: Option<Lengths>,
    count_include_pad: bool,
) -> Result<RawArray> {
    let steps = WindowSteps { stride, padding, dilation: None };
    pool(on, x, kernel, &steps, if count_include_pad { POOLS[1] } else { POOLS[2] })
}

fn pool(
    on: OpContext<'_>,
    x: &RawArray,
    taps: &[usize],
    steps: &WindowSteps,
    reduce: &'static str,
) -> Result<RawArray> {
    let OpContext { backend: b, op, .. } = on;
    let plan = rules::pool(op, &x.shape, taps, steps, x.dtype.size())?;
    let x = contiguous(b, op, x)?;
    let out = b.uninit_raw(op, x.dtype, &plan.shape)?;
    if out.size() > 0 {
        let kernel = b.kernel(op, &PROGRAM, Instance::new("pooled", reduce, &[x.dtype]))?;
        let convolution = Convolution::new(&plan, false);
        let grid = Grid::over(convolution.n as usize);
        // SAFETY: the arguments match the parameters of the kernel, and the arrays have the sizes in the plan.
        unsafe { b.launch(op, kernel, grid, &[&out.pointer(), &x.pointer(), &convolution])? };
    }
    Ok(out)
}
