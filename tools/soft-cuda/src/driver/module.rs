//! Modules and their kernels.

use super::{
    device::{MAX_BLOCK_THREADS, MAX_SHARED_BYTES, SHARED},
    edge::{call_and_wait, call_in_context},
    error::{Code, Result, put},
    handles::{Function, Loaded},
    state::Driver,
};
use crate::ptx::Module;
use std::{
    ffi::{CStr, c_char, c_int, c_void},
    sync::Arc,
};

/// This constant and the next four are numbers of attributes of kernels (`CUfunction_attribute`).
const MAX_THREADS: u32 = 0;
const SHARED_BYTES: u32 = 1;
const LOCAL_BYTES: u32 = 3;
const REGISTERS: u32 = 4;
const MAX_DYNAMIC_SHARED: u32 = 8;

impl Driver {
    /// Parses PTX text, and loads the module on a device.
    pub fn module_load(&mut self, device: usize, text: &str) -> Result<u64> {
        if !text.contains(".version") {
            return Err(Code::INVALID_IMAGE);
        }
        let mut module = Module::parse(text).map_err(|error| {
            eprintln!("soft-cuda: {error}");
            Code::INVALID_PTX
        })?;
        // loading can fail only if there is no memory for the module's variables
        module.load(&mut self.devices[device].memory).map_err(|_| Code::OUT_OF_MEMORY)?;
        let handle = self.handle();
        self.modules.insert(handle, Loaded { device, module: Arc::new(module) });
        Ok(handle)
    }

    /// Unloads a module, after all work of its device is done.
    pub fn module_unload(&mut self, handle: u64) -> Result<()> {
        let device = self.modules.get(&handle).ok_or(Code::INVALID_HANDLE)?.device;
        self.finish_device(device);
        self.check(device)?;
        self.functions.retain(|_, function| function.loaded != handle);
        if let Some(loaded) = self.modules.remove(&handle) {
            loaded.module.unload(&mut self.devices[device].memory);
        }
        Ok(())
    }

    /// Returns a new handle of the kernel `name` of a module.
    pub fn module_function(&mut self, module: u64, name: &str) -> Result<u64> {
        let loaded = self.modules.get(&module).ok_or(Code::INVALID_HANDLE)?;
        let kernel = loaded.module.kernel(name).ok_or(Code::NOT_FOUND)?;
        let own = loaded.module.kernel_info(kernel).shared_bytes as u32;
        let function = Function {
            device: loaded.device,
            loaded: module,
            module: loaded.module.clone(),
            kernel,
            most_shared: SHARED.saturating_sub(own),
        };
        let handle = self.handle();
        self.functions.insert(handle, function);
        Ok(handle)
    }

    pub(super) fn function(&self, handle: u64) -> Result<&Function> {
        self.functions.get(&handle).ok_or(Code::INVALID_HANDLE)
    }

    /// Allows launches of a kernel to request up to `bytes` bytes of dynamic shared memory.
    pub fn function_allow_shared(&mut self, handle: u64, bytes: i32) -> Result<()> {
        let function = self.functions.get_mut(&handle).ok_or(Code::INVALID_HANDLE)?;
        let most = i64::from(MAX_SHARED_BYTES) - function.info().shared_bytes as i64;
        if bytes < 0 || i64::from(bytes) > most {
            return Err(Code::INVALID_VALUE);
        }
        function.most_shared = bytes as u32;
        Ok(())
    }

    fn function_attribute(&self, handle: u64, attribute: u32) -> Result<c_int> {
        let function = self.function(handle)?;
        let info = function.info();
        Ok(match attribute {
            MAX_THREADS => info.max_threads.unwrap_or(MAX_BLOCK_THREADS).min(MAX_BLOCK_THREADS) as c_int,
            SHARED_BYTES => info.shared_bytes as c_int,
            LOCAL_BYTES => info.local_bytes as c_int,
            REGISTERS => info.registers as c_int,
            MAX_DYNAMIC_SHARED => function.most_shared as c_int,
            _ => return Err(Code::NOT_SUPPORTED),
        })
    }
}

/// Loads a module from PTX text that ends with a NUL. Machine code is not supported.
///
/// # Safety
/// `module` must be null or valid for writing a handle; `image` must be null, a text that ends with a NUL, or an ELF or
/// fat binary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadData(module: *mut *mut c_void, image: *const c_void) -> u32 {
    call_in_context(|driver, device| {
        if module.is_null() || image.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: `image` is not null, so the caller guarantees that it is a text or a binary. A text ends with a NUL.
        // The first bytes of a binary, which are compared below, are not NUL.
        let text = unsafe { CStr::from_ptr(image.cast::<c_char>()) }.to_bytes();
        // tests for the first bytes of machine code: an ELF file, the wrapper of a fat binary, or a fat binary
        if [&b"\x7fELF"[..], &0x466243b1_u32.to_le_bytes(), &0xba55ed50_u32.to_le_bytes()]
            .iter()
            .any(|magic| text.starts_with(magic))
        {
            return Err(Code::NO_BINARY_FOR_GPU);
        }
        let text = std::str::from_utf8(text).map_err(|_| Code::INVALID_IMAGE)?;
        // SAFETY: the caller guarantees that `module` is null or valid for writing a handle.
        unsafe { put(module, driver.module_load(device, text)? as *mut c_void) }
    })
}

/// Unloads a module.
#[unsafe(no_mangle)]
pub extern "C" fn cuModuleUnload(module: *mut c_void) -> u32 {
    let goals = |driver: &Driver, _| {
        let loaded = driver.modules.get(&(module as u64)).ok_or(Code::INVALID_HANDLE)?;
        Ok(driver.goals_of_device(loaded.device))
    };
    call_and_wait(goals, |driver, _| driver.module_unload(module as u64))
}

/// Returns a new handle of the kernel `name` of a module.
///
/// # Safety
/// `function` must be null or valid for writing a handle; `name` must be null or a text that ends with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunction(
    function: *mut *mut c_void,
    module: *mut c_void,
    name: *const c_char,
) -> u32 {
    call_in_context(|driver, _| {
        if function.is_null() || name.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: `name` is not null, so the caller guarantees that it is a text that ends with a NUL.
        let name = unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| Code::NOT_FOUND)?;
        // SAFETY: the caller guarantees that `function` is null or valid for writing a handle.
        unsafe { put(function, driver.module_function(module as u64, name)? as *mut c_void) }
    })
}

/// Sets an attribute of a kernel: the largest dynamic shared memory that a launch may request. The attribute that
/// splits memory between shared memory and cache is accepted, but has no effect.
#[unsafe(no_mangle)]
pub extern "C" fn cuFuncSetAttribute(function: *mut c_void, attribute: u32, value: c_int) -> u32 {
    const CARVEOUT: u32 = 9;
    call_in_context(|driver, _| match attribute {
        MAX_DYNAMIC_SHARED => driver.function_allow_shared(function as u64, value),
        CARVEOUT => driver.function(function as u64).map(drop),
        _ => Err(Code::INVALID_VALUE),
    })
}

/// Returns an attribute of a kernel.
///
/// # Safety
/// `value` must be null or valid for writing a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetAttribute(value: *mut c_int, attribute: u32, function: *mut c_void) -> u32 {
    // SAFETY: the caller guarantees that `value` is null or valid for writing a number.
    call_in_context(|driver, _| unsafe { put(value, driver.function_attribute(function as u64, attribute)?) })
}
