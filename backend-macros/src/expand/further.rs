//! Implements the trait of a user's table for one more backend: for the backend of an overlay (a table that adds a
//! library to existing ops), or for an enum of backends.

use super::{any::any_of, *};

impl Expand<'_> {
    /// Implements the trait of the user's table for the backend of an overlay. For rows without a mapping, the
    /// default body of the method remains, which returns `Unsupported`.
    pub fn further_overlay(&self, column: &Backend) -> TokenStream {
        let has = |op: &&Op| column.wrap || op.maps.contains_key(&column.name);
        let ops: Vec<&Op> = self.own().filter(has).collect();
        self.with_methods(self.implement(&self.trait_path(), column, &ops))
    }

    /// Implements the trait of a user's table for a backend that computes gradients or tangents. For the backend of
    /// gradients, which records ops, also generates the gradient rules of the table's rows.
    pub fn recorded_extension(&self, column: &Backend) -> TokenStream {
        let (further, rules) = (self.further_overlay(column), column.records.then(|| self.rules(column)));
        quote!(#further #rules)
    }

    /// Implements the trait of the user's table for the enum `name` of the backends `types`.
    pub fn further_any(&self, name: &Ident, types: &[syn::Path]) -> TokenStream {
        let ops: Vec<&Op> = self.own().collect();
        self.with_methods(self.implement_any_of(&self.trait_path(), &any_of(name, types), &ops, false))
    }

    /// The path of the trait of the user's table.
    fn trait_path(&self) -> TokenStream {
        let (home, name) = (self.home(), &self.extension);
        quote!(#home #name)
    }

    /// Wraps code so that it can call the ops of the base table and of the user's table as methods, whatever names
    /// are in scope at the macro call.
    fn with_methods(&self, code: TokenStream) -> TokenStream {
        let (root, path) = (&self.root, self.trait_path());
        let groups = self.model.groups.iter().map(|group| id(&camel(&group.name)));
        quote! {
            #[allow(unused_imports, unused_parens, clippy::all)]
            const _: () = {
                #(use #root::#groups as _;)*
                use #path as _;
                #code
            };
        }
    }
}
