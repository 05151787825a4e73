//! What a table means: ops as data, no tokens and no TOML.

use std::{collections::BTreeMap, ops::Range};

/// Everything a table says; a user's table is added to the base table's.
#[derive(Default)]
pub struct Model {
    pub backends: Vec<Backend>,
    pub dtypes: Vec<DType>,
    pub sets: Vec<Set>,
    /// Word of `each` expressions to the set of dtypes that have it.
    pub words: BTreeMap<String, String>,
    pub accuracies: Vec<Accuracy>,
    /// Kinds of the positional parameters to the conformance cases of such rows.
    pub cases: BTreeMap<String, Vec<String>>,
    pub groups: Vec<Group>,
    pub ops: Vec<Op>,
}

/// A library: a column of the table.
#[derive(Clone)]
pub struct Backend {
    pub name: String,
    pub ty: String,
    pub module: String,
    pub summary: String,
    /// Whether `each` rows become loops or kernels of this library.
    pub each: bool,
    /// Whether it takes `aten` mappings.
    pub aten: bool,
    pub own: bool,
    pub span: Range<usize>,
}

pub struct DType {
    pub name: String,
    /// Its Rust type.
    pub rust: String,
}

/// A named set of dtypes and the bound it puts on `T`.
pub struct Set {
    pub name: String,
    pub bound: String,
    pub dtypes: Vec<String>,
}

pub struct Accuracy {
    pub name: String,
    pub summary: String,
    pub ulp: Option<f64>,
    pub rtol: Vec<(String, f64)>,
    pub sqrt_n: bool,
    pub shape: bool,
}

pub struct Group {
    pub name: String,
    pub summary: String,
    pub accuracy: String,
}

/// One row.
pub struct Op {
    pub name: String,
    pub group: String,
    pub summary: String,
    pub detail: String,
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
    pub result: Out,
    /// The result as the table says it.
    pub result_text: String,
    pub maps: BTreeMap<String, Map>,
    pub numpy: String,
    pub golden: String,
    pub alias: Vec<String>,
    /// Rust code over `b`, the CPU's backend, which is run as a test of the documentation.
    pub example: String,
    pub accuracy: String,
    pub ulp: Vec<(String, f64)>,
    pub reason: String,
    /// Conformance cases; `None`: those of the kinds of its parameters.
    pub cases: Option<Vec<String>>,
    pub own: bool,
}

impl Op {
    pub fn positional(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|p| p.default.is_none())
    }

    pub fn optional(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|p| p.default.is_some())
    }

    pub fn has_options(&self) -> bool {
        self.optional().next().is_some()
    }

    pub fn options_hold_arrays(&self) -> bool {
        self.optional().any(|p| matches!(p.kind, Kind::Array(_)))
    }

    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|p| p.name == name)
    }

    /// Whether the compiler finds `T` from the arguments.
    pub fn infers_dtype(&self) -> bool {
        let of_t = |k: &Kind| {
            matches!(
                k,
                Kind::Array(Elem::T) | Kind::Operand(Elem::T) | Kind::Arrays(Elem::T) | Kind::Scalar | Kind::Host
            )
        };
        self.positional().any(|p| of_t(&p.kind))
    }

    /// The array parameters, which an `each` expression is over.
    pub fn inputs(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|p| p.is_array() && p.default.is_none())
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

/// How a library runs a row.
#[derive(Clone, Debug)]
pub enum Map {
    /// A scalar expression, or one for real and one for complex dtypes.
    Each { real: String, complex: Option<String> },
    /// A function of the library's module.
    Call(String),
    /// An expression in other ops.
    Compose(String),
    /// A function over any backend.
    Generic(String),
    /// libtorch's own op.
    Aten { name: String, overload: String, args: Vec<String>, via: String },
}

pub struct Param {
    /// The parameter as the table says it.
    pub text: String,
    pub name: String,
    pub kind: Kind,
    pub default: Option<String>,
}

