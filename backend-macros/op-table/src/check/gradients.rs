//! Determines the gradients of each row of the op table: from the row's gradient rules, from its scalar expression, or
//! from the ops that its composition calls.

use crate::{
    expr::{self, Argument, Expr, Node, compose, derive},
    model::{Elem, Form, Gradient, Kind, Map, Model, Op, Out, Param, Rule},
    names::is_function,
    report::{Mistake, Report, SourceFile, did_you_mean},
    text::Text,
};
use std::collections::BTreeMap;

/// The key under which an `Op` made from a gradient rule stores the rule's computation in `Op::maps`. For the ops of a
/// table, the keys of `Op::maps` are names of backends.
pub const COLUMN: &str = "grad";

/// Determines the gradient rules of every row of the op table, and reports mistakes in the rules that a row states.
pub fn gradients(source: &SourceFile, model: &mut Model, report: &mut Report) {
    if model.ops.iter().all(|op| op.own) {
        words(source, model, report);
    }
    for index in 0..model.ops.len() {
        let op = &model.ops[index];
        for name in op.linear.iter().flatten() {
            let is_input = op.positional().any(|p| p.name == *name) && op.differentiable().any(|p| p.name == *name);
            if !is_input && op.own {
                let message = format!(
                    "op `{}` has no positional input `{}` that can have a gradient",
                    op.name,
                    name.escape_debug()
                );
                report.at(
                    source,
                    op.span.clone(),
                    message,
                    Some(
                        "linear = [\"x1\", \"x2\"], or [\"x, values\"] if the op is linear in both inputs together"
                            .into(),
                    ),
                );
            }
        }
        if model.broken.contains(&op.name) || !op.params_are_whole {
            model.ops[index].gradient = Gradient::Unsaid;
            continue;
        }
        match of_row(op, model) {
            Ok(gradient) => {
                model.ops[index].gradient = gradient;
                model.ops[index].by_element = by_element(&model.ops[index], model);
            }
            Err(mistakes) => {
                let (own, name) = (op.own, op.name.clone());
                model.ops[index].gradient = Gradient::Unsaid;
                if own {
                    model.broken.insert(name);
                    mistakes.into_iter().for_each(|mistake| report.add(source, mistake));
                }
            }
        }
    }
}

/// Reports mistakes in the derivatives of words, which are the scalar functions of expressions. A derivative may use
/// only the word's operands `a` and `b`, its value `y`, and known words.
fn words(source: &SourceFile, model: &Model, report: &mut Report) {
    for (name, word) in &model.words {
        let known = &["a", "b", "y"];
        for e in &word.derivatives {
            e.walk(&mut |e| match &e.node {
                Node::Name(n) if !known.contains(&n.as_str()) || n == "b" && word.args < 2 => {
                    let message =
                        format!("`{n}` is neither an operand (`a` or `b`) of the word `{name}` nor its value `y`");
                    report.at(source, e.span.clone(), message, None);
                }
                Node::Word(of, _) if !model.words.contains_key(of) => {
                    let help = did_you_mean(of, model.words.keys().map(String::as_str));
                    report.at(source, e.span.clone(), format!("`{of}` is not a word of expressions"), help);
                }
                _ => {}
            });
        }
    }
}

fn of_row(op: &Op, model: &Model) -> Result<Gradient, Vec<Mistake>> {
    if let Gradient::None(why) = &op.gradient {
        return Ok(Gradient::None(why.clone()));
    }
    if let Gradient::Said(said) = &op.gradient {
        return said_rules(op, said, model);
    }
    let has_result = op.target().is_some() || op.result.elems().iter().any(|e| e.may_be_float());
    if !has_result || op.differentiable().next().is_none() || model.floats_of(&op.set).is_none() {
        return Ok(Gradient::None(String::new()));
    }
    if let Some(rules) = derived(op, model) {
        return Ok(Gradient::Rules(rules));
    }
    let has_parts = op.maps.values().any(Map::is_free);
    Ok(if has_parts { Gradient::OfParts } else { Gradient::Unsaid })
}

/// Derives the gradient rules of an `each` row from its expression. Returns `None` if they cannot be derived.
fn derived(op: &Op, model: &Model) -> Option<Vec<Rule>> {
    let expr = op.maps.values().find_map(|map| match map {
        Map::Each { real, complex: None } => Some(&real.expr),
        _ => None,
    })?;
    if op.second.is_some() {
        return None;
    }
    let mut rules = Vec::new();
    for input in op.differentiable() {
        let Some(mut gradient) = derive::gradient(expr, &input.name, model).ok()? else {
            continue;
        };
        let mut function = function(op, input, &names(&gradient), model)?;
        composed(&mut gradient, &mut function, model).ok()?;
        function.maps.insert(COLUMN.into(), Map::Compose(Form { text: String::new(), expr: gradient }));
        rules.push(Rule { input: input.name.clone(), function: Ok(Box::new(function)) });
    }
    Some(rules)
}

