//! Checks the promise that the abstraction costs nothing. Counts instructions by callgrind, so that the load of the
//! machine does not matter.

use crate::{
    binaries::built,
    run::{Outcome, root},
};
use std::{path::Path, process::Command};

/// Allowed excess of generic code over handwritten code: a fraction of the handwritten code's instructions, and a
/// number of instructions per op. The larger of these limits applies.
const GENERIC: (f64, f64) = (0.05, 40.0);

/// Allowed excess of code that chooses its backend at run time over handwritten code, in instructions per op. This
/// number of instructions takes about 40 ns, which is less than the 60 ns that the project allows; most of them are
/// loads and stores that move operands and results. Operands that are scalars or are passed by value are converted by
/// functions that are not inlined, because inlined code would be compiled again in every op.
const ANY: f64 = 200.0;

/// Limits for a formula of three ops: number of elements, number of calls, and maximum ratio of the formula's
/// instructions to the instructions of one op.
const FORMULA: [(usize, usize, f64); 2] = [(10, 2000, 1.2), (1_000_000, 20, 2.0)];

/// Calls with few elements, whose cost is mostly overhead. Their instruction counts are printed, but have no limit.
const SMALL: [(&str, usize); 11] = [
    ("reshape", 10),
    ("permute_dims", 10),
    ("expand_dims", 10),
    ("getitem", 10),
    ("stack", 10),
    ("nonzero", 10),
    ("argwhere", 10),
    ("argmax", 10),
    ("sum", 10),
    ("argmax_lanes", 1000),
    ("nonzero", 1000),
];

/// Relative difference that two runs of the same program may have. It is caused by waiting threads of a pool.
const NOISE: f64 = 0.001;

/// The task `zero-cost`: prints a table, and fails if the promise is broken.
pub fn task() -> Outcome {
    let program = built("zero_cost")?;
    let mut broken = Vec::new();
    println!("| expression | elements | by hand | generic | AnyBackend |\n|---|--:|--:|--:|--:|");
    for (expression, ops) in [("add", 1.0), ("expression", 3.0)] {
        for (elements, calls) in [(10, 2000), (1_000_000, 20)] {
            let count = |how: &str| per_call(&program, &format!("{expression}_{how}"), elements, calls);
            let (hand, generic, any) = (count("by_hand")?, count("generic")?, count("any")?);
            println!("| {expression} | {elements} | {hand:.0} | {generic:.0} | {any:.0} |");
            let (share, per_op) = GENERIC;
            if generic - hand > (hand * share).max(per_op * ops) {
                broken.push(format!("{expression} of {elements}: generic {generic:.0}, by hand {hand:.0}"));
            }
            if any - hand > (ANY * ops).max(hand * NOISE) {
                broken.push(format!("{expression} of {elements}: AnyBackend {any:.0}, by hand {hand:.0}"));
            }
        }
    }
    for (elements, calls, most) in FORMULA {
        let count = |name: &str| per_call(&program, name, elements, calls);
        let (one, formula) = (count("add_generic")?, count("expression_formula")?);
        println!("| formula of three ops | {elements} | {one:.0} (one op) | {formula:.0} | |");
        if formula > most * one {
            broken.push(format!("a formula of three ops over {elements}: {formula:.0}, one op {one:.0}"));
        }
    }
    println!("\n| call | elements | instructions |\n|---|--:|--:|");
    for (name, elements) in SMALL {
        println!("| {name} | {elements} | {:.0} |", per_call(&program, name, elements, 2000)?);
    }
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\n")) }
}

/// Instructions per call, computed from the difference of two runs, so that the start of the program does not count.
fn per_call(program: &Path, name: &str, elements: usize, calls: usize) -> Outcome<f64> {
    let (few, many) = (total(program, name, elements, calls)?, total(program, name, elements, 2 * calls)?);
    Ok((many - few) / calls as f64)
}

fn total(program: &Path, name: &str, elements: usize, calls: usize) -> Outcome<f64> {
    let counts = root().join("target/zero_cost.callgrind");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", &format!("--callgrind-out-file={}", counts.display())])
        .arg(program)
        .args(["count", name, &elements.to_string(), &calls.to_string()])
        // uses one thread, because the instructions of waiting threads would count as well
        .env("RAYON_NUM_THREADS", "1")
        .output()
        .map_err(|why| format!("valgrind cannot be run: {why}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find_map(|l| l.split("Collected :").nth(1));
    line.and_then(|n| n.trim().parse().ok()).ok_or_else(|| format!("callgrind printed no total for {name}:\n{text}"))
}
