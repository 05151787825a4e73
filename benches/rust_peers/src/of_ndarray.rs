//! Calls of ndarray. Ops that ndarray lacks are explicit loops.

use crate::{
    arrays::{Arrays, Layout},
    call::{Call, Total, made},
};
use half::f16;
use ndarray::{
    Array, Array1, Array2, Array3, ArrayD, ArrayView1, Axis, Dimension, LinalgScalar, MeshIndex, NdFloat, Slice, Zip,
    concatenate,
    linalg::{general_mat_mul, kron},
    meshgrid, s,
};
use num_complex::{Complex, ComplexFloat};
use num_traits::{AsPrimitive, FromPrimitive, PrimInt, WrappingMul};
use std::{cmp::Ordering, fmt::Debug};

type V<T> = Array1<T>;
type M<T> = Array2<T>;

/// The array of this name; `None` if it has another element type or number of axes.
fn array<T: Clone + 'static, D: Dimension>(arrays: &Arrays, name: &str) -> Option<Array<T, D>> {
    let (elements, dims, layout) = arrays.get::<T>(name)?;
    let mut array = ArrayD::from_shape_vec(dims, elements).ok()?;
    match layout {
        Layout::C => {}
        Layout::Transposed => array = array.reversed_axes(),
        Layout::Step(step) => {
            let last = Axis(array.ndim() - 1);
            array.slice_axis_inplace(last, Slice::new(0, None, step as isize));
        }
    }
    array.into_dimensionality().ok()
}

/// Makes a call on named arrays; `None` if an array is missing or of another type.
macro_rules! with {
    ($arrays:ident, |$($x:ident: $t:ty),*| $result:expr) => {{
        $(let $x: $t = array($arrays, stringify!($x))?;)*
        made(move || $result)
    }};
}

pub fn call(text: &str, arrays: &Arrays) -> Option<Call> {
    of_floats::<f64>(text, arrays)
        .or_else(|| of_floats::<f32>(text, arrays))
        .or_else(|| of_halves(text, arrays))
        .or_else(|| of_integers::<i64>(text, arrays))
        .or_else(|| of_integers::<u8>(text, arrays))
        .or_else(|| of_complex::<f64>(text, arrays))
        .or_else(|| of_complex::<f32>(text, arrays))
        .or_else(|| of_booleans(text, arrays))
}

/// Element types that can be copied and compared.
trait Ordered: Copy + PartialOrd + Debug + Total + num_traits::Zero + 'static {}
impl<T: Copy + PartialOrd + Debug + Total + num_traits::Zero + 'static> Ordered for T {}

trait Float: NdFloat + FromPrimitive + Total + AsPrimitive<i64> {}
impl<T: NdFloat + FromPrimitive + Total + AsPrimitive<i64>> Float for T {}

fn order<T: PartialOrd>(a: &T, b: &T) -> Ordering {
    a.partial_cmp(b).unwrap_or(Ordering::Equal)
}

fn of_floats<T: Float>(text: &str, arrays: &Arrays) -> Option<Call> {
    elementwise::<T>(text, arrays)
        .or_else(|| formulas::<T>(text, arrays))
        .or_else(|| layouts::<T>(text, arrays))
        .or_else(|| whole::<T>(text, arrays))
        .or_else(|| along_axes::<T>(text, arrays))
        .or_else(|| short_axes::<T>(text, arrays))
        .or_else(|| products::<T>(text, arrays))
        .or_else(|| named::<T>(text, arrays))
        .or_else(|| ordered::<T>(text, arrays))
}

fn number<T: Float>(x: f64) -> T {
    T::from(x).unwrap_or(T::zero())
}

