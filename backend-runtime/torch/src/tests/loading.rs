//! Tests that the right libraries are loaded, and that wrong libraries are refused. A process loads libtorch only once,
//! so each case runs this program again in a separate process, with [`CASE`] set.

use super::torch;
use crate::{OpContext, Torch, TorchArray, build, locate, reduction};
use backend_core::{Arrays, DType, Error};
use backend_load::{places, private::Private};
use std::{
    env, fs,
    io::Read,
    path::{Path, PathBuf},
    process::Command,
};

/// The environment variable that tells a child process which case to run.
const CASE: &str = "BACKENDS_LOADING_CASE";

/// The text that the child prints before its result.
const RESULT: &str = "result: ";

/// A command that runs this program as a child for one case. It clears environment variables that locate libraries and
/// folders.
fn child(program: &Path, case: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["tests::loading::cases", "--exact", "--nocapture"]).env(CASE, case);
    for name in ["LIBTORCH", "BACKENDS_CACHE", "XDG_CACHE_HOME", "CXX"] {
        command.env_remove(name);
    }
    command
}

/// Runs the child to its end. Returns its result and its whole output. Panics if the child fails.
#[track_caller]
fn run(command: &mut Command) -> (String, String) {
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{}\n{text}", output.status);
    let result = text.lines().find_map(|line| line.split_once(RESULT));
    (result.unwrap_or_else(|| panic!("no result:\n{text}")).1.to_owned(), text)
}

/// In a child process, runs its case. In other processes, this test does nothing.
#[test]
fn cases() {
    let Ok(case) = env::var(CASE) else { return };
    if case == "useless shim" {
        plant_useless_shim();
    }
    let loaded = Torch::cpu().and_then(|b| {
        if case == "warning" {
            warn(&b);
        }
        let x = super::array(&b, vec![1.0, 2.0]);
        b.to_ndarray(&x).map(|x| x.sum())
    });
    match loaded {
        Ok(sum) => println!("{RESULT}loaded, {sum}"),
        Err(Error::Unavailable { why, .. }) => println!("{RESULT}{why}"),
        Err(other) => panic!("{other}"),
    }
}

/// Calls an op that makes libtorch print a warning: a variance with zero degrees of freedom.
fn warn(b: &Torch) {
    let x = super::array(b, vec![1.0_f64]);
    let on = OpContext::new(b, "var", DType::Float64);
    let variance = reduction::var(on, x.tensor(), backend_core::Axes::All, 1.0, false).unwrap();
    let variance: TorchArray<f64> = on.array(variance).unwrap();
    assert!(b.to_ndarray(&variance).unwrap()[[]].is_nan());
}

#[test]
fn warnings_of_libtorch_do_not_reach_stderr() {
    let Some(libtorch) = libtorch() else { return };
    let mut command = child(&env::current_exe().unwrap(), "warning");
    command
        .env("LIBTORCH", libtorch)
        .env("BACKENDS_CACHE", env::current_exe().unwrap().with_file_name("loading-cache"));
    let (result, text) = run(&mut command);
    assert_eq!(result, "loaded, 3");
    assert!(!text.contains("Warning") && !text.contains("degrees of freedom"), "{text}");
}

/// A temporary folder of this crate, on the same file system as the target folder.
fn folder() -> Private {
    let program = env::current_exe().unwrap().canonicalize().unwrap();
    Private::new_in(program.parent().unwrap()).unwrap()
}

/// The folder of this machine's libtorch, for child processes.
fn libtorch() -> Option<PathBuf> {
    torch().map(|_| locate::libtorch().unwrap())
}

/// The file names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn without_a_users_folder_nothing_is_shared_and_that_is_said() {
    let Some(libtorch) = libtorch() else { return };
    let temporary = folder();
    // another user might plant this folder, because its name was formerly used
    fs::create_dir(temporary.path().join("backends")).unwrap();
    let mut command = child(&env::current_exe().unwrap(), "load");
    command.env("LIBTORCH", libtorch).env("TMPDIR", temporary.path()).env_remove("HOME");
    let (result, text) = run(command.env("XDG_CACHE_HOME", "relative").current_dir(temporary.path()));
    assert_eq!(result, "loaded, 3");
    assert!(text.contains("no cache folder") && text.contains("kept for this run only"), "{text}");
    assert_eq!(names(temporary.path()), ["backends"], "what was compiled is gone");
    assert_eq!(names(&temporary.path().join("backends")), [] as [&str; 0], "and nothing went into the shared folder");
}

