//! Pictures of the smoke and of the vorticity.

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

/// Draws the density of the smoke.
pub fn smoke(density: ArrayD<f64>, time: f64) -> Result<Picture, Box<dyn Error>> {
    let colors =
        Colors { gradient: preset::magma(), reversed: false, range: [0.0, 1.0], name: "density of smoke".into() };
    figure::to_scale(&format!("Smoke after {time:.1}"), &[panel(density)], &colors, HIGHEST)
}

/// Draws the vorticity, which is the rate at which the fluid rotates.
pub fn vorticity(values: ArrayD<f64>) -> Result<Picture, Box<dyn Error>> {
    let largest = values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let range = [-largest, largest];
    let name = "vorticity (1 / time)".into();
    let colors = Colors { gradient: preset::rd_bu(), reversed: true, range, name };
    figure::to_scale("Vorticity in the end", &[panel(values)], &colors, HIGHEST)
}

/// Draws two pictures of smoke: `target`, the given picture, and `made`, its reproduction by the program. A strip at
/// the bottom of each picture shows its inflow: `wanted` or `found`.
pub fn inverse(
    target: ArrayD<f64>,
    made: ArrayD<f64>,
    wanted: ArrayD<f64>,
    found: ArrayD<f64>,
) -> Result<Picture, Box<dyn Error>> {
    let largest = |x: &ArrayD<f64>| x.iter().fold(f64::MIN_POSITIVE, |m: f64, v| m.max(*v));
    let (smoke, inflow) = (largest(&target), largest(&wanted));
    // draws the inflow as a strip at the bottom, in the colours of the smoke
    let with_strip = |picture: ArrayD<f64>, inflow_of: ArrayD<f64>, title: &str| {
        // negative values are drawn as 0, since the inflow found may be slightly negative
        let mut panel = panel(picture.mapv(|smoke| smoke.max(0.0)));
        let strip = panel.values.shape()[0].div_ceil(24);
        for (index, value) in panel.values.indexed_iter_mut() {
            if index[0] < strip {
                *value = (inflow_of[[index[1]]] / inflow).clamp(0.0, 1.0) * smoke;
            }
        }
        panel.title = title.into();
        panel
    };
    let colors =
        Colors { gradient: preset::magma(), reversed: false, range: [0.0, smoke], name: "density of smoke".into() };
    let panels = [with_strip(target, wanted, "given"), with_strip(made, found, "found")];
    figure::to_scale("The picture, and below it the inflow", &panels, &colors, HIGHEST)
}
