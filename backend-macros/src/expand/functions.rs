//! Generates a function for each row of the op table, such as `functions::sum(&x, ..)?`. It runs the op on the
//! current backend.

use super::*;
use proc_macro2::{Delimiter, Group, TokenTree};

impl Expand<'_> {
    /// Generates the module `functions`. It has a function for each row, and a second function for each row with
    /// options.
    pub(super) fn functions(&self) -> TokenStream {
        let functions = self.own().map(|op| {
            let plain = self.function(op, false);
            let with = op.has_options().then(|| self.function(op, true));
            quote!(#plain #with)
        });
        quote! {
            /// The ops as functions over the [current](crate::current) backend, for code that passes no backend around.
            ///
            /// The functions take and return [`AnyArray`](crate::AnyArray). For an array of another backend, they
            /// return an error that explains the conversion.
            ///
            /// ```
            /// use backends::{Error, current, functions as np, prelude::*};
            ///
            /// let x: AnyArray<f64> = np::linspace(0.0, 1.0, 5)?;
            /// let y = np::sum(np::multiply(&x, 2.0)?, ..)?;
            /// assert_eq!(current()?.item(y)?, 5.0);
            /// # Ok::<(), Error>(())
            /// ```
            #[allow(clippy::module_name_repetitions, clippy::too_many_arguments)]
            pub mod functions {
                #[allow(unused_imports)]
                use super::*;
                #(#functions)*
            }
        }
    }

    /// Generates the function of a row, or, if `with` is true, its variant with options. The function has the
    /// signature of the method without `self`.
    fn function(&self, op: &Op, with: bool) -> TokenStream {
        let (root, rt, items) = (&self.root, self.rt(), self.ops_module());
        let method = if with { format_ident!("{}_with", op.name) } else { id(&op.name) };
        let backend = quote!(#root::AnyBackend);
        let signature = of_backend(self.signature(op, with), &backend, &quote!(<#backend as #rt::Arrays>));
        let doc = match with {
            false => format!("{} See the op [`{}`]({items}::{}).", op.summary, op.name, op.name),
            true => format!("Like [`{}`]({}), with options.", op.name, op.name),
        };
        let given: Vec<Ident> = op.positional().map(|p| id(&p.name)).collect();
        let options = with.then(|| hidden("options"));
        let second_dtype = op.second.as_ref().map(|_| quote!(U,));
        let markers = signature::inferred(op);
        let second = after_keyword(op).filter(|_| !with).map(|(second, doc)| {
            let (function, signature) = (id(&op.name), renamed_to(&second, signature.clone()));
            quote!(#[doc = #doc] #[inline] #[track_caller] pub #signature { #function(#(#given),*) })
        });
        quote! {
            #[doc = #doc]
            #[inline]
            #[track_caller]
            pub #signature {
                #root::current()?.#method::<#second_dtype T #markers>(#(#given,)* #options)
            }
            #second
        }
    }
}

/// Converts the signature of a method to the signature of a function: removes `&self`, and replaces `Self` by the
/// backend.
fn of_backend(signature: TokenStream, backend: &TokenStream, arrays: &TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut tokens = signature.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            // in the method, `Self::` begins an associated type of the backend, and `Self` without `::` is the
            // backend itself
            TokenTree::Ident(name) if name == "Self" => match tokens.peek() {
                Some(TokenTree::Punct(next)) if next.as_char() == ':' => out.extend(arrays.clone()),
                _ => out.extend(backend.clone()),
            },
            TokenTree::Group(group) => {
                let receiver = quote!(&self,).to_string();
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let begin = inner.iter().take(3).cloned().collect::<TokenStream>().to_string();
                let is_receiver = group.delimiter() == Delimiter::Parenthesis && begin == receiver;
                let inner = inner.into_iter().skip(if is_receiver { 3 } else { 0 }).collect();
                out.extend([TokenTree::Group(Group::new(group.delimiter(), of_backend(inner, backend, arrays)))]);
            }
            other => out.extend([other]),
        }
    }
    out
}
