//! `Projector`: computes the projections of an image, and the adjoint of that map, by non-uniform FFTs.

use crate::{Scan, Toeplitz};
use backends::{Backend, Error, IrfftOptions, NufftPlan, NufftType, Precision, Result};
use std::sync::OnceLock;

/// Computes the projections of an image, as the spectrometer would measure them, and the exact adjoint of that map.
///
/// Let `g` be the gradient of a projection. The Fourier transform of this projection along the field axis is the
/// spectrum of the image along the direction of `g`, times the reference spectrum. So the map and its adjoint take one
/// non-uniform FFT each.
#[derive(Clone, Debug)]
pub struct Projector<B: Backend, T: Precision> {
    backend: B,
    scan: Scan,
    shape: Vec<usize>,
    delta: f64,
    eps: f64,
    /// For each image axis, the angular frequency of each node (radians per pixel). The nodes are the Fourier
    /// coefficients of projections that are determined by the image.
    angles: Vec<B::Array<T>>,
    /// The index of each node among the coefficients of all projections.
    places: B::Array<i64>,
    /// The coefficient of the reference spectrum at each node.
    response: B::Array<T::Complex>,
    /// The multiplicity of each node in a real inverse FFT, divided by 2: 1/2 at frequency 0, else 1.
    counts: B::Array<T::Complex>,
    /// Created on first use: a reconstruction does not need [`apply`](Self::apply).
    to_nodes: OnceLock<NufftPlan<B, T::Complex>>,
    to_image: NufftPlan<B, T::Complex>,
}

impl<B: Backend, T: Precision> Projector<B, T> {
    /// Creates the model of `scan` for images of this shape with pixels of `delta` cm. Its FFTs have a relative error
    /// of about `eps`.
    pub fn new(b: &B, scan: &Scan, shape: &[usize], delta: f64, eps: f64) -> Result<Self> {
        scan.check_image::<T>("projector", shape, delta)?;
        let nodes = scan.nodes(delta);
        let angle = |axis: usize| {
            let of_node = |&(k, a): &(usize, usize)| T::of(scan.frequency(a) * delta * scan.along(axis, k));
            b.asarray(nodes.iter().map(of_node).collect::<Vec<T>>())
        };
        let angles = (0..shape.len()).map(angle).collect::<Result<Vec<_>>>()?;
        let coefficients = scan.samples() / 2 + 1;
        let places = b.asarray(nodes.iter().map(|&(k, a)| (k * coefficients + a) as i64).collect::<Vec<_>>())?;
        let frequencies = b.asarray(nodes.iter().map(|&(_, a)| a as i64).collect::<Vec<_>>())?;
        let reference = b.asarray(scan.reference().iter().map(|&h| T::of(h)).collect::<Vec<_>>())?;
        let counts = nodes.iter().map(|&(_, a)| T::of(if a == 0 { 0.5 } else { 1.0 }));
        let counts = b.asarray(counts.collect::<Vec<_>>())?;
        Ok(Projector {
            to_nodes: OnceLock::new(),
            to_image: plan(b, NufftType::One, shape, eps, -1, &angles)?,
            response: b.take(&b.rfft(&reference)?, &frequencies, 0)?,
            counts: b.astype::<T::Complex, _>(&counts)?,
            backend: b.clone(),
            scan: scan.clone(),
            shape: shape.to_vec(),
            delta,
            eps,
            angles,
            places,
        })
    }

    /// The description of the measurement.
    pub fn scan(&self) -> &Scan {
        &self.scan
    }

    /// The shape of the images.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The size of a pixel (cm).
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// The number of nodes: the Fourier coefficients, in all projections, that the image determines.
    pub fn nodes(&self) -> usize {
        self.backend.size(&self.places)
    }

    /// The backend of the arrays.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// Volume of a pixel (cm^2 or cm^3).
    fn pixel(&self) -> f64 {
        self.delta.powi(self.shape.len() as i32)
    }

    /// Computes the projections of an image. The result has the shape (projections, samples).
    pub fn apply(&self, image: &B::Array<T>) -> Result<B::Array<T>> {
        let b = &self.backend;
        if b.shape(image) != self.shape {
            return Err(Error::shapes("projector", b.shape(image), &self.shape));
        }
        let (projections, samples) = (self.scan.projections(), self.scan.samples());
        let to_nodes = match self.to_nodes.get() {
            Some(plan) => plan,
            None => {
                let made = plan(b, NufftType::Two, &self.shape, self.eps, 1, &self.angles)?;
                self.to_nodes.get_or_init(|| made)
            }
        };
        let spectrum = to_nodes.execute(&b.astype::<T::Complex, _>(image)?)?;
        let kept = b.multiply(b.multiply(&spectrum, &self.response)?, self.pixel())?;
        let none = b.zeros::<T::Complex>([projections * (samples / 2 + 1)])?;
        let all = b.scatter(&none, &self.places, &kept, 0)?;
        let all = b.reshape(&all, [projections as isize, -1])?;
        b.irfft_with(&all, IrfftOptions::new().n(samples))
    }

    /// The adjoint of [`apply`](Self::apply): the back-projection of a sinogram.
    pub fn adjoint(&self, sinogram: &B::Array<T>) -> Result<B::Array<T>> {
        let b = &self.backend;
        self.scan.check_sinogram("projector", b.shape(sinogram))?;
        let all = b.flatten(&b.rfft(sinogram)?)?;
        let kept = b.multiply(b.take(&all, &self.places, 0)?, b.conj(&self.response)?)?;
        let image = self.to_image.execute(&b.multiply(&kept, &self.counts)?)?;
        b.multiply(b.real(&image)?, 2.0 * self.pixel() / self.scan.samples() as f64)
    }

    /// The convolution kernel of the map "project, then back-project". Each axis is twice as long as in the image.
    pub fn toeplitz_kernel(&self) -> Result<B::Array<T>> {
        let b = &self.backend;
        let doubled: Vec<usize> = self.shape.iter().map(|n| 2 * n).collect();
        let plan = plan(b, NufftType::One, &doubled, self.eps, -1, &self.angles)?;
        let power = b.multiply(&self.response, b.conj(&self.response)?)?;
        let kernel = plan.execute(&b.multiply(&power, &self.counts)?)?;
        b.multiply(b.real(&kernel)?, 2.0 * self.pixel().powi(2) / self.scan.samples() as f64)
    }

    /// The map "project, then back-project" as one convolution.
    pub fn toeplitz(&self) -> Result<Toeplitz<B, T>> {
        Toeplitz::new(&self.backend, &self.toeplitz_kernel()?)
    }
}

/// Plans a non-uniform FFT of images of this shape, with the angular frequencies of the nodes along each axis.
fn plan<B: Backend, T: Precision>(
    b: &B,
    kind: NufftType,
    shape: &[usize],
    eps: f64,
    isign: isize,
    angles: &[B::Array<T>],
) -> Result<NufftPlan<B, T::Complex>> {
    let mut plan = NufftPlan::new(b, kind, shape, eps, isign)?;
    plan.set_points(&angles.iter().collect::<Vec<_>>())?;
    Ok(plan)
}
