//! Generates the module of ops, with a list of all ops. The module has a documented item for each row of the table,
//! which describes the op and can call it by name.

use super::{support::elements_of, *};
use crate::docs::{Links, Places};
use op_table::{expr::cuda, fold};

impl Expand<'_> {
    /// Name of the module of ops: `ops`, or the user's trait in lower case.
    pub fn ops_module(&self) -> Ident {
        self.extension.as_ref().map_or_else(|| id("ops"), |name| id(&snake(&name.to_string())))
    }

    /// The path of a row's item. The row may belong to the base table.
    pub(super) fn item_path(&self, op: &Op) -> TokenStream {
        let (root, name, home) = (&self.root, id(&op.name), self.home());
        if op.own {
            let module = self.ops_module();
            quote!(#home #module::#name)
        } else {
            quote!(#root::ops::#name)
        }
    }

    /// Name of the module of the structs of options.
    pub(super) fn options_module(&self) -> Ident {
        self.extension
            .as_ref()
            .map_or_else(|| id("options"), |name| format_ident!("{}_options", snake(&name.to_string())))
    }

    /// The name of the trait that has the row's method.
    fn owner(&self, op: &Op) -> String {
        self.extension.as_ref().map_or_else(|| camel(&op.group), ToString::to_string)
    }

    /// Generates the items of the rows of this macro call, and the constant `list`, which lists the items.
    pub(super) fn items(&self, list: &str) -> TokenStream {
        let (rt, module, list, each) = (self.rt(), self.ops_module(), id(list), self.private("each"));
        let own: Vec<&Op> = self.own().collect();
        let trait_name = self.extension.as_ref().map(ToString::to_string);
        let index = crate::docs::index(&own, trait_name.as_deref(), self.model);
        let (options, results) = (self.options_module().to_string(), self.results_module().to_string());
        let links = if self.extension.is_some() { Links::User } else { Links::Base };
        let structs = own.iter().map(|op| {
            let rust = crate::docs::rust_signature(self.signature(op, false));
            let places = Places { owner: &self.owner(op), options: &options, results: &results, links, rust };
            let page = crate::docs::page(op, &places, self.model);
            let (item, alias) = (self.op_struct(op), &op.alias);
            quote!(#[doc = #page] #(#[doc(alias = #alias)])* #item)
        });
        let described = own.iter().map(|op| self.described(op));
        let names = own.iter().map(|op| id(&op.name));
        quote! {
            #[allow(non_camel_case_types)]
            pub mod #module {
                #![doc = #index]
                // formulas use `__each` to find the structs of rows with a second dtype
                #[doc(hidden)]
                pub use super::#each as __each;
                #(#structs)*
            }
            #(#described)*
            /// Descriptions of all ops of the table, as data.
            pub const #list: &[#rt::OpInfo] = &[#(*#module::#names::INFO),*];
        }
    }

    /// The item of a row: a struct. Its fields are the numbers (scalar parameters) in the row's expressions, if there
    /// are any.
    fn op_struct(&self, op: &Op) -> TokenStream {
        if op.second.is_none() {
            return self.numbers_struct(op);
        }
        let name = id(&op.name);
        quote! {
            #[derive(Clone, Copy, Debug)]
            pub struct #name {}
        }
    }

    /// The struct of the numbers in a row's expressions. It also has the row's second dtype, if any, as a type
    /// parameter.
    pub(super) fn numbers_struct(&self, op: &Op) -> TokenStream {
        let name = id(&op.name);
        let numbers: Vec<&Param> = match elements_of(op) {
            None if !op.reduces_formulas() => Vec::new(),
            None | Some(Map::Fold(_)) => fold::numbers(op).collect(),
            Some(_) => op.params.iter().filter(|p| !p.is_array()).collect(),
        };
        let fields = numbers.into_iter().map(|p| {
            let (n, doc) = (id(&p.name), format!("The parameter `{}`.", p.name));
            let ty = if p.kind == Kind::Plain(Plain::Bool) { id("bool") } else { id("f64") };
            quote!(#[doc = #doc] pub #n: ::core::primitive::#ty)
        });
        let default = matches!(elements_of(op), Some(Map::Fold(_))).then(|| quote!(, Default));
        let (header, to) = match &op.second_set {
            None => (None, None),
            Some(set) => {
                let bound = self.bound(set, &quote!(super::));
                (Some(quote!(<U: #bound>)), Some(quote!(pub to: ::core::marker::PhantomData<fn() -> U>)))
            }
        };
        quote! {
            #[derive(Clone, Copy, Debug #default)]
            pub struct #name #header { #(#fields,)* #to }
        }
    }

    /// Generates a constant with the description of the row, and a function that calls the op by name.
    fn described(&self, op: &Op) -> TokenStream {
        let (rt, module, item, info) = (self.rt(), self.ops_module(), id(&op.name), self.info(op));
        let (bounds, row) = (self.backend_bounds(), self.row_constant(op));
        let called = self.by_entry(op, self.in_its_dtype(op, None));
        quote! {
            impl #module::#item {
                /// Description of the op's parameters and results, as data.
                pub const INFO: &'static #rt::OpInfo = &#info;

                /// Calls the op with values whose dtypes are known at run time. The call compiles this op only.
                #[track_caller]
                pub fn call<B: #bounds>(
                    b: &B,
                    args: &[#rt::Value<B>],
                    options: &[(&str, #rt::Value<B>)],
                ) -> #rt::Result<#rt::Value<B>> {
                    let args = &#rt::by_name::Args::new(b, Self::INFO, args, options)?;
                    #rt::located((|| { #called })(), (::core::file!(), ::core::line!()))
                }

                #row
            }
        }
    }

    /// Generates the `OpInfo` of the row. An `OpInfo` describes an op as data.
    fn info(&self, op: &Op) -> TokenStream {
        let (rt, Op { name, group, summary, numpy, accuracy, .. }) = (self.rt(), op);
        let dtypes = |set: &str| -> TokenStream {
            let dtypes = self.model.dtypes_of(set).iter().map(|d| {
                let d = id(&camel_dtype(d));
                quote!(#rt::DType::#d)
            });
            quote!(&[#(#dtypes),*])
        };
        let (from, to) = (dtypes(&op.set), op.second_set.as_deref().map_or(quote!(&[]), dtypes));
        let signature = crate::docs::signature(op);
        let backends = self.model.backends.iter().filter_map(|backend| {
            let (name, runs) = (&backend.name, op.runs(backend)?);
            Some(quote!((#name, #runs)))
        });
        let is_there = |is: fn(&Backend) -> bool| self.model.backends.iter().any(is);
        let (has_kernels, has_aten) = (is_there(|b| b.name == "cuda"), is_there(|b| b.aten));
        // if the row has another implementation on the GPU, its expression needs no kernel
        let kernel = op.maps.get("cuda").or(elements_of(op)).filter(|_| has_kernels);
        let kernel = kernel.map_or(quote!(None), |map| self.kernel(op, map));
        let fold = match elements_of(op) {
            Some(Map::Fold(fold)) if has_kernels => {
                let kernel = self.fold_kernel(op, fold, &rt);
                Some(quote!(.with_fold(#kernel)))
            }
            _ => None,
        };
        let said = op.columns.iter().map(|(name, word)| quote!((#name, #word)));
        let columns = (!op.columns.is_empty()).then(|| quote!(.with_columns(&[#(#said),*])));
        let names = &op.alias;
        let aliases = (!names.is_empty()).then(|| quote!(.with_aliases(&[#(#names),*])));
        let rust = crate::docs::rust_signature(self.signature(op, false));
        let places =
            Places { owner: &self.owner(op), options: "options", results: "results", links: Links::None, rust };
        let doc = crate::docs::page(op, &places, self.model);
        let (params, result) = (self.params_info(op), self.result_info(op));
        let aten = if has_aten { info::aten(op) } else { quote!(None) };
        quote! {
            #rt::OpInfo::new(
                #name, #group, #summary, #signature, #from, &[#(#backends),*], #numpy, #accuracy, #doc, #kernel,
            ).with_to_dtypes(#to) #fold .with_params(#params).with_result(#result) #columns #aliases .with_aten(#aten)
        }
    }

    /// The data with which the CUDA kernel of an `each` row can be compiled without a call of the op.
    fn kernel(&self, op: &Op, map: &Map) -> TokenStream {
        let Map::Each { real, complex } = map else {
            return quote!(None);
        };
        let (rt, with_complex) = (self.rt(), complex.is_some());
        let source = self.cuda_source(op, real);
        let complex = complex.as_ref().map_or_else(|| source.clone(), |form| cuda::text(&form.expr, op));
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
        let moved = if with_complex { Vec::new() } else { op.moved(&real.expr) };
        let moved = (!moved.is_empty()).then(|| quote!(.with_moved(&[#(#moved),*])));
        quote!(Some(#rt::KernelInfo::new(
            #source, #complex, &[#(#inputs),*], &[#(#elements),*], &[#(#params),*], &[#(#out),*],
        ) #moved))
    }
}
