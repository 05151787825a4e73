//! Lowers a formula to Rust code: a list of its leaves (the arrays and scalars in it), and a tree of scalar
//! expressions over these leaves, which one pass over memory computes. Subexpressions that are not scalar
//! expressions, such as `sum(x, 0)`, become leaves, too; earlier steps compute them.

use super::{
    Result, mistake,
    print::{print, reduced},
    rows::{Over, Parameter, Row, Rows},
    tree::{Argument, Formula, Number, Target, Whole},
};
use crate::expand::id;
use op_table::model::camel;
use proc_macro2::{Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};

/// Maximum number of leaves in one pass. If a formula exceeds a limit of a pass, earlier passes compute some of its
/// subexpressions. (The runtime accepts at most 8 arrays.)
const MAX_LEAVES: usize = 8;
/// Maximum nesting depth of ops in one pass.
const MAX_DEPTH: usize = 40;
/// Maximum number of ops in one pass. (A GPU kernel accepts at most 128 numbers.)
const MAX_OPS: usize = 64;

/// Lowers a formula to a Rust expression of type `Result`. `written` is the text of the formula. `backend` is the
/// user's expression for the backend.
pub fn lower(backend: &TokenStream, whole: &Whole, rows: &Rows, written: String) -> Result<TokenStream> {
    let root = match rows.get("add") {
        Some(row) => row.path.clone(),
        None => return mistake(Span::call_site(), "the base table is missing"),
    };
    let mut steps = Steps {
        root: root.clone(),
        rows,
        written: Some(written),
        code: TokenStream::new(),
        count: 0,
        overwritten: None,
        rolled: Vec::new(),
        rolls_in_place: true,
    };
    let value = match whole {
        Whole::Value(formula) => steps.value(formula)?,
        Whole::Assign(target, formula) => steps.assigned(target, formula)?,
        Whole::Put(target, index, operator, formula) => steps.put(target, index, operator.as_ref(), formula)?,
    };
    let (code, rt) = (steps.code, quote!(#root::runtime));
    // in the generated code, the `match` extends the life of a temporary backend, and `?` returns from the closure
    let result = quote! {{
        #[allow(unused_imports)]
        use #rt::Arrays as _;
        match (#backend).as_backend() {
            // the value of the last step may be a call that ends in `?`
            #[allow(clippy::needless_question_mark)]
            __b => #rt::located(
                (|| -> #rt::Result<_> {
                    #code
                    // stored in a variable, because clippy would warn about `Ok(..?)` in the user's code
                    let __value = #value;
                    #rt::Result::Ok(__value)
                })(),
                ("", 0),
            ),
        }
    }};
    Ok(match whole {
        Whole::Value(_) | Whole::Put(..) => result,
        Whole::Assign(target, _) => {
            let target = target.place();
            quote! {
                #result.map(|value| {
                    if let ::core::option::Option::Some(value) = value {
                        #target = value;
                    }
                })
            }
        }
    })
}

/// The steps that compute a formula, in the order of their execution.
struct Steps<'a> {
    root: TokenStream,
    rows: &'a Rows,
    /// The text of the whole formula, as the user wrote it. It is passed to the step that computes the value of the
    /// formula.
    written: Option<String>,
    code: TokenStream,
    /// Number of variables that the generated code defines so far.
    count: usize,
    /// The variable whose memory the result of the current pass may overwrite.
    overwritten: Option<Overwritten>,
    /// The arrays that the formula reads rolled.
    rolled: Vec<Rolled>,
    /// True if the loop of the current formula can read arrays rolled, without a copy.
    rolls_in_place: bool,
}

/// A call of `roll` in a formula. The formula reads the elements at shifted indices, if the backend can do so.
struct Rolled {
    /// The variable of the array with its shifts.
    value: Ident,
    /// The variable of the array, a leaf of the formula.
    leaf: Ident,
    /// The text of the array in the formula, if it is a variable of the user.
    source: Option<String>,
}

/// A variable whose memory the result of a pass may overwrite.
struct Overwritten {
    /// The two texts with which a formula may refer to the variable, such as `*x` and `x`.
    names: [String; 2],
    place: TokenStream,
    /// The code of the variable's leaf, if the formula contains the variable. The leaf borrows the variable, so this
    /// code follows all other code.
    leaf: TokenStream,
}

