//! Ordinary differential equations `y' = f(t, y)`, over any backend.
//!
//! [`solve_ivp`] goes from one time to another with steps as long as the tolerances allow; [`step`] makes one step of a fixed length. The state is an array of
//! any shape, real or complex. Both are written in ops of the backend, so that gradients go through their steps.
//!
//! ```
//! use backends::prelude::*;
//! use backends_solvers::ode::{SolveIvp, solve_ivp};
//!
//! // a pendulum's angle and its rate of change
//! let b = Numpyish::new();
//! let pendulum = |b: &Numpyish, _t: f64, y: &HostArray<f64>| {
//!     let (angle, rate) = (b.getitem(y, slices![..1])?, b.getitem(y, slices![1..])?);
//!     b.concat([rate, b.negative(b.sin(angle)?)?])
//! };
//! let times = [0.5, 1.0];
//! let found = solve_ivp(&b, pendulum, [0.0, 1.0], &b.asarray([0.1, 0.0])?, SolveIvp::new().rtol(1e-8).atol(1e-10).t_eval(&times))?;
//! assert!(found.success);
//! let angles = b.getitem(b.stack(&found.y)?, slices![.., 0])?;
//! // for small angles a cosine, nearly
//! assert!(b.allclose_with(angles, b.multiply(b.cos(b.asarray(times)?)?, 0.1)?, AllcloseOptions::new().rtol(1e-2))?);
//! # Ok::<(), Error>(())
//! ```

mod fixed;
mod tableau;

use backends::{Backend, Error, Float, Real, Result, expr};
use tableau::{A, C, DENSE, E, combined};

pub use fixed::{Step, solve_fixed, step};

/// The settings of [`solve_ivp`], with SciPy's names and defaults.
#[derive(Clone, Debug)]
pub struct SolveIvp {
    rtol: f64,
    atol: f64,
    first_step: Option<f64>,
    max_step: f64,
    max_steps: usize,
    t_eval: Option<Vec<f64>>,
}

impl Default for SolveIvp {
    fn default() -> Self {
        SolveIvp { rtol: 1e-3, atol: 1e-6, first_step: None, max_step: f64::INFINITY, max_steps: 100_000, t_eval: None }
    }
}

impl SolveIvp {
    /// `rtol` 1e-3, `atol` 1e-6, a first step that is chosen, at most 100000 steps, and the states after each of them.
    pub fn new() -> SolveIvp {
        SolveIvp::default()
    }

    /// How much a step may be wrong, relative to the state.
    #[must_use]
    pub fn rtol(mut self, rtol: f64) -> Self {
        self.rtol = rtol;
        self
    }

    /// How much a step may be wrong besides.
    #[must_use]
    pub fn atol(mut self, atol: f64) -> Self {
        self.atol = atol;
        self
    }

    /// The length of the first step that is tried.
    #[must_use]
    pub fn first_step(mut self, first_step: f64) -> Self {
        self.first_step = Some(first_step);
        self
    }

    /// The longest step.
    #[must_use]
    pub fn max_step(mut self, max_step: f64) -> Self {
        self.max_step = max_step;
        self
    }

    /// How many steps are tried at most.
    #[must_use]
    pub fn max_steps(mut self, max_steps: usize) -> Self {
        self.max_steps = max_steps;
        self
    }

    /// The times of which the states are wanted, in order, instead of the ends of the steps: they are interpolated (dense output).
    #[must_use]
    pub fn t_eval(mut self, times: &[f64]) -> Self {
        self.t_eval = Some(times.to_vec());
        self
    }

    fn check(&self, [from, to]: [f64; 2]) -> Result<()> {
        let wrong = |why: String| Err(Error::argument(OP, why));
        if !(from.is_finite() && to.is_finite()) {
            return wrong(format!("the times are {from} and {to}: they have to be finite"));
        }
        for (name, x) in [("rtol", self.rtol), ("atol", self.atol)] {
            if x.is_nan() || x < 0.0 {
                return wrong(format!("{name} is {x}: a tolerance is 0 or more"));
            }
        }
        for (name, x) in [("first_step", self.first_step.unwrap_or(1.0)), ("max_step", self.max_step)] {
            if x.is_nan() || x <= 0.0 {
                return wrong(format!("{name} is {x}: it has to be greater than 0"));
            }
        }
        let times = self.t_eval.as_deref().unwrap_or(&[]);
        let (low, high) = (from.min(to), from.max(to));
        if let Some(t) = times.iter().find(|t| !(low..=high).contains(*t)) {
            return wrong(format!("t_eval has {t}, which is not between {from} and {to}"));
        }
        let ordered = times.windows(2).all(|t| if to >= from { t[0] < t[1] } else { t[0] > t[1] });
        if ordered { Ok(()) } else { wrong("the times of t_eval are not in order".into()) }
    }
}

