//! The programs of a run, each of which is asked for one call at a time: what disturbs the machine for a while disturbs all of them.

use super::list::{Case, OF_PYTHON, PEERS};
use crate::run::Outcome;
use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::Duration,
};

/// Whose times are divided by.
pub const OURS: &str = "ours";
/// The name of this library in a program with the system's allocator, while [`OURS`] has `backends::alloc::Pages`.
pub const WITHOUT_PAGES: &str = "without `Pages`";

/// Rounds of a call, in each of which all programs make it.
const ROUNDS: usize = 5;

/// How long threads of OpenMP and of OpenBLAS wait for more work without giving their processor to others, and a little.
pub const REST: Duration = Duration::from_millis(30);

/// A running program: a line in, a line out. It ends with this.
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
        // it reads no more, and may be in a call
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What one program took for a call, in nanoseconds: of the least times of the rounds the least, and the one in the middle.
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

/// The times of a call by program, and the bytes that it goes through.
pub type Measured = (Vec<(&'static str, Time)>, f64);

/// The programs of a run: ours, with two allocators, that of Python's libraries, and that of Rust's.
pub struct Programs {
    pub ours: Program,
    pub without_pages: Program,
    pub python: Program,
    pub rust: Program,
}

/// What the program of Rust's libraries answers where a library has no such call.
const LACKING: &str = "-";

/// Sums of results that are as close are of the same results: those of float16 are rounded at other places, and another op's are further apart.
const CLOSE: f64 = 1e-2;

/// Whether two libraries of Rust have computed the same, by the sums of their results' elements.
fn same(a: f64, b: f64) -> bool {
    a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= CLOSE * a.abs().min(b.abs())
}

/// Rounds of a call by all that have it. What is wrong with ours is an error, with a peer's text too, unless the text is a guess, and so are two results of Rust's
/// libraries that are not the same, unless they are random. Between two programs of several threads is a rest.
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
