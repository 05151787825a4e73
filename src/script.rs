//! Scripts: calls of ops by name, as text such as `y = sum(exp(x), axis=[0])`.

use crate::{Arrays, Backend, Complex, Error, NewAxis, Result, Slice, Value, call};
use std::{collections::BTreeMap, str::FromStr};

const OP: &str = "script";

/// Maximum nesting depth of calls and lists, so that parsing needs little stack for any text.
const DEEPEST: usize = 64;

/// The variables of a script, by name.
pub type Variables<B> = BTreeMap<String, Value<B>>;

/// Calls of ops as text, which run on any backend. [`Recorded`](crate::Recorded) writes this format, and the command
/// line reads it.
///
/// A line is a call, which may be preceded by names for its results: `q, r = qr(x)`. Calls can be nested. Options are
/// written by name. As in [`call`], `dtype` sets the dtype of a call whose arrays do not determine it. A comment begins
/// with `#`.
///
/// | value | meaning |
/// |---|---|
/// | `x` | a variable |
/// | `3`, `0.5`, `1e-3`, `nan`, `-inf`, `2j`, `complex(1.0, -2.0)` | a number |
/// | `true`, `false`, `none`; `True`, `False`, `None` | a bool; an option that is not set |
/// | `"ortho"`, `'ortho'` | a choice, a dtype or a text, with `\"`, `\\`, `\n` and `\t`; an option's value may omit the quotes if the word is not a variable: `dtype=float32` |
/// | `[0, -1]` | a list of axes, numbers or arrays |
/// | `..`, `1..-1`, `..;-1`, `...`, `NewAxis`; `1:-1`, `::-1` | items of a list of indices: a whole axis or a range of it, with an optional step; all remaining axes; a new axis |
/// | `bytes("00ff")` | bytes, in hexadecimal digits |
///
/// `seed(7)` restarts the backend's random numbers, and `seed_at(7, 3)` restarts them at block 3. A program that runs
/// scripts on a backend contains the compiled code of every op in all its dtypes for that backend.
///
/// ```
/// use backends::{Error, Script, Value, Variables, prelude::*};
///
/// let b = Numpyish::new();
/// let script: Script = "total = sum(multiply(x, 2.0), axis=0)".parse()?;
/// let x = b.asarray([[1.0, 2.0], [3.0, 4.0]])?;
/// let mut variables = Variables::from([("x".into(), Value::array::<f64>(x))]);
/// script.run(&b, &mut variables)?;
/// let total = variables["total"].as_array().and_then(|x| x.get::<f64>()).cloned();
/// assert_eq!(total, Some(b.asarray([8.0, 12.0])?));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    statements: Vec<Statement>,
}

#[derive(Clone, Debug, PartialEq)]
struct Statement {
    line: usize,
    names: Vec<String>,
    value: Expression,
}

#[derive(Clone, Debug, PartialEq)]
enum Expression {
    Plain(Plain),
    Variable(String),
    List(Vec<Expression>),
    Call(String, Vec<(Option<String>, Expression)>),
}

/// A literal value.
#[derive(Clone, Debug, PartialEq)]
enum Plain {
    Bool(bool),
    Integer(i128),
    Float(f64),
    Complex(Complex<f64>),
    Text(String),
    Bytes(Vec<u8>),
    Slice(Slice),
    All,
    New,
    Rest,
    None,
}

impl Plain {
    fn value<B: Arrays>(&self) -> Value<B> {
        match self.clone() {
            Plain::Bool(x) => Value::Bool(x),
            Plain::Integer(x) => Value::Integer(x),
            Plain::Float(x) => Value::Float(x),
            Plain::Complex(x) => Value::Complex(x),
            Plain::Text(x) => Value::Text(x),
            Plain::Bytes(x) => Value::Bytes(x),
            Plain::Slice(x) => Value::Slice(x),
            Plain::All => Value::All,
            Plain::New => NewAxis.into(),
            Plain::Rest => Value::Rest,
            Plain::None => Value::None,
        }
    }
}

