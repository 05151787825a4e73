//! What the driver says of a GPU. The torch backend asks as well: libtorch numbers GPUs as the driver does.

use super::{error::Checked, library::Library};
use crate::{DeviceInfo, DeviceKind, Error, Result, threads};
use cudarc::driver::{result, sys};

const OP: &str = "device_info";

/// The GPU of this ordinal, as the device of a backend. No context of it is needed.
pub(crate) fn info(backend: &'static str, device: String, ordinal: usize) -> Result<DeviceInfo> {
    use sys::CUdevice_attribute_enum as Of;
    Library::Driver.load()?;
    threads::refuse_forked(backend)?;
    result::init().checked(OP)?;
    let number = i32::try_from(ordinal)
        .map_err(|_| Error::argument(OP, format!("the ordinal is {ordinal}, but must be that of a GPU")))?;
    let gpu = result::device::get(number).checked(OP)?;
    let mut info = DeviceInfo::new(backend, device, DeviceKind::Gpu, result::device::get_name(gpu).checked(OP)?);
    // SAFETY: the driver gave the device.
    let attribute = |which| unsafe { result::device::get_attribute(gpu, which) }.checked(OP);
    // SAFETY: as above.
    info.memory = Some(unsafe { result::device::total_mem(gpu) }.checked(OP)? as u64);
    info.processors = usize::try_from(attribute(Of::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?).ok();
    let major = attribute(Of::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)? as u32;
    let minor = attribute(Of::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)? as u32;
    info.compute_capability = Some((major, minor));
    let mut version = 0;
    // SAFETY: there is room for the number, 1000 times the major version and 10 times the minor one.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result().checked(OP)?;
    (info.library, info.version) = ("CUDA driver".into(), Some(format!("{}.{}", version / 1000, version % 1000 / 10)));
    Ok(info)
}

/// What a GPU is known by, on all machines and in every process.
pub(super) fn uuid(ordinal: usize) -> Result<[u8; 16]> {
    const OP: &str = "link";
    Library::Driver.load()?;
    result::init().checked(OP)?;
    let number = i32::try_from(ordinal)
        .map_err(|_| Error::argument(OP, format!("the ordinal is {ordinal}, but must be that of a GPU")))?;
    let uuid = result::device::get_uuid(result::device::get(number).checked(OP)?).checked(OP)?;
    Ok(uuid.bytes.map(|byte| byte as u8))
}

/// How many GPUs there are.
pub(super) fn count() -> Result<usize> {
    const OP: &str = "Cuda::count";
    Library::Driver.load()?;
    threads::refuse_forked("cuda")?;
    result::init().checked(OP)?;
    Ok(usize::try_from(result::device::get_count().checked(OP)?).unwrap_or(0))
}
