//! Parses the language of formulas, which has Python's operators and precedence, names, numbers, and calls of ops.

use super::{
    Result, mistake,
    rows::{Parameter, Row, Rows},
    tree::{Argument, Formula, Number, Target, Whole},
};
use proc_macro2::{Delimiter, Group, Ident, Literal, Spacing, Span, TokenStream, TokenTree};
use quote::quote;
use std::{collections::VecDeque, vec};

/// Parses the input `BACKEND, FORMULA`. Returns the tokens of the backend, and the formula.
pub fn parse(tokens: Vec<TokenTree>, rows: &Rows) -> Result<(TokenStream, Whole)> {
    let Some(comma) = tokens.iter().position(|t| is_punct(t, ',')) else {
        let at = tokens.last().map_or(Span::call_site(), TokenTree::span);
        return mistake(at, "`expr!(b, formula)` takes the backend, a comma, and a formula");
    };
    let mut rest = tokens;
    let formula = rest.split_off(comma + 1);
    rest.pop();
    if rest.is_empty() {
        return mistake(Span::call_site(), "the backend before the comma is missing");
    }
    Ok((rest.into_iter().collect(), statements(formula, rows)?))
}

/// Parses a formula after any number of `let` statements, as in `let name = formula; .. formula`.
fn statements(tokens: Vec<TokenTree>, rows: &Rows) -> Result<Whole> {
    let mut names: Vec<(String, Formula)> = Vec::new();
    let mut parts: Vec<Vec<TokenTree>> = vec![Vec::new()];
    for token in tokens {
        if is_punct(&token, ';') { parts.push(Vec::new()) } else { parts.last_mut().expect("one at least").push(token) }
    }
    let last = parts.pop().expect("one at least");
    for part in parts {
        let mut reader = Parser::new(part, rows, &names);
        let at = reader.span();
        let (Some(_), Some(TokenTree::Ident(name))) = (reader.keyword("let"), reader.next()) else {
            return mistake(at, "the part before a `;` must be `let name = formula`");
        };
        if !reader.takes("=") {
            return mistake(reader.span(), format!("`=` is expected after `let {name}`"));
        }
        let value = reader.whole()?;
        names.push((name.to_string(), value));
    }
    if last.is_empty() {
        return mistake(Span::call_site(), "the formula is missing");
    }
    let reader = Parser::new(last, rows, &names);
    reader.assignment()
}

fn is_punct(t: &TokenTree, c: char) -> bool {
    matches!(t, TokenTree::Punct(p) if p.as_char() == c)
}

/// Binary operators: text, op and precedence. `**` is right-associative; all others are left-associative.
pub(super) const OPERATORS: &[(&str, &str, u8)] = &[
    ("**", "pow", POWER),
    ("<<", "bitwise_left_shift", 6),
    (">>", "bitwise_right_shift", 6),
    ("<=", "less_equal", COMPARISON),
    (">=", "greater_equal", COMPARISON),
    ("==", "equal", COMPARISON),
    ("!=", "not_equal", COMPARISON),
    ("&&", "", 0),
    ("||", "", 0),
    ("+", "add", 7),
    ("-", "subtract", 7),
    ("*", "multiply", 8),
    ("/", "divide", 8),
    ("%", "remainder", 8),
    ("@", "matmul", 8),
    ("<", "less", COMPARISON),
    (">", "greater", COMPARISON),
    ("&", "bitwise_and", 5),
    ("^", "bitwise_xor", 4),
    ("|", "bitwise_or", 3),
];
const COMPARISON: u8 = 2;
/// The precedence of `-x` and `!x`: `-x**2` is `-(x**2)`.
pub(super) const PREFIX: u8 = 9;
pub(super) const POWER: u8 = 10;

/// Maximum nesting depth of brackets, signs and powers. It is limited because the parser is recursive.
const DEPTH: usize = 100;

