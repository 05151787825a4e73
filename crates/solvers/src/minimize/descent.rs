//! Minimisation by steps along the gradient: fixed and adaptive gradient descent, and Adam.

use super::{
    optimizers::Adam,
    problem::{Array, Point, Problem, Stop},
};
use backends::{Backend, Real, Result};

/// Minimises by gradient descent: every step is `-rate` times the gradient.
pub(super) fn fixed<B: Backend, U: Real>(
    problem: &mut Problem<'_, '_, B, U>,
    start: Array<B, U>,
    rate: f64,
) -> Result<(Point<B, U>, Stop)> {
    walk(problem, start, |problem, point| problem.moved(&point.x, -rate, &point.gradient))
}

/// Minimises by the steps of the optimiser [`Adam`].
pub(super) fn adam<B: Backend, U: Real>(
    problem: &mut Problem<'_, '_, B, U>,
    start: Array<B, U>,
    mut adam: Adam,
) -> Result<(Point<B, U>, Stop)> {
    walk(problem, start, |problem, point| {
        let mut x = point.x.clone();
        adam.step_array::<B, U>(problem.b, &mut x, &point.gradient)?;
        Ok(x)
    })
}

/// Repeats `step`, which returns the next point, until a stopping criterion is met. Each step needs one evaluation of
/// the function.
fn walk<'p, 'c, B: Backend, U: Real>(
    problem: &mut Problem<'p, 'c, B, U>,
    start: Array<B, U>,
    mut step: impl FnMut(&Problem<'p, 'c, B, U>, &Point<B, U>) -> Result<Array<B, U>>,
) -> Result<(Point<B, U>, Stop)> {
    let mut point = problem.at(start)?;
    if let Some(stop) = problem.look(&point)? {
        return Ok((point, stop));
    }
    loop {
        let next = step(problem, &point)?;
        let next = problem.attempt(next)?;
        let stop = problem.stepped(&point, &next)?;
        point = next;
        if let Some(stop) = stop {
            return Ok((point, stop));
        }
    }
}

/// Maximum number of times that [`adaptive`] halves the rate within one step.
const HALVINGS: usize = 60;

/// Gradient descent with an adaptive rate. In each step, the rate is halved until the step lowers the value by at
/// least half of the decrease that the gradient predicts. The rate is doubled after a step whose first trial satisfied
/// this condition.
pub(super) fn adaptive<B: Backend, U: Real>(
    problem: &mut Problem<'_, '_, B, U>,
    start: Array<B, U>,
    first: f64,
) -> Result<(Point<B, U>, Stop)> {
    let mut point = problem.at(start)?;
    let (mut rate, start) = (first, point.value);
    if let Some(stop) = problem.look(&point)? {
        return Ok((point, stop));
    }
    loop {
        let promised = problem.dot(&point.gradient, &point.gradient)?;
        let mut found = None;
        for round in 0..HALVINGS {
            let next = problem.attempt(problem.moved(&point.x, -rate, &point.gradient)?)?;
            let falls = point.value - next.value;
            if next.value == f64::NEG_INFINITY || falls >= 0.5 * rate * promised {
                found = Some((next, round == 0));
                break;
            }
            if problem.evaluations >= problem.options.max_evaluations {
                return Ok((point, Stop::Evaluations));
            }
            rate *= 0.5;
        }
        let Some((next, at_once)) = found else {
            let stop = problem.no_further(Stop::Precision, start, point.value);
            return Ok((point, stop));
        };
        if at_once {
            rate *= 2.0;
        }
        let stop = problem.stepped(&point, &next)?;
        point = next;
        if let Some(stop) = stop {
            return Ok((point, stop));
        }
    }
}
