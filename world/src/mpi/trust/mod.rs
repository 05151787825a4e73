//! Which files may be loaded: none that another user can have written, and none that is shorter than its headers say, which would end the
//! process. A small rule for one library; docs/security.md has the reasons.

mod elf;
#[cfg(unix)]
mod owners;

use std::path::{Path, PathBuf};

/// How a path came to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// The user named it, or it is in a folder of the system's loader. A place that every user can write is refused all the same.
    Named,
    /// It was found. Only this user and the administrator may be able to write it.
    Found,
}

/// Whether a library may be loaded; its path without links, or why not.
pub(super) fn check(library: &Path, trust: Trust) -> Result<PathBuf, String> {
    let path = place(library, trust)?;
    elf::check(&path).map_err(|why| format!("{}: {why}", path.display()))?;
    Ok(path)
}

#[cfg(unix)]
use owners::check as place;

/// On other systems the folders of a user are closed to others by the system's own rules, which are not checked.
#[cfg(not(unix))]
fn place(library: &Path, _: Trust) -> Result<PathBuf, String> {
    library.canonicalize().map_err(|why| format!("{}: {why}", library.display()))
}
