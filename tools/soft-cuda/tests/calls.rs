//! Calls the exported functions as C does. This is a single test, because a process has a single driver.

use soft_cuda::{
    cublas::*,
    cufft::*,
    cusolver::*,
    driver::{context::*, copy::*, device::*, event::*, memory::*, module::*, pinned::*, report::*, stream::*},
};
use std::{
    ffi::{CStr, c_void},
    ptr::{null, null_mut},
    thread,
};

/// Returns the result that a function writes, or its error code.
fn out<V: Copy>(zero: V, f: impl FnOnce(*mut V) -> u32) -> Result<V, u32> {
    let mut value = zero;
    match f(&mut value) {
        0 => Ok(value),
        code => Err(code),
    }
}

fn allocate(bytes: usize) -> u64 {
    // SAFETY: `at` is valid for writing an address.
    out(0, |at| unsafe { cuMemAlloc_v2(at, bytes) }).unwrap()
}

fn write<V: Copy>(to: u64, from: &[V], stream: *mut c_void) -> u32 {
    // SAFETY: the pointer is valid for reading as many bytes as the slice has.
    unsafe { cuMemcpyHtoDAsync_v2(to, from.as_ptr().cast(), size_of_val(from), stream) }
}

fn read<V: Copy + Default>(from: u64, count: usize, stream: *mut c_void) -> Result<Vec<V>, u32> {
    let mut content = vec![V::default(); count];
    // SAFETY: the pointer is valid for writing as many bytes as the vector has room for.
    match unsafe { cuMemcpyDtoHAsync_v2(content.as_mut_ptr().cast(), from, count * size_of::<V>(), stream) } {
        0 => Ok(content),
        code => Err(code),
    }
}

#[test]
fn calls_give_what_the_real_ones_give() {
    before_there_is_a_context();
    device();
    // SAFETY: `at` is valid for writing a handle.
    let context = out(null_mut(), |at| unsafe { cuDevicePrimaryCtxRetain(at, 0) }).unwrap();
    // SAFETY: `at` is valid for writing a handle.
    let current = || out(null_mut(), |at| unsafe { cuCtxGetCurrent(at) }).unwrap();
    assert!(current().is_null(), "a context that is retained is not yet current");
    assert_eq!(cuCtxSetCurrent(context), 0);
    assert_eq!(current(), context);
    let context = context as usize;
    thread::spawn(move || {
        assert_eq!(cuCtxSynchronize(), 201, "every thread has its own");
        assert_eq!(cuCtxSetCurrent(context as *mut c_void), 0);
        assert_eq!(cuCtxSynchronize(), 0);
    })
    .join()
    .unwrap();
    assert_eq!(cuCtxSetCurrent(0x77 as *mut c_void), 201);
    memory();
    pool();
    pinned();
    modules();
    products();
    transforms();
    factors_of_one_matrix();
    factors_of_many_matrices();
    assert_eq!(cuCtxSynchronize(), 0);
    assert_eq!(cuDevicePrimaryCtxRelease_v2(0), 0);
    assert_eq!(cuCtxSynchronize(), 709);
    assert_eq!(cuDevicePrimaryCtxRelease_v2(0), 201);
}

fn before_there_is_a_context() {
    // SAFETY: each pointer is null or valid for writing the result.
    unsafe {
        assert_eq!(out(0, |at| cuDeviceGetCount(at)), Err(3));
        assert_eq!(out(0, |at| cuDriverGetVersion(at)), Ok(13_000));
        assert_eq!(cuInit(1), 1);
        assert_eq!(cuInit(0), 0);
        assert_eq!(out(0, |at| cuMemAlloc_v2(at, 4)), Err(201));
        assert_eq!(out(null_mut(), |at| cublasCreate_v2(at)), Err(1));
        assert_eq!(out(0, |at| cufftCreate(at)), Err(7));
        assert_eq!(out(null_mut(), |at| cusolverDnCreate(at)), Err(1));
        assert_eq!(out(null(), |at| cuGetExportTable(at, null())), Err(500));
    }
}

