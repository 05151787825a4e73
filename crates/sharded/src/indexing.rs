//! Slices and indices. The rows (the indices along the split axis) that a slice selects stay on their ranks, or move to
//! other ranks. If an array of indices selects rows, each rank sends its selected rows to the ranks that need them.

use crate::{
    Layout, Sharded, ShardedArray, Split,
    array::LocalPart,
    manipulation::{flatten, squeeze},
    rows::Run,
};
use backends::{
    Error, Index, Indices, Operand, Result, Slice,
    prelude::*,
    runtime::rules::{self, Kept, Selection, Span},
};
use std::{borrow::Cow, ops::Range, sync::Arc};

/// Converts a span, which is a slice with resolved bounds, to a slice for the inner backend.
fn slice(span: &Span) -> Slice {
    let start = span.start as i128;
    if span.drop {
        return Slice { start: Some(start), drop: true, ..Slice::ALL };
    }
    let stop = start + span.len as i128 * span.step as i128;
    let stop = if span.len == 0 { Some(start) } else { Some(stop).filter(|stop| *stop >= 0) };
    Slice { start: Some(start), stop, step: span.step, drop: false }
}

/// Converts the spans of all axes to slices. Axis number `axis` gets the slice that selects the whole axis.
fn but(spans: &[Span], axis: usize) -> Vec<Slice> {
    spans.iter().enumerate().map(|(k, span)| if k == axis { Slice::ALL } else { slice(span) }).collect()
}

pub fn getitem<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    slices: &[Slice],
) -> Result<ShardedArray<B, T>> {
    let op = "getitem";
    let Some(axis) = x.split() else { return b.settle(b.within.getitem(&x.part, slices)?) };
    if b.ranks() == 1 {
        let part = b.within.getitem(&x.part, slices)?;
        let drops = |axis: usize| slices.get(axis).is_some_and(|slice| slice.drop);
        let at = (0..axis).filter(|&axis| !drops(axis)).count();
        return if drops(axis) { b.settle(part) } else { b.alone(part, at) };
    }
    let spans = rules::spans(op, slices, &x.layout.shape)?;
    let span = spans[axis];
    // the split axis is sliced separately, after all other axes. `at` is its index in the result, which lacks the axes
    // that integer indices have dropped
    let at = spans[..axis].iter().filter(|span| !span.drop).count();
    let mut shape: Vec<usize> =
        spans.iter().enumerate().filter(|(k, s)| *k == axis || !s.drop).map(|(_, s)| s.len).collect();
    if let Some((rows, held)) = stays(b, x, axis, &span) {
        let mut slices = but(&spans, axis);
        slices[axis] = Slice::from(rows);
        let split = Split { axis: at, held };
        return Ok(b.array(Layout::new(shape, Some(split)), b.within.getitem(&x.part, slices)?));
    }
    shape[at] = x.layout.shape[axis];
    let split = x.layout.split.clone().map(|split| Split { axis: at, ..split });
    let others = b.array(Layout::new(shape, split), b.within.getitem(&x.part, but(&spans, axis))?);
    let run = Run { source: 0, from: span.start, step: span.step, to: 0, len: span.len };
    let moved = b.moved(op, Cow::Owned(others), at, span.len, &[run], None)?;
    if span.drop { squeeze(b, &moved, Axes::from(at)) } else { Ok(moved) }
}

