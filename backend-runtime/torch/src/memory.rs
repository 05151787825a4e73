//! Descriptions and memory use of libtorch's devices. For the CPU, the operating system reports the memory use of the
//! process; for a GPU, libtorch's allocator counts it. Devices are integers here: -1 is the CPU, [`MPS`] is the GPU of
//! a Mac, and other values are GPU ordinals.

use super::{
    ffi,
    tensor::{MPS, device_name},
};
use backend_core::{DeviceInfo, DeviceKind, MemoryInfo, Result, device::host};
#[cfg(feature = "cuda")]
use backend_cuda::info::info as gpu;
use std::ffi::c_int;

/// Describes a device.
pub(super) fn info(backend: &'static str, index: i32) -> Result<DeviceInfo> {
    let shim = ffi::load()?;
    let mut info = match usize::try_from(index) {
        Ok(_) if index == MPS => DeviceInfo::new(backend, device_name(index), DeviceKind::Gpu, "GPU of a Mac"),
        Ok(ordinal) => gpu(backend, device_name(index), ordinal)?,
        Err(_) => host::info(backend),
    };
    (info.library, info.version) = ("libtorch".into(), Some(shim.version_text()));
    Ok(info)
}

/// Describes a GPU without the driver's information, which needs the `cuda` feature.
#[cfg(not(feature = "cuda"))]
fn gpu(backend: &'static str, device: String, _: usize) -> Result<DeviceInfo> {
    Ok(DeviceInfo::new(backend, device, DeviceKind::Gpu, "GPU"))
}

/// The memory use of a device.
pub(super) fn memory(backend: &'static str, index: i32) -> Result<MemoryInfo> {
    if index < 0 {
        return host::memory(backend);
    }
    let mut bytes = [0; 5];
    // SAFETY: the array has room for five numbers.
    on_gpu("memory", index, |shim| unsafe { (shim.memory)(index, bytes.as_mut_ptr()) })?;
    let [in_use, peak, cached, free, total] = bytes;
    Ok(MemoryInfo::new(in_use, peak, cached, free.saturating_add(cached).min(total), total))
}

/// Sets the peak number of bytes in use to the present number.
pub(super) fn reset_peak(backend: &'static str, index: i32) -> Result<()> {
    if index < 0 {
        return host::reset_peak(backend);
    }
    // SAFETY: the function accepts any integer, and returns an error if it is not the ordinal of a GPU.
    on_gpu("reset_peak_memory", index, |shim| unsafe { (shim.reset_peak)(index) })
}

/// Frees GPU memory that libtorch caches. On the CPU libtorch caches nothing.
pub(super) fn free_cache(index: i32) -> Result<()> {
    if index < 0 {
        return Ok(());
    }
    // SAFETY: the function accepts any integer, and returns an error if it is not the ordinal of a GPU.
    on_gpu("free_cache", index, |shim| unsafe { (shim.free_cache)(index) })
}

fn on_gpu(op: &'static str, index: i32, call: impl FnOnce(&ffi::Shim) -> c_int) -> Result<()> {
    let shim = ffi::load()?;
    match call(shim) {
        ffi::status::DONE => Ok(()),
        status => Err(shim.error(op, status, &device_name(index))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Torch;
    use backend_core::{Arrays, available};

    #[test]
    fn the_cpu_of_libtorch_is_the_host() {
        let Some(b) = available("torch", Torch::cpu()) else { return };
        let (info, host) = (b.device_info().unwrap(), host::info("torch"));
        assert_eq!((info.backend, info.kind, &info.name), ("torch", DeviceKind::Cpu, &host.name));
        assert_eq!((info.memory, info.processors), (host.memory, host.processors));
        let version = info.version.as_deref().unwrap_or_default();
        assert!(info.library == "libtorch" && version.starts_with(|c: char| c.is_ascii_digit()), "{info}");
        b.free_cache().unwrap();
        if let Some(memory) = available("memory", b.memory()) {
            assert!(memory.in_use > 0 && memory.peak >= memory.in_use && memory.available <= memory.total, "{memory}");
        }
    }

    /// For a missing GPU, libtorch returns an error, and the process continues.
    #[test]
    fn a_gpu_that_is_not_there_is_an_error() {
        if available("torch", Torch::cpu()).is_none() {
            return;
        }
        const NONE: i32 = 100;
        for refused in [memory("torch", NONE).map(drop), reset_peak("torch", NONE), free_cache(NONE)] {
            let error = refused.unwrap_err();
            assert!(
                matches!(error, backend_core::Error::Library { .. } | backend_core::Error::Unsupported { .. }),
                "{error}"
            );
        }
    }
}
