//! Simulates smoke in an incompressible fluid, on the backend chosen at run time.
//!
//!     cargo run --release -p fluid
//!     cargo run --release -p fluid -- --help

mod checkpoint;
mod cli;
mod inverse;
mod picture;
mod simulate;

use backends::dispatch;
use checkpoint::Checkpoint;
use cli::Options;
use examples_common::{
    console::Console,
    output::{self, Files, Output},
    ranks::{self, Ranks},
};
use std::{error::Error, process::ExitCode};

fn main() -> ExitCode {
    ranks::main(cli::parse(std::env::args_os().skip(1)), cli::HELP, |options| options.ranks, run)
}

fn run(options: &Options, ranks: &Ranks, console: &mut Console) -> Result<(), Box<dyn Error>> {
    ranks.set_threads(options.plans.threads())?;
    let restart = options.restart.as_deref().map(Checkpoint::open).transpose()?;
    let restarted = restart.as_ref().map(|checkpoint| checkpoint.options(options)).transpose()?;
    let options = restarted.as_ref().unwrap_or(options);
    let backend = ranks.open(options.backend, options.device.as_deref())?;
    if options.plans.are_asked_for() {
        return options.plans.run(&backend, console, |ranks, console| {
            let (mut files, b) = (Files::new(false), ranks.sharded(&backend)?);
            let b = b.ok_or("there are no ranks")?;
            dispatch!(options.dtype, T: [Float32, Float64] =>
                simulate::run::<_, T>(&b, options, restart.as_ref(), &mut files, console))?;
            Ok(b.largest_part())
        });
    }
    let names = simulate::file_names(options, restart.as_ref());
    let output = ranks.is_first().then(|| Output::prepare(&options.out, &names)).transpose()?;
    if let Some(path) = options.checkpoint.as_deref().filter(|_| ranks.is_first()) {
        output::try_to_replace(path)?;
    }
    console.say(format!("{} on {}", options.dtype, ranks.place(&backend)));
    let mut files = Files::new(ranks.is_first());
    let sharded = ranks.sharded(&backend)?;
    dispatch!(options.dtype, T: [Float32, Float64] => match &sharded {
        None => simulate::run::<_, T>(&backend, options, restart.as_ref(), &mut files, console),
        Some(b) => simulate::run::<_, T>(b, options, restart.as_ref(), &mut files, console),
    })?;
    ranks.report(sharded.as_ref(), console);
    let files = files.as_slice();
    if let Some(output) = output {
        output.write(files, Vec::new())?;
    }
    let names = if let [first, .., last] = files { format!("{} .. {}", first.name, last.name) } else { String::new() };
    console.say(format!("wrote {} files, {names}, to {}", files.len(), options.out.display()));
    Ok(())
}
