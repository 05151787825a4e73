//! Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
//!
//! A stream consists of a key and a counter. Block `i` of the stream depends only on the key and `i`, so any backend,
//! any number of threads and any order of blocks give the same numbers from the same seed.
//!
//! # From words to elements
//!
//! A block has four 32-bit words, and a call takes as many whole blocks as it needs. An array of complex numbers is
//! filled like an array of twice as many reals, in memory order. Numbers of `float16` and `bfloat16` are computed in
//! `float32` and rounded once.
//!
//! | op | dtype | element `i` |
//! |---|---|---|
//! | uniform | `float64` | [`unit_f64`] of words `2 (i % 2)` and the next of block `i / 2` |
//! | | others | [`unit_f32`] of word `i % 4` of block `i / 4` |
//! | | | then `low + u * (high - low)`; a value that is rounded up to `high` becomes the next lower one |
//! | normal | `float64` | member `i % 2` of [`normal_f64`] of block `i / 2` |
//! | | others | member `i % 4` of [`normal_f32`] of block `i / 4` |
//! | | | then `mean + std * z` |
//! | integers | | [`below`] of the 64 bits of words `2 (i % 2)` (high) and the next (low) of block `i / 2` |
//! | permutation | | the stable argsort of 64-bit numbers made as for `integers`, one for each element |
//!
//! The other distributions ([`samplers`]) need a number of draws that is not known in advance. Element `i` of a call
//! has its own stream: block `i`, and as many further blocks as the element needs, whose counters have 1, 2, .. as
//! their third word. A call therefore takes one block for each element, independent of its parameters, and any thread
//! can compute any element.

pub mod samplers;

use crate::{
    Precision,
    scalar::{float32, float64},
};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// A key and the position in its stream. Clones share the key and the position.
#[derive(Clone, Debug)]
pub struct Stream(Arc<State>);

#[derive(Debug)]
struct State {
    key: AtomicU64,
    next: AtomicU64,
}

impl Stream {
    /// Creates the stream of `seed`, at its first block.
    pub fn new(seed: u64) -> Stream {
        Stream(Arc::new(State { key: AtomicU64::new(seed), next: AtomicU64::new(0) }))
    }

    /// Creates a stream whose seed comes from the randomness of the standard library's hasher, and differs in every
    /// run.
    pub fn from_entropy() -> Stream {
        use std::hash::{BuildHasher, Hasher};
        Stream::new(std::collections::hash_map::RandomState::new().build_hasher().finish())
    }

    /// Restarts at the first block of the stream of `seed`.
    pub fn reseed(&self, seed: u64) {
        self.reseed_at(seed, 0);
    }

    /// Continues at block `block` of the stream of `seed`.
    pub fn reseed_at(&self, seed: u64, block: u64) {
        self.0.key.store(seed, Ordering::Relaxed);
        self.0.next.store(block, Ordering::Relaxed);
    }

    /// Returns the key, and the index of the next block.
    pub fn state(&self) -> (u64, u64) {
        (self.0.key.load(Ordering::Relaxed), self.0.next.load(Ordering::Relaxed))
    }

    /// Takes `blocks` blocks of four 32-bit words. Returns the key and the index of the first block.
    pub fn take(&self, blocks: u64) -> (u64, u64) {
        let first = self.0.next.fetch_add(blocks, Ordering::Relaxed);
        (self.0.key.load(Ordering::Relaxed), first)
    }
}

/// The multipliers of a round of Philox.
pub const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Returns the key of Philox round `round`, counted from 0.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn round_key(key: u64, round: u32) -> [u32; 2] {
    let of = |key: u32, i: usize| key.wrapping_add(WEYL[i].wrapping_mul(round));
    [of(key as u32, 0), of((key >> 32) as u32, 1)]
}

/// Computes block `counter` of the stream of `key`: four independent uniform 32-bit words.
#[inline(always)]
pub fn philox(key: u64, counter: u64) -> [u32; 4] {
    philox_further(key, counter, 0)
}

/// Computes block `further` of one element that needs several blocks. The element begins at block `counter` of the
/// stream. If `further` is 0, the result is block `counter` itself.
#[inline(always)]
pub fn philox_further(key: u64, counter: u64, further: u32) -> [u32; 4] {
    let mut x = [counter as u32, (counter >> 32) as u32, further, 0];
    let mut k = [key as u32, (key >> 32) as u32];
    for round in 0..10 {
        if round > 0 {
            k = [k[0].wrapping_add(WEYL[0]), k[1].wrapping_add(WEYL[1])];
        }
        let (a, b) = (MULTIPLIERS[0] as u64 * x[0] as u64, MULTIPLIERS[1] as u64 * x[2] as u64);
        x = [(b >> 32) as u32 ^ x[1] ^ k[0], b as u32, (a >> 32) as u32 ^ x[3] ^ k[1], a as u32];
    }
    x
}

