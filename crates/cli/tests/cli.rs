//! Tests that run the program as a user would.

use backends::{OPS, Recorded, prelude::*};
use backends_npz::{NumpyFiles, ProgramFiles};
use std::{
    io::Write,
    path::PathBuf,
    process::{Command, Output, Stdio},
};

/// Makes an empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_backends-cli")).args(args).env_remove("BACKENDS_DEFAULT").output().unwrap()
}

/// Runs the program and returns its output. Fails if the program fails.
fn says(args: &[&str]) -> String {
    let output = run(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the program and returns its error output. Fails if the program succeeds.
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
    assert!(fails(&["calls"]).contains("`calls` is not a command"));
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
    // tests two calls that a `;` separates, a `;` inside brackets (the step of a slice), and a number as a variable
    let both = "z = multiply(get(x, [.., ..;-1]), n); sum(z, ..)";
    assert_eq!(says(&["call", both, "--x", &x, "--n", "2.0", "--out", &format!("z={y}")]), "");
    assert_eq!(b.load_npy::<f32>(&y).unwrap(), b.asarray([[4.0, 2.0], [12.0, 6.0]]).unwrap());

    let said = says(&["call", "exp(x)", "--x", &x, "--profile", "--trace", &trace]);
    assert!(said.contains("exp(float32[2, 2]) -> float32[2, 2]"), "{said}");
    assert!(std::fs::read_to_string(&trace).unwrap().starts_with("{\"traceEvents\""));
    assert_eq!(says(&["call", "ones([2])", "--precision", "32"]), "float32 [2]\n[1, 1]\n");
}

/// Runs the program with the given standard input and returns its output. Fails if the program fails.
fn says_of(args: &[&str], input: &[u8]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_backends-cli"));
    command.args(args).env_remove("BACKENDS_DEFAULT").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_script_from_a_file_or_the_standard_input() {
    let folder = folder("a_script_from_a_file");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    // tests a script that is longer than the arguments that a shell accepts
    let lines: String = (0..20_000).map(|k| format!("x = add(x, {}.0)  # it's number {k}; so\n", k % 2)).collect();
    let script = format!("{lines}sum(x, ..); max(x, ..)\n");
    assert!(script.len() > 600_000);
    std::fs::write(path("script.txt"), &script).unwrap();
    let said = "float64 []\n10001\n";
    assert_eq!(says(&["run", &path("script.txt"), "--x", "reshape([1.0], [1])"]), said);
    for args in [["run", "-", "--x", "ones([1])"], ["call", "-", "--x", "ones([1])"]] {
        assert_eq!(says_of(&args, script.as_bytes()), said);
    }
    assert_eq!(says_of(&["run", "-"], "größe = ones([2])\r\n".as_bytes()), "größe = float64 [2]\n[1, 1]\n");
    assert_eq!(says_of(&["run", "-"], b""), "");

    std::fs::write(path("wrong.txt"), "sum(1,\n").unwrap();
    assert!(fails(&["run", &path("wrong.txt")]).contains("wrong.txt: "));
    std::fs::write(path("bytes"), b"\xff\xfe").unwrap();
    assert!(fails(&["run", &path("bytes")]).contains("bytes: neither text in UTF-8 nor a saved program"));
    assert!(fails(&["run", &path("none.txt")]).contains("none.txt: "));
    assert!(fails(&["run"]).contains("`run` takes a file"));
    assert!(fails(&["run", "a", "b"]).contains("unexpected argument `b`"));
}

#[test]
fn a_saved_program() {
    let folder = folder("a_saved_program");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let saved = path("saved program.npz");
    let b = Recorded::new(Numpyish::new());
    let x = b.asarray([[Complex::new(1.0_f32, 2.0), Complex::new(-0.5, 0.0)]]).unwrap();
    let (half, no) = (b.asarray([f16::from_f64(0.5)]).unwrap(), b.asarray([true, false]).unwrap());
    let (none, big) = (b.zeros::<f64>([0, 3]).unwrap(), b.asarray(vec![3_i64; 100_000]).unwrap());
    let y = expr!(b, x * x + 1.0).unwrap();
    for (name, total) in
        [("none", b.sum(&none, ..).unwrap()), ("größe", b.astype::<f64, _>(b.sum(&big, ..).unwrap()).unwrap())]
    {
        b.give(name, &total);
    }
    b.give("half", &expr!(b, half * half).unwrap());
    b.give("no", &b.logical_not(&no).unwrap());
    b.give("y", &y);
    b.save_program(&saved).unwrap();

    assert_eq!(says(&["run", &saved]), "y = complex64 [1, 2]\n[[-2+4i, 1.25+0i]]\n");
    let (y_file, no_file, half_file, sum_file) = (path("y.npy"), path("no.npy"), path("half.npy"), path("s.npy"));
    let outs = [("y", &y_file), ("no", &no_file), ("half", &half_file), ("größe", &sum_file)];
    let outs: Vec<String> = outs.iter().map(|(name, file)| format!("--out={name}={file}")).collect();
    let mut args = vec!["run", &saved];
    args.extend(outs.iter().map(String::as_str));
    assert_eq!(says(&args), "");
    let plain = Numpyish::new();
    assert_eq!(&plain.load_npy::<Complex<f32>>(&y_file).unwrap(), y.array());
    assert_eq!(plain.load_npy::<bool>(&no_file).unwrap(), plain.asarray([false, true]).unwrap());
    assert_eq!(plain.load_npy::<f16>(&half_file).unwrap(), plain.asarray([f16::from_f64(0.25)]).unwrap());
    assert_eq!(plain.load_npy::<f64>(&sum_file).unwrap(), plain.asarray(3e5).unwrap());
    // replaces a constant by another array, then reads the file through a pipe
    plain.save_npy(&y_file, plain.asarray([Complex::new(2.0_f32, 0.0)]).unwrap()).unwrap();
    assert_eq!(says(&["run", &saved, "--c0", &y_file]), "y = complex64 [1]\n[5+0i]\n");
    let whole = std::fs::read(&saved).unwrap();
    assert_eq!(says_of(&["run", "-"], &whole), says(&["run", &saved]));

    std::fs::write(&saved, &whole[..whole.len() / 2]).unwrap();
    let said = fails(&["run", &saved]);
    assert!(said.contains("saved program.npz: not a complete .npz"), "{said}");
    std::fs::write(&saved, b"").unwrap();
    assert!(fails(&["run", &saved]).contains("saved program.npz: the file is empty"));
}

#[test]
fn what_is_wrong_is_said() {
    for (args, part) in [
        (&["call", "sum(x, axis=0)"][..], "what is `x`? give --x FILE.npy or a number"),
        (&["call", "sum(x,", "--x", "1"], "line 1, column 7: expected a value, found the end of the line"),
        (&["call", "sum(x)", "--x", "no such file.npy"], "no such file.npy"),
        (&["call", "sum(x)", "--x", "hello"], "there is no variable `hello`"),
        (&["call", "sum(1)", "axis"], "unexpected argument `axis`"),
        (&["call", "sum(1)", "--backend", "cupy"], "`cupy` is not a backend"),
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
