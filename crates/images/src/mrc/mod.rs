//! MRC files (`.mrc`, `.map`, `.rec`, `.ccp4`), which electron microscopy uses for volumes and for stacks of images.
//!
//! The axes of an array are (sections, rows, columns), as in the Python package `mrcfile`; a file always has these
//! three axes, or four if it is a stack of volumes: (volumes, sections, rows, columns). The dtypes are int8, int16,
//! uint16, float16, float32 and complex64. In files of the program IMOD, bytes are uint8 if the file says so. The modes
//! 3 (complex numbers of 16-bit integers) and 101 (integers of four bits) are errors.
//!
//! ```
//! use backends::prelude::*;
//! use backends_images::{MrcFiles, MrcInfo, MrcReader};
//!
//! # let path = std::env::temp_dir().join(format!("backends-images-{}.mrc", std::process::id()));
//! let b = Numpyish::new();
//! let volume = b.reshape(b.arange(0.0_f32, 24.0, 1.0)?, [2, 3, 4])?;
//! b.save_mrc(&path, &volume, &MrcInfo::new().voxel_size([5.0, 2.5, 2.5]))?;
//!
//! assert_eq!(b.load_mrc::<f32>(&path)?, volume);
//! let mut file = MrcReader::open(&path)?;
//! assert_eq!((file.shape(), file.dtype()), (&[2, 3, 4][..], DType::Float32));
//! assert_eq!(file.info().voxel_size, Some([5.0, 2.5, 2.5]));
//! let section = file.array::<_, f64>(&b, slices![1..2, .., ..])?; // only this part of the file is read
//! assert_eq!(section[[0, 0, 0]], 12.0);
//! # std::fs::remove_file(path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod header;
mod info;

pub use info::MrcInfo;

use crate::{
    files::{ReadArray, Source, WithArray, absent, explain, host, named, on, value, with_array},
    raw::{RawArray, data_bytes},
};
use backend_runtime::{Arrays, DType, DTypeKind, Element, HostArray, IntoArray, Value, encoded, parts::Part};
use header::Statistics;
use ndarray::ArrayD;
use std::{
    fs::File,
    io::{BufWriter, Result, Write},
    path::Path,
};

/// Methods of every backend that read and write MRC files.
pub trait MrcFiles: Arrays {
    /// Reads an MRC file as elements of `T`. The elements of the file are converted to `T` if more than precision is
    /// not lost; otherwise this is an error.
    ///
    /// # Errors
    /// An error that names the file: of the system; `InvalidData` if the file is damaged; `InvalidInput` if `T` does
    /// not hold the elements of the file.
    fn load_mrc<T: Element>(&self, path: impl AsRef<Path>) -> Result<Self::Array<T>> {
        MrcReader::open(path)?.array(self, ..)
    }

    /// Reads an MRC file in its own dtype.
    ///
    /// # Errors
    /// The errors of `load_mrc`.
    fn load_mrc_value(&self, path: impl AsRef<Path>) -> Result<Value<Self>> {
        MrcReader::open(path)?.value(self)
    }

    /// Writes an array of two, three or four axes to an MRC file. An existing file is overwritten.
    ///
    /// # Errors
    /// An error that names the file: of the system; `InvalidInput` if the format has no such shape, dtype or info.
    fn save_mrc<'a, T: Element>(
        &self,
        path: impl AsRef<Path>,
        x: impl IntoArray<'a, Self::Array<T>>,
        info: &MrcInfo,
    ) -> Result<()> {
        Save(path.as_ref(), info).run(&host(self, &*x.into_array())?)
    }

    /// Writes an array whose dtype is known only at run time, like `save_mrc`.
    ///
    /// # Errors
    /// The errors of `save_mrc`.
    fn save_mrc_value(&self, path: impl AsRef<Path>, x: &Value<Self>, info: &MrcInfo) -> Result<()> {
        with_array(self, x, Save(path.as_ref(), info))
    }
}

impl<B: Arrays> MrcFiles for B {}

/// An MRC file, from which the array or parts of it are read.
#[derive(Debug)]
pub struct MrcReader {
    array: RawArray,
    info: MrcInfo,
}

