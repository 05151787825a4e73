//! Generates the methods of backends that wrap another backend, the inner backend. Each method notifies the wrapping
//! backend of the call, unwraps the arguments, runs the op on the inner backend, and wraps the result.

use super::*;

impl Expand<'_> {
    /// Generates the statement that begins a call: it notifies `wrapper` of the call. In the method, this statement
    /// follows the conversion of the arguments and precedes the statement that destructures the options.
    pub(super) fn begin(&self, op: &Op, wrapper: &TokenStream, is_composed: bool) -> TokenStream {
        let (rt, running, call) = (self.rt(), hidden("running"), self.call_described(op, is_composed));
        // for a composed row, no code uses this variable: when it is dropped at the end of the method, the call ends
        let unused = if is_composed { quote!(#[allow(unused_variables, unused_mut)]) } else { quote!() };
        quote! {
            #unused
            let mut #running = #rt::Wrap::begin(#wrapper, &#call)?;
        }
    }

    /// Generates a description of the call, with its arguments, as a `Call` of the runtime.
    pub(super) fn call_described(&self, op: &Op, is_composed: bool) -> TokenStream {
        let (rt, name, item) = (self.rt(), &op.name, self.item_path(op));
        let options = hidden("options");
        let positional = op.positional().map(|p| {
            let n = id(&p.name);
            let arg = match p.kind {
                Kind::Array(_) => quote!(array(&*#n)),
                Kind::Target(_) => quote!(array(&*#n)),
                Kind::Operand(..) => quote!(operand(&#n)),
                Kind::Arrays(_) => quote!(arrays(&#n)),
                Kind::Index => quote!(index(#n)),
                Kind::Scalar => quote!(Number(#rt::Number::of(#n))),
                Kind::Host => quote!(Host(&#n)),
                _ => quote!(Plain(&#n)),
            };
            (&p.name, arg)
        });
        let optional = op.optional().map(|p| {
            let n = id(&p.name);
            let arg = match (&p.kind, &p.default) {
                (Kind::Array(_), _) => quote!(optional(#options.#n.as_deref())),
                (Kind::Scalar, _) => quote!(Number(#rt::Number::of(#options.#n))),
                _ => quote!(Plain(&#options.#n)),
            };
            (&p.name, arg)
        });
        let args = positional.chain(optional).map(|(name, arg)| quote!((#name, #rt::Arg::#arg)));
        let to = if op.second.is_some() { quote!(Some(<U as #rt::Element>::dtype())) } else { quote!(None) };
        quote! {
            #rt::Call {
                info: Some(#item::INFO),
                op: #name,
                dtype: <T as #rt::Element>::dtype(),
                to: #to,
                formula: ::core::option::Option::None,
                is_composed: #is_composed,
                args: &[#(#args),*],
            }
        }
    }

    /// Generates the body of a method of a wrapping backend, which follows the statement of [`Expand::begin`].
    pub(super) fn wrapped(&self, op: &Op) -> TokenStream {
        let (args, options) = self.opened(op);
        self.run_within(op, &quote!(self), &self.call_within(op, &args, options.as_ref()))
    }

    /// Generates the arguments and the options for a call of the inner backend, with unwrapped arrays.
    pub(super) fn opened(&self, op: &Op) -> (Vec<TokenStream>, Option<TokenStream>) {
        let (rt, name) = (self.rt(), &op.name);
        let (options, own) = (hidden("options"), hidden("own"));
        let open = |n: &Ident| quote!(#rt::Wrap::open(self, #name, #n));
        let args = op.positional().map(|p| {
            let n = id(&p.name);
            match p.kind {
                Kind::Array(_) => {
                    quote!(#rt::Wrap::open(self, #name, &*#n)?)
                }
                Kind::Operand(..) => quote!(#rt::Wrap::open_operand(self, #name, &#n)?),
                Kind::Index => quote!(&#rt::Wrap::open_indices(self, #name, #n)?),
                Kind::Arrays(_) => quote!(#rt::Wrap::open_all(self, #name, &#n)?),
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
        (args.collect(), given)
    }

    /// Generates the call of the op's method on the backend in the variable `within`.
    pub(super) fn call_within(&self, op: &Op, args: &[TokenStream], options: Option<&TokenStream>) -> TokenStream {
        let within = hidden("within");
        let method = if op.has_options() { format_ident!("{}_with", op.name) } else { id(&op.name) };
        let markers = signature::inferred(op);
        let second = op.second.is_some().then(|| quote!(U,));
        quote!(#within.#method::<#second T #markers>(#(#args,)* #options))
    }

    /// Generates code that runs the op on the inner backend of `wrapper`, and wraps the results. `call` is the code
    /// of the call on the variable `within`, with arguments of the inner backend.
    pub(super) fn run_within(&self, op: &Op, wrapper: &TokenStream, call: &TokenStream) -> TokenStream {
        let (rt, name) = (self.rt(), &op.name);
        let (within, result, running) = (hidden("within"), hidden("result"), hidden("running"));
        if let Some(target) = op.target() {
            let target = id(&target.name);
            return quote! {
                let #within = #rt::Wrap::within(#wrapper);
                #rt::Wrap::change(#wrapper, &mut #running, #name, #target, |#target| #call)
            };
        }
        let closed = self.closed(op, &|e, array| {
            let e = elem(e, op);
            quote!(#rt::Wrap::close::<#e>(#wrapper, &mut #running, #array))
        });
        quote! {
            let #within = #rt::Wrap::within(#wrapper);
            let #result = #call?;
            #closed
        }
    }

    /// Generates the result of a method from the variable `result`, the result of the inner backend. `close`
    /// generates the code that converts an array of the inner backend to an array of the wrapper.
    pub(super) fn closed(&self, op: &Op, close: &dyn Fn(Elem, TokenStream) -> TokenStream) -> TokenStream {
        let result = hidden("result");
        match &op.result {
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
        }
    }
}
