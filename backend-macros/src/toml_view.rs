//! A TOML table as plain data with places: what `parse` reads.

use crate::report::{Report, Source};
use std::ops::Range;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// A piece of text and where it stands.
#[derive(Clone, Debug)]
pub struct Word {
    pub text: String,
    pub span: Range<usize>,
}

impl Word {
    /// Where `part` stands inside the string; the whole of it if it does not.
    pub fn find(&self, part: &str) -> Range<usize> {
        let ident = |c: char| c.is_alphanumeric() || c == '_';
        let whole = |i: usize| !self.text[..i].ends_with(ident) && !self.text[i + part.len()..].starts_with(ident);
        match self.text.match_indices(part).map(|(i, _)| i).find(|&i| whole(i)) {
            // the span begins at the opening quote
            Some(i) if !part.is_empty() => self.span.start + 1 + i..self.span.start + 1 + i + part.len(),
            _ => self.span.clone(),
        }
    }
}

/// Entries in the order of the file.
pub type Table = Vec<(Word, Value)>;

pub enum Value {
    Text(Word),
    Number(f64, Range<usize>),
    Bool(bool, Range<usize>),
    List(Vec<Value>, Range<usize>),
    Table(Table, Range<usize>),
    Other(Range<usize>),
}

impl Value {
    pub fn span(&self) -> Range<usize> {
        match self {
            Value::Text(word) => word.span.clone(),
            Value::Number(_, s) | Value::Bool(_, s) | Value::List(_, s) | Value::Table(_, s) | Value::Other(s) => {
                s.clone()
            }
        }
    }

    /// The strings of a list; nothing of what is no list.
    pub fn strings(&self) -> Vec<Word> {
        let Value::List(items, _) = self else {
            return Vec::new();
        };
        items
            .iter()
            .filter_map(|v| match v {
                Value::Text(word) => Some(word.clone()),
                _ => None,
            })
            .collect()
    }
}

/// Reads a table; every mistake of syntax is reported and the rest is read all the same.
pub fn read(source: &Source, report: &mut Report) -> Table {
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    let mut repeated = None;
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        if error.message() == "duplicate key" {
            // a repeated [op.x] repeats its keys too: one report is enough
            let section = source.text[..span.start].rfind("\n[").map_or(0, |i| i + 1);
            if repeated == Some(section) {
                continue;
            }
            if source.text[..span.start].ends_with(['[', '.']) {
                repeated = Some(section);
            }
        }
        report.at(source, span, error.message(), None);
    }
    entries(table.get_ref())
}

fn entries(table: &DeTable<'_>) -> Table {
    let mut entries: Table = table
        .iter()
        .map(|(key, value)| (Word { text: key.get_ref().to_string(), span: key.span() }, view(value)))
        .collect();
    entries.sort_by_key(|(key, _)| key.span.start);
    entries
}

fn view(value: &Spanned<DeValue<'_>>) -> Value {
    let span = value.span();
    match value.get_ref() {
        DeValue::String(text) => Value::Text(Word { text: text.to_string(), span }),
        DeValue::Boolean(b) => Value::Bool(*b, span),
        DeValue::Integer(i) => i.as_str().parse().map_or(Value::Other(span.clone()), |x| Value::Number(x, span)),
        DeValue::Float(f) => f.as_str().parse().map_or(Value::Other(span.clone()), |x| Value::Number(x, span)),
        DeValue::Array(items) => Value::List(items.iter().map(view).collect(), span),
        DeValue::Table(table) => Value::Table(entries(table), span),
        DeValue::Datetime(_) => Value::Other(span),
    }
}

/// The entries of one section of a table.
pub fn sections<'t>(table: &'t Table, name: &'t str) -> impl Iterator<Item = (&'t Word, &'t Value)> {
    table
        .iter()
        .filter(move |(key, _)| key.text == name)
        .filter_map(|(_, value)| match value {
            Value::Table(entries, _) => Some(entries),
            _ => None,
        })
        .flatten()
        .map(|(key, value)| (key, value))
}
