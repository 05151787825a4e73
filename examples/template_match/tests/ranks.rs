//! Tests of the program on many ranks, whose results must equal those of one process.

#[path = "../../../tests/common/near.rs"]
mod near;

use backends_npz::{Npz, encode};
use examples_common::trial::{Program, mpi, names, same_files};
use ndarray::{ArrayD, Axis};
use std::{fs, path::Path, sync::LazyLock};

static PROGRAM: LazyLock<Program> = LazyLock::new(|| Program {
    path: env!("CARGO_BIN_EXE_template_match"),
    folder: Path::new(env!("CARGO_TARGET_TMPDIR")).join("template_match_on_ranks"),
});

/// Writes the rotations of the planted particles, each rotation twice, so that different ranks find equal scores.
fn rotations(folder: &Path) -> String {
    let row = |line: &str| -> Vec<f64> { line.split(',').skip(3).map(|v| v.parse().unwrap()).collect() };
    let matrices: Vec<f64> = include_str!("../../data/particles.csv").lines().skip(1).flat_map(row).collect();
    let once = ArrayD::from_shape_vec(vec![6, 3, 3], matrices).unwrap();
    let twice = ndarray::concatenate(Axis(0), &[once.view(), once.view()]).unwrap();
    let path = folder.join("rotations.npy");
    fs::write(&path, encode(&twice)).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn ranks_find_the_same() {
    let Some(mpi) = mpi() else { return };
    let folder = PROGRAM.folder("all");
    let rotations = rotations(&folder);
    for score in ["FLCSphericalMask", "FLC"] {
        let alone = folder.join(format!("{score}_alone"));
        let arguments = ["--rotations", &rotations, "--score", score];
        PROGRAM.succeeds(&arguments, &alone);
        let found = Npz::open(&alone).unwrap().get::<i32>("rotation").unwrap();
        assert!(found.iter().all(|index| *index < 6), "of equal scores the first rotation's");
        for ranks in [2, 3] {
            let out = folder.join(format!("{score}_rotations_{ranks}"));
            let text =
                PROGRAM.succeeds_on_ranks(&mpi, ranks, &[&arguments[..], &["--split", "rotations"]].concat(), &out);
            assert_eq!(text.matches("12 rotations, the volume in 1 parts").count(), 1, "{text}");
            same_files(&out, &alone);

            let out = folder.join(format!("{score}_volume_{ranks}"));
            let text = PROGRAM.succeeds_on_ranks(&mpi, ranks, &arguments, &out);
            assert_eq!(text.matches("wrote scores.npy").count(), 1, "{text}");
            same_files(&out, &alone);
        }
    }
}

#[test]
fn more_ranks_than_rotations() {
    let Some(mpi) = mpi() else { return };
    let folder = PROGRAM.folder("few");
    let arguments = ["--step", "360", "--score", "CC", "--dtype", "float64"];
    let (alone, out) = (folder.join("alone"), folder.join("ranks"));
    PROGRAM.succeeds(&arguments, &alone);
    PROGRAM.succeeds_on_ranks(&mpi, 3, &[&arguments[..], &["--split", "rotations"]].concat(), &out);
    same_files(&out, &alone);
}

/// Ranks and one process divide the volume into different parts, because several ranks together have more memory. So
/// scores are equal only within rounding.
#[test]
fn parts_that_fit_into_the_memory_of_ranks() {
    let Some(mpi) = mpi() else { return };
    let folder = PROGRAM.folder("memory");
    let rotations = rotations(&folder);
    let arguments = ["--rotations", &rotations, "--dtype", "float64", "--memory", "8"];
    let (alone, out) = (folder.join("alone"), folder.join("ranks"));
    PROGRAM.succeeds(&arguments, &alone);
    let text = PROGRAM.succeeds_on_ranks(&mpi, 2, &arguments, &out);
    assert!(text.contains("the volume in ") && !text.contains("in 1 parts"), "{text}");
    assert_eq!(names(&out), names(&alone));
    let scores = |folder: &Path| Npz::open(folder).unwrap().get::<f64>("scores").unwrap();
    near::near("scores", &scores(&out), &scores(&alone), 1e-12);
}

#[test]
fn what_is_wrong_is_said_once() {
    PROGRAM.fails(&["--split", "volume"], "--split needs --ranks");
    let Some(mpi) = mpi() else { return };
    for (arguments, why) in [
        (&["--split", "template"][..], "volume or rotations"),
        (&["--target", "nowhere.mrc"], "nowhere.mrc"),
        (&["--step", "1"], "2 to 360"),
    ] {
        PROGRAM.fails_on_ranks(&mpi, 2, arguments, why);
    }
}

#[test]
fn a_plan_says_what_ranks_would_send() {
    let lines = PROGRAM.plans(&["--step", "180"]);
    let (messages, largest) = (1, 3);
    assert!(lines[1][messages] > 0.0, "{lines:?}");
    // on two ranks, each rank holds half of the rows of an array, so its largest part is about half as large
    assert!(lines[1][largest] < 0.6 * lines[0][largest], "{lines:?}");
    PROGRAM.plans(&["--step", "180", "--split", "rotations"]);
}
