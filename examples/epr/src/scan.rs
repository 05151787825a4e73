//! The description of a measurement: field samples, reference spectrum and gradients.

use backends::{Error, Real, Result};
use std::f64::consts::TAU;

/// The description of a measurement, without the projections themselves. The constructor checks that its parts fit
/// together.
#[derive(Clone, Debug, PartialEq)]
pub struct Scan {
    field: Vec<f64>,
    reference: Vec<f64>,
    gradients: Vec<Vec<f64>>,
}

/// Returns whether the dtype `T` can represent `x`: the rounded value is finite, and differs from `x` by less than a
/// thousandth of `x`.
pub(crate) fn holds<T: Real>(x: f64) -> bool {
    let rounded = T::of(x).to_f64();
    x.is_normal() && rounded.is_finite() && (rounded - x).abs() < 1e-3 * x.abs()
}

fn refuse(why: impl Into<String>) -> Error {
    Error::argument("scan", why)
}

impl Scan {
    /// Creates a scan over the evenly spaced magnetic `field` (G). `reference` is the sample's spectrum without
    /// gradient. The rows of `gradients` (G/cm) are the X, Y and, in three dimensions, Z components, with one value
    /// per projection.
    pub fn new(field: &[f64], reference: &[f64], gradients: &[Vec<f64>]) -> Result<Scan> {
        if field.len() < 2 {
            return Err(refuse(format!("the field has {} samples, but must have at least 2", field.len())));
        }
        if reference.len() != field.len() {
            let (h, b) = (reference.len(), field.len());
            return Err(refuse(format!("the reference spectrum has {h} samples, but must have {b}, as the field")));
        }
        if !matches!(gradients.len(), 2 | 3) {
            return Err(refuse(format!(
                "there are {} rows of gradients, but there must be 2 (X, Y) or 3 (X, Y, Z)",
                gradients.len()
            )));
        }
        let projections = gradients[0].len();
        if projections == 0 || gradients.iter().any(|row| row.len() != projections) {
            return Err(refuse("each row of gradients must have one value for each projection, at least one"));
        }
        let all = field.iter().chain(reference).chain(gradients.iter().flatten());
        if !all.into_iter().all(|x| x.is_finite()) {
            return Err(refuse("a value is infinite or NaN, but all must be finite"));
        }
        let scan = Scan { field: field.to_vec(), reference: reference.to_vec(), gradients: gradients.to_vec() };
        let (first, step) = (field[0], scan.step());
        if step <= 0.0 {
            return Err(refuse("the field must increase"));
        }
        let uneven = field.iter().enumerate().find(|(i, f)| (*f - first - *i as f64 * step).abs() > 0.1 * step);
        if let Some((i, f)) = uneven {
            return Err(refuse(format!("the field is not evenly spaced: sample {i} is {f}, the step is {step}")));
        }
        // values computed from the field must be finite as well
        if !(step.is_normal() && scan.range().is_finite() && scan.frequency(scan.samples()).is_finite()) {
            return Err(refuse(format!("the field goes from {first} in steps of {step} G, beyond what f64 can hold")));
        }
        if let Some(k) = (0..projections).find(|&k| !scan.magnitude(k).is_finite()) {
            return Err(refuse(format!("the gradient of projection {k} is longer than f64 can hold")));
        }
        Ok(scan)
    }

    /// Number of field samples of each projection.
    pub fn samples(&self) -> usize {
        self.field.len()
    }

    /// The number of projections.
    pub fn projections(&self) -> usize {
        self.gradients[0].len()
    }

    /// The number of dimensions of the image: 2 or 3.
    pub fn dims(&self) -> usize {
        self.gradients.len()
    }

    /// The magnetic field samples (G).
    pub fn field(&self) -> &[f64] {
        &self.field
    }

    /// The distance between neighbouring field samples (G).
    pub fn step(&self) -> f64 {
        self.field[1] - self.field[0]
    }

    /// The distance from the first to the last field sample (G).
    pub fn range(&self) -> f64 {
        self.field[self.field.len() - 1] - self.field[0]
    }

    /// The spectrum of the sample without gradient.
    pub fn reference(&self) -> &[f64] {
        &self.reference
    }

    /// The gradient of a projection (G/cm): X, Y, Z.
    pub fn gradient(&self, projection: usize) -> Vec<f64> {
        self.gradients.iter().map(|row| row[projection]).collect()
    }

    /// The length of a projection's gradient (G/cm).
    pub fn magnitude(&self, projection: usize) -> f64 {
        self.gradients.iter().map(|row| row[projection] * row[projection]).sum::<f64>().sqrt()
    }

    /// The component of a projection's gradient along an image axis; image axes are (Y, X) or (Y, X, Z).
    pub(crate) fn along(&self, image_axis: usize, projection: usize) -> f64 {
        self.gradients[[1, 0, 2][image_axis]][projection]
    }

    /// The angular frequency (rad/G) of coefficient `a` of a projection's real FFT.
    pub(crate) fn frequency(&self, a: usize) -> f64 {
        TAU * a as f64 / (self.samples() as f64 * self.step())
    }

