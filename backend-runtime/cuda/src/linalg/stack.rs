//! Stacks of matrices in the layout of cuSOLVER and cuBLAS, and the kernels that run before and after a factorization.

use crate::{
    Cuda,
    array::RawArray,
    copy::{copied, fill},
    kernel::{Argument, Grid},
    program::{Instance, KernelList, Program, ProgramSource},
};
use backend_core::{DType, Error, Result, raw::RawElement, rules};

static PROGRAM: Program =
    Program { name: "factor", source: ProgramSource::File(include_str!("../kernels/factor.cuh")) };

/// The dtypes that can be factorized.
const DTYPES: [DType; 4] = [DType::Float32, DType::Float64, DType::Complex64, DType::Complex128];

/// The kernels of this file, for the list of all kernels in [`check`](crate::check).
pub(crate) const KERNELS: KernelList = (&PROGRAM, || {
    let alone = ["addresses", "note_codes"].map(|name| Instance::new(name, "", &[]));
    let in_place = ["tidy", "conjugates"].map(|name| DTYPES.map(|dtype| Instance::new(name, "", &[dtype])));
    let pairs =
        [DType::Float32, DType::Float64].map(|real| Instance::new("unpack_pairs", "", &[real.to_complex(), real]));
    let pivots = [DType::Int32, DType::Int64];
    let determinants = DTYPES.map(|dtype| pivots.map(|pivot| determinants_of(dtype, pivot)));
    let all = alone.into_iter().chain(in_place.into_iter().flatten()).chain(pairs);
    all.chain(determinants.into_iter().flatten()).collect()
});

fn determinants_of(dtype: DType, pivot: DType) -> Instance {
    Instance::new("determinants", "", &[dtype, dtype.to_real(), pivot])
}

/// A batch of column-major matrices, all of one shape and consecutive in memory.
#[derive(Clone)]
pub(super) struct Stack {
    pub(super) op: &'static str,
    /// The matrices as an array in C order. Its shape is (leading axes, columns, rows).
    pub(super) array: RawArray,
    pub(super) batch: usize,
    pub(super) rows: usize,
    pub(super) columns: usize,
}

impl Stack {
    /// Copies the matrices of `x`, after its leading axes are broadcast to `leading`.
    pub(super) fn of(b: &Cuda, op: &'static str, x: &RawArray, leading: &[usize]) -> Result<Stack> {
        Stack::copy_of(b, op, &swapped(x), leading)
    }

    /// Copies the transposes of the matrices of `x`, after its leading axes are broadcast to `leading`.
    pub(super) fn of_transposes(b: &Cuda, op: &'static str, x: &RawArray, leading: &[usize]) -> Result<Stack> {
        Stack::copy_of(b, op, x, leading)
    }

    fn copy_of(b: &Cuda, op: &'static str, x: &RawArray, leading: &[usize]) -> Result<Stack> {
        b.check(op, x)?;
        let lengths = &x.shape[x.shape.len() - 2..];
        let array = copied(b, op, &x.broadcast(op, &[leading, lengths].concat())?)?;
        Ok(Stack { op, batch: leading.iter().product(), rows: lengths[1], columns: lengths[0], array })
    }

    /// Allocates matrices with undefined content.
    pub(super) fn new(
        b: &Cuda,
        op: &'static str,
        dtype: DType,
        leading: &[usize],
        [rows, columns]: [usize; 2],
    ) -> Result<Stack> {
        let array = b.uninit_raw(op, dtype, &[leading, &[columns, rows]].concat())?;
        Ok(Stack { op, batch: leading.iter().product(), rows, columns, array })
    }

    /// The matrices as an array of shape (leading axes, rows, columns): a view.
    pub(super) fn matrices(&self) -> RawArray {
        swapped(&self.array)
    }

    /// Leading dimension: the number of elements from one column to the next.
    pub(super) fn leading(&self) -> i64 {
        self.rows.max(1) as i64
    }

    /// Number of bytes from the start of one matrix to the start of the next.
    pub(super) fn step(&self) -> usize {
        self.rows * self.columns * self.array.dtype.size()
    }

    /// Address of matrix `i`.
    pub(super) fn at(&self, i: usize) -> u64 {
        self.array.pointer() + (i * self.step()) as u64
    }

