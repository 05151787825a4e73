//! Line search: finds the length of a step along a direction of descent.

use super::problem::{Array, Point, Problem, eps};
use backends::{Backend, Real, Result};

/// Method to find the length of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineSearch {
    /// The strong Wolfe conditions: the value falls by at least 1e-4 of the decrease that the slope predicts, and the
    /// slope's magnitude falls to at most 0.9 times its former value. Nocedal and Wright, "Numerical optimization", 2nd
    /// edition, algorithms 3.5 and 3.6, with cubic interpolation. If differences of values vanish in rounding errors,
    /// the slopes decide: the approximate Wolfe conditions of Hager and Zhang (SIAM J. Optim. 16, 2005).
    #[default]
    StrongWolfe,
    /// Armijo's condition, which is the first of the Wolfe conditions: steps are shortened until it holds, by quadratic
    /// interpolation (Nocedal and Wright, algorithm 3.1). It needs fewer evaluations per step, and usually more steps.
    Backtracking,
}

const DECREASE: f64 = 1e-4;
const CURVATURE: f64 = 0.9;
/// Maximum number of trial steps in each of two phases: lengthening the search interval, and narrowing it.
const TRIALS: usize = 30;
/// The function counts as unbounded below if it keeps falling along a step of this length. The length is relative to
/// the largest magnitude of the unknowns, or to 1 if all unknowns are smaller.
const ENDLESS: f64 = 1e20;

/// Result of a line search.
pub(super) enum Found<B: Backend, U: Real> {
    /// A point that satisfies the conditions of the line search.
    Lower(Point<B, U>),
    /// The function kept falling up to a step of length [`Line::endless`], so it counts as unbounded below.
    Endless(Point<B, U>),
    Nothing,
}

impl<B: Backend, U: Real> Found<B, U> {
    fn of(trial: Trial<B, U>) -> Self {
        if trial.step > 0.0 { Found::Lower(trial.point) } else { Found::Nothing }
    }
}

/// A trial step along the direction, with the point that it reaches and the slope at this point.
struct Trial<B: Backend, U: Real> {
    step: f64,
    slope: f64,
    point: Point<B, U>,
}

/// A search direction, with the point at its start.
pub(super) struct Line<'l, B: Backend, U: Real> {
    pub start: &'l Point<B, U>,
    pub direction: &'l Array<B, U>,
    pub slope: f64,
    /// Estimated rounding error of a function value.
    noise: f64,
    /// Steps shorter than this change only the last digits of the unknowns.
    shortest: f64,
    /// A function that still falls at this step length counts as unbounded below; see [`ENDLESS`].
    endless: f64,
}

impl<'l, B: Backend, U: Real> Line<'l, B, U> {
    pub fn new(
        problem: &Problem<'_, '_, B, U>,
        start: &'l Point<B, U>,
        direction: &'l Array<B, U>,
        slope: f64,
    ) -> Result<Self> {
        let (size, speed) = (problem.largest(&start.x)?, problem.largest(direction)?);
        Ok(Line {
            start,
            direction,
            slope,
            noise: 10.0 * eps::<U>() * start.value.abs(),
            shortest: eps::<U>() * size / speed,
            endless: ENDLESS * size.max(1.0) / speed,
        })
    }

    fn trial(&self, problem: &mut Problem<'_, '_, B, U>, step: f64) -> Result<Trial<B, U>> {
        let point = problem.attempt(problem.moved(&self.start.x, step, self.direction)?)?;
        let slope = problem.dot(&point.gradient, self.direction)?;
        Ok(Trial { step, slope, point })
    }

    /// Finds a step that satisfies the conditions of the line search `how`, beginning with the step `first`.
    pub fn search(&self, problem: &mut Problem<'_, '_, B, U>, first: f64, how: LineSearch) -> Result<Found<B, U>> {
        match how {
            LineSearch::StrongWolfe => self.strong_wolfe(problem, first),
            LineSearch::Backtracking => self.backtracking(problem, first),
        }
    }

    /// Returns whether the trial lowers the value enough. If the values are equal up to rounding errors, the slope at
    /// the trial decides.
    fn falls(&self, trial: &Trial<B, U>) -> bool {
        let value = trial.point.value;
        let by_value = value <= self.start.value + DECREASE * trial.step * self.slope;
        let by_slope = value <= self.start.value + self.noise && trial.slope <= (2.0 * DECREASE - 1.0) * self.slope;
        value == f64::NEG_INFINITY || (trial.slope.is_finite() && (by_value || by_slope))
    }

