//! Generates the structs of options, the optional parameters of rows, in a separate module.

use super::{kinds::OptionCode, *};
use proc_macro2::Literal;

struct Field {
    name: Ident,
    ty: TokenStream,
    default: TokenStream,
    /// Type of the setter's argument.
    argument: TokenStream,
    /// The expression for the value that the setter stores.
    set: TokenStream,
    text: String,
}

impl Expand<'_> {
    /// Generates the module with the options structs of this table's rows. The structs are also re-exported next to
    /// the traits.
    pub(super) fn options_of_rows(&self) -> TokenStream {
        let structs: Vec<TokenStream> = self.own().filter(|o| o.has_options()).map(|o| self.options(o)).collect();
        if structs.is_empty() {
            return quote!();
        }
        let (module, ops) = (self.options_module(), self.ops_module());
        let doc = format!(
            "Parameters with defaults: a struct for each op of [`{ops}`](super::{ops}) that has such parameters.\n\n\
             `new` returns the defaults, and each parameter has a method of its name that sets it. The op `name` \
             takes the struct as `b.name_with(.., NameOptions::new().parameter(value))`."
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
        let elems = op.optional_elems();
        let arrays: Vec<Ident> = (0..elems.len()).map(|i| format_ident!("A{i}")).collect();
        let generics = (!arrays.is_empty()).then(|| quote!(<'a, #(#arrays),*>));
        let bounds = (!arrays.is_empty()).then(|| quote!(<'a, #(#arrays: Clone + 'a),*>));
        let derive = if arrays.is_empty() { quote!(Clone, Copy, Debug, PartialEq) } else { quote!(Clone, Debug) };
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
        let doc = format!("Parameters of [`{0}`](super::{1}::{0}) that have a default.", op.name, self.ops_module());
        quote! {
            #[doc = #doc]
            #[derive(#derive)]
            #[non_exhaustive]
            pub struct #name #bounds { #(#declared),* }
            impl #bounds #name #generics {
                /// Returns the defaults of all parameters.
                #[inline]
                #[must_use]
                pub fn new() -> Self { Self { #(#initial),* } }
                #(#setters)*
            }
            impl #bounds Default for #name #generics {
                #[inline]
                fn default() -> Self { Self::new() }
            }
        }
    }

    fn field(&self, p: &Param, op: &Op, array: &Ident) -> Field {
        let default = p.default.as_ref().map(|value| self.default(value, &p.kind)).unwrap_or_default();
        let OptionCode { field: ty, argument, set } = self.option_code(p, op, array);
        Field { name: id(&p.name), set, ty, default, argument, text: p.default_text.clone() }
    }

    /// Converts a default value to Rust code.
    pub(super) fn default(&self, value: &DefaultValue, kind: &Kind) -> TokenStream {
        let rt = self.rt();
        match value {
            DefaultValue::None => quote!(None),
            DefaultValue::Bool(value) => quote!(#value),
            DefaultValue::Integer(value) if *kind == Kind::Number => {
                let value = Literal::i128_unsuffixed(*value);
                quote!(#rt::Number::Integer(#value))
            }
            DefaultValue::Decimal(value) if *kind == Kind::Number => quote!(#rt::Number::Real(#value)),
            DefaultValue::Integer(value) => {
                let value = Literal::i128_unsuffixed(*value);
                if *kind == Kind::AxisOrAll { quote!(Some(#value)) } else { quote!(#value) }
            }
            DefaultValue::Decimal(value) => quote!(#value),
            DefaultValue::All if *kind == Kind::AxisOrAll => quote!(None),
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
