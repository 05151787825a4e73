//! The calls that candle makes in the comparison. The dtype of candle's tensors is known only at run time. So every
//! call compiles in every dtype, and a dtype that candle does not support gives an error when the call is first made.

use crate::{
    arrays::{Arrays, Layout},
    call::{Call, Total, made},
};
use candle_core::{DType, Device, Result, Tensor, WithDType};
use candle_nn::ops;
use half::f16;

impl Total for Tensor {
    fn total(&self) -> f64 {
        let elements = self.flatten_all().and_then(|x| x.to_dtype(DType::F64)).and_then(|x| x.to_vec1::<f64>());
        elements.map_or(f64::NAN, |x| x.total())
    }
}

/// Creates the tensor of this name. Bools are converted to bytes.
fn tensor(arrays: &Arrays, name: &str) -> Option<Tensor> {
    of::<f64>(arrays, name)
        .or_else(|| of::<f32>(arrays, name))
        .or_else(|| of::<f16>(arrays, name))
        .or_else(|| of::<i64>(arrays, name))
        .or_else(|| of::<u8>(arrays, name))
        .or_else(|| {
            let (elements, dims, _) = arrays.get::<bool>(name)?;
            Tensor::from_vec(elements.into_iter().map(u8::from).collect(), dims, &Device::Cpu).ok()
        })
}

fn of<T: WithDType>(arrays: &Arrays, name: &str) -> Option<Tensor> {
    let (elements, dims, layout) = arrays.get::<T>(name)?;
    let tensor = Tensor::from_vec(elements, dims.clone(), &Device::Cpu).ok()?;
    match layout {
        Layout::C => Some(tensor),
        Layout::Transposed => tensor.t().ok(),
        // candle has no views with a step; instead, this view takes the first element of each group of `step` elements
        Layout::Step(step) => {
            let (n, last) = (dims[0], dims[1]);
            tensor.reshape((n, last / step, step)).and_then(|x| x.narrow(2, 0, 1)?.squeeze(2)).ok()
        }
    }
}

/// Makes a call on named tensors; `None` if a tensor is missing or the call fails.
macro_rules! with {
    ($arrays:ident, |$($x:ident),*| $result:expr) => {{
        $(let $x = tensor($arrays, stringify!($x))?;)*
        tried(move || $result)
    }};
}

fn tried<R: Total>(make: impl Fn() -> Result<R> + 'static) -> Option<Call> {
    make().ok()?;
    made(move || make().expect("it was made before"))
}

pub fn call(text: &str, arrays: &Arrays) -> Option<Call> {
    elementwise(text, arrays)
        .or_else(|| layouts(text, arrays))
        .or_else(|| reductions(text, arrays))
        .or_else(|| products(text, arrays))
        .or_else(|| moved(text, arrays))
        .or_else(|| of_networks(text, arrays))
}

fn elementwise(text: &str, arrays: &Arrays) -> Option<Call> {
    let (mu, s, a) = (0.3, 1.5, 1e-9);
    match text {
        "add(x, y)" => with!(arrays, |x, y| &x + &y),
        "subtract(x, y)" => with!(arrays, |x, y| &x - &y),
        "multiply(x, y)" => with!(arrays, |x, y| &x * &y),
        "divide(x, y)" => with!(arrays, |x, y| &x / &y),
        "less(x, y)" => with!(arrays, |x, y| x.lt(&y)),
        "equal(x, y)" => with!(arrays, |x, y| x.eq(&y)),
        "maximum(x, y)" => with!(arrays, |x, y| x.maximum(&y)),
        "pow(x, y)" => with!(arrays, |x, y| x.pow(&y)),
        "multiply(x, 2.5)" => with!(arrays, |x| &x * 2.5),
        "clip(x, 0.2, 0.8)" => with!(arrays, |x| x.clamp(0.2, 0.8)),
        "greater(x, 0.5)" => with!(arrays, |x| x.gt(0.5)),
        "where(b, x, y)" => with!(arrays, |b, x, y| b.where_cond(&x, &y)),
        "astype(x, dtype=int64)" => with!(arrays, |x| x.to_dtype(DType::I64)),
        "copy(x)" => with!(arrays, |x| x.copy()),
        "abs(x)" => with!(arrays, |x| x.abs()),
        "ceil(x)" => with!(arrays, |x| x.ceil()),
        "cos(x)" => with!(arrays, |x| x.cos()),
        "erf(x)" => with!(arrays, |x| x.erf()),
        "exp(x)" => with!(arrays, |x| x.exp()),
        "floor(x)" => with!(arrays, |x| x.floor()),
        "log(x)" => with!(arrays, |x| x.log()),
        "negative(x)" => with!(arrays, |x| x.neg()),
        "reciprocal(x)" => with!(arrays, |x| x.recip()),
        "sign(x)" => with!(arrays, |x| x.sign()),
        "sin(x)" => with!(arrays, |x| x.sin()),
        "sqrt(x)" => with!(arrays, |x| x.sqrt()),
        "square(x)" => with!(arrays, |x| x.sqr()),
        "tanh(x)" => with!(arrays, |x| x.tanh()),
        "= (x + y) * x - y" => with!(arrays, |x, y| ((&x + &y)? * &x)? - &y),
        "= 0.5 * exp(-(x - mu)**2 / (2 s s)) + y" => {
            with!(arrays, |x, y| (0.5 * ((&x - mu)?.sqr()? * (-1.0 / (2.0 * s * s)))?.exp()?)? + &y)
        }
        "= x + a * y" => with!(arrays, |x, y| &x + (&y * a)?),
        "= m * row + column" => with!(arrays, |m, row, column| m.broadcast_mul(&row)?.broadcast_add(&column)),
        _ => None,
    }
}

