//! Kernel launches. A launch is checked against the device's limits, and its parameters are copied during the call.

use super::{
    device::{MAX_BLOCK_DIM, MAX_BLOCK_THREADS, MAX_GRID_DIM},
    edge::call_in_context,
    error::{Code, Result},
    state::Driver,
    work::Work,
};
use crate::exec::Launch;
use std::ffi::c_void;

impl Driver {
    /// Enqueues a kernel on a stream.
    pub fn launch(&mut self, device: usize, function: u64, launch: Launch, stream: u64) -> Result<()> {
        let function = self.function(function)?;
        let stream = self.stream_on(device, stream)?;
        if function.device != device {
            return Err(Code::INVALID_HANDLE);
        }
        let within = |sizes: [u32; 3], most: [u32; 3]| sizes.iter().zip(most).all(|(&n, most)| n > 0 && n <= most);
        let threads: u64 = launch.block.iter().map(|&n| u64::from(n)).product();
        if !within(launch.grid, MAX_GRID_DIM)
            || !within(launch.block, MAX_BLOCK_DIM)
            || threads > u64::from(MAX_BLOCK_THREADS)
            || launch.shared > function.most_shared
        {
            return Err(Code::INVALID_VALUE);
        }
        let info = function.info();
        if info.max_threads.is_some_and(|most| threads > u64::from(most)) {
            return Err(Code::LAUNCH_OUT_OF_RESOURCES);
        }
        if launch.params.len() != info.param_bytes {
            return Err(Code::INVALID_VALUE);
        }
        let what = info.name.clone();
        let work = Work::Launch(device, function.module.clone(), function.kernel, launch);
        self.counts.launched();
        self.put_on(stream, what, work, 0)
    }
}

/// Enqueues a kernel on a stream.
///
/// # Safety
/// `params` must have a pointer for each parameter of the kernel, to a value of the parameter's size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernel(
    function: *mut c_void,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    shared: u32,
    stream: *mut c_void,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> u32 {
    call_in_context(|driver, device| {
        if !extra.is_null() {
            return Err(Code::NOT_SUPPORTED);
        }
        let info = driver.function(function as u64)?.info();
        if params.is_null() && !info.params.is_empty() {
            return Err(Code::INVALID_VALUE);
        }
        let mut bytes = vec![0; info.param_bytes];
        for (i, param) in info.params.iter().enumerate() {
            // SAFETY: the caller guarantees that `params` has a pointer for each parameter of the kernel, to a value of
            // the parameter's size.
            let value = unsafe { *params.add(i) };
            if value.is_null() {
                return Err(Code::INVALID_VALUE);
            }
            // SAFETY: the caller guarantees that `params` has a pointer for each parameter of the kernel, to a value of
            // the parameter's size.
            let value = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), param.size) };
            bytes[param.offset..param.offset + param.size].copy_from_slice(value);
        }
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        driver.launch(device, function as u64, Launch { grid, block, shared, params: bytes }, stream as u64)
    })
}
