//! Stream compaction: writes the elements for which a mask is true, or the indices of these elements, in C order. Each
//! block of threads counts the true elements in its tiles of the mask. A scan of these counts gives the position at
//! which each block writes. Only the total is copied to the host, because it is the length of the result.

use super::{
    Cuda,
    array::RawArray,
    copy::contiguous,
    kernel::{Argument, Grid},
    program::{Instance, KernelList, MOVERS, Program, ProgramSource, mover},
    walk::MAX_AXES,
};
use backend_core::{DType, Error, Result, rules};

static PROGRAM: Program = Program { name: "compact", source: ProgramSource::File(include_str!("kernels/compact.cuh")) };

/// The kernels of this file, listed so that `check` can compile them all.
pub(super) const KERNELS: KernelList = (&PROGRAM, || {
    let each = |name| DType::ALL.map(|dtype| Instance::new(name, "", &[dtype]));
    let values = MOVERS.map(|dtype| Instance::new("write_values", "", &[dtype]));
    [Instance::new("sum_counts", "", &[])]
        .into_iter()
        .chain(each("count"))
        .chain(each("write_places"))
        .chain(values)
        .collect()
});

/// Number of elements in a tile of the mask. A block of threads processes one tile at a time.
const TILE: usize = 4096;

/// A mask, with counts of its true elements: for each tile of the mask, the number of true elements before this tile;
/// and the total number.
pub(super) struct MaskIndices {
    op: &'static str,
    mask: RawArray,
    before: RawArray,
    total: usize,
    grid: Grid,
}

impl MaskIndices {
    /// Counts the true elements of `mask`; waits for the device.
    pub(super) fn of(b: &Cuda, op: &'static str, mask: &RawArray) -> Result<MaskIndices> {
        let mask = contiguous(b, op, mask)?;
        let n = mask.size();
        let tiles = n.div_ceil(TILE);
        // one count for each tile, and then the total
        let before = b.uninit_raw(op, DType::UInt64, &[tiles + 1])?;
        let grid = Grid { blocks: [tiles.clamp(1, 1 << 30) as u32, 1, 1], threads: Grid::THREADS, shared: 0 };
        if n == 0 {
            return Ok(MaskIndices { op, mask, before, total: 0, grid });
        }
        let kernel = b.kernel(op, &PROGRAM, Instance::new("count", "", &[mask.dtype]))?;
        // SAFETY: the arguments match the parameters of `count`: room for one count per tile, the `n` elements of the
        // mask, and `n`.
        unsafe { b.launch(op, kernel, grid, &[&before.pointer(), &mask.pointer(), &(n as u64)])? };
        let kernel = b.kernel(op, &PROGRAM, Instance::new("sum_counts", "", &[]))?;
        let one = Grid { blocks: [1, 1, 1], threads: 1024, shared: 0 };
        // SAFETY: the arguments match the parameters of `sum_counts`: an array of `tiles + 1` counts, and the number of
        // tiles.
        unsafe { b.launch(op, kernel, one, &[&before.pointer(), &(tiles as u64)])? };
        let total = b.download::<u64>(op, &before.sliced(0, tiles, 1, 1))?[0] as usize;
        Ok(MaskIndices { op, mask, before, total, grid })
    }

    /// The elements of `x` where the mask is true; `x` has the mask's shape.
    pub(super) fn elements(&self, b: &Cuda, x: &RawArray) -> Result<RawArray> {
        let MaskIndices { op, mask, before, total, grid } = self;
        let x = contiguous(b, op, x)?;
        let out = b.uninit_raw(op, x.dtype, &[*total])?;
        if *total > 0 {
            let kernel = b.kernel(op, &PROGRAM, Instance::new("write_values", "", &[mover(x.dtype)]))?;
            let pointers = [out.pointer(), x.pointer(), mask.pointer(), before.pointer()];
            let n = mask.size() as u64;
            let arguments: [&dyn Argument; 5] = [&pointers[0], &pointers[1], &pointers[2], &pointers[3], &n];
            // SAFETY: the arguments match the parameters of `write_values`; the result has room for each true element.
            unsafe { b.launch(op, kernel, *grid, &arguments)? };
        }
        Ok(out)
    }

    /// Returns the indices of the true elements. With n true elements, the shape is (n, ndim) if `rows` is true, and
    /// (ndim, n) otherwise.
    pub(super) fn places(&self, b: &Cuda, rows: bool) -> Result<RawArray> {
        let MaskIndices { op, mask, before, total, grid } = self;
        let (ndim, total) = (mask.shape.len(), *total);
        let shape = if rows { vec![total, ndim] } else { vec![ndim, total] };
        if ndim > MAX_AXES {
            return Err(Error::shape(op, &mask.shape, format!("must have at most {MAX_AXES} axes")));
        }
        rules::count(op, &shape, size_of::<i64>())?;
        let out = b.uninit_raw(op, DType::Int64, &shape)?;
        if total > 0 && ndim > 0 {
            let mut lengths = [1; MAX_AXES];
            lengths.iter_mut().zip(mask.shape.iter().rev()).for_each(|(to, &len)| *to = len as u64);
            let (row, column) = if rows { (ndim, 1) } else { (1, total) };
            let n = mask.size() as u64;
            let shape = Shape { n, ndim: ndim as u64, lengths, row: row as u64, column: column as u64 };
            let kernel = b.kernel(op, &PROGRAM, Instance::new("write_places", "", &[mask.dtype]))?;
            let arguments: [&dyn Argument; 4] = [&out.pointer(), &mask.pointer(), &before.pointer(), &shape];
            // SAFETY: the arguments match the parameters of `write_places`; the result has room for `ndim` indices of
            // each true element.
            unsafe { b.launch(op, kernel, *grid, &arguments)? };
        }
        Ok(out)
    }
}

/// Counterpart of the C++ struct `Shape` in the kernel.
#[derive(Clone, Copy)]
#[repr(C)]
struct Shape {
    n: u64,
    ndim: u64,
    lengths: [u64; MAX_AXES],
    /// Distances in the result, in elements: from the indices of one true element to the indices of the next (`row`),
    /// and from the index along one axis to the index along the next axis (`column`).
    row: u64,
    column: u64,
}

// SAFETY: the C++ struct has the same members in the same order.
unsafe impl Argument for Shape {}
