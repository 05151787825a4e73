//! Reductions made of scalar expressions: `fold = { map = "x * x", join = "a + b", identity = "0", finish = "a / n"
//! }`.
//!
//! `map` computes a value from an element of the row's array and from the row's numbers. `join` joins two values.
//! `finish` computes the result from the joined value of all elements, the number of elements, and the row's numbers.
//! To check these expressions, this file makes a separate row for each of them. 16-bit floats are computed in float32.

use crate::{
    expr::{Expr, Node, Number, Ty, each},
    kind::{Kind, Plain},
    model::{Elem, Model, Op, Out, Param, dtype_of},
    report::Mistake,
};

pub use crate::model::Fold;

/// The role of an expression in a reduction. Each role is a field of [`Fold`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FoldRole {
    /// Computes a value from one element.
    Map,
    /// Joins two values.
    Join,
    /// The value of a reduction over no elements.
    Identity,
    /// Computes the result from the joined value of all elements.
    Finish,
}

impl Fold {
    /// Returns whether the reduction has no `map`. If so, the elements themselves are the values that it joins.
    pub fn reads_values(&self) -> bool {
        self.map.is_none()
    }

    /// The element type of the values that the reduction joins.
    pub fn value(&self, op: &Op) -> Elem {
        if self.reads_values() { Elem::T } else { op.result.elem() }
    }

    /// Returns whether the reduction counts the elements for which a condition holds.
    pub fn counts(&self, op: &Op) -> bool {
        let is_name = |e: &Expr, name: &str| matches!(&e.node, Node::Name(n) if n == name);
        let adds = matches!(&self.join.expr.node, Node::Word(word, args) if word == "plus" && is_name(&args[0], "a") && is_name(&args[1], "b"));
        let from_0 = matches!(&self.identity.expr.node, Node::Number(Number::Integer(0)));
        let of_truth = self.map.as_ref().is_some_and(|map| map.expr.ty == Ty::Truth);
        adds && from_0 && of_truth && self.value(op) == Elem::Int64 && self.finish.is_none()
    }

    /// The dtypes that `T` may have in the expressions of the reduction. 16-bit floats are replaced by float32.
    pub fn dtypes(&self, op: &Op, model: &Model) -> Vec<String> {
        let mut dtypes: Vec<String> = Vec::new();
        for dtype in model.dtypes_of(&op.set) {
            let own = if self.reads_values() { dtype_of(op.result.elem(), dtype) } else { dtype };
            let wide = wide(own);
            if !dtypes.iter().any(|d| d == wide) {
                dtypes.push(wide.into());
            }
        }
        dtypes
    }

    /// Makes a copy of the row `op` for checking the expression with the role `part` as if it were the expression of a
    /// separate op. The parameters of the copy are the names that this expression may use.
    pub fn scope(&self, part: FoldRole, op: &Op) -> Op {
        let value = self.value(op);
        let array = |name: &str, elem: Elem| Param {
            text: name.into(),
            name: name.into(),
            ty: "array".into(),
            kind: Kind::Array(elem),
            default: None,
            default_text: String::new(),
            span: op.span.clone(),
        };
        let numbers = || numbers(op).cloned();
        let params: Vec<Param> = match part {
            FoldRole::Map => op.inputs().cloned().chain(numbers()).collect(),
            FoldRole::Join => vec![array("a", value), array("b", value)],
            FoldRole::Identity => Vec::new(),
            FoldRole::Finish => {
                let n = Param { kind: Kind::Plain(Plain::F64), ..array("n", value) };
                [array("a", value), n].into_iter().chain(numbers()).collect()
            }
        };
        Op { params, result: Out::One(value), second: None, second_set: None, ..op.clone() }
    }

    /// The expressions of the reduction, each with its role and with the row that [`Fold::scope`] makes for it.
    fn parts(&mut self, op: &Op) -> Vec<(FoldRole, Op, &mut Expr)> {
        let scopes = [FoldRole::Map, FoldRole::Join, FoldRole::Identity, FoldRole::Finish]
            .map(|part| (part, self.scope(part, op)));
        let forms = [self.map.as_mut(), Some(&mut self.join), Some(&mut self.identity), self.finish.as_mut()];
        let parts = scopes.into_iter().zip(forms);
        parts.filter_map(|((part, scope), form)| Some((part, scope, &mut form?.expr))).collect()
    }
}

/// The parameters of `op` that the expressions of the reduction use as numbers: all numbers and booleans except
/// `keepdims`.
pub fn numbers(op: &Op) -> impl Iterator<Item = &Param> {
    op.params.iter().filter(|p| p.is_fold_number())
}

/// The dtype in which elements of `dtype` are computed: float32 for 16-bit floats, otherwise `dtype` itself.
pub fn wide(dtype: &str) -> &str {
    if ["float16", "bfloat16"].contains(&dtype) { "float32" } else { dtype }
}

/// Checks a `fold` row of the op table, and returns its mistakes.
pub fn check(fold: &mut Fold, op: &Op, model: &Model) -> Vec<Mistake> {
    let bad = |span: &crate::text::Span, message: &str, help: &str| {
        vec![Mistake { span: span.clone(), message: message.into(), help: Some(help.into()) }]
    };
    let mut kinds = op.params.iter().map(|p| (p.name.as_str(), &p.kind));
    let begins = kinds.next().is_some_and(|(_, kind)| *kind == Kind::Array(Elem::T))
        && kinds.next() == Some(("axis", &Kind::Axes))
        && op.params.iter().any(|p| p.name == "keepdims" && p.kind == Kind::Plain(Plain::Bool));
    const WANTED: &str = "one array, `axis: axes`, `keepdims: bool = false`, and numbers: f64 or bool";
    if !begins {
        return bad(&op.span, "a `fold` row must reduce one array over its axes", WANTED);
    }
    let is_number = |kind: &Kind| matches!(kind, Kind::Plain(Plain::F64 | Plain::Bool));
    if let Some(other) = op.params[2..].iter().find(|p| !is_number(&p.kind)) {
        return bad(&other.span, &format!("a `fold` row takes no parameter of type `{}`", other.ty), WANTED);
    }
    if let Some(taken) = op.params.iter().find(|p| ["a", "b", "n"].contains(&p.name.as_str())) {
        let message =
            format!("in `fold` expressions, `{}` is the name of a value or of the number of elements", taken.name);
        return bad(&taken.span, &message, "give the parameter another name");
    }
    if !matches!(op.result, Out::One(_)) || op.second.is_some() {
        return bad(&op.span, "a `fold` row must return one array", "result = \"array\", \"array<sum>\" ..");
    }
    let dtypes = fold.dtypes(op, model);
    let mut mistakes = Vec::new();
    for (part, scope, expr) in fold.parts(op) {
        let checked = match part {
            FoldRole::Map => each::check_value(expr, &scope, &dtypes, model),
            _ => each::check(expr, &scope, &dtypes, model),
        };
        mistakes.extend(checked.err());
    }
    mistakes
}

/// Returns whether an expression consists only of the name of the row's array.
pub fn is_element(expr: &Expr, op: &Op) -> bool {
    matches!(&expr.node, Node::Name(name) if op.inputs().any(|p| p.name == *name))
}
