//! The expansion of a small table against the text committed, and what every mistake in a table says.

use super::*;
use std::path::Path;

const SMALL: &str = include_str!("../testdata/small.toml");

fn expand(text: &str) -> Result<TokenStream, String> {
    let source = Source { name: "ops.toml".into(), text: text.into() };
    let input: Input = syn::parse_quote!(root = crate, table = "ops.toml");
    expand_source(&input, &source, "ops.toml").map_err(|errors| errors.to_string())
}

/// The messages of a small table in which `from` was replaced by `to`.
fn mistakes(from: &str, to: &str) -> String {
    assert!(SMALL.contains(from), "{from}");
    expand(&SMALL.replace(from, to)).expect_err("the table has a mistake").replace("\\n", "\n").replace("\\\"", "\"")
}

/// `UPDATE=1 cargo test -p backend-macros` writes the file anew.
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

/// The promise: a row more is everything more.
#[test]
fn one_row_gives_everything() {
    let row = "\n[op.square]\ngroup = \"elementwise\"\nsummary = \"x * x.\"\nparams = [\"x: array\"]\ndtypes = \"float\"\n\
               each = \"x * x\"\ntorch = { aten = \"square(x)\" }\nalias = [\"sqr\"]\n\
               example = 'assert_eq!(b.square(&b.asarray(3.0)?)?, b.asarray(9.0)?);'\n";
    let table = format!("{SMALL}{row}");
    let before = expand(SMALL).unwrap().to_string();
    let after = expand(&table).unwrap().to_string();
    for wanted in [
        "fn square < T : crate :: runtime :: Float > (& self , x : & Self :: Array < T >)", // the method
        "elementwise :: each1 (self , & __each :: Square",                                  // on the CPU
        "Aten :: new (\"square\" , \"aten::square\" , \"\"",                                // on libtorch
        "AnyBackend :: Numpyish (b) => { let r = b . square",                               // at run time
        "x * x.",                                                                           // documented
        "assert_eq!(b.square(&b.asarray(3.0)?)?,",                                          // with an example
        "alias = \"sqr\"",                                                                  // and searchable
        "\"op_times(x0, x0)\"",                                                             // as a kernel
        "OpInfo :: new (\"square\"",                                                        // in the list of ops
    ] {
        assert!(after.contains(wanted), "missing: {wanted}");
        assert!(!before.contains(wanted), "there before the row: {wanted}");
    }
    let mut model = Model::default();
    parse::parse(&Source { name: "ops.toml".into(), text: table }, Role::Context, &mut model, &mut Report::default());
    let input: Input = syn::parse_quote!(root = backends, backend = Numpyish::new(), type = Numpyish);
    let tests = conformance::tests(&input, &model).to_string();
    for wanted in ["mod square", "fn complex64 ()", "case . b . square"] {
        assert!(tests.contains(wanted), "missing in the tests: {wanted}");
    }
}

#[test]
fn mistakes_of_a_row_have_place_and_help() {
    let said = mistakes("alias   = [\"plus\"]", "aliass  = [\"plus\"]");
    assert!(said.contains("unknown key `aliass` in op `add`"), "{said}");
    assert!(said.contains("did you mean `alias`?"), "{said}");
    assert!(said.contains("ops.toml:46:1:"), "{said}");
    for (from, to, message) in [
        ("x1 + x2\"\n", "x1 + x3\"\n", "`x3` is not a parameter of this op"),
        ("x1 + x2\"\n", "x1.exq(x2)\"\n", "did you mean `exp`?"),
        ("x1 + x2\"\n", "x1.atan2(x2)\"\n", "`atan2` is for real dtypes; here it is used on complex64"),
        ("x1 + x2\"\n", "x1 % x2\"\n", "this is not in the language of `each`"),
        ("add.Tensor(x1, x2)", "add.Tensor(x1, x9)", "`x9` is not a parameter of this op"),
        ("\"limit: scalar\"", "\"limit: slices\"", "libtorch's ops take no parameter of type `slices`"),
        ("torch   = { aten = \"add.Tensor(x1, x2)\" }", "", "op `add` has no mapping for torch"),
        ("dtypes  = \"real\"", "dtypes  = \"reel\"", "unknown set of dtypes `reel`"),
        ("x: array\", \"slope", "x: aray\", \"slope", "unknown type of parameter `aray`"),
        ("slope: f64 = 0.01", "slope: f64 = none", "`none` is no default of a parameter of type `f64`"),
        ("add(x, x)", "ad(x, x)", "no op `ad`"),
        ("keepdims = keepdims", "keepdim = keepdims", "op `sum` has no option `keepdim`"),
        ("sum(s, axis", "sum(r, axis", "`r` is neither a parameter nor a `let`"),
        ("sum(s, axis", "leaky(s", "op `leaky` is for real dtypes; here its argument may be complex64"),
        ("sum(s, axis, keep", "sum(s, keep", "op `sum` takes 2 (x, axis), 1 given"),
        ("group   = \"elementwise\"\nsummary = \"Sum", "group   = \"elementwize\"\nsummary = \"Sum", "unknown group"),
        ("[op.rms]", "[op.sum]", "duplicate key"),
        ("call    = \"reduce::sum\"", "call    = \"reduce sum\"", "no path such as `reduce::sum`"),
        ("call    = \"reduce::sum\"", "cal     = \"reduce::sum\"", "unknown key `cal`"),
        ("[op.sum]", "[opp.sum]", "unknown section `opp`"),
        ("summary = \"Sum.\"", "", "op `sum` has no `summary`"),
        ("example = 'assert_eq!(b.sum(", "note = 'assert_eq!(b.sum(", "op `sum` has no `example`"),
        ("example = 'assert_eq!(b.sum(", "example = '(b.sum(", "an example asserts what it shows"),
    ] {
        let said = mistakes(from, to);
        assert!(said.contains(message), "{to}: wanted {message:?}, got:\n{said}");
        assert!(said.contains("ops.toml:"), "{said}");
    }
}

#[test]
fn all_mistakes_come_at_once() {
    let text = SMALL.replace("x1 + x2\"\n", "x1 + x3\"\n").replace("[op.sum]", "[op.sum]\nnumpi = 1");
    let said = expand(&text).unwrap_err();
    assert!(said.contains("x3") && said.contains("numpi"), "{said}");
}
