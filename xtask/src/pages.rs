//! Pages of the documentation that are made of the table: what runs where, and how much of the Array API there is.

use crate::{
    run::{Outcome, root},
    table,
};
use op_table::{Model, model::Op};
use std::{fmt::Write, fs};

/// The functions of the standard.
const STANDARD: &str = include_str!("../array_api.txt");

/// `pages`: writes them.
pub fn task(args: &[String]) -> Outcome {
    if let Some(arg) = args.first() {
        return Err(format!("`{arg}` is not an argument of `pages`"));
    }
    for (path, text) in pages()? {
        fs::write(root().join(path), text).map_err(|why| format!("{path}: {why}"))?;
    }
    Ok(())
}

/// Each page with its path.
fn pages() -> Result<[(&'static str, String); 2], String> {
    let model = table::read(None)?;
    Ok([("docs/ops.md", ops(&model)), ("docs/array-api.md", array_api(&model, STANDARD)?)])
}

/// A table of the ops of each group: dtypes, accuracy, tests, and what each backend runs.
fn ops(model: &Model) -> String {
    let backends: Vec<_> = model.backends.iter().filter(|b| !b.wrap).collect();
    let mut out = format!(
        "# The ops\n\nMade of `ops.toml` by `cargo xtask pages`. {} ops, each with a page of its own in the reference. A case is one call, \
         which the tests make in every dtype of the row on every backend; its result is held to the row's [accuracy](table.md).\n",
        model.ops.len()
    );
    for group in &model.groups {
        let names: Vec<&str> = backends.iter().map(|b| b.ty.as_str()).collect();
        let _ = write!(out, "\n## {}\n\n{}\n\n", group.name, group.summary);
        let _ = writeln!(out, "| op | dtypes | accuracy | cases | {} |", names.join(" | "));
        let _ = writeln!(out, "|---|---|---|--:|{}", "---|".repeat(names.len()));
        for op in model.ops.iter().filter(|op| op.group == group.name) {
            let runs = backends.iter().map(|b| op.runs(b).map_or("-".into(), |runs| cell(&runs)));
            let accuracy = if op.accuracy.is_empty() { &group.accuracy } else { &op.accuracy };
            let (set, cases) = (&op.set, model.cases_of(op).len());
            let runs = runs.collect::<Vec<_>>().join(" | ");
            let _ = writeln!(out, "| `{}` | {set} | {accuracy} | {cases} | {runs} |", op.name);
        }
    }
    out
}

/// Text in a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// The standard's functions, by section, with a code for each.
fn array_api(model: &Model, standard: &str) -> Result<String, String> {
    let mut body = String::new();
    let mut counts = [0; 5];
    for line in standard.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(section) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            let _ = write!(body, "\n## {section}\n\n| function | | how |\n|---|---|---|\n");
            continue;
        }
        let (name, said) = line.split_once(" = ").map_or((line, None), |(name, said)| (name, Some(said)));
        let row = model.ops.iter().find(|op| op.name == name);
        let (code, how) = match said.map(|said| said.split_at(1)) {
            Some((code @ ("P" | "R" | "N"), how)) => (code, how.trim().to_string()),
            Some((code, _)) => return Err(format!("array_api.txt: `{name}` has the code `{code}`")),
            None if row.is_some() => ("Y", String::new()),
            None => match model.ops.iter().find(|op| has_alias(op, name)) {
                Some(op) => ("A", format!("`{}`", op.name)),
                None => ("N", String::new()),
            },
        };
        if code == "P" && row.is_none() {
            return Err(format!("array_api.txt: `{name}` is there partly, but not in the table"));
        }
        if code == "N" && row.is_some() {
            return Err(format!("array_api.txt: `{name}` is in the table"));
        }
        counts["YAPRN".find(code).unwrap_or_default()] += 1;
        let _ = writeln!(body, "| `{name}` | {code} | {} |", cell(&how));
    }
    let [same, alias, part, rust, missing] = counts;
    let all: usize = counts.iter().sum();
    Ok(format!(
        "# The Array API\n\nWhat there is of the [Python Array API standard](https://data-apis.org/array-api/2025.12/), version 2025.12, with its \
         extensions `fft` and `linalg`, on every backend. Made of the table by `cargo xtask pages`.\n\n\
         Of {all} functions, attributes and methods:\n\n\
         | code | | |\n|---|---|--:|\n\
         | Y | a row of this name | {same} |\n\
         | A | a row of another name | {alias} |\n\
         | P | a row that lacks a part | {part} |\n\
         | R | not an op, but there in Rust | {rust} |\n\
         | N | not there | {missing} |\n{body}"
    ))
}

fn has_alias(op: &Op, name: &str) -> bool {
    op.alias.iter().any(|alias| alias == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_are_those_of_the_table() {
        for (path, text) in pages().unwrap() {
            let there = fs::read_to_string(root().join(path)).unwrap_or_default();
            assert!(there == text, "{path} is not what the table says now: run `cargo xtask pages`");
        }
    }

    #[test]
    fn what_is_said_of_the_standard_has_to_be_true() {
        let model = table::read(None).unwrap();
        let text = array_api(&model, "# x\n[Some]\nadd\nnothing_such\nclip = P a bound").unwrap();
        assert!(text.ends_with("| `add` | Y |  |\n| `nothing_such` | N |  |\n| `clip` | P | a bound |\n"), "{text}");
        assert!(array_api(&model, "add = N").unwrap_err().contains("`add` is in the table"));
        assert!(array_api(&model, "nothing_such = P a part").unwrap_err().contains("not in the table"));
        assert!(array_api(&model, "add = X").unwrap_err().contains("the code `X`"));
    }
}
