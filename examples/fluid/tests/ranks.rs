//! Tests of the program on many ranks and from checkpoints. The results must equal those of one run in one process.

#[path = "../../../tests/common/near.rs"]
mod near;

use backends_npz::{Npz, NpzWriter, encode};
use examples_common::trial::{Program, mpi, names, same_files};
use ndarray::{ArrayD, arr0, arr1};
use std::{fs, path::Path, sync::LazyLock};

static PROGRAM: LazyLock<Program> = LazyLock::new(|| Program {
    path: env!("CARGO_BIN_EXE_fluid"),
    folder: Path::new(env!("CARGO_TARGET_TMPDIR")).join("fluid_on_ranks"),
});

/// The numbers of rows and columns of the grid: 64 and 70, which can be divided equally among two ranks, but not among
/// three.
const SIZE: [&str; 4] = ["--size", "64x70", "--dtype", "float64"];

fn arguments<'a>(scene: &'a str, steps: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&SIZE[..], &["--scene", scene, "--steps", steps, "--frames", "3"], more].concat()
}

/// Checks that two runs have the same results within `tolerance`. Sums over ranks are added in another order than sums
/// in one process; all other values have the same bits.
#[track_caller]
fn has_the_numbers(found: &Path, alone: &Path, tolerance: f64) {
    assert_eq!(names(found), names(alone));
    let (found, alone) = (Npz::open(found).unwrap(), Npz::open(alone).unwrap());
    for name in alone.names() {
        near::near(name, &found.get::<f64>(name).unwrap(), &alone.get::<f64>(name).unwrap(), tolerance);
    }
}

#[test]
fn ranks_have_the_same_smoke() {
    let Some(mpi) = mpi() else { return };
    for (scene, tolerance) in [("plume", 1e-11), ("shear", 1e-11), ("cylinder", 1e-3)] {
        let folder = PROGRAM.folder(scene);
        let alone = folder.join("alone");
        PROGRAM.succeeds(&arguments(scene, "6", &[]), &alone);
        let one = folder.join("one");
        PROGRAM.succeeds(&arguments(scene, "6", &["--ranks"]), &one);
        has_the_numbers(&one, &alone, tolerance);
        for ranks in [2, 3] {
            let out = folder.join(format!("ranks_{ranks}"));
            let text = PROGRAM.succeeds_on_ranks(&mpi, ranks, &arguments(scene, "6", &[]), &out);
            assert_eq!(text.matches("6 steps and the pictures").count(), 1, "{text}");
            // results have the same bits on any number of ranks
            same_files(&out, &one);
        }
    }
}

#[test]
fn ranks_find_the_inflow() {
    let Some(mpi) = mpi() else { return };
    let folder = PROGRAM.folder("inflow");
    let (alone, out) = (folder.join("alone"), folder.join("ranks"));
    let arguments = ["--scene", "inflow", "--size", "12x64", "--steps", "2", "--dtype", "float64"];
    PROGRAM.succeeds(&arguments, &alone);
    let text = PROGRAM.succeeds_on_ranks(&mpi, 2, &arguments, &out);
    assert_eq!(text.matches("the picture differs by").count(), 1, "{text}");
    // rounding in earlier steps affects the number of iterations after which the search for the inflow ends
    has_the_numbers(&out, &alone, 1e-5);
}

/// Checks that a restarted run has the same results as a run without a stop. Only the animation differs: it has the new
/// pictures only.
#[track_caller]
fn goes_on(out: &Path, whole: &Path) {
    for name in names(out).iter().filter(|name| *name != "animation.png") {
        assert!(fs::read(out.join(name)).unwrap() == fs::read(whole.join(name)).unwrap(), "{name}");
    }
    assert!(names(out).contains(&"smoke_0003.png".into()) && !names(out).contains(&"smoke_0001.png".into()));
}

#[test]
fn a_restarted_run_has_the_same_numbers() {
    for scene in ["plume", "cylinder"] {
        let folder = PROGRAM.folder(&format!("restart_{scene}"));
        let (whole, kept) = (folder.join("whole"), folder.join("kept.npz"));
        let kept = kept.to_str().unwrap();
        PROGRAM.succeeds(&arguments(scene, "6", &[]), &whole);
        PROGRAM.succeeds(&arguments(scene, "3", &["--checkpoint", kept, "--every", "2"]), &folder.join("first"));
        let out = folder.join("second");
        let text = PROGRAM.succeeds(&["--restart", kept, "--steps", "6", "--frames", "3"], &out);
        assert!(text.contains("float64 on numpyish") && text.contains("3 steps and the pictures"), "{text}");
        goes_on(&out, &whole);
    }
}

#[test]
fn a_given_velocity_goes_on() {
    let folder = PROGRAM.folder("restart_velocity");
    let velocity = ArrayD::from_shape_fn(vec![12, 10, 2], |at| ((at[0] * 3 + at[1] * 5 + at[2]) as f64).sin());
    fs::write(folder.join("velocity.npy"), encode(&velocity)).unwrap();
    let (initial, kept) = (folder.to_string_lossy().into_owned(), folder.join("kept.npz"));
    let kept = kept.to_str().unwrap();
    let given = ["--initial", &initial, "--dtype", "float64", "--steps"];
    let (whole, out) = (folder.join("whole"), folder.join("second"));
    PROGRAM.succeeds(&[&given[..], &["5"]].concat(), &whole);
    PROGRAM.succeeds(&[&given[..], &["2", "--checkpoint", kept]].concat(), &folder.join("first"));
    PROGRAM.succeeds(&["--restart", kept, "--steps", "5"], &out);
    same_files(&out, &whole);
}

