//! Indexing by lists of indices: one kernel gathers elements, and another kernel writes values.
//!
//! The index arrays and masks in a list are converted to one array of offsets. An offset is the distance, in
//! elements, from index 0 of the indexed axes to the selected element. The smallest `i64` stands in place of an
//! offset if the index is out of range, or if a later value overwrites the same element; the kernels skip such
//! offsets.

use super::RANKS;
use crate::{
    Cuda, OpContext,
    array::RawArray,
    compact::MaskIndices,
    copy::{cast, copied, copy_into, fill, moved},
    kernel::{Argument, Grid},
    program::{Instance, KernelList, MOVERS, Program, ProgramSource},
    walk::Merged,
};
use backend_core::{
    DType, Index, Indices, Result,
    raw::{RawOperand, RawTarget},
    rules::{self, Selection},
};

const TEXT: &str = concat!(
    include_str!("../kernels/atomics.cuh"),
    include_str!("../kernels/index.cuh"),
    include_str!("../kernels/gather.cuh")
);

static PROGRAM: Program = Program { name: "gather", source: ProgramSource::File(TEXT) };

/// The kernels of this file, listed so that `check` can compile them all.
pub(crate) const KERNELS: KernelList = (&PROGRAM, || {
    let of = |name, dtypes: &[DType]| -> Vec<Instance> {
        let dtypes = dtypes.iter().map(|&dtype| [dtype]);
        dtypes.flat_map(|dtype| RANKS.iter().map(move |&(_, tag)| Instance::new(name, tag, &dtype))).collect()
    };
    let adding: Vec<DType> = DType::ALL.into_iter().filter(|&dtype| dtype != DType::Bool).collect();
    let lists = RANKS.iter().map(|&(_, tag)| Instance::new("add_offsets", tag, &[]));
    let moving = ["gather", "put"].into_iter().flat_map(|name| of(name, &MOVERS));
    lists
        .chain([Instance::new("last_of", "", &[]), Instance::new("drop_earlier", "", &[])])
        .chain(moving)
        .chain(of("put_sum", &adding))
        .collect()
});

/// Returns the elements that a list of indices selects. The result is a view if the list has only slices, integers
/// and new axes.
pub fn get(on: OpContext<'_>, x: &RawArray, index: Indices<'_, Cuda>) -> Result<RawArray> {
    let (b, op) = (on.backend, on.op);
    let selection = Selection::of(op, b, &x.shape, index.iter())?;
    if selection.is_view() {
        return Ok(kept(x, &selection));
    }
    b.check(op, x)?;
    let picked = Picked::new(b, op, &selection, index, x.dtype.size())?;
    let (offsets, bounds) = picked.offsets(b, op, x, false)?;
    if picked.along.iter().any(|along| x.shape[along.axis] == 0) {
        // every index is out of range; returns the error before the result, which may be large, is allocated
        bounds.result(b, op)?;
    }
    let out = b.uninit_raw(op, x.dtype, &picked.shape)?;
    let from = picked.spread(op, &kept(x, &selection), &selection)?;
    launch(b, op, "gather", [&moved(&out), &moved(&from), &picked.along(op, &offsets, &selection)?], None)?;
    bounds.note(b, op)?;
    Ok(out)
}

/// Writes values to the elements of `x` that a list of indices selects. If several values go to the same element, the
/// last one remains. If `x` is the only handle of its memory, the result overwrites this memory.
pub fn set(
    on: OpContext<'_>,
    x: RawTarget<'_, RawArray>,
    index: Indices<'_, Cuda>,
    values: RawOperand<'_, RawArray>,
) -> Result<RawArray> {
    put(on, &x, true, index, values, false)
}

/// Copies `x`, and writes values to the elements of the copy that a list of indices selects.
pub fn index_put(
    on: OpContext<'_>,
    x: &RawArray,
    index: Indices<'_, Cuda>,
    values: RawOperand<'_, RawArray>,
) -> Result<RawArray> {
    put(on, x, false, index, values, false)
}

