//! Converts TOML to the model. This module reports mistakes within one row (the definition of one op); the module
//! `check` reports mistakes that involve several rows.

mod choice;
mod column;
mod facts;
mod mapping;
mod params;
mod reference;
mod row;
mod vocabulary;

use crate::{
    model::{Model, Related},
    names::{NAME_RULE, is_name},
    report::{Report, SourceFile, did_you_mean},
    text::{Span, Text},
    toml_view::{Table, Value, sections},
};

const SECTIONS: [&str; 11] =
    ["backend", "dtype", "dtypes", "choice", "column", "words", "accuracy", "cases", "group", "related", "op"];

/// The role of a table in a call of the macro.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Role {
    /// The base table as context, for which no code is generated.
    Context,
    /// A table for whose rows code is generated.
    Own,
    /// A table that adds a column, for a further backend, to the ops of another table.
    Overlay,
}

/// Adds a table to the model.
pub fn parse(source: &SourceFile, role: Role, model: &mut Model, report: &mut Report) {
    let table = crate::toml_view::read(source, report);
    let has_base = !model.dtypes.is_empty();
    let mut parser = Parser { source, role, has_base, row_is_lost: false, model, report };
    for (name, value) in &table {
        if !SECTIONS.contains(&name.text.as_str()) {
            let help = did_you_mean(&name.text, SECTIONS);
            parser.bad(name.span.clone(), format!("unknown section `{}`", name.text.escape_debug()), help);
            parser.lost(value);
        } else if !matches!(value, Value::Table(..)) {
            parser.bad(value.span(), format!("`{}` must be a table", name.text), None);
        } else if has_base && ["dtype", "words"].contains(&name.text.as_str()) {
            let help = Some("the runtime implements all dtypes and words".into());
            parser.bad(name.span.clone(), format!("`{}` may be given only in the base table", name.text), help);
            return;
        }
    }
    for (name, row) in sections(&table, "backend") {
        parser.backend(name, row);
    }
    for (name, value) in sections(&table, "dtype") {
        parser.dtype(name, value);
    }
    parser.sets(sections(&table, "dtypes"));
    for (name, value) in sections(&table, "choice") {
        parser.choice(name, value);
    }
    let keys = row::keys();
    for (name, value) in sections(&table, "column") {
        parser.declared_column(name, value, &keys);
    }
    for (name, value) in sections(&table, "words") {
        parser.word_of_expressions(name, value);
    }
    for (name, value) in sections(&table, "accuracy") {
        parser.accuracy(name, value);
    }
    for (kinds, cases) in sections(&table, "cases") {
        let cases = parser.strings(cases, "cases");
        parser.model.cases.insert(kinds.text.clone(), cases);
    }
    for (name, value) in sections(&table, "group") {
        parser.group(name, value);
    }
    for (name, ops) in sections(&table, "related") {
        let ops = parser.strings(ops, &name.text);
        parser.model.related.push(Related { name: name.text.clone(), ops, own: role == Role::Own });
    }
    if !parser.report.is_empty() {
        // ignores mistakes in rows after a mistake in another section, because a row may use the incorrect entry
        parser.report.seal();
    }
    for (name, value) in sections(&table, "op") {
        let before = parser.report.len();
        if let Some(row) = parser.table(name, value) {
            parser.op(name, row);
        }
        if parser.report.len() > before {
            parser.model.broken.insert(name.text.clone());
        }
    }
}

struct Parser<'a> {
    source: &'a SourceFile,
    role: Role,
    /// True if this table extends a base table.
    has_base: bool,
    /// True if the parameters of the row have a mistake, so that its expressions cannot be checked.
    row_is_lost: bool,
    model: &'a mut Model,
    report: &'a mut Report,
}

