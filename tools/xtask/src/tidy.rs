//! Checks rules for the files of the repository that no other tool checks.

use crate::{
    run::{cargo, root},
    table,
};
use op_table::{
    model::{Gradient, Map, Op},
    names::KEYWORDS,
};
use std::{collections::BTreeSet, fs, process::Command};

/// Maximum number of lines of a file. Files in `MAY_BE_LONG` (tables, data and generated files) may be longer.
const MAX_LINES: usize = 800;
const MAY_BE_LONG: [&str; 9] = [
    "Cargo.lock",
    "ops.toml",
    "crates/golden/data/",
    "docs/peers/",
    "examples/data/",
    "tests/data/",
    "backend-macros/testdata/",
    "backend-macros/op-table/testdata/",
    "backend-runtime/core/src/scalar/testdata/",
];

/// The text files that git tracks, each as its path from the root and its text.
pub fn files() -> Vec<(String, String)> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output().expect("git runs");
    assert!(listed.status.success(), "git ls-files: {}", String::from_utf8_lossy(&listed.stderr));
    let names = String::from_utf8(listed.stdout).expect("paths are UTF-8");
    let read = |name: &str| Some((name.to_owned(), fs::read_to_string(root().join(name)).ok()?));
    let files: Vec<_> = names.split('\0').filter_map(read).collect();
    assert!(files.iter().any(|(name, _)| name == "ops.toml"), "the table is among the files");
    files
}

/// Fails if `wrong` returns a complaint for any line. The message lists all complaints with their files and lines.
fn every_line(wrong: impl Fn(&str, &str) -> Option<String>) {
    let mut found = Vec::new();
    for (name, text) in files() {
        let lines = text.lines().enumerate();
        found.extend(lines.filter_map(|(i, line)| Some(format!("{name}:{}: {}", i + 1, wrong(&name, line)?))));
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn the_template_has_the_lines_of_the_readme() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let (template, readme) = (read("examples/template/Cargo.toml"), read("README.md"));
    let at = template.find("# Dev builds").expect("the profile is the last section");
    assert!(
        readme.contains(template[at..].trim()),
        "README.md does not have the profile of examples/template/Cargo.toml"
    );
    let version = env!("CARGO_PKG_VERSION").rsplit_once('.').expect("three numbers").0;
    assert!(template.contains(&format!("backends = \"{version}\"")), "the template names another version");
}

#[test]
fn files_are_short() {
    let long = |(name, text): (String, String)| {
        let lines = text.lines().count();
        (lines > MAX_LINES && !MAY_BE_LONG.iter().any(|may| name.starts_with(may)))
            .then(|| format!("{name}: {lines} lines"))
    };
    let long: Vec<_> = files().into_iter().filter_map(long).collect();
    assert!(long.is_empty(), "more than {MAX_LINES} lines: {long:#?}");
}

#[test]
fn nothing_is_left_to_do() {
    // each forbidden word is split into two strings, so that this file does not contain the word
    let words = [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("FIX", "ME"), concat!("dbg", "!(")];
    every_line(|name, line| {
        let word = words.iter().find(|word| line.contains(*word))?;
        name.ends_with(".rs").then(|| format!("`{word}`"))
    });
}

/// Checks that only tests use the conversion from float64 of the crate `half`. On some processors, this conversion goes
/// through float32, and so rounds twice. Tests may use it for numbers that the 16-bit dtype represents exactly.
#[test]
fn float64_becomes_16_bits_by_our_conversions() {
    let word = concat!("f16::", "from_f64");
    let is_test = |name: &str| name.contains("tests") || name.starts_with("benches/");
    let code = |text: &str| text.split("#[cfg(test)]").next().unwrap_or("").contains(word);
    let files = files().into_iter().filter(|(name, text)| name.ends_with(".rs") && !is_test(name) && code(text));
    let found: Vec<String> = files.map(|(name, _)| name).collect();
    assert!(found.is_empty(), "`{word}`: `Real::of` and `Element::from_f64` round once: {found:?}");
}

#[test]
fn no_host_of_a_registry_and_no_path_of_a_machine_is_named() {
    let words = [
        concat!("crates", ".io"),
        concat!("pypi", ".org"),
        concat!("pythonhosted", ".org"),
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
    ];
    every_line(|name, line| {
        let word = words.iter().find(|word| line.contains(*word))?;
        (name != "Cargo.lock").then(|| format!("`{word}`"))
    });
}

#[test]
fn tables_have_no_mistakes_and_summaries_are_sentences() {
    let demo = root().join("examples/demo-ops/my_ops.toml");
    for table in [None, Some(demo.as_path())] {
        let model = table::read(table).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        let rows = model.ops.iter().filter(|op| op.own);
        assert!(rows.clone().count() > 3, "{table:?} has rows");
        for op in rows {
            assert!(op.summary.ends_with('.'), "the summary of {} is a sentence", op.name);
        }
    }
}

/// Checks that every op has a gradient, or states the reason why it has none.
#[test]
fn every_row_has_gradients_or_says_why_not() {
    let model = table::read(None).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    // reads the names of the functions that the recording backend implements itself
    let own = fs::read_to_string(root().join("src/grad/diff.toml")).expect("the file is there");
    let lacks = |op: &&Op| match &op.gradient {
        _ if own.contains(&format!("[op.{}]", op.name)) => false,
        Gradient::Unsaid | Gradient::Said(_) => true,
        Gradient::Rules(rules) => {
            let has = |name: &str| rules.iter().any(|rule| rule.input == name);
            // in an `each` row, whose op is a scalar expression, the rules do not mention inputs that have no effect
            let is_each = op.maps.values().any(|map| matches!(map, Map::Each { .. }));
            // in a row that is composed of other ops, the rules name the inputs that have no gradient
            let is_of_parts = rules.iter().all(|rule| rule.function.is_err()) && op.maps.values().all(Map::is_free);
            !is_each && !is_of_parts && op.differentiable().any(|p| !has(&p.name))
        }
        Gradient::None(_) | Gradient::OfParts => false,
    };
    let lacking: Vec<&str> = model.ops.iter().filter(lacks).map(|op| op.name.as_str()).collect();
    assert_eq!(lacking, [""; 0], "`grad` of these rows");
}

/// Checks that the guide for users of other libraries names only ops that exist.
#[test]
fn the_porting_guide_names_ops_that_exist() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("the file is there");
    let guide = read("docs/porting.md");
    let images = ["mrc", "nifti", "tiff"].map(|format| read(&format!("crates/images/src/{format}/mod.rs"))).concat();
    let arrays = ["backend-runtime/core/src/arrays.rs", "src/out.rs", "src/show.rs", "crates/npz/src/files.rs"]
        .map(read)
        .concat()
        + &images;
    let table = table::read(None).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let named: Vec<&str> = guide
        .split("b.")
        .skip(1)
        .filter_map(|rest| rest.trim_start_matches("r#").split_once(['(', ':']))
        .map(|(name, _)| name)
        .filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        .collect();
    assert!(named.len() > 80, "{} calls are read", named.len());
    for name in named {
        let method = ["(", "<"].iter().any(|next| arrays.contains(&format!("fn {name}{next}")));
        // `where_` is the second name of `where`, a keyword
        let name = name.trim_end_matches("_with");
        let op = name.strip_suffix('_').filter(|keyword| KEYWORDS.contains(keyword)).unwrap_or(name);
        assert!(method || table.op(op).is_some(), "there is no op `{name}`");
    }
}

