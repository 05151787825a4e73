//! Gathers and scatters along one axis, by arrays of indices.

use super::sums::{Runs, product, sum};
use backend_core::{
    Complex, DType, Error, Numeric, Ordered, Real, Result, bf16, f16,
    numpyish::{
        OpContext,
        buffer::Buffer,
        copy::{self, Ends, by_bits},
        parallel::{self, CHEAP, COSTLY},
        raw::{RawArray, View},
        region::Region,
        simd::versions,
    },
    rules::{self, Along},
};
use std::sync::atomic::{AtomicBool, Ordering};

versions! {
    /// Returns whether all indices are within an axis of length `len`; negative indices count from the end. The test
    /// has no branches: an index outside the axis sets the sign bit of `bad`.
    unsafe fn all_inside[][](indices: &[i64], len: usize) -> bool {
        let n = len as i64;
        let mut bad = 0;
        for &i in indices {
            bad |= i.wrapping_add(n) | (n - 1).wrapping_sub(i);
        }
        bad >= 0
    }
}

pub(super) fn inside(indices: &[i64], len: usize) -> bool {
    // SAFETY: the loop has no preconditions.
    unsafe { all_inside(indices, len) }
}

/// Returns an error that names the first index outside an axis, if there is one.
pub(super) fn check(op: &'static str, indices: &[i64], axis: usize, len: usize) -> Result<()> {
    if inside(indices, len) {
        return Ok(());
    }
    let index = indices.iter().copied().find(|&i| !inside(&[i], len)).unwrap_or_default();
    Err(Error::index(op, index, axis, len))
}

/// Converts an index along an axis of length `len` to an index that is not negative. Negative indices count from the
/// end.
#[inline(always)]
pub(super) fn from_start(index: i64, len: usize) -> usize {
    (index + ((index >> 63) & len as i64)) as usize
}

/// Numbers of elements before and after an axis: the products of the lengths of the axes before it and after it.
fn around(shape: &[usize], axis: usize) -> (usize, usize) {
    (shape[..axis].iter().product(), shape[axis + 1..].iter().product())
}

/// Returns the elements at `indices` along one axis, or at these indices of the flattened array if `axis` is `None`.
pub fn take(on: OpContext<'_>, x: View<'_>, indices: View<'_>, axis: Option<isize>) -> Result<RawArray> {
    copy::along_or_row(on.op, x, axis, |x, axis| taken(on.op, x, indices, axis))
}

fn taken(op: &'static str, x: View<'_>, indices: View<'_>, axis: isize) -> Result<RawArray> {
    let size = x.dtype.size();
    let (axis, shape) = rules::taken(op, x.shape, indices.shape, axis, size)?;
    let (len, n) = (x.shape[axis], rules::count(op, &shape, size)?);
    let packed = copy::pack(op, indices)?;
    // SAFETY: the packed copy has `indices.len()` indices.
    let indices = unsafe { packed.slice::<i64>(indices.len()) };
    let (outer, inner) = around(x.shape, axis);
    let few = !x.is_c_order() && indices.len() < len / 2;
    // `gather` checks the indices that it uses; the other loops do not check them
    if few || inner != 1 || len == 0 || outer == 0 {
        check(op, indices, axis, len)?;
    }
    if few {
        return take_slices(op, x, indices, axis, shape);
    }
    let from = copy::pack(op, x)?;
    if inner == 1 {
        let rows = Rows { count: outer, width: indices.len(), axis, len, inner };
        let slab = |row: usize| row * len;
        return gather(op, shape, x.dtype, &rows, from.start(), &slab, &|_| indices);
    }
    let out = Buffer::new(op, n, x.dtype)?;
    let (ends, bytes) = (Ends { from: from.start(), to: out.start() }, inner * size);
    parallel::parallel(n.checked_div(inner).unwrap_or(0), (CHEAP / inner.max(1)).max(1), |rows| {
        let ends = &ends;
        for row in rows {
            let (outer, k) = (row / indices.len(), row % indices.len());
            let from = outer * len + from_start(indices[k], len);
            // SAFETY: the rows are within both buffers, and the index is within the axis, as checked.
            unsafe { std::ptr::copy_nonoverlapping(ends.from.add(from * bytes), ends.to.add(row * bytes), bytes) };
        }
    });
    // SAFETY: every row of the result has been written.
    unsafe { RawArray::new(op, shape, out) }
}

