//! Information about a GPU from the driver. The `Torch` backend uses it too, because libtorch numbers GPUs as the
//! driver does.

use super::{error::Checked, library::Library};
use backend_core::{DeviceInfo, DeviceKind, Error, Result, threads};
use cudarc::driver::{result, sys};

const OP: &str = "device_info";

/// Describes the GPU with this ordinal as the device of a backend. Needs no CUDA context.
pub fn info(backend: &'static str, device: String, ordinal: usize) -> Result<DeviceInfo> {
    use sys::CUdevice_attribute_enum as Attribute;
    Library::Driver.load()?;
    threads::refuse_forked(backend)?;
    result::init().checked(OP)?;
    let number = i32::try_from(ordinal)
        .map_err(|_| Error::argument(OP, format!("the ordinal is {ordinal}, but must be the ordinal of a GPU")))?;
    let gpu = result::device::get(number).checked(OP)?;
    let mut info = DeviceInfo::new(backend, device, DeviceKind::Gpu, result::device::get_name(gpu).checked(OP)?);
    // SAFETY: the driver returned the handle `gpu`, so it is valid.
    let attribute = |which| unsafe { result::device::get_attribute(gpu, which) }.checked(OP);
    // SAFETY: the driver returned the handle `gpu`, so it is valid.
    info.memory = Some(unsafe { result::device::total_mem(gpu) }.checked(OP)? as u64);
    info.processors = usize::try_from(attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?).ok();
    let major = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)? as u32;
    let minor = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)? as u32;
    info.compute_capability = Some((major, minor));
    let mut version = 0;
    // SAFETY: the pointer is to an `i32`, which gets 1000 times the major version plus 10 times the minor one.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result().checked(OP)?;
    (info.library, info.version) = ("CUDA driver".into(), Some(format!("{}.{}", version / 1000, version % 1000 / 10)));
    Ok(info)
}

/// The UUID of a GPU, which identifies it on all machines and in all processes.
pub(super) fn uuid(ordinal: usize) -> Result<[u8; 16]> {
    const OP: &str = "link";
    Library::Driver.load()?;
    result::init().checked(OP)?;
    let number = i32::try_from(ordinal)
        .map_err(|_| Error::argument(OP, format!("the ordinal is {ordinal}, but must be the ordinal of a GPU")))?;
    let uuid = result::device::get_uuid(result::device::get(number).checked(OP)?).checked(OP)?;
    Ok(uuid.bytes.map(|byte| byte.to_ne_bytes()[0]))
}

/// Number of GPUs that the driver finds.
pub(super) fn count() -> Result<usize> {
    const OP: &str = "Cuda::count";
    Library::Driver.load()?;
    threads::refuse_forked("cuda")?;
    result::init().checked(OP)?;
    Ok(usize::try_from(result::device::get_count().checked(OP)?).unwrap_or(0))
}
