//! The syntax of names, paths and numbers in a table. A string that passes these checks can be written into Rust code.

/// The keywords of Rust, which need the prefix `r#` when used as names.
pub const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true",
    "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "Self",
];

/// The rule for names, for error messages.
pub const NAME_RULE: &str = "a name begins with a lower-case ASCII letter; then come lower-case letters, digits and `_`; it is \
                             not `self`, `super` or `crate`";

/// Returns whether a text is a valid name of an op, a parameter or a library.
pub fn is_name(text: &str) -> bool {
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(legal)
        && !["self", "super", "crate"].contains(&text)
}

/// Converts a name to camel case: `cumulative_sum` to `CumulativeSum`.
pub fn camel(name: &str) -> String {
    name.split('_').map(|w| w[..w.len().min(1)].to_uppercase() + w.get(1..).unwrap_or("")).collect()
}

/// Returns whether a text is the path of an item, such as `crate::kernels::lerp`.
pub fn is_path(text: &str) -> bool {
    text != "crate" && is_module(text)
}

/// Returns whether a text is the path of a module, which may be `crate`.
pub fn is_module(text: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split("::").enumerate().all(|(i, part)| {
        let word = part.starts_with(|c: char| c.is_ascii_alphabetic()) && part.chars().all(legal);
        word && (!KEYWORDS.contains(&part) || (i == 0 && part == "crate"))
    })
}

/// Returns whether a text is the path of a function. The function has the name of its row, which may be a keyword, as
/// in `indexing::where`.
pub fn is_function(text: &str) -> bool {
    match text.rsplit_once("::") {
        Some((module, name)) => is_module(module) && (is_path(name) || is_name(name)),
        None => is_path(text) || is_name(text),
    }
}

/// Returns whether a text is a valid name of a type, such as `PadMode`.
pub fn is_type_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase()) && is_path(text) && !text.contains("::")
}

/// Returns whether a text is a type such as `f64` or `Complex<f32>`.
pub fn is_type(text: &str) -> bool {
    match text.strip_suffix('>').and_then(|t| t.split_once('<')) {
        Some((outer, inner)) => is_path(outer) && is_path(inner),
        None => is_path(text),
    }
}

/// Parses a finite decimal number.
pub fn decimal(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None; // rejects `inf`, `NaN`, `.5`
    }
    text.parse().ok().filter(|x: &f64| x.is_finite())
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
        assert!(is_path("reduction::sum") && is_path("crate::kernels::lerp") && is_type("Complex<f32>"));
        assert!(is_function("indexing::where") && is_function("crate::where"));
        for bad in ["where::indexing", "a::self", "crate", "a::crate", "crate::crate", "self"] {
            assert!(!is_function(bad), "{bad}");
        }
        assert!(is_module("crate") && is_module("crate::kernels"));
        for bad in ["", "crate", "reduction sum", "a::", "::a", "a::fn", "self::x", "a::crate", "a(b)", "ev il", "é"] {
            assert!(!is_path(bad), "{bad}");
        }
        for (text, is) in [("PadMode", true), ("padMode", false), ("a::B", false), ("Self", false), ("B C", false)] {
            assert_eq!(is_type_name(text), is, "{text}");
        }
        for bad in ["inf", "-inf", "NaN", "1e400", "", "x", ".5", "1_0"] {
            assert_eq!(decimal(bad), None, "{bad}");
        }
        assert_eq!(decimal("-1e-5"), Some(-1e-5));
    }
}
