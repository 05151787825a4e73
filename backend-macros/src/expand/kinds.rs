//! The kinds of parameters and results in generated code. For each kind, this file has the Rust type of a parameter
//! in a method, its type in the function that the method calls, the code that reads it in a call by name, and its
//! description in the runtime's types. A new kind needs one more arm in [`Expand::code`].

use super::*;

/// The types and code of a parameter in generated code.
pub struct Code {
    /// The parameter's type in the method.
    pub method: TokenStream,
    /// The parameter's type in a function that is generic over a backend `B`, such as the function of a composition.
    pub function: TokenStream,
    /// The method (with its arguments) that converts the argument for the called function; `None` if the argument
    /// needs no conversion.
    pub convert: Option<TokenStream>,
    /// Makes the argument for the called function from the variable that contains the converted value.
    pub pass: fn(&Ident) -> TokenStream,
    /// The code with which a call by name reads the parameter from its list of values.
    read: Read,
    /// The variant of the runtime's `ParamKind`.
    pub info: TokenStream,
}

/// The code with which a call by name reads a parameter from its list of values.
enum Read {
    /// Calls a method of `Args`, with a type argument if `dtype` is set. `pass` converts the method's result to an
    /// argument of the op.
    Typed { function: &'static str, dtype: Option<TokenStream>, pass: fn(TokenStream) -> TokenStream },
    /// Reads a value of this type with the method `get` of `Args`.
    Value(TokenStream),
}

/// Returns the variable without a change.
fn itself(x: &Ident) -> TokenStream {
    quote!(#x)
}

/// The types and code of an option in generated code.
pub struct OptionCode {
    /// The type of the field in the options struct.
    pub field: TokenStream,
    /// The type of the setter's argument.
    pub argument: TokenStream,
    /// The expression that computes the field's value from the setter's argument. The argument has the parameter's
    /// name.
    pub set: TokenStream,
}

impl Expand<'_> {
    /// The types and code for parameters of this kind. `marker` is a type parameter, by which the compiler
    /// distinguishes operands by value, operands by reference, and numbers.
    pub fn code(&self, kind: &Kind, op: &Op, marker: &Ident) -> Code {
        let rt = self.rt();
        let value = |ty: TokenStream, info: TokenStream| Code {
            method: ty.clone(),
            function: ty.clone(),
            convert: None,
            pass: itself,
            read: Read::Value(ty),
            info,
        };
        let list = |item: TokenStream, info: TokenStream| Code {
            method: quote!(impl #rt::Numbers<#item>),
            function: quote!(&[#item]),
            convert: Some(quote!(numbers())),
            pass: itself,
            read: Read::Value(quote!(Vec<#item>)),
            info,
        };
        let typed = |function, dtype: Option<TokenStream>, pass| Read::Typed { function, dtype, pass };
        let same: fn(TokenStream) -> TokenStream = |read| read;
        match kind {
            Kind::Array(e) => {
                let (e, of) = (elem(*e, op), info::elem(*e, &rt));
                Code {
                    method: quote!(impl #rt::IntoArray<'a, Self::Array<#e>>),
                    function: quote!(&B::Array<#e>),
                    convert: Some(quote!(into_array())),
                    pass: |x| quote!(&*#x),
                    read: typed("array", Some(e), |read| quote!(&*#read)),
                    info: quote!(Array(#of)),
                }
            }
            Kind::Operand(e, absent) => {
                let (e, of) = (elem(*e, op), info::elem(*e, &rt));
                let operand = Code {
                    method: quote!(impl #rt::IntoOperand<'a, Self, #e, #marker>),
                    function: quote!(#rt::Operand<'_, B, #e>),
                    convert: Some(quote!(into_operand())),
                    pass: itself,
                    read: typed("operand", Some(e.clone()), |read| quote!(#read.operand())),
                    info: quote!(Operand(#of)),
                };
                let (end, function, info) = match absent {
                    Absent::Refused => return operand,
                    Absent::Lowest => (quote!(#rt::Lowest), "lower_bound", quote!(LowerBound(#of))),
                    Absent::Highest => (quote!(#rt::Highest), "upper_bound", quote!(UpperBound(#of))),
                };
                Code {
                    method: quote!(impl #rt::IntoBound<'a, Self, #e, #end, #marker>),
                    convert: Some(quote!(into_bound())),
                    read: typed(function, Some(e), |read| quote!(#read.operand())),
                    info,
                    ..operand
                }
            }
            Kind::Arrays(e) => {
                let (e, of) = (elem(*e, op), info::elem(*e, &rt));
                Code {
                    method: quote!(impl #rt::ArrayList<Self::Array<#e>>),
                    function: quote!(&[&B::Array<#e>]),
                    convert: Some(quote!(arrays())),
                    pass: |xs| quote!(&#xs),
                    read: typed("arrays", Some(e), |read| quote!(&#read.iter().map(|x| &**x).collect::<Vec<_>>())),
                    info: quote!(Arrays(#of)),
                }
            }
            Kind::Target(e) => {
                let (e, of) = (elem(*e, op), info::elem(*e, &rt));
                Code {
                    method: quote!(&mut Self::Array<#e>),
                    function: quote!(&mut B::Array<#e>),
                    convert: None,
                    pass: itself,
                    // the statement of `read_target` has already read the array
                    read: typed("array", Some(e), |_| quote!(&mut result)),
                    info: quote!(Target(#of)),
                }
            }
            Kind::Axes => Code {
                method: quote!(impl Into<#rt::Axes>),
                convert: Some(quote!(into())),
                ..value(quote!(#rt::Axes), quote!(Axes))
            },
            Kind::Lengths => Code {
                method: quote!(impl Into<#rt::Lengths>),
                convert: Some(quote!(into())),
                ..value(quote!(#rt::Lengths), quote!(Lengths))
            },
            Kind::Axis => Code {
                method: quote!(impl #rt::IntoAxis),
                convert: Some(quote!(axis())),
                ..value(quote!(isize), quote!(Axis))
            },
            Kind::AxisOrAll => Code {
                method: quote!(impl #rt::IntoAxisOrAll),
                convert: Some(quote!(axis_or_all())),
                ..value(quote!(Option<isize>), quote!(AxisOrAll))
            },
            Kind::Shape => list(quote!(usize), quote!(Shape)),
            Kind::Signed => {
                let name = &op.name;
                Code {
                    method: quote!(impl #rt::SignedNumbers),
                    convert: Some(quote!(signed(#name)?)),
                    pass: |x| quote!(&*#x),
                    ..list(quote!(isize), quote!(Signed))
                }
            }
            Kind::Widths => Code {
                method: quote!(impl #rt::IntoWidths),
                convert: Some(quote!(into_widths())),
                pass: |x| quote!(#x.as_slice()),
                read: Read::Value(quote!(#rt::Widths)),
                ..list(quote!(usize), quote!(Widths))
            },
            Kind::Number => Code {
                method: quote!(impl Into<#rt::Number>),
                convert: Some(quote!(into())),
                ..value(quote!(#rt::Number), quote!(Number))
            },
            Kind::Slices => Code {
                method: quote!(impl AsRef<[#rt::Slice]>),
                convert: Some(quote!(as_ref())),
                ..list(quote!(#rt::Slice), quote!(Slices))
            },
            Kind::Index => Code {
                method: quote!(impl #rt::IntoIndices<Self>),
                function: quote!(#rt::Indices<'_, B>),
                convert: Some(quote!(indices())),
                pass: itself,
                read: typed("index", None, |read| quote!(#read.indices())),
                info: quote!(Index),
            },
            // the array determines the dtype, so any number that converts to it is accepted, as for operands
            Kind::Scalar if op.inputs().any(|p| p.kind.elem() == Some(Elem::T) && p.default.is_none()) => Code {
                method: quote!(impl Into<#rt::Scalar<T>>),
                convert: Some(quote!(into().0)),
                read: typed("scalar", Some(quote!(T)), same),
                ..value(quote!(T), quote!(Scalar))
            },
            Kind::Scalar => Code { read: typed("scalar", Some(quote!(T)), same), ..value(quote!(T), quote!(Scalar)) },
            Kind::Host => Code {
                method: quote!(impl #rt::IntoHost<T>),
                function: quote!(#rt::HostArray<T>),
                convert: Some(quote!(into_host()?)),
                pass: itself,
                read: typed("host", Some(quote!(T)), same),
                info: quote!(Host),
            },
            Kind::Bytes => Code { read: typed("bytes", None, same), ..value(quote!(&[u8]), quote!(Bytes)) },
            Kind::Text => Code { read: typed("text", None, same), ..value(quote!(&str), quote!(Text)) },
            Kind::Plain(t) => {
                let of = info::plain(*t, &rt);
                value(plain(*t), quote!(Plain(#of)))
            }
            Kind::Maybe(t) => {
                let of = info::plain(*t, &rt);
                value(plain(*t), quote!(Maybe(#of)))
            }
            Kind::Choice(choice) => {
                let (names, ty) = (choice.names(), self.choice_type(choice));
                value(ty, quote!(Choice(&[#(#names),*])))
            }
        }
    }

    /// The result of [`Expand::code`] for uses in which the marker does not matter.
    fn code_of(&self, param: &Param, op: &Op) -> Code {
        self.code(&param.kind, op, &hidden("K"))
    }

    /// The Rust type of a choice, which the runtime or the code of a user's table declares.
    pub fn choice_type(&self, choice: &Choice) -> TokenStream {
        let (rt, home, name) = (self.rt(), self.home(), id(&choice.rust));
        if choice.of_runtime { quote!(#rt::#name) } else { quote!(#home #name) }
    }

    /// The types and code of an option. If the option is an array, `array` is the type parameter of the options
    /// struct for it.
    pub fn option_code(&self, param: &Param, op: &Op, array: &Ident) -> OptionCode {
        let value = id(&param.name);
        if let Kind::Array(_) = param.kind {
            let rt = self.rt();
            let field = quote!(Option<::std::borrow::Cow<'a, #array>>);
            let (argument, set) = (quote!(impl #rt::IntoArray<'a, #array>), quote!(Some(#value.into_array())));
            return OptionCode { field, argument, set };
        }
        let Code { method: argument, function, convert, .. } = self.code_of(param, op);
        let set = convert.map_or(quote!(#value), |by| quote!(#value.#by));
        match param.default {
            Some(DefaultValue::None) => {
                OptionCode { field: quote!(Option<#function>), argument, set: quote!(Some(#set)) }
            }
            _ => OptionCode { field: function, argument, set },
        }
    }

    /// The type of a parameter in a function that is generic over a backend `B`.
    pub fn function_type(&self, param: &Param, op: &Op) -> TokenStream {
        let ty = self.code_of(param, op).function;
        if param.default == Some(DefaultValue::None) { quote!(Option<#ty>) } else { ty }
    }

    /// Generates the expression that reads a positional argument from `args`, the values of a call by name.
    pub fn read_argument(&self, place: usize, param: &Param, op: &Op) -> TokenStream {
        match self.code_of(param, op).read {
            Read::Value(ty) => quote!(args.get::<#ty>(#place)?),
            Read::Typed { function, dtype, pass } => {
                let (function, dtype) = (id(function), dtype.map(|dtype| quote!(::<#dtype>)));
                pass(quote!(args.#function #dtype(#place)?))
            }
        }
    }

    /// Generates the statement that reads the target of a call by name into the variable `result`. Afterwards, the op
    /// changes the array in this variable.
    pub fn read_target(&self, place: usize, param: &Param, op: &Op) -> TokenStream {
        let e = elem(param.kind.elem().unwrap_or(Elem::T), op);
        quote!(let mut result = args.array::<#e>(#place)?.into_array();)
    }

    /// Generates the statements that read an option from the values of a call by name and, if the call gives this
    /// option, set it in `options`.
    pub fn read_option(&self, place: usize, param: &Param, op: &Op) -> TokenStream {
        let setter = id(&param.name);
        match self.code_of(param, op).read {
            Read::Value(ty) => {
                quote!(if let Some(value) = args.option::<#ty>(#place)? { options = options.#setter(value); })
            }
            // declares a variable for the value, because the value must outlive the options
            Read::Typed { function, dtype, .. } => {
                let function = format_ident!("optional_{function}");
                quote! {
                    let given = args.#function::<#dtype>(#place)?;
                    if let Some(given) = &given { options = options.#setter(&**given); }
                }
            }
        }
    }
}

/// Types and conversions of results in generated code.
impl Expand<'_> {
    /// The type that a method returns. `owner` is the type of the backend: `Self` or `B`.
    pub(super) fn output(&self, op: &Op, owner: &TokenStream) -> TokenStream {
        if op.target().is_some() {
            return quote!(());
        }
        match &op.result {
            Out::One(e) => {
                let e = elem(*e, op);
                quote!(#owner::Array<#e>)
            }
            Out::List(e) => {
                let e = elem(*e, op);
                quote!(Vec<#owner::Array<#e>>)
            }
            Out::Fields(fields) => {
                let (path, (_, dtypes)) = (self.result_path(op), self.result_dtypes(op, fields));
                quote!(#path<#owner, #dtypes>)
            }
            Out::Plain(t) => plain(*t),
        }
    }

    /// Generates the conversion of `result`, which the backend of one variant has returned, to a result of the enum
    /// of backends. `any` is the type of the enum's arrays, and `wrap_all` is the method that converts lists of
    /// arrays.
    pub(super) fn any_result(&self, op: &Op, member: &any::Member, result: &Ident) -> TokenStream {
        let any::Member { wrap, wrap_all, .. } = member;
        match &op.result {
            Out::One(_) => quote!(#wrap(#result)),
            Out::List(_) => quote!(#wrap_all(#result)),
            Out::Fields(fields) => {
                let (path, names) = (self.result_path(op), fields.iter().map(|f| id(&f.name)));
                quote!(#path { #(#names: #wrap(#result.#names)),* })
            }
            Out::Plain(_) => quote!(#result),
        }
    }

    /// Generates the conversion of the variable `result` to the value that a call by name returns.
    pub(super) fn result_value(&self, op: &Op) -> TokenStream {
        let rt = self.rt();
        let value = |e: Elem, array: TokenStream| {
            let e = elem(e, op);
            quote!(#rt::Value::array::<#e>(#array))
        };
        match &op.result {
            Out::One(e) => value(*e, quote!(result)),
            Out::Fields(fields) => {
                let fields = fields.iter().map(|f| {
                    let name = id(&f.name);
                    value(f.elem, quote!(result.#name))
                });
                quote!(#rt::Value::List(vec![#(#fields),*]))
            }
            Out::List(e) => {
                let (name, one) = (&op.name, value(*e, quote!(x)));
                quote!(#rt::Value::list(#name, result, |x| #one)?)
            }
            Out::Plain(_) => quote!(#rt::Value::from(result)),
        }
    }
}

/// The Rust type of an element type, such as `T` or `T::Real`.
pub fn elem(elem: Elem, op: &Op) -> TokenStream {
    match elem {
        Elem::T => quote!(T),
        Elem::U => quote!(U),
        Elem::Real if ["Float", "Real", "ComplexFloat", "Precision", "WideFloat"].contains(&op.bound.as_str()) => {
            quote!(T::Real)
        }
        Elem::Real => quote!(T::Magnitude),
        Elem::Complex => quote!(T::Complex),
        Elem::Sum => quote!(T::Sum),
        Elem::Bool => quote!(bool),
        Elem::UInt8 => quote!(u8),
        Elem::Int32 => quote!(i32),
        Elem::Int64 => quote!(i64),
    }
}
