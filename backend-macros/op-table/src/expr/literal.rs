//! Checks the literals and names that a composition passes to parameters that are not arrays.

use super::tree::{Expr, Node, Number};
use crate::model::{Absent, Kind, Op, Plain};

impl Plain {
    /// Returns whether a literal number is a valid value of the type.
    pub fn has(self, number: Number) -> bool {
        match (self, number) {
            (Plain::F64, _) => true,
            (Plain::Usize | Plain::U64, Number::Integer(n)) => u64::try_from(n).is_ok(),
            (Plain::Isize | Plain::I64, Number::Integer(n)) => i64::try_from(n).is_ok(),
            _ => false,
        }
    }
}

impl Kind {
    /// Returns whether `value`, an argument other than an array in a composition of `op`, is valid for a parameter of
    /// this kind.
    pub fn takes_literal(&self, value: &Expr, op: &Op) -> bool {
        let named = |e: &Expr| match &e.node {
            Node::Name(name) => op.param(name).map(|p| &p.kind),
            _ => None,
        };
        let is_word = |word: &str| matches!(&value.node, Node::Name(name) if name == word);
        let is_integer = |e: &Expr| matches!(e.node, Node::Number(Number::Integer(n)) if isize::try_from(n).is_ok());
        let is_axis = |e: &Expr| {
            matches!(e.node, Node::Number(Number::Integer(n)) if i8::try_from(n).is_ok())
                || matches!(named(e), Some(Kind::Axis | Kind::Plain(Plain::Isize)))
        };
        let is_list = |item: &dyn Fn(&Expr) -> bool| matches!(&value.node, Node::List(items) if items.iter().all(item));
        let is_length = |e: &Expr| {
            matches!(e.node, Node::Number(Number::Integer(n)) if n >= 0 && isize::try_from(n).is_ok())
                || matches!(named(e), Some(Kind::Plain(Plain::Usize)))
        };
        match self {
            Kind::Axis => is_axis(value),
            Kind::AxisOrAll => is_word("all") || is_axis(value) || named(value) == Some(self),
            Kind::Operand(_, absent) => *absent != Absent::Refused && is_word("all"),
            Kind::Axes => {
                is_word("all") || is_axis(value) || is_list(&is_axis) || matches!(named(value), Some(Kind::Axes))
            }
            Kind::Number => matches!(value.node, Node::Number(_)) || named(value) == Some(self),
            Kind::Shape | Kind::Widths | Kind::Lengths => {
                is_list(&is_length) || named(value) == Some(self) || (*self == Kind::Lengths && is_word("none"))
            }
            Kind::Signed => is_list(&|e| is_integer(e) || matches!(named(e), Some(Kind::Plain(Plain::Isize)))),
            Kind::Plain(plain) => match &value.node {
                Node::Number(n) => plain.has(*n),
                Node::Bool(_) => *plain == Plain::Bool,
                _ => named(value) == Some(self),
            },
            Kind::Maybe(plain) => {
                is_word("none")
                    || matches!(&value.node, Node::Number(n) if plain.has(*n))
                    || named(value) == Some(&Kind::Plain(*plain))
            }
            Kind::Choice(choice) => {
                matches!(&value.node, Node::Name(name) if op.param(name).is_none() && choice.has(name))
            }
            _ => false,
        }
    }
}
