//! Random numbers. All ranks share one stream of random numbers. The stream consists of blocks, which give one to four
//! numbers each; each rank draws the blocks of its part.
//!
//! The inner backends have the same state on every rank. For ops whose elements have fixed positions in the stream,
//! each rank draws only its own part. For all other ops, every rank draws the whole array.

use crate::{Layout, Sharded, ShardedArray, array::LocalPart};
use backends::{Backend, Element, Float, Integer, Result, options::*, runtime::rules};

/// Returns the number of elements that one block of the random stream gives, as in the table of the runtime's module
/// `random`.
fn per_block<T: Element>(is_integer: bool) -> u64 {
    match (is_integer, T::DTYPE) {
        (true, _) => 2,
        (false, backends::DType::Float64) => 2,
        // each complex element needs two reals
        (false, backends::DType::Complex128) => 1,
        (false, backends::DType::Complex64) => 2,
        _ => 4,
    }
}

/// Draws an array whose elements, in C order, are consecutive numbers of the stream. Each rank draws only its own rows.
fn drawn<B: Backend, T: Element>(
    b: &Sharded<B>,
    op: &'static str,
    shape: &[usize],
    per_block: u64,
    draw: impl Fn(&B, &[usize]) -> Result<LocalPart<B, T>>,
) -> Result<ShardedArray<B, T>> {
    let size = rules::count(op, shape, size_of::<T>())? as u64;
    let axis = b.usual_axis(shape).filter(|_| b.ranks() > 1 && size > 0);
    let Some((axis, (key, first))) = axis.zip(b.within.random_state().ok()) else {
        return b.settle(draw(&b.within, shape)?);
    };
    let stretches = stretches(b, shape, axis, per_block, (key, first), draw);
    let taken = if stretches.is_ok() { size.div_ceil(per_block) } else { 0 };
    b.within.seed_at(key, first.wrapping_add(taken))?;
    let layout = Layout::along(shape, axis);
    let part: Vec<isize> = layout.part(&b.mine(shape[axis])).iter().map(|&n| n as isize).collect();
    let part = b.within.reshape(&b.concatenated(stretches?, 0)?, part)?;
    Ok(b.array(layout, part))
}

/// Draws this rank's rows as contiguous ranges of the stream: one range for each combination of indices of the axes
/// before `axis`.
fn stretches<B: Backend, T: Element>(
    b: &Sharded<B>,
    shape: &[usize],
    axis: usize,
    per_block: u64,
    (key, first): (u64, u64),
    draw: impl Fn(&B, &[usize]) -> Result<LocalPart<B, T>>,
) -> Result<Vec<LocalPart<B, T>>> {
    let rows = b.mine(shape[axis]);
    let row: usize = shape[axis + 1..].iter().product();
    let (all, own) = (shape[axis] * row, rows.len() * row);
    let stretch = |index: usize| {
        let start = (index * all + rows.start * row) as u64;
        let skipped = (start % per_block) as usize;
        b.within.seed_at(key, first.wrapping_add(start / per_block))?;
        b.cut(&draw(&b.within, &[skipped + own])?, 0, skipped..skipped + own)
    };
    (0..shape[..axis].iter().product()).map(stretch).collect()
}

pub fn random_uniform<B: Backend, T: Float>(
    b: &Sharded<B>,
    shape: &[usize],
    low: f64,
    high: f64,
) -> Result<ShardedArray<B, T>> {
    rules::check_uniform("random_uniform", T::DTYPE, low, high)?;
    let options = RandomUniformOptions::new().low(low).high(high);
    drawn(b, "random_uniform", shape, per_block::<T>(false), |b, shape| b.random_uniform_with(shape, options))
}

pub fn random_normal<B: Backend, T: Float>(
    b: &Sharded<B>,
    shape: &[usize],
    mean: f64,
    std: f64,
) -> Result<ShardedArray<B, T>> {
    rules::check_normal("random_normal", mean, std)?;
    let options = RandomNormalOptions::new().mean(mean).std(std);
    drawn(b, "random_normal", shape, per_block::<T>(false), |b, shape| b.random_normal_with(shape, options))
}

pub fn random_integers<B: Backend, T: Integer>(
    b: &Sharded<B>,
    shape: &[usize],
    low: T,
    high: T,
) -> Result<ShardedArray<B, T>> {
    rules::check_integers("random_integers", low, high)?;
    drawn(b, "random_integers", shape, per_block::<T>(true), |b, shape| b.random_integers(shape, low, high))
}
