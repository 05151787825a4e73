//! `NpzWriter`: writes `.npz` files.

use crate::{
    files::{WithArray, at, host, with_array},
    npy,
};
use backend_runtime::{Arrays, DynArray, Element, HostArray, Value, numpyish::Numpyish};
use ndarray::{ArrayRef, IxDyn};
use std::{
    collections::BTreeMap,
    fmt,
    fs::File,
    io::{BufWriter, Result, Write},
    path::{Path, PathBuf},
};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// Writes an `.npz` file, like `np.savez`. A name can be used only once.
///
/// ```
/// use backends::prelude::*;
/// use backends_npz::{Npz, NpzWriter};
///
/// # let path = std::env::temp_dir().join(format!("backends-npz-writer-{}.npz", std::process::id()));
/// let b = Numpyish::new();
/// let mut file = NpzWriter::create_compressed(&path)?;
/// file.add_array(&b, "zeros", &b.zeros::<f32>([100, 100])?)?;
/// file.add("ndarray", &ndarray::arr1(&[1, 2]).into_dyn())?;
/// assert!(file.add("ndarray", &ndarray::arr1(&[3]).into_dyn()).is_err());
/// file.finish()?;
/// assert_eq!(Npz::open(&path)?.array::<_, i32>(&b, "ndarray")?, b.asarray([1, 2])?);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct NpzWriter {
    zip: ZipWriter<BufWriter<File>>,
    method: CompressionMethod,
    path: PathBuf,
}

impl NpzWriter {
    /// Creates a file whose arrays are not compressed. An existing file is overwritten.
    pub fn create(path: impl AsRef<Path>) -> Result<NpzWriter> {
        NpzWriter::new(path.as_ref(), CompressionMethod::Stored)
    }

    /// Creates a file whose arrays are compressed, like `np.savez_compressed`.
    pub fn create_compressed(path: impl AsRef<Path>) -> Result<NpzWriter> {
        NpzWriter::new(path.as_ref(), CompressionMethod::Deflated)
    }

    fn new(path: &Path, method: CompressionMethod) -> Result<NpzWriter> {
        let file = File::create(path).map_err(at(path))?;
        Ok(NpzWriter { zip: ZipWriter::new(BufWriter::new(file)), method, path: path.into() })
    }

    /// Adds an ndarray under this name.
    pub fn add<T: Element>(&mut self, name: &str, x: &ArrayRef<T, IxDyn>) -> Result<()> {
        let mut add = || {
            // as in NumPy, a member may be larger than 4 GiB
            let options = SimpleFileOptions::default().compression_method(self.method).large_file(true);
            self.zip.start_file(format!("{name}.npy"), options)?;
            npy::write(&mut self.zip, x)
        };
        add().map_err(|e| std::io::Error::new(e.kind(), format!("{}: `{name}`: {e}", self.path.display())))
    }

    /// Adds a text file with exactly this name to the archive. [`Npz::text`](crate::Npz::text) reads it.
    pub fn add_text(&mut self, name: &str, text: &str) -> Result<()> {
        let mut add = || {
            let options = SimpleFileOptions::default().compression_method(self.method).large_file(true);
            self.zip.start_file(name, options)?;
            self.zip.write_all(text.as_bytes())
        };
        add().map_err(|e| std::io::Error::new(e.kind(), format!("{}: `{name}`: {e}", self.path.display())))
    }

    /// Adds an array of a backend under this name.
    pub fn add_array<B: Arrays, T: Element>(&mut self, b: &B, name: &str, x: &B::Array<T>) -> Result<()> {
        self.add(name, &host(b, x)?)
    }

    /// Adds an array whose dtype is known only at run time, or a number.
    pub fn add_value<B: Arrays>(&mut self, b: &B, name: &str, x: &Value<B>) -> Result<()> {
        with_array(b, x, Add(self, name))
    }

    /// Adds arrays on the host under their names, such as the arrays that `backends::grad::state_dict` returns.
    pub fn add_all(&mut self, arrays: &BTreeMap<String, DynArray<Numpyish>>) -> Result<()> {
        let b = Numpyish::new();
        arrays.iter().try_for_each(|(name, x)| self.add_value(&b, name, &Value::Array(x.clone())))
    }

    /// Finishes the file. Without this call the file is not valid: arrays may be missing, and errors are not reported.
    pub fn finish(self) -> Result<()> {
        let end = || self.zip.finish()?.flush();
        end().map_err(at(&self.path))
    }
}

struct Add<'a>(&'a mut NpzWriter, &'a str);

impl WithArray for Add<'_> {
    fn run<T: Element>(self, x: &HostArray<T>) -> Result<()> {
        self.0.add(self.1, x)
    }
}

impl fmt::Debug for NpzWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NpzWriter").field("path", &self.path).finish_non_exhaustive()
    }
}
