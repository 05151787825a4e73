//! Devices and their properties.

use super::{
    edge::{call, code, lock},
    error::{Code, Result, put},
    state::{Device, Driver},
};
use std::ffi::{c_char, c_int, c_void};

/// The name of every device.
const NAME: &[u8] = b"soft-cuda\0";

/// The largest number of threads of a block.
pub(super) const MAX_BLOCK_THREADS: u32 = 1024;

/// The largest size of a block along each axis.
pub(super) const MAX_BLOCK_DIM: [u32; 3] = [1024, 1024, 64];

/// The largest number of blocks of a launch along each axis.
pub(super) const MAX_GRID_DIM: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];

/// The shared memory in bytes that every block can use, without a request for more.
pub(super) const SHARED: u32 = 48 << 10;

/// The largest shared memory per block, in bytes, that a kernel may request.
pub(super) const MAX_SHARED_BYTES: u32 = 227 << 10;

/// A compute capability unknown to compilers, so that programs are compiled to PTX and not to machine code.
const CAPABILITY: [i32; 2] = [9, 1];

/// The largest valid number of a `CUdevice_attribute`.
const LAST_ATTRIBUTE: i32 = 150;

/// Returns the value of a `CUdevice_attribute`. Attributes that are not listed here are 0, because they describe
/// features that this device lacks.
fn attribute(attribute: i32) -> Result<i32> {
    Ok(match attribute {
        1 => MAX_BLOCK_THREADS as i32,
        2..=4 => MAX_BLOCK_DIM[attribute as usize - 2] as i32,
        5..=7 => MAX_GRID_DIM[attribute as usize - 5] as i32,
        // bytes of shared memory per block, bytes of constant memory, threads per warp
        8 => SHARED as i32,
        9 => 65_536,
        10 => 32,
        // registers per block, number of multiprocessors
        12 => 65_536,
        16 => 132,
        // support for concurrent kernels and for a unified address space
        31 | 41 => 1,
        // threads, bytes of shared memory, and registers per multiprocessor
        39 => 2048,
        81 => 228 << 10,
        82 => 65_536,
        75 => CAPABILITY[0],
        76 => CAPABILITY[1],
        97 => MAX_SHARED_BYTES as i32,
        // blocks per multiprocessor, bytes of shared memory that the driver reserves
        106 => 32,
        111 => 1024,
        // support for memory pools
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

/// Initialises the driver.
#[unsafe(no_mangle)]
pub extern "C" fn cuInit(flags: u32) -> u32 {
    code(if flags == 0 { lock().initialise() } else { Err(Code::INVALID_VALUE) })
}

/// Returns the newest CUDA version that the driver supports.
///
/// # Safety
/// `version` must be null or valid for writing a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> u32 {
    // SAFETY: the caller guarantees that `version` is null or valid for writing a number.
    code(unsafe { put(version, 13_000) })
}

/// Looks up a table of unnamed driver functions. NVRTC calls this function, but this driver has no such table.
#[unsafe(no_mangle)]
pub extern "C" fn cuGetExportTable(_table: *mut *const c_void, _id: *const c_void) -> u32 {
    Code::NOT_FOUND.0
}

/// Returns the number of devices.
///
/// # Safety
/// `count` must be null or valid for writing a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> u32 {
    // SAFETY: the caller guarantees that `count` is null or valid for writing a number.
    call(|driver| unsafe { put(count, driver.devices.len() as c_int) })
}

/// Returns a device by its ordinal.
///
/// # Safety
/// `device` must be null or valid for writing a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> u32 {
    // SAFETY: the caller guarantees that `device` is null or valid for writing a number.
    call(|driver| driver.device(ordinal).and_then(|_| unsafe { put(device, ordinal) }))
}

/// Writes the name of a device, cut to `length` bytes including its NUL.
///
/// # Safety
/// `name` must be null or valid for writing `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, length: c_int, device: c_int) -> u32 {
    call(|driver| {
        driver.device(device)?;
        let length = usize::try_from(length).unwrap_or(0);
        if name.is_null() || length == 0 {
            return Err(Code::INVALID_VALUE);
        }
        let count = length.min(NAME.len());
        // SAFETY: `name` is not null, so the caller guarantees that it is valid for writing `length` bytes. `count` is
        // at most `length`, and the last byte written is the NUL.
        unsafe {
            std::ptr::copy_nonoverlapping(NAME.as_ptr().cast(), name, count);
            name.add(count - 1).write(0);
        }
        Ok(())
    })
}

/// Returns the identifier of a device. The identifier depends only on the ordinal, so it is the same in every process.
///
/// # Safety
/// `uuid` must be null or valid for writing 16 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetUuid_v2(uuid: *mut [u8; 16], device: c_int) -> u32 {
    call(|driver| {
        driver.device(device)?;
        let mut own = *b"soft-cuda device";
        own[15] = device as u8;
        // SAFETY: the caller guarantees that `uuid` is null or valid for writing 16 bytes.
        unsafe { put(uuid, own) }
    })
}

/// Returns the size of a device's memory in bytes.
///
/// # Safety
/// `bytes` must be null or valid for writing a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int) -> u32 {
    // SAFETY: the caller guarantees that `bytes` is null or valid for writing a number.
    call(|driver| unsafe { put(bytes, driver.device(device)?.memory.limit() as usize) })
}

/// Returns an attribute of a device.
///
/// # Safety
/// `value` must be null or valid for writing a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(value: *mut c_int, which: c_int, device: c_int) -> u32 {
    // SAFETY: the caller guarantees that `value` is null or valid for writing a number.
    call(|driver| driver.device(device).and_then(|_| unsafe { put(value, attribute(which)?) }))
}
