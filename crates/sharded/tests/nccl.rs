//! Tests the exchange of arrays from GPU to GPU by NCCL. Each rank, which is a thread or a process, has its own GPU.
//! The software device has several GPUs. These tests cannot run with fewer real GPUs than ranks, or without NCCL.
#![cfg(target_os = "linux")]

use backends::{Error, Result, prelude::*, runtime::available};
use backends_sharded::{
    Policy, Sharded, World, gpu,
    world::{Join, bytes, threads},
};
use mpiexec::Mpi;
use std::{env, process::Command, sync::OnceLock, time::Duration};

/// The environment variable that a test sets for a process that it starts. Its value is the role of the process:
/// `threads`, `processes` or `rows`.
const ROLE: &str = "BACKENDS_NCCL_ROLE";

/// The number of ranks of the tests.
const RANKS: usize = 3;

const POLICY: Policy = Policy::new().least(2);

/// Runs tests of this file again, in a process with a GPU for each rank.
fn again(command: &mut Command, tests: &[&str]) {
    command.env("SOFT_CUDA_DEVICES", RANKS.to_string()).env("RAYON_NUM_THREADS", "1");
    command.arg(env::current_exe().unwrap()).args(["--exact", "--nocapture", "--test-threads=1"]).args(tests);
    let finished = mpiexec::finish(command, Duration::from_secs(900)).unwrap();
    let has_passed = finished.status.is_some_and(|status| status.success());
    assert!(has_passed, "{:?}\n{}", finished.status, finished.output);
    // the number of passed tests is checked, because a filter that matches no test would also succeed
    assert!(finished.output.contains(&format!("{} passed", tests.len())), "{}", finished.output);
}

/// Returns whether this machine has NCCL and a GPU for each rank; the software device has both.
fn is_there() -> bool {
    let enough = || match env::var_os("BACKENDS_SOFT_CUDA") {
        Some(_) => Ok(()),
        None if Cuda::count()? >= RANKS => Ok(()),
        None => Err(Error::unavailable("cuda", format!("there are fewer than {RANKS} GPUs"))),
    };
    available("cuda", Cuda::new(0).and_then(|_| enough())).is_some()
}

/// The role of this process, if a test has started the process.
fn role() -> Option<String> {
    env::var(ROLE).ok()
}

/// Runs a test again in a separate process, which has a GPU for each rank. Returns true inside that process.
fn within(test: &str, set: &[(&str, &str)]) -> bool {
    if role().is_some() {
        return true;
    }
    if is_there() {
        again(Command::new("env").env(ROLE, "threads").envs(set.iter().copied()), &[test]);
    }
    false
}

fn on_threads<R: Send>(check: impl Fn(&Sharded<Cuda>) -> R + Sync) -> Vec<R> {
    threads::run(RANKS, |world| check(&Sharded::with(gpu(world).unwrap(), world.clone(), POLICY).unwrap()))
}

/// An array of shape [n, 3] with varying elements, in any dtype.
fn numbers<T: Element>(n: usize) -> HostArray<T> {
    HostArray::from_shape_fn(ndarray::IxDyn(&[n, 3]), |at| T::from_i64(((at[0] * 7 + at[1] * 3) % 100) as i64))
}

/// Tests every operation that moves parts, and compares the results with the original elements.
fn moves<T: Element>(b: &Sharded<Cuda>) -> Result<()> {
    let x = numbers::<T>(20);
    let y = b.from_ndarray(x.clone())?;
    // gathers all parts on all ranks
    assert_eq!(b.to_ndarray(&y)?, x);
    // exchanges blocks between ranks, and back
    let turned = b.resplit(&y, Some(1))?;
    assert_eq!((turned.split(), b.to_ndarray(&turned)?), (Some(1), x.clone()));
    assert_eq!(b.to_ndarray(&b.resplit(&turned, Some(0))?)?, x);
    // reverses rows, rolls rows to other ranks, and selects rows by a list
    let back = x.slice(ndarray::s![..;-1, ..]).to_owned().into_dyn();
    assert_eq!(b.to_ndarray(&b.flip(&y, 0)?)?, back);
    let roll = b.to_ndarray(&b.roll(&y, [5], [0])?)?;
    assert_eq!(roll.slice(ndarray::s![5.., ..]), x.slice(ndarray::s![..15, ..]));
    let places = [19_i64, 0, 7, 7, 3];
    let taken = b.to_ndarray(&b.take(&y, &b.asarray(places.to_vec())?, 0)?)?;
    for (row, place) in places.iter().enumerate() {
        assert_eq!(taken.slice(ndarray::s![row, ..]), x.slice(ndarray::s![*place as usize, ..]));
    }
    Ok(())
}

