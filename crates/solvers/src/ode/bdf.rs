//! Backward differentiation formulas of order 1 to 5, with variable step length and order: G. D. Byrne and A. C.
//! Hindmarsh, "A polyalgorithm for the numerical solution of ordinary differential equations", ACM Trans. Math. Softw.
//! 1, 1975; with the constants of the NDF of L. F. Shampine and M. W. Reichelt, "The MATLAB ODE suite", SIAM J. Sci.
//! Comput. 18, 1997.

use super::{
    control::{Control, LONGER, SAFETY, SHORTER, Trouble, eps, norm_over},
    dense::{Polynomial, Segment},
    equation::Equation,
    newton::{ITERATIONS, Newton, Step},
    stepper::{Attempt, Stepper},
    tableau::{combined, sum},
};
use backends::{Backend, Float, Result, expr};

const MAX_ORDER: usize = 5;

/// The coefficients, by order, that turn a BDF into an NDF (numerical differentiation formula): the weight of an
/// additional term, which has the backward difference of the next higher order.
const KAPPA: [f64; MAX_ORDER + 1] = [0.0, -0.1850, -1.0 / 9.0, -0.0823, -0.0415, 0.0];

/// The sum 1 + 1/2 + .. + 1/k, which occurs in the coefficients of the formula of order k.
fn gamma(k: usize) -> f64 {
    (1..=k).map(|i| 1.0 / i as f64).sum()
}

/// Returns the constant `alpha` of the implicit equation of a step. In this equation, the slope at the new time has the
/// coefficient `h / alpha(order)`, where `h` is the step length.
fn alpha(order: usize) -> f64 {
    (1.0 - KAPPA[order]) * gamma(order)
}

/// Ratio of the error of a step of this order to the backward difference of the next higher order.
fn error_constant(order: usize) -> f64 {
    KAPPA[order] * gamma(order) + 1.0 / (order + 1) as f64
}

pub(super) struct Bdf<B: Backend, T: Float> {
    t: f64,
    /// The state, followed by its backward differences of order 1, 2, and so on, for times spaced by `length`. Two
    /// more differences than the current order needs are kept, for choosing another order.
    differences: Vec<B::Array<T>>,
    order: usize,
    length: f64,
    forward: f64,
    /// Number of consecutive steps with this length and order.
    equal: usize,
    is_again: bool,
    newton: Newton<B, T>,
    /// The time and state at the start of the last step.
    last: Option<(f64, B::Array<T>)>,
}

impl<B: Backend, T: Float> Bdf<B, T> {
    /// The order of the first steps, which the choice of the first step length depends on.
    pub const ORDER: f64 = 1.0;

    pub fn new(b: &B, control: &Control, t: f64, y: B::Array<T>, now: &B::Array<T>, length: f64) -> Result<Self> {
        let h = control.forward * length;
        let zeros = b.zeros_like::<T>(&y)?;
        let mut differences = vec![y, expr!(b, h * now)?];
        differences.resize(MAX_ORDER + 3, zeros);
        Ok(Bdf {
            t,
            differences,
            order: 1,
            length,
            forward: control.forward,
            equal: 0,
            is_again: false,
            newton: Newton::new(),
            last: None,
        })
    }

    /// Changes the step length: computes the differences of the same interpolating polynomial at the new spacing.
    fn rescale(&mut self, b: &B, length: f64) -> Result<()> {
        let weights = rescaling(self.order, length / self.length);
        let old = self.differences[1..=self.order].to_vec();
        for (j, weights) in weights.iter().enumerate() {
            if let Some(difference) = sum::<B, T>(b, 1.0, &old, weights)? {
                self.differences[j + 1] = difference;
            }
        }
        (self.length, self.equal) = (length, 0);
        Ok(())
    }

    /// Multiplies the step length by `factor` after a failed attempt.
    fn shorten(&mut self, b: &B, factor: f64, trouble: Option<Trouble>) -> Result<Attempt> {
        self.is_again = true;
        self.rescale(b, self.length * factor)?;
        Ok(Attempt::TooLong(trouble))
    }

    /// Updates the differences after a step. `d` is the backward difference of order `order + 1`, where `order` is the
    /// order of the step.
    fn advance(&mut self, b: &B, d: &B::Array<T>) -> Result<()> {
        let (order, differences) = (self.order, &mut self.differences);
        differences[order + 2] = b.subtract(d, &differences[order + 1])?;
        differences[order + 1] = d.clone();
        for i in (0..=order).rev() {
            differences[i] = b.add(&differences[i], &differences[i + 1])?;
        }
        Ok(())
    }

