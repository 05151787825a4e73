//! Indexing with lists of indices: a gather that reads the selected elements, and a loop that writes values to them.
//!
//! The arrays and masks in a list become one list of offsets, which the loops add to the offsets along the other axes.

use super::{
    along::{check, from_start, inside},
    part::ndarray_slice,
    sums::{Runs, sum},
};
use backend_core::{
    Arrays, Complex, DType, Index, Indices, Numeric, Real, Result, bf16, f16,
    numpyish::{
        NdArray, Numpyish, OpContext,
        buffer::{self, Buffer},
        copy::{self, Ends, by_bits},
        parallel::{self, CHEAP},
        raw::{RawArray, View, view},
        region::Region,
        typed::{Change, Changeable, Step, changed_by, typed},
    },
    rules::{self, Kept, Selection},
};

/// Selects elements by a list of indices. The result is a view if the list has only slices, numbers and new axes.
pub fn get(on: OpContext<'_>, x: View<'_>, index: Indices<'_, Numpyish>) -> Result<Change> {
    got(on.op, x, index)
}

/// Like [`get`], with the name of the op for error messages.
fn got(op: &'static str, x: View<'_>, index: Indices<'_, Numpyish>) -> Result<Change> {
    let selection = select(op, x.shape, index)?;
    match selection.is_view() {
        true => Ok(Change::View(steps(&selection))),
        false => gathered(op, x, &selection, &picked(&selection, index)).map(Change::Copy),
    }
}

/// The flat indices, in C order, of the elements that a list of indices selects from an array of this shape. `arrays`
/// has one pair for each item of the list: if the item is an array or a mask, the pair has the item's elements in host
/// memory. If values are to be written to these elements, `values` is the shape of the values and the size of one value
/// in bytes.
pub fn places<B: Arrays>(
    op: &'static str,
    shape: &[usize],
    arrays: &[(NdArray<i64>, NdArray<bool>)],
    index: Indices<'_, B>,
    values: Option<(&[usize], usize)>,
) -> Result<NdArray<i64>> {
    let items = index.iter().zip(arrays).map(|(item, (array, mask))| match item {
        Index::Slice(slice) => Index::Slice(slice),
        Index::New => Index::New,
        Index::Rest => Index::Rest,
        Index::Array(_) => Index::Array(array),
        Index::Mask(_) => Index::Mask(mask),
    });
    let items: Vec<Index<'_, Numpyish>> = items.collect();
    if let Some((values, size)) = values {
        // errors about shapes are reported before errors about indices
        let selection = select(op, shape, Indices::Any(&items))?;
        let shapes = Shapes::new(op, &selection, &picked(&selection, Indices::Any(&items)), size)?;
        rules::assigned(op, values, &shapes.result)?;
    }
    let n = rules::count(op, shape, size_of::<i64>())?;
    let mut all = buffer::vec::<i64>(op, n)?;
    all.extend(0..n as i64);
    let all = typed(RawArray::from_vec(op, shape.to_vec(), all))?;
    changed_by(&all, got(op, view(&all), Indices::Any(&items)))
}

/// Writes values to the elements that a list of indices selects. If several indices are equal, the last of their
/// values remains.
pub fn set(on: OpContext<'_>, x: &mut dyn Changeable, index: Indices<'_, Numpyish>, values: View<'_>) -> Result<()> {
    let replace = replacement(x.view().dtype);
    put(on.op, x, index, values, replace)
}

/// Adds values to the elements that a list of indices selects. Values for equal indices add up.
pub fn add_at(on: OpContext<'_>, x: &mut dyn Changeable, index: Indices<'_, Numpyish>, values: View<'_>) -> Result<()> {
    let add = addition(x.view().dtype);
    put(on.op, x, index, values, add)
}

fn select(op: &'static str, shape: &[usize], index: Indices<'_, Numpyish>) -> Result<Selection> {
    Selection::of(op, &Numpyish::new(), shape, index.iter())
}

