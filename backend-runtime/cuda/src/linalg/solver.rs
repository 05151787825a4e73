//! Calls of cuSOLVER for one matrix at a time, or for a whole batch if cuSOLVER has a batched function. The calls
//! allocate the work areas that the library requests, and write one error code per matrix.

use super::stack::Stack;
use crate::{Cuda, array::RawArray, device::Device, error::Checked, library::Library};
use backend_core::{DType, Error, Result};
use cudarc::cusolver::sys;
use std::{
    ffi::c_void,
    ptr::{null, null_mut},
    sync::{Arc, Mutex, PoisonError},
};
use sys::{
    cublasFillMode_t as Fill, cublasOperation_t as Operation, cudaDataType as DataType, cusolverEigMode_t as Mode,
    cusolverStatus_t as Status,
};

/// The cuSOLVER handle of a device.
pub(super) struct Handle {
    pub(super) raw: sys::cusolverDnHandle_t,
    params: sys::cusolverDnParams_t,
    /// Settings of Jacobi's method for singular values.
    pub(super) jacobi: sys::gesvdjInfo_t,
    device: Arc<Device>,
}

// SAFETY: any thread may use the handles of cuSOLVER; the mutex around them prevents concurrent calls.
unsafe impl Send for Handle {}

/// The cuSOLVER handles created so far, one per device.
static HANDLES: Mutex<Vec<Handle>> = Mutex::new(Vec::new());

/// Calls `f` with the cuSOLVER handle of the device of `b`, and creates the handle on the first call.
pub(super) fn with_handle<V>(b: &Cuda, op: &'static str, f: impl FnOnce(&Handle) -> Result<V>) -> Result<V> {
    Library::Cusolver.load()?;
    let mut handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    b.device.bind(op)?;
    let call = |handle: &Handle| f(handle).and_then(|value| b.device.after_put(op).map(|()| value));
    if let Some(handle) = handles.iter().find(|handle| Arc::ptr_eq(&handle.device, &b.device)) {
        return call(handle);
    }
    let mut new = Handle { raw: null_mut(), params: null_mut(), jacobi: null_mut(), device: b.device.clone() };
    // SAFETY: the library is loaded and has these functions; the device is current; the stream is alive.
    unsafe {
        sys::cusolverDnCreate(&mut new.raw).result().checked(op)?;
        let ready = sys::cusolverDnSetStream(new.raw, b.device.stream().cast()).result();
        let ready = ready.and_then(|()| sys::cusolverDnCreateParams(&mut new.params).result());
        let ready = ready.and_then(|()| sys::cusolverDnCreateGesvdjInfo(&mut new.jacobi).result());
        if ready.is_err() {
            if !new.params.is_null() {
                sys::cusolverDnDestroyParams(new.params);
            }
            sys::cusolverDnDestroy(new.raw);
        }
        ready.checked(op)?;
    }
    handles.push(new);
    call(&handles[handles.len() - 1])
}

/// Destroys the handle of a device, with its settings.
pub(super) fn forget_handle(device: &Arc<Device>, op: &'static str) -> Result<()> {
    let mut handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(place) = handles.iter().position(|handle| Arc::ptr_eq(&handle.device, device)) else {
        return Ok(());
    };
    // while the lock is held, no other thread uses the handle
    device.synchronize(op)?;
    let handle = handles.remove(place);
    // SAFETY: the handles were removed from the list, the device is current, and their work has finished.
    let ended = unsafe {
        [
            sys::cusolverDnDestroyGesvdjInfo(handle.jacobi),
            sys::cusolverDnDestroyParams(handle.params),
            sys::cusolverDnDestroy(handle.raw),
        ]
    };
    ended.into_iter().try_for_each(|status| status.result()).checked(op)
}

