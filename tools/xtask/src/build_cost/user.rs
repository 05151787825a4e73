//! A user's crate in a temporary folder, which is built and measured.

use crate::run::{Outcome, cargo, run};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A crate that depends on this library.
pub struct User {
    folder: PathBuf,
    target: PathBuf,
}

impl User {
    /// Writes the crate. `more` is appended to the dependencies in its manifest, and may add sections.
    pub fn new(folder: &Path, of: &Path, source: &str, more: &str) -> Outcome<User> {
        let user = User { folder: folder.join("user"), target: folder.join("target") };
        let of = fs::canonicalize(of).map_err(|why| format!("{}: {why}", of.display()))?;
        let manifest = format!(
            "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
             backends = {{ path = {of:?} }}\n{more}"
        );
        let _ = fs::create_dir_all(user.folder.join("src"));
        // uses the same versions of dependencies as the tests of this repository
        if !user.folder.join("Cargo.lock").exists() {
            let _ = fs::copy(of.join("Cargo.lock"), user.folder.join("Cargo.lock"));
        }
        user.write("Cargo.toml", &manifest)?;
        user.write("src/main.rs", source)?;
        Ok(user)
    }

    fn write(&self, file: &str, text: &str) -> Outcome {
        fs::write(self.folder.join(file), text).map_err(|why| format!("{file} cannot be written: {why}"))
    }

    fn cargo(&self, command: &str, release: bool) -> Command {
        let mut cargo = cargo();
        cargo.current_dir(&self.folder).env("CARGO_TARGET_DIR", &self.target).args([command, "--quiet", "--jobs", "1"]);
        // disables incremental builds, so that a change compiles the whole crate again and not only the changed
        // function
        cargo.env("CARGO_INCREMENTAL", "0");
        if release {
            cargo.arg("--release");
        }
        cargo
    }

    /// Builds the crate. Returns the processor time in seconds.
    pub fn build(&self, release: bool) -> Outcome<f64> {
        let before = children_seconds()?;
        run(&mut self.cargo("build", release))?;
        Ok(children_seconds()? - before)
    }

    /// Builds the crate three times, each time after a change. Returns the time of the fastest build in seconds.
    pub fn rebuild(&self, source: &str, release: bool) -> Outcome<f64> {
        let mut best = f64::INFINITY;
        for n in 1..=3 {
            self.write("src/main.rs", &source.replace("run 0", &format!("run {n}")))?;
            best = best.min(self.build(release)?);
        }
        Ok(best)
    }

    /// Returns whether an earlier build has compiled the dependencies.
    pub fn rest_is_built(&self, release: bool) -> bool {
        self.target.join(if release { "release.built" } else { "dev.built" }).exists()
    }

    pub fn mark(&self, release: bool) -> Outcome {
        let mark = self.target.join(if release { "release.built" } else { "dev.built" });
        fs::write(mark, "").map_err(|why| why.to_string())
    }

    pub fn program(&self, release: bool) -> PathBuf {
        self.target.join(if release { "release" } else { "debug" }).join("user")
    }

    /// Number of LLVM IR lines of the crate before optimisation, and number of functions.
    pub fn lines(&self) -> Outcome<(usize, usize)> {
        let out = self.target.join("user.ll");
        let mut cargo = self.cargo("rustc", true);
        cargo.args(["--", "-C", "codegen-units=1", "-C", "no-prepopulate-passes", "--emit"]);
        cargo.arg(format!("llvm-ir={}", out.display()));
        run(&mut cargo)?;
        let text = fs::read_to_string(&out).map_err(|why| format!("{}: {why}", out.display()))?;
        Ok(counted(&text))
    }
}

/// Number of instruction lines in the functions of an LLVM module, and number of functions.
fn counted(module: &str) -> (usize, usize) {
    let (mut lines, mut functions, mut inside) = (0, 0, false);
    for line in module.lines() {
        if line.starts_with("define ") {
            (functions, inside) = (functions + 1, true);
        } else if line == "}" {
            inside = false;
        } else if inside && line.starts_with("  ") {
            lines += 1;
        }
    }
    (lines, functions)
}

/// Processor time in seconds of all child processes that have ended and been waited for.
fn children_seconds() -> Outcome<f64> {
    let refused = || "the processor time of other programs is read from /proc, which Linux has".to_owned();
    let stat = fs::read_to_string("/proc/self/stat").map_err(|_| refused())?;
    // after the program name in brackets, the 14th and 15th fields are user and system time in hundredths of a second
    let rest = stat.rsplit(')').next().ok_or_else(refused)?;
    let numbers: Vec<f64> = rest.split_whitespace().map(|n| n.parse().unwrap_or(0.0)).collect();
    numbers.get(13..15).map(|t| (t[0] + t[1]) / 100.0).ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_counted() {
        let module =
            "@x = global\n\ndefine void @f() {\nstart:\n  br label %a\n\na:\n  ret void\n}\ndeclare void @g()\n";
        assert_eq!(counted(module), (2, 1));
    }
}
