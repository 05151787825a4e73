//! Access to arrays of any layout: the offsets of all elements in C order, and functions that process an array lane by
//! lane. A lane consists of the elements along one axis, with all other indices fixed. The functions pass each lane to
//! a closure as a contiguous slice.

use super::{
    buffer::Buffer,
    copy::by_bits,
    parallel::{self},
    raw::{RawArray, View},
};
use crate::{DType, Error, Result, rules};
use std::sync::OnceLock;

/// One axis of an array: its length and its stride.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim {
    /// Length of the axis.
    pub len: usize,
    /// Distance between neighbours along the axis, in elements.
    pub stride: isize,
}

/// Returns the lengths and strides of the axes of an array.
pub fn dims(x: View<'_>) -> Vec<Dim> {
    x.shape.iter().zip(x.strides).map(|(&len, &stride)| Dim { len, stride }).collect()
}

/// Number of elements of an array with these axes.
pub fn size(dims: &[Dim]) -> usize {
    dims.iter().map(|d| d.len).product()
}

/// An iterator over the offsets of an array's elements in C order. It never ends: after the last element, it starts
/// again.
pub struct Offsets<'a> {
    dims: &'a [Dim],
    index: Vec<usize>,
    offset: isize,
}

impl<'a> Offsets<'a> {
    /// Starts at the element with index `position` in C order.
    pub fn at(dims: &'a [Dim], mut position: usize) -> Offsets<'a> {
        let mut index = vec![0; dims.len()];
        let mut offset = 0;
        for (i, d) in index.iter_mut().zip(dims).rev() {
            if d.len > 0 {
                *i = position % d.len;
                position /= d.len;
                offset += *i as isize * d.stride;
            }
        }
        Offsets { dims, index, offset }
    }
}

impl Iterator for Offsets<'_> {
    type Item = isize;

    #[inline]
    fn next(&mut self) -> Option<isize> {
        let here = self.offset;
        for (i, d) in self.index.iter_mut().zip(self.dims).rev() {
            *i += 1;
            self.offset += d.stride;
            if *i < d.len {
                break;
            }
            self.offset -= *i as isize * d.stride;
            *i = 0;
        }
        Some(here)
    }
}

/// Number of neighbouring lanes that are copied to contiguous memory together, because they share cache lines. If
/// strides are powers of two, twice as many lanes would evict each other from the cache.
const GROUP: usize = 8;

/// A function of one lane: it gets the address of the lane to read and the address of the lane to write.
pub type LaneFn<'f> = Box<dyn FnMut(*const u8, *mut u8) -> Result<()> + 'f>;

/// A function that each task calls once, to create the [`LaneFn`] for the task's lanes and the working memory of this
/// `LaneFn`.
pub type NewLaneFn<'f> = dyn Fn() -> Result<LaneFn<'f>> + Sync + 'f;

/// Dtype and length of the lanes that a function writes.
#[derive(Clone, Copy)]
pub struct LaneFormat {
    /// Dtype of the elements.
    pub dtype: DType,
    /// Number of elements of each lane.
    pub len: usize,
}

