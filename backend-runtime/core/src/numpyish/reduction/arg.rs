//! Indices of the largest and smallest elements.

use super::{
    super::{
        OpContext,
        buffer::Buffer,
        convert::{Value, computed_in, conversion},
        copy,
        layout::{self, LaneFn, LaneFormat},
        parallel::{self, CHEAP, Shared},
        raw::{RawArray, View},
        simd::versions,
        source::Source,
    },
    fold::is_nan,
    folding::{self, Folding},
    lanes::StridedLanes,
    order::BLOCK,
    plan::ReductionPlan,
    reading::{Block, NO_BLOCK, Reading},
};
use crate::{Axes, DType, Ordered, Result, rules};
use std::{cmp::Ordering, hint::select_unpredictable, ops::Range};

/// Index of the largest element along one axis, or of all elements. Among equal elements the first one wins; the first
/// NaN wins over all numbers.
pub fn argmax(on: OpContext<'_>, x: View<'_>, axis: Option<isize>, keepdims: bool) -> Result<RawArray> {
    arg_or_all(on.op, x, axis, keepdims, true)
}

/// Index of the smallest element along one axis, or of all elements. Among equal elements the first one wins; the first
/// NaN wins over all numbers.
pub fn argmin(on: OpContext<'_>, x: View<'_>, axis: Option<isize>, keepdims: bool) -> Result<RawArray> {
    arg_or_all(on.op, x, axis, keepdims, false)
}

/// Like [`argmax`], for an array or an unevaluated formula. `axis` may list at most one axis.
pub fn argmax_of(x: Source<'_>, axis: Axes, keepdims: bool) -> Result<RawArray> {
    arg_of("argmax", x, axis, keepdims, true)
}

/// Like [`argmin`], for an array or an unevaluated formula. `axis` may list at most one axis.
pub fn argmin_of(x: Source<'_>, axis: Axes, keepdims: bool) -> Result<RawArray> {
    arg_of("argmin", x, axis, keepdims, false)
}

fn arg_or_all(op: &'static str, x: View<'_>, axis: Option<isize>, keepdims: bool, largest: bool) -> Result<RawArray> {
    if axis.is_some() {
        return copy::along_or_row(op, x, axis, |x, axis| arg(op, x, axis, keepdims, largest));
    }
    rules::require_any(op, x.shape)?;
    let (index, ..) = copy::along_or_row(op, x, None, |row, axis| arg(op, row, axis, false, largest))?.into_parts();
    // SAFETY: the index has been written.
    unsafe { RawArray::new(op, rules::row_reduced(x.shape.len(), keepdims), index) }
}

fn arg(op: &'static str, x: View<'_>, axis: isize, keepdims: bool, largest: bool) -> Result<RawArray> {
    let Some(axis) = rules::reduction_axis(op, axis, x.shape.len())? else {
        return RawArray::from_vec(op, Vec::new(), vec![0_i64]);
    };
    rules::require_elements(op, x.shape, &[axis])?;
    let len = x.shape[axis];
    let search = Search::new(computed_in(x.dtype), largest);
    if len <= SHORT && x.strides[axis] == 1 && search.dtype == x.dtype {
        return short(op, x, axis, keepdims, &search);
    }
    let new = || -> Result<LaneFn<'_>> {
        let search = &search;
        Ok(Box::new(move |lane, out| {
            let lane = View { start: lane, dtype: x.dtype, shape: &[len], strides: &[1] };
            let mut scratch = NO_BLOCK;
            // SAFETY: `lane` is a non-empty lane of the array, and `out` has room for an index.
            unsafe {
                *out.cast::<i64>() =
                    search.best(&search.reading(lane.into()), Lane { start: 0, stride: 1, len }, &mut scratch) as i64
            };
            Ok(())
        }))
    };
    // SAFETY: the function reads a lane of `len` elements and writes one index.
    let found = unsafe { layout::map_lanes(op, x, axis, LaneFormat { dtype: DType::Int64, len: 1 }, CHEAP, &new) };
    found.map(|found| if keepdims { found } else { found.without_axis(axis) })
}

