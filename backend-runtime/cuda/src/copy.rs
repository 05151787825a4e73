//! Copies from one layout to another, conversions to another dtype, and fills.

use super::{
    Cuda,
    array::RawArray,
    kernel::{Argument, Grid},
    map::{FLAT, Input, Members, instances, map, map_into},
    program::{Instance, KernelList, MOVERS, Program, ProgramSource, mover},
    walk::Merged,
};
use backend_core::{DType, Result, raw::RawElement};

/// The program that copies each element unchanged.
static COPY: Program = Program::each("copy", "x", &["x"]);

/// The program that converts each element to the dtype of the result.
static CAST: Program = Program::each("astype", "cast<U>(x)", &["x"]);

/// The kernels of copies, listed so that `check` can compile them all.
pub(super) const COPIES: KernelList =
    (&COPY, || MOVERS.iter().flat_map(|&dtype| instances(&[dtype, dtype]).collect::<Vec<_>>()).collect());

/// The conversion kernels for contiguous arrays, listed so that `check` can compile them all. The kernels for strided
/// arrays are not listed, because they convert elements by the same code.
pub(super) const CASTS: KernelList = (&CAST, || {
    let pairs = DType::ALL.into_iter().flat_map(|to| DType::ALL.into_iter().map(move |from| [to, from]));
    pairs.map(|pair| Instance::new("flat", FLAT, &pair)).collect()
});

/// Broadcasts `x` to the shape of the existing array `out`, and copies it into `out`. Converts the dtype if needed.
pub(crate) fn copy_into(b: &Cuda, op: &'static str, x: &RawArray, out: &RawArray) -> Result<()> {
    if x.dtype != out.dtype {
        return map_into(b, op, &CAST, Members::NONE, &[Input::Array(x)], out);
    }
    b.check(op, x)?;
    b.check(op, out)?;
    let wide = x.broadcast(op, &out.shape)?;
    let merged = Merged::new(&[out, &wide]);
    if let Some(plane) = Plane::of(&merged) {
        return transpose_into(b, op, &wide, out, &merged, plane);
    }
    map_into(b, op, &COPY, Members::NONE, &[Input::Array(&moved(x))], &moved(out))
}

/// Returns a view of `x` with the dtype by which kernels move elements of this size. Kernels that only move elements
/// need one such dtype for each element size.
pub(super) fn moved(x: &RawArray) -> RawArray {
    RawArray { dtype: mover(x.dtype), ..x.clone() }
}

/// Two axes that are exchanged by a transposition: the source has stride 1 along one of them, and the result has
/// stride 1 along the other. For each index of all other axes, these two axes form a matrix, which is transposed.
#[derive(Clone, Copy)]
struct Plane {
    /// The axis along which the source has stride 1.
    rows: usize,
    /// The axis along which the result has stride 1.
    columns: usize,
}

impl Plane {
    /// Minimum length of both axes for a transposition of tiles (square parts of the matrix) in shared memory. For
    /// shorter axes, a copy with short reads or writes is as fast.
    const MIN_AXIS_LENGTH: usize = 16;

    fn of(merged: &Merged) -> Option<Plane> {
        let neighbours = |k: usize| merged.strides(k).iter().position(|&stride| stride == 1);
        let (columns, rows) = (neighbours(0)?, neighbours(1)?);
        let long = |axis: usize| merged.shape()[axis] >= Plane::MIN_AXIS_LENGTH;
        (rows != columns && long(rows) && long(columns) && merged.is_small()).then_some(Plane { rows, columns })
    }
}

static TRANSPOSE: Program =
    Program { name: "transpose", source: ProgramSource::File(include_str!("kernels/copy.cuh")) };

