//! Parses the mappings of a row of the op table. A mapping determines how a library computes the op.

use super::*;
use crate::{
    expr,
    model::*,
    names::{decimal, is_function},
};

pub(super) const MAPPINGS: [&str; 5] = ["each", "fold", "call", "compose", "generic"];

impl Parser<'_> {
    /// Reads the mapping of every library from the library's column or, if the row lacks this column, from the mapping
    /// that all libraries share.
    pub(super) fn mappings(&mut self, name: &Text, row: &Table, op: &mut Op, all_known: bool) {
        let shared: Vec<&(Text, Value)> = row.iter().filter(|(k, _)| MAPPINGS.contains(&k.text.as_str())).collect();
        if let [_, second, ..] = shared[..] {
            self.bad(second.0.span.clone(), format!("op `{}` has two mappings for every library", name.text), None);
        }
        let before = self.report.len();
        self.row_is_lost = !op.params_are_whole;
        let is_said = !shared.is_empty();
        let shared = shared.first().and_then(|(key, value)| {
            let map = self.mapping(key, value)?;
            self.function_of_all(&name.text, value, &map).then_some((key, map))
        });
        // true if the shared mapping has a mistake, or could not be checked because the parameters have mistakes;
        // missing mappings of libraries are then not reported
        let is_lost = self.report.len() > before || self.row_is_lost && is_said;
        let mut missing = Vec::new();
        for backend in self.model.backends.clone() {
            let column = row.iter().find(|(k, _)| k.text == backend.name);
            let map = match (column, &shared) {
                (Some((_, value)), _) => self.column(&backend, value, op.params_are_whole.then_some(&op.params)),
                (None, Some((_, map))) if backend.each || !map.is_of_elements() => Some(map.clone()),
                _ => {
                    missing.push(backend.name);
                    continue;
                }
            };
            if let Some(map) = map {
                op.maps.insert(backend.name, map);
            }
        }
        if !missing.is_empty() && !is_lost && all_known {
            let help = Some("add the column, or a `compose` or `call` for every library".into());
            self.bad(name.span.clone(), format!("op `{}` has no mapping for {}", name.text, missing.join(", ")), help);
        }
    }

    pub(super) fn column(&mut self, backend: &Backend, value: &Value, params: Option<&[Param]>) -> Option<Map> {
        let Value::Table(row, _) = value else {
            self.bad(value.span(), format!("`{}` must be a table such as {{ call = \"..\" }}", backend.name), None);
            return None;
        };
        let legal: Vec<&str> = MAPPINGS.into_iter().chain(backend.aten.then_some("aten")).collect();
        let via = row.iter().find(|(k, _)| k.text == "via");
        let maps: Vec<_> = row.iter().filter(|(k, _)| k.text != "via" && k.text != "note").collect();
        let [(key, map)] = maps[..] else {
            self.bad(value.span(), format!("there must be exactly one mapping, one of: {}", legal.join(", ")), None);
            return None;
        };
        if !legal.contains(&key.text.as_str()) {
            let help = did_you_mean(&key.text, legal);
            self.bad(key.span.clone(), format!("unknown mapping `{}`", key.text.escape_debug()), help);
            return None;
        }
        if ["each", "fold"].contains(&key.text.as_str()) && !backend.each {
            let help = Some("use `call` or `compose`".into());
            self.bad(key.span.clone(), format!("backend `{}` has no `{}`", backend.name, key.text), help);
            return None;
        }
        if key.text == "aten" {
            let via = self.via(via.map(|(_, value)| value))?;
            return self.aten(map, via, params);
        }
        if let Some((via, _)) = via {
            self.bad(via.span.clone(), "`via` is allowed only with an `aten` mapping", None);
            return None;
        }
        self.mapping(key, map)
    }

    fn mapping(&mut self, key: &Text, value: &Value) -> Option<Map> {
        if let (Value::Table(forms, _), "each") = (value, key.text.as_str()) {
            self.known_keys(forms, &["real", "complex"], "`each`");
            let Some(real) = self.word(forms, "real") else {
                self.bad(value.span(), "a table under `each` needs the key `real`", None);
                return None;
            };
            let real = self.form(&real)?;
            let complex = match self.word(forms, "complex") {
                Some(complex) => Some(self.form(&complex)?),
                None => None,
            };
            return Some(Map::Each { real, complex });
        }
        if key.text == "fold" {
            return self.fold(value);
        }
        let Value::Text(word) = value else {
            self.bad(value.span(), format!("`{}` must be a string", key.text), None);
            return None;
        };
        match key.text.as_str() {
            "each" => self.form(word).map(|real| Map::Each { real, complex: None }),
            "compose" => self.form(word).map(Map::Compose),
            kind => {
                if !is_function(&word.text) {
                    let message = format!("`{}` is not a path such as `reduction::sum`", word.text.escape_debug());
                    self.bad(word.span.clone(), message, None);
                    return None;
                }
                let path = word.text.clone();
                // a function that is generic over the backend belongs to the table's crate, so `crate::` in its path is
                // optional
                let within = path.strip_prefix("crate::").unwrap_or(&path).to_string();
                Some(if kind == "call" { Map::Call(path) } else { Map::Generic(within) })
            }
        }
    }

    /// Checks a `call` mapping that a row of a user's table has for all libraries. Its path must begin with `crate::`,
    /// or occur in the base table, because all libraries have no other functions in common. Otherwise, reports the
    /// mistake and returns false.
    fn function_of_all(&mut self, op: &str, value: &Value, map: &Map) -> bool {
        let Map::Call(path) = map else { return true };
        let is_of_library = |op: &Op| op.maps.values().any(|map| matches!(map, Map::Call(known) if known == path));
        if !self.has_base || path.starts_with("crate::") || self.model.ops.iter().any(is_of_library) {
            return true;
        }
        let message = format!("op `{op}`: the libraries have no function `{path}`");
        let help = format!(
            "write `call = \"crate::{path}\"` for a kernel of this crate, or `generic = \"{path}\"` for a function over any backend"
        );
        self.bad(value.span(), message, Some(help));
        false
    }

    /// Parses the mapping `fold`, such as `{ map = "x * x", join = "a + b", identity = "0", finish = "a / n" }`.
    fn fold(&mut self, value: &Value) -> Option<Map> {
        let Value::Table(parts, span) = value else {
            let help = Some("{ map = \"x * x\", join = \"a + b\", identity = \"0\" }".into());
            self.bad(value.span(), "`fold` must be a table of expressions", help);
            return None;
        };
        let before = self.report.len();
        let all_known = self.known_keys(parts, &["map", "join", "identity", "finish"], "`fold`");
        let mut form = |key: &str, needed: bool| match self.word(parts, key) {
            Some(word) => self.form(&word),
            None => {
                if needed && all_known && !parts.iter().any(|(k, _)| k.text == key) {
                    self.bad(span.clone(), format!("`fold` has no `{key}`"), None);
                }
                None
            }
        };
        let (map, join) = (form("map", false), form("join", true));
        let (identity, finish) = (form("identity", true), form("finish", false));
        if self.report.len() > before {
            return None;
        }
        Some(Map::Fold(Box::new(Fold { map, join: join?, identity: identity?, finish })))
    }

    fn form(&mut self, word: &Text) -> Option<Form> {
        match expr::parse(word) {
            Ok(expr) => Some(Form { text: word.text.clone(), expr }),
            Err(mistake) => {
                if !self.row_is_lost {
                    self.report.add(self.source, mistake);
                }
                None
            }
        }
    }

    fn via(&mut self, value: Option<&Value>) -> Option<String> {
        match value {
            None => Some("direct".into()),
            Some(Value::Text(word)) if VIA.contains(&word.text.as_str()) => Some(word.text.clone()),
            Some(value) => {
                let text = if let Value::Text(word) = value { word.text.as_str() } else { "" };
                let message = format!("`{}` is not a value of `via`", text.escape_debug());
                self.bad(value.span(), message, did_you_mean(text, VIA));
                None
            }
        }
    }

    /// Parses the mapping `aten`, a call such as `name.overload(argument, ..)`. If the parameters could not be
    /// parsed, any name is accepted as an argument.
    fn aten(&mut self, value: &Value, via: String, params: Option<&[Param]>) -> Option<Map> {
        let Value::Text(word) = value else {
            self.bad(value.span(), "`aten` must be a string", None);
            return None;
        };
        let Some((head, list)) = word.text.split_once('(').and_then(|(h, a)| Some((h, a.strip_suffix(')')?))) else {
            let help = Some("write \"name.overload(arguments)\"".into());
            self.bad(word.span.clone(), format!("`{}` has no arguments", word.text.escape_debug()), help);
            return None;
        };
        let (name, overload) = head.split_once('.').unwrap_or((head, ""));
        let is_word = |t: &str| !t.is_empty() && t.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_word(name) || !(overload.is_empty() || is_word(overload)) {
            let message = format!("`{}` is not a valid name of a libtorch op", head.escape_debug());
            self.bad(word.place_of(head), message, None);
            return None;
        }
        if writes_its_arguments(name, overload) {
            let help =
                "use an op that returns a new tensor, because another handle may share the memory of an argument"
                    .to_string();
            self.bad(word.place_of(head), format!("`aten::{head}` writes into its arguments"), Some(help));
            return None;
        }
        let before = self.report.len();
        let mut args = Vec::new();
        for text in list.split(',').map(str::trim).filter(|_| !list.trim().is_empty()) {
            args.extend(self.aten_argument(&word.part(text), params));
        }
        if self.report.len() > before {
            return None;
        }
        Some(Map::Aten(Aten { name: name.into(), overload: overload.into(), args, via }))
    }

    /// Parses an argument of an `aten` mapping. It is the name of a parameter, or a literal: a finite number
    /// (integers have 64 bits), a truth value or `none`.
    fn aten_argument(&mut self, word: &Text, params: Option<&[Param]>) -> Option<AtenArg> {
        let text = word.text.as_str();
        let Some(params) = params else {
            return Some(AtenArg::Param(text.into()));
        };
        if let Some(param) = params.iter().find(|p| p.name == text) {
            if !param.kind.fits_aten() {
                let message = format!("libtorch's ops take no parameter of type `{}`", param.ty);
                let help = Some("map the row with `call` or `compose`".into());
                self.bad(word.span.clone(), message, help);
                return None;
            }
            return Some(AtenArg::Param(text.into()));
        }
        let literal = match text {
            "none" => Some(AtenArg::None),
            "true" | "false" => Some(AtenArg::Bool(text == "true")),
            _ if text.contains(['.', 'e', 'E']) => decimal(text).map(AtenArg::Decimal),
            _ => text.parse().ok().filter(|_| !text.starts_with('+')).map(AtenArg::Integer),
        };
        if literal.is_none() {
            let help = did_you_mean(text, params.iter().map(|p| p.name.as_str()));
            self.bad(word.span.clone(), format!("`{}` is not a parameter of this op", text.escape_debug()), help);
        }
        literal
    }
}

/// Returns whether the name of a libtorch op shows that the op writes to its arguments. Such ops are not allowed,
/// because another handle may share the memory of an argument.
///
/// Ops whose names end in `_` work in place. Of Python's operators, `__iand__` works in place, but `__and__` does not.
/// The overloads `out` and `.._out` write to an argument. All other ops are checked by libtorch's schemas, if libtorch
/// is available.
fn writes_its_arguments(name: &str, overload: &str) -> bool {
    let in_place = match name.strip_prefix("__").and_then(|n| n.strip_suffix("__")) {
        Some(operator) => ["iand", "ior", "ixor", "ilshift", "irshift"].contains(&operator),
        None => name.ends_with('_'),
    };
    in_place || name == "set_data" || overload == "out" || overload.ends_with("_out")
}
