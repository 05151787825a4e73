//! Converts a checked scalar expression to CUDA C++. Each word of the expression (a scalar function, such as `exp`)
//! becomes a call of a function of the runtime's CUDA sources, such as `op_exp`.

use super::tree::{Expr, Node, Number, Ty};
use crate::model::{Elem, Op};

/// Returns the CUDA C++ text of a row's scalar expression. The parameters have the names of [`Op::cuda_name`], and
/// `T` is the row's dtype.
pub fn text(e: &Expr, op: &Op) -> String {
    typed(e, op, "T")
}

/// Like [`text`], for an expression that is [computed in a wider dtype](Op::computes_wide): the elements have the
/// type `Widened<T>`.
pub fn wide_text(e: &Expr, op: &Op) -> String {
    typed(e, op, "Widened<T>")
}

/// The text of an expression, in which the row's elements have the C++ type `t`.
fn typed(e: &Expr, op: &Op, t: &str) -> String {
    let all = |list: &[Expr]| list.iter().map(|e| typed(e, op, t)).collect::<Vec<_>>().join(", ");
    match &e.node {
        Node::Name(name) => match op.param(name) {
            Some(param) => match &e.ty {
                Ty::Truth => format!("({} != 0)", op.cuda_name(param)),
                Ty::Element(Elem::T) if param.is_array() && t != "T" => format!("{t}({})", op.cuda_name(param)),
                Ty::Element(_) if param.is_array() => op.cuda_name(param),
                ty => format!("op_of<{}>({})", dtype(ty, t), op.cuda_name(param)),
            },
            None => String::new(),
        },
        Node::Number(n) => number(*n, &dtype(&e.ty, t)),
        Node::Bool(b) => b.to_string(),
        Node::Word(word, args) => {
            // a word whose result has the row's second dtype, but none of whose arguments has it (such as `cast`),
            // takes that dtype as a template argument. In the kernel, that dtype is called `U`
            let to = if e.ty == Ty::Element(Elem::U) && args.iter().all(|x| x.ty != e.ty) { "<U>" } else { "" };
            format!("op_{word}{to}({})", all(args))
        }
        Node::Compare(how, both) => format!("({} {} {})", typed(&both[0], op, t), how.sign(), typed(&both[1], op, t)),
        Node::Logic(how, both) => format!("({} {} {})", typed(&both[0], op, t), how.sign(), typed(&both[1], op, t)),
        Node::Not(x) => format!("!({})", typed(x, op, t)),
        Node::If(parts) => {
            format!("({} ? {} : {})", typed(&parts[0], op, t), typed(&parts[1], op, t), typed(&parts[2], op, t))
        }
        // these nodes are not allowed in a scalar expression. If a table has one, the check of the table has already
        // reported an error, so this text is never used
        Node::List(_) | Node::Call(..) | Node::Block(..) => String::new(),
    }
}

/// The C++ name of an expression's type. `t` is the C++ type of elements of the row's dtype.
fn dtype(ty: &Ty, t: &str) -> String {
    match ty {
        Ty::Element(Elem::Real) => return format!("typename Types<{t}>::Real"),
        Ty::Element(Elem::Complex) => return format!("typename ComplexOf<{t}>::Type"),
        Ty::Element(Elem::Sum) => return format!("typename SumOf<{t}>::Type"),
        Ty::Element(Elem::U) => "U",
        Ty::Element(Elem::Bool) => "bool",
        Ty::Element(Elem::UInt8) => "u8",
        Ty::Element(Elem::Int32) => "int",
        Ty::Element(Elem::Int64) => "i64",
        _ => t,
    }
    .into()
}

fn number(n: Number, dtype: &str) -> String {
    match n {
        Number::Decimal(value) => format!("op_of<{dtype}>({value:?})"),
        // in C++, the sign of a negative number is an operator, so the number without its sign must fit the type as
        // well
        Number::Integer(value) if value == i64::MIN.into() => format!("cast<{dtype}>({}LL - 1)", value + 1),
        Number::Integer(value) if value > i64::MAX.into() => format!("cast<{dtype}>({value}ULL)"),
        Number::Integer(value) => format!("cast<{dtype}>({value}LL)"),
    }
}
