//! Parameters, their types and defaults, and results.

use super::*;
use crate::{model::*, names::decimal};

impl Parser<'_> {
    /// The parameters, if all of them can be read.
    pub(super) fn params(&mut self, row: &Table) -> Option<Vec<Param>> {
        let (_, value) = row.iter().find(|(k, _)| k.text == "params")?;
        let before = self.report.len();
        let mut params = Vec::<Param>::new();
        for word in self.strings(value, "params") {
            let Some(param) = self.param(&word) else {
                continue;
            };
            if params.iter().any(|p| p.name == param.name) {
                self.bad(word.span.clone(), format!("parameter `{}` is given twice", param.name), None);
            }
            if param.default.is_none() && params.iter().any(|p| p.default.is_some()) {
                let help = Some("parameters with defaults come last".into());
                self.bad(word.span.clone(), format!("parameter `{}` has no default", param.name), help);
            }
            params.push(param);
        }
        (self.report.len() == before).then_some(params)
    }

    fn param(&mut self, word: &Text) -> Option<Param> {
        let Some((name, rest)) = word.text.split_once(':') else {
            let help = Some("write \"name: type\" or \"name: type = default\"".into());
            let message = format!("parameter `{}` has no type", word.text.escape_debug());
            self.bad(word.span.clone(), message, help);
            return None;
        };
        let (ty, default) = match rest.split_once('=') {
            Some((ty, default)) => (ty.trim(), Some(default.trim())),
            None => (rest.trim(), None),
        };
        let name = name.trim();
        if !self.name(&word.part(name), "a parameter") {
            return None;
        }
        let kind = self.kind(&word.part(ty))?;
        let value = match default {
            None => None,
            Some(text) => match default_of(&kind, text) {
                Some(value) => Some(value),
                None => {
                    let message = format!("`{}` is no default of a parameter of type `{ty}`", text.escape_debug());
                    self.bad(word.place_of(text), message, default_help(&kind));
                    return None;
                }
            },
        };
        if matches!(kind, Kind::Maybe(_) | Kind::Lengths) && value.is_none() {
            self.bad(word.span.clone(), format!("a parameter of type `{ty}` has the default `none`"), None);
            return None;
        }
        Some(Param {
            text: word.text.clone(),
            name: name.into(),
            ty: ty.into(),
            kind,
            default: value,
            default_text: default.unwrap_or_default().into(),
            span: word.span.clone(),
        })
    }

    fn kind(&mut self, word: &Text) -> Option<Kind> {
        let ty = word.text.as_str();
        let (head, inner) = match ty.split_once('<') {
            Some((head, inner)) => (head, inner.strip_suffix('>')),
            None => (ty, Some("")),
        };
        let array = |e: Elem| match head {
            "array" => Some(Kind::Array(e)),
            "operand" => Some(Kind::Operand(e)),
            "arrays" => Some(Kind::Arrays(e)),
            _ => None,
        };
        if let (Some(inner), true) = (inner, array(Elem::T).is_some()) {
            return self.elem(&word.part(inner)).and_then(array);
        }
        if let Some((_, kind)) = KINDS.iter().find(|(name, _)| *name == ty) {
            return Some(kind.clone());
        }
        if let Some((_, rust, _)) = CHOICES.iter().find(|(name, ..)| *name == ty) {
            return Some(Kind::Choice(rust));
        }
        let plain = |ty: &str| PLAIN.iter().find(|(name, _)| *name == ty).map(|(_, plain)| *plain);
        if let Some(plain) = plain(ty) {
            return Some(Kind::Plain(plain));
        }
        match ty.strip_suffix('?') {
            Some("lengths") => return Some(Kind::Lengths),
            Some(maybe) if plain(maybe).is_some() => return plain(maybe).map(Kind::Maybe),
            _ => {}
        }
        let names = ["array", "operand", "arrays", "lengths?"].into_iter();
        let names = names.chain(KINDS.iter().map(|k| k.0)).chain(CHOICES.iter().map(|c| c.0));
        let help = did_you_mean(ty, names.chain(PLAIN.iter().map(|(name, _)| *name)));
        self.bad(word.span.clone(), format!("unknown type of parameter `{}`", ty.escape_debug()), help);
        None
    }

    fn elem(&mut self, word: &Text) -> Option<Elem> {
        if word.text.is_empty() {
            return Some(Elem::T);
        }
        let known = ELEMS.iter().find(|(n, _)| *n == word.text).map(|(_, e)| *e);
        if known.is_none() {
            let help = did_you_mean(&word.text, ELEMS.iter().map(|e| e.0));
            self.bad(word.span.clone(), format!("unknown element type `{}`", word.text.escape_debug()), help);
        }
        known
    }

    pub(super) fn result(&mut self, word: &Text) -> Option<Out> {
        let text = word.text.as_str();
        let mut one = |part: &str| {
            let part = part.trim();
            let rest = part.strip_prefix("array");
            match rest.map(|rest| if rest.is_empty() { Some("") } else { rest.strip_prefix('<')?.strip_suffix('>') }) {
                Some(Some(elem)) => self.elem(&word.part(elem)),
                _ => {
                    let message = format!("`{}` is no array type", part.escape_debug());
                    self.bad(word.place_of(part), message, Some("array, array<real>, array<int64> ..".into()));
                    None
                }
            }
        };
        if let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
            return inner.split(',').map(one).collect::<Option<_>>().map(Out::Tuple);
        }
        if let Some(inner) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
            return one(inner).map(Out::List);
        }
        one(text).map(Out::One)
    }
}

