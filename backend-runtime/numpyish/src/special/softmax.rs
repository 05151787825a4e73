//! `softmax`, its logarithm, and the logarithm of a sum of exponentials. A lane consists of the elements that are
//! summed to one value. The steps compute the maximum of each lane, the exponentials of the differences from the
//! maximum, the sum of these exponentials, and the result. An array is divided into parts, which stay in the cache
//! between the steps unless lanes are long.

use super::super::{
    OpContext,
    buffer::Buffer,
    convert::{computed_in, convert},
    copy,
    parallel::{self, COSTLY},
    raw::{RawArray, View},
    reduction::{max_of, sum_of},
    simd::{versions, wide_versions},
};
use backend_core::{Axes, DType, Float, Real, Result, rules, threads};
use std::{ops::Range, sync::OnceLock};

/// Computes `exp(x)`, divided by the sum of `exp(x)` over the axes.
pub fn softmax(on: OpContext<'_>, x: View<'_>, axis: Axes) -> Result<RawArray> {
    SoftmaxInput::new(on.op, x, axis)?.elements(SoftmaxFunction::Softmax)
}

/// Logarithm of the softmax over axes.
pub fn log_softmax(on: OpContext<'_>, x: View<'_>, axis: Axes) -> Result<RawArray> {
    SoftmaxInput::new(on.op, x, axis)?.elements(SoftmaxFunction::LogSoftmax)
}

/// Logarithm of the sum of `exp(x)` over the axes.
pub fn logsumexp(on: OpContext<'_>, x: View<'_>, axis: Axes, keepdims: bool) -> Result<RawArray> {
    SoftmaxInput::new(on.op, x, axis)?.values(keepdims)
}

/// The function to compute.
#[derive(Clone, Copy, PartialEq)]
enum SoftmaxFunction {
    Softmax,
    LogSoftmax,
    LogSumExp,
}

/// An array, with an order of its axes in which the summed axes are adjacent.
struct SoftmaxInput<'a> {
    op: &'static str,
    x: View<'a>,
    /// The summed axes, in ascending order.
    axes: Vec<usize>,
    /// All axes. If the summed axes are adjacent in memory, the order is the order of memory, from the outermost axis
    /// to the innermost. Otherwise, first come the other axes and then the summed axes, both in the order of memory.
    order: Vec<usize>,
    /// True if `order` is the order of memory.
    in_memory: bool,
    /// Lengths of the axes in the order `order`.
    shape: Vec<usize>,
    dims: Dims,
}

/// The numbers of elements along three groups of axes, in the order [`SoftmaxInput::order`]: the axes before the summed
/// axes, the summed axes (`n`), and the axes after the summed axes.
#[derive(Clone, Copy)]
struct Dims {
    outer: usize,
    n: usize,
    inner: usize,
}