/// What [`solve_ivp`] has found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Solution<A> {
    /// The times: the start and the end of each step, or those of [`SolveIvp::t_eval`] that were reached.
    pub t: Vec<f64>,
    /// The states at these times.
    pub y: Vec<A>,
    /// Evaluations of `f`.
    pub evaluations: usize,
    /// Steps that were made; others were tried, and were not exact enough.
    pub steps: usize,
    /// Whether the end was reached.
    pub success: bool,
    /// Why it ended, as a sentence.
    pub message: &'static str,
}

const OP: &str = "solve_ivp";

/// How much shorter and longer a step may be than the one before.
const SHORTER: f64 = 0.2;
const LONGER: f64 = 10.0;
/// How much shorter a step is than what the estimate of its error allows.
const SAFETY: f64 = 0.9;

/// Solves `y' = f(t, y)` from the state `y0` at the first of two times to the second, which may be earlier: the method of Dormand and Prince of order 5 with
/// an error estimate of order 4 (J. Comput. Appl. Math. 6, 1980), and the control of steps of SciPy's `solve_ivp(method="RK45")`: the
/// root mean square of the error over `atol + rtol * max(|y|)` is to be below 1.
///
/// On a backend that records gradients they go through the steps that are made; the lengths of the steps are constants.
///
/// # Errors
/// Those of `f` and of its ops; `Error::Argument` where a setting means nothing; `Error::Shapes` where `f` gives another shape than that of `y0`. A
/// solution that becomes infinite, or so steep that steps vanish, is no error: the result says so.
pub fn solve_ivp<B: Backend, T: Float>(
    b: &B,
    mut f: impl FnMut(&B, f64, &B::Array<T>) -> Result<B::Array<T>>,
    times: [f64; 2],
    y0: &B::Array<T>,
    options: SolveIvp,
) -> Result<Solution<B::Array<T>>> {
    options.check(times)?;
    let [mut t, end] = times;
    let forward = if end >= t { 1.0 } else { -1.0 };
    // below this the error is rounding, and SciPy takes no smaller one either
    let rtol = options.rtol.max(100.0 * eps::<T::Real>());
    let atol = options.atol;
    let mut evaluations = 0;
    let mut slope = |b: &B, t: f64, y: &B::Array<T>| {
        evaluations += 1;
        let slope = f(b, t, y)?;
        if b.shape(&slope) == b.shape(y0) { Ok(slope) } else { Err(Error::shapes(OP, b.shape(y0), b.shape(&slope))) }
    };
    let wanted = options.t_eval.as_deref();
    let mut next_wanted = 0;
    let (mut found_t, mut found_y) = (Vec::new(), Vec::new());
    let (mut y, mut steps) = (y0.clone(), 0);
    match wanted {
        None => {
            found_t.push(t);
            found_y.push(y.clone());
        }
        Some(wanted) => {
            while wanted.get(next_wanted) == Some(&t) {
                found_t.push(t);
                found_y.push(y.clone());
                next_wanted += 1;
            }
        }
    }
    let mut message = "the end was reached";
    let mut success = true;
    if t != end {
        let mut now = slope(b, t, &y)?;
        let mut length = match options.first_step {
            Some(first) => first,
            None => first_step(b, &mut slope, t, forward, &y, &now, [rtol, atol])?,
        };
        length = length.min(options.max_step).min((end - t).abs());
        let mut rejected = false;
        for tried in 0.. {
            let least = 10.0 * (next_after(t, forward) - t).abs();
            if length.is_nan() || (length < least && (end - t).abs() > least) {
                (message, success) =
                    ("the steps that the tolerances ask for are shorter than numbers are apart", false);
                break;
            }
            if tried == options.max_steps {
                (message, success) = ("max_steps steps were tried", false);
                break;
            }
            let last = length >= (end - t).abs();
            let new_t = if last { end } else { t + forward * length };
            let h = new_t - t;
            let mut slopes = vec![now.clone()];
            for (row, c) in A.iter().zip(C) {
                let at = combined(b, &y, h, &slopes, row)?;
                slopes.push(slope(b, t + c * h, &at)?);
            }
            let new = combined(b, &y, h, &slopes, &tableau::B5)?;
            slopes.push(slope(b, new_t, &new)?);
            let error = tableau::sum(b, h, &slopes, &E)?;
            let error = match error {
                Some(error) => {
                    let (size, new_size) = (b.abs::<T>(&y)?, b.abs::<T>(&new)?);
                    norm(b, expr!(b, abs(error) / (atol + rtol * maximum(size, new_size)))?)?
                }
                None => 0.0,
            };
            if error.is_nan() || error >= 1.0 {
                // an error that is no number asks for a shorter step, too
                let factor = if error.is_finite() { SAFETY * error.powf(-0.2) } else { SHORTER };
                length = h.abs() * factor.max(SHORTER);
                rejected = true;
                continue;
            }
            if let Some(wanted) = wanted {
                while let Some(&at) = wanted.get(next_wanted).filter(|at| (**at - new_t) * forward <= 0.0) {
                    found_t.push(at);
                    found_y.push(between(b, &y, &new, h, &slopes, (at - t) / h)?);
                    next_wanted += 1;
                }
            } else {
                found_t.push(new_t);
                found_y.push(new.clone());
            }
            steps += 1;
            (t, y) = (new_t, new);
            now = slopes.pop().unwrap_or(now);
            if last {
                break;
            }
            let factor = if error == 0.0 { LONGER } else { LONGER.min(SAFETY * error.powf(-0.2)) };
            // after one that was too long it does not grow
            length = h.abs() * if rejected { factor.min(1.0) } else { factor };
            length = length.min(options.max_step);
            rejected = false;
        }
    }
    Ok(Solution { t: found_t, y: found_y, evaluations, steps, success, message })
}

