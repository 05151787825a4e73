//! NumPy's results for the conformance tests, by `golden.py` in an environment of its own.

use crate::run::{Outcome, python, root, run};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// What computes the references. Another version may differ in the last bits.
const PACKAGES: [&str; 2] = ["numpy==2.3.5", "scipy==1.16.3"];

/// `golden [--table T --out D]`
pub fn task(args: &[String]) -> Outcome {
    let python = environment()?;
    let script = root().join("xtask").join("golden.py");
    let write = |args: &[String]| run(Command::new(&python).arg(&script).args(args));
    write(args)?;
    if args.is_empty() {
        let table = root().join("demo-ops").join("my_ops.toml");
        write(&["--table".into(), table.display().to_string()])?;
    }
    Ok(())
}

/// The Python of the environment, which is made first if it is not there.
fn environment() -> Outcome<PathBuf> {
    let folder = root().join("target").join("golden-venv");
    let inside = |name: &str| folder.join(if cfg!(windows) { "Scripts" } else { "bin" }).join(name);
    let (own, mark) = (inside("python"), folder.join(".packages"));
    if fs::read_to_string(&mark).is_ok_and(|there| there == PACKAGES.join("\n")) {
        return Ok(own);
    }
    println!("making {} with {}", folder.display(), PACKAGES.join(", "));
    run(python().args(["-c", "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or newer is needed')"]))?;
    run(python().args(["-m", "venv", "--clear"]).arg(&folder))?;
    run(Command::new(&own).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(PACKAGES))?;
    write(&mark, &PACKAGES.join("\n"))?;
    Ok(own)
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|why| format!("{}: {why}", path.display()))
}
