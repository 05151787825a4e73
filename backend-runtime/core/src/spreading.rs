//! The kernel that spreads values of non-uniform points over a grid, for non-uniform Fourier transforms.
//!
//! The kernel is the Kaiser-Bessel function `I0(beta sqrt(1 - z^2)) / I0(beta)` for `|z| <= 1`, where `z` is the
//! distance between a grid point and a non-uniform point, divided by half the width. At each grid point near a
//! non-uniform point, the value is a polynomial in the position of the non-uniform point between two grid points (A.
//! Barnett, J. Magland and L. af Klinteberg, 2019, A parallel nonuniform fast Fourier transform library based on an
//! "exponential of semicircle" kernel, section 5).

use crate::{Error, Real, Result};
use std::f64::consts::PI;

/// Maximum number of grid points along an axis over which a non-uniform point is spread.
pub const MAX_WIDTH: usize = 16;

/// Number of Chebyshev polynomials in the series of the kernel, before negligible terms are left out.
const TERMS: usize = 24;

/// The parameters of the spreading kernel, as the `nufft` ops take them.
#[derive(Clone, Copy, Debug)]
pub struct KernelOptions {
    /// Number of grid points that the kernel covers along each axis.
    pub width: usize,
    /// Shape parameter.
    pub beta: f64,
    /// Largest error that the polynomials may add to a value of the kernel.
    pub eps: f64,
    /// The axis along which the kernel is differentiated; -1 for no derivative.
    pub axis: isize,
}

impl KernelOptions {
    /// Returns the kernel for a grid of `axes` axes, and the axis along which it is differentiated, if any. Returns an
    /// error if one of the parameters is out of range.
    pub fn kernel(&self, op: &'static str, axes: usize) -> Result<(SpreadingKernel, Option<usize>)> {
        let kernel = SpreadingKernel::new(op, self.width, self.beta)?;
        if self.eps.is_nan() {
            return Err(Error::argument(op, "`eps` is NaN, but must be a number"));
        }
        let axis = self.axis;
        match usize::try_from(axis) {
            Ok(axis) if axis < axes => Ok((kernel, Some(axis))),
            Err(_) if axis == -1 => Ok((kernel, None)),
            _ => {
                let why =
                    format!("`axis` is {axis}, but must be -1 for no derivative, or an axis of the {axes} of the grid");
                Err(Error::argument(op, why))
            }
        }
    }
}

/// A kernel of `width` grid points with the shape parameter `beta`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpreadingKernel {
    width: usize,
    beta: f64,
}

impl SpreadingKernel {
    /// Creates a kernel. Returns an error if the width is not 2 to [`MAX_WIDTH`], or if `beta` is not finite and
    /// positive.
    pub fn new(op: &'static str, width: usize, beta: f64) -> Result<SpreadingKernel> {
        if !(2..=MAX_WIDTH).contains(&width) {
            return Err(Error::argument(op, format!("`width` is {width}, but must be between 2 and {MAX_WIDTH}")));
        }
        if !(beta > 0.0 && beta.is_finite()) {
            return Err(Error::argument(op, format!("`beta` is {beta}, but must be finite and positive")));
        }
        Ok(SpreadingKernel { width, beta })
    }

    /// Returns the number of grid points along an axis over which a non-uniform point is spread.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Computes the kernel's value at `z`. The value is 1 at 0, and smallest at -1 and 1.
    fn value(&self, z: f64) -> f64 {
        let root = (1.0 - z * z).max(0.0).sqrt();
        (self.beta * root).i0e() / self.beta.i0e() * (self.beta * (root - 1.0)).exp()
    }

    /// Computes the polynomials of all grid points near a non-uniform point. Terms of high degree that change no value
    /// by more than `tolerance` are left out.
    pub fn polynomials(&self, tolerance: f64) -> Polynomials {
        let series: Vec<[f64; TERMS]> = (0..self.width).map(|point| self.series(point)).collect();
        let least = tolerance.max(f64::EPSILON);
        let matters = |degree: usize| series.iter().any(|c| c[degree].abs() > least);
        let degree = (0..TERMS).rev().find(|&degree| matters(degree)).unwrap_or(0).max(2);
        let columns: Vec<Vec<f64>> = series.iter().map(|c| monomials(&c[..=degree])).collect();
        let of_power = |power: usize| std::array::from_fn(|point| columns.get(point).map_or(0.0, |c| c[power]));
        Polynomials { rows: (0..=degree).rev().map(of_power).collect() }
    }

