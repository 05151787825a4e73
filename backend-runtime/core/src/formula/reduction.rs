//! A description of a reduction as data, for libraries that reduce a formula in a kernel.

use crate::{Axes, FoldKernel};

/// A reduction and the arguments of its call.
#[derive(Clone, Debug)]
pub struct Reduction {
    /// Name of the op.
    pub op: &'static str,
    /// The function that the reduction computes.
    pub kind: ReductionKind,
    /// The axes to reduce.
    pub axis: Axes,
    /// True if the result has the reduced axes, with length 1.
    pub keepdims: bool,
}

/// The function that a reduction computes.
#[derive(Clone, Debug)]
pub enum ReductionKind {
    /// The name of a reduction function of the CPU backend, such as `"reduction::var_of"`, and the values of the op's
    /// parameters.
    Function(&'static str, Vec<f64>),
    /// A reduction that a `fold` row of the op table defines, as a kernel, and the values of its parameters.
    Fold(FoldKernel, Vec<f64>),
}