/// Returns the gradient of each input of an `each` row as a scalar expression, with the name of the input. Returns
/// `None` if one of the gradients cannot be written as a scalar expression.
fn by_element(op: &Op, model: &Model) -> Option<Vec<(String, Expr)>> {
    let expr = op.maps.values().find_map(|map| match map {
        Map::Each { real, .. } => Some(&real.expr),
        _ => None,
    })?;
    let rules = match &op.gradient {
        Gradient::Rules(rules) if op.second.is_none() && matches!(op.result, Out::One(Elem::T | Elem::Real)) => rules,
        _ => return None,
    };
    let set = model.floats_of(&op.set)?;
    let is_real = |d: &&String| !d.starts_with("complex");
    let dtypes: Vec<String> = model.dtypes_of(&set.name).iter().filter(is_real).cloned().collect();
    let mut all = Vec::new();
    for input in op.differentiable() {
        let rule = rules.iter().find(|rule| rule.input == input.name).map(|rule| rule.function.as_ref());
        let said = match rule {
            Some(Err(_)) => return None,
            Some(Ok(function)) => match function.maps.get(COLUMN) {
                Some(Map::Compose(form)) if !form.text.is_empty() => {
                    expr::parse(&Text::new(form.text.clone(), 0..0, "")).ok()
                }
                _ => None,
            },
            None => None,
        };
        let said = said.and_then(|e| derive::as_words(e, model));
        let rule = match said {
            Some(rule) => Some(rule),
            None => derive::by_element(expr, &input.name, model).ok()?,
        };
        let Some(mut rule) = rule else { continue };
        let used: Vec<String> = op.params.iter().map(|p| p.name.clone()).chain(["g".into(), "y".into()]).collect();
        let function = function(op, input, &used, model)?;
        expr::each::check(&mut rule, &function, &dtypes, model).ok()?;
        all.push((input.name.clone(), rule));
    }
    Some(all)
}

fn said_rules(op: &Op, said: &[(Text, Text)], model: &Model) -> Result<Gradient, Vec<Mistake>> {
    let mut mistakes = Vec::new();
    let mut rules = Vec::new();
    for (input, text) in said {
        let inputs: Vec<&Param> = op.differentiable().collect();
        let Some(param) = inputs.iter().find(|p| p.name == input.text) else {
            let message =
                format!("`{}` is not an input of op `{}` that can have a gradient", input.text.escape_debug(), op.name);
            let help = did_you_mean(&input.text, inputs.iter().map(|p| p.name.as_str()));
            mistakes.push(Mistake { span: input.span.clone(), message, help });
            continue;
        };
        match said_rule(op, param, text, model) {
            Ok(rule) => rules.push(rule),
            Err(more) => mistakes.extend(more),
        }
    }
    rules.sort_by_key(|rule: &Rule| op.params.iter().position(|p| p.name == rule.input));
    if mistakes.is_empty() { Ok(Gradient::Rules(rules)) } else { Err(mistakes) }
}

fn said_rule(op: &Op, input: &Param, text: &Text, model: &Model) -> Result<Rule, Vec<Mistake>> {
    let bad = |message: String, help: Option<String>| vec![Mistake { span: text.span.clone(), message, help }];
    let rule = |function| Rule { input: input.name.clone(), function };
    if let Some(why) = text.text.strip_prefix("none:") {
        return Ok(rule(Err(why.trim().into())));
    }
    // a text such as `grad::matmul_x1(g, x2)` calls a function that is generic over the backend
    let called = text.text.split_once('(').filter(|(path, _)| path.contains("::") && is_function(path));
    let (mut expr, path) = match called {
        Some((path, _)) => {
            let call = text.text.strip_prefix(path).unwrap_or_default();
            // puts a function name before the bracketed list of names, so that the parser of expressions reads the
            // list as the arguments of a call
            let as_call = Text::new(format!("call{call}"), text.span.clone(), "");
            (
                expr::parse(&as_call).map_err(|mut mistake| {
                    mistake.span = text.span.clone();
                    vec![mistake]
                })?,
                Some(path),
            )
        }
        None => (expr::parse(text).map_err(|mistake| vec![mistake])?, None),
    };
    shapes(&mut expr);
    let Some(mut function) = function(op, input, &names(&expr), model) else {
        let message = format!("the table has no set that contains exactly the float dtypes of op `{}`", op.name);
        return Err(bad(message, None));
    };
    match path {
        Some(path) => {
            let Node::Call(_, arguments) = &expr.node else {
                return Err(bad(format!("the function `{path}` must be called with names in brackets"), None));
            };
            let mut params = Vec::new();
            for argument in arguments {
                let Node::Name(name) = &argument.value.node else {
                    let help = Some("`g`, `y`, the row's parameters, `shape(x)`".into());
                    return Err(bad(format!("the arguments of `{path}` must be names"), help));
                };
                let Some(param) = function.param(name) else {
                    let help = did_you_mean(name, op.params.iter().map(|p| p.name.as_str()));
                    return Err(bad(format!("`{name}` is neither `g`, `y` nor a parameter of op `{}`", op.name), help));
                };
                params.push(param.clone());
            }
            function.params = params;
            function.maps.insert(COLUMN.into(), Map::Generic(path.into()));
        }
        None => {
            composed(&mut expr, &mut function, model)?;
            function.maps.insert(COLUMN.into(), Map::Compose(Form { text: text.text.clone(), expr }));
        }
    }
    Ok(rule(Ok(Box::new(function))))
}

