//! Draws many elements with the same parameters. The steps that most elements need are computed for several elements at
//! a time, in vector registers; an element that needs more steps is drawn alone. The numbers have the same bits as the
//! numbers from [`samplers`](backend_core::random::samplers).

// the loops in this file run over the indices of several arrays, because the compiler vectorises such loops
#![allow(clippy::needless_range_loop)]

use super::{
    super::simd::{versions, wide_versions},
    words,
};
use backend_core::random::{
    samplers::{Beta, Distribution, Draws, Exponential, Gamma, Sampler, TruncatedNormal},
    unit_f64,
};

/// Maximum number of elements that are drawn in one call.
pub const MAX_BATCH: usize = 512;

/// Draws up to [`MAX_BATCH`] elements with these parameters. Each element uses its own block of the random stream, from
/// block `first` on. Returns false, and draws nothing, if drawing elements together is not faster for this
/// distribution.
pub fn make(
    distribution: Distribution,
    key: u64,
    first: u64,
    own: [f64; 2],
    shared: [f64; 2],
    out: &mut [f64],
) -> bool {
    // SAFETY: the loops have no preconditions.
    unsafe {
        match distribution {
            Distribution::Exponential => exponentials(key, first, Exponential::new(own, shared), out),
            Distribution::Gamma => {
                let sampler = Gamma::new(own, shared);
                if !sampler.is_plain() {
                    return false;
                }
                gammas(key, first, sampler, out);
            }
            Distribution::Beta => {
                let sampler = Beta::new(own, shared);
                if !sampler.is_plain() {
                    return false;
                }
                betas(key, first, sampler, out);
            }
            Distribution::TruncatedNormal => {
                let sampler = TruncatedNormal::new(own, shared);
                if !sampler.is_normal() {
                    return false;
                }
                truncated(key, first, sampler, out);
            }
            Distribution::Poisson | Distribution::Binomial => return false,
        }
    }
    true
}

/// Converts 64 random bits to a uniform number in [0, 1).
#[inline(always)]
fn unit(word: u64) -> f64 {
    unit_f64((word >> 32) as u32, word as u32)
}

/// An array with room for the elements of one call.
type BatchArray<T> = [T; MAX_BATCH];

/// Pairs of normally distributed numbers, as [`Draws::normals`] draws them.
struct Normals {
    /// The first and the second number of each pair.
    pairs: [BatchArray<f64>; 2],
    /// For each element, the number of blocks that it has used. If the drawing of the pair began in the middle of a
    /// block, half of the last of these blocks is unused.
    used: BatchArray<u32>,
}

