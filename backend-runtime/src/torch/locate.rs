//! Where libtorch is: a folder `torch` with `lib/` and `include/`, as its wheel lays it out.

use crate::{Error, Result};
use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// Prints the folder of an installed torch without importing it. The first entry of the path goes: it is the current
/// directory, where any folder called `torch` would be found.
const ASK_PYTHON: &str = "import sys; del sys.path[0]
from importlib.util import find_spec
spec = find_spec('torch')
print(spec.submodule_search_locations[0] if spec and spec.submodule_search_locations else '')";

/// What to do where there is no libtorch, or a part of it is missing.
pub const ADVICE: &str = "`cargo xtask setup` fetches libtorch and builds what it needs; or `pip install torch` and set \
                          LIBTORCH to its folder `torch`";

/// An [`Error::Unavailable`] of this backend, with [`ADVICE`].
pub fn unavailable(why: impl std::fmt::Display) -> Error {
    Error::Unavailable { backend: "torch", why: format!("{why}. {ADVICE}") }
}

/// The name of one of libtorch's libraries in its folder.
pub fn library(torch: &Path, name: &str) -> PathBuf {
    torch.join("lib").join(format!("{}{name}{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX))
}

/// The folder of libtorch: `$LIBTORCH`, else `libtorch/torch` here or in any folder above this one or the executable,
/// else the torch of `python3`.
pub fn libtorch() -> Result<PathBuf> {
    if let Some(given) = env::var_os("LIBTORCH").filter(|v| !v.is_empty()) {
        let given = PathBuf::from(given);
        return in_folder(&given).ok_or_else(|| {
            unavailable(format!(
                "LIBTORCH is {}, which has no {}",
                given.display(),
                library(Path::new(""), "torch_cpu").display()
            ))
        });
    }
    let starts = [env::current_dir().ok(), env::current_exe().ok()];
    let above = starts.iter().flatten().flat_map(|start| start.ancestors()).map(|folder| folder.join("libtorch"));
    above.into_iter().find_map(|folder| in_folder(&folder)).or_else(of_python).ok_or_else(|| {
        unavailable(
            "no libtorch: LIBTORCH is not set, no folder `libtorch/torch` is here or above, and python3 has no torch",
        )
    })
}

/// The folder itself, or `torch` in it, if libtorch is there; as an absolute path.
fn in_folder(folder: &Path) -> Option<PathBuf> {
    [folder.to_path_buf(), folder.join("torch")]
        .into_iter()
        .find(|f| library(f, "torch_cpu").is_file())
        .and_then(|f| f.canonicalize().ok())
}

fn of_python() -> Option<PathBuf> {
    let out = Command::new("python3").args(["-c", ASK_PYTHON]).output().ok().filter(|out| out.status.success())?;
    in_folder(Path::new(std::str::from_utf8(&out.stdout).ok()?.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_counts_only_with_the_library_in_it() {
        let root = env::temp_dir().join(format!("backends-locate-{}", std::process::id()));
        let torch = root.join("torch");
        std::fs::create_dir_all(torch.join("lib")).unwrap();
        assert_eq!(in_folder(&root), None);
        std::fs::write(library(&torch, "torch_cpu"), "").unwrap();
        let found = torch.canonicalize().unwrap();
        assert_eq!(in_folder(&root), Some(found.clone()), "the folder above");
        assert_eq!(in_folder(&torch), Some(found), "the folder itself");
        std::fs::remove_dir_all(root).unwrap();
    }
}
