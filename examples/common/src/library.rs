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
    /// The backend, on the device asked for or on the usual one.
    pub fn open(self, device: Option<&str>) -> Result<AnyBackend, Box<dyn Error>> {
        let gpu = |device: &str| -> Result<AnyBackend, Box<dyn Error>> {
            let number = device.strip_prefix("cuda:").or_else(|| (device == "cuda").then_some("0"));
            let number = number.and_then(|n| n.parse().ok());
            let number =
                number.ok_or_else(|| format!("--device {device}: this backend runs on `cuda` or `cuda:NUMBER`"))?;
            Ok(Cuda::new(number)?.into())
        };
        match (self, device) {
            (Library::Torch, device) => Ok(Torch::new(device.unwrap_or("cpu"))?.into()),
            (Library::Cuda, device) => gpu(device.unwrap_or("cuda")),
            (Library::Auto, Some(device)) if device != "cpu" => gpu(device),
            (Library::Auto, None) => Ok(gpu("cuda").unwrap_or_else(|_| Numpyish::new().into())),
            (Library::Auto | Library::Numpyish, None | Some("cpu")) => Ok(Numpyish::new().into()),
            (_, Some(device)) => Err(format!("--device {device}: numpyish runs on `cpu`").into()),
        }
    }
}
