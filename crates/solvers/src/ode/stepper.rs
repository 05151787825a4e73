//! The trait that a method implements, so that the loop over steps can run it.

use super::{
    control::{Control, Trouble},
    dense::Segment,
    equation::Equation,
};
use backends::{Backend, Float, Result};

/// A method, with its state between steps.
pub(super) trait Stepper<B: Backend, T: Float> {
    /// Tries a step. If the step was too long, the next call tries a shorter one.
    fn attempt(&mut self, equation: &Equation<'_, B, T>, control: &Control) -> Result<Attempt>;

    /// The time and the state after the last step.
    fn state(&self) -> (f64, &B::Array<T>);

    /// The last step with its interpolating polynomial; `None` before the first step.
    fn segment(&self) -> Option<Segment<B::Array<T>>>;
}

/// Result of a step attempt.
pub(super) enum Attempt {
    Made,
    /// The error was too large, or a value was not finite.
    TooLong(Option<Trouble>),
    /// The next attempt would be shorter than the shortest step, [`Control::least`].
    Vanished,
}
