//! Histograms and counts.

use super::{
    Cuda, OpContext,
    array::RawArray,
    casting,
    copy::contiguous,
    creation, indexing,
    kernel::{Argument, Grid},
    program::{Instance, KernelList, Program, ProgramSource},
    reduction,
};
use backend_core::{Axes, DType, Error, Result, dispatch, raw::RawElement, rules};

static PROGRAM: Program =
    Program { name: "statistics", source: ProgramSource::File(include_str!("kernels/statistics.cuh")) };

/// The dtypes that histograms support.
const REAL: [DType; 4] = [DType::Float16, DType::BFloat16, DType::Float32, DType::Float64];

/// The kernels of this file, for the list of all kernels in [`check`](crate::check).
pub(super) const KERNELS: KernelList = (&PROGRAM, || {
    let real = ["histogram", "find_fall"].into_iter().flat_map(|name| REAL.map(|d| Instance::new(name, "", &[d])));
    real.chain([Instance::new("bincount", "", &[])]).collect()
});

/// Number of elements that each thread counts; more if the grid has the maximum number of blocks.
const EACH: usize = 16;

/// The grid for counting `n` elements.
fn counting(n: usize) -> Grid {
    let blocks = n.div_ceil(Grid::THREADS as usize * EACH).clamp(1, 2048);
    Grid { blocks: [blocks as u32, 1, 1], threads: Grid::THREADS, shared: 0 }
}

/// Computes the minimum and the maximum, and copies both to the host.
fn ends(b: &Cuda, op: &'static str, x: &RawArray) -> Result<[RawElement; 2]> {
    let named = |error: Error| error.within(op);
    let on = |op| OpContext::new(b, op, x.dtype);
    let least = reduction::min(on("min"), x, Axes::All, false).map_err(named)?;
    let most = reduction::max(on("max"), x, Axes::All, false).map_err(named)?;
    dispatch!(x.dtype, T: [Int64, Float16, BFloat16, Float32, Float64] => {
        Ok([RawElement::of(b.download::<T>(op, &least)?[0]), RawElement::of(b.download::<T>(op, &most)?[0])])
    })
}

/// The number of elements in each bin, and the edges of the bins.
pub fn histogram(
    on: OpContext<'_>,
    x: &RawArray,
    bins: usize,
    low: Option<f64>,
    high: Option<f64>,
    edges: Option<&RawArray>,
) -> Result<[RawArray; 2]> {
    let OpContext { backend: b, op, dtype, .. } = on;
    on.require(&[x])?;
    on.require(edges.as_slice())?;
    let edges = match edges {
        Some(edges) => {
            rules::bin_edges(op, &edges.shape)?;
            ascending(b, op, edges)?;
            edges.clone()
        }
        None => {
            let of_elements = || {
                if x.size() == 0 {
                    return Ok(None);
                }
                let [least, most] = ends(b, op, x)?.map(RawElement::to_f64);
                Ok(Some((least, most)))
            };
            let (count, low, high) = rules::bin_range(op, dtype, bins, (low, high), of_elements)?;
            let [low, high] = [low, high].map(|end| RawElement::of(end).to(dtype));
            creation::linspace(on, low, high, count, true)?
        }
    };
    b.check(op, x)?;
    let bins = edges.size() - 1;
    let (counts, from) = (zeros(b, op, bins)?, contiguous(b, op, &edges)?);
    let (elements, n) = (contiguous(b, op, x)?, x.size());
    if n > 0 {
        let kernel = b.kernel(op, &PROGRAM, Instance::new("histogram", "", &[dtype]))?;
        let pointers = [&counts, &elements, &from].map(RawArray::pointer);
        let arguments: [&dyn Argument; 5] = [&pointers[0], &(bins as u64), &pointers[1], &(n as u64), &pointers[2]];
        // SAFETY: the arguments match the parameters of `histogram`: a count for each bin, `n` elements, and one edge
        // more than there are bins.
        unsafe { b.launch(op, kernel, counting(n), &arguments)? };
    }
    Ok([counts, edges])
}

/// Returns a new array of counts, which are 0.
fn zeros(b: &Cuda, op: &'static str, places: usize) -> Result<RawArray> {
    let counts = b.uninit_raw(op, DType::Int64, &[places])?;
    b.set_bytes(op, &counts, 0)?;
    Ok(counts)
}

/// Returns an error unless the edges are in ascending order.
fn ascending(b: &Cuda, op: &'static str, edges: &RawArray) -> Result<()> {
    b.check(op, edges)?;
    let (edges, found) = (contiguous(b, op, edges)?, b.uninit_raw(op, DType::UInt64, &[1])?);
    b.set_bytes(op, &found, 0)?;
    let (n, kernel) = (edges.size(), b.kernel(op, &PROGRAM, Instance::new("find_fall", "", &[edges.dtype]))?);
    // SAFETY: the arguments match the parameters of `find_fall`: one flag, and `n` edges.
    unsafe { b.launch(op, kernel, Grid::over(n), &[&found.pointer(), &edges.pointer(), &(n as u64)])? };
    if b.download::<u64>(op, &found)?[0] == 0 { Ok(()) } else { Err(rules::not_ascending(op)) }
}

/// Returns for each integer the number of its occurrences in `x` or, if weights are given, the sum of their weights.
pub fn bincount(on: OpContext<'_>, x: &RawArray, weights: Option<&RawArray>, minlength: usize) -> Result<RawArray> {
    let OpContext { backend: b, op, dtype, .. } = on;
    let counted = on.with_dtype(DType::Int64);
    counted.require(&[x])?;
    on.require(weights.as_slice())?;
    let n = rules::counted_numbers(op, &x.shape, weights.map(|weights| &weights.shape[..]))?;
    let ends = if n > 0 { Some(ends(b, op, x)?.map(RawElement::cast::<i64>)) } else { None };
    let len = rules::counted_places(op, ends.map(|[least, most]| (least, most)), minlength, dtype.size())?;
    if let Some(weights) = weights {
        return weighted(on, x, weights, len);
    }
    b.check(op, x)?;
    let (counts, numbers) = (zeros(b, op, len)?, contiguous(b, op, x)?);
    if n > 0 {
        let kernel = b.kernel(op, &PROGRAM, Instance::new("bincount", "", &[]))?;
        let arguments: [&dyn Argument; 4] = [&counts.pointer(), &(len as u64), &numbers.pointer(), &(n as u64)];
        // SAFETY: the arguments match the parameters of `bincount`: `n` numbers, all smaller than the number of counts.
        unsafe { b.launch(op, kernel, counting(n), &arguments)? };
    }
    casting::astype(counted.with_to(dtype), &counts)
}

/// For each integer below `len`, the sum of the weights of its occurrences in `x`.
fn weighted(on: OpContext<'_>, x: &RawArray, weights: &RawArray, len: usize) -> Result<RawArray> {
    let start = creation::zeros(on, &[len])?;
    indexing::scatter_add(on, &start, x, weights, 0)
}
