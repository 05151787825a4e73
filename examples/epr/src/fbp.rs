//! Filtered back-projection: reconstructs an image from its projections in one pass.

use crate::Scan;
use backends::{Backend, Complex, Error, InterpOptions, IrfftOptions, Precision, Result, Slice};
use std::f64::consts::PI;

/// Reconstruction by filtered back-projection, for scans whose reference spectrum has no zero below the cutoff
/// frequency.
///
/// Each projection is deconvolved by the reference spectrum and filtered. A value of a projection was measured as a
/// sum over a line (in two dimensions) or a plane (in three). The filtered value is added to all image points of this
/// line or plane.
#[derive(Clone, Debug)]
pub struct FilteredBackProjection<B: Backend, T: Precision> {
    backend: B,
    scan: Scan,
    shape: Vec<usize>,
    /// For each image axis, the coordinates of the pixels (cm), in a shape that broadcasts to the image.
    coordinates: Vec<B::Array<T>>,
    /// The filter: a factor for each coefficient of a projection's real FFT.
    filter: B::Array<T::Complex>,
    /// The weight of each projection.
    weights: Vec<f64>,
}

impl<B: Backend, T: Precision> FilteredBackProjection<B, T> {
    /// Creates the reconstruction of images of this shape with pixels of `delta` cm. Frequencies above the fraction
    /// `cutoff` (in 0 .. 1) of the highest frequency are removed.
    pub fn new(b: &B, scan: &Scan, shape: &[usize], delta: f64, cutoff: f64) -> Result<Self> {
        scan.check_image::<T>("fbp", shape, delta)?;
        if !(cutoff > 0.0 && cutoff <= 1.0) {
            return Err(Error::argument(
                "fbp",
                format!("the cutoff frequency is {cutoff}, but must be greater than 0 and at most 1"),
            ));
        }
        let coordinate = |axis: usize| {
            let first = -((shape[axis] / 2) as f64);
            let centred = b.arange(T::of(first), T::of(first + shape[axis] as f64), T::ONE)?;
            let mut broadcast = vec![1; shape.len()];
            broadcast[axis] = -1;
            b.reshape(&b.multiply(&centred, delta)?, broadcast)
        };
        Ok(FilteredBackProjection {
            backend: b.clone(),
            scan: scan.clone(),
            shape: shape.to_vec(),
            coordinates: (0..shape.len()).map(coordinate).collect::<Result<_>>()?,
            filter: filter::<B, T>(b, scan, cutoff)?,
            weights: if shape.len() == 2 { weights_2d(scan) } else { weights_3d(scan) },
        })
    }

    /// Reconstructs the image of a sinogram. `each` is called after each projection with the number of projections
    /// done.
    pub fn reconstruct(&self, sinogram: &B::Array<T>, mut each: impl FnMut(usize)) -> Result<B::Array<T>> {
        let (b, scan) = (&self.backend, &self.scan);
        scan.check_sinogram("fbp", b.shape(sinogram))?;
        let filtered = self.filtered(sinogram)?;
        let half = (scan.samples() / 2) as f64;
        let offsets = (0..scan.samples()).map(|i| T::of((i as f64 - half) * scan.step()));
        let offsets = b.asarray(offsets.collect::<Vec<T>>())?;
        let beyond = || InterpOptions::new().left(0.0).right(0.0);
        let mut image = b.zeros::<T>(&self.shape)?;
        for k in (0..scan.projections()).filter(|&k| self.weights[k] != 0.0) {
            let mut resonance = b.multiply(&self.coordinates[0], -scan.along(0, k))?;
            for (axis, coordinate) in self.coordinates.iter().enumerate().skip(1) {
                resonance = b.subtract(&resonance, b.multiply(coordinate, scan.along(axis, k))?)?;
            }
            let row = b.getitem(&filtered, [Slice::at(k as isize)])?;
            image = b.add(&image, b.interp_with(&resonance, &offsets, &row, beyond())?)?;
            each(k + 1);
        }
        Ok(image)
    }

    /// Filters the projections and multiplies each by its weight.
    fn filtered(&self, sinogram: &B::Array<T>) -> Result<B::Array<T>> {
        let b = &self.backend;
        let spectrum = b.multiply(b.rfft(&b.ifftshift(sinogram, -1)?)?, &self.filter)?;
        let rows = b.irfft_with(&spectrum, IrfftOptions::new().n(self.scan.samples()))?;
        let weights = b.asarray(self.weights.iter().map(|&w| T::of(w)).collect::<Vec<T>>())?;
        b.multiply(b.fftshift(&rows, -1)?, b.expand_dims(&weights, 1)?)
    }
}

/// Coefficients of the filter up to the cutoff frequency: `-i` divided by the spectrum of the integrated reference. In
/// three dimensions, each coefficient is also multiplied by its frequency.
fn filter<B: Backend, T: Precision>(b: &B, scan: &Scan, cutoff: f64) -> Result<B::Array<T::Complex>> {
    let samples = scan.samples();
    let highest = ((cutoff * samples as f64).round_ties_even() as usize).max(1) / 2;
    let reference = b.asarray(scan.reference().iter().map(|&h| T::of(h)).collect::<Vec<T>>())?;
    let absorption = b.multiply(b.cumulative_sum(&reference, 0)?, scan.step())?;
    let spectrum = b.rfft(&b.ifftshift(&absorption, 0)?)?;
    let kept = b.getitem(&spectrum, [Slice::from(..highest + 1)])?;
    let numerator = (0..=highest).map(|a| {
        let magnitude = if scan.dims() == 2 { 1.0 } else { scan.frequency(a) };
        <T::Complex as backends::Element>::from_complex(Complex::new(0.0, -magnitude))
    });
    let kept = b.divide(b.asarray(numerator.collect::<Vec<_>>())?, &kept)?;
    b.concat([&kept, &b.zeros::<T::Complex>([samples / 2 - highest])?])
}

/// Indices of the projections whose gradient is not 0.
fn with_gradient(scan: &Scan) -> Vec<usize> {
    (0..scan.projections()).filter(|&k| scan.magnitude(k) != 0.0).collect()
}

fn weights_2d(scan: &Scan) -> Vec<f64> {
    let scale = 2.0 * scan.step() * with_gradient(scan).len() as f64;
    let weight = |k| scan.magnitude(k).powi(2);
    (0..scan.projections()).map(|k| if weight(k) == 0.0 { 0.0 } else { weight(k) / scale }).collect()
}

/// In three dimensions, the weight of a projection is the area that it represents on the sphere of directions.
fn weights_3d(scan: &Scan) -> Vec<f64> {
    let used = with_gradient(scan);
    let azimuth = |k: usize| {
        let [x, y] = [scan.along(1, k), scan.along(0, k)];
        let side = if y == 0.0 { 0.0 } else { y.signum() };
        side * (x / scan.magnitude(k)).acos()
    };
    let inclination = |k: usize| (scan.along(2, k) / scan.magnitude(k)).acos();
    let extent = |angle: &dyn Fn(usize) -> f64| {
        let largest = used.iter().map(|&k| angle(k)).fold(f64::NEG_INFINITY, f64::max);
        largest - used.iter().map(|&k| angle(k)).fold(f64::INFINITY, f64::min)
    };
    let scale = extent(&azimuth) * extent(&inclination) / (4.0 * PI * PI * scan.step() * used.len() as f64);
    let weight = |k: usize| scale * scan.magnitude(k).powi(3) * inclination(k).sin();
    (0..scan.projections()).map(|k| if scan.magnitude(k) == 0.0 { 0.0 } else { weight(k) }).collect()
}
