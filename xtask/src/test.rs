//! All tests, with everything there that can be had.

use crate::{
    run::{Outcome, cargo, root, run},
    setup,
};
use std::{collections::BTreeMap, env, fs, path::Path};

/// `test [ARGS]`
pub fn task(args: &[String]) -> Outcome {
    let ci = env::var_os("CI").is_some();
    match setup::task(&[]) {
        Err(why) if ci => return Err(why),
        Err(why) => eprintln!("set-up: {why}\nthe tests that need it are skipped"),
        Ok(()) => {}
    }
    let mut command = cargo();
    command.args(["test", "--workspace"]).args(args);
    if ci && env::var_os("BACKENDS_REQUIRE").is_none() {
        command.env("BACKENDS_REQUIRE", required());
    }
    let skipped = root().join("target/skipped-tests");
    let _ = fs::remove_file(&skipped);
    run(command.env("BACKENDS_SKIPPED", &skipped))?;
    report(&fs::read_to_string(&skipped).unwrap_or_default());
    Ok(())
}

/// What may not be missing: what set-up fetches, and the GPU where the machine has one.
fn required() -> &'static str {
    if Path::new("/dev/nvidiactl").exists() { "torch,nvrtc,cuda" } else { "torch,nvrtc" }
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
