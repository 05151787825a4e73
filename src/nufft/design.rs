//! Chooses the kernel and the grid of a non-uniform Fourier transform for a required accuracy.
//!
//! The kernel is the Kaiser-Bessel function of [`spreading`](crate::runtime::spreading), whose Fourier transform is
//! `sinh(s) / s`. The kernel has the smallest width for which the expected error is below the required accuracy. The
//! error of a mode comes from its aliases. An alias is a mode whose number differs by a multiple of the grid's length,
//! so that both modes have the same values on the grid.

use crate::runtime::spreading::MAX_WIDTH;
use crate::{Backend, ComplexFloat, Error, Numeric, Real, Result};
use std::f64::consts::{PI, TAU};

/// The possible ratios of a grid's length to the number of modes.
const UPSAMPLINGS: [f64; 7] = [1.25, 1.375, 1.5, 1.625, 1.75, 2.0, 2.25];

/// Maximum expected error, as a fraction of the required accuracy. The first value applies to many points and modes,
/// whose errors average out; the second value applies to few points or modes.
const EXPECTED: [f64; 2] = [0.85, 0.3];

/// Maximum error that may result from computing the kernel by polynomials, as a fraction of the required accuracy.
const BY_POLYNOMIALS: f64 = 0.06;

/// Number of points or modes below which errors need not average out.
const FEW: usize = 128;

/// The required accuracy, the rounding error of the dtype, and the largest useful width of the kernel. The error of a
/// wider kernel would be below the rounding error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Accuracy {
    /// Maximum relative error of the transform.
    pub eps: f64,
    rounding: f64,
    widest: usize,
}

impl Accuracy {
    /// The accuracy that each of two successive transforms needs: half of the allowed error.
    pub fn halved(self) -> Accuracy {
        Accuracy { eps: (self.eps / 2.0).max(self.rounding), ..self }
    }

    /// The accuracy `eps` in the dtype `T`, but not below the rounding error of `T`.
    pub fn of<T: Real>(op: &'static str, eps: f64) -> Result<Accuracy> {
        if !(eps > 0.0 && eps < 1.0) {
            return Err(Error::argument(op, format!("eps is {eps}, but must be between 0 and 1")));
        }
        let one = <T as Numeric>::ONE;
        let rounding = one.nextafter(one + one).to_f64() - 1.0;
        let widest = if rounding > 1e-10 { 10 } else { MAX_WIDTH };
        Ok(Accuracy { eps: eps.max(rounding), rounding, widest })
    }
}

/// The kernel and the grid of a transform.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Design {
    /// Number of grid points along an axis to which each non-uniform point contributes.
    pub width: usize,
    /// The shape parameter of the kernel.
    pub beta: f64,
    /// Maximum error of a kernel value that is computed by polynomials.
    pub tolerance: f64,
    /// Length of the grid along each axis.
    pub grid: Vec<usize>,
}

