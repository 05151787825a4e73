//! Parses the text of an expression to a tree, by operator precedence and with a limited recursion depth.

use super::{
    lex::{self, Token, TokenKind},
    tree::{Argument, Comparison, Expr, Logic, MAX_NESTING, Name, Node, Number, Ty},
};
use crate::{
    names::{KEYWORDS, NAME_RULE, is_name},
    report::Mistake,
    text::{Span, Text},
};

/// Parses an expression. Returns its tree, or the first mistake in the text.
pub fn parse(text: &Text) -> Result<Expr, Mistake> {
    let tokens = lex::tokens(text)?;
    let mut parser = Parser { tokens, at: 0, depth: 0 };
    let (expr, _) = parser.expr(0)?;
    match parser.peek() {
        Token { kind: TokenKind::End, .. } => Ok(expr),
        token => Err(unexpected(token, "an operator, or the end")),
    }
}

/// An expression and its nesting depth.
type Tree = (Expr, usize);

struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
    /// The current recursion depth: the number of nested calls of [`Parser::expr`], plus the number of prefix signs
    /// (`-` and `!`) whose operands are being parsed.
    depth: usize,
}

/// The index of the comparisons in `LEVELS`.
const COMPARISONS: usize = 2;
/// The operators by precedence, from the lowest to the highest.
const LEVELS: [&[&str]; 5] = [&["||"], &["&&"], &["==", "!=", "<", "<=", ">", ">="], &["+", "-"], &["*", "/"]];

