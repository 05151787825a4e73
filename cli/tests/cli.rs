//! The program as its user runs it.

use backends::prelude::*;
use backends_npz::NumpyFiles;
use std::{
    path::PathBuf,
    process::{Command, Output},
};

/// A folder of the test's own.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_backends-cli")).args(args).env_remove("BACKENDS_DEFAULT").output().unwrap()
}

/// What it says, where it succeeds.
fn says(args: &[&str]) -> String {
    let output = run(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What it complains of.
fn fails(args: &[&str]) -> String {
    let output = run(args);
    assert!(!output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn lists_and_pages() {
    assert!(says(&[]).contains("backends-cli call"));
    assert!(says(&["devices"]).contains("cpu of numpyish"));
    assert!(says(&["ops", "standard", "deviation"]).contains("std"));
    assert_eq!(says(&["ops"]).lines().count(), OPS.len());
    assert!(says(&["help", "variance"]).starts_with("var(x: array"));
    assert!(fails(&["help", "smu"]).contains("did you mean `sum`?"));
    assert!(fails(&["calls"]).contains("`calls` is not known so"));
}

#[test]
fn a_call_over_files() {
    let folder = folder("a_call_over_files");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let b = Numpyish::new();
    b.save_npy(path("x.npy"), b.asarray([[1.0_f32, 2.0], [3.0, 6.0]]).unwrap()).unwrap();
    let (x, y, trace) = (path("x.npy"), path("y.npy"), path("trace.json"));

    assert_eq!(says(&["call", "std(x, axis=0)", "--x", &x]), "float32 [2]\n[1, 2]\n");
    assert_eq!(says(&["call", "std(x, axis=0)", "--x", &x, "--out", &y]), "");
    assert_eq!(b.load_npy::<f32>(&y).unwrap(), b.asarray([1.0, 2.0]).unwrap());
    // several calls, a step within brackets, a number as a variable
    let both = "z = multiply(get(x, [.., ..;-1]), n); sum(z, ..)";
    assert_eq!(says(&["call", both, "--x", &x, "--n", "2.0", "--out", &format!("z={y}")]), "");
    assert_eq!(b.load_npy::<f32>(&y).unwrap(), b.asarray([[4.0, 2.0], [12.0, 6.0]]).unwrap());

    let said = says(&["call", "exp(x)", "--x", &x, "--profile", "--trace", &trace]);
    assert!(said.contains("exp(float32[2, 2]) -> float32[2, 2]"), "{said}");
    assert!(std::fs::read_to_string(&trace).unwrap().starts_with("{\"traceEvents\""));
    assert_eq!(says(&["call", "ones([2])", "--precision", "32"]), "float32 [2]\n[1, 1]\n");
}

#[test]
fn what_is_wrong_is_said() {
    for (args, part) in [
        (&["call", "sum(x, axis=0)"][..], "what is `x`? give --x FILE.npy or a number"),
        (&["call", "sum(x,", "--x", "1"], "line 1, column 7: a value is wanted"),
        (&["call", "sum(x)", "--x", "no such file.npy"], "no such file.npy"),
        (&["call", "sum(x)", "--x", "hello"], "there is no variable `hello`"),
        (&["call", "sum(1)", "axis"], "`axis` is left over"),
        (&["call", "sum(1)", "--backend", "cupy"], "`cupy` is no backend"),
        (&["call", "sum(1)", "--precision", "8"], "16, 32 or 64"),
        (&["call", "y = sum(1)", "--out", "y.npy"], "--out NAME=FILE.npy"),
        (&["bench", "take"], "write the call"),
    ] {
        let said = fails(args);
        assert!(said.contains(part), "{args:?}: {said}");
    }
}

#[test]
fn a_bench_of_an_op() {
    let said = says(&["bench", "exp", "--size", "10", "--backend", "numpyish"]);
    assert!(said.contains("exp(x)") && said.contains("numpyish on cpu"), "{said}");
}
