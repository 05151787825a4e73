//! Compares the results of each program with the results of the program in Python, on each backend.

use backends::{AnyBackend, prelude::*, runtime::available};
use backends_npz::Npz;
use cookbook::programs::{Inputs, PROGRAMS};
use std::path::Path;

/// Runs all programs on a backend.
fn agree(b: &AnyBackend) {
    for program in &PROGRAMS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(program.name).with_extension("npz");
        let file = Npz::open(path).unwrap();
        let outcome = (program.run)(&Inputs { b, file: &file }).unwrap_or_else(|e| panic!("{}: {e}", program.name));
        assert!(!outcome.results.is_empty());
        for (name, found) in &outcome.results {
            let expected = if file.dtype(name).unwrap() == DType::Int64 {
                file.get::<i64>(name).unwrap().mapv(|x| x as f64)
            } else {
                file.get::<f64>(name).unwrap()
            };
            assert_eq!(found.shape(), expected.shape(), "{}: {name}", program.name);
            let size = expected.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            let error = found.iter().zip(&expected).fold(0.0_f64, |most, (x, y)| most.max((x - y).abs()));
            // the minimum of a likelihood is found to the square root of the rounding of its values
            let tolerance = if program.name == "gaussian_process" { 1e-5 } else { 1e-8 };
            assert!(error <= tolerance * size, "{}: {name} differs by {error:e}, of {size:e}", program.name);
        }
        assert!(outcome.picture.png().unwrap().starts_with(b"\x89PNG"), "{}", program.name);
    }
}

#[test]
fn the_cpu_computes_what_python_computes() {
    agree(&Numpyish::new().into());
}

#[test]
fn libtorch_computes_what_python_computes() {
    if let Some(torch) = available("torch", Torch::cpu()) {
        agree(&torch.into());
    }
}

#[test]
fn a_gpu_computes_what_python_computes() {
    if let Some(cuda) = available("cuda", Cuda::new(0)) {
        agree(&cuda.into());
    }
}

/// Each program is at most 1.4 times as long as the program in Python, without comments, documentation and empty lines.
#[test]
fn programs_are_short() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for program in &PROGRAMS {
        let lines = |extension: &str, comment: &str| {
            let text = std::fs::read_to_string(folder.join(program.name).with_extension(extension)).unwrap();
            let is_code = |line: &&str| !line.is_empty() && !line.starts_with(comment) && !line.starts_with("\"\"\"");
            text.lines().map(str::trim).filter(is_code).count()
        };
        let (rust, python) = (lines("rs", "//"), lines("py", "#"));
        assert!(rust as f64 <= 1.4 * python as f64, "{}: {rust} lines, {python} in Python", program.name);
    }
}
