//! Project tasks: `cargo xtask <task>`.

mod attack;
mod bench;
mod binaries;
mod build_cost;
#[cfg(test)]
mod circles;
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

  setup [--torch VERSION]     fetches libtorch into libtorch/, NVRTC into cuda/ and MPI into mpi/
  test [GROUP | --row NAME] [--exhaustive | --in-turn] [ARGS]
                              setup, and NumPy, then all tests, or those of a group (`test list` names them) or of a row; ARGS go to
                              `cargo test`. Repetitions (orders of a kernel's threads, numbers of ranks) are sampled, or run whole with
                              --exhaustive; with --in-turn one kind of them is whole, by the day. What is missing is skipped, and
                              said; with CI in the environment nothing that can be had may be missing
  attack                      as root on Linux: plants libraries as another user, and shows that none is loaded
  fuzz [SECONDS] [--seed N]   damaged tables and files, and random calls of every row, compared between backends and numbers of
                              threads; the bounded tests of the same with fixed seeds are among those of `test`
  golden [--table T --out D]  NumPy's results for the conformance tests, by default those of ops.toml and demo-ops
  golden ROW [--table T]      the same of one row, shown and not written
  golden-torch                gradients by PyTorch's autograd, for the tests of gradients; its package has some GB
  table [--json] [--table T]  the rows of a table: their signatures, or all that is known of them as JSON
  pages                       writes docs/ops.md, docs/array-api.md, docs/parity.md and docs/interface.txt, which are made of the table
  gpu-bundle [--try [--plant]]
                              packs tests, a bench and compiled kernels for a machine with a GPU but without cargo, into
                              target/gpu-bundle.tar.xz; --try runs it as a user who owns nothing, on the software device; with --plant
                              there are mistakes in three kernels, which have to be named (docs/gpu.md)
  gpu-results FILE..          what such a machine gave back, as tables
  mpiexec RANKS PROGRAM [ARGS]
                              a program on so many ranks, under every MPI of mpi/
  miri [FILTER]               the tests of the code that runs on the CPU, under miri
  asan [FILTER]               the same under AddressSanitizer, with the instructions that Miri has not (AVX-512); on Linux
  aarch64 [FILTER]            the same on an emulated ARM processor; on Linux with QEMU (`qemu-user-static`)
  bench [BENCH [ARGS]]        `cargo bench`; of `rows` also the ratios to libtorch; ARGS go to criterion
  bench peers [PART] [THREADS..]
                              the calls of benches/peers.txt and of the table beside NumPy, SciPy, numexpr, PyTorch, ndarray, candle, faer, burn
                              and rstsr, or those with a part of the text or of their group; writes docs/peers/ when it is all of them, and names
                              what got slower
  peers [THREADS..]           formulas beside NumPy, numexpr, PyTorch and ndarray, by default on 1 and 2 threads
  peers mlp [THREADS..]       a step of training a small network beside PyTorch, burn and candle
  peers heat [ROW] [RANKS..]  arrays split over ranks beside Heat, both under one mpiexec, by default on 1 and 2 ranks, or the rows with a
                              part of the text
  peers nufft [THREADS..]     non-uniform Fourier transforms beside FINUFFT, by default on 1 and 2 threads
  peers programs [PART] [THREADS..]
                              whole small programs, op by op and as formulas, beside the same in NumPy and PyTorch, or those with a part of the name
  peers examples [epr | template | fluid] [THREADS..]
                              the examples of these names beside PyEPRI, pyTME and Phi-ML, from start to result, by default all on 1 and 2 threads;
                              fails where results differ; its packages have some GB
  peers solvers               Poisson's equation by the linear solvers, and by SciPy's
  callgrind BENCH [ARGS]      instructions of a bench or example, by function
  build-cost [--of CHECKOUT] [--only PROGRAM | --speeds]
                              what a user's crate pays to compile: seconds, lines, sizes, and the speed of dev builds
  docs                        builds the reference; fails where a link leads nowhere or a page is too large
  features                    lints builds without the features cuda and torch, and for WebAssembly; fails where one warns, or where the smallest
                              depends on what these need
  targets [--in-turn]         lints the code for other systems and processors (ARM, Windows, macOS, WebAssembly), as far as `rustup target add`
                              has installed their standard libraries; with --in-turn for one of them, by the day
  release [--pack]            packs the crates as they are published, and builds and runs the first example with these archives alone; with
                              --pack only packs them
  site [--browser]            builds the site in target/site: the guides with search, a gallery, the ops and the reference; fails where a link
                              leads nowhere; installs mdBook into target/; with --browser also runs searches in headless Chromium
  kernels                     reads the machine code of the CPU's kernels; fails where one has no vectors, or calls
  zero-cost                   instructions of generic code and of the same by hand; fails where they differ too much

`setup`, `test`, `golden`, `peers` and `bench peers` need Python 3.11 or newer with pip. The first program that loads libtorch needs a C++20
compiler. The rest needs neither.
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
