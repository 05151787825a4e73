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

/// A fault that stops a kernel. As on a GPU, the call that finds the fault and every later call in the context report
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An access that is not within one live allocation.
    Illegal {
        /// The kind of access.
        access: Access,
        /// The device address.
        address: u64,
        /// The number of bytes.
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
        /// The number of bytes.
        bytes: usize,
    },
    /// Any other fault that would stop a GPU, or whose result is undefined on a GPU.
    Failed(String),
    /// An instruction that this device does not have.
    Unsupported(String),
    /// Another fault with its position.
    At {
        /// The kernel, the thread and the statement.
        place: String,
        /// The fault.
        fault: Box<Fault>,
    },
}

impl Fault {
    /// The driver's error code: `CUDA_ERROR_ILLEGAL_ADDRESS`, `.._MISALIGNED_ADDRESS`, `.._LAUNCH_FAILED`,
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

    /// This fault with its position.
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
