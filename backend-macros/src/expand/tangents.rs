//! Generates the methods of `Jvp`, the backend of forward-mode differentiation, whose arrays carry tangents. A method
//! runs the op on the inner backend. If an input has a tangent, the result gets a tangent, too.
//!
//! Three kinds of rows are distinguished. The gradient rules of an elementwise row multiply by the derivative, so
//! they can be applied to tangents in place of gradients. A row that is linear in all inputs with tangents is applied
//! to the tangents. For every other row, two backward passes with its rules compute the tangents.

use super::{
    gradients::{Recording, keep_of, kept, place_of, recording},
    *,
};
use op_table::GRAD;

impl Expand<'_> {
    /// Generates the body of a method that also computes tangents. In the method, the statements that convert its
    /// arguments precede this body.
    pub(super) fn with_tangents(&self, op: &Op, backend: &Backend) -> TokenStream {
        match recording(op, backend) {
            Recording::Rules(rules) => self.tangents(op, rules),
            // treats any other row in the same way as the backend that records ops
            _ => self.recorded(op, backend),
        }
    }

    fn tangents(&self, op: &Op, rules: &[Rule]) -> TokenStream {
        let (rt, result, within) = (self.rt(), hidden("result"), hidden("within"));
        let (places, any) = self.places(op);
        let refused = self.refused(op, rules);
        let kept = kept(op, rules);
        let [of_options, of_call, of_result] = self.keeps(op, &kept);
        let (args, given) = self.opened(op);
        let call = self.call_within(op, &args, given.as_ref());
        let linear = self.along_linear(op, rules);
        let along = match self.along_elements(op, rules, &kept) {
            Some((true, direct)) => direct,
            Some((false, direct)) => {
                let twice = self.back_twice(op, rules, &kept);
                quote!(if <T as #rt::Element>::dtype().kind() != #rt::DTypeKind::Complex { #direct } else { #twice })
            }
            None => self.back_twice(op, rules, &kept),
        };
        let constants = self.with_found(op, &|array, _| quote!(self.constant(#array)));
        let found = self.with_found(op, &|array, place| quote!(self.along(#array, found[#place].take())?));
        quote! {
            #places
            let #within = #rt::Wrap::within(self);
            if !(#any) {
                let #result = #call?;
                return #constants;
            }
            #refused
            #linear
            #of_options
            #of_call
            let #result = #call?;
            #of_result
            let mut found: Vec<Option<Box<dyn ::core::any::Any>>> = #along;
            #found
        }
    }

    /// Generates the result of the method. `close` generates the code that adds the tangent to one array of the
    /// result; its arguments are the array and the index of the array.
    fn with_found(&self, op: &Op, close: &dyn Fn(TokenStream, TokenStream) -> TokenStream) -> TokenStream {
        let result = hidden("result");
        match &op.result {
            Out::One(_) => {
                let one = close(quote!(#result), quote!(0));
                quote!({
                    let one = #one;
                    Ok(one)
                })
            }
            Out::List(_) => {
                let one = close(quote!(x), quote!(k));
                quote!({
                    let mut all = Vec::new();
                    for (k, x) in #result.into_iter().enumerate() { all.push(#one); }
                    Ok(all)
                })
            }
            Out::Fields(fields) => {
                let path = self.result_path(op);
                let fields = fields.iter().enumerate().map(|(k, f)| {
                    let n = id(&f.name);
                    let one = match f.elem.may_be_float() {
                        true => close(quote!(#result.#n), quote!(#k)),
                        false => quote!(self.constant(#result.#n)),
                    };
                    quote!(#n: #one)
                });
                quote!(Ok(#path { #(#fields),* }))
            }
            Out::Plain(_) => quote!(Ok(#result)),
        }
    }

    /// Generates a statement for an op that is linear in some inputs. If no other input has a tangent, the statement
    /// applies the op to the tangents, and returns from the method.
    fn along_linear(&self, op: &Op, rules: &[Rule]) -> Option<TokenStream> {
        let (rt, result, name) = (self.rt(), hidden("result"), &op.name);
        let options = hidden("options");
        if op.linear.is_empty() || !matches!(op.result, Out::One(_) | Out::List(_)) {
            return None;
        }
        let first = match &op.result {
            Out::List(e) | Out::One(e) => elem(*e, op),
            _ => return None,
        };
        let linear = |name: &str| op.linear.iter().flatten().any(|of| of == name);
        let others: Vec<TokenStream> = rules
            .iter()
            .filter(|rule| rule.function.is_ok() && !linear(&rule.input))
            .filter_map(|rule| op.param(&rule.input))
            .map(|p| {
                let place = place_of(p);
                if matches!(p.kind, Kind::Arrays(_)) {
                    quote!(&& #place.iter().all(Option::is_none))
                } else {
                    quote!(&& #place.is_none())
                }
            })
            .collect();
        let again = |p: &Param| {
            let n = id(&p.name);
            match p.kind {
                Kind::Array(_) => quote!(#rt::Wrap::open(self, #name, &*#n)?),
                Kind::Operand(..) => quote!(#rt::Wrap::open_operand(self, #name, &#n)?),
                Kind::Index => quote!(&#rt::Wrap::open_indices(self, #name, #n)?),
                Kind::Arrays(_) => quote!(#rt::Wrap::open_all(self, #name, &#n)?),
                _ => quote!(#n.clone()),
            }
        };
        let options = op.has_options().then(|| quote!(#options.clone()));
        let terms = op.linear.iter().map(|group| {
            let changes: Vec<&Param> = group.iter().filter_map(|name| op.param(name)).collect();
            let has = changes.iter().map(|p| {
                let place = place_of(p);
                if matches!(p.kind, Kind::Arrays(_)) {
                    quote!(#place.iter().any(Option::is_some))
                } else {
                    quote!(#place.is_some())
                }
            });
            let args: Vec<TokenStream> = op
                .positional()
                .map(|p| {
                    if !changes.iter().any(|of| of.name == p.name) {
                        return again(p);
                    }
                    let (n, place) = (id(&p.name), place_of(p));
                    match p.kind {
                        Kind::Operand(..) => quote!(self.change_of_operand(&#n, &#place)?),
                        Kind::Arrays(_) => quote!(&self.changes_of(&#n, &#place)?),
                        _ => quote!(&self.change_of(&*#n, &#place)?),
                    }
                })
                .collect();
            let call = self.call_within(op, &args, options.as_ref());
            let found = match op.result {
                Out::List(_) => quote!(#call?.into_iter().map(|x| self.kept::<#first>(x)).collect::<Vec<_>>()),
                _ => quote!(vec![self.kept::<#first>(#call?)]),
            };
            quote!(if #(#has)||* { terms.push(#found); })
        });
        let (args, given) = self.opened(op);
        let call = self.call_within(op, &args, given.as_ref());
        let found = self.with_found(op, &|array, place| quote!(self.along_sum::<#first>(#array, &mut terms, #place)?));
        Some(quote! {
            if true #(#others)* {
                let mut terms: Vec<Vec<Option<Box<dyn ::core::any::Any>>>> = Vec::new();
                #(#terms)*
                let #result = #call?;
                return #found;
            }
        })
    }

    /// Generates the tangents of an elementwise row by its gradient rules, and returns a flag with them. If the flag
    /// is true, the tangents are correct in every dtype. Otherwise they are correct only in real dtypes, in which the
    /// rules multiply by a derivative.
    fn along_elements(&self, op: &Op, rules: &[Rule], kept: &[&Param]) -> Option<(bool, TokenStream)> {
        let (rt, result, module) = (self.rt(), hidden("result"), self.rules_module());
        let Out::One(of) = &op.result else { return None };
        if !op.is_elementwise() {
            return None;
        }
        let with: Vec<(&Param, &Op)> =
            rules.iter().filter_map(|rule| Some((op.param(&rule.input)?, &**rule.function.as_ref().ok()?))).collect();
        let is_product = |(p, f): &(&Param, &Op)| {
            matches!(f.maps.get(GRAD), Some(Map::Compose(_))) && p.kind.elem() == Some(Elem::T)
        };
        let every = *of == Elem::T && with.iter().all(is_product);
        let rule = id(&op.name);
        let boxed = self.boxed_rule(op, rules);
        let terms = with.iter().map(|(p, _)| {
            let own = place_of(p);
            let places = with.iter().map(|(p, _)| {
                let place = place_of(p);
                if place == own { quote!(#place: Some(0)) } else { quote!(#place: None) }
            });
            let fields = kept.iter().map(|p| {
                let keep = keep_of(p);
                let own = op.param(&p.name).unwrap_or(p);
                match own.kind {
                    Kind::Operand(..) => quote!(#keep: self.operand_again(&#keep)),
                    _ => quote!(#keep: #keep.clone()),
                }
            });
            let e = elem(p.kind.elem().unwrap_or(Elem::T), op);
            quote! {
                if let Some(tangent) = &#own {
                    let kept = #module::#rule { #(#places,)* #(#fields,)* of: ::core::marker::PhantomData::<fn() -> (B, T)> };
                    if let Some(rule) = #boxed {
                        found = self.along_rule::<#e>(rule, #rt::ArrayAttributes::shape(&#result), tangent, found)?;
                    }
                }
            }
        });
        Some((every, quote!({ let mut found = None; #(#terms)* vec![found] })))
    }

    /// Generates an expression for the boxed struct of the row's rules, with the values stored from the call. At run
    /// time, the expression is `None` if the rules do not apply to the dtype.
    fn boxed_rule(&self, op: &Op, rules: &[Rule]) -> TokenStream {
        let rt = self.rt();
        match self.visitor(op, rules).map(id) {
            Some(visit) => quote!(<T as #rt::Element>::#visit(kept)),
            None => quote!(Some(kept.boxed())),
        }
    }

    /// Generates the tangents of any row by two backward passes. The first pass with the row's rules is linear in the
    /// gradient of the result; a backward pass through this linear map gives the tangents.
    fn back_twice(&self, op: &Op, rules: &[Rule], kept: &[&Param]) -> TokenStream {
        let (rt, root, result, module) = (self.rt(), &self.root, hidden("result"), self.rules_module());
        let shape = quote!(#rt::ArrayAttributes::shape);
        let with: Vec<&Param> =
            rules.iter().filter(|r| r.function.is_ok()).filter_map(|rule| op.param(&rule.input)).collect();
        let inputs = with.iter().map(|p| {
            let place = place_of(p);
            let e = elem(p.kind.elem().unwrap_or(Elem::T), op);
            match p.kind {
                Kind::Arrays(_) => {
                    quote!(let #place: Vec<Option<usize>> = #place.into_iter().map(|x| twice.input::<#e>(x)).collect();)
                }
                _ => quote!(let #place = twice.input::<#e>(#place);),
            }
        });
        let places = with.iter().map(|p| place_of(p));
        let fields = kept.iter().map(|p| {
            let keep = keep_of(p);
            let own = op.param(&p.name).filter(|own| matches!(own.kind, Kind::Operand(..)));
            match &own.unwrap_or(p).kind {
                Kind::Array(_) if p.default.is_some() => quote!(#keep: #keep.map(|x| twice.within().constant(x))),
                Kind::Array(_) => quote!(#keep: twice.within().constant(#keep)),
                Kind::Operand(..) => quote!(#keep: twice.operand(#keep)),
                Kind::Arrays(_) => quote!(#keep: #keep.into_iter().map(|x| twice.within().constant(x)).collect()),
                Kind::Index => quote!(#keep: twice.index(&#keep)),
                _ => quote!(#keep),
            }
        });
        let results = match &op.result {
            Out::One(e) => {
                let e = elem(*e, op);
                quote!(twice.result::<#e>(#shape(&#result))?;)
            }
            Out::List(e) => {
                let e = elem(*e, op);
                quote!(for x in &#result { twice.result::<#e>(#shape(x))?; })
            }
            Out::Fields(fields) => {
                let all = fields.iter().map(|f| {
                    let (n, e) = (id(&f.name), elem(f.elem, op));
                    quote!(twice.result::<#e>(#shape(&#result.#n))?;)
                });
                quote!(#(#all)*)
            }
            Out::Plain(_) => quote!(),
        };
        let rule = id(&op.name);
        let boxed = self.boxed_rule(op, rules);
        quote!({
            let mut twice = #root::grad::recording::Twice::new(#rt::Wrap::within(self));
            #(#inputs)*
            #results
            let kept = #module::#rule {
                #(#places,)*
                #(#fields,)*
                of: ::core::marker::PhantomData::<fn() -> (#root::grad::Diff<B>, T)>,
            };
            let rule = #boxed;
            twice.go(rule)?
        })
    }
}
