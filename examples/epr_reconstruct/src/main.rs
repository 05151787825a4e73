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
use cli::{Command, Options};
use examples_common::{
    console::{self, Console},
    output::Output,
};
use measurement::Measurement;
use std::{error::Error, process::ExitCode};

fn main() -> ExitCode {
    let mut console = Console::default();
    let outcome = match cli::parse(std::env::args_os().skip(1)) {
        Ok(Command::Run(options)) => run(&options, &mut console),
        Ok(Command::Help) => {
            console.say(cli::HELP.trim_end());
            Ok(())
        }
        Err(e) => {
            console::complain(format!("{e}\n\nTry --help."));
            return ExitCode::from(2);
        }
    };
    match outcome.and_then(|()| Ok(console.finish()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            console::complain(e);
            ExitCode::FAILURE
        }
    }
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
    output.write(&files)?;
    console.say(format!("wrote {} to {}", names.join(", "), options.out.display()));
    Ok(())
}
