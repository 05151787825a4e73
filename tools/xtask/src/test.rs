//! The task `test`: runs all tests, with every library that can be installed.

use crate::{
    golden, mpi,
    python::environment,
    run::{Outcome, cargo, days, root, run},
    setup, soft_cuda,
};
use lanes::Job;
use repetitions::Repetitions;
use std::{collections::BTreeMap, env, fs, path::Path, process::Command};

mod groups;
mod lanes;
mod repetitions;

/// The orders in which the software device runs the threads of a kernel, besides the default order.
const ORDERS: [&str; 2] = ["reverse", "random"];

/// Filters that select the tests for these orders: ops in one dtype of each kind, formulas, and results that overwrite
/// memory.
const WANTED: [&str; 5] = ["float32", "int64", "complex64", "formula", "_over_"];

/// The arguments that select the tests of ops on ranks in the dtypes that other runs leave out.
const OTHER_DTYPES: [&str; 2] = ["--test", "other_dtypes"];

/// The task `test [GROUP | --row NAME] [--exhaustive | --in-turn] [ARGS]`: runs tests, by default all.
pub fn task(args: &[String]) -> Outcome {
    if args == ["list"] {
        print!("{}", groups::list());
        return Ok(());
    }
    let mut wanted = Wanted::of(args)?;
    let ci = env::var_os("CI").is_some();
    available_libraries()?;
    // uses the software device only if the machine has no real GPU
    let soft = !Path::new("/dev/nvidiactl").exists() && cfg!(all(target_os = "linux", target_arch = "x86_64"));
    // if only some tests are selected, or if the GPU is real, tests run in every dtype
    wanted.repetitions.dtypes |= !soft || !wanted.is_whole;
    // the tests exchange arrays with NumPy, in the version that computed the reference results
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
        if wanted.repetitions.ranks {
            command.env("BACKENDS_EXHAUSTIVE", "1");
        }
        if !wanted.repetitions.dtypes {
            command.env("BACKENDS_DTYPES", wanted.repetitions.dtypes().join(","));
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
    if wanted.is_whole {
        // builds all programs first, because jobs that run at the same time would build the same programs twice
        run(tests(&wanted.args)?.arg("--no-run"))?;
        if wanted.repetitions.ranks {
            run(tests(&OTHER_DTYPES.map(String::from))?.arg("--no-run"))?;
        }
        let goes_on = wanted.args.iter().any(|arg| arg == "--no-fail-fast");
        lanes::run_all(jobs(&wanted, soft, tests)?, &root().join("target/test-logs"), goes_on)?;
    } else {
        run(&mut tests(&wanted.args)?)?;
    }
    report(&fs::read_to_string(&skipped).unwrap_or_default());
    for what in wanted.repetitions.sampled() {
        println!("{what} were sampled: `--exhaustive` runs them all");
    }
    Ok(())
}

/// The jobs for the groups of tests, and for the repetitions (with other settings) that run in full. `tests` creates
/// the test command for given arguments.
fn jobs(wanted: &Wanted, soft: bool, tests: impl Fn(&[String]) -> Outcome<Command>) -> Outcome<Vec<Job>> {
    let mut jobs = Vec::new();
    for group in &groups::GROUPS {
        let mut args: Vec<String> = group.args().chain(wanted.args.iter().cloned()).collect();
        if group.name == "cuda" && !wanted.repetitions.dtypes {
            let skipped =
                wanted.repetitions.left_out().into_iter().flat_map(|dtype| ["--skip".into(), format!("::{dtype}")]);
            args.extend(["--".into()].into_iter().chain(skipped));
        }
        jobs.push(Job { name: format!("tests: {}", group.name), command: tests(&args)? });
    }
    if wanted.repetitions.ranks {
        jobs.push(Job { name: "ranks, other dtypes".into(), command: tests(&OTHER_DTYPES.map(String::from))? });
    }
    if soft && wanted.repetitions.orders {
        let chosen = ["--test", "cuda", "--test", "cuda_formulas", "--"];
        let rows: Vec<String> = chosen.into_iter().chain(WANTED).map(String::from).collect();
        let orders = ORDERS.map(|order| (format!("threads in {order} order"), "SOFT_CUDA_ORDER", order));
        let freed = ("freed memory used again".into(), "BACKENDS_CUDA_CACHE", "1");
        for (name, variable, value) in orders.into_iter().chain([freed]) {
            let mut command = tests(&rows)?;
            command.env(variable, value);
            jobs.push(Job { name: format!("the software device, {name}"), command });
        }
    }
    Ok(jobs)
}

/// The tests to run.
struct Wanted {
    /// The arguments after `cargo test --workspace`.
    args: Vec<String>,
    /// The kinds of repetitions (with other settings) that run in full.
    repetitions: Repetitions,
    /// True if the arguments select all tests.
    is_whole: bool,
}

impl Wanted {
    fn of(args: &[String]) -> Outcome<Wanted> {
        let repetitions = Repetitions::asked_for(args, days());
        let args: Vec<String> = args.iter().filter(|arg| !Repetitions::is_option(arg)).cloned().collect();
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
        Ok(Wanted { args, repetitions, is_whole })
    }
}

/// Downloads the libraries that backends load. If this fails, the tests of these backends are skipped; in CI, it is an
/// error.
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

/// Prints the numbers of skipped tests. `skipped` has one line for each skipped test, with the name of the missing
/// library.
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
