//! `Toeplitz`: convolution of images with a kernel. Each axis of the kernel is twice as long as the axis of the image.

use backends::{Backend, Error, FftOptions, IfftOptions, IrfftOptions, Precision, Result, RfftOptions, Slice};

/// A multilevel Toeplitz operator on images: the convolution with a kernel defined on all differences of two pixels.
#[derive(Clone, Debug)]
pub struct Toeplitz<B: Backend, T: Precision> {
    backend: B,
    shape: Vec<usize>,
    spectrum: B::Array<T::Complex>,
}

impl<B: Backend, T: Precision> Toeplitz<B, T> {
    /// Creates the operator from a centred kernel, whose axes are twice as long as the axes of the image.
    pub fn new(b: &B, kernel: &B::Array<T>) -> Result<Self> {
        let lengths = b.shape(kernel);
        if lengths.is_empty() || lengths.iter().any(|n| *n == 0 || n % 2 == 1) {
            let why = "of the kernel must have even lengths, twice the lengths of the image";
            return Err(Error::shape("toeplitz", lengths, why));
        }
        Ok(Toeplitz {
            backend: b.clone(),
            shape: lengths.iter().map(|n| n / 2).collect(),
            spectrum: spectrum(b, kernel, lengths)?,
        })
    }

    /// Multiplies the operator by a scalar.
    pub fn scaled(&self, factor: f64) -> Result<Self> {
        let spectrum = self.backend.multiply(&self.spectrum, factor)?;
        Ok(Toeplitz { spectrum, ..self.clone() })
    }

    /// Applies the operator: the convolution of an image with the kernel.
    pub fn apply(&self, image: &B::Array<T>) -> Result<B::Array<T>> {
        let (b, last) = (&self.backend, self.shape.len() - 1);
        if b.shape(image) != self.shape {
            return Err(Error::shapes("toeplitz", b.shape(image), &self.shape));
        }
        let doubled: Vec<usize> = self.shape.iter().map(|n| 2 * n).collect();
        let mut x = b.multiply(spectrum(b, image, &doubled)?, &self.spectrum)?;
        for axis in 0..last {
            x = self.second_half(&b.ifft_with(&x, IfftOptions::new().axis(axis as isize))?, axis)?;
        }
        let x = b.irfft_with(&x, IrfftOptions::new().n(doubled[last]))?;
        self.second_half(&x, last)
    }

    /// Keeps the second half of an axis. The first half contains the values that the cyclic convolution wraps around.
    fn second_half<U: backends::Element>(&self, x: &B::Array<U>, axis: usize) -> Result<B::Array<U>> {
        let mut slices = vec![Slice::ALL; self.shape.len()];
        slices[axis] = Slice::from(self.shape[axis]..);
        self.backend.getitem(x, slices)
    }
}

/// The real Fourier transform of an image padded with zeros to these lengths. It transforms one axis at a time, and
/// skips rows of zeros.
fn spectrum<B: Backend, T: Precision>(b: &B, image: &B::Array<T>, lengths: &[usize]) -> Result<B::Array<T::Complex>> {
    let last = lengths.len() - 1;
    let mut x = b.rfft_with(image, RfftOptions::new().n(lengths[last]))?;
    for axis in (0..last).rev() {
        x = b.fft_with(&x, FftOptions::new().n(lengths[axis]).axis(axis as isize))?;
    }
    Ok(x)
}