/// Computes an array lane by lane: the function from `new` computes each lane of the result along `axis` from the
/// corresponding lane of `x`. `grain` is the minimum number of elements per task.
///
/// # Safety
/// The function reads only its lane of `x` and writes only its lane of the result. If it succeeds, it has written every
/// element of its lane of the result. It reads no element of the result before writing it.
pub unsafe fn map_lanes<'f>(
    op: &'static str,
    x: View<'_>,
    axis: usize,
    out: LaneFormat,
    grain: usize,
    new: &'f NewLaneFn<'f>,
) -> Result<RawArray> {
    let mut others = dims(x);
    let lane = others.remove(axis);
    let mut shape = x.shape.to_vec();
    shape[axis] = out.len;
    let result = Buffer::new(op, rules::count(op, &shape, out.dtype.size())?, out.dtype)?;
    if result.len() > 0 {
        let lanes = size(&others);
        let inner: usize = shape[axis + 1..].iter().product();
        let source = LaneReader { start: x.start, dtype: x.dtype, lane };
        let (target, out_size) = (Target(result.start()), out.dtype.size());
        in_tasks(lanes.div_ceil(GROUP), GROUP * lane.len.max(out.len), grain, &|range| {
            let target = &target;
            let mut f = new()?;
            let input = Buffer::new(op, if source.direct() { 0 } else { GROUP * lane.len }, x.dtype)?;
            let output = Buffer::new(op, if inner == 1 { 0 } else { GROUP * out.len }, out.dtype)?;
            let mut offsets = Offsets::at(&others, range.start * GROUP);
            for group in range {
                let first = group * GROUP;
                let many = GROUP.min(lanes - first);
                let mut at = [0; GROUP];
                at[..many].iter_mut().zip(&mut offsets).for_each(|(a, o)| *a = o);
                // SAFETY: lanes of `x` begin at the offsets, and every lane of the result is written by one task only.
                unsafe {
                    source.gather(&at[..many], input.start());
                    for (k, &at) in at[..many].iter().enumerate() {
                        let from = source.lane(at, k, input.start());
                        if inner == 1 {
                            f(from, target.0.add((first + k) * out.len * out_size))?;
                        } else {
                            let to = output.start().add(k * out.len * out_size);
                            f(from, to)?;
                        }
                    }
                    if inner != 1 {
                        let starts = std::array::from_fn(|k| lane_start(first + k, out.len, inner));
                        scatter(out.dtype, output.start(), out.len, &starts, many, inner, target.0);
                    }
                }
            }
            Ok(())
        })?;
    }
    // SAFETY: the function wrote every lane.
    unsafe { RawArray::new(op, shape, result) }
}

/// Runs the function from `new` on every lane along `axis` of an array in C order. The function gets the lane's address
/// as source and as target, and changes the lane in place. `grain` is the minimum number of elements per task.
///
/// # Safety
/// `x` points to the elements of an array of this shape, nothing else uses these elements, and the function accesses
/// only its lane.
pub unsafe fn lanes_in_place<'f>(
    op: &'static str,
    x: *mut u8,
    dtype: DType,
    shape: &[usize],
    axis: usize,
    grain: usize,
    new: &'f NewLaneFn<'f>,
) -> Result<()> {
    let len = shape[axis];
    let n: usize = shape.iter().product();
    if n == 0 {
        return Ok(());
    }
    let lanes = n / len;
    let inner: usize = shape[axis + 1..].iter().product();
    let source = LaneReader { start: x, dtype, lane: Dim { len, stride: inner as isize } };
    // lanes of one element are contiguous too
    let contiguous = inner == 1 || len == 1;
    let (target, bytes) = (Target(x), len * dtype.size());
    in_tasks(lanes.div_ceil(GROUP), GROUP * len, grain, &|range| {
        let target = &target;
        let mut f = new()?;
        let buffer = Buffer::new(op, if contiguous { 0 } else { GROUP * len }, dtype)?;
        for group in range {
            let first = group * GROUP;
            let many = GROUP.min(lanes - first);
            // SAFETY: every lane belongs to one task only.
            unsafe {
                if contiguous {
                    for k in first..first + many {
                        let lane = target.0.add(k * bytes);
                        f(lane, lane)?;
                    }
                    continue;
                }
                let starts: [usize; GROUP] = std::array::from_fn(|k| lane_start(first + k, len, inner));
                let at = starts.map(|s| s as isize);
                source.gather(&at[..many], buffer.start());
                for k in 0..many {
                    let lane = buffer.start().add(k * bytes);
                    f(lane, lane)?;
                }
                scatter(dtype, buffer.start(), len, &starts, many, inner, target.0);
            }
        }
        Ok(())
    })
}

/// Address of an array; each task writes its own lanes of this array.
pub struct Target(pub *mut u8);

// SAFETY: no two tasks write the same lane.
unsafe impl Sync for Target {}

/// Index of the first element of lane `k` of an array in C order. `inner` is the product of the lengths of all axes
/// after the axis of the lanes.
fn lane_start(k: usize, len: usize, inner: usize) -> usize {
    k / inner * len * inner + k % inner
}

