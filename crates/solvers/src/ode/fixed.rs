//! Solutions with a fixed step length.

use backends::{Backend, Error, Float, Result, expr};

/// The method that computes a step of fixed length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Euler's method, of order 1. It uses the slope at the start of the step.
    Euler,
    /// The midpoint method, of order 2. It uses the slope in the middle of the step.
    Midpoint,
    /// The classical Runge-Kutta method, of order 4.
    Rk4,
}

/// Returns the state after one step of length `h` of `y' = f(t, y)`; `h` may be negative.
///
/// ```
/// use backends::{Error, Result, grad::grad, prelude::*};
/// use backends_solvers::ode::{Step, step};
///
/// /// Ten steps of decay at this rate, on any backend.
/// fn decayed<B: Backend>(b: &B, rate: &B::Array<f64>) -> Result<B::Array<f64>> {
///     let mut y = b.asarray(1.0)?;
///     for k in 0..10 {
///         y = step(b, |b, _, y| expr!(b, -rate * y), Step::Rk4, 0.1 * k as f64, &y, 0.1)?;
///     }
///     Ok(y)
/// }
///
/// let b = Numpyish::new();
/// let rate = b.asarray(0.5)?;
/// assert!((b.item(decayed(&b, &rate)?)? - (-0.5_f64).exp()).abs() < 1e-7);
/// // the gradient passes through the steps
/// let g = grad(&b, |d, rate| decayed(d, rate), &rate)?;
/// assert!((b.item(g)? + (-0.5_f64).exp()).abs() < 1e-6);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// The errors of `f` and of the ops.
pub fn step<B: Backend, T: Float>(
    b: &B,
    mut f: impl FnMut(&B, f64, &B::Array<T>) -> Result<B::Array<T>>,
    how: Step,
    t: f64,
    y: &B::Array<T>,
    h: f64,
) -> Result<B::Array<T>> {
    let half = 0.5 * h;
    match how {
        Step::Euler => {
            let k = f(b, t, y)?;
            expr!(b, y + h * k)
        }
        Step::Midpoint => {
            let k = f(b, t, y)?;
            let k = f(b, t + half, &expr!(b, y + half * k)?)?;
            expr!(b, y + h * k)
        }
        Step::Rk4 => {
            let k1 = f(b, t, y)?;
            let k2 = f(b, t + half, &expr!(b, y + half * k1)?)?;
            let k3 = f(b, t + half, &expr!(b, y + half * k2)?)?;
            let k4 = f(b, t + h, &expr!(b, y + h * k3)?)?;
            let sixth = h / 6.0;
            expr!(b, y + sixth * (k1 + 2.0 * k2 + 2.0 * k3 + k4))
        }
    }
}

/// Solves `y' = f(t, y)` with steps of fixed length. Returns the states at `steps + 1` equally spaced times, beginning
/// with `y0`.
///
/// # Errors
/// The errors of `f` and of the ops; `Error::Argument` if a time is not finite, or if `steps` is 0 and the times
/// differ.
pub fn solve_fixed<B: Backend, T: Float>(
    b: &B,
    mut f: impl FnMut(&B, f64, &B::Array<T>) -> Result<B::Array<T>>,
    how: Step,
    [from, to]: [f64; 2],
    y0: &B::Array<T>,
    steps: usize,
) -> Result<Vec<B::Array<T>>> {
    let wrong = |why: String| Err(Error::argument("solve_fixed", why));
    if !(from.is_finite() && to.is_finite()) {
        return wrong(format!("the times are {from} and {to}, but must be finite"));
    }
    if steps == 0 && from != to {
        return wrong(format!("steps is 0, but must be 1 or more from {from} to {to}"));
    }
    let h = (to - from) / steps.max(1) as f64;
    let mut states = vec![y0.clone()];
    for k in 0..steps {
        let y = step::<B, T>(b, &mut f, how, from + k as f64 * h, &states[k], h)?;
        states.push(y);
    }
    Ok(states)
}
