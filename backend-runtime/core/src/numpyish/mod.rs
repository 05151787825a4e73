//! The CPU backend. Its arrays are ndarray's `ArcArray<T, IxDyn>`; this crate implements the loops over them itself.
//!
//! The ops that formulas use are here: an op with the mapping `call = "reduction::sum"` is the function `sum` of the
//! submodule `reduction`. All other ops are in the crate `backends-numpyish`.

pub mod arguments;
pub mod buffer;
pub mod casting;
pub mod convert;
pub mod copy;
pub mod elementwise;
pub mod entry;
pub mod formula;
pub mod kernel;
pub mod layout;
pub mod parallel;
pub mod raw;
pub mod reduction;
pub mod region;
pub mod repeats;
pub mod rolled;
#[cfg(target_arch = "x86_64")]
mod roots;
pub mod run;
pub mod signature;
pub mod simd;
pub mod source;
pub mod steps;
#[cfg_attr(not(all(target_arch = "x86_64", not(miri))), path = "stream_none.rs")]
pub mod stream;
pub mod team;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod triangles;
pub mod turns;
pub mod typed;
pub mod walk;

use crate::{
    Arrays, DeviceInfo, Element, Error, HostArray, Result,
    device::host,
    entry::{ArrayMut, ArrayRef, ArrayValue, Call, Library, Outputs, Row, run_steps},
    formula::{NAME as FORMULA, Numbers, Steps},
    random::Stream,
    rules,
};
use std::sync::LazyLock;

/// An array of [`Numpyish`]: a reference-counted ndarray of any rank.
pub type NdArray<T> = HostArray<T>;

/// An array or a scalar: the argument type of parameters that `ops.toml` declares as `operand`.
pub type Operand<'a, T> = crate::Operand<'a, Numpyish, T>;

crate::op_context!(Numpyish);

/// The CPU backend, whose arrays are ndarray arrays. Creating and cloning a backend costs nothing.
///
/// # Threads
/// Large loops run on the calling thread and on rayon's global pool (together as many threads as cores, or
/// `RAYON_NUM_THREADS`). If the calling thread belongs to another rayon pool, they run on that pool. Results do not
/// depend on the number of threads. All loops run on the calling thread if the system refuses to start threads, or if
/// the process was created by `fork` after this backend was used. Such a forked process also continues its parent's
/// random stream from the same position, so both processes draw the same numbers; [`Arrays::seed`] starts another
/// stream. The other backends return [`Error::Unavailable`] in a forked process.
#[derive(Clone, Debug, Default)]
pub struct Numpyish {
    /// The random stream of a seeded backend; `None` selects the stream that all unseeded backends of the process
    /// share.
    random: Option<Stream>,
}

/// The random stream shared by all backends that [`Numpyish::new`] creates.
static SHARED: LazyLock<Stream> = LazyLock::new(Stream::from_entropy);

impl Numpyish {
    /// Creates a CPU backend that draws from the random stream shared by the process.
    pub const fn new() -> Numpyish {
        Numpyish { random: None }
    }

    /// Creates a CPU backend with its own random stream, which starts from `seed`.
    pub fn seeded(seed: u64) -> Numpyish {
        Numpyish { random: Some(Stream::new(seed)) }
    }

    /// The random stream that this backend draws from.
    pub fn stream(&self) -> &Stream {
        self.random.as_ref().unwrap_or(&SHARED)
    }
}

/// Another name of [`Numpyish`].
pub type Cpu = Numpyish;

impl Arrays for Numpyish {
    type Array<T: Element> = NdArray<T>;

    const NAME: &'static str = "numpyish";

    const HAS_ENTRIES: bool = true;

    #[inline(always)]
    fn by_entries<R>(entries: impl FnOnce() -> R, _typed: impl FnOnce() -> R) -> R {
        entries()
    }

    fn has_entry(&self, row: &'static Row) -> bool {
        row.numpyish.is_some()
    }

    fn run_row(&self, row: &'static Row, call: &mut Call<'_, '_>) -> Result<Outputs> {
        match row.numpyish {
            Some(entry) => entry(self, call),
            None => Err(Error::unsupported(call.op, Self::NAME)),
        }
    }

    fn run_steps(&self, steps: &Steps, numbers: &Numbers, arrays: &[ArrayRef<'_>]) -> Result<ArrayValue> {
        let mut views = Vec::with_capacity(arrays.len());
        for x in arrays {
            views.push(<Numpyish as Library>::arg(FORMULA, *x)?);
        }
        match steps::evaluate(steps, numbers, &views) {
            Some(result) => result,
            None => run_steps(self, steps, numbers, arrays),
        }
    }

    fn array_ref<T: Element>(x: &NdArray<T>) -> Option<ArrayRef<'_>> {
        Some(ArrayRef::Numpyish(x))
    }

    fn array_mut<T: Element>(x: &mut NdArray<T>) -> Option<ArrayMut<'_>> {
        Some(ArrayMut::Numpyish(x))
    }

    fn of_value<T: Element>(op: &'static str, x: ArrayValue) -> Result<NdArray<T>> {
        match x {
            ArrayValue::Numpyish(x) => {
                let dtype = x.dtype();
                x.into_typed::<T>().ok_or_else(|| Error::dtype(op, dtype))
            }
            other => Err(Error::backend(op, Self::NAME, other.backend())),
        }
    }

    #[inline]
    fn to_ndarray<T: Element>(&self, x: &NdArray<T>) -> Result<NdArray<T>> {
        Ok(x.clone())
    }

    #[inline]
    fn from_ndarray<T: Element>(&self, x: NdArray<T>) -> Result<NdArray<T>> {
        rules::count("from_ndarray", x.shape(), size_of::<T>())?;
        Ok(x)
    }

    #[inline]
    fn host_view<'a, T: Element>(&self, x: &'a NdArray<T>) -> Option<raw::HostView<'a, T>> {
        Some(raw::HostView::of(x))
    }

    #[inline]
    fn reads_rolled(&self) -> bool {
        true
    }

    #[inline]
    fn is_alone<T: Element>(&self, x: &mut NdArray<T>) -> bool {
        T::numpyish_is_alone(x)
    }

    fn device(&self) -> String {
        host::DEVICE.into()
    }

    fn device_info(&self) -> Result<DeviceInfo> {
        let mut info = host::info(Self::NAME);
        let (library, version) = host::LIBRARY;
        (info.library, info.version) = (library.into(), Some(version.into()));
        Ok(info)
    }

    fn free_cache(&self) -> Result<()> {
        crate::caches::empty_all();
        crate::alloc::free_cache();
        host::give_back();
        Ok(())
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn seed(&self, seed: u64) {
        self.stream().reseed(seed);
    }

    fn seed_at(&self, seed: u64, block: u64) -> Result<()> {
        self.stream().reseed_at(seed, block);
        Ok(())
    }

    fn random_state(&self) -> Result<(u64, u64)> {
        Ok(self.stream().state())
    }
}
