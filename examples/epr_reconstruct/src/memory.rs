//! Whether there is memory enough, known before hours of work.

use crate::cli::Options;
use examples_common::ranks::Ranks;
use std::error::Error;

/// An error if the images asked for do not fit into the memory that this machine has left, where it can be asked. The
/// system may grant more than it has and end the program in the midst of its work. Ranks have a part of the images each.
pub fn check(options: &Options, element: usize, ranks: &Ranks) -> Result<(), Box<dyn Error>> {
    let left = ranks.memory()?.map_or(u64::MAX, |bytes| bytes.saturating_mul(ranks.size() as u64));
    let needed = needed(options, element);
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