impl<'a> SoftmaxInput<'a> {
    fn new(op: &'static str, x: View<'a>, axis: Axes) -> Result<SoftmaxInput<'a>> {
        let mut axes = rules::reduction(op, axis, x.shape.len())?;
        rules::require_elements(op, x.shape, &axes)?;
        axes.sort_unstable();
        let is_summed = |axis: &usize| axes.contains(axis);
        let mut order: Vec<usize> = (0..x.shape.len()).collect();
        // an axis of stride 0 repeats elements, and counts as outermost
        let distance = |axis: usize| if x.strides[axis] == 0 { usize::MAX } else { x.strides[axis].unsigned_abs() };
        order.sort_by_key(|&axis| std::cmp::Reverse(distance(axis)));
        let mut first = order.iter().position(is_summed).unwrap_or(order.len());
        let in_memory = order[first..].iter().take(axes.len()).all(is_summed);
        if !in_memory {
            order.sort_by_key(is_summed);
            first = order.len() - axes.len();
        }
        let shape: Vec<usize> = order.iter().map(|&axis| x.shape[axis]).collect();
        let (outer, rest) = shape.split_at(first);
        let (summed, inner) = rest.split_at(axes.len());
        let dims = Dims { outer: outer.iter().product(), n: summed.iter().product(), inner: inner.iter().product() };
        Ok(SoftmaxInput { op, x, axes, order, in_memory, shape, dims })
    }

    /// Computes softmax or log-softmax. The result has the shape of `x`, and the memory order of `x` or C order.
    fn elements(self, of: SoftmaxFunction) -> Result<RawArray> {
        let elements = self.computed(of)?;
        let places = (0..self.order.len()).map(|axis| place(&self.order, axis)).collect::<Vec<_>>();
        // SAFETY: every element has been written.
        let array = unsafe { RawArray::new(self.op, self.shape, elements)? }.permuted(&places);
        let strides = array.strides();
        let is_in_order = self.in_memory || array.view(&strides).is_c_order();
        if is_in_order { Ok(array) } else { copy::to_raw(self.op, array.view(&strides)) }
    }

    /// Computes logsumexp. The result lacks the summed axes, or has them with length 1 if `keepdims`.
    fn values(self, keepdims: bool) -> Result<RawArray> {
        let values = self.computed(SoftmaxFunction::LogSumExp)?;
        let is_kept = |axis: &usize| !self.axes.contains(axis);
        let kept: Vec<usize> = self.order.iter().copied().filter(is_kept).collect();
        let shape = kept.iter().map(|&axis| self.x.shape[axis]).collect();
        let places: Vec<usize> = (0..self.order.len()).filter(is_kept).map(|axis| place(&kept, axis)).collect();
        // SAFETY: every value has been written.
        let values = unsafe { RawArray::new(self.op, shape, values)? }.permuted(&places);
        let inserted = if keepdims { &self.axes[..] } else { &[] };
        Ok(inserted.iter().fold(values, |values, &axis| values.with_axis(axis)))
    }

    /// The elements of the result. For 16-bit floats, they are computed in `f32` and rounded once.
    fn computed(&self, of: SoftmaxFunction) -> Result<Buffer> {
        let (op, dtype) = (self.op, self.x.dtype);
        let strides: Vec<isize> = self.order.iter().map(|&axis| self.x.strides[axis]).collect();
        let packed = copy::pack(op, View { shape: &self.shape, strides: &strides, ..self.x })?;
        let wide = computed_in(dtype);
        if wide == dtype {
            // SAFETY: the packed copy has the elements of the view.
            return unsafe { of_dtype(op, wide, packed.start(), self.dims, of) };
        }
        let x = Buffer::new(op, self.x.len(), wide)?;
        // SAFETY: `x` and the packed copy have the same number of elements, and so do `computed` and `result`. Every
        // element of both computed buffers has been written.
        unsafe {
            convert(dtype, wide, packed.start(), x.start(), x.len());
            let computed = of_dtype(op, wide, x.start(), self.dims, of)?;
            let result = Buffer::new(op, computed.len(), dtype)?;
            convert(wide, dtype, computed.start(), result.start(), result.len());
            Ok(result)
        }
    }
}

/// The position of `axis` in `order`.
fn place(order: &[usize], axis: usize) -> usize {
    order.iter().position(|&other| other == axis).unwrap_or(0)
}

/// Computes the function `of` of contiguous elements, whose axes have the order [`SoftmaxInput::order`].
///
/// # Safety
/// `x` must point to the number of elements that `dims` gives, of dtype float32 or float64.
unsafe fn of_dtype(op: &'static str, dtype: DType, x: *const u8, dims: Dims, of: SoftmaxFunction) -> Result<Buffer> {
    // SAFETY: the caller guarantees the elements.
    unsafe {
        match dtype {
            DType::Float32 => of_type::<f32>(op, x.cast(), dims, of),
            _ => of_type::<f64>(op, x.cast(), dims, of),
        }
    }
}

/// Number of elements of a part, unless one lane has more. A part of this size and its result stay in the L2 cache.
const PART: usize = 1 << 14;

