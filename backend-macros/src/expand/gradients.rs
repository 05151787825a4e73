//! Generates the methods of `Diff`, the backend that records ops on a tape to compute gradients. A method runs the op
//! on the inner backend. If an input has a tape index, the result gets a tape index too, and the tape stores the values
//! of the call that the row's gradient rules need.

use super::*;
use op_table::GRAD;
use std::collections::BTreeSet;

/// The code by which the generated method of a row's op records a call on the tape.
pub(super) enum Recording<'o> {
    /// The generated method runs the row's composition, or a function that the overlay names, on the recording backend.
    /// This backend records the ops inside the composition or function.
    Parts,
    /// Like `Parts`, but the inputs that these rules name have no gradients. A call returns an error if such an input
    /// has a tape index.
    PartsBut(&'o [Rule]),
    /// The call is not recorded, because the row has no gradients. Its results are constants.
    Constant,
    /// The call is recorded with these rules.
    Rules(&'o [Rule]),
    /// No gradient rule of the row can be used, so an input with a tape index is an error.
    Refused,
}

pub(super) fn recording<'o>(op: &'o Op, backend: &Backend) -> Recording<'o> {
    let own = op.maps.get(&backend.name);
    match (&op.gradient, own) {
        (_, Some(Map::Call(_))) | (Gradient::OfParts, Some(_)) => Recording::Parts,
        (Gradient::Rules(rules), Some(_)) if rules.iter().all(|rule| rule.function.is_err()) => {
            Recording::PartsBut(rules)
        }
        (Gradient::None(_), _) => Recording::Constant,
        (Gradient::Rules(rules), _) if rules.is_empty() => Recording::Constant,
        (Gradient::Rules(rules), _) if rules.iter().all(|rule| rule.function.is_err()) => Recording::Refused,
        (Gradient::Rules(rules), _) if op.second.is_none() && op.target().is_none() => Recording::Rules(rules),
        _ => Recording::Refused,
    }
}

/// Returns the values of a call that the tape stores for a row's gradient rules: the parameters of the rules'
/// functions, except the gradients of the results.
pub(super) fn kept<'o>(op: &Op, rules: &'o [Rule]) -> Vec<&'o Param> {
    let mut seen = BTreeSet::new();
    let functions = rules.iter().filter_map(|rule| rule.function.as_ref().ok());
    let params = functions.flat_map(|function| &function.params).filter(|p| !is_gradient(p, op));
    params.filter(|p| seen.insert(p.name.clone())).collect()
}

/// Returns whether a parameter of a rule's function is the gradient of a result, such as `g` or `g_values`.
fn is_gradient(p: &Param, op: &Op) -> bool {
    op.param(&p.name).is_none() && (p.name == "g" || p.name.starts_with("g_"))
}

/// Returns whether a parameter of a rule's function is a result of the op, such as `y` or `y_values`.
fn result_of(p: &Param, op: &Op) -> bool {
    op.param(&p.name).is_none() && (p.name == "y" || p.name.starts_with("y_"))
}

