//! Differentiates scalar expressions. The derivatives are compositions of ops that compute the gradient of an operand
//! from the gradient of the result.

use super::tree::{Argument, Comparison, Expr, Logic, Node, Number, Ty};
use crate::model::{Model, WordResult};

/// The gradient of an expression with respect to the operand `of`, given the gradient `g` of the expression's result
/// `y`; `None` if the gradient is zero.
///
/// The branches of an `if` are differentiated separately, so a branch that is not taken contributes nothing, not even
/// NaN.
///
/// # Errors
/// Returns the name of a word that has no derivative.
pub fn gradient(e: &Expr, of: &str, model: &Model) -> Result<Option<Expr>, String> {
    Ok(by_element(e, of, model)?.map(as_ops))
}

/// Like `gradient`, but returns a scalar expression instead of a composition of ops.
///
/// # Errors
/// Returns the name of a word that has no derivative.
pub fn by_element(e: &Expr, of: &str, model: &Model) -> Result<Option<Expr>, String> {
    Derive { of, model }.pull(e, &name("y"), name("g"))
}

/// Converts a composition of ops to a scalar expression of words; `None` if an op in it has no corresponding word.
pub fn as_words(e: Expr, model: &Model) -> Option<Expr> {
    let Node::Call(op, arguments) = e.node else {
        let parts = std::cell::Cell::new(true);
        let e = mapped(e, &|part| match as_words(part.clone(), model) {
            Some(part) => part,
            None => {
                parts.set(false);
                part
            }
        });
        return parts.get().then_some(e);
    };
    if arguments.iter().any(|a| a.option.is_some()) {
        return None;
    }
    let args = arguments.into_iter().map(|a| as_words(a.value, model)).collect::<Option<Vec<_>>>()?;
    let order = [Comparison::Less, Comparison::LessEqual, Comparison::Greater, Comparison::GreaterEqual];
    if let Some(how) = order.into_iter().find(|how| how.op() == op) {
        return Some(of_node(Node::Compare(how, Box::new(args.try_into().ok()?))));
    }
    if op == "where" {
        return Some(of_node(Node::If(Box::new(args.try_into().ok()?))));
    }
    let (name, _) = model.words.iter().find(|(_, word)| word.op.as_ref().is_some_and(|(of, _)| *of == op))?;
    Some(word(name, args))
}

struct Derive<'m> {
    of: &'m str,
    model: &'m Model,
}

impl Derive<'_> {
    fn has(&self, e: &Expr) -> bool {
        let mut found = false;
        e.walk(&mut |e| found |= matches!(&e.node, Node::Name(name) if name == self.of));
        found
    }

    /// Returns the term that the expression `e` adds to the gradient of the operand `of`. `y` is the value of `e`, and
    /// `g` is the gradient of `e`. Returns `None` if the term is zero.
    fn pull(&self, e: &Expr, y: &Expr, g: Expr) -> Result<Option<Expr>, String> {
        if !self.has(e) {
            return Ok(None);
        }
        match &e.node {
            Node::Name(_) => Ok(Some(g)),
            Node::Word(word, args) => {
                let Some(known) = self.model.words.get(word) else { return Err(word.clone()) };
                if known.result == WordResult::Truth {
                    return Ok(None);
                }
                let mut sum = None;
                for (k, arg) in args.iter().enumerate().filter(|(_, arg)| self.has(arg)) {
                    let Some(by) = known.derivatives.get(k) else { return Err(word.clone()) };
                    let by = filled(by, args, y);
                    if let Some(g) = scaled(&g, &by) {
                        sum = plus(sum, self.pull(arg, arg, g)?);
                    }
                }
                Ok(sum)
            }
            Node::If(parts) => {
                let (yes, no) = (self.pull(&parts[1], y, g.clone())?, self.pull(&parts[2], y, g)?);
                Ok(choice(&parts[0], yes, no))
            }
            _ => Ok(None),
        }
    }
}

/// Replaces names in the derivative of a word: `a` and `b` by the word's operands, and `y` by its value.
fn filled(e: &Expr, args: &[Expr], y: &Expr) -> Expr {
    if let Node::Name(name) = &e.node {
        return match name.as_str() {
            "a" => args.first().unwrap_or(e).clone(),
            "b" => args.get(1).unwrap_or(e).clone(),
            "y" => y.clone(),
            _ => e.clone(),
        };
    }
    mapped(e.clone(), &|part| filled(&part, args, y))
}

