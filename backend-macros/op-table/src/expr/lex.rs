//! Splits an expression into tokens.

use crate::{
    report::Mistake,
    text::{Span, Text},
};

/// A token: its text and its position in the table.
#[derive(Clone, Debug)]
pub(super) struct Token<'t> {
    pub kind: TokenKind,
    pub text: &'t str,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TokenKind {
    Name,
    Number,
    Sign,
    End,
}

/// The operators and brackets. Longer signs come before shorter ones, because the first match is used.
const SIGNS: [&str; 26] = [
    "&&", "||", "==", "!=", "<=", ">=", "::", "..", "+", "-", "*", "/", "<", ">", "=", "!", "(", ")", "[", "]", "{",
    "}", ",", ";", ".", ":",
];

/// Splits a text into tokens, followed by an end token.
pub(super) fn tokens(text: &Text) -> Result<Vec<Token<'_>>, Mistake> {
    let whole = text.text.as_str();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = whole[at..].chars().next() {
        let rest = &whole[at..];
        if c.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (kind, len) = if c.is_ascii_digit() {
            (TokenKind::Number, number_len(rest))
        } else if word(c) {
            (TokenKind::Name, rest.find(|c| !word(c)).unwrap_or(rest.len()))
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(*sign)) {
            if rest.starts_with("//") || rest.starts_with("/*") {
                return Err(bad(text, at..at + 2, "an expression must not contain comments"));
            }
            (TokenKind::Sign, sign.len())
        } else {
            let message = format!("`{}` is not allowed in expressions", c.escape_debug());
            return Err(bad(text, at..at + c.len_utf8(), &message));
        };
        tokens.push(Token { kind, text: &rest[..len], span: text.place(at..at + len) });
        at += len;
    }
    let end = text.place(whole.len()..whole.len());
    tokens.push(Token { kind: TokenKind::End, text: "", span: end.start..end.start + 1 });
    Ok(tokens)
}

/// The length of a number, which consists of digits, a point with digits, and an exponent. Characters that follow
/// without a space count as part of the number, so that the parser rejects the whole text.
fn number_len(rest: &str) -> usize {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut len = rest.find(|c| !word(c)).unwrap_or(rest.len());
    let after = &rest[len..];
    // accepts `1.5` and `1.` as numbers, but only the `1` of `1.exp()` and the `0` of `0..2`
    if after.starts_with('.') && !after[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '.') {
        len += 1 + after[1..].find(|c| !word(c)).unwrap_or(after.len() - 1);
    }
    let digits = &rest[..len];
    if digits.ends_with(['e', 'E']) && !digits.starts_with("0x") && rest[len..].starts_with(['+', '-']) {
        len += 1 + rest[len + 1..].find(|c| !word(c)).unwrap_or(rest.len() - len - 1);
    }
    len
}

pub(super) fn bad(text: &Text, part: Span, message: &str) -> Mistake {
    Mistake { span: text.place(part), message: message.into(), help: None }
}
