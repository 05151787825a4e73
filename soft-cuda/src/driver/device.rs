//! Devices and what they can.

use super::{
    edge::{call, code, lock},
    error::{Code, Result, put},
    state::{Device, Driver},
};
use std::ffi::{c_char, c_int, c_void};

/// What devices are called.
const NAME: &[u8] = b"soft-cuda\0";

/// Threads of a block.
pub(super) const MOST_THREADS: u32 = 1024;

/// Threads of a block along each axis.
pub(super) const MOST_BLOCK: [u32; 3] = [1024, 1024, 64];

/// Blocks of a launch along each axis.
pub(super) const MOST_GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];

/// Bytes of shared memory of a block that is given unasked.
pub(super) const SHARED: u32 = 48 << 10;

/// Bytes of shared memory of a block that a kernel may ask for.
pub(super) const MOST_SHARED: u32 = 227 << 10;

/// No compiler knows this compute capability, so that programs are compiled to PTX and not to machine code.
const CAPABILITY: [i32; 2] = [9, 1];

/// The highest attribute there is.
const LAST_ATTRIBUTE: i32 = 150;

/// A `CUdevice_attribute`. What has no number here is a feature that this device does not have.
fn attribute(attribute: i32) -> Result<i32> {
    Ok(match attribute {
        1 => MOST_THREADS as i32,
        2..=4 => MOST_BLOCK[attribute as usize - 2] as i32,
        5..=7 => MOST_GRID[attribute as usize - 5] as i32,
        // bytes of shared and constant memory of a block, threads of a warp
        8 => SHARED as i32,
        9 => 65_536,
        10 => 32,
        // registers of a block, multiprocessors
        12 => 65_536,
        16 => 132,
        // several kernels at once, one address space
        31 | 41 => 1,
        // threads, shared memory and registers of a multiprocessor
        39 => 2048,
        81 => 228 << 10,
        82 => 65_536,
        75 => CAPABILITY[0],
        76 => CAPABILITY[1],
        97 => MOST_SHARED as i32,
        // blocks of a multiprocessor, bytes of shared memory that the driver takes
        106 => 32,
        111 => 1024,
        // memory pools
        115 => 1,
        _ if (1..=LAST_ATTRIBUTE).contains(&attribute) => 0,
        _ => return Err(Code::INVALID_VALUE),
    })
}

impl Driver {
    pub(super) fn device(&self, ordinal: c_int) -> Result<&Device> {
        usize::try_from(ordinal).ok().and_then(|ordinal| self.devices.get(ordinal)).ok_or(Code::INVALID_DEVICE)
    }
}

/// Makes the driver ready for use.
#[unsafe(no_mangle)]
pub extern "C" fn cuInit(flags: u32) -> u32 {
    code(if flags == 0 { lock().initialise() } else { Err(Code::INVALID_VALUE) })
}

/// The newest CUDA that the driver is for.
///
/// # Safety
/// `version` is null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> u32 {
    // SAFETY: the caller's promise.
    code(unsafe { put(version, 13_000) })
}

/// Functions of the driver that have no name; NVRTC asks for some. There are none.
#[unsafe(no_mangle)]
pub extern "C" fn cuGetExportTable(_table: *mut *const c_void, _id: *const c_void) -> u32 {
    Code::NOT_FOUND.0
}

/// How many devices there are.
///
/// # Safety
/// `count` is null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> u32 {
    // SAFETY: the caller's promise.
    call(|driver| unsafe { put(count, driver.devices.len() as c_int) })
}

/// A device by its ordinal.
///
/// # Safety
/// `device` is null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> u32 {
    // SAFETY: the caller's promise.
    call(|driver| driver.device(ordinal).and_then(|_| unsafe { put(device, ordinal) }))
}

/// The name of a device, cut to `length` bytes with its NUL.
///
/// # Safety
/// `name` is null or a place for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, length: c_int, device: c_int) -> u32 {
    call(|driver| {
        driver.device(device)?;
        let length = usize::try_from(length).unwrap_or(0);
        if name.is_null() || length == 0 {
            return Err(Code::INVALID_VALUE);
        }
        let count = length.min(NAME.len());
        // SAFETY: the caller's promise: `count` bytes fit, the last of which becomes the NUL.
        unsafe {
            std::ptr::copy_nonoverlapping(NAME.as_ptr().cast(), name, count);
            name.add(count - 1).write(0);
        }
        Ok(())
    })
}

/// What a device is known by on all machines: of this one its ordinal, in every process.
///
/// # Safety
/// `uuid` is null or a place for 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetUuid_v2(uuid: *mut [u8; 16], device: c_int) -> u32 {
    call(|driver| {
        driver.device(device)?;
        let mut own = *b"soft-cuda device";
        own[15] = device as u8;
        // SAFETY: the caller's promise.
        unsafe { put(uuid, own) }
    })
}

/// Bytes of memory of a device.
///
/// # Safety
/// `bytes` is null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int) -> u32 {
    // SAFETY: the caller's promise.
    call(|driver| unsafe { put(bytes, driver.device(device)?.memory.limit() as usize) })
}

/// What a device has of something.
///
/// # Safety
/// `value` is null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(value: *mut c_int, which: c_int, device: c_int) -> u32 {
    // SAFETY: the caller's promise.
    call(|driver| driver.device(device).and_then(|_| unsafe { put(value, attribute(which)?) }))
}