fn device() {
    // SAFETY: each pointer is null or valid for writing the result; the name has five bytes.
    unsafe {
        assert_eq!(out(0, |at| cuDeviceGetCount(at)), Ok(1));
        assert_eq!(cuDeviceGetCount(null_mut()), 1);
        assert_eq!(out(9, |at| cuDeviceGet(at, 0)), Ok(0));
        assert_eq!(out(9, |at| cuDeviceGet(at, 1)), Err(101));
        assert_eq!(out(9, |at| cuDeviceGet(at, -1)), Err(101));
        let mut name = [1_i8; 5].map(|x| x as std::ffi::c_char);
        assert_eq!(cuDeviceGetName(name.as_mut_ptr(), 5, 0), 0);
        assert_eq!(CStr::from_ptr(name.as_ptr()), c"soft");
        let attribute = |which| out(9, |at| cuDeviceGetAttribute(at, which, 0));
        assert_eq!([75, 76, 1, 4, 6, 8, 10, 115].map(attribute), [9, 1, 1024, 64, 65_535, 49_152, 32, 1].map(Ok));
        assert_eq!(attribute(0), Err(1));
        assert_eq!(attribute(-3), Err(1));
        assert_eq!(out(0, |at| cuDeviceTotalMem_v2(at, 0)), Ok(4 << 30));
    }
}

/// Tests that copies from and to pinned memory run only when something waits for them.
fn pinned() {
    // SAFETY: each pointer is null or valid for writing the result; the buffers have 4 bytes.
    unsafe {
        assert_eq!(cuMemHostAlloc(null_mut(), 4, 0), 1);
        assert_eq!(out(null_mut(), |at| cuMemHostAlloc(at, 0, 0)), Err(1));
        assert_eq!(out(null_mut(), |at| cuMemHostAlloc(at, 4, 8)), Err(1));
        let [from, to] = [0, 1].map(|_| out(null_mut(), |at| cuMemHostAlloc(at, 4, 0)).unwrap().cast::<u32>());
        let stream = out(null_mut(), |at| cuStreamCreate(at, 1)).unwrap();
        let memory = allocate(4);
        from.write(1);
        assert_eq!(cuMemcpyHtoDAsync_v2(memory, from.cast(), 4, stream), 0);
        from.write(2);
        assert_eq!(cuMemcpyDtoHAsync_v2(to.cast(), memory, 4, stream), 0);
        assert_eq!(to.read(), u32::MAX, "nobody has waited");
        assert_eq!(cuStreamSynchronize(stream), 0);
        assert_eq!(to.read(), 2, "it was written to before it was copied");
        assert_eq!(cuMemFree_v2(memory), 0);
        assert_eq!(cuStreamDestroy_v2(stream), 0);
        assert_eq!([cuMemFreeHost(from.cast()), cuMemFreeHost(to.cast()), cuMemFreeHost(to.cast())], [0, 0, 1]);
    }
}

fn counts() -> [u64; 7] {
    let mut counts = [0; 7];
    // SAFETY: the pointer is valid for writing seven numbers.
    unsafe { soft_cuda_counts(&mut counts) };
    counts
}

