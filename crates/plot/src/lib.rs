//! Pictures of arrays in one call, with names as in matplotlib, and progress bars.
//!
//! | purpose | call |
//! |---|---|
//! | an array as an image with a colour bar; also red, green and blue | [`imshow`] |
//! | curves, with a legend, on linear or logarithmic axes | [`plot`](plot()), [`plot_y`] |
//! | points | [`scatter`] |
//! | a histogram | [`hist`] |
//! | several of them in one picture | [`subplots`] |
//! | several pictures in one animated file | [`animation`], [`save_animation`] |
//! | a progress bar on the terminal | [`progress`](progress()) |
//!
//! Each of the first calls returns [`Axes`]. Its methods set options, add further curves, points and images, and write
//! the picture: `save` writes a PNG file, `png` returns the bytes of the file, and `draw` returns the pixels. The
//! options of a curve or an image follow the call that adds it. The first error of a chain is returned by the last
//! call.
//!
//! The functions take ndarrays of any real type, and lists of coordinates also as slices. With the crate `backends`,
//! `b.to_ndarray(&x)?` returns an ndarray on every backend `b`. The crate contains its font (DejaVu Sans), so pictures do
//! not depend on the fonts of the system. The same calls give the same bytes.
//!
//! ```
//! use backends_plot::prelude::*;
//! use ndarray::{Array2, arr2};
//!
//! # let folder = std::env::temp_dir().join(format!("backends-plot-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder).unwrap();
//! # let path = |name: &str| folder.join(name);
//! let field = Array2::from_shape_fn((40, 60), |(y, x)| (x as f32 / 9.0).sin() * (y as f32 / 7.0).cos());
//! imshow(&field).cmap(ColorMap::magma()).label("height (m)").title("Waves").save(path("waves.png"))?;
//!
//! let x: Vec<f64> = (1..50).map(f64::from).collect();
//! let errors = |power| x.iter().map(|x: &f64| x.powf(power)).collect::<Vec<_>>();
//! let curves = plot(&x, &errors(-1.0)).label("first order").plot(&x, &errors(-2.0)).label("second order");
//! let curves = curves.log_y().xlabel("steps").ylabel("error");
//!
//! let figure = subplots(1, 2).at(0, 0, imshow(&field)).at(0, 1, curves).title("Both");
//! figure.save(path("both.png"))?;
//!
//! let picture = imshow(&arr2(&[[0, 1], [2, 3]])).size(100, 100).draw()?;
//! let colors: Vec<[u8; 3]> = picture.as_bytes().chunks(3).map(|p| [p[0], p[1], p[2]]).collect();
//! assert!(colors.contains(&ColorMap::viridis().at(1.0)));
//!
//! let why = imshow(&arr2::<f64, 0>(&[])).save(path("none.png")).unwrap_err();
//! assert_eq!(why.to_string(), "imshow: the array has no elements");
//! # std::fs::remove_dir_all(folder).unwrap();
//! # Ok::<(), backends_plot::Error>(())
//! ```

#![deny(missing_docs)]

mod axes;
mod canvas;
mod color;
mod colorbar;
mod content;
mod draw;
mod error;
mod figure;
mod image;
mod layout;
mod legend;
mod picture;
mod progress;
mod scale;
mod style;
mod values;

pub use axes::{Axes, hist, imshow, plot, plot_y, scatter};
pub use color::{CYCLE, ColorMap, MISSING, Rgb};
pub use error::{Error, Result};
pub use figure::{Figure, subplots};
pub use picture::{Picture, animation, save_animation};
pub use progress::{Progress, progress};
pub use values::{Number, Values};

/// The functions, and the types that their users name.
pub mod prelude {
    pub use crate::{
        Axes, ColorMap, Figure, Picture, Progress, animation, hist, imshow, plot, plot_y, progress, save_animation,
        scatter, subplots,
    };
}

/// The guide's examples.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/plots.md")]
struct Guide;
