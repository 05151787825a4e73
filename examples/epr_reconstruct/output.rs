//! Results to disk: all of them or none.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// A file to be written.
pub struct File {
    pub name: &'static str,
    pub bytes: Vec<u8>,
}

fn explain(path: &Path, e: &io::Error) -> io::Error {
    io::Error::new(e.kind(), format!("{}: {e}", path.display()))
}

/// Whether there can be a folder of this name. Known before hours of work, not after.
pub fn check(folder: &Path) -> io::Result<()> {
    match fs::metadata(folder) {
        Ok(found) if !found.is_dir() => Err(explain(folder, &io::ErrorKind::NotADirectory.into())),
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(explain(folder, &e)),
        _ => Ok(()),
    }
}

/// Writes the files into the folder, made if need be: under other names first, so that a full disk leaves no half result.
pub fn write(folder: &Path, files: &[File]) -> io::Result<()> {
    let existed = folder.exists();
    fs::create_dir_all(folder).map_err(|e| explain(folder, &e))?;
    let waiting = |file: &File| folder.join(format!(".{}.{}", file.name, std::process::id()));
    let written = files.iter().try_for_each(|file| put(&waiting(file), &folder.join(file.name), file));
    let renamed = written.and_then(|()| {
        files.iter().try_for_each(|file| {
            let to: PathBuf = folder.join(file.name);
            fs::rename(waiting(file), &to).map_err(|e| explain(&to, &e))
        })
    });
    if renamed.is_err() {
        for file in files {
            let _ = fs::remove_file(waiting(file));
        }
        if !existed {
            let _ = fs::remove_dir(folder);
        }
    }
    renamed
}

fn put(waiting: &Path, target: &Path, file: &File) -> io::Result<()> {
    if target.is_dir() {
        return Err(explain(target, &io::ErrorKind::IsADirectory.into()));
    }
    fs::write(waiting, &file.bytes).map_err(|e| explain(waiting, &e))
}