/// Splits the indices of `groups` groups of lanes into ranges, and calls `f` with each range, on several threads. Each
/// group has `elements` elements, and `grain` is the minimum number of elements per task. Returns the first error.
pub fn in_tasks(
    groups: usize,
    elements: usize,
    grain: usize,
    f: &(dyn Fn(std::ops::Range<usize>) -> Result<()> + Sync),
) -> Result<()> {
    let failed: OnceLock<Error> = OnceLock::new();
    parallel::parallel(groups, grain / elements.max(1), |range| {
        if let Err(e) = f(range) {
            failed.get_or_init(|| e);
        }
    });
    failed.into_inner().map_or(Ok(()), Err)
}

/// Reads the lanes of an array: in place if the stride of the lanes is 1, otherwise from a contiguous copy.
struct LaneReader {
    start: *const u8,
    dtype: DType,
    lane: Dim,
}

// SAFETY: a reader only reads elements, which threads may share.
unsafe impl Sync for LaneReader {}

impl LaneReader {
    fn direct(&self) -> bool {
        self.lane.stride == 1 || self.lane.len <= 1
    }

    /// Copies the lanes that begin at the offsets in `at` to the memory at `to`, one after another. Does nothing if
    /// lanes can be read in place.
    ///
    /// # Safety
    /// Lanes begin at these offsets, nothing writes to the lanes, and `to` has room for all of them.
    unsafe fn gather(&self, at: &[isize], to: *mut u8) {
        unsafe fn each<U: Copy>(from: *const u8, lane: Dim, at: &[isize], to: *mut u8) {
            let (from, to) = (from.cast::<U>(), to.cast::<U>());
            for i in 0..lane.len {
                for (k, &start) in at.iter().enumerate() {
                    // SAFETY: `i` is an index of the lane; the target has room for all lanes.
                    unsafe { *to.add(k * lane.len + i) = *from.offset(start + i as isize * lane.stride) };
                }
            }
        }
        if !self.direct() {
            // SAFETY: the caller guarantees the lanes and enough room.
            unsafe { by_bits!(self.dtype, U => each::<U>(self.start, self.lane, at, to)) }
        }
    }

    /// Returns the address of a lane. If lanes are read in place, it is the address at offset `at` of the array.
    /// Otherwise it is the address of copy number `k` in `gathered`.
    fn lane(&self, at: isize, k: usize, gathered: *const u8) -> *const u8 {
        let size = self.dtype.size();
        if self.direct() {
            self.start.wrapping_offset(at * size as isize)
        } else {
            gathered.wrapping_add(k * self.lane.len * size)
        }
    }
}

