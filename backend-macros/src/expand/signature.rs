//! The signature of a row's method.

use super::*;

/// An element type in terms of `T`.
pub fn elem(elem: Elem, op: &Op) -> TokenStream {
    match elem {
        Elem::T => quote!(T),
        Elem::U => quote!(U),
        Elem::Real if ["Float", "Real", "ComplexFloat", "Precision"].contains(&op.bound.as_str()) => {
            quote!(T::Real)
        }
        Elem::Real => quote!(T::Magnitude),
        Elem::Complex => quote!(T::Complex),
        Elem::Sum => quote!(T::Sum),
        Elem::Bool => quote!(bool),
        Elem::Int64 => quote!(i64),
    }
}

impl Expand<'_> {
    /// The type of the result, where `array` is the path of the array type.
    pub(super) fn output(&self, op: &Op, array: &TokenStream) -> TokenStream {
        let one = |e: &Elem| {
            let e = elem(*e, op);
            quote!(#array<#e>)
        };
        match &op.result {
            Out::One(e) => one(e),
            Out::Tuple(v) => {
                let v = v.iter().map(one);
                quote!((#(#v),*))
            }
            Out::List(e) => {
                let e = one(e);
                quote!(Vec<#e>)
            }
        }
    }

    /// `U: Bound, T: Bound`
    pub(super) fn dtypes(&self, op: &Op) -> TokenStream {
        let bound = self.bound(&op.set, &quote!());
        let second = op.second_set.as_ref().map(|set| {
            let bound = self.bound(set, &quote!());
            quote!(U: #bound,)
        });
        quote!(#second T: #bound)
    }

    /// The type of the options, where `array` is the path of the array type.
    pub(super) fn options_type(&self, op: &Op, array: &TokenStream) -> TokenStream {
        let path = self.options_path(op);
        if op.options_hold_arrays() { quote!(#path<'_, #array<T>>) } else { path }
    }

    /// `fn name<..>(&self, ..) -> Result<..>`; `with` is the twin that takes the options.
    pub(super) fn signature(&self, op: &Op, with: bool) -> TokenStream {
        let rt = self.rt();
        let name = if with { format_ident!("{}_with", op.name) } else { id(&op.name) };
        let dtypes = self.dtypes(op);
        let operands = op.positional().filter(|p| matches!(p.kind, Kind::Operand(_))).count();
        let markers: Vec<Ident> = (1..=operands).map(|i| format_ident!("K{i}")).collect();
        let mut next = markers.iter();
        let mut args: Vec<TokenStream> = op
            .positional()
            .map(|p| {
                let n = id(&p.name);
                let ty = match &p.kind {
                    Kind::Array(e) => {
                        let e = elem(*e, op);
                        quote!(&Self::Array<#e>)
                    }
                    Kind::Operand(e) => {
                        let (e, k) = (elem(*e, op), next.next());
                        quote!(impl #rt::IntoOperand<Self, #e, #k>)
                    }
                    Kind::Arrays(e) => {
                        let e = elem(*e, op);
                        quote!(&[&Self::Array<#e>])
                    }
                    Kind::Axes => quote!(impl Into<#rt::Axes>),
                    Kind::Axis => quote!(impl #rt::IntoAxis),
                    Kind::Shape => quote!(impl #rt::Numbers<usize>),
                    Kind::Signed => quote!(impl #rt::Numbers<isize>),
                    Kind::Slices => quote!(impl AsRef<[#rt::Slice]>),
                    Kind::Scalar => quote!(T),
                    Kind::Host => quote!(impl #rt::IntoHost<T>),
                    Kind::Bytes => quote!(&[u8]),
                    Kind::Plain(t) => plain(*t),
                    Kind::Choice(t) => {
                        let t = id(t);
                        quote!(#rt::#t)
                    }
                    Kind::Maybe(_) | Kind::Lengths => unreachable!("these have a default"),
                };
                quote!(#n: #ty)
            })
            .collect();
        if with {
            let ty = self.options_type(op, &quote!(Self::Array));
            let options = hidden("options");
            args.push(quote!(#options: #ty));
        }
        let output = self.output(op, &quote!(Self::Array));
        quote!(fn #name<#dtypes #(, #markers)*>(&self, #(#args),*) -> #rt::Result<#output>)
    }

    /// The statements that turn the arguments of the method into those of a function that it calls.
    pub(super) fn prepare(&self, op: &Op) -> TokenStream {
        let rt = self.rt();
        let convert = op.positional().filter_map(|p| {
            let n = id(&p.name);
            Some(match p.kind {
                Kind::Operand(_) => quote!(let #n = #n.operand();),
                Kind::Axes => quote!(let #n: #rt::Axes = #n.into();),
                Kind::Axis => quote!(let #n: isize = #n.axis();),
                Kind::Shape => quote!(let #n: &[usize] = #n.numbers();),
                Kind::Signed => quote!(let #n: &[isize] = #n.numbers();),
                Kind::Slices => quote!(let #n: &[#rt::Slice] = #n.as_ref();),
                Kind::Host => quote!(let #n: #rt::HostArray<T> = #n.into_host()?;),
                _ => return None,
            })
        });
        let open = op.has_options().then(|| {
            let (path, fields) = (self.options_path(op), op.optional().map(|p| id(&p.name)));
            let options = hidden("options");
            quote!(let #path { #(#fields,)* .. } = #options;)
        });
        quote!(#(#convert)* #open)
    }
}
