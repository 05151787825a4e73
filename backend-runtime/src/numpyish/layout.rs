//! Arrays of any layout: where their elements lie, and lanes along one axis as contiguous slices.

use super::{
    NdArray,
    buffer::{self, Shared},
};
use crate::{Element, Error, Result, shape};
use std::sync::OnceLock;

/// One axis of an array: its length, and the distance of neighbours in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim {
    /// Number of indices.
    pub len: usize,
    /// From one index to the next.
    pub stride: isize,
}

/// The axes of an array.
pub fn dims<T: Element>(x: &NdArray<T>) -> Vec<Dim> {
    x.shape().iter().zip(x.strides()).map(|(&len, &stride)| Dim { len, stride }).collect()
}

/// How many elements axes span.
pub fn size(dims: &[Dim]) -> usize {
    dims.iter().map(|d| d.len).product()
}

/// Offsets of the elements of some axes in C order. It never ends: it starts again after the last element.
pub struct Offsets<'a> {
    dims: &'a [Dim],
    index: Vec<usize>,
    offset: isize,
}

impl<'a> Offsets<'a> {
    /// From the element of number `position` on.
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

/// How many lanes are gathered at once: neighbours share cache lines. Twice as many collide in the cache where strides are
/// powers of two.
const GROUP: usize = 8;

/// The array whose lanes along `axis`, of `out_len` elements each, `f` writes from those of `x`.
///
/// `f` gets what `state` made for its thread, a lane of `x`, and the lane of the result, which holds zeros. `grain` is the
/// number of elements worth a task.
pub fn map_lanes<T: Element, U: Element, S>(
    op: &'static str,
    x: &NdArray<T>,
    axis: usize,
    out_len: usize,
    grain: usize,
    state: impl Fn() -> Result<S> + Sync,
    f: impl Fn(&mut S, &[T], &mut [U]) -> Result<()> + Sync,
) -> Result<NdArray<U>> {
    let mut others = dims(x);
    let lane = others.remove(axis);
    let mut shape = x.shape().to_vec();
    shape[axis] = out_len;
    let mut out = buffer::zeroed::<U>(op, shape::count(op, &shape, size_of::<U>())?)?;
    if out.is_empty() {
        return buffer::array(op, &shape, out);
    }
    let lanes = size(&others);
    let inner: usize = shape[axis + 1..].iter().product();
    let target = Shared::new(&mut out);
    let source = Source { start: x.as_ptr(), lane };
    in_groups(lanes, lane.len.max(out_len), grain, |range| {
        let mut state = state()?;
        let mut input = scratch::<T>(op, if source.direct() { 0 } else { GROUP * lane.len })?;
        let mut output = scratch::<U>(op, if inner == 1 { 0 } else { GROUP * out_len })?;
        let mut offsets = Offsets::at(&others, range.start * GROUP);
        for group in range {
            let first = group * GROUP;
            let many = GROUP.min(lanes - first);
            let mut at = [0; GROUP];
            at[..many].iter_mut().zip(&mut offsets).for_each(|(a, o)| *a = o);
            // SAFETY: the offsets are of lanes of `x`.
            unsafe { source.gather(&at[..many], &mut input) };
            for k in 0..many {
                // SAFETY: as above.
                let from = unsafe { source.lane(at[k], k, &input) };
                if inner == 1 {
                    // SAFETY: every lane is written by one task only.
                    f(&mut state, from, unsafe { target.part((first + k) * out_len..(first + k + 1) * out_len) })?;
                } else {
                    let to = &mut output[k * out_len..][..out_len];
                    to.fill(U::default());
                    f(&mut state, from, to)?;
                }
            }
            if inner != 1 {
                let starts = std::array::from_fn(|k| lane_start(first + k, out_len, inner));
                // SAFETY: the starts are those of lanes of the result, each in one task only.
                unsafe { scatter(&output, out_len, &starts, many, inner, target.as_ptr()) };
            }
        }
        Ok(())
    })?;
    buffer::array(op, &shape, out)
}

/// Runs `f` on every lane along `axis` of a buffer in C order, in place.
pub fn lanes_in_place<T: Element, S>(
    op: &'static str,
    x: &mut [T],
    shape: &[usize],
    axis: usize,
    grain: usize,
    state: impl Fn() -> Result<S> + Sync,
    f: impl Fn(&mut S, &mut [T]) -> Result<()> + Sync,
) -> Result<()> {
    let len = shape[axis];
    if x.is_empty() {
        return Ok(());
    }
    let lanes = x.len() / len;
    let inner: usize = shape[axis + 1..].iter().product();
    // lanes of one element lie one after the other too
    let contiguous = inner == 1 || len == 1;
    let target = Shared::new(x);
    let source = Source { start: target.as_ptr().cast_const(), lane: Dim { len, stride: inner as isize } };
    in_groups(lanes, len, grain, |range| {
        let mut state = state()?;
        let mut buffer = scratch::<T>(op, if contiguous { 0 } else { GROUP * len })?;
        for group in range {
            let first = group * GROUP;
            let many = GROUP.min(lanes - first);
            if contiguous {
                for k in first..first + many {
                    // SAFETY: every lane belongs to one task only.
                    f(&mut state, unsafe { target.part(k * len..(k + 1) * len) })?;
                }
                continue;
            }
            let starts: [usize; GROUP] = std::array::from_fn(|k| lane_start(first + k, len, inner));
            let at = starts.map(|s| s as isize);
            // SAFETY: the starts are those of lanes of the buffer, each in one task only.
            unsafe {
                source.gather(&at[..many], &mut buffer);
                buffer.chunks_exact_mut(len).take(many).try_for_each(|lane| f(&mut state, lane))?;
                scatter(&buffer, len, &starts, many, inner, target.as_ptr());
            }
        }
        Ok(())
    })
}

/// Where lane `k` begins in an array in C order, whose axes after that of the lanes have `inner` elements.
fn lane_start(k: usize, len: usize, inner: usize) -> usize {
    k / inner * len * inner + k % inner
}

/// Runs `f` on ranges of groups of lanes, on several threads; the first error of any is the error of all.
fn in_groups(
    lanes: usize,
    len: usize,
    grain: usize,
    f: impl Fn(std::ops::Range<usize>) -> Result<()> + Sync,
) -> Result<()> {
    let failed: OnceLock<Error> = OnceLock::new();
    buffer::parallel(lanes.div_ceil(GROUP), grain / (GROUP * len.max(1)), |range| {
        if let Err(e) = f(range) {
            failed.get_or_init(|| e);
        }
    });
    failed.into_inner().map_or(Ok(()), Err)
}

fn scratch<T: Element>(op: &'static str, n: usize) -> Result<Vec<T>> {
    let mut v = buffer::vec(op, n)?;
    v.resize(n, T::default());
    Ok(v)
}

/// Lanes to read: those of stride 1 where they lie, others from a copy.
struct Source<T> {
    start: *const T,
    lane: Dim,
}

// SAFETY: it only reads, and what it reads may be shared.
unsafe impl<T: Sync> Sync for Source<T> {}

impl<T: Element> Source<T> {
    fn direct(&self) -> bool {
        self.lane.stride == 1 || self.lane.len <= 1
    }

