//! Tests every op on the GPU, in every dtype, against NumPy. The software device counts copies, so on this device the
//! number of bytes that each op copies to the host is tested as well.

mod common;

use backends::prelude::*;
use std::sync::OnceLock;

backends::conformance! {
    backend = Cuda::new(0), type = Cuda, meter = copied_to_host, formulas = true,
}

/// Bytes that this thread has copied from the device to the host; `None` on a real GPU, which does not count the bytes.
fn copied_to_host() -> Option<u64> {
    static DEVICE: OnceLock<Option<common::SoftCuda>> = OnceLock::new();
    DEVICE.get_or_init(common::SoftCuda::open).as_ref().map(common::SoftCuda::copied)
}
