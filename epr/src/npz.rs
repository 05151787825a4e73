//! Named arrays in an `.npz` file, or as `.npy` files in a folder.

pub use crate::npy::{Written, decode, encode};

use ndarray::{ArrayD, Ix1, Ix2};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{BufReader, Error, ErrorKind, Read, Result},
    path::{Path, PathBuf},
};
use zip::ZipArchive;

/// Named arrays, read when they are asked for.
#[derive(Clone, Debug)]
pub struct Npz {
    path: PathBuf,
    members: BTreeMap<String, Vec<u8>>,
}

impl Npz {
    /// Opens an `.npz` file, or a folder with `.npy` files.
    pub fn open(path: impl AsRef<Path>) -> Result<Npz> {
        let path = path.as_ref();
        let members = if path.is_dir() { folder(path) } else { archive(path) };
        let members = members.map_err(|e| Error::new(e.kind(), format!("{}: {e}", path.display())))?;
        Ok(Npz { path: path.to_owned(), members })
    }

    /// Where the arrays come from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is an array of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// An array of real numbers of any dtype, as `f64`.
    pub fn get(&self, name: &str) -> Result<ArrayD<f64>> {
        let refuse =
            |kind, why: &dyn std::fmt::Display| Error::new(kind, format!("{}: `{name}`: {why}", self.path.display()));
        let bytes = self.members.get(name).ok_or_else(|| refuse(ErrorKind::NotFound, &"there is no such array"))?;
        decode(bytes).map_err(|e| refuse(e.kind(), &e))
    }

    /// An array of one axis.
    pub fn vector(&self, name: &str) -> Result<Vec<f64>> {
        let array = self.get(name)?;
        let shape = array.shape().to_vec();
        let vector = array.into_dimensionality::<Ix1>().map_err(|_| self.rank(name, &shape, 1))?;
        Ok(vector.iter().copied().collect())
    }

    /// The rows of an array of two axes.
    pub fn rows(&self, name: &str) -> Result<Vec<Vec<f64>>> {
        let array = self.get(name)?;
        let shape = array.shape().to_vec();
        let matrix = array.into_dimensionality::<Ix2>().map_err(|_| self.rank(name, &shape, 2))?;
        Ok(matrix.rows().into_iter().map(|row| row.to_vec()).collect())
    }

    /// An array of one element, of any shape.
    pub fn scalar(&self, name: &str) -> Result<f64> {
        let array = self.get(name)?;
        if array.len() == 1 { Ok(array.sum()) } else { Err(self.rank(name, array.shape(), 0)) }
    }

    fn rank(&self, name: &str, shape: &[usize], rank: usize) -> Error {
        let why = format!("{}: `{name}` has the shape {shape:?}, not {rank} axes", self.path.display());
        Error::new(ErrorKind::InvalidData, why)
    }
}

fn archive(path: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut zip = ZipArchive::new(BufReader::new(File::open(path)?))?;
    let mut members = BTreeMap::new();
    for i in 0..zip.len() {
        let mut member = zip.by_index(i)?;
        let mut bytes = Vec::new();
        member.read_to_end(&mut bytes)?;
        let name = member.name()?.into_owned();
        members.insert(name.strip_suffix(".npy").unwrap_or(&name).to_owned(), bytes);
    }
    Ok(members)
}

fn folder(path: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut members = BTreeMap::new();
    for entry in fs::read_dir(path)? {
        let file = entry?.path();
        if file.extension().is_some_and(|e| e == "npy")
            && let Some(name) = file.file_stem().and_then(|n| n.to_str())
        {
            members.insert(name.to_owned(), fs::read(&file)?);
        }
    }
    Ok(members)
}
