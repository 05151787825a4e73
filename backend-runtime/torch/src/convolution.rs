//! Convolutions and pooling by libtorch. Integers, which libtorch does not support, are computed on the CPU by the
//! loops of [`Numpyish`](backend_core::numpyish::Numpyish).

use super::{
    call::{OpContext, Schema, args},
    hosted::{hosted, placed},
    ops,
    strategy::DtypeStrategy,
    tensor::{Number, Tensor},
};
use backend_core::{
    DType, DTypeKind, Lengths, Result,
    raw::RawElement,
    rules::{self, Convolution, WindowSteps},
};
use backend_numpyish::convolution as loops;

/// Strides, paddings and dilations of the array's spatial axes.
fn numbers(plan: &Convolution) -> [Vec<usize>; 3] {
    [plan.each(|axis| axis.stride), plan.each(|axis| axis.padding), plan.each(|axis| axis.dilation)]
}

fn is_integer(dtype: DType) -> bool {
    !matches!(dtype.kind(), DTypeKind::Real | DTypeKind::Complex)
}

/// Convolution. Each element of the result is the sum of products of a window of `x` and the convolution kernel
/// `weight`, plus the bias.
#[allow(clippy::too_many_arguments)] // the op table fixes the parameters
pub fn conv(
    on: OpContext<'_>,
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    stride: Option<Lengths>,
    padding: Option<Lengths>,
    dilation: Option<Lengths>,
    groups: usize,
) -> Result<Tensor> {
    let steps = WindowSteps { stride, padding, dilation };
    let bias_shape = bias.map(|bias| bias.shape());
    let plan = rules::convolution(on.op, x.shape(), weight.shape(), bias_shape, &steps, groups, on.dtype.size())?;
    if plan.batch == 0 {
        return on.full(&plan.shape, RawElement::zero(on.dtype));
    }
    if is_integer(on.dtype) {
        on.require_numbers()?;
        let (x, weight) = (hosted(on, x)?, hosted(on, weight)?);
        let bias = bias.map(|bias| hosted(on, bias)).transpose()?;
        let bias = bias.as_ref().map(|bias| bias.view());
        return placed(on, loops::conv_of(x.view(), weight.view(), bias, &steps, groups));
    }
    let via = DtypeStrategy::Float32;
    let (x, weight) = (on.enter(via, x)?, on.enter(via, weight)?);
    let bias = bias.map(|bias| on.enter(via, bias)).transpose()?;
    let [stride, padding, dilation] = numbers(&plan);
    let schema = [&ops::CONV1D, &ops::CONV2D, &ops::CONV3D][plan.rank - 1];
    let arguments = args![&x, &weight, bias.as_ref(), &stride[..], &padding[..], &dilation[..], groups];
    on.leave(via, on.call(schema, arguments)?)
}

/// Transposed convolution. For each element of `x`, the convolution kernel `weight` times this element is added to a
/// window of the result; the bias is added to each element of the result.
#[allow(clippy::too_many_arguments)] // the op table fixes the parameters
pub fn conv_transpose(
    on: OpContext<'_>,
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    stride: Option<Lengths>,
    padding: Option<Lengths>,
    output_padding: Option<Lengths>,
    dilation: Option<Lengths>,
    groups: usize,
) -> Result<Tensor> {
    let steps = WindowSteps { stride, padding, dilation };
    let (bias_shape, size) = (bias.map(|bias| bias.shape()), on.dtype.size());
    let plan = rules::transposed_convolution(
        on.op,
        x.shape(),
        weight.shape(),
        bias_shape,
        &steps,
        output_padding,
        groups,
        size,
    )?;
    if plan.batch == 0 {
        return on.full(&plan.shape, RawElement::zero(on.dtype));
    }
    if is_integer(on.dtype) {
        on.require_numbers()?;
        let (x, weight) = (hosted(on, x)?, hosted(on, weight)?);
        let bias = bias.map(|bias| hosted(on, bias)).transpose()?;
        let bias = bias.as_ref().map(|bias| bias.view());
        return placed(on, loops::conv_transpose_of(x.view(), weight.view(), bias, &steps, output_padding, groups));
    }
    let via = DtypeStrategy::Float32;
    let (x, weight) = (on.enter(via, x)?, on.enter(via, weight)?);
    let bias = bias.map(|bias| on.enter(via, bias)).transpose()?;
    let [stride, padding, dilation] = numbers(&plan);
    let further: Vec<usize> = plan.axes[rules::MAX_SPATIAL_AXES - plan.rank..]
        .iter()
        .map(|a| a.len + 2 * a.padding - (a.windows - 1) * a.stride - (a.taps - 1) * a.dilation - 1)
        .collect();
    let schema = [&ops::CONV_TRANSPOSE1D, &ops::CONV_TRANSPOSE2D, &ops::CONV_TRANSPOSE3D][plan.rank - 1];
    let arguments = args![&x, &weight, bias.as_ref(), &stride[..], &padding[..], &further[..], groups, &dilation[..]];
    on.leave(via, on.call(schema, arguments)?)
}

