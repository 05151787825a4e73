//! Computes NumPy's results for the conformance tests, by running `golden.py` in a separate Python environment.

use crate::{
    python::{PEERS, environment},
    run::{Outcome, root, run, write},
    table::{json, read},
};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// The packages that compute the reference results. Other versions may give other last bits.
pub const PACKAGES: [&str; 2] = ["numpy==2.3.5", "scipy==1.16.3"];

/// The task `golden [ROW] [--table T --out D]`: computes NumPy's results, or prints those of one row (op).
pub fn task(args: &[String]) -> Outcome {
    let python = environment("golden-venv", &PACKAGES)?;
    let (mut table, mut out, mut row) = (None, None, None);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let mut value = || rest.next().map(PathBuf::from).ok_or(format!("`{arg}` names a file or folder"));
        match arg.as_str() {
            "--table" => table = Some(value()?),
            "--out" => out = Some(value()?),
            name if !name.starts_with('-') && row.is_none() => row = Some(name.to_string()),
            other => return Err(format!("`{other}` is not an argument of `golden`")),
        }
    }
    compute(&python, table.as_deref(), out.as_deref(), row.as_deref())?;
    if args.is_empty() {
        compute(&python, Some(&root().join("examples/demo-ops/my_ops.toml")), None, None)?;
        let (script, data) = (root().join("tools/xtask/index_cases.py"), root().join("tests/data/indexing.txt"));
        run(Command::new(&python).arg(script).arg(data))?;
    }
    Ok(())
}

/// The task `golden-torch`: runs `golden_torch.py`, which computes gradients by PyTorch, in the Python environment of
/// `peers`.
pub fn torch(args: &[String]) -> Outcome {
    if let Some(other) = args.first() {
        return Err(format!("`{other}` is not an argument of `golden-torch`"));
    }
    let python = environment("peers-venv", &PEERS)?;
    let data = root().join("target").join("table.json");
    write(&data, &json(&read(None)?).to_string())?;
    let (script, out) = (root().join("tools/xtask/golden_torch.py"), root().join("crates/golden/data/autograd.txt"));
    run(Command::new(&python).arg(script).arg(data).arg(root().join("ops.toml")).arg(out))
}

/// Computes the reference results of a table, or prints the results of one row.
fn compute(python: &Path, table: Option<&Path>, out: Option<&Path>, row: Option<&str>) -> Outcome {
    let model = read(table)?;
    let data = root().join("target").join("table.json");
    write(&data, &json(&model).to_string())?;
    let beside = |table: &Path| table.parent().unwrap_or(Path::new("")).join("tests").join("golden");
    let out = match (out, table) {
        (Some(out), _) => out.to_path_buf(),
        (None, Some(table)) => beside(table),
        (None, None) => root().join("crates/golden/data"),
    };
    let mut command = Command::new(python);
    command.arg(root().join("tools/xtask/golden.py")).arg(&data).arg(&out);
    if let Some(table) = table {
        command.arg("--name").arg(table.file_stem().unwrap_or_default());
    }
    if let Some(row) = row {
        command.args(["--row", row]);
    }
    run(&mut command)
}
