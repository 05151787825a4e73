//! The private memory of a thread: its local variables and its parameters.

/// The private memory of a thread.
#[derive(Debug, Default)]
pub(super) struct Private {
    /// The thread's index in the block.
    pub thread: u32,
    pub local: Vec<u8>,
    /// The index in `local` at which the current function's variables begin.
    pub local_base: usize,
    pub params: Vec<u8>,
    /// The index in `params` at which the current function's parameters begin.
    pub param_base: usize,
}
