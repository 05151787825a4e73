//! Determines the types in the scalar expression of an `each` row. The type of a subexpression is an element, a truth
//! value, or a number without a dtype.

use super::tree::{Expr, Node, Number, Ty};
use crate::{
    model::{Elem, Kind, Model, Op, Out, Plain, WordResult, dtype_of, integer_range},
    report::{Mistake, did_you_mean},
    text::Span,
};

/// The maximum number of array parameters of an `each` row. The loops and kernels accept no more.
const MAX_ARRAY_PARAMETERS: usize = 3;
/// The maximum number of other parameters of an `each` row. The loops and kernels accept no more.
const MAX_OTHER_PARAMETERS: usize = 8;

/// Describes the language of scalar expressions, for error messages.
const LANGUAGE: &str =
    "allowed are parameters, numbers, + - * / < <= > >= && || !, `x.word()`, `if c { a } else { b }`";

/// Returns the mistakes in the parameters of a row with a scalar expression.
pub fn check_params(op: &Op) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    for param in &op.params {
        let fits = match &param.kind {
            Kind::Array(Elem::U) | Kind::Operand(Elem::U, _) => false,
            Kind::Array(_) | Kind::Operand(..) => param.default.is_none(),
            Kind::Plain(Plain::F64 | Plain::Bool) => true,
            _ => false,
        };
        if !fits {
            let message = format!("an `each` row takes no parameter of type `{}`", param.ty);
            let help = Some("array, operand, f64 or bool".into());
            mistakes.push(Mistake { span: param.span.clone(), message, help });
        }
    }
    let (arrays, others) = (op.inputs().count(), op.params.iter().filter(|p| !p.is_array()).count());
    if mistakes.is_empty() && (!(1..=MAX_ARRAY_PARAMETERS).contains(&arrays) || others > MAX_OTHER_PARAMETERS) {
        let message = format!(
            "an `each` row takes 1 to {MAX_ARRAY_PARAMETERS} arrays and at most {MAX_OTHER_PARAMETERS} numbers"
        );
        mistakes.push(Mistake { span: op.span.clone(), message, help: None });
    }
    if mistakes.is_empty() && op.inputs().all(|p| p.kind.elem() != Some(Elem::T)) {
        let message = "at least one array of an `each` row must have the row's dtype".to_string();
        mistakes.push(Mistake { span: op.span.clone(), message, help: None });
    }
    mistakes
}

/// Determines the type of every subexpression of `expr`, if the row has the dtypes `dtypes`. Returns the first mistake.
pub fn check(expr: &mut Expr, op: &Op, dtypes: &[String], model: &Model) -> Result<(), Mistake> {
    let scope = Scope { op, dtypes, model };
    let wanted = op.result.elem();
    scope.check(expr)?;
    let fits = match (&expr.ty, wanted) {
        (Ty::Truth, Elem::Bool) => true,
        (Ty::Number, Elem::Bool) => false,
        (Ty::Number, elem) => {
            scope.settle(expr, elem)?;
            true
        }
        (Ty::Element(elem), wanted) => scope.same(*elem, wanted),
        _ => false,
    };
    let several = !matches!(op.result, Out::One(_));
    if fits && !several {
        return Ok(());
    }
    let help = format!("the row's result is `{}`", op.result_text);
    let message = match (&expr.ty, several) {
        (Ty::Element(elem), false) if wanted != Elem::Bool => {
            let (of, given, wanted) = scope.difference(*elem, wanted);
            format!("the expression gives {given} for {of}, but must give {wanted}")
        }
        (ty, _) => format!("the expression gives {}", scope.describe(ty)),
    };
    Err(bad(&expr.span, message, Some(help)))
}

/// Like [`check`], for an expression whose value is converted to the element type of the row's result. A truth value
/// may be converted to any dtype, and an element of the row's dtype to the dtype of sums.
pub fn check_value(expr: &mut Expr, op: &Op, dtypes: &[String], model: &Model) -> Result<(), Mistake> {
    let scope = Scope { op, dtypes, model };
    scope.check(expr)?;
    let wanted = op.result.elem();
    scope.settle(expr, wanted)?;
    let fits = match &expr.ty {
        Ty::Truth => true,
        Ty::Element(elem) => scope.same(*elem, wanted) || (*elem == Elem::T && wanted == Elem::Sum),
        _ => false,
    };
    if fits {
        return Ok(());
    }
    let help = format!("the values must have the dtype of the row's result, `{}`", op.result_text);
    Err(bad(&expr.span, format!("the expression gives {}", scope.describe(&expr.ty)), Some(help)))
}

struct Scope<'m> {
    op: &'m Op,
    dtypes: &'m [String],
    model: &'m Model,
}