/// The [`Step`]s that make a view of the selected elements. The selection must have no arrays and no masks.
fn steps(selection: &Selection) -> Vec<Step> {
    let spans = || selection.spans.iter().enumerate();
    let mut steps: Vec<Step> = spans().map(|(axis, span)| Step::Slice(axis, ndarray_slice(span))).collect();
    steps.extend(spans().rev().filter(|(_, span)| span.drop).map(|(axis, _)| Step::Index(axis, 0)));
    let new = selection.kept.iter().enumerate().filter(|(_, kept)| **kept == Kept::New);
    steps.extend(new.map(|(place, _)| Step::Insert(place)));
    steps
}

/// Returns the arrays and masks in a list of indices, as views.
fn picked<'a>(selection: &Selection, index: Indices<'a, Numpyish>) -> Vec<View<'a>> {
    let items: Vec<Index<'a, Numpyish>> = index.iter().collect();
    let picked = selection.picks.iter().filter_map(|pick| match items[pick.item] {
        Index::Array(x) => Some(view(x)),
        Index::Mask(x) => Some(view(x)),
        _ => None,
    });
    picked.collect()
}

/// The plan of the loops over the selected elements. The offset of an element, counted from the array's first
/// element, is the sum of four offsets: one from each of the three lists, and one within a row. All offsets are in
/// elements.
struct Walk {
    /// Offsets for all indices along the axes that come before the arrays' axes in the result.
    before: Vec<isize>,
    /// Offsets along the axes that the arrays select from, one for each index of the arrays' common shape.
    arrays: Vec<isize>,
    /// Offsets for all indices along the axes that come after the arrays' axes in the result, except the last of
    /// these axes.
    behind: Vec<isize>,
    /// Length and stride of a row. A row is the last axis after the arrays' axes in the result. If there are no such
    /// axes, a row is a single element.
    row: (usize, isize),
}

/// The shapes of a selection: the shape of the result, the common shape of its arrays after broadcasting, and the shape
/// of each array.
struct Shapes {
    result: Vec<usize>,
    arrays: Vec<usize>,
    each: Vec<Vec<usize>>,
}

impl Shapes {
    fn new(op: &'static str, selection: &Selection, picked: &[View<'_>], size: usize) -> Result<Shapes> {
        let mut each = Vec::with_capacity(picked.len());
        for x in picked {
            each.push(if x.dtype == DType::Bool { vec![true_elements(op, *x)?] } else { x.shape.to_vec() });
        }
        let (result, arrays) = selection.shape(op, each.iter().map(|shape| &shape[..]), size)?;
        Ok(Shapes { result, arrays, each })
    }
}

