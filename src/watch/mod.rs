//! Backends whose calls are observed: a [`Profile`] measures them, [`Strict`] checks them, or a user's own [`Watch`]
//! receives them.
//!
//! A watched backend has its own type, [`Watched`], so programs that do not watch have no overhead. The arrays of a
//! watched backend are the arrays of the inner backend. A watched backend that is converted to an [`AnyBackend`] and
//! made the current backend also observes programs that pass no backend to their calls:
//!
//! ```
//! use backends::{Error, Profile, current, functions, prelude::*, scoped};
//!
//! let profile = Profile::new();
//! scoped(profile.watch(current()?), || functions::exp(functions::linspace(0.0, 1.0, 100)?))?;
//! assert_eq!(profile.events().iter().map(|e| e.name.as_str()).collect::<Vec<_>>(), ["linspace", "exp"]);
//! # Ok::<(), Error>(())
//! ```

mod clock;
mod profile;
mod report;
mod strict;
#[cfg(feature = "tracing")]
mod tracing;

pub use crate::runtime::{AnyTyped, Arg, Call, IndexArg};
pub use profile::{Event, Profile};
pub use report::Average;
pub use strict::Strict;
#[cfg(feature = "tracing")]
pub use tracing::Tracing;

use crate::{
    AnyBackend, Arrays, Backend, DType, DTypeKind, Element, Error, Float, HostArray, IntoArray, Numeric, Result,
    dispatch,
    runtime::dlpack::{CopyMode, DLDevice, ManagedTensor},
    runtime::{
        EachSource, Wrap,
        by_name::to_array,
        entry::{self, ArrayMut, ArrayRef, ArrayValue, Outputs, Row},
        formula,
        formula::Told,
        numpyish::raw::HostView,
    },
};
use ndarray::Dimension;
use std::{any::Any, borrow::Cow, fmt, sync::Arc};

backend! { overlay = "src/watch/watched.toml" }

/// An observer of the calls of a [`Watched`] backend.
pub trait Watch: Send + Sync + 'static {
    /// Called at the beginning of each call. The returned value is dropped at the end of the call.
    ///
    /// # Errors
    /// An error rejects the call: the op does not run, and its caller gets the error.
    fn begin(&self, call: &Call<'_>) -> Result<Box<dyn Running>>;

    /// Returns whether each call waits for the device at its end. If so, the duration of a call includes the work on
    /// the device.
    fn waits(&self) -> bool {
        false
    }
}

/// The observer's value for a running call, which is dropped at the end of the call.
pub trait Running {
    /// Called for each result of the call.
    ///
    /// # Errors
    /// An error rejects the result, and the caller of the op gets the error.
    fn result(&mut self, x: &Seen<'_>) -> Result<()> {
        let _ = x;
        Ok(())
    }
}

/// A result of a call, as the observer sees it.
pub struct Seen<'a> {
    /// The array, of any backend and dtype.
    pub array: &'a dyn AnyTyped,
    outliers: &'a dyn Fn() -> Result<Option<Outliers>>,
}

/// The elements of a result that are NaN or infinite: their number, and the first of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outliers {
    /// Number of elements that are NaN or infinite.
    pub count: usize,
    /// The indices of the first of these elements in C order, one index per axis.
    pub first: Vec<usize>,
}

impl Seen<'_> {
    /// Finds the elements that are NaN or infinite. Copies the array to the host, and waits for the copy.
    ///
    /// # Errors
    /// The errors of the copy.
    pub fn outliers(&self) -> Result<Option<Outliers>> {
        (self.outliers)()
    }
}

/// A backend that wraps another backend and reports the calls to a [`Watch`]. Its arrays are the arrays of the inner
/// backend.
///
/// Both a composed op and its inner ops are reported. A formula is reported as one call with the text that the user
/// wrote ([`Call::formula`]). This call is named `expr!`, or after the reduction that encloses the formula. Each
/// gradient of a formula is also one call. Copies from the host are reported as `from_ndarray`, and copies to the host
/// as `to_ndarray`.
#[derive(Clone)]
pub struct Watched<B> {
    within: B,
    watch: Arc<dyn Watch>,
}

