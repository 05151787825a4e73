//! Reference results of other programs. The program's own results are compared with them.

use backends_npz::Npz;
use examples_common::console::Console;
use ndarray::ArrayD;
use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
};

/// Reference results that were read from files.
#[derive(Default)]
pub struct References(Vec<Reference>);

struct Reference {
    key: &'static str,
    file: String,
    values: ArrayD<f64>,
}

/// Reads the arrays with these names from an `.npz` file, or from a folder of `.npz` and `.npy` files. An array must
/// have the shape of the result with its name. A file with an array of another shape is skipped with a message. Returns
/// an error if no array remains.
pub fn read(
    path: &Path,
    expected: &[(&'static str, Vec<usize>)],
    console: &mut Console,
) -> Result<References, Box<dyn Error>> {
    let mut found = Vec::new();
    let mut unfit = Vec::new();
    for file in files(path)? {
        let data = Npz::open(&file)?;
        let there: Vec<_> = expected.iter().filter(|(key, _)| data.contains(key)).collect();
        let mut fits = true;
        for (key, shape) in &there {
            let given = data.shape(key)?;
            if given != *shape {
                unfit.push(format!("{}: `{key}` has the shape {given:?}, the result {shape:?}", file.display()));
                fits = false;
            }
        }
        for (key, _) in there.into_iter().filter(|_| fits) {
            let file = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            found.push(Reference { key, file, values: data.get(key)? });
        }
    }
    if found.is_empty() {
        let keys = expected.iter().map(|(key, _)| *key).collect::<Vec<_>>().join(", ");
        let none = format!("{}: there is none of the arrays {keys}", path.display());
        return Err(unfit.into_iter().next().unwrap_or(none).into());
    }
    unfit.iter().for_each(|why| console.say(format!("not compared: {why}")));
    Ok(References(found))
}

/// The path itself if it is a file; for a folder, its `.npz` files and the folder itself.
fn files(path: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files: Vec<PathBuf> = Vec::new();
    if path.is_dir() {
        let named = |e: std::io::Error| format!("{}: {e}", path.display());
        for entry in fs::read_dir(path).map_err(named)? {
            let file = entry.map_err(named)?.path();
            files.extend(file.extension().is_some_and(|e| e == "npz").then_some(file.clone()));
        }
        files.sort();
    }
    files.push(path.to_owned());
    Ok(files)
}

impl References {
    /// Prints the difference between a result and each reference array with the result's name.
    pub fn compare(&self, key: &str, result: &ArrayD<f64>, console: &mut Console) {
        for Reference { file, values, .. } in self.0.iter().filter(|reference| reference.key == key) {
            let difference = result - values;
            let largest = |x: &ArrayD<f64>| x.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            let norm = |x: &ArrayD<f64>| x.iter().map(|v| v * v).sum::<f64>().sqrt();
            console.say(format!(
                "      {key} of {file}: largest difference {:.1e} of the maximum, {:.1e} in the L2 norm",
                largest(&difference) / largest(values),
                norm(&difference) / norm(values),
            ));
        }
    }
}
