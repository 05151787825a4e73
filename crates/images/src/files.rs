//! Opening files, and the parts that the formats share.

use backend_runtime::{Arrays, DType, DynArray, Element, HostArray, Value, dispatch, encoded::damaged};
use ndarray::ArrayD;
use std::{
    fs::{self, File},
    io::{BufReader, Cursor, Error, ErrorKind, Read, Result, Seek},
    path::Path,
};

/// A source of bytes: a file on disk, or a buffer in memory.
pub trait Stream: Read + Seek + Send {}

impl<T: Read + Seek + Send> Stream for T {}

/// A file that is read, with its name for errors and its length in bytes.
pub struct Source {
    pub name: String,
    pub from: Box<dyn Stream>,
    pub length: u64,
}

impl Source {
    /// Opens a regular file. Pipes and devices are refused, because opening a pipe would wait for a writer, and reading
    /// a device may never end.
    pub fn open(path: &Path) -> Result<Source> {
        let open = || {
            if !fs::metadata(path)?.is_file() {
                return Err(Error::new(ErrorKind::InvalidInput, "not a regular file"));
            }
            let file = File::open(path)?;
            let length = file.metadata()?.len();
            Ok((file, length))
        };
        let name = path.display().to_string();
        let (file, length) = open().map_err(named(&name))?;
        Ok(Source { name, from: Box::new(BufReader::new(file)), length })
    }

    pub fn of_bytes(name: &str, bytes: Vec<u8>) -> Source {
        Source { name: name.into(), length: bytes.len() as u64, from: Box::new(Cursor::new(bytes)) }
    }
}

/// Returns a function that adds the name of a file to the message of an error.
pub fn named(name: &str) -> impl Fn(Error) -> Error {
    move |e| Error::new(e.kind(), format!("{name}: {e}"))
}

/// Returns an error with the text `why` if `e` reports that the data ended early; returns any other error unchanged.
pub fn explain(e: Error, why: &str) -> Error {
    if e.kind() == ErrorKind::UnexpectedEof { damaged(why) } else { e }
}

/// An error about an argument of a function that writes a file.
pub fn invalid(why: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidInput, why.into())
}

/// The error for a dtype that a format does not have.
pub fn absent(format: &str, dtype: DType) -> Error {
    invalid(format!("{format} files have no elements of {dtype}; convert the array with astype"))
}

/// Moves an ndarray to a backend.
pub fn on<B: Arrays, T: Element>(b: &B, x: ArrayD<T>) -> Result<B::Array<T>> {
    Ok(b.from_ndarray(x.into_shared())?)
}

/// Copies an array of a backend to the host.
pub fn host<B: Arrays, T: Element>(b: &B, x: &B::Array<T>) -> Result<HostArray<T>> {
    Ok(b.to_ndarray(x)?)
}

/// A function that is generic over the dtype of the array that it reads.
pub trait ReadArray {
    fn run<T: Element>(self) -> Result<ArrayD<T>>;
}

/// Reads an array of a dtype that is known only at run time, and moves it to a backend.
pub fn value<B: Arrays>(b: &B, dtype: DType, read: impl ReadArray) -> Result<Value<B>> {
    dispatch!(dtype, T => Ok(Value::Array(DynArray::of::<T>(on::<B, T>(b, read.run::<T>()?)?))))
}

/// A function that is generic over the dtype of its array argument.
pub trait WithArray {
    fn run<T: Element>(self, x: &HostArray<T>) -> Result<()>;
}

/// Runs `f` on the array in a value, with the dtype of the value. Any other value is an error.
pub fn with_array<B: Arrays>(b: &B, x: &Value<B>, f: impl WithArray) -> Result<()> {
    let Value::Array(array) = x else {
        return Err(invalid(format!("{x} is not an array")));
    };
    dispatch!(array.dtype(), T => match array.get::<T>() {
        Some(x) => f.run(&host(b, x)?),
        None => Err(backend_runtime::Error::dtype("save", array.dtype()).into()),
    })
}
