//! Expands `#[derive(Params)]`, which allows gradients with respect to all arrays of a struct.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Fields, GenericParam, spanned::Spanned};

/// Implements `Params` for references to a struct whose first type parameter is its backend.
pub fn derive(input: &DeriveInput) -> syn::Result<TokenStream> {
    let name = &input.ident;
    let Data::Struct(data) = &input.data else {
        return Err(syn::Error::new(name.span(), "`Params` can be derived only for structs of arrays"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(syn::Error::new(
            data.fields.span(),
            "`Params` can be derived only for structs whose fields have names",
        ));
    };
    let generics = &input.generics;
    let Some(GenericParam::Type(backend)) = generics.params.first() else {
        let message = "the first type parameter of the struct must be its backend: `struct Network<B: Backend> { weights: B::Array<f64> }`";
        return Err(syn::Error::new(name.span(), message));
    };
    let b = &backend.ident;
    let of = |ty: TokenStream| {
        let rest = generics.params.iter().skip(1).map(|param| match param {
            GenericParam::Type(ty) => {
                let ty = &ty.ident;
                quote!(#ty)
            }
            GenericParam::Const(value) => {
                let value = &value.ident;
                quote!(#value)
            }
            GenericParam::Lifetime(lifetime) => {
                let lifetime = &lifetime.lifetime;
                quote!(#lifetime)
            }
        });
        quote!(#name<#ty #(, #rest)*>)
    };
    let (here, on_tape) = (of(quote!(#b)), of(quote!(::backends::grad::Diff<#b>)));
    let parameters = &generics.params;
    let bounds = generics.where_clause.as_ref().map(|clause| &clause.predicates);
    let is_constant = |field: &&syn::Field| field.attrs.iter().any(|a| a.path().is_ident("constant"));
    let lift = fields.named.iter().map(|field| {
        let n = &field.ident;
        if is_constant(&field) {
            quote!(#n: ::core::clone::Clone::clone(&self.#n))
        } else {
            quote!(#n: ::backends::grad::Params::<#b, _>::lift(&&self.#n, d))
        }
    });
    let collect = fields.named.iter().map(|field| {
        let n = &field.ident;
        if is_constant(&field) {
            quote!(#n: ::core::clone::Clone::clone(&self.#n))
        } else {
            quote!(#n: ::backends::grad::Params::<#b, _>::collect(&&self.#n, b, found, next)?)
        }
    });
    let names = fields.named.iter().filter(|field| !is_constant(field)).map(|field| {
        let n = &field.ident;
        let name = n.as_ref().map(|n| n.to_string().trim_start_matches("r#").to_string());
        quote!(::backends::grad::Params::<#b, _>::names(&&self.#n, &::backends::grad::joined(prefix, #name), names);)
    });
    let map = fields.named.iter().map(|field| {
        let n = &field.ident;
        if is_constant(&field) {
            quote!(#n: ::core::clone::Clone::clone(&self.#n))
        } else {
            quote!(#n: ::backends::grad::Params::<#b, _>::map(&&self.#n, f)?)
        }
    });
    let change = fields.named.iter().filter(|field| !is_constant(field)).map(|field| {
        let (n, ty) = (&field.ident, &field.ty);
        quote!(<&#ty as ::backends::grad::Params<#b, _>>::change(&mut params.#n, &beside.#n, f)?;)
    });
    Ok(quote! {
        impl<#parameters> ::backends::grad::Params<#b, ::backends::grad::Struct> for &#here
        where
            #b: ::backends::Backend,
            #bounds
        {
            type Vars = #on_tape;
            type Grads = #here;

            fn names(&self, prefix: &str, names: &mut ::std::vec::Vec<::std::string::String>) {
                #(#names)*
            }

            fn lift(&self, d: &::backends::grad::Diff<#b>) -> #on_tape {
                #name { #(#lift),* }
            }

            fn collect(
                &self,
                b: &#b,
                found: &mut ::backends::grad::Found<'_>,
                next: &mut usize,
            ) -> ::backends::Result<#here> {
                ::core::result::Result::Ok(#name { #(#collect),* })
            }

            fn map<__F: ::backends::grad::MapArrays<#b>>(&self, f: &mut __F) -> ::backends::Result<#here> {
                ::core::result::Result::Ok(#name { #(#map),* })
            }

            fn change<__F: ::backends::grad::ChangeArrays<#b>>(
                params: &mut #here,
                beside: &#here,
                f: &mut __F,
            ) -> ::backends::Result<()> {
                #(#change)*
                ::core::result::Result::Ok(())
            }
        }
    })
}
