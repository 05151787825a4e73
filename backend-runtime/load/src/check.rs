//! Checks which users can write a file. Code that another user could have written is neither loaded nor run.

use super::trust::Trust;
#[cfg(unix)]
use super::walk;
use std::path::{Path, PathBuf};

/// Follows `path` from the root folder, and checks every folder, symbolic link and file on the way. Returns the path
/// without links, or an error that names the refused part and the reason.
///
/// Some folders, such as `/tmp`, can be written by all users, but an entry can be replaced only by its owner. A path
/// may lead through such a folder to an entry of this user or of the administrator, but the path may not end at such a
/// folder. If the check succeeds, nobody else can change any part of the path, so a later use of the path finds the
/// file that was checked.
#[cfg(unix)]
pub fn path(path: &Path, trust: Trust) -> Result<PathBuf, String> {
    let mut walk = walk::Walk::new(trust)?;
    walk.follow(path)?;
    walk.here()?;
    Ok(walk.at)
}

/// Like [`path`], for a folder in which the caller will create an entry. This may be a folder that all users can write,
/// if each entry can be replaced only by its owner.
#[cfg(unix)]
pub fn way(folder: &Path, trust: Trust) -> Result<PathBuf, String> {
    let mut walk = walk::Walk::new(trust)?;
    walk.follow(folder)?;
    Ok(walk.at)
}

/// Returns the path without links. Checks nothing, because systems other than Unix already protect a user's folders
/// from other users.
#[cfg(not(unix))]
pub fn path(path: &Path, _: Trust) -> Result<PathBuf, String> {
    path.canonicalize().map_err(|why| format!("{}: {why}", path.display()))
}

/// Returns the path without links, like [`path`].
#[cfg(not(unix))]
pub fn way(folder: &Path, trust: Trust) -> Result<PathBuf, String> {
    self::path(folder, trust)
}

/// Checks a file that is already open, so that nobody can exchange the file between check and use.
#[cfg(unix)]
pub fn open_file(file: &std::fs::File) -> Result<(), String> {
    let metadata = file.metadata().map_err(|why| why.to_string())?;
    if !metadata.is_file() {
        return Err("is not a regular file".into());
    }
    let users = walk::Users::new()?;
    users.owner(&metadata)?;
    users.writers(&metadata, Trust::Found)
}

/// Checks that an open file is a regular file. As in [`path`], this system needs no other checks.
#[cfg(not(unix))]
pub fn open_file(file: &std::fs::File) -> Result<(), String> {
    let metadata = file.metadata().map_err(|why| why.to_string())?;
    if metadata.is_file() { Ok(()) } else { Err("is not a regular file".into()) }
}

#[cfg(all(test, unix))]
mod tests;
