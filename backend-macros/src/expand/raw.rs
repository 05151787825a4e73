//! Generates calls of library functions that take arrays whose dtype is known only at run time. The methods of a
//! library contain these calls.

use super::{backend::of_row, *};

impl Expand<'_> {
    /// Generates the call of the library function `path` of a row, which takes arrays whose dtype is known only at
    /// run time.
    pub(super) fn raw_call(&self, op: &Op, module: &TokenStream, path: &str) -> TokenStream {
        let (rt, name, path, x) = (self.rt(), &op.name, function(path), hidden("x"));
        let raw = quote!(#rt::raw);
        let to = op.second.is_some().then(|| quote!(.with_to(<U as #rt::Element>::DTYPE)));
        let args = op.params.iter().map(|p| {
            let n = id(&p.name);
            match (&p.kind, &p.default) {
                (Kind::Array(_), Some(_)) => quote!(#n.as_deref().map(#raw::Argument::array)),
                (Kind::Array(_), None) => quote!(#raw::Argument::array(&*#n)),
                (Kind::Target(_), _) => quote!(#raw::Argument::target(#n)),
                (Kind::Operand(..), _) => quote!(#raw::operand(&#n)),
                (Kind::Arrays(_), _) => quote!(&#raw::arrays(&#n)),
                (Kind::Scalar, Some(DefaultValue::None)) => quote!(#n.map(#raw::RawElement::of)),
                (Kind::Scalar, _) => quote!(#raw::RawElement::of(#n)),
                _ => self.passed(p, op),
            }
        });
        let on = quote!(#module::OpContext::new(self, #name, <T as #rt::Element>::DTYPE) #to);
        let call = quote!(#module::#path(#on, #(#args),*));
        // the functions that the base table names are known to exist; a function that another table names may be
        // missing
        let call = if self.home.is_some() || self.extension.is_some() {
            let call = of_row(op, call);
            quote!({ #call })
        } else {
            call
        };
        let call = quote!(#rt::located(#call, (::core::file!(), ::core::line!())));
        let first = op.positional().find(|p| matches!(p.kind, Kind::Array(_) | Kind::Arrays(_)));
        let first = first.map_or_else(
            || quote!(()),
            |p| {
                let n = id(&p.name);
                if matches!(p.kind, Kind::Array(_)) { quote!(&*#n) } else { quote!(&#n[..]) }
            },
        );
        if let Some(target) = op.target() {
            let n = id(&target.name);
            return quote!(#raw::FinishTarget::finish_target(#call?, #name, #n));
        }
        match &op.result {
            Out::One(_) => quote!(#raw::Finish::finish(#call?, #name, #first)),
            Out::List(_) => quote!(#raw::finish_all(#name, #call?, #first)),
            Out::Fields(fields) => {
                let (path, places) = (self.result_path(op), 0..fields.len());
                let names: Vec<Ident> = fields.iter().map(|f| id(&f.name)).collect();
                let parts = places.map(|i| format_ident!("{x}{i}"));
                let parts: Vec<Ident> = parts.collect();
                quote!({ let [#(#parts),*] = #call?; Ok(#path { #(#names: #raw::Finish::finish(#parts, #name, #first)?),* }) })
            }
            Out::Plain(_) => call,
        }
    }
}
