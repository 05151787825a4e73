//! Folders for files that only this process uses.

use super::{
    check,
    create::{create_private, random_name},
    trust::Trust,
};
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// A folder with a random name that only this process uses. It is removed when this value is dropped.
#[derive(Debug)]
pub struct Private(PathBuf);

impl Private {
    /// Creates the folder in the system's folder of temporary files.
    pub fn new() -> Result<Private, String> {
        let temporary = env::temp_dir();
        let parent =
            check::way(&temporary, Trust::Found).map_err(|why| format!("no folder for temporary files: {why}"))?;
        Private::new_in(&parent)
    }

    /// Creates a folder in `parent`. No other user may be able to replace the entries of `parent`.
    pub fn new_in(parent: &Path) -> Result<Private, String> {
        let folder = parent.join(random_name());
        create_private(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
        Ok(Private(folder))
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
