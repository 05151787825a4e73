//! Host buffers in pinned memory, for copies from and to a device.

use super::{device::Device, error::Checked, pinned::Block};
use backend_core::{Error, Result};
use cudarc::driver::result;
use std::{
    ffi::c_void,
    ptr::{self, NonNull},
    slice,
    sync::Arc,
};

/// Size of the smallest block, in bytes.
const MIN_BLOCK_BYTES: usize = 1 << 16;

/// A buffer in pinned host memory. Its block is reused after the buffer is dropped.
pub(super) struct Buffer {
    device: Arc<Device>,
    /// None if the buffer has no bytes.
    block: Option<Block>,
    bytes: usize,
}

impl Buffer {
    /// A buffer of `bytes` bytes with undefined content.
    pub(super) fn new(device: &Arc<Device>, op: &'static str, bytes: usize) -> Result<Buffer> {
        let block = match bytes {
            0 => None,
            _ => Some(device.pinned.take(bytes).map_or_else(|| device.pinned_block(op, bytes), Ok)?),
        };
        Ok(Buffer { device: device.clone(), block, bytes })
    }

    /// Pointer to the first byte, for the driver; null if the buffer is empty.
    pub(super) fn pointer(&self) -> *mut c_void {
        self.block.as_ref().map_or(ptr::null_mut(), |block| block.first.as_ptr().cast())
    }

    /// Number of bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes
    }

    /// The bytes. The host may read them after it has waited for copies into this buffer.
    pub(super) fn bytes(&self) -> &[u8] {
        match &self.block {
            // SAFETY: the block has at least `self.bytes` bytes, all initialised by the system, and no one else uses
            // it.
            Some(block) => unsafe { slice::from_raw_parts(block.first.as_ptr(), self.bytes) },
            None => &[],
        }
    }

    /// The bytes, for writing. The host may write them after it has waited for copies from this buffer.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        match &self.block {
            // SAFETY: the block has at least `self.bytes` initialised bytes, and `&mut self` makes the access
            // exclusive.
            Some(block) => unsafe { slice::from_raw_parts_mut(block.first.as_ptr(), self.bytes) },
            None => &mut [],
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(block) = self.block.take()
            && let Some(block) = self.device.pinned.keep(block)
        {
            self.device.free_pinned("free", vec![block]);
        }
    }
}

impl Device {
    fn pinned_block(&self, op: &'static str, bytes: usize) -> Result<Block> {
        self.bind(op)?;
        let size = bytes.max(MIN_BLOCK_BYTES).checked_next_power_of_two().ok_or_else(|| Error::memory(op, bytes))?;
        // SAFETY: the device's context is current on this thread, and the call passes no flags.
        let first = unsafe { result::malloc_host(size, 0) }.checked(op)?;
        let first = NonNull::new(first.cast()).ok_or_else(|| Error::memory(op, size))?;
        Ok(Block { first, size })
    }

    /// Returns blocks to the system. Errors are ignored here, because `drop` cannot return them; the next call on the
    /// device reports them.
    fn free_pinned(&self, op: &'static str, blocks: Vec<Block>) {
        // copies from the blocks may still be running
        if blocks.is_empty() || self.synchronize(op).is_err() {
            return;
        }
        for block in blocks {
            // SAFETY: the driver allocated the block, and nothing refers to it any more.
            let _ = unsafe { result::free_host(block.first.as_ptr().cast()) };
        }
    }

    /// Frees the blocks that are kept for reuse.
    pub(super) fn release_pinned(&self, op: &'static str) {
        self.free_pinned(op, self.pinned.drain());
    }
}
