//! Generates calls by name: the function of a row of the op table converts values to the arguments of the row's
//! method, and calls this method in one dtype. Further functions select the row's function by the name of the op and
//! by the dtype.

use super::*;

impl Expand<'_> {
    /// Generates a function for each row, and the function `call`, which selects one of them by name. `list` is the
    /// name of the generated constant that lists the ops.
    pub(super) fn by_name(&self, list: &str) -> TokenStream {
        let (root, rt, list) = (&self.root, self.rt(), id(list));
        let bounds = self.backend_bounds();
        let rows = self.own().map(|op| self.row_by_name(op));
        let (module, private) = (self.ops_module(), self.private("by_name"));
        let arms = self.own().map(|op| {
            let (name, item) = (&op.name, id(&op.name));
            quote!(#name => #module::#item::call(b, args, options),)
        });
        let (function, doc, rest) = match &self.extension {
            None => {
                let doc = "Calls an op by its name: `call(&b, \"sum\", &[x.into()], &[(\"axis\", 0.into())])`.\n\n\
                    `args` are the first parameters, in order, and `options` are parameters with their names. [`OPS`] \
                    lists the ops with their parameters. Omitted axes mean all axes. A list of numbers becomes an \
                    array if the op takes an array. The result is an array or a list of arrays.\n\n\
                    The dtype of the call is the dtype of its arrays. Without arrays, it is the option `dtype` or the \
                    dtype of the numbers; real numbers without a dtype get the dtype of \
                    [`precision`](crate::precision()). Together with arrays, the option `dtype` may be the dtype of \
                    the arrays, which then is also the dtype of sums of narrow integers, or the dtype of the result. \
                    Any other `dtype` is an error, because it would have no effect. A number next to an array must \
                    fit the array's dtype.\n\n\
                    The calls of the ops are compiled for each type of backend that is passed to this function, and for \
                    no other.\n\n\
                    # Errors\n\
                    The errors of the op; [`Error::Argument`](crate::Error::Argument) if there is no op of this name, \
                    or if the arguments do not match its parameters.";
                (quote!(call), doc.to_owned(), quote!(other => Err(#rt::by_name::unknown(other, &[#list]))))
            }
            Some(name) => {
                let function = format_ident!("call_{}", snake(&name.to_string()));
                let doc = format!("Like `backends::call`, but also calls the ops of [`{name}`].");
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
        }
    }

    /// Generates a function `fn call<B: Backend>(..)` that calls the ops of the given rows by name. If dtypes are listed
    /// with a row, the row's method is called, and compiled only in these dtypes. No other rows are compiled. If
    /// `is_static` is true, the methods take arrays with static dtypes, even if the backend also takes others.
    pub fn call_of(&self, name: &Ident, rows: &[(&Op, Option<Vec<&str>>)], is_static: bool) -> TokenStream {
        let (rt, bounds) = (self.rt(), self.backend_bounds());
        let arms = rows.iter().map(|(op, wanted)| {
            let (name, item) = (&op.name, self.item_path(op));
            if wanted.is_none() {
                return quote!(#name => #item::call(b, args, options),);
            }
            let dispatch = match is_static {
                true => self.in_its_static_dtype(op, wanted.as_deref()),
                false => self.in_its_dtype(op, wanted.as_deref()),
            };
            quote!(#name => { let args = &#rt::by_name::Args::new(b, #item::INFO, args, options)?; #dispatch })
        });
        quote! {
            fn #name<B: #bounds>(
                b: &B,
                op: &str,
                args: &[#rt::Value<B>],
                options: &[(&str, #rt::Value<B>)],
            ) -> #rt::Result<#rt::Value<B>> {
                match op { #(#arms)* other => Err(#rt::by_name::unknown(other, &[])) }
            }
        }
    }

    /// The trait bounds of a backend that has the ops of this macro call: `Backend`, and the trait of a user's table.
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

    /// The path of the function of a row that `row_by_name` generates.
    fn function_by_name(&self, op: &Op) -> TokenStream {
        let (root, name, private, home) = (&self.root, id(&op.name), self.private("by_name"), self.home());
        if op.own { quote!(#home #private::#name) } else { quote!(#root::__by_name::#name) }
    }

    /// Generates a `match` on the dtype of `args`. Its arms call the row's function in this dtype. If `only` is not
    /// `None`, there are arms for the dtypes in `only` alone.
    fn in_its_static_dtype(&self, op: &Op, only: Option<&[&str]>) -> TokenStream {
        let function = self.function_by_name(op);
        let arms = self.by_dtype(&op.set, only, &|t| quote!(#function::<_, #t>(args)));
        quote!(match args.dtype()? { #(#arms)* other => args.no_dtype(other) })
    }

    /// Generates the call of the row's function in the dtype of `args`, or in a dtype of `only`. Backends that take the
    /// element types which stand for dtypes are called with these types, one for each kind of dtypes.
    pub(super) fn in_its_dtype(&self, op: &Op, only: Option<&[&str]>) -> TokenStream {
        let (function, typed) = (self.function_by_name(op), self.in_its_static_dtype(op, only));
        let kinds = self.kinds_of(op, only);
        if kinds.is_empty() {
            return typed;
        }
        let rt = self.rt();
        let rest = (kinds.len() < 3).then(|| quote!(_ => args.no_dtype(of),));
        let arms = kinds.into_iter().map(|(kinds, element)| {
            let (kinds, element) = (kinds.iter().map(|kind| id(kind)), id(element));
            quote!(#(#rt::DTypeKind::#kinds)|* => #function::<_, #rt::dynamic::#element>(args),)
        });
        quote!(<B as #rt::Arrays>::by_dtype(
            || -> #rt::Result<#rt::Value<B>> { #typed },
            || -> #rt::Result<#rt::Value<B>> {
                let of = args.dtype()?;
                #rt::dynamic::with_dtypes(of, of, || match of.kind() { #(#arms)* #rest })
            },
        ))
    }

    /// For each kind of dtypes that a row supports, the element type that stands for all dtypes of this kind. Empty if
    /// the methods of `AnyBackend` do not take such types.
    fn kinds_of(&self, op: &Op, only: Option<&[&str]>) -> Vec<(&'static [&'static str], &'static str)> {
        if !self.has_all_entries(op) {
            return Vec::new();
        }
        let bound = self.model.set(&op.set).map_or("", |set| &set.bound);
        let [real, complex, other] = match bound {
            "Element" | "Numeric" => ["AnyReal", "AnyComplex", "AnyElement"],
            "Ordered" => ["AnyReal", "", "AnyElement"],
            "RealNumeric" => ["AnyReal", "", "AnyInteger"],
            "Integer" => ["", "", "AnyInteger"],
            "Float" => ["AnyReal", "AnyComplex", ""],
            "Real" => ["AnyReal", "", ""],
            "ComplexFloat" => ["", "AnyComplex", ""],
            "Precision" => ["AnyPart", "", ""],
            "WideFloat" => ["AnyPart", "AnyComplex", ""],
            _ => return Vec::new(),
        };
        let all: [(&[&str], &str); 3] =
            [(&["Real"], real), (&["Complex"], complex), (&["Bool", "Signed", "Unsigned"], other)];
        let dtypes =
            self.model.dtypes_of(&op.set).iter().filter(|d| only.is_none_or(|only| only.contains(&d.as_str())));
        let place = |d: &String| match d {
            _ if d.starts_with("complex") => 1,
            _ if d.contains("float") => 0,
            _ => 2,
        };
        let places: Vec<usize> = dtypes.map(place).collect();
        all.into_iter().enumerate().filter(|(k, _)| places.contains(k)).map(|(_, kind)| kind).collect()
    }

    /// Generates a `match` arm for each dtype of the set named `set`. If `only` is not `None`, only its dtypes get an
    /// arm.
    pub(super) fn by_dtype(
        &self,
        set: &str,
        only: Option<&[&str]>,
        call: &dyn Fn(&TokenStream) -> TokenStream,
    ) -> Vec<TokenStream> {
        let rt = self.rt();
        let has = |d: &&DType| {
            self.model.dtypes_of(set).contains(&d.name) && only.is_none_or(|only| only.contains(&d.name.as_str()))
        };
        let arms = self.model.dtypes.iter().filter(has).filter_map(|d| {
            let (variant, call) = (id(&camel_dtype(&d.name)), call(&self.element_type(d)?));
            Some(quote!(#rt::DType::#variant => #call,))
        });
        arms.collect()
    }

    /// Generates the function of a row, such as `fn add<B: Backend, T: Numeric>(args: &Args<B>) -> Result<Value<B>>`.
    /// If the row has a second dtype, the function reads it from `args`.
    fn row_by_name(&self, op: &Op) -> TokenStream {
        let (rt, name, bounds) = (self.rt(), id(&op.name), self.backend_bounds());
        let (dtypes, first) = (self.dtypes(op), self.bound(&op.set, &quote!()));
        let typed = self.typed_by_name(op);
        let args = quote!(args: &#rt::by_name::Args<'_, B>);
        let body = match &op.second_set {
            None => typed,
            Some(second) => {
                let arms = self.by_dtype(second, None, &|u| quote!(typed::<B, #u, T>(args)));
                quote! {
                    fn typed<B: #bounds, #dtypes>(#args) -> #rt::Result<#rt::Value<B>> { #typed }
                    match args.to_dtype()? { #(#arms)* other => args.no_dtype(other) }
                }
            }
        };
        quote!(pub fn #name<B: #bounds, T: #first>(#args) -> #rt::Result<#rt::Value<B>> { #body })
    }

    /// Generates the call of a row's method, with arguments that are converted from the values of a call by name.
    fn typed_by_name(&self, op: &Op) -> TokenStream {
        let places = || op.params.iter().enumerate();
        let positional = places().filter(|(_, p)| p.default.is_none()).map(|(i, p)| self.read_argument(i, p, op));
        let positional: Vec<TokenStream> = positional.collect();
        // leaves the marker types of the operands to the compiler, which infers them
        let markers = signature::inferred(op);
        let turbofish = match (&op.second, op.infers_dtype()) {
            (Some(_), _) => quote!(::<U, T #markers>),
            (None, true) => quote!(),
            (None, false) => quote!(::<T #markers>),
        };
        let (prepare, method, options) = if op.has_options() {
            let path = self.options_path(op);
            let set = places().filter(|(_, p)| p.default.is_some()).map(|(i, p)| self.read_option(i, p, op));
            let prepare = quote!(#[allow(unused_mut)] let mut options = #path::new(); #(#set)*);
            (prepare, format_ident!("{}_with", op.name), quote!(options))
        } else {
            (quote!(), id(&op.name), quote!())
        };
        let (rt, result) = (self.rt(), self.result_value(op));
        // an op with a target changes a copy of the argument, and this copy becomes the result
        let copied = places().find(|(_, p)| op.target() == Some(*p)).map(|(i, p)| self.read_target(i, p, op));
        let called = quote!(args.b.#method #turbofish (#(#positional,)* #options)?;);
        let called = if copied.is_some() { called } else { quote!(let result = #called) };
        // an op such as `sum` may return its result in a wider dtype than the dtype of its operand (int64 for int8). If
        // the call's option `dtype` requests the operand's dtype, the result is converted to it
        let narrowed = matches!(op.result, Out::One(Elem::Sum)).then(|| {
            quote! {
                if args.narrows::<T, T::Sum>() {
                    return Ok(#rt::Value::array::<T>(args.b.astype::<T, T::Sum>(result)?));
                }
            }
        });
        quote! {
            #copied
            #prepare
            #called
            #narrowed
            Ok(#result)
        }
    }
}