/// Implements [`take`] for few indices: copies the slices at these indices, without reading the rest of the array.
fn take_slices(op: &'static str, x: View<'_>, indices: &[i64], axis: usize, shape: Vec<usize>) -> Result<RawArray> {
    let mut flat = x.shape.to_vec();
    flat[axis] = indices.len();
    let mut strides = rules::c_strides(&flat);
    let step = strides.remove(axis) as usize;
    let mut out = Buffer::new(op, rules::count(op, &shape, x.dtype.size())?, x.dtype)?;
    for (k, &index) in indices.iter().enumerate() {
        let slice = Region::of(x).at(axis, from_start(index, x.shape[axis]));
        copy::place(&mut out, k * step, &strides, slice.view());
    }
    // SAFETY: the slices cover the axis, so that every element has been written.
    unsafe { RawArray::new(op, shape, out) }
}

/// Returns the elements at `indices` along one axis, with one index for each element of the result. The other axes of
/// `x` and `indices` broadcast.
pub fn take_along_axis(on: OpContext<'_>, x: View<'_>, indices: View<'_>, axis: isize) -> Result<RawArray> {
    let op = on.op;
    let Along { axis, x: x_shape, shape } = rules::along(op, x.shape, indices.shape, axis, x.dtype.size())?;
    let (len, many) = (x_shape[axis], shape[axis]);
    if shape.contains(&0) {
        let packed = copy::pack(op, indices)?;
        // SAFETY: the packed copy has `indices.len()` indices.
        check(op, unsafe { packed.slice::<i64>(indices.len()) }, axis, len)?;
        return RawArray::empty(op, shape, x.dtype);
    }
    let wide = Region::of(x).broadcast(op, &x_shape)?;
    let from = copy::pack(op, wide.view())?;
    let wide_indices = Region::of(indices).broadcast(op, &shape)?;
    let packed = copy::pack(op, wide_indices.view())?;
    // SAFETY: the packed copy has as many indices as the broadcast view.
    let indices = unsafe { packed.slice::<i64>(wide_indices.view().len()) };
    let (outer, inner) = around(&shape, axis);
    // element `k` of a row is read from column `k` of the row's slab (see `Rows`), or from column 0 of a slab with a
    // single column
    let (count, width) = if inner == 1 { (outer, many) } else { (outer * many, inner) };
    let rows = Rows { count, width, axis, len, inner };
    let slab = |row: usize| if inner == 1 { row } else { row / many } * len * inner;
    gather(op, shape, x.dtype, &rows, from.start(), &slab, &|row| &indices[row * width..][..width])
}

/// The rows of the result of a gather. A row has `width` elements, which are read from one slab of the input: a
/// matrix of `len` rows (one for each index along `axis`) and `inner` columns.
struct Rows {
    count: usize,
    width: usize,
    axis: usize,
    len: usize,
    inner: usize,
}

