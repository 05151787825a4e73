//! Properties of the loops of an `each` op, derived from its expression. An `each` op computes every element of its
//! result by the same scalar expression.

use crate::{
    expr::{Expr, Node, Number, Ty},
    model::{Elem, Model, Op, Param, RangeReduction},
};

impl Op {
    /// Returns whether an array parameter of an `each` op has another dtype than the row's dtype `T`.
    pub fn mixes_dtypes(&self) -> bool {
        self.inputs().any(|p| p.kind.elem() != Some(Elem::T))
    }

    /// Returns the indices of the operands whose elements an `each` expression copies unchanged, as `where` does. Empty
    /// if the expression does anything else with elements of the row's dtype.
    pub fn moved(&self, expr: &Expr) -> Vec<usize> {
        let inputs: Vec<&Param> = self.inputs().collect();
        let mut moved = Vec::new();
        let moves = self.second.is_none()
            && inputs.iter().all(|p| p.kind.elem() == Some(Elem::T) || p.kind.elem() == Some(Elem::Bool))
            && expr.is_choice(&mut |name| moved.extend(inputs.iter().position(|p| p.name == name)));
        moved.sort_unstable();
        moved.dedup();
        if moves && moved.iter().all(|&at| inputs[at].kind.elem() == Some(Elem::T)) { moved } else { Vec::new() }
    }

    /// Returns whether an `each` expression only converts its operand to the dtype of the result. This is the second
    /// dtype of the row (as in `astype`), or the real dtype of the row's dtype (as in `real`). If the operand already
    /// has this dtype, nothing needs to be computed.
    pub fn converts(&self, expr: &Expr) -> bool {
        matches!(&expr.node, Node::Word(word, args) if ["cast", "real"].contains(&&**word) && args.iter().all(|e| self.is_operand(e)))
    }

    /// Returns whether an `each` expression is the conjugate of its operand. If so, it returns real operands unchanged.
    pub fn conjugates(&self, expr: &Expr) -> bool {
        matches!(&expr.node, Node::Word(word, args) if word == "conj" && args.iter().all(|e| self.is_operand(e)))
    }

    /// Returns whether an `each` expression is the square root of its only operand.
    pub fn is_square_root(&self, expr: &Expr) -> bool {
        let is_alone = self.inputs().count() == 1 && !self.mixes_dtypes();
        is_alone
            && matches!(&expr.node, Node::Word(word, args) if word == "sqrt" && args.iter().all(|e| self.is_operand(e)))
    }

    /// Returns whether an `each` expression is the product of its two operands, or the product of its only operand
    /// with itself, and is computed in the row's dtype.
    pub fn is_product(&self, expr: &Expr) -> bool {
        let inputs: Vec<&Param> = self.inputs().collect();
        let takes = |e: &Expr| matches!(&e.node, Node::Name(name) if inputs.iter().any(|p| p.name == *name));
        let all = |args: &[Expr]| inputs.len() == 1 || args[0].node != args[1].node;
        !self.mixes_dtypes()
            && self.result.elem() == Elem::T
            && inputs.len() <= 2
            && matches!(&expr.node, Node::Word(word, args) if word == "times" && args.iter().all(takes) && all(args))
    }

    /// Returns whether an `each` expression is the quotient of its two operands, and is computed in the row's dtype.
    pub fn is_quotient(&self, expr: &Expr) -> bool {
        let inputs: Vec<&Param> = self.inputs().collect();
        let is = |e: &Expr, i: usize| matches!(&e.node, Node::Name(name) if inputs[i].name == *name);
        !self.mixes_dtypes()
            && self.result.elem() == Elem::T
            && inputs.len() == 2
            && matches!(&expr.node, Node::Word(word, args) if word == "div" && is(&args[0], 0) && is(&args[1], 1))
    }

    /// Returns whether an `each` expression is a single operation on its operands. If so, computing it in a wider
    /// dtype and rounding once gives the same value as computing it in the row's dtype.
    pub fn is_one_operation(&self, expr: &Expr, model: &Model) -> bool {
        match &expr.node {
            Node::Compare(_, both) => both.iter().all(|e| self.is_operand(e)),
            Node::Word(word, args) => {
                args.iter().all(|e| self.is_operand(e))
                    && model
                        .words
                        .get(word)
                        .is_some_and(|w| !w.of_precision && !w.range_reduction.contains(&RangeReduction::Real))
            }
            _ => false,
        }
    }

    /// Returns whether an `each` expression of 16-bit floats is computed in float32 and rounded to 16 bits once. This
    /// is the case for several operations, and for one operation with a number that 16 bits may not represent. The
    /// reason: if every intermediate value were rounded to 16 bits, and two of these values cancelled, no correct
    /// digits would remain. A single operation on operands has the same value either way. Expressions whose result is
    /// a truth value, such as `isclose`, are computed in the 16-bit dtype itself, as in NumPy.
    pub fn computes_wide(&self, expr: &Expr, model: &Model) -> bool {
        let (mut operations, mut of_precision) = (0, false);
        expr.walk(&mut |e| match &e.node {
            Node::Word(word, args) if matches!(e.ty, Ty::Element(_)) => {
                operations += 1 + args.iter().filter(|e| !self.is_operand(e) && !is_small_integer(e)).count();
                of_precision |= model.words.get(word).is_some_and(|w| w.of_precision);
            }
            _ => {}
        });
        operations > 1
            && !of_precision
            && !self.mixes_dtypes()
            && self.result.elem() == Elem::T
            && model.set(&self.set).is_some_and(|set| set.bound == "Real")
    }

    /// Returns whether an expression consists only of the name of an array parameter of the op.
    fn is_operand(&self, e: &Expr) -> bool {
        matches!(&e.node, Node::Name(name) if self.param(name).is_some_and(Param::is_array))
    }
}

/// Returns whether an expression is a whole number that every float dtype represents exactly.
fn is_small_integer(e: &Expr) -> bool {
    match e.node {
        Node::Number(Number::Integer(value)) => value.unsigned_abs() <= 256,
        Node::Number(Number::Decimal(value)) => value.fract() == 0.0 && value.abs() <= 256.0,
        _ => false,
    }
}
