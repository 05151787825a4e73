//! The digest of an op table: a text with the properties of the table's ops that are needed to expand formulas.

use super::tree::Number;
use op_table::model::{Absent, Elem, Kind, Op, Param};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::quote;
use std::collections::HashMap;

/// The kind of a parameter in a formula.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    /// An array. The argument is a formula.
    Array,
    /// An array or a number. The argument is a formula or a number.
    Operand,
    /// An operand of a scalar expression that has another dtype than the row, such as the condition of `where`.
    Own,
    /// A dtype that the caller names, as in `astype::<f64>(x)`.
    DType,
    /// The dtype of an array that the op creates. The caller may name it, as in `zeros::<f64>(3)`.
    Created,
    /// A number of the dtype that the op creates. The argument is a Rust expression.
    Scalar,
    /// A list of arrays. The argument is a list of formulas in brackets.
    Arrays,
    /// An array that the op changes. Formulas cannot call such an op.
    Target,
    /// Any other parameter. The argument is a Rust expression. Contains the parameter's name.
    Rust(String),
}

/// The axes that a reduction accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Over {
    /// The reduction accepts any list of axes.
    Axes,
    /// The reduction accepts one axis.
    Axis,
    /// The reduction accepts one axis, or reduces the whole array, flattened.
    AxisOrAll,
}

/// An op that a formula may call.
#[derive(Clone, Debug)]
pub struct Row {
    /// The path of the crate that has the op's table.
    pub path: TokenStream,
    /// The module of the table's ops in that crate.
    pub ops: Ident,
    /// True if the op is a scalar expression.
    pub each: bool,
    /// The axes that the op accepts when it reduces a formula; `None` if the op cannot reduce formulas.
    pub reduces: Option<Over>,
    /// The op's parameters without a default.
    pub positional: Vec<Parameter>,
    /// The names of the op's parameters without a default, in the same order as `positional`.
    pub names: Vec<String>,
    /// The meaning of `..` as the argument of each parameter without a default; `None` if the parameter does not accept
    /// `..`.
    pub open: Vec<Option<Number>>,
    /// The names of the op's options.
    pub options: Vec<String>,
    /// The names of the options that are arrays.
    pub optional_arrays: Vec<String>,
}

