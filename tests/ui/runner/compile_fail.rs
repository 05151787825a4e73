//! Tests that wrong programs do not compile, and that the compiler's messages are as expected. A program is a file
//! `NAME.rs` in this package's folder, and `NAME.stderr` has the expected messages. With `UPDATE=1`, the tests rewrite
//! these files, so that git shows the changes. The name of a test is the name of its program:
//!
//! ```text
//! cargo test -p backends-ui-tests --test compile_fail mixed_dtypes
//! ```
//!
//! Each test calls the compiler once, with the libraries that cargo has already compiled for this test program. A nested
//! call of cargo would compile all libraries again.

use backends_ui_command::compiler;
use std::{collections::BTreeSet, env, fs, path::Path, process::Command};

#[path = "compile_fail/messages.rs"]
mod messages;

/// The folder of the programs.
const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

/// One test for each program.
macro_rules! programs {
    ($($name:ident)*) => {
        /// The programs that have a test.
        const PROGRAMS: &[&str] = &[$(stringify!($name)),*];

        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )*
    };
}

programs! {
    axis_or_axes
    clashing_rows
    dtype_outside_the_set
    dtype_without_op
    formula_mistakes
    index_mistakes
    lazy_mistakes
    misleading
    missing_functions
    mixed_dtypes
    ndarray_operands
    no_dtype
    options_without_with
    overlay_of_broken_rows
    overlay_of_rows
    table_mistakes
    two_backends
    wrong_functions
}

#[test]
fn every_program_has_a_test() {
    let paths = fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().path());
    let is_program = |path: &Path| path.extension().is_some_and(|end| end == "rs" || end == "stderr");
    let found: BTreeSet<String> = paths
        .filter(|path| is_program(path))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert!(found.iter().eq(PROGRAMS), "the list of tests has the names of all programs, sorted: {found:?}");
}

/// Checks that a program does not compile, and that the messages are as expected.
fn check(name: &str) {
    let [compiler, args @ ..] = &compiler!();
    let mut command = Command::new(compiler);
    // the compiler finds the source code of the library's parts in the workspace's folder; the library's macros look
    // for tables in the package's folder
    command.args(args).current_dir(Path::new(FOLDER).ancestors().nth(2).unwrap()).env("CARGO_MANIFEST_DIR", FOLDER);
    command.args(["--emit=metadata", "--out-dir", env!("CARGO_TARGET_TMPDIR")]);
    command.args(["--color=never", "--diagnostic-width=140", &format!("tests/ui/{name}.rs")]);
    let output = command.output().unwrap();
    let now = messages::normalized(&String::from_utf8_lossy(&output.stderr));
    assert!(!output.status.success(), "{name}.rs compiles:\n{now}");
    let path = Path::new(FOLDER).join(name).with_extension("stderr");
    if env::var_os("UPDATE").is_some() {
        fs::write(path, now).unwrap();
    } else {
        let expected = fs::read_to_string(path).unwrap_or_default().replace("\r\n", "\n");
        assert!(now == expected, "other messages; see the difference with UPDATE=1 and git diff. They are:\n\n{now}");
    }
}