/// Gathers the rows of a result. `slab(row)` is the index, in the input, of the first element of the row's slab.
/// `indices(row)` are the row's indices.
fn gather<'a>(
    op: &'static str,
    shape: Vec<usize>,
    dtype: DType,
    rows: &Rows,
    from: *const u8,
    slab: &(dyn Fn(usize) -> usize + Sync),
    indices: &(dyn Fn(usize) -> &'a [i64] + Sync),
) -> Result<RawArray> {
    /// Maximum number of indices of one task. A task first checks its indices, and then reads them again while they
    /// are in the cache.
    const COLUMNS: usize = 1 << 12;
    let &Rows { count, width, axis, len, inner } = rows;
    let size = dtype.size();
    let segments = width.div_ceil(COLUMNS);
    let outside = AtomicBool::new(false);
    let out = Buffer::new(op, rules::count(op, &shape, size)?, dtype)?;
    let ends = Ends { from, to: out.start() };
    parallel::parallel(count * segments, (4 * COSTLY).div_ceil(width.clamp(1, COLUMNS)), |tasks| {
        let ends = &ends;
        for task in tasks {
            let (row, first) = (task / segments, task % segments * COLUMNS);
            let indices = &indices(row)[first..width.min(first + COLUMNS)];
            if !inside(indices, len) {
                outside.store(true, Ordering::Relaxed);
                return;
            }
            // SAFETY: the segment is within a row of the result, and the indices are within the slab.
            unsafe {
                let to = ends.to.add((row * width + first) * size);
                let slab = ends.from.add(slab(row) * size);
                by_bits!(dtype, U => gather_row::<U>(slab.cast(), len, inner, first, indices, to.cast()));
            }
        }
    });
    if outside.into_inner() {
        (0..count).try_for_each(|row| check(op, indices(row), axis, len))?;
    }
    // SAFETY: all indices were inside, so every segment of every row has been written.
    unsafe { RawArray::new(op, shape, out) }
}

/// Gathers elements of a slab at indices that are within the axis. Index `k` selects a row of the slab, and is read
/// from column `first + k`, or from the only column if `inner` is 1.
///
/// # Safety
/// The slab must have `len` times `inner` elements, `out` must have room for an element for each index, and the columns
/// must be less than `inner`.
unsafe fn gather_row<U: Copy>(slab: *const U, len: usize, inner: usize, first: usize, indices: &[i64], out: *mut U) {
    // SAFETY: the caller guarantees the slab, enough room and the columns.
    unsafe {
        if inner == 1 {
            for (k, &i) in indices.iter().enumerate() {
                *out.add(k) = *slab.add(from_start(i, len));
            }
        } else {
            for (k, &i) in indices.iter().enumerate() {
                *out.add(k) = *slab.add(from_start(i, len) * inner + first + k);
            }
        }
    }
}

/// A copy of `x` in which values are added to the elements at indices along one axis.
pub fn scatter_add(
    on: OpContext<'_>,
    x: View<'_>,
    indices: View<'_>,
    values: View<'_>,
    axis: isize,
) -> Result<RawArray> {
    scattered(on.op, x, indices, values, axis, addition(x.dtype))
}

/// A copy of `x` in which the elements at indices along one axis are multiplied by values.
pub fn scatter_mul(
    _: OpContext<'_>,
    x: View<'_>,
    indices: View<'_>,
    values: View<'_>,
    axis: isize,
) -> Result<RawArray> {
    scatter_mul_of(x, indices, values, axis)
}

/// Like `scatter_mul`, for a call by another backend.
pub fn scatter_mul_of(x: View<'_>, indices: View<'_>, values: View<'_>, axis: isize) -> Result<RawArray> {
    scattered("scatter_mul", x, indices, values, axis, multiplication(x.dtype))
}

/// A copy of `x` in which the elements at indices along one axis are replaced by the larger of the element and a value.
pub fn scatter_max(
    on: OpContext<'_>,
    x: View<'_>,
    indices: View<'_>,
    values: View<'_>,
    axis: isize,
) -> Result<RawArray> {
    scattered(on.op, x, indices, values, axis, largest(x.dtype))
}

/// A copy of `x` in which the elements at indices along one axis are replaced by the smaller of the element and a
/// value.
pub fn scatter_min(
    on: OpContext<'_>,
    x: View<'_>,
    indices: View<'_>,
    values: View<'_>,
    axis: isize,
) -> Result<RawArray> {
    scattered(on.op, x, indices, values, axis, smallest(x.dtype))
}

/// A copy of `x` in which the elements at indices along one axis are replaced by values.
pub fn scatter(on: OpContext<'_>, x: View<'_>, indices: View<'_>, values: View<'_>, axis: isize) -> Result<RawArray> {
    scattered(on.op, x, indices, values, axis, replacement(x.dtype))
}

