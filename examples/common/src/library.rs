//! The backend selected on the command line.

use backends::{AnyBackend, Cuda, Numpyish, Torch};
use std::{error::Error, str::FromStr};

/// The choice of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// The backend `Numpyish`, on the CPU.
    Numpyish,
    /// The backend `Torch`, on libtorch.
    Torch,
    /// The backend `Cuda`, on an NVIDIA GPU.
    Cuda,
    /// `Cuda` if the machine has a GPU, otherwise `Numpyish`.
    Auto,
}

impl FromStr for Library {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Library, &'static str> {
        match name {
            "numpyish" => Ok(Library::Numpyish),
            "torch" => Ok(Library::Torch),
            "cuda" => Ok(Library::Cuda),
            "auto" => Ok(Library::Auto),
            _ => Err("the backends are numpyish, torch, cuda and auto"),
        }
    }
}

impl Library {
    /// Opens the backend on `device`. If `device` is `None`, `Torch` uses the CPU. `Cuda` and `Auto` then choose the
    /// GPU by `local_rank`, the number of this rank among the ranks of its machine: rank 0 uses the first GPU, rank 1
    /// the second, and so on. If there are more ranks than GPUs, several ranks share a GPU.
    pub fn open(self, device: Option<&str>, local_rank: usize) -> Result<AnyBackend, Box<dyn Error>> {
        let named = |device: &str| -> Result<AnyBackend, Box<dyn Error>> {
            let number = device.strip_prefix("cuda:").or_else(|| (device == "cuda").then_some("0"));
            let number = number.and_then(|n| n.parse().ok());
            let number =
                number.ok_or_else(|| format!("--device {device}: this backend runs on `cuda` or `cuda:NUMBER`"))?;
            Ok(Cuda::new(number)?.into())
        };
        match (self, device) {
            (Library::Torch, device) => Ok(Torch::new(device.unwrap_or("cpu"))?.into()),
            (Library::Cuda, Some(device)) => named(device),
            (Library::Cuda, None) => gpu(local_rank),
            (Library::Auto, Some(device)) if device != "cpu" => named(device),
            (Library::Auto, None) => Ok(gpu(local_rank).unwrap_or_else(|_| Numpyish::new().into())),
            (Library::Auto | Library::Numpyish, None | Some("cpu")) => Ok(Numpyish::new().into()),
            (_, Some(device)) => Err(format!("--device {device}: numpyish runs on `cpu`").into()),
        }
    }
}

/// Opens the GPU whose number is the remainder of `number` divided by the number of GPUs.
fn gpu(number: usize) -> Result<AnyBackend, Box<dyn Error>> {
    let own = Cuda::new(number);
    if own.is_ok() || number == 0 {
        return Ok(own?.into());
    }
    let count = (0..number).take_while(|other| Cuda::new(*other).is_ok()).count();
    if count == 0 { Ok(own?.into()) } else { Ok(Cuda::new(number % count)?.into()) }
}