fn memory() {
    // SAFETY: each pointer is null, or valid for as many bytes as the call reads or writes.
    unsafe {
        assert_eq!(cuMemAlloc_v2(null_mut(), 4), 1);
        assert_eq!(out(0, |at| cuMemAlloc_v2(at, 0)), Err(1));
        assert_eq!(out(0, |at| cuMemAlloc_v2(at, 5 << 30)), Err(2));
        let stream = out(null_mut(), |at| cuStreamCreate(at, 1)).unwrap();
        let before = counts();
        let memory = out(0, |at| cuMemAllocAsync(at, 16, stream)).unwrap();
        let (mut free, mut total) = (0, 0);
        assert_eq!(cuMemGetInfo_v2(&mut free, &mut total), 0);
        assert_eq!(total - free, 16);
        assert_eq!(write(memory, &[1_u32, 2, 3, 4], stream), 0);
        assert_eq!(cuMemsetD8Async(memory + 4, 0, 4, stream), 0);
        assert_eq!(cuMemcpyDtoDAsync_v2(memory + 12, memory, 4, stream), 0);
        assert_eq!(read(memory, 4, null_mut()), Ok(vec![u32::MAX; 4]), "the default stream does not wait");
        assert_eq!(read(memory, 4, stream), Ok(vec![1_u32, 0, 3, 1]));
        let done: Vec<u64> = counts().iter().zip(before).map(|(now, before)| now - before).collect();
        assert_eq!(done, [0, 1, 1, 16, 2, 32, 0]);
        assert_eq!(cuMemcpyHtoDAsync_v2(memory, null(), 4, stream), 1);
        assert_eq!(cuMemcpyDtoHAsync_v2(null_mut(), memory, 4, stream), 1);
        assert_eq!(read::<u32>(memory, 5, stream), Err(1));
        assert_eq!(write::<u32>(memory, &[], stream), 0);
        assert_eq!(write(memory, &[1], memory as *mut c_void), 400);
        let event = out(null_mut(), |at| cuEventCreate(at, 2)).unwrap();
        assert_eq!(cuEventRecord(event, stream), 0);
        assert_eq!(cuStreamWaitEvent(null_mut(), event, 0), 0);
        assert_eq!(cuEventQuery(event), 600);
        assert_eq!(cuEventQuery(event), 0);
        assert_eq!(cuEventSynchronize(event), 0);
        assert_eq!(out(0.0, |at| cuEventElapsedTime_v2(at, event, event)), Err(400), "it keeps no time");
        assert_eq!(cuEventDestroy_v2(event), 0);
        assert_eq!(cuEventDestroy_v2(event), 400);
        assert_eq!(cuMemFreeAsync(memory, stream), 0);
        assert_eq!(cuMemFreeAsync(memory, stream), 1);
        assert_eq!(cuStreamQuery(stream), 600);
        assert_eq!(cuStreamSynchronize(stream), 0);
        assert_eq!(cuMemFree_v2(memory), 1);
        assert_eq!(cuMemFree_v2(0), 0);
        assert_eq!(cuStreamDestroy_v2(stream), 0);
        assert_eq!(cuStreamDestroy_v2(stream), 400);
        soft_cuda_fail_allocations(1, 1);
        assert_eq!(out(0, |at| cuMemAlloc_v2(at, 4)), Err(2));
    }
}

fn pool() {
    // SAFETY: each pointer is null or valid for writing the result.
    let pool = out(null_mut(), |at| unsafe { cuDeviceGetDefaultMemPool(at, 0) }).unwrap();
    let mut threshold = u64::MAX;
    assert_eq!(cuMemPoolSetAttribute(pool, 4, (&raw mut threshold).cast()), 0);
    assert_eq!(cuMemPoolSetAttribute(pool, 4, null_mut()), 1);
    assert_eq!(cuMemPoolTrimTo(pool, 0), 0);
    assert_eq!(cuMemPoolTrimTo(null_mut(), 0), 1);
    // SAFETY: `at` is valid for writing a number.
    let figure = |pool, which| out(0_u64, |at| unsafe { cuMemPoolGetAttribute(pool, which, at.cast()) });
    let [reserved, used] = [5, 7].map(|which| figure(pool, which).unwrap());
    assert_eq!(reserved, used, "nothing is kept");
    // SAFETY: `at` is valid for writing an address.
    let memory = out(0, |at| unsafe { cuMemAlloc_v2(at, 1000) }).unwrap();
    assert_eq!(figure(pool, 7), Ok(used + 1000));
    assert_eq!(cuMemFree_v2(memory), 0);
    assert_eq!(figure(pool, 5), Ok(reserved));
    assert_eq!((figure(pool, 99), figure(null_mut(), 5)), (Err(1), Err(1)));
}

fn modules() {
    // SAFETY: the pointers are null or valid for writing handles, and the texts end with a NUL.
    unsafe {
        let load = |image: &CStr| out(null_mut(), |at| cuModuleLoadData(at, image.as_ptr().cast()));
        assert_eq!(out(null_mut(), |at| cuModuleLoadData(at, null())), Err(1));
        assert_eq!(load(c"\x7fELF and more"), Err(209));
        assert_eq!(load(c"nothing of the kind"), Err(200));
        assert_eq!(load(c".version 8.0\nnothing of the kind"), Err(218));
        assert_eq!(cuModuleUnload(0x77 as *mut c_void), 400);
        assert_eq!(out(null_mut(), |at| cuModuleGetFunction(at, null_mut(), c"k".as_ptr())), Err(400));
    }
}

