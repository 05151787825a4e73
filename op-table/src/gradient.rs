//! Gradients in the model: where those of a row come from, and which of its inputs have any.

use crate::{
    model::{Elem, Kind, Model, Op, Param, Set, has_bound},
    text::Text,
};

/// Where the gradients of a row come from.
#[derive(Clone, Default)]
pub enum Gradient {
    /// The row says nothing, and nothing is known of it.
    #[default]
    Unsaid,
    /// What the row says, by inputs; rules are made of it when it is checked.
    Said(Vec<(Text, Text)>),
    /// There is none by its inputs, and why: for the reference.
    None(String),
    /// It is made of other ops over any backend, whose gradients they are.
    OfParts,
    /// By its inputs, in the order of the parameters.
    Rules(Vec<Rule>),
}

/// How the gradient of one input follows from that of the result.
#[derive(Clone)]
pub struct Rule {
    /// The input.
    pub input: String,
    /// The function, as a row: its parameters are what it needs of the call, its mapping is what it does. Why there is none, for an
    /// input that has none.
    pub function: Result<Box<Op>, String>,
}

impl Op {
    /// The array parameters that a gradient may be wanted of, options included.
    pub fn differentiable(&self) -> impl Iterator<Item = &Param> {
        let is_float = |elem| matches!(elem, Elem::T | Elem::Real | Elem::Complex);
        self.params.iter().filter(move |p| match p.kind {
            Kind::Array(e) | Kind::Operand(e, _) | Kind::Arrays(e) | Kind::Target(e) => is_float(e),
            _ => false,
        })
    }
}

impl Elem {
    /// Whether it is a dtype of floats where the row's is.
    pub fn may_be_float(self) -> bool {
        self.dtype().is_none()
    }
}

impl Model {
    /// The dtypes of floats in a set, as a set: its name and bound. `None` where it has none, or where no set has just these.
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
