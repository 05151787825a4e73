//! All tests, with everything there that can be had.

use crate::{
    run::{Outcome, cargo, run},
    setup,
};
use std::{env, path::Path};

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
    run(&mut command)
}

/// What may not be missing: what set-up fetches, and the GPU where the machine has one.
fn required() -> &'static str {
    if Path::new("/dev/nvidiactl").exists() { "torch,nvrtc,cuda" } else { "torch,nvrtc" }
}
