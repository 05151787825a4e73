//! Writes the sources and names of all requested kernels to a folder, so that these kernels can be compiled ahead of
//! time for a similar machine.
//!
//! The environment variable `BACKENDS_CUDA_KERNELS` names the folder. For each requested kernel, the folder has three
//! files: the source text of the kernel (`TEXT.cu`, which several kernels may share), the name of the kernel
//! (`TEXT-NAME.asked`), and, if the kernel was not in the cache, an empty file (`TEXT-NAME.compiled`). `TEXT` and
//! `NAME` are hashes of the source text and of the kernel's name. Several processes may share the folder.

use backend_core::{Error, Result};
use backend_load::cache::{hash, write};
use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

fn folder() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let named = || env::var_os("BACKENDS_CUDA_KERNELS").filter(|name| !name.is_empty()).map(PathBuf::from);
    FOLDER.get_or_init(named).as_deref()
}

fn key(text: &str) -> String {
    format!("{:032x}", hash(&[text.as_bytes()]))
}

/// Notes that a kernel was requested. If the folder cannot be written, only the note is lost, and the kernel is still
/// compiled.
pub(super) fn note(text: &str, expression: &str) {
    if let Some(folder) = folder() {
        note_in(folder, text, expression);
    }
}

/// Notes that a requested kernel was not in the cache.
pub(super) fn note_compiled(text: &str, expression: &str) {
    if let Some(folder) = folder() {
        let _ = write(&folder.join(format!("{}-{}.compiled", key(text), key(expression))), b"");
    }
}

fn note_in(folder: &Path, text: &str, expression: &str) {
    let _ = fs::create_dir_all(folder);
    let text_key = key(text);
    let program = folder.join(format!("{text_key}.cu"));
    if !program.exists() {
        let _ = write(&program, text.as_bytes());
    }
    let _ = write(&folder.join(format!("{text_key}-{}.asked", key(expression))), expression.as_bytes());
}

/// Reads the source texts and names of all kernels noted in a folder, in an order that does not depend on the file
/// system.
pub fn read(folder: &Path) -> Result<Vec<(String, String)>> {
    let failed = |what: &Path, why: std::io::Error| {
        Error::library("compile", "cuda", format!("{}: {why}", what.display())).caused_by(why)
    };
    let text_of = |path: &Path| fs::read_to_string(path).map_err(|why| failed(path, why));
    let mut names: Vec<PathBuf> = fs::read_dir(folder)
        .map_err(|why| failed(folder, why))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "asked"))
        .collect();
    names.sort();
    let kernel = |path: &PathBuf| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let program = stem.split('-').next().unwrap_or_default();
        Ok((text_of(&folder.join(format!("{program}.cu")))?, text_of(path)?))
    };
    names.iter().map(kernel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use backend_load::private::Private;

    #[test]
    fn what_is_noted_is_read_once() {
        let folder = Private::new().unwrap();
        for (text, name) in [("a", "k<float>"), ("b", "k<float>"), ("a", "k<int>"), ("a", "k<float>")] {
            note_in(folder.path(), text, name);
        }
        let mut kernels = read(folder.path()).unwrap();
        kernels.sort();
        let expected = [("a", "k<float>"), ("a", "k<int>"), ("b", "k<float>")];
        assert_eq!(kernels, expected.map(|(text, name)| (text.to_string(), name.to_string())));
    }

    #[test]
    fn what_is_not_whole_is_an_error_that_names_the_file() {
        let folder = Private::new().unwrap();
        assert!(read(&folder.path().join("none")).unwrap_err().to_string().contains("none"));
        note_in(folder.path(), "a", "k");
        fs::remove_file(folder.path().join(format!("{}.cu", key("a")))).unwrap();
        assert!(read(folder.path()).unwrap_err().to_string().contains(&key("a")));
    }
}
