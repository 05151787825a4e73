//! Runs the conformance tests of one backend.

use super::{
    Call, Meter, Row, Values,
    case::{self, Called, DTypes},
    compare::difference,
    compared, data, distance,
};
use backend_runtime::{Arrays, DType, Earlier, Error, ParamKind, Result, available, numpyish::Numpyish};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::OnceLock,
};

/// Calls an op of this crate's op table by name on [`Numpyish`], the reference for the backends under test. All tests
/// link to this one function. This crate's own unit tests leave it out, because they would compile all ops once more.
///
/// # Errors
/// The errors of [`crate::call`].
#[cfg(not(test))]
pub fn reference(
    b: &Numpyish,
    op: &str,
    args: &[crate::Value<Numpyish>],
    options: &[(&str, crate::Value<Numpyish>)],
) -> Result<crate::Value<Numpyish>> {
    crate::call(b, op, args, options)
}

/// The failure text of a case that a backend does not support, if the backend has only some of the ops. Such failures
/// are ignored, unless the backend supports no case of the row.
const LACKS: &str = "it is not supported";

/// Types that the conformance macro accepts for `backend = ..`: a backend, or a `Result` with a backend.
pub trait IntoBackend<B> {
    /// The backend, or the reason why it is unavailable.
    fn into_backend(self) -> Result<B>;
}

impl<B: Arrays> IntoBackend<B> for B {
    fn into_backend(self) -> Result<B> {
        Ok(self)
    }
}

impl<B: Arrays> IntoBackend<B> for Result<B> {
    fn into_backend(self) -> Result<B> {
        self
    }
}

/// Runs a check on every rank of a backend whose arrays are split over ranks.
pub type OnRanks<B> = fn(check: &(dyn Fn(&B) + Sync));

/// A backend under test. It is created once, by the first test that needs it.
pub struct Suite<B: Arrays> {
    make: fn() -> Result<B>,
    golden: fn(group: &str) -> Option<&'static [u8]>,
    call: Call<B>,
    reference: Call<Numpyish>,
    partial: bool,
    meter: Option<Meter>,
    ranks: Option<OnRanks<B>>,
    backend: OnceLock<Result<B>>,
}

impl<B: Arrays> Suite<B> {
    /// A suite for the backend that `make` returns. `golden` returns the reference results of a group. `call` and
    /// `reference` call an op of the table by name, on this backend and on [`Numpyish`].
    pub const fn new(
        make: fn() -> Result<B>,
        golden: fn(group: &str) -> Option<&'static [u8]>,
        call: Call<B>,
        reference: Call<Numpyish>,
    ) -> Suite<B> {
        Suite { make, golden, call, reference, partial: false, meter: None, ranks: None, backend: OnceLock::new() }
    }

    /// Skips calls that the backend does not support, which would fail otherwise. The test of an op fails if none of
    /// its cases is supported.
    #[must_use]
    pub const fn partial(mut self) -> Suite<B> {
        self.partial = true;
        self
    }

    /// Checks that each op copies at most as many bytes from the device to the host as [`Row::waits`] allows.
    #[must_use]
    pub const fn metered(mut self, meter: Meter) -> Suite<B> {
        self.meter = Some(meter);
        self
    }

    /// Runs every check on all ranks of the backend at once, each rank with its own backend.
    #[must_use]
    pub const fn on_ranks(mut self, ranks: OnRanks<B>) -> Suite<B> {
        self.ranks = Some(ranks);
        self
    }

    /// Runs a check on the backend, or on all its ranks.
    pub(super) fn each(&self, check: impl Fn(&B) + Sync) {
        match self.ranks {
            Some(ranks) => ranks(&check),
            None => self.backend().into_iter().for_each(check),
        }
    }

    pub(super) fn is_partial(&self) -> bool {
        self.partial
    }

    /// The backend for one test; `None` if the backend is unavailable on this machine and the environment does not
    /// require it.
    ///
    /// # Panics
    /// If the environment requires the backend and it is unavailable.
    pub fn backend(&self) -> Option<&B> {
        let found = self.backend.get_or_init(self.make);
        available(B::NAME, found.as_ref().map_err(Error::clone))
    }

    pub(super) fn by_name(&self) -> Call<B> {
        self.call
    }

    pub(super) fn reference(&self) -> Call<Numpyish> {
        self.reference
    }

    /// Makes a call on the current thread; a panic becomes an `Err`.
    pub(super) fn call(&self, b: &B, row: &Row, dtypes: DTypes, text: &str) -> std::result::Result<Called, String> {
        caught(|| case::call(b, row, dtypes, text, self.call, self.meter))
    }

    /// Checks every case of an op in one dtype.
    ///
    /// # Panics
    /// If a result differs from the reference.
    pub fn check(&self, row: &Row, dtype: DType) {
        self.run(row, DTypes { of: dtype, to: None });
    }

