//! Expands `conformance! { backend = EXPR, type = TYPE }` to tests for each row of the op table and each of its
//! dtypes. The tests call `backends::conformance`.
//!
//! The tests call ops by name. The crate `backends` (the facade) has the samples, references and comparisons.

use crate::{
    expand::{Expand, camel_dtype, elem, id},
    input::Input,
};
use op_table::model::*;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use std::collections::BTreeSet;

/// Generates the tests of one macro call. They cover the rows of the user's table, if the call has one, otherwise the
/// rows of the base table.
///
/// `missing` lists rows that the backend lacks. The tests of these rows are marked as ignored.
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
    let ranks = input.ranks.as_ref().map(|path| quote!(.on_ranks(#path)));
    let of_table = input.table.is_some();
    let rows = model.ops.iter().filter(|o| o.own == of_table);
    let wanted = rows.filter(|o| input.groups.is_empty() || input.groups.contains(&o.group));
    let wanted = wanted.filter(|op| !input.gradients || has_gradients(op, model));
    let every = input.every.unwrap_or(1);
    let wanted = wanted.enumerate().filter(|(i, _)| i % every == 0).map(|(_, op)| op);
    let wanted: Vec<&Op> = wanted.collect();
    // the comparison with PyTorch's gradients is a single test for all rows of the base table
    let autograd = (input.gradients && !of_table && input.groups.is_empty() && input.every.is_none()).then(|| {
        let rows = wanted.iter().map(|op| id(&op.name));
        quote! {
            #[test]
            fn autograd() { SUITE.autograd(&[#((&#rows::ROW, #rows::GRADIENTS)),*], by_name); }
        }
    });
    let tests = wanted.iter().map(|op| match missing.contains(&op.name) {
        true => ignored(op, model, input, ty),
        false => row(op, model, input),
    });
    let present: Vec<&Op> = wanted.iter().copied().filter(|op| !missing.contains(&op.name)).collect();
    let calls = calls(&present, model, input);
    // the calls of the base table's ops on the CPU are compiled only once, in the crate of the base table
    let reference = if of_table { quote!(by_name) } else { quote!(#root::conformance::reference) };
    quote! {
        #[allow(unused_imports)]
        mod conformance {
            use super::*;
            use #root::{*, conformance::{Accuracy, Gradients, IntoBackend, Row, Suite}};

            static SUITE: Suite<#ty> = Suite::new(|| IntoBackend::into_backend(#backend), #data, by_name, #reference)#partial #meter #ranks;

            #calls
            #(#tests)*
            #autograd
        }
    }
}

/// Dtypes in which first and second derivatives are compared with finite differences.
const WIDE: [&str; 2] = ["float64", "complex128"];

/// Narrower dtypes. Gradients in these dtypes are compared with gradients in the dtypes of `WIDE`.
const NARROW: [&str; 4] = ["float32", "float16", "bfloat16", "complex64"];

/// Generates the functions that call ops by name: `by_name`, and `by_name_twice` for second derivatives. They contain
/// only the rows and dtypes that the tests need.
fn calls(rows: &[&Op], model: &Model, input: &Input) -> TokenStream {
    let expand = Expand::new(model, input);
    let all = input.dtypes.is_empty() && !input.gradients && !input.methods;
    let tested = |op: &Op| -> Vec<&str> {
        let wanted = |d: &&str| match input.gradients {
            true => WIDE.contains(d) || NARROW.contains(d),
            false => input.dtypes.is_empty() || input.dtypes.iter().any(|wanted| wanted == d),
        };
        model.dtypes_of(&op.set).iter().map(String::as_str).filter(wanted).collect()
    };
    // the key `compared` of a row may name other ops, whose results are compared instead of the row's own; these ops
    // are called in any dtype
    let compared: BTreeSet<&str> = rows
        .iter()
        .flat_map(|op| op.facts.compared.iter().flatten())
        .flat_map(|part| part.text.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .collect();
    let of_base_alone = input.table.is_none() && !input.gradients;
    let further = model.ops.iter().filter(|op| !of_base_alone && compared.contains(op.name.as_str()));
    let mut called: Vec<(&Op, Option<Vec<&str>>)> = further.map(|op| (op, None)).collect();
    for op in rows {
        if !called.iter().any(|(other, _)| other.name == op.name) {
            called.push((op, (!all).then(|| tested(op))));
        }
    }
    let call = expand.call_of(&id("by_name"), &called, input.methods);
    let twice = input.gradients.then(|| {
        let called: Vec<_> = called.iter().map(|&(op, _)| (op, Some(WIDE.to_vec()))).collect();
        expand.call_of(&id("by_name_twice"), &called, input.methods)
    });
    quote!(#call #twice)
}

fn row(op: &Op, model: &Model, input: &Input) -> TokenStream {
    let cases = model.cases_of(op);
    let Op { name, group, .. } = op;
    let expand = Expand { extension: None, ..Expand::new(model, input) };
    let (params, result) = (expand.params_info(op), expand.result_info(op));
    let (any_zero, waits) = (op.facts.any_zero, op.facts.waits.as_ref().map_or(0, |waits| waits.bytes));
    let raises: Vec<&str> = op.facts.raises.iter().flatten().map(|case| case.text.as_str()).collect();
    let compared: Vec<&str> = op.facts.compared.iter().flatten().map(|part| part.text.as_str()).collect();
    let seed = op.facts.seed.map_or(quote!(None), |seed| quote!(Some(#seed)));
    let signature = model.signature_of(op);
    let accuracy = accuracy(op, model);
    let wanted = |dtype: &&String| input.dtypes.is_empty() || input.dtypes.contains(dtype);
    let dtypes: Vec<&String> = model.dtypes_of(&op.set).iter().filter(wanted).collect();
    let checked = if cases.is_empty() { &[][..] } else { &dtypes };
    let checks = checked.iter().map(|dtype| check(op, model, dtype));
    let answers = answers(op, &dtypes, model);
    let numbers = op.positional().any(|p| !p.is_array());
    let as_formula = (input.formulas && op.is_elementwise() && !numbers && !cases.is_empty())
        .then(|| as_formula(op, &expand, input, &dtypes, model));
    let module = id(name);
    let tests = match input.gradients {
        true => {
            let as_formula = (op.by_element.is_some() && !numbers && dtypes.iter().any(|d| *d == "float64"))
                .then(|| gradients_of_formula(op, &expand, input, model));
            let gradients = gradients(op, &dtypes);
            quote!(#gradients #as_formula)
        }
        false => quote!(#(#checks)* #answers #as_formula),
    };
    quote! {
        mod #module {
            use super::*;

            pub(super) const ROW: Row = Row {
                name: #name,
                group: #group,
                params: #params,
                result: #result,
                signature: #signature,
                cases: &[#(#cases),*],
                accuracy: #accuracy,
                any_zero: #any_zero,
                waits: #waits,
                raises: &[#(#raises),*],
                compared: &[#(#compared),*],
                seed: #seed,
            };

            #tests
        }
    }
}

/// Returns whether a row has test cases, and inputs with gradients.
fn has_gradients(op: &Op, model: &Model) -> bool {
    let has = match &op.gradient {
        Gradient::Rules(rules) => rules.iter().any(|rule| rule.function.is_ok()),
        Gradient::OfParts => true,
        _ => false,
    };
    has && !model.cases_of(op).is_empty() && op.second.is_none()
}

/// Generates the tests that compare a row's gradients with finite differences.
fn gradients(op: &Op, dtypes: &[&String]) -> TokenStream {
    let without: Vec<&str> = match &op.gradient {
        Gradient::Rules(rules) => {
            rules.iter().filter(|rule| rule.function.is_err()).map(|rule| rule.input.as_str()).collect()
        }
        _ => Vec::new(),
    };
    let ((low, high), extremes) = (op.domain, op.extremes.is_empty());
    let wide: Vec<&&String> = dtypes.iter().filter(|dtype| WIDE.contains(&dtype.as_str())).collect();
    let tests = wide.iter().map(|name| {
        let (test, second, forward) = (id(name), format_ident!("second_{name}"), format_ident!("forward_{name}"));
        let dtype = dtype(name);
        quote! {
            #[test]
            fn #test() { SUITE.gradients(&ROW, #dtype, GRADIENTS, by_name); }

            #[test]
            fn #second() { SUITE.second_gradients(&ROW, #dtype, GRADIENTS, by_name, by_name_twice); }

            #[test]
            fn #forward() { SUITE.tangents(&ROW, #dtype, GRADIENTS, by_name, by_name_twice); }
        }
    });
    let has = |name: &str| wide.iter().any(|d| d.as_str() == name);
    let wider = |name: &str| if name.starts_with("complex") { has("complex128") } else { has("float64") };
    let narrow = dtypes.iter().filter(|d| NARROW.contains(&d.as_str()) && wider(d));
    let narrow: Vec<TokenStream> = narrow.map(|name| dtype(name)).collect();
    let narrow = (!narrow.is_empty()).then(|| {
        quote! {
            #[test]
            fn narrow() { SUITE.narrow_gradients(&ROW, &[#(#narrow),*], GRADIENTS, by_name); }
        }
    });
    quote! {
        pub(super) const GRADIENTS: Gradients = Gradients { without: &[#(#without),*], domain: (#low, #high), extremes: #extremes };
        #(#tests)*
        #narrow
    }
}

/// Generates a test that uses a row's scalar expression in a formula, and compares the formula's gradients with
/// finite differences.
fn gradients_of_formula(op: &Op, expand: &Expand<'_>, input: &Input, model: &Model) -> TokenStream {
    let (root, ty) = (&input.root, &input.backend_type);
    let Some(t) = model.dtypes.iter().find(|d| d.name == "float64").and_then(|d| expand.element_type(d)) else {
        return quote!();
    };
    let formula = formula_of(op, input, model);
    let dtype = dtype("float64");
    quote! {
        #formula

        #[test]
        fn as_a_formula() {
            SUITE.gradients_of_formula(&ROW, #dtype, GRADIENTS, formula::<#root::grad::Diff<#ty>, #t>);
        }
    }
}

/// Generates a test that uses a row's scalar expression in a formula, and compares the formula's value with the
/// result of the row's op.
fn as_formula(op: &Op, expand: &Expand<'_>, input: &Input, dtypes: &[&String], model: &Model) -> TokenStream {
    let ty = &input.backend_type;
    let to: Vec<Option<&String>> = match &op.second_set {
        Some(set) => model.dtypes_of(set).iter().map(Some).collect(),
        None => vec![None],
    };
    let ty_of = |name: &str| expand.element_type(model.dtypes.iter().find(|d| d.name == name)?);
    // if the row has a second dtype, the tests cover all pairs of dtypes with float64, but only one other pair for
    // each dtype, because every pair needs a compiled kernel
    let count = to.len();
    let pairs = dtypes.iter().enumerate().flat_map(|(i, of)| {
        let usual = move |to: Option<&String>| *of == "float64" || to.is_none_or(|to| to == "float64");
        let to = to.iter().enumerate();
        let wanted = to.filter(move |(j, to)| usual(**to) || (i + 1) % count == *j);
        wanted.map(move |(_, to)| (*of, *to))
    });
    let calls = pairs.filter_map(|(of, to)| {
        let (d, t) = (dtype(of), ty_of(of)?);
        let Some(to) = to else { return Some(quote!((#d, None, formula::<#ty, #t>))) };
        let (to, u) = (dtype(to), ty_of(to)?);
        Some(quote!((#d, Some(#to), formula::<#ty, #u, #t>)))
    });
    let formula = formula_of(op, input, model);
    quote! {
        #formula

        #[test]
        fn as_a_formula() { SUITE.formulas(&ROW, &[#(#calls),*]); }
    }
}

/// Generates the function `formula`, which evaluates the row's expression as a formula.
fn formula_of(op: &Op, input: &Input, model: &Model) -> TokenStream {
    let root = &input.root;
    let bound_of = |set: &str| {
        let name = model.set(set).map_or("Element".into(), |set| match set.is_narrower {
            true => camel(&set.name),
            false => set.bound.clone(),
        });
        id(&name)
    };
    let (bound, user) = (bound_of(&op.set), input.extension.as_ref().map(|name| quote!(+ #name)));
    let n = op.inputs().count();
    let ops = Expand::new(model, input).ops_module();
    let path = input.extension.is_none().then(|| quote!(#root::));
    let item = id(&op.name);
    let default = op.has_options().then(|| quote!(..Default::default()));
    let names: Vec<_> = (0..n).map(|i| format_ident!("x{i}")).collect();
    let places: Vec<TokenStream> = (0..n)
        .map(|i| {
            let place = (0..i).fold(quote!(f::Head), |place, _| quote!(f::Tail::new(#place)));
            let name = &names[i];
            quote!(f::place(b, #place, &#name))
        })
        .collect();
    let item = match &op.second {
        None => quote!(#path #ops::#item { #default }),
        Some(_) => quote!(#path #ops::__each::#item::<U> { to: ::core::marker::PhantomData, #default }),
    };
    let tree = if op.mixes_dtypes() {
        let of_t = op.inputs().filter(|p| p.kind.elem() == Some(Elem::T)).count();
        let marks = op.inputs().map(|p| match p.kind.elem() {
            Some(Elem::T) if of_t > 1 => quote!(f::Shared),
            _ => quote!(f::Own),
        });
        quote!(f::op_of(#item, (#(#marks,)*), (#(#places,)*)))
    } else {
        let node = format_ident!("op{n}");
        quote!(f::#node(#item, #(#places),*))
    };
    let elements = op.inputs().map(|p| elem(p.kind.elem().unwrap_or(Elem::T), op));
    let leaves = names.iter().rev().fold(quote!(()), |rest, name| quote!((#name, #rest)));
    let index = 0..n;
    let second = op.second_set.as_ref().map(|set| {
        let bound = bound_of(set);
        quote!(U: #bound,)
    });
    quote! {
        fn formula<B: Backend #user, #second T: #bound>(
            b: &B,
            op: &str,
            args: &[Value<B>],
            _: &[(&str, Value<B>)],
        ) -> Result<Value<B>> {
            use #root::runtime::formula as f;
            fn array<'a, B: Backend, T: Element>(op: &str, args: &'a [Value<B>], i: usize) -> Result<&'a B::Array<T>> {
                let array = args[i].as_array().and_then(DynArray::get::<T>);
                array.ok_or_else(|| Error::argument(ROW.name, format!("argument {i} of {op} is not an array")))
            }
            #(let #names = f::leaf(b, array::<B, #elements>(op, args, #index)?);)*
            let tree = #tree;
            b.formula(&tree, &#leaves).map(Value::array::<_>)
        }
    }
}

/// Generates the tests of a row that the backend lacks. They are marked as ignored, so that they do not count as
/// passed.
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
    let (ulp, rtol, sqrt_n) = (a.ulp.unwrap_or(0.0), pairs(&a.rtol), a.sqrt_n);
    let (shape, ndim) = (a.shape, a.ndim);
    quote!(Accuracy { ulp: #ulp, rtol: #rtol, sqrt_n: #sqrt_n, shape: #shape, ndim: #ndim, own_ulp: #own_ulp })
}

/// Generates tests that call the row's op with random arguments in every dtype. The op must return a result or an
/// error, and must reject the same arguments as on other backends. Most calls use the first dtype: float64 or int64, if
/// the row has one of them.
fn answers(op: &Op, dtypes: &[&String], model: &Model) -> TokenStream {
    if dtypes.is_empty() {
        return quote!();
    }
    let mut dtypes = dtypes.to_vec();
    dtypes.sort_by_key(|dtype| !matches!(dtype.as_str(), "float64" | "int64"));
    let to = match &op.second_set {
        Some(set) => {
            // the usual dtype is float64 if the set has it, else the first dtype of the set
            let set = model.dtypes_of(set);
            let usual = set.iter().find(|d| *d == "float64").or(set.first()).map_or("float64", String::as_str);
            let usual = dtype(usual);
            quote!(Some(#usual))
        }
        None => quote!(None),
    };
    let raises = op.facts.raises.as_ref().map(|_| {
        let usual = dtype(dtypes[0]);
        quote! {
            #[test]
            fn raises() { SUITE.raises(&ROW, #usual); }
        }
    });
    let dtypes: Vec<TokenStream> = dtypes.iter().map(|name| dtype(name)).collect();
    quote! {
        #raises

        #[test]
        fn arguments() { SUITE.answers(&ROW, &[#(#dtypes),*], #to); }

        #[test]
        fn errors() { SUITE.agrees(&ROW, &[#(#dtypes),*], #to); }
    }
}

/// Generates a test of a row in one dtype. If the row has a second dtype, the test covers all possible second dtypes.
fn check(op: &Op, model: &Model, name: &str) -> TokenStream {
    let (test, d) = (id(name), dtype(name));
    let body = match &op.second_set {
        None => quote!(SUITE.check(&ROW, #d);),
        Some(set) => {
            let to = model.dtypes_of(set).iter().map(|second| dtype(second));
            quote!(#(SUITE.check_to(&ROW, #d, #to);)*)
        }
    };
    quote! {
        #[test]
        fn #test() { #body }
    }
}
