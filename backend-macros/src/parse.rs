//! TOML to model. What can be wrong in one row alone is found here; `check` looks at what rows say of each other.

use crate::{
    lexical::{NAME_RULE, decimal, is_name, is_path, is_type},
    model::*,
    report::{Report, Source, did_you_mean},
    toml_view::{Table, Value, Word, sections},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

const SECTIONS: [&str; 8] = ["backend", "dtype", "dtypes", "words", "accuracy", "cases", "group", "op"];
const OP_KEYS: [&str; 20] = [
    "group", "summary", "detail", "params", "dtypes", "types", "result", "each", "call", "compose", "generic", "numpy",
    "golden", "alias", "accuracy", "ulp", "reason", "cases", "example", "note",
];
const MAPPINGS: [&str; 4] = ["each", "call", "compose", "generic"];

/// What a table is to the macro call that reads it.
#[derive(Clone, Copy, PartialEq)]
pub enum Role {
    /// The base table as context: nothing is generated for it.
    Context,
    /// The rows to generate.
    Own,
    /// Rows that add a column to ops of the base table.
    Overlay,
}

/// Adds a table to the model.
pub fn parse(source: &Source, role: Role, model: &mut Model, report: &mut Report) {
    let table = crate::toml_view::read(source, report);
    let has_base = !model.dtypes.is_empty();
    let mut parser = Parser { source, role, model, report };
    for (name, value) in &table {
        if !SECTIONS.contains(&name.text.as_str()) {
            let help = did_you_mean(&name.text, SECTIONS);
            parser.bad(name.span.clone(), format!("unknown section `{}`", name.text), help);
        } else if !matches!(value, Value::Table(..)) {
            parser.bad(value.span(), format!("`{}` is a table", name.text), None);
        } else if has_base && ["dtype", "words"].contains(&name.text.as_str()) {
            let help = Some("the runtime has to know them".into());
            parser.bad(name.span.clone(), format!("`{}` is the base table's to say", name.text), help);
            return;
        }
    }
    for (name, row) in sections(&table, "backend") {
        parser.backend(name, row);
    }
    for (name, value) in sections(&table, "dtype") {
        parser.dtype(name, value);
    }
    parser.sets(sections(&table, "dtypes"));
    for (set, words) in sections(&table, "words") {
        if parser.model.set(&set.text).is_none() {
            parser.bad(set.span.clone(), format!("unknown set of dtypes `{}`", set.text), None);
            continue;
        }
        for word in words.strings() {
            if parser.name(&word, "a word") {
                parser.model.words.insert(word.text, set.text.clone());
            }
        }
    }
    for (name, value) in sections(&table, "accuracy") {
        parser.accuracy(name, value);
    }
    for (kinds, cases) in sections(&table, "cases") {
        parser.model.cases.insert(kinds.text.clone(), cases.strings().into_iter().map(|w| w.text).collect());
    }
    for (name, value) in sections(&table, "group") {
        parser.group(name, value);
    }
    let rows: Vec<_> = sections(&table, "op").collect();
    for (name, value) in &rows {
        if let Some(row) = parser.table(name, value) {
            parser.op(name, row);
        }
    }
}

struct Parser<'a> {
    source: &'a Source,
    role: Role,
    model: &'a mut Model,
    report: &'a mut Report,
}

