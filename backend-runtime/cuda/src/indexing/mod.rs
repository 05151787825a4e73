//! Indexing: slices, gathers, scatters and masks.

mod gather;

use super::{
    Cuda, OpContext,
    array::RawArray,
    compact::MaskIndices,
    copy::{cast, contiguous, copied},
    kernel::{Argument, Grid},
    manipulation::{along_or_row, reshaped},
    outside::{Notes, Outside},
    program::{Instance, KernelList, MOVERS, Program, ProgramSource, mover},
    walk::Merged,
};
pub use gather::{add_at, get, index_put, set};

use backend_core::{
    DType, DTypeKind, Error, Result, Slice,
    rules::{self, Along, Masked},
};

static PROGRAM: Program = Program {
    name: "index",
    source: ProgramSource::File(concat!(include_str!("../kernels/atomics.cuh"), include_str!("../kernels/index.cuh"))),
};

/// The kernels for lists of indices, listed so that `check` can compile them all.
pub(super) use gather::KERNELS as GATHER_KERNELS;

/// The only dtype that is too wide for an atomic operation on a whole element.
const WIDEST: DType = DType::Complex128;

/// The kernels of this file, listed so that `check` can compile them all.
pub(super) const KERNELS: KernelList = (&PROGRAM, || {
    let moving = |name| MOVERS.map(|dtype| Instance::new(name, "", &[dtype]));
    let along = RANKS.iter().flat_map(|&(_, tag)| MOVERS.map(|dtype| Instance::new("take_along", tag, &[dtype])));
    // without 16-bit floats, which are combined in float32
    let combinable = || DType::ALL.into_iter().filter(|d| !matches!(d, DType::Bool | DType::Float16 | DType::BFloat16));
    let ordered = || DType::ALL.into_iter().filter(|dtype| dtype.kind() != DTypeKind::Complex);
    ["find_outside", "note_outside", "last_of"]
        .map(|name| Instance::new(name, "", &[]))
        .into_iter()
        .chain(moving("take"))
        .chain(moving("scatter"))
        .chain(along)
        .chain(combinable().map(|dtype| Instance::new("scatter_add", "", &[dtype])))
        .chain(combinable().filter(|&dtype| dtype != WIDEST).map(|dtype| Instance::new("scatter_mul", "", &[dtype])))
        .chain([Instance::new("scatter_mul_locked", "", &[WIDEST])])
        .chain(ordered().map(|dtype| Instance::new("scatter_max", "", &[dtype])))
        .chain(ordered().map(|dtype| Instance::new("scatter_min", "", &[dtype])))
        .collect()
});

/// Returns the part of `x` that slices and integers select, as a view.
pub fn getitem(on: OpContext<'_>, x: &RawArray, slices: &[Slice]) -> Result<RawArray> {
    let spans = rules::spans(on.op, slices, &x.shape)?;
    let cut = |x: RawArray, (axis, span): (usize, &rules::Span)| x.sliced(axis, span.start, span.len, span.step);
    let cut = spans.iter().enumerate().fold(x.clone(), cut);
    let dropped = spans.iter().enumerate().rev().filter(|(_, span)| span.drop);
    Ok(dropped.fold(cut, |x, (axis, _)| x.without(axis)))
}

/// Returns an error if an index array is not int64, because the kernels read its memory in this dtype.
pub(super) fn require_indices(b: &Cuda, op: &'static str, arrays: &[&RawArray]) -> Result<()> {
    OpContext::new(b, op, DType::Int64).require(arrays)
}

/// A check of indices that is running on the device. Kernels skip indices that are out of range, so they can be
/// launched without waiting for the check.
struct BoundsCheck {
    /// Position of the first out-of-range index, or all bits set if every index is in range.
    found: RawArray,
    indices: RawArray,
    axis: usize,
    len: usize,
}

impl BoundsCheck {
    /// Starts the check; `indices` must be contiguous.
    fn at(b: &Cuda, op: &'static str, indices: &RawArray, axis: usize, len: usize) -> Result<BoundsCheck> {
        require_indices(b, op, &[indices])?;
        let found = b.uninit_raw(op, DType::UInt64, &[1])?;
        b.set_bytes(op, &found, u8::MAX)?;
        let n = indices.size();
        if n > 0 {
            let kernel = b.kernel(op, &PROGRAM, Instance::new("find_outside", "", &[]))?;
            let arguments: [&dyn Argument; 4] = [&found.pointer(), &indices.pointer(), &(n as u64), &(len as i64)];
            // SAFETY: the arguments match the parameters of `find_outside`: one result, `n` indices, their number, and
            // the length of the axis.
            unsafe { b.launch(op, kernel, Grid::over(n), &arguments)? };
        }
        Ok(BoundsCheck { found, indices: indices.clone(), axis, len })
    }

