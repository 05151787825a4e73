//! Pictures of the smoke and of the flow.

use colorgrad::preset;
use examples_common::figure::{self, Colors, Panel, Picture};
use ndarray::ArrayD;
use std::error::Error;

const HIGHEST: u32 = 560;

fn panel(values: ArrayD<f64>) -> Panel {
    let extents = [0, 1].map(|axis| [0.0, values.shape()[axis] as f64]);
    Panel {
        values,
        title: String::new(),
        labels: ["height (cells)".into(), "x (cells)".into()],
        extents,
        marks: vec![],
    }
}

/// The density of the smoke.
pub fn smoke(density: ArrayD<f64>, time: f64) -> Result<Picture, Box<dyn Error>> {
    let colors =
        Colors { gradient: preset::magma(), reversed: false, range: [0.0, 1.0], name: "density of smoke".into() };
    figure::to_scale(&format!("Smoke after {time:.1}"), &[panel(density)], &colors, HIGHEST)
}

/// How fast the fluid turns.
pub fn vorticity(values: ArrayD<f64>) -> Result<Picture, Box<dyn Error>> {
    let largest = values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let range = [-largest, largest];
    let name = "vorticity (1 / time)".into();
    let colors = Colors { gradient: preset::rd_bu(), reversed: true, range, name };
    figure::to_scale("Vorticity in the end", &[panel(values)], &colors, HIGHEST)
}