impl Parser<'_> {
    fn bad(&mut self, span: Span, message: impl std::fmt::Display, help: Option<String>) {
        self.report.at(self.source, span, message, help);
    }

    /// Marks the rows of an unknown section as broken, so that uses of their names are not reported as unknown.
    fn lost(&mut self, section: &Value) {
        if let Value::Table(rows, _) = section {
            self.model.broken.extend(rows.iter().map(|(name, _)| name.text.clone()));
        }
    }

    fn table<'t>(&mut self, name: &Text, value: &'t Value) -> Option<&'t Table> {
        match value {
            Value::Table(table, _) => Some(table),
            other => {
                self.bad(other.span(), format!("`{}` must be a table", name.text.escape_debug()), None);
                None
            }
        }
    }

    fn text(&mut self, row: &Table, key: &str) -> Option<String> {
        self.word(row, key).map(|w| w.text)
    }

    /// Returns the string under a key of a row, with its position; `None` if the row does not have the key. Reports a
    /// value that is not a string.
    fn word(&mut self, row: &Table, key: &str) -> Option<Text> {
        match row.iter().find(|(k, _)| k.text == key)? {
            (_, Value::Text(word)) => Some(word.clone()),
            (_, other) => {
                self.bad(other.span(), format!("`{key}` must be a string"), None);
                None
            }
        }
    }

    /// Returns the strings of a list. Reports items that are not strings.
    fn strings(&mut self, value: &Value, what: &str) -> Vec<Text> {
        let Value::List(items, _) = value else {
            self.bad(value.span(), format!("`{what}` must be a list of strings"), None);
            return Vec::new();
        };
        let mut strings = Vec::new();
        for item in items {
            match item {
                Value::Text(text) => strings.push(text.clone()),
                other => self.bad(other.span(), format!("`{what}` must be a list of strings"), None),
            }
        }
        strings
    }

    /// Returns the strings in the list under a key of a row; `None` if the row does not have the key.
    fn list(&mut self, row: &Table, key: &str) -> Option<Vec<Text>> {
        let (_, value) = row.iter().find(|(k, _)| k.text == key)?;
        Some(self.strings(value, key))
    }

    /// Returns whether the word is a valid name, and reports an invalid name. `what` describes the named item.
    fn name(&mut self, word: &Text, what: &str) -> bool {
        let legal = is_name(&word.text);
        if !legal {
            let shown = word.text.escape_debug();
            self.bad(word.span.clone(), format!("`{shown}` cannot be the name of {what}"), Some(NAME_RULE.into()));
        }
        legal
    }

    /// Returns whether the name is new, and reports a name that already exists. `what` describes the named item.
    fn new_name(&mut self, word: &Text, is_there: bool, what: &str) -> bool {
        if is_there {
            self.bad(word.span.clone(), format!("{what} `{}` already exists", word.text.escape_debug()), None);
        }
        !is_there
    }

    fn flag(&mut self, row: &Table, key: &str) -> bool {
        match row.iter().find(|(k, _)| k.text == key) {
            None => false,
            Some((_, Value::Bool(value, _))) => *value,
            Some((_, other)) => {
                self.bad(other.span(), format!("`{key}` must be true or false"), None);
                false
            }
        }
    }

    fn number(&mut self, row: &Table, key: &str) -> Option<f64> {
        let (_, value) = row.iter().find(|(k, _)| k.text == key)?;
        self.tolerance(value)
    }

    /// Parses an error bound, which must be finite and non-negative.
    fn tolerance(&mut self, value: &Value) -> Option<f64> {
        match value {
            Value::Number(x, _) if x.is_finite() && *x >= 0.0 => Some(*x),
            other => {
                self.bad(other.span(), "this must be a finite number of 0 or more", None);
                None
            }
        }
    }

    fn numbers(&mut self, row: &Table, key: &str) -> Vec<(String, f64)> {
        let Some((_, value)) = row.iter().find(|(k, _)| k.text == key) else {
            return Vec::new();
        };
        let Value::Table(table, _) = value else {
            self.bad(value.span(), format!("`{key}` must be a table with a number for each dtype"), None);
            return Vec::new();
        };
        let mut found = Vec::new();
        for (dtype, value) in table {
            if !self.model.dtypes.iter().any(|d| d.name == dtype.text) {
                let help = did_you_mean(&dtype.text, self.model.dtypes.iter().map(|d| d.name.as_str()));
                self.bad(dtype.span.clone(), format!("there is no dtype `{}`", dtype.text.escape_debug()), help);
            } else if let Some(x) = self.tolerance(value) {
                found.push((dtype.text.clone(), x));
            }
        }
        found
    }

    /// Reports unknown keys, and returns whether there are none. An unknown key may be a misspelt required key, so a
    /// missing key is reported only if there are none.
    fn known_keys(&mut self, row: &Table, legal: &[&str], of: &str) -> bool {
        let before = self.report.len();
        for (key, _) in row {
            if !legal.contains(&key.text.as_str()) {
                let help = did_you_mean(&key.text, legal.iter().copied());
                self.bad(key.span.clone(), format!("unknown key `{}` in {of}", key.text.escape_debug()), help);
            }
        }
        self.report.len() == before
    }
}
