//! Recorded programs in files. One `.npz` file contains the calls as text, and the initial arrays of the calls.

use crate::{Npz, NpzWriter, npy::damaged};
use backend_runtime::{Arrays, Value, by_name::Program, dispatch};
use std::{
    collections::BTreeMap,
    io::{Error, ErrorKind, Result},
    path::Path,
    str::FromStr,
};

/// The name of the text file with the calls, inside the `.npz` archive.
const SCRIPT: &str = "script.txt";

/// Saves recorded programs, one program per file.
///
/// ```no_run
/// use backends::{Recorded, Script, prelude::*};
/// use backends_npz::{ProgramFiles, SavedProgram};
///
/// let b = Recorded::new(Numpyish::new());
/// let y = b.exp(b.asarray([0.0, 1.0])?)?;
/// b.give("y", &y);
/// b.save_program("program.npz")?;
///
/// // in another program, on any backend
/// let (saved, b) = (SavedProgram::open("program.npz")?, AnyBackend::from(Numpyish::new()));
/// let script: Script = saved.script()?;
/// let mut variables = saved.constants_on(&b)?;
/// backends_dynamic::run(&b, &script, &mut variables)?;
/// assert!(variables.contains_key("y"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait ProgramFiles: Program {
    /// Writes an `.npz` file with the calls as text (member `script.txt`), and with the constants, the initial arrays
    /// of the calls, under their names. NumPy's `load` reads the text and the constants. An existing file is
    /// overwritten.
    fn save_program(&self, path: impl AsRef<Path>) -> Result<()> {
        let mut file = NpzWriter::create(path)?;
        file.add_text(SCRIPT, &self.text())?;
        for (name, x) in self.constants() {
            dispatch!(x.dtype(), T => match x.get::<T>() {
                Some(x) => file.add(&name, x),
                None => Err(backend_runtime::Error::dtype("save_program", x.dtype()).into()),
            })?;
        }
        file.finish()
    }
}

impl<P: Program> ProgramFiles for P {}

/// A program that was read from a file.
#[derive(Clone, Debug)]
pub struct SavedProgram {
    file: Npz,
    text: String,
}

impl SavedProgram {
    /// Opens a file that [`ProgramFiles::save_program`] has written.
    pub fn open(path: impl AsRef<Path>) -> Result<SavedProgram> {
        SavedProgram::of(Npz::open(path)?)
    }

    /// Reads a program from a file in memory. Error messages name the file `name`.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<SavedProgram> {
        SavedProgram::of(Npz::from_bytes(name, bytes)?)
    }

    fn of(file: Npz) -> Result<SavedProgram> {
        if !file.contains(SCRIPT) {
            let why = format!("{}: there is no program in it: the member `{SCRIPT}` is missing", file.path().display());
            return Err(damaged(why));
        }
        let text = file.text(SCRIPT)?;
        Ok(SavedProgram { file, text })
    }

    /// The calls as text, one per line.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Parses the calls, for example as a `Script` of the crate `backends`.
    pub fn script<S: FromStr<Err: std::fmt::Display>>(&self) -> Result<S> {
        let wrong = |why| Error::new(ErrorKind::InvalidData, format!("{}: {why}", self.file.path().display()));
        self.text.parse().map_err(wrong)
    }

    /// The names of the constants, the initial arrays of the calls.
    pub fn names(&self) -> Vec<&str> {
        self.file.names().into_iter().filter(|name| *name != SCRIPT).collect()
    }

    /// Returns the constants as arrays of a backend. They are the initial variables of the script.
    pub fn constants_on<B: Arrays>(&self, b: &B) -> Result<BTreeMap<String, Value<B>>> {
        self.names().into_iter().map(|name| Ok((name.to_owned(), self.file.value(b, name)?))).collect()
    }
}
