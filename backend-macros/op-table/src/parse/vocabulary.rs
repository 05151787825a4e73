//! Parses the sections to which rows refer: libraries, dtypes and their sets, words of expressions, accuracies, groups.

use super::*;
use crate::{
    model::*,
    names::{is_module, is_path, is_type, is_type_name},
};
use std::collections::BTreeSet;

/// A set in the table: its name, its bound, and its members.
type SetEntry = (Text, String, Vec<Text>);

impl Parser<'_> {
    pub(super) fn backend(&mut self, name: &Text, value: &Value) {
        let Some(row) = self.table(name, value) else {
            return;
        };
        let is_there = self.model.backends.iter().any(|b| b.name == name.text);
        if !self.name(name, "a backend") || !self.new_name(name, is_there, "backend") {
            return;
        }
        let legal = [
            "type", "module", "summary", "each", "aten", "raw", "typed", "generics", "wrap", "records", "tangents",
            "splits",
        ];
        let all_known = self.known_keys(row, &legal, &format!("backend `{}`", name.text));
        for key in ["type", "module"] {
            match self.word(row, key) {
                Some(path) if !(if key == "module" { is_module } else { is_type })(&path.text) => {
                    let message = format!("`{}` is not a path such as `crate::naive`", path.text.escape_debug());
                    self.bad(path.span, message, None);
                    return;
                }
                Some(_) => {}
                None => {
                    if all_known && !row.iter().any(|(k, _)| k.text == key) {
                        self.bad(name.span.clone(), format!("backend `{}` has no `{key}`", name.text), None);
                    }
                    return;
                }
            }
        }
        let backend = Backend {
            name: name.text.clone(),
            ty: self.text(row, "type").unwrap_or_default(),
            module: self.text(row, "module").unwrap_or_default(),
            summary: self.text(row, "summary").unwrap_or_default(),
            each: self.flag(row, "each"),
            aten: self.flag(row, "aten"),
            raw: self.flag(row, "raw"),
            typed: self.names(row, "typed"),
            generics: self.generics(row),
            wrap: self.flag(row, "wrap"),
            records: self.flag(row, "records"),
            tangents: self.flag(row, "tangents"),
            splits: self.flag(row, "splits"),
            own: self.role != Role::Context,
            span: name.span.clone(),
        };
        let is_generic = row.iter().any(|(key, _)| key.text == "generics");
        if backend.wrap && (!is_generic || backend.each || backend.aten) {
            let help = Some("generics = \"B: Backend\", type = \"Counted<B>\", and neither `each` nor `aten`".into());
            let message = format!("backend `{}` wraps another backend, which must be a type parameter", name.text);
            self.bad(name.span.clone(), message, help);
        }
        self.model.backends.push(backend);
    }

    /// Parses a list of paths, such as `"reduction, sorting"`.
    fn names(&mut self, row: &Table, key: &str) -> Vec<String> {
        let Some(word) = self.word(row, key) else {
            return Vec::new();
        };
        let mut names = Vec::new();
        for part in word.text.split(',') {
            if is_path(part.trim()) {
                names.push(part.trim().into());
            } else {
                let message = format!("`{}` is not a path such as `reduction`", part.trim().escape_debug());
                self.bad(word.place_of(part), message, None);
            }
        }
        names
    }

    /// Parses the type parameters of a backend, such as `B: Backend`.
    fn generics(&mut self, row: &Table) -> Vec<(String, String)> {
        let Some(word) = self.word(row, "generics") else {
            return Vec::new();
        };
        let mut generics = Vec::new();
        for part in word.text.split(',') {
            let (name, bound) = part.split_once(':').unwrap_or((part, ""));
            let (name, bound) = (name.trim(), bound.trim());
            // the names must not clash with the type parameters of the methods
            let is_free = is_type_name(name) && !["T", "U"].contains(&name) && !name.starts_with('K');
            if is_free && is_path(bound) {
                generics.push((name.into(), bound.into()));
            } else {
                let message = format!("`{}` is not a type parameter with a bound", part.trim().escape_debug());
                let help = Some(
                    "such as `B: Backend`; methods use the names T, U and K.. for their own type parameters".into(),
                );
                self.bad(word.place_of(part), message, help);
            }
        }
        generics
    }

    pub(super) fn dtype(&mut self, name: &Text, value: &Value) {
        let Some(row) = self.table(name, value) else {
            return;
        };
        self.known_keys(row, &["rust", "cuda", "torch", "numpy"], "a dtype");
        let Some(rust) = self.word(row, "rust") else {
            return self.bad(name.span.clone(), format!("dtype `{}` has no `rust`", name.text.escape_debug()), None);
        };
        if !is_type(&rust.text) {
            self.bad(rust.span.clone(), format!("`{}` is not a type", rust.text.escape_debug()), None);
        }
        if self.name(name, "a dtype") {
            self.model.dtypes.push(DType { name: name.text.clone(), rust: rust.text });
        }
    }

    /// Reads the sets. The members of a set are dtypes and other sets, which may follow later in the table.
    pub(super) fn sets<'t>(&mut self, rows: impl Iterator<Item = (&'t Text, &'t Value)>) {
        let mut given: Vec<SetEntry> = Vec::new();
        for (name, value) in rows {
            let Some(row) = self.table(name, value) else {
                continue;
            };
            let is_there = self.model.set(&name.text).is_some();
            if !self.name(name, "a set") || !self.new_name(name, is_there, "set") {
                continue;
            }
            self.known_keys(row, &["bound", "of"], "a set of dtypes");
            let bound = match self.word(row, "bound") {
                Some(word) if BOUNDS.contains(&word.text.as_str()) => word.text,
                Some(word) => {
                    let help = did_you_mean(&word.text, BOUNDS);
                    self.bad(word.span, format!("`{}` is not a bound of dtypes", word.text.escape_debug()), help);
                    BOUNDS[0].into()
                }
                None => {
                    self.bad(name.span.clone(), format!("set `{}` has no `bound`", name.text), None);
                    BOUNDS[0].into()
                }
            };
            let of = self.list(row, "of").unwrap_or_default();
            given.push((name.clone(), bound, of));
        }
        for (name, bound, _) in &given {
            let dtypes = self.members(name, &given);
            if let Some(dtype) = dtypes.iter().find(|d| !has_bound(d, bound)) {
                let message = format!("set `{}` has {dtype}, which is not `{bound}`", name.text);
                self.bad(name.span.clone(), message, None);
            }
            self.new_set(name.text.clone(), bound, dtypes);
        }
    }

    fn new_set(&mut self, name: String, bound: &str, dtypes: Vec<String>) {
        let more = self.model.dtypes.iter().any(|d| has_bound(&d.name, bound) && !dtypes.contains(&d.name));
        let own = self.role != Role::Context;
        self.model.sets.push(Set { name, bound: bound.into(), dtypes, is_narrower: more, own });
    }

    /// The set for a list of dtypes in a row: an existing set with the same dtypes, or else a new set named `name`.
    pub(super) fn set_in_place(&mut self, name: &str, members: Vec<Text>, span: Span) -> Option<(String, String)> {
        let before = self.report.len();
        let list = Text::new(name.into(), span.clone(), "");
        let dtypes = self.members(&list, &[(list.clone(), String::new(), members)]);
        if dtypes.is_empty() && self.report.len() == before {
            self.bad(span, "a row must have at least one dtype", None);
        }
        if self.report.len() > before {
            return None;
        }
        let same = |set: &&Set| set.dtypes.len() == dtypes.len() && dtypes.iter().all(|d| set.dtypes.contains(d));
        if let Some(set) = self.model.sets.iter().find(same) {
            return Some((set.name.clone(), set.bound.clone()));
        }
        let bound = BOUNDS.into_iter().find(|bound| dtypes.iter().all(|d| has_bound(d, bound))).unwrap_or("Element");
        self.new_set(name.into(), bound, dtypes);
        Some((name.into(), bound.into()))
    }

    /// The dtypes of a set, in the order in which the table names them. Each nested set is expanded only once.
    fn members(&mut self, set: &Text, given: &[SetEntry]) -> Vec<String> {
        let of = |name: &str| given.iter().find(|(word, ..)| word.text == name).map(|(_, _, of)| of.as_slice());
        let (mut dtypes, mut entered) = (Vec::new(), BTreeSet::from([set.text.as_str()]));
        let mut open: Vec<&Text> = of(&set.text).unwrap_or(&[]).iter().rev().collect();
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
                let more: Vec<String> = base.dtypes.iter().filter(|d| !dtypes.contains(d)).cloned().collect();
                dtypes.extend(more);
            } else {
                let message = format!("`{}` is neither a dtype nor a set", member.text.escape_debug());
                self.bad(member.span.clone(), message, None);
            }
        }
        dtypes
    }

    pub(super) fn word_of_expressions(&mut self, name: &Text, value: &Value) {
        let Some(row) = self.table(name, value) else {
            return;
        };
        let keys = [
            "set",
            "args",
            "result",
            "op",
            "range_reduction",
            "wide_vectors",
            "cheap_above_0",
            "cheap_within",
            "of_precision",
            "d",
        ];
        self.known_keys(row, &keys, "a word");
        let Some(set) = self.word(row, "set") else {
            return self.bad(name.span.clone(), format!("word `{}` has no `set`", name.text.escape_debug()), None);
        };
        if self.model.set(&set.text).is_none() {
            let help = did_you_mean(&set.text, self.model.sets.iter().map(|s| s.name.as_str()));
            return self.bad(set.span, format!("unknown set of dtypes `{}`", set.text.escape_debug()), help);
        }
        let args = match row.iter().find(|(k, _)| k.text == "args") {
            None => 1,
            Some((_, Value::Number(n, _))) if [1.0, 2.0, 3.0].contains(n) => *n as usize,
            Some((_, other)) => return self.bad(other.span(), "a word must have 1 to 3 operands", None),
        };
        let result = match self.word(row, "result") {
            None => WordResult::Same,
            Some(word) => match WORD_RESULTS.iter().find(|(name, _)| *name == word.text) {
                Some((_, result)) => *result,
                None => {
                    let help = did_you_mean(&word.text, WORD_RESULTS.map(|(name, _)| name));
                    let message = format!("`{}` is not a result of a word", word.text.escape_debug());
                    return self.bad(word.span, message, help);
                }
            },
        };
        let mut range_reduction = Vec::new();
        for kind in self.list(row, "range_reduction").unwrap_or_default() {
            match kind.text.as_str() {
                "real" => range_reduction.push(RangeReduction::Real),
                "complex" => range_reduction.push(RangeReduction::Complex),
                _ => self.bad(kind.span, "`range_reduction` may list only `real` and `complex`", None),
            }
        }
        let op = self.word(row, "op").map(|op| (op.text, op.span));
        let [wide_vectors, cheap_above_0, of_precision] =
            ["wide_vectors", "cheap_above_0", "of_precision"].map(|key| self.flag(row, key));
        let cheap_within = self.number(row, "cheap_within");
        let mut derivatives = Vec::new();
        for (k, text) in self.list(row, "d").unwrap_or_default().into_iter().enumerate() {
            if k == args {
                let message =
                    format!("the word `{}` has {args} operands, but more derivatives", name.text.escape_debug());
                self.bad(text.span, message, None);
                break;
            }
            match crate::expr::parse(&text) {
                Ok(expr) => derivatives.push(expr),
                Err(mistake) => self.report.add(self.source, mistake),
            }
        }
        if self.name(name, "a word") {
            let set = set.text;
            let word = Word {
                set,
                args,
                result,
                op,
                range_reduction,
                wide_vectors,
                cheap_above_0,
                cheap_within,
                of_precision,
                derivatives,
            };
            self.model.words.insert(name.text.clone(), word);
        }
    }

    pub(super) fn accuracy(&mut self, name: &Text, value: &Value) {
        let Some(row) = self.table(name, value) else {
            return;
        };
        self.known_keys(row, &["summary", "ulp", "rtol", "sqrt_n", "shape", "ndim"], "an accuracy");
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
            ndim: self.flag(row, "ndim"),
        };
        self.model.accuracies.push(accuracy);
    }

    pub(super) fn group(&mut self, name: &Text, value: &Value) {
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
        self.model.groups.push(Group { name: name.text.clone(), summary, accuracy, span: name.span.clone() });
    }

    pub(super) fn accuracy_name(&mut self, row: &Table) -> Option<String> {
        let word = self.word(row, "accuracy")?;
        if !self.model.accuracies.iter().any(|a| a.name == word.text) {
            let help = did_you_mean(&word.text, self.model.accuracies.iter().map(|a| a.name.as_str()));
            self.bad(word.span, format!("unknown accuracy `{}`", word.text.escape_debug()), help);
        }
        Some(word.text)
    }
}
