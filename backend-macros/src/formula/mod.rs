//! Expands `expr!(b, formula)`: converts a formula to the types of `backend_runtime::formula`.
//!
//! The macro that users call adds a digest of each op table to its arguments. The digest lists the parameters of each
//! op of the table, and marks the ops that are scalar expressions. The generated code names no dtypes, because rustc
//! infers them.

mod lower;
mod parse;
mod print;
mod rows;
#[cfg(test)]
mod tests;
mod tree;

use crate::{expand::snake, input::Input};
use op_table::Model;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use rows::Rows;

/// A mistake: its position and its text.
#[derive(Debug)]
struct Mistake(Span, String);

type Result<T> = std::result::Result<T, Mistake>;

fn mistake<T>(at: Span, text: impl Into<String>) -> Result<T> {
    Err(Mistake(at, text.into()))
}

/// Expands the input `[PATH "DIGEST" ..] BACKEND, FORMULA`. The list in brackets describes the tables of the known
/// ops; the tokens of the user follow it.
pub fn expand(input: TokenStream) -> TokenStream {
    match try_expand(input) {
        Ok(tokens) => tokens,
        Err(Mistake(at, text)) => quote_spanned!(at => ::core::compile_error!(#text)),
    }
}

fn try_expand(input: TokenStream) -> Result<TokenStream> {
    let mut tokens = input.into_iter();
    let Some(TokenTree::Group(tables)) = tokens.next() else {
        return mistake(Span::call_site(), "the tables are missing");
    };
    let rows = Rows::new(tables.stream());
    let tokens: Vec<TokenTree> = tokens.collect();
    let written = print::written(&tokens);
    let (backend, formula) = parse::parse(tokens, &rows)?;
    lower::lower(&backend, &formula, &rows, written)
}

/// Generates the macro for formulas that users call. For the base table, it is the macro to which `expr!` expands.
/// For a user's table, it is `expr_my_ops!`, which also knows the ops of the base table. `ops` is the name of the
/// module of the table's ops.
pub fn macro_of(input: &Input, model: &Model, ops: &Ident) -> TokenStream {
    let root = &input.root;
    let own = rows::digest(model.ops.iter().filter(|op| op.own));
    match &input.extension {
        // The facade writes the exported `expr!` itself, because a crate cannot re-export a macro that a macro made.
        // The modules of the facade use the second of these macros, and the exported `expr!` uses the first.
        None if input.base.is_none() => quote! {
            #[doc(hidden)]
            #[macro_export]
            macro_rules! __expr {
                ($($t:tt)*) => { $crate::__private::expr! { [$crate; #ops #own] $($t)* } };
            }
            #[allow(unused_macros)]
            macro_rules! expr {
                ($($t:tt)*) => { __expr! { $($t)* } };
            }
        },
        Some(name) => {
            let base = rows::digest(model.ops.iter().filter(|op| !op.own));
            // gives `$crate` the span of the trait's name, so that `$crate` means the user's crate; with the span of
            // this code, it would mean the facade
            let here = quote_spanned!(name.span() => $crate);
            let (name, doc) = (
                format_ident!("expr_{}", snake(&name.to_string())),
                format!("Like `expr!` of the base table, but also knows the ops of [`{name}`]."),
            );
            quote! {
                #[doc = #doc]
                #[macro_export]
                macro_rules! #name {
                    ($($t:tt)*) => { #root::__private::expr! { [#root; ops #base #here; #ops #own] $($t)* } };
                }
            }
        }
        _ => quote!(),
    }
}
