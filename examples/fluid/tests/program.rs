//! Runs the program `fluid` with arguments on the command line, as a user does, and checks its output and its files.

#[path = "../../../tests/common/near.rs"]
mod near;

use backends::{prelude::*, runtime::available};
use backends_npz::{Npz, encode};
use examples_common::trial::Program;
use ndarray::{ArrayD, Axis};
use std::{fs, path::Path, sync::LazyLock};

static PROGRAM: LazyLock<Program> = LazyLock::new(|| Program {
    path: env!("CARGO_BIN_EXE_fluid"),
    folder: Path::new(env!("CARGO_TARGET_TMPDIR")).join("fluid"),
});

fn reference(name: &str) -> Npz {
    Npz::open(format!("{}/../../tests/data/{name}.npz", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Checks that after 1, 2 and 3 steps the velocities equal Phi-ML's, within 1e-11 of the largest velocity in double
/// precision, and within 1e-5 in single precision.
fn has_the_velocities(backend: &str, name: &str) {
    let expected = reference(name);
    let folder = PROGRAM.folder(&format!("{backend}_{name}"));
    fs::write(folder.join("velocity.npy"), encode(&expected.get::<f64>("velocity_0").unwrap())).unwrap();
    let (initial, dt) = (folder.to_string_lossy().into_owned(), expected.scalar("dt").unwrap().to_string());
    for (dtype, tolerance) in [("float64", 1e-11), ("float32", 1e-5)] {
        for steps in 1..=3 {
            let out = folder.join("out");
            let number = steps.to_string();
            let arguments =
                ["--backend", backend, "--dtype", dtype, "--initial", &initial, "--dt", &dt, "--steps", &number];
            let text = PROGRAM.succeeds(&arguments, &out);
            assert!(text.contains(&format!("{dtype} on {backend}")), "{text}");
            let found = Npz::open(&out).unwrap().get::<f64>("velocity").unwrap();
            near::near(dtype, &found, &expected.get::<f64>(&format!("velocity_{steps}")).unwrap(), tolerance);
        }
    }
}

#[test]
fn the_cpu_has_the_velocities_of_phiml() {
    has_the_velocities("numpyish", "phiml_fluid_13");
    has_the_velocities("numpyish", "phiml_fluid_33");
}

#[test]
fn libtorch_has_the_velocities_of_phiml() {
    if available("torch", Torch::cpu()).is_some() {
        has_the_velocities("torch", "phiml_fluid_13");
        has_the_velocities("torch", "phiml_fluid_33");
    }
}

#[test]
fn a_gpu_has_the_velocities_of_phiml() {
    if available("cuda", Cuda::new(0)).is_some() {
        has_the_velocities("cuda", "phiml_fluid_13");
    }
}

/// The number of pictures in a PNG file. The chunk `acTL` of an animated file contains this number; other files contain
/// one picture.
fn pictures(path: &Path) -> u32 {
    let bytes = fs::read(path).unwrap();
    assert!(bytes.starts_with(b"\x89PNG"), "{}", path.display());
    bytes
        .windows(4)
        .position(|w| w == b"acTL")
        .map_or(1, |at| u32::from_be_bytes(bytes[at + 4..at + 8].try_into().unwrap()))
}

#[test]
fn smoke_rises_and_stays_in_the_box() {
    let out = PROGRAM.folder("plume").join("new").join("out");
    let small = ["--size", "48x32", "--steps", "60", "--frames", "4", "--dtype", "float64"];
    let text = PROGRAM.succeeds(&small, &out);
    assert!(text.contains("wrote 8 files"), "{text}");
    let smoke = Npz::open(&out).unwrap().get::<f64>("smoke").unwrap();
    assert_eq!(smoke.shape(), [48, 32]);
    assert!(smoke.iter().all(|s| (0.0..=1.0).contains(s)));
    // the source makes smoke near row 5, and the smoke rises from there
    let rows = smoke.sum_axis(Axis(1));
    let above = rows.iter().skip(12).take(20).sum::<f64>();
    assert!(above > 0.2 * rows.sum(), "{above} of {}", rows.sum());
    assert_eq!(pictures(&out.join("smoke_0004.png")), 1);
    assert_eq!(pictures(&out.join("animation.png")), 4);
    assert_eq!(pictures(&out.join("vorticity.png")), 1);
}

#[test]
fn what_is_left_has_no_divergence() {
    let out = PROGRAM.folder("shear");
    let text = PROGRAM.succeeds(
        &["--scene", "shear", "--size", "32x48", "--steps", "20", "--dtype", "float64", "--frames", "0"],
        &out,
    );
    let largest: f64 = text.split("divergence at most ").nth(1).unwrap().lines().next().unwrap().parse().unwrap();
    assert!(largest < 1e-12, "{text}");
    let velocity = Npz::open(&out).unwrap().get::<f64>("velocity").unwrap();
    assert_eq!(velocity.shape(), [32, 48, 2]);
    assert!(!out.join("animation.png").exists());
    // there are streams in both directions, and slower fluid between them
    let along = velocity.index_axis(Axis(2), 1);
    assert!(along.iter().any(|v| *v > 0.8) && along.iter().any(|v| *v < -0.8), "{along}");
}

#[test]
fn the_same_seed_gives_the_same_smoke() {
    let smoke = |seed: &str, name: &str| {
        let out = PROGRAM.folder(name);
        let small = ["--size", "24x24", "--steps", "10", "--frames", "0", "--seed", seed];
        PROGRAM.succeeds(&small, &out);
        Npz::open(&out).unwrap().get::<f64>("smoke").unwrap()
    };
    let (first, again, other) = (smoke("5", "first"), smoke("5", "again"), smoke("6", "other"));
    assert_eq!(first, again);
    assert_ne!(first, other);
}

#[test]
fn wrong_arguments_are_explained() {
    for (arguments, why) in [
        (&["--backend", "numpy"][..], "the backends are"),
        (&["--dtype", "float16"], "float32 and float64"),
        (&["--scene", "fire"], "the scenes are"),
        (&["--size", "256"], "a size is"),
        (&["--size", "3x256"], "4 to 65536"),
        (&["--size", "99999999999999999999x9"], "a size is"),
        (&["--steps", "0"], "at least 1"),
        (&["--dt", "0"], "positive"),
        (&["--dt", "inf"], "positive"),
        (&["--frames", "1001"], "at most 1000"),
        (&["--seed", "-1"], "integer"),
        (&["--initial", ""], "path is empty"),
        (&["--initial", "/nowhere/velocity.npz"], "/nowhere/velocity.npz"),
        (&["--device", "cuda:0"], "cpu"),
        (&["--speed", "9"], "speed"),
        (&["box"], "box"),
    ] {
        PROGRAM.fails(arguments, why);
    }
    let folder = PROGRAM.folder("shapes");
    for shape in [&[8, 8][..], &[8, 8, 3], &[3, 8, 2], &[0, 8, 2]] {
        fs::write(folder.join("velocity.npy"), encode(&ArrayD::<f64>::zeros(shape))).unwrap();
        PROGRAM.fails(&["--initial", folder.to_str().unwrap()], "`velocity` has the shape");
    }
    fs::write(folder.join("velocity.npy"), encode(&ArrayD::from_elem(vec![8, 8, 2], f64::NAN))).unwrap();
    PROGRAM.fails(&["--initial", folder.to_str().unwrap()], "not finite");
}

/// Checks that a stream around a cylinder does not enter the cylinder, and that the flow into each cell equals the flow
/// out of the cell.
fn flows_around(backend: &str, size: &str, steps: &str) {
    let out = PROGRAM.folder(&format!("{backend}_cylinder")).join("new").join("out");
    let arguments = ["--backend", backend, "--scene", "cylinder", "--size", size, "--steps", steps, "--frames", "1"];
    let text = PROGRAM.succeeds(&arguments, &out);
    let divergence = text.split("divergence at most ").nth(1).and_then(|rest| rest.split_whitespace().next());
    assert!(divergence.unwrap().parse::<f64>().unwrap() < 1e-3, "{text}");
    let files = Npz::open(&out).unwrap();
    let (smoke, velocity) = (files.get::<f64>("smoke").unwrap(), files.get::<f64>("velocity").unwrap());
    let (rows, columns) = (smoke.shape()[0], smoke.shape()[1]);
    let middle = [rows / 2, columns / 4];
    assert_eq!(smoke[middle], 0.0);
    assert!(velocity.index_axis(Axis(2), 1)[middle].abs() < 1e-6);
    // the stream continues to the right of the cylinder, and is faster above it
    let beside = velocity.index_axis(Axis(2), 1)[[rows / 2 + rows / 5, columns / 4]];
    assert!((1.0..2.0).contains(&beside), "{beside}");
    assert!(smoke.iter().all(|s| (-1e-6..=1.0 + 1e-6).contains(s)));
}

#[test]
fn a_stream_flows_around_a_cylinder() {
    flows_around("numpyish", "40x64", "30");
    if available("torch", Torch::cpu()).is_some() {
        flows_around("torch", "40x64", "30");
    }
    if available("cuda", Cuda::new(0)).is_some() {
        flows_around("cuda", "20x20", "1");
    }
}

/// Checks that the inflow found by the program reproduces the picture, and is the inflow with which the picture was
/// made.
fn finds_the_inflow(backend: &str) {
    let out = PROGRAM.folder(&format!("{backend}_inflow")).join("new").join("out");
    let arguments =
        ["--backend", backend, "--scene", "inflow", "--size", "24x20", "--steps", "15", "--dtype", "float64"];
    let text = PROGRAM.succeeds(&arguments, &out);
    let percent = |of: &str| {
        let number = text.split(of).nth(1).and_then(|rest| rest.split_whitespace().next());
        number.and_then(|n| n.parse::<f64>().ok()).unwrap_or_else(|| panic!("{text}"))
    };
    assert!(percent("the picture differs by ") < 1.0 && percent("the inflow by ") < 3.0, "{text}");
    let inflow = Npz::open(&out).unwrap().get::<f64>("inflow").unwrap();
    assert_eq!(inflow.shape(), [20]);
    // the inflow has two peaks, the left one stronger
    assert!(inflow[[7]] > 0.08 && inflow[[13]] > 0.04 && inflow[[0]].abs() < 0.01, "{inflow}");
    assert_eq!(pictures(&out.join("inverse.png")), 1);
}

#[test]
fn the_inflow_of_a_picture_is_found_by_gradients() {
    finds_the_inflow("numpyish");
    if available("torch", Torch::cpu()).is_some() {
        finds_the_inflow("torch");
    }
}
