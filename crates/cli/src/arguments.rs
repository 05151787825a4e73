//! Parses the command line.

use crate::{Failure, Outcome};
use backends::prelude::*;
use lexopt::prelude::*;
use std::{path::PathBuf, time::Duration};

/// The help text, shown if no command is given.
pub const USAGE: &str = "\
backends-cli devices             lists the libraries and devices, and why some are unavailable
backends-cli ops [WORDS]         lists the ops, or the ops with these words in their names or summaries
backends-cli help OP             shows the page of an op
backends-cli call 'CALL' ..      computes calls: 'std(x, axis=0)', 'q, r = qr(x)'; separate calls by lines or by ;
backends-cli run FILE|- ..       runs the calls in a file or on the standard input: text with a call on each line, or a
                                 program that `Recorded` has saved
backends-cli bench OP|'CALL' ..  prints the minimum time of a call on each backend

options of call, run and bench:
  --NAME FILE.npy|NUMBER         sets a variable of the calls to an array in a file, or to a number
  --backend NAME                 numpyish, cuda, cuda:1, torch or torch:cuda:0 [the value of BACKENDS_DEFAULT]
  --precision 16|32|64           the precision of numbers for which no dtype is given
options of call and run:
  --out FILE.npy                 writes the result to a file; --out NAME=FILE.npy writes a variable, and may be repeated
  --profile[=MS]                 prints the time of the ops, only of calls that took at least MS milliseconds
  --trace FILE.json              writes the times for chrome://tracing or Perfetto
options of bench:
  --size N                       the number of elements of arrays without a value [1000000]";

/// A command of the program.
#[derive(Debug)]
pub enum Command {
    /// Show the help text.
    Usage,
    /// List the devices.
    Devices,
    /// List the ops that match these words.
    Ops(String),
    /// Show the documentation of an op.
    Help(String),
    /// Compute the calls in this text.
    Call(String),
    /// Compute the calls in this file, or the calls on the standard input if the name is `-`.
    Run(String),
    /// Measure the time of this call, or of a call of the op with this name.
    Bench(String),
}

/// The parsed arguments of the program.
#[derive(Debug)]
pub struct Arguments {
    /// The command to run.
    pub command: Command,
    /// Names and values of variables, as given on the command line.
    pub variables: Vec<(String, String)>,
    /// Name of the backend. `None` stands for the default backend (`call`, `run`) or for all backends (`bench`).
    pub backend: Option<String>,
    /// Precision of numbers for which no dtype is given.
    pub precision: Option<DType>,
    /// Output files. Each has the name of the variable to be stored; `None` stands for the result of the last call.
    pub out: Vec<(Option<String>, PathBuf)>,
    /// Minimum duration of calls in the printed profile; `None` if no profile is printed.
    pub profile: Option<Duration>,
    /// Output file of the trace.
    pub trace: Option<PathBuf>,
    /// Number of elements of the array that `bench` makes for each variable without a value on the command line.
    pub size: usize,
}

impl Arguments {
    /// Parses the arguments. Unknown or invalid options and unknown commands are errors.
    pub fn read(mut parser: lexopt::Parser) -> Outcome<Arguments> {
        let mut words: Vec<String> = Vec::new();
        let mut arguments = Arguments {
            command: Command::Usage,
            variables: Vec::new(),
            backend: None,
            precision: None,
            out: Vec::new(),
            profile: None,
            trace: None,
            size: 1_000_000,
        };
        while let Some(argument) = parser.next()? {
            match argument {
                Value(word) => words.push(word.string()?),
                Short('h') | Long("help") => return Ok(arguments),
                Long("backend") => arguments.backend = Some(parser.value()?.string()?),
                Long("precision") => {
                    arguments.precision = Some(match parser.value()?.string()?.as_str() {
                        "16" => DType::Float16,
                        "32" => DType::Float32,
                        "64" => DType::Float64,
                        other => return Err(Failure(format!("the precision is 16, 32 or 64, and not `{other}`"))),
                    });
                }
                Long("out") => {
                    let text = parser.value()?.string()?;
                    let named = text.split_once('=').filter(|(name, _)| is_name(name));
                    arguments.out.push(match named {
                        Some((name, path)) => (Some(name.into()), path.into()),
                        None => (None, text.into()),
                    });
                }
                Long("profile") => {
                    let least = parser.optional_value().map(|ms| ms.parse::<f64>()).transpose()?.unwrap_or(0.0);
                    let least = Duration::try_from_secs_f64(least / 1e3);
                    arguments.profile = Some(least.map_err(|why| format!("--profile: {why}"))?);
                }
                Long("trace") => arguments.trace = Some(parser.value()?.into()),
                Long("size") => arguments.size = parser.value()?.parse()?,
                Long(name) if is_name(name) => {
                    let name = name.to_owned();
                    arguments.variables.push((name, parser.value()?.string()?));
                }
                other => return Err(other.unexpected().into()),
            }
        }
        arguments.command = command(&words)?;
        Ok(arguments)
    }
}

fn command(words: &[String]) -> Outcome<Command> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Ok(match words[..] {
        [] => Command::Usage,
        ["devices"] => Command::Devices,
        ["ops", ref search @ ..] => Command::Ops(search.join(" ")),
        ["help", op] => Command::Help(op.into()),
        ["run", file] | ["call", file @ "-"] => Command::Run(file.into()),
        ["run"] => return Err(Failure("`run` takes a file, or `-` for the standard input".into())),
        ["run", _, more, ..] => return Err(Failure(format!("unexpected argument `{more}`: `run` takes one file"))),
        ["call", call] => Command::Call(call.into()),
        ["bench", call] => Command::Bench(call.into()),
        ["call" | "bench", _, more, ..] => {
            return Err(Failure(format!(
                "unexpected argument `{more}`: write a call in quotes, such as 'sum(x, axis=0)'"
            )));
        }
        [other, ..] => return Err(Failure(format!("`{other}` is not a command\n\n{USAGE}"))),
    })
}

/// Returns whether a text can be the name of a variable.
fn is_name(text: &str) -> bool {
    let begins = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    begins && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}