impl Design {
    /// The design with the least work for these modes and about this number of points.
    pub fn new(op: &'static str, accuracy: Accuracy, modes: &[usize], points: usize) -> Result<Design> {
        let few =
            points < FEW || modes.iter().try_fold(1, |n: usize, &modes| n.checked_mul(modes)).is_some_and(|n| n < FEW);
        let errors = if few { Errors::Few } else { Errors::Many };
        let mut best: Option<(f64, Design)> = None;
        for upsampling in UPSAMPLINGS {
            if let Some(design) = Design::upsampled(op, accuracy, modes, upsampling, errors)? {
                let cost = design.cost(accuracy, points);
                if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                    best = Some((cost, design));
                }
            }
        }
        match best {
            Some((_, design)) => Ok(design),
            None => Ok(Axes::new(op, modes, 2.0, accuracy.widest, errors)?.design(accuracy)),
        }
    }

    /// The lengths of the largest grid that any design for these modes has.
    pub fn largest_grid(op: &'static str, modes: &[usize]) -> Result<Vec<usize>> {
        grid_for(op, modes, UPSAMPLINGS[UPSAMPLINGS.len() - 1], MAX_WIDTH)
    }

    /// A design in which every mode is accurate. The ratio of the grid's length to the number of modes is `upsampling`:
    /// along each axis, the design has as many modes as this ratio allows, and at least the number in `modes`. If no
    /// kernel is accurate enough, the design has the widest kernel.
    pub fn for_every_mode(op: &'static str, accuracy: Accuracy, modes: &[usize], upsampling: f64) -> Result<Design> {
        match Design::upsampled(op, accuracy, modes, upsampling, Errors::LastMode)? {
            Some(design) => Ok(design),
            None => Ok(Axes::new(op, modes, upsampling, accuracy.widest, Errors::LastMode)?.design(accuracy)),
        }
    }

    /// A design with the narrowest kernel that is accurate enough; `None` if no kernel is.
    fn upsampled(
        op: &'static str,
        accuracy: Accuracy,
        modes: &[usize],
        upsampling: f64,
        errors: Errors,
    ) -> Result<Option<Design>> {
        let Accuracy { eps, rounding, widest } = accuracy;
        // starts slightly below an estimate of the width, which is based on how fast the error decays with the width
        let first = (-eps.ln() / (PI * (1.0 - 1.0 / upsampling).sqrt())) as usize;
        for width in first.clamp(2, widest)..=widest {
            let axes = Axes::new(op, modes, upsampling, width, errors)?;
            if axes.expected_error(errors) <= EXPECTED[usize::from(errors != Errors::Many)] * eps {
                let is_exact = axes.gain() * 2.0 * rounding <= eps;
                return Ok(is_exact.then(|| axes.design(accuracy)));
            }
        }
        Ok(None)
    }

    /// Estimated time on one processor, in nanoseconds. Only ratios of such times are used.
    fn cost(&self, accuracy: Accuracy, points: usize) -> f64 {
        let (axes, width) = (self.grid.len() as i32, self.width as f64);
        let single = accuracy.rounding > 1e-10;
        let lanes = if single { 16.0 } else { 8.0 };
        let vectors = (2.0 * width / lanes).ceil() * width.powi(axes - 1);
        let cells: f64 = self.grid.iter().map(|&n| n as f64).product();
        // number of cells in all windows (overlapping parts of the grid): each window is cleared, and later added to
        // the grid
        let (across, down) = [(2048.0, 2048.0), (64.0, 64.0), (32.0, 16.0)][self.grid.len() - 1];
        let windows = cells * (1.0 + width / across) * (1.0 + width / down).powi(axes - 1);
        let fourier = cells * cells.log2() * if axes == 1 { 1.0 } else { 0.5 } + windows * 4.0;
        points as f64 * (vectors + 10.0 + 3.0 * f64::from(axes)) + fourier * if single { 0.5 } else { 1.0 }
    }

    /// Returns the factors that undo the effect of the kernel on Fourier coefficients at the frequencies `angles`, in
    /// radians per grid point. A factor is the reciprocal of the kernel's Fourier transform, which is positive up to
    /// the angle `2 beta / width`.
    pub fn undoing<B: Backend, T: Real>(&self, b: &B, angles: &B::Array<T>) -> Result<B::Array<T>> {
        let (beta, half_width) = (self.beta, self.width as f64 / 2.0);
        let scale = beta.i0e() / half_width;
        expr!(b,
            let s = sqrt(beta * beta - square(angles * half_width));
            s * scale / (exp(s - beta) - exp(-s - beta))
        )
    }

    /// Returns, for each mode (integer frequency) along an axis, the factor that undoes the effect of the kernel on the
    /// Fourier coefficient of this mode. The modes ascend from `-(modes / 2)`.
    pub fn factors<B: Backend, C: ComplexFloat>(&self, b: &B, axis: usize, modes: usize) -> Result<B::Array<C>> {
        let first = -((modes / 2) as f64);
        // computed in float64: the factor contains exponentials, which amplify the rounding errors of their arguments
        // of up to about 40
        let numbers = b.arange(first, first + modes as f64, 1.0)?;
        let angles = b.multiply(numbers, TAU / self.grid[axis] as f64)?;
        b.astype::<C, f64>(self.undoing::<B, f64>(b, &angles)?)
    }
}

/// The kinds of errors that a design can limit.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Errors {
    /// The errors of many points and modes, which average out.
    Many,
    /// The errors of few points or modes, which need not average out.
    Few,
    /// The error of the last mode, which has the largest error.
    LastMode,
}

/// The kernel and the modes of all axes.
#[derive(Clone, Debug)]
struct Axes(Vec<Axis>);

