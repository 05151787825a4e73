//! Checks the expression of a `compose` row: finds the op of each call, checks the arguments, and determines the type
//! of the result.

use super::{
    each::fits,
    tree::{Argument, Dtypes, Expr, Name, Node, Ty},
};
use crate::{
    model::{DefaultValue, Elem, Field, Kind, Model, Op, Out, Param, Plain, dtype_of, integer_range},
    report::{Mistake, did_you_mean},
    text::Span,
};
use std::collections::BTreeMap;

/// Describes the language of compositions, for error messages.
const LANGUAGE: &str = "allowed are calls of ops, parameters, numbers, lists, + - * / and comparisons, `x.word()`, \
                        `let name = ..;` and `option = value`";

/// Determines the type of every subexpression of `expr`, and replaces operators by calls of ops. Returns all mistakes.
pub fn check(expr: &mut Expr, op: &Op, model: &Model) -> Vec<Mistake> {
    let dtypes = model.dtypes_of(&op.set).to_vec();
    let mut scope = Scope { op, model, dtypes, lets: BTreeMap::new(), mistakes: Vec::new() };
    scope.check(expr);
    scope.result(expr);
    scope.mistakes
}

struct Scope<'m> {
    op: &'m Op,
    model: &'m Model,
    /// The dtypes of the row.
    dtypes: Vec<String>,
    lets: BTreeMap<String, Ty>,
    mistakes: Vec<Mistake>,
}

