//! Compares the example programs with Python packages that do the same work, from the start to the result. The scripts
//! for the packages are `tools/xtask/peers_epr.py`, `peers_template.py` and `peers_fluid.py`.

use crate::{
    binaries::built,
    python::environment,
    run::{Outcome, root},
};
use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

/// Number of rounds. All programs run in each round, so that a passing disturbance does not decide the comparison.
const ROUNDS: usize = 3;

/// An example program, with the Python programs that do the same work.
struct Program {
    /// Name on the command line, also used for the environment and the script.
    name: &'static str,
    example: &'static str,
    /// Python packages that the peers need. They are installed in a Python environment for this program alone. If the
    /// packages include PyTorch, the environment takes several GB.
    packages: &'static [&'static str],
    /// Names of the peers, each with the script's argument that selects it.
    peers: &'static [(&'static str, &'static str)],
    /// Arguments for a first run of the example, which makes inputs for the comparison; empty if no such run is needed.
    first: &'static [&'static str],
    /// Arguments of the example in the comparison.
    options: &'static [&'static str],
    results: &'static [Compared],
}

/// A file that all programs write, with the comparison of its contents.
struct Compared {
    file: &'static str,
    /// A NumPy expression for the difference between the array `a` of this library and the array `b` of another
    /// program.
    by: &'static str,
    name: &'static str,
    most: f64,
}

const LARGEST: &str = "abs(a - b).max() / abs(a).max()";

const PROGRAMS: [Program; 3] = [
    Program {
        name: "epr",
        example: "epr_reconstruct",
        packages: &[
            "pyepri==1.1.1",
            "finufft==2.5.1",
            "numpy==2.4.6",
            "scipy==1.17.1",
            "torch==2.11.0",
            "torchinterp1d==1.1",
        ],
        peers: &[("PyEPRI, NumPy", "numpy"), ("PyEPRI, PyTorch", "torch")],
        first: &[],
        options: &["--method", "tv"],
        // The programs use float64. Transforms accurate to 1e-13 cause an error of about that size in the image, while
        // transforms accurate to 1e-9 would change the image by 7e-10.
        results: &[Compared { file: "tv.npy", by: LARGEST, name: "image", most: 1e-9 }],
    },
    Program {
        name: "template",
        example: "template_match",
        packages: &["pytme==0.3.6", "numpy==2.4.6", "scipy==1.17.1", "pyFFTW==0.15.1"],
        peers: &[("pyTME, NumPy and FFTW", "numpyfftw")],
        first: &[],
        options: &[],
        // the transforms are in float32, whose rounding is 6e-8; rotations may differ if their scores are equal within
        // rounding
        results: &[
            Compared { file: "scores.npy", by: LARGEST, name: "scores", most: 1e-5 },
            Compared { file: "rotation.npy", by: "(a != b).mean()", name: "places with another rotation", most: 1e-3 },
        ],
    },
    Program {
        name: "fluid",
        example: "fluid",
        packages: &["phiml==1.16.1", "numpy==2.4.6", "scipy==1.17.1", "torch==2.11.0"],
        peers: &[("Phi-ML, NumPy", "numpy"), ("Phi-ML, PyTorch", "torch")],
        first: &["--steps", "1", "--frames", "0", "--checkpoint", "start.npz", "--out", "first"],
        options: &["--restart", "start.npz", "--steps", "201", "--frames", "0"],
        // Float32 rounding errors grow in a mixing flow. In 200 steps they reach the size of the differences between
        // the libraries that Phi-ML itself can use. A result with one step less would differ by 0.1 or more.
        results: &[
            Compared { file: "smoke.npy", by: LARGEST, name: "smoke", most: 3e-3 },
            Compared { file: "velocity.npy", by: LARGEST, name: "velocity", most: 3e-3 },
        ],
    },
];

