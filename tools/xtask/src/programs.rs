//! The task `peers programs`: compares the programs of `benches/programs/`, op by op and as formulas, with the same
//! programs in NumPy and PyTorch, in one run.

use crate::{
    bench::{
        machine::{self, Machine},
        programs::{Program, REST, Time},
    },
    binaries::built,
    python::{PEERS, environment},
    run::{Outcome, root},
};
use std::{collections::BTreeMap, fmt::Write, process::Command, thread};

/// The allowed difference of checksums, relative to the sum of the absolute values of the checksum's terms.
#[derive(Clone, Copy)]
enum Apart {
    /// For results that are whole numbers, which must be equal.
    Not,
    /// For float64 sums that are computed in another order. Points at the border of the Mandelbrot set could differ by
    /// more, but after 20 iterations no point is close enough to the border.
    Double,
    /// For float32 sums, filters with rounded weights, and distances that are differences of larger numbers.
    Single,
    /// For random results. With `n` samples, the relative standard error is 0.53 / sqrt(n) for pi and 1.7 / sqrt(n) for
    /// the option. The standard error of the difference of two results is 1.4 times as large. A difference of five
    /// times this error occurs less than once in a million runs.
    Chance,
}

impl Apart {
    fn of(self, n: usize) -> f64 {
        match self {
            Apart::Not => 1e-13, // for the rounding of the checksum, whose terms are added in another order
            Apart::Double => 1e-10,
            Apart::Single => 1e-6,
            Apart::Chance => 12.0 / (n as f64).sqrt(),
        }
    }
}

/// A program: name, dtype, two sizes and the tolerance. The data of the first size fit into a core's cache, the data of
/// the second size into no cache.
type Row = (&'static str, &'static str, [usize; 2], Apart);

const PROGRAMS: [Row; 17] = [
    ("heat equation", "float64", [128, 2048], Apart::Double),
    ("Poisson, 3-D", "float32", [32, 192], Apart::Single),
    ("game of life", "uint8", [256, 4096], Apart::Not),
    ("Mandelbrot set", "complex128", [64, 768], Apart::Double),
    ("k-means", "float32", [500, 50_000], Apart::Single),
    ("nearest neighbours", "float32", [512, 6000], Apart::Single),
    ("n bodies", "float64", [64, 1024], Apart::Double),
    ("edges", "float32", [128, 2048], Apart::Single),
    ("unsharp mask", "float32", [128, 2048], Apart::Single),
    ("histogram equalisation", "uint8", [256, 2048], Apart::Not),
    ("low-pass filter", "float64", [128, 2048], Apart::Double),
    ("phase correlation", "float32", [128, 2048], Apart::Single),
    ("pi by chance", "float64", [10_000, 4_000_000], Apart::Chance),
    ("option price", "float64", [10_000, 4_000_000], Apart::Chance),
    ("network", "float32", [32, 4096], Apart::Single),
    ("logistic regression", "float64", [1000, 100_000], Apart::Double),
    ("PageRank", "float64", [256, 2048], Apart::Double),
];

/// The columns of the table, each with the word that selects it in a request to a measuring program. For this library,
/// the word is `ops` or `expr!` and comes last in the request. For other libraries, it is the library's name and comes
/// first.
const COLUMNS: [(&str, &str); 5] = [
    ("ours, ops", "ops"),
    ("ours, `expr!`", "expr!"),
    ("NumPy", "numpy"),
    ("PyTorch", "torch"),
    ("PyTorch, compiled", "compiled"),
];
const OURS: usize = 2;

/// The columns with quotients, as pairs of indices into `COLUMNS`: the time in the first column (another library) is
/// divided by the time in the second column (this library).
const QUOTIENTS: [(usize, usize); 3] = [(2, 0), (3, 0), (4, 1)];

const ROUNDS: usize = 5;

/// The time of a program in nanoseconds in each column; `None` if it could not be measured.
type Times = [Option<f64>; COLUMNS.len()];

/// Parses the answer of a measuring program: nanoseconds, checksum, and the sum of the absolute values of the
/// checksum's terms.
fn parse(answer: &str) -> Outcome<[f64; 3]> {
    let numbers: Vec<f64> = answer.split('\t').filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().map_err(|_| format!("`{answer}` is no time with a checksum"))
}

