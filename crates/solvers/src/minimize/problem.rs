//! Code shared by all methods: evaluation of the function and its gradient, stopping criteria, and reports to the
//! callback.

use super::{Iteration, Method, Minimize};
use backends::{Backend, DType, Error, Real, Result, expr, runtime::rules};
use std::ops::{Deref, DerefMut};

/// A function that returns the value and the gradient of the function to be minimised, at a vector.
pub(super) type Evaluate<'p, B, U> = dyn FnMut(&Array<B, U>) -> Result<(f64, Array<B, U>)> + 'p;

/// An array of the backend `B` with elements of type `U`.
pub(super) type Array<B, U> = <B as backends::Arrays>::Array<U>;

/// A point, with the value and the gradient of the function at this point.
pub(super) struct Point<B: Backend, U: Real> {
    pub x: B::Array<U>,
    pub value: f64,
    pub gradient: B::Array<U>,
}

impl<B: Backend, U: Real> Clone for Point<B, U> {
    fn clone(&self) -> Self {
        Point { x: self.x.clone(), value: self.value, gradient: self.gradient.clone() }
    }
}

/// The reason why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Gradient,
    Value,
    Step,
    Simplex,
    Callback,
    Iterations,
    Evaluations,
    NotFinite,
    Unbounded,
    Precision,
    Stalled,
}

impl Stop {
    pub fn converged(self) -> bool {
        matches!(self, Stop::Gradient | Stop::Value | Stop::Step | Stop::Simplex)
    }

    pub fn diverged(self) -> bool {
        matches!(self, Stop::NotFinite | Stop::Unbounded)
    }

    pub fn message(self) -> &'static str {
        match self {
            Stop::Gradient => "the largest part of the gradient is within gtol",
            Stop::Value => "the value changes by no more than ftol",
            Stop::Step => "the unknowns change by no more than xtol",
            Stop::Simplex => "the corners of the simplex differ by no more than xtol in place and ftol in value",
            Stop::Callback => "the callback stopped the search",
            Stop::Iterations => "max_iter iterations were made",
            Stop::Evaluations => "max_evaluations evaluations were made",
            Stop::NotFinite => "the function or its gradient is not finite",
            Stop::Unbounded => "the function decreases without bound",
            Stop::Precision => {
                "no lower value is found along the direction of descent: the precision of the dtype is used up, or the gradient is wrong"
            }
            Stop::Stalled => {
                "no lower value is found: neither the value nor the gradient changes beyond rounding, the precision of the dtype is used up"
            }
        }
    }
}

/// The state of a search for a minimum, with its options.
pub(super) struct Search<'p, 'c, B: Backend, U: Real> {
    pub b: &'p B,
    pub options: Minimize<'c>,
    pub gtol: f64,
    pub evaluations: usize,
    pub iterations: usize,
    pub trajectory: Vec<B::Array<U>>,
}

/// A gradient-based search, together with the function to be minimised.
pub(super) struct Problem<'p, 'c, B: Backend, U: Real> {
    search: Search<'p, 'c, B, U>,
    evaluate: &'p mut Evaluate<'p, B, U>,
}

impl<'p, 'c, B: Backend, U: Real> Deref for Problem<'p, 'c, B, U> {
    type Target = Search<'p, 'c, B, U>;

    fn deref(&self) -> &Self::Target {
        &self.search
    }
}

impl<B: Backend, U: Real> DerefMut for Problem<'_, '_, B, U> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.search
    }
}

impl<'p, 'c, B: Backend, U: Real> Problem<'p, 'c, B, U> {
    pub fn new(search: Search<'p, 'c, B, U>, evaluate: &'p mut Evaluate<'p, B, U>) -> Self {
        Problem { search, evaluate }
    }

    /// Evaluates the function at a point.
    pub fn at(&mut self, x: B::Array<U>) -> Result<Point<B, U>> {
        self.search.evaluations += 1;
        let (value, gradient) = (self.evaluate)(&x)?;
        Ok(Point { x, value, gradient })
    }

    /// Evaluates the function at a trial point. The value is NaN if a matrix factorization fails at that point, for
    /// example because the step makes a covariance singular.
    pub fn attempt(&mut self, x: B::Array<U>) -> Result<Point<B, U>> {
        self.search.evaluations += 1;
        match or_nan((self.evaluate)(&x))? {
            Some((value, gradient)) => Ok(Point { x, value, gradient }),
            None => {
                let nan = f64::NAN;
                let gradient = expr!(self.search.b, x * nan)?;
                Ok(Point { x, value: nan, gradient })
            }
        }
    }

