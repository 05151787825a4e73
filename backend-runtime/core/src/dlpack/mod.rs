//! DLPack tensors: the C structs, a type that owns them, and conversions from and to arrays in host memory. The guide
//! is in the module `dlpack` of the facade crate.

mod abi;
mod host;
mod layout;
mod managed;

pub use crate::foreign::release_unused;
pub use abi::{
    CAPSULE, DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor, IS_COPIED,
    LEGACY_CAPSULE, READ_ONLY, USED_CAPSULE, USED_LEGACY_CAPSULE, VERSION,
};
pub use managed::ManagedTensor;

pub use host::{WORTH_SHARING, check_bools, export, import};
pub use layout::Layout;
pub use managed::Parts;

/// The choice between sharing and copying the memory, when an array is converted to a tensor or a tensor to an array.
/// The modes are those of `copy` in the Python Array API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CopyMode {
    /// `None` in Python: shares the memory if possible, otherwise copies it.
    #[default]
    IfNeeded,
    /// `True` in Python: always copies.
    Always,
    /// `False` in Python: shares the memory, or returns an error.
    Never,
}

impl CopyMode {
    /// Returns the mode for exporting an array with this shape and these strides. `IfNeeded` becomes `Always` if a
    /// stride is negative, because libtorch (as of 2.11) does not support negative strides, and ends the process if it
    /// receives any.
    pub fn of_tensor(self, shape: &[usize], strides: &[isize]) -> CopyMode {
        let backward = shape.iter().zip(strides).any(|(&len, &stride)| len > 1 && stride < 0);
        if self == CopyMode::IfNeeded && backward { CopyMode::Always } else { self }
    }
}