fn products() {
    // SAFETY: the pointers are valid for writing handles, and the factors are floats.
    unsafe {
        let handle = out(null_mut(), |at| cublasCreate_v2(at)).unwrap();
        let stream = out(null_mut(), |at| cuStreamCreate(at, 1)).unwrap();
        assert_eq!(cublasSetStream_v2(handle, stream), 0);
        assert_eq!(cublasSetStream_v2(handle, handle), 7);
        assert_eq!(cublasSetMathMode(handle, 16), 0);
        assert_eq!(cublasSetMathMode(handle, 7), 7);
        let [a, b, c] = [allocate(16), allocate(16), allocate(16)];
        assert_eq!(write(a, &[1.0_f32, 2.0, 3.0, 4.0], stream), 0);
        assert_eq!(write(b, &[1.0_f32, 0.0, 1.0, 1.0], stream), 0);
        let gemm = |handle, m: i64, lda: i64, transpose: u32, of: u32, alpha: *const f32| {
            let (a, b, c) = (a as *const c_void, b as *const c_void, c as *mut c_void);
            let (alpha, beta) = (alpha.cast(), (&0.0_f32 as *const f32).cast());
            cublasGemmStridedBatchedEx_64(
                handle, transpose, 0, m, 2, 2, alpha, a, of, lda, 4, b, of, 2, 4, beta, c, of, 2, 4, 1, 68, -1,
            )
        };
        assert_eq!(gemm(handle, 2, 2, 1, 0, &1.0), 0);
        let early: Vec<f32> = read(c, 4, null_mut()).unwrap();
        assert!(early.iter().all(|x| x.is_nan()), "it is on its own stream");
        assert_eq!(read(c, 4, stream), Ok(vec![1.0_f32, 3.0, 3.0, 7.0]));
        assert_eq!(gemm(handle, 3, 2, 0, 0, &1.0), 7);
        assert_eq!(gemm(handle, 2, 1, 0, 0, &1.0), 7);
        assert_eq!(gemm(handle, 2, 2, 5, 0, &1.0), 7);
        assert_eq!(gemm(handle, 2, 2, 0, 0, null()), 7);
        assert_eq!(gemm(handle, 2, 2, 0, 1, &1.0), 15, "doubles in single precision");
        assert_eq!(cublasDestroy_v2(handle), 0);
        assert_eq!(gemm(handle, 2, 2, 0, 0, &1.0), 1);
        assert_eq!(cublasDestroy_v2(handle), 1);
        [a, b, c].iter().for_each(|&address| assert_eq!(cuMemFree_v2(address), 0));
    }
}

fn transforms() {
    // SAFETY: the pointers are valid for writing handles, and each list has one number.
    unsafe {
        let make = |plan, length: i64, kind: u32| {
            let one = [length];
            let list = one.as_ptr();
            out(0, |at| cufftMakePlanMany64(plan, 1, list, list, 1, length, list, 1, length, kind, 1, at))
        };
        let plan = out(0, |at| cufftCreate(at)).unwrap();
        assert_eq!(cufftExecC2C(plan, 16 as _, 16 as _, -1), 1, "not made");
        assert_eq!(cufftSetAutoAllocation(plan, 0), 0);
        assert_eq!(make(plan, 3, 7), Err(3));
        assert_eq!(make(plan, 0, 0x29), Err(8));
        assert_eq!(make(plan, 3, 0x29), Ok(24));
        assert_eq!(make(plan, 3, 0x29), Err(1), "made already");
        let [x, work] = [allocate(24), allocate(24)];
        assert_eq!(write(x, &[1.0_f32, 0.0, 2.0, 0.0, 3.0, 0.0], null_mut()), 0);
        let pointer = x as *mut c_void;
        assert_eq!(cufftExecC2C(plan, pointer, pointer, -1), 13);
        assert_eq!(cufftSetWorkArea(plan, work as *mut c_void), 0);
        assert_eq!(cufftExecC2C(plan, pointer, pointer, 0), 4);
        assert_eq!(cufftExecC2C(plan, null_mut(), pointer, -1), 4);
        assert_eq!(cufftExecZ2Z(plan, pointer, pointer, -1), 3);
        assert_eq!(cufftExecC2C(plan, pointer, pointer, -1), 0);
        assert_eq!(cufftExecC2C(plan, pointer, pointer, 1), 0);
        let back: Vec<f32> = read(x, 6, null_mut()).unwrap();
        assert!(back.iter().zip([3.0, 0.0, 6.0, 0.0, 9.0, 0.0]).all(|(x, y)| (x - y).abs() < 1e-5), "{back:?}");
        assert_eq!(cufftDestroy(plan), 0);
        assert_eq!(cufftDestroy(plan), 1);
        let own = out(0, |at| cufftCreate(at)).unwrap();
        assert_eq!(make(own, 5, 0x29), Ok(40), "a work area of its own");
        assert_eq!(cufftSetStream(own, 0x77 as *mut c_void), 4);
        assert_eq!(cufftDestroy(own), 0);
        [x, work].iter().for_each(|&address| assert_eq!(cuMemFree_v2(address), 0));
    }
}

