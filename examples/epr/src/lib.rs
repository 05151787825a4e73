//! Image reconstruction for electron paramagnetic resonance (EPR) imaging, written once for every backend of
//! `backends`.
//!
//! A [`Scan`] describes how a measurement was taken. [`Projector`] models the measurement: it computes the projections
//! of an image, and the exact adjoint of that map. Two methods reconstruct the image. [`FilteredBackProjection`] needs
//! one pass. [`Tv`] minimises the misfit plus the total variation by the algorithm of Chambolle and Pock, which runs
//! on the [`Toeplitz`] form of the model. [`TvOptions`] can restrict the image to nonnegative elements and to zeros
//! outside of a mask. [`SpectralProjector`] models samples whose spectrum differs from pixel to pixel.
//!
//! The conventions follow the Python package PyEPRI, which also computed the reference values of the tests. Image axes
//! are (Y, X) or (Y, X, Z), and pixel `i` of `n` is at `(i - n / 2) * delta`. A sinogram is an array (projections,
//! field samples).
//!
//! ```
//! use backends::{Result, prelude::*};
//! use backends_epr::{Projector, Scan};
//!
//! # fn main() -> Result<()> {
//! let field: Vec<f64> = (0..64).map(|i| 3500.0 + 0.5 * i as f64).collect();
//! let spectrum: Vec<f64> = field.iter().map(|f| -(f - 3516.0) * (-(f - 3516.0).powi(2)).exp()).collect();
//! let scan = Scan::new(&field, &spectrum, &[vec![0.0, 20.0], vec![20.0, 0.0]])?;
//! let b = Numpyish::new();
//! let projector = Projector::<_, f64>::new(&b, &scan, &[16, 16], 0.05, 1e-9)?;
//! let image = b.ones::<f64>([16, 16])?;
//! assert_eq!(b.shape(&projector.apply(&image)?), [2, 64]);
//! # Ok(())
//! # }
//! ```

mod fbp;
mod projector;
mod scan;
mod spectral;
mod toeplitz;
mod tv;
mod tv_options;

pub use fbp::FilteredBackProjection;
pub use projector::Projector;
pub use scan::Scan;
pub use spectral::SpectralProjector;
pub use toeplitz::Toeplitz;
pub use tv::{Tv, divergence, gradient, total_variation};
pub use tv_options::{Reason, Solution, Step, TvOptions};
