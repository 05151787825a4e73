//! Reconstructs the image of an electron paramagnetic resonance measurement, on the backend chosen at run time.
//!
//!     cargo run --release -p epr_reconstruct
//!     cargo run --release -p epr_reconstruct -- --help
//!
//! The numerical methods are in the crate `backends-epr`, written once for every backend.

mod cli;
mod figure;
mod measurement;
mod memory;
mod reconstruct;
mod reference;

use backends::{AnyBackend, Arrays, dispatch};
use cli::Options;
use examples_common::{
    console::Console,
    output::{Files, Output},
    ranks::{self, Ranks},
};
use measurement::Measurement;
use std::{error::Error, process::ExitCode};

fn main() -> ExitCode {
    ranks::main(cli::parse(std::env::args_os().skip(1)), cli::HELP, |options| options.ranks, run)
}

fn run(options: &Options, ranks: &Ranks, console: &mut Console) -> Result<(), Box<dyn Error>> {
    ranks.set_threads(options.plans.threads())?;
    let measured = Measurement::read(&options.data)?;
    let expected = reconstruct::results(options);
    let references = options.reference.as_deref().map(|path| reference::read(path, &expected, console));
    let references = references.transpose()?.unwrap_or_default();
    let backend = ranks.open(options.backend, options.device.as_deref())?;
    if options.plans.are_asked_for() {
        return plan(options, &backend, &measured, console);
    }
    let names = reconstruct::file_names(options);
    let output = ranks.is_first().then(|| Output::prepare(&options.out, &names)).transpose()?;
    console.say(&measured);
    let (place, shape) = (ranks.place(&backend), options.shape_text());
    console.say(format!("image of {shape} pixels of {:?} cm, {}, on {place}", options.delta, options.dtype));
    reconstruct::check(options, &measured)?;
    if backend.device() == "cpu" {
        memory::check(options, options.dtype.size(), ranks)?;
    }
    let mut files = Files::new(ranks.is_first());
    let sharded = ranks.sharded(&backend)?;
    dispatch!(options.dtype, T: [Float32, Float64] => match &sharded {
        None => reconstruct::run::<_, T>(&backend, options, &measured, &references, &mut files, console),
        Some(b) => reconstruct::run::<_, T>(b, options, &measured, &references, &mut files, console),
    })?;
    ranks.report(sharded.as_ref(), console);
    if let Some(output) = output {
        output.write(files.as_slice(), Vec::new())?;
    }
    console.say(format!("wrote {} to {}", names.join(", "), options.out.display()));
    Ok(())
}

/// Predicts the messages, the time and the memory of a run on many ranks. The ranks do not have to exist: this process
/// computes the part of one rank.
fn plan(
    options: &Options,
    backend: &AnyBackend,
    measured: &Measurement,
    console: &mut Console,
) -> Result<(), Box<dyn Error>> {
    reconstruct::check(options, measured)?;
    let references = reference::References::default();
    options.plans.run(backend, console, |ranks, console| {
        let (mut files, b) = (Files::new(false), ranks.sharded(backend)?);
        let b = b.ok_or("there are no ranks")?;
        dispatch!(options.dtype, T: [Float32, Float64] =>
            reconstruct::run::<_, T>(&b, options, measured, &references, &mut files, console))?;
        Ok(b.largest_part())
    })
}
