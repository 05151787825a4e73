//! Splits PTX into words and signs, each with its line.

/// A word, number, string or sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub text: &'a str,
    /// The line number, from 1.
    pub line: u32,
}

/// Splits a text into tokens. The `%` of a name, the dot of a directive and the modifiers of an instruction belong to
/// the word, so `setp.lt.s32` is one word.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::with_capacity(text.len() / 5);
    let (mut at, mut line) = (0, 1);
    while at < bytes.len() {
        let start = at;
        let rest = &bytes[at..];
        match rest {
            [b'\n', ..] => {
                line += 1;
                at += 1;
                continue;
            }
            [b'/', b'/', ..] => {
                at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                continue;
            }
            [b'/', b'*', ..] => {
                let end = rest.windows(2).skip(2).position(|pair| pair == b"*/");
                let length = end.map_or(rest.len(), |end| end + 4);
                line += lines(&rest[..length]);
                at += length;
                continue;
            }
            [b'"', ..] => {
                at += rest[1..].iter().position(|&b| b == b'"').map_or(rest.len(), |end| end + 2);
                tokens.push(Token { text: &text[start..at], line });
                line += lines(&bytes[start..at]);
                continue;
            }
            [first, ..] if is_word(*first) => at += word(rest),
            [first, ..] if first.is_ascii() => {
                at += 1;
                if first.is_ascii_whitespace() || first.is_ascii_control() {
                    continue;
                }
            }
            // non-ASCII bytes are not PTX; a run of them becomes one token, so that no character is cut
            _ => at += rest.iter().take_while(|b| !b.is_ascii()).count(),
        }
        tokens.push(Token { text: &text[start..at], line });
    }
    tokens
}

fn lines(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|&&b| b == b'\n').count() as u32
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%' | b'.')
}

/// Returns the length in bytes of the word at the start of `rest`; `::` within a word belongs to it.
fn word(rest: &[u8]) -> usize {
    let mut at = 0;
    loop {
        match &rest[at..] {
            [byte, ..] if is_word(*byte) => at += 1,
            [b':', b':', byte, ..] if is_word(*byte) => at += 2,
            _ => return at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_what_belongs_to_them() {
        let text = "// none\n@!%p1 bra\t$L_2; /* a\nb */ ld.shared::cta.v2.f32 {%f1, %f2}, [%rd1+-8];\nL: .pragma \"no;roll\";";
        let found: Vec<(&str, u32)> = tokens(text).into_iter().map(|token| (token.text, token.line)).collect();
        let expected = [
            ("@", 2),
            ("!", 2),
            ("%p1", 2),
            ("bra", 2),
            ("$L_2", 2),
            (";", 2),
            ("ld.shared::cta.v2.f32", 3),
            ("{", 3),
            ("%f1", 3),
            (",", 3),
            ("%f2", 3),
            ("}", 3),
            (",", 3),
            ("[", 3),
            ("%rd1", 3),
            ("+", 3),
            ("-", 3),
            ("8", 3),
            ("]", 3),
            (";", 3),
            ("L", 4),
            (":", 4),
            (".pragma", 4),
            ("\"no;roll\"", 4),
            (";", 4),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn any_text_has_tokens() {
        for text in ["", "\"open", "/* open", "/*", "/", "é%ü", "a::", "\"", "\"\n"] {
            tokens(text);
        }
    }
}
