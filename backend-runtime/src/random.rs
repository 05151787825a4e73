//! Random numbers by counter: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
//!
//! A stream is a key and a counter. Block `i` of it depends on nothing else, so any backend, any number of threads and
//! any order of blocks give the same numbers from the same seed.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// A key and how much of its stream is used up. Clones share both.
#[derive(Clone, Debug)]
pub struct Stream(Arc<State>);

#[derive(Debug)]
struct State {
    key: AtomicU64,
    next: AtomicU64,
}

impl Stream {
    /// A stream that starts at its beginning.
    pub fn new(seed: u64) -> Stream {
        Stream(Arc::new(State { key: AtomicU64::new(seed), next: AtomicU64::new(0) }))
    }

    /// A stream that no other run has: seeded by the hasher's own randomness.
    pub fn from_entropy() -> Stream {
        use std::hash::{BuildHasher, Hasher};
        Stream::new(std::collections::hash_map::RandomState::new().build_hasher().finish())
    }

    /// Starts again, from `seed`.
    pub fn reseed(&self, seed: u64) {
        self.0.key.store(seed, Ordering::Relaxed);
        self.0.next.store(0, Ordering::Relaxed);
    }

    /// Takes `blocks` blocks of four 32-bit words: the key, and the number of the first block.
    pub fn take(&self, blocks: u64) -> (u64, u64) {
        let first = self.0.next.fetch_add(blocks, Ordering::Relaxed);
        (self.0.key.load(Ordering::Relaxed), first)
    }
}

/// Block `counter` of the stream of `key`: four independent uniform 32-bit words.
#[inline(always)]
pub fn philox(key: u64, counter: u64) -> [u32; 4] {
    const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
    const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
    let mut x = [counter as u32, (counter >> 32) as u32, 0, 0];
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

/// A double in [0, 1) with 53 random bits, from two words.
#[inline(always)]
pub fn unit_f64(high: u32, low: u32) -> f64 {
    (((high as u64) << 32 | low as u64) >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// A float in [0, 1) with 24 random bits, from one word.
#[inline(always)]
pub fn unit_f32(word: u32) -> f32 {
    (word >> 8) as f32 * (1.0 / (1_u32 << 24) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers published with the generator (Random123, kat_vectors).
    #[test]
    fn known_answers() {
        assert_eq!(philox(0, 0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
    }

    #[test]
    fn units_stay_below_one() {
        assert!(unit_f64(u32::MAX, u32::MAX) < 1.0);
        assert!(unit_f32(u32::MAX) < 1.0);
        assert_eq!(unit_f64(0, 0), 0.0);
    }

    #[test]
    fn streams_are_shared_by_clones_and_restart() {
        let s = Stream::new(7);
        assert_eq!(s.take(3), (7, 0));
        assert_eq!(s.clone().take(2), (7, 3));
        s.reseed(8);
        assert_eq!(s.take(1), (8, 0));
    }
}
