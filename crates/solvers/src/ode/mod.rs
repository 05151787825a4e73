//! Ordinary differential equations `y' = f(t, y)`, over any backend.
//!
//! [`solve_ivp`] solves from one time to another with steps as long as the tolerances allow. [`Ivp`] also takes a
//! Jacobian and events. [`step`] makes one step of a fixed length. The state is an array of any shape, real or complex.
//! All solvers are written in ops of the backend, so gradients pass through their steps.
//!
//! ```
//! use backends::{Error, prelude::*};
//! use backends_solvers::ode::{SolveIvp, solve_ivp};
//!
//! // a pendulum's angle and its rate of change
//! let b = Numpyish::new();
//! let pendulum = |b: &Numpyish, _t: f64, y: &HostArray<f64>| {
//!     let (angle, rate) = (b.getitem(y, slices![..1])?, b.getitem(y, slices![1..])?);
//!     b.concat([rate, b.negative(b.sin(angle)?)?])
//! };
//! let times = [0.5, 1.0];
//! let found = solve_ivp(&b, pendulum, [0.0, 1.0], &b.asarray([0.1, 0.0])?, SolveIvp::new().rtol(1e-8).atol(1e-10).t_eval(&times))?;
//! assert!(found.success);
//! let angles = b.getitem(b.stack(&found.y)?, slices![.., 0])?;
//! // for small angles, the solution is close to a cosine
//! assert!(b.allclose_with(angles, b.multiply(b.cos(b.asarray(times)?)?, 0.1)?, AllcloseOptions::new().rtol(1e-2))?);
//! # Ok::<(), Error>(())
//! ```

mod bdf;
mod control;
mod dense;
mod drive;
mod equation;
mod events;
mod fixed;
mod jacobian;
mod newton;
mod problem;
mod rk45;
mod settings;
mod solution;
mod stepper;
mod tableau;

use backends::{Backend, Float, Result};

pub use dense::DenseOutput;
pub use events::Event;
pub use fixed::{Step, solve_fixed, step};
pub use problem::Ivp;
pub use settings::{Method, SolveIvp};
pub use solution::{Solution, Status};

/// Solves `y' = f(t, y)` from the state `y0` at time `times[0]` to time `times[1]`, which may be the earlier time. The
/// methods are `RK45` and `BDF` of SciPy's `solve_ivp` ([`Method`]). Step control is as in SciPy, too: the root mean
/// square of the error divided by `atol + rtol * |y|` must be below 1.
///
/// On a backend that records operations for gradients, the gradients pass through the steps. The lengths of the steps
/// and the times of events are constants. The gradient of an implicit step comes from its equation (the implicit
/// function theorem), not from the iterations that solve the equation.
///
/// To give events, or a Jacobian for implicit methods, use [`Ivp`]. With complex states, implicit methods need a
/// complex-differentiable `f`, without conjugates, magnitudes or real parts.
///
/// # Errors
/// The errors of `f` and of its ops; `Error::Argument` if a setting is invalid; `Error::Shapes` if the result of `f`
/// does not have the shape of `y0`. A solution that becomes infinite, an `f` that returns NaN, or an `f` so steep that
/// steps become too short, is not an error: [`Solution::success`] is false then, and [`Solution::message`] gives the
/// reason.
pub fn solve_ivp<B: Backend, T: Float>(
    b: &B,
    f: impl FnMut(&B, f64, &B::Array<T>) -> Result<B::Array<T>>,
    times: [f64; 2],
    y0: &B::Array<T>,
    options: SolveIvp,
) -> Result<Solution<B::Array<T>>> {
    Ivp::new(b, f, times, y0).solve(options)
}
