//! Parts of arrays: slices, gathers, scatters and masks.

use super::{
    NdArray, Numpyish, Operand,
    buffer::{self, CHEAP},
    copy,
};
use crate::{Element, Error, Numeric, Result, Slice, shape};
use ndarray::{ArrayView, Axis, IxDyn, Slice as Part};
use std::mem::MaybeUninit;

/// x1 where the condition is true, x2 elsewhere.
pub fn select<T: Element>(
    _: &Numpyish,
    condition: &NdArray<bool>,
    x1: Operand<'_, T>,
    x2: Operand<'_, T>,
) -> Result<NdArray<T>> {
    const OP: &str = "where";
    let scalar = |s: T| ndarray::arr0(s).into_dyn().into_shared();
    let [x1, x2] = [x1, x2].map(|x| match x {
        Operand::Array(x) => x.clone(),
        Operand::Scalar(s) => scalar(s),
    });
    let shape = shape::broadcast_all(OP, [condition.shape(), x1.shape(), x2.shape()])?;
    let n = shape::count(OP, &shape, size_of::<T>())?;
    let (condition, x1, x2) = (
        widen(condition, &shape),
        widen(&x1, &shape),
        widen(&x2, &shape),
    );
    let (condition, x1, x2) = (flat(OP, condition)?, flat(OP, x1)?, flat(OP, x2)?);
    // SAFETY: every element of every part is written; the three inputs have `n` elements.
    let v = unsafe {
        buffer::filled(OP, n, |out| {
            buffer::chunks(out, 1, CHEAP, |start, part| {
                let end = start + part.len();
                let inputs = condition[start..end]
                    .iter()
                    .zip(&x1[start..end])
                    .zip(&x2[start..end]);
                for (to, ((&c, &a), &b)) in part.iter_mut().zip(inputs) {
                    to.write(if c { a } else { b });
                }
            });
        })
    }?;
    buffer::array(OP, &shape, v)
}

fn widen<'a, T: Element>(x: &'a NdArray<T>, shape: &[usize]) -> ArrayView<'a, T, IxDyn> {
    x.broadcast(IxDyn(shape))
        .expect("a shape that was broadcast")
}

/// The elements of a view in C order, copied only where they lie otherwise.
fn flat<'a, T: Element>(
    op: &'static str,
    x: ArrayView<'a, T, IxDyn>,
) -> Result<std::borrow::Cow<'a, [T]>> {
    match x.to_slice() {
        Some(slice) => Ok(slice.into()),
        None => Ok(copy::to_vec(op, x)?.into()),
    }
}

/// A part of the array, sharing its memory.
pub fn getitem<T: Element>(_: &Numpyish, x: &NdArray<T>, slices: &[Slice]) -> Result<NdArray<T>> {
    let spans = shape::spans("getitem", slices, x.shape())?;
    let mut part = x.clone();
    for (axis, span) in spans.iter().enumerate() {
        part.slice_axis_inplace(Axis(axis), ndarray_slice(span));
    }
    for (axis, _) in spans.iter().enumerate().rev().filter(|(_, span)| span.drop) {
        part = part.index_axis_move(Axis(axis), 0);
    }
    Ok(part)
}

/// The same part in ndarray's words: there a negative step begins at the last index of the range.
fn ndarray_slice(span: &shape::Span) -> Part {
    let (first, len) = (span.start as isize, span.len as isize);
    if len == 0 {
        return Part::new(0, Some(0), 1);
    }
    let last = first + (len - 1) * span.step;
    Part::new(first.min(last), Some(first.max(last) + 1), span.step)
}

/// A copy of the array in which a part is replaced by values, broadcast to it.
pub fn setitem<T: Element>(
    _: &Numpyish,
    x: &NdArray<T>,
    slices: &[Slice],
    values: Operand<'_, T>,
) -> Result<NdArray<T>> {
    const OP: &str = "setitem";
    let spans = shape::spans(OP, slices, x.shape())?;
    let mut whole = owned(OP, x)?;
    let mut part = whole.view_mut();
    for (axis, span) in spans.iter().enumerate() {
        part.slice_axis_inplace(Axis(axis), ndarray_slice(span));
    }
    for (axis, _) in spans.iter().enumerate().rev().filter(|(_, span)| span.drop) {
        part = part.index_axis_move(Axis(axis), 0);
    }
    match values {
        Operand::Scalar(s) => part.fill(s),
        Operand::Array(v) => {
            let shape = part.shape().to_vec();
            shape::check_broadcast_to(OP, v.shape(), &shape)?;
            part.assign(&widen(v, &shape));
        }
    }
    Ok(whole)
}

