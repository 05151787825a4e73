//! `each` expressions: one text to Rust (the loop's body) and to CUDA C++ (the kernel's), with every name checked.
//!
//! Paths begin with `rt`, which the module around the generated ops binds to the runtime: ops have names such as `Real`.
//!
//! The words are those of `[words]`: a method of the runtime's traits in Rust, a function `op_<word>` of the CUDA prelude.

use crate::{
    model::{Elem, Model, Op, dtype_of},
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
    let expr = syn::parse_str::<Expr>(text).map_err(|e| Mistake {
        part: text.into(),
        message: format!("not an expression: {e}"),
        help: None,
    })?;
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

struct Scope<'m> {
    op: &'m Op,
    model: &'m Model,
}

impl Scope<'_> {
    fn expr(&self, e: &Expr) -> Result<Translated, Mistake> {
        match e {
            Expr::Paren(p) => self.expr(&p.expr),
            Expr::Path(p) => self.path(p),
            Expr::Lit(l) => self.literal(&l.lit),
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
        let name = Ident::new(&text, Span::call_site());
        use crate::model::Kind;
        match &param.kind {
            Kind::Array(e) | Kind::Operand(e) => Ok(element(*e, quote!(#name), text)),
            Kind::Plain(t) if t == "bool" => {
                Ok(Translated { rust: quote!(#name), cuda: format!("({text} != 0)"), ty: Ty::Bool })
            }
            Kind::Plain(t) if t == "f64" => Ok(Translated {
                rust: quote!(rt::Element::from_f64(#name)),
                cuda: format!("op_of<T>({text})"),
                ty: Ty::Number,
            }),
            _ => Err(Mistake {
                message: format!("`{text}` has a type that an `each` expression cannot use"),
                part: text,
                help: Some("array, operand, f64 or bool".into()),
            }),
        }
    }

    fn literal(&self, lit: &Lit) -> Result<Translated, Mistake> {
        let value: f64 = match lit {
            Lit::Int(i) => i.base10_parse().unwrap_or(f64::NAN),
            Lit::Float(f) => f.base10_parse().unwrap_or(f64::NAN),
            Lit::Bool(b) => {
                let value = b.value;
                return Ok(Translated { rust: quote!(#value), cuda: value.to_string(), ty: Ty::Bool });
            }
            other => {
                let part = quote!(#other).to_string();
                return Err(Mistake { part, message: "a number is wanted".into(), help: None });
            }
        };
        Ok(Translated {
            rust: quote!(rt::Element::from_f64(#value)),
            cuda: format!("op_of<T>({value:?})"),
            ty: Ty::Number,
        })
    }

    fn unary(&self, u: &syn::ExprUnary) -> Result<Translated, Mistake> {
        let x = self.expr(&u.expr)?;
        let (rust, cuda) = (&x.rust, &x.cuda);
        match (&u.op, x.ty) {
            (UnOp::Neg(_), Ty::Element(e)) => {
                self.has_word("negate", e, "-")?;
                Ok(element(e, quote!(rt::Numeric::negate(#rust)), format!("op_negate({cuda})")))
            }
            (UnOp::Neg(_), Ty::Number) => Ok(Translated {
                rust: quote!(rt::Numeric::negate(#rust)),
                cuda: format!("op_negate({cuda})"),
                ty: Ty::Number,
            }),
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
            if let Ty::Element(e) = ty {
                self.has_word(word, e, sign)?;
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
        let (bound, method) = (&self.model.set(set).expect("checked in the base table").bound, &call.method);
        let bound = Ident::new(bound, Span::call_site());
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
        let set = &self.model.words[word];
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
