//! How far to go along a direction of descent.

use super::problem::{Array, Point, Problem, eps};
use backends::{Backend, Real, Result};

/// How the length of a step is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineSearch {
    /// The strong Wolfe conditions: the value falls by 1e-4 of what the slope promises, and the slope's magnitude falls to 0.9 of what it was. Nocedal and
    /// Wright, "Numerical optimization", 2nd edition, algorithms 3.5 and 3.6, with cubic interpolation. Where differences of
    /// values drown in rounding, their slopes decide: the approximate Wolfe conditions of Hager and Zhang (SIAM J. Optim. 16, 2005).
    #[default]
    StrongWolfe,
    /// Armijo's condition, the first of those above: steps become shorter until it holds, by quadratic interpolation (algorithm 3.1 there). Fewer
    /// evaluations in a step, and mostly more steps.
    Backtracking,
}

const DECREASE: f64 = 1e-4;
const CURVATURE: f64 = 0.9;
/// Steps that are tried at most while the interval grows, and while it shrinks.
const TRIALS: usize = 30;
/// How many times the unknowns, or 1, a step is along which the function falls, for it to fall without end.
const ENDLESS: f64 = 1e20;

/// What a search along a direction comes to.
pub(super) enum Found<B: Backend, U: Real> {
    /// A step that is short and long enough.
    Lower(Point<B, U>),
    /// The function fell as far as was looked.
    Endless(Point<B, U>),
    Nothing,
}

impl<B: Backend, U: Real> Found<B, U> {
    fn of(trial: Trial<B, U>) -> Self {
        if trial.step > 0.0 { Found::Lower(trial.point) } else { Found::Nothing }
    }
}

/// The function along the direction.
struct Trial<B: Backend, U: Real> {
    step: f64,
    slope: f64,
    point: Point<B, U>,
}

/// The direction, with what the function is at its beginning.
pub(super) struct Line<'l, B: Backend, U: Real> {
    pub start: &'l Point<B, U>,
    pub direction: &'l Array<B, U>,
    pub slope: f64,
    /// How much of a value is rounding.
    noise: f64,
    /// A step so short that it changes nothing but the last digits of the unknowns.
    shortest: f64,
    /// A step along which no function falls that has a minimum.
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

    /// A step that is short and long enough.
    pub fn search(&self, problem: &mut Problem<'_, '_, B, U>, first: f64, how: LineSearch) -> Result<Found<B, U>> {
        match how {
            LineSearch::StrongWolfe => self.strong_wolfe(problem, first),
            LineSearch::Backtracking => self.backtracking(problem, first),
        }
    }

    /// Whether the value falls as much as it should.
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
            // where the slopes, if they went on changing so, would be 0
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
        // it falls on and on: as far as was seen
        Ok(if before.step >= self.endless { Found::Endless(before.point) } else { Found::of(before) })
    }

    /// Between a step with the lowest value so far that falls enough, and another one.
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
            // the minimum of the parabola through both values with the slope at the start
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

/// The minimum of the cubic through both values with both slopes, unless it is near an end: Nocedal and Wright, equation 3.59.
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
