//! Expands `backend_my_ops! { .. }`: implements the trait of a user's table for backends that are not in the base
//! table (the table `ops.toml` of the facade).

use crate::{base_model, errors, expand::Expand, expand::snake, inherit, input::Input, left_out::check};
use op_table::{Model, Report, Role, SourceFile, model::Backend, parse};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::LitStr;

/// Generates the macro that a user's table exports. The macro contains the text of the table, so that other crates can
/// use the table.
pub fn exported_macro(input: &Input, name: &Ident, table: &str) -> TokenStream {
    let root = &input.root;
    // gives `$crate` the span of the trait's name, so that `$crate` means the user's crate; with the span of this code,
    // it would mean the facade
    let here = quote_spanned!(name.span() => $crate);
    let exported = format_ident!("backend_{}", snake(&name.to_string()));
    let doc = format!(
        "Implements the ops of [`{name}`] for one more backend: `{exported}! {{ overlay = \"naive.toml\" }}` for the \
         backend of an overlay, `{exported}! {{ any = Mine, of = [Numpyish, MyBackend] }}` for an enum of backends \
         that all have these ops, `{exported}! {{ sharded = backends_sharded::Sharded }}` for arrays that are split \
         over ranks.\n\n\
         The overlay may have rows for these ops. Ops without a row are inherited as in the base table: expressions \
         if the backend has `each`, compositions, and functions over any backend. All other ops return `Unsupported`. \
         A backend that wraps another backend has all ops of the inner backend."
    );
    quote! {
        #[doc = #doc]
        #[macro_export]
        macro_rules! #exported {
            ($($t:tt)*) => { #root::backend! { rows = #table, trait = #here::#name, $($t)* } };
        }
    }
}

/// Returns the user's table as a source file. Mistakes in it are reported elsewhere, by the macro call that defines
/// the table.
fn user_table(rows: &LitStr) -> SourceFile {
    SourceFile { name: "the table of the trait".into(), text: rows.value() }
}

/// Implements the trait of the user's table `rows` for the backend that the macro call names: for an overlay, for an
/// enum of backends, or for a backend of split arrays.
pub fn expand(input: &Input, rows: &LitStr) -> Result<TokenStream, TokenStream> {
    let (table, mut unsaid) = (user_table(rows), Report::default());
    let mut model = base_model(input, &mut unsaid);
    parse(&table, Role::Own, &mut model, &mut unsaid);
    check(&table, &mut model, &mut unsaid);
    if !unsaid.is_empty() {
        model.keep_what_is_right();
    }
    let expand = Expand::new(&model, input);
    if let (Some(name), true) = (&input.extension, expand.is_of_every_backend() && unsaid.is_empty()) {
        let message =
            format!("every backend already has `{name}`, because no row of its table is for a single library");
        return Err(syn::Error::new(input.file_span(), message).into_compile_error());
    }
    match (&input.any, &input.sharded) {
        (Some(any), _) => Ok(expand.further_any(any, &input.of)),
        (None, Some(sharded)) => Ok(match wrapped(input, &table, &splitting(sharded)) {
            Some((model, column)) => Expand::new(&model, input).further_overlay(&column),
            None => quote!(),
        }),
        (None, None) => overlay(input, &table, unsaid.is_empty()),
    }
}

