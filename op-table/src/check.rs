//! What rows say of each other: what the parts of expressions are, and that no composition is made of itself.

use crate::{
    expr::{compose, each},
    model::{Map, Model, Op},
    report::{Mistake, Report, Source},
};
use std::collections::{BTreeMap, BTreeSet};

/// Checks every row, and settles what the parts of its expressions are. Mistakes of the rows that are read are reported;
/// those of the base table are none.
pub fn check(source: &Source, model: &mut Model, report: &mut Report) {
    for index in 0..model.ops.len() {
        let mut maps = std::mem::take(&mut model.ops[index].maps);
        let op = &model.ops[index];
        let mut seen: Vec<Mistake> = Vec::new();
        for (column, map) in &mut maps {
            let own = op.own || model.backends.iter().any(|b| b.own && b.name == *column);
            let mistakes = if op.params_are_whole { map_of(op, map, model) } else { Vec::new() };
            if own {
                // a mapping that several libraries share says each mistake once
                seen.extend(
                    mistakes.into_iter().filter(|m| !seen.iter().any(|s| s.span == m.span)).collect::<Vec<_>>(),
                );
            }
        }
        let name = op.name.clone();
        model.ops[index].maps = maps;
        if !seen.is_empty() {
            model.broken.insert(name);
        }
        seen.into_iter().for_each(|mistake| report.add(source, mistake));
    }
    circles(source, model, report);
}

fn map_of(op: &Op, map: &mut Map, model: &Model) -> Vec<Mistake> {
    match map {
        Map::Each { real, complex } => {
            let mistakes = each::check_params(op);
            if !mistakes.is_empty() {
                return mistakes;
            }
            let all = model.dtypes_of(&op.set);
            let of = |is_complex: bool| -> Vec<String> {
                let wanted = |d: &&String| complex_form(d) == is_complex;
                all.iter().filter(wanted).cloned().collect()
            };
            let real_dtypes = if complex.is_some() { of(false) } else { all.to_vec() };
            let forms = [(Some(real), real_dtypes), (complex.as_mut(), of(true))];
            let check = |(form, dtypes): (Option<&mut crate::model::Form>, Vec<String>)| {
                each::check(&mut form?.expr, op, &dtypes, model).err()
            };
            forms.into_iter().filter_map(check).collect()
        }
        Map::Compose(form) => compose::check(&mut form.expr, op, model),
        Map::Call(_) | Map::Generic(_) | Map::Aten(_) => Vec::new(),
    }
}

/// Whether the complex form of a row is for this dtype.
fn complex_form(dtype: &str) -> bool {
    dtype.starts_with("complex")
}

/// A composition that is made of itself, over any number of rows, would never end.
fn circles(source: &Source, model: &mut Model, report: &mut Report) {
    let mut found = BTreeSet::new();
    for backend in &model.backends {
        let composed = |op: &Op| match op.maps.get(&backend.name) {
            Some(Map::Compose(form)) => Some(compose::calls(&form.expr)),
            _ => None,
        };
        let calls: BTreeMap<&str, _> = model.ops.iter().filter_map(|o| Some((o.name.as_str(), composed(o)?))).collect();
        // rows all of whose calls end are taken away until none is left, or only circles and what leads to them
        let mut open: BTreeSet<&str> = calls.keys().copied().collect();
        let mut waiting: BTreeMap<&str, usize> = BTreeMap::new();
        let mut callers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, list) in &calls {
            let inside: BTreeSet<&str> = list.iter().map(|c| c.text.as_str()).filter(|c| open.contains(c)).collect();
            waiting.insert(name, inside.len());
            inside.into_iter().for_each(|callee| callers.entry(callee).or_default().push(name));
        }
        let mut ended: Vec<&str> = waiting.iter().filter(|(_, n)| **n == 0).map(|(name, _)| *name).collect();
        while let Some(name) = ended.pop() {
            open.remove(name);
            for caller in callers.get(name).into_iter().flatten() {
                let left = waiting.entry(caller).or_default();
                *left -= 1;
                if *left == 0 {
                    ended.push(caller);
                }
            }
        }
        // along the calls from each of these rows one comes to a circle
        let order: BTreeMap<&str, usize> = model.ops.iter().enumerate().map(|(i, o)| (o.name.as_str(), i)).collect();
        let mut walked: BTreeSet<&str> = BTreeSet::new();
        for start in open.iter().copied() {
            let mut path: BTreeMap<&str, usize> = BTreeMap::new();
            let mut at = start;
            while walked.insert(at) {
                path.insert(at, path.len());
                at = calls[at].iter().map(|c| c.text.as_str()).find(|c| open.contains(c)).unwrap_or(at);
            }
            let Some(first) = path.get(at).copied() else { continue };
            let mut circle: Vec<(usize, &str)> =
                path.into_iter().filter(|(_, i)| *i >= first).map(|(n, i)| (i, n)).collect();
            circle.sort_unstable();
            let top = circle.iter().enumerate().min_by_key(|(_, (_, name))| order.get(name)).map_or(0, |(i, _)| i);
            circle.rotate_left(top);
            let names: Vec<&str> = circle.iter().map(|(_, name)| *name).collect();
            if names.iter().any(|name| found.contains(*name)) {
                continue;
            }
            let next = names.get(1).unwrap_or(&names[0]);
            let place = calls[names[0]].iter().find(|c| c.text == *next).map_or(0..0, |c| c.span.clone());
            let way: Vec<String> = names.iter().chain([&names[0]]).map(|name| format!("`{name}`")).collect();
            report.at(source, place, format!("a composition is made of itself: {}", way.join(", ")), None);
            found.extend(names.into_iter().map(str::to_string));
        }
    }
    model.broken.extend(found);
}
