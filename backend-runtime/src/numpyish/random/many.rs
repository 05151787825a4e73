//! Distributions for many elements with the same parameters: what most elements need is computed side by side, in vector
//! registers, and an element that needs more is made alone. The numbers are those of [`samplers`](crate::random::samplers),
//! bit by bit.

// arrays in lockstep: a loop of indices is what becomes vector instructions
#![allow(clippy::needless_range_loop)]

use super::super::simd::versions;
use crate::random::{
    philox_each, philox_many,
    samplers::{Beta, Distribution, Draws, Exponential, Gamma, Sampler, TruncatedNormal},
    unit_f64,
};

/// Elements that are made at once, at most.
pub const MOST: usize = 512;

/// Blocks of the generator that are made side by side.
const SIDE_BY_SIDE: usize = 8;

/// Makes up to [`MOST`] elements of these parameters, from block `first` on, if the distribution is one of those that gain.
pub fn make(
    distribution: Distribution,
    key: u64,
    first: u64,
    own: [f64; 2],
    shared: [f64; 2],
    out: &mut [f64],
) -> bool {
    // SAFETY: the loops have no conditions.
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

/// A part of an array.
type Part<T> = [T; MOST];

/// Pairs of normally distributed numbers, as [`Draws::normals`] makes them.
struct Normals {
    /// The first and the second of each pair.
    pairs: [Part<f64>; 2],
    /// How many blocks of an element are used up, with one of which a half is left if it began with a half.
    used: Part<u32>,
}

versions! {
    unsafe fn exponentials[][](key: u64, first: u64, sampler: Exponential, out: &mut [f64]) {
        for (group, out) in out.chunks_mut(SIDE_BY_SIDE).enumerate() {
            let words = philox_many::<SIDE_BY_SIDE>(key, first.wrapping_add((group * SIDE_BY_SIDE) as u64));
            let mut units = [0.0; SIDE_BY_SIDE];
            for i in 0..SIDE_BY_SIDE {
                units[i] = unit_f64(words[0][i], words[1][i]);
            }
            out.copy_from_slice(&units[..out.len()]);
        }
        // a loop of its own, which vectorises
        for x in out {
            *x = sampler.of_unit(*x);
        }
    }

    /// A pair for each of `n` elements, from block `first` on. `used` says how many blocks of each are used up, and has the
    /// new numbers of them afterwards; if `HALF`, the second half of the last of these is left.
    unsafe fn normals[const HALF: bool][HALF](key: u64, first: u64, n: usize, to: &mut Normals) {
        let mut waiting: Part<u16> = [0; MOST];
        for i in 0..n {
            waiting[i % MOST] = i as u16;
        }
        let (mut x, mut y, mut square, mut scale) = ([0.0; MOST], [0.0; MOST], [0.0; MOST], [0.0; MOST]);
        let mut count = n;
        while count > 0 {
            let groups = count.div_ceil(SIDE_BY_SIDE);
            for group in 0..groups {
                let (mut blocks, mut further) = ([0; SIDE_BY_SIDE], [0; SIDE_BY_SIDE]);
                for i in 0..SIDE_BY_SIDE {
                    // what is too many in the last group is made twice
                    let at = waiting[(group * SIDE_BY_SIDE + i).min(count - 1) % MOST] as usize % MOST;
                    blocks[i] = first.wrapping_add(at as u64);
                    further[i] = to.used[at];
                }
                let start = group * SIDE_BY_SIDE;
                let (x, y) = (&mut x[start..start + SIDE_BY_SIDE], &mut y[start..start + SIDE_BY_SIDE]);
                let words = philox_each::<SIDE_BY_SIDE>(key, &blocks, &further);
                if HALF {
                    for further in &mut further {
                        *further = further.wrapping_sub(1);
                    }
                    let before = philox_each::<SIDE_BY_SIDE>(key, &blocks, &further);
                    for i in 0..SIDE_BY_SIDE {
                        x[i] = unit_f64(before[2][i], before[3][i]);
                        y[i] = unit_f64(words[0][i], words[1][i]);
                    }
                } else {
                    for i in 0..SIDE_BY_SIDE {
                        x[i] = unit_f64(words[0][i], words[1][i]);
                        y[i] = unit_f64(words[2][i], words[3][i]);
                    }
                }
            }
            for i in 0..groups * SIDE_BY_SIDE {
                let i = i % MOST;
                (x[i], y[i]) = Draws::around_0(x[i], y[i]);
                square[i] = x[i] * x[i] + y[i] * y[i];
                scale[i] = Draws::polar_scale(square[i]);
            }
            let mut left = 0;
            for i in 0..count {
                let at = waiting[i % MOST] as usize % MOST;
                to.pairs[0][at] = x[i % MOST] * scale[i % MOST];
                to.pairs[1][at] = y[i % MOST] * scale[i % MOST];
                to.used[at] = to.used[at].wrapping_add(1);
                // those outside of the circle try again
                waiting[left % MOST] = at as u16;
                left += usize::from(!Draws::is_in_circle(square[i % MOST]));
            }
            count = left;
        }
    }

    /// The next uniform number in (0, 1] of each element: from the next block, or if `HALF`, from the rest of the last one.
    unsafe fn positives[const HALF: bool][HALF](key: u64, first: u64, used: &mut Part<u32>, to: &mut [f64]) {
        for (group, to) in to.chunks_mut(SIDE_BY_SIDE).enumerate() {
            let (mut blocks, mut further) = ([0; SIDE_BY_SIDE], [0; SIDE_BY_SIDE]);
            for i in 0..SIDE_BY_SIDE {
                let at = (group * SIDE_BY_SIDE + i) % MOST;
                blocks[i] = first.wrapping_add(at as u64);
                further[i] = used[at].wrapping_sub(u32::from(HALF));
                used[at] = used[at].wrapping_add(u32::from(!HALF));
            }
            let words = philox_each::<SIDE_BY_SIDE>(key, &blocks, &further);
            let mut units = [0.0; SIDE_BY_SIDE];
            for i in 0..SIDE_BY_SIDE {
                let (high, low) = if HALF { (words[2][i], words[3][i]) } else { (words[0][i], words[1][i]) };
                units[i] = 1.0 - unit_f64(high, low);
            }
            to.copy_from_slice(&units[..to.len()]);
        }
    }

    unsafe fn gammas[][](key: u64, first: u64, sampler: Gamma, out: &mut [f64]) {
        let mut made = Normals { pairs: [[0.0; MOST]; 2], used: [0; MOST] };
        // SAFETY: the loops have no conditions.
        unsafe {
            normals::<false>(key, first, out.len(), &mut made);
            positives::<false>(key, first, &mut made.used, out);
        }
        for (out, &x) in out.iter_mut().zip(&made.pairs[0]) {
            *out = sampler.first_try(x, *out);
        }
        // SAFETY: as above.
        unsafe { alone(key, first, sampler, out) }
    }

    unsafe fn betas[][](key: u64, first: u64, sampler: Beta, out: &mut [f64]) {
        let mut made = Normals { pairs: [[0.0; MOST]; 2], used: [0; MOST] };
        let mut other = [0.0; MOST];
        let other = &mut other[..out.len()];
        // SAFETY: the loops have no conditions.
        unsafe {
            normals::<false>(key, first, out.len(), &mut made);
            positives::<false>(key, first, &mut made.used, out);
        }
        for (out, &x) in out.iter_mut().zip(&made.pairs[0]) {
            *out = sampler.first_try(0, x, *out);
        }
        // SAFETY: as above.
        unsafe {
            normals::<true>(key, first, out.len(), &mut made);
            positives::<true>(key, first, &mut made.used, other);
        }
        for ((out, other), &x) in out.iter_mut().zip(other).zip(&made.pairs[0]) {
            *out = Beta::share(*out, sampler.first_try(1, x, *other));
        }
        // SAFETY: as above.
        unsafe { alone(key, first, sampler, out) }
    }

    unsafe fn truncated[][](key: u64, first: u64, sampler: TruncatedNormal, out: &mut [f64]) {
        let mut made = Normals { pairs: [[0.0; MOST]; 2], used: [0; MOST] };
        // SAFETY: the loop has no conditions.
        unsafe { normals::<false>(key, first, out.len(), &mut made) };
        for (i, out) in out.iter_mut().enumerate() {
            *out = sampler.of_normals([made.pairs[0][i], made.pairs[1][i]]);
        }
        // SAFETY: as above.
        unsafe { alone(key, first, sampler, out) }
    }

    /// Makes the elements that are NaN one at a time.
    unsafe fn alone[S: Sampler][S](key: u64, first: u64, sampler: S, out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            if out.is_nan() {
                *out = sampler.draw(&mut Draws::of_block(key, first.wrapping_add(i as u64)));
            }
        }
    }
}