/// A copy in C order that nobody else holds.
fn owned<T: Element>(op: &'static str, x: &NdArray<T>) -> Result<NdArray<T>> {
    buffer::array(op, x.shape(), copy::to_vec(op, x.view())?)
}

/// Indices into an axis of length `len`, from its start; one outside is an error.
fn resolve(op: &'static str, indices: &NdArray<i64>, len: usize) -> Result<Vec<usize>> {
    let mut found = buffer::vec::<usize>(op, indices.len())?;
    for &index in buffer::packed(op, indices)?.iter() {
        let from_start = if index < 0 {
            index.wrapping_add(len as i64)
        } else {
            index
        };
        if from_start < 0 || from_start as u64 >= len as u64 {
            return Err(Error::Index { op, index, len });
        }
        found.push(from_start as usize);
    }
    Ok(found)
}

/// The sizes of what is before and behind an axis.
fn around(shape: &[usize], axis: usize) -> (usize, usize) {
    (
        shape[..axis].iter().product(),
        shape[axis + 1..].iter().product(),
    )
}

/// Elements at indices along one axis.
pub fn take<T: Element>(
    _: &Numpyish,
    x: &NdArray<T>,
    indices: &NdArray<i64>,
    axis: isize,
) -> Result<NdArray<T>> {
    const OP: &str = "take";
    let axis = shape::axis(OP, axis, x.ndim())?;
    let rows = resolve(OP, indices, x.shape()[axis])?;
    let shape = [&x.shape()[..axis], indices.shape(), &x.shape()[axis + 1..]].concat();
    let n = shape::count(OP, &shape, size_of::<T>())?;
    let from = buffer::packed(OP, x)?;
    let (len, (_, inner)) = (x.shape()[axis], around(x.shape(), axis));
    // SAFETY: every row of every part is written.
    let v = unsafe {
        buffer::filled(OP, n, |out| {
            buffer::chunks(out, inner, CHEAP, |start, part| {
                if inner == 1 {
                    for (i, to) in part.iter_mut().enumerate() {
                        let (outer, k) = ((start + i) / rows.len(), (start + i) % rows.len());
                        to.write(from[outer * len + rows[k]]);
                    }
                    return;
                }
                for (row, to) in (start / inner..).zip(part.chunks_exact_mut(inner)) {
                    let (outer, k) = (row / rows.len(), row % rows.len());
                    write(to, &from[(outer * len + rows[k]) * inner..][..inner]);
                }
            });
        })
    }?;
    buffer::array(OP, &shape, v)
}

