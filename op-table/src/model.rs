//! What a table means: ops as data, with places, without TOML.

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

/// Everything a table says; a user's table is added to the base table's.
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
    /// The columns that rows may have beside those of every table.
    pub columns: Vec<Column>,
    /// The words of expressions.
    pub words: BTreeMap<String, Word>,
    /// The accuracies.
    pub accuracies: Vec<Accuracy>,
    /// Kinds of the positional parameters to the conformance cases of such rows.
    pub cases: BTreeMap<String, Vec<Text>>,
    /// The groups of ops.
    pub groups: Vec<Group>,
    /// The rows.
    pub ops: Vec<Op>,
    /// Names of rows with mistakes, those that are no ops included: nothing is said of what uses them.
    pub broken: BTreeSet<String>,
    /// Names of those whose names clash with others in generated code.
    pub clashing: BTreeSet<String>,
}

/// A word of scalar expressions: a method of the runtime's traits, and a function `op_<word>` of the CUDA prelude.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    /// The set of dtypes that have it.
    pub set: String,
    /// How many operands it takes, the one before the point included.
    pub args: usize,
    /// The dtype of what it gives.
    pub result: WordResult,
    /// The op that does the same with arrays.
    pub op: Option<(String, Span)>,
    /// The dtypes in which its argument is reduced to a range first, which takes long for large ones.
    pub range_reduction: Vec<RangeReduction>,
    /// Whether it computes so much in vectors that wider ones pay: other words wait for memory, or call a function.
    pub wide_vectors: bool,
    /// Whether there is much less to compute where its first operand is a positive, normal and finite number.
    pub cheap_above_0: bool,
    /// The magnitude of its first operand below which there is much less to compute, if there is one.
    pub cheap_within: Option<f64>,
    /// Whether its value depends on the precision of the dtype, and not only on those of its operands.
    pub of_precision: bool,
    /// Its derivatives by its operands, over these (`a`, `b`) and its value (`y`); fewer than it has operands where none is known.
    pub derivatives: Vec<Expr>,
}

/// What a word gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WordResult {
    /// An element of the dtype of its operands.
    Same,
    /// The real dtype of a complex one.
    Real,
    /// The complex dtype of a real one.
    Complex,
    /// A truth value.
    Truth,
    /// An element of the second dtype of a row.
    Second,
    /// A uint8.
    UInt8,
}

/// Names of what words give.
pub const WORD_RESULTS: [(&str, WordResult); 6] = [
    ("same", WordResult::Same),
    ("real", WordResult::Real),
    ("complex", WordResult::Complex),
    ("bool", WordResult::Truth),
    ("second", WordResult::Second),
    ("uint8", WordResult::UInt8),
];

/// Where a word reduces its argument to a range.
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
    /// One line.
    pub summary: String,
    /// Whether `each` and `fold` rows become loops or kernels of this library.
    pub each: bool,
    /// Whether it takes `aten` mappings.
    pub aten: bool,
    /// The type parameters, each with its bound: those of a backend that wraps another.
    pub generics: Vec<(String, String)>,
    /// Whether ops run on the backend that it wraps.
    pub wrap: bool,
    /// Whether they are recorded there for gradients.
    pub records: bool,
    /// Whether they carry tangents along there.
    pub tangents: bool,
    /// Whether arrays are split over ranks there: each op has a class, which says how its arrays have to lie.
    pub splits: bool,
    /// Whether it is of the table that is read, not of the base.
    pub own: bool,
    /// Where its name stands.
    pub span: Span,
}

impl Backend {
    /// Whether ops get derivatives there: then rows run as the ops that they are made of.
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

/// A named set of dtypes and the bound it puts on `T`.
pub struct Set {
    /// Its name.
    pub name: String,
    /// The trait of the runtime that its dtypes have.
    pub bound: String,
    /// The names of its dtypes.
    pub dtypes: Vec<String>,
    /// Whether other dtypes have that trait too: then the set is a trait of its own, over that one.
    pub is_narrower: bool,
    /// Whether it is of the table that is read, not of the base.
    pub own: bool,
}

/// How near to the reference a result has to be.
pub struct Accuracy {
    /// Its name.
    pub name: String,
    /// What it promises, for the documentation.
    pub summary: String,
    /// Units in the last place of each element.
    pub ulp: Option<f64>,
    /// Relative to the largest magnitude of the result, by dtype.
    pub rtol: Vec<(String, f64)>,
    /// Whether `rtol` is times the square root of the input's size.
    pub sqrt_n: bool,
    /// Whether only shape and dtype are promised.
    pub shape: bool,
}

/// A group of ops, which is a trait.
pub struct Group {
    /// Its name.
    pub name: String,
    /// One line.
    pub summary: String,
    /// The accuracy of its ops.
    pub accuracy: String,
    /// Where its name stands.
    pub span: Span,
}

/// A column that a table declares.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// One line.
    pub summary: String,
    /// What a row may say.
    pub words: Vec<String>,
}