wide_versions! {
    unsafe fn exponentials[][](key: u64, first: u64, sampler: Exponential, out: &mut [f64]) {
        let mut words = [0; 2 * MAX_BATCH];
        let words = &mut words[..2 * out.len()];
        words::fill(key, first, words);
        for (x, words) in out.iter_mut().zip(words.as_chunks::<2>().0) {
            *x = unit(words[0]);
        }
        // a separate loop, because the compiler vectorises it
        for x in out {
            *x = sampler.of_unit(*x);
        }
    }

    /// Draws a pair of normally distributed numbers for each of `n` elements. Element `i` uses block `first + i` and
    /// its further blocks. Adds the number of blocks that an element needs to its entry of `to.used`. With `HALF`,
    /// drawing begins with the second half of the last used block.
    unsafe fn normals[const HALF: bool][HALF](key: u64, first: u64, n: usize, to: &mut Normals) {
        let mut waiting: BatchArray<u16> = [0; MAX_BATCH];
        for i in 0..n {
            waiting[i % MAX_BATCH] = i as u16;
        }
        let (mut x, mut y) = ([0.0; MAX_BATCH], [0.0; MAX_BATCH]);
        let (mut square, mut scale) = ([0.0; MAX_BATCH], [0.0; MAX_BATCH]);
        let (mut blocks, mut further) = ([0; MAX_BATCH], [0; MAX_BATCH]);
        let (mut words, mut before) = ([0; 2 * MAX_BATCH], [0; 2 * MAX_BATCH]);
        let mut count = n;
        while count > 0 {
            for i in 0..count {
                let at = waiting[i % MAX_BATCH] as usize % MAX_BATCH;
                blocks[i % MAX_BATCH] = first.wrapping_add(at as u64);
                further[i % MAX_BATCH] = to.used[at];
            }
            words::each(key, &blocks[..count], &further[..count], &mut words[..2 * count]);
            if HALF {
                for further in &mut further[..count] {
                    *further = further.wrapping_sub(1);
                }
                words::each(key, &blocks[..count], &further[..count], &mut before[..2 * count]);
                for i in 0..count {
                    x[i % MAX_BATCH] = unit(before[2 * i % (2 * MAX_BATCH) + 1]);
                    y[i % MAX_BATCH] = unit(words[2 * i % (2 * MAX_BATCH)]);
                }
            } else {
                for i in 0..count {
                    x[i % MAX_BATCH] = unit(words[2 * i % (2 * MAX_BATCH)]);
                    y[i % MAX_BATCH] = unit(words[2 * i % (2 * MAX_BATCH) + 1]);
                }
            }
            for i in 0..count {
                let i = i % MAX_BATCH;
                (x[i], y[i]) = Draws::around_0(x[i], y[i]);
                square[i] = x[i] * x[i] + y[i] * y[i];
                scale[i] = Draws::polar_scale(square[i]);
            }
            let mut left = 0;
            for i in 0..count {
                let at = waiting[i % MAX_BATCH] as usize % MAX_BATCH;
                to.pairs[0][at] = x[i % MAX_BATCH] * scale[i % MAX_BATCH];
                to.pairs[1][at] = y[i % MAX_BATCH] * scale[i % MAX_BATCH];
                to.used[at] = to.used[at].wrapping_add(1);
                // elements whose points are outside the circle are drawn again
                waiting[left % MAX_BATCH] = at as u16;
                left += usize::from(!Draws::is_in_circle(square[i % MAX_BATCH]));
            }
            count = left;
        }
    }

    /// Writes the next uniform number in (0, 1] of each element. With `HALF`, the number comes from the second half of
    /// the element's last used block, otherwise from its next block.
    unsafe fn positives[const HALF: bool][HALF](key: u64, first: u64, used: &mut BatchArray<u32>, to: &mut [f64]) {
        let n = to.len();
        let (mut blocks, mut further, mut words) = ([0; MAX_BATCH], [0; MAX_BATCH], [0; 2 * MAX_BATCH]);
        for at in 0..n {
            let at = at % MAX_BATCH;
            blocks[at] = first.wrapping_add(at as u64);
            further[at] = used[at].wrapping_sub(u32::from(HALF));
            used[at] = used[at].wrapping_add(u32::from(!HALF));
        }
        words::each(key, &blocks[..n], &further[..n], &mut words[..2 * n]);
        for (to, words) in to.iter_mut().zip(words.as_chunks::<2>().0) {
            *to = 1.0 - unit(words[usize::from(HALF)]);
        }
    }

    unsafe fn gammas[][](key: u64, first: u64, sampler: Gamma, out: &mut [f64]) {
        let mut made = Normals { pairs: [[0.0; MAX_BATCH]; 2], used: [0; MAX_BATCH] };
        // SAFETY: the loops have no preconditions.
        unsafe {
            normals::<false>(key, first, out.len(), &mut made);
            positives::<false>(key, first, &mut made.used, out);
        }
        for (out, &x) in out.iter_mut().zip(&made.pairs[0]) {
            *out = sampler.first_try(x, *out);
        }
        // SAFETY: the loop has no preconditions.
        unsafe { alone(key, first, sampler, out) }
    }

    unsafe fn betas[][](key: u64, first: u64, sampler: Beta, out: &mut [f64]) {
        let mut made = Normals { pairs: [[0.0; MAX_BATCH]; 2], used: [0; MAX_BATCH] };
        let mut other = [0.0; MAX_BATCH];
        let other = &mut other[..out.len()];
        // SAFETY: the loops have no preconditions.
        unsafe {
            normals::<false>(key, first, out.len(), &mut made);
            positives::<false>(key, first, &mut made.used, out);
        }
        for (out, &x) in out.iter_mut().zip(&made.pairs[0]) {
            *out = sampler.first_try(0, x, *out);
        }
        // SAFETY: the loops have no preconditions.
        unsafe {
            normals::<true>(key, first, out.len(), &mut made);
            positives::<true>(key, first, &mut made.used, other);
        }
        for ((out, other), &x) in out.iter_mut().zip(other).zip(&made.pairs[0]) {
            *out = Beta::share(*out, sampler.first_try(1, x, *other));
        }
        // SAFETY: the loop has no preconditions.
        unsafe { alone(key, first, sampler, out) }
    }

    unsafe fn truncated[][](key: u64, first: u64, sampler: TruncatedNormal, out: &mut [f64]) {
        let mut made = Normals { pairs: [[0.0; MAX_BATCH]; 2], used: [0; MAX_BATCH] };
        // SAFETY: the loop has no preconditions.
        unsafe { normals::<false>(key, first, out.len(), &mut made) };
        for (i, out) in out.iter_mut().enumerate() {
            *out = sampler.of_normals([made.pairs[0][i], made.pairs[1][i]]);
        }
        // SAFETY: the loop has no preconditions.
        unsafe { alone(key, first, sampler, out) }
    }
}

versions! {
    /// Draws the elements of `out` that are NaN: the loops above could not finish them. Draws one element at a time,
    /// from the start of its block.
    unsafe fn alone[S: Sampler][S](key: u64, first: u64, sampler: S, out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            if out.is_nan() {
                *out = sampler.draw(&mut Draws::of_block(key, first.wrapping_add(i as u64)));
            }
        }
    }
}
