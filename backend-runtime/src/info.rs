//! The rows of an op table as data.

use crate::DType;

/// One row: what generated code, tools and tests know of an op.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OpInfo {
    /// Name of the method.
    pub name: &'static str,
    /// Group, which is the trait it is in; empty for ops of a user's table.
    pub group: &'static str,
    /// First line of the documentation.
    pub summary: &'static str,
    /// `sum(x: array, axis: axes, keepdims: bool = false) -> array<sum>`
    pub signature: &'static str,
    /// The parameters, in the order of a call; those with a default are options.
    pub params: &'static [ParamInfo],
    /// What a call gives.
    pub result: ResultInfo,
    /// The dtypes of `T`.
    pub dtypes: &'static [DType],
    /// The dtypes of `U`, that of the result of an op that converts; empty for all others.
    pub to_dtypes: &'static [DType],
    /// Library and what it runs.
    pub backends: &'static [(&'static str, &'static str)],
    /// NumPy's name; empty where NumPy has none.
    pub numpy: &'static str,
    /// Name of the accuracy promised.
    pub accuracy: &'static str,
    /// The whole documentation, in Markdown.
    pub doc: &'static str,
    /// The scalar expression as a CUDA kernel, for `each` rows.
    pub kernel: Option<KernelInfo>,
}

/// A parameter of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ParamInfo {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: ParamKind,
    /// Its default, as the table says it; `None` where it has to be given.
    pub default: Option<&'static str>,
}

/// What a parameter is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ParamKind {
    /// An array.
    Array(ElementOf),
    /// An array or a number.
    Operand(ElementOf),
    /// A list of arrays.
    Arrays(ElementOf),
    /// What an array is made of: ndarrays, numbers, lists of them.
    Host,
    /// Bytes.
    Bytes,
    /// A number of the call's dtype.
    Scalar,
    /// Axes: all, one, or a list.
    Axes,
    /// One axis.
    Axis,
    /// Lengths of axes.
    Shape,
    /// A list of integers.
    Integers,
    /// Parts of axes.
    Slices,
    /// Lengths of transformed axes.
    Lengths,
    /// A number or a flag: `"f64"`, `"usize"`, `"isize"`, `"i64"`, `"u64"`, `"bool"`.
    Plain(&'static str),
    /// One of these names.
    Choice(&'static [&'static str]),
}

/// The dtype of elements, in terms of the call's dtype `T`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElementOf {
    /// `T`
    T,
    /// The dtype that an op converts to.
    U,
    /// That of the real part, or of a magnitude.
    Real,
    /// The complex dtype of a real one.
    Complex,
    /// That of sums: integers of 64 bits for shorter ones.
    Sum,
    /// bool
    Bool,
    /// int64
    Int64,
}

/// What a call gives.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ResultInfo {
    /// An array.
    One(ElementOf),
    /// Several arrays.
    Several(&'static [ElementOf]),
    /// A list of arrays, whose number depends on the arguments.
    List(ElementOf),
}

impl ParamInfo {
    /// Made by the generator.
    #[doc(hidden)]
    pub const fn new(name: &'static str, kind: ParamKind, default: Option<&'static str>) -> ParamInfo {
        ParamInfo { name, kind, default }
    }
}

/// What the CUDA kernel of an `each` row is made of.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct KernelInfo {
    /// The expression in CUDA C++.
    pub source: &'static str,
    /// The expression for complex dtypes.
    pub complex: &'static str,
    /// Names of the array parameters.
    pub inputs: &'static [&'static str],
    /// Names of the scalar parameters.
    pub params: &'static [&'static str],
    /// Dtypes of input and result.
    pub dtypes: &'static [(DType, DType)],
}

impl OpInfo {
    /// Made by the generator.
    #[doc(hidden)]
    #[allow(clippy::too_many_arguments)]
    pub const fn new(
        name: &'static str,
        group: &'static str,
        summary: &'static str,
        signature: &'static str,
        params: &'static [ParamInfo],
        result: ResultInfo,
        dtypes: &'static [DType],
        to_dtypes: &'static [DType],
        backends: &'static [(&'static str, &'static str)],
        numpy: &'static str,
        accuracy: &'static str,
        doc: &'static str,
        kernel: Option<KernelInfo>,
    ) -> OpInfo {
        OpInfo {
            name,
            group,
            summary,
            signature,
            params,
            result,
            dtypes,
            to_dtypes,
            backends,
            numpy,
            accuracy,
            doc,
            kernel,
        }
    }
}

impl KernelInfo {
    /// Made by the generator.
    #[doc(hidden)]
    pub const fn new(
        source: &'static str,
        complex: &'static str,
        inputs: &'static [&'static str],
        params: &'static [&'static str],
        dtypes: &'static [(DType, DType)],
    ) -> KernelInfo {
        KernelInfo { source, complex, inputs, params, dtypes }
    }
}
