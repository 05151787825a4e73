//! The explicit Dormand-Prince method of order 5 with an error estimate of order 4 (J. Comput. Appl. Math. 6, 1980).

use super::{
    control::{Control, LONGER, SAFETY, SHORTER, Trouble},
    dense::{Polynomial, Segment},
    equation::Equation,
    stepper::{Attempt, Stepper},
    tableau::{A, B5, C, E, combined, sum},
};
use backends::{Backend, Float, Result};

pub(super) struct Rk45<B: Backend, T: Float> {
    t: f64,
    y: B::Array<T>,
    /// The slope at the current state.
    now: B::Array<T>,
    length: f64,
    is_again: bool,
    last: Option<Last<B::Array<T>>>,
}

/// The last step: its start time, its initial state and its slopes.
struct Last<A> {
    from: f64,
    start: A,
    slopes: Vec<A>,
}

/// The slopes of a step, and the state after it.
type Slopes<A> = (Vec<A>, A);

impl<B: Backend, T: Float> Rk45<B, T> {
    /// The order of the error estimate, which the choice of the first step length depends on.
    pub const ORDER: f64 = 4.0;

    pub fn new(t: f64, y: B::Array<T>, now: B::Array<T>, length: f64) -> Self {
        Rk45 { t, y, now, length, is_again: false, last: None }
    }

    /// Returns the slopes of a step, and the state after the step. The last slope is the slope at that state.
    fn slopes(&self, equation: &Equation<'_, B, T>, h: f64, to: f64) -> Result<Slopes<B::Array<T>>> {
        let b = equation.b;
        let mut slopes = vec![self.now.clone()];
        for (row, c) in A.iter().zip(C) {
            let at = combined(b, &self.y, h, &slopes, row)?;
            slopes.push(equation.slope(b, self.t + c * h, &at)?);
        }
        let new = combined(b, &self.y, h, &slopes, &B5)?;
        slopes.push(equation.slope(b, to, &new)?);
        Ok((slopes, new))
    }

    /// Returns the source of the first non-finite value during a step; `None` if all values are finite.
    fn trouble(&self, b: &B, h: f64, to: f64, slopes: &[B::Array<T>]) -> Result<Option<Trouble>> {
        let rows = A.into_iter().zip(C.map(|c| self.t + c * h)).chain([(&B5[..], to)]);
        for ((row, t), slope) in rows.zip(&slopes[1..]) {
            let at = combined(b, &self.y, h, slopes, row)?;
            let trouble = Trouble::of::<B, T>(b, t, &at, slope)?;
            if trouble.is_some() {
                return Ok(trouble);
            }
        }
        Ok(None)
    }
}

impl<B: Backend, T: Float> Stepper<B, T> for Rk45<B, T> {
    fn attempt(&mut self, equation: &Equation<'_, B, T>, control: &Control) -> Result<Attempt> {
        let (b, t) = (equation.b, self.t);
        let least = control.least(t);
        self.length = self.length.min(control.max_step);
        if !self.is_again {
            self.length = self.length.max(least);
        } else if self.length.is_nan() || self.length < least {
            return Ok(Attempt::Vanished);
        }
        let new_t =
            if self.length >= (control.end - t).abs() { control.end } else { t + control.forward * self.length };
        let h = new_t - t;
        let (slopes, new) = self.slopes(equation, h, new_t)?;
        let error = match sum(b, h, &slopes, &E)? {
            Some(error) => control.norm::<B, T>(b, &error, [&self.y, &new])?,
            None => 0.0,
        };
        if error.is_nan() || error >= 1.0 {
            // an error that is not finite also requires a shorter step
            let factor = if error.is_finite() { SAFETY * error.powf(-0.2) } else { SHORTER };
            self.length = h.abs() * factor.max(SHORTER);
            self.is_again = true;
            let trouble = if error.is_finite() { None } else { self.trouble(b, h, new_t, &slopes)? };
            return Ok(Attempt::TooLong(trouble));
        }
        let factor = if error == 0.0 { LONGER } else { LONGER.min(SAFETY * error.powf(-0.2)) };
        // after a failed attempt the step length does not grow
        self.length = h.abs() * if self.is_again { factor.min(1.0) } else { factor };
        self.is_again = false;
        if let Some(now) = slopes.last() {
            self.now = now.clone();
        }
        self.last = Some(Last { from: t, start: std::mem::replace(&mut self.y, new), slopes });
        self.t = new_t;
        Ok(Attempt::Made)
    }

    fn state(&self) -> (f64, &B::Array<T>) {
        (self.t, &self.y)
    }

    fn segment(&self) -> Option<Segment<B::Array<T>>> {
        let Last { from, start, slopes } = self.last.as_ref()?;
        let polynomial = Polynomial::Slopes(slopes.clone());
        Some(Segment { from: *from, to: self.t, start: start.clone(), end: self.y.clone(), polynomial })
    }
}
