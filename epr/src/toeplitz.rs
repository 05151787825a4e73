//! Convolution with a kernel of twice the image's lengths.

use backends::{Backend, Error, FftOptions, IfftOptions, IrfftOptions, Precision, Result, RfftOptions, Slice};

/// A multilevel Toeplitz operator on images: the convolution with a kernel over all differences of two pixels.
#[derive(Clone, Debug)]
pub struct Toeplitz<B: Backend, T: Precision> {
    backend: B,
    shape: Vec<usize>,
    spectrum: B::Array<T::Complex>,
}

impl<B: Backend, T: Precision> Toeplitz<B, T> {
    /// From the centred kernel, whose lengths are twice those of the image.
    pub fn new(b: &B, kernel: &B::Array<T>) -> Result<Self> {
        let lengths = b.shape(kernel);
        if lengths.is_empty() || lengths.iter().any(|n| *n == 0 || n % 2 == 1) {
            return Err(Error::shape("toeplitz", lengths, "the kernel's lengths are twice the image's"));
        }
        let shape = lengths.iter().map(|n| n / 2).collect();
        Ok(Toeplitz { backend: b.clone(), shape, spectrum: b.rfftn(kernel)? })
    }

    /// This operator times a number.
    pub fn scaled(&self, factor: f64) -> Result<Self> {
        let spectrum = self.backend.multiply(&self.spectrum, factor)?;
        Ok(Toeplitz { spectrum, ..self.clone() })
    }

    /// The convolution of an image.
    ///
    /// Axis by axis, so that rows that are only padding are never transformed, nor those that are cropped away.
    pub fn apply(&self, image: &B::Array<T>) -> Result<B::Array<T>> {
        let (b, last) = (&self.backend, self.shape.len() - 1);
        if b.shape(image) != self.shape {
            return Err(Error::shapes("toeplitz", b.shape(image), &self.shape));
        }
        let mut x = b.rfft_with(image, RfftOptions::new().n(2 * self.shape[last]))?;
        for axis in (0..last).rev() {
            x = b.fft_with(&x, FftOptions::new().n(2 * self.shape[axis]).axis(axis as isize))?;
        }
        x = b.multiply(&x, &self.spectrum)?;
        for axis in 0..last {
            x = b.ifft_with(&x, IfftOptions::new().axis(axis as isize))?;
            x = b.getitem(&x, self.second_half(axis))?;
        }
        let x = b.irfft_with(&x, IrfftOptions::new().n(2 * self.shape[last]))?;
        b.getitem(&x, self.second_half(last))
    }

    fn second_half(&self, axis: usize) -> Vec<Slice> {
        let mut slices = vec![Slice::ALL; axis + 1];
        slices[axis] = Slice::from(self.shape[axis]..);
        slices
    }
}
