//! The backend chosen at run time: an enum over the libraries, itself a backend.

use super::*;

/// An enum over backends, and that of its arrays.
pub struct Any {
    /// The path of the enum.
    name: TokenStream,
    /// The path of the enum of arrays.
    array: TokenStream,
    /// The backends in it.
    members: Vec<Member>,
}

/// A backend in an enum.
struct Member {
    variant: Ident,
    ty: TokenStream,
    summary: String,
    /// The method of the arrays' enum that gives an array of this backend.
    get: Ident,
    /// The same of an array that an op is given.
    get_given: Ident,
    /// The same of an operand.
    get_operand: Ident,
    /// The same of an array that is changed.
    get_mut: Ident,
}

impl Member {
    fn new(name: &str, variant: Ident, ty: TokenStream, summary: String) -> Member {
        let [get_given, get_operand, get_mut] = ["given", "operand", "mut"].map(|what| format_ident!("{name}_{what}"));
        Member { variant, ty, summary, get: id(name), get_given, get_operand, get_mut }
    }
}

/// An enum over backends that a user lists.
pub(super) fn any_of(name: &Ident, types: &[syn::Path]) -> Any {
    let array = format_ident!("{name}Array");
    let members = types.iter().filter_map(|ty| {
        let variant = ty.segments.last()?.ident.clone();
        let text = snake(&variant.to_string());
        Some(Member::new(&text, variant, quote!(#ty), format!("`{text}`")))
    });
    Any { name: quote!(#name), array: quote!(#array), members: members.collect() }
}

impl Expand<'_> {
    /// `AnyBackend`, over the libraries of the table.
    fn any_of_table(&self) -> Any {
        let root = &self.root;
        let members = self.model.backends.iter();
        let members =
            members.map(|b| Member::new(&b.name, id(&camel(&b.name)), self.backend_type(b), b.summary.clone()));
        Any { name: quote!(#root::AnyBackend), array: quote!(#root::AnyArray), members: members.collect() }
    }

    /// An enum over backends that a user lists, which has every row of the base table.
    pub fn any_of(&self, name: &Ident, types: &[syn::Path]) -> TokenStream {
        let (root, array, any) = (&self.root, format_ident!("{name}Array"), any_of(name, types));
        let groups = self.model.groups.iter().map(|group| {
            let ops: Vec<&Op> = self.model.ops.iter().filter(|o| o.group == group.name).collect();
            let group = id(&camel(&group.name));
            self.implement_any_of(&quote!(#root::#group), &any, &ops, false)
        });
        let declared = self.declare_any(name, &array, &any);
        quote!(#declared #(#groups)*)
    }

    pub(super) fn any_backend(&self) -> TokenStream {
        self.declare_any(&id("AnyBackend"), &id("AnyArray"), &self.any_of_table())
    }

    fn declare_any(&self, any_name: &Ident, any_array: &Ident, any: &Any) -> TokenStream {
        let rt = self.rt();
        let variant: &Vec<&Ident> = &any.members.iter().map(|m| &m.variant).collect();
        let get: &Vec<&Ident> = &any.members.iter().map(|m| &m.get).collect();
        let get_given: &Vec<&Ident> = &any.members.iter().map(|m| &m.get_given).collect();
        let get_operand: Vec<&Ident> = any.members.iter().map(|m| &m.get_operand).collect();
        let get_mut: Vec<&Ident> = any.members.iter().map(|m| &m.get_mut).collect();
        let ty: &Vec<&TokenStream> = &any.members.iter().map(|m| &m.ty).collect();
        let text: &Vec<TokenStream> = &ty.iter().map(|ty| quote!(<#ty as #rt::Arrays>::NAME)).collect();
        let summary: &Vec<&String> = &any.members.iter().map(|m| &m.summary).collect();
        let doc = format!("An array of [`{any_name}`].");
        quote! {
            /// The backend chosen at run time; itself a [`Backend`], at the cost of one `match` per op.
            #[derive(Clone, Debug)]
            #[non_exhaustive]
            pub enum #any_name { #(#[doc = #summary] #variant(#ty)),* }

            #[doc = #doc]
            #[derive(Clone, Debug)]
            #[non_exhaustive]
            pub enum #any_array<T: #rt::Element> { #(#[doc = #summary] #variant(<#ty as #rt::Arrays>::Array<T>)),* }

            impl #any_name {
                /// Name of the backend: `"numpyish"`, for one.
                pub fn name(&self) -> &'static str { match self { #(#any_name::#variant(_) => #text),* } }
            }

            #(impl From<#ty> for #any_name { fn from(backend: #ty) -> Self { #any_name::#variant(backend) } })*

            impl<T: #rt::Element> #any_array<T> {
                /// Name of the backend that the array belongs to.
                pub fn backend(&self) -> &'static str { match self { #(#any_array::#variant(_) => #text),* } }

                #(
                    #[doc(hidden)]
                    #[inline]
                    #[allow(unreachable_patterns)]
                    pub fn #get(&self, op: &'static str) -> #rt::Result<&<#ty as #rt::Arrays>::Array<T>> {
                        match self {
                            #any_array::#variant(x) => Ok(x),
                            other => Err(#rt::Error::backend(op, #text, other.backend())),
                        }
                    }

                    #[doc(hidden)]
                    #[inline]
                    #[allow(unreachable_patterns)]
                    pub fn #get_mut(&mut self, op: &'static str) -> #rt::Result<&mut <#ty as #rt::Arrays>::Array<T>> {
                        match self {
                            #any_array::#variant(x) => Ok(x),
                            other => Err(#rt::Error::backend(op, #text, other.backend())),
                        }
                    }

                    #[doc(hidden)]
                    #[inline(always)]
                    #[allow(unreachable_patterns)]
                    pub fn #get_given<'a>(
                        x: ::std::borrow::Cow<'a, #any_array<T>>,
                        op: &'static str,
                    ) -> #rt::Result<::std::borrow::Cow<'a, <#ty as #rt::Arrays>::Array<T>>> {
                        Ok(match x {
                            ::std::borrow::Cow::Borrowed(x) => ::std::borrow::Cow::Borrowed(x.#get(op)?),
                            ::std::borrow::Cow::Owned(#any_array::#variant(x)) => ::std::borrow::Cow::Owned(x),
                            ::std::borrow::Cow::Owned(other) => {
                                return Err(#rt::Error::backend(op, #text, other.backend()));
                            }
                        })
                    }

                    #[doc(hidden)]
                    #[inline(always)]
                    pub fn #get_operand<'a>(x: #rt::Operand<'a, #any_name, T>, op: &'static str) -> #rt::Result<#rt::Operand<'a, #ty, T>> {
                        Ok(match x {
                            #rt::Operand::Scalar(s) => #rt::Operand::Scalar(s),
                            #rt::Operand::Array(x) => #rt::Operand::Array(#any_array::#get_given(x, op)?),
                        })
                    }
                )*
            }

            impl #rt::Arrays for #any_name {
                type Array<T: #rt::Element> = #any_array<T>;

                const NAME: &'static str = "any";

                fn to_ndarray<T: #rt::Element>(&self, x: &#any_array<T>) -> #rt::Result<#rt::HostArray<T>> {
                    match self { #(#any_name::#variant(b) => b.to_ndarray(x.#get("to_ndarray")?)),* }
                }

                fn from_ndarray<T: #rt::Element>(&self, x: #rt::HostArray<T>) -> #rt::Result<#any_array<T>> {
                    match self { #(#any_name::#variant(b) => b.from_ndarray(x).map(#any_array::#variant)),* }
                }

                fn to_dlpack_with<'a, T: #rt::Element>(
                    &self,
                    x: impl #rt::IntoArray<'a, #any_array<T>>,
                    copy: #rt::dlpack::CopyMode,
                ) -> #rt::Result<#rt::dlpack::ManagedTensor> {
                    let x = #rt::IntoArray::into_array(x);
                    match self { #(#any_name::#variant(b) => b.to_dlpack_with(#any_array::#get_given(x, "to_dlpack")?, copy)),* }
                }

                fn from_dlpack_with<T: #rt::Element>(
                    &self,
                    tensor: #rt::dlpack::ManagedTensor,
                    copy: #rt::dlpack::CopyMode,
                ) -> #rt::Result<#any_array<T>> {
                    match self { #(#any_name::#variant(b) => b.from_dlpack_with(tensor, copy).map(#any_array::#variant)),* }
                }

                fn dlpack_device(&self) -> #rt::dlpack::DLDevice {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::dlpack_device(b)),* }
                }

                fn host_view<'a, T: #rt::Element>(&self, x: &'a #any_array<T>) -> Option<#rt::numpyish::raw::HostView<'a, T>> {
                    match (self, x) {
                        #((#any_name::#variant(b), #any_array::#variant(x)) => b.host_view(x),)*
                        // an array of another backend: the ops say so
                        _ => None,
                    }
                }

                fn is_alone<T: #rt::Element>(&self, x: &mut #any_array<T>) -> bool {
                    match (self, x) {
                        #((#any_name::#variant(b), #any_array::#variant(x)) => #rt::Arrays::is_alone(b, x),)*
                        _ => false,
                    }
                }

                const FUSES: bool = false #(|| <#ty as #rt::Arrays>::FUSES)*;

                fn fused_input<'a, T: #rt::Element>(&self, x: &'a #any_array<T>) -> Option<&'a dyn ::core::any::Any> {
                    match (self, x) {
                        #((#any_name::#variant(b), #any_array::#variant(x)) => b.fused_input(x),)*
                        // as above
                        _ => None,
                    }
                }

                fn fused<L: #rt::formula::Layout, E: #rt::formula::Node<L::Elements> + #rt::formula::Typed<Out = T>, T: #rt::Element>(
                    &self,
                    e: &E,
                    scalars: L::Scalars,
                    inputs: &[&dyn ::core::any::Any],
                    over: Option<&dyn ::core::any::Any>,
                ) -> Option<#rt::Result<#any_array<T>>> {
                    match self {
                        #(#any_name::#variant(b) => Some(b.fused::<L, E, T>(e, scalars, inputs, over)?.map(#any_array::#variant)),)*
                    }
                }

                fn fused_each<F: #rt::EachSource>(
                    &self,
                    op: &F,
                    of: #rt::DType,
                    inputs: &[#rt::formula::Input<'_>],
                    over: &dyn ::core::any::Any,
                ) -> Option<#rt::Result<()>> {
                    match self { #(#any_name::#variant(b) => b.fused_each(op, of, inputs, over),)* }
                }

                fn fused_reduction<
                    L: #rt::formula::Layout,
                    E: #rt::formula::Node<L::Elements> + #rt::formula::Typed<Out = T>,
                    T: #rt::Element,
                    U: #rt::Element,
                >(
                    &self,
                    e: &E,
                    scalars: L::Scalars,
                    inputs: &[&dyn ::core::any::Any],
                    reduction: &#rt::formula::Reduction,
                ) -> Option<#rt::Result<#any_array<U>>> {
                    match self {
                        #(#any_name::#variant(b) => {
                            Some(b.fused_reduction::<L, E, T, U>(e, scalars, inputs, reduction)?.map(#any_array::#variant))
                        })*
                    }
                }

                fn device(&self) -> String { match self { #(#any_name::#variant(b) => #rt::Arrays::device(b)),* } }

                fn synchronize(&self) -> #rt::Result<()> {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::synchronize(b)),* }
                }

                fn seed(&self, seed: u64) { match self { #(#any_name::#variant(b) => #rt::Arrays::seed(b, seed)),* } }
            }

            impl<T: #rt::Element> #rt::ArrayAttributes for #any_array<T> {
                type DType = T;

                #[inline]
                fn shape(&self) -> &[usize] {
                    match self { #(#any_array::#variant(x) => #rt::ArrayAttributes::shape(x)),* }
                }

                fn device(&self) -> String {
                    match self { #(#any_array::#variant(x) => #rt::ArrayAttributes::device(x)),* }
                }
            }
        }
    }

    pub(super) fn implement_any(&self, name: &Ident, ops: &[&Op]) -> TokenStream {
        // in another crate the enum is not exhaustive: a later version of the facade may have more backends
        self.implement_any_of(&quote!(#name), &self.any_of_table(), ops, self.extension.is_some())
    }

    /// The trait of these ops for an enum of backends; `rest` says that the enum may have further variants.
    pub(super) fn implement_any_of(&self, name: &TokenStream, any: &Any, ops: &[&Op], rest: bool) -> TokenStream {
        let methods = ops.iter().map(|op| {
            let signature = self.signature(op, op.has_options());
            let prepare = self.convert(op);
            let arms = any.members.iter().map(|member| self.any_arm(op, any, member));
            let (rt, name) = (self.rt(), &op.name);
            let rest = rest.then(|| quote!(_ => Err(#rt::Error::unsupported(#name, "this backend")),));
            quote!(#[inline] #signature { #prepare match self { #(#arms)* #rest } })
        });
        let ty = &any.name;
        quote!(#[doc(hidden)] impl #name for #ty { #(#methods)* })
    }

    fn any_arm(&self, op: &Op, any: &Any, member: &Member) -> TokenStream {
        let (rt, name) = (self.rt(), &op.name);
        let Any { name: any_name, array: any_array, .. } = any;
        let Member { variant, ty, get, get_given, get_operand, get_mut, .. } = member;
        let (b, r, options, own) = (hidden("b"), hidden("r"), hidden("options"), hidden("own"));
        let args = op.positional().map(|p| {
            let n = id(&p.name);
            match p.kind {
                Kind::Array(_) => quote!(#any_array::#get_given(#n, #name)?),
                Kind::Operand(..) => quote!(#any_array::#get_operand(#n, #name)?),
                Kind::Target(_) => quote!(#n.#get_mut(#name)?),
                Kind::Index => quote!(&#n.on::<#ty>(|x| x.#get(#name), |x| x.#get(#name))?),
                Kind::Arrays(_) => {
                    quote!(#n.iter().map(|x| x.#get(#name)).collect::<#rt::Result<Vec<_>>>()?)
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
                    quote!(#own.#n = #options.#n.map(|x| #any_array::#get_given(x, #name)).transpose()?;)
                } else {
                    quote!(#own.#n = #options.#n;)
                }
            });
            quote!({ let mut #own = #path::new(); #(#set)* #own })
        });
        if op.target().is_some() {
            return quote!(#any_name::#variant(#b) => #b.#method(#(#args,)* #given),);
        }
        let wrap = self.any_result(op, any_array, variant, &r);
        quote! {
            #any_name::#variant(#b) => {
                let #r = #b.#method(#(#args,)* #given)?;
                Ok(#wrap)
            }
        }
    }
}
