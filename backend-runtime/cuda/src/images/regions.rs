//! Connected regions of non-zero elements, and distances of true elements to the nearest false element (the
//! background).

use super::filters::LaneLayout;
use crate::{
    Cuda, OpContext,
    array::RawArray,
    copy::contiguous,
    kernel::{Argument, Grid},
    program::{Instance, KernelList, Program, ProgramSource},
    walk::Divisor,
};
use backend_core::{
    DType, Real, Result, dispatch,
    rules::{self, MAX_NEIGHBOUR_AXES, Measured, Neighbours},
};

static PROGRAM: Program = Program {
    name: "regions",
    source: ProgramSource::File(concat!(
        include_str!("../kernels/compact.cuh"),
        include_str!("../kernels/lanes.cuh"),
        include_str!("../kernels/regions.cuh")
    )),
};

/// The possible dtypes of the indices of parents, the narrower one first. The kernels arrange the elements of a region
/// in a tree: each element stores the index of another element, its parent. The root of the tree is the region's first
/// element.
const PARENTS: [DType; 2] = [DType::UInt32, DType::UInt64];

/// The kernels of this file, listed so that `check` can compile them all.
pub(crate) const KERNELS: KernelList = (&PROGRAM, || {
    let runs = PARENTS.into_iter().flat_map(|p| DType::ALL.map(|x| Instance::new("label_runs", "", &[p, x])));
    let rest = ["label_join", "label_roots", "label_numbers", "label_spread"];
    let rest = rest.into_iter().flat_map(|name| PARENTS.map(|p| Instance::new(name, "", &[p])));
    let alone = ["sum_counts", "distance_lines", "distance_near", "distance_lanes"];
    let alone = alone.map(|name| Instance::new(name, "", &[]));
    let roots = [DType::Float32, DType::Float64].map(|x| Instance::new("distance_roots", "", &[x]));
    runs.chain(rest).chain(alone).chain(roots).collect()
});

/// Number of elements that a block of threads processes at a time (a tile), in kernels that count or number regions.
const TILE: usize = 4096;

/// Describes a neighbour of an element as two 64-bit integers, with the layout of the C++ struct `Neighbour` in the
/// kernels. The first integer is the neighbour's distance in elements. The second integer consists of two 32-bit masks:
/// the axes along which the neighbour precedes the element, and the axes along which it follows the element.
fn neighbour(steps: &[isize], strides: &[isize]) -> [i64; 2] {
    let apart: isize = steps.iter().zip(strides).map(|(step, stride)| step * stride).sum();
    let axes = |wanted: isize| {
        let bits = steps.iter().rev().enumerate().filter(|(_, step)| **step == wanted);
        bits.fold(0_u32, |bits, (axis, _)| bits | 1 << axis)
    };
    [apart as i64, i64::from(axes(-1)) | i64::from(axes(1)) << 32]
}

/// Counterpart of the C++ struct `Lattice` in the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct Lattice {
    n: u64,
    ndim: u32,
    is_small: u32,
    count: u32,
    joins: u32,
    lengths: [u64; MAX_NEIGHBOUR_AXES],
    divisors: [Divisor; MAX_NEIGHBOUR_AXES],
}

// SAFETY: the C++ struct has the same members in the same order.
unsafe impl Argument for Lattice {}

/// Numbers the connected regions of non-zero elements from 1, in the order of their first elements. Also returns the
/// number of regions.
pub fn label(
    on: OpContext<'_>,
    x: &RawArray,
    connectivity: usize,
    structure: Option<&RawArray>,
) -> Result<[RawArray; 2]> {
    let OpContext { backend: b, op, .. } = on;
    let flags = match structure {
        // the elements of a structure of another shape are not read, because it is refused below
        Some(of) if of.shape.iter().all(|&len| len == 3) && of.shape.len() == x.shape.len() => {
            on.with_dtype(DType::Bool).require(&[of])?;
            b.check(op, of)?;
            b.download::<bool>(op, &contiguous(b, op, of)?)?
        }
        _ => Vec::new(),
    };
    let neighbours = rules::neighbours(op, &x.shape, connectivity, structure.map(|of| (&of.shape[..], &flags[..])))?;
    b.check(op, x)?;
    labelled(b, op, x, &neighbours)
}