impl<B: Backend> Watched<B> {
    /// Wraps a backend and reports its calls to `watch`.
    pub fn new(within: B, watch: impl Watch) -> Watched<B> {
        Watched { within, watch: Arc::new(watch) }
    }

    /// The inner backend.
    pub fn within(&self) -> &B {
        &self.within
    }

    /// Reports to the observer that a call begins, and runs nothing. This function is for methods of backends that are
    /// not rows of the op table, such as `to_ndarray`. The call ends when the returned value is dropped.
    fn begins(&self, op: &'static str, dtype: DType, args: &[(&'static str, Arg<'_>)]) -> Result<RunningOn<B>> {
        self.begin(&Call { info: None, op, dtype, to: None, formula: None, is_composed: false, args })
    }
}

impl<B: Backend + Into<AnyBackend>> From<Watched<B>> for AnyBackend {
    fn from(watched: Watched<B>) -> AnyBackend {
        let Watched { within, watch } = watched;
        AnyBackend::Watched(Box::new(Watched { within: within.into(), watch }))
    }
}

impl<B: fmt::Debug> fmt::Debug for Watched<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watched").field(&self.within).finish()
    }
}

/// A running call of a watched backend.
pub struct RunningOn<B: Arrays> {
    /// The backend, if the call must wait for its device at the end.
    waits: Option<B>,
    running: Box<dyn Running>,
}

impl<B: Arrays> Drop for RunningOn<B> {
    fn drop(&mut self) {
        if let Some(backend) = &self.waits {
            // ignores an error of the device here, because the next op can return it
            let _ = backend.synchronize();
        }
    }
}

/// Finds the elements of an array that are NaN or infinite.
fn outliers<B: Arrays, T: Element>(b: &B, x: &B::Array<T>) -> Result<Option<Outliers>> {
    let is_real = matches!(T::DTYPE.kind(), DTypeKind::Real | DTypeKind::Complex);
    if !is_real {
        return Ok(None);
    }
    let host = b.to_ndarray(x)?;
    let host: &dyn Any = &host;
    dispatch!(T::DTYPE, U: [Float16, BFloat16, Float32, Float64, Complex64, Complex128] => {
        Ok(host.downcast_ref::<HostArray<U>>().and_then(outliers_of))
    })
}

fn outliers_of<T: Numeric>(x: &HostArray<T>) -> Option<Outliers> {
    let mut outliers = x.indexed_iter().filter(|(_, x)| !x.is_finite());
    let (first, _) = outliers.next()?;
    Some(Outliers { count: 1 + outliers.count(), first: first.slice().to_vec() })
}

impl<B: Backend> Wrap for Watched<B> {
    type Within = B;

    type Running = RunningOn<B>;

    fn within(&self) -> &B {
        &self.within
    }

    fn begin(&self, call: &Call<'_>) -> Result<RunningOn<B>> {
        let running = self.watch.begin(call)?;
        Ok(RunningOn { waits: self.watch.waits().then(|| self.within.clone()), running })
    }

    fn open<'a, T: Element>(&'a self, _op: &'static str, x: &'a B::Array<T>) -> Result<&'a B::Array<T>> {
        Ok(x)
    }

    fn close<T: Element>(&self, running: &mut RunningOn<B>, x: B::Array<T>) -> Result<B::Array<T>> {
        running.running.result(&Seen { array: &x, outliers: &|| outliers(&self.within, &x) })?;
        Ok(x)
    }

    fn change<T: Element>(
        &self,
        running: &mut RunningOn<B>,
        _op: &'static str,
        x: &mut B::Array<T>,
        f: impl FnOnce(&mut B::Array<T>) -> Result<()>,
    ) -> Result<()> {
        f(x)?;
        running.running.result(&Seen { array: &*x, outliers: &|| outliers(&self.within, x) })
    }
}

impl<B: Backend> Arrays for Watched<B> {
    type Array<T: Element> = B::Array<T>;

    const NAME: &'static str = B::NAME;

