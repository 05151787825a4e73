//! What was found.

use super::dense::DenseOutput;

/// How a solution ended; as a number it is SciPy's `status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub enum Status {
    /// Before the end, for the reason that [`Solution::message`] gives.
    Failed = -1,
    /// At the end.
    Finished = 0,
    /// At a terminal event.
    TerminalEvent = 1,
}

/// What [`solve_ivp`](super::solve_ivp) has found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Solution<A> {
    /// The times: the start and the end of each step, or those of [`SolveIvp::t_eval`](super::SolveIvp::t_eval) that
    /// were reached.
    pub t: Vec<f64>,
    /// The states at these times.
    pub y: Vec<A>,
    /// The solution as a function of time, where [`SolveIvp::dense_output`](super::SolveIvp::dense_output) asks for it.
    pub sol: Option<DenseOutput<A>>,
    /// The times of each event, in the order in which events were given.
    pub t_events: Vec<Vec<f64>>,
    /// The states at these times.
    pub y_events: Vec<Vec<A>>,
    /// Evaluations of `f`, those for differences in place of a Jacobian among them.
    pub evaluations: usize,
    /// Jacobians that were made.
    pub jacobians: usize,
    /// Matrices of Newton's method that were factorized.
    pub factorizations: usize,
    /// Steps that were made; others were tried, and were not exact enough.
    pub steps: usize,
    /// How it ended.
    pub status: Status,
    /// Whether the end was reached, or a terminal event.
    pub success: bool,
    /// Why it ended, as a sentence.
    pub message: String,
}