/// The task `peers examples [epr | template | fluid] [THREADS..]`: compares the example programs with Python packages.
pub fn task(args: &[String]) -> Outcome {
    let (name, args) = match args {
        [first, rest @ ..] if first.parse::<usize>().is_err() => (Some(first), rest),
        args => (None, args),
    };
    let programs: Vec<_> = PROGRAMS.iter().filter(|program| name.is_none_or(|name| name == program.name)).collect();
    if programs.is_empty() {
        return Err("the examples are epr, template and fluid".into());
    }
    let number = |text: &String| {
        let number = text.parse().ok().filter(|&threads: &usize| threads > 0);
        number.ok_or_else(|| format!("`{text}` is not a number of threads"))
    };
    let threads: Vec<usize> =
        if args.is_empty() { vec![1, 2] } else { args.iter().map(number).collect::<Outcome<_>>()? };
    let mut tables = String::new();
    let mut differences = Vec::new();
    for program in programs {
        let runs = runs(program, &threads, &mut differences)?;
        tables += &table(program, &threads, &runs);
    }
    println!("\nseconds: the minimum and the median of {ROUNDS} rounds\n\n{HEAD}{tables}");
    if differences.is_empty() { Ok(()) } else { Err(format!("results differ:\n{}", differences.join("\n"))) }
}

/// The times of one run of a program.
#[derive(Clone, Copy)]
struct Run {
    /// The index of the number of threads, and the index of the program. Program 0 is this library.
    place: (usize, usize),
    /// Seconds from the start of the process to its end.
    whole: f64,
    /// Seconds that the program reports for its work: `whole` without the start of the process, imports and files.
    work: f64,
}

/// Runs all rounds. In each round this library runs before the other programs. Prints the differences between the
/// results of the last round.
fn runs(program: &Program, threads: &[usize], differences: &mut Vec<String>) -> Outcome<Vec<Run>> {
    let python = environment(&format!("{}-venv", program.name), program.packages)?;
    let example = built(program.example)?;
    let script = root().join(format!("tools/xtask/peers_{}.py", program.name));
    let ours = folder(program, "ours")?;
    if !program.first.is_empty() {
        run(Command::new(&example).args(["--backend", "numpyish"]).args(program.first), &ours, 1)?;
    }
    let mut runs = Vec::new();
    for round in 0..ROUNDS {
        for (at, &count) in threads.iter().enumerate() {
            let mut command = Command::new(&example);
            command.args(["--backend", "numpyish", "--out", "."]).args(program.options);
            let (whole, said) = run(&mut command, &ours, count)?;
            let work = seconds_said(&said).ok_or_else(|| format!("{}: no seconds in\n{said}", program.example))?;
            runs.push(Run { place: (at, 0), whole, work });
            for (peer, &(name, told)) in program.peers.iter().enumerate() {
                let theirs = folder(program, told)?;
                let mut command = Command::new(&python);
                command.arg(&script).arg(told).arg(count.to_string()).args([&ours, &theirs]);
                let (whole, said) = run(&mut command, &theirs, count)?;
                let work = said.lines().find_map(|line| line.strip_prefix("work\t")?.parse().ok());
                let work = work.ok_or_else(|| format!("{name} printed no time:\n{said}"))?;
                runs.push(Run { place: (at, peer + 1), whole, work });
                if round + 1 == ROUNDS {
                    for compared in program.results {
                        let apart = compared.apart(&python, &ours, &theirs)?;
                        let line = format!("{name}, threads {count}: {} {apart:.1e} apart", compared.name);
                        println!("{line}, at most {:.0e}", compared.most);
                        if apart.is_nan() || apart > compared.most {
                            differences.push(line);
                        }
                    }
                }
            }
        }
    }
    Ok(runs)
}

impl Compared {
    fn apart(&self, python: &Path, ours: &Path, theirs: &Path) -> Outcome<f64> {
        let code = format!("import sys, numpy as np; a, b = map(np.load, sys.argv[1:]); print(float({}))", self.by);
        let mut command = Command::new(python);
        let (_, said) = run(command.args(["-c", &code]).args([ours.join(self.file), theirs.join(self.file)]), ours, 1)?;
        said.trim().parse().map_err(|_| format!("{} cannot be compared: {said}", self.file))
    }
}

