//! TIFF files (`.tif`, `.tiff`), which microscopes and cameras write: one page, or a stack of pages of one shape.
//!
//! The axes of an array are (pages, rows, columns), or (pages, rows, columns, samples) if a pixel has several samples,
//! such as the three colours. A file of one page also has the axis of pages. The dtypes are the integers, float16,
//! float32 and float64, and bool for pixels of one bit. Pages may be uncompressed, or compressed by deflate, LZW or
//! PackBits, in strips or tiles, in both byte orders, and in the variant BigTIFF.
//!
//! The elements are those in the file: colours are not converted. Palettes, pixels of 2 to 7 and of 12 bits, and
//! compression by JPEG, zstd and the methods of fax machines are errors.
//!
//! ```
//! use backends::prelude::*;
//! use backends_images::{ResolutionUnit, TiffCompression, TiffFiles, TiffInfo, TiffReader};
//!
//! # let path = std::env::temp_dir().join(format!("backends-images-{}.tif", std::process::id()));
//! let b = Numpyish::new();
//! let stack = b.reshape(b.astype::<u16, _>(&b.arange(0.0, 24.0, 1.0)?)?, [2, 3, 4])?;
//! let info = TiffInfo::new().resolution([1000.0, 1000.0], ResolutionUnit::Centimeter);
//! b.save_tiff(&path, &stack, &info.compression(TiffCompression::Deflate))?;
//!
//! assert_eq!(b.load_tiff::<u16>(&path)?, stack);
//! let mut file = TiffReader::open(&path)?;
//! assert_eq!((file.shape()?, file.dtype()?), (vec![2, 3, 4], DType::UInt16));
//! assert_eq!(file.info().resolution, Some([1000.0, 1000.0]));
//! let last = file.array::<_, f64>(&b, 1..)?; // only this page is read
//! assert_eq!(last[[0, 0, 0]], 12.0);
//! # std::fs::remove_file(path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod directories;
mod info;
mod page;
mod read;
mod write;

pub use info::{ResolutionUnit, TiffCompression, TiffInfo};
pub use page::TiffPage;
pub use read::TiffReader;

use crate::files::{WithArray, host, named, with_array};
use backend_runtime::{Arrays, Element, HostArray, IntoArray, Value};
use std::{io::Result, path::Path};

/// Methods of every backend that read and write TIFF files.
pub trait TiffFiles: Arrays {
    /// Reads all pages of a TIFF file as elements of `T`. The elements of the file are converted to `T` if more than
    /// precision is not lost; otherwise this is an error.
    ///
    /// # Errors
    /// An error that names the file: of the system; `InvalidData` if the file is damaged, or if its pages differ in
    /// shape or dtype; `Unsupported` if the crate does not read its kind of pixels or compression; `InvalidInput` if
    /// `T` does not hold the elements of the file.
    fn load_tiff<T: Element>(&self, path: impl AsRef<Path>) -> Result<Self::Array<T>> {
        TiffReader::open(path)?.array(self, ..)
    }

    /// Reads all pages of a TIFF file in its own dtype.
    ///
    /// # Errors
    /// The errors of `load_tiff`.
    fn load_tiff_value(&self, path: impl AsRef<Path>) -> Result<Value<Self>> {
        TiffReader::open(path)?.value(self)
    }

    /// Writes an array to a TIFF file: (rows, columns), (pages, rows, columns), or (pages, rows, columns, samples) with
    /// 1 to 4 samples. Three samples are the colours red, green and blue; the fourth is the opacity. An existing file
    /// is overwritten. The file is a BigTIFF if it may be larger than 4 GB.
    ///
    /// # Errors
    /// An error that names the file: of the system; `InvalidInput` if the format has no such shape, dtype or info.
    fn save_tiff<'a, T: Element>(
        &self,
        path: impl AsRef<Path>,
        x: impl IntoArray<'a, Self::Array<T>>,
        info: &TiffInfo,
    ) -> Result<()> {
        Save(path.as_ref(), info).run(&host(self, &*x.into_array())?)
    }

    /// Writes an array whose dtype is known only at run time, like `save_tiff`.
    ///
    /// # Errors
    /// The errors of `save_tiff`.
    fn save_tiff_value(&self, path: impl AsRef<Path>, x: &Value<Self>, info: &TiffInfo) -> Result<()> {
        with_array(self, x, Save(path.as_ref(), info))
    }
}

impl<B: Arrays> TiffFiles for B {}

struct Save<'a>(&'a Path, &'a TiffInfo);

impl WithArray for Save<'_> {
    fn run<T: Element>(self, x: &HostArray<T>) -> Result<()> {
        let Save(path, info) = self;
        write::save(path, x, info).map_err(named(&path.display().to_string()))
    }
}
