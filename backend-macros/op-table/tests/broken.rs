//! Tests tables with one mistake each. Each report must equal the expected one: one error, with its position.
//!
//! `testdata/broken.txt` has an entry for each mistake: the table that is changed, the change that makes the mistake,
//! and the expected error. `UPDATE=1` rewrites the errors, so that git shows the changes.

use op_table::{Model, Report, Role, SourceFile, check, parse};
use std::{fmt::Write, path::Path};

const BASE: &str = include_str!("../testdata/small.toml");
const USER: &str = include_str!("../testdata/user.toml");
const OVERLAY: &str = include_str!("../testdata/overlay.toml");

fn errors(of: &str, table: &str) -> Vec<String> {
    let (mut model, mut report) = (Model::default(), Report::default());
    let role = match of {
        "base" => Role::Own,
        "user" => Role::Own,
        "overlay" => Role::Overlay,
        other => panic!("{other}"),
    };
    if of != "base" {
        let base = SourceFile { name: "base.toml".into(), text: BASE.into() };
        parse(&base, Role::Context, &mut model, &mut report);
    }
    let source = SourceFile { name: format!("{of}.toml"), text: table.into() };
    parse(&source, role, &mut model, &mut report);
    check(&source, &mut model, &mut report);
    report.into_texts()
}

fn table(of: &str) -> &'static str {
    match of {
        "base" => BASE,
        "user" => USER,
        _ => OVERLAY,
    }
}

#[test]
fn tables_without_a_mistake_have_none() {
    for of in ["base", "user", "overlay"] {
        assert_eq!(errors(of, table(of)), [""; 0], "{of}");
    }
}

#[test]
fn parameters_may_be_given_by_name() {
    for call in ["add(x1, x2 = x2)", "add(x2 = x2, x1 = x1)", "add(x1 = x2, x2 = x1)"] {
        assert_eq!(errors("user", &table("user").replace("add(x1, x2)", call)), [""; 0], "{call}");
    }
    let function = "compose = \"add(x1, x2)\"";
    for other in ["generic = \"crate::both\"", "generic = \"both\"", "call = \"crate::kernels::both\""] {
        assert_eq!(errors("user", &table("user").replace(function, other)), [""; 0], "{other}");
    }
}

#[test]
fn every_mistake_is_one_error_at_its_place() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/broken.txt");
    let text = std::fs::read_to_string(&path).unwrap();
    let (head, entries) = text.split_once("\n=== ").unwrap();
    let (mut now, mut wrong, mut count) = (head.to_string(), Vec::new(), 0);
    for entry in entries.split("\n=== ") {
        let (of, rest) = entry.split_once('\n').unwrap();
        let (edit, _) = rest.split_once("\n>>>").unwrap_or((rest.trim_end(), ""));
        let (from, to) = edit.split_once("\n+++").unwrap_or_else(|| panic!("no +++ in {edit}"));
        let from = from.strip_prefix("---").unwrap().trim_start_matches(' ');
        let to = to.trim_start_matches(' ');
        assert_eq!(table(of).matches(from).count(), 1, "{of}: {from}");
        let to = to.replace("<RLO>", "\u{202e}");
        let said = errors(of, &table(of).replace(from, &to));
        if said.len() != 1 {
            wrong.push(format!("{from} -> {to}: {} errors\n{}", said.len(), said.join("\n")));
        }
        let _ = write!(now, "\n=== {of}\n{edit}\n>>>\n{}\n", said.join("\n"));
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(count >= 50, "{count} tables");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, now.trim_end().to_string() + "\n").unwrap();
    } else {
        assert!(now.trim_end() == text.trim_end(), "other errors; see the difference with UPDATE=1 and git diff");
    }
}
