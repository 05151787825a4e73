//! Minimisation of functions, over any backend.
//!
//! [`minimize`] uses gradients, [`trust_region`] also uses second derivatives, and [`nelder_mead`] uses only values.
//! [`Adam`] and [`Sgd`] make one step per call, for training loops.
//!
//! ```
//! use backends::{Error, Result, prelude::*};
//! use backends_solvers::minimize::{Method, Minimize, minimize};
//!
//! /// Rosenbrock's valley, on any backend. It contains no code for gradients.
//! fn valley<B: Backend>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
//!     let (head, tail) = (b.getitem(x, slices![..-1])?, b.getitem(x, slices![1..])?);
//!     expr!(b, sum(100.0 * (tail - head**2)**2 + (1 - head)**2, ..))
//! }
//!
//! let b = Numpyish::new();
//! let start = b.asarray([-1.2, 1.0, 0.5])?;
//! let found = minimize(&b, |d, x| valley(d, x), &start, Minimize::new().method(Method::Bfgs))?;
//! assert!(found.converged && found.value < 1e-10, "{}", found.message);
//! assert!(b.allclose(&found.x, b.ones([3])?)?);
//! # Ok::<(), Error>(())
//! ```

// runs the examples of the guide `docs/minimize.md` as tests
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/minimize.md")]
struct Guide;

mod descent;
mod flat;
mod line_search;
mod nelder_mead;
mod optimizers;
mod problem;
mod quasi_newton;
mod state;
mod trust_region;

use backends::{
    Backend, Real, Result,
    grad::{Diff, Params, Var, value_and_grad},
};
use problem::{Array, Point, Problem, Search, Stop};
use std::{fmt, ops::ControlFlow};

pub use line_search::LineSearch;
pub use nelder_mead::nelder_mead;
pub use optimizers::{Adam, Sgd, clip_grad_norm, grad_norm};
pub use trust_region::trust_region;

/// Method of [`minimize`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// BFGS (Broyden, Fletcher, Goldfarb and Shanno), for up to some thousands of unknowns: it stores an n x n matrix
    /// for n unknowns.
    Bfgs,
    /// BFGS with limited memory: it stores only the last steps, and no matrix.
    Lbfgs {
        /// Number of past steps that are kept; 10 is usual.
        memory: usize,
    },
    /// Gradient descent: every step is `-rate` times the gradient.
    GradientDescent {
        /// The learning rate: the factor by which the gradient is multiplied.
        rate: f64,
    },
    /// Gradient descent with an adaptive rate. In each step, the rate is halved until the step lowers the value by at
    /// least half of the decrease that the gradient predicts. The rate is doubled after a step whose first trial
    /// satisfied this condition.
    AdaptiveDescent {
        /// The rate of the first trial.
        rate: f64,
    },
    /// Steps of the optimiser [`Adam`].
    Adam {
        /// The learning rate.
        rate: f64,
    },
}

/// The state of a search, passed to the callback before the first iteration and after each iteration.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Iteration {
    /// Number of steps so far.
    pub iterations: usize,
    /// Number of evaluations of the function so far, with or without its gradient.
    pub evaluations: usize,
    /// The value at the current point.
    pub value: f64,
    /// The largest magnitude in the gradient at the current point; `None` for methods without gradients.
    pub gradient_norm: Option<f64>,
}

type Callback<'c> = Box<dyn FnMut(&Iteration) -> ControlFlow<()> + 'c>;

/// The options of a search.
///
/// A search has converged when the largest magnitude in the gradient is at most `gtol`. Two further criteria apply if
/// their tolerance is greater than 0: a step changes the value by at most `ftol * max(|value|, 1)`; or a step changes
/// every unknown by at most `xtol * max(|x|, 1)`, where `|x|` is the largest magnitude.
pub struct Minimize<'c> {
    method: Method,
    line_search: LineSearch,
    gtol: Option<f64>,
    ftol: f64,
    xtol: f64,
    max_iter: usize,
    max_evaluations: usize,
    trajectory: bool,
    callback: Option<Callback<'c>>,
}