/// Searches short contiguous lanes (1-D slices along `axis`), several at a time. Their elements must already have the
/// dtype of the search.
fn short(op: &'static str, x: View<'_>, axis: usize, keepdims: bool, search: &Search) -> Result<RawArray> {
    let plan = ReductionPlan::new(op, x.into(), &[axis], keepdims);
    let (len, reading) = (x.shape[axis], search.reading(x.into()));
    let found = Buffer::new(op, plan.outputs(), DType::Int64)?;
    parallel::parallel(plan.outputs(), (CHEAP / len).max(1), |range| {
        plan.along_an_axis(range, usize::MAX, |row, o| {
            // SAFETY: the lanes belong to the array, and the outputs belong to this task only.
            unsafe {
                let to = found.start().cast::<i64>().add(o);
                (search.short)(reading.place(row.start), len, row.stride, row.width, to);
            }
        });
    });
    // SAFETY: every index has been written.
    unsafe { plan.array(found) }
}

/// Searches the lanes (1-D slices along an axis) of an array or a formula. The elements of a formula are computed
/// during the search.
fn arg_of(op: &'static str, x: Source<'_>, axis: Axes, keepdims: bool, largest: bool) -> Result<RawArray> {
    let axes = rules::reduction(op, axis, x.shape.len())?;
    rules::require_elements(op, x.shape, &axes)?;
    let plan = ReductionPlan::new(op, x, &axes, keepdims);
    let (len, stride) = axes.first().map_or((1, 1), |&axis| (x.shape[axis], x.strides[axis]));
    let search = Search::new(computed_in(x.dtype), largest);
    let reading = search.reading(x);
    let found = Buffer::new(op, plan.outputs(), DType::Int64)?;
    parallel::parallel(plan.outputs(), (CHEAP / len.max(1)).max(1), |range| {
        let mut scratch = NO_BLOCK;
        for (output, start) in range.clone().zip(plan.starts(range.start)) {
            // SAFETY: the lane belongs to the formula and is not empty, and the output belongs to this task only.
            unsafe {
                let index = search.best(&reading, Lane { start, stride, len }, &mut scratch);
                *found.start().cast::<i64>().add(output) = index as i64;
            }
        }
    });
    // SAFETY: every index has been written.
    unsafe { plan.array(found) }
}

/// Maximum length of lanes that are searched element by element, several lanes at a time. In longer lanes it is faster
/// to find the best value first, and then its index.
const SHORT: usize = 100;

/// A lane, the elements along an axis. `start` is the offset of the first element, and `stride` is the distance
/// between neighbours.
#[derive(Clone, Copy)]
struct Lane {
    start: isize,
    stride: isize,
    len: usize,
}

impl Lane {
    /// The offset of element `index`.
    fn at(&self, index: usize) -> isize {
        self.start + index as isize * self.stride
    }
}

/// A search for the best element of a lane, in the dtype in which elements are compared.
struct Search {
    dtype: DType,
    folding: &'static Folding,
    largest: bool,
    /// Returns the index of the first element that equals `value` among the `n` elements at `x`. If `value` is NaN,
    /// this is the index of the first NaN.
    find: unsafe fn(x: *const u8, n: usize, value: *const u8) -> usize,
    /// Returns the order of a value relative to the best value so far; `None` if either is NaN.
    compare: unsafe fn(value: *const u8, best: *const u8) -> Option<Ordering>,
    is_nan: unsafe fn(*const u8) -> bool,
    /// Writes, for each of `count` lanes, the index of the best of its `n` elements. The lanes start `step` elements
    /// apart.
    short: unsafe fn(x: *const u8, n: usize, step: isize, count: usize, to: *mut i64),
}

