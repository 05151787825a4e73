//! Helpers that all sparse formats share: checks of shapes and indices, and computations with `indptr`, the starts of
//! the rows or columns (the "pointers").

use backends::{
    ArrayAttributes, Backend, CumulativeSumOptions, Error, Result, SearchsortedOptions, Side, lazy, slices,
};
use std::ops::Range;

/// Returns an error if rows times columns exceeds `i64`.
pub fn check_shape(op: &'static str, shape: [usize; 2]) -> Result<()> {
    let [rows, columns] = shape;
    match rows.checked_mul(columns) {
        Some(places) if i64::try_from(places).is_ok() && rows.max(columns) < i64::MAX as usize => Ok(()),
        _ => Err(Error::shape(op, &shape, "has more elements than i64 can count")),
    }
}

/// A shape as signed lengths, for `reshape`.
pub fn signed(shape: [usize; 2]) -> [isize; 2] {
    shape.map(|len| len as isize)
}

/// Returns an error if an index is outside of 0 to `len` - 1. Waits for the device.
pub fn check_indices<B: Backend>(
    op: &'static str,
    b: &B,
    indices: &B::Array<i64>,
    axis: usize,
    len: usize,
) -> Result<()> {
    let outside = (lazy(indices).less(0) | lazy(indices).greater_equal(len as i64)).eval(b)?;
    if !b.item(b.any(&outside, ..)?)? {
        return Ok(());
    }
    let place = b.argmax(b.astype::<i64, _>(&outside)?, 0)?;
    Err(Error::index(op, b.item(b.take(indices, place, 0)?)?, axis, len))
}

/// Returns an error if the pointers do not ascend from 0 to `stored`. Waits for the device.
pub fn check_pointers<B: Backend>(op: &'static str, b: &B, indptr: &B::Array<i64>, stored: usize) -> Result<()> {
    let last = indptr.len() - 1;
    let first = b.getitem(indptr, slices![0])?;
    let end = b.getitem(indptr, slices![last])?;
    let (before, behind) = (b.getitem(indptr, slices![..last])?, b.getitem(indptr, slices![1..])?);
    let falls = b.any(lazy(&before).greater(&behind).eval(b)?, ..)?;
    let bad = (lazy(&first).not_equal(0) | lazy(&end).not_equal(stored as i64) | lazy(&falls)).eval(b)?;
    if b.item(bad)? {
        let why = format!("the pointers must ascend from 0 to {stored}, the number of stored elements");
        return Err(Error::argument(op, why));
    }
    Ok(())
}

/// The row of each stored element, computed from the pointers.
pub fn rows_of<B: Backend>(b: &B, indptr: &B::Array<i64>, stored: usize) -> Result<B::Array<i64>> {
    let places = b.arange(0, stored as i64, 1)?;
    let after = b.searchsorted_with(indptr, places, SearchsortedOptions::new().side(Side::Right))?;
    b.subtract(after, 1)
}

/// The pointers of a matrix with `rows` rows. `row_of` is the row of each element, in ascending order.
pub fn pointers_of<B: Backend>(b: &B, row_of: &B::Array<i64>, rows: usize) -> Result<B::Array<i64>> {
    b.searchsorted(row_of, b.arange(0, rows as i64 + 1, 1)?)
}

/// The pointers of a matrix whose row `i` has `lengths[i]` elements.
pub fn pointers<B: Backend>(b: &B, lengths: &B::Array<i64>) -> Result<B::Array<i64>> {
    b.cumulative_sum_with(lengths, 0, CumulativeSumOptions::new().include_initial(true))
}

/// The value at index `at` of a 1-D array. Waits for the device.
pub fn number_at<B: Backend>(b: &B, x: &B::Array<i64>, at: usize) -> Result<usize> {
    let number = b.item(b.getitem(x, slices![at])?)?;
    usize::try_from(number).map_err(|_| Error::argument("sparse", format!("{number} is not a number of elements")))
}

/// The elements of selected rows of a matrix, row after row. A row may be selected several times.
pub struct Gathered<B: Backend> {
    /// The pointers (row starts) of the matrix that consists of the selected rows.
    pub indptr: B::Array<i64>,
    /// For each element, the index of its row in the selection.
    pub owner: B::Array<i64>,
    /// For each element, its index among the stored elements of the original matrix.
    pub place: B::Array<i64>,
}

/// The elements of the selected `rows` of a matrix with these pointers. Waits for the device to count the elements.
pub fn gathered<B: Backend>(b: &B, indptr: &B::Array<i64>, rows: &B::Array<i64>) -> Result<Gathered<B>> {
    let starts = b.take(indptr, rows, 0)?;
    let ends = b.take(indptr, b.add(rows, 1)?, 0)?;
    let new = pointers(b, &b.subtract(ends, &starts)?)?;
    let stored = number_at(b, &new, rows.len())?;
    let owner = rows_of(b, &new, stored)?;
    // for each row, the difference between an element's index in the original matrix and its index in the result
    let shift = b.subtract(starts, b.getitem(&new, slices![..-1])?)?;
    let place = b.add(b.arange(0, stored as i64, 1)?, b.take(shift, &owner, 0)?)?;
    Ok(Gathered { indptr: new, owner, place })
}

/// Returns an error if the range is not within an axis of length `len`.
pub fn check_range(op: &'static str, range: &Range<usize>, axis: usize, len: usize) -> Result<()> {
    if range.start <= range.end && range.end <= len {
        return Ok(());
    }
    let why = format!("{}..{} is not a range of axis {axis} of length {len}", range.start, range.end);
    Err(Error::argument(op, why))
}