impl Axes {
    /// The kernel with this width, and the modes of each axis: the given modes, or for [`Errors::LastMode`] as many as
    /// the grid allows.
    fn new(op: &'static str, modes: &[usize], upsampling: f64, width: usize, errors: Errors) -> Result<Axes> {
        let grid = grid_for(op, modes, upsampling, width)?;
        let modes: Vec<usize> = match errors {
            Errors::LastMode => grid.iter().map(|&grid| (grid as f64 / upsampling) as usize).collect(),
            Errors::Many | Errors::Few => modes.to_vec(),
        };
        let ratios = grid.iter().zip(&modes).map(|(&grid, &modes)| grid as f64 / modes.max(1) as f64);
        let beta = shape_parameter(width, ratios.fold(f64::MAX, f64::min));
        Ok(Axes(grid.into_iter().zip(modes).map(|(grid, modes)| Axis { width, beta, modes, grid }).collect()))
    }

    /// The expected relative error.
    fn expected_error(&self, errors: Errors) -> f64 {
        self.0.iter().map(|axis| axis.expected_error(errors)).sum::<f64>().sqrt()
    }

    /// The factor by which errors of the kernel's values are amplified when the result is corrected for the kernel,
    /// along the axis where this factor is largest.
    fn gain(&self) -> f64 {
        self.0.iter().map(Axis::gain).fold(1.0, f64::max)
    }

    fn design(&self, accuracy: Accuracy) -> Design {
        let Axis { width, beta, .. } = self.0[0];
        let tolerance = BY_POLYNOMIALS * accuracy.eps / self.gain() / (self.0.len() as f64).sqrt();
        Design { width, beta, tolerance, grid: self.0.iter().map(|axis| axis.grid).collect() }
    }
}

/// The kernel and the modes of one axis.
#[derive(Clone, Copy, Debug)]
struct Axis {
    width: usize,
    beta: f64,
    modes: usize,
    grid: usize,
}

impl Axis {
    /// The kernel's Fourier transform at a mode, up to a constant factor.
    fn transform(&self, mode: f64) -> f64 {
        scaled_transform(self.beta, PI * self.width as f64 * mode / self.grid as f64)
    }

    /// The square of the expected relative error, which is the energy of all aliases. For [`Errors::LastMode`], it is
    /// the value at the last mode, which has the largest error; otherwise, it is the mean over the modes.
    fn expected_error(&self, errors: Errors) -> f64 {
        let aliases = if self.modes < 4 { 9 } else { 4 };
        let energy = |mode: f64| {
            let alias = |multiple: f64| self.transform(mode + multiple * self.grid as f64).abs();
            // for a single point, or for points that coincide with grid points, the amplitudes of all aliases may add
            // up
            let all: f64 = (1..aliases).map(|p| alias(f64::from(p)) + alias(-f64::from(p))).sum();
            (all / self.transform(mode)).powi(2)
        };
        // sums over half of the modes: the last modes, whose aliases are near, and a sample of the other modes
        let half = self.modes.div_ceil(2);
        let (near, last) = (half.min(8), (self.modes / 2) as f64);
        if errors == Errors::LastMode {
            return energy(last);
        }
        let mut sum: f64 = (0..near).map(|i| energy(last - i as f64)).sum();
        let others = (half - near) as f64;
        let samples = (half - near).min(8);
        for i in 0..samples {
            // the samples are denser towards the last modes
            let t = (i as f64 + 0.5) / samples as f64;
            let mode = (last - near as f64 + 0.5 - others * t * t).max(0.0);
            sum += energy(mode) * others * 2.0 * t / samples as f64;
        }
        sum / half.max(1) as f64
    }

    /// The root mean square of the factors by which the modes amplify errors of the kernel's values.
    fn gain(&self) -> f64 {
        const SAMPLES: usize = 12;
        let at = |i: usize| self.transform(self.modes as f64 * (i as f64 + 0.5) / (2 * SAMPLES) as f64);
        let sum: f64 = (0..SAMPLES).map(|i| (self.transform(0.0) / at(i)).powi(2)).sum();
        (sum / SAMPLES as f64).sqrt()
    }
}

/// `sinh(s) / s exp(-beta)` with `s^2 = beta^2 - frequency^2`.
fn scaled_transform(beta: f64, frequency: f64) -> f64 {
    let square = beta * beta - frequency * frequency;
    let s = square.abs().sqrt();
    if s < 1e-9 {
        (-beta).exp()
    } else if square > 0.0 {
        ((s - beta).exp() - (-s - beta).exp()) / (2.0 * s)
    } else {
        s.sin() / s * (-beta).exp()
    }
}