impl Script {
    /// Runs the calls in order. The calls read `variables`, and named results are added to `variables`. Returns the
    /// value of the last line if that line gives its results no names.
    ///
    /// # Errors
    /// The errors of the ops; [`Argument`](Error::Argument), with the line, for an unknown variable, or if the number
    /// of names differs from the number of results.
    pub fn run<B: Backend>(&self, b: &B, variables: &mut Variables<B>) -> Result<Option<Value<B>>> {
        let mut last = None;
        for Statement { line, names, value } in &self.statements {
            let value = evaluate(b, value, variables, *line)?;
            match (&names[..], &value) {
                ([], _) => {}
                ([name], value) => drop(variables.insert(name.clone(), value.clone())),
                (names, Value::List(values)) if values.len() == names.len() => {
                    variables.extend(names.iter().cloned().zip(values.iter().cloned()));
                }
                (names, value) => {
                    let found = if let Value::List(values) = value { values.len() } else { 1 };
                    return Err(Error::argument(
                        OP,
                        format!("line {line} has {} names, but must have one for each of {found} results", names.len()),
                    ));
                }
            }
            last = names.is_empty().then_some(value);
        }
        Ok(last)
    }

    /// The names of the results of the last line; empty if the line has only a call.
    #[must_use]
    pub fn last_names(&self) -> &[String] {
        self.statements.last().map_or(&[], |statement| &statement.names)
    }

    /// The names that must be variables when the script runs, in order of first use.
    #[must_use]
    pub fn inputs(&self) -> Vec<&str> {
        let (mut known, mut inputs): (Vec<&str>, Vec<&str>) = Default::default();
        for statement in &self.statements {
            let mut open = vec![&statement.value];
            while let Some(expression) = open.pop() {
                match expression {
                    Expression::Variable(name) if !known.contains(&name.as_str()) => {
                        known.push(name);
                        inputs.push(name);
                    }
                    Expression::List(items) => open.extend(items.iter().rev()),
                    Expression::Call(_, args) => {
                        // the value of an option may be a single word that is not a variable
                        let is_word = |(name, value): &&(Option<String>, Expression)| {
                            name.is_some() && matches!(value, Expression::Variable(_))
                        };
                        open.extend(args.iter().rev().filter(|arg| !is_word(arg)).map(|(_, value)| value));
                    }
                    _ => {}
                }
            }
            known.extend(statement.names.iter().map(String::as_str));
        }
        inputs
    }
}

fn evaluate<B: Backend>(b: &B, value: &Expression, variables: &Variables<B>, line: usize) -> Result<Value<B>> {
    match value {
        Expression::Plain(plain) => Ok(plain.value()),
        Expression::Variable(name) => {
            let unknown = || Error::argument(OP, format!("line {line}: there is no variable `{name}`"));
            variables.get(name).cloned().ok_or_else(unknown)
        }
        Expression::List(items) => {
            let items = items.iter().map(|item| evaluate(b, item, variables, line));
            items.collect::<Result<_>>().map(Value::List)
        }
        Expression::Call(op, args) => {
            let (mut positional, mut named) = (Vec::new(), Vec::new());
            for (name, value) in args {
                match (name, value) {
                    (Some(name), Expression::Variable(word)) if !variables.contains_key(word) => {
                        named.push((name.as_str(), Value::Text(word.clone())));
                    }
                    (Some(name), value) => named.push((name.as_str(), evaluate(b, value, variables, line)?)),
                    (None, value) => positional.push(evaluate(b, value, variables, line)?),
                }
            }
            let unsigned = |x: &i128, what: &str| {
                u64::try_from(*x).map_err(|_| {
                    Error::argument(
                        OP,
                        format!("line {line}: the {what} is {x}, but must be an integer from 0 to 2^64 - 1"),
                    )
                })
            };
            match (op.as_str(), &positional[..], &named[..]) {
                ("seed", [Value::Integer(seed)], []) => {
                    b.seed(unsigned(seed, "seed")?);
                    Ok(Value::None)
                }
                ("seed_at", [Value::Integer(seed), Value::Integer(block)], []) => {
                    b.seed_at(unsigned(seed, "seed")?, unsigned(block, "number of the block")?)?;
                    Ok(Value::None)
                }
                _ => call(b, op, &positional, &named),
            }
        }
    }
}

