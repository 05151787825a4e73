//! Results of a linear solve.

use backends::{Arrays, Backend, Error, Result, WideFloat};
use std::fmt;

/// The reason why the solve of a system ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The residual is within the tolerance.
    Converged,
    /// The maximum number of iterations was reached.
    MaxIter,
    /// The callback ended the solve.
    Callback,
    /// The residual stopped decreasing: the precision of the dtype is exhausted, the right side has no solution, or the
    /// method makes no progress.
    Stagnation,
    /// The method has no next step, because it would have to divide by 0. The string describes the divisor.
    Breakdown(&'static str),
    /// The system has no solution, because the operator is singular; `x` is a least-squares solution (MINRES).
    Inconsistent,
    /// The residual grew without bounds.
    Growth,
    /// The right side, or a product with the operator, contains infinite values or NaN.
    NotFinite,
    /// The result of a direct method does not solve the system: the matrix is singular, or nearly so.
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

/// The solution of a system of linear equations, and a report of the solve. Lists have one entry per system of the
/// batch, in C order of the leading axes; without a batch they have one entry.
///
/// A solve that does not converge is not an error: `converged` and `diverged` report it. [`checked`](Solution::checked)
/// and [`into_x`](Solution::into_x) turn it into an error.
#[derive(Clone)]
pub struct Solution<B: Arrays, T: WideFloat> {
    /// The unknowns, with the shape of the right side (for least squares: of `A^H y`).
    pub x: B::Array<T>,
    /// The length (2-norm) of `y - A x`, computed from `x`.
    pub residual: Vec<f64>,
    /// The tolerance for the residual, `max(rtol |y|, atol)`. Direct methods use at least the square root of the
    /// dtype's epsilon as `rtol`. For least squares without a matrix, it is the tolerance for `|A^H (y - A x)|`; with a
    /// matrix, it is the largest value of this length that counts as a least-squares solution up to rounding.
    pub tolerance: Vec<f64>,
    /// Number of iterations until each system was solved or given up; 0 in direct methods.
    pub iterations: Vec<usize>,
    /// Number of times that the operator or its adjoint was applied to the whole batch.
    pub evaluations: usize,
    /// True for the systems whose residual is within the tolerance.
    pub converged: Vec<bool>,
    /// True for the systems whose residual grew without bounds or is not finite.
    pub diverged: Vec<bool>,
    /// The reason why the solve of each system ended.
    pub reason: Vec<Reason>,
    /// The residual of each system before the first iteration and after each, if [`history`](super::Solve::history) is
    /// set.
    pub history: Vec<Vec<f64>>,
    /// The name of the method that ran, with its preconditioner.
    pub method: String,
}

impl<B: Arrays, T: WideFloat> Solution<B, T> {
    /// Returns whether all systems are solved.
    pub fn is_converged(&self) -> bool {
        self.converged.iter().all(|&converged| converged)
    }

    /// Returns the solution, if all systems are solved.
    ///
    /// # Errors
    /// `Error::Argument` with the residual, the tolerance and the iterations of the first unsolved system.
    pub fn checked(self) -> Result<Self> {
        match self.converged.iter().position(|&converged| !converged) {
            None => Ok(self),
            Some(item) => Err(Error::argument(super::OP, self.why_not(item))),
        }
    }

    /// Returns the unknowns, if all systems are solved.
    ///
    /// # Errors
    /// The errors of [`checked`](Solution::checked).
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

/// The state of a solve, passed to the callback after each iteration.
pub struct Progress<'p, B: Backend, T: WideFloat> {
    /// Number of iterations so far.
    pub iteration: usize,
    /// The residual of each system of the batch.
    pub residual: &'p [f64],
    /// The unknowns, for methods that have them after each iteration: not for GMRES, nor for biCG-stab with a
    /// preconditioner.
    pub x: Option<&'p B::Array<T>>,
}
