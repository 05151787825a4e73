//! Gathers and scatters along one axis, by arrays of indices.

use super::widen;
use crate::{
    Element, Error, Numeric, Result,
    numpyish::{
        NdArray, Numpyish,
        buffer::{self, CHEAP, COSTLY, Shared},
        copy,
    },
    shape,
};
use multiversion::multiversion;
use ndarray::Axis;
use std::{
    mem::MaybeUninit,
    ops::Range,
    sync::atomic::{AtomicBool, Ordering},
};

/// Whether all indices lie in an axis, counted from either end. Without a branch: a set sign bit is an index outside.
#[multiversion(targets("x86_64+avx2+fma+f16c"))]
fn inside(indices: &[i64], len: usize) -> bool {
    let n = len as i64;
    indices.iter().fold(0, |bad, &i| bad | i.wrapping_add(n) | (n - 1).wrapping_sub(i)) >= 0
}

/// An error that names the first index outside an axis.
fn check(op: &'static str, indices: &[i64], len: usize) -> Result<()> {
    if inside(indices, len) {
        return Ok(());
    }
    let index = indices.iter().copied().find(|&i| !inside(&[i], len)).unwrap_or_default();
    Err(Error::Index { op, index: index.into(), len })
}

/// An index that lies in an axis, from its start.
#[inline(always)]
fn from_start(index: i64, len: usize) -> usize {
    (index + ((index >> 63) & len as i64)) as usize
}

/// The sizes of what is before and behind an axis.
fn around(shape: &[usize], axis: usize) -> (usize, usize) {
    (shape[..axis].iter().product(), shape[axis + 1..].iter().product())
}

/// Elements at indices along one axis.
pub fn take<T: Element>(_: &Numpyish, x: &NdArray<T>, indices: &NdArray<i64>, axis: isize) -> Result<NdArray<T>> {
    const OP: &str = "take";
    let axis = shape::axis(OP, axis, x.ndim())?;
    let len = x.shape()[axis];
    let shape = [&x.shape()[..axis], indices.shape(), &x.shape()[axis + 1..]].concat();
    shape::count(OP, &shape, size_of::<T>())?;
    let indices = buffer::packed(OP, indices)?;
    let (outer, inner) = around(x.shape(), axis);
    let few = x.as_slice().is_none() && indices.len() < len / 2;
    if few || inner != 1 || len == 0 {
        check(OP, &indices, len)?;
    }
    if few {
        return take_slices(OP, x, &indices, axis, &shape);
    }
    let from = buffer::packed(OP, x)?;
    if inner == 1 {
        let rows = Rows { count: outer, width: indices.len(), len, inner };
        let slab = |row: usize| &from[row * len..][..len];
        return gather(OP, &shape, rows, slab, |_, columns| &indices[columns]);
    }
    // SAFETY: every row of every part is written.
    unsafe {
        buffer::build(OP, &shape, |out| {
            buffer::chunks(out, inner, CHEAP, |start, part| {
                for (row, to) in (start / inner..).zip(part.chunks_exact_mut(inner)) {
                    let (outer, k) = (row / indices.len(), row % indices.len());
                    to.write_copy_of_slice(&from[(outer * len + from_start(indices[k], len)) * inner..][..inner]);
                }
            });
        })
    }
}

/// [`take`] of a few slices, without reading the rest.
fn take_slices<T: Element>(
    op: &'static str,
    x: &NdArray<T>,
    indices: &[i64],
    axis: usize,
    shape: &[usize],
) -> Result<NdArray<T>> {
    let mut flat = x.shape().to_vec();
    flat[axis] = indices.len();
    let mut strides = shape::c_strides(&flat);
    let step = strides.remove(axis) as usize;
    // SAFETY: the slices are all there is along the axis.
    unsafe {
        buffer::build(op, shape, |out| {
            for (k, &index) in indices.iter().enumerate() {
                let slice = x.view().index_axis_move(Axis(axis), from_start(index, x.shape()[axis]));
                copy::place(out, k * step, &strides, slice);
            }
        })
    }
}