impl Search {
    fn new(dtype: DType, largest: bool) -> Search {
        fn of<A: Ordered>(folding: &'static Folding, largest: bool) -> Search {
            let (compare, is_nan) = (compare::<A>, nan::<A>);
            let short = if largest { short_lanes::<A, true> } else { short_lanes::<A, false> };
            Search { dtype: A::DTYPE, folding, largest, find: find::<A>, compare, is_nan, short }
        }
        let folding = if largest { folding::maxima(dtype) } else { folding::minima(dtype) };
        let search = match dtype {
            DType::Bool | DType::UInt8 => of::<u8>(folding, largest),
            DType::Int8 => of::<i8>(folding, largest),
            DType::Int16 => of::<i16>(folding, largest),
            DType::Int32 => of::<i32>(folding, largest),
            DType::Int64 => of::<i64>(folding, largest),
            DType::UInt16 => of::<u16>(folding, largest),
            DType::UInt32 => of::<u32>(folding, largest),
            DType::UInt64 => of::<u64>(folding, largest),
            DType::Float32 => of::<f32>(folding, largest),
            DType::Float64 => of::<f64>(folding, largest),
            other => unreachable!("extremes are not computed in {other}"),
        };
        Search { dtype, ..search }
    }

    /// Returns a reader of the elements of `x`, which converts them to the dtype of the search.
    fn reading<'a>(&self, x: Source<'a>) -> Reading<'a> {
        Reading::new(x, conversion(x.dtype, self.dtype), self.dtype.size())
    }

    /// Index of the best element of a non-empty lane.
    ///
    /// # Safety
    /// The lane belongs to the source of `from`, which reads in the dtype of this search.
    unsafe fn best(&self, from: &Reading<'_>, lane: Lane, scratch: &mut Block) -> usize {
        let len = lane.len;
        if len < 2 * CHEAP {
            // SAFETY: the caller guarantees the lane.
            return unsafe { self.best_of_part(from, lane, 0..len, scratch).0 };
        }
        let mut parts = vec![(0, Value::ZERO); len.div_ceil(CHEAP)];
        let bests = Shared::new(&mut parts);
        parallel::parallel(len.div_ceil(CHEAP), 1, |range| {
            let mut scratch = NO_BLOCK;
            for part in range {
                let first = part * CHEAP;
                // SAFETY: the parts belong to the lane, and each task writes its own parts.
                unsafe {
                    bests.part(part..part + 1)[0] =
                        self.best_of_part(from, lane, first..len.min(first + CHEAP), &mut scratch);
                }
            }
        });
        let mut best = parts[0];
        for &(index, value) in &parts[1..] {
            // SAFETY: both are values in the dtype of the search.
            if unsafe { self.beats(value, best.1) } {
                best = (index, value);
            }
        }
        best.0
    }

    /// Index and value of the best element of a non-empty part of a lane. First, the loop of a maximum or minimum finds
    /// the best value of each block. Then only the block with the best value is searched for the index.
    unsafe fn best_of_part(
        &self,
        from: &Reading<'_>,
        lane: Lane,
        part: Range<usize>,
        scratch: &mut Block,
    ) -> (usize, Value) {
        let mut best = (part.start, Value::ZERO);
        let block_at = |start: usize| (lane.at(start), BLOCK.min(part.end - start));
        // SAFETY: the caller guarantees that the part belongs to the lane.
        unsafe {
            for start in part.clone().step_by(BLOCK) {
                let (at, len) = block_at(start);
                let block = from.load(at, lane.stride, len, scratch);
                let mut value = Value::ZERO;
                (self.folding.lanes)(&StridedLanes::one(block, len, std::ptr::null(), value.start_mut()));
                if start == part.start || self.beats(value, best.1) {
                    best = (start, value);
                }
            }
            let (start, value) = best;
            let (at, len) = block_at(start);
            let block = from.load(at, lane.stride, len, scratch);
            (start + (self.find)(block, len, value.start()), value)
        }
    }

    /// Returns whether a later value is better than the best so far; nothing beats NaN.
    unsafe fn beats(&self, value: Value, best: Value) -> bool {
        let better = if self.largest { Ordering::Greater } else { Ordering::Less };
        // SAFETY: both are values in the dtype of the search.
        unsafe {
            !(self.is_nan)(best.start())
                && ((self.is_nan)(value.start()) || (self.compare)(value.start(), best.start()) == Some(better))
        }
    }
}

