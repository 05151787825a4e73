//! Arrays in NumPy's `.npy` and `.npz` files.
//!
//! | purpose | API |
//! |---|---|
//! | an array of a backend in a `.npy` file | `b.load_npy(path)?`, `b.save_npy(path, &x)?` ([`NumpyFiles`]) |
//! | named arrays in an `.npz` file, or a folder of `.npy` files | [`Npz`], [`NpzWriter`] |
//! | parts of a `.npy` file that is larger than memory | [`NpyReader`], [`NpyWriter`]; memory-mapped: [`Mapped`],
//! [`MappedMut`] |
//! | a program that `Recorded` has recorded | [`ProgramFiles`], [`SavedProgram`] |
//! | bytes in memory | [`decode`], [`encode`], [`Npz::from_bytes`] |
//!
//! ```
//! use backends::{ops, prelude::*};
//! use backends_npz::{Npz, NpzWriter, NumpyFiles};
//!
//! /// Saves and loads arrays on any backend.
//! fn run<B: Backend>(b: &B, folder: &std::path::Path) -> std::result::Result<(), Box<dyn std::error::Error>> {
//!     b.save_npy(folder.join("x.npy"), b.asarray([[1.0_f32, 2.0], [3.0, 4.0]])?)?;
//!     let x = b.load_npy::<f32>(folder.join("x.npy"))?;
//!     let y = b.load_npy::<f64>(folder.join("x.npy"))?; // converts like `astype`
//!
//!     let mut file = NpzWriter::create(folder.join("all.npz"))?;
//!     file.add_array(b, "x", &x)?;
//!     file.add_array(b, "y", &b.exp(&y)?)?;
//!     file.finish()?;
//!
//!     let file = Npz::open(folder.join("all.npz"))?;
//!     assert_eq!((file.names(), file.dtype("x")?, file.shape("x")?), (vec!["x", "y"], DType::Float32, vec![2, 2]));
//!     assert!(b.array_equal(file.array::<_, f32>(b, "x")?, &x)?);
//!     // the result has the dtype of the file
//!     let sum = ops::sum::call(b, &[file.value(b, "x")?], &[])?;
//!     b.save_npy_value(folder.join("sum.npy"), &sum)?;
//!     assert_eq!(b.item(b.load_npy::<f64>(folder.join("sum.npy"))?)?, 10.0);
//!     Ok(())
//! }
//! # let folder = std::env::temp_dir().join(format!("backends-npz-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder).unwrap();
//! # run(&Numpyish::new(), &folder).unwrap();
//! # run(&AnyBackend::from(Numpyish::new()), &folder).unwrap();
//! # std::fs::remove_dir_all(folder).unwrap();
//! ```

mod files;
mod mapped;
mod npy;
mod parts;
mod program;
mod writer;

#[doc(no_inline)]
pub use backend_runtime::parts::Part;
pub use files::NumpyFiles;
pub use mapped::{Mapped, MappedMut};
pub use npy::{decode, encode};
pub use parts::{NpyReader, NpyWriter};
pub use program::{ProgramFiles, SavedProgram};
pub use writer::NpzWriter;

use backend_runtime::{Arrays, DType, DynArray, Element, Value, numpyish::Numpyish};
use ndarray::{ArrayD, Ix1, Ix2};
use std::{
    collections::BTreeMap,
    fmt,
    fs::{self, File},
    io::{BufReader, Cursor, Error, ErrorKind, Read, Result, Seek},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};
use zip::{ZipArchive, result::ZipError};

/// The largest factor by which deflate can compress: it needs at least two bits for a repetition of 258 bytes.
const LARGEST_EXPANSION: u64 = 1032;

/// Named arrays, which are read on request.
#[derive(Clone)]
pub struct Npz {
    path: PathBuf,
    source: Arc<Container>,
}

/// The file or folder that contains the arrays.
enum Container {
    Archive(Archive),
    /// Maps each name to the path of its `.npy` file.
    Folder(BTreeMap<String, PathBuf>),
}

struct Archive {
    zip: Mutex<ZipArchive<BufReader<Box<dyn Stream>>>>,
    /// The length of the archive in bytes.
    length: u64,
    /// For each name of an array, the index of its file in the zip archive.
    members: BTreeMap<String, usize>,
}

/// A source of bytes: a file on disk, or a buffer in memory.
trait Stream: Read + Seek + Send {}

impl<T: Read + Seek + Send> Stream for T {}

