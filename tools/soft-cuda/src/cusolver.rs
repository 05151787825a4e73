//! Stand-ins for the cuSOLVER functions that the backend calls, with cuSOLVER's conventions and errors. This file has
//! the handles and the checks of arguments that all functions share; `generic` has the functions for all dtypes, and
//! `typed` has the functions that exist once per dtype.

mod generic;
mod typed;

use crate::{
    driver::{Work, current, finish_device, lock, put},
    fault::Fault,
    memory::{Hint, Memory, POISON},
};
pub use generic::*;
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::c_void,
    sync::{Mutex, MutexGuard, PoisonError},
};
pub use typed::*;

/// The result of a cuSOLVER function; the error is a `cusolverStatus_t`.
type Result<T> = std::result::Result<T, Status>;

/// An error code of cuSOLVER: a `cusolverStatus_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Status(u32);

impl Status {
    const NOT_INITIALIZED: Status = Status(1);
    const INVALID_VALUE: Status = Status(3);
    const EXECUTION_FAILED: Status = Status(6);
    const NOT_SUPPORTED: Status = Status(9);
}

/// The state of a cuSOLVER handle.
#[derive(Clone, Copy)]
struct Handle {
    device: usize,
    /// The driver's handle of the stream.
    stream: u64,
}

/// All handles, in three lists: cuSOLVER handles (each belongs to a device), parameters of the generic functions, and
/// settings of Jacobi's method.
struct Handles {
    devices: BTreeMap<u64, Handle>,
    params: BTreeSet<u64>,
    jacobi: BTreeSet<u64>,
}

static HANDLES: Mutex<Handles> =
    Mutex::new(Handles { devices: BTreeMap::new(), params: BTreeSet::new(), jacobi: BTreeSet::new() });

fn handles() -> MutexGuard<'static, Handles> {
    HANDLES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn status(result: Result<()>) -> u32 {
    result.map_or_else(|status| status.0, |()| 0)
}

fn require(valid: bool) -> Result<()> {
    if valid { Ok(()) } else { Err(Status::INVALID_VALUE) }
}

/// Calls `f` with the state of the handle.
fn with_handle(handle: *mut c_void, f: impl FnOnce(Handle) -> Result<()>) -> u32 {
    let known = handles().devices.get(&(handle as u64)).copied();
    status(known.ok_or(Status::NOT_INITIALIZED).and_then(f))
}

/// Like `with_handle`, but also checks that `params` is a handle of parameters.
fn with_params(handle: *mut c_void, params: *mut c_void, f: impl FnOnce(Handle) -> Result<()>) -> u32 {
    with_handle(handle, |handle| {
        require(handles().params.contains(&(params as u64)))?;
        f(handle)
    })
}

/// Enqueues work on the handle's stream.
fn submit(
    handle: Handle,
    what: String,
    job: impl FnOnce(&mut Memory) -> std::result::Result<(), Fault> + Send + 'static,
) -> Result<()> {
    let mut driver = lock();
    let stream = driver.stream_on(handle.device, handle.stream).map_err(|_| Status::EXECUTION_FAILED)?;
    driver.put_on(stream, what, Work::On(handle.device, Box::new(job)), 0).map_err(|_| Status::EXECUTION_FAILED)
}

/// Creates a handle on the current device.
///
/// # Safety
/// `handle` must be null or valid for writing a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cusolverDnCreate(handle: *mut *mut c_void) -> u32 {
    let (new, device) = {
        let mut driver = lock();
        let Ok(device) = driver.device_of(current()) else {
            return Status::NOT_INITIALIZED.0;
        };
        if driver.check(device).is_err() {
            return Status::NOT_INITIALIZED.0;
        }
        (driver.handle(), device)
    };
    // SAFETY: the caller guarantees that `handle` is null or valid for writing a handle.
    if unsafe { put(handle, new as *mut c_void) }.is_err() {
        return Status::INVALID_VALUE.0;
    }
    handles().devices.insert(new, Handle { device, stream: 0 });
    0
}

/// Destroys a handle, after waiting for its device.
#[unsafe(no_mangle)]
pub extern "C" fn cusolverDnDestroy(handle: *mut c_void) -> u32 {
    let Some(known) = handles().devices.remove(&(handle as u64)) else {
        return Status::NOT_INITIALIZED.0;
    };
    finish_device(known.device);
    0
}

