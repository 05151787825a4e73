//! Generates enums of backends, such as `AnyBackend`. A program chooses the backend at run time, as a variant of the
//! enum, and the enum is itself a backend.

use super::*;

mod methods;

/// An enum of backends, and the enum of their arrays. The macro generates both enums.
pub struct Any {
    /// The path of the enum of backends.
    name: TokenStream,
    /// The path of the enum of arrays.
    array: TokenStream,
    /// The backends that are variants of the enum.
    members: Vec<Member>,
    /// True if the enum of backends has the variant `Watched`. This variant contains a backend of the same enum, and
    /// reports every call of that backend to a watcher.
    is_watched: bool,
}

/// A backend that is a variant of an enum, and the names of generated methods that convert arguments and results of
/// ops. The methods that take arrays of the enum return an error for an array of another variant.
struct Member {
    /// The name of the backend's column in the op table, if the enum is generated from the table.
    column: Option<String>,
    variant: Ident,
    ty: TokenStream,
    summary: String,
    /// The method of the enum of arrays that returns a reference to the array of this backend.
    get: Ident,
    /// The method that converts an argument of an op, passed by value or by reference, to an array of this backend.
    get_given: Ident,
    /// The method that converts an operand, which is an array or a scalar, to an operand of this backend.
    get_operand: Ident,
    /// The method that returns a mutable reference to the array of this backend, for an op that changes the array.
    get_mut: Ident,
    /// The method that converts a list of arrays to a list of references to arrays of this backend.
    get_all: Ident,
    /// The method that converts a list of arrays of this backend to a list of arrays of the enum.
    wrap_all: Ident,
    /// The method of the enum of backends that converts the indices of an indexing op to indices of this backend. The
    /// indices may contain arrays of the enum.
    get_indices: Ident,
}

impl Member {
    fn new(name: &str, variant: Ident, ty: TokenStream, summary: String) -> Member {
        let [get_given, get_operand, get_mut, get_all, wrap_all, get_indices] =
            ["given", "operand", "mut", "all", "list", "indices"].map(|what| format_ident!("{name}_{what}"));
        let get = id(name);
        Member {
            column: None,
            variant,
            ty,
            summary,
            get,
            get_given,
            get_operand,
            get_mut,
            get_all,
            wrap_all,
            get_indices,
        }
    }
}

