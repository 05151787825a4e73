//! Formulas beside NumPy, numexpr, PyTorch and ndarray, and single ops beside NumPy, SciPy and PyTorch, in one run: a table of times
//! for each number of threads.

use crate::{
    heat,
    measure::built,
    run::{Outcome, cargo, environment, root, run},
    setup,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    process::Command,
};

/// What the peers are, in an environment of their own; PyTorch's package has some GB.
pub const PACKAGES: [&str; 5] = ["numpy==2.4.6", "scipy==1.17.1", "numexpr==2.14.2", "torch==2.11.0", "setuptools"];

/// All sizes: elements of formulas, and pictures in a batch.
const SIZES: [usize; 6] = [10, 32, 1000, 1024, 1_000_000, 10_000_000];
const OF_FORMULAS: [usize; 4] = [10, 1000, 1_000_000, 10_000_000];
const OF_NETWORKS: [usize; 2] = [32, 1024];

/// Rounds of both programs, one after the other: what disturbs one of them for a while does not decide.
const ROUNDS: usize = 2;

/// Least nanoseconds, by formula and peer, one for each size.
type Times = BTreeMap<(String, String), [Option<u64>; SIZES.len()]>;

/// `peers solvers`: the example of the solvers, and the same systems in SciPy, one after the other.
fn solvers() -> Outcome {
    let example = ["run", "--release", "-p", "backends-solvers", "--features", "faer", "--example", "poisson"];
    run(cargo().args(example))?;
    let mut scipy = Command::new(environment("peers-venv", &PACKAGES)?);
    // threads of its own for products of small vectors take twice the time
    run(scipy.arg(root().join("xtask/peers_solvers.py")).env("OPENBLAS_NUM_THREADS", "1"))
}

/// `peers [rows | mlp | heat | solvers] [PART OF A CALL] [THREADS..]`
pub fn task(args: &[String]) -> Outcome {
    if let [first, rest @ ..] = args
        && first == "heat"
    {
        return heat::task(rest);
    }
    if args == ["solvers"] {
        return solvers();
    }
    let (rows, mlp, args) = match args {
        [first, rest @ ..] if first == "rows" => (true, false, rest),
        [first, rest @ ..] if first == "mlp" => (false, true, rest),
        args => (false, false, args),
    };
    let (part, args) = match args {
        [first, rest @ ..] if rows && first.parse::<usize>().is_err() => (Some(first), rest),
        args => (None, args),
    };
    let threads = match args {
        [] => vec![1, 2],
        args => args
            .iter()
            .map(|n| n.parse().map_err(|_| format!("`{n}` is no number of threads")))
            .collect::<Outcome<_>>()?,
    };
    setup::task(&[])?;
    let python = environment("peers-venv", &PACKAGES)?;
    let (bench, script, sizes) = if rows {
        ("peers", "xtask/peers_rows.py", &[][..])
    } else if mlp {
        ("mlp", "xtask/peers_mlp.py", &OF_NETWORKS[..])
    } else {
        ("formulas", "xtask/peers.py", &OF_FORMULAS[..])
    };
    let mut programs = vec![built(bench)?];
    if mlp {
        programs.push(networks()?);
    }
    let script = root().join(script);
    let words: Vec<String> = part.into_iter().cloned().chain(sizes.iter().map(ToString::to_string)).collect();
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
        let table = if rows { ratios(&times) } else { table(&times) };
        println!("\n{threads} thread{}, us\n\n{table}", if threads == 1 { "" } else { "s" });
    }
    Ok(())
}

/// The program of burn and candle, which is no part of the workspace.
fn networks() -> Outcome<PathBuf> {
    let target = root().join("target/networks");
    let mut command = cargo();
    command.args(["build", "--release", "--manifest-path"]).arg(root().join("benches/networks/Cargo.toml"));
    run(command.env("CARGO_TARGET_DIR", &target))?;
    Ok(target.join("release/backends-peers-of-networks"))
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

/// A row for each formula and size, with a column for each peer.
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

/// The single ops, the slowest beside their peers first, and the geometric means.
fn ratios(times: &Times) -> String {
    let peers = ["NumPy, SciPy", "PyTorch"];
    let least = |call: &str, peer: &str| {
        let all = times.get(&(call.into(), peer.into()))?;
        all.iter().flatten().min().map(|&ns| ns as f64)
    };
    let calls: BTreeSet<&str> = times.keys().map(|(call, _)| call.as_str()).collect();
    let mut lines = Vec::new();
    let mut logs = [const { Vec::new() }; 2];
    for call in calls {
        let Some(ours) = least(call, "ours") else { continue };
        let theirs = peers.map(|peer| least(call, peer));
        let best = theirs.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        if best.is_infinite() {
            continue;
        }
        theirs.iter().zip(&mut logs).for_each(|(peer, logs)| logs.extend(peer.map(|ns| (ns / ours).ln())));
        let [numpy, torch] = theirs.map(|ns| ns.map_or(String::new(), |ns| format!("{:.0}", ns / 1e3)));
        lines.push((
            best / ours,
            format!("| `{call}` | {:.0} | {numpy} | {torch} | {:.2} |\n", ours / 1e3, best / ours),
        ));
    }
    lines.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let mean = |logs: &[f64]| (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp();
    let below = lines.iter().filter(|(ratio, _)| *ratio < 0.95).count();
    let head = "| call | ours | NumPy, SciPy | PyTorch | the best of them / ours |\n|---|--:|--:|--:|--:|\n";
    let rows: String = lines.iter().map(|(_, line)| line.as_str()).collect();
    let means = logs.map(|logs| format!("{:.2} in {} calls", mean(&logs), logs.len()));
    format!(
        "{head}{rows}\nIn geometric mean {} times as fast as NumPy and SciPy, {} as PyTorch; below 0.95 of the best {below} of {}.\n",
        means[0],
        means[1],
        lines.len()
    )
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

    #[test]
    fn the_slowest_beside_its_best_peer_stands_first() {
        let mut times = Times::new();
        let lines = "ours\ta(x)\t1000000\t2000\nNumPy, SciPy\ta(x)\t1000000\t8000\nPyTorch\ta(x)\t1000000\t4000\n\
                     ours\tb(x)\t1000000\t4000\nPyTorch\tb(x)\t1000000\t2000\nours\talone(x)\t1000000\t5";
        read(lines, &mut times);
        let text = ratios(&times);
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(rows[2], "| `b(x)` | 4 |  | 2 | 0.50 |");
        assert_eq!(rows[3], "| `a(x)` | 2 | 8 | 4 | 2.00 |");
        let means = "In geometric mean 4.00 in 1 calls times as fast as NumPy and SciPy, 1.00 in 2 calls as PyTorch; below 0.95 of the best 1 of 2.";
        assert_eq!(rows[5], means);
    }
}
