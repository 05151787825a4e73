//! Computes the random 32-bit words of many blocks of the generator ([`philox`]), in the order of the blocks. Several
//! blocks are computed in parallel if the processor has AVX2 or AVX-512.
//!
//! The loops are written with intrinsics, because loops over arrays compile to code that takes more than twice as long
//! (measured with `cargo xtask bench peers random_uniform`).

use super::super::simd::set;
use backend_core::random::{bits, philox, philox_further};

/// The blocks of the generator whose words are computed.
#[derive(Clone, Copy)]
enum Blocks<'a> {
    /// Consecutive blocks, beginning with the block of this index.
    From(u64),
    /// For each element, the block at which it begins, and the number of its further block ([`philox_further`]).
    Each(&'a [u64], &'a [u32]),
}

impl Blocks<'_> {
    /// Returns the four words of block number `at` of these blocks.
    fn words(self, key: u64, at: usize) -> [u32; 4] {
        match self {
            Blocks::From(first) => philox(key, first.wrapping_add(at as u64)),
            Blocks::Each(blocks, further) => philox_further(key, blocks[at], further[at]),
        }
    }
}

/// Fills `out` with 64-bit numbers, beginning with block `first`. Each block gives two numbers (see [`bits`]).
pub fn fill(key: u64, first: u64, out: &mut [u64]) {
    fill_of(key, Blocks::From(first), out);
}

/// Like `fill`, for a list of elements. Each element has its first block in `blocks`, and the number of its further
/// block ([`philox_further`]) in `further`.
///
/// # Panics
/// If `blocks` and `further` differ in length, or `out` is not twice as long.
pub fn each(key: u64, blocks: &[u64], further: &[u32], out: &mut [u64]) {
    assert!(blocks.len() == further.len() && out.len() == 2 * blocks.len(), "two numbers of each block");
    fill_of(key, Blocks::Each(blocks, further), out);
}

fn fill_of(key: u64, blocks: Blocks<'_>, out: &mut [u64]) {
    let done = groups(key, blocks, out);
    for (k, pair) in out[done..].chunks_mut(2).enumerate() {
        let block = blocks.words(key, done / 2 + k);
        for (i, out) in pair.iter_mut().enumerate() {
            *out = bits(block, i);
        }
    }
}