impl Walk {
    fn new(
        op: &'static str,
        (shape, strides): (&[usize], &[isize]),
        selection: &Selection,
        picked: &[View<'_>],
        shapes: &Shapes,
    ) -> Result<Walk> {
        let arrays = offsets(op, (shape, strides), selection, picked, shapes)?;
        if shapes.result.contains(&0) {
            return Ok(Walk { before: Vec::new(), arrays: Vec::new(), behind: Vec::new(), row: (0, 0) });
        }
        let (start, distances) = selection.begin(strides);
        let kept: Vec<(usize, isize)> = selection.lengths().into_iter().zip(distances).collect();
        let (before, behind) = kept.split_at(selection.before);
        let mut behind = joined(behind);
        let row = behind.pop().unwrap_or((1, 0));
        let mut before = leads(op, &joined(before))?;
        before.iter_mut().for_each(|offset| *offset += start);
        Ok(Walk { before, arrays, behind: leads(op, &behind)?, row })
    }
}

/// Removes axes of length 1. Merges neighbouring axes if a single stride describes the elements of both.
fn joined(axes: &[(usize, isize)]) -> Vec<(usize, isize)> {
    let mut joined: Vec<(usize, isize)> = Vec::with_capacity(axes.len());
    for &(len, stride) in axes.iter().filter(|(len, _)| *len != 1) {
        match joined.last_mut() {
            Some(last) if last.1 == stride * len as isize => *last = (last.0 * len, stride),
            _ => joined.push((len, stride)),
        }
    }
    joined
}

/// The offsets for all indices along some axes, in C order.
fn leads(op: &'static str, axes: &[(usize, isize)]) -> Result<Vec<isize>> {
    let mut leads = buffer::vec(op, axes.iter().map(|(len, _)| len).product())?;
    leads.push(0);
    for &(len, stride) in axes.iter().rev() {
        let inner = leads.len();
        for i in 1..len as isize {
            leads.extend_from_within(..inner);
            let new = leads.len() - inner..;
            leads[new].iter_mut().for_each(|offset| *offset += i * stride);
        }
    }
    Ok(leads)
}

/// Calls `f` with the elements of a mask, in C order.
fn with_flags<R>(op: &'static str, mask: View<'_>, f: impl FnOnce(&[bool]) -> R) -> Result<R> {
    let packed = copy::pack(op, mask)?;
    // SAFETY: the packed copy has the bools of the mask.
    Ok(f(unsafe { packed.slice::<bool>(mask.len()) }))
}

fn true_elements(op: &'static str, mask: View<'_>) -> Result<usize> {
    with_flags(op, mask, |flags| flags.iter().map(|&flag| usize::from(flag)).sum())
}

/// The offsets of the true elements of a mask, in an array with these strides along the mask's axes.
fn mask_offsets(op: &'static str, mask: View<'_>, strides: &[isize], n: usize) -> Result<Vec<isize>> {
    let mut offsets = buffer::vec(op, n)?;
    with_flags(op, mask, |flags| {
        let Some((len, outer)) = mask.shape.split_last() else {
            offsets.extend(flags.iter().filter(|flag| **flag).map(|_| 0));
            return;
        };
        let step = strides[outer.len()];
        let mut index = vec![0; outer.len()];
        for row in flags.chunks((*len).max(1)) {
            let begin: isize = index.iter().zip(strides).map(|(i, stride)| i * stride).sum();
            let found = row.iter().enumerate().filter(|(_, flag)| **flag);
            offsets.extend(found.map(|(k, _)| begin + k as isize * step));
            for (i, &d) in index.iter_mut().zip(outer).rev() {
                *i += 1;
                if *i < d as isize {
                    break;
                }
                *i = 0;
            }
        }
    })?;
    Ok(offsets)
}

/// The offsets for all arrays and masks together, one for each index of their common shape. If that shape has no
/// elements, indices are not checked.
fn offsets(
    op: &'static str,
    (shape, strides): (&[usize], &[isize]),
    selection: &Selection,
    picked: &[View<'_>],
    shapes: &Shapes,
) -> Result<Vec<isize>> {
    if shapes.arrays.contains(&0) {
        return Ok(Vec::new());
    }
    let mut all: Option<Vec<isize>> = None;
    for ((pick, x), own) in selection.picks.iter().zip(picked).zip(&shapes.each) {
        let axes = pick.axis..pick.axis + pick.axes;
        let mut offsets = match pick.is_mask {
            true => mask_offsets(op, *x, &strides[axes], own[0])?,
            false => array_offsets(op, *x, pick.axis, shape[pick.axis], strides[pick.axis])?,
        };
        if *own != shapes.arrays {
            let (start, strides) = (offsets.as_ptr().cast(), rules::c_strides(own));
            let narrow = Region::of(View { start, dtype: DType::Int64, shape: own, strides: &strides });
            let wide = narrow.broadcast(op, &shapes.arrays)?;
            let wide = copy::to_buffer(op, wide.view())?;
            // SAFETY: every element of the copy has been written; offsets are 64-bit integers.
            offsets = unsafe { wide.into_vec::<i64>() }.into_iter().map(|offset| offset as isize).collect();
        }
        match &mut all {
            None => all = Some(offsets),
            Some(all) => all.iter_mut().zip(&offsets).for_each(|(all, more)| *all += more),
        }
    }
    match all {
        Some(all) => Ok(all),
        None => Ok(vec![0]),
    }
}

/// Computes the offsets, along an axis, of the elements at the indices in the array `x`. Returns an error if an index
/// is outside the axis.
fn array_offsets(op: &'static str, x: View<'_>, axis: usize, len: usize, stride: isize) -> Result<Vec<isize>> {
    let packed = copy::pack(op, x)?;
    // SAFETY: the packed copy has `x.len()` indices.
    let indices = unsafe { packed.slice::<i64>(x.len()) };
    if !inside(indices, len) {
        check(op, indices, axis, len)?;
    }
    let mut offsets = buffer::vec(op, indices.len())?;
    offsets.extend(indices.iter().map(|&i| from_start(i, len) as isize * stride));
    Ok(offsets)
}

fn gathered(op: &'static str, x: View<'_>, selection: &Selection, picked: &[View<'_>]) -> Result<RawArray> {
    let shapes = Shapes::new(op, selection, picked, x.dtype.size())?;
    let walk = Walk::new(op, (x.shape, x.strides), selection, picked, &shapes)?;
    let out = Buffer::new(op, shapes.result.iter().product(), x.dtype)?;
    let ends = Ends { from: x.start, to: out.start() };
    // SAFETY: all indices were inside, so all offsets lead to elements of the array, and there is room for all
    // elements.
    unsafe { by_bits!(x.dtype, U => walk.gather::<U>(&Ends { from: ends.from.cast(), to: ends.to.cast() })) };
    // SAFETY: the gather has written every element.
    unsafe { RawArray::new(op, shapes.result, out) }
}

impl Walk {
    /// Maximum number of elements of one task, if elements are copied one by one.
    const TASK: usize = CHEAP / 4;

    /// Copies all selected elements from the array at `ends.from` to contiguous memory at `ends.to`.
    ///
    /// # Safety
    /// `ends.from` must have these elements, of type `U`, and `ends.to` must have room for all of them.
    unsafe fn gather<U: Copy + Send + Sync>(&self, ends: &Ends<U>) {
        let Walk { before, arrays, behind, row: (n, step) } = self;
        let each = behind.len() * n;
        if each == 1 {
            // the elements are copied one by one, and each task has a range of the offsets of the arrays
            let parts = arrays.len().div_ceil(Self::TASK);
            let grain = CHEAP / arrays.len().clamp(1, Self::TASK);
            return parallel::parallel(before.len() * parts, grain, |tasks| {
                for task in tasks {
                    let (o, first) = (task / parts, task % parts * Self::TASK);
                    let part = &arrays[first..arrays.len().min(first + Self::TASK)];
                    // SAFETY: the caller guarantees the elements and enough room.
                    unsafe {
                        let (from, to) = (ends.from.offset(before[o]), ends.to.add(o * arrays.len() + first));
                        part.iter().enumerate().for_each(|(k, &offset)| *to.add(k) = *from.offset(offset));
                    }
                }
            });
        }
        parallel::parallel(before.len() * arrays.len(), (CHEAP / each.max(1)).max(1), |tasks| {
            for task in tasks {
                let from = before[task / arrays.len()] + arrays[task % arrays.len()];
                for (m, offset) in behind.iter().enumerate() {
                    // SAFETY: the caller guarantees the elements and enough room.
                    unsafe {
                        let (from, to) = (ends.from.offset(from + offset), ends.to.add(task * each + m * n));
                        match step {
                            1 => std::ptr::copy_nonoverlapping(from, to, *n),
                            step => (0..*n as isize).for_each(|k| *to.offset(k) = *from.offset(k * step)),
                        }
                    }
                }
            }
        });
    }

    /// Combines the selected elements with values: one value for all elements, or one value per element in the order
    /// in which [`Walk::gather`] copies them. If several indices are equal, their values are combined one after
    /// another, in the order of the indices.
    ///
    /// # Safety
    /// `ends.to` must have these elements, of type `U`. They must be distinct, except that equal entries of `arrays`
    /// may lead to the same element. `ends.from` must have one value per element, or one value if `single` is true.
    unsafe fn put<U: Copy + Send + Sync>(
        &self,
        ends: &Ends<U>,
        single: bool,
        combine: impl Fn(*mut U, U) + Copy + Sync,
    ) {
        /// Maximum number of elements of a row that one task combines.
        const COLUMNS: usize = 1 << 12;
        let Walk { before, arrays, behind, row: (n, step) } = self;
        let parts = n.div_ceil(COLUMNS);
        let work = arrays.len().saturating_mul((*n).min(COLUMNS));
        let count = before.len() * behind.len() * parts;
        parallel::parallel(count, (CHEAP / work.max(1)).max(1), |tasks| {
            for task in tasks {
                if *n == 1 && behind.len() == 1 {
                    // the elements are combined one by one
                    for (j, offset) in arrays.iter().enumerate() {
                        let value = if single { 0 } else { task * arrays.len() + j };
                        // SAFETY: the caller guarantees the elements, and each task has a different index along the
                        // axes before the arrays' axes.
                        unsafe { combine(ends.to.offset(before[task] + behind[0] + offset), *ends.from.add(value)) };
                    }
                    continue;
                }
                let (o, m, first) = (task / parts / behind.len(), task / parts % behind.len(), task % parts * COLUMNS);
                let width = COLUMNS.min(n - first);
                for (j, offset) in arrays.iter().enumerate() {
                    let value = ((o * arrays.len() + j) * behind.len() + m) * n + first;
                    // SAFETY: the caller guarantees the elements, and tasks change elements at different indices of the
                    // kept axes.
                    unsafe {
                        let to = ends.to.offset(before[o] + behind[m] + offset + first as isize * step);
                        let from = if single { ends.from } else { ends.from.add(value) };
                        match (single, *step) {
                            (false, 1) => (0..width).for_each(|k| combine(to.add(k), *from.add(k))),
                            (false, step) => {
                                (0..width as isize).for_each(|k| combine(to.offset(k * step), *from.offset(k)));
                            }
                            (true, step) => (0..width as isize).for_each(|k| combine(to.offset(k * step), *from)),
                        }
                    }
                }
            }
        });
    }

    /// Adds values, or a single value, to the selected elements. All values for one element are added in float32, and
    /// the sum is rounded once.
    ///
    /// # Safety
    /// The conditions of [`Walk::put`] hold.
    unsafe fn put_sums<U: Real + Into<f32>>(&self, ends: &Ends<U>, single: bool, runs: &Runs) {
        let Walk { before, arrays, behind, row: (n, step) } = self;
        let work = arrays.len().saturating_mul(*n);
        parallel::parallel(before.len() * behind.len(), (CHEAP / work.max(1)).max(1), |tasks| {
            for task in tasks {
                let (o, m) = (task / behind.len(), task % behind.len());
                for run in runs.iter() {
                    let Some(&j) = run.first() else { continue };
                    for k in 0..*n {
                        let value = |&j: &usize| match single {
                            true => 0,
                            false => ((o * arrays.len() + j) * behind.len() + m) * n + k,
                        };
                        // SAFETY: the caller guarantees the elements, and tasks change elements at different indices of
                        // the kept axes.
                        unsafe {
                            let to = ends.to.offset(before[o] + behind[m] + arrays[j] + k as isize * step);
                            *to = sum(*to, run.iter().map(|j| *ends.from.add(value(j))));
                        }
                    }
                }
            }
        });
    }
}

/// A function that calls [`Walk::put`] or [`Walk::put_sums`] for one dtype, to replace elements or to add to them. The
/// last argument is true if all elements get the same single value.
type Put = unsafe fn(&Walk, &Ends<u8>, bool);

fn replacement(dtype: DType) -> Put {
    unsafe fn of<U: Copy + Send + Sync>(walk: &Walk, ends: &Ends<u8>, single: bool) {
        let ends = Ends { from: ends.from.cast::<U>(), to: ends.to.cast::<U>() };
        // SAFETY: the caller guarantees the elements, and `put` passes addresses of elements.
        unsafe { walk.put(&ends, single, |to, value| *to = value) };
    }
    by_bits!(dtype, U => of::<U>)
}

/// Chooses the loop that adds. Signed and unsigned integers share loops, because their sums have the same bits.
fn addition(dtype: DType) -> Put {
    unsafe fn of<U: Numeric>(walk: &Walk, ends: &Ends<u8>, single: bool) {
        let ends = Ends { from: ends.from.cast::<U>(), to: ends.to.cast::<U>() };
        // SAFETY: the caller guarantees the elements, and `put` passes addresses of elements.
        unsafe { walk.put(&ends, single, |to, value| *to = (*to).plus(value)) };
    }
    unsafe fn of_sums<U: Real + Into<f32>>(walk: &Walk, ends: &Ends<u8>, single: bool) {
        // SAFETY: the caller guarantees the elements.
        unsafe {
            match Runs::of("add_at", walk.arrays.len(), |k| walk.arrays[k]) {
                Ok(runs) => {
                    let ends = Ends { from: ends.from.cast::<U>(), to: ends.to.cast::<U>() };
                    walk.put_sums(&ends, single, &runs);
                }
                // if there is no memory to group the values by their elements, values are added one after another
                Err(_) => of::<U>(walk, ends, single),
            }
        }
    }
    use backend_core::dtype::Arithmetic::*;
    match dtype.arithmetic() {
        UInt8 => of::<u8>,
        UInt16 => of::<u16>,
        UInt32 => of::<u32>,
        UInt64 => of::<u64>,
        Float16 => of_sums::<f16>,
        BFloat16 => of_sums::<bf16>,
        Float32 => of::<f32>,
        Float64 => of::<f64>,
        Complex64 => of::<Complex<f32>>,
        Complex128 => of::<Complex<f64>>,
    }
}

fn put(
    op: &'static str,
    x: &mut dyn Changeable,
    index: Indices<'_, Numpyish>,
    values: View<'_>,
    put: Put,
) -> Result<()> {
    let selection = select(op, x.view().shape, index)?;
    let picked = picked(&selection, index);
    let ready = Ready::new(op, &selection, &picked, values)?;
    let start = x.changeable(op)?;
    // the strides are read only now, because `changeable` may have copied the array to memory with other strides
    let View { shape, strides, .. } = x.view();
    ready.put(op, (shape, strides), start, put)
}

/// The operands of a write, which have been checked before the array is made writable.
struct Ready<'a> {
    selection: &'a Selection,
    picked: &'a [View<'a>],
    shapes: Shapes,
    values: Region,
}

impl<'a> Ready<'a> {
    fn new(op: &'static str, selection: &'a Selection, picked: &'a [View<'a>], values: View<'_>) -> Result<Ready<'a>> {
        let shapes = Shapes::new(op, selection, picked, values.dtype.size())?;
        let kept = rules::assigned(op, values.shape, &shapes.result)?.len();
        let extra = values.shape.len() - kept;
        let values = (0..extra).fold(Region::of(values), |values, _| values.at(0, 0));
        Ok(Ready { selection, picked, shapes, values })
    }

