//! The words of many blocks of the generator, in memory order: those of [`philox`], many blocks side by side where the processor has AVX2 or AVX-512.
//!
//! The loops are written in instructions: of loops over arrays, as in [`philox_many`](crate::random::philox_many), the compiler makes ones that take more than twice the time
//! (`cargo xtask bench peers random_uniform`).

use super::super::simd::set;
use crate::random::{bits, philox};

/// Fills `out` with 64-bit numbers, two of each block from number `first` on ([`bits`]).
pub fn fill(key: u64, first: u64, out: &mut [u64]) {
    let done = groups(key, first, out);
    for (k, pair) in out[done..].chunks_mut(2).enumerate() {
        let block = philox(key, first.wrapping_add((done / 2 + k) as u64));
        for (i, out) in pair.iter_mut().enumerate() {
            *out = bits(block, i);
        }
    }
}

/// Fills as much of `out` as whole groups of blocks take; how many numbers these are.
fn groups(key: u64, first: u64, out: &mut [u64]) -> usize {
    match set() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has these instructions.
        1 => unsafe { x86::avx2(key, first, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        2 => unsafe { x86::avx512(key, first, out) },
        _ => 0,
    }
}

/// A register has one word of several blocks, each in the lower half of a lane. The upper halves keep what multiplications leave there: these read the
/// lower ones alone.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use crate::random::{LOW, MULTIPLIERS, round_key};
    use std::arch::x86_64::*;

    /// Registers of each word: their chains of multiplications run side by side.
    const REGISTERS: usize = 2;

    #[target_feature(enable = "avx2")]
    pub fn avx2(key: u64, first: u64, out: &mut [u64]) -> usize {
        const LANES: usize = 4;
        let (groups, rest) = out.as_chunks_mut::<{ 2 * REGISTERS * LANES }>();
        let [m0, m1] = [_mm256_set1_epi64x(MULTIPLIERS[0].into()), _mm256_set1_epi64x(MULTIPLIERS[1].into())];
        let (low, numbers) = (_mm256_set1_epi64x(LOW as i64), _mm256_setr_epi64x(0, 1, 2, 3));
        for (k, group) in groups.iter_mut().enumerate() {
            let mut x = [[_mm256_setzero_si256(); 4]; REGISTERS];
            for (r, x) in x.iter_mut().enumerate() {
                let block = first.wrapping_add(((k * REGISTERS + r) * LANES) as u64);
                x[0] = _mm256_add_epi64(_mm256_set1_epi64x(block as i64), numbers);
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
                // p0 q0 p2 q2, and p1 q1 p3 q3
                let (a, b) = (_mm256_unpacklo_epi64(p, q), _mm256_unpackhi_epi64(p, q));
                let to = out.as_mut_ptr().cast();
                // SAFETY: eight numbers, in two registers.
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
    pub fn avx512(key: u64, first: u64, out: &mut [u64]) -> usize {
        const LANES: usize = 8;
        /// Exclusive or of three, as a table of truth.
        const XOR: i32 = 0x96;
        let (groups, rest) = out.as_chunks_mut::<{ 2 * REGISTERS * LANES }>();
        let [m0, m1] = [_mm512_set1_epi64(MULTIPLIERS[0].into()), _mm512_set1_epi64(MULTIPLIERS[1].into())];
        let (low, numbers) = (_mm512_set1_epi64(LOW as i64), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
        // of p0 .. p7 and q0 .. q7 those of four blocks: p0 q0 p1 q1 ..
        let (begin, end) = (_mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15));
        for (k, group) in groups.iter_mut().enumerate() {
            let mut x = [[_mm512_setzero_si512(); 4]; REGISTERS];
            for (r, x) in x.iter_mut().enumerate() {
                let block = first.wrapping_add(((k * REGISTERS + r) * LANES) as u64);
                x[0] = _mm512_add_epi64(_mm512_set1_epi64(block as i64), numbers);
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
                // SAFETY: sixteen numbers, in two registers.
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

    /// Of every number of blocks, in whole groups and not, near the ends of both halves of the counter, in every instruction set.
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
}
