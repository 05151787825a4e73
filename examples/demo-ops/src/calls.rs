//! A wrapper of any backend in one method: it counts the calls of each op. A logger, a cache or a test that lets ops
//! fail can start from the same code. `counted.rs` is the same wrapper as a type that is generic over the backend.

use backends::{
    AnyBackend, Result,
    intercept::{Call, Intercept, Intercepted, Outputs, Row},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// The number of calls of each op. All clones share the counts.
#[derive(Clone, Debug, Default)]
pub struct Calls(Arc<Mutex<BTreeMap<&'static str, u64>>>);

impl Calls {
    /// Returns a backend that runs the ops of `within` and counts their calls.
    pub fn of(&self, within: impl Into<AnyBackend>) -> AnyBackend {
        Intercepted::new(within, self.clone())
    }

    /// The counts by the names of ops.
    pub fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Intercept for Calls {
    fn run(&self, within: &AnyBackend, row: &'static Row, call: &mut Call<'_, '_>) -> Result<Outputs> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(row.info.name).or_default() += 1;
        Intercepted::run_within(within, row, call)
    }
}
