//! Memory for the elements of results whose dtype is known only at run time.
//!
//! Most of the time to allocate a large result is spent on page faults, so large buffers request huge pages.

use crate::{
    DType, Element, Error, Result,
    foreign::{self, Owner},
};
use std::alloc::{self, Layout};

/// Memory for elements of a dtype. It has the layout of the memory of a `Vec`, and comes from the same allocator, so a
/// buffer becomes a `Vec` without a copy.
#[derive(Debug)]
pub struct Buffer {
    start: *mut u8,
    len: usize,
    dtype: DType,
}

// SAFETY: a buffer owns its elements, and elements of every dtype may be sent and shared.
unsafe impl Send for Buffer {}
// SAFETY: elements of every dtype may be shared between threads.
unsafe impl Sync for Buffer {}

/// Makes the allocator keep freed memory, and prints advice if the build is not optimised. Called before each large
/// allocation.
#[inline(always)]
fn before_large() {
    crate::alloc::keep_heap();
    crate::unoptimized::advise();
}

impl Buffer {
    /// Allocates memory for `n` elements. They must be written before they are read.
    #[inline(always)]
    pub fn new(op: &'static str, n: usize, dtype: DType) -> Result<Buffer> {
        let Some(bytes) = n.checked_mul(dtype.size()).filter(|&b| b <= isize::MAX as usize) else {
            return Err(no_memory(op, n.saturating_mul(dtype.size())));
        };
        if bytes == 0 {
            return Ok(Buffer { start: std::ptr::without_provenance_mut(dtype.align()), len: 0, dtype });
        }
        if bytes >= LARGE {
            before_large();
        }
        // SAFETY: the size is above 0 and at most `isize::MAX`, and the alignment of every dtype is a power of two.
        let start = unsafe { alloc::alloc(Layout::from_size_align_unchecked(bytes, dtype.align())) };
        Buffer::of(op, start, n, dtype)
    }

    /// Allocates `n` zeros. The system zeroes the pages of a large buffer when they are first used.
    pub fn zeroed(op: &'static str, n: usize, dtype: DType) -> Result<Buffer> {
        let Some(bytes) = n.checked_mul(dtype.size()).filter(|&b| b <= isize::MAX as usize && b > 0) else {
            return Buffer::new(op, n, dtype);
        };
        if bytes >= LARGE {
            before_large();
        }
        // SAFETY: the size is above 0 and at most `isize::MAX`, and the alignment is a power of two.
        let start = unsafe { alloc::alloc_zeroed(Layout::from_size_align_unchecked(bytes, dtype.align())) };
        Buffer::of(op, start, n, dtype)
    }

    #[inline]
    fn of(op: &'static str, start: *mut u8, n: usize, dtype: DType) -> Result<Buffer> {
        let bytes = n * dtype.size();
        if start.is_null() {
            return Err(no_memory(op, bytes));
        }
        if bytes >= HUGE {
            foreign::release_some(Owner::Library);
            advise_huge(start, bytes);
        }
        Ok(Buffer { start, len: n, dtype })
    }

    /// Converts a vector to a buffer. The elements are moved to other memory if the vector has spare capacity.
    pub fn from_vec<T: Element>(v: Vec<T>) -> Buffer {
        let mut v =
            std::mem::ManuallyDrop::new(if v.capacity() == v.len() { v } else { v.into_boxed_slice().into_vec() });
        Buffer { start: v.as_mut_ptr().cast(), len: v.len(), dtype: T::DTYPE }
    }

    /// Converts the buffer to a vector.
    ///
    /// # Panics
    /// Panics if `T` is not the type of the buffer's dtype, which is a mistake of the caller.
    ///
    /// # Safety
    /// Every element has been written.
    #[inline]
    pub unsafe fn into_vec<T: Element>(self) -> Vec<T> {
        assert_eq!(self.dtype, T::DTYPE, "elements keep their dtype");
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: the memory was allocated with the layout of `len` elements of this type, by the allocator of vectors.
        unsafe { Vec::from_raw_parts(this.start.cast(), this.len, this.len) }
    }

    /// Address of the first element.
    #[inline]
    pub fn start(&self) -> *mut u8 {
        self.start
    }

    /// Number of elements.
    #[allow(clippy::len_without_is_empty)] // nothing needs `is_empty`
    pub fn len(&self) -> usize {
        self.len
    }

    /// The dtype of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Reinterprets the bytes of the elements as elements of another dtype.
    ///
    /// # Panics
    /// Panics if the two dtypes differ in size or alignment.
    ///
    /// # Safety
    /// The bytes are valid values of the new dtype. For bool, this means that each byte is 0 or 1.
    pub unsafe fn with_dtype(mut self, dtype: DType) -> Buffer {
        assert!(self.dtype.size() == dtype.size() && self.dtype.align() == dtype.align(), "the bytes of one element");
        self.dtype = dtype;
        self
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let bytes = self.len * self.dtype.size();
        if bytes > 0 {
            // SAFETY: the memory was allocated with this layout.
            unsafe { alloc::dealloc(self.start, Layout::from_size_align_unchecked(bytes, self.dtype.align())) };
        }
    }
}