unsafe fn nan<A: Ordered>(x: *const u8) -> bool {
    // SAFETY: `x` points to an element.
    is_nan(unsafe { *x.cast::<A>() })
}

unsafe fn compare<A: Ordered>(value: *const u8, best: *const u8) -> Option<Ordering> {
    // SAFETY: both point to elements.
    unsafe { (*value.cast::<A>()).partial_cmp(&*best.cast::<A>()) }
}

/// Number of lanes that are searched at a time.
const TOGETHER: usize = 8;

versions! {
    /// Writes the index of the first best element of each lane, or of the lane's first NaN. Lanes must not be empty.
    unsafe fn short_lanes[A: Ordered, const LARGEST: bool][A, LARGEST](
        x: *const u8,
        n: usize,
        step: isize,
        count: usize,
        to: *mut i64,
    ) {
        let x = x.cast::<A>();
        // a last group of fewer than `TOGETHER` lanes is filled up with repetitions of its last lane
        for first in (0..count).step_by(TOGETHER) {
            // SAFETY: each lane has `n` elements, and `to` has room for an index of each lane.
            unsafe {
                let mut lanes = [x; TOGETHER];
                for (k, lane) in lanes.iter_mut().enumerate() {
                    *lane = x.offset((first + k).min(count - 1) as isize * step);
                }
                let mut best = [*x; TOGETHER];
                for k in 0..TOGETHER {
                    best[k] = *lanes[k];
                }
                let mut at = [0_usize; TOGETHER];
                for i in 1..n {
                    for k in 0..TOGETHER {
                        let v = *lanes[k].add(i);
                        let stays = if LARGEST { v <= best[k] } else { v >= best[k] };
                        // nothing beats NaN
                        let better = !stays & !is_nan(best[k]);
                        best[k] = select_unpredictable(better, v, best[k]);
                        at[k] = select_unpredictable(better, i, at[k]);
                    }
                }
                for (k, at) in at.into_iter().enumerate().take(count - first) {
                    *to.add(first + k) = at as i64;
                }
            }
        }
    }

    unsafe fn find[A: Ordered][A](x: *const u8, n: usize, value: *const u8) -> usize {
        /// Number of elements that are compared at a time.
        const SOME: usize = 64;
        // SAFETY: `x` has `n` elements, and `value` points to one element.
        let (x, value) = unsafe { (std::slice::from_raw_parts(x.cast::<A>(), n), *value.cast::<A>()) };
        let nan = is_nan(value);
        let mut first = 0;
        for some in x.as_chunks::<SOME>().0 {
            let mut found = false;
            for &v in some {
                found |= if nan { is_nan(v) } else { v == value };
            }
            if found {
                break;
            }
            first += SOME;
        }
        let place = x[first..].iter().position(|&v| if nan { is_nan(v) } else { v == value });
        place.map_or(0, |place| first + place)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::typed::{argmax, argmin},
        *,
    };
    use crate::{
        Error, f16,
        numpyish::{
            Numpyish, simd,
            testing::{counting, layouts},
        },
    };
    use ndarray::{ArrayD, Axis, IxDyn};

    const B: Numpyish = Numpyish::new();

    #[test]
    fn first_of_equals_in_every_layout() {
        for shape in [&[3, 4, 5][..], &[2, 3000], &[3000, 2], &[300_000], &[1, 7]] {
            let x = counting::<i32>(shape).mapv(|i| i.wrapping_mul(7919) % 1009 % 50);
            for a in layouts(&x) {
                for axis in 0..shape.len() {
                    let most = argmax(&B, &a, Some(axis as isize), false).unwrap();
                    let least = argmin(&B, &a, Some(axis as isize), true).unwrap().index_axis_move(Axis(axis), 0);
                    let lanes = x.lanes(Axis(axis));
                    for ((lane, most), least) in lanes.into_iter().zip(&most).zip(&least) {
                        let lane = lane.to_vec();
                        let max = lane.iter().max().unwrap();
                        assert_eq!(*most as usize, lane.iter().position(|v| v == max).unwrap());
                        let min = lane.iter().min().unwrap();
                        assert_eq!(*least as usize, lane.iter().position(|v| v == min).unwrap());
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_nan_wins() {
        for n in [10, 5000, 300_000] {
            let mut x = ArrayD::from_elem(IxDyn(&[n]), f16::ONE);
            x[n / 3] = f16::INFINITY;
            x[n / 2] = f16::NAN;
            x[n - 1] = f16::NAN;
            let x = x.into_shared();
            assert_eq!(argmax(&B, &x, Some(0), false).unwrap()[[]], n as i64 / 2);
            assert_eq!(argmin(&B, &x, Some(0), false).unwrap()[[]], n as i64 / 2);
            assert_eq!(argmin(&B, &x.mapv(|v| !v.is_nan()).into_shared(), Some(0), false).unwrap()[[]], n as i64 / 2);
        }
    }

    #[test]
    fn short_lanes_side_by_side() {
        simd::with_each(|_| {
            for n in [1, 2, 7, 16, SHORT, SHORT + 1] {
                for lanes in [1, 7, 8, 19] {
                    let mut x =
                        ArrayD::from_shape_fn(IxDyn(&[lanes, n]), |at| (at[0] * 31 + at[1] * 7919) as f32 % 17.0);
                    for lane in (0..lanes).step_by(3) {
                        x[[lane, lane * 5 % n]] = f32::NAN;
                        x[[lane, n - 1]] = f32::NAN;
                    }
                    let naive = |lane: &[f32], better: fn(f32, f32) -> bool| {
                        let nan = lane.iter().position(|v| v.is_nan());
                        nan.unwrap_or_else(|| {
                            (1..n).fold(0, |best, i| if better(lane[i], lane[best]) { i } else { best })
                        })
                    };
                    let (most, least) =
                        (argmax(&B, &x.to_shared(), Some(-1), false), argmin(&B, &x.to_shared(), Some(1), true));
                    let (most, least) = (most.unwrap(), least.unwrap());
                    assert_eq!((most.shape(), least.shape()), (&[lanes][..], &[lanes, 1][..]));
                    for (k, lane) in x.lanes(Axis(1)).into_iter().enumerate() {
                        let lane = lane.to_vec();
                        assert_eq!(most[[k]], naive(&lane, |a, b| a > b) as i64, "{lane:?}");
                        assert_eq!(least[[k, 0]], naive(&lane, |a, b| a < b) as i64, "{lane:?}");
                    }
                }
            }
        });
    }

    #[test]
    fn nothing_to_choose_from() {
        let none = ArrayD::<f32>::zeros(IxDyn(&[0, 3])).into_shared();
        assert!(matches!(argmax(&B, &none, Some(0), false), Err(Error::Shape { op: "argmax", .. })));
        assert_eq!(argmax(&B, &none, Some(1), false).unwrap().shape(), [0]);
        assert_eq!(argmin(&B, &none, Some(1), true).unwrap().shape(), [0, 1]);
        assert!(matches!(argmin(&B, &none, Some(2), false), Err(Error::Axis { op: "argmin", .. })));
        let scalar = ArrayD::<f32>::zeros(IxDyn(&[])).into_shared();
        assert_eq!(argmin(&B, &scalar, Some(-1), false).unwrap(), ArrayD::zeros(IxDyn(&[])));
        assert!(matches!(argmin(&B, &scalar, Some(1), false), Err(Error::Axis { .. })));
        let none = ArrayD::<f32>::zeros(IxDyn(&[0, 0])).into_shared();
        assert!(matches!(argmax(&B, &none, Some(0), false), Err(Error::Shape { op: "argmax", .. })), "nor for nothing");
    }
}