/// Writes the ops of one table as text: `exp*@x leaky_relu*@x,slope? where*^condition,@x,@y astype*<,@x
/// sum~&x,axis,keepdims?`.
///
/// An op's name is followed by a sign: `*` for a scalar expression, `~` for a reduction over axes that accepts a
/// formula, `-` for a reduction along one axis, `=` for a reduction along one axis or of the whole array, and `:` for
/// all other ops. If the caller names a dtype, `<` follows; if the op creates an array, whose dtype the caller may name,
/// `>` follows. Then the names of the parameters follow. A parameter with a default ends in `?`, and begins with `&` if
/// it is an array. A parameter without a default begins with a sign: `@` for an operand, `@/` for a lower bound, `@^` for
/// an upper bound, `^` for an operand that does not have the row's dtype, `&` for an array, `[` for a list of arrays,
/// `!` for an array that the op changes, and `#` for a number of the dtype that the op creates.
pub fn digest<'m>(ops: impl Iterator<Item = &'m Op>) -> String {
    let param = |p: &Param, creates: bool| {
        let sort = match (&p.kind, p.default.is_some()) {
            (Kind::Array(_), true) => return format!("&{}?", p.name),
            (_, true) => return format!("{}?", p.name),
            (Kind::Scalar, _) if creates => "#",
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
        let (each, creates) = (op.is_elementwise(), creates(op));
        let of_each =
            |p: &Param| if p.kind.elem() == Some(Elem::T) { param(&operand(p), false) } else { format!("^{}", p.name) };
        let params = op
            .params
            .iter()
            .map(|p| if each && p.is_array() && p.default.is_none() { of_each(p) } else { param(p, creates) });
        let dtype = if creates { Some(">") } else { op.second.as_ref().map(|_| "<") };
        let all: Vec<String> = dtype.map(String::from).into_iter().chain(params).collect();
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

/// Returns whether an op makes an array of a dtype that no argument without a default determines.
fn creates(op: &Op) -> bool {
    let has_dtype = |p: &Param| match &p.kind {
        Kind::Host | Kind::Bytes | Kind::Operand(..) => true,
        Kind::Scalar => false,
        kind => matches!(kind.elem(), Some(Elem::T | Elem::Real | Elem::Complex | Elem::Sum)),
    };
    op.second.is_none() && !op.is_elementwise() && !op.params.iter().any(|p| p.default.is_none() && has_dtype(p))
}

/// Prefix in a digest for an operand that is a lower bound.
const LOWER: &str = "@/";
/// Prefix in a digest for an operand that is an upper bound.
const UPPER: &str = "@^";

/// Converts an array parameter of a scalar expression to an operand, because formulas use the operands of such an op
/// in this form.
fn operand(param: &Param) -> Param {
    match param.kind {
        Kind::Array(elem) => Param { kind: Kind::Operand(elem, Absent::Refused), ..param.clone() },
        _ => param.clone(),
    }
}

/// The ops that a formula may call.
pub struct Rows(HashMap<String, Row>);

impl Row {
    /// The parameters whose arguments are written in round brackets: all except dtypes.
    pub fn in_brackets(&self) -> impl Iterator<Item = &Parameter> {
        self.positional.iter().filter(|parameter| !matches!(parameter, Parameter::DType | Parameter::Created))
    }

    /// The number of arguments of the op, as text for error messages.
    pub fn takes(&self) -> String {
        match self.in_brackets().count() {
            1 => "1 argument".into(),
            n => format!("{n} arguments"),
        }
    }

    /// The names of all parameters, separated by commas, as text for error messages.
    pub fn all_names(&self) -> String {
        let names = self.names.iter().chain(&self.options).filter(|name| !name.is_empty());
        let names: Vec<&str> = names.map(String::as_str).collect();
        if names.is_empty() { "none".into() } else { names.join(", ") }
    }

    /// Returns whether a call of the op names a dtype, as in `astype::<f64>(x)`.
    pub fn takes_dtype(&self) -> bool {
        self.positional.contains(&Parameter::DType)
    }

    /// Returns whether a call of the op may name the dtype of the array that it creates, as in `zeros::<f64>(3)`.
    pub fn creates(&self) -> bool {
        self.positional.contains(&Parameter::Created)
    }

    /// Returns whether the op's operands may have different dtypes.
    pub fn mixes_dtypes(&self) -> bool {
        self.positional.contains(&Parameter::Own)
    }
}

impl Rows {
    /// Parses `PATH; ops "DIGEST" PATH; my_ops "DIGEST"`. For each table, this text contains the path of the table's
    /// crate, the module of the table's ops, and the digest of the table's rows.
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

    /// The op with this name.
    pub fn get(&self, name: &str) -> Option<&Row> {
        self.0.get(name)
    }

    /// A hint for a name that is not an op: the op with the most similar name, if any is similar.
    pub fn hint(&self, name: &str) -> Option<String> {
        op_table::did_you_mean(name, self.0.keys().map(String::as_str))
    }
}

fn row(entry: &str, path: &TokenStream, ops: &Ident) -> Option<(String, Row)> {
    let end = entry.find(['*', '~', '-', '=', ':'])?;
    let (mut positional, mut names, mut open) = (Vec::new(), Vec::new(), Vec::new());
    let (mut options, mut optional_arrays) = (Vec::new(), Vec::new());
    for param in entry[end + 1..].split(',').filter(|param| !param.is_empty()) {
        if let Some(option) = param.strip_suffix('?') {
            let name = option.trim_start_matches('&');
            options.push(name.to_string());
            if name != option {
                optional_arrays.push(name.to_string());
            }
            continue;
        }
        let name = param.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let sort = &param[..param.len() - name.len()];
        positional.push(match sort {
            "@" | LOWER | UPPER => Parameter::Operand,
            "^" => Parameter::Own,
            "<" => Parameter::DType,
            ">" => Parameter::Created,
            "#" => Parameter::Scalar,
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
    let path = quote!(#path);
    let row = Row { path, ops, each, reduces, positional, names, open, options, optional_arrays };
    Some((entry[..end].to_string(), row))
}
