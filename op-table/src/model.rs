//! The contents of a table: ops as data, with positions, without TOML.

use crate::{
    expr::{Expr, compose},
    text::{Span, Text},
};
pub use crate::{
    fold::Fold,
    gradient::{Gradient, Rule},
    kind::{Absent, Choice, Kind, Plain},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The contents of all tables; a user's table is added to the base table.
#[derive(Default)]
pub struct Model {
    /// The libraries.
    pub backends: Vec<Backend>,
    /// The dtypes.
    pub dtypes: Vec<DType>,
    /// The sets of dtypes.
    pub sets: Vec<Set>,
    /// The closed choices.
    pub choices: Vec<Arc<Choice>>,
    /// The columns that rows may have besides those of every table.
    pub columns: Vec<Column>,
    /// The words of expressions.
    pub words: BTreeMap<String, Word>,
    /// The accuracies.
    pub accuracies: Vec<Accuracy>,
    /// Default conformance cases, by the kinds of the positional parameters.
    pub cases: BTreeMap<String, Vec<Text>>,
    /// The groups of ops.
    pub groups: Vec<Group>,
    /// The rows.
    pub ops: Vec<Op>,
    /// Names of rows with mistakes, even of rows that are not ops: uses of them are not reported.
    pub broken: BTreeSet<String>,
    /// Names that clash with others in generated code.
    pub clashing: BTreeSet<String>,
}

/// A word of scalar expressions: a method of the runtime's traits, and a function `op_<word>` of the CUDA prelude.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    /// The set of dtypes that have the word.
    pub set: String,
    /// The number of operands, including the one before the point.
    pub args: usize,
    /// The dtype of its result.
    pub result: WordResult,
    /// The op that does the same on arrays.
    pub op: Option<(String, Span)>,
    /// The dtypes in which its argument is first reduced to a range, which is slow for large arguments.
    pub range_reduction: Vec<RangeReduction>,
    /// Whether it computes enough to gain from wider vectors; other words wait for memory, or call a function.
    pub wide_vectors: bool,
    /// Whether it is much cheaper if its first operand is positive, normal and finite.
    pub cheap_above_0: bool,
    /// The magnitude of its first operand below which it is much cheaper, if any.
    pub cheap_within: Option<f64>,
    /// Whether its value depends on the precision of the dtype, and not only on its operands.
    pub of_precision: bool,
    /// Its derivatives with respect to its operands, in terms of the operands (`a`, `b`) and its value (`y`); fewer
    /// than operands if some are unknown.
    pub derivatives: Vec<Expr>,
}

/// The result of a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WordResult {
    /// An element of the operands' dtype.
    Same,
    /// The real dtype of the operands' complex dtype.
    Real,
    /// The complex dtype of the operands' real dtype.
    Complex,
    /// A truth value.
    Truth,
    /// An element of the second dtype of a row.
    Second,
    /// A uint8.
    UInt8,
}

/// The names of the results of words.
pub const WORD_RESULTS: [(&str, WordResult); 6] = [
    ("same", WordResult::Same),
    ("real", WordResult::Real),
    ("complex", WordResult::Complex),
    ("bool", WordResult::Truth),
    ("second", WordResult::Second),
    ("uint8", WordResult::UInt8),
];

/// The dtypes in which a word reduces its argument to a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RangeReduction {
    /// For real dtypes.
    Real,
    /// For complex dtypes.
    Complex,
}

/// A library: a column of the table.
#[derive(Clone)]
pub struct Backend {
    /// The column's name.
    pub name: String,
    /// The backend's type.
    pub ty: String,
    /// The module with its functions.
    pub module: String,
    /// The summary, in one line.
    pub summary: String,
    /// Whether `each` and `fold` rows are compiled to loops or kernels of this library.
    pub each: bool,
    /// Whether it accepts `aten` mappings.
    pub aten: bool,
    /// The type parameters, each with its bound, for a backend that wraps another.
    pub generics: Vec<(String, String)>,
    /// Whether ops run on the wrapped backend.
    pub wrap: bool,
    /// Whether ops are recorded for gradients.
    pub records: bool,
    /// Whether ops also compute tangents.
    pub tangents: bool,
    /// Whether arrays are split over ranks: each op then has a class, which says how its arrays must be laid out.
    pub splits: bool,
    /// Whether it belongs to the table that is read, not to the base table.
    pub own: bool,
    /// The position of its name.
    pub span: Span,
}