impl Default for Minimize<'_> {
    fn default() -> Self {
        Minimize {
            method: Method::Lbfgs { memory: 10 },
            line_search: LineSearch::default(),
            gtol: None,
            ftol: 0.0,
            xtol: 0.0,
            max_iter: 1000,
            max_evaluations: usize::MAX,
            trajectory: false,
            callback: None,
        }
    }
}

impl<'c> Minimize<'c> {
    /// Returns the default options: L-BFGS with 10 stored steps; `gtol` 1e-5 (1e-3 in single precision, 0.1 in 16-bit
    /// dtypes); no other tolerance; at most 1000 iterations.
    pub fn new() -> Minimize<'c> {
        Minimize::default()
    }

    /// Sets the method of [`minimize`].
    #[must_use]
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// Sets the line search of the quasi-Newton methods.
    #[must_use]
    pub fn line_search(mut self, line_search: LineSearch) -> Self {
        self.line_search = line_search;
        self
    }

    /// Sets the convergence tolerance for the largest magnitude in the gradient.
    #[must_use]
    pub fn gtol(mut self, gtol: f64) -> Self {
        self.gtol = Some(gtol);
        self
    }

    /// Sets the convergence tolerance for the change of the value in a step, relative to `max(|value|, 1)`.
    #[must_use]
    pub fn ftol(mut self, ftol: f64) -> Self {
        self.ftol = ftol;
        self
    }

    /// Sets the convergence tolerance for the change of the unknowns in a step, relative to `max(|x|, 1)`, where `|x|`
    /// is the largest magnitude.
    #[must_use]
    pub fn xtol(mut self, xtol: f64) -> Self {
        self.xtol = xtol;
        self
    }

    /// Sets the maximum number of steps. With 0, the function is evaluated only at the start.
    #[must_use]
    pub fn max_iter(mut self, max_iter: usize) -> Self {
        self.max_iter = max_iter;
        self
    }

    /// Sets the maximum number of evaluations. A step that has begun may exceed this number by a few.
    #[must_use]
    pub fn max_evaluations(mut self, max_evaluations: usize) -> Self {
        self.max_evaluations = max_evaluations;
        self
    }

    /// Sets whether the result contains the point after each iteration.
    #[must_use]
    pub fn trajectory(mut self, trajectory: bool) -> Self {
        self.trajectory = trajectory;
        self
    }

    /// Sets a function that is called before the first iteration and after each iteration. The search ends if it
    /// returns `ControlFlow::Break(())`.
    #[must_use]
    pub fn callback(mut self, callback: impl FnMut(&Iteration) -> ControlFlow<()> + 'c) -> Self {
        self.callback = Some(Box::new(callback));
        self
    }
}

impl fmt::Debug for Minimize<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Minimize").field("method", &self.method).field("gtol", &self.gtol).finish_non_exhaustive()
    }
}

/// Result of a search. `N` has the same structure (array, vector, tuple or struct) as the start of the search.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Minimum<N> {
    /// The point with the lowest value that was found. With Adam or a fixed rate, it is the last point instead.
    pub x: N,
    /// The value at `x`.
    pub value: f64,
    /// The largest magnitude in the gradient at `x`; `None` for methods without gradients.
    pub gradient_norm: Option<f64>,
    /// Number of steps.
    pub iterations: usize,
    /// Number of evaluations of the function, each with its gradient if the method uses gradients.
    pub evaluations: usize,
    /// True if `x` is a minimum within the tolerances.
    pub converged: bool,
    /// True if the function or its gradient became infinite or NaN.
    pub diverged: bool,
    /// The reason why the search ended, as a sentence.
    pub message: &'static str,
    /// The start and the points after each iteration, if [`Minimize::trajectory`] is set.
    pub trajectory: Vec<N>,
}