/// The texts between backquotes in a cell of a Markdown table.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Returns whether Rust code has an unsafe block, function, implementation or attribute, outside of comments.
fn is_unsafe(text: &str) -> bool {
    const NEXT: [&str; 5] = ["{", "(", "fn ", "impl", "extern"];
    let begins = |code: &str, at: usize| {
        let (before, rest) = (&code[..at], code[at + "unsafe".len()..].trim_start());
        !before.ends_with('_') && NEXT.iter().any(|next| rest.starts_with(next))
    };
    let mut code = text.lines().map(|line| line.split("//").next().unwrap_or(""));
    code.any(|code| code.match_indices("unsafe").any(|(at, _)| begins(code, at)))
}

#[test]
fn every_file_with_unsafe_code_is_listed() {
    let files = files();
    let find = |name: &str| files.iter().find(|(other, _)| other == name).map(|(_, text)| text);
    let guide = find("docs/audit.md").expect("the guide is there");
    let (_, list) = guide.split_once("\n## Unsafe code\n").expect("it has the list");
    let rows: Vec<Vec<&str>> =
        list.lines().filter(|line| line.starts_with("| `")).map(|line| line.split('|').collect()).collect();
    let mut listed = Vec::new();
    for row in &rows {
        let [_, names, _, tests, _] = row[..] else { panic!("a row has files, a reason and tests: {row:?}") };
        listed.extend(quoted(names));
        assert!(!quoted(tests).is_empty(), "{names} has a test");
        for test in quoted(tests).into_iter().filter(|test| !test.starts_with("cargo xtask")) {
            let function = format!("fn {test}(");
            assert!(
                find(test).is_some() || files.iter().any(|(_, text)| text.contains(&function)),
                "docs/audit.md: there is no test `{test}`"
            );
        }
    }
    let code = files.iter().filter(|(name, _)| name.ends_with(".rs") && !name.contains("/testdata/"));
    let found: Vec<&str> = code.filter(|(_, text)| is_unsafe(text)).map(|(name, _)| name.as_str()).collect();
    for name in &found {
        assert_eq!(listed.iter().filter(|other| other == &name).count(), 1, "docs/audit.md lists {name} once");
    }
    for name in &listed {
        assert!(found.contains(name), "docs/audit.md lists {name}, which has no unsafe code");
    }
}

