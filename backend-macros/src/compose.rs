//! `compose` expressions: `multiply(x, sigmoid(x))` to Rust over `b: &B`, and the checks of their names and dtypes.

use crate::{
    each::Mistake,
    expand::id,
    model::{Elem, Kind, Map, Model, Op, Out, Param, dtype_of},
    report::did_you_mean,
};
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use std::collections::BTreeMap;
use syn::{Expr, ext::IdentExt, visit::Visit, visit_mut::VisitMut};

fn parse(text: &str) -> syn::Result<Expr> {
    let tokens: TokenStream = text.parse()?;
    syn::parse2(tokens.into_iter().map(where_is_a_name).collect())
}

/// `where`, which is an op here, is a keyword of Rust.
fn where_is_a_name(token: TokenTree) -> TokenTree {
    match token {
        TokenTree::Ident(i) if i == "where" => Ident::new_raw("where", i.span()).into(),
        TokenTree::Group(g) => Group::new(g.delimiter(), g.stream().into_iter().map(where_is_a_name).collect()).into(),
        other => other,
    }
}

/// Everything wrong with the expression of `op`.
pub fn check(text: &str, op: &Op, model: &Model) -> Vec<Mistake> {
    let expr = match parse(text) {
        Ok(expr) => expr,
        Err(e) => {
            return vec![Mistake { part: text.into(), message: format!("not an expression: {e}"), help: None }];
        }
    };
    let mut checker = Checker { op, model, lets: BTreeMap::new(), mistakes: Vec::new() };
    for param in &op.params {
        if let Kind::Array(e) | Kind::Operand(e) | Kind::Arrays(e) = param.kind {
            checker.lets.insert(param.name.clone(), Some(e));
        } else {
            checker.lets.insert(param.name.clone(), None);
        }
    }
    checker.value(&expr);
    checker.mistakes
}

struct Checker<'m> {
    op: &'m Op,
    model: &'m Model,
    /// Names in scope, and the element type of those that are arrays.
    lets: BTreeMap<String, Option<Elem>>,
    mistakes: Vec<Mistake>,
}

impl Checker<'_> {
    fn bad(&mut self, part: impl Into<String>, message: String, help: Option<String>) {
        self.mistakes.push(Mistake { part: part.into(), message, help });
    }

    /// The element type of a value, where it is known.
    fn value(&mut self, e: &Expr) -> Option<Elem> {
        match e {
            Expr::Call(call) => self.call(call),
            Expr::Path(path) => {
                let name = path.path.get_ident()?.to_string();
                if !self.lets.contains_key(&name) {
                    let known: Vec<String> = self.lets.keys().cloned().collect();
                    let help = did_you_mean(&name, known.iter().map(String::as_str));
                    self.bad(&name, format!("`{name}` is neither a parameter nor a `let`"), help);
                }
                self.lets.get(&name).copied().flatten()
            }
            Expr::Block(block) => {
                let mut last = None;
                for statement in &block.block.stmts {
                    last = self.statement(statement);
                }
                last
            }
            Expr::Paren(p) => self.value(&p.expr),
            other => {
                Each(|e| {
                    self.value(e);
                })
                .children(other);
                None
            }
        }
    }

    fn statement(&mut self, statement: &syn::Stmt) -> Option<Elem> {
        match statement {
            syn::Stmt::Expr(e, _) => self.value(e),
            syn::Stmt::Local(local) => {
                let elem = local.init.as_ref().and_then(|init| self.value(&init.expr));
                if let syn::Pat::Ident(name) = &local.pat {
                    self.lets.insert(name.ident.to_string(), elem);
                }
                None
            }
            _ => None,
        }
    }

    fn call(&mut self, call: &syn::ExprCall) -> Option<Elem> {
        let Expr::Path(path) = &*call.func else {
            return None;
        };
        let name = path.path.get_ident()?.unraw().to_string();
        let Some(op) = self.model.op(&name) else {
            let help = did_you_mean(&name, self.model.ops.iter().map(|o| o.name.as_str()));
            self.bad(&name, format!("no op `{name}`"), help);
            return None;
        };
        let positional: Vec<&Param> = op.positional().collect();
        let mut given = 0;
        for arg in &call.args {
            if let Expr::Assign(assign) = arg {
                let option = assign.left.to_token_stream().to_string();
                if !op.optional().any(|p| p.name == option) {
                    let help = did_you_mean(&option, op.optional().map(|p| p.name.as_str()));
                    self.bad(&option, format!("op `{name}` has no option `{option}`"), help);
                }
                self.value(&assign.right);
                continue;
            }
            let elem = self.value(arg);
            if let (Some(elem), Some(param)) = (elem, positional.get(given)) {
                self.fits(&name, op, param, elem);
            }
            given += 1;
        }
        if given != positional.len() {
            let wanted: Vec<&str> = positional.iter().map(|p| p.name.as_str()).collect();
            self.bad(
                &name,
                format!("op `{name}` takes {} ({}), {given} given", positional.len(), wanted.join(", ")),
                None,
            );
        }
        // the element type in terms of this row's T is known where the called op's T is this row's
        let of_t = positional.iter().position(|p| is_of_t(&p.kind)).and_then(|i| call.args.iter().nth(i));
        match op.result {
            Out::One(Elem::T) => of_t.and_then(|a| self.quiet(a)).or(Some(Elem::T)),
            Out::One(e @ (Elem::Bool | Elem::Int64)) => Some(e),
            Out::One(e) if of_t.and_then(|a| self.quiet(a)) == Some(Elem::T) => Some(e),
            _ => None,
        }
    }

    /// The element type of an argument that was checked before.
    fn quiet(&mut self, e: &Expr) -> Option<Elem> {
        let mistakes = std::mem::take(&mut self.mistakes);
        let elem = self.value(e);
        self.mistakes = mistakes;
        elem
    }

    /// Whether the op called has the dtypes of its argument.
    fn fits(&mut self, name: &str, op: &Op, param: &Param, elem: Elem) {
        if !is_of_t(&param.kind) {
            return;
        }
        let legal = self.model.dtypes_of(&op.set);
        let here = self.model.dtypes_of(&self.op.set).iter().map(|d| dtype_of(elem, d));
        if let Some(dtype) = here.into_iter().find(|d| !legal.iter().any(|l| l == d)).map(str::to_string) {
            let message = format!("op `{name}` is for {} dtypes; here its argument may be {dtype}", op.set);
            let help = Some(format!("the row's dtypes are `{}`", self.op.set));
            self.bad(name, message, help);
        }
    }
}