impl<'t> Parser<'t> {
    /// Returns the next token. At the end of the text, this is the end token, which is never consumed.
    fn peek(&self) -> &Token<'t> {
        &self.tokens[self.at]
    }

    fn next(&mut self) -> Token<'t> {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn is(&self, sign: &str) -> bool {
        self.peek().kind == TokenKind::Sign && self.peek().text == sign
    }

    fn takes(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        if found {
            self.next();
        }
        found
    }

    fn wants(&mut self, sign: &str) -> Result<Span, Mistake> {
        if self.is(sign) { Ok(self.next().span) } else { Err(unexpected(self.peek(), &format!("`{sign}`"))) }
    }

    /// Parses an expression up to the first operator whose precedence is below `level`.
    fn expr(&mut self, level: usize) -> Result<Tree, Mistake> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(too_deep(self.peek().span.clone()));
        }
        let mut left = self.prefix()?;
        let mut before = None;
        while let Some(found) = self.operator(level) {
            let sign = self.next();
            if found == COMPARISONS && before == Some(COMPARISONS) {
                let help = Some("write `a < b && b < c`".into());
                return Err(Mistake { span: sign.span, message: "comparisons do not chain".into(), help });
            }
            before = Some(found);
            let right = self.expr(found + 1)?;
            left = binary(sign, left, right)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    /// The precedence level of the next operator; `None` if it is below `level`, or if no operator follows.
    fn operator(&self, level: usize) -> Option<usize> {
        let token = self.peek();
        let is_next = |i: &usize| token.kind == TokenKind::Sign && LEVELS[*i].contains(&token.text);
        (level..LEVELS.len()).find(is_next)
    }

    /// Parses the signs `-` and `!` before an operand. They bind more tightly than every operator except `.`.
    fn prefix(&mut self) -> Result<Tree, Mistake> {
        if !(self.is("-") || self.is("!")) {
            return self.postfix();
        }
        let sign = self.next();
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(too_deep(sign.span));
        }
        // a minus sign belongs to a number, except in `-2.exp()`, which means `-(2.exp())`
        let dot = self.tokens.get(self.at + 1).is_some_and(|t| t.kind == TokenKind::Sign && t.text == ".");
        let tree = if sign.text == "-" && self.peek().kind == TokenKind::Number && !dot {
            self.number(true)?
        } else {
            let (x, height) = self.prefix()?;
            let node = if sign.text == "-" { Node::Word("negate".into(), vec![x]) } else { Node::Not(Box::new(x)) };
            over(node, sign.span, height)?
        };
        self.depth -= 1;
        Ok(tree)
    }

    fn postfix(&mut self) -> Result<Tree, Mistake> {
        let operand = self.operand()?;
        self.words(operand)
    }

    /// Parses any number of words after an operand, such as `.exp()` and `.atan2(y)`.
    fn words(&mut self, mut tree: Tree) -> Result<Tree, Mistake> {
        while self.takes(".") {
            let word = self.next();
            if word.kind != TokenKind::Name {
                return Err(unexpected(&word, "a word such as `exp`"));
            }
            self.wants("(")?;
            let (mut args, mut height) = (vec![tree.0], tree.1);
            while !self.is(")") {
                let (arg, below) = self.expr(0)?;
                args.push(arg);
                height = height.max(below);
                if !self.takes(",") {
                    break;
                }
            }
            self.wants(")")?;
            tree = over(Node::Word(word.text.into(), args), word.span, height)?;
        }
        Ok(tree)
    }

    fn operand(&mut self) -> Result<Tree, Mistake> {
        let token = self.peek().clone();
        match (token.kind, token.text) {
            (TokenKind::Number, _) => self.number(false),
            (TokenKind::Sign, "(") => {
                self.next();
                let tree = self.expr(0)?;
                self.wants(")")?;
                Ok(tree)
            }
            (TokenKind::Sign, "[") => self.list(),
            (TokenKind::Sign, "{") => self.block(),
            (TokenKind::Name, "if") => self.condition(),
            (TokenKind::Name, "true" | "false") => {
                self.next();
                Ok((expr(Node::Bool(token.text == "true"), token.span), 1))
            }
            (TokenKind::Name, name) => {
                self.next();
                if self.is("(") {
                    return self.call(&token);
                }
                if KEYWORDS.contains(&name) && name != "where" {
                    return Err(unexpected(&token, "an expression"));
                }
                Ok((expr(Node::Name(name.into()), token.span), 1))
            }
            _ => Err(unexpected(&token, "an expression")),
        }
    }

    fn number(&mut self, negative: bool) -> Result<Tree, Mistake> {
        let token = self.next();
        let number = number(token.text, negative).map_err(|(message, help)| Mistake {
            span: token.span.clone(),
            message,
            help: Some(help.into()),
        })?;
        Ok((expr(Node::Number(number), token.span), 1))
    }

    fn list(&mut self) -> Result<Tree, Mistake> {
        let start = self.wants("[")?.start;
        let (mut items, mut height) = (Vec::new(), 0);
        while !self.is("]") {
            let (item, below) = self.expr(0)?;
            items.push(item);
            height = height.max(below);
            if !self.takes(",") {
                break;
            }
        }
        let end = self.wants("]")?.end;
        over(Node::List(items), start..end, height)
    }

    /// Parses the arguments of a call such as `op(x, option = y)`, starting at the opening bracket.
    fn call(&mut self, op: &Token) -> Result<Tree, Mistake> {
        self.wants("(")?;
        let (mut arguments, mut height) = (Vec::new(), 0);
        while !self.is(")") {
            let named = self.peek().kind == TokenKind::Name
                && self.tokens.get(self.at + 1).is_some_and(|t| t.kind == TokenKind::Sign && t.text == "=");
            let option = if named {
                let name = self.next();
                self.next();
                Some(Name { text: name.text.into(), span: name.span })
            } else {
                None
            };
            let (value, below) = self.expr(0)?;
            arguments.push(Argument { option, value });
            height = height.max(below);
            if !self.takes(",") {
                break;
            }
        }
        self.wants(")")?;
        over(Node::Call(op.text.into(), arguments), op.span.clone(), height)
    }

    /// Parses a block, such as `{ let a = x; y }`.
    fn block(&mut self) -> Result<Tree, Mistake> {
        let start = self.wants("{")?.start;
        let (mut lets, mut height) = (Vec::new(), 0);
        while self.peek().kind == TokenKind::Name && self.peek().text == "let" {
            self.next();
            let name = self.next();
            if name.kind != TokenKind::Name {
                return Err(unexpected(&name, "a name"));
            }
            if !is_name(name.text) || KEYWORDS.contains(&name.text) {
                let message = format!("`{}` cannot be the name of a value", name.text);
                return Err(Mistake { span: name.span, message, help: Some(NAME_RULE.into()) });
            }
            self.wants("=")?;
            let (value, below) = self.expr(0)?;
            height = height.max(below);
            self.wants(";")?;
            lets.push((Name { text: name.text.into(), span: name.span }, value));
        }
        let (value, below) = self.expr(0)?;
        let end = self.wants("}")?.end;
        if lets.is_empty() {
            return Ok((value, below));
        }
        over(Node::Block(lets, Box::new(value)), start..end, height.max(below))
    }

    fn condition(&mut self) -> Result<Tree, Mistake> {
        let start = self.next().span;
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(too_deep(start));
        }
        let (condition, first) = self.expr(0)?;
        let (yes, second) = self.block()?;
        let or = self.next();
        if or.kind != TokenKind::Name || or.text != "else" {
            return Err(unexpected(&or, "`else`"));
        }
        let next_is_if = self.peek().kind == TokenKind::Name && self.peek().text == "if";
        let (no, third) = if next_is_if { self.condition()? } else { self.block()? };
        self.depth -= 1;
        over(Node::If(Box::new([condition, yes, no])), start, first.max(second).max(third))
    }
}