#[test]
fn the_first_command_builds_nothing_in_vain() {
    let readme = fs::read_to_string(root().join("README.md")).expect("the README is there");
    let first = readme.lines().find_map(|line| line.strip_prefix("cargo run ")).expect("it has a command");
    let package = first.strip_prefix("--release -p ").expect("it runs a package");
    let mut tree = cargo();
    tree.args(["tree", "--package", package, "--edges", "normal,build", "--prefix", "none", "--format", "{p}"]);
    let listed = tree.output().expect("cargo runs");
    assert!(listed.status.success(), "cargo tree: {}", String::from_utf8_lossy(&listed.stderr));
    let listed = String::from_utf8(listed.stdout).expect("names are UTF-8");
    let versions = |name: &str| {
        let of = listed.lines().filter(|line| line.split(' ').next() == Some(name));
        of.filter_map(|line| line.split(' ').nth(1)).collect::<BTreeSet<_>>().len()
    };
    for (name, most) in [("criterion", 0), ("serde", 0), ("syn", 1)] {
        assert!(versions(name) <= most, "{package} needs {} versions of {name}, {most} are allowed", versions(name));
    }
    assert_eq!(versions("backends"), 1, "the names are read as cargo writes them");
}

/// Checks that the function that a row (the definition of an op) calls is easy to find: its module has the name of the
/// op's group, and the function has the name of the op.
#[test]
fn functions_are_where_their_rows_say() {
    let table = table::read(None).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let files = files();
    let mut missing = Vec::new();
    let mut count = 0;
    for (op, backend, path) in table.ops.iter().flat_map(calls) {
        count += 1;
        if *path != format!("{}::{}", op.group, op.name) {
            missing
                .push(format!("{}: `{path}` is not the function `{}` of the module `{}`", op.name, op.name, op.group));
        }
        let module = format!("backend-runtime/{backend}/src/{}", op.group);
        // formulas use some ops of the CPU, which are therefore in another crate
        let shared = format!("backend-runtime/core/src/{backend}/{}", op.group);
        let is_of =
            |name: &str, module: &str| name == format!("{module}.rs") || name.starts_with(&format!("{module}/"));
        let mut texts = files.iter().filter(|(name, _)| is_of(name, &module) || is_of(name, &shared));
        // the line begins a function, or is an entry in a macro's list of functions; a function without type parameters
        // takes the dtype as a value
        let begins = ["pub fn ", "pub fn r#", ""].map(|before| format!("{before}{}", op.name));
        let ends = |begin: &String| ["<", "(", " -> ", " = "].map(|end| format!("{begin}{end}"));
        let begins: Vec<String> = begins.iter().flat_map(ends).collect();
        let has = |line: &str| begins.iter().any(|begin| line.trim_start().starts_with(begin.as_str()));
        if !texts.any(|(_, text)| text.lines().any(has)) {
            missing.push(format!("{module} has no function `{}`", op.name));
        }
    }
    assert!(count > 150, "{count} rows call a function");
    assert!(missing.is_empty(), "\n{}", missing.join("\n"));
}

/// The functions that a row calls, each with the backend and the path of the function.
fn calls(op: &Op) -> impl Iterator<Item = (&Op, &String, &String)> {
    op.maps.iter().filter_map(move |(backend, map)| match map {
        Map::Call(path) => Some((op, backend, path)),
        _ => None,
    })
}

/// Expands `a/{b,c}/d` to `a/b/d` and `a/c/d`.
fn without_braces(path: &str) -> Vec<String> {
    let parts = path.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    match parts {
        None => vec![path.into()],
        Some((before, (choices, after))) => {
            choices.split(',').flat_map(|choice| without_braces(&format!("{before}{choice}{after}"))).collect()
        }
    }
}

#[test]
fn the_map_names_what_is_there() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the map is there");
    let is_path = |word: &&str| {
        let legal = |c: char| c.is_ascii_alphanumeric() || "/._-{},".contains(c);
        word.chars().all(legal) && (word.contains('/') || word.ends_with(".toml") || word.ends_with(".rs"))
    };
    let named: Vec<&str> = quoted(&map).into_iter().filter(is_path).collect();
    assert!(named.len() > 40, "{} paths are read", named.len());
    for path in named.into_iter().flat_map(without_braces) {
        let on_disk = root().join(&path);
        assert!(on_disk.exists(), "ARCHITECTURE.md: there is no `{path}`");
        assert_eq!(
            on_disk.is_dir(),
            path.ends_with('/'),
            "ARCHITECTURE.md: the path of a folder, and no other path, must end in `/`: `{path}`"
        );
    }
}