/// The loops of a scatter. Each combines values with elements: a value replaces an element, is added to it, and so on.
struct Put {
    /// Combines a value for each index with the element at that index, in a lane (a 1-D slice along the axis) of
    /// `len` elements.
    at: unsafe fn(lane: *mut u8, len: usize, indices: &[i64], values: *const u8),
    /// Combines `n` contiguous values with `n` contiguous elements.
    row: unsafe fn(to: *mut u8, values: *const u8, n: usize),
    /// A loop that is used instead of `at` and `row`, if it is not `None`. It combines each element of the lanes with
    /// all values for this element at once.
    runs: Option<unsafe fn(runs: &Runs, indices: &[i64], lanes: ScatterColumns)>,
}

/// The lanes that a task changes: columns `first..first + n` of a matrix of `len` rows and `inner` columns, in which
/// the indices select rows. The values for these columns are at `values`.
struct ScatterColumns {
    to: *mut u8,
    values: *const u8,
    len: usize,
    inner: usize,
    first: usize,
    n: usize,
}

/// Defines the loops that combine 16-bit floats in float32, and round each result once.
macro_rules! combining_runs {
    ($name:ident: $combined:ident) => {
        unsafe fn $name<T: Real + Into<f32>>(runs: &Runs, indices: &[i64], lanes: ScatterColumns) {
            let ScatterColumns { to, values, len, inner, first, n } = lanes;
            let (to, values) = (to.cast::<T>(), values.cast::<T>());
            for run in runs.iter() {
                let Some(&k) = run.first() else { continue };
                let row = from_start(indices[k], len) * inner;
                for column in first..first + n {
                    // SAFETY: the index is within the lane, there is a value for each index, and `column` is a column
                    // of both matrices.
                    unsafe {
                        let to = to.add(row + column);
                        *to = $combined(*to, run.iter().map(|k| *values.add(k * inner + column)));
                    }
                }
            }
        }
    };
}
combining_runs! { add_runs: sum }
combining_runs! { multiply_runs: product }

/// Chooses the loops that add. Signed and unsigned integers share loops, because their sums have the same bits.
fn addition(dtype: DType) -> Put {
    fn of<T: Numeric>() -> Put {
        Put { at: add_at::<T>, row: add_row::<T>, runs: None }
    }
    use backend_core::dtype::Arithmetic::*;
    match dtype.arithmetic() {
        UInt8 => of::<u8>(),
        UInt16 => of::<u16>(),
        UInt32 => of::<u32>(),
        UInt64 => of::<u64>(),
        Float16 => Put { runs: Some(add_runs::<f16>), ..of::<f16>() },
        BFloat16 => Put { runs: Some(add_runs::<bf16>), ..of::<bf16>() },
        Float32 => of::<f32>(),
        Float64 => of::<f64>(),
        Complex64 => of::<Complex<f32>>(),
        Complex128 => of::<Complex<f64>>(),
    }
}

fn replacement(dtype: DType) -> Put {
    unsafe fn row<U>(to: *mut u8, values: *const u8, n: usize) {
        // SAFETY: `values` and `to` have `n` elements each.
        unsafe { std::ptr::copy_nonoverlapping(values.cast::<U>(), to.cast::<U>(), n) };
    }
    unsafe fn at<U: Copy>(lane: *mut u8, len: usize, indices: &[i64], values: *const u8) {
        for (k, &i) in indices.iter().enumerate() {
            // SAFETY: the index is within the lane, and there is a value for each index.
            unsafe { *lane.cast::<U>().add(from_start(i, len)) = *values.cast::<U>().add(k) };
        }
    }
    by_bits!(dtype, U => Put { at: at::<U>, row: row::<U>, runs: None })
}

