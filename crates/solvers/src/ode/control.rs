//! Step control shared by all methods: norms, the first step, and detection of values that are not finite.

use super::equation::Equation;
use backends::{Backend, Float, Real, Result, expr};

/// Lower limit for the ratio of a step's length to the previous step's length.
pub(super) const SHORTER: f64 = 0.2;
/// Upper limit for the ratio of a step's length to the previous step's length.
pub(super) const LONGER: f64 = 10.0;
/// Safety factor applied to the step length that the error estimate allows.
pub(super) const SAFETY: f64 = 0.9;

/// The checked settings that control the steps.
#[derive(Clone, Copy)]
pub(super) struct Control {
    pub rtol: f64,
    pub atol: f64,
    pub max_step: f64,
    /// The time at which the solution ends.
    pub end: f64,
    /// 1 forward in time, -1 backward.
    pub forward: f64,
}

impl Control {
    /// The shortest step at time `t`: 10 times the spacing of floats at `t`.
    pub fn least(&self, t: f64) -> f64 {
        let next = if self.forward > 0.0 { t.next_up() } else { t.next_down() };
        10.0 * (next - t).abs()
    }

    /// The root mean square of an error relative to the allowed error. `states` are the states before and after the
    /// step; the allowed error of an element depends on the larger of its two magnitudes. NaN if the new state is not
    /// finite.
    pub fn norm<B: Backend, T: Float>(&self, b: &B, error: &B::Array<T>, states: [&B::Array<T>; 2]) -> Result<f64> {
        let Control { rtol, atol, .. } = *self;
        let (old, new) = (b.abs::<T>(states[0])?, b.abs::<T>(states[1])?);
        norm(b, expr!(b, abs(error) / (atol + rtol * maximum(old, new)) + 0.0 * new)?)
    }

    /// The allowed error of each element of a state; NaN where the state is not finite.
    pub fn scale<B: Backend, T: Float>(&self, b: &B, y: &B::Array<T>) -> Result<B::Array<T::Real>> {
        let (Control { rtol, atol, .. }, size) = (*self, b.abs::<T>(y)?);
        expr!(b, atol + rtol * size + 0.0 * size)
    }
}

/// The distance from 1 to the next number of a dtype.
pub(super) fn eps<R: Real>() -> f64 {
    R::ONE.nextafter(R::HIGHEST).to_f64() - 1.0
}

/// The root mean square of the elements; 0 if the array is empty.
pub(super) fn norm<B: Backend, T: Real>(b: &B, x: B::Array<T>) -> Result<f64> {
    if b.shape(&x).contains(&0) {
        return Ok(0.0);
    }
    let norm = b.item(&expr!(b, mean(x * x, ..))?)?.to_f64().sqrt();
    if norm != f64::INFINITY {
        return Ok(norm);
    }
    // the squares may overflow although the elements do not; so the elements are divided by the largest one
    let largest = b.item(&expr!(b, max(abs(x), ..))?)?.to_f64();
    if largest == f64::INFINITY {
        return Ok(largest);
    }
    Ok(largest * b.item(&expr!(b, mean((x / largest) * *2, ..))?)?.to_f64().sqrt())
}

/// The root mean square of the elements of `|error| / scale`.
pub(super) fn norm_over<B: Backend, T: Float>(b: &B, error: &B::Array<T>, scale: &B::Array<T::Real>) -> Result<f64> {
    norm(b, expr!(b, abs(error) / scale)?)
}

/// A first step length that is not too long for a method whose error estimate has this order: Hairer, Nørsett and
/// Wanner, "Solving ordinary differential equations I", section II.4.
pub(super) fn first_step<B: Backend, T: Float>(
    equation: &Equation<'_, B, T>,
    control: &Control,
    t: f64,
    y: &B::Array<T>,
    now: &B::Array<T>,
    order: f64,
) -> Result<f64> {
    let (b, Control { rtol, atol, forward, .. }) = (equation.b, *control);
    let size = b.abs::<T>(y)?;
    let scale = expr!(b, atol + rtol * size)?;
    let steepness = norm(b, expr!(b, abs(now) / scale)?)?;
    let size = norm(b, expr!(b, size / scale)?)?;
    let short = if size < 1e-5 || steepness < 1e-5 { 1e-6 } else { 0.01 * size / steepness };
    let short = short.min((control.end - t).abs());
    let signed = forward * short;
    let ahead = equation.slope(b, t + signed, &expr!(b, y + signed * now)?)?;
    let bent = norm(b, expr!(b, abs(ahead - now) / scale)?)? / short;
    let most = steepness.max(bent);
    let long = if most <= 1e-15 { (1e-3 * short).max(1e-6) } else { (0.01 / most).powf(1.0 / (order + 1.0)) };
    Ok(if long.is_nan() { short } else { long.min(100.0 * short) })
}

/// The source of values that are not finite. If shorter steps do not avoid such values, the solution fails, and its
/// message names this source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Trouble {
    /// The function returned values that are not finite at this time, for a finite state.
    Slope(f64, &'static str),
    /// The Jacobian at this time contains values that are not finite.
    Jacobian(f64, &'static str),
    /// The state at this time contains values that are not finite.
    State(f64),
}

impl Trouble {
    /// A sentence that describes the problem.
    pub fn message(self) -> String {
        match self {
            Trouble::Slope(t, what) => format!("f gave {what} at t = {t}"),
            Trouble::Jacobian(t, what) => format!("the Jacobian has {what} at t = {t}"),
            Trouble::State(t) => {
                format!("the state is infinite or NaN at t = {t}: the solution leaves the range of its dtype")
            }
        }
    }

    /// Returns the source of non-finite values: the state `y`, or the function's value `slope` at this state. `None` if
    /// both are finite.
    pub fn of<B: Backend, T: Float>(b: &B, t: f64, y: &B::Array<T>, slope: &B::Array<T>) -> Result<Option<Trouble>> {
        Ok(match (not_finite::<B, T>(b, y)?, not_finite::<B, T>(b, slope)?) {
            (Some(_), _) => Some(Trouble::State(t)),
            (None, Some(what)) => Some(Trouble::Slope(t, what)),
            (None, None) => None,
        })
    }
}

/// Returns a name for the kind of non-finite values in the array; `None` if all elements are finite.
pub(super) fn not_finite<B: Backend, T: Float>(b: &B, x: &B::Array<T>) -> Result<Option<&'static str>> {
    let size = b.abs::<T>(x)?;
    // the product with 0 is 0 for finite elements, and NaN for all others
    if norm(b, expr!(b, 0.0 * size)?)? == 0.0 {
        return Ok(None);
    }
    let values = b.to_vec::<T>(x)?;
    Ok(if values.iter().any(|x| x.is_nan()) {
        Some("NaN")
    } else {
        values.iter().any(|x| x.is_inf()).then_some("an infinite value")
    })
}