fn layouts(text: &str, arrays: &Arrays) -> Option<Call> {
    match text {
        "add(m, row)" => with!(arrays, |m, row| m.broadcast_add(&row)),
        "add(m, column)" => with!(arrays, |m, column| m.broadcast_add(&column)),
        "add(row, column)" => with!(arrays, |row, column| row.broadcast_add(&column)),
        "add(m, t)" => with!(arrays, |m, t| &m + &t),
        "add(s, s)" => with!(arrays, |s| &s + &s),
        "add(t, t)" => with!(arrays, |t| &t + &t),
        "exp(s)" => with!(arrays, |s| s.exp()),
        "sum(s, 1)" => with!(arrays, |s| s.sum(1)),
        "sum(t, 1)" => with!(arrays, |t| t.sum(1)),
        "copy(t)" => with!(arrays, |t| t.contiguous()),
        "copy(s)" => with!(arrays, |s| s.contiguous()),
        "copy(permute_dims(w, [2, 0, 1]))" => with!(arrays, |w| w.permute((2, 0, 1))?.contiguous()),
        "copy(permute_dims(w, [1, 0, 2]))" => with!(arrays, |w| w.permute((1, 0, 2))?.contiguous()),
        "flip(w, 1)" => with!(arrays, |w| w.flip(&[1])),
        "roll(v, 7)" => with!(arrays, |v| v.roll(7, 0)),
        _ => None,
    }
}

/// The standard deviation, with the number of elements as divisor; candle's `var` divides by one less.
fn std(x: &Tensor, axis: usize) -> Result<Tensor> {
    let n = x.dim(axis)? as f64;
    (x.var(axis)? * ((n - 1.0) / n))?.sqrt()
}

/// The cumulative sum, which candle computes by a product with a matrix of ones. Returns an error above 2000 elements,
/// because the matrix would be too large.
fn running(x: &Tensor, axis: usize) -> Result<Tensor> {
    if x.dim(axis)? > 2000 {
        candle_core::bail!("no room");
    }
    x.cumsum(axis)
}

fn reductions(text: &str, arrays: &Arrays) -> Option<Call> {
    match text {
        // no sum of bytes and float16: candle sums in the dtype of the elements, so bytes overflow, and float16 loses
        // small terms
        "sum(x, ..)" | "sum(x)" if arrays.get::<u8>("x").is_none() && arrays.get::<f16>("x").is_none() => with!(arrays, |x| x.sum_all()),
        "max(x, ..)" => with!(arrays, |x| x.max_all()),
        "cumulative_sum(x)" => with!(arrays, |x| running(&x, 0)),
        "mean(a2, ..)" => with!(arrays, |a2| a2.mean_all()),
        "std(a2, ..)" => with!(arrays, |a2| std(&a2.flatten_all()?, 0)),
        "argmax(a2)" => with!(arrays, |a2| a2.flatten_all()?.argmax(0)),
        "sum(a2, 0)" => with!(arrays, |a2| a2.sum(0)),
        "mean(a2, 0)" => with!(arrays, |a2| a2.mean(0)),
        "std(a2, 0)" => with!(arrays, |a2| std(&a2, 0)),
        "max(a2, 0)" => with!(arrays, |a2| a2.max(0)),
        "argmax(a2, 0)" => with!(arrays, |a2| a2.argmax(0)),
        "cumulative_sum(a2, axis=0)" => with!(arrays, |a2| running(&a2, 0)),
        "sum(a2, 1)" => with!(arrays, |a2| a2.sum(1)),
        "mean(a2, 1)" => with!(arrays, |a2| a2.mean(1)),
        "std(a2, 1)" => with!(arrays, |a2| std(&a2, 1)),
        "max(a2, 1)" => with!(arrays, |a2| a2.max(1)),
        "argmax(a2, 1)" => with!(arrays, |a2| a2.argmax(1)),
        "cumulative_sum(a2, axis=1)" => with!(arrays, |a2| running(&a2, 1)),
        "sum(m, 1)" => with!(arrays, |m| m.sum(1)),
        "max(m, 1)" => with!(arrays, |m| m.max(1)),
        "argmin(m, 1)" => with!(arrays, |m| m.argmin(1)),
        "std(m, 1)" => with!(arrays, |m| std(&m, 1)),
        "cumulative_sum(m, axis=1)" => with!(arrays, |m| running(&m, 1)),
        "vecdot(m, r)" | "einsum('ij,ij->i', [m, r])" => with!(arrays, |m, r| (&m * &r)?.sum(1)),
        "vector_norm(x)" => with!(arrays, |x| x.norm()),
        "logsumexp(m, 1)" => with!(arrays, |m| m.log_sum_exp(1)),
        _ => None,
    }
}