/// Tests the operations that move parts, in all dtypes. In each dtype, data must go over the link if and only if there
/// is a link.
fn moves_of_all_dtypes(b: &Sharded<Cuda>) {
    let check = |moved: Result<()>, before: u64, dtype: DType| {
        moved.unwrap_or_else(|why| panic!("{dtype}: {why}"));
        assert_eq!(b.linked() > before, b.link().is_ok(), "{dtype}: {} bytes went by the link", b.linked() - before);
    };
    macro_rules! each {
        ($($t:ty)*) => { $({
            let before = b.linked();
            check(moves::<$t>(b), before, <$t as Element>::DTYPE);
        })* };
    }
    each!(bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 Complex<f32> Complex<f64>);
}

fn all_dtypes(b: &Sharded<Cuda>) {
    assert!(b.link().is_ok_and(|name| name.starts_with("NCCL 2.")), "{:?}", b.link());
    moves_of_all_dtypes(b);
    // data that goes over the link must not also be sent as messages of the world
    let x = b.random_normal::<f64>([300, 4]).unwrap();
    b.world().reset_spent();
    b.resplit(&x, Some(1)).unwrap();
    if env::var_os("WORLD_CHECK").is_none() {
        assert_eq!(b.world().spent().calls, 0);
    }
    // compares with the random numbers of another backend on one rank
    let alone = Numpyish::seeded(5);
    b.seed(5);
    let sums = b.to_vec(b.sum(b.random_normal::<f64>([200, 40]).unwrap(), 0).unwrap()).unwrap();
    let expected = alone.to_vec(alone.sum(alone.random_normal::<f64>([200, 40]).unwrap(), 0).unwrap()).unwrap();
    assert_eq!(sums.len(), expected.len());
    assert!(sums.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-10), "{sums:?} {expected:?}");
}

#[test]
fn every_dtype_moves_between_threads() {
    if within("every_dtype_moves_between_threads", &[]) {
        on_threads(all_dtypes);
    }
}

#[test]
fn counts_are_compared_where_ranks_compare_calls() {
    if within("counts_are_compared_where_ranks_compare_calls", &[("WORLD_CHECK", "1")]) {
        on_threads(|b| {
            all_dtypes(b);
            // an exchange whose counts do not match fails before anything is sent
            let wrong = b.world().agree_counts(&[1, 2, 3], &[1, 2, 3 + b.world().rank()]).unwrap_err();
            assert!(wrong.to_string().contains("all_to_all"), "{wrong}");
        });
    }
}

#[test]
fn nothing_is_copied_to_the_host() {
    if within("nothing_is_copied_to_the_host", &[]) {
        let Some(copied) = soft_copied() else { return };
        on_threads(|b| {
            let x = b.random_normal::<f32>([60, 30]).unwrap();
            let before = copied();
            let y = b.resplit(&x, Some(1)).unwrap();
            let z = b.resplit(&y, None).unwrap();
            let w = b.flip(b.add(&x, &x).unwrap(), 0).unwrap();
            assert_eq!(copied(), before);
            assert_eq!(b.to_ndarray(&z).unwrap(), b.to_ndarray(&x).unwrap());
            drop(w);
        });
    }
}

/// The function that returns the number of bytes that this thread has copied to the host; `None` on a real GPU.
fn soft_copied() -> Option<extern "C" fn() -> u64> {
    // SAFETY: the backend has already loaded this library, so loading it again runs no initialisation code.
    let driver = unsafe { libloading::Library::new("libcuda.so.1") }.ok()?;
    // the library is never unloaded, so the function stays valid
    let driver: &'static libloading::Library = Box::leak(Box::new(driver));
    // SAFETY: the software device defines `soft_cuda_copied` with this function type.
    let copied = unsafe { driver.get::<extern "C" fn() -> u64>(b"soft_cuda_copied") }.ok()?;
    Some(*copied)
}

#[test]
fn ranks_that_share_a_gpu_speak_through_the_host() {
    if within("ranks_that_share_a_gpu_speak_through_the_host", &[]) {
        threads::run(RANKS, |world| {
            let b = Sharded::with(Cuda::seeded(world.rank() / 2, 0).unwrap(), world.clone(), POLICY).unwrap();
            assert_eq!(b.link(), Err("ranks 0 and 1 share a GPU"));
            assert_eq!(b.to_ndarray(&b.flip(b.arange::<f64>(0.0, 30.0, 1.0).unwrap(), 0).unwrap()).unwrap()[[0]], 29.0);
            assert_eq!(b.linked(), 0);
        });
        // with more ranks than GPUs, some ranks share a GPU
        threads::run(RANKS + 1, |world| {
            assert_eq!(gpu(world).unwrap().device(), format!("cuda:{}", world.rank() % RANKS));
        });
    }
}

