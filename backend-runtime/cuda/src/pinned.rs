//! Pinned (page-locked) host memory. The driver copies it directly, several times faster than other host memory.
//!
//! Allocating pinned memory is slow, so each device keeps freed blocks. A block can be reused while a copy from it to
//! the device is still queued: later copies into the block follow on the stream, and the host waits for the stream
//! before it writes to the block.

use std::{
    mem,
    ptr::NonNull,
    sync::{Mutex, PoisonError},
};

/// Maximum number of bytes of freed blocks that a device keeps.
const MAX_KEPT_BYTES: usize = 1 << 30;

/// A block of pinned memory.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) first: NonNull<u8>,
    pub(super) size: usize,
}

// SAFETY: any thread may use the memory, and a block has only one owner.
unsafe impl Send for Block {}

/// The freed blocks that a device keeps for reuse.
#[derive(Debug, Default)]
pub(super) struct Pinned(Mutex<Vec<Block>>);

impl Pinned {
    fn with<R>(&self, f: impl FnOnce(&mut Vec<Block>) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the smallest freed block that has at least `bytes` bytes, and removes it from the list of freed blocks.
    pub(super) fn take(&self, bytes: usize) -> Option<Block> {
        self.with(|blocks| {
            let fits = blocks.iter().enumerate().filter(|(_, block)| block.size >= bytes);
            let (at, _) = fits.min_by_key(|(_, block)| block.size)?;
            Some(blocks.swap_remove(at))
        })
    }

    /// Keeps a freed block for reuse, or returns it if too many bytes are kept already.
    pub(super) fn keep(&self, block: Block) -> Option<Block> {
        self.with(|blocks| {
            let kept: usize = blocks.iter().map(|block| block.size).sum();
            if kept.saturating_add(block.size) > MAX_KEPT_BYTES {
                return Some(block);
            }
            blocks.push(block);
            None
        })
    }

    /// Removes and returns all freed blocks.
    pub(super) fn drain(&self) -> Vec<Block> {
        self.with(mem::take)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_block_that_fits_is_used_again_and_few_are_kept() {
        let pinned = Pinned::default();
        let block = |size| Block { first: NonNull::dangling(), size };
        assert!([block(100), block(50), block(200)].into_iter().all(|block| pinned.keep(block).is_none()));
        assert_eq!(pinned.take(60).map(|block| block.size), Some(100));
        assert_eq!(pinned.take(60).map(|block| block.size), Some(200));
        assert!(pinned.take(60).is_none());
        assert_eq!(pinned.keep(block(MAX_KEPT_BYTES)).map(|block| block.size), Some(MAX_KEPT_BYTES));
        assert_eq!(pinned.drain().len(), 1);
    }
}
