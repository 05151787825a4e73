//! Calls of burn on its backend Flex. Calls take tensors by value; cloning a tensor does not copy its elements.

use crate::{
    arrays::{Arrays, Layout},
    call::{Call, Total, made},
};
use burn_tensor::{
    Bool, DType, Device, Distribution, Element, IndexingUpdateOp, Int, IntDType, Slice, Tensor, TensorCreationOptions,
    TensorData, activation, kind::Basic, module, ops,
};
use half::f16;

impl<const D: usize, K: Basic> Total for Tensor<D, K> {
    fn total(&self) -> f64 {
        self.to_data().iter::<f64>().sum()
    }
}

/// Creates a tensor from a named array; `None` if the array has another number of axes or another kind of elements.
trait Named: Sized {
    fn named(arrays: &Arrays, name: &str) -> Option<Self>;
}

impl<const D: usize> Named for Tensor<D> {
    fn named(arrays: &Arrays, name: &str) -> Option<Self> {
        of::<f64, D, _>(arrays, name)
            .or_else(|| of::<f32, D, _>(arrays, name))
            .or_else(|| of::<f16, D, _>(arrays, name))
    }
}

impl<const D: usize> Named for Tensor<D, Int> {
    fn named(arrays: &Arrays, name: &str) -> Option<Self> {
        of::<i64, D, _>(arrays, name).or_else(|| of::<u8, D, _>(arrays, name))
    }
}

impl<const D: usize> Named for Tensor<D, Bool> {
    fn named(arrays: &Arrays, name: &str) -> Option<Self> {
        of::<bool, D, _>(arrays, name)
    }
}

fn of<T: Element, const D: usize, K: Basic>(arrays: &Arrays, name: &str) -> Option<Tensor<D, K>> {
    let (elements, dims, layout) = arrays.get::<T>(name)?;
    let last = dims.len() - 1;
    if dims.len() != D {
        return None;
    }
    let options = TensorCreationOptions::from((&Device::default(), T::dtype()));
    let tensor = Tensor::from_data(TensorData::new(elements, dims), options);
    Some(match layout {
        Layout::C => tensor,
        Layout::Transposed => tensor.transpose(),
        Layout::Step(step) => tensor.slice_dim(last, Slice::new(0, None, step as isize)),
    })
}

/// Makes a call on named tensors; `None` if a tensor is missing or of another type.
macro_rules! with {
    ($arrays:ident, |$($x:ident: $t:ty),*| $result:expr) => {{
        $(let $x = <$t>::named($arrays, stringify!($x))?;)*
        made(move || {
            $(let $x = $x.clone();)*
            $result
        })
    }};
}

type F1 = Tensor<1>;
type F2 = Tensor<2>;
type F3 = Tensor<3>;
type F4 = Tensor<4>;
type I1 = Tensor<1, Int>;
type I2 = Tensor<2, Int>;
type B1 = Tensor<1, Bool>;

pub fn call(text: &str, arrays: &Arrays) -> Option<Call> {
    elementwise(text, arrays)
        .or_else(|| formulas(text, arrays))
        .or_else(|| layouts(text, arrays))
        .or_else(|| reductions(text, arrays))
        .or_else(|| products(text, arrays))
        .or_else(|| moved(text, arrays))
        .or_else(|| integers(text, arrays))
        .or_else(|| of_networks(text, arrays))
}