fn elementwise<T: Float>(text: &str, arrays: &Arrays) -> Option<Call> {
    match text {
        "add(x, y)" => with!(arrays, |x: V<T>, y: V<T>| &x + &y),
        "multiply(x, y)" => with!(arrays, |x: V<T>, y: V<T>| &x * &y),
        "divide(x, y)" => with!(arrays, |x: V<T>, y: V<T>| &x / &y),
        "subtract(x, y)" => with!(arrays, |x: V<T>, y: V<T>| &x - &y),
        "less(x, y)" => with!(arrays, |x: V<T>, y: V<T>| Zip::from(&x).and(&y).map_collect(|x, y| x < y)),
        "pow(x, y)" => with!(arrays, |x: V<T>, y: V<T>| Zip::from(&x).and(&y).map_collect(|x, y| x.powf(*y))),
        "multiply(x, 2.5)" => with!(arrays, |x: V<T>| &x * number::<T>(2.5)),
        "clip(x, 0.2, 0.8)" => with!(arrays, |x: V<T>| x.clamp(number(0.2), number(0.8))),
        "greater(x, 0.5)" => with!(arrays, |x: V<T>| x.mapv(|x| x > number(0.5))),
        "where(b, x, y)" => with!(arrays, |b: V<bool>, x: V<T>, y: V<T>| {
            Zip::from(&b).and(&x).and(&y).map_collect(|b, x, y| if *b { *x } else { *y })
        }),
        "astype(x, dtype=int64)" => with!(arrays, |x: V<T>| x.mapv(|x| AsPrimitive::<i64>::as_(x))),
        "copy(x)" => with!(arrays, |x: V<T>| x.clone()),
        "abs(x)" => with!(arrays, |x: V<T>| x.abs()),
        "acos(x)" => with!(arrays, |x: V<T>| x.acos()),
        "acosh(p)" => with!(arrays, |p: V<T>| p.acosh()),
        "asin(x)" => with!(arrays, |x: V<T>| x.asin()),
        "asinh(x)" => with!(arrays, |x: V<T>| x.asinh()),
        "atan(x)" => with!(arrays, |x: V<T>| x.atan()),
        "atan2(x, y)" => with!(arrays, |x: V<T>, y: V<T>| Zip::from(&x).and(&y).map_collect(|x, y| x.atan2(*y))),
        "atanh(x)" => with!(arrays, |x: V<T>| x.atanh()),
        "cbrt(p)" => with!(arrays, |p: V<T>| p.cbrt()),
        "ceil(x)" => with!(arrays, |x: V<T>| x.ceil()),
        "cos(x)" => with!(arrays, |x: V<T>| x.cos()),
        "cosh(x)" => with!(arrays, |x: V<T>| x.cosh()),
        "exp(x)" => with!(arrays, |x: V<T>| x.exp()),
        "exp2(x)" => with!(arrays, |x: V<T>| x.exp2()),
        "expm1(x)" => with!(arrays, |x: V<T>| x.exp_m1()),
        "floor(x)" => with!(arrays, |x: V<T>| x.floor()),
        "fmax(x, y)" => with!(arrays, |x: V<T>, y: V<T>| Zip::from(&x).and(&y).map_collect(|x, y| x.max(*y))),
        "fmod(p, y)" => with!(arrays, |p: V<T>, y: V<T>| &p % &y),
        "hypot(x, y)" => with!(arrays, |x: V<T>, y: V<T>| Zip::from(&x).and(&y).map_collect(|x, y| x.hypot(*y))),
        "isfinite(x)" => with!(arrays, |x: V<T>| x.mapv(|x| x.is_finite())),
        "isinf(x)" => with!(arrays, |x: V<T>| x.is_infinite()),
        "isnan(x)" => with!(arrays, |x: V<T>| x.is_nan()),
        "log(x)" => with!(arrays, |x: V<T>| x.ln()),
        "log10(x)" => with!(arrays, |x: V<T>| x.log10()),
        "log1p(x)" => with!(arrays, |x: V<T>| x.ln_1p()),
        "log2(x)" => with!(arrays, |x: V<T>| x.log2()),
        "negative(x)" => with!(arrays, |x: V<T>| x.mapv(|x| -x)),
        "rad2deg(x)" => with!(arrays, |x: V<T>| x.to_degrees()),
        "deg2rad(x)" => with!(arrays, |x: V<T>| x.to_radians()),
        "reciprocal(x)" => with!(arrays, |x: V<T>| x.recip()),
        "relu(x)" => with!(arrays, |x: V<T>| x.mapv(|x| x.max(T::zero()))),
        "sin(x)" => with!(arrays, |x: V<T>| x.sin()),
        "sinh(x)" => with!(arrays, |x: V<T>| x.sinh()),
        "sqrt(x)" => with!(arrays, |x: V<T>| x.sqrt()),
        "square(x)" => with!(arrays, |x: V<T>| x.pow2()),
        "tan(x)" => with!(arrays, |x: V<T>| x.tan()),
        "tanh(x)" => with!(arrays, |x: V<T>| x.tanh()),
        "trunc(x)" => with!(arrays, |x: V<T>| x.trunc()),
        _ => None,
    }
}

