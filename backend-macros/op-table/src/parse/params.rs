//! Parses the parameters of a row of the op table, with their types and defaults, and the results of the row.

use super::*;
use crate::model::*;

impl Parser<'_> {
    /// The parameters of a row; `None` if one of them cannot be parsed.
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
                let help = Some("parameters with defaults must come last".into());
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
            Some(text) => match kind.default_of(text) {
                Some(value) => Some(value),
                None => {
                    let message =
                        format!("`{}` is not a valid default of a parameter of type `{ty}`", text.escape_debug());
                    self.bad(word.place_of(text), message, Some(kind.default_help()));
                    return None;
                }
            },
        };
        if kind.is_maybe() && value.is_none() {
            self.bad(word.span.clone(), format!("a parameter of type `{ty}` must have the default `none`"), None);
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
        match Kind::of(&word.text, &self.model.choices) {
            Ok(Some(kind)) => Some(kind),
            Err(part) => self.elem(&word.part(part)).and(None),
            Ok(None) => {
                let choices: Vec<String> = self.model.choices.iter().map(|c| c.name.clone()).collect();
                let help = did_you_mean(
                    &word.text,
                    Kind::names().map(|name| name as &str).chain(choices.iter().map(String::as_str)),
                );
                let message = format!("unknown type of parameter `{}`", word.text.escape_debug());
                self.bad(word.span.clone(), message, help);
                None
            }
        }
    }

    fn elem(&mut self, word: &Text) -> Option<Elem> {
        let known = Elem::of(&word.text);
        if known.is_none() {
            let help = did_you_mean(&word.text, Elem::names());
            self.bad(word.span.clone(), format!("unknown element type `{}`", word.text.escape_debug()), help);
        }
        known
    }

    /// Parses the key `result`. Without this key, the result is one array. Returns the result and its text.
    pub(super) fn result(&mut self, row: &Table) -> (Out, String) {
        let array = || (Out::One(Elem::T), "array".to_string());
        match row.iter().find(|(key, _)| key.text == "result") {
            None => array(),
            Some((_, Value::Text(word))) => (self.one_result(word).unwrap_or(array().0), word.text.clone()),
            Some((_, Value::Table(fields, span))) => self.fields(fields, span.clone()).unwrap_or_else(array),
            Some((_, other)) => {
                let help = Some("\"array\", or { values = \"array\", counts = \"array<int64>\" }".into());
                self.bad(other.span(), "`result` must be a type, or a table of names and types", help);
                array()
            }
        }
    }

    /// Parses the fields of a result, such as `{ values = "array", counts = "array<int64>" }`.
    fn fields(&mut self, row: &Table, span: Span) -> Option<(Out, String)> {
        let before = self.report.len();
        let (mut fields, mut told) = (Vec::new(), Vec::new());
        for (name, value) in row {
            self.name(name, "a result");
            let Value::Text(word) = value else {
                self.bad(value.span(), "the type of a result must be a string", None);
                continue;
            };
            if let Some(elem) = self.array(word, &word.text) {
                told.push(format!("{}: {}", name.text, word.text));
                fields.push(Field { name: name.text.clone(), elem });
            }
        }
        if row.len() < 2 && self.report.len() == before {
            self.bad(span, "a single result must not have a name", Some("write \"array\"".into()));
        }
        (self.report.len() == before).then(|| (Out::Fields(fields), format!("{{ {} }}", told.join(", "))))
    }

    /// Parses `array` or `array<..>` as a type of a result, and returns its element type.
    fn array(&mut self, word: &Text, part: &str) -> Option<Elem> {
        let part = part.trim();
        let rest = part.strip_prefix("array");
        match rest.map(|rest| if rest.is_empty() { Some("") } else { rest.strip_prefix('<')?.strip_suffix('>') }) {
            Some(Some(elem)) => self.elem(&word.part(elem)),
            _ => {
                let message = format!("`{}` is not a type of a result", part.escape_debug());
                let help = "array, array<real>, array<int64> .., [array], bool, f64, usize ..".to_string();
                self.bad(word.place_of(part), message, Some(help));
                None
            }
        }
    }

    fn one_result(&mut self, word: &Text) -> Option<Out> {
        let text = word.text.as_str();
        if text.starts_with('(') {
            let help = Some("{ values = \"array\", counts = \"array<int64>\" }".into());
            self.bad(word.span.clone(), "several results must have names", help);
            return None;
        }
        if let Some(inner) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
            return self.array(word, inner).map(Out::List);
        }
        if let Some(plain) = Plain::of(text) {
            return Some(Out::Plain(plain));
        }
        self.array(word, text).map(Out::One)
    }
}
