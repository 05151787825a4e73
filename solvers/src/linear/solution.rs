//! What a solve gives.

use backends::{Arrays, Backend, Error, Result, WideFloat};
use std::fmt;

/// Why the solve of a system ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The residual has come down to the tolerance.
    Converged,
    /// All iterations that were allowed are used up.
    MaxIter,
    /// The callback ended it.
    Callback,
    /// The residual becomes no smaller: the dtype has no more digits, or no `x` gives the right side, or the method makes no progress.
    Stagnation,
    /// A divisor of the method is 0, as the text says, so that the method has no next step.
    Breakdown(&'static str),
    /// The system has no solution, for the operator is singular and no `x` gives the right side; `x` is a least-squares solution (MINRES).
    Inconsistent,
    /// The residual grew without bounds.
    Growth,
    /// The right side, or a product with the operator, has numbers that are infinite or NaN.
    NotFinite,
    /// The solution of a direct method does not solve the system: the matrix is singular, or nearly so.
    Singular,
}

impl Reason {
    pub(super) fn is_divergence(self) -> bool {
        matches!(self, Reason::Growth | Reason::NotFinite)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Converged => "the residual is within the tolerance",
            Reason::MaxIter => "all iterations are used up",
            Reason::Callback => "the callback ended it",
            Reason::Stagnation => "the residual becomes no smaller",
            Reason::Breakdown(what) => return write!(f, "the method broke down, {what}"),
            Reason::Inconsistent => "the system has no solution, x is a least-squares solution",
            Reason::Growth => "the residual grew without bounds",
            Reason::NotFinite => "there are numbers that are infinite or NaN",
            Reason::Singular => "the matrix is singular, or nearly so",
        })
    }
}

/// The solution of a system of linear equations, and how it was found. Lists have one entry per system of the batch, in C order of the leading axes;
/// without a batch there is one.
///
/// That a solve did not come to its end is no error: `converged` and `diverged` say it, and [`checked`](Solution::checked) or
/// [`into_x`](Solution::into_x) make an error of it.
#[derive(Clone)]
pub struct Solution<B: Arrays, T: WideFloat> {
    /// The unknowns, of the shape of the right side (in least squares: of that of `A^H y`).
    pub x: B::Array<T>,
    /// The length (2-norm) of `y - A x`, computed from `x`.
    pub residual: Vec<f64>,
    /// What the residual was to become: `max(rtol |y|, atol)`, and in direct methods at least the root of the dtype's epsilon times `|y|`. In least squares without a matrix it is
    /// that of `|A^H (y - A x)|`, with one what that is at most where `x` is a least-squares solution but for rounding.
    pub tolerance: Vec<f64>,
    /// Iterations of each system until it was solved or given up; 0 in direct methods.
    pub iterations: Vec<usize>,
    /// How many times the operator, or its adjoint, was applied to the whole batch.
    pub evaluations: usize,
    /// Whether the residual has come down to the tolerance.
    pub converged: Vec<bool>,
    /// Whether it grew without bounds, or is not finite.
    pub diverged: Vec<bool>,
    /// Why the solve of each system ended.
    pub reason: Vec<Reason>,
    /// The residual before the first iteration and after each, of each system, where [`history`](super::Solve::history) was asked for.
    pub history: Vec<Vec<f64>>,
    /// The method that ran, with its preconditioner.
    pub method: String,
}

impl<B: Arrays, T: WideFloat> Solution<B, T> {
    /// Whether all systems are solved.
    pub fn is_converged(&self) -> bool {
        self.converged.iter().all(|&converged| converged)
    }

    /// The solution, where all systems are solved.
    ///
    /// # Errors
    /// `Error::Argument` with the residual, the tolerance and the iterations of the first system that is not.
    pub fn checked(self) -> Result<Self> {
        match self.converged.iter().position(|&converged| !converged) {
            None => Ok(self),
            Some(item) => Err(Error::argument(super::OP, self.why_not(item))),
        }
    }

    /// The unknowns, where all systems are solved.
    ///
    /// # Errors
    /// As those of [`checked`](Solution::checked).
    pub fn into_x(self) -> Result<B::Array<T>> {
        Ok(self.checked()?.x)
    }

    fn why_not(&self, item: usize) -> String {
        let what = if self.diverged[item] { "diverged" } else { "did not converge" };
        let of = match self.converged.len() {
            1 => String::new(),
            n => format!(", in system {item} of {n}"),
        };
        format!(
            "{} {what} ({}): the residual is {:.3e} after {} iterations, the tolerance {:.3e}{of}",
            self.method, self.reason[item], self.residual[item], self.iterations[item], self.tolerance[item]
        )
    }
}

impl<B: Arrays, T: WideFloat> fmt::Debug for Solution<B, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Solution")
            .field("x", &self.x)
            .field("residual", &self.residual)
            .field("tolerance", &self.tolerance)
            .field("iterations", &self.iterations)
            .field("evaluations", &self.evaluations)
            .field("converged", &self.converged)
            .field("diverged", &self.diverged)
            .field("reason", &self.reason)
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

/// What a callback is told after each iteration.
pub struct Progress<'p, B: Backend, T: WideFloat> {
    /// Iterations until now.
    pub iteration: usize,
    /// The residuals of the systems of the batch.
    pub residual: &'p [f64],
    /// The unknowns, in methods that have them after each iteration: not in GMRES, nor in biCG-stab with a preconditioner.
    pub x: Option<&'p B::Array<T>>,
}