impl MrcReader {
    /// Opens a file. Bytes after the last element are ignored.
    ///
    /// # Errors
    /// An error that names the file: of the system; `InvalidData` if the file is damaged, or too short for its header.
    pub fn open(path: impl AsRef<Path>) -> Result<MrcReader> {
        MrcReader::of(Source::open(path.as_ref())?)
    }

    /// Opens a file in memory. Error messages name the file `name`.
    ///
    /// # Errors
    /// The errors of [`MrcReader::open`].
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<MrcReader> {
        MrcReader::of(Source::of_bytes(name, bytes))
    }

    fn of(source: Source) -> Result<MrcReader> {
        let Source { name, mut from, length } = source;
        let mut open = || {
            let mut bytes = [0; header::LENGTH];
            from.read_exact(&mut bytes).map_err(|e| explain(e, "the file ends within its header"))?;
            let header = header::read(&bytes)?;
            data_bytes(header.elements, &header.shape, header.start, length)?;
            Ok(header)
        };
        let header = open().map_err(named(&name))?;
        let (elements, shape, start) = (header.elements, header.shape, header.start);
        let array = RawArray { name, from, elements, shape, fortran: false, start };
        Ok(MrcReader { array, info: header.info })
    }

    /// The shape of the whole array: (sections, rows, columns), or (volumes, sections, rows, columns).
    pub fn shape(&self) -> &[usize] {
        &self.array.shape
    }

    /// The dtype of the elements in the file.
    pub fn dtype(&self) -> DType {
        self.array.elements.dtype()
    }

    /// The voxel size, the origin and other information of the header.
    pub fn info(&self) -> &MrcInfo {
        &self.info
    }

    /// Reads a part of the array as elements of `T`, converted as by [`MrcFiles::load_mrc`].
    ///
    /// # Errors
    /// An error that names the file: of the system; `InvalidInput` if there is no such part, or if `T` does not hold
    /// the elements of the file.
    pub fn read<T: Element>(&mut self, part: impl Part) -> Result<ArrayD<T>> {
        self.array.read(part)
    }

    /// Reads a part of the array, and moves it to a backend.
    ///
    /// # Errors
    /// The errors of [`MrcReader::read`], and the errors of the backend.
    pub fn array<B: Arrays, T: Element>(&mut self, b: &B, part: impl Part) -> Result<B::Array<T>> {
        on(b, self.read(part)?)
    }

    /// Reads the whole array in its own dtype on a backend.
    ///
    /// # Errors
    /// The errors of [`MrcReader::read`], and the errors of the backend.
    pub fn value<B: Arrays>(&mut self, b: &B) -> Result<Value<B>> {
        value(b, self.dtype(), Whole(self))
    }
}

struct Whole<'a>(&'a mut MrcReader);

impl ReadArray for Whole<'_> {
    fn run<T: Element>(self) -> Result<ArrayD<T>> {
        self.0.read(..)
    }
}

struct Save<'a>(&'a Path, &'a MrcInfo);

impl WithArray for Save<'_> {
    fn run<T: Element>(self, x: &HostArray<T>) -> Result<()> {
        let Save(path, info) = self;
        let save = || {
            let mode = header::mode_of(T::DTYPE).ok_or_else(|| absent("MRC", T::DTYPE))?;
            let header = header::write(x.shape(), mode, info, statistics(x))?;
            let mut file = BufWriter::new(File::create(path)?);
            file.write_all(&header)?;
            encoded::write_elements(&mut file, x)?;
            file.flush()
        };
        save().map_err(named(&path.display().to_string()))
    }
}

/// The statistics of real elements, which the header of a file contains.
fn statistics<T: Element>(x: &HostArray<T>) -> Option<Statistics> {
    if T::DTYPE.kind() == DTypeKind::Complex || x.is_empty() {
        return None;
    }
    let numbers = || x.iter().map(|v| v.cast::<f64>());
    let count = x.len() as f64;
    let mean = numbers().sum::<f64>() / count;
    let variance = numbers().map(|v| (v - mean) * (v - mean)).sum::<f64>() / count;
    let (least, largest) = (numbers().fold(f64::INFINITY, f64::min), numbers().fold(f64::NEG_INFINITY, f64::max));
    Some(Statistics { least, largest, mean, deviation: variance.sqrt() })
}
