//! Stand-ins for the cuBLAS functions that the backend calls, with cuBLAS's conventions and errors.

mod factor;
mod gemm;

pub use factor::*;

use crate::driver::{Work, current, finish_device, lock, put};
use gemm::{Gemm, Operand, Scalars};
use std::{
    collections::BTreeMap,
    ffi::{c_int, c_void},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The result of a cuBLAS function; the error is a `cublasStatus_t`.
type Result<T> = std::result::Result<T, Status>;

/// An error code of cuBLAS: a `cublasStatus_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Status(u32);

impl Status {
    const NOT_INITIALIZED: Status = Status(1);
    const INVALID_VALUE: Status = Status(7);
    const EXECUTION_FAILED: Status = Status(13);
    const NOT_SUPPORTED: Status = Status(15);
}

/// The state of a cuBLAS handle.
#[derive(Clone, Copy)]
struct Handle {
    device: usize,
    /// The driver's handle of the stream.
    stream: u64,
}

static HANDLES: Mutex<BTreeMap<u64, Handle>> = Mutex::new(BTreeMap::new());

fn handles() -> MutexGuard<'static, BTreeMap<u64, Handle>> {
    HANDLES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn status(result: Result<()>) -> u32 {
    result.map_or_else(|status| status.0, |()| 0)
}

/// Calls `f` with the state of the handle.
fn with_handle(handle: *mut c_void, f: impl FnOnce(&mut Handle) -> Result<()>) -> u32 {
    status(handles().get_mut(&(handle as u64)).ok_or(Status::NOT_INITIALIZED).and_then(f))
}

/// Creates a handle on the current device.
///
/// # Safety
/// `handle` must be null or valid for writing a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cublasCreate_v2(handle: *mut *mut c_void) -> u32 {
    let mut driver = lock();
    let Ok(device) = driver.device_of(current()) else {
        return Status::NOT_INITIALIZED.0;
    };
    if driver.check(device).is_err() {
        return Status::NOT_INITIALIZED.0;
    }
    let new = driver.handle();
    drop(driver);
    // SAFETY: the caller guarantees that `handle` is null or valid for writing a handle.
    if unsafe { put(handle, new as *mut c_void) }.is_err() {
        return Status::INVALID_VALUE.0;
    }
    handles().insert(new, Handle { device, stream: 0 });
    0
}

/// Destroys a handle, after waiting for its device.
#[unsafe(no_mangle)]
pub extern "C" fn cublasDestroy_v2(handle: *mut c_void) -> u32 {
    let Some(known) = handles().remove(&(handle as u64)) else {
        return Status::NOT_INITIALIZED.0;
    };
    finish_device(known.device);
    0
}

/// Sets the stream on which products run.
#[unsafe(no_mangle)]
pub extern "C" fn cublasSetStream_v2(handle: *mut c_void, stream: *mut c_void) -> u32 {
    with_handle(handle, |handle| {
        lock().stream_on(handle.device, stream as u64).map_err(|_| Status::INVALID_VALUE)?;
        handle.stream = stream as u64;
        Ok(())
    })
}

/// Sets the precision of products. The call has no effect, because products always have the highest precision here.
#[unsafe(no_mangle)]
pub extern "C" fn cublasSetMathMode(handle: *mut c_void, mode: u32) -> u32 {
    /// The only flag that can be combined with a mode: sums are not computed in reduced precision.
    const NO_REDUCED_SUMS: u32 = 16;
    let known = matches!(mode & !NO_REDUCED_SUMS, 0..=4 | 8);
    with_handle(handle, |_| if known { Ok(()) } else { Err(Status::INVALID_VALUE) })
}

/// Computes `C = alpha op(A) op(B) + beta C` for many column-major matrices, which are equally spaced in memory.
///
/// # Safety
/// `alpha` and `beta` must be null or point to numbers of the compute type.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn cublasGemmStridedBatchedEx_64(
    handle: *mut c_void,
    transpose_a: u32,
    transpose_b: u32,
    m: i64,
    n: i64,
    k: i64,
    alpha: *const c_void,
    a: *const c_void,
    a_type: u32,
    lda: i64,
    stride_a: i64,
    b: *const c_void,
    b_type: u32,
    ldb: i64,
    stride_b: i64,
    beta: *const c_void,
    c: *mut c_void,
    c_type: u32,
    ldc: i64,
    stride_c: i64,
    batches: i64,
    compute: u32,
    algorithm: c_int,
) -> u32 {
    with_handle(handle, |handle| {
        if alpha.is_null() || beta.is_null() || !(-1..=99).contains(&algorithm) {
            return Err(Status::INVALID_VALUE);
        }
        if a_type != b_type || a_type != c_type {
            return Err(Status::NOT_SUPPORTED);
        }
        let kind = gemm::kind(a_type, compute).ok_or(Status::NOT_SUPPORTED)?;
        // SAFETY: the caller guarantees that `alpha` and `beta` are null or point to numbers of the compute type, which
        // `kind` determines.
        let scalars = unsafe { Scalars::read(kind, alpha, beta) };
        let gemm = Gemm {
            m,
            n,
            k,
            batches,
            a: Operand::new(a as u64, transpose_a, lda, stride_a).ok_or(Status::INVALID_VALUE)?,
            b: Operand::new(b as u64, transpose_b, ldb, stride_b).ok_or(Status::INVALID_VALUE)?,
            c: Operand::new(c as u64, 0, ldc, stride_c).ok_or(Status::INVALID_VALUE)?,
        };
        if !gemm.is_valid() {
            return Err(Status::INVALID_VALUE);
        }
        let mut driver = lock();
        let stream = driver.stream_on(handle.device, handle.stream).map_err(|_| Status::EXECUTION_FAILED)?;
        let what = gemm.to_string();
        let job = Work::On(handle.device, Box::new(move |memory| gemm.run(kind, scalars, memory)));
        driver.put_on(stream, what, job, 0).map_err(|_| Status::EXECUTION_FAILED)
    })
}