impl Target {
    /// The target of the assignment, as the user wrote it.
    fn place(&self) -> TokenStream {
        let place = &self.place;
        if self.deref { quote!(*#place) } else { quote!(#place) }
    }
}

/// One pass over memory. Each leaf occurs once in it, even if the formula contains the leaf several times.
#[derive(Default)]
struct Pass {
    /// For each leaf, its text in the formula, and the variable that holds the leaf in the generated code.
    leaves: Vec<(String, Ident)>,
}

impl Pass {
    /// The variables of the leaves as nested pairs, such as `(x, (y, ()))`.
    fn list(&self) -> TokenStream {
        self.leaves.iter().rev().fold(quote!(()), |rest, (_, leaf)| quote!((#leaf, #rest)))
    }
}

impl Steps<'_> {
    fn variable(&mut self) -> Ident {
        self.count += 1;
        format_ident!("__x{}", self.count)
    }

    /// Generates an expression for the array that a formula computes.
    fn value(&mut self, formula: &Formula) -> Result<TokenStream> {
        let text = self.text(formula);
        match formula {
            Formula::Call(name, arguments, options) if !self.is_pass(formula)? => {
                self.eager(name, arguments, options, &text)
            }
            Formula::Index(x, index) => self.part(x, index),
            _ => {
                let fitted = self.fit(formula)?;
                self.pass(&fitted.formula, &text)
            }
        }
    }

    /// Returns the text of a formula for backends that watch calls. The first call returns the text of the whole
    /// formula, as the user wrote it; later calls print the given subexpression.
    fn text(&mut self, formula: &Formula) -> String {
        self.written.take().unwrap_or_else(|| print(formula))
    }

    /// Generates an expression for the new value of an assignment's target. At run time, its value is `None` if the
    /// new value has already overwritten the old one.
    fn assigned(&mut self, target: &Target, formula: &Formula) -> Result<TokenStream> {
        let (path, place) = (self.formula_path(), target.place());
        let new = |value: TokenStream| match target.keeps_shape {
            true => quote!(#path::same_shape(__b, &#place, #value)?),
            false => value,
        };
        if !self.is_pass(formula)? {
            let value = new(self.value(formula)?);
            return Ok(quote!(::core::option::Option::Some(#value)));
        }
        let text = self.text(formula);
        let fitted = self.fit(formula)?;
        let names = [place.to_string(), target.place.to_string()];
        let rolled = self.rolled_in(&fitted.formula);
        if rolled.iter().any(|&i| self.rolled[i].source.as_ref().is_some_and(|source| names.contains(source))) {
            // the loop would read elements that it has already overwritten
            let value = new(self.pass(&fitted.formula, &text)?);
            return Ok(quote!(::core::option::Option::Some(#value)));
        }
        self.overwritten = Some(Overwritten { names, place: place.clone(), leaf: TokenStream::new() });
        let mut pass = Pass::default();
        let shifts = self.shifts(&rolled, &mut pass);
        let tree = self.tree(&fitted.formula, &mut pass)?;
        let tree = quote!(#path::named(#text, #tree));
        let leaf = self.overwritten.take().map(|overwritten| overwritten.leaf);
        let (leaves, at) = (pass.list(), formula.span());
        self.code.extend(quote_spanned!(here(at) => let __alone = __b.is_alone(&mut #place); #leaf));
        let value = new(quote!(value));
        let (over, fresh) = match &shifts {
            None => (
                quote_spanned!(here(at) => __b.formula_over(&#tree, &#leaves, &#place)),
                quote_spanned!(here(at) => __b.formula(&#tree, &#leaves)),
            ),
            Some(shifts) => (
                quote_spanned!(here(at) => #path::rolled_over(__b, &#tree, &#leaves, #shifts, &#place)),
                quote_spanned!(here(at) => #path::rolled(__b, &#tree, &#leaves, #shifts)),
            ),
        };
        Ok(quote_spanned! { here(at) =>
            // SAFETY: `__alone` is read after all code that could clone the handle; if `__alone` is true, no other
            // handle shares the memory.
            match if __alone { unsafe { #over? } } else { ::core::option::Option::Some(#fresh?) } {
                ::core::option::Option::Some(value) => ::core::option::Option::Some(#value),
                ::core::option::Option::None => ::core::option::Option::None,
            }
        })
    }

    /// Returns whether a formula is computed in a pass over memory, not by a call of an op.
    fn is_pass(&self, formula: &Formula) -> Result<bool> {
        Ok(match formula {
            Formula::Call(name, ..) => self.row(name)?.each,
            Formula::Index(..) => false,
            _ => true,
        })
    }

    /// Generates an expression that computes a formula in one pass over memory.
    fn pass(&mut self, formula: &Formula, text: &str) -> Result<TokenStream> {
        let mut pass = Pass::default();
        let shifts = self.shifts(&self.rolled_in(formula), &mut pass);
        let tree = self.tree(formula, &mut pass)?;
        let (leaves, path, at) = (pass.list(), self.formula_path(), formula.span());
        let tree = quote_spanned!(here(at) => &#path::named(#text, #tree));
        Ok(match shifts {
            None => quote_spanned!(here(at) => __b.formula(#tree, &#leaves)?),
            Some(shifts) => quote_spanned!(here(at) => #path::rolled(__b, #tree, &#leaves, #shifts)?),
        })
    }

    /// The indices of the rolled arrays that a formula reads.
    fn rolled_in(&self, formula: &Formula) -> Vec<usize> {
        (0..self.rolled.len()).filter(|&i| reads(formula, &self.rolled[i].leaf)).collect()
    }

    /// Makes rolled arrays the first leaves of a pass. Returns the list of their shifts; `None` if there are none.
    fn shifts(&mut self, rolled: &[usize], pass: &mut Pass) -> Option<TokenStream> {
        for &i in rolled {
            let leaf = self.rolled[i].leaf.clone();
            self.leaf(leaf.to_string(), &quote!(#leaf), leaf.span(), pass);
        }
        let values = rolled.iter().map(|&i| &self.rolled[i].value);
        (!rolled.is_empty()).then(|| quote!(&[#(#values.shifts()),*]))
    }

    /// Generates an expression that computes a subexpression in one pass. The subexpression may also be a number.
    fn part_of_pass(&mut self, formula: &Formula) -> Result<TokenStream> {
        if !self.rolled_in(formula).is_empty() {
            return self.pass(formula, &print(formula));
        }
        let mut pass = Pass::default();
        let tree = self.tree(formula, &mut pass)?;
        let (leaves, path, at, text) = (pass.list(), self.formula_path(), formula.span(), print(formula));
        Ok(quote_spanned!(here(at) => #path::part(__b, &#path::named(#text, #tree), &#leaves)?))
    }

    /// Rewrites a formula so that one pass can compute it. Subexpressions that are not scalar expressions, or that
    /// would make the pass too long, are replaced by variables, which earlier steps compute.
    fn fit(&mut self, formula: &Formula) -> Result<Fitted> {
        match formula {
            Formula::Number(..) => Ok(Fitted { formula: formula.clone(), names: Vec::new(), depth: 0, ops: 0 }),
            // code that may have side effects must run exactly as often as the user wrote it
            Formula::Leaf(rust, at) if rust.clone().into_iter().any(|t| matches!(t, TokenTree::Group(_))) => {
                let variable = self.variable();
                self.code.extend(quote_spanned!(here(*at) => let #variable = &#rust;));
                Ok(Fitted::variable(&variable, *at))
            }
            Formula::Leaf(rust, _) => {
                Ok(Fitted { formula: formula.clone(), names: vec![rust.to_string()], depth: 0, ops: 0 })
            }
            Formula::Call(name, arguments, options) if self.row(name)?.each => {
                let mut operands = Vec::new();
                for argument in arguments {
                    operands.push(match argument {
                        Argument::Formula(formula) => Some(self.fit(formula)?),
                        _ => None,
                    });
                }
                while let Some(i) = too_long(&operands) {
                    if let Some(operand) = &mut operands[i] {
                        let (value, variable) = (self.part_of_pass(&operand.formula)?, self.variable());
                        self.code.extend(quote!(let #variable = #value;));
                        *operand = Fitted::variable(&variable, operand.formula.span());
                    }
                }
                let (names, ops) = (names_of(&operands), 1 + ops_of(&operands));
                let depth = 1 + operands.iter().flatten().map(|o| o.depth).max().unwrap_or(0);
                let fitted = operands.into_iter().zip(arguments).map(|(operand, argument)| match operand {
                    Some(operand) => Argument::Formula(operand.formula),
                    None => argument.clone(),
                });
                Ok(Fitted {
                    formula: Formula::Call(name.clone(), fitted.collect(), options.clone()),
                    names,
                    depth,
                    ops,
                })
            }
            other => {
                let variable = match self.roll(other)? {
                    Some(variable) => variable,
                    None => self.computed(other)?,
                };
                Ok(Fitted::variable(&variable, other.span()))
            }
        }
    }

    /// Adds a step that makes a rolled array a leaf, without a copy if the backend can read it in place. Returns the
    /// variable of the leaf; `None` if the formula is no call of the op `roll`, or if the loop cannot read rolled
    /// arrays.
    fn roll(&mut self, formula: &Formula) -> Result<Option<Ident>> {
        let Formula::Call(name, arguments, _) = formula else { return Ok(None) };
        let is_base = self.row(name)?.path.to_string() == self.root.to_string();
        let [Argument::Formula(x), Argument::Rust(shift), Argument::Rust(axis)] = &arguments[..] else {
            return Ok(None);
        };
        if name != "roll" || !is_base || !self.rolls_in_place {
            return Ok(None);
        }
        let source = if let Formula::Leaf(rust, _) = x { Some(rust.to_string()) } else { None };
        let array = self.argument(&Parameter::Array, x)?;
        let (value, leaf, root) = (self.variable(), self.variable(), &self.root);
        self.code.extend(quote_spanned! { here(name.span()) =>
            let #value = #root::lazy::rolled(__b, #array, #shift, #axis)?;
            let #leaf = #value.array();
        });
        self.rolled.push(Rolled { value, leaf: leaf.clone(), source });
        Ok(Some(leaf))
    }

    /// Adds a step that computes the array of a formula. Returns the variable in which the array is stored.
    fn computed(&mut self, formula: &Formula) -> Result<Ident> {
        let (value, name) = (self.value(formula)?, self.variable());
        self.code.extend(quote!(let #name = #value;));
        Ok(name)
    }

    fn row(&self, name: &Ident) -> Result<&Row> {
        match self.rows.get(&name.to_string()) {
            Some(row) => Ok(row),
            None => mistake(name.span(), format!("there is no op `{name}`")),
        }
    }

    /// Generates the node of a formula in the tree of a pass.
    fn tree(&mut self, formula: &Formula, pass: &mut Pass) -> Result<TokenStream> {
        let formula_path = self.formula_path();
        match formula {
            Formula::Number(Number::Whole(x), _) => {
                let x = Literal::i64_suffixed(*x);
                Ok(quote!(#formula_path::Whole(#x)))
            }
            Formula::Number(Number::Float(x), _) => {
                let x = Literal::f64_suffixed(*x);
                Ok(quote!(#formula_path::Literal(#x)))
            }
            Formula::Number(Number::Complex(re, im), _) => {
                let (re, im, root) = (Literal::f64_suffixed(*re), Literal::f64_suffixed(*im), &self.root);
                Ok(quote!(#formula_path::ComplexLiteral(#root::Complex::new(#re, #im))))
            }
            Formula::Number(Number::Lowest, _) => Ok(quote!(#formula_path::Lowest)),
            Formula::Number(Number::Highest, _) => Ok(quote!(#formula_path::Highest)),
            Formula::Leaf(rust, at) => Ok(self.leaf(rust.to_string(), rust, *at, pass)),
            Formula::Call(name, arguments, options) => self.node(name, arguments, options, pass),
            Formula::Index(..) => mistake(formula.span(), "an indexed array is not an operand here"),
        }
    }

    fn formula_path(&self) -> TokenStream {
        let root = &self.root;
        quote!(#root::runtime::formula)
    }

    /// Generates the node of a leaf. If the leaf is new in this pass, also generates the code that binds it to a
    /// variable.
    fn leaf(&mut self, text: String, rust: &TokenStream, at: Span, pass: &mut Pass) -> TokenStream {
        let path = self.formula_path();
        let index = pass.leaves.iter().position(|(known, _)| *known == text).unwrap_or_else(|| {
            let name = self.variable();
            let value = self.variable();
            let bind = |rust: &TokenStream| quote_spanned!(here(at) => let #value = &#rust; let #name = #path::leaf(__b, #value););
            match &mut self.overwritten {
                Some(target) if target.names.contains(&text) => target.leaf.extend(bind(&target.place)),
                _ => self.code.extend(bind(rust)),
            }
            pass.leaves.push((text, name));
            pass.leaves.len() - 1
        });
        let place = (0..index).fold(quote!(#path::Head), |place, _| quote!(#path::Tail::new(#place)));
        let name = &pass.leaves[index].1;
        quote!(#path::place(__b, #place, &#name))
    }

    /// Generates the node of a call whose op is a scalar expression.
    fn node(
        &mut self,
        name: &Ident,
        arguments: &[Argument],
        options: &[(Ident, Argument)],
        pass: &mut Pass,
    ) -> Result<TokenStream> {
        let row = self.row(name)?.clone();
        let (path, root, at) = (&row.path, &self.root, name.span());
        let formula_path = quote_spanned!(here(at) => #root::runtime::formula);
        let mut operands = Vec::new();
        let mut fields = Vec::new();
        let mut dtype = None;
        for (parameter, argument) in row.positional.iter().zip(arguments) {
            match (parameter, argument) {
                (Parameter::DType, Argument::DType(named)) => dtype = Some(named),
                (Parameter::Rust(field), Argument::Rust(rust)) => {
                    let field = method(field, at);
                    fields.push(quote!(#field: #rust));
                }
                (_, Argument::Formula(formula)) => operands.push(formula),
                _ => return mistake(at, format!("the arguments of `{name}` must be formulas")),
            }
        }
        fields.extend(options.iter().map(|(key, value)| {
            let value = value.rust();
            quote!(#key: #value)
        }));
        if options.len() < row.options.len() {
            fields.push(quote!(..::core::default::Default::default()));
        }
        let nodes = operands.into_iter().map(|operand| self.tree(operand, pass)).collect::<Result<Vec<_>>>()?;
        if only_numbers(arguments) {
            return mistake(at, format!("the only operand of `{name}` is a number: compute it in Rust, in braces"));
        }
        let item = method(&name.to_string(), at);
        let ops = &row.ops;
        let item = match dtype {
            None => quote_spanned!(here(at) => #path::#ops::#item { #(#fields),* }),
            // if a row has a second dtype, its struct is generic over that dtype
            Some(dtype) => {
                fields.insert(0, quote!(to: ::core::marker::PhantomData));
                quote_spanned!(here(at) => #path::#ops::__each::#item::<#dtype> { #(#fields),* })
            }
        };
        if row.mixes_dtypes() {
            let marks = marks(name, &row, arguments)?;
            let marks = marks.iter().map(|mark| Ident::new(mark, here(at)));
            let marks = quote!((#(#formula_path::#marks,)*));
            return Ok(quote_spanned!(here(at) => #formula_path::op_of(#item, #marks, (#(#nodes,)*))));
        }
        let node = Ident::new(&format!("op{}", nodes.len()), here(at));
        Ok(quote_spanned!(here(at) => #formula_path::#node(#item, #(#nodes),*)))
    }

    /// Generates a call of an op that is not a scalar expression.
    fn eager(
        &mut self,
        name: &Ident,
        arguments: &[Argument],
        options: &[(Ident, Argument)],
        text: &str,
    ) -> Result<TokenStream> {
        let row = self.row(name)?.clone();
        if let Some(reduction) = self.reduction(&row, name, arguments, options, text)? {
            return Ok(reduction);
        }
        let mut values = Vec::new();
        for (parameter, argument) in row.positional.iter().zip(arguments) {
            values.push(match argument {
                Argument::DType(_) => continue,
                Argument::Rust(rust) => match (parameter, arguments.first()) {
                    // a number of any type, such as `0.5` or a count, becomes a number of the named dtype
                    (Parameter::Scalar, Some(Argument::DType(dtype))) if !dtype.is_empty() => {
                        let root = &self.root;
                        quote!(::core::convert::Into::<#root::runtime::Scalar<#dtype>>::into(#rust).0)
                    }
                    _ => rust.clone(),
                },
                Argument::Formula(formula) => self.argument(parameter, formula)?,
                Argument::List(items) => {
                    let items = items.iter().map(|item| self.argument(&Parameter::Array, item));
                    let items = items.collect::<Result<Vec<_>>>()?;
                    quote!(&[#(#items),*])
                }
            });
        }
        let (path, at) = (&row.path, name.span());
        let markers = row.positional.iter().filter(|parameter| **parameter == Parameter::Operand).map(|_| quote!(, _));
        let types = match arguments.first() {
            Some(Argument::DType(dtype)) if dtype.is_empty() => None,
            Some(Argument::DType(dtype)) if row.creates() => Some(quote!(::<#dtype>)),
            Some(Argument::DType(dtype)) => Some(quote!(::<#dtype, _ #(#markers)*>)),
            _ => None,
        };
        if options.is_empty() {
            let method = method(&name.to_string(), at);
            return Ok(quote_spanned!(here(at) => __b.#method #types(#(#values),*)?));
        }
        let method = method(&format!("{name}_with"), at);
        let struct_name = Ident::new(&format!("{}Options", camel(&name.to_string())), here(at));
        let mut set = Vec::new();
        for (key, value) in options {
            let value = match value {
                Argument::Formula(formula) => self.argument(&Parameter::Array, formula)?,
                value => value.rust(),
            };
            set.push(quote!(.#key(#value)));
        }
        Ok(quote_spanned!(here(at) => __b.#method #types(#(#values,)* #path::#struct_name::new() #(#set)*)?))
    }

    /// Generates a call that reduces a formula without storing the formula's values in an array; `None` if this is
    /// not possible.
    fn reduction(
        &mut self,
        row: &Row,
        name: &Ident,
        arguments: &[Argument],
        options: &[(Ident, Argument)],
        text: &str,
    ) -> Result<Option<TokenStream>> {
        let Some(Argument::Formula(formula @ Formula::Call(..))) = arguments.first() else { return Ok(None) };
        let Some(over) = row.reduces else { return Ok(None) };
        if !self.is_pass(formula)? {
            return Ok(None);
        }
        let root = &self.root;
        let (mut axis, mut fields) = (TokenStream::new(), Vec::new());
        for (parameter, argument) in row.positional.iter().zip(arguments).skip(1) {
            match (parameter, argument) {
                (Parameter::Rust(name), Argument::Rust(rust)) if name == "axis" => {
                    axis = match over {
                        Over::Axes => quote!(::core::convert::Into::into(#rust)),
                        Over::Axis => quote!(#root::Axes::from(#root::IntoAxis::axis(#rust))),
                        Over::AxisOrAll => quote!(#root::Axes::from(#root::IntoAxisOrAll::axis_or_all(#rust))),
                    };
                }
                (Parameter::Rust(field), Argument::Rust(rust)) => {
                    let field = method(field, name.span());
                    fields.push(quote!(#field: #rust));
                }
                _ => return Ok(None),
            }
        }
        let struct_name = Ident::new(&format!("{}Options", camel(&name.to_string())), here(name.span()));
        let set = options.iter().map(|(key, value)| {
            let value = value.rust();
            quote!(.#key(#value))
        });
        for option in row.options.iter().filter(|option| *option != "keepdims") {
            let option = method(option, name.span());
            fields.push(quote!(#option: __options.#option));
        }
        let within = reduced(text, &name.to_string()).map_or_else(|| print(formula), String::from);
        let rolls_in_place = std::mem::replace(&mut self.rolls_in_place, false);
        let fitted = self.fit(formula)?;
        self.rolls_in_place = rolls_in_place;
        let mut pass = Pass::default();
        let tree = self.tree(&fitted.formula, &mut pass)?;
        let (leaves, path, ops, at) = (pass.list(), &row.path, &row.ops, name.span());
        let (formula_path, item) = (self.formula_path(), method(&name.to_string(), at));
        Ok(Some(quote_spanned! { here(at) =>
            match #path::#struct_name::new() #(#set)* {
                __options => #formula_path::reduce(
                    __b,
                    &#path::#ops::#item { #(#fields),* },
                    &#formula_path::named_within(#within, #text, #tree),
                    &#leaves,
                    #axis,
                    __options.keepdims,
                )?,
            }
        }))
    }

    /// Generates an argument of a call: a reference to an array, or an operand.
    fn argument(&mut self, parameter: &Parameter, formula: &Formula) -> Result<TokenStream> {
        Ok(match (parameter, formula) {
            (Parameter::Operand, Formula::Number(Number::Float(x), _)) => quote!(#x),
            (Parameter::Operand, Formula::Number(Number::Complex(re, im), _)) => {
                let root = &self.root;
                quote!(#root::Complex::new(#re, #im))
            }
            (Parameter::Operand, Formula::Number(Number::Whole(x), _)) => {
                let x = Literal::i64_unsuffixed(*x);
                quote!(#x)
            }
            (Parameter::Operand, Formula::Number(Number::Lowest | Number::Highest, _)) => quote!(..),
            (_, Formula::Number(_, at)) => return mistake(*at, "this must be an array, not a number"),
            (Parameter::Operand, Formula::Leaf(rust, at)) => {
                let path = self.formula_path();
                let name = self.variable();
                let value = self.variable();
                self.code
                    .extend(quote_spanned!(here(*at) => let #value = &#rust; let #name = #path::leaf(__b, #value);));
                quote!(#path::operand(__b, &#name))
            }
            (_, Formula::Leaf(rust, at)) => {
                let path = self.formula_path();
                quote_spanned!(here(*at) => #path::array(__b, &#rust))
            }
            (_, formula) => {
                let name = self.computed(formula)?;
                quote!(&#name)
            }
        })
    }

    /// Generates an expression for `x[index]`, the elements of an array that a list of indices selects.
    fn part(&mut self, x: &Formula, index: &Group) -> Result<TokenStream> {
        if let (Formula::Leaf(rust, _), true) = (x, is_one_index(index)) {
            let (root, index, at) = (&self.root, index.stream(), index.span());
            return Ok(quote_spanned!(here(at) => #root::lazy::indexed(__b, &#rust, &(#index))?));
        }
        let (x, root, index, at) = (self.argument(&Parameter::Array, x)?, &self.root, index.stream(), index.span());
        Ok(quote_spanned!(here(at) => __b.get(#x, #root::ix![#index])?))
    }

    /// Generates the code for `target[index] = formula`. It evaluates the list of indices once, before the value.
    fn put(
        &mut self,
        target: &Target,
        index: &Group,
        operator: Option<&Ident>,
        formula: &Formula,
    ) -> Result<TokenStream> {
        let (root, place, at, list) = (&self.root, target.place(), index.span(), index.stream());
        let (index, old) = (format_ident!("__index"), format_ident!("__old"));
        let begin = operator.map(|_| quote_spanned!(here(at) => let #old = __b.get(&#place, #index)?;));
        let list = quote_spanned!(here(at) => #root::ix![#list]);
        let formula = match operator {
            None => formula.clone(),
            Some(name) => {
                let arguments = [Formula::Leaf(quote!(#old), at), formula.clone()].map(Argument::Formula);
                Formula::Call(name.clone(), arguments.into(), Vec::new())
            }
        };
        let value = match &formula {
            Formula::Number(..) => self.argument(&Parameter::Operand, &formula)?,
            // the value is a leaf: an array or a number
            Formula::Leaf(rust, at) => quote_spanned!(here(*at) => ::core::clone::Clone::clone(&#rust)),
            formula => self.value(formula)?,
        };
        let code = std::mem::take(&mut self.code);
        Ok(quote_spanned! { here(at) =>
            match #list {
                #index => {
                    #begin
                    #code
                    let __value = #value;
                    __b.set(&mut #place, #index, __value)?
                }
            }
        })
    }
}

/// Returns whether a formula reads a variable.
fn reads(formula: &Formula, variable: &Ident) -> bool {
    match formula {
        Formula::Leaf(rust, _) => variable == &rust.to_string(),
        Formula::Call(_, arguments, _) => {
            arguments.iter().any(|argument| matches!(argument, Argument::Formula(x) if reads(x, variable)))
        }
        Formula::Number(..) | Formula::Index(..) => false,
    }
}

/// Returns whether a list of indices is a single Rust expression without a range, such as `i` or `n - 1`. The indexed
/// variable may then be a list of Rust, such as a vector, and not only an array.
fn is_one_index(index: &Group) -> bool {
    let tokens: Vec<TokenTree> = index.stream().into_iter().collect();
    let is_sign = |t: &TokenTree| matches!(t, TokenTree::Punct(p) if [',', ';', '&', ':'].contains(&p.as_char()));
    let is_dot = |t: &TokenTree| matches!(t, TokenTree::Punct(p) if p.as_char() == '.');
    let is_range = tokens.windows(2).any(|pair| is_dot(&pair[0]) && is_dot(&pair[1]));
    let is_new = tokens.iter().any(|t| matches!(t, TokenTree::Ident(name) if name == "NewAxis" || name == "None"));
    !tokens.is_empty() && !tokens.iter().any(is_sign) && !is_range && !is_new
}

/// Returns a marker for each operand of a row whose operands may have different dtypes. The marker is `Shared` if the
/// operand and at least one other operand have the row's dtype `T`, and `Own` otherwise. At least one operand of the
/// dtype `T` must be something else than a literal number, because a literal has no dtype.
fn marks(name: &Ident, row: &Row, arguments: &[Argument]) -> Result<Vec<&'static str>> {
    let operands =
        || row.positional.iter().zip(arguments).filter(|(p, _)| matches!(p, Parameter::Operand | Parameter::Own));
    let is_number = |argument: &Argument| matches!(argument, Argument::Formula(Formula::Number(..)));
    let shared: Vec<_> = operands().filter(|(p, _)| **p == Parameter::Operand).collect();
    if shared.iter().all(|(_, argument)| is_number(argument)) {
        return mistake(
            name.span(),
            format!("all operands of `{name}` are numbers: give one of them a dtype, as in `1.0_f64`"),
        );
    }
    let mark = |p: &Parameter| if *p == Parameter::Operand && shared.len() > 1 { "Shared" } else { "Own" };
    Ok(operands().map(|(p, _)| mark(p)).collect())
}

/// Returns a span at the position `at` of the user's code. Names with this span are resolved like all other names in
/// the generated code.
fn here(at: Span) -> Span {
    at.resolved_at(Span::call_site())
}

/// The name of a method or field, with the span of a position in the user's code.
fn method(name: &str, at: Span) -> Ident {
    let mut method = id(name);
    method.set_span(here(at));
    method
}

/// A formula that one pass can compute.
struct Fitted {
    formula: Formula,
    /// The names of the leaves in the formula, without duplicates.
    names: Vec<String>,
    /// Nesting depth of the ops in the formula.
    depth: usize,
    /// Number of ops in the formula.
    ops: usize,
}

impl Fitted {
    fn variable(name: &Ident, at: Span) -> Fitted {
        Fitted { formula: Formula::Leaf(quote!(#name), at), names: vec![name.to_string()], depth: 0, ops: 0 }
    }
}

/// The names of the leaves in several formulas, without duplicates.
fn names_of(parts: &[Option<Fitted>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in parts.iter().flatten().flat_map(|part| &part.names) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// The number of ops in several formulas.
fn ops_of(parts: &[Option<Fitted>]) -> usize {
    parts.iter().flatten().map(|part| part.ops).sum()
}

/// Index of the operand that an earlier pass must compute before one pass can compute the rest; `None` if one pass can
/// compute everything.
fn too_long(operands: &[Option<Fitted>]) -> Option<usize> {
    let deep = |part: &Fitted| part.depth >= MAX_DEPTH;
    let many = names_of(operands).len() > MAX_LEAVES || ops_of(operands) >= MAX_OPS;
    let parts = operands.iter().enumerate().filter_map(|(i, part)| Some((i, part.as_ref()?)));
    let parts = parts.filter(|(_, part)| part.depth > 0 && (many || deep(part)));
    parts.max_by_key(|(_, part)| (part.names.len(), part.ops, part.depth)).map(|(i, _)| i)
}

/// Returns whether all formulas among the arguments are numbers.
fn only_numbers(arguments: &[Argument]) -> bool {
    let mut formulas = arguments.iter().filter_map(|argument| match argument {
        Argument::Formula(formula) => Some(formula),
        _ => None,
    });
    formulas.all(|formula| matches!(formula, Formula::Number(..)))
}
