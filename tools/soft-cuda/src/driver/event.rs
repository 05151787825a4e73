//! Events: positions in streams that the host and other streams can wait for.

use super::{
    edge::{call_and_wait, call_in_context},
    error::{Code, Result, put},
    handles::Event,
    state::Driver,
    work::Work,
};
use std::{ffi::c_void, time::Instant};

/// The flag for an event that does not record the time at which it happens.
const DISABLE_TIMING: u32 = 2;

impl Driver {
    /// Creates an event. Flag 1, which asks threads to sleep while they wait for the event, has no effect here. With
    /// flag 2, the event does not record a time.
    pub fn event_create(&mut self, device: usize, flags: u32) -> Result<u64> {
        if flags & !3 != 0 {
            return Err(Code::INVALID_VALUE);
        }
        let handle = self.handle();
        let event = Event { device, timed: flags & DISABLE_TIMING == 0, mark: None, happened: None };
        self.events.insert(handle, event);
        Ok(handle)
    }

    pub(super) fn event(&self, handle: u64) -> Result<&Event> {
        let event = self.events.get(&handle).ok_or(Code::INVALID_HANDLE)?;
        self.check(event.device)?;
        Ok(event)
    }

    /// Destroys an event. Streams that already wait for it continue to wait.
    pub fn event_destroy(&mut self, handle: u64) -> Result<()> {
        self.events.remove(&handle).map(drop).ok_or(Code::INVALID_HANDLE)
    }

    /// Records the event at the current end of the stream. The event happens when the stream reaches this position.
    pub fn event_record(&mut self, device: usize, handle: u64, stream: u64) -> Result<()> {
        let stream = self.stream(device, stream)?;
        if self.streams[&stream].device != self.event(handle)?.device {
            return Err(Code::INVALID_HANDLE);
        }
        let mark = self.push(stream, "event".into(), Work::Record(handle), 0);
        if let Some(event) = self.events.get_mut(&handle) {
            (event.mark, event.happened) = (Some(mark), None);
        }
        Ok(())
    }

    /// Waits for an event. An event that was never recorded counts as happened.
    pub fn event_synchronize(&mut self, handle: u64) -> Result<()> {
        let event = self.event(handle)?;
        let (device, mark) = (event.device, event.mark);
        self.finish(mark.into_iter().collect());
        self.check(device)
    }

    /// Returns `Ok` if an event has happened, and the error `NOT_READY` if it is pending. The query of a pending event
    /// runs the work up to the event, so the next query returns `Ok`.
    pub fn event_query(&mut self, handle: u64) -> Result<()> {
        let pending = self.event(handle)?.mark.is_some_and(|mark| self.pending(mark));
        self.event_synchronize(handle)?;
        if pending { Err(Code::NOT_READY) } else { Ok(()) }
    }

    /// Returns the time in milliseconds that passed between two events; negative if `to` happened first.
    pub fn event_elapsed(&mut self, from: u64, to: u64) -> Result<f32> {
        let events = [self.event(from)?, self.event(to)?];
        if events.iter().any(|event| !event.timed || event.mark.is_none()) || events[0].device != events[1].device {
            return Err(Code::INVALID_HANDLE);
        }
        match events.map(|event| event.happened) {
            [Some(from), Some(to)] => {
                let seconds = |late: Instant, early: Instant| (late - early).as_secs_f32();
                Ok(1000.0 * if to >= from { seconds(to, from) } else { -seconds(from, to) })
            }
            _ => Err(Code::NOT_READY),
        }
    }
}

/// Creates an event.
///
/// # Safety
/// `event` must be null or valid for writing a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventCreate(event: *mut *mut c_void, flags: u32) -> u32 {
    // SAFETY: the caller guarantees that `event` is null or valid for writing a handle.
    call_in_context(|driver, device| unsafe { put(event, driver.event_create(device, flags)? as *mut c_void) })
}

/// Destroys an event.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventDestroy_v2(event: *mut c_void) -> u32 {
    call_in_context(|driver, _| driver.event_destroy(event as u64))
}

/// Records an event on a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventRecord(event: *mut c_void, stream: *mut c_void) -> u32 {
    call_in_context(|driver, device| driver.event_record(device, event as u64, stream as u64))
}

/// Waits for an event.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventSynchronize(event: *mut c_void) -> u32 {
    let goals = |driver: &Driver, _| Ok(driver.event(event as u64)?.mark.into_iter().collect());
    call_and_wait(goals, |driver, _| driver.event_synchronize(event as u64))
}

/// Returns success if an event has happened, and `CUDA_ERROR_NOT_READY` if it is pending.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventQuery(event: *mut c_void) -> u32 {
    call_in_context(|driver, _| driver.event_query(event as u64))
}

/// Returns the time between two events in milliseconds.
///
/// # Safety
/// `milliseconds` must be null or valid for writing a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime_v2(milliseconds: *mut f32, from: *mut c_void, to: *mut c_void) -> u32 {
    // SAFETY: the caller guarantees that `milliseconds` is null or valid for writing a number.
    call_in_context(|driver, _| unsafe { put(milliseconds, driver.event_elapsed(from as u64, to as u64)?) })
}
