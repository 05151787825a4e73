//! Commands that run Python and pip, and Python environments with the packages that a task needs.

use crate::run::{Outcome, failed, root, run};
use std::{fs, path::PathBuf, process::Command};

/// Python packages of the libraries that most comparisons need, installed in a separate environment. PyTorch's package
/// is several GB in size.
pub const PEERS: [&str; 5] = ["numpy==2.4.6", "scipy==1.17.1", "numexpr==2.14.2", "torch==2.11.0", "setuptools"];

/// The command that runs Python 3.
pub fn python() -> Command {
    Command::new(if cfg!(windows) { "python" } else { "python3" })
}

/// A command that runs `pip` without questions and without dependencies of packages.
pub fn pip(command: &str) -> Command {
    let mut pip = python();
    pip.args(["-m", "pip", command, "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps"]);
    pip
}

/// The path of Python in an environment with these packages. The environment is a folder in `target`, which is created
/// if it is missing or has other packages.
pub fn environment(name: &str, packages: &[&str]) -> Outcome<PathBuf> {
    let folder = root().join("target").join(name);
    let inside = |name: &str| folder.join(if cfg!(windows) { "Scripts" } else { "bin" }).join(name);
    let (own, mark, wanted) = (inside("python"), folder.join(".packages"), packages.join("\n"));
    if fs::read_to_string(&mark).is_ok_and(|there| there == wanted) {
        return Ok(own);
    }
    println!("making {} with {}", folder.display(), packages.join(", "));
    run(python().args(["-c", "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or newer is needed')"]))?;
    run(python().args(["-m", "venv", "--clear"]).arg(&folder))?;
    run(Command::new(&own).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages))?;
    fs::write(&mark, wanted).map_err(|why| failed(&mark, &why))?;
    Ok(own)
}
