//! Skips tests on machines without a library or device. If `BACKENDS_REQUIRE` demands the library or device, the tests
//! fail instead.

use crate::{Error, Result};
use std::{
    io::Write,
    sync::{Mutex, PoisonError},
};

/// Returns the library or device that a test needs; `None` if it is missing. The reason is printed to stderr once per
/// `name`.
///
/// Each skipped test adds a line to the file that the environment variable `BACKENDS_SKIPPED` names.
///
/// The environment variable `BACKENDS_REQUIRE` lists the names that must not be missing, such as `torch,nvrtc`, or is
/// `1` for all names.
///
/// # Panics
/// If `name` is missing but required, and on every error other than [`Error::Unavailable`].
pub fn available<T>(name: &str, found: Result<T>) -> Option<T> {
    static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());
    match found {
        Ok(found) => Some(found),
        Err(why @ Error::Unavailable { .. }) if !required(name) => {
            let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
            if !said.iter().any(|s| s == name) {
                said.push(name.into());
                // `eprintln!` is not used, because the test harness hides its output for passing tests
                let _ = writeln!(std::io::stderr(), "tests of {name} are skipped. {why}");
            }
            note(name);
            None
        }
        Err(why) => panic!("no {name}. {why}"),
    }
}

/// Appends a line to the file of skipped tests. If the file cannot be written, the line is lost, but no test fails.
fn note(name: &str) {
    if let Some(path) = std::env::var_os("BACKENDS_SKIPPED") {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
        let _ = file.and_then(|mut file| file.write_all(format!("{name}\n").as_bytes()));
    }
}

/// Returns whether `BACKENDS_REQUIRE` lists `name`.
fn required(name: &str) -> bool {
    std::env::var("BACKENDS_REQUIRE").is_ok_and(|list| lists(&list, name))
}

fn lists(list: &str, name: &str) -> bool {
    list == "1" || list.split(',').any(|part| part.trim() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_given_and_what_breaks_is_not_skipped() {
        assert_eq!(available("something", Ok(1)), Some(1));
        let broken = || available::<()>("something", Err(Error::argument("op", "wrong")));
        assert!(std::panic::catch_unwind(broken).is_err());
        assert!(lists("1", "cuda") && lists("torch, nvrtc", "nvrtc"));
        assert!(!lists("torch,nvrtc", "cuda") && !lists("", "cuda"));
    }
}