/// Formulas, each computed by one loop with the methods of ndarray.
fn formulas<T: Float>(text: &str, arrays: &Arrays) -> Option<Call> {
    let (mu, s, a) = (number::<T>(0.3), number::<T>(1.5), number::<T>(1e-9));
    let (half, two) = (number::<T>(0.5), number::<T>(2.0));
    match text {
        "= (x + y) * x - y" => {
            with!(arrays, |x: V<T>, y: V<T>| { Zip::from(&x).and(&y).map_collect(|&x, &y| (x + y) * x - y) })
        }
        "= 0.5 * exp(-(x - mu)**2 / (2 s s)) + y" => with!(arrays, |x: V<T>, y: V<T>| {
            Zip::from(&x).and(&y).map_collect(|&x, &y| half * (-(x - mu) * (x - mu) / (two * s * s)).exp() + y)
        }),
        "= x + a * y" => with!(arrays, |x: V<T>, y: V<T>| Zip::from(&x).and(&y).map_collect(|&x, &y| x + a * y)),
        "= m * row + column" => with!(arrays, |m: M<T>, row: M<T>, column: M<T>| {
            let (row, column) = (row.broadcast(m.dim()), column.broadcast(m.dim()));
            let (row, column) = (row.expect("it fits"), column.expect("it fits"));
            Zip::from(&m).and(row).and(column).map_collect(|&m, &r, &c| m * r + c)
        }),
        _ => None,
    }
}

fn layouts<T: Float>(text: &str, arrays: &Arrays) -> Option<Call> {
    match text {
        "add(m, row)" => with!(arrays, |m: M<T>, row: M<T>| &m + &row),
        "add(m, column)" => with!(arrays, |m: M<T>, column: M<T>| &m + &column),
        "add(row, column)" => with!(arrays, |row: M<T>, column: M<T>| &row + &column),
        "add(m, t)" => with!(arrays, |m: M<T>, t: M<T>| &m + &t),
        "add(s, s)" => with!(arrays, |s: M<T>| &s + &s),
        "add(t, t)" => with!(arrays, |t: M<T>| &t + &t),
        "exp(s)" => with!(arrays, |s: M<T>| s.exp()),
        "sum(s, 1)" => with!(arrays, |s: M<T>| s.sum_axis(Axis(1))),
        "sum(t, 1)" => with!(arrays, |t: M<T>| t.sum_axis(Axis(1))),
        _ => None,
    }
}

/// The index of the largest element.
fn argmax<'a, T: PartialOrd + Copy + 'a>(x: impl IntoIterator<Item = &'a T>) -> usize {
    let mut elements = x.into_iter().enumerate();
    let Some((_, &first)) = elements.next() else { return 0 };
    elements.fold((0, first), |best, (i, &x)| if x > best.1 { (i, x) } else { best }).0
}

fn argmin<T: PartialOrd + Copy>(x: ArrayView1<T>) -> usize {
    x.iter().enumerate().fold((0, x[0]), |best, (i, &x)| if x < best.1 { (i, x) } else { best }).0
}

/// The median, computed by selecting the two middle elements.
fn median<T: Float>(x: &V<T>) -> T {
    let mut x = x.to_vec();
    let middle = x.len() / 2;
    let (below, &mut high, _) = x.select_nth_unstable_by(middle, order);
    let low = below.iter().fold(T::neg_infinity(), |a, b| a.max(*b));
    (low + high) / number(2.0)
}

fn running<T: Copy + std::ops::AddAssign, D: Dimension>(mut x: Array<T, D>, axis: usize) -> Array<T, D> {
    x.accumulate_axis_inplace(Axis(axis), |&before, x| *x += before);
    x
}

fn whole<T: Float>(text: &str, arrays: &Arrays) -> Option<Call> {
    let (none, least) = (T::zero(), T::neg_infinity());
    match text {
        "sum(x, ..)" | "sum(x)" => with!(arrays, |x: V<T>| x.sum()),
        "max(x, ..)" => with!(arrays, |x: V<T>| x.fold(least, |a, b| a.max(*b))),
        "cumulative_sum(x)" => with!(arrays, |x: V<T>| running(x.clone(), 0)),
        "median(x, ..)" => with!(arrays, |x: V<T>| median(&x)),
        "mean(a2, ..)" => with!(arrays, |a2: M<T>| a2.mean().expect("elements")),
        "std(a2, ..)" => with!(arrays, |a2: M<T>| a2.std(none)),
        "argmax(a2)" => with!(arrays, |a2: M<T>| argmax(&a2)),
        _ => None,
    }
}

