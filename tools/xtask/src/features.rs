//! Checks builds with fewer features than the default. These builds must have no warnings, and the smallest build must
//! not have certain dependencies.

use crate::run::{Outcome, cargo, days, root, run};
use std::{path::PathBuf, process::Command};

/// The packages that have the same features as `backends`.
const PACKAGES: [&str; 4] = ["backends", "backends-epr", "backends-sharded", "backends-solvers"];

/// WebAssembly, which has no files, no threads and no loadable libraries.
const WASM: &str = "wasm32-unknown-unknown";

/// Targets, besides the targets of CI, on which the default build of `backends` must compile without warnings.
const TARGETS: [&str; 3] = ["aarch64-unknown-linux-gnu", "x86_64-pc-windows-gnu", "aarch64-apple-darwin"];

/// Packages that only the features `cuda` and `torch` need.
const FOREIGN: [&str; 5] = ["backends-cuda", "backends-load", "backends-torch", "cudarc", "libloading"];

/// The task `features`: lints the combinations of features, and checks the dependencies of the smallest build.
pub fn task() -> Outcome {
    let found = foreign(&dependencies("")?);
    if !found.is_empty() {
        return Err(format!("without features `backends` depends on {}", found.join(", ")));
    }
    for features in ["", "cuda", "torch"] {
        println!("features: {}", if features.is_empty() { "none" } else { features });
        lint(&PACKAGES, &["--no-default-features", "--features", features])?;
    }
    lint(&["backends"], &["--features", "ndarray-016,serde,tracing"])?;
    targets(&[])
}

/// The task `targets [--in-turn]`: lints the code for the targets in `TARGETS` and for WebAssembly. With `--in-turn`,
/// lints it for one of these targets only, a different one each day. Skips targets whose standard library is not
/// installed.
pub fn targets(args: &[String]) -> Outcome {
    let all: Vec<&str> = TARGETS.into_iter().chain([WASM]).collect();
    let today = match args {
        [] => all,
        [option] if option == "--in-turn" => {
            vec![all[(days() % all.len() as u64) as usize]]
        }
        _ => return Err("usage: cargo xtask targets [--in-turn]".into()),
    };
    for target in today {
        if !is_installed(target)? {
            continue;
        }
        if target == WASM {
            println!("features: none, on {WASM}");
            lint(&["backends", "backends-solvers"], &["--no-default-features", "--target", WASM])?;
        } else {
            println!("features: cuda and torch, on {target}");
            lint(&["backends"], &["--target", target])?;
        }
    }
    Ok(())
}

/// Lints packages; any warning is an error.
fn lint(packages: &[&str], args: &[&str]) -> Outcome {
    let mut command = cargo();
    command.args(["clippy", "--quiet"]).args(args);
    packages.iter().for_each(|package| _ = command.args(["--package", package]));
    run(command.args(["--", "-D", "warnings"]))
}

/// The packages that a program links if it uses `backends` with these features, one package per line.
fn dependencies(features: &str) -> Outcome<String> {
    let mut command = cargo();
    command.args(["tree", "--package", "backends", "--no-default-features", "--features", features]);
    said(command.args(["--edges", "normal", "--prefix", "none"]))
}

/// The packages of [`FOREIGN`] that occur in a list of packages.
fn foreign(packages: &str) -> Vec<&'static str> {
    let names: Vec<&str> = packages.lines().filter_map(|line| line.split(' ').next()).collect();
    FOREIGN.into_iter().filter(|name| names.contains(name)).collect()
}

/// Returns whether the standard library of a target is installed. If it is not, prints how to install it.
fn is_installed(target: &str) -> Outcome<bool> {
    let mut rustc = Command::new("rustc");
    let folder = said(rustc.current_dir(root()).args(["--print", "target-libdir", "--target", target]))?;
    let there = PathBuf::from(folder.trim()).is_dir();
    if !there {
        println!("skipped: `rustup target add {target}` gives the standard library that a check there needs");
    }
    Ok(there)
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

    /// Checks that each feature adds its packages. If cargo changes the format of its list, this test fails, whereas
    /// the check of the smallest build would pass because it finds no package.
    #[test]
    fn the_smallest_build_has_nothing_of_nvidia_or_libtorch() {
        assert_eq!(foreign(&dependencies("").unwrap()), [""; 0]);
        assert_eq!(foreign(&dependencies("torch").unwrap()), ["backends-load", "backends-torch", "libloading"]);
        let of_cuda = ["backends-cuda", "backends-load", "cudarc", "libloading"];
        assert_eq!(foreign(&dependencies("cuda").unwrap()), of_cuda);
    }
}
