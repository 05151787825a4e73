//! Tests the errors that the CUDA backend returns if libraries are missing, memory is full or a kernel fails. The
//! software CUDA device (`tools/soft-cuda`) can imitate these situations.
//!
//! A process can have only one driver, so every case runs in a child process: this program, with the environment
//! variable [`CASE`] set.

mod common;

use backends::{Error, Result, prelude::*};
use common::soft_cuda;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Name of the environment variable that tells a child process which case to run.
const CASE: &str = "CUDA_ERRORS_CASE";

/// Runs a case in a child process, on the software device in `folder`, with the environment variables `settings`.
#[track_caller]
fn child(case: &str, folder: &Path, settings: &[(&str, &str)]) {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["cases", "--exact", "--nocapture"]).env(CASE, case);
    command.env("LD_LIBRARY_PATH", folder).envs(settings.iter().copied());
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success() && text.contains("case done"), "{case}: {}\n{text}", output.status);
}

/// In a child process, runs the case that [`CASE`] names. Does nothing in other processes.
#[test]
fn cases() {
    let Ok(case) = env::var(CASE) else { return };
    match case.as_str() {
        "no driver" => unavailable(Cuda::new(0), "libcuda.so.1"),
        "damaged driver" => unavailable(Cuda::new(0), "is damaged"),
        "no device" => unavailable(Cuda::new(0), "CUDA_ERROR_NO_DEVICE"),
        "one device" => {
            unavailable(Cuda::new(1), "no device 1");
            unavailable(Cuda::new(usize::MAX), "");
            Cuda::new(0).unwrap();
        }
        "two devices" => two_devices().unwrap(),
        "no libraries" => no_libraries().unwrap(),
        "little memory" => little_memory().unwrap(),
        "freed memory" => freed_memory().unwrap(),
        "any allocation fails" => any_allocation_fails(),
        "a fault, said late" => fault("cholesky"),
        "a fault of a kernel" => fault("tril"),
        "a fault of a product" => fault("matmul"),
        "a fault of a transform" => fault("fft"),
        "a fault of a factorization" => fault("cholesky"),
        other => panic!("there is no case `{other}`"),
    }
    println!("case done");
}

