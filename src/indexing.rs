//! Indexing for backends without indexing kernels. The indices are read on the host and converted to flat indices of
//! elements in C order.

use crate::{
    Backend, Element, Error, HostArray, Index, IndexMode, Indices, Integer, Numeric, Operand, Result, Slice, lazy, ops,
    runtime::{
        numpyish,
        rules::{self, Kept, Selection, Span},
    },
};

/// Returns the elements that a list of indices selects.
pub fn get<B: Backend, T: Element>(b: &B, x: &B::Array<T>, index: Indices<'_, B>) -> Result<B::Array<T>> {
    let selection = Selection::of("get", b, b.shape(x), index.iter())?;
    if selection.is_view() {
        let part = b.getitem(x, selection.spans.iter().map(slice).collect::<Vec<_>>())?;
        let has_new = selection.kept.contains(&Kept::New);
        return if has_new { b.reshape(&part, signed(&selection.lengths())) } else { Ok(part) };
    }
    let places = places("get", b, b.shape(x), index, None::<&Operand<'_, B, T>>)?;
    let taken = b.take(&b.reshape(x, -1)?, &flat(b, &places)?, 0)?;
    b.reshape(&taken, signed(places.shape()))
}

/// Replaces the selected elements by values. If an index occurs several times, the last value counts.
pub fn set<B: Backend, T: Element>(
    b: &B,
    x: &mut B::Array<T>,
    index: Indices<'_, B>,
    values: Operand<'_, B, T>,
) -> Result<()> {
    let places = places("set", b, b.shape(x), index, Some(&values))?;
    let values = wide("set", b, values, places.shape())?;
    let elements = b.scatter(&b.reshape(&*x, -1)?, &flat(b, &places)?, &values, 0)?;
    *x = b.reshape(&elements, signed(b.shape(x)))?;
    Ok(())
}

/// Adds values to the selected elements. If an index occurs several times, all its values are added.
pub fn add_at<B: Backend, T: Numeric>(
    b: &B,
    x: &mut B::Array<T>,
    index: Indices<'_, B>,
    values: Operand<'_, B, T>,
) -> Result<()> {
    let places = places("add_at", b, b.shape(x), index, Some(&values))?;
    let values = wide("add_at", b, values, places.shape())?;
    let elements = b.scatter_add(&b.reshape(&*x, -1)?, &flat(b, &places)?, &values, 0)?;
    *x = b.reshape(&elements, signed(b.shape(x)))?;
    Ok(())
}

/// A copy of the array with the selected elements replaced by values.
pub fn index_put<B: Backend, T: Element>(
    b: &B,
    x: &B::Array<T>,
    index: Indices<'_, B>,
    values: Operand<'_, B, T>,
) -> Result<B::Array<T>> {
    let mut changed = x.clone();
    b.set(&mut changed, index, values)?;
    Ok(changed)
}

/// Converts flat indices of elements in C order to indices along each axis.
pub fn unravel_index<B: Backend, T: Integer>(
    b: &B,
    indices: &B::Array<T>,
    shape: &[usize],
) -> Result<Vec<B::Array<T>>> {
    const OP: &str = "unravel_index";
    let len = rules::count(OP, shape, size_of::<i64>())?;
    if b.shape(indices).contains(&0) {
        return Ok(shape.iter().map(|_| indices.clone()).collect());
    }
    check_places(b, OP, indices, len, 0)?;
    let Some((_, inner)) = shape.split_first() else { return Ok(Vec::new()) };
    // divides by the lengths, beginning with the last axis; the first axis needs no division, because all indices are
    // in range
    let mut rows = b.astype::<i64, _>(indices)?;
    let mut along = Vec::new();
    for &len in inner.iter().rev() {
        let len = lazy(len as i64);
        let above = lazy(&rows).op2(ops::floor_divide {}, len).eval(b)?;
        let index = lazy(&rows).op2(ops::subtract {}, lazy(&above).op2(ops::multiply {}, len));
        along.push(index.astype::<T>().eval(b)?);
        rows = above;
    }
    along.push(b.astype::<T, _>(&rows)?);
    along.reverse();
    Ok(along)
}

/// Converts indices along each axis to flat indices of elements in C order.
pub fn ravel_multi_index<B: Backend, T: Integer>(
    b: &B,
    indices: &[&B::Array<T>],
    shape: &[usize],
    mode: IndexMode,
) -> Result<B::Array<i64>> {
    const OP: &str = "ravel_multi_index";
    rules::count(OP, shape, size_of::<i64>())?;
    if indices.len() != shape.len() || indices.is_empty() {
        let why = format!(
            "{} arrays of indices were given, but there must be one for each of {} axes, at least one",
            indices.len(),
            shape.len()
        );
        return Err(Error::argument(OP, why));
    }
    let wide = rules::broadcast_all(OP, indices.iter().map(|indices| b.shape(indices)))?;
    let mut places = b.zeros::<i64>(&wide[..])?;
    if wide.contains(&0) {
        return Ok(places);
    }
    for (axis, ((indices, &len), stride)) in indices.iter().zip(shape).zip(rules::c_strides(shape)).enumerate() {
        if len == 0 && mode != IndexMode::Raise {
            return Err(Error::argument(
                OP,
                format!("axis {axis} has no elements, but must have at least one in this mode"),
            ));
        }
        if mode == IndexMode::Raise {
            check_places(b, OP, *indices, len, axis)?;
        }
        // converts to a dtype that can hold both the index and the length
        let indices = match T::dtype().size() {
            8 => b.astype::<i64, _>(inside(b, (*indices).clone(), len, mode)?)?,
            _ => inside(b, b.astype::<i64, _>(*indices)?, len, mode)?,
        };
        places = (lazy(&places) + lazy(&indices) * lazy(stride as i64)).eval(b)?;
    }
    Ok(places)
}

/// Brings indices that may be out of range into the range of an axis of this length, according to the mode.
fn inside<B: Backend, T: Integer>(b: &B, indices: B::Array<T>, len: usize, mode: IndexMode) -> Result<B::Array<T>> {
    let len = len as u64;
    match mode {
        IndexMode::Raise => Ok(indices),
        IndexMode::Wrap => b.remainder(indices, T::from_u64(len)),
        IndexMode::Clip => b.clip(indices, T::ZERO, T::from_u64(len - 1)),
    }
}

/// Returns an error if an index is negative, or not less than `len`. The error names one of these indices.
fn check_places<B: Backend, T: Integer>(
    b: &B,
    op: &'static str,
    indices: &B::Array<T>,
    len: usize,
    axis: usize,
) -> Result<()> {
    let ends = b.to_vec(&b.stack([b.min(indices, ..)?, b.max(indices, ..)?])?)?;
    let value = |x: T| if x < T::ZERO { i128::from(x.cast::<i64>()) } else { i128::from(x.cast::<u64>()) };
    let outside = ends.into_iter().map(value).find(|&index| index < 0 || index >= len as i128);
    outside.map_or(Ok(()), |index| Err(Error::index(op, index, axis, len)))
}

/// The flat indices of the selected elements in an array of this shape. Checks that `values` can be broadcast to the
/// selection.
fn places<B: Backend, T: Element>(
    op: &'static str,
    b: &B,
    shape: &[usize],
    index: Indices<'_, B>,
    values: Option<&Operand<'_, B, T>>,
) -> Result<HostArray<i64>> {
    // the vector owns the host copies, from which the list of indices borrows
    let mut arrays: Vec<(HostArray<i64>, HostArray<bool>)> = Vec::new();
    let none = || HostArray::from_elem(vec![0], 0);
    let no_mask = || HostArray::from_elem(vec![0], false);
    for item in index.iter() {
        arrays.push(match item {
            Index::Array(x) => (b.to_ndarray(x)?, no_mask()),
            Index::Mask(x) => (none(), b.to_ndarray(x)?),
            _ => (none(), no_mask()),
        });
    }
    let values = values.map(|values| match values {
        Operand::Scalar(_) => (&[][..], T::dtype().size()),
        Operand::Array(values) => (b.shape(&**values), T::dtype().size()),
    });
    numpyish::indexing::places(op, shape, &arrays, index, values)
}

/// All flat indices, as a 1-D array on the backend.
fn flat<B: Backend>(b: &B, places: &HostArray<i64>) -> Result<B::Array<i64>> {
    b.reshape(&b.from_ndarray(places.clone())?, -1)
}

/// Broadcasts the values, so that there is one value per flat index.
fn wide<B: Backend, T: Element>(
    op: &'static str,
    b: &B,
    values: Operand<'_, B, T>,
    shape: &[usize],
) -> Result<B::Array<T>> {
    match values {
        Operand::Scalar(value) => b.full([shape.iter().product()], value),
        Operand::Array(values) => {
            let kept = rules::assigned(op, b.shape(&values), shape)?;
            b.reshape(&b.broadcast_to(&b.reshape(&*values, signed(kept))?, shape)?, -1)
        }
    }
}

/// A shape as signed lengths, for `reshape`. No length of an array exceeds `isize::MAX`.
fn signed(shape: &[usize]) -> Vec<isize> {
    shape.iter().map(|&len| len as isize).collect()
}

/// Converts a span, the selected part of an axis, to a slice for `getitem`.
fn slice(span: &Span) -> Slice {
    let start = span.start as i128;
    if span.drop {
        return Slice { start: Some(start), drop: true, ..Slice::ALL };
    }
    // the index one step past the last element; if this is before the first element, the stop is `None`
    let stop = start + span.len as i128 * span.step as i128;
    let stop = if span.len == 0 { Some(start) } else { Some(stop).filter(|stop| *stop >= 0) };
    Slice { start: Some(start), stop, step: span.step, drop: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Creation, Elementwise, Indexing, Manipulation, Numpyish, ix};

    /// Checks that the ops of this file give the same results as the indexing kernels of a backend.
    #[test]
    fn the_same_as_with_kernels() {
        let b = Numpyish::new();
        let x = b.reshape(&b.arange(0.0, 24.0, 1.0).unwrap(), [2, 3, 4]).unwrap();
        let i = b.asarray([1_i64, -2, 1]).unwrap();
        let m = b.asarray([true, false]).unwrap();
        let t = b.asarray([[true, false, true], [false, false, true]]).unwrap();
        let lists = [
            &ix![1, .., ..;-2][..][..],
            &ix![NewAxis, ..., 3..0;-1][..],
            &ix![None, 0, None][..],
            &ix![.., &i, 1..][..],
            &ix![0, .., &i][..],
            &ix![&m, 1][..],
            &ix![..;-1, &i, &i][..],
            &ix![&t][..],
            &ix![&t, -1][..],
            &ix![][..],
        ];
        for list in lists {
            let list: Indices<'_, Numpyish> = Indices::Any(list);
            let expected = b.get(&x, list).unwrap();
            assert_eq!(get(&b, &x, list).unwrap(), expected);
            let values = b.add(&expected, 100.0).unwrap();
            let (mut set_here, mut set_there, mut added_here, mut added_there) =
                (x.clone(), x.clone(), x.clone(), x.clone());
            set(&b, &mut set_here, list, Operand::array(&values)).unwrap();
            b.set(&mut set_there, list, &values).unwrap();
            add_at(&b, &mut added_here, list, Operand::Scalar(0.5)).unwrap();
            b.add_at(&mut added_there, list, 0.5).unwrap();
            assert_eq!((set_here, added_here), (set_there, added_there));
        }
        let out = b.asarray([2_i64]).unwrap();
        let why = get(&b, &x, Indices::Any(ix![&out])).unwrap_err().to_string();
        assert_eq!(why, "get: index 2 is out of range for axis 0 of length 2");
    }
}
