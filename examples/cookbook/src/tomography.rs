//! Filtered back-projection.
//!
//! Reconstructs an image from its line sums at many angles, as a computed tomography scanner measures them.

use backends::{Backend, Precision, Result, expr};

/// The image (width, width), from line sums of shape (angles, width).
pub fn back_projection<B: Backend, T: Precision>(b: &B, sums: &B::Array<T>, angles: &[f64]) -> Result<B::Array<T>> {
    let width = b.shape(sums)[1];
    let ramp = expr!(b, 2 * rfftfreq::<T>(2 * width))?;
    let filtered = expr!(b, irfft(rfft(sums, n = 2 * width) * ramp, n = 2 * width)[.., ..width])?;
    let centre = (width as f64 - 1.0) / 2.0;
    let x = expr!(b, arange::<T>(0, width, 1) - centre)?;
    let y = expr!(b, x[.., None])?;
    let mut image = b.zeros::<T>([width, width])?;
    for (k, angle) in angles.iter().enumerate() {
        let place = expr!(b, x * angle.cos() + y * angle.sin() + centre)?;
        expr!(b, image += map_coordinates(filtered[k], place[None], order = 1))?;
    }
    expr!(b, image * T::PI / (2 * angles.len()))
}
