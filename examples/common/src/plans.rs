//! Predicts the time and memory of a program on many ranks, which need not exist: `program --plan 4096`.
//!
//! The program runs as one of many ranks, on that rank's parts of the arrays, and sends nothing. Data from other ranks
//! are replaced by elements that this rank sends, or by ones. The values are therefore meaningless. Computation and
//! communication are the same as in a real run, as long as the control flow does not depend on values.

use crate::{console::Console, ranks::Ranks};
use backends::{AnyBackend, Arrays};
use backends_sharded::{World, world::plan::Report};
use std::{env, error::Error, fmt::Write};

/// The largest number of ranks for which a plan may be requested.
const MAX_RANKS: usize = 1 << 20;

/// The options `--plan`, `--latency` and `--bandwidth` on the command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plans {
    most: Option<usize>,
    latency: Option<f64>,
    bandwidth: Option<f64>,
}

/// The prediction for one number of ranks.
struct Found {
    report: Report,
    largest: u64,
    memory: Option<u64>,
}

impl Plans {
    /// Returns whether this is the name of one of the three options.
    pub fn has(name: &str) -> bool {
        ["plan", "latency", "bandwidth"].contains(&name)
    }

    /// Sets one of the three options. `value` is the text on the command line.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        if name == "plan" {
            let ranks = value.parse().ok().filter(|ranks| (1..=MAX_RANKS).contains(ranks));
            self.most = Some(ranks.ok_or_else(|| format!("a number of ranks is needed, 1 to {MAX_RANKS}"))?);
            return Ok(());
        }
        let number = value.parse().ok().filter(|x: &f64| x.is_finite() && *x >= 0.0);
        let number = number.ok_or("a number is needed, at least 0")?;
        match name {
            "latency" => self.latency = Some(number),
            _ if number == 0.0 => return Err("a number is needed, more than 0".into()),
            _ => self.bandwidth = Some(number),
        }
        Ok(())
    }

    /// Checks that the options fit together, and that `--plan` is not combined with `--ranks` (`on_ranks`).
    pub fn check(&self, on_ranks: bool) -> Result<(), String> {
        match self.most {
            None if self.latency.is_some() => Err("--latency needs --plan".into()),
            None if self.bandwidth.is_some() => Err("--bandwidth needs --plan".into()),
            Some(_) if on_ranks => Err("--plan runs in one process, and cannot be combined with --ranks".into()),
            _ => Ok(()),
        }
    }

    /// Returns whether a plan is requested.
    pub fn are_asked_for(&self) -> bool {
        self.most.is_some()
    }

    /// The number of threads of a simulated rank: one, or `None` if RAYON_NUM_THREADS is set or no plan is requested.
    pub fn threads(&self) -> Option<usize> {
        let is_said = env::var_os("RAYON_NUM_THREADS").is_some_and(|number| !number.is_empty());
        (self.are_asked_for() && !is_said).then_some(1)
    }

    /// The numbers of ranks for which predictions are made: 1, 2, the powers of 4 below `most`, and `most`.
    fn numbers(most: usize) -> Vec<usize> {
        let powers = (0..).map(|k| if k == 0 { 2 } else { 1_usize << (2 * k) }).take_while(|&n| n < most);
        let mut all: Vec<usize> = std::iter::once(1).chain(powers).chain([most]).collect();
        all.dedup();
        all
    }

    /// For each number of ranks, runs the program as one of these ranks, and prints the predictions. `program` returns
    /// the size in bytes of the largest part of an array. Does nothing if no plan is requested.
    pub fn run(
        &self,
        backend: &AnyBackend,
        console: &mut Console,
        mut program: impl FnMut(&Ranks, &mut Console) -> Result<u64, Box<dyn Error>>,
    ) -> Result<(), Box<dyn Error>> {
        let Some(most) = self.most else { return Ok(()) };
        let latency = self.latency.unwrap_or(2.0) * 1e-6;
        let bandwidth = self.bandwidth.unwrap_or(10.0) * 1e9;
        let before = backend.memory().ok().map(|memory| memory.in_use);
        let mut all = Vec::new();
        // the largest number of ranks, which has the smallest parts of arrays, runs first: memory that one run leaves
        // in the allocator must not exceed the memory that the next run uses
        for ranks in Plans::numbers(most).into_iter().rev() {
            let (world, plan) = World::plan(ranks);
            let counts_memory = backend.reset_peak_memory().is_ok();
            plan.reset();
            let largest = program(&Ranks::of(world), &mut Console::silent())
                .map_err(|why| format!("a plan of {ranks} ranks: {why}"))?;
            let report = plan.report();
            let peak = backend.memory().ok().filter(|_| counts_memory).map(|memory| memory.peak);
            let memory = peak.zip(before).map(|(peak, before)| peak.saturating_sub(before));
            all.push(Found { report, largest, memory });
        }
        all.reverse();
        if let Some(found) = all.last() {
            console.say(by_op(&found.report, latency, bandwidth));
        }
        console.say(by_ranks(&all, latency, bandwidth));
        Ok(())
    }
}