fn elementwise(text: &str, arrays: &Arrays) -> Option<Call> {
    match text {
        "add(x, y)" => with!(arrays, |x: F1, y: F1| x + y),
        "subtract(x, y)" => with!(arrays, |x: F1, y: F1| x - y),
        "multiply(x, y)" => with!(arrays, |x: F1, y: F1| x * y),
        "divide(x, y)" => with!(arrays, |x: F1, y: F1| x / y),
        "less(x, y)" => with!(arrays, |x: F1, y: F1| x.lower(y)),
        "pow(x, y)" => with!(arrays, |x: F1, y: F1| x.powf(y)),
        "multiply(x, 2.5)" => with!(arrays, |x: F1| x * 2.5),
        "clip(x, 0.2, 0.8)" => with!(arrays, |x: F1| x.clamp(0.2, 0.8)),
        "greater(x, 0.5)" => with!(arrays, |x: F1| x.greater_elem(0.5)),
        "where(b, x, y)" => with!(arrays, |b: B1, x: F1, y: F1| y.mask_where(b, x)),
        "astype(x, dtype=int64)" => with!(arrays, |x: F1| x.cast(IntDType::I64)),
        "abs(x)" => with!(arrays, |x: F1| x.abs()),
        "acos(x)" => with!(arrays, |x: F1| x.acos()),
        "acosh(p)" => with!(arrays, |p: F1| p.acosh()),
        "asin(x)" => with!(arrays, |x: F1| x.asin()),
        "asinh(x)" => with!(arrays, |x: F1| x.asinh()),
        "atan(x)" => with!(arrays, |x: F1| x.atan()),
        "atan2(x, y)" => with!(arrays, |x: F1, y: F1| x.atan2(y)),
        "atanh(x)" => with!(arrays, |x: F1| x.atanh()),
        "ceil(x)" => with!(arrays, |x: F1| x.ceil()),
        "cos(x)" => with!(arrays, |x: F1| x.cos()),
        "cosh(x)" => with!(arrays, |x: F1| x.cosh()),
        "erf(x)" => with!(arrays, |x: F1| x.erf()),
        "exp(x)" => with!(arrays, |x: F1| x.exp()),
        "floor(x)" => with!(arrays, |x: F1| x.floor()),
        "hypot(x, y)" => with!(arrays, |x: F1, y: F1| x.hypot(y)),
        "isfinite(x)" => with!(arrays, |x: F1| x.is_finite()),
        "isinf(x)" => with!(arrays, |x: F1| x.is_inf()),
        "isnan(x)" => with!(arrays, |x: F1| x.is_nan()),
        "log(x)" => with!(arrays, |x: F1| x.log()),
        "log1p(x)" => with!(arrays, |x: F1| x.log1p()),
        "negative(x)" => with!(arrays, |x: F1| -x),
        "rad2deg(x)" => with!(arrays, |x: F1| x.rad2deg()),
        "deg2rad(x)" => with!(arrays, |x: F1| x.deg2rad()),
        "reciprocal(x)" => with!(arrays, |x: F1| x.recip()),
        "sign(x)" => with!(arrays, |x: F1| x.sign()),
        "sin(x)" => with!(arrays, |x: F1| x.sin()),
        "sinh(x)" => with!(arrays, |x: F1| x.sinh()),
        "sqrt(x)" => with!(arrays, |x: F1| x.sqrt()),
        "square(x)" => with!(arrays, |x: F1| x.square()),
        "tan(x)" => with!(arrays, |x: F1| x.tan()),
        "tanh(x)" => with!(arrays, |x: F1| x.tanh()),
        _ => None,
    }
}

fn formulas(text: &str, arrays: &Arrays) -> Option<Call> {
    let (mu, s, a) = (0.3, 1.5, 1e-9);
    match text {
        "= (x + y) * x - y" => with!(arrays, |x: F1, y: F1| (x.clone() + y.clone()) * x - y),
        "= 0.5 * exp(-(x - mu)**2 / (2 s s)) + y" => {
            with!(arrays, |x: F1, y: F1| (-(x - mu).square() / (2.0 * s * s)).exp() * 0.5 + y)
        }
        "= x + a * y" => with!(arrays, |x: F1, y: F1| x + y * a),
        "= m * row + column" => with!(arrays, |m: F2, row: F2, column: F2| m * row + column),
        _ => None,
    }
}

fn layouts(text: &str, arrays: &Arrays) -> Option<Call> {
    match text {
        "add(m, row)" => with!(arrays, |m: F2, row: F2| m + row),
        "add(m, column)" => with!(arrays, |m: F2, column: F2| m + column),
        "add(row, column)" => with!(arrays, |row: F2, column: F2| row + column),
        "add(m, t)" => with!(arrays, |m: F2, t: F2| m + t),
        "add(s, s)" => with!(arrays, |s: F2| s.clone() + s),
        "add(t, t)" => with!(arrays, |t: F2| t.clone() + t),
        "exp(s)" => with!(arrays, |s: F2| s.exp()),
        "sum(s, 1)" => with!(arrays, |s: F2| s.sum_dim(1)),
        "sum(t, 1)" => with!(arrays, |t: F2| t.sum_dim(1)),
        "roll(v, 7)" => with!(arrays, |v: F1| v.roll_dim(7, 0)),
        _ => None,
    }
}

/// The standard deviation, with the number of elements as divisor.
fn std<const D: usize>(x: Tensor<D>, axis: usize) -> Tensor<D> {
    x.var_bias(axis).sqrt()
}

