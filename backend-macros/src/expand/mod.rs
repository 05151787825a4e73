//! Converts the checked model of an op table to Rust. Nothing here can fail, because every mistake was already
//! reported.
//!
//! `signature` generates the signature of a method. `traits` declares the methods; `backend` and `any` implement them.
//! `support` generates the code that implementations call: scalar ops, reductions (`folds`) and compositions. `items`
//! generates the documented items of the rows and the list of ops, `options` the structs of defaults, `results` the
//! structs of rows with several results, and `choices` the enums. `entries` generates the functions that take arrays of
//! any dtype. `by_name` generates the functions that call ops with values, `lazy` the methods of lazy formulas, `out`
//! the methods that write results to existing arrays, and `functions` the functions on the current backend. `gradients`
//! generates the backend that records ops on a tape, `tangents` the backend of forward mode, and `split` the backend
//! whose arrays are split over ranks. `further` implements the trait of a user's table for one more backend. `kinds`
//! has the types and conversions of parameters in all this code.

mod any;
mod backend;
mod by_name;
mod choices;
mod composed;
mod entries;
mod folds;

mod functions;
mod further;
mod gradients;
pub mod info;
mod items;
mod kinds;
mod lazy;
mod options;
mod out;
mod raw;
mod results;
mod scalar;
mod signature;
mod split;
mod support;
mod tangents;
mod traits;
mod wrap;

pub use kinds::elem;
pub use support::camel_dtype;

use crate::input::Input;
use op_table::{model::*, names::KEYWORDS};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

/// The model of a table and the options of one macro call, from which code is generated.
pub struct Expand<'m> {
    pub model: &'m Model,
    /// Path of the facade: `crate` inside the facade, and `$crate` from `backend!` in other crates.
    pub root: TokenStream,
    /// The name of the trait that is generated for a user's table.
    pub extension: Option<Ident>,
    /// The path of the module that contains this trait, if the code is generated in another module.
    pub home: Option<TokenStream>,
    /// The name of the backend that an overlay adds, if the macro expands an overlay.
    pub overlay: Option<String>,
}

/// Makes an identifier. It is a raw identifier (`r#..`) if the name is a keyword.
pub fn id(name: &str) -> Ident {
    let make = if KEYWORDS.contains(&name) { Ident::new_raw } else { Ident::new };
    make(name, Span::call_site())
}

/// The second name of the methods of a row that is named after a keyword: `where_` for `where`. Calls by this name need
/// no `r#`. Returns the name and its documentation.
fn after_keyword(op: &Op) -> Option<(Ident, String)> {
    let name = &op.name;
    let doc = || format!("Calls `r#{name}`. Unlike `{name}`, this name is not a keyword of Rust.");
    KEYWORDS.contains(&name.as_str()).then(|| (format_ident!("{name}_"), doc()))
}

