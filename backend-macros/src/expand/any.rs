//! Generates enums of backends. A program chooses the backend at run time, as a variant of the enum, and the enum is
//! itself a backend. Also generates the ops of `AnyBackend`, which the facade declares.

use super::*;

mod methods;

/// A backend that is one of several, and its arrays: `AnyBackend`, or an enum that the macro generates.
pub struct Any {
    /// The path of the type of backends.
    name: TokenStream,
    /// The backends from which a program chooses one.
    members: Vec<Member>,
    /// The path of the type of arrays.
    array: TokenStream,
    /// True for `AnyBackend`, which runs rows by their entries.
    has_entries: bool,
}

/// A backend that is a variant of an enum, with the functions that convert arguments and results of ops. The functions
/// that take arrays return an error for an array of another backend.
pub struct Member {
    /// The name of the backend's column in the op table; `None` if a user lists the backends.
    column: Option<String>,
    variant: Ident,
    ty: TokenStream,
    /// The method of arrays that returns a reference to the array of this backend.
    get: TokenStream,
    /// The function that converts an argument of an op, passed by value or by reference, to an array of this backend.
    get_given: TokenStream,
    /// The function that converts an operand, which is an array or a scalar, to an operand of this backend.
    get_operand: TokenStream,
    /// The method that returns a mutable reference to the array of this backend, for an op that changes the array.
    get_mut: TokenStream,
    /// The function that converts a list of arrays to a list of references to arrays of this backend.
    get_all: TokenStream,
    /// The function that wraps an array of this backend.
    pub(super) wrap: TokenStream,
    /// The function that wraps a list of arrays of this backend.
    pub(super) wrap_all: TokenStream,
    /// The function that converts the indices of an indexing op to indices of this backend. The indices may contain
    /// arrays.
    get_indices: TokenStream,
}

