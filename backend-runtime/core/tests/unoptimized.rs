//! Tests of the hint that a program built without optimization prints to stderr. It is printed once, at the first large
//! array, unless it is silenced.

use backend_core::{DType, numpyish::buffer::Buffer};
use std::{env, process::Command};

const CHILD: &str = "BACKENDS_TEST_UNOPTIMIZED";

/// Runs this test as a separate program, and returns its stderr.
fn said(quiet: bool) -> String {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "once_at_the_first_large_array", "--nocapture"])
        .env(CHILD, "1")
        .env_remove("BACKENDS_QUIET");
    if quiet {
        command.env("BACKENDS_QUIET", "1");
    }
    let output = command.output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn once_at_the_first_large_array() {
    if env::var_os(CHILD).is_some() {
        for n in [10, 1 << 20, 1 << 20] {
            drop(Buffer::new("test", n, DType::Float64).unwrap());
            if n == 10 {
                eprintln!("small");
            }
        }
        return;
    }
    let advice = said(false);
    let lines = advice.matches("[profile.dev.package.\"*\"]").count();
    assert_eq!(lines, usize::from(cfg!(unoptimized)), "{advice}");
    assert!(advice.starts_with("small\n"), "{advice}");
    assert_eq!(said(true), "small\n");
}
