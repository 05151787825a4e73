//! Generates the methods of `Lazy`, a formula that is not yet computed. There is a method for each row of the op table
//! that is a scalar expression, and for each row that reduces formulas.

use super::*;

impl Expand<'_> {
    /// Generates a method for each row whose expression takes only arrays of one dtype, and for each row that reduces
    /// formulas.
    pub(super) fn lazy(&self) -> TokenStream {
        let (root, rt) = (&self.root, self.rt());
        let takes_arrays = |op: &&Op| op.params.iter().all(Param::is_array) && !op.has_options();
        let rows = self.own().filter(|op| op.is_elementwise() && op.second.is_none() && !op.mixes_dtypes());
        let methods = rows.filter(takes_arrays).map(|op| self.lazy_method(op));
        let reductions = self.own().filter(|op| op.reduces_formulas()).map(|op| self.lazy_reduction(op));
        quote! {
            /// Methods for the rows of the op table that are scalar expressions.
            // the names of the methods are from the table, and the types are trees of nodes
            #[allow(clippy::should_implement_trait, clippy::type_complexity)]
            impl<X: #rt::formula::Typed, L> #root::Lazy<X, L> { #(#methods)* }

            /// Methods for the rows of the op table that reduce formulas. A formula is computed while it is reduced.
            impl<X: #rt::formula::Typed, L> #root::Lazy<X, L> { #(#reductions)* }
        }
    }

    /// Generates the method of a row that reduces formulas, and the variant of the method that takes options.
    fn lazy_reduction(&self, op: &Op) -> TokenStream {
        let (root, rt, name, items) = (&self.root, self.rt(), id(&op.name), self.ops_module());
        let (twin, options) = (format_ident!("{}_with", op.name), self.options_path(op));
        let doc = format!("{} See the op [`{}`]({items}::{}).", op.summary, op.name, op.name);
        let twin_doc =
            format!("Like [`Lazy::{}`]({root_lazy}::{}), with options.", op.name, op.name, root_lazy = "crate::Lazy");
        let (ty, axis) = match op.takes_one_axis() {
            true => (quote!(impl #rt::IntoAxis), quote!(#rt::Axes::from(axis.axis()))),
            false if op.takes_axis_or_all() => {
                (quote!(impl #rt::IntoAxisOrAll), quote!(#rt::Axes::from(axis.axis_or_all())))
            }
            false => (quote!(impl Into<#rt::Axes>), quote!(axis.into())),
        };
        let params: Vec<TokenStream> = op
            .positional()
            .filter_map(|p| match (&p.kind, p.name.as_str()) {
                (Kind::Array(_), _) => None,
                (_, "axis") => Some(quote!(axis: #ty)),
                (kind, name) => {
                    let (name, ty) = (id(name), if *kind == Kind::Plain(Plain::Bool) { id("bool") } else { id("f64") });
                    Some(quote!(#name: #ty))
                }
            })
            .collect();
        let given = op.positional().filter(|p| !p.is_array()).map(|p| id(&p.name));
        let fields = op_table::fold::numbers(op).map(|p| {
            let n = id(&p.name);
            if p.default.is_some() { quote!(#n: options.#n) } else { quote!(#n) }
        });
        quote! {
            #[doc = #doc]
            #[inline(always)]
            pub fn #name(self, #(#params),*) -> #root::lazy::Reduced<#items::#name, X, L> {
                self.#twin(#(#given,)* #options::new())
            }

            #[doc = #twin_doc]
            #[inline(always)]
            pub fn #twin(self, #(#params,)* options: #options) -> #root::lazy::Reduced<#items::#name, X, L> {
                #root::lazy::reduced(#items::#name { #(#fields),* }, self, #axis, options.keepdims)
            }
        }
    }

    fn lazy_method(&self, op: &Op) -> TokenStream {
        let (root, rt, name, items) = (&self.root, self.rt(), id(&op.name), self.ops_module());
        let doc = format!("{} See the op [`{}`]({items}::{}).", op.summary, op.name, op.name);
        let (item, lazy) = (quote!(#items::#name), quote!(#root::lazy));
        let others: Vec<Ident> = op.inputs().skip(1).map(|p| id(&p.name)).collect();
        // for each operand after the first: the trait bound of its type, and the method that converts it to a term of
        // a formula
        let terms: Vec<(TokenStream, TokenStream)> = op
            .inputs()
            .skip(1)
            .map(|p| match p.kind {
                Kind::Operand(_, Absent::Lowest) => (quote!(#lazy::Bound<#rt::Lowest>), quote!(into_bound())),
                Kind::Operand(_, Absent::Highest) => (quote!(#lazy::Bound<#rt::Highest>), quote!(into_bound())),
                _ => (quote!(#lazy::Term), quote!(into_term())),
            })
            .collect();
        let x = quote!(<X as #rt::formula::Typed>::Out);
        match (others.as_slice(), terms.as_slice()) {
            ([], _) => quote! {
                #[doc = #doc]
                #[inline(always)]
                pub fn #name(self) -> #lazy::One<#item, X, L>
                where
                    #x: #rt::formula::Single,
                    #item: #rt::Each<1, <#x as #rt::formula::Single>::DType>,
                {
                    #lazy::one(#item {}, self)
                }
            },
            ([y], [(bound, into)]) => quote! {
                #[doc = #doc]
                #[inline(always)]
                pub fn #name<Y: #bound>(self, #y: Y) -> #lazy::Two<#item, X, L, Y::Tree, Y::Leaves>
                where
                    #x: #rt::formula::Join<<Y::Tree as #rt::formula::Typed>::Out>,
                    #item: #rt::Each<2, #lazy::DTypeOf<X, Y::Tree>>,
                {
                    #lazy::two(#item {}, self, #y.#into)
                }
            },
            ([y, z], [(bound, into), (bound_2, into_2)]) => quote! {
                #[doc = #doc]
                #[inline(always)]
                pub fn #name<Y: #bound, Z: #bound_2>(
                    self,
                    #y: Y,
                    #z: Z,
                ) -> #lazy::Three<#item, X, L, Y::Tree, Y::Leaves, Z::Tree, Z::Leaves>
                where
                    #x: #rt::Element,
                    <Y::Tree as #rt::formula::Typed>::Out: #rt::formula::Fits<#x>,
                    <Z::Tree as #rt::formula::Typed>::Out: #rt::formula::Fits<#x>,
                    #item: #rt::Each<3, #x>,
                {
                    #lazy::three(#item {}, self, #y.#into, #z.#into_2)
                }
            },
            _ => quote!(),
        }
    }
}
