//! Finds the rows that a partial backend lacks, according to its column. The tests of these rows are counted as
//! ignored.

use op_table::{
    Model,
    expr::compose,
    model::{Backend, Map},
};
use std::collections::BTreeSet;

/// Names of the rows without a mapping for `column`, and of the rows that are composed of such rows.
pub fn missing(model: &Model, column: &Backend) -> BTreeSet<String> {
    let map = |name: &str| model.op(name).and_then(|op| op.maps.get(&column.name));
    let mut missing: BTreeSet<String> =
        model.ops.iter().map(|op| op.name.clone()).filter(|name| map(name).is_none()).collect();
    // a row that is composed of a missing row is also missing; this repeats until no further rows are found
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
