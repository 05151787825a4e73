//! Quasi-Newton methods (BFGS and L-BFGS), which estimate the second derivatives from changes of the gradient.

use super::{
    line_search::{Found, Line},
    problem::{Array, Point, Problem, Stop, eps},
};
use backends::{Backend, Real, Result, expr};
use std::collections::VecDeque;

/// An estimate of the inverse Hessian.
pub(super) trait Curvature<B: Backend, U: Real> {
    /// Returns whether the estimate has not been updated yet.
    fn is_empty(&self) -> bool;

    /// Resets the estimate to the identity.
    fn forget(&mut self);

    /// Returns the product of the estimate and the gradient `g`.
    fn times(&self, problem: &Problem<'_, '_, B, U>, g: &Array<B, U>) -> Result<Array<B, U>>;

    /// Updates the estimate from a step and the change of the gradient along this step. `products` are the inner
    /// products `step . change` and `change . change`.
    fn learn(
        &mut self,
        problem: &Problem<'_, '_, B, U>,
        step: Array<B, U>,
        change: Array<B, U>,
        products: [f64; 2],
    ) -> Result<()>;
}

/// The inverse Hessian as a matrix, by BFGS updates: Nocedal and Wright, "Numerical optimization", 2nd edition,
/// equations 6.17 and 6.20.
pub(super) struct Bfgs<A> {
    inverse: Option<A>,
}

/// The last steps, each with the change of the gradient along it, for L-BFGS: Nocedal and Wright, algorithm 7.4.
pub(super) struct Lbfgs<A> {
    memory: usize,
    pairs: VecDeque<Pair<A>>,
    scale: f64,
}

struct Pair<A> {
    step: A,
    change: A,
    /// 1 over the inner product of `step` and `change`.
    rho: f64,
}

impl<A> Bfgs<A> {
    pub fn new() -> Self {
        Bfgs { inverse: None }
    }
}

impl<A> Lbfgs<A> {
    pub fn new(memory: usize) -> Self {
        Lbfgs { memory: memory.max(1), pairs: VecDeque::new(), scale: 1.0 }
    }
}

impl<B: Backend, U: Real> Curvature<B, U> for Bfgs<Array<B, U>> {
    fn is_empty(&self) -> bool {
        self.inverse.is_none()
    }

    fn forget(&mut self) {
        self.inverse = None;
    }

    fn times(&self, problem: &Problem<'_, '_, B, U>, g: &Array<B, U>) -> Result<Array<B, U>> {
        match &self.inverse {
            Some(inverse) => problem.b.matmul::<U>(inverse, g),
            None => Ok(g.clone()),
        }
    }

    fn learn(
        &mut self,
        problem: &Problem<'_, '_, B, U>,
        step: Array<B, U>,
        change: Array<B, U>,
        [both, square]: [f64; 2],
    ) -> Result<()> {
        let b = problem.b;
        let mut inverse = match self.inverse.take() {
            Some(inverse) => inverse,
            None => {
                let identity = b.eye::<U>(b.shape(&step)[0])?;
                let scale = both / square;
                expr!(b, scale * identity)?
            }
        };
        let seen = b.matmul::<U>(&inverse, &change)?;
        let rho = 1.0 / both;
        let of_steps = rho * (1.0 + rho * problem.dot(&change, &seen)?);
        let (row, column) = (b.expand_dims::<U>(&step, 0)?, b.expand_dims::<U>(&step, 1)?);
        let (seen_row, seen_column) = (b.expand_dims::<U>(&seen, 0)?, b.expand_dims::<U>(&seen, 1)?);
        expr!(b, inverse += of_steps * (column * row) - rho * (column * seen_row + seen_column * row))?;
        self.inverse = Some(inverse);
        Ok(())
    }
}

impl<B: Backend, U: Real> Curvature<B, U> for Lbfgs<Array<B, U>> {
    fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    fn forget(&mut self) {
        self.pairs.clear();
        self.scale = 1.0;
    }

    fn times(&self, problem: &Problem<'_, '_, B, U>, g: &Array<B, U>) -> Result<Array<B, U>> {
        let b = problem.b;
        let mut q = g.clone();
        let mut parts = Vec::with_capacity(self.pairs.len());
        for Pair { step, change, rho } in self.pairs.iter().rev() {
            let part = rho * problem.dot(step, &q)?;
            expr!(b, q -= part * change)?;
            parts.push(part);
        }
        let scale = self.scale;
        expr!(b, q *= scale)?;
        for (Pair { step, change, rho }, part) in self.pairs.iter().zip(parts.into_iter().rev()) {
            let part = part - rho * problem.dot(change, &q)?;
            expr!(b, q += part * step)?;
        }
        Ok(q)
    }

    fn learn(
        &mut self,
        _problem: &Problem<'_, '_, B, U>,
        step: Array<B, U>,
        change: Array<B, U>,
        [both, square]: [f64; 2],
    ) -> Result<()> {
        if self.pairs.len() == self.memory {
            self.pairs.pop_front();
        }
        self.pairs.push_back(Pair { step, change, rho: 1.0 / both });
        self.scale = both / square;
        Ok(())
    }
}

/// After this number of successive steps without progress, the estimate of the inverse Hessian is reset.
const PATIENCE: usize = 6;

/// The lowest value and the smallest gradient of a search, to detect a lack of progress.
struct Progress {
    value: f64,
    gradient: f64,
    without: usize,
    is_again: bool,
}

/// The action to take after a step.
#[derive(PartialEq, Eq)]
enum Next {
    GoOn,
    Restart,
    End,
}

