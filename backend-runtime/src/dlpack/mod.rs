//! Tensors of DLPack: the C structs, their owner, and arrays of the host from and to them. The facade's module `dlpack` has the guide.

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

#[cfg(feature = "torch")]
pub(crate) use host::{WORTH_SHARING, check_bools};
pub(crate) use host::{export, import};
#[cfg(feature = "cuda")]
pub(crate) use {layout::Layout, managed::Parts};

/// Whether memory is shared, as `copy` of the Python Array API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CopyMode {
    /// `None`: shared where that can be.
    #[default]
    IfNeeded,
    /// `True`: in memory of its own.
    Always,
    /// `False`: shared, or an error.
    Never,
}

impl CopyMode {
    /// What is done with an array of these axes that becomes a tensor: one that is read backward is copied unless it has to be shared, as
    /// libtorch has no negative strides, and (as of 2.11) ends the process where it is given some.
    pub(crate) fn of_tensor(self, shape: &[usize], strides: &[isize]) -> CopyMode {
        let backward = shape.iter().zip(strides).any(|(&len, &stride)| len > 1 && stride < 0);
        if self == CopyMode::IfNeeded && backward { CopyMode::Always } else { self }
    }
}
