//! The programs that contain kernels: their source texts in CUDA C++, and the names of their kernels.

use backend_core::{DType, DTypeKind, EachSource, FoldKernel, formula::RowSource};
use std::fmt::Write;

/// The beginning of every program: dtypes and the scalar functions.
pub const PRELUDE: &str = concat!(
    include_str!("kernels/dtypes.cuh"),
    include_str!("kernels/words.cuh"),
    include_str!("kernels/complex.cuh"),
    include_str!("kernels/walk.cuh"),
);

/// The special functions. Only programs that use them contain their text, because it takes longer to compile than the
/// prelude.
const SPECIAL: [&str; 2] = [include_str!("kernels/polynomials.cuh"), include_str!("kernels/special_words.cuh")];

/// Returns the text of the special functions if the expressions in `text` use one of them, and an empty text otherwise.
/// The text follows the prelude.
pub(super) fn special_words(text: &str) -> String {
    let mut calls = text.split("op_").skip(1);
    let is_special = |call: &str| {
        let word = call.split(|c: char| c != '_' && !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        [format!("SPECIAL1({word})"), format!("SPECIAL2({word})")].iter().any(|line| SPECIAL[1].contains(line))
    };
    if calls.any(is_special) { SPECIAL.concat() } else { String::new() }
}

/// The C++ type of a dtype.
pub const fn c_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::Int8 => "signed char",
        DType::Int16 => "short",
        DType::Int32 => "int",
        DType::Int64 => "long long",
        DType::UInt8 => "unsigned char",
        DType::UInt16 => "unsigned short",
        DType::UInt32 => "unsigned int",
        DType::UInt64 => "unsigned long long",
        DType::Float16 => "f16",
        DType::BFloat16 => "bf16",
        DType::Float32 => "float",
        DType::Float64 => "double",
        DType::Complex64 => "complex<float>",
        DType::Complex128 => "complex<double>",
        // a dtype without a type in C++; NVRTC refuses elements of this type
        _ => "void",
    }
}

/// A source text with kernel templates: `template <typename T> __global__ void take(..)`.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Name of the program; together with the text that `variant` returns, it identifies the program.
    pub name: &'static str,
    /// The source text.
    pub source: ProgramSource,
}

/// The source text of a [`Program`].
#[derive(Clone, Copy, Debug)]
pub enum ProgramSource {
    /// A file with kernel templates.
    File(&'static str),
    /// A scalar expression, which is evaluated for each element (elementwise ops).
    Each(Expression),
    /// A reduction that an op of the op table defines.
    Fold(FoldKernel),
    /// A formula: several ops, which are evaluated together for each element.
    Formula(Formula),
    /// A reduction of a formula's values. The reduction is built into the kernels (`None`) or defined by an op.
    FormulaFold(Formula, Option<FoldKernel>),
}

/// The C++ source of a formula: a struct for each of its ops, and a struct for the whole formula.
#[derive(Clone, Copy, Debug)]
pub struct Formula {
    /// The C++ text of the structs.
    pub structs: &'static str,
    /// A short key, which is different for different texts.
    pub key: &'static str,
}

/// The scalar expression of an elementwise op, as C++ text. It may use the inputs, the parameters, and the types `T`
/// (the op's dtype) and `U` (the result's dtype).
#[derive(Clone, Copy, Debug)]
pub struct Expression {
    /// The expression.
    pub text: &'static str,
    /// Names of the inputs, in order.
    pub inputs: &'static [&'static str],
    /// Names of the scalar parameters, in order.
    pub params: &'static [&'static str],
    /// Index of the input whose dtype is `T`.
    pub input_of_t: usize,
}

impl Expression {
    /// Returns the expression of the op `F` if its first operand has dtype `dtype`.
    pub(super) const fn of<F: EachSource>(dtype: DType) -> Expression {
        Expression::of_row(&RowSource::of::<F>(), dtype)
    }

    /// Returns the expression of the op described by `row` if its first operand has dtype `dtype`.
    pub(super) const fn of_row(row: &RowSource, dtype: DType) -> Expression {
        let text = if matches!(dtype.kind(), DTypeKind::Complex) { row.cuda_complex } else { row.cuda };
        Expression { text, inputs: row.inputs, params: row.params, input_of_t: row.input_of_t }
    }

