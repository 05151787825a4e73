//! Cholesky and QR factorizations, linear systems and determinants, with cuSOLVER and cuBLAS.

use super::{
    batched::{self, SMALL, Triangle},
    solver,
    stack::{Kept, Notes, Stack, determinants, identities, ones, tidying},
};
use crate::{
    DType, QrMode, Result, WideFloat,
    cuda::{Cuda, CudaArray, OpContext, array::RawArray, copy::copy_into, creation},
    rules::{self, System},
};
use cudarc::cusolver::sys::cublasFillMode_t as Fill;

/// The shape without the last two axes.
pub(super) fn leading(shape: &[usize]) -> &[usize] {
    &shape[..shape.len() - 2]
}

/// Cholesky factors of Hermitian matrices; only one triangle is read.
pub fn cholesky<T: WideFloat>(b: &Cuda, x: &CudaArray<T>, upper: bool) -> Result<CudaArray<T>> {
    cholesky_of(b, &x.raw, upper).map(CudaArray::of)
}

fn cholesky_of(b: &Cuda, x: &RawArray, upper: bool) -> Result<RawArray> {
    const OP: &str = "cholesky";
    rules::square(OP, &x.shape)?;
    if x.size() == 0 {
        return b.uninit_raw(OP, x.dtype, &x.shape);
    }
    // the Cholesky factor of the transpose is the transpose of the factor: the matrices stay in row-major order, so the
    // lower triangle here is the upper triangle for the library
    let a = Stack::of_transposes(b, OP, x, leading(&x.shape))?;
    let (kept, fill) = match upper {
        true => (Kept::Lower, Fill::CUBLAS_FILL_MODE_LOWER),
        false => (Kept::Upper, Fill::CUBLAS_FILL_MODE_UPPER),
    };
    let (notes, codes) = (Notes::new(b, OP)?, a.numbers(b, DType::Int32, 1)?);
    if x.dtype != x.dtype.to_real() {
        a.tidy(b, kept, tidying::REAL_DIAGONAL, &notes)?;
    }
    match a.batch > 1 && a.rows < SMALL {
        true => batched::potrf(b, &a, fill, &codes)?,
        false => solver::potrf(b, &a, fill, &codes)?,
    }
    notes.note(b, OP, &codes)?;
    // libraries do not always report a matrix that contains NaN
    a.tidy(b, kept, tidying::REFUSE_UNKNOWN_DIAGONAL, &notes)?;
    notes.wait(b, OP, rules::not_positive_definite)?;
    Ok(a.array)
}

/// The right-hand sides of a system as matrices; a vector becomes one column.
fn right_sides(b: &Cuda, op: &'static str, x: &RawArray, system: &System) -> Result<Stack> {
    let x = if system.is_vector { x.expanded(1) } else { x.clone() };
    Stack::of(b, op, &x, &system.batches)
}

/// The solution, reshaped to the result's shape.
fn solution(x: Stack, system: &System) -> RawArray {
    // solutions that are vectors are single columns, one after another without gaps
    let shape = system.shape();
    if system.is_vector { x.array.view(shape.clone(), rules::c_strides(&shape), x.array.offset) } else { x.matrices() }
}

/// The LU factorization of square matrices.
struct Factorized {
    factors: Stack,
    pivots: RawArray,
    codes: RawArray,
}

impl Factorized {
    fn of(b: &Cuda, factors: Stack) -> Result<Factorized> {
        let codes = factors.numbers(b, DType::Int32, 1)?;
        let many = factors.batch > 1 && factors.rows < SMALL;
        let pivots = factors.numbers(b, if many { DType::Int32 } else { DType::Int64 }, factors.rows)?;
        match many {
            true => batched::getrf(b, &factors, &pivots, &codes)?,
            false => solver::getrf(b, &factors, &pivots, &codes)?,
        }
        Ok(Factorized { factors, pivots, codes })
    }

    /// Overwrites the right-hand sides with the solutions.
    fn solve(&self, b: &Cuda, x: &Stack) -> Result<()> {
        if self.pivots.dtype == DType::Int32 {
            return batched::getrs(b, &self.factors, &self.pivots, x);
        }
        // the codes of the factorization have not been checked yet, so the codes of this call need their own array
        let codes = x.numbers(b, DType::Int32, 1)?;
        solver::getrs(b, &self.factors, &self.pivots, x, &codes)
    }
}

/// Solutions of square linear systems.
pub fn solve<T: WideFloat>(b: &Cuda, x1: &CudaArray<T>, x2: &CudaArray<T>) -> Result<CudaArray<T>> {
    solve_of(b, &x1.raw, &x2.raw).map(CudaArray::of)
}

fn solve_of(b: &Cuda, x1: &RawArray, x2: &RawArray) -> Result<RawArray> {
    const OP: &str = "solve";
    let system = System::square(OP, &x1.shape, &x2.shape, x1.dtype.size())?;
    if system.shape().contains(&0) {
        return b.uninit_raw(OP, x1.dtype, &system.shape());
    }
    let x = right_sides(b, OP, x2, &system)?;
    let factorized = Factorized::of(b, Stack::of(b, OP, x1, &system.batches)?)?;
    let notes = Notes::new(b, OP)?;
    notes.note(b, OP, &factorized.codes)?;
    factorized.solve(b, &x)?;
    notes.wait(b, OP, rules::singular)?;
    Ok(solution(x, &system))
}