/// Facts of a row that the tests hold backends to.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Whether 0.0 and -0.0 in its result are the same; the row's reason says why.
    pub any_zero: bool,
    /// What it waits for; other rows bring nothing from the device.
    pub waits: Option<Waits>,
    /// Calls that NumPy refuses, and backends too.
    pub raises: Option<Vec<Text>>,
    /// The seed that random numbers of its cases start from.
    pub seed: Option<u64>,
    /// What is compared with the reference in place of its results: calls of ops, of results and parameters.
    pub compared: Option<Vec<Text>>,
    /// The function on the host that reduces a formula as the op reduces an array.
    pub fused: Option<String>,
}

/// What an op waits for.
#[derive(Clone, Debug)]
pub struct Waits {
    /// How many bytes come from the device.
    pub bytes: u64,
    /// Why.
    pub why: String,
}

/// One row.
#[derive(Clone)]
pub struct Op {
    /// The op's name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// The group it is in; empty in a user's table.
    pub group: String,
    /// First line of the documentation.
    pub summary: String,
    /// More of it.
    pub detail: String,
    /// The parameters, those with defaults last.
    pub params: Vec<Param>,
    /// Whether all parameters could be read: what uses them is not looked at otherwise.
    pub params_are_whole: bool,
    /// Name of the set of dtypes of `T`.
    pub set: String,
    /// Bound of `T`.
    pub bound: String,
    /// Bound of a second dtype `U`, where the row has one.
    pub second: Option<String>,
    /// The set of dtypes of `U`.
    pub second_set: Option<String>,
    /// What it gives.
    pub result: Out,
    /// The result as the table says it.
    pub result_text: String,
    /// Library to what it runs.
    pub maps: BTreeMap<String, Map>,
    /// NumPy's name.
    pub numpy: String,
    /// The reference in Python, where it is not NumPy's function.
    pub golden: String,
    /// Other names, for the search of the documentation.
    pub alias: Vec<String>,
    /// Rust code over `b`, the CPU's backend, which is run as a test of the documentation.
    pub example: String,
    /// What only its page says.
    pub reference: Reference,
    /// Name of its accuracy.
    pub accuracy: String,
    /// Looser units in the last place, by dtype.
    pub ulp: Vec<(String, f64)>,
    /// Why they are.
    pub reason: String,
    /// What the tests hold backends to.
    pub facts: Facts,
    /// What it says in the columns that its table declares.
    pub columns: Vec<(String, String)>,
    /// Where its gradients come from.
    pub gradient: Gradient,
    /// The gradients at one element, of real dtypes: scalar expressions over `g`, `y` and the parameters, by inputs. Inputs that are not there
    /// have none.
    pub by_element: Option<Vec<(String, Expr)>>,
    /// In which inputs the op is linear, all others as they are: in those of each list together.
    pub linear: Vec<Vec<String>>,
    /// Between which numbers they are tested.
    pub domain: (f64, f64),
    /// Why its gradients at the ends of a dtype's range are not those in float64; empty where they are.
    pub extremes: String,
    /// Conformance cases; `None`: those of the kinds of its parameters.
    pub cases: Option<Vec<Text>>,
    /// Whether it is of the table that is read, not of the base.
    pub own: bool,
}

