//! Registration of images.
//!
//! Finds the shift between two images to a fraction of a pixel: phase correlation gives whole pixels, and a discrete
//! Fourier transform at finer steps, only around the peak, gives the fraction. Then the image is shifted back.

use backends::{Backend, Precision, Result, expr};

fn wrapped(index: i64, n: i64) -> i64 {
    (index + n / 2) % n - n / 2
}

/// The shift (rows, columns) of `moved` relative to `reference`, in steps of 1 / `upsampling` pixels.
pub fn shift_between<B: Backend, T: Precision>(
    b: &B, reference: &B::Array<T>, moved: &B::Array<T>, upsampling: usize,
) -> Result<[f64; 2]> {
    let product = expr!(b, fft2(moved) * conj(fft2(reference)))?;
    let product = expr!(b, product / maximum(abs(product), 1e-12))?;
    let (rows, columns) = (b.shape(&product)[0] as i64, b.shape(&product)[1] as i64);
    let peak = b.item(expr!(b, argmax(abs(ifft2(product)), ..))?)?;
    let (y, x) = (wrapped(peak / columns, rows), wrapped(peak % columns, columns));
    // the inverse transform at steps of 1 / upsampling, only within a pixel of the peak (Guizar-Sicairos et al., 2008)
    let n = 2 * upsampling + 1;
    let steps = expr!(b, linspace::<T>(-1, 1, n))?;
    let left = expr!(b, exp(2i * T::PI * outer(y + steps, fftfreq::<T>(rows as usize))))?;
    let right = expr!(b, exp(2i * T::PI * outer(fftfreq::<T>(columns as usize), x + steps)))?;
    let peak = b.item(expr!(b, argmax(abs(left @ product @ right), ..))?)?;
    let offset = |k: usize| k as f64 / upsampling as f64 - 1.0;
    Ok([y as f64 + offset(peak as usize / n), x as f64 + offset(peak as usize % n)])
}

/// The image, shifted by any number of pixels; what leaves it on one side enters it on the other.
pub fn shifted<B: Backend, T: Precision>(b: &B, image: &B::Array<T>, shift: [f64; 2]) -> Result<B::Array<T>> {
    let [rows, columns] = b.shape(image)[..] else { unreachable!("two axes") };
    let (y, x) = (expr!(b, fftfreq::<T>(rows)[.., None])?, b.fftfreq::<T>(columns)?);
    expr!(b, real(ifft2(fft2(image) * exp(-2i * T::PI * (y * shift[0] + x * shift[1])))))
}
