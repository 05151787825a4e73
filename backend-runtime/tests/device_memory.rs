//! Tests of the memory figures that backends report. They run in a process without other tests, so they can check exact
//! figures and freed memory.

use backend_runtime::{
    Arrays, Axes, Complex, DType, DeviceKind, Error, HostArray, MemoryInfo, Norm, QrMode, available,
    cuda::{self, Cuda, CudaArray, OpContext},
    numpyish::{self, Numpyish, raw::view, typed::typed},
    raw::TypedArray,
    torch::Torch,
};
use ndarray::{ArrayD, IxDyn};
use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

const SIZE: usize = 64 << 20;

/// Makes the tests run one at a time, because memory figures belong to the whole process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the GPU, with an empty cache and reset peak memory; `None` if there is no GPU.
fn gpu() -> Option<Cuda> {
    let b = available("cuda", Cuda::new(0))?;
    b.caching(true).unwrap();
    b.free_cache().unwrap();
    b.reset_peak_memory().unwrap();
    Some(b)
}

fn bytes(n: usize) -> HostArray<u8> {
    ArrayD::from_elem(IxDyn(&[n]), 7_u8).into_shared()
}

fn wave(n: usize) -> HostArray<f64> {
    ArrayD::from_shape_fn(IxDyn(&[n, n]), |i| ((i[0] * 3 + i[1] * i[1]) as f64).sin()).into_shared()
}

#[test]
fn arrays_of_a_gpu_are_counted() {
    let _alone = alone();
    let Some(b) = gpu() else { return };
    let before = b.memory().unwrap();
    assert_eq!((before.in_use, before.peak, before.cached), (before.in_use, before.in_use, 0), "{before}");
    let x = b.from_ndarray(bytes(SIZE)).unwrap();
    let y = x.clone();
    let with = b.memory().unwrap();
    assert_eq!(with.in_use, before.in_use + SIZE as u64, "clones share memory: {with}");
    assert!(with.peak == with.in_use && with.available <= before.available - SIZE as u64, "{before} {with}");
    drop((x, y));
    b.synchronize().unwrap();
    let kept = b.memory().unwrap();
    let size = SIZE as u64;
    assert_eq!((kept.in_use, kept.peak, kept.cached), (before.in_use, with.peak, size), "{kept}");
    assert_eq!((kept.available, kept.total), (with.available + size, before.total), "{kept}");
    // a second array of the same size reuses the cached block
    drop(b.from_ndarray(bytes(SIZE)).unwrap());
    assert_eq!(b.memory().unwrap().cached, size);
    b.reset_peak_memory().unwrap();
    assert_eq!(b.memory().unwrap().peak, before.in_use);
    b.free_cache().unwrap();
    let freed = b.memory().unwrap();
    assert_eq!((freed.in_use, freed.cached), (before.in_use, 0), "{freed}");
    assert!(freed.available >= kept.available && freed.available <= freed.total, "{kept} {freed}");
}

/// Tests that, with caching off, a freed block returns to the driver at once, and exact sizes are counted.
#[test]
fn arrays_that_are_not_kept_are_counted() {
    let _alone = alone();
    let Some(b) = gpu() else { return };
    b.caching(false).unwrap();
    let before = b.memory().unwrap().in_use;
    let x = b.from_ndarray(bytes(1_000_001)).unwrap();
    assert_eq!(b.memory().unwrap().in_use, before + 1_000_004, "whole words");
    drop(x);
    b.free_cache().unwrap();
    let after = b.memory().unwrap();
    assert_eq!((after.in_use, after.peak, after.cached), (before, before + 1_000_004, 0), "{after}");
}

/// Runs ops of several libraries: a kernel of this crate, a transform, products, and a factorization.
fn program(b: &Cuda, x: &CudaArray<f64>) -> Vec<f64> {
    let on = |op, dtype| OpContext::new(b, op, dtype);
    let real = |op| on(op, DType::Float64);
    let doubled = cuda::manipulation::flip(real("flip"), x.raw(), Axes::All).unwrap();
    let product = cuda::linalg::matmul(real("matmul"), &doubled, x.raw()).unwrap();
    let spectrum = cuda::fft::rfftn(real("rfftn"), &product, None, Axes::All, Norm::Backward).unwrap();
    let irfftn = on("irfftn", DType::Complex128);
    let back = cuda::fft::irfftn(irfftn, &spectrum, None, Axes::All, Norm::Backward).unwrap();
    let [q, r] = cuda::linalg::qr(real("qr"), &back, QrMode::Reduced).unwrap();
    let whole = cuda::linalg::matmul(real("matmul"), &q, &r).unwrap();
    let sum = cuda::reduction::sum(real("sum"), &whole, Axes::All, false).unwrap();
    let least = cuda::sorting::sort(real("sort"), &whole, -1, false).unwrap();
    let host = |x| b.to_vec(&CudaArray::<f64>::from_raw("program", x).unwrap()).unwrap();
    [host(sum), host(least)].concat()
}

