//! Options of `solve_ivp`.

use super::equation::OP;
use backends::{Error, Result};
use std::{fmt, str::FromStr};

/// Method of [`solve_ivp`](super::solve_ivp); `Display` and `FromStr` use SciPy's names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// `"RK45"`: the explicit Dormand-Prince method, of order 5, for problems that are not stiff.
    #[default]
    Rk45,
    /// `"BDF"`: implicit backward differentiation formulas of order 1 to 5, for stiff problems. In stiff problems, an
    /// explicit method needs short steps even after a fast decay has ended. Each step solves equations by Newton's
    /// method, with an n x n matrix for a state of n elements.
    Bdf,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Method::Rk45 => "RK45",
            Method::Bdf => "BDF",
        })
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(text: &str) -> Result<Method> {
        match text {
            "RK45" => Ok(Method::Rk45),
            "BDF" => Ok(Method::Bdf),
            _ => Err(Error::argument(OP, format!("method is {text:?}, but must be \"RK45\" or \"BDF\""))),
        }
    }
}

/// The options of [`solve_ivp`](super::solve_ivp), with SciPy's names and defaults.
#[derive(Clone, Debug)]
pub struct SolveIvp {
    pub(super) method: Method,
    pub(super) rtol: f64,
    pub(super) atol: f64,
    pub(super) first_step: Option<f64>,
    pub(super) max_step: f64,
    pub(super) max_steps: usize,
    pub(super) t_eval: Option<Vec<f64>>,
    pub(super) dense_output: bool,
}

impl Default for SolveIvp {
    fn default() -> Self {
        SolveIvp {
            method: Method::Rk45,
            rtol: 1e-3,
            atol: 1e-6,
            first_step: None,
            max_step: f64::INFINITY,
            max_steps: 100_000,
            t_eval: None,
            dense_output: false,
        }
    }
}

impl SolveIvp {
    /// The defaults: `RK45`, `rtol` 1e-3, `atol` 1e-6, an automatic first step, at most 100000 steps, and the states
    /// after each step.
    pub fn new() -> SolveIvp {
        SolveIvp::default()
    }

    /// Sets the method: [`Method::Bdf`] for stiff problems.
    #[must_use]
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// Sets the allowed error of a step relative to the state; at least 100 times the machine epsilon of the dtype is
    /// used.
    #[must_use]
    pub fn rtol(mut self, rtol: f64) -> Self {
        self.rtol = rtol;
        self
    }

    /// Sets the allowed absolute error of a step, which is added to the allowed relative error.
    #[must_use]
    pub fn atol(mut self, atol: f64) -> Self {
        self.atol = atol;
        self
    }

    /// Sets the length of the first attempted step.
    #[must_use]
    pub fn first_step(mut self, first_step: f64) -> Self {
        self.first_step = Some(first_step);
        self
    }

    /// Sets the maximum length of a step.
    #[must_use]
    pub fn max_step(mut self, max_step: f64) -> Self {
        self.max_step = max_step;
        self
    }

    /// Sets the maximum number of attempted steps.
    #[must_use]
    pub fn max_steps(mut self, max_steps: usize) -> Self {
        self.max_steps = max_steps;
        self
    }

    /// Sets the times at which states are returned, in the order in which the solution reaches them. The states at
    /// these times are interpolated (dense output). By default, the states at the ends of the steps are returned.
    #[must_use]
    pub fn t_eval(mut self, times: &[f64]) -> Self {
        self.t_eval = Some(times.to_vec());
        self
    }

    /// Sets whether the solution is returned as a function of time, [`Solution::sol`](super::Solution::sol). This keeps
    /// the data of each step, up to 9 states.
    #[must_use]
    pub fn dense_output(mut self, dense_output: bool) -> Self {
        self.dense_output = dense_output;
        self
    }

    pub(super) fn check(&self, [from, to]: [f64; 2]) -> Result<()> {
        let wrong = |why: String| Err(Error::argument(OP, why));
        if !(from.is_finite() && to.is_finite()) {
            return wrong(format!("the times are {from} and {to}, but must be finite"));
        }
        for (name, x) in [("rtol", self.rtol), ("atol", self.atol)] {
            if x.is_nan() || x < 0.0 {
                return wrong(format!("{name} is {x}, but must be 0 or more"));
            }
        }
        for (name, x) in [("first_step", self.first_step.unwrap_or(1.0)), ("max_step", self.max_step)] {
            if x.is_nan() || x <= 0.0 {
                return wrong(format!("{name} is {x}, but must be greater than 0"));
            }
        }
        let times = self.t_eval.as_deref().unwrap_or(&[]);
        let (low, high) = (from.min(to), from.max(to));
        if let Some(i) = times.iter().position(|t| !(low..=high).contains(t)) {
            return wrong(format!("t_eval[{i}] is {}, but must be between {low} and {high}", times[i]));
        }
        let is_ordered = |t: &[f64]| if to >= from { t[0] < t[1] } else { t[0] > t[1] };
        let Some(i) = times.windows(2).position(|t| !is_ordered(t)) else { return Ok(()) };
        let (before, after) = (times[i], times[i + 1]);
        let how = if to >= from { "later" } else { "earlier" };
        wrong(format!("t_eval[{}] is {after}, but must be {how} than t_eval[{i}], which is {before}", i + 1))
    }
}
