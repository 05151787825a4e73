//! A cursor over the tokens of a PTX text.

use super::{
    Error,
    token::{Token, tokens},
};

/// The result of a function that reads a part of the text.
pub(crate) type Read<T> = Result<T, Error>;

/// A text, its tokens, and the position of the next token.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, tokens: tokens(text), at: 0 }
    }

    /// Makes an error at the line of the token read last.
    pub fn error(&self, what: impl Into<String>) -> Error {
        self.error_at(self.line(), what)
    }

    pub fn error_at(&self, line: u32, what: impl Into<String>) -> Error {
        let statement = self.text.lines().nth(line.saturating_sub(1) as usize).unwrap_or("").trim();
        Error { line: line as usize, statement: statement.to_string(), what: what.into() }
    }

    /// Returns the line number of the token read last.
    pub fn line(&self) -> u32 {
        let last = self.at.min(self.tokens.len()).saturating_sub(1);
        self.tokens.get(last).map_or(1, |token| token.line)
    }

    pub fn at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// Returns the next token, or an empty string at the end.
    pub fn peek(&self) -> &'a str {
        self.ahead(0)
    }

    pub fn ahead(&self, by: usize) -> &'a str {
        self.tokens.get(self.at + by).map_or("", |token| token.text)
    }

    pub fn next(&mut self) -> Read<&'a str> {
        let token = self.tokens.get(self.at).copied();
        self.at += 1;
        token.map(|token| token.text).ok_or_else(|| self.error("the text ends here"))
    }

    /// Reads the next token if it is `sign`; returns whether it was read.
    pub fn take(&mut self, sign: &str) -> bool {
        let found = self.peek() == sign;
        self.at += usize::from(found);
        found
    }

    pub fn expect(&mut self, sign: &str) -> Read<()> {
        if self.take(sign) { Ok(()) } else { Err(self.error(format!("expected {sign}, found {}", self.peek()))) }
    }

    /// Skips up to and including this sign.
    pub fn skip_past(&mut self, sign: &str) -> Read<()> {
        while self.next()? != sign {}
        Ok(())
    }

    /// Skips the rest of the line of the token read last.
    pub fn skip_line(&mut self) {
        let line = self.line();
        while self.tokens.get(self.at).is_some_and(|token| token.line == line) {
            self.at += 1;
        }
    }

    /// Reads an integer.
    pub fn integer(&mut self) -> Read<i64> {
        let negative = self.take("-");
        let word = self.next()?;
        let bits = immediate(word).ok_or_else(|| self.error(format!("{word} is not a number")))? as i64;
        Ok(if negative { bits.wrapping_neg() } else { bits })
    }

    /// Reads a non-negative number, such as a number of bytes or elements.
    pub fn size(&mut self) -> Read<usize> {
        let size = self.integer()?;
        usize::try_from(size)
            .ok()
            .filter(|&size| size <= 1 << 40)
            .ok_or_else(|| self.error(format!("{size} is not a size")))
    }
}

/// Parses a literal and returns its bits. A literal is an integer, such as `12` or `0x1fU`, or the bits of a float,
/// such as `0f3f800000` or `0d3ff0000000000000`.
pub(crate) fn immediate(word: &str) -> Option<u64> {
    let word = word.strip_suffix('U').unwrap_or(word);
    match word.as_bytes() {
        [b'0', b'x' | b'X', ..] => u64::from_str_radix(&word[2..], 16).ok(),
        [b'0', b'b' | b'B', ..] => u64::from_str_radix(&word[2..], 2).ok(),
        [b'0', b'f' | b'F', rest @ ..] if rest.len() == 8 => u64::from_str_radix(&word[2..], 16).ok(),
        [b'0', b'd' | b'D', rest @ ..] if rest.len() == 16 => u64::from_str_radix(&word[2..], 16).ok(),
        [b'0', rest @ ..] if !rest.is_empty() => u64::from_str_radix(word, 8).ok(),
        [b'0'..=b'9', ..] => word.parse().ok(),
        _ => None,
    }
}

/// Returns the size of a type in bytes, and whether its values are sign-extended in registers.
pub(crate) fn width(ty: &str) -> Option<(usize, bool)> {
    Some(match ty {
        "b8" | "u8" => (1, false),
        "s8" => (1, true),
        "b16" | "u16" | "f16" | "bf16" => (2, false),
        "s16" => (2, true),
        "b32" | "u32" | "f32" | "f16x2" => (4, false),
        "s32" => (4, true),
        "b64" | "u64" | "s64" | "f64" => (8, false),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(immediate("12"), Some(12));
        assert_eq!(immediate("0"), Some(0));
        assert_eq!(immediate("0x1FU"), Some(31));
        assert_eq!(immediate("017"), Some(15));
        assert_eq!(immediate("0f3F800000"), Some(0x3f80_0000));
        assert_eq!(immediate("0d3FF0000000000000"), Some(0x3ff0_0000_0000_0000));
        for word in ["", "x", "%r1", "0f3F", "1.5", "0x", "99999999999999999999"] {
            assert_eq!(immediate(word), None, "{word}");
        }
        let mut cursor = Cursor::new("-9223372036854775808");
        assert_eq!(cursor.integer().unwrap(), i64::MIN);
    }
}
