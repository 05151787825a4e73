//! Finds libtorch: a folder `torch` with `lib/` and `include/`, as in libtorch's wheel.

use backend_core::{Error, Result};
use backend_load::{check, places, trust::Trust};
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Advice for a missing or incomplete libtorch.
pub const ADVICE: &str = "`cargo xtask setup` fetches libtorch; or `pip install torch` and set \
                          LIBTORCH to its folder `torch`";

/// An [`Error::Unavailable`] of this backend, with [`ADVICE`].
pub fn unavailable(why: impl std::fmt::Display) -> Error {
    Error::unavailable("torch", format!("{why}. {ADVICE}"))
}

/// Path of one of libtorch's libraries in its folder.
pub fn library(torch: &Path, name: &str) -> PathBuf {
    torch.join("lib").join(format!("{}{name}{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX))
}

/// A folder from which libtorch may be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The folder `torch`, without symbolic links.
    pub torch: PathBuf,
    /// How the folder was found. This determines which checks run before libtorch is loaded.
    pub trust: Trust,
}

/// The folders that may hold the dependencies of `library`, one of libtorch's libraries. They are the library's own
/// folder, and the folders of NVIDIA's packages, on which libtorch's wheel depends. The path must have no symbolic
/// links, because the dynamic loader starts from the real path.
#[cfg_attr(not(unix), allow(dead_code, reason = "libtorch is loaded on Unix only"))]
pub fn neighbours(library: &Path) -> Vec<PathBuf> {
    let Some(beside) = library.parent() else { return Vec::new() };
    let packages = beside.ancestors().nth(2).map(|above| fs::read_dir(above.join("nvidia")));
    let packages = packages.into_iter().flatten().flatten().flatten();
    let folders = packages.map(|package| package.path().join("lib")).filter(|folder| folder.is_dir());
    std::iter::once(beside.to_path_buf()).chain(folders).collect()
}

/// The folder of libtorch: `$LIBTORCH`, else `libtorch/torch` in the program's project, else the package of the active
/// Python.
pub fn libtorch() -> Result<PathBuf> {
    find().map(|place| place.torch)
}

/// Like [`libtorch`], but also returns the origin of the folder.
pub fn find() -> Result<Place> {
    if let Some(given) = env::var_os("LIBTORCH").filter(|v| !v.is_empty()) {
        let given = PathBuf::from(given);
        let nothing = || format!("it has no {}", library(Path::new(""), "torch_cpu").display());
        let place = in_folder(&given, Trust::Named).and_then(|place| place.ok_or_else(nothing));
        return place.map_err(|why| unavailable(format!("LIBTORCH is {}: {why}", given.display())));
    }
    let mut refused = Vec::new();
    let of_projects = places::projects().into_iter().map(|project| project.join("libtorch"));
    if let Some(place) = first(of_projects, &mut refused) {
        return Ok(place);
    }
    if let Some(place) = first(places::python_package("torch"), &mut refused) {
        return Ok(place);
    }
    let refused: String = refused.iter().map(|why| format!("; refused: {why}")).collect();
    Err(unavailable(format!(
        "no libtorch: LIBTORCH is not set, the program's project has no `libtorch/torch`, and python3 has no torch{refused}"
    )))
}

/// The first usable folder; adds to `refused` the reasons why earlier folders were refused.
fn first(folders: impl IntoIterator<Item = PathBuf>, refused: &mut Vec<String>) -> Option<Place> {
    folders.into_iter().find_map(|folder| {
        in_folder(&folder, Trust::Found).unwrap_or_else(|why| {
            refused.push(why);
            None
        })
    })
}

/// Returns `folder` itself, or the folder `torch` in it, if it contains libtorch; returns an error if the folder with
/// libtorch is not trusted.
fn in_folder(folder: &Path, trust: Trust) -> std::result::Result<Option<Place>, String> {
    let folders = [folder.to_path_buf(), folder.join("torch")];
    let Some(torch) = folders.into_iter().find(|f| library(f, "torch_cpu").is_file()) else { return Ok(None) };
    let torch = check::path(&torch, trust)?;
    check::path(&library(&torch, "torch_cpu"), trust)?;
    check::path(&torch.join("lib"), trust)?;
    Ok(Some(Place { torch, trust }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use backend_load::private::Private;

    /// A folder with files named like those of libtorch.
    fn planted() -> (Private, PathBuf) {
        let folder = Private::new().unwrap();
        let torch = folder.path().join("torch");
        fs::create_dir_all(torch.join("lib")).unwrap();
        fs::write(library(&torch, "torch_cpu"), "").unwrap();
        (folder, torch)
    }

    #[test]
    fn a_folder_counts_only_with_the_library_in_it() {
        let (folder, torch) = planted();
        let found = Ok(Some(Place { torch: torch.clone(), trust: Trust::Found }));
        assert_eq!(in_folder(folder.path(), Trust::Found), found, "the folder above");
        assert_eq!(in_folder(&torch, Trust::Found), found, "the folder itself");
        fs::remove_file(library(&torch, "torch_cpu")).unwrap();
        assert_eq!(in_folder(folder.path(), Trust::Found), Ok(None));
    }

    #[test]
    #[cfg(unix)]
    fn what_all_users_can_write_is_refused_by_name() {
        use std::os::unix::fs::PermissionsExt;
        let (folder, torch) = planted();
        for part in [torch.clone(), torch.join("lib"), library(&torch, "torch_cpu")] {
            let before = fs::metadata(&part).unwrap().permissions();
            fs::set_permissions(&part, fs::Permissions::from_mode(0o777)).unwrap();
            for trust in [Trust::Found, Trust::Named] {
                let why = in_folder(folder.path(), trust).unwrap_err();
                assert!(why.starts_with(part.to_str().unwrap()) && why.contains("all users"), "{why}");
            }
            let mut refused = Vec::new();
            assert_eq!(first([folder.path().to_path_buf()], &mut refused), None);
            assert_eq!(refused.len(), 1);
            fs::set_permissions(&part, before).unwrap();
        }
    }
}
