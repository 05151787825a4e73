//! The backend whose library is chosen at run time.

use crate::{
    Arrays, DType, DeviceInfo, Element, Error, Float, HostArray, IntoArray, MemoryInfo, Numpyish, Result,
    intercept::Intercepted,
    runtime::{
        EachSource,
        dlpack::{CopyMode, DLDevice, ManagedTensor},
        entry::{self, AnyArray, AnyLibrary, ArrayMut, ArrayRef, ArrayValue, Outputs, Row},
        formula::{Input, Layout, Node, Numbers, Reduction, Steps, Told, Typed},
        link::{Link, Offer, Peers, Through},
        numpyish::{
            raw::{HostView, RawArray},
            typed::typed,
        },
    },
    watch::Watched,
};
use std::{any::Any, borrow::Cow};

/// A backend chosen at run time. It implements [`Backend`](crate::Backend) itself. Each call has an additional cost:
/// about 40 ns for an elementwise op on the CPU.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyBackend {
    /// The CPU, on ndarray.
    Numpyish(Numpyish),
    /// NVIDIA GPUs, through cudarc: generated kernels, cuBLAS and cuFFT.
    #[cfg(feature = "cuda")]
    Cuda(crate::Cuda),
    /// libtorch, loaded at run time.
    #[cfg(feature = "torch")]
    Torch(crate::Torch),
    /// A backend whose calls are watched.
    Watched(Box<Watched<AnyBackend>>),
    /// A backend whose ops pass through a function.
    Intercepted(Box<Intercepted>),
}

impl From<Numpyish> for AnyBackend {
    fn from(b: Numpyish) -> AnyBackend {
        AnyBackend::Numpyish(b)
    }
}

#[cfg(feature = "cuda")]
impl From<crate::Cuda> for AnyBackend {
    fn from(b: crate::Cuda) -> AnyBackend {
        AnyBackend::Cuda(b)
    }
}

#[cfg(feature = "torch")]
impl From<crate::Torch> for AnyBackend {
    fn from(b: crate::Torch) -> AnyBackend {
        AnyBackend::Torch(b)
    }
}

/// Matches on the backend. The first expression is for libraries: `$b` is the library's backend, and `$l` its type. The
/// second expression is for backends around another backend.
macro_rules! on {
    ($self:expr, |$b:ident, $l:ident| $library:expr, |$w:ident| $around:expr) => {
        match $self {
            AnyBackend::Numpyish($b) => {
                type $l = Numpyish;
                $library
            }
            #[cfg(feature = "cuda")]
            AnyBackend::Cuda($b) => {
                type $l = crate::Cuda;
                $library
            }
            #[cfg(feature = "torch")]
            AnyBackend::Torch($b) => {
                type $l = crate::Torch;
                $library
            }
            AnyBackend::Watched($w) => $around,
            AnyBackend::Intercepted($w) => $around,
        }
    };
    // one expression for all backends
    ($self:expr, |$b:ident| $all:expr) => {
        match $self {
            AnyBackend::Numpyish($b) => $all,
            #[cfg(feature = "cuda")]
            AnyBackend::Cuda($b) => $all,
            #[cfg(feature = "torch")]
            AnyBackend::Torch($b) => $all,
            AnyBackend::Watched($b) => $all,
            AnyBackend::Intercepted($b) => $all,
        }
    };
}

impl AnyBackend {
    /// Name of the backend, such as `"numpyish"`.
    pub fn name(&self) -> &'static str {
        on!(self, |_b, L| L::NAME, |b| b.within().name())
    }

    /// Returns whether the row has an entry for the library.
    pub(crate) fn library_has_entry(&self, row: &'static Row) -> bool {
        on!(self, |b, _L| b.has_entry(row), |b| b.within().library_has_entry(row))
    }
}

/// Converts the result of a library to an array.
fn wrapped<L: AnyLibrary, T: Element>(x: Result<L::Array<T>>) -> Result<AnyArray<T>> {
    x.map(AnyArray::of::<L>)
}

impl Arrays for AnyBackend {
    type Array<T: Element> = AnyArray<T>;

    const NAME: &'static str = "any";