#[track_caller]
fn unavailable(found: Result<Cuda>, why: &str) {
    match found {
        Err(error @ (Error::Unavailable { backend: "cuda", .. } | Error::Argument { .. })) => {
            assert!(error.to_string().contains(why), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_machine_without_a_driver() {
    if soft_cuda().is_some() {
        child("no driver", Path::new(""), &[]);
    }
}

/// The loader maps as many bytes as the ELF headers declare. If the backend did not check the length of the file first,
/// the process would end with SIGBUS.
#[test]
fn a_driver_that_was_cut_off() {
    let Some(folder) = soft_cuda() else { return };
    let damaged = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("damaged_driver");
    fs::create_dir_all(&damaged).unwrap();
    let whole = fs::read(folder.join("libcuda.so.1")).unwrap();
    for length in [whole.len() / 2, 100_000, 10] {
        fs::write(damaged.join("libcuda.so.1"), &whole[..length]).unwrap();
        child("damaged driver", &damaged, &[]);
    }
}

#[test]
fn a_driver_without_a_device() {
    if let Some(folder) = soft_cuda() {
        child("no device", &folder, &[("SOFT_CUDA_DEVICES", "0")]);
        child("one device", &folder, &[]);
    }
}

fn two_devices() -> Result<()> {
    let (first, second) = (Cuda::new(0)?, Cuda::new(1)?);
    let (x, y) = (first.asarray([1.0, 2.0])?, second.asarray([3.0, 4.0])?);
    let error = first.add(&x, &y).unwrap_err();
    assert!(matches!(error, Error::Device { op: "add", .. }), "{error}");
    assert!(error.to_string().contains("cuda:1"), "{error}");
    let sum = first.add(&x, &second.to_backend(&y, &first)?)?;
    assert_eq!(first.to_ndarray(&sum)?.as_slice(), Some(&[4.0, 6.0][..]));
    Ok(())
}

#[test]
fn arrays_of_two_devices() {
    if let Some(folder) = soft_cuda() {
        child("two devices", &folder, &[("SOFT_CUDA_DEVICES", "2")]);
    }
}

fn no_libraries() -> Result<()> {
    let b = Cuda::new(0)?;
    let x = b.ones::<f64>([4, 4])?;
    for (error, library) in [
        (b.matmul(&x, &x), "libcublas"),
        (b.rfft2(&x).map(|z| b.real(&z).unwrap()), "libcufft"),
        (b.svdvals(&x), "libcusolver"),
    ] {
        let error = error.unwrap_err();
        assert!(matches!(error, Error::Unavailable { backend: "cuda", .. }), "{error}");
        assert!(error.to_string().contains(library), "{error}");
    }
    // ops that need no library still work
    assert_eq!(b.to_ndarray(&b.sum(&x, ..)?)?[[]], 16.0);
    Ok(())
}

#[test]
fn a_machine_without_libraries_for_the_device() {
    let Some(folder) = soft_cuda() else { return };
    let bare = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("driver_alone");
    fs::create_dir_all(&bare).unwrap();
    fs::copy(folder.join("libcuda.so.1"), bare.join("libcuda.so.1")).unwrap();
    child("no libraries", &bare, &[]);
}

fn little_memory() -> Result<()> {
    let b = Cuda::new(0)?;
    let x = b.ones::<f64>([1000])?;
    for (error, op) in [
        (b.zeros::<f64>([1 << 20]), "zeros"),
        (b.tile(&x, [1000]), "tile"),
        (b.outer(&x, &x), "outer"),
        (b.broadcast_to(&x, [1000, 1000]).and_then(|x| b.exp(&x)), "exp"),
    ] {
        let error = error.unwrap_err();
        assert!(matches!(error, Error::Memory { .. }) && error.op() == Some(op), "{op}: {error}");
    }
    assert_eq!(b.to_ndarray(&b.sum(&x, ..)?)?[[]], 1000.0, "nothing is lost");
    Ok(())
}

/// Tests the cache of freed memory, which is kept for new arrays of the same size: if the device has no memory left for
/// an array of another size, the backend releases the cache.
fn freed_memory() -> Result<()> {
    let b = Cuda::new(0)?;
    for n in [1_000, 20_000, 50_000, 90_000, 60_000, 100_000] {
        let x = b.ones::<f64>([n])?;
        assert_eq!(b.to_ndarray(&b.sum(&x, ..)?)?[[]], n as f64);
    }
    Ok(())
}

#[test]
fn a_full_device() {
    if let Some(folder) = soft_cuda() {
        child("little memory", &folder, &[("SOFT_CUDA_MEMORY", "1000000"), ("BACKENDS_CUDA_CACHE", "0")]);
        child("freed memory", &folder, &[("SOFT_CUDA_MEMORY", "1000000"), ("BACKENDS_CUDA_CACHE", "1")]);
    }
}

/// Calls ops of many kinds. Returns the sum of their results.
fn program(b: &Cuda) -> Result<f64> {
    let x = b.reshape(&b.linspace(-1.0_f64, 1.0, 24)?, [4, 6])?;
    let gram = b.matmul(&x, &b.matrix_transpose(&x)?)?;
    let spectrum = b.abs(&b.rfft2(&gram)?)?;
    let values = b.flatten(&spectrum)?;
    let sorted = b.take(&values, &b.argsort(&values)?, 0)?;
    let large = b.boolean_mask(&sorted, &b.greater(&sorted, 0.5)?)?;
    let spd = b.add(&gram, &b.eye::<f64>(4)?)?;
    let stack = b.stack([&spd, &gram])?;
    let factors =
        [b.cholesky(&spd)?, b.solve(&spd, &gram)?, b.svd(&gram)?.u, b.qr(&gram)?.r, b.eigh(&spd)?.eigenvectors];
    let norms = b.concat([b.sum(&b.abs(&b.concat(factors.each_ref())?)?, 0)?, b.flatten(&b.svdvals(&stack)?)?])?;
    let parts = [b.sum(&gram, 0)?, b.cumulative_sum(&large, 0)?, b.unique_values(&sorted)?, norms, b.det(&stack)?];
    let sums = b.concat(parts.each_ref())?;
    Ok(b.to_ndarray(&b.sum(&sums, ..)?)?[[]])
}

fn any_allocation_fails() {
    let b = Cuda::new(0).unwrap();
    let expected = program(&b).unwrap();
    let driver = common::SoftCuda::open().expect("the software driver is loaded");
    let mut failures = 0;
    for n in 1.. {
        // a single failure has no effect: the backend frees its cached memory, and tries the allocation again
        driver.fail_allocations(n, 1);
        assert_eq!(program(&b), Ok(expected), "after allocation {n}");
        driver.fail_allocations(n, u64::MAX);
        let found = program(&b);
        driver.fail_allocations(0, 0);
        match found {
            Err(Error::Memory { .. }) => failures += 1,
            found => {
                assert_eq!(found, Ok(expected));
                break;
            }
        }
        assert_eq!(program(&b), Ok(expected), "nothing is lost by failures from allocation {n} on");
    }
    assert!(failures > 20, "{failures}");
}

#[test]
fn whichever_allocation_fails() {
    if let Some(folder) = soft_cuda() {
        child("any allocation fails", &folder, &[("BACKENDS_CUDA_CACHE", "0")]);
    }
}

/// Runs a program while a mistake is planted in the device, and checks that the error names the op `op`.
fn fault(op: &'static str) {
    let b = Cuda::new(0).unwrap();
    let program = || -> Result<()> {
        let spd = b.add(&b.tril(&b.ones::<f64>([4, 4])?)?, &b.multiply(&b.eye::<f64>(4)?, 9.0)?)?;
        let gram = b.matmul(&spd, &b.matrix_transpose(&spd)?)?;
        let factor = b.cholesky(&gram)?;
        let spectrum = b.fft(&b.complex(&factor, &gram)?)?;
        b.to_ndarray(&b.exp(&b.real(&spectrum)?)?).map(drop)
    };
    let error = program().unwrap_err();
    assert_eq!(error.op(), Some(op), "{error}");
    assert!(error.to_string().contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{error}");
}

/// By default, the error of a failed kernel names the op whose call waits for the device. With `BACKENDS_CUDA_SYNC`,
/// every op waits for the kernels that it launches, so the error names the op that launched the kernel.
#[test]
fn a_fault_on_the_device_is_said_by_the_op_that_made_it() {
    let Some(folder) = soft_cuda() else { return };
    // the planted mistake is in a kernel of `tril`, but `cholesky` is the first op that waits for the device
    child("a fault, said late", &folder, &[("SOFT_CUDA_PLANT", "bounds:triangle")]);
    for (case, planted) in [
        ("a fault of a kernel", "bounds:triangle"),
        ("a fault of a product", "bounds:gemm"),
        ("a fault of a transform", "bounds:fft"),
        ("a fault of a factorization", "bounds:potrf"),
    ] {
        child(case, &folder, &[("SOFT_CUDA_PLANT", planted), ("BACKENDS_CUDA_SYNC", "1")]);
    }
}