fn labelled(b: &Cuda, op: &'static str, x: &RawArray, neighbours: &Neighbours) -> Result<[RawArray; 2]> {
    let out = b.uninit_raw(op, DType::Int64, &x.shape)?;
    let n = out.size();
    let tiles = n.div_ceil(TILE);
    // one count for each tile, and then the total
    let counts = b.uninit_raw(op, DType::Int64, &[tiles + 1])?;
    let count = counts.view(Vec::new(), Vec::new(), tiles);
    if n == 0 {
        b.set_bytes(op, &counts, 0)?;
        return Ok([out, count]);
    }
    let x = contiguous(b, op, x)?;
    let strides = rules::c_strides(&neighbours.lengths);
    let ndim = neighbours.lengths.len();
    let is_along = |steps: &&Vec<isize>| steps[..ndim - 1].iter().all(|&step| step == 0);
    let joins = neighbours.before.last().is_some_and(|steps| is_along(&steps));
    let others: Vec<[i64; 2]> =
        neighbours.before.iter().filter(|steps| !is_along(steps)).map(|steps| neighbour(steps, &strides)).collect();
    let table = b.uninit_raw(op, DType::Int64, &[others.len(), 2])?;
    b.upload(op, others.as_flattened(), &table)?;

    // true if the narrow dtype can hold the indices of all elements; its largest value means "no element"
    let is_narrow = n < u32::MAX as usize;
    let parent = PARENTS[usize::from(!is_narrow)];
    let is_small = n < 1 << 31;
    let mut lattice = Lattice {
        n: n as u64,
        ndim: ndim as u32,
        is_small: is_small.into(),
        count: others.len() as u32,
        joins: joins.into(),
        lengths: [1; MAX_NEIGHBOUR_AXES],
        divisors: [Divisor::ONE; MAX_NEIGHBOUR_AXES],
    };
    for (place, &len) in neighbours.lengths.iter().rev().enumerate() {
        lattice.lengths[place] = len as u64;
        if is_small {
            lattice.divisors[place] = Divisor::new(len as u32);
        }
    }
    let parents = b.uninit_raw(op, parent, &[n])?;
    let kernel = |name: &'static str| b.kernel(op, &PROGRAM, Instance::new(name, "", &[parent]));
    let elements = Grid::over(n);
    let blocks = Grid { blocks: [tiles.min(1 << 30) as u32, 1, 1], threads: Grid::THREADS, shared: 0 };
    let one = Grid { blocks: [1, 1, 1], threads: 1024, shared: 0 };
    let (runs, sum) = (
        b.kernel(op, &PROGRAM, Instance::new("label_runs", "", &[parent, x.dtype]))?,
        b.kernel(op, &PROGRAM, Instance::new("sum_counts", "", &[]))?,
    );
    let (to, of, counts, size) = (out.pointer(), parents.pointer(), counts.pointer(), n as u64);
    // SAFETY: the arguments match the parameters of the kernels: arrays of `n` elements, a table with the number of
    // rows that `lattice` states, a count for each tile, and the total. Each kernel is instantiated for the dtype of
    // the parents.
    unsafe {
        b.launch(op, runs, elements, &[&of, &x.pointer(), &lattice])?;
        b.launch(op, kernel("label_join")?, elements, &[&of, &table.pointer(), &lattice])?;
        b.launch(op, kernel("label_roots")?, blocks, &[&of, &counts, &size])?;
        b.launch(op, sum, one, &[&counts, &(tiles as u64)])?;
        b.launch(op, kernel("label_numbers")?, blocks, &[&to, &of, &counts, &size])?;
        b.launch(op, kernel("label_spread")?, elements, &[&to, &of, &size])?;
    }
    Ok([out, count])
}

/// Counterpart of the C++ struct `Steps` in the kernel.
#[derive(Clone, Copy)]
#[repr(C)]
struct Steps {
    n: u64,
    ndim: u32,
    lengths: [u64; MAX_NEIGHBOUR_AXES],
    steps: [f64; MAX_NEIGHBOUR_AXES],
}

// SAFETY: the C++ struct has the same members in the same order.
unsafe impl Argument for Steps {}

/// Maximum length of an axis for the kernel `distance_near`, in which each element searches along the axis for the
/// nearest background. All elements search in parallel, and most elements find the background nearby.
const LONGEST_SEARCHED: usize = 1024;