fn expr(node: Node, span: Span) -> Expr {
    Expr { node, span, ty: Ty::Unknown }
}

/// Makes a tree from `node`, whose deepest subexpression has the nesting depth `height`. Returns an error if the tree
/// is nested too deeply.
fn over(node: Node, span: Span, height: usize) -> Result<Tree, Mistake> {
    if height >= MAX_NESTING { Err(too_deep(span)) } else { Ok((expr(node, span), height + 1)) }
}

fn too_deep(span: Span) -> Mistake {
    let message = format!("more than {MAX_NESTING} operators and brackets within each other");
    Mistake { span, message, help: None }
}

fn unexpected(token: &Token, wanted: &str) -> Mistake {
    let found = match token.kind {
        TokenKind::End => "the expression ends here".into(),
        _ => format!("`{}` is unexpected here", token.text),
    };
    Mistake { span: token.span.clone(), message: format!("{found}: expected {wanted}"), help: None }
}

fn binary(sign: Token, left: Tree, right: Tree) -> Result<Tree, Mistake> {
    let height = left.1.max(right.1);
    let (x, y) = (left.0, right.0);
    let word = |word: &str, x, y| Node::Word(word.into(), vec![x, y]);
    let compare = |how, x, y| Node::Compare(how, Box::new([x, y]));
    let logic = |how, x, y| Node::Logic(how, Box::new([x, y]));
    let node = match sign.text {
        "+" => word("plus", x, y),
        "-" => word("minus", x, y),
        "*" => word("times", x, y),
        "/" => word("div", x, y),
        "<" => compare(Comparison::Less, x, y),
        "<=" => compare(Comparison::LessEqual, x, y),
        ">" => compare(Comparison::Greater, x, y),
        ">=" => compare(Comparison::GreaterEqual, x, y),
        "&&" => logic(Logic::And, x, y),
        "||" => logic(Logic::Or, x, y),
        "==" => logic(Logic::Equal, x, y),
        _ => logic(Logic::Differ, x, y),
    };
    over(node, sign.span, height)
}