impl Backend {
    /// Returns whether ops are differentiated: rows then run as the ops that they are made of.
    pub fn differentiates(&self) -> bool {
        self.records || self.tangents
    }
}

/// A dtype.
pub struct DType {
    /// Its name.
    pub name: String,
    /// Its Rust type.
    pub rust: String,
}

/// A named set of dtypes, with the bound that it puts on `T`.
pub struct Set {
    /// Its name.
    pub name: String,
    /// The trait of the runtime that its dtypes implement.
    pub bound: String,
    /// The names of its dtypes.
    pub dtypes: Vec<String>,
    /// Whether other dtypes implement the trait too: then the set is a trait of its own, with that trait as a bound.
    pub is_narrower: bool,
    /// Whether it belongs to the table that is read, not to the base table.
    pub own: bool,
}

/// The required accuracy of a result, compared with the reference.
pub struct Accuracy {
    /// Its name.
    pub name: String,
    /// The promise, for the documentation.
    pub summary: String,
    /// Largest error of each element in units in the last place.
    pub ulp: Option<f64>,
    /// Largest error relative to the largest magnitude of the result, by dtype.
    pub rtol: Vec<(String, f64)>,
    /// Whether `rtol` is multiplied by the square root of the input's size.
    pub sqrt_n: bool,
    /// Whether only shape and dtype are promised.
    pub shape: bool,
}

/// A group of ops, which is a trait.
pub struct Group {
    /// Its name.
    pub name: String,
    /// The summary, in one line.
    pub summary: String,
    /// The accuracy of its ops.
    pub accuracy: String,
    /// The position of its name.
    pub span: Span,
}

/// A column that a table declares.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The summary, in one line.
    pub summary: String,
    /// The words that a row may use.
    pub words: Vec<String>,
}

/// Facts of a row that the tests check on backends.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Whether 0.0 and -0.0 are equivalent in its result; the row's reason says why.
    pub any_zero: bool,
    /// The data that it waits for; other rows copy nothing from the device.
    pub waits: Option<Waits>,
    /// Calls that NumPy and backends reject.
    pub raises: Option<Vec<Text>>,
    /// The seed of random numbers in its cases.
    pub seed: Option<u64>,
    /// The expressions compared with the reference instead of its results: calls of ops on results and parameters.
    pub compared: Option<Vec<Text>>,
    /// The host function that reduces a formula as the op reduces an array.
    pub fused: Option<String>,
}

/// The data that an op waits for.
#[derive(Clone, Debug)]
pub struct Waits {
    /// The number of bytes copied from the device.
    pub bytes: u64,
    /// The reason.
    pub why: String,
}

/// One row.
#[derive(Clone)]
pub struct Op {
    /// The op's name.
    pub name: String,
    /// The position of the name.
    pub span: Span,
    /// The group; empty in a user's table.
    pub group: String,
    /// First line of the documentation.
    pub summary: String,
    /// The rest of the documentation.
    pub detail: String,
    /// The parameters, those with defaults last.
    pub params: Vec<Param>,
    /// Whether all parameters could be read; if not, their uses are not checked.
    pub params_are_whole: bool,
    /// Name of the set of dtypes of `T`.
    pub set: String,
    /// Bound of `T`.
    pub bound: String,
    /// Bound of a second dtype `U`, if the row has one.
    pub second: Option<String>,
    /// The set of dtypes of `U`.
    pub second_set: Option<String>,
    /// The result.
    pub result: Out,
    /// The text of the result in the table.
    pub result_text: String,
    /// The mapping of each library.
    pub maps: BTreeMap<String, Map>,
    /// NumPy's name.
    pub numpy: String,
    /// The reference in Python, if it is not NumPy's function.
    pub golden: String,
    /// Other names, for the search of the documentation.
    pub alias: Vec<String>,
    /// Rust code with the CPU's backend `b`, which runs as a documentation test.
    pub example: String,
    /// The parts that appear only on its page.
    pub reference: Reference,
    /// Name of its accuracy.
    pub accuracy: String,
    /// Looser bounds in units in the last place, by dtype.
    pub ulp: Vec<(String, f64)>,
    /// The reason for them.
    pub reason: String,
    /// The facts that the tests check on backends.
    pub facts: Facts,
    /// Values of the table's extra columns for this row.
    pub columns: Vec<(String, String)>,
    /// The source of its gradients.
    pub gradient: Gradient,
    /// The gradients at one element, for real dtypes: scalar expressions in `g`, `y` and the parameters, by input.
    /// Inputs without an entry have none.
    pub by_element: Option<Vec<(String, Expr)>>,
    /// The inputs in which the op is linear with all others fixed; the op is linear in the inputs of each list jointly.
    pub linear: Vec<Vec<String>>,
    /// The interval in which its gradients are tested.
    pub domain: (f64, f64),
    /// The reason why its gradients at the ends of a dtype's range differ from those in float64; empty if they do not.
    pub extremes: String,
    /// Conformance cases; `None` for those of its parameters' kinds.
    pub cases: Option<Vec<Text>>,
    /// Whether it belongs to the table that is read, not to the base table.
    pub own: bool,
}

