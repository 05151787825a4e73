//! `SharedBuffer`: an array in shared memory that several processes write to.

use crate::{
    descriptor::{Descriptor, Kind, Layout},
    segment::Segment,
    system::{self, MapMut},
};
use backend_runtime::{
    Arrays, DType, Element, Error, IntoArray, Result, bytes,
    parts::{self, Part},
};
use ndarray::{ArrayD, ArrayRef, IxDyn};
use std::{
    io::ErrorKind,
    ops::Deref,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering},
    },
    thread::{self, ThreadId},
};

/// Number of bytes that are copied at once.
const BLOCK: usize = 1 << 16;

/// An array in shared memory for results: every process with a handle may write to it. Clones are handles of the same
/// memory.
///
/// Parts of the array are copied in and out. Processes that write to separate parts need no synchronisation. If several
/// processes write to the same elements, the last write wins, element by element. Operations of several steps, such as
/// the maximum of an old and a new value, need the lock ([`SharedBuffer::lock`]). A process must signal to the other
/// processes that it has finished, by ending or by a message.
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # fn main() -> backends::Result<()> {
/// use backends::prelude::*;
/// use backends_shared::SharedBuffer;
///
/// let b = Numpyish::new();
/// let best = SharedBuffer::zeros::<f32>(&[2, 3])?;
/// // every process that has opened the buffer may write to its own part
/// best.write_array(&b, &[1, 0], b.asarray([[1.0_f32, 5.0, 2.0]])?)?;
/// // a lock protects values that depend on the present contents
/// let lock = best.lock()?;
/// let so_far = lock.array::<_, f32>(&b, ..)?;
/// lock.write_array(&b, &[0, 0], b.maximum(so_far, 2.0)?)?;
/// drop(lock);
/// assert_eq!(b.to_vec(best.array::<_, f32>(&b, ..)?)?, [2.0, 2.0, 2.0, 2.0, 5.0, 2.0]);
/// # Ok(())
/// # }
/// # #[cfg(not(target_os = "linux"))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug)]
pub struct SharedBuffer {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    segment: Segment,
    map: MapMut,
    /// Excludes other threads of this process. The system's lock does not exclude them, because all threads share one
    /// file.
    threads: Mutex<()>,
    /// The thread that holds the lock.
    holder: Mutex<Option<ThreadId>>,
}

impl SharedBuffer {
    /// Creates a buffer of zeros of this shape, and allocates all of its memory at once.
    pub fn zeros<T: Element>(shape: &[usize]) -> Result<SharedBuffer> {
        const OP: &str = "SharedBuffer::zeros";
        let layout = Layout { kind: Kind::Buffer, dtype: T::DTYPE, shape: shape.to_vec() };
        let segment = Segment::create(OP, layout, |file, length| system::reserve(file, length))?;
        segment.seal(OP)?;
        SharedBuffer::mapped(OP, segment)
    }

    /// Opens a buffer that this process or another process shares. Returns the same errors as
    /// [`SharedArray::open`](crate::SharedArray::open).
    pub fn open(descriptor: &Descriptor) -> Result<SharedBuffer> {
        const OP: &str = "SharedBuffer::open";
        SharedBuffer::mapped(OP, Segment::open(OP, descriptor, Kind::Buffer)?)
    }

    fn mapped(op: &'static str, segment: Segment) -> Result<SharedBuffer> {
        let map = system::map_mut(op, &segment.file, segment.length())?;
        Ok(SharedBuffer {
            inner: Arc::new(Inner { segment, map, threads: Mutex::default(), holder: Mutex::default() }),
        })
    }

    /// The descriptor with which other processes can open the buffer as long as this process holds a handle of it.
    pub fn descriptor(&self) -> Descriptor {
        self.inner.segment.descriptor()
    }

    /// The dtype of the elements.
    pub fn dtype(&self) -> DType {
        self.inner.segment.layout.dtype
    }

    /// The shape of the array.
    pub fn shape(&self) -> &[usize] {
        &self.inner.segment.layout.shape
    }