    /// Notes the first out-of-range index, if there is one. The next call that waits for the device reports it.
    fn note(self, b: &Cuda, op: &'static str) -> Result<()> {
        note(b, op, self.found.pointer(), &self.indices, self.axis, self.len)
    }
}

/// Notes an out-of-range index, whose position a kernel wrote at address `found`. The next call that waits for the
/// device reports it.
pub(super) fn note(b: &Cuda, op: &'static str, found: u64, indices: &RawArray, axis: usize, len: usize) -> Result<()> {
    let outside = Outside::index(op, axis, len);
    noted(b, op, outside, found, indices)
}

/// Notes that the entries of `indptr` (the row starts of a sparse matrix) do not ascend from 0 to `stored`. The next
/// call that waits for the device reports the error. A kernel wrote the position of the first wrong entry at address
/// `found`.
pub(super) fn note_pointers(b: &Cuda, op: &'static str, found: u64, indptr: &RawArray, stored: usize) -> Result<()> {
    noted(b, op, Outside::pointers(op, stored), found, indptr)
}

fn noted(b: &Cuda, op: &'static str, outside: Outside, found: u64, indices: &RawArray) -> Result<()> {
    let merged = Merged::new(&[indices]);
    if merged.n() == 0 {
        return Ok(());
    }
    let kernel = b.kernel(op, &PROGRAM, Instance::new("note_outside", "", &[]))?;
    let walk = merged.walk::<1>(op)?;
    let one = Grid { blocks: [1, 1, 1], threads: 1, shared: 0 };
    Notes::of_this_thread(&b.device).note(op, outside, |place, outside| {
        let arguments: [&dyn Argument; 5] = [&place, &found, &indices.pointer(), &walk, &outside];
        // SAFETY: the arguments match the parameters of `note_outside`; the position at `found` is that of one of the
        // indices.
        unsafe { b.launch(op, kernel, one, &arguments) }
    })
}

/// Waits for the device. If `found` has the position of an out-of-range index, returns an error with this index.
fn result(b: &Cuda, op: &'static str, found: &RawArray, indices: &RawArray, axis: usize, len: usize) -> Result<()> {
    let place = b.download::<u64>(op, found)?[0];
    if place == u64::MAX {
        return Ok(());
    }
    let (mut rest, mut one) = (place as usize, indices.clone());
    for at in (0..indices.shape.len()).rev() {
        one = one.sliced(at, rest % indices.shape[at], 1, 1).without(at);
        rest /= indices.shape[at];
    }
    let index = b.download::<i64>(op, &one)?[0];
    Err(Error::index(op, index, axis, len))
}

/// The number of elements before an axis, and the number of elements after it: products of the lengths of the other
/// axes.
fn around(shape: &[usize], axis: usize) -> (usize, usize) {
    (shape[..axis].iter().product(), shape[axis + 1..].iter().product())
}

/// Combines the `inner` elements after an axis into fewer, wider elements if their alignment allows it. Returns the
/// dtype and the number of the wider elements.
fn widest(inner: usize, dtype: DType, pointers: &[u64]) -> (DType, usize) {
    let bytes = inner * dtype.size();
    let fits = |wide: &&DType| {
        let size = wide.size();
        size > dtype.size() && bytes.is_multiple_of(size) && pointers.iter().all(|p| p.is_multiple_of(size as u64))
    };
    match MOVERS.iter().rev().find(fits) {
        Some(&wide) => (wide, bytes / wide.size()),
        None => (mover(dtype), inner),
    }
}

/// Takes elements at indices along one axis. Without an axis, the array is flattened first.
pub fn take(on: OpContext<'_>, x: &RawArray, indices: &RawArray, axis: Option<isize>) -> Result<RawArray> {
    let x = along_or_row(on.backend, on.op, x, axis)?;
    taken(on.backend, on.op, &x, indices, axis.unwrap_or(0))
}

/// Like [`take`] with an axis. Errors name the op `op`.
pub(super) fn taken(b: &Cuda, op: &'static str, x: &RawArray, indices: &RawArray, axis: isize) -> Result<RawArray> {
    let (axis, shape) = rules::taken(op, &x.shape, &indices.shape, axis, x.dtype.size())?;
    let len = x.shape[axis];
    let indices = contiguous(b, op, indices)?;
    let bounds = BoundsCheck::at(b, op, &indices, axis, len)?;
    if len == 0 {
        // every index is out of range; returns the error before the result, which may be large, is allocated
        result(b, op, &bounds.found, &indices, axis, len)?;
        return b.uninit_raw(op, x.dtype, &shape);
    }
    let out = gathered(b, op, x, &indices, axis, &shape)?;
    bounds.note(b, op)?;
    Ok(out)
}

