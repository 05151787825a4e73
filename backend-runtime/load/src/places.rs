//! Finds the folders to search for libraries if the user names none: the folders of the user's project, and of the
//! active Python. The working folder and the folders above it are not searched merely because the program was started
//! there.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// Returns the folders of the project to which this program belongs. If cargo built the program, this is the folder
/// that contains the folder `target`. If cargo runs the program, these are the folders from its package up to its
/// workspace.
pub fn projects() -> Vec<PathBuf> {
    let package = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let mut folders = built_in(env::current_exe().ok().as_deref());
    folders.extend(run_in(package.as_deref()));
    folders
}

/// Returns the projects whose cargo target folder contains the program. Cargo marks a target folder by `CACHEDIR.TAG`.
fn built_in(program: Option<&Path>) -> Vec<PathBuf> {
    let above = program.into_iter().flat_map(Path::ancestors);
    let targets = above.filter(|folder| folder.ends_with("target") && folder.join("CACHEDIR.TAG").is_file());
    let projects = targets.filter_map(Path::parent).filter(|project| project.join("Cargo.toml").is_file());
    projects.map(Path::to_path_buf).collect()
}

/// Returns the package's folder and the folders above it, up to the folder with `Cargo.lock`. If none of them has this
/// file, returns only the package's folder.
fn run_in(package: Option<&Path>) -> Vec<PathBuf> {
    let Some(package) = package.filter(|package| package.is_absolute()) else { return Vec::new() };
    let workspace = package.ancestors().position(|folder| folder.join("Cargo.lock").is_file()).unwrap_or(0);
    package.ancestors().take(workspace + 1).map(Path::to_path_buf).collect()
}

/// A Python script that prints the folders of installed packages without importing the packages. Isolated mode (`-I`)
/// ignores the working folder and `PYTHONPATH`. It also ignores the packages that the user installed without
/// administrator rights, so the script adds their folder again.
const ASK: &str = "import sys, site
from importlib.util import find_spec
if sys.prefix == sys.base_prefix:
    sys.path.append(site.getusersitepackages())
for name in sys.argv[1:]:
    spec = find_spec(name)
    for folder in spec and spec.submodule_search_locations or []:
        print(name, folder)";

/// Packages whose folders the script prints.
const PACKAGES: [&str; 2] = ["torch", "nvidia"];

/// Returns the folders of a package in the active Python: the `python3` on the search path. Python is run only once.
pub fn python_package(name: &str) -> Vec<PathBuf> {
    static ANSWER: OnceLock<String> = OnceLock::new();
    let answer = ANSWER.get_or_init(|| {
        let asked = Command::new("python3").args(["-I", "-c", ASK]).args(PACKAGES).output();
        let answer = asked.ok().filter(|answer| answer.status.success()).map(|answer| answer.stdout);
        String::from_utf8(answer.unwrap_or_default()).unwrap_or_default()
    });
    folders_of(name, answer)
}

fn folders_of(name: &str, answer: &str) -> Vec<PathBuf> {
    let lines = answer.lines().filter_map(|line| line.split_once(' '));
    lines.filter(|(package, _)| *package == name).map(|(_, folder)| PathBuf::from(folder)).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::private::Private, *};
    use std::fs;

    /// Creates a workspace with a package and the files that cargo creates.
    fn workspace() -> Private {
        let folder = Private::new().unwrap();
        fs::create_dir_all(folder.path().join("target/debug/deps")).unwrap();
        fs::create_dir_all(folder.path().join("package")).unwrap();
        for file in ["Cargo.toml", "Cargo.lock", "target/CACHEDIR.TAG", "package/Cargo.toml"] {
            fs::write(folder.path().join(file), "").unwrap();
        }
        folder
    }

    #[test]
    fn a_program_of_cargo_finds_its_project_and_no_other_folder() {
        let folder = workspace();
        let root = folder.path();
        assert_eq!(built_in(Some(&root.join("target/debug/deps/test-0"))), [root]);
        assert_eq!(built_in(Some(&root.join("bin/program"))), [] as [PathBuf; 0]);
        assert_eq!(built_in(None), [] as [PathBuf; 0]);
        fs::remove_file(root.join("target/CACHEDIR.TAG")).unwrap();
        assert_eq!(built_in(Some(&root.join("target/debug/program"))), [] as [PathBuf; 0], "any folder called target");
    }

    #[test]
    fn a_package_that_cargo_runs_goes_up_to_its_workspace() {
        let folder = workspace();
        let (root, package) = (folder.path(), folder.path().join("package"));
        assert_eq!(run_in(Some(&package)), [&package, root]);
        fs::remove_file(root.join("Cargo.lock")).unwrap();
        assert_eq!(run_in(Some(&package)), [package.as_path()]);
        assert_eq!(run_in(Some(Path::new("package"))), [] as [PathBuf; 0]);
    }

    #[test]
    fn these_tests_have_a_project_and_the_working_folder_is_none() {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
        assert!(projects().iter().any(|folder| folder == workspace), "{:?}", projects());
    }

    #[test]
    fn answers_of_python_are_read() {
        let answer = "torch /a b/torch\nnvidia /a b/nvidia\nnvidia /c/nvidia\n";
        assert_eq!(folders_of("torch", answer), [Path::new("/a b/torch")]);
        assert_eq!(folders_of("nvidia", answer), [Path::new("/a b/nvidia"), Path::new("/c/nvidia")]);
        assert_eq!(folders_of("numpy", answer), [] as [PathBuf; 0]);
    }

    /// Runs the script in a folder that contains a package `torch` and that `PYTHONPATH` names.
    #[test]
    fn a_package_of_the_working_folder_is_not_found() {
        let folder = Private::new().unwrap();
        let package = folder.path().join("torch");
        fs::create_dir_all(&package).unwrap();
        fs::write(package.join("__init__.py"), "raise SystemExit('imported')").unwrap();
        let ask = |command: &mut Command| {
            let answer = command.args(PACKAGES).current_dir(folder.path()).env("PYTHONPATH", folder.path()).output();
            answer.map(|answer| String::from_utf8_lossy(&answer.stdout).into_owned())
        };
        let Ok(answer) = ask(Command::new("python3").args(["-I", "-c", ASK])) else { return };
        assert!(!answer.contains(folder.path().to_str().unwrap()), "{answer}");
        let exposed = ask(Command::new("python3").args(["-c", ASK])).unwrap();
        assert!(exposed.contains(folder.path().to_str().unwrap()), "without -I it would be found: {exposed}");
    }
}
