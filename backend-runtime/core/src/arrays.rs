//! The trait `Arrays`, which the trait of every group of ops extends: the array type of a backend, its device, and
//! the transfer of arrays to and from other memory.

use crate::{
    ArrayAttributes, DType, DeviceInfo, EachSource, Element, Error, Float, HostArray, IntoArray, MemoryInfo, Result,
    bytes, device,
    dlpack::{self, CopyMode, DLDevice, ManagedTensor},
    entry::{self, ArrayMut, ArrayRef, ArrayValue, Outputs, Row},
    formula::{self, Input, Layout, Leaves, Node, Reduction, Run, Told, Typed},
    host,
    link::{Link, Offer, Peers, Through},
    numpyish::{
        raw::{HostView, RawArray},
        typed::typed,
    },
};
use std::{any::Any, borrow::Cow, fmt::Debug};

/// The arrays of a backend; the supertrait of the traits that declare ops.
///
/// A backend is a value that holds a device, a stream and a random state. It is cheap to clone; clones share all three.
pub trait Arrays: Clone + Send + Sync + 'static {
    /// An array of elements of type `T`, which is cheap to clone and can be shared between threads.
    type Array<T: Element>: ArrayAttributes<DType = T> + Clone + Debug + Send + Sync + 'static;

    /// Name of the backend: `"numpyish"`, `"cuda"`, `"torch"`.
    const NAME: &'static str;

    /// Returns the lengths of the axes: `x.shape()`.
    #[inline]
    fn shape<'a, T: Element>(&self, x: &'a Self::Array<T>) -> &'a [usize] {
        x.shape()
    }

    /// Returns the number of axes: `x.ndim()`.
    #[inline]
    fn ndim<T: Element>(&self, x: &Self::Array<T>) -> usize {
        x.ndim()
    }

    /// Returns the number of elements: `x.len()`.
    #[inline]
    fn size<T: Element>(&self, x: &Self::Array<T>) -> usize {
        x.len()
    }

    /// Converts the array to ndarray's type. Makes no copy if the array is in host memory.
    fn to_ndarray<T: Element>(&self, x: &Self::Array<T>) -> Result<HostArray<T>>;

    /// Makes an array of this backend with the elements of `x`. Makes no copy if the backend's arrays are in host
    /// memory.
    #[allow(clippy::wrong_self_convention)] // the backend makes the array, because it holds the device
    fn from_ndarray<T: Element>(&self, x: HostArray<T>) -> Result<Self::Array<T>>;

    /// Returns the value of an array with one element, like Python's `x.item()`. Waits for the result.
    ///
    /// # Errors
    /// [`Error::Shape`] if the array does not have exactly one element.
    fn item<'a, T: Element>(&self, x: impl IntoArray<'a, Self::Array<T>>) -> Result<T> {
        const OP: &str = "item";
        let x = x.into_array();
        if x.len() != 1 {
            return Err(Error::shape(OP, x.shape(), "must have exactly one element"));
        }
        let host = self.to_ndarray(&x).map_err(|why| why.within(OP))?;
        host.first().copied().ok_or_else(|| Error::shape(OP, x.shape(), "must have exactly one element"))
    }

    /// Returns the elements as a vector, in C order: the last index changes fastest. Makes no copy if the array is
    /// passed by value, is in host memory and has no other handle.
    fn to_vec<'a, T: Element>(&self, x: impl IntoArray<'a, Self::Array<T>>) -> Result<Vec<T>> {
        const OP: &str = "to_vec";
        let x = x.into_array();
        let host = self.to_ndarray(&x).map_err(|why| why.within(OP))?;
        drop(x);
        host::into_vec(OP, host)
    }

    /// Returns the bytes of the elements in C order, like Python's `x.tobytes()`. Elements with equal bits give equal
    /// bytes, so the result can be a hash key. `b.frombuffer` reads the bytes back.
    ///
    /// The bytes are in the machine's order, which is little endian on x86-64 and on Arm.
    fn to_bytes<'a, T: Element>(&self, x: impl IntoArray<'a, Self::Array<T>>) -> Result<Vec<u8>> {
        const OP: &str = "to_bytes";
        let host = self.to_ndarray(&x.into_array()).map_err(|why| why.within(OP))?;
        bytes::of_array(OP, &host)
    }

    /// Makes a 1-dimensional array from an iterator's items, like `np.fromiter`; use `b.reshape` for other shapes.
    #[allow(clippy::wrong_self_convention)] // the backend makes the array, because it holds the device
    fn from_iter<T: Element>(&self, elements: impl IntoIterator<Item = T>) -> Result<Self::Array<T>> {
        const OP: &str = "from_iter";
        self.from_ndarray(host::collected(OP, elements.into_iter())?).map_err(|why| why.within(OP))
    }

    /// Moves `x` to the backend and device of `other`. The new array shares the memory of `x` if both backends are on
    /// one device; otherwise the elements are copied through host memory.
    ///
    /// Memory that two backends share has two handles, so neither backend writes to it; it is freed with the last
    /// handle. Some arrays are copied even on one device: small arrays; arrays with negative strides, if they become
    /// libtorch tensors; and tensors whose elements share memory (after a broadcast), if they become ndarrays.
    ///
    /// Ops never convert implicitly: arrays of two backends in one call are an error.
    fn to_backend<T: Element, B: Arrays>(&self, x: &Self::Array<T>, other: &B) -> Result<B::Array<T>> {
        let device = self.dlpack_device();
        if device == other.dlpack_device() && !device.is_host() {
            let tensor = self.to_dlpack_with(x, CopyMode::Never).map_err(|why| why.within("to_backend"))?;
            return other.from_dlpack(tensor).map_err(|why| why.within("to_backend"));
        }
        other.from_ndarray(self.to_ndarray(x)?)
    }

    /// Exports the array as a DLPack tensor, for other libraries and languages such as NumPy, CuPy and PyTorch. The
    /// tensor shares the array's memory.
    ///
    /// The tensor is [read-only](ManagedTensor::is_read_only) if the array is passed by reference or has other handles,
    /// because other handles show the same elements. If an array without other handles is passed by value, the tensor
    /// takes over its memory, and the consumer may write to it. An array with negative strides is copied, because not
    /// every library supports negative strides; [`CopyMode::Never`] exports it without a copy, for libraries that
    /// support them. On a GPU the elements have been computed when this method returns. The module `dlpack` of the
    /// facade has the guide.
    fn to_dlpack<'a, T: Element>(&self, x: impl IntoArray<'a, Self::Array<T>>) -> Result<ManagedTensor> {
        self.to_dlpack_with(x, CopyMode::IfNeeded)
    }

    /// Exports the array like `to_dlpack`; `copy` determines if the tensor shares the array's memory or is a separate
    /// copy.
    ///
    /// # Errors
    /// [`Error::Memory`]. A GPU finishes its earlier ops first, and their errors are returned too.
    fn to_dlpack_with<'a, T: Element>(
        &self,
        x: impl IntoArray<'a, Self::Array<T>>,
        copy: CopyMode,
    ) -> Result<ManagedTensor> {
        let x = x.into_array();
        let host = self.to_ndarray(&x).map_err(|why| why.within("to_dlpack"))?;
        drop(x);
        dlpack::export(host, copy)
    }

    /// Makes an array over the memory of a DLPack tensor from another library or language. If the memory cannot be
    /// shared, the elements are copied.
    ///
    /// Nobody may write to the shared memory: [`ManagedTensor::from_raw`] requires this of the producer, and arrays of
    /// this crate never write to it. The tensor is freed after the last array that shares its memory.
    ///
    /// # Errors
    /// [`Error::Argument`] if the tensor has another dtype, or has bools that are neither 0 nor 1; [`Error::Device`] if
    /// its memory is not on the backend's device. The tensor is freed on errors too.
    #[allow(clippy::wrong_self_convention)] // the backend makes the array, because it holds the device
    fn from_dlpack<T: Element>(&self, tensor: ManagedTensor) -> Result<Self::Array<T>> {
        self.from_dlpack_with(tensor, CopyMode::IfNeeded)
    }

    /// Imports a tensor like `from_dlpack`; `copy` determines if the memory may, must or must not be shared.
    ///
    /// # Errors
    /// The errors of `from_dlpack`, and [`Error::Argument`] if the memory must be shared but cannot be.
    #[allow(clippy::wrong_self_convention)] // the backend makes the array, because it holds the device
    fn from_dlpack_with<T: Element>(&self, tensor: ManagedTensor, copy: CopyMode) -> Result<Self::Array<T>> {
        self.from_ndarray(dlpack::import(tensor, copy)?).map_err(|why| why.within("from_dlpack"))
    }

    /// Returns the device of the backend's DLPack tensors, which Python's `__dlpack_device__` returns. The default is
    /// the host, for backends that convert through ndarrays.
    fn dlpack_device(&self) -> DLDevice {
        DLDevice::CPU
    }

    /// Borrows the backend from a value or a reference, because the macro `expr!` accepts both.
    #[doc(hidden)]
    #[inline(always)]
    fn as_backend(&self) -> &Self {
        self
    }

    /// Borrows the memory of an array if it is host memory, so that formulas can run over it in one pass, with the
    /// loops of [`Numpyish`](crate::numpyish::Numpyish). Otherwise returns `None`. The memory neither changes nor is
    /// freed during the borrow.
    #[doc(hidden)]
    #[inline]
    fn host_view<'a, T: Element>(&self, _: &'a Self::Array<T>) -> Option<HostView<'a, T>> {
        None
    }

    /// Returns whether a formula may read an array of this backend at shifted indices in place of a rolled copy, if
    /// [`Arrays::host_view`] returns a view of the array.
    #[doc(hidden)]
    #[inline]
    fn reads_rolled(&self) -> bool {
        false
    }

    /// True if the backend runs ops by their [entries](crate::entry).
    #[doc(hidden)]
    const HAS_ENTRIES: bool = false;

    /// Runs `entries` if [`Arrays::HAS_ENTRIES`] is true, and otherwise `typed`. The compiler does not look at the other
    /// function, as with [`Arrays::by_dtype`].
    #[doc(hidden)]
    #[inline(always)]
    fn by_entries<R>(_entries: impl FnOnce() -> R, typed: impl FnOnce() -> R) -> R {
        typed()
    }

    /// Runs `entries` if the backend also runs rows that are computed by other ops, by their generic entries, and
    /// otherwise `typed`. The compiler does not look at the other function.
    #[doc(hidden)]
    #[inline(always)]
    fn by_generic_entries<R>(_entries: impl FnOnce() -> R, typed: impl FnOnce() -> R) -> R {
        typed()
    }

    /// True if the methods of the ops take the element types of [`dynamic`](crate::dynamic). Calls by name are then
    /// compiled once for each kind of dtypes, and not for each dtype.
    #[doc(hidden)]
    const TAKES_ANY_DTYPE: bool = false;

    /// Runs `dynamic` if [`Arrays::TAKES_ANY_DTYPE`] is true, and otherwise `typed`. The compiler does not look at the
    /// other function. A condition would not achieve this, because the compiler looks for errors in constants also in
    /// code that never runs, and in all functions that this code calls.
    #[doc(hidden)]
    #[inline(always)]
    fn by_dtype<R>(typed: impl FnOnce() -> R, _dynamic: impl FnOnce() -> R) -> R {
        typed()
    }

    /// Returns the array with the element type `U` instead of `T`; `None` if `T` and `U` do not stand for the same
    /// dtype.
    #[doc(hidden)]
    fn retyped<T: Element, U: Element>(x: Self::Array<T>) -> Option<Self::Array<U>> {
        (&mut Some(x) as &mut dyn Any).downcast_mut::<Option<Self::Array<U>>>()?.take()
    }

    /// Returns whether the row has an entry for the library of the backend.
    #[doc(hidden)]
    fn has_entry(&self, row: &'static Row) -> bool {
        row.library(Self::NAME).is_some()
    }

    /// Runs the entry of a row. Returns an error if the row has no entry for the library of the backend.
    #[doc(hidden)]
    fn run_row(&self, row: &'static Row, call: &mut entry::Call<'_, '_>) -> Result<Outputs> {
        match row.library(Self::NAME) {
            Some(entry) => entry(self, call),
            None => Err(Error::unsupported(call.op, Self::NAME)),
        }
    }

    /// Computes a formula whose dtypes are known only at run time.
    #[doc(hidden)]
    fn run_steps(
        &self,
        _steps: &formula::Steps,
        _numbers: &formula::Numbers,
        _arrays: &[ArrayRef<'_>],
    ) -> Result<ArrayValue> {
        Err(Error::unsupported(formula::NAME, Self::NAME))
    }

    /// Returns an array as an argument of an entry; `None` if the backend has no entries.
    #[doc(hidden)]
    fn array_ref<T: Element>(_x: &Self::Array<T>) -> Option<ArrayRef<'_>> {
        None
    }

    /// Returns an array as an argument that an entry may change; `None` if the backend has no entries.
    #[doc(hidden)]
    fn array_mut<T: Element>(_x: &mut Self::Array<T>) -> Option<ArrayMut<'_>> {
        None
    }

    /// Converts the result of an entry to an array of this backend. Returns an error if it has another dtype.
    #[doc(hidden)]
    fn of_value<T: Element>(op: &'static str, _x: ArrayValue) -> Result<Self::Array<T>> {
        Err(Error::unsupported(op, Self::NAME))
    }

    /// True if the backend implements [`Arrays::fused`] and [`Arrays::fused_reduction`].
    #[doc(hidden)]
    const FUSES: bool = false;

    /// Returns an array of this backend in the form that [`Arrays::fused`] takes as an input; `None` if this is
    /// impossible.
    #[doc(hidden)]
    #[inline]
    fn fused_input<'a, T: Element>(&self, _: &'a Self::Array<T>) -> Option<&'a dyn Any> {
        None
    }

    /// Runs a formula in one kernel of the backend. If `over` is an array, the result overwrites it, and the returned
    /// array is another handle of it; `over` may be one of the inputs. Returns `None` if the formula must run op by op,
    /// or if `over` cannot be overwritten or is not [alone].
    ///
    /// [alone]: Arrays::is_alone
    #[doc(hidden)]
    #[inline]
    fn fused<L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Element>(
        &self,
        _e: &E,
        _scalars: L::Scalars,
        _inputs: &[&dyn Any],
        _over: Option<&dyn Any>,
    ) -> Option<Result<Self::Array<T>>> {
        None
    }

    /// Evaluates the expression of an op, and writes the result over an array that [is alone] and has the result's
    /// shape. The array is passed in the form that [`Arrays::fused_input`] returns. Returns `None` if overwriting is
    /// impossible. `of` is the dtype in which the op is evaluated.
    ///
    /// [is alone]: Arrays::is_alone
    #[doc(hidden)]
    #[inline]
    fn fused_each<F: EachSource>(
        &self,
        _op: &F,
        _of: DType,
        _inputs: &[Input<'_>],
        _over: &dyn Any,
    ) -> Option<Result<()>> {
        None
    }

    /// Reduces a formula over all its arrays in kernels of the backend, without storing the formula's values; `None` if
    /// this is impossible.
    #[doc(hidden)]
    #[inline]
    fn fused_reduction<L: Layout, E: Node<L::Elements> + Typed<Out = T>, T: Element, U: Element>(
        &self,
        _e: &E,
        _scalars: L::Scalars,
        _inputs: &[&dyn Any],
        _reduction: &Reduction,
    ) -> Option<Result<Self::Array<U>>> {
        None
    }

    /// True if the backend may implement [`Arrays::begin_fused`], so that code must report fused ops to it.
    #[doc(hidden)]
    const WATCHES: bool = false;

    /// Reports to a backend that watches calls that several fused ops begin. Other backends return `None`.
    #[doc(hidden)]
    #[inline]
    fn begin_fused(&self, _op: &'static str, _dtype: DType, _told: &dyn Told) -> Result<Option<Box<dyn Any>>> {
        Ok(None)
    }

    /// Reports to a backend that watches calls that `x` is the result of the ops that [`Arrays::begin_fused`] reported.
    #[doc(hidden)]
    #[inline]
    fn end_fused<T: Element>(&self, _begun: Box<dyn Any>, _x: &Self::Array<T>) -> Result<()> {
        Ok(())
    }

    /// Converts the result of a loop over host memory, like [`Arrays::from_ndarray`]. Backends that watch calls do not
    /// count this conversion as a call of the user.
    #[doc(hidden)]
    #[inline]
    fn of_loop<T: Element>(&self, x: HostArray<T>) -> Result<Self::Array<T>> {
        self.from_ndarray(x)
    }

    /// Converts the result of a loop over host memory, like [`Arrays::of_loop`].
    #[doc(hidden)]
    #[inline]
    fn of_raw<T: Element>(&self, x: RawArray) -> Result<Self::Array<T>> {
        self.of_loop(typed(Ok(x))?)
    }

    /// Converts a real array to the complex dtype `C`, whose real dtype is `T`; the imaginary parts are 0. A complex
    /// array stays as it is.
    #[doc(hidden)]
    fn in_complex<'a, T: Float, C: Element>(&self, x: Cow<'a, Self::Array<T>>) -> Result<Cow<'a, Self::Array<C>>> {
        formula::in_complex(self, x)
    }

    /// Runs a formula of the macro `expr!`: in one pass over host memory, in a kernel of the backend, or otherwise op
    /// by op.
    #[doc(hidden)]
    #[inline]
    fn formula<'a, L: Leaves<'a, Self>, E, T: Element>(&self, e: &E, leaves: &L) -> Result<Self::Array<T>>
    where
        E: Run<'a, Self, L> + Typed<Out = T>,
    {
        let begun = formula::begin_on(self, T::dtype(), e, leaves)?;
        formula::run(self, e, leaves).and_then(|result| formula::ended(self, begun, result))
    }

    /// Returns whether the array is the only handle of its memory, so that a result may overwrite this memory.
    /// Returns false for arrays of at most a few pages, because new memory costs no more than reuse.
    #[doc(hidden)]
    #[inline]
    fn is_alone<T: Element>(&self, _: &mut Self::Array<T>) -> bool {
        false
    }

    /// Runs a formula like [`Arrays::formula`], but may write the result over `target` and then returns `None`.
    ///
    /// # Safety
    /// [`Arrays::is_alone`] returned true for `target`, and no other handle of its memory has been made since then.
    /// Leaves that are references to `target` itself are allowed.
    #[doc(hidden)]
    #[inline]
    unsafe fn formula_over<'a, L: Leaves<'a, Self>, E, T: Element>(
        &self,
        e: &E,
        leaves: &L,
        target: &Self::Array<T>,
    ) -> Result<Option<Self::Array<T>>>
    where
        E: Run<'a, Self, L> + Typed<Out = T>,
    {
        // SAFETY: the caller guarantees the same conditions for `target`.
        unsafe { formula::run_over(self, e, leaves, target) }
    }

    /// Describes this rank's capability for a link between ranks, which transfers chunks of arrays directly from device
    /// to device. The error explains why the chunks must be transferred through the host instead.
    #[doc(hidden)]
    fn offer(&self) -> std::result::Result<Offer, String> {
        Err(format!("arrays of {} go through the host", Self::NAME))
    }

    /// Opens a link with the backends of the other ranks. The [offers](Arrays::offer) of all ranks must be
    /// compatible. All ranks must call this method.
    #[doc(hidden)]
    fn link(&self, _peers: &dyn Peers) -> Result<Option<Link>> {
        Ok(None)
    }

    /// Sends the arrays `send[r]` to rank r, one after the other, each in C order, and receives `from[r]` elements
    /// from rank r. The result holds the received elements in rank order. All ranks of the link must call this
    /// method.
    #[doc(hidden)]
    fn exchange_linked<T: Element>(
        &self,
        op: &'static str,
        _link: &Link,
        _send: &[Vec<Self::Array<T>>],
        _from: &[usize],
    ) -> Result<Self::Array<T>> {
        Err(Error::unsupported(op, Self::NAME))
    }

    /// Concatenates the elements of every rank's `part` in rank order, each part in C order. Rank r contributes
    /// `counts[r]` elements. All ranks of the link must call this method.
    #[doc(hidden)]
    fn gather_linked<T: Element>(
        &self,
        op: &'static str,
        _link: &Link,
        _part: &Self::Array<T>,
        _counts: &[usize],
    ) -> Result<Self::Array<T>> {
        Err(Error::unsupported(op, Self::NAME))
    }

    /// Sends the concatenated elements of the arrays `send` by calling `through`, and returns an array of the `total`
    /// elements that `through` receives from other ranks. `through` gets two slices of host memory: the bytes to send,
    /// and the memory for the received bytes. The device copies from and to this memory at full speed. Returns `None`
    /// if the backend has no such memory; then `through` was not called.
    #[doc(hidden)]
    fn staged<T: Element>(
        &self,
        _op: &'static str,
        _send: &[Self::Array<T>],
        _total: usize,
        _through: &mut Through<'_>,
    ) -> Option<Result<Self::Array<T>>> {
        None
    }

    /// Returns the device's name in its library: `"cpu"`, `"cuda:0"`.
    fn device(&self) -> String;

    /// Describes the device: hardware, memory, processors, and the library that runs on it.
    ///
    /// By default, a backend whose device is `"cpu"` is described as the host's processor.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the backend has no description; [`Error::Unavailable`] if the driver gives none.
    fn device_info(&self) -> Result<DeviceInfo> {
        device::expect_host("device_info", Self::NAME, &self.device())?;
        Ok(device::host::info(Self::NAME))
    }

    /// Returns the current memory use of the device in bytes: in use, peak, kept for reuse, available and total.
    /// `MemoryInfo` defines each figure. This call does not wait; other threads and processes may change the figures at
    /// any time.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if the system does not report the figures, [`Error::Unsupported`] if the library does
    /// not.
    fn memory(&self) -> Result<MemoryInfo> {
        device::expect_host("memory", Self::NAME, &self.device())?;
        device::host::memory(Self::NAME)
    }

    /// Resets `MemoryInfo::peak` to the memory in use now, also for all other readers of this figure. On the CPU, the
    /// figure covers the whole process, including memory outside of the backends; on a GPU, it covers this backend.
    ///
    /// # Errors
    /// The errors of [`Arrays::memory`]. On the CPU the system may also refuse the reset: [`Error::Unavailable`].
    fn reset_peak_memory(&self) -> Result<()> {
        device::expect_host("reset_peak_memory", Self::NAME, &self.device())?;
        device::host::reset_peak(Self::NAME)
    }

    /// Frees the caches that make later calls faster: freed memory, plans of Fourier transforms, loaded kernels,
    /// libraries' work areas. Arrays stay valid, including the arrays of ops that run in other threads at the same
    /// time. Caches are rebuilt on demand.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the library cannot free its caches, [`Error::Library`] if it fails.
    fn free_cache(&self) -> Result<()> {
        device::expect_host("free_cache", Self::NAME, &self.device())
    }

    /// Waits until all ops called so far have run. Results are correct without this call; only timing needs it.
    fn synchronize(&self) -> Result<()>;

    /// Restarts the backend's random numbers from `seed`: the same seed gives the same numbers on every backend.
    fn seed(&self, seed: u64);

    /// Seeds the backend like [`Arrays::seed`], but starts the stream at block number `block`, as if ops had already
    /// taken `block` blocks.
    ///
    /// Every random op takes a whole number of blocks. One block gives two `float64` numbers or four of the shorter
    /// floats, where a complex number counts as two; two integers; or one number of a distribution with a varying
    /// number of draws, such as `random_gamma`. A slice of an array that begins at a block therefore gets the same
    /// numbers if the slice is generated alone, starting at that block. After block `u64::MAX` comes block 0.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the backend does not make random numbers by blocks; the default body returns this
    /// error.
    fn seed_at(&self, seed: u64, block: u64) -> Result<()> {
        let _ = (seed, block);
        Err(Error::unsupported("seed_at", Self::NAME))
    }

    /// Returns the position of the backend's random stream: a seed and a block, the arguments of [`Arrays::seed_at`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the backend does not report its position.
    fn random_state(&self) -> Result<(u64, u64)> {
        Err(Error::unsupported("random_state", Self::NAME))
    }

    /// Returns the solution `x` of `residual(x) = 0`, which `solve` computes iteratively or with another library.
    ///
    /// On array backends this only runs `solve`. Gradients do not pass through `solve`. With the Jacobian `J` of the
    /// residual and the gradient `g` of the solution, the gradient of the residual is `-z` with `J^T z = g` (the
    /// implicit function theorem); from there it flows to everything that the residual depends on. Differentiating a
    /// system of equations therefore takes one more system of the same size, independent of the number of steps in
    /// `solve`.
    ///
    /// - `solve` and `residual` must use the backend passed to them, not a backend that they hold: `solve` gets a
    ///   backend that records nothing.
    /// - `adjoint(b, transposed, g)` returns the `z` with `transposed(z) = g`. Nothing is conjugated. Forward mode
    ///   passes `J` instead of `J^T`; there, an `adjoint` that ignores `transposed` and solves with its own matrix is
    ///   an error.
    ///
    /// # Errors
    /// Errors of the functions; in the backward pass [`Error::Shape`] if `z` does not have the shape of the residual.
    fn implicit<T: Float>(
        &self,
        op: &'static str,
        solve: impl Fn(&Self) -> Result<Self::Array<T>>,
        residual: impl Fn(&Self, &Self::Array<T>) -> Result<Self::Array<T>>,
        adjoint: impl Fn(&Self, &LinearMap<'_, Self, T>, &Self::Array<T>) -> Result<Self::Array<T>> + Send + Sync + 'static,
    ) -> Result<Self::Array<T>> {
        let _ = (op, residual, adjoint);
        solve(self)
    }

    /// Runs `forward` on arrays, with a custom gradient. Use this method for a better gradient than the gradient of the
    /// ops in `forward`, or if these ops have no gradient.
    ///
    /// On array backends this only runs `forward`. A tape records nothing inside `forward`. Instead, `pull(b, x, y, g)`
    /// returns the gradients of the inputs `x`, in order, given the gradient `g` of the result `y`. Nothing is
    /// conjugated. In forward mode the method returns an error, because `pull` computes only the derivative for the
    /// backward direction.
    ///
    /// Both functions must use the backend passed to them, not a backend that they hold.
    ///
    /// # Errors
    /// Errors of the functions; in the backward pass [`Error::Argument`] if `pull` does not return one gradient per
    /// input, [`Error::Shape`] if a gradient does not have the shape of its input.
    fn custom<T: Float, U: Float>(
        &self,
        op: &'static str,
        x: &[&Self::Array<T>],
        forward: impl Fn(&Self, &[&Self::Array<T>]) -> Result<Self::Array<U>>,
        pull: impl CustomGradient<Self, T, U>,
    ) -> Result<Self::Array<U>> {
        let _ = (op, pull);
        forward(self, x)
    }
}