impl Scope<'_> {
    fn check(&self, e: &mut Expr) -> Result<(), Mistake> {
        let span = e.span.clone();
        e.ty = match &mut e.node {
            Node::Name(name) => self.name(name, &span)?,
            Node::Number(_) => Ty::Number,
            Node::Bool(_) => Ty::Truth,
            Node::Word(word, args) => self.word(word, args, &span)?,
            Node::Compare(how, both) => {
                let sign = how.sign();
                self.check_all(&mut both[..])?;
                match self.common(&mut both[..], sign, &span)? {
                    Ty::Element(elem) => self.ordered(elem, sign, &span)?,
                    Ty::Number => {
                        both.iter_mut().try_for_each(|x| self.settle(x, Elem::T))?;
                        self.ordered(Elem::T, sign, &span)?;
                    }
                    _ => {}
                }
                Ty::Truth
            }
            Node::Logic(how, both) => {
                self.check_all(&mut both[..])?;
                if both.iter().any(|x| x.ty != Ty::Truth) {
                    let help =
                        "`x.is_nonzero()` converts a number to a truth value, and `x1.equal(x2)` compares two numbers"
                            .to_string();
                    return Err(bad(&span, format!("`{}` takes two truth values", how.sign()), Some(help)));
                }
                Ty::Truth
            }
            Node::Not(x) => {
                self.check(x)?;
                if x.ty != Ty::Truth {
                    return Err(bad(&span, "`!` takes a truth value".into(), None));
                }
                Ty::Truth
            }
            Node::If(parts) => {
                self.check_all(&mut parts[..])?;
                if parts[0].ty != Ty::Truth {
                    return Err(bad(&parts[0].span, "the condition is not a truth value".into(), None));
                }
                self.common(&mut parts[1..], "else", &span)?
            }
            Node::List(_) | Node::Call(..) | Node::Block(..) => {
                return Err(bad(&span, "this is not allowed in an `each` expression".into(), Some(LANGUAGE.into())));
            }
        };
        Ok(())
    }

    fn check_all(&self, list: &mut [Expr]) -> Result<(), Mistake> {
        list.iter_mut().try_for_each(|e| self.check(e))
    }

    fn name(&self, name: &str, span: &Span) -> Result<Ty, Mistake> {
        let Some(param) = self.op.param(name) else {
            let help = did_you_mean(name, self.op.params.iter().map(|p| p.name.as_str()));
            return Err(bad(span, format!("`{name}` is not a parameter of this op"), help));
        };
        Ok(match &param.kind {
            Kind::Array(Elem::Bool) | Kind::Operand(Elem::Bool, _) | Kind::Plain(Plain::Bool) => Ty::Truth,
            Kind::Array(elem) | Kind::Operand(elem, _) => Ty::Element(*elem),
            _ => Ty::Number,
        })
    }

    /// Checks the use of a word, such as `x.word(y, ..)`, and returns the type of its value.
    fn word(&self, name: &str, args: &mut [Expr], span: &Span) -> Result<Ty, Mistake> {
        let part = sign_of(name).unwrap_or(name);
        let Some(word) = self.model.words.get(name) else {
            let help = did_you_mean(name, self.model.words.keys().map(String::as_str));
            return Err(bad(span, format!("`{part}` is not a word of `each` expressions"), help));
        };
        if args.len() != word.args {
            let message = format!("the number of operands of `{part}` must be {}, but is {}", word.args, args.len());
            return Err(bad(span, message, Some("the operand before the point counts, too".into())));
        }
        self.check_all(args)?;
        let ty = self.common(args, part, span)?;
        let elem = match ty {
            Ty::Element(elem) => elem,
            Ty::Truth if sign_of(name).is_some() => {
                return Err(bad(span, format!("`{part}` takes numbers, not truth values"), None));
            }
            Ty::Truth => Elem::Bool,
            _ => Elem::T,
        };
        let legal = self.model.dtypes_of(&word.set);
        if let Some(dtype) = self.dtypes(elem).into_iter().find(|d| !legal.iter().any(|l| l == d)) {
            let message = format!("`{part}` is for {} dtypes; here it is used on {dtype}", word.set);
            return Err(bad(span, message, Some(format!("the row's dtypes are `{}`", self.op.set))));
        }
        // the result of an operator on numbers without a dtype has no dtype either
        if ty == Ty::Number && (sign_of(name).is_none() || word.result != WordResult::Same) {
            args.iter_mut().try_for_each(|x| self.settle(x, Elem::T))?;
        } else if ty == Ty::Number {
            return Ok(Ty::Number);
        }
        if word.result == WordResult::Second && self.op.result != Out::One(Elem::U) {
            let help = Some("the row needs the key `types`, and the result `array<U>`".into());
            return Err(bad(span, format!("`{part}` gives an element of a second dtype"), help));
        }
        Ok(match (word.result, elem) {
            (WordResult::Truth, _) => Ty::Truth,
            (WordResult::Second, _) => Ty::Element(Elem::U),
            (WordResult::UInt8, _) => Ty::Element(Elem::UInt8),
            (WordResult::Real, Elem::T | Elem::Complex) => Ty::Element(Elem::Real),
            (WordResult::Complex, _) => Ty::Element(Elem::Complex),
            _ => Ty::Element(elem),
        })
    }

    /// Returns the common type of several expressions. Numbers without a dtype get this type.
    fn common(&self, list: &mut [Expr], part: &str, span: &Span) -> Result<Ty, Mistake> {
        let strong = list.iter().map(|e| e.ty.clone()).find(|ty| *ty != Ty::Number);
        let Some(strong) = strong else {
            return Ok(Ty::Number);
        };
        for e in list {
            let same = match (&e.ty, &strong) {
                (Ty::Number, Ty::Element(elem)) => {
                    self.settle(e, *elem)?;
                    true
                }
                (Ty::Element(a), Ty::Element(b)) => self.same(*a, *b),
                (a, b) => a == b,
            };
            if !same {
                let message = match (&strong, &e.ty) {
                    (Ty::Element(a), Ty::Element(b)) => {
                        let (of, a, b) = self.difference(*a, *b);
                        format!("`{part}` cannot combine {a} and {b} for {of}")
                    }
                    (a, b) => format!("`{part}` cannot combine {} and {}", self.describe(a), self.describe(b)),
                };
                return Err(bad(span, message, None));
            }
        }
        Ok(strong)
    }

    /// Gives the type `elem` to an expression without a dtype, and to the numbers inside it.
    fn settle(&self, e: &mut Expr, elem: Elem) -> Result<(), Mistake> {
        if e.ty != Ty::Number {
            return Ok(());
        }
        e.ty = Ty::Element(elem);
        match &mut e.node {
            Node::Number(n) => fits(*n, &self.dtypes(elem)).map_err(|(message, help)| bad(&e.span, message, help)),
            Node::Word(_, args) => args.iter_mut().try_for_each(|x| self.settle(x, elem)),
            Node::If(parts) => parts[1..].iter_mut().try_for_each(|x| self.settle(x, elem)),
            _ => Ok(()),
        }
    }

    fn ordered(&self, elem: Elem, sign: &str, span: &Span) -> Result<(), Mistake> {
        match self.dtypes(elem).into_iter().find(|d| d.starts_with("complex")) {
            None => Ok(()),
            Some(dtype) => {
                let message = format!("`{sign}` is for ordered dtypes; here it is used on {dtype}");
                Err(bad(span, message, Some(format!("the row's dtypes are `{}`", self.op.set))))
            }
        }
    }

    /// The dtypes of an element type: one per dtype of the row or, for `U`, all dtypes of the second set.
    fn dtypes(&self, elem: Elem) -> Vec<&str> {
        match (elem, &self.op.second_set) {
            (Elem::U, Some(set)) => self.model.dtypes_of(set).iter().map(String::as_str).collect(),
            _ => self.dtypes.iter().map(|d| dtype_of(elem, d)).collect(),
        }
    }

    /// Returns whether two element types have the same dtype for every dtype of the row.
    fn same(&self, a: Elem, b: Elem) -> bool {
        (a == Elem::U) == (b == Elem::U) && self.dtypes(a) == self.dtypes(b)
    }

    /// Returns the first dtype of the row for which the element types `a` and `b` differ, the dtype of `a`, and the
    /// dtype of `b`.
    fn difference(&self, a: Elem, b: Elem) -> (&str, &str, &str) {
        if (a == Elem::U) != (b == Elem::U) {
            return ("the two dtypes of the row", a.name(), b.name());
        }
        let all = self.dtypes.iter().zip(self.dtypes(a)).zip(self.dtypes(b));
        let differ = all.map(|((of, a), b)| (of.as_str(), a, b)).find(|(_, a, b)| a != b);
        differ.unwrap_or(("no dtype", "nothing", "nothing"))
    }

    fn describe(&self, ty: &Ty) -> String {
        match ty {
            Ty::Truth => "a truth value".into(),
            Ty::Number => "a number".into(),
            Ty::Element(_) => "an element".into(),
            _ => "nothing".into(),
        }
    }
}

