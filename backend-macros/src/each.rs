//! `each` expressions: one text to Rust (the loop's body) and to CUDA C++ (the kernel's), with every name checked.
//!
//! Paths begin with `rt`, which the module around the generated ops binds to the runtime: ops have names such as `Real`.
//!
//! The words are those of `[words]`: a method of the runtime's traits in Rust, a function `op_<word>` of the CUDA prelude.

use crate::{
    expand::id,
    lexical::check_expression,
    model::{Elem, Kind, Model, Op, dtype_of, integer_range},
    report::did_you_mean,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{BinOp, Expr, Lit, UnOp};

/// Something wrong with an expression; `part` is the text to point at.
pub struct Mistake {
    pub part: String,
    pub message: String,
    pub help: Option<String>,
}

/// A number that is written in an expression.
pub enum Number {
    /// Without a point: exact in every integer dtype.
    Integer(i128),
    /// With a point or an exponent.
    Decimal(f64),
}

impl Number {
    /// The number of a literal, with its sign.
    ///
    /// An integer has to be one of every integer dtype that the row has (of `bool`: 0 or 1), a decimal number is none of
    /// them; float dtypes take the nearest value they have.
    pub fn of(lit: &Lit, negative: bool, dtypes: &[&str]) -> Result<Number, Mistake> {
        let (digits, suffix) = match lit {
            Lit::Int(i) => (i.base10_digits(), i.suffix()),
            Lit::Float(f) => (f.base10_digits(), f.suffix()),
            other => {
                let part = quote!(#other).to_string();
                return Err(Mistake { part, message: "a number is wanted".into(), help: None });
            }
        };
        let part = lit_text(lit);
        let bad = |message: String, help: &str| Err(Mistake { part: part.clone(), message, help: Some(help.into()) });
        if !suffix.is_empty() {
            return bad(format!("`{part}` names a type"), "a number takes the dtype of what stands beside it");
        }
        let shown = format!("{}{digits}", if negative { "-" } else { "" });
        let integers = dtypes.iter().filter_map(|d| Some((d, integer_range(d)?)));
        match lit {
            Lit::Int(_) => {
                let value = shown.parse().ok().filter(|v| (i64::MIN.into()..=u64::MAX.into()).contains(v));
                let Some(value) = value else {
                    return bad(format!("`{shown}` has more than 64 bits"), "write it with a point: 1e30");
                };
                match integers.into_iter().find(|(_, (least, most))| !(*least..=*most).contains(&value)) {
                    Some((dtype, _)) => {
                        bad(format!("`{shown}` is not in {dtype}, a dtype of the row"), "nothing is rounded or wrapped")
                    }
                    None => Ok(Number::Integer(value)),
                }
            }
            _ => match (integers.into_iter().next(), shown.parse::<f64>()) {
                (Some((dtype, _)), _) => {
                    bad(format!("`{shown}` is no number of {dtype}, a dtype of the row"), "write an integer")
                }
                (None, Ok(value)) if value.is_finite() => Ok(Number::Decimal(value)),
                _ => bad(format!("`{shown}` is larger than every float64"), "numbers are finite"),
            },
        }
    }

    /// The number as an element of a dtype that Rust infers.
    pub fn rust(&self, runtime: &TokenStream) -> TokenStream {
        match *self {
            Number::Decimal(value) => quote!(#runtime::Element::from_f64(#value)),
            Number::Integer(value) => match i64::try_from(value) {
                Ok(value) => quote!(#runtime::Element::from_i64(#value)),
                Err(_) => {
                    let value = value as u64;
                    quote!(#runtime::Element::from_u64(#value))
                }
            },
        }
    }

    fn cuda(&self) -> String {
        match *self {
            Number::Decimal(value) => format!("op_of<T>({value:?})"),
            // C++ reads the sign as an operator, of a number that has to fit by itself
            Number::Integer(value) if value == i64::MIN.into() => format!("cast<T>({}LL - 1)", value + 1),
            Number::Integer(value) if value > i64::MAX.into() => format!("cast<T>({value}ULL)"),
            Number::Integer(value) => format!("cast<T>({value}LL)"),
        }
    }
}

/// A literal as it is written.
fn lit_text(lit: &Lit) -> String {
    quote!(#lit).to_string()
}

/// An expression in both languages.
pub struct Translated {
    pub rust: TokenStream,
    pub cuda: String,
    ty: Ty,
}

/// What a part of an expression is.
#[derive(Clone, Copy, PartialEq)]
enum Ty {
    /// A number of the row's dtype, or of one derived from it.
    Element(Elem),
    /// A truth value.
    Bool,
    /// A literal or scalar parameter, of whatever dtype stands beside it.
    Number,
}

/// Translates an expression of `op`.
pub fn translate(text: &str, op: &Op, model: &Model) -> Result<Translated, Mistake> {
    let expr = parse(text)?;
    let out = Scope { op, model }.expr(&expr)?;
    let wanted = match op.result.elem() {
        Elem::Bool => Ty::Bool,
        _ => Ty::Element(op.result.elem()),
    };
    if (out.ty == Ty::Bool) != (wanted == Ty::Bool) && op.set != "any" && op.set != "bits" && op.set != "ordered" {
        let message =
            format!("the result of this expression is {}a truth value", if out.ty == Ty::Bool { "" } else { "not " });
        return Err(Mistake { part: text.into(), message, help: None });
    }
    Ok(out)
}

/// What is wrong with the parameters of a row with an `each` mapping, each with the text of its parameter.
pub fn check_params(op: &Op) -> Vec<(String, Mistake)> {
    let mut mistakes = Vec::new();
    for param in &op.params {
        let fits = match &param.kind {
            Kind::Array(Elem::T) | Kind::Operand(Elem::T) => param.default.is_none(),
            Kind::Plain(t) => t == "f64" || t == "bool",
            _ => false,
        };
        if !fits {
            let message = format!("an `each` row takes no parameter of type `{}`", param.type_text());
            let help = Some("array, operand, f64 or bool".into());
            mistakes.push((param.text.clone(), Mistake { part: param.text.clone(), message, help }));
        }
    }
    let (arrays, others) = (op.inputs().count(), op.params.iter().filter(|p| !p.is_array()).count());
    if !(1..=MOST_ARRAYS).contains(&arrays) || others > MOST_OTHERS {
        let message = format!("an `each` row takes 1 to {MOST_ARRAYS} arrays and at most {MOST_OTHERS} numbers");
        mistakes.push((String::new(), Mistake { part: String::new(), message, help: None }));
    }
    mistakes
}

/// Most arrays that the loops and kernels take, and most numbers.
const MOST_ARRAYS: usize = 3;
const MOST_OTHERS: usize = 8;

/// The text as an expression of Rust, once it is known that a parser can follow it.
fn parse(text: &str) -> Result<Expr, Mistake> {
    if let Err(why) = check_expression(text) {
        return Err(Mistake { part: why.part.into(), message: why.message, help: None });
    }
    syn::parse_str(text).map_err(|e| Mistake {
        part: text.into(),
        message: format!("not an expression: {e}"),
        help: None,
    })
}

struct Scope<'m> {
    op: &'m Op,
    model: &'m Model,
}

impl Scope<'_> {
    fn expr(&self, e: &Expr) -> Result<Translated, Mistake> {
        match e {
            Expr::Paren(p) => self.expr(&p.expr),
            Expr::Path(p) => self.path(p),
            Expr::Lit(l) => self.literal(&l.lit, false),
            Expr::Unary(u) => self.unary(u),
            Expr::Binary(b) => self.binary(b),
            Expr::MethodCall(m) => self.word(m),
            Expr::If(i) => self.condition(i),
            other => Err(self.not_in_the_language(other)),
        }
    }

    fn not_in_the_language(&self, e: &Expr) -> Mistake {
        Mistake {
            part: quote!(#e).to_string(),
            message: "this is not in the language of `each`".into(),
            help: Some(
                "it has parameters, numbers, + - * / < <= > >= && || !, `x.word()`, `if c { a } else { b }`".into(),
            ),
        }
    }

    fn path(&self, path: &syn::ExprPath) -> Result<Translated, Mistake> {
        let text = quote!(#path).to_string().replace(' ', "");
        match text.as_str() {
            "T::ZERO" => return Ok(element(Elem::T, quote!(T::ZERO), "op_of<T>(0)".into())),
            "T::ONE" => return Ok(element(Elem::T, quote!(T::ONE), "op_of<T>(1)".into())),
            _ => {}
        }
        let Some(param) = self.op.param(&text) else {
            let help = did_you_mean(&text, self.op.params.iter().map(|p| p.name.as_str()));
            return Err(Mistake { message: format!("`{text}` is not a parameter of this op"), part: text, help });
        };
        let name = id(&text);
        let cuda = self.op.cuda_name(param);
        match &param.kind {
            Kind::Array(e) | Kind::Operand(e) if param.default.is_none() => Ok(element(*e, quote!(#name), cuda)),
            Kind::Plain(t) if t == "bool" => {
                Ok(Translated { rust: quote!(#name), cuda: format!("({cuda} != 0)"), ty: Ty::Bool })
            }
            Kind::Plain(t) if t == "f64" => Ok(Translated {
                rust: quote!(rt::Element::from_f64(#name)),
                cuda: format!("op_of<T>({cuda})"),
                ty: Ty::Number,
            }),
            _ => Err(Mistake {
                message: format!("`{text}` has a type that an `each` expression cannot use"),
                part: text,
                help: Some("array, operand, f64 or bool".into()),
            }),
        }
    }

    fn literal(&self, lit: &Lit, negative: bool) -> Result<Translated, Mistake> {
        if let Lit::Bool(b) = lit {
            let value = b.value;
            return Ok(Translated { rust: quote!(#value), cuda: value.to_string(), ty: Ty::Bool });
        }
        let number = Number::of(lit, negative, &self.dtypes(Elem::T))?;
        Ok(Translated { rust: number.rust(&quote!(rt)), cuda: number.cuda(), ty: Ty::Number })
    }

    fn unary(&self, u: &syn::ExprUnary) -> Result<Translated, Mistake> {
        if let (UnOp::Neg(_), Expr::Lit(number)) = (&u.op, &*u.expr)
            && !matches!(number.lit, Lit::Bool(_))
        {
            return self.literal(&number.lit, true);
        }
        let x = self.expr(&u.expr)?;
        let (rust, cuda) = (&x.rust, &x.cuda);
        match (&u.op, x.ty) {
            (UnOp::Neg(_), Ty::Element(e)) => {
                self.has_word("negate", e, "-")?;
                Ok(element(e, quote!(rt::Numeric::negate(#rust)), format!("op_negate({cuda})")))
            }
            (UnOp::Neg(_), Ty::Number) => {
                self.has_word("negate", Elem::T, "-")?;
                Ok(Translated {
                    rust: quote!(rt::Numeric::negate(#rust)),
                    cuda: format!("op_negate({cuda})"),
                    ty: Ty::Number,
                })
            }
            (UnOp::Not(_), Ty::Bool) => {
                Ok(Translated { rust: quote!(!#rust), cuda: format!("!({cuda})"), ty: Ty::Bool })
            }
            _ => Err(self.not_in_the_language(&Expr::Unary(u.clone()))),
        }
    }

    fn binary(&self, b: &syn::ExprBinary) -> Result<Translated, Mistake> {
        let (x, y) = (self.expr(&b.left)?, self.expr(&b.right)?);
        let (rx, ry, cx, cy) = (&x.rust, &y.rust, &x.cuda, &y.cuda);
        let arithmetic = |word: &str, sign: &str, rust: TokenStream| {
            let ty = self.common(&x, &y, sign)?;
            match ty {
                Ty::Element(e) => self.has_word(word, e, sign)?,
                Ty::Number => self.has_word(word, Elem::T, sign)?,
                Ty::Bool => {
                    let message = format!("`{sign}` takes numbers, no truth values");
                    return Err(Mistake { part: sign.into(), message, help: None });
                }
            }
            Ok(Translated { rust, cuda: format!("op_{word}({cx}, {cy})"), ty })
        };
        let comparison = |method: &str, sign: &str| {
            if let Ty::Element(e) = self.common(&x, &y, sign)? {
                self.has_word("maximum", e, sign)?;
            }
            let method = Ident::new(method, Span::call_site());
            let rust = quote!(PartialOrd::#method(&#rx, &#ry));
            Ok(Translated { rust, cuda: format!("({cx} {sign} {cy})"), ty: Ty::Bool })
        };
        let logical = |sign: &str, rust: TokenStream| match (x.ty, y.ty) {
            (Ty::Bool, Ty::Bool) => Ok(Translated { rust, cuda: format!("({cx} {sign} {cy})"), ty: Ty::Bool }),
            _ => {
                let help = "`x.truth()` makes one of a number, `x1.equal(x2)` compares".to_string();
                Err(Mistake {
                    part: sign.into(),
                    message: format!("`{sign}` takes two truth values"),
                    help: Some(help),
                })
            }
        };
        match b.op {
            BinOp::Add(_) => arithmetic("plus", "+", quote!(rt::Numeric::plus(#rx, #ry))),
            BinOp::Sub(_) => arithmetic("minus", "-", quote!(rt::Numeric::minus(#rx, #ry))),
            BinOp::Mul(_) => arithmetic("times", "*", quote!(rt::Numeric::times(#rx, #ry))),
            BinOp::Div(_) => arithmetic("over", "/", quote!(rt::Float::over(#rx, #ry))),
            BinOp::Lt(_) => comparison("lt", "<"),
            BinOp::Le(_) => comparison("le", "<="),
            BinOp::Gt(_) => comparison("gt", ">"),
            BinOp::Ge(_) => comparison("ge", ">="),
            // without branches: both sides are cheap, and the loop vectorises
            BinOp::And(_) => logical("&&", quote!((#rx & #ry))),
            BinOp::Or(_) => logical("||", quote!((#rx | #ry))),
            BinOp::Eq(_) => logical("==", quote!((#rx == #ry))),
            BinOp::Ne(_) => logical("!=", quote!((#rx != #ry))),
            _ => Err(self.not_in_the_language(&Expr::Binary(b.clone()))),
        }
    }

    /// `x.word(y, ..)`
    fn word(&self, call: &syn::ExprMethodCall) -> Result<Translated, Mistake> {
        let name = call.method.to_string();
        let x = self.expr(&call.receiver)?;
        let Some(set) = self.model.words.get(&name) else {
            let help = did_you_mean(&name, self.model.words.keys().map(String::as_str));
            return Err(Mistake { message: format!("`{name}` is no word of `each` expressions"), part: name, help });
        };
        let elem = match x.ty {
            Ty::Element(e) => e,
            Ty::Bool => Elem::Bool,
            Ty::Number => Elem::T,
        };
        self.has_word(&name, elem, &name)?;
        let args = call.args.iter().map(|a| self.expr(a)).collect::<Result<Vec<_>, _>>()?;
        let method = &call.method;
        // `[words]` names sets that are there
        let bound = self.model.set(set).map(|set| id(&set.bound));
        let (rust, rusts) = (&x.rust, args.iter().map(|a| &a.rust));
        let cuda = std::iter::once(&x).chain(&args).map(|a| a.cuda.as_str()).collect::<Vec<_>>().join(", ");
        let ty = match name.as_str() {
            "equal" | "truth" | "is_finite" | "is_inf" | "is_nan" | "signbit" => Ty::Bool,
            "abs" | "real" | "imag" => Ty::Element(if elem == Elem::T { Elem::Real } else { elem }),
            "complex" => Ty::Element(Elem::Complex),
            _ => Ty::Element(elem),
        };
        Ok(Translated { rust: quote!(rt::#bound::#method(#rust, #(#rusts),*)), cuda: format!("op_{name}({cuda})"), ty })
    }

    fn condition(&self, i: &syn::ExprIf) -> Result<Translated, Mistake> {
        let whole = || self.not_in_the_language(&Expr::If(i.clone()));
        let one = |block: &syn::Block| match &block.stmts[..] {
            [syn::Stmt::Expr(e, None)] => self.expr(e),
            _ => Err(whole()),
        };
        let (c, x) = (self.expr(&i.cond)?, one(&i.then_branch)?);
        let y = match i.else_branch.as_ref().map(|(_, e)| &**e) {
            Some(Expr::Block(b)) => one(&b.block)?,
            Some(e @ Expr::If(_)) => self.expr(e)?,
            _ => return Err(whole()),
        };
        if c.ty != Ty::Bool {
            return Err(Mistake {
                part: "if".into(),
                message: "the condition is not a truth value".into(),
                help: None,
            });
        }
        let ty = self.common(&x, &y, "else")?;
        let (rc, rx, ry) = (&c.rust, &x.rust, &y.rust);
        let cuda = format!("({} ? {} : {})", c.cuda, x.cuda, y.cuda);
        Ok(Translated { rust: quote!(if #rc { #rx } else { #ry }), cuda, ty })
    }

    /// The type of both sides, where one may be a bare number.
    fn common(&self, x: &Translated, y: &Translated, part: &str) -> Result<Ty, Mistake> {
        let same = |a: Elem, b: Elem| self.dtypes(a) == self.dtypes(b);
        match (x.ty, y.ty) {
            (Ty::Number, other) | (other, Ty::Number) => Ok(other),
            (Ty::Bool, Ty::Bool) => Ok(Ty::Bool),
            (Ty::Element(a), Ty::Element(b)) if same(a, b) => Ok(x.ty),
            _ => {
                Err(Mistake { part: part.into(), message: "the two sides are of different dtypes".into(), help: None })
            }
        }
    }

    fn dtypes(&self, elem: Elem) -> Vec<&str> {
        self.model.dtypes_of(&self.op.set).iter().map(|d| dtype_of(elem, d)).collect()
    }

    /// Whether every dtype of the part has the word.
    fn has_word(&self, word: &str, elem: Elem, part: &str) -> Result<(), Mistake> {
        let Some(set) = self.model.words.get(word) else {
            let message = format!("`{part}` is the word `{word}`, which `[words]` has not");
            return Err(Mistake { part: part.into(), message, help: None });
        };
        let legal = self.model.dtypes_of(set);
        match self.dtypes(elem).into_iter().find(|d| !legal.iter().any(|l| l == d)) {
            None => Ok(()),
            Some(dtype) => Err(Mistake {
                part: part.into(),
                message: format!("`{part}` is for {set} dtypes; here it is used on {dtype}"),
                help: Some(format!("the row's dtypes are `{}`", self.op.set)),
            }),
        }
    }
}

fn element(elem: Elem, rust: TokenStream, cuda: String) -> Translated {
    Translated { rust, cuda, ty: Ty::Element(elem) }
}
