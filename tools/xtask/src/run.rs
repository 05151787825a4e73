//! Helpers that the tasks share: running other programs, and paths.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::{SystemTime, UNIX_EPOCH},
};

/// The result of a task. The error is a text with the reason of the failure.
pub type Outcome<T = ()> = Result<T, String>;

/// The root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// The cargo that runs this task, with the repository's root as the working folder.
pub fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// The number of days since the beginning of 1970. It determines the tests and checks that `--in-turn` selects today.
pub fn days() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400)
}

/// Runs a command to its end. Returns an error if the command cannot be run or fails.
pub fn run(command: &mut Command) -> Outcome {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{}` failed: {status}", line(command))),
        Err(why) => Err(format!("{name} cannot be run: {why}")),
    }
}

/// The text of an error of the file system, with the path of the file or folder.
pub fn failed(path: &Path, why: &std::io::Error) -> String {
    format!("{}: {why}", path.display())
}

/// Creates a folder and its parent folders.
pub fn create(folder: &Path) -> Outcome {
    fs::create_dir_all(folder).map_err(|why| failed(folder, &why))
}

/// Writes a text file.
pub fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|why| failed(path, &why))
}

/// The text of a command, as a user would type it.
pub fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
