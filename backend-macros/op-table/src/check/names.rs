//! Finds names in an op table that are valid, but clash with other names.

use crate::{
    model::{Model, camel},
    report::{Report, SourceFile, did_you_mean},
};
use std::collections::BTreeMap;

/// Methods that every backend has in addition to its ops, and methods of traits that are always in scope. No op may
/// have one of these names.
const METHODS: [&str; 26] = [
    "borrow",
    "borrow_mut",
    "clone",
    "clone_from",
    "device",
    "dlpack_device",
    "from_dlpack",
    "from_dlpack_with",
    "from_iter",
    "from_ndarray",
    "into",
    "item",
    "name",
    "ndim",
    "seed",
    "shape",
    "show",
    "size",
    "synchronize",
    "to_backend",
    "to_dlpack",
    "to_dlpack_with",
    "to_ndarray",
    "to_owned",
    "to_vec",
    "try_into",
];

/// Functions that every options struct has in addition to its setters. No option may have one of these names.
const FUNCTIONS: [&str; 3] = ["clone", "default", "new"];

/// Traits and types that the macro generates from the base table in addition to one trait for each group. No group
/// may have the name of one of them.
const TYPES: [&str; 4] = ["AnyArray", "AnyBackend", "Arrays", "Backend"];

/// Reports ops, options, groups and words whose names clash with other names.
pub(super) fn names(source: &SourceFile, model: &mut Model, report: &mut Report) {
    let before = report.len();
    let mut types: BTreeMap<String, &str> = BTreeMap::new();
    let mut clashing = Vec::new();
    for op in &model.ops {
        let first = types.insert(camel(&op.name), &op.name);
        if !op.own {
            continue;
        }
        let mut bad = |span: &crate::text::Span, message: String| {
            report.at(source, span.clone(), message, None);
            clashing.push(op.name.clone());
        };
        if METHODS.contains(&op.name.as_str()) {
            bad(&op.span, format!("op `{0}` would hide the method `{0}` that every backend has", op.name));
        }
        if let Some(other) = first {
            bad(
                &op.span,
                format!("ops `{other}` and `{}` would both be `{}` in generated code", op.name, camel(&op.name)),
            );
        }
        let twin = op.name.strip_suffix("_with").and_then(|name| model.op(name)).filter(|o| o.has_options());
        if let Some(other) = twin {
            bad(&op.span, format!("`{}` is the method of op `{}` that takes options", op.name, other.name));
        }
        for param in op.optional().filter(|p| FUNCTIONS.contains(&p.name.as_str())) {
            bad(&param.span, format!("an option cannot be called `{0}`: options have a function `{0}`", param.name));
        }
    }
    model.broken.extend(clashing.iter().cloned());
    model.clashing.extend(clashing);
    let is_base = model.ops.iter().all(|op| op.own);
    for group in model.groups.iter().filter(|_| is_base) {
        if TYPES.contains(&camel(&group.name).as_str()) {
            report.at(
                source,
                group.span.clone(),
                format!(
                    "the trait of the group `{}` would be `{}`, but another item has this name",
                    group.name,
                    camel(&group.name)
                ),
                None,
            );
        }
    }
    // reports each word whose key `op` names an op that does not exist, except if the row of this op has mistakes
    for (op, span) in model.words.values().filter_map(|w| w.op.as_ref()) {
        if is_base && report.len() == before && model.op(op).is_none() && !model.broken.contains(op) {
            let help = did_you_mean(op, model.ops.iter().map(|o| o.name.as_str()));
            report.at(source, span.clone(), format!("there is no op `{op}`"), help);
        }
    }
}