    /// Writes `part` to the array. The first element of `part` goes to index `start`.
    ///
    /// # Errors
    /// [`Error::Argument`] if `T` is not the dtype of the array, or the part does not lie within the array. After an
    /// error, nothing was written.
    pub fn write<T: Element>(&self, start: &[usize], part: &ArrayRef<T, IxDyn>) -> Result<()> {
        const OP: &str = "SharedBuffer::write";
        self.inner.segment.holds(OP, T::DTYPE)?;
        let ranges = parts::ranges_at(OP, self.shape(), start, part.shape())?;
        let (mut elements, mut block) = (part.iter().copied(), Vec::new());
        for (mut at, mut left) in parts::runs(self.shape(), &ranges) {
            while left > 0 {
                let n = left.min(BLOCK / size_of::<T>());
                block.clear();
                block.extend(elements.by_ref().take(n));
                self.store(at, T::DTYPE, bytes::as_bytes(&block));
                (at, left) = (at + n, left - n);
            }
        }
        Ok(())
    }

    /// Like `write`, for an array of a backend.
    pub fn write_array<'a, B: Arrays, T: Element>(
        &self,
        b: &B,
        start: &[usize],
        part: impl IntoArray<'a, B::Array<T>>,
    ) -> Result<()> {
        self.write(start, &b.to_ndarray(&*part.into_array())?)
    }

    /// Copies a [`Part`] of the array.
    ///
    /// # Errors
    /// [`Error::Argument`] if `T` is not the dtype of the array, if the part does not lie within the array, or if
    /// another process has written bytes that are not valid bools.
    pub fn read<T: Element>(&self, part: impl Part) -> Result<ArrayD<T>> {
        const OP: &str = "SharedBuffer::read";
        self.inner.segment.holds(OP, T::DTYPE)?;
        let ranges = part.ranges(OP, self.shape())?;
        let shape = parts::shape_of(OP, self.shape(), &ranges)?;
        let count = backend_runtime::rules::count(OP, &shape, size_of::<T>())?;
        let mut elements = Vec::new();
        let refused = |_| Error::memory(OP, count.saturating_mul(size_of::<T>()));
        elements.try_reserve_exact(count).map_err(refused)?;
        let mut block = vec![0; BLOCK.min(count * size_of::<T>())];
        for (mut at, mut left) in parts::runs(self.shape(), &ranges) {
            while left > 0 {
                let n = left.min(BLOCK / size_of::<T>());
                let part = &mut block[..n * size_of::<T>()];
                self.load(at, T::DTYPE, part);
                bytes::extend(OP, &mut elements, part)?;
                (at, left) = (at + n, left - n);
            }
        }
        ArrayD::from_shape_vec(IxDyn(&shape), elements).map_err(|_| Error::shape(OP, &shape, "is too large"))
    }

    /// Copies a part of the array to a backend.
    pub fn array<B: Arrays, T: Element>(&self, b: &B, part: impl Part) -> Result<B::Array<T>> {
        b.from_ndarray(self.read(part)?.into_shared())
    }

    /// Waits until no other process or thread holds the lock, and then takes the lock. The returned [`Lock`] reads and
    /// writes like the buffer, and releases the lock when it is dropped. A process that ends in any way also releases
    /// the lock; everything that it wrote before remains.
    ///
    /// The lock is advisory: processes that do not take it can still read and write.
    ///
    /// # Errors
    /// [`Error::Argument`] if this thread already holds the lock through a clone of this handle. A thread that opens
    /// the buffer twice and locks both handles deadlocks.
    pub fn lock(&self) -> Result<Lock<'_>> {
        const OP: &str = "SharedBuffer::lock";
        let holder = || self.inner.holder.lock().unwrap_or_else(PoisonError::into_inner);
        if *holder() == Some(thread::current().id()) {
            return Err(Error::argument(OP, "this thread already holds the lock"));
        }
        let threads = self.inner.threads.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match self.inner.segment.file.lock() {
                Ok(()) => break,
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) => return Err(system::failed(OP, 0, why)),
            }
        }
        *holder() = Some(thread::current().id());
        Ok(Lock { buffer: self, _threads: threads })
    }

    /// Returns the address of element `at`, after a check that the `bytes` bytes from this address on lie in the array.
    fn place(&self, at: usize, dtype: DType, bytes: usize) -> *mut u8 {
        let offset = self.inner.segment.start + at * dtype.size();
        assert!(offset + bytes <= self.inner.segment.length(), "a run lies within the array");
        // SAFETY: the map has as many bytes as the segment, and the assertion ensures that `offset` lies within it.
        unsafe { self.inner.map.as_mut_ptr().add(offset) }
    }

    /// Writes elements from element number `at` on. Each real number, or part of a complex number, is written by one
    /// atomic store.
    fn store(&self, at: usize, dtype: DType, from: &[u8]) {
        let to = self.place(at, dtype, from.len());
        match dtype.to_real().size() {
            // SAFETY: the numbers lie within the map, which is alive and writable. They are at aligned addresses,
            // because the elements begin at a multiple of 64 bytes of a page. All other accesses in this process use
            // the same atomics.
            1 => unsafe { store_all::<AtomicU8>(to, from) },
            // SAFETY: the numbers lie within the map at aligned addresses, as explained for `AtomicU8` above.
            2 => unsafe { store_all::<AtomicU16>(to, from) },
            // SAFETY: the numbers lie within the map at aligned addresses, as explained for `AtomicU8` above.
            4 => unsafe { store_all::<AtomicU32>(to, from) },
            // SAFETY: the numbers lie within the map at aligned addresses, as explained for `AtomicU8` above.
            _ => unsafe { store_all::<AtomicU64>(to, from) },
        }
    }

    /// Reads elements from element number `at` on. Each real number, or part of a complex number, is read by one atomic
    /// load.
    fn load(&self, at: usize, dtype: DType, to: &mut [u8]) {
        let from = self.place(at, dtype, to.len());
        match dtype.to_real().size() {
            // SAFETY: the numbers lie within the map at aligned addresses, and all accesses use the same atomics, as in
            // `store`.
            1 => unsafe { load_all::<AtomicU8>(from, to) },
            // SAFETY: the numbers lie within the map at aligned addresses, and all accesses use the same atomics, as in
            // `store`.
            2 => unsafe { load_all::<AtomicU16>(from, to) },
            // SAFETY: the numbers lie within the map at aligned addresses, and all accesses use the same atomics, as in
            // `store`.
            4 => unsafe { load_all::<AtomicU32>(from, to) },
            // SAFETY: the numbers lie within the map at aligned addresses, and all accesses use the same atomics, as in
            // `store`.
            _ => unsafe { load_all::<AtomicU64>(from, to) },
        }
    }
}

