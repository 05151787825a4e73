//! Generates the pages of the cookbook from its programs: a page for each program, and a list of all of them.

use crate::run::root;
use std::fs;

/// The folder of the programs.
const PROGRAMS: &str = "examples/cookbook/src";

const LIST: &str = "# Cookbook\n\nEach page shows a short program for a common task, and the same program in Python, with \
    NumPy, SciPy, FINUFFT or PyTorch. The Rust functions run on every backend, in every dtype of their bounds. A test \
    compares the results of both programs on every backend.\n\n\
    `cargo run --release -p cookbook` runs all programs and draws their pictures into `out/`; `cargo run --release -p \
    cookbook -- deconvolution` runs one of them, and `--backend` chooses the library. The inputs are in \
    [examples/cookbook/data](../examples/cookbook/data).\n\n| program | task |\n|---|---|\n";

/// A program of the cookbook, in both languages.
struct Program {
    name: String,
    title: String,
    task: String,
    rust: String,
    python: String,
}

/// The text of each page, with its path.
pub fn pages() -> Result<Vec<(String, String)>, String> {
    let programs = programs()?;
    let rows = programs.iter().map(|p| format!("| [{}](cookbook/{}.md) | {} |\n", p.title, p.name, p.task));
    let list = LIST.to_owned() + &rows.collect::<String>();
    let pages = programs.iter().map(|p| (format!("docs/cookbook/{}.md", p.name), p.page()));
    Ok([("docs/cookbook.md".into(), list)].into_iter().chain(pages).collect())
}

/// All programs, sorted by name: the Rust files that have a Python file beside them.
fn programs() -> Result<Vec<Program>, String> {
    let folder = root().join(PROGRAMS);
    let read = |path: &std::path::Path| fs::read_to_string(path).map_err(|why| format!("{}: {why}", path.display()));
    let files = fs::read_dir(&folder).map_err(|why| format!("{PROGRAMS}: {why}"))?;
    let mut programs = Vec::new();
    for file in files.flatten() {
        let path = file.path();
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { continue };
        if path.extension().is_some_and(|extension| extension == "py") {
            let (rust, python) = (read(&path.with_extension("rs"))?, read(&path)?);
            programs.push(Program::new(name, &rust, &python)?);
        }
    }
    programs.sort_by(|x, y| x.name.cmp(&y.name));
    Ok(programs)
}

impl Program {
    /// A program whose Rust file begins with its title and its task, as documentation of the module.
    fn new(name: &str, rust: &str, python: &str) -> Result<Program, String> {
        let head: Vec<&str> = rust.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
        let [title, "", task @ ..] = &head[..] else {
            return Err(format!("{PROGRAMS}/{name}.rs: its documentation must be a title, an empty line and the task"));
        };
        let code = rust.lines().skip(head.len()).collect::<Vec<_>>().join("\n");
        let python = python.lines().skip_while(|line| line.starts_with("\"\"\"")).collect::<Vec<_>>().join("\n");
        Ok(Program {
            name: name.into(),
            title: title.trim_end_matches('.').into(),
            task: task.join(" "),
            rust: code.trim().into(),
            python: python.trim().into(),
        })
    }

    fn page(&self) -> String {
        let Program { name, title, task, rust, python } = self;
        format!(
            "# {title}\n\n{task}\n\n![{title}](../pictures/cookbook/{name}.png)\n\n`cargo run --release -p cookbook -- \
             {name}` draws this picture.\n\n```rust\n{rust}\n```\n\nThe same program in Python:\n\n\
             ```python\n{python}\n```\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_the_title_the_task_and_both_programs() {
        let rust = "//! Means.\n//!\n//! Computes\n//! a mean.\n\nfn mean() {}\n";
        let program = Program::new("means", rust, "\"\"\"Means.\"\"\"\nimport numpy\n").unwrap();
        let page = program.page();
        assert!(page.starts_with("# Means\n\nComputes a mean.\n"), "{page}");
        assert!(page.contains("```rust\nfn mean() {}\n```"), "{page}");
        assert!(page.contains("```python\nimport numpy\n```"), "{page}");
        assert!(Program::new("means", "fn mean() {}", "").is_err());
    }
}
