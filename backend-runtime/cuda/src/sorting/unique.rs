//! Distinct elements. The elements are sorted, and then the first of each run of equal elements is marked.

use super::rows::{PROGRAM, Rows, Wanted};
use crate::{
    Cuda, OpContext,
    array::RawArray,
    compact::MaskIndices,
    copy::{contiguous, copy_into},
    kernel::{Argument, Grid},
    program::Instance,
    reduction,
};
use backend_core::{DType, DTypeKind, Result};

/// Returns the distinct elements, sorted. Each NaN counts as distinct.
pub fn unique_values(on: OpContext<'_>, x: &RawArray) -> Result<RawArray> {
    Distinct::of(on.backend, on.op, x)?.values(on.backend)
}

/// Returns the distinct elements, and for each of them the number of its occurrences.
pub fn unique_counts(on: OpContext<'_>, x: &RawArray) -> Result<[RawArray; 2]> {
    let b = on.backend;
    let distinct = Distinct::of(b, on.op, x)?;
    Ok([distinct.values(b)?, distinct.counts(b)?])
}

/// The distinct elements, and for each element of `x` the index of its value among the distinct elements.
pub fn unique_inverse(on: OpContext<'_>, x: &RawArray) -> Result<[RawArray; 2]> {
    let b = on.backend;
    let distinct = Distinct::of(b, on.op, x)?;
    Ok([distinct.values(b)?, distinct.inverse(b, &x.shape)?])
}

/// Four arrays: the distinct elements; the index of the first occurrence of each distinct element; for each element of
/// `x`, the index of its value among the distinct elements; and the number of occurrences of each distinct element.
pub fn unique_all(on: OpContext<'_>, x: &RawArray) -> Result<[RawArray; 4]> {
    let b = on.backend;
    let distinct = Distinct::of(b, on.op, x)?;
    Ok([distinct.values(b)?, distinct.firsts(b)?, distinct.inverse(b, &x.shape)?, distinct.counts(b)?])
}

/// Sorted elements; `begins` is true for the first of each run of equal elements.
struct Distinct {
    op: &'static str,
    n: usize,
    sorted: RawArray,
    /// For each sorted element, its index in the original array.
    order: RawArray,
    begins: RawArray,
    firsts: MaskIndices,
}

impl Distinct {
    fn of(b: &Cuda, op: &'static str, x: &RawArray) -> Result<Distinct> {
        let n = x.size();
        let begins = b.uninit_raw(op, DType::Bool, &[n])?;
        let (sorted, order) = if x.dtype.kind() == DTypeKind::Complex {
            let (sorted, order) = by_parts(b, op, x)?;
            let kernel = Instance::new("pairs_begin", "", &[x.dtype.to_real()]);
            launch(b, op, kernel, n, &[&sorted.pointer(), &begins.pointer(), &(n as u64)])?;
            (sorted, order)
        } else {
            let rows = Rows::sorted(b, op, x, n, false, Wanted::Order)?;
            let kernel = Instance::new("begins", "", &[x.dtype]);
            launch(b, op, kernel, n, &[&rows.keys().pointer(), &begins.pointer(), &(n as u64)])?;
            (rows.values(b)?, rows.order(b)?)
        };
        let firsts = MaskIndices::of(b, op, &begins)?;
        Ok(Distinct { op, n, sorted: flat(&sorted), order: flat(&order), begins, firsts })
    }

    /// Returns each distinct value once, in sorted order.
    fn values(&self, b: &Cuda) -> Result<RawArray> {
        self.firsts.elements(b, &self.sorted)
    }

    /// Returns for each distinct value the index of its first occurrence in the original array.
    fn firsts(&self, b: &Cuda) -> Result<RawArray> {
        let order = b.uninit_raw(self.op, DType::Int64, &[self.n])?;
        copy_into(b, self.op, &self.order, &order)?;
        self.firsts.elements(b, &order)
    }

    fn counts(&self, b: &Cuda) -> Result<RawArray> {
        let starts = flat(&self.firsts.places(b, false)?);
        let out = b.uninit_raw(self.op, DType::Int64, &starts.shape)?;
        let runs = out.size();
        let arguments: [&dyn Argument; 4] = [&starts.pointer(), &out.pointer(), &(runs as u64), &(self.n as i64)];
        launch(b, self.op, Instance::new("run_lengths", "", &[]), runs, &arguments)?;
        Ok(out)
    }

    fn inverse(&self, b: &Cuda, shape: &[usize]) -> Result<RawArray> {
        let number = reduction::running_count(b, self.op, &self.begins)?;
        let out = b.uninit_raw(self.op, DType::Int64, shape)?;
        let arguments: [&dyn Argument; 4] =
            [&number.pointer(), &self.order.pointer(), &out.pointer(), &(self.n as u64)];
        launch(b, self.op, Instance::new("inverse", "", &[]), self.n, &arguments)?;
        Ok(out)
    }
}

/// Sorts complex numbers in NumPy's order. Returns the sorted numbers and their original indices. Numbers without NaN
/// are first, sorted by real part and then by imaginary part. Numbers with NaN only in the imaginary part follow, then
/// numbers with NaN only in the real part, then numbers with NaN in both parts. The function sorts stably three times:
/// by imaginary part, by real part, and by which parts are NaN.
fn by_parts(b: &Cuda, op: &'static str, x: &RawArray) -> Result<(RawArray, RawArray)> {
    let n = x.size();
    let sort = |key: &RawArray| Rows::sorted(b, op, key, n, false, Wanted::Order);
    let x = flat(&contiguous(b, op, x)?);
    let rows = sort(&part(&x, 1))?;
    let (x, order) = (rows.gathered(b, &x)?, rows.order(b)?);
    let rows = sort(&part(&flat(&x), 0))?;
    let (x, order) = (rows.gathered(b, &x)?, rows.gathered(b, &order)?);
    let unknown = b.uninit_raw(op, DType::UInt8, &[n])?;
    let kernel = Instance::new("unknown_parts", "", &[x.dtype.to_real()]);
    launch(b, op, kernel, n, &[&x.pointer(), &unknown.pointer(), &(n as u64)])?;
    let rows = sort(&unknown)?;
    Ok((rows.gathered(b, &x)?, rows.gathered(b, &order)?))
}

/// Returns a view of the real parts (`which` is 0) or the imaginary parts (1) of contiguous complex numbers.
fn part(x: &RawArray, which: usize) -> RawArray {
    let parts = x.view(x.shape.clone(), vec![2], 2 * x.offset + which);
    RawArray { dtype: x.dtype.to_real(), ..parts }
}

/// Runs a kernel with one thread for each of `n` elements. `arguments` must match the kernel's parameters. The pointers
/// among them must point to arrays of `n` elements.
fn launch(b: &Cuda, op: &'static str, kernel: Instance, n: usize, arguments: &[&dyn Argument]) -> Result<()> {
    if n == 0 {
        return Ok(());
    }
    let kernel = b.kernel(op, &PROGRAM, kernel)?;
    // SAFETY: the callers are all in this file; they pass the arguments of the kernel they name, with arrays of `n`
    // elements.
    unsafe { b.launch(op, kernel, Grid::over(n), arguments) }
}

/// A one-dimensional view of a contiguous array.
fn flat(x: &RawArray) -> RawArray {
    x.view(vec![x.size()], vec![1], x.offset)
}
