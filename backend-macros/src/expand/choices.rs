//! Generates the choices of an op table, which are parameter types with a fixed list of values. The choices of a user's
//! table become enums in the user's crate. The choices of the base table are enums of the runtime; for these, this file
//! generates checks that the enums agree with the table.

use super::*;

impl Expand<'_> {
    /// Generates the enums of a user's table. For the base table, generates assertions that the values of the
    /// runtime's enums have the same names as in the table.
    pub(super) fn choices(&self) -> TokenStream {
        let rt = self.rt();
        let choices = self.model.choices.iter().map(|choice| {
            let (ty, names, summary) = (id(&choice.rust), choice.names(), &choice.summary);
            if choice.of_runtime {
                let message =
                    format!("`[choice.{}]` has other names than the runtime's `{}`", choice.name, choice.rust);
                let is_right = self.extension.is_none() && !self.model.broken.contains(&choice.name);
                return is_right.then(|| {
                    quote!(
                        const _: () = assert!(#rt::same_names(#rt::#ty::NAMES, &[#(#names),*]), #message);
                    )
                });
            }
            let variants = names.iter().map(|name| id(&camel(name)));
            let docs = choice.values.iter().map(|(_, doc)| doc);
            Some(quote! {
                #rt::choice! {
                    #[doc = #summary]
                    #ty { #(#[doc = #docs] #variants = #names,)* }
                }
            })
        });
        quote!(#(#choices)*)
    }
}