fn along_axes<T: Float>(text: &str, arrays: &Arrays) -> Option<Call> {
    let (none, least) = (T::zero(), T::neg_infinity());
    match text {
        "sum(a2, 0)" => with!(arrays, |a2: M<T>| a2.sum_axis(Axis(0))),
        "mean(a2, 0)" => with!(arrays, |a2: M<T>| a2.mean_axis(Axis(0)).expect("elements")),
        "std(a2, 0)" => with!(arrays, |a2: M<T>| a2.std_axis(Axis(0), none)),
        "max(a2, 0)" => with!(arrays, |a2: M<T>| a2.fold_axis(Axis(0), least, |a, b| a.max(*b))),
        "argmax(a2, 0)" => with!(arrays, |a2: M<T>| a2.map_axis(Axis(0), |lane| argmax(lane))),
        "cumulative_sum(a2, axis=0)" => with!(arrays, |a2: M<T>| running(a2.clone(), 0)),
        "sum(a2, 1)" => with!(arrays, |a2: M<T>| a2.sum_axis(Axis(1))),
        "mean(a2, 1)" => with!(arrays, |a2: M<T>| a2.mean_axis(Axis(1)).expect("elements")),
        "std(a2, 1)" => with!(arrays, |a2: M<T>| a2.std_axis(Axis(1), none)),
        "max(a2, 1)" => with!(arrays, |a2: M<T>| a2.map_axis(Axis(1), |lane| lane.fold(least, |a, b| a.max(*b)))),
        "argmax(a2, 1)" => with!(arrays, |a2: M<T>| a2.map_axis(Axis(1), |lane| argmax(lane))),
        "cumulative_sum(a2, axis=1)" => with!(arrays, |a2: M<T>| running(a2.clone(), 1)),
        _ => None,
    }
}

fn softmax<T: Float>(m: &M<T>) -> M<T> {
    let mut m = m.clone();
    for mut row in m.rows_mut() {
        let most = row.fold(T::neg_infinity(), |a, b| a.max(*b));
        row.mapv_inplace(|x| (x - most).exp());
        let sum = row.sum();
        row /= sum;
    }
    m
}

fn short_axes<T: Float>(text: &str, arrays: &Arrays) -> Option<Call> {
    let (none, least) = (T::zero(), T::neg_infinity());
    match text {
        "sum(m, 1)" => with!(arrays, |m: M<T>| m.sum_axis(Axis(1))),
        "max(m, 1)" => with!(arrays, |m: M<T>| m.map_axis(Axis(1), |lane| lane.fold(least, |a, b| a.max(*b)))),
        "argmin(m, 1)" => with!(arrays, |m: M<T>| m.map_axis(Axis(1), argmin)),
        "add(m, row)" => with!(arrays, |m: M<T>, row: V<T>| &m + &row),
        "std(m, 1)" => with!(arrays, |m: M<T>| m.std_axis(Axis(1), none)),
        "cumulative_sum(m, axis=1)" => with!(arrays, |m: M<T>| running(m.clone(), 1)),
        "sort(m)" => with!(arrays, |m: M<T>| {
            let mut m = m.clone();
            for mut row in m.rows_mut() {
                row.as_slice_mut().expect("rows lie in a row").sort_unstable_by(order);
            }
            m
        }),
        "softmax(m, 1)" => with!(arrays, |m: M<T>| softmax(&m)),
        "vecdot(m, r)" | "einsum('ij,ij->i', [m, r])" => {
            with!(arrays, |m: M<T>, r: M<T>| { Zip::from(m.rows()).and(r.rows()).map_collect(|m, r| m.dot(&r)) })
        }
        _ => None,
    }
}

