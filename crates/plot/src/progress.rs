//! Progress bars on a terminal.

use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

/// A progress bar on standard error, with the elapsed and the remaining time. It is hidden if standard error is not a
/// terminal, and it disappears when it is dropped.
///
/// ```
/// use backends_plot::prelude::*;
///
/// let bar = progress("fit", 100);
/// for _ in 0..100 {
///     bar.inc(1);
/// }
/// bar.finish_and_clear();
///
/// // like `for k in tqdm(range(10))`
/// let sum: u64 = progress("sum", 10).over(0..10).sum();
/// assert_eq!(sum, 45);
/// ```
#[derive(Clone, Debug)]
pub struct Progress(ProgressBar);

/// Shows a progress bar with a name and a number of steps.
pub fn progress(name: impl Into<String>, steps: usize) -> Progress {
    let style = ProgressStyle::with_template("{prefix:5} [{bar:40}] {pos}/{len}  {elapsed} (about {eta} left)");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ");
    let bar = ProgressBar::new(steps as u64).with_style(style).with_prefix(name.into());
    Progress(bar.with_finish(ProgressFinish::AndClear))
}

impl Progress {
    /// A progress bar that is never shown.
    pub fn hidden() -> Progress {
        Progress(ProgressBar::hidden())
    }

    /// Adds steps.
    pub fn inc(&self, steps: u64) {
        self.0.inc(steps);
    }

    /// Sets the number of steps made.
    pub fn set_position(&self, step: u64) {
        self.0.set_position(step);
    }

    /// The number of steps made.
    pub fn position(&self) -> u64 {
        self.0.position()
    }

    /// Returns whether the bar is not shown.
    pub fn is_hidden(&self) -> bool {
        self.0.is_hidden()
    }

    /// Hides the bar while `print` prints.
    pub fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        self.0.suspend(print)
    }

    /// Returns the items of an iterator, and makes one step for each item.
    pub fn over<I: IntoIterator>(self, items: I) -> impl Iterator<Item = I::Item> {
        items.into_iter().inspect(move |_| self.0.inc(1))
    }

    /// Removes the bar from the terminal.
    pub fn finish_and_clear(&self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_counted() {
        let bar = progress("steps", 3);
        let counted = bar.clone();
        assert_eq!(bar.over(["a", "b"]).collect::<String>(), "ab");
        assert_eq!(counted.position(), 2);
        counted.inc(5); // more than there are
        counted.set_position(1);
        assert_eq!((counted.position(), counted.suspend(|| 7)), (1, 7));
        counted.finish_and_clear();
        assert!(Progress::hidden().is_hidden());
        progress("none", 0).finish_and_clear();
    }
}