    /// Combines the values with the selected elements by the function `put`. `layout` has the shape and the strides of
    /// the array, and `start` is its address. Nobody else may access its elements.
    fn put(self, op: &'static str, layout: (&[usize], &[isize]), start: *mut u8, put: Put) -> Result<()> {
        let Ready { selection, picked, shapes, values } = self;
        let walk = Walk::new(op, layout, selection, picked, &shapes)?;
        if shapes.result.contains(&0) {
            return Ok(());
        }
        let single = values.view().len() == 1;
        let values = if single { values } else { values.broadcast(op, &shapes.result)? };
        let packed = copy::pack(op, values.view())?;
        // SAFETY: all indices were inside, so all offsets lead to elements of the array. Nobody else reads these
        // elements, and they are distinct. There is one value, or one value per element.
        unsafe { put(&walk, &Ends { from: packed.start(), to: start }, single) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        tests::{counting, list},
        typed::{add_at, get, set},
    };
    use super::*;
    use backend_core::{
        IntoHost, Slice,
        numpyish::{Operand, testing::Dice},
    };
    use ndarray::{Axis, Slice as NdarraySlice};

    const B: Numpyish = Numpyish::new();

    fn slices(list: &[Slice]) -> Indices<'_, Numpyish> {
        Indices::Slices(list)
    }

