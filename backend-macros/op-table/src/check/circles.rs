//! Finds compositions (`compose` rows of the op table) that call themselves.

use crate::{
    expr::compose,
    model::{Map, Model, Op},
    report::{Report, SourceFile},
};
use std::collections::{BTreeMap, BTreeSet};

/// Reports compositions that call themselves, directly or through other rows. Such a composition would never end.
pub(super) fn circles(source: &SourceFile, model: &mut Model, report: &mut Report) {
    let mut found = BTreeSet::new();
    for backend in &model.backends {
        let composed = |op: &Op| match op.maps.get(&backend.name) {
            Some(Map::Compose(form)) => Some(compose::calls(&form.expr)),
            _ => None,
        };
        let calls: BTreeMap<&str, _> = model.ops.iter().filter_map(|o| Some((o.name.as_str(), composed(o)?))).collect();
        // removes from `open` the rows whose calls never lead to a cycle; the rows of cycles, and the rows that lead to
        // a cycle, remain
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
        // follows the calls from each remaining row; a path that returns to one of its earlier rows contains a cycle
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
            report.at(source, place, format!("a composition calls itself: {}", way.join(", ")), None);
            found.extend(names.into_iter().map(str::to_string));
        }
    }
    model.broken.extend(found);
}