impl Npz {
    /// Opens an `.npz` file, or a folder of `.npy` files.
    ///
    /// Arrays are read only on request. Arrays that are not requested may be large, damaged, or compressed by an
    /// unsupported method.
    pub fn open(path: impl AsRef<Path>) -> Result<Npz> {
        let path = path.as_ref();
        let source = if path.is_dir() {
            folder(path).map(Container::Folder)
        } else {
            open_file(path).and_then(|(file, length)| archive(Box::new(file), length)).map(Container::Archive)
        };
        let source = source.map_err(|e| Error::new(e.kind(), format!("{}: {e}", path.display())))?;
        Ok(Npz { path: path.to_owned(), source: Arc::new(source) })
    }

    /// Opens an `.npz` file in memory. Error messages name the file `name`.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Npz> {
        let length = bytes.len() as u64;
        let archive = archive(Box::new(Cursor::new(bytes)), length);
        let archive = archive.map_err(|e| Error::new(e.kind(), format!("{name}: {e}")))?;
        Ok(Npz { path: name.into(), source: Arc::new(Container::Archive(archive)) })
    }

    /// The path of the file or folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names of the arrays.
    pub fn names(&self) -> Vec<&str> {
        match &*self.source {
            Container::Archive(archive) => archive.members.keys().map(String::as_str).collect(),
            Container::Folder(files) => files.keys().map(String::as_str).collect(),
        }
    }

    /// Returns whether there is an array of this name.
    pub fn contains(&self, name: &str) -> bool {
        match &*self.source {
            Container::Archive(archive) => archive.members.contains_key(name),
            Container::Folder(files) => files.contains_key(name),
        }
    }

    /// Reads an array as elements of `T`.
    ///
    /// The file may have another dtype than `T`. Every `T` accepts bool, and each integer dtype whose values all fit
    /// into `T`. A float dtype also accepts all dtypes that are not complex, and a complex dtype accepts all dtypes;
    /// their values are rounded to nearest. Converting complex numbers to reals, floats to integers, or integers to
    /// narrower integers is an error.
    pub fn get<T: Element>(&self, name: &str) -> Result<ArrayD<T>> {
        self.read(name, |mut file, length| npy::read(&mut file, length))
    }

    /// Reads an array as elements of `T` and moves it to a backend. Converts like [`Npz::get`].
    pub fn array<B: Arrays, T: Element>(&self, b: &B, name: &str) -> Result<B::Array<T>> {
        files::on(b, self.get(name)?)
    }

    /// Reads an array in its own dtype on a backend. `Value::as_array` returns the array of the value, which can also
    /// be passed to calls by name.
    pub fn value<B: Arrays>(&self, b: &B, name: &str) -> Result<Value<B>> {
        self.read(name, |mut file, length| files::value(b, &mut file, length))
    }

    /// Reads all arrays to the host, each in its own dtype, by their names. `backends::grad::load_state_dict` takes the
    /// result.
    ///
    /// ```
    /// use backends::{grad::{load_state_dict, state_dict}, prelude::*};
    /// use backends_npz::{Npz, NpzWriter};
    ///
    /// # let path = std::env::temp_dir().join(format!("backends-npz-state-{}.npz", std::process::id()));
    /// let b = Numpyish::new();
    /// let model = (b.ones::<f32>([2, 3])?, b.zeros::<f32>(3)?);
    /// let mut file = NpzWriter::create(&path)?;
    /// file.add_all(&state_dict(&b, &model)?)?;
    /// file.finish()?;
    /// assert_eq!(load_state_dict(&b, &model, &Npz::open(&path)?.all()?)?, model);
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn all(&self) -> Result<BTreeMap<String, DynArray<Numpyish>>> {
        let b = Numpyish::new();
        let array = |name: &str| match self.value(&b, name)? {
            Value::Array(x) => Ok((name.to_string(), x)),
            other => Err(npy::damaged(format!("`{name}` is {other}, not an array"))),
        };
        self.names().into_iter().map(array).collect()
    }

    /// Reads a file of the archive that contains UTF-8 text instead of an array.
    pub fn text(&self, name: &str) -> Result<String> {
        self.read(name, |file, length| {
            let mut bytes = npy::reserved(usize::try_from(length).unwrap_or(usize::MAX))?;
            // reads up to one byte more than the declared length: this detects longer data, and the checksum is
            // verified only at the end of the data
            file.take(length.saturating_add(1)).read_to_end(&mut bytes)?;
            if bytes.len() as u64 != length {
                return Err(npy::damaged(format!(
                    "the text has {} bytes, but the archive declares {length}",
                    bytes.len()
                )));
            }
            String::from_utf8(bytes).map_err(|_| npy::damaged("the text is not UTF-8"))
        })
    }

    /// The shape of an array, without reading its data.
    pub fn shape(&self, name: &str) -> Result<Vec<usize>> {
        Ok(self.read(name, |mut file, length| npy::read_kind(&mut file, length))?.0)
    }

    /// The dtype of an array, without reading its data.
    pub fn dtype(&self, name: &str) -> Result<DType> {
        Ok(self.read(name, |mut file, length| npy::read_kind(&mut file, length))?.1)
    }

    /// Reads an array of one axis as `f64`.
    pub fn vector(&self, name: &str) -> Result<Vec<f64>> {
        let array = self.get::<f64>(name)?;
        let shape = array.shape().to_vec();
        let vector = array.into_dimensionality::<Ix1>().map_err(|_| self.rank(name, &shape, 1))?;
        Ok(vector.iter().copied().collect())
    }

    /// Reads the rows of an array of two axes as `f64`.
    pub fn rows(&self, name: &str) -> Result<Vec<Vec<f64>>> {
        let array = self.get::<f64>(name)?;
        let shape = array.shape().to_vec();
        let matrix = array.into_dimensionality::<Ix2>().map_err(|_| self.rank(name, &shape, 2))?;
        Ok(matrix.rows().into_iter().map(|row| row.to_vec()).collect())
    }

    /// Reads an array of one element, of any shape, as `f64`.
    pub fn scalar(&self, name: &str) -> Result<f64> {
        let array = self.get::<f64>(name)?;
        if array.len() == 1 { Ok(array.sum()) } else { Err(self.rank(name, array.shape(), 0)) }
    }

    fn rank(&self, name: &str, shape: &[usize], rank: usize) -> Error {
        let why = format!("{}: `{name}` has the shape {shape:?}, not {rank} axes", self.path.display());
        Error::new(ErrorKind::InvalidData, why)
    }

    /// Applies `f` to the content and length of the `.npy` file of this name.
    fn read<R>(&self, name: &str, f: impl FnOnce(&mut dyn Read, u64) -> Result<R>) -> Result<R> {
        let result = match &*self.source {
            Container::Archive(archive) => archive.read(name, f),
            Container::Folder(files) => files.get(name).ok_or_else(absent).and_then(|path| {
                let (file, length) = open_file(path)?;
                f(&mut BufReader::new(file), length)
            }),
        };
        result.map_err(|e| Error::new(e.kind(), format!("{}: `{name}`: {e}", self.path.display())))
    }
}