/// The folder into which a program writes its files.
fn folder(program: &Program, of: &str) -> Outcome<PathBuf> {
    let folder = root().join("target/examples").join(program.name).join(of);
    fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    Ok(folder)
}

/// Runs a command in a folder. Returns its duration in seconds and its output.
fn run(command: &mut Command, folder: &Path, threads: usize) -> Outcome<(f64, String)> {
    let count = threads.to_string();
    command.envs(["RAYON", "OMP", "MKL", "OPENBLAS"].map(|of| (format!("{of}_NUM_THREADS"), &count)));
    let start = Instant::now();
    let output = command.current_dir(folder).output().map_err(|why| format!("{command:?}: {why}"))?;
    let seconds = start.elapsed().as_secs_f64();
    if !output.status.success() {
        return Err(format!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    Ok((seconds, String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// The sum of all durations in an example's output, such as "0.10 s to prepare, 2.00 s for ..".
fn seconds_said(text: &str) -> Option<f64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_seconds = |word: &str| word.trim_end_matches([',', ';']) == "s";
    let seconds = words.windows(2).filter(|pair| is_seconds(pair[1])).filter_map(|pair| pair[0].parse::<f64>().ok());
    seconds.reduce(|sum, more| sum + more)
}

const HEAD: &str = "\
| program | threads | start to result | work alone | start to result / ours | work alone / ours |
|---|--:|--:|--:|--:|--:|
";

/// A table with a line for each program and each number of threads. Ratios between programs compare their minimum
/// times.
fn table(program: &Program, threads: &[usize], runs: &[Run]) -> String {
    let mut out = String::new();
    for (at, count) in threads.iter().enumerate() {
        let of = |peer: usize, time: fn(&Run) -> f64| {
            let mut all: Vec<f64> = runs.iter().filter(|run| run.place == (at, peer)).map(time).collect();
            all.sort_by(f64::total_cmp);
            (all[0], all[all.len() / 2])
        };
        let names = [program.example].into_iter().chain(program.peers.iter().map(|(name, _)| *name));
        for (peer, name) in names.enumerate() {
            let [whole, work] = [|run: &Run| run.whole, |run: &Run| run.work].map(|time| (of(peer, time), of(0, time)));
            let cell = |((least, middle), _): ((f64, f64), _)| format!("{least:.2}, {middle:.2}");
            let _ = write!(out, "| {name} | {count} | {} | {} |", cell(whole), cell(work));
            let ratio = |((theirs, _), (ours, _)): ((f64, f64), (f64, f64))| format!("{:.1}", theirs / ours);
            let ratios = if peer == 0 { [String::new(), String::new()] } else { [ratio(whole), ratio(work)] };
            let _ = writeln!(out, " {} | {} |", ratios[0], ratios[1]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_found_in_what_is_said() {
        assert_eq!(seconds_said("tv    0.25 s to prepare, 2.50 s for 1000 iterations"), Some(2.75));
        assert_eq!(seconds_said("200 steps and the pictures in 0.50 s; divergence at most 1e-5"), Some(0.5));
        assert_eq!(seconds_said("951 rotations, the volume in 1 parts\n1.25 s\n 1. score 0.5 at z = 1"), Some(1.25));
        assert_eq!(seconds_said("wrote tv.npy to s"), None);
    }

    #[test]
    fn ratios_are_of_the_least() {
        let run = |peer, whole, work| Run { place: (0, peer), whole, work };
        let runs = [run(0, 2.0, 1.0), run(1, 9.0, 7.0), run(0, 1.0, 0.5), run(1, 8.0, 6.0), run(0, 3.0, 2.0)];
        let runs: Vec<Run> = runs.into_iter().chain([run(1, 7.0, 5.0)]).collect();
        let text = table(&PROGRAMS[1], &[2], &runs);
        let ours = "| template_match | 2 | 1.00, 2.00 | 0.50, 1.00 |  |  |\n";
        assert_eq!(text, format!("{ours}| pyTME, NumPy and FFTW | 2 | 7.00, 8.00 | 5.00, 6.00 | 7.0 | 10.0 |\n"));
    }
}
