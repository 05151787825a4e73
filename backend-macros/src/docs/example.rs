//! The example of an op's page. The table states results as assertions; a page shows them as comments below the calls,
//! and the assertions stay in hidden lines, which rustdoc runs.

/// The row's example as a complete program, in which `b` is the CPU backend.
pub fn program(text: &str) -> String {
    let shown = lines(text).join("\n");
    format!(
        "```\n# use backends::{{Result, prelude::*}};\n# fn main() -> Result<()> {{\nlet b = Numpyish::new();\n\
         {shown}\n# Ok(())\n# }}\n```\n"
    )
}

/// The lines of the example without hidden lines, for a terminal.
pub fn visible(text: &str) -> String {
    let visible: Vec<String> = lines(text).into_iter().filter(|line| !line.starts_with("# ")).collect();
    format!("```\nlet b = Numpyish::new();\n{}\n```\n", visible.join("\n"))
}

/// The lines of the example. Assertions are replaced by the call, its result as a comment, and a hidden assertion.
fn lines(text: &str) -> Vec<String> {
    let is_used = |name: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
    let name = ["y", "z", "result"].into_iter().find(|name| !is_used(name)).unwrap_or("value");
    text.trim().lines().flat_map(|line| stated(line, name).unwrap_or_else(|| vec![line.into()])).collect()
}

/// Returns the lines that replace the assertion `assert_eq!(CALL, VALUE);`: the call, whose result is bound to `name`,
/// the value as a comment, and the hidden assertion. `None` if `line` is another statement, or has another form.
fn stated(line: &str, name: &str) -> Option<Vec<String>> {
    let (statement, remark) = match line.split_once("; //") {
        Some((statement, remark)) => (statement, format!(", {}", remark.trim())),
        None => (line.strip_suffix(';')?, String::new()),
    };
    let [left, right] = &arguments(statement.strip_prefix("assert_eq!(")?.strip_suffix(')')?)?[..] else {
        return None;
    };
    let value = value(right)? + &remark;
    let (shown, checked) = match left.strip_prefix("format!(").and_then(|rest| rest.strip_suffix(')')) {
        None => (left.to_string(), name.to_string()),
        Some(inside) => match &arguments(inside)?[..] {
            [format, shown] => (shown.to_string(), format!("format!({format}, {name})")),
            // the name of the variable is between the braces of the format string
            [format] => (format.split(['{', ':', '}']).nth(1)?.to_string(), left.to_string()),
            _ => return None,
        },
    };
    if !shown.contains('(') {
        return Some(vec![format!("// {shown} is {value}"), format!("# {statement};")]);
    }
    // a call that returns no `Result`, such as `b.shape(&x)`, borrows from its argument, which may be dropped at the
    // end of the statement
    if shown.rsplit_once(")?").is_none_or(|(_, rest)| rest.contains(['(', ')'])) {
        return None;
    }
    let hidden = format!("# assert_eq!({checked}, {right});");
    Some(vec![format!("let {name} = {shown};"), format!("// {value}"), hidden])
}

/// Returns the text of the value of an expression, which is a literal or an array of literals; `None` for calls.
fn value(text: &str) -> Option<String> {
    let array = text.strip_prefix("b.asarray(").and_then(|rest| rest.strip_suffix(")?"));
    let text = array.unwrap_or(text);
    if text.contains("b.") || text.contains('?') || text.contains("format!") {
        return None;
    }
    match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inside) if !inside.contains('\\') => Some(inside.into()),
        Some(_) => None,
        None => Some(without_suffixes(text)),
    }
}

/// Removes the types of literals: `1_i64` becomes `1`.
fn without_suffixes(text: &str) -> String {
    let mut parts = text.split('_');
    let mut out: String = parts.next().unwrap_or_default().into();
    for part in parts {
        let after_digit = out.chars().next_back().is_some_and(|c| c.is_ascii_digit() || c == '.');
        let digits = part.get(1..).unwrap_or_default();
        let length = digits.chars().take_while(char::is_ascii_digit).count();
        let is_suffix = after_digit && part.starts_with(['i', 'u', 'f']) && length > 0;
        match is_suffix {
            true => out += &digits[length..],
            false => out.extend(["_", part]),
        }
    }
    out
}

/// The arguments of a call, split at commas outside of brackets and strings; `None` if brackets do not match.
fn arguments(text: &str) -> Option<Vec<&str>> {
    let (mut out, mut start, mut depth, mut in_string) = (Vec::new(), 0, 0_usize, false);
    let mut generics = 0_usize;
    for (i, c) in text.char_indices() {
        match c {
            '"' => in_string = !in_string,
            _ if in_string => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            '<' if generics > 0 || text[..i].ends_with("::") => generics += 1,
            '>' if generics > 0 => generics -= 1,
            ',' if depth == 0 && generics == 0 => {
                out.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    out.push(text[start..].trim());
    (depth == 0 && !in_string).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_below_the_calls() {
        let of = |text: &str| lines(text).join("\n");
        assert_eq!(
            of("let x = b.asarray([1, 2])?;\nassert_eq!(b.sum(&x, ..)?, b.asarray(3_i64)?); // both"),
            "let x = b.asarray([1, 2])?;\nlet y = b.sum(&x, ..)?;\n// 3, both\n# assert_eq!(y, b.asarray(3_i64)?);"
        );
        assert_eq!(
            of("assert_eq!(format!(\"{:.2}\", b.exp(&y)?), \"[2.72, 7.39]\");"),
            "let z = b.exp(&y)?;\n// [2.72, 7.39]\n# assert_eq!(format!(\"{:.2}\", z), \"[2.72, 7.39]\");"
        );
        assert_eq!(
            of("assert_eq!(format!(\"{y:.1e}\"), \"[5.0e0]\");"),
            "// y is [5.0e0]\n# assert_eq!(format!(\"{y:.1e}\"), \"[5.0e0]\");"
        );
        assert_eq!(of("assert_eq!(s.rank, 2);"), "// s.rank is 2\n# assert_eq!(s.rank, 2);");
    }

    #[test]
    fn other_statements_stay() {
        for line in [
            "assert!(b.all(&x, ..)?[[]]);",
            "assert_eq!(b.sum(&x, ..)?, b.multiply(&x, 2.0)?);",
            "assert_eq!(b.ones::<f64>([2])?.shape(), [2]);",
            "assert_eq!(b.shape(&b.expand_dims(&x, 1)?), [2, 1]);",
            "let y = b.exp(&x)?;",
        ] {
            assert_eq!(lines(line), [line]);
        }
        let converted = lines("assert_eq!(b.astype::<f64, _>(&x)?, b.asarray([1.0])?);");
        assert_eq!(converted[..2], ["let y = b.astype::<f64, _>(&x)?;", "// [1.0]"]);
        assert_eq!(lines("assert_eq!(b.ends(&x)?.counts, b.asarray([2_i64])?);")[0], "let y = b.ends(&x)?.counts;");
    }

    #[test]
    fn types_of_literals_are_left_out() {
        assert_eq!(without_suffixes("[1_i64, -2_i64, 0x1_u8, 2.5_f32]"), "[1, -2, 0x1, 2.5]");
        assert_eq!(without_suffixes("[1_000, x_1, f64::NAN, 0b1111_0000]"), "[1_000, x_1, f64::NAN, 0b1111_0000]");
    }
}
