//! Draws one picture of each kind into a folder: `cargo run -p backends-plot --example gallery -- out`.

use backends_plot::prelude::*;
use ndarray::{Array2, Array3};
use std::{env, fs, path::PathBuf};

fn waves(rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| {
        let (y, x) = (i as f64 / rows as f64 * 6.0, j as f64 / columns as f64 * 9.0);
        (x + 0.3 * y * y).sin() * (-0.2 * y).exp()
    })
}

/// Numbers with a bell-shaped distribution, the same in each run.
fn bell(count: usize) -> Vec<f64> {
    let mut state = 1_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..count).map(|_| (0..12).map(|_| uniform()).sum::<f64>() - 6.0).collect()
}

fn curves() -> Axes {
    let x: Vec<f64> = (1..=400).map(|k| f64::from(k) / 4.0).collect();
    let noise = bell(400);
    let noisy: Vec<f64> = x.iter().zip(&noise).map(|(x, e)| 3.0 * (-x / 15.0).exp() * (0.4 * e).exp() + 1e-3).collect();
    let smooth: Vec<f64> = x.iter().map(|x| 3.0 * (-x / 15.0).exp() + 1e-3).collect();
    let power: Vec<f64> = x.iter().map(|x| 0.5 / x).collect();
    let axes = plot(&x, &noisy).label("each step").color([150, 178, 220]).size_of_marks(1.0);
    let axes = axes.plot(&x, &smooth).label("mean of an epoch").plot(&x, &power).label("1 / x");
    axes.log_y().title("Loss while a network learns").xlabel("time (s)").ylabel("loss (nats)")
}

fn points() -> Axes {
    let (x, y, e) = (bell(300), bell(600), bell(900));
    let y: Vec<f64> = (0..300).map(|k| 0.8 * x[k] + 0.5 * y[k + 300]).collect();
    let far: Vec<f64> = (0..300).map(|k| 0.4 * e[k + 600] + 2.5).collect();
    scatter(&x, &y)
        .label("measured")
        .scatter(&far, &x)
        .label("shifted")
        .xlabel("x (mm)")
        .ylabel("y (mm)")
        .title("Points")
}

fn bars() -> Axes {
    let shifted: Vec<f64> = bell(8000).iter().map(|v| 0.6 * v + 2.0).collect();
    let axes = hist(&bell(10_000), 50).label("first").hist(&shifted, 40).label("second");
    axes.title("Histograms").xlabel("energy (eV)").ylabel("count")
}

fn image() -> Axes {
    let mut field = waves(80, 120);
    field.slice_mut(ndarray::s![10..20, 90..110]).fill(f64::NAN);
    imshow(&field).label("height (m)").title("Waves").xlabel("x (cells)").ylabel("y (cells)")
}

fn rgb() -> Axes {
    let picture = Array3::from_shape_fn((64, 96, 3), |(i, j, k)| match k {
        0 => (4 * i) as u8,
        1 => (j * 8 / 3) as u8,
        _ => 128,
    });
    imshow(&picture).title("Red, green and blue")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(env::args().nth(1).unwrap_or("out".into()));
    fs::create_dir_all(&folder)?;
    let bar = progress("draw", 9);
    let save = |name: &str, figure: Figure| {
        bar.inc(1);
        figure.save(folder.join(name))
    };
    let one = |axes: Axes| subplots(1, 1).at(0, 0, axes);
    save("image.png", one(image()))?;
    let diverging = imshow(&waves(300, 2000)).cmap(ColorMap::rd_bu().reversed()).range(-0.5, 0.5).label("field (mV)");
    let peaks = diverging.extent([0.0, 20.0, 0.0, 3.0]).origin_lower().scatter(&[3.0, 12.5], &[1.0, 2.2]).rings();
    save("peaks.png", one(peaks.xlabel("x (cm)").ylabel("y (cm)")))?;
    save("curves.png", one(curves()))?;
    save("points.png", one(points()))?;
    save("bars.png", one(bars()))?;
    save("colors.png", one(rgb()))?;
    let grid = subplots(2, 2).title("Four plots");
    save("grid.png", grid.at(0, 0, image()).at(0, 1, curves()).at(1, 0, points()).at(1, 1, bars()))?;
    let plane = |k: usize| imshow(&(waves(40, 50 - 5 * k) * k as f64)).title(format!("z = {k} mm")).size(300, 300);
    let planes = (1..=3).fold(subplots(1, 3), |figure, k| figure.at(0, k - 1, plane(k).label("density (g/cm³)")));
    save("planes.png", planes.title("Sections at one scale").common_colors().same_scale())?;
    let powers = Array2::from_shape_fn((12, 12), |(i, j)| 10_f64.powi((i + j) as i32 - 8));
    let tiny: Vec<f64> = bell(50).iter().map(|v| 3e-9 * v).collect();
    let logs = imshow(&powers).log_colors().cmap(ColorMap::inferno()).label("rate (1/s)").title("Logarithmic colours");
    let small = plot_y(&tiny).label("current (A)").xlim(0.0, 30.0).title("Small numbers");
    save("logs.png", subplots(1, 2).at(0, 0, logs).at(0, 1, small))?;
    bar.finish_and_clear();
    Ok(())
}
