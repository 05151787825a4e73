//! Compares formulas with NumPy, numexpr, PyTorch and ndarray, and training steps with other libraries, in one run.
//! Prints a table of times for each number of threads. Single ops are compared by `bench peers`.

use crate::{
    binaries::{built, outside},
    examples, heat, nufft, programs,
    python::{PEERS, environment},
    run::{Outcome, cargo, root, run},
    setup,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

/// All sizes: numbers of elements for formulas, and numbers of pictures per batch for networks.
const SIZES: [usize; 6] = [10, 32, 1000, 1024, 1_000_000, 10_000_000];
const OF_FORMULAS: [usize; 4] = [10, 1000, 1_000_000, 10_000_000];
const OF_NETWORKS: [usize; 2] = [32, 1024];

/// Number of rounds. All programs run in each round, so that a passing disturbance does not decide the comparison.
const ROUNDS: usize = 2;

/// For each formula and library, the minimum time in nanoseconds at each size in `SIZES`.
type Times = BTreeMap<(String, String), [Option<u64>; SIZES.len()]>;

/// The task `peers solvers`: runs the example of the solvers, and then solves the same systems by SciPy.
fn solvers() -> Outcome {
    let example = ["run", "--release", "-p", "backends-solvers", "--features", "faer", "--example", "poisson"];
    run(cargo().args(example))?;
    let mut scipy = Command::new(environment("peers-venv", &PEERS)?);
    // with several threads, OpenBLAS would take twice as long for products of small vectors
    run(scipy.arg(root().join("tools/xtask/peers_solvers.py")).env("OPENBLAS_NUM_THREADS", "1"))
}

/// The task `peers [examples | heat | mlp | nufft | programs | solvers] [THREADS..]`: compares with other libraries.
pub fn task(args: &[String]) -> Outcome {
    match args {
        [first, rest @ ..] if first == "examples" => return examples::task(rest),
        [first, rest @ ..] if first == "heat" => return heat::task(rest),
        [first, rest @ ..] if first == "nufft" => return nufft::task(rest),
        [first, rest @ ..] if first == "programs" => return programs::task(rest),
        _ => {}
    }
    if args == ["solvers"] {
        return solvers();
    }
    let (mlp, args) = match args {
        [first, rest @ ..] if first == "mlp" => (true, rest),
        args => (false, args),
    };
    let threads = match args {
        [] => vec![1, 2],
        args => args
            .iter()
            .map(|n| n.parse().map_err(|_| format!("`{n}` is not a number of threads")))
            .collect::<Outcome<_>>()?,
    };
    setup::task(&[])?;
    let python = environment("peers-venv", &PEERS)?;
    let (bench, script, sizes) = if mlp {
        ("mlp", "tools/xtask/peers_mlp.py", &OF_NETWORKS[..])
    } else {
        ("formulas", "tools/xtask/peers.py", &OF_FORMULAS[..])
    };
    let mut programs = vec![built(bench)?];
    if mlp {
        programs.push(outside("networks", "backends-peers-of-networks", "")?);
    }
    let script = root().join(script);
    let words: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    for threads in threads {
        let mut times = Times::new();
        let count = threads.to_string();
        for _ in 0..ROUNDS {
            let with = |command: &mut Command| -> Outcome<String> {
                command.args(&words).envs(["RAYON", "OMP", "OPENBLAS"].map(|of| (format!("{of}_NUM_THREADS"), &count)));
                let output = command.output().map_err(|why| format!("{command:?}: {why}"))?;
                if !output.status.success() {
                    return Err(String::from_utf8_lossy(&output.stderr).into_owned());
                }
                Ok(String::from_utf8_lossy(&output.stdout).into_owned())
            };
            for program in &programs {
                read(&with(&mut Command::new(program))?, &mut times);
            }
            read(&with(Command::new(&python).arg(&script).arg(&count))?, &mut times);
        }
        println!("\n{threads} thread{}, us\n\n{}", if threads == 1 { "" } else { "s" }, table(&times));
    }
    Ok(())
}

fn read(lines: &str, times: &mut Times) {
    for line in lines.lines() {
        let [peer, formula, n, ns] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        let place = SIZES.iter().position(|size| size.to_string() == n);
        if let (Some(place), Ok(ns)) = (place, ns.parse::<u64>()) {
            let least = &mut times.entry((formula.into(), peer.into())).or_default()[place];
            *least = Some(least.map_or(ns, |before| before.min(ns)));
        }
    }
}

/// A table with a line for each formula and size, and a column for each library.
fn table(times: &Times) -> String {
    let peers: BTreeSet<&str> = times.keys().map(|(_, peer)| peer.as_str()).collect();
    let formulas: BTreeSet<&str> = times.keys().map(|(formula, _)| formula.as_str()).collect();
    let names: Vec<&str> = peers.iter().copied().collect();
    let mut out = format!("| formula | n | {} |\n|---|--:|{}\n", names.join(" | "), "--:|".repeat(names.len()));
    for formula in formulas {
        for (place, n) in SIZES.iter().enumerate() {
            let of = |peer: &&str| times.get(&(formula.to_string(), peer.to_string())).and_then(|of| of[place]);
            if names.iter().any(|peer| of(peer).is_some()) {
                let cell = |peer| of(peer).map_or(String::new(), |ns| format!("{:.2}", ns as f64 / 1e3));
                let cells: Vec<String> = names.iter().map(cell).collect();
                out.push_str(&format!("| `{formula}` | {n} | {} |\n", cells.join(" | ")));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_of_what_was_printed() {
        let mut times = Times::new();
        read("NumPy\tx + y\t10\t1500\nours\tx + y\t10\t300\nNumPy\tx + y\t1000\t2000\nnoise", &mut times);
        read("NumPy\tx + y\t10\t1400\nNumPy\tx + y\t77\t1", &mut times);
        let text = table(&times);
        let rows = "| formula | n | NumPy | ours |\n|---|--:|--:|--:|\n| `x + y` | 10 | 1.40 | 0.30 |\n| `x + y` | 1000 | 2.00 |  |\n";
        assert_eq!(text, rows);
    }
}