/// The largest element of each window.
pub fn max_pool(
    on: OpContext<'_>,
    x: &Tensor,
    kernel: &[usize],
    stride: Option<Lengths>,
    padding: Option<Lengths>,
    dilation: Option<Lengths>,
) -> Result<Tensor> {
    let plan = rules::pool(on.op, x.shape(), kernel, &WindowSteps { stride, padding, dilation }, on.dtype.size())?;
    let schema = [&ops::MAX_POOL1D, &ops::MAX_POOL2D, &ops::MAX_POOL3D][plan.rank - 1];
    pooled(on, x, &plan, |x| {
        let ([stride, padding, dilation], taps) = (numbers(&plan), plan.each(|axis| axis.taps));
        on.call(schema, args![x, &taps[..], &stride[..], &padding[..], &dilation[..], false])
    })
}

/// The mean of each window.
pub fn avg_pool(
    on: OpContext<'_>,
    x: &Tensor,
    kernel: &[usize],
    stride: Option<Lengths>,
    padding: Option<Lengths>,
    count_include_pad: bool,
) -> Result<Tensor> {
    let steps = WindowSteps { stride, padding, dilation: None };
    let plan = rules::pool(on.op, x.shape(), kernel, &steps, on.dtype.size())?;
    let schemas: [&Schema; 3] = [&ops::AVG_POOL1D, &ops::AVG_POOL2D, &ops::AVG_POOL3D];
    pooled(on, x, &plan, |x| {
        let ([stride, padding, _], taps) = (numbers(&plan), plan.each(|axis| axis.taps));
        if plan.rank == 3 && plan.axes.iter().any(|axis| axis.len < axis.taps) {
            return mean_of_padded(on, x, &plan, count_include_pad);
        }
        let arguments = args![x, &taps[..], &stride[..], &padding[..], false, count_include_pad];
        on.call(schemas[plan.rank - 1], arguments)
    })
}

/// The mean of each window of a 3-D pool whose window is longer than the array. libtorch refuses such a pool for any
/// padding, so the padding is made explicit here.
fn mean_of_padded(on: OpContext<'_>, x: &Tensor, plan: &Convolution, count_include_pad: bool) -> Result<Tensor> {
    let ([stride, padding, _], taps) = (numbers(plan), plan.each(|axis| axis.taps));
    let around: Vec<usize> = padding.iter().rev().flat_map(|&n| [n, n]).collect();
    let sums = |x: &Tensor| {
        let padded = on.call(&ops::CONSTANT_PAD, args![x, &around[..], Number::of(0.0_f64)])?;
        let arguments = args![&padded, &taps[..], &stride[..], &[0_usize; 3][..], false, true, 1_i64];
        on.call(&ops::AVG_POOL3D, arguments)
    };
    // the counts have the dtype in which the pooling computes
    let full = |shape: &[usize], value: f64| match on.dtype {
        DType::Float64 => on.full(shape, RawElement::of(value)),
        _ => on.full(shape, RawElement::of(value as f32)),
    };
    let counts = match count_include_pad {
        true => full(&[1], taps.iter().product::<usize>() as f64)?,
        false => sums(&full(&[&[1, 1], &plan.each(|axis| axis.len)[..]].concat(), 1.0)?)?,
    };
    on.call(&ops::DIV, args![&sums(x)?, &counts])
}

/// Runs one of libtorch's pooling ops; returns zeros without a call if the batch is empty.
fn pooled(
    on: OpContext<'_>,
    x: &Tensor,
    plan: &Convolution,
    run: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    if plan.batch == 0 {
        return on.full(&plan.shape, RawElement::zero(on.dtype));
    }
    let via = DtypeStrategy::Float32;
    on.leave(via, run(&on.enter(via, x)?)?)
}
