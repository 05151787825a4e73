//! All tests, with everything there that can be had.

use crate::{
    golden, mpi,
    run::{Outcome, cargo, environment, root, run},
    setup, soft_cuda,
};
use std::{collections::BTreeMap, env, fs, path::Path, process::Command};

mod groups;

/// In which orders, besides the usual one, the software device runs the threads of a kernel.
const ORDERS: [&str; 2] = ["reverse", "random"];

/// The tests that are run in those orders: rows in a dtype of each kind, formulas, and results written over memory.
const WANTED: [&str; 5] = ["float32", "int64", "complex64", "formula", "_over_"];

/// `test [GROUP | --row NAME] [--exhaustive] [ARGS]`
pub fn task(args: &[String]) -> Outcome {
    if args == ["list"] {
        print!("{}", groups::list());
        return Ok(());
    }
    let wanted = Wanted::of(args)?;
    let ci = env::var_os("CI").is_some();
    available_libraries()?;
    // a GPU is better than a software device
    let soft = !Path::new("/dev/nvidiactl").exists() && cfg!(all(target_os = "linux", target_arch = "x86_64"));
    // arrays are exchanged with NumPy, in the version that the golden data are of
    let numpy = match environment("numpy-venv", &golden::PACKAGES[..1]) {
        Err(why) if ci => return Err(why),
        made => made.inspect_err(|why| eprintln!("NumPy: {why}\nthe tests that need it are skipped")).ok(),
    };
    let skipped = root().join("target/skipped-tests");
    let _ = fs::remove_file(&skipped);
    let tests = |args: &[String]| -> Outcome<Command> {
        let mut command = cargo();
        command.args(["test", "--workspace"]).args(args);
        command.env("BACKENDS_SKIPPED", &skipped).env("BACKENDS_MPI", mpi::folder());
        if wanted.is_exhaustive {
            command.env("BACKENDS_EXHAUSTIVE", "1");
        }
        if let Some(python) = &numpy {
            command.env("BACKENDS_NUMPY", python);
        }
        if ci && env::var_os("BACKENDS_REQUIRE").is_none() {
            let mut required = vec!["torch", "nvrtc", "cuda", "numpy"];
            required.extend(soft.then_some("soft-cuda"));
            required.extend(cfg!(target_os = "linux").then_some("mpi"));
            command.env("BACKENDS_REQUIRE", required.join(","));
        }
        if soft {
            soft_cuda::on(&mut command)?;
        }
        Ok(command)
    };
    run(&mut tests(&wanted.args)?)?;
    if soft && wanted.is_exhaustive && wanted.is_whole {
        let rows: Vec<String> =
            ["--test", "cuda", "--test", "cuda_formulas", "--"].into_iter().chain(WANTED).map(String::from).collect();
        for order in ORDERS {
            println!("rows and formulas on the software device, its threads in {order} order");
            run(tests(&rows)?.env("SOFT_CUDA_ORDER", order))?;
        }
        println!("rows and formulas on the software device, with freed memory used again");
        run(tests(&rows)?.env("BACKENDS_CUDA_CACHE", "1"))?;
    }
    report(&fs::read_to_string(&skipped).unwrap_or_default());
    if !wanted.is_exhaustive {
        println!("repetitions were sampled: `--exhaustive` runs them all");
    }
    Ok(())
}

/// What is to be tested.
struct Wanted {
    /// What follows `cargo test --workspace`.
    args: Vec<String>,
    /// Whether repetitions are run whole: orders of threads, numbers of ranks.
    is_exhaustive: bool,
    /// Whether no argument chooses tests.
    is_whole: bool,
}

impl Wanted {
    fn of(args: &[String]) -> Outcome<Wanted> {
        let is_exhaustive = args.iter().any(|arg| arg == "--exhaustive");
        let args: Vec<String> = args.iter().filter(|arg| *arg != "--exhaustive").cloned().collect();
        let is_whole = args.iter().all(|arg| arg == "--no-fail-fast");
        let args = match args.split_first() {
            Some((first, rest)) if first == "--row" => {
                let (row, rest) = rest.split_first().ok_or("`--row` is followed by the name of a row")?;
                groups::row(row, rest)
            }
            Some((first, rest)) if !first.starts_with('-') => {
                let group = groups::named(first)
                    .ok_or_else(|| format!("there is no group `{first}` of tests, but these:\n{}", groups::list()))?;
                group.args().chain(rest.iter().cloned()).collect()
            }
            _ => args,
        };
        Ok(Wanted { args, is_exhaustive, is_whole })
    }
}

/// Fetches the libraries that backends load. Where that fails their tests are skipped, but not in CI.
pub fn available_libraries() -> Outcome {
    match setup::task(&[]) {
        Err(why) if env::var_os("CI").is_some() => Err(why),
        Err(why) => {
            eprintln!("set-up: {why}\nthe tests that need it are skipped");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

/// Says how many tests were skipped: `skipped` has a line for each, of what it misses.
fn report(skipped: &str) {
    let mut counts = BTreeMap::new();
    skipped.lines().for_each(|missing| *counts.entry(missing).or_insert(0) += 1);
    if counts.is_empty() {
        println!("no test was skipped");
    }
    for (missing, count) in counts {
        println!("{count} tests were skipped: there is no {missing} here");
    }
}
