//! A calculator based on the op table: it reads lines, calls ops by name, and prints the results.
//!
//! ```text
//! cargo run --example calculator
//! > x = asarray([[1, 2], [3, 4]], dtype=float32)
//! > std(x, axis=0, correction=1)
//! float32 [1.4142135, 1.4142135]
//! > matmul(x, x)
//! float32 [[7, 10],
//!  [15, 22]]
//! > help std
//! ```
//!
//! `--backend torch` or `--backend cuda` selects another backend. The program contains no list of ops: it can call
//! every op of the table by its name.

use backends::{Result, Value, Variables, help, prelude::*, runtime::dispatch};
use std::{
    io::{self, BufRead, IsTerminal, Write},
    process::ExitCode,
};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args[..] {
        [] => run(&AnyBackend::from(Numpyish::new())),
        ["--backend", name] => name.parse().map_err(io::Error::other).and_then(|b| run(&b)),
        _ => Err(io::Error::other("usage: calculator [--backend numpyish|torch|cuda]")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            let _ = writeln!(io::stderr(), "calculator: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Answers each line until the input ends.
fn run(b: &AnyBackend) -> io::Result<()> {
    let (mut variables, mut out) = (Variables::new(), io::stdout());
    let prompt = io::stdin().is_terminal();
    let ask = |out: &mut io::Stdout| if prompt { write!(out, "> ").and_then(|()| out.flush()) } else { Ok(()) };
    ask(&mut out)?;
    for line in io::stdin().lock().lines() {
        let answer = answer(b, &mut variables, &line?).unwrap_or_else(|why| format!("error: {why}"));
        let written = if answer.is_empty() { Ok(()) } else { writeln!(out, "{answer}") };
        match written.and_then(|()| ask(&mut out)) {
            // stops if the reader of the output has closed the pipe
            Err(why) if why.kind() == io::ErrorKind::BrokenPipe => break,
            other => other?,
        }
    }
    Ok(())
}

/// The text of the result of a line; empty for an empty line and for an assignment.
fn answer(b: &AnyBackend, variables: &mut Variables<AnyBackend>, line: &str) -> Result<String> {
    if let Some(op) = line.trim().strip_prefix("help ") {
        let found = help(op.trim())?;
        return Ok(format!("{}\n{}", found.signature, found.summary));
    }
    let value = backends_dynamic::run(b, &line.parse()?, variables)?;
    value.map_or(Ok(String::new()), |value| show(b, &value))
}

fn show(b: &AnyBackend, value: &Value<AnyBackend>) -> Result<String> {
    match value {
        Value::Array(x) => dispatch!(x.dtype(), T => {
            let elements = x.get::<T>().map(|x| b.to_ndarray(x)).transpose()?;
            Ok(format!("{} {}", x.dtype(), elements.unwrap_or_default()))
        }),
        Value::List(items) => {
            let items: Result<Vec<String>> = items.iter().map(|item| show(b, item)).collect();
            Ok(items?.join("\n"))
        }
        other => Ok(other.to_string()),
    }
}
