//! Collects the mistakes in a table, and shows all of them, each with its position.

use crate::text::{Span, is_bidirectional};
use std::fmt::Write;

/// The text of one table, and the file name that is shown with its mistakes.
pub struct SourceFile {
    /// The name of the file.
    pub name: String,
    /// The text of the table.
    pub text: String,
}

impl SourceFile {
    /// The number of the line with the byte at `offset`, from 1.
    pub fn line(&self, offset: usize) -> usize {
        1 + self.text.as_bytes()[..offset.min(self.text.len())].iter().filter(|&&byte| byte == b'\n').count()
    }
}

/// One mistake and its position.
#[derive(Clone, Debug)]
pub struct Mistake {
    /// The position of the mistake.
    pub span: Span,
    /// The message for the user.
    pub message: String,
    /// A suggestion.
    pub help: Option<String>,
}

/// Maximum number of mistakes shown. A file with more mistakes is probably not a table.
const MAX_MISTAKES: usize = 100;

/// The mistakes found so far.
#[derive(Default)]
pub struct Report {
    errors: Vec<(usize, String)>,
    /// The number of mistakes that are not shown because the report already has [`MAX_MISTAKES`] mistakes.
    further: usize,
    /// The number of all mistakes found, including those that are not shown.
    found: usize,
    /// True if further mistakes are ignored, because they may be consequences of earlier ones.
    sealed: bool,
}

impl Report {
    /// Adds a mistake. Its text consists of `NAME:LINE:COL: message`, the line, carets under `span`, and `help`.
    pub fn at(
        &mut self,
        source: &SourceFile,
        span: Span,
        message: impl std::fmt::Display,
        help: impl Into<Option<String>>,
    ) {
        self.found += 1;
        if self.sealed {
            return;
        }
        if self.errors.len() >= MAX_MISTAKES {
            self.further += 1;
            return;
        }
        let start = source.text.floor_char_boundary(span.start);
        let line_start = source.text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line = source.text[line_start..].lines().next().unwrap_or("");
        let number = source.line(start);
        let column = source.text[line_start..start].chars().count() + 1;
        let end = source.text.ceil_char_boundary(span.end.min(line_start + line.len()).max(start));
        let width = source.text[start..end].chars().count().max(1);
        let (line, skipped) = shorten(line, column);
        let width = width.min(line.chars().count() - (column - 1 - skipped).min(line.chars().count())).max(1);
        let pad = " ".repeat(number.to_string().len());
        let (name, indent, carets) = (&source.name, " ".repeat(column - 1 - skipped), "^".repeat(width));
        let mut text =
            format!("{name}:{number}:{column}: {message}\n{pad} |\n{number} | {line}\n{pad} | {indent}{carets}");
        if let Some(help) = help.into() {
            let _ = write!(text, "\n{pad} = help: {help}");
        }
        self.errors.push((start, text));
    }

    /// Adds a mistake.
    pub fn add(&mut self, source: &SourceFile, mistake: Mistake) {
        self.at(source, mistake.span, mistake.message, mistake.help);
    }

    /// Returns whether there are no mistakes.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// The number of mistakes.
    pub(crate) fn len(&self) -> usize {
        self.found
    }

    /// Ignores all further mistakes, because they may be consequences of earlier ones.
    pub(crate) fn seal(&mut self) {
        self.sealed = true;
    }

    /// The mistakes as texts, in the order of the file.
    pub fn into_texts(mut self) -> Vec<String> {
        self.errors.sort();
        self.errors.dedup();
        if self.further > 0 {
            self.errors.push((usize::MAX, format!("and {} more mistakes in this table", self.further)));
        }
        self.errors.into_iter().map(|(_, text)| text).collect()
    }
}

/// Cuts a long line to the characters around a column. Returns these characters, and the number of characters removed
/// before them.
fn shorten(line: &str, column: usize) -> (String, usize) {
    const BEFORE: usize = 100;
    const MAX_LINE_LENGTH: usize = 160;
    let skipped = if line.chars().count() > MAX_LINE_LENGTH { (column - 1).saturating_sub(BEFORE) } else { 0 };
    // replaces control characters, and characters that change the direction of the text: they would misalign the marks
    // below the line
    let seen = |c: char| if c.is_control() || is_bidirectional(c) { '\u{fffd}' } else { c };
    (line.chars().skip(skipped).take(MAX_LINE_LENGTH).map(seen).collect(), skipped)
}

/// A hint for an unknown name. If `name` may be a misspelling of a valid name, the hint is the most similar valid name.
/// Otherwise it is the list of all valid names, or `None` if there are many.
pub fn did_you_mean<'a>(name: &str, legal: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let legal: Vec<&str> = legal.into_iter().collect();
    let most = 1 + name.len() / 3;
    // a name of very different length is not a misspelling, and comparing very long names would be slow
    let alike = legal.iter().filter(|l| l.len().abs_diff(name.len()) <= most);
    match alike.map(|l| (distance(name, l), *l)).min() {
        Some((d, near)) if d <= most => Some(format!("did you mean `{near}`?")),
        _ if !legal.is_empty() && legal.len() <= 24 => Some(format!("one of: {}", legal.join(", "))),
        _ => None,
    }
}

/// The edit distance of two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let up = row[j + 1];
            row[j + 1] = (diagonal + usize::from(x != *y)).min(up + 1).min(row[j] + 1);
            diagonal = up;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_named() {
        assert_eq!(did_you_mean("sigmiod", ["sigmoid", "sum"]).unwrap(), "did you mean `sigmoid`?");
        assert_eq!(did_you_mean("zzz", ["sigmoid", "sum"]).unwrap(), "one of: sigmoid, sum");
    }

    #[test]
    fn a_mistake_has_its_line_and_caret() {
        let source = SourceFile { name: "t.toml".into(), text: "[op.a]\ngroop = 1\n".into() };
        let mut report = Report::default();
        report.at(&source, 7..12, "unknown key", Some("did you mean `group`?".into()));
        let text = report.into_texts().concat();
        assert_eq!(text, "t.toml:2:1: unknown key\n  |\n2 | groop = 1\n  | ^^^^^\n  = help: did you mean `group`?");
    }
}