/// For a slice of the split axis, returns the selected rows of this rank's part, and each rank's range of rows in the
/// result. Returns `None` if rows must move. All rows can stay on their ranks if the slice selects all rows, or if
/// every rank keeps some rows and no rank keeps many more than the other ranks. Then nothing is sent, and the layout
/// records the rows of each rank.
#[allow(clippy::type_complexity)] // this rank's rows, and the rows of all ranks
fn stays<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    axis: usize,
    span: &Span,
) -> Option<(Range<usize>, Option<Arc<[Range<usize>]>>)> {
    let n = x.layout.shape[axis];
    let held = x.layout.split.as_ref().and_then(|split| split.held.clone());
    if span.drop || span.step != 1 {
        return None;
    }
    if span.len == n {
        let own = x.layout.ranges(b.ranks())[b.rank()].len();
        return Some((0..own, held));
    }
    if !b.may_split(span.len) {
        return None;
    }
    let before = x.layout.ranges(b.ranks());
    let (start, end) = (span.start, span.start + span.len);
    let inside = |at: usize| at.clamp(start, end) - start;
    let rows: Vec<Range<usize>> = before.iter().map(|own| inside(own.start)..inside(own.end)).collect();
    let fair = span.len.div_ceil(b.ranks());
    let most = fair + fair / 4 + 2 * crate::layout::grain(n);
    if rows.iter().any(|rows| rows.is_empty() || rows.len() > most) {
        return None;
    }
    let (own, mine) = (&before[b.rank()], &rows[b.rank()]);
    let first = mine.start + start - own.start;
    let held = (rows != b.ranges(span.len)).then(|| Arc::from(rows.clone()));
    Some((first..first + mine.len(), held))
}

