//! Running sums and products, and differences of neighbours.

use super::fold::{ACCUMULATOR, Fold};
use crate::{
    Cuda, OpContext,
    array::RawArray,
    copy::fill,
    kernel::{Argument, Grid},
    manipulation::{along_or_row, concat},
    map::{Input, Members, instances, map},
    program::{Instance, KernelList, Program, ProgramSource},
    walk::Merged,
};
use backend_core::{DType, DTypeKind, Result, raw::RawElement, rules};
use std::cmp::Reverse;

static PROGRAM: Program = Program {
    name: "scan",
    source: ProgramSource::File(concat!(
        include_str!("../kernels/locate.cuh"),
        include_str!("../kernels/fold.cuh"),
        include_str!("../kernels/scan.cuh")
    )),
};

/// The kernels of running sums and products, for the list of all kernels in [`check`](crate::check).
pub(crate) const SCANS: KernelList = (&PROGRAM, || {
    let of = |fold: Fold| {
        DType::ALL.into_iter().flat_map(move |dtype| {
            ["scan_rows", "scan_columns", "scan_chunks"].map(|name| Instance::new(name, fold.name(), &[dtype]))
        })
    };
    of(Fold::Sum).chain(of(Fold::Product)).collect()
});

/// The program for the difference of two neighbouring elements.
static DIFF: Program = Program::each("diff", "op_minus(x1, x2)", &["x1", "x2"]);

/// The kernels of differences, for the list of all kernels in [`check`](crate::check).
pub(crate) const DIFFS: KernelList = (&DIFF, || {
    let numeric = DType::ALL.into_iter().filter(|dtype| dtype.kind() != DTypeKind::Bool);
    numeric.flat_map(|dtype| instances(&[dtype; 3]).collect::<Vec<_>>()).collect()
});

/// Running sum along one axis; without an axis, the array is flattened first.
pub fn cumulative_sum(on: OpContext<'_>, x: &RawArray, axis: Option<isize>, include_initial: bool) -> Result<RawArray> {
    running(on, x, axis, include_initial, Fold::Sum, 0)
}

/// Running product along one axis; without an axis, the array is flattened first.
pub fn cumulative_prod(
    on: OpContext<'_>,
    x: &RawArray,
    axis: Option<isize>,
    include_initial: bool,
) -> Result<RawArray> {
    running(on, x, axis, include_initial, Fold::Product, 1)
}

fn running(
    on: OpContext<'_>,
    x: &RawArray,
    axis: Option<isize>,
    include_initial: bool,
    fold: Fold,
    identity: i64,
) -> Result<RawArray> {
    let (OpContext { backend: b, op, .. }, dtype) = (on, fold.result(x.dtype));
    let x = along_or_row(b, op, x, axis)?;
    let (axis, from, to) = rules::scan(op, &x.shape, axis.unwrap_or(0), include_initial, dtype.size())?;
    let x = if x.shape == from { x } else { x.expanded(0) };
    let out = result(b, op, &x, to, dtype)?;
    if x.shape[axis] == 0 {
        fill(b, op, RawElement::of(identity).to(dtype), &out)?;
    } else {
        scan(b, op, &x, &out, axis, include_initial, fold)?;
    }
    Ok(out)
}

/// For each element of a 1-D mask, returns the number of true elements up to and including this element.
pub(crate) fn running_count(b: &Cuda, op: &'static str, mask: &RawArray) -> Result<RawArray> {
    let out = b.uninit_raw(op, DType::Int64, &mask.shape)?;
    scan(b, op, mask, &out, 0, false, Fold::Sum)?;
    Ok(out)
}

/// Allocates the result of an op. The axes of the result have the same memory order as the axes of `x`.
fn result(b: &Cuda, op: &'static str, x: &RawArray, shape: Vec<usize>, dtype: DType) -> Result<RawArray> {
    b.check(op, x)?;
    let order = in_memory(x, (0..shape.len()).collect());
    let lengths: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
    let out = b.uninit_raw(op, dtype, &lengths)?;
    let mut strides = vec![0; order.len()];
    order.iter().zip(&out.strides).for_each(|(&axis, &stride)| strides[axis] = stride);
    Ok(out.view(shape, strides, out.offset))
}