/// cuSOLVER's name for a dtype.
fn data_type(op: &'static str, dtype: DType) -> Result<DataType> {
    match dtype {
        DType::Float32 => Ok(DataType::CUDA_R_32F),
        DType::Float64 => Ok(DataType::CUDA_R_64F),
        DType::Complex64 => Ok(DataType::CUDA_C_32F),
        DType::Complex128 => Ok(DataType::CUDA_C_64F),
        other => Err(Error::dtype(op, other)),
    }
}

/// Converts a length for functions that take 32-bit lengths. It is an error if the length does not fit.
pub(super) fn int(op: &'static str, n: usize) -> Result<i32> {
    let large =
        || Error::library(op, "cuda", format!("the library takes at most {} rows or columns, not {n}", i32::MAX));
    i32::try_from(n).map_err(|_| large())
}

/// The work areas of a call: one in device memory, and one in host memory.
struct Room {
    device: RawArray,
    host: Vec<u8>,
}

impl Room {
    /// Allocates work areas of the sizes that `query` sets.
    fn of(b: &Cuda, op: &'static str, query: impl FnOnce(&mut usize, &mut usize) -> Status) -> Result<Room> {
        let (mut device, mut bytes) = (0, 0);
        query(&mut device, &mut bytes).result().checked(op)?;
        let mut host = Vec::new();
        host.try_reserve_exact(bytes).map_err(|_| Error::memory(op, bytes))?;
        host.resize(bytes, 0);
        Ok(Room { device: b.scratch(op, device, 1)?, host })
    }

    /// The work areas as arguments of a call: address and size in bytes on the device, then on the host.
    fn arguments(&mut self) -> (*mut c_void, usize, *mut c_void, usize) {
        let host = if self.host.is_empty() { null_mut() } else { self.host.as_mut_ptr().cast() };
        (self.device.pointer() as _, self.device.size(), host, self.host.len())
    }
}

/// Address of the elements of `x` that belong to matrix `i`. There are `of_each` elements per matrix.
fn part(x: &RawArray, i: usize, of_each: usize) -> *mut c_void {
    (x.pointer() + (i * of_each * x.dtype.size()) as u64) as _
}

/// Overwrites the triangle `fill` of each matrix of `a` with the matrix's Cholesky factor.
pub(super) fn potrf(b: &Cuda, a: &Stack, fill: Fill, codes: &RawArray) -> Result<()> {
    let (op, n, lda) = (a.op, a.rows as i64, a.leading());
    let of = data_type(op, a.array.dtype)?;
    with_handle(b, op, |handle| {
        // SAFETY: the library is loaded, and the handle is alive. The matrices are n by n, with one error code each.
        unsafe {
            let at = |i| a.at(i) as *mut c_void;
            let mut room = Room::of(b, op, |device, host| {
                sys::cusolverDnXpotrf_bufferSize(handle.raw, handle.params, fill, n, of, at(0), lda, of, device, host)
            })?;
            let (work, bytes, host, host_bytes) = room.arguments();
            (0..a.batch).try_for_each(|i| {
                let code = part(codes, i, 1).cast();
                let (raw, params) = (handle.raw, handle.params);
                sys::cusolverDnXpotrf(raw, params, fill, n, of, at(i), lda, of, work, bytes, host, host_bytes, code)
                    .result()
                    .checked(op)
            })
        }
    })
}

/// Overwrites square matrices with their LU factors; `pivots` are 64-bit integers.
pub(super) fn getrf(b: &Cuda, a: &Stack, pivots: &RawArray, codes: &RawArray) -> Result<()> {
    let (op, n, lda) = (a.op, a.rows as i64, a.leading());
    let of = data_type(op, a.array.dtype)?;
    with_handle(b, op, |handle| {
        // SAFETY: the library is loaded, and the handle is alive. The matrices are n by n, with n pivots and one error
        // code each.
        unsafe {
            let at = |i| a.at(i) as *mut c_void;
            let mut room = Room::of(b, op, |device, host| {
                sys::cusolverDnXgetrf_bufferSize(handle.raw, handle.params, n, n, of, at(0), lda, of, device, host)
            })?;
            let (work, bytes, host, host_bytes) = room.arguments();
            (0..a.batch).try_for_each(|i| {
                let (pivot, code) = (part(pivots, i, a.rows).cast(), part(codes, i, 1).cast());
                let (raw, params) = (handle.raw, handle.params);
                sys::cusolverDnXgetrf(raw, params, n, n, of, at(i), lda, pivot, of, work, bytes, host, host_bytes, code)
                    .result()
                    .checked(op)
            })
        }
    })
}

