//! Writes a checked scalar expression in CUDA C++, with the functions of the prelude.

use super::{Expr, Node, Number, Ty};
use crate::model::{Elem, Op};

/// The CUDA text of a row's expression. Parameters have the names of [`Op::cuda_name`]; `T` is the dtype.
pub fn text(e: &Expr, op: &Op) -> String {
    let all = |list: &[Expr]| list.iter().map(|e| text(e, op)).collect::<Vec<_>>().join(", ");
    match &e.node {
        Node::Name(name) => match op.param(name) {
            Some(param) => match &e.ty {
                Ty::Truth => format!("({} != 0)", op.cuda_name(param)),
                Ty::Element(_) if param.is_array() => op.cuda_name(param),
                ty => format!("op_of<{}>({})", dtype(ty), op.cuda_name(param)),
            },
            None => String::new(),
        },
        Node::Number(n) => number(*n, dtype(&e.ty)),
        Node::Bool(b) => b.to_string(),
        Node::Word(word, args) => {
            // a word that returns an element of the second dtype takes that dtype from the kernel's result
            let to = if e.ty == Ty::Element(Elem::U) && args.iter().all(|x| x.ty != e.ty) { "<U>" } else { "" };
            format!("op_{word}{to}({})", all(args))
        }
        Node::Compare(how, both) => format!("({} {} {})", text(&both[0], op), how.sign(), text(&both[1], op)),
        Node::Logic(how, both) => format!("({} {} {})", text(&both[0], op), how.sign(), text(&both[1], op)),
        Node::Not(x) => format!("!({})", text(x, op)),
        Node::If(parts) => format!("({} ? {} : {})", text(&parts[0], op), text(&parts[1], op), text(&parts[2], op)),
        // these nodes are not part of the language of scalar expressions; the check reports them
        Node::List(_) | Node::Call(..) | Node::Block(..) => String::new(),
    }
}

/// The C++ type of a number: the type of the elements next to it.
fn dtype(ty: &Ty) -> &'static str {
    match ty {
        Ty::Element(Elem::Real) => "typename Types<T>::Real",
        Ty::Element(Elem::Complex) => "typename ComplexOf<T>::Type",
        Ty::Element(Elem::Sum) => "typename SumOf<T>::Type",
        Ty::Element(Elem::U) => "U",
        Ty::Element(Elem::Bool) => "bool",
        Ty::Element(Elem::UInt8) => "u8",
        Ty::Element(Elem::Int32) => "int",
        Ty::Element(Elem::Int64) => "i64",
        _ => "T",
    }
}

fn number(n: Number, dtype: &str) -> String {
    match n {
        Number::Decimal(value) => format!("op_of<{dtype}>({value:?})"),
        // in C++ a sign is an operator, so the number without its sign must fit the type
        Number::Integer(value) if value == i64::MIN.into() => format!("cast<{dtype}>({}LL - 1)", value + 1),
        Number::Integer(value) if value > i64::MAX.into() => format!("cast<{dtype}>({value}ULL)"),
        Number::Integer(value) => format!("cast<{dtype}>({value}LL)"),
    }
}