/// Sorts axes of `x` by descending stride.
fn in_memory(x: &RawArray, mut axes: Vec<usize>) -> Vec<usize> {
    axes.sort_by_key(|&axis| Reverse(x.strides[axis].unsigned_abs()));
    axes
}

/// Writes the running fold of each lane (1-D slice along `axis`) of `x` into `out`. If `initial` is true, each lane of
/// `out` begins with the fold's identity, and is one element longer. Does nothing if `x` is empty.
fn scan(
    b: &Cuda,
    op: &'static str,
    x: &RawArray,
    out: &RawArray,
    axis: usize,
    initial: bool,
    fold: Fold,
) -> Result<()> {
    let axes = in_memory(x, (0..x.shape.len()).filter(|&a| a != axis).collect());
    let lanes_of = |x: &RawArray| {
        let shape = axes.iter().map(|&a| x.shape[a]).collect();
        x.view(shape, axes.iter().map(|&a| x.strides[a]).collect(), x.offset)
    };
    let lanes = Merged::new(&[&lanes_of(x), &lanes_of(out)]);
    let length = x.shape[axis];
    if lanes.n() == 0 || length == 0 {
        return Ok(());
    }
    let nearest = lanes.strides(0).last().map_or(usize::MAX, |stride| stride.unsigned_abs());
    // a short lane does not have enough work for a whole block, so it is computed by one thread
    let columns = nearest < x.strides[axis].unsigned_abs() || length <= 32;
    let split = Split::new(lanes.n(), length, columns);
    let kernel_scan = KernelScan {
        length: length as u64,
        chunk: split.chunk as u64,
        chunks: split.chunks as u64,
        from_stride: x.strides[axis] as i64,
        to_stride: out.strides[axis] as i64,
        initial: initial as u32,
    };
    let instance = |name| Instance::new(name, fold.name(), &[x.dtype]);
    let kernel = b.kernel(op, &PROGRAM, instance(if split.columns { "scan_columns" } else { "scan_rows" }))?;
    let walk = lanes.walk::<2>(op)?;
    let (from, to, nowhere) = (x.pointer(), out.pointer(), 0_u64);
    let chunks = match split.chunks {
        1 => None,
        several => Some(b.scratch(op, lanes.n() * several, ACCUMULATOR)?),
    };
    let places = chunks.as_ref().map_or(0, RawArray::pointer);
    if split.chunks > 1 {
        let sum = b.kernel(op, &PROGRAM, instance("scan_chunks"))?;
        let grid = Grid { blocks: [lanes.n().min(i32::MAX as usize) as u32, 1, 1], ..Grid::over(0) };
        let (n_lanes, n) = (lanes.n() as u64, split.chunks as u64);
        // SAFETY: the arguments match the parameters of the kernels; there is an accumulator for each chunk of each
        // lane.
        unsafe {
            b.launch(op, &kernel, split.grid(), &[&from, &nowhere, &places, &walk, &kernel_scan])?;
            b.launch(op, sum, grid, &[&places, &n_lanes, &n])?;
        }
    }
    // SAFETY: the arguments match the parameters of the kernel; there is an accumulator for each chunk of each lane,
    // and the result has room for each element, and with `initial` for one more in each lane.
    unsafe { b.launch(op, kernel, split.grid(), &[&from, &to, &places, &walk, &kernel_scan]) }
}

/// A division of the work into blocks. The split depends only on sizes and never on the device, so that the results do
/// not depend on the device either.
struct Split {
    /// Whether a single thread scans each chunk of a lane, so that adjacent threads scan adjacent lanes. Otherwise, all
    /// threads of a block scan one chunk together.
    columns: bool,
    lanes: usize,
    chunk: usize,
    chunks: usize,
}

