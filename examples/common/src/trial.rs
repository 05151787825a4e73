//! Runs an example program as a user would, for the tests of the examples.

use backends::{Error, runtime::available};
use mpiexec::{Finished, Mpi};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

/// The time limit of a job on ranks, after which the job is ended.
const LIMIT: Duration = Duration::from_secs(300);

/// The folder of MPI libraries and their launchers, for a test that needs MPI. Prints a message if the folder is
/// missing.
pub fn mpi() -> Option<PathBuf> {
    let why =
        || Error::unavailable("mpi", "`cargo xtask setup` fetches it; BACKENDS_MPI names the folder that it is in");
    available("mpi", mpiexec::folder().ok_or_else(why))
}

/// The sorted names of the files in a folder.
pub fn names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<String> =
        files.map(|file| file.expect("it can be read").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Checks that two folders have the same files, byte for byte.
#[track_caller]
pub fn same_files(found: &Path, expected: &Path) {
    assert_eq!(names(found), names(expected));
    for name in names(expected) {
        let read = |folder: &Path| fs::read(folder.join(&name)).expect("the file is there");
        assert!(read(found) == read(expected), "{name} in {} is not that in {}", found.display(), expected.display());
    }
}

/// A program, and the folder for its tests.
pub struct Program {
    /// The path of the program.
    pub path: &'static str,
    /// A folder that only the tests of this program use.
    pub folder: PathBuf,
}

impl Program {
    /// Makes an empty folder for one test.
    pub fn folder(&self, name: &str) -> PathBuf {
        let path = self.folder.join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("the folder of tests can be written to");
        path
    }

    /// Runs the program, on the CPU unless the arguments select a backend.
    pub fn run(&self, arguments: &[&str], out: &Path) -> Output {
        let mut command = Command::new(self.path);
        if !arguments.contains(&"--backend") {
            command.args(["--backend", "numpyish"]);
        }
        command.arg("--out").arg(out).args(arguments).output().expect("the program starts")
    }

    /// Runs the program, which must succeed. Returns its output.
    #[track_caller]
    pub fn succeeds(&self, arguments: &[&str], out: &Path) -> String {
        let output = self.run(arguments, out);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("the program says text")
    }

    /// Runs the program with `--plan 4096`, and returns the numbers in each line of the printed table of ranks. Checks
    /// that no files are written.
    #[track_caller]
    pub fn plans(&self, arguments: &[&str]) -> Vec<Vec<f64>> {
        let out = self.folder("plan").join("out");
        let text = self.succeeds(&[arguments, &["--plan", "4096"]].concat(), &out);
        assert!(!out.exists(), "a plan leaves a folder");
        let (by_op, by_ranks) = text.split_once("GB/s").expect("a table by ranks");
        assert!(by_op.contains("rank 2048 of 4096") && by_op.contains("| all |"), "{text}");
        let cells = |line: &str| -> Option<Vec<f64>> {
            line.trim_matches('|').split('|').map(|cell| cell.trim().parse().ok()).collect()
        };
        let lines: Vec<Vec<f64>> = by_ranks.lines().filter_map(cells).collect();
        let ranks: Vec<f64> = lines.iter().map(|line| line[0]).collect();
        assert_eq!(ranks, [1.0, 2.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0], "{text}");
        // a single rank sends nothing
        assert_eq!(lines[0][2], 0.0, "{text}");
        lines
    }

    /// Runs the program on several ranks, with the MPI library in this folder.
    pub fn run_on_ranks(&self, mpi: &Path, ranks: usize, arguments: &[&str], out: &Path) -> Finished {
        let mut command = mpiexec::mpiexec(Mpi::Standard, mpi, ranks);
        command.arg(self.path).arg("--ranks");
        if !arguments.contains(&"--backend") {
            command.args(["--backend", "numpyish"]);
        }
        mpiexec::finish(command.arg("--out").arg(out).args(arguments), LIMIT).expect("mpiexec starts")
    }

    /// Runs the program on several ranks, which must succeed. Returns its output.
    #[track_caller]
    pub fn succeeds_on_ranks(&self, mpi: &Path, ranks: usize, arguments: &[&str], out: &Path) -> String {
        let finished = self.run_on_ranks(mpi, ranks, arguments, out);
        let text = finished.output;
        assert!(finished.status.is_some_and(|status| status.success()), "{arguments:?} on {ranks} ranks: {text}");
        text
    }

    /// Checks that the program fails on several ranks, prints `why` once, and leaves no files.
    #[track_caller]
    pub fn fails_on_ranks(&self, mpi: &Path, ranks: usize, arguments: &[&str], why: &str) {
        static FAILURES: AtomicUsize = AtomicUsize::new(0);
        let out = self.folder(&format!("failure_on_ranks_{}", FAILURES.fetch_add(1, Relaxed))).join("out");
        let finished = self.run_on_ranks(mpi, ranks, arguments, &out);
        let text = finished.output;
        assert!(finished.status.is_some_and(|status| !status.success()), "{arguments:?}: {text}");
        assert_eq!(text.matches(": error: ").count(), 1, "{arguments:?}: {text}");
        assert!(text.contains(why), "{arguments:?}: {text}");
        assert!(!out.exists(), "{arguments:?} leaves a folder");
    }

    /// Checks that the program fails with the message `why`, and leaves no files.
    #[track_caller]
    pub fn fails(&self, arguments: &[&str], why: &str) {
        // tests run concurrently, so each failure needs a separate folder
        static FAILURES: AtomicUsize = AtomicUsize::new(0);
        let out = self.folder(&format!("failure_{}", FAILURES.fetch_add(1, Relaxed))).join("out");
        let output = self.run(arguments, &out);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(text.starts_with("error: ") && text.contains(why), "{arguments:?}: {text}");
        assert!(!out.exists(), "{arguments:?} leaves a folder");
    }
}