/// Fills the start of `out` with the numbers of whole groups of blocks. Returns the number of written elements of
/// `out`.
fn groups(key: u64, blocks: Blocks<'_>, out: &mut [u64]) -> usize {
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (key, blocks, out);
    match set() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has these instructions.
        1 => unsafe { x86::avx2(key, blocks, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has these instructions.
        2 => unsafe { x86::avx512(key, blocks, out) },
        _ => 0,
    }
}

/// Loops for AVX2 and AVX-512. Each register has one word of several blocks, in the lower halves of its lanes (64-bit
/// elements). Multiplications read only the lower halves, but leave other bits in the upper halves.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Blocks;
    use backend_core::random::{MULTIPLIERS, round_key};
    use std::arch::x86_64::*;

    /// Mask of the bits of a word in the lower half of a lane.
    const LOW: u64 = u32::MAX as u64;

    /// Number of registers for each word. With several registers, independent chains of multiplications overlap.
    const REGISTERS: usize = 2;

    #[target_feature(enable = "avx2")]
    pub fn avx2(key: u64, blocks: Blocks<'_>, out: &mut [u64]) -> usize {
        const LANES: usize = 4;
        let (groups, rest) = out.as_chunks_mut::<{ 2 * REGISTERS * LANES }>();
        let [m0, m1] = [_mm256_set1_epi64x(MULTIPLIERS[0].into()), _mm256_set1_epi64x(MULTIPLIERS[1].into())];
        let (low, numbers) = (_mm256_set1_epi64x(LOW as i64), _mm256_setr_epi64x(0, 1, 2, 3));
        for (k, group) in groups.iter_mut().enumerate() {
            let mut x = [[_mm256_setzero_si256(); 4]; REGISTERS];
            for (r, x) in x.iter_mut().enumerate() {
                let at = (k * REGISTERS + r) * LANES;
                match blocks {
                    Blocks::From(first) => {
                        let first = first.wrapping_add(at as u64);
                        x[0] = _mm256_add_epi64(_mm256_set1_epi64x(first as i64), numbers);
                    }
                    Blocks::Each(blocks, further) => {
                        let (blocks, further) = (&blocks[at..at + LANES], &further[at..at + LANES]);
                        // SAFETY: `blocks` and `further` have as many elements as a register has lanes.
                        unsafe {
                            x[0] = _mm256_loadu_si256(blocks.as_ptr().cast());
                            x[2] = _mm256_cvtepu32_epi64(_mm_loadu_si128(further.as_ptr().cast()));
                        }
                    }
                }
                x[1] = _mm256_srli_epi64::<32>(x[0]);
            }
            for round in 0..10 {
                let [k0, k1] = round_key(key, round);
                let (k0, k1) = (_mm256_set1_epi64x(k0.into()), _mm256_set1_epi64x(k1.into()));
                for x in &mut x {
                    let (a, b) = (_mm256_mul_epu32(m0, x[0]), _mm256_mul_epu32(m1, x[2]));
                    let x0 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64::<32>(b), x[1]), k0);
                    let x2 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64::<32>(a), x[3]), k1);
                    *x = [x0, b, x2, a];
                }
            }
            for (x, out) in x.iter().zip(group.as_chunks_mut::<{ 2 * LANES }>().0) {
                let p = _mm256_or_si256(_mm256_slli_epi64::<32>(x[0]), _mm256_and_si256(x[1], low));
                let q = _mm256_or_si256(_mm256_slli_epi64::<32>(x[2]), _mm256_and_si256(x[3], low));
                // `a` is p0 q0 p2 q2, and `b` is p1 q1 p3 q3
                let (a, b) = (_mm256_unpacklo_epi64(p, q), _mm256_unpackhi_epi64(p, q));
                let to = out.as_mut_ptr().cast();
                // SAFETY: `out` has eight numbers, which two registers fill.
                unsafe {
                    _mm256_storeu_si256(to, _mm256_permute2x128_si256::<0x20>(a, b));
                    _mm256_storeu_si256(to.add(1), _mm256_permute2x128_si256::<0x31>(a, b));
                }
            }
        }
        let rest = rest.len();
        out.len() - rest
    }

    #[target_feature(enable = "avx512f")]
    pub fn avx512(key: u64, blocks: Blocks<'_>, out: &mut [u64]) -> usize {
        const LANES: usize = 8;
        /// Truth table of the exclusive or of three operands.
        const XOR: i32 = 0x96;
        let (groups, rest) = out.as_chunks_mut::<{ 2 * REGISTERS * LANES }>();
        let [m0, m1] = [_mm512_set1_epi64(MULTIPLIERS[0].into()), _mm512_set1_epi64(MULTIPLIERS[1].into())];
        let (low, numbers) = (_mm512_set1_epi64(LOW as i64), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
        // `begin` interleaves p0 .. p3 with q0 .. q3 (p0 q0 p1 q1 ..), and `end` interleaves p4 .. p7 with q4 .. q7
        let (begin, end) = (_mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15));
        for (k, group) in groups.iter_mut().enumerate() {
            let mut x = [[_mm512_setzero_si512(); 4]; REGISTERS];
            for (r, x) in x.iter_mut().enumerate() {
                let at = (k * REGISTERS + r) * LANES;
                match blocks {
                    Blocks::From(first) => {
                        let first = first.wrapping_add(at as u64);
                        x[0] = _mm512_add_epi64(_mm512_set1_epi64(first as i64), numbers);
                    }
                    Blocks::Each(blocks, further) => {
                        let (blocks, further) = (&blocks[at..at + LANES], &further[at..at + LANES]);
                        // SAFETY: `blocks` and `further` have as many elements as a register has lanes.
                        unsafe {
                            x[0] = _mm512_loadu_si512(blocks.as_ptr().cast());
                            x[2] = _mm512_cvtepu32_epi64(_mm256_loadu_si256(further.as_ptr().cast()));
                        }
                    }
                }
                x[1] = _mm512_srli_epi64::<32>(x[0]);
            }
            for round in 0..10 {
                let [k0, k1] = round_key(key, round);
                let (k0, k1) = (_mm512_set1_epi64(k0.into()), _mm512_set1_epi64(k1.into()));
                for x in &mut x {
                    let (a, b) = (_mm512_mul_epu32(m0, x[0]), _mm512_mul_epu32(m1, x[2]));
                    let x0 = _mm512_ternarylogic_epi64::<XOR>(_mm512_srli_epi64::<32>(b), x[1], k0);
                    let x2 = _mm512_ternarylogic_epi64::<XOR>(_mm512_srli_epi64::<32>(a), x[3], k1);
                    *x = [x0, b, x2, a];
                }
            }
            for (x, out) in x.iter().zip(group.as_chunks_mut::<{ 2 * LANES }>().0) {
                let p = _mm512_or_si512(_mm512_slli_epi64::<32>(x[0]), _mm512_and_si512(x[1], low));
                let q = _mm512_or_si512(_mm512_slli_epi64::<32>(x[2]), _mm512_and_si512(x[3], low));
                let to = out.as_mut_ptr().cast();
                // SAFETY: `out` has sixteen numbers, which two registers fill.
                unsafe {
                    _mm512_storeu_si512(to, _mm512_permutex2var_epi64(p, begin, q));
                    _mm512_storeu_si512(to.add(1), _mm512_permutex2var_epi64(p, end, q));
                }
            }
        }
        let rest = rest.len();
        out.len() - rest
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::simd, *};

    /// Tests every instruction set, with whole and incomplete groups of blocks. Some indices of blocks overflow their
    /// lower 32 bits, or all 64 bits.
    #[test]
    fn words_are_those_of_the_generator() {
        for (key, first) in
            [(0, 0), (42, 7), (u64::MAX, u64::from(u32::MAX) - 5), (0x1234_5678_9abc_def0, u64::MAX - 9)]
        {
            for n in (0..70).chain([1023, 1024]) {
                let of = |i: usize| bits(philox(key, u64::wrapping_add(first, i as u64 / 2)), i % 2);
                let expected: Vec<u64> = (0..n).map(of).collect();
                simd::with_each(|set| {
                    let mut words = vec![0; n];
                    fill(key, first, &mut words);
                    assert_eq!(words, expected, "{n} of {key} from {first} on, set {set}");
                });
            }
        }
    }

    #[test]
    fn further_blocks_are_those_of_the_generator() {
        for key in [0, u64::MAX, 0x0123_4567_89ab_cdef] {
            for n in (0..40).chain([512]) {
                let blocks: Vec<u64> = (0..n).map(|i| [7, u64::MAX, u64::from(u32::MAX), i][i as usize % 4]).collect();
                let further: Vec<u32> = (0..n as u32).map(|i| [0, 3, u32::MAX, i][(i as usize / 4) % 4]).collect();
                let all = blocks.iter().zip(&further).map(|(&block, &further)| philox_further(key, block, further));
                let expected: Vec<u64> = all.flat_map(|block| [bits(block, 0), bits(block, 1)]).collect();
                simd::with_each(|set| {
                    let mut words = vec![0; 2 * n as usize];
                    each(key, &blocks, &further, &mut words);
                    assert_eq!(words, expected, "{n} of {key}, set {set}");
                });
            }
        }
    }
}