impl Split {
    fn new(lanes: usize, length: usize, columns: bool) -> Split {
        // number of lanes that keep a large device busy, and minimum number of elements of a chunk
        let (enough, worth) = if columns { (1 << 17, 64) } else { (1024, 4096) };
        let chunks = (enough / lanes.min(enough)).min(length.div_ceil(worth)).clamp(1, 1024);
        let chunk = length.div_ceil(chunks);
        Split { columns, lanes, chunk, chunks: length.div_ceil(chunk) }
    }

    fn grid(&self) -> Grid {
        if self.columns {
            let Grid { blocks, .. } = Grid::over(self.lanes);
            return Grid { blocks: [blocks[0], self.chunks as u32, 1], ..Grid::over(0) };
        }
        let blocks = self.lanes.saturating_mul(self.chunks).min(i32::MAX as usize);
        Grid { blocks: [blocks as u32, 1, 1], ..Grid::over(0) }
    }
}

/// Counterpart of the C++ struct `Scan` in the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct KernelScan {
    length: u64,
    chunk: u64,
    chunks: u64,
    from_stride: i64,
    to_stride: i64,
    initial: u32,
}

// SAFETY: the C++ struct has the same members in the same order.
unsafe impl Argument for KernelScan {}

/// Differences of neighbouring elements along one axis, taken `n` times.
pub fn diff(
    on: OpContext<'_>,
    x: &RawArray,
    axis: isize,
    n: usize,
    prepend: Option<&RawArray>,
    append: Option<&RawArray>,
) -> Result<RawArray> {
    let OpContext { backend: b, op, .. } = on;
    on.require(&[x, prepend.unwrap_or(x), append.unwrap_or(x)])?;
    b.check(op, x)?;
    let axis = rules::axis(op, axis, x.shape.len())?;
    let longer = with_edges(on, x, axis, prepend, append)?;
    let x = longer.as_ref().unwrap_or(x);
    let (left, times) = rules::differences(&x.shape, axis, n);
    if left.contains(&0) {
        return b.uninit_raw(op, on.dtype, &left);
    }
    let mut current = x.clone();
    for _ in 0..times {
        let len = current.shape[axis] - 1;
        let (after, before) = (current.sliced(axis, 1, len, 1), current.sliced(axis, 0, len, 1));
        current = map(b, op, &DIFF, Members::NONE, &[Input::Array(&after), Input::Array(&before)], on.dtype)?;
    }
    Ok(current)
}

