//! The contents of an op table as Rust data, without types of TOML. Names have their positions in the text.

pub use crate::{
    element::{BOUNDS, Elem, dtype_of, has_bound, integer_range},
    kind::{Absent, Choice, DefaultValue, Kind, Plain},
    names::camel,
};
use crate::{
    expr::Expr,
    text::{Span, Text},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The contents of all tables that were read: the base table, and the tables that extend it.
#[derive(Default)]
pub struct Model {
    /// The backends, each of which has a column.
    pub backends: Vec<Backend>,
    /// The dtypes.
    pub dtypes: Vec<DType>,
    /// The sets of dtypes.
    pub sets: Vec<Set>,
    /// The choices: parameter types with a fixed list of names.
    pub choices: Vec<Arc<Choice>>,
    /// The columns that tables declare in sections such as `[column.split]`, in addition to the columns of backends.
    pub columns: Vec<Column>,
    /// The words (functions) that scalar expressions may contain.
    pub words: BTreeMap<String, Word>,
    /// The required accuracies of results.
    pub accuracies: Vec<Accuracy>,
    /// Default conformance cases for rows without cases, by the kinds of the positional parameters.
    pub cases: BTreeMap<String, Vec<Text>>,
    /// The groups of ops.
    pub groups: Vec<Group>,
    /// Lists of related ops.
    pub related: Vec<Related>,
    /// The rows of all tables.
    pub ops: Vec<Op>,
    /// Names of table entries with mistakes: ops and other entries. Uses of these names are not reported as unknown.
    pub broken: BTreeSet<String>,
    /// Names that clash with other names in generated code.
    pub clashing: BTreeSet<String>,
}

/// A word of scalar expressions: a method of the runtime's traits, and a function `op_<word>` of its CUDA sources.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    /// The name of the set of dtypes for which the word is defined.
    pub set: String,
    /// The number of operands, including the operand before the dot.
    pub args: usize,
    /// The dtype of the word's result.
    pub result: WordResult,
    /// The op that applies the word to arrays.
    pub op: Option<(String, Span)>,
    /// The dtypes in which the word first reduces its argument to a small range. This is slow for large arguments.
    pub range_reduction: Vec<RangeReduction>,
    /// True if wider vectors (AVX-512) make loops of the word faster, because the word needs much computation. Loops of
    /// other words are limited by memory, or call a function.
    pub wide_vectors: bool,
    /// True if the word is much cheaper to compute for a first operand that is positive, normal and finite.
    pub cheap_above_0: bool,
    /// A bound: if the magnitude of the first operand is below it, the word is much cheaper to compute; `None` if the
    /// word has no such bound.
    pub cheap_within: Option<f64>,
    /// True if the word's value depends on the precision of the dtype in addition to its operands.
    pub of_precision: bool,
    /// The derivatives of the word with respect to its operands, as expressions of the operands (`a`, `b`) and the
    /// word's value (`y`). If the derivatives of the last operands are unknown, the list has fewer items than there are
    /// operands.
    pub derivatives: Vec<Expr>,
}

/// The type of a word's result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WordResult {
    /// An element of the operands' dtype.
    Same,
    /// An element of the real dtype that corresponds to the operands' complex dtype.
    Real,
    /// An element of the complex dtype that corresponds to the operands' real dtype.
    Complex,
    /// A truth value.
    Truth,
    /// An element of the row's second dtype, `U`.
    Second,
    /// A uint8.
    UInt8,
}

/// The allowed values of the key `result` in a word's table entry, and their meanings.
pub const WORD_RESULTS: [(&str, WordResult); 6] = [
    ("same", WordResult::Same),
    ("real", WordResult::Real),
    ("complex", WordResult::Complex),
    ("bool", WordResult::Truth),
    ("second", WordResult::Second),
    ("uint8", WordResult::UInt8),
];

/// The dtypes, real or complex, in which a word (a function in scalar expressions, such as `sin`) first reduces its
/// argument to a small range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RangeReduction {
    /// Real dtypes.
    Real,
    /// Complex dtypes.
    Complex,
}

