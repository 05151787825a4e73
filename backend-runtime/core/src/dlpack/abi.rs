//! The C structs of DLPack 1.3, under the names of its header `dlpack.h`.
//!
//! This module replaces the existing crates with these structs: their wrapper types still change between versions, and
//! this crate needs nothing else of them.

use crate::DType;
use std::{ffi::c_void, fmt};

/// The DLPack version of the tensors that this crate makes. They use no feature newer than version 1.0, so that every
/// consumer of a version 1.x accepts them.
pub const VERSION: DLPackVersion = DLPackVersion { major: 1, minor: 0 };

/// `DLPACK_FLAG_BITMASK_READ_ONLY`: the consumer must not write to the memory.
pub const READ_ONLY: u64 = 1;

/// `DLPACK_FLAG_BITMASK_IS_COPIED`: the producer made a copy for the consumer, and nobody else uses the copy.
pub const IS_COPIED: u64 = 2;

/// The name of a Python capsule with a [`DLManagedTensorVersioned`].
pub const CAPSULE: &std::ffi::CStr = c"dltensor_versioned";

/// The name that a consumer gives to a capsule [`CAPSULE`] when it takes the tensor out.
pub const USED_CAPSULE: &std::ffi::CStr = c"used_dltensor_versioned";

/// The name of a Python capsule with a [`DLManagedTensor`].
pub const LEGACY_CAPSULE: &std::ffi::CStr = c"dltensor";

/// The name that a consumer gives to a capsule [`LEGACY_CAPSULE`] when it takes the tensor out.
pub const USED_LEGACY_CAPSULE: &std::ffi::CStr = c"used_dltensor";

/// A version of DLPack. The structs differ between major versions.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLPackVersion {
    /// The major version, which changes if the layout of the structs changes.
    pub major: u32,
    /// The minor version, which changes if codes (of devices, types or flags) are added.
    pub minor: u32,
}

/// The device on which memory is.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DLDevice {
    /// The kind of device, a `DLDeviceType`, such as 1 for [`DLDevice::CPU`] and 2 for [`DLDevice::cuda`].
    pub device_type: i32,
    /// Index among the devices of this kind; 0 for host memory.
    pub device_id: i32,
}

impl DLDevice {
    /// Ordinary memory of the host, `kDLCPU`.
    pub const CPU: DLDevice = DLDevice { device_type: 1, device_id: 0 };

    /// Pinned memory of the host, which an NVIDIA GPU can read directly, `kDLCUDAHost`.
    pub const CUDA_HOST: DLDevice = DLDevice { device_type: 3, device_id: 0 };

    /// Memory of the GPU of a Mac, `kDLMetal`.
    pub const METAL: DLDevice = DLDevice { device_type: 8, device_id: 0 };

    /// Returns the device of an NVIDIA GPU's memory, `kDLCUDA`. `ordinal` is the index of the GPU.
    pub const fn cuda(ordinal: i32) -> DLDevice {
        DLDevice { device_type: 2, device_id: ordinal }
    }

    /// Returns whether the CPU can read the memory directly: `kDLCPU`, `kDLCUDAHost`, `kDLROCMHost`.
    pub const fn is_host(self) -> bool {
        matches!(self.device_type, 1 | 3 | 11)
    }
}

impl fmt::Display for DLDevice {
    /// Writes the backends' name of the device, such as `cuda:0`. For devices without such a name, writes the type and
    /// number in DLPack.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DLDevice { device_type, device_id } = self;
        match device_type {
            1 => f.write_str("cpu"),
            2 => write!(f, "cuda:{device_id}"),
            3 => f.write_str("pinned memory of the host (kDLCUDAHost)"),
            8 => f.write_str("mps"),
            10 => write!(f, "rocm:{device_id}"),
            11 => f.write_str("pinned memory of the host (kDLROCMHost)"),
            13 => f.write_str("managed memory (kDLCUDAManaged)"),
            other => write!(f, "DLPack's device type {other}, number {device_id}"),
        }
    }
}

/// The type of the elements of a tensor.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDataType {
    /// The kind of number, a `DLDataTypeCode`.
    pub code: u8,
    /// Number of bits of one number.
    pub bits: u8,
    /// Number of lanes, the numbers in one element. It is 1, except for vector types.
    pub lanes: u16,
}

impl From<DType> for DLDataType {
    fn from(dtype: DType) -> DLDataType {
        use DType::{
            BFloat16, Bool, Complex64, Complex128, Float16, Float32, Float64, Int8, Int16, Int32, Int64, UInt8, UInt16,
            UInt32, UInt64,
        };
        let code = match dtype {
            Int8 | Int16 | Int32 | Int64 => 0,
            UInt8 | UInt16 | UInt32 | UInt64 => 1,
            Float16 | Float32 | Float64 => 2,
            BFloat16 => 4,
            Complex64 | Complex128 => 5,
            Bool => 6,
        };
        DLDataType { code, bits: 8 * dtype.size() as u8, lanes: 1 }
    }
}

