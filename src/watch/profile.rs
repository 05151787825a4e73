//! A profile of calls: the start time, duration, arguments and results of each call of the watched backends.

use super::{Call, Running, Seen, Watch, Watched, clock::Instant, described};
use crate::{Backend, Error, Result};
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, ThreadId},
    time::Duration,
};

/// Records the calls of the backends that it watches, with their times. All clones share one profile.
///
/// On a watched GPU backend, each call waits until its work is done. The time of a call therefore includes the work,
/// and calls do not overlap. The time for formatting the arguments of a call counts towards the enclosing calls, but
/// not towards the call itself; [`Profile::retime`] measures the same calls without formatting. WebAssembly without
/// WASI has no clock, so all times are zero there.
///
/// ```
/// use backends::{Error, Profile, Result, prelude::*};
/// use std::time::Duration;
///
/// /// A program that runs on any backend.
/// fn program<B: Backend>(b: &B) -> Result<f64> {
///     let x = b.linspace(0.0, 1.0, 1000)?;
///     b.item(b.sum(b.exp(&x)?, ..)?)
/// }
///
/// let profile = Profile::new();
/// let b = profile.watch(Numpyish::new());
/// profile.span("the program", || program(&b))?;
/// let names: Vec<String> = profile.events().into_iter().map(|event| event.name).collect();
/// assert_eq!(names, ["the program", "linspace", "exp", "sum", "to_ndarray"]);
///
/// println!("{}", profile.table(Duration::ZERO)); // every call of at least this duration, nested
/// println!("{}", profile.summary()); // calls, total and mean times of each op
/// let trace = profile.trace(); // JSON for chrome://tracing or Perfetto
/// assert!(trace.starts_with("{\"traceEvents\":["));
///
/// profile.retime(|| profile.span("the program", || program(&b)))?; // runs the calls again without describing them
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct Profile {
    begin: Instant,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    events: Vec<Event>,
    /// For each thread, the indices of the events that have begun but not ended, the innermost last.
    open: HashMap<ThreadId, Vec<usize>>,
    /// The number of each thread, in the order in which the threads recorded their first events.
    threads: HashMap<ThreadId, usize>,
    /// While [`Profile::retime`] runs: the index of the event that the next call measures again. Otherwise `None`.
    retimed: Option<usize>,
}

/// A call of a watched backend, or a span marked by the user.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Event {
    /// Name of the op or the span. The name of a formula is the whole text that the user wrote, such as `exp(-x**2)`;
    /// the name of its gradient is `gradient of exp(-x**2)`.
    pub name: String,
    /// Name of the op; `expr!` for a formula, empty for a span.
    pub op: &'static str,
    /// The group of the op; `formula` for a formula; empty for spans and for calls that are not ops.
    pub group: &'static str,
    /// The arguments in parentheses, such as `(float64[3, 4], [0], keepdims=true)`; empty for spans.
    pub args: String,
    /// The dtype and the shape of each result, such as `float64[4]`; empty for spans, and if the call failed or
    /// returned no array.
    pub results: String,
    /// Start time, relative to the creation of the profile.
    pub start: Duration,
    /// Duration; zero while the event runs.
    pub duration: Duration,
    /// The number of the event's thread. Threads are numbered in the order of their first events.
    pub thread: usize,
    /// The index of the enclosing event.
    pub parent: Option<usize>,
    /// True for a span marked by the user.
    pub is_span: bool,
}

impl Default for Profile {
    fn default() -> Profile {
        Profile::new()
    }
}

impl fmt::Debug for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Profile").field("events", &self.state().events.len()).finish_non_exhaustive()
    }
}

impl Profile {
    /// An empty profile. Its clock starts now.
    #[must_use]
    pub fn new() -> Profile {
        Profile { begin: Instant::now(), state: Arc::default() }
    }

    /// Wraps a backend and records its calls in this profile. One profile may watch several backends.
    pub fn watch<B: Backend>(&self, backend: B) -> Watched<B> {
        Watched::new(backend, self.clone())
    }

    /// Runs a closure as a span of the profile. Calls inside the closure, on this thread, are nested in the span.
    pub fn span<R>(&self, name: &str, run: impl FnOnce() -> R) -> R {
        // if the calls of a retiming differ from the recorded calls, the next op returns the error
        let _open = self.begins(|| (name.into(), "", "", String::new()), true).ok();
        run()
    }