impl Op {
    /// The parameters without a default.
    pub fn positional(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|p| p.default.is_none())
    }

    /// The parameters with a default, which the options struct holds.
    pub fn optional(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|p| p.default.is_some())
    }

    /// Returns whether there is an options struct.
    pub fn has_options(&self) -> bool {
        self.optional().next().is_some()
    }

    /// Returns whether the options struct holds arrays.
    pub fn options_hold_arrays(&self) -> bool {
        self.optional().any(|p| matches!(p.kind, Kind::Array(_)))
    }

    /// The array that the op changes instead of returning a result.
    pub fn target(&self) -> Option<&Param> {
        self.params.iter().find(|p| matches!(p.kind, Kind::Target(_)))
    }

    /// A parameter by name.
    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|p| p.name == name)
    }

    /// Returns whether the compiler infers `T` from the arguments.
    pub fn infers_dtype(&self) -> bool {
        self.positional().any(|p| p.kind.elem() == Some(Elem::T))
    }

    /// The element types of the arrays in the options, without repeats: the options struct has a type parameter for
    /// each.
    pub fn optional_elems(&self) -> Vec<Elem> {
        let mut elems = Vec::new();
        for param in self.optional() {
            elems.extend(param.kind.elem().filter(|elem| !elems.contains(elem)));
        }
        elems
    }

    /// The array parameters of an `each` expression.
    pub fn inputs(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|p| p.is_array() && p.default.is_none())
    }

    /// Returns whether the op is a scalar expression, so that formulas can contain it.
    pub fn is_elementwise(&self) -> bool {
        self.maps.values().any(|map| matches!(map, Map::Each { .. }))
    }

    /// Returns whether the op can reduce a formula like an array: it takes an array, axes or one axis, `keepdims` and
    /// numbers.
    pub fn reduces_formulas(&self) -> bool {
        let has = |name, kind: &dyn Fn(&Kind) -> bool| self.param(name).is_some_and(|p| kind(&p.kind));
        let fold = self.maps.values().any(|map| matches!(map, Map::Fold(_)));
        let mut numbers = self.params.iter().filter(|p| !p.is_array() && p.name != "axis");
        (fold || self.facts.fused.is_some())
            && numbers.all(|p| matches!(p.kind, Kind::Plain(Plain::F64 | Plain::Bool)))
            && self.inputs().count() == 1
            && self.params.first().is_some_and(|p| matches!(p.kind, Kind::Array(Elem::T)))
            && has("axis", &|kind| matches!(kind, Kind::Axes | Kind::Axis | Kind::AxisOrAll))
            && has("keepdims", &|kind| *kind == Kind::Plain(Plain::Bool))
    }

    /// Returns whether the op works along one axis, and not over several.
    pub fn takes_one_axis(&self) -> bool {
        self.param("axis").is_some_and(|p| p.kind == Kind::Axis)
    }

    /// Returns whether the op works along one axis, or over the whole array as one lane.
    pub fn takes_axis_or_all(&self) -> bool {
        self.param("axis").is_some_and(|p| p.kind == Kind::AxisOrAll)
    }

    /// The name of a parameter in the row's CUDA text: `x0`, `x1` for arrays, `p0`, `p1` for others. The name in the
    /// table may be a keyword of C++ or a name of the prelude.
    pub fn cuda_name(&self, param: &Param) -> String {
        let alike = self.params.iter().filter(|p| p.is_array() == param.is_array());
        let place = alike.take_while(|p| p.name != param.name).count();
        format!("{}{place}", if param.is_array() { 'x' } else { 'p' })
    }

    /// The name in camel case: `cumulative_sum` is `CumulativeSum`.
    pub fn camel(&self) -> String {
        camel(&self.name)
    }
}

