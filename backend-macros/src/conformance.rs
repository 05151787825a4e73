//! `conformance! { backend = EXPR, type = TYPE }`: a test per row and dtype, which `backends::conformance` runs.
//!
//! The generated function of a row only reads its arguments from the case and calls the op: samples, references and
//! comparisons are the facade's.

use crate::{
    expand::{camel_dtype, elem, id, info},
    input::Input,
};
use op_table::model::*;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

/// The tests of the rows of this call: those of the base table, or of the user's.
pub fn tests(input: &Input, model: &Model) -> TokenStream {
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
    let rows = model.ops.iter().filter(|o| o.own == input.table.is_some());
    let wanted = rows.filter(|o| input.groups.is_empty() || input.groups.contains(&o.group));
    let tests = wanted.map(|op| row(op, model, input, ty));
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
    let params = info::params(op, &quote!(#root::runtime));
    let signature = model.signature_of(op);
    let accuracy = accuracy(op, model);
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
            };

            #call

            #(#checks)*
            #answers
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
/// refuses the same ones as other backends.
fn answers(op: &Op, model: &Model, dtypes: &[&String], root: &TokenStream, ty: &syn::Type) -> TokenStream {
    if dtypes.is_empty() {
        return quote!();
    }
    let mut dtypes = dtypes.to_vec();
    dtypes.sort_by_key(|dtype| !matches!(dtype.as_str(), "float64" | "int64"));
    let second = op.second.as_ref().map(|_| quote!(f64,));
    let calls = dtypes.iter().map(|name| {
        let (d, t) = (dtype(name), rust_type(name, model, root));
        quote!((#d, call::<#ty, #second #t>))
    });
    let pairs = dtypes.iter().map(|name| {
        let (d, t) = (dtype(name), rust_type(name, model, root));
        quote!((#d, call::<#ty, #second #t>, call::<#root::runtime::numpyish::Numpyish, #second #t>))
    });
    quote! {
        #[test]
        fn arguments() { SUITE.answers(&ROW, &[#(#calls),*]); }

        #[test]
        fn errors() { SUITE.agrees(&ROW, &[#(#pairs),*]); }
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
    let args: Vec<TokenStream> = op.positional().map(|p| argument(p, op, root)).collect();
    let method = if op.has_options() { format_ident!("{}_with", op.name) } else { id(&op.name) };
    let (prepare, options) = if op.has_options() {
        let name = format_ident!("{}Options", op.camel());
        let set = op.optional().map(|p| option(p, op, root));
        (quote!(let mut options = #name::new(); #(#set)*), quote!(options))
    } else {
        (quote!(), quote!())
    };
    let turbofish = match (&op.second, op.infers_dtype()) {
        (Some(_), _) => quote!(::<U, T>),
        (None, true) => quote!(),
        (None, false) => quote!(::<T>),
    };
    let read = match &op.result {
        Out::One(_) => quote!(Ok(vec![case.read(&result)?])),
        Out::Tuple(parts) => {
            let i = (0..parts.len()).map(syn::Index::from);
            quote!(Ok(vec![#(case.read(&result.#i)?),*]))
        }
        Out::List(_) => quote!(result.iter().map(|x| case.read(x)).collect()),
    };
    let user = user.map(|name| quote!(+ #name));
    quote! {
        fn call<B: Backend #user, #second T: #bound>(case: &Case<'_, B>) -> Result<Vec<Values>> {
            #prepare
            let result = case.b.#method #turbofish (#(#args,)* #options)?;
            #read
        }
    }
}

fn argument(p: &Param, op: &Op, root: &TokenStream) -> TokenStream {
    let name = &p.name;
    match &p.kind {
        Kind::Array(e) => {
            let e = elem(*e, op);
            quote!(&case.array::<#e>(#name)?)
        }
        Kind::Operand(e) => {
            let e = elem(*e, op);
            quote!(case.operand::<#e>(#name)?.operand())
        }
        Kind::Arrays(e) => {
            let e = elem(*e, op);
            quote!(&case.arrays::<#e>(#name)?.iter().collect::<Vec<_>>())
        }
        Kind::Host => quote!(case.host::<T>(#name)?),
        Kind::Bytes => quote!(&case.bytes::<T>(#name)?),
        Kind::Scalar => quote!(case.scalar::<T>(#name)?),
        other => {
            let ty = read_type(other, root);
            quote!(case.get::<#ty>(#name)?)
        }
    }
}

fn option(p: &Param, op: &Op, root: &TokenStream) -> TokenStream {
    let (name, setter) = (&p.name, id(&p.name));
    match &p.kind {
        Kind::Array(e) => {
            let e = elem(*e, op);
            quote! {
                let array = case.optional::<#e>(#name)?;
                if let Some(array) = &array { options = options.#setter(array); }
            }
        }
        other => {
            let ty = read_type(other, root);
            quote!(if let Some(value) = case.given::<#ty>(#name)? { options = options.#setter(value); })
        }
    }
}

/// The type in which a parameter that is no array is read from a case.
fn read_type(kind: &Kind, root: &TokenStream) -> TokenStream {
    match kind {
        Kind::Axes => quote!(Axes),
        Kind::Axis => quote!(isize),
        Kind::Shape => quote!(Vec<usize>),
        Kind::Signed => quote!(Vec<isize>),
        Kind::Slices => quote!(Vec<Slice>),
        Kind::Lengths => quote!(Lengths),
        Kind::Plain(t) | Kind::Maybe(t) => {
            let t = id(t.name());
            quote!(#t)
        }
        Kind::Choice(t) => {
            let t = id(t);
            quote!(#root::runtime::#t)
        }
        Kind::Array(_) | Kind::Operand(_) | Kind::Arrays(_) | Kind::Host | Kind::Bytes | Kind::Scalar => {
            unreachable!("read by dtype")
        }
    }
}