/// Copies `many` contiguous lanes of length `len` into an array. There, the lanes begin at the offsets in `starts` and
/// have the stride `stride`.
///
/// # Safety
/// `from` has `many` lanes. The lanes to write are in the array at `to`, and nothing else uses them.
unsafe fn scatter(
    dtype: DType,
    from: *const u8,
    len: usize,
    starts: &[usize; GROUP],
    many: usize,
    stride: usize,
    to: *mut u8,
) {
    unsafe fn each<U: Copy>(from: *const u8, len: usize, starts: &[usize], stride: usize, to: *mut u8) {
        let (from, to) = (from.cast::<U>(), to.cast::<U>());
        for i in 0..len {
            for (k, &start) in starts.iter().enumerate() {
                // SAFETY: `i` is an index of the lane, in the source and in the target.
                unsafe { *to.add(start + i * stride) = *from.add(k * len + i) };
            }
        }
    }
    // SAFETY: the caller guarantees that all lanes are inside the source and inside the target.
    unsafe { by_bits!(dtype, U => each::<U>(from, len, &starts[..many], stride, to)) }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            NdArray,
            raw::view,
            testing::{counting, layouts},
            typed::typed,
        },
        *,
    };
    use ndarray::{ArrayD, Axis, IxDyn};

    #[test]
    fn offsets_are_those_of_c_order() {
        let dims = [Dim { len: 2, stride: 10 }, Dim { len: 3, stride: -1 }];
        let all: Vec<isize> = Offsets::at(&dims, 0).take(7).collect();
        assert_eq!(all, [0, -1, -2, 10, 9, 8, 0]);
        assert_eq!(Offsets::at(&dims, 4).take(2).collect::<Vec<_>>(), [9, 8]);
        assert_eq!(Offsets::at(&[], 0).take(2).collect::<Vec<_>>(), [0, 0]);
    }

    #[test]
    fn lanes_of_any_layout_and_axis() {
        for shape in [&[3, 4, 5][..], &[7], &[2, 19], &[33, 20], &[1, 1], &[40, 9, 50]] {
            let x = counting::<f64>(shape);
            for a in layouts(&x) {
                for (axis, &len) in shape.iter().enumerate() {
                    let doubled = || -> Result<LaneFn<'_>> {
                        Ok(Box::new(|from, to| {
                            let (from, to) = lane::<f64>(from, len, to, len + 1);
                            to.iter_mut().zip(from.iter().rev().chain(&[-1.0])).for_each(|(t, f)| *t = f * 2.0);
                            Ok(())
                        }))
                    };
                    let out = LaneFormat { dtype: DType::Float64, len: len + 1 };
                    // SAFETY: the function accesses lanes of these lengths.
                    let y = unsafe { map_lanes("test", view(&a), axis, out, 16, &doubled) };
                    let y: NdArray<f64> = typed(y).unwrap();
                    for (from, to) in x.lanes(Axis(axis)).into_iter().zip(y.lanes(Axis(axis))) {
                        let expected: Vec<f64> = from.iter().rev().chain(&[-1.0]).map(|f| f * 2.0).collect();
                        assert_eq!(to.to_vec(), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn lanes_in_place_of_any_axis() {
        for shape in [[5, 12, 7], [1, 3, 2], [2, 1, 9]] {
            each_axis_in_place(shape);
        }
    }

    fn each_axis_in_place(shape: [usize; 3]) {
        for axis in 0..3 {
            let mut x = counting::<i32>(&shape);
            let mut expected = x.clone();
            expected.invert_axis(Axis(axis));
            let len = shape[axis];
            let reverse = || -> Result<LaneFn<'_>> {
                Ok(Box::new(|from, to| {
                    lane::<i32>(from, 0, to, len).1.reverse();
                    Ok(())
                }))
            };
            // SAFETY: the array is in C order, and its lanes have this length.
            unsafe { lanes_in_place("test", x.as_mut_ptr().cast(), DType::Int32, &shape, axis, 1, &reverse) }.unwrap();
            assert_eq!(x, expected);
        }
    }

    #[test]
    fn empty_lanes_and_no_lanes() {
        let none = counting::<f32>(&[0, 3]).into_shared();
        let padded = |axis: usize| -> NdArray<f32> {
            let from_len = none.shape()[axis];
            let new = || -> Result<LaneFn<'_>> {
                Ok(Box::new(|from, to| {
                    let (from, to) = lane::<f32>(from, from_len, to, 2);
                    to.fill(from.len() as f32 + 1.0);
                    Ok(())
                }))
            };
            // SAFETY: the function accesses lanes of these lengths.
            typed(unsafe {
                map_lanes("test", view(&none), axis, LaneFormat { dtype: DType::Float32, len: 2 }, 1, &new)
            })
            .unwrap()
        };
        assert_eq!(padded(0), ArrayD::from_elem(IxDyn(&[2, 3]), 1.0));
        assert_eq!(padded(1).shape(), [0, 2]);
        let never = || unreachable!();
        let nothing = std::ptr::null_mut();
        // SAFETY: the array is empty, so no address is used.
        unsafe { lanes_in_place("test", nothing, DType::Float32, &[0, 3], 0, 1, &never) }.unwrap();
    }

    /// Returns the lane to read and the lane to write, as slices.
    fn lane<'a, T>(from: *const u8, from_len: usize, to: *mut u8, to_len: usize) -> (&'a [T], &'a mut [T]) {
        // SAFETY: the tests pass the lengths of the lanes.
        unsafe {
            (std::slice::from_raw_parts(from.cast(), from_len), std::slice::from_raw_parts_mut(to.cast(), to_len))
        }
    }
}