/// Takes elements at indices along an axis. For an out-of-range index, the element of the result is 0. The array
/// `indices` must be contiguous.
fn gathered(
    b: &Cuda,
    op: &'static str,
    x: &RawArray,
    indices: &RawArray,
    axis: usize,
    shape: &[usize],
) -> Result<RawArray> {
    let out = b.uninit_raw(op, x.dtype, shape)?;
    let x = contiguous(b, op, x)?;
    if out.size() > 0 {
        let (outer, inner) = around(&x.shape, axis);
        let (dtype, inner) = widest(inner, x.dtype, &[x.pointer(), out.pointer()]);
        let many = indices.size();
        let n = outer * many * inner;
        let kernel = b.kernel(op, &PROGRAM, Instance::new("take", "", &[dtype]))?;
        let sizes = [n, x.shape[axis], many, inner].map(|size| size as u64);
        let arguments: [&dyn Argument; 4] = [&out.pointer(), &x.pointer(), &indices.pointer(), &sizes];
        // SAFETY: the arguments match the parameters of `take`: the source has (outer, len, inner) elements, and the
        // result (outer, many, inner).
        unsafe { b.launch(op, kernel, Grid::over(n), &arguments)? };
    }
    Ok(out)
}

/// The template argument of a kernel for each number of axes that it traverses. The last argument is also used for
/// arrays of 2^31 elements or more.
const RANKS: [(usize, &str); 5] = [(1, "1, u32"), (2, "2, u32"), (3, "3, u32"), (4, "4, u32"), (16, "16, u64")];

/// Takes elements along one axis, with a separate index for each element of the result. The other axes are broadcast.
pub fn take_along_axis(on: OpContext<'_>, x: &RawArray, indices: &RawArray, axis: isize) -> Result<RawArray> {
    let (b, op) = (on.backend, on.op);
    let Along { axis, shape, .. } = rules::along(op, &x.shape, &indices.shape, axis, x.dtype.size())?;
    let len = x.shape[axis];
    let out = b.uninit_raw(op, x.dtype, &shape)?;
    b.check(op, x)?;
    let packed = contiguous(b, op, indices)?;
    let bounds = BoundsCheck::at(b, op, &packed, axis, len)?;
    if out.size() > 0 && len > 0 {
        // a view that has the shape of the result and is at index 0 of the axis; for each element, the kernel adds the
        // offset of the element's index
        let begin = x.sliced(axis, 0, 1, 1).broadcast(op, &shape)?;
        let merged = Merged::new(&[&out, &begin, &packed.broadcast(op, &shape)?]);
        let rank = if merged.is_small() { merged.rank() } else { 16 };
        let tag = RANKS.iter().find(|(known, _)| *known == rank).map_or("", |(_, tag)| tag);
        let kernel = b.kernel(op, &PROGRAM, Instance::new("take_along", tag, &[mover(x.dtype)]))?;
        let walk = merged.walk::<3>(op)?;
        let (length, stride) = (len as i64, x.strides[axis] as i64);
        let pointers = [out.pointer(), begin.pointer(), packed.pointer()];
        let arguments: [&dyn Argument; 6] = [&pointers[0], &pointers[1], &pointers[2], &walk, &length, &stride];
        // SAFETY: the arguments match the parameters of `take_along`. The walk stays within all three arrays, and an
        // index within the length, times the axis's stride, stays within the second array.
        unsafe { b.launch(op, kernel, Grid::over(merged.n()), &arguments)? };
    }
    bounds.note(b, op)?;
    Ok(out)
}

/// Like [`combined`], but computes in float32 if the dtype is a 16-bit float. If a sum were rounded to 16 bits after
/// each of many additions, it would stop growing. A product could overflow or underflow before the last factor.
fn combined_wide(
    on: OpContext<'_>,
    name: &'static str,
    x: &RawArray,
    indices: &RawArray,
    values: &RawArray,
    axis: isize,
) -> Result<RawArray> {
    if !matches!(on.dtype, DType::Float16 | DType::BFloat16) {
        return combined(on, name, x, indices, values, axis);
    }
    on.require(&[x, values])?;
    // checks the shapes before the casts, which may need more memory than is available
    rules::scattered(on.op, &x.shape, &indices.shape, &values.shape, axis)?;
    let (b, wide) = (on.backend, on.with_dtype(DType::Float32));
    let result = {
        let [x, values] = [cast(b, on.op, x, wide.dtype)?, cast(b, on.op, values, wide.dtype)?];
        combined(wide, name, &x, indices, &values, axis)?
    };
    cast(b, on.op, &result, on.dtype)
}