/// A number that several threads or processes may read and write at the same time. A reader sees either the old or the
/// new value.
trait Atomic {
    fn store(&self, bytes: &[u8]);
    fn load(&self, bytes: &mut [u8]);
}

macro_rules! atomic {
    ($($atomic:ty: $number:ty),*) => {$(
        impl Atomic for $atomic {
            #[inline(always)]
            fn store(&self, bytes: &[u8]) {
                let mut number = [0; size_of::<$number>()];
                number.copy_from_slice(bytes);
                self.store(<$number>::from_ne_bytes(number), Ordering::Relaxed);
            }

            #[inline(always)]
            fn load(&self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.load(Ordering::Relaxed).to_ne_bytes());
            }
        }
    )*};
}
atomic!(AtomicU8: u8, AtomicU16: u16, AtomicU32: u32, AtomicU64: u64);

/// # Safety
/// `to` must be aligned and have room for the bytes, and only atomics of this type may refer to this memory.
unsafe fn store_all<A: Atomic>(to: *mut u8, from: &[u8]) {
    for (i, bytes) in from.chunks_exact(size_of::<A>()).enumerate() {
        // SAFETY: the caller guarantees that the address is aligned and valid, and that only atomics of this type refer
        // to it.
        unsafe { &*to.cast::<A>().add(i) }.store(bytes);
    }
}

/// # Safety
/// The conditions of [`store_all`] apply to `from`.
unsafe fn load_all<A: Atomic>(from: *mut u8, to: &mut [u8]) {
    for (i, bytes) in to.chunks_exact_mut(size_of::<A>()).enumerate() {
        // SAFETY: the caller guarantees that the address is aligned and valid, and that only atomics of this type refer
        // to it.
        unsafe { &*from.cast::<A>().add(i) }.load(bytes);
    }
}

/// The lock of a [`SharedBuffer`]. It reads and writes like the buffer. As long as it exists, no other process holds
/// the lock.
#[derive(Debug)]
pub struct Lock<'a> {
    buffer: &'a SharedBuffer,
    _threads: MutexGuard<'a, ()>,
}

impl Deref for Lock<'_> {
    type Target = SharedBuffer;

    fn deref(&self) -> &SharedBuffer {
        self.buffer
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        *self.buffer.inner.holder.lock().unwrap_or_else(PoisonError::into_inner) = None;
        // `drop` cannot report an error; the system releases the lock when the file is closed, at the latest
        let _ = self.buffer.inner.segment.file.unlock();
    }
}
