//! Checks, before hours of work, whether the memory is sufficient.

use crate::cli::Options;
use examples_common::ranks::Ranks;
use std::error::Error;

/// Returns an error if the requested images do not fit into the machine's available memory. Each rank holds a part of
/// the images. If the available memory is unknown, images of any size are accepted. Without the check, the system
/// might grant more memory than it has, and kill the program in the middle of its work.
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

/// The least memory in bytes that the reconstruction needs at one time, for elements of `element` bytes.
fn needed(options: &Options, element: usize) -> u64 {
    let pixels = options.shape.iter().fold(element as u64, |n, &length| n.saturating_mul(length as u64));
    // the image, and two terms of the sum from which it is computed
    let fbp = pixels.saturating_mul(3);
    // a complex grid four times as long as the image along each axis, and its FFT: the kernel is twice as long as the
    // image, and its non-uniform FFT works on a grid twice as fine as the kernel
    let grid = pixels.saturating_mul(2 << (2 * options.shape.len()));
    let tv = grid.saturating_mul(2);
    fbp.max(if options.tv { tv } else { 0 })
}
