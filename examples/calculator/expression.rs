//! The language of the calculator: `name = op(arguments, option = value)`.

use backends::prelude::Slice;

/// What a line asks for.
#[derive(Debug, PartialEq)]
pub enum Line {
    /// It is empty or a comment.
    Nothing,
    /// `help op`
    Help(String),
    /// `name = expression`
    Assign(String, Expression),
    /// `expression`
    Show(Expression),
}

/// A value, not yet computed.
#[derive(Debug, PartialEq)]
pub enum Expression {
    Integer(i128),
    Float(f64),
    /// `2j`
    Imaginary(f64),
    /// `'text'`
    Text(String),
    /// A variable or a word.
    Name(String),
    /// `[1, 2]`
    List(Vec<Expression>),
    /// `1:3`, in a list
    Slice(Slice),
    /// `..`
    All,
    /// `op(x, axis = 0)`
    Call(String, Vec<Expression>, Vec<(String, Expression)>),
}

/// How deep lists and calls may stand in one another.
const DEPTH: usize = 64;

/// Reads a line.
pub fn line(text: &str) -> Result<Line, String> {
    let text = text.split('#').next().unwrap_or("").trim();
    if text.is_empty() {
        return Ok(Line::Nothing);
    }
    if let Some(op) = text.strip_prefix("help ") {
        return Ok(Line::Help(op.trim().into()));
    }
    let mut reader = Reader { text, at: 0 };
    let first = reader.expression(0)?;
    let line = match first {
        Expression::Name(name) if reader.takes('=') => Line::Assign(name, reader.expression(0)?),
        expression => Line::Show(expression),
    };
    match reader.rest() {
        "" => Ok(line),
        rest => Err(format!("`{rest}` is left over")),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        &self.text[self.at..]
    }

    fn takes(&mut self, c: char) -> bool {
        let taken = self.rest().starts_with(c);
        self.at += if taken { c.len_utf8() } else { 0 };
        taken
    }

    fn expects(&mut self, c: char) -> Result<(), String> {
        if self.takes(c) { Ok(()) } else { Err(format!("`{c}` is missing before `{}`", self.rest())) }
    }

    fn word(&mut self, of: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !of(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn expression(&mut self, depth: usize) -> Result<Expression, String> {
        if depth > DEPTH {
            return Err(format!("lists and calls stand in one another more than {DEPTH} deep"));
        }
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Err("something is missing at the end".into()) };
        if rest.starts_with("..") {
            self.at += 2;
            return Ok(Expression::All);
        }
        match first {
            '[' => self.list(depth),
            '\'' | '"' => {
                self.at += 1;
                let text = self.text[self.at..].split(first).next().unwrap_or("");
                self.at += text.len();
                self.expects(first)?;
                Ok(Expression::Text(text.into()))
            }
            '0'..='9' | '-' | '+' | '.' => self.number(),
            c if c.is_alphabetic() || c == '_' => {
                let name = self.word(|c| c.is_alphanumeric() || c == '_').to_owned();
                if self.takes('(') { self.arguments(name, depth) } else { Ok(Expression::Name(name)) }
            }
            _ => Err(format!("`{rest}` is neither a number, a name, a list nor a call")),
        }
    }

    fn number(&mut self) -> Result<Expression, String> {
        let start = self.at;
        self.at += 1;
        let mut before = self.text[start..].chars().next().unwrap_or('0');
        while let Some(c) = self.text[self.at..].chars().next() {
            let sign = (c == '-' || c == '+') && matches!(before, 'e' | 'E');
            if !(c.is_ascii_alphanumeric() || sign || (c == '.' && !self.text[self.at..].starts_with(".."))) {
                break;
            }
            (before, self.at) = (c, self.at + 1);
        }
        let text = &self.text[start..self.at];
        let float = |text: &str| text.parse::<f64>().map_err(|_| format!("`{text}` is not a number"));
        match text.strip_suffix('j') {
            Some(imaginary) => float(imaginary).map(Expression::Imaginary),
            None => text.parse().map(Expression::Integer).or_else(|_| float(text).map(Expression::Float)),
        }
    }

    /// A list, whose items may be slices.
    fn list(&mut self, depth: usize) -> Result<Expression, String> {
        self.expects('[')?;
        let mut items = Vec::new();
        while !self.takes(']') {
            items.push(self.item(depth + 1)?);
            if !self.takes(',') {
                self.expects(']')?;
                break;
            }
        }
        Ok(Expression::List(items))
    }

    fn item(&mut self, depth: usize) -> Result<Expression, String> {
        let first = if self.rest().starts_with(':') { None } else { Some(self.expression(depth)?) };
        if !self.takes(':') {
            return first.ok_or_else(|| "an item is missing".into());
        }
        let start = first.map(index).transpose()?;
        let stop = self.bound(depth)?;
        let step = if self.takes(':') { self.bound(depth)? } else { None };
        let step = isize::try_from(step.unwrap_or(1)).map_err(|_| "the step of a slice is too large")?;
        Ok(Expression::Slice(Slice { start, stop, ..Slice::ALL }.step(step)))
    }

    fn bound(&mut self, depth: usize) -> Result<Option<i128>, String> {
        if [":", ",", "]"].iter().any(|end| self.rest().starts_with(end)) {
            return Ok(None);
        }
        self.expression(depth).and_then(index).map(Some)
    }

    fn arguments(&mut self, op: String, depth: usize) -> Result<Expression, String> {
        let (mut positional, mut named) = (Vec::new(), Vec::new());
        while !self.takes(')') {
            match self.expression(depth + 1)? {
                Expression::Name(name) if self.takes('=') => named.push((name, self.expression(depth + 1)?)),
                _ if !named.is_empty() => return Err("arguments without a name stand before those with one".into()),
                argument => positional.push(argument),
            }
            if !self.takes(',') {
                self.expects(')')?;
                break;
            }
        }
        Ok(Expression::Call(op, positional, named))
    }
}

fn index(expression: Expression) -> Result<i128, String> {
    match expression {
        Expression::Integer(x) => Ok(x),
        _ => Err("the bounds of a slice are integers".into()),
    }
}
