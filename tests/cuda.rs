//! Every row on the GPU, for every dtype, against NumPy; and how much each copies to the host, where the GPU is the software
//! device, which counts that.

mod common;

use backends::prelude::*;
use std::sync::OnceLock;

backends::conformance! {
    backend = Cuda::new(0), type = Cuda, meter = copied_to_host, formulas = true,
}

/// Bytes that this thread has copied from the device to the host.
fn copied_to_host() -> Option<u64> {
    static DEVICE: OnceLock<Option<common::SoftCuda>> = OnceLock::new();
    DEVICE.get_or_init(common::SoftCuda::open).as_ref().map(common::SoftCuda::copied)
}
