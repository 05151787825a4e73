//! An example program run as a user runs it, for its tests.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

/// A program, and the folder that its tests write to.
pub struct Program {
    /// The path of the program.
    pub path: &'static str,
    /// A folder of this program's tests alone.
    pub folder: PathBuf,
}

impl Program {
    /// A folder of its own for each test, empty.
    pub fn folder(&self, name: &str) -> PathBuf {
        let path = self.folder.join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("the folder of tests can be written to");
        path
    }

    /// What the program did; on the CPU if no backend is asked for.
    pub fn run(&self, arguments: &[&str], out: &Path) -> Output {
        let mut command = Command::new(self.path);
        if !arguments.contains(&"--backend") {
            command.args(["--backend", "numpyish"]);
        }
        command.arg("--out").arg(out).args(arguments).output().expect("the program starts")
    }

    /// What the program said; it must not fail.
    #[track_caller]
    pub fn succeeds(&self, arguments: &[&str], out: &Path) -> String {
        let output = self.run(arguments, out);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("the program says text")
    }

    /// The program says why in its own words, and leaves nothing.
    #[track_caller]
    pub fn fails(&self, arguments: &[&str], why: &str) {
        // tests run at the same time
        static FAILURES: AtomicUsize = AtomicUsize::new(0);
        let out = self.folder(&format!("failure_{}", FAILURES.fetch_add(1, Relaxed))).join("out");
        let output = self.run(arguments, &out);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(text.starts_with("error: ") && text.contains(why), "{arguments:?}: {text}");
        assert!(!out.exists(), "{arguments:?} leaves a folder");
    }
}