pub fn set<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &mut ShardedArray<B, T>,
    index: Indices<'_, Sharded<B>>,
    values: Operand<'_, Sharded<B>, T>,
) -> Result<()> {
    let write = |part: &mut LocalPart<B, T>, index: &[Index<'_, B>], values: Operand<'_, B, T>| {
        b.within.set(part, Indices::Any(index), values)
    };
    match written("set", b, x, index, &values, write)? {
        true => Ok(()),
        false => backends::indexing::set(b, x, index, values),
    }
}

pub fn add_at<B: Backend, T: Numeric>(
    b: &Sharded<B>,
    x: &mut ShardedArray<B, T>,
    index: Indices<'_, Sharded<B>>,
    values: Operand<'_, Sharded<B>, T>,
) -> Result<()> {
    let write = |part: &mut LocalPart<B, T>, index: &[Index<'_, B>], values: Operand<'_, B, T>| {
        b.within.add_at(part, Indices::Any(index), values)
    };
    match written("add_at", b, x, index, &values, write)? {
        true => Ok(()),
        false => backends::indexing::add_at(b, x, index, values),
    }
}

/// Writes values to a slice of an array; each rank writes to its own rows. Returns false, and writes nothing, if
/// `index` contains anything but slices and integers.
fn written<B: Backend, T: Element>(
    op: &'static str,
    b: &Sharded<B>,
    x: &mut ShardedArray<B, T>,
    index: Indices<'_, Sharded<B>>,
    values: &Operand<'_, Sharded<B>, T>,
    write: impl FnOnce(&mut LocalPart<B, T>, &[Index<'_, B>], Operand<'_, B, T>) -> Result<()>,
) -> Result<bool> {
    let selection = Selection::of(op, b, &x.layout.shape, index.iter())?;
    if !selection.is_view() || selection.kept.contains(&Kept::New) {
        return Ok(false);
    }
    let (spans, region) = (&selection.spans, selection.lengths());
    if let Operand::Array(values) = values {
        rules::assigned(op, &values.layout.shape, &region)?;
    }
    let mut slices: Vec<Slice> = spans.iter().map(slice).collect();
    let Some(axis) = x.split() else {
        let values = match values {
            Operand::Scalar(value) => Operand::Scalar(*value),
            Operand::Array(values) => Operand::Array(Cow::Owned(b.gather(op, Cow::Borrowed(&**values))?)),
        };
        write(&mut x.part, &items(&slices), values)?;
        return Ok(true);
    };
    let span = spans[axis];
    let run = Run { source: 0, from: span.start, step: span.step, to: 0, len: span.len };
    let before = x.layout.ranges(b.ranks());
    // for each rank, the rows of the values that it writes to its own part
    let rows: Arc<[Range<usize>]> = before.iter().map(|own| run.within(own)).collect();
    let values = match values {
        Operand::Scalar(value) => Operand::Scalar(*value),
        Operand::Array(values) => {
            let at = spans[..axis].iter().filter(|span| !span.drop).count();
            let own = (at + values.layout.shape.len()).checked_sub(region.len());
            let own = own.filter(|&k| !span.drop && values.layout.shape[k] == span.len && span.len > 1);
            let values = Cow::Borrowed(&**values);
            Operand::Array(match own {
                // the values have length 1 along the axis, or do not have the axis
                None => Cow::Owned(b.gather(op, values)?),
                Some(k) => b.with_rows(op, values, k, Some(&rows))?,
            })
        }
    };
    let mine = &rows[b.rank()];
    if mine.is_empty() {
        return Ok(true);
    }
    let first = span.start as i128 + span.step as i128 * mine.start as i128 - before[b.rank()].start as i128;
    slices[axis] = if span.drop {
        Slice { start: Some(first), drop: true, ..Slice::ALL }
    } else {
        let stop = first + span.step as i128 * mine.len() as i128;
        Slice { start: Some(first), stop: (stop >= 0).then_some(stop), step: span.step, drop: false }
    };
    write(&mut x.part, &items(&slices), values)?;
    Ok(true)
}

fn items<'i, B: Backend>(slices: &[Slice]) -> Vec<Index<'i, B>> {
    slices.iter().map(|slice| Index::Slice(*slice)).collect()
}

/// Selects rows by an array of indices, which is gathered on every rank. Each rank sends its selected rows to the ranks
/// whose parts of the result contain them.
pub fn take<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    indices: &ShardedArray<B, i64>,
    axis: Option<isize>,
) -> Result<ShardedArray<B, T>> {
    let op = "take";
    let Some(axis) = axis else {
        return take(b, &flatten(b, x).map_err(|why| why.within(op))?, indices, Some(0));
    };
    let (along, shape) = rules::taken(op, &x.layout.shape, &indices.layout.shape, axis, size_of::<T>())?;
    let picked = b.gather(op, Cow::Borrowed(indices))?;
    if x.split() != Some(along) {
        let part = b.within.take(&x.part, &picked, along as isize)?;
        let Some(split) = &x.layout.split else { return b.settle(part) };
        let axes = indices.layout.shape.len();
        let axis = if split.axis > along { split.axis + axes - 1 } else { split.axis };
        return Ok(b.array(Layout::new(shape, Some(Split { axis, held: split.held.clone() })), part));
    }
    let n = x.layout.shape[along];
    let host = b.within.to_ndarray(&picked)?;
    let place = |&index: &i64| {
        let from_start = if index < 0 { index + n as i64 } else { index };
        usize::try_from(from_start).ok().filter(|&i| i < n).ok_or_else(|| Error::index(op, index, along, n))
    };
    let places = host.iter().map(place).collect::<Result<Vec<usize>>>()?;
    let part = served(b, op, x, along, &places)?;
    // in the result, the axes of the indices replace the axis `along`
    let layout = Layout::new(shape, None);
    let row = part.layout.shape.clone();
    if indices.layout.shape.len() == 1 {
        return Ok(part);
    }
    let flat = b.array(Layout::new(row, part.layout.split.clone()), part.part);
    b.reshape(&flat, layout.shape.iter().map(|&n| n as isize).collect::<Vec<_>>())
}

/// Selects the rows `places` of `x` along its split axis. The result is split along the same axis, or held completely
/// by every rank if this axis is too short.
fn served<B: Backend, T: Element>(
    b: &Sharded<B>,
    op: &'static str,
    x: &ShardedArray<B, T>,
    axis: usize,
    places: &[usize],
) -> Result<ShardedArray<B, T>> {
    let (ranks, me) = (b.ranks(), b.rank());
    let held = x.layout.ranges(ranks);
    let owner = |place: usize| held.partition_point(|rows| rows.end <= place);
    let is_split = b.may_split(places.len());
    let wanted = if is_split { b.ranges(places.len()) } else { vec![0..places.len(); ranks] };
    let rows_of = |owner_rank: usize, rows: &Range<usize>| -> Vec<i64> {
        let own = places[rows.clone()].iter().filter(|&&place| owner(place) == owner_rank);
        own.map(|&place| (place - held[owner_rank].start) as i64).collect()
    };
    let mut send = Vec::with_capacity(ranks);
    for rows in &wanted {
        let rows = rows_of(me, rows);
        send.push(match rows.len() {
            0 => Vec::new(),
            _ => vec![b.within.take(&x.part, &b.within.asarray(rows)?, axis as isize)?],
        });
    }
    let mut shape = b.within.shape(&x.part).to_vec();
    let rest: usize = shape.iter().enumerate().filter(|(k, _)| *k != axis).map(|(_, n)| n).product();
    let mine = &wanted[me];
    let counts: Vec<usize> = (0..ranks).map(|s| rows_of(s, mine).len()).collect();
    let elements: Vec<usize> = counts.iter().map(|count| count * rest).collect();
    let mut all = b.exchange(op, &send, &elements)?;
    let mut parts = Vec::new();
    for &count in counts.iter().filter(|count| **count > 0) {
        shape[axis] = count;
        parts.push(all.next(&b.within, &shape)?);
    }
    let part = if parts.is_empty() { b.cut(&x.part, axis, 0..0)? } else { b.concatenated(parts, axis)? };
    // the rows arrive grouped by the rank that held them; `order[i]` is the index, among the received rows, of row i of
    // the result
    let mut next: Vec<usize> = counts.iter().scan(0, |at, &n| Some(std::mem::replace(at, *at + n))).collect();
    let order: Vec<i64> = places[mine.clone()]
        .iter()
        .map(|&place| {
            let from = owner(place);
            next[from] += 1;
            next[from] as i64 - 1
        })
        .collect();
    let part = match order.is_sorted() {
        true => part,
        false => b.within.take(&part, &b.within.asarray(order)?, axis as isize)?,
    };
    if !is_split {
        return b.settle(part);
    }
    let mut shape = x.layout.shape.to_vec();
    shape[axis] = places.len();
    Ok(b.array(Layout::along(shape, axis), part))
}

/// Concatenates the rows that all ranks have selected, and moves them to the default layout. `part` contains the rows
/// that this rank has selected; rank r has selected `counts[r]` rows.
fn counted<B: Backend, T: Element>(
    b: &Sharded<B>,
    op: &'static str,
    part: LocalPart<B, T>,
    counts: &[usize],
) -> Result<ShardedArray<B, T>> {
    let held: Vec<Range<usize>> = counts.iter().scan(0, |at, &n| Some(std::mem::replace(at, *at + n)..*at)).collect();
    let total = counts.iter().sum();
    let mut shape = b.within.shape(&part).to_vec();
    shape[0] = total;
    let split = Some(Split { axis: 0, held: Some(held.into()) });
    let run = Run { source: 0, from: 0, step: 1, to: 0, len: total };
    b.moved(op, Cow::Owned(b.array(Layout::new(shape, split), part)), 0, total, &[run], None)
}

/// Returns, for each rank, how many rows the rank has selected. `own` is how many rows this rank has selected. The
/// ranks send one another these numbers, so all ranks must call this function.
fn counts<B: Backend>(b: &Sharded<B>, op: &'static str, own: usize) -> Result<Vec<usize>> {
    Ok(b.all_gather_numbers(op, &[own as u64])?.into_iter().map(|n| n as usize).collect())
}

/// Selects the elements or rows for which a mask is true, in C order.
pub fn boolean_mask<B: Backend, T: Element>(
    b: &Sharded<B>,
    x: &ShardedArray<B, T>,
    mask: &ShardedArray<B, bool>,
) -> Result<ShardedArray<B, T>> {
    let op = "boolean_mask";
    rules::masked(op, &x.layout.shape, &mask.layout.shape)?;
    let axes = mask.layout.shape.len();
    if let Some(split) = x.layout.split.as_ref().filter(|split| split.axis >= axes) {
        let mask = b.gather(op, Cow::Borrowed(mask))?;
        let part = b.within.boolean_mask(&x.part, &mask)?;
        let mut shape = x.layout.shape[axes..].to_vec();
        shape.insert(0, b.within.shape(&part)[0]);
        let split = Split { axis: split.axis - axes + 1, held: split.held.clone() };
        return Ok(b.array(Layout::new(shape, Some(split)), part));
    }
    // a mask with an empty axis selects nothing; its other axes may be shorter than the axes of the array
    if mask.layout.shape.contains(&0) {
        let shape = [&[0], &x.layout.shape[axes..]].concat();
        return b.settle(b.within.empty::<T>(shape)?);
    }
    // splits the array along its first axis, so that the parts of the ranks follow one another in C order
    let x = first_split(b, op, x)?;
    let Some(split) = &x.layout.split else {
        let mask = b.gather(op, Cow::Borrowed(mask))?;
        return b.settle(b.within.boolean_mask(&x.part, &mask)?);
    };
    let mask = b.with_rows(op, Cow::Borrowed(mask), 0, split.held.as_ref())?;
    let part = b.within.boolean_mask(&x.part, &*mask)?;
    let counts = counts(b, op, b.within.shape(&part)[0])?;
    counted(b, op, part, &counts)
}

/// Splits a split array along its first axis instead; if this axis is too short, every rank gets the whole array.
/// Returns an array that is not split unchanged.
fn first_split<'a, B: Backend, T: Element>(
    b: &Sharded<B>,
    op: &'static str,
    x: &'a ShardedArray<B, T>,
) -> Result<Cow<'a, ShardedArray<B, T>>> {
    if x.split() == Some(0) {
        Ok(Cow::Borrowed(x))
    } else {
        b.split_along(op, Cow::Borrowed(x), (x.split().is_some()).then_some(0))
    }
}

