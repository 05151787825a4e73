//! Backends that pass each op of another backend through a function: a wrapper of any backend in one method.
//!
//! ```
//! use backends::{Error, Result, prelude::*};
//! use backends::intercept::{Call, Intercept, Intercepted, Outputs, Row};
//! use std::sync::{Arc, Mutex};
//!
//! /// Writes down the names of all ops.
//! #[derive(Default)]
//! struct Names(Mutex<Vec<&'static str>>);
//!
//! impl Intercept for Names {
//!     fn run(&self, within: &AnyBackend, row: &'static Row, call: &mut Call<'_, '_>) -> Result<Outputs> {
//!         self.0.lock().unwrap().push(row.info.name);
//!         Intercepted::run_within(within, row, call)
//!     }
//! }
//!
//! let names = Arc::new(Names::default());
//! let b = Intercepted::new(Numpyish::new(), names.clone());
//! let x = b.linspace(0.0, 1.0, 5)?;
//! b.sum(b.exp(&x)?, ..)?;
//! assert_eq!(*names.0.lock().unwrap(), ["linspace", "exp", "sum"]);
//! # Ok::<(), Error>(())
//! ```
//!
//! The backend is an [`AnyBackend`], whatever its library, so a program that uses it is compiled only once, for all
//! functions. Ops that are composed of other ops reach the function as these ops, and so do formulas. Copies from and
//! to the host, including `asarray`, do not reach the function, because they are not ops on arrays.

pub use crate::runtime::entry::{Arg, ArrayMut, ArrayRef, ArrayValue, Call, IndexItem, Outputs, Row};

use crate::{
    AnyArray, AnyBackend, Arrays, Element, Error, HostArray, IntoArray, Result,
    runtime::dlpack::{CopyMode, DLDevice, ManagedTensor},
};
use std::{fmt, sync::Arc};

/// A function that runs in place of each op of a backend.
pub trait Intercept: Send + Sync + 'static {
    /// Runs an op. [`Intercepted::run_within`] runs it on the inner backend.
    ///
    /// # Errors
    /// An error rejects the call, and the caller of the op gets the error.
    fn run(&self, within: &AnyBackend, row: &'static Row, call: &mut Call<'_, '_>) -> Result<Outputs>;
}

impl<I: Intercept> Intercept for Arc<I> {
    fn run(&self, within: &AnyBackend, row: &'static Row, call: &mut Call<'_, '_>) -> Result<Outputs> {
        (**self).run(within, row, call)
    }
}

/// A backend whose ops pass through an [`Intercept`].
#[derive(Clone)]
pub struct Intercepted {
    within: AnyBackend,
    by: Arc<dyn Intercept>,
}

impl Intercepted {
    /// Returns a backend that passes each op of the backend `within` through `by`.
    #[allow(clippy::new_ret_no_self)] // the type of all backends that are chosen at run time
    pub fn new(within: impl Into<AnyBackend>, by: impl Intercept) -> AnyBackend {
        AnyBackend::Intercepted(Box::new(Intercepted { within: within.into(), by: Arc::new(by) }))
    }

    /// Runs an op on the inner backend.
    ///
    /// # Errors
    /// The errors of the op.
    pub fn run_within(within: &AnyBackend, row: &'static Row, call: &mut Call<'_, '_>) -> Result<Outputs> {
        within.run_row(row, call)
    }

    /// The inner backend.
    pub fn within(&self) -> &AnyBackend {
        &self.within
    }
}

impl fmt::Debug for Intercepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Intercepted").field(&self.within).finish()
    }
}

impl crate::runtime::Wrap for Intercepted {
    type Within = AnyBackend;
    type Running = ();

    fn within(&self) -> &AnyBackend {
        &self.within
    }

    fn begin(&self, _: &crate::runtime::Call<'_>) -> Result<()> {
        Ok(())
    }

    fn open<'a, T: Element>(&'a self, _: &'static str, x: &'a AnyArray<T>) -> Result<&'a AnyArray<T>> {
        Ok(x)
    }

    fn close<T: Element>(&self, (): &mut (), x: AnyArray<T>) -> Result<AnyArray<T>> {
        Ok(x)
    }
}

impl Arrays for Intercepted {
    type Array<T: Element> = AnyArray<T>;

    const NAME: &'static str = AnyBackend::NAME;

    fn to_ndarray<T: Element>(&self, x: &AnyArray<T>) -> Result<HostArray<T>> {
        self.within.to_ndarray(x)
    }

    fn from_ndarray<T: Element>(&self, x: HostArray<T>) -> Result<AnyArray<T>> {
        self.within.from_ndarray(x)
    }

    fn to_dlpack_with<'a, T: Element>(
        &self,
        x: impl IntoArray<'a, AnyArray<T>>,
        copy: CopyMode,
    ) -> Result<ManagedTensor> {
        self.within.to_dlpack_with(x, copy)
    }

    fn from_dlpack_with<T: Element>(&self, tensor: ManagedTensor, copy: CopyMode) -> Result<AnyArray<T>> {
        self.within.from_dlpack_with(tensor, copy)
    }

    fn dlpack_device(&self) -> DLDevice {
        self.within.dlpack_device()
    }

    const HAS_ENTRIES: bool = true;

    #[inline(always)]
    fn by_entries<R>(entries: impl FnOnce() -> R, _typed: impl FnOnce() -> R) -> R {
        entries()
    }

    fn has_entry(&self, row: &'static Row) -> bool {
        self.within.has_entry(row)
    }

    fn run_row(&self, row: &'static Row, call: &mut Call<'_, '_>) -> Result<Outputs> {
        match self.within.library_has_entry(row) {
            true => self.by.run(&self.within, row, call),
            false => Err(Error::unsupported(call.op, self.within.name())),
        }
    }

    fn array_ref<T: Element>(x: &AnyArray<T>) -> Option<ArrayRef<'_>> {
        AnyBackend::array_ref(x)
    }

    fn array_mut<T: Element>(x: &mut AnyArray<T>) -> Option<ArrayMut<'_>> {
        AnyBackend::array_mut(x)
    }

    fn of_value<T: Element>(op: &'static str, x: ArrayValue) -> Result<AnyArray<T>> {
        AnyBackend::of_value(op, x)
    }

    crate::runtime::forward_to_within!();

    fn seed(&self, seed: u64) {
        self.within.seed(seed);
    }

    fn seed_at(&self, seed: u64, block: u64) -> Result<()> {
        self.within.seed_at(seed, block)
    }

    fn random_state(&self) -> Result<(u64, u64)> {
        self.within.random_state()
    }
}
