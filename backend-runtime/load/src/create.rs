//! Creates folders and files to which only this user has access, and makes names for them that nobody can predict.

use std::{
    fs::{self, File, OpenOptions},
    hash::{BuildHasher, RandomState},
    io,
    path::Path,
};

/// Creates a folder to which only this user has access.
pub fn create_private(folder: &Path) -> io::Result<()> {
    #[cfg_attr(not(unix), allow(unused_mut, reason = "the mode is set on Unix only"))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Creates a file that only this user can read and write. It is an error if the name exists already, even as a symbolic
/// link.
pub fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Returns an unpredictable name for a temporary file or folder.
pub fn random_name() -> String {
    // the standard library seeds its hashes with the system's random numbers
    let random = || RandomState::new().hash_one(0);
    format!(".{:016x}{:016x}", random(), random())
}