/// Adds values to the elements of `x` that a list of indices selects. If several values go to the same element, all
/// of them are added. If `x` is the only handle of its memory, the result overwrites this memory, except for 16-bit
/// floats, which are added in float32.
pub fn add_at(
    on: OpContext<'_>,
    x: RawTarget<'_, RawArray>,
    index: Indices<'_, Cuda>,
    values: RawOperand<'_, RawArray>,
) -> Result<RawArray> {
    if !matches!(on.dtype, DType::Float16 | DType::BFloat16) {
        return put(on, &x, true, index, values, true);
    }
    // adds in float32, because a sum of many values would stop growing if it were rounded to 16 bits after each
    // addition
    on.require(&[&x])?;
    let (b, wide) = (on.backend, on.with_dtype(DType::Float32));
    let wide_x = cast(b, on.op, &x, wide.dtype)?;
    let sums = match values {
        RawOperand::Array(values) => {
            on.require(&[values])?;
            let values = cast(b, on.op, values, wide.dtype)?;
            put(wide, &wide_x, true, index, RawOperand::Array(&values), true)?
        }
        RawOperand::Scalar(_) => put(wide, &wide_x, true, index, values, true)?,
    };
    cast(b, on.op, &sums, on.dtype)
}

/// Writes values to the elements that a list of indices selects or, if `adds` is true, adds them. With `in_place`,
/// the memory of `x` is changed if no other handle uses it; otherwise the result is a copy.
fn put(
    on: OpContext<'_>,
    x: &RawArray,
    in_place: bool,
    index: Indices<'_, Cuda>,
    values: RawOperand<'_, RawArray>,
    adds: bool,
) -> Result<RawArray> {
    let (b, op) = (on.backend, on.op);
    let selection = &Selection::of(op, b, &x.shape, index.iter())?;
    let values = match values {
        RawOperand::Array(values) => values.clone(),
        RawOperand::Scalar(value) => {
            let one = b.uninit_raw(op, on.dtype, &[])?;
            fill(b, op, value.to(on.dtype), &one)?;
            one
        }
    };
    on.require(&[x, &values])?;
    b.check(op, x)?;
    b.check(op, &values)?;
    let picked = Picked::new(b, op, selection, index, x.dtype.size())?;
    let extra = values.shape.len() - rules::assigned(op, &values.shape, &picked.shape)?.len();
    let values = (0..extra).fold(values, |values, _| values.without(0)).broadcast(op, &picked.shape)?;
    let is_kept = in_place && x.memory.is_only_handle() && !rules::overlaps(&x.shape, &x.strides);
    let changed = if is_kept { x.clone() } else { copied(b, op, x)? };
    let x = &changed;
    if selection.is_view() && !adds {
        copy_into(b, op, &values, &kept(x, selection))?;
        return Ok(changed);
    }
    let is_empty = picked.shape.contains(&0);
    let last = if adds || is_empty { None } else { Some(picked.chosen_from(op, x)?) };
    let (mut offsets, bounds) = picked.offsets(b, op, x, last.is_some())?;
    bounds.note(b, op)?;
    if is_empty {
        return Ok(changed);
    }
    if let Some(len) = last {
        offsets = bounds.without_earlier(b, op, offsets, len)?;
    }
    let to = picked.spread(op, &kept(x, selection), selection)?;
    let offsets = picked.along(op, &offsets, selection)?;
    match adds {
        true => launch(b, op, "put_sum", [&to, &values, &offsets], Some(bounds.any()))?,
        false => launch(b, op, "put", [&moved(&to), &moved(&values), &offsets], Some(bounds.any()))?,
    }
    Ok(changed)
}

/// Returns the view of `x` that the slices and integers in a list of indices select. The view is at index 0 of the axes
/// to which index arrays apply, and does not have these axes.
fn kept(x: &RawArray, selection: &Selection) -> RawArray {
    let (start, strides) = selection.begin(&x.strides);
    x.view(selection.lengths(), strides, x.offset.wrapping_add_signed(start))
}

/// Runs a kernel over three operands of the same shape. The kernel writes the first operand, and the last operand
/// contains the offsets. `any` is the address of a flag that says whether an index is out of range; only the kernels
/// `put` and `put_sum` take it.
fn launch(b: &Cuda, op: &'static str, name: &'static str, operands: [&RawArray; 3], any: Option<u64>) -> Result<()> {
    let merged = Merged::new(&operands);
    if merged.n() == 0 {
        return Ok(());
    }
    let kernel = b.kernel(op, &PROGRAM, Instance::new(name, tag(&merged), &[operands[0].dtype]))?;
    let (pointers, walk) = (operands.map(RawArray::pointer), merged.walk::<3>(op)?);
    let mut arguments: Vec<&dyn Argument> = vec![&pointers[0], &pointers[1], &pointers[2], &walk];
    if let Some(any) = &any {
        arguments.push(any);
    }
    // SAFETY: the arguments match the parameters of `gather`, or of `put` and `put_sum`, which also read `any`. The
    // walk stays within the arrays, and an offset leads from an element of the indexed array to another element of the
    // same array.
    unsafe { b.launch(op, kernel, Grid::over(merged.n()), &arguments) }
}

