//! Initial value problems: an equation with an optional Jacobian, an initial state, and events.

use super::{equation::Equation, events::Event};
use backends::{Arrays, Backend, Float, Result};

/// A function of time and state that returns a number.
type Number<'p, B, T> = dyn FnMut(&B, f64, &<B as Arrays>::Array<T>) -> Result<f64> + 'p;

/// An initial value problem `y' = f(t, y)`, with an optional Jacobian and any number of events. If neither is needed,
/// [`solve_ivp`](super::solve_ivp) is shorter.
///
/// ```
/// use backends::{Error, prelude::*};
/// use backends_solvers::ode::{Event, Ivp, Method, SolveIvp};
///
/// // a body cools in a room whose temperature swings; when has it come down to 30?
/// let b = Numpyish::new();
/// let y0 = b.asarray([80.0])?;
/// let found = Ivp::new(&b, |b, t, y| expr!(b, 50.0 * (20.0 + { t.sin() } - y)), [0.0, 10.0], &y0)
///     .jacobian(|b, _, _| b.asarray([[-50.0]]))
///     .event(Event::new().terminal().direction(-1), |b, _, y| b.item(expr!(b, y - 30)?))
///     .solve(SolveIvp::new().method(Method::Bdf).rtol(1e-8))?;
/// assert_eq!(found.message, "a terminal event occurred");
/// assert!((found.t_events[0][0] - 0.03584).abs() < 1e-4, "{:?}", found.t_events);
/// # Ok::<(), Error>(())
/// ```
pub struct Ivp<'p, B: Backend, T: Float> {
    pub(super) equation: Equation<'p, B, T>,
    pub(super) times: [f64; 2],
    pub(super) y0: &'p B::Array<T>,
    pub(super) events: Vec<(Event, Box<Number<'p, B, T>>)>,
}

impl<'p, B: Backend, T: Float> Ivp<'p, B, T> {
    /// Creates the problem `y' = f(t, y)` with the state `y0` at time `times[0]`. The solution ends at time `times[1]`.
    pub fn new(
        b: &'p B,
        f: impl FnMut(&B, f64, &B::Array<T>) -> Result<B::Array<T>> + 'p,
        times: [f64; 2],
        y0: &'p B::Array<T>,
    ) -> Self {
        Ivp { equation: Equation::new(b, f, y0), times, y0, events: Vec::new() }
    }

    /// Sets the derivatives of `f` with respect to the state, for implicit methods. For a state with n elements, the
    /// function returns an n x n matrix with `d f[i] / d y[j]` in row i and column j; the elements of a state with
    /// several axes are counted in C order. The function may also return an array whose shape is the state's shape
    /// repeated: (2, 3, 2, 3) for a state of shape (2, 3). By default, the Jacobian is computed by finite differences
    /// of `f`.
    #[must_use]
    pub fn jacobian(mut self, jacobian: impl FnMut(&B, f64, &B::Array<T>) -> Result<B::Array<T>> + 'p) -> Self {
        self.equation.set_jacobian(jacobian);
        self
    }

    /// Adds an event: a time at which a function of time and state is 0.
    #[must_use]
    pub fn event<R: Into<f64>>(
        mut self,
        event: Event,
        mut function: impl FnMut(&B, f64, &B::Array<T>) -> Result<R> + 'p,
    ) -> Self {
        self.events.push((event, Box::new(move |b, t, y| function(b, t, y).map(Into::into))));
        self
    }
}
