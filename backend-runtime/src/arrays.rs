//! Where arrays live: the base trait of every op group.

use crate::{
    ArrayAttributes, DType, DeviceInfo, EachSource, Element, Error, Float, HostArray, IntoArray, MemoryInfo, Result,
    bytes, device,
    dlpack::{self, CopyMode, DLDevice, ManagedTensor},
    formula::{self, Input, Layout, Leaves, Node, Reduction, Run, Told, Typed},
    host,
    link::{Link, Offer, Peers, Through},
    numpyish::raw::HostView,
};
use std::{any::Any, fmt::Debug};

/// Where arrays live. Every op-group trait has this as its supertrait.
///
/// A backend is a value: a device, a stream and a random state live in it. It is cheap to clone; clones share these.
pub trait Arrays: Clone + Send + Sync + 'static {
    /// An array of `T`: cheap to clone, safe to share between threads.
    type Array<T: Element>: ArrayAttributes<DType = T> + Clone + Debug + Send + Sync + 'static;

    /// Name of the backend: `"numpyish"`, `"cuda"`, `"torch"`.
    const NAME: &'static str;

    /// Lengths of the axes: `x.shape()`.
    #[inline]
    fn shape<'a, T: Element>(&self, x: &'a Self::Array<T>) -> &'a [usize] {
        x.shape()
    }

    /// Number of axes: `x.ndim()`.
    #[inline]
    fn ndim<T: Element>(&self, x: &Self::Array<T>) -> usize {
        x.ndim()
    }

    /// Number of elements: `x.len()`.
    #[inline]
    fn size<T: Element>(&self, x: &Self::Array<T>) -> usize {
        x.len()
    }

    /// The array as ndarray's: without a copy where the memory is the host's, else by one.
    fn to_ndarray<T: Element>(&self, x: &Self::Array<T>) -> Result<HostArray<T>>;

    /// An array of this backend with the elements of `x`: without a copy where the memory is the host's.
    #[allow(clippy::wrong_self_convention)] // the backend makes the array: it has the device
    fn from_ndarray<T: Element>(&self, x: HostArray<T>) -> Result<Self::Array<T>>;

    /// The number of an array with one element, as Python's `x.item()`. Waits for it.
    ///
    /// # Errors
    /// [`Error::Shape`] where there are more elements, or none.
    fn item<'a, T: Element>(&self, x: impl IntoArray<'a, Self::Array<T>>) -> Result<T> {
        const OP: &str = "item";
        let x = x.into_array();
        if x.len() != 1 {
            return Err(Error::shape(OP, x.shape(), "must have exactly one element"));
        }
        let host = self.to_ndarray(&x).map_err(|why| why.within(OP))?;
        host.first().copied().ok_or_else(|| Error::shape(OP, x.shape(), "must have exactly one element"))
    }

    /// The elements as a vector, in C order: the last index changes first. Without a copy of an array that is given by value, is in the
    /// host's memory and has no other handle.
    fn to_vec<'a, T: Element>(&self, x: impl IntoArray<'a, Self::Array<T>>) -> Result<Vec<T>> {
        const OP: &str = "to_vec";
        let x = x.into_array();
        let host = self.to_ndarray(&x).map_err(|why| why.within(OP))?;
        drop(x);
        host::into_vec(OP, host)
    }

    /// The bytes of the elements in C order, as Python's `x.tobytes()`: the same for equal bits, so that they are a key of them.
    /// `b.frombuffer` reads them.
    ///
    /// They are in the machine's order, which is little endian on x86-64 and on Arm.
    fn to_bytes<'a, T: Element>(&self, x: impl IntoArray<'a, Self::Array<T>>) -> Result<Vec<u8>> {
        const OP: &str = "to_bytes";
        let host = self.to_ndarray(&x.into_array()).map_err(|why| why.within(OP))?;
        bytes::of_array(OP, &host)
    }

    /// A 1-dimensional array of what an iterator gives, as `np.fromiter`; `b.reshape` gives it other axes.
    #[allow(clippy::wrong_self_convention)] // the backend makes the array: it has the device
    fn from_iter<T: Element>(&self, elements: impl IntoIterator<Item = T>) -> Result<Self::Array<T>> {
        const OP: &str = "from_iter";
        self.from_ndarray(host::collected(OP, elements.into_iter())?).map_err(|why| why.within(OP))
    }

    /// `x` on another backend or device, where `other` is: in the same memory where both are on one device, else through the host's.
    ///
    /// Memory that two backends share has two handles, so that neither writes to it; it goes with the last. A small array, one that is read
    /// backward and is to become a tensor of libtorch, and a tensor whose elements share their places (one that was broadcast) and is to
    /// become an ndarray, are copied.
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

    /// The array as a tensor of DLPack, for other libraries and languages: NumPy, CuPy, PyTorch. Its memory is that of the array.
    ///
    /// Of an array given by reference, or with other handles, the tensor is [read-only](ManagedTensor::is_read_only): others show its
    /// elements. One that is given by value and has no other handle is handed over, and the consumer may write to it. One that is read backward
    /// is copied, as not every library has negative strides; [`CopyMode::Never`] gives them to those that do. On a GPU the elements
    /// have been computed when this returns. The module `dlpack` of the facade has the guide.
    fn to_dlpack<'a, T: Element>(&self, x: impl IntoArray<'a, Self::Array<T>>) -> Result<ManagedTensor> {
        self.to_dlpack_with(x, CopyMode::IfNeeded)
    }

    /// The same; `copy` says whether the memory is the array's, or new and the consumer's alone.
    ///
    /// # Errors
    /// Those of the ops that were asked for before, where a GPU is waited for; [`Error::Memory`].
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

    /// An array over the memory of a tensor of DLPack, which another library or language has made; a copy where that cannot be.
    ///
    /// Nobody writes to memory that is shared, as [`ManagedTensor::from_raw`] demands of others, and as arrays here do by themselves. The
    /// tensor is freed after the last array over it.
    ///
    /// # Errors
    /// [`Error::Argument`] where the tensor has another dtype, or bools that are neither 0 nor 1; [`Error::Device`] where its memory is not
    /// where the backend's arrays are. The tensor is freed then, too.
    #[allow(clippy::wrong_self_convention)] // the backend makes the array: it has the device
    fn from_dlpack<T: Element>(&self, tensor: ManagedTensor) -> Result<Self::Array<T>> {
        self.from_dlpack_with(tensor, CopyMode::IfNeeded)
    }

    /// The same; `copy` says whether the memory may, or has to be that of the tensor.
    ///
    /// # Errors
    /// Also [`Error::Argument`] where the memory has to be shared and cannot be.
    #[allow(clippy::wrong_self_convention)] // as above
    fn from_dlpack_with<T: Element>(&self, tensor: ManagedTensor, copy: CopyMode) -> Result<Self::Array<T>> {
        self.from_ndarray(dlpack::import(tensor, copy)?).map_err(|why| why.within("from_dlpack"))
    }

    /// Where the memory of the backend's tensors of DLPack is: what Python's `__dlpack_device__` returns. The host, for a backend that
    /// does not say otherwise: its arrays go through ndarrays.
    fn dlpack_device(&self) -> DLDevice {
        DLDevice::CPU
    }

    /// The backend, from a value or a reference: what the macro `expr!` is given may be either.
    #[doc(hidden)]
    #[inline(always)]
    fn as_backend(&self) -> &Self {
        self
    }

    /// The memory of an array of this backend, where that is the host's: formulas run over it in one pass, by the loops of
    /// [`Numpyish`](crate::numpyish::Numpyish). It neither changes nor goes while the array is borrowed.
    #[doc(hidden)]
    #[inline]
    fn host_view<'a, T: Element>(&self, _: &'a Self::Array<T>) -> Option<HostView<'a, T>> {
        None
    }

    /// Whether the backend has [`Arrays::fused`] and [`Arrays::fused_reduction`].
    #[doc(hidden)]
    const FUSES: bool = false;

    /// An array of this backend as an input of [`Arrays::fused`].
    #[doc(hidden)]
    #[inline]
    fn fused_input<'a, T: Element>(&self, _: &'a Self::Array<T>) -> Option<&'a dyn Any> {
        None
    }

    /// Runs a formula over all its arrays in one kernel of the backend; none where it has to run op by op. With an array to write
    /// `over`, which may be among the others, the result is another handle of it; none where that cannot be, or is not [alone].
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

    /// Writes the result of a row's expression over an array of its shape, which [is alone], as [`Arrays::fused_input`] gives it; none where
    /// that cannot be. `of` is the row's dtype.
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

    /// Reduces a formula over all its arrays in kernels of the backend, without an array of its values; none where that cannot be.
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

    /// Whether the backend may have [`Arrays::begin_fused`].
    #[doc(hidden)]
    const WATCHES: bool = false;

    /// Several ops begin as one, on a backend whose calls are watched; none on all others.
    #[doc(hidden)]
    #[inline]
    fn begin_fused(&self, _op: &'static str, _dtype: DType, _told: &dyn Told) -> Result<Option<Box<dyn Any>>> {
        Ok(None)
    }

    /// They have given an array.
    #[doc(hidden)]
    #[inline]
    fn end_fused<T: Element>(&self, _begun: Box<dyn Any>, _x: &Self::Array<T>) -> Result<()> {
        Ok(())
    }

    /// An array of the result of a loop over the host's memory: as [`Arrays::from_ndarray`], but no call of the user.
    #[doc(hidden)]
    #[inline]
    fn of_loop<T: Element>(&self, x: HostArray<T>) -> Result<Self::Array<T>> {
        self.from_ndarray(x)
    }

    /// Runs a formula, which the macro `expr!` makes: in one pass over memory of the host, in a kernel of the backend, else op by op.
    #[doc(hidden)]
    #[inline]
    fn formula<'a, L: Leaves<'a, Self>, E, T: Element>(&self, e: &E, leaves: &L) -> Result<Self::Array<T>>
    where
        E: Run<'a, Self, L> + Typed<Out = T>,
    {
        let begun = formula::begin_on(self, T::DTYPE, e, leaves)?;
        let result = formula::run(self, e, leaves)?;
        begun.map_or(Ok(()), |begun| self.end_fused(begun, &result))?;
        Ok(result)
    }

    /// Whether this is the only handle of memory that a result may be written over. Results that are no larger than a few
    /// pages are not: new memory costs as little.
    #[doc(hidden)]
    #[inline]
    fn is_alone<T: Element>(&self, _: &mut Self::Array<T>) -> bool {
        false
    }

    /// As [`Arrays::formula`]; the result may be written over `target`, which then has it, and `None` is returned.
    ///
    /// # Safety
    /// [`Arrays::is_alone`] was true of `target`, and since then no other handle of its memory was made: but for leaves
    /// that are references to `target` itself.
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
        // SAFETY: the caller's promise.
        unsafe { formula::run_over(self, e, leaves, target) }
    }

    /// What this rank has for a link between ranks, by which parts of arrays go from device to device; or why they go through the host.
    #[doc(hidden)]
    fn offer(&self) -> std::result::Result<Offer, String> {
        Err(format!("arrays of {} go through the host", Self::NAME))
    }

    /// Opens a link with the backends of the other ranks, all of which have an [`offer`](Arrays::offer) that fits. Collective.
    #[doc(hidden)]
    fn link(&self, _peers: &dyn Peers) -> Result<Option<Link>> {
        Ok(None)
    }

    /// `send[r]` goes to rank r, one array after the other, each in C order; `from[r]` elements come from it, and are those of the result in the
    /// order of ranks. Collective among those of the link.
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

    /// The elements of `part` of all ranks in C order, `counts[r]` of rank r, in the order of ranks. Collective as above.
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

    /// An array of the `total` elements that `through` gets from other ranks for those of `send`, one array after the other, both as bytes: by memory of
    /// the host that the device copies from and to at full speed. None where the backend has none, and `through` was not called.
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

    /// The device, in the library's words: `"cpu"`, `"cuda:0"`.
    fn device(&self) -> String;

    /// What the device is: hardware, memory, processors, and the library that runs on it.
    ///
    /// A backend that says nothing else is described as the host's processor, if its device is `"cpu"`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] of a backend that does not say it; [`Error::Unavailable`] where the driver does not.
    fn device_info(&self) -> Result<DeviceInfo> {
        device::expect_host("device_info", Self::NAME, &self.device())?;
        Ok(device::host::info(Self::NAME))
    }

    /// What the device's memory holds now: bytes in use, the most so far, what is kept for reuse, available and there. `MemoryInfo`
    /// says what each figure counts. It waits for nothing; other threads and processes may change it at once.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the system does not say it, [`Error::Unsupported`] where the library does not.
    fn memory(&self) -> Result<MemoryInfo> {
        device::expect_host("memory", Self::NAME, &self.device())?;
        device::host::memory(Self::NAME)
    }

    /// Lets `MemoryInfo::peak` begin anew with what is in use now, for all who look at it: on the CPU those of this process, also
    /// outside of the backends, on a GPU those of this backend.
    ///
    /// # Errors
    /// As [`Arrays::memory`]. On the CPU the system may also refuse it: [`Error::Unavailable`].
    fn reset_peak_memory(&self) -> Result<()> {
        device::expect_host("reset_peak_memory", Self::NAME, &self.device())?;
        device::host::reset_peak(Self::NAME)
    }

    /// Gives back what is kept to make later calls faster: freed memory, plans of Fourier transforms, loaded kernels, libraries' work
    /// areas. Arrays stay as they are, also those of ops that run in other threads meanwhile; what is needed again is made again.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the library cannot, [`Error::Library`] where it fails.
    fn free_cache(&self) -> Result<()> {
        device::expect_host("free_cache", Self::NAME, &self.device())
    }

    /// Waits until everything asked for has run. Only timing needs it: results are ordered by themselves.
    fn synchronize(&self) -> Result<()>;

    /// Restarts the backend's random numbers from `seed`: the same seed gives the same numbers on every backend.
    fn seed(&self, seed: u64);

    /// As [`Arrays::seed`], but the stream goes on at its block number `block`, as if ops had taken that many blocks since then.
    ///
    /// Every op of random numbers takes a whole number of blocks. Of one block come two numbers in `float64` or four in the shorter floats, where a complex number is
    /// two; two integers; one number of the distributions that take a varying number of draws, such as `random_gamma`. So a part of an
    /// array that begins with a block has the same numbers when it is made alone, from that block on. After block `u64::MAX` comes block 0.
    ///
    /// # Errors
    /// [`Error::Unsupported`] of a backend whose random numbers are not made by blocks, which is what the default body says.
    fn seed_at(&self, seed: u64, block: u64) -> Result<()> {
        let _ = (seed, block);
        Err(Error::unsupported("seed_at", Self::NAME))
    }

    /// Where the backend's random numbers go on: a seed and a block, which [`Arrays::seed_at`] takes.
    ///
    /// # Errors
    /// [`Error::Unsupported`] of a backend that does not say it.
    fn random_state(&self) -> Result<(u64, u64)> {
        Err(Error::unsupported("random_state", Self::NAME))
    }

    /// The solution `x` of `residual(x) = 0`, which `solve` finds: by iterations, or in a library of another kind.
    ///
    /// Backends of arrays just run `solve`. Gradients do not go through it: of the derivatives `J` of the residual by `x`, the gradient `g` of the solution
    /// gives that of the residual as `-z` where `J^T z = g` (the implicit function theorem), and from there that of all that the residual is made
    /// of. So a system of equations is differentiated by one more of the same size, however many steps `solve` takes.
    ///
    /// - `solve` and `residual` are to use the backend that they are given, not one that they hold: `solve` is given one on which nothing is recorded.
    /// - `adjoint(b, transposed, g)` gives the `z` with `transposed(z) = g`. Nothing is conjugated, in none of them. Forward mode gives it `J` in place
    ///   of `J^T`: one that solves with what it knows of the matrix itself is an error there.
    ///
    /// # Errors
    /// Those of the functions; on the way back [`Error::Shape`] where `z` has not the shape of the residual.
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

    /// What `forward` makes of arrays, with a gradient of its own: where that is known better than by the ops, or where these have none.
    ///
    /// Backends of arrays just run `forward`. Where gradients are taken nothing of it is recorded: `pull(b, x, y, g)` gives the gradients of the inputs `x`, in order, of
    /// that of the result `y`. It pairs without a conjugate. Forward mode is given an error, as it would need the derivative in the other direction.
    ///
    /// Both are to use the backend that they are given, not one that they hold.
    ///
    /// # Errors
    /// Those of the functions; on the way back [`Error::Argument`] where `pull` gives not one gradient per input, [`Error::Shape`] where one has not its shape.
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

/// The way back of [`Arrays::custom`]: of the inputs, the result and the gradient of it, the gradients of the inputs. Functions are.
pub trait CustomGradient<B: Arrays, T: Float, U: Float>: Send + Sync + 'static {
    /// Those.
    ///
    /// # Errors
    /// Those of the function.
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

/// Products with a matrix that is given by what it does, for [`Arrays::implicit`].
pub type LinearMap<'a, B, T> = dyn Fn(&B, &<B as Arrays>::Array<T>) -> Result<<B as Arrays>::Array<T>> + 'a;