    /// Returns the state of the search, once it has ended.
    pub fn into_search(self) -> Search<'p, 'c, B, U> {
        self.search
    }
}

impl<'p, 'c, B: Backend, U: Real> Search<'p, 'c, B, U> {
    pub fn new(b: &'p B, options: Minimize<'c>) -> Result<Self> {
        options.check()?;
        let gtol = options.gtol.unwrap_or_else(|| usual_gtol::<U>());
        Ok(Search { b, options, gtol, evaluations: 0, iterations: 0, trajectory: Vec::new() })
    }

    /// The inner product of two vectors. The vectors are rescaled if the products of their elements might overflow or
    /// underflow.
    pub fn dot(&self, x: &B::Array<U>, y: &B::Array<U>) -> Result<f64> {
        let b = self.b;
        let sum = b.item(&expr!(b, sum(x * y, ..))?)?.to_f64();
        let smallest = smallest_normal::<U>();
        if sum.is_finite() && sum.abs() > smallest / eps::<U>() {
            return Ok(sum);
        }
        // products of elements may overflow or underflow in the dtype, so the vectors are rescaled if necessary
        let (of_x, of_y) = (self.largest(x)?, self.largest(y)?);
        let may_be_scaled = |size: f64| size.is_finite() && size >= smallest;
        if !(may_be_scaled(of_x) && may_be_scaled(of_y)) {
            return Ok(sum);
        }
        let sum = b.item(&expr!(b, sum((x / of_x) * (y / of_y), ..))?)?.to_f64();
        Ok(sum * of_x * of_y)
    }

    /// Returns the reason to report for a search that cannot continue: `Unbounded` if `value` is negative and very far
    /// below `first`, the value at the start, else `stop`. A search may get stuck at such low values, because squares
    /// of numbers overflow before the values do.
    pub fn no_further(&self, stop: Stop, first: f64, value: f64) -> Stop {
        let is_far = value < -endless::<U>() && value < -1e6 * first.abs();
        if is_far { Stop::Unbounded } else { stop }
    }

    /// Returns a reason to stop if the value is close to the lowest number of the dtype.
    pub fn unbounded(&self, value: f64) -> Option<Stop> {
        (value <= -largest_finite::<U>().powf(0.9)).then_some(Stop::Unbounded)
    }

    /// The largest magnitude of the elements of `x`; NaN if an element is NaN.
    pub fn largest(&self, x: &B::Array<U>) -> Result<f64> {
        let b = self.b;
        if b.shape(x).contains(&0) {
            return Ok(0.0);
        }
        Ok(b.item(&expr!(b, max(abs(x), ..))?)?.to_f64())
    }

    /// The point `x + step * direction`.
    pub fn moved(&self, x: &B::Array<U>, step: f64, direction: &B::Array<U>) -> Result<B::Array<U>> {
        let b = self.b;
        expr!(b, x + step * direction)
    }

    /// Reports the state at `point` to the callback, and checks the stopping criteria. Returns a reason to stop if the
    /// search ends at this point.
    pub fn look(&mut self, point: &Point<B, U>) -> Result<Option<Stop>> {
        let norm = self.largest(&point.gradient)?;
        if let Some(stop) = self.tell(&point.x, point.value, Some(norm)) {
            return Ok(Some(stop));
        }
        Ok(if let Some(stop) = self.unbounded(point.value) {
            Some(stop)
        } else if !point.value.is_finite() || !norm.is_finite() {
            Some(Stop::NotFinite)
        } else if norm <= self.gtol {
            Some(Stop::Gradient)
        } else {
            self.limits()
        })
    }

    /// Reports the current state to the callback, which may stop the search.
    pub fn tell(&mut self, x: &B::Array<U>, value: f64, gradient_norm: Option<f64>) -> Option<Stop> {
        if self.options.trajectory {
            self.trajectory.push(x.clone());
        }
        let (iterations, evaluations) = (self.iterations, self.evaluations);
        let callback = self.options.callback.as_mut()?;
        let flow = callback(&Iteration { iterations, evaluations, value, gradient_norm });
        flow.is_break().then_some(Stop::Callback)
    }

