//! Generates the declaration of the method of an op table's row in a trait.

use super::{signature::many_arguments, *};

impl Expand<'_> {
    /// Generates the documented method of a row, and the variant of the method that takes options.
    ///
    /// Both methods have default bodies, so that a new row does not break the backends of third parties, and so that
    /// rustdoc keeps the order of the table.
    pub(super) fn declare(&self, op: &Op) -> TokenStream {
        let (rt, name, alias) = (self.rt(), &op.name, &op.alias);
        let doc = crate::docs::method(op, &self.ops_module().to_string());
        let signature = self.signature(op, false);
        let given: Vec<Ident> = op.positional().map(|p| id(&p.name)).collect();
        let options = op.has_options().then(|| hidden("options")).into_iter();
        let unsupported = quote!({
            let _ = (#(#given,)* #(#options)*);
            Err(#rt::Error::unsupported(#name, <Self as #rt::Arrays>::NAME))
        });
        let attributes = quote!(#[doc = #doc] #(#[doc(alias = #alias)])* #[track_caller]);
        let (many, many_with_options) = (many_arguments(1 + given.len()), many_arguments(2 + given.len()));
        let second = after_keyword(op).map(|(second, doc)| {
            let (method, signature) = (id(name), renamed_to(&second, signature.clone()));
            quote!(#[doc = #doc] #[inline] #[track_caller] #many #signature { self.#method(#(#given),*) })
        });
        if !op.has_options() {
            return quote!(#attributes #many #signature #unsupported #second);
        }
        let (twin, defaults) = (format_ident!("{}_with", op.name), self.options_path(op));
        let twin_signature = self.signature(op, true);
        let options_module = self.options_module().to_string();
        let twin_doc = crate::docs::method_with_options(op, &options_module, &self.options_name(op).to_string());
        quote! {
            #attributes
            #[inline]
            #many
            #signature { self.#twin(#(#given,)* #defaults::new()) }
            #[doc = #twin_doc]
            #[track_caller]
            #many_with_options
            #twin_signature #unsupported
            #second
        }
    }
}
