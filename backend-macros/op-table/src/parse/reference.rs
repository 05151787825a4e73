//! Parses the keys of a row that appear only on its reference page: `returns`, `errors`, `runs`, `also`.

use super::*;
use crate::model::{ERRORS, Reference};

impl Parser<'_> {
    pub(super) fn reference(&mut self, row: &Table) -> Reference {
        let backends: Vec<String> = self.model.backends.iter().map(|b| b.name.clone()).collect();
        let backends: Vec<&str> = backends.iter().map(String::as_str).collect();
        Reference {
            returns: self.text(row, "returns").unwrap_or_default(),
            errors: self.sentences(row, "errors", &ERRORS, "an error that a row may list"),
            runs: self.sentences(row, "runs", &backends, "a backend"),
            also: self.list(row, "also").into_iter().flatten().map(|name| name.text).collect(),
        }
    }

    /// Parses the value of `key`: a table of texts, whose own keys must be in `legal`. `what` describes those keys.
    fn sentences(&mut self, row: &Table, key: &str, legal: &[&str], what: &str) -> Vec<(String, String)> {
        let Some((_, value)) = row.iter().find(|(k, _)| k.text == key) else {
            return Vec::new();
        };
        let Value::Table(table, _) = value else {
            self.bad(value.span(), format!("`{key}` must be a table of texts"), None);
            return Vec::new();
        };
        let mut sentences = Vec::new();
        for (name, value) in table {
            match value {
                _ if !legal.contains(&name.text.as_str()) => {
                    let message = format!("`{}` is not {what}", name.text.escape_debug());
                    self.bad(name.span.clone(), message, did_you_mean(&name.text, legal.iter().copied()));
                }
                Value::Text(text) => sentences.push((name.text.clone(), text.text.clone())),
                other => self.bad(other.span(), format!("`{key}` must be a table of texts"), None),
            }
        }
        sentences
    }
}