impl Expand<'_> {
    /// Generates the body of a method that records the op. In the method, the statements that convert its arguments
    /// precede this body.
    pub(super) fn recorded(&self, op: &Op, backend: &Backend) -> TokenStream {
        let (rt, running, name) = (self.rt(), hidden("running"), &op.name);
        let running = quote!(#[allow(unused_variables, unused_mut)] let mut #running = (););
        match recording(op, backend) {
            Recording::Parts => {
                let (open, body) = (self.open_options(op), self.located(op, &self.body(op, backend)));
                quote!(#open #body)
            }
            Recording::PartsBut(rules) => {
                let (places, _) = self.places(op);
                let refused = self.refused(op, rules);
                let (open, body) = (self.open_options(op), self.located(op, &self.body(op, backend)));
                quote!({ #places #refused } #open #body)
            }
            Recording::Constant => {
                let wrapped = self.wrapped(op);
                quote!(#running #wrapped)
            }
            Recording::Refused => {
                let (places, any) = self.places(op);
                let wrapped = self.wrapped(op);
                let refused = match &op.gradient {
                    Gradient::Rules(rules) => self.refused(op, rules),
                    _ => quote!(),
                };
                quote! {
                    #places
                    #refused
                    if #any {
                        return Err(#rt::Error::argument(#name, "this op has no gradient: give it constants, by `constant` or `stop_gradient`"));
                    }
                    #running
                    #wrapped
                }
            }
            Recording::Rules(rules) => self.with_rules(op, rules),
        }
    }

    /// Generates the statements that find the tape indices of all inputs, and a condition that is true if any input
    /// has one.
    pub(super) fn places(&self, op: &Op) -> (TokenStream, TokenStream) {
        let (rt, name, options) = (self.rt(), &op.name, hidden("options"));
        let (mut finds, mut any) = (Vec::new(), Vec::new());
        for p in op.differentiable() {
            let (n, place) = (id(&p.name), place_of(p));
            let (find, has) = match (&p.kind, &p.default) {
                (Kind::Operand(..), _) => (quote!(self.place_of_operand(#name, &#n)?), quote!(#place.is_some())),
                (Kind::Arrays(_), _) => (
                    quote!(#n.iter().map(|x| self.place_of(#name, x)).collect::<#rt::Result<Vec<_>>>()?),
                    quote!(#place.iter().any(Option::is_some)),
                ),
                (_, Some(_)) => (
                    quote!(match #options.#n.as_deref() { Some(x) => self.place_of(#name, x)?, None => None }),
                    quote!(#place.is_some()),
                ),
                _ => (quote!(self.place_of(#name, &*#n)?), quote!(#place.is_some())),
            };
            finds.push(quote!(let #place = #find;));
            any.push(has);
        }
        let any = if any.is_empty() { quote!(false) } else { quote!(#(#any)||*) };
        (quote!(#(#finds)*), any)
    }

    /// Generates the statements that return an error if an input without a gradient has a tape index.
    pub(super) fn refused(&self, op: &Op, rules: &[Rule]) -> TokenStream {
        let (rt, name) = (self.rt(), &op.name);
        let refused = op.differentiable().filter_map(|p| {
            let rule = rules.iter().find(|rule| rule.input == p.name);
            let why = match rule.map(|rule| &rule.function) {
                Some(Ok(_)) => return None,
                Some(Err(why)) => format!("there is no gradient by `{}`: {why}", p.name),
                None => return None,
            };
            let place = place_of(p);
            let has = if matches!(p.kind, Kind::Arrays(_)) {
                quote!(#place.iter().any(Option::is_some))
            } else {
                quote!(#place.is_some())
            };
            Some(quote!(if #has { return Err(#rt::Error::argument(#name, #why)); }))
        });
        quote!(#(#refused)*)
    }

    /// Generates the statements that store values of a call for the row's gradient rules. There are three groups of
    /// statements: for options, for other arguments, and for results.
    pub(super) fn keeps(&self, op: &Op, kept: &[&Param]) -> [TokenStream; 3] {
        let (rt, name, result, options) = (self.rt(), &op.name, hidden("result"), hidden("options"));
        // the statements that store options precede the call of the op, which may consume the options
        let of_options = kept.iter().filter_map(|p| {
            let own = op.param(&p.name).filter(|own| own.default.is_some())?;
            let (n, keep) = (id(&p.name), keep_of(p));
            let value = match own.kind {
                Kind::Array(_) => {
                    quote!(#options.#n.as_deref().map(|x| #rt::Wrap::open(self, #name, x).cloned()).transpose()?)
                }
                _ => quote!(#options.#n),
            };
            Some(quote!(let #keep = #value;))
        });
        let of_call = kept.iter().filter_map(|p| {
            if let Some(of) = p.name.strip_prefix("shape_").filter(|_| op.param(&p.name).is_none()) {
                let (keep, input) = (keep_of(p), op.param(of)?);
                let n = id(of);
                let shape = match (&input.kind, &input.default) {
                    (Kind::Operand(..), _) => quote!(match &#n { #rt::Operand::Array(x) => #rt::ArrayAttributes::shape(&**x).to_vec(), #rt::Operand::Scalar(_) => Vec::new() }),
                    (Kind::Arrays(_), _) => quote!(self.shapes_of(&#n)),
                    (_, Some(_)) => quote!(#options.#n.as_deref().map_or(Vec::new(), |x| self.shapes_of(&[x]))),
                    _ => quote!(#rt::ArrayAttributes::shape(&*#n).to_vec()),
                };
                return Some(quote!(let #keep = #shape;));
            }
            let own = op.param(&p.name).filter(|own| own.default.is_none())?;
            let (n, keep) = (id(&p.name), keep_of(p));
            let value = match own.kind {
                Kind::Array(_) => quote!(#rt::Wrap::open(self, #name, &*#n)?.clone()),
                Kind::Operand(..) => quote!(self.keep_operand(&#n)),
                Kind::Arrays(_) => {
                    quote!(#rt::Wrap::open_all(self, #name, &#n)?.into_iter().cloned().collect::<Vec<_>>())
                }
                Kind::Index => quote!({
                    let items = #rt::Wrap::open_indices(self, #name, #n)?;
                    #rt::IndexList::new(#rt::Indices::Any(&items))
                }),
                Kind::Shape | Kind::Signed | Kind::Slices | Kind::Widths => {
                    let passed = self.passed(own, op);
                    quote!((#passed).to_vec())
                }
                _ => quote!(#n.clone()),
            };
            Some(quote!(let #keep = #value;))
        });
        let of_result = kept.iter().filter(|p| result_of(p, op)).map(|p| {
            let keep = keep_of(p);
            let value = match p.name.strip_prefix("y_") {
                Some(field) => {
                    let field = id(field);
                    quote!(#result.#field.clone())
                }
                None => quote!(#result.clone()),
            };
            quote!(let #keep = #value;)
        });
        [quote!(#(#of_options)*), quote!(#(#of_call)*), quote!(#(#of_result)*)]
    }

    fn with_rules(&self, op: &Op, rules: &[Rule]) -> TokenStream {
        let (rt, result, within, module) = (self.rt(), hidden("result"), hidden("within"), self.rules_module());
        let (places, any) = self.places(op);
        let refused = self.refused(op, rules);
        let kept = kept(op, rules);
        let [of_options, of_call, of_result] = self.keeps(op, &kept);
        let (args, given) = self.opened(op);
        let call = self.call_within(op, &args, given.as_ref());
        let fields = kept.iter().map(|p| keep_of(p)).collect::<Vec<_>>();
        let inputs: Vec<Ident> =
            rules.iter().filter(|r| r.function.is_ok()).filter_map(|r| op.param(&r.input)).map(place_of).collect();
        let rule = id(&op.name);
        let visitor = self.visitor(op, rules);
        let boxed = match visitor.map(id) {
            Some(visit) => quote!(<T as #rt::Element>::#visit(kept)),
            None => quote!(Some(kept.boxed())),
        };
        let (constants, shapes, tracked) = match &op.result {
            Out::One(_) => (
                quote!(Ok(self.constant(#result))),
                quote!(&[#rt::ArrayAttributes::shape(&#result)]),
                quote!(Ok(self.recorded(#result, at))),
            ),
            Out::List(_) => (
                quote!(Ok(#result.into_iter().map(|x| self.constant(x)).collect())),
                quote!(&#result.iter().map(|x| #rt::ArrayAttributes::shape(x)).collect::<Vec<_>>()),
                quote!(Ok(#result.into_iter().enumerate().map(|(k, x)| self.recorded(x, at + k)).collect())),
            ),
            Out::Fields(all) => {
                let path = self.result_path(op);
                let names: Vec<Ident> = all.iter().map(|f| id(&f.name)).collect();
                let places = all.iter().enumerate().map(|(k, f)| {
                    let n = id(&f.name);
                    if f.elem.may_be_float() {
                        quote!(#n: self.recorded(#result.#n, at + #k))
                    } else {
                        quote!(#n: self.constant(#result.#n))
                    }
                });
                (
                    quote!(Ok(#path { #(#names: self.constant(#result.#names)),* })),
                    quote!(&[#(#rt::ArrayAttributes::shape(&#result.#names)),*]),
                    quote!(Ok(#path { #(#places),* })),
                )
            }
            Out::Plain(_) => (quote!(Ok(#result)), quote!(&[]), quote!(Ok(#result))),
        };
        quote! {
            #places
            let #within = #rt::Wrap::within(self);
            if !(#any) {
                let #result = #call?;
                return #constants;
            }
            #refused
            #of_options
            #of_call
            let #result = #call?;
            #of_result
            let kept = #module::#rule { #(#inputs,)* #(#fields,)* of: ::core::marker::PhantomData::<fn() -> (B, T)> };
            let Some(rule) = #boxed else { return #constants };
            let at = self.record(rule, #shapes);
            #tracked
        }
    }

    /// Returns the name of the method of `Element` that selects the dtypes to which the rules of a row apply, such as
    /// `if_float`; `None` if the rules apply to all dtypes of the row.
    pub(super) fn visitor(&self, op: &Op, rules: &[Rule]) -> Option<&'static str> {
        let function = rules.iter().find_map(|rule| rule.function.as_ref().ok())?;
        match function.bound.as_str() {
            _ if function.set == op.set => None,
            "Real" => Some("if_real"),
            _ => Some("if_float"),
        }
    }

    /// The name of the generated module that has the gradient rules of all rows.
    pub(super) fn rules_module(&self) -> Ident {
        let of = self.extension.as_ref().map_or("diff".into(), |name| snake(&name.to_string()));
        format_ident!("__{of}_rules")
    }

    /// Generates the gradient rules of all rows. Each row gets a struct, whose fields are the stored values of a call,
    /// with a method that computes the gradients from these values.
    pub(super) fn rules(&self, backend: &Backend) -> TokenStream {
        let module = self.rules_module();
        let root = &self.root;
        let of_call = |op: &&Op| op.own || self.extension.is_none();
        let rules = self.model.ops.iter().filter(of_call).filter_map(|op| match recording(op, backend) {
            Recording::Rules(rules) => Some(self.rules_of(op, rules)),
            _ => None,
        });
        quote! {
            #[doc(hidden)]
            #[allow(unused_imports, unused_variables, non_camel_case_types, clippy::all)]
            mod #module {
                use super::*;
                use #root::{Backend, grad::recording::{Grads, Pull, Results, whole}};
                #(#rules)*
            }
        }
    }

    fn rules_of(&self, op: &Op, rules: &[Rule]) -> TokenStream {
        let (rt, name) = (self.rt(), id(&op.name));
        let (bound, bounds) = (self.bound(&op.set, &quote!()), self.backend_bounds());
        let functions: Vec<(&Param, &Op)> =
            rules.iter().filter_map(|rule| Some((op.param(&rule.input)?, &**rule.function.as_ref().ok()?))).collect();
        let Some((_, first)) = functions.first() else { return quote!() };
        let rule_bound = self.bound(&first.set, &quote!());
        let kept = kept(op, rules);
        let fields = kept.iter().map(|p| {
            let own = op.param(&p.name).filter(|own| matches!(own.kind, Kind::Operand(..)));
            let (keep, ty) = (keep_of(p), self.owned_type(own.unwrap_or(p), op));
            quote!(pub #keep: #ty)
        });
        let places = functions.iter().map(|(p, _)| {
            let place = place_of(p);
            if matches!(p.kind, Kind::Arrays(_)) {
                quote!(pub #place: Vec<Option<usize>>)
            } else {
                quote!(pub #place: Option<usize>)
            }
        });
        let composed = functions.iter().filter_map(|(_, f)| match f.maps.get(GRAD)? {
            Map::Compose(form) => Some(self.composed(f, form)),
            _ => None,
        });
        let gradients = match &op.result {
            Out::One(e) => {
                let e = elem(*e, first);
                quote!(let g = &results.take::<B, #e>(b, 0)?;)
            }
            Out::List(e) => {
                let e = elem(*e, first);
                quote!(let g = &results.all::<B, #e>(b)?; let g = &g.iter().collect::<Vec<_>>();)
            }
            Out::Fields(all) => {
                let used = |name: &str| functions.iter().any(|(_, f)| f.param(name).is_some());
                let takes = all.iter().enumerate().filter(|(_, f)| used(&format!("g_{}", f.name))).map(|(k, f)| {
                    let (n, e) = (format_ident!("g_{}", f.name), elem(f.elem, first));
                    quote!(let #n = &results.take::<B, #e>(b, #k)?;)
                });
                quote!(#(#takes)*)
            }
            Out::Plain(_) => quote!(),
        };
        let pulls = functions.iter().map(|(p, f)| {
            let (place, e) = (place_of(p), elem(p.kind.elem().unwrap_or(Elem::T), f));
            let args = f.params.iter().map(|param| match op.param(&param.name) {
                // the row accepts an operand, but the rule requires an array
                Some(own) if matches!((&own.kind, &param.kind), (Kind::Operand(..), Kind::Array(_))) => {
                    let keep = keep_of(param);
                    quote!(&*whole(b, &self.#keep)?)
                }
                _ => self.given_to_rule(param, op),
            });
            let call = match f.maps.get(GRAD) {
                Some(Map::Generic(path)) => {
                    // the path names a rule of the facade, or a function of the crate that has the table
                    let own = op.own && self.extension.is_some() && !path.starts_with("grad::rules::");
                    let (root, path) = (&self.root, function(path));
                    let root = if own { quote!(crate) } else { quote!(#root) };
                    quote!(#root::#path(b, #(#args),*))
                }
                _ => {
                    let function = id(&f.name);
                    quote!(#function(b, #(#args),*))
                }
            };
            if matches!(p.kind, Kind::Arrays(_)) {
                quote! {
                    if self.#place.iter().any(Option::is_some) {
                        let all: Vec<B::Array<#e>> = #call?;
                        for (place, g) in self.#place.iter().zip(all) {
                            if let Some(place) = *place { grads.add::<B, #e>(b, place, g)?; }
                        }
                    }
                }
            } else {
                quote!(if let Some(place) = self.#place { grads.add::<B, #e>(b, place, #call?)?; })
            }
        });
        let visit = match self.visitor(op, rules) {
            None => quote! {
                impl<B: #bounds, T: #bound> #name<B, T> {
                    #[inline]
                    pub fn boxed(self) -> Box<dyn Pull<B>> { Box::new(self) }
                }
            },
            Some(visit) => {
                let (visitor, of) = match visit {
                    "if_real" => (quote!(RealVisitor), quote!(Real)),
                    _ => (quote!(FloatVisitor), quote!(Float)),
                };
                quote! {
                    impl<B: #bounds, T: #bound> #rt::#visitor<T> for #name<B, T> {
                        type Out = Box<dyn Pull<B>>;
                        #[inline]
                        fn visit(self) -> Box<dyn Pull<B>> where T: #rt::#of { Box::new(self) }
                    }
                }
            }
        };
        quote! {
            pub struct #name<B: #bounds, T: #bound> {
                #(#places,)*
                #(#fields,)*
                pub of: ::core::marker::PhantomData<fn() -> (B, T)>,
            }
            impl<B: #bounds, T: #rule_bound> Pull<B> for #name<B, T> {
                fn pull(&self, b: &B, results: &mut Results<'_>, grads: &mut Grads<'_>) -> #rt::Result<()> {
                    #gradients
                    #(#pulls)*
                    Ok(())
                }
            }
            #visit
            #(#composed)*
        }
    }

    /// The type of the struct field that stores a parameter until the backward pass.
    fn owned_type(&self, p: &Param, op: &Op) -> TokenStream {
        let rt = self.rt();
        let array = |e: Elem| {
            let e = elem(e, op);
            quote!(B::Array<#e>)
        };
        let plain = |ty: TokenStream| if p.default == Some(DefaultValue::None) { quote!(Option<#ty>) } else { ty };
        match &p.kind {
            Kind::Array(e) if p.default.is_some() => {
                let array = array(*e);
                quote!(Option<#array>)
            }
            Kind::Array(e) => array(*e),
            Kind::Operand(e, _) => {
                let e = elem(*e, op);
                quote!(#rt::Operand<'static, B, #e>)
            }
            Kind::Arrays(e) => {
                let array = array(*e);
                quote!(Vec<#array>)
            }
            Kind::Shape | Kind::Widths => quote!(Vec<usize>),
            Kind::Signed => quote!(Vec<isize>),
            Kind::Slices => quote!(Vec<#rt::Slice>),
            Kind::Index => quote!(#rt::IndexList<B>),
            kind => plain(self.code(kind, op, &hidden("K")).function),
        }
    }

    /// Generates the argument for the parameter `p` of a rule's function from the stored values of a call.
    fn given_to_rule(&self, p: &Param, op: &Op) -> TokenStream {
        let rt = self.rt();
        if is_gradient(p, op) {
            let n = id(&p.name);
            return quote!(#n);
        }
        let keep = keep_of(p);
        match &p.kind {
            Kind::Array(_) if p.default.is_some() => quote!(self.#keep.as_ref()),
            Kind::Array(_) => quote!(&self.#keep),
            Kind::Operand(..) => quote!(self.#keep.by_ref()),
            Kind::Arrays(_) => quote!(&self.#keep.iter().collect::<Vec<_>>()),
            Kind::Shape | Kind::Widths | Kind::Signed | Kind::Slices => quote!(&self.#keep),
            Kind::Index => quote!(#rt::Indices::Any(&self.#keep.items())),
            _ => quote!(self.#keep.clone()),
        }
    }
}

/// The name of the variable that contains the tape index of an input, and of the struct field that stores this index.
pub(super) fn place_of(p: &Param) -> Ident {
    format_ident!("place_{}", p.name)
}

/// The name of the variable that contains the value of a parameter for the gradient rules, and of the struct field that
/// stores this value.
pub(super) fn keep_of(p: &Param) -> Ident {
    format_ident!("kept_{}", p.name)
}