    /// Like [`Suite::check`], for an op with a second dtype.
    ///
    /// # Panics
    /// If a result differs from the reference.
    pub fn check_to(&self, row: &Row, dtype: DType, to: DType) {
        self.run(row, DTypes { of: dtype, to: Some(to) });
    }

    /// Checks that each call that NumPy refuses returns an error that names the op.
    ///
    /// # Panics
    /// If a call succeeds, or its error names another op.
    pub fn raises(&self, row: &Row, dtype: DType) {
        let _alone = row.alone();
        self.each(|b| self.raises_on(b, row, dtype));
    }

    fn raises_on(&self, b: &B, row: &Row, dtype: DType) {
        for text in row.raises {
            let of = format!("{} on {}, {dtype}, case `{text}`", row.name, B::NAME);
            let called =
                self.call(b, row, DTypes { of: dtype, to: None }, text).unwrap_or_else(|why| panic!("{of}: {why}"));
            match called.results {
                Ok(_) => panic!("{of}: NumPy refuses it, and it was computed"),
                Err(Error::Unsupported { .. }) if self.partial => {}
                // an index error that is reported only when the host waits for the device names an inner op of a
                // composed op
                Err(Error::Index { earlier: Earlier(true), .. }) => {}
                Err(why) => assert_eq!(why.op(), Some(row.name), "{of}: {why}"),
            }
        }
    }

    fn run(&self, row: &Row, dtypes: DTypes) {
        let _alone = row.alone();
        self.each(|b| {
            let failures = self.fuzz(b, row, dtypes).unwrap_or_else(|| self.failures(b, row, dtypes));
            assert!(failures.is_empty(), "{} on {}, {dtypes}:\n  {}", row.name, B::NAME, failures.join("\n  "));
        });
    }

    fn failures(&self, b: &B, row: &Row, dtypes: DTypes) -> Vec<String> {
        let Some(file) = (self.golden)(row.group) else {
            return vec![format!("there are no data of the group `{}`: {}", row.group, data::REGENERATE)];
        };
        let results = match data::results(file, row.signature, row.cases, dtypes.of, dtypes.to) {
            Ok(results) => results,
            Err(why) => return vec![why],
        };
        let fails = |(text, expected): (&&str, Vec<Values>)| {
            self.case(b, row, dtypes, text, &expected).map(|why| format!("case `{text}`: {why}"))
        };
        let failures: Vec<String> = row.cases.iter().zip(results).filter_map(fails).collect();
        if self.partial && failures.len() == row.cases.len() && failures.iter().all(|why| why.ends_with(LACKS)) {
            return vec!["no case was computed: name the row in `without = [..]` of the test".into()];
        }
        failures.into_iter().filter(|why| !why.ends_with(LACKS)).collect()
    }

    /// Runs one case, and describes the difference from the expected results, if any.
    fn case(&self, b: &B, row: &Row, dtypes: DTypes, text: &str, expected: &[Values]) -> Option<String> {
        if let Some(seed) = row.seed {
            b.seed(seed);
        }
        let Called { results, size, copied } = match self.call(b, row, dtypes, text) {
            Ok(called) => called,
            Err(panic) => return Some(panic),
        };
        let got = match results {
            Ok(got) => got,
            Err(Error::Unsupported { .. }) if self.partial => return Some(LACKS.into()),
            Err(why) => return Some(why.to_string()),
        };
        let got = match compared::parts(row, dtypes, text, got, self.reference) {
            Ok(got) => got,
            Err(why) => return Some(format!("what is compared: {why}")),
        };
        if got.len() != expected.len() {
            return Some(format!("{} arrays instead of {}", got.len(), expected.len()));
        }
        // for a parameter that takes a host array, the test passes an array of the backend, which the call by name
        // copies to the host; such a row has no limit
        let is_made = row.params.iter().any(|param| param.kind == ParamKind::Host);
        if copied > row.waits && !is_made {
            return Some(format!("it copied {copied} bytes to the host, {} are allowed", row.waits));
        }
        let differs = |(i, (g, e)): (usize, (&Values, &Values))| {
            let tolerance = row.accuracy.tolerance(dtypes.of, e.dtype, size);
            distance::note(row.name, dtypes.of, g, e, tolerance);
            let why = difference(g, e, tolerance, row.any_zero)?;
            Some(if expected.len() == 1 { why } else { format!("result {i}: {why}") })
        };
        got.iter().zip(expected).enumerate().find_map(differs)
    }
}

/// Runs `call`; a panic becomes an `Err` with the message of the panic.
pub(super) fn caught<R>(call: impl FnOnce() -> R) -> std::result::Result<R, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| format!("it panicked: {}", message(&*panic)))
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