    /// Returns the expression of the gradient with respect to one operand. It is a function of the operands, the result
    /// and the gradient of the result. The op must define this gradient.
    pub(super) fn of_gradient(row: &RowSource, operand: usize) -> Expression {
        const NAMES: [&str; 5] = ["x0", "x1", "x2", "x3", "x4"];
        let (text, inputs) = (row.cuda_pulls[operand], &NAMES[..row.inputs.len() + 2]);
        Expression { text, inputs, params: row.params, input_of_t: row.input_of_t }
    }

    /// Returns the C++ text of a struct with the expression. The struct is a template argument of the kernels, and its
    /// members are the op's parameters.
    pub fn functor(&self, name: &str) -> String {
        let list =
            |f: fn((usize, &&str)) -> String| self.inputs.iter().enumerate().map(f).collect::<Vec<_>>().join(", ");
        let types = list(|(i, _)| format!("typename X{i}"));
        let inputs = list(|(i, input)| format!("X{i} {input}"));
        let members: String = self.params.iter().map(|param| format!("double {param}; ")).collect();
        let t = if self.inputs.is_empty() { String::new() } else { format!("typedef X{} T; ", self.input_of_t) };
        format!(
            "struct {name} {{ {members}template <typename U{comma}{types}> U apply({inputs}) const \
             {{ {t}return static_cast<U>({text}); }} }};\n",
            comma = if types.is_empty() { "" } else { ", " },
            text = self.text,
        )
    }
}

impl Program {
    /// Creates a program that evaluates the expression `text` for each element of its inputs.
    pub const fn each(name: &'static str, text: &'static str, inputs: &'static [&'static str]) -> Program {
        Program { name, source: ProgramSource::Each(Expression { text, inputs, params: &[], input_of_t: 0 }) }
    }

    /// Returns a text that is different for different programs of the same name.
    pub(super) fn variant(&self) -> &'static str {
        match self.source {
            ProgramSource::File(_) => "",
            ProgramSource::Each(expression) => expression.text,
            ProgramSource::Fold(fold) => fold.map,
            ProgramSource::Formula(formula) | ProgramSource::FormulaFold(formula, _) => formula.key,
        }
    }

    /// The whole source text, ready to compile.
    pub fn text(&self) -> String {
        match self.source {
            ProgramSource::File(text) => format!("{PRELUDE}{text}"),
            ProgramSource::Each(expression) => {
                format!("{PRELUDE}{}{EACH}{}", special_words(expression.text), expression.functor("k_row"))
            }
            ProgramSource::Formula(formula) => {
                format!("{PRELUDE}{}{EACH}{}", special_words(formula.structs), formula.structs)
            }
            ProgramSource::Fold(fold) => {
                let (struct_, special) = (fold_struct(&fold, "k_fold"), special_words(fold.map));
                format!("{PRELUDE}{special}{}{}{struct_}{}", FOLD_PARTS[0], FOLD_PARTS[1], FOLD_PARTS[2])
            }
            ProgramSource::FormulaFold(formula, fold) => {
                let struct_ = fold.map(|fold| fold_struct(&fold, "k_fold")).unwrap_or_default();
                let special = special_words(&format!("{} {struct_}", formula.structs));
                let [locate, folds, kernels] = FOLD_PARTS;
                format!("{PRELUDE}{special}{locate}{folds}{struct_}{kernels}{REDUCE_FORMULA}{}", formula.structs)
            }
        }
    }
}

/// The source texts of the program of an op's reduction: two texts before the reduction's struct, and one text, with
/// the kernels, after it.
const FOLD_PARTS: [&str; 3] =
    [include_str!("kernels/locate.cuh"), include_str!("kernels/fold.cuh"), include_str!("kernels/reduce.cuh")];

/// The kernel that reduces the values of a formula.
const REDUCE_FORMULA: &str = include_str!("kernels/reduce_formula.cuh");

/// The texts before and after the struct of an op's reduction.
pub(super) fn around_folds() -> [String; 2] {
    [format!("{PRELUDE}{}{}", FOLD_PARTS[0], FOLD_PARTS[1]), FOLD_PARTS[2].into()]
}