/// Solutions of triangular linear systems.
pub fn solve_triangular<T: WideFloat>(
    b: &Cuda,
    x1: &CudaArray<T>,
    x2: &CudaArray<T>,
    lower: bool,
    unit_diagonal: bool,
) -> Result<CudaArray<T>> {
    triangular(b, &x1.raw, &x2.raw, Triangle { upper: !lower, unit: unit_diagonal }).map(CudaArray::of)
}

fn triangular(b: &Cuda, x1: &RawArray, x2: &RawArray, triangle: Triangle) -> Result<RawArray> {
    const OP: &str = "solve_triangular";
    let system = System::square(OP, &x1.shape, &x2.shape, x1.dtype.size())?;
    if system.shape().contains(&0) {
        return b.uninit_raw(OP, x1.dtype, &system.shape());
    }
    let x = right_sides(b, OP, x2, &system)?;
    let a = Stack::of(b, OP, x1, &system.batches)?;
    let notes = Notes::new(b, OP)?;
    if !triangle.unit {
        a.tidy(b, Kept::All, tidying::REFUSE_ZERO_DIAGONAL, &notes)?;
    }
    batched::trsm(b, &a, triangle, &x)?;
    notes.wait(b, OP, rules::singular)?;
    Ok(solution(x, &system))
}

/// Determinants of square matrices.
pub fn det<T: WideFloat>(b: &Cuda, x: &CudaArray<T>) -> Result<CudaArray<T>> {
    let [value, _, _] = determinants_of(b, "det", &x.raw)?;
    Ok(CudaArray::of(value))
}

/// Signs of determinants, and logarithms of their magnitudes.
pub fn slogdet<T: WideFloat>(b: &Cuda, x: &CudaArray<T>) -> Result<(CudaArray<T>, CudaArray<T::Real>)> {
    let [_, sign, log] = determinants_of(b, "slogdet", &x.raw)?;
    Ok((CudaArray::of(sign), CudaArray::of(log)))
}

fn determinants_of(b: &Cuda, op: &'static str, x: &RawArray) -> Result<[RawArray; 3]> {
    rules::square(op, &x.shape)?;
    let shape = leading(&x.shape);
    if x.size() == 0 {
        let value = b.uninit_raw(op, x.dtype, shape)?;
        let log = b.uninit_raw(op, x.dtype.to_real(), shape)?;
        ones(b, op, &value)?;
        b.set_bytes(op, &log, 0)?;
        return Ok([value.clone(), value, log]);
    }
    let Factorized { factors, pivots, .. } = Factorized::of(b, Stack::of(b, op, x, shape)?)?;
    determinants(b, &factors, &pivots, shape)
}

/// QR factorization: factors with orthonormal columns, and upper triangular factors.
pub fn qr<T: WideFloat>(b: &Cuda, x: &CudaArray<T>, mode: QrMode) -> Result<(CudaArray<T>, CudaArray<T>)> {
    let [q, r] = qr_of(b, &x.raw, mode == QrMode::Complete)?;
    let r = creation::triangle(OpContext::new(b, "qr", T::DTYPE), &r, 0, false)?;
    Ok((CudaArray::of(q), CudaArray::of(r)))
}

/// The two factors; the elements of the second below the diagonal are meaningless.
fn qr_of(b: &Cuda, x: &RawArray, complete: bool) -> Result<[RawArray; 2]> {
    const OP: &str = "qr";
    let [of_q, of_r] = rules::qr(OP, &x.shape, complete, x.dtype.size())?;
    let (m, n) = rules::matrix(OP, &x.shape)?;
    if x.size() == 0 {
        let r = b.uninit_raw(OP, x.dtype, &of_r)?;
        b.set_bytes(OP, &r, 0)?;
        return Ok([identities(b, OP, x.dtype, &of_q)?, r]);
    }
    let (inner, reflections, outer) = (of_r[of_r.len() - 2], m.min(n), leading(&x.shape));
    let a = Stack::of(b, OP, x, outer)?;
    let (tau, codes) = (a.numbers(b, x.dtype, reflections)?, a.numbers(b, DType::Int32, 1)?);
    solver::geqrf(b, &a, &tau, &codes)?;
    let q = Stack::new(b, OP, x.dtype, outer, [m, inner])?;
    // only the columns with reflections are copied; the library fills the other columns
    let columns = outer.len();
    let given = |x: &Stack| x.array.sliced(columns, 0, reflections, 1);
    copy_into(b, OP, &given(&a), &given(&q))?;
    batched::orgqr(b, &q, &tau, reflections, &codes)?;
    Ok([q.matrices(), a.matrices().sliced(columns, 0, inner, 1)])
}