    /// Copies the lanes that begin at these offsets, one after the other, unless they can be read where they lie.
    ///
    /// # Safety
    /// The offsets are of lanes, which nobody writes; `to` has room for them.
    unsafe fn gather(&self, at: &[isize], to: &mut [T]) {
        if self.direct() {
            return;
        }
        let Dim { len, stride } = self.lane;
        assert!(at.len() * len <= to.len(), "the lanes fit the buffer");
        for i in 0..len {
            for (k, &start) in at.iter().enumerate() {
                // SAFETY: `i` is an index of the lane, and the target is in bounds by the assertion.
                unsafe { *to.get_unchecked_mut(k * len + i) = *self.start.offset(start + i as isize * stride) };
            }
        }
    }

    /// Lane number `k` of those gathered, which begins at this offset.
    ///
    /// # Safety
    /// As for [`Source::gather`].
    unsafe fn lane<'a>(&'a self, at: isize, k: usize, gathered: &'a [T]) -> &'a [T] {
        let len = self.lane.len;
        if self.direct() {
            // SAFETY: a lane of stride 1 is a slice; one without elements is not looked at.
            unsafe { std::slice::from_raw_parts(self.start.wrapping_offset(at), len) }
        } else {
            &gathered[k * len..][..len]
        }
    }
}

/// Writes lanes that lie one after the other to where they begin, with this stride.
///
/// # Safety
/// The lanes lie in what `to` points to, and nobody else uses them.
unsafe fn scatter<T: Element>(from: &[T], len: usize, starts: &[usize; GROUP], many: usize, stride: usize, to: *mut T) {
    assert!(many * len <= from.len() && many <= GROUP, "the lanes are in the buffer");
    for i in 0..len {
        for (k, &start) in starts[..many].iter().enumerate() {
            // SAFETY: the source is in bounds by the assertion, the target as the caller promises.
            unsafe { *to.add(start + i * stride) = *from.get_unchecked(k * len + i) };
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::Complex;
    use ndarray::{ArrayD, Axis, IxDyn, Slice};

    /// The same elements in C order, transposed, every second of a larger array, reversed, and broadcast from one row.
    pub fn layouts<T: Element>(x: &ArrayD<T>) -> Vec<NdArray<T>> {
        let mut all = vec![x.clone().into_shared()];
        all.push(x.t().as_standard_layout().into_owned().into_shared().reversed_axes());
        for axis in 0..x.ndim() {
            let mut shape = x.shape().to_vec();
            shape[axis] = shape[axis] * 2 + 1;
            let mut big = ArrayD::from_elem(IxDyn(&shape), T::default());
            let every = Slice::new(1, None, 2);
            big.slice_axis_mut(Axis(axis), every).assign(x);
            let mut part = big.into_shared();
            part.slice_axis_inplace(Axis(axis), every);
            all.push(part);

            let mut reversed = x.clone();
            reversed.invert_axis(Axis(axis));
            let mut reversed = reversed.as_standard_layout().into_owned().into_shared();
            reversed.invert_axis(Axis(axis));
            all.push(reversed);
        }
        let same = |a: &T, x: &T| a == x || a.cast::<Complex<f64>>().is_nan() && x.cast::<Complex<f64>>().is_nan();
        assert!(all.iter().all(|a| a.shape() == x.shape() && a.iter().zip(x).all(|(a, x)| same(a, x))));
        all
    }

    /// Counts up, in C order.
    pub fn counting<T: Element>(shape: &[usize]) -> ArrayD<T> {
        let n = shape.iter().product::<usize>() as i64;
        ArrayD::from_shape_vec(IxDyn(shape), (0..n).map(T::from_i64).collect()).unwrap()
    }

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
                    let doubled = |_: &mut (), from: &[f64], to: &mut [f64]| {
                        assert!(to.iter().all(|&t| t == 0.0));
                        to.iter_mut().zip(from.iter().rev().chain(&[-1.0])).for_each(|(t, f)| *t = f * 2.0);
                        Ok(())
                    };
                    let y = map_lanes("test", &a, axis, len + 1, 16, || Ok(()), doubled).unwrap();
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
        let shape = [5, 12, 7];
        for axis in 0..3 {
            let mut x = counting::<i32>(&shape);
            let mut expected = x.clone();
            expected.invert_axis(Axis(axis));
            let flat = x.as_slice_mut().unwrap();
            lanes_in_place(
                "test",
                flat,
                &shape,
                axis,
                1,
                || Ok(()),
                |_, lane| {
                    lane.reverse();
                    Ok(())
                },
            )
            .unwrap();
            assert_eq!(x, expected);
        }
    }

    #[test]
    fn empty_lanes_and_no_lanes() {
        let none = counting::<f32>(&[0, 3]).into_shared();
        let pad = |_: &mut (), from: &[f32], to: &mut [f32]| {
            to.fill(from.len() as f32 + 1.0);
            Ok(())
        };
        assert_eq!(map_lanes("test", &none, 0, 2, 1, || Ok(()), pad).unwrap(), ArrayD::from_elem(IxDyn(&[2, 3]), 1.0));
        assert_eq!(map_lanes("test", &none, 1, 2, 1, || Ok(()), pad).unwrap().shape(), [0, 2]);
        lanes_in_place::<f32, _>("test", &mut [], &[0, 3], 0, 1, || Ok(()), |_, _| unreachable!()).unwrap();
    }
}
