//! Generates the implementation of a group of ops for one library: thin methods that call the functions that the rows
//! of the op table name.

use super::*;

impl Expand<'_> {
    /// The path of the module that has the functions of a library. It is a module of the runtime, or a path in the
    /// user's crate.
    pub(super) fn module(&self, backend: &Backend) -> TokenStream {
        let (rt, module) = (self.rt(), tokens(&backend.module));
        if backend.module.contains("::") { module } else { quote!(#rt::#module) }
    }

    /// The type of the backend, as Rust code.
    pub(super) fn backend_type(&self, backend: &Backend) -> TokenStream {
        if backend.records {
            // writes the path in full, because the generated code of a user's table uses it too
            let root = &self.root;
            return quote!(#root::grad::Diff<B>);
        }
        if backend.tangents {
            let root = &self.root;
            return quote!(#root::grad::Jvp<B>);
        }
        let (module, ty) = (self.module(backend), tokens(&backend.ty));
        if backend.ty.contains("::") { ty } else { quote!(#module::#ty) }
    }

    pub(super) fn implement(&self, name: &TokenStream, backend: &Backend, ops: &[&Op]) -> TokenStream {
        let ty = self.backend_type(backend);
        let methods = ops.iter().map(|o| self.method(o, backend));
        let generics = self.generics(backend);
        // hidden, because otherwise the methods of the traits would fill the documentation pages of the backend types
        quote!(#[doc(hidden)] impl #generics #name for #ty { #(#methods)* })
    }

    /// Generates the type parameters of the implementation, such as `<B: Backend>` for a backend that wraps another
    /// one.
    fn generics(&self, backend: &Backend) -> Option<TokenStream> {
        let parameters = backend.generics.iter().map(|(name, bound)| {
            let (name, path, bounds) = (id(name), tokens(bound), self.backend_bounds());
            if bound == "Backend" { quote!(#name: #bounds) } else { quote!(#name: #path) }
        });
        (!backend.generics.is_empty()).then(|| quote!(<#(#parameters),*>))
    }

    pub(super) fn method(&self, op: &Op, backend: &Backend) -> TokenStream {
        let is_wrapped = backend.wrap && !op.maps.contains_key(&backend.name);
        let signature = self.signature(op, op.has_options());
        if !backend.wrap {
            let (prepare, mut body) = (self.prepare(op), self.body(op, backend));
            // true if the called function stores the position of the call in its errors; otherwise, the generated
            // method does this
            let stores_place = match op.maps.get(&backend.name) {
                Some(Map::Call(path)) => backend.is_raw(path),
                Some(Map::Each { .. }) => !backend.raw || backend.name == "numpyish",
                _ => false,
            };
            if !stores_place {
                body = self.located(op, &body);
            }
            return quote!(#[inline] #signature { #prepare #body });
        }
        if backend.differentiates() {
            let body = if backend.tangents { self.with_tangents(op, backend) } else { self.recorded(op, backend) };
            let convert = self.convert(op);
            return quote!(#[inline] #signature { #convert #body });
        }
        if backend.splits {
            let (convert, compared, body) = (self.convert(op), self.compared(op), self.split(op, backend));
            return quote!(#[inline] #signature { #convert #compared #body });
        }
        let (convert, begin) = (self.convert(op), self.begin(op, &quote!(self), !is_wrapped));
        let run = match is_wrapped {
            true => self.wrapped(op),
            false => {
                let (open, body) = (self.open_options(op), self.located(op, &self.body(op, backend)));
                quote!(#open #body)
            }
        };
        quote!(#[inline] #signature { #convert #begin #run })
    }

    pub(super) fn body(&self, op: &Op, backend: &Backend) -> TokenStream {
        let (rt, module, name) = (self.rt(), self.module(backend), &op.name);
        let all: Vec<TokenStream> = op.params.iter().map(|p| self.passed(p, op)).collect();
        match op.maps.get(&backend.name) {
            Some(Map::Each { .. }) => self.each_call(op, &module),
            Some(Map::Fold(_)) => self.fold_call(op, &module),
            Some(Map::Call(path)) if backend.is_raw(path) => self.raw_call(op, &module, path),
            Some(Map::Call(path)) => {
                // the path is a function of the table's own crate, or of the library's module
                let own = path.starts_with("crate::");
                let path = function(path);
                let called = if own { quote!(#path) } else { quote!(#module::#path) };
                of_row(op, self.named(op, quote!(#called(self, #(#all),*))))
            }
            Some(map @ (Map::Compose(_) | Map::Generic(_))) => self.over_any_backend(op, map, &quote!(self)),
            Some(Map::Aten(Aten { name: aten, overload, args, via })) => {
                let (aten, via) = (format!("aten::{aten}"), id(&camel(via)));
                let args = args.iter().map(|a| self.aten_argument(a, op, &module));
                let call = self.named(op, quote!(#module::aten::<T, _>(self, &ATEN, &[#(#args),*])));
                quote! {
                    static ATEN: #module::Aten = #module::Aten::new(#name, #aten, #overload, #module::DtypeStrategy::#via);
                    #call
                }
            }
            None => {
                quote!(Err(#rt::Error::unsupported(#name, <Self as #rt::Arrays>::NAME)))
            }
        }
    }

    /// Generates the call of a row that is written once for any backend (`compose` or `generic`). The call runs on
    /// the backend `on`. Returns no code for other rows.
    pub(super) fn over_any_backend(&self, op: &Op, map: &Map, on: &TokenStream) -> TokenStream {
        let all: Vec<TokenStream> = op.params.iter().map(|p| self.passed(p, op)).collect();
        let call = self.called_on(op, map, on, &all);
        match map {
            Map::Generic(_) => of_row(op, self.named(op, call)),
            _ => call,
        }
    }

    /// Generates the call of a row that is written once for any backend, on the backend `on`, with these arguments.
    pub(super) fn called_on(&self, op: &Op, map: &Map, on: &TokenStream, all: &[TokenStream]) -> TokenStream {
        let name = &op.name;
        match map {
            Map::Compose(form) => {
                let function = id(name);
                // if the trait is in another module, the function of the composition is nested in the method
                let module = self.private("compose");
                let (place, composed) = match &self.home {
                    None => (Some(quote!(#module::)), None),
                    Some(_) => (None, Some(self.composed(op, form))),
                };
                quote!(#composed #place #function(#on, #(#all),*).map_err(|why| why.within(#name)))
            }
            Map::Generic(path) => {
                let root = &self.root;
                let here = match &self.home {
                    Some(home) if op.own => quote!(#home),
                    None if op.own => quote!(crate),
                    _ => quote!(#root),
                };
                let path = function(path);
                let second = op.second.is_some().then(|| quote!(::<_, U, _>));
                quote!(#here::#path #second(#on, #(#all),*).map_err(|why| why.within(#name)))
            }
            _ => quote!(),
        }
    }

    /// Generates a call such as `elementwise::each2(self, &ops::add {}, x1, x2)`.
    fn each_call(&self, op: &Op, module: &TokenStream) -> TokenStream {
        let rt = self.rt();
        let kind = if op.mixes_dtypes() { "each_of" } else { "each" };
        let (scalar, loops) = (self.scalar_path(op), format_ident!("{kind}{}", op.inputs().count()));
        let (second, to) = match op.second {
            None => (quote!(), quote!()),
            Some(_) => (quote!(::<U>), quote!(to: ::core::marker::PhantomData)),
        };
        let inputs = op.inputs().map(|p| {
            let n = id(&p.name);
            if matches!(p.kind, Kind::Array(_)) { quote!(#rt::Operand::Array(#n)) } else { quote!(#n) }
        });
        let fields = op.params.iter().filter(|p| !p.is_array()).map(|p| id(&p.name));
        quote!(#module::elementwise::#loops(self, &#scalar #second { #(#fields,)* #to }, #(#inputs),*))
    }

    fn aten_argument(&self, arg: &AtenArg, op: &Op, module: &TokenStream) -> TokenStream {
        match arg {
            AtenArg::Param(name) => {
                let Some(param) = op.param(name) else { return quote!() };
                let n = self.passed(param, op);
                match param.kind {
                    Kind::Scalar => quote!(#module::Arg::element(#n)),
                    Kind::Operand(..) => quote!(#module::Arg::from(&#n)),
                    _ => quote!(#module::Arg::from(#n)),
                }
            }
            AtenArg::None => quote!(#module::Arg::None),
            AtenArg::Bool(value) => quote!(#module::Arg::from(#value)),
            AtenArg::Decimal(value) => quote!(#module::Arg::from(#value)),
            AtenArg::Integer(value) => quote!(#module::Arg::from(#value)),
        }
    }
}

/// Generates the call of a function that a row names, through a macro that is named after the row.
///
/// Only the compiler knows whether the function exists and which arguments it takes. The compiler's error messages
/// name the macro, and thus the row.
pub(super) fn of_row(op: &Op, call: TokenStream) -> TokenStream {
    let name = format_ident!("row_{}", op.name);
    quote! {
        macro_rules! #name { () => { #call } }
        #name!()
    }
}