/// Copies a slice to memory that is not initialised yet.
fn write<T: Copy>(to: &mut [MaybeUninit<T>], from: &[T]) {
    for (to, &from) in to.iter_mut().zip(from) {
        to.write(from);
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
    if indices.ndim() != x.ndim() {
        return Err(Error::shapes(OP, x.shape(), indices.shape()));
    }
    let (len, many) = (x.shape()[axis], indices.shape()[axis]);
    let (mut x_shape, mut i_shape) = (x.shape().to_vec(), indices.shape().to_vec());
    (x_shape[axis], i_shape[axis]) = (1, 1);
    let mut shape = shape::broadcast(OP, &x_shape, &i_shape)
        .map_err(|_| Error::shapes(OP, x.shape(), indices.shape()))?;
    shape[axis] = len;
    let source = widen(x, &shape);
    let from = flat(OP, source)?;
    shape[axis] = many;
    let n = shape::count(OP, &shape, size_of::<T>())?;
    let at = resolve(
        OP,
        &buffer::array(OP, &shape, copy::to_vec(OP, widen(indices, &shape))?)?,
        len,
    )?;
    let (_, inner) = around(&shape, axis);
    let mut v = buffer::vec::<T>(OP, n)?;
    v.extend(at.iter().enumerate().map(|(i, &k)| {
        let (outer, column) = (i / (many * inner), i % inner);
        from[(outer * len + k) * inner + column]
    }));
    buffer::array(OP, &shape, v)
}

/// A copy of x to which values are added at indices along one axis.
pub fn scatter_add<T: Numeric>(
    _: &Numpyish,
    x: &NdArray<T>,
    indices: &NdArray<i64>,
    values: &NdArray<T>,
    axis: isize,
) -> Result<NdArray<T>> {
    scattered("scatter_add", x, indices, values, axis, |to, from| {
        *to = to.plus(from)
    })
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
#[inline]
fn scattered<T: Element>(
    op: &'static str,
    x: &NdArray<T>,
    indices: &NdArray<i64>,
    values: &NdArray<T>,
    axis: isize,
    put: impl Fn(&mut T, T),
) -> Result<NdArray<T>> {
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
    let rows = resolve(op, indices, len)?;
    let from = buffer::packed(op, values)?;
    let mut to = copy::to_vec(op, x.view())?;
    let (outer, inner) = around(x.shape(), axis);
    for o in 0..outer {
        for (k, &row) in rows.iter().enumerate() {
            let from = &from[(o * rows.len() + k) * inner..][..inner];
            let to = &mut to[(o * len + row) * inner..][..inner];
            to.iter_mut()
                .zip(from)
                .for_each(|(to, &from)| put(to, from));
        }
    }
    buffer::array(op, x.shape(), to)
}

/// The elements, in C order, where a mask of the same shape is true.
pub fn boolean_mask<T: Element>(
    _: &Numpyish,
    x: &NdArray<T>,
    mask: &NdArray<bool>,
) -> Result<NdArray<T>> {
    const OP: &str = "boolean_mask";
    if x.shape() != mask.shape() {
        return Err(Error::shapes(OP, x.shape(), mask.shape()));
    }
    let (x, mask) = (buffer::packed(OP, x)?, buffer::packed(OP, mask)?);
    let n = mask.iter().filter(|&&m| m).count();
    let mut v = buffer::vec::<T>(OP, n + 1)?;
    // every element is written where the next one goes, and stays if its mask is true: no branch to predict
    let room = v.spare_capacity_mut();
    let mut next = 0;
    for (&x, &m) in x.iter().zip(mask.iter()) {
        room[next].write(x);
        next += usize::from(m);
    }
    // SAFETY: the first `n` places were written: `next` passed each of them after a write.
    unsafe { v.set_len(n) };
    buffer::array(OP, &[n], v)
}

/// Places of the true elements, counted in C order.
fn places<T: Element>(op: &'static str, x: &NdArray<T>) -> Result<Vec<usize>> {
    let x = buffer::packed(op, x)?;
    let mut found = buffer::vec::<usize>(op, x.iter().filter(|v| v.truth()).count())?;
    found.extend(
        x.iter()
            .enumerate()
            .filter(|(_, v)| v.truth())
            .map(|(i, _)| i),
    );
    Ok(found)
}

/// Indices of the true elements, one array per axis.
pub fn nonzero<T: Element>(_: &Numpyish, x: &NdArray<T>) -> Result<Vec<NdArray<i64>>> {
    const OP: &str = "nonzero";
    let found = places(OP, x)?;
    let strides = shape::c_strides(x.shape());
    let axes = x.shape().iter().zip(&strides);
    axes.map(|(&len, &stride)| {
        let mut v = buffer::vec::<i64>(OP, found.len())?;
        v.extend(found.iter().map(|&i| (i / stride as usize % len) as i64));
        buffer::array(OP, &[found.len()], v)
    })
    .collect()
}

/// Indices of the true elements, one row each.
pub fn argwhere<T: Element>(_: &Numpyish, x: &NdArray<T>) -> Result<NdArray<i64>> {
    const OP: &str = "argwhere";
    let found = places(OP, x)?;
    let strides = shape::c_strides(x.shape());
    let shape = [found.len(), x.ndim()];
    let mut v = buffer::vec::<i64>(OP, shape::count(OP, &shape, size_of::<i64>())?)?;
    for i in &found {
        v.extend(
            x.shape()
                .iter()
                .zip(&strides)
                .map(|(&len, &stride)| (i / stride as usize % len) as i64),
        );
    }
    buffer::array(OP, &shape, v)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IntoHost;

    const B: Numpyish = Numpyish::new();

    fn counting(shape: &[usize]) -> NdArray<i64> {
        let n = shape.iter().product::<usize>() as i64;
        buffer::array("test", shape, (0..n).collect()).unwrap()
    }

    fn list(x: &NdArray<i64>) -> Vec<i64> {
        x.iter().copied().collect()
    }

    #[test]
    fn slices_share_memory() {
        let x = counting(&[3, 4]);
        let part = getitem(&B, &x, &[Slice::from(1..), Slice::ALL.step(-2)]).unwrap();
        assert_eq!(list(&part), [7, 5, 11, 9]);
        assert_eq!(part.as_ptr(), x.as_ptr().wrapping_add(7));
        assert_eq!(getitem(&B, &x, &[Slice::at(-1)]).unwrap().shape(), [4]);
        assert_eq!(
            getitem(&B, &x, &[Slice::from(2..1)]).unwrap().shape(),
            [0, 4]
        );
        assert!(getitem(&B, &x, &[Slice::at(3)]).is_err());
        assert!(getitem(&B, &x, &[Slice::ALL; 3]).is_err());
    }

    #[test]
    fn replacing_a_part_leaves_the_original() {
        let x = counting(&[2, 3]);
        let y = setitem(
            &B,
            &x,
            &[Slice::ALL, Slice::ALL.step(-2)],
            Operand::Scalar(9),
        )
        .unwrap();
        assert_eq!(list(&y), [9, 1, 9, 9, 4, 9]);
        assert_eq!(list(&x), [0, 1, 2, 3, 4, 5]);
        let column = counting(&[2, 1]);
        let y = setitem(&B, &x, &[], Operand::Array(&column)).unwrap();
        assert_eq!(list(&y), [0, 0, 0, 1, 1, 1]);
        assert!(setitem(&B, &x, &[Slice::at(0)], Operand::Array(&counting(&[2]))).is_err());
    }

    #[test]
    fn indices_outside_are_errors() {
        let x = counting(&[2, 3]);
        for bad in [3, -4, i64::MIN, i64::MAX] {
            let i = [bad].into_host().unwrap();
            let error = Error::Index {
                op: "take",
                index: bad,
                len: 3,
            };
            assert_eq!(take(&B, &x, &i, 1), Err(error));
        }
        assert_eq!(
            list(&take(&B, &x, &[-1, 0].into_host().unwrap(), -1).unwrap()),
            [2, 0, 5, 3]
        );
        assert_eq!(take(&B, &x, &counting(&[0]), 0).unwrap().shape(), [0, 3]);
        assert!(take(&B, &x, &counting(&[1]), 2).is_err());
    }

    #[test]
    fn the_last_of_equal_indices_counts_and_sums_add_up() {
        let (x, i) = (counting(&[3]), [1_i64, 1, -1].into_host().unwrap());
        let values = [10_i64, 20, 30].into_host().unwrap();
        assert_eq!(list(&scatter(&B, &x, &i, &values, 0).unwrap()), [0, 20, 30]);
        assert_eq!(
            list(&scatter_add(&B, &x, &i, &values, 0).unwrap()),
            [0, 31, 32]
        );
        assert!(scatter(&B, &x, &i, &counting(&[2]), 0).is_err());
        assert!(scatter(&B, &x, &counting(&[1, 1]), &values, 0).is_err());
    }

    #[test]
    fn masks_and_places() {
        let x = counting(&[2, 2]);
        let mask = [[true, false], [true, true]].into_host().unwrap();
        assert_eq!(list(&boolean_mask(&B, &x, &mask).unwrap()), [0, 2, 3]);
        assert!(boolean_mask(&B, &x, &[true].into_host().unwrap()).is_err());
        assert_eq!(
            nonzero(&B, &mask)
                .unwrap()
                .iter()
                .map(list)
                .collect::<Vec<_>>(),
            [[0, 1, 1], [0, 0, 1]]
        );
        let of_scalar = argwhere(&B, &1_i64.into_host().unwrap()).unwrap();
        assert_eq!(of_scalar.shape(), [1, 0]);
    }

    #[test]
    fn selection_broadcasts() {
        let condition = [[true], [false]].into_host().unwrap();
        let y = select(
            &B,
            &condition,
            Operand::Array(&counting(&[3])),
            Operand::Scalar(7),
        )
        .unwrap();
        assert_eq!(list(&y), [0, 1, 2, 7, 7, 7]);
        let x = counting(&[4]);
        assert!(
            select(
                &B,
                &condition,
                Operand::Array(&x),
                Operand::Array(&counting(&[3]))
            )
            .is_err()
        );
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
}
