//! Generates the structs of results, for rows of the op table that return several arrays.

use super::*;

impl Expand<'_> {
    fn result_name(&self, op: &Op) -> Ident {
        format_ident!("{}Result", op.camel())
    }

    /// The name of the module that contains the structs of results.
    pub(super) fn results_module(&self) -> Ident {
        self.extension
            .as_ref()
            .map_or_else(|| id("results"), |name| format_ident!("{}_results", snake(&name.to_string())))
    }

    /// Generates the module with the result structs of this table's rows. The structs are also re-exported next to
    /// the traits.
    pub(super) fn results_of_rows(&self) -> TokenStream {
        let structs: Vec<TokenStream> = self.own().filter_map(|o| self.result_struct(o)).collect();
        if structs.is_empty() {
            return quote!();
        }
        let (module, ops) = (self.results_module(), self.ops_module());
        let doc =
            format!("Results of ops that return several arrays: a struct for each such op of [`{ops}`](super::{ops}).");
        quote! {
            pub mod #module {
                #![doc = #doc]
                use super::*;
                #(#structs)*
            }
            #[doc(no_inline)]
            pub use #module::*;
        }
    }

    /// The path of a row's result struct. The row may belong to the base table.
    pub(super) fn result_path(&self, op: &Op) -> TokenStream {
        let (root, name, module) = (&self.root, self.result_name(op), self.results_module());
        let home = self.home();
        if op.own { quote!(#home #module::#name) } else { quote!(#root::results::#name) }
    }

    /// The dtypes over which the result struct is generic: first as declarations, such as `T: Float`, then as names.
    /// Both are empty if all fields have fixed dtypes.
    pub(super) fn result_dtypes(&self, op: &Op, fields: &[Field]) -> (TokenStream, TokenStream) {
        let is_open = |field: &Field| !matches!(field.elem, Elem::Bool | Elem::UInt8 | Elem::Int32 | Elem::Int64);
        if !fields.iter().any(is_open) {
            return (quote!(), quote!());
        }
        let second = op.second.is_some().then(|| quote!(U,));
        (self.dtypes(op), quote!(#second T))
    }

    /// Generates the struct of a row's results, with the field names from the table. A function that implements the row
    /// may return the arrays as a tuple, in the order of the fields. Therefore, the struct implements `From` for such a
    /// tuple.
    fn result_struct(&self, op: &Op) -> Option<TokenStream> {
        let Out::Fields(fields) = &op.result else { return None };
        let (rt, name, text) = (self.rt(), self.result_name(op), self.result_name(op).to_string());
        let (dtypes, named) = self.result_dtypes(op, fields);
        let names: Vec<Ident> = fields.iter().map(|f| id(&f.name)).collect();
        let texts = fields.iter().map(|f| &f.name);
        let types: Vec<TokenStream> = fields
            .iter()
            .map(|f| {
                let e = elem(f.elem, op);
                quote!(B::Array<#e>)
            })
            .collect();
        let docs = fields.iter().map(|f| format!("An array{}.", f.elem.describe()));
        let doc = format!("Result of [`{0}`](super::{1}::{0}).", op.name, self.ops_module());
        let parts = "Returns the arrays in the order of the fields.";
        Some(quote! {
            #[doc = #doc]
            #[derive(Clone)]
            pub struct #name<B: #rt::Arrays, #dtypes> { #(#[doc = #docs] pub #names: #types),* }

            impl<B: #rt::Arrays, #dtypes> #name<B, #named> {
                #[doc = #parts]
                pub fn into_parts(self) -> (#(#types,)*) { (#(self.#names,)*) }
            }

            impl<B: #rt::Arrays, #dtypes> From<(#(#types,)*)> for #name<B, #named> {
                fn from((#(#names,)*): (#(#types,)*)) -> Self { Self { #(#names),* } }
            }

            impl<B: #rt::Arrays, #dtypes> ::core::fmt::Debug for #name<B, #named> {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.debug_struct(#text)#(.field(#texts, &self.#names))*.finish()
                }
            }
        })
    }

    /// Converts the result of `call` to the result of the row's method. `call` calls a function that implements the
    /// row; if the row has a result struct, this function returns a tuple.
    pub(super) fn named(&self, op: &Op, call: TokenStream) -> TokenStream {
        if matches!(op.result, Out::Fields(_)) { quote!(#call.map(::core::convert::From::from)) } else { call }
    }
}
