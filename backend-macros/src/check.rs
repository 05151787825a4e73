//! What rows say of each other: names and dtypes in `each` and `compose` expressions, arguments of `aten` mappings.

use crate::{
    compose,
    each::{self, Mistake},
    lexical::decimal,
    model::{Kind, Map, Model, Op},
    report::{Report, Source, did_you_mean},
    toml_view::Word,
};

/// Checks every row of this macro call.
pub fn check(source: &Source, model: &Model, report: &mut Report) {
    for op in model.ops.iter().filter(|o| o.own) {
        for map in op.maps.values() {
            map_of(source, op, map, model, report);
        }
    }
}

/// Checks the mappings that an overlay gives to ops of the base table.
pub fn check_column(source: &Source, column: &str, model: &Model, report: &mut Report) {
    for op in &model.ops {
        if let Some(map) = op.maps.get(column) {
            map_of(source, op, map, model, report);
        }
    }
}

fn map_of(source: &Source, op: &Op, map: &Map, model: &Model, report: &mut Report) {
    if !op.params_are_whole {
        return;
    }
    let mut show = |text: &str, mistake: Mistake| {
        let place = place(source, op, text).find(&mistake.part);
        report.at(source, place, mistake.message, mistake.help);
    };
    match map {
        Map::Each { real, complex } => {
            each::check_params(op).into_iter().for_each(|(param, mistake)| show(&param, mistake));
            for text in std::iter::once(real).chain(complex) {
                if let Err(mistake) = each::translate(text, op, model) {
                    show(text, mistake);
                }
            }
        }
        Map::Compose(text) => compose::check(text, op, model).into_iter().for_each(|m| show(text, m)),
        Map::Aten { args, .. } => {
            for arg in args {
                let literal = is_literal(arg);
                match op.param(arg) {
                    Some(param) if !aten_takes(&param.kind) => {
                        let message = format!("libtorch's ops take no parameter of type `{}`", param.type_text());
                        let help = Some("map the row with `call` or `compose`".into());
                        show(arg, Mistake { part: arg.clone(), message, help });
                    }
                    None if !literal => {
                        let help = did_you_mean(arg, op.params.iter().map(|p| p.name.as_str()));
                        let message = format!("`{arg}` is not a parameter of this op");
                        show(arg, Mistake { part: arg.clone(), message, help });
                    }
                    _ => {}
                }
            }
        }
        Map::Call(_) | Map::Generic(_) => {}
    }
}

/// Whether it is a literal of `aten` mappings: a finite number (an integer of 64 bits), a truth value, or nothing.
fn is_literal(arg: &str) -> bool {
    let number = if arg.contains(['.', 'e', 'E']) { decimal(arg).is_some() } else { arg.parse::<i64>().is_ok() };
    number || ["true", "false", "none"].contains(&arg)
}

/// Whether a parameter can be an argument of libtorch's op as it is.
fn aten_takes(kind: &Kind) -> bool {
    match kind {
        Kind::Slices | Kind::Lengths | Kind::Host | Kind::Bytes | Kind::Choice(_) => false,
        Kind::Plain(t) | Kind::Maybe(t) => t != "u64",
        _ => true,
    }
}

/// The string `text` in the row of `op`, with its place.
fn place(source: &Source, op: &Op, text: &str) -> Word {
    let header = format!("[op.{}]", op.name);
    let row = source.text.find(&header).map_or(0, |i| i + header.len());
    let end = source.text[row..].find("\n[").map_or(source.text.len(), |i| row + i);
    match source.text[row..end].find(text) {
        // a Word's span begins at the quote before the text
        Some(i) => Word { text: text.into(), span: (row + i).saturating_sub(1)..row + i + text.len() },
        None => Word { text: String::new(), span: row.saturating_sub(header.len())..row },
    }
}
