//! Gradients in the model: the source of each row's gradients, and the inputs that have gradients.

use crate::{
    model::{Elem, Kind, Model, Op, Param, Set, has_bound},
    text::Text,
};

/// The source of a row's gradients.
#[derive(Clone, Default)]
pub enum Gradient {
    /// The row gives no gradients, and none can be derived.
    #[default]
    Unsaid,
    /// The texts that the row gives, by input. Checking the row converts them to rules.
    Said(Vec<(Text, Text)>),
    /// The row has no gradients. Contains the reason, for the reference.
    None(String),
    /// The gradients follow from the ops of the row's composition, on any backend.
    OfParts,
    /// One rule for each input, in the order of the parameters.
    Rules(Vec<Rule>),
}

/// The computation of one input's gradient from the gradient of the result.
#[derive(Clone)]
pub struct Rule {
    /// The input.
    pub input: String,
    /// The function as a row, whose parameters are the values that it needs from the call, and whose mapping is the
    /// computation. For an input without a gradient, the reason.
    pub function: Result<Box<Op>, String>,
}

impl Op {
    /// The array parameters that may need a gradient, including options.
    pub fn differentiable(&self) -> impl Iterator<Item = &Param> {
        let is_float = |elem| matches!(elem, Elem::T | Elem::Real | Elem::Complex);
        self.params.iter().filter(move |p| match p.kind {
            Kind::Array(e) | Kind::Operand(e, _) | Kind::Arrays(e) | Kind::Target(e) => is_float(e),
            _ => false,
        })
    }
}

impl Elem {
    /// Returns whether the element type is a float dtype whenever the row's dtype is a float dtype.
    pub fn may_be_float(self) -> bool {
        self.dtype().is_none()
    }
}

impl Model {
    /// The set that consists of the float dtypes of a set. `None` if there are no such dtypes, or if no set has exactly
    /// these dtypes.
    pub fn floats_of(&self, set: &str) -> Option<&Set> {
        let is_float = |d: &&String| has_bound(d, "Float");
        let all = self.dtypes_of(set);
        let floats: Vec<&String> = all.iter().filter(is_float).collect();
        if floats.is_empty() {
            return None;
        }
        if floats.len() == all.len() {
            return self.set(set);
        }
        let same = |s: &&Set| s.dtypes.len() == floats.len() && floats.iter().all(|d| s.dtypes.contains(d));
        self.sets.iter().find(same)
    }
}