impl Scope<'_> {
    fn bad(&mut self, span: &Span, message: String, help: Option<String>) {
        self.mistakes.push(Mistake { span: span.clone(), message, help });
    }

    /// Returns the dtype that `elem` stands for, for each dtype of the row. For example, `Elem::Real` stands for
    /// float32 if the row's dtype is complex64.
    fn of(&self, elem: Elem) -> Dtypes {
        Some(self.dtypes.iter().map(|d| dtype_of(elem, d).to_string()).collect())
    }

    fn check(&mut self, e: &mut Expr) {
        if !self.operators_are_calls(e) {
            return;
        }
        let span = e.span.clone();
        e.ty = match &mut e.node {
            Node::Name(name) => self.name(name, &span),
            Node::Number(_) => Ty::Number,
            Node::Bool(_) => Ty::Other,
            Node::List(items) => self.list(items),
            Node::Call(op, arguments) => self.call(op, arguments, &span),
            Node::Block(lets, value) => {
                for (name, value) in lets {
                    self.check(value);
                    self.bind(name, value.ty.clone());
                }
                self.check(value);
                value.ty.clone()
            }
            Node::Word(..) | Node::Compare(..) | Node::Logic(..) | Node::Not(_) | Node::If(_) => {
                self.bad(&span, "this is not allowed in a `compose` expression".into(), Some(LANGUAGE.into()));
                Ty::Unknown
            }
        };
    }

    fn bind(&mut self, name: &Name, ty: Ty) {
        if self.op.param(&name.text).is_some() || self.lets.contains_key(&name.text) {
            self.bad(&name.span, format!("`{}` already has a value", name.text), None);
        }
        self.lets.insert(name.text.clone(), ty);
    }

    /// Replaces an operator or a word by a call of its op, such as `x * y` by `multiply(x, y)`. If the word is unknown
    /// or has no op, reports this and returns false.
    fn operators_are_calls(&mut self, e: &mut Expr) -> bool {
        let (op, args) = match &mut e.node {
            Node::Word(word, args) => {
                let Some(known) = self.model.words.get(word) else {
                    let (word, help) = (word.clone(), did_you_mean(word, self.model.words.keys().map(String::as_str)));
                    let span = e.span.clone();
                    self.bad(&span, format!("`{word}` is not a word of expressions"), help);
                    return false;
                };
                let Some((op, _)) = &known.op else {
                    let span = e.span.clone();
                    let message =
                        format!("`{word}` is a word of `each` expressions only, because no op corresponds to it");
                    self.bad(&span, message, None);
                    return false;
                };
                (op.clone(), std::mem::take(args))
            }
            Node::Compare(how, _) => {
                let op = how.op().to_string();
                let Node::Compare(_, both) = std::mem::replace(&mut e.node, Node::Bool(false)) else { return false };
                (op, Vec::from(both as Box<[Expr]>))
            }
            _ => return true,
        };
        let arguments = args.into_iter().map(|value| Argument { option: None, value }).collect();
        e.node = Node::Call(op, arguments);
        true
    }

    fn name(&mut self, name: &str, span: &Span) -> Ty {
        if let Some(ty) = self.lets.get(name) {
            return ty.clone();
        }
        if let Some(param) = self.op.param(name) {
            return match &param.kind {
                Kind::Array(_) if param.default.is_some() => Ty::Other,
                Kind::Array(elem) | Kind::Operand(elem, _) => Ty::Array(self.of(*elem)),
                Kind::Arrays(elem) => Ty::Arrays(self.of(*elem)),
                Kind::Scalar => Ty::Scalar,
                _ => Ty::Other,
            };
        }
        if ["all", "none"].contains(&name) || self.model.choices.iter().any(|c| c.names().contains(&name)) {
            return Ty::Other;
        }
        let known = self.op.params.iter().map(|p| &p.name).chain(self.lets.keys());
        let help = did_you_mean(name, known.map(String::as_str));
        self.bad(span, format!("`{name}` is neither a parameter nor a `let`"), help);
        Ty::Unknown
    }

    /// Checks the items of a list, which are arrays or numbers, and returns the type of the list.
    fn list(&mut self, items: &mut [Expr]) -> Ty {
        items.iter_mut().for_each(|e| self.check(e));
        if items.iter().any(|e| e.ty == Ty::Unknown) {
            return Ty::Unknown;
        }
        let arrays: Vec<Dtypes> = items.iter().filter_map(|e| array(&e.ty).cloned()).collect();
        match arrays.split_first() {
            Some((first, rest)) if arrays.len() == items.len() => {
                if let Some(at) = rest.iter().position(|d| conflict(first, d).is_some()) {
                    let span = items[at + 1].span.clone();
                    self.bad(&span, "the arrays of this list have different dtypes".into(), None);
                    return Ty::Unknown;
                }
                Ty::Arrays(first.clone())
            }
            _ => Ty::Other,
        }
    }

    fn call(&mut self, name: &str, arguments: &mut [Argument], span: &Span) -> Ty {
        arguments.iter_mut().for_each(|a| self.check(&mut a.value));
        let Some(op) = self.model.op(name) else {
            if !self.model.broken.contains(name) {
                let help = did_you_mean(name, self.model.ops.iter().map(|o| o.name.as_str()));
                self.bad(span, format!("there is no op `{name}`"), help);
            }
            return Ty::Unknown;
        };
        if op.second.is_some() {
            let help = Some("map the row with `generic`".to_string());
            self.bad(
                span,
                format!("the caller of op `{name}` must name a dtype, which is impossible in `compose`"),
                help,
            );
            return Ty::Unknown;
        }
        if !op.params_are_whole {
            return Ty::Unknown;
        }
        let mistakes = self.mistakes.len();
        let given = self.given(op, arguments, span);
        let t = self.dtypes_of_call(op, &given, arguments, span);
        if self.mistakes.len() == mistakes {
            for (param, i) in &given {
                self.argument(op, param, &arguments[*i].value, &t);
            }
        }
        if self.mistakes.len() > mistakes || t.is_err() {
            return Ty::Unknown;
        }
        let t = t.unwrap_or_default();
        let one = |elem: Elem| match (&t, elem) {
            (Some(t), _) => Some(t.iter().map(|d| dtype_of(elem, d).to_string()).collect()),
            (None, elem) if elem.dtype().is_some() => self.of(elem),
            (None, _) => None,
        };
        match &op.result {
            Out::One(elem) => Ty::Array(one(*elem)),
            Out::Fields(fields) => Ty::Several(fields.iter().map(|f| one(f.elem)).collect()),
            Out::Plain(_) => Ty::Other,
            Out::List(elem) => Ty::Arrays(one(*elem)),
        }
    }

    /// Matches the arguments of a call with the parameters of `op`. Converts each named argument whose parameter has no
    /// default to a positional argument, because later passes look up such arguments by position. Returns each
    /// parameter with the index of its argument.
    fn given<'o>(&mut self, op: &'o Op, arguments: &mut [Argument], span: &Span) -> Vec<(&'o Param, usize)> {
        let wanted: Vec<&Param> = op.positional().collect();
        let (mut known, mut is_named, mut count) = (Vec::<&Param>::new(), false, 0);
        for argument in arguments.iter() {
            match &argument.option {
                None if is_named => {
                    let message = "arguments without a name must come before arguments with a name".to_string();
                    self.bad(&argument.value.span, message, None);
                    return Vec::new();
                }
                None => {
                    known.extend(wanted.get(count).copied());
                    count += 1;
                }
                Some(name) => {
                    is_named = true;
                    let Some(param) = op.params.iter().find(|p| p.name == name.text) else {
                        let names: Vec<&str> = op.params.iter().map(|p| p.name.as_str()).collect();
                        let help = did_you_mean(&name.text, names.iter().copied())
                            .unwrap_or_else(|| format!("it has {}", names.join(", ")));
                        let message = format!("op `{}` has no parameter `{}`", op.name, name.text);
                        self.bad(&name.span, message, (!names.is_empty()).then_some(help));
                        return Vec::new();
                    };
                    if known.iter().any(|p| p.name == param.name) {
                        self.bad(&name.span, format!("parameter `{}` is given twice", name.text), None);
                        return Vec::new();
                    }
                    known.push(param);
                }
            }
        }
        let missing: Vec<&str> = wanted.iter().filter(|p| !known.contains(p)).map(|p| p.name.as_str()).collect();
        if count > wanted.len() || !missing.is_empty() {
            let names: Vec<&str> = wanted.iter().map(|p| p.name.as_str()).collect();
            let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
            let given = if count > wanted.len() { count } else { wanted.len() - missing.len() };
            let missing: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
            let help = (!missing.is_empty()).then(|| format!("give {}", missing.join(" and ")));
            self.bad(span, format!("op `{}` takes {}{names}, {given} given", op.name, wanted.len()), help);
            return Vec::new();
        }
        let place = |name: &Name| wanted.iter().position(|p| p.name == name.text);
        let rank = |name: &Name| place(name).map_or(usize::MAX, |place| 1 + place);
        arguments.sort_by_key(|a| a.option.as_ref().map_or(0, rank));
        for argument in arguments.iter_mut() {
            argument.option.take_if(|name| place(name).is_some());
        }
        let options = arguments[wanted.len()..].iter().filter_map(|a| a.option.as_ref());
        let options = options.filter_map(|name| op.optional().find(|p| p.name == name.text));
        wanted.iter().copied().chain(options).enumerate().map(|(i, param)| (param, i)).collect()
    }

    /// Returns the dtypes that `T` has in a call of `op`; `None` if no argument determines them. Returns an error if
    /// the arguments have wrong or unknown dtypes.
    fn dtypes_of_call(
        &mut self,
        op: &Op,
        given: &[(&Param, usize)],
        arguments: &[Argument],
        span: &Span,
    ) -> Result<Dtypes, ()> {
        let mut t: Dtypes = None;
        for (param, i) in given.iter().filter(|(param, _)| param.kind.elem() == Some(Elem::T)) {
            let value = &arguments[*i].value;
            let of_row = self.of(Elem::T);
            let dtypes = match &value.ty {
                Ty::Unknown => return Err(()),
                Ty::Array(d) | Ty::Arrays(d) if d.is_some() => d,
                Ty::Scalar => &of_row,
                _ => continue,
            };
            if let Some((a, b)) = conflict(&t, dtypes) {
                let help = Some("convert one of the arrays before it is passed to the op".to_string());
                self.bad(
                    span,
                    format!("the arguments of op `{}` must have one dtype, but may have {a} and {b} here", op.name),
                    help,
                );
                return Err(());
            }
            if t.is_none() {
                t = dtypes.clone();
            }
            let legal = self.model.dtypes_of(&op.set);
            let outside = t.iter().flatten().find(|d| !legal.iter().any(|l| l == *d));
            if let (Some(dtype), false) = (outside, legal.is_empty()) {
                let message = format!(
                    "op `{}` is for {} dtypes; here its argument `{}` may be {dtype}",
                    op.name, op.set, param.name
                );
                let help = Some(format!("the row's dtypes are `{}`", self.op.set));
                self.bad(span, message, help);
                return Err(());
            }
        }
        Ok(t)
    }

    /// Checks that an argument has the type of its parameter. `t` are the dtypes that `T` has in this call.
    fn argument(&mut self, op: &Op, param: &Param, value: &Expr, t: &Result<Dtypes, ()>) {
        let Ok(t) = t else { return };
        if value.ty == Ty::Unknown {
            return;
        }
        let of = |elem: Elem| t.as_ref().map(|t| t.iter().map(|d| dtype_of(elem, d).to_string()).collect::<Vec<_>>());
        let row_param = match &value.node {
            Node::Name(name) if !self.lets.contains_key(name) => self.op.param(name),
            _ => None,
        };
        // accepts a parameter of the row that has the same type as the parameter of the called op: both parameters
        // allow the same values, including `none`
        if row_param
            .is_some_and(|p| p.kind == param.kind && p.default.is_some() == param.default.is_some() && !p.is_array())
        {
            return;
        }
        let same = |elem: Elem, d: &Dtypes| conflict(&of(elem), d).is_none();
        let fit = match (&param.kind, &value.ty) {
            (Kind::Array(elem), Ty::Array(d)) => !is_operand(row_param) && same(*elem, d),
            (Kind::Array(_), Ty::Other) if param.default.is_some() => {
                is_none(value) || row_param.is_some_and(|p| p.kind == param.kind)
            }
            (Kind::Operand(elem, _), Ty::Array(d)) => same(*elem, d),
            (Kind::Operand(Elem::T, _), Ty::Scalar) | (Kind::Scalar, Ty::Scalar) => true,
            (Kind::Operand(Elem::T, _) | Kind::Scalar, Ty::Number) => return self.number(value, t),
            (Kind::Operand(..), Ty::Other) if param.kind.takes_literal(value, self.op) => true,
            (Kind::Operand(Elem::T, _), Ty::Other) => {
                let floats = t.iter().flatten().all(|d| integer_range(d).is_none());
                floats && row_param.is_some_and(|p| p.kind == Kind::Plain(Plain::F64))
            }
            (Kind::Arrays(elem), Ty::Arrays(d)) => same(*elem, d),
            (kind, Ty::Other | Ty::Number) => kind.takes_literal(value, self.op),
            _ => false,
        };
        if !fit {
            let message = format!(
                "parameter `{}` of op `{}` must be `{}`; this is {}",
                param.name,
                op.name,
                param.ty,
                self.describe(value)
            );
            self.bad(&value.span, message, None);
        }
    }

    /// Checks that the dtypes of the call can represent a number. If the call's dtypes are unknown, the row's dtypes
    /// must represent it.
    fn number(&mut self, value: &Expr, t: &Dtypes) {
        let Node::Number(n) = value.node else { return };
        let dtypes: Vec<&str> = t.as_ref().unwrap_or(&self.dtypes).iter().map(String::as_str).collect();
        if let Err((message, help)) = fits(n, &dtypes) {
            self.bad(&value.span, message, help);
        }
    }

    fn describe(&self, value: &Expr) -> String {
        match &value.ty {
            _ if self.is_operand(value) => "an operand, which may be a scalar".into(),
            Ty::Array(Some(d)) => format!("an array of {}", d.first().map_or("no dtype", String::as_str)),
            Ty::Array(None) => "an array".into(),
            Ty::Arrays(_) => "a list of arrays".into(),
            Ty::Several(all) => format!("{} arrays", all.len()),
            Ty::Number => "a number".into(),
            Ty::Scalar => "a scalar".into(),
            _ => match &value.node {
                Node::Name(name) => match self.op.param(name) {
                    Some(param) => format!("`{}`", param.ty),
                    None => format!("`{name}`"),
                },
                Node::List(_) => "a list".into(),
                Node::Bool(_) => "a truth value".into(),
                _ => "something else".into(),
            },
        }
    }

    /// Checks that the composition returns the result that the row declares.
    fn result(&mut self, e: &Expr) {
        let e = last(e);
        let fit = match (&e.ty, &self.op.result) {
            (Ty::Unknown, _) => true,
            (Ty::Array(d), Out::One(elem)) => conflict(&self.of(*elem), d).is_none() && !self.is_operand(e),
            (Ty::Several(all), Out::Fields(fields)) => {
                let fits = |(d, f): (&Dtypes, &Field)| conflict(&self.of(f.elem), d).is_none();
                all.len() == fields.len() && all.iter().zip(fields).all(fits)
            }
            (Ty::Arrays(d), Out::List(elem)) => conflict(&self.of(*elem), d).is_none(),
            _ => false,
        };
        if !fit {
            let (what, wanted) = (self.describe(e), self.op.result_text.clone());
            self.bad(
                &e.span.clone(),
                format!("the composition returns {what}, but the row's result is `{wanted}`"),
                None,
            );
        }
    }

    fn is_operand(&self, e: &Expr) -> bool {
        matches!(&e.node, Node::Name(name) if is_operand(self.op.param(name)))
    }
}