    fn in_complex<'a, T: Float, C: Element>(&self, x: Cow<'a, Self::Array<T>>) -> Result<Cow<'a, Self::Array<C>>> {
        crate::Casting::astype::<C, T>(self, x).map(Cow::Owned)
    }

    fn to_ndarray<T: Element>(&self, x: &AnyArray<T>) -> Result<HostArray<T>> {
        if const { T::IS_DYNAMIC } {
            return entry::to_elements(self, "to_ndarray", x);
        }
        on!(self, |b, L| b.to_ndarray(x.get::<L>("to_ndarray")?), |b| b.to_ndarray(x))
    }

    fn from_ndarray<T: Element>(&self, x: HostArray<T>) -> Result<AnyArray<T>> {
        if const { T::IS_DYNAMIC } {
            return entry::of_elements(self, "from_ndarray", &x);
        }
        on!(self, |b, L| wrapped::<L, T>(b.from_ndarray(x)), |b| b.from_ndarray(x))
    }

    fn to_dlpack_with<'a, T: Element>(
        &self,
        x: impl IntoArray<'a, AnyArray<T>>,
        copy: CopyMode,
    ) -> Result<ManagedTensor> {
        let x = x.into_array();
        on!(self, |b, L| b.to_dlpack_with(AnyArray::given::<L>(x, "to_dlpack")?, copy), |b| b.to_dlpack_with(x, copy))
    }

    fn from_dlpack_with<T: Element>(&self, tensor: ManagedTensor, copy: CopyMode) -> Result<AnyArray<T>> {
        on!(self, |b, L| wrapped::<L, T>(b.from_dlpack_with(tensor, copy)), |b| b.from_dlpack_with(tensor, copy))
    }

    fn dlpack_device(&self) -> DLDevice {
        on!(self, |b| b.dlpack_device())
    }

    // an array of another backend has no view: the ops return an error for it
    fn host_view<'a, T: Element>(&self, x: &'a AnyArray<T>) -> Option<HostView<'a, T>> {
        if const { T::IS_DYNAMIC }
            && let AnyBackend::Numpyish(_) = self
        {
            return x.nd_view();
        }
        on!(self, |b, L| b.host_view(x.downcast_ref::<L>()?), |b| b.host_view(x))
    }

    // backends around another backend get the op `roll`
    fn reads_rolled(&self) -> bool {
        on!(self, |b| b.reads_rolled())
    }

    fn is_alone<T: Element>(&self, x: &mut AnyArray<T>) -> bool {
        on!(self, |b, L| x.get_mut::<L>("is_alone").is_ok_and(|x| b.is_alone(x)), |b| crate::runtime::Wrap::within(
            &**b
        )
        .is_alone(x))
    }

    const HAS_ENTRIES: bool = true;

    #[inline(always)]
    fn by_entries<R>(entries: impl FnOnce() -> R, _typed: impl FnOnce() -> R) -> R {
        entries()
    }

    #[inline(always)]
    fn by_generic_entries<R>(entries: impl FnOnce() -> R, _typed: impl FnOnce() -> R) -> R {
        entries()
    }

    const TAKES_ANY_DTYPE: bool = true;

    #[inline(always)]
    fn by_dtype<R>(_typed: impl FnOnce() -> R, dynamic: impl FnOnce() -> R) -> R {
        dynamic()
    }

    fn retyped<T: Element, U: Element>(x: AnyArray<T>) -> Option<AnyArray<U>> {
        AnyArray::of_value("retyped", x.into_value()).ok()
    }

    fn has_entry(&self, row: &'static Row) -> bool {
        row.generic.is_some() || self.library_has_entry(row)
    }

    fn run_row(&self, row: &'static Row, call: &mut entry::Call<'_, '_>) -> Result<Outputs> {
        match row.generic {
            // the ops that compose the row pass through the function of an intercepted backend; a watched backend
            // receives the row itself, to report it
            Some(generic) if !matches!(self, AnyBackend::Watched(_)) && !self.library_has_entry(row) => {
                generic(self, call).map_err(|why| why.within(call.op))
            }
            _ => on!(self, |b| b.run_row(row, call)),
        }
    }

    fn run_steps(&self, steps: &Steps, numbers: &Numbers, arrays: &[ArrayRef<'_>]) -> Result<ArrayValue> {
        match self {
            AnyBackend::Numpyish(b) => b.run_steps(steps, numbers, arrays),
            AnyBackend::Watched(b) => b.within().run_steps(steps, numbers, arrays),
            _ => entry::run_steps(self, steps, numbers, arrays),
        }
    }

    fn array_ref<T: Element>(x: &AnyArray<T>) -> Option<ArrayRef<'_>> {
        Some(x.value())
    }

    fn array_mut<T: Element>(x: &mut AnyArray<T>) -> Option<ArrayMut<'_>> {
        Some(x.value_mut())
    }

    fn of_value<T: Element>(op: &'static str, x: ArrayValue) -> Result<AnyArray<T>> {
        AnyArray::of_value(op, x)
    }

    const FUSES: bool = cfg!(any(feature = "cuda", feature = "torch"));

    fn fused_input<'a, T: Element>(&self, x: &'a AnyArray<T>) -> Option<&'a dyn Any> {
        on!(self, |b, L| b.fused_input(x.downcast_ref::<L>()?), |b| b.fused_input(x))
    }

    fn fused<L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Element>(
        &self,
        e: &E,
        scalars: L::Scalars,
        inputs: &[&dyn Any],
        over: Option<&dyn Any>,
    ) -> Option<Result<AnyArray<T>>> {
        match self {
            #[cfg(feature = "cuda")]
            AnyBackend::Cuda(b) => Some(wrapped::<crate::Cuda, T>(b.fused::<L, E, T>(e, scalars, inputs, over)?)),
            AnyBackend::Watched(b) => b.fused::<L, E, T>(e, scalars, inputs, over),
            // the ops of a formula pass through the function one by one
            _ => None,
        }
    }

    fn fused_each<F: EachSource>(&self, op: &F, of: DType, inputs: &[Input<'_>], over: &dyn Any) -> Option<Result<()>> {
        match self {
            #[cfg(feature = "cuda")]
            AnyBackend::Cuda(b) => b.fused_each(op, of, inputs, over),
            AnyBackend::Watched(b) => b.fused_each(op, of, inputs, over),
            _ => None,
        }
    }

    fn fused_reduction<L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Element, U: Element>(
        &self,
        e: &E,
        scalars: L::Scalars,
        inputs: &[&dyn Any],
        reduction: &Reduction,
    ) -> Option<Result<AnyArray<U>>> {
        match self {
            #[cfg(feature = "cuda")]
            AnyBackend::Cuda(b) => {
                Some(wrapped::<crate::Cuda, U>(b.fused_reduction::<L, E, T, U>(e, scalars, inputs, reduction)?))
            }
            AnyBackend::Watched(b) => b.fused_reduction::<L, E, T, U>(e, scalars, inputs, reduction),
            _ => None,
        }
    }

    const WATCHES: bool = true;

    fn begin_fused(&self, op: &'static str, dtype: DType, told: &dyn Told) -> Result<Option<Box<dyn Any>>> {
        if let AnyBackend::Watched(b) = self { b.begin_fused(op, dtype, told) } else { Ok(None) }
    }

    fn end_fused<T: Element>(&self, begun: Box<dyn Any>, x: &AnyArray<T>) -> Result<()> {
        if let AnyBackend::Watched(b) = self { b.end_fused(begun, x) } else { Ok(()) }
    }

    fn of_loop<T: Element>(&self, x: HostArray<T>) -> Result<AnyArray<T>> {
        if let AnyBackend::Watched(b) = self { b.of_loop(x) } else { self.from_ndarray(x) }
    }

    fn of_raw<T: Element>(&self, x: RawArray) -> Result<AnyArray<T>> {
        if const { T::IS_DYNAMIC } {
            return entry::of_raw(self, x);
        }
        self.of_loop(typed(Ok(x))?)
    }

    // a watched backend offers no link between GPUs: its arrays are sent through the host, by calls that the watcher
    // sees
    fn offer(&self) -> std::result::Result<Offer, String> {
        on!(self, |b, _L| b.offer(), |_b| Err("arrays of a backend that is watched go through the host".into()))
    }

    fn link(&self, peers: &dyn Peers) -> Result<Option<Link>> {
        on!(self, |b, _L| b.link(peers), |_b| Ok(None))
    }

    fn exchange_linked<T: Element>(
        &self,
        op: &'static str,
        link: &Link,
        send: &[Vec<AnyArray<T>>],
        from: &[usize],
    ) -> Result<AnyArray<T>> {
        on!(
            self,
            |b, L| {
                let send = send.iter().map(|arrays| own::<L, T>(op, arrays)).collect::<Result<Vec<_>>>()?;
                wrapped::<L, T>(b.exchange_linked(op, link, &send, from))
            },
            |_b| Err(Error::unsupported(op, Self::NAME))
        )
    }

    fn gather_linked<T: Element>(
        &self,
        op: &'static str,
        link: &Link,
        part: &AnyArray<T>,
        counts: &[usize],
    ) -> Result<AnyArray<T>> {
        on!(self, |b, L| wrapped::<L, T>(b.gather_linked(op, link, part.get::<L>(op)?, counts)), |_b| Err(
            Error::unsupported(op, Self::NAME)
        ))
    }

    fn staged<T: Element>(
        &self,
        op: &'static str,
        send: &[AnyArray<T>],
        total: usize,
        through: &mut Through<'_>,
    ) -> Option<Result<AnyArray<T>>> {
        on!(
            self,
            // `None` for an array of another backend; the usual exchange of arrays then reports the error
            |b, L| Some(wrapped::<L, T>(b.staged(op, &own::<L, T>(op, send).ok()?, total, through)?)),
            |_b| None
        )
    }

    fn device(&self) -> String {
        on!(self, |b| b.device())
    }

    fn device_info(&self) -> Result<DeviceInfo> {
        on!(self, |b| b.device_info())
    }

    fn memory(&self) -> Result<MemoryInfo> {
        on!(self, |b| b.memory())
    }

    fn reset_peak_memory(&self) -> Result<()> {
        on!(self, |b| b.reset_peak_memory())
    }

    fn free_cache(&self) -> Result<()> {
        on!(self, |b| b.free_cache())
    }

    fn synchronize(&self) -> Result<()> {
        on!(self, |b| b.synchronize())
    }

    fn seed(&self, seed: u64) {
        on!(self, |b| b.seed(seed));
    }

    fn seed_at(&self, seed: u64, block: u64) -> Result<()> {
        on!(self, |b| b.seed_at(seed, block))
    }

    fn random_state(&self) -> Result<(u64, u64)> {
        on!(self, |b| b.random_state())
    }
}

/// Returns the arrays as arrays of the library `L`.
fn own<L: AnyLibrary, T: Element>(op: &'static str, arrays: &[AnyArray<T>]) -> Result<Vec<L::Array<T>>> {
    arrays.iter().map(|x| x.get::<L>(op).cloned()).collect()
}