/// From 1 to the next number of a dtype.
fn eps<R: Real>() -> f64 {
    R::ONE.nextafter(R::HIGHEST).to_f64() - 1.0
}

/// The number next to `t` in a direction.
fn next_after(t: f64, forward: f64) -> f64 {
    if forward > 0.0 { t.next_up() } else { t.next_down() }
}

/// The root mean square.
fn norm<B: Backend, T: Real>(b: &B, x: B::Array<T>) -> Result<f64> {
    if b.shape(&x).contains(&0) {
        return Ok(0.0);
    }
    Ok(b.item(&expr!(b, mean(x * x, ..))?)?.to_f64().sqrt())
}

/// A first step that is not too long: Hairer, Nørsett and Wanner, "Solving ordinary differential equations I", section II.4.
fn first_step<B: Backend, T: Float>(
    b: &B,
    slope: &mut impl FnMut(&B, f64, &B::Array<T>) -> Result<B::Array<T>>,
    t: f64,
    forward: f64,
    y: &B::Array<T>,
    now: &B::Array<T>,
    [rtol, atol]: [f64; 2],
) -> Result<f64> {
    let size = b.abs::<T>(y)?;
    let scale = expr!(b, atol + rtol * size)?;
    let steepness = norm(b, expr!(b, abs(now) / scale)?)?;
    let size = norm(b, expr!(b, size / scale)?)?;
    let short = if size < 1e-5 || steepness < 1e-5 { 1e-6 } else { 0.01 * size / steepness };
    let signed = forward * short;
    let ahead = slope(b, t + signed, &expr!(b, y + signed * now)?)?;
    let bent = norm(b, expr!(b, abs(ahead - now) / scale)?)? / short;
    let most = steepness.max(bent);
    let long = if most <= 1e-15 { (1e-3 * short).max(1e-6) } else { (0.01 / most).powf(0.2) };
    Ok(if long.is_nan() { short } else { long.min(100.0 * short) })
}

/// The state within a step, at a part of it: a polynomial of order 4.
fn between<B: Backend, T: Float>(
    b: &B,
    y: &B::Array<T>,
    new: &B::Array<T>,
    h: f64,
    slopes: &[B::Array<T>],
    part: f64,
) -> Result<B::Array<T>> {
    if part == 1.0 {
        return Ok(new.clone());
    }
    let weights: Vec<f64> = DENSE.iter().map(|row| row.iter().rev().fold(0.0, |sum, p| (sum + p) * part)).collect();
    combined(b, y, h, slopes, &weights)
}