/// The kernels of transposition, listed so that `check` can compile them all.
pub(super) const TRANSPOSITIONS: KernelList = (&TRANSPOSE, || {
    let of = |&(_, tag): &(usize, &'static str)| MOVERS.map(|dtype| Instance::new("transpose", tag, &[dtype]));
    RANKS.iter().flat_map(of).collect()
});

/// The template argument of the kernel, for each maximum number of axes besides the two that are exchanged.
const RANKS: [(usize, &str); 5] = [(1, "1"), (2, "2"), (3, "3"), (4, "4"), (16, "16")];

/// Counterpart of the C++ struct `Matrix` in the kernel.
#[derive(Clone, Copy)]
#[repr(C)]
struct Matrix {
    rows: u32,
    columns: u32,
    row_tiles: u32,
    column_tiles: u32,
    /// Distances, in elements, between rows of the result (`out_row`) and between columns of the source
    /// (`source_column`).
    out_row: i64,
    source_column: i64,
}

// SAFETY: the C++ struct has the same members in the same order.
unsafe impl Argument for Matrix {}

fn transpose_into(
    b: &Cuda,
    op: &'static str,
    x: &RawArray,
    out: &RawArray,
    merged: &Merged,
    plane: Plane,
) -> Result<()> {
    const TILE: usize = 32;
    if merged.n() == 0 {
        return Ok(());
    }
    let others = merged.without(&[plane.rows, plane.columns]);
    let (rows, columns) = (merged.shape()[plane.rows], merged.shape()[plane.columns]);
    let matrix = Matrix {
        rows: rows as u32,
        columns: columns as u32,
        row_tiles: rows.div_ceil(TILE) as u32,
        column_tiles: columns.div_ceil(TILE) as u32,
        out_row: merged.strides(0)[plane.rows] as i64,
        source_column: merged.strides(1)[plane.columns] as i64,
    };
    let tag = RANKS.iter().find(|(rank, _)| *rank == others.rank()).map_or("", |(_, tag)| tag);
    let kernel = b.kernel(op, &TRANSPOSE, Instance::new("transpose", tag, &[mover(x.dtype)]))?;
    let tiles = rows.div_ceil(TILE) * columns.div_ceil(TILE) * others.n();
    let grid = Grid { blocks: [tiles as u32, 1, 1], threads: Grid::THREADS, shared: 0 };
    let walk = others.walk::<2>(op)?;
    // SAFETY: the arguments match the parameters of `transpose`, and the plane and the other axes describe both arrays.
    // There are fewer than 2^31 elements, so the number of tiles fits in 32 bits.
    unsafe { b.launch(op, kernel, grid, &[&out.pointer(), &x.pointer(), &matrix, &walk]) }
}

/// Sets every element of `out` to one value of its dtype.
pub(crate) fn fill(b: &Cuda, op: &'static str, value: RawElement, out: &RawArray) -> Result<()> {
    debug_assert_eq!(out.dtype, value.dtype());
    map_into(b, op, &COPY, Members::NONE, &[Input::moved(value)], &moved(out))
}

/// Converts `x` to the dtype `to`, in a new array with the layout of `x`.
pub(crate) fn cast(b: &Cuda, op: &'static str, x: &RawArray, to: DType) -> Result<RawArray> {
    map(b, op, &CAST, Members::NONE, &[Input::Array(x)], to)
}

/// A copy of `x` in new memory, with the same layout.
pub(crate) fn like(b: &Cuda, op: &'static str, x: &RawArray) -> Result<RawArray> {
    let out = map(b, op, &COPY, Members::NONE, &[Input::Array(&moved(x))], mover(x.dtype))?;
    Ok(RawArray { dtype: x.dtype, ..out })
}

/// A new array in C order with the elements of `x`.
pub(crate) fn copied(b: &Cuda, op: &'static str, x: &RawArray) -> Result<RawArray> {
    let out = b.uninit_raw(op, x.dtype, &x.shape)?;
    copy_into(b, op, x, &out)?;
    Ok(out)
}

/// The array itself if it is in C order, else a copy in C order.
pub(crate) fn contiguous(b: &Cuda, op: &'static str, x: &RawArray) -> Result<RawArray> {
    b.check(op, x)?;
    if x.is_contiguous() { Ok(x.clone()) } else { copied(b, op, x) }
}
