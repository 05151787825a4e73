//! Generates the methods of `Sharded`, the backend whose arrays are split over ranks (processes of a parallel
//! program). A method plans the layouts that the call needs for its arrays, runs the op on the rank's own parts, and
//! derives the layouts of the results. The column `split` of a row of the op table contains the class of the op,
//! which determines the plan.

use super::*;

/// The layouts over ranks that an op accepts for its arrays, if the backend has no function for the row.
#[derive(Clone, Copy)]
enum Class {
    /// All arrays are broadcast to a common layout.
    Each,
    /// The arrays may be split along any axis, except the axes that are arguments of the op.
    Lanes,
    /// The arrays may be split along any axis except the last two, which are the axes of a matrix.
    Matrices,
    /// The first array is split along its first axis; other arrays are not split.
    Batch,
    /// Every rank has the whole arrays.
    Whole,
}

impl Class {
    fn of(op: &Op) -> Class {
        match op.split() {
            "each" => Class::Each,
            "lanes" => Class::Lanes,
            "matrices" => Class::Matrices,
            "batch" => Class::Batch,
            _ => Class::Whole,
        }
    }

    /// Returns whether one rank may find an error that the other ranks do not find, because the error depends on the
    /// elements: an index out of range, or a matrix without factors.
    fn may_fail_alone(self, op: &Op) -> bool {
        let has = |error: &str| op.reference.errors.iter().any(|(name, _)| name == error);
        match self {
            Class::Whole => false,
            Class::Matrices => has("Index") || has("Argument"),
            Class::Each | Class::Lanes | Class::Batch => has("Index"),
        }
    }

    /// The name of the backend's method that plans the layouts of a call.
    fn method(self) -> Ident {
        id(match self {
            Class::Each => "plan_each",
            Class::Lanes => "plan_lanes",
            Class::Matrices => "plan_matrices",
            Class::Batch => "plan_batch",
            Class::Whole => "plan_whole",
        })
    }
}

impl Expand<'_> {
    /// Generates the statement that compares the call with the calls of the other ranks, if the backend compares
    /// calls.
    pub(super) fn compared(&self, op: &Op) -> TokenStream {
        let (rt, call) = (self.rt(), self.call_described(op, false));
        quote! {
            if self.compares() {
                #rt::rarely(|| self.compare_call(&#call))?;
            }
        }
    }

    /// Generates the body of a method on split arrays. In the method, the statements that convert its arguments
    /// precede this body.
    pub(super) fn split(&self, op: &Op, backend: &Backend) -> TokenStream {
        if op.maps.contains_key(&backend.name) {
            let (open, body) = (self.open_options(op), self.body(op, backend));
            let (name, result) = (&op.name, hidden("result"));
            // the called function uses other ops to move rows of arrays; if one of them fails, the error must name
            // this op instead
            return quote! {
                #open
                let #result = { #body };
                #result.map_err(|why| why.within(#name))
            };
        }
        let (rt, name) = (self.rt(), &op.name);
        if op.params.iter().any(|p| matches!(p.kind, Kind::Index)) {
            return quote!(Err(#rt::Error::unsupported(#name, <Self as #rt::Arrays>::NAME)));
        }
        let class = if op.target().is_some() { Class::Whole } else { Class::of(op) };
        let (method, plan, options) = (class.method(), hidden("plan"), hidden("options"));
        let layouts = op.params.iter().filter_map(|p| {
            let n = id(&p.name);
            match (&p.kind, &p.default) {
                (Kind::Array(_), Some(_)) => Some(quote!(#options.#n.as_deref().map(|x| x.layout()))),
                (Kind::Array(_), None) => Some(quote!(Some(#n.layout()))),
                (Kind::Operand(..), _) => Some(quote!(Self::layout_of(&#n))),
                _ => None,
            }
        });
        let axes = op.params.iter().filter_map(|p| {
            let n = id(&p.name);
            let n = if p.default.is_some() { quote!(#options.#n) } else { quote!(#n) };
            matches!(p.kind, Kind::Axes | Kind::Axis | Kind::AxisOrAll).then(|| quote!(#rt::Axes::from(#n)))
        });
        let made = match class {
            Class::Whole => quote!(let #plan = self.#method(#name)?;),
            Class::Lanes => quote!(let #plan = self.#method(#name, &[#(#layouts),*], &[#(#axes),*])?;),
            _ => quote!(let #plan = self.#method(#name, &[#(#layouts),*])?;),
        };
        let (args, given) = self.arranged(op);
        let (within, result) = (hidden("within"), hidden("result"));
        let call = self.call_within(op, &args, given.as_ref());
        if let Some(target) = op.target() {
            let target = id(&target.name);
            let own = hidden("target");
            return quote! {
                #made
                let #within = self.within();
                let mut #own = self.arrange(#name, &#plan, 0, ::std::borrow::Cow::Borrowed(&*#target))?.into_owned();
                { let #target = &mut #own; #call?; }
                *#target = self.place(#name, &#plan, #own)?;
                Ok(())
            };
        }
        // a call that returns one array consumes the plan, and the array gets the plan's layout
        let closed = match op.result {
            Out::One(_) => self.closed(op, &|_, array| quote!(self.place_last(#name, #plan, #array))),
            _ => self.closed(op, &|_, array| quote!(self.place(#name, &#plan, #array))),
        };
        let called = match class.may_fail_alone(op) {
            true => quote!(let #result = self.agreed_on(#name, &#plan, #call)?;),
            false => quote!(let #result = #call.map_err(|why| self.explained(&#plan, why))?;),
        };
        quote! {
            #made
            let #within = self.within();
            #called
            #closed
        }
    }

    /// Generates the arguments and the options for a call of the inner backend. Every array is replaced by the rank's
    /// part of it in the planned layout.
    fn arranged(&self, op: &Op) -> (Vec<TokenStream>, Option<TokenStream>) {
        let (rt, name) = (self.rt(), &op.name);
        let (plan, options, own) = (hidden("plan"), hidden("options"), hidden("own"));
        // counts the arrays: `next` returns the index of the next array in the list for which the plan was made
        let mut count = 0_usize;
        let mut next = || {
            count += 1;
            count - 1
        };
        let mut args = Vec::new();
        for p in op.positional() {
            let n = id(&p.name);
            args.push(match p.kind {
                Kind::Array(_) => {
                    let k = next();
                    quote!(self.arrange(#name, &#plan, #k, #n)?)
                }
                Kind::Operand(..) => {
                    let k = next();
                    quote!(self.arrange_operand(#name, &#plan, #k, #n)?)
                }
                Kind::Arrays(_) => quote! {
                    #n.iter()
                        .map(|x| Ok(self.arrange(#name, &#plan, 0, ::std::borrow::Cow::Borrowed(*x))?.into_owned()))
                        .collect::<#rt::Result<Vec<_>>>()?
                },
                _ => quote!(#n),
            });
        }
        let given = op.has_options().then(|| {
            if !op.options_hold_arrays() {
                return quote!(#options);
            }
            let path = self.options_path(op);
            let set: Vec<TokenStream> = op
                .optional()
                .map(|p| {
                    let n = id(&p.name);
                    match p.kind {
                        Kind::Array(_) => {
                            let k = next();
                            quote!(#own.#n = #options.#n.map(|x| self.arrange(#name, &#plan, #k, x)).transpose()?;)
                        }
                        _ => quote!(#own.#n = #options.#n;),
                    }
                })
                .collect();
            quote!({ let mut #own = #path::new(); #(#set)* #own })
        });
        (args, given)
    }
}