#[test]
fn ranks_with_different_backends_speak_through_the_host() {
    if within("ranks_with_different_backends_speak_through_the_host", &[]) {
        threads::run(2, |world| {
            let within = match world.rank() {
                0 => AnyBackend::from(Numpyish::seeded(0)),
                _ => gpu(world).unwrap().into(),
            };
            let b = Sharded::with(within, world.clone(), POLICY).unwrap();
            let why = b.link().unwrap_err();
            assert!(why == "arrays of numpyish go through the host" || why == "rank 0 has none", "{why}");
            assert_eq!(b.item(b.sum(b.arange::<f64>(0.0, 30.0, 1.0).unwrap(), ..).unwrap()).unwrap(), 435.0);
        });
    }
}

#[test]
fn the_environment_switches_it_off() {
    if within("the_environment_switches_it_off", &[("BACKENDS_NCCL", "0")]) {
        on_threads(|b| {
            assert_eq!(b.link(), Err("BACKENDS_NCCL is 0"));
            moves_of_all_dtypes(b);
            assert_eq!(b.linked(), 0);
        });
    }
}

#[test]
fn a_plan_has_no_link() {
    if within("a_plan_has_no_link", &[]) {
        let (world, plan) = World::plan(8);
        let b = Sharded::with(gpu(&world).unwrap(), world, POLICY).unwrap();
        assert!(b.link().unwrap_err().contains("share a GPU"));
        plan.reset();
        let x = b.random_normal::<f32>([80, 16]).unwrap();
        b.resplit(&x, Some(1)).unwrap();
        assert_eq!(plan.report().total().sent, 10 * 14 * 4);
    }
}

/// Tests processes with one GPU each, under the MPI launcher.
#[test]
fn every_dtype_moves_between_processes() {
    if env::var_os("WORLD_TESTS").is_some() {
        static B: OnceLock<Sharded<Cuda>> = OnceLock::new();
        let b = B.get_or_init(|| {
            let world = World::init().unwrap_or_else(|why| panic!("{why}"));
            Sharded::with(gpu(&world).unwrap(), world, POLICY).unwrap_or_else(|why| panic!("{why}"))
        });
        all_dtypes(b);
        // checks that all ranks have reached this point
        let mut passed = [1_i64];
        b.world().all_reduce(bytes::of_mut(&mut passed), backends_sharded::world::DType::Int64, Join::Sum).unwrap();
        assert_eq!(passed[0], b.world().size() as i64);
        return;
    }
    let none = || Error::unavailable("mpi", "`cargo xtask setup` fetches it");
    if !is_there() {
        return;
    }
    let Some(folder) = available("mpi", mpiexec::folder().ok_or_else(none)) else { return };
    for (mpi, ranks) in [(Mpi::Standard, 2), (Mpi::Standard, RANKS), (Mpi::OpenMpi, 2)] {
        let mut command = mpiexec::mpiexec(mpi, &folder, ranks);
        command.env("WORLD_TESTS", "1").env("WORLD_TIMEOUT", "300").env(ROLE, "processes");
        again(&mut command, &["every_dtype_moves_between_processes"]);
    }
}

/// Tests a sample of the ops of the op table, on ranks that exchange arrays over the link.
mod rows {
    use super::*;

    fn alone() -> Result<Sharded<AnyBackend>> {
        Sharded::new(Numpyish::seeded(0).into(), World::alone())
    }

    fn ranks(check: &(dyn Fn(&Sharded<AnyBackend>) + Sync)) {
        // in the process with the GPUs, runs the check
        if role().as_deref() == Some("rows") {
            threads::run(RANKS, |world| {
                let b = Sharded::with(gpu(world).unwrap().into(), world.clone(), POLICY).unwrap();
                assert!(b.link().is_ok(), "{:?}", b.link());
                check(&b);
            });
        }
    }

    backends::conformance! { backend = alone(), type = Sharded<AnyBackend>, ranks = ranks, every = 15, dtypes = ["float32"] }

    #[test]
    fn by_nccl() {
        if role().is_some() || !is_there() {
            return;
        }
        let mut command = Command::new(env::current_exe().unwrap());
        // the tests run one at a time, because two programs on the same GPUs would have to enqueue their messages in
        // the same order
        command.env(ROLE, "rows").env("SOFT_CUDA_DEVICES", RANKS.to_string()).args(["rows::", "--test-threads=1"]);
        let finished = mpiexec::finish(&mut command, Duration::from_secs(1500)).unwrap();
        assert!(finished.status.is_some_and(|status| status.success()), "{:?}\n{}", finished.status, finished.output);
    }
}
