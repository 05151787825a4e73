//! Finds the rows of the op table for which a partial backend has no implementation, according to its column. The
//! tests of these rows are counted as ignored.

use op_table::{
    Model,
    expr::compose,
    model::{Backend, Map},
};
use std::collections::BTreeSet;

/// Returns the names of the rows without a mapping for `column`, and of the rows whose compositions call these rows,
/// directly or through other compositions.
pub fn missing(model: &Model, column: &Backend) -> BTreeSet<String> {
    let map = |name: &str| model.op(name).and_then(|op| op.maps.get(&column.name));
    let mut missing: BTreeSet<String> =
        model.ops.iter().map(|op| op.name.clone()).filter(|name| map(name).is_none()).collect();
    // a row whose composition calls a missing row is also missing; the loop ends when it finds no further rows
    loop {
        let more: Vec<String> = model
            .ops
            .iter()
            .filter(|op| !missing.contains(&op.name))
            .filter(|op| match map(&op.name) {
                Some(Map::Compose(form)) => compose::calls(&form.expr).iter().any(|call| missing.contains(&call.text)),
                _ => false,
            })
            .map(|op| op.name.clone())
            .collect();
        if more.is_empty() {
            return missing;
        }
        missing.extend(more);
    }
}
