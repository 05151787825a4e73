//! Volumes on disk, read in parts: `.npy` files and the MRC files of electron microscopy.

use backends_images::MrcReader;
use backends_npz::NpyReader;
use ndarray::ArrayD;
use std::{error::Error, fmt, ops::Range, path::Path};

/// A volume that is read in parts. Axis 0 is the section axis (z) of an MRC file, and the last axis is its column axis
/// (x).
pub struct Volume {
    name: String,
    shape: [usize; 3],
    source: Source,
}

enum Source {
    Npy(NpyReader),
    Mrc(MrcReader),
}

impl Volume {
    /// Opens a file; its extension determines the format.
    pub fn open(path: &Path) -> Result<Volume, Box<dyn Error>> {
        let name = path.display().to_string();
        let kind = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let (shape, source) = match kind.as_str() {
            "npy" => return Volume::open_npy(path),
            "mrc" | "map" | "rec" | "ccp4" => {
                let reader = MrcReader::open(path)?;
                (reader.shape().to_vec(), Source::Mrc(reader))
            }
            _ => return Err(format!("{name}: volumes are files *.npy, *.mrc, *.map, *.rec or *.ccp4").into()),
        };
        Volume::new(name, &shape, source)
    }

    /// Opens a `.npy` file, whatever its extension.
    pub fn open_npy(path: &Path) -> Result<Volume, Box<dyn Error>> {
        let reader = NpyReader::open(path)?;
        let shape = reader.shape().to_vec();
        Volume::new(path.display().to_string(), &shape, Source::Npy(reader))
    }

    fn new(name: String, shape: &[usize], source: Source) -> Result<Volume, Box<dyn Error>> {
        match <[usize; 3]>::try_from(shape) {
            Ok(shape) if !shape.contains(&0) => Ok(Volume { name, shape, source }),
            Ok(shape) => Err(format!("{name}: the shape {shape:?} has no elements").into()),
            Err(_) => Err(format!("{name}: the shape {shape:?} does not have three axes").into()),
        }
    }

    /// Lengths of the axes, in voxels.
    pub fn shape(&self) -> [usize; 3] {
        self.shape
    }

    /// Reads the part within these ranges; numbers that are not finite are an error.
    pub fn read(&mut self, ranges: &[Range<usize>; 3]) -> Result<ArrayD<f64>, Box<dyn Error>> {
        let part: ArrayD<f64> = match &mut self.source {
            Source::Npy(reader) => reader.read(ranges)?,
            Source::Mrc(reader) => reader.read(ranges)?,
        };
        match part.iter().find(|v| !v.is_finite()) {
            Some(value) => Err(format!("{}: there is a value {value}", self.name).into()),
            None => Ok(part),
        }
    }

    /// Reads the whole volume.
    pub fn whole(&mut self) -> Result<ArrayD<f64>, Box<dyn Error>> {
        self.read(&self.shape.map(|n| 0..n))
    }
}

impl fmt::Display for Volume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [z, y, x] = self.shape;
        write!(f, "{}: {z} x {y} x {x}", self.name)
    }
}