/// Copies `x`, and adds values to the elements of the copy at indices along one axis.
pub fn scatter_add(
    on: OpContext<'_>,
    x: &RawArray,
    indices: &RawArray,
    values: &RawArray,
    axis: isize,
) -> Result<RawArray> {
    combined_wide(on, "scatter_add", x, indices, values, axis)
}

/// Copies `x`, and multiplies the elements of the copy at indices along one axis by values.
pub fn scatter_mul(
    on: OpContext<'_>,
    x: &RawArray,
    indices: &RawArray,
    values: &RawArray,
    axis: isize,
) -> Result<RawArray> {
    if on.dtype != WIDEST {
        return combined_wide(on, "scatter_mul", x, indices, values, axis);
    }
    let (b, op) = (on.backend, on.op);
    let given = Scatter::new(on, x, indices, values, axis)?;
    if given.n > 0 {
        let locks = b.uninit_raw(op, DType::UInt32, &x.shape)?;
        b.set_bytes(op, &locks, 0)?;
        let kernel = b.kernel(op, &PROGRAM, Instance::new("scatter_mul_locked", "", &[WIDEST]))?;
        let pointers = [&given.out, &locks, &given.indices, &given.values].map(RawArray::pointer);
        let sizes = given.sizes(given.inner);
        let arguments: [&dyn Argument; 5] = [&pointers[0], &pointers[1], &pointers[2], &pointers[3], &sizes];
        // SAFETY: the arguments match the parameters of `scatter_mul_locked`: arrays of these sizes, with a lock for
        // each element.
        unsafe { b.launch(op, kernel, Grid::over(given.n), &arguments)? };
    }
    given.finish(on)
}

/// Copies `x`, and replaces the elements of the copy at indices along one axis by the maximum of the element and its
/// values.
pub fn scatter_max(
    on: OpContext<'_>,
    x: &RawArray,
    indices: &RawArray,
    values: &RawArray,
    axis: isize,
) -> Result<RawArray> {
    combined(on, "scatter_max", x, indices, values, axis)
}

/// Copies `x`, and replaces the elements of the copy at indices along one axis by the minimum of the element and its
/// values.
pub fn scatter_min(
    on: OpContext<'_>,
    x: &RawArray,
    indices: &RawArray,
    values: &RawArray,
    axis: isize,
) -> Result<RawArray> {
    combined(on, "scatter_min", x, indices, values, axis)
}

/// Copies `x`, and runs the kernel with the name `kernel`, which combines elements of the copy with `values`.
fn combined(
    on: OpContext<'_>,
    kernel: &'static str,
    x: &RawArray,
    indices: &RawArray,
    values: &RawArray,
    axis: isize,
) -> Result<RawArray> {
    let (b, op) = (on.backend, on.op);
    let given = Scatter::new(on, x, indices, values, axis)?;
    if given.n > 0 {
        let kernel = b.kernel(op, &PROGRAM, Instance::new(kernel, "", &[x.dtype]))?;
        let arguments: [&dyn Argument; 4] =
            [&given.out.pointer(), &given.indices.pointer(), &given.values.pointer(), &given.sizes(given.inner)];
        // SAFETY: the arguments match the parameters of `scatter_add` and its siblings: arrays of these sizes.
        unsafe { b.launch(op, kernel, Grid::over(given.n), &arguments)? };
    }
    given.finish(on)
}