    /// The calls and spans, in the order of their start.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        self.state().events.clone()
    }

    /// Removes all events.
    pub fn reset(&self) {
        *self.state() = State::default();
    }

    /// Runs the same calls again, and replaces the recorded times by the new times. The arguments are not formatted
    /// again, so only the calls themselves are measured. The program must run on one thread.
    ///
    /// # Errors
    /// [`Argument`](Error::Argument) if the calls differ from the recorded calls; the errors of the program.
    pub fn retime<R>(&self, program: impl FnOnce() -> Result<R>) -> Result<R> {
        {
            let mut state = self.state();
            state.open.clear();
            state.retimed = Some(0);
        }
        let ended = Retimed(self);
        let result = program()?;
        let (again, before) = (ended.count(), self.state().events.len());
        if again != before {
            return Err(Error::argument("retime", format!("the program made {before} calls before, but {again} now")));
        }
        Ok(result)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begins(
        &self,
        describe: impl FnOnce() -> (String, &'static str, &'static str, String),
        is_span: bool,
    ) -> Result<Open> {
        let thread = thread::current().id();
        let retimed = self.state().retimed;
        let number = if let Some(number) = retimed {
            let name = is_span.then(|| describe().0);
            self.again(number, name)?
        } else {
            let (name, op, group, args) = describe();
            let mut state = self.state();
            let count = state.threads.len();
            let of_thread = *state.threads.entry(thread).or_insert(count);
            let parent = state.open.get(&thread).and_then(|open| open.last().copied());
            let zero = Duration::ZERO;
            let results = String::new();
            state.events.push(Event {
                name,
                op,
                group,
                args,
                results,
                start: zero,
                duration: zero,
                thread: of_thread,
                parent,
                is_span,
            });
            state.events.len() - 1
        };
        self.state().open.entry(thread).or_default().push(number);
        Ok(Open { profile: self.clone(), number, thread, describes: retimed.is_none(), start: Instant::now() })
    }

    /// Checks that the next event of a retiming matches the recorded event, and returns its index.
    fn again(&self, number: usize, name: Option<String>) -> Result<usize> {
        let mut state = self.state();
        let known = state.events.get(number).map(|event| (event.is_span, event.name.clone()));
        state.retimed = Some(number + 1);
        match (known, name) {
            (Some((false, _)), None) => Ok(number),
            (Some((true, known)), Some(name)) if known == name => Ok(number),
            (known, _) => {
                let was = known.map_or("none".into(), |(_, name)| format!("`{name}`"));
                Err(Error::argument("retime", format!("call {number} differs from the one before, which was {was}")))
            }
        }
    }

    /// Checks that the op of a retimed event equals the recorded op.
    fn same_op(&self, number: usize, op: &str) -> Result<()> {
        let known = self.state().events.get(number).map_or("", |event| event.op);
        if known == op {
            return Ok(());
        }
        Err(Error::argument("retime", format!("call {number} is `{op}`, but was `{known}` before")))
    }
}

/// Ends a retiming when dropped, also after an error or a panic.
struct Retimed<'a>(&'a Profile);

impl Retimed<'_> {
    fn count(&self) -> usize {
        self.0.state().retimed.unwrap_or_default()
    }
}

impl Drop for Retimed<'_> {
    fn drop(&mut self) {
        self.0.state().retimed = None;
    }
}

impl Watch for Profile {
    fn begin(&self, call: &Call<'_>) -> Result<Box<dyn Running>> {
        let no_op = if call.formula.is_some() { "formula" } else { "" };
        let group = call.info.map_or(no_op, |info| info.group);
        let name = call.formula.unwrap_or(call.op);
        let open = self.begins(|| (name.into(), call.op, group, described(call)), false)?;
        if !open.describes {
            self.same_op(open.number, call.op)?;
        }
        Ok(Box::new(open))
    }

    fn waits(&self) -> bool {
        true
    }
}

/// A running event.
struct Open {
    profile: Profile,
    number: usize,
    thread: ThreadId,
    describes: bool,
    start: Instant,
}

