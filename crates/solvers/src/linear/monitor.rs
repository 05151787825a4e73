//! The stopping rule of iterative methods, applied to each system of a batch separately.

use super::{
    scale::{epsilon, shifted},
    solution::{Progress, Reason},
};
use backends::{Backend, Real, Result, WideFloat};
use std::ops::ControlFlow;

/// A solve diverges if `r.r` exceeds its first value by this factor after `PATIENCE` iterations or more.
const GROWTH: f64 = 1e5;
/// The number of iterations during which `r.r` may grow by more than the factor `GROWTH`.
const PATIENCE: usize = 8;
/// A pass counts as progress if it reduces the residual below this fraction of the residual before the pass.
const GAIN: f64 = 0.9;

pub(super) type Callback<'c, B, T> = dyn FnMut(&Progress<'_, B, T>) -> ControlFlow<()> + 'c;

/// The state of a system within a pass. A pass consists of the iterations between two residuals that are computed from
/// the unknowns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The system ended before the pass.
    Idle,
    Running,
    /// The recurrences of the method report convergence.
    Claimed,
    /// A divisor of the method is 0.
    Broken(&'static str),
    Grown,
    NotFinite,
    UsedUp,
    Stopped,
}

/// Keeps track of the running systems, and of the results of the systems that have ended.
pub(super) struct Monitor<'c, 'f, B: Backend, T: WideFloat> {
    rtol: f64,
    atol: f64,
    max_iter: usize,
    keeps_history: bool,
    callback: Option<&'c mut Callback<'f, B, T>>,
    /// True if the method can be restarted with a second shadow residual when a pass brings no gain.
    has_second_way: bool,
    /// For each system, the exponent `e` of its unit: `tolerances`, `first` and `residuals` are divided by `2^e`.
    unit: Vec<i32>,
    tolerances: Vec<f64>,
    first: Vec<f64>,
    /// The length of each system's residual, computed from the unknowns.
    residuals: Vec<f64>,
    /// The length of the last residual of each system that the method's recurrences reported, in the user's units (not
    /// divided by `2^e`).
    seen: Vec<f64>,
    reasons: Vec<Option<Reason>>,
    pub iterations: Vec<usize>,
    pub history: Vec<Vec<f64>>,
    count: usize,
    /// True for the systems in which a pass reported convergence that the residual computed from the unknowns did not
    /// confirm.
    corrected: Vec<bool>,
    /// True for the systems that have switched to the second shadow residual.
    pub second_way: Vec<bool>,
    states: Vec<State>,
    /// For each system, the exponent by which the unit of the current pass differs from `unit`. The fields `*_sq` hold
    /// squares of lengths in the unit of the pass: a length in the user's units is divided by `2^(unit + pass)`, and
    /// then squared.
    pass: Vec<i32>,
    targets_sq: Vec<f64>,
    limits_sq: Vec<f64>,
    previous_sq: Vec<f64>,
    stalled: Vec<bool>,
    /// A mask of the running systems; `None` while all are running.
    mask: Option<B::Array<bool>>,
}

fn may_be_inconsistent(reason: &Reason) -> bool {
    matches!(reason, Reason::MaxIter | Reason::Stagnation | Reason::Breakdown(_))
}

