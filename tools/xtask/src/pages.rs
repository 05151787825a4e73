//! Generates pages of the documentation: the ops of each backend and the coverage of other APIs from the op table, and
//! the cookbook from its programs.

use crate::{
    cookbook,
    run::{Outcome, create, root},
    table,
};
use op_table::{Model, model::Op};
use std::{fmt::Write, fs};

/// The list of the functions of the Python Array API standard.
const STANDARD: &str = include_str!("../array_api.txt");

const OF_THE_STANDARD: &str = "# The Array API\n\nThis page lists the functions of the [Python Array API \
    standard](https://data-apis.org/array-api/2025.12/), version 2025.12, with its extensions `fft` and `linalg`, and \
    their counterparts on `Numpyish`, `Torch`, `Cuda` and `AnyBackend`. If a backend lacks a part, the row says so. \
    The first table explains the codes in the third column of the other tables. The page is generated from the op \
    table and from `tools/xtask/array_api.txt` by `cargo xtask pages`.";

/// The list of the ops and capabilities of other systems.
const OTHERS: &str = include_str!("../parity.txt");

const OF_OTHERS: &str = "# Other systems\n\nThis page lists the ops and capabilities of five other systems, \
    and their counterparts here. The systems are the backends of PyEPRI (E), PhiML (P) and pyTME (T), a framework \
    from a question on a Rust forum (F), and the Python Array API (A). The second column has the letters of the \
    systems, and the third column has a code, which the first table explains. If a backend lacks a part, the row or \
    [the page about the Array API](array-api.md) says so. The page is generated from the op table and from \
    `tools/xtask/parity.txt` by `cargo xtask pages`.";

/// The task `pages`: writes the pages.
pub fn task(args: &[String]) -> Outcome {
    if let Some(arg) = args.first() {
        return Err(format!("`{arg}` is not an argument of `pages`"));
    }
    for (path, text) in pages()? {
        create(root().join(&path).parent().unwrap_or(&root()))?;
        fs::write(root().join(&path), text).map_err(|why| format!("{path}: {why}"))?;
    }
    Ok(())
}

/// The text of each page, with its path.
fn pages() -> Result<Vec<(String, String)>, String> {
    let model = table::read(None)?;
    let standard = listed(&model, STANDARD).map_err(|why| format!("tools/xtask/array_api.txt: {why}"))?;
    let others = listed(&model, OTHERS).map_err(|why| format!("tools/xtask/parity.txt: {why}"))?;
    let of_table = [
        ("docs/ops.md", ops(&model)),
        ("docs/array-api.md", standard.page(OF_THE_STANDARD)),
        ("docs/parity.md", others.page(OF_OTHERS)),
        ("docs/interface.txt", interface(&model)?),
    ];
    let of_table = of_table.map(|(path, text)| (path.to_string(), text));
    Ok(of_table.into_iter().chain(cookbook::pages()?).collect())
}

