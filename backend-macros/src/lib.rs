//! The code generator of the `backends` crate. It expands an op table to traits, implementations, documentation and
//! tests.
//!
//! The crate `op-table` reads and checks the table, and the module `expand` generates Rust from it. Users call the
//! macros through `backends::backend!` and `backends::conformance!`, which add the base table to the arguments.

mod conformance;
mod docs;
mod expand;
mod formula;
mod further;
#[cfg(test)]
mod fuzz;
mod input;
mod left_out;
mod missing;
mod params;
// the tests need both features, because they compare with an expansion that was made by the default build
#[cfg(all(test, feature = "cuda", feature = "torch"))]
mod tests;

use expand::Expand;
use input::Input;
use left_out::check;
use op_table::{
    Model, Report, Role, SourceFile,
    model::{self, Map},
    parse,
};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

/// Expands an op table to Rust code. The input is `table! { root = PATH, base = "TEXT", table = "FILE" | overlay =
/// "FILE", trait = NAME }`.
#[proc_macro]
pub fn table(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let expanded = syn::parse(input).map_err(|e| e.into_compile_error()).and_then(|input| expand_table(&input));
    expanded.unwrap_or_else(|errors| errors).into()
}

/// Generates the conformance tests of a backend. The input is `conformance! { root = PATH, base = "TEXT", backend =
/// EXPR, type = TYPE, .. }`.
#[proc_macro]
pub fn conformance(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let expanded = syn::parse(input).map_err(|e| e.into_compile_error()).and_then(|input| expand_conformance(&input));
    expanded.unwrap_or_else(|errors| errors).into()
}

/// Implements `backends::grad::Params` for a struct whose first type parameter is its backend. Functions of the struct
/// can then be differentiated with respect to all its arrays. Fields with `#[constant]` are copied.
#[proc_macro_derive(Params, attributes(constant))]
pub fn params(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    params::derive(&input).unwrap_or_else(|e| e.into_compile_error()).into()
}

/// Expands a formula to Rust code. The input is `expr! { [PATH "DIGEST" ..] BACKEND, FORMULA }`.
#[proc_macro]
pub fn expr(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    formula::expand(input.into()).into()
}

/// Parses the base table, which a macro of the facade passes along with its arguments.
fn base_model(input: &Input, report: &mut Report) -> Model {
    let mut model = Model::default();
    if let Some(base) = &input.base {
        let source = SourceFile { name: "ops.toml of backends".into(), text: base.value() };
        parse(&source, Role::Context, &mut model, report);
    }
    model
}

fn expand_conformance(input: &Input) -> Result<TokenStream, TokenStream> {
    let mut report = Report::default();
    let mut model = base_model(input, &mut report);
    let mut missing = input.without.iter().cloned().collect();
    let mut last = None;
    for (file, role) in [(&input.table, Role::Own), (&input.overlay, Role::Overlay)] {
        if let Some(file) = file {
            let source = Input::read_file(file)?.0;
            parse(&source, role, &mut model, &mut report);
            last = Some(source);
        }
    }
    // `check` is called even though the base table is free of mistakes, because it also derives the gradient rules
    let none = || SourceFile { name: String::new(), text: String::new() };
    if let Some(source) = last.or_else(|| input.gradients.then(none)) {
        check(&source, &mut model, &mut report);
    }
    if let Some(column) = model.backends.iter().find(|b| b.own && input.overlay.is_some()).cloned() {
        inherit(&mut model, &column);
        missing = &missing | &missing::missing(&model, &column);
    }
    if report.is_empty() {
        Ok(conformance::tests(input, &model, &missing))
    } else {
        Err(errors(report, input.file_span()))
    }
}

