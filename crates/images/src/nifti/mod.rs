//! NIfTI images (`.nii`, `.nii.gz`), versions 1 and 2, which magnetic resonance tomography uses.
//!
//! The axes of an array are (x, y, z), or (x, y, z, time) and so on, as in the Python package `nibabel`. The dtypes are
//! the integers, float32, float64, complex64 and complex128. If a file has a factor and an offset for its values (the
//! fields `scl_slope` and `scl_inter`), they are applied, and the array is float64 or complex128 unless another dtype
//! is requested. Pairs of a header (`.hdr`) and data (`.img`), and pixels of colours, are errors.
//!
//! ```
//! use backends::prelude::*;
//! use backends_images::{NiftiFiles, NiftiInfo, NiftiReader};
//!
//! # let path = std::env::temp_dir().join(format!("backends-images-{}.nii.gz", std::process::id()));
//! let b = Numpyish::new();
//! let image = b.reshape(b.arange::<i16>(0, 24, 1)?, [2, 3, 4])?;
//! let affine = [[2.0, 0.0, 0.0, -10.0], [0.0, 2.0, 0.0, -20.0], [0.0, 0.0, 3.0, 5.0]];
//! b.save_nifti(&path, &image, &NiftiInfo::new().affine(affine))?; // compressed, because the name ends with `.gz`
//!
//! assert_eq!(b.load_nifti::<i16>(&path)?, image);
//! let file = NiftiReader::open(&path)?;
//! assert_eq!((file.shape(), file.dtype()), (&[2, 3, 4][..], DType::Int16));
//! assert_eq!(file.info().affine, Some(affine));
//! assert_eq!(file.info().voxel_size, [2.0, 2.0, 3.0]);
//! # std::fs::remove_file(path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod affine;
mod header;
mod info;
mod write;

pub use info::NiftiInfo;

use crate::{
    files::{ReadArray, Source, WithArray, explain, host, invalid, named, on, value, with_array},
    raw::{RawArray, data_bytes},
};
use backend_runtime::{
    Arrays, Complex, DType, DTypeKind, Element, HostArray, IntoArray, Value,
    encoded::{damaged, reserved},
    parts::Part,
};
use flate2::read::GzDecoder;
use header::Header;
use ndarray::ArrayD;
use std::{
    io::{BufReader, Cursor, Read, Result, SeekFrom, copy, sink},
    path::Path,
};

/// The largest factor by which deflate can compress: it needs at least two bits for a repetition of 258 bytes.
const LARGEST_EXPANSION: u64 = 1032;

/// Methods of every backend that read and write NIfTI images.
pub trait NiftiFiles: Arrays {
    /// Reads a NIfTI image as elements of `T`. The values of the file are converted to `T` if more than precision is
    /// not lost; otherwise this is an error.
    ///
    /// # Errors
    /// An error that names the file: of the system; `InvalidData` if the file is damaged; `InvalidInput` if `T` does
    /// not hold the values of the file.
    fn load_nifti<T: Element>(&self, path: impl AsRef<Path>) -> Result<Self::Array<T>> {
        NiftiReader::open(path)?.array(self, ..)
    }

    /// Reads a NIfTI image in the dtype of its values ([`NiftiReader::dtype`]).
    ///
    /// # Errors
    /// The errors of `load_nifti`.
    fn load_nifti_value(&self, path: impl AsRef<Path>) -> Result<Value<Self>> {
        NiftiReader::open(path)?.value(self)
    }

    /// Writes an array of one to seven axes to a NIfTI image, which is compressed if the name of the file ends with
    /// `.gz`. An existing file is overwritten. The version is 1 if the lengths of the axes permit it, otherwise 2.
    ///
    /// # Errors
    /// An error that names the file: of the system; `InvalidInput` if the format has no such shape, dtype or info.
    fn save_nifti<'a, T: Element>(
        &self,
        path: impl AsRef<Path>,
        x: impl IntoArray<'a, Self::Array<T>>,
        info: &NiftiInfo,
    ) -> Result<()> {
        Save(path.as_ref(), info).run(&host(self, &*x.into_array())?)
    }

    /// Writes an array whose dtype is known only at run time, like `save_nifti`.
    ///
    /// # Errors
    /// The errors of `save_nifti`.
    fn save_nifti_value(&self, path: impl AsRef<Path>, x: &Value<Self>, info: &NiftiInfo) -> Result<()> {
        with_array(self, x, Save(path.as_ref(), info))
    }
}

impl<B: Arrays> NiftiFiles for B {}

/// A NIfTI image, from which the array or parts of it are read. An image that is compressed is decompressed into memory
/// when it is opened.
#[derive(Debug)]
pub struct NiftiReader {
    array: RawArray,
    scaling: Option<(f64, f64)>,
    info: NiftiInfo,
}

impl NiftiReader {
    /// Opens a file. Bytes after the last element are ignored.
    ///
    /// # Errors
    /// An error that names the file: of the system; `InvalidData` if the file is damaged, or too short for its header.
    pub fn open(path: impl AsRef<Path>) -> Result<NiftiReader> {
        NiftiReader::of(Source::open(path.as_ref())?)
    }