/// A table of the ops of each group: summary, dtypes, accuracy, test cases, and the implementation on each backend.
fn ops(model: &Model) -> String {
    let backends: Vec<_> = model.backends.iter().filter(|b| !b.wrap).collect();
    let mut out = format!(
        "# The ops\n\nThis page lists the {} ops; the reference has a page for each op. The column `cases` has the \
         number of test cases. A case is one call, which the tests make in every dtype of the op on every backend; \
         the result must have the op's [accuracy](table.md). The column `ranks` has the op's class, which defines its \
         behaviour on arrays that are split over ranks: see [the guide to ranks](ranks.md). The function \
         `cuda::fft::fft` of a backend is in `backend-runtime/cuda/src/fft/`. On the CPU, functions that formulas use \
         too (most of `elementwise`, `reduction` and `casting`) are in `backend-runtime/core/src/numpyish/`, and all \
         others in `backend-runtime/numpyish/src/`. Functions over other ops, such as `fft::dct`, are in `src/`. The \
         page is generated from `ops.toml` by `cargo xtask pages`.\n",
        model.ops.len()
    );
    for group in &model.groups {
        let names: Vec<&str> = backends.iter().map(|b| b.ty.as_str()).collect();
        let _ = write!(out, "\n## {}\n\n{}\n\n", group.name, group.summary);
        let _ = writeln!(out, "| op | result | dtypes | accuracy | cases | {} | ranks |", names.join(" | "));
        let _ = writeln!(out, "|---|---|---|---|--:|{}---|", "---|".repeat(names.len()));
        for op in model.ops.iter().filter(|op| op.group == group.name) {
            let runs = backends.iter().map(|b| op.runs(b).map_or("-".into(), |runs| cell(&runs)));
            let accuracy = if op.accuracy.is_empty() { &group.accuracy } else { &op.accuracy };
            let (set, cases) = (&op.set, model.cases_of(op).len());
            let (runs, summary) = (runs.collect::<Vec<_>>().join(" | "), cell(&op.summary));
            let (name, ranks) = (&op.name, op.split());
            let _ = writeln!(out, "| `{name}` | {summary} | {set} | {accuracy} | {cases} | {runs} | {ranks} |");
        }
    }
    out
}

/// The public interface of the ops: one line for each op, for each set of dtypes and for each choice, and the names of
/// the prelude. Every change of the interface changes a line of this list.
fn interface(model: &Model) -> Result<String, String> {
    let mut out = String::from(
        "# The interface of the ops: name, parameters with defaults, result, dtypes, other names.\n\
         # Generated by `cargo xtask pages`; CONTRIBUTING.md says which changes a release may contain.\n\n[ops]\n",
    );
    for op in &model.ops {
        let params: Vec<&str> = op.params.iter().map(|p| p.text.as_str()).collect();
        let second = op.second_set.as_ref().map_or(String::new(), |set| format!(", U: {set}"));
        let _ = write!(out, "{}({}) -> {}; T: {}{second}", op.name, params.join(", "), op.result_text, op.set);
        let _ = writeln!(out, "{}{}", if op.alias.is_empty() { "" } else { "; also " }, op.alias.join(", "));
    }
    out += "\n[dtypes]\n";
    for set in &model.sets {
        let _ = writeln!(out, "{}: {}", set.name, set.dtypes.join(" "));
    }
    out += "\n[choices]\n";
    for choice in &model.choices {
        let _ = writeln!(out, "{}: {}", choice.rust, choice.names().join(" "));
    }
    out += "\n[prelude]\n";
    let prelude = root().join("src/prelude.rs");
    let text = fs::read_to_string(&prelude).map_err(|why| format!("{}: {why}", prelude.display()))?;
    let code: String = text.lines().filter(|line| !line.starts_with("//") && !line.starts_with('#')).collect();
    let mut names: Vec<&str> = code
        .split(';')
        .flat_map(|statement| {
            statement.trim().trim_start_matches("pub use crate::").trim_matches(['{', '}']).split(',')
        })
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .collect();
    names.sort_unstable();
    names.iter().for_each(|name| out += &format!("{name}\n"));
    Ok(out)
}

/// Escapes a text for a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// A list of names, rendered as one table per section. The code of a name says whether this library has it.
struct Listed {
    body: String,
    /// Number of names with each of the [`CODES`].
    counts: [usize; CODES.len()],
}

/// The codes in the third column of a list, with their meanings.
const CODES: [(&str, &str); 5] = [
    ("Y", "a row of this name"),
    ("A", "a row of another name"),
    ("P", "available in part"),
    ("R", "not an op, but available in Rust"),
    ("N", "missing"),
];

