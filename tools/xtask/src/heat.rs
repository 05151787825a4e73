//! Compares arrays that are split over ranks (MPI processes) with the library Heat, which combines PyTorch and mpi4py.
//! The programs `benches/ranks.rs` and `tools/xtask/peers_heat.py` compute the same cases (rows of the table) under the
//! same launcher, in one run.

use crate::{
    binaries::built,
    mpi,
    python::environment,
    run::{Outcome, root},
    setup,
};
use mpiexec::Mpi;
use std::{collections::BTreeMap, fmt::Write, path::Path, process::Command, time::Duration};

/// Heat and its dependencies, in a separate environment; PyTorch's package is several GB in size. The last package is
/// the MPI library that Heat loads. It is the same package as in `mpi/`, whose launcher starts both programs.
const PACKAGES: [&str; 7] = [
    "heat==1.8.0",
    "torch==2.11.0",
    "torchvision==0.26.0",
    "mpi4py==4.1.2",
    "numpy==2.4.6",
    "scipy==1.17.1",
    mpi::PACKAGES[0],
];

/// Number of rounds. Both programs run in each round, so that a passing disturbance does not decide the comparison.
const ROUNDS: usize = 3;

/// Time limit of a program.
const LIMIT: Duration = Duration::from_secs(600);

/// Maximum difference of float32 checksums, relative to the sum of the absolute values of the checksum's terms.
const APART: f64 = 1e-5;

const OURS: &str = "ours";
const HEAT: &str = "Heat";
const ALONE: &str = "Numpyish";

/// The measurement of one row by one program.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Found {
    /// Minimum time of a call in nanoseconds.
    nanos: u64,
    sum: f64,
    scale: f64,
}

impl Found {
    fn is_same(&self, other: &Found) -> bool {
        (self.sum - other.sum).abs() <= APART * self.scale.max(other.scale)
    }
}

/// A row of the table: the name of a case and the number of elements.
type Row = (String, usize);

/// The measurements, with the rows in the order in which the programs printed them.
#[derive(Default)]
struct Table {
    rows: Vec<Row>,
    found: BTreeMap<(Row, &'static str, usize), Found>,
}

impl Table {
    /// Adds the lines that a program printed on `ranks` ranks, and keeps the minimum time of each row.
    fn read(&mut self, lines: &str, ranks: usize) {
        for line in lines.lines() {
            let [peer, row, n, nanos, sum, scale] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
            let Some(peer) = [OURS, HEAT, ALONE].into_iter().find(|name| *name == peer) else { continue };
            let numbers = (n.parse(), nanos.parse(), sum.parse(), scale.parse());
            let (Ok(n), Ok(nanos), Ok(sum), Ok(scale)) = numbers else { continue };
            let row: Row = (row.into(), n);
            if !self.rows.contains(&row) {
                self.rows.push(row.clone());
            }
            let found = self.found.entry((row, peer, ranks)).or_insert(Found { nanos, sum, scale });
            found.nanos = found.nanos.min(nanos);
        }
    }

    fn of(&self, row: &Row, peer: &'static str, ranks: usize) -> Option<&Found> {
        self.found.get(&(row.clone(), peer, ranks))
    }

    /// A table with a line for each row and each number of ranks. It has the times of both programs and their ratio.
    fn beside(&self, ranks: &[usize]) -> String {
        let mut out =
            String::from("| row | elements | ranks | ours, us | Heat, us | Heat / ours |\n|---|--:|--:|--:|--:|--:|\n");
        for row in &self.rows {
            for &ranks in ranks {
                let (Some(ours), Some(heat)) = (self.of(row, OURS, ranks), self.of(row, HEAT, ranks)) else { continue };
                let ratio = heat.nanos as f64 / ours.nanos.max(1) as f64;
                let (name, n) = row;
                let (ours, heat) = (micros(ours), micros(heat));
                let _ = writeln!(out, "| `{name}` | {n} | {ranks} | {ours} | {heat} | {ratio:.2} |");
            }
        }
        out
    }

    /// A table with a line for each row: the cost of splitting an array on one rank, and the gain from more ranks.
    fn alone(&self, ranks: &[usize]) -> String {
        let others: Vec<usize> = ranks.iter().copied().filter(|&ranks| ranks > 1).collect();
        let mut out = String::from("| row | elements | Numpyish, us | 1 rank, us | 1 rank more, ns |");
        others.iter().for_each(|ranks| {
            let _ = write!(out, " {ranks} ranks, us | times 1 rank |");
        });
        let _ = write!(out, "\n|---|--:|--:|--:|--:|{}\n", "--:|--:|".repeat(others.len()));
        for row in &self.rows {
            let (Some(alone), Some(one)) = (self.of(row, ALONE, 1), self.of(row, OURS, 1)) else { continue };
            let more = one.nanos as i64 - alone.nanos as i64;
            let (name, n) = row;
            let _ = write!(out, "| `{name}` | {n} | {} | {} | {more} |", micros(alone), micros(one));
            for &ranks in &others {
                let _ = match self.of(row, OURS, ranks) {
                    Some(found) => {
                        write!(out, " {} | {:.2} |", micros(found), one.nanos as f64 / found.nanos.max(1) as f64)
                    }
                    None => write!(out, " | |"),
                };
            }
            out.push('\n');
        }
        out
    }

