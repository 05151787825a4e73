//! Pictures of digits, drawn as pen strokes that are rotated, moved, slanted and noisy.

use backends::{Backend, Precision, RandomUniformOptions, Result};
use ndarray::{Array2, Array4};

/// Number of pixels along both axes of a picture.
pub const SIDE: usize = 16;

/// The strength of the noise, relative to the strokes.
const NOISE: f64 = 0.25;

/// Half of the width of a stroke, in pixels.
const PEN: f64 = 0.7;

/// Pictures of digits with their labels.
pub struct Digits<B: Backend, T: Precision> {
    /// The pictures, of shape (count, 1, [`SIDE`], [`SIDE`]), with values from about 0 to 1.
    pub pictures: B::Array<T>,
    /// The labels, which are digits from 0 to 9, of shape (count).
    pub names: B::Array<i64>,
}

/// The strokes of a digit. Each stroke is a line through points, with x to the right and y down, in a box from 0 to 1.
fn strokes(digit: i64) -> &'static [&'static [[f64; 2]]] {
    const RING: &[[f64; 2]] = &[
        [0.5, 0.0],
        [0.85, 0.15],
        [1.0, 0.5],
        [0.85, 0.85],
        [0.5, 1.0],
        [0.15, 0.85],
        [0.0, 0.5],
        [0.15, 0.15],
        [0.5, 0.0],
    ];
    match digit {
        0 => &[RING],
        1 => &[&[[0.2, 0.25], [0.55, 0.0], [0.55, 1.0]]],
        2 => &[&[[0.05, 0.2], [0.3, 0.0], [0.7, 0.0], [0.95, 0.25], [0.8, 0.5], [0.0, 1.0], [1.0, 1.0]]],
        3 => &[
            &[[0.05, 0.05], [0.7, 0.0], [0.95, 0.22], [0.7, 0.47], [0.35, 0.47]],
            &[[0.7, 0.47], [1.0, 0.75], [0.7, 1.0], [0.05, 0.95]],
        ],
        4 => &[&[[0.75, 1.0], [0.75, 0.0], [0.0, 0.65], [1.0, 0.65]]],
        5 => &[&[[0.9, 0.0], [0.15, 0.0], [0.1, 0.45], [0.65, 0.4], [0.95, 0.7], [0.65, 1.0], [0.05, 0.95]]],
        6 => &[&[
            [0.8, 0.0],
            [0.25, 0.35],
            [0.05, 0.75],
            [0.35, 1.0],
            [0.7, 1.0],
            [0.95, 0.75],
            [0.65, 0.5],
            [0.15, 0.6],
        ]],
        7 => &[&[[0.0, 0.0], [1.0, 0.0], [0.35, 1.0]]],
        8 => &[&[
            [0.5, 0.47],
            [0.1, 0.25],
            [0.5, 0.0],
            [0.9, 0.25],
            [0.5, 0.47],
            [0.0, 0.75],
            [0.5, 1.0],
            [1.0, 0.75],
            [0.5, 0.47],
        ]],
        _ => &[&[
            [0.85, 0.4],
            [0.35, 0.5],
            [0.05, 0.25],
            [0.3, 0.0],
            [0.65, 0.0],
            [0.95, 0.25],
            [0.75, 0.65],
            [0.2, 1.0],
        ]],
    }
}

/// The distance of a point from a line segment, which is given by its end points.
fn distance([x, y]: [f64; 2], [[x0, y0], [x1, y1]]: [[f64; 2]; 2]) -> f64 {
    let (dx, dy) = (x1 - x0, y1 - y0);
    let along = ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy);
    let along = along.clamp(0.0, 1.0);
    ((x - x0 - along * dx).powi(2) + (y - y0 - along * dy).powi(2)).sqrt()
}

/// Draws `count` digits. Their shapes and their noise come from the backend's random numbers, which are the same on
/// every backend.
pub fn draw<B: Backend, T: Precision>(b: &B, count: usize) -> Result<Digits<B, T>> {
    let names = b.random_integers::<i64>([count], 0, 10)?;
    let within = RandomUniformOptions::new().low(-1.0).high(1.0);
    let shapes = b.to_ndarray(&b.random_uniform_with::<f64>([count, 6], within)?)?;
    let shapes: Array2<f64> = shapes.to_owned().into_dimensionality().expect("two axes");
    let digits = b.to_ndarray(&names)?;
    let mut pictures = Array4::<T>::from_elem((count, 1, SIDE, SIDE), T::ZERO);
    for ((mut picture, shape), digit) in pictures.outer_iter_mut().zip(shapes.outer_iter()).zip(digits.iter()) {
        let (sin, cos) = (0.3 * shape[0]).sin_cos();
        let (slant, middle) = (0.25 * shape[1], (SIDE - 1) as f64 / 2.0);
        let (width, height) = (6.0 * (1.0 + 0.15 * shape[2]), 9.5 * (1.0 + 0.12 * shape[3]));
        let place = |[x, y]: [f64; 2]| {
            let (x, y) = ((x - 0.5) * width, (y - 0.5) * height);
            let x = x - slant * y;
            [middle + 1.5 * shape[4] + cos * x - sin * y, middle + 1.5 * shape[5] + sin * x + cos * y]
        };
        let lines: Vec<[[f64; 2]; 2]> = strokes(*digit)
            .iter()
            .flat_map(|points| points.windows(2).map(|ends| [place(ends[0]), place(ends[1])]))
            .collect();
        for ((_, row, column), pixel) in picture.indexed_iter_mut() {
            let pixel_at = [column as f64, row as f64];
            let nearest = lines.iter().map(|line| distance(pixel_at, *line)).fold(f64::INFINITY, f64::min);
            *pixel = T::of((PEN + 0.5 - nearest).clamp(0.0, 1.0));
        }
    }
    let noise = b.random_normal::<T>([count, 1, SIDE, SIDE])?;
    let pictures = b.asarray(pictures.into_dyn())?;
    Ok(Digits { pictures: backends::expr!(b, pictures + NOISE * noise)?, names })
}