/// Gives another name to the function of a signature, which begins with `fn NAME`.
fn renamed_to(name: &Ident, signature: TokenStream) -> TokenStream {
    let rest = signature.into_iter().skip(2);
    quote!(fn #name #(#rest)*)
}

/// Makes the identifier of a variable in generated code. By its hygiene, no name in a table can refer to this
/// variable or shadow it.
fn hidden(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// A built-in type of Rust, such as `f64`.
fn plain(ty: Plain) -> TokenStream {
    let name = id(ty.name());
    quote!(#name)
}

/// Parses text that is known to be valid Rust.
fn tokens(text: &str) -> TokenStream {
    text.parse().unwrap_or_default()
}

/// Converts the path of a function to tokens. Its last segment may be a keyword.
fn function(path: &str) -> TokenStream {
    match path.rsplit_once("::") {
        Some((module, name)) => {
            let (module, name) = (tokens(module), id(name));
            quote!(#module::#name)
        }
        None => {
            let name = id(path);
            quote!(#name)
        }
    }
}

impl<'m> Expand<'m> {
    /// Prepares the expansion for the input of a macro call.
    pub fn new(model: &'m Model, input: &Input) -> Expand<'m> {
        let column = model.backends.iter().find(|b| b.own && input.overlay.is_some());
        Expand {
            model,
            root: input.root.clone(),
            extension: input.extension.clone(),
            home: input.home.clone(),
            overlay: column.map(|b| b.name.clone()),
        }
    }
}

impl Expand<'_> {
    /// The path prefix for names of the user's table; `None` if the code is generated in the module of these names.
    fn home(&self) -> Option<TokenStream> {
        self.home.as_ref().map(|home| quote!(#home::))
    }

    /// The name of a private module of generated code, such as `__each`. For a user's table it contains the name of
    /// the trait, as in `__my_ops_each`, so that one module can contain the code of several tables.
    fn private(&self, what: &str) -> Ident {
        let of = self.extension.as_ref().map(|name| snake(&name.to_string())).or(self.overlay.clone());
        of.map_or_else(|| format_ident!("__{what}"), |of| format_ident!("__{of}_{what}"))
    }

    /// The path of the runtime crate, which the facade re-exports.
    fn rt(&self) -> TokenStream {
        let root = &self.root;
        quote!(#root::runtime)
    }

    /// The trait that restricts a type parameter to the dtypes of a set. `here` is the path to the module of the
    /// generated code.
    fn bound(&self, set: &str, here: &TokenStream) -> TokenStream {
        let rt = self.rt();
        match self.model.set(set) {
            Some(set) if set.is_narrower => {
                let (root, name) = (&self.root, id(&camel(&set.name)));
                match (&self.home, set.own) {
                    (Some(home), true) => quote!(#home::#name),
                    (None, true) => quote!(#here #name),
                    (_, false) => quote!(#root::#name),
                }
            }
            set => {
                let name = id(set.map_or("Element", |set| &set.bound));
                quote!(#rt::#name)
            }
        }
    }

    /// Declares the traits for sets of dtypes for which the traits of the runtime are too wide.
    fn own_bounds(&self) -> TokenStream {
        let rt = self.rt();
        let sets = self.model.sets.iter().filter(|set| set.own && set.is_narrower);
        let traits = sets.map(|set| {
            let (name, bound) = (id(&camel(&set.name)), id(&set.bound));
            let list = set.dtypes.join(", ");
            let doc = format!("The dtypes of the set `{}`: {list}.", set.name);
            let message = format!("the dtypes of this op are {list}, and `{{Self}}` is none of them");
            let dtypes = self.model.dtypes.iter().filter(|dtype| set.dtypes.contains(&dtype.name));
            let types = dtypes.filter_map(|dtype| self.element_type(dtype));
            quote! {
                #[doc = #doc]
                #[diagnostic::on_unimplemented(message = #message)]
                pub trait #name: #rt::#bound {}
                #(impl #name for #types {})*
            }
        });
        quote!(#(#traits)*)
    }

    /// The Rust type of a dtype, with its path in the runtime. `None` if the text is not a type; the mistake is
    /// reported elsewhere.
    pub fn element_type(&self, dtype: &DType) -> Option<TokenStream> {
        let (rt, ty) = (self.rt(), syn::parse_str::<syn::Type>(&dtype.rust).ok()?);
        let of_runtime = matches!(dtype.rust.as_str(), "f16" | "bf16") || dtype.rust.starts_with("Complex");
        Some(if of_runtime { quote!(#rt::#ty) } else { quote!(#ty) })
    }

    fn own(&self) -> impl Iterator<Item = &Op> {
        self.model.ops.iter().filter(|o| o.own)
    }

    /// Generates the code of the base table: a trait per group, `Backend`, and implementations for each library
    /// and for `AnyBackend`.
    pub fn base(&self) -> TokenStream {
        let names: Vec<Ident> = self.model.groups.iter().map(|g| id(&camel(&g.name))).collect();
        let rt = self.rt();
        let groups = self.model.groups.iter().zip(&names).map(|(group, name)| {
            let ops: Vec<&Op> = self.own().filter(|o| o.group == group.name).collect();
            self.group(name, &crate::docs::group(group), &quote!(#rt::Arrays), &ops)
        });
        let (support, by_name) = (self.support(), self.by_name("OPS"));
        let (items, options, results) = (self.items("OPS"), self.options_of_rows(), self.results_of_rows());
        let (choices, lazy, outs, functions) = (self.choices(), self.lazy(), self.outs(), self.functions());
        let links = self.model.groups.iter().zip(&names).map(|(g, n)| format!("- [`{n}`]: {}", g.summary));
        let doc = format!(
            "All op groups together, as the bound for generic code.\n\n{}",
            links.collect::<Vec<_>>().join("\n")
        );
        quote! {
            #choices
            #(#groups)*
            #items
            #options
            #results
            #support
            #by_name
            #lazy
            #outs
            #functions
            #[doc = #doc]
            pub trait Backend: #(#names +)* {}
            impl<B: #(#names +)*> Backend for B {}
        }
    }

    /// Generates the code of a user's table: one extension trait, implemented for every backend.
    pub fn extension(&self) -> TokenStream {
        let root = &self.root;
        let name = self.extension.clone().unwrap_or_else(|| id("Extension"));
        let ops: Vec<&Op> = self.own().collect();
        let doc = crate::docs::extension(&name.to_string(), &self.ops_module().to_string());
        let body = self.group(&name, &doc, &quote!(#root::Backend), &ops);
        let list = format!("{}_OPS", screaming(&name.to_string()));
        let (choices, support, by_name) = (self.choices(), self.support(), self.by_name(&list));
        let (items, options, results) = (self.items(&list), self.options_of_rows(), self.results_of_rows());
        quote!(#choices #body #items #options #results #support #by_name)
    }

    /// Generates the code of an overlay, which implements the ops of the base table for one more library.
    pub fn overlay(&self, backend: &Backend) -> TokenStream {
        let root = &self.root;
        let implementations = self.model.groups.iter().map(|group| {
            let name = id(&camel(&group.name));
            let has = |o: &&Op| o.group == group.name && (backend.wrap || o.maps.contains_key(&backend.name));
            let ops: Vec<&Op> = self.model.ops.iter().filter(has).collect();
            self.implement(&quote!(#root::#name), backend, &ops)
        });
        let support = self.overlay_support(backend);
        quote!(#(#implementations)* #support)
    }

    /// Generates the trait of a group of ops, and its implementations for all backends.
    fn group(&self, name: &Ident, doc: &str, supertrait: &TokenStream, ops: &[&Op]) -> TokenStream {
        let methods: Vec<TokenStream> = ops.iter().map(|o| self.declare(o)).collect();
        let declaration = quote! {
            #[doc = #doc]
            pub trait #name: #supertrait { #(#methods)* }
        };
        if self.extension.is_some() && self.is_of_every_backend() {
            // no row depends on a library, so every backend, including those of third parties, has these ops
            let root = &self.root;
            let methods = ops.iter().map(|o| self.method(o, &self.model.backends[0]));
            return quote!(#declaration impl<B: #root::Backend> #name for B { #(#methods)* });
        }
        let libraries = self.model.backends.iter().map(|b| self.implement(&quote!(#name), b, ops));
        let any = self.implement_any(name, ops);
        quote!(#declaration #(#libraries)* #any)
    }

    /// Returns whether no row of a user's table names a library. If so, every backend has the table's trait.
    pub fn is_of_every_backend(&self) -> bool {
        self.own().all(|op| op.maps.values().all(Map::is_free))
    }

    fn options_name(&self, op: &Op) -> Ident {
        format_ident!("{}Options", op.camel())
    }

    /// Returns the path of an op's options struct. If the op belongs to the base table, and code is generated for
    /// another table, the struct is in the facade crate.
    fn options_path(&self, op: &Op) -> TokenStream {
        let (root, name) = (&self.root, self.options_name(op));
        if op.own {
            let (home, module) = (self.home(), self.options_module());
            quote!(#home #module::#name)
        } else {
            quote!(#root::options::#name)
        }
    }

    /// Returns the path of an op's options struct, as seen from a module inside the generated code.
    fn options_below(&self, op: &Op) -> TokenStream {
        let path = self.options_path(op);
        if op.own { quote!(super::#path) } else { path }
    }
}

/// Converts `MyOps` to `my_ops`.
pub fn snake(name: &str) -> String {
    screaming(name).to_lowercase()
}

/// Converts `MyOps` to `MY_OPS`.
fn screaming(name: &str) -> String {
    let mut out = String::new();
    for (i, c) in name.chars().enumerate() {
        if c.is_uppercase() && i > 0 {
            out.push('_');
        }
        out.extend(c.to_uppercase());
    }
    out
}
