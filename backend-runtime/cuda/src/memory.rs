//! Allocations of device memory. An allocation is freed when the last array that uses it is dropped.

use super::{device::Device, error::Checked, outside::Notes, pool::size_class};
use backend_core::{Error, MemoryInfo, Result, dlpack::ManagedTensor};
use cudarc::driver::{result, sys};
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{Ordering, fence},
    },
};

/// Size in bytes of the smallest memory access of an atomic operation.
const WORD: usize = 4;

/// A block of device memory, freed on drop.
pub(crate) struct Allocation {
    pointer: sys::CUdeviceptr,
    size: usize,
    /// The [`Notes`] (out-of-range indices) of the thread that allocated the block.
    notes: Arc<Notes>,
    /// The tensor that owns the memory, if another library allocated it.
    foreign: Option<ManagedTensor>,
}

impl fmt::Debug for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes on {}", self.size, self.notes.device().name())
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if let Some(tensor) = self.foreign.take() {
            // wait, because the owner may reuse the memory immediately, while work on the stream still reads it
            let _ = self.notes.device().synchronize("free");
            drop(tensor);
        } else if self.size > 0 {
            self.notes.device().free(self.pointer, self.size);
        }
    }
}

/// Device memory. Arrays that are views of the same memory share it.
#[derive(Clone, Debug)]
pub(crate) struct Memory(Arc<Allocation>);

impl Memory {
    /// Address of the first byte; 0 if the allocation is empty.
    pub(crate) fn pointer(&self) -> sys::CUdeviceptr {
        self.0.pointer
    }

    /// Size in bytes.
    pub(crate) fn size(&self) -> usize {
        self.0.size
    }

    /// Returns whether an op may overwrite the memory, which means that no other array uses it and no other library
    /// owns it. Other threads may have queued work on the memory before they dropped their handles; this work comes
    /// earlier on the stream. If this thread has unread index checks, it may not overwrite memory of another thread,
    /// because a check may concern one of the op's operands.
    pub(crate) fn is_only_handle(&self) -> bool {
        let only = Arc::strong_count(&self.0) == 1;
        fence(Ordering::Acquire);
        let mine = Notes::of_this_thread(self.device());
        only && self.0.foreign.is_none() && (!mine.are_due() || Arc::ptr_eq(&mine, self.notes()))
    }

    /// The device of the memory.
    pub(crate) fn device(&self) -> &Arc<Device> {
        self.0.notes.device()
    }

    /// The [`Notes`] (out-of-range indices) of the thread that allocated the memory.
    pub(crate) fn notes(&self) -> &Arc<Notes> {
        &self.0.notes
    }
}

impl Device {
    /// Allocates at least `bytes` bytes of memory with undefined content. An error names the op `op`.
    pub(crate) fn allocate(self: &Arc<Self>, op: &'static str, bytes: usize) -> Result<Memory> {
        if bytes > isize::MAX as usize {
            return Err(Error::memory(op, bytes));
        }
        let (pointer, size) = if bytes == 0 { (0, 0) } else { self.block(op, bytes)? };
        Ok(Memory(Arc::new(Allocation { pointer, size, notes: Notes::of_this_thread(self), foreign: None })))
    }

    /// Device memory of another library's tensor, starting at the element with the lowest address.
    pub(super) fn foreign(self: &Arc<Self>, tensor: ManagedTensor) -> Memory {
        let layout = tensor.layout();
        let (pointer, size) = (layout.lowest().addr() as u64, layout.span * layout.dtype.size());
        Memory(Arc::new(Allocation { pointer, size, notes: Notes::of_this_thread(self), foreign: Some(tensor) }))
    }

    /// Returns a block of at least `bytes` bytes and the block's actual size. `bytes` must not be 0.
    pub(super) fn block(&self, op: &'static str, bytes: usize) -> Result<(sys::CUdeviceptr, usize)> {
        // without caching, sizes are nearly exact, so that tools detect accesses beyond the end; but an atomic
        // operation on 1 or 2 bytes accesses a whole word
        let size = if self.pool.is_caching() { size_class(bytes) } else { bytes.next_multiple_of(WORD) };
        let pointer = match self.pool.take(size) {
            Some(pointer) => pointer,
            None => {
                let pointer = self.allocate_new(op, size)?;
                self.pool.add(size);
                pointer
            }
        };
        Ok((pointer, size))
    }

    fn allocate_new(&self, op: &'static str, size: usize) -> Result<sys::CUdeviceptr> {
        self.bind(op)?;
        let full = |error: &result::DriverError| error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        match self.driver_allocate(size) {
            Err(error) if full(&error) => self.release_cached(op)?,
            other => return other.checked(op),
        }
        match self.driver_allocate(size) {
            Err(error) if full(&error) => Err(Error::memory(op, size)),
            other => other.checked(op),
        }
    }

    fn driver_allocate(&self, size: usize) -> std::result::Result<sys::CUdeviceptr, result::DriverError> {
        // SAFETY: the context is bound, the stream is alive, and the memory is used only on this stream.
        unsafe { if self.has_pool() { result::malloc_async(self.stream(), size) } else { result::malloc_sync(size) } }
    }

    /// Frees a block, or keeps it in the pool for reuse. All work that uses the block must already be on the stream.
    pub(super) fn free(&self, pointer: sys::CUdeviceptr, size: usize) {
        if let Some(pointer) = self.pool.give(pointer, size) {
            self.driver_free(pointer);
        }
    }

    /// Returns memory to the driver. Errors are ignored here, because `drop` cannot return them; the next call on the
    /// device reports them.
    fn driver_free(&self, pointer: sys::CUdeviceptr) {
        let _ = self.bind("free");
        // SAFETY: the pointer came from `driver_allocate` of this device and is not used again. `free_async` is ordered
        // by the stream, and `free_sync` waits for the device by itself.
        let _ = unsafe {
            if self.has_pool() { result::free_async(pointer, self.stream()) } else { result::free_sync(pointer) }
        };
    }

    /// Returns to the driver all memory that is kept for reuse.
    pub(crate) fn release_cached(&self, op: &'static str) -> Result<()> {
        self.bind(op)?;
        self.pool.drain().for_each(|pointer| self.driver_free(pointer));
        self.synchronize(op)?;
        self.trim_pool(op)
    }

    /// Returns the memory use of the device. Bytes in use are counted by this crate; the driver reports the other
    /// values.
    pub(crate) fn memory_info(&self, op: &'static str) -> Result<MemoryInfo> {
        self.bind(op)?;
        let (free, total) = result::mem_get_info().checked(op)?;
        let counts = self.pool.counts();
        let cached = (counts.kept + self.kept_by_driver(op)?) as u64;
        let available = (free as u64).saturating_add(cached).min(total as u64);
        Ok(MemoryInfo::new(counts.in_use as u64, counts.peak as u64, cached, available, total as u64))
    }

    /// Number of bytes that the driver's memory pool keeps although they are free.
    fn kept_by_driver(&self, op: &'static str) -> Result<usize> {
        use sys::CUmemPool_attribute::{CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, CU_MEMPOOL_ATTR_USED_MEM_CURRENT};
        let reserved = self.pool_figure(op, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?;
        Ok(reserved.saturating_sub(self.pool_figure(op, CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?) as usize)
    }

    /// Resets the peak number of bytes in use to the current number.
    pub(crate) fn reset_peak(&self) {
        self.pool.reset_peak();
    }

    /// Sets whether freed memory is kept for reuse.
    pub(crate) fn set_caching(&self, on: bool) -> Result<()> {
        self.pool.set_caching(on);
        if on { Ok(()) } else { self.release_cached("caching") }
    }
}