/// The index, in the whole array, of this rank's first row.
fn start<B: Backend, T: Element>(b: &Sharded<B>, x: &ShardedArray<B, T>) -> i64 {
    x.layout.ranges(b.ranks())[b.rank()].start as i64
}

/// The indices of the nonzero elements, as one array per axis, in C order.
pub fn nonzero<B: Backend, T: Element>(b: &Sharded<B>, x: &ShardedArray<B, T>) -> Result<Vec<ShardedArray<B, i64>>> {
    let op = "nonzero";
    let x = first_split(b, op, x)?;
    let found = b.within.nonzero(&x.part)?;
    if x.split().is_none() {
        return found.into_iter().map(|indices| b.settle(indices)).collect();
    }
    let counts = counts(b, op, found.first().map_or(0, |indices| b.within.size(indices)))?;
    let first = start(b, &x);
    let along = |(axis, indices)| {
        let indices = if axis == 0 && first > 0 { b.within.add(indices, first)? } else { indices };
        counted(b, op, indices, &counts)
    };
    found.into_iter().enumerate().map(along).collect()
}

/// The indices of the nonzero elements, as rows of a matrix.
pub fn argwhere<B: Backend, T: Element>(b: &Sharded<B>, x: &ShardedArray<B, T>) -> Result<ShardedArray<B, i64>> {
    let op = "argwhere";
    let x = first_split(b, op, x)?;
    let rows = b.within.argwhere(&x.part)?;
    if x.split().is_none() {
        return b.settle(rows);
    }
    let counts = counts(b, op, b.within.shape(&rows)[0])?;
    let mut offsets = vec![0; x.layout.shape.len()];
    offsets[0] = start(b, &x);
    let rows = b.within.add(rows, b.within.asarray(offsets)?)?;
    counted(b, op, rows, &counts)
}
