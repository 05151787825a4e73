//! Tests that the code generated from a small table equals the committed code, and expands tables with mistakes.

use super::*;
use std::path::Path;

const SMALL: &str = include_str!("../op-table/testdata/small.toml");

fn expand(text: &str) -> Result<TokenStream, String> {
    let source = SourceFile { name: "ops.toml".into(), text: text.into() };
    let input: Input = syn::parse_quote!(root = crate, table = "ops.toml");
    expand_source(&input, &source, "ops.toml").map_err(|errors| errors.to_string())
}

/// `UPDATE=1 cargo test -p backends-macros` rewrites the file with the committed code.
#[test]
fn expansion_is_as_committed() {
    let file = syn::parse2(expand(SMALL).unwrap()).expect("the expansion is Rust");
    let now = prettyplease::unparse(&file);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/small.expanded.rs");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(now == committed, "the expansion changed; see the difference with UPDATE=1 and git diff");
}

#[test]
fn compositions_call_by_place_what_is_given_by_name() {
    let call = "sum(s, axis, keepdims = keepdims)";
    assert!(SMALL.contains(call));
    let named = expand(&SMALL.replace(call, "sum(keepdims = keepdims, axis = axis, x = s)")).unwrap().to_string();
    let placed = expand(SMALL).unwrap().to_string();
    let calls = |text: &str| {
        let at = text.find(". sum_with (&").expect("the composition calls it");
        text[at..].split('?').next().unwrap_or("").to_string()
    };
    assert_eq!(calls(&named), calls(&placed));
}

/// Tests that everything is generated from one new row: methods, implementations, documentation and data.
#[test]
fn one_row_gives_everything() {
    let row = "\n[op.square]\ngroup = \"elementwise\"\nsummary = \"x * x.\"\nparams = [\"x: array\"]\ndtypes = \"float\"\n\
               each = \"x * x\"\ntorch = { aten = \"square(x)\" }\nalias = [\"sqr\"]\n\
               example = 'assert_eq!(b.square(&b.asarray(3.0)?)?, b.asarray(9.0)?);'\n";
    let table = format!("{SMALL}{row}");
    let before = expand(SMALL).unwrap().to_string();
    let after = expand(&table).unwrap().to_string();
    for wanted in [
        "fn square < 'a , T : crate :: runtime :: Float > (& self , x : impl crate :: runtime :: IntoArray < 'a", // the method
        "elementwise :: each1 (self , & ops :: square",      // on the CPU
        "Aten :: new (\"square\" , \"aten::square\" , \"\"", // on libtorch
        "ops :: square :: ROW , (< T as",                    // at run time
        "x * x.",                                            // documented
        "assert_eq!(b.square(&b.asarray(3.0)?)?,",           // with an example
        "alias = \"sqr\"",                                   // and searchable
        "\"op_times(x0, x0)\"",                              // as a kernel
        "OpInfo :: new (\"square\"",                         // in the list of ops
    ] {
        assert!(after.contains(wanted), "missing: {wanted}");
        assert!(!before.contains(wanted), "there before the row: {wanted}");
    }
    let mut model = Model::default();
    parse(&SourceFile { name: "ops.toml".into(), text: table }, Role::Context, &mut model, &mut Report::default());
    let input: Input = syn::parse_quote!(root = backends, backend = Numpyish::new(), type = Numpyish);
    let tests = conformance::tests(&input, &model, &Default::default()).to_string();
    for wanted in ["mod square", "fn complex64 ()", "check (& ROW , DType :: Complex64)"] {
        assert!(tests.contains(wanted), "missing in the tests: {wanted}");
    }
}

/// Tests that the valid rows of a table with mistakes are expanded, so that code that uses these rows causes no further
/// errors.
#[test]
fn what_is_right_is_expanded_beside_the_errors() {
    let said = expand(&SMALL.replace("x1 + x2\"\n", "x1 + x3\"\n")).unwrap_err();
    assert!(said.contains("compile_error ! { \"ops.toml:56:17: `x3` is not a parameter"), "{said}");
    for wanted in
        ["pub trait Elementwise", "fn sum <", "fn add <", "Elementwise for crate :: AnyBackend", "pub trait Backend"]
    {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    assert!(!said.contains("Aten :: new (\"add\""), "a row with a mistake runs nothing");
}

#[test]
fn all_mistakes_come_at_once() {
    let text = SMALL.replace("x1 + x2\"\n", "x1 + x3\"\n").replace("[op.sum]", "[op.sum]\nnumpi = 1");
    let said = expand(&text).unwrap_err();
    assert!(said.contains("x3") && said.contains("numpi"), "{said}");
}