/// Overwrites the right-hand sides `x` with the solutions of the systems; [`getrf`] has factorized the matrices `a`.
pub(super) fn getrs(b: &Cuda, a: &Stack, pivots: &RawArray, x: &Stack, codes: &RawArray) -> Result<()> {
    let (op, n, k) = (a.op, a.rows as i64, x.columns as i64);
    let of = data_type(op, a.array.dtype)?;
    with_handle(b, op, |handle| {
        (0..a.batch).try_for_each(|i| {
            let (a_at, x_at) = (a.at(i) as *const c_void, x.at(i) as *mut c_void);
            let (pivot, code) = (part(pivots, i, a.rows).cast_const().cast(), part(codes, i, 1).cast());
            let (raw, params, as_is) = (handle.raw, handle.params, Operation::CUBLAS_OP_N);
            let (lda, ldx) = (a.leading(), x.leading());
            // SAFETY: the library is loaded, and the handle is alive. The matrices have n rows, with n pivots and one
            // error code each.
            unsafe { sys::cusolverDnXgetrs(raw, params, as_is, n, k, of, a_at, lda, pivot, of, x_at, ldx, code) }
                .result()
                .checked(op)
        })
    })
}

/// Overwrites matrices with their QR factorization: the triangular factor on and above the diagonal, and Householder
/// reflections below it. `tau` gets one scalar per reflection.
pub(super) fn geqrf(b: &Cuda, a: &Stack, tau: &RawArray, codes: &RawArray) -> Result<()> {
    let (op, m, n, lda) = (a.op, a.rows as i64, a.columns as i64, a.leading());
    let of = data_type(op, a.array.dtype)?;
    with_handle(b, op, |handle| {
        let (raw, params) = (handle.raw, handle.params);
        // SAFETY: the library is loaded, and the handle is alive. The matrices are m by n, with min(m, n) scalars and
        // one error code each.
        unsafe {
            let at = |i| a.at(i) as *mut c_void;
            let mut room = Room::of(b, op, |device, host| {
                let tau = part(tau, 0, 0);
                sys::cusolverDnXgeqrf_bufferSize(raw, params, m, n, of, at(0), lda, of, tau, of, device, host)
            })?;
            let (work, bytes, host, host_bytes) = room.arguments();
            (0..a.batch).try_for_each(|i| {
                let (tau, code) = (part(tau, i, a.rows.min(a.columns)), part(codes, i, 1).cast());
                sys::cusolverDnXgeqrf(
                    raw,
                    params,
                    m,
                    n,
                    of,
                    at(i),
                    lda,
                    of,
                    tau,
                    of,
                    work,
                    bytes,
                    host,
                    host_bytes,
                    code,
                )
                .result()
                .checked(op)
            })
        }
    })
}

/// The singular vectors that [`gesvd`] computes. The discriminants are the letters that cuSOLVER expects.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Vectors {
    None = b'N' as isize,
    Thin = b'S' as isize,
    Full = b'A' as isize,
}

