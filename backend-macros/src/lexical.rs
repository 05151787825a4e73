//! What a string of a table may look like before anything is made of it: names, paths, numbers, and how deep an
//! expression is nested. Whatever passes here can be parsed and printed as Rust without a panic and on a small stack.

/// Most signs, keywords and brackets that stand within each other, which is what a parser's recursion follows.
pub const MOST_NESTED: usize = 128;

/// The keywords of Rust, which need `r#` as names.
pub const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true",
    "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "Self",
];

/// What a name has to be, for messages.
pub const NAME_RULE: &str =
    "a name begins with a lower-case ASCII letter; then come lower-case letters, digits and `_`";

/// Whether it can be the name of an op, a parameter, a library.
pub fn is_name(text: &str) -> bool {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(legal)
        && !["self", "super", "crate"].contains(&text)
}

/// Whether it is a path such as `crate::kernels::lerp`.
pub fn is_path(text: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split("::").enumerate().all(|(i, part)| {
        let word = part.starts_with(|c: char| c.is_ascii_alphabetic()) && part.chars().all(legal);
        word && (!KEYWORDS.contains(&part) || (i == 0 && part == "crate"))
    })
}

/// Whether it is a type such as `f64` or `Complex<f32>`.
pub fn is_type(text: &str) -> bool {
    match text.strip_suffix('>').and_then(|t| t.split_once('<')) {
        Some((outer, inner)) => is_path(outer) && is_path(inner),
        None => is_path(text),
    }
}

/// A finite decimal number.
pub fn decimal(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None; // `inf`, `NaN`, `.5`
    }
    text.parse().ok().filter(|x: &f64| x.is_finite())
}

/// Something that keeps a text from being read as an expression, and the part of it to point at.
pub struct Unreadable<'t> {
    pub part: &'t str,
    pub message: String,
}

/// Checks characters, brackets and nesting of the text of an expression, in linear time and without recursion.
pub fn check_expression(text: &str) -> Result<(), Unreadable<'_>> {
    struct Open<'t> {
        bracket: &'t str,
        signs: usize,
        deepest: usize,
        most: usize,
    }
    impl Open<'_> {
        /// Commas and semicolons end what stands within each other.
        fn separate(&mut self) {
            self.most = self.most.max(self.signs + self.deepest);
            (self.signs, self.deepest) = (0, 0);
        }
    }
    let open = |bracket| Open { bracket, signs: 0, deepest: 0, most: 0 };
    let mut stack = vec![open("")];
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let len = match c {
            _ if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            _ => c.len_utf8(),
        };
        let (part, after) = rest.split_at(len);
        let comment = part == "/" && after.starts_with(['/', '*']);
        let top = stack.last_mut().expect("the outermost is never popped before the end");
        match c {
            '(' | '[' | '{' => stack.push(open(part)),
            ')' | ']' | '}' => {
                top.separate();
                let (bracket, depth) = (top.bracket, top.most + 1);
                if !matches!((bracket, c), ("(", ')') | ("[", ']') | ("{", '}')) {
                    return Err(Unreadable { part, message: format!("`{part}` closes no bracket that is open") });
                }
                stack.pop();
                let outer = stack.last_mut().expect("a bracket was open");
                outer.deepest = outer.deepest.max(depth);
            }
            ',' | ';' => top.separate(),
            '.' | ':' | '+' | '-' | '*' | '/' | '%' | '^' | '<' | '>' | '=' | '!' | '&' | '|' if !comment => {
                top.signs += 1;
            }
            _ if KEYWORDS.contains(&part) => top.signs += 1,
            _ if word(c) || c.is_ascii_whitespace() => {}
            _ => {
                let shown = if comment { "a comment".into() } else { format!("`{}`", c.escape_default()) };
                return Err(Unreadable { part, message: format!("{shown} is not in the language of expressions") });
            }
        }
        let nested = stack.last().map_or(0, |o| o.signs + o.deepest) + stack.len() - 1;
        if nested > MOST_NESTED {
            let message = format!("more than {MOST_NESTED} operators and brackets within each other");
            return Err(Unreadable { part: text, message });
        }
        rest = after;
    }
    match stack.pop() {
        Some(Open { bracket, .. }) if !bracket.is_empty() => {
            Err(Unreadable { part: bracket, message: format!("`{bracket}` is not closed") })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_paths_types_and_numbers() {
        for good in ["x", "x1", "cumulative_sum", "double", "where", "op_exp"] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "_", "_x", "self", "crate", "é", "épsilon", "U", "x y", "x\u{202e}", "1x", "r#x"] {
            assert!(!is_name(bad), "{bad}");
        }
        assert!(is_path("reduce::sum") && is_path("crate::kernels::lerp") && is_type("Complex<f32>"));
        for bad in ["", "reduce sum", "a::", "::a", "a::fn", "self::x", "a::crate", "a(b)", "ev il", "é"] {
            assert!(!is_path(bad), "{bad}");
        }
        for bad in ["inf", "-inf", "NaN", "1e400", "", "x", ".5", "1_0"] {
            assert_eq!(decimal(bad), None, "{bad}");
        }
        assert_eq!(decimal("-1e-5"), Some(-1e-5));
    }

    #[test]
    fn nesting_is_what_a_parser_recurses_into() {
        let nested = |n: usize| format!("{}x{}", "(".repeat(n), ")".repeat(n));
        for deep in [nested(800), "-".repeat(10_000) + "x", "x".to_string() + &" + x".repeat(2000)] {
            assert!(check_expression(&deep).is_err());
        }
        let chain = "if x < 0.0 { x } ".to_string() + &"else if x < 1.0 { x } ".repeat(2000) + "else { x }";
        assert!(check_expression(&chain).is_err());
        assert!(check_expression(&nested(100)).is_ok());
        // long but flat
        let flat = format!("{{ {} x }}", "let y = sum(x, all);".repeat(5000));
        assert!(check_expression(&flat).is_ok());
        for bad in ["(x", "x)", "(x]", "\"x\"", "x // y", "x /* y", "é", "x\u{202e}", "#x", "'a"] {
            assert!(check_expression(bad).is_err(), "{bad}");
        }
    }
}
