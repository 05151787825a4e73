//! Runs several jobs at the same time. A single job often waits for one compiler or process, which leaves a processor
//! idle.

use crate::run::{Outcome, create, line};
use std::{
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
    sync::Mutex,
    thread,
    time::Instant,
};

/// Number of jobs that run at the same time.
const LANES: usize = 2;

/// A command, with a name for messages.
pub struct Job {
    /// The name in messages.
    pub name: String,
    /// The command to run.
    pub command: Command,
}

/// Runs all jobs; they begin in the given order. The output of a job is stored in `logs` and printed when the job ends.
/// After a failure no further job begins, unless `others_go_on` is true.
pub fn run_all(jobs: Vec<Job>, logs: &Path, others_go_on: bool) -> Outcome {
    let _ = fs::remove_dir_all(logs);
    create(logs)?;
    let waiting = Mutex::new(jobs.into_iter());
    let failures = Mutex::new(Vec::new());
    let next = || {
        let has_failed = !failures.lock().unwrap().is_empty();
        if has_failed && !others_go_on { None } else { waiting.lock().unwrap().next() }
    };
    thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| {
                while let Some(mut job) = next() {
                    let begin = Instant::now();
                    println!("--> {}", job.name);
                    let log = logs.join(job.name.replace(|c: char| !c.is_alphanumeric(), "-")).with_extension("log");
                    let outcome = logged(&mut job.command, &log);
                    // prints the whole output in one call, so that the outputs of two jobs are not interleaved
                    let said = fs::read(&log).unwrap_or_default();
                    let seconds = begin.elapsed().as_secs();
                    println!("{}<-- {} ({seconds} s)", String::from_utf8_lossy(&said), job.name);
                    if let Err(why) = outcome {
                        failures.lock().unwrap().push(why);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

/// Runs a command with its output redirected to a file.
fn logged(command: &mut Command, log: &Path) -> Outcome {
    let file = File::create(log).and_then(|file| Ok((file.try_clone()?, file)));
    let (out, err) = file.map_err(|why| format!("{}: {why}", log.display()))?;
    match command.stdin(Stdio::null()).stdout(out).stderr(err).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{}` failed: {status}", line(command))),
        Err(why) => Err(format!("`{}` cannot be run: {why}", line(command))),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn job(name: &str, script: &str) -> Job {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Job { name: name.into(), command }
    }

    #[test]
    fn a_failure_is_named_and_the_rest_is_run_if_it_is_wanted() {
        let folder = crate::run::root().join("target/tests/lanes");
        let (logs, mark) = (folder.join("logs"), folder.join("mark"));
        let _ = fs::remove_file(&mark);
        let late = format!("touch {}", mark.display());
        let jobs = vec![job("good", "echo fine"), job("bad", "exit 3"), job("late", &late)];
        let why = run_all(jobs, &logs, true).unwrap_err();
        assert!(why.contains("exit 3") && mark.exists(), "{why}");
        assert!(run_all(vec![job("good", "true")], &logs, false).is_ok());
        let none = vec![job("bad", "exit 3"), job("bad too", "exit 4"), job("late", &late)];
        fs::remove_file(&mark).unwrap();
        assert!(run_all(none, &logs, false).is_err() && !mark.exists());
    }
}
