//! Parses the arguments of the macros.

use op_table::SourceFile;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{
    LitStr, Token,
    ext::IdentExt,
    parse::{Parse, ParseStream},
};

/// The arguments of a macro:
/// `root = PATH, base = "TEXT", table = "FILE" | overlay = "FILE" | any = NAME, of = [TYPE, ..] | sharded = PATH,
/// trait = NAME`. With `rows = "TEXT"`, the macro implements the trait of these rows for an overlay, an enum or
/// `sharded`. Tests also have the arguments `backend = EXPR, type = TYPE, groups = ["NAME", ..], without = ["ROW", ..],
/// golden = "FILE", partial = true, meter = PATH, formulas = true, methods = true, gradients = true, every = 5`.
pub struct Input {
    /// Path of the facade crate.
    pub root: TokenStream,
    /// Text of the base table; `None` if the macro call expands the base table itself.
    pub base: Option<LitStr>,
    /// The path of the table's file.
    pub table: Option<LitStr>,
    /// The path of the overlay's file. An overlay adds a column, which is one more backend, to a table.
    pub overlay: Option<LitStr>,
    /// Text of a user's table, whose extension trait exists and is to be implemented for one more backend.
    pub rows: Option<LitStr>,
    /// Name of the extension trait, the trait with the ops of a user's table. A call of `backend!` with `table` defines
    /// this trait, and all other macro calls use it. `None` if the macro call involves no user's table.
    pub extension: Option<Ident>,
    /// The path of the module that contains the extension trait, if it is not the module of the macro call.
    pub home: Option<TokenStream>,
    /// The backend to test.
    pub backend: Option<syn::Expr>,
    /// The type of the tested backend.
    pub backend_type: Option<syn::Type>,
    /// The groups to test; empty for all groups.
    pub groups: Vec<String>,
    /// The dtypes to test; empty for all dtypes.
    pub dtypes: Vec<String>,
    /// Names of rows whose tests are ignored.
    pub without: Vec<String>,
    /// The path of the file with the reference results of a user's table.
    pub golden: Option<LitStr>,
    /// True if rows are also tested as formulas, which takes time to compile.
    pub formulas: bool,
    /// True if the tests call the backend's methods with static dtypes, even if calls by name do not need them.
    pub methods: bool,
    /// True if only the gradients of rows are tested.
    pub gradients: bool,
    /// Tests one of every `every` rows; `None` tests all rows.
    pub every: Option<usize>,
    /// Name of an enum of backends, if the macro call declares the enum, or implements a trait for it.
    pub any: Option<Ident>,
    /// The types of the backends in the enum.
    pub of: Vec<syn::Path>,
    /// The type of the backends whose arrays are split over ranks, without its type parameter.
    pub sharded: Option<syn::Path>,
    /// True if the backend implements only some of the ops.
    pub partial: bool,
    /// For tests: the function that returns the number of bytes copied from the device.
    pub meter: Option<syn::Path>,
    /// For tests: the function that runs a check on all ranks of the backend.
    pub ranks: Option<syn::Path>,
}

