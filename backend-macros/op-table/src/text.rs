//! A string of a table, with the position of each substring in the file.

use std::ops::Range;

/// A range of bytes of a table's text.
pub type Span = Range<usize>;

/// A string of a table, with its position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text {
    /// The string, with escapes resolved.
    pub text: String,
    /// The position of the string in the table, including quotes.
    pub span: Span,
    /// The starts of the string's segments between escapes. Each start is a pair of byte offsets: in the string, and in
    /// the table.
    joints: Vec<(usize, usize)>,
}

impl Text {
    /// Makes the text for a string at `span` of `table`.
    pub fn new(text: String, span: Span, table: &str) -> Text {
        let joints = joints(&text, span.clone(), table);
        Text { text, span, joints }
    }

    /// Returns the range of bytes of the table from which a substring was read. `part` is the substring's range of
    /// bytes in the string, which has no quotes and no escapes.
    pub fn place(&self, part: Range<usize>) -> Span {
        let start = self.offset(part.start);
        start..self.offset(part.end).max(start + usize::from(!part.is_empty()))
    }

    /// Like [`Text::place`], for a slice of the string. The address of the slice determines its offset in the string.
    pub fn place_of(&self, part: &str) -> Span {
        let start = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        if start > self.text.len() || part.is_empty() {
            return self.span.clone();
        }
        self.place(start..(start + part.len()).min(self.text.len()))
    }

    /// Returns a slice of the string as a separate text, with its position.
    pub fn part(&self, part: &str) -> Text {
        let start = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        if start + part.len() > self.text.len() {
            return Text { text: part.into(), span: self.span.clone(), joints: Vec::new() };
        }
        let inside = |(text, _): &&(usize, usize)| (start + 1..start + part.len()).contains(text);
        let mut joints = vec![(0, self.offset(start))];
        joints.extend(self.joints.iter().filter(inside).map(|(text, table)| (text - start, *table)));
        Text { text: part.into(), span: self.place_of(part), joints }
    }

    fn offset(&self, at: usize) -> usize {
        let joint = self.joints.partition_point(|(text, _)| *text <= at);
        match joint.checked_sub(1).map(|i| self.joints[i]) {
            Some((text, table)) => (table + (at - text)).min(self.span.end),
            None => self.span.start,
        }
    }
}

/// Compares the string with its source in the table, and returns the starts of its segments, as pairs of byte offsets
/// in the string and in the table. A new segment begins after each escape and each line end, because string and source
/// differ there.
fn joints(text: &str, span: Span, table: &str) -> Vec<(usize, usize)> {
    let raw = table.get(span.clone()).unwrap_or("");
    let quotes = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|q| raw.starts_with(q)).unwrap_or("");
    let escapes = quotes.starts_with('"');
    let mut at = quotes.len();
    if quotes.len() == 3 {
        // a line end after the opening quotes is not part of the string
        at += raw[at..].len() - raw[at..].trim_start_matches('\r').strip_prefix('\n').unwrap_or(&raw[at..]).len();
    }
    let mut joints: Vec<(usize, usize)> = Vec::new();
    // if two segments begin at the same offset in the string, the later one is kept
    let mut join = |text: usize, table: usize| {
        if joints.last().is_some_and(|(last, _)| *last == text) {
            joints.pop();
        }
        joints.push((text, table));
    };
    join(0, span.start + at);
    let mut decoded = text.char_indices().peekable();
    while let Some(&(i, c)) = decoded.peek() {
        let Some(found) = raw.get(at..).and_then(|r| r.chars().next()) else { break };
        if found == '\\' && escapes {
            let rest = &raw[at + 1..];
            let (len, is_character) = match rest.chars().next() {
                Some('u') => (6, true),
                Some('U') => (10, true),
                Some('x') => (4, true),
                Some(c) if c.is_whitespace() => (1 + rest.len() - rest.trim_start().len(), false),
                _ => (2, true),
            };
            join(i, span.start + at);
            at += len;
            if is_character {
                decoded.next();
            }
            join(decoded.peek().map_or(text.len(), |(i, _)| *i), span.start + at);
        } else if found == c {
            at += found.len_utf8();
            decoded.next();
        } else {
            // skips a carriage return in the source, which is not part of the string
            at += found.len_utf8();
            join(i, span.start + at);
        }
    }
    joints
}

/// Returns whether a character changes the direction of the text that follows, which can hide text from a reader.
pub(crate) fn is_bidirectional(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(table: &str, text: &str, part: &str) -> String {
        let text = Text::new(text.into(), 0..table.len(), table);
        let start = text.text.find(part).unwrap();
        table[text.place(start..start + part.len())].into()
    }

    #[test]
    fn a_part_is_found_behind_escapes_and_quotes() {
        assert_eq!(place("\"x + y\"", "x + y", "y"), "y");
        assert_eq!(place(r#""\t\u00e9\\x + y""#, "\té\\x + y", "x + y"), "x + y");
        assert_eq!(place("'''\nab\nc'''", "ab\nc", "c"), "c");
        assert_eq!(place("\"\"\"\r\nab\\\n   c\"\"\"", "abc", "c"), "c");
        assert_eq!(place("'\\u00e9 y'", "\\u00e9 y", "y"), "y");
        let table = r#""a\tb: array<real>""#;
        let text = Text::new("a\tb: array<real>".into(), 0..table.len(), table);
        let ty = text.part(text.text.split_once(": ").unwrap().1);
        assert_eq!((&table[ty.span.clone()], &table[ty.place_of(&ty.text[6..10])]), ("array<real>", "real"));
        assert_eq!(place(r#""\u00e9y""#, "éy", "é"), "\\u00e9");
    }
}
