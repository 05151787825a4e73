//! Calls of cuBLAS and cuSOLVER functions that exist once per dtype: functions for many small matrices, and functions
//! without a generic form.

use super::{
    blas,
    solver::{int, parts, with_handle},
    stack::Stack,
};
use crate::{Cuda, array::RawArray, error::Checked};
use backend_core::{DType, Error, Result};
use cudarc::{
    cublas::{result::CublasError, sys as cublas},
    cusolver::{result::CusolverError, sys as cusolver},
};
use std::ptr::null_mut;

/// Calls one of four functions: `$s` for float32, `$d` for float64, `$c` for complex64, `$z` for complex128. The
/// arguments are cast to the function's parameter types. Returns an error for other dtypes.
macro_rules! of_dtype {
    ($op:expr, $dtype:expr, [$s:path, $d:path, $c:path, $z:path]($($argument:expr),* $(,)?)) => {
        match $dtype {
            DType::Float32 => $s($($argument as _),*).result(),
            DType::Float64 => $d($($argument as _),*).result(),
            DType::Complex64 => $c($($argument as _),*).result(),
            DType::Complex128 => $z($($argument as _),*).result(),
            other => return Err(Error::dtype($op, other)),
        }
    };
}

/// Address of the elements of `x` that belong to matrix `i`. There are `of_each` elements per matrix.
fn part(x: &RawArray, i: usize, of_each: usize) -> u64 {
    x.pointer() + (i * of_each * x.dtype.size()) as u64
}

/// Overwrites the triangle `fill` of each matrix of `a` with the matrix's Cholesky factor.
pub(super) fn potrf(b: &Cuda, a: &Stack, fill: cusolver::cublasFillMode_t, codes: &RawArray) -> Result<()> {
    use cusolver::*;
    let (op, n, matrices) = (a.op, int(a.op, a.rows)?, a.addresses(b)?);
    with_handle(b, op, |handle| {
        parts(a.batch, 1).try_for_each(|(first, batch)| {
            let (a_at, code) = (part(&matrices, first, 1), part(codes, first, 1));
            // SAFETY: the library is loaded, the handle is alive, and the functions match the dtype. The matrices are n
            // by n, with one error code each.
            let called: std::result::Result<(), CusolverError> = unsafe {
                of_dtype!(
                    op,
                    a.array.dtype,
                    [
                        cusolverDnSpotrfBatched,
                        cusolverDnDpotrfBatched,
                        cusolverDnCpotrfBatched,
                        cusolverDnZpotrfBatched
                    ](handle.raw, fill, n, a_at, n, code, batch as i32)
                )
            };
            called.checked(op)
        })
    })
}

/// Overwrites square matrices with their LU factors; `pivots` are 32-bit integers.
pub(super) fn getrf(b: &Cuda, a: &Stack, pivots: &RawArray, codes: &RawArray) -> Result<()> {
    use cublas::*;
    let (op, n, matrices) = (a.op, int(a.op, a.rows)?, a.addresses(b)?);
    blas::with_handle(b, op, |handle| {
        parts(a.batch, 1).try_for_each(|(first, batch)| {
            let (a_at, pivot) = (part(&matrices, first, 1), part(pivots, first, a.rows));
            let code = part(codes, first, 1);
            // SAFETY: the library is loaded, the handle is alive, and the functions match the dtype. The matrices are n
            // by n, with n pivots and one error code each.
            let called: std::result::Result<(), CublasError> = unsafe {
                of_dtype!(
                    op,
                    a.array.dtype,
                    [cublasSgetrfBatched, cublasDgetrfBatched, cublasCgetrfBatched, cublasZgetrfBatched](
                        handle,
                        n,
                        a_at,
                        n,
                        pivot,
                        code,
                        batch as i32
                    )
                )
            };
            called.checked(op)
        })
    })
}

