//! Histograms and counts.

use super::{
    Cuda, CudaArray,
    array::RawArray,
    casting,
    copy::contiguous,
    creation, indexing,
    kernel::{Argument, Grid},
    program::{Instance, KernelList, Program, ProgramSource},
    reduction,
};
use crate::{Axes, DType, Error, Numeric, Ordered, Real, Result, rules};

static PROGRAM: Program =
    Program { name: "statistics", source: ProgramSource::File(include_str!("kernels/statistics.cuh")) };

/// The dtypes that histograms support.
const REAL: [DType; 4] = [DType::Float16, DType::BFloat16, DType::Float32, DType::Float64];

/// The kernels, listed for the check that all kernels compile.
pub(super) const KERNELS: KernelList = (&PROGRAM, || {
    let real = ["histogram", "find_fall"].into_iter().flat_map(|name| REAL.map(|d| Instance::new(name, "", &[d])));
    real.chain([Instance::new("bincount", "", &[])]).collect()
});

/// Number of elements that a thread counts before its block adds up its counts.
const EACH: usize = 16;

/// The grid for counting `n` elements.
fn counting(n: usize) -> Grid {
    let blocks = n.div_ceil(Grid::THREADS as usize * EACH).clamp(1, 2048);
    Grid { blocks: [blocks as u32, 1, 1], threads: Grid::THREADS, shared: 0 }
}

/// The minimum and the maximum, copied to the host.
fn ends<T: Ordered>(b: &Cuda, op: &'static str, x: &CudaArray<T>) -> Result<(T, T)> {
    let named = |error: Error| error.within(op);
    let one = |end: Result<CudaArray<T>>| Ok(b.download::<T>(op, &end.map_err(named)?.raw)?[0]);
    Ok((one(reduction::min(b, x, Axes::All, false))?, one(reduction::max(b, x, Axes::All, false))?))
}

/// The number of elements in each bin, and the edges of the bins.
#[allow(clippy::type_complexity)] // a pair of arrays
pub fn histogram<T: Real>(
    b: &Cuda,
    x: &CudaArray<T>,
    bins: usize,
    low: Option<f64>,
    high: Option<f64>,
    edges: Option<&CudaArray<T>>,
) -> Result<(CudaArray<i64>, CudaArray<T>)> {
    const OP: &str = "histogram";
    let edges = match edges {
        Some(edges) => {
            rules::bin_edges(OP, edges.shape())?;
            ascending(b, OP, &edges.raw)?;
            edges.clone()
        }
        None => {
            let (count, low, high) = rules::bin_range::<T>(OP, bins, (low, high), || {
                if x.raw.size() == 0 {
                    return Ok(None);
                }
                let (least, most) = ends(b, OP, x)?;
                Ok(Some((least.to_f64(), most.to_f64())))
            })?;
            creation::linspace(b, T::of(low), T::of(high), count, true).map_err(|e| e.within(OP))?
        }
    };
    b.check(OP, &x.raw)?;
    let bins = edges.raw.size() - 1;
    let (counts, from) = (zeros(b, OP, bins)?, contiguous(b, OP, &edges.raw)?);
    let (elements, n) = (contiguous(b, OP, &x.raw)?, x.raw.size());
    if n > 0 {
        let kernel = b.kernel(OP, &PROGRAM, Instance::new("histogram", "", &[T::DTYPE]))?;
        let pointers = [&counts, &elements, &from].map(RawArray::pointer);
        let arguments: [&dyn Argument; 5] = [&pointers[0], &(bins as u64), &pointers[1], &(n as u64), &pointers[2]];
        // SAFETY: the arguments match the parameters of `histogram`: a count for each bin, `n` elements, and one edge
        // more than there are bins.
        unsafe { b.launch(OP, kernel, counting(n), &arguments)? };
    }
    Ok((CudaArray::of(counts), edges))
}

/// A new array of zero counts.
fn zeros(b: &Cuda, op: &'static str, places: usize) -> Result<RawArray> {
    let counts = b.uninit_raw(op, DType::Int64, &[places])?;
    b.set_bytes(op, &counts, 0)?;
    Ok(counts)
}

/// Returns an error if the edges do not ascend.
fn ascending(b: &Cuda, op: &'static str, edges: &RawArray) -> Result<()> {
    b.check(op, edges)?;
    let (edges, found) = (contiguous(b, op, edges)?, b.uninit_raw(op, DType::UInt64, &[1])?);
    b.set_bytes(op, &found, 0)?;
    let (n, kernel) = (edges.size(), b.kernel(op, &PROGRAM, Instance::new("find_fall", "", &[edges.dtype]))?);
    // SAFETY: the arguments match the parameters of `find_fall`: one flag, and `n` edges.
    unsafe { b.launch(op, kernel, Grid::over(n), &[&found.pointer(), &edges.pointer(), &(n as u64)])? };
    if b.download::<u64>(op, &found)?[0] == 0 { Ok(()) } else { Err(rules::not_ascending(op)) }
}

/// The number of occurrences of each number, or the sum of their weights.
pub fn bincount<T: Numeric>(
    b: &Cuda,
    x: &CudaArray<i64>,
    weights: Option<&CudaArray<T>>,
    minlength: usize,
) -> Result<CudaArray<T>> {
    const OP: &str = "bincount";
    let n = rules::counted_numbers(OP, x.shape(), weights.map(CudaArray::shape))?;
    let ends = if n > 0 { Some(ends(b, OP, x)?) } else { None };
    let len = rules::counted_places(OP, ends, minlength, size_of::<T>())?;
    if let Some(weights) = weights {
        let named = |error: Error| error.within(OP);
        let start = creation::zeros::<T>(b, &[len]).map_err(named)?;
        return indexing::scatter_add(b, &start, x, weights, 0).map_err(named);
    }
    b.check(OP, &x.raw)?;
    let (counts, numbers) = (zeros(b, OP, len)?, contiguous(b, OP, &x.raw)?);
    if n > 0 {
        let kernel = b.kernel(OP, &PROGRAM, Instance::new("bincount", "", &[]))?;
        let arguments: [&dyn Argument; 4] = [&counts.pointer(), &(len as u64), &numbers.pointer(), &(n as u64)];
        // SAFETY: the arguments match the parameters of `bincount`: `n` numbers, all smaller than the number of counts.
        unsafe { b.launch(OP, kernel, counting(n), &arguments)? };
    }
    casting::astype(b, &CudaArray::<i64>::of(counts))
}