    fn is_flat(&self, trial: &Trial<B, U>) -> bool {
        trial.slope.abs() <= -CURVATURE * self.slope
    }

    fn strong_wolfe(&self, problem: &mut Problem<'_, '_, B, U>, first: f64) -> Result<Found<B, U>> {
        let mut before = Trial { step: 0.0, slope: self.slope, point: self.start.clone() };
        let mut step = first;
        for round in 0..TRIALS {
            let trial = self.trial(problem, step)?;
            if !self.falls(&trial) || (round > 0 && trial.point.value > before.point.value + self.noise) {
                return self.zoom(problem, before, trial);
            }
            if self.is_flat(&trial) || trial.point.value == f64::NEG_INFINITY {
                return Ok(Found::Lower(trial.point));
            }
            if trial.slope >= 0.0 {
                return self.zoom(problem, trial, before);
            }
            // the secant through the last two slopes reaches 0 at this step
            let secant = trial.step - trial.slope * (trial.step - before.step) / (trial.slope - before.slope);
            let far = 10.0 * trial.step;
            step = if secant > trial.step { secant.clamp(1.5 * trial.step, far) } else { far };
            before = trial;
            if problem.limits().is_some() {
                return Ok(Found::of(before));
            }
            if !step.is_finite() {
                break;
            }
        }
        // the function fell in all trials
        Ok(if before.step >= self.endless { Found::Endless(before.point) } else { Found::of(before) })
    }

    /// Narrows the interval of step lengths between two trials. `low` has the lowest value of all trials so far that
    /// lower the function enough ([`Line::falls`]); `high` is the trial at the other end.
    fn zoom(
        &self,
        problem: &mut Problem<'_, '_, B, U>,
        mut low: Trial<B, U>,
        mut high: Trial<B, U>,
    ) -> Result<Found<B, U>> {
        for _ in 0..TRIALS {
            let step = between(&low, &high);
            if step == low.step || step == high.step || (high.step - low.step).abs() <= self.shortest {
                break;
            }
            let trial = self.trial(problem, step)?;
            if !self.falls(&trial) || trial.point.value > low.point.value + self.noise {
                high = trial;
            } else {
                if self.is_flat(&trial) || trial.point.value == f64::NEG_INFINITY {
                    return Ok(Found::Lower(trial.point));
                }
                if trial.slope * (high.step - low.step) >= 0.0 {
                    high = low;
                }
                low = trial;
            }
            if problem.evaluations >= problem.options.max_evaluations {
                break;
            }
        }
        Ok(Found::of(low))
    }

    fn backtracking(&self, problem: &mut Problem<'_, '_, B, U>, first: f64) -> Result<Found<B, U>> {
        let mut step = first;
        for _ in 0..2 * TRIALS {
            let trial = self.trial(problem, step)?;
            if self.falls(&trial) {
                return Ok(Found::Lower(trial.point));
            }
            // the step at the minimum of the parabola that has the values at the start and at the trial, and the slope
            // at the start
            let lacks = 2.0 * (trial.point.value - self.start.value - self.slope * step);
            let least = -self.slope * step * step / lacks;
            step = if least.is_finite() { least.clamp(0.1 * step, 0.5 * step) } else { 0.5 * step };
            if problem.evaluations >= problem.options.max_evaluations || step <= self.shortest {
                break;
            }
        }
        Ok(Found::Nothing)
    }
}

/// Returns the step at the minimum of the cubic that has the values and slopes of both trials (Nocedal and Wright,
/// equation 3.59). The step is limited to the middle 80 % of the interval. If the cubic or the value at `high` is not
/// finite, the step is the middle of the interval.
fn between<B: Backend, U: Real>(low: &Trial<B, U>, high: &Trial<B, U>) -> f64 {
    let (f0, f1) = (low.point.value, high.point.value);
    let (a0, a1) = (low.step, high.step);
    let d1 = low.slope + high.slope - 3.0 * (f0 - f1) / (a0 - a1);
    let d2 = (a1 - a0).signum() * (d1 * d1 - low.slope * high.slope).sqrt();
    let cubic = a1 - (a1 - a0) * (high.slope + d2 - d1) / (high.slope - low.slope + 2.0 * d2);
    let (from, to) = (a0.min(a1), a0.max(a1));
    let margin = 0.1 * (to - from);
    if cubic.is_finite() && f1.is_finite() { cubic.clamp(from + margin, to - margin) } else { 0.5 * (from + to) }
}
