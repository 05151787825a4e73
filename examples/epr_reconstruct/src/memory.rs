//! Whether there is memory enough, known before hours of work.

use crate::cli::Options;
use std::{error::Error, fs};

/// An error if the images asked for do not fit into the memory that this machine has left, where it can be asked. The
/// system may grant more than it has and end the program in the midst of its work.
pub fn check(options: &Options, element: usize) -> Result<(), Box<dyn Error>> {
    let (needed, left) = (needed(options, element), available().unwrap_or(u64::MAX));
    if needed <= left {
        return Ok(());
    }
    let shape = options.shape_text();
    let gib = |bytes: u64| bytes as f64 / (1_u64 << 30) as f64;
    let (needed, left) = (gib(needed), gib(left));
    Err(format!("an image of {shape} pixels needs at least {needed:.1} GiB of memory, and {left:.1} GiB are left")
        .into())
}

/// The least that must be held at the same time, of elements of so many bytes.
fn needed(options: &Options, element: usize) -> u64 {
    let pixels = options.shape.iter().fold(element as u64, |n, &length| n.saturating_mul(length as u64));
    // the image, and two of the terms it is a sum of
    let fbp = pixels.saturating_mul(3);
    // a complex grid four times as fine along each axis, and its FFT: the kernel is twice as long as the image, and its
    // non-uniform FFT works on a grid twice as fine as that
    let grid = pixels.saturating_mul(2 << (2 * options.shape.len()));
    let tv = grid.saturating_mul(2);
    fbp.max(if options.tv { tv } else { 0 })
}

/// The memory that programs can have without swapping, as Linux estimates it, and what is left to this group of processes.
fn available() -> Option<u64> {
    let system = fs::read_to_string("/proc/meminfo").ok()?;
    let line = system.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let system = line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.saturating_mul(1024);
    let number = |file| fs::read_to_string(format!("/sys/fs/cgroup/{file}")).ok()?.trim().parse::<u64>().ok();
    let group = number("memory.max").zip(number("memory.current")).map(|(most, used)| most.saturating_sub(used));
    Some(system.min(group.unwrap_or(u64::MAX)))
}
