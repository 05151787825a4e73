//! Generates descriptions of the parameters and results of the op table's rows, as constants of the runtime's types.

use super::{Expand, hidden};
use op_table::model::*;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

impl Expand<'_> {
    /// Generates the descriptions of a row's parameters, such as `&[ParamInfo::new(..), ..]`.
    pub fn params_info(&self, op: &Op) -> TokenStream {
        let rt = self.rt();
        let params = op.params.iter().map(|p| {
            let (name, kind) = (&p.name, self.code(&p.kind, op, &hidden("K")).info);
            let default = match &p.default {
                None => quote!(None),
                Some(value) => {
                    let value = default(value, &rt);
                    quote!(Some(#value))
                }
            };
            quote!(#rt::ParamInfo::new(#name, #rt::ParamKind::#kind, #default))
        });
        quote!(&[#(#params),*])
    }

    /// Generates the description of a row's result, a variant of `ResultInfo` such as `ResultInfo::One(..)`.
    pub fn result_info(&self, op: &Op) -> TokenStream {
        let rt = self.rt();
        let result = match &op.result {
            Out::One(e) => {
                let e = elem(*e, &rt);
                quote!(One(#e))
            }
            Out::List(e) => {
                let e = elem(*e, &rt);
                quote!(List(#e))
            }
            Out::Fields(fields) => {
                let fields = fields.iter().map(|f| {
                    let (name, e) = (&f.name, elem(f.elem, &rt));
                    quote!((#name, #e))
                });
                quote!(Fields(&[#(#fields),*]))
            }
            Out::Plain(t) => {
                let t = plain(*t, &rt);
                quote!(Plain(#t))
            }
        };
        quote!(#rt::ResultInfo::#result)
    }
}

/// Generates the description of the libtorch op that a row names: its name, its overload and its number of arguments;
/// `None` if the row names no op of libtorch.
pub fn aten(op: &Op) -> TokenStream {
    let aten = op.maps.values().find_map(|map| match map {
        Map::Aten(aten) => Some(aten),
        _ => None,
    });
    match aten {
        Some(Aten { name, overload, args, .. }) => {
            let (name, count) = (format!("aten::{name}"), args.len());
            quote!(Some((#name, #overload, #count)))
        }
        None => quote!(None),
    }
}

/// Generates the variant of `ElementInfo` for an element type, such as `ElementInfo::T`.
pub fn elem(e: Elem, rt: &TokenStream) -> TokenStream {
    let name = format_ident!("{e:?}");
    quote!(#rt::ElementInfo::#name)
}

/// Generates the variant of `PlainInfo` for a Rust type, such as `PlainInfo::F64`.
pub fn plain(t: Plain, rt: &TokenStream) -> TokenStream {
    let name = format_ident!("{t:?}");
    quote!(#rt::PlainInfo::#name)
}

fn default(value: &DefaultValue, rt: &TokenStream) -> TokenStream {
    let value = match value {
        DefaultValue::None => quote!(None),
        DefaultValue::All => quote!(All),
        DefaultValue::Bool(b) => quote!(Bool(#b)),
        DefaultValue::Decimal(x) => quote!(Number(#x)),
        DefaultValue::Choice(name) => quote!(Choice(#name)),
        DefaultValue::Integer(n) => {
            let n = Literal::i128_unsuffixed(*n);
            quote!(Integer(#n))
        }
        DefaultValue::Axes(axes) => quote!(Axes(&[#(#axes),*])),
    };
    quote!(#rt::DefaultInfo::#value)
}
