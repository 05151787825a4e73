//! Properties of scalar expressions that determine the speed of their loops. They follow from the words (scalar
//! functions, such as `exp`) in the expressions.

use super::tree::{Comparison, Expr, Node, Number};
use crate::model::{Model, RangeReduction};

impl Expr {
    /// Returns whether the expression contains a word that needs a range reduction in dtypes of the given kind: to
    /// compute the word, its argument is first mapped to a small range.
    pub fn needs_range_reduction(&self, dtypes: RangeReduction, model: &Model) -> bool {
        let mut found = false;
        self.walk(&mut |e| {
            if let Node::Word(word, _) = &e.node {
                found |= model.words.get(word).is_some_and(|w| w.range_reduction.contains(&dtypes));
            }
        });
        found
    }

    /// Returns whether the expression contains a word with so much arithmetic that wider vectors (AVX-512) make its
    /// loop faster.
    pub fn gains_from_wide_vectors(&self, model: &Model) -> bool {
        let mut found = false;
        self.walk(&mut |e| {
            if let Node::Word(word, _) = &e.node {
                found |= model.words.get(word).is_some_and(|w| w.wide_vectors);
            }
        });
        found
    }

    /// Returns whether the expression is much cheaper to compute if the number named `of` is positive, normal and
    /// finite. This is the case if one of the expression's words has this property, or if the expression selects a
    /// cheap branch for numbers above 0 and an expensive branch otherwise.
    pub fn is_cheap_above_0(&self, of: &str, model: &Model) -> bool {
        let mut has_word = false;
        self.walk(&mut |expr| {
            if let Node::Word(word, args) = &expr.node {
                let is_of = args.first().is_some_and(|arg| matches!(&arg.node, Node::Name(name) if name == of));
                has_word |= is_of && model.words.get(word).is_some_and(|word| word.cheap_above_0);
            }
        });
        has_word || self.is_choice_above_0(of, model)
    }

    /// Returns a bound for the number named `of`: if the magnitude of this number is below the bound, the expression is
    /// much cheaper to compute. Each word that takes the number may have a bound, and the smallest of them is returned;
    /// `None` if no word has one.
    pub fn cheap_within(&self, of: &str, model: &Model) -> Option<f64> {
        let mut least: Option<f64> = None;
        self.walk(&mut |expr| {
            if let Node::Word(word, args) = &expr.node {
                let is_of = args.first().is_some_and(|arg| matches!(&arg.node, Node::Name(name) if name == of));
                let bound = model.words.get(word).filter(|_| is_of).and_then(|word| word.cheap_within);
                least = bound.map(|bound| least.map_or(bound, |least| least.min(bound))).or(least);
            }
        });
        least
    }

    fn is_choice_above_0(&self, of: &str, model: &Model) -> bool {
        let Node::If(parts) = &self.node else { return false };
        let [condition, above, other] = &**parts;
        let Node::Compare(Comparison::Greater, both) = &condition.node else { return false };
        let is_of = matches!(&both[0].node, Node::Name(name) if name == of);
        let is_0 = matches!(both[1].node, Node::Number(Number::Decimal(0.0) | Number::Integer(0)));
        is_of && is_0 && !above.gains_from_wide_vectors(model) && other.gains_from_wide_vectors(model)
    }
}
