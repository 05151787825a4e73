//! Reads the measurement from disk.

use backends_epr::Scan;
use backends_npz::Npz;
use ndarray::ArrayD;
use std::{error::Error, fmt, path::Path};

/// The projections and the scan that produced them, checked for consistency.
pub struct Measurement {
    name: String,
    pub scan: Scan,
    /// The projections, of shape (projections, samples).
    pub sinogram: ArrayD<f64>,
}

impl Measurement {
    /// Reads an `.npz` file or a folder of `.npy` files.
    pub fn read(path: &Path) -> Result<Measurement, Box<dyn Error>> {
        let data = Npz::open(path)?;
        let in_file = |e: &dyn fmt::Display| format!("{}: {e}", path.display());
        let scan = Scan::new(&data.vector("B")?, &data.vector("h")?, &data.rows("fgrad")?).map_err(|e| in_file(&e))?;
        let sinogram = data.get::<f64>("proj")?;
        let expected = [scan.projections(), scan.samples()];
        if sinogram.shape() != expected {
            let (projections, samples) = (scan.projections(), scan.samples());
            let given = sinogram.shape();
            return Err(in_file(&format!(
                "`proj` has the shape {given:?}, while `fgrad` has {projections} columns and `B` {samples} samples"
            ))
            .into());
        }
        if let Some(value) = sinogram.iter().find(|x| !x.is_finite()) {
            return Err(in_file(&format!("`proj` has the value {value}")).into());
        }
        let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        Ok(Measurement { name, scan, sinogram })
    }
}

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scan = &self.scan;
        let steepest = (0..scan.projections()).map(|k| scan.magnitude(k)).fold(0.0, f64::max);
        let first = scan.field()[0];
        write!(
            f,
            "{}: {} projections of {} samples, field {first:.1} to {:.1} G, gradient up to {steepest:.1} G/cm",
            self.name,
            scan.projections(),
            scan.samples(),
            first + scan.range(),
        )
    }
}