/// Converts two words to a double in [0, 1) with 53 random bits, which are the upper 53 of the 64 bits in the words.
#[inline(always)]
pub fn unit_f64(high: u32, low: u32) -> f64 {
    // each step is exact and uses 32-bit integers, because vector instructions cannot convert 64-bit integers
    (high as f64 + (low >> 11) as f64 * (1.0 / (1_u32 << 21) as f64)) * (1.0 / (1_u64 << 32) as f64)
}

/// Converts one word to a float in [0, 1) with 24 random bits.
#[inline(always)]
pub fn unit_f32(word: u32) -> f32 {
    (word >> 8) as f32 * (1.0 / (1_u32 << 24) as f32)
}

/// Converts a block to two normally distributed doubles, by Box and Muller's formula.
#[inline(always)]
pub fn normal_f64(block: [u32; 4]) -> [f64; 2] {
    f64::box_muller(unit_f64(block[0], block[1]), unit_f64(block[2], block[3]))
}

/// Converts a block to four normally distributed floats, by Box and Muller's formula. The first two come from words 0
/// and 1, the last two from words 2 and 3.
#[inline(always)]
pub fn normal_f32(block: [u32; 4]) -> [f32; 4] {
    let [a, b] = f32::box_muller(unit_f32(block[0]), unit_f32(block[1]));
    let [c, d] = f32::box_muller(unit_f32(block[2]), unit_f32(block[3]));
    [a, b, c, d]
}

/// The steps of Box and Muller's formula. Bulk generation runs each step in a separate loop, because one loop over all
/// steps does not vectorise.
pub trait BoxMuller: Precision {
    /// Computes the radius for a uniform number in `[0, 1)`.
    fn radius(u: Self) -> Self;

    /// Computes the cosine of the angle for a uniform number in `[0, 1)`.
    fn cosine(v: Self) -> Self;

    /// Computes the sine of the angle for a uniform number in `[0, 1)`.
    fn sine(v: Self) -> Self;

    /// Computes two normally distributed numbers from two uniformly distributed numbers in `[0, 1)`.
    #[inline(always)]
    fn box_muller(u: Self, v: Self) -> [Self; 2] {
        let radius = Self::radius(u);
        [radius * Self::cosine(v), radius * Self::sine(v)]
    }
}

macro_rules! box_muller {
    ($($r:ident $words:ident;)*) => {$(
        impl BoxMuller for $r {
            #[inline(always)]
            fn radius(u: $r) -> $r {
                // 1 - u is in (0, 1], so its logarithm is finite
                (-2.0 * $words::log(1.0 - u)).sqrt()
            }

            #[inline(always)]
            fn cosine(v: $r) -> $r {
                $words::cos_near(std::$r::consts::TAU * v)
            }

            #[inline(always)]
            fn sine(v: $r) -> $r {
                $words::sin_near(std::$r::consts::TAU * v)
            }
        }
    )*};
}
box_muller! {
    f32 float32;
    f64 float64;
}

/// Converts 64 random bits to a number in `0..n`: the high half of `n * bits`. The bias is less than `n / 2^64`.
#[inline(always)]
pub fn below(n: u64, bits: u64) -> u64 {
    ((n as u128 * bits as u128) >> 64) as u64
}

/// Returns the 64-bit number with index `i` (0 or 1) in a block, made of two words, the high word first.
#[inline(always)]
pub fn bits(block: [u32; 4], i: usize) -> u64 {
    (block[2 * i] as u64) << 32 | block[2 * i + 1] as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the known answers published with the generator (Random123, kat_vectors).
    #[test]
    fn known_answers() {
        assert_eq!(philox(0, 0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
    }

    #[test]
    fn units_stay_below_one() {
        assert!(unit_f64(u32::MAX, u32::MAX) < 1.0);
        assert!(unit_f32(u32::MAX) < 1.0);
        assert_eq!(unit_f64(0, 0), 0.0);
        for (high, low) in [(u32::MAX, u32::MAX), (0, 1 << 11), (1, 0), (0x0123_4567, 0x89AB_CDEF)] {
            let bits = (high as u64) << 32 | low as u64;
            assert_eq!(unit_f64(high, low), (bits >> 11) as f64 / (1_u64 << 53) as f64);
        }
    }

    #[test]
    fn extreme_words_make_finite_numbers() {
        for word in [0, u32::MAX] {
            assert!(normal_f64([word; 4]).iter().all(|z| z.is_finite()));
            assert!(normal_f32([word; 4]).iter().all(|z| z.is_finite()));
        }
        assert_eq!((below(10, 0), below(10, u64::MAX)), (0, 9));
    }

    #[test]
    fn streams_are_shared_by_clones_and_restart() {
        let s = Stream::new(7);
        assert_eq!(s.take(3), (7, 0));
        assert_eq!(s.clone().take(2), (7, 3));
        s.reseed(8);
        assert_eq!(s.take(1), (8, 0));
        s.reseed_at(9, 1 << 40);
        assert_eq!(s.state(), (9, 1 << 40));
        assert_eq!((s.take(2), s.take(1)), ((9, 1 << 40), (9, (1 << 40) + 2)));
    }
}