    /// Computes the Chebyshev series, in the variable `t = 2 f - 1`, of the kernel's value at grid point number `point`
    /// near a non-uniform point. Distances are in grid spacings: the kernel begins `f` after a grid point and is
    /// `width` long, so the distance of grid point `point` from the non-uniform point is `point + 1 - f - width / 2`.
    fn series(&self, point: usize) -> [f64; TERMS] {
        let half = self.width as f64 / 2.0;
        let at = |t: f64| self.value((point as f64 + 1.0 - (t + 1.0) / 2.0 - half) / half);
        let angle = |k: usize| PI * (k as f64 + 0.5) / TERMS as f64;
        let values: [f64; TERMS] = std::array::from_fn(|k| at(angle(k).cos()));
        let cosines: [f64; 4 * TERMS] = std::array::from_fn(|i| (PI * i as f64 / (2 * TERMS) as f64).cos());
        std::array::from_fn(|m| {
            let sum: f64 = (0..TERMS).map(|k| values[k] * cosines[m * (2 * k + 1) % (4 * TERMS)]).sum();
            sum * if m == 0 { 1.0 } else { 2.0 } / TERMS as f64
        })
    }
}

/// The kernel's values as polynomials in `t`, from -1 to 1: one column for each grid point of a neighbourhood, and one
/// row for each power, the highest first. Columns beyond the width are 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Polynomials {
    rows: Vec<[f64; MAX_WIDTH]>,
}

impl Polynomials {
    /// Returns the coefficients, row by row.
    pub fn rows(&self) -> &[[f64; MAX_WIDTH]] {
        &self.rows
    }

    /// Computes the derivatives of the polynomials, multiplied by `scale`. The number of rows is the same.
    pub fn derivative(&self, scale: f64) -> Polynomials {
        let highest = self.rows.len() - 1;
        let derived = self.rows[..highest].iter().enumerate();
        let derived = derived.map(|(i, row)| row.map(|c| c * (highest - i) as f64 * scale));
        Polynomials { rows: std::iter::once([0.0; MAX_WIDTH]).chain(derived).collect() }
    }
}

/// Converts a Chebyshev series to the coefficients of the powers of its variable, the lowest power first.
fn monomials(series: &[f64]) -> Vec<f64> {
    let n = series.len();
    let mut sum = vec![0.0; n];
    // the Chebyshev polynomials of the current and of the next degree
    let (mut present, mut next) = (vec![0.0; n], vec![0.0; n]);
    present[0] = 1.0;
    if n > 1 {
        next[1] = 1.0;
    }
    for c in series {
        for (sum, p) in sum.iter_mut().zip(&present) {
            *sum += c * p;
        }
        let after = (0..n).map(|d| if d > 0 { 2.0 * next[d - 1] } else { 0.0 } - present[d]).collect();
        present = std::mem::replace(&mut next, after);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluated(rows: &[[f64; MAX_WIDTH]], point: usize, t: f64) -> f64 {
        rows.iter().fold(0.0, |sum, row| sum.mul_add(t, row[point]))
    }

    #[test]
    fn polynomials_are_the_kernel() {
        for (width, beta) in [(2, 4.0), (3, 5.5), (7, 15.5), (11, 19.0), (16, 37.0)] {
            let kernel = SpreadingKernel::new("test", width, beta).unwrap();
            for tolerance in [0.0, 1e-4, 1e-8] {
                let polynomials = kernel.polynomials(tolerance);
                let slopes = polynomials.derivative(2.0);
                let allowed = 1e-14 + 10.0 * tolerance;
                for point in 0..width {
                    for f in [0.0, 0.125, 0.5, 0.9, 1.0] {
                        let z = |f: f64| (point as f64 + 1.0 - f) / (width as f64 / 2.0) - 1.0;
                        let found = evaluated(polynomials.rows(), point, 2.0 * f - 1.0);
                        // the slopes below are compared with differences of the polynomials, because `value` is
                        // constant beyond the ends
                        assert!(
                            (found - kernel.value(z(f))).abs() < allowed,
                            "{width} {tolerance} {point} {f}: {found}"
                        );
                        let step = 1e-6;
                        let t = 2.0 * f - 1.0;
                        let ahead = evaluated(polynomials.rows(), point, t + step);
                        let behind = evaluated(polynomials.rows(), point, t - step);
                        let slope = (ahead - behind) / step;
                        let found = evaluated(slopes.rows(), point, t);
                        assert!((found - slope).abs() < 1e-7 * beta, "{width} {point} {f}: {found} {slope}");
                    }
                }
                assert!(polynomials.rows().iter().all(|row| row[width..].iter().all(|c| *c == 0.0)));
            }
        }
    }

    #[test]
    fn a_coarse_tolerance_needs_fewer_terms() {
        let kernel = SpreadingKernel::new("test", 7, 15.5).unwrap();
        let terms = |tolerance: f64| kernel.polynomials(tolerance).rows().len();
        assert!(terms(1e-3) < terms(1e-7) && terms(1e-7) < terms(0.0));
    }

    #[test]
    fn refusals() {
        for (width, beta) in [(1, 5.0), (17, 5.0), (5, 0.0), (5, -1.0), (5, f64::NAN), (5, f64::INFINITY)] {
            assert!(matches!(SpreadingKernel::new("test", width, beta), Err(Error::Argument { op: "test", .. })));
        }
        // tests a shape parameter beyond the range of I0
        let sharp = SpreadingKernel::new("test", 4, 1e6).unwrap();
        assert!(sharp.polynomials(0.0).rows().iter().flatten().all(|c| c.is_finite()));
    }
}