impl Op {
    /// The parameters without a default.
    pub fn positional(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|p| p.default.is_none())
    }

    /// The parameters with one, which the options struct holds.
    pub fn optional(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|p| p.default.is_some())
    }

    /// Whether there is an options struct.
    pub fn has_options(&self) -> bool {
        self.optional().next().is_some()
    }

    /// Whether the options struct holds arrays.
    pub fn options_hold_arrays(&self) -> bool {
        self.optional().any(|p| matches!(p.kind, Kind::Array(_)))
    }

    /// The array that it changes, instead of giving a result.
    pub fn target(&self) -> Option<&Param> {
        self.params.iter().find(|p| matches!(p.kind, Kind::Target(_)))
    }

    /// A parameter by name.
    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|p| p.name == name)
    }

    /// Whether the compiler finds `T` from the arguments.
    pub fn infers_dtype(&self) -> bool {
        self.positional().any(|p| p.kind.elem() == Some(Elem::T))
    }

    /// The element types of the arrays in the options, each once: the options struct has a parameter for each.
    pub fn optional_elems(&self) -> Vec<Elem> {
        let mut elems = Vec::new();
        for param in self.optional() {
            elems.extend(param.kind.elem().filter(|elem| !elems.contains(elem)));
        }
        elems
    }

    /// The array parameters, which an `each` expression is over.
    pub fn inputs(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|p| p.is_array() && p.default.is_none())
    }

    /// Whether it is a scalar expression: what a formula can be made of.
    pub fn is_elementwise(&self) -> bool {
        self.maps.values().any(|map| matches!(map, Map::Each { .. }))
    }

    /// Whether a formula can be reduced as an array is: an op over an array, axes or one axis, `keepdims` and numbers.
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

    /// Whether it goes along one axis, and not over several.
    pub fn takes_one_axis(&self) -> bool {
        self.param("axis").is_some_and(|p| p.kind == Kind::Axis)
    }

    /// Whether it goes along one axis, or over the array as one row.
    pub fn takes_axis_or_all(&self) -> bool {
        self.param("axis").is_some_and(|p| p.kind == Kind::AxisOrAll)
    }

    /// What a parameter is called in the row's CUDA text: `x0`, `x1` for arrays, `p0`, `p1` for others. What the table
    /// calls it may be a keyword of C++ or something of the prelude.
    pub fn cuda_name(&self, param: &Param) -> String {
        let alike = self.params.iter().filter(|p| p.is_array() == param.is_array());
        let place = alike.take_while(|p| p.name != param.name).count();
        format!("{}{place}", if param.is_array() { 'x' } else { 'p' })
    }

    /// `cumulative_sum` as `CumulativeSum`.
    pub fn camel(&self) -> String {
        camel(&self.name)
    }
}

/// What the page of a row says that nothing is generated of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reference {
    /// What it gives, where that does not follow from the row.
    pub returns: String,
    /// Variant of the runtime's `Error`, and when it comes; beside those that follow from the parameters.
    pub errors: Vec<(String, String)>,
    /// Backend, and the library that does the work there: `cuda` runs `cuFFT`.
    pub runs: Vec<(String, String)>,
    /// What other libraries call it: `torch.sum`.
    pub also: Vec<String>,
}

/// The variants of the runtime's `Error` that a row may name: the others come from any op.
pub const ERRORS: [&str; 6] = ["Argument", "Axis", "Index", "RepeatedAxis", "Shape", "Shapes"];

/// An expression: its text, and the tree of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// As the table says it.
    pub text: String,
    /// The tree; its parts know what they are once the table was checked.
    pub expr: Expr,
}

/// How a library runs a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Map {
    /// A scalar expression, or one for real and one for complex dtypes.
    Each {
        /// For all dtypes, or for real ones.
        real: Form,
        /// For complex dtypes.
        complex: Option<Form>,
    },
    /// A reduction of scalar expressions.
    Fold(Box<Fold>),
    /// A function of the library's module.
    Call(String),
    /// An expression in other ops.
    Compose(Form),
    /// A function over any backend.
    Generic(String),
    /// libtorch's own op.
    Aten(Aten),
}

impl Map {
    /// Whether it is of scalar expressions, around which a library has loops or kernels.
    pub fn is_of_elements(&self) -> bool {
        matches!(self, Map::Each { .. } | Map::Fold(_))
    }

    /// Whether it is made of other ops, and so runs on any backend.
    pub fn is_free(&self) -> bool {
        matches!(self, Map::Compose(_) | Map::Generic(_))
    }
}

/// An op of libtorch and what it is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Aten {
    /// Its name.
    pub name: String,
    /// Its overload; may be empty.
    pub overload: String,
    /// Its arguments.
    pub args: Vec<AtenArg>,
    /// How dtypes that libtorch lacks are computed: one of [`VIA`].
    pub via: String,
}

/// An argument of an op of libtorch.
#[derive(Clone, Debug, PartialEq)]
pub enum AtenArg {
    /// A parameter of the row.
    Param(String),
    /// Nothing.
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
    /// The parameter as the table says it.
    pub text: String,
    /// Its name.
    pub name: String,
    /// Its type as the table says it.
    pub ty: String,
    /// Its type.
    pub kind: Kind,
    /// Its default.
    pub default: Option<DefaultValue>,
    /// The default as the table says it.
    pub default_text: String,
    /// Where it stands.
    pub span: Span,
}

/// What a parameter is that is not given.
#[derive(Clone, Debug, PartialEq)]
pub enum DefaultValue {
    /// Nothing.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Integer(i128),
    /// Any finite number.
    Decimal(f64),
    /// All axes.
    All,
    /// Some axes.
    Axes(Vec<i8>),
    /// The name of a choice.
    Choice(String),
}

impl Param {
    /// Whether it is a number of the expressions of a `fold` row: all but `keepdims` are.
    pub fn is_fold_number(&self) -> bool {
        matches!(self.kind, Kind::Plain(_)) && self.name != "keepdims"
    }

