//! Reads TOML as plain data with positions. The module `parse` takes this data as input.

use crate::{
    report::{Report, SourceFile},
    text::{Span, Text, is_bidirectional},
};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// The entries of a table, in the order of the file.
pub type Table = Vec<(Text, Value)>;

pub enum Value {
    Text(Text),
    Number(f64, Span),
    Bool(bool, Span),
    List(Vec<Value>, Span),
    Table(Table, Span),
    Other(Span),
}

impl Value {
    pub fn span(&self) -> Span {
        match self {
            Value::Text(text) => text.span.clone(),
            Value::Number(_, s) | Value::Bool(_, s) | Value::List(_, s) | Value::Table(_, s) | Value::Other(s) => {
                s.clone()
            }
        }
    }
}

/// Reads a table. If a section is invalid TOML, only its first mistake is reported, because later mistakes may be
/// consequences of it. The other sections are still read.
pub fn read(source: &SourceFile, report: &mut Report) -> Table {
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    let sections: Vec<usize> = source.text.match_indices("\n[").map(|(i, _)| i).collect();
    let mut reported = None;
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        let section = sections.partition_point(|start| *start < span.start);
        if reported != Some(section) {
            reported = Some(section);
            report.at(source, span, error.message(), None);
        }
    }
    if let Some((i, c)) = source.text.char_indices().find(|(_, c)| is_bidirectional(*c)) {
        let message = format!(
            "`{}` is not allowed, because it makes the text look different from its content",
            c.escape_unicode()
        );
        report.at(source, i..i + c.len_utf8(), message, None);
    }
    if !report.is_empty() {
        report.seal();
    }
    entries(table.get_ref(), &source.text)
}

fn entries(table: &DeTable<'_>, source: &str) -> Table {
    let mut entries: Table = table
        .iter()
        .map(|(key, value)| (Text::new(key.get_ref().to_string(), key.span(), source), view(value, source)))
        .collect();
    entries.sort_by_key(|(key, _)| key.span.start);
    entries
}

fn view(value: &Spanned<DeValue<'_>>, source: &str) -> Value {
    let span = value.span();
    match value.get_ref() {
        DeValue::String(text) => Value::Text(Text::new(text.to_string(), span, source)),
        DeValue::Boolean(b) => Value::Bool(*b, span),
        DeValue::Integer(i) => i.as_str().parse().map_or(Value::Other(span.clone()), |x| Value::Number(x, span)),
        DeValue::Float(f) => f.as_str().parse().map_or(Value::Other(span.clone()), |x| Value::Number(x, span)),
        DeValue::Array(items) => Value::List(items.iter().map(|v| view(v, source)).collect(), span),
        DeValue::Table(table) => Value::Table(entries(table, source), span),
        DeValue::Datetime(_) => Value::Other(span),
    }
}

/// The entries of every section `[name.*]` of a table; for the name `op`, these are the entries `add`, `exp` and so
/// on.
pub fn sections<'t>(table: &'t Table, name: &'t str) -> impl Iterator<Item = (&'t Text, &'t Value)> {
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
