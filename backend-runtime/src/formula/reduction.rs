//! A reduction as data, for libraries that reduce a formula in a kernel.

use crate::{Axes, FoldKernel};

/// A reduction and its arguments.
#[derive(Clone, Debug)]
pub struct Reduction {
    /// Name of the row.
    pub op: &'static str,
    /// What many elements become.
    pub kind: ReductionKind,
    /// The axes that go.
    pub axis: Axes,
    /// Whether they stay with length 1.
    pub keepdims: bool,
}

/// What many elements become.
#[derive(Clone, Debug)]
pub enum ReductionKind {
    /// What this function of the host's loops makes of them, `"reduction::var_of"`, and the row's numbers.
    Function(&'static str, Vec<f64>),
    /// What a `fold` row says, and its parameters.
    Fold(FoldKernel, Vec<f64>),
}
