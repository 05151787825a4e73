//! The private memory of a thread: its local variables and its parameters.

/// The private memory of a thread.
#[derive(Debug, Default)]
pub(super) struct Private {
    /// The thread's index in the block.
    pub thread: u32,
    pub local: Vec<u8>,
    /// The start of the current function's part of `local`.
    pub local_base: usize,
    pub params: Vec<u8>,
    /// The start of the current function's part of `params`.
    pub param_base: usize,
}
