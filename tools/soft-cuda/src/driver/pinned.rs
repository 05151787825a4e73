//! Pinned host memory. Copies from and to pinned memory are queued on a stream like other work. Until the host has
//! waited for a copy, it must neither read the copy's result nor change the copy's source.

use super::{
    edge::{call_and_wait, call_in_context},
    error::{Code, Result, put},
    state::Driver,
    work::{Mark, Work},
};
use crate::memory::{Hint, Memory, POISON};
use std::ffi::c_void;

/// All valid flags of an allocation together: memory for all contexts, mapped memory, and write-combined memory.
const FLAGS: u32 = 7;

/// The host address that a queued copy reads or writes.
#[derive(Clone, Copy)]
struct Host(*mut u8);

// SAFETY: any thread may use the memory until it is freed, and freeing waits for the work that holds this address.
unsafe impl Send for Host {}

impl Driver {
    /// Allocates pinned host memory. Each byte is initially `POISON`, so that tests notice reads of uninitialised
    /// memory.
    pub fn host_allocate(&mut self, bytes: usize) -> Result<u64> {
        if bytes == 0 {
            return Err(Code::INVALID_VALUE);
        }
        let mut memory = Vec::new();
        memory.try_reserve_exact(bytes).map_err(|_| Code::OUT_OF_MEMORY)?;
        memory.resize(bytes, POISON);
        let address = memory.as_ptr() as u64;
        self.pinned.insert(address, memory);
        Ok(address)
    }

    /// Frees pinned host memory. No copy from or to it may be queued.
    pub fn host_free(&mut self, address: u64) -> Result<()> {
        self.pinned.remove(&address).map(drop).ok_or(Code::INVALID_VALUE)
    }

    /// Returns whether all `bytes` bytes of host memory at `address` are pinned.
    pub(super) fn is_pinned(&self, address: u64, bytes: usize) -> bool {
        let before = self.pinned.range(..=address).next_back();
        before.is_some_and(|(start, memory)| address - start + bytes as u64 <= memory.len() as u64)
    }

    /// Enqueues a copy from pinned memory, which is read when the stream reaches the copy.
    pub(super) fn copy_in_later(
        &mut self,
        device: usize,
        to: u64,
        from: *mut u8,
        bytes: usize,
        stream: u64,
    ) -> Result<()> {
        let stream = self.stream(device, stream)?;
        let holder = self.holder(to, bytes)?;
        self.counts.copied_in(bytes);
        let from = Host(from);
        let job = move |memory: &mut Memory| {
            let from = { from }.0;
            let to = memory.write(&mut Hint::default(), to, bytes)?;
            // SAFETY: the memory lives until this work is done and has `bytes` bytes; tests check that nobody writes to
            // it meanwhile.
            unsafe { std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), bytes) };
            Ok(())
        };
        self.put_on(stream, "copy from the host", Work::On(holder, Box::new(job)), 0)
    }

    /// Enqueues a copy to pinned memory, which is written when the stream reaches the copy.
    pub(super) fn copy_out_later(
        &mut self,
        device: usize,
        from: u64,
        to: *mut u8,
        bytes: usize,
        stream: u64,
    ) -> Result<()> {
        let stream = self.stream(device, stream)?;
        let holder = self.holder(from, bytes)?;
        self.counts.copied_out(bytes);
        let to = Host(to);
        let job = move |memory: &mut Memory| {
            let to = { to }.0;
            let from = memory.read(&mut Hint::default(), from, bytes)?;
            // SAFETY: the memory lives until this work is done and has `bytes` bytes; tests check that nobody uses it
            // meanwhile.
            unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, bytes) };
            Ok(())
        };
        self.put_on(stream, "copy to the host", Work::On(holder, Box::new(job)), 0)
    }

    /// Returns a position in each stream of all devices, which includes all work that is now on the stream.
    fn goals_of_all(&self) -> Vec<Mark> {
        (0..self.devices.len()).flat_map(|device| self.goals_of_device(device)).collect()
    }
}

/// Allocates pinned host memory.
///
/// # Safety
/// `memory` must be null or valid for writing a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostAlloc(memory: *mut *mut c_void, bytes: usize, flags: u32) -> u32 {
    call_in_context(|driver, _| {
        if memory.is_null() || flags & !FLAGS != 0 {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: the caller guarantees that `memory` is null or valid for writing a pointer.
        unsafe { put(memory, driver.host_allocate(bytes)? as *mut c_void) }
    })
}

/// Frees pinned host memory, after waiting for all devices.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemFreeHost(memory: *mut c_void) -> u32 {
    call_and_wait(|driver, _| Ok(driver.goals_of_all()), |driver, _| driver.host_free(memory as u64))
}
