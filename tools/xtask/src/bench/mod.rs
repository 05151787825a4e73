//! `cargo xtask bench peers`: compares the calls of `benches/peers.txt` and ops of the op table with NumPy, SciPy,
//! numexpr, PyTorch and other Rust libraries.
//!
//! `list` reads the calls, `programs` runs the measuring programs, `machine` describes the computer, `results` stores
//! the results, and `tables` and `pictures` present them.

mod list;
pub mod machine;
mod pictures;
pub mod programs;
mod results;
mod tables;

use crate::{
    binaries::{built, outside},
    python::{PEERS, environment},
    run::{Outcome, failed, root},
    table,
};
use list::Case;
use machine::{Limits, Machine};
use programs::{Program, Programs};
use results::{Row, Run};
use std::{fs, path::Path, process::Command};

/// Environment variables that limit the instruction set of the Python libraries. They are set if this library's
/// instruction set is limited, so that all libraries are compared on equal terms.
const LOWERED: [(&str, &str); 5] = [
    ("ATEN_CPU_CAPABILITY", "avx2"),
    ("MKL_ENABLE_INSTRUCTIONS", "AVX2"),
    ("ONEDNN_MAX_CPU_ISA", "AVX2"),
    ("OPENBLAS_CORETYPE", "Haswell"),
    ("NPY_DISABLE_CPU_FEATURES", "X86_V4 AVX512_ICL AVX512_SPR"),
];

/// Compiler flags for the Rust libraries: for this processor, or for the limited instruction set. They do not affect
/// kernels that faer, burn and candle select at run time.
fn compiled_for(machine: &Machine) -> &'static str {
    if machine.simd == "avx2" { "-C target-cpu=x86-64-v3" } else { "-C target-cpu=native" }
}

/// The task `bench peers [PART] [THREADS..]`. PART is a substring of the name of a call or of a group.
pub fn task(args: &[String]) -> Outcome {
    let (part, threads) = match args {
        [first, rest @ ..] if first.parse::<usize>().is_err() => (first.as_str(), rest),
        args => ("", args),
    };
    let number = |n: &String| n.parse().map_err(|_| format!("`{n}` is not a number of threads"));
    let threads = if threads.is_empty() { vec![1, 2] } else { threads.iter().map(number).collect::<Outcome<_>>()? };
    let python = environment("peers-venv", &PEERS)?;
    let program = built("peers")?;
    let cases = cases(part)?;
    if cases.is_empty() {
        return Err(format!("no call and no group has `{part}` in it"));
    }
    let folder = root().join("target/peers");
    let machine = Machine::here();
    let rust = outside("rust_peers", "backends-rust-peers", compiled_for(&machine))?;
    let history = results::history(&folder, &machine)?;
    let mut run = Run { date: machine::now(), machine, versions: String::new(), limits: Vec::new(), rows: Vec::new() };
    let mut wrong = Vec::new();
    for &threads in &threads {
        let environment =
            ["RAYON", "OMP", "OPENBLAS", "MKL", "MATMUL"].map(|of| (format!("{of}_NUM_THREADS"), threads.to_string()));
        let mut python = Command::new(&python);
        python.arg(root().join("tools/xtask/peers_rows.py")).arg(threads.to_string()).envs(environment.clone());
        if run.machine.simd == "avx2" {
            python.envs(LOWERED);
        }
        let mut programs = Programs {
            python: Program::start(&mut python)?,
            rust: Program::start(Command::new(&rust).envs(environment.clone()))?,
            ours: Program::start(Command::new(&program).arg("pages").envs(environment.clone()))?,
            without_pages: Program::start(Command::new(&program).envs(environment))?,
        };
        run.versions = format!("{}, {}", programs.python.ask("versions")?, programs.rust.ask("versions")?);
        let limits = Limits::parse(&programs.ours.ask("limits")?)?;
        let mut group = "";
        for case in &cases {
            if group != case.group {
                group = &case.group;
                eprintln!("threads: {threads}, {group}");
            }
            match programs::measure(case, threads, &mut programs) {
                Ok((times, bytes)) => run.rows.extend(row(case, threads, times, bytes, &limits)),
                Err(why) => wrong.push(format!("{}: {why}", case.name)),
            }
        }
        run.limits.push((threads, limits));
    }
    for &threads in &threads {
        println!("{}", tables::page(&run, threads));
    }
    let slower = results::slower(&run.rows, &history);
    if !slower.is_empty() {
        println!("Slower than when it was measured last on such a processor:\n\n- {}", slower.join("\n- "));
    }
    let name = format!("{}-{}", run.date, run.machine.slug());
    write(&folder.join(format!("{name}.json")), &format!("{:#}\n", run.json()))?;
    // only a run of all calls, with all instruction sets of the processor, is written to the documentation
    let whole = part.is_empty() && run.machine.simd == machine::ALL;
    let pages = if whole { root().join("docs/peers") } else { folder.join(name) };
    for &threads in &threads {
        write(&pages.join(format!("threads-{threads}.md")), &tables::page(&run, threads))?;
        write(&pages.join(format!("groups-{threads}.svg")), &pictures::bars(&run, threads))?;
        write(&pages.join(format!("sizes-{threads}.svg")), &pictures::curves(&run, threads))?;
    }
    eprintln!("written to {} and {}", folder.display(), pages.display());
    if wrong.is_empty() { Ok(()) } else { Err(format!("these could not be run:\n{}", wrong.join("\n"))) }
}

/// The calls of the list and of the op table whose name or group contains `part`.
fn cases(part: &str) -> Outcome<Vec<Case>> {
    let path = root().join("benches/peers.txt");
    let text = fs::read_to_string(&path).map_err(|why| failed(&path, &why))?;
    let mut cases = list::parse(&text).map_err(|why| format!("{}: {why}", path.display()))?;
    cases.extend(list::of_table(&table::read(None)?, &cases));
    cases.retain(|case| case.name.contains(part) || case.group.contains(part));
    Ok(cases)
}

/// The result row of a measured call; `None` if the call was measured in this library's programs only.
fn row(case: &Case, threads: usize, times: Vec<(&str, programs::Time)>, bytes: f64, limits: &Limits) -> Option<Row> {
    let Case { group, name, call, dtype, size, flops, .. } = case.clone();
    let limit = limits.least(bytes, flops, &dtype);
    let times: Vec<_> = times.into_iter().map(|(name, time)| (name.to_owned(), time)).collect();
    (times.len() > 2).then_some(Row { group, name, call, dtype, size, threads, bytes, limit, times })
}

fn write(path: &Path, text: &str) -> Outcome {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).and_then(|()| fs::write(path, text)).map_err(|why| failed(path, &why))
}