/// Generates one `compile_error!` per mistake.
///
/// `at` is the span of the file name in the macro call, so that rustc shows the line of the call and no macro
/// backtrace.
fn errors(report: Report, at: Span) -> TokenStream {
    let texts = report.into_texts();
    quote_spanned!(at => #(::core::compile_error! { #texts })*)
}

fn expand_table(input: &Input) -> Result<TokenStream, TokenStream> {
    if let Some(rows) = &input.rows {
        return further::expand(input, rows);
    }
    if let Some(any) = &input.any {
        let model = base_model(input, &mut Report::default());
        return Ok(Expand::new(&model, input).any_of(any, &input.of));
    }
    let (source, path) = input.read()?;
    expand_source(input, &source, &path)
}

fn expand_source(input: &Input, source: &SourceFile, path: &str) -> Result<TokenStream, TokenStream> {
    let mut report = Report::default();
    let mut model = base_model(input, &mut report);
    let is_overlay = input.overlay.is_some();
    let role = if is_overlay { Role::Overlay } else { Role::Own };
    parse(source, role, &mut model, &mut report);
    let column = model.backends.iter().find(|b| b.own && is_overlay).cloned();
    if is_overlay && column.is_none() && report.is_empty() {
        report.at(source, 0..0, "an overlay must have a section `[backend.name]`", None);
    }
    if let Some(column) = &column {
        inherit(&mut model, column);
        if !input.partial && !column.wrap {
            complete(source, &model, column, &mut report);
        }
    }
    check(source, &mut model, &mut report);
    let errors = (!report.is_empty()).then(|| {
        model.keep_what_is_right();
        errors(report, input.file_span())
    });
    let recorded =
        (input.extension.is_some() && !is_overlay && errors.is_none()).then(|| further::recorded(input, source));
    let expand = Expand::new(&model, input);
    let formulas = formula::macro_of(input, &model, &expand.ops_module());
    let items = match (&input.base, &column) {
        (None, _) => expand.base(),
        (_, Some(column)) => expand.overlay(column),
        _ if is_overlay => quote!(),
        _ => expand.extension(),
    };
    let macros = match &input.extension {
        None => input.base.is_none().then(|| exported_macros(&source.text)),
        Some(name) => Some(further::exported_macro(input, name, &source.text)),
    };
    // the generated code includes the file of the table, so that a change of the table rebuilds the crate
    let expanded = quote! { const _: &[u8] = ::core::include_bytes!(#path); #items #recorded #macros #formulas };
    match errors {
        None => Ok(expanded),
        // valid rows are expanded even if other rows have mistakes, so that code that uses the valid rows causes no
        // further errors
        Some(errors) => Err(quote!(#errors #expanded)),
    }
}

/// Adds a mapping for a new column to rows without such a mapping. It is a copy of another mapping of the row that
/// depends on no library (`compose`, `generic`) or, if the column accepts `each`, of a scalar expression.
///
/// If the column wraps a backend, it gets mappings only for rows all of whose mappings depend on no library, because
/// the inner backend has better implementations of the other ops. A column that differentiates has no such restriction.
/// A column of split arrays gets mappings for the rows whose column `split` is `parts`.
fn inherit(model: &mut Model, new: &model::Backend) {
    for op in model.ops.iter_mut().filter(|o| !o.maps.contains_key(&new.name)) {
        let is_composed = match new {
            _ if new.splits => op.split() == "parts",
            _ => !new.wrap || new.differentiates() || op.maps.values().all(Map::is_free),
        };
        if !is_composed {
            continue;
        }
        let free = op.maps.values().find(|m| m.is_free() || m.is_of_elements() && new.each);
        if let Some(map) = free.cloned() {
            op.maps.insert(new.name.clone(), map);
        }
    }
}

/// Reports the ops that a new column lacks, as a single mistake at the header of the column. With `partial = true` in
/// the macro call, ops may be missing.
fn complete(source: &SourceFile, model: &Model, column: &model::Backend, report: &mut Report) {
    let missing: Vec<&str> =
        model.ops.iter().filter(|o| !o.maps.contains_key(&column.name)).map(|o| o.name.as_str()).collect();
    if !missing.is_empty() {
        let (name, few, all) = (&column.name, missing.len(), model.ops.len());
        let message = format!("backend `{name}` has no mapping for {few} of {all} ops: {}", missing.join(", "));
        let help = Some("add the rows; each needs only the new column".to_string());
        report.at(source, column.span.clone(), message, help);
    }
}

/// The macros through which other crates use the base table. They contain the table as text, so no crate reads a file
/// of another crate.
fn exported_macros(base: &str) -> TokenStream {
    quote! {
        /// Defines your own ops on every backend, or a backend of your own, from a table of yours.
        ///
        /// `backend! { table = "my_ops.toml", trait = MyOps }` defines an extension trait with the rows of
        /// `my_ops.toml`, a path relative to your `Cargo.toml`. Every backend implements the trait, with the checks and
        /// documentation of the base table.
        ///
        /// `backend! { overlay = "naive.toml" }` adds a column to the base table, which is one more backend for the ops
        /// of the table. With `partial = true`, the backend may lack some of these ops.
        ///
        /// `backend! { any = MyAny, of = [Numpyish, MyBackend] }` defines an enum of the listed backends, one of which
        /// is chosen at run time, like `AnyBackend`.
        ///
        /// `backend_my_ops! { overlay = "naive.toml" }` and `backend_my_ops! { any = MyAny, of = [..] }` implement the
        /// ops of `MyOps` for these backends.
        #[macro_export]
        macro_rules! backend {
            ($($t:tt)*) => { $crate::__private::table! { root = $crate, base = #base, $($t)* } };
        }

        /// Generates the conformance tests of a backend: a `#[test]` for every row and dtype, which compares the
        /// backend's results with those of NumPy.
        ///
        /// `conformance! { backend = Numpyish::new(), type = Numpyish }` is the whole test file of a backend; `backend`
        /// may also be a `Result`. `groups = ["fft"]` and `dtypes = ["float64"]` select a part of the tests. For a
        /// backend that has only some of the ops, `overlay = "naive.toml", partial = true` names the table with these
        /// ops. The tests of all other ops are ignored, like the tests of the ops in `without = ["matmul"]`. With
        /// `table = "my_ops.toml", trait = MyOps, golden = "tests/golden/my_ops.golden"`, the macro tests the rows of a
        /// table of yours.
        #[cfg(feature = "conformance")]
        #[macro_export]
        macro_rules! conformance {
            ($($t:tt)*) => { $crate::__private::conformance! { root = $crate, base = #base, $($t)* } };
        }
    }
}