    fn in_complex<'a, T: Float, C: Element>(&self, x: Cow<'a, Self::Array<T>>) -> Result<Cow<'a, Self::Array<C>>> {
        crate::Casting::astype::<C, T>(self, x).map(Cow::Owned)
    }

    fn to_ndarray<T: Element>(&self, x: &B::Array<T>) -> Result<HostArray<T>> {
        let _running = self.begins("to_ndarray", T::DTYPE, &[("x", Arg::array(x))])?;
        self.within.to_ndarray(x)
    }

    fn from_ndarray<T: Element>(&self, x: HostArray<T>) -> Result<B::Array<T>> {
        let mut running = self.begins("from_ndarray", T::DTYPE, &[("x", Arg::Host(&x))])?;
        self.close(&mut running, self.within.from_ndarray(x)?)
    }

    fn to_dlpack_with<'a, T: Element>(
        &self,
        x: impl IntoArray<'a, B::Array<T>>,
        copy: CopyMode,
    ) -> Result<ManagedTensor> {
        let x = x.into_array();
        let _running = self.begins("to_dlpack", T::DTYPE, &[("x", Arg::array(&*x))])?;
        self.within.to_dlpack_with(x, copy)
    }

    fn from_dlpack_with<T: Element>(&self, tensor: ManagedTensor, copy: CopyMode) -> Result<B::Array<T>> {
        let mut running = self.begins("from_dlpack", T::DTYPE, &[])?;
        self.close(&mut running, self.within.from_dlpack_with(tensor, copy)?)
    }

    fn dlpack_device(&self) -> DLDevice {
        self.within.dlpack_device()
    }

    const HAS_ENTRIES: bool = B::HAS_ENTRIES;

    #[inline(always)]
    fn by_entries<R>(entries: impl FnOnce() -> R, typed: impl FnOnce() -> R) -> R {
        B::by_entries(entries, typed)
    }

    fn has_entry(&self, row: &'static Row) -> bool {
        self.within.has_entry(row)
    }

    fn run_row(&self, row: &'static Row, call: &mut entry::Call<'_, '_>) -> Result<Outputs> {
        if !self.within.has_entry(row) {
            return Err(Error::unsupported(call.op, Self::NAME));
        }
        let mut running = entry::described::<B, _>(row.info, call, |call| self.begin(call))?;
        let outputs = self.within.run_row(row, call)?;
        for x in outputs.values(call) {
            let x = to_array::<B>(call.op, x)?;
            dispatch!(x.dtype(), T => {
                let x = x.get::<T>().ok_or_else(|| Error::dtype(row.info.name, x.dtype()))?;
                running.running.result(&Seen { array: x, outliers: &|| outliers(&self.within, x) })
            })?;
        }
        Ok(outputs)
    }

    fn array_ref<T: Element>(x: &B::Array<T>) -> Option<ArrayRef<'_>> {
        B::array_ref(x)
    }

    fn array_mut<T: Element>(x: &mut B::Array<T>) -> Option<ArrayMut<'_>> {
        B::array_mut(x)
    }

    fn of_value<T: Element>(op: &'static str, x: ArrayValue) -> Result<B::Array<T>> {
        B::of_value(op, x)
    }

    const WATCHES: bool = true;

    fn begin_fused(&self, op: &'static str, dtype: DType, told: &dyn Told) -> Result<Option<Box<dyn Any>>> {
        let text = told.text();
        let args: Vec<_> = told.arrays().into_iter().map(|x| ("x", Arg::Array(x))).collect();
        let info = if op == formula::FORMULA { None } else { crate::OPS.iter().find(|info| info.name == op) };
        let formula = text.as_deref();
        let call = Call { info, op, dtype, to: None, formula, is_composed: false, args: &args };
        Ok(Some(Box::new(self.begin(&call)?)))
    }

    fn end_fused<T: Element>(&self, mut begun: Box<dyn Any>, x: &B::Array<T>) -> Result<()> {
        let running = begun.downcast_mut::<RunningOn<B>>();
        running.map_or(Ok(()), |running| {
            running.running.result(&Seen { array: x, outliers: &|| outliers(&self.within, x) })
        })
    }

    fn of_loop<T: Element>(&self, x: HostArray<T>) -> Result<B::Array<T>> {
        self.within.from_ndarray(x)
    }

    fn host_view<'a, T: Element>(&self, x: &'a B::Array<T>) -> Option<HostView<'a, T>> {
        self.within.host_view(x)
    }

    fn is_alone<T: Element>(&self, x: &mut B::Array<T>) -> bool {
        self.within.is_alone(x)
    }

    const FUSES: bool = B::FUSES;

    fn fused_input<'a, T: Element>(&self, x: &'a B::Array<T>) -> Option<&'a dyn Any> {
        self.within.fused_input(x)
    }

    fn fused<L: formula::Layout, E: formula::Node<L::Elements> + formula::Typed<Out = T>, T: Element>(
        &self,
        e: &E,
        scalars: L::Scalars,
        inputs: &[&dyn Any],
        over: Option<&dyn Any>,
    ) -> Option<Result<B::Array<T>>> {
        self.within.fused::<L, E, T>(e, scalars, inputs, over)
    }

    fn fused_each<F: EachSource>(
        &self,
        op: &F,
        of: DType,
        inputs: &[formula::Input<'_>],
        over: &dyn Any,
    ) -> Option<Result<()>> {
        self.within.fused_each(op, of, inputs, over)
    }

    fn fused_reduction<
        L: formula::Layout,
        E: formula::Node<L::Elements> + formula::Typed<Out = T>,
        T: Element,
        U: Element,
    >(
        &self,
        e: &E,
        scalars: L::Scalars,
        inputs: &[&dyn Any],
        reduction: &formula::Reduction,
    ) -> Option<Result<B::Array<U>>> {
        self.within.fused_reduction::<L, E, T, U>(e, scalars, inputs, reduction)
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

/// The arguments of a call as text, such as `(0.0, 1.0, 100)`. Options are written with their names, as in `axis=[0]`;
/// options that have their default values are omitted.
pub(crate) fn described(call: &Call<'_>) -> String {
    let params = call.info.map_or(&[][..], |info| info.params);
    let mut out = String::from("(");
    for (name, arg) in call.args {
        let param = params.iter().find(|param| param.name == *name);
        let text = match arg {
            Arg::Array(x) | Arg::Host(x) => format!("{x:?}"),
            Arg::Arrays(xs) => format!("{xs:?}"),
            Arg::Index(items) => items_text(items),
            Arg::Number(x) => crate::runtime::by_name::ToLiteral::text(x),
            Arg::Plain(x) => x.text(),
            Arg::Absent => continue,
        };
        let is_option = param.is_some_and(|param| param.default.is_some());
        if is_option && param.and_then(|param| param.default_text()).as_ref() == Some(&text) {
            continue;
        }
        if out.len() > 1 {
            out.push_str(", ");
        }
        if is_option {
            out.push_str(name);
            out.push('=');
        }
        out.push_str(&text);
    }
    out.push(')');
    out
}

fn items_text(items: &[IndexArg<'_>]) -> String {
    let item = |item: &IndexArg<'_>| match item {
        IndexArg::Array(x) => format!("{x:?}"),
        IndexArg::Plain(text) => text.clone(),
    };
    format!("[{}]", items.iter().map(item).collect::<Vec<_>>().join(", "))
}

/// The error for an op or formula whose result has NaN or infinite elements.
pub(crate) fn refused(op: &'static str, formula: Option<&str>, x: &dyn AnyTyped, found: &Outliers) -> Error {
    let Outliers { count, first } = found;
    let (are, s) = if *count == 1 { ("is", "") } else { ("are", "s") };
    let of = formula.map(|text| format!(" of `{text}`")).unwrap_or_default();
    let what = if of.is_empty() { "its" } else { "the" };
    let why = format!("{count} element{s} of {what} result {x:?}{of} {are} NaN or infinite, the first at {first:?}");
    Error::argument(op, why)
}
