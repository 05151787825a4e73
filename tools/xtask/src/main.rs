//! Project tasks: `cargo xtask <task>`.

mod attack;
mod bench;
mod binaries;
mod build_cost;
#[cfg(test)]
mod circles;
mod cookbook;
mod docs;
mod examples;
mod features;
mod fuzz;
mod golden;
mod gpu_bundle;
mod gpu_results;
mod gpu_try;
mod heat;
mod kernels;
mod measure;
mod mpi;
mod nufft;
mod pages;
mod peers;
mod programs;
mod python;
mod ratios;
#[cfg(test)]
mod refusals;
mod release;
mod run;
mod setup;
mod site;
mod soft_cuda;
mod table;
mod test;
#[cfg(test)]
mod tidy;
mod zero_cost;

use run::Outcome;
use std::{env, process::ExitCode};

const HELP: &str = "\
cargo xtask <task>

  setup [--torch VERSION]     downloads libtorch to libtorch/, NVRTC to cuda/ and MPI to mpi/
  test [GROUP | --row NAME] [--exhaustive | --in-turn] [ARGS]
                              runs the setup, and then all tests, or the tests of a group or of a row of the op table.
                              `test list` lists the groups. ARGS are passed to `cargo test`. A sample of the repetitions
                              runs (orders of a kernel's threads, numbers of ranks); --exhaustive runs all repetitions,
                              and --in-turn all of one kind, another kind each day. Tests whose libraries are missing
                              are skipped and counted; if the environment contains CI, they fail
  attack                      as root on Linux: plants libraries as another user, and checks that none is loaded
  fuzz [SECONDS] [--seed N] [--calls]
                              reads damaged tables and files, and makes random calls of every op, whose results are
                              compared between backends and numbers of threads; --calls makes only calls
  golden [--table T --out D]  computes NumPy's results for the conformance tests of ops.toml and demo-ops, or of table T
  golden ROW [--table T]      prints NumPy's results of one row, and writes nothing
  golden-torch                computes gradients by PyTorch for the tests of gradients; downloads some GB
  table [--json] [--table T]  prints the signatures of the ops in a table, or with --json all data of the table
  pages                       writes docs/ops.md, docs/array-api.md, docs/parity.md, docs/interface.txt from the table
  gpu-bundle [--try [--plant]]
                              packs tests, a benchmark and compiled kernels into target/gpu-bundle.tar.xz, for a machine
                              with a GPU but without cargo. --try runs the bundle on the software device; with --plant,
                              three kernels have mistakes, which the results must name (docs/gpu.md)
  gpu-results FILE..          prints tables from the files that the bundle has written
  mpiexec RANKS PROGRAM [ARGS]
                              runs a program on this number of ranks, under every MPI in mpi/
  miri [FILTER]               runs tests of the CPU code under Miri
  asan [FILTER]               runs them under AddressSanitizer, also with AVX-512, which Miri lacks; on Linux
  aarch64 [FILTER]            runs them on an emulated ARM processor; on Linux with QEMU (`qemu-user-static`)
  bench [BENCH [ARGS]]        runs `cargo bench`, with ARGS for criterion; for `rows`, also prints ratios to libtorch
  bench peers [PART] [THREADS..]
                              compares the calls of benches/peers.txt and of the table with NumPy, SciPy, numexpr,
                              PyTorch, ndarray, candle, faer, burn and rstsr. PART is a part of the name of a call or of
                              a group; without it, writes docs/peers/ and lists the calls that became slower
  peers [THREADS..]           compares formulas with NumPy, numexpr, PyTorch and ndarray, by default on 1 and 2 threads
  peers mlp [THREADS..]       compares a training step of a small network with PyTorch, burn and candle
  peers heat [PART] [RANKS..] compares arrays split over ranks with Heat, by default on 1 and 2 ranks; PART is a part of
                              the name of a row
  peers nufft [THREADS..]     compares non-uniform Fourier transforms with FINUFFT, by default on 1 and 2 threads
  peers programs [PART] [THREADS..]
                              compares small programs, op by op and as formulas, with NumPy and PyTorch; PART is a part
                              of the name of a program
  peers examples [epr | template | fluid] [THREADS..]
                              compares example programs with PyEPRI, pyTME and Phi-ML, from start to result, by default
                              on 1 and 2 threads; fails if results differ; downloads some GB
  peers solvers               compares the linear solvers with SciPy's on Poisson's equation
  callgrind BENCH [ARGS]      counts the instructions of each function of a benchmark or example
  build-cost [--of CHECKOUT] [--in FOLDER] [--only PROGRAM | --speeds]
                              measures the compile time and the size of user programs, or the speed of dev builds
  docs                        builds the reference; fails if a link is broken or a page is too large
  features                    lints builds without the features cuda and torch, and for WebAssembly; fails if the
                              smallest build depends on a library that only these features need
  targets [--in-turn]         lints the code for the installed targets among ARM, Windows, macOS and WebAssembly; with
                              --in-turn, for one of them, another one each day
  release [--pack]            packs the crates as for publication, and builds and runs the first example with these
                              archives alone; with --pack, only packs them
  site [--browser]            builds the site in target/site (guides with search, gallery, ops, reference), and fails if
                              a link is broken; installs mdBook in target/; --browser tests the search in Chromium
  kernels                     checks the machine code of the CPU's kernels; fails if one has no vectors, or has calls
  zero-cost                   counts the instructions of generic code and of direct calls; fails if they differ too much

`setup`, `test`, `golden`, `peers` and `bench peers` need Python 3.11 or newer with pip. The first program that loads
libtorch needs a C++20 compiler.
";

fn main() -> ExitCode {
    let mut args = env::args().skip(1);
    let task = args.next().unwrap_or_default();
    let args: Vec<String> = args.collect();
    let done: Outcome = match task.as_str() {
        "setup" => setup::task(&args),
        "test" => test::task(&args),
        "attack" => attack::task(&args),
        "fuzz" => fuzz::task(&args),
        "golden" => golden::task(&args),
        "golden-torch" => golden::torch(&args),
        "table" => table::task(&args),
        "gpu-bundle" => gpu_bundle::task(&args),
        "gpu-results" => gpu_results::task(&args),
        "mpiexec" => mpi::task(&args),
        "miri" => measure::miri(&args),
        "asan" => measure::asan(&args),
        "aarch64" => measure::aarch64(&args),
        "bench" => measure::bench(&args),
        "pages" => pages::task(&args),
        "peers" => peers::task(&args),
        "callgrind" => measure::callgrind(&args),
        "build-cost" => build_cost::task(&args),
        "docs" => docs::task(),
        "features" => features::task(),
        "targets" => features::targets(&args),
        "release" => release::task(&args),
        "site" => site::task(&args),
        "kernels" => kernels::task(),
        "zero-cost" => zero_cost::task(),
        "" | "help" | "-h" | "--help" => {
            print!("{HELP}");
            Ok(())
        }
        other => Err(format!("there is no task `{other}`\n\n{HELP}")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}