/// The shape parameter with the smallest error, by a formula that was fitted to kernels with widths of 2 to 16 points.
/// The formula gives slightly less than the value for which the main lobe of the kernel's transform ends at the first
/// alias of the highest mode.
fn shape_parameter(width: usize, upsampling: f64) -> f64 {
    let (width, upsampling) = (width as f64, upsampling.min(4.0));
    let main_lobe = PI * width * (1.0 - 0.5 / upsampling);
    main_lobe - (0.16 + 0.5 / width) * (1.0 - 0.17 * (upsampling - 1.0).min(1.0).log2())
}

/// The lengths of a grid. Each length is at least twice the kernel's width, and is a product of small factors, so that
/// the FFT is fast.
fn grid_for(op: &'static str, modes: &[usize], upsampling: f64, width: usize) -> Result<Vec<usize>> {
    let length = |&modes: &usize| {
        let least = (modes as f64 * upsampling).ceil();
        if least > (1_u64 << 48) as f64 {
            return Err(Error::memory(op, usize::MAX));
        }
        smooth((least as usize).max(2 * width)).ok_or_else(|| Error::memory(op, usize::MAX))
    };
    modes.iter().map(length).collect()
}

/// The smallest even number that is at least `least` and has only the prime factors 2, 3 and 5; `None` if it exceeds
/// `usize::MAX`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arrays, Complex, Numpyish};

    #[test]
    fn smooth_lengths() {
        for (least, expected) in [(0, 2), (1, 2), (7, 8), (11, 12), (13, 16), (31, 32), (161, 162), (1601, 1620)] {
            assert_eq!(smooth(least), Some(expected));
        }
        assert_eq!(smooth(usize::MAX), None);
        assert!(smooth(usize::MAX / 2).is_some());
    }

    #[test]
    fn factors_undo_a_fine_sum() {
        let b = Numpyish::new();
        for (eps, modes) in [(1e-2, 100), (1e-9, 101), (1e-12, 500)] {
            let accuracy = Accuracy::of::<f64>("test", eps).unwrap();
            let design = Design::new("test", accuracy, &[modes], 1000).unwrap();
            let factors = b.to_vec(&design.factors::<_, Complex<f64>>(&b, 0, modes).unwrap()).unwrap();
            let half_width = design.width as f64 / 2.0;
            let n = 400_000;
            for i in [0, 1, modes / 3, modes / 2, modes - 1] {
                let angle = TAU * (i as f64 - (modes / 2) as f64) / design.grid[0] as f64;
                let value = |i: usize| {
                    let z: f64 = -1.0 + (2.0 * i as f64 + 1.0) / n as f64;
                    let root = (1.0 - z * z).sqrt();
                    (design.beta * root).i0() / design.beta.i0() * (angle * half_width * z).cos() * 2.0 / n as f64
                };
                let sum: f64 = (0..n).map(value).sum::<f64>() * half_width;
                assert!((factors[i].re * sum - 1.0).abs() < 1e-8 && factors[i].im == 0.0, "{eps} {i}");
            }
        }
    }

    #[test]
    fn wider_kernels_for_smaller_errors() {
        let width = |eps: f64| {
            let accuracy = Accuracy::of::<f64>("test", eps).unwrap();
            Design::new("test", accuracy, &[512, 512], 1_000_000).unwrap().width
        };
        assert!(width(1e-3) < width(1e-6) && width(1e-6) < width(1e-12) && width(1e-300) <= MAX_WIDTH);
    }

    #[test]
    fn refusals() {
        for eps in [0.0, -1.0, 1.0, f64::NAN, f64::INFINITY] {
            let refused = Accuracy::of::<f64>("test", eps);
            assert!(matches!(refused, Err(Error::Argument { op: "test", .. })), "{eps}");
        }
        let accuracy = Accuracy::of::<f64>("test", 1e-6).unwrap();
        assert!(Design::new("test", accuracy, &[usize::MAX / 2 + 1], 1).is_err());
        assert!(Design::new("test", accuracy, &[usize::MAX], 1).is_err());
        assert!(crate::runtime::spreading::SpreadingKernel::new("test", 7, shape_parameter(7, 2.0)).is_ok());
    }
}