    /// Returns an array in device memory with the addresses of all matrices.
    pub(super) fn addresses(&self, b: &Cuda) -> Result<RawArray> {
        let out = b.uninit_raw(self.op, DType::UInt64, &[self.batch])?;
        let kernel = b.kernel(self.op, &PROGRAM, Instance::new("addresses", "", &[]))?;
        let (n, first, step) = (self.batch as u64, self.at(0), self.step() as u64);
        // SAFETY: the arguments match the parameters of `addresses`; the result has room for `n` addresses.
        unsafe { b.launch(self.op, kernel, Grid::over(self.batch), &[&out.pointer(), &n, &first, &step])? };
        Ok(out)
    }

    /// A new array with `of_each` numbers for each matrix; its content is undefined.
    pub(super) fn numbers(&self, b: &Cuda, dtype: DType, of_each: usize) -> Result<RawArray> {
        b.uninit_raw(self.op, dtype, &[self.batch, of_each])
    }

    /// Checks and corrects the elements of the matrices, and sets elements outside the part `kept` to 0. `what` is a
    /// combination of the flags in [`tidying`].
    pub(super) fn tidy(&self, b: &Cuda, kept: Kept, what: u32, notes: &Notes) -> Result<()> {
        let dtype = self.array.dtype;
        let kernel = b.kernel(self.op, &PROGRAM, Instance::new("tidy", "", &[dtype]))?;
        let n = self.array.size();
        let (elements, rows, columns) = (n as u64, self.rows as u64, self.columns as u64);
        let (x, kept, notes) = (self.array.pointer(), kept as u32, notes.0.pointer());
        let arguments: [&dyn Argument; 7] = [&x, &elements, &rows, &columns, &kept, &what, &notes];
        // SAFETY: the arguments match the parameters of `tidy`; the matrices have `n` elements, and there is room for
        // the notes.
        unsafe { b.launch(self.op, kernel, Grid::over(n), &arguments) }
    }

    /// Conjugates the elements in place.
    pub(super) fn conjugate(&self, b: &Cuda) -> Result<()> {
        let kernel = b.kernel(self.op, &PROGRAM, Instance::new("conjugates", "", &[self.array.dtype]))?;
        let n = self.array.size();
        // SAFETY: the arguments match the parameters of `conjugates`; there are `n` elements.
        unsafe { b.launch(self.op, kernel, Grid::over(n), &[&self.array.pointer(), &(n as u64)]) }
    }
}

/// A view with the last two axes swapped.
pub(super) fn swapped(x: &RawArray) -> RawArray {
    let n = x.shape.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.swap(n - 2, n - 1);
    x.permuted(&order)
}

/// The part of a column-major matrix that a factorization uses. The kernel `tidy` has the same numbers.
#[derive(Clone, Copy)]
pub(super) enum Kept {
    All = 0,
    /// Elements on and below the diagonal of the column-major matrix.
    Lower = 1,
    /// Elements on and above the diagonal of the column-major matrix.
    Upper = 2,
}

/// Flags for [`Stack::tidy`]: the actions of the kernel in addition to setting unused elements to 0.
pub(super) mod tidying {
    /// Set imaginary parts on the diagonal to 0.
    pub(in super::super) const REAL_DIAGONAL: u32 = 1;
    /// Report infinite and NaN elements, and set them to 0 so that the factorization terminates.
    pub(in super::super) const REFUSE_NOT_FINITE: u32 = 2;
    /// Report NaN on the diagonal.
    pub(in super::super) const REFUSE_UNKNOWN_DIAGONAL: u32 = 4;
    /// Report 0 on the diagonal.
    pub(in super::super) const REFUSE_ZERO_DIAGONAL: u32 = 8;
}

/// Two flags in device memory, which kernels set during a call of an op: one says that an element is not finite, the
/// other that a matrix has no result.
pub(super) struct Notes(RawArray);

impl Notes {
    pub(super) fn new(b: &Cuda, op: &'static str) -> Result<Notes> {
        let notes = b.uninit_raw(op, DType::UInt32, &[2])?;
        b.set_bytes(op, &notes, 0)?;
        Ok(Notes(notes))
    }

