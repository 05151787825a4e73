//! Checks the conformance cases of the op table: the arguments of each case must match the parameters of its row.

use crate::{
    model::{Absent, Elem, Kind, Model, Op, Param},
    report::{Report, SourceFile, did_you_mean},
    samples::{INDICES, SAMPLES, is_sample},
    text::Text,
};

/// Reports conformance cases that are not valid calls of their op.
pub(super) fn cases(source: &SourceFile, model: &mut Model, report: &mut Report) {
    let mut broken = Vec::new();
    for op in model.ops.iter().filter(|op| op.own && op.params_are_whole) {
        for case in op.cases.iter().chain(&op.facts.raises).flatten() {
            if let Err((part, message, help)) = check(case, op) {
                report.at(source, case.place_of(part), message, help);
                broken.push(op.name.clone());
            }
        }
    }
    model.broken.extend(broken);
}

/// Checks the arguments of one conformance case against the parameters of its op. An error consists of the invalid
/// substring of the case, a message, and help.
fn check<'c>(case: &'c Text, op: &Op) -> Result<(), (&'c str, String, Option<String>)> {
    let parts = split(&case.text).map_err(|message| (case.text.as_str(), message, None))?;
    let (mut positional, mut named): (Vec<&str>, Vec<&str>) = Default::default();
    for part in parts {
        match part.split_once('=').filter(|_| !part.starts_with('\'')) {
            Some((name, _)) => named.push(name.trim()),
            None => positional.push(part),
        }
    }
    let wanted: Vec<&str> = op.positional().map(|p| p.name.as_str()).collect();
    if positional.len() != wanted.len() {
        let message = format!(
            "the number of positional arguments of the case is {}, but must be {} ({})",
            positional.len(),
            wanted.len(),
            wanted.join(", ")
        );
        return Err((&case.text, message, None));
    }
    for (part, param) in positional.iter().zip(op.positional()) {
        sample(part, param)?;
    }
    for (i, name) in named.iter().enumerate() {
        if !op.optional().any(|p| p.name == *name) {
            let help = did_you_mean(name, op.optional().map(|p| p.name.as_str()));
            return Err((name, format!("op `{}` has no option `{}`", op.name, name.escape_debug()), help));
        }
        if named[..i].contains(name) {
            return Err((name, format!("option `{name}` is given twice"), None));
        }
    }
    Ok(())
}

/// Checks that every name in an array argument is the name of a sample, which is an array that the tests provide. An
/// error consists of the invalid name, a message, and help.
fn sample<'c>(part: &'c str, param: &Param) -> Result<(), (&'c str, String, Option<String>)> {
    let elem = match param.kind {
        Kind::Array(elem) | Kind::Operand(elem, _) | Kind::Arrays(elem) | Kind::Target(elem) => elem,
        Kind::Host | Kind::Bytes => Elem::T,
        _ => return Ok(()),
    };
    let is_name = |part: &&str| part.starts_with(|c: char| c.is_ascii_alphabetic());
    let names = part.trim_matches(['[', ']']).split(',').map(str::trim).filter(is_name);
    let may_lack = matches!(param.kind, Kind::Operand(_, absent) if absent != Absent::Refused);
    let known = |name: &&str| matches!(*name, "none" | "true" | "false" | "inf" | "nan") || may_lack && *name == "all";
    for name in names.filter(|name| !known(name)) {
        if !is_sample(name, elem) {
            let message = format!("there is no sample `{}` for the parameter `{}`", name.escape_debug(), param.name);
            return Err((name, message, did_you_mean(name, SAMPLES.iter().copied().chain(INDICES))));
        }
    }
    Ok(())
}

/// Splits the text of a case at the commas that are outside of brackets and quotes.
fn split(text: &str) -> Result<Vec<&str>, String> {
    let (mut parts, mut start, mut depth, mut quoted) = (Vec::new(), 0, 0_usize, false);
    for (i, c) in text.char_indices() {
        match c {
            '\'' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth = depth.checked_sub(1).ok_or("a closing bracket has no opening bracket")?,
            ',' if !quoted && depth == 0 => {
                parts.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    if quoted || depth > 0 {
        return Err("a quote or bracket is not closed".into());
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        parts.push(last);
    }
    Ok(parts)
}