/// Finds a minimum of a function that returns one real number. The search starts at `x0` and uses gradients.
///
/// `f` and `x0` have the same form as in `backends::grad::value_and_grad`: the unknowns are an array of any shape, or
/// vectors, tuples and structs of arrays. The search itself runs in the dtype of the value. For complex unknowns the
/// gradient is the direction of steepest ascent, `d/dx + i d/dy`.
///
/// A search that ends without a minimum is not an error; [`Minimum::message`] then gives the reason why it ended.
///
/// ```
/// use backends::{Error, prelude::*};
/// use backends_solvers::minimize::{Minimize, minimize};
///
/// let b = Numpyish::new();
/// let (x, y) = (b.asarray([0.0, 1.0, 2.0, 3.0])?, b.asarray([1.1, 2.9, 5.2, 6.8])?);
/// let start = (&b.asarray(0.0)?, &b.asarray(0.0)?);
/// let found = minimize(&b, |d, (slope, offset)| {
///     let (x, y) = (d.constant(x.clone()), d.constant(y.clone()));
///     expr!(d, sum((slope * x + offset - y)**2, ..))
/// }, start, Minimize::new())?;
/// let (slope, offset) = found.x;
/// assert!((b.item(slope)? - 1.94).abs() < 1e-5 && (b.item(offset)? - 1.09).abs() < 1e-5);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// The errors of the function; `Error::Argument` if a tolerance or a rate is negative or NaN, or if the function uses
/// an op without gradient.
pub fn minimize<B, P, K, U>(
    b: &B,
    mut f: impl FnMut(&Diff<B>, &P::Vars) -> Result<Var<B, U>>,
    x0: P,
    options: Minimize<'_>,
) -> Result<Minimum<P::Grads>>
where
    B: Backend,
    P: Params<B, K>,
    U: Real,
    for<'a> &'a P::Grads: Params<B, K, Vars = P::Vars, Grads = P::Grads>,
{
    let mut evaluate = |x: &Array<B, U>| {
        let x = flat::unflatten::<B, P, K, U>(b, x, &x0)?;
        let (value, gradient) = value_and_grad::<B, &P::Grads, K, U>(b, |d, x| f(d, x), &x)?;
        Ok((b.item(&value)?.to_f64(), flat::flatten::<B, &P::Grads, K, U>(b, &&gradient)?))
    };
    let (method, start) = (options.method, flat::flatten::<B, P, K, U>(b, &x0)?);
    let mut problem = Problem::new(Search::new(b, options)?, &mut evaluate);
    let (point, stop) = match method {
        Method::Bfgs => quasi_newton::descend(&mut problem, &mut quasi_newton::Bfgs::new(), start)?,
        Method::Lbfgs { memory } => quasi_newton::descend(&mut problem, &mut quasi_newton::Lbfgs::new(memory), start)?,
        Method::GradientDescent { rate } => descent::fixed(&mut problem, start, rate)?,
        Method::AdaptiveDescent { rate } => descent::adaptive(&mut problem, start, rate)?,
        Method::Adam { rate } => descent::adam(&mut problem, start, Adam::new(rate))?,
    };
    finished(problem.into_search(), point, stop, |x| flat::unflatten::<B, P, K, U>(b, x, &x0))
}

/// Builds the result of a search that uses gradients. `shaped` converts a vector to the structure of the unknowns.
fn finished<B: Backend, U: Real, N>(
    search: Search<'_, '_, B, U>,
    point: Point<B, U>,
    stop: Stop,
    shaped: impl Fn(&Array<B, U>) -> Result<N>,
) -> Result<Minimum<N>> {
    Ok(Minimum {
        x: shaped(&point.x)?,
        value: point.value,
        gradient_norm: Some(search.largest(&point.gradient)?),
        iterations: search.iterations,
        evaluations: search.evaluations,
        converged: stop.converged(),
        diverged: stop.diverged(),
        message: stop.message(),
        trajectory: search.trajectory.iter().map(shaped).collect::<Result<_>>()?,
    })
}