fn reductions(text: &str, arrays: &Arrays) -> Option<Call> {
    match text {
        "sum(x, ..)" | "sum(x)" => with!(arrays, |x: F1| x.sum()),
        "max(x, ..)" => with!(arrays, |x: F1| x.max()),
        "cumulative_sum(x)" => with!(arrays, |x: F1| x.cumsum(0)),
        "mean(a2, ..)" => with!(arrays, |a2: F2| a2.mean()),
        "std(a2, ..)" => with!(arrays, |a2: F2| std(a2.flatten::<1>(0, 1), 0)),
        "argmax(a2)" => with!(arrays, |a2: F2| a2.flatten::<1>(0, 1).argmax(0)),
        "sum(a2, 0)" => with!(arrays, |a2: F2| a2.sum_dim(0)),
        "mean(a2, 0)" => with!(arrays, |a2: F2| a2.mean_dim(0)),
        "std(a2, 0)" => with!(arrays, |a2: F2| std(a2, 0)),
        "max(a2, 0)" => with!(arrays, |a2: F2| a2.max_dim(0)),
        "argmax(a2, 0)" => with!(arrays, |a2: F2| a2.argmax(0)),
        "cumulative_sum(a2, axis=0)" => with!(arrays, |a2: F2| a2.cumsum(0)),
        "sum(a2, 1)" => with!(arrays, |a2: F2| a2.sum_dim(1)),
        "mean(a2, 1)" => with!(arrays, |a2: F2| a2.mean_dim(1)),
        "std(a2, 1)" => with!(arrays, |a2: F2| std(a2, 1)),
        "max(a2, 1)" => with!(arrays, |a2: F2| a2.max_dim(1)),
        "argmax(a2, 1)" => with!(arrays, |a2: F2| a2.argmax(1)),
        "cumulative_sum(a2, axis=1)" => with!(arrays, |a2: F2| a2.cumsum(1)),
        "sum(m, 1)" => with!(arrays, |m: F2| m.sum_dim(1)),
        "max(m, 1)" => with!(arrays, |m: F2| m.max_dim(1)),
        "argmin(m, 1)" => with!(arrays, |m: F2| m.argmin(1)),
        "add(m, row)" => with!(arrays, |m: F2, row: F1| m + row.unsqueeze()),
        "std(m, 1)" => with!(arrays, |m: F2| std(m, 1)),
        "cumulative_sum(m, axis=1)" => with!(arrays, |m: F2| m.cumsum(1)),
        "vecdot(m, r)" | "einsum('ij,ij->i', [m, r])" => with!(arrays, |m: F2, r: F2| (m * r).sum_dim(1)),
        _ => None,
    }
}

fn products(text: &str, arrays: &Arrays) -> Option<Call> {
    match text {
        "matmul(l, r)" => with!(arrays, |l: F2, r: F2| l.matmul(r)),
        "matmul(many_l, many_r)" => with!(arrays, |many_l: F3, many_r: F3| many_l.matmul(many_r)),
        "einsum('bij,bkj->bik', [many_l, many_r])" => {
            with!(arrays, |many_l: F3, many_r: F3| many_l.matmul(many_r.transpose()))
        }
        "matmul(l, x)" => with!(arrays, |l: F2, x: F1| l.matmul(x.unsqueeze_dim::<2>(1))),
        "outer(x, y)" => with!(arrays, |x: F1, y: F1| x.unsqueeze_dim::<2>(1) * y.unsqueeze_dim::<2>(0)),
        "matmul(a, c)" | "einsum('ij,jk->ik', [a, c])" => with!(arrays, |a: F2, c: F2| a.matmul(c)),
        "inner(x, y)" => with!(arrays, |x: F1, y: F1| x.dot(y)),
        "matrix_power(a, 5)" => with!(arrays, |a: F2| {
            let square = a.clone().matmul(a.clone());
            square.clone().matmul(square).matmul(a)
        }),
        "cross(n3, n3)" => with!(arrays, |n3: F2| n3.clone().cross(n3, 1)),
        _ => None,
    }
}

/// Copies, sorting, indexing and random numbers, for floats; the calls for integers follow below.
fn moved(text: &str, arrays: &Arrays) -> Option<Call> {
    let random = |of: Distribution, dtype: DType| {
        made(move || Tensor::<1>::random([1_000_000], of, (&Device::default(), dtype)))
    };
    let (uniform, normal) = (Distribution::Uniform(0.0, 1.0), Distribution::Normal(0.0, 1.0));
    match text {
        "random_uniform([1000000], dtype=float32)" => random(uniform, DType::F32),
        "random_uniform([1000000], dtype=float64)" => random(uniform, DType::F64),
        "random_normal([1000000], dtype=float32)" => random(normal, DType::F32),
        "random_normal([1000000], dtype=float64)" => random(normal, DType::F64),
        "sort(x)" => with!(arrays, |x: F1| x.sort(0)),
        "sort(m)" => with!(arrays, |m: F2| m.sort(1)),
        "argsort(x)" => with!(arrays, |x: F1| x.argsort(0)),
        "take(x, i)" => with!(arrays, |x: F1, i: I1| x.select(0, i)),
        "boolean_mask(x, b)" => with!(arrays, |x: F1, b: B1| x.mask_select(b)),
        "scatter_add(x, i, y, 0)" => {
            with!(arrays, |x: F1, i: I1, y: F1| x.select_assign(0, i, y, IndexingUpdateOp::Add))
        }
        "concat([m, r], axis=0)" => with!(arrays, |m: F2, r: F2| Tensor::cat(vec![m, r], 0)),
        "concat([m, r], axis=1)" => with!(arrays, |m: F2, r: F2| Tensor::cat(vec![m, r], 1)),
        "tile(m, [2, 2])" => with!(arrays, |m: F2| m.repeat(&[2, 2])),
        "pad(m, [[5, 5], [5, 5]])" => with!(arrays, |m: F2| m.pad((5, 5, 5, 5), 0.0)),
        _ => None,
    }
}

