//! Richardson-Lucy deconvolution.
//!
//! Removes the blur of a microscope from an image. `psf` is the microscope's image of a point. Each step multiplies the
//! estimate by the blurred ratio of the measured image to the expected one (Richardson, 1972; Lucy, 1974).

use backends::{Backend, Precision, Result, expr};

/// Deconvolves an image of shape (rows, columns). `psf` has the same shape, and its peak is in the middle.
pub fn richardson_lucy<B: Backend, T: Precision>(
    b: &B, image: &B::Array<T>, psf: &B::Array<T>, steps: usize,
) -> Result<B::Array<T>> {
    let size = b.shape(image);
    let transfer = expr!(b, rfft2(ifftshift(psf, ..)))?;
    let blurred = |x: &B::Array<T>, transfer: &B::Array<T::Complex>| expr!(b, irfft2(rfft2(x) * transfer, s = size));
    let mut estimate = b.full_like(image, b.item(b.mean(image, ..)?)?)?;
    for _ in 0..steps {
        let ratio = expr!(b, image / maximum({ blurred(&estimate, &transfer)? }, 1e-12))?;
        expr!(b, estimate *= { blurred(&ratio, &b.conj(&transfer)?)? })?;
    }
    Ok(estimate)
}
