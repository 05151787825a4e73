//! Copies between the host and devices, and fills of device memory.

use super::{
    edge::{call_and_wait, call_in_context},
    error::{Code, Result},
    state::Driver,
    work::Work,
};
use crate::memory::Hint;
use std::ffi::c_void;

impl Driver {
    /// Copies from the host into a staging buffer immediately, and from there to the device later. The host may change
    /// its memory as soon as the call returns.
    pub fn copy_in(&mut self, device: usize, to: u64, from: &[u8], stream: u64) -> Result<()> {
        let stream = self.stream(device, stream)?;
        if from.is_empty() {
            return Ok(());
        }
        let holder = self.holder(to, from.len())?;
        self.counts.copied_in(from.len());
        let content = from.to_vec();
        let job = move |memory: &mut crate::memory::Memory| {
            memory.write(&mut Hint::default(), to, content.len())?.copy_from_slice(&content);
            Ok(())
        };
        self.put_on(stream, "copy from the host", Work::On(holder, Box::new(job)), from.len())
    }

    /// Copies from a device to the host. The copy is complete when the call returns, as in the real driver for pageable
    /// host memory.
    pub fn copy_out(
        &mut self,
        device: usize,
        from: u64,
        bytes: usize,
        stream: u64,
        give: impl FnOnce(&[u8]),
    ) -> Result<()> {
        let stream = self.stream(device, stream)?;
        if bytes == 0 {
            return Ok(());
        }
        let holder = self.holder(from, bytes)?;
        self.counts.copied_out(bytes);
        let on = self.stream_device(stream);
        self.put_on(stream, "wait", Work::Wait(None), 0)?;
        self.finish_stream(stream);
        self.check(on)?;
        match self.devices[holder].memory.read(&mut Hint::default(), from, bytes) {
            Ok(content) => give(content),
            Err(fault) => self.fail(on, "copy to the host", &fault),
        }
        self.check(on)
    }

    /// Copies from one address to another, on the same device or on different devices.
    pub fn copy(&mut self, device: usize, to: u64, from: u64, bytes: usize, stream: u64) -> Result<()> {
        let stream = self.stream(device, stream)?;
        if bytes == 0 {
            return Ok(());
        }
        let from = (self.holder(from, bytes)?, from);
        let to = (self.holder(to, bytes)?, to);
        self.put_on(stream, "copy", Work::Copy { from, to, bytes }, 0)
    }

    /// Sets all bytes of a range of device memory to `byte`.
    pub fn fill(&mut self, device: usize, to: u64, byte: u8, bytes: usize, stream: u64) -> Result<()> {
        let stream = self.stream(device, stream)?;
        if bytes == 0 {
            return Ok(());
        }
        let holder = self.holder(to, bytes)?;
        let job = move |memory: &mut crate::memory::Memory| {
            memory.write(&mut Hint::default(), to, bytes)?.fill(byte);
            Ok(())
        };
        self.put_on(stream, "fill", Work::On(holder, Box::new(job)), 0)
    }
}

/// Copies from the host to a device.
///
/// # Safety
/// `from` must be null or valid for reading `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, bytes: usize, stream: *mut c_void) -> u32 {
    call_in_context(|driver, device| {
        if bytes > 0 && driver.is_pinned(from as u64, bytes) {
            return driver.copy_in_later(device, to, from.cast_mut().cast(), bytes, stream as u64);
        }
        let from = match bytes {
            0 => &[],
            _ if from.is_null() => return Err(Code::INVALID_VALUE),
            // SAFETY: `from` is not null, so the caller guarantees that it is valid for reading `bytes` bytes. Padding
            // bytes are copied with any content.
            _ => unsafe { std::slice::from_raw_parts(from.cast::<u8>(), bytes) },
        };
        driver.copy_in(device, to, from, stream as u64)
    })
}

/// Copies from a device to the host.
///
/// # Safety
/// `to` must be null or valid for writing `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, bytes: usize, stream: *mut c_void) -> u32 {
    let goals = |driver: &Driver, device| match bytes {
        0 => Ok(Vec::new()),
        _ if driver.is_pinned(to as u64, bytes) => Ok(Vec::new()),
        _ => Ok(driver.goals_of_wait(driver.stream(device, stream as u64)?)),
    };
    call_and_wait(goals, |driver, device| {
        if bytes > 0 && to.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        if bytes > 0 && driver.is_pinned(to as u64, bytes) {
            return driver.copy_out_later(device, from, to.cast(), bytes, stream as u64);
        }
        driver.copy_out(device, from, bytes, stream as u64, |content| {
            // SAFETY: `to` is not null unless `bytes` is 0, so the caller guarantees that it is valid for writing
            // `bytes` bytes. `content` has `bytes` bytes, and does not overlap the host's memory.
            unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), to.cast::<u8>(), content.len()) }
        })
    })
}

/// Copies from one address to another, on the same device or on different devices.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: *mut c_void) -> u32 {
    call_in_context(|driver, device| driver.copy(device, to, from, bytes, stream as u64))
}

/// Sets all bytes of a range of device memory to `byte`.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD8Async(to: u64, byte: u8, bytes: usize, stream: *mut c_void) -> u32 {
    call_in_context(|driver, device| driver.fill(device, to, byte, bytes, stream as u64))
}
