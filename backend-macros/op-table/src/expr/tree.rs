//! The tree of an expression. Every node has a source position and a type.

use crate::{element::Elem, text::Span};

/// The maximum depth of nested expressions. It bounds the recursion of every pass over a tree.
pub const MAX_NESTING: usize = 128;

/// An expression and its position in the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The kind of the expression, with its subexpressions.
    pub node: Node,
    /// The position. For an operator or a call, it is the position of the sign or the name.
    pub span: Span,
    /// The type, which is unknown before the check.
    pub ty: Ty,
}

/// A name and its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// The position of the name in the table.
    pub span: Span,
}

/// The kind of an expression, with its subexpressions.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// The name of a parameter or of a `let` value, or a named value such as `all`.
    Name(String),
    /// `0.5`, `-1`
    Number(Number),
    /// `true`, `false`
    Bool(bool),
    /// `[0, 1]`
    List(Vec<Expr>),
    /// `x.word(y)`. Arithmetic operators are words, too.
    Word(String, Vec<Expr>),
    /// `x < y`
    Compare(Comparison, Box<[Expr; 2]>),
    /// `a && b`
    Logic(Logic, Box<[Expr; 2]>),
    /// `!a`
    Not(Box<Expr>),
    /// `if a { x } else { y }`
    If(Box<[Expr; 3]>),
    /// `op(x, option = y)`
    Call(String, Vec<Argument>),
    /// `{ let a = x; y }`
    Block(Vec<(Name, Expr)>, Box<Expr>),
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The option that the argument sets; `None` for a positional argument.
    pub option: Option<Name>,
    /// The value of the argument.
    pub value: Expr,
}

/// A literal number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A number without a decimal point. An integer dtype must represent it exactly.
    Integer(i128),
    /// A finite number with a point or an exponent.
    Decimal(f64),
}

/// A comparison, for dtypes with an order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

impl Comparison {
    /// The operator, which is the same in Rust and in C++.
    pub fn sign(self) -> &'static str {
        match self {
            Comparison::Less => "<",
            Comparison::LessEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterEqual => ">=",
        }
    }

    /// The name of the op that makes this comparison on arrays.
    pub fn op(self) -> &'static str {
        match self {
            Comparison::Less => "less",
            Comparison::LessEqual => "less_equal",
            Comparison::Greater => "greater",
            Comparison::GreaterEqual => "greater_equal",
        }
    }
}

/// An operator on two truth values. Both operands are always computed, so that loops can be vectorised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Logic {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `==`
    Equal,
    /// `!=`
    Differ,
}

impl Logic {
    /// The operator, which is the same in Rust and in C++.
    pub fn sign(self) -> &'static str {
        match self {
            Logic::And => "&&",
            Logic::Or => "||",
            Logic::Equal => "==",
            Logic::Differ => "!=",
        }
    }
}

/// The dtypes that a value has, one for each dtype of the row of the op table; `None` if the context of the value
/// determines them.
pub type Dtypes = Option<Vec<String>>;

/// The type of an expression.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Ty {
    /// Unknown, because of a mistake that was already reported.
    #[default]
    Unknown,
    /// An element, in `each`.
    Element(Elem),
    /// A truth value, in `each`.
    Truth,
    /// A number that has no dtype yet.
    Number,
    /// An array, in `compose`.
    Array(Dtypes),
    /// A scalar of the row's dtype, in `compose`.
    Scalar,
    /// Several results of an op, in `compose`.
    Several(Vec<Dtypes>),
    /// A list of arrays, in `compose`.
    Arrays(Dtypes),
    /// A parameter that is not an array, or a literal for such a parameter, in `compose`.
    Other,
}

impl Expr {
    /// The direct sub-expressions of the expression.
    pub fn children(&self) -> Vec<&Expr> {
        match &self.node {
            Node::Name(_) | Node::Number(_) | Node::Bool(_) => Vec::new(),
            Node::List(items) | Node::Word(_, items) => items.iter().collect(),
            Node::Compare(_, both) | Node::Logic(_, both) => both.iter().collect(),
            Node::Not(x) => vec![x],
            Node::If(parts) => parts.iter().collect(),
            Node::Call(_, arguments) => arguments.iter().map(|a| &a.value).collect(),
            Node::Block(lets, value) => lets.iter().map(|(_, e)| e).chain([&**value]).collect(),
        }
    }

    /// The name of the condition, if the expression is an `if` whose condition is only a name.
    pub fn chosen_by(&self) -> Option<&str> {
        match &self.node {
            Node::If(parts) => match &parts[0].node {
                Node::Name(name) if parts[0].ty == Ty::Truth => Some(name),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns whether the expression is a parameter, or a selection between parameters by conditions that are
    /// parameters too. Calls `visit` with the name of each parameter that can be selected.
    pub fn is_choice(&self, visit: &mut impl FnMut(&str)) -> bool {
        match &self.node {
            Node::Name(name) => {
                visit(name);
                true
            }
            Node::If(parts) => {
                parts[0].is_truth_of_parameters() && parts[1].is_choice(visit) && parts[2].is_choice(visit)
            }
            _ => false,
        }
    }

    /// Returns whether the expression is a truth value that is computed from parameters only, without comparing
    /// numbers.
    pub fn is_truth_of_parameters(&self) -> bool {
        match &self.node {
            Node::Name(_) | Node::Bool(_) => self.ty == Ty::Truth,
            Node::Logic(..) | Node::Not(_) => self.children().into_iter().all(Expr::is_truth_of_parameters),
            _ => false,
        }
    }

    /// Calls `visit` with the expression and with every expression in it.
    pub fn walk(&self, visit: &mut impl FnMut(&Expr)) {
        visit(self);
        self.children().into_iter().for_each(|child| child.walk(visit));
    }
}