/// The parts of a row's page that nothing is generated from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reference {
    /// The description of the result, if it does not follow from the row.
    pub returns: String,
    /// Variants of the runtime's `Error`, each with its condition, besides those that follow from the parameters.
    pub errors: Vec<(String, String)>,
    /// The library that does the work on a backend: `cuda` runs `cuFFT`.
    pub runs: Vec<(String, String)>,
    /// The names in other libraries: `torch.sum`.
    pub also: Vec<String>,
}

/// The variants of the runtime's `Error` that a row may name; any op may return the others.
pub const ERRORS: [&str; 6] = ["Argument", "Axis", "Index", "RepeatedAxis", "Shape", "Shapes"];

/// An expression: its text and its tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// The text in the table.
    pub text: String,
    /// The tree; its types are known after the table is checked.
    pub expr: Expr,
}

/// The way in which a library runs a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Map {
    /// A scalar expression, or one for real and one for complex dtypes.
    Each {
        /// For all dtypes, or for real dtypes.
        real: Form,
        /// For complex dtypes.
        complex: Option<Form>,
    },
    /// A reduction built from scalar expressions.
    Fold(Box<Fold>),
    /// A function of the library's module.
    Call(String),
    /// An expression of other ops.
    Compose(Form),
    /// A function over any backend.
    Generic(String),
    /// libtorch's own op.
    Aten(Aten),
}

impl Map {
    /// Returns whether it consists of scalar expressions, for which a library has loops or kernels.
    pub fn is_of_elements(&self) -> bool {
        matches!(self, Map::Each { .. } | Map::Fold(_))
    }

    /// Returns whether it consists of other ops, and so runs on any backend.
    pub fn is_free(&self) -> bool {
        matches!(self, Map::Compose(_) | Map::Generic(_))
    }
}

/// An op of libtorch and its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Aten {
    /// Its name.
    pub name: String,
    /// Its overload; may be empty.
    pub overload: String,
    /// Its arguments.
    pub args: Vec<AtenArg>,
    /// The way in which dtypes that libtorch lacks are computed: one of [`VIA`].
    pub via: String,
}

/// An argument of an op of libtorch.
#[derive(Clone, Debug, PartialEq)]
pub enum AtenArg {
    /// A parameter of the row.
    Param(String),
    /// No value.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A number with a point.
    Decimal(f64),
}

/// A parameter of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// The text of the parameter in the table.
    pub text: String,
    /// Its name.
    pub name: String,
    /// The text of its type in the table.
    pub ty: String,
    /// Its type.
    pub kind: Kind,
    /// Its default.
    pub default: Option<DefaultValue>,
    /// The text of the default in the table.
    pub default_text: String,
    /// Its position.
    pub span: Span,
}

/// The value of a parameter that is not given.
#[derive(Clone, Debug, PartialEq)]
pub enum DefaultValue {
    /// No value.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Integer(i128),
    /// Any finite number.
    Decimal(f64),
    /// All axes.
    All,
    /// A list of axes.
    Axes(Vec<i8>),
    /// The name of a choice.
    Choice(String),
}

impl Param {
    /// Returns whether the parameter is a number in the expressions of a `fold` row: all but `keepdims` are.
    pub fn is_fold_number(&self) -> bool {
        matches!(self.kind, Kind::Plain(_)) && self.name != "keepdims"
    }

    /// Returns whether the parameter is an array, or an operand that may be one.
    pub fn is_array(&self) -> bool {
        matches!(self.kind, Kind::Array(_) | Kind::Operand(..))
    }
}

/// The bounds that a set may put on `T`: traits of the runtime, from the narrowest to the widest.
pub const BOUNDS: [&str; 11] = [
    "Precision",
    "WideFloat",
    "Real",
    "ComplexFloat",
    "Integer",
    "Float",
    "Bits",
    "RealNumeric",
    "Ordered",
    "Numeric",
    "Element",
];

