//! The struct of a row's parameters with defaults.

use super::*;

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
        }
    }

    fn field(&self, p: &Param) -> Field {
        let (rt, name) = (self.rt(), id(&p.name));
        let text = p.default.clone().unwrap_or_default();
        let same = |ty: TokenStream, default| (ty.clone(), default, ty, quote!(#name));
        let (ty, default, argument, set) = match &p.kind {
            Kind::Array(_) => (quote!(Option<&'a A>), quote!(None), quote!(&'a A), quote!(Some(#name))),
            Kind::Plain(t) if t == "f64" => {
                let value: f64 = text.parse().unwrap_or_default();
                same(tokens(t), quote!(#value))
            }
            Kind::Plain(t) => same(tokens(t), tokens(&text)),
            Kind::Axis => same(quote!(isize), tokens(&text)),
            Kind::Axes => {
                let default = if text == "all" {
                    quote!(#rt::Axes::All)
                } else {
                    let axes = tokens(&text);
                    quote!(#rt::Axes::from(#axes))
                };
                (quote!(#rt::Axes), default, quote!(impl Into<#rt::Axes>), quote!(#name.into()))
            }
            Kind::Maybe(t) => {
                let t = tokens(t);
                (quote!(Option<#t>), quote!(None), t, quote!(Some(#name)))
            }
            Kind::Lengths => (
                quote!(Option<#rt::Lengths>),
                quote!(None),
                quote!(impl Into<#rt::Lengths>),
                quote!(Some(#name.into())),
            ),
            Kind::Choice(t) => {
                let (t, value) = (id(t), id(&camel(&text)));
                same(quote!(#rt::#t), quote!(#rt::#t::#value))
            }
            other => unreachable!("{other:?} has no default: checked"),
        };
        Field { name, ty, default, argument, set, text }
    }
}
