//! A long random search for mistakes that the tests, with their limited time, miss: damaged tables and files, and
//! random calls of every op. The results of calls are compared between backends and between numbers of threads.

use crate::{
    run::{Outcome, cargo, root, run},
    test::available_libraries,
};
use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// Default duration in seconds.
const SECONDS: u64 = 600;

/// Packages with tests named `fuzz`. These tests mutate their input at random for `FUZZ_SECONDS` seconds, starting from
/// the seed `FUZZ_SEED`.
const PACKAGES: [&str; 3] = ["backends-macros", "backends-npz", "backends-images"];

/// Numbers of threads on which the calls are repeated, after they were recorded on one thread.
const THREADS: [&str; 2] = ["2", "7"];

/// Limit in KiB of the address space of the tests of a backend.
const MEMORY: usize = 12 << 20;

/// The task `fuzz [SECONDS] [--seed N] [--calls]`: searches at random for mistakes. A quarter of the time is for damaged
/// tables, a quarter for damaged files of arrays, a quarter for damaged files of images, and the rest, or with `--calls`
/// all of it, for calls.
pub fn task(args: &[String]) -> Outcome {
    let given = arguments(args).ok_or("usage: cargo xtask fuzz [SECONDS] [--seed N] [--calls]")?;
    let Arguments { seconds, seed, only_calls } = given;
    println!("fuzz: {seconds} s from seed {seed}; with `--seed {seed}`, a search begins with the same input");
    available_libraries()?;
    let share = if only_calls { 0 } else { (seconds / 4).max(1) };
    for package in PACKAGES.iter().filter(|_| !only_calls) {
        let mut command = cargo();
        command.args(["test", "-p", package, "fuzz", "--", "--nocapture"]);
        run(command.env("FUZZ_SECONDS", share.to_string()).env("FUZZ_SEED", seed.to_string()))?;
    }
    run(cargo().args(["test", "--no-run", "-p", "backends", "--test", "numpyish", "--test", "torch"]))?;
    let end = Instant::now() + Duration::from_secs(seconds.saturating_sub(PACKAGES.len() as u64 * share));
    let mut rounds = 0;
    while rounds == 0 || Instant::now() < end {
        calls(seed.wrapping_add(rounds))?;
        rounds += 1;
    }
    println!("fuzz: nothing found, in {rounds} rounds of calls of all rows");
    Ok(())
}

/// The arguments of the task.
#[derive(Debug, PartialEq)]
struct Arguments {
    seconds: u64,
    seed: u64,
    only_calls: bool,
}

fn arguments(args: &[String]) -> Option<Arguments> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut given = Arguments { seconds: SECONDS, seed: now, only_calls: false };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--seed" => given.seed = args.next()?.parse().ok()?,
            "--calls" => given.only_calls = true,
            other => given.seconds = other.parse().ok()?,
        }
    }
    Some(given)
}

/// Makes random calls of every op. The calls are first recorded on the backend `Numpyish` with one thread, and then
/// repeated with more threads and on libtorch. The results must agree.
fn calls(seed: u64) -> Outcome {
    let folder = root().join("target/fuzz");
    let _ = fs::remove_dir_all(&folder);
    let step = |what: &str, test: &str, threads: &str| {
        println!("fuzz: seed {seed}, {test} on {threads} threads");
        run(backend(test, seed).env("BACKENDS_FUZZ", of(what, &folder)).env("RAYON_NUM_THREADS", threads))
            .map_err(|why| format!("{why}\nit is repeated by `cargo xtask fuzz 1 --seed {seed}`"))
    };
    step("record", "numpyish", "1")?;
    for threads in THREADS {
        step("compare", "numpyish", threads)?;
    }
    step("compare", "torch", "2")
}

/// The command that runs the tests of a backend, with a limit on their memory if the shell can set a limit.
fn backend(test: &str, seed: u64) -> Command {
    let cargo = cargo();
    let mut command = Command::new("sh");
    command.current_dir(root()).args(["-c", &format!("ulimit -v {MEMORY} 2>/dev/null; exec \"$0\" \"$@\"")]);
    command.arg(cargo.get_program()).args(["test", "--quiet", "-p", "backends", "--test", test]);
    command.args(["--", "--test-threads", "2"]).env("BACKENDS_FUZZ_SEED", seed.to_string());
    command
}

fn of(what: &str, folder: &Path) -> String {
    format!("{what}:{}", folder.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_seed_are_read() {
        let read = |text: &str| arguments(&text.split_whitespace().map(String::from).collect::<Vec<_>>());
        let of = |seconds, only_calls| Some(Arguments { seconds, seed: 7, only_calls });
        assert_eq!(read("--seed 7"), of(SECONDS, false));
        assert_eq!(read("30 --seed 7"), of(30, false));
        assert_eq!(read("--calls 30 --seed 7"), of(30, true));
        assert_eq!(read("30").map(|given| given.seconds), Some(30));
        assert_eq!((read("--seed"), read("-1"), read("soon")), (None, None, None));
    }
}
