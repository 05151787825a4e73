//! The syntax tree of a formula.

use proc_macro2::{Group, Ident, Span, TokenStream};

/// A literal number, or `..` in place of a lower or upper bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A number without a decimal point, which can be used as an integer or as a float.
    Whole(i64),
    /// A number with a decimal point or an exponent.
    Float(f64),
    /// A complex number with these parts, such as `2i` or `1 + 2i`.
    Complex(f64, f64),
    /// `..` as a lower bound.
    Lowest,
    /// `..` as an upper bound.
    Highest,
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub enum Argument {
    /// A formula, for an array or an operand.
    Formula(Formula),
    /// A list of formulas in brackets.
    List(Vec<Formula>),
    /// A Rust expression.
    Rust(TokenStream),
    /// A dtype; empty if the caller does not name the dtype of an array that an op creates.
    DType(TokenStream),
}

impl Argument {
    /// The tokens of a Rust expression; none for other arguments.
    pub fn rust(&self) -> TokenStream {
        if let Argument::Rust(rust) = self { rust.clone() } else { TokenStream::new() }
    }
}

/// A formula.
#[derive(Clone, Debug)]
pub enum Formula {
    /// A number.
    Number(Number, Span),
    /// A Rust expression: an array or a scalar.
    Leaf(TokenStream, Span),
    /// A call of an op: its name, its arguments and its options.
    Call(Ident, Vec<Argument>, Vec<(Ident, Argument)>),
    /// A selection from an array by indices in brackets.
    Index(Box<Formula>, Group),
}

impl Formula {
    /// The span at which the formula begins.
    pub fn span(&self) -> Span {
        match self {
            Formula::Number(_, at) | Formula::Leaf(_, at) => *at,
            Formula::Call(name, ..) => name.span(),
            Formula::Index(x, _) => x.span(),
        }
    }
}

/// The whole formula that the user wrote, with its assignment, if any.
#[derive(Clone, Debug)]
pub enum Whole {
    /// A formula, whose value is returned.
    Value(Formula),
    /// `target = formula`. `target += formula` is represented as `target = target + formula`.
    Assign(Target, Formula),
    /// `target[index] = formula`, with the list of indices. For `target[index] += formula`, also contains the name of
    /// the op.
    Put(Target, Group, Option<Ident>, Formula),
}

/// The target of an assignment.
#[derive(Clone, Debug)]
pub struct Target {
    /// The variable or field. For `*x`, it is `x` without the star.
    pub place: TokenStream,
    /// True if the target is written with a star: the target is then the referent of a `&mut`.
    pub deref: bool,
    /// True if the new value must have the shape of the old value. This is the case for `+=` and similar operators.
    pub keeps_shape: bool,
}