/// Returns the template argument of a kernel for the number of axes that it traverses.
fn tag(merged: &Merged) -> &'static str {
    let rank = if merged.is_small() { merged.rank() } else { 16 };
    RANKS.iter().find(|(known, _)| *known == rank).map_or("", |(_, tag)| tag)
}

/// An axis, and the indices that select from it.
struct Along {
    axis: usize,
    indices: RawArray,
    /// Whether an index may be out of range.
    may_miss: bool,
}

/// The index arrays and masks in a list of indices.
struct Picked {
    along: Vec<Along>,
    /// Shape of the array of the selected elements.
    shape: Vec<usize>,
    /// Common shape of the index arrays, after broadcasting.
    arrays: Vec<usize>,
}

impl Picked {
    fn new(b: &Cuda, op: &'static str, selection: &Selection, index: Indices<'_, Cuda>, size: usize) -> Result<Picked> {
        let items: Vec<Index<'_, Cuda>> = index.iter().collect();
        let (mut along, mut shapes) = (Vec::new(), Vec::new());
        for pick in &selection.picks {
            match items[pick.item] {
                Index::Array(indices) => {
                    b.check(op, &indices.raw)?;
                    along.push(Along { axis: pick.axis, indices: indices.raw.clone(), may_miss: true });
                    shapes.push(indices.shape().to_vec());
                }
                Index::Mask(mask) => {
                    b.check(op, &mask.raw)?;
                    // row k has the indices of the true elements along axis k of the mask
                    let places = MaskIndices::of(b, op, &mask.raw)?.places(b, false)?;
                    shapes.push(vec![places.shape[1]]);
                    let one = |k| places.sliced(0, k, 1, 1).without(0);
                    let each = (0..pick.axes).map(|k| Along { axis: pick.axis + k, indices: one(k), may_miss: false });
                    along.extend(each);
                }
                Index::Slice(_) | Index::New | Index::Rest => {}
            }
        }
        let (shape, arrays) = selection.shape(op, shapes.iter().map(|shape| &shape[..]), size)?;
        Ok(Picked { along, shape, arrays })
    }

    /// Computes the offsets of the elements that the index arrays select, as a contiguous array. With `with_places`,
    /// also numbers the selected elements: the number of an element is its flat index among all elements that the
    /// index arrays can select.
    fn offsets(&self, b: &Cuda, op: &'static str, x: &RawArray, with_places: bool) -> Result<(RawArray, Bounds)> {
        let offsets = b.uninit_raw(op, DType::Int64, &self.arrays)?;
        let places = if with_places { b.uninit_raw(op, DType::Int64, &self.arrays)? } else { offsets.clone() };
        let found = b.uninit_raw(op, DType::UInt64, &[self.along.len() + 1])?;
        b.set_bytes(op, &offsets, 0)?;
        if with_places {
            b.set_bytes(op, &places, 0)?;
        }
        b.set_bytes(op, &found, u8::MAX)?;
        let mut bounds = Bounds { found, places: places.clone(), checks: Vec::new() };
        let n = offsets.size();
        let mut place_stride = 1_i64;
        for (k, Along { axis, indices, may_miss }) in self.along.iter().enumerate().rev().filter(|_| n > 0) {
            let (len, wide) = (x.shape[*axis], indices.broadcast(op, &self.arrays)?);
            let merged = Merged::new(&[&offsets, &wide]);
            let kernel = b.kernel(op, &PROGRAM, Instance::new("add_offsets", tag(&merged), &[]))?;
            let walk = merged.walk::<2>(op)?;
            let place_pointer = if with_places { places.pointer() } else { 0 };
            let pointers = [offsets.pointer(), place_pointer, wide.pointer(), bounds.found(k).pointer(), bounds.any()];
            // `AlongAxis` in the kernel
            let along = [len as i64, x.strides[*axis] as i64, place_stride];
            let arguments: [&dyn Argument; 7] =
                [&pointers[0], &pointers[1], &pointers[2], &pointers[3], &pointers[4], &walk, &along];
            // SAFETY: the arguments match the parameters of `add_offsets`. The walk stays within the offsets and the
            // indices, there are as many places as offsets, and `found` has an entry for each axis and for `any`.
            unsafe { b.launch(op, kernel, Grid::over(merged.n()), &arguments)? };
            place_stride = place_stride.wrapping_mul(len as i64);
            if *may_miss {
                bounds.checks.push((k, *axis, len, wide));
            }
        }
        bounds.checks.reverse();
        Ok((offsets, bounds))
    }