/// Elements at indices along one axis, one index per position; the other axes broadcast.
pub fn take_along_axis<T: Element>(
    _: &Numpyish,
    x: &NdArray<T>,
    indices: &NdArray<i64>,
    axis: isize,
) -> Result<NdArray<T>> {
    const OP: &str = "take_along_axis";
    let axis = shape::axis(OP, axis, x.ndim())?;
    let refused = |_| Error::shapes(OP, x.shape(), indices.shape());
    if indices.ndim() != x.ndim() {
        return Err(refused(()));
    }
    let (len, many) = (x.shape()[axis], indices.shape()[axis]);
    let with = |shape: &[usize], length: usize| [&shape[..axis], &[length], &shape[axis + 1..]].concat();
    let others = shape::broadcast(OP, &with(x.shape(), 1), &with(indices.shape(), 1)).map_err(|_| refused(()))?;
    let (x_shape, shape) = (with(&others, len), with(&others, many));
    shape::count(OP, &x_shape, size_of::<T>())?;
    shape::count(OP, &shape, size_of::<T>().max(size_of::<i64>()))?;
    let from = broadcast(OP, x, &x_shape)?;
    let from = buffer::packed(OP, &from)?;
    let indices = broadcast(OP, indices, &shape)?;
    let indices = buffer::packed(OP, &indices)?;
    let (outer, inner) = around(&shape, axis);
    // a row has one slab to choose from, and one column of it for each of its elements unless columns are single
    let (count, width) = if inner == 1 { (outer, many) } else { (outer * many, inner) };
    let rows = Rows { count, width, len, inner };
    let slab = |row: usize| &from[if inner == 1 { row } else { row / many } * len * inner..][..len * inner];
    gather(OP, &shape, rows, slab, |row, columns| &indices[row * width..][columns])
}

/// The array broadcast to a shape that it fits; written out only where that changes it.
fn broadcast<T: Element>(op: &'static str, x: &NdArray<T>, shape: &[usize]) -> Result<NdArray<T>> {
    if x.shape() == shape {
        return Ok(x.clone());
    }
    buffer::array(op, shape, copy::to_vec(op, widen(op, &x.view(), shape)?)?)
}

/// The rows of a gather: `width` elements each, chosen from a slab of `len` times `inner` elements.
struct Rows {
    count: usize,
    width: usize,
    len: usize,
    inner: usize,
}

/// Rows of elements at indices. `indices` gives those of some columns of a row.
fn gather<'a, T: Element>(
    op: &'static str,
    shape: &[usize],
    rows: Rows,
    slab: impl Fn(usize) -> &'a [T] + Sync,
    indices: impl Fn(usize, Range<usize>) -> &'a [i64] + Sync,
) -> Result<NdArray<T>> {
    /// Indices of one task: checked and then read again while they are in the cache.
    const COLUMNS: usize = 1 << 12;
    let Rows { count, width, len, inner } = rows;
    let segments = width.div_ceil(COLUMNS);
    let outside = AtomicBool::new(false);
    // SAFETY: every segment of every row is written, with anything where an index is outside.
    let array = unsafe {
        buffer::build(op, shape, |out: &mut [MaybeUninit<T>]| {
            let out = Shared::new(out);
            buffer::parallel(count * segments, (4 * COSTLY).div_ceil(width.clamp(1, COLUMNS)), |tasks| {
                for task in tasks {
                    let (row, first) = (task / segments, task % segments * COLUMNS);
                    let columns = first..width.min(first + COLUMNS);
                    let out = out.part(row * width + columns.start..row * width + columns.end);
                    let indices = indices(row, columns);
                    if inside(indices, len) {
                        gather_row(slab(row), len, inner, first, indices, out);
                    } else {
                        out.fill(MaybeUninit::new(T::default()));
                        outside.store(true, Ordering::Relaxed);
                    }
                }
            });
        })
    }?;
    if outside.into_inner() {
        (0..count).try_for_each(|row| check(op, indices(row, 0..width), len))?;
    }
    Ok(array)
}

/// Elements at indices that lie in the axis, of one column each from `first` on where there are several.
fn gather_row<T: Element>(
    slab: &[T],
    len: usize,
    inner: usize,
    first: usize,
    indices: &[i64],
    out: &mut [MaybeUninit<T>],
) {
    assert_eq!(slab.len(), len * inner, "a slab is one index of what is before the axis");
    if inner == 1 {
        for (o, &i) in out.iter_mut().zip(indices) {
            // SAFETY: the index lies in the axis, which is the slab.
            o.write(unsafe { *slab.get_unchecked(from_start(i, len)) });
        }
    } else {
        for ((o, &i), column) in out.iter_mut().zip(indices).zip(first..) {
            o.write(slab[from_start(i, len) * inner + column]);
        }
    }
}

/// A copy of x to which values are added at indices along one axis.
pub fn scatter_add<T: Numeric>(
    _: &Numpyish,
    x: &NdArray<T>,
    indices: &NdArray<i64>,
    values: &NdArray<T>,
    axis: isize,
) -> Result<NdArray<T>> {
    scattered("scatter_add", x, indices, values, axis, |to, from| *to = to.plus(from))
}

/// A copy of x in which elements at indices along one axis are replaced by values.
pub fn scatter<T: Element>(
    _: &Numpyish,
    x: &NdArray<T>,
    indices: &NdArray<i64>,
    values: &NdArray<T>,
    axis: isize,
) -> Result<NdArray<T>> {
    scattered("scatter", x, indices, values, axis, |to, from| *to = from)
}