impl FromStr for Script {
    type Err = Error;

    fn from_str(text: &str) -> Result<Script> {
        let mut statements = Vec::new();
        for (number, text) in text.lines().enumerate() {
            let mut parser = Parser { text, at: 0, line: number + 1 };
            if let Some(statement) = parser.statement()? {
                statements.push(statement);
            }
        }
        Ok(Script { statements })
    }
}

/// Parser of one line.
struct Parser<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Parser<'a> {
    fn fail<T>(&self, wanted: &str) -> Result<T> {
        let rest = &self.text[self.at..];
        let found = rest.chars().next().map_or("the end of the line".into(), |c| format!("`{c}`"));
        let column = self.text[..self.at].chars().count() + 1;
        Err(Error::argument(OP, format!("line {}, column {column}: expected {wanted}, found {found}", self.line)))
    }

    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let rest = rest.trim_start();
        self.at = self.text.len() - rest.len();
        if rest.starts_with('#') {
            self.at = self.text.len();
            return "";
        }
        rest
    }

    /// Returns whether the line continues with `text`. If so, skips `text`.
    fn takes(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    fn name(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let begins = rest.starts_with(|c: char| c.is_alphabetic() || c == '_');
        self.at += if begins { length } else { 0 };
        begins.then(|| &rest[..length])
    }

    fn statement(&mut self) -> Result<Option<Statement>> {
        if self.rest().is_empty() {
            return Ok(None);
        }
        let mut names = Vec::new();
        while let Some(name) = self.name() {
            names.push(name.to_owned());
            if !self.takes(",") {
                break;
            }
        }
        if names.is_empty() || !self.takes("=") {
            (self.at, names) = (0, Vec::new());
        }
        let value = self.value(0)?;
        if !self.rest().is_empty() {
            return self.fail("the end of the line");
        }
        Ok(Some(Statement { line: self.line, names, value }))
    }

    fn value(&mut self, depth: usize) -> Result<Expression> {
        if depth > DEEPEST {
            return self.fail(&format!("a value that is not {DEEPEST} deep in others"));
        }
        if self.takes("[") {
            return self.items("]", |parser| parser.value(depth + 1)).map(Expression::List);
        }
        if self.rest().starts_with(['"', '\'']) {
            return self.string().map(|text| Expression::Plain(Plain::Text(text)));
        }
        if self.takes("...") {
            return Ok(Expression::Plain(Plain::Rest));
        }
        if self.rest().starts_with(|c: char| c.is_ascii_digit() || ".-+:".contains(c)) {
            return self.number_or_slice().map(Expression::Plain);
        }
        let Some(name) = self.name() else { return self.fail("a value") };
        if !self.rest().starts_with('(') {
            return Ok(match name {
                "true" | "True" => Expression::Plain(Plain::Bool(true)),
                "false" | "False" => Expression::Plain(Plain::Bool(false)),
                "none" | "None" => Expression::Plain(Plain::None),
                "nan" => Expression::Plain(Plain::Float(f64::NAN)),
                "inf" => Expression::Plain(Plain::Float(f64::INFINITY)),
                "NewAxis" => Expression::Plain(Plain::New),
                name => Expression::Variable(name.into()),
            });
        }
        let begin = self.at;
        self.at += 1;
        let args = self.items(")", |parser| parser.argument(depth + 1))?;
        let literal = match (name, &args[..]) {
            ("complex", [(None, re), (None, im)]) => {
                real(re).zip(real(im)).map(|(re, im)| Plain::Complex(Complex::new(re, im)))
            }
            ("bytes", [(None, Expression::Plain(Plain::Text(hex)))]) => match bytes(hex) {
                Some(bytes) => Some(Plain::Bytes(bytes)),
                None => {
                    self.at = begin;
                    return self.fail("pairs of digits of base 16 as the text of `bytes`");
                }
            },
            _ => None,
        };
        Ok(literal.map_or_else(|| Expression::Call(name.into(), args), Expression::Plain))
    }

    /// Parses the items of a list up to the closing bracket `end`. The opening bracket has already been read.
    fn items<T>(&mut self, end: &str, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = Vec::new();
        while !self.takes(end) {
            items.push(item(self)?);
            if !self.takes(",") {
                if self.takes(end) {
                    break;
                }
                return self.fail(&format!("`,` or `{end}`"));
            }
        }
        Ok(items)
    }

    /// Parses an argument: `x`, `axis=0`.
    fn argument(&mut self, depth: usize) -> Result<(Option<String>, Expression)> {
        let begin = self.at;
        if let Some(name) = self.name()
            && self.takes("=")
        {
            return Ok((Some(name.into()), self.value(depth)?));
        }
        self.at = begin;
        Ok((None, self.value(depth)?))
    }

    fn string(&mut self) -> Result<String> {
        let begin = self.at;
        let mut text = String::new();
        let mut characters = self.text[self.at..].char_indices();
        let quote = characters.next().map(|(_, quote)| quote);
        while let Some((place, c)) = characters.next() {
            match c {
                c if Some(c) == quote => {
                    self.at += place + 1;
                    return Ok(text);
                }
                '\\' => match characters.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, c @ ('"' | '\\' | '\''))) => text.push(c),
                    _ => {
                        self.at = begin + place;
                        return self.fail("`\\\"`, `\\\\`, `\\n` or `\\t`");
                    }
                },
                c => text.push(c),
            }
        }
        self.at = self.text.len();
        self.fail("`\"`")
    }

    /// Parses a number or a slice: `3`, `-0.5`, `1..`, `..-1;2`, `::-1`.
    fn number_or_slice(&mut self) -> Result<Plain> {
        let begin = self.at;
        let first =
            if self.rest().starts_with("..") || self.rest().starts_with(':') { None } else { Some(self.number()?) };
        let before_step = if self.takes("..") {
            ";"
        } else if self.takes(":") {
            ":"
        } else {
            return first.map_or_else(|| self.fail("a number"), Ok);
        };
        let start = match first {
            None => None,
            Some(Plain::Integer(start)) => Some(start),
            Some(_) => {
                self.at = begin;
                return self.fail("an integer as the first of a part");
            }
        };
        let stop = if self.begins_number() { Some(self.integer()?) } else { None };
        let step = if self.takes(before_step) && self.begins_number() { Some(self.integer()?) } else { None };
        if (start, stop, step) == (None, None, None) {
            return Ok(Plain::All);
        }
        let Ok(step) = isize::try_from(step.unwrap_or(1)) else { return self.fail("a smaller step") };
        Ok(Plain::Slice(Slice { start, stop, ..Slice::ALL.step(step) }))
    }

    fn begins_number(&mut self) -> bool {
        self.rest().starts_with(|c: char| c.is_ascii_digit() || c == '-')
    }

    fn integer(&mut self) -> Result<i128> {
        let begin = self.at;
        match self.number()? {
            Plain::Integer(x) => Ok(x),
            _ => {
                self.at = begin;
                self.fail("an integer")
            }
        }
    }

    fn number(&mut self) -> Result<Plain> {
        let rest = self.rest();
        let unsigned = rest.strip_prefix(['-', '+']).unwrap_or(rest);
        let sign = rest.len() - unsigned.len();
        let word = unsigned.find(|c: char| !c.is_alphabetic()).unwrap_or(unsigned.len());
        if let "inf" | "nan" = &unsigned[..word] {
            self.at += sign + word;
            let x = if unsigned.starts_with("inf") { f64::INFINITY } else { f64::NAN };
            return Ok(Plain::Float(if rest.starts_with('-') { -x } else { x }));
        }
        let mut length = 0;
        let bytes = unsigned.as_bytes();
        let (mut point, mut exponent) = (false, false);
        while let Some(c) = bytes.get(length) {
            match c {
                b'0'..=b'9' => {}
                // two dots are the range operator `..`, which ends the number
                b'.' if !point && !exponent && bytes.get(length + 1) != Some(&b'.') => point = true,
                b'e' | b'E' if !exponent && length > 0 => exponent = true,
                b'-' | b'+' if matches!(bytes[length.saturating_sub(1)], b'e' | b'E') => {}
                _ => break,
            }
            length += 1;
        }
        let text = &rest[..sign + length];
        let number = match point || exponent {
            true => text.parse().ok().map(Plain::Float),
            false => text.parse().ok().map(Plain::Integer),
        };
        let Some(number) = number else { return self.fail("a number") };
        self.at += text.len();
        if self.text[self.at..].starts_with('j') {
            self.at += 1;
            let imaginary = real(&Expression::Plain(number)).unwrap_or(f64::NAN);
            return Ok(Plain::Complex(Complex::new(0.0, imaginary)));
        }
        Ok(number)
    }
}

