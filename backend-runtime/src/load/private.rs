//! Folders for files of this process only.

use super::{
    cache::{create_private, random_name},
    check,
    trust::Trust,
};
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// A folder that only this process uses, with a random name; it is removed when this value is dropped.
#[derive(Debug)]
pub struct Private(PathBuf);

impl Private {
    /// Creates a folder in the folder of temporary files.
    pub fn new() -> Result<Private, String> {
        let temporary = env::temp_dir();
        let parent =
            check::way(&temporary, Trust::Found).map_err(|why| format!("no folder for temporary files: {why}"))?;
        Private::new_in(&parent)
    }

    /// Creates a folder in `parent`, where no other user can replace it.
    pub fn new_in(parent: &Path) -> Result<Private, String> {
        let folder = parent.join(random_name());
        create_private(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
        Ok(Private(folder))
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
