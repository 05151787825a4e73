//! Reconstructs the image of an electron paramagnetic resonance measurement, on the backend chosen at run time.
//!
//!     cargo run --release -p epr_reconstruct
//!     cargo run --release -p epr_reconstruct -- --help
//!
//! The numerics, in the crate `backends-epr`, are written once for every backend.

mod cli;
mod figure;
mod measurement;
mod memory;
mod reconstruct;
mod reference;

use backends::dispatch;
use cli::Options;
use examples_common::{
    console::{self, Console},
    output::Output,
};
use measurement::Measurement;
use std::{error::Error, process::ExitCode};

fn main() -> ExitCode {
    console::main(cli::parse(std::env::args_os().skip(1)), cli::HELP, run)
}

fn run(options: &Options, console: &mut Console) -> Result<(), Box<dyn Error>> {
    let measured = Measurement::read(&options.data)?;
    let expected = reconstruct::results(options);
    let references = options.reference.as_deref().map(|path| reference::read(path, &expected, console));
    let references = references.transpose()?.unwrap_or_default();
    let backend = options.backend.open(options.device.as_deref())?;
    let names = reconstruct::file_names(options);
    let output = Output::prepare(&options.out, &names)?;
    console.say(&measured);
    let (library, device, shape) = (backend.name(), backends::Arrays::device(&backend), options.shape_text());
    console
        .say(format!("image of {shape} pixels of {:?} cm, {}, on {library} ({device})", options.delta, options.dtype));
    let files = dispatch!(options.dtype, T: [Float32, Float64] => {
        reconstruct::run::<_, T>(&backend, options, &measured, &references, console)
    })?;
    output.write(&files, Vec::new())?;
    console.say(format!("wrote {} to {}", names.join(", "), options.out.display()));
    Ok(())
}
