//! Reductions of each segment of an axis to one element, composed of ops of any backend. The array `segments` gives the
//! segment of each index along the axis, a number below `count`.

use crate::{
    Backend, DType, Element, Error, Float, Numeric, Ordered, Result, SearchsortedOptions, SegmentSumOptions, Side,
    finfo, iinfo, lazy, manipulation::part, runtime::rules,
};

/// Sum of the elements of each segment. `segments` gives the segment of each index along the axis.
pub fn segment_sum<B: Backend, T: Numeric>(
    b: &B,
    x: &B::Array<T>,
    segments: &B::Array<i64>,
    count: usize,
    axis: isize,
) -> Result<B::Array<T>> {
    let start = b.zeros::<T>(reduced("segment_sum", b, x, segments, count, axis)?)?;
    b.scatter_add(start, segments, x, axis)
}

/// Product of the elements of each segment. `segments` gives the segment of each index along the axis.
pub fn segment_prod<B: Backend, T: Numeric>(
    b: &B,
    x: &B::Array<T>,
    segments: &B::Array<i64>,
    count: usize,
    axis: isize,
) -> Result<B::Array<T>> {
    let start = b.ones::<T>(reduced("segment_prod", b, x, segments, count, axis)?)?;
    b.scatter_mul(start, segments, x, axis)
}

/// The largest element of each segment. `segments` gives the segment of each index along the axis.
pub fn segment_max<B: Backend, T: Ordered>(
    b: &B,
    x: &B::Array<T>,
    segments: &B::Array<i64>,
    count: usize,
    axis: isize,
) -> Result<B::Array<T>> {
    let start = b.full(reduced("segment_max", b, x, segments, count, axis)?, ends::<T>()?.0)?;
    b.scatter_max(start, segments, x, axis)
}

/// The smallest element of each segment. `segments` gives the segment of each index along the axis.
pub fn segment_min<B: Backend, T: Ordered>(
    b: &B,
    x: &B::Array<T>,
    segments: &B::Array<i64>,
    count: usize,
    axis: isize,
) -> Result<B::Array<T>> {
    let start = b.full(reduced("segment_min", b, x, segments, count, axis)?, ends::<T>()?.1)?;
    b.scatter_min(start, segments, x, axis)
}

/// Mean of the elements of each segment. `segments` gives the segment of each index along the axis.
pub fn segment_mean<B: Backend, T: Float>(
    b: &B,
    x: &B::Array<T>,
    segments: &B::Array<i64>,
    count: usize,
    axis: isize,
) -> Result<B::Array<T>> {
    let start = b.full(reduced("segment_mean", b, x, segments, count, axis)?, T::from_f64(f64::NAN))?;
    b.scatter_mean(start, segments, x, axis)
}

/// The shape of the result, in which the axis has length `count`.
fn reduced<B: Backend, T: Element>(
    op: &'static str,
    b: &B,
    x: &B::Array<T>,
    segments: &B::Array<i64>,
    count: usize,
    axis: isize,
) -> Result<Vec<usize>> {
    rules::segmented(op, b.shape(x), b.shape(segments), count, axis, T::dtype().size())
}

/// The lowest and the highest value of a dtype; infinities for floats.
fn ends<T: Ordered>() -> Result<(T, T)> {
    if finfo(T::dtype()).is_ok() {
        return Ok((T::from_f64(f64::NEG_INFINITY), T::from_f64(f64::INFINITY)));
    }
    match iinfo(T::dtype()) {
        Ok(info) => Ok((integer(info.min)?, integer(info.max)?)),
        Err(_) => Ok((T::from_i64(0), T::from_i64(1))),
    }
}

fn integer<T: Element>(value: i128) -> Result<T> {
    crate::Number::Integer(value).element("segment_max")
}

/// Returns a copy of `x` in which each indexed element is replaced by the mean of the `values` for its index.
pub fn scatter_mean<B: Backend, T: Float>(
    b: &B,
    x: &B::Array<T>,
    indices: &B::Array<i64>,
    values: &B::Array<T>,
    axis: isize,
) -> Result<B::Array<T>> {
    let axis = rules::scattered("scatter_mean", b.shape(x), b.shape(indices), b.shape(values), axis)? as isize;
    if is_16_bit::<T>() {
        // sums and counts may exceed the range of 16-bit floats although the means do not
        let (x, values) = (b.astype::<f32, _>(x)?, b.astype::<f32, _>(values)?);
        return b.astype::<T, _>(scatter_mean(b, &x, indices, &values, axis)?);
    }
    let mut along = vec![1; b.shape(x).len()];
    along[axis as usize] = b.shape(x)[axis as usize];
    let count = b.scatter_add(b.zeros::<i64>([along[axis as usize]])?, indices, b.ones::<i64>(b.shape(indices))?, 0)?;
    let count = b.reshape(b.astype::<T, _>(count)?, along)?;
    let sum = b.scatter_add(b.zeros_like(x)?, indices, values, axis)?;
    lazy(&count).not_equal(lazy(T::ZERO)).r#where(lazy(&sum) / &count, x).eval(b)
}

/// Returns whether `T` is a 16-bit float, in which sums soon overflow.
pub(crate) fn is_16_bit<T: Element>() -> bool {
    matches!(T::dtype(), DType::Float16 | DType::BFloat16)
}

/// For each index, sums the elements along an axis from this index to the next index, or to the end of the axis.
pub fn indexed_segment_sum<B: Backend, T: Numeric>(
    b: &B,
    x: &B::Array<T>,
    indices: &B::Array<i64>,
    axis: isize,
) -> Result<B::Array<T>> {
    const OP: &str = "indexed_segment_sum";
    let (axis, len, count) = rules::cut(OP, b.shape(x), b.shape(indices), axis, T::dtype().size())?;
    if count == 0 {
        return part(b, x, axis, 0..0);
    }
    let last = count as i128;
    let (before, behind) = (part(b, indices, 0, 0..last - 1)?, part(b, indices, 0, 1..last)?);
    let ascend = b.all(lazy(&before).less_equal(&behind).eval(b)?, ..)?;
    let inside = (lazy(indices).greater_equal(0) & lazy(indices).less_equal(len as i64)).eval(b)?;
    if !b.item(b.bitwise_and(ascend, b.all(inside, ..)?)?)? {
        return Err(Error::argument(OP, format!("the indices must ascend and lie between 0 and {len}")));
    }
    // the segment of an element is the number of indices at or before it; elements before the first index are in
    // segment 0, which is dropped
    let places = b.arange(0, len as i64, 1)?;
    let segments = b.searchsorted_with(indices, places, SearchsortedOptions::new().side(Side::Right))?;
    let along = SegmentSumOptions::new().axis(axis);
    let sums = b.segment_sum_with(x, segments, count + 1, along)?;
    part(b, &sums, axis, 1..last + 1)
}