#[test]
fn a_run_goes_on_on_another_number_of_ranks() {
    let Some(mpi) = mpi() else { return };
    for scene in ["plume", "cylinder"] {
        let folder = PROGRAM.folder(&format!("restart_on_ranks_{scene}"));
        let (whole, kept) = (folder.join("whole"), folder.join("kept.npz"));
        let kept = kept.to_str().unwrap();
        PROGRAM.succeeds_on_ranks(&mpi, 2, &arguments(scene, "6", &[]), &whole);
        let first = arguments(scene, "3", &["--checkpoint", kept]);
        PROGRAM.succeeds_on_ranks(&mpi, 3, &first, &folder.join("first"));
        let out = folder.join("second");
        PROGRAM.succeeds_on_ranks(&mpi, 2, &["--restart", kept, "--steps", "6", "--frames", "3"], &out);
        goes_on(&out, &whole);
    }
}

#[test]
fn what_is_wrong_with_checkpoints_is_explained() {
    let folder = PROGRAM.folder("wrong");
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let write = |name: &str, scene: &[u8], step: i64, dt: f64, shapes: [&[usize]; 2], value: f64| {
        let mut file = NpzWriter::create(path(name)).unwrap();
        file.add("scene", &arr1(scene).into_dyn()).unwrap();
        file.add("step", &arr0(step).into_dyn()).unwrap();
        file.add("dt", &arr0(dt).into_dyn()).unwrap();
        for (axis, shape) in shapes.into_iter().enumerate() {
            file.add(&format!("velocity_{axis}"), &ArrayD::from_elem(shape, value)).unwrap();
        }
        file.finish().unwrap();
        path(name)
    };
    let fine: [&[usize]; 2] = [&[8, 8], &[8, 8]];
    let scene = write("scene.npz", b"fire", 3, 1.0, fine, 0.0);
    let step = write("step.npz", b"plume", -3, 1.0, fine, 0.0);
    let time = write("time.npz", b"plume", 3, 0.0, fine, 0.0);
    let axes = write("axes.npz", b"plume", 3, 1.0, [&[8, 8, 2], &[8, 8]], 0.0);
    let shapes = write("shapes.npz", b"plume", 3, 1.0, [&[8, 8], &[8, 9]], 0.0);
    let values = write("values.npz", b"", 3, 1.0, fine, f64::NAN);
    let smoke = write("smoke.npz", b"plume", 3, 1.0, fine, 0.0);
    fs::write(path("short.npz"), b"PK").unwrap();
    for (arguments, why) in [
        (&["--restart", &path("missing.npz")][..], "missing.npz"),
        (&["--restart", &path("short.npz")], "short.npz"),
        (&["--restart", &scene], "the scene is \"fire\""),
        (&["--restart", &step], "`step` is -3"),
        (&["--restart", &time], "`dt` is 0"),
        (&["--restart", &axes], "`velocity_0` has the shape [8, 8, 2]"),
        (&["--restart", &shapes], "`velocity_1` has the shape [8, 9]"),
        (&["--restart", &values], "has the value NaN"),
        (&["--restart", &smoke], "`density`"),
        (&["--restart", &smoke, "--steps", "3"], "3 steps were made, of 3"),
        (&["--restart", &smoke, "--dt", "2"], "--dt cannot be combined with --restart"),
        (&["--every", "2"], "--every needs --checkpoint"),
        (&["--checkpoint", "x.npz", "--every", "0"], "at least 1"),
        (&["--checkpoint", "x.npz", "--scene", "inflow"], "inflow"),
        (&["--checkpoint", "/nowhere/x.npz"], "cannot write to /nowhere/x.npz"),
        (&["--checkpoint", folder.to_str().unwrap()], "is a directory"),
    ] {
        PROGRAM.fails(arguments, why);
    }
    let Some(mpi) = mpi() else { return };
    PROGRAM.fails_on_ranks(&mpi, 2, &["--restart", &values], "has the value NaN");
    PROGRAM.fails_on_ranks(&mpi, 2, &["--checkpoint", "/nowhere/x.npz"], "cannot write to /nowhere/x.npz");
}

#[test]
fn a_plan_says_what_ranks_would_send() {
    let lines = PROGRAM.plans(&["--size", "256x256", "--steps", "2", "--frames", "1"]);
    let (messages, largest) = (1, 3);
    assert!(lines[1][messages] > 0.0, "{lines:?}");
    // on two ranks, each rank holds half of the rows of an array, so its largest part is about half as large
    assert!(lines[1][largest] < 0.6 * lines[0][largest], "{lines:?}");
    // in a plan, which predicts communication and memory, values may be NaN after this number of steps
    PROGRAM.plans(&["--size", "64x64", "--steps", "200", "--frames", "1"]);
    for scene in ["cylinder", "shear"] {
        PROGRAM.plans(&["--size", "128x128", "--steps", "2", "--frames", "1", "--scene", scene]);
    }
    PROGRAM.fails(&["--plan", "0"], "a number of ranks is needed");
    PROGRAM.fails(&["--plan", "4", "--scene", "inflow"], "depend on values");
    PROGRAM.fails(&["--plan", "4", "--checkpoint", "x.npz"], "no state to save");
}
