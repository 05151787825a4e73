//! Rehearses a run on a GPU machine: runs the packed bundle in an empty folder, on the software device, as a user who
//! owns no files.

use crate::{
    gpu_results::Results,
    run::{Outcome, create, root, run, write},
    soft_cuda,
};
use std::{
    env, fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

/// Time limit of the rehearsal.
const LIMIT: Duration = Duration::from_secs(20 * 60);

/// The user and group that own no files.
const NOBODY: &str = "65534";

/// Planted mistakes, each with the expected outcome and the op that the results must name. `tril` gives a wrong result,
/// `label` accesses memory that is not allocated, and `pad` never ends.
const PLANTED: [(&str, &str, &str); 3] =
    [("wrong:triangle", "failed", "tril"), ("bounds:label", "failed", "label"), ("hang:bordered", "hung", "pad")];

/// A substitute for CuPy, NumPy and PyTorch, in which every operation returns the object itself.
const FAKE_PACKAGE: &str = "\
class Any:
    __version__ = 'none: this is no real package'
    def __getattr__(self, name): return self
    def __call__(self, *args, **names): return self
    def _same(self, *others): return self
    __getitem__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __matmul__ = __truediv__ = __gt__ = __lt__ = _same
    __setattr__ = lambda self, name, value: None
import sys
sys.modules[__name__] = Any()
for inner in ['cuda', 'nn', 'cupyx', 'cupyx.scipy', 'cupyx.scipy.ndimage']:
    sys.modules.setdefault(inner if inner.startswith('cupyx') else __name__ + '.' + inner, sys.modules[__name__])
";

/// Unpacks the bundle, runs its parts `correctness` and `speed`, and checks the results. With `plant`, runs only the
/// tests, with mistakes planted in kernels, and checks that the results name these mistakes.
pub fn task(packed: &Path, plant: bool) -> Outcome {
    let begin = Instant::now();
    let empty = env::temp_dir().join(format!("backends-gpu-try-{}", std::process::id()));
    create(&empty)?;
    let tried = tried(packed, &empty, plant);
    let _ = fs::remove_dir_all(&empty);
    tried?;
    println!("the rehearsal took {} s", begin.elapsed().as_secs());
    if begin.elapsed() > LIMIT { Err(format!("that is more than {} s", LIMIT.as_secs())) } else { Ok(()) }
}

fn tried(packed: &Path, empty: &Path, plant: bool) -> Outcome {
    run(Command::new("tar").args(["--no-same-owner", "-C"]).arg(empty).arg("-xf").arg(packed))?;
    let cuda = empty.join("cuda");
    for (from, to) in
        [(soft_cuda::folder()?, "soft-cuda"), (root().join("cuda"), "cuda"), (root().join("target/kernels"), "kernels")]
    {
        run(Command::new("cp").arg("-rL").arg(from).arg(empty.join(to)))?;
    }
    let (python, out) = (empty.join("python"), empty.join("out"));
    create(&python)?;
    create(&out)?;
    for package in ["cupy", "numpy", "torch"] {
        write(&python.join(format!("{package}.py")), FAKE_PACKAGE)?;
    }
    // makes all names of NVIDIA's libraries hard links to one file, so that the loader loads the file once
    let soft = empty.join("soft-cuda");
    let driver = soft.join("libcuda.so.1");
    for entry in fs::read_dir(&soft).map_err(|why| why.to_string())?.flatten().filter(|entry| entry.path() != driver) {
        fs::remove_file(entry.path())
            .and_then(|()| fs::hard_link(&driver, entry.path()))
            .map_err(|why| why.to_string())?;
    }
    run(Command::new("chmod").args(["-R", "go+rX,go-w"]).arg(empty))?;
    run(Command::new("chmod").arg("777").arg(&out))?;
    let start = |part: &str, planted: &str, budget: u64| -> Outcome<Results> {
        let mut command = as_nobody();
        command.arg("bash").arg(empty.join("gpu-bundle/run.sh")).arg(part).arg(&out).current_dir(&out);
        command.env("LD_LIBRARY_PATH", &soft).env("CUDA_HOME", &cuda).env("KERNELS", empty.join("kernels"));
        command.env("PYTHONPATH", &python).env("SOFT_CUDA_PLANT", planted).env("BUDGET", budget.to_string());
        command.env("BACKENDS_CUDA_CACHE", "0").env("GPU_BENCH_ARGS", "--small");
        // raises the limits, because reconstructions take minutes on the software device; a planted hang must be found
        // within the usual limit
        command.env("OTHERS_TEST_LIMIT", "300").env("OTHERS_LIMIT", "500");
        if plant {
            // tests that hang only wait, so there may be more processes than processors
            command.env("ROWS_LIMIT", "600").env("JOBS", (2 * processors()).to_string());
        } else {
            command.env("TEST_LIMIT", "300").env("JOBS", processors().to_string());
        }
        command.env_remove("BACKENDS_SOFT_CUDA");
        // the exit status of the tests is ignored; the results contain more information and are checked instead
        command.status().map_err(|why| format!("run.sh: {why}"))?;
        Results::of(&out.join(format!("{part}.tar.gz")))
    };
    let planted = PLANTED.map(|(fault, _, _)| fault).join(" ");
    let correctness = start("correctness", if plant { &planted } else { "" }, 1150)?;
    println!("{}", correctness.table());
    if plant {
        let why = hidden_fault(&correctness.summary);
        return why.map_or(Ok(()), |why| Err(format!("{why}:\n{}", correctness.summary)));
    }
    if let Some(why) = shortcoming(&correctness.summary) {
        return Err(format!("{why}:\n{}", correctness.summary));
    }
    let speed = start("speed", "", 200)?;
    for library in ["ours", "cupy", "torch"] {
        if !speed.summary.contains(&format!("{library}: passed")) || !speed.has_times_of(library) {
            return Err(format!("{library} was not measured:\n{}", speed.summary));
        }
    }
    Ok(())
}

/// Returns a complaint if the summary does not name a planted mistake, or if the mistakes prevented a test from
/// running.
fn hidden_fault(summary: &str) -> Option<String> {
    let is_named = |outcome: &str, op: &str| summary.contains(&format!("{outcome}: cuda {op}::"));
    let hidden = PLANTED.into_iter().find(|(_, outcome, op)| !is_named(outcome, op));
    if let Some((fault, outcome, op)) = hidden {
        return Some(format!("{fault}: the summary names no test of {op} that {outcome}"));
    }
    let mut counts = summary.lines().filter(|line| line.contains(" not run, of ")).peekable();
    let not_run = counts.peek().is_none() || counts.any(|line| !line.contains(" 0 not run, of "));
    not_run.then(|| "the mistakes kept other tests from running".to_owned())
}

/// Returns a complaint about a summary with failed tests or compiled kernels, or without any mention of tests or
/// kernels.
fn shortcoming(summary: &str) -> Option<&'static str> {
    let wanted = [
        (" not run, of ", " 0 failed, 0 hung, 0 crashed, 0 not run", "not all tests pass"),
        ("kernels were compiled here", "] 0 of ", "kernels were compiled"),
    ];
    wanted.into_iter().find_map(|(what, wanted, why)| {
        let mut lines = summary.lines().filter(|line| line.contains(what)).peekable();
        (lines.peek().is_none() || lines.any(|line| !line.contains(wanted))).then_some(why)
    })
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

/// Returns a command that runs its arguments as a user who owns no files. If the current user may not switch to that
/// user, the arguments run as the current user.
fn as_nobody() -> Command {
    let may = Command::new("setpriv").args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "true"]).status();
    if may.is_ok_and(|status| status.success()) {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "env", "HOME=/nonexistent"]);
        return command;
    }
    println!("the rehearsal runs as this user, as it cannot become another one");
    Command::new("env")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_shows_whether_all_is_well() {
        let summary = "[128 s] rows: passed, 128 s\n\
            [128 s] cuda: 4437 passed, 0 failed, 0 hung, 0 crashed, 0 not run, of 4437\n\
            [260 s] 0 of 4702 kernels were compiled here\n";
        assert_eq!(shortcoming(summary), None);
        let with = |from: &str, to: &str| shortcoming(&summary.replace(from, to)).unwrap();
        assert_eq!(with("4437 passed, 0 failed", "4436 passed, 1 failed"), "not all tests pass");
        assert_eq!(with("0 not run, of 4437", "3 not run, of 4437"), "not all tests pass");
        assert_eq!(with("] 0 of 4702", "] 1 of 4702"), "kernels were compiled");
        assert_eq!(shortcoming(""), Some("not all tests pass"));
    }

    #[test]
    fn a_summary_names_the_planted_mistakes() {
        let summary = "[300 s] cuda: 4437 passed, 20 failed, 9 hung, 0 crashed, 0 not run, of 4466\n\
            [300 s] failed: cuda tril::float32: wrong\n[300 s] failed: cuda label::bool: out of bounds\n\
            [300 s] hung: cuda pad::int8: no end\n";
        assert_eq!(hidden_fault(summary), None);
        let with = |from: &str, to: &str| hidden_fault(&summary.replace(from, to)).unwrap();
        assert_eq!(
            with("hung: cuda pad", "failed: cuda pad"),
            "hang:bordered: the summary names no test of pad that hung"
        );
        assert_eq!(with("0 not run", "5 not run"), "the mistakes kept other tests from running");
        assert!(hidden_fault("").is_some());
    }
}
