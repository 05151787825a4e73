//! The search for an MPI library: the candidate files, in the order in which they are tried.

use super::launcher::Family;
use backend_load::trust::Trust;
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// The file names that MPI libraries may have. Names of libraries with the standard's binary interface come first,
/// then names of the launcher's probable family. The names only determine the order in which files are tried.
fn names(family: Option<Family>) -> Vec<&'static str> {
    let (standard, mpich, open_mpi, any): (&[&str], &[&str], &[&str], &[&str]) = if cfg!(windows) {
        (&["mpi_abi.dll", "libmpi_abi.dll"], &["impi.dll"], &[], &[])
    } else if cfg!(target_vendor = "apple") {
        (
            &["libmpi_abi.1.dylib", "libmpi_abi.dylib"],
            &["libmpi.12.dylib", "libmpich.12.dylib"],
            &["libmpi.40.dylib"],
            &["libmpi.dylib"],
        )
    } else {
        (&["libmpi_abi.so.1", "libmpi_abi.so"], &["libmpi.so.12", "libmpich.so.12"], &["libmpi.so.40"], &["libmpi.so"])
    };
    let order = if family == Some(Family::OpenMpi) {
        [standard, open_mpi, mpich, any]
    } else {
        [standard, mpich, open_mpi, any]
    };
    order.concat()
}

/// A possible MPI library, which can be loaded and examined.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Candidate {
    /// A file, with the origin of its path. Only a file that `WORLD_MPI` names may be missing.
    File(PathBuf, Trust),
    /// A name without a folder. The system's loader searches for a library of this name.
    Name(String),
}

/// The candidates, in the order in which they are tried. If `WORLD_MPI` is set (to a file, a folder, or a name for the
/// system's loader), no other folders are searched.
pub(super) fn candidates(family: Option<Family>) -> Vec<Candidate> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(named) = set("WORLD_MPI") {
        let is_name = named.parent() == Some(Path::new("")) && !named.exists();
        return match named.to_str() {
            Some(name) if is_name => by_name(name),
            _ if named.is_dir() => in_folder(&named, Trust::Named, family),
            // a missing file is reported when it is tried
            _ => vec![Candidate::File(named, Trust::Named)],
        };
    }
    let mut found = Vec::new();
    for (home, trust) in [
        ("MPI_HOME", Trust::Named),
        ("I_MPI_ROOT", Trust::Named),
        ("OPAL_PREFIX", Trust::Named),
        ("VIRTUAL_ENV", Trust::Found),
        ("CONDA_PREFIX", Trust::Found),
    ] {
        let home = set(home).filter(|home| home.is_absolute());
        let folders =
            home.iter().flat_map(|home| ["lib", "lib64", "lib/release", "bin"].map(|folder| home.join(folder)));
        folders.for_each(|folder| found.extend(in_folder(&folder, trust, family)));
    }
    for folder in beside_launchers(&env::var_os("PATH").unwrap_or_default()) {
        found.extend(in_folder(&folder, Trust::Found, family));
    }
    names(family).iter().for_each(|name| found.extend(by_name(name)));
    found
}

fn in_folder(folder: &Path, trust: Trust, family: Option<Family>) -> Vec<Candidate> {
    let files = names(family).into_iter().map(|name| folder.join(name)).filter(|file| file.is_file());
    files.map(|file| Candidate::File(file, trust)).collect()
}

/// The library folders next to each `mpiexec` on the search path, and next to the link's target if `mpiexec` is a link.
/// The libraries in these folders belong to the same family as the launcher. Relative paths are skipped.
fn beside_launchers(path: &std::ffi::OsStr) -> Vec<PathBuf> {
    let launcher = if cfg!(windows) { "mpiexec.exe" } else { "mpiexec" };
    let launchers = env::split_paths(path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(launcher));
    let mut folders = Vec::new();
    for launcher in launchers.filter(|launcher| launcher.is_file()) {
        for launcher in [launcher.canonicalize().ok(), Some(launcher)].into_iter().flatten() {
            let Some(home) = launcher.parent().and_then(Path::parent) else { continue };
            let own = ["lib", "lib64", "bin"].map(|folder| home.join(folder));
            folders.extend(own.into_iter().filter(|folder| !folders.contains(folder)).collect::<Vec<_>>());
        }
    }
    folders
}

/// The candidates for a library name: the files with this name in the known folders of the loader, which can be
/// examined before loading. If no such file exists, the candidate is the name itself, because the loader may know
/// further folders.
fn by_name(name: &str) -> Vec<Candidate> {
    let files = loaders_folders().into_iter().map(|folder| folder.join(name)).filter(|path| path.is_file());
    let files: Vec<Candidate> = files.map(|file| Candidate::File(file, Trust::Named)).collect();
    if files.is_empty() { vec![Candidate::Name(name.into())] } else { files }
}

/// The documented folders in which the system's loader searches a library name: `LD_LIBRARY_PATH`, the folders of its
/// configuration, and the standard folders.
fn loaders_folders() -> Vec<PathBuf> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let set = env::var_os("LD_LIBRARY_PATH").filter(|path| !path.is_empty());
    let mut folders: Vec<PathBuf> =
        set.iter().flat_map(env::split_paths).filter(|folder| folder.is_absolute()).collect();
    let files = fs::read_dir("/etc/ld.so.conf.d").into_iter().flatten().flatten().map(|entry| entry.path());
    let texts = files.chain(["/etc/ld.so.conf".into()]).filter_map(|file| fs::read_to_string(file).ok());
    for text in texts {
        folders.extend(text.lines().map(str::trim).filter(|line| line.starts_with('/')).map(PathBuf::from));
    }
    folders.extend(["/lib64", "/usr/lib64", "/lib", "/usr/lib"].map(PathBuf::from));
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_family_of_the_launcher_is_tried_first() {
        let at = |family, name: &str| names(family).iter().position(|other| other.contains(name));
        if cfg!(target_os = "linux") {
            assert!(at(None, "so.12") < at(None, "so.40"));
            assert!(at(Some(Family::OpenMpi), "so.40") < at(Some(Family::OpenMpi), "so.12"));
            assert_eq!(at(Some(Family::OpenMpi), "libmpi_abi.so.1"), Some(0));
        }
        let mut all = names(None);
        all.sort();
        let mut others = names(Some(Family::OpenMpi));
        others.sort();
        assert_eq!(all, others);
    }

    #[test]
    #[cfg(unix)]
    fn libraries_are_looked_for_beside_launchers_and_not_below_the_working_folder() {
        let folder = env::temp_dir().join(format!("backends-world-find-{}", std::process::id()));
        fs::create_dir_all(folder.join("mpi/bin")).unwrap();
        fs::create_dir_all(folder.join("links")).unwrap();
        fs::write(folder.join("mpi/bin/mpiexec"), "").unwrap();
        std::os::unix::fs::symlink("../mpi/bin/mpiexec", folder.join("links/mpiexec")).unwrap();
        let path = env::join_paths([Path::new(""), Path::new("bin"), &folder.join("links")]).unwrap();
        let found = beside_launchers(&path);
        let home = folder.canonicalize().unwrap().join("mpi");
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found[..3], ["lib", "lib64", "bin"].map(|name| home.join(name)));
        assert!(found.iter().all(|path| path.is_absolute()));
        assert_eq!(beside_launchers(std::ffi::OsStr::new("")), [] as [PathBuf; 0]);
    }
}