    /// The nodes: the coefficients of the projections' real FFTs that an image with pixels of `delta` cm determines. A
    /// node is a pair (projection, index of the coefficient).
    pub(crate) fn nodes(&self, delta: f64) -> Vec<(usize, usize)> {
        let band = self.samples() as f64 * self.step() / (2.0 * delta);
        let of_one = |k: usize| {
            let magnitude = self.magnitude(k);
            let within = move |a: &usize| magnitude * (*a as f64) < band;
            (0..self.samples().div_ceil(2)).take_while(within).map(move |a| (k, a))
        };
        (0..self.projections()).flat_map(of_one).collect()
    }

    /// Returns an error unless `shape` is the shape of an image of this scan, and the dtype `T` is sufficient for the
    /// model of an image with pixels of `delta` cm.
    pub(crate) fn check_image<T: Real>(&self, op: &'static str, shape: &[usize], delta: f64) -> Result<()> {
        if shape.len() != self.dims() || shape.contains(&0) {
            return Err(Error::shape(op, shape, format!("of the image must have {} axes, none empty", self.dims())));
        }
        if !(delta.is_finite() && delta > 0.0) {
            return Err(Error::argument(
                op,
                format!("the pixel size is {delta:?} cm, but must be positive and finite"),
            ));
        }
        let bytes = shape.iter().try_fold(size_of::<f64>(), |n, &length| n.checked_mul(length));
        if bytes.is_none_or(|n| n > isize::MAX as usize) {
            return Err(Error::memory(op, usize::MAX));
        }
        // the map "project, then back-project" contains the square of a pixel's volume as a factor
        let volume = delta.powi(shape.len() as i32);
        let longest = shape.iter().copied().max().unwrap_or(0) as f64 * delta;
        let angle = self.frequency(self.samples()) * delta;
        if !(holds::<T>(volume * volume) && holds::<T>(delta) && longest.is_finite() && angle.is_finite()) {
            let why =
                format!("the pixel size is {delta:?} cm, which is too far from 1 for {} to compute with it", T::DTYPE);
            return Err(Error::argument(op, why));
        }
        Ok(())
    }

    /// Returns an error unless `shape` is the shape of this scan's projections.
    pub(crate) fn check_sinogram(&self, op: &'static str, shape: &[usize]) -> Result<()> {
        let expected = [self.projections(), self.samples()];
        if shape == expected { Ok(()) } else { Err(Error::shapes(op, shape, &expected)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused() {
        let rows = [vec![1.0, 0.0], vec![0.0, 1.0]];
        let field = [1.0, 2.0, 3.0];
        assert!(Scan::new(&field, &field, &rows).is_ok());
        assert!(Scan::new(&field[..1], &field[..1], &rows).is_err());
        assert!(Scan::new(&field, &field[..2], &rows).is_err());
        assert!(Scan::new(&field, &field, &rows[..1]).is_err());
        assert!(Scan::new(&field, &field, &[vec![1.0], vec![1.0, 2.0]]).is_err());
        assert!(Scan::new(&field, &field, &[vec![], vec![]]).is_err());
        assert!(Scan::new(&[1.0, 2.0, 3.5], &field, &rows).is_err());
        assert!(Scan::new(&[3.0, 2.0, 1.0], &field, &rows).is_err());
        assert!(Scan::new(&field, &[0.0, f64::NAN, 0.0], &rows).is_err());
    }

    #[test]
    fn what_overflows_is_refused() {
        let rows = |g: f64| [vec![g, 0.0], vec![0.0, g]];
        let why = |field: &[f64], g: f64| Scan::new(field, field, &rows(g)).unwrap_err().to_string();
        assert!(why(&[0.0, 1.0], 1e200).contains("gradient of projection 0"));
        for field in [[-1e308, 1e308], [0.0, 5e-324], [0.0, 1e-308]] {
            assert!(why(&field, 1.0).contains("beyond what f64 can hold"), "{}", why(&field, 1.0));
        }
        let scan = Scan::new(&[0.0, 1.0], &[1.0, 0.0], &rows(1.0)).unwrap();
        let check =
            |delta| (scan.check_image::<f64>("t", &[4, 4], delta), scan.check_image::<f32>("t", &[4, 4], delta));
        for delta in [5e-324, 1e-80, 1e80, 1e308, f64::INFINITY, f64::NAN, 0.0, -1.0] {
            let (f64s, f32s) = check(delta);
            assert!(f64s.unwrap_err().to_string().contains("pixel size") && f32s.is_err(), "{delta}");
        }
        let (f64s, f32s) = check(1e-12);
        assert!(f64s.is_ok() && f32s.unwrap_err().to_string().contains("float32"));
        assert!(check(1e-6).1.is_ok());
    }

    #[test]
    fn nodes_stay_below_both_limits() {
        let field: Vec<f64> = (0..8).map(f64::from).collect();
        let scan = Scan::new(&field, &field, &[vec![0.0, 4.0], vec![0.0, 0.0]]).unwrap();
        // without a gradient, the 8 field samples allow the coefficients a < 8 / 2; with a gradient of 4 G/cm, pixels
        // of 0.5 cm allow a < 8 / (2 * 0.5) / 4
        assert_eq!(scan.nodes(0.5), [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1)]);
    }
}