/// The code of `double` in cuBLAS and cuSOLVER.
const DOUBLE: u32 = 1;

fn factors_of_one_matrix() {
    // SAFETY: the pointers are valid for writing handles and sizes, and work areas on the host have the given number of
    // bytes.
    unsafe {
        let handle = out(null_mut(), |at| cusolverDnCreate(at)).unwrap();
        let params = out(null_mut(), |at| cusolverDnCreateParams(at)).unwrap();
        let stream = out(null_mut(), |at| cuStreamCreate(at, 1)).unwrap();
        assert_eq!(cusolverDnSetStream(handle, stream), 0);
        assert_eq!(cusolverDnSetStream(handle, handle), 3);
        assert_eq!(cusolverDnSetStream(params, stream), 1);
        let [a, pivots, code] = [allocate(32), allocate(16), allocate(4)];
        assert_eq!(write(a, &[4.0_f64, 2.0, f64::NAN, 10.0], stream), 0);

        let (at, codes) = (a as *mut c_void, code as *mut i32);
        let mut needed = [0_usize; 2];
        let [device, host] = needed.each_mut().map(|size| size as *mut usize);
        let query = |params, fill, n, of, lda, compute| {
            cusolverDnXpotrf_bufferSize(handle, params, fill, n, of, at, lda, compute, device, host)
        };
        assert_eq!(query(params, 0, 2, DOUBLE, 2, DOUBLE), 0);
        assert_eq!((device.read(), host.read()), (16, 0));
        assert_eq!(query(null_mut(), 0, 2, DOUBLE, 2, DOUBLE), 3);
        assert_eq!(query(params, 2, 2, DOUBLE, 2, DOUBLE), 3);
        assert_eq!(query(params, 0, 2, DOUBLE, 1, DOUBLE), 3);
        assert_eq!(query(params, 0, -1, DOUBLE, 1, DOUBLE), 3);
        assert_eq!(query(params, 0, 2, DOUBLE, 2, 0), 3);
        assert_eq!(query(params, 0, 2, 2, 2, 2), 9, "half precision");

        let work = allocate(16) as *mut c_void;
        let factor = |work: *mut c_void, bytes, codes| {
            cusolverDnXpotrf(handle, params, 0, 2, DOUBLE, at, 2, DOUBLE, work, bytes, null_mut(), 0, codes)
        };
        assert_eq!(factor(work, 15, codes), 3);
        assert_eq!(factor(null_mut(), 16, codes), 3);
        assert_eq!(factor(work, 16, null_mut()), 3);
        assert_eq!(factor(work, 16, codes), 0);
        assert!(read::<f64>(a, 1, null_mut()).unwrap()[0] != 2.0, "it is on its own stream");
        let factors: Vec<f64> = read(a, 4, stream).unwrap();
        assert_eq!([factors[0], factors[1], factors[3]], [2.0, 1.0, 3.0]);
        assert!(factors[2].is_nan(), "the other triangle is not looked at");
        assert_eq!(read::<i32>(code, 1, stream), Ok(vec![0]));
        assert!(read::<f64>(work as u64, 2, stream).unwrap().iter().all(|x| x.is_nan()));
        assert_eq!(write(a, &[1.0_f64, 1.0, 1.0, 1.0], stream), 0);
        assert_eq!(factor(work, 16, codes), 0);
        assert_eq!(read::<i32>(code, 1, stream), Ok(vec![2]), "the second pivot is 0");

        let s = pivots as *mut c_void;
        let values = |m: i64, n: i64, job: u8| {
            let (job, null) = (job as std::ffi::c_char, null());
            cusolverDnXgesvd_bufferSize(
                handle, params, job, job, m, n, DOUBLE, at, m, DOUBLE, s, DOUBLE, null, m, DOUBLE, null, n, DOUBLE,
                device, host,
            )
        };
        assert_eq!(values(2, 2, b'N'), 0);
        assert_eq!(values(1, 2, b'N'), 3, "more columns than rows");
        assert_eq!(values(2, 2, b'A'), 3, "no place for vectors");
        assert_eq!(values(2, 2, b'X'), 3);
        let batched = |n: i64, batch: i64| {
            cusolverDnXsyevBatched_bufferSize(
                handle, params, 0, 0, n, DOUBLE, at, n, DOUBLE, s, DOUBLE, device, host, batch,
            )
        };
        assert_eq!(batched(1, 32_767), 0);
        assert_eq!(batched(1, 32_768), 3);

        assert_eq!(cusolverDnDestroyParams(params), 0);
        assert_eq!(cusolverDnDestroyParams(params), 3);
        let settings = out(null_mut(), |at| cusolverDnCreateGesvdjInfo(at)).unwrap();
        assert_eq!(cusolverDnDestroyGesvdjInfo(params), 3, "parameters are no settings");
        assert_eq!(cusolverDnDestroyGesvdjInfo(settings), 0);
        assert_eq!(cusolverDnDestroyGesvdjInfo(settings), 3);
        assert_eq!(factor(work, 16, codes), 3);
        assert_eq!(cusolverDnDestroy(handle), 0);
        assert_eq!(cusolverDnDestroy(handle), 1);
        assert_eq!(factor(work, 16, codes), 1);
        [a, pivots, code, work as u64].iter().for_each(|&address| assert_eq!(cuMemFree_v2(address), 0));
    }
}