impl Param {
    /// The type as the table says it.
    pub fn type_text(&self) -> &str {
        let ty = self.text.split_once(':').map_or("", |(_, ty)| ty);
        ty.split('=').next().unwrap_or("").trim()
    }

    pub fn is_array(&self) -> bool {
        matches!(self.kind, Kind::Array(_) | Kind::Operand(_))
    }
}

/// Type of a parameter; docs/table.md says what each is in Rust.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Array(Elem),
    Operand(Elem),
    Arrays(Elem),
    Axes,
    Axis,
    Shape,
    /// `isize` lists: `newshape`, `shifts`.
    Signed,
    Slices,
    Lengths,
    Scalar,
    Host,
    Bytes,
    /// A number or bool of Rust.
    Plain(String),
    /// The same, or none.
    Maybe(String),
    /// A closed choice: the Rust type.
    Choice(String),
}

/// Types of parameters that are a word alone.
pub const KINDS: [(&str, Kind); 9] = [
    ("axes", Kind::Axes),
    ("axis", Kind::Axis),
    ("shape", Kind::Shape),
    ("newshape", Kind::Signed),
    ("shifts", Kind::Signed),
    ("slices", Kind::Slices),
    ("scalar", Kind::Scalar),
    ("host", Kind::Host),
    ("bytes", Kind::Bytes),
];

/// The closed choices, their Rust types, and what may be chosen.
pub const CHOICES: [(&str, &str, &[&str]); 5] = [
    ("norm", "Norm", &["backward", "ortho", "forward"]),
    ("indexing", "MeshIndexing", &["xy", "ij"]),
    ("side", "Side", &["left", "right"]),
    ("interpolation", "Interpolation", &["linear", "lower", "higher", "midpoint", "nearest"]),
    ("pad_mode", "PadMode", &["constant", "edge", "reflect", "symmetric", "wrap"]),
];

/// The bounds that a set may put on `T`: traits of the runtime.
pub const BOUNDS: [&str; 10] =
    ["Element", "Numeric", "RealNumeric", "Ordered", "Bits", "Integer", "Float", "Real", "ComplexFloat", "Precision"];

/// How dtypes that libtorch lacks are computed: the variants of the runtime's `torch::DtypeStrategy`.
pub const VIA: [&str; 5] = ["direct", "wrap", "order", "float32", "parts"];

/// Rust's own types that a parameter may have.
pub const PLAIN: [&str; 6] = ["f64", "usize", "isize", "i64", "u64", "bool"];

/// Element type of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elem {
    T,
    U,
    Real,
    Complex,
    Sum,
    Bool,
    Int64,
}

/// Names of element types in `array<..>`.
pub const ELEMS: [(&str, Elem); 6] = [
    ("U", Elem::U),
    ("real", Elem::Real),
    ("complex", Elem::Complex),
    ("sum", Elem::Sum),
    ("bool", Elem::Bool),
    ("int64", Elem::Int64),
];

pub enum Out {
    One(Elem),
    Tuple(Vec<Elem>),
    List(Elem),
}

impl Out {
    /// The element type of the first array, which is all of them for one array and for lists.
    pub fn elem(&self) -> Elem {
        match self {
            Out::One(e) | Out::List(e) => *e,
            Out::Tuple(v) => v[0],
        }
    }
}

impl Model {
    pub fn op(&self, name: &str) -> Option<&Op> {
        self.ops.iter().find(|o| o.name == name)
    }

    pub fn set(&self, name: &str) -> Option<&Set> {
        self.sets.iter().find(|s| s.name == name)
    }

    /// The dtypes of a set, by name.
    pub fn dtypes_of(&self, set: &str) -> &[String] {
        self.set(set).map_or(&[], |s| &s.dtypes)
    }
}

/// The dtype that an element type stands for, where `T` is `dtype`.
pub fn dtype_of(elem: Elem, dtype: &str) -> &str {
    match (elem, dtype) {
        (Elem::Bool, _) => "bool",
        (Elem::Int64, _) => "int64",
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
