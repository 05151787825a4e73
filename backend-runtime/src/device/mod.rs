//! What a device is, and what its memory holds.

mod groups;
pub(crate) mod host;

use crate::{Error, Result};
use std::fmt;

/// The kind of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DeviceKind {
    /// The processor of this machine; its memory is the host's.
    Cpu,
    /// A graphics processor, with memory of its own.
    Gpu,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceKind::Cpu => "CPU",
            DeviceKind::Gpu => "GPU",
        })
    }
}

/// What a device is: [`Arrays::device_info`](crate::Arrays::device_info). Its `Display` is a description in one line.
///
/// A figure that the system does not give is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// The backend: `"cuda"`.
    pub backend: &'static str,
    /// The device, in the library's words: `"cuda:0"`.
    pub device: String,
    /// CPU or GPU.
    pub kind: DeviceKind,
    /// Name of the hardware: `"AMD EPYC 9654 96-Core Processor"`, `"NVIDIA H100 80GB HBM3"`. Of a CPU that the system does not name it is
    /// the architecture, `"aarch64"`.
    pub name: String,
    /// Bytes of memory that the hardware has. A program may be allowed less: [`MemoryInfo::total`].
    pub memory: Option<u64>,
    /// Of a CPU the logical processors that this process may use, of a GPU its multiprocessors.
    pub processors: Option<usize>,
    /// The library that computes: `"backends"` with its own loops on the CPU, `"libtorch"`, `"CUDA driver"`.
    pub library: String,
    /// The library's version: `"2.11.0"`, of CUDA's driver the newest CUDA that it serves, `"13.0"`.
    pub version: Option<String>,
    /// What an NVIDIA GPU can, as CUDA counts it: (9, 0).
    pub compute_capability: Option<(u32, u32)>,
}

impl DeviceInfo {
    /// A device of which no figures are known; the fields are set one by one.
    pub fn new(
        backend: &'static str,
        device: impl Into<String>,
        kind: DeviceKind,
        name: impl Into<String>,
    ) -> DeviceInfo {
        DeviceInfo {
            backend,
            device: device.into(),
            kind,
            name: name.into(),
            memory: None,
            processors: None,
            library: backend.into(),
            version: None,
            compute_capability: None,
        }
    }
}

impl fmt::Display for DeviceInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeviceInfo { backend, device, kind, name, .. } = self;
        write!(f, "{device} of {backend}: {name}, {kind}")?;
        if let Some((major, minor)) = self.compute_capability {
            write!(f, " of compute capability {major}.{minor}")?;
        }
        if let Some(n) = self.processors {
            write!(
                f,
                ", {n} {}processor{}",
                if *kind == DeviceKind::Gpu { "multi" } else { "" },
                if n == 1 { "" } else { "s" }
            )?;
        }
        if let Some(bytes) = self.memory {
            write!(f, ", {} of memory", Bytes(bytes))?;
        }
        write!(f, "; {}", self.library)?;
        self.version.iter().try_for_each(|version| write!(f, " {version}"))
    }
}

/// What the memory of a device holds: [`Arrays::memory`](crate::Arrays::memory). All figures are bytes.
///
/// | | on the CPU, for all backends of the process together | on a GPU |
/// |---|---|---|
/// | `in_use` | memory that the process has in RAM, all that it does counted: arrays, code, other libraries (`VmRSS` of Linux) | blocks that arrays of this process and backend have |
/// | `peak` | the most of that since the process began or the last reset (`VmHWM`) | the same of blocks, since the device's first use |
/// | `cached` | 0: what the allocator keeps is part of `in_use` | freed blocks that are kept for the next arrays |
/// | `available` | what can be had without swapping (`MemAvailable`), at most what the limits of the process's control groups leave | what is free on the device, and `cached` |
/// | `total` | the machine's memory (`MemTotal`), at most the lowest of these limits | the device's memory |
///
/// Memory of other processes is neither in use nor available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryInfo {
    /// Bytes in use.
    pub in_use: u64,
    /// The most bytes in use at one time, since the beginning or [`Arrays::reset_peak_memory`](crate::Arrays::reset_peak_memory).
    pub peak: u64,
    /// Bytes that are in use by no array, and kept for the next ones.
    pub cached: u64,
    /// Bytes that this process can have in addition to those in use.
    pub available: u64,
    /// Bytes that there are.
    pub total: u64,
}

impl MemoryInfo {
    /// The figures; `peak` is at least `in_use`.
    pub fn new(in_use: u64, peak: u64, cached: u64, available: u64, total: u64) -> MemoryInfo {
        MemoryInfo { in_use, peak: peak.max(in_use), cached, available, total }
    }
}

impl fmt::Display for MemoryInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MemoryInfo { in_use, peak, cached, available, total } = *self;
        write!(f, "{} in use, {} at most so far, ", Bytes(in_use), Bytes(peak))?;
        write!(f, "{} kept for reuse, {} of {} available", Bytes(cached), Bytes(available), Bytes(total))
    }
}

/// A number of bytes, as people read it: `1.5 GiB`.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
        match UNITS.iter().find(|(_, bits)| self.0 >> bits > 0) {
            Some((unit, bits)) => write!(f, "{:.1} {unit}", self.0 as f64 / (1_u64 << bits) as f64),
            None => write!(f, "{} B", self.0),
        }
    }
}

/// The error of a question that only those who wrote a backend can answer, where its device is not the host's.
pub(crate) fn expect_host(op: &'static str, backend: &'static str, device: &str) -> Result<()> {
    if device == host::DEVICE { Ok(()) } else { Err(Error::unsupported(op, backend)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_of_which_nothing_is_known_is_not_taken_for_the_host() {
        assert_eq!(expect_host("memory", "mine", "cpu"), Ok(()));
        assert_eq!(expect_host("memory", "mine", "gpu:0"), Err(Error::unsupported("memory", "mine")));
    }

    #[test]
    fn descriptions_say_what_is_known() {
        let mut info = DeviceInfo::new("cuda", "cuda:1", DeviceKind::Gpu, "NVIDIA H100 80GB HBM3");
        assert_eq!(info.to_string(), "cuda:1 of cuda: NVIDIA H100 80GB HBM3, GPU; cuda");
        info.memory = Some(85_029_158_912);
        info.processors = Some(132);
        info.library = "CUDA driver".into();
        info.version = Some("13.0".into());
        info.compute_capability = Some((9, 0));
        let all = "cuda:1 of cuda: NVIDIA H100 80GB HBM3, GPU of compute capability 9.0, 132 multiprocessors, 79.2 GiB of memory; \
                   CUDA driver 13.0";
        assert_eq!(info.to_string(), all);
        let text = MemoryInfo::new(3 << 20, 1 << 20, 512, 1 << 40, (1 << 40) + (1 << 39)).to_string();
        assert_eq!(text, "3.0 MiB in use, 3.0 MiB at most so far, 512 B kept for reuse, 1.0 TiB of 1.5 TiB available");
    }
}
