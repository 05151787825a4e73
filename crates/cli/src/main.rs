//! A command-line program that runs ops.
//!
//! ```text
//! backends-cli devices
//! backends-cli ops cumulative
//! backends-cli help std
//! backends-cli call 'std(x, axis=0)' --x data.npy --backend torch --out y.npy --profile
//! backends-cli run program.npz --out y=y.npy
//! backends-cli bench exp
//! ```

mod arguments;
mod bench;
mod call;
mod list;

use arguments::{Arguments, Command};
use std::{
    fmt,
    io::{self, Write},
    process::ExitCode,
};

/// An error that ends a command. Its text is a complete sentence.
#[derive(Debug)]
pub struct Failure(String);

/// The result of a command.
pub type Outcome<T = ()> = Result<T, Failure>;

impl<E: fmt::Display> From<E> for Failure {
    fn from(why: E) -> Failure {
        Failure(why.to_string())
    }
}

fn main() -> ExitCode {
    let done = Arguments::read(lexopt::Parser::from_env()).and_then(|arguments| run(&arguments, &mut io::stdout()));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure(why)) => {
            // if stderr is closed, the write fails, but the exit status still reports the failure
            let _ = writeln!(io::stderr(), "backends-cli: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the command, and writes its output to `out`.
fn run(arguments: &Arguments, out: &mut impl Write) -> Outcome {
    let text = match &arguments.command {
        Command::Usage => arguments::USAGE.into(),
        Command::Devices => list::devices(),
        Command::Ops(search) => list::ops(search),
        Command::Help(op) => backends::help(op)?.to_string(),
        Command::Call(text) => call::call(arguments, text)?,
        Command::Run(file) => call::run(arguments, file)?,
        Command::Bench(text) => bench::bench(arguments, text)?,
    };
    let text = text.trim_end();
    match if text.is_empty() { Ok(()) } else { writeln!(out, "{text}") } {
        // the reader has closed the pipe, which is not an error
        Err(why) if why.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}
