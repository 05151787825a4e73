//! Parses the columns that a table declares, which are additional keys of rows. For example, `[column.split]` lists the
//! values that rows may use in `split = ".."`.

use super::*;
use crate::model::Column;

impl Parser<'_> {
    pub(super) fn declared_column(&mut self, name: &Text, value: &Value, taken: &[&str]) {
        let Some(row) = self.table(name, value) else {
            return;
        };
        let is_there = self.model.columns.iter().any(|c| c.name == name.text);
        if !self.name(name, "a column") || !self.new_name(name, is_there, "column") {
            return;
        }
        if taken.contains(&name.text.as_str()) || self.model.backends.iter().any(|b| b.name == name.text) {
            return self.bad(name.span.clone(), format!("`{}` is already a key of rows", name.text), None);
        }
        let all_known = self.known_keys(row, &["summary", "words"], &format!("column `{}`", name.text));
        let words = self.list(row, "words").unwrap_or_default();
        if words.is_empty() && all_known {
            let help = Some("words = [\"axes\", \"rows\"]".into());
            self.bad(name.span.clone(), format!("column `{}` has no `words`", name.text), help);
        }
        let words = words.into_iter().map(|word| word.text).collect();
        let summary = self.text(row, "summary").unwrap_or_default();
        self.model.columns.push(Column { name: name.text.clone(), summary, words });
    }

    /// Returns the values of a row in the declared columns, each with the name of its column.
    pub(super) fn columns(&mut self, row: &Table) -> Vec<(String, String)> {
        let mut said = Vec::new();
        for column in self.model.columns.clone() {
            let Some(word) = self.word(row, &column.name) else {
                continue;
            };
            if column.words.contains(&word.text) {
                said.push((column.name, word.text));
            } else {
                let help = did_you_mean(&word.text, column.words.iter().map(String::as_str));
                let message = format!("`{}` is not a value of the column `{}`", word.text.escape_debug(), column.name);
                self.bad(word.span, message, help);
            }
        }
        said
    }
}