/// Computes the singular values of matrices with at least as many rows as columns, and optionally the singular vectors:
/// the columns of `u` and the rows of `vt`. Destroys the input matrices.
pub(super) fn gesvd(
    b: &Cuda,
    a: &Stack,
    s: &RawArray,
    vectors: Option<[&Stack; 2]>,
    which: Vectors,
    codes: &RawArray,
) -> Result<()> {
    let (op, m, n, lda) = (a.op, a.rows as i64, a.columns as i64, a.leading());
    let (of, of_s) = (data_type(op, a.array.dtype)?, data_type(op, s.dtype)?);
    let job = which as isize as std::ffi::c_schar;
    let of_vectors = |i: usize| vectors.map_or([null_mut(); 2], |both| both.map(|v| v.at(i) as *mut c_void));
    with_handle(b, op, |handle| {
        let (raw, params) = (handle.raw, handle.params);
        // SAFETY: the library is loaded, and the handle is alive. The matrices are m by n, the vectors are square
        // matrices except thin `u`, which is m by n; each matrix has n values and one error code.
        unsafe {
            let at = |i| a.at(i) as *mut c_void;
            let mut room = Room::of(b, op, |device, host| {
                let ([u, vt], s) = (of_vectors(0), part(s, 0, 0));
                sys::cusolverDnXgesvd_bufferSize(
                    raw,
                    params,
                    job,
                    job,
                    m,
                    n,
                    of,
                    at(0),
                    lda,
                    of_s,
                    s,
                    of,
                    u,
                    m,
                    of,
                    vt,
                    n,
                    of,
                    device,
                    host,
                )
            })?;
            let (work, bytes, host, host_bytes) = room.arguments();
            (0..a.batch).try_for_each(|i| {
                let ([u, vt], s) = (of_vectors(i), part(s, i, a.columns));
                let code = part(codes, i, 1).cast();
                sys::cusolverDnXgesvd(
                    raw,
                    params,
                    job,
                    job,
                    m,
                    n,
                    of,
                    at(i),
                    lda,
                    of_s,
                    s,
                    of,
                    u,
                    m,
                    of,
                    vt,
                    n,
                    of,
                    work,
                    bytes,
                    host,
                    host_bytes,
                    code,
                )
                .result()
                .checked(op)
            })
        }
    })
}

fn mode(vectors: bool) -> Mode {
    if vectors { Mode::CUSOLVER_EIG_MODE_VECTOR } else { Mode::CUSOLVER_EIG_MODE_NOVECTOR }
}

/// Maximum number of matrices in one batched call. Some functions of cuSOLVER refuse more than about 32000 matrices,
/// which its manual does not mention.
const MAX_BATCH: usize = 1 << 14;

/// Splits a batch of matrices into ranges that one call can process. Yields the index of the first matrix and the
/// number of matrices of each range.
pub(super) fn parts(batch: usize, elements_of_each: usize) -> impl Iterator<Item = (usize, usize)> {
    // some functions count the elements of all matrices of a call in 32 bits
    let most = ((1 << 30) / elements_of_each.max(1)).clamp(1, MAX_BATCH);
    (0..batch).step_by(most).map(move |first| (first, most.min(batch - first)))
}