    /// Returns messages about three kinds of rows: rows whose results differ from Heat's results, rows whose results
    /// depend on the number of ranks, and rows that only one of the programs has.
    fn differences(&self, ranks: &[usize]) -> Vec<String> {
        let mut found = Vec::new();
        for row in &self.rows {
            let (name, n) = row;
            let Some(first) = ranks.first().and_then(|&ranks| self.of(row, OURS, ranks)) else {
                found.push(format!("`{name}` of {n} elements: this program has no such row"));
                continue;
            };
            for &ranks in ranks {
                for peer in [OURS, HEAT] {
                    match self.of(row, peer, ranks) {
                        None => found.push(format!("`{name}` of {n} elements on {ranks} ranks: nothing of {peer}")),
                        Some(other) if !first.is_same(other) => found.push(format!(
                            "`{name}` of {n} elements on {ranks} ranks: the checksum of {peer} is {}, of ours on {} {}",
                            other.sum,
                            ranks_of(self, row),
                            first.sum
                        )),
                        Some(_) => {}
                    }
                }
            }
        }
        found
    }
}

/// The smallest number of ranks on which this library's program measured this row.
fn ranks_of(table: &Table, row: &Row) -> usize {
    let ours = table.found.keys().filter(|(other, peer, _)| other == row && *peer == OURS);
    ours.map(|(.., ranks)| *ranks).min().unwrap_or(0)
}

fn micros(found: &Found) -> String {
    let micros = found.nanos as f64 / 1e3;
    if micros < 100.0 { format!("{micros:.2}") } else { format!("{micros:.0}") }
}

/// The task `peers heat [PART OF A ROW] [RANKS..]`: compares split arrays with Heat.
pub fn task(args: &[String]) -> Outcome {
    let (part, args) = match args {
        [first, rest @ ..] if first.parse::<usize>().is_err() => (Some(first), rest),
        args => (None, args),
    };
    let parse = |text: &String| {
        let number = text.parse().ok().filter(|&ranks: &usize| ranks > 0);
        number.ok_or_else(|| format!("`{text}` is not a number of ranks"))
    };
    let ranks: Vec<usize> =
        if args.is_empty() { vec![1, 2] } else { args.iter().map(parse).collect::<Outcome<_>>()? };
    if !cfg!(target_os = "linux") {
        return Err("MPI and its launcher are fetched on Linux only".into());
    }
    setup::task(&[])?;
    let python = environment("heat-venv", &PACKAGES)?;
    let program = built("ranks")?;
    let script = root().join("tools/xtask/peers_heat.py");
    let mut table = Table::default();
    for _ in 0..ROUNDS {
        for &ranks in &ranks {
            let with = |program: &Path, script: Option<&Path>| -> Outcome<String> {
                let mut command = mpiexec::mpiexec(Mpi::Mpich, &mpi::folder(), ranks);
                // the launcher passes its environment on to the ranks
                command.envs(["RAYON", "OMP", "MKL", "OPENBLAS"].map(|of| (format!("{of}_NUM_THREADS"), "1")));
                output(command.arg(program).args(script).args(part))
            };
            table.read(&with(&program, None)?, ranks);
            table.read(&with(&python, Some(&script))?, ranks);
        }
    }
    println!(
        "\nfloat32, one thread per rank, the minimum of {ROUNDS} runs of each program\n\n{}",
        table.beside(&ranks)
    );
    println!("{}", table.alone(&ranks));
    let differences = table.differences(&ranks);
    differences.iter().for_each(|line| println!("{line}"));
    if differences.is_empty() {
        println!("All results are the same to {APART:e}.");
    }
    Ok(())
}

/// Runs a command and returns its output, or an error if it fails or exceeds the time limit.
fn output(command: &mut Command) -> Outcome<String> {
    let finished = mpiexec::finish(command, LIMIT).map_err(|why| format!("{command:?}: {why}"))?;
    match finished.status {
        Some(status) if status.success() => Ok(finished.output),
        Some(status) => Err(format!("{command:?}: {status}\n{}", finished.output)),
        None => Err(format!("{command:?} took longer than {} s\n{}", LIMIT.as_secs(), finished.output)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::default();
        table.read("Numpyish\tx + y\t10\t90\t5\t6\nours\tx + y\t10\t150\t5\t6\nnoise\tof a library", 1);
        table.read("ours\tx + y\t10\t140\t5\t6\nHeat\tx + y\t10\t21000\t5.00001\t6\n", 1);
        table.read("ours\tx + y\t10\t70\t5\t6\nHeat\tx + y\t10\t35000\t5.1\t6\n", 2);
        table
    }

    #[test]
    fn the_least_times_stand_beside_each_other() {
        let (table, ranks) = (table(), [1, 2]);
        let lines: Vec<String> = table.beside(&ranks).lines().skip(2).map(String::from).collect();
        assert_eq!(lines[0], "| `x + y` | 10 | 1 | 0.14 | 21.00 | 150.00 |");
        assert_eq!(lines[1], "| `x + y` | 10 | 2 | 0.07 | 35.00 | 500.00 |");
        assert!(table.alone(&ranks).ends_with("| `x + y` | 10 | 0.09 | 0.14 | 50 | 0.07 | 2.00 |\n"));
    }

    #[test]
    fn what_differs_or_lacks_is_said() {
        let mut table = table();
        assert_eq!(
            table.differences(&[1, 2]),
            ["`x + y` of 10 elements on 2 ranks: the checksum of Heat is 5.1, of ours on 1 5"]
        );
        table.read("Heat\tsort(x)\t10\t1\t1\t1\n", 1);
        assert!(table.differences(&[1]).concat().contains("no such row"));
        table.read("ours\tsort(x)\t10\t1\t1\t1\n", 1);
        assert_eq!(table.differences(&[1]), [""; 0]);
        assert!(table.differences(&[1, 3]).concat().contains("nothing of Heat"));
    }
}
