//! Tests of the program on many ranks. The results must equal the results of one process.

#[path = "../../../tests/common/near.rs"]
mod near;

use backends_npz::Npz;
use examples_common::trial::{Program, mpi, names};
use std::{fs, path::Path, sync::LazyLock};

static PROGRAM: LazyLock<Program> = LazyLock::new(|| Program {
    path: env!("CARGO_BIN_EXE_epr_reconstruct"),
    folder: Path::new(env!("CARGO_TARGET_TMPDIR")).join("epr_reconstruct_on_ranks"),
});

/// Options for an image that is large enough to be split over ranks.
const SMALL: [&str; 6] = ["--shape", "80x72", "--delta", "0.04", "--iterations", "20"];

/// Compares images, which may differ in rounding, because ranks add their sums in another order than one process.
fn has_the_images(found: &Path, alone: &Path) {
    assert_eq!(names(found), names(alone));
    assert_eq!(fs::read(found.join("sinogram.png")).unwrap(), fs::read(alone.join("sinogram.png")).unwrap());
    let (found, alone) = (Npz::open(found).unwrap(), Npz::open(alone).unwrap());
    for name in ["fbp", "tv", "tv_energy"] {
        near::near(name, &found.get::<f64>(name).unwrap(), &alone.get::<f64>(name).unwrap(), 1e-10);
    }
}

#[test]
fn ranks_make_the_same_images() {
    let Some(mpi) = mpi() else { return };
    let alone = PROGRAM.folder("alone");
    PROGRAM.succeeds(&SMALL, &alone);
    for ranks in [1, 2, 3] {
        let out = PROGRAM.folder(&format!("ranks_{ranks}")).join("new");
        let text = PROGRAM.succeeds_on_ranks(&mpi, ranks, &SMALL, &out);
        // only one rank prints
        for once in ["113 projections of 2000 samples", "tv    ", "wrote sinogram.png", "rank 0: "] {
            assert_eq!(text.matches(once).count(), 1, "{once:?} in: {text}");
        }
        assert!(text.contains(&format!("{ranks} rank")), "{text}");
        has_the_images(&out, &alone);
    }
}

#[test]
fn what_is_wrong_is_said_once() {
    let Some(mpi) = mpi() else { return };
    for (arguments, why) in [
        (&["--dtype", "int8"][..], "float32 and float64"),
        (&["--shape", "2x2x2"], "3 lengths"),
        (&["--data", "nowhere.npz"], "nowhere.npz"),
        (&["--method", "tv", "--lambda", "1e308", "--shape", "70x70"], "step lengths"),
    ] {
        PROGRAM.fails_on_ranks(&mpi, 3, arguments, why);
    }
    // an error on the first rank alone must end all ranks
    let file = PROGRAM.folder("occupied").join("file");
    fs::write(&file, "x").unwrap();
    let finished = PROGRAM.run_on_ranks(&mpi, 3, &SMALL, &file);
    assert!(finished.status.is_some_and(|status| !status.success()), "{finished:?}");
    assert_eq!(finished.output.matches("cannot write to").count(), 1, "{}", finished.output);
}

#[test]
fn a_plan_says_what_ranks_would_send() {
    let lines = PROGRAM.plans(&SMALL);
    let (messages, largest) = (1, 3);
    assert!(lines[1][messages] > 0.0, "{lines:?}");
    // on two ranks, each rank holds half of the rows of an array, so its largest part is about half as large
    assert!(lines[1][largest] < 0.6 * lines[0][largest], "{lines:?}");
    PROGRAM.fails(&["--latency", "1"], "--latency needs --plan");
}