/// Minimum number of contiguous elements in a row of a part, unless the rows of the array are shorter. If the rows of a
/// part were shorter, reading each row would wait for memory.
const NARROW: usize = 32;

/// Implements [`of_dtype`] for one type.
unsafe fn of_type<T: Real>(op: &'static str, x: *const T, dims: Dims, of: SoftmaxFunction) -> Result<Buffer> {
    let Dims { outer, n, inner } = dims;
    let (values, lane) = (outer * inner, n * inner);
    let out = Buffer::new(op, if of == SoftmaxFunction::LogSumExp { values } else { values * n }, T::DTYPE)?;
    if values == 0 {
        return Ok(out);
    }
    let (outers, width) = if lane <= PART { (PART / lane, inner) } else { (1, (PART / n).max(NARROW).min(inner)) };
    let columns = inner.div_ceil(width);
    let parts = outer.div_ceil(outers) * columns;
    // if there are too few parts for all threads, several threads share each part
    let shared = values * n >= 2 * COSTLY && parts < threads::count();
    let failed = OnceLock::new();
    let ends = copy::Ends { from: x.cast(), to: out.start() };
    let run = |part: usize| {
        let ends = &ends;
        let (o, column) = (part / columns * outers, part % columns * width);
        let (first, value) = (o * lane + column, o * inner + column);
        let part =
            LaneBlock { op, count: outers.min(outer - o), n, width: width.min(inner - column), step: inner, shared };
        // SAFETY: this part of the array and of the result belongs to one task only.
        let done = unsafe {
            let (x, to) = (ends.from.cast::<T>().add(first), ends.to.cast::<T>());
            part.run(x, to.add(if of == SoftmaxFunction::LogSumExp { value } else { first }), of)
        };
        if let Err(why) = done {
            failed.get_or_init(|| why);
        }
    };
    if shared {
        (0..parts).for_each(run);
    } else {
        parallel::parallel(parts, COSTLY / (outers * n * width).min(COSTLY), |range| range.for_each(run));
    }
    match failed.into_inner() {
        Some(why) => Err(why),
        None => Ok(out),
    }
}

/// `count * width` lanes of an array, stored in `count` groups of `n` rows. A row has `width` contiguous elements,
/// which belong to `width` lanes. A lane has one element in each of the `n` rows of its group. The rows begin `step`
/// elements apart.
struct LaneBlock {
    op: &'static str,
    count: usize,
    n: usize,
    width: usize,
    step: usize,
    /// True if several threads share this part.
    shared: bool,
}

impl LaneBlock {
    /// Writes the result: for softmax and log-softmax, elements in the layout of `x`; for logsumexp, one value per
    /// lane, in contiguous memory.
    ///
    /// # Safety
    /// `x` must point to the elements. `to` must have room for the result, and nobody else may use it.
    unsafe fn run<T: Real>(&self, x: *const T, to: *mut T, of: SoftmaxFunction) -> Result<()> {
        let LaneBlock { op, count, n, width, step, .. } = *self;
        let (shape, strides) = ([count, n, width], [(n * step) as isize, step as isize, 1]);
        let whole = View { start: x.cast(), dtype: T::DTYPE, shape: &shape, strides: &strides };
        let tops = self.values(max_of(whole.into(), Axes::from(1), false))?;
        // SAFETY: the caller guarantees the elements and enough room. There is a value for each lane, and the
        // exponentials fit the result or `own`.
        unsafe {
            let top = tops.start().cast::<T>();
            if of != SoftmaxFunction::Softmax {
                made_finite(top, tops.len());
            }
            let own = match of {
                SoftmaxFunction::Softmax => None,
                _ => Some(Buffer::new(op, count * n * width, T::DTYPE)?),
            };
            let powers = Rows {
                start: own.as_ref().map_or(to, |own| own.start().cast()),
                step: if own.is_some() { width } else { step },
            };
            let x = Rows { start: x.cast_mut(), step };
            let lanes = Rows { start: top, step: width };
            self.rows(|range| exponentials(self, range, x, lanes, powers));
            let strides = [(n * powers.step) as isize, powers.step as isize, 1];
            let all = View { start: powers.start.cast_const().cast(), strides: &strides, ..whole };
            let sums = self.values(sum_of(all.into(), Axes::from(1), false))?;
            let sum = Rows { start: sums.start().cast::<T>(), step: width };
            match of {
                SoftmaxFunction::Softmax => {
                    inverted(sum.start, tops.len());
                    self.rows(|range| multiplied(self, range, powers, sum, powers));
                }
                SoftmaxFunction::LogSoftmax => {
                    logarithms(sum.start, tops.len());
                    let to = Rows { start: to, step };
                    // subtracts the largest element and the logarithm one after another, because their sum would be
                    // rounded if the largest element is far from 0
                    self.rows(|range| {
                        subtracted(self, range.clone(), x, lanes, to);
                        subtracted(self, range, to, sum, to);
                    });
                }
                SoftmaxFunction::LogSumExp => {
                    logarithms(sum.start, tops.len());
                    added(sum.start, top, tops.len(), to);
                }
            }
        }
        Ok(())
    }

