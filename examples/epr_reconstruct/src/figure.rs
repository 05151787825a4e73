//! Pictures of the measurement and the results.

use backends_epr::Scan;
use backends_plot::{Axes, ColorMap, imshow, subplots};
use ndarray::{ArrayD, Axis};
use std::error::Error;

/// Draws the measured projections, one below the other.
pub fn sinogram(scan: &Scan, values: &ArrayD<f64>) -> Result<Vec<u8>, Box<dyn Error>> {
    let field = scan.field();
    let edges = [field[0], field[field.len() - 1], 0.5, values.shape()[0] as f64 + 0.5];
    // 0 gets the middle colour, because the spectra are derivatives; a few of the highest peaks may exceed the range
    let mut magnitudes: Vec<f64> = values.iter().map(|v| v.abs()).collect();
    magnitudes.sort_by(f64::total_cmp);
    let largest = magnitudes.get(magnitudes.len() * 995 / 1000).copied().unwrap_or(0.0);
    // negative values are blue
    let image = imshow(values).cmap(ColorMap::rd_bu().reversed()).range(-largest, largest).label(NAME);
    let image = image.origin_lower().extent(edges).aspect_auto().size(1000, 560);
    Ok(image.title("Measured projections").xlabel("magnetic field (G)").ylabel("projection").png()?)
}

const NAME: &str = "arbitrary units";

/// Draws an image, or the three central slices of a volume, at one scale of length and colour.
pub fn image(title: &str, values: &ArrayD<f64>, delta: f64) -> Result<Vec<u8>, Box<dyn Error>> {
    let panels = panels(values, delta);
    let highest = if panels.len() == 1 { 800 } else { 520 };
    let mut figure = subplots(1, panels.len()).title(title).common_colors().same_scale();
    for (column, panel) in panels.into_iter().enumerate() {
        figure = figure.at(0, column, panel.size(900, highest));
    }
    Ok(figure.png()?)
}

fn panels(image: &ArrayD<f64>, delta: f64) -> Vec<Axes> {
    const AXES: [&str; 3] = ["Y", "X", "Z"];
    // pixel i is centred at (i - n / 2) * delta
    let edges = |axis: usize| {
        let n = image.shape()[axis];
        let first = -((n / 2) as f64) - 0.5;
        [first * delta, (first + n as f64) * delta]
    };
    let panel = |slice: &ArrayD<f64>, vertical: usize, horizontal: usize, title: &str| {
        let ([left, right], [bottom, top]) = (edges(horizontal), edges(vertical));
        let shown = imshow(slice).cmap(ColorMap::inferno()).label(NAME);
        let shown = shown.origin_lower().extent([left, right, bottom, top]).title(title);
        shown.xlabel(format!("{} (cm)", AXES[horizontal])).ylabel(format!("{} (cm)", AXES[vertical]))
    };
    if image.ndim() == 2 {
        return vec![panel(image, 0, 1, "")];
    }
    let slice = |axis: usize| image.index_axis(Axis(axis), image.shape()[axis] / 2).to_owned();
    vec![panel(&slice(2), 0, 1, "Z = 0"), panel(&slice(1), 0, 2, "X = 0"), panel(&slice(0), 1, 2, "Y = 0")]
}