/// Renders a list, and looks up its names in the op table. Each line is `name`, `name : WHO` or `name : WHO = CODE
/// how`.
fn listed(model: &Model, list: &str) -> Result<Listed, String> {
    let (mut body, mut counts) = (String::new(), [0; CODES.len()]);
    for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(section) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            let _ = write!(body, "\n## {section}\n\n| name | | | how |\n|---|---|---|---|\n");
            continue;
        }
        let (named, said) = line.split_once(" = ").map_or((line, None), |(named, said)| (named, Some(said)));
        let (name, who) = named.split_once(" : ").unwrap_or((named, ""));
        let row = model.ops.iter().any(|op| op.name == name);
        let (code, how) = match said.map(|said| said.split_once(' ').unwrap_or((said, ""))) {
            Some(("N", _)) if row => return Err(format!("`{name}` is in the table")),
            Some(("Y", how)) if row => ("Y", how.to_string()),
            Some(("P", _)) if !row && who.is_empty() => {
                return Err(format!("`{name}` is there in part, but not in the table"));
            }
            Some((code @ ("P" | "R" | "N"), how)) => (code, how.to_string()),
            Some((code, _)) => return Err(format!("`{name}` has the code `{code}`")),
            None if row => ("Y", String::new()),
            None => match model.ops.iter().find(|op| has_alias(op, name)) {
                Some(op) => ("A", format!("`{}`", op.name)),
                None => ("N", String::new()),
            },
        };
        counts[CODES.iter().position(|(known, _)| *known == code).unwrap_or_default()] += 1;
        let files = how.split('`').skip(1).step_by(2).filter(|path| path.ends_with(".rs"));
        if let Some(missing) = files.into_iter().find(|path| !root().join(path).is_file()) {
            return Err(format!("`{name}`: there is no file `{missing}`"));
        }
        // a name with spaces is a description, not code
        let name = if name.contains(' ') { name.to_owned() } else { format!("`{name}`") };
        let _ = writeln!(body, "| {name} | {who} | {code} | {} |", cell(&how));
    }
    Ok(Listed { body, counts })
}

impl Listed {
    fn page(&self, introduction: &str) -> String {
        let mut out = format!("{introduction}\n\n| code | | |\n|---|---|--:|\n");
        for ((code, meaning), count) in CODES.iter().zip(self.counts) {
            let _ = writeln!(out, "| {code} | {meaning} | {count} |");
        }
        out + &self.body
    }
}

fn has_alias(op: &Op, name: &str) -> bool {
    op.alias.iter().any(|alias| alias == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_are_those_of_the_table() {
        for (path, text) in pages().unwrap() {
            let there = fs::read_to_string(root().join(&path)).unwrap_or_default();
            assert!(there == text, "{path} does not match its sources: run `cargo xtask pages`");
        }
    }

    #[test]
    fn what_is_said_of_a_name_has_to_be_true() {
        let model = table::read(None).unwrap();
        let of = |list: &str| listed(&model, list).map(|listed| (listed.body, listed.counts));
        let (body, counts) =
            of("# x\n[Some]\nadd\nsort = Y stable\nnothing_such : P\nclip = P a bound\nreverse : T = R `flip`")
                .unwrap();
        let rows = "| `add` |  | Y |  |\n| `sort` |  | Y | stable |\n| `nothing_such` | P | N |  |\n| `clip` |  | P | a bound |\n| `reverse` | T | R | `flip` |\n";
        assert!(body.ends_with(rows), "{body}");
        assert_eq!(counts, [2, 0, 1, 1, 1]);
        assert_eq!(of("add = N").unwrap_err(), "`add` is in the table");
        assert_eq!(of("nothing_such = Y").unwrap_err(), "`nothing_such` has the code `Y`");
        assert_eq!(of("nothing_such = P a part").unwrap_err(), "`nothing_such` is there in part, but not in the table");
        let no_file = of("a test : P = R it is in `src/lib.rs` and `src/no such.rs`").unwrap_err();
        assert_eq!(no_file, "`a test`: there is no file `src/no such.rs`");
        assert_eq!(of("add = X").unwrap_err(), "`add` has the code `X`");
    }
}
