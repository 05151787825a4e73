//! Pictures of the measurement and the results.

use backends_epr::Scan;
use colorgrad::preset;
use examples_common::figure::{self, Colors, Panel};
use ndarray::{ArrayD, Axis};
use std::error::Error;

/// Draws the measured projections, one below the other.
pub fn sinogram(scan: &Scan, values: &ArrayD<f64>) -> Result<Vec<u8>, Box<dyn Error>> {
    let field = scan.field();
    let panel = Panel {
        values: values.clone(),
        title: String::new(),
        labels: ["projection".into(), "magnetic field (G)".into()],
        extents: [[0.5, values.shape()[0] as f64 + 0.5], [field[0], field[field.len() - 1]]],
        marks: Vec::new(),
    };
    // 0 gets the middle colour, because the spectra are derivatives; a few of the highest peaks may exceed the range
    let mut magnitudes: Vec<f64> = values.iter().map(|v| v.abs()).collect();
    magnitudes.sort_by(f64::total_cmp);
    let largest = magnitudes.get(magnitudes.len() * 995 / 1000).copied().unwrap_or(0.0);
    // negative values are blue
    let colors = Colors { gradient: preset::rd_bu(), reversed: true, range: [-largest, largest], name: NAME.into() };
    figure::draw("Measured projections", &[panel], &[[1000, 560]], &colors)?.png()
}

const NAME: &str = "arbitrary units";

/// Draws an image, or the three central slices of a volume, at one scale of length and colour.
pub fn image(title: &str, values: &ArrayD<f64>, delta: f64) -> Result<Vec<u8>, Box<dyn Error>> {
    let panels = panels(values, delta);
    let colors = Colors::of(&panels, preset::inferno(), NAME);
    figure::to_scale(title, &panels, &colors, if panels.len() == 1 { 800 } else { 520 })?.png()
}

fn panels(image: &ArrayD<f64>, delta: f64) -> Vec<Panel> {
    const AXES: [&str; 3] = ["Y", "X", "Z"];
    let panel = |slice: ArrayD<f64>, vertical: usize, horizontal: usize, title: String| Panel {
        values: slice,
        title,
        marks: Vec::new(),
        labels: [format!("{} (cm)", AXES[vertical]), format!("{} (cm)", AXES[horizontal])],
        extents: [vertical, horizontal].map(|axis| {
            let n = image.shape()[axis];
            // pixel i is centred at (i - n / 2) * delta
            let first = -((n / 2) as f64) - 0.5;
            [first * delta, (first + n as f64) * delta]
        }),
    };
    if image.ndim() == 2 {
        return vec![panel(image.clone(), 0, 1, String::new())];
    }
    let slice = |axis: usize| image.index_axis(Axis(axis), image.shape()[axis] / 2).to_owned();
    vec![
        panel(slice(2), 0, 1, "Z = 0".into()),
        panel(slice(1), 0, 2, "X = 0".into()),
        panel(slice(0), 1, 2, "Y = 0".into()),
    ]
}
