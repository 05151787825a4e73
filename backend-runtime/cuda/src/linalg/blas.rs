//! Matrix products with cuBLAS.

use super::{
    gemm::{Batches, Call},
    operands::Operands,
};
use crate::{Cuda, array::RawArray, device::Device, error::Checked, library::Library, walk::Merged};
use backend_core::{DType, Error, Result};
use cudarc::cublas::sys;
use std::{
    ffi::c_void,
    sync::{Arc, Mutex, PoisonError},
};

/// Writes the product into `operands.out`. All matrices must have a layout that cuBLAS can read.
pub(super) fn product(b: &Cuda, operands: &Operands) -> Result<()> {
    let (op, one) = (operands.op, operands.as_one());
    let operands = one.as_ref().unwrap_or(operands);
    let merged = Merged::new(&operands.leading().each_ref());
    let batches = Batches { shape: merged.shape(), strides: [0, 1, 2].map(|k| merged.strides(k)) };
    let call = batches.call(operands.matrices(), operands.rows, operands.inner, operands.columns);
    let call = call.ok_or_else(|| Error::shapes(op, &operands.left.shape, &operands.right.shape))?;
    let at = |x: &RawArray, offset: isize| x.pointer().wrapping_add_signed((offset * x.dtype.size() as isize) as i64);
    with_handle(b, op, |handle| {
        for [left, right, out] in batches.offsets() {
            let (left, right) = (at(&operands.left, left), at(&operands.right, right));
            // SAFETY: the matrices of the call lie within the operands, which are on the handle's device.
            unsafe { run(handle, op, operands.out.dtype, &call, [right, left, at(&operands.out, out)])? };
        }
        Ok(())
    })
}

/// The cuBLAS handle of a device.
struct Handle {
    raw: sys::cublasHandle_t,
    device: Arc<Device>,
}

// SAFETY: the handle may be used from any thread; the mutex around it prevents concurrent calls.
unsafe impl Send for Handle {}

/// The cuBLAS handles created so far, one per device.
static HANDLES: Mutex<Vec<Handle>> = Mutex::new(Vec::new());

/// Calls `f` with the cuBLAS handle of the device of `b`, and creates the handle on the first call.
pub(super) fn with_handle<V>(
    b: &Cuda,
    op: &'static str,
    f: impl FnOnce(sys::cublasHandle_t) -> Result<V>,
) -> Result<V> {
    Library::Cublas.load()?;
    let mut handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    b.device.bind(op)?;
    let call = |raw| f(raw).and_then(|value| b.device.after_put(op).map(|()| value));
    if let Some(handle) = handles.iter().find(|handle| Arc::ptr_eq(&handle.device, &b.device)) {
        return call(handle.raw);
    }
    let mut raw = std::ptr::null_mut();
    // SAFETY: the library is loaded and has these functions; the device is current; the stream is alive.
    unsafe {
        sys::cublasCreate_v2(&mut raw).result().checked(op)?;
        let stream = sys::cublasSetStream_v2(raw, b.device.stream().cast());
        // the partial sums of 16-bit floats must not be rounded to 16 bits
        let mode = sys::cublasMath_t::CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
        let ready = stream.result().and_then(|()| sys::cublasSetMathMode(raw, mode).result());
        if ready.is_err() {
            sys::cublasDestroy_v2(raw);
        }
        ready.checked(op)?;
    }
    handles.push(Handle { raw, device: b.device.clone() });
    call(raw)
}

/// Destroys the cuBLAS handle of a device, to free the handle's work area of many megabytes.
pub(super) fn forget_handle(device: &Arc<Device>, op: &'static str) -> Result<()> {
    let mut handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(place) = handles.iter().position(|handle| Arc::ptr_eq(&handle.device, device)) else {
        return Ok(());
    };
    // while the lock is held, no other thread uses the handle
    device.synchronize(op)?;
    let handle = handles.remove(place);
    // SAFETY: the handle was found in the list and removed, the device is current, and the handle's work has finished.
    unsafe { sys::cublasDestroy_v2(handle.raw) }.result().checked(op)
}

/// cuBLAS's name for a dtype, and the type in which products of this dtype are computed and summed.
fn types(op: &'static str, dtype: DType) -> Result<(sys::cudaDataType, sys::cublasComputeType_t)> {
    use sys::{cublasComputeType_t as In, cudaDataType as DataType};
    match dtype {
        DType::Float16 => Ok((DataType::CUDA_R_16F, In::CUBLAS_COMPUTE_32F)),
        DType::BFloat16 => Ok((DataType::CUDA_R_16BF, In::CUBLAS_COMPUTE_32F)),
        DType::Float32 => Ok((DataType::CUDA_R_32F, In::CUBLAS_COMPUTE_32F)),
        DType::Float64 => Ok((DataType::CUDA_R_64F, In::CUBLAS_COMPUTE_64F)),
        DType::Complex64 => Ok((DataType::CUDA_C_32F, In::CUBLAS_COMPUTE_32F)),
        DType::Complex128 => Ok((DataType::CUDA_C_64F, In::CUBLAS_COMPUTE_64F)),
        other => Err(Error::dtype(op, other)),
    }
}

/// Makes one call of cuBLAS. `first`, `second` and `out` are the addresses of the first matrix, the second matrix and
/// the result.
///
/// # Safety
/// The pointers refer to memory of the device, and all matrices of the call lie within it.
unsafe fn run(
    handle: sys::cublasHandle_t,
    op: &'static str,
    dtype: DType,
    call: &Call,
    [first, second, out]: [u64; 3],
) -> Result<()> {
    // the numbers 1 and 0 in both precisions, as real and imaginary part; real functions read only the first number
    let (one32, zero32, one64, zero64) = ([1.0_f32, 0.0], [0.0_f32; 2], [1.0_f64, 0.0], [0.0_f64; 2]);
    let (of, compute) = types(op, dtype)?;
    let (alpha, beta): (*const c_void, *const c_void) = match compute {
        sys::cublasComputeType_t::CUBLAS_COMPUTE_64F => (one64.as_ptr().cast(), zero64.as_ptr().cast()),
        _ => (one32.as_ptr().cast(), zero32.as_ptr().cast()),
    };
    let operation = |transpose| match transpose {
        true => sys::cublasOperation_t::CUBLAS_OP_T,
        false => sys::cublasOperation_t::CUBLAS_OP_N,
    };
    // SAFETY: the caller guarantees that all matrices lie within device memory; `alpha` and `beta` point to numbers of
    // the computation's type.
    let status = unsafe {
        sys::cublasGemmStridedBatchedEx_64(
            handle,
            operation(call.transpose_first),
            operation(call.transpose_second),
            call.m,
            call.n,
            call.k,
            alpha,
            first as *const c_void,
            of,
            call.leading[0],
            call.strides[0],
            second as *const c_void,
            of,
            call.leading[1],
            call.strides[1],
            beta,
            out as *mut c_void,
            of,
            call.leading[2],
            call.strides[2],
            call.batches,
            compute,
            sys::cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
        )
    };
    status.result().checked(op)
}