    /// Returns the number of elements that the index arrays can select.
    fn chosen_from(&self, op: &'static str, x: &RawArray) -> Result<usize> {
        let lengths: Vec<usize> = self.along.iter().map(|along| x.shape[along.axis]).collect();
        rules::count(op, &lengths, size_of::<i64>())
    }

    /// Broadcasts `kept` to the shape of the result, by repeating it along the axes of the index arrays.
    fn spread(&self, op: &'static str, kept: &RawArray, selection: &Selection) -> Result<RawArray> {
        let wide = (0..self.arrays.len()).fold(kept.clone(), |kept, _| kept.expanded(selection.before));
        wide.broadcast(op, &self.shape)
    }

    /// Broadcasts `offsets`, which has the common shape of the index arrays, to the shape of the result.
    fn along(&self, op: &'static str, offsets: &RawArray, selection: &Selection) -> Result<RawArray> {
        let behind = selection.kept.len() - selection.before;
        let axes = self.arrays.len();
        (0..behind).fold(offsets.clone(), |offsets, _| offsets.expanded(axes)).broadcast(op, &self.shape)
    }
}

/// A check of index arrays that is running on the device. It looks for indices that are out of range.
struct Bounds {
    /// For each indexed axis, the position of the first out-of-range index, or all bits set if every index is in range.
    /// The last entry is for all axes together.
    found: RawArray,
    /// For each offset, the number of its element: the flat index among all elements that the index arrays can
    /// select.
    places: RawArray,
    /// For each check: the entry of `found`, the axis, the length of the axis, and the indices.
    checks: Vec<(usize, usize, usize, RawArray)>,
}

impl Bounds {
    /// The entry of `found` for an indexed axis.
    fn found(&self, k: usize) -> RawArray {
        self.found.sliced(0, k, 1, 1)
    }

    /// Address of the entry that says whether any index is out of range.
    fn any(&self) -> u64 {
        self.found(self.found.size() - 1).pointer()
    }

    /// Waits for the device. If an index is out of range, returns an error that reports the first such index.
    fn result(&self, b: &Cuda, op: &'static str) -> Result<()> {
        let mut checks = self.checks.iter();
        checks.try_for_each(|(k, axis, len, indices)| super::result(b, op, &self.found(*k), indices, *axis, *len))
    }

    /// Notes the first out-of-range index, if there is one. The next call that waits for the device reports it.
    fn note(&self, b: &Cuda, op: &'static str) -> Result<()> {
        let mut checks = self.checks.iter();
        checks
            .try_for_each(|(k, axis, len, indices)| super::note(b, op, self.found(*k).pointer(), indices, *axis, *len))
    }

    /// If several offsets lead to the same element, replaces all of them except the last by the smallest `i64`, so that
    /// the kernels skip them. `len` is the number of elements that the index arrays can select.
    fn without_earlier(&self, b: &Cuda, op: &'static str, offsets: RawArray, len: usize) -> Result<RawArray> {
        let n = offsets.size();
        if n < 2 {
            return Ok(offsets);
        }
        // for each element, the position of the last offset that leads to it
        let last = b.uninit_raw(op, DType::Int64, &[len])?;
        b.set_bytes(op, &last, u8::MAX)?;
        let kernel = b.kernel(op, &PROGRAM, Instance::new("last_of", "", &[]))?;
        let lengths = [n as u64, len as u64];
        let arguments: [&dyn Argument; 3] = [&last.pointer(), &self.places.pointer(), &lengths];
        // SAFETY: the arguments match the parameters of `last_of`: an entry for each of `len` elements, and `n` element
        // indices.
        unsafe { b.launch(op, kernel, Grid::over(n), &arguments)? };
        let kernel = b.kernel(op, &PROGRAM, Instance::new("drop_earlier", "", &[]))?;
        let pointers = [offsets.pointer(), self.places.pointer(), last.pointer()];
        let arguments: [&dyn Argument; 4] = [&pointers[0], &pointers[1], &pointers[2], &(n as u64)];
        // SAFETY: the arguments match the parameters of `drop_earlier`: `n` offsets, the element of each offset, and
        // the last offset of each element.
        unsafe { b.launch(op, kernel, Grid::over(n), &arguments)? };
        Ok(offsets)
    }
}