/// Applies `change` to the direct subexpressions of an expression.
fn mapped(mut e: Expr, change: &dyn Fn(Expr) -> Expr) -> Expr {
    let both = |parts: Box<[Expr; 2]>| Box::new(parts.map(change));
    e.node = match e.node {
        Node::Word(word, args) => Node::Word(word, args.into_iter().map(change).collect()),
        Node::Compare(how, parts) => Node::Compare(how, both(parts)),
        Node::Logic(how, parts) => Node::Logic(how, both(parts)),
        Node::Not(x) => Node::Not(Box::new(change(*x))),
        Node::If(parts) => Node::If(Box::new(parts.map(change))),
        Node::Call(op, arguments) => {
            Node::Call(op, arguments.into_iter().map(|a| Argument { value: change(a.value), ..a }).collect())
        }
        node => node,
    };
    e
}

fn of_node(node: Node) -> Expr {
    Expr { node, span: 0..0, ty: Ty::Unknown }
}

fn name(name: &str) -> Expr {
    of_node(Node::Name(name.into()))
}

fn word(word: &str, args: Vec<Expr>) -> Expr {
    of_node(Node::Word(word.into(), args))
}

fn call(op: &str, args: Vec<Expr>) -> Expr {
    let arguments = args.into_iter().map(|value| Argument { option: None, value }).collect();
    of_node(Node::Call(op.into(), arguments))
}

/// Returns the value of a literal number, which may have a minus sign; `None` for other expressions.
fn number(e: &Expr) -> Option<f64> {
    match &e.node {
        Node::Number(Number::Integer(n)) => Some(*n as f64),
        Node::Number(Number::Decimal(x)) => Some(*x),
        Node::Word(word, args) if word == "negate" => number(args.first()?).map(|x| -x),
        _ => None,
    }
}

/// Returns the product of `g` and the derivative `by`, in the form that is cheapest to compute; `None` if it is zero.
fn scaled(g: &Expr, by: &Expr) -> Option<Expr> {
    match number(by) {
        Some(0.0) => return None,
        Some(1.0) => return Some(g.clone()),
        Some(-1.0) => return Some(word("negate", vec![g.clone()])),
        _ => {}
    }
    Some(match &by.node {
        Node::If(parts) => return choice(&parts[0], scaled(g, &parts[1]), scaled(g, &parts[2])),
        Node::Word(of, args) if of == "negate" => word("negate", vec![scaled(g, args.first()?)?]),
        Node::Word(of, args) if of == "reciprocal" => word("div", vec![g.clone(), args.first()?.clone()]),
        Node::Word(of, args) if of == "div" && is_over(args.first()?) => {
            word("div", vec![scaled(g, args.first()?)?, args.get(1)?.clone()])
        }
        _ => word("times", vec![g.clone(), by.clone()]),
    })
}

/// Returns whether an expression is a number, or a quotient with a number as its numerator. A gradient can be
/// multiplied by such a numerator before the division, with little risk that the product exceeds the range of the
/// dtype.
fn is_over(e: &Expr) -> bool {
    match &e.node {
        Node::Word(of, _) if of == "reciprocal" => true,
        Node::Word(of, args) if of == "div" => args.first().is_some_and(is_over),
        _ => number(e).is_some(),
    }
}

fn plus(a: Option<Expr>, b: Option<Expr>) -> Option<Expr> {
    match (a, b) {
        (Some(a), Some(b)) => Some(word("plus", vec![a, b])),
        (a, b) => a.or(b),
    }
}

/// Makes an `if` expression that selects one of two gradients. `None` stands for a zero gradient.
fn choice(condition: &Expr, yes: Option<Expr>, no: Option<Expr>) -> Option<Expr> {
    if yes.is_none() && no.is_none() {
        return None;
    }
    let zero = || of_node(Node::Number(Number::Integer(0)));
    let parts = [condition.clone(), yes.unwrap_or_else(zero), no.unwrap_or_else(zero)];
    Some(of_node(Node::If(Box::new(parts))))
}

/// Replaces `if` expressions and logical operators by calls of ops, because compositions have neither of them.
fn as_ops(e: Expr) -> Expr {
    let e = mapped(e, &as_ops);
    match e.node {
        Node::If(parts) => call("where", Vec::from(parts as Box<[Expr]>)),
        Node::Not(x) => call("logical_not", vec![*x]),
        Node::Logic(how, parts) => {
            let parts = Vec::from(parts as Box<[Expr]>);
            match how {
                Logic::And => call("logical_and", parts),
                Logic::Or => call("logical_or", parts),
                Logic::Differ => call("logical_xor", parts),
                Logic::Equal => call("logical_not", vec![call("logical_xor", parts)]),
            }
        }
        // swaps the operands if the left one is a number, because the op accepts numbers only on the right
        Node::Compare(how, parts) if number(&parts[0]).is_some() => {
            let turned = match how {
                Comparison::Less => Comparison::Greater,
                Comparison::LessEqual => Comparison::GreaterEqual,
                Comparison::Greater => Comparison::Less,
                Comparison::GreaterEqual => Comparison::LessEqual,
            };
            let [a, b] = *parts;
            of_node(Node::Compare(turned, Box::new([b, a])))
        }
        node => Expr { node, ..e },
    }
}
