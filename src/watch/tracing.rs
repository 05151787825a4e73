//! Calls as spans of the crate `tracing`.

use super::{Call, Running, Seen, Watch, Watched, described};
use crate::{Backend, Result};
use ::tracing::{Level, field, span::EnteredSpan};

/// Each call as a span of the crate [`tracing`](https://docs.rs/tracing) at the level TRACE, with the fields `op`, `args` and `results`. Of the feature `tracing`.
///
/// ```
/// use backends::{prelude::*, watch::Tracing};
///
/// let b = Tracing.watch(Numpyish::new());
/// b.ones::<f64>([3])?; // a span `op{op="ones" args="([3])" results="float64[3]"}` for who subscribes
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Tracing;

impl Tracing {
    /// The backend, with its calls as spans.
    pub fn watch<B: Backend>(self, backend: B) -> Watched<B> {
        Watched::new(backend, self)
    }
}

impl Watch for Tracing {
    fn begin(&self, call: &Call<'_>) -> Result<Box<dyn Running>> {
        let is_on = ::tracing::enabled!(Level::TRACE);
        let args = if is_on { described(call) } else { String::new() };
        let span = ::tracing::trace_span!("op", op = call.op, args, results = field::Empty);
        Ok(Box::new(Span { span: span.entered(), results: String::new() }))
    }

    fn waits(&self) -> bool {
        ::tracing::enabled!(Level::TRACE)
    }
}

/// A call within its span.
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