#[test]
fn libraries_above_the_working_folder_are_not_loaded() {
    if places::python_package("torch").iter().any(|torch| locate::library(torch, "torch_cpu").is_file()) {
        return; // finding the libtorch in Python's packages is correct
    }
    let folder = Private::new().unwrap();
    let lib = folder.path().join("libtorch/torch/lib");
    let below = folder.path().join("some/folder");
    fs::create_dir_all(&lib).unwrap();
    fs::create_dir_all(&below).unwrap();
    fs::write(locate::library(lib.parent().unwrap(), "torch_cpu"), "what another user planted").unwrap();
    // this copy is outside a cargo project, like an installed program
    let program = folder.path().join("some/program");
    fs::copy(env::current_exe().unwrap(), &program).unwrap();
    let mut command = child(&program, "load");
    let (result, _) = run(command.current_dir(&below).env_remove("CARGO_MANIFEST_DIR"));
    assert!(result.starts_with("no libtorch:"), "{result}");
}

/// A copy of this machine's libtorch, in which a test can replace files.
fn copy_of_libtorch(libtorch: &Path) -> Option<Private> {
    let folder = folder();
    let lib = folder.path().join("torch/lib");
    fs::create_dir_all(&lib).unwrap();
    for entry in fs::read_dir(libtorch.join("lib")).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        // hard links need no space, but are not possible across file systems
        fs::hard_link(entry.path(), lib.join(entry.file_name())).ok()?;
    }
    Some(folder)
}

#[test]
fn damaged_libraries_are_errors_and_no_signals() {
    let Some(libtorch) = libtorch() else { return };
    let Some(folder) = copy_of_libtorch(&libtorch) else { return };
    let torch = folder.path().join("torch");
    for name in ["torch_cpu", "c10"] {
        let library = locate::library(&torch, name);
        let mut start = Vec::new();
        fs::File::open(&library).unwrap().take(1 << 20).read_to_end(&mut start).unwrap();
        let damaged = [&start, &start[..100_000], &start[..30], b"", b"no library at all"];
        for content in damaged {
            // the link is removed first, so that this machine's own file is not overwritten
            fs::remove_file(&library).unwrap();
            fs::write(&library, content).unwrap();
            let (result, _) = run(child(&env::current_exe().unwrap(), "load").env("LIBTORCH", &torch));
            let refused = result.contains("damaged") || result.contains("not an ELF");
            assert!(refused && result.contains(library.to_str().unwrap()), "{} bytes: {result}", content.len());
        }
        fs::remove_file(&library).unwrap();
        fs::hard_link(locate::library(&libtorch, name), &library).unwrap();
    }
}

/// Plants an intact library that lacks the shim's functions, under the name of the right shim.
fn plant_useless_shim() {
    let torch = locate::find().unwrap().torch;
    let system = ["/lib/x86_64-linux-gnu/libm.so.6", "/lib64/libm.so.6", "/usr/lib/libm.so.6"];
    let library = system.into_iter().map(Path::new).find(|path| path.is_file()).expect("a system has mathematics");
    build::plant(&torch, library);
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn a_shim_without_its_functions_is_built_again() {
    let Some(libtorch) = libtorch() else { return };
    let cache = folder();
    let mut command = child(&env::current_exe().unwrap(), "useless shim");
    let (result, text) = run(command.env("LIBTORCH", libtorch).env("BACKENDS_CACHE", cache.path()));
    assert_eq!(result, "loaded, 3", "{text}");
    let names = names(cache.path());
    assert!(matches!(&names[..], [name] if name.starts_with("backends-torch-")), "{names:?}");
}