/// Returns whether a dtype implements the trait of the runtime that a set names as its bound.
pub fn has_bound(dtype: &str, bound: &str) -> bool {
    let bool = dtype == "bool";
    let integer = !bool && integer_range(dtype).is_some();
    let complex = dtype.starts_with("complex");
    let real = !bool && !integer && !complex;
    match bound {
        "Element" => true,
        "Numeric" => !bool,
        "RealNumeric" => integer || real,
        "Ordered" => !complex,
        "Bits" => bool || integer,
        "Integer" => integer,
        "Float" => real || complex,
        "Real" => real,
        "ComplexFloat" => complex,
        "Precision" => ["float32", "float64"].contains(&dtype),
        "WideFloat" => ["float32", "float64", "complex64", "complex128"].contains(&dtype),
        _ => false,
    }
}

/// The ways in which dtypes that libtorch lacks are computed: the variants of the runtime's `torch::DtypeStrategy`.
pub const VIA: [&str; 5] = ["direct", "wrap", "order", "float32", "parts"];

/// The element type of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elem {
    /// The row's dtype.
    T,
    /// A second dtype.
    U,
    /// The real dtype of a complex dtype.
    Real,
    /// The complex dtype of a real dtype.
    Complex,
    /// The dtype of sums of the row's dtype.
    Sum,
    /// `bool`
    Bool,
    /// `uint8`
    UInt8,
    /// `int32`
    Int32,
    /// `int64`
    Int64,
}

/// Names of element types in `array<..>`, and their text in the reference.
const ELEMS: [(&str, Elem, &str); 9] = [
    ("", Elem::T, ""),
    ("U", Elem::U, " of `U`"),
    ("real", Elem::Real, " of the real dtype"),
    ("complex", Elem::Complex, " of the complex dtype"),
    ("sum", Elem::Sum, " of the dtype of sums"),
    ("bool", Elem::Bool, " of `bool`"),
    ("uint8", Elem::UInt8, " of `u8`"),
    ("int32", Elem::Int32, " of `i32`"),
    ("int64", Elem::Int64, " of `i64`"),
];

impl Elem {
    /// The element type of this name; an empty name is the row's dtype.
    pub fn of(name: &str) -> Option<Elem> {
        ELEMS.iter().find(|(known, ..)| *known == name).map(|(_, elem, _)| *elem)
    }

    /// The names of all element types but the row's dtype, which has no name.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ELEMS.iter().map(|(name, ..)| *name).filter(|name| !name.is_empty())
    }

    fn row(self) -> (&'static str, &'static str) {
        ELEMS.iter().find(|(_, elem, _)| *elem == self).map_or(("", ""), |(name, _, doc)| (name, doc))
    }

    /// Its name; `T` for the row's dtype.
    pub fn name(self) -> &'static str {
        if self == Elem::T { "T" } else { self.row().0 }
    }

    /// The text of the reference after "array".
    pub fn describe(self) -> &'static str {
        self.row().1
    }

    /// The dtype, if it does not depend on the row's dtype.
    pub fn dtype(self) -> Option<&'static str> {
        matches!(self, Elem::Bool | Elem::UInt8 | Elem::Int32 | Elem::Int64).then(|| self.name())
    }
}

/// The result of an op.
#[derive(Clone, Debug, PartialEq)]
pub enum Out {
    /// An array.
    One(Elem),
    /// Several arrays, each with a name.
    Fields(Vec<Field>),
    /// A list of arrays.
    List(Elem),
    /// A number or truth value of Rust.
    Plain(Plain),
}

/// One of several arrays in a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its element type.
    pub elem: Elem,
}

impl Out {
    /// The element types of the arrays in the result; a list has one for all of its arrays.
    pub fn elems(&self) -> Vec<Elem> {
        match self {
            Out::One(e) | Out::List(e) => vec![*e],
            Out::Fields(fields) => fields.iter().map(|f| f.elem).collect(),
            Out::Plain(_) => Vec::new(),
        }
    }

    /// The element type of the first array, which for one array and for lists is the only one.
    pub fn elem(&self) -> Elem {
        self.elems().first().copied().unwrap_or(Elem::T)
    }
}

impl Model {
    /// A row by name.
    pub fn op(&self, name: &str) -> Option<&Op> {
        self.ops.iter().find(|o| o.name == name)
    }

    /// A set by name.
    pub fn set(&self, name: &str) -> Option<&Set> {
        self.sets.iter().find(|s| s.name == name)
    }