/// Implements the trait for the backend of an overlay, a table that adds a column for this backend. If `is_right` is
/// false, the user's table has mistakes, and the backend gets no rows.
fn overlay(input: &Input, table: &SourceFile, is_right: bool) -> Result<TokenStream, TokenStream> {
    let (source, path) = input.read()?;
    let (mut report, mut unsaid) = (Report::default(), Report::default());
    let mut model = base_model(input, &mut unsaid);
    parse(table, Role::Own, &mut model, &mut unsaid);
    parse(&source, Role::Overlay, &mut model, &mut report);
    let column = model.backends.iter().find(|b| b.own).cloned();
    if column.is_none() && report.is_empty() {
        report.at(&source, 0..0, "an overlay must have a section `[backend.name]`", None);
    }
    if let Some(column) = &column {
        inherit(&mut model, column);
    }
    let own: Vec<bool> = model.ops.iter().map(|op| op.own).collect();
    settle(&source, &mut model, &mut report, is_right);
    model.ops.iter_mut().zip(own).for_each(|(op, own)| op.own = own);
    let errors = (!report.is_empty()).then(|| errors(report, input.file_span()));
    if errors.is_some() || !is_right {
        model.keep_what_is_right();
        model.ops.iter_mut().for_each(|op| op.maps.clear());
    }
    let items = column.map(|column| Expand::new(&model, input).further_overlay(&column));
    let expanded = quote! { const _: &[u8] = ::core::include_bytes!(#path); #items };
    match errors {
        None => Ok(expanded),
        Some(errors) => Err(quote!(#errors #expanded)),
    }
}

/// The column, in TOML, of the backend that records ops for gradients. This backend implements the trait of every
/// table.
const RECORDING: &str = r#"
[backend.diff]
type     = "Diff<B>"
module   = "crate::grad"
generics = "B: Backend"
wrap     = true
records  = true
"#;

/// The column, in TOML, of the backend whose arrays carry tangents. This backend also implements the trait of every
/// table.
const CARRYING: &str = r#"
[backend.jvp]
type     = "Jvp<B>"
module   = "crate::grad"
generics = "B: Backend"
wrap     = true
tangents = true
"#;

/// Returns the column, in TOML, of a backend whose arrays are split over ranks. `path` is the path of the backend's
/// type.
fn splitting(path: &syn::Path) -> String {
    let ty = quote!(#path).to_string().replace(' ', "");
    format!(
        r#"
[backend.sharded]
type     = "{ty}<B>"
module   = "{ty}"
generics = "B: Backend"
wrap     = true
splits   = true
"#
    )
}

/// Implements the trait of a user's table for the backends that compute gradients or tangents. The table has no
/// mistakes.
pub fn recorded(input: &Input, table: &SourceFile) -> TokenStream {
    let (recorded, carried) = (differentiated(input, table, RECORDING), differentiated(input, table, CARRYING));
    quote!(#recorded #carried)
}

fn differentiated(input: &Input, table: &SourceFile, overlay: &str) -> TokenStream {
    let Some((model, column)) = wrapped(input, table, overlay) else { return quote!() };
    let expand = Expand::new(&model, input);
    if expand.is_of_every_backend() { quote!() } else { expand.recorded_extension(&column) }
}

/// Parses a user's table, and adds the column of a wrapping backend, which the TOML text `overlay` describes. Returns
/// the model and the column.
fn wrapped(input: &Input, table: &SourceFile, overlay: &str) -> Option<(Model, Backend)> {
    let (source, mut unsaid) = (SourceFile { name: String::new(), text: overlay.into() }, Report::default());
    let mut model = base_model(input, &mut unsaid);
    parse(table, Role::Own, &mut model, &mut unsaid);
    let there = model.backends.len();
    parse(&source, Role::Overlay, &mut model, &mut unsaid);
    let column = model.backends.get(there).cloned()?;
    inherit(&mut model, &column);
    let own: Vec<bool> = model.ops.iter().map(|op| op.own).collect();
    settle(&source, &mut model, &mut unsaid, true);
    model.ops.iter_mut().zip(own).for_each(|(op, own)| op.own = own);
    Some((model, column))
}

/// Checks the overlay, if `is_right` is true. The macro call that defines the user's table checks the rows of this
/// table, so mistakes in them are not reported again.
fn settle(source: &SourceFile, model: &mut Model, report: &mut Report, is_right: bool) {
    if is_right {
        model.ops.iter_mut().for_each(|op| op.own = false);
        check(source, model, report);
    }
}
