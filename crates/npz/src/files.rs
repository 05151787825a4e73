//! `NumpyFiles`: reads and writes arrays of a backend in `.npy` files.

use crate::{
    npy::{self, header::Header},
    open_file,
};
use backend_runtime::{Arrays, DynArray, Element, HostArray, IntoArray, Value, dispatch};
use ndarray::{ArrayD, arr0};
use std::{
    fs::File,
    io::{BufReader, BufWriter, Error, ErrorKind, Read, Result, Write},
    path::Path,
};

/// Methods of every backend that read and write `.npy` files.
///
/// ```
/// use backends::prelude::*;
/// use backends_npz::NumpyFiles;
///
/// # let path = std::env::temp_dir().join(format!("backends-npz-files-{}.npy", std::process::id()));
/// let b = Numpyish::new();
/// let x = b.linspace(0.0_f64, 1.0, 5)?;
/// b.save_npy(&path, &x)?;
/// assert_eq!(b.load_npy::<f64>(&path)?, x);
/// // the value has the dtype of the file
/// let value = b.load_npy_value(&path)?;
/// assert_eq!(value.as_array().map(|x| x.dtype()), Some(DType::Float64));
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait NumpyFiles: Arrays {
    /// Reads a `.npy` file as elements of `T`. If the file has another dtype, the elements are converted by the rules
    /// of `Npz::get`.
    fn load_npy<T: Element>(&self, path: impl AsRef<Path>) -> Result<Self::Array<T>> {
        on(self, load(path.as_ref(), |file, length| npy::read(file, length))?)
    }

    /// Reads a `.npy` file in its own dtype. `Value::as_array` returns the array of the value, which can also be passed
    /// to calls by name.
    fn load_npy_value(&self, path: impl AsRef<Path>) -> Result<Value<Self>> {
        load(path.as_ref(), |file, length| value(self, file, length))
    }

    /// Writes an array to a `.npy` file, in C order and little endian. An existing file is overwritten.
    ///
    /// NumPy has no bfloat16: it reads a file of this dtype as untyped elements of two bytes, which the package
    /// `ml_dtypes` can convert.
    fn save_npy<'a, T: Element>(&self, path: impl AsRef<Path>, x: impl IntoArray<'a, Self::Array<T>>) -> Result<()> {
        save(path.as_ref(), &host(self, &*x.into_array())?)
    }

    /// Like `save_npy`, for a value that is a number, or an array whose dtype is known only at run time.
    fn save_npy_value(&self, path: impl AsRef<Path>, x: &Value<Self>) -> Result<()> {
        with_array(self, x, Save(path.as_ref()))
    }
}

impl<B: Arrays> NumpyFiles for B {}

/// A function that is generic over the dtype of its array argument. [`with_array`] calls it with the dtype that the
/// array has at run time.
pub(crate) trait WithArray {
    fn run<T: Element>(self, x: &HostArray<T>) -> Result<()>;
}

struct Save<'a>(&'a Path);

impl WithArray for Save<'_> {
    fn run<T: Element>(self, x: &HostArray<T>) -> Result<()> {
        save(self.0, x)
    }
}

/// Runs `f` on the array or number in a value, with the dtype of the value. Any other value is an error.
pub(crate) fn with_array<B: Arrays>(b: &B, x: &Value<B>, f: impl WithArray) -> Result<()> {
    match x {
        Value::Array(x) => dispatch!(x.dtype(), T => match x.get::<T>() {
            Some(x) => f.run(&host(b, x)?),
            None => Err(backend_runtime::Error::dtype("save_npy", x.dtype()).into()),
        }),
        Value::Bool(x) => f.run(&arr0(*x).into_dyn().into_shared()),
        Value::Float(x) => f.run(&arr0(*x).into_dyn().into_shared()),
        Value::Complex(x) => f.run(&arr0(*x).into_dyn().into_shared()),
        Value::Integer(x) => match (i64::try_from(*x), u64::try_from(*x)) {
            (Ok(x), _) => f.run(&arr0(x).into_dyn().into_shared()),
            (_, Ok(x)) => f.run(&arr0(x).into_dyn().into_shared()),
            _ => Err(Error::new(ErrorKind::InvalidInput, format!("{x} has no dtype"))),
        },
        other => Err(Error::new(ErrorKind::InvalidInput, format!("{other} is neither an array nor a number"))),
    }
}

/// Moves an ndarray to a backend.
pub(crate) fn on<B: Arrays, T: Element>(b: &B, x: ArrayD<T>) -> Result<B::Array<T>> {
    Ok(b.from_ndarray(x.into_shared())?)
}

/// Copies an array of a backend to the host.
pub(crate) fn host<B: Arrays, T: Element>(b: &B, x: &B::Array<T>) -> Result<HostArray<T>> {
    Ok(b.to_ndarray(x)?)
}

/// Reads an array from a file of `length` bytes, in the dtype that the file states.
pub(crate) fn value<B: Arrays>(b: &B, from: &mut impl Read, length: u64) -> Result<Value<B>> {
    let header = Header::read(from)?;
    let elements = npy::elements::of(&header)?;
    dispatch!(elements.dtype(), T => {
        let x = on::<B, T>(b, npy::read_data(from, length, &header, elements)?)?;
        Ok(Value::Array(DynArray::of::<T>(x)))
    })
}

/// Returns a function that adds the path of a file to the message of an error.
pub(crate) fn at(path: &Path) -> impl Fn(Error) -> Error {
    move |e| Error::new(e.kind(), format!("{}: {e}", path.display()))
}

fn load<R>(path: &Path, read: impl FnOnce(&mut BufReader<File>, u64) -> Result<R>) -> Result<R> {
    let load = || {
        let (file, length) = open_file(path)?;
        read(&mut BufReader::new(file), length)
    };
    load().map_err(at(path))
}

fn save<T: Element>(path: &Path, x: &HostArray<T>) -> Result<()> {
    let save = || {
        let mut file = BufWriter::new(File::create(path)?);
        npy::write(&mut file, x)?;
        file.flush()
    };
    save().map_err(at(path))
}