fn products(text: &str, arrays: &Arrays) -> Option<Call> {
    match text {
        "matmul(l, r)" => with!(arrays, |l, r| l.matmul(&r)),
        "matmul(many_l, many_r)" => with!(arrays, |many_l, many_r| many_l.matmul(&many_r)),
        "einsum('bij,bkj->bik', [many_l, many_r])" => with!(arrays, |many_l, many_r| many_l.matmul(&many_r.t()?)),
        "matmul(l, x)" => with!(arrays, |l, x| l.mv(&x)),
        "outer(x, y)" => with!(arrays, |x, y| x.unsqueeze(1)?.broadcast_mul(&y.unsqueeze(0)?)),
        "matmul(a, c)" | "einsum('ij,jk->ik', [a, c])" => with!(arrays, |a, c| a.matmul(&c)),
        "inner(x, y)" => with!(arrays, |x, y| x.dot(&y)),
        "matrix_power(a, 5)" => with!(arrays, |a| {
            let square = a.matmul(&a)?;
            square.matmul(&square)?.matmul(&a)
        }),
        _ => None,
    }
}

/// Copies, sorting, indexing and random numbers.
fn moved(text: &str, arrays: &Arrays) -> Option<Call> {
    const N: usize = 1_000_000;
    match text {
        "sort(x)" => with!(arrays, |x| Ok(x.sort_last_dim(true)?.0)),
        "sort(m)" => with!(arrays, |m| Ok(m.sort_last_dim(true)?.0)),
        "argsort(x)" => with!(arrays, |x| x.arg_sort_last_dim(true)),
        "take(x, i)" => with!(arrays, |x, i| x.index_select(&i, 0)),
        "scatter_add(x, i, y, 0)" => with!(arrays, |x, i, y| x.index_add(&i, &y, 0)),
        "concat([m, r], axis=0)" => with!(arrays, |m, r| Tensor::cat(&[&m, &r], 0)),
        "concat([m, r], axis=1)" => with!(arrays, |m, r| Tensor::cat(&[&m, &r], 1)),
        "tile(m, [2, 2])" => with!(arrays, |m| m.repeat((2, 2))),
        "pad(m, [[5, 5], [5, 5]])" => with!(arrays, |m| m.pad_with_zeros(0, 5, 5)?.pad_with_zeros(1, 5, 5)),
        "meshgrid([q1, q3])" => with!(arrays, |q1, q3| {
            Tensor::meshgrid(&[q1.clone(), q3.clone()], true)?
                .iter()
                .map(Tensor::contiguous)
                .collect::<Result<Vec<_>>>()
        }),
        "random_uniform([1000000], dtype=float32)" => tried(|| Tensor::rand(0_f32, 1_f32, N, &Device::Cpu)),
        "random_uniform([1000000], dtype=float64)" => tried(|| Tensor::rand(0_f64, 1_f64, N, &Device::Cpu)),
        "random_normal([1000000], dtype=float32)" => tried(|| Tensor::randn(0_f32, 1_f32, N, &Device::Cpu)),
        "random_normal([1000000], dtype=float64)" => tried(|| Tensor::randn(0_f64, 1_f64, N, &Device::Cpu)),
        _ => None,
    }
}

fn of_networks(text: &str, arrays: &Arrays) -> Option<Call> {
    match text {
        "softmax(m, 1)" => with!(arrays, |m| ops::softmax_last_dim(&m)),
        "log_softmax(m, 1)" => with!(arrays, |m| ops::log_softmax(&m, 1)),
        "relu(x)" => with!(arrays, |x| x.relu()),
        "elu(x)" => with!(arrays, |x| x.elu(1.0)),
        "gelu(x)" => with!(arrays, |x| x.gelu_erf()),
        "gelu(h)" => with!(arrays, |h| h.gelu_erf()),
        "silu(x)" => with!(arrays, |x| x.silu()),
        "mish(x)" => with!(arrays, |x| ops::mish(&x)),
        "leaky_relu(x)" => with!(arrays, |x| ops::leaky_relu(&x, 0.01)),
        "conv(imgs, kernels, padding=[1, 1])" => with!(arrays, |imgs, kernels| imgs.conv2d(&kernels, 1, 1, 1, 1)),
        "conv(imgs, depthwise, padding=[1, 1], groups=8)" => {
            with!(arrays, |imgs, depthwise| imgs.conv2d(&depthwise, 1, 1, 1, 8))
        }
        "conv_transpose(imgs, kernels_t, stride=[2, 2])" => {
            with!(arrays, |imgs, kernels_t| imgs.conv_transpose2d(&kernels_t, 0, 0, 2, 1))
        }
        "max_pool(imgs, [2, 2])" => with!(arrays, |imgs| imgs.max_pool2d(2)),
        "avg_pool(imgs, [2, 2])" => with!(arrays, |imgs| imgs.avg_pool2d(2)),
        _ => None,
    }
}
