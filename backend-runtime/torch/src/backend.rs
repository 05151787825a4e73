//! Defines `Torch`, the backend: a device of libtorch, and a stream of random numbers.

use super::{
    ffi,
    tensor::{MPS, device_name},
};
use backend_core::{Arrays, Error, Result, numpyish::Numpyish, random::Stream};
use std::fmt;

/// libtorch on one device. Cheap to clone; clones share the stream of random numbers.
#[derive(Clone, Debug)]
pub struct Torch {
    /// -1 for the CPU, [`MPS`] for the GPU of a Mac, else the GPU's ordinal.
    pub(super) index: i32,
    /// Whether CPU loops read and write this backend's tensors in place.
    pub(super) in_place: bool,
    /// The CPU backend: it holds the random stream, and computes the ops that run on the host.
    pub(super) host: Numpyish,
}

impl Torch {
    /// libtorch on a device: `"cpu"`, `"cuda"` (the first GPU), `"cuda:1"`, or `"mps"` (the GPU of a Mac). The first
    /// call finds and loads libtorch.
    pub fn new(device: &str) -> Result<Torch> {
        let index = device_index(device)?;
        let shim = ffi::load()?;
        // SAFETY: the function only asks whether libtorch supports the device.
        if index == MPS && unsafe { (shim.has_mps)() } == 0 {
            return Err(Error::unavailable(Torch::NAME, "no device mps: libtorch finds no GPU of a Mac"));
        }
        // SAFETY: the function only counts devices.
        let count = unsafe { (shim.device_count)() };
        if index != MPS && index >= count.max(0) {
            let why = if count == 0 { "libtorch finds no GPU".into() } else { format!("libtorch finds {count} GPUs") };
            return Err(Error::unavailable(Torch::NAME, format!("no device {device}: {why}")));
        }
        let (seed, _) = Stream::from_entropy().take(0);
        Ok(Torch { index, in_place: index < 0, host: Numpyish::seeded(seed) })
    }

    /// libtorch on the CPU.
    pub fn cpu() -> Result<Torch> {
        Torch::new("cpu")
    }

    /// Returns a backend on the same device that draws from its own random stream, which starts from `seed`.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Torch {
        Torch { host: Numpyish::seeded(seed), ..self }
    }

    /// Returns a backend on the same device that treats its tensors like tensors of a GPU: CPU loops copy tensors to and
    /// from the host, and never access them in place. This is for tests of these copies on machines without a GPU.
    #[doc(hidden)]
    #[must_use]
    pub fn copying(self) -> Torch {
        Torch { in_place: false, ..self }
    }

    /// Returns whether CPU loops read and write this backend's tensors in place.
    pub(super) fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// The CPU backend, for ops computed on the host.
    pub(super) fn host(&self) -> &Numpyish {
        &self.host
    }

    /// -1 for the CPU, [`MPS`] for the GPU of a Mac, else the GPU's ordinal.
    #[inline(always)]
    pub(super) fn index(&self) -> i32 {
        self.index
    }
}

/// Parses a device name such as `"cuda:1"`; -1 is the CPU.
pub(super) fn device_index(device: &str) -> Result<i32> {
    let index = match device {
        "cpu" => Some(-1),
        "cuda" => Some(0),
        "mps" => Some(MPS),
        other => other
            .strip_prefix("cuda:")
            .filter(|n| n.bytes().all(|c| c.is_ascii_digit()))
            .and_then(|n| n.parse::<u8>().ok())
            .map(i32::from),
    };
    index.ok_or_else(|| {
        Error::argument(
            "Torch::new",
            format!("the device is `{device}`, but must be \"cpu\", \"cuda\", \"cuda:1\" or \"mps\""),
        )
    })
}

impl fmt::Display for Torch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&device_name(self.index))
    }
}
