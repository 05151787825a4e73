//! Pictures of the smoke and of the vorticity.

use backends_plot::{Axes, ColorMap, Picture, Result, imshow, subplots};
use ndarray::ArrayD;

fn image(values: &ArrayD<f64>, colors: ColorMap, label: &str) -> Axes {
    // the edges of the cells have whole coordinates
    let edges = [0.0, values.shape()[1] as f64, 0.0, values.shape()[0] as f64];
    let image = imshow(values).cmap(colors).label(label).origin_lower().extent(edges);
    image.xlabel("x (cells)").ylabel("height (cells)").size(900, 560)
}

const SMOKE: &str = "density of smoke";

/// Draws the density of the smoke.
pub fn smoke(density: &ArrayD<f64>, time: f64) -> Result<Picture> {
    let title = format!("Smoke after {time:.1} units of time");
    image(density, ColorMap::magma(), SMOKE).range(0.0, 1.0).title(title).draw()
}

/// Draws the vorticity, which is the rate at which the fluid rotates.
pub fn vorticity(values: &ArrayD<f64>) -> Result<Picture> {
    let largest = values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let image = image(values, ColorMap::rd_bu().reversed(), "vorticity (1 / unit of time)");
    image.range(-largest, largest).title("Vorticity in the end").draw()
}

/// Draws two pictures of smoke: `target`, the given picture, and `made`, its reproduction by the program. A strip at
/// the bottom of each picture shows its inflow: `wanted` or `found`.
pub fn inverse(target: &ArrayD<f64>, made: &ArrayD<f64>, wanted: &ArrayD<f64>, found: &ArrayD<f64>) -> Result<Picture> {
    let largest = |x: &ArrayD<f64>| x.iter().fold(f64::MIN_POSITIVE, |m: f64, v| m.max(*v));
    let (smoke, inflow) = (largest(target), largest(wanted));
    // draws the inflow as a strip at the bottom, in the colours of the smoke
    let with_strip = |picture: &ArrayD<f64>, inflow_of: &ArrayD<f64>, title: &str| {
        // negative values are drawn as 0, since the inflow found may be slightly negative
        let mut values = picture.mapv(|smoke| smoke.max(0.0));
        let strip = values.shape()[0].div_ceil(24);
        for (index, value) in values.indexed_iter_mut() {
            if index[0] < strip {
                *value = (inflow_of[[index[1]]] / inflow).clamp(0.0, 1.0) * smoke;
            }
        }
        image(&values, ColorMap::magma(), SMOKE).range(0.0, smoke).title(title)
    };
    let figure =
        subplots(1, 2).at(0, 0, with_strip(target, wanted, "given")).at(0, 1, with_strip(made, found, "found"));
    figure.title("The picture, and below it the inflow").common_colors().same_scale().draw()
}
