//! Cholesky and QR factorizations, linear systems and determinants, with cuSOLVER and cuBLAS.

use super::{
    batched::{self, SMALL, Triangle},
    solver,
    stack::{Kept, Notes, Stack, determinants, identities, ones, tidying},
};
use crate::{Cuda, OpContext, array::RawArray, copy::copy_into, creation};
use backend_core::{
    DType, QrMode, Result,
    rules::{self, System},
};
use cudarc::cusolver::sys::cublasFillMode_t as Fill;

/// The shape without the last two axes, which are the rows and columns of the matrices.
pub(super) fn leading(shape: &[usize]) -> &[usize] {
    &shape[..shape.len() - 2]
}

/// Computes the Cholesky factors of Hermitian matrices. Reads only one triangle of each matrix: the upper triangle if
/// `upper` is true, else the lower triangle.
pub fn cholesky(on: OpContext<'_>, x: &RawArray, upper: bool) -> Result<RawArray> {
    let (b, op) = (on.backend, on.op);
    rules::square(op, &x.shape)?;
    if x.size() == 0 {
        return b.uninit_raw(op, x.dtype, &x.shape);
    }
    // the Cholesky factor of the transpose is the transpose of the factor, so the matrices stay in row-major order. The
    // library reads their transposes, so the lower triangle of `x` is the upper triangle for the library
    let a = Stack::of_transposes(b, op, x, leading(&x.shape))?;
    let (kept, fill) = match upper {
        true => (Kept::Lower, Fill::CUBLAS_FILL_MODE_LOWER),
        false => (Kept::Upper, Fill::CUBLAS_FILL_MODE_UPPER),
    };
    let (notes, codes) = (Notes::new(b, op)?, a.numbers(b, DType::Int32, 1)?);
    if x.dtype != x.dtype.to_real() {
        a.tidy(b, kept, tidying::REAL_DIAGONAL, &notes)?;
    }
    match a.batch > 1 && a.rows < SMALL {
        true => batched::potrf(b, &a, fill, &codes)?,
        false => solver::potrf(b, &a, fill, &codes)?,
    }
    notes.note(b, op, &codes)?;
    // libraries do not always report a matrix that contains NaN
    a.tidy(b, kept, tidying::REFUSE_UNKNOWN_DIAGONAL, &notes)?;
    notes.wait(b, op, rules::not_positive_definite)?;
    Ok(a.array)
}

/// Copies the right-hand sides of a system as matrices; a vector becomes a matrix of one column.
fn right_sides(b: &Cuda, op: &'static str, x: &RawArray, system: &System) -> Result<Stack> {
    let x = if system.is_vector { x.expanded(1) } else { x.clone() };
    Stack::of(b, op, &x, &system.batches)
}

/// Reshapes the solution matrices `x` to the shape of the op's result.
fn solution(x: Stack, system: &System) -> RawArray {
    // solutions that are vectors are matrices of one column, consecutive in memory
    let shape = system.shape();
    if system.is_vector { x.array.view(shape.clone(), rules::c_strides(&shape), x.array.offset) } else { x.matrices() }
}

/// The LU factorizations of square matrices: factors, pivots, and one error code of the library per matrix.
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

    /// Overwrites the right-hand sides `x` with the solutions of the systems.
    fn solve(&self, b: &Cuda, x: &Stack) -> Result<()> {
        if self.pivots.dtype == DType::Int32 {
            return batched::getrs(b, &self.factors, &self.pivots, x);
        }
        // the codes of the factorization may not have been read yet, so this call writes its codes to another array
        let codes = x.numbers(b, DType::Int32, 1)?;
        solver::getrs(b, &self.factors, &self.pivots, x, &codes)
    }
}

