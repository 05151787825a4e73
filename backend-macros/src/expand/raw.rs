//! Generates calls of library functions that take arrays whose dtype is known only at run time. The methods of a
//! library contain these calls. Calls by name contain them as well, so they do not need the methods, which are compiled
//! for each dtype.

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
        let first = op.positional().find(|p| matches!(p.kind, Kind::Array(_)));
        let first = first.map_or_else(
            || quote!(()),
            |p| {
                let n = id(&p.name);
                quote!(&*#n)
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

    /// Generates the statement by which a call by name uses the library's function directly, and the functions that
    /// this statement uses.
    pub(super) fn by_raw_name(&self, op: &Op) -> (Option<TokenStream>, TokenStream) {
        let is_raw = |backend: &&Backend| match op.maps.get(&backend.name) {
            Some(Map::Call(path)) => self.extension.is_none() && backend.name != "numpyish" && backend.is_raw(path),
            _ => false,
        };
        let backends: Vec<&Backend> = self.model.backends.iter().filter(is_raw).collect();
        if backends.is_empty() {
            return (None, quote!());
        }
        let rt = self.rt();
        let names: Vec<Ident> = backends.iter().map(|b| id(&b.name)).collect();
        let libraries: Vec<Ident> = backends.iter().map(|b| id(&camel(&b.name))).collect();
        let types = backends.iter().map(|b| self.backend_type(b));
        let functions = backends.iter().map(|backend| self.raw_function(op, backend));
        let statement = quote! {
            // the condition is a constant: for these libraries, the compiler drops the code after this statement, which
            // calls the row's method, and so does not compile this method for each dtype
            if const { matches!(<B as #rt::Arrays>::RAW, #(Some(#rt::by_name::RawLibrary::#libraries))|*) } {
                let args = #rt::by_name::Args::new(b, Self::INFO, args, options)?;
                #(let #names: #rt::by_name::RawCall<#types> = Self::#names;)*
                let call: &dyn ::core::any::Any = match <B as #rt::Arrays>::RAW {
                    #(Some(#rt::by_name::RawLibrary::#libraries) => &#names,)*
                    _ => return Err(#rt::Error::unsupported(Self::INFO.name, <B as #rt::Arrays>::NAME)),
                };
                return #rt::Arrays::call_raw(b, Self::INFO.name, call, &args);
            }
        };
        (Some(statement), quote!(#(#functions)*))
    }

    /// Generates the function of a row for one library, such as `fn torch(b: &Torch, args: &Args<'_, Torch>) ->
    /// Result<Value<Torch>>`.
    fn raw_function(&self, op: &Op, backend: &Backend) -> TokenStream {
        let (rt, module, ty, name) = (self.rt(), self.module(backend), self.backend_type(backend), id(&backend.name));
        let Some(Map::Call(path)) = op.maps.get(&backend.name) else { return quote!() };
        let (path, text) = (function(path), &op.name);
        // reads the arguments in the order of `typed_by_name`, so that an error names the same argument on all
        // libraries
        let order = |p: &Param| match p.kind {
            Kind::Target(_) => 0,
            _ if p.default.is_some() => 1,
            _ => 2,
        };
        let mut places: Vec<(usize, &Param)> = op.params.iter().enumerate().collect();
        places.sort_by_key(|(_, p)| order(p));
        let read = places.into_iter().map(|(place, p)| {
            let (n, value) = (hidden(&format!("a{place}")), self.read_raw(place, p, op));
            match p.kind {
                // makes a separate handle of the target, so that the caller's own handle does not change
                Kind::Target(_) => quote!(let mut #n = #value.into_raw();),
                _ => quote!(let #n = #value;),
            }
        });
        let args = op.params.iter().enumerate().map(|(place, p)| {
            let n = hidden(&format!("a{place}"));
            match (&p.kind, &p.default) {
                (Kind::Array(_), Some(_)) => quote!(#n.as_ref().map(#rt::by_name::RawArg::raw)),
                (Kind::Array(_), None) => quote!(#n.raw()),
                (Kind::Target(_), _) => quote!(#rt::raw::RawTarget::new(&mut #n)),
                (Kind::Operand(..), _) => quote!(#n.operand()),
                (Kind::Arrays(_), _) => quote!(&#rt::by_name::raw_list(&#n)),
                (Kind::Index, _) => quote!(#rt::Indices::Any(&#n.indices())),
                (Kind::Shape | Kind::Signed | Kind::Slices, None) => quote!(&#n),
                (Kind::Widths, None) => quote!(#n.as_slice()),
                _ => quote!(#n),
            }
        });
        let to = op.second.is_some().then(|| quote!(.with_to(args.to_dtype()?)));
        let wide = quote!(#module::OpContext::new(b, "astype", on.dtype.to_sum()).with_to(on.dtype));
        let value = match &op.result {
            // an op such as `sum` may return its result in a wider dtype than the dtype of its operand (int64 for
            // int8). If the call's option `dtype` requests the operand's dtype, the result is converted to it
            Out::One(Elem::Sum) => quote! {
                match args.narrows_to(on.dtype) {
                    true => args.raw_value(#module::casting::astype(#wide, &result)?),
                    false => args.raw_value(result),
                }
            },
            Out::One(_) => quote!(args.raw_value(result)),
            Out::List(_) | Out::Fields(_) => quote!(args.raw_values(result)),
            Out::Plain(_) => quote!(Ok(#rt::Value::from(result))),
        };
        quote! {
            fn #name(b: &#ty, args: &#rt::by_name::Args<'_, #ty>) -> #rt::Result<#rt::Value<#ty>> {
                let on = #module::OpContext::new(b, #text, args.dtype()?) #to;
                #(#read)*
                let result = #module::#path(on, #(#args),*)?;
                #value
            }
        }
    }

    /// Generates the expression that reads the parameter at the index `place` from the values of a call by name.
    fn read_raw(&self, place: usize, param: &Param, op: &Op) -> TokenStream {
        let rt = self.rt();
        let dtype = |e: Elem| match e {
            Elem::T => quote!(on.dtype),
            Elem::U => quote!(on.to),
            Elem::Real => quote!(on.dtype.to_real()),
            Elem::Complex => quote!(on.dtype.to_complex()),
            Elem::Sum => quote!(on.dtype.to_sum()),
            Elem::Bool => quote!(#rt::DType::Bool),
            Elem::UInt8 => quote!(#rt::DType::UInt8),
            Elem::Int32 => quote!(#rt::DType::Int32),
            Elem::Int64 => quote!(#rt::DType::Int64),
        };
        match (&param.kind, &param.default) {
            (Kind::Array(e), Some(_)) => {
                let e = dtype(*e);
                quote!(args.optional_raw_array(#place, #e)?)
            }
            (Kind::Array(e) | Kind::Target(e), _) => {
                let e = dtype(*e);
                quote!(args.raw_array(#place, #e)?)
            }
            (Kind::Operand(e, absent), _) => {
                let read = match absent {
                    Absent::Refused => id("raw_operand"),
                    Absent::Lowest => id("raw_lower_bound"),
                    Absent::Highest => id("raw_upper_bound"),
                };
                let e = dtype(*e);
                quote!(args.#read(#place, #e)?)
            }
            (Kind::Arrays(e), _) => {
                let e = dtype(*e);
                quote!(args.raw_arrays(#place, #e)?)
            }
            (Kind::Index, _) => quote!(args.index(#place)?),
            (Kind::Scalar, _) => quote!(args.raw_scalar(#place, on.dtype)?),
            (Kind::Bytes, _) => quote!(args.bytes(#place)?),
            (Kind::Text, _) => quote!(args.text(#place)?),
            (kind, None) => {
                let ty = self.value_type(kind, op);
                quote!(args.get::<#ty>(#place)?)
            }
            (kind, Some(DefaultValue::None)) => {
                let ty = self.value_type(kind, op);
                quote!(args.option::<#ty>(#place)?)
            }
            (kind, Some(default)) => {
                let (ty, default) = (self.value_type(kind, op), self.default(default, kind));
                quote!(args.option::<#ty>(#place)?.unwrap_or(#default))
            }
        }
    }
}
