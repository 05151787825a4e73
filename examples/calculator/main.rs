//! A calculator over the op table: reads lines, calls ops by name, prints what they give.
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
//! `--backend torch` or `--backend cuda` computes there. Nothing here names an op: every row of the table can be called.

mod expression;

use backends::{call, prelude::*, runtime::dispatch};
use expression::{Expression, Line};
use std::{
    collections::HashMap,
    io::{self, BufRead, IsTerminal, Write},
    process::ExitCode,
};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args[..] {
        [] | ["--backend", "numpyish"] => run(&Numpyish::new()),
        ["--backend", "torch"] => Torch::cpu().map_err(io::Error::other).and_then(|b| run(&b)),
        ["--backend", "cuda"] => Cuda::new(0).map_err(io::Error::other).and_then(|b| run(&b)),
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

/// Answers every line until the input ends.
fn run<B: Backend>(b: &B) -> io::Result<()> {
    let (mut variables, mut out) = (HashMap::new(), io::stdout());
    let prompt = io::stdin().is_terminal();
    let ask = |out: &mut io::Stdout| if prompt { write!(out, "> ").and_then(|()| out.flush()) } else { Ok(()) };
    ask(&mut out)?;
    for line in io::stdin().lock().lines() {
        let answer = answer(b, &mut variables, &line?).unwrap_or_else(|why| format!("error: {why}"));
        let written = if answer.is_empty() { Ok(()) } else { writeln!(out, "{answer}") };
        match written.and_then(|()| ask(&mut out)) {
            // who reads has read enough
            Err(why) if why.kind() == io::ErrorKind::BrokenPipe => break,
            other => other?,
        }
    }
    Ok(())
}

/// What a line gives; nothing for an empty one and for an assignment.
fn answer<B: Backend>(
    b: &B,
    variables: &mut HashMap<String, Value<B>>,
    line: &str,
) -> std::result::Result<String, String> {
    match expression::line(line)? {
        Line::Nothing => Ok(String::new()),
        Line::Help(op) => {
            let found = OPS.iter().find(|row| row.name == op).ok_or_else(|| format!("there is no op `{op}`"))?;
            Ok(format!("{}\n{}", found.signature, found.summary))
        }
        Line::Assign(name, expression) => {
            let value = value(b, variables, &expression)?;
            variables.insert(name, value);
            Ok(String::new())
        }
        Line::Show(expression) => show(b, &value(b, variables, &expression)?).map_err(|why| why.to_string()),
    }
}

fn value<B: Backend>(
    b: &B,
    variables: &HashMap<String, Value<B>>,
    expression: &Expression,
) -> std::result::Result<Value<B>, String> {
    Ok(match expression {
        Expression::Integer(x) => Value::Integer(*x),
        Expression::Float(x) => Value::Float(*x),
        Expression::Imaginary(x) => Value::Complex(Complex::new(0.0, *x)),
        Expression::Text(text) => Value::Text(text.clone()),
        Expression::Slice(slice) => Value::Slice(*slice),
        Expression::List(items) => {
            Value::List(items.iter().map(|item| value(b, variables, item)).collect::<std::result::Result<_, _>>()?)
        }
        Expression::Name(name) => match (variables.get(name), name.as_str()) {
            (Some(value), _) => value.clone(),
            (None, "True" | "true") => Value::Bool(true),
            (None, "False" | "false") => Value::Bool(false),
            (None, "None" | "none") => Value::None,
            // what is no variable is a word: a dtype, or a choice
            (None, word) => Value::Text(word.into()),
        },
        Expression::All => Value::All,
        Expression::Call(op, positional, named) => {
            let positional: Vec<Value<B>> =
                positional.iter().map(|arg| value(b, variables, arg)).collect::<std::result::Result<_, _>>()?;
            let named: Vec<(&str, Value<B>)> = named
                .iter()
                .map(|(name, arg)| Ok((name.as_str(), value(b, variables, arg)?)))
                .collect::<std::result::Result<_, String>>()?;
            call(b, op, &positional, &named).map_err(|why| why.to_string())?
        }
    })
}

fn show<B: Backend>(b: &B, value: &Value<B>) -> Result<String> {
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
