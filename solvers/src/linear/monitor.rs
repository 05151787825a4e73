//! The stopping rule, for each system of a batch on its own.

use super::solution::Progress;
use backends::{Backend, Real, Result, WideFloat};
use std::ops::ControlFlow;

/// A solve diverges where `r.r` is larger than this times its first value ..
const GROWTH: f64 = 1e5;
/// .. after so many iterations.
const PATIENCE: usize = 8;

pub(super) type Callback<'c, B, T> = dyn FnMut(&Progress<'_, B, T>) -> ControlFlow<()> + 'c;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Converged,
    Diverged,
    /// Neither, after all iterations that were allowed, or by the callback.
    GivenUp,
}

/// Which systems are still being solved, and what has become of the others.
pub(super) struct Monitor<'c, 'f, B: Backend, T: WideFloat> {
    pub rtol: f64,
    pub atol: f64,
    pub max_iter: usize,
    pub keeps_history: bool,
    pub callback: Option<&'c mut Callback<'f, B, T>>,
    pub tolerance_sq: Vec<f64>,
    first_sq: Vec<f64>,
    pub residual_sq: Vec<f64>,
    states: Vec<State>,
    pub iterations: Vec<usize>,
    pub history: Vec<Vec<f64>>,
    count: usize,
    /// Of the systems that go on, as an array; none while all do.
    mask: Option<B::Array<bool>>,
}

/// The numbers of an array of squares, which are real in complex dtypes, too.
pub(super) fn squares<B: Backend, T: WideFloat>(b: &B, x: &B::Array<T>) -> Result<Vec<f64>> {
    Ok(b.to_vec::<T>(x)?.into_iter().map(|x| x.real().to_f64()).collect())
}

impl<'c, 'f, B: Backend, T: WideFloat> Monitor<'c, 'f, B, T> {
    pub fn new(
        (rtol, atol): (f64, f64),
        max_iter: usize,
        keeps_history: bool,
        callback: Option<&'c mut Callback<'f, B, T>>,
    ) -> Self {
        Monitor {
            rtol,
            atol,
            max_iter,
            keeps_history,
            callback,
            tolerance_sq: vec![],
            first_sq: vec![],
            residual_sq: vec![],
            states: vec![],
            iterations: vec![],
            history: vec![],
            count: 0,
            mask: None,
        }
    }

    /// Before the first iteration: `y.y` and `r.r` of the systems. Whether there is anything to do.
    pub fn start(&mut self, right: &[f64], residual_sq: Vec<f64>) -> bool {
        self.tolerance_sq = right.iter().map(|yy| (self.rtol * self.rtol * yy).max(self.atol * self.atol)).collect();
        self.first_sq.clone_from(&residual_sq);
        self.states = vec![State::Running; residual_sq.len()];
        self.iterations = vec![0; residual_sq.len()];
        self.history = if self.keeps_history { vec![vec![]; residual_sq.len()] } else { vec![] };
        self.residual_sq = residual_sq.clone();
        self.judge(&residual_sq);
        self.goes_on()
    }

    /// After an iteration: `r.r` of the systems. Whether there is anything left to do.
    pub fn observe(&mut self, residual_sq: &[f64], x: Option<&B::Array<T>>) -> bool {
        self.count += 1;
        for (n, _) in self.iterations.iter_mut().zip(&self.states).filter(|(_, s)| **s == State::Running) {
            *n += 1;
        }
        self.judge(residual_sq);
        if let Some(callback) = &mut self.callback {
            let residual: Vec<f64> = self.residual_sq.iter().map(|r| r.sqrt()).collect();
            if callback(&Progress { iteration: self.count, residual: &residual, x }).is_break() {
                self.states.iter_mut().filter(|s| **s == State::Running).for_each(|s| *s = State::GivenUp);
            }
        }
        self.goes_on()
    }

    fn judge(&mut self, residual_sq: &[f64]) {
        let mut ended = false;
        for (i, &rr) in residual_sq.iter().enumerate() {
            if self.states[i] != State::Running {
                continue;
            }
            self.residual_sq[i] = rr;
            if let Some(history) = self.history.get_mut(i) {
                history.push(rr.sqrt());
            }
            self.states[i] = if !rr.is_finite() {
                State::Diverged
            } else if rr <= self.tolerance_sq[i] {
                State::Converged
            } else if self.iterations[i] >= PATIENCE && rr > GROWTH * self.first_sq[i] {
                State::Diverged
            } else if self.iterations[i] >= self.max_iter {
                State::GivenUp
            } else {
                State::Running
            };
            ended |= self.states[i] != State::Running;
        }
        if ended {
            self.mask = None;
        }
    }

    fn goes_on(&self) -> bool {
        self.states.contains(&State::Running)
    }

    /// Whether one system is still being solved.
    pub fn is_running(&self, item: usize) -> bool {
        self.states[item] == State::Running
    }

    /// Judges systems again by residuals that are computed anew: the recurrences of an iteration may have said too much.
    pub fn correct(&mut self, residual_sq: &[f64]) -> bool {
        for (i, &rr) in residual_sq.iter().enumerate() {
            if self.states[i] == State::Converged && (rr.is_nan() || rr > self.tolerance_sq[i]) {
                self.states[i] = if self.iterations[i] >= self.max_iter { State::GivenUp } else { State::Running };
                self.mask = None;
            }
            self.residual_sq[i] = rr;
        }
        self.goes_on()
    }

    /// Where systems go on, of a shape that broadcasts to the unknowns; none where all do.
    pub fn mask(&mut self, b: &B, shape: &[usize]) -> Result<Option<B::Array<bool>>> {
        if self.states.iter().all(|s| *s == State::Running) {
            return Ok(None);
        }
        if self.mask.is_none() {
            let running = self.states.iter().map(|s| *s == State::Running);
            self.mask = Some(b.reshape(b.from_iter(running)?, shape)?);
        }
        Ok(self.mask.clone())
    }

    pub fn converged(&self) -> Vec<bool> {
        self.states.iter().map(|s| *s == State::Converged).collect()
    }

    pub fn diverged(&self) -> Vec<bool> {
        self.states.iter().map(|s| *s == State::Diverged).collect()
    }
}