impl fmt::Debug for Npz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Npz").field("path", &self.path).field("names", &self.names()).finish()
    }
}

fn absent() -> Error {
    Error::new(ErrorKind::NotFound, "there is no such array")
}

impl Archive {
    fn read<R>(&self, name: &str, f: impl FnOnce(&mut dyn Read, u64) -> Result<R>) -> Result<R> {
        let number = *self.members.get(name).ok_or_else(absent)?;
        let mut zip = self.zip.lock().unwrap_or_else(PoisonError::into_inner);
        let mut member = zip.by_index(number)?;
        let (length, packed) = (member.size(), member.compressed_size());
        if packed > self.length || length > packed.saturating_mul(LARGEST_EXPANSION) {
            let why = format!("it is too short for the {length} bytes that the archive declares");
            return Err(Error::new(ErrorKind::InvalidData, why));
        }
        f(&mut member, length)
    }
}

/// Opens a regular file, and returns it with its length. Pipes and devices are refused, because opening a pipe would
/// wait for a writer, and reading a device may never end.
pub(crate) fn open_file(path: &Path) -> Result<(File, u64)> {
    if !fs::metadata(path)?.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    Ok((file, length))
}

/// Opens a zip file by reading only its directory, which is at its end.
fn archive(file: Box<dyn Stream>, length: u64) -> Result<Archive> {
    let zip = ZipArchive::new(BufReader::new(file)).map_err(|e| match e {
        ZipError::Io(e) if e.kind() != ErrorKind::UnexpectedEof => e,
        _ => {
            let why = "not a complete .npz (zip) file: the list of its members, at its end, is missing or damaged";
            Error::new(ErrorKind::InvalidData, why)
        }
    })?;
    let twice = |name: &str| Error::new(ErrorKind::InvalidData, format!("two arrays have the name `{name}`"));
    let mut members = BTreeMap::new();
    for number in 0..zip.len() {
        let entry = zip.by_index_data(number)?;
        let name = String::from_utf8_lossy(entry.name_raw());
        let name = name.strip_suffix(".npy").unwrap_or(&name);
        if members.insert(name.to_owned(), number).is_some() {
            return Err(twice(name));
        }
    }
    if zip.has_duplicate_names() {
        return Err(Error::new(ErrorKind::InvalidData, "two arrays have the same name"));
    }
    Ok(Archive { zip: Mutex::new(zip), length, members })
}

fn folder(path: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(path)? {
        let file = entry?.path();
        if file.extension().is_some_and(|e| e == "npy")
            && let Some(name) = file.file_stem().and_then(|n| n.to_str())
        {
            files.insert(name.to_owned(), file);
        }
    }
    Ok(files)
}
