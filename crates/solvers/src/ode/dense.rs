//! Dense output: the solution as a function of time, by interpolating polynomials within steps.

use super::{
    equation::OP,
    tableau::{DENSE, combined},
};
use backends::{ArrayAttributes, Arrays, Backend, Error, Float, Result};

/// A solution as a function of time: [`Solution::sol`](super::Solution::sol).
///
/// ```
/// use backends::{Error, prelude::*};
/// use backends_solvers::ode::{SolveIvp, solve_ivp};
///
/// let b = Numpyish::new();
/// let options = SolveIvp::new().rtol(1e-8).atol(1e-10).dense_output(true);
/// let found = solve_ivp(&b, |b, _, y| b.negative(y), [0.0, 2.0], &b.asarray(1.0)?, options)?;
/// let Some(sol) = found.sol else { unreachable!("it was asked for") };
/// assert!((b.item(sol.at(&b, 1.234)?)? - (-1.234_f64).exp()).abs() < 1e-7);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DenseOutput<A> {
    segments: Vec<Segment<A>>,
    start: A,
    times: [f64; 2],
}

impl<A: Clone> DenseOutput<A> {
    pub(super) fn new(t: f64, start: &A) -> Self {
        DenseOutput { segments: Vec::new(), start: start.clone(), times: [t, t] }
    }

    /// Adds a step. The solution then ends at time `end`, which is within the step if an event ended the solution.
    pub(super) fn push(&mut self, segment: Segment<A>, end: f64) {
        self.segments.push(segment);
        self.times[1] = end;
    }

    /// The start time and the end time. The end is the earlier time if the solution runs backward in time.
    pub fn times(&self) -> [f64; 2] {
        self.times
    }

    /// The state at time `t`.
    ///
    /// # Errors
    /// `Error::Argument` if `t` is not between the start and the end of the solution; the errors of the ops.
    pub fn at<B: Backend + Arrays<Array<A::DType> = A>>(&self, b: &B, t: f64) -> Result<A>
    where
        A: ArrayAttributes<DType: Float>,
    {
        let [start, end] = self.times;
        let (low, high) = (start.min(end), start.max(end));
        if !(low..=high).contains(&t) {
            return Err(Error::argument(OP, format!("t is {t}, but must be between {low} and {high}")));
        }
        let is_before = |s: &Segment<A>| if end >= start { s.to < t } else { s.to > t };
        let place = self.segments.partition_point(is_before);
        match self.segments.get(place) {
            Some(segment) => segment.at::<B, A::DType>(b, t),
            None => Ok(self.start.clone()),
        }
    }
}

/// One step, with its interpolating polynomial.
#[derive(Clone, Debug)]
pub(super) struct Segment<A> {
    pub from: f64,
    pub to: f64,
    /// The states at the start and the end of the step.
    pub start: A,
    pub end: A,
    pub polynomial: Polynomial<A>,
}

/// The polynomial in time that interpolates the state within a step.
#[derive(Clone, Debug)]
pub(super) enum Polynomial<A> {
    /// A polynomial determined by the slopes of a Dormand-Prince step.
    Slopes(Vec<A>),
    /// A polynomial determined by backward differences, starting with the first difference, at times spaced by `h`.
    Differences {
        /// The spacing; negative for solutions backward in time.
        h: f64,
        /// The backward differences of the state at the end of the step, from the first difference on.
        differences: Vec<A>,
    },
}

impl<A: Clone> Segment<A> {
    /// The state at a time within the step.
    pub fn at<B: Backend + Arrays<Array<T> = A>, T: Float>(&self, b: &B, t: f64) -> Result<A> {
        if t == self.from || t == self.to {
            return Ok(if t == self.to { self.end.clone() } else { self.start.clone() });
        }
        match &self.polynomial {
            Polynomial::Slopes(slopes) => {
                let h = self.to - self.from;
                let part = (t - self.from) / h;
                let weights: Vec<f64> =
                    DENSE.iter().map(|row| row.iter().rev().fold(0.0, |sum, p| (sum + p) * part)).collect();
                combined::<B, T>(b, &self.start, h, slopes, &weights)
            }
            Polynomial::Differences { h, differences } => {
                let mut product = 1.0;
                let weight = |j: usize| {
                    product *= (t - self.to + j as f64 * h) / ((j + 1) as f64 * h);
                    product
                };
                let weights: Vec<f64> = (0..differences.len()).map(weight).collect();
                combined::<B, T>(b, &self.end, 1.0, differences, &weights)
            }
        }
    }
}