fn is_of_t(kind: &Kind) -> bool {
    matches!(kind, Kind::Array(Elem::T) | Kind::Operand(Elem::T) | Kind::Arrays(Elem::T))
}

/// Visits the direct children of an expression.
struct Each<F: FnMut(&Expr)>(F);

impl<F: FnMut(&Expr)> Each<F> {
    fn children(&mut self, e: &Expr) {
        syn::visit::visit_expr(self, e);
    }
}

impl<F: FnMut(&Expr)> Visit<'_> for Each<F> {
    fn visit_expr(&mut self, e: &Expr) {
        (self.0)(e);
    }
}

/// The expression as Rust: calls of ops become `b.op(..)?`, values that are arrays get their `&`, options are set by name.
pub fn rewrite(text: &str, of: &Op, model: &Model, root: &TokenStream) -> TokenStream {
    let mut expr = parse(text).expect("checked");
    Rewrite { of, model, root, lets: Vec::new() }.visit_expr_mut(&mut expr);
    match expr {
        Expr::Block(block) => {
            let statements = block.block.stmts;
            quote!(#(#statements)*)
        }
        expr => expr.into_token_stream(),
    }
}

struct Rewrite<'m> {
    of: &'m Op,
    model: &'m Model,
    root: &'m TokenStream,
    lets: Vec<String>,
}

impl VisitMut for Rewrite<'_> {
    fn visit_pat_ident_mut(&mut self, pat: &mut syn::PatIdent) {
        self.lets.push(pat.ident.to_string());
    }

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        syn::visit_mut::visit_expr_mut(self, e);
        let Expr::Call(call) = e else { return };
        let Expr::Path(path) = &*call.func else {
            return;
        };
        let Some(op) = path.path.get_ident().and_then(|name| self.model.op(&name.unraw().to_string())) else {
            return;
        };
        let (named, positional): (Vec<&Expr>, Vec<&Expr>) =
            call.args.iter().partition(|a| matches!(a, Expr::Assign(_)));
        let args = positional.into_iter().zip(op.positional()).map(|(arg, param)| self.argument(arg, param));
        let args: Vec<TokenStream> = args.collect();
        let method = if named.is_empty() { id(&op.name) } else { format_ident!("{}_with", op.name) };
        let options = (!named.is_empty()).then(|| self.options(op, &named));
        *e = syn::parse2(quote!(b.#method(#(#args,)* #options)?)).expect("a method call");
    }
}

impl Rewrite<'_> {
    fn is_value(&self, arg: &Expr) -> bool {
        match arg {
            Expr::Try(_) => true,
            Expr::Path(path) => path.path.get_ident().is_some_and(|i| self.lets.contains(&i.to_string())),
            _ => false,
        }
    }

    fn argument(&self, arg: &Expr, param: &Param) -> TokenStream {
        let root = self.root;
        match (&param.kind, arg) {
            (Kind::Array(_), arg) if self.is_value(arg) => quote!(&#arg),
            // a `let` may be used again; a temporary is handed over
            (Kind::Operand(_), Expr::Path(_)) if self.is_value(arg) => quote!(&#arg),
            (Kind::Scalar, Expr::Lit(_) | Expr::Unary(_)) => {
                quote!(#root::runtime::Element::from_f64(#arg as f64))
            }
            (Kind::Axes, Expr::Path(path)) if path.path.is_ident("all") => quote!(..),
            (_, arg) => quote!(#arg),
        }
    }

    fn options(&self, op: &Op, named: &[&Expr]) -> TokenStream {
        let (root, name) = (self.root, format_ident!("{}Options", op.camel()));
        let path = if op.own { quote!(#name) } else { quote!(#root::#name) };
        let set = named.iter().map(|assign| {
            let Expr::Assign(assign) = assign else { unreachable!("partitioned") };
            let (option, value) = (&assign.left, &assign.right);
            // a parameter of this row is handed on as it is, `None` included; anything else goes through the setter
            match &**value {
                Expr::Path(p) if p.path.get_ident().is_some_and(|i| self.of.param(&i.to_string()).is_some()) => {
                    quote!(options.#option = #value;)
                }
                _ => quote!(options = options.#option(#value);),
            }
        });
        quote!({ #[allow(unused_mut)] let mut options = #path::new(); #(#set)* options })
    }
}

/// The composition of a row, if it is composed for any library.
pub fn of(op: &Op) -> Option<&str> {
    op.maps.values().find_map(|m| match m {
        Map::Compose(text) => Some(text.as_str()),
        _ => None,
    })
}