/// Returns whether a parameter is an operand, which accepts a scalar instead of an array.
fn is_operand(param: Option<&Param>) -> bool {
    param.is_some_and(|p| matches!(p.kind, Kind::Operand(..)))
}

/// Returns the expression that determines the value of `e`: the last expression of a block, which may itself be a
/// block, or `e` itself.
fn last(e: &Expr) -> &Expr {
    match &e.node {
        Node::Block(_, value) => last(value),
        _ => e,
    }
}

fn array(ty: &Ty) -> Option<&Dtypes> {
    if let Ty::Array(d) = ty { Some(d) } else { None }
}

/// Returns the first two dtypes at the same position in `a` and `b` that differ. Unknown dtypes never conflict.
fn conflict<'d>(a: &'d Dtypes, b: &'d Dtypes) -> Option<(&'d str, &'d str)> {
    let (a, b) = (a.as_ref()?, b.as_ref()?);
    a.iter().zip(b).find(|(a, b)| a != b).map(|(a, b)| (a.as_str(), b.as_str()))
}

fn is_none(e: &Expr) -> bool {
    matches!(&e.node, Node::Name(name) if name == "none")
}

/// The ops that a composition calls, each with the position of its call.
pub fn calls(e: &Expr) -> Vec<Name> {
    let mut calls = Vec::new();
    e.walk(&mut |e| {
        if let Node::Call(op, _) = &e.node {
            calls.push(Name { text: op.clone(), span: e.span.clone() });
        }
    });
    calls
}

/// Returns whether both the value and the default of an option are `none`, so that the option need not be set.
pub fn is_default(param: &Param, value: &Expr) -> bool {
    param.default == Some(DefaultValue::None) && is_none(value)
}
