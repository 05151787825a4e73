//! Tests of the example program `template_match`. They start the program with arguments, like a user.

#[path = "../../../tests/common/near.rs"]
mod near;

use backends::{prelude::*, runtime::available};
use backends_npz::{Npz, encode};
use examples_common::trial::Program;
use ndarray::ArrayD;
use std::{fs, path::Path, sync::LazyLock};

static PROGRAM: LazyLock<Program> = LazyLock::new(|| Program {
    path: env!("CARGO_BIN_EXE_template_match"),
    folder: Path::new(env!("CARGO_TARGET_TMPDIR")).join("template_match"),
});

fn reference(name: &str) -> Npz {
    Npz::open(format!("{}/../../tests/data/{name}.npz", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Writes arrays of the reference `data` to files in `folder`. Returns the command-line arguments that name these
/// files.
fn files(data: &Npz, folder: &Path, mask: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    for (option, name) in [("target", "target"), ("template", "template"), ("mask", mask), ("rotations", "rotations")] {
        let path = folder.join(format!("{option}.npy"));
        fs::write(&path, encode(&data.get::<f64>(name).unwrap())).unwrap();
        arguments.extend([format!("--{option}"), path.to_string_lossy().into_owned()]);
    }
    arguments
}

/// Checks that the scores equal pyTME's, and that the template is found at the same position.
fn has_the_scores(backend: &str, name: &str, score: &str, order: usize, more: &[&str]) {
    let expected = reference(name);
    let folder = PROGRAM.folder(&format!("{backend}_{name}_{score}_{order}_{}", more.concat().replace("--", "")));
    let files = files(&expected, &folder, if score == "FLC" { "mask_ellipsoid" } else { "mask_sphere" });
    let single = (score, order, more.is_empty()) == ("FLC", 3, true);
    for (dtype, tolerance) in [("float64", 1e-9), ("float32", 1e-4)].into_iter().take(1 + usize::from(single)) {
        let out = folder.join("out");
        let number = order.to_string();
        let mut arguments = vec!["--backend", backend, "--dtype", dtype, "--score", score, "--order", &number];
        arguments.extend(files.iter().map(String::as_str).chain(more.iter().copied()));
        let text = PROGRAM.succeeds(&arguments, &out);
        assert!(text.contains(&format!("{dtype} on {backend}")), "{text}");
        let found = Npz::open(&out).unwrap();
        let get = |key: &str| expected.get::<f64>(&format!("{score}_o{order}_{key}")).unwrap();
        near::near(dtype, &found.get::<f64>("scores").unwrap(), &get("score"), tolerance);
        if dtype == "float64" {
            // two rotations may have equal scores within rounding, so the best rotation may differ at a few positions
            let differ = found.get::<f64>("rotation").unwrap().iter().zip(&get("rot")).filter(|(x, y)| x != y).count();
            assert!(differ <= 5, "{differ}");
        }
        let peaks = fs::read_to_string(out.join("peaks.csv")).unwrap();
        let best: Vec<f64> = peaks.lines().nth(1).unwrap().split(',').map(|v| v.parse().unwrap()).collect();
        let peak = get("peak");
        assert_eq!(best[..4], [1.0, peak[[0]], peak[[1]], peak[[2]]], "{peaks}");
        assert_eq!(best[5], expected.scalar(&format!("{score}_o{order}_peak_rot")).unwrap());
    }
}

#[test]
fn the_cpu_has_the_scores_of_pytme() {
    for score in ["CC", "FLC", "FLCSphericalMask"] {
        for order in [1, 3] {
            has_the_scores("numpyish", "pytme_24", score, order, &[]);
        }
    }
    for score in ["CC", "FLC"] {
        has_the_scores("numpyish", "pytme_20x23x26_even", score, 3, &[]);
    }
}

#[test]
fn scores_do_not_depend_on_memory_or_threads() {
    // if the volume were not divided, the search would need 12 arrays of 20 x 24 x 26 numbers of 8 bytes: 1.2 MB
    has_the_scores("numpyish", "pytme_20x23x26_even", "FLC", 3, &["--memory", "1", "--threads", "1"]);
}

#[test]
fn libtorch_has_the_scores_of_pytme() {
    if available("torch", Torch::cpu()).is_some() {
        for score in ["CC", "FLC", "FLCSphericalMask"] {
            has_the_scores("torch", "pytme_24", score, 3, &[]);
        }
        has_the_scores("torch", "pytme_20x23x26_even", "FLC", 3, &[]);
    }
}

/// Searches fewer rotations and positions, because this test may run on the software device, which is slow.
#[test]
fn a_gpu_finds_the_template() {
    if available("cuda", Cuda::new(0)).is_none() {
        return;
    }
    let data = reference("pytme_24");
    let run = |backend: &str| {
        let folder = PROGRAM.folder(&format!("{backend}_small"));
        let files = files(&data, &folder, "mask_sphere");
        let whole = data.get::<f64>("target").unwrap();
        let part = whole.slice(ndarray::s![7..20, 3..16, 8..21]).to_owned().into_dyn();
        fs::write(folder.join("target.npy"), encode(&part)).unwrap();
        let rotations = data.get::<f64>("rotations").unwrap();
        fs::write(
            folder.join("rotations.npy"),
            encode(&rotations.slice(ndarray::s![15..18, .., ..]).to_owned().into_dyn()),
        )
        .unwrap();
        let mut arguments = vec!["--backend", backend, "--dtype", "float64", "--score", "FLC"];
        arguments.extend(files.iter().map(String::as_str));
        let out = folder.join("out");
        PROGRAM.succeeds(&arguments, &out);
        Npz::open(&out).unwrap()
    };
    let (found, expected) = (run("cuda"), run("numpyish"));
    near::near("scores", &found.get::<f64>("scores").unwrap(), &expected.get::<f64>("scores").unwrap(), 1e-9);
    assert_eq!(found.get::<f64>("rotation").unwrap()[[6, 6, 7]], 2.0, "the planted rotation");
}

#[test]
fn the_particles_of_the_example_are_found() {
    let folder = PROGRAM.folder("particles");
    let out = folder.join("new");
    let numbers = |line: &str| -> Vec<f64> { line.split(',').map(|v| v.parse().unwrap()).collect() };
    let planted: Vec<Vec<f64>> = include_str!("../../data/particles.csv").lines().skip(1).map(numbers).collect();
    let matrices: Vec<f64> = planted.iter().flat_map(|row| row[3..].iter().copied()).collect();
    let rotations = folder.join("rotations.npy");
    fs::write(&rotations, encode(&ArrayD::from_shape_vec(vec![6, 3, 3], matrices).unwrap())).unwrap();
    let text = PROGRAM.succeeds(&["--rotations", rotations.to_str().unwrap(), "--threads", "2"], &out);
    assert!(text.contains("particles.mrc: 64 x 64 x 64, float32 on numpyish"), "{text}");
    let found = fs::read_to_string(out.join("peaks.csv")).unwrap();
    let found: Vec<Vec<f64>> = found.lines().skip(1).map(numbers).collect();
    assert_eq!(found.len(), 6, "others have less than half the score of the best");
    for (index, row) in planted.iter().enumerate() {
        let near = |f: &&Vec<f64>| f[1..4].iter().zip(row).all(|(a, b)| (a - b).abs() <= 1.0);
        let best = found.iter().find(near).unwrap_or_else(|| panic!("{row:?} is not among {found:?}"));
        assert_eq!(best[5], index as f64, "the rotation");
    }
    for name in ["target.png", "scores.png"] {
        assert!(fs::read(out.join(name)).unwrap().starts_with(b"\x89PNG"));
    }
    let mut names: Vec<_> = fs::read_dir(&out).unwrap().map(|f| f.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["peaks.csv", "rotation.npy", "rotations.npy", "scores.npy", "scores.png", "target.png"]);
}

#[test]
fn wrong_arguments_are_explained() {
    let folder = PROGRAM.folder("wrong");
    let file = |name: &str, shape: &[usize], value: f64| {
        let path = folder.join(name);
        fs::write(&path, encode(&ArrayD::from_elem(shape, value))).unwrap();
        path.to_string_lossy().into_owned()
    };
    let (flat, small, zero) =
        (file("flat.npy", &[9, 9], 1.0), file("small.npy", &[9, 9, 9], 1.0), file("zero.npy", &[17; 3], 0.0));
    let (bad, empty, nan) =
        (file("bad.npy", &[2, 3, 3], 1.0), file("none.npy", &[0, 3, 3], 1.0), file("nan.npy", &[64; 3], f64::NAN));
    let none = file("no_elements.npy", &[0, 9, 9], 1.0);
    fs::write(folder.join("short.mrc"), [0; 100]).unwrap();
    let short = folder.join("short.mrc").to_string_lossy().into_owned();
    for (arguments, why) in [
        (&["--backend", "numpy"][..], "the backends are"),
        (&["--dtype", "float16"], "float32 and float64"),
        (&["--score", "MCC"], "the scores are"),
        (&["--order", "2"], "the orders are"),
        (&["--step", "1"], "2 to 360"),
        (&["--cone", "181"], "0 to 180"),
        (&["--peaks", "0"], "at least 1"),
        (&["--min-score", "nan"], "a number"),
        (&["--threads", "0"], "at least 1"),
        (&["--memory", "0"], "at least 1"),
        (&["--distance", "nan"], "1 to"),
        (&["--threads", "1", "--backend", "torch"], "OMP_NUM_THREADS"),
        (&["--target", "/nowhere/volume.mrc"], "/nowhere/volume.mrc"),
        (&["--target", "volume.tif"], "volumes are files"),
        (&["--target", &flat], "does not have three axes"),
        (&["--target", &none], "has no elements"),
        (&["--target", &small], "is larger than the volume"),
        (&["--target", &short], "short.mrc"),
        (&["--target", &nan], "a value NaN"),
        (&["--mask", &small], "does not have the shape of the template"),
        (&["--mask", &zero], "the mask is zero"),
        (&["--rotations", &small], "is not (n, 3, 3)"),
        (&["--rotations", &bad], "matrix 0 is not a rotation"),
        (&["--rotations", &empty], "there are no rotations"),
        (&["--template", &small, "--target", &small, "--memory", "1", "--step", "360"], "the same value everywhere"),
        (&["--out", ""], "path is empty"),
        (&["--speed", "high"], "speed"),
        (&["volume"], "volume"),
    ] {
        PROGRAM.fails(arguments, why);
    }
}
