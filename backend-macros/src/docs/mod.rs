//! Generates the reference as doc comments for rustdoc: a page for each op, an index of all ops, and a short
//! documentation of each method.
//!
//! The page of an op is the documentation of its item in the module of ops, so links are relative to that module.
//! `super` contains the traits and the options.

mod example;
mod index;
mod page;
mod rust;

pub use index::index;
pub use page::{Links, Places, page};
pub use rust::signature as rust_signature;

use op_table::model::*;

/// The documentation of a group's trait.
pub fn group(group: &Group) -> String {
    format!("{}\n\nEach op has its page in [`ops`].", group.summary)
}

/// The documentation of a user's trait.
pub fn extension(name: &str, ops: &str) -> String {
    format!("The ops of `{name}`, on every backend.\n\nEach op has its page in [`{ops}`].")
}

/// The documentation of a method: the op's summary and a link to its page.
pub fn method(op: &Op, ops: &str) -> String {
    format!("{}\n\nParameters, dtypes, errors and an example are in [`{ops}::{1}`].", text(&op.summary), op.name)
}

/// The documentation of the method with options.
pub fn method_with_options(op: &Op, options: &str, name: &str) -> String {
    format!("Like [`{0}`](Self::{0}), with named [options]({options}::{name}).", op.name)
}

/// The row's signature in the notation of the table: `var(x: array, axis: axes, correction: f64 = 0) -> array<real>`.
pub fn signature(op: &Op) -> String {
    let params = op.params.iter().map(|p| match &p.default {
        Some(_) => format!("{}: {} = {}", p.name, p.ty, p.default_text),
        None => format!("{}: {}", p.name, p.ty),
    });
    format!("{}({}) -> {}", op.name, params.collect::<Vec<_>>().join(", "), op.result_text)
}

/// Escapes brackets and angle brackets outside of code, which rustdoc would interpret as links and HTML.
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

/// Escapes a text for the cell of a Markdown table.
fn cell(s: &str) -> String {
    text(s).replace('|', "\\|").replace('\n', " ")
}
