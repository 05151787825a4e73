//! Trains neural networks to read noisy digits, on the backend chosen at run time.
//!
//!     cargo run --release -p learn
//!     cargo run --release -p learn -- --help

mod cli;
mod digits;
mod network;
mod picture;
mod train;

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
    let backend = options.backend.open(options.device.as_deref(), 0)?;
    let output = Output::prepare(&options.out, &train::file_names(options))?;
    let (library, device) = (backend.name(), backends::Arrays::device(&backend));
    console.say(format!("{} on {library} ({device})", options.dtype));
    dispatch!(options.dtype, T: [Float32, Float64] => {
        train::run::<_, T>(&backend, options, &output, console)
    })
}
