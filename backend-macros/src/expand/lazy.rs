//! The rows of scalar expressions as methods of lazy formulas.

use super::*;

impl Expand<'_> {
    /// A method for each row over one dtype that takes arrays and nothing else.
    pub(super) fn lazy(&self) -> TokenStream {
        let (root, rt) = (&self.root, self.rt());
        let takes_arrays = |op: &&Op| op.params.iter().all(Param::is_array) && !op.has_options();
        let rows = self.own().filter(|op| op.is_elementwise() && op.second.is_none() && !op.mixes_dtypes());
        let methods = rows.filter(takes_arrays).map(|op| self.lazy_method(op));
        quote! {
            /// The rows of the op table that are scalar expressions.
            #[allow(clippy::should_implement_trait, clippy::type_complexity)] // the names are the table's, the types those of nodes
            impl<X: #rt::formula::Typed, L> #root::Lazy<X, L> { #(#methods)* }
        }
    }

    fn lazy_method(&self, op: &Op) -> TokenStream {
        let (root, rt, name, items) = (&self.root, self.rt(), id(&op.name), self.ops_module());
        let doc = format!("{} The op [`{}`]({items}::{}).", op.summary, op.name, op.name);
        let (item, lazy) = (quote!(#items::#name), quote!(#root::lazy));
        let others: Vec<Ident> = op.inputs().skip(1).map(|p| id(&p.name)).collect();
        let x = quote!(<X as #rt::formula::Typed>::Out);
        match others.as_slice() {
            [] => quote! {
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
            [y] => quote! {
                #[doc = #doc]
                #[inline(always)]
                pub fn #name<Y: #lazy::Term>(self, #y: Y) -> #lazy::Two<#item, X, L, Y::Tree, Y::Leaves>
                where
                    #x: #rt::formula::Join<<Y::Tree as #rt::formula::Typed>::Out>,
                    #item: #rt::Each<2, #lazy::DTypeOf<X, Y::Tree>>,
                {
                    #lazy::two(#item {}, self, #y.into_term())
                }
            },
            [y, z] => quote! {
                #[doc = #doc]
                #[inline(always)]
                pub fn #name<Y: #lazy::Term, Z: #lazy::Term>(
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
                    #lazy::three(#item {}, self, #y.into_term(), #z.into_term())
                }
            },
            _ => quote!(),
        }
    }
}
