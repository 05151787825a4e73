//! What is told of expressions of the base table by their form, for loops of their own.

use op_table::{
    Model, Report, Role, SourceFile, check,
    model::{Map, Op},
    parse,
};

/// The rows of the base table for which something is true.
fn rows(is: impl Fn(&Op) -> bool) -> Vec<String> {
    let text = include_str!("../../ops.toml").to_string();
    let source = SourceFile { name: "ops.toml".into(), text };
    let (mut model, mut report) = (Model::default(), Report::default());
    parse(&source, Role::Own, &mut model, &mut report);
    check(&source, &mut model, &mut report);
    assert_eq!(report.into_texts(), [""; 0]);
    model.ops.iter().filter(|op| is(op)).map(|op| op.name.clone()).collect()
}

#[test]
fn counts() {
    assert_eq!(
        rows(|op| op.maps.values().any(|map| matches!(map, Map::Fold(fold) if fold.counts(op)))),
        ["count_nonzero"]
    );
}

#[test]
fn square_roots() {
    assert_eq!(
        rows(|op| op.maps.values().any(|map| matches!(map, Map::Each { real, .. } if op.is_square_root(&real.expr)))),
        ["sqrt"]
    );
}