impl Parser<'_> {
    fn bad(&mut self, span: Range<usize>, message: impl std::fmt::Display, help: Option<String>) {
        self.report.at(self.source, span, message, help);
    }

    fn table<'t>(&mut self, name: &Word, value: &'t Value) -> Option<&'t Table> {
        match value {
            Value::Table(table, _) => Some(table),
            other => {
                self.bad(other.span(), format!("`{}` is a table", name.text), None);
                None
            }
        }
    }

    fn text(&mut self, row: &Table, key: &str) -> Option<String> {
        self.word(row, key).map(|w| w.text)
    }

    /// A string of a row, with its place.
    fn word(&mut self, row: &Table, key: &str) -> Option<Word> {
        match row.iter().find(|(k, _)| k.text == key)? {
            (_, Value::Text(word)) => Some(word.clone()),
            (_, other) => {
                self.bad(other.span(), format!("`{key}` is a string"), None);
                None
            }
        }
    }

    /// Whether the word can be a name; `what` it is to be the name of is said where it cannot.
    fn name(&mut self, word: &Word, what: &str) -> bool {
        let legal = is_name(&word.text);
        if !legal {
            let shown = word.text.escape_debug();
            self.bad(word.span.clone(), format!("`{shown}` cannot be the name of {what}"), Some(NAME_RULE.into()));
        }
        legal
    }

    /// Whether the name is new; the first of two counts.
    fn new_name(&mut self, word: &Word, is_there: bool, what: &str) -> bool {
        if is_there {
            self.bad(word.span.clone(), format!("{what} `{}` is there already", word.text), None);
        }
        !is_there
    }

    fn flag(&mut self, row: &Table, key: &str) -> bool {
        match row.iter().find(|(k, _)| k.text == key) {
            None => false,
            Some((_, Value::Bool(value, _))) => *value,
            Some((_, other)) => {
                self.bad(other.span(), format!("`{key}` is true or false"), None);
                false
            }
        }
    }

    fn number(&mut self, row: &Table, key: &str) -> Option<f64> {
        let (_, value) = row.iter().find(|(k, _)| k.text == key)?;
        self.tolerance(value)
    }

    /// A number that results may be off by.
    fn tolerance(&mut self, value: &Value) -> Option<f64> {
        match value {
            Value::Number(x, _) if x.is_finite() && *x >= 0.0 => Some(*x),
            other => {
                self.bad(other.span(), "a finite number of 0 or more is wanted", None);
                None
            }
        }
    }

    fn numbers(&mut self, row: &Table, key: &str) -> Vec<(String, f64)> {
        let Some((_, value)) = row.iter().find(|(k, _)| k.text == key) else {
            return Vec::new();
        };
        let Value::Table(table, _) = value else {
            self.bad(value.span(), format!("`{key}` is a table of dtypes and numbers"), None);
            return Vec::new();
        };
        let mut found = Vec::new();
        for (dtype, value) in table {
            match value {
                _ if !self.model.dtypes.iter().any(|d| d.name == dtype.text) => {
                    let names: Vec<String> = self.model.dtypes.iter().map(|d| d.name.clone()).collect();
                    let help = did_you_mean(&dtype.text, names.iter().map(String::as_str));
                    self.bad(dtype.span.clone(), format!("no dtype `{}`", dtype.text), help);
                }
                value => found.extend(self.tolerance(value).map(|x| (dtype.text.clone(), x))),
            }
        }
        found
    }

    fn known_keys(&mut self, row: &Table, legal: &[&str], of: &str) {
        for (key, _) in row {
            if !legal.contains(&key.text.as_str()) {
                let help = did_you_mean(&key.text, legal.iter().copied());
                self.bad(key.span.clone(), format!("unknown key `{}` in {of}", key.text), help);
            }
        }
    }

    fn backend(&mut self, name: &Word, value: &Value) {
        let Some(row) = self.table(name, value) else {
            return;
        };
        let legal = ["type", "module", "summary", "each", "aten"];
        self.known_keys(row, &legal, &format!("backend `{}`", name.text));
        let is_there = self.model.backends.iter().any(|b| b.name == name.text);
        if !self.name(name, "a backend") || !self.new_name(name, is_there, "backend") {
            return;
        }
        for key in ["type", "module"] {
            match self.word(row, key) {
                Some(path) if !is_path(&path.text) => {
                    let message = format!("`{}` is no path such as `crate::naive`", path.text.escape_debug());
                    self.bad(path.span, message, None);
                    return;
                }
                None => self.bad(name.span.clone(), format!("backend `{}` has no `{key}`", name.text), None),
                Some(_) => {}
            }
        }
        let backend = Backend {
            name: name.text.clone(),
            ty: self.text(row, "type").unwrap_or_default(),
            module: self.text(row, "module").unwrap_or_default(),
            summary: self.text(row, "summary").unwrap_or_default(),
            each: self.flag(row, "each"),
            aten: self.flag(row, "aten"),
            own: self.role != Role::Context,
            span: name.span.clone(),
        };
        self.model.backends.push(backend);
    }

    /// Sets may name dtypes and earlier or later sets.
    fn sets<'t>(&mut self, rows: impl Iterator<Item = (&'t Word, &'t Value)>) {
        let mut given: Vec<(Word, String, Vec<Word>)> = Vec::new();
        for (name, value) in rows {
            let Some(row) = self.table(name, value) else {
                continue;
            };
            let is_there = self.model.set(&name.text).is_some();
            if !self.new_name(name, is_there, "set") {
                continue;
            }
            let bound = match self.word(row, "bound") {
                Some(word) if BOUNDS.contains(&word.text.as_str()) => word.text,
                Some(word) => {
                    let help = did_you_mean(&word.text, BOUNDS);
                    let message = format!("`{}` is no bound of dtypes", word.text.escape_debug());
                    self.bad(word.span, message, help);
                    continue;
                }
                None => {
                    self.bad(name.span.clone(), format!("set `{}` has no `bound`", name.text), None);
                    continue;
                }
            };
            let of = row.iter().find(|(k, _)| k.text == "of").map(|(_, v)| v.strings()).unwrap_or_default();
            given.push((name.clone(), bound, of));
        }
        for (name, bound, _) in &given {
            let dtypes = self.members(name, &given);
            self.model.sets.push(Set { name: name.text.clone(), bound: bound.clone(), dtypes });
        }
    }

    /// The dtypes of a set, in the order in which they are named; each set on the way is entered once.
    fn members(&mut self, set: &Word, given: &[(Word, String, Vec<Word>)]) -> Vec<String> {
        let of = |name: &str| given.iter().find(|(word, ..)| word.text == name).map(|(_, _, of)| of.as_slice());
        let (mut dtypes, mut entered) = (Vec::new(), BTreeSet::from([set.text.as_str()]));
        let mut open: Vec<&Word> = of(&set.text).unwrap_or(&[]).iter().rev().collect();
        while let Some(member) = open.pop() {
            if member.text == set.text {
                self.bad(member.span.clone(), format!("set `{}` contains itself", set.text), None);
            } else if self.model.dtypes.iter().any(|d| d.name == member.text) {
                if !dtypes.contains(&member.text) {
                    dtypes.push(member.text.clone());
                }
            } else if let Some(members) = of(&member.text) {
                if entered.insert(&member.text) {
                    open.extend(members.iter().rev());
                }
            } else if let Some(base) = self.model.set(&member.text) {
                dtypes.extend(base.dtypes.iter().filter(|d| !dtypes.contains(d)).cloned().collect::<Vec<_>>());
            } else {
                self.bad(member.span.clone(), format!("`{}` is neither a dtype nor a set", member.text), None);
            }
        }
        dtypes
    }

    fn dtype(&mut self, name: &Word, value: &Value) {
        let Some(row) = self.table(name, value) else {
            return;
        };
        let Some(rust) = self.word(row, "rust") else {
            return self.bad(name.span.clone(), format!("dtype `{}` has no `rust`", name.text), None);
        };
        if !is_type(&rust.text) {
            return self.bad(rust.span, format!("`{}` is no type", rust.text.escape_debug()), None);
        }
        if self.name(name, "a dtype") {
            self.model.dtypes.push(DType { name: name.text.clone(), rust: rust.text });
        }
    }

    fn accuracy(&mut self, name: &Word, value: &Value) {
        let Some(row) = self.table(name, value) else {
            return;
        };
        self.known_keys(row, &["summary", "ulp", "rtol", "sqrt_n", "shape"], "an accuracy");
        let is_there = self.model.accuracies.iter().any(|a| a.name == name.text);
        if !self.new_name(name, is_there, "accuracy") {
            return;
        }
        let accuracy = Accuracy {
            name: name.text.clone(),
            summary: self.text(row, "summary").unwrap_or_default(),
            ulp: self.number(row, "ulp"),
            rtol: self.numbers(row, "rtol"),
            sqrt_n: self.flag(row, "sqrt_n"),
            shape: self.flag(row, "shape"),
        };
        self.model.accuracies.push(accuracy);
    }

    fn group(&mut self, name: &Word, value: &Value) {
        let Some(row) = self.table(name, value) else {
            return;
        };
        self.known_keys(row, &["summary", "accuracy"], "a group");
        let is_there = self.model.groups.iter().any(|g| g.name == name.text);
        if !self.name(name, "a group") || !self.new_name(name, is_there, "group") {
            return;
        }
        let accuracy = self.accuracy_name(row).unwrap_or_else(|| "exact".into());
        let summary = self.text(row, "summary").unwrap_or_default();
        self.model.groups.push(Group { name: name.text.clone(), summary, accuracy });
    }

    fn accuracy_name(&mut self, row: &Table) -> Option<String> {
        let word = self.word(row, "accuracy")?;
        let names: Vec<String> = self.model.accuracies.iter().map(|a| a.name.clone()).collect();
        if !names.contains(&word.text) {
            let help = did_you_mean(&word.text, names.iter().map(String::as_str));
            self.bad(word.span, format!("unknown accuracy `{}`", word.text), help);
        }
        Some(word.text)
    }

    fn op(&mut self, name: &Word, row: &Table) {
        let columns: Vec<String> = self.model.backends.iter().map(|b| b.name.clone()).collect();
        let legal: Vec<&str> = OP_KEYS.into_iter().chain(columns.iter().map(String::as_str)).collect();
        self.known_keys(row, &legal, &format!("op `{}`", name.text));
        if self.role == Role::Overlay {
            return self.overlay(name, row);
        }
        if self.model.op(&name.text).is_some() {
            let help = Some("give it another name, or override a mapping with an overlay".into());
            return self.bad(name.span.clone(), format!("op `{}` is already in the base table", name.text), help);
        }
        if !self.name(name, "an op") {
            return;
        }
        let in_base = self.role == Role::Own && self.model.ops.iter().all(|o| o.own);
        let mut wanted = vec!["summary", "params", "dtypes"];
        if in_base {
            wanted.extend(["group", "example"]);
        }
        for key in wanted {
            if !row.iter().any(|(k, _)| k.text == key) {
                self.bad(name.span.clone(), format!("op `{}` has no `{key}`", name.text), None);
            }
        }
        let (set, bound) = self.set(row, "dtypes").unwrap_or_default();
        let second = self.set(row, "types");
        let params = self.params(row);
        let result_text = self.text(row, "result").unwrap_or_else(|| "array".into());
        let result = self.word(row, "result").and_then(|w| self.result(&w)).unwrap_or(Out::One(Elem::T));
        let group = self.group_of(row);
        let default_accuracy = self.model.groups.iter().find(|g| g.name == group).map(|g| g.accuracy.clone());
        let accuracy = self.accuracy_name(row).or(default_accuracy).unwrap_or_else(|| "exact".into());
        let ulp = self.numbers(row, "ulp");
        let reason = self.text(row, "reason").unwrap_or_default();
        if !ulp.is_empty() && reason.is_empty() {
            self.bad(name.span.clone(), format!("op `{}` has an `ulp` of its own and no `reason`", name.text), None);
        }
        let strings = |key: &str| row.iter().find(|(k, _)| k.text == key).map(|(_, v)| v.strings());
        let texts = |words: Vec<Word>| words.into_iter().map(|w| w.text).collect::<Vec<_>>();
        let mut op = Op {
            name: name.text.clone(),
            group,
            summary: self.text(row, "summary").unwrap_or_default(),
            detail: self.text(row, "detail").unwrap_or_default(),
            params_are_whole: params.is_some(),
            params: params.unwrap_or_default(),
            set,
            bound,
            second: second.as_ref().map(|(_, bound)| bound.clone()),
            second_set: second.map(|(set, _)| set),
            result,
            result_text,
            maps: BTreeMap::new(),
            numpy: self.text(row, "numpy").unwrap_or_default(),
            golden: self.text(row, "golden").unwrap_or_default(),
            alias: strings("alias").map(texts).unwrap_or_default(),
            example: self.example(row),
            accuracy,
            ulp,
            reason,
            cases: strings("cases").map(texts),
            own: self.role == Role::Own,
        };
        self.mappings(name, row, &mut op);
        self.model.ops.push(op);
    }

    /// The example is run as a test, so it has to be one that can fail.
    fn example(&mut self, row: &Table) -> String {
        let Some(word) = self.word(row, "example") else {
            return String::new();
        };
        if !word.text.contains("assert") {
            let help = Some("compare with `assert_eq!(.., ..)`".into());
            self.bad(word.span, "an example asserts what it shows", help);
        }
        word.text
    }

    /// A row that gives an op of the base table its mapping for a new backend.
    fn overlay(&mut self, name: &Word, row: &Table) {
        let Some(index) = self.model.ops.iter().position(|o| o.name == name.text) else {
            let names: Vec<String> = self.model.ops.iter().map(|o| o.name.clone()).collect();
            let help = did_you_mean(&name.text, names.iter().map(String::as_str));
            return self.bad(name.span.clone(), format!("no op `{}` in the base table", name.text), help);
        };
        let own: Vec<Backend> = self.model.backends.iter().filter(|b| b.own).cloned().collect();
        for (key, value) in row {
            match own.iter().find(|b| b.name == key.text) {
                Some(backend) => {
                    if let Some(map) = self.column(backend, value) {
                        self.model.ops[index].maps.insert(backend.name.clone(), map);
                    }
                }
                None => {
                    let help = own.first().map(|b| format!("a row of an overlay has only `{}`", b.name));
                    self.bad(key.span.clone(), format!("`{}` is the base table's to say", key.text), help);
                }
            }
        }
    }

    fn set(&mut self, row: &Table, key: &str) -> Option<(String, String)> {
        let word = self.word(row, key)?;
        if let Some(set) = self.model.set(&word.text) {
            return Some((set.name.clone(), set.bound.clone()));
        }
        let names: Vec<String> = self.model.sets.iter().map(|s| s.name.clone()).collect();
        let help = did_you_mean(&word.text, names.iter().map(String::as_str));
        self.bad(word.span, format!("unknown set of dtypes `{}`", word.text), help);
        None
    }

    fn group_of(&mut self, row: &Table) -> String {
        let Some(word) = self.word(row, "group") else {
            return String::new();
        };
        if !self.model.groups.iter().any(|g| g.name == word.text) {
            let names: Vec<String> = self.model.groups.iter().map(|g| g.name.clone()).collect();
            let help = did_you_mean(&word.text, names.iter().map(String::as_str));
            self.bad(word.span, format!("unknown group `{}`", word.text), help);
        }
        word.text
    }

    /// The parameters, if all of them can be read.
    fn params(&mut self, row: &Table) -> Option<Vec<Param>> {
        let (_, value) = row.iter().find(|(k, _)| k.text == "params")?;
        let (mut params, mut whole) = (Vec::<Param>::new(), true);
        for word in value.strings() {
            let Some(param) = self.param(&word) else {
                whole = false;
                continue;
            };
            if params.iter().any(|p| p.name == param.name) {
                self.bad(word.span.clone(), format!("parameter `{}` is given twice", param.name), None);
            }
            if param.default.is_none() && params.iter().any(|p| p.default.is_some()) {
                let help = Some("parameters with defaults come last".into());
                self.bad(word.span.clone(), format!("parameter `{}` has no default", param.name), help);
            }
            params.push(param);
        }
        whole.then_some(params)
    }

    fn param(&mut self, word: &Word) -> Option<Param> {
        let Some((name, rest)) = word.text.split_once(':') else {
            let help = Some("write \"name: type\" or \"name: type = default\"".into());
            self.bad(word.span.clone(), format!("parameter `{}` has no type", word.text), help);
            return None;
        };
        let (ty, default) = match rest.split_once('=') {
            Some((ty, default)) => (ty.trim(), Some(default.trim().to_string())),
            None => (rest.trim(), None),
        };
        let name = name.trim();
        if !self.name(&Word { text: name.into(), span: word.find(name) }, "a parameter") {
            return None;
        }
        let kind = self.kind(ty, word)?;
        if let Some(text) = default.as_deref().filter(|text| !is_default(&kind, text)) {
            let message = format!("`{}` is no default of a parameter of type `{ty}`", text.escape_debug());
            self.bad(word.find(text), message, default_help(&kind));
            return None;
        }
        if matches!(kind, Kind::Maybe(_) | Kind::Lengths) && default.is_none() {
            self.bad(word.span.clone(), format!("a parameter of type `{ty}` has the default `none`"), None);
            return None;
        }
        Some(Param { text: word.text.clone(), name: name.into(), kind, default })
    }

    fn kind(&mut self, ty: &str, word: &Word) -> Option<Kind> {
        let (head, inner) = match ty.split_once('<') {
            Some((head, inner)) => (head, inner.trim_end_matches('>')),
            None => (ty, ""),
        };
        let array = |e: Elem| match head {
            "array" => Some(Kind::Array(e)),
            "operand" => Some(Kind::Operand(e)),
            "arrays" => Some(Kind::Arrays(e)),
            _ => None,
        };
        if array(Elem::T).is_some() {
            return self.elem(inner, word).and_then(array);
        }
        if let Some((_, kind)) = KINDS.iter().find(|(name, _)| *name == ty) {
            return Some(kind.clone());
        }
        if let Some((_, rust, _)) = CHOICES.iter().find(|(name, ..)| *name == ty) {
            return Some(Kind::Choice((*rust).into()));
        }
        if PLAIN.contains(&ty) {
            return Some(Kind::Plain(ty.into()));
        }
        match ty.strip_suffix('?') {
            Some("lengths") => return Some(Kind::Lengths),
            Some(plain) if PLAIN.contains(&plain) => return Some(Kind::Maybe(plain.into())),
            _ => {}
        }
        let names = ["array", "operand", "arrays", "lengths?"].into_iter();
        let names = names.chain(KINDS.iter().map(|k| k.0)).chain(CHOICES.iter().map(|c| c.0)).chain(PLAIN);
        self.bad(word.find(ty), format!("unknown type of parameter `{ty}`"), did_you_mean(ty, names));
        None
    }

    fn elem(&mut self, name: &str, word: &Word) -> Option<Elem> {
        if name.is_empty() {
            return Some(Elem::T);
        }
        let known = ELEMS.iter().find(|(n, _)| *n == name).map(|(_, e)| *e);
        if known.is_none() {
            let help = did_you_mean(name, ELEMS.iter().map(|e| e.0));
            self.bad(word.find(name), format!("unknown element type `{name}`"), help);
        }
        known
    }

    fn result(&mut self, word: &Word) -> Option<Out> {
        let text = word.text.as_str();
        let mut one = |part: &str| match part.trim().strip_prefix("array") {
            Some(rest) => self.elem(rest.trim_matches(['<', '>']), word),
            None => {
                self.bad(word.find(part.trim()), format!("`{}` is no array type", part.trim()), None);
                None
            }
        };
        if let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
            return inner.split(',').map(one).collect::<Option<_>>().map(Out::Tuple);
        }
        if let Some(inner) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
            return one(inner).map(Out::List);
        }
        one(text).map(Out::One)
    }

    /// The mapping of every library: its column, else the row's own.
    fn mappings(&mut self, name: &Word, row: &Table, op: &mut Op) {
        let shared: Vec<&(Word, Value)> = row.iter().filter(|(k, _)| MAPPINGS.contains(&k.text.as_str())).collect();
        if let [_, second, ..] = shared[..] {
            self.bad(second.0.span.clone(), format!("op `{}` has two mappings for every library", name.text), None);
        }
        let shared = shared.first().and_then(|(key, value)| Some((key, self.mapping(key, value)?)));
        let mut missing = Vec::new();
        for backend in self.model.backends.clone() {
            let column = row.iter().find(|(k, _)| k.text == backend.name);
            let map = match (column, &shared) {
                (Some((_, value)), _) => self.column(&backend, value),
                (None, Some((_, Map::Each { .. }))) if !backend.each => {
                    missing.push(backend.name);
                    continue;
                }
                (None, Some((_, map))) => Some(map.clone()),
                (None, None) => {
                    missing.push(backend.name);
                    continue;
                }
            };
            if let Some(map) = map {
                op.maps.insert(backend.name, map);
            }
        }
        if !missing.is_empty() {
            let help = Some("add the column, or a `compose` or `call` for every library".into());
            self.bad(name.span.clone(), format!("op `{}` has no mapping for {}", name.text, missing.join(", ")), help);
        }
    }

    fn column(&mut self, backend: &Backend, value: &Value) -> Option<Map> {
        let Value::Table(row, _) = value else {
            self.bad(value.span(), format!("`{}` is a table such as {{ call = \"..\" }}", backend.name), None);
            return None;
        };
        let legal: Vec<&str> = MAPPINGS.into_iter().chain(backend.aten.then_some("aten")).collect();
        let via = row.iter().find(|(k, _)| k.text == "via");
        let maps: Vec<_> = row.iter().filter(|(k, _)| k.text != "via" && k.text != "note").collect();
        let [(key, map)] = maps[..] else {
            self.bad(value.span(), format!("one mapping is wanted, of {}", legal.join(", ")), None);
            return None;
        };
        if !legal.contains(&key.text.as_str()) {
            let help = did_you_mean(&key.text, legal);
            self.bad(key.span.clone(), format!("unknown mapping `{}`", key.text), help);
            return None;
        }
        if key.text == "each" && !backend.each {
            let help = Some("use `call` or `compose`".into());
            self.bad(key.span.clone(), format!("backend `{}` has no `each`", backend.name), help);
            return None;
        }
        if key.text == "aten" {
            let via = match via {
                None => "direct".into(),
                Some((_, Value::Text(word))) if VIA.contains(&word.text.as_str()) => word.text.clone(),
                Some((_, value)) => {
                    let text = if let Value::Text(word) = value { word.text.as_str() } else { "" };
                    let message = format!("`{}` is no way around dtypes that libtorch lacks", text.escape_debug());
                    self.bad(value.span(), message, did_you_mean(text, VIA));
                    return None;
                }
            };
            return self.aten(map, via);
        }
        self.mapping(key, map)
    }

    fn mapping(&mut self, key: &Word, value: &Value) -> Option<Map> {
        if let (Value::Table(forms, _), "each") = (value, key.text.as_str()) {
            self.known_keys(forms, &["real", "complex"], "`each`");
            let (real, complex) = (self.text(forms, "real"), self.text(forms, "complex"));
            return match real {
                Some(real) => Some(Map::Each { real, complex }),
                None => {
                    self.bad(value.span(), "`each` with forms has a `real` one", None);
                    None
                }
            };
        }
        let Value::Text(word) = value else {
            self.bad(value.span(), format!("`{}` is a string", key.text), None);
            return None;
        };
        let text = word.text.clone();
        Some(match key.text.as_str() {
            "each" => Map::Each { real: text, complex: None },
            "call" | "generic" => {
                if !is_path(&text) {
                    let message = format!("`{}` is no path such as `reduce::sum`", text.escape_debug());
                    self.bad(word.span.clone(), message, None);
                    return None;
                }
                if key.text == "call" { Map::Call(text) } else { Map::Generic(text) }
            }
            _ => Map::Compose(text),
        })
    }

    /// `name.overload(argument, ..)`
    fn aten(&mut self, value: &Value, via: String) -> Option<Map> {
        let Value::Text(word) = value else {
            self.bad(value.span(), "`aten` is a string", None);
            return None;
        };
        let Some((head, args)) = word.text.split_once('(').and_then(|(h, a)| Some((h, a.strip_suffix(')')?))) else {
            let help = Some("write \"name.overload(arguments)\"".into());
            self.bad(word.span.clone(), format!("`{}` has no arguments", word.text), help);
            return None;
        };
        let (name, overload) = head.split_once('.').unwrap_or((head, ""));
        let is_word = |t: &str| !t.is_empty() && t.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_word(name) || !(overload.is_empty() || is_word(overload)) {
            let message = format!("`{}` is no name of an op of libtorch", head.escape_debug());
            self.bad(word.find(head), message, None);
            return None;
        }
        if writes_its_arguments(name, overload) {
            let help = "arrays are values: take the op that returns a new tensor".to_string();
            self.bad(word.find(head), format!("`aten::{head}` writes into its arguments"), Some(help));
            return None;
        }
        let args = args.split(',').map(|a| a.trim().to_string()).filter(|a| !a.is_empty()).collect();
        Some(Map::Aten { name: name.into(), overload: overload.into(), args, via })
    }
}

