//! Results of others, to compare with.

use backends_epr::npz::Npz;
use ndarray::ArrayD;
use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
};

/// Every file that may hold reference results.
#[derive(Default)]
pub struct References(Vec<Npz>);

/// An `.npz` file, or a folder: its `.npz` files, and its `.npy` files.
pub fn read(path: &Path) -> Result<References, Box<dyn Error>> {
    let mut files: Vec<PathBuf> = Vec::new();
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            let file = entry?.path();
            files.extend(file.extension().is_some_and(|e| e == "npz").then_some(file.clone()));
        }
        files.sort();
    }
    files.push(path.to_owned());
    let opened = files.iter().map(Npz::open).collect::<Result<Vec<_>, _>>()?;
    let found: Vec<Npz> =
        opened.into_iter().filter(|f| ["fbp", "tv_u", "tv_E"].iter().any(|k| f.contains(k))).collect();
    if found.is_empty() {
        return Err(format!("{}: no array fbp, tv_u or tv_E there", path.display()).into());
    }
    Ok(References(found))
}

impl References {
    /// Prints how far a result is from each reference of its name and shape.
    pub fn compare(&self, key: &str, result: &ArrayD<f64>) -> Result<(), Box<dyn Error>> {
        for file in self.0.iter().filter(|file| file.contains(key)) {
            let expected = file.get(key)?;
            if expected.shape() != result.shape() {
                continue;
            }
            let difference = result - &expected;
            let largest = |x: &ArrayD<f64>| x.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            let norm = |x: &ArrayD<f64>| x.iter().map(|v| v * v).sum::<f64>().sqrt();
            println!(
                "      {key} of {}: largest difference {:.1e} of the maximum, {:.1e} in the L2 norm",
                file.path().file_name().unwrap_or_default().to_string_lossy(),
                largest(&difference) / largest(&expected),
                norm(&difference) / norm(&expected),
            );
        }
        Ok(())
    }
}