/// The function `pull` of [`Arrays::custom`], which computes the gradients of the inputs from the inputs, the result
/// and the result's gradient. Every function with the signature of the method `pull` implements this trait.
pub trait CustomGradient<B: Arrays, T: Float, U: Float>: Send + Sync + 'static {
    /// Returns the gradients of the inputs `x`, in order, given the result `y` and its gradient `g`.
    ///
    /// # Errors
    /// Errors of the function.
    fn pull(&self, b: &B, x: &[&B::Array<T>], y: &B::Array<U>, g: &B::Array<U>) -> Result<Vec<B::Array<T>>>;
}

impl<B: Arrays, T: Float, U: Float, F> CustomGradient<B, T, U> for F
where
    F: Fn(&B, &[&B::Array<T>], &B::Array<U>, &B::Array<U>) -> Result<Vec<B::Array<T>>> + Send + Sync + 'static,
{
    fn pull(&self, b: &B, x: &[&B::Array<T>], y: &B::Array<U>, g: &B::Array<U>) -> Result<Vec<B::Array<T>>> {
        self(b, x, y, g)
    }
}

/// A matrix, represented by a function that multiplies it by an array; see [`Arrays::implicit`].
pub type LinearMap<'a, B, T> = dyn Fn(&B, &<B as Arrays>::Array<T>) -> Result<<B as Arrays>::Array<T>> + 'a;
