//! The kinds of parameters, and the properties of each kind. A new kind needs a variant of [`Kind`], arms in this file,
//! an arm in the file `kinds.rs` of the code generator, and a type and a [`ParamKind`] in the runtime. If compositions
//! may pass a literal to a parameter of the new kind, the kind also needs an arm in `expr/literal.rs`.
//!
//! [`ParamKind`]: https://docs.rs/backends/latest/backends/enum.ParamKind.html

use crate::{element::Elem, names::decimal};
use std::sync::Arc;

/// The type of a parameter. docs/table.md lists the Rust type of each kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `array`: an array.
    Array(Elem),
    /// `operand`, `lower` and `upper`: an array or a scalar. `lower` and `upper` also accept `..`, which means no
    /// bound.
    Operand(Elem, Absent),
    /// `arrays`: a list of arrays.
    Arrays(Elem),
    /// `target`: an array that the op changes.
    Target(Elem),
    /// `axes`: one axis, several axes, or all axes.
    Axes,
    /// `axis`: one axis.
    Axis,
    /// `axis?`: one axis, or the whole array, flattened.
    AxisOrAll,
    /// `shape`: the lengths of all axes of an array.
    Shape,
    /// `newshape`, `shifts` and other lists of `isize`.
    Signed,
    /// `widths`: the widths of the borders of an array, as in `pad`.
    Widths,
    /// `number`: a number that the array's dtype can represent.
    Number,
    /// `slices`: an index or a range for each axis.
    Slices,
    /// `index`: slices, numbers, new axes, arrays of indices and masks.
    Index,
    /// `lengths?`: the lengths of the axes, or `none`.
    Lengths,
    /// `scalar`: a value of the row's dtype.
    Scalar,
    /// `host`: any value that converts to an array.
    Host,
    /// `bytes`: a sequence of bytes.
    Bytes,
    /// `text`: a string.
    Text,
    /// A number or bool of Rust.
    Plain(Plain),
    /// A number or bool of Rust, or `none`.
    Maybe(Plain),
    /// One of a fixed list of names.
    Choice(Arc<Choice>),
}

/// The names of the parameter types that have no element type, with their kinds.
const WORDS: [(&str, Kind); 15] = [
    ("axes", Kind::Axes),
    ("axis", Kind::Axis),
    ("axis?", Kind::AxisOrAll),
    ("shape", Kind::Shape),
    ("newshape", Kind::Signed),
    ("shifts", Kind::Signed),
    ("widths", Kind::Widths),
    ("number", Kind::Number),
    ("slices", Kind::Slices),
    ("index", Kind::Index),
    ("lengths?", Kind::Lengths),
    ("scalar", Kind::Scalar),
    ("host", Kind::Host),
    ("bytes", Kind::Bytes),
    ("text", Kind::Text),
];

/// The names of the parameter types that have an element type, such as `array<real>`, with their kinds.
const OF_ELEMENTS: [(&str, OfElements); 6] = [
    ("array", Kind::Array),
    ("operand", |e| Kind::Operand(e, Absent::Refused)),
    ("lower", |e| Kind::Operand(e, Absent::Lowest)),
    ("upper", |e| Kind::Operand(e, Absent::Highest)),
    ("arrays", Kind::Arrays),
    ("target", Kind::Target),
];

type OfElements = fn(Elem) -> Kind;

/// The meaning of `..` as the value of an operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Absent {
    /// `..` is an error: the operand is required.
    Refused,
    /// `..` means no lower bound: the operand is the lowest value of the dtype.
    Lowest,
    /// `..` means no upper bound: the operand is the highest value of the dtype.
    Highest,
}

/// A choice: a parameter type whose values are a fixed list of names. A table declares it in a section such as
/// `[choice.norm]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Name of the choice, which is also the name of the parameter type.
    pub name: String,
    /// The name of the Rust type.
    pub rust: String,
    /// The summary for the documentation, in one line.
    pub summary: String,
    /// The values, each with a description of one line.
    pub values: Vec<(String, String)>,
    /// True if the crate `backend-runtime` defines the Rust type, as for all choices of the base table. False if the
    /// macro generates the Rust type, as for all choices of a user's table.
    pub of_runtime: bool,
}

impl Choice {
    /// The names of the values.
    pub fn names(&self) -> Vec<&str> {
        self.values.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Returns whether the choice has a value of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.iter().any(|(known, _)| known == name)
    }
}

/// The primitive Rust types (numbers and `bool`) that a parameter or a result may have.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Plain {
    F64,
    Usize,
    Isize,
    I64,
    U64,
    Bool,
}

/// The name of each type, the type itself, and the name of a dtype that can represent all its values.
const PLAIN: [(&str, Plain, &str); 6] = [
    ("f64", Plain::F64, "float64"),
    ("usize", Plain::Usize, "uint64"),
    ("isize", Plain::Isize, "int64"),
    ("i64", Plain::I64, "int64"),
    ("u64", Plain::U64, "uint64"),
    ("bool", Plain::Bool, "bool"),
];

