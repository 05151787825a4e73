//! Convolutions with channels, and pooling. The kernel slides over the input; each position of the kernel is a window,
//! and each element of the kernel is a tap.
//!
//! If a group has many channels, its convolution is computed as the product of two matrices: the kernel, and a matrix
//! of the elements that each tap meets in each window. This matrix is made for one block of results at a time, so that
//! it stays in the cache. Convolutions of few channels and convolutions of integers are summed tap by tap.

#![allow(clippy::needless_range_loop, reason = "axes in lockstep: a counter says which")]

mod direct;
mod pool;
mod product;

pub use pool::{avg_pool, max_pool};

use super::{
    OpContext,
    buffer::Buffer,
    convert::computed_in,
    copy::{self, Packed},
    linalg::convert_all,
    raw::{RawArray, View},
};
use backend_core::{
    DType, DTypeKind, Lengths, Numeric, Result, dispatch,
    dtype::Arithmetic,
    rules::{self, Convolution, WindowSteps},
};

/// Computes a convolution: each result is the sum of the products of the kernel's elements and the elements of `x`
/// under them.
#[allow(clippy::too_many_arguments)] // the arguments of the op
pub fn conv(
    _: OpContext<'_>,
    x: View<'_>,
    weight: View<'_>,
    bias: Option<View<'_>>,
    stride: Option<Lengths>,
    padding: Option<Lengths>,
    dilation: Option<Lengths>,
    groups: usize,
) -> Result<RawArray> {
    conv_of(x, weight, bias, &WindowSteps { stride, padding, dilation }, groups)
}

/// Like `conv`, for arrays whose dtype is known only at run time.
pub fn conv_of(
    x: View<'_>,
    weight: View<'_>,
    bias: Option<View<'_>>,
    steps: &WindowSteps,
    groups: usize,
) -> Result<RawArray> {
    const OP: &str = "conv";
    let bias_shape = bias.map(|bias| bias.shape);
    let plan = rules::convolution(OP, x.shape, weight.shape, bias_shape, steps, groups, x.dtype.size())?;
    run(OP, x, weight, bias, plan, |terms| {
        let integers = !matches!(terms.dtype.kind(), DTypeKind::Real | DTypeKind::Complex);
        if integers || terms.plan.outputs < FEW_CHANNELS {
            dispatch_bits!(terms.dtype, T => direct::convolved::<T>(terms))
        } else {
            dispatch!(terms.dtype, T: [Float32, Float64, Complex64, Complex128] => product::convolved::<T>(OP, terms))
        }
    })
}

/// Computes a transposed convolution: each element of `x` is multiplied by the whole kernel, and the products are added
/// to the results that the kernel covers at the position of the element.
#[allow(clippy::too_many_arguments)] // the arguments of the op
pub fn conv_transpose(
    _: OpContext<'_>,
    x: View<'_>,
    weight: View<'_>,
    bias: Option<View<'_>>,
    stride: Option<Lengths>,
    padding: Option<Lengths>,
    output_padding: Option<Lengths>,
    dilation: Option<Lengths>,
    groups: usize,
) -> Result<RawArray> {
    conv_transpose_of(x, weight, bias, &WindowSteps { stride, padding, dilation }, output_padding, groups)
}

/// Like `conv_transpose`, for arrays whose dtype is known only at run time.
pub fn conv_transpose_of(
    x: View<'_>,
    weight: View<'_>,
    bias: Option<View<'_>>,
    steps: &WindowSteps,
    output_padding: Option<Lengths>,
    groups: usize,
) -> Result<RawArray> {
    const OP: &str = "conv_transpose";
    let (bias_shape, size) = (bias.map(|bias| bias.shape), x.dtype.size());
    let plan =
        rules::transposed_convolution(OP, x.shape, weight.shape, bias_shape, steps, output_padding, groups, size)?;
    run(OP, x, weight, bias, plan, |terms| {
        let integers = !matches!(terms.dtype.kind(), DTypeKind::Real | DTypeKind::Complex);
        if integers || terms.plan.inputs < FEW_CHANNELS {
            dispatch_bits!(terms.dtype, T => direct::transposed::<T>(terms))
        } else {
            dispatch!(terms.dtype, T: [Float32, Float64, Complex64, Complex128] => product::transposed::<T>(OP, terms))
        }
    })
}

/// Minimum number of output channels of a group for which a convolution is computed as a matrix product; for a
/// transposed convolution, of input channels. With fewer channels, copying elements into a matrix takes longer than the
/// product saves.
const FEW_CHANNELS: usize = 4;

/// Evaluates `$body` with `$t` bound to the type of a dtype. A signed and an unsigned integer dtype of the same size
/// share a type, because their sums of products have the same bits.
macro_rules! dispatch_bits {
    ($dtype:expr, $t:ident => $body:expr) => {
        match $dtype.arithmetic() {
            Arithmetic::UInt8 => {
                type $t = u8;
                $body
            }
            Arithmetic::UInt16 => {
                type $t = u16;
                $body
            }
            Arithmetic::UInt32 => {
                type $t = u32;
                $body
            }
            Arithmetic::UInt64 => {
                type $t = u64;
                $body
            }
            Arithmetic::Float16 | Arithmetic::BFloat16 | Arithmetic::Float32 => {
                type $t = f32;
                $body
            }
            Arithmetic::Float64 => {
                type $t = f64;
                $body
            }
            Arithmetic::Complex64 => {
                type $t = backend_core::Complex<f32>;
                $body
            }
            Arithmetic::Complex128 => {
                type $t = backend_core::Complex<f64>;
                $body
            }
        }
    };
}
use dispatch_bits;