    /// Converts the result of a reduction, which has one value per lane, to a buffer with these values in the order of
    /// the lanes.
    fn values(&self, values: Result<RawArray>) -> Result<Buffer> {
        let (values, _, strides) = values.map_err(|why| why.within(self.op))?.into_parts();
        assert!(strides.is_none() && values.len() == self.count * self.width, "lanes in their order");
        Ok(values)
    }

    /// Calls `f` with the range of all rows. If threads share the part, calls `f` with several ranges on several
    /// threads.
    fn rows(&self, f: impl Fn(Range<usize>) + Sync) {
        let rows = self.count * self.n;
        if self.shared { parallel::parallel(rows, COSTLY / self.width, f) } else { f(0..rows) }
    }
}

/// The rows of a part, in the array or in a result.
#[derive(Clone, Copy)]
struct Rows<T> {
    start: *mut T,
    /// Number of elements from one row to the next.
    step: usize,
}

// SAFETY: each task has its own rows.
unsafe impl<T: Send> Sync for Rows<T> {}

/// Number of elements that [`exponentials`] processes at a time if rows are shorter. They stay in the L1 cache.
const BLOCK: usize = 512;

/// Writes `x - value`, or `x * value` if `PRODUCT`, for a range of rows. `value` has one value per lane.
///
/// # Safety
/// The rows must exist, with a value for each of their lanes. `to` must be the rows of `x`, or must not overlap them.
#[inline(always)]
unsafe fn combined<T: Real, const PRODUCT: bool>(
    &LaneBlock { n, width, .. }: &LaneBlock,
    range: &Range<usize>,
    x: Rows<T>,
    value: Rows<T>,
    to: Rows<T>,
) {
    let mut row = range.start;
    while row < range.end {
        // SAFETY: the caller guarantees the rows and the values.
        unsafe {
            let value = value.start.add(row / n * value.step);
            let (from, to) = (x.start.add(row * x.step), to.start.add(row * to.step));
            if width == 1 && x.step == 1 {
                // a row has one element, so the elements of a lane are contiguous; the loop takes the rest of the lane
                let (value, len) = (*value, (n - row % n).min(range.end - row));
                for i in 0..len {
                    let x = *from.add(i);
                    *to.add(i) = if PRODUCT { x.times(value) } else { x.minus(value) };
                }
                row += len;
            } else {
                for i in 0..width {
                    let (x, value) = (*from.add(i), *value.add(i));
                    *to.add(i) = if PRODUCT { x.times(value) } else { x.minus(value) };
                }
                row += 1;
            }
        }
    }
}