impl Progress {
    fn from<B: Backend, U: Real>(problem: &Problem<'_, '_, B, U>, start: &Point<B, U>) -> Result<Self> {
        Ok(Progress { value: start.value, gradient: problem.largest(&start.gradient)?, without: 0, is_again: false })
    }

    /// Decides how the search goes on after a step. A step makes progress if it lowers the value by more than rounding
    /// errors, or the gradient by a tenth. The search restarts along the gradient after `PATIENCE` steps without
    /// progress, or after a step that changes neither the value nor the unknowns beyond rounding errors. The search
    /// ends instead if it has already restarted since the last step with progress.
    fn made<B: Backend, U: Real>(
        &mut self,
        problem: &Problem<'_, '_, B, U>,
        before: &Point<B, U>,
        after: &Point<B, U>,
        moved: f64,
    ) -> Result<Next> {
        let rounding = |size: f64| 4.0 * eps::<U>() * size;
        let gradient = problem.largest(&after.gradient)?;
        let is_lower = after.value < self.value - rounding(self.value.abs());
        let is_flatter = gradient < 0.9 * self.gradient;
        self.value = self.value.min(after.value);
        self.gradient = self.gradient.min(gradient);
        if is_lower || is_flatter {
            (self.without, self.is_again) = (0, false);
            return Ok(Next::GoOn);
        }
        let is_same = (after.value - before.value).abs() <= rounding(before.value.abs())
            && moved <= rounding(problem.largest(&after.x)?);
        self.without = if is_same { PATIENCE } else { self.without + 1 };
        Ok(if self.without < PATIENCE { Next::GoOn } else { self.begin_again() })
    }

    /// Restarts the search, or ends it if it has already restarted since the last step with progress.
    fn begin_again(&mut self) -> Next {
        self.without = 0;
        if std::mem::replace(&mut self.is_again, true) { Next::End } else { Next::Restart }
    }
}

/// Minimises by steps along `-H g`, where `H` is the estimate of the inverse Hessian and `g` is the gradient.
pub(super) fn descend<B: Backend, U: Real>(
    problem: &mut Problem<'_, '_, B, U>,
    curvature: &mut impl Curvature<B, U>,
    start: Array<B, U>,
) -> Result<(Point<B, U>, Stop)> {
    let b = problem.b;
    let mut point = problem.at(start)?;
    if let Some(stop) = problem.look(&point)? {
        return Ok((point, stop));
    }
    let start = point.value;
    let (mut progress, mut stretch) = (Progress::from(problem, &point)?, 1.0);
    loop {
        let g = &point.gradient;
        let uphill = curvature.times(problem, g)?;
        let mut direction = b.negative::<U>(uphill)?;
        let mut slope = problem.dot(g, &direction)?;
        if !(slope < 0.0 && slope.is_finite()) {
            curvature.forget();
            direction = b.negative::<U>(g)?;
            slope = problem.dot(g, &direction)?;
        }
        let first = stretch * if curvature.is_empty() { first_step(problem, &point, slope)? } else { 1.0 };
        let how = problem.options.line_search;
        let next = match Line::new(problem, &point, &direction, slope)?.search(problem, first, how)? {
            Found::Lower(next) => next,
            Found::Endless(next) => {
                problem.stepped(&point, &next)?;
                return Ok((next, Stop::Unbounded));
            }
            Found::Nothing => {
                if problem.evaluations >= problem.options.max_evaluations {
                    return Ok((point, Stop::Evaluations));
                }
                if curvature.is_empty() {
                    let stop = problem.no_further(Stop::Precision, start, point.value);
                    return Ok((point, stop));
                }
                // the estimate may be bad, so the next step follows the gradient
                curvature.forget();
                stretch = 1.0;
                continue;
            }
        };
        let (x, y, g, h) = (&point.x, &next.x, &point.gradient, &next.gradient);
        let (step, change) = (expr!(b, y - x)?, expr!(b, h - g)?);
        let (both, square) = (problem.dot(&step, &change)?, problem.dot(&change, &change)?);
        let length = problem.dot(&step, &step)?;
        if let Some(stop) = problem.stepped(&point, &next)? {
            return Ok((next, stop));
        }
        let todo = progress.made(problem, &point, &next, problem.largest(&step)?)?;
        // the two points may differ only by rounding errors, so the result is the point with the lower value
        if todo == Next::End {
            let point = if next.value < point.value { next } else { point };
            let stop = problem.no_further(Stop::Stalled, start, point.value);
            return Ok((point, stop));
        }
        point = next;
        if todo == Next::Restart {
            curvature.forget();
            stretch = 1.0;
            continue;
        }
        // a step along which the slope did not rise gives no information about the curvature at a minimum
        if both > f64::EPSILON * (square * length).sqrt() && both.is_finite() && square.is_finite() {
            curvature.learn(problem, step, change, [both, square])?;
            stretch = 1.0;
        } else {
            // the function may keep falling for a long distance, so steps become longer
            stretch *= 10.0;
        }
    }
}

/// Length of the first step along the gradient: at most 1, since the scale of the function is unknown, but long enough
/// to change the unknowns beyond rounding errors.
fn first_step<B: Backend, U: Real>(problem: &Problem<'_, '_, B, U>, point: &Point<B, U>, slope: f64) -> Result<f64> {
    let visible = eps::<U>().sqrt() * problem.largest(&point.x)?.max(1.0) / problem.largest(&point.gradient)?;
    Ok((1.0 / (-slope).sqrt()).min(1.0).max(visible))
}
