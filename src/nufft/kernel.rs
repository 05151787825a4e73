//! The spreading kernel `exp(beta (sqrt(1 - z^2) - 1))`, `|z| <= 1`, of Barnett, Magland and af Klinteberg, "A parallel
//! nonuniform fast Fourier transform library based on an exponential of semicircle kernel" (2019), and the quantities
//! that depend on it alone: the fine grid, the deconvolution, the phases. All of these are small, and are computed on
//! the host in `f64`.

use crate::{Backend, ComplexFloat, Error, Numeric, Real, Result, lazy, runtime::rules};
use std::f64::consts::{FRAC_PI_4, PI};

/// The widest kernel. In `f64`, one more grid point does not improve the accuracy.
const WIDEST: usize = 16;

/// Number of Gauss-Legendre nodes for the kernel's Fourier integral. The integrand is entire in the angle, so 48 nodes
/// are exact to rounding for every width and frequency in use.
const NODES: usize = 48;

/// The kernel for one accuracy, on a grid that is twice as fine as the modes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Kernel {
    /// Number of grid points that each non-uniform point touches along an axis.
    pub width: usize,
    /// The shape parameter.
    pub beta: f64,
}

impl Kernel {
    /// The narrowest kernel with relative error `eps`. If `eps` is below `finest`, the rounding error of the dtype,
    /// `finest` is used.
    pub fn new(op: &'static str, eps: f64, finest: f64) -> Result<Kernel> {
        if !(eps > 0.0 && eps < 1.0) {
            return Err(Error::argument(op, format!("eps is {eps}, but must be between 0 and 1")));
        }
        let digits = -eps.max(finest).log10();
        // the error is about `10^(1 - width)`; with one more point, `eps` is an upper bound
        let width = (digits.ceil() as usize + 2).clamp(2, WIDEST);
        let beta_per_width = match width {
            2 => 2.20,
            3 => 2.26,
            4 => 2.38,
            _ => 2.30,
        };
        Ok(Kernel { width, beta: beta_per_width * width as f64 })
    }

    /// The kernel for accuracy `eps` in the dtype `C`.
    pub fn of<C: ComplexFloat>(op: &'static str, eps: f64) -> Result<Kernel> {
        let one = <C::Real as Numeric>::ONE;
        Kernel::new(op, eps, one.nextafter(one + one).to_f64() - 1.0)
    }

    /// Length of the fine grid for `modes` modes: at least twice the number of modes, at least twice the kernel's
    /// width, and a product of small factors, so that the FFT is fast.
    pub fn grid(&self, op: &'static str, modes: usize) -> Result<usize> {
        let least = modes.checked_mul(2).ok_or(Error::Memory { op, bytes: usize::MAX })?.max(2 * self.width);
        smooth(least).ok_or(Error::Memory { op, bytes: usize::MAX })
    }

    /// For each mode, from `-(modes / 2)` on, the factor that undoes the kernel: the inverse of its Fourier transform.
    pub fn deconvolution(&self, op: &'static str, modes: usize, grid: usize) -> Result<Vec<f64>> {
        let nodes = gauss_legendre();
        let half_width = self.width as f64 / 2.0;
        table(op, modes, |i| {
            let mode = i as f64 - (modes / 2) as f64;
            1.0 / (half_width * self.fourier(2.0 * PI * mode * half_width / grid as f64, &nodes))
        })
    }

    /// The kernel's Fourier transform on the grid at arbitrary frequencies, in radians per grid point.
    pub fn transform_at<B: Backend, T: Real>(&self, b: &B, frequencies: &B::Array<T>) -> Result<B::Array<T>> {
        let half_width = self.width as f64 / 2.0;
        let mut sum = b.zeros_like(frequencies)?;
        for (sin, weight) in self.angles(&gauss_legendre()) {
            let (by, weight) = (T::of(half_width * sin), T::of(2.0 * half_width * weight));
            sum = (lazy(&sum) + (lazy(frequencies) * lazy(by)).cos() * lazy(weight)).eval(b)?;
        }
        Ok(sum)
    }

    /// The integral of `kernel(z) cos(frequency z)` over -1 .. 1. The substitution `z = sin(angle)` removes the
    /// square-root singularities at the ends.
    fn fourier(&self, frequency: f64, nodes: &[(f64, f64)]) -> f64 {
        2.0 * self.angles(nodes).map(|(sin, weight)| weight * (frequency * sin).cos()).sum::<f64>()
    }