/// Returns the error for a failed allocation of `bytes` bytes.
#[cold]
#[inline(never)]
pub fn no_memory(op: &'static str, bytes: usize) -> Error {
    Error::memory(op, bytes)
}

/// Minimum size in bytes of an allocation that calls `before_large` first. Smaller freed blocks are kept by the
/// allocator in any case.
const LARGE: usize = 64 << 10;

/// Minimum size in bytes of a buffer that requests huge pages. They cause one page fault per 2 MiB instead of one per 4
/// KiB.
const HUGE: usize = 1 << 20;

/// Asks the system to use huge pages for a new buffer. The system may ignore the request. Nothing is done if the
/// program's allocator is [`Pages`](crate::alloc::Pages), which requests huge pages for its own blocks.
#[cfg(all(target_os = "linux", not(miri)))]
#[cold]
fn advise_huge(start: *mut u8, bytes: usize) {
    const PAGE: usize = 4096;
    if crate::alloc::keeps_pages() {
        return;
    }
    let skipped = start.align_offset(PAGE);
    if skipped < bytes {
        // SAFETY: the range lies in the new allocation, and this advice does not change its contents.
        unsafe { libc::madvise(start.add(skipped).cast(), bytes - skipped, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise_huge(_: *mut u8, _: usize) {}

/// An empty vector with room for exactly `n` elements.
pub fn vec<T>(op: &'static str, n: usize) -> Result<Vec<T>> {
    let mut v: Vec<T> = Vec::new();
    if v.try_reserve_exact(n).is_err() {
        return Err(no_memory(op, n.saturating_mul(size_of::<T>())));
    }
    if n * size_of::<T>() >= HUGE {
        advise_huge(v.as_mut_ptr().cast(), n * size_of::<T>());
    }
    Ok(v)
}

/// A vector of `n` zeros.
pub fn zeros<T: Element>(op: &'static str, n: usize) -> Result<Vec<T>> {
    // SAFETY: bytes of zeros are a valid value of every dtype.
    Ok(unsafe { Buffer::zeroed(op, n, T::DTYPE)?.into_vec() })
}

/// A vector of `n` clones of `value`.
pub fn repeated<T: Clone>(op: &'static str, n: usize, value: T) -> Result<Vec<T>> {
    let mut v = vec(op, n)?;
    v.resize(n, value);
    Ok(v)
}

/// Returns an error if `bytes` bytes cannot be allocated. To find out, the memory is allocated and freed at once. Call
/// this before a library that allocates up to `bytes` bytes, because libraries abort the process if an allocation
/// fails.
pub fn room(op: &'static str, bytes: usize) -> Result<()> {
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| no_memory(op, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_no_memory_holds_are_errors() {
        for n in [usize::MAX, (isize::MAX / 8) as usize, usize::MAX / 8] {
            assert!(vec::<f64>("zeros", n).is_err());
            assert!(matches!(Buffer::new("zeros", n, DType::Float64), Err(Error::Memory { op: "zeros", .. })));
            assert!(matches!(Buffer::zeroed("zeros", n, DType::Float64), Err(Error::Memory { op: "zeros", .. })));
        }
    }

    #[test]
    fn large_buffers_hold_what_is_written() {
        let n = (HUGE / 8) * 3 + 5;
        assert!(zeros::<f64>("zeros", n).unwrap().iter().all(|&x| x == 0.0));
        let buffer = Buffer::new("arange", n, DType::UInt64).unwrap();
        // SAFETY: every element is written before it is read.
        unsafe {
            (0..n).for_each(|i| *buffer.start().cast::<u64>().add(i) = i as u64);
            assert!(buffer.into_vec::<u64>().into_iter().eq(0..n as u64));
        }
        assert_eq!(zeros::<bool>("zeros", 0).unwrap(), []);
    }

    #[test]
    fn vectors_become_buffers_and_come_back() {
        for capacity in [3, 10] {
            let mut v = Vec::with_capacity(capacity);
            v.extend([1.5, -2.0, 3.0]);
            let buffer = Buffer::from_vec(v);
            assert_eq!((buffer.len(), buffer.dtype()), (3, DType::Float64));
            // SAFETY: the buffer holds the elements of the vector.
            assert_eq!(unsafe { buffer.into_vec::<f64>() }, [1.5, -2.0, 3.0]);
        }
        // SAFETY: the vector is empty, so it has no elements to write.
        assert_eq!(unsafe { Buffer::from_vec(Vec::<f32>::new()).into_vec::<f32>() }, []);
    }

    #[test]
    #[should_panic(expected = "elements keep their dtype")]
    fn another_dtype_is_refused() {
        // SAFETY: the buffer holds the elements of the vector.
        drop(unsafe { Buffer::from_vec(vec![1.0]).into_vec::<i64>() });
    }
}
