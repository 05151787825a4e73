//! Buffers of the host for copies of a device, in memory that stays where it is.

use super::{device::Device, error::Checked, pinned::Block};
use crate::{Error, Result};
use cudarc::driver::result;
use std::{
    ffi::c_void,
    ptr::{self, NonNull},
    slice,
    sync::Arc,
};

/// Bytes of the smallest block.
const LEAST: usize = 1 << 16;

/// A buffer in such memory, for copies of a device. Its block is used again when it is dropped.
pub(super) struct Buffer {
    device: Arc<Device>,
    /// None where there are no bytes.
    block: Option<Block>,
    bytes: usize,
}

impl Buffer {
    /// So many bytes, with any content.
    pub(super) fn new(device: &Arc<Device>, op: &'static str, bytes: usize) -> Result<Buffer> {
        let block = match bytes {
            0 => None,
            _ => Some(device.pinned.take(bytes).map_or_else(|| device.pinned_block(op, bytes), Ok)?),
        };
        Ok(Buffer { device: device.clone(), block, bytes })
    }

    /// Where the bytes begin, for the driver; null where there are none.
    pub(super) fn pointer(&self) -> *mut c_void {
        self.block.as_ref().map_or(ptr::null_mut(), |block| block.first.as_ptr().cast())
    }

    /// How many bytes there are.
    pub(super) fn len(&self) -> usize {
        self.bytes
    }

    /// The bytes, which the host may read after it has waited for what was copied to them.
    pub(super) fn bytes(&self) -> &[u8] {
        match &self.block {
            // SAFETY: the block has as many bytes, which the system has set to something, and nobody else has it.
            Some(block) => unsafe { slice::from_raw_parts(block.first.as_ptr(), self.bytes) },
            None => &[],
        }
    }

    /// The same to be written, after the host has waited for what was copied from them.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        match &self.block {
            // SAFETY: as above.
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
        let size = bytes.max(LEAST).checked_next_power_of_two().ok_or(Error::Memory { op, bytes })?;
        // SAFETY: the context is bound; no flag is asked for.
        let first = unsafe { result::malloc_host(size, 0) }.checked(op)?;
        let first = NonNull::new(first.cast()).ok_or(Error::Memory { op, bytes: size })?;
        Ok(Block { first, size })
    }

    /// Gives blocks back to the system. `drop` cannot return an error; the next call on the device reports it.
    fn free_pinned(&self, op: &'static str, blocks: Vec<Block>) {
        // what is copied from them may be under way
        if blocks.is_empty() || self.synchronize(op).is_err() {
            return;
        }
        for block in blocks {
            // SAFETY: the driver gave the block, and nobody has it any more.
            let _ = unsafe { result::free_host(block.first.as_ptr().cast()) };
        }
    }

    /// Gives back what is kept.
    pub(super) fn release_pinned(&self, op: &'static str) {
        self.free_pinned(op, self.pinned.drain());
    }
}
