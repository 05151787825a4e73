//! The struct of a row's parameters with defaults.

use super::{kinds::OptionCode, *};
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
    pub(super) fn options(&self, op: &Op) -> TokenStream {
        let name = self.options_name(op);
        let elems = op.optional_elems();
        let arrays: Vec<Ident> = (0..elems.len()).map(|i| format_ident!("A{i}")).collect();
        let generics = (!arrays.is_empty()).then(|| quote!(<'a, #(#arrays),*>));
        let derive = if arrays.is_empty() { quote!(Clone, Copy, Debug, PartialEq) } else { quote!(Debug) };
        // derived ones would ask for arrays that can be copied; here are references to them
        let copy = (!arrays.is_empty()).then(|| {
            quote! {
                impl #generics Clone for #name #generics {
                    #[inline]
                    fn clone(&self) -> Self { *self }
                }
                impl #generics Copy for #name #generics {}
            }
        });
        let fields: Vec<Field> = op
            .optional()
            .map(|p| {
                let array = elems.iter().position(|e| Some(*e) == p.kind.elem()).map(|i| &arrays[i]);
                self.field(p, op, array.unwrap_or(&name))
            })
            .collect();
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
        let doc = format!("Options of `{}_with`.", op.name);
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
            #copy
        }
    }

    fn field(&self, p: &Param, op: &Op, array: &Ident) -> Field {
        let name = id(&p.name);
        let default = p.default.as_ref().map(|value| self.default(value, &p.kind)).unwrap_or_default();
        let OptionCode { field: ty, argument, set } = self.option_code(p, op, array);
        Field { set: set(&name), name, ty, default, argument, text: p.default_text.clone() }
    }

    /// A default as Rust.
    fn default(&self, value: &DefaultValue, kind: &Kind) -> TokenStream {
        let rt = self.rt();
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
                let Kind::Choice(choice) = kind else { return quote!() };
                let (ty, name) = (self.choice_type(choice), id(&camel(name)));
                quote!(#ty::#name)
            }
        }
    }
}
