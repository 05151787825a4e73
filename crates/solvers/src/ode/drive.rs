//! `Ivp::solve`: the loop over steps, shared by all methods, with output, events and termination.

use super::{
    bdf::Bdf,
    control::{Control, Trouble, eps, first_step, not_finite},
    dense::{DenseOutput, Segment},
    equation::Equation,
    events::{Events, Occurred},
    problem::Ivp,
    rk45::Rk45,
    settings::{Method, SolveIvp},
    solution::{Solution, Status},
    stepper::{Attempt, Stepper},
};
use backends::{Backend, Float, Result};

impl<B: Backend, T: Float> Ivp<'_, B, T> {
    /// Solves the problem by the methods of [`solve_ivp`](super::solve_ivp).
    ///
    /// # Errors
    /// The errors of the functions and of their ops; `Error::Argument` if a setting is invalid; `Error::Shapes` if a
    /// function returns an array of a wrong shape.
    pub fn solve(self, options: SolveIvp) -> Result<Solution<B::Array<T>>> {
        solve(self, &options)
    }
}

/// The times and states to be returned.
struct Output<'o, A> {
    t: Vec<f64>,
    y: Vec<A>,
    /// The requested times (`t_eval`) that are not yet reached. If it is `None`, the solution at the end of each step
    /// is returned.
    wanted: Option<&'o [f64]>,
    sol: Option<DenseOutput<A>>,
}

impl<A: Clone> Output<'_, A> {
    fn push(&mut self, t: f64, y: A) {
        self.t.push(t);
        self.y.push(y);
    }

    /// Removes and returns the next requested time, if it is not after `t`.
    fn next_wanted(&mut self, t: f64, forward: f64) -> Option<f64> {
        let (first, others) = self.wanted?.split_first().filter(|(first, _)| (**first - t) * forward <= 0.0)?;
        self.wanted = Some(others);
        Some(*first)
    }
}

fn solve<B: Backend, T: Float>(ivp: Ivp<'_, B, T>, options: &SolveIvp) -> Result<Solution<B::Array<T>>> {
    options.check(ivp.times)?;
    let Ivp { equation, times: [start, end], y0, mut events } = ivp;
    let b = equation.b;
    let control = Control {
        // a smaller tolerance would be below rounding errors; SciPy has the same limit
        rtol: options.rtol.max(100.0 * eps::<T::Real>()),
        atol: options.atol,
        max_step: options.max_step,
        end,
        forward: if end >= start { 1.0 } else { -1.0 },
    };
    let mut output = Output {
        t: Vec::new(),
        y: Vec::new(),
        wanted: options.t_eval.as_deref(),
        sol: options.dense_output.then(|| DenseOutput::new(start, y0)),
    };
    match options.t_eval {
        None => output.push(start, y0.clone()),
        Some(_) => {
            if let Some(t) = output.next_wanted(start, control.forward) {
                output.push(t, y0.clone());
            }
        }
    }
    let mut t_events = vec![Vec::new(); events.len()];
    let mut y_events = vec![Vec::new(); events.len()];
    let mut steps = 0;
    let ended = 'ended: {
        if let Some(what) = not_finite::<B, T>(b, y0)? {
            break 'ended Ended::Failed(format!("y0 has {what}, but all its elements must be finite"));
        }
        let mut watched = Vec::with_capacity(events.len());
        for (event, function) in &mut events {
            watched.push((*event, function(b, start, y0)?));
        }
        let mut watched = Events::new(watched)?;
        if start == end {
            break 'ended Ended::Finished;
        }
        let now = equation.slope(b, start, y0)?;
        if let Some(what) = not_finite::<B, T>(b, &now)? {
            break 'ended Ended::Failed(Trouble::Slope(start, what).message());
        }
        let mut stepper = stepper(&equation, &control, options, start, y0, now)?;
        let mut trouble = None;
        for tried in 0.. {
            if tried == options.max_steps {
                break 'ended Ended::Failed("max_steps steps were tried".into());
            }
            let from = stepper.state().0;
            match stepper.attempt(&equation, &control)? {
                Attempt::Made => {}
                Attempt::TooLong(why) => {
                    trouble = why;
                    continue;
                }
                Attempt::Vanished => break 'ended Ended::Failed(vanished(trouble)),
            }
            trouble = None;
            steps += 1;
            let (t, y) = stepper.state();
            let is_within = output.sol.is_some() || output.wanted.is_some_and(|wanted| !wanted.is_empty());
            let mut segment = if is_within { stepper.segment() } else { None };
            let (mut to, mut is_terminal) = (t, false);
            let mut last = y.clone();
            if !watched.is_empty() {
                let mut values = Vec::with_capacity(events.len());
                for (_, function) in &mut events {
                    values.push(function(b, t, y)?);
                }
                let Occurred { zeros, is_terminal: ends } = watched.look([from, t], &values, |i, t| {
                    let at = state(b, &*stepper, &mut segment, t)?;
                    (events[i].1)(b, t, &at)
                })?;
                for (i, t) in zeros {
                    let at = state(b, &*stepper, &mut segment, t)?;
                    t_events[i].push(t);
                    y_events[i].push(at.clone());
                    if ends {
                        (to, last) = (t, at);
                    }
                }
                is_terminal = ends;
            }
            if options.t_eval.is_some() {
                while let Some(t) = output.next_wanted(to, control.forward) {
                    let at = state(b, &*stepper, &mut segment, t)?;
                    output.push(t, at);
                }
            } else if output.t.last() != Some(&to) {
                output.push(to, last);
            }
            if let (Some(sol), Some(segment)) = (&mut output.sol, segment) {
                sol.push(segment, to);
            }
            if is_terminal {
                break 'ended Ended::TerminalEvent;
            }
            if t == end {
                break 'ended Ended::Finished;
            }
        }
        Ended::Finished
    };
    let (status, message) = match ended {
        Ended::Finished => (Status::Finished, "the end was reached".into()),
        Ended::TerminalEvent => (Status::TerminalEvent, "a terminal event occurred".into()),
        Ended::Failed(message) => (Status::Failed, message),
    };
    let Output { t, y, sol, .. } = output;
    let (evaluations, jacobians) = (equation.evaluations.get(), equation.jacobians.get());
    let factorizations = equation.factorizations.get();
    let success = status != Status::Failed;
    Ok(Solution {
        t,
        y,
        sol,
        t_events,
        y_events,
        evaluations,
        jacobians,
        factorizations,
        steps,
        status,
        success,
        message,
    })
}