/// Computes the eigenvalues of Hermitian matrices. Only the lower triangle of each matrix is read. If `vectors` is
/// true, the eigenvectors overwrite the matrices.
pub(super) fn syev(b: &Cuda, a: &Stack, w: &RawArray, vectors: bool, codes: &RawArray) -> Result<()> {
    let (op, n, lda) = (a.op, a.rows as i64, a.leading());
    let (of, of_w) = (data_type(op, a.array.dtype)?, data_type(op, w.dtype)?);
    let (mode, fill) = (mode(vectors), Fill::CUBLAS_FILL_MODE_LOWER);
    let (at, values) = (|i| a.at(i) as *mut c_void, |i| part(w, i, a.rows));
    with_handle(b, op, |handle| {
        let (raw, params) = (handle.raw, handle.params);
        if a.batch == 1 {
            // SAFETY: the library is loaded, and the handle is alive. The matrix is n by n, with n values and one error
            // code.
            return unsafe {
                let mut room = Room::of(b, op, |device, host| {
                    sys::cusolverDnXsyevd_bufferSize(
                        raw,
                        params,
                        mode,
                        fill,
                        n,
                        of,
                        at(0),
                        lda,
                        of_w,
                        values(0),
                        of,
                        device,
                        host,
                    )
                })?;
                let (work, bytes, host, host_bytes) = room.arguments();
                let code = part(codes, 0, 1).cast();
                sys::cusolverDnXsyevd(
                    raw,
                    params,
                    mode,
                    fill,
                    n,
                    of,
                    at(0),
                    lda,
                    of_w,
                    values(0),
                    of,
                    work,
                    bytes,
                    host,
                    host_bytes,
                    code,
                )
                .result()
                .checked(op)
            };
        }
        parts(a.batch, a.rows * a.columns).try_for_each(|(first, batch)| {
            let batch = batch as i64;
            // SAFETY: the library is loaded, and the handle is alive. This part has `batch` matrices, which are n by n,
            // with n values and one error code each.
            unsafe {
                let mut room = Room::of(b, op, |device, host| {
                    sys::cusolverDnXsyevBatched_bufferSize(
                        raw,
                        params,
                        mode,
                        fill,
                        n,
                        of,
                        at(first),
                        lda,
                        of_w,
                        values(first),
                        of,
                        device,
                        host,
                        batch,
                    )
                })?;
                let (work, bytes, host, host_bytes) = room.arguments();
                let code = part(codes, first, 1).cast();
                sys::cusolverDnXsyevBatched(
                    raw,
                    params,
                    mode,
                    fill,
                    n,
                    of,
                    at(first),
                    lda,
                    of_w,
                    values(first),
                    of,
                    work,
                    bytes,
                    host,
                    host_bytes,
                    code,
                    batch,
                )
                .result()
                .checked(op)
            }
        })
    })
}

/// Computes the complex eigenvalues of square matrices, and optionally the eigenvectors. If the matrices are real, a
/// conjugate pair of eigenvectors occupies two real columns: the real parts and the imaginary parts. Destroys the input
/// matrices.
pub(super) fn geev(b: &Cuda, a: &Stack, w: &RawArray, vectors: Option<&Stack>, codes: &RawArray) -> Result<()> {
    let (op, n, lda) = (a.op, a.rows as i64, a.leading());
    let (of, of_w) = (data_type(op, a.array.dtype)?, data_type(op, w.dtype)?);
    let (left, right) = (mode(false), mode(vectors.is_some()));
    let of_vectors = |i: usize| vectors.map_or(null_mut(), |v| v.at(i) as *mut c_void);
    with_handle(b, op, |handle| {
        let (raw, params) = (handle.raw, handle.params);
        // SAFETY: the library is loaded, and the handle is alive. The matrices, and the matrices of eigenvectors, have
        // n x n elements. For each matrix, `w` has room for n eigenvalues, and `codes` for one error code.
        unsafe {
            let at = |i| a.at(i) as *mut c_void;
            let mut room = Room::of(b, op, |device, host| {
                let (w, v) = (part(w, 0, 0), of_vectors(0));
                sys::cusolverDnXgeev_bufferSize(
                    raw,
                    params,
                    left,
                    right,
                    n,
                    of,
                    at(0),
                    lda,
                    of_w,
                    w,
                    of,
                    null(),
                    n,
                    of,
                    v,
                    n,
                    of,
                    device,
                    host,
                )
            })?;
            let (work, bytes, host, host_bytes) = room.arguments();
            (0..a.batch).try_for_each(|i| {
                let (w, v, code) = (part(w, i, a.rows), of_vectors(i), part(codes, i, 1).cast());
                sys::cusolverDnXgeev(
                    raw,
                    params,
                    left,
                    right,
                    n,
                    of,
                    at(i),
                    lda,
                    of_w,
                    w,
                    of,
                    null_mut(),
                    n,
                    of,
                    v,
                    n,
                    of,
                    work,
                    bytes,
                    host,
                    host_bytes,
                    code,
                )
                .result()
                .checked(op)
            })
        }
    })
}