    /// Chooses the order that allows the longest next step. The error of the step just made is estimated for the
    /// current order, for one order less and for one order more.
    fn choose(&mut self, b: &B, error: f64, safety: f64, scale: &B::Array<T::Real>) -> Result<()> {
        let order = self.order;
        let of = |other: usize| -> Result<f64> {
            Ok(match other {
                0 | 6.. => f64::INFINITY,
                _ => error_constant(other).abs() * norm_over::<B, T>(b, &self.differences[other + 1], scale)?,
            })
        };
        let errors = [of(order - 1)?, error, of(order + 1)?];
        let factor = |k: usize| errors[k].powf(-1.0 / (order + k) as f64);
        let best = (1..3).fold(0, |best, k| if factor(k) > factor(best) { k } else { best });
        let factor = LONGER.min(safety * factor(best));
        // at order 1, the factor for order 0 is 0, so order 0 is chosen only if all factors are 0
        self.order = (order + best).saturating_sub(1).clamp(1, MAX_ORDER);
        self.newton.forget_inverse();
        self.rescale(b, self.length * factor)
    }
}

/// Returns the matrix that converts backward differences to another spacing of times. Row `j` has the weights of the
/// old differences in the new difference of order `j + 1`. The new spacing is `factor` times the old spacing: Shampine
/// and Reichelt, section 2.1.
fn rescaling(order: usize, factor: f64) -> Vec<Vec<f64>> {
    // row `i`, column `j`: the weight of old difference `i` in the state `j` new spacings before the current time
    let at = |factor: f64| -> Vec<Vec<f64>> {
        let mut rows = vec![vec![1.0; order + 1]];
        for i in 1..=order {
            let next = (0..=order).map(|j| rows[i - 1][j] * ((i - 1) as f64 - factor * j as f64) / i as f64);
            rows.push(next.collect());
        }
        rows
    };
    let (new, one) = (at(factor), at(1.0));
    let weight = |i: usize, j: usize| (1..=order).map(|k| new[i][k] * one[k][j]).sum();
    (1..=order).map(|j| (1..=order).map(|i| weight(i, j)).collect()).collect()
}

impl<B: Backend, T: Float> Stepper<B, T> for Bdf<B, T> {
    fn attempt(&mut self, equation: &Equation<'_, B, T>, control: &Control) -> Result<Attempt> {
        let (b, t) = (equation.b, self.t);
        let least = control.least(t);
        if self.is_again {
            if self.length.is_nan() || self.length < least {
                return Ok(Attempt::Vanished);
            }
        } else {
            self.newton.moved();
            let length = self.length.max(least).min(control.max_step);
            if length != self.length {
                self.rescale(b, length)?;
                self.newton.forget_inverse();
            }
        }
        let mut new_t = t + self.forward * self.length;
        if self.forward * (new_t - control.end) > 0.0 {
            new_t = control.end;
            self.rescale(b, (new_t - t).abs())?;
            self.newton.forget_inverse();
        }
        let (h, order) = (new_t - t, self.order);
        self.length = h.abs();
        let used = &self.differences[1..=order];
        let predicted = combined(b, &self.differences[0], 1.0, used, &vec![1.0; order])?;
        let weights: Vec<f64> = (1..=order).map(|k| gamma(k) / alpha(order)).collect();
        let psi = combined(b, &b.zeros_like::<T>(&predicted)?, 1.0, used, &weights)?;
        let step = Step {
            t: new_t,
            c: h / alpha(order),
            predicted: &predicted,
            psi: &psi,
            scale: &control.scale::<B, T>(b, &predicted)?,
            tolerance: (10.0 * eps::<T::Real>() / control.rtol).max(control.rtol.sqrt().min(0.03)),
            atol: control.atol,
        };
        let Some(d) = self.newton.solve(equation, &step)? else {
            self.newton.forget_inverse();
            return self.shorten(b, 0.5, self.newton.trouble.get());
        };
        let most = f64::from(2 * ITERATIONS);
        let safety = SAFETY * (most + 1.0) / (most + f64::from(self.newton.iterations.get()));
        let scale = control.scale::<B, T>(b, &b.add(&predicted, &d)?)?;
        let error = error_constant(order) * norm_over::<B, T>(b, &d, &scale)?;
        if !error.is_finite() {
            self.newton.forget_inverse();
            return self.shorten(b, 0.5, Some(Trouble::State(new_t)));
        }
        if error > 1.0 {
            // Newton's method converged, so its matrix can be used for a shorter step, too
            let factor = safety * error.powf(-1.0 / (order + 1) as f64);
            return self.shorten(b, factor.max(SHORTER), None);
        }
        self.last = Some((t, self.differences[0].clone()));
        self.advance(b, &d)?;
        self.t = new_t;
        self.equal += 1;
        self.is_again = false;
        if self.equal > order {
            self.choose(b, error, safety, &scale)?;
        }
        Ok(Attempt::Made)
    }

    fn state(&self) -> (f64, &B::Array<T>) {
        (self.t, &self.differences[0])
    }

    fn segment(&self) -> Option<Segment<B::Array<T>>> {
        let (from, start) = self.last.as_ref()?;
        let (h, differences) = (self.forward * self.length, self.differences[1..=self.order].to_vec());
        let polynomial = Polynomial::Differences { h, differences };
        Some(Segment { from: *from, to: self.t, start: start.clone(), end: self.differences[0].clone(), polynomial })
    }
}
