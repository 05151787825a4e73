//! Finds copies of a template in a volume, in any orientation, on the backend chosen at run time.
//!
//!     cargo run --release -p template_match
//!     cargo run --release -p template_match -- --help

mod chunks;
mod cli;
mod matching;
mod peaks;
mod picture;
mod rotations;
mod search;
mod volume;

use backends::dispatch;
use cli::Options;
use examples_common::{
    console::{self, Console},
    library::Library,
    output::Output,
};
use search::Inputs;
use std::{error::Error, process::ExitCode};

fn main() -> ExitCode {
    console::main(cli::parse(std::env::args_os().skip(1)), cli::HELP, run)
}

fn run(options: &Options, console: &mut Console) -> Result<(), Box<dyn Error>> {
    if let Some(threads) = options.threads {
        if options.backend == Library::Torch {
            return Err("--threads: libtorch takes its number from OMP_NUM_THREADS".into());
        }
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    }
    let inputs = Inputs::read(options)?;
    let backend = options.backend.open(options.device.as_deref())?;
    let output = Output::prepare(&options.out, &search::file_names())?;
    let (library, device) = (backend.name(), backends::Arrays::device(&backend));
    console.say(format!("{}, {} on {library} ({device})", inputs.target, options.dtype));
    dispatch!(options.dtype, T: [Float32, Float64] => {
        search::run::<_, T>(&backend, options, inputs, &output, console)
    })?;
    console.say(format!("wrote {} to {}", search::file_names().join(", "), options.out.display()));
    Ok(())
}
