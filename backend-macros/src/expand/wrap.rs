//! Methods of backends that wrap another: the arguments are opened, the op runs within, its result is closed.

use super::*;

impl Expand<'_> {
    /// The body of a method of a backend that wraps another; arguments are converted already, options are whole.
    pub(super) fn wrapped(&self, op: &Op) -> TokenStream {
        let (rt, name) = (self.rt(), &op.name);
        let (within, result, options, own) = (hidden("within"), hidden("result"), hidden("options"), hidden("own"));
        let open = |n: &Ident| quote!(#rt::Wrap::open(self, #name, #n));
        let args = op.positional().map(|p| {
            let n = id(&p.name);
            match p.kind {
                Kind::Array(_) => {
                    quote!(#rt::Wrap::open(self, #name, &*#n)?)
                }
                Kind::Operand(..) => quote!(#rt::Wrap::open_operand(self, #name, &#n)?),
                Kind::Index => {
                    let array = open(&id("x"));
                    quote!(&#n.on::<<Self as #rt::Wrap>::Within>(|x| #array, |x| #array)?)
                }
                Kind::Arrays(_) => {
                    let array = open(&id("x"));
                    quote!(#n.iter().map(|x| #array).collect::<#rt::Result<Vec<_>>>()?)
                }
                _ => quote!(#n),
            }
        });
        let given = op.has_options().then(|| {
            if !op.options_hold_arrays() {
                return quote!(#options);
            }
            let path = self.options_path(op);
            let set = op.optional().map(|p| {
                let n = id(&p.name);
                let array = open(&id("x"));
                match p.kind {
                    Kind::Array(_) => quote! {
                        let #n = #options.#n.as_deref().map(|x| #array).transpose()?;
                        #own.#n = #n.map(::std::borrow::Cow::Borrowed);
                    },
                    _ => quote!(#own.#n = #options.#n;),
                }
            });
            quote!({ let mut #own = #path::new(); #(#set)* #own })
        });
        let method = if op.has_options() { format_ident!("{}_with", op.name) } else { id(&op.name) };
        let markers = op.positional().filter(|p| matches!(p.kind, Kind::Operand(..))).map(|_| quote!(, _));
        let second = op.second.is_some().then(|| quote!(U,));
        if let Some(target) = op.target() {
            let target = id(&target.name);
            return quote! {
                let #within = #rt::Wrap::within(self, #name)?;
                #rt::Wrap::change(self, #name, #target, |#target| {
                    #within.#method::<#second T #(#markers)*>(#(#args,)* #given)
                })
            };
        }
        let close = |e: Elem, array: TokenStream| {
            let e = elem(e, op);
            quote!(#rt::Wrap::close::<#e>(self, #name, #array))
        };
        let closed = match &op.result {
            Out::One(e) => close(*e, quote!(#result)),
            Out::List(e) => {
                let one = close(*e, quote!(x));
                quote!(#result.into_iter().map(|x| #one).collect())
            }
            Out::Fields(fields) => {
                let path = self.result_path(op);
                let fields = fields.iter().map(|f| {
                    let n = id(&f.name);
                    let array = close(f.elem, quote!(#result.#n));
                    quote!(#n: #array?)
                });
                quote!(Ok(#path { #(#fields),* }))
            }
            Out::Plain(_) => quote!(Ok(#result)),
        };
        quote! {
            let #within = #rt::Wrap::within(self, #name)?;
            let #result = #within.#method::<#second T #(#markers)*>(#(#args,)* #given)?;
            #closed
        }
    }
}
