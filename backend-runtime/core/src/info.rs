//! The ops of a table as data that is available at run time: `OpInfo` and the types of its fields.

use crate::{DType, FoldKernel};
use std::fmt;

/// An op, as its row in the op table defines it: name, parameters, dtypes, result and documentation.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OpInfo {
    /// Name of the method.
    pub name: &'static str,
    /// Name of the op's group. The group's trait has the method. Empty for ops of a user's table.
    pub group: &'static str,
    /// First line of the documentation.
    pub summary: &'static str,
    /// The signature in the notation of the op table, such as `sum(x: array, axis: axes, keepdims: bool = false) ->
    /// array<sum>`.
    pub signature: &'static str,
    /// The possible dtypes `T` of a call.
    pub dtypes: &'static [DType],
    /// For an op whose caller selects the dtype of the result, the possible dtypes `U` of the result. Empty for all
    /// other ops.
    pub to_dtypes: &'static [DType],
    /// For each backend that has the op: the name of the backend, and the function or expression that the backend runs.
    pub backends: &'static [(&'static str, &'static str)],
    /// Name of the op in NumPy; empty if NumPy does not have the op.
    pub numpy: &'static str,
    /// Name of the accuracy that the op promises.
    pub accuracy: &'static str,
    /// The whole documentation, in Markdown.
    pub doc: &'static str,
    /// The scalar expression and other parts of the CUDA kernel, if the op is defined by an `each` row.
    pub kernel: Option<KernelInfo>,
    /// The reduction as a CUDA kernel, if the op is defined by a `fold` row.
    pub fold: Option<FoldKernel>,
    /// The parameters. Those with defaults come last.
    pub params: &'static [ParamInfo],
    /// The result.
    pub result: ResultInfo,
    /// The name and the op's value of each extra column that the op's table declares.
    pub columns: &'static [(&'static str, &'static str)],
    /// Names by which other libraries call the op.
    pub aliases: &'static [&'static str],
    /// If the op maps to an op of libtorch: name and overload of that op, and the number of arguments that it gets.
    pub aten: Option<(&'static str, &'static str, usize)>,
}

/// A parameter of an op.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ParamInfo {
    /// Name of the parameter.
    pub name: &'static str,
    /// Type of the parameter.
    pub kind: ParamKind,
    /// Default of the parameter, if it has one. In Rust, parameters with defaults are fields of the options struct.
    pub default: Option<DefaultInfo>,
}

/// The types of parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ParamKind {
    /// An array. If it has a default, the array is optional.
    Array(ElementInfo),
    /// An array or a scalar.
    Operand(ElementInfo),
    /// An array, a scalar or nothing, as a lower bound of other values.
    LowerBound(ElementInfo),
    /// An array, a scalar or nothing, as an upper bound of other values.
    UpperBound(ElementInfo),
    /// A list of arrays.
    Arrays(ElementInfo),
    /// Several axes, or all axes.
    Axes,
    /// One axis.
    Axis,
    /// One axis. If the call omits it, the array is flattened.
    AxisOrAll,
    /// Lengths of axes: a shape.
    Shape,
    /// Signed integers: lengths of axes, of which one may be -1, or shifts.
    Signed,
    /// Widths of borders along the axes: one number, or a pair of numbers (before, after) for each axis.
    Widths,
    /// A number that is converted to the dtype of an array.
    Number,
    /// A slice for each axis.
    Slices,
    /// A list of indices: slices, numbers, new axes, arrays, masks.
    Index,
    /// An array that the op changes in place. A call by name returns the changed array.
    Target(ElementInfo),
    /// Lengths of axes, or nothing.
    Lengths,
    /// A scalar of the op's dtype.
    Scalar,
    /// Anything that converts to an array: nested lists, an ndarray, a scalar.
    Host,
    /// A string of bytes.
    Bytes,
    /// A text, such as the subscripts of `einsum`.
    Text,
    /// A Rust number or bool.
    Plain(PlainInfo),
    /// A Rust number or bool, or nothing.
    Maybe(PlainInfo),
    /// One of the listed names.
    Choice(&'static [&'static str]),
}

/// The dtype of an array's elements, derived from the op's dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElementInfo {
    /// `T`, the op's dtype.
    T,
    /// `U`, the second dtype of an op that has two.
    U,
    /// The real dtype that belongs to the dtype `T`: for a complex dtype, the dtype of its parts.
    Real,
    /// The complex dtype that belongs to the dtype `T`.
    Complex,
    /// The dtype of a sum of elements of the dtype `T`.
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

/// The Rust types of parameters and results that are plain numbers or bools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum PlainInfo {
    F64,
    Usize,
    Isize,
    I64,
    U64,
    Bool,
}

/// The default of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum DefaultInfo {
    /// No value: the argument is absent.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Integer(i128),
    /// Any number.
    Number(f64),
    /// All axes.
    All,
    /// Some axes.
    Axes(&'static [i8]),
    /// A choice by name.
    Choice(&'static str),
}

/// The result of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResultInfo {
    /// An array.
    One(ElementInfo),
    /// Several arrays, each with a name. A call by name returns a list of the arrays in this order.
    Fields(&'static [(&'static str, ElementInfo)]),
    /// A list of arrays.
    List(ElementInfo),
    /// A number or truth value.
    Plain(PlainInfo),
}