fn factors_of_many_matrices() {
    // SAFETY: the pointers are valid for writing handles and codes, the lists of addresses are on the device, and the
    // factor is a double.
    unsafe {
        let handle = out(null_mut(), |at| cublasCreate_v2(at)).unwrap();
        let [a, b, list, sides, pivots, codes] = [32, 16, 8, 8, 8, 4].map(allocate);
        assert_eq!(write(a, &[0.0_f64, 2.0, 4.0, 6.0], null_mut()), 0);
        assert_eq!(write(b, &[4.0_f64, 10.0], null_mut()), 0);
        assert_eq!(write(list, &[a], null_mut()), 0);
        assert_eq!(write(sides, &[b], null_mut()), 0);
        let factor = |lda, pivots: u64, batch| {
            cublasDgetrfBatched(handle, 2, list as _, lda, pivots as *mut i32, codes as *mut i32, batch)
        };
        assert_eq!(factor(1, pivots, 1), 7);
        assert_eq!(factor(2, pivots, -1), 7);
        assert_eq!(factor(2, 0, 1), 15);
        assert_eq!(factor(2, pivots, 1), 0);
        assert_eq!(read::<f64>(a, 4, null_mut()), Ok(vec![2.0, 0.0, 6.0, 4.0]));
        assert_eq!(read::<i32>(pivots, 2, null_mut()), Ok(vec![2, 2]));
        assert_eq!(read::<i32>(codes, 1, null_mut()), Ok(vec![0]));
        let mut wrong = 77;
        let solve = |ldb, wrong: *mut i32| {
            cublasDgetrsBatched(handle, 0, 2, 1, list as _, 2, pivots as *const i32, sides as _, ldb, wrong, 1)
        };
        assert_eq!((solve(1, &mut wrong), wrong), (7, -9));
        assert_eq!((solve(2, &mut wrong), wrong), (0, 0));
        assert_eq!(read::<f64>(b, 2, null_mut()), Ok(vec![2.0, 1.0]));
        let triangle = |fill, diagonal, alpha: *const f64| {
            cublasDtrsmBatched(handle, 0, fill, 0, diagonal, 2, 1, alpha.cast(), list as _, 2, sides as _, 2, 1)
        };
        assert_eq!(triangle(2, 0, &1.0), 7);
        assert_eq!(triangle(1, 0, null()), 7);
        assert_eq!(triangle(1, 0, &2.0), 0);
        assert_eq!(read::<f64>(b, 2, null_mut()), Ok(vec![0.5, 0.5]));
        assert_eq!(cublasDestroy_v2(handle), 0);
        [a, b, list, sides, pivots, codes].iter().for_each(|&address| assert_eq!(cuMemFree_v2(address), 0));
    }
}
