//! What a formula has to know of the ops: the digest of a table.

use super::parse::Number;
use op_table::model::{Absent, Elem, Kind, Op, Param};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::quote;
use std::collections::HashMap;

/// What a parameter is to a formula.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    /// An array: a formula.
    Array,
    /// An array or a number: a formula, or a number.
    Operand,
    /// The same of a scalar expression, where it is not of the row's dtype.
    Own,
    /// A dtype that the caller names: `astype::<f64>(x)`.
    DType,
    /// A list of arrays: formulas in brackets.
    Arrays,
    /// An array that the op changes: no formula calls such an op.
    Target,
    /// Anything else: Rust.
    Rust(String),
}

/// What a reduction goes over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Over {
    /// Any axes.
    Axes,
    /// One axis.
    Axis,
    /// One axis, or the values as one row.
    AxisOrAll,
}

/// An op in a formula.
#[derive(Clone, Debug)]
pub struct Row {
    /// The path of the crate whose table it is in.
    pub path: TokenStream,
    /// The module of the table's ops in that crate.
    pub ops: Ident,
    /// Whether it is a scalar expression.
    pub each: bool,
    /// Whether it reduces formulas, and over what.
    pub reduces: Option<Over>,
    /// Its parameters without a default.
    pub positional: Vec<Parameter>,
    /// Their names.
    pub names: Vec<String>,
    /// What `..` is in the place of each of these; it is refused where there is nothing.
    pub open: Vec<Option<Number>>,
    /// Its options.
    pub options: Vec<String>,
}

/// The ops of one table, as text: `exp*@x leaky_relu*@x,slope? where*^condition,@x,@y astype*<,@x sum~&x,axis,keepdims?`.
///
/// A name; `*` for a scalar expression, `~` for a reduction over axes that takes one, `-` for one along an axis, `=` for one along an axis or over all
/// values as a row, `:` for all others; `<`
/// where the caller names a dtype; the parameters by name, with `?` where they have a default. Before the name of one that has none: `@` for an
/// operand, `@/` for a lower bound, `@^` for an upper one, `^` for one that is not of the row's dtype, `&` for an array, `[` for a list of arrays,
/// `!` for one that is changed.
pub fn digest<'m>(ops: impl Iterator<Item = &'m Op>) -> String {
    let param = |p: &Param| {
        let sort = match (&p.kind, p.default.is_some()) {
            (_, true) => return format!("{}?", p.name),
            (Kind::Operand(_, Absent::Refused), _) => "@",
            (Kind::Operand(_, Absent::Lowest), _) => LOWER,
            (Kind::Operand(_, Absent::Highest), _) => UPPER,
            (Kind::Array(_), _) => "&",
            (Kind::Arrays(_), _) => "[",
            (Kind::Target(_), _) => "!",
            _ => "",
        };
        format!("{sort}{}", p.name)
    };
    let row = |op: &Op| {
        let each = op.is_elementwise();
        let of_each =
            |p: &Param| if p.kind.elem() == Some(Elem::T) { param(&operand(p)) } else { format!("^{}", p.name) };
        let params =
            op.params.iter().map(|p| if each && p.is_array() && p.default.is_none() { of_each(p) } else { param(p) });
        let all: Vec<String> = op.second.iter().map(|_| "<".into()).chain(params).collect();
        let sort = match op.reduces_formulas() {
            _ if each => '*',
            true if op.takes_one_axis() => '-',
            true if op.takes_axis_or_all() => '=',
            true => '~',
            false => ':',
        };
        format!("{}{sort}{}", op.name, all.join(","))
    };
    ops.map(row).collect::<Vec<_>>().join(" ")
}

/// In a digest, an operand that bounds from below.
const LOWER: &str = "@/";
/// One that bounds from above.
const UPPER: &str = "@^";

/// An array of a scalar expression is an operand in a formula.
fn operand(param: &Param) -> Param {
    match param.kind {
        Kind::Array(elem) => Param { kind: Kind::Operand(elem, Absent::Refused), ..param.clone() },
        _ => param.clone(),
    }
}