/// Describes the enum `name` of the backends `types`, which a user of the macro lists.
pub(super) fn any_of(name: &Ident, types: &[syn::Path]) -> Any {
    let array = format_ident!("{name}Array");
    let members = types.iter().filter_map(|ty| {
        let variant = ty.segments.last()?.ident.clone();
        let text = snake(&variant.to_string());
        let [given, operand, get_mut, all, list, indices] =
            ["given", "operand", "mut", "all", "list", "indices"].map(|what| format_ident!("{text}_{what}"));
        let get = id(&text);
        Some(Member {
            column: None,
            ty: quote!(#ty),
            get: quote!(#get),
            get_given: quote!(#array::#given),
            get_operand: quote!(#array::#operand),
            get_mut: quote!(#get_mut),
            get_all: quote!(#array::#all),
            wrap: quote!(#array::#variant),
            wrap_all: quote!(#array::#list),
            get_indices: quote!(#name::#indices),
            variant,
        })
    });
    Any { name: quote!(#name), array: quote!(#array), members: members.collect(), has_entries: false }
}

impl Expand<'_> {
    /// Describes `AnyBackend`, which has the backends that have columns in the op table.
    fn any_of_table(&self) -> Any {
        let (root, rt) = (&self.root, self.rt());
        let (name, array) = (quote!(#root::AnyBackend), quote!(#root::AnyArray));
        let members = self.model.backends.iter().map(|b| {
            let ty = self.backend_type(b);
            Member {
                column: Some(b.name.clone()),
                variant: id(&camel(&b.name)),
                get: quote!(get::<#ty>),
                get_given: quote!(#array::given::<#ty>),
                get_operand: quote!(#array::operand::<#name, #ty>),
                get_mut: quote!(get_mut::<#ty>),
                get_all: quote!(#array::all::<#ty>),
                wrap: quote!(#array::of::<#ty>),
                wrap_all: quote!(#array::list::<#ty>),
                get_indices: quote!(#rt::entry::indices::<#name, #ty>),
                ty,
            }
        });
        Any { members: members.collect(), name, array, has_entries: true }
    }

    /// Generates an enum of backends that a user lists, and implements every op of the base table for it.
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

    fn declare_any(&self, any_name: &Ident, any_array: &Ident, any: &Any) -> TokenStream {
        let rt = self.rt();
        let variant: &Vec<&Ident> = &any.members.iter().map(|m| &m.variant).collect();
        let (get, get_mut) = (&each(any, |m| &m.get), each(any, |m| &m.get_mut));
        let named = |what: &str| -> Vec<Ident> {
            any.members.iter().map(|m| format_ident!("{}_{what}", snake(&m.variant.to_string()))).collect()
        };
        let (get_given, get_other) = (&named("given"), named("other"));
        let (get_operand, get_all) = (named("operand"), named("all"));
        let (wrap_all, get_indices) = (named("list"), named("indices"));
        let ty = &each(any, |m| &m.ty);
        let text: &Vec<TokenStream> = &ty.iter().map(|ty| quote!(<#ty as #rt::Arrays>::NAME)).collect();
        let summary: &Vec<String> = &get.iter().map(|name| format!("`{name}`")).collect();
        let doc = format!("An array of [`{any_name}`].");
        quote! {
            /// A backend chosen at run time. It is itself a backend.
            #[derive(Clone, Debug)]
            #[non_exhaustive]
            pub enum #any_name { #(#[doc = #summary] #variant(#ty),)* }

            #[doc = #doc]
            #[derive(Clone, Debug)]
            #[non_exhaustive]
            pub enum #any_array<T: #rt::Element> { #(#[doc = #summary] #variant(<#ty as #rt::Arrays>::Array<T>)),* }

            impl #any_name {
                /// Name of the backend, such as `"numpyish"`.
                pub fn name(&self) -> &'static str { match self { #(#any_name::#variant(_) => #text,)* } }

                #(
                    #[doc(hidden)]
                    pub fn #get_indices<'a>(
                        indices: #rt::Indices<'a, #any_name>,
                        op: &'static str,
                    ) -> #rt::Result<Vec<#rt::Index<'a, #ty>>> {
                        indices.on::<#ty>(|x| x.#get(op), |x| x.#get(op))
                    }
                )*
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
                    #[inline(never)]
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
                    pub fn #get_all<'a>(
                        arrays: &[&'a #any_array<T>],
                        op: &'static str,
                    ) -> #rt::Result<Vec<&'a <#ty as #rt::Arrays>::Array<T>>> {
                        let mut all = Vec::with_capacity(arrays.len());
                        for x in arrays {
                            all.push(x.#get(op)?);
                        }
                        Ok(all)
                    }

                    #[doc(hidden)]
                    pub fn #wrap_all(arrays: Vec<<#ty as #rt::Arrays>::Array<T>>) -> Vec<#any_array<T>> {
                        let mut all = Vec::with_capacity(arrays.len());
                        for x in arrays {
                            all.push(#any_array::#variant(x));
                        }
                        all
                    }

                    #[doc(hidden)]
                    #[inline(always)]
                    pub fn #get_operand<'a>(x: #rt::Operand<'a, #any_name, T>, op: &'static str) -> #rt::Result<#rt::Operand<'a, #ty, T>> {
                        match x {
                            #rt::Operand::Array(::std::borrow::Cow::Borrowed(#any_array::#variant(x))) => Ok(#rt::Operand::array(x)),
                            x => #any_array::#get_other(x, op),
                        }
                    }

                    // not inlined, because otherwise every op would contain this code once per operand and backend
                    #[doc(hidden)]
                    #[inline(never)]
                    fn #get_other<'a>(x: #rt::Operand<'a, #any_name, T>, op: &'static str) -> #rt::Result<#rt::Operand<'a, #ty, T>> {
                        Ok(match x {
                            #rt::Operand::Scalar(s) => #rt::Operand::Scalar(s),
                            #rt::Operand::Array(x) => #rt::Operand::Array(#any_array::#get_given(x, op)?),
                        })
                    }
                )*
            }

            // if the enum has only one backend, the arms for arrays of other backends are unreachable
            #[allow(unreachable_patterns)]
            impl #rt::Arrays for #any_name {
                type Array<T: #rt::Element> = #any_array<T>;

                const NAME: &'static str = "any";

                fn to_ndarray<T: #rt::Element>(&self, x: &#any_array<T>) -> #rt::Result<#rt::HostArray<T>> {
                    match self { #(#any_name::#variant(b) => b.to_ndarray(x.#get("to_ndarray")?),)* }
                }

                fn from_ndarray<T: #rt::Element>(&self, x: #rt::HostArray<T>) -> #rt::Result<#any_array<T>> {
                    match self { #(#any_name::#variant(b) => b.from_ndarray(x).map(#any_array::#variant),)* }
                }

                fn to_dlpack_with<'a, T: #rt::Element>(
                    &self,
                    x: impl #rt::IntoArray<'a, #any_array<T>>,
                    copy: #rt::dlpack::CopyMode,
                ) -> #rt::Result<#rt::dlpack::ManagedTensor> {
                    let x = #rt::IntoArray::into_array(x);
                    match self {
                        #(#any_name::#variant(b) => b.to_dlpack_with(#any_array::#get_given(x, "to_dlpack")?, copy),)*
                                           }
                }

                fn from_dlpack_with<T: #rt::Element>(
                    &self,
                    tensor: #rt::dlpack::ManagedTensor,
                    copy: #rt::dlpack::CopyMode,
                ) -> #rt::Result<#any_array<T>> {
                    match self {
                        #(#any_name::#variant(b) => b.from_dlpack_with(tensor, copy).map(#any_array::#variant),)*
                                           }
                }

                fn dlpack_device(&self) -> #rt::dlpack::DLDevice {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::dlpack_device(b),)* }
                }

                fn host_view<'a, T: #rt::Element>(&self, x: &'a #any_array<T>) -> Option<#rt::numpyish::raw::HostView<'a, T>> {
                    match (self, x) {
                        #((#any_name::#variant(b), #any_array::#variant(x)) => b.host_view(x),)*
                                               // an array of another backend: the ops return an error for such an array
                        _ => None,
                    }
                }

                fn reads_rolled(&self) -> bool {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::reads_rolled(b),)* }
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
                        // an array of another backend: the ops return an error for it, as in `host_view`
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

                fn offer(&self) -> ::core::result::Result<#rt::link::Offer, String> {
                    match self {
                        #(#any_name::#variant(b) => #rt::Arrays::offer(b),)*
                    }
                }

                fn link(&self, peers: &dyn #rt::link::Peers) -> #rt::Result<Option<#rt::link::Link>> {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::link(b, peers),)* }
                }

                fn exchange_linked<T: #rt::Element>(
                    &self,
                    op: &'static str,
                    link: &#rt::link::Link,
                    send: &[Vec<#any_array<T>>],
                    from: &[usize],
                ) -> #rt::Result<#any_array<T>> {
                    match self {
                        #(#any_name::#variant(b) => {
                            let own = |arrays: &Vec<#any_array<T>>| arrays.iter().map(|x| x.#get(op).cloned()).collect();
                            let send = send.iter().map(own).collect::<#rt::Result<Vec<_>>>()?;
                            #rt::Arrays::exchange_linked(b, op, link, &send, from).map(#any_array::#variant)
                        })*
                    }
                }

                fn gather_linked<T: #rt::Element>(
                    &self,
                    op: &'static str,
                    link: &#rt::link::Link,
                    part: &#any_array<T>,
                    counts: &[usize],
                ) -> #rt::Result<#any_array<T>> {
                    match self {
                        #(#any_name::#variant(b) => {
                            #rt::Arrays::gather_linked(b, op, link, part.#get(op)?, counts).map(#any_array::#variant)
                        })*
                    }
                }

                fn staged<T: #rt::Element>(
                    &self,
                    op: &'static str,
                    send: &[#any_array<T>],
                    total: usize,
                    through: &mut #rt::link::Through<'_>,
                ) -> Option<#rt::Result<#any_array<T>>> {
                    match self {
                        #(#any_name::#variant(b) => {
                            // `None` for an array of another backend; the usual exchange of arrays then reports the
                            // error
                            let send = send.iter().map(|x| x.#get(op).cloned()).collect::<#rt::Result<Vec<_>>>().ok()?;
                            Some(#rt::Arrays::staged(b, op, &send, total, through)?.map(#any_array::#variant))
                        })*
                    }
                }

                fn device(&self) -> String {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::device(b),)* }
                }

                fn device_info(&self) -> #rt::Result<#rt::DeviceInfo> {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::device_info(b),)* }
                }

                fn memory(&self) -> #rt::Result<#rt::MemoryInfo> {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::memory(b),)* }
                }

                fn reset_peak_memory(&self) -> #rt::Result<()> {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::reset_peak_memory(b),)* }
                }

                fn free_cache(&self) -> #rt::Result<()> {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::free_cache(b),)* }
                }

                fn synchronize(&self) -> #rt::Result<()> {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::synchronize(b),)* }
                }

                fn seed(&self, seed: u64) {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::seed(b, seed),)* }
                }

                fn seed_at(&self, seed: u64, block: u64) -> #rt::Result<()> {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::seed_at(b, seed, block),)* }
                }

                fn random_state(&self) -> #rt::Result<(u64, u64)> {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::random_state(b),)* }
                }
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
        // `rest` is true outside the facade: there the enum is non-exhaustive, because later versions of the facade
        // may add backends
        self.implement_any_of(&quote!(#name), &self.any_of_table(), ops, self.extension.is_some())
    }
}

/// Selects a property of each backend.
fn each(any: &Any, of: impl Fn(&Member) -> &TokenStream) -> Vec<&TokenStream> {
    any.members.iter().map(of).collect()
}