wide_versions! {
    /// Writes `exp(x - top)` for a range of rows. `top` has one value per lane.
    ///
    /// # Safety
    /// The conditions of [`combined`] hold.
    unsafe fn exponentials[T: Real][T](part: &LaneBlock, range: Range<usize>, x: Rows<T>, top: Rows<T>, to: Rows<T>) {
        let width = part.width;
        let mut first = range.start;
        while first < range.end {
            let end = range.end.min(first + (BLOCK / width).max(1));
            // SAFETY: the caller guarantees the rows and the values.
            unsafe {
                combined::<T, false>(part, &(first..end), x, top, to);
                // rows without gaps are processed as one row
                let (rows, len) = if to.step == width { (1, (end - first) * width) } else { (end - first, width) };
                for row in 0..rows {
                    let to = to.start.add((first + row) * to.step);
                    for i in 0..len {
                        *to.add(i) = (*to.add(i)).exp();
                    }
                }
            }
            first = end;
        }
    }
}

versions! {
    /// Writes `x * value` for a range of rows. `value` has one value per lane.
    ///
    /// # Safety
    /// The conditions of [`combined`] hold.
    unsafe fn multiplied[T: Real][T](part: &LaneBlock, range: Range<usize>, x: Rows<T>, value: Rows<T>, to: Rows<T>) {
        // SAFETY: the caller guarantees the rows and the values.
        unsafe { combined::<T, true>(part, &range, x, value, to) };
    }

    /// Writes `x - value` for a range of rows. `value` has one value per lane.
    ///
    /// # Safety
    /// The conditions of [`combined`] hold.
    unsafe fn subtracted[T: Real][T](part: &LaneBlock, range: Range<usize>, x: Rows<T>, value: Rows<T>, to: Rows<T>) {
        // SAFETY: the caller guarantees the rows and the values.
        unsafe { combined::<T, false>(part, &range, x, value, to) };
    }

    /// Replaces infinities and NaN by 0.
    ///
    /// # Safety
    /// `x` must have `n` numbers.
    unsafe fn made_finite[T: Real][T](x: *mut T, n: usize) {
        for i in 0..n {
            // SAFETY: the caller guarantees `n` numbers.
            unsafe { *x.add(i) = if (*x.add(i)).is_finite() { *x.add(i) } else { T::ZERO } };
        }
    }

    /// Replaces each number by `1 / x`.
    ///
    /// # Safety
    /// `x` must have `n` numbers.
    unsafe fn inverted[T: Real][T](x: *mut T, n: usize) {
        for i in 0..n {
            // SAFETY: the caller guarantees `n` numbers.
            unsafe { *x.add(i) = Float::div(T::ONE, *x.add(i)) };
        }
    }

    /// Replaces each number by `log(x)`.
    ///
    /// # Safety
    /// `x` must have `n` numbers.
    unsafe fn logarithms[T: Real][T](x: *mut T, n: usize) {
        for i in 0..n {
            // SAFETY: the caller guarantees `n` numbers.
            unsafe { *x.add(i) = (*x.add(i)).log() };
        }
    }

    /// Writes `x + y` to `to`.
    ///
    /// # Safety
    /// `x` and `y` must have `n` numbers, and `to` must have room for `n` results.
    unsafe fn added[T: Real][T](x: *const T, y: *const T, n: usize, to: *mut T) {
        for i in 0..n {
            // SAFETY: the caller guarantees `n` numbers at `x` and at `y`, and room for `n` results.
            unsafe { *to.add(i) = (*x.add(i)).plus(*y.add(i)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::typed::{log_softmax, logsumexp, softmax},
        *,
    };
    use backend_core::{
        Error, f16,
        numpyish::{NdArray, Numpyish, raw::view, simd, testing::layouts, typed::typed},
    };
    use ndarray::{ArrayD, IxDyn};

    const B: Numpyish = Numpyish::new();

    /// Reference results, computed by the definitions for one element at a time: softmax, log-softmax, and for each
    /// element the logsumexp of its lane.
    fn naive(x: &ArrayD<f64>, axes: &[usize]) -> [ArrayD<f64>; 3] {
        let mut all = [x.clone(), x.clone(), x.clone()];
        for (index, &x_here) in x.indexed_iter() {
            let is_of_lane = |other: &IxDyn| (0..x.ndim()).all(|k| axes.contains(&k) || other[k] == index[k]);
            let lane = || x.indexed_iter().filter(|(other, _)| is_of_lane(other)).map(|(_, &x)| x);
            let top = lane().fold(f64::NEG_INFINITY, f64::max);
            let log = lane().map(|x| (x - top).exp()).sum::<f64>().ln() + top;
            all[0][&index] = (x_here - log).exp();
            all[1][&index] = x_here - log;
            all[2][&index] = log;
        }
        all
    }

    fn near(got: &NdArray<f64>, want: &ArrayD<f64>, what: &str) {
        assert_eq!(got.shape(), want.shape(), "{what}");
        assert!(got.iter().zip(want).all(|(g, w)| (g - w).abs() < 1e-13 * (1.0 + w.abs())), "{what}: {got} {want}");
    }

    fn numbers(shape: &[usize]) -> ArrayD<f64> {
        let mut i = 0;
        ArrayD::from_shape_simple_fn(IxDyn(shape), || {
            i += 1;
            (i * 7919 % 1013) as f64 / 100.0 - 5.0
        })
    }

    #[test]
    fn every_layout_and_set_of_axes() {
        for shape in [&[3, 4, 5][..], &[2, 33, 3], &[7], &[1, 5, 1], &[40, 6]] {
            let x = numbers(shape);
            for bits in 0..1 << shape.len() {
                let axes: Vec<usize> = (0..shape.len()).filter(|k| bits >> k & 1 == 1).collect();
                let [soft, log, sum] = naive(&x, &axes);
                let by = || Axes::from(axes.iter().map(|&k| k as isize).collect::<Vec<_>>());
                for x in layouts(&x) {
                    let what = format!("{shape:?} {axes:?} {:?}", x.strides());
                    near(&softmax(&B, &x, by()).unwrap(), &soft, &what);
                    near(&log_softmax(&B, &x, by()).unwrap(), &log, &what);
                    let kept = logsumexp(&B, &x, by(), true).unwrap();
                    assert!((0..shape.len()).all(|k| kept.shape()[k] == if axes.contains(&k) { 1 } else { shape[k] }));
                    near(&kept.broadcast(shape).unwrap().to_owned().into_shared(), &sum, &what);
                    let values = logsumexp(&B, &x, by(), false).unwrap();
                    assert_eq!(values.iter().collect::<Vec<_>>(), kept.iter().collect::<Vec<_>>());
                }
            }
        }
    }

    /// The arrays are divided into groups of whole lanes, into some columns of long lanes, and into long lanes that
    /// several threads share. Neither the number of threads nor the instruction set changes a bit.
    #[test]
    fn many_parts() {
        for (shape, axis) in [(&[300, 100, 1][..], 1), (&[3, 700, 90], 1), (&[1, 40_000, 2], 1), (&[2, 40_000, 1], 1)] {
            let x = numbers(shape).into_shared();
            let mut results = Vec::new();
            for threads in [1, 2, 5, 16] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let all = || {
                    let by = || Axes::from(axis);
                    [softmax(&B, &x, by()), log_softmax(&B, &x, by()), logsumexp(&B, &x, by(), true)]
                        .map(Result::unwrap)
                };
                simd::with_each(|_| results.push(pool.install(all)));
            }
            let [soft, by_log, log] = results.swap_remove(0);
            let bits = |x: &NdArray<f64>| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            for other in results {
                assert!([&soft, &by_log, &log].into_iter().map(bits).eq(other.iter().map(bits)), "{shape:?}");
            }
            let all = x.iter().copied().collect::<Vec<_>>();
            let inner = shape[2];
            for (k, &log) in log.iter().enumerate() {
                let start = k / inner * shape[1] * inner + k % inner;
                let sum: f64 = (0..shape[1]).map(|i| all[start + i * inner].exp()).sum();
                assert!((sum.ln() - log).abs() < 1e-12, "{shape:?}");
            }
            for (((x, log), soft), by_log) in x.iter().zip(log.broadcast(shape).unwrap().iter()).zip(&soft).zip(&by_log)
            {
                assert!((by_log - (x - log)).abs() < 1e-12 && (soft.ln() - by_log).abs() < 1e-12, "{shape:?}");
            }
        }
    }

    #[test]
    fn memory_order_is_that_of_the_elements() {
        let x = numbers(&[4, 3, 2]).into_shared();
        let turned = x.clone().permuted_axes(IxDyn(&[2, 0, 1]));
        for axes in [vec![0], vec![1], vec![2], vec![1, 2], vec![0, 2]] {
            assert_eq!(softmax(&B, &x, Axes::from(&axes[..])).unwrap().strides(), [6, 2, 1], "{axes:?}");
        }
        assert_eq!(softmax(&B, &turned, Axes::from(0)).unwrap().strides(), turned.strides());
        // all rows of this array are the same row, repeated by broadcasting
        let row = x.index_axis(ndarray::Axis(0), 0).broadcast(IxDyn(&[5, 3, 2])).unwrap().to_owned().into_shared();
        let repeated = View { shape: &[5, 3, 2], strides: &[0, 2, 1], ..view(&x) };
        let got = SoftmaxInput::new("test", repeated, Axes::from(2))
            .and_then(|lanes| lanes.elements(SoftmaxFunction::LogSoftmax));
        let got: NdArray<f64> = typed(got).unwrap();
        assert_eq!((got.strides(), &got), (&[6, 2, 1][..], &log_softmax(&B, &row, Axes::from(2)).unwrap()));
    }

    /// Results far from 0 keep their precision, because the largest element and the logarithm are subtracted
    /// separately.
    #[test]
    fn large_numbers() {
        let x = ndarray::arr1(&[1e5_f32; 2]).into_dyn().into_shared();
        assert!(log_softmax(&B, &x, Axes::All).unwrap().iter().all(|&x| x == -std::f32::consts::LN_2));
        assert!(softmax(&B, &x, Axes::All).unwrap().iter().all(|&x| x == 0.5));
    }

    #[test]
    fn ends_of_the_range() {
        let inf = f64::INFINITY;
        let lanes = ndarray::arr2(&[[1e308, 1e308], [-inf, -inf], [-inf, 3.0], [inf, 1.0], [f64::NAN, 1.0]]);
        let x = lanes.into_dyn().into_shared();
        let text = |x: Result<NdArray<f64>>| format!("{}", x.unwrap()).replace([' ', '\n'], "");
        assert_eq!(text(softmax(&B, &x, Axes::from(1))), "[[0.5,0.5],[NaN,NaN],[0,1],[NaN,NaN],[NaN,NaN]]");
        assert_eq!(
            text(logsumexp(&B, &x, Axes::from(1), false)),
            "[1e308,-inf,3,inf,NaN]".replace("1e308", &format!("{}", 1e308))
        );
        let none = ArrayD::<f64>::zeros(IxDyn(&[0, 3])).into_shared();
        assert_eq!(softmax(&B, &none, Axes::from(1)).unwrap().shape(), [0, 3]);
        assert_eq!(logsumexp(&B, &none, Axes::from(1), false).unwrap().shape(), [0]);
        assert!(matches!(softmax(&B, &none, Axes::from(0)), Err(Error::Shape { op: "softmax", .. })));
        let half = softmax(&B, &ndarray::arr1(&[f16::ONE; 3]).into_dyn().into_shared(), Axes::All).unwrap();
        assert!(half.iter().all(|&x| x == f16::from_f64(1.0 / 3.0)));
    }
}