    /// Sets the flag for a matrix without a result if one of `codes`, the library's error codes, is not 0.
    pub(super) fn note(&self, b: &Cuda, op: &'static str, codes: &RawArray) -> Result<()> {
        let kernel = b.kernel(op, &PROGRAM, Instance::new("note_codes", "", &[]))?;
        let n = codes.size();
        // SAFETY: the arguments match the parameters of `note_codes`: `n` codes, and room for the notes.
        unsafe { b.launch(op, kernel, Grid::over(n), &[&codes.pointer(), &(n as u64), &self.0.pointer()]) }
    }

    /// Waits for the device, and returns an error if a flag is set. The error is `failed(op)` if a matrix has no result
    /// although all elements are finite. The notes are consumed, so that each call of an op waits only once.
    pub(super) fn wait(self, b: &Cuda, op: &'static str, failed: fn(&'static str) -> Error) -> Result<()> {
        match b.download::<u32>(op, &self.0)?[..] {
            [0, 0] => Ok(()),
            [0, ..] => Err(failed(op)),
            _ => Err(rules::not_finite(op)),
        }
    }
}

/// Returns identity matrices; they need not be square.
pub(super) fn identities(b: &Cuda, op: &'static str, dtype: DType, shape: &[usize]) -> Result<RawArray> {
    let out = b.uninit_raw(op, dtype, shape)?;
    if out.size() == 0 {
        return Ok(out);
    }
    b.set_bytes(op, &out, 0)?;
    let n = shape.len();
    let (mut lengths, mut strides) = (shape[..n - 1].to_vec(), out.strides[..n - 1].to_vec());
    lengths[n - 2] = shape[n - 2].min(shape[n - 1]);
    strides[n - 2] += out.strides[n - 1];
    ones(b, op, &out.view(lengths, strides, out.offset))?;
    Ok(out)
}

/// Sets all elements to 1.
pub(super) fn ones(b: &Cuda, op: &'static str, out: &RawArray) -> Result<()> {
    fill(b, op, RawElement::of(1_i64).to(out.dtype), out)
}

/// Computes the determinants of matrices, their signs, and the logarithms of their magnitudes, from the LU factors and
/// pivots of the matrices.
pub(super) fn determinants(b: &Cuda, factors: &Stack, pivots: &RawArray, shape: &[usize]) -> Result<[RawArray; 3]> {
    const THREADS: u32 = 128;
    let (op, dtype) = (factors.op, factors.array.dtype);
    let values = b.uninit_raw(op, dtype, shape)?;
    let signs = b.uninit_raw(op, dtype, shape)?;
    let logs = b.uninit_raw(op, dtype.to_real(), shape)?;
    let kernel = b.kernel(op, &PROGRAM, determinants_of(dtype, pivots.dtype))?;
    let blocks = factors.batch.min(1 << 20) as u32;
    let grid = Grid { blocks: [blocks, 1, 1], threads: THREADS, shared: 0 };
    let (matrices, n) = (factors.batch as u64, factors.rows as u64);
    let [to_values, to_signs, to_logs] = [&values, &signs, &logs].map(RawArray::pointer);
    let (from, pivots) = (factors.array.pointer(), pivots.pointer());
    let arguments: [&dyn Argument; 7] = [&to_values, &to_signs, &to_logs, &matrices, &from, &pivots, &n];
    // SAFETY: the arguments match the parameters of `determinants`: one result of each kind per matrix, and n pivots.
    unsafe { b.launch(op, kernel, grid, &arguments)? };
    Ok([values, signs, logs])
}

/// Returns the complex eigenvectors of real matrices. In `packed`, two real columns hold a conjugate pair of
/// eigenvectors. `values` are the eigenvalues; the columns of a pair are those of two conjugate eigenvalues.
pub(super) fn unpack_pairs(b: &Cuda, packed: &Stack, values: &RawArray, leading: &[usize]) -> Result<Stack> {
    let (op, n) = (packed.op, packed.rows);
    let out = Stack::new(b, op, values.dtype, leading, [n, n])?;
    let kernel = b.kernel(op, &PROGRAM, Instance::new("unpack_pairs", "", &[values.dtype, packed.array.dtype]))?;
    let (total, rows) = (out.array.size() as u64, n as u64);
    let (to, from, values) = (out.array.pointer(), packed.array.pointer(), values.pointer());
    let grid = Grid::over(out.array.size());
    // SAFETY: the arguments match the parameters of `unpack_pairs`: matrices of n rows and columns, and n values for
    // each.
    unsafe { b.launch(op, kernel, grid, &[&to, &total, &from, &values, &rows])? };
    Ok(out)
}
