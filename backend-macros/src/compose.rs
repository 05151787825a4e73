//! `compose` expressions: `multiply(x, sigmoid(x))` to Rust over `b: &B`, and the checks of their names and dtypes.

use crate::{
    each::{Mistake, Number},
    expand::id,
    lexical::{KEYWORDS, check_expression, is_name},
    model::{Elem, Kind, Map, Model, Op, Out, Param, dtype_of},
    report::did_you_mean,
};
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use std::collections::BTreeMap;
use syn::{Expr, Lit, UnOp, ext::IdentExt, visit_mut::VisitMut};

fn parse(text: &str) -> Result<Expr, Mistake> {
    if let Err(why) = check_expression(text) {
        return Err(Mistake { part: why.part.into(), message: why.message, help: None });
    }
    let tokens: Result<TokenStream, _> = text.parse();
    let expr = tokens.map_err(syn::Error::from);
    let expr = expr.and_then(|tokens| syn::parse2(tokens.into_iter().map(where_is_a_name).collect()));
    expr.map_err(|e| Mistake { part: text.into(), message: format!("not an expression: {e}"), help: None })
}

/// The number that a literal, or a literal with a sign, stands for.
fn number(e: &Expr) -> Option<(&Lit, bool)> {
    let (lit, negative) = match e {
        Expr::Lit(lit) => (&lit.lit, false),
        Expr::Unary(syn::ExprUnary { op: UnOp::Neg(_), expr, .. }) => match &**expr {
            Expr::Lit(lit) => (&lit.lit, true),
            _ => return None,
        },
        _ => return None,
    };
    matches!(lit, Lit::Int(_) | Lit::Float(_)).then_some((lit, negative))
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
        Err(mistake) => return vec![mistake],
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
            Expr::Path(path) if path.path.get_ident().is_some() => {
                let name = path.path.get_ident()?.to_string();
                if !self.lets.contains_key(&name) {
                    let known: Vec<String> = self.lets.keys().cloned().collect();
                    let help = did_you_mean(&name, known.iter().map(String::as_str));
                    self.bad(&name, format!("`{name}` is neither a parameter nor a `let`"), help);
                }
                self.lets.get(&name).copied().flatten()
            }
            Expr::Block(syn::ExprBlock { label: None, block, .. }) => self.block(block),
            Expr::Paren(p) => self.value(&p.expr),
            Expr::Array(list) => {
                list.elems.iter().for_each(|e| _ = self.value(e));
                None
            }
            Expr::Lit(syn::ExprLit { lit: Lit::Bool(_), .. }) => None,
            other => {
                match number(other) {
                    Some((lit, negative)) => self.number(lit, negative),
                    None => self.not_in_the_language(other),
                }
                None
            }
        }
    }

    fn not_in_the_language(&mut self, part: &impl ToTokens) {
        let help = "it has calls of ops, parameters, numbers, lists of numbers, `let name = ..;`, `option = value`";
        let part = part.to_token_stream().to_string();
        self.bad(part, "this is not in the language of `compose`".into(), Some(help.into()));
    }

    fn number(&mut self, lit: &Lit, negative: bool) {
        // as an argument of another type it has the limits of that type, which rustc knows
        let float = matches!(lit, Lit::Float(_));
        let dtypes: Vec<&str> = match float {
            true => Vec::new(),
            false => self.model.dtypes_of(&self.op.set).iter().map(String::as_str).collect(),
        };
        if let Err(mistake) = Number::of(lit, negative, &dtypes) {
            self.mistakes.push(mistake);
        }
    }

    /// `let` statements, and the value at the end.
    fn block(&mut self, block: &syn::Block) -> Option<Elem> {
        let Some((syn::Stmt::Expr(value, None), before)) = block.stmts.split_last() else {
            self.bad("}", "there is no value before the bracket that closes".into(), None);
            return None;
        };
        for statement in before {
            self.statement(statement);
        }
        self.value(value)
    }

    fn statement(&mut self, statement: &syn::Stmt) {
        let syn::Stmt::Local(syn::Local { pat: syn::Pat::Ident(name), init: Some(init), .. }) = statement else {
            return self.not_in_the_language(statement);
        };
        if init.diverge.is_some() || name.subpat.is_some() || name.by_ref.is_some() || name.mutability.is_some() {
            return self.not_in_the_language(statement);
        }
        let elem = self.value(&init.expr);
        let name = name.ident.to_string();
        if !is_name(&name) || KEYWORDS.contains(&name.as_str()) {
            self.bad(&name, format!("`{name}` cannot be the name of a value"), Some(crate::lexical::NAME_RULE.into()));
        }
        self.lets.insert(name, elem);
    }

    fn call(&mut self, call: &syn::ExprCall) -> Option<Elem> {
        let name = match &*call.func {
            Expr::Path(path) if path.path.get_ident().is_some() => path.path.get_ident()?.unraw().to_string(),
            other => {
                self.not_in_the_language(other);
                return None;
            }
        };
        let Some(op) = self.model.op(&name) else {
            let help = did_you_mean(&name, self.model.ops.iter().map(|o| o.name.as_str()));
            self.bad(&name, format!("no op `{name}`"), help);
            return None;
        };
        let positional: Vec<&Param> = op.positional().collect();
        let mut given = 0;
        let mut options = Vec::new();
        // the element type of the argument that has the called op's dtype
        let mut of_t = None;
        for arg in &call.args {
            if let Expr::Assign(assign) = arg {
                let option = assign.left.to_token_stream().to_string();
                if !op.optional().any(|p| p.name == option) {
                    let help = did_you_mean(&option, op.optional().map(|p| p.name.as_str()));
                    self.bad(&option, format!("op `{name}` has no option `{option}`"), help);
                } else if options.contains(&option) {
                    self.bad(&option, format!("option `{option}` is given twice"), None);
                }
                options.push(option);
                self.value(&assign.right);
                continue;
            }
            let param = positional.get(given);
            let all = matches!(arg, Expr::Path(p) if p.path.is_ident("all")) && !self.lets.contains_key("all");
            let elem = if all && param.is_some_and(|p| p.kind == Kind::Axes) { None } else { self.value(arg) };
            if let (Some(elem), Some(param)) = (elem, param) {
                self.fits(&name, op, param, elem);
            }
            if of_t.is_none() && param.is_some_and(|p| is_of_t(&p.kind)) {
                of_t = Some(elem);
            }
            given += 1;
        }
        let of_t = of_t.flatten();
        if given != positional.len() {
            let wanted: Vec<&str> = positional.iter().map(|p| p.name.as_str()).collect();
            self.bad(
                &name,
                format!("op `{name}` takes {} ({}), {given} given", positional.len(), wanted.join(", ")),
                None,
            );
        }
        // the element type in terms of this row's T is known where the called op's T is this row's
        match op.result {
            Out::One(Elem::T) => of_t.or(Some(Elem::T)),
            Out::One(e @ (Elem::Bool | Elem::Int64)) => Some(e),
            Out::One(e) if of_t == Some(Elem::T) => Some(e),
            _ => None,
        }
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

/// The expression as Rust: calls of ops become `b.op(..)?`, values that are arrays get their `&`, options are set by name.
pub fn rewrite(text: &str, of: &Op, model: &Model, root: &TokenStream) -> TokenStream {
    // a text that is no expression was reported
    let Ok(mut expr) = parse(text) else { return quote!() };
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
        *e = Expr::Verbatim(quote!(b.#method(#(#args,)* #options)?));
    }
}

impl Rewrite<'_> {
    fn is_value(&self, arg: &Expr) -> bool {
        match arg {
            Expr::Verbatim(_) => true,
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
            (Kind::Axes, Expr::Path(path)) if path.path.is_ident("all") && self.of.param("all").is_none() => quote!(..),
            (Kind::Scalar | Kind::Operand(_), arg) => {
                match number(arg).map(|(lit, negative)| Number::of(lit, negative, &[])) {
                    Some(Ok(number)) => {
                        let value = number.rust(&quote!(#root::runtime));
                        if param.kind == Kind::Scalar { value } else { quote!(#root::runtime::Operand::Scalar(#value)) }
                    }
                    _ => quote!(#arg),
                }
            }
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