/// Joins `before`, `x` and `after` along `axis`. Returns `None` if `before` and `after` are absent.
fn with_edges(
    on: OpContext<'_>,
    x: &RawArray,
    axis: usize,
    before: Option<&RawArray>,
    after: Option<&RawArray>,
) -> Result<Option<RawArray>> {
    let op = on.op;
    let shape = |edge: &RawArray| rules::edge(op, &x.shape, &edge.shape, axis);
    // both shapes are checked first, so that errors come before memory is allocated
    let shapes = [before.map(shape).transpose()?, after.map(shape).transpose()?];
    let edge = |(edge, shape): (&RawArray, &Vec<usize>)| edge.broadcast(op, shape);
    let before = before.zip(shapes[0].as_ref()).map(edge).transpose()?;
    let after = after.zip(shapes[1].as_ref()).map(edge).transpose()?;
    if before.is_none() && after.is_none() {
        return Ok(None);
    }
    let parts: Vec<&RawArray> = before.iter().chain([x]).chain(&after).collect();
    concat(on, &parts, Some(axis as isize)).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CudaArray;
    use crate::{
        compare::{assert_near, host, layouts, mixed},
        reduction::tests::{on, typed},
        testing::device,
    };
    use backend_core::Element;
    use backend_core::{Arrays, Complex, Error, Numeric, bf16, numpyish::Numpyish};
    use backend_numpyish::reduction::typed as cpu;
    use ndarray::{ArrayD, IxDyn};

    const CPU: Numpyish = Numpyish::new();

    /// Calls the function `cumulative_sum` for raw arrays with typed arrays.
    fn cumulative_sum<T: Element>(
        b: &Cuda,
        x: &CudaArray<T>,
        axis: Option<isize>,
        include_initial: bool,
    ) -> Result<CudaArray<T::Sum>> {
        typed(super::cumulative_sum(on(b, "cumulative_sum", x), &x.raw, axis, include_initial))
    }

    fn check<T: Numeric>(b: &Cuda, shape: &[usize], tolerance: f64) {
        let x = mixed::<T>(shape);
        let here = x.clone().into_shared();
        for a in layouts(b, &x) {
            for axis in 0..shape.len() as isize {
                let what = format!("{} {shape:?} {:?} along {axis}", T::DTYPE, a.raw.strides);
                for initial in [false, true] {
                    let got = cumulative_sum(b, &a, Some(axis), initial).unwrap();
                    let expected = cpu::cumulative_sum(&CPU, &here, Some(axis), initial).unwrap();
                    assert_near(b, &got, &expected, tolerance, &what);
                }
                let got = typed(cumulative_prod(on(b, "cumulative_prod", &a), &a.raw, Some(axis), true)).unwrap();
                assert_near(b, &got, &cpu::cumulative_prod(&CPU, &here, Some(axis), true).unwrap(), tolerance, &what);
                for n in [0, 1, 2, 9] {
                    let got = typed(diff(on(b, "diff", &a), &a.raw, axis, n, None, None)).unwrap();
                    assert_near(b, &got, &cpu::diff(&CPU, &here, axis, n, None, None).unwrap(), 0.0, &what);
                }
            }
        }
    }

    #[test]
    fn running_folds_and_differences() {
        let Some(b) = device() else { return };
        for shape in [&[3, 4, 5][..], &[2, 1200], &[300, 3], &[1, 1], &[0, 3]] {
            check::<i32>(&b, shape, 0.0);
        }
        check::<u8>(&b, &[700, 2], 0.0);
        check::<f64>(&b, &[7, 100], 1e-13);
        check::<Complex<f32>>(&b, &[3, 5], 1e-6);
        check::<bf16>(&b, &[2, 30], 1e-2);
    }

    /// Tests lanes that are long enough to be split among several blocks.
    #[test]
    fn long_lanes() {
        let Some(b) = device() else { return };
        check::<i16>(&b, &[2, 20_001], 0.0);
        check::<i16>(&b, &[20_001, 2], 0.0);
        let ones = b.from_ndarray(ArrayD::from_elem(IxDyn(&[9000]), bf16::ONE).into_shared()).unwrap();
        let sums = host(&b, &cumulative_sum(&b, &ones, Some(0), false).unwrap());
        assert_eq!(sums[[8999]], bf16::from_f32(9000.0), "summed in bf16 it would stay at 256");
        let flags = b.from_ndarray(ArrayD::from_elem(IxDyn(&[5]), true).into_shared()).unwrap();
        assert_eq!(host(&b, &cumulative_sum(&b, &flags, Some(0), false).unwrap())[[4]], 5_i64);
    }

    #[test]
    fn wrong_axes() {
        let Some(b) = device() else { return };
        let scalar = b.from_ndarray(ArrayD::<f64>::zeros(IxDyn(&[])).into_shared()).unwrap();
        // a 0-dimensional array has axes 0 and -1, as in NumPy
        let here = cpu::cumulative_sum(&CPU, &host(&b, &scalar), Some(-1), false).unwrap();
        assert_eq!(cumulative_sum(&b, &scalar, Some(-1), false).unwrap().shape(), here.shape());
        assert!(matches!(cumulative_sum(&b, &scalar, Some(1), false), Err(Error::Axis { op: "cumulative_sum", .. })));
        let wrong = diff(on(&b, "diff", &scalar), &scalar.raw, -1, 1, None, None);
        assert!(matches!(wrong, Err(Error::Axis { op: "diff", .. })));
    }
}
