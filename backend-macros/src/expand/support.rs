//! Generates the code that the implementations of ops call: the scalar ops of `each` rows, and the functions of
//! `compose` rows.

use super::*;
use op_table::{
    expr::{Expr, cuda},
    fold,
};

impl Expand<'_> {
    /// Generates the scalar ops, the reductions of formulas and the compositions of the macro call's own table.
    pub(super) fn support(&self) -> TokenStream {
        let scalar_ops = self.own().filter_map(|o| Some(self.scalar_op(o, elements_of(o)?)));
        let reductions = self.own().filter(|o| o.reduces_formulas()).map(|o| self.reduction(o));
        let scalar_ops = scalar_ops.chain(reductions);
        let composed = self.own().filter_map(|o| Some(self.composed(o, composition_of(o)?)));
        let bounds = self.own_bounds();
        self.support_modules(quote!(#(#scalar_ops)*), quote!(#(#composed)*), bounds)
    }

    /// Generates the scalar ops and the compositions of a library that an overlay adds to the base table.
    pub(super) fn overlay_support(&self, backend: &Backend) -> TokenStream {
        let maps = || self.model.ops.iter().filter_map(|o| Some((o, o.maps.get(&backend.name)?)));
        let scalar_ops = maps().filter(|(_, m)| m.is_of_elements()).map(|(o, m)| self.scalar_op(o, m));
        let composed = maps().filter_map(|(o, m)| match m {
            Map::Compose(form) => Some(self.composed(o, form)),
            _ => None,
        });
        let rules = backend.records.then(|| self.rules(backend));
        self.support_modules(quote!(#(#scalar_ops)*), quote!(#(#composed)*), quote!(#rules))
    }

    fn support_modules(&self, scalar_ops: TokenStream, composed: TokenStream, bounds: TokenStream) -> TokenStream {
        let (rt, each, compose) = (self.rt(), self.private("each"), self.private("compose"));
        quote! {
            #[doc(hidden)]
            #[allow(unused_imports, unused_parens, non_camel_case_types, clippy::all)]
            pub mod #each {
                use #rt as rt;
                #scalar_ops
            }
            #[doc(hidden)]
            #[allow(unused_imports, clippy::all)]
            pub mod #compose {
                use super::*;
                #composed
            }
            #bounds
        }
    }

    /// The path of the struct that stores the numbers of a row's expressions. The path is relative to the module of the
    /// implementations.
    pub(super) fn scalar_path(&self, op: &Op) -> TokenStream {
        let (home, name) = (self.home(), id(&op.name));
        let module = if has_item(op) { self.ops_module() } else { self.private("each") };
        quote!(#home #module::#name)
    }

    /// The path of the struct of [`Expand::scalar_path`], as seen from the module `each`. Also returns the
    /// declaration of the struct, unless the struct is the row's item in the module of ops.
    pub(super) fn scalar_struct(&self, op: &Op) -> (TokenStream, Option<TokenStream>) {
        let (name, items) = (id(&op.name), self.ops_module());
        if has_item(op) { (quote!(super::#items::#name), None) } else { (quote!(#name), Some(self.numbers_struct(op))) }
    }

    /// Implements the scalar op of a row for its struct: `apply` computes one element by the row's expression.
    fn scalar_op(&self, op: &Op, map: &Map) -> TokenStream {
        let (real, complex) = match map {
            Map::Each { real, complex } => (real, complex),
            Map::Fold(fold) => return self.fold_op(op, fold),
            _ => return quote!(),
        };
        let (text, bound) = (&op.name, self.bound(&op.set, &quote!(super::)));
        let (path, declared) = self.scalar_struct(op);
        let inputs: Vec<Ident> = op.inputs().map(|p| id(&p.name)).collect();
        let input_names: Vec<String> = op.inputs().map(|p| op.cuda_name(p)).collect();
        let n = inputs.len();
        let scalars: Vec<&Param> = op.params.iter().filter(|p| !p.is_array()).collect();
        let field_names: Vec<String> = scalars.iter().map(|p| op.cuda_name(p)).collect();
        let values = scalars.iter().map(|p| {
            let n = id(&p.name);
            if p.kind == Kind::Plain(Plain::Bool) { quote!(self.#n as u8 as f64) } else { quote!(self.#n) }
        });
        let open: Vec<Ident> = scalars.iter().map(|p| id(&p.name)).collect();
        let open = (!open.is_empty()).then(|| quote!(let Self { #(#open,)* .. } = *self;));
        let output = elem(op.result.elem(), op);
        // if the op has a second dtype, its struct is generic over that dtype
        let second = op.second_set.as_ref().map(|set| self.bound(set, &quote!(super::)));
        let (path, generic) = match &second {
            None => (path, quote!()),
            Some(bound) => (quote!(#path<U>), quote!(U: #bound,)),
        };
        let header = second.as_ref().map(|_| quote!(<#generic>));
        let moved = if complex.is_none() { op.moved(&real.expr) } else { Vec::new() };
        let kernels = second.is_none().then(|| self.kernel_table(op, &path, n, &real.expr, !moved.is_empty()));
        let moved = (!moved.is_empty()).then(|| quote!(const MOVED: &'static [usize] = &[#(#moved),*];));
        let converts = op.converts(&real.expr).then(|| {
            quote!(
                const CONVERTS: bool = true;
            )
        });
        let conjugates = op.conjugates(&real.expr).then(|| {
            quote!(
                const CONJUGATES: bool = true;
            )
        });
        let is_square_root = op.is_square_root(&real.expr).then(|| {
            quote!(
                const IS_SQUARE_ROOT: bool = true;
            )
        });
        let is_product = (complex.is_none() && op.is_product(&real.expr)).then(|| {
            quote!(
                const IS_PRODUCT: bool = true;
            )
        });
        let is_quotient = (complex.is_none() && op.is_quotient(&real.expr)).then(|| {
            quote!(
                const IS_QUOTIENT: bool = true;
            )
        });
        let of_t = op.inputs().position(|p| p.kind.elem() == Some(Elem::T)).filter(|at| *at > 0);
        let of_t = of_t.map(|at| quote!(const INPUT_OF_T: usize = #at;));
        let has_row = op.own && !self.entries(op).is_empty();
        let row = has_row.then(|| {
            let (module, item) = (self.ops_module(), id(&op.name));
            let item = quote!(super::#module::#item);
            quote!(const ROW: Option<&'static rt::entry::Row> = Some(#item::ROW);)
        });
        let (rust, cuda) = (self.real_scalar(op, real, &inputs), self.cuda_source(op, real));
        let complex_source = complex.as_ref().map(|c| {
            let cuda = cuda::text(&c.expr, op);
            quote!(const CUDA_COMPLEX: &'static str = #cuda;)
        });
        let reduces = |form: &Form, dtypes| form.expr.needs_range_reduction(dtypes, self.model);
        let turns = reduces(real, RangeReduction::Real).then(|| {
            quote!(
                const NEEDS_RANGE_REDUCTION: bool = true;
            )
        });
        let wide = real.expr.gains_from_wide_vectors(self.model);
        let gains_from_avx512 = wide.then(|| {
            quote!(
                const GAINS_FROM_AVX512: bool = true;
            )
        });
        let turns_complex = reduces(complex.as_ref().unwrap_or(real), RangeReduction::Complex).then(|| {
            quote!(
                const NEEDS_RANGE_REDUCTION_COMPLEX: bool = true;
            )
        });
        let is_truth = |p: &Param| p.kind == Kind::Plain(Plain::Bool);
        let chosen_by = real.expr.chosen_by().filter(|name| op.params.iter().any(|p| p.name == *name && is_truth(p)));
        let chooses = chosen_by.map(id).map(|name| {
            quote!(
                const CHOOSES: bool = true;
                #[inline(always)]
                fn chosen(&self) -> bool { self.#name }
            )
        });
        let first = op.inputs().next();
        let cheap = first.is_some_and(|p| real.expr.is_cheap_above_0(&p.name, self.model)).then(|| {
            quote!(
                const IS_CHEAP_ABOVE_0: bool = true;
            )
        });
        let within = first.and_then(|p| real.expr.cheap_within(&p.name, self.model)).map(|bound| {
            quote!(
                const CHEAP_WITHIN: f64 = #bound;
            )
        });
        let (pull, pulls) = (self.pull(op, &path, &open), cuda_pulls(op));
        let apply = match complex {
            None if op.mixes_dtypes() => {
                let types = self.tuple_of(op);
                quote! {
                    #[doc(hidden)]
                    impl<#generic T: #bound> rt::EachOf<#types> for #path {
                        type Out = #output;
                        #[inline(always)]
                        fn apply(&self, (#(#inputs,)*): #types) -> #output { #open #rust }
                        #pull
                    }
                }
            }
            None => quote! {
                #[doc(hidden)]
                impl<#generic T: #bound> rt::Each<#n, T> for #path {
                    type Out = #output;
                    #[inline(always)]
                    fn apply(&self, &[#(#inputs),*]: &[T; #n]) -> #output { #open #rust }
                    #pull
                }
            },
            Some(complex) => {
                let complex = self.scalar(&complex.expr, op);
                let real_result = op.result.elem() == Elem::Real;
                let (form, visit) = if real_result { ("FloatToRealOp", "float_to_real") } else { ("FloatOp", "float") };
                let (form, visit) = (id(form), id(visit));
                let complex_output = if real_result { quote!(R) } else { quote!(rt::Complex<R>) };
                quote! {
                    #[doc(hidden)]
                    impl rt::#form<#n> for #path {
                        #[inline(always)]
                        fn real<T: rt::Real>(&self, &[#(#inputs),*]: &[T; #n]) -> T { #open #rust }
                        #[inline(always)]
                        fn complex<R: rt::Real>(&self, &[#(#inputs),*]: &[rt::Complex<R>; #n]) -> #complex_output
                        where rt::Complex<R>: rt::Float<Real = R> { #open #complex }
                    }
                    #[doc(hidden)]
                    impl<T: #bound> rt::Each<#n, T> for #path {
                        type Out = #output;
                        #[inline(always)]
                        fn apply(&self, x: &[T; #n]) -> #output { rt::Float::#visit(self, x) }
                        #pull
                    }
                }
            }
        };
        let default = op.is_elementwise().then(|| self.scalar_default(op, &path, &generic));
        let call = (op.own && op.is_elementwise()).then(|| self.scalar_call(op, &path, &generic));
        quote! {
            #declared
            #default
            #call
            #apply
            #[doc(hidden)]
            impl #header rt::EachSource for #path {
                const NAME: &'static str = #text;
                const CUDA: &'static str = #cuda;
                #complex_source
                #turns
                #turns_complex
                #gains_from_avx512
                #chooses
                #cheap
                #within
                #pulls
                const INPUTS: &'static [&'static str] = &[#(#input_names),*];
                #row
                #of_t
                #moved
                #converts
                #conjugates
                #is_square_root
                #is_product #is_quotient
                const PARAMS: &'static [&'static str] = &[#(#field_names),*];
                fn params(&self) -> Vec<f64> { vec![#(#values),*] }
                #kernels
            }
        }
    }

    /// Converts a row's expression for real dtypes to CUDA C++.
    pub(super) fn cuda_source(&self, op: &Op, real: &Form) -> String {
        let text = if op.computes_wide(&real.expr, self.model) { cuda::wide_text } else { cuda::text };
        text(&real.expr, op)
    }

    /// Converts a row's expression for real dtypes to Rust. If the row [is computed in a wider
    /// dtype](Op::computes_wide), the code also converts the operands to this dtype and the value back.
    fn real_scalar(&self, op: &Op, real: &Form, inputs: &[Ident]) -> TokenStream {
        let value = self.scalar(&real.expr, op);
        if !op.computes_wide(&real.expr, self.model) {
            return value;
        }
        quote!(#(let #inputs = rt::Real::widened(#inputs);)* rt::Real::narrowed(#value))
    }

    /// Generates the function that computes the gradients of the operands at one element, for real dtypes.
    fn pull(&self, op: &Op, path: &TokenStream, open: &Option<TokenStream>) -> TokenStream {
        let Some(rules) = &op.by_element else { return quote!() };
        let bound = self.bound(&op.set, &quote!(super::));
        let names: Vec<Ident> = op.inputs().map(|p| id(&p.name)).collect();
        let gradients = op.inputs().map(|p| match rules.iter().find(|(of, _)| *of == p.name) {
            Some((_, rule)) => self.scalar(rule, op),
            None => quote!(::core::default::Default::default()),
        });
        let n = names.len();
        let (of, pattern, all) = if op.mixes_dtypes() {
            (self.tuple_of(op), quote!((#(#names,)*)), quote!((#(#gradients,)*)))
        } else {
            (quote!([T; #n]), quote!([#(#names),*]), quote!([#(#gradients),*]))
        };
        let output = elem(op.result.elem(), op);
        let row = open.as_ref().map(|_| quote!(let row = self.row;));
        let open = open.as_ref().map(|_| {
            let fields = op.params.iter().filter(|p| !p.is_array()).map(|p| id(&p.name));
            quote!(let #path { #(#fields,)* .. } = *row;)
        });
        quote! {
            const PULLS: bool = true;
            #[inline(always)]
            fn pull(&self, x: #of, y: #output, g: #output) -> Option<#of> {
                struct Rule<'r, T: #bound> { row: &'r #path, x: #of, y: #output, g: #output }
                impl<T: #bound> rt::RealVisitor<T> for Rule<'_, T> {
                    type Out = #of;
                    #[inline(always)]
                    #[allow(unused_variables)]
                    fn visit(self) -> #of where T: rt::Real {
                        #row
                        #open
                        let #pattern = self.x;
                        let (y, g) = (self.y, self.g);
                        #all
                    }
                }
                <T as rt::Element>::if_real(Rule { row: self, x, y, g })
            }
        }
    }

    /// Implements `Default` for the struct of a row, if all its parameters have defaults. Formulas use these defaults
    /// for omitted parameters.
    fn scalar_default(&self, op: &Op, path: &TokenStream, generic: &TokenStream) -> TokenStream {
        let scalars: Vec<&Param> = op.params.iter().filter(|p| !p.is_array()).collect();
        if scalars.is_empty() || scalars.iter().any(|p| p.default.is_none()) {
            return quote!();
        }
        let options = self.options_below(op);
        let fields = scalars.iter().map(|p| {
            let n = id(&p.name);
            let as_f64 = (p.kind != Kind::Plain(Plain::Bool)).then(|| quote!(as f64));
            quote!(#n: options.#n #as_f64)
        });
        let to = op.second.as_ref().map(|_| quote!(to: ::core::marker::PhantomData));
        quote! {
            #[doc(hidden)]
            impl<#generic> Default for #path {
                fn default() -> Self {
                    let options = #options::new();
                    Self { #(#fields,)* #to }
                }
            }
        }
    }

    /// Generates the function that calls the row's method, for backends that run formulas op by op.
    fn scalar_call(&self, op: &Op, path: &TokenStream, generic: &TokenStream) -> TokenStream {
        let (bound, backend) = (self.bound(&op.set, &quote!(super::)), self.each_bound(op));
        let n = op.inputs().count();
        let method = if op.has_options() { format_ident!("{}_with", op.name) } else { id(&op.name) };
        let second = op.second.as_ref().map(|_| {
            let markers = signature::inferred(op);
            quote!(::<U, T #markers>)
        });
        let operands: Vec<Ident> = (0..n).map(|i| format_ident!("x{i}")).collect();
        let mut place = 0;
        let arguments = op.positional().map(|p| {
            if !p.is_array() {
                return field(p);
            }
            let x = &operands[place];
            place += 1;
            match p.kind {
                Kind::Operand(..) => quote!(#x),
                _ => quote!(rt::formula::whole(b, #x)?),
            }
        });
        let arguments: Vec<TokenStream> = arguments.collect();
        let options = op.has_options().then(|| {
            let path = self.options_below(op);
            let set = op.optional().map(|p| {
                let (n, value) = (id(&p.name), field(p));
                quote!(.#n(#value))
            });
            quote!(#path::new()#(#set)*)
        });
        let call = quote!(b.#method #second(#(#arguments,)* #options));
        if op.mixes_dtypes() {
            let types = self.tuple_of(op);
            return quote! {
                #[doc(hidden)]
                impl<#generic B: #backend, T: #bound> rt::formula::CallOf<B, #types> for #path {
                    fn call_of(
                        &self,
                        b: &B,
                        (#(#operands,)*): <#types as rt::Elements>::Operands<'_, B>,
                    ) -> rt::Result<B::Array<<Self as rt::EachOf<#types>>::Out>> {
                        #call
                    }
                }
            };
        }
        quote! {
            #[doc(hidden)]
            impl<#generic B: #backend, T: #bound> rt::formula::Call<#n, B, T> for #path {
                fn call(
                    &self,
                    b: &B,
                    [#(#operands),*]: [rt::Operand<'_, B, T>; #n],
                ) -> rt::Result<B::Array<<Self as rt::Each<#n, T>>::Out>> {
                    #call
                }
            }
        }
    }

    /// Implements the reduction of a formula, which gives the same result as the row's reduction of an array.
    fn reduction(&self, op: &Op) -> TokenStream {
        let (bound, backend) = (self.bound(&op.set, &quote!(super::)), self.each_bound(op));
        let (path, result) = (self.scalar_struct(op).0, elem(op.result.elem(), op));
        let (fused, kind) = match &op.facts.fused {
            Some(path) => {
                let function = function(path);
                let given = op.params.iter().skip(1).map(|p| match p.name.as_str() {
                    "axis" => quote!(axis),
                    "keepdims" => quote!(keepdims),
                    _ => field(p),
                });
                let numbers = fold::numbers(op).map(|p| {
                    let number = field(p);
                    if p.kind == Kind::Plain(Plain::Bool) { quote!(#number as u8 as f64) } else { number }
                });
                (
                    quote!(rt::numpyish::#function(source, #(#given),*)),
                    quote!(rt::formula::ReductionKind::Function(#path, vec![#(#numbers),*])),
                )
            }
            None => (
                quote! {
                    rt::numpyish::reduction::fold_of(self, source, <#result as rt::Element>::dtype(), axis, keepdims)
                },
                quote!(rt::formula::ReductionKind::Fold(<Self as rt::FoldSource>::CUDA, rt::FoldSource::params(self))),
            ),
        };
        let name = &op.name;
        let (x, options) = (op.inputs().next().map(|p| p.name.clone()), self.options_below(op));
        let arguments = op.positional().map(|p| match p.name.as_str() {
            "axis" if op.takes_one_axis() => quote!(rt::formula::one_axis(#name, axis)?),
            "axis" if op.takes_axis_or_all() => quote!(rt::formula::axis_or_all(#name, axis)?),
            "axis" => quote!(axis),
            name if Some(name) == x.as_deref() => quote!(x),
            _ => field(p),
        });
        let set = op.optional().filter(|p| p.is_fold_number()).map(|p| {
            let (n, value) = (id(&p.name), field(p));
            quote!(.#n(#value))
        });
        let method = format_ident!("{}_with", op.name);
        let row = op.takes_axis_or_all().then(|| {
            quote!(
                const ROW: bool = true;
            )
        });
        quote! {
            #[doc(hidden)]
            impl<B: #backend, T: #bound> rt::formula::Reduce<B, T> for #path {
                type Out = #result;
                const NAME: &'static str = #name;
                #row
                fn kind(&self) -> rt::formula::ReductionKind { #kind }
                fn fused(
                    &self,
                    source: rt::numpyish::source::Source<'_>,
                    axis: rt::Axes,
                    keepdims: bool,
                ) -> rt::Result<rt::numpyish::raw::RawArray> {
                    #fused
                }
                fn call(
                    &self,
                    b: &B,
                    x: B::Array<T>,
                    axis: rt::Axes,
                    keepdims: bool,
                ) -> rt::Result<B::Array<#result>> {
                    b.#method(#(#arguments,)* #options::new()#(#set)*.keepdims(keepdims))
                }
            }
        }
    }

    /// The trait that declares the method of a row.
    fn each_bound(&self, op: &Op) -> TokenStream {
        let root = &self.root;
        match &self.extension {
            Some(extension) => quote!(#root::Backend + super::#extension),
            // an op without a group is a mistake, which is reported elsewhere
            None if op.group.is_empty() => quote!(#root::Backend),
            None => {
                let group = id(&camel(&op.group));
                quote!(super::#group)
            }
        }
    }

    /// The tuple type of the operands' elements, for a row whose operands have several dtypes.
    fn tuple_of(&self, op: &Op) -> TokenStream {
        let types = op.inputs().map(|p| elem(p.kind.elem().unwrap_or(Elem::T), op));
        quote!((#(#types,)*))
    }

    /// Generates the table of a row's CPU kernels. It has kernels for the usual dtypes, or for every dtype if one
    /// loop serves all dtypes of the same size. The kernels are compiled in this crate, so that crates that call the
    /// op do not compile them again. If the expression is a single operation, the table has kernels for 16-bit floats
    /// too: they compute in `f32`, with the loop of `f32`.
    fn kernel_table(&self, op: &Op, path: &TokenStream, operands: usize, expr: &Expr, moves: bool) -> TokenStream {
        const USUAL: [&str; 6] = ["bool", "int64", "float32", "float64", "complex64", "complex128"];
        const HALVES: [&str; 2] = ["float16", "bfloat16"];
        let dtypes = self.model.dtypes_of(&op.set);
        let serves_all = moves && dtypes.len() == self.model.dtypes.len();
        let widens = !op.mixes_dtypes() && op.is_one_operation(expr, self.model);
        let is_wide = |d: &String| widens && HALVES.contains(&d.as_str());
        let tabled: Vec<&String> =
            dtypes.iter().filter(|d| serves_all || is_wide(d) || USUAL.contains(&d.as_str())).collect();
        let kernels = tabled.iter().map(|d| {
            let name = |d: &str| id(&camel_dtype(d));
            let tuple = |t: TokenStream| {
                let types = op.inputs().map(|p| match p.kind.elem().unwrap_or(Elem::T) {
                    Elem::T => t.clone(),
                    elem => {
                        let d = name(dtype_of(elem, d));
                        quote!(rt::dtype_type!(#d))
                    }
                });
                quote!((#(#types,)*))
            };
            let ty = name(d);
            let (dtype, mover) = (quote!(rt::dtype_type!(#ty)), quote!(rt::mover_type!(#ty)));
            match op.mixes_dtypes() {
                false if is_wide(d) => quote!(Widened::<#operands, #dtype, #path>),
                false => quote!(OpKernel::<#operands, #dtype, #path>),
                true if serves_all => {
                    let (of_dtype, of_mover) = (tuple(dtype), tuple(mover));
                    quote!(Moved::<#of_dtype, #of_mover, #path>)
                }
                true => {
                    let of_dtype = tuple(dtype);
                    quote!(OfTuple::<#of_dtype, #path>)
                }
            }
        });
        let tabled = tabled.iter().map(|d| id(&camel_dtype(d)));
        quote! {
            const TABLED: &'static [rt::DType] = &[#(rt::DType::#tabled),*];
            fn table() -> Option<&'static rt::numpyish::kernel::Table<#path>> {
                // a static in a function that is not generic is compiled only here; a constant would be compiled again
                // in every crate that uses it
                static TABLE: rt::numpyish::kernel::Table<#path> = rt::numpyish::kernel::Table::new(
                    &[#(rt::numpyish::kernel::#kernels::KERNEL),*],
                );
                Some(&TABLE)
            }
        }
    }

    /// Generates the generic function of a `compose` row. The methods of all libraries call this function.
    pub(super) fn composed(&self, op: &Op, form: &Form) -> TokenStream {
        let (rt, name, dtypes, bounds) = (self.rt(), id(&op.name), self.dtypes(op), self.backend_bounds());
        let args = op.params.iter().map(|p| {
            let n = id(&p.name);
            let ty = self.function_type(p, op);
            quote!(#n: #ty)
        });
        let output = self.output(op, &quote!(B));
        let (b, body) = (hidden("b"), self.composition(&form.expr, op));
        let body = if matches!(op.result, Out::Fields(_)) { quote!(#body.into_parts().into()) } else { body };
        quote! {
            pub fn #name<B: #bounds, #dtypes>(#b: &B, #(#args),*) -> #rt::Result<#output> { Ok(#body) }
        }
    }
}

/// Generates the expression that reads a number from the struct of a row, which stores numbers as f64, and converts
/// it to the type of the parameter.
fn field(p: &Param) -> TokenStream {
    let n = id(&p.name);
    match &p.kind {
        Kind::Scalar => quote!(rt::Element::from_f64(self.#n)),
        Kind::Plain(t) if !matches!(t, Plain::F64 | Plain::Bool) => {
            let ty = plain(*t);
            quote!(self.#n as #ty)
        }
        _ => quote!(self.#n),
    }
}

/// Returns whether the struct that holds a row's numbers is the row's item in the module of ops. Two kinds of rows
/// have a separate struct: rows of the base table in an overlay, and rows with a second dtype, over which the struct
/// is generic.
fn has_item(op: &Op) -> bool {
    op.own && op.second.is_none()
}

/// The `each` or `fold` mapping of a row, if the row has one for any library.
pub(super) fn elements_of(op: &Op) -> Option<&Map> {
    op.maps.values().find(|m| m.is_of_elements())
}

/// The composition of a row, if the row has one for any library.
fn composition_of(op: &Op) -> Option<&Form> {
    op.maps.values().find_map(|m| match m {
        Map::Compose(form) => Some(form),
        _ => None,
    })
}

/// The name of the variant of `DType` for a dtype, such as `UInt8` for `uint8`.
pub fn camel_dtype(name: &str) -> String {
    match name.strip_prefix("uint").or(name.strip_prefix("bfloat")) {
        Some(bits) if name.starts_with('u') => format!("UInt{bits}"),
        Some(bits) => format!("BFloat{bits}"),
        None => camel(name),
    }
}

/// Generates the gradients of the operands in CUDA C++, as expressions of the operands, the result and the gradient
/// of the result.
fn cuda_pulls(op: &Op) -> TokenStream {
    let (Some(rules), Some(first)) = (&op.by_element, op.inputs().next()) else { return quote!() };
    let mut function = op.clone();
    let array = |name: &str| Param { name: name.into(), kind: Kind::Array(op.result.elem()), ..first.clone() };
    function.params.extend([array("y"), array("g")]);
    let texts = op.inputs().map(|p| match rules.iter().find(|(of, _)| *of == p.name) {
        Some((_, rule)) => cuda::text(rule, &function),
        None => String::new(),
    });
    quote!(const CUDA_PULLS: &'static [&'static str] = &[#(#texts),*];)
}
