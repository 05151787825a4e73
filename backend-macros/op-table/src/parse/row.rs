//! Parses a row, which defines one op. Its section is `[op.name]`.

use super::{facts::FACTS, mapping::MAPPINGS, *};
use crate::model::*;
use std::collections::BTreeMap;

const KEYS: [&str; 24] = [
    "group", "summary", "detail", "params", "dtypes", "types", "result", "numpy", "golden", "alias", "accuracy", "ulp",
    "reason", "cases", "example", "note", "returns", "errors", "runs", "also", "grad", "linear", "domain", "extremes",
];

/// The keys that rows of every table may have.
pub(super) fn keys() -> Vec<&'static str> {
    KEYS.into_iter().chain(MAPPINGS).chain(FACTS).collect()
}

impl Parser<'_> {
    pub(super) fn op(&mut self, name: &Text, row: &Table) {
        let backends = self.model.backends.iter().map(|b| b.name.clone());
        let columns: Vec<String> = backends.chain(self.model.columns.iter().map(|c| c.name.clone())).collect();
        let legal: Vec<&str> = keys().into_iter().chain(columns.iter().map(String::as_str)).collect();
        if self.role == Role::Overlay {
            return self.overlay(name, row);
        }
        let all_known = self.known_keys(row, &legal, &format!("op `{}`", name.text.escape_debug()));
        if self.model.op(&name.text).is_some() {
            let help = Some("give it another name, or override a mapping with an overlay".into());
            return self.bad(name.span.clone(), format!("op `{}` is already in the base table", name.text), help);
        }
        if !self.name(name, "an op") {
            return;
        }
        let is_base = self.role == Role::Own && self.model.ops.iter().all(|o| o.own);
        let mut wanted = vec!["summary", "params", "dtypes"];
        if is_base {
            wanted.extend(["group", "example"]);
        }
        for key in wanted {
            if all_known && !row.iter().any(|(k, _)| k.text == key) {
                self.bad(name.span.clone(), format!("op `{}` has no `{key}`", name.text), None);
            }
        }
        let summary = self.word(row, "summary");
        if let Some(empty) = summary.as_ref().filter(|s| s.text.trim().is_empty()) {
            self.bad(empty.span.clone(), format!("op `{}` has an empty `summary`", name.text), None);
        }
        let (set, bound) = self.set(name, row, "dtypes").unwrap_or_default();
        let second = self.set(name, row, "types");
        let params = self.params(row);
        let (result, result_text) = self.result(row);
        self.fits_result(row, &result, params.as_deref());
        let group = self.group_of(row);
        let default_accuracy = self.model.groups.iter().find(|g| g.name == group).map(|g| g.accuracy.clone());
        let accuracy = self.accuracy_name(row).or(default_accuracy).unwrap_or_else(|| "exact".into());
        let ulp = self.numbers(row, "ulp");
        let reason = self.text(row, "reason").unwrap_or_default();
        if !ulp.is_empty() && reason.is_empty() {
            self.bad(
                name.span.clone(),
                format!("op `{}` has the key `ulp`, so it needs the key `reason`", name.text),
                None,
            );
        }
        let texts = |words: Vec<Text>| words.into_iter().map(|w| w.text).collect::<Vec<_>>();
        let mut op = Op {
            name: name.text.clone(),
            span: name.span.clone(),
            line: self.source.line(name.span.start),
            group,
            summary: summary.map(|s| s.text).unwrap_or_default(),
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
            alias: self.list(row, "alias").map(texts).unwrap_or_default(),
            example: self.example(row),
            facts: self.facts(row, !reason.is_empty()),
            columns: self.columns(row),
            reference: self.reference(row),
            accuracy,
            ulp,
            reason,
            gradient: self.gradient(row),
            by_element: None,
            linear: self.linear(row),
            domain: self.domain(row),
            extremes: self.text(row, "extremes").unwrap_or_default(),
            cases: self.list(row, "cases"),
            own: self.role == Role::Own,
        };
        self.mappings(name, row, &mut op, all_known);
        self.model.ops.push(op);
    }

    /// Checks the key `result` against the row: a result of dtype `U` needs `types`, and a row with a `target` has no
    /// `result`.
    fn fits_result(&mut self, row: &Table, result: &Out, params: Option<&[Param]>) {
        let find = |key: &str| row.iter().find(|(k, _)| k.text == key);
        let has_u = result.elems().contains(&Elem::U);
        if let (Some((_, value)), true, None) = (find("result"), has_u, find("types")) {
            let help = Some("types = \"numeric\", the dtypes of `U`".into());
            self.bad(value.span(), "the result has a second dtype, so the row needs the key `types`", help);
        }
        let target = params.into_iter().flatten().any(|p| matches!(p.kind, Kind::Target(_)));
        if let (Some((key, _)), true) = (find("result"), target) {
            self.bad(
                key.span.clone(),
                "a row with a `target` must not have a `result`, because its result is the array that it changes",
                None,
            );
        }
    }

    /// The example of a row. The example runs as a test, so it must contain an assertion.
    fn example(&mut self, row: &Table) -> String {
        let Some(word) = self.word(row, "example") else {
            return String::new();
        };
        if !word.text.contains("assert") {
            let help = Some("compare with `assert_eq!(.., ..)`".into());
            self.bad(word.span, "an example must contain an assertion", help);
        }
        word.text
    }

    /// Parses the key `linear`, such as `["x1", "x2"]`, or `["x, values"]` if the op is jointly linear in two inputs.
    fn linear(&mut self, row: &Table) -> Vec<Vec<String>> {
        let groups = self.list(row, "linear").unwrap_or_default();
        groups.into_iter().map(|group| group.text.split(',').map(|name| name.trim().to_owned()).collect()).collect()
    }

    /// Parses the key `domain`, such as `[1.1, 3]`: the interval in which the gradients are tested.
    fn domain(&mut self, row: &Table) -> (f64, f64) {
        const USUAL: (f64, f64) = (0.1, 0.9);
        let Some((_, value)) = row.iter().find(|(key, _)| key.text == "domain") else { return USUAL };
        if let Value::List(items, _) = value
            && let [Value::Number(low, _), Value::Number(high, _)] = items[..]
            && low < high
        {
            return (low, high);
        }
        self.bad(value.span(), "`domain` must be a pair of numbers, the lower one first", Some("[1.1, 3]".into()));
        USUAL
    }

    /// Parses the key `grad`, such as `{ x1 = "g * x2", x2 = "g * x1" }` or `{ none = "why" }`.
    fn gradient(&mut self, row: &Table) -> Gradient {
        let Some((_, value)) = row.iter().find(|(key, _)| key.text == "grad") else {
            return Gradient::Unsaid;
        };
        let Value::Table(rules, span) = value else {
            let help = Some("{ x = \"g * y\" }, or { none = \"why there is none\" }".into());
            self.bad(value.span(), "`grad` must be a table with a rule for each input", help);
            return Gradient::Unsaid;
        };
        let mut said = Vec::new();
        for (input, rule) in rules {
            match rule {
                Value::Text(text) if input.text == "none" && rules.len() == 1 => {
                    if text.text.trim().is_empty() {
                        self.bad(text.span.clone(), "`none` must state why there is no gradient", None);
                    }
                    return Gradient::None(text.text.clone());
                }
                Value::Text(text) => said.push((input.clone(), text.clone())),
                other => self.bad(
                    other.span(),
                    format!("the rule of `{}` must be a string", input.text.escape_debug()),
                    None,
                ),
            }
        }
        if rules.is_empty() {
            self.bad(span.clone(), "`grad` must have a rule for each input that can have a gradient", None);
        }
        Gradient::Said(said)
    }

    /// Reads a row of an overlay, which adds the mapping of a further backend to an op of another table.
    fn overlay(&mut self, name: &Text, row: &Table) {
        let Some(index) = self.model.ops.iter().position(|o| o.name == name.text) else {
            let help = did_you_mean(&name.text, self.model.ops.iter().map(|o| o.name.as_str()));
            let tables = if self.model.ops.iter().any(|o| o.own) { "these tables" } else { "the base table" };
            let message = format!("there is no op `{}` in {tables}", name.text.escape_debug());
            return self.bad(name.span.clone(), message, help);
        };
        let own: Vec<Backend> = self.model.backends.iter().filter(|b| b.own).cloned().collect();
        for (key, value) in row {
            let Some(backend) = own.iter().find(|b| b.name == key.text) else {
                let help = own.first().map(|b| format!("a row of an overlay may have only the key `{}`", b.name));
                let message = format!("`{}` may be given only in the base table", key.text.escape_debug());
                self.bad(key.span.clone(), message, help);
                continue;
            };
            let params = self.model.ops[index].params.clone();
            if let Some(map) = self.column(backend, value, Some(&params)) {
                if map.is_of_elements() && self.model.ops[index].own {
                    let help = Some("use `call` or `compose`".into());
                    let message = format!("only the table of the op `{}` may define the op by expressions", name.text);
                    self.bad(value.span(), message, help);
                    continue;
                }
                self.model.ops[index].maps.insert(backend.name.clone(), map);
            }
        }
    }

    /// Returns the name and bound of the set under `key`. A row names the set, or lists dtypes and sets.
    fn set(&mut self, name: &Text, row: &Table, key: &str) -> Option<(String, String)> {
        if let Some((_, Value::List(_, span))) = row.iter().find(|(k, _)| k.text == key) {
            let (span, members) = (span.clone(), self.list(row, key)?);
            return self.set_in_place(&format!("{}_{key}", name.text), members, span);
        }
        let word = self.word(row, key)?;
        if let Some(set) = self.model.set(&word.text) {
            return Some((set.name.clone(), set.bound.clone()));
        }
        let help = did_you_mean(&word.text, self.model.sets.iter().map(|s| s.name.as_str()));
        self.bad(word.span, format!("unknown set of dtypes `{}`", word.text.escape_debug()), help);
        None
    }

    fn group_of(&mut self, row: &Table) -> String {
        let Some(word) = self.word(row, "group") else {
            return String::new();
        };
        if !self.model.groups.iter().any(|g| g.name == word.text) {
            let help = did_you_mean(&word.text, self.model.groups.iter().map(|g| g.name.as_str()));
            self.bad(word.span, format!("unknown group `{}`", word.text.escape_debug()), help);
        }
        word.text
    }
}
