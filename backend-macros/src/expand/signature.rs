//! Generates the signature of the method of an op table's row, and the conversion of the method's arguments.

use super::*;

/// Silences clippy's limit on the number of arguments, which counts `self`. A row may have more parameters than the
/// limit.
pub(super) fn many_arguments(count: usize) -> Option<TokenStream> {
    (count > 7).then(|| quote!(#[allow(clippy::too_many_arguments)]))
}

/// Returns whether the method of an op takes a complex operand beside a real one: the op is a scalar expression of two
/// operands, and its dtypes include complex ones.
pub(super) fn pairs_operands(op: &Op) -> bool {
    let operands = op.positional().filter(|p| p.kind == Kind::Operand(Elem::T, Absent::Refused)).count();
    op.is_elementwise()
        && op.second.is_none()
        && (operands, op.inputs().count()) == (2, 2)
        && ["Element", "Numeric", "Float"].contains(&op.bound.as_str())
}

/// Generates the type arguments of a call of the op's method after its dtypes: a `_` for each type that the compiler
/// infers, after a comma.
pub(super) fn inferred(op: &Op) -> TokenStream {
    let operands = op.positional().filter(|p| matches!(p.kind, Kind::Operand(..))).count();
    let types = if pairs_operands(op) { 2 * operands } else { operands };
    std::iter::repeat_n(quote!(, _), types).collect()
}

impl Expand<'_> {
    /// Generates the dtypes of a method as type parameters, such as `U: Bound, T: Bound`.
    pub(super) fn dtypes(&self, op: &Op) -> TokenStream {
        let bound = self.bound(&op.set, &quote!());
        let second = op.second_set.as_ref().map(|set| {
            let bound = self.bound(set, &quote!());
            quote!(U: #bound,)
        });
        quote!(#second T: #bound)
    }

    /// The type of the method's argument that holds the options.
    fn options_type(&self, op: &Op) -> TokenStream {
        let path = self.options_path(op);
        let arrays: Vec<TokenStream> = op.optional_elems().into_iter().map(|e| elem(e, op)).collect();
        if arrays.is_empty() { path } else { quote!(#path<'_, #(Self::Array<#arrays>),*>) }
    }

    /// Generates the signature `fn name<..>(&self, ..) -> Result<..>` of a row's method. `with` selects the variant
    /// with options.
    pub(super) fn signature(&self, op: &Op, with: bool) -> TokenStream {
        let rt = self.rt();
        let name = if with { format_ident!("{}_with", op.name) } else { id(&op.name) };
        let dtypes = self.dtypes(op);
        let operands = op.positional().filter(|p| matches!(p.kind, Kind::Operand(..))).count();
        let markers: Vec<Ident> = (1..=operands).map(|i| format_ident!("K{i}")).collect();
        let (mut next, none) = (markers.iter(), hidden("K"));
        let pair = pairs_operands(op).then(|| (id("X1"), id("X2")));
        let pair_types = pair.as_ref().map(|(x, y)| {
            let bound = |other: &Ident, k: &Ident| quote!(#rt::OperandBeside<'a, Self, T, #other, #k>);
            let (of_x, of_y) = (bound(y, &markers[0]), bound(x, &markers[1]));
            quote!(, #x: #of_x, #y: #of_y)
        });
        let mut pair: Vec<Ident> = pair.into_iter().flat_map(|(x, y)| [y, x]).collect();
        let mut args: Vec<TokenStream> = op
            .positional()
            .map(|p| {
                let n = id(&p.name);
                let ty = match &p.kind {
                    Kind::Operand(..) if let Some(ty) = pair.pop() => quote!(#ty),
                    Kind::Operand(..) => self.code(&p.kind, op, next.next().unwrap_or(&none)).method,
                    kind => self.code(kind, op, &none).method,
                };
                quote!(#n: #ty)
            })
            .collect();
        if with {
            let ty = self.options_type(op);
            let options = hidden("options");
            args.push(quote!(#options: #ty));
        }
        let output = self.output(op, &quote!(Self));
        let borrows = op.positional().any(|p| matches!(p.kind, Kind::Array(_) | Kind::Operand(..)));
        let lifetime = borrows.then(|| quote!('a,));
        quote!(fn #name<#lifetime #dtypes #(, #markers)* #pair_types>(&self, #(#args),*) -> #rt::Result<#output>)
    }

    /// Generates code that runs `body` and, if the result is an error, stores in it the line that called the method.
    pub(super) fn located(&self, op: &Op, body: &TokenStream) -> TokenStream {
        let (rt, result, output) = (self.rt(), hidden("result"), self.output(op, &quote!(Self)));
        quote! {
            let mut #result: #rt::Result<#output> = { #body };
            #rt::locate(&mut #result, (::core::file!(), ::core::line!()));
            #result
        }
    }

    /// Generates the statements that convert the method's arguments for the function that the method calls. They do not
    /// destructure the options.
    pub(super) fn convert(&self, op: &Op) -> TokenStream {
        self.convert_operands(op, pairs_operands(op))
    }

    /// Generates the statements of [`Expand::convert`]. If `in_pairs` is true, an operand is converted beside the other
    /// one.
    fn convert_operands(&self, op: &Op, in_pairs: bool) -> TokenStream {
        let marker = hidden("K");
        let convert = op.positional().filter_map(|p| {
            let (n, code) = (id(&p.name), self.code(&p.kind, op, &marker));
            let (ty, by) = (code.function, code.convert?);
            if in_pairs && matches!(p.kind, Kind::Operand(..)) {
                return Some(quote!(let #n = #n.operand_beside(self)?;));
            }
            // for these kinds, the conversion determines the variable's type; for widths and signed numbers, this is an
            // owned type, although the called function takes a reference
            let inferred =
                p.is_array() || matches!(p.kind, Kind::Arrays(_) | Kind::Index | Kind::Widths | Kind::Signed);
            let ty = if inferred { quote!() } else { quote!(: #ty) };
            Some(quote!(let #n #ty = #n.#by;))
        });
        quote!(#(#convert)*)
    }

    /// Generates the argument by which a parameter is passed to a called function. The statements of
    /// [`Expand::convert`] precede the call.
    pub(super) fn passed(&self, param: &Param, op: &Op) -> TokenStream {
        let name = id(&param.name);
        if param.default.is_some() {
            return if matches!(param.kind, Kind::Array(_)) { quote!(#name.as_deref()) } else { quote!(#name) };
        }
        let code = self.code(&param.kind, op, &hidden("K"));
        (code.pass)(&name)
    }

    /// Generates the statements of [`Expand::convert`], and the statement that destructures the options into variables.
    pub(super) fn prepare(&self, op: &Op) -> TokenStream {
        let (convert, open) = (self.convert(op), self.open_options(op));
        quote!(#convert #open)
    }

    /// Generates the statements of [`Expand::prepare`] for a method whose operands have the same dtype.
    pub(super) fn prepare_alone(&self, op: &Op) -> TokenStream {
        let (convert, open) = (self.convert_operands(op, false), self.open_options(op));
        quote!(#convert #open)
    }

    /// Generates the statement that destructures the options into one variable for each option.
    pub(super) fn open_options(&self, op: &Op) -> Option<TokenStream> {
        op.has_options().then(|| {
            let (path, fields) = (self.options_path(op), op.optional().map(|p| id(&p.name)));
            let options = hidden("options");
            quote!(let #path { #(#fields,)* .. } = #options;)
        })
    }
}