/// Checks that all given dtypes can represent a number. An error consists of a message and help.
///
/// Integer dtypes must represent an integer exactly (`bool` represents only 0 and 1), and cannot represent a decimal
/// number. Float dtypes round to the nearest value.
pub fn fits(n: Number, dtypes: &[&str]) -> Result<(), (String, Option<String>)> {
    let mut integers = dtypes.iter().filter_map(|d| Some((d, integer_range(d)?)));
    match n {
        Number::Integer(value) => match integers.find(|(_, (least, most))| !(*least..=*most).contains(&value)) {
            Some((dtype, _)) => Err((
                format!("`{value}` is not in {dtype}, a dtype of the row"),
                Some("nothing is rounded or wrapped".into()),
            )),
            None => Ok(()),
        },
        Number::Decimal(value) => match integers.next() {
            Some((dtype, _)) => Err((
                format!("`{value:?}` is not a number of {dtype}, a dtype of the row"),
                Some("write an integer".into()),
            )),
            None => Ok(()),
        },
    }
}

/// Returns the operator of a word, such as `+` for `plus`; `None` if no operator stands for the word.
pub fn sign_of(word: &str) -> Option<&'static str> {
    Some(match word {
        "plus" => "+",
        "minus" | "negate" => "-",
        "times" => "*",
        "div" => "/",
        _ => return None,
    })
}

fn bad(span: &Span, message: String, help: Option<String>) -> Mistake {
    Mistake { span: span.clone(), message, help }
}
