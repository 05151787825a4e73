//! Contexts: each device has only its primary context.

use super::{
    edge::{call, call_and_wait, current, set_current},
    error::{Code, Result, put},
};
use std::ffi::{c_int, c_void};

fn ordinal(device: c_int) -> Result<usize> {
    usize::try_from(device).map_err(|_| Code::INVALID_DEVICE)
}

/// Retains a device's primary context. The first call creates the context; all calls are counted.
///
/// # Safety
/// `context` must be null or valid for writing a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, device: c_int) -> u32 {
    call(|driver| {
        if context.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: the caller guarantees that `context` is null or valid for writing a handle.
        unsafe { put(context, driver.retain(ordinal(device)?)? as *mut c_void) }
    })
}

/// Releases a device's primary context; the last release destroys it.
#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> u32 {
    call(|driver| driver.release(ordinal(device)?))
}

/// Makes a context current on this thread; null makes no context current.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetCurrent(context: *mut c_void) -> u32 {
    call(|driver| {
        if !context.is_null() {
            driver.device_of(context as u64)?;
        }
        set_current(context as u64);
        Ok(())
    })
}

/// Returns the context that is current on this thread, or null.
///
/// # Safety
/// `context` must be null or valid for writing a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetCurrent(context: *mut *mut c_void) -> u32 {
    // SAFETY: the caller guarantees that `context` is null or valid for writing a handle.
    call(|_| unsafe { put(context, current() as *mut c_void) })
}

/// Returns the device of the current context.
///
/// # Safety
/// `device` must be null or valid for writing a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetDevice(device: *mut c_int) -> u32 {
    // SAFETY: the caller guarantees that `device` is null or valid for writing a number.
    call(|driver| unsafe { put(device, driver.device_of(current())? as c_int) })
}

/// Waits for all work of the current context.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSynchronize() -> u32 {
    call_and_wait(|driver, device| Ok(driver.goals_of_device(device)), |driver, device| driver.check(device))
}
