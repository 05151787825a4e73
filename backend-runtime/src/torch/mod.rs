//! libtorch, loaded at run time: any of its ops by name, on the CPU and on its GPUs.
//!
//! `aten` mappings of the table go through [`aten()`](aten::aten); a row `call = "reduce::sum"` is the function `sum` in
//! `reduce.rs`, composed of libtorch's ops where it has no such op.
//!
//! # Finding libtorch
//!
//! Nothing of libtorch is needed to build this crate. At the first [`Torch::new`] it is looked for in `$LIBTORCH` (its folder
//! `torch`, which has `lib` and `include`), in `libtorch/torch` of the program's cargo project, and in `python3`'s packages; never
//! where another user may have put it. A shim of some hundred lines is then compiled against its headers, with `$CXX`, `g++`, `c++` or `clang++`, and
//! kept for later runs in `$BACKENDS_CACHE`, else in `backends` of the user's cache folder, if he has one. Where something is missing,
//! [`Torch::new`] is [`Error::Unavailable`], which says what to do.

mod array;
pub mod aten;
mod build;
mod call;
mod ffi;
mod locate;
mod ops;
mod schema;
mod tensor;
mod via;
mod with;

pub mod create;
pub mod elementwise;
pub mod fft;
pub mod index;
pub mod linalg;
pub mod random;
pub mod reduce;
pub mod shape;
pub mod sort;
pub mod special;

#[cfg(test)]
mod tests;

pub use array::TorchArray;
pub use aten::{Aten, FromTensors, aten};
pub use build::build_shim;
pub use locate::libtorch;
pub use tensor::{Arg, Tensor};
pub use via::Via;

use crate::{Arrays, Element, Error, HostArray, Result, numpyish::Numpyish, random::Stream};
use std::fmt;

/// What a function of this backend gets for an `operand` parameter.
pub type Operand<'a, T> = crate::Operand<'a, Torch, T>;

/// libtorch on one device. Free to clone; clones share the random stream.
#[derive(Clone, Debug)]
pub struct Torch {
    /// -1 is the CPU, else the number of the GPU.
    index: i32,
    /// Where random numbers come from, and what is made on the host: the same recipes serve every backend.
    host: Numpyish,
}

impl Torch {
    /// libtorch on a device: `"cpu"`, `"cuda"` (the first GPU), `"cuda:1"`. Finds and loads libtorch at first use.
    pub fn new(device: &str) -> Result<Torch> {
        let index = device_index(device)?;
        let shim = ffi::load()?;
        // SAFETY: it counts, and changes nothing.
        let count = unsafe { (shim.device_count)() };
        if index >= count.max(0) {
            let why = if count == 0 { "libtorch finds no GPU".into() } else { format!("libtorch finds {count} GPUs") };
            return Err(Error::Unavailable { backend: Torch::NAME, why: format!("no device {device}: {why}") });
        }
        let (seed, _) = Stream::from_entropy().take(0);
        Ok(Torch { index, host: Numpyish::seeded(seed) })
    }

    /// libtorch on the CPU.
    pub fn cpu() -> Result<Torch> {
        Torch::new("cpu")
    }

    /// The same device, with a random stream of its own that starts from `seed`.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Torch {
        Torch { host: Numpyish::seeded(seed), ..self }
    }

    /// What is made on the host.
    fn host(&self) -> &Numpyish {
        &self.host
    }

    /// -1 for the CPU, else the number of the GPU.
    #[inline(always)]
    fn index(&self) -> i32 {
        self.index
    }
}

/// `"cuda:1"` as a number; -1 is the CPU.
fn device_index(device: &str) -> Result<i32> {
    let index = match device {
        "cpu" => Some(-1),
        "cuda" => Some(0),
        other => other
            .strip_prefix("cuda:")
            .filter(|n| n.bytes().all(|c| c.is_ascii_digit()))
            .and_then(|n| n.parse::<u8>().ok())
            .map(i32::from),
    };
    index.ok_or_else(|| {
        Error::argument("Torch::new", format!("`{device}` is no device; use \"cpu\", \"cuda\" or \"cuda:1\""))
    })
}

/// The name of a device: `"cpu"`, `"cuda:0"`.
fn device_name(index: i32) -> String {
    if index < 0 { "cpu".into() } else { format!("cuda:{index}") }
}

impl fmt::Display for Torch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&device_name(self.index))
    }
}

impl Arrays for Torch {
    type Array<T: Element> = TorchArray<T>;

    const NAME: &'static str = "torch";

    #[inline]
    fn shape<'a, T: Element>(&self, x: &'a TorchArray<T>) -> &'a [usize] {
        x.shape()
    }

    fn to_ndarray<T: Element>(&self, x: &TorchArray<T>) -> Result<HostArray<T>> {
        array::to_host(x.tensor())
    }

    fn from_ndarray<T: Element>(&self, x: HostArray<T>) -> Result<TorchArray<T>> {
        array::from_host(x, self.index)
    }

    fn device(&self) -> String {
        device_name(self.index)
    }

    fn synchronize(&self) -> Result<()> {
        if self.index < 0 {
            return Ok(());
        }
        let shim = ffi::load()?;
        // SAFETY: the device was found when the backend was made.
        match unsafe { (shim.synchronize)(self.index) } {
            ffi::status::DONE => Ok(()),
            status => Err(shim.error("synchronize", status, self)),
        }
    }

    fn seed(&self, seed: u64) {
        self.host.seed(seed);
    }
}