/// Whether the text is a default of a parameter of the kind.
fn is_default(kind: &Kind, text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_integer = !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit());
    let integer = |least: i128, most: i128| is_integer && text.parse().is_ok_and(|x| (least..=most).contains(&x));
    match kind {
        Kind::Array(_) | Kind::Maybe(_) | Kind::Lengths => text == "none",
        Kind::Plain(t) => match t.as_str() {
            "bool" => text == "true" || text == "false",
            "f64" => decimal(text).is_some(),
            // `usize` has 64 bits where libtorch and CUDA run, and no default is that large
            "usize" | "u64" => integer(0, u64::MAX.into()),
            _ => integer(i64::MIN.into(), i64::MAX.into()),
        },
        Kind::Axis => text.parse::<i8>().is_ok(),
        Kind::Axes => {
            let list = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
            let axis = |t: &str| t.trim().parse::<i8>().is_ok();
            text == "all" || list.map_or(axis(text), |list| list.split(',').all(axis))
        }
        Kind::Choice(rust) => CHOICES.iter().any(|(_, t, names)| t == rust && names.contains(&text)),
        _ => false,
    }
}

/// What a default of the kind looks like.
fn default_help(kind: &Kind) -> Option<String> {
    let text = match kind {
        Kind::Array(_) | Kind::Maybe(_) | Kind::Lengths => "none",
        Kind::Plain(t) => match t.as_str() {
            "bool" => "true or false",
            "f64" => "a finite number",
            "usize" | "u64" => "an integer of 0 or more, of 64 bits",
            _ => "an integer of 64 bits",
        },
        Kind::Axis => "an axis such as -1",
        Kind::Axes => "all, -1 or [0, 1]",
        Kind::Choice(rust) => {
            let (.., names) = CHOICES.iter().find(|(_, t, _)| t == rust)?;
            return Some(format!("one of: {}", names.join(", ")));
        }
        _ => "a parameter of this type has none",
    };
    Some(text.into())
}

/// What the name of an op of libtorch tells: whether it changes memory that another handle may show.
///
/// Names that end in `_` work in place, but for Python's operators (`__and__`, and `__iand__` in place); overloads
/// `out` and `.._out` write into an argument. The schemas say the rest when libtorch is there.
fn writes_its_arguments(name: &str, overload: &str) -> bool {
    let in_place = match name.strip_prefix("__").and_then(|n| n.strip_suffix("__")) {
        Some(operator) => ["iand", "ior", "ixor", "ilshift", "irshift"].contains(&operator),
        None => name.ends_with('_'),
    };
    in_place || name == "set_data" || overload == "out" || overload.ends_with("_out")
}
