//! The backend that a command line asks for.

use backends::{AnyBackend, Cuda, Numpyish, Torch};
use std::{error::Error, str::FromStr};

/// Which library runs the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// The CPU, on ndarray.
    Numpyish,
    /// libtorch.
    Torch,
    /// An NVIDIA GPU.
    Cuda,
    /// The first GPU where there is one, else the CPU.
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
    /// The backend, on the device asked for or on the usual one: of GPUs the first, or of several ranks on a machine, the one of this rank's
    /// number there, `local_rank`; where there are fewer GPUs, they are dealt out again.
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

/// The GPU of this number, counted again from the first where there are fewer.
fn gpu(number: usize) -> Result<AnyBackend, Box<dyn Error>> {
    let own = Cuda::new(number);
    if own.is_ok() || number == 0 {
        return Ok(own?.into());
    }
    let count = (0..number).take_while(|other| Cuda::new(*other).is_ok()).count();
    if count == 0 { Ok(own?.into()) } else { Ok(Cuda::new(number % count)?.into()) }
}
