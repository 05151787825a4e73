//! Converts a checked composition to Rust: calls of ops as methods of `b: &B`, with arrays by reference and options
//! by name.

use super::{scalar::number, *};
use op_table::expr::{Argument, Expr, Node, Number, Ty};
use proc_macro2::Literal;

impl Expand<'_> {
    /// Converts the composition `e` of a row to an expression that returns an owned value.
    pub(super) fn composition(&self, e: &Expr, op: &Op) -> TokenStream {
        match &e.node {
            Node::Name(name) => {
                let variable = id(name);
                // clones the handle of an array, not its data
                quote!(#variable.clone())
            }
            Node::Block(lets, value) => {
                let lets = lets.iter().map(|(name, value)| {
                    let (name, value) = (id(&name.text), self.let_value(value, op));
                    quote!(let #name = #value;)
                });
                let value = self.composition(value, op);
                quote!({ #(#lets)* #value })
            }
            _ => self.value(e, op),
        }
    }

    /// Converts the value of a `let` to an expression: an owned array, or a parameter that is passed on unchanged.
    fn let_value(&self, e: &Expr, op: &Op) -> TokenStream {
        match (&e.node, &e.ty) {
            (Node::Name(name), Ty::Array(_)) if !op.param(name).is_some_and(is_operand) => self.composition(e, op),
            (Node::Block(..), _) => self.composition(e, op),
            _ => self.value(e, op),
        }
    }

    fn value(&self, e: &Expr, op: &Op) -> TokenStream {
        match &e.node {
            Node::Name(name) => {
                let variable = id(name);
                // borrows the operand, because the composition may use it again
                if op.param(name).is_some_and(is_operand) { quote!(#variable.by_ref()) } else { quote!(#variable) }
            }
            Node::Number(Number::Integer(n)) => {
                let n = Literal::i128_unsuffixed(*n);
                quote!(#n)
            }
            Node::Number(Number::Decimal(x)) => quote!(#x),
            Node::Bool(b) => quote!(#b),
            Node::List(items) => {
                let items = items.iter().map(|e| match &e.ty {
                    Ty::Array(_) => self.borrowed(e, op),
                    _ => self.value(e, op),
                });
                if matches!(e.ty, Ty::Arrays(_)) { quote!(&[#(#items),*]) } else { quote!([#(#items),*]) }
            }
            Node::Call(callee, arguments) => self.call(callee, arguments, op),
            Node::Block(..) => self.composition(e, op),
            // the check of the composition has replaced these operators by calls
            Node::Word(..) | Node::Compare(..) | Node::Logic(..) | Node::Not(_) | Node::If(_) => quote!(),
        }
    }

    /// Converts `e` to an expression for a reference to an array.
    fn borrowed(&self, e: &Expr, op: &Op) -> TokenStream {
        let value = self.value(e, op);
        match &e.node {
            // a parameter is already a reference
            Node::Name(name) if op.param(name).is_some() => value,
            _ => quote!(&#value),
        }
    }

    fn call(&self, callee: &str, arguments: &[Argument], op: &Op) -> TokenStream {
        let Some(called) = self.model.op(callee) else { return quote!() };
        let mut positional = called.positional();
        let (mut args, mut options) = (Vec::new(), Vec::new());
        for Argument { option, value } in arguments {
            match option {
                None => args.extend(positional.next().map(|param| self.argument(param, value, op))),
                Some(name) => {
                    options.extend(called.param(&name.text).and_then(|param| self.option(param, value, op)));
                }
            }
        }
        let b = hidden("b");
        if arguments.iter().all(|a| a.option.is_none()) {
            let method = id(&called.name);
            return quote!(#b.#method(#(#args),*)?);
        }
        let (method, path) = (format_ident!("{}_with", called.name), self.options_path(called));
        let all = hidden("options");
        quote! {
            #b.#method(#(#args,)* { #[allow(unused_mut)] let mut #all = #path::new(); #(#options)* #all })?
        }
    }

    fn argument(&self, param: &Param, e: &Expr, op: &Op) -> TokenStream {
        let rt = self.rt();
        let is_own = matches!(&e.node, Node::Name(name) if op.param(name).is_some());
        match (&param.kind, &e.node) {
            // passes an array that has a name (a parameter or the variable of a `let`) by reference, because the
            // composition may use it again. An array without a name, such as the result of a call, is passed by value
            // below
            (Kind::Array(_) | Kind::Operand(..), Node::Name(_)) if matches!(e.ty, Ty::Array(_)) => self.borrowed(e, op),
            (Kind::Operand(..), Node::Number(n)) => {
                let n = number(*n, &rt);
                quote!(#rt::Operand::Scalar(#n))
            }
            (Kind::Scalar, Node::Number(n)) => number(*n, &rt),
            // passes a list of arrays that another op has returned
            (Kind::Arrays(_), Node::Call(..) | Node::Name(_)) if !is_own => {
                let list = self.value(e, op);
                quote!(&#list.iter().collect::<Vec<_>>())
            }
            // writes the type of the list, because an empty list of literals does not determine its type
            (Kind::Signed, Node::List(items)) => {
                let (list, n) = (self.value(e, op), items.len());
                quote!(::core::convert::identity::<[isize; #n]>(#list))
            }
            (Kind::Axes | Kind::AxisOrAll | Kind::Operand(..), Node::Name(name)) if name == "all" && !is_own => {
                quote!(..)
            }
            (Kind::Choice(choice), Node::Name(name)) if !is_own => {
                let (ty, name) = (self.choice_type(choice), id(&camel(name)));
                quote!(#ty::#name)
            }
            (Kind::Plain(Plain::F64), Node::Number(Number::Integer(n))) => {
                let n = *n as f64;
                quote!(#n)
            }
            _ => self.value(e, op),
        }
    }

    /// Generates the statement that sets an option of a called op; `None` if the option's value is `none`.
    fn option(&self, param: &Param, e: &Expr, op: &Op) -> Option<TokenStream> {
        let (name, all) = (id(&param.name), hidden("options"));
        if let Node::Name(given) = &e.node {
            match op.param(given) {
                // passes on a parameter of the row that has the type of the option, even if the parameter's value is
                // `None`
                Some(own) if own.kind == param.kind && own.default.is_some() == param.default.is_some() => {
                    let (given, is_array) = (id(given), matches!(own.kind, Kind::Array(_)));
                    let borrowed = is_array.then(|| quote!(.map(::std::borrow::Cow::Borrowed)));
                    return Some(quote!(#all.#name = #given #borrowed;));
                }
                None if given == "none" => return None,
                _ => {}
            }
        }
        let value = match &param.kind {
            Kind::Maybe(plain) => self.argument(&Param { kind: Kind::Plain(*plain), ..param.clone() }, e, op),
            _ => self.argument(param, e, op),
        };
        Some(quote!(#all = #all.#name(#value);))
    }
}

fn is_operand(param: &Param) -> bool {
    matches!(param.kind, Kind::Operand(..))
}
