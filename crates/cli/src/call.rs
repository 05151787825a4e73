//! The commands `call` and `run`, which run calls on variables from files and from the command line.

use crate::{Arguments, Command, Failure, Outcome};
use backends::{Error, Profile, Script, Value, Variables, enter_precision, prelude::*, runtime::dispatch};
use backends_npz::{NumpyFiles, SavedProgram};
use std::{
    fmt::Write,
    fs::File,
    io::{self, Read},
};

/// The backend that the command line names, or the default backend.
pub fn backend(arguments: &Arguments) -> Outcome<AnyBackend> {
    Ok(match &arguments.backend {
        Some(name) => name.parse()?,
        None => AnyBackend::from_env()?,
    })
}

/// Parses a script in which `;` separates calls like a line break. A `;` inside brackets, strings or comments does not
/// separate calls.
pub fn script(text: &str) -> Outcome<Script> {
    let mut lines = String::with_capacity(text.len());
    for line in text.lines() {
        let (mut depth, mut quote, mut is_note, mut is_escaped) = (0_i32, None, false, false);
        for c in line.chars() {
            match (quote, c) {
                _ if is_note || is_escaped => is_escaped = false,
                (Some(_), '\\') => is_escaped = true,
                (None, '"' | '\'') => quote = Some(c),
                (Some(open), c) if open == c => quote = None,
                (None, '#') => is_note = true,
                (None, '[' | '(') => depth += 1,
                (None, ']' | ')') => depth -= 1,
                _ => {}
            }
            let ends = c == ';' && depth == 0 && quote.is_none() && !is_note;
            lines.push(if ends { '\n' } else { c });
        }
        lines.push('\n');
    }
    Ok(lines.parse()?)
}

/// Converts the variables from the command line to values on a backend.
pub fn variables(arguments: &Arguments, b: &AnyBackend) -> Outcome<Variables<AnyBackend>> {
    let mut variables = Variables::new();
    for (name, text) in &arguments.variables {
        let value = if text.to_lowercase().ends_with(".npy") {
            b.load_npy_value(text)?
        } else {
            let number = backends_dynamic::run(b, &text.parse()?, &mut Variables::new())?;
            number.ok_or_else(|| Failure(format!("--{name} is a file .npy or a number, and not `{text}`")))?
        };
        variables.insert(name.clone(), value);
    }
    Ok(variables)
}

/// Runs a call, writes its results to files, and returns the text to print.
pub fn call(arguments: &Arguments, text: &str) -> Outcome<String> {
    let script = script(text)?;
    computed(arguments, &script, |_| Ok(Variables::new()))
}

/// Like `call`, but reads the calls from a file, or from the standard input if `file` is `-`. The file contains a
/// script as text, or a saved program with its arrays.
pub fn run(arguments: &Arguments, file: &str) -> Outcome<String> {
    match program(file)? {
        Text::Plain(text) => {
            let script = script(&text).map_err(|Failure(why)| format!("{}: {why}", called(file)))?;
            computed(arguments, &script, |_| Ok(Variables::new()))
        }
        Text::Saved(saved) => computed(arguments, &saved.script()?, |b| Ok(saved.constants_on(b)?)),
    }
}

/// The contents of a file: a script or a saved program.
enum Text {
    Plain(String),
    Saved(SavedProgram),
}

/// The first bytes of a zip file with members, such as a saved program, and of an empty zip file.
const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// Name of a file in error messages.
fn called(file: &str) -> &str {
    if file == "-" { "the standard input" } else { file }
}

/// Reads a file, which may be a pipe. A regular file that is a saved program is only opened, not read completely.
fn program(file: &str) -> Outcome<Text> {
    let named = |why: io::Error| format!("{}: {why}", called(file));
    let mut bytes = Vec::new();
    if file == "-" {
        io::stdin().lock().read_to_end(&mut bytes).map_err(named)?;
    } else {
        let mut opened = File::open(file).map_err(named)?;
        if opened.metadata().map_err(named)?.is_file() {
            opened.by_ref().take(4).read_to_end(&mut bytes).map_err(named)?;
            if ZIP.contains(&&bytes[..]) {
                return Ok(Text::Saved(SavedProgram::open(file)?));
            }
        }
        opened.read_to_end(&mut bytes).map_err(named)?;
    }
    if ZIP.iter().any(|zip| bytes.starts_with(zip)) {
        return Ok(Text::Saved(SavedProgram::from_bytes(called(file), bytes)?));
    }
    if bytes.is_empty() && file.to_lowercase().ends_with(".npz") {
        return Err(Failure(format!("{file}: the file is empty")));
    }
    let wrong = |_| Failure(format!("{}: neither text in UTF-8 nor a saved program (.npz)", called(file)));
    String::from_utf8(bytes).map(Text::Plain).map_err(wrong)
}

/// Runs a script, writes its results to files, and returns the text to print. `known` returns the variables that the
/// program defines; variables from the command line replace variables of the same name.
fn computed(
    arguments: &Arguments,
    script: &Script,
    known: impl FnOnce(&AnyBackend) -> Outcome<Variables<AnyBackend>>,
) -> Outcome<String> {
    let plain = backend(arguments)?;
    let _precision = arguments.precision.map(enter_precision).transpose()?;
    let mut variables = known(&plain)?;
    variables.extend(self::variables(arguments, &plain)?);
    let missing: Vec<&str> = script.inputs().into_iter().filter(|name| !variables.contains_key(*name)).collect();
    if let [name, ..] = missing[..] {
        return Err(Failure(format!("what is `{name}`? give --{name} FILE.npy or a number")));
    }
    let profile = (arguments.profile.is_some() || arguments.trace.is_some()).then(Profile::new);
    let b = profile.as_ref().map_or(plain.clone(), |profile| profile.watch(plain.clone()).into());
    let last = backends_dynamic::run(&b, script, &mut variables)?;
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
    if arguments.out.is_empty() {
        match &last {
            Some(value) => out = show(&plain, value)?,
            // for a program from a file, prints each result with its name
            None if matches!(arguments.command, Command::Run(_)) => {
                for name in script.last_names() {
                    let value = variables.get(name).map(|value| show(&plain, value)).transpose()?;
                    let _ = writeln!(out, "{name} = {}", value.unwrap_or_default());
                }
            }
            None => {}
        }
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

/// Formats a value as readable text.
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