fn products<T: LinalgScalar + Total>(text: &str, arrays: &Arrays) -> Option<Call> {
    fn each<T: LinalgScalar>(l: &Array3<T>, r: &Array3<T>, transposed: bool) -> Array3<T> {
        let mut out = Array3::zeros(l.dim());
        Zip::from(out.outer_iter_mut()).and(l.outer_iter()).and(r.outer_iter()).for_each(|mut out, l, r| {
            let r = if transposed { r.reversed_axes() } else { r };
            general_mat_mul(T::one(), &l, &r, T::zero(), &mut out);
        });
        out
    }
    match text {
        "matmul(l, r)" => with!(arrays, |l: M<T>, r: M<T>| l.dot(&r)),
        "matmul(many_l, many_r)" => {
            with!(arrays, |many_l: Array3<T>, many_r: Array3<T>| each(&many_l, &many_r, false))
        }
        "einsum('bij,bkj->bik', [many_l, many_r])" => {
            with!(arrays, |many_l: Array3<T>, many_r: Array3<T>| each(&many_l, &many_r, true))
        }
        "matmul(l, x)" => with!(arrays, |l: M<T>, x: V<T>| l.dot(&x)),
        "outer(x, y)" => {
            with!(arrays, |x: V<T>, y: V<T>| { &x.view().insert_axis(Axis(1)) * &y.view().insert_axis(Axis(0)) })
        }
        "matmul(a, c)" | "einsum('ij,jk->ik', [a, c])" => with!(arrays, |a: M<T>, c: M<T>| a.dot(&c)),
        "inner(x, y)" => with!(arrays, |x: V<T>, y: V<T>| x.dot(&y)),
        "kron(a, q2)" => with!(arrays, |a: M<T>, q2: M<T>| kron(&a, &q2)),
        "trace(m)" => with!(arrays, |m: M<T>| m.diag().sum()),
        "matrix_power(a, 5)" => with!(arrays, |a: M<T>| {
            let square = a.dot(&a);
            square.dot(&square).dot(&a)
        }),
        _ => None,
    }
}

/// Calls on the predefined arrays only.
fn named<T: Float>(text: &str, arrays: &Arrays) -> Option<Call> {
    match text {
        "copy(permute_dims(w, [2, 0, 1]))" => {
            with!(arrays, |w: Array3<T>| { w.view().permuted_axes([2, 0, 1]).as_standard_layout().into_owned() })
        }
        "copy(permute_dims(w, [1, 0, 2]))" => {
            with!(arrays, |w: Array3<T>| { w.view().permuted_axes([1, 0, 2]).as_standard_layout().into_owned() })
        }
        "flip(w, 1)" => with!(arrays, |w: Array3<T>| w.slice(s![.., ..;-1, ..]).as_standard_layout().into_owned()),
        "roll(v, 7)" => with!(arrays, |v: V<T>| {
            let (begin, end) = v.view().split_at(Axis(0), v.len() - 7);
            concatenate![Axis(0), end, begin]
        }),
        "meshgrid([q1, q3])" => with!(arrays, |q1: V<T>, q3: V<T>| {
            let (x, y) = meshgrid((&q1, &q3), MeshIndex::XY);
            (x.to_owned(), y.to_owned())
        }),
        "diag(q)" => with!(arrays, |q: V<T>| Array2::from_diag(&q)),
        "vector_norm(x)" => with!(arrays, |x: V<T>| x.dot(&x).sqrt()),
        _ => None,
    }
}

