//! What the implementations call: the scalar ops of `each` rows, the functions of composed rows, and the list of ops.

use super::*;
use op_table::expr::cuda;

impl Expand<'_> {
    /// Everything for the rows of this call; `list` is the name of the constant with the ops.
    pub(super) fn support(&self, list: &str) -> TokenStream {
        let scalar_ops = self.own().filter_map(|o| Some(self.scalar_op(o, elements_of(o)?)));
        let composed = self.own().filter_map(|o| Some(self.composed(o, composition_of(o)?)));
        let (list, bounds) = (self.list(list), self.own_bounds());
        self.support_modules(quote!(#(#scalar_ops)*), quote!(#(#composed)*), quote!(#bounds #list))
    }

    /// The same for a library that is added to the base table.
    pub(super) fn overlay_support(&self, backend: &Backend) -> TokenStream {
        let maps = || self.model.ops.iter().filter_map(|o| Some((o, o.maps.get(&backend.name)?)));
        let scalar_ops = maps().filter(|(_, m)| m.is_of_elements()).map(|(o, m)| self.scalar_op(o, m));
        let composed = maps().filter_map(|(o, m)| match m {
            Map::Compose(form) => Some(self.composed(o, form)),
            _ => None,
        });
        self.support_modules(quote!(#(#scalar_ops)*), quote!(#(#composed)*), quote!())
    }

    fn support_modules(&self, scalar_ops: TokenStream, composed: TokenStream, list: TokenStream) -> TokenStream {
        let rt = self.rt();
        quote! {
            #[doc(hidden)]
            #[allow(unused_imports, unused_parens, clippy::all)]
            pub mod __each {
                use #rt as rt;
                #scalar_ops
            }
            #[doc(hidden)]
            #[allow(unused_imports, clippy::all)]
            pub mod __compose {
                use super::*;
                #composed
            }
            #list
        }
    }

    /// A zero-size op (or one that holds the row's scalar parameters) with the row's expression as its `apply`.
    fn scalar_op(&self, op: &Op, map: &Map) -> TokenStream {
        let (real, complex) = match map {
            Map::Each { real, complex } => (real, complex),
            Map::Fold(fold) => return self.fold_op(op, fold),
            _ => return quote!(),
        };
        let (name, text, bound) = (id(&op.camel()), &op.name, self.bound(&op.set, &quote!(super::)));
        let inputs: Vec<Ident> = op.inputs().map(|p| id(&p.name)).collect();
        let input_names: Vec<String> = op.inputs().map(|p| op.cuda_name(p)).collect();
        let n = inputs.len();
        let scalars: Vec<&Param> = op.params.iter().filter(|p| !p.is_array()).collect();
        let fields = scalars.iter().map(|p| {
            let n = id(&p.name);
            let ty = if p.kind == Kind::Plain(Plain::Bool) { quote!(bool) } else { quote!(f64) };
            quote!(pub #n: #ty)
        });
        let field_names: Vec<String> = scalars.iter().map(|p| op.cuda_name(p)).collect();
        let values = scalars.iter().map(|p| {
            let n = id(&p.name);
            if p.kind == Kind::Plain(Plain::Bool) { quote!(self.#n as u8 as f64) } else { quote!(self.#n) }
        });
        let open: Vec<Ident> = scalars.iter().map(|p| id(&p.name)).collect();
        let open = (!open.is_empty()).then(|| quote!(let #name { #(#open,)* .. } = *self;));
        let output = elem(op.result.elem(), op);
        // an op with a second dtype is one for each
        let second = op.second_set.as_ref().map(|set| self.bound(set, &quote!(super::)));
        let (own, generic) = match &second {
            None => (quote!(#name), quote!()),
            Some(bound) => (quote!(#name<U>), quote!(U: #bound,)),
        };
        let header = second.as_ref().map(|_| quote!(<#generic>));
        let to = second.as_ref().map(|_| quote!(pub to: ::core::marker::PhantomData<fn() -> U>));
        let is_tabled = second.is_none() && !op.mixes_dtypes();
        let kernels = is_tabled.then(|| self.kernel_table(op, &name, n));
        let of_t = op.inputs().position(|p| p.kind.elem() == Some(Elem::T)).filter(|at| *at > 0);
        let of_t = of_t.map(|at| quote!(const INPUT_OF_T: usize = #at;));
        let (rust, cuda) = (self.scalar(&real.expr, op), cuda::text(&real.expr, op));
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
        let apply = match complex {
            None if op.mixes_dtypes() => {
                let types = op.inputs().map(|p| elem(p.kind.elem().unwrap_or(Elem::T), op));
                let types = quote!((#(#types,)*));
                quote! {
                    impl<#generic T: #bound> rt::EachOf<#types> for #own {
                        type Out = #output;
                        #[inline(always)]
                        fn apply(&self, (#(#inputs,)*): #types) -> #output { #open #rust }
                    }
                }
            }
            None => quote! {
                impl<#generic T: #bound> rt::Each<#n, T> for #own {
                    type Out = #output;
                    #[inline(always)]
                    fn apply(&self, [#(#inputs),*]: [T; #n]) -> #output { #open #rust }
                }
            },
            Some(complex) => {
                let complex = self.scalar(&complex.expr, op);
                let real_result = op.result.elem() == Elem::Real;
                let (form, visit) = if real_result { ("FloatToRealOp", "float_to_real") } else { ("FloatOp", "float") };
                let (form, visit) = (id(form), id(visit));
                let complex_output = if real_result { quote!(R) } else { quote!(rt::Complex<R>) };
                quote! {
                    impl rt::#form<#n> for #name {
                        #[inline(always)]
                        fn real<T: rt::Real>(&self, [#(#inputs),*]: [T; #n]) -> T { #open #rust }
                        #[inline(always)]
                        fn complex<R: rt::Real>(&self, [#(#inputs),*]: [rt::Complex<R>; #n]) -> #complex_output
                        where rt::Complex<R>: rt::Float<Real = R> { #open #complex }
                    }
                    impl<T: #bound> rt::Each<#n, T> for #name {
                        type Out = #output;
                        #[inline(always)]
                        fn apply(&self, x: [T; #n]) -> #output { rt::Float::#visit(self, x) }
                    }
                }
            }
        };
        quote! {
            #[derive(Clone, Copy, Debug)]
            pub struct #name #header { #(#fields,)* #to }
            #apply
            impl #header rt::EachSource for #own {
                const NAME: &'static str = #text;
                const CUDA: &'static str = #cuda;
                #complex_source
                #turns
                #turns_complex
                #gains_from_avx512
                const INPUTS: &'static [&'static str] = &[#(#input_names),*];
                #of_t
                const PARAMS: &'static [&'static str] = &[#(#field_names),*];
                fn params(&self) -> Vec<f64> { vec![#(#values),*] }
                #kernels
            }
        }
    }

    /// The kernels of the CPU for the usual dtypes, compiled in this crate and not again in those that call the op.
    fn kernel_table(&self, op: &Op, name: &Ident, operands: usize) -> TokenStream {
        const USUAL: [&str; 6] = ["bool", "int64", "float32", "float64", "complex64", "complex128"];
        let dtypes = self.model.dtypes_of(&op.set);
        let usual: Vec<Ident> =
            dtypes.iter().filter(|d| USUAL.contains(&d.as_str())).map(|d| id(&camel_dtype(d))).collect();
        quote! {
            const TABLED: &'static [rt::DType] = &[#(rt::DType::#usual),*];
            fn table() -> Option<&'static rt::numpyish::kernel::Table<#name>> {
                // a static of a function that is not generic: a constant would be compiled by whoever uses it
                static TABLE: rt::numpyish::kernel::Table<#name> = rt::numpyish::kernel::Table::new(
                    &[#(rt::numpyish::kernel::Of::<#operands, rt::dtype_type!(#usual), #name>::KERNEL),*],
                );
                Some(&TABLE)
            }
        }
    }

    /// One generic function per composed row, which every library's shim calls.
    fn composed(&self, op: &Op, form: &Form) -> TokenStream {
        let (root, rt, name, dtypes) = (&self.root, self.rt(), id(&op.name), self.dtypes(op));
        let bounds = match &self.extension {
            Some(extension) => quote!(#root::Backend + #extension),
            None => quote!(#root::Backend),
        };
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

    /// The rows as data.
    fn list(&self, name: &str) -> TokenStream {
        let (rt, list) = (self.rt(), id(name));
        let rows = self.own().map(|op| {
            let Op { name, group, summary, numpy, .. } = op;
            let dtypes = |set: &str| -> TokenStream {
                let dtypes = self.model.dtypes_of(set).iter().map(|d| {
                    let d = id(&camel_dtype(d));
                    quote!(#rt::DType::#d)
                });
                quote!(&[#(#dtypes),*])
            };
            let (from, to) = (dtypes(&op.set), op.second_set.as_deref().map_or(quote!(&[]), dtypes));
            let signature = crate::docs::signature(op);
            let backends = op.maps.iter().map(|(backend, map)| {
                let mapping = crate::docs::mapping(map);
                quote!((#backend, #mapping))
            });
            let kernel = elements_of(op).map_or(quote!(None), |map| self.kernel(op, map));
            let fold = match elements_of(op) {
                Some(Map::Fold(fold)) => {
                    let kernel = self.fold_kernel(op, fold, &rt);
                    Some(quote!(.with_fold(#kernel)))
                }
                _ => None,
            };
            let (doc, accuracy) = (crate::docs::op(op, self.model), &op.accuracy);
            let said = op.columns.iter().map(|(name, word)| quote!((#name, #word)));
            let columns = (!op.columns.is_empty()).then(|| quote!(.with_columns(&[#(#said),*])));
            let (params, result, aten) = (self.params_info(op), self.result_info(op), info::aten(op));
            quote! {
                #rt::OpInfo::new(
                    #name, #group, #summary, #signature, #from, &[#(#backends),*], #numpy, #accuracy, #doc, #kernel,
                ).with_to_dtypes(#to) #fold .with_params(#params).with_result(#result) #columns .with_aten(#aten)
            }
        });
        quote! {
            /// Every op of the table, as data.
            pub const #list: &[#rt::OpInfo] = &[#(#rows),*];
        }
    }

    /// What is needed to compile the CUDA kernel of an `each` row without calling it.
    fn kernel(&self, op: &Op, map: &Map) -> TokenStream {
        let Map::Each { real, complex } = map else {
            return quote!(None);
        };
        let rt = self.rt();
        let source = cuda::text(&real.expr, op);
        let complex = cuda::text(&complex.as_ref().unwrap_or(real).expr, op);
        let inputs = op.inputs().map(|p| op.cuda_name(p));
        let params = op.params.iter().filter(|p| !p.is_array()).map(|p| op.cuda_name(p));
        let elements = op.inputs().map(|p| info::elem(p.kind.elem().unwrap_or(Elem::T), &rt));
        let pair = |d: &str, out: &str| {
            let (t, out) = (id(&camel_dtype(d)), id(&camel_dtype(out)));
            quote!((#rt::DType::#t, #rt::DType::#out))
        };
        let results = |d: &str| match (&op.second_set, op.result.elem()) {
            (Some(set), Elem::U) => self.model.dtypes_of(set).iter().map(|out| pair(d, out)).collect(),
            (_, elem) => vec![pair(d, dtype_of(elem, d))],
        };
        let out = self.model.dtypes_of(&op.set).iter().flat_map(|d| results(d));
        quote!(Some(#rt::KernelInfo::new(
            #source, #complex, &[#(#inputs),*], &[#(#elements),*], &[#(#params),*], &[#(#out),*],
        )))
    }
}

/// The `each` or `fold` mapping of a row, if any library has one.
fn elements_of(op: &Op) -> Option<&Map> {
    op.maps.values().find(|m| m.is_of_elements())
}

/// The composition of a row, if it is composed for any library.
fn composition_of(op: &Op) -> Option<&Form> {
    op.maps.values().find_map(|m| match m {
        Map::Compose(form) => Some(form),
        _ => None,
    })
}

/// `uint8` as the variant of `DType`.
pub fn camel_dtype(name: &str) -> String {
    match name.strip_prefix("uint").or(name.strip_prefix("bfloat")) {
        Some(bits) if name.starts_with('u') => format!("UInt{bits}"),
        Some(bits) => format!("BFloat{bits}"),
        None => camel(name),
    }
}