/// Overwrites the right-hand sides `x` with the solutions of the systems; [`getrf`] has factorized the matrices `a`.
pub(super) fn getrs(b: &Cuda, a: &Stack, pivots: &RawArray, x: &Stack) -> Result<()> {
    use cublas::*;
    let (op, n, k) = (a.op, int(a.op, a.rows)?, int(a.op, x.columns)?);
    let (matrices, sides) = (a.addresses(b)?, x.addresses(b)?);
    blas::with_handle(b, op, |handle| {
        parts(a.batch, 1).try_for_each(|(first, batch)| {
            let (a_at, x_at) = (part(&matrices, first, 1), part(&sides, first, 1));
            let (pivot, as_is, mut wrong) = (part(pivots, first, a.rows), cublasOperation_t::CUBLAS_OP_N, 0_i32);
            // SAFETY: the library is loaded, the handle is alive, and the functions match the dtype. The matrices have
            // n rows and n pivots each. The second-last argument is a pointer to host memory, which the library writes
            // before the call returns.
            let called: std::result::Result<(), CublasError> = unsafe {
                of_dtype!(
                    op,
                    a.array.dtype,
                    [cublasSgetrsBatched, cublasDgetrsBatched, cublasCgetrsBatched, cublasZgetrsBatched](
                        handle,
                        as_is,
                        n,
                        k,
                        a_at,
                        n,
                        pivot,
                        x_at,
                        n,
                        &raw mut wrong,
                        batch as i32
                    )
                )
            };
            called.checked(op)
        })
    })
}

/// The triangle of column-major matrices that cuBLAS reads.
#[derive(Clone, Copy)]
pub(super) struct Triangle {
    pub(super) upper: bool,
    /// Whether the diagonal is assumed to be 1, so that the stored diagonal is ignored.
    pub(super) unit: bool,
}

/// Minimum number of rows of matrices that are processed one by one, because each of them keeps the device busy.
/// Smaller matrices are processed in batches.
pub(super) const SMALL: usize = 512;

/// Overwrites the right-hand sides `x` with the solutions of triangular systems with the matrices `a`.
pub(super) fn trsm(b: &Cuda, a: &Stack, triangle: Triangle, x: &Stack) -> Result<()> {
    use cublas::*;
    let (op, dtype) = (a.op, a.array.dtype);
    let side = cublasSideMode_t::CUBLAS_SIDE_LEFT;
    let fill = match triangle.upper {
        true => cublasFillMode_t::CUBLAS_FILL_MODE_UPPER,
        false => cublasFillMode_t::CUBLAS_FILL_MODE_LOWER,
    };
    let diagonal = match triangle.unit {
        true => cublasDiagType_t::CUBLAS_DIAG_UNIT,
        false => cublasDiagType_t::CUBLAS_DIAG_NON_UNIT,
    };
    let as_is = cublasOperation_t::CUBLAS_OP_N;
    // the number 1 in both precisions, as real and imaginary part; real functions read only the first number
    let (one32, one64) = ([1.0_f32, 0.0], [1.0_f64, 0.0]);
    let one = match dtype {
        DType::Float32 | DType::Complex64 => one32.as_ptr() as usize,
        _ => one64.as_ptr() as usize,
    };
    if a.batch == 1 || a.rows >= SMALL {
        let (m, n) = (a.rows as i64, x.columns as i64);
        return blas::with_handle(b, op, |handle| {
            (0..a.batch).try_for_each(|i| {
                let (a_at, x_at) = (a.at(i), x.at(i));
                // SAFETY: the library is loaded, the handle is alive, and the functions match the dtype. The matrices
                // have m rows.
                let called: std::result::Result<(), CublasError> = unsafe {
                    of_dtype!(
                        op,
                        dtype,
                        [cublasStrsm_v2_64, cublasDtrsm_v2_64, cublasCtrsm_v2_64, cublasZtrsm_v2_64](
                            handle,
                            side,
                            fill,
                            as_is,
                            diagonal,
                            m,
                            n,
                            one,
                            a_at,
                            a.leading(),
                            x_at,
                            x.leading()
                        )
                    )
                };
                called.checked(op)
            })
        });
    }
    let (m, n) = (int(op, a.rows)?, int(op, x.columns)?);
    let (matrices, sides) = (a.addresses(b)?, x.addresses(b)?);
    blas::with_handle(b, op, |handle| {
        parts(a.batch, 1).try_for_each(|(first, batch)| {
            let (a_at, x_at) = (part(&matrices, first, 1), part(&sides, first, 1));
            // SAFETY: the library is loaded, the handle is alive, and the functions match the dtype. The matrices have
            // m rows; `a_at` and `x_at` point to arrays of their addresses.
            let called: std::result::Result<(), CublasError> = unsafe {
                of_dtype!(
                    op,
                    dtype,
                    [cublasStrsmBatched, cublasDtrsmBatched, cublasCtrsmBatched, cublasZtrsmBatched](
                        handle,
                        side,
                        fill,
                        as_is,
                        diagonal,
                        m,
                        n,
                        one,
                        a_at,
                        m,
                        x_at,
                        m,
                        batch as i32
                    )
                )
            };
            called.checked(op)
        })
    })
}