/// Copies, sorting and indexing.
fn ordered<T: Ordered + std::ops::AddAssign>(text: &str, arrays: &Arrays) -> Option<Call> {
    // ndarray indexes with `usize`
    let indices = || Some(array::<i64, ndarray::Ix1>(arrays, "i")?.iter().map(|i| *i as usize).collect::<Vec<_>>());
    let sorted = |x: &V<T>| {
        let mut x = x.to_vec();
        x.sort_unstable_by(order);
        x
    };
    match text {
        "copy(t)" => with!(arrays, |t: M<T>| t.as_standard_layout().into_owned()),
        "copy(s)" => with!(arrays, |s: M<T>| s.as_standard_layout().into_owned()),
        "sort(x)" => with!(arrays, |x: V<T>| Array1::from(sorted(&x))),
        "argsort(x)" => with!(arrays, |x: V<T>| {
            let mut indices = Vec::from_iter(0..x.len());
            indices.sort_by(|a, b| order(&x[*a], &x[*b]));
            Array1::from(indices)
        }),
        "unique_values(x)" => with!(arrays, |x: V<T>| {
            let mut x = sorted(&x);
            x.dedup();
            Array1::from(x)
        }),
        "take(x, i)" => {
            let indices = indices()?;
            with!(arrays, |x: V<T>| x.select(Axis(0), &indices))
        }
        "boolean_mask(x, b)" => with!(arrays, |x: V<T>, b: V<bool>| {
            x.iter().zip(&b).filter(|(_, b)| **b).map(|(x, _)| *x).collect::<V<T>>()
        }),
        "scatter_add(x, i, y, 0)" => {
            let indices = indices()?;
            with!(arrays, |x: V<T>, y: V<T>| {
                let mut sum = x.clone();
                for (i, y) in indices.iter().zip(&y) {
                    sum[*i] += *y;
                }
                sum
            })
        }
        "concat([m, r], axis=0)" => with!(arrays, |m: M<T>, r: M<T>| concatenate![Axis(0), m, r]),
        "concat([m, r], axis=1)" => with!(arrays, |m: M<T>, r: M<T>| concatenate![Axis(1), m, r]),
        "tile(m, [2, 2])" => with!(arrays, |m: M<T>| {
            let row = concatenate![Axis(1), m, m];
            concatenate![Axis(0), row, row]
        }),
        "pad(m, [[5, 5], [5, 5]])" => with!(arrays, |m: M<T>| {
            let (rows, columns) = m.dim();
            let mut out = Array2::zeros((rows + 10, columns + 10));
            out.slice_mut(s![5..rows + 5, 5..columns + 5]).assign(&m);
            out
        }),
        _ => None,
    }
}

fn of_halves(text: &str, arrays: &Arrays) -> Option<Call> {
    match text {
        "add(x, y)" => with!(arrays, |x: V<f16>, y: V<f16>| &x + &y),
        "exp(x)" => with!(arrays, |x: V<f16>| x.exp()),
        // no sum of float16: ndarray would sum in float16, which loses small terms
        _ => None,
    }
}

fn of_integers<T: PrimInt + WrappingMul + LinalgScalar + Ordered + Ord + std::ops::AddAssign + AsPrimitive<i64>>(
    text: &str,
    arrays: &Arrays,
) -> Option<Call> {
    match text {
        "add(x, y)" => with!(arrays, |x: V<T>, y: V<T>| &x + &y),
        "multiply(x, y)" => {
            with!(arrays, |x: V<T>, y: V<T>| { Zip::from(&x).and(&y).map_collect(|x, y| x.wrapping_mul(y)) })
        }
        "maximum(x, y)" => with!(arrays, |x: V<T>, y: V<T>| Zip::from(&x).and(&y).map_collect(|x, y| *x.max(y))),
        "equal(x, y)" => with!(arrays, |x: V<T>, y: V<T>| Zip::from(&x).and(&y).map_collect(|x, y| x == y)),
        // ndarray's `sum` would return the element type, which overflows for bytes
        "sum(x, ..)" => with!(arrays, |x: V<T>| x.fold(0_i64, |sum, x| sum + AsPrimitive::<i64>::as_(*x))),
        _ => ordered::<T>(text, arrays),
    }
}

fn of_complex<T: NdFloat + Total>(text: &str, arrays: &Arrays) -> Option<Call>
where
    Complex<T>: LinalgScalar + ComplexFloat<Real = T> + Total,
{
    type Z<T> = V<Complex<T>>;
    match text {
        "multiply(x, y)" => with!(arrays, |x: Z<T>, y: Z<T>| &x * &y),
        "divide(x, y)" => with!(arrays, |x: Z<T>, y: Z<T>| &x / &y),
        "exp(x)" => with!(arrays, |x: Z<T>| x.mapv(|x| x.exp())),
        "abs(x)" => with!(arrays, |x: Z<T>| x.mapv(|x| x.abs())),
        "sum(x, ..)" => with!(arrays, |x: Z<T>| x.sum()),
        _ => products::<Complex<T>>(text, arrays),
    }
}

fn of_booleans(text: &str, arrays: &Arrays) -> Option<Call> {
    match text {
        "logical_and(x, y)" => with!(arrays, |x: V<bool>, y: V<bool>| &x & &y),
        "logical_not(x)" => with!(arrays, |x: V<bool>| !&x),
        "any(x, ..)" => with!(arrays, |x: V<bool>| x.iter().any(|x| *x)),
        "count_nonzero(x, ..)" => with!(arrays, |x: V<bool>| x.iter().filter(|x| **x).count()),
        _ => None,
    }
}