/// Copies an array of squares to the host as floats. In complex dtypes, squares are real as well.
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
            has_second_way: false,
            unit: vec![],
            tolerances: vec![],
            first: vec![],
            residuals: vec![],
            seen: vec![],
            reasons: vec![],
            iterations: vec![],
            history: vec![],
            count: 0,
            corrected: vec![],
            second_way: vec![],
            states: vec![],
            pass: vec![],
            targets_sq: vec![],
            limits_sq: vec![],
            previous_sq: vec![],
            stalled: vec![],
            mask: None,
        }
    }

    /// Starts the solve. `right` and `residuals` are the lengths of the right sides and of the residuals, divided by 2
    /// to the power of `unit`. Returns whether any system needs iterations.
    pub fn begin(&mut self, unit: Vec<i32>, right: &[f64], residuals: Vec<f64>, has_second_way: bool) -> bool {
        let n = residuals.len();
        self.has_second_way = has_second_way;
        self.tolerances =
            right.iter().zip(&unit).map(|(y, &unit)| (self.rtol * y).max(shifted(self.atol, -unit))).collect();
        self.seen = residuals.iter().zip(&unit).map(|(&r, &unit)| shifted(r, unit)).collect();
        self.history = if self.keeps_history { self.seen.iter().map(|&r| vec![r]).collect() } else { vec![] };
        self.reasons = residuals
            .iter()
            .zip(&self.tolerances)
            .map(|(&r, &tolerance)| match r {
                r if !r.is_finite() => Some(Reason::NotFinite),
                r if r <= tolerance => Some(Reason::Converged),
                _ if self.max_iter == 0 => Some(Reason::MaxIter),
                _ => None,
            })
            .collect();
        self.iterations = vec![0; n];
        self.corrected = vec![false; n];
        self.second_way = vec![false; n];
        self.first.clone_from(&residuals);
        self.residuals = residuals;
        self.unit = unit;
        self.is_unfinished()
    }

    /// Multiplies the unit of each system by 2 to the power of the exponent in `exponents`, and converts the stored
    /// lengths to the new units.
    pub fn in_units(&mut self, exponents: &[i32]) {
        for (i, &e) in exponents.iter().enumerate() {
            self.unit[i] += e;
            for x in [&mut self.tolerances[i], &mut self.first[i], &mut self.residuals[i]] {
                *x = shifted(*x, -e);
            }
        }
    }

    /// Starts a pass. `pass` holds the exponents that are added to the units of the systems, and `residual_sq` holds
    /// `r.r` of each system in these units.
    pub fn start_pass(&mut self, pass: &[i32], residual_sq: Vec<f64>) {
        self.pass = pass.to_vec();
        let limit = 0.1 * epsilon::<T>();
        let systems = || residual_sq.iter().zip(pass).enumerate();
        // the target is at least `limit` times the first residual, because rounding errors prevent smaller residuals. A
        // system whose reported convergence was not confirmed has half the tolerance as its target
        self.targets_sq = systems()
            .map(|(i, (rr, &e))| {
                let part = if self.corrected[i] { 0.5 } else { 1.0 };
                (part * shifted(self.tolerances[i], -e)).powi(2).max(limit * limit * rr)
            })
            .collect();
        self.limits_sq = systems().map(|(i, (rr, &e))| GROWTH * rr.max(shifted(self.first[i], -e).powi(2))).collect();
        self.states = self.reasons.iter().map(|r| if r.is_none() { State::Running } else { State::Idle }).collect();
        self.stalled = vec![false; residual_sq.len()];
        self.previous_sq = residual_sq;
        self.mask = None;
    }

    /// Records an iteration. `residual_sq` holds `r.r` of each system, and `x` computes the unknowns. Returns whether
    /// the pass goes on.
    pub fn observe(&mut self, residual_sq: &[f64], x: Option<&dyn Fn() -> Result<B::Array<T>>>) -> Result<bool> {
        self.count += 1;
        for (i, &rr) in residual_sq.iter().enumerate() {
            if self.states[i] != State::Running {
                continue;
            }
            self.iterations[i] += 1;
            self.seen[i] = shifted(rr.sqrt(), self.unit[i] + self.pass[i]);
            if let Some(history) = self.history.get_mut(i) {
                history.push(self.seen[i]);
            }
            self.stalled[i] = rr == self.previous_sq[i];
            self.previous_sq[i] = rr;
            self.states[i] = if !rr.is_finite() {
                State::NotFinite
            } else if rr <= self.targets_sq[i] {
                State::Claimed
            } else if self.iterations[i] >= PATIENCE && rr > self.limits_sq[i] {
                State::Grown
            } else if self.iterations[i] >= self.max_iter {
                State::UsedUp
            } else {
                State::Running
            };
            if self.states[i] != State::Running {
                self.mask = None;
            }
        }
        if let Some(callback) = &mut self.callback {
            let x = x.map(|x| x()).transpose()?;
            let progress = Progress { iteration: self.count, residual: &self.seen, x: x.as_ref() };
            if callback(&progress).is_break() {
                self.states.iter_mut().filter(|s| **s == State::Running).for_each(|s| *s = State::Stopped);
            }
        }
        Ok(self.goes_on())
    }

    /// Returns whether the last iteration left a running system's residual unchanged to the last digit. The cause may
    /// be a divisor of 0.
    pub fn is_stalled(&self) -> bool {
        self.states.iter().zip(&self.stalled).any(|(state, stalled)| *state == State::Running && *stalled)
    }

    /// Ends the stalled systems whose divisor is 0. Returns whether the pass goes on.
    pub fn break_down(&mut self, divisors: &[f64], what: &'static str) -> bool {
        for (i, divisor) in divisors.iter().enumerate() {
            if self.stalled[i] && *divisor == 0.0 {
                self.break_off(i, what);
            }
        }
        self.goes_on()
    }

    /// Ends a system, with a breakdown as the reason.
    pub fn break_off(&mut self, item: usize, what: &'static str) {
        if self.states[item] == State::Running {
            self.states[item] = State::Broken(what);
            self.mask = None;
        }
    }

    fn goes_on(&self) -> bool {
        self.states.contains(&State::Running)
    }

    /// Returns whether a system is still being solved in this pass.
    pub fn is_running(&self, item: usize) -> bool {
        self.states[item] == State::Running
    }

    /// Returns whether any system is unfinished.
    pub fn is_unfinished(&self) -> bool {
        self.reasons.iter().any(Option::is_none)
    }

    /// Ends a pass. `after` holds the lengths of the residuals computed from the unknowns. Returns for each system
    /// whether it takes the unknowns of the pass; otherwise it keeps the unknowns from before the pass.
    pub fn settle(&mut self, after: &[f64]) -> Vec<bool> {
        let steady = 1.0 - 16.0 * epsilon::<T>();
        (0..after.len())
            .map(|i| {
                let (state, before, after) = (self.states[i], self.residuals[i], after[i]);
                if state == State::Idle {
                    return false;
                }
                let has_gained = after < GAIN * before;
                let is_solved = after.is_finite() && after <= self.tolerances[i];
                // a residual may rise during a pass, unless the pass is a second attempt
                let may_rise = match state {
                    State::UsedUp | State::Stopped => !self.corrected[i] && !self.second_way[i],
                    state => state == State::Grown,
                };
                let mut takes = after <= before || after.is_finite() && may_rise;
                self.reasons[i] = match state {
                    _ if is_solved => Some(Reason::Converged),
                    State::Stopped => Some(Reason::Callback),
                    State::Claimed | State::Broken(_) if has_gained && self.iterations[i] < self.max_iter => None,
                    State::Running if after < steady * before => None,
                    // the pass brought no gain: the next pass uses the second shadow residual
                    _ if self.has_second_way && !self.second_way[i] && self.iterations[i] < self.max_iter => {
                        takes &= state != State::Grown;
                        self.second_way[i] = true;
                        None
                    }
                    // the unknowns are too large for the dtype
                    State::Claimed | State::Broken(_) if !after.is_finite() => Some(Reason::NotFinite),
                    State::Broken(what) => Some(Reason::Breakdown(what)),
                    State::Grown => Some(Reason::Growth),
                    State::NotFinite => Some(Reason::NotFinite),
                    State::Claimed if has_gained => Some(Reason::MaxIter),
                    State::UsedUp => Some(Reason::MaxIter),
                    _ => Some(Reason::Stagnation),
                };
                if takes {
                    self.residuals[i] = after;
                }
                self.corrected[i] |= state == State::Claimed && !is_solved;
                if state == State::Claimed
                    && !is_solved
                    && let Some(last) = self.history.get_mut(i).and_then(|h| h.last_mut())
                {
                    *last = shifted(self.residuals[i], self.unit[i]);
                }
                takes
            })
            .collect()
    }

    /// A mask of the running systems, of a shape that broadcasts to the unknowns; `None` while all are running.
    pub fn mask(&mut self, b: &B, shape: &[usize]) -> Result<Option<B::Array<bool>>> {
        if self.states.iter().all(|s| *s == State::Running) {
            return Ok(None);
        }
        if self.mask.is_none() {
            let running = self.states.iter().map(|s| *s == State::Running);
            self.mask = Some(b.from_iter(running)?);
        }
        self.mask.as_ref().map(|mask| b.reshape(mask, shape)).transpose()
    }

    /// Returns whether any system ended without convergence, for a reason that may mean that it has no solution.
    pub fn may_be_inconsistent(&self) -> bool {
        self.reasons.iter().flatten().any(may_be_inconsistent)
    }

    /// Marks systems as inconsistent after the last pass, unless they have converged or ended for a reason that
    /// excludes this. An inconsistent system has no solution, only a least-squares solution. `systems` is true for the
    /// systems to be marked.
    pub fn are_least_squares(&mut self, systems: &[bool]) {
        for (reason, &is_one) in self.reasons.iter_mut().flatten().zip(systems) {
            if is_one && may_be_inconsistent(reason) {
                *reason = Reason::Inconsistent;
            }
        }
    }

    fn in_user_units(&self, lengths: &[f64]) -> Vec<f64> {
        lengths.iter().zip(&self.unit).map(|(&x, &e)| shifted(x, e)).collect()
    }

    /// The length of each system's residual, computed from the resulting unknowns.
    pub fn residual(&self) -> Vec<f64> {
        self.in_user_units(&self.residuals)
    }

    /// The tolerance for the length of each system's residual.
    pub fn tolerance(&self) -> Vec<f64> {
        self.in_user_units(&self.tolerances)
    }

    /// The reason why each system ended.
    pub fn reasons(&self) -> Vec<Reason> {
        self.reasons.iter().map(|reason| reason.unwrap_or(Reason::MaxIter)).collect()
    }
}
