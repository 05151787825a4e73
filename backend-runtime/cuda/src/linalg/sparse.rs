//! Products with compressed sparse row (CSR) matrices, by kernels of this crate, because cuSPARSE does not check
//! indices and does not support integers.
//!
//! The kernels check the column indices and the entries of `indptr` (the start of each row) that they use. As for all
//! index arrays, an invalid entry is reported by the next call that waits for the device.

use crate::{
    OpContext,
    array::RawArray,
    copy::contiguous,
    indexing::{note, note_pointers, require_indices},
    kernel::{Argument, Grid},
    program::{Instance, KernelList, Program, ProgramSource},
};
use backend_core::{
    DType, Result,
    rules::{self, Compressed},
};

static PROGRAM: Program = Program {
    name: "sparse",
    source: ProgramSource::File(concat!(include_str!("../kernels/atomics.cuh"), include_str!("../kernels/sparse.cuh"))),
};

/// The possible numbers of threads that share a row of the matrix. Each comes with the template argument that selects
/// it.
const LANES: [(usize, &str); 3] = [(2, "2"), (8, "8"), (32, "32")];

/// The kernels of this file, for the list of all kernels in [`check`](crate::check).
pub(crate) const KERNELS: KernelList = (&PROGRAM, || {
    let numeric = || DType::ALL.into_iter().filter(|&dtype| dtype != DType::Bool);
    let shared = |name| {
        let lanes = LANES.into_iter();
        lanes.flat_map(move |(_, tag)| numeric().map(move |dtype| Instance::new(name, tag, &[dtype])))
    };
    ["check_no_rows", "check_rows"]
        .map(|name| Instance::new(name, "", &[]))
        .into_iter()
        .chain(shared("csr_vector"))
        .chain(numeric().map(|dtype| Instance::new("csr_matrix", "", &[dtype])))
        .chain(shared("csc_product"))
        .chain(shared("sampled_product"))
        .collect()
});

/// Computes the product of a CSR matrix and a dense vector or matrix.
pub fn csr_matmul(
    on: OpContext<'_>,
    values: &RawArray,
    indices: &RawArray,
    indptr: &RawArray,
    x: &RawArray,
) -> Result<RawArray> {
    let dtype = on.dtype;
    let p = rules::csr_product(on.op, &values.shape, &indices.shape, &indptr.shape, &x.shape, dtype.size())?;
    let (threads, instance) = match p.width {
        1 => {
            let (lanes, tag) = lanes(&p);
            (p.rows * lanes, Instance::new("csr_vector", tag, &[dtype]))
        }
        width => (p.rows * width, Instance::new("csr_matrix", "", &[dtype])),
    };
    product(on, &p, [values, indices, indptr, x], threads, instance)
}

/// Computes the product of the transpose of a CSR matrix and a dense vector or matrix.
pub fn csc_matmul(
    on: OpContext<'_>,
    values: &RawArray,
    indices: &RawArray,
    indptr: &RawArray,
    x: &RawArray,
    rows: usize,
) -> Result<RawArray> {
    let size = on.dtype.size();
    let p = rules::csc_product(on.op, &values.shape, &indices.shape, &indptr.shape, &x.shape, rows, size)?;
    let (lanes, tag) = lanes(&p);
    let instance = Instance::new("csc_product", tag, &[on.dtype]);
    product(on, &p, [values, indices, indptr, x], p.rows * p.width * lanes, instance)
}

/// Computes selected elements of the product of `x1` and the transpose of `x2`; both matrices are dense. `indices` and
/// `indptr` give the positions of the selected elements, like the positions of the stored elements of a CSR matrix.
pub fn sampled_matmul(
    on: OpContext<'_>,
    indices: &RawArray,
    indptr: &RawArray,
    x1: &RawArray,
    x2: &RawArray,
) -> Result<RawArray> {
    let p = rules::sampled_product(on.op, &indices.shape, &indptr.shape, &x1.shape, &x2.shape, on.dtype.size())?;
    let (lanes, tag) = lanes(&p);
    let instance = Instance::new("sampled_product", tag, &[on.dtype]);
    product(on, &p, [x1, indices, indptr, x2], p.rows * lanes, instance)
}

/// Number of threads that share a row, about half the average number of stored elements per row, and its template
/// argument.
fn lanes(p: &Compressed) -> (usize, &'static str) {
    let wanted = p.stored / p.rows.max(1) / 2;
    LANES.into_iter().find(|&(lanes, _)| lanes >= wanted).unwrap_or(LANES[2])
}

/// Number of positions that the kernels report: the position of a wrong entry of `indptr`, and the position of a wrong
/// index.
const FOUND: usize = 2;

/// Runs the kernel of a product. For a product with a sparse matrix, `before` has the values of the sparse matrix, and
/// `behind` is the dense factor. For a sampled product, `before` and `behind` are the two dense factors.
fn product(
    on: OpContext<'_>,
    p: &Compressed,
    [before, indices, indptr, behind]: [&RawArray; 4],
    threads: usize,
    instance: Instance,
) -> Result<RawArray> {
    let (b, op) = (on.backend, on.op);
    on.require(&[before, behind])?;
    require_indices(b, op, &[indices, indptr])?;
    let [before, indices] = [contiguous(b, op, before)?, contiguous(b, op, indices)?];
    let [indptr, behind] = [contiguous(b, op, indptr)?, contiguous(b, op, behind)?];
    let out = b.uninit_raw(op, behind.dtype, &p.shape)?;
    // the kernels add to zeros, and a row for which the entries of `indptr` are invalid stays 0
    b.set_bytes(op, &out, 0)?;
    let found = b.uninit_raw(op, DType::UInt64, &[FOUND])?;
    b.set_bytes(op, &found, u8::MAX)?;
    let [to, left, columns, pointers] = [&out, &before, &indices, &indptr].map(RawArray::pointer);
    let (right, wrong) = (behind.pointer(), found.pointer());
    let sizes = [p.rows, p.columns, p.stored, p.width].map(|size| size as u64);
    let kernel = |instance| b.kernel(op, &PROGRAM, instance);
    if p.rows == 0 {
        let one = Grid { blocks: [1, 1, 1], threads: 1, shared: 0 };
        let arguments: [&dyn Argument; 3] = [&pointers, &sizes, &wrong];
        // SAFETY: the arguments match the parameters of `check_no_rows`: `indptr` with its single entry, the sizes, and
        // room for the positions of mistakes.
        unsafe { b.launch(op, kernel(Instance::new("check_no_rows", "", &[]))?, one, &arguments)? };
    } else if out.size() == 0 || threads == 0 {
        let arguments: [&dyn Argument; 4] = [&pointers, &columns, &sizes, &wrong];
        // SAFETY: the arguments match the parameters of `check_rows`: `indptr`, the indices, the sizes, and room for
        // the positions of mistakes.
        unsafe { b.launch(op, kernel(Instance::new("check_rows", "", &[]))?, Grid::over(p.rows), &arguments)? };
    } else {
        let arguments: [&dyn Argument; 7] = [&to, &left, &columns, &pointers, &right, &sizes, &wrong];
        // SAFETY: the arguments match the parameters of the kernel, and the op's rule has checked that the arrays have
        // these sizes. The kernels skip indices that are out of range, and rows for which the entries of `indptr` are
        // invalid.
        unsafe { b.launch(op, kernel(instance)?, Grid::over(threads), &arguments)? };
    }
    note_pointers(b, op, wrong, &indptr, p.stored)?;
    note(b, op, wrong + size_of::<u64>() as u64, &indices, 0, p.columns)?;
    Ok(out)
}
