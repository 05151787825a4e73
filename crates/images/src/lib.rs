//! Arrays in the image files of science. Each format is a feature of this crate, with a module of its own:
//!
//! | files | feature, module | reads and writes | information beside the array |
//! |---|---|---|---|
//! | MRC volumes (`.mrc`, `.map`, `.rec`, `.ccp4`) | [`mrc`] (default) | `b.load_mrc`, `b.save_mrc`, [`MrcReader`] | [`MrcInfo`]: voxel size, origin |
//! | TIFF stacks (`.tif`, `.tiff`) | [`tiff`] (default) | `b.load_tiff`, `b.save_tiff`, [`TiffReader`] | [`TiffInfo`]: resolution, description |
//! | NIfTI images (`.nii`, `.nii.gz`) | `nifti` | `b.load_nifti`, `b.save_nifti`, `NiftiReader` | `NiftiInfo`: voxel size, affine |
//!
//! `b.load_tiff::<T>(path)` converts the elements to `T`, as `load_npy` of the crate `backends-npz` does: every float
//! dtype accepts all dtypes that are not complex, and an integer dtype accepts the dtypes whose values it holds.
//! `b.load_tiff_value(path)` returns the array in the dtype of the file. A reader, such as [`TiffReader`], gives the
//! shape, the dtype and the other information without reading the elements, and reads parts of the array.
//!
//! Files from untrusted sources can be read. The sizes in a header are compared with the length of the file before
//! memory is allocated, and a damaged file gives an error that names the file.

#![deny(missing_docs)]

#[cfg(any(feature = "mrc", feature = "nifti", feature = "tiff"))]
mod files;
#[cfg(feature = "mrc")]
pub mod mrc;
#[cfg(feature = "nifti")]
pub mod nifti;
#[cfg(any(feature = "mrc", feature = "nifti"))]
mod raw;
#[cfg(feature = "tiff")]
pub mod tiff;

#[cfg(feature = "mrc")]
pub use mrc::{MrcFiles, MrcInfo, MrcReader};
#[cfg(feature = "nifti")]
pub use nifti::{NiftiFiles, NiftiInfo, NiftiReader};
#[cfg(feature = "tiff")]
pub use tiff::{ResolutionUnit, TiffCompression, TiffFiles, TiffInfo, TiffPage, TiffReader};
