//! Tests every op on the GPU, in every dtype, against NumPy. The software CUDA device (`tools/soft-cuda`) counts
//! copies, so on this device the number of bytes that each op copies to the host is tested as well.

mod common;

use backends::prelude::*;
use std::sync::OnceLock;

backends::conformance! {
    backend = Cuda::new(0), type = Cuda, meter = copied_to_host, formulas = true,
}

/// The number of bytes that this thread has copied from the device to the host; `None` on a real GPU, which does not
/// count them.
fn copied_to_host() -> Option<u64> {
    static DEVICE: OnceLock<Option<common::SoftCuda>> = OnceLock::new();
    DEVICE.get_or_init(common::SoftCuda::open).as_ref().map(common::SoftCuda::copied)
}