/// Copies `x`, and replaces the elements of the copy at indices along one axis by values. If several values go to the
/// same element, the last one remains.
pub fn scatter(
    on: OpContext<'_>,
    x: &RawArray,
    indices: &RawArray,
    values: &RawArray,
    axis: isize,
) -> Result<RawArray> {
    let (b, op) = (on.backend, on.op);
    let given = Scatter::new(on, x, indices, values, axis)?;
    if given.n > 0 {
        // for each index of the axis, the position of the last value for this index, or -1 without such a value
        let last = b.uninit_raw(op, DType::Int64, &[given.len])?;
        b.set_bytes(op, &last, u8::MAX)?;
        let many = given.indices.size();
        let kernel = b.kernel(op, &PROGRAM, Instance::new("last_of", "", &[]))?;
        let lengths = [many as u64, given.len as u64];
        let arguments: [&dyn Argument; 3] = [&last.pointer(), &given.indices.pointer(), &lengths];
        // SAFETY: the arguments match the parameters of `last_of`: an entry for each index of the axis, and `many`
        // indices.
        unsafe { b.launch(op, kernel, Grid::over(many), &arguments)? };
        let pointers = [given.out.pointer(), given.values.pointer()];
        let (dtype, inner) = widest(given.inner, x.dtype, &pointers);
        let kernel = b.kernel(op, &PROGRAM, Instance::new("scatter", "", &[dtype]))?;
        let sizes = given.sizes(inner);
        let arguments: [&dyn Argument; 5] =
            [&pointers[0], &given.indices.pointer(), &pointers[1], &last.pointer(), &sizes];
        // SAFETY: the arguments match the parameters of `scatter`: arrays of these sizes.
        unsafe { b.launch(op, kernel, Grid::over(sizes[0] as usize), &arguments)? };
    }
    given.finish(on)
}

/// The operands of a scatter, which is the general name of the ops above: values of shape (outer, many, inner), which
/// change an array of shape (outer, len, inner).
struct Scatter {
    out: RawArray,
    indices: RawArray,
    values: RawArray,
    bounds: BoundsCheck,
    /// Number of values. This is outer * many * inner.
    n: usize,
    len: usize,
    inner: usize,
}

impl Scatter {
    fn new(on: OpContext<'_>, x: &RawArray, indices: &RawArray, values: &RawArray, axis: isize) -> Result<Scatter> {
        let (b, op) = (on.backend, on.op);
        on.require(&[x, values])?;
        let axis = rules::scattered(op, &x.shape, &indices.shape, &values.shape, axis)?;
        let len = x.shape[axis];
        let (indices, values) = (contiguous(b, op, indices)?, contiguous(b, op, values)?);
        let bounds = BoundsCheck::at(b, op, &indices, axis, len)?;
        let n = if len == 0 { 0 } else { values.size() };
        let (_, inner) = around(&x.shape, axis);
        Ok(Scatter { out: copied(b, op, x)?, indices, values, bounds, n, len, inner })
    }

    /// Returns the counterpart of the C++ struct `Sizes` in the kernels. `inner` is the number of elements after the
    /// axis.
    fn sizes(&self, inner: usize) -> [u64; 4] {
        let n = self.n / self.inner.max(1) * inner;
        [n, self.len, self.indices.size(), inner].map(|size| size as u64)
    }

    fn finish(self, on: OpContext<'_>) -> Result<RawArray> {
        self.bounds.note(on.backend, on.op)?;
        Ok(self.out)
    }
}

/// Returns the elements at which a mask is true, in C order. If the mask has fewer axes than `x`, each of its
/// elements stands for a subarray of the remaining axes.
pub fn boolean_mask(on: OpContext<'_>, x: &RawArray, mask: &RawArray) -> Result<RawArray> {
    let (b, op) = (on.backend, on.op);
    on.with_dtype(DType::Bool).require(&[mask])?;
    let Masked { cells, cell } = rules::masked(op, &x.shape, &mask.shape)?;
    if cells == 0 {
        b.check(op, x)?;
        b.check(op, mask)?;
        return b.uninit_raw(op, x.dtype, &[&[0], &cell[..]].concat());
    }
    if cell.is_empty() {
        return MaskIndices::of(b, op, mask)?.elements(b, x);
    }
    let flags = reshaped(b, op, mask, &[cells])?;
    let places = MaskIndices::of(b, op, &flags)?.places(b, false)?.without(0);
    let rows = reshaped(b, op, x, &[&[cells][..], &cell].concat())?;
    let shape = [&places.shape[..], &cell].concat();
    rules::count(op, &shape, x.dtype.size())?;
    gathered(b, op, &rows, &places, 0, &shape)
}

/// Returns the indices of the true elements, as one array for each axis.
pub fn nonzero(on: OpContext<'_>, x: &RawArray) -> Result<Vec<RawArray>> {
    rules::require_axes(on.op, &x.shape)?;
    let places = MaskIndices::of(on.backend, on.op, x)?.places(on.backend, false)?;
    Ok((0..x.shape.len()).map(|axis| places.sliced(0, axis, 1, 1).without(0)).collect())
}

/// Returns the indices of the true elements. The result has one row for each of these elements.
pub fn argwhere(on: OpContext<'_>, x: &RawArray) -> Result<RawArray> {
    MaskIndices::of(on.backend, on.op, x)?.places(on.backend, true)
}
