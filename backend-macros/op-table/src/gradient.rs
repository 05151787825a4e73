//! Finds the inputs of a row of the op table that may have gradients, and the dtypes of these gradients.

use crate::model::{Elem, Kind, Model, Op, Param, Set, has_bound};

impl Op {
    /// Returns the parameters that can have a gradient: all arrays whose elements may be floats, including optional
    /// arrays.
    pub fn differentiable(&self) -> impl Iterator<Item = &Param> {
        let is_float = |elem| matches!(elem, Elem::T | Elem::Real | Elem::Complex);
        self.params.iter().filter(move |p| match p.kind {
            Kind::Array(e) | Kind::Operand(e, _) | Kind::Arrays(e) | Kind::Target(e) => is_float(e),
            _ => false,
        })
    }
}

impl Elem {
    /// Returns whether an array of this element type has a float dtype if the row's dtype `T` is a float dtype.
    pub fn may_be_float(self) -> bool {
        self.dtype().is_none()
    }
}

impl Model {
    /// Returns the set of the table that contains exactly the float dtypes of the set named `set`. Returns `None` if
    /// that set has no float dtypes, or if the table has no such set.
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
