//! Finds copies of a template in a volume, in any orientation, on the backend chosen at run time.
//!
//!     cargo run --release -p template_match
//!     cargo run --release -p template_match -- --help

mod cli;
mod joined;
mod picture;
mod search;

use backends::dispatch;
use cli::{Options, Split};
use examples_common::{
    console::Console,
    library::Library,
    output::Output,
    ranks::{self, Ranks},
    workers,
};
use search::{Inputs, Share};
use std::{error::Error, process::ExitCode};

fn main() -> ExitCode {
    ranks::main(cli::parse(std::env::args_os().skip(1)), cli::HELP, |options| options.ranks, run)
}

fn run(options: &Options, ranks: &Ranks, console: &mut Console) -> Result<(), Box<dyn Error>> {
    if options.threads.is_some() && options.backend == Library::Torch {
        return Err("--threads: libtorch takes its number from OMP_NUM_THREADS".into());
    }
    ranks.set_threads(options.threads.or(options.plans.threads()))?;
    if options.plans.are_asked_for() {
        return plan(options, ranks, console);
    }
    let inputs = Inputs::read(options)?;
    let backend = ranks.open(options.backend, options.device.as_deref())?;
    let output = ranks.is_first().then(|| Output::prepare(&options.out, &search::file_names())).transpose()?;
    console.say(format!("{}, {} on {}", inputs.target, options.dtype, ranks.place(&backend)));
    let sharded = if options.split == Split::Volume { ranks.sharded(&backend)? } else { None };
    // uses one thread for a GPU and for libtorch, which have their own threads, and for arrays over ranks, whose
    // messages need a fixed order
    let threads = if sharded.is_none() && backend.name() == "numpyish" { workers::count() } else { 1 };
    let share = Share::new(options, ranks, threads)?;
    dispatch!(options.dtype, T: [Float32, Float64] => match &sharded {
        None => search::run::<_, T>(&backend, options, inputs, &share, output.as_ref(), console),
        Some(b) => search::run::<_, T>(b, options, inputs, &share, output.as_ref(), console),
    })?;
    ranks.report(sharded.as_ref(), console);
    console.say(format!("wrote {} to {}", search::file_names().join(", "), options.out.display()));
    Ok(())
}

/// Predicts the communication and the memory of the program on given numbers of ranks, without starting these ranks.
fn plan(options: &Options, ranks: &Ranks, console: &mut Console) -> Result<(), Box<dyn Error>> {
    let backend = ranks.open(options.backend, options.device.as_deref())?;
    options.plans.run(&backend, console, |ranks, console| {
        let (inputs, share) = (Inputs::read(options)?, Share::new(options, ranks, 1)?);
        let b = ranks.sharded(&backend)?.ok_or("there are no ranks")?;
        dispatch!(options.dtype, T: [Float32, Float64] => match options.split {
            Split::Volume => search::run::<_, T>(&b, options, inputs, &share, None, console),
            Split::Rotations => search::run::<_, T>(&backend, options, inputs, &share, None, console),
        })?;
        Ok(b.largest_part())
    })
}