impl DLDataType {
    /// Returns the dtype that has this representation; `None` if this crate has no such dtype.
    pub fn dtype(self) -> Option<DType> {
        DType::ALL.into_iter().find(|&dtype| DLDataType::from(dtype) == self)
    }
}

impl fmt::Display for DLDataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 18] = [
            "int",
            "uint",
            "float",
            "handle",
            "bfloat",
            "complex",
            "bool",
            "float8_e3m4",
            "float8_e4m3",
            "float8_e4m3b11fnuz",
            "float8_e4m3fn",
            "float8_e4m3fnuz",
            "float8_e5m2",
            "float8_e5m2fnuz",
            "float8_e8m0fnu",
            "float6_e2m3fn",
            "float6_e3m2fn",
            "float4_e2m1fn",
        ];
        match NAMES.get(usize::from(self.code)) {
            Some(name) => f.write_str(name)?,
            None => write!(f, "code {}", self.code)?,
        }
        write!(f, " of {} bits", self.bits)?;
        if self.lanes == 1 { Ok(()) } else { write!(f, " and {} lanes", self.lanes) }
    }
}

/// A tensor that does not own its memory: type, shape, strides and address of the elements.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DLTensor {
    /// Address of the memory; null if there are no elements.
    pub data: *mut c_void,
    /// The device of the memory.
    pub device: DLDevice,
    /// Number of axes.
    pub ndim: i32,
    /// Type of the elements.
    pub dtype: DLDataType,
    /// Lengths of the axes; may be null if there are no axes.
    pub shape: *mut i64,
    /// Distances between neighbouring elements along each axis, in elements. Before DLPack 1.2, null means C order.
    pub strides: *mut i64,
    /// Offset from `data` to the first element, in bytes.
    pub byte_offset: u64,
}

/// A tensor with a deleter for its memory, in the form before DLPack 1.0: without a version and without flags.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensor {
    /// The type, shape, strides and address of the elements.
    pub dl_tensor: DLTensor,
    /// Private data of the producer.
    pub manager_ctx: *mut c_void,
    /// The consumer calls this function once, when it is done with the tensor.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

/// A tensor with a deleter for its memory, in the form since DLPack 1.0.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensorVersioned {
    /// The version of DLPack. If the consumer does not know this major version, it may use nothing except the deleter.
    pub version: DLPackVersion,
    /// Private data of the producer.
    pub manager_ctx: *mut c_void,
    /// The consumer calls this function once, when it is done with the tensor.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
    /// The flags of the tensor: [`READ_ONLY`] and [`IS_COPIED`].
    pub flags: u64,
    /// The type, shape, strides and address of the elements.
    pub dl_tensor: DLTensor,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    /// Compares sizes and offsets with the header's values on a 64-bit machine.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn structs_are_those_of_the_header() {
        assert_eq!((size_of::<DLDevice>(), size_of::<DLDataType>(), size_of::<DLTensor>()), (8, 4, 48));
        assert_eq!(
            (offset_of!(DLTensor, device), offset_of!(DLTensor, ndim), offset_of!(DLTensor, dtype)),
            (8, 16, 20)
        );
        assert_eq!((offset_of!(DLTensor, shape), offset_of!(DLTensor, byte_offset)), (24, 40));
        assert_eq!((offset_of!(DLManagedTensor, manager_ctx), offset_of!(DLManagedTensor, deleter)), (48, 56));
        let versioned = (
            offset_of!(DLManagedTensorVersioned, manager_ctx),
            offset_of!(DLManagedTensorVersioned, deleter),
            offset_of!(DLManagedTensorVersioned, flags),
            offset_of!(DLManagedTensorVersioned, dl_tensor),
        );
        assert_eq!(versioned, (8, 16, 24, 32));
    }

    #[test]
    fn every_dtype_has_a_type_of_its_own() {
        for dtype in DType::ALL {
            assert_eq!(DLDataType::from(dtype).dtype(), Some(dtype));
        }
        let of = |code, bits, lanes| DLDataType { code, bits, lanes };
        assert_eq!(of(5, 128, 1).dtype(), Some(DType::Complex128));
        for (foreign, name) in [
            (of(2, 32, 4), "float of 32 bits and 4 lanes"),
            (of(6, 1, 1), "bool of 1 bits"),
            (of(12, 8, 1), "float8_e5m2 of 8 bits"),
            (of(99, 8, 1), "code 99 of 8 bits"),
        ] {
            assert_eq!((foreign.dtype(), foreign.to_string().as_str()), (None, name));
        }
    }
}