/// Returns a table of the data that the simulated rank sends and receives in each op.
fn by_op(report: &Report, latency: f64, bandwidth: f64) -> String {
    let mut text = format!("rank {} of {}\n\n", report.rank, report.size);
    text.push_str("| op | calls | messages | MiB sent | MiB received | s between ranks |\n|---|--:|--:|--:|--:|--:|\n");
    for (op, traffic) in report.ops.iter().map(|(op, traffic)| (op.as_str(), *traffic)).chain([("all", report.total())])
    {
        let (calls, messages) = (traffic.calls, traffic.messages);
        let (sent, received) = (mib(traffic.sent), mib(traffic.received));
        let seconds = traffic.seconds(latency, bandwidth);
        let _ = writeln!(text, "| {op} | {calls} | {messages} | {sent} | {received} | {seconds:.4} |");
    }
    text
}

/// Returns a table of time and memory for each number of ranks. The line below the table has two numbers of ranks: the
/// largest one with a speed-up of at least half of this number, and the fastest one.
fn by_ranks(all: &[Found], latency: f64, bandwidth: f64) -> String {
    let seconds = |found: &Found| found.report.seconds + found.report.total().seconds(latency, bandwidth);
    let (us, gb) = (latency * 1e6, bandwidth / 1e9);
    let mut text = format!("{us} us a message, {gb} GB/s\n\n");
    text.push_str("| ranks | messages | MiB sent | largest part, MiB | memory, MiB | s computed here | s between ranks | s | times 1 rank |\n");
    text.push_str("|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    let alone = all.first().map_or(0.0, seconds);
    for found in all {
        let (ranks, traffic) = (found.report.size, found.report.total());
        let memory = found.memory.map_or(String::new(), mib);
        let (computed, between) = (found.report.seconds, traffic.seconds(latency, bandwidth));
        let (all, times) = (seconds(found), alone / seconds(found));
        let _ = writeln!(
            text,
            "| {ranks} | {} | {} | {} | {memory} | {computed:.3} | {between:.4} | {all:.3} | {times:.1} |",
            traffic.messages,
            mib(traffic.sent),
            mib(found.largest)
        );
    }
    let is_good = |found: &&Found| alone / seconds(found) >= 0.5 * found.report.size as f64;
    let good = all.iter().take_while(is_good).last().map_or(1, |found| found.report.size);
    let best = all.iter().min_by(|a, b| seconds(a).total_cmp(&seconds(b))).map_or(1, |found| found.report.size);
    let _ = write!(
        text,
        "\nThe parallel efficiency is at least one half on up to {good} ranks; the time is shortest on {best} ranks."
    );
    text
}

fn mib(bytes: u64) -> String {
    format!("{:.2}", bytes as f64 / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_ranks_go_up_to_the_one_asked_for() {
        assert_eq!(Plans::numbers(1), [1]);
        assert_eq!(Plans::numbers(2), [1, 2]);
        assert_eq!(Plans::numbers(5), [1, 2, 4, 5]);
        assert_eq!(Plans::numbers(4096), [1, 2, 4, 16, 64, 256, 1024, 4096]);
    }

    #[test]
    fn what_is_wrong_is_refused() {
        let mut plans = Plans::default();
        assert!(plans.check(true).is_ok() && !plans.are_asked_for());
        for (name, value) in [("plan", "0"), ("plan", "x"), ("latency", "-1"), ("bandwidth", "0"), ("bandwidth", "nan")]
        {
            assert!(plans.set(name, value).is_err(), "{name} {value}");
        }
        plans.set("latency", "0").unwrap();
        assert!(plans.check(false).unwrap_err().contains("--latency"));
        plans.set("plan", "16").unwrap();
        assert!(plans.check(false).is_ok() && plans.check(true).is_err());
    }
}
