//! Parses the declaration of a choice, such as the section `[choice.norm]`. A choice is a parameter type whose values
//! are a fixed list of names.

use super::*;
use crate::{
    model::{Choice, Kind, camel},
    names::is_type_name,
};
use std::sync::Arc;

/// Words that no value of a choice may have as its name, because they have another meaning in cases, in compositions,
/// and as defaults.
const OTHER_WORDS: [&str; 4] = ["all", "false", "none", "true"];

impl Parser<'_> {
    pub(super) fn choice(&mut self, name: &Text, value: &Value) {
        let Some(row) = self.table(name, value) else {
            return;
        };
        let is_there = self.model.choices.iter().any(|c| c.name == name.text);
        if !self.name(name, "a choice") || !self.new_name(name, is_there, "choice") {
            return;
        }
        if !matches!(Kind::of(&name.text, &[]), Ok(None)) {
            let message = format!("`{}` is already the name of a parameter type", name.text);
            return self.bad(name.span.clone(), message, None);
        }
        let before = self.report.len();
        let all_known = self.known_keys(row, &["type", "summary", "names"], &format!("choice `{}`", name.text));
        let rust = self.word(row, "type");
        if let Some(word) = rust.as_ref().filter(|word| !is_type_name(&word.text)) {
            let help = Some("such as `PadMode`".into());
            self.bad(word.span.clone(), format!("`{}` is not a valid name of a type", word.text.escape_debug()), help);
        }
        let summary = self.text(row, "summary").unwrap_or_default();
        let values = match row.iter().find(|(key, _)| key.text == "names") {
            Some((_, Value::Table(names, span))) => self.names_of_choice(names, span.clone()),
            Some((_, other)) => {
                let help = Some("{ left = \"Before the first.\", right = \"After the last.\" }".into());
                self.bad(other.span(), "`names` must be a table with the meaning of each name", help);
                Vec::new()
            }
            None => {
                if all_known {
                    self.bad(name.span.clone(), format!("choice `{}` has no `names`", name.text), None);
                }
                Vec::new()
            }
        };
        if self.report.len() > before {
            self.model.broken.insert(name.text.clone());
        }
        let rust = rust.filter(|word| is_type_name(&word.text));
        let choice = Choice {
            rust: rust.map_or_else(|| camel(&name.text), |word| word.text),
            name: name.text.clone(),
            summary,
            values,
            of_runtime: !self.has_base,
        };
        self.model.choices.push(Arc::new(choice));
    }

    fn names_of_choice(&mut self, names: &Table, span: Span) -> Vec<(String, String)> {
        let mut values: Vec<(String, String)> = Vec::new();
        for (name, value) in names {
            if OTHER_WORDS.contains(&name.text.as_str()) {
                self.bad(name.span.clone(), format!("`{}` has another meaning in calls", name.text), None);
            } else if self.name(name, "a value of a choice") {
                if let Some((other, _)) = values.iter().find(|(other, _)| camel(other) == camel(&name.text)) {
                    let message = format!("`{other}` and `{}` would both be `{}`", name.text, camel(other));
                    self.bad(name.span.clone(), message, None);
                    continue;
                }
                match value {
                    Value::Text(meaning) => values.push((name.text.clone(), meaning.text.clone())),
                    other => self.bad(other.span(), "the meaning of a name must be a string", None),
                }
            }
        }
        if names.is_empty() {
            self.bad(span, "`names` must have at least one name", None);
        }
        values
    }
}
