//! Events: times at which a function of time and state is 0, found on the interpolating polynomials of steps.

use super::equation::OP;
use backends::{Error, Result};

/// Selects the zeros of a function that count as events, and sets whether an event ends the solution. It is passed to
/// [`Ivp::event`](super::Ivp::event) together with the function.
///
/// An event is detected if the function has different signs at the start and the end of a step, or is 0 at the end. Two
/// zeros within one step go unnoticed; [`SolveIvp::max_step`](super::SolveIvp::max_step) makes steps shorter. A zero at
/// the start of the solution counts if the function then goes on in the selected direction. A zero exactly at the end
/// of a step counts once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Event {
    direction: i32,
    terminal: Option<usize>,
}

impl Event {
    /// Creates an event that counts zeros in both directions and does not end the solution.
    pub fn new() -> Event {
        Event::default()
    }

    /// Ends the solution at the first occurrence of the event.
    #[must_use]
    pub fn terminal(self) -> Self {
        self.terminal_after(1)
    }

    /// Ends the solution at the given occurrence of the event, counted from 1.
    #[must_use]
    pub fn terminal_after(mut self, occurrences: usize) -> Self {
        self.terminal = Some(occurrences);
        self
    }

    /// Selects the zeros that count. A positive `direction` selects zeros at which the function goes from negative to
    /// positive along the solution (which may be backward in time). A negative `direction` selects zeros at which it
    /// goes from positive to negative. With 0, the default, all zeros count.
    #[must_use]
    pub fn direction(mut self, direction: i32) -> Self {
        self.direction = direction;
        self
    }

    fn is_crossed(&self, old: f64, new: f64) -> bool {
        let (up, down) = (old <= 0.0 && new >= 0.0, old >= 0.0 && new <= 0.0);
        up && self.direction >= 0 || down && self.direction <= 0
    }
}

/// An event, with the state of its detection.
struct Watched {
    event: Event,
    /// The function's value at the end of the last step.
    value: f64,
    /// True if `value` is a zero that has been counted.
    is_counted: bool,
    /// True if the function has ever had a value other than 0.
    was_elsewhere: bool,
    times: usize,
}

/// All events, each with the state of its detection.
pub(super) struct Events {
    all: Vec<Watched>,
}

/// The events in one step, in order of time, each with the index of its function. The flag `is_terminal` is true if the
/// last event ends the solution.
#[derive(Debug, PartialEq)]
pub(super) struct Occurred {
    pub zeros: Vec<(usize, f64)>,
    pub is_terminal: bool,
}