/// Defines the loops that combine values with elements by a method of the element type.
macro_rules! combining {
    ($bound:ident $method:ident: $at:ident $row:ident) => {
        unsafe fn $at<T: $bound>(lane: *mut u8, len: usize, indices: &[i64], values: *const u8) {
            for (k, &i) in indices.iter().enumerate() {
                // SAFETY: the index is within the lane, and there is a value for each index.
                unsafe {
                    let to = lane.cast::<T>().add(from_start(i, len));
                    *to = (*to).$method(*values.cast::<T>().add(k));
                }
            }
        }

        versions! {
            unsafe fn $row[T: $bound][T](to: *mut u8, values: *const u8, n: usize) {
                let (to, values) = (to.cast::<T>(), values.cast::<T>());
                for i in 0..n {
                    // SAFETY: `values` and `to` have `n` elements each.
                    unsafe { *to.add(i) = (*to.add(i)).$method(*values.add(i)) };
                }
            }
        }
    };
}
combining! { Numeric plus: add_at add_row }
combining! { Numeric times: multiply_at multiply_row }
combining! { Ordered maximum: maximum_at maximum_row }
combining! { Ordered minimum: minimum_at minimum_row }

/// Chooses the loops that multiply. Signed and unsigned integers share loops, because their products have the same
/// bits.
fn multiplication(dtype: DType) -> Put {
    fn of<T: Numeric>() -> Put {
        Put { at: multiply_at::<T>, row: multiply_row::<T>, runs: None }
    }
    use backend_core::dtype::Arithmetic::*;
    match dtype.arithmetic() {
        UInt8 => of::<u8>(),
        UInt16 => of::<u16>(),
        UInt32 => of::<u32>(),
        UInt64 => of::<u64>(),
        Float16 => Put { runs: Some(multiply_runs::<f16>), ..of::<f16>() },
        BFloat16 => Put { runs: Some(multiply_runs::<bf16>), ..of::<bf16>() },
        Float32 => of::<f32>(),
        Float64 => of::<f64>(),
        Complex64 => of::<Complex<f32>>(),
        Complex128 => of::<Complex<f64>>(),
    }
}

/// Chooses the loops for a dtype whose elements are ordered.
macro_rules! ordered {
    ($dtype:expr, $at:ident $row:ident) => {{
        fn of<T: Ordered>() -> Put {
            Put { at: $at::<T>, row: $row::<T>, runs: None }
        }
        use DType::*;
        match $dtype {
            Bool => of::<bool>(),
            Int8 => of::<i8>(),
            Int16 => of::<i16>(),
            Int32 => of::<i32>(),
            Int64 => of::<i64>(),
            UInt8 => of::<u8>(),
            UInt16 => of::<u16>(),
            UInt32 => of::<u32>(),
            UInt64 => of::<u64>(),
            Float16 => of::<f16>(),
            BFloat16 => of::<bf16>(),
            Float32 => of::<f32>(),
            Float64 => of::<f64>(),
            _ => unreachable!("complex numbers have no order"),
        }
    }};
}

fn largest(dtype: DType) -> Put {
    ordered!(dtype, maximum_at maximum_row)
}

fn smallest(dtype: DType) -> Put {
    ordered!(dtype, minimum_at minimum_row)
}