fn integers(text: &str, arrays: &Arrays) -> Option<Call> {
    match text {
        "add(x, y)" => with!(arrays, |x: I1, y: I1| x + y),
        "multiply(x, y)" => with!(arrays, |x: I1, y: I1| x * y),
        "maximum(x, y)" => with!(arrays, |x: I1, y: I1| x.max_pair(y)),
        "equal(x, y)" => with!(arrays, |x: I1, y: I1| x.equal(y)),
        // no sum of bytes: burn sums in the dtype of the elements, which overflows
        "sum(x, ..)" if arrays.get::<u8>("x").is_none() => with!(arrays, |x: I1| x.sum()),
        "sort(x)" => with!(arrays, |x: I1| x.sort(0)),
        "argsort(x)" => with!(arrays, |x: I1| x.argsort(0)),
        "take(x, i)" => with!(arrays, |x: I1, i: I1| x.select(0, i)),
        "boolean_mask(x, b)" => with!(arrays, |x: I1, b: B1| x.mask_select(b)),
        "scatter_add(x, i, y, 0)" => {
            with!(arrays, |x: I1, i: I1, y: I1| x.select_assign(0, i, y, IndexingUpdateOp::Add))
        }
        "concat([m, r], axis=0)" => with!(arrays, |m: I2, r: I2| Tensor::cat(vec![m, r], 0)),
        "concat([m, r], axis=1)" => with!(arrays, |m: I2, r: I2| Tensor::cat(vec![m, r], 1)),
        "tile(m, [2, 2])" => with!(arrays, |m: I2| m.repeat(&[2, 2])),
        "pad(m, [[5, 5], [5, 5]])" => with!(arrays, |m: I2| m.pad((5, 5, 5, 5), 0)),
        "logical_and(x, y)" => with!(arrays, |x: B1, y: B1| x.bool_and(y)),
        "logical_not(x)" => with!(arrays, |x: B1| x.bool_not()),
        "any(x, ..)" => with!(arrays, |x: B1| x.any()),
        _ => None,
    }
}

fn of_networks(text: &str, arrays: &Arrays) -> Option<Call> {
    match text {
        "softmax(m, 1)" => with!(arrays, |m: F2| activation::softmax(m, 1)),
        "log_softmax(m, 1)" => with!(arrays, |m: F2| activation::log_softmax(m, 1)),
        "relu(x)" => with!(arrays, |x: F1| activation::relu(x)),
        "elu(x)" => with!(arrays, |x: F1| activation::elu(x, 1.0)),
        "gelu(x)" => with!(arrays, |x: F1| activation::gelu(x)),
        "gelu(h)" => with!(arrays, |h: F1| activation::gelu(h)),
        "silu(x)" => with!(arrays, |x: F1| activation::silu(x)),
        "mish(x)" => with!(arrays, |x: F1| activation::mish(x)),
        "selu(x)" => with!(arrays, |x: F1| activation::selu(x)),
        "softplus(x)" => with!(arrays, |x: F1| activation::softplus(x, 1.0)),
        "log_sigmoid(x)" => with!(arrays, |x: F1| activation::log_sigmoid(x)),
        "leaky_relu(x)" => with!(arrays, |x: F1| activation::leaky_relu(x, 0.01)),
        "hard_swish(x)" => with!(arrays, |x: F1| activation::hard_swish(x)),
        "conv(imgs, kernels, padding=[1, 1])" => with!(arrays, |imgs: F4, kernels: F4| {
            module::conv2d(imgs, kernels, None, ops::ConvOptions::new([1, 1], [1, 1], [1, 1], 1))
        }),
        "conv(imgs, depthwise, padding=[1, 1], groups=8)" => with!(arrays, |imgs: F4, depthwise: F4| {
            module::conv2d(imgs, depthwise, None, ops::ConvOptions::new([1, 1], [1, 1], [1, 1], 8))
        }),
        _ => None,
    }
}