/// In the order of the indices, so that sums do not depend on threads and the last of equal indices counts.
fn scattered<T: Element>(
    op: &'static str,
    x: &NdArray<T>,
    indices: &NdArray<i64>,
    values: &NdArray<T>,
    axis: isize,
    put: impl Fn(&mut T, T) + Sync,
) -> Result<NdArray<T>> {
    /// Columns of one task, where there are many.
    const COLUMNS: usize = 1 << 9;
    let axis = shape::axis(op, axis, x.ndim())?;
    if indices.ndim() != 1 {
        return Err(Error::shape(op, indices.shape(), "indices have one axis"));
    }
    let mut wanted = x.shape().to_vec();
    wanted[axis] = indices.len();
    if values.shape() != wanted {
        return Err(Error::shapes(op, &wanted, values.shape()));
    }
    let len = x.shape()[axis];
    let indices = buffer::packed(op, indices)?;
    check(op, &indices, len)?;
    if values.is_empty() {
        // axes behind may be as long as they like where there is nothing to write
        return buffer::array(op, x.shape(), copy::to_vec(op, x.view())?);
    }
    let from = buffer::packed(op, values)?;
    let mut to = copy::to_vec(op, x.view())?;
    let (outer, inner) = around(x.shape(), axis);
    let segments = inner.div_ceil(COLUMNS);
    let all = Shared::new(&mut to);
    let work = indices.len().saturating_mul(inner.min(COLUMNS));
    buffer::parallel(outer * segments, (CHEAP / work.max(1)).max(1), |tasks| {
        for task in tasks {
            let (o, first) = (task / segments, task % segments * COLUMNS);
            let width = COLUMNS.min(inner - first);
            if inner == 1 {
                // SAFETY: tasks write to different indices of what is before the axis.
                let slab = unsafe { all.part(o * len..(o + 1) * len) };
                let from = &from[o * indices.len()..][..indices.len()];
                indices.iter().zip(from).for_each(|(&i, &from)| put(&mut slab[from_start(i, len)], from));
                continue;
            }
            for (k, &index) in indices.iter().enumerate() {
                let at = (o * len + from_start(index, len)) * inner + first;
                // SAFETY: columns of different tasks are different, and so are their elements.
                let to = unsafe { all.part(at..at + width) };
                let from = &from[(o * indices.len() + k) * inner + first..][..width];
                to.iter_mut().zip(from).for_each(|(to, &from)| put(to, from));
            }
        }
    });
    buffer::array(op, x.shape(), to)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{counting, list};
    use super::*;
    use crate::IntoHost;
    use crate::numpyish::copy::tests::Dice;

    const B: Numpyish = Numpyish::new();

    #[test]
    fn indices_outside_are_errors() {
        let x = counting(&[2, 3]);
        for bad in [3, -4, i64::MIN, i64::MAX] {
            let i = [bad].into_host().unwrap();
            let error = Error::Index { op: "take", index: bad.into(), len: 3 };
            assert_eq!(take(&B, &x, &i, 1), Err(error));
        }
        assert_eq!(list(&take(&B, &x, &[-1, 0].into_host().unwrap(), -1).unwrap()), [2, 0, 5, 3]);
        assert_eq!(take(&B, &x, &counting(&[0]), 0).unwrap().shape(), [0, 3]);
        assert!(take(&B, &x, &counting(&[1]), 2).is_err());
    }

    #[test]
    fn the_last_of_equal_indices_counts_and_sums_add_up() {
        let (x, i) = (counting(&[3]), [1_i64, 1, -1].into_host().unwrap());
        let values = [10_i64, 20, 30].into_host().unwrap();
        assert_eq!(list(&scatter(&B, &x, &i, &values, 0).unwrap()), [0, 20, 30]);
        assert_eq!(list(&scatter_add(&B, &x, &i, &values, 0).unwrap()), [0, 31, 32]);
        assert!(scatter(&B, &x, &i, &counting(&[2]), 0).is_err());
        assert!(scatter(&B, &x, &counting(&[1, 1]), &values, 0).is_err());
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

    /// Index arrays that count from both ends.
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

            let taken = take(&B, &x, &i, axis as isize).unwrap();
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
        let none = buffer::zeroed::<i64>("zeros", 0).unwrap();
        let x = buffer::array("zeros", &[1 << 40, 0], none).unwrap();
        assert_eq!(take(&B, &x, &counting(&[3]), 0).unwrap().shape(), [3, 0]);
        assert_eq!(scatter(&B, &x, &counting(&[0]), &buffer::array("x", &[0, 0], vec![]).unwrap(), 0).unwrap(), x);
        assert!(matches!(take(&B, &x, &counting(&[1]), 1), Err(Error::Index { len: 0, .. })));
    }
}
