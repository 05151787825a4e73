//! The reference, as rustdoc: a page per op, an index of all of them, and the first lines at the methods.
//!
//! The page of an op is that of its item in the module of ops, whose scope its links are of: `super` has the traits and the
//! options.

mod index;
mod page;

pub use index::index;
pub use page::{Links, Places, page};

use op_table::model::*;

/// The documentation of a group's trait.
pub fn group(group: &Group) -> String {
    format!("{}\n\nEach op has its page in [`ops`].", group.summary)
}

/// The documentation of a user's trait.
pub fn extension(name: &str, ops: &str) -> String {
    format!("Ops of `{name}`, on every backend.\n\nEach op has its page in [`{ops}`].")
}

/// The documentation of a method: the op's summary and a link to its page.
pub fn method(op: &Op, ops: &str) -> String {
    format!("{}\n\nParameters, dtypes, errors and an example: [`{ops}::{1}`].", text(&op.summary), op.name)
}

/// The documentation of the method with options.
pub fn method_with_options(op: &Op, options: &str, name: &str) -> String {
    format!("[`{0}`](Self::{0}) with [options]({options}::{name}) by name.", op.name)
}

/// The row's signature in the language of the table: `var(x: array, axis: axes, correction: f64 = 0) -> array<real>`.
pub fn signature(op: &Op) -> String {
    let params = op.params.iter().map(|p| match &p.default {
        Some(_) => format!("{}: {} = {}", p.name, p.ty, p.default_text),
        None => format!("{}: {}", p.name, p.ty),
    });
    format!("{}({}) -> {}", op.name, params.collect::<Vec<_>>().join(", "), op.result_text)
}

/// What a backend runs, in a line, by the names that users of the libraries know.
pub fn runs(op: &Op, backend: &Backend) -> Option<String> {
    let map = op.maps.get(&backend.name)?;
    let library = op.reference.runs.iter().find(|(name, _)| *name == backend.name).map(|(_, library)| library.clone());
    Some(match map {
        Map::Each { real, complex: None } => format!("`{}` per element", real.text),
        Map::Each { real, complex: Some(complex) } => {
            format!("`{}` per element; complex: `{}`", real.text, complex.text)
        }
        Map::Fold(fold) => {
            let of = fold.map.as_ref().map_or("each element".into(), |map| format!("`{}`", map.text));
            let finish = fold.finish.as_ref().map_or(String::new(), |form| format!("; at the end `{}`", form.text));
            format!("`{}` of {of}, from `{}` on{finish}", fold.join.text, fold.identity.text)
        }
        Map::Compose(form) => format!("`{}`", form.text),
        Map::Aten(aten) => format!("`{}`", torch_name(&aten.name)),
        Map::Generic(_) => library.unwrap_or_else(|| "code over the other ops".into()),
        Map::Call(_) if backend.aten => library.unwrap_or_else(|| "ops of libtorch".into()),
        Map::Call(_) => library.unwrap_or_else(|| "kernels of this backend".into()),
    })
}

/// An op of libtorch as Python calls it: `fft_fft` is `torch.fft.fft`.
fn torch_name(aten: &str) -> String {
    match aten.strip_prefix("fft_").or(aten.strip_prefix("special_")) {
        Some(name) => format!("torch.{}.{name}", &aten[..aten.len() - name.len() - 1]),
        None => format!("torch.{aten}"),
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

/// Text in a table.
fn cell(s: &str) -> String {
    text(s).replace('|', "\\|").replace('\n', " ")
}
