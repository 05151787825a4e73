//! Faults of kernels and copies on the device.

use std::fmt;

/// The kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The memory is read.
    Read,
    /// The memory is written.
    Write,
    /// The memory is read and written in one atomic operation.
    Atomic,
}

/// A fault that stops a kernel or a copy. As on a GPU, the call during which the fault occurs, and every later call in
/// the context, return its error code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An access that is not within one live allocation.
    Illegal {
        /// The kind of access.
        access: Access,
        /// The device address.
        address: u64,
        /// The size of the access in bytes.
        bytes: usize,
        /// A text that names the allocations near the address, or says that the memory was freed.
        near: String,
    },
    /// An access at an address that is not a multiple of its size.
    Misaligned {
        /// The kind of access.
        access: Access,
        /// The device address.
        address: u64,
        /// The size of the access in bytes.
        bytes: usize,
    },
    /// Any other mistake that stops a GPU, or that has an undefined result on a GPU. The text is the error message.
    Failed(String),
    /// A feature that the software device lacks, such as a call of a function without a body. The text names the
    /// feature.
    Unsupported(String),
    /// A fault, together with the position in the kernel at which it occurred.
    At {
        /// The position as text: the kernel, the block, the thread and the PTX statement.
        place: String,
        /// The fault.
        fault: Box<Fault>,
    },
}

impl Fault {
    /// Returns the driver's error code: `CUDA_ERROR_ILLEGAL_ADDRESS`, `.._MISALIGNED_ADDRESS`, `.._LAUNCH_FAILED`,
    /// `.._ILLEGAL_INSTRUCTION`.
    pub fn code(&self) -> u32 {
        match self {
            Fault::Illegal { .. } => 700,
            Fault::Misaligned { .. } => 716,
            Fault::Failed(_) => 719,
            Fault::Unsupported(_) => 715,
            Fault::At { fault, .. } => fault.code(),
        }
    }

    /// Adds the position in the kernel to this fault.
    pub(crate) fn at(self, place: String) -> Fault {
        Fault::At { place, fault: Box::new(self) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = |access: &Access| match access {
            Access::Read => "read",
            Access::Write => "write",
            Access::Atomic => "atomic operation",
        };
        match self {
            Fault::Illegal { access, address, bytes, near } => {
                write!(f, "illegal {} of {bytes} bytes at {address:#x}: {near}", verb(access))
            }
            Fault::Misaligned { access, address, bytes } => {
                write!(f, "misaligned {} of {bytes} bytes at {address:#x}", verb(access))
            }
            Fault::Failed(what) => f.write_str(what),
            Fault::Unsupported(what) => write!(f, "this device has no {what}"),
            Fault::At { place, fault } => write!(f, "{fault}; in {place}"),
        }
    }
}

impl std::error::Error for Fault {}
