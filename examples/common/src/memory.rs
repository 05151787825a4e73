//! The available memory of the machine.

use std::fs;

/// Linux's estimate, in bytes, of the memory that is available without swapping. If the process is in a control group
/// with a memory limit, the result is at most the memory that the limit leaves.
pub fn available() -> Option<u64> {
    let system = fs::read_to_string("/proc/meminfo").ok()?;
    let line = system.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let system = line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.saturating_mul(1024);
    let number = |file| fs::read_to_string(format!("/sys/fs/cgroup/{file}")).ok()?.trim().parse::<u64>().ok();
    let group = number("memory.max").zip(number("memory.current")).map(|(most, used)| most.saturating_sub(used));
    Some(system.min(group.unwrap_or(u64::MAX)))
}
