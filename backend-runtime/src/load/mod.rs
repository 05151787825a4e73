//! Code that is loaded from disk: where it is looked for, who may have written it, and whether the file is complete.
//!
//! The Torch and Cuda backends load libraries and compiled code at run time. The rules for all of that are here, once;
//! `docs/security.md` explains them to users. [`places`] knows the folders to look in, [`check`] refuses what others may have
//! written, [`elf`] what is damaged, [`cache`] keeps what was compiled,
//! `private` has folders of the process, and [`examine`] is asked before a library is loaded.

pub mod cache;
pub mod check;
pub mod elf;
pub mod places;
#[cfg(any(feature = "torch", test))]
pub mod private;
pub mod trust;
#[cfg(unix)]
mod walk;

use std::path::{Path, PathBuf};
use trust::Trust;

/// Checks a library that is about to be loaded, and those that it is linked to where they are in `neighbours`: that nobody
/// else may have written them, and that the loader will not read past their ends, which would end the process.
///
/// The path without symbolic links, or why the library must not be loaded.
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

/// An error with its cause: loaders give their reason only there.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
