//! Checks builds with fewer features than the default. The builds must have no warnings, and the smallest build must
//! not have certain dependencies.

use crate::run::{Outcome, cargo, root, run};
use std::{path::PathBuf, process::Command};

/// The packages that have the same features as `backends`.
const PACKAGES: [&str; 4] = ["backends", "backends-epr", "backends-sharded", "backends-solvers"];

/// WebAssembly, which has no files, no threads and no loadable libraries.
const WASM: &str = "wasm32-unknown-unknown";

/// Packages that only the features `cuda` and `torch` need.
const FOREIGN: [&str; 2] = ["cudarc", "libloading"];

/// `features`: lints the combinations of features, and checks the dependencies of the smallest build.
pub fn task() -> Outcome {
    let found = foreign(&dependencies("")?);
    if !found.is_empty() {
        return Err(format!("without features `backends` depends on {}", found.join(", ")));
    }
    for features in ["", "cuda", "torch"] {
        println!("features: {}", if features.is_empty() { "none" } else { features });
        lint(&PACKAGES, &["--features", features])?;
    }
    if has_wasm()? {
        println!("features: none, on {WASM}");
        lint(&["backends", "backends-solvers"], &["--target", WASM])?;
    } else {
        println!("skipped: `rustup target add {WASM}` gives the standard library that a check there needs");
    }
    Ok(())
}

/// Lints packages without their default features; any warning is an error.
fn lint(packages: &[&str], args: &[&str]) -> Outcome {
    let mut command = cargo();
    command.args(["clippy", "--quiet", "--no-default-features"]).args(args);
    packages.iter().for_each(|package| _ = command.args(["--package", package]));
    run(command.args(["--", "-D", "warnings"]))
}

/// The packages that a program links if it uses `backends` with these features, one per line.
fn dependencies(features: &str) -> Outcome<String> {
    let mut command = cargo();
    command.args(["tree", "--package", "backends", "--no-default-features", "--features", features]);
    said(command.args(["--edges", "normal", "--prefix", "none"]))
}

/// The packages of [`FOREIGN`] in a list.
fn foreign(packages: &str) -> Vec<&'static str> {
    let names: Vec<&str> = packages.lines().filter_map(|line| line.split(' ').next()).collect();
    FOREIGN.into_iter().filter(|name| names.contains(name)).collect()
}

/// Returns whether the standard library for WebAssembly is installed.
fn has_wasm() -> Outcome<bool> {
    let folder = said(Command::new("rustc").current_dir(root()).args(["--print", "target-libdir", "--target", WASM]))?;
    Ok(PathBuf::from(folder.trim()).is_dir())
}

/// Runs a program and returns its output.
fn said(command: &mut Command) -> Outcome<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|why| format!("{name} cannot be run: {why}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("`{name}` failed: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that each feature adds its packages. So a new format of cargo's list fails here instead of passing as an
    /// empty list.
    #[test]
    fn the_smallest_build_has_nothing_of_nvidia_or_libtorch() {
        assert_eq!(foreign(&dependencies("").unwrap()), [""; 0]);
        assert_eq!(foreign(&dependencies("torch").unwrap()), ["libloading"]);
        assert_eq!(foreign(&dependencies("cuda").unwrap()), FOREIGN);
    }
}
