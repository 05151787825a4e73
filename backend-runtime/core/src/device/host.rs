//! The machine's processor and this process's memory, as reported by Linux in `/proc`.

use super::{DeviceInfo, DeviceKind, MemoryInfo, groups};
use crate::{Error, Result};
use std::{env::consts::ARCH, fs, thread};

/// The name of the host's device in the backends.
pub(crate) const DEVICE: &str = "cpu";

/// Name and version of the library that computes on the host. The library is this crate, because it has its own loops.
pub(crate) const LIBRARY: (&str, &str) = ("backends", env!("CARGO_PKG_VERSION"));

const STATUS: &str = "/proc/self/status";
const MACHINE: &str = "/proc/meminfo";
const RESET: &str = "/proc/self/clear_refs";

/// Describes the CPU as the device of a backend. On systems other than Linux, the description has no name and no memory
/// size.
pub fn info(backend: &'static str) -> DeviceInfo {
    let name = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| processor(&text));
    let mut info = DeviceInfo::new(backend, DEVICE, DeviceKind::Cpu, name.unwrap_or_else(|| ARCH.into()));
    info.memory = fs::read_to_string(MACHINE).ok().and_then(|text| bytes_of(&text, "MemTotal"));
    info.processors = thread::available_parallelism().ok().map(usize::from);
    info
}

/// Returns this process's memory use, and the memory available to it.
///
/// # Errors
/// [`Error::Unavailable`] if the system does not report these figures.
pub fn memory(backend: &'static str) -> Result<MemoryInfo> {
    let read = |path: &str| {
        fs::read_to_string(path).map_err(|why| Error::unavailable(backend, format!("{path}: {why}")).caused_by(why))
    };
    let (status, machine) = (read(STATUS)?, read(MACHINE)?);
    let of = |path: &str, text: &str, key: &str| {
        bytes_of(text, key).ok_or_else(|| Error::unavailable(backend, format!("{path} has no entry `{key}`")))
    };
    let (in_use, peak) = (of(STATUS, &status, "VmRSS")?, of(STATUS, &status, "VmHWM")?);
    let (mut available, mut total) = (of(MACHINE, &machine, "MemAvailable")?, of(MACHINE, &machine, "MemTotal")?);
    for group in groups::of_this_process() {
        total = total.min(group.limit);
        available = available.min(group.limit.saturating_sub(group.used));
    }
    Ok(MemoryInfo::new(in_use, peak, 0, available, total))
}

/// Resets the peak of this process's memory use.
///
/// # Errors
/// [`Error::Unavailable`] if the system does not allow the reset.
pub fn reset_peak(backend: &'static str) -> Result<()> {
    // writing 5 resets only the peak: proc_pid_clear_refs(5)
    fs::write(RESET, "5").map_err(|why| {
        let text = format!("the system does not let this process reset its peak memory: {RESET}: {why}");
        Error::unavailable(backend, text).caused_by(why)
    })
}

/// Returns free memory of the C library's heap to the system, if the C library is glibc. Other C libraries do so by
/// themselves, or have no such function.
pub(crate) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: `malloc_trim` has no preconditions, and takes the locks that it needs.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Reads the number of kilobytes after `key:` in `text`, and converts it to bytes.
fn bytes_of(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    let mut words = line.split_whitespace();
    let number: u64 = words.next()?.parse().ok()?;
    (words.next()? == "kB").then(|| number.saturating_mul(1024))
}

/// Returns the processor's name in the text of `/proc/cpuinfo`. The key of the name depends on the architecture. Many
/// ARM systems give no name, so that the result is `None`.
fn processor(text: &str) -> Option<String> {
    let value = |key: &str| {
        let of = |line: &str| line.split_once(':').filter(|(k, _)| k.trim() == key).map(|(_, v)| v.trim().to_owned());
        text.lines().find_map(of).filter(|name| !name.is_empty())
    };
    ["model name", "cpu model", "cpu", "Model"].into_iter().find_map(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::available;
    use std::hint::black_box;

    #[test]
    fn figures_are_read() {
        let text = "Name:\tx\nVmHWM:\t    2184 kB\nVmRSS:\t 96 kB\nThreads:\t1\nVmSwap: 3 pages\n";
        assert_eq!(bytes_of(text, "VmHWM"), Some(2184 << 10));
        assert_eq!(bytes_of(text, "VmRSS"), Some(96 << 10));
        for missing in ["Vm", "VmRS", "Threads", "VmSwap", "VmPeak"] {
            assert_eq!(bytes_of(text, missing), None, "{missing}");
        }
        assert_eq!(processor("processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n").as_deref(), Some("AMD EPYC"));
        assert_eq!(processor("processor\t: 0\ncpu\t\t: POWER9, altivec\n").as_deref(), Some("POWER9, altivec"));
        assert_eq!(processor("processor\t: 0\nmodel name\t:\n"), None);
    }

    #[test]
    fn the_host_is_a_cpu() {
        let info = info("numpyish");
        assert_eq!((info.kind, &info.device[..]), (DeviceKind::Cpu, "cpu"));
        assert!(!info.name.is_empty() && info.processors.is_some_and(|n| n > 0), "{info}");
        assert_eq!(info.memory.is_some(), cfg!(target_os = "linux"), "{info}");
    }

    /// Checks only relations between the figures, not exact values, because other tests run in the same process and use
    /// memory.
    #[test]
    fn memory_is_that_of_the_process() {
        const SIZE: usize = 64 << 20;
        let Some(before) = available("memory", memory("numpyish")) else { return };
        let block = black_box(vec![1_u8; SIZE]);
        let during = memory("numpyish").unwrap();
        // Linux counts pages per processor, so its totals are slightly inexact
        assert!(during.in_use >= SIZE as u64 / 2 && during.peak >= during.in_use, "{before} {during}");
        drop(block);
        let after = memory("numpyish").unwrap();
        assert!(after.peak >= SIZE as u64 / 2 && after.available <= after.total, "{after}");
        give_back();
        assert!(memory("numpyish").unwrap().in_use > 0);
    }
}