/// Measures a program in all columns. Returns the times, and a message for each column that fails or gives a different
/// result.
fn measure(row: &Row, n: usize, threads: usize, ours: &mut Program, python: &mut Program) -> (Times, Vec<String>) {
    let (name, _, _, apart) = *row;
    let (mut rounds, mut sums, mut wrong) = (vec![Vec::new(); COLUMNS.len()], Vec::new(), BTreeMap::new());
    for _ in 0..ROUNDS {
        for (column, (peer, word)) in COLUMNS.iter().enumerate() {
            if wrong.contains_key(&column) {
                continue;
            }
            if threads > 1 {
                thread::sleep(REST);
            }
            let answer = match column {
                0..OURS => ours.ask(&format!("{name}\t{n}\t{word}")),
                _ => python.ask(&format!("{word}\t{name}\t{n}")),
            };
            match answer.and_then(|answer| parse(&answer)) {
                Ok([ns, sum, scale]) => {
                    rounds[column].push(ns);
                    sums.push((column, sum, scale));
                }
                Err(why) => {
                    wrong.insert(column, format!("{name} of {n}, {peer}: {why}"));
                }
            }
        }
    }
    if let Some(&(first, sum, scale)) = sums.first() {
        for &(column, other, _) in &sums {
            let is_same = (other - sum).abs() <= apart.of(n) * scale;
            if !is_same {
                let (other_name, first_name) = (COLUMNS[column].0, COLUMNS[first].0);
                let text = format!("{name} of {n}: the checksum of {other_name} is {other}, of {first_name} {sum}");
                wrong.insert(column, text);
            }
        }
    }
    let mut times = rounds.into_iter().map(|rounds| Some(Time::of(rounds)?.least));
    (std::array::from_fn(|_| times.next().flatten()), wrong.into_values().collect())
}

/// The times of other libraries divided by the times of this library: the quotients of `QUOTIENTS`, and finally the
/// best time of the other libraries divided by this library's best time.
fn quotients(times: &Times) -> [Option<f64>; QUOTIENTS.len() + 1] {
    let least = |times: &[Option<f64>]| times.iter().copied().flatten().reduce(f64::min);
    let of = |peer: Option<f64>, own: Option<f64>| Some(peer? / own?);
    let best = of(least(&times[OURS..]), least(&times[..OURS]));
    std::array::from_fn(|k| QUOTIENTS.get(k).map_or(best, |&(peer, own)| of(times[peer], times[own])))
}

/// A table with a line for each program and size, followed by the geometric means.
fn table(rows: &[(Row, usize, Times)]) -> String {
    let mut out = String::from("| program | dtype | n |");
    for (name, _) in COLUMNS {
        let _ = write!(out, " {name}, us |");
    }
    for (peer, own) in QUOTIENTS {
        let _ = write!(out, " {} / {} |", COLUMNS[peer].0, COLUMNS[own].0);
    }
    let _ =
        writeln!(out, " best peer / best of ours |\n|---|---|{}", "--:|".repeat(COLUMNS.len() + QUOTIENTS.len() + 2));
    let cell = |x: Option<f64>, digits| x.map_or(String::new(), |x| format!("{x:.digits$}"));
    let line = |out: &mut String, begin: &str, times: &Times, of: &[Option<f64>]| {
        let micros = times.iter().map(|time| cell(time.map(|ns| ns / 1e3), 0));
        let cells: Vec<String> = micros.chain(of.iter().map(|&x| cell(x, 2))).collect();
        let _ = writeln!(out, "| {begin} | {} |", cells.join(" | "));
    };
    for ((name, dtype, ..), n, times) in rows {
        line(&mut out, &format!("{name} | {dtype} | {n}"), times, &quotients(times));
    }
    for (what, which) in [("small", 0), ("large", 1), ("all", 2)] {
        let of = rows.iter().filter(|((_, _, sizes, _), n, _)| sizes.get(which).is_none_or(|size| size == n));
        let all: Vec<_> = of.map(|(.., times)| quotients(times)).collect();
        let means: [_; QUOTIENTS.len() + 1] = std::array::from_fn(|k| mean(all.iter().filter_map(|of| of[k])));
        line(&mut out, &format!("geometric mean, {what} | |"), &Times::default(), &means);
    }
    out
}

fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let logs: Vec<f64> = numbers.map(f64::ln).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

/// The task `peers programs [PART OF A NAME] [THREADS..]`: compares programs with NumPy and PyTorch.
pub fn task(args: &[String]) -> Outcome {
    let (part, threads) = match args {
        [first, rest @ ..] if first.parse::<usize>().is_err() => (first.as_str(), rest),
        args => ("", args),
    };
    let number = |n: &String| {
        n.parse().ok().filter(|&n: &usize| n > 0).ok_or_else(|| format!("`{n}` is not a number of threads"))
    };
    let threads = if threads.is_empty() { vec![1, 2] } else { threads.iter().map(number).collect::<Outcome<_>>()? };
    let wanted: Vec<Row> = PROGRAMS.into_iter().filter(|(name, ..)| name.contains(part)).collect();
    if wanted.is_empty() {
        return Err(format!("no program has `{part}` in its name"));
    }
    let python = environment("peers-venv", &PEERS)?;
    let program = built("programs")?;
    let mut wrong = Vec::new();
    for threads in threads {
        // compiled code depends on the number of threads, so each number of threads has a separate cache
        let cache = root().join(format!("target/peers/compiled-{threads}"));
        let environment =
            ["RAYON", "OMP", "OPENBLAS", "MKL"].map(|of| (format!("{of}_NUM_THREADS"), threads.to_string()));
        let mut python = Command::new(&python);
        python.arg(root().join("tools/xtask/peers_programs.py")).arg(threads.to_string());
        python.envs(environment.clone()).env("TORCHINDUCTOR_CACHE_DIR", cache);
        let mut python = Program::start(&mut python)?;
        let mut ours = Program::start(Command::new(&program).envs(environment))?;
        let mut rows = Vec::new();
        for row in &wanted {
            eprintln!("threads: {threads}, {}", row.0);
            for n in row.2 {
                let (times, complaints) = measure(row, n, threads, &mut ours, &mut python);
                rows.push((*row, n, times));
                wrong.extend(complaints.into_iter().map(|why| format!("{why} (threads: {threads})")));
            }
        }
        let (versions, machine) = (python.ask("versions")?, Machine::here().text());
        println!("\nThreads: {threads}. {}, {machine}. {versions}.\n\n{}", machine::now(), table(&rows));
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("programs that could not be run, or whose results differ:\n{}", wrong.join("\n")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_divided_by_ours() {
        let [first, second, ..] = PROGRAMS;
        let rows = [
            (first, first.2[0], [Some(1e3), Some(2e3), Some(4e3), Some(8e3), None]),
            (second, second.2[1], [Some(4e3), Some(1e3), Some(4e3), Some(2e3), Some(5e2)]),
        ];
        let text = table(&rows);
        assert!(
            text.contains("| heat equation | float64 | 128 | 1 | 2 | 4 | 8 |  | 4.00 | 8.00 |  | 4.00 |\n"),
            "{text}"
        );
        assert!(text.contains("| geometric mean, large | | |  |  |  |  |  | 1.00 | 0.50 | 0.50 | 0.50 |\n"), "{text}");
        assert!(text.ends_with("| geometric mean, all | | |  |  |  |  |  | 2.00 | 2.00 | 0.50 | 1.41 |\n"), "{text}");
    }

    #[test]
    fn answers_are_read() {
        assert_eq!(parse("1500.5\t2\t-3e1"), Ok([1500.5, 2.0, -30.0]));
        assert!(parse("1500").is_err() && parse("a\tb\tc").is_err());
    }

    #[test]
    fn means_of_chance_may_be_further_apart() {
        assert!(Apart::Chance.of(10_000) > 0.1 && Apart::Chance.of(4_000_000) < 0.01);
        assert!(Apart::Not.of(1) < Apart::Double.of(1) && Apart::Double.of(1) < Apart::Single.of(1));
    }
}