    #[test]
    fn a_part_is_replaced_in_place_where_nobody_else_looks() {
        let mut x = counting(&[2, 3]);
        let (start, other) = (x.as_ptr(), x.clone());
        set(&B, &mut x, slices(&[Slice::ALL, Slice::ALL.step(-2)]), Operand::Scalar(9)).unwrap();
        assert_eq!((list(&x), list(&other)), (vec![9, 1, 9, 9, 4, 9], vec![0, 1, 2, 3, 4, 5]));
        let copy = x.as_ptr();
        assert_ne!(copy, start);
        set(&B, &mut x, slices(&[]), Operand::array(&counting(&[2, 1]))).unwrap();
        assert_eq!((list(&x), x.as_ptr()), (vec![0, 0, 0, 1, 1, 1], copy));
        // values may have further leading axes of length 1; a step may be longer than the axis
        set(&B, &mut x, slices(&[Slice::at(1)]), Operand::array(&counting(&[1, 1, 3]))).unwrap();
        let far = Slice { start: Some(1), stop: None, step: isize::MAX, drop: false };
        set(&B, &mut x, slices(&[far, far]), Operand::Scalar(9)).unwrap();
        assert_eq!(list(&x), [0, 0, 0, 0, 9, 2]);
        let refused = set(&B, &mut x, slices(&[Slice::at(0)]), Operand::array(&counting(&[2])));
        assert!(refused.is_err() && list(&x) == [0, 0, 0, 0, 9, 2]);
    }

