//! Functions that create streams, wait for them and destroy them.

use super::{
    edge::{call_and_wait, call_in_context},
    error::{Code, Result, put},
    state::Driver,
    work::{Stream, StreamKind, Work},
};
use std::ffi::c_void;

/// The flag for a stream that does not wait for the default stream.
const NON_BLOCKING: u32 = 1;

impl Driver {
    /// Creates a stream. With flag 1, the stream and the default stream do not wait for each other.
    pub fn stream_create(&mut self, device: usize, flags: u32) -> Result<u64> {
        let kind = match flags {
            0 => StreamKind::Blocking,
            NON_BLOCKING => StreamKind::NonBlocking,
            _ => return Err(Code::INVALID_VALUE),
        };
        let handle = self.handle();
        self.streams.insert(handle, Stream::new(device, kind));
        Ok(handle)
    }

    /// Returns the stream of a handle; 0 and 1 are the default stream of `device`.
    pub(crate) fn stream(&self, device: usize, handle: u64) -> Result<u64> {
        match handle {
            0 | 1 => Ok(self.devices[device].default_stream),
            // handle 2 means the per-thread default stream
            2 => Err(Code::NOT_SUPPORTED),
            _ => match self.streams.get(&handle) {
                Some(stream) if !stream.destroyed && stream.kind != StreamKind::Default => {
                    self.check(stream.device)?;
                    Ok(handle)
                }
                _ => Err(Code::INVALID_HANDLE),
            },
        }
    }

    /// Like `stream`, but returns an error if the stream belongs to another device.
    pub(crate) fn stream_on(&self, device: usize, handle: u64) -> Result<u64> {
        let stream = self.stream(device, handle)?;
        if self.streams[&stream].device == device { Ok(stream) } else { Err(Code::INVALID_HANDLE) }
    }

    /// Returns the device of a stream, which must exist.
    pub(crate) fn stream_device(&self, stream: u64) -> usize {
        self.streams[&stream].device
    }

    /// Destroys the handle of a stream. The work that is already on the stream still runs later.
    pub fn stream_destroy(&mut self, device: usize, handle: u64) -> Result<()> {
        if handle <= 2 {
            return Err(Code::INVALID_HANDLE);
        }
        let stream = self.stream(device, handle)?;
        if let Some(state) = self.streams.get_mut(&stream) {
            state.destroyed = true;
        }
        self.bury(stream);
        Ok(())
    }

    /// Waits for all work on a stream.
    pub fn stream_synchronize(&mut self, device: usize, handle: u64) -> Result<()> {
        let stream = self.stream(device, handle)?;
        let device = self.streams[&stream].device;
        self.finish_stream(stream);
        self.check(device)
    }

    /// Returns `Ok` if all work on a stream is done, and otherwise the error `NOT_READY`. The query of a busy stream
    /// runs its work, so the next query usually returns `Ok`.
    pub fn stream_query(&mut self, device: usize, handle: u64) -> Result<()> {
        let stream = self.stream(device, handle)?;
        let busy = self.is_busy(stream);
        self.stream_synchronize(device, handle)?;
        if busy || self.is_busy(stream) { Err(Code::NOT_READY) } else { Ok(()) }
    }

    /// Makes later work on the stream wait for the event. An event that was never recorded is ignored.
    pub fn stream_wait_event(&mut self, device: usize, handle: u64, event: u64) -> Result<()> {
        let stream = self.stream(device, handle)?;
        let waited = self.event(event)?.waited();
        self.put_on(stream, "wait", Work::Wait(waited), 0)
    }
}

/// Creates a stream.
///
/// # Safety
/// `stream` must be null or valid for writing a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreate(stream: *mut *mut c_void, flags: u32) -> u32 {
    // SAFETY: the caller guarantees that `stream` is null or valid for writing a handle.
    call_in_context(|driver, device| unsafe { put(stream, driver.stream_create(device, flags)? as *mut c_void) })
}

/// Destroys the handle of a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamDestroy_v2(stream: *mut c_void) -> u32 {
    call_in_context(|driver, device| driver.stream_destroy(device, stream as u64))
}

/// Waits for a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamSynchronize(stream: *mut c_void) -> u32 {
    let goals = |driver: &Driver, device| Ok(driver.goals_of_stream(driver.stream(device, stream as u64)?));
    call_and_wait(goals, |driver, device| driver.stream_synchronize(device, stream as u64))
}

/// Returns success if all work on a stream is done, and `CUDA_ERROR_NOT_READY` otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamQuery(stream: *mut c_void) -> u32 {
    call_in_context(|driver, device| driver.stream_query(device, stream as u64))
}

/// Makes a stream wait for an event.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWaitEvent(stream: *mut c_void, event: *mut c_void, flags: u32) -> u32 {
    call_in_context(|driver, device| match flags {
        0 => driver.stream_wait_event(device, stream as u64, event as u64),
        _ => Err(Code::INVALID_VALUE),
    })
}