impl Plain {
    /// The type with this name.
    pub fn of(name: &str) -> Option<Plain> {
        PLAIN.iter().find(|(known, ..)| *known == name).map(|(_, plain, _)| *plain)
    }

    /// The names of all types.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PLAIN.iter().map(|(name, ..)| *name)
    }

    fn row(self) -> (&'static str, &'static str) {
        PLAIN.iter().find(|(_, plain, _)| *plain == self).map_or(("", ""), |(name, _, dtype)| (name, dtype))
    }

    /// Name of the type.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// The dtype that can represent the type's values.
    pub fn dtype(self) -> &'static str {
        self.row().1
    }
}

/// The default value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum DefaultValue {
    /// No value.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Integer(i128),
    /// A finite number, stored as a float.
    Decimal(f64),
    /// All axes.
    All,
    /// A list of axes.
    Axes(Vec<i8>),
    /// The name of one of the choice's values.
    Choice(String),
}

impl Kind {
    /// Parses the name of a parameter type. Returns `Ok(None)` if the name is unknown. The error is the text of an
    /// invalid element type, such as `x` in `array<x>`.
    pub fn of<'t>(text: &'t str, choices: &[Arc<Choice>]) -> Result<Option<Kind>, &'t str> {
        let (head, inner) = match text.split_once('<') {
            Some((head, rest)) => (head, rest.strip_suffix('>')),
            None => (text, Some("")),
        };
        let of_elements = OF_ELEMENTS.iter().find(|(name, _)| *name == head);
        if let (Some((_, kind)), Some(inner)) = (of_elements, inner) {
            return Elem::of(inner).map(|elem| Some(kind(elem))).ok_or(inner);
        }
        let word = WORDS.iter().find(|(name, _)| *name == text).map(|(_, kind)| kind.clone());
        let choice = || choices.iter().find(|choice| choice.name == text).cloned().map(Kind::Choice);
        let plain = || Plain::of(text).map(Kind::Plain);
        let maybe = || text.strip_suffix('?').and_then(Plain::of).map(Kind::Maybe);
        Ok(word.or_else(choice).or_else(plain).or_else(maybe))
    }

    /// The names of all kinds except choices.
    pub fn names() -> impl Iterator<Item = &'static str> {
        OF_ELEMENTS.iter().map(|(name, _)| *name).chain(WORDS.iter().map(|(name, _)| *name)).chain(Plain::names())
    }

    /// The element type of the arrays or numbers of this kind; `None` for other kinds.
    pub fn elem(&self) -> Option<Elem> {
        match self {
            Kind::Array(e) | Kind::Operand(e, _) | Kind::Arrays(e) | Kind::Target(e) => Some(*e),
            Kind::Scalar | Kind::Host => Some(Elem::T),
            _ => None,
        }
    }

    /// The name of the kind in `golden.py`, the script that makes the reference results: the parameter type without
    /// its element type.
    pub fn word(&self, ty: &str) -> String {
        let word = if matches!(self, Kind::Operand(..)) { "operand" } else { ty.split('<').next().unwrap_or(ty) };
        word.into()
    }

    /// Returns whether every parameter of this kind has the default `none`.
    pub fn is_maybe(&self) -> bool {
        matches!(self, Kind::Maybe(_) | Kind::Lengths)
    }

    /// Parses the text of a default; `None` if it is not valid for the kind.
    pub fn default_of(&self, text: &str) -> Option<DefaultValue> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_integer = !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit());
        let integer = |least: i128, most: i128| {
            let value = if is_integer { text.parse().ok() } else { None };
            value.filter(|x| (least..=most).contains(x)).map(DefaultValue::Integer)
        };
        let axis = |text: &str| text.trim().parse::<i8>().ok().filter(|_| !text.contains('+'));
        match self {
            Kind::Array(_) | Kind::Maybe(_) | Kind::Lengths => (text == "none").then_some(DefaultValue::None),
            Kind::Plain(Plain::Bool) => ["true", "false"].contains(&text).then_some(DefaultValue::Bool(text == "true")),
            Kind::Plain(Plain::F64) => decimal(text).map(DefaultValue::Decimal),
            Kind::Number => {
                integer(i64::MIN.into(), i64::MAX.into()).or_else(|| decimal(text).map(DefaultValue::Decimal))
            }
            Kind::Plain(Plain::Usize | Plain::U64) => integer(0, u64::MAX.into()),
            Kind::Plain(_) => integer(i64::MIN.into(), i64::MAX.into()),
            Kind::AxisOrAll if text == "all" => Some(DefaultValue::All),
            Kind::Axis | Kind::AxisOrAll => axis(text).map(|x| DefaultValue::Integer(x.into())),
            Kind::Axes if text == "all" => Some(DefaultValue::All),
            Kind::Axes => match text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
                Some(list) => list.split(',').map(axis).collect::<Option<_>>().map(DefaultValue::Axes),
                None => axis(text).map(|x| DefaultValue::Axes(vec![x])),
            },
            Kind::Choice(choice) => choice.has(text).then(|| DefaultValue::Choice(text.into())),
            _ => None,
        }
    }

    /// An example of a default of this kind, for error messages.
    pub fn default_help(&self) -> String {
        let text = match self {
            Kind::Array(_) | Kind::Maybe(_) | Kind::Lengths => "none",
            Kind::Plain(Plain::Bool) => "true or false",
            Kind::Plain(Plain::F64) | Kind::Number => "a finite number",
            Kind::Plain(Plain::Usize | Plain::U64) => "an integer of 0 or more, of 64 bits",
            Kind::Plain(_) => "an integer of 64 bits",
            Kind::Axis => "an axis such as -1",
            Kind::AxisOrAll => "an axis such as -1, or all",
            Kind::Axes => "all, -1 or [0, 1]",
            Kind::Choice(choice) => return format!("one of: {}", choice.names().join(", ")),
            _ => "a parameter of this type cannot have a default",
        };
        text.into()
    }

    /// Returns whether parameters of this kind can be passed to libtorch's op unchanged.
    pub fn fits_aten(&self) -> bool {
        match self {
            Kind::Slices | Kind::Index | Kind::Target(_) | Kind::Widths | Kind::Number => false,
            Kind::Lengths | Kind::Host | Kind::Bytes | Kind::Text | Kind::Choice(_) => false,
            Kind::Plain(t) | Kind::Maybe(t) => *t != Plain::U64,
            _ => true,
        }
    }

    /// The description of the kind in the reference, including the dtype of arrays and operands. [`Kind::link`] returns
    /// the substring of this text that becomes a link.
    pub fn describe(&self) -> String {
        let of = |e: &Elem| e.describe();
        match self {
            Kind::Array(e) => format!("array{}", of(e)),
            Kind::Operand(e, Absent::Refused) => format!("array or scalar{}", of(e)),
            Kind::Operand(e, _) => format!("array or scalar{}; `..` means no bound", of(e)),
            Kind::Arrays(e) => format!("arrays{}", of(e)),
            Kind::Target(e) => {
                format!(
                    "array{}, which the op changes in place; other handles of the array keep the old elements",
                    of(e)
                )
            }
            Kind::Axes => "axes, such as `..` (all axes), `0`, `-1` or `[0, 2]`".into(),
            Kind::Axis => "axis; negative numbers count from the last axis".into(),
            Kind::AxisOrAll => {
                "axis; negative numbers count from the last axis, and `..` means the flattened array (in C order)"
                    .into()
            }
            Kind::Shape => "lengths, such as a shape".into(),
            Kind::Signed => "signed lengths, such as `[-1, 2]`".into(),
            Kind::Widths => "widths of borders: `1`, `(1, 2)` or `[(1, 2), (0, 1)]`".into(),
            Kind::Number => "a number, of any type".into(),
            Kind::Slices => "one range or index per axis: `slices![1..3, .., -1]`".into(),
            Kind::Index => "list of indices: `ix![1, .., 2..-1;2, ..., NewAxis, &indices, &mask]`".into(),
            Kind::Lengths => "lengths of the axes".into(),
            Kind::Scalar => "a value of the dtype".into(),
            Kind::Host => "ndarray, `Vec`, slice, nested Rust arrays or scalar".into(),
            Kind::Bytes => "bytes".into(),
            Kind::Text => "text".into(),
            Kind::Plain(t) | Kind::Maybe(t) => format!("`{}`", t.name()),
            Kind::Choice(choice) => format!("a choice of `{}`", choice.rust),
        }
    }

    /// The substring of [`Kind::describe`] that becomes a link in the reference, and the target of this link, as a path
    /// from a module of the generated code.
    pub fn link(&self) -> Option<(String, String)> {
        let link = |part: &str, path: String| Some((part.into(), path));
        match self {
            Kind::Axes => link("axes", "crate::Axes".into()),
            Kind::Slices => link("`slices![1..3, .., -1]`", "crate::slices".into()),
            Kind::Index => link("`ix![1, .., 2..-1;2, ..., NewAxis, &indices, &mask]`", "crate::ix".into()),
            Kind::Lengths => link("lengths of the axes", "crate::Lengths".into()),
            Kind::Choice(choice) => {
                let of = if choice.of_runtime { "crate" } else { "super" };
                link(&format!("`{}`", choice.rust), format!("{of}::{}", choice.rust))
            }
            _ => None,
        }
    }
}