/// A backend, which has a column in the table.
#[derive(Clone)]
pub struct Backend {
    /// The column's name.
    pub name: String,
    /// The name of the backend's Rust type.
    pub ty: String,
    /// The module that contains the backend's functions.
    pub module: String,
    /// The summary for the documentation, in one line.
    pub summary: String,
    /// True if `each` and `fold` rows are compiled to loops or kernels of this library.
    pub each: bool,
    /// True if the backend accepts `aten` mappings.
    pub aten: bool,
    /// True if functions of the backend's module take and return arrays whose dtype is a runtime value.
    pub raw: bool,
    /// The functions that, even if `raw` is true, take and return arrays whose dtype is a type parameter.
    pub typed: Vec<String>,
    /// The type parameters, each with its bound, of a backend that wraps another backend.
    pub generics: Vec<(String, String)>,
    /// True if the backend wraps another backend, on which its ops run.
    pub wrap: bool,
    /// True if ops are recorded for gradients.
    pub records: bool,
    /// True if ops also compute tangents, the derivatives of forward mode.
    pub tangents: bool,
    /// True if arrays are split over ranks. Each op then has a class that determines the layouts of its arrays.
    pub splits: bool,
    /// True if the backend belongs to the table being read, and not to the base table.
    pub own: bool,
    /// The position of the backend's name in the table.
    pub span: Span,
}

impl Backend {
    /// Returns whether the function of a `call` mapping takes and returns arrays whose dtype is a runtime value.
    pub fn is_raw(&self, path: &str) -> bool {
        self.raw && !path.starts_with("crate::") && !self.typed.iter().any(|typed| typed == path)
    }

    /// Returns whether the backend differentiates ops. If so, a row that is composed of other ops runs these ops, and
    /// the backend differentiates each of them.
    pub fn differentiates(&self) -> bool {
        self.records || self.tangents
    }
}

/// A dtype.
pub struct DType {
    /// Name of the dtype.
    pub name: String,
    /// Rust type of the dtype.
    pub rust: String,
}

/// A named set of dtypes, with the trait that generic code requires of its dtype `T`.
pub struct Set {
    /// Name of the set.
    pub name: String,
    /// The trait of the runtime that the set's dtypes implement.
    pub bound: String,
    /// The names of the set's dtypes.
    pub dtypes: Vec<String>,
    /// True if dtypes outside the set implement the trait, too. In this case a separate trait is generated for the set,
    /// with the runtime's trait as a supertrait.
    pub is_narrower: bool,
    /// True if the set belongs to the table being read, and not to the base table.
    pub own: bool,
}

/// The required agreement of the results of an op with the reference results.
pub struct Accuracy {
    /// Name of the accuracy.
    pub name: String,
    /// Description of the accuracy, for the documentation.
    pub summary: String,
    /// Largest error of each element in units in the last place.
    pub ulp: Option<f64>,
    /// Largest error relative to the largest magnitude of the result, by dtype.
    pub rtol: Vec<(String, f64)>,
    /// True if `rtol` is multiplied by the square root of the number of elements of the largest input.
    pub sqrt_n: bool,
    /// True if only shape and dtype are checked.
    pub shape: bool,
    /// True if only dtype and number of axes are checked, because lengths and elements differ from backend to backend.
    pub ndim: bool,
}

/// A group of ops, for which a trait is generated.
pub struct Group {
    /// Name of the group.
    pub name: String,
    /// The summary for the documentation, in one line.
    pub summary: String,
    /// Name of the accuracy of the group's ops.
    pub accuracy: String,
    /// The position of the group's name in the table.
    pub span: Span,
}

/// A list of related ops.
pub struct Related {
    /// Description of the ops, such as "rounding".
    pub name: String,
    /// Names of the ops.
    pub ops: Vec<Text>,
    /// True if the list is in the table whose code is generated.
    pub own: bool,
}

/// A column that a table declares in a section such as `[column.split]`. It is a key of rows.
#[derive(Clone, Debug)]
pub struct Column {
    /// Name of the column.
    pub name: String,
    /// The summary for the documentation, in one line.
    pub summary: String,
    /// The values that the key may have in a row.
    pub words: Vec<String>,
}

/// Properties of an op that its row states, and that the tests check on backends.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// True if 0.0 and -0.0 are equivalent in the op's result. The row gives the reason.
    pub any_zero: bool,
    /// The data that the op copies from the device and waits for; `None` if it copies nothing.
    pub waits: Option<Waits>,
    /// Calls that NumPy and all backends reject.
    pub raises: Option<Vec<Text>>,
    /// The seed of random numbers in the op's cases.
    pub seed: Option<u64>,
    /// Expressions that are compared with the reference instead of the op's results. They are calls of ops, whose
    /// arguments are the results and the parameters.
    pub compared: Option<Vec<Text>>,
    /// The path of the function of the CPU backend that reduces a formula in the same way as the op reduces an array.
    pub fused: Option<String>,
}

