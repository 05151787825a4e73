//! Loads the MPI library of this process: it is found, examined and loaded once. It is never unloaded, because
//! libraries leave handles and threads behind.

use super::{
    abi::{self, Abi},
    find::{Candidate, candidates},
    functions::{self, Functions, Long},
    launcher::{Family, Launcher},
};
use crate::{Error, Result};
use libloading::Library;
use std::{mem::ManuallyDrop, path::Path};

/// A loaded MPI library, with its functions and the constants of its binary interface.
pub(super) struct Loaded {
    pub functions: Functions,
    /// The functions with 64-bit element counts, if the library has them.
    pub long: Option<Long>,
    pub abi: Abi,
    /// The first line of the library's version.
    pub version: String,
    /// The path of the file, or the name by which the loader found the library.
    pub path: String,
    family: Option<Family>,
    _library: ManuallyDrop<Library>,
}

impl Loaded {
    /// Returns whether the library and the launcher are known to belong to different families.
    pub fn is_foreign_to(&self, launcher: Launcher) -> bool {
        launcher.family.is_some_and(|family| self.family.is_some_and(|own| own != family))
    }
}

/// Loads an MPI library for this process, preferably one of the launcher's family. Returns `None` if no library is
/// found and none is needed.
pub(super) fn library(launcher: Option<Launcher>) -> Result<Option<Loaded>> {
    let named = std::env::var("WORLD_MPI").ok().filter(|named| !named.is_empty());
    let family = launcher.and_then(|launcher| launcher.family);
    let tried = if named.as_deref() == Some("none") { Vec::new() } else { candidates(family) };
    let (mut foreign, mut why_not) = (None, Vec::new());
    for candidate in tried {
        match open(&candidate) {
            Ok(loaded) if family.is_none() || named.is_some() || loaded.family == family => return Ok(Some(loaded)),
            // uses a library of another family if no better library is found; the size of its world is checked later
            Ok(loaded) => foreign = foreign.or(Some(loaded)),
            Err(Refused { path, why }) => why_not.push((path, why)),
        }
    }
    if foreign.is_some() {
        return Ok(foreign);
    }
    match (launcher.filter(|launcher| launcher.size > 1), named, why_not.pop()) {
        (Some(launcher), named, last) => {
            let told = named.filter(|named| named == "none").map(|_| "WORLD_MPI=none".to_owned());
            let tried = why_not.into_iter().chain(last).map(|(path, why)| format!("{path}: {why}"));
            Err(Error::NoLibrary { launcher: launcher.to_string(), tried: told.into_iter().chain(tried).collect() })
        }
        // a library that the user named must exist
        (None, Some(_), Some((path, why))) => Err(Error::Abi { path, why }),
        (None, Some(named), None) if named != "none" => {
            Err(Error::Abi { path: named, why: "there is no MPI library (WORLD_MPI)".into() })
        }
        _ => Ok(None),
    }
}

/// A library that was rejected, with the reason.
struct Refused {
    path: String,
    why: String,
}

fn open(candidate: &Candidate) -> std::result::Result<Loaded, Refused> {
    let path = match candidate {
        Candidate::File(file, _) => file.display().to_string(),
        Candidate::Name(name) => name.clone(),
    };
    let file = match candidate {
        Candidate::File(file, trust) => {
            backend_load::examine(file, &[], *trust).map_err(|why| Refused { path: path.clone(), why })?
        }
        Candidate::Name(name) => Path::new(name).to_path_buf(),
    };
    load(&file, path.clone()).map_err(|why| Refused { path, why })
}

fn load(file: &Path, path: String) -> std::result::Result<Loaded, String> {
    let library = ManuallyDrop::new(open_file(file).map_err(|why| with_causes(&why))?);
    let (functions, mut long) = functions::load(&library)
        .map_err(|name| format!("has no {name}: it is no MPI library, or one before MPI-3"))?;
    let version = functions::text(|text, length| {
        // SAFETY: the function may be called at any time, and the buffer is longer than the version text of any
        // library.
        unsafe { (functions.library_version)(text, length) }
    });
    let abi = Abi::of(&library, functions::abi_version(&library), &version)?;
    if short_counts().is_some() {
        long = None;
    }
    let family = abi::family(&version);
    let first = version.lines().next().unwrap_or_default();
    let first = first.split(',').next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(Loaded { functions, long, abi, version: first, path, family, _library: library })
}

/// Opens the library. The loader does not make its symbols visible to other libraries.
#[cfg(not(windows))]
fn open_file(file: &Path) -> std::result::Result<Library, libloading::Error> {
    // SAFETY: the initialisers of an MPI library have no preconditions.
    unsafe { Library::new(file) }
}

/// Opens the library. Its dependencies are searched in the library's folder, the program's folder and the system's
/// folders, but not in the working folder.
#[cfg(windows)]
fn open_file(file: &Path) -> std::result::Result<Library, libloading::Error> {
    use libloading::os::windows::{LOAD_LIBRARY_SEARCH_DEFAULT_DIRS, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR, Library};
    let own = if file.is_absolute() { LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR } else { 0 };
    // SAFETY: the initialisers of an MPI library have no preconditions.
    unsafe { Library::load_with_flags(file, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS | own) }.map(Into::into)
}

/// The text of an error and of its causes, because loaders mention the reason only in a cause.
fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Reads `WORLD_SHORT_COUNTS=n`, which the tests set. This variable disables the functions with 64-bit element counts,
/// as if the library were older than MPI-4, and limits each call to `n` elements.
pub(super) fn short_counts() -> Option<usize> {
    std::env::var("WORLD_SHORT_COUNTS").ok()?.trim().parse().ok().filter(|n| *n > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use backend_load::trust::Trust;

    #[test]
    #[cfg(target_os = "linux")]
    fn what_is_no_mpi_library_is_refused_with_the_reason() {
        let refused = |file: &Path| match open(&Candidate::File(file.to_path_buf(), Trust::Named)) {
            Err(Refused { path, why }) => {
                assert_eq!(path, file.display().to_string());
                why
            }
            Ok(_) => panic!("it was loaded"),
        };
        assert!(refused(Path::new("/missing/libmpi.so")).contains("/missing: "));
        let text = std::env::temp_dir().join(format!("backends-world-load-{}.so", std::process::id()));
        std::fs::write(&text, "GROUP ( libmpi.so.12 )").unwrap();
        assert!(refused(&text).contains("not an ELF file"));
        std::fs::remove_file(&text).unwrap();
        let other = Candidate::Name("libm.so.6".into());
        assert!(matches!(open(&other), Err(Refused { why, .. }) if why.contains("has no MPI_")));
        let missing = Candidate::Name("libmpi-that-nobody-has.so".into());
        assert!(matches!(open(&missing), Err(Refused { why, .. }) if why.contains("libmpi-that-nobody-has.so")));
    }
}
