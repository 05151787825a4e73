//! Tests that the expressions for which there are special loops are recognized.

use op_table::{
    Model, Report, Role, SourceFile, check,
    model::{Map, Op},
    parse,
};

/// A user's table. Its rows resemble the rows of the base table that have special loops.
const USER: &str = r#"
[op.second_root]
summary = "The root of the second of two arrays."
params  = ["x1: array", "x2: array"]
dtypes  = "float"
each    = "x2.sqrt()"
torch   = { compose = "sqrt(x2)" }

[op.root]
summary = "The root of one."
params  = ["x: array"]
dtypes  = "float"
each    = "x.sqrt()"
torch   = { compose = "sqrt(x)" }

[op.large]
summary = "How many are larger than a number."
params  = ["x: array", "axis: axes", "keepdims: bool = false", "least: f64 = 1"]
dtypes  = "real"
result  = "array<int64>"
fold    = { map = "x > least", join = "a + b", identity = "0" }
torch   = { compose = "count_nonzero(greater(x, least), axis, keepdims = keepdims)" }

[op.largest]
summary = "Whether any is larger than 1, as a number."
params  = ["x: array", "axis: axes", "keepdims: bool = false"]
dtypes  = "real"
result  = "array<int64>"
fold    = { map = "x > 1", join = "a.maximum(b)", identity = "0" }
torch   = { compose = "count_nonzero(greater(x, 1.0), axis, keepdims = keepdims)" }
"#;

/// Returns the names of the rows in the base table and the user's table for which `is` returns true.
fn rows(is: impl Fn(&Op) -> bool) -> Vec<String> {
    let (mut model, mut report) = (Model::default(), Report::default());
    let base = SourceFile { name: "ops.toml".into(), text: include_str!("../../../ops.toml").into() };
    parse(&base, Role::Context, &mut model, &mut report);
    let source = SourceFile { name: "user.toml".into(), text: USER.into() };
    parse(&source, Role::Own, &mut model, &mut report);
    check(&source, &mut model, &mut report);
    assert_eq!(report.into_texts(), [""; 0]);
    model.ops.iter().filter(|op| is(op)).map(|op| op.name.clone()).collect()
}

#[test]
fn counts() {
    assert_eq!(
        rows(|op| op.maps.values().any(|map| matches!(map, Map::Fold(fold) if fold.counts(op)))),
        ["count_nonzero", "large"]
    );
}

#[test]
fn square_roots() {
    assert_eq!(
        rows(|op| op.maps.values().any(|map| matches!(map, Map::Each { real, .. } if op.is_square_root(&real.expr)))),
        ["sqrt", "root"]
    );
}
