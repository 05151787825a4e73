//! Calls of rstsr on its faer device. With the default features, the linear algebra of rstsr has only products.

use crate::{
    arrays::{Arrays, Layout},
    call::{Call, Total, made},
};
use num_complex::Complex;
use rstsr::prelude::*;

impl<E: Total + Clone, D: DimAPI> Total for rt::Tensor<E, DeviceFaer, D> {
    fn total(&self) -> f64 {
        self.raw().total()
    }
}

/// The tensor of this name; `None` if it has another element type or number of axes.
fn tensor<E: Clone + 'static, D: DimAPI>(
    arrays: &Arrays,
    name: &str,
    device: &DeviceFaer,
) -> Option<rt::Tensor<E, DeviceFaer, D>> {
    let (elements, dims, layout) = arrays.get::<E>(name)?;
    let tensor: rt::Tensor<E, DeviceFaer, IxD> = rt::asarray((elements, dims, device));
    let tensor = match layout {
        Layout::C => tensor,
        Layout::Transposed => tensor.into_reverse_axes(),
        Layout::Step(step) => tensor.into_slice((Ellipsis, slice!(None, None, step as isize))),
    };
    tensor.into_dim_f::<D>().ok()
}

/// Makes a call on named tensors; `None` if a tensor is missing, or has another element type or number of axes.
macro_rules! with {
    ($from:ident, $t:ty, |$($x:ident: $axes:ty),*| $result:expr) => {{
        $(let $x: rt::Tensor<$t, DeviceFaer, $axes> = tensor($from.0, stringify!($x), $from.1)?;)*
        made(move || {
            $(let $x = &$x;)*
            $result
        })
    }};
}

pub fn call(text: &str, arrays: &Arrays, device: &DeviceFaer) -> Option<Call> {
    let from = (arrays, device);
    floats_64::call(text, from)
        .or_else(|| floats_32::call(text, from))
        .or_else(|| integers::call(text, from))
        .or_else(|| bytes::call(text, from))
        .or_else(|| complex_128::call(text, from))
        .or_else(|| complex_64::call(text, from))
        .or_else(|| booleans(text, from))
}

/// Copies, sorting and indexing.
macro_rules! moved {
    ($t:ty) => {
        fn moved(text: &str, from: (&Arrays, &DeviceFaer)) -> Option<Call> {
            match text {
                "copy(t)" => with!(from, $t, |t: Ix2| t.view().into_contig(RowMajor)),
                "copy(s)" => with!(from, $t, |s: Ix2| s.view().into_contig(RowMajor)),
                "sort(x)" => with!(from, $t, |x: Ix1| x.sort(None)),
                "sort(m)" => with!(from, $t, |m: Ix2| m.sort(None)),
                "argsort(x)" => with!(from, $t, |x: Ix1| x.argsort(None)),
                "unique_values(x)" => with!(from, $t, |x: Ix1| x.unique_values()),
                "take(x, i)" => {
                    let i = from.0.get::<i64>("i")?.0.into_iter().map(|i| i as isize).collect::<Vec<_>>();
                    with!(from, $t, |x: Ix1| x.index_select(0, &i))
                }
                "boolean_mask(x, b)" => {
                    let b: rt::Tensor<bool, DeviceFaer, Ix1> = tensor(from.0, "b", from.1)?;
                    with!(from, $t, |x: Ix1| x.mask_select(&b))
                }
                "concat([m, r], axis=0)" => with!(from, $t, |m: Ix2, r: Ix2| rt::concat(([m, r], 0))),
                "concat([m, r], axis=1)" => with!(from, $t, |m: Ix2, r: Ix2| rt::concat(([m, r], 1))),
                "tile(m, [2, 2])" => with!(from, $t, |m: Ix2| m.tile([2, 2])),
                _ => None,
            }
        }
    };
}