impl Parse for Input {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let mut parsed = Input {
            root: quote!(crate),
            base: None,
            table: None,
            overlay: None,
            rows: None,
            extension: None,
            home: None,
            backend: None,
            backend_type: None,
            groups: Vec::new(),
            dtypes: Vec::new(),
            without: Vec::new(),
            golden: None,
            formulas: false,
            methods: false,
            gradients: false,
            every: None,
            any: None,
            of: Vec::new(),
            sharded: None,
            partial: false,
            meter: None,
            ranks: None,
        };
        while !input.is_empty() {
            let key = Ident::parse_any(input)?;
            input.parse::<Token![=]>()?;
            match key.to_string().as_str() {
                "root" => {
                    let path: syn::Path = input.parse()?;
                    parsed.root = quote!(#path);
                }
                "base" => parsed.base = Some(input.parse()?),
                "table" => parsed.table = Some(input.parse()?),
                "overlay" => parsed.overlay = Some(input.parse()?),
                "rows" => parsed.rows = Some(input.parse()?),
                "trait" => {
                    let mut path = syn::Path::parse_mod_style(input)?.segments;
                    parsed.extension = path.pop().map(|name| name.into_value().ident);
                    path.pop_punct();
                    parsed.home = (!path.is_empty()).then(|| quote!(#path));
                }
                "backend" => parsed.backend = Some(input.parse()?),
                "type" => parsed.backend_type = Some(input.parse()?),
                "golden" => parsed.golden = Some(input.parse()?),
                "meter" => parsed.meter = Some(input.parse()?),
                "ranks" => parsed.ranks = Some(input.parse()?),
                "partial" => parsed.partial = input.parse::<syn::LitBool>()?.value,
                "formulas" => parsed.formulas = input.parse::<syn::LitBool>()?.value,
                "methods" => parsed.methods = input.parse::<syn::LitBool>()?.value,
                "gradients" => parsed.gradients = input.parse::<syn::LitBool>()?.value,
                "every" => parsed.every = Some(input.parse::<syn::LitInt>()?.base10_parse::<usize>()?.max(1)),
                "groups" => parsed.groups = strings(input)?,
                "dtypes" => parsed.dtypes = strings(input)?,
                "any" => parsed.any = Some(input.parse()?),
                "of" => {
                    let list;
                    syn::bracketed!(list in input);
                    parsed.of = list.parse_terminated(syn::Path::parse, Token![,])?.into_iter().collect();
                }
                "sharded" => parsed.sharded = Some(syn::Path::parse_mod_style(input)?),
                "without" => parsed.without = strings(input)?,
                other => {
                    let message = format!(
                        "unknown argument `{other}`; one of: table, overlay, any, of, sharded, trait, backend, type, groups, dtypes, without, golden, partial, meter, ranks, formulas, methods, gradients, every"
                    );
                    return Err(syn::Error::new(key.span(), message));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        if parsed.table.is_some() && parsed.base.is_some() && parsed.extension.is_none() {
            return Err(syn::Error::new(Span::call_site(), "give the trait a name: `trait = MyOps`"));
        }
        if let (Some(_), Some(name), None) = (&parsed.home, &parsed.extension, &parsed.rows) {
            return Err(syn::Error::new(name.span(), "`trait` must be a name without a path"));
        }
        if let (Some(sharded), None) = (&parsed.sharded, &parsed.rows) {
            let message = "`sharded` is allowed only in the macro of your own table: `backend_my_ops! { sharded = backends_sharded::Sharded }`";
            return Err(syn::Error::new_spanned(sharded, message));
        }
        if let Some(any) = &parsed.any
            && parsed.of.is_empty()
        {
            return Err(syn::Error::new(any.span(), "list the backends: `of = [Numpyish, MyBackend]`"));
        }
        Ok(parsed)
    }
}

/// Parses a list such as `["one", "two"]`.
fn strings(input: ParseStream) -> syn::Result<Vec<String>> {
    let list;
    syn::bracketed!(list in input);
    let strings = list.parse_terminated(<LitStr as Parse>::parse, Token![,])?;
    Ok(strings.iter().map(LitStr::value).collect())
}

impl Input {
    /// The span at which mistakes in the table are reported: the file name in the macro call.
    pub fn file_span(&self) -> Span {
        self.overlay.as_ref().or(self.table.as_ref()).map_or_else(Span::call_site, LitStr::span)
    }

    /// Reads the overlay if one is given, otherwise the table. Returns the text of this file and its absolute path.
    pub fn read(&self) -> Result<(SourceFile, String), TokenStream> {
        let file = self.overlay.as_ref().or(self.table.as_ref());
        let none =
            || syn::Error::new(Span::call_site(), "give `table = \"..\"` or `overlay = \"..\"`").into_compile_error();
        Input::read_file(file.ok_or_else(none)?)
    }

    /// Reads a file. `file` is a path relative to the `Cargo.toml` of the crate that calls the macro. Returns the text
    /// of the file and its absolute path.
    pub fn read_file(file: &LitStr) -> Result<(SourceFile, String), TokenStream> {
        let fail = |span, message: String| syn::Error::new(span, message).into_compile_error();
        let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        let path = std::path::Path::new(&folder).join(file.value());
        let text = std::fs::read_to_string(&path).map_err(|e| fail(file.span(), format!("{}: {e}", file.value())))?;
        Ok((SourceFile { name: file.value(), text }, path.to_string_lossy().into_owned()))
    }
}