    /// The conformance cases of a row: its own, or else those of the kinds of its positional parameters.
    pub fn cases_of<'m>(&'m self, op: &'m Op) -> Vec<&'m str> {
        let kinds = || op.positional().map(|p| p.ty.as_str()).collect::<Vec<_>>().join(",");
        let cases = op.cases.as_ref().or_else(|| self.cases.get(&kinds()));
        cases.into_iter().flatten().map(|case| case.text.as_str()).collect()
    }

    /// The reference of a row: a NumPy expression or the name of NumPy's function.
    pub fn reference_of(&self, op: &Op) -> String {
        match (op.golden.as_str(), op.numpy.as_str()) {
            ("", "") => format!("np.{}", op.name),
            ("", numpy) => format!("np.{numpy}"),
            (golden, _) => golden.into(),
        }
    }

    /// The signature stored in reference data, to detect that the row has changed since.
    pub fn signature_of(&self, op: &Op) -> String {
        let params: Vec<&str> = op.params.iter().map(|p| p.text.as_str()).collect();
        let result = format!("{}({}) -> {} = {}", op.name, params.join(", "), op.result_text, self.reference_of(op));
        match &op.facts.compared {
            None => result,
            Some(parts) => {
                let parts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
                format!("{result}; {}", parts.join("; "))
            }
        }
    }

    /// The dtypes of a set, by the name of the set.
    pub fn dtypes_of(&self, set: &str) -> &[String] {
        self.set(set).map_or(&[], |s| &s.dtypes)
    }
}

impl Model {
    /// Removes what cannot be generated from a table with mistakes: rows with a mistake keep their methods but lose
    /// their mappings; compositions of removed rows go too.
    pub fn keep_what_is_right(&mut self) {
        let (broken, sets) = (&self.broken, &self.sets);
        let has_set = |name: &str| sets.iter().any(|s| s.name == name && !s.dtypes.is_empty());
        let groups = &self.groups;
        let has_group = |name: &str| name.is_empty() || groups.iter().any(|g| g.name == name);
        self.ops.retain(|op| {
            let elems = op.result.elems();
            let has_dtypes = has_set(&op.set) && (op.second.is_some() || !elems.contains(&Elem::U));
            // generated code with a clashing name would be a second mistake
            let clashes = self.clashing.contains(&op.name);
            op.params_are_whole && has_dtypes && has_group(&op.group) && !clashes
        });
        self.ops.iter_mut().filter(|op| broken.contains(&op.name)).for_each(|op| op.maps.clear());
        let names: BTreeSet<String> = self.ops.iter().map(|op| op.name.clone()).collect();
        for op in &mut self.ops {
            op.maps.retain(|_, map| match map {
                Map::Compose(form) => compose::calls(&form.expr).iter().all(|call| names.contains(&call.text)),
                _ => true,
            });
        }
    }
}

/// The dtype of an element type if `T` is `dtype`.
pub fn dtype_of(elem: Elem, dtype: &str) -> &str {
    match (elem, dtype) {
        (elem, _) if elem.dtype().is_some() => elem.dtype().unwrap_or_default(),
        (Elem::Real, "complex64") => "float32",
        (Elem::Real, "complex128") => "float64",
        (Elem::Complex, "float64" | "complex128") => "complex128",
        (Elem::Complex, _) => "complex64",
        (Elem::Sum, "bool" | "int8" | "int16" | "int32") => "int64",
        (Elem::Sum, "uint8" | "uint16" | "uint32") => "uint64",
        (_, same) => same,
    }
}

/// The smallest and largest value of an integer dtype; `bool` is 0 or 1.
pub fn integer_range(dtype: &str) -> Option<(i128, i128)> {
    if dtype == "bool" {
        return Some((0, 1));
    }
    let (signed, bits) = match dtype.strip_prefix("uint") {
        Some(bits) => (false, bits),
        None => (true, dtype.strip_prefix("int")?),
    };
    let bits: u32 = bits.parse().ok().filter(|bits| (1..=64).contains(bits))?;
    Some(if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) })
}

/// Converts a name to camel case: `cumulative_sum` to `CumulativeSum`.
pub fn camel(name: &str) -> String {
    name.split('_').map(|w| w[..w.len().min(1)].to_uppercase() + w.get(1..).unwrap_or("")).collect()
}
