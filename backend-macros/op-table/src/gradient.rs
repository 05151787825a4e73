//! Gradients in the model: how a row's gradients are obtained, and which inputs have gradients.

use crate::{
    model::{Elem, Kind, Model, Op, Param, Set, has_bound},
    text::Text,
};

/// The source from which a row's gradients are obtained.
#[derive(Clone, Default)]
pub enum Gradient {
    /// The row gives no gradients, and none can be derived.
    #[default]
    Unsaid,
    /// The gradients as the row gives them: pairs of an input and the text of its gradient. The check converts the
    /// texts to rules.
    Said(Vec<(Text, Text)>),
    /// The row has no gradients. Contains the reason, for the reference.
    None(String),
    /// The gradients follow from the ops of the row's composition, which any backend can differentiate.
    OfParts,
    /// One rule for each input, in the order of the parameters.
    Rules(Vec<Rule>),
}

/// The rule that computes one input's gradient from the gradient of the result.
#[derive(Clone)]
pub struct Rule {
    /// The input.
    pub input: String,
    /// The rule's function, as a row: its parameters are the values that the rule needs from the call, and its mapping
    /// is the computation. An error is the reason why the input has no gradient.
    pub function: Result<Box<Op>, String>,
}

impl Op {
    /// The array parameters, including options, for which a gradient may be needed.
    pub fn differentiable(&self) -> impl Iterator<Item = &Param> {
        let is_float = |elem| matches!(elem, Elem::T | Elem::Real | Elem::Complex);
        self.params.iter().filter(move |p| match p.kind {
            Kind::Array(e) | Kind::Operand(e, _) | Kind::Arrays(e) | Kind::Target(e) => is_float(e),
            _ => false,
        })
    }
}

impl Elem {
    /// Returns whether this element type is a float dtype whenever the row's dtype is one.
    pub fn may_be_float(self) -> bool {
        self.dtype().is_none()
    }
}

impl Model {
    /// The set that contains exactly the float dtypes of a set. `None` if the set has no float dtypes, or if no such
    /// set exists.
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