/// The reason why the solution ended.
enum Ended {
    Finished,
    TerminalEvent,
    Failed(String),
}

/// The message for steps that became too short, with the cause of the last failed attempt.
fn vanished(trouble: Option<Trouble>) -> String {
    match trouble {
        Some(trouble) => format!("{}, and shorter steps do not help", trouble.message()),
        None => "the tolerances require steps that are shorter than the distance between neighbouring numbers".into(),
    }
}

/// Creates the stepper for the chosen method, before its first step.
fn stepper<B: Backend, T: Float>(
    equation: &Equation<'_, B, T>,
    control: &Control,
    options: &SolveIvp,
    t: f64,
    y0: &B::Array<T>,
    now: B::Array<T>,
) -> Result<Box<dyn Stepper<B, T>>> {
    let order = match options.method {
        Method::Rk45 => Rk45::<B, T>::ORDER,
        Method::Bdf => Bdf::<B, T>::ORDER,
    };
    let length = match options.first_step {
        Some(first) => first,
        None => first_step(equation, control, t, y0, &now, order)?,
    };
    let length = length.min(control.max_step).min((control.end - t).abs()).max(control.least(t));
    Ok(match options.method {
        Method::Rk45 => Box::new(Rk45::<B, T>::new(t, y0.clone(), now, length)),
        Method::Bdf => Box::new(Bdf::<B, T>::new(equation.b, control, t, y0.clone(), &now, length)?),
    })
}

/// The state at a time within the last step.
fn state<B: Backend, T: Float>(
    b: &B,
    stepper: &dyn Stepper<B, T>,
    segment: &mut Option<Segment<B::Array<T>>>,
    t: f64,
) -> Result<B::Array<T>> {
    if segment.is_none() {
        *segment = stepper.segment();
    }
    match segment {
        Some(segment) => segment.at::<B, T>(b, t),
        None => Ok(stepper.state().1.clone()),
    }
}