/// The data that an op copies from the device and waits for.
#[derive(Clone, Debug)]
pub struct Waits {
    /// The number of bytes copied from the device.
    pub bytes: u64,
    /// The reason for waiting.
    pub why: String,
}

/// One row of the table, which defines an op.
#[derive(Clone)]
pub struct Op {
    /// The op's name.
    pub name: String,
    /// The position of the name.
    pub span: Span,
    /// The number of the row's first line in its table, from 1.
    pub line: usize,
    /// The name of the op's group; empty in a user's table.
    pub group: String,
    /// First line of the documentation.
    pub summary: String,
    /// The rest of the documentation.
    pub detail: String,
    /// The parameters. Parameters with defaults come last.
    pub params: Vec<Param>,
    /// True if all parameters could be parsed. Otherwise, uses of parameters are not checked.
    pub params_are_whole: bool,
    /// Name of the set of dtypes of `T`.
    pub set: String,
    /// The trait that generic code requires of `T`.
    pub bound: String,
    /// The trait that generic code requires of the second dtype `U`; `None` if the row has no second dtype.
    pub second: Option<String>,
    /// The name of the set of dtypes of `U`.
    pub second_set: Option<String>,
    /// The type of the result.
    pub result: Out,
    /// The text of the result in the table.
    pub result_text: String,
    /// The mapping of each library.
    pub maps: BTreeMap<String, Map>,
    /// Name of the op in NumPy; empty if the row does not state it.
    pub numpy: String,
    /// The reference as Python code, if it is not simply the NumPy function.
    pub golden: String,
    /// Further names that the search of the documentation finds.
    pub alias: Vec<String>,
    /// Rust code that uses the CPU backend as `b`, and runs as a documentation test.
    pub example: String,
    /// The facts that appear only on the op's reference page.
    pub reference: Reference,
    /// Name of the op's accuracy.
    pub accuracy: String,
    /// Error bounds by dtype, in units in the last place. They allow larger errors than the accuracy.
    pub ulp: Vec<(String, f64)>,
    /// The reason for the looser bounds.
    pub reason: String,
    /// The facts that the tests check on backends.
    pub facts: Facts,
    /// The values of the row in the columns that tables declare, each with the name of its column.
    pub columns: Vec<(String, String)>,
    /// The source of the op's gradients.
    pub gradient: Gradient,
    /// The gradients of single elements in real dtypes: for each input, its name and a scalar expression of `g` (the
    /// gradient of the result), `y` (the result) and the parameters. Inputs without an entry have no gradient. `None`
    /// if the gradients are not scalar expressions.
    pub by_element: Option<Vec<(String, Expr)>>,
    /// Lists of inputs. The op is linear in the inputs of each list jointly, if all other inputs are fixed.
    pub linear: Vec<Vec<String>>,
    /// The interval from which the tests of the op's gradients draw elements.
    pub domain: (f64, f64),
    /// The reason why the op's gradients at very small or very large numbers of a dtype differ from the gradients in
    /// float64; empty if they do not differ.
    pub extremes: String,
    /// Conformance cases; `None` for the default cases of the parameters' kinds.
    pub cases: Option<Vec<Text>>,
    /// True if the op belongs to the table being read, and not to the base table.
    pub own: bool,
}

