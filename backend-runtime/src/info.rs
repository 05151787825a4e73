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
    /// The dtypes of `T`.
    pub dtypes: &'static [DType],
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
        dtypes: &'static [DType],
        backends: &'static [(&'static str, &'static str)],
        numpy: &'static str,
        accuracy: &'static str,
        doc: &'static str,
        kernel: Option<KernelInfo>,
    ) -> OpInfo {
        OpInfo { name, group, summary, signature, dtypes, backends, numpy, accuracy, doc, kernel }
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