impl Running for Open {
    fn result(&mut self, x: &Seen<'_>) -> Result<()> {
        if self.describes {
            let mut state = self.profile.state();
            if let Some(event) = state.events.get_mut(self.number) {
                let comma = if event.results.is_empty() { "" } else { ", " };
                event.results += &format!("{comma}{:?}", x.array);
            }
        }
        Ok(())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let duration = self.start.elapsed();
        let start = self.start.saturating_duration_since(self.profile.begin);
        let mut state = self.profile.state();
        if let Some(event) = state.events.get_mut(self.number) {
            (event.start, event.duration) = (start, duration);
        }
        if let Some(open) = state.open.get_mut(&self.thread) {
            open.retain(|number| *number != self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arrays, Creation, Linalg, Manipulation, Numpyish, Reduction, Statistics, SumOptions, WriteTo};

    fn names(profile: &Profile) -> Vec<String> {
        profile.events().into_iter().map(|event| event.name).collect()
    }

    #[test]
    fn calls_are_described_and_stand_within_what_they_ran_in() {
        let profile = Profile::new();
        let b = profile.watch(Numpyish::new());
        let x = b.reshape(b.arange(0.0, 6.0, 1.0).unwrap(), [2, 3]).unwrap();
        let y = profile.span("mine", || b.sum_with(&x, 0, SumOptions::new().keepdims(true)).unwrap());
        assert_eq!(y.shape(), [1, 3]);
        assert!(b.matmul(&x, &x).is_err());
        let events = profile.events();
        assert_eq!(names(&profile), ["arange", "reshape", "mine", "sum", "matmul"]);
        assert_eq!(
            (events[3].args.as_str(), events[3].results.as_str()),
            ("(float64[2, 3], [0], keepdims=true)", "float64[1, 3]")
        );
        assert_eq!((events[3].parent, events[3].group, events[2].is_span), (Some(2), "reduction", true));
        assert_eq!(events[4].results, "", "it failed");
        assert!(events[2].duration >= events[3].duration && events[2].start <= events[3].start);
    }

    #[test]
    fn ops_that_are_composed_have_the_others_within() {
        let profile = Profile::new();
        let b = profile.watch(Numpyish::new());
        let x = b.ones::<f64>([4]).unwrap();
        profile.reset();
        b.ptp(&x, ..).unwrap();
        let events = profile.events();
        assert!(events.len() > 1, "{events:?}");
        assert!(events[1..].iter().all(|event| event.parent == Some(0)), "{events:?}");
        assert_eq!(events[0].name, "ptp");
    }

    #[test]
    fn a_formula_is_one_call_and_no_other_array_is_made() {
        let profile = Profile::new();
        let b = profile.watch(Numpyish::new());
        let x = b.ones::<f64>([4]).unwrap();
        let y = expr!(b, 2.0 * exp(x) + 1.0).unwrap();
        assert_eq!(y, expr!(Numpyish::new(), 2.0 * exp(x) + 1.0).unwrap());
        let total = expr!(b, sum(x * x, ..)).unwrap();
        assert_eq!(b.item(&total).unwrap(), 4.0);
        let mut z = b.zeros::<f64>([4]).unwrap();
        b.out(&mut z).exp(&x).unwrap();
        let formulas = ["2.0 * exp(x) + 1.0", "sum(x * x, ..)"];
        assert_eq!(names(&profile), ["ones", formulas[0], formulas[1], "to_ndarray", "zeros", "exp"]);
        let events = profile.events();
        let of = |k: usize| (events[k].op, events[k].group, events[k].args.as_str(), events[k].results.as_str());
        assert_eq!(of(1), ("expr!", "formula", "(float64[4])", "float64[4]"));
        assert_eq!(of(2), ("sum", "reduction", "(float64[4])", "float64[]"));
        assert_eq!(of(5), ("exp", "elementwise", "(float64[4])", "float64[4]"));
    }

    #[test]
    fn several_threads_have_calls_of_their_own() {
        let profile = Profile::new();
        let b = profile.watch(Numpyish::new());
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| profile.span("thread", || (0..20).for_each(|_| drop(b.ones::<f32>([3]).unwrap()))));
            }
        });
        let events = profile.events();
        assert_eq!(events.len(), 4 * 21);
        for event in events.iter().filter(|event| !event.is_span) {
            let parent = &events[event.parent.unwrap()];
            assert_eq!((parent.thread, parent.name.as_str()), (event.thread, "thread"));
        }
    }

    #[test]
    fn retiming_asks_for_the_same_calls() {
        let profile = Profile::new();
        let b = profile.watch(Numpyish::new());
        let program = |n: usize| (0..n).try_for_each(|_| b.ones::<f64>([3]).map(drop));
        program(3).unwrap();
        let before = profile.events();
        profile.retime(|| program(3)).unwrap();
        let after = profile.events();
        assert_eq!(before.len(), after.len());
        assert!(
            before.iter().zip(&after).all(|(x, y)| x.args == y.args && x.results == y.results && x.start < y.start)
        );
        for n in [2, 4] {
            assert!(profile.retime(|| program(n)).is_err(), "{n}");
        }
        let other = profile.retime(|| b.zeros::<f64>([3])).unwrap_err().to_string();
        assert!(other.contains("`zeros`") && other.contains("`ones`"), "{other}");
        program(1).unwrap();
        assert_eq!(profile.events().len(), 4, "it goes on after an error");
    }

    #[test]
    fn a_panic_leaves_the_profile_whole() {
        let profile = Profile::new();
        let b = profile.watch(Numpyish::new());
        let run = || profile.span("panics", || panic!("as asked"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
        b.ones::<f64>([3]).unwrap();
        assert_eq!(profile.events()[1].parent, None);
    }
}
