//! Rules for the library files that may be loaded. A file is rejected if another user can have written it. It is also
//! rejected if it is shorter than its headers declare, because loading it would end the process. docs/security.md has
//! the reasons.

mod elf;
#[cfg(unix)]
mod owners;

use std::path::{Path, PathBuf};

/// The origin of the path of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// The user named the path, or it is in a folder of the system's loader. It is still rejected if every user can
    /// write it.
    Named,
    /// A search found the path. Only this user and the administrator may be able to write it.
    Found,
}

/// Checks that a library may be loaded. Returns its path without links, or the reason why it is rejected.
pub(super) fn check(library: &Path, trust: Trust) -> Result<PathBuf, String> {
    let path = place(library, trust)?;
    elf::check(&path).map_err(|why| format!("{}: {why}", path.display()))?;
    Ok(path)
}

#[cfg(unix)]
use owners::check as place;

/// Returns the path with all links resolved, without a check: on non-Unix systems, the system's rules protect the
/// folders of a user.
#[cfg(not(unix))]
fn place(library: &Path, _: Trust) -> Result<PathBuf, String> {
    library.canonicalize().map_err(|why| format!("{}: {why}", library.display()))
}
