//! Reports calls as spans of the crate `tracing`.

use super::{Call, Running, Seen, Watch, Watched, described};
use crate::{Backend, Result};
use ::tracing::{Level, field, span::EnteredSpan};

/// Reports each call as a span of the crate [`tracing`](https://docs.rs/tracing) at the level TRACE. The span has the
/// fields `op`, `args` and `results`, and for a formula its text as `formula`. Requires the feature `tracing`.
///
/// ```
/// use backends::{Error, prelude::*, watch::Tracing};
///
/// let b = Tracing.watch(Numpyish::new());
/// b.ones::<f64>([3])?; // the span `op{op="ones" args="([3])" results="float64[3]"}`
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Tracing;

impl Tracing {
    /// Wraps a backend. Each call of the wrapped backend is reported as a span.
    pub fn watch<B: Backend>(self, backend: B) -> Watched<B> {
        Watched::new(backend, self)
    }
}

impl Watch for Tracing {
    fn begin(&self, call: &Call<'_>) -> Result<Box<dyn Running>> {
        let is_on = ::tracing::enabled!(Level::TRACE);
        let args = if is_on { described(call) } else { String::new() };
        let span = ::tracing::trace_span!("op", op = call.op, formula = call.formula, args, results = field::Empty);
        Ok(Box::new(Span { span: span.entered(), results: String::new() }))
    }

    fn waits(&self) -> bool {
        ::tracing::enabled!(Level::TRACE)
    }
}

/// A running call inside its span.
struct Span {
    span: EnteredSpan,
    results: String,
}

impl Running for Span {
    fn result(&mut self, x: &Seen<'_>) -> Result<()> {
        if !self.span.is_disabled() {
            let comma = if self.results.is_empty() { "" } else { ", " };
            self.results += &format!("{comma}{:?}", x.array);
            self.span.record("results", self.results.as_str());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Creation, Numpyish};
    use ::tracing::{
        Event, Metadata, Subscriber,
        field::{Field, Visit},
        span::{Attributes, Id, Record},
        subscriber::with_default,
    };
    use std::{
        fmt::{Debug, Write},
        sync::{Arc, Mutex},
    };

    /// A subscriber that writes one line for each event of a span.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<String>>>);

    struct Fields(String);

    impl Visit for Fields {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            let _ = write!(self.0, " {field}={value:?}");
        }
    }

    impl Lines {
        fn say(&self, line: String) {
            self.0.lock().unwrap().push(line);
        }
    }

    impl Subscriber for Lines {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, span: &Attributes<'_>) -> Id {
            let mut fields = Fields(format!("new {}", span.metadata().name()));
            span.record(&mut fields);
            self.say(fields.0);
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, values: &Record<'_>) {
            let mut fields = Fields("record".into());
            values.record(&mut fields);
            self.say(fields.0);
        }

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, _: &Event<'_>) {}

        fn enter(&self, _: &Id) {
            self.say("enter".into());
        }

        fn exit(&self, _: &Id) {
            self.say("exit".into());
        }
    }

    #[test]
    fn a_call_is_a_span() {
        let lines = Lines::default();
        with_default(lines.clone(), || {
            let b = Tracing.watch(Numpyish::new());
            assert!(b.ones::<f64>([3]).is_ok());
        });
        let said = lines.0.lock().unwrap().clone();
        let new = "new op op=\"ones\" args=\"([3])\"";
        assert_eq!(said, [new, "enter", "record results=\"float64[3]\"", "exit"]);
    }

    #[test]
    fn a_formula_says_its_text() {
        let lines = Lines::default();
        with_default(lines.clone(), || {
            let (b, x) = (Tracing.watch(Numpyish::new()), Numpyish::new().ones::<f64>([3]).unwrap());
            assert!(expr!(b, exp(-x)).is_ok());
        });
        let said = lines.0.lock().unwrap().clone();
        let new = "new op op=\"expr!\" formula=\"exp(-x)\" args=\"(float64[3])\"";
        assert_eq!(said, [new, "enter", "record results=\"float64[3]\"", "exit"]);
    }
}