/// Solutions of square linear systems.
pub fn solve(on: OpContext<'_>, x1: &RawArray, x2: &RawArray) -> Result<RawArray> {
    let (b, op) = (on.backend, on.op);
    on.require(&[x1, x2])?;
    let system = System::square(op, &x1.shape, &x2.shape, x1.dtype.size())?;
    if system.shape().contains(&0) {
        return b.uninit_raw(op, x1.dtype, &system.shape());
    }
    let x = right_sides(b, op, x2, &system)?;
    let factorized = Factorized::of(b, Stack::of(b, op, x1, &system.batches)?)?;
    let notes = Notes::new(b, op)?;
    notes.note(b, op, &factorized.codes)?;
    factorized.solve(b, &x)?;
    notes.wait(b, op, rules::singular)?;
    Ok(solution(x, &system))
}

/// Solutions of triangular linear systems.
pub fn solve_triangular(
    on: OpContext<'_>,
    x1: &RawArray,
    x2: &RawArray,
    lower: bool,
    unit_diagonal: bool,
) -> Result<RawArray> {
    let (b, op) = (on.backend, on.op);
    on.require(&[x1, x2])?;
    let system = System::square(op, &x1.shape, &x2.shape, x1.dtype.size())?;
    if system.shape().contains(&0) {
        return b.uninit_raw(op, x1.dtype, &system.shape());
    }
    let triangle = Triangle { upper: !lower, unit: unit_diagonal };
    let x = right_sides(b, op, x2, &system)?;
    let a = Stack::of(b, op, x1, &system.batches)?;
    let notes = Notes::new(b, op)?;
    if !triangle.unit {
        a.tidy(b, Kept::All, tidying::REFUSE_ZERO_DIAGONAL, &notes)?;
    }
    batched::trsm(b, &a, triangle, &x)?;
    notes.wait(b, op, rules::singular)?;
    Ok(solution(x, &system))
}

/// Determinants of square matrices.
pub fn det(on: OpContext<'_>, x: &RawArray) -> Result<RawArray> {
    let [value, _, _] = determinants_of(on.backend, on.op, x)?;
    Ok(value)
}

/// Signs of determinants, and logarithms of their magnitudes.
pub fn slogdet(on: OpContext<'_>, x: &RawArray) -> Result<[RawArray; 2]> {
    let [_, sign, log] = determinants_of(on.backend, on.op, x)?;
    Ok([sign, log])
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

/// Computes the QR factorizations of matrices: factors with orthonormal columns, and upper triangular factors.
pub fn qr(on: OpContext<'_>, x: &RawArray, mode: QrMode) -> Result<[RawArray; 2]> {
    let (b, op) = (on.backend, on.op);
    let [q, r] = qr_of(b, op, x, mode == QrMode::Complete)?;
    Ok([q, creation::triangle(on, &r, 0, false)?])
}

/// Computes the two factors Q and R. The elements below the diagonal of R are meaningless.
fn qr_of(b: &Cuda, op: &'static str, x: &RawArray, complete: bool) -> Result<[RawArray; 2]> {
    let [of_q, of_r] = rules::qr(op, &x.shape, complete, x.dtype.size())?;
    let (m, n) = rules::matrix(op, &x.shape)?;
    if x.size() == 0 {
        let r = b.uninit_raw(op, x.dtype, &of_r)?;
        b.set_bytes(op, &r, 0)?;
        return Ok([identities(b, op, x.dtype, &of_q)?, r]);
    }
    let (inner, reflections, outer) = (of_r[of_r.len() - 2], m.min(n), leading(&x.shape));
    let a = Stack::of(b, op, x, outer)?;
    let (tau, codes) = (a.numbers(b, x.dtype, reflections)?, a.numbers(b, DType::Int32, 1)?);
    solver::geqrf(b, &a, &tau, &codes)?;
    let q = Stack::new(b, op, x.dtype, outer, [m, inner])?;
    // only the columns with Householder reflections are copied; the library fills the other columns
    let columns = outer.len();
    let given = |x: &Stack| x.array.sliced(columns, 0, reflections, 1);
    copy_into(b, op, &given(&a), &given(&q))?;
    batched::orgqr(b, &q, &tau, reflections, &codes)?;
    Ok([q.matrices(), a.matrices().sliced(columns, 0, inner, 1)])
}