/// Returns the C++ struct of an op's reduction. The kernels take the struct as a template argument. The struct does not
/// contain the expression [`FoldKernel::finish`], which is evaluated later for each value that the kernels compute.
pub(super) fn fold_struct(fold: &FoldKernel, name: &str) -> String {
    let FoldKernel { acc, identity, map, join, params, .. } = fold;
    let of = if *map == "x0" { "Acc" } else { "E" };
    let members: String = params.iter().map(|param| format!("double {param}; ")).collect();
    let open: String = params.iter().map(|param| format!("double {param} = given.{param}; ")).collect();
    format!(
        "struct {name}_given {{ {members}}};\n\
         {name}_given given_of(const {name}_given* givens, u64) {{ return *givens; }}\n\
         template <typename X> struct {name} {{\n\
         typedef typename OrderOf<X>::Type E; typedef {name}_given Given; typedef {acc} Acc; typedef Acc Out; \
         typedef {of} T;\n\
         static Acc none() {{ return cast<Acc>({identity}); }}\n\
         static Acc load(X x, u64, Given given) {{ T x0 = cast<T>(x); {open}return cast<Acc>({map}); }}\n\
         static Acc join(Acc x0, Acc x1) {{ return {join}; }}\n\
         static Out finish(Acc a, double) {{ return a; }}\n}};\n"
    )
}

/// The kernels that evaluate an expression for each element.
pub const EACH: &str = include_str!("kernels/each.cuh");

/// One kernel: a kernel template of a program, with its template arguments, `template<tag, types..>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instance {
    /// Name of the template.
    pub template: &'static str,
    /// Template arguments before the types, as C++ text; may be empty.
    pub tag: &'static str,
    types: [Option<DType>; Instance::MAX_DTYPES],
}

impl Instance {
    /// Maximum number of dtypes of an instance: the dtypes of the result and of eight inputs.
    const MAX_DTYPES: usize = 9;

    /// Creates an instance of a template for at most nine dtypes.
    pub const fn new(template: &'static str, tag: &'static str, dtypes: &[DType]) -> Instance {
        let mut types = [None; Instance::MAX_DTYPES];
        let mut i = 0;
        while i < dtypes.len() && i < types.len() {
            types[i] = Some(dtypes[i]);
            i += 1;
        }
        Instance { template, tag, types }
    }

    /// The instance's name in C++, such as `take<float>`.
    pub fn expression(&self) -> String {
        let types = self.types.iter().flatten().map(|&dtype| c_type(dtype));
        let tag = (!self.tag.is_empty()).then_some(self.tag);
        let arguments: Vec<&str> = tag.into_iter().chain(types).collect();
        let mut text = self.template.to_string();
        if !arguments.is_empty() {
            // `>>` in nested templates is valid since C++11
            let _ = write!(text, "<{}>", arguments.join(", "));
        }
        text
    }
}

/// The dtype that represents all dtypes of the same size, in kernels that only move elements.
pub(super) const fn mover(dtype: DType) -> DType {
    match dtype.size() {
        1 => DType::UInt8,
        2 => DType::UInt16,
        4 => DType::UInt32,
        8 => DType::UInt64,
        _ => DType::Complex128,
    }
}

/// The dtypes that `mover` returns, one for each element size.
pub(super) const MOVERS: [DType; 5] = [DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64, DType::Complex128];

/// A program, and a function that lists its kernels that ops can request at run time.
pub(super) type KernelList = (&'static Program, fn() -> Vec<Instance>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_words_come_where_they_are_used() {
        assert_eq!(special_words("op_plus(op_exp(x0), x1)"), "");
        assert!(special_words("op_plus(op_i0e(x0), x1)").contains("op_i0e(double x)"));
        let used = Program::each("k", "op_gammainc(x0, x1)", &["x0", "x1"]);
        assert!(used.text().contains("incomplete_gamma"));
        assert!(!Program::each("k", "op_erf(x0)", &["x0"]).text().contains("incomplete_gamma"));
    }

    #[test]
    fn instances_are_named_as_in_cpp() {
        let dtypes = [DType::Float32, DType::Complex64];
        assert_eq!(Instance::new("cast", "", &dtypes).expression(), "cast<float, complex<float>>");
        assert_eq!(Instance::new("each", "2, k_row", &[DType::Int8]).expression(), "each<2, k_row, signed char>");
        assert_eq!(Instance::new("iota", "", &[]).expression(), "iota");
    }
}