/// Describes the enum `name` of the backends `types`, which a user of the macro lists.
pub(super) fn any_of(name: &Ident, types: &[syn::Path]) -> Any {
    let array = format_ident!("{name}Array");
    let members = types.iter().filter_map(|ty| {
        let variant = ty.segments.last()?.ident.clone();
        let text = snake(&variant.to_string());
        Some(Member::new(&text, variant, quote!(#ty), format!("`{text}`")))
    });
    Any { name: quote!(#name), array: quote!(#array), members: members.collect(), is_watched: false }
}

impl Expand<'_> {
    /// Describes `AnyBackend`: the enum of the backends that have columns in the op table.
    fn any_of_table(&self) -> Any {
        let root = &self.root;
        let members = self.model.backends.iter();
        let members = members.map(|b| Member {
            column: Some(b.name.clone()),
            ..Member::new(&b.name, id(&camel(&b.name)), self.backend_type(b), b.summary.clone())
        });
        let (name, array) = (quote!(#root::AnyBackend), quote!(#root::AnyArray));
        Any { name, array, members: members.collect(), is_watched: true }
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

    pub(super) fn any_backend(&self) -> TokenStream {
        self.declare_any(&id("AnyBackend"), &id("AnyArray"), &self.any_of_table())
    }

    fn declare_any(&self, any_name: &Ident, any_array: &Ident, any: &Any) -> TokenStream {
        let rt = self.rt();
        let variant: &Vec<&Ident> = &any.members.iter().map(|m| &m.variant).collect();
        let get: &Vec<&Ident> = &any.members.iter().map(|m| &m.get).collect();
        let get_given: &Vec<&Ident> = &any.members.iter().map(|m| &m.get_given).collect();
        let get_operand: Vec<&Ident> = any.members.iter().map(|m| &m.get_operand).collect();
        let get_other: Vec<Ident> = get.iter().map(|get| format_ident!("{get}_other")).collect();
        let get_mut: Vec<&Ident> = any.members.iter().map(|m| &m.get_mut).collect();
        let get_all: Vec<&Ident> = any.members.iter().map(|m| &m.get_all).collect();
        let wrap_all: Vec<&Ident> = any.members.iter().map(|m| &m.wrap_all).collect();
        let get_indices: Vec<&Ident> = any.members.iter().map(|m| &m.get_indices).collect();
        let ty: &Vec<&TokenStream> = &any.members.iter().map(|m| &m.ty).collect();
        let text: &Vec<TokenStream> = &ty.iter().map(|ty| quote!(<#ty as #rt::Arrays>::NAME)).collect();
        let summary: &Vec<&String> = &any.members.iter().map(|m| &m.summary).collect();
        let doc = format!("An array of [`{any_name}`].");
        // generates an arm for the variant `Watched`, if the enum has it; the arrays of this variant are arrays of
        // the enum
        let when_watched = |arm: TokenStream| any.is_watched.then_some(arm);
        let root = &self.root;
        let watched_variant = when_watched(quote! {
            /// A backend whose calls are watched.
            Watched(Box<#root::watch::Watched<#any_name>>),
            /// A backend whose ops pass through a function.
            Intercepted(Box<#root::intercept::Intercepted>),
        });
        let watched = |body: TokenStream| {
            when_watched(quote!(#any_name::Watched(b) => #body, #any_name::Intercepted(b) => #body,))
        };
        // the ops of a formula pass through the function one by one
        let fused = |body: TokenStream| {
            when_watched(quote!(#any_name::Watched(b) => #body, #any_name::Intercepted(_) => None,))
        };
        let watched_name = watched(quote!(b.within().name()));
        let watched_to = watched(quote!(b.to_ndarray(x)));
        let watched_from = watched(quote!(b.from_ndarray(x)));
        let watched_view = when_watched(quote!((#any_name::Watched(b), x) => b.host_view(x),));
        let watched_alone = when_watched(quote! {
            (#any_name::Watched(b), x) => b.is_alone(x),
            (#any_name::Intercepted(b), x) => b.within().is_alone(x),
        });
        let watched_input = when_watched(quote!((#any_name::Watched(b), x) => b.fused_input(x),));
        let watched_fused = fused(quote!(b.fused::<L, E, T>(e, scalars, inputs, over)));
        let watched_each = fused(quote!(b.fused_each(op, of, inputs, over)));
        let watched_reduction = fused(quote!(b.fused_reduction::<L, E, T, U>(e, scalars, inputs, reduction)));
        let watched_fusion = when_watched(quote! {
            const WATCHES: bool = true;

            fn begin_fused(
                &self,
                op: &'static str,
                dtype: #rt::DType,
                told: &dyn #rt::formula::Told,
            ) -> #rt::Result<Option<Box<dyn ::core::any::Any>>> {
                if let #any_name::Watched(b) = self { b.begin_fused(op, dtype, told) } else { Ok(None) }
            }

            fn end_fused<T: #rt::Element>(&self, begun: Box<dyn ::core::any::Any>, x: &#any_array<T>) -> #rt::Result<()> {
                if let #any_name::Watched(b) = self { b.end_fused(begun, x) } else { Ok(()) }
            }

            fn of_loop<T: #rt::Element>(&self, x: #rt::HostArray<T>) -> #rt::Result<#any_array<T>> {
                if let #any_name::Watched(b) = self { b.of_loop(x) } else { self.from_ndarray(x) }
            }
        });
        let watched_device = watched(quote!(#rt::Arrays::device(&**b)));
        let watched_to_dlpack = watched(quote!(b.to_dlpack_with(x, copy)));
        let watched_from_dlpack = watched(quote!(b.from_dlpack_with(tensor, copy)));
        let watched_dlpack = watched(quote!(#rt::Arrays::dlpack_device(&**b)));
        let watched_info = watched(quote!(#rt::Arrays::device_info(&**b)));
        let watched_memory = watched(quote!(#rt::Arrays::memory(&**b)));
        let watched_reset = watched(quote!(#rt::Arrays::reset_peak_memory(&**b)));
        let watched_free = watched(quote!(#rt::Arrays::free_cache(&**b)));
        let watched_synchronize = watched(quote!(#rt::Arrays::synchronize(&**b)));
        let watched_seed = watched(quote!(#rt::Arrays::seed(&**b, seed)));
        let watched_seed_at = watched(quote!(#rt::Arrays::seed_at(&**b, seed, block)));
        let watched_has = watched(quote!(b.has_entry(row)));
        let watched_row = watched(quote!(b.run_row(row, call)));
        let entries = when_watched(quote! {
            const HAS_ENTRIES: bool = true;

            fn has_entry(&self, row: &'static #rt::entry::Row) -> bool {
                match self { #(#any_name::#variant(b) => b.has_entry(row),)* #watched_has }
            }

            fn run_row(
                &self,
                row: &'static #rt::entry::Row,
                call: &mut #rt::entry::Call<'_, '_>,
            ) -> #rt::Result<#rt::entry::Outputs> {
                match self { #(#any_name::#variant(b) => b.run_row(row, call),)* #watched_row }
            }

            fn array_ref<T: #rt::Element>(x: &#any_array<T>) -> Option<#rt::entry::ArrayRef<'_>> {
                match x { #(#any_array::#variant(x) => <#ty as #rt::Arrays>::array_ref(x),)* }
            }

            fn array_mut<T: #rt::Element>(x: &mut #any_array<T>) -> Option<#rt::entry::ArrayMut<'_>> {
                match x { #(#any_array::#variant(x) => <#ty as #rt::Arrays>::array_mut(x),)* }
            }

            fn of_value<T: #rt::Element>(op: &'static str, x: #rt::entry::ArrayValue) -> #rt::Result<#any_array<T>> {
                match x {
                    #(
                        #rt::entry::ArrayValue::#variant(_) => {
                            <#ty as #rt::Arrays>::of_value(op, x).map(#any_array::#variant)
                        }
                    )*
                    other => Err(#rt::Error::backend(op, Self::NAME, other.backend())),
                }
            }
        });
        let watched_state = watched(quote!(#rt::Arrays::random_state(&**b)));
        quote! {
            /// A backend chosen at run time. It implements [`Backend`] itself. A call takes longer than on a backend whose type is known: about 40 ns for an elementwise op on the CPU.
            #[derive(Clone, Debug)]
            #[non_exhaustive]
            pub enum #any_name { #(#[doc = #summary] #variant(#ty),)* #watched_variant }

            #[doc = #doc]
            #[derive(Clone, Debug)]
            #[non_exhaustive]
            pub enum #any_array<T: #rt::Element> { #(#[doc = #summary] #variant(<#ty as #rt::Arrays>::Array<T>)),* }

            impl #any_name {
                /// Name of the backend, such as `"numpyish"`.
                pub fn name(&self) -> &'static str { match self { #(#any_name::#variant(_) => #text,)* #watched_name } }

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
                    match self { #(#any_name::#variant(b) => b.to_ndarray(x.#get("to_ndarray")?),)* #watched_to }
                }

                fn from_ndarray<T: #rt::Element>(&self, x: #rt::HostArray<T>) -> #rt::Result<#any_array<T>> {
                    match self { #(#any_name::#variant(b) => b.from_ndarray(x).map(#any_array::#variant),)* #watched_from }
                }

                fn to_dlpack_with<'a, T: #rt::Element>(
                    &self,
                    x: impl #rt::IntoArray<'a, #any_array<T>>,
                    copy: #rt::dlpack::CopyMode,
                ) -> #rt::Result<#rt::dlpack::ManagedTensor> {
                    let x = #rt::IntoArray::into_array(x);
                    match self {
                        #(#any_name::#variant(b) => b.to_dlpack_with(#any_array::#get_given(x, "to_dlpack")?, copy),)*
                        #watched_to_dlpack
                    }
                }

                fn from_dlpack_with<T: #rt::Element>(
                    &self,
                    tensor: #rt::dlpack::ManagedTensor,
                    copy: #rt::dlpack::CopyMode,
                ) -> #rt::Result<#any_array<T>> {
                    match self {
                        #(#any_name::#variant(b) => b.from_dlpack_with(tensor, copy).map(#any_array::#variant),)*
                        #watched_from_dlpack
                    }
                }

                fn dlpack_device(&self) -> #rt::dlpack::DLDevice {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::dlpack_device(b),)* #watched_dlpack }
                }

                fn host_view<'a, T: #rt::Element>(&self, x: &'a #any_array<T>) -> Option<#rt::numpyish::raw::HostView<'a, T>> {
                    match (self, x) {
                        #((#any_name::#variant(b), #any_array::#variant(x)) => b.host_view(x),)*
                        #watched_view
                        // an array of another backend: the ops return an error for such an array
                        _ => None,
                    }
                }

                fn is_alone<T: #rt::Element>(&self, x: &mut #any_array<T>) -> bool {
                    match (self, x) {
                        #((#any_name::#variant(b), #any_array::#variant(x)) => #rt::Arrays::is_alone(b, x),)*
                        #watched_alone
                        _ => false,
                    }
                }

                const FUSES: bool = false #(|| <#ty as #rt::Arrays>::FUSES)*;

                fn fused_input<'a, T: #rt::Element>(&self, x: &'a #any_array<T>) -> Option<&'a dyn ::core::any::Any> {
                    match (self, x) {
                        #((#any_name::#variant(b), #any_array::#variant(x)) => b.fused_input(x),)*
                        #watched_input
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
                        #watched_fused
                    }
                }

                fn fused_each<F: #rt::EachSource>(
                    &self,
                    op: &F,
                    of: #rt::DType,
                    inputs: &[#rt::formula::Input<'_>],
                    over: &dyn ::core::any::Any,
                ) -> Option<#rt::Result<()>> {
                    match self { #(#any_name::#variant(b) => b.fused_each(op, of, inputs, over),)* #watched_each }
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
                        #watched_reduction
                    }
                }

                #watched_fusion

                #entries

                // a watched backend offers no link between GPUs: its arrays are sent through the host, by calls that
                // the watcher sees
                fn offer(&self) -> ::core::result::Result<#rt::link::Offer, String> {
                    match self {
                        #(#any_name::#variant(b) => #rt::Arrays::offer(b),)*
                        _ => Err("arrays of a backend that is watched go through the host".into()),
                    }
                }

                fn link(&self, peers: &dyn #rt::link::Peers) -> #rt::Result<Option<#rt::link::Link>> {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::link(b, peers),)* _ => Ok(None) }
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
                        _ => Err(#rt::Error::unsupported(op, Self::NAME)),
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
                        _ => Err(#rt::Error::unsupported(op, Self::NAME)),
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
                        _ => None,
                    }
                }

                fn device(&self) -> String {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::device(b),)* #watched_device }
                }

                fn device_info(&self) -> #rt::Result<#rt::DeviceInfo> {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::device_info(b),)* #watched_info }
                }

                fn memory(&self) -> #rt::Result<#rt::MemoryInfo> {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::memory(b),)* #watched_memory }
                }

                fn reset_peak_memory(&self) -> #rt::Result<()> {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::reset_peak_memory(b),)* #watched_reset }
                }

                fn free_cache(&self) -> #rt::Result<()> {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::free_cache(b),)* #watched_free }
                }

                fn synchronize(&self) -> #rt::Result<()> {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::synchronize(b),)* #watched_synchronize }
                }

                fn seed(&self, seed: u64) {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::seed(b, seed),)* #watched_seed }
                }

                fn seed_at(&self, seed: u64, block: u64) -> #rt::Result<()> {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::seed_at(b, seed, block),)* #watched_seed_at }
                }

                fn random_state(&self) -> #rt::Result<(u64, u64)> {
                    match self { #(#any_name::#variant(b) => #rt::Arrays::random_state(b),)* #watched_state }
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
