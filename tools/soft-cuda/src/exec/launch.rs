//! The configuration of a launch: the size of its grid and blocks, its shared memory and its parameters.

/// The configuration of a launch. The caller must have rejected all configurations that a driver rejects.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The number of blocks along each axis.
    pub grid: [u32; 3],
    /// The number of threads of a block along each axis.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes, in addition to the shared memory that the kernel declares.
    pub shared: u32,
    /// The bytes of all parameters, in the layout of [`crate::ptx::KernelInfo::params`].
    pub params: Vec<u8>,
}
