//! Generates the reductions of `fold` rows. For each row, the struct whose fields are the row's numeric parameters
//! implements `EachFold`, by the expressions of the row.

use super::*;
use op_table::{
    expr::{Expr, Ty, cuda},
    fold::{FoldRole, numbers},
};

/// The C++ name of an element type. In the kernels, `E` is the dtype of the elements of the array.
fn c_type(elem: Elem) -> &'static str {
    match elem {
        Elem::T | Elem::U => "E",
        Elem::Real => "typename Types<E>::Real",
        Elem::Complex => "typename ComplexOf<E>::Type",
        Elem::Sum => "typename SumOf<E>::Type",
        Elem::Bool => "bool",
        Elem::UInt8 => "u8",
        Elem::Int32 => "int",
        Elem::Int64 => "i64",
    }
}

impl Expand<'_> {
    /// Generates the struct of a row's reduction, its loops for the CPU, and its source for the GPU.
    pub(super) fn fold_op(&self, op: &Op, fold: &Fold) -> TokenStream {
        let (path, declared) = self.scalar_struct(op);
        let dtypes = fold.dtypes(op, self.model);
        // if `T` has fewer dtypes in the expressions than in the row, it gets a narrower trait bound, whose trait has
        // more of the scalar functions (words)
        let all_have = |bound: &str| dtypes.iter().all(|dtype| has_bound(dtype, bound));
        let bound = match fold.reads_values() {
            true => id(BOUNDS.into_iter().find(|bound| all_have(bound)).unwrap_or("Element")),
            false => id(&op.bound),
        };
        let scope = |part| Op { bound: bound.to_string(), ..fold.scope(part, op) };
        let [map_op, join_op, none_op, finish_op] =
            [FoldRole::Map, FoldRole::Join, FoldRole::Identity, FoldRole::Finish].map(scope);
        let acc = elem(fold.value(op), &map_op);
        let values = numbers(op).map(|p| {
            let n = id(&p.name);
            if p.kind == Kind::Plain(Plain::Bool) { quote!(self.#n as u8 as f64) } else { quote!(self.#n) }
        });
        let open: Vec<Ident> = numbers(op).map(|p| id(&p.name)).collect();
        let open = (!open.is_empty()).then(|| quote!(let Self { #(#open),* } = *self;));
        let x = op.inputs().next().map_or_else(|| id("x"), |p| id(&p.name));
        let value = |e: &Expr, scope: &Op| {
            let value = self.scalar(e, scope);
            // casts the expression to the dtype of the values that the reduction joins, if it has another type
            let same = matches!(&e.ty, Ty::Element(elem) if *elem == fold.value(op));
            if same { value } else { quote!(rt::Element::cast::<#acc>(#value)) }
        };
        let map = fold.map.as_ref().map_or_else(|| quote!(#x), |map| value(&map.expr, &map_op));
        let (join, identity) = (self.scalar(&fold.join.expr, &join_op), self.scalar(&fold.identity.expr, &none_op));
        let finish = fold.finish.as_ref().map_or_else(|| quote!(a), |form| self.scalar(&form.expr, &finish_op));
        let finishes = fold.finish.is_some();
        let counts = fold.counts(op).then(|| {
            quote!(
                const COUNTS: bool = true;
            )
        });
        let loops = dtypes.iter().map(|dtype| {
            let dtype = id(&camel_dtype(dtype));
            quote!(rt::numpyish::reduction::FoldLoops::of::<rt::dtype_type!(#dtype), #path>(#finishes))
        });
        let (text, kernel, count) = (&op.name, self.fold_kernel(op, fold, &quote!(rt)), dtypes.len());
        quote! {
            #declared
            #[doc(hidden)]
            #[allow(unused_variables)]
            impl<T: rt::#bound> rt::EachFold<T> for #path {
                type Acc = #acc;
                type Out = #acc;
                #counts
                #[inline(always)]
                fn identity() -> #acc { #identity }
                #[inline(always)]
                fn map(&self, #x: T) -> #acc { #open #map }
                #[inline(always)]
                fn join(a: #acc, b: #acc) -> #acc { #join }
                #[inline(always)]
                fn finish(&self, a: #acc, n: f64) -> #acc { #open #finish }
            }
            #[doc(hidden)]
            impl rt::FoldSource for #path {
                const NAME: &'static str = #text;
                const CUDA: rt::FoldKernel = #kernel;
                fn loops() -> &'static [rt::numpyish::reduction::FoldLoops] {
                    // a static in a function that is not generic is compiled only here; a constant would be compiled
                    // again in every crate that uses it
                    static LOOPS: [rt::numpyish::reduction::FoldLoops; #count] = [#(#loops),*];
                    &LOOPS
                }
                fn params(&self) -> Vec<f64> { vec![#(#values),*] }
            }
        }
    }

    /// Generates the description of the reduction's kernel, with the expressions in CUDA C++.
    pub(super) fn fold_kernel(&self, op: &Op, fold: &Fold, rt: &TokenStream) -> TokenStream {
        let [map_op, join_op, none_op, finish_op] =
            [FoldRole::Map, FoldRole::Join, FoldRole::Identity, FoldRole::Finish].map(|part| fold.scope(part, op));
        let acc = c_type(op.result.elem());
        let element = info::elem(op.result.elem(), rt);
        let map = fold.map.as_ref().map_or_else(|| "x0".to_string(), |form| cuda::text(&form.expr, &map_op));
        let (join, identity) = (cuda::text(&fold.join.expr, &join_op), cuda::text(&fold.identity.expr, &none_op));
        let finish = match &fold.finish {
            None => quote!(None),
            Some(form) => {
                let text = format!("cast<U>({})", cuda::text(&form.expr, &finish_op));
                quote!(Some(#text))
            }
        };
        let params = numbers(op).map(|p| map_op.cuda_name(p));
        let finish_params = finish_op.params.iter().filter(|p| !p.is_array()).map(|p| finish_op.cuda_name(p));
        quote! {
            #rt::FoldKernel {
                acc: #acc,
                acc_element: #element,
                identity: #identity,
                map: #map,
                join: #join,
                finish: #finish,
                params: &[#(#params),*],
                finish_params: &[#(#finish_params),*],
            }
        }
    }

    /// Generates a call such as `reduction::fold(self, &ops::prod {}, x, axis, keepdims)`.
    pub(super) fn fold_call(&self, op: &Op, module: &TokenStream) -> TokenStream {
        let (path, result) = (self.scalar_path(op), elem(op.result.elem(), op));
        let numbers = numbers(op).map(|p| id(&p.name));
        let x = op.inputs().next().map_or_else(|| id("x"), |p| id(&p.name));
        quote!(#module::reduction::fold::<#result, T, _>(self, &#path { #(#numbers),* }, &*#x, axis, keepdims))
    }
}