impl ElementInfo {
    /// Returns the dtype in a call whose op's dtype is `t`. For the second dtype `U`, the result is `t` too.
    pub fn dtype(self, t: DType) -> DType {
        match self {
            ElementInfo::T | ElementInfo::U => t,
            ElementInfo::Real => t.to_real(),
            ElementInfo::Complex if matches!(t, DType::Float64 | DType::Complex128) => DType::Complex128,
            ElementInfo::Complex => DType::Complex64,
            ElementInfo::Sum => t.to_sum(),
            ElementInfo::Bool => DType::Bool,
            ElementInfo::UInt8 => DType::UInt8,
            ElementInfo::Int32 => DType::Int32,
            ElementInfo::Int64 => DType::Int64,
        }
    }
}

impl ParamInfo {
    /// Makes a parameter with these fields, for generated code.
    #[doc(hidden)]
    pub const fn new(name: &'static str, kind: ParamKind, default: Option<DefaultInfo>) -> ParamInfo {
        ParamInfo { name, kind, default }
    }
}

/// The parts of the CUDA kernel of an op that an `each` row defines.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct KernelInfo {
    /// The expression in CUDA C++.
    pub source: &'static str,
    /// The expression for complex dtypes, in CUDA C++.
    pub complex: &'static str,
    /// Names of the array parameters.
    pub inputs: &'static [&'static str],
    /// The element type of each array parameter.
    pub elements: &'static [ElementInfo],
    /// Names of the scalar parameters.
    pub params: &'static [&'static str],
    /// The supported pairs of an input's dtype and the result's dtype.
    pub dtypes: &'static [(DType, DType)],
    /// Indices of the inputs whose elements the kernel only moves; see [`EachSource::MOVED`](crate::EachSource::MOVED).
    pub moved: &'static [usize],
}

impl OpInfo {
    /// Makes the description without its optional fields. Generated code calls this function.
    #[doc(hidden)]
    #[allow(clippy::too_many_arguments)]
    pub const fn new(
        name: &'static str,
        group: &'static str,
        summary: &'static str,
        signature: &'static str,
        dtypes: &'static [DType],
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
            dtypes,
            to_dtypes: &[],
            backends,
            numpy,
            accuracy,
            doc,
            kernel,
            fold: None,
            params: &[],
            result: ResultInfo::One(ElementInfo::T),
            columns: &[],
            aliases: &[],
            aten: None,
        }
    }

    /// Sets the parameters.
    #[doc(hidden)]
    pub const fn with_params(self, params: &'static [ParamInfo]) -> OpInfo {
        OpInfo { params, ..self }
    }

    /// Sets the reduction.
    #[doc(hidden)]
    pub const fn with_fold(self, fold: FoldKernel) -> OpInfo {
        OpInfo { fold: Some(fold), ..self }
    }

    /// Sets the dtypes of `U`.
    #[doc(hidden)]
    pub const fn with_to_dtypes(self, to_dtypes: &'static [DType]) -> OpInfo {
        OpInfo { to_dtypes, ..self }
    }

    /// Sets the description of the result.
    #[doc(hidden)]
    pub const fn with_result(self, result: ResultInfo) -> OpInfo {
        OpInfo { result, ..self }
    }

    /// Sets the values of the extra columns that the table declares.
    #[doc(hidden)]
    pub const fn with_columns(self, columns: &'static [(&'static str, &'static str)]) -> OpInfo {
        OpInfo { columns, ..self }
    }

    /// Sets the names of the op in other libraries.
    #[doc(hidden)]
    pub const fn with_aliases(self, aliases: &'static [&'static str]) -> OpInfo {
        OpInfo { aliases, ..self }
    }

    /// Returns whether a backend of the table (`"numpyish"`, `"cuda"` or `"torch"`) supports the op for arrays of the
    /// dtype `dtype`. This holds for all devices of the backend.
    ///
    /// ```
    /// # use backend_core::{DType, OpInfo};
    /// # fn of(info: &OpInfo) {
    /// let has = info.supports("cuda", DType::Float16); // `ops::sum::INFO.supports(..)` may be a constant
    /// # }
    /// ```
    pub const fn supports(&self, backend: &str, dtype: DType) -> bool {
        let mut i = 0;
        let mut has_dtype = false;
        while i < self.dtypes.len() {
            has_dtype |= self.dtypes[i] as u8 == dtype as u8;
            i += 1;
        }
        i = 0;
        while i < self.backends.len() {
            if has_dtype && crate::same_names(&[self.backends[i].0], &[backend]) {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Sets the op of libtorch to which the op maps.
    #[doc(hidden)]
    pub const fn with_aten(self, aten: Option<(&'static str, &'static str, usize)>) -> OpInfo {
        OpInfo { aten, ..self }
    }
}

/// The op's page: its signature and its documentation in Markdown.
impl fmt::Display for OpInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n\n{}", self.signature, self.doc.trim())
    }
}

impl KernelInfo {
    /// Makes the description of a kernel, for generated code.
    #[doc(hidden)]
    pub const fn new(
        source: &'static str,
        complex: &'static str,
        inputs: &'static [&'static str],
        elements: &'static [ElementInfo],
        params: &'static [&'static str],
        dtypes: &'static [(DType, DType)],
    ) -> KernelInfo {
        KernelInfo { source, complex, inputs, elements, params, dtypes, moved: &[] }
    }

    /// Sets the inputs whose elements the kernel only moves.
    #[doc(hidden)]
    pub const fn with_moved(self, moved: &'static [usize]) -> KernelInfo {
        KernelInfo { moved, ..self }
    }

    /// Returns the index of the first input whose dtype is the op's dtype `T`.
    pub fn input_of_t(&self) -> usize {
        self.elements.iter().position(|element| *element == ElementInfo::T).unwrap_or(0)
    }
}