impl Op {
    /// The parameters without a default.
    pub fn positional(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|p| p.default.is_none())
    }

    /// The parameters with a default, which become fields of the options struct.
    pub fn optional(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|p| p.default.is_some())
    }

    /// Returns whether the op has an options struct.
    pub fn has_options(&self) -> bool {
        self.optional().next().is_some()
    }

    /// Returns whether the options struct holds arrays.
    pub fn options_hold_arrays(&self) -> bool {
        self.optional().any(|p| matches!(p.kind, Kind::Array(_)))
    }

    /// The array parameter that the op changes in place; `None` if the op returns a result instead.
    pub fn target(&self) -> Option<&Param> {
        self.params.iter().find(|p| matches!(p.kind, Kind::Target(_)))
    }

    /// Returns the parameter with this name.
    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|p| p.name == name)
    }

    /// Returns whether the compiler infers `T` from the arguments.
    pub fn infers_dtype(&self) -> bool {
        self.positional().any(|p| p.kind.elem() == Some(Elem::T))
    }

    /// The element types of the arrays in the options, without repetitions. Each of them becomes a type parameter of
    /// the options struct.
    pub fn optional_elems(&self) -> Vec<Elem> {
        let mut elems = Vec::new();
        for param in self.optional() {
            elems.extend(param.kind.elem().filter(|elem| !elems.contains(elem)));
        }
        elems
    }

    /// The arrays and operands without a default, which are the inputs of an `each` expression.
    pub fn inputs(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|p| p.is_array() && p.default.is_none())
    }

    /// Returns whether the op is defined by a scalar expression. Formulas compute such ops in one loop.
    pub fn is_elementwise(&self) -> bool {
        self.maps.values().any(|map| matches!(map, Map::Each { .. }))
    }

    /// Returns whether the op can reduce a formula as it reduces an array. For this, its parameters must be an array,
    /// axes or one axis, `keepdims` and numbers.
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

    /// Returns whether the op works along exactly one axis.
    pub fn takes_one_axis(&self) -> bool {
        self.param("axis").is_some_and(|p| p.kind == Kind::Axis)
    }

    /// Returns whether the op works along one axis, or on the whole array, flattened.
    pub fn takes_axis_or_all(&self) -> bool {
        self.param("axis").is_some_and(|p| p.kind == Kind::AxisOrAll)
    }

    /// The name of a parameter in the row's CUDA text: `x0`, `x1` for arrays and `p0`, `p1` for other parameters. The
    /// name in the table is not used, because it may be a C++ keyword or a name in the runtime's CUDA sources.
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

/// The source from which a row's gradients are obtained.
#[derive(Clone, Default)]
pub enum Gradient {
    /// The row has no key `grad`, and its gradients were not or cannot be derived.
    #[default]
    Unsaid,
    /// The key `grad` of the row: the name of each input, with the text of its gradient rule. The check converts the
    /// texts to rules.
    Said(Vec<(Text, Text)>),
    /// The row has no gradients. Contains the reason, for the reference.
    None(String),
    /// The gradients follow from the ops that the row calls. Any backend that differentiates these ops also
    /// differentiates the row.
    OfParts,
    /// One rule for each input, in the order of the parameters.
    Rules(Vec<Rule>),
}

/// The rule that computes one input's gradient from the gradient of the result.
#[derive(Clone)]
pub struct Rule {
    /// The name of the input.
    pub input: String,
    /// The function that computes the gradient, in the form of a row: its parameters are the values that the rule
    /// needs from the call of the op, and its mapping is the computation. An error is the reason why the input has no
    /// gradient.
    pub function: Result<Box<Op>, String>,
}

/// The facts of a row that appear on its reference page. No code is generated from them, except that the ranks of a
/// parallel program agree on some of the `errors`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reference {
    /// The description of the result, if it cannot be derived from the row.
    pub returns: String,
    /// Variants of the runtime's `Error`, each with its condition, in addition to the errors that follow from the
    /// parameters.
    pub errors: Vec<(String, String)>,
    /// The library that a backend runs for the op; for example, `cuda` runs `cuFFT`.
    pub runs: Vec<(String, String)>,
    /// The names of the op in other libraries: `torch.sum`.
    pub also: Vec<String>,
}

/// The variants of the runtime's `Error` that a row may name. Any op may return the other variants.
pub const ERRORS: [&str; 6] = ["Argument", "Axis", "Index", "RepeatedAxis", "Shape", "Shapes"];

/// An expression in the table: its text and its tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// The text in the table.
    pub text: String,
    /// The tree, whose types are known after the table is checked.
    pub expr: Expr,
}

/// The mapping of a row for one library, which defines the computation of the op.
#[derive(Clone, Debug, PartialEq)]
pub enum Map {
    /// One scalar expression for all dtypes, or one for real and one for complex dtypes.
    Each {
        /// The expression for all dtypes, or for real dtypes if `complex` is given.
        real: Form,
        /// The expression for complex dtypes.
        complex: Option<Form>,
    },
    /// A reduction built from scalar expressions.
    Fold(Box<Fold>),
    /// The path of a function in the library's module.
    Call(String),
    /// A composition: an expression that calls other ops.
    Compose(Form),
    /// The path of a function that is generic over the backend.
    Generic(String),
    /// An op of libtorch.
    Aten(Aten),
}