    /// Opens a file in memory. Error messages name the file `name`.
    ///
    /// # Errors
    /// The errors of [`NiftiReader::open`].
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<NiftiReader> {
        NiftiReader::of(Source::of_bytes(name, bytes))
    }

    fn of(source: Source) -> Result<NiftiReader> {
        let name = source.name.clone();
        NiftiReader::of_any(source).map_err(named(&name))
    }

    fn of_any(mut source: Source) -> Result<NiftiReader> {
        let mut mark = [0; 2];
        source.from.read_exact(&mut mark).map_err(|e| explain(e, "the file ends within its header"))?;
        source.from.seek(SeekFrom::Start(0))?;
        let (header, start, from) = if mark == [0x1f, 0x8b] {
            let length = source.length.saturating_mul(LARGEST_EXPANSION);
            let mut unpacked = GzDecoder::new(BufReader::new(source.from));
            let header = Header::read(&mut unpacked)?;
            let count = data_bytes(header.elements, &header.shape, header.start, length)?;
            header.skip_to_data(&mut unpacked)?;
            let mut bytes = reserved(count)?;
            unpacked.by_ref().take(count as u64).read_to_end(&mut bytes)?;
            if bytes.len() < count {
                return Err(damaged("the data are shorter than the header declares"));
            }
            // the checksum is verified only at the end of the data
            copy(&mut unpacked, &mut sink())?;
            (header, 0, Box::new(Cursor::new(bytes)) as _)
        } else {
            let header = Header::read(&mut source.from)?;
            data_bytes(header.elements, &header.shape, header.start, source.length)?;
            let start = header.start;
            (header, start, source.from)
        };
        let Header { elements, shape, scaling, info, .. } = header;
        let array = RawArray { name: source.name, from, elements, shape, fortran: true, start };
        Ok(NiftiReader { array, scaling, info })
    }

    /// The shape of the whole array: (x, y, z), (x, y, z, time), and so on.
    pub fn shape(&self) -> &[usize] {
        &self.array.shape
    }

    /// The dtype of the values: the dtype of the elements in the file, but float64 or complex128 if there is a
    /// [`scaling`](NiftiReader::scaling).
    pub fn dtype(&self) -> DType {
        let stored = self.stored_dtype();
        match self.scaling {
            None => stored,
            Some(_) if stored.kind() == DTypeKind::Complex => DType::Complex128,
            Some(_) => DType::Float64,
        }
    }

    /// The dtype of the elements in the file.
    pub fn stored_dtype(&self) -> DType {
        self.array.elements.dtype()
    }

    /// The factor and the offset by which the values are computed from the elements in the file, or `None` if the
    /// values are the elements.
    pub fn scaling(&self) -> Option<(f64, f64)> {
        self.scaling
    }

    /// The voxel size, the affine and other information of the header.
    pub fn info(&self) -> &NiftiInfo {
        &self.info
    }

    /// Reads a part of the array as elements of `T`, converted as by [`NiftiFiles::load_nifti`]. The scaling is
    /// applied.
    ///
    /// # Errors
    /// An error that names the file: of the system; `InvalidInput` if there is no such part, or if `T` does not hold
    /// the values of the file.
    pub fn read<T: Element>(&mut self, part: impl Part) -> Result<ArrayD<T>> {
        let Some((factor, offset)) = self.scaling else {
            return self.array.read(part);
        };
        let is_complex = self.stored_dtype().kind() == DTypeKind::Complex;
        if T::DTYPE.kind() < DTypeKind::Real || is_complex && T::DTYPE.kind() != DTypeKind::Complex {
            let why = format!("{} does not hold elements of {} that are scaled", T::DTYPE, self.stored_dtype());
            return Err(named(&self.array.name)(invalid(why)));
        }
        if is_complex {
            let stored = self.array.read::<Complex<f64>>(part)?;
            return Ok(stored.mapv(|v| (v * factor + offset).cast::<T>()));
        }
        Ok(self.array.read::<f64>(part)?.mapv(|v| (v * factor + offset).cast::<T>()))
    }

    /// Reads a part of the array, and moves it to a backend.
    ///
    /// # Errors
    /// The errors of [`NiftiReader::read`], and the errors of the backend.
    pub fn array<B: Arrays, T: Element>(&mut self, b: &B, part: impl Part) -> Result<B::Array<T>> {
        on(b, self.read(part)?)
    }

    /// Reads the whole array in the dtype of its values on a backend.
    ///
    /// # Errors
    /// The errors of [`NiftiReader::read`], and the errors of the backend.
    pub fn value<B: Arrays>(&mut self, b: &B) -> Result<Value<B>> {
        value(b, self.dtype(), Whole(self))
    }
}

struct Whole<'a>(&'a mut NiftiReader);

impl ReadArray for Whole<'_> {
    fn run<T: Element>(self) -> Result<ArrayD<T>> {
        self.0.read(..)
    }
}

struct Save<'a>(&'a Path, &'a NiftiInfo);

impl WithArray for Save<'_> {
    fn run<T: Element>(self, x: &HostArray<T>) -> Result<()> {
        let Save(path, info) = self;
        write::save(path, x, info).map_err(named(&path.display().to_string()))
    }
}
