//! Pseudorandom numbers in 0..1 by splitmix64. `tools/xtask/peers_noise.py` makes the same numbers for the other
//! libraries.

/// The first `count` numbers for a seed.
pub fn noise(seed: u64, count: usize) -> Vec<f64> {
    let of = |i: u64| {
        let mut z = seed.wrapping_mul(0x632B_E59B_D9B4_E019).wrapping_add((i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..count as u64).map(of).collect()
}
