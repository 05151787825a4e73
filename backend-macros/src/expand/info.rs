//! Parameters and results of rows, as data of the runtime.

use op_table::model::*;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

/// `&[ParamInfo::new(..), ..]`; `rt` is the path of the runtime.
pub fn params(op: &Op, rt: &TokenStream) -> TokenStream {
    let params = op.params.iter().map(|p| {
        let (name, kind) = (&p.name, kind(&p.kind, rt));
        let default = match &p.default {
            None => quote!(None),
            Some(value) => {
                let value = default(value, rt);
                quote!(Some(#value))
            }
        };
        quote!(#rt::ParamInfo::new(#name, #kind, #default))
    });
    quote!(&[#(#params),*])
}

/// `ResultInfo::One(..)`
pub fn result(out: &Out, rt: &TokenStream) -> TokenStream {
    match out {
        Out::One(e) => {
            let e = elem(*e, rt);
            quote!(#rt::ResultInfo::One(#e))
        }
        Out::List(e) => {
            let e = elem(*e, rt);
            quote!(#rt::ResultInfo::List(#e))
        }
        Out::Tuple(elems) => {
            let elems = elems.iter().map(|e| elem(*e, rt));
            quote!(#rt::ResultInfo::Tuple(&[#(#elems),*]))
        }
    }
}

/// libtorch's op of a row, if one runs it.
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

fn elem(e: Elem, rt: &TokenStream) -> TokenStream {
    let name = format_ident!("{e:?}");
    quote!(#rt::ElementInfo::#name)
}

fn plain(t: Plain, rt: &TokenStream) -> TokenStream {
    let name = format_ident!("{t:?}");
    quote!(#rt::PlainInfo::#name)
}

fn kind(kind: &Kind, rt: &TokenStream) -> TokenStream {
    let kind = match kind {
        Kind::Array(e) | Kind::Operand(e) | Kind::Arrays(e) => {
            let (name, e) = (format_ident!("{}", name(kind)), elem(*e, rt));
            quote!(#name(#e))
        }
        Kind::Plain(t) | Kind::Maybe(t) => {
            let (name, t) = (format_ident!("{}", name(kind)), plain(*t, rt));
            quote!(#name(#t))
        }
        Kind::Choice(rust) => {
            let names = CHOICES.iter().find(|(_, t, _)| t == rust).map_or(&[][..], |(.., names)| *names);
            quote!(Choice(&[#(#names),*]))
        }
        other => {
            let name = format_ident!("{}", name(other));
            quote!(#name)
        }
    };
    quote!(#rt::ParamKind::#kind)
}

/// The variant of a kind, which the runtime calls the same.
fn name(kind: &Kind) -> String {
    format!("{kind:?}").split('(').next().unwrap_or_default().into()
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
