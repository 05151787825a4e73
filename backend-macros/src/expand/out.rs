//! Generates the methods that run an op and write its result to an existing array, as in `b.out(&mut y).exp(&x)?`.

use super::{signature::many_arguments, *};
use proc_macro2::{Group, TokenTree};

/// The element types of results that do not depend on the row's dtype, with their Rust types.
const FIXED: [(Elem, &str); 4] =
    [(Elem::Bool, "bool"), (Elem::UInt8, "u8"), (Elem::Int32, "i32"), (Elem::Int64, "i64")];

impl Expand<'_> {
    /// Generates a method for each row whose result is one array. The methods are generic over a backend `B` and,
    /// unless the dtype of the result is fixed, over the dtype `U` of the existing array.
    pub(super) fn outs(&self) -> TokenStream {
        let (rt, root) = (self.rt(), &self.root);
        let is_one = |op: &&Op| matches!(op.result, Out::One(_)) && op.target().is_none() && !op.options_hold_arrays();
        let rows = || self.own().filter(is_one);
        let is_fixed = |op: &Op| FIXED.iter().any(|(elem, _)| *elem == op.result.elem());
        let any = rows().filter(|op| !is_fixed(op)).map(|op| self.out_methods(op, &quote!(U)));
        let fixed = FIXED.into_iter().filter_map(|(elem, ty)| {
            let ty = id(ty);
            let mut methods =
                rows().filter(|op| op.result.elem() == elem).map(|op| self.out_methods(op, &quote!(#ty))).peekable();
            methods.peek()?;
            Some(quote! {
                /// Methods for the rows of the op table whose results have this dtype.
                impl<B: #root::Backend> #root::Out<'_, B, #ty> { #(#methods)* }
            })
        });
        quote! {
            /// Methods for the rows of the op table that return one array.
            impl<B: #root::Backend, U: #rt::Element> #root::Out<'_, B, U> { #(#any)* }
            #(#fixed)*
        }
    }

    /// Generates the method of a row, and the variant of the method that takes options.
    fn out_methods(&self, op: &Op, result: &TokenStream) -> TokenStream {
        let (rt, name, items) = (self.rt(), id(&op.name), self.ops_module());
        let markers: Vec<Ident> = (1..=op.inputs().count()).map(|i| format_ident!("K{i}")).collect();
        let of_result = op.result.elem() == Elem::T;
        let (mut next, none) = (markers.iter(), hidden("K"));
        let params: Vec<TokenStream> = op
            .positional()
            .map(|p| {
                let n = id(&p.name);
                let marker = if matches!(p.kind, Kind::Operand(..)) { next.next() } else { None };
                let ty = self.code(&p.kind, op, marker.unwrap_or(&none)).method;
                let ty = renamed(ty, of_result);
                quote!(#n: #ty)
            })
            .collect();
        let used = markers.len() - next.len();
        let markers = &markers[..used];
        let bound = self.bound(&op.set, &quote!());
        // declares `T`, the row's dtype, as a type parameter of the method, unless it equals the dtype `U` of the
        // result
        let dtype = match op.result.elem() {
            Elem::T => None,
            Elem::U | Elem::Bool | Elem::UInt8 | Elem::Int32 | Elem::Int64 => Some(quote!(T: #bound,)),
            elem => {
                let of = elem_name(elem, op);
                Some(quote!(T: #bound<#of = #result>,))
            }
        };
        let of_result = match (op.result.elem(), &op.second_set) {
            (Elem::T, _) => Some(quote!(where U: #bound)),
            (Elem::U, Some(set)) => {
                let bound = self.bound(set, &quote!());
                Some(quote!(where U: #bound))
            }
            _ => None,
        };
        let computed = if op.is_elementwise() { self.out_each(op) } else { self.out_call(op) };
        let borrows = op.positional().any(|p| matches!(p.kind, Kind::Array(_) | Kind::Operand(..)));
        let lifetime = borrows.then(|| quote!('a,));
        let doc = format!("{} See the op [`{}`]({items}::{}).", op.summary, op.name, op.name);
        let method = |name: &Ident, doc: &str, options: Option<TokenStream>, body: &TokenStream| {
            let many = many_arguments(1 + params.len() + usize::from(options.is_some()));
            quote! {
                #[doc = #doc]
                #[inline]
                #many
                pub fn #name<#lifetime #dtype #(#markers),*>(self, #(#params,)* #options) -> #rt::Result<()> #of_result { #body }
            }
        };
        let given: Vec<Ident> = op.positional().map(|p| id(&p.name)).collect();
        let second =
            after_keyword(op).map(|(second, doc)| method(&second, &doc, None, &quote!(self.#name(#(#given),*))));
        if !op.has_options() {
            let plain = method(&name, &doc, None, &computed);
            return quote!(#plain #second);
        }
        let (twin, path, options) = (format_ident!("{}_with", op.name), self.options_path(op), hidden("options"));
        let plain = method(&name, &doc, None, &quote!(self.#twin(#(#given,)* #path::new())));
        let doc = format!("Like [`Out::{}`](crate::Out::{}), with options.", op.name, op.name);
        let twin = method(&twin, &doc, Some(quote!(#options: #path)), &computed);
        quote!(#plain #twin #second)
    }

    /// Generates the body for a row that is a scalar expression. It computes the expression, and overwrites the
    /// memory of the existing array if possible.
    fn out_each(&self, op: &Op) -> TokenStream {
        let (rt, prepare) = (self.rt(), self.prepare_alone(op));
        let inputs = op.inputs().map(|p| {
            let n = id(&p.name);
            if matches!(p.kind, Kind::Array(_)) { quote!(#rt::Operand::Array(#n)) } else { quote!(#n) }
        });
        let (second, to) = match op.second {
            None => (quote!(), quote!()),
            Some(_) => (quote!(::<U>), quote!(to: ::core::marker::PhantomData)),
        };
        let (scalar, fields) = (self.scalar_path(op), op.params.iter().filter(|p| !p.is_array()).map(|p| id(&p.name)));
        let row = quote!(&#scalar #second { #(#fields,)* #to });
        if op.mixes_dtypes() {
            let each = format_ident!("each_of{}", op.inputs().count());
            return quote!(#prepare self.within.#each(#row, (#(#inputs,)*)));
        }
        quote!(#prepare self.within.each(#row, [#(#inputs),*]))
    }

    /// Generates the body for a row that is not a scalar expression. It calls the op, and replaces the existing array
    /// by the result.
    fn out_call(&self, op: &Op) -> TokenStream {
        let name = &op.name;
        let method = if op.has_options() { format_ident!("{}_with", op.name) } else { id(&op.name) };
        let given = op.positional().map(|p| id(&p.name));
        let options = op.has_options().then(|| hidden("options"));
        let markers = signature::inferred(op);
        let second = op.second.as_ref().map(|_| quote!(U,));
        let dtype = if op.result.elem() == Elem::T { id("U") } else { id("T") };
        quote! {
            let value = self.within.backend().#method::<#second #dtype #markers>(#(#given,)* #options)?;
            self.within.set(#name, value)
        }
    }
}

/// The name of the associated type of `T` that is the dtype of the result, such as `Real`.
fn elem_name(of: Elem, op: &Op) -> Ident {
    // takes the last token of a path such as `T::Real`
    let last = elem(of, op).into_iter().last();
    match last {
        Some(TokenTree::Ident(name)) => name,
        _ => id("Out"),
    }
}

/// Replaces names in a type from a backend's method: `Self` by `B` and, if `of_result` is true, `T` by the dtype `U`
/// of the result.
fn renamed(ty: TokenStream, of_result: bool) -> TokenStream {
    let token = |token| match token {
        TokenTree::Ident(name) if name == "Self" => TokenTree::Ident(id("B")),
        TokenTree::Ident(name) if of_result && name == "T" => TokenTree::Ident(id("U")),
        TokenTree::Group(group) => TokenTree::Group(Group::new(group.delimiter(), renamed(group.stream(), of_result))),
        other => other,
    };
    ty.into_iter().map(token).collect()
}