/// Overwrites each matrix, whose first `k` columns hold Householder reflections, with orthonormal columns.
pub(super) fn orgqr(b: &Cuda, q: &Stack, tau: &RawArray, k: usize, codes: &RawArray) -> Result<()> {
    use cusolver::*;
    let op = q.op;
    let (m, n, reflections) = (int(op, q.rows)?, int(op, q.columns)?, int(op, k)?);
    with_handle(b, op, |handle| {
        let mut size = 0_i32;
        // SAFETY: the library is loaded, the handle is alive, and the functions match the dtype. The matrices are m by
        // n, with k scalars and one error code each; the work area has the size that the library requested.
        unsafe {
            let asked: std::result::Result<(), CusolverError> = of_dtype!(
                op,
                q.array.dtype,
                [
                    cusolverDnSorgqr_bufferSize,
                    cusolverDnDorgqr_bufferSize,
                    cusolverDnCungqr_bufferSize,
                    cusolverDnZungqr_bufferSize
                ](handle.raw, m, n, reflections, q.at(0), m, part(tau, 0, 0), &raw mut size)
            );
            asked.checked(op)?;
            let work = b.scratch(op, size.max(0) as usize, q.array.dtype.size())?;
            (0..q.batch).try_for_each(|i| {
                let (q_at, tau, code) = (q.at(i), part(tau, i, k), part(codes, i, 1));
                let called: std::result::Result<(), CusolverError> = of_dtype!(
                    op,
                    q.array.dtype,
                    [cusolverDnSorgqr, cusolverDnDorgqr, cusolverDnCungqr, cusolverDnZungqr](
                        handle.raw,
                        m,
                        n,
                        reflections,
                        q_at,
                        m,
                        tau,
                        work.pointer(),
                        size,
                        code
                    )
                );
                called.checked(op)
            })
        }
    })
}

/// Maximum number of rows and of columns of the matrices of [`gesvdj`].
pub(super) const JACOBI: usize = 32;

/// Computes the singular values of small matrices by Jacobi's method, and optionally the singular vectors, as the
/// columns of two square matrices for each matrix. Destroys the input matrices.
pub(super) fn gesvdj(b: &Cuda, a: &Stack, s: &RawArray, vectors: Option<[&Stack; 2]>, codes: &RawArray) -> Result<()> {
    use cusolver::*;
    let (op, m, n) = (a.op, int(a.op, a.rows)?, int(a.op, a.columns)?);
    let values = a.rows.min(a.columns);
    let mode = match vectors {
        Some(_) => cusolverEigMode_t::CUSOLVER_EIG_MODE_VECTOR,
        None => cusolverEigMode_t::CUSOLVER_EIG_MODE_NOVECTOR,
    };
    let of_vectors = |i: usize| vectors.map_or([null_mut::<u8>() as u64; 2], |both| both.map(|v| v.at(i)));
    with_handle(b, op, |handle| {
        let settings = handle.jacobi;
        parts(a.batch, (a.rows * a.rows).max(a.columns * a.columns)).try_for_each(|(first, batch)| {
            let (batch, mut size) = (batch as i32, 0_i32);
            let (a_at, s_at, [u, v]) = (a.at(first), part(s, first, values), of_vectors(first));
            let code = part(codes, first, 1);
            // SAFETY: the library is loaded, the handle is alive, and the functions match the dtype. The matrices are m
            // by n, their vectors are square matrices, and each has min(m, n) values and one error code; the work area
            // has the size that the library requested.
            unsafe {
                let asked: std::result::Result<(), CusolverError> = of_dtype!(
                    op,
                    a.array.dtype,
                    [
                        cusolverDnSgesvdjBatched_bufferSize,
                        cusolverDnDgesvdjBatched_bufferSize,
                        cusolverDnCgesvdjBatched_bufferSize,
                        cusolverDnZgesvdjBatched_bufferSize
                    ](
                        handle.raw, mode, m, n, a_at, m, s_at, u, m, v, n, &raw mut size, settings, batch
                    )
                );
                asked.checked(op)?;
                let work = b.scratch(op, size.max(0) as usize, a.array.dtype.size())?;
                let called: std::result::Result<(), CusolverError> = of_dtype!(
                    op,
                    a.array.dtype,
                    [
                        cusolverDnSgesvdjBatched,
                        cusolverDnDgesvdjBatched,
                        cusolverDnCgesvdjBatched,
                        cusolverDnZgesvdjBatched
                    ](
                        handle.raw, mode, m, n, a_at, m, s_at, u, m, v, n, work.pointer(), size, code, settings, batch
                    )
                );
                called.checked(op)
            }
        })
    })
}
