//! The structs of rows' parameters with defaults, in a module of their own.

use super::*;
use proc_macro2::Literal;

struct Field {
    name: Ident,
    ty: TokenStream,
    default: TokenStream,
    /// Type of the setter's argument, and the value it sets.
    argument: TokenStream,
    set: TokenStream,
    text: String,
}

impl Expand<'_> {
    /// The module with the structs of the rows of this call; the names are in reach beside the traits, too.
    pub(super) fn options_of_rows(&self) -> TokenStream {
        let structs: Vec<TokenStream> = self.own().filter(|o| o.has_options()).map(|o| self.options(o)).collect();
        if structs.is_empty() {
            return quote!();
        }
        let (module, ops) = (self.options_module(), self.ops_module());
        let doc = format!(
            "Parameters of ops that have defaults: a struct for each op of [`{ops}`](super::{ops}) that has such.\n\n\
             `new` gives the defaults, and a method of the parameter's name sets one: the op `name` takes them as \
             `b.name_with(.., NameOptions::new().parameter(value))`."
        );
        quote! {
            pub mod #module {
                #![doc = #doc]
                use super::*;
                #(#structs)*
            }
            #[doc(no_inline)]
            pub use #module::*;
        }
    }

    pub(super) fn options(&self, op: &Op) -> TokenStream {
        let name = self.options_name(op);
        let arrays = op.options_hold_arrays();
        let generics = arrays.then(|| quote!(<'a, A>));
        let derive = if arrays { quote!(Clone, Copy, Debug) } else { quote!(Clone, Copy, Debug, PartialEq) };
        let fields: Vec<Field> = op.optional().map(|p| self.field(p)).collect();
        let declared = fields.iter().map(|f| {
            let (name, ty, doc) = (&f.name, &f.ty, format!("Default: `{}`.", f.text));
            quote!(#[doc = #doc] pub #name: #ty)
        });
        let initial = fields.iter().map(|f| {
            let (name, default) = (&f.name, &f.default);
            quote!(#name: #default)
        });
        let setters = fields.iter().map(|f| {
            let (name, argument, set) = (&f.name, &f.argument, &f.set);
            let doc = format!("Sets `{name}` (default `{}`).", f.text);
            quote! {
                #[doc = #doc]
                #[inline]
                #[must_use]
                pub fn #name(mut self, #name: #argument) -> Self { self.#name = #set; self }
            }
        });
        let doc = format!("Parameters of [`{0}`](super::{1}::{0}) that have a default.", op.name, self.ops_module());
        quote! {
            #[doc = #doc]
            #[derive(#derive)]
            #[non_exhaustive]
            pub struct #name #generics { #(#declared),* }
            impl #generics #name #generics {
                /// The defaults.
                #[inline]
                #[must_use]
                pub fn new() -> Self { Self { #(#initial),* } }
                #(#setters)*
            }
            impl #generics Default for #name #generics {
                #[inline]
                fn default() -> Self { Self::new() }
            }
        }
    }

    fn field(&self, p: &Param) -> Field {
        let (rt, name) = (self.rt(), id(&p.name));
        let same = |ty: TokenStream, default| (ty.clone(), default, ty, quote!(#name));
        let default = p.default.as_ref().map(|value| default(value, &p.kind, &rt)).unwrap_or_default();
        let (ty, default, argument, set) = match &p.kind {
            Kind::Array(_) => (quote!(Option<&'a A>), default, quote!(&'a A), quote!(Some(#name))),
            Kind::Plain(t) => same(plain(*t), default),
            Kind::Axis => (quote!(isize), default, quote!(impl #rt::IntoAxis), quote!(#name.axis())),
            Kind::Axes => (quote!(#rt::Axes), default, quote!(impl Into<#rt::Axes>), quote!(#name.into())),
            Kind::Maybe(t) => {
                let t = plain(*t);
                (quote!(Option<#t>), default, t, quote!(Some(#name)))
            }
            Kind::Lengths => {
                (quote!(Option<#rt::Lengths>), default, quote!(impl Into<#rt::Lengths>), quote!(Some(#name.into())))
            }
            Kind::Choice(t) => {
                let t = id(t);
                same(quote!(#rt::#t), default)
            }
            other => unreachable!("{other:?} has no default: checked"),
        };
        let text = p.default_text.clone();
        Field { name, ty, default, argument, set, text }
    }
}

/// A default as Rust.
fn default(value: &DefaultValue, kind: &Kind, rt: &TokenStream) -> TokenStream {
    match value {
        DefaultValue::None => quote!(None),
        DefaultValue::Bool(value) => quote!(#value),
        DefaultValue::Integer(value) => {
            let value = Literal::i128_unsuffixed(*value);
            quote!(#value)
        }
        DefaultValue::Decimal(value) => quote!(#value),
        DefaultValue::All => quote!(#rt::Axes::All),
        DefaultValue::Axes(axes) => {
            let axes = axes.iter().map(|&axis| Literal::isize_unsuffixed(axis.into()));
            quote!(#rt::Axes::from([#(#axes),*]))
        }
        DefaultValue::Choice(name) => {
            let Kind::Choice(rust) = kind else { return quote!() };
            let (rust, name) = (id(rust), id(&camel(name)));
            quote!(#rt::#rust::#name)
        }
    }
}