#[test]
fn caches_are_freed_while_other_threads_compute() {
    let _alone = alone();
    let Some(b) = gpu() else { return };
    let x = b.from_ndarray(wave(6)).unwrap();
    let expected = program(&b, &x);
    let settled = b.memory().unwrap().in_use;
    let done = AtomicBool::new(false);
    thread::scope(|threads| {
        let workers: Vec<_> = (0..3)
            .map(|_| {
                threads.spawn(|| {
                    for _ in 0..4 {
                        assert_eq!(program(&b, &x), expected);
                    }
                })
            })
            .collect();
        let freeing = threads.spawn(|| {
            let mut times = 0;
            while !done.load(Ordering::Relaxed) || times < 3 {
                b.free_cache().unwrap();
                let MemoryInfo { in_use, peak, available, total, .. } = b.memory().unwrap();
                assert!(in_use <= peak && available <= total);
                times += 1;
            }
        });
        let results: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
        done.store(true, Ordering::Relaxed);
        freeing.join().unwrap();
        results.into_iter().for_each(|result| result.unwrap());
    });
    b.free_cache().unwrap();
    assert_eq!(program(&b, &x), expected, "everything is made again");
    b.free_cache().unwrap();
    let after = b.memory().unwrap();
    // each thread's record of out-of-range indices occupies a block of GPU memory until the thread ends
    assert!(after.cached == 0 && after.in_use <= settled + 3 * 512, "{after}");
}

#[test]
fn a_gpu_says_what_it_is() {
    let _alone = alone();
    let Some(b) = gpu() else { return };
    let info = b.device_info().unwrap();
    assert_eq!((info.backend, &info.device[..], info.kind), ("cuda", "cuda:0", DeviceKind::Gpu));
    assert!(!info.name.is_empty() && info.processors.is_some_and(|n| n > 0), "{info}");
    assert!(info.compute_capability.is_some_and(|(major, _)| major > 0), "{info}");
    assert!(info.version.as_deref().is_some_and(|version| version.contains('.')), "{info}");
    let total = b.memory().unwrap().total;
    assert!(info.memory.is_some_and(|memory| memory >= total && total > 0), "{info}");
}

/// Checks the memory figures of the process. Only one fact is certain: an array is in RAM while it exists. Linux counts
/// pages per processor, so its totals are slightly inexact.
fn process_memory<B: Arrays>(b: &B) {
    let Some(before) = available("memory", b.memory()) else { return };
    let x = b.from_ndarray(bytes(SIZE)).unwrap();
    let with = b.memory().unwrap();
    let (size, half) = (SIZE as u64, SIZE as u64 / 2);
    assert!(with.in_use >= size - half && with.peak >= with.in_use, "{before} {with}");
    assert!(with.cached == 0 && with.available <= with.total, "{with}");
    drop(x);
    b.free_cache().unwrap();
    let freed = b.memory().unwrap();
    // an allocator returns a block of this size to the system at once
    assert!(freed.in_use + half < with.in_use && freed.peak + half >= with.in_use, "{with} {freed}");
    match b.reset_peak_memory() {
        Ok(()) => {
            let anew = b.memory().unwrap();
            assert!(anew.peak >= anew.in_use && anew.peak + half < with.peak, "{freed} {anew}");
        }
        Err(error) => assert!(matches!(error, Error::Unavailable { .. }), "{error}"),
    }
}

#[test]
fn the_memory_of_the_process_is_that_of_its_arrays_and_more() {
    let _alone = alone();
    process_memory(&Numpyish::new());
    if let Some(b) = available("torch", Torch::cpu()) {
        process_memory(&b);
    }
}

#[test]
fn caches_of_the_cpu_are_freed_while_other_threads_compute() {
    let _alone = alone();
    let b = Numpyish::new();
    let x = wave(30);
    let on = numpyish::OpContext::new(&b, "rfftn", DType::Float64);
    let transformed = || -> HostArray<Complex<f64>> {
        typed(numpyish::fft::rfftn(on, view(&x), None, Axes::All, Norm::Backward)).unwrap()
    };
    let expected = transformed();
    thread::scope(|threads| {
        for _ in 0..3 {
            threads.spawn(|| (0..50).for_each(|_| assert_eq!(transformed(), expected)));
        }
        (0..50).for_each(|_| b.free_cache().unwrap());
    });
}