/// The ops that a formula may call.
pub struct Rows(HashMap<String, Row>);

impl Row {
    /// The parameters for which an argument stands in round brackets.
    pub fn in_brackets(&self) -> impl Iterator<Item = &Parameter> {
        self.positional.iter().filter(|parameter| **parameter != Parameter::DType)
    }

    /// The number of arguments that it takes, for messages.
    pub fn takes(&self) -> String {
        match self.in_brackets().count() {
            1 => "1 argument".into(),
            n => format!("{n} arguments"),
        }
    }

    /// The names of all parameters, for messages.
    pub fn all_names(&self) -> String {
        let names = self.names.iter().chain(&self.options).filter(|name| !name.is_empty());
        let names: Vec<&str> = names.map(String::as_str).collect();
        if names.is_empty() { "none".into() } else { names.join(", ") }
    }

    /// Whether the caller names a dtype.
    pub fn takes_dtype(&self) -> bool {
        self.positional.contains(&Parameter::DType)
    }

    /// Whether its operands are of several dtypes.
    pub fn mixes_dtypes(&self) -> bool {
        self.positional.contains(&Parameter::Own)
    }
}

impl Rows {
    /// Of `PATH; ops "DIGEST" PATH; my_ops "DIGEST"`: where a table's items are, the module of its ops, and its rows.
    pub fn new(tables: TokenStream) -> Rows {
        let (mut rows, mut path, mut ops) = (HashMap::new(), TokenStream::new(), None);
        for token in tables {
            match token {
                TokenTree::Literal(digest) => {
                    if let Some(Some(ops)) = ops.take() {
                        let text = digest.to_string();
                        let entries = text.trim_matches('"').split_whitespace();
                        rows.extend(entries.filter_map(|entry| row(entry, &path, &ops)));
                    }
                    path = TokenStream::new();
                }
                TokenTree::Punct(p) if p.as_char() == ';' => ops = Some(None),
                TokenTree::Ident(name) if matches!(ops, Some(None)) => ops = Some(Some(name)),
                other => path.extend([other]),
            }
        }
        Rows(rows)
    }

    /// The op of this name.
    pub fn get(&self, name: &str) -> Option<&Row> {
        self.0.get(name)
    }

    /// What is said of a name that is no op: the op that is meant, if one is near.
    pub fn hint(&self, name: &str) -> Option<String> {
        op_table::did_you_mean(name, self.0.keys().map(String::as_str))
    }
}

fn row(entry: &str, path: &TokenStream, ops: &Ident) -> Option<(String, Row)> {
    let end = entry.find(['*', '~', '-', '=', ':'])?;
    let (mut positional, mut names, mut options, mut open) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for param in entry[end + 1..].split(',').filter(|param| !param.is_empty()) {
        if let Some(option) = param.strip_suffix('?') {
            options.push(option.to_string());
            continue;
        }
        let name = param.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let sort = &param[..param.len() - name.len()];
        positional.push(match sort {
            "@" | LOWER | UPPER => Parameter::Operand,
            "^" => Parameter::Own,
            "<" => Parameter::DType,
            "&" => Parameter::Array,
            "[" => Parameter::Arrays,
            "!" => Parameter::Target,
            _ => Parameter::Rust(name.to_string()),
        });
        names.push(name.to_string());
        open.push(match sort {
            LOWER => Some(Number::Lowest),
            UPPER => Some(Number::Highest),
            _ => None,
        });
    }
    let sort = |c| entry[end..].starts_with(c);
    let over = |c, over| sort(c).then_some(over);
    let (each, reduces, ops) =
        (sort('*'), over('~', Over::Axes).or(over('-', Over::Axis)).or(over('=', Over::AxisOrAll)), ops.clone());
    Some((entry[..end].to_string(), Row { path: quote!(#path), ops, each, reduces, positional, names, open, options }))
}
