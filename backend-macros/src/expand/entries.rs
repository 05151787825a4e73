//! Generates the entries of rows: for each library, a function that takes arrays whose dtype is known only at run
//! time. It reads the arguments of a call, and calls the function that the row names, or the loop of the row's
//! expression. Backends that are chosen at run time and calls by name run rows by their entries.

use super::*;

impl Expand<'_> {
    /// The names of the libraries for which a row has an entry.
    pub(super) fn entries(&self, op: &Op) -> Vec<&Backend> {
        let has_entry = |backend: &&Backend| {
            let is_library = ["numpyish", "cuda", "torch"].contains(&backend.name.as_str());
            let map = op.maps.get(&backend.name);
            is_library && map.is_some_and(|map| self.is_entry(op, backend, map))
        };
        let is_of_base = self.extension.is_none() && self.overlay.is_none();
        if is_of_base { self.model.backends.iter().filter(has_entry).collect() } else { Vec::new() }
    }

    fn is_entry(&self, op: &Op, backend: &Backend, map: &Map) -> bool {
        let is_plain = op.params.iter().all(|p| p.kind != Kind::Host) && !matches!(op.result, Out::Plain(_));
        let has_numbers = op.params.iter().any(|p| !p.is_array());
        let is_called = match map {
            Map::Call(path) => backend.is_raw(path),
            // the row `astype`: other rows with a second dtype have no expressions
            Map::Each { .. } if op.second.is_some() => backend.name == "numpyish" && !has_numbers,
            Map::Each { .. } => true,
            Map::Aten(_) => op.second.is_none(),
            Map::Fold(_) => backend.name != "torch" && op.second.is_none(),
            Map::Compose(_) | Map::Generic(_) => false,
        };
        is_plain && is_called
    }

    /// Returns whether a row has an entry for every library. Its method then needs no other code on a backend that is
    /// chosen at run time.
    pub(super) fn has_all_entries(&self, op: &Op) -> bool {
        let libraries = self.model.backends.iter().filter(|b| !b.wrap).count();
        libraries > 0 && (self.entries(op).len() == libraries || self.is_generic(op))
    }

    /// Returns whether a row has an entry that computes it by other ops.
    pub(super) fn is_generic(&self, op: &Op) -> bool {
        self.generic_map(op).is_some() && !self.element_types(op).is_empty()
    }

    /// The mapping that computes a row by other ops; `None` if no library has such a mapping, or if the row has
    /// parameters or results that an entry of this kind does not support.
    fn generic_map<'m>(&self, op: &'m Op) -> Option<&'m Map> {
        let is_of_base = self.extension.is_none() && self.overlay.is_none();
        let is_plain = op.params.iter().all(|p| p.kind != Kind::Host) && !matches!(op.result, Out::Plain(_));
        let is_plain = is_plain && op.target().is_none();
        let maps = self.model.backends.iter().filter_map(|b| op.maps.get(&b.name));
        if is_of_base && is_plain { maps.into_iter().find(|map| map.is_free()) } else { None }
    }

    /// The element types of the runtime in which a row that is computed by other ops is compiled, each with the trait
    /// of the dtypes that it stands for; `None` stands for all remaining dtypes of the row.
    fn element_types(&self, op: &Op) -> Vec<(Option<&'static str>, &'static str)> {
        let bound = self.model.set(&op.set).map_or("", |set| &set.bound);
        match bound {
            "Element" | "Ordered" | "Numeric" => vec![(None, "AnyElement")],
            "Integer" => vec![(None, "AnyInteger")],
            "Real" => vec![(None, "AnyReal")],
            "Precision" => vec![(None, "AnyPart")],
            "ComplexFloat" => vec![(None, "AnyComplex")],
            "RealNumeric" => vec![(Some("Real"), "AnyReal"), (None, "AnyInteger")],
            "Float" => vec![(Some("Real"), "AnyReal"), (None, "AnyComplex")],
            "WideFloat" => vec![(Some("Real"), "AnyPart"), (None, "AnyComplex")],
            _ => Vec::new(),
        }
    }

    /// Returns whether a row is computed by an elementwise loop on a library that has entries.
    pub(super) fn has_loop(&self, op: &Op) -> bool {
        let is_each = |b: &&Backend| matches!(op.maps.get(&b.name), Some(Map::Each { .. }));
        op.second.is_none() && self.entries(op).iter().any(is_each)
    }

    /// Generates the constant `ROW` of a row's item, the entries of the row, and the function that returns the loop of
    /// an elementwise op.
    pub(super) fn row_constant(&self, op: &Op) -> TokenStream {
        let (rt, entries, is_generic) = (self.rt(), self.entries(op), self.is_generic(op));
        if entries.is_empty() && !is_generic {
            return quote!();
        }
        let cpu =
            entries.iter().any(|backend| backend.name == "numpyish").then(|| quote!(.with_numpyish(Self::numpyish)));
        let libraries = entries.iter().filter(|backend| backend.name != "numpyish").map(|backend| {
            let (ty, name) = (self.backend_type(backend), id(&backend.name));
            quote!((<#ty as #rt::Arrays>::NAME, Self::#name))
        });
        let libraries: Vec<TokenStream> = libraries.collect();
        let with_libraries = (!libraries.is_empty()).then(|| quote!(.with_libraries(&[#(#libraries),*])));
        let with_loops = self.has_loop(op).then(|| quote!(.with_loops(Self::loops)));
        let with_generic = is_generic.then(|| quote!(.with_generic(Self::generic)));
        let functions = entries.iter().map(|backend| self.entry(op, backend));
        let (loops, generic) = (self.loops(op), self.generic_entry(op));
        quote! {
            /// The op's entries, for backends whose library is chosen at run time.
            #[doc(hidden)]
            pub const ROW: &'static #rt::entry::Row = &#rt::entry::Row::new(Self::INFO) #with_loops #with_generic #cpu #with_libraries;

            #loops
            #generic
            #(#functions)*
        }
    }

    /// Generates the function that returns the loop of an elementwise op for a dtype.
    fn loops(&self, op: &Op) -> TokenStream {
        if !self.has_loop(op) {
            return quote!();
        }
        let (rt, item) = (self.rt(), self.scalar_path(op));
        let inputs = op.inputs().count();
        let arms = self.by_dtype(&op.set, None, &|t| {
            let made = if op.mixes_dtypes() {
                let elements = op.inputs().map(|p| match p.kind.elem().unwrap_or(Elem::T) {
                    Elem::T => quote!(#t),
                    other => elem(other, op),
                });
                quote!(of_mixed::<(#(#elements,)*), #item>())
            } else {
                quote!(new::<#inputs, #t, #item>())
            };
            quote!(Some(#rt::entry::EachLoop::#made))
        });
        quote! {
            fn loops(dtype: #rt::DType) -> Option<#rt::entry::EachLoop> {
                match dtype { #(#arms)* _ => None }
            }
        }
    }

    /// Generates the entry for libraries on which the row is computed by other ops. It runs these ops on `AnyBackend`,
    /// with element types that stand for the dtypes of the call.
    fn generic_entry(&self, op: &Op) -> TokenStream {
        if !self.is_generic(op) {
            return quote!();
        }
        let Some(map) = self.generic_map(op) else { return quote!() };
        let (rt, root, name, bound) = (self.rt(), &self.root, &op.name, self.bound(&op.set, &quote!(super::)));
        let bound = if self.ops_module() == "ops" { bound } else { quote!(#rt::Element) };
        let types = self.element_types(op);
        let arms = types.iter().map(|(kind, ty)| {
            let ty = id(ty);
            let kind = kind.map_or(quote!(_), |kind| {
                let kind = id(kind);
                quote!(#rt::DTypeKind::#kind)
            });
            quote!(#kind => generic::<#rt::dynamic::#ty>(b, call),)
        });
        let any = quote!(#root::AnyBackend);
        let read = op.params.iter().enumerate().map(|(place, p)| {
            let (n, read) = (id(&p.name), self.read_generic(place, p, op, &any));
            quote!(let #n = #read;)
        });
        let args = op.params.iter().map(|p| {
            let n = id(&p.name);
            match p.kind {
                Kind::Array(_) if p.default.is_some() => quote!(#n.as_ref()),
                Kind::Array(_) => quote!(&#n),
                Kind::Arrays(_) => quote!(&#n.iter().collect::<Vec<_>>()),
                Kind::Index => quote!(#rt::Indices::Any(&#n.items())),
                _ => quote!(#n),
            }
        });
        let called = self.called_on(op, map, &quote!(b), &args.collect::<Vec<_>>());
        let result = match &op.result {
            Out::One(e) => {
                let e = elem(*e, op);
                quote!(Ok(#rt::entry::Outputs::of_array::<#e>(#called?)))
            }
            Out::List(e) => {
                let e = elem(*e, op);
                quote!(#rt::entry::Outputs::of_list::<#e>(#name, #called?))
            }
            // the function returns the fields as a tuple
            Out::Fields(fields) => {
                let dtypes = fields.iter().map(|f| elem(f.elem, op));
                let places = (0..fields.len()).map(proc_macro2::Literal::usize_unsuffixed);
                quote!({
                    let result: (#(#root::AnyArray<#dtypes>),*) = #called?;
                    Ok(#rt::entry::Outputs::Many(vec![#(result.#places.into_value()),*]))
                })
            }
            Out::Plain(_) => quote!(),
        };
        let second = op.second.is_some().then(|| quote!(type U = #rt::dynamic::AnyTo;));
        quote! {
            fn generic(b: &dyn ::core::any::Any, call: &mut #rt::entry::Call<'_, '_>) -> #rt::Result<#rt::entry::Outputs> {
                #[allow(clippy::all)]
                fn generic<T: #bound>(b: &#any, call: &#rt::entry::Call<'_, '_>) -> #rt::Result<#rt::entry::Outputs> {
                    #second
                    #(#read)*
                    #result
                }
                let b = #rt::entry::backend::<#any>(b);
                let (of, to) = (call.dtype, call.to);
                #rt::dynamic::with_dtypes(of, to, || match of.kind() { #(#arms)* })
            }
        }
    }

    /// Generates the expression that reads one argument of a call. The expression is part of the entry that
    /// [`Expand::generic_entry`] generates.
    fn read_generic(&self, place: usize, param: &Param, op: &Op, any: &TokenStream) -> TokenStream {
        match &param.kind {
            Kind::Array(e) => {
                let e = elem(*e, op);
                let method = id(if param.default.is_some() { "optional_any_array" } else { "any_array" });
                quote!(call.#method::<#e>(#place)?)
            }
            Kind::Operand(e, _) => {
                let e = elem(*e, op);
                quote!(call.any_operand::<#any, #e>(#place)?)
            }
            Kind::Arrays(e) => {
                let e = elem(*e, op);
                quote!(call.any_arrays::<#e>(#place)?)
            }
            Kind::Index => quote!(call.index::<#any>(#place)?),
            Kind::Scalar => quote!(call.element(#place).cast::<T>()),
            kind => {
                let read = self.read_plain(place, kind);
                let is_optional = param.default == Some(DefaultValue::None) || *kind == Kind::AxisOrAll;
                if is_optional { quote!(if call.is_absent(#place) { None } else { Some(#read) }) } else { read }
            }
        }
    }

    /// Generates the entry of a row for one library.
    fn entry(&self, op: &Op, backend: &Backend) -> TokenStream {
        let (rt, ty, name) = (self.rt(), self.backend_type(backend), id(&backend.name));
        let body = match op.maps.get(&backend.name) {
            Some(Map::Call(path)) => self.entry_of_call(op, backend, path),
            Some(Map::Each { .. }) => self.entry_of_each(op, backend),
            Some(Map::Fold(_)) => self.entry_of_fold(op, backend),
            Some(Map::Aten(aten)) => self.entry_of_aten(op, backend, aten),
            _ => quote!(),
        };
        let (of, downcast) = match backend.name.as_str() {
            "numpyish" => (ty, None),
            _ => (quote!(dyn ::core::any::Any), Some(quote!(let b = #rt::entry::backend::<#ty>(b);))),
        };
        quote! {
            fn #name(b: &#of, call: &mut #rt::entry::Call<'_, '_>) -> #rt::Result<#rt::entry::Outputs> {
                #downcast
                #body
            }
        }
    }

    fn entry_of_call(&self, op: &Op, backend: &Backend, path: &str) -> TokenStream {
        let (rt, module, ty, path) = (self.rt(), self.module(backend), self.backend_type(backend), function(path));
        let name = &op.name;
        let places = || op.params.iter().enumerate().filter(|(_, p)| !matches!(p.kind, Kind::Target(_)));
        let read = places().map(|(place, p)| self.read_entry(place, p, &ty));
        let args = op.params.iter().enumerate().map(|(place, p)| {
            let n = hidden(&format!("a{place}"));
            match p.kind {
                Kind::Arrays(_) => quote!(&#n),
                Kind::Index => quote!(#rt::Indices::Any(&#n.items())),
                _ => quote!(#n),
            }
        });
        let to = op.second.is_some().then(|| quote!(.with_to(call.to)));
        let on = quote!(let on = #module::OpContext::new(b, #name, call.dtype) #to;);
        let called = quote!(#module::#path(on, #(#args),*));
        if let Some(place) = op.params.iter().position(|p| matches!(p.kind, Kind::Target(_))) {
            let target = hidden(&format!("a{place}"));
            return quote! {
                #on
                call.change::<#ty>(#place, |call, #target| { #(#read)* #called })
            };
        }
        let outputs = if matches!(op.result, Out::One(_)) { id("one") } else { id("many") };
        quote! {
            #on
            #(#read)*
            let result = #called;
            #rt::entry::Outputs::#outputs(call, result)
        }
    }

    /// Generates the statement that reads the argument of a parameter.
    fn read_entry(&self, place: usize, param: &Param, ty: &TokenStream) -> TokenStream {
        let n = hidden(&format!("a{place}"));
        let read = match &param.kind {
            Kind::Array(_) if param.default.is_some() => quote!(call.optional_array::<#ty>(#place)?),
            Kind::Array(_) | Kind::Target(_) => quote!(call.array::<#ty>(#place)?),
            Kind::Operand(..) => quote!(call.operand::<#ty>(#place)?),
            Kind::Arrays(_) => quote!(call.arrays::<#ty>(#place)?),
            Kind::Index => quote!(call.index::<#ty>(#place)?),
            kind => {
                let read = self.read_plain(place, kind);
                let is_optional = param.default == Some(DefaultValue::None) || *kind == Kind::AxisOrAll;
                if is_optional { quote!(if call.is_absent(#place) { None } else { Some(#read) }) } else { read }
            }
        };
        quote!(let #n = #read;)
    }

    /// Generates the expression that reads an argument other than an array.
    fn read_plain(&self, place: usize, kind: &Kind) -> TokenStream {
        let method = match kind {
            Kind::Axes => "axes",
            Kind::Axis | Kind::AxisOrAll => "isize",
            Kind::Lengths => "lengths",
            Kind::Shape | Kind::Widths => "usizes",
            Kind::Signed => "isizes",
            Kind::Number => "number",
            Kind::Slices => "slices",
            Kind::Scalar => "element",
            Kind::Bytes => "bytes",
            Kind::Text => "text",
            Kind::Plain(t) | Kind::Maybe(t) => t.name(),
            Kind::Choice(choice) => {
                let ty = self.choice_type(choice);
                return quote!(#ty::ALL[call.choice(#place)]);
            }
            Kind::Array(_) | Kind::Operand(..) | Kind::Arrays(_) | Kind::Target(_) | Kind::Index | Kind::Host => {
                return quote!();
            }
        };
        let method = id(method);
        quote!(call.#method(#place))
    }

    /// Generates the row's op with the numbers of the call as fields.
    fn item_of_call(&self, op: &Op, numbers: &[&Param]) -> TokenStream {
        let path = self.scalar_path(op);
        let fields = numbers.iter().map(|p| {
            let (n, place) = (id(&p.name), op.params.iter().position(|other| other.name == p.name));
            let read = self.read_plain(place.unwrap_or(0), &p.kind);
            quote!(#n: #read)
        });
        quote!(#path { #(#fields),* })
    }

    /// The indices of a row's array parameters.
    fn input_places(op: &Op) -> Vec<usize> {
        op.params.iter().enumerate().filter(|(_, p)| p.is_array()).map(|(place, _)| place).collect()
    }

    fn entry_of_each(&self, op: &Op, backend: &Backend) -> TokenStream {
        let (module, places) = (self.module(backend), Self::input_places(op));
        if op.second.is_some() {
            return quote!(#module::entry::converted(b, call, #(#places),*));
        }
        let numbers: Vec<&Param> = op.params.iter().filter(|p| !p.is_array()).collect();
        let item = self.item_of_call(op, &numbers);
        quote!(#module::entry::each(b, call, &#item, &[#(#places),*]))
    }

    fn entry_of_fold(&self, op: &Op, backend: &Backend) -> TokenStream {
        let module = self.module(backend);
        let numbers: Vec<&Param> = op_table::fold::numbers(op).collect();
        let item = self.item_of_call(op, &numbers);
        let place = Self::input_places(op).first().copied().unwrap_or(0);
        let result = self.dtype_of_elem(op.result.elem(), &quote!(call.dtype));
        let named = |name: &str| {
            let place = op.params.iter().position(|p| p.name == name).unwrap_or(0);
            op.params.get(place).map(|p| self.read_plain(place, &p.kind))
        };
        let (axis, keepdims) = (named("axis"), named("keepdims"));
        quote!(#module::entry::fold(b, call, &#item, #place, #result, #axis, #keepdims))
    }

    fn entry_of_aten(&self, op: &Op, backend: &Backend, aten: &Aten) -> TokenStream {
        let Aten { name: aten, overload, args, via } = aten;
        let (module, ty, name) = (self.module(backend), self.backend_type(backend), &op.name);
        let (aten, via) = (format!("aten::{aten}"), id(&camel(via)));
        let args = args.iter().map(|arg| match arg {
            AtenArg::Param(name) => {
                let Some(place) = op.params.iter().position(|p| p.name == *name) else { return quote!() };
                let param = &op.params[place];
                let read = match &param.kind {
                    Kind::Operand(..) => quote!(call.operand::<#ty>(#place)?),
                    Kind::Array(_) => quote!(call.array::<#ty>(#place)?),
                    kind => self.read_plain(place, kind),
                };
                quote!(#module::Arg::from(#read))
            }
            AtenArg::None => quote!(#module::Arg::None),
            AtenArg::Bool(value) => quote!(#module::Arg::from(#value)),
            AtenArg::Decimal(value) => quote!(#module::Arg::from(#value)),
            AtenArg::Integer(value) => quote!(#module::Arg::from(#value)),
        });
        let result = self.dtype_of_elem(op.result.elem(), &quote!(call.dtype));
        quote! {
            static ATEN: #module::Aten = #module::Aten::new(#name, #aten, #overload, #module::DtypeStrategy::#via);
            #module::entry::called(b, call, &ATEN, &[#(#args),*], #result)
        }
    }

    /// Generates the dtype of the element type `e`, if `dtype` is the dtype of the call.
    fn dtype_of_elem(&self, e: Elem, dtype: &TokenStream) -> TokenStream {
        let rt = self.rt();
        let e = info::elem(e, &rt);
        quote!(#e.dtype(#dtype))
    }

    /// Generates the expression by which a call by name runs the row's entry, or `typed`, which calls the row's method
    /// in each dtype. The compiler compiles `typed` only for backends that need it.
    pub(super) fn by_entry(&self, op: &Op, typed: TokenStream) -> TokenStream {
        let (has_library_entries, is_generic) = (!self.entries(op).is_empty(), self.is_generic(op));
        if !has_library_entries && !is_generic {
            return typed;
        }
        let rt = self.rt();
        let run = quote!(args.run_row(Self::ROW)?);
        let all = quote!(#run.ok_or(#rt::Error::unsupported(Self::INFO.name, <B as #rt::Arrays>::NAME)));
        let some = quote!(match #run { Some(result) => Ok(result), None => typed() });
        // the call may request a sum in a narrower dtype than the entry's result
        let is_sum = matches!(op.result, Out::One(Elem::Sum));
        let narrow = |run: TokenStream| match is_sum {
            true => quote!(if args.narrows_to(args.dtype()?) { typed() } else { #run }),
            false => run,
        };
        let of_generic = narrow(all.clone());
        let of_libraries = narrow(if self.has_all_entries(op) && !is_generic { all } else { some });
        let called = match (is_generic, has_library_entries) {
            (true, true) => quote!(<B as #rt::Arrays>::by_generic_entries(
                || #of_generic,
                || <B as #rt::Arrays>::by_entries(|| #of_libraries, typed),
            )),
            (true, false) => quote!(<B as #rt::Arrays>::by_generic_entries(|| #of_generic, typed)),
            (false, _) => quote!(<B as #rt::Arrays>::by_entries(|| #of_libraries, typed)),
        };
        quote! {
            let typed = || -> #rt::Result<#rt::Value<B>> { #typed };
            #called
        }
    }
}