/// The Euclidean distance of each true element to the nearest false element.
pub fn distance_transform_edt(on: OpContext<'_>, x: &RawArray, sampling: Option<&RawArray>) -> Result<RawArray> {
    let OpContext { backend: b, op, .. } = on;
    on.with_dtype(DType::Bool).require(&[x])?;
    let steps: Vec<f64> = match sampling {
        // the numbers of a sampling of another shape are not read, because it is refused below
        Some(of) if of.size() <= x.shape.len().max(1) => {
            on.require(&[of])?;
            b.check(op, of)?;
            let of = contiguous(b, op, of)?;
            let steps: Result<Vec<f64>> = dispatch!(of.dtype, T: [Float32, Float64] => {
                b.download::<T>(op, &of).map(|steps| steps.into_iter().map(|step| step.to_f64()).collect())
            });
            steps?
        }
        _ => Vec::new(),
    };
    let measured = rules::measured(op, &x.shape, sampling.map(|of| (&of.shape[..], &steps[..])))?;
    b.check(op, x)?;
    let out = b.uninit_raw(op, on.dtype, &x.shape)?;
    if out.size() > 0 {
        distances(b, op, x, &measured, &out)?;
    }
    Ok(out)
}

fn distances(b: &Cuda, op: &'static str, x: &RawArray, measured: &Measured, out: &RawArray) -> Result<()> {
    let Measured { lengths, steps } = measured;
    let (x, n, last) = (contiguous(b, op, x)?, out.size(), lengths.len() - 1);
    let mut squares = b.uninit_raw(op, DType::Float64, lengths)?;
    let lines = n / lengths[last];
    let grid = Grid { blocks: [lines.min(1 << 20) as u32, 1, 1], threads: Grid::THREADS, shared: 0 };
    let kernel = |name: &'static str| b.kernel(op, &PROGRAM, Instance::new(name, "", &[]));
    let (count, len) = (lines as u64, lengths[last] as u64);
    // SAFETY: the arguments match the parameters of `distance_lines`: both arrays have `count` lines.
    unsafe {
        let arguments: [&dyn Argument; 5] = [&squares.pointer(), &x.pointer(), &count, &len, &steps[last]];
        b.launch(op, kernel("distance_lines")?, grid, &arguments)?;
    }
    for axis in (0..last).rev().filter(|&axis| lengths[axis] > 1) {
        let (lanes, step) = (LaneLayout::new(&squares, axis), steps[axis]);
        let next = b.uninit_raw(op, DType::Float64, lengths)?;
        let (to, from) = (next.pointer(), squares.pointer());
        if lengths[axis] <= LONGEST_SEARCHED {
            // SAFETY: the arguments match the parameters of `distance_near`, and the arrays have the lanes that `lanes`
            // describes.
            unsafe { b.launch(op, kernel("distance_near")?, Grid::over(n), &[&to, &from, &lanes, &step])? };
        } else {
            let (at, start) = (b.scratch(op, n, size_of::<u64>())?, b.scratch(op, n, size_of::<f64>())?);
            let arguments: [&dyn Argument; 6] = [&to, &from, &at.pointer(), &start.pointer(), &lanes, &step];
            // SAFETY: the arguments match the parameters of `distance_lanes`; the arrays have the lanes that `lanes`
            // describes, and the two scratch buffers have as many items.
            unsafe { b.launch(op, kernel("distance_lanes")?, Grid::over(n / lengths[axis]), &arguments)? };
        }
        squares = next;
    }
    let mut of = Steps {
        n: n as u64,
        ndim: lengths.len() as u32,
        lengths: [1; MAX_NEIGHBOUR_AXES],
        steps: [1.0; MAX_NEIGHBOUR_AXES],
    };
    for (place, axis) in (0..lengths.len()).rev().enumerate() {
        (of.lengths[place], of.steps[place]) = (lengths[axis] as u64, steps[axis]);
    }
    let kernel = b.kernel(op, &PROGRAM, Instance::new("distance_roots", "", &[out.dtype]))?;
    // SAFETY: the arguments match the parameters of `distance_roots`: both arrays have `n` elements.
    unsafe { b.launch(op, kernel, Grid::over(n), &[&out.pointer(), &squares.pointer(), &of]) }
}