/// Checks the composition of a gradient rule. If it has mistakes, replaces the operands among the parameters of
/// `function` by arrays, and checks the composition again, because some ops accept only arrays.
fn composed(expr: &mut Expr, function: &mut Op, model: &Model) -> Result<(), Vec<Mistake>> {
    let mut of_operands = expr.clone();
    if compose::check(&mut of_operands, function, model).is_empty() {
        *expr = of_operands;
        return Ok(());
    }
    for param in &mut function.params {
        if let Kind::Operand(e, _) = param.kind {
            param.kind = Kind::Array(e);
        }
    }
    let mistakes = compose::check(expr, function, model);
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
}

/// Returns the names that an expression contains.
fn names(e: &Expr) -> Vec<String> {
    let mut names = Vec::new();
    e.walk(&mut |e| {
        if let Node::Name(name) = &e.node {
            names.push(name.clone());
        }
    });
    names
}

/// Replaces each `shape(x)` in a gradient rule by `shape_x`, a parameter of the rule's function.
fn shapes(e: &mut Expr) {
    if let Node::Call(op, arguments) = &mut e.node {
        if let ("shape", [Argument { option: None, value: Expr { node: Node::Name(x), .. } }]) =
            (op.as_str(), &arguments[..])
        {
            e.node = Node::Name(format!("shape_{x}"));
            return;
        }
        arguments.iter_mut().for_each(|a| shapes(&mut a.value));
    }
    match &mut e.node {
        Node::Word(_, items) | Node::List(items) => items.iter_mut().for_each(shapes),
        Node::Compare(_, both) | Node::Logic(_, both) => both.iter_mut().for_each(shapes),
        Node::Not(x) => shapes(x),
        Node::If(parts) => parts.iter_mut().for_each(shapes),
        Node::Block(lets, value) => {
            lets.iter_mut().for_each(|(_, e)| shapes(e));
            shapes(value);
        }
        _ => {}
    }
}

/// Makes a row for the function of a gradient rule. The row has no mapping yet. Its parameters are the values that a
/// rule may use, restricted to the names in `used`, which are the names that occur in the rule.
fn function(op: &Op, input: &Param, used: &[String], model: &Model) -> Option<Op> {
    let set = model.floats_of(&op.set)?;
    let elem = input.kind.elem()?;
    let mut params = Vec::new();
    let array = |name: String, kind: Kind, ty: &str| Param {
        text: format!("{name}: {ty}"),
        name,
        ty: ty.into(),
        kind,
        default: None,
        default_text: String::new(),
        span: op.span.clone(),
    };
    for (letter, fields) in [("g", &op.result), ("y", &op.result)] {
        match fields {
            _ if op.target().is_some() => params.push(array(letter.into(), Kind::Array(Elem::T), "array")),
            Out::One(e) => params.push(array(letter.into(), Kind::Array(*e), "array")),
            Out::List(e) => params.push(array(letter.into(), Kind::Arrays(*e), "arrays")),
            Out::Fields(fields) => {
                params
                    .extend(fields.iter().map(|f| array(format!("{letter}_{}", f.name), Kind::Array(f.elem), "array")));
            }
            Out::Plain(_) => {}
        }
    }
    // if the row has a parameter with the name of a gradient or a result, such as `g` or `y`, the name means the
    // parameter
    params.retain(|p| op.param(&p.name).is_none());
    let of_call = op.params.iter().cloned().map(|p| match p.kind {
        Kind::Target(e) => Param { kind: Kind::Array(e), ty: "array".into(), ..p },
        _ => p,
    });
    params.extend(of_call);
    let shapes = op.params.iter().filter(|p| p.is_array() || matches!(p.kind, Kind::Target(_) | Kind::Arrays(_)));
    params.extend(shapes.map(|p| array(format!("shape_{}", p.name), Kind::Shape, "shape")));
    params.retain(|p| used.contains(&p.name));
    let result = if matches!(input.kind, Kind::Arrays(_)) { Out::List(elem) } else { Out::One(elem) };
    Some(Op {
        name: format!("{}_{}", op.name, input.name),
        params,
        set: set.name.clone(),
        bound: set.bound.clone(),
        result,
        result_text: input.ty.replace("operand", "array"),
        maps: BTreeMap::new(),
        gradient: Gradient::Unsaid,
        by_element: None,
        ..op.clone()
    })
}
