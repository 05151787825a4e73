//! Compares non-uniform Fourier transforms with FINUFFT in one run of the programs `benches/nufft.rs` and
//! `tools/xtask/peers_nufft.py`.

use crate::{
    binaries::built,
    python::environment,
    run::{Outcome, root},
};
use std::{collections::BTreeMap, process::Command};

/// Python packages of the comparison.
const PACKAGES: [&str; 2] = ["finufft==2.5.1", "numpy==2.4.6"];

/// Number of rounds. Both programs run in each round, so that a passing disturbance does not decide the comparison.
const ROUNDS: usize = 3;

/// Maximum relative difference between the sums of squares of the two programs' results. Each result has an error of at
/// most 1e-4.
const MAX_DIFFERENCE: f64 = 1e-3;

/// The two programs, in the order of the table's columns.
const PEERS: [&str; 2] = ["ours", "FINUFFT"];

/// For each case and each part of the work (such as `execute`), the minimum time of each program in nanoseconds. For
/// the part `sum`, the number is the sum of squares of the result instead.
type Found = BTreeMap<(String, String), [Option<f64>; 2]>;

/// The task `peers nufft [THREADS..]`: compares non-uniform Fourier transforms with FINUFFT.
pub fn task(args: &[String]) -> Outcome {
    let threads = match args {
        [] => vec![1, 2],
        args => args
            .iter()
            .map(|n| n.parse().map_err(|_| format!("`{n}` is not a number of threads")))
            .collect::<Outcome<Vec<usize>>>()?,
    };
    let python = environment("peers-nufft-venv", &PACKAGES)?;
    let (program, script) = (built("nufft")?, root().join("tools/xtask/peers_nufft.py"));
    for threads in threads {
        let count = threads.to_string();
        let mut found = Found::new();
        for _ in 0..ROUNDS {
            for command in [&mut Command::new(&program), Command::new(&python).arg(&script).arg(&count)] {
                let output = command.envs(["RAYON", "OMP"].map(|of| (format!("{of}_NUM_THREADS"), &count))).output();
                let output = output.map_err(|why| format!("{command:?}: {why}"))?;
                if !output.status.success() {
                    return Err(String::from_utf8_lossy(&output.stderr).into_owned());
                }
                read(&String::from_utf8_lossy(&output.stdout), &mut found);
            }
        }
        println!("\n{threads} thread{}, ms\n\n{}", if threads == 1 { "" } else { "s" }, table(&found)?);
    }
    Ok(())
}

fn read(lines: &str, found: &mut Found) {
    for line in lines.lines() {
        let [peer, case, part, number] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        if let (Some(place), Ok(number)) = (PEERS.iter().position(|p| *p == peer), number.parse::<f64>()) {
            let least = &mut found.entry((case.into(), part.into())).or_default()[place];
            *least = Some(least.map_or(number, |before| before.min(number)));
        }
    }
}

/// A table with a line for each case: the times of both programs, and FINUFFT's time divided by this library's time.
/// The last line has the means of the ratios.
fn table(found: &Found) -> Outcome<String> {
    let mut out = String::from(
        "| case | ours | FINUFFT | ratio | execute: ours | FINUFFT | ratio |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut logs = [0.0, 0.0];
    let cases: Vec<&String> = found.keys().filter(|(_, part)| part == "sum").map(|(case, _)| case).collect();
    for case in &cases {
        let of = |part: &str| match found.get(&(case.to_string(), part.to_string())) {
            Some([Some(ours), Some(peer)]) => Ok([*ours, *peer]),
            _ => Err(format!("{case}: a program did not print its `{part}`")),
        };
        let [ours, peer] = of("sum")?;
        let difference = (ours - peer).abs();
        if difference.is_nan() || difference > MAX_DIFFERENCE * peer.abs() {
            return Err(format!("{case}: the sum of squares is {ours:e}, and FINUFFT's is {peer:e}"));
        }
        let mut cells = vec![case.to_string()];
        for (part, log) in ["all", "execute"].into_iter().zip(&mut logs) {
            let [ours, peer] = of(part)?;
            *log += (peer / ours).ln();
            cells.extend([format!("{:.2}", ours / 1e6), format!("{:.2}", peer / 1e6), format!("{:.2}", peer / ours)]);
        }
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    let [all, execute] = logs.map(|log| (log / cases.len().max(1) as f64).exp());
    out.push_str(&format!("| geometric mean | | | {all:.2} | | | {execute:.2} |\n"));
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_ratios_and_refuses_other_results() {
        let mut found = Found::new();
        let ours = "ours\ta\tall\t3000000\nours\ta\texecute\t2000000\nours\ta\tsum\t1e3\n";
        read(ours, &mut found);
        assert!(table(&found).unwrap_err().contains("did not print"));
        read("FINUFFT\ta\tall\t9000000\nFINUFFT\ta\texecute\t4000000\nFINUFFT\ta\tsum\t1.0001e3\nnoise", &mut found);
        read("FINUFFT\ta\tall\t6000000", &mut found);
        let text = table(&found).unwrap();
        assert!(text.contains("| a | 3.00 | 6.00 | 2.00 | 2.00 | 4.00 | 2.00 |\n"), "{text}");
        assert!(text.contains("| geometric mean | | | 2.00 | | | 2.00 |"), "{text}");
        found.insert(("a".into(), "sum".into()), [Some(1e3), Some(1.01e3)]);
        assert!(table(&found).unwrap_err().contains("sum of squares"));
    }
}
