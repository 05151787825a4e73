//! A backend that wraps any other backend and counts the calls of each op. A profiler, a tape for gradients, or arrays
//! split over processes can start from the same code.

use backends::{
    Result,
    prelude::*,
    runtime::{Call, Wrap},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

backends::backend! { overlay = "counted.toml" }

/// A backend whose calls are counted. All clones share the counts.
#[derive(Clone, Debug)]
pub struct Counted<B> {
    within: B,
    calls: Arc<Mutex<BTreeMap<&'static str, u64>>>,
}

impl<B> Counted<B> {
    /// Wraps a backend, with all counts at 0.
    pub fn new(within: B) -> Counted<B> {
        Counted { within, calls: Arc::default() }
    }

    /// The number of calls of each op.
    pub fn calls(&self) -> BTreeMap<&'static str, u64> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<B: Backend> Arrays for Counted<B> {
    type Array<T: Element> = B::Array<T>;

    const NAME: &'static str = "counted";

    fn to_ndarray<T: Element>(&self, x: &B::Array<T>) -> Result<HostArray<T>> {
        self.within.to_ndarray(x)
    }

    fn from_ndarray<T: Element>(&self, x: HostArray<T>) -> Result<B::Array<T>> {
        self.within.from_ndarray(x)
    }

    backends::runtime::forward_to_within!();

    fn seed(&self, seed: u64) {
        self.within.seed(seed)
    }

    fn seed_at(&self, seed: u64, block: u64) -> Result<()> {
        self.within.seed_at(seed, block)
    }

    fn random_state(&self) -> Result<(u64, u64)> {
        self.within.random_state()
    }
}

impl<B: Backend> Wrap for Counted<B> {
    type Within = B;

    type Running = ();

    fn within(&self) -> &B {
        &self.within
    }

    fn begin(&self, call: &Call<'_>) -> Result<()> {
        // a composed op is not counted itself, because its inner ops are counted
        if !call.is_composed {
            *self.calls.lock().unwrap_or_else(PoisonError::into_inner).entry(call.op).or_default() += 1;
        }
        Ok(())
    }

    fn open<'a, T: Element>(&'a self, _op: &'static str, x: &'a B::Array<T>) -> Result<&'a B::Array<T>> {
        Ok(x)
    }

    fn change<T: Element>(
        &self,
        (): &mut (),
        _op: &'static str,
        x: &mut B::Array<T>,
        f: impl FnOnce(&mut B::Array<T>) -> Result<()>,
    ) -> Result<()> {
        f(x)
    }

    fn close<T: Element>(&self, (): &mut (), x: B::Array<T>) -> Result<B::Array<T>> {
        Ok(x)
    }
}