    /// Points and weights for the integral of the kernel over 0 .. 1.
    fn angles(&self, nodes: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> {
        let beta = self.beta;
        nodes.iter().map(move |(node, weight)| {
            let (sin, cos) = (FRAC_PI_4 * (node + 1.0)).sin_cos();
            (sin, FRAC_PI_4 * weight * (beta * (cos - 1.0)).exp() * cos)
        })
    }
}

/// `exp(-i sign (modes / 2) 2 pi l / grid)` for each grid point `l`, as (cosine, sine). If the kernel's values are
/// multiplied by these factors, the modes are numbered from 0 and need not be shifted on the grid.
pub(super) fn phases(op: &'static str, modes: usize, grid: usize, sign: f64) -> Result<Vec<(f64, f64)>> {
    table(op, grid, |l| {
        let turns = ((modes / 2) as u128 * l as u128 % grid as u128) as f64 / grid as f64;
        let (sin, cos) = (-sign * 2.0 * PI * turns).sin_cos();
        (cos, sin)
    })
}

/// A table of `len` values, or an error if memory is insufficient.
fn table<V>(op: &'static str, len: usize, value: impl FnMut(usize) -> V) -> Result<Vec<V>> {
    let bytes = rules::count(op, &[len, size_of::<V>()], 1)?;
    let mut all = Vec::new();
    all.try_reserve_exact(len).map_err(|_| Error::Memory { op, bytes })?;
    all.extend((0..len).map(value));
    Ok(all)
}

/// Applies `f` to every value of a table.
pub(super) fn mapped<V, W>(op: &'static str, from: &[V], f: impl Fn(&V) -> W) -> Result<Vec<W>> {
    table(op, from.len(), |i| f(&from[i]))
}

/// The smallest even product of 2, 3 and 5 that is at least `least`; `None` if it exceeds `usize::MAX`.
fn smooth(least: usize) -> Option<usize> {
    let mut best: Option<usize> = None;
    let powers = |of: usize| std::iter::successors(Some(1_usize), move |p| p.checked_mul(of));
    for five in powers(5) {
        for odd in powers(3).map_while(|three| five.checked_mul(three)) {
            let doubled = powers(2).skip(1).map_while(|two| odd.checked_mul(two)).find(|n| *n >= least);
            best = best.into_iter().chain(doubled).min();
        }
    }
    best
}

/// Gauss-Legendre nodes and weights on -1 .. 1, by Newton's iteration on the Legendre polynomial.
fn gauss_legendre() -> Vec<(f64, f64)> {
    let n = NODES as f64;
    let pair = |i: usize| {
        let mut x = (PI * (i as f64 + 0.75) / (n + 0.5)).cos();
        let mut slope = 0.0;
        // convergence is quadratic from a good start: five steps are more than enough
        for _ in 0..8 {
            let (mut previous, mut value) = (1.0, x);
            for k in 2..=NODES {
                let k = k as f64;
                (previous, value) = (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * previous) / k);
            }
            slope = n * (x * value - previous) / (x * x - 1.0);
            x -= value / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..NODES).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smooth_lengths() {
        for (least, expected) in [(0, 2), (1, 2), (7, 8), (11, 12), (13, 16), (31, 32), (161, 162), (1601, 1620)] {
            assert_eq!(smooth(least), Some(expected));
        }
        assert_eq!(smooth(usize::MAX), None);
        assert!(smooth(usize::MAX / 2).is_some());
    }

    #[test]
    fn quadrature_is_exact_for_polynomials() {
        let nodes = gauss_legendre();
        for power in [0, 2, 10, 94] {
            let sum: f64 = nodes.iter().map(|(x, w)| w * x.powi(power)).sum();
            assert!((sum - 2.0 / (power as f64 + 1.0)).abs() < 1e-14, "{power}: {sum}");
        }
    }

    #[test]
    fn the_fourier_integral_matches_a_fine_sum() {
        let kernel = Kernel::new("test", 1e-12, f64::EPSILON).unwrap();
        let n = 400_000;
        for frequency in [0.0, 3.0, 12.0] {
            let value = |i: usize| {
                let z = -1.0 + (2.0 * i as f64 + 1.0) / n as f64;
                (kernel.beta * ((1.0 - z * z).sqrt() - 1.0)).exp() * (frequency * z).cos() * 2.0 / n as f64
            };
            let sum: f64 = (0..n).map(value).sum();
            assert!((kernel.fourier(frequency, &gauss_legendre()) - sum).abs() < 1e-10);
        }
    }

    #[test]
    fn refusals() {
        for eps in [0.0, -1.0, 1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(Kernel::new("test", eps, 1e-16), Err(Error::Argument { op: "test", .. })), "{eps}");
        }
        let kernel = Kernel::new("test", 1e-300, f64::EPSILON).unwrap();
        assert_eq!(kernel.width, WIDEST);
        assert!(kernel.grid("test", usize::MAX / 2 + 1).is_err());
        assert!(kernel.grid("test", usize::MAX).is_err());
        assert!(phases("test", 1, usize::MAX / 32, 1.0).is_err());
    }
}
