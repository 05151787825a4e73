//! Rules for the files that may be loaded: none that another user can have written, and none that is shorter than its
//! headers say, which would end the process. docs/security.md has the reasons.

mod elf;
#[cfg(unix)]
mod owners;

use std::path::{Path, PathBuf};

/// The origin of the path of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// The user named it, or it is in a folder of the system's loader. Places that every user can write are rejected
    /// even so.
    Named,
    /// It was found by a search. Only this user and the administrator may be able to write it.
    Found,
}

/// Checks that a library may be loaded; returns its path without links, or the reason against it.
pub(super) fn check(library: &Path, trust: Trust) -> Result<PathBuf, String> {
    let path = place(library, trust)?;
    elf::check(&path).map_err(|why| format!("{}: {why}", path.display()))?;
    Ok(path)
}

#[cfg(unix)]
use owners::check as place;

/// On other systems the system's own rules protect a user's folders, and nothing is checked.
#[cfg(not(unix))]
fn place(library: &Path, _: Trust) -> Result<PathBuf, String> {
    library.canonicalize().map_err(|why| format!("{}: {why}", library.display()))
}