/// Combines values with elements in the order of the indices. So sums do not depend on the number of threads, and if
/// a scatter writes several values to the same element, the last one remains.
fn scattered(
    op: &'static str,
    x: View<'_>,
    indices: View<'_>,
    values: View<'_>,
    axis: isize,
    put: Put,
) -> Result<RawArray> {
    /// Maximum number of columns of one task. A column is an index along the axes after `axis`.
    const COLUMNS: usize = 1 << 9;
    let axis = rules::scattered(op, x.shape, indices.shape, values.shape, axis)?;
    let (len, size) = (x.shape[axis], x.dtype.size());
    let packed = copy::pack(op, indices)?;
    // SAFETY: the packed copy has `indices.len()` indices.
    let indices = unsafe { packed.slice::<i64>(indices.len()) };
    check(op, indices, axis, len)?;
    let out = copy::to_buffer(op, x)?;
    if values.len() == 0 {
        // The axes after the indexed axis may have any length here, because no element is written.
        // SAFETY: the copy has all elements.
        return unsafe { RawArray::new(op, x.shape.to_vec(), out) };
    }
    let from = copy::pack(op, values)?;
    let (outer, inner) = around(x.shape, axis);
    let segments = inner.div_ceil(COLUMNS);
    let ends = Ends { from: from.start(), to: out.start() };
    let runs = match put.runs {
        Some(put) => Some((put, Runs::of(op, indices.len(), |k| from_start(indices[k], len))?)),
        None => None,
    };
    let work = indices.len().saturating_mul(inner.min(COLUMNS));
    parallel::parallel(outer * segments, (CHEAP / work.max(1)).max(1), |tasks| {
        let ends = &ends;
        for task in tasks {
            let (o, first) = (task / segments, task % segments * COLUMNS);
            let width = COLUMNS.min(inner - first);
            // SAFETY: indices are within the axis, as checked. Tasks write to different indices of the axes before the
            // indexed axis, or to different columns.
            unsafe {
                if let Some((put, runs)) = &runs {
                    let to = ends.to.add(o * len * inner * size);
                    let values = ends.from.add(o * indices.len() * inner * size);
                    put(runs, indices, ScatterColumns { to, values, len, inner, first, n: width });
                    continue;
                }
                if inner == 1 {
                    (put.at)(ends.to.add(o * len * size), len, indices, ends.from.add(o * indices.len() * size));
                    continue;
                }
                for (k, &index) in indices.iter().enumerate() {
                    let to = (o * len + from_start(index, len)) * inner + first;
                    let from = (o * indices.len() + k) * inner + first;
                    (put.row)(ends.to.add(to * size), ends.from.add(from * size), width);
                }
            }
        }
    });
    // SAFETY: every element has been copied, or written by `put`.
    unsafe { RawArray::new(op, x.shape.to_vec(), out) }
}

#[cfg(test)]
mod tests {
    use super::super::{
        tests::{counting, list},
        typed::{scatter, scatter_add, scatter_max, scatter_min, scatter_mul, take, take_along_axis},
    };
    use super::*;
    use backend_core::{
        IntoHost,
        numpyish::{NdArray, Numpyish, testing::Dice, testing::array},
    };
    use ndarray::Axis;

    const B: Numpyish = Numpyish::new();

    #[test]
    fn indices_outside_are_errors() {
        let x = counting(&[2, 3]);
        for bad in [3, -4, i64::MIN, i64::MAX] {
            let i = [bad].into_host().unwrap();
            let error = Error::index("take", bad, 1, 3);
            assert_eq!(take(&B, &x, &i, Some(1)), Err(error));
        }
        assert_eq!(list(&take(&B, &x, &[-1, 0].into_host().unwrap(), Some(-1)).unwrap()), [2, 0, 5, 3]);
        assert_eq!(take(&B, &x, &counting(&[0]), Some(0)).unwrap().shape(), [0, 3]);
        assert!(take(&B, &x, &counting(&[1]), Some(2)).is_err());
    }

    #[test]
    fn the_last_of_equal_indices_counts_and_sums_add_up() {
        let (x, i) = (counting(&[3]), [1_i64, 1, -1].into_host().unwrap());
        let values = [10_i64, 20, 30].into_host().unwrap();
        assert_eq!(list(&scatter(&B, &x, &i, &values, 0).unwrap()), [0, 20, 30]);
        assert_eq!(list(&scatter_add(&B, &x, &i, &values, 0).unwrap()), [0, 31, 32]);
        assert_eq!(list(&scatter_mul(&B, &x, &i, &values, 0).unwrap()), [0, 200, 60]);
        assert_eq!(list(&scatter_max(&B, &x, &i, &values, 0).unwrap()), [0, 20, 30]);
        assert_eq!(list(&scatter_min(&B, &x, &i, &values, 0).unwrap()), [0, 1, 2]);
        assert!(scatter(&B, &x, &i, &counting(&[2]), 0).is_err());
        assert!(scatter(&B, &x, &counting(&[1, 1]), &values, 0).is_err());
    }

