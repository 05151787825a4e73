//! Tests of the CPU's loops without threads: in a process for which the system refuses to start threads, and in a
//! forked process. Each test runs in a separate process, which must end by itself with correct results.
#![cfg(target_os = "linux")]

use backend_runtime::{
    Arrays, Axes, DType, Error, available,
    numpyish::{NdArray, Numpyish, OpContext, linalg, raw::view, reduction, sorting, typed::typed},
    torch::{self, Torch},
};
use ndarray::ArrayD;
use std::{env, fs, process::Command};

/// Number of elements, which is enough for several tasks in every loop.
const N: usize = 1 << 21;

/// Environment variable that is set in child processes.
const CHILD: &str = "BACKENDS_TEST_WITHOUT_THREADS";

/// Returns the numbers 0 to `N - 1`, in a scrambled order.
fn numbers() -> NdArray<f64> {
    ArrayD::from_shape_fn(vec![N], |i| (i[0].wrapping_mul(7919) % N) as f64).into_shared()
}

fn matrix() -> NdArray<f64> {
    ArrayD::from_shape_fn(vec![256, 256], |i| f64::from(i[0] == i[1]) * 2.0).into_shared()
}

/// Checks the results of ops that use several threads.
fn check(x: &NdArray<f64>, m: &NdArray<f64>) {
    let b = Numpyish::new();
    let on = |op| OpContext::new(&b, op, DType::Float64);
    let sum: NdArray<f64> = typed(reduction::sum(on("sum"), view(x), Axes::All, false)).expect("sum");
    assert_eq!(sum[[]], (N as f64) * (N as f64 - 1.0) / 2.0);
    let sorted: NdArray<f64> = typed(sorting::sort(on("sort"), view(x), -1, false)).expect("sort");
    assert!(sorted.iter().enumerate().all(|(i, &v)| v == i as f64));
    let largest = typed::<i64>(reduction::argmax(on("argmax"), view(x), Some(0), false)).expect("argmax")[[]];
    assert_eq!(x[[largest as usize]], (N - 1) as f64);
    let product: NdArray<f64> = typed(linalg::matmul(on("matmul"), view(m), view(m))).expect("matmul");
    assert!(product.indexed_iter().all(|(i, &v)| v == f64::from(i[0] == i[1]) * 4.0));
}

/// Runs a test alone in a child process with 64 rayon threads.
fn in_child(test: &str) {
    let program = env::current_exe().expect("the test's own program");
    let mut command = Command::new(program);
    command.args(["--exact", test, "--nocapture", "--test-threads", "1"]);
    let out = command.env(CHILD, "1").env("RAYON_NUM_THREADS", "64").output().expect("it runs again");
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{}: {text}", out.status);
    assert!(String::from_utf8_lossy(&out.stdout).contains("1 passed"), "it ran the test");
}

#[test]
fn loops_run_in_the_calling_thread_where_the_system_gives_no_others() {
    if env::var_os(CHILD).is_none() {
        return in_child("loops_run_in_the_calling_thread_where_the_system_gives_no_others");
    }
    let (x, m) = (numbers(), matrix());
    // the limit leaves memory for the results, and for the stacks of half of the threads that rayon would start
    let statm = fs::read_to_string("/proc/self/statm").expect("the size of this process");
    let pages: u64 = statm.split(' ').next().and_then(|pages| pages.parse().ok()).expect("a number");
    let limit = pages * 4096 + (64 << 20);
    // SAFETY: `setrlimit` only reads the given limit, which applies to this child process only.
    let set = unsafe { libc::setrlimit(libc::RLIMIT_AS, &libc::rlimit { rlim_cur: limit, rlim_max: limit }) };
    assert_eq!(set, 0);
    check(&x, &m);
    check(&x, &m);
}

#[test]
fn a_forked_process_does_not_wait_for_the_threads_of_its_parent() {
    if env::var_os(CHILD).is_none() {
        return in_child("a_forked_process_does_not_wait_for_the_threads_of_its_parent");
    }
    let (x, m) = (numbers(), matrix());
    check(&x, &m);
    let torch = available("torch", Torch::cpu());
    let tensor = torch.as_ref().map(|b| b.from_ndarray(x.clone()).expect("an array of libtorch"));
    // SAFETY: the child runs only the checks of this test, no other code of this process, and leaves by `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: `alarm` only sets a timer, which ends the child if it waits forever.
        unsafe { libc::alarm(60) };
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            check(&x, &m);
            if let (Some(b), Some(tensor)) = (&torch, &tensor) {
                let on = torch::OpContext::new(b, "sum", DType::Float64);
                let error = torch::reduction::sum(on, tensor.tensor(), Axes::All, false)
                    .expect_err("libtorch has no threads here");
                assert!(matches!(&error, Error::Unavailable { why, .. } if why.contains("fork")), "{error}");
            }
        }));
        // SAFETY: `_exit` ends the child without running destructors of objects that belong to the parent.
        unsafe { libc::_exit(i32::from(done.is_err())) };
    }
    let mut status = 0;
    // SAFETY: the child belongs to this process, and `status` is valid for writing.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0, "a signal or a failed check ended the forked process");
    check(&x, &m);
}
