//! Compares the speed of a program in dev builds with several profiles and in a release build.

use super::user::User;
use crate::run::Outcome;
use std::{collections::BTreeMap, fmt::Write as _, path::Path, process::Command};

/// The program that is built and timed.
const PROGRAM: &str = include_str!("../../dev_speeds.rs");

/// The profile that the README recommends. Dependencies are compiled once, optimised as in a release build. The user's
/// own crate is optimised too, because it contains the compiled formulas.
pub const PROFILE: &str =
    "[profile.dev]\nopt-level = 2\n\n[profile.dev.package.\"*\"]\nopt-level = 3\ndebug-assertions = false\n";

/// The builds. Each has a name, a flag that is true for release builds, and lines of the manifest with the profile.
const BUILDS: [(&str, bool, &str); 5] = [
    ("dev", false, ""),
    ("dependencies at 3", false, "[profile.dev.package.\"*\"]\nopt-level = 3\ndebug-assertions = false\n"),
    ("the README's profile", false, PROFILE),
    (
        "the user's crate at 1",
        false,
        "[profile.dev]\nopt-level = 1\n\n[profile.dev.package.\"*\"]\nopt-level = 3\ndebug-assertions = false\n",
    ),
    ("release", true, ""),
];

/// Prints a row for each call, with its time in each build, and a last row with the time to rebuild the program after a
/// change.
pub fn table(folder: &Path, of: &Path) -> Outcome {
    let mut names: Vec<String> = Vec::new();
    let mut times: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut built = Vec::new();
    for (_, release, profile) in BUILDS {
        let solvers = of.join("crates/solvers");
        let more = format!("backends-solvers = {{ path = {solvers:?}, features = [\"faer\"] }}\n\n{profile}");
        let user = User::new(folder, of, PROGRAM, &more)?;
        user.build(release)?;
        built.push(format!("{:.1}", user.rebuild(PROGRAM, release)?));
        let output = Command::new(user.program(release)).env("RAYON_NUM_THREADS", "1").output();
        let output = output.map_err(|why| format!("the program cannot be run: {why}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let (name, time) = line.split_once('\t').ok_or_else(|| format!("not a name and a time: {line}"))?;
            if !times.contains_key(name) {
                names.push(name.into());
            }
            times.entry(name.into()).or_default().push(time.into());
        }
    }
    let mut table = String::from("| one thread, ms |");
    BUILDS.iter().for_each(|(name, ..)| table += &format!(" {name} |"));
    table += &format!("\n|---|{}\n", "--:|".repeat(BUILDS.len()));
    for name in names {
        let _ = writeln!(table, "| {name} | {} |", times[&name].join(" | "));
    }
    println!("{table}| to build it after a change, s | {} |", built.join(" | "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::root;

    /// Checks that the profile recommended in the README is the profile that is measured.
    #[test]
    fn the_documented_profile_is_the_measured_one() {
        let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
        assert!(readme.contains(PROFILE));
    }
}
