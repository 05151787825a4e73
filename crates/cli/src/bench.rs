//! The command `bench`, which measures the times of calls.

use crate::{Arguments, Failure, Outcome, call};
use backends::{
    OpInfo, Result, Script, Value, Variables, devices, enter_precision, help,
    prelude::*,
    runtime::{ElementInfo, ParamKind},
};
use std::{
    fmt::Write,
    time::{Duration, Instant},
};

/// Minimum duration of the measurement on each backend.
const LONG: Duration = Duration::from_millis(500);

/// Measures the shortest time of a call on each available backend, or on the named backend only.
pub fn bench(arguments: &Arguments, text: &str) -> Outcome<String> {
    let _precision = arguments.precision.map(enter_precision).transpose()?;
    let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let text = if is_name { call_of(help(text)?)? } else { text.to_owned() };
    let script = call::script(&text)?;
    let backends = match &arguments.backend {
        Some(name) => vec![name.parse::<AnyBackend>()?],
        None => devices(),
    };
    let mut out = format!("{text}, arrays without a value have {} elements\n", arguments.size);
    for b in backends {
        let mut variables = call::variables(arguments, &b)?;
        for name in script.inputs() {
            if !variables.contains_key(name) {
                let random = format!("random_uniform([{}])", arguments.size).parse()?;
                let value = backends_dynamic::run(&b, &random, &mut Variables::new())?;
                variables.insert(name.into(), value.unwrap_or(Value::None));
            }
        }
        let place = format!("{} on {}", b.name(), b.device());
        let _ = match least(&b, &script, &mut variables) {
            Ok((least, calls)) => {
                writeln!(out, "{place:24} {:>12.3} us, the minimum of {calls} calls", least.as_nanos() as f64 / 1e3)
            }
            Err(why) => writeln!(out, "{place:24} {why}"),
        };
    }
    Ok(out)
}

fn least(b: &AnyBackend, script: &Script, variables: &mut Variables<AnyBackend>) -> Result<(Duration, usize)> {
    let (begin, mut least, mut calls) = (Instant::now(), Duration::MAX, 0);
    while calls < 3 || begin.elapsed() < LONG {
        let begin = Instant::now();
        backends_dynamic::run(b, script, variables)?;
        b.synchronize()?;
        least = least.min(begin.elapsed());
        calls += 1;
    }
    Ok((least, calls))
}

/// Returns the text of a call of an op with its required arguments, such as `sum(x, ..)`. An array argument is a
/// variable with the name of its parameter; axes are `..`, and a single axis is `0`. Fails if another kind of argument
/// is required.
fn call_of(op: &OpInfo) -> Outcome<String> {
    let mut args = Vec::new();
    for param in op.params.iter().filter(|param| param.default.is_none()) {
        args.push(match param.kind {
            ParamKind::Array(ElementInfo::T) | ParamKind::Operand(ElementInfo::T) => param.name.to_owned(),
            ParamKind::Axes | ParamKind::AxisOrAll => "..".into(),
            ParamKind::Axis => "0".into(),
            _ => {
                let why = format!(
                    "`{}` of `{}` has no obvious value: write the call, such as 'sum(x, axis=0)'",
                    param.name, op.name
                );
                return Err(Failure(why));
            }
        });
    }
    Ok(format!("{}({})", op.name, args.join(", ")))
}