/// Returns the number that the text of a token represents. An error consists of a message and help.
fn number(text: &str, negative: bool) -> Result<Number, (String, &'static str)> {
    let shown = format!("{}{text}", if negative { "-" } else { "" });
    let is_decimal = text.contains(['.', 'e', 'E']);
    if !text.chars().all(|c| c.is_ascii_digit() || ".eE+-".contains(c)) {
        return Err((
            format!("`{text}` is not a number"),
            "a number consists of digits, and may have a point or an exponent; it takes the dtype of the other operand",
        ));
    }
    if !is_decimal {
        let value = shown.parse().ok().filter(|v| (i64::MIN.into()..=u64::MAX.into()).contains(v));
        return value
            .map(Number::Integer)
            .ok_or((format!("`{shown}` has more than 64 bits"), "write it with a point: 1e30"));
    }
    match shown.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Number::Decimal(value)),
        Ok(_) => Err((format!("`{shown}` is larger than every float64"), "numbers must be finite")),
        Err(_) => Err((
            format!("`{shown}` is not a number"),
            "a number consists of digits, and may have a point or an exponent",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Expr, String> {
        let table = format!("\"{text}\"");
        let mistake = |m: Mistake| format!("{}: {}", &table[m.span.start..m.span.end.min(table.len())], m.message);
        parse(&Text::new(text.into(), 0..table.len(), &table)).map_err(mistake)
    }

    /// Writes the tree in prefix form, such as `(plus x y)`.
    fn shown(e: &Expr) -> String {
        let all = |list: Vec<&Expr>| list.into_iter().map(shown).collect::<Vec<_>>().join(" ");
        let name = match &e.node {
            Node::Name(name) => return name.clone(),
            Node::Number(Number::Integer(n)) => return n.to_string(),
            Node::Number(Number::Decimal(n)) => return format!("{n:?}"),
            Node::Bool(b) => return b.to_string(),
            Node::List(_) => "list".into(),
            Node::Word(word, _) => word.clone(),
            Node::Compare(c, _) => c.sign().into(),
            Node::Logic(l, _) => l.sign().into(),
            Node::Not(_) => "!".into(),
            Node::If(_) => "if".into(),
            Node::Call(op, args) => {
                let options = args.iter().filter_map(|a| a.option.as_ref()).map(|o| format!("{}=", o.text));
                format!("@{op}{}", options.collect::<String>())
            }
            Node::Block(lets, _) => lets.iter().map(|(name, _)| format!("let {}", name.text)).collect(),
        };
        format!("({name} {})", all(e.children()))
    }

    #[test]
    fn operators_bind_as_in_rust() {
        for (text, tree) in [
            ("a + b * c - d", "(minus (plus a (times b c)) d)"),
            ("-x.exp() * y", "(times (negate (exp x)) y)"),
            ("-2 + -2.5e-1 - -x", "(minus (plus -2 -0.25) (negate x))"),
            ("-2.abs()", "(negate (abs 2))"),
            ("!a && b || c", "(|| (&& (! a) b) c)"),
            ("a / b / c", "(div (div a b) c)"),
            ("a - (b - c)", "(minus a (minus b c))"),
            ("x.atan2(y + 1.).max(z)", "(max (atan2 x (plus y 1.0)) z)"),
            ("if x < 0.0 { x } else if x >= y { y } else { 0 }", "(if (< x 0.0) x (if (>= x y) y 0))"),
            ("where(c, sum(x, [0, -1], keepdims = true), y,)", "(@where c (@sumkeepdims= x (list 0 -1) true) y)"),
            ("{ let a = x; let c = a; a * c }", "(let alet c x a (times a c))"),
            ("x.is_nonzero() != y.is_nonzero()", "(!= (is_nonzero x) (is_nonzero y))"),
        ] {
            assert_eq!(read(text).map(|e| shown(&e)).as_deref(), Ok(tree), "{text}");
        }
    }

    #[test]
    fn mistakes_have_their_place() {
        for (text, said) in [
            ("x + ", "\": the expression ends here: expected an expression"),
            ("(x", "\": the expression ends here: expected `)`"),
            ("x)", "): `)` is unexpected here: expected an operator, or the end"),
            ("a < b < c", "<: comparisons do not chain"),
            ("x.1", ".1: `.1`"),
            ("x % y", "%: `%` is not allowed in expressions"),
            ("x // y", "//: an expression must not contain comments"),
            ("2f32 * x", "2f32: `2f32` is not a number"),
            ("x * 1e400", "1e400: `1e400` is larger than every float64"),
            ("x + 18446744073709551616", "18446744073709551616: `18446744073709551616` has more than 64 bits"),
            ("fn + 1", "fn: `fn` is unexpected here: expected an expression"),
            ("if x { y }", "\": the expression ends here: expected `else`"),
            ("{ let a = x; }", "}: `}` is unexpected here: expected an expression"),
            ("T::ONE", "::: `::` is unexpected here: expected an operator, or the end"),
            ("f(a = 1 = 2)", "=: `=` is unexpected here: expected `)`"),
        ] {
            let found = read(text).map(|e| shown(&e)).unwrap_err();
            assert!(found == said || text == "x.1", "{text}: {found}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = |open: &str, close: &str, n: usize| format!("{}x{}", open.repeat(n), close.repeat(n));
        let chain = "if x { x } else ".repeat(2000) + "{ x }";
        for text in [
            deep("(", ")", 800),
            deep("-", "", 10_000),
            deep("!", "", 10_000),
            deep("x + ", "", 10_000),
            deep("{", "}", 800),
            deep("f(", ")", 800),
            deep("[", "]", 800),
            deep("x.a(", ")", 800),
            deep("", ".a()", 5000),
            chain,
            // every bracket contains a chain of operators
            deep("(x + x + x + x + ", " + x + x + x + x)", 60),
        ] {
            let said = read(&text).unwrap_err();
            assert!(said.contains("within each other"), "{said}");
        }
        assert!(read(&deep("(", ")", 100)).is_ok());
        assert!(read(&format!("{{ {} x }}", "let y = f(x, x);".repeat(5000))).is_ok());
    }
}
