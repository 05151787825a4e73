//! `conformance! { backend = EXPR, type = TYPE }`: a test per row and dtype, which `backends::conformance` runs.
//!
//! The generated function of a row only reads its arguments from the case and calls the op: samples, references and
//! comparisons are the facade's.

use crate::{
    expand::{Expand, camel_dtype, id},
    input::Input,
};
use op_table::model::*;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use std::collections::BTreeSet;

/// The tests of the rows of this call: those of the base table, or of the user's.
///
/// Those of rows that are `missing` are ignored.
pub fn tests(input: &Input, model: &Model, missing: &BTreeSet<String>) -> TokenStream {
    let root = &input.root;
    let (Some(backend), Some(ty)) = (&input.backend, &input.backend_type) else {
        return quote!(::core::compile_error! { "give `backend = ..` and `type = ..`" });
    };
    let data = match &input.golden {
        Some(file) => quote!(|_group| Some(include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/", #file)))),
        None => quote!(#root::conformance::golden),
    };
    let partial = input.partial.then(|| quote!(.partial()));
    let meter = input.meter.as_ref().map(|path| quote!(.metered(#path)));
    let of_table = input.table.is_some() && !input.overlay;
    let rows = model.ops.iter().filter(|o| o.own == of_table);
    let wanted = rows.filter(|o| input.groups.is_empty() || input.groups.contains(&o.group));
    let tests = wanted.map(|op| match missing.contains(&op.name) {
        true => ignored(op, model, input, ty),
        false => row(op, model, input, ty),
    });
    quote! {
        #[allow(unused_imports)]
        mod conformance {
            use super::*;
            use #root::{conformance::{Accuracy, Case, IntoBackend, Row, Suite, Values}, prelude::*};

            static SUITE: Suite<#ty> = Suite::new(|| IntoBackend::into_backend(#backend), #data)#partial #meter;

            #(#tests)*
        }
    }
}

fn row(op: &Op, model: &Model, input: &Input, ty: &syn::Type) -> TokenStream {
    let root = &input.root;
    let cases = model.cases_of(op);
    let Op { name, group, .. } = op;
    let params = Expand { model, root: root.clone(), extension: None }.params_info(op);
    let signature = model.signature_of(op);
    let accuracy = accuracy(op, model);
    let (any_zero, waits) = (op.facts.any_zero, op.facts.waits.as_ref().map_or(0, |waits| waits.bytes));
    let raises: Vec<&str> = op.facts.raises.iter().flatten().map(|case| case.text.as_str()).collect();
    let seed = op.facts.seed.map_or(quote!(None), |seed| quote!(Some(#seed)));
    let call = call(op, model, root, input.extension.as_ref());
    let wanted = |dtype: &&String| input.dtypes.is_empty() || input.dtypes.contains(dtype);
    let dtypes: Vec<&String> = model.dtypes_of(&op.set).iter().filter(wanted).collect();
    let checked = if cases.is_empty() { &[][..] } else { &dtypes };
    let checks = checked.iter().map(|dtype| check(op, model, dtype, root, ty));
    let answers = answers(op, model, &dtypes, root, ty);
    let module = id(name);
    quote! {
        mod #module {
            use super::*;

            const ROW: Row = Row {
                name: #name,
                group: #group,
                params: #params,
                signature: #signature,
                cases: &[#(#cases),*],
                accuracy: #accuracy,
                any_zero: #any_zero,
                waits: #waits,
                raises: &[#(#raises),*],
                seed: #seed,
            };

            #call

            #(#checks)*
            #answers
        }
    }
}

/// The tests of a row that the backend lacks: the test runner tells them from those that pass.
fn ignored(op: &Op, model: &Model, input: &Input, ty: &syn::Type) -> TokenStream {
    let wanted = |dtype: &&String| input.dtypes.is_empty() || input.dtypes.contains(dtype);
    let tests = model.dtypes_of(&op.set).iter().filter(wanted).map(|dtype| id(dtype));
    let (module, why) = (id(&op.name), format!("{} has no `{}`", quote!(#ty), op.name));
    quote! {
        mod #module {
            #(#[test] #[ignore = #why] fn #tests() {})*
        }
    }
}

fn dtype(name: &str) -> TokenStream {
    let variant = id(&camel_dtype(name));
    quote!(DType::#variant)
}

fn accuracy(op: &Op, model: &Model) -> TokenStream {
    let pairs = |list: &[(String, f64)]| {
        let list = list.iter().map(|(d, x)| {
            let d = dtype(d);
            quote!((#d, #x))
        });
        quote!(&[#(#list),*])
    };
    let own_ulp = pairs(&op.ulp);
    let Some(a) = model.accuracies.iter().find(|a| a.name == op.accuracy) else {
        return quote!(Accuracy { own_ulp: #own_ulp, ..Accuracy::EXACT });
    };
    let (ulp, rtol, sqrt_n, shape) = (a.ulp.unwrap_or(0.0), pairs(&a.rtol), a.sqrt_n, a.shape);
    quote!(Accuracy { ulp: #ulp, rtol: #rtol, sqrt_n: #sqrt_n, shape: #shape, own_ulp: #own_ulp })
}

/// The Rust type of a dtype.
pub fn rust_type(name: &str, model: &Model, root: &TokenStream) -> TokenStream {
    let text = model.dtypes.iter().find(|d| d.name == name).map_or("", |d| d.rust.as_str());
    let path: TokenStream = text.parse().unwrap_or_default();
    let of_another_crate = text.contains("f16") || text.contains('<');
    if of_another_crate { quote!(#root::runtime::#path) } else { path }
}

/// The tests that the row answers any arguments, in every dtype: the usual one first, which is called most; and that it
/// refuses the same ones as other backends, in the usual one.
fn answers(op: &Op, model: &Model, dtypes: &[&String], root: &TokenStream, ty: &syn::Type) -> TokenStream {
    if dtypes.is_empty() {
        return quote!();
    }
    let mut dtypes = dtypes.to_vec();
    dtypes.sort_by_key(|dtype| !matches!(dtype.as_str(), "float64" | "int64"));
    let second = op.second_set.as_ref().map(|set| {
        // float64 where the set has it, else what it begins with
        let set = model.dtypes_of(set);
        let usual = set.iter().find(|d| *d == "float64").or(set.first()).map_or("float64", String::as_str);
        let u = rust_type(usual, model, root);
        quote!(#u,)
    });
    let calls = dtypes.iter().map(|name| {
        let (d, t) = (dtype(name), rust_type(name, model, root));
        quote!((#d, call::<#ty, #second #t>))
    });
    let (usual, usual_type) = (dtype(dtypes[0]), rust_type(dtypes[0], model, root));
    let raises = op.facts.raises.as_ref().map(|_| {
        quote! {
            #[test]
            fn raises() { SUITE.raises(&ROW, #usual, call::<#ty, #second #usual_type>); }
        }
    });
    quote! {
        #raises


        #[test]
        fn arguments() { SUITE.answers(&ROW, &[#(#calls),*]); }

        #[test]
        fn errors() {
            SUITE.agrees(
                &ROW,
                #usual,
                call::<#ty, #second #usual_type>,
                call::<#root::runtime::numpyish::Numpyish, #second #usual_type>,
            );
        }
    }
}

/// One test: a row for one dtype (and, where it has a second one, for all of those).
fn check(op: &Op, model: &Model, name: &str, root: &TokenStream, ty: &syn::Type) -> TokenStream {
    let rust = |name: &str| rust_type(name, model, root);
    let (test, d, t) = (id(name), dtype(name), rust(name));
    let body = match &op.second_set {
        None => quote!(SUITE.check(&ROW, #d, call::<#ty, #t>);),
        Some(set) => {
            let each = model.dtypes_of(set).iter().map(|second| {
                let (d2, u) = (dtype(second), rust(second));
                quote!(SUITE.check_to(&ROW, #d, #d2, call::<#ty, #u, #t>);)
            });
            quote!(#(#each)*)
        }
    };
    quote! {
        #[test]
        fn #test() { #body }
    }
}

/// `fn call<B: Backend, T: Bound>(case: &Case<'_, B>) -> Result<Vec<Values>>`
fn call(op: &Op, model: &Model, root: &TokenStream, user: Option<&syn::Ident>) -> TokenStream {
    let expand = Expand { model, root: root.clone(), extension: user.cloned() };
    // the traits of sets are in reach as the row's own trait is
    let bound_of = |set: &str| match model.set(set) {
        Some(set) if set.is_narrower => id(&camel(&set.name)),
        set => id(set.map_or("Element", |set| &set.bound)),
    };
    let bound = bound_of(&op.set);
    let second = op.second_set.as_ref().map(|set| {
        let bound = bound_of(set);
        quote!(U: #bound,)
    });
    let args: Vec<TokenStream> = op.positional().map(|p| expand.from_case(p, op)).collect();
    let method = if op.has_options() { format_ident!("{}_with", op.name) } else { id(&op.name) };
    let (prepare, options) = if op.has_options() {
        let name = format_ident!("{}Options", op.camel());
        let set = op.optional().map(|p| expand.option_from_case(p, op));
        (quote!(let mut options = #name::new(); #(#set)*), quote!(options))
    } else {
        (quote!(), quote!())
    };
    let turbofish = match (&op.second, op.infers_dtype()) {
        (Some(_), _) => quote!(::<U, T>),
        (None, true) => quote!(),
        (None, false) => quote!(::<T>),
    };
    let read = expand.result_of_case(op);
    let user = user.map(|name| quote!(+ #name));
    quote! {
        fn call<B: Backend #user, #second T: #bound>(case: &Case<'_, B>) -> Result<Vec<Values>> {
            #prepare
            let result = case.b.#method #turbofish (#(#args,)* #options)?;
            #read
        }
    }
}
