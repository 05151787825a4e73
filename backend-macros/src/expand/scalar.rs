//! Converts a checked scalar expression to Rust. The words of the expression, which are scalar functions such as
//! `exp`, become methods of the runtime's traits.
//!
//! Paths begin with `rt`, the name of the runtime in the module that encloses the generated ops, so that names of ops
//! cannot hide names of the runtime.

use super::*;
use op_table::expr::{Comparison, Expr, Logic, Node, Number, Ty};

impl Expand<'_> {
    /// Converts a row's expression to Rust. In the Rust code, the parameters are variables.
    pub(super) fn scalar(&self, e: &Expr, op: &Op) -> TokenStream {
        let all = |list: &[Expr]| list.iter().map(|e| self.scalar(e, op)).collect::<Vec<_>>();
        match &e.node {
            Node::Name(name) => {
                let variable = id(name);
                let is_number = op.param(name).is_some_and(|p| !p.is_array()) && e.ty != Ty::Truth;
                if is_number { quote!(rt::Element::from_f64(#variable)) } else { quote!(#variable) }
            }
            Node::Number(n) => number(*n, &quote!(rt)),
            Node::Bool(b) => quote!(#b),
            Node::Word(word, args) => {
                let known = self.model.words.get(word);
                let bound = known.and_then(|w| self.model.set(&w.set)).map(|set| id(&set.bound));
                let to = known.is_some_and(|w| w.result == WordResult::Second).then(|| quote!(::<U>));
                let (word, args) = (id(word), all(args));
                quote!(rt::#bound::#word #to(#(#args),*))
            }
            Node::Compare(how, both) => {
                let (x, y) = (self.scalar(&both[0], op), self.scalar(&both[1], op));
                let method = id(match how {
                    Comparison::Less => "lt",
                    Comparison::LessEqual => "le",
                    Comparison::Greater => "gt",
                    Comparison::GreaterEqual => "ge",
                });
                quote!(PartialOrd::#method(&#x, &#y))
            }
            Node::Logic(how, both) => {
                let (x, y) = (self.scalar(&both[0], op), self.scalar(&both[1], op));
                match how {
                    // uses operators without branches: both operands are cheap, and the loop can then be vectorised
                    Logic::And => quote!((#x & #y)),
                    Logic::Or => quote!((#x | #y)),
                    Logic::Equal => quote!((#x == #y)),
                    Logic::Differ => quote!((#x != #y)),
                }
            }
            Node::Not(x) => {
                let x = self.scalar(x, op);
                quote!(!#x)
            }
            Node::If(parts) => {
                let is_ready = |e: &Expr| matches!(e.node, Node::Name(_) | Node::Number(_));
                let ready = is_ready(&parts[1]) && is_ready(&parts[2]);
                // true if both values are computed before one is selected: vector code does so anyway, and LLVM often
                // does not vectorise a loop with branches
                let both = !parts[0].is_truth_of_parameters()
                    && parts[1..].iter().any(|x| x.gains_from_wide_vectors(self.model));
                let parts = all(&parts[..]);
                let (c, x, y) = (&parts[0], &parts[1], &parts[2]);
                // selects between computed values, because a branch on a random condition is often mispredicted
                if ready {
                    quote!(::core::hint::select_unpredictable(#c, #x, #y))
                } else if both {
                    quote!({
                        let (yes, no) = (#x, #y);
                        ::core::hint::select_unpredictable(#c, yes, no)
                    })
                } else {
                    quote!(if #c { #x } else { #y })
                }
            }
            Node::List(_) | Node::Call(..) | Node::Block(..) => quote!(),
        }
    }
}

/// Generates a number as an element, whose dtype the Rust compiler infers.
pub(super) fn number(n: Number, runtime: &TokenStream) -> TokenStream {
    match n {
        Number::Decimal(value) => quote!(#runtime::Element::from_f64(#value)),
        Number::Integer(value) => match i64::try_from(value) {
            Ok(value) => quote!(#runtime::Element::from_i64(#value)),
            Err(_) => {
                let value = value as u64;
                quote!(#runtime::Element::from_u64(#value))
            }
        },
    }
}
