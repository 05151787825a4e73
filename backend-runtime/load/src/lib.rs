//! Checks of code that is loaded from disk: which folders are searched, which users can write to a file, and whether
//! files are complete.
//!
//! The Torch and Cuda backends load libraries and compiled code at run time. All rules for loading are in this crate;
//! `docs/security.md` explains them to users. [`places`] finds the folders to search, [`check`] refuses files that
//! other users may have written, [`elf`] refuses damaged libraries, [`cache`] stores compiled code, `create` creates
//! folders and files for this user alone, `private` makes folders for this process alone, and [`examine`] checks a
//! library before it is loaded.

pub mod cache;
pub mod check;
mod create;
pub mod elf;
pub mod places;
pub mod private;
pub mod trust;
#[cfg(unix)]
mod walk;

use std::path::{Path, PathBuf};
use trust::Trust;

/// Checks a library before it is loaded. Also checks the libraries to which it is linked, directly or through other
/// libraries, if they are in the folders `neighbours`; libraries in other folders are not checked.
///
/// Each of these files must pass two checks. Only users that `trust` accepts may be able to write to the file or to
/// replace it ([`check::path`]). The file must be as long as the headers in it state ([`elf::check`]), because the
/// process would end if the loader read past the end of an incomplete file.
///
/// Returns the path of the library without symbolic links, or the reason why the library must not be loaded.
pub fn examine(library: &Path, neighbours: &[PathBuf], trust: Trust) -> Result<PathBuf, String> {
    let (mut checked, mut waiting) = (Vec::new(), vec![library.to_path_buf()]);
    while let Some(next) = waiting.pop() {
        let path = check::path(&next, trust)?;
        if checked.contains(&path) {
            continue;
        }
        let needed = elf::check(&path).map_err(|why| format!("{}: {why}", path.display()))?;
        checked.push(path);
        let of = |name: &String| neighbours.iter().map(|folder| folder.join(name)).find(|path| path.is_file());
        waiting.extend(needed.iter().filter_map(of));
    }
    Ok(checked.swap_remove(0))
}

/// Returns the text of an error and of its causes, because the reason why loading failed may be only in a cause.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
