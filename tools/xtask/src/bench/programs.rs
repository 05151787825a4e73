//! Runs the measuring programs. For each call, the programs take turns, so that a disturbance of the machine affects
//! all of them.

use super::list::{Case, OF_PYTHON, PEERS};
use crate::run::Outcome;
use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::Duration,
};

/// Name of this library's program that uses `backends::alloc::Pages`. Ratios are relative to its times.
pub const OURS: &str = "ours";
/// Name of this library's program that uses the system's allocator.
pub const WITHOUT_PAGES: &str = "without `Pages`";

/// Number of rounds of a call. In each round, every program makes the call.
const ROUNDS: usize = 5;

/// Pause between programs that use several threads. Idle threads of OpenMP and OpenBLAS spin for a little less than
/// this time before they release their processor.
pub const REST: Duration = Duration::from_millis(30);

/// A running program that answers each input line with one line. Dropping this value kills the program.
pub struct Program {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Program {
    pub fn start(command: &mut Command) -> Outcome<Program> {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(|why| format!("{command:?}: {why}"))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.ok_or("a program has no pipes")?;
        Ok(Program { child, input, output: BufReader::new(output) })
    }

    pub fn ask(&mut self, line: &str) -> Outcome<String> {
        let mut answer = String::new();
        let asked = writeln!(self.input, "{line}").and_then(|()| self.input.flush());
        asked.and_then(|()| self.output.read_line(&mut answer)).map_err(|why| format!("`{line}`: {why}"))?;
        match answer.trim_end() {
            "" => Err(format!("`{line}`: the program ended")),
            answer => answer.strip_prefix('!').map_or_else(|| Ok(answer.into()), |why| Err(why.trim().into())),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // the program may still be busy with a call, so it is killed
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The time that a program needs for a call, in nanoseconds. Each round gives a minimum time; the fields are the
/// minimum and the median over the rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time {
    pub least: f64,
    pub median: f64,
}

impl Time {
    pub fn of(mut rounds: Vec<f64>) -> Option<Time> {
        rounds.sort_by(f64::total_cmp);
        Some(Time { least: *rounds.first()?, median: rounds[rounds.len() / 2] })
    }
}

/// The times of a call by program, and the number of bytes that the call reads and writes.
pub type Measured = (Vec<(&'static str, Time)>, f64);

/// The programs of a run: this library's program with each of two allocators, one program for all Python libraries, and
/// one for all Rust libraries.
pub struct Programs {
    pub ours: Program,
    pub without_pages: Program,
    pub python: Program,
    pub rust: Program,
}

/// Answer of the Rust libraries' program if a library does not have the call.
const LACKING: &str = "-";

/// Relative tolerance for the comparison of two results by the sums of their elements. It allows for float16, which the
/// libraries round at different steps, but does not accept the result of another op.
const CLOSE: f64 = 1e-2;

/// Compares the sums of the elements of two results. Returns whether two Rust libraries computed the same result.
fn same(a: f64, b: f64) -> bool {
    a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= CLOSE * a.abs().min(b.abs())
}

/// Measures the rounds of a call in all programs that have the call. If the programs use several threads, there is a
/// pause between programs.
///
/// A failure of this library is an error. A failure of another library is an error unless the text of its call is a
/// guess. Differing results of Rust libraries are an error, unless the results are random.
pub fn measure(case: &Case, threads: usize, programs: &mut Programs) -> Outcome<Measured> {
    let Programs { ours, without_pages, python, rust } = programs;
    let rest = || {
        if threads > 1 {
            thread::sleep(REST);
        }
    };
    let mut rounds = vec![(OURS, Vec::new()), (WITHOUT_PAGES, Vec::new())];
    rounds.extend(PEERS.map(|(name, _)| (name, Vec::new())));
    let mut lacking = [false; PEERS.len()];
    let mut bytes = 0.0;
    let mut first: Option<(&str, f64)> = None;
    let number = |text: &str| text.parse::<f64>().map_err(|_| format!("`{text}` is no number"));
    for _ in 0..ROUNDS {
        for (program, (_, times)) in [&mut *ours, &mut *without_pages].into_iter().zip(&mut rounds) {
            rest();
            let answer = program.ask(&format!("{}\t{}", case.arrays, case.call))?;
            let (ns, of_bytes) = answer.split_once('\t').ok_or("the answer is no time")?;
            times.push(number(ns)?);
            bytes = number(of_bytes)?;
        }
        for (place, (name, word)) in PEERS.iter().enumerate() {
            let of_python = place < OF_PYTHON;
            let text = if of_python { case.peers[place].as_ref() } else { Some(&case.call) };
            let Some(text) = text.filter(|_| !lacking[place]) else { continue };
            rest();
            let program = if of_python { &mut *python } else { &mut *rust };
            let answer = match program.ask(&format!("{word}\t{}\t{text}", case.arrays)) {
                Ok(answer) if answer != LACKING => answer,
                Err(why) if !case.guessed => return Err(format!("{name}: {why}")),
                _ => {
                    lacking[place] = true;
                    continue;
                }
            };
            let (ns, total) = answer.split_once('\t').map_or((answer.as_str(), None), |(ns, total)| (ns, Some(total)));
            rounds[place + 2].1.push(number(ns)?);
            if let Some(total) = total.filter(|_| !case.call.starts_with("random")) {
                let total = number(total)?;
                let (other, of_other) = *first.get_or_insert((name, total));
                if !same(total, of_other) {
                    return Err(format!("{name}: the sum of the result is {total}, and {of_other} in {other}"));
                }
            }
        }
    }
    let times = rounds.into_iter().filter_map(|(name, rounds)| Some((name, Time::of(rounds)?)));
    Ok((times.collect(), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_the_same_but_for_rounding() {
        assert!(same(100.0, 100.5) && same(f64::NAN, f64::NAN) && same(f64::INFINITY, f64::INFINITY) && same(0.0, 0.0));
        assert!(!same(100.0, 102.0) && !same(1.0, f64::NAN) && !same(1.0, f64::INFINITY) && !same(0.0, 1e-9));
    }

    #[test]
    fn the_least_and_the_middle_of_rounds() {
        assert_eq!(Time::of(vec![3.0, 1.0, 9.0, 2.0, 8.0]), Some(Time { least: 1.0, median: 3.0 }));
        assert_eq!(Time::of(Vec::new()), None);
    }
}
