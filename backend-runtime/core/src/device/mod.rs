//! Descriptions of devices and of their memory use.

mod groups;
pub mod host;

use crate::{Error, Result};
use std::fmt;

/// The kind of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DeviceKind {
    /// The processor of this machine, which uses the host's memory.
    Cpu,
    /// A graphics processor, with its own memory.
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

/// Description of a device, returned by [`Arrays::device_info`](crate::Arrays::device_info). `Display` writes it in one
/// line.
///
/// Fields are `None` if the system does not report them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Name of the backend, such as `"cuda"`.
    pub backend: &'static str,
    /// The name by which the backend's library calls the device, such as `"cuda:0"`.
    pub device: String,
    /// CPU or GPU.
    pub kind: DeviceKind,
    /// Name of the hardware, such as `"AMD EPYC 9654 96-Core Processor"` or `"NVIDIA H100 80GB HBM3"`. If the system
    /// does not name its CPU, this is the architecture, such as `"aarch64"`.
    pub name: String,
    /// Memory of the hardware in bytes. A program may have a lower limit; see [`MemoryInfo::total`].
    pub memory: Option<u64>,
    /// For a CPU, the number of logical processors that this process may use; for a GPU, the number of its
    /// multiprocessors.
    pub processors: Option<usize>,
    /// The library that computes: `"backends"` for this crate's loops on the CPU, `"libtorch"`, or `"CUDA driver"`.
    pub library: String,
    /// The library's version, such as `"2.11.0"`. For the CUDA driver, it is the newest CUDA version that the driver
    /// supports, such as `"13.0"`.
    pub version: Option<String>,
    /// The CUDA compute capability of an NVIDIA GPU, such as (9, 0).
    pub compute_capability: Option<(u32, u32)>,
}

impl DeviceInfo {
    /// Creates a description whose optional fields are `None`. The caller then sets them.
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

/// Memory use of a device, returned by [`Arrays::memory`](crate::Arrays::memory). All figures are in bytes.
///
/// | | on the CPU, for all backends of the process together | on a GPU |
/// |---|---|---|
/// | `in_use` | the process's memory in RAM, including arrays, code and other libraries (`VmRSS` of Linux) | blocks of this process's arrays of this backend |
/// | `peak` | the maximum of `in_use` since the process began or the last reset (`VmHWM`) | the maximum of `in_use` since the device's first use or the last reset |
/// | `cached` | 0: the allocator's cache is part of `in_use` | freed blocks that are kept for the next arrays |
/// | `available` | memory that can be allocated without swapping (`MemAvailable`), at most the unused part of the control groups' limits | free memory of the device, plus `cached` |
/// | `total` | the machine's memory (`MemTotal`), at most the lowest limit of the control groups | the device's memory |
///
/// Memory of other processes is neither in use nor available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryInfo {
    /// Bytes that this process uses. The table above lists the bytes that are counted.
    pub in_use: u64,
    /// Maximum of `in_use` since the beginning, or since the last call of
    /// [`Arrays::reset_peak_memory`](crate::Arrays::reset_peak_memory).
    pub peak: u64,
    /// Bytes that no array uses and that are kept for the next arrays.
    pub cached: u64,
    /// Bytes that this process can allocate in addition to the bytes in use.
    pub available: u64,
    /// Bytes of memory of the device, or the lowest limit of a control group if it is less.
    pub total: u64,
}

impl MemoryInfo {
    /// Creates a description with these figures. A `peak` below `in_use` is raised to `in_use`.
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

/// A number of bytes, which is displayed in readable form, such as `1.5 GiB`.
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

/// Returns `Error::Unsupported` unless `device` is the host. Default methods call this function, because they describe
/// only the host.
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