/// Calls on floats. This is a macro, because the trait bounds of rstsr's functions name single dtypes and thereby rule
/// out a generic function.
macro_rules! floats {
    ($name:ident, $t:ty) => {
        mod $name {
            use super::*;

            pub fn call(text: &str, from: (&Arrays, &DeviceFaer)) -> Option<Call> {
                elementwise(text, from)
                    .or_else(|| layouts(text, from))
                    .or_else(|| reductions(text, from))
                    .or_else(|| products(text, from))
                    .or_else(|| moved(text, from))
            }

            fn elementwise(text: &str, from: (&Arrays, &DeviceFaer)) -> Option<Call> {
                let (mu, s, a): ($t, $t, $t) = (0.3, 1.5, 1e-9);
                let (half, two): ($t, $t) = (0.5, 2.0);
                match text {
                    "add(x, y)" => with!(from, $t, |x: Ix1, y: Ix1| x + y),
                    "subtract(x, y)" => with!(from, $t, |x: Ix1, y: Ix1| x - y),
                    "multiply(x, y)" => with!(from, $t, |x: Ix1, y: Ix1| x * y),
                    "divide(x, y)" => with!(from, $t, |x: Ix1, y: Ix1| x / y),
                    "less(x, y)" => with!(from, $t, |x: Ix1, y: Ix1| x.less(y)),
                    "pow(x, y)" => with!(from, $t, |x: Ix1, y: Ix1| x.pow(y)),
                    "multiply(x, 2.5)" => with!(from, $t, |x: Ix1| x * (2.5 as $t)),
                    "clip(x, 0.2, 0.8)" => with!(from, $t, |x: Ix1| rt::clip(x, (0.2 as $t, 0.8 as $t))),
                    "greater(x, 0.5)" => with!(from, $t, |x: Ix1| x.greater(0.5 as $t)),
                    "astype(x, dtype=int64)" => with!(from, $t, |x: Ix1| x.mapv(|x| x as i64)),
                    "where(b, x, y)" => {
                        let b: rt::Tensor<bool, DeviceFaer, Ix1> = tensor(from.0, "b", from.1)?;
                        with!(from, $t, |x: Ix1, y: Ix1| rt::r#where(&b, x, y))
                    }
                    "copy(x)" => with!(from, $t, |x: Ix1| x.clone()),
                    "abs(x)" => with!(from, $t, |x: Ix1| x.abs()),
                    "acos(x)" => with!(from, $t, |x: Ix1| x.acos()),
                    "acosh(p)" => with!(from, $t, |p: Ix1| p.acosh()),
                    "asin(x)" => with!(from, $t, |x: Ix1| x.asin()),
                    "asinh(x)" => with!(from, $t, |x: Ix1| x.asinh()),
                    "atan(x)" => with!(from, $t, |x: Ix1| x.atan()),
                    "atanh(x)" => with!(from, $t, |x: Ix1| x.atanh()),
                    "cos(x)" => with!(from, $t, |x: Ix1| x.cos()),
                    "cosh(x)" => with!(from, $t, |x: Ix1| x.cosh()),
                    "exp(x)" => with!(from, $t, |x: Ix1| x.exp()),
                    "expm1(x)" => with!(from, $t, |x: Ix1| x.expm1()),
                    "log(x)" => with!(from, $t, |x: Ix1| x.log()),
                    "log10(x)" => with!(from, $t, |x: Ix1| x.log10()),
                    "log1p(x)" => with!(from, $t, |x: Ix1| x.log1p()),
                    "log2(x)" => with!(from, $t, |x: Ix1| x.log2()),
                    "negative(x)" => with!(from, $t, |x: Ix1| -x),
                    "sin(x)" => with!(from, $t, |x: Ix1| x.sin()),
                    "sinh(x)" => with!(from, $t, |x: Ix1| x.sinh()),
                    "sqrt(x)" => with!(from, $t, |x: Ix1| x.sqrt()),
                    "square(x)" => with!(from, $t, |x: Ix1| x.square()),
                    "tan(x)" => with!(from, $t, |x: Ix1| x.tan()),
                    "tanh(x)" => with!(from, $t, |x: Ix1| x.tanh()),
                    "= (x + y) * x - y" => with!(from, $t, |x: Ix1, y: Ix1| (x + y) * x - y),
                    "= 0.5 * exp(-(x - mu)**2 / (2 s s)) + y" => {
                        with!(from, $t, |x: Ix1, y: Ix1| (-(x - mu).square() / (two * s * s)).exp() * half + y)
                    }
                    "= x + a * y" => with!(from, $t, |x: Ix1, y: Ix1| x + y * a),
                    "= m * row + column" => with!(from, $t, |m: Ix2, row: Ix2, column: Ix2| m * row + column),
                    _ => None,
                }
            }

            fn layouts(text: &str, from: (&Arrays, &DeviceFaer)) -> Option<Call> {
                match text {
                    "add(m, row)" => with!(from, $t, |m: Ix2, row: Ix2| m + row),
                    "add(m, column)" => with!(from, $t, |m: Ix2, column: Ix2| m + column),
                    "add(row, column)" => with!(from, $t, |row: Ix2, column: Ix2| row + column),
                    "add(m, t)" => with!(from, $t, |m: Ix2, t: Ix2| m + t),
                    "add(s, s)" => with!(from, $t, |s: Ix2| s + s),
                    "add(t, t)" => with!(from, $t, |t: Ix2| t + t),
                    "exp(s)" => with!(from, $t, |s: Ix2| s.exp()),
                    "sum(s, 1)" => with!(from, $t, |s: Ix2| s.sum_axes(1)),
                    "sum(t, 1)" => with!(from, $t, |t: Ix2| t.sum_axes(1)),
                    "copy(permute_dims(w, [2, 0, 1]))" => {
                        with!(from, $t, |w: Ix3| w.transpose([2, 0, 1]).into_contig(RowMajor))
                    }
                    "copy(permute_dims(w, [1, 0, 2]))" => {
                        with!(from, $t, |w: Ix3| w.transpose([1, 0, 2]).into_contig(RowMajor))
                    }
                    "flip(w, 1)" => with!(from, $t, |w: Ix3| w.flip(1).into_contig(RowMajor)),
                    "roll(v, 7)" => with!(from, $t, |v: Ix1| v.roll((7, None))),
                    _ => None,
                }
            }

            fn reductions(text: &str, from: (&Arrays, &DeviceFaer)) -> Option<Call> {
                match text {
                    "sum(x, ..)" | "sum(x)" => with!(from, $t, |x: Ix1| x.sum()),
                    "max(x, ..)" => with!(from, $t, |x: Ix1| x.max()),
                    "cumulative_sum(x)" => with!(from, $t, |x: Ix1| x.cumulative_sum(None)),
                    "mean(a2, ..)" => with!(from, $t, |a2: Ix2| a2.mean()),
                    "std(a2, ..)" => with!(from, $t, |a2: Ix2| a2.std()),
                    "argmax(a2)" => with!(from, $t, |a2: Ix2| a2.argmax()),
                    "sum(a2, 0)" => with!(from, $t, |a2: Ix2| a2.sum_axes(0)),
                    "mean(a2, 0)" => with!(from, $t, |a2: Ix2| a2.mean_axes(0)),
                    "std(a2, 0)" => with!(from, $t, |a2: Ix2| a2.std_axes(0)),
                    "max(a2, 0)" => with!(from, $t, |a2: Ix2| a2.max_axes(0)),
                    "argmax(a2, 0)" => with!(from, $t, |a2: Ix2| a2.argmax_axes(0)),
                    "cumulative_sum(a2, axis=0)" => with!(from, $t, |a2: Ix2| a2.cumulative_sum(0)),
                    "sum(a2, 1)" => with!(from, $t, |a2: Ix2| a2.sum_axes(1)),
                    "mean(a2, 1)" => with!(from, $t, |a2: Ix2| a2.mean_axes(1)),
                    "std(a2, 1)" => with!(from, $t, |a2: Ix2| a2.std_axes(1)),
                    "max(a2, 1)" => with!(from, $t, |a2: Ix2| a2.max_axes(1)),
                    "argmax(a2, 1)" => with!(from, $t, |a2: Ix2| a2.argmax_axes(1)),
                    "cumulative_sum(a2, axis=1)" => with!(from, $t, |a2: Ix2| a2.cumulative_sum(1)),
                    "sum(m, 1)" => with!(from, $t, |m: Ix2| m.sum_axes(1)),
                    "max(m, 1)" => with!(from, $t, |m: Ix2| m.max_axes(1)),
                    "argmin(m, 1)" => with!(from, $t, |m: Ix2| m.argmin_axes(1)),
                    "add(m, row)" => with!(from, $t, |m: Ix2, row: Ix1| m + row),
                    "std(m, 1)" => with!(from, $t, |m: Ix2| m.std_axes(1)),
                    "cumulative_sum(m, axis=1)" => with!(from, $t, |m: Ix2| m.cumulative_sum(1)),
                    "vecdot(m, r)" | "einsum('ij,ij->i', [m, r])" => with!(from, $t, |m: Ix2, r: Ix2| m.vecdot(r, -1)),
                    _ => None,
                }
            }

            fn products(text: &str, from: (&Arrays, &DeviceFaer)) -> Option<Call> {
                match text {
                    "matmul(l, r)" => with!(from, $t, |l: Ix2, r: Ix2| l % r),
                    "matmul(many_l, many_r)" => with!(from, $t, |many_l: Ix3, many_r: Ix3| many_l % many_r),
                    "einsum('bij,bkj->bik', [many_l, many_r])" => {
                        with!(from, $t, |many_l: Ix3, many_r: Ix3| many_l % many_r.swapaxes(-1, -2))
                    }
                    "matmul(l, x)" => with!(from, $t, |l: Ix2, x: Ix1| l % x),
                    "outer(x, y)" => with!(from, $t, |x: Ix1, y: Ix1| x.i((.., None)) * y),
                    "matmul(a, c)" | "einsum('ij,jk->ik', [a, c])" => with!(from, $t, |a: Ix2, c: Ix2| a % c),
                    "inner(x, y)" => with!(from, $t, |x: Ix1, y: Ix1| x % y),
                    "trace(m)" => with!(from, $t, |m: Ix2| m.trace(())),
                    "matrix_power(a, 5)" => with!(from, $t, |a: Ix2| {
                        let square = a % a;
                        (&square % &square) % a
                    }),
                    _ => None,
                }
            }

            moved!($t);
        }
    };
}

macro_rules! integers {
    ($name:ident, $t:ty) => {
        mod $name {
            use super::*;

            pub fn call(text: &str, from: (&Arrays, &DeviceFaer)) -> Option<Call> {
                match text {
                    "add(x, y)" => with!(from, $t, |x: Ix1, y: Ix1| x + y),
                    "multiply(x, y)" => with!(from, $t, |x: Ix1, y: Ix1| x * y),
                    "maximum(x, y)" => with!(from, $t, |x: Ix1, y: Ix1| x.maximum(y)),
                    "equal(x, y)" => with!(from, $t, |x: Ix1, y: Ix1| x.equal(y)),
                    // no sum of bytes: rstsr sums in the dtype of the elements, which overflows
                    "sum(x, ..)" if size_of::<$t>() > 1 => with!(from, $t, |x: Ix1| x.sum()),
                    _ => moved(text, from),
                }
            }

            moved!($t);
        }
    };
}

macro_rules! complex {
    ($name:ident, $t:ty) => {
        mod $name {
            use super::*;

            pub fn call(text: &str, from: (&Arrays, &DeviceFaer)) -> Option<Call> {
                match text {
                    "multiply(x, y)" => with!(from, $t, |x: Ix1, y: Ix1| x * y),
                    "divide(x, y)" => with!(from, $t, |x: Ix1, y: Ix1| x / y),
                    "exp(x)" => with!(from, $t, |x: Ix1| x.exp()),
                    "abs(x)" => with!(from, $t, |x: Ix1| x.abs()),
                    "sum(x, ..)" => with!(from, $t, |x: Ix1| x.sum()),
                    "matmul(l, r)" => with!(from, $t, |l: Ix2, r: Ix2| l % r),
                    _ => None,
                }
            }
        }
    };
}

floats!(floats_64, f64);
floats!(floats_32, f32);
integers!(integers, i64);
integers!(bytes, u8);
complex!(complex_128, Complex<f64>);
complex!(complex_64, Complex<f32>);

fn booleans(text: &str, from: (&Arrays, &DeviceFaer)) -> Option<Call> {
    match text {
        "logical_and(x, y)" => with!(from, bool, |x: Ix1, y: Ix1| x & y),
        "logical_not(x)" => with!(from, bool, |x: Ix1| !x),
        "any(x, ..)" => with!(from, bool, |x: Ix1| x.any()),
        _ => None,
    }
}
