//! Calls by name: for each row a function that reads its arguments from values and calls its method in their dtype.

use super::*;

impl Expand<'_> {
    /// The functions of the rows, and `call`, which finds them by name. `list` is the name of the constant with the ops.
    pub(super) fn by_name(&self, list: &str) -> TokenStream {
        let (root, rt, list) = (&self.root, self.rt(), id(list));
        let bounds = self.backend_bounds();
        let rows = self.own().map(|op| self.row_by_name(op, None));
        let of_floats = self.extension.is_none().then(|| self.by_name_of_floats());
        let (module, private) = (self.ops_module(), self.private("by_name"));
        let arms = self.own().map(|op| {
            let (name, item) = (&op.name, id(&op.name));
            quote!(#name => #module::#item::call(b, args, options),)
        });
        let (function, doc, rest) = match &self.extension {
            None => {
                let doc = "Calls an op by its name: `call(&b, \"sum\", &[x.into()], &[(\"axis\", 0.into())])`.\n\n\
                    Values without a name are the parameters in their order, the others are named. The dtype of the call is that \
                    of its arrays; where there are none it is that of the option `dtype`, or of the numbers; reals that nothing gives a dtype have that of [`precision`](crate::precision()). A number \
                    beside an array has to fit its dtype; numbers in lists become an array where one is wanted. Axes that are not given are all. The result is an array, or a list of them. \
                    [`OPS`] lists the ops with their parameters.\n\n\
                    Every op is compiled in all of its dtypes for a backend that this is called for, and for no other.\n\n\
                    # Errors\n\
                    Those of the op; [`Error::Argument`](crate::Error::Argument) for a name that is no op, and for arguments that are not \
                    those of its parameters.";
                (quote!(call), doc.to_owned(), quote!(other => Err(#rt::by_name::unknown(other, &[#list]))))
            }
            Some(name) => {
                let function = format_ident!("call_{}", snake(&name.to_string()));
                let doc = format!("As `backends::call`, for the ops of [`{name}`] too.");
                (quote!(#function), doc, quote!(other => #root::call(b, other, args, options)))
            }
        };
        quote! {
            #[doc(hidden)]
            #[allow(unused_imports, clippy::all)]
            pub mod #private {
                use super::*;
                #(#rows)*
            }

            #[doc = #doc]
            pub fn #function<B: #bounds>(
                b: &B,
                op: &str,
                args: &[#rt::Value<B>],
                options: &[(&str, #rt::Value<B>)],
            ) -> #rt::Result<#rt::Value<B>> {
                match op { #(#arms)* #rest }
            }

            #of_floats
        }
    }

    /// `call` in float64 and complex128 alone: tests of second derivatives run every row on two tapes, which takes time to compile.
    fn by_name_of_floats(&self) -> TokenStream {
        let (rt, module, private, bounds) =
            (self.rt(), self.ops_module(), self.private("by_name_of_floats"), self.backend_bounds());
        let dtypes = ["float64", "complex128"];
        let has_any = |op: &&Op| {
            op.second.is_none() && self.model.dtypes_of(&op.set).iter().any(|d| dtypes.contains(&d.as_str()))
        };
        let rows = self.own().filter(has_any).map(|op| self.row_by_name(op, Some(&dtypes)));
        let arms = self.own().filter(has_any).map(|op| {
            let (name, item) = (&op.name, id(&op.name));
            quote!(#name => #private::#item(&#rt::by_name::Args::new(b, #module::#item::INFO, args, options)?),)
        });
        quote! {
            #[cfg(feature = "conformance")]
            #[doc(hidden)]
            #[allow(unused_imports, clippy::all)]
            pub mod #private {
                use super::*;
                #(#rows)*
            }

            #[cfg(feature = "conformance")]
            #[doc(hidden)]
            pub fn call_of_floats<B: #bounds>(
                b: &B,
                op: &str,
                args: &[#rt::Value<B>],
                options: &[(&str, #rt::Value<B>)],
            ) -> #rt::Result<#rt::Value<B>> {
                match op { #(#arms)* other => Err(#rt::by_name::unknown(other, &[OPS])) }
            }
        }
    }

    /// What a backend is that has the ops of this call.
    pub(super) fn backend_bounds(&self) -> TokenStream {
        let root = &self.root;
        match &self.extension {
            Some(extension) => {
                let home = self.home();
                quote!(#root::Backend + #home #extension)
            }
            None => quote!(#root::Backend),
        }
    }

    /// `fn add<B: Backend>(args: &Args<B>) -> Result<Value<B>>`, in all dtypes or `only` in some.
    fn row_by_name(&self, op: &Op, only: Option<&[&str]>) -> TokenStream {
        let (rt, name, bounds, dtypes) = (self.rt(), id(&op.name), self.backend_bounds(), self.dtypes(op));
        let typed = self.typed_by_name(op);
        let arms = |set: &str, call: &dyn Fn(&TokenStream) -> TokenStream| -> Vec<TokenStream> {
            let is_wanted = |d: &str| only.is_none_or(|only| only.contains(&d));
            let has = |d: &&DType| self.model.dtypes_of(set).contains(&d.name) && is_wanted(&d.name);
            let dtypes = self.model.dtypes.iter().filter(has);
            dtypes
                .filter_map(|d| {
                    let (variant, call) = (id(&camel_dtype(&d.name)), call(&self.element_type(d)?));
                    Some(quote!(#rt::DType::#variant => #call,))
                })
                .collect()
        };
        let dispatch = match &op.second_set {
            None => {
                let arms = arms(&op.set, &|t| quote!(typed::<B, #t>(args)));
                quote!(match args.dtype()? { #(#arms)* other => args.no_dtype(other) })
            }
            Some(second) => {
                let to = arms(second, &|u| quote!(typed::<B, #u, T>(args)));
                let from = arms(&op.set, &|t| quote!(to::<B, #t>(args)));
                let bound = self.bound(&op.set, &quote!());
                quote! {
                    fn to<B: #bounds, T: #bound>(args: &#rt::by_name::Args<'_, B>) -> #rt::Result<#rt::Value<B>> {
                        match args.to_dtype()? { #(#to)* other => args.no_dtype(other) }
                    }
                    match args.dtype()? { #(#from)* other => args.no_dtype(other) }
                }
            }
        };
        quote! {
            pub fn #name<B: #bounds>(args: &#rt::by_name::Args<'_, B>) -> #rt::Result<#rt::Value<B>> {
                fn typed<B: #bounds, #dtypes>(args: &#rt::by_name::Args<'_, B>) -> #rt::Result<#rt::Value<B>> { #typed }
                #dispatch
            }
        }
    }

    /// The call of the method, with its arguments read from the values.
    fn typed_by_name(&self, op: &Op) -> TokenStream {
        let places = || op.params.iter().enumerate();
        let positional = places().filter(|(_, p)| p.default.is_none()).map(|(i, p)| self.read_argument(i, p, op));
        let positional: Vec<TokenStream> = positional.collect();
        // what kind of argument an operand is, is inferred
        let markers = op.positional().filter(|p| matches!(p.kind, Kind::Operand(..))).map(|_| quote!(, _));
        let turbofish = match (&op.second, op.infers_dtype()) {
            (Some(_), _) => quote!(::<U, T #(#markers)*>),
            (None, true) => quote!(),
            (None, false) => quote!(::<T #(#markers)*>),
        };
        let (prepare, method, options) = if op.has_options() {
            let path = self.options_path(op);
            let set = places().filter(|(_, p)| p.default.is_some()).map(|(i, p)| self.read_option(i, p, op));
            let prepare = quote!(#[allow(unused_mut)] let mut options = #path::new(); #(#set)*);
            (prepare, format_ident!("{}_with", op.name), quote!(options))
        } else {
            (quote!(), id(&op.name), quote!())
        };
        let result = self.result_value(op);
        // what is changed is a copy of the argument, and the result
        let copied = places().find(|(_, p)| op.target() == Some(*p)).map(|(i, p)| self.read_target(i, p, op));
        let called = quote!(args.b.#method #turbofish (#(#positional,)* #options)?;);
        let called = if copied.is_some() { called } else { quote!(let result = #called) };
        quote! {
            #copied
            #prepare
            #called
            Ok(#result)
        }
    }
}
