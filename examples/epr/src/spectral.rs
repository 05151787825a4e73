//! `SpectralProjector`: the model of a measurement of a sample whose spectrum differs from pixel to pixel.

use crate::Scan;
use backends::{
    Backend, ConcatOptions, Error, IrfftOptions, NufftPlan, NufftType, Precision, Result, RfftOptions, Slice,
};

/// Computes the projections of a spectral-spatial image (field, Y, X) or (field, Y, X, Z), and the exact adjoint.
///
/// For each frequency of the field axis, one spatial image is transformed by a non-uniform FFT. The scan's reference
/// spectrum is not used.
#[derive(Clone, Debug)]
pub struct SpectralProjector<B: Backend, T: Precision> {
    backend: B,
    scan: Scan,
    /// The shape of the image: (field, Y, X) or (field, Y, X, Z).
    shape: Vec<usize>,
    delta: f64,
    frequencies: Vec<Frequency<B, T>>,
}

/// The non-uniform FFTs for one frequency of the field axis.
#[derive(Clone, Debug)]
struct Frequency<B: Backend, T: Precision> {
    /// For each node with this frequency, its index among the coefficients of all projections.
    places: B::Array<i64>,
    to_nodes: NufftPlan<B, T::Complex>,
    to_image: NufftPlan<B, T::Complex>,
}

impl<B: Backend, T: Precision> SpectralProjector<B, T> {
    /// Creates the model of `scan` for images of this spatial shape with pixels of `delta` cm. Its FFTs have a
    /// relative error of about `eps`.
    pub fn new(b: &B, scan: &Scan, spatial: &[usize], delta: f64, eps: f64) -> Result<Self> {
        scan.check_image::<T>("spectral_projector", spatial, delta)?;
        let nodes = scan.nodes(delta);
        let coefficients = scan.samples() / 2 + 1;
        let mut frequencies = Vec::new();
        for a in 0.. {
            let projections: Vec<usize> = nodes.iter().filter(|node| node.1 == a).map(|node| node.0).collect();
            if projections.is_empty() {
                break;
            }
            let angle = |axis: usize| {
                let of_node = |&k: &usize| T::of(scan.frequency(a) * delta * scan.along(axis, k));
                b.asarray(projections.iter().map(of_node).collect::<Vec<T>>())
            };
            let angles = (0..spatial.len()).map(angle).collect::<Result<Vec<_>>>()?;
            let plan = |kind, isign| {
                let mut plan = NufftPlan::new(b, kind, spatial, eps, isign)?;
                plan.set_points(&angles.iter().collect::<Vec<_>>())?;
                Ok::<_, Error>(plan)
            };
            let places = projections.iter().map(|k| (k * coefficients + a) as i64);
            frequencies.push(Frequency {
                places: b.asarray(places.collect::<Vec<_>>())?,
                to_nodes: plan(NufftType::Two, 1)?,
                to_image: plan(NufftType::One, -1)?,
            });
        }
        let shape = [&[scan.samples()], spatial].concat();
        Ok(SpectralProjector { backend: b.clone(), scan: scan.clone(), shape, delta, frequencies })
    }

    /// Volume of a pixel (cm^2 or cm^3).
    fn pixel(&self) -> f64 {
        self.delta.powi(self.shape.len() as i32 - 1)
    }

    /// Computes the projections of an image. The result has the shape (projections, samples).
    pub fn apply(&self, image: &B::Array<T>) -> Result<B::Array<T>> {
        let b = &self.backend;
        if b.shape(image) != self.shape {
            return Err(Error::shapes("spectral_projector", b.shape(image), &self.shape));
        }
        let (projections, samples) = (self.scan.projections(), self.scan.samples());
        let spectra = b.rfft_with(image, RfftOptions::new().axis(0))?;
        let mut all = b.zeros::<T::Complex>([projections * (samples / 2 + 1)])?;
        for (a, frequency) in self.frequencies.iter().enumerate() {
            let values = frequency.to_nodes.execute(&b.getitem(&spectra, [Slice::at(a as isize)])?)?;
            all = b.scatter(&all, &frequency.places, &values, 0)?;
        }
        let all = b.reshape(&b.multiply(&all, self.pixel())?, [projections as isize, -1])?;
        b.irfft_with(&all, IrfftOptions::new().n(samples))
    }

    /// The adjoint of [`apply`](Self::apply).
    pub fn adjoint(&self, sinogram: &B::Array<T>) -> Result<B::Array<T>> {
        let b = &self.backend;
        self.scan.check_sinogram("spectral_projector", b.shape(sinogram))?;
        let all = b.flatten(&b.rfft(sinogram)?)?;
        let image = |frequency: &Frequency<B, T>| {
            let image = frequency.to_image.execute(&b.take(&all, &frequency.places, 0)?)?;
            b.expand_dims(&image, 0)
        };
        let spectra = self.frequencies.iter().map(image).collect::<Result<Vec<_>>>()?;
        let spectra = b.concat_with(spectra.iter().collect::<Vec<_>>(), ConcatOptions::new().axis(0))?;
        let image = b.irfft_with(&spectra, IrfftOptions::new().n(self.scan.samples()).axis(0))?;
        b.multiply(&image, self.pixel())
    }
}
