//! Tests of the memory that libraries and conversions allocate. FFT plans stay within the bound of `fft::plan_bytes`,
//! and refused memory gives an error instead of ending the process.

use backend_core::{
    Complex, DType, Error, HostArray, IntoHost, Norm,
    numpyish::{NdArray, Numpyish, OpContext, raw::view, typed::typed},
};
use backend_numpyish::{fft, linalg};
use ndarray::{Array1, Array2, ArrayD};
use rustfft::{FftNum, FftPlanner, FftPlannerScalar, FftPlannerSse};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    /// The number of bytes that this thread has allocated and not yet freed.
    static NOW: Cell<usize> = const { Cell::new(0) };
    /// Maximum of `NOW` so far.
    static PEAK: Cell<usize> = const { Cell::new(0) };
    /// Size of the largest block that this thread may allocate.
    static BLOCK: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// The system's allocator, with a counter, and with a limit on the size of blocks.
struct Counting;

// SAFETY: every call is passed unchanged to the system's allocator, or returns null, which any allocator may do.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if BLOCK.try_with(Cell::get).is_ok_and(|most| layout.size() > most) {
            return std::ptr::null_mut();
        }
        let _ = NOW.try_with(|now| {
            now.set(now.get().wrapping_add(layout.size()));
            PEAK.with(|most| most.set(most.get().max(now.get())));
        });
        // SAFETY: the caller guarantees the conditions of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        let _ = NOW.try_with(|now| now.set(now.get().wrapping_sub(layout.size())));
        // SAFETY: the caller guarantees that the system's allocator allocated the block with this layout.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the largest number of bytes that `f` has in use at any one time.
fn most(f: impl FnOnce()) -> usize {
    // the counter starts at a large number, so that freeing older memory does not make the counter negative
    let before = 1 << 40;
    NOW.set(before);
    PEAK.set(before);
    f();
    PEAK.get() - before
}

/// Returns small lengths, lengths whose plans need the most memory according to measurements, powers of two and their
/// neighbours, and primes.
fn lengths() -> impl Iterator<Item = usize> {
    let near_powers = (6..15).flat_map(|e| [-3_i64, -1, 0, 1, 3].map(|d| ((1_i64 << e) + d) as usize));
    (1..300).chain([1031, 2063, 3461, 3467, 30_011, 41_527]).chain(near_powers)
}

fn bounded<R: FftNum>() {
    for n in lengths() {
        let bound = fft::plan_bytes::<R>(n);
        let plans: [(&str, &dyn Fn()); 3] = [
            ("the machine's", &|| drop(FftPlanner::<R>::new().plan_fft_forward(n))),
            ("the plain", &|| drop(FftPlannerScalar::<R>::new().plan_fft_inverse(n))),
            ("the SSE", &|| drop(FftPlannerSse::<R>::new().map(|mut planner| planner.plan_fft_forward(n)))),
        ];
        for (name, plan) in plans {
            let taken = most(plan);
            assert!(taken <= bound, "{name} plan of {n} points takes {taken} bytes, over {bound}");
        }
    }
}

#[test]
fn plans_take_no_more_than_promised() {
    bounded::<f64>();
    bounded::<f32>();
}

const B: Numpyish = Numpyish::new();

/// Checks that `f` fails with a memory error while this thread may not allocate more than `most` bytes in one block.
fn refused<R>(most: usize, f: impl FnOnce() -> backend_core::Result<R>) {
    BLOCK.set(most);
    let error = f().err();
    BLOCK.set(usize::MAX);
    assert!(matches!(error, Some(Error::Memory { .. })), "{error:?}");
}

#[test]
fn conversions_of_host_arrays() {
    let (line, square) = (Array1::<f64>::zeros(9000), Array2::<f32>::zeros((90, 91)));
    let half = 1 << 14;
    refused(half, || (&line).into_host());
    refused(half, || square.t().into_host());
    refused(half, || (&*square).into_host());
    refused(half, || ndarray::CowArray::from(&square).into_host());
    refused(half, || line.as_slice().unwrap().into_host());
    refused(half, || [0_u8; 20_000].into_host());
    refused(half, || [[0_u8; 200]; 100].into_host());
    refused(half, || [[[0_u8; 20]; 100]; 10].into_host());
    assert_eq!(square.t().into_host().unwrap().shape(), [91, 90]);
    assert_eq!([[[1, 2], [3, 4]]].into_host().unwrap(), ndarray::arr3(&[[[1, 2], [3, 4]]]).into_dyn());
    assert_eq!([[1, 2], [3, 4]].into_host().unwrap(), ndarray::arr2(&[[1, 2], [3, 4]]).into_dyn());
}

#[test]
fn matrix_products() {
    let x = ArrayD::<f64>::ones(vec![64, 200]).into_shared();
    let y = ArrayD::<f64>::ones(vec![200, 64]).into_shared();
    let product = || typed(linalg::matmul(OpContext::new(&B, "matmul", DType::Float64), view(&x), view(&y)));
    // the limit leaves enough memory for the result, but not for the library's packed copies of the operands
    refused(1 << 16, product);
    let product: NdArray<f64> = product().unwrap();
    assert_eq!(product[[3, 5]], 200.0);
}

#[test]
#[cfg(all(feature = "linalg", target_arch = "x86_64"))]
fn factorizations() {
    let x = ArrayD::from_shape_fn(vec![64, 64], |i| if i[0] == i[1] { 4.0 } else { 0.0 }).into_shared();
    let factor = || typed(linalg::cholesky(OpContext::new(&B, "cholesky", DType::Float64), view(&x), false));
    // the limit leaves enough memory for the matrix and for the block of `gemm`, but not for the block that the
    // factorization allocates for its products
    refused(1 << 23, factor);
    let factor: NdArray<f64> = factor().unwrap();
    assert_eq!(factor[[7, 7]], 2.0);
}

#[test]
fn plans() {
    let b = Numpyish::new();
    // no other test of this process makes plans of these lengths, so they are not in the cache of plans
    for n in [20_011, 20_021, 30_030, 1 << 15] {
        let x = ArrayD::<f64>::zeros(vec![n]).into_shared();
        let z = x.mapv(|re| Complex::new(re as f32, 0.0)).into_shared();
        // the limit leaves enough memory for the result, but not for the plan
        let most = 17 * n;
        let real = |op| OpContext::new(&b, op, DType::Float64);
        let complex = |op| OpContext::new(&b, op, DType::Complex64);
        refused(most, || fft::fft(real("fft"), view(&x), None, 0, Norm::Backward));
        refused(most, || fft::rfft(real("rfft"), view(&x), None, 0, Norm::Backward));
        refused(most, || fft::ifft(complex("ifft"), view(&z), None, 0, Norm::Backward));
        refused(most, || fft::irfft(complex("irfft"), view(&z), None, 0, Norm::Backward));
        let y: HostArray<Complex<f64>> = typed(fft::fft(real("fft"), view(&x), None, 0, Norm::Backward)).unwrap();
        assert_eq!(y.len(), n, "and with memory there is one");
    }
}
