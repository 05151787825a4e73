//! Simulates smoke in an incompressible fluid, on the backend chosen at run time.
//!
//!     cargo run --release -p fluid
//!     cargo run --release -p fluid -- --help

mod cli;
mod fluid;
mod inverse;
mod picture;
mod scene;
mod simulate;
mod walls;

use backends::dispatch;
use cli::Options;
use examples_common::{
    console::{self, Console},
    output::Output,
};
use std::{error::Error, process::ExitCode};

fn main() -> ExitCode {
    console::main(cli::parse(std::env::args_os().skip(1)), cli::HELP, run)
}

fn run(options: &Options, console: &mut Console) -> Result<(), Box<dyn Error>> {
    let backend = options.backend.open(options.device.as_deref())?;
    let output = Output::prepare(&options.out, &simulate::file_names(options))?;
    let (library, device) = (backend.name(), backends::Arrays::device(&backend));
    console.say(format!("{} on {library} ({device})", options.dtype));
    let files = dispatch!(options.dtype, T: [Float32, Float64] => {
        simulate::run::<_, T>(&backend, options, console)
    })?;
    output.write(&files, Vec::new())?;
    let names =
        if let [first, .., last] = &files[..] { format!("{} .. {}", first.name, last.name) } else { String::new() };
    console.say(format!("wrote {} files, {names}, to {}", files.len(), options.out.display()));
    Ok(())
}
