//! Converts formulas to text, for backends that watch calls: the whole formula as the user wrote it, and the
//! subexpressions that are computed in separate passes.

use super::{
    parse::{OPERATORS, POWER, PREFIX},
    tree::{Argument, Formula, Number},
};
use proc_macro2::{TokenStream, TokenTree};

/// The precedence of names and calls, which never need brackets.
const CLOSED: u8 = POWER + 1;

/// Returns the formula as the user wrote it, on one line: the text after the backend and the comma.
pub fn written(tokens: &[TokenTree]) -> String {
    let comma = tokens.iter().position(|t| matches!(t, TokenTree::Punct(p) if p.as_char() == ','));
    let formula = tokens.iter().skip(comma.map_or(0, |comma| comma + 1));
    let text = in_line(&formula.cloned().collect::<TokenStream>().to_string());
    // rustfmt writes `x**2` as `x * *2`, and the tokens of `*w` print as `* w`
    let text = text.replace(" * *", "**");
    text.strip_prefix("* ").map_or(text.clone(), |place| format!("*{place}"))
}

/// Returns the first argument in the text of a reduction: `(x - y)**2` for `sum((x - y)**2, ..)`.
pub fn reduced<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let arguments = text.strip_prefix(name)?.trim_start().strip_prefix('(')?;
    let mut depth = 0;
    let end = arguments.char_indices().find(|(_, c)| {
        depth += match c {
            '(' | '[' | '{' => 1,
            ')' | ']' | '}' => -1,
            _ => 0,
        };
        depth < 0 || depth == 0 && *c == ','
    });
    end.map(|(at, _)| arguments[..at].trim())
}

/// Puts a text on one line, with single spaces.
fn in_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Prints a subexpression of a formula from its parsed form.
pub fn print(formula: &Formula) -> String {
    of(formula, 0)
}

/// Prints a formula, in brackets if its precedence is below `least`.
fn of(formula: &Formula, least: u8) -> String {
    let (text, power) = with_power(formula);
    if power < least { format!("({text})") } else { text }
}

fn with_power(formula: &Formula) -> (String, u8) {
    match formula {
        Formula::Number(number, _) => {
            let text = number_text(number);
            let power = if text.starts_with('-') { PREFIX } else { CLOSED };
            (text, power)
        }
        // a name that begins with `__` is a variable of the macro, in which an earlier step has stored a subexpression
        Formula::Leaf(rust, _) if rust.to_string().starts_with("__") => ("(..)".into(), CLOSED),
        Formula::Leaf(rust, _) => (in_line(&rust.to_string()), CLOSED),
        Formula::Index(x, index) => (format!("{}[{}]", of(x, CLOSED), in_line(&index.stream().to_string())), CLOSED),
        Formula::Call(name, arguments, options) => call(&name.to_string(), arguments, options),
    }
}

fn number_text(number: &Number) -> String {
    match number {
        Number::Whole(x) => x.to_string(),
        Number::Float(x) => format!("{x:?}"),
        Number::Complex(re, im) if *re == 0.0 => format!("{im:?}i"),
        Number::Complex(re, im) => format!("({re:?} + {im:?}i)"),
        Number::Lowest | Number::Highest => "..".into(),
    }
}

fn call(name: &str, arguments: &[Argument], options: &[(proc_macro2::Ident, Argument)]) -> (String, u8) {
    match (name, arguments) {
        ("negative", [Argument::Formula(x)]) => return (format!("-{}", of(x, PREFIX)), PREFIX),
        ("bitwise_invert", [Argument::Formula(x)]) => return (format!("!{}", of(x, PREFIX)), PREFIX),
        (_, [Argument::Formula(x), Argument::Formula(y)]) => {
            if let Some((operator, _, power)) = OPERATORS.iter().find(|(_, op, _)| *op == name) {
                // powers are right-associative, comparisons do not chain, and all other operators are left-associative
                let is_power = *power == POWER;
                let left = power + u8::from(is_power || is_comparison(operator));
                let right = power + u8::from(!is_power);
                let space = if is_power { "" } else { " " };
                return (format!("{}{space}{operator}{space}{}", of(x, left), of(y, right)), *power);
            }
        }
        _ => {}
    }
    let (mut dtype, mut texts) = (String::new(), Vec::new());
    for argument in arguments {
        match argument {
            Argument::Formula(formula) => texts.push(print(formula)),
            Argument::List(items) => {
                texts.push(format!("[{}]", items.iter().map(print).collect::<Vec<_>>().join(", ")))
            }
            Argument::Rust(rust) => texts.push(in_line(&rust.to_string())),
            Argument::DType(named) if named.is_empty() => {}
            Argument::DType(named) => dtype = format!("::<{}>", in_line(&named.to_string())),
        }
    }
    texts.extend(options.iter().map(|(key, value)| match value {
        Argument::Formula(formula) => format!("{key} = {}", print(formula)),
        value => format!("{key} = {}", in_line(&value.rust().to_string())),
    }));
    (format!("{name}{dtype}({})", texts.join(", ")), CLOSED)
}

fn is_comparison(operator: &str) -> bool {
    matches!(operator, "<" | "<=" | ">" | ">=" | "==" | "!=")
}
