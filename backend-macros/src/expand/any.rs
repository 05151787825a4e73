//! The backend chosen at run time: an enum over the libraries, itself a backend.

use super::*;

impl Expand<'_> {
    fn variants(&self) -> Vec<Ident> {
        self.model.backends.iter().map(|b| id(&camel(&b.name))).collect()
    }

    pub(super) fn any_backend(&self) -> TokenStream {
        let rt = self.rt();
        let variant = &self.variants();
        let get: &Vec<Ident> = &self.model.backends.iter().map(|b| id(&b.name)).collect();
        let get_operand: Vec<Ident> = self.model.backends.iter().map(|b| format_ident!("{}_operand", b.name)).collect();
        let ty: &Vec<TokenStream> = &self.model.backends.iter().map(|b| self.backend_type(b)).collect();
        let text: &Vec<&String> = &self.model.backends.iter().map(|b| &b.name).collect();
        let summary: &Vec<&String> = &self.model.backends.iter().map(|b| &b.summary).collect();
        quote! {
            /// The backend chosen at run time; itself a [`Backend`], at the cost of one `match` per op.
            #[derive(Clone, Debug)]
            #[non_exhaustive]
            pub enum AnyBackend { #(#[doc = #summary] #variant(#ty)),* }

            /// An array of [`AnyBackend`].
            #[derive(Clone, Debug)]
            #[non_exhaustive]
            pub enum AnyArray<T: #rt::Element> { #(#[doc = #summary] #variant(<#ty as #rt::Arrays>::Array<T>)),* }

            impl AnyBackend {
                /// Name of the library: `"numpyish"`, `"cuda"`, `"torch"`.
                pub fn name(&self) -> &'static str { match self { #(AnyBackend::#variant(_) => #text),* } }
            }

            #(impl From<#ty> for AnyBackend { fn from(backend: #ty) -> Self { AnyBackend::#variant(backend) } })*

            impl<T: #rt::Element> AnyArray<T> {
                /// Name of the backend that the array belongs to.
                pub fn backend(&self) -> &'static str { match self { #(AnyArray::#variant(_) => #text),* } }

                #(
                    #[doc(hidden)]
                    #[inline]
                    #[allow(unreachable_patterns)]
                    pub fn #get(&self, op: &'static str) -> #rt::Result<&<#ty as #rt::Arrays>::Array<T>> {
                        match self {
                            AnyArray::#variant(x) => Ok(x),
                            other => Err(#rt::Error::backend(op, #text, other.backend())),
                        }
                    }

                    #[doc(hidden)]
                    #[inline]
                    pub fn #get_operand<'a>(x: #rt::Operand<'a, AnyBackend, T>, op: &'static str) -> #rt::Result<#rt::Operand<'a, #ty, T>> {
                        Ok(match x {
                            #rt::Operand::Scalar(s) => #rt::Operand::Scalar(s),
                            #rt::Operand::Array(x) => #rt::Operand::Array(x.#get(op)?),
                        })
                    }
                )*
            }

            impl #rt::Arrays for AnyBackend {
                type Array<T: #rt::Element> = AnyArray<T>;

                const NAME: &'static str = "any";

                #[inline]
                fn shape<'a, T: #rt::Element>(&self, x: &'a AnyArray<T>) -> &'a [usize] {
                    match (self, x) {
                        #((AnyBackend::#variant(b), AnyArray::#variant(x)) => b.shape(x),)*
                        // every array has a shape, whichever backend is asked
                        #[allow(unreachable_patterns)]
                        (_, x) => x.shape(),
                    }
                }

                fn to_ndarray<T: #rt::Element>(&self, x: &AnyArray<T>) -> #rt::Result<#rt::HostArray<T>> {
                    match self { #(AnyBackend::#variant(b) => b.to_ndarray(x.#get("to_ndarray")?)),* }
                }

                fn from_ndarray<T: #rt::Element>(&self, x: #rt::HostArray<T>) -> #rt::Result<AnyArray<T>> {
                    match self { #(AnyBackend::#variant(b) => b.from_ndarray(x).map(AnyArray::#variant)),* }
                }

                fn host_view<'a, T: #rt::Element>(&self, x: &'a AnyArray<T>) -> Option<#rt::numpyish::raw::HostView<'a, T>> {
                    match (self, x) {
                        #((AnyBackend::#variant(b), AnyArray::#variant(x)) => b.host_view(x),)*
                        // an array of another backend: the ops say so
                        _ => None,
                    }
                }

                fn device(&self) -> String { match self { #(AnyBackend::#variant(b) => #rt::Arrays::device(b)),* } }

                fn synchronize(&self) -> #rt::Result<()> {
                    match self { #(AnyBackend::#variant(b) => #rt::Arrays::synchronize(b)),* }
                }

                fn seed(&self, seed: u64) { match self { #(AnyBackend::#variant(b) => #rt::Arrays::seed(b, seed)),* } }
            }

            impl<T: #rt::Element> AnyArray<T> {
                /// Lengths of the axes.
                pub fn shape(&self) -> &[usize] { match self { #(AnyArray::#variant(x) => x.shape()),* } }
            }
        }
    }

    pub(super) fn implement_any(&self, name: &Ident, ops: &[&Op]) -> TokenStream {
        let root = &self.root;
        let methods = ops.iter().map(|op| {
            let signature = self.signature(op, op.has_options());
            let prepare = self.convert(op);
            let arms = self.model.backends.iter().zip(self.variants()).map(|(b, v)| self.any_arm(op, b, &v));
            // in another crate the enum is not exhaustive: a later version of the facade may have more backends
            let (rt, name) = (self.rt(), &op.name);
            let rest =
                self.extension.is_some().then(|| quote!(_ => Err(#rt::Error::unsupported(#name, "this backend")),));
            quote!(#[inline] #signature { #prepare match self { #(#arms)* #rest } })
        });
        quote!(#[doc(hidden)] impl #name for #root::AnyBackend { #(#methods)* })
    }

    /// The enum of arrays.
    pub(super) fn any_array(&self) -> TokenStream {
        let root = &self.root;
        quote!(#root::AnyArray)
    }

    fn any_arm(&self, op: &Op, backend: &Backend, variant: &Ident) -> TokenStream {
        let (root, rt, name) = (&self.root, self.rt(), &op.name);
        let get = id(&backend.name);
        let get_operand = format_ident!("{}_operand", backend.name);
        let (b, r, options, own) = (hidden("b"), hidden("r"), hidden("options"), hidden("own"));
        let args = op.positional().map(|p| {
            let n = id(&p.name);
            match p.kind {
                Kind::Array(_) => quote!(#n.#get(#name)?),
                Kind::Operand(_) => quote!(#root::AnyArray::#get_operand(#n, #name)?),
                Kind::Arrays(_) => {
                    quote!(&#n.iter().map(|x| x.#get(#name)).collect::<#rt::Result<Vec<_>>>()?)
                }
                _ => quote!(#n),
            }
        });
        let method = if op.has_options() { format_ident!("{}_with", op.name) } else { id(&op.name) };
        let given = op.has_options().then(|| {
            if !op.options_hold_arrays() {
                return quote!(#options);
            }
            let path = self.options_path(op);
            let set = op.optional().map(|p| {
                let n = id(&p.name);
                let array = matches!(p.kind, Kind::Array(_));
                if array {
                    quote!(#own.#n = #options.#n.map(|x| x.#get(#name)).transpose()?;)
                } else {
                    quote!(#own.#n = #options.#n;)
                }
            });
            quote!({ let mut #own = #path::new(); #(#set)* #own })
        });
        let wrap = self.any_result(op, variant, &r);
        quote! {
            #root::AnyBackend::#variant(#b) => {
                let #r = #b.#method(#(#args,)* #given)?;
                Ok(#wrap)
            }
        }
    }
}