    /// Whether it is an array, or an operand that may be one.
    pub fn is_array(&self) -> bool {
        matches!(self.kind, Kind::Array(_) | Kind::Operand(..))
    }
}

/// The bounds that a set may put on `T`: traits of the runtime, from the narrowest on.
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

/// Whether a dtype has the trait of the runtime that a set names as its bound.
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

/// How dtypes that libtorch lacks are computed: the variants of the runtime's `torch::DtypeStrategy`.
pub const VIA: [&str; 5] = ["direct", "wrap", "order", "float32", "parts"];

/// Element type of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elem {
    /// The row's dtype.
    T,
    /// A second dtype.
    U,
    /// The real dtype of a complex one.
    Real,
    /// The complex dtype of a real one.
    Complex,
    /// The dtype of sums.
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

/// Names of element types in `array<..>`, and what the reference says of them.
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
    /// The element type of this name; nothing is the row's dtype.
    pub fn of(name: &str) -> Option<Elem> {
        ELEMS.iter().find(|(known, ..)| *known == name).map(|(_, elem, _)| *elem)
    }

    /// The names of all but the row's dtype, which needs none.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ELEMS.iter().map(|(name, ..)| *name).filter(|name| !name.is_empty())
    }

    fn row(self) -> (&'static str, &'static str) {
        ELEMS.iter().find(|(_, elem, _)| *elem == self).map_or(("", ""), |(name, _, doc)| (name, doc))
    }

    /// Its name; `T` of the row's dtype.
    pub fn name(self) -> &'static str {
        if self == Elem::T { "T" } else { self.row().0 }
    }

    /// What the reference says of it, after "array".
    pub fn describe(self) -> &'static str {
        self.row().1
    }

    /// The dtype that it is whatever the row's is.
    pub fn dtype(self) -> Option<&'static str> {
        matches!(self, Elem::Bool | Elem::UInt8 | Elem::Int32 | Elem::Int64).then(|| self.name())
    }
}

/// What an op gives.
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

/// One of several arrays that an op gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its element type.
    pub elem: Elem,
}

impl Out {
    /// The element types of the arrays in it; of a list, of all of them.
    pub fn elems(&self) -> Vec<Elem> {
        match self {
            Out::One(e) | Out::List(e) => vec![*e],
            Out::Fields(fields) => fields.iter().map(|f| f.elem).collect(),
            Out::Plain(_) => Vec::new(),
        }
    }

    /// The element type of the first array, which is all of them for one array and for lists.
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

    /// The conformance cases of a row: its own, else those of the kinds of its positional parameters.
    pub fn cases_of<'m>(&'m self, op: &'m Op) -> Vec<&'m str> {
        let kinds = || op.positional().map(|p| p.ty.as_str()).collect::<Vec<_>>().join(",");
        let cases = op.cases.as_ref().or_else(|| self.cases.get(&kinds()));
        cases.into_iter().flatten().map(|case| case.text.as_str()).collect()
    }

    /// The NumPy expression, or the name of NumPy's function, that a row is compared with.
    pub fn reference_of(&self, op: &Op) -> String {
        match (op.golden.as_str(), op.numpy.as_str()) {
            ("", "") => format!("np.{}", op.name),
            ("", numpy) => format!("np.{numpy}"),
            (golden, _) => golden.into(),
        }
    }

    /// What reference data carry to tell whether they are of a row as it is now.
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

    /// The dtypes of a set, by name.
    pub fn dtypes_of(&self, set: &str) -> &[String] {
        self.set(set).map_or(&[], |s| &s.dtypes)
    }
}

impl Model {
    /// Of a table with mistakes, what can be generated all the same: rows with a mistake keep their methods, and nothing
    /// that runs them; a composition of one that cannot be called goes too.
    pub fn keep_what_is_right(&mut self) {
        let (broken, sets) = (&self.broken, &self.sets);
        let has_set = |name: &str| sets.iter().any(|s| s.name == name && !s.dtypes.is_empty());
        let groups = &self.groups;
        let has_group = |name: &str| name.is_empty() || groups.iter().any(|g| g.name == name);
        self.ops.retain(|op| {
            let elems = op.result.elems();
            let has_dtypes = has_set(&op.set) && (op.second.is_some() || !elems.contains(&Elem::U));
            // code with a name that clashes would be a second mistake
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

/// The dtype that an element type stands for, where `T` is `dtype`.
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

/// The smallest and the largest value of an integer dtype; `bool` is 0 or 1.
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

/// `cumulative_sum` as `CumulativeSum`.
pub fn camel(name: &str) -> String {
    name.split('_').map(|w| w[..w.len().min(1)].to_uppercase() + w.get(1..).unwrap_or("")).collect()
}
