//! Calls over files.

use crate::{Arguments, Failure, Outcome};
use backends::{prelude::*, runtime::dispatch};
use backends_npz::NumpyFiles;
use std::fmt::Write;

/// The backend that the arguments name.
pub fn backend(arguments: &Arguments) -> Outcome<AnyBackend> {
    Ok(match &arguments.backend {
        Some(name) => name.parse()?,
        None => AnyBackend::from_env()?,
    })
}

/// The script of a text, whose lines may have `;` between them. A `;` within brackets is that of a step.
pub fn script(text: &str) -> Outcome<Script> {
    let (mut depth, mut quote) = (0_i32, None);
    let lines: String = text
        .chars()
        .map(|c| {
            match (quote, c) {
                (None, '"' | '\'') => quote = Some(c),
                (Some(open), c) if open == c => quote = None,
                (None, '[' | '(') => depth += 1,
                (None, ']' | ')') => depth -= 1,
                _ => {}
            }
            if c == ';' && depth == 0 && quote.is_none() { '\n' } else { c }
        })
        .collect();
    Ok(lines.parse()?)
}

/// The variables that the arguments give, on a backend.
pub fn variables(arguments: &Arguments, b: &AnyBackend) -> Outcome<Variables<AnyBackend>> {
    let mut variables = Variables::new();
    for (name, text) in &arguments.variables {
        let value = if text.to_lowercase().ends_with(".npy") {
            b.load_npy_value(text)?
        } else {
            let number = text.parse::<Script>()?.run(b, &mut Variables::new())?;
            number.ok_or_else(|| Failure(format!("--{name} is a file .npy or a number, and not `{text}`")))?
        };
        variables.insert(name.clone(), value);
    }
    Ok(variables)
}

/// Computes, writes the results, and gives what is to be shown.
pub fn call(arguments: &Arguments, text: &str) -> Outcome<String> {
    let plain = backend(arguments)?;
    let script = script(text)?;
    let _precision = arguments.precision.map(enter_precision).transpose()?;
    let mut variables = variables(arguments, &plain)?;
    let missing: Vec<&str> = script.inputs().into_iter().filter(|name| !variables.contains_key(*name)).collect();
    if let [name, ..] = missing[..] {
        return Err(Failure(format!("what is `{name}`? give --{name} FILE.npy or a number")));
    }
    let profile = (arguments.profile.is_some() || arguments.trace.is_some()).then(Profile::new);
    let b = profile.as_ref().map_or(plain.clone(), |profile| profile.watch(plain.clone()).into());
    let last = script.run(&b, &mut variables)?;
    let mut out = String::new();
    for (name, path) in &arguments.out {
        let value = match name {
            Some(name) => variables.get(name).ok_or_else(|| Failure(format!("there is no variable `{name}`")))?,
            None => last.as_ref().ok_or_else(|| {
                Failure("the last call has a name: say --out NAME=FILE.npy, or leave the name out".into())
            })?,
        };
        plain.save_npy_value(path, value)?;
    }
    if let (Some(value), []) = (&last, &arguments.out[..]) {
        out = show(&plain, value)?;
    }
    if let (Some(profile), Some(least)) = (&profile, arguments.profile) {
        let separator = if out.is_empty() { "" } else { "\n\n" };
        let _ = write!(out, "{separator}{}\n{}", profile.table(least), profile.summary());
    }
    if let (Some(profile), Some(path)) = (&profile, &arguments.trace) {
        profile.save_trace(path).map_err(|why| format!("{}: {why}", path.display()))?;
    }
    Ok(out)
}

/// A value as people read it.
fn show(b: &AnyBackend, value: &Value<AnyBackend>) -> Outcome<String> {
    Ok(match value {
        Value::Array(x) => dispatch!(x.dtype(), T => {
            let elements = x.get::<T>().map(|x| b.to_ndarray(x)).transpose()?.unwrap_or_default();
            Ok::<_, Error>(format!("{} {:?}\n{elements}", x.dtype(), elements.shape()))
        })?,
        Value::List(items) => items.iter().map(|item| show(b, item)).collect::<Outcome<Vec<_>>>()?.join("\n"),
        Value::None => String::new(),
        other => other.to_string(),
    })
}
