//! The reference, as rustdoc: a page per group, a section per op.

use op_table::model::*;
use std::fmt::Write;

/// The page of a group: what it is, and its ops in a table.
pub fn group(group: &Group, ops: &[&Op], model: &Model) -> String {
    format!("{}\n\n{}", group.summary, index(ops, model))
}

/// The page of a user's trait.
pub fn extension(name: &str, ops: &[&Op], model: &Model) -> String {
    format!("Ops of `{name}`, on every backend.\n\n{}", index(ops, model))
}

fn index(ops: &[&Op], model: &Model) -> String {
    let mut s = String::from("| op | does | dtypes |\n|---|---|---|\n");
    for op in ops {
        let _ = writeln!(s, "| [`{0}`](Self::{0}) | {1} | {2} |", op.name, cell(&op.summary), dtypes(op, model));
    }
    s
}

/// The documentation of one op.
pub fn op(op: &Op, model: &Model) -> String {
    let mut s = format!("{}\n\n", text(&op.summary));
    if !op.detail.is_empty() {
        let _ = write!(s, "{}\n\n", text(&op.detail));
    }
    s += &parameters(op);
    let _ = write!(s, "Dtypes: {}. ", dtypes(op, model));
    if let Some(accuracy) = model.accuracies.iter().find(|a| a.name == op.accuracy) {
        let _ = write!(s, "Accuracy: {}", accuracy.summary);
        for (dtype, ulp) in &op.ulp {
            let _ = write!(s, "; {dtype}: {ulp} ulp");
        }
        if !op.reason.is_empty() {
            let _ = write!(s, " ({})", text(&op.reason));
        }
        s += ".";
    }
    if let Some(waits) = &op.facts.waits {
        let _ = write!(s, " It waits for {} bytes from the device: {}.", waits.bytes, text(&waits.why));
    }
    s += "\n\n| library | runs |\n|---|---|\n";
    if !op.numpy.is_empty() {
        let _ = writeln!(s, "| NumPy, CuPy | `{}` |", op.numpy);
    }
    for backend in &model.backends {
        if let Some(map) = op.maps.get(&backend.name) {
            let _ = writeln!(s, "| {} | {} |", backend.ty, cell(&mapping(map)));
        }
    }
    s += "\n# Errors\n\n";
    s += errors(op);
    if !op.example.is_empty() {
        let _ = write!(s, "\n\n# Example\n\n{}", example(&op.example));
    }
    s
}

fn parameters(op: &Op) -> String {
    let mut s = String::new();
    for p in &op.params {
        let _ = write!(s, "- `{}`: {}", p.name, kind(&p.kind, op));
        match &p.default {
            Some(_) => {
                let d = &p.default_text;
                let _ = writeln!(s, "; default `{d}`, set by [`{0}_with`](Self::{0}_with)", op.name);
            }
            None => s.push('\n'),
        }
    }
    if !s.is_empty() {
        s.push('\n');
    }
    s
}

fn kind(kind: &Kind, op: &Op) -> String {
    let broadcast = op.inputs().count() > 1 && op.maps.values().any(|m| matches!(m, Map::Each { .. }));
    let shape = if broadcast { ", broadcast with the others" } else { "" };
    let is_input = matches!(kind, Kind::Array(_) | Kind::Operand(_));
    format!("{}{}", kind.describe(), if is_input { shape } else { "" })
}

fn errors(op: &Op) -> &'static str {
    let has = |wanted: fn(&Kind) -> bool| op.params.iter().any(|p| wanted(&p.kind));
    if op.inputs().count() > 1 {
        "Shapes that do not fit, axes or indices out of range, memory that is refused, and what the library reports."
    } else if has(|k| matches!(k, Kind::Axes | Kind::Axis)) {
        "An axis out of range or given twice, a shape the op cannot take, memory that is refused, and what the library reports."
    } else {
        "A shape or argument the op cannot take, memory that is refused, and what the library reports."
    }
}

/// The row's example as a program: `b` is the CPU's backend.
fn example(text: &str) -> String {
    let text = text.trim();
    format!(
        "```\n# use backends::prelude::*;\n# fn main() -> Result<()> {{\nlet b = Numpyish::new();\n{text}\n# Ok(())\n# }}\n```"
    )
}

/// The row's signature in the language of the table: `var(x: array, axis: axes, correction: f64 = 0) -> array<real>`.
pub fn signature(op: &Op) -> String {
    let params = op.params.iter().map(|p| match &p.default {
        Some(_) => format!("{}: {} = {}", p.name, p.ty, p.default_text),
        None => format!("{}: {}", p.name, p.ty),
    });
    format!("{}({}) -> {}", op.name, params.collect::<Vec<_>>().join(", "), op.result_text)
}

/// What a library runs, in a line.
pub fn mapping(map: &Map) -> String {
    match map {
        Map::Each { real, complex: None } => format!("`{}` per element", real.text),
        Map::Each { real, complex: Some(complex) } => {
            format!("`{}` per element; complex: `{}`", real.text, complex.text)
        }
        Map::Fold(fold) => {
            let of = fold.map.as_ref().map_or("each element", |map| map.text.as_str());
            let finish = fold.finish.as_ref().map_or(String::new(), |form| format!("; at the end `{}`", form.text));
            format!("`{}` of `{of}`, from `{}` on{finish}", fold.join.text, fold.identity.text)
        }
        Map::Call(path) => format!("`{path}`"),
        Map::Compose(form) => format!("`{}`", form.text),
        Map::Generic(path) => format!("`{path}`, over any backend"),
        Map::Aten(Aten { name, overload, args, .. }) => {
            let dot = if overload.is_empty() { "" } else { "." };
            let args = args.iter().map(|arg| match arg {
                AtenArg::Param(name) => name.clone(),
                AtenArg::None => "none".into(),
                AtenArg::Bool(b) => b.to_string(),
                AtenArg::Integer(n) => n.to_string(),
                AtenArg::Decimal(x) => format!("{x:?}"),
            });
            format!("`aten::{name}{dot}{overload}({})`", args.collect::<Vec<_>>().join(", "))
        }
    }
}

fn dtypes(op: &Op, model: &Model) -> String {
    match op.set.as_str() {
        "any" | "numeric" | "integer" | "real" | "float" | "complex" => op.set.clone(),
        "real_numeric" => "integer, real".into(),
        "ordered" => "bool, integer, real".into(),
        "bits" => "bool, integer".into(),
        other => model.dtypes_of(other).join(", "),
    }
}

/// Brackets that rustdoc would take for links, and angle brackets it would take for HTML, outside of code.
fn text(s: &str) -> String {
    let mut out = String::new();
    let mut code = false;
    for c in s.chars() {
        if c == '`' {
            code = !code;
        }
        if !code && matches!(c, '[' | ']' | '<' | '>') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn cell(s: &str) -> String {
    text(s).replace('|', "\\|")
}