fn real(value: &Expression) -> Option<f64> {
    match value {
        Expression::Plain(Plain::Integer(x)) => Some(*x as f64),
        Expression::Plain(Plain::Float(x)) => Some(*x),
        _ => None,
    }
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = hex.chars().map(|c| c.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks(2).map(|pair| (16 * pair[0] + pair[1]) as u8).collect())
}

#[cfg(test)]
#[allow(clippy::reversed_empty_ranges)] // in `1..-1`, -1 counts from the end of the axis
mod tests {
    use super::*;

    fn plain(text: &str) -> Plain {
        match text.parse::<Script>().map(|script| script.statements[0].value.clone()) {
            Ok(Expression::Plain(plain)) => plain,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn values() {
        assert_eq!(plain("18446744073709551615"), Plain::Integer(u64::MAX.into()));
        assert_eq!(
            (plain("-1.5e-3"), plain("1e300"), plain("5e-324")),
            (Plain::Float(-1.5e-3), Plain::Float(1e300), Plain::Float(5e-324))
        );
        assert_eq!((plain("-inf"), plain("2.")), (Plain::Float(f64::NEG_INFINITY), Plain::Float(2.0)));
        assert_eq!(plain("complex(1, -2.5)"), Plain::Complex(Complex::new(1.0, -2.5)));
        assert_eq!(plain("1..-1;2"), Plain::Slice(Slice::from(1..-1).step(2)));
        assert_eq!(
            (plain(".."), plain("..;-1"), plain("...")),
            (Plain::All, Plain::Slice(Slice::ALL.step(-1)), Plain::Rest)
        );
        assert_eq!(plain("\"a\\\"b, # c\""), Plain::Text("a\"b, # c".into()));
        assert_eq!(
            (plain(":"), plain("1:-1"), plain("::-1")),
            (Plain::All, Plain::Slice(Slice::from(1..-1)), Plain::Slice(Slice::ALL.step(-1)))
        );
        assert_eq!((plain("-2j"), plain("'a'")), (Plain::Complex(Complex::new(0.0, -2.0)), Plain::Text("a".into())));
        assert_eq!(plain("bytes(\"00fF\") # a note"), Plain::Bytes(vec![0, 255]));
    }

    #[test]
    fn what_cannot_be_read_is_said_with_its_place() {
        for (text, part) in [
            ("x = ", "column 5: expected a value, found the end of the line"),
            ("sum(x", "column 6: expected `,` or `)`, found the end of the line"),
            ("sum(x) y", "column 8: expected the end of the line, found `y`"),
            ("\n\nx = [1, é!]", "line 3, column 10: expected `,` or `]`, found `!`"),
            ("\"abc", "column 5: expected `\"`"),
            ("bytes(\"0g\")", "pairs of digits"),
            ("1.5..2", "an integer as the first"),
            ("-", "a number"),
        ] {
            let why = text.parse::<Script>().unwrap_err().to_string();
            assert!(why.contains(part), "{text}: {why}");
        }
        let deep = format!("{}x{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(deep.parse::<Script>().is_err());
    }

    #[test]
    fn no_text_makes_it_panic() {
        let pieces = [
            "x", "=", "(", ")", "[", "]", ",", "..", ";", "-", "1", ".5", "e", "\"", "\\", "é", "nan", "bytes",
            "complex", "#", " ",
        ];
        let mut state = 1_u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..8 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text += pieces[(state >> 33) as usize % pieces.len()];
            }
            let _ = text.parse::<Script>();
        }
    }
}
