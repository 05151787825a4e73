//! Arrays in safetensors files, which PyTorch, JAX and Hugging Face's libraries read and write. The format is that of
//! the crate [`safetensors`](https://docs.rs/safetensors), which checks the header of a file and its offsets.
//!
//! A file has named arrays. `backends::grad::state_dict` returns the arrays of a model by name, and
//! `backends::grad::load_state_dict` puts the arrays of a file into a model:
//!
//! ```
//! use backends::{grad::{Params, load_state_dict, state_dict}, prelude::*};
//!
//! #[derive(Params)]
//! struct Layer<B: Backend> {
//!     weight: B::Array<f32>,
//!     bias: B::Array<f32>,
//! }
//!
//! # let path = std::env::temp_dir().join(format!("backends-safetensors-{}.safetensors", std::process::id()));
//! let b = Numpyish::new();
//! let layer = Layer::<Numpyish> { weight: b.ones([2, 3])?, bias: b.zeros(3)? };
//! backends_safetensors::save(&path, &state_dict(&b, &layer)?)?;
//!
//! let file = backends_safetensors::load(&path)?;
//! assert_eq!(file["weight"].get::<f32>(), Some(&layer.weight));
//! let again = load_state_dict(&b, &layer, &file)?;
//! assert_eq!(again.bias, layer.bias);
//! # std::fs::remove_file(path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The dtypes are bool, the integers, float16, bfloat16, float32, float64 and complex64. The format has no complex128;
//! it has floats of at most 8 bits, which are an error here.

use backend_runtime::{DType, DynArray, numpyish::Numpyish};
use safetensors::{Dtype, SafeTensors, View};
use std::{
    borrow::Cow,
    collections::BTreeMap,
    fs,
    io::{Error, ErrorKind, Result},
    path::Path,
};

#[cfg(target_endian = "big")]
compile_error!("the elements of safetensors files are little endian, and this crate does not convert them");

/// Reads all arrays of a file, by their names.
///
/// # Errors
/// An error that names the file: of the system; `InvalidData` if the file is damaged, or has an array whose dtype is
/// not one of this crate's.
pub fn load(path: impl AsRef<Path>) -> Result<BTreeMap<String, DynArray<Numpyish>>> {
    let path = path.as_ref();
    let read = || match fs::metadata(path)?.is_file() {
        true => fs::read(path),
        // a device may have no end
        false => Err(Error::new(ErrorKind::InvalidInput, "this is not a file")),
    };
    read().and_then(|bytes| from_bytes(&bytes)).map_err(at(path))
}

/// Writes arrays to a file, under their names. An existing file is overwritten, but not if an array has a dtype that
/// the format does not have.
///
/// # Errors
/// An error that names the file: of the system; `InvalidInput` for an array of complex128.
pub fn save(path: impl AsRef<Path>, arrays: &BTreeMap<String, DynArray<Numpyish>>) -> Result<()> {
    let path = path.as_ref();
    to_bytes(arrays, &BTreeMap::new()).and_then(|bytes| fs::write(path, bytes)).map_err(at(path))
}

/// Reads all arrays from the bytes of a file, like [`load`].
///
/// # Errors
/// The errors of [`load`], without the name of a file.
pub fn from_bytes(bytes: &[u8]) -> Result<BTreeMap<String, DynArray<Numpyish>>> {
    let file = SafeTensors::deserialize(bytes).map_err(|why| Error::new(ErrorKind::InvalidData, why.to_string()))?;
    let array = |(name, x): (&str, safetensors::tensor::TensorView<'_>)| {
        let dtype = dtype_of(x.dtype()).ok_or_else(|| {
            Error::new(ErrorKind::InvalidData, format!("the array `{name}` has the dtype {:?}", x.dtype()))
        })?;
        let array = DynArray::from_bytes(&Numpyish::new(), dtype, x.shape(), x.data());
        let array = array.map_err(|why| Error::new(ErrorKind::InvalidData, format!("the array `{name}`: {why}")))?;
        Ok((name.to_string(), array))
    };
    file.iter().map(array).collect()
}

/// Returns the bytes of a file with these arrays, like [`save`]. `notes` is the file's metadata: texts by name.
///
/// # Errors
/// The errors of [`save`], without the name of a file.
pub fn to_bytes(arrays: &BTreeMap<String, DynArray<Numpyish>>, notes: &BTreeMap<String, String>) -> Result<Vec<u8>> {
    let host = Numpyish::new();
    let mut all = Vec::with_capacity(arrays.len());
    for (name, x) in arrays {
        let invalid = |why: String| Error::new(ErrorKind::InvalidInput, format!("the array `{name}`: {why}"));
        let dtype = in_file(x.dtype()).ok_or_else(|| invalid(format!("the format has no {}", x.dtype())))?;
        let bytes = x.to_bytes(&host).map_err(|why| invalid(why.to_string()))?;
        all.push((name, Stored { dtype, shape: x.shape(&host), bytes }));
    }
    let notes = (!notes.is_empty()).then(|| notes.clone().into_iter().collect());
    safetensors::serialize(all, notes).map_err(|why| Error::new(ErrorKind::InvalidInput, why.to_string()))
}

/// Reads the metadata from the bytes of a file: texts by name.
///
/// # Errors
/// `InvalidData` if the file is damaged.
pub fn notes(bytes: &[u8]) -> Result<BTreeMap<String, String>> {
    let read = SafeTensors::read_metadata(bytes).map_err(|why| Error::new(ErrorKind::InvalidData, why.to_string()));
    Ok(read?.1.metadata().clone().unwrap_or_default().into_iter().collect())
}

/// Returns a function that adds the path of a file to the message of an error.
fn at(path: &Path) -> impl Fn(Error) -> Error {
    move |why| Error::new(why.kind(), format!("{}: {why}", path.display()))
}

struct Stored<'a> {
    dtype: Dtype,
    shape: &'a [usize],
    bytes: Vec<u8>,
}

impl View for Stored<'_> {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// The dtypes, with their names in the format.
const DTYPES: [(DType, Dtype); 14] = [
    (DType::Bool, Dtype::BOOL),
    (DType::Int8, Dtype::I8),
    (DType::Int16, Dtype::I16),
    (DType::Int32, Dtype::I32),
    (DType::Int64, Dtype::I64),
    (DType::UInt8, Dtype::U8),
    (DType::UInt16, Dtype::U16),
    (DType::UInt32, Dtype::U32),
    (DType::UInt64, Dtype::U64),
    (DType::Float16, Dtype::F16),
    (DType::BFloat16, Dtype::BF16),
    (DType::Float32, Dtype::F32),
    (DType::Float64, Dtype::F64),
    (DType::Complex64, Dtype::C64),
];

fn dtype_of(stored: Dtype) -> Option<DType> {
    DTYPES.iter().find(|(_, known)| *known == stored).map(|(dtype, _)| *dtype)
}

fn in_file(dtype: DType) -> Option<Dtype> {
    DTYPES.iter().find(|(known, _)| *known == dtype).map(|(_, stored)| *stored)
}