    /// Returns a reason to stop if the maximum number of iterations or evaluations is reached.
    pub fn limits(&self) -> Option<Stop> {
        if self.iterations >= self.options.max_iter {
            Some(Stop::Iterations)
        } else if self.evaluations >= self.options.max_evaluations {
            Some(Stop::Evaluations)
        } else {
            None
        }
    }

    /// Counts a step, reports the new state to the callback, and checks the stopping criteria. Returns a reason to stop
    /// if the search ends after this step.
    pub fn stepped(&mut self, before: &Point<B, U>, after: &Point<B, U>) -> Result<Option<Stop>> {
        self.iterations += 1;
        let little = self.changed_little(before, after)?;
        // if the last allowed step also meets `ftol` or `xtol`, the search counts as converged
        Ok(match self.look(after)? {
            Some(Stop::Iterations | Stop::Evaluations) if little.is_some() => little,
            Some(stop) => Some(stop),
            None => little,
        })
    }

    /// Returns a reason to stop if the last step changed the value by at most `ftol` or the unknowns by at most `xtol`.
    fn changed_little(&self, before: &Point<B, U>, after: &Point<B, U>) -> Result<Option<Stop>> {
        let (ftol, xtol) = (self.options.ftol, self.options.xtol);
        let size = before.value.abs().max(after.value.abs()).max(1.0);
        if ftol > 0.0 && (before.value - after.value).abs() <= ftol * size {
            return Ok(Some(Stop::Value));
        }
        if xtol > 0.0 {
            let (b, x, y) = (self.b, &before.x, &after.x);
            if self.largest(&expr!(b, x - y)?)? <= xtol * self.largest(x)?.max(1.0) {
                return Ok(Some(Stop::Step));
            }
        }
        Ok(None)
    }
}

/// Returns the value of `result`, or `None` if a matrix factorization failed because of the matrix's elements. Other
/// errors, such as invalid calls, are returned as errors.
pub(super) fn or_nan<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if rules::has_no_factors(&error) => Ok(None),
        // the error with which sparse factorizations report a singular matrix
        Err(Error::Argument { why, .. }) if why == "the matrix is singular" => Ok(None),
        Err(error) => Err(error),
    }
}

/// The largest finite number of a dtype.
fn largest_finite<U: Real>() -> f64 {
    U::HIGHEST.nextafter(U::ZERO).to_f64()
}

/// Values below `-endless()` may count as unbounded: their squares approach the largest number of the dtype. For
/// float16, this limit is near the largest number itself, because typical values are already large in the range of
/// float16.
pub(super) fn endless<U: Real>() -> f64 {
    largest_finite::<U>().powf(if U::DTYPE == DType::Float16 { 0.9 } else { 0.4 })
}

/// The smallest normal number of a dtype.
fn smallest_normal<U: Real>() -> f64 {
    match U::DTYPE {
        DType::Float64 => f64::MIN_POSITIVE,
        DType::Float16 => 2.0_f64.powi(-14),
        _ => f64::from(f32::MIN_POSITIVE),
    }
}

/// The distance from 1 to the next number of a dtype.
pub(super) fn eps<U: Real>() -> f64 {
    U::ONE.nextafter(U::HIGHEST).to_f64() - 1.0
}

/// The default of `gtol`: 1e-5 in double precision; 1e-3 in single precision, because its gradients are not more
/// accurate; 0.1 in 16-bit dtypes.
fn usual_gtol<U: Real>() -> f64 {
    match U::DTYPE {
        DType::Float64 => 1e-5,
        DType::Float32 => 1e-3,
        _ => 0.1,
    }
}

impl Minimize<'_> {
    /// Returns an error if a setting is invalid.
    pub(super) fn check(&self) -> Result<()> {
        let tolerances = [("gtol", self.gtol.unwrap_or(0.0)), ("ftol", self.ftol), ("xtol", self.xtol)];
        if let Some((name, x)) = tolerances.into_iter().find(|(_, x)| x.is_nan() || *x < 0.0) {
            return Err(Error::argument("minimize", format!("{name} is {x}: a tolerance is 0 or more")));
        }
        let rate = match self.method {
            Method::GradientDescent { rate } | Method::AdaptiveDescent { rate } | Method::Adam { rate } => rate,
            Method::Bfgs | Method::Lbfgs { .. } => 1.0,
        };
        if rate.is_finite() && rate > 0.0 {
            return Ok(());
        }
        Err(Error::argument("minimize", format!("the rate is {rate}, but must be greater than 0")))
    }
}
