//! Writes the result files of a program to disk, so that either all of them exist or none.

use std::{
    error::Error,
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// A file to write.
pub struct File {
    /// The name of the file in the folder.
    pub name: String,
    /// The contents of the file.
    pub bytes: Vec<u8>,
}

/// The files to write; only one rank of a program writes them.
pub struct Files {
    files: Vec<File>,
    are_wanted: bool,
}

impl Files {
    /// Creates an empty list of files. If `are_wanted` is false, files that are added later are ignored.
    pub fn new(are_wanted: bool) -> Files {
        Files { files: Vec::new(), are_wanted }
    }

    /// Adds a file. Its bytes are computed only if files are wanted.
    pub fn add(
        &mut self,
        name: impl Into<String>,
        bytes: impl FnOnce() -> Result<Vec<u8>, Box<dyn Error>>,
    ) -> Result<(), Box<dyn Error>> {
        if self.are_wanted {
            self.files.push(File { name: name.into(), bytes: bytes()? });
        }
        Ok(())
    }

    /// The files added so far.
    pub fn as_slice(&self) -> &[File] {
        &self.files
    }
}

/// Writes a file under a temporary name and then renames it, so that the file at `path` is complete at any time.
pub fn replace(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let (folder, name) = folder_and_name(path)?;
    let waiting = Waiting::begin(folder, &name).map_err(|e| explain(path, &e))?.0;
    write(&waiting.0)?;
    fs::rename(&waiting.0, path).map_err(|e| explain(path, &e))
}

/// Returns an error if [`replace`] would fail. Programs call this function before hours of work.
pub fn try_to_replace(path: &Path) -> io::Result<()> {
    let (folder, name) = folder_and_name(path)?;
    if path.is_dir() {
        return Err(explain(path, &io::ErrorKind::IsADirectory.into()));
    }
    Waiting::begin(folder, &name).map(drop).map_err(|e| explain(path, &e))
}

fn folder_and_name(path: &Path) -> io::Result<(&Path, String)> {
    let name = path.file_name().ok_or_else(|| explain(path, &io::ErrorKind::InvalidFilename.into()))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((folder, name.to_string_lossy().into_owned()))
}

/// The folder for the results. If this folder did not exist, it and its missing parents are created. When the value is
/// dropped, the created folders are removed if they are still empty.
pub struct Output {
    folder: PathBuf,
    /// The created folders, innermost first.
    made: Vec<PathBuf>,
}

fn explain(path: &Path, e: &io::Error) -> io::Error {
    io::Error::new(e.kind(), format!("cannot write to {}: {e}", path.display()))
}

impl Output {
    /// Creates the folder if necessary and tries to write into it, so that an error is reported before hours of work.
    pub fn prepare(folder: &Path, names: &[String]) -> io::Result<Output> {
        let absent = folder.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists());
        let made = absent.map(Path::to_owned).collect();
        let output = Output { folder: folder.to_owned(), made };
        fs::create_dir_all(folder).map_err(|e| explain(folder, &e))?;
        if let Some(target) = names.iter().map(|name| folder.join(name)).find(|target| target.is_dir()) {
            return Err(explain(&target, &io::ErrorKind::IsADirectory.into()));
        }
        let trial = Waiting::write(folder, "trial", b"whether this folder can be written to");
        trial.map_err(|e| explain(folder, &e))?;
        Ok(output)
    }

    /// Starts a file that is too large to be kept in memory. The file has a temporary name until [`Output::write`] is
    /// called.
    pub fn begin(&self, name: &str) -> io::Result<(fs::File, Begun)> {
        let (waiting, file) = Waiting::begin(&self.folder, name).map_err(|e| explain(&self.folder.join(name), &e))?;
        Ok((file, Begun { name: name.to_owned(), waiting }))
    }

    /// Writes the files under temporary names, so that a full disk leaves no partial results. Then renames these files
    /// and the files that `begin` started.
    pub fn write(&self, files: &[File], begun: Vec<Begun>) -> io::Result<()> {
        let wait = |file: &File| {
            let waiting = Waiting::write(&self.folder, &file.name, &file.bytes);
            let waiting = waiting.map_err(|e| explain(&self.folder.join(&file.name), &e))?;
            Ok(Begun { name: file.name.clone(), waiting })
        };
        let written = files.iter().map(wait).collect::<io::Result<Vec<_>>>()?;
        begun.iter().chain(&written).try_for_each(|file| {
            let target = self.folder.join(&file.name);
            fs::rename(&file.waiting.0, &target).map_err(|e| explain(&target, &e))
        })
    }
}

/// A file that has a temporary name until all files are written. If the value is dropped earlier, the file is removed.
pub struct Begun {
    name: String,
    waiting: Waiting,
}

impl Begun {
    /// The temporary path of the file.
    pub fn path(&self) -> &Path {
        &self.waiting.0
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        for folder in &self.made {
            // folders that are not empty cannot be removed, which is intended
            let _ = fs::remove_dir(folder);
        }
    }
}

/// A file with a temporary name. When the value is dropped, the file is removed if it still has this name.
struct Waiting(PathBuf);

impl Waiting {
    /// Creates a new file under a temporary name. An existing file or the target of a link is never opened.
    fn begin(folder: &Path, name: &str) -> io::Result<(Waiting, fs::File)> {
        let process = std::process::id();
        let mut number = 0;
        loop {
            let path = folder.join(format!(".{name}.{process}.{number}"));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((Waiting(path), file)),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
                Err(e) => return Err(e),
            }
        }
    }

    fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<Waiting> {
        let (waiting, mut file) = Waiting::begin(folder, name)?;
        file.write_all(bytes)?;
        Ok(waiting)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