/// The expressions of a reduction: `fold` in a row of the op table.
#[derive(Clone, Debug, PartialEq)]
pub struct Fold {
    /// Computes a value from one element; `None` if the value is the element itself.
    pub map: Option<Form>,
    /// Joins two values, which are named `a` and `b`.
    pub join: Form,
    /// The value of a reduction over no elements.
    pub identity: Form,
    /// Computes the result from the joined value `a` and the number of elements `n`; `None` if the result is `a`
    /// itself.
    pub finish: Option<Form>,
}

impl Map {
    /// Returns whether the mapping consists of scalar expressions, for which a library has loops or kernels.
    pub fn is_of_elements(&self) -> bool {
        matches!(self, Map::Each { .. } | Map::Fold(_))
    }

    /// Returns whether the mapping uses only other ops, and therefore runs on any backend.
    pub fn is_free(&self) -> bool {
        matches!(self, Map::Compose(_) | Map::Generic(_))
    }
}

/// An op of libtorch and its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Aten {
    /// Name of the op in libtorch.
    pub name: String,
    /// Name of the overload, which may be empty.
    pub overload: String,
    /// Arguments of the call.
    pub args: Vec<AtenArg>,
    /// The strategy for dtypes that libtorch does not support; one of [`VIA`].
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
    /// A number with a decimal point.
    Decimal(f64),
}

/// A parameter of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// The text of the parameter in the table.
    pub text: String,
    /// Name of the parameter.
    pub name: String,
    /// The text of the parameter's type in the table.
    pub ty: String,
    /// Type of the parameter.
    pub kind: Kind,
    /// Default of the parameter, if it has one.
    pub default: Option<DefaultValue>,
    /// The text of the default in the table.
    pub default_text: String,
    /// Position of the parameter in the table.
    pub span: Span,
}

impl Param {
    /// Returns whether the expressions of a `fold` row can use the parameter as a number. This is the case for all
    /// plain parameters except `keepdims`.
    pub fn is_fold_number(&self) -> bool {
        matches!(self.kind, Kind::Plain(_)) && self.name != "keepdims"
    }

    /// Returns whether the parameter is an array, or an operand that can be an array.
    pub fn is_array(&self) -> bool {
        matches!(self.kind, Kind::Array(_) | Kind::Operand(..))
    }
}

/// The strategies for dtypes that libtorch does not support: the variants of the runtime's `torch::DtypeStrategy`.
pub const VIA: [&str; 5] = ["direct", "wrap", "order", "float32", "parts"];

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
    /// Name of the array.
    pub name: String,
    /// Element type of the array.
    pub elem: Elem,
}

impl Out {
    /// The element types of the arrays in the result. A list of arrays has a single element type.
    pub fn elems(&self) -> Vec<Elem> {
        match self {
            Out::One(e) | Out::List(e) => vec![*e],
            Out::Fields(fields) => fields.iter().map(|f| f.elem).collect(),
            Out::Plain(_) => Vec::new(),
        }
    }

    /// The element type of the first array. For an array or a list, it is the only element type.
    pub fn elem(&self) -> Elem {
        self.elems().first().copied().unwrap_or(Elem::T)
    }
}

impl Model {
    /// The row with this name.
    pub fn op(&self, name: &str) -> Option<&Op> {
        self.ops.iter().find(|o| o.name == name)
    }

    /// The set with this name.
    pub fn set(&self, name: &str) -> Option<&Set> {
        self.sets.iter().find(|s| s.name == name)
    }

    /// The conformance cases of a row. A row without cases has the table's default cases for the kinds of its
    /// positional parameters.
    pub fn cases_of<'m>(&'m self, op: &'m Op) -> Vec<&'m str> {
        let kinds = || op.positional().map(|p| p.ty.as_str()).collect::<Vec<_>>().join(",");
        let cases = op.cases.as_ref().or_else(|| self.cases.get(&kinds()));
        cases.into_iter().flatten().map(|case| case.text.as_str()).collect()
    }

    /// The reference of a row: a NumPy expression, or the name of a NumPy function.
    pub fn reference_of(&self, op: &Op) -> String {
        match (op.golden.as_str(), op.numpy.as_str()) {
            ("", "") => format!("np.{}", op.name),
            ("", numpy) => format!("np.{numpy}"),
            (golden, _) => golden.into(),
        }
    }

    /// The signature that is stored with reference data, to detect later changes of the row.
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

    /// The dtypes of the set with this name.
    pub fn dtypes_of(&self, set: &str) -> &[String] {
        self.set(set).map_or(&[], |s| &s.dtypes)
    }
}