struct Parser<'a> {
    tokens: VecDeque<TokenTree>,
    rows: &'a Rows,
    /// The formulas to which `let` statements have given names.
    names: &'a [(String, Formula)],
    end: Span,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn new(tokens: Vec<TokenTree>, rows: &'a Rows, names: &'a [(String, Formula)]) -> Parser<'a> {
        let end = tokens.last().map_or(Span::call_site(), TokenTree::span);
        Parser { tokens: tokens.into(), rows, names, end, depth: 0 }
    }

    fn inside(&self, tokens: TokenStream, at: Span) -> Result<Parser<'a>> {
        let mut inner = Parser::new(tokens.into_iter().collect(), self.rows, self.names);
        inner.depth = self.depth;
        if inner.tokens.is_empty() {
            inner.end = at;
        }
        Ok(inner)
    }

    fn next(&mut self) -> Option<TokenTree> {
        self.tokens.pop_front()
    }

    fn span(&self) -> Span {
        self.tokens.front().map_or(self.end, TokenTree::span)
    }

    fn keyword(&mut self, word: &str) -> Option<Ident> {
        match self.tokens.front() {
            Some(TokenTree::Ident(name)) if name == word => match self.next() {
                Some(TokenTree::Ident(name)) => Some(name),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns whether the next tokens are this operator, and not the beginning of a longer operator.
    fn sees(&self, text: &str) -> bool {
        let mut tokens = self.tokens.iter();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match tokens.next() {
                Some(TokenTree::Punct(p)) if p.as_char() == c => {
                    // rustfmt writes `x**2` as `x * *2`, so the two characters may be separated by a space
                    if chars.peek().is_some() && p.spacing() != Spacing::Joint && text != "**" {
                        return false;
                    }
                }
                _ => return false,
            }
        }
        true
    }

    fn takes(&mut self, text: &str) -> bool {
        let sees = self.sees(text);
        if sees {
            (0..text.len()).for_each(|_| _ = self.next());
        }
        sees
    }

    fn operator(&self) -> Option<(&'static str, &'static str, u8)> {
        OPERATORS.iter().copied().find(|(text, ..)| self.sees(text))
    }

    fn whole(mut self) -> Result<Formula> {
        let formula = self.formula(0)?;
        match self.tokens.front() {
            None => Ok(formula),
            Some(t) => mistake(t.span(), format!("`{t}` is unexpected here: expected an operator")),
        }
    }

    /// Parses `formula`, `place = formula`, `place += formula`, `place[index] = formula` or `place[index] += formula`.
    fn assignment(mut self) -> Result<Whole> {
        let at = self.tokens.iter().enumerate().position(|(i, t)| {
            let before = i.checked_sub(1).and_then(|i| self.tokens.get(i));
            let after = self.tokens.get(i + 1);
            let joined = |t: &TokenTree| matches!(t, TokenTree::Punct(p) if p.spacing() == Spacing::Joint);
            let compares =
                |t: Option<&TokenTree>| t.is_some_and(|t| joined(t) && "=<>!".chars().any(|c| is_punct(t, c)));
            is_punct(t, '=') && !compares(before) && !(joined(t) && after.is_some_and(|t| is_punct(t, '=')))
        });
        let Some(at) = at else { return Ok(Whole::Value(self.whole()?)) };
        let mut left: Vec<TokenTree> = self.tokens.drain(..at).collect();
        let equals = self.next().map_or(self.end, |t| t.span());
        let operator = match left.last() {
            Some(TokenTree::Punct(p)) if p.spacing() == Spacing::Joint => {
                let mut text = p.as_char().to_string();
                left.pop();
                while let Some(TokenTree::Punct(p)) = left.last()
                    && p.spacing() == Spacing::Joint
                {
                    text.insert(0, p.as_char());
                    left.pop();
                }
                Some(text)
            }
            _ => None,
        };
        let deref = left.first().is_some_and(|t| is_punct(t, '*'));
        let left = left.split_off(usize::from(deref));
        let place: TokenStream = left.iter().cloned().collect();
        let leaf = Parser::new(left, self.rows, self.names).whole()?;
        let (place, index) = match &leaf {
            Formula::Leaf(..) => (place, None),
            Formula::Index(x, index) => match &**x {
                Formula::Leaf(place, _) => (place.clone(), Some(index.clone())),
                _ => {
                    return mistake(
                        leaf.span(),
                        "an assignment to a part needs a variable or a field, followed by one list of indices",
                    );
                }
            },
            _ => {
                return mistake(
                    leaf.span(),
                    "the left side of an assignment must be a variable or a field, or a part of one",
                );
            }
        };
        let value = self.whole()?;
        let target = Target { place, deref, keeps_shape: operator.is_some() };
        let operator = match operator {
            None => None,
            Some(operator) => {
                match OPERATORS.iter().find(|(text, _, power)| *text == operator && *power > COMPARISON) {
                    Some((_, name, _)) => Some(Ident::new(name, equals)),
                    None => return mistake(equals, format!("`{operator}=` is not an assignment operator of formulas")),
                }
            }
        };
        Ok(match (index, operator) {
            (Some(index), operator) => Whole::Put(target, index, operator, value),
            (None, None) => Whole::Assign(target, value),
            (None, Some(name)) => {
                let arguments = vec![Argument::Formula(leaf), Argument::Formula(value)];
                Whole::Assign(target, Formula::Call(name, arguments, Vec::new()))
            }
        })
    }

    fn formula(&mut self, least: u8) -> Result<Formula> {
        if self.depth == DEPTH {
            return mistake(self.span(), format!("brackets and signs in a formula may be nested at most {DEPTH} deep"));
        }
        self.depth += 1;
        let formula = self.operators(least);
        self.depth -= 1;
        formula
    }

    fn operators(&mut self, least: u8) -> Result<Formula> {
        let mut left = self.prefix()?;
        while let Some((text, name, power)) = self.operator() {
            let at = self.span();
            if name.is_empty() {
                return mistake(at, format!("`{text}` is for single truth values: write `{}` for arrays", &text[..1]));
            }
            if power < least {
                break;
            }
            (0..text.len()).for_each(|_| _ = self.next());
            let right = self.formula(if power == POWER { POWER } else { power + 1 })?;
            if power == COMPARISON && self.operator().is_some_and(|(.., power)| power == COMPARISON) {
                return mistake(self.span(), "comparisons do not chain: write `(a < b) & (b < c)`");
            }
            left = binary(name, at, left, right);
        }
        Ok(left)
    }

    fn prefix(&mut self) -> Result<Formula> {
        let at = self.span();
        if self.takes("-") {
            return Ok(match self.formula(PREFIX)? {
                Formula::Number(Number::Float(x), _) => Formula::Number(Number::Float(-x), at),
                Formula::Number(Number::Whole(x), _) => Formula::Number(Number::Whole(-x), at),
                Formula::Number(Number::Complex(re, im), _) => Formula::Number(Number::Complex(-re, -im), at),
                x => call("negative", at, vec![x]),
            });
        }
        if self.takes("!") {
            let x = self.formula(PREFIX)?;
            return Ok(call("bitwise_invert", at, vec![x]));
        }
        // a formula borrows every name, so a `&` before the name changes nothing
        self.takes("&");
        let mut x = self.operand()?;
        while let Some(TokenTree::Group(index)) = self.tokens.front()
            && index.delimiter() == Delimiter::Bracket
        {
            let index = index.clone();
            self.next();
            x = Formula::Index(Box::new(x), index);
        }
        while let Some(word) = self.keyword("as") {
            x = self.cast(x, word.span())?;
        }
        Ok(x)
    }

    /// Parses the type after `as`. The value `x` is a Rust expression, a number, or an element of a list of Rust.
    fn cast(&mut self, x: Formula, at: Span) -> Result<Formula> {
        let value = match &x {
            Formula::Leaf(rust, _) => rust.clone(),
            Formula::Index(list, index) => match &**list {
                Formula::Leaf(rust, _) => quote!(#rust #index),
                _ => TokenStream::new(),
            },
            Formula::Number(Number::Whole(x), _) => TokenTree::Literal(Literal::i64_unsuffixed(*x)).into(),
            Formula::Number(Number::Float(x), _) => TokenTree::Literal(Literal::f64_unsuffixed(*x)).into(),
            _ => TokenStream::new(),
        };
        if value.is_empty() {
            return mistake(at, "`as` converts a number of Rust: write `astype::<f64>(x)` for an array");
        }
        let mut of: Vec<TokenTree> = Vec::new();
        loop {
            match self.next() {
                Some(TokenTree::Ident(name)) => of.push(name.into()),
                Some(other) => return mistake(other.span(), "a type must follow `as`"),
                None => return mistake(self.end, "a type must follow `as`"),
            }
            if !self.sees("::") {
                break;
            }
            (0..2).for_each(|_| of.extend(self.next()));
        }
        let of: TokenStream = of.into_iter().collect();
        Ok(Formula::Leaf(quote!((#value as #of)), x.span()))
    }

    fn operand(&mut self) -> Result<Formula> {
        let at = self.span();
        // brackets before `as` contain a Rust expression: `(a + b) as f64`
        if matches!(self.tokens.get(1), Some(TokenTree::Ident(word)) if word == "as")
            && let Some(TokenTree::Group(group)) = self.tokens.front()
            && group.delimiter() == Delimiter::Parenthesis
        {
            let group = self.next();
            return Ok(Formula::Leaf(group.into_iter().collect(), at));
        }
        match self.next() {
            Some(TokenTree::Literal(literal)) => number(&literal),
            Some(TokenTree::Group(group)) => match group.delimiter() {
                Delimiter::Parenthesis => self.inside(group.stream(), group.span())?.whole(),
                // a group of tokens that another macro has passed on as one fragment, such as `$x:expr`
                Delimiter::None => self.inside(group.stream(), group.span())?.whole(),
                Delimiter::Brace => Ok(Formula::Leaf(TokenTree::Group(group).into(), at)),
                Delimiter::Bracket => {
                    mistake(at, "a list cannot be an operand: only ops such as `concat` and `stack` take lists")
                }
            },
            Some(TokenTree::Ident(name)) => self.name(name),
            Some(other) => mistake(at, format!("an operand cannot begin with `{other}`")),
            None => mistake(self.end, "an operand is missing"),
        }
    }

    /// Parses an operand that begins with `name`. It is a call of an op, or a Rust expression: a name or a path,
    /// followed by fields and method calls.
    fn name(&mut self, name: Ident) -> Result<Formula> {
        let at = name.span();
        if let Some(TokenTree::Group(group)) = self.tokens.front()
            && group.delimiter() == Delimiter::Parenthesis
        {
            let group = group.clone();
            self.next();
            return self.call(name, None, &group);
        }
        if let Some(dtype) = self.dtype(&name)? {
            return match self.next() {
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
                    self.call(name, Some(dtype), &group)
                }
                _ => mistake(at, format!("the arguments of `{name}` must follow its dtype, in brackets")),
            };
        }
        if let Some((_, value)) = self.names.iter().rev().find(|(known, _)| name == known)
            && !self.sees(".")
        {
            return Ok(value.clone());
        }
        let mut path: Vec<TokenTree> = vec![name.into()];
        while self.sees(".") && !self.sees("..") || self.sees("::") {
            let separator = if self.sees("::") { 2 } else { 1 };
            (0..separator).for_each(|_| path.extend(self.next()));
            match self.next() {
                Some(t @ (TokenTree::Ident(_) | TokenTree::Literal(_))) => path.push(t),
                Some(other) => return mistake(other.span(), format!("`{other}` is not the name of a field")),
                None => return mistake(self.end, "a name is missing"),
            }
            if let Some(TokenTree::Group(group)) = self.tokens.front()
                && group.delimiter() == Delimiter::Parenthesis
            {
                path.extend(self.next());
            }
        }
        Ok(Formula::Leaf(path.into_iter().collect(), at))
    }

    /// Parses `::<f64>` after the name of an op. As in method calls, `::<f64, _>` is accepted with the same meaning.
    fn dtype(&mut self, name: &Ident) -> Result<Option<TokenStream>> {
        if !(self.sees("::") && self.tokens.get(2).is_some_and(|t| is_punct(t, '<'))) {
            return Ok(None);
        }
        self.tokens.drain(..3);
        let (mut dtype, mut depth, mut is_first) = (TokenStream::new(), 0_usize, true);
        loop {
            let Some(token) = self.next() else {
                return mistake(self.end, format!("`>` is missing after the dtype of `{name}`"));
            };
            match &token {
                t if is_punct(t, '>') && depth == 0 => break,
                t if is_punct(t, '>') => depth -= 1,
                t if is_punct(t, '<') => depth += 1,
                t if is_punct(t, ',') && depth == 0 => is_first = false,
                _ => {}
            }
            if is_first {
                dtype.extend([token]);
            }
        }
        if dtype.is_empty() {
            return mistake(name.span(), format!("the dtype of `{name}` is missing"));
        }
        Ok(Some(dtype))
    }

    fn call(&mut self, name: Ident, dtype: Option<TokenStream>, group: &Group) -> Result<Formula> {
        let text = name.to_string();
        let Some(row) = self.rows.get(&text) else {
            let hint = self.rows.hint(&text).unwrap_or("write a function of Rust in braces".into());
            return mistake(name.span(), format!("there is no op `{text}`; {hint}"));
        };
        if row.positional.contains(&Parameter::Target) {
            return mistake(
                name.span(),
                format!("`{text}` changes an array, but a formula returns one: write `x[..] = ..`"),
            );
        }
        let mut arguments: Vec<Option<Argument>> = vec![None; row.positional.len()];
        let (mut options, mut count, mut is_named) = (Vec::new(), 0, false);
        match (row.takes_dtype(), dtype) {
            (true, Some(dtype)) => {
                arguments[0] = Some(Argument::DType(dtype));
                count = 1;
            }
            (true, None) => {
                return mistake(
                    name.span(),
                    format!("`{text}` needs the dtype of its result: write `{text}::<f64>(..)`"),
                );
            }
            (false, dtype) if row.creates() => {
                arguments[0] = Some(Argument::DType(dtype.unwrap_or_default()));
                count = 1;
            }
            (false, Some(_)) => return mistake(name.span(), format!("`{text}` takes no dtype")),
            (false, None) => {}
        }
        for part in split(group.stream()) {
            if let Some((key, value)) = named(&part) {
                is_named = true;
                if value.is_empty() {
                    return mistake(key.span(), format!("the value of `{key}` is missing"));
                }
                let place = row.names.iter().position(|known| key == known);
                let is_given = match place {
                    Some(place) => arguments[place].is_some(),
                    None => options.iter().any(|(known, _)| known == key),
                };
                if is_given {
                    return mistake(key.span(), format!("`{key}` of `{text}` is given twice"));
                }
                match place {
                    Some(place) => arguments[place] = Some(self.argument(row, place, value.to_vec(), key.span())?),
                    None if row.options.iter().any(|known| key == known) => {
                        let is_array = row.optional_arrays.iter().any(|known| key == known);
                        options.push((key.clone(), self.option(is_array, value)));
                    }
                    None => {
                        let known = row.all_names();
                        return mistake(key.span(), format!("`{text}` has no parameter `{key}`; it has {known}"));
                    }
                }
                continue;
            }
            let at = part.first().map_or(group.span(), TokenTree::span);
            if is_named {
                return mistake(at, "arguments without a name must come before arguments with a name");
            }
            if count == row.positional.len() {
                let names = row.options.join(" = .., ");
                let options = if names.is_empty() { String::new() } else { format!(", and the options {names} = ..") };
                return mistake(at, format!("`{text}` takes {}{options}", row.takes()));
            }
            arguments[count] = Some(self.argument(row, count, part, at)?);
            count += 1;
        }
        let missing: Vec<String> = (arguments.iter().zip(&row.names))
            .filter(|(argument, _)| argument.is_none())
            .map(|(_, name)| format!("`{name}`"))
            .collect();
        if !missing.is_empty() {
            let given = row.in_brackets().count() - missing.len();
            let are = |n: usize| if n == 1 { "is" } else { "are" };
            let (takes, are_given, are_missing) = (row.takes(), are(given), are(missing.len()));
            let why = format!(
                "`{text}` takes {takes}, {given} {are_given} given: {} {are_missing} missing",
                missing.join(" and ")
            );
            return mistake(name.span(), why);
        }
        Ok(Formula::Call(name, arguments.into_iter().flatten().collect(), options))
    }

    /// Parses the value of an option. An array may be a formula; what is no formula is a Rust expression, such as `&x`.
    fn option(&self, is_array: bool, value: &[TokenTree]) -> Argument {
        let (tokens, at) = (value.iter().cloned().collect::<TokenStream>(), value[0].span());
        let formula = is_array.then(|| self.inside(tokens.clone(), at).and_then(|parser| parser.whole()).ok());
        match formula.flatten() {
            Some(formula @ (Formula::Call(..) | Formula::Index(..))) => Argument::Formula(formula),
            Some(Formula::Leaf(rust, at)) => Argument::Formula(Formula::Leaf(rust, at)),
            _ => Argument::Rust(tokens),
        }
    }

    /// Parses `part`, the tokens of one argument, for the parameter at index `place`.
    fn argument(&self, row: &Row, place: usize, part: Vec<TokenTree>, at: Span) -> Result<Argument> {
        Ok(match &row.positional[place] {
            Parameter::Rust(_) | Parameter::Scalar => Argument::Rust(part.into_iter().collect()),
            Parameter::Arrays => match &part[..] {
                [TokenTree::Group(list)] if list.delimiter() == Delimiter::Bracket => {
                    let items = split(list.stream())
                        .into_iter()
                        .map(|item| self.inside(item.into_iter().collect(), list.span())?.whole());
                    Argument::List(items.collect::<Result<_>>()?)
                }
                _ => Argument::Rust(part.into_iter().collect()),
            },
            _ => match (row.open[place], &part[..]) {
                (Some(open), [dot, last]) if is_punct(dot, '.') && is_punct(last, '.') => {
                    Argument::Formula(Formula::Number(open, at))
                }
                _ => Argument::Formula(self.inside(part.into_iter().collect(), at)?.whole()?),
            },
        })
    }
}

/// Returns the name and the value of a named argument `name = value`. Returns `None` for other arguments, such as
/// `name == value`.
fn named(part: &[TokenTree]) -> Option<(&Ident, &[TokenTree])> {
    match part {
        [TokenTree::Ident(key), TokenTree::Punct(equals), value @ ..] if equals.as_char() == '=' => {
            // `axis=-1` and `axis=..` are named arguments, too, although another sign follows `=` without a space
            let compares = equals.spacing() == Spacing::Joint && value.first().is_some_and(|t| is_punct(t, '='));
            (!compares).then_some((key, value))
        }
        _ => None,
    }
}

fn call(name: &str, at: Span, arguments: Vec<Formula>) -> Formula {
    Formula::Call(Ident::new(name, at), arguments.into_iter().map(Argument::Formula).collect(), Vec::new())
}

/// Applies an operator to two formulas. For two numbers, the result is a number. Some powers become a different op:
/// `x**2`, for example, becomes `square(x)`.
fn binary(name: &str, at: Span, left: Formula, right: Formula) -> Formula {
    use Number::{Float, Whole};
    if let (Formula::Number(x, at), Formula::Number(y, _)) = (&left, &right) {
        let whole = match (name, x, y) {
            ("add", Whole(x), Whole(y)) => x.checked_add(*y),
            ("subtract", Whole(x), Whole(y)) => x.checked_sub(*y),
            ("multiply", Whole(x), Whole(y)) => x.checked_mul(*y),
            ("pow", Whole(x), Whole(y)) => u32::try_from(*y).ok().and_then(|y| x.checked_pow(y)),
            _ => None,
        };
        // `..` cannot be an operand of an operator, so its value has no effect
        let float = |x: &Number| match x {
            Whole(x) => *x as f64,
            Float(x) | Number::Complex(x, _) => *x,
            Number::Lowest | Number::Highest => f64::NAN,
        };
        let imaginary = |x: &Number| if let Number::Complex(_, im) = x { Some(*im) } else { None };
        let ((im_x, im_y), (x, y)) = ((imaginary(x), imaginary(y)), (float(x), float(y)));
        if im_x.is_some() || im_y.is_some() {
            let number = match (name, im_x.unwrap_or(0.0), im_y.unwrap_or(0.0)) {
                ("add", a, b) => Some((x + y, a + b)),
                ("subtract", a, b) => Some((x - y, a - b)),
                ("multiply", a, b) if im_x.is_none() || im_y.is_none() => Some((x * y, x * b + a * y)),
                ("multiply", a, b) => Some((x * y - a * b, x * b + a * y)),
                ("divide", a, _) if im_y.is_none() => Some((x / y, a / y)),
                _ => None,
            };
            return match number {
                Some((re, im)) => Formula::Number(Number::Complex(re, im), *at),
                None => call(name, *at, vec![left, right]),
            };
        }
        let number = match name {
            "add" => Some(x + y),
            "subtract" => Some(x - y),
            "multiply" => Some(x * y),
            "divide" => Some(x / y),
            "pow" => Some(x.powf(y)),
            _ => None,
        };
        if let Some(number) = whole.map(Whole).or(number.map(Float)) {
            return Formula::Number(number, *at);
        }
    }
    match (name, &right) {
        ("pow", Formula::Number(Whole(2), _)) => call("square", at, vec![left]),
        ("pow", Formula::Number(Float(2.0), _)) => call("square", at, vec![left]),
        ("pow", Formula::Number(Float(0.5), _)) => call("sqrt", at, vec![left]),
        ("pow", Formula::Number(Whole(-1) | Float(-1.0), _)) => call("reciprocal", at, vec![left]),
        _ => call(name, at, vec![left, right]),
    }
}

/// Converts a literal to a formula: to a number if the literal has no suffix, otherwise to a scalar of the dtype that
/// the suffix names.
fn number(literal: &Literal) -> Result<Formula> {
    let (text, at) = (literal.to_string().replace('_', ""), literal.span());
    if let Ok(x) = text.parse::<i64>() {
        return Ok(Formula::Number(Number::Whole(x), at));
    }
    if let Some(im) = text.strip_suffix(['i', 'j'])
        && let Ok(im) = im.parse::<f64>()
        && text.starts_with(|c: char| c.is_ascii_digit())
    {
        return Ok(Formula::Number(Number::Complex(0.0, im), at));
    }
    let digits = text.bytes().all(|c| c.is_ascii_digit() || b".eE+-".contains(&c));
    match text.parse::<f64>() {
        Ok(x) if digits && x.is_finite() => Ok(Formula::Number(Number::Float(x), at)),
        _ if text.starts_with(|c: char| c.is_ascii_digit()) => {
            Ok(Formula::Leaf(TokenTree::Literal(literal.clone()).into(), at))
        }
        _ => mistake(at, format!("{literal} is not a number")),
    }
}

/// Splits tokens at commas.
fn split(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut parts: Vec<Vec<TokenTree>> = vec![Vec::new()];
    for token in tokens {
        if is_punct(&token, ',') { parts.push(Vec::new()) } else { parts.last_mut().expect("one at least").push(token) }
    }
    if parts.last().is_some_and(Vec::is_empty) {
        parts.pop();
    }
    parts
}
