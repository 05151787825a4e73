//! A description of a reduction as data, for libraries that reduce a formula in a kernel.

use crate::{Axes, FoldKernel};

/// A reduction and its arguments.
#[derive(Clone, Debug)]
pub struct Reduction {
    /// Name of the op.
    pub op: &'static str,
    /// The function that is computed.
    pub kind: ReductionKind,
    /// The axes to reduce.
    pub axis: Axes,
    /// Whether reduced axes are kept with length 1.
    pub keepdims: bool,
}

/// The function that a reduction computes.
#[derive(Clone, Debug)]
pub enum ReductionKind {
    /// The name of a function of the host's loops, such as `"reduction::var_of"`, and the values of the op's
    /// parameters.
    Function(&'static str, Vec<f64>),
    /// The kernel of a `fold` row of the op table, and the values of its parameters.
    Fold(FoldKernel, Vec<f64>),
}
