//! Generates the ops of an enum of backends. The method of an op converts its arguments, and calls a function that
//! matches on the backend. This function is compiled only once per dtype, whatever the types of the method's
//! arguments are.

use super::*;

impl Expand<'_> {
    /// Implements the trait `name`, which declares the methods of `ops`, for an enum of backends. If `rest` is true,
    /// the enum may have variants that the macro does not know; for these, the ops return `Unsupported`.
    pub(in super::super) fn implement_any_of(
        &self,
        name: &TokenStream,
        any: &Any,
        ops: &[&Op],
        rest: bool,
    ) -> TokenStream {
        let methods = ops.iter().map(|op| {
            let (signature, convert) = (self.signature(op, op.has_options()), self.convert(op));
            let run = match has_plain_arguments(op) {
                true => self.once_per_dtype(op, any, rest),
                false => self.located(op, &self.run_on_any(op, any, rest, &quote!(self), None)),
            };
            quote!(#[inline] #signature { #convert #run })
        });
        let ty = &any.name;
        quote!(#[doc(hidden)] impl #name for #ty { #(#methods)* })
    }

    /// Generates a function that runs the op on the enum, with converted arguments, and the call of this function.
    /// All instances of the generic method call the same function.
    fn once_per_dtype(&self, op: &Op, any: &Any, rest: bool) -> TokenStream {
        let (rt, ty, array, backend) = (self.rt(), &any.name, &any.array, hidden("backend"));
        let args = op.positional().map(|p| {
            let n = id(&p.name);
            let of = match &p.kind {
                Kind::Array(e) => {
                    let e = elem(*e, op);
                    quote!(::std::borrow::Cow<'a, #array<#e>>)
                }
                Kind::Operand(e, _) => {
                    let e = elem(*e, op);
                    quote!(#rt::Operand<'a, #ty, #e>)
                }
                Kind::Target(e) => {
                    let e = elem(*e, op);
                    quote!(&mut #array<#e>)
                }
                kind => self.code(kind, op, &hidden("K")).function,
            };
            let changes = any.has_entries && matches!(p.kind, Kind::Array(_) | Kind::Operand(..)) && self.gives(op, p);
            let mutable = changes.then(|| quote!(mut));
            quote!(#mutable #n: #of)
        });
        let names = op.positional().map(|p| id(&p.name));
        let (options, given) = op
            .has_options()
            .then(|| {
                let (options, path) = (hidden("options"), self.options_path(op));
                let arrays: Vec<TokenStream> = op.optional_elems().into_iter().map(|e| elem(e, op)).collect();
                let of = if arrays.is_empty() { path } else { quote!(#path<'_, #(#array<#arrays>),*>) };
                (quote!(, #options: #of), quote!(, #options))
            })
            .unzip();
        let output = match &op.result {
            Out::Fields(_) => self.output(op, ty),
            _ => self.output(op, &quote!(<#ty as #rt::Arrays>)),
        };
        let many = signature::many_arguments(1 + op.params.len());
        let (dtypes, second) = (self.dtypes(op), op.second.is_some().then(|| quote!(U,)));
        let names: Vec<Ident> = names.collect();
        let within = hidden("within");
        let again = quote!(run::<#second T>(#within, #(#names),* #given));
        let body = self.run_on_any(op, any, rest, &quote!(#backend), Some(&again));
        quote! {
            #[inline(never)]
            #[track_caller]
            #many
            fn run<'a, #dtypes>(#backend: &#ty, #(#args),* #options) -> #rt::Result<#output> { #body }
            run::<#second T>(self, #(#names),* #given)
        }
    }

    /// Generates the code that runs the op on the backend in the enum `on`: by the row's entry if the row has one for
    /// every library, and otherwise as [`Expand::chosen`] describes.
    fn run_on_any(&self, op: &Op, any: &Any, rest: bool, on: &TokenStream, again: Option<&TokenStream>) -> TokenStream {
        if !any.has_entries || !self.has_all_entries(op) {
            let chosen = self.chosen(op, any, rest, on, again);
            // `asarray` is the row with a host array; the array may have a dtype that is known only at run time
            let host = op.params.iter().find(|p| p.kind == Kind::Host && any.has_entries && self.extension.is_none());
            let Some(host) = host.map(|p| id(&p.name)) else { return chosen };
            let rt = self.rt();
            return quote! {
                if const { <T as #rt::Element>::IS_DYNAMIC } {
                    return #rt::Arrays::from_ndarray(#on, #host);
                }
                #chosen
            };
        }
        let (rt, open, run) = (self.rt(), self.open_options(op), self.run_entry(op, any, on));
        let direct = self.run_loop(op, any, on);
        quote!({ #open #direct #rt::located({ #run }, (::core::file!(), ::core::line!())) })
    }

    /// Generates the statement that runs the loop of an elementwise op, if the backend is the CPU. For few elements,
    /// the conversions for the op's entry would take longer than the loop.
    fn run_loop(&self, op: &Op, any: &Any, on: &TokenStream) -> TokenStream {
        let host = any.members.iter().find(|m| m.column.as_deref() == Some("numpyish") && self.has_loop(op));
        let (Some(Member { variant, .. }), Out::One(result)) = (host, &op.result) else { return quote!() };
        let (rt, item, name, scalar) = (self.rt(), self.item_path(op), &any.name, self.scalar_path(op));
        let views = op.inputs().map(|p| {
            let n = id(&p.name);
            if matches!(p.kind, Kind::Array(_)) { quote!(array_view(&#n)) } else { quote!(operand_view(&#n)) }
        });
        let fields = op.params.iter().filter(|p| !p.is_array()).map(|p| id(&p.name));
        let (count, result) = (op.inputs().count(), elem(*result, op));
        quote! {
            if const { !<T as #rt::Element>::IS_DYNAMIC }
                && let #name::#variant(_) = #on
                && let Some(result) = #rt::entry::run_loop::<#count, _, T, #result>(
                    #item::ROW,
                    &#scalar { #(#fields),* },
                    || Some([#(#rt::entry::#views?),*]),
                )
            {
                return #rt::located(result, (::core::file!(), ::core::line!()));
            }
        }
    }

    /// Generates the `match` that runs the op on the backend in the enum `on`. A row that is written once for any
    /// backend runs on the enum itself, so that it is compiled only once, not once per backend. If `rest` is true, the
    /// enum may have variants that the macro does not know. If the `match` is inside a function, `again` is the
    /// recursive call of this function with the backend in the variable `within`.
    fn chosen(&self, op: &Op, any: &Any, rest: bool, on: &TokenStream, again: Option<&TokenStream>) -> TokenStream {
        let (rt, name) = (self.rt(), &op.name);
        let map_of = |member: &Member| member.column.as_ref().and_then(|column| op.maps.get(column));
        let over_any = any.members.iter().filter_map(map_of).find(|map| map.is_free());
        let entries = if any.has_entries { self.entries(op) } else { Vec::new() };
        let has_entry = |member: &&Member| entries.iter().any(|b| Some(&b.name) == member.column.as_ref());
        let own = any.members.iter().filter(|member| over_any.is_none() || map_of(member) != over_any);
        let own = own.filter(|member| !has_entry(member));
        let arms = own.map(|member| self.any_arm(op, any, member));
        let watched = any.has_entries.then(|| self.watched_arm(op, any, again));
        let rest = match over_any {
            Some(map) => {
                let (open, call) = (self.open_options(op), self.over_any_backend(op, map, on));
                Some(quote!(_ => { #open #rt::located({ #call }, (::core::file!(), ::core::line!())) }))
            }
            None => {
                (rest || !entries.is_empty()).then(|| quote!(_ => Err(#rt::Error::unsupported(#name, "this backend")),))
            }
        };
        let entered = (!entries.is_empty()).then(|| {
            let (item, b) = (self.item_path(op), hidden("b"));
            let (open, run) = (self.open_options(op), self.run_entry(op, any, &quote!(#b)));
            quote! {
                #b if #rt::Arrays::has_entry(#b, #item::ROW) => {
                    #open
                    #rt::located({ #run }, (::core::file!(), ::core::line!()))
                }
            }
        });
        quote!(match #on { #watched #entered #(#arms)* #rest })
    }

    /// Returns whether the row's entry may overwrite the array of a parameter, if the array is passed by value.
    fn gives(&self, op: &Op, param: &Param) -> bool {
        match param.kind {
            Kind::Operand(..) => !self.entries(op).is_empty() || self.is_generic(op),
            Kind::Array(_) => self.has_loop(op) && param.default.is_none(),
            _ => false,
        }
    }

    /// Generates the call of the row's entry on the backend `on`, and the conversions of its arguments and results.
    fn run_entry(&self, op: &Op, any: &Any, on: &TokenStream) -> TokenStream {
        let (rt, name, item, ty) = (self.rt(), &op.name, self.item_path(op), &any.name);
        let (arg, args, outputs) = (quote!(#rt::entry::Arg), hidden("args"), hidden("outputs"));
        let reuses = self.has_loop(op);
        // without a function for each dtype, the variables of the method's arguments are not mutable
        let owned = op.params.iter().filter(|p| !has_plain_arguments(op) && self.gives(op, p)).map(|p| {
            let n = id(&p.name);
            quote!(let mut #n = #n;)
        });
        let values = op.params.iter().map(|p| {
            let n = id(&p.name);
            match &p.kind {
                Kind::Array(e) => {
                    let e = elem(*e, op);
                    match (&p.default, reuses) {
                        (Some(_), _) => quote!(#arg::optional::<#ty, #e>(#n.as_deref())),
                        (None, true) => quote!(#arg::given::<#ty, #e>(&mut #n)),
                        (None, false) => quote!(#arg::array::<#ty, #e>(&#n)),
                    }
                }
                Kind::Operand(e, _) => {
                    let e = elem(*e, op);
                    quote!(#arg::operand::<#ty, #e>(&mut #n))
                }
                Kind::Arrays(e) => {
                    let e = elem(*e, op);
                    quote!(#arg::arrays::<#ty, #e>(&#n))
                }
                Kind::Target(e) => {
                    let e = elem(*e, op);
                    quote!(#arg::target::<#ty, #e>(#n))
                }
                Kind::Index => quote!(#arg::index::<#ty>(#n)),
                Kind::Scalar => quote!(#arg::element(#n)),
                Kind::Choice(_) => quote!(#arg::Choice(#n as usize)),
                Kind::Lengths if p.default == Some(DefaultValue::None) => quote!(#arg::from(#n.as_ref())),
                Kind::Axes | Kind::Lengths | Kind::Number => quote!(#arg::from(&#n)),
                Kind::Widths => quote!(#arg::from(#n.as_slice())),
                Kind::Signed => quote!(#arg::from(&*#n)),
                _ => quote!(#arg::from(#n)),
            }
        });
        let of = quote!(<T as #rt::Element>::dtype());
        let to = if op.second.is_some() { quote!(<U as #rt::Element>::dtype()) } else { of.clone() };
        let one = |e: Elem, function: &str| {
            let (e, function) = (elem(e, op), id(function));
            quote!(#rt::entry::#function::<#ty, #e>)
        };
        let finish = match &op.result {
            _ if op.target().is_some() => quote!({ let _ = #outputs; Ok(()) }),
            Out::One(e) => {
                let one = one(*e, "one");
                quote!(#one(#name, #outputs))
            }
            Out::List(e) => {
                let list = one(*e, "list");
                quote!(#list(#name, #outputs))
            }
            Out::Fields(fields) => {
                let (path, values) = (self.result_path(op), hidden("values"));
                let fields = fields.iter().map(|f| {
                    let (n, field) = (id(&f.name), one(f.elem, "field"));
                    quote!(#n: #field(#name, &mut #values)?)
                });
                quote!({
                    let mut #values = #rt::entry::fields(#name, #outputs)?;
                    Ok(#path { #(#fields),* })
                })
            }
            Out::Plain(_) => quote!(Err(#rt::Error::unsupported(#name, <#ty as #rt::Arrays>::NAME))),
        };
        quote! {
            #(#owned)*
            let mut #args = [#(#values),*];
            match #rt::entry::run(#on, #item::ROW, (#of, #to), &mut #args) {
                Ok(#outputs) => #finish,
                Err(why) => Err(why),
            }
        }
    }

    /// Generates the arm for the variant `Watched`. Between the messages to the watcher, the arm runs the op on the
    /// backend inside this variant, which is a backend of the same enum.
    fn watched_arm(&self, op: &Op, any: &Any, again: Option<&TokenStream>) -> TokenStream {
        let (rt, name, b, running) = (self.rt(), &any.name, hidden("b"), hidden("running"));
        let watched = quote!(&**#b);
        let args: Vec<TokenStream> = op
            .positional()
            .map(|p| {
                let n = id(&p.name);
                if matches!(p.kind, Kind::Arrays(_)) { quote!(&#n[..]) } else { quote!(#n) }
            })
            .collect();
        let options = op.has_options().then(|| hidden("options")).map(|options| quote!(#options));
        let call = again.cloned().unwrap_or_else(|| self.call_within(op, &args, options.as_ref()));
        let (begin, run) = (self.begin(op, &watched, false), self.run_within(op, &watched, &call));
        // an op that is composed of other ops runs on the enum itself, so that these ops pass through the function
        let intercepted = !self.model.backends.iter().any(|b| op.maps.get(&b.name).is_some_and(Map::is_free));
        let intercepted = intercepted.then(|| {
            quote! {
                #name::Intercepted(#b) => {
                    #rt::located(#rt::rarely(|| { let mut #running = (); #run }), (::core::file!(), ::core::line!()))
                }
            }
        });
        // puts the rare cases into separate closures, because otherwise the usual arms would have to save more
        // registers
        quote! {
            #name::Watched(#b) => #rt::located(#rt::rarely(|| { #begin #run }), (::core::file!(), ::core::line!())),
            #intercepted
        }
    }

    fn any_arm(&self, op: &Op, any: &Any, member: &Member) -> TokenStream {
        let name = &op.name;
        let any_name = &any.name;
        let Member { variant, get_given, get_operand, get_mut, get_all, get_indices, .. } = member;
        let (b, r, options, own) = (hidden("b"), hidden("r"), hidden("options"), hidden("own"));
        let args = op.positional().map(|p| {
            let n = id(&p.name);
            match p.kind {
                Kind::Array(_) => quote!(#get_given(#n, #name)?),
                Kind::Operand(..) => quote!(#get_operand(#n, #name)?),
                Kind::Target(_) => quote!(#n.#get_mut(#name)?),
                Kind::Index => quote!(&#get_indices(#n, #name)?),
                Kind::Arrays(_) => quote!(#get_all(&#n, #name)?),
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
                    quote!(#own.#n = #options.#n.map(|x| #get_given(x, #name)).transpose()?;)
                } else {
                    quote!(#own.#n = #options.#n;)
                }
            });
            quote!({ let mut #own = #path::new(); #(#set)* #own })
        });
        if op.target().is_some() {
            return quote!(#any_name::#variant(#b) => #b.#method(#(#args,)* #given),);
        }
        let wrap = self.any_result(op, member, &r);
        quote! {
            #any_name::#variant(#b) => {
                let #r = #b.#method(#(#args,)* #given)?;
                Ok(#wrap)
            }
        }
    }
}

/// Returns whether the op takes arrays, and the types of all its converted arguments can be written in the signature
/// of a function.
fn has_plain_arguments(op: &Op) -> bool {
    let is_plain = |kind: &Kind| match kind {
        Kind::Arrays(_) | Kind::Signed | Kind::Widths | Kind::Slices | Kind::Index | Kind::Host => false,
        Kind::Array(_) | Kind::Operand(..) | Kind::Target(_) | Kind::Axes | Kind::Axis | Kind::AxisOrAll => true,
        Kind::Lengths | Kind::Shape | Kind::Number | Kind::Scalar | Kind::Bytes | Kind::Text => true,
        Kind::Plain(_) | Kind::Maybe(_) | Kind::Choice(_) => true,
    };
    op.positional().any(|p| p.is_array()) && op.positional().all(|p| is_plain(&p.kind))
}