/// Sets the stream on which work runs.
#[unsafe(no_mangle)]
pub extern "C" fn cusolverDnSetStream(handle: *mut c_void, stream: *mut c_void) -> u32 {
    let mut handles = handles();
    let Some(handle) = handles.devices.get_mut(&(handle as u64)) else {
        return Status::NOT_INITIALIZED.0;
    };
    if lock().stream_on(handle.device, stream as u64).is_err() {
        return Status::INVALID_VALUE.0;
    }
    handle.stream = stream as u64;
    0
}

/// Creates a handle in one of the lists of [`Handles`].
///
/// # Safety
/// `at` must be null or valid for writing a handle.
unsafe fn create(at: *mut *mut c_void, list: fn(&mut Handles) -> &mut BTreeSet<u64>) -> u32 {
    let new = lock().handle();
    // SAFETY: the caller guarantees that `at` is null or valid for writing a handle.
    if unsafe { put(at, new as *mut c_void) }.is_err() {
        return Status::INVALID_VALUE.0;
    }
    list(&mut handles()).insert(new);
    0
}

/// Creates parameters for the generic functions; the parameters always have their default values.
///
/// # Safety
/// `params` must be null or valid for writing a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cusolverDnCreateParams(params: *mut *mut c_void) -> u32 {
    // SAFETY: the caller guarantees that `params` is null or valid for writing a handle.
    unsafe { create(params, |handles| &mut handles.params) }
}

/// Destroys parameters.
#[unsafe(no_mangle)]
pub extern "C" fn cusolverDnDestroyParams(params: *mut c_void) -> u32 {
    status(require(handles().params.remove(&(params as u64))))
}

/// Creates settings of Jacobi's method. The settings always have their default values: sorted singular values, and the
/// highest accuracy.
///
/// # Safety
/// `settings` must be null or valid for writing a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cusolverDnCreateGesvdjInfo(settings: *mut *mut c_void) -> u32 {
    // SAFETY: the caller guarantees that `settings` is null or valid for writing a handle.
    unsafe { create(settings, |handles| &mut handles.jacobi) }
}

/// Destroys settings.
#[unsafe(no_mangle)]
pub extern "C" fn cusolverDnDestroyGesvdjInfo(settings: *mut c_void) -> u32 {
    status(require(handles().jacobi.remove(&(settings as u64))))
}

/// Work memory on the device, which the caller of a function provides.
#[derive(Clone, Copy, Debug)]
struct Room {
    device: u64,
    bytes: usize,
}

impl Room {
    /// Checks that a call has enough work memory on the device and on the host: `needed` bytes each. Overwrites the
    /// host memory immediately.
    ///
    /// # Safety
    /// `host` must be valid for writing `host_bytes` bytes.
    unsafe fn of(
        needed: [usize; 2],
        device: *mut c_void,
        bytes: usize,
        host: *mut c_void,
        host_bytes: usize,
    ) -> Result<Room> {
        require(bytes >= needed[0] && host_bytes >= needed[1])?;
        require((needed[0] == 0 || !device.is_null()) && (needed[1] == 0 || !host.is_null()))?;
        if !host.is_null() {
            // SAFETY: the caller guarantees that `host` is valid for writing `host_bytes` bytes.
            unsafe { host.cast::<u8>().write_bytes(POISON, host_bytes) };
        }
        Ok(Room { device: device as u64, bytes })
    }

    /// Fills the work memory with poison after use, so that nothing relies on its contents.
    fn spoil(self, memory: &mut Memory) -> std::result::Result<(), Fault> {
        if self.bytes > 0 {
            memory.write(&mut Hint::default(), self.device, self.bytes)?.fill(POISON);
        }
        Ok(())
    }
}

/// Writes the numbers of bytes of work memory that a function needs on the device and on the host.
///
/// # Safety
/// `device` and `host` must be null or valid for writing a number.
unsafe fn answer(needed: [usize; 2], device: *mut usize, host: *mut usize) -> Result<()> {
    // SAFETY: the caller guarantees that `device` and `host` are null or valid for writing a number.
    unsafe {
        put(device, needed[0]).map_err(|_| Status::INVALID_VALUE)?;
        put(host, needed[1]).map_err(|_| Status::INVALID_VALUE)
    }
}