/// The plan of a convolution, the addresses of its operands (in C order), and the address `to` of its result.
struct Terms<'a> {
    plan: &'a Convolution,
    dtype: DType,
    x: *const u8,
    weight: *const u8,
    /// Address of the bias; null if there is no bias.
    bias: *const u8,
    to: *mut u8,
}

// SAFETY: the operands are only read, and each thread writes its own results.
unsafe impl Sync for Terms<'_> {}

impl Terms<'_> {
    /// Returns the value to which products for a channel of the result are added: the channel's bias, or 0.
    ///
    /// # Safety
    /// `T` must be the type of the dtype, and `channel` must be a channel of the result.
    unsafe fn first<T: Numeric>(&self, channel: usize) -> T {
        // SAFETY: the caller guarantees the type and the channel.
        if self.bias.is_null() { T::ZERO } else { unsafe { *self.bias.cast::<T>().add(channel) } }
    }
}

/// Runs a convolution. It computes in the dtype that [`computed_in`] returns (float32 for 16-bit floats), and converts
/// the result back.
fn run(
    op: &'static str,
    x: View<'_>,
    weight: View<'_>,
    bias: Option<View<'_>>,
    plan: Convolution,
    compute: impl FnOnce(&Terms<'_>) -> Result<()>,
) -> Result<RawArray> {
    let (n, dtype) = (rules::count(op, &plan.shape, x.dtype.size())?, computed_in(x.dtype));
    let out = Buffer::new(op, n, dtype)?;
    if n > 0 {
        let (x, weight) = (in_dtype(op, x, dtype)?, in_dtype(op, weight, dtype)?);
        let bias = bias.map(|bias| in_dtype(op, bias, dtype)).transpose()?;
        let bias = bias.as_ref().map_or(std::ptr::null(), Packed::start);
        compute(&Terms { plan: &plan, dtype, x: x.start(), weight: weight.start(), bias, to: out.start() })?;
    }
    finished(op, plan.shape, out, x.dtype)
}

/// Returns the elements of `x` in C order, converted to `to`, the dtype in which results are computed.
fn in_dtype<'a>(op: &'static str, x: View<'a>, to: DType) -> Result<Packed<'a>> {
    if x.dtype == to {
        return copy::pack(op, x);
    }
    let from = copy::to_buffer(op, x)?;
    let wide = Buffer::new(op, from.len(), to)?;
    // SAFETY: both buffers have the same number of elements, and all elements of `from` have been written.
    unsafe { convert_all(&from, &wide) };
    Ok(Packed::Owned(wide))
}

/// Converts the results to an array of dtype `dtype`. All elements of `out` must have been written.
fn finished(op: &'static str, shape: Vec<usize>, out: Buffer, dtype: DType) -> Result<RawArray> {
    let out = if out.dtype() == dtype {
        out
    } else {
        let narrow = Buffer::new(op, out.len(), dtype)?;
        // SAFETY: both buffers have the same number of elements, and all elements of `out` have been written.
        unsafe { convert_all(&out, &narrow) };
        narrow
    };
    // SAFETY: every element has been written.
    unsafe { RawArray::new(op, shape, out) }
}

/// The ops over arrays with a static dtype, for tests.
#[cfg(test)]
#[allow(clippy::too_many_arguments)] // the arguments of the ops
mod typed {
    use crate::convolution;
    use backend_core::{
        Lengths, Numeric, Result,
        numpyish::{NdArray, Numpyish, OpContext, raw::view, typed::typed},
    };

    backend_core::typed_ops! { convolution:
        max_pool<T: Real>(
            x; kernel: &[usize], stride: Option<Lengths>, padding: Option<Lengths>, dilation: Option<Lengths>
        ) -> T;
        avg_pool<T: Real>(
            x; kernel: &[usize], stride: Option<Lengths>, padding: Option<Lengths>, count_include_pad: bool
        ) -> T;
    }

    pub fn conv<T: Numeric>(
        b: &Numpyish,
        x: &NdArray<T>,
        weight: &NdArray<T>,
        bias: Option<&NdArray<T>>,
        stride: Option<Lengths>,
        padding: Option<Lengths>,
        dilation: Option<Lengths>,
        groups: usize,
    ) -> Result<NdArray<T>> {
        let on = OpContext::new(b, "conv", T::DTYPE);
        typed(convolution::conv(on, view(x), view(weight), bias.map(view), stride, padding, dilation, groups))
    }

    pub fn conv_transpose<T: Numeric>(
        b: &Numpyish,
        x: &NdArray<T>,
        weight: &NdArray<T>,
        bias: Option<&NdArray<T>>,
        stride: Option<Lengths>,
        padding: Option<Lengths>,
        output_padding: Option<Lengths>,
        dilation: Option<Lengths>,
        groups: usize,
    ) -> Result<NdArray<T>> {
        let on = OpContext::new(b, "conv_transpose", T::DTYPE);
        let (x, weight, bias) = (view(x), view(weight), bias.map(view));
        typed(convolution::conv_transpose(on, x, weight, bias, stride, padding, output_padding, dilation, groups))
    }
}

#[cfg(test)]
mod tests;
