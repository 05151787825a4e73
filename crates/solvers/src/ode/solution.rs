//! Results of `solve_ivp`.

use super::dense::DenseOutput;

/// The outcome of a solve. The integer values are the same as in SciPy's `status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub enum Status {
    /// The solution ended before the final time, for the reason in [`Solution::message`].
    Failed = -1,
    /// The solution reached the final time.
    Finished = 0,
    /// The solution ended at a terminal event.
    TerminalEvent = 1,
}

/// Result of [`solve_ivp`](super::solve_ivp).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Solution<A> {
    /// The times of the states: the start and the end of each step or, if [`SolveIvp::t_eval`](super::SolveIvp::t_eval)
    /// is set, the requested times that were reached.
    pub t: Vec<f64>,
    /// The states at the times `t`.
    pub y: Vec<A>,
    /// The solution as a function of time, if [`SolveIvp::dense_output`](super::SolveIvp::dense_output) is set.
    pub sol: Option<DenseOutput<A>>,
    /// For each event, in the order in which the events were added: the times at which it occurred.
    pub t_events: Vec<Vec<f64>>,
    /// The states at the times in `t_events`, in the same order.
    pub y_events: Vec<Vec<A>>,
    /// Number of evaluations of `f`, including the evaluations for Jacobians by finite differences.
    pub evaluations: usize,
    /// Number of Jacobians that were computed.
    pub jacobians: usize,
    /// Number of matrices that Newton's method factorized.
    pub factorizations: usize,
    /// Number of accepted steps; rejected attempts are not counted.
    pub steps: usize,
    /// The outcome of the solve: failure, final time, or terminal event.
    pub status: Status,
    /// True if the final time or a terminal event was reached.
    pub success: bool,
    /// The reason why the solution ended, as a sentence.
    pub message: String,
}