impl Events {
    /// Creates the list of events. Each event comes with its function's value at the start.
    pub fn new(events: impl IntoIterator<Item = (Event, f64)>) -> Result<Events> {
        let mut all = Vec::new();
        for (event, value) in events {
            if event.terminal == Some(0) {
                return Err(Error::argument(OP, "terminal_after is 0, but must be 1 or more"));
            }
            all.push(Watched { event, value, is_counted: false, was_elsewhere: value != 0.0, times: 0 });
        }
        Ok(Events { all })
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Finds the events in the step from time `old_t` to time `new_t`. `values` holds the functions' values at the end
    /// of the step; `at(i, t)` evaluates function `i` at a time within the step.
    pub fn look(
        &mut self,
        [old_t, new_t]: [f64; 2],
        values: &[f64],
        mut at: impl FnMut(usize, f64) -> Result<f64>,
    ) -> Result<Occurred> {
        let mut zeros = Vec::new();
        for (i, (watched, &new)) in self.all.iter_mut().zip(values).enumerate() {
            let old = std::mem::replace(&mut watched.value, new);
            let was_counted = std::mem::replace(&mut watched.is_counted, false);
            if was_counted && old == 0.0 {
                // the function leaves a counted zero or stays at this zero, which is not another event
                watched.is_counted = new == 0.0;
            } else if old == 0.0 && new == 0.0 && watched.was_elsewhere {
                // the function stays at a zero that it reached in the direction that does not count
            } else if watched.event.is_crossed(old, new) {
                zeros.push((i, zero([old_t, new_t], [old, new], |t| at(i, t))?));
                watched.is_counted = new == 0.0;
            }
            watched.was_elsewhere |= new != 0.0;
        }
        let order = |x: f64, y: f64| if new_t >= old_t { x.total_cmp(&y) } else { y.total_cmp(&x) };
        zeros.sort_by(|x, y| order(x.1, y.1));
        let mut last = None;
        for (place, (i, _)) in zeros.iter().enumerate() {
            let watched = &mut self.all[*i];
            watched.times += 1;
            if watched.event.terminal.is_some_and(|most| watched.times >= most) {
                last = Some(place);
                break;
            }
        }
        if let Some(last) = last {
            zeros.truncate(last + 1);
        }
        Ok(Occurred { zeros, is_terminal: last.is_some() })
    }
}

/// Finds a zero between two times, at which the function's values have opposite signs: Chandrupatla, Adv. Eng. Softw.
/// 28, 1997.
fn zero(
    [mut a, mut c]: [f64; 2],
    [mut of_a, mut of_c]: [f64; 2],
    mut f: impl FnMut(f64) -> Result<f64>,
) -> Result<f64> {
    if of_a == 0.0 {
        return Ok(a);
    }
    if of_c == 0.0 {
        return Ok(c);
    }
    // if the zero is near time 0, a relative accuracy is never reached, so an absolute accuracy is enough
    let floor = f64::EPSILON * a.abs().max(c.abs()).min(1.0);
    // `a` is the latest point; `c` is a point on the other side of the zero
    std::mem::swap(&mut a, &mut c);
    std::mem::swap(&mut of_a, &mut of_c);
    let mut part = 0.5;
    loop {
        let x = a + part * (c - a);
        let of_x = f(x)?;
        // the point before the latest one
        let (before, of_before);
        if (of_x < 0.0) == (of_a < 0.0) {
            (before, of_before) = (a, of_a);
        } else {
            (before, of_before) = (c, of_c);
            (c, of_c) = (a, of_a);
        }
        (a, of_a) = (x, of_x);
        let best = if of_a.abs() <= of_c.abs() { a } else { c };
        let least = (2.0 * f64::EPSILON * best.abs()).max(floor) / (c - a).abs();
        // the search also stops if the function is NaN at a point
        if of_x == 0.0 || of_x.is_nan() || least >= 0.5 || a == c || x == before {
            return Ok(if of_x == 0.0 { x } else { best });
        }
        let (place, height) = ((a - c) / (before - c), (of_a - of_c) / (of_before - of_c));
        let is_smooth = 1.0 - (1.0 - place).sqrt() < height && height < place.sqrt();
        part = if is_smooth {
            // inverse quadratic interpolation
            of_a / (of_c - of_a) * of_before / (of_c - of_before)
                + (before - a) / (c - a) * of_a / (of_before - of_a) * of_c / (of_before - of_c)
        } else {
            0.5
        };
        part = part.clamp(least, 1.0 - least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_to_the_last_digit_in_few_evaluations() -> Result<()> {
        type Case = (fn(f64) -> f64, [f64; 2], f64, usize);
        let functions: [Case; 6] = [
            (f64::cos, [0.0, 3.0], std::f64::consts::FRAC_PI_2, 10),
            (f64::cos, [3.0, 0.0], std::f64::consts::FRAC_PI_2, 10),
            (|t| t.powi(9), [-1.0, 1.5], 0.0, 120),
            (|t| (t - 1e-9).powi(3), [0.0, 1.0], 1e-9, 200),
            (|t| if t < 0.3 { -1.0 } else { 5.0 }, [0.0, 1.0], 0.3, 70),
            (|t| t - 1e9, [0.0, 1e12], 1e9, 10),
        ];
        for (f, ends, expected, most) in functions {
            let mut evaluations = 0;
            let found = zero(ends, ends.map(f), |t| {
                evaluations += 1;
                Ok(f(t))
            })?;
            assert!((found - expected).abs() <= 1e-15 * expected.abs() + 1e-14, "{found} is not {expected}");
            assert!(evaluations <= most, "{evaluations} evaluations for {expected}");
        }
        Ok(())
    }

    #[test]
    fn events_are_in_order_and_a_terminal_one_is_the_last() -> Result<()> {
        let places = [0.7, 0.2, 0.4];
        let events = [Event::new(), Event::new(), Event::new().terminal_after(2)];
        let mut watched = Events::new(events.into_iter().zip(places.map(|p| -p)))?;
        let found = watched.look([0.0, 1.0], &places.map(|p| 1.0 - p), |i, t| Ok(t - places[i]))?;
        assert_eq!(found.zeros.iter().map(|(i, _)| *i).collect::<Vec<_>>(), [1, 2, 0]);
        assert!(!found.is_terminal);
        // the same step backward in time
        let found = watched.look([1.0, 0.0], &places.map(|p| -p), |i, t| Ok(t - places[i]))?;
        assert_eq!(found.zeros.iter().map(|(i, _)| *i).collect::<Vec<_>>(), [0, 2]);
        assert!(found.is_terminal);
        Ok(())
    }

    #[test]
    fn a_zero_at_the_end_of_a_step_counts_once() -> Result<()> {
        let count = |direction: i32, values: &[f64]| -> Result<usize> {
            let mut watched = Events::new([(Event::new().direction(direction), values[0])])?;
            values[1..]
                .iter()
                .try_fold(0, |sum, v| Ok(sum + watched.look([0.0, 1.0], &[*v], |_, _| Ok(0.0))?.zeros.len()))
        };
        for (values, [all, up, down]) in [
            (&[-1.0, 0.0, 1.0][..], [1, 1, 0]),
            (&[1.0, 0.0, -1.0], [1, 0, 1]),
            // the function touches 0 without crossing
            (&[1.0, 0.0, 1.0], [1, 1, 1]),
            (&[0.0, 1.0, 2.0], [1, 1, 0]),
            (&[0.0, 0.0, 0.0], [1, 1, 1]),
            (&[-1.0, 0.0, 0.0, 1.0, -1.0], [2, 1, 1]),
            (&[f64::NAN, 1.0, f64::NAN, -1.0], [0, 0, 0]),
        ] {
            let found = [count(0, values)?, count(1, values)?, count(-1, values)?];
            assert_eq!(found, [all, up, down], "{values:?}");
        }
        Ok(())
    }
}
