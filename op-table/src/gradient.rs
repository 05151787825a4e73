//! Gradients in the model: their source for each row, and the inputs that have one.

use crate::{
    model::{Elem, Kind, Model, Op, Param, Set, has_bound},
    text::Text,
};

/// The source of a row's gradients.
#[derive(Clone, Default)]
pub enum Gradient {
    /// The row gives none, and none can be derived.
    #[default]
    Unsaid,
    /// The texts of the row, by input; checking the row makes rules of them.
    Said(Vec<(Text, Text)>),
    /// The row has no gradients; the reason, for the reference.
    None(String),
    /// The gradients of the ops that the row is made of, on any backend.
    OfParts,
    /// One rule for each input, in the order of the parameters.
    Rules(Vec<Rule>),
}

/// The computation of one input's gradient from that of the result.
#[derive(Clone)]
pub struct Rule {
    /// The input.
    pub input: String,
    /// The function as a row: its parameters are the values it needs from the call, its mapping is the computation. For
    /// an input without a gradient, the reason.
    pub function: Result<Box<Op>, String>,
}

impl Op {
    /// The array parameters that may need a gradient, options included.
    pub fn differentiable(&self) -> impl Iterator<Item = &Param> {
        let is_float = |elem| matches!(elem, Elem::T | Elem::Real | Elem::Complex);
        self.params.iter().filter(move |p| match p.kind {
            Kind::Array(e) | Kind::Operand(e, _) | Kind::Arrays(e) | Kind::Target(e) => is_float(e),
            _ => false,
        })
    }
}

impl Elem {
    /// Returns whether the element type is a float dtype whenever the row's dtype is one.
    pub fn may_be_float(self) -> bool {
        self.dtype().is_none()
    }
}

impl Model {
    /// The float dtypes of a set, as a set. `None` if there are none, or if no set has exactly these dtypes.
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