/// The default that a text says, if it is one of a parameter of the kind.
fn default_of(kind: &Kind, text: &str) -> Option<DefaultValue> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_integer = !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit());
    let integer = |least: i128, most: i128| {
        let value = if is_integer { text.parse().ok() } else { None };
        value.filter(|x| (least..=most).contains(x)).map(DefaultValue::Integer)
    };
    let axis = |text: &str| text.trim().parse::<i8>().ok().filter(|_| !text.contains('+'));
    match kind {
        Kind::Array(_) | Kind::Maybe(_) | Kind::Lengths => (text == "none").then_some(DefaultValue::None),
        Kind::Plain(Plain::Bool) => ["true", "false"].contains(&text).then_some(DefaultValue::Bool(text == "true")),
        Kind::Plain(Plain::F64) => decimal(text).map(DefaultValue::Decimal),
        Kind::Plain(Plain::Usize | Plain::U64) => integer(0, u64::MAX.into()),
        Kind::Plain(_) => integer(i64::MIN.into(), i64::MAX.into()),
        Kind::Axis => axis(text).map(|x| DefaultValue::Integer(x.into())),
        Kind::Axes if text == "all" => Some(DefaultValue::All),
        Kind::Axes => match text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
            Some(list) => list.split(',').map(axis).collect::<Option<_>>().map(DefaultValue::Axes),
            None => axis(text).map(|x| DefaultValue::Axes(vec![x])),
        },
        Kind::Choice(rust) => {
            let known = CHOICES.iter().any(|(_, t, names)| t == rust && names.contains(&text));
            known.then(|| DefaultValue::Choice(text.into()))
        }
        _ => None,
    }
}

/// What a default of the kind looks like.
fn default_help(kind: &Kind) -> Option<String> {
    let text = match kind {
        Kind::Array(_) | Kind::Maybe(_) | Kind::Lengths => "none",
        Kind::Plain(Plain::Bool) => "true or false",
        Kind::Plain(Plain::F64) => "a finite number",
        Kind::Plain(Plain::Usize | Plain::U64) => "an integer of 0 or more, of 64 bits",
        Kind::Plain(_) => "an integer of 64 bits",
        Kind::Axis => "an axis such as -1",
        Kind::Axes => "all, -1 or [0, 1]",
        Kind::Choice(rust) => {
            let (.., names) = CHOICES.iter().find(|(_, t, _)| t == rust)?;
            return Some(format!("one of: {}", names.join(", ")));
        }
        _ => "a parameter of this type has none",
    };
    Some(text.into())
}