    #[test]
    fn products_of_16_bit_floats_are_rounded_once() {
        let [x, values] = [vec![1.0], vec![400.0, 200.0, 0.5]].map(|x| x.into_iter().map(f16::from_f64).collect());
        let [x, values]: [NdArray<f16>; 2] = [x, values].map(|x: Vec<f16>| x.into_host().unwrap());
        let i = [0_i64, 0, 0].into_host().unwrap();
        assert_eq!(scatter_mul(&B, &x, &i, &values, 0).unwrap()[0].to_f64(), 40000.0);
    }

    #[test]
    fn along_an_axis_one_index_each() {
        let x = counting(&[2, 3]);
        let i = [[2_i64], [0]].into_host().unwrap();
        assert_eq!(list(&take_along_axis(&B, &x, &i, 1).unwrap()), [2, 3]);
        let i = [[1_i64, 0, 1]].into_host().unwrap();
        assert_eq!(list(&take_along_axis(&B, &x, &i, 0).unwrap()), [3, 1, 5]);
        assert!(take_along_axis(&B, &x, &counting(&[3]), 0).is_err());
    }

    /// An array of random indices, some of which are counted from the end.
    fn some_indices(dice: &mut Dice, shape: &[usize], len: usize) -> NdArray<i64> {
        let places: NdArray<i64> = dice.layout_of(shape);
        places.map(|_| dice.below(2 * len) as i64 - len as i64).into_shared()
    }

    #[test]
    fn gathers_and_scatters_of_any_layout() {
        let mut dice = Dice(3);
        for round in 0..60 {
            let shape: Vec<usize> = (0..1 + dice.below(3)).map(|_| 1 + dice.below([6, 30][round % 2])).collect();
            let x: NdArray<i64> = dice.layout_of(&shape);
            let axis = dice.below(shape.len());
            let len = shape[axis];
            let many = [1, len, 3 * len][dice.below(3)];
            let i = some_indices(&mut dice, &[many], len);
            let start = |i: i64| if i < 0 { i + len as i64 } else { i } as usize;

            let taken = take(&B, &x, &i, Some(axis as isize)).unwrap();
            let naive: Vec<usize> = i.iter().map(|&i| start(i)).collect();
            assert_eq!(taken, x.select(Axis(axis), &naive), "{shape:?} {axis}");

            let mut along_shape = shape.clone();
            along_shape[axis] = many;
            let along = some_indices(&mut dice, &along_shape, len);
            let found = take_along_axis(&B, &x, &along, axis as isize).unwrap();
            for (at, &value) in found.indexed_iter() {
                let mut from = at.clone();
                from[axis] = start(along[&at]);
                assert_eq!(value, x[&from]);
            }

            let values: NdArray<i64> = dice.layout_of(&along_shape);
            let (mut sums, mut last) = (x.to_owned(), x.to_owned());
            for (k, &to) in naive.iter().enumerate() {
                let from = values.index_axis(Axis(axis), k);
                let mut row = sums.index_axis_mut(Axis(axis), to);
                row += &from;
                last.index_axis_mut(Axis(axis), to).assign(&from);
            }
            assert_eq!(scatter_add(&B, &x, &i, &values, axis as isize).unwrap(), sums);
            assert_eq!(scatter(&B, &x, &i, &values, axis as isize).unwrap(), last);
        }
    }

    #[test]
    fn huge_shapes_of_nothing_are_looked_through_at_once() {
        let none = Vec::<i64>::new();
        let x = array("zeros", &[1 << 40, 0], none).unwrap();
        assert_eq!(take(&B, &x, &counting(&[3]), Some(0)).unwrap().shape(), [3, 0]);
        assert_eq!(scatter(&B, &x, &counting(&[0]), &array("x", &[0, 0], vec![]).unwrap(), 0).unwrap(), x);
        assert!(matches!(take(&B, &x, &counting(&[1]), Some(1)), Err(Error::Index { len: 0, .. })));
    }
}
