//! Builds programs for other tasks to run: benchmarks, examples, and programs of crates outside the workspace.

use crate::run::{Outcome, cargo, root, run};
use std::path::{Path, PathBuf};

/// The package that contains the benchmarks.
pub const BENCHES: &str = "backends-benches";

/// Builds a benchmark with optimisation and symbols. If no benchmark has this name, builds the example with this name.
/// Returns the path of the program.
pub fn built(name: &str) -> Outcome<PathBuf> {
    let file = |folder: &str| {
        let folder = root().join(folder);
        folder.join(format!("{name}.rs")).exists() || folder.join(name).join("main.rs").exists()
    };
    let what = if file("benches") {
        vec!["-p", BENCHES, "--bench", name]
    } else if file("examples") {
        vec!["--example", name]
    } else if root().join("examples").join(name).join("Cargo.toml").exists() {
        vec!["-p", name]
    } else {
        return Err(format!("there is no bench or example `{name}`"));
    };
    let mut command = cargo();
    command.args(["build", "--profile", "bench", "--message-format", "json"]).args(what);
    let out = command.output().map_err(|why| format!("cargo cannot be run: {why}"))?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).into_owned());
    }
    let text = String::from_utf8_lossy(&out.stdout);
    let mut paths = text.lines().filter_map(|line| line.split("\"executable\":\"").nth(1)?.split('"').next());
    paths
        .next_back()
        .map(|path| Path::new(path).to_path_buf())
        .ok_or_else(|| format!("cargo names no program for `{name}`"))
}

/// Builds a crate that uses other libraries, with compiler flags. The crate is in a folder of `benches` that is not
/// part of the workspace. Returns the path of the program.
pub fn outside(folder: &str, program: &str, flags: &str) -> Outcome<PathBuf> {
    let target = root().join("target").join(folder);
    let manifest = root().join("benches").join(folder).join("Cargo.toml");
    let mut command = cargo();
    command.args(["build", "--release", "--manifest-path"]).arg(manifest);
    if !flags.is_empty() {
        command.env("RUSTFLAGS", flags);
    }
    run(command.env("CARGO_TARGET_DIR", &target))?;
    Ok(target.join("release").join(program))
}
