//! Results to disk: all of them or none.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// A file to be written.
pub struct File {
    /// Its name in the folder.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// The folder of the results. Those that had to be made and are empty in the end are removed again.
pub struct Output {
    folder: PathBuf,
    /// The folders made, innermost first.
    made: Vec<PathBuf>,
}

fn explain(path: &Path, e: &io::Error) -> io::Error {
    io::Error::new(e.kind(), format!("cannot write to {}: {e}", path.display()))
}

impl Output {
    /// Makes the folder if need be and tries to write into it, which is to be known before hours of work, not after.
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

    /// Writes the files: under other names first, so that a full disk leaves no half result.
    pub fn write(&self, files: &[File]) -> io::Result<()> {
        let to = |file: &File| self.folder.join(&file.name);
        let wait =
            |file: &File| Waiting::write(&self.folder, &file.name, &file.bytes).map_err(|e| explain(&to(file), &e));
        let waiting = files.iter().map(wait).collect::<io::Result<Vec<_>>>()?;
        waiting
            .iter()
            .zip(files)
            .try_for_each(|(written, file)| fs::rename(&written.0, to(file)).map_err(|e| explain(&to(file), &e)))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        for folder in &self.made {
            // one that is not empty stays
            let _ = fs::remove_dir(folder);
        }
    }
}

/// A file under a name of its own, removed if it still has that in the end.
struct Waiting(PathBuf);

impl Waiting {
    /// A new file: never one that is there already, nor what a link leads to.
    fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<Waiting> {
        let process = std::process::id();
        let mut number = 0;
        loop {
            let path = folder.join(format!(".{name}.{process}.{number}"));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    let waiting = Waiting(path);
                    file.write_all(bytes)?;
                    return Ok(waiting);
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
                Err(e) => return Err(e),
            }
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