    /// In arrays of any layout, a list of indices selects the same elements as its indices applied one after another.
    #[test]
    fn layouts() {
        let mut dice = Dice(11);
        for round in 0..80 {
            let longest = [4, 60][round % 2];
            let shape: Vec<usize> = (0..3).map(|_| 1 + dice.below(longest)).collect();
            let (x, along): (NdArray<i64>, _) = (dice.layout_of(&shape), dice.below(3));
            let many: Vec<i64> = (0..dice.below(2 * longest)).map(|_| dice.below(shape[along]) as i64).collect();
            let from_end: Vec<i64> = many.iter().map(|i| i - shape[along] as i64).collect();
            let indices = [many.clone(), from_end].concat().into_host().unwrap();
            let mut items = vec![Index::Slice(Slice::ALL); 3];
            items[along] = Index::Array(&indices);
            let all = Indices::Any(&items);
            let one = |k: usize| x.index_axis(Axis(along), many[k % many.len()] as usize);
            let got = get(&B, &x, all).unwrap();
            assert!((0..2 * many.len()).all(|k| got.index_axis(Axis(along), k) == one(k)));
            // `set` keeps the last value for an element, and `add_at` adds all of them
            let values: NdArray<i64> = dice.layout_of(got.shape());
            let (mut replaced, mut added) = (x.clone(), x.clone());
            set(&B, &mut replaced, all, Operand::array(&values)).unwrap();
            add_at(&B, &mut added, all, Operand::array(&values)).unwrap();
            let (mut expected, mut sums) = (x.to_owned(), x.to_owned());
            for k in 0..2 * many.len() {
                let value = values.index_axis(Axis(along), k);
                let at = many[k % many.len()] as isize;
                let place = NdarraySlice::new(at, Some(at + 1), 1);
                expected.slice_axis_mut(Axis(along), place).index_axis_mut(Axis(along), 0).assign(&value);
                let mut sum = sums.slice_axis_mut(Axis(along), place);
                sum += &value.insert_axis(Axis(along));
            }
            assert_eq!((replaced, added), (expected.into_shared(), sums.into_shared()));
        }
    }

    #[test]
    fn huge_shapes_of_nothing() {
        let x = super::super::super::testing::array("test", &[1 << 40, 0], Vec::<i64>::new()).unwrap();
        let i = [5_i64].into_host().unwrap();
        assert_eq!(get(&B, &x, Indices::Any(&[Index::Array(&i)])).unwrap().shape(), [1, 0]);
        let many = counting(&[0, 1 << 20]);
        let result = get(&B, &x, Indices::Any(&[Index::Array(&many), Index::New]));
        assert_eq!(result.unwrap().shape(), [0, 1 << 20, 1, 0]);
    }
}
