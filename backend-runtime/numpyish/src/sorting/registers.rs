//! Vector registers of keys, for AVX2 and AVX-512. In this file, a lane is the part of a register that holds one key;
//! in other files, a lane is a 1-D slice of an array.

use super::keys::Key;
use std::arch::x86_64::*;

/// A vector register of keys, one key in each lane. Each operation processes all lanes at once. The operations must be
/// called only from functions that are compiled for the instruction set of the register.
pub trait Register: Copy {
    /// The integer type of the keys.
    type Key: Key;
    /// Number of lanes, that is, of keys in a register.
    const LANES: usize;

    /// # Safety
    /// The processor must have the register's instructions, and `from` must have [`Register::LANES`] keys.
    unsafe fn load(from: *const Self::Key) -> Self;

    /// # Safety
    /// The processor must have the register's instructions, and `to` must have room for [`Register::LANES`] keys.
    unsafe fn store(self, to: *mut Self::Key);

    /// Creates a register with the same key in every lane.
    ///
    /// # Safety
    /// The processor must have the register's instructions.
    unsafe fn all(key: Self::Key) -> Self;

    /// For each lane, the smaller and the larger of the two keys.
    ///
    /// # Safety
    /// The processor must have the register's instructions.
    unsafe fn in_order(self, other: Self) -> (Self, Self);

    /// The same keys in another order: lane `i` gets the key of lane `i ^ BY`.
    ///
    /// # Safety
    /// The processor must have the register's instructions.
    unsafe fn exchanged<const BY: usize>(self) -> Self;

    /// The key of `other` in each lane whose index has the bit `BIT`, and the key of `self` in each remaining lane.
    ///
    /// # Safety
    /// The processor must have the register's instructions.
    unsafe fn or<const BIT: usize>(self, other: Self) -> Self;

    /// Divides the keys into two groups by the key that all lanes of `most` contain. Keys up to this key are written
    /// from `left` on. Larger keys are written so that they end just before `right`. Returns the number of keys in the
    /// first group. Memory between the two groups may be overwritten.
    ///
    /// # Safety
    /// The processor must have the register's instructions. There must be room for [`Register::LANES`] keys from `left`
    /// on, and for as many keys before `right`. These two ranges must be the same memory, or must not overlap.
    unsafe fn split(self, most: Self, left: *mut Self::Key, right: *mut Self::Key) -> usize;
}

/// 8 keys of 64 bits (AVX-512).
#[derive(Clone, Copy)]
pub struct Wide64(__m512i);

/// 16 keys of 32 bits (AVX-512).
#[derive(Clone, Copy)]
pub struct Wide32(__m512i);

/// 4 keys of 64 bits (AVX2). The highest bit is inverted in the register, because AVX2 compares only signed numbers.
#[derive(Clone, Copy)]
pub struct Half64(__m256i);

/// 8 keys of 32 bits (AVX2).
#[derive(Clone, Copy)]
pub struct Half32(__m256i);

/// For each 32-bit word of a register, in lane `i`, the index of the corresponding word of lane `i ^ by`. A lane has
/// `each` words.
const fn words_by<const WORDS: usize>(by: usize, each: usize) -> [u32; WORDS] {
    let mut all = [0; WORDS];
    let mut i = 0;
    while i < WORDS {
        all[i] = (i ^ (by * each)) as u32;
        i += 1;
    }
    all
}

/// A bit mask of the lanes whose index has the bit `bit`.
const fn lanes_with(bit: usize) -> u16 {
    let (mut all, mut i) = (0, 0);
    while i < 16 {
        all |= ((i & bit != 0) as u16) << i;
        i += 1;
    }
    all
}

/// A mask of the 32-bit words of a register: -1 for the words of lanes whose index has the bit `bit`, and 0 for all
/// other words. A lane has `each` words.
const fn words_with(bit: usize, each: usize) -> [i32; 8] {
    let (mut all, mut i) = ([0; 8], 0);
    while i < 8 {
        all[i] = -((i & (bit * each) != 0) as i32);
        i += 1;
    }
    all
}

/// For each set of lanes of a register, an order of the register's words. The order moves the keys in these lanes
/// behind all other keys. Entry `k` of an order is the index of the word that moves to place `k`. Lane `i` is in a set
/// if bit `i` of the set's index is 1. A lane has `words` words. A word is the unit that an instruction moves, so it
/// has 32 or 64 bits.
const fn orders<const SETS: usize>(lanes: usize, words: usize) -> [[u8; 8]; SETS] {
    let mut all = [[0; 8]; SETS];
    let mut set = 0;
    while set < SETS {
        let (mut place, mut i) = (0, 0);
        while i < 2 * lanes {
            let (lane, last) = (i % lanes, i / lanes);
            if (set >> lane) & 1 == last {
                let mut word = 0;
                while word < words {
                    all[set][place] = (lane * words + word) as u8;
                    place += 1;
                    word += 1;
                }
            }
            i += 1;
        }
        set += 1;
    }
    all
}

/// For each set of lanes, the order that [`orders`] computes for registers with 4 keys of 64 bits. Each key consists of
/// two words of 32 bits, because AVX2 has no instruction that moves 64-bit words by such a table.
static FOURS: [[u8; 8]; 16] = orders(4, 2);

/// For each set of lanes, the order that [`orders`] computes for registers with 8 keys. Each key is one word: 32 bits
/// with AVX2, and 64 bits with AVX-512.
static EIGHTS: [[u8; 8]; 256] = orders(8, 1);

impl Register for Wide64 {
    type Key = u64;
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe { Wide64(_mm512_loadu_si512(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn all(key: u64) -> Self {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe { Wide64(_mm512_set1_epi64(key as i64)) }
    }

    #[inline(always)]
    unsafe fn in_order(self, other: Self) -> (Self, Self) {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe {
            let low = _mm512_min_epu64(self.0, other.0);
            // The larger key is the exclusive or of both keys and the smaller key. This instruction runs on another
            // port of the core than the minimum.
            (Wide64(low), Wide64(_mm512_ternarylogic_epi64::<0x96>(self.0, other.0, low)))
        }
    }

    #[inline(always)]
    unsafe fn exchanged<const BY: usize>(self) -> Self {
        let words: &[u32; 16] = const { &words_by(BY, 2) };
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe { Wide64(_mm512_permutexvar_epi32(_mm512_loadu_si512(words.as_ptr().cast()), self.0)) }
    }

    #[inline(always)]
    unsafe fn or<const BIT: usize>(self, other: Self) -> Self {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe { Wide64(_mm512_mask_blend_epi64(const { lanes_with(BIT) as u8 }, self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn split(self, most: Self, left: *mut u64, right: *mut u64) -> usize {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe {
            let above = _mm512_cmpgt_epu64_mask(self.0, most.0);
            let order = _mm512_cvtepu8_epi64(_mm_loadl_epi64(EIGHTS[usize::from(above)].as_ptr().cast()));
            let x = Wide64(_mm512_permutexvar_epi64(order, self.0));
            x.store(left);
            x.store(right.sub(8));
            8 - above.count_ones() as usize
        }
    }
}

impl Register for Wide32 {
    type Key = u32;
    const LANES: usize = 16;

    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe { Wide32(_mm512_loadu_si512(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn all(key: u32) -> Self {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe { Wide32(_mm512_set1_epi32(key as i32)) }
    }

    #[inline(always)]
    unsafe fn in_order(self, other: Self) -> (Self, Self) {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe {
            let low = _mm512_min_epu32(self.0, other.0);
            (Wide32(low), Wide32(_mm512_ternarylogic_epi32::<0x96>(self.0, other.0, low)))
        }
    }

    #[inline(always)]
    unsafe fn exchanged<const BY: usize>(self) -> Self {
        let words: &[u32; 16] = const { &words_by(BY, 1) };
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe { Wide32(_mm512_permutexvar_epi32(_mm512_loadu_si512(words.as_ptr().cast()), self.0)) }
    }

    #[inline(always)]
    unsafe fn or<const BIT: usize>(self, other: Self) -> Self {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe { Wide32(_mm512_mask_blend_epi32(const { lanes_with(BIT) }, self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn split(self, most: Self, left: *mut u32, right: *mut u32) -> usize {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid. At
        // `right`, only the keys above `most` are written.
        unsafe {
            // A table of orders would have 65536 entries. Therefore, the first group is written as a whole register,
            // whose unused end may then be overwritten by the second group.
            let above = _mm512_cmpgt_epu32_mask(self.0, most.0);
            let many = above.count_ones() as usize;
            _mm512_storeu_si512(left.cast(), _mm512_maskz_compress_epi32(!above, self.0));
            let last = _mm512_maskz_compress_epi32(above, self.0);
            _mm512_mask_storeu_epi32(right.sub(many).cast(), ((1_u32 << many) - 1) as u16, last);
            16 - many
        }
    }
}

/// Moves word `order[i]` of `x` to position `i`, for each of the 8 words.
///
/// # Safety
/// The processor must have AVX2.
#[inline(always)]
unsafe fn permuted(x: __m256i, order: &[u8; 8]) -> __m256i {
    // SAFETY: the caller guarantees AVX2, and an order has 8 bytes.
    unsafe { _mm256_permutevar8x32_epi32(x, _mm256_cvtepu8_epi32(_mm_loadl_epi64(order.as_ptr().cast()))) }
}

/// Takes each 32-bit word from `y` if its entry in `words` is -1, and from `x` if the entry is 0.
///
/// # Safety
/// The processor must have AVX2.
#[inline(always)]
unsafe fn chosen(x: __m256i, y: __m256i, words: &[i32; 8]) -> __m256i {
    // SAFETY: the caller guarantees AVX2, and there are 8 words.
    unsafe { _mm256_blendv_epi8(x, y, _mm256_loadu_si256(words.as_ptr().cast())) }
}

impl Register for Half64 {
    type Key = u64;
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe { Half64(_mm256_xor_si256(_mm256_loadu_si256(from.cast()), _mm256_set1_epi64x(i64::MIN))) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe { _mm256_storeu_si256(to.cast(), _mm256_xor_si256(self.0, _mm256_set1_epi64x(i64::MIN))) }
    }

    #[inline(always)]
    unsafe fn all(key: u64) -> Self {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe { Half64(_mm256_set1_epi64x(key as i64 ^ i64::MIN)) }
    }

    #[inline(always)]
    unsafe fn in_order(self, other: Self) -> (Self, Self) {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe {
            let swaps = _mm256_cmpgt_epi64(self.0, other.0);
            let low = _mm256_blendv_epi8(self.0, other.0, swaps);
            (Half64(low), Half64(_mm256_blendv_epi8(other.0, self.0, swaps)))
        }
    }

    #[inline(always)]
    unsafe fn exchanged<const BY: usize>(self) -> Self {
        let words: &[u32; 8] = const { &words_by(BY, 2) };
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe { Half64(_mm256_permutevar8x32_epi32(self.0, _mm256_loadu_si256(words.as_ptr().cast()))) }
    }

    #[inline(always)]
    unsafe fn or<const BIT: usize>(self, other: Self) -> Self {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe { Half64(chosen(self.0, other.0, const { &words_with(BIT, 2) })) }
    }

    #[inline(always)]
    unsafe fn split(self, most: Self, left: *mut u64, right: *mut u64) -> usize {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe {
            let above = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(self.0, most.0)));
            let x = Half64(permuted(self.0, &FOURS[above as usize]));
            x.store(left);
            x.store(right.sub(4));
            4 - above.count_ones() as usize
        }
    }
}

impl Register for Half32 {
    type Key = u32;
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe { Half32(_mm256_loadu_si256(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn all(key: u32) -> Self {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe { Half32(_mm256_set1_epi32(key as i32)) }
    }

    #[inline(always)]
    unsafe fn in_order(self, other: Self) -> (Self, Self) {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe { (Half32(_mm256_min_epu32(self.0, other.0)), Half32(_mm256_max_epu32(self.0, other.0))) }
    }

    #[inline(always)]
    unsafe fn exchanged<const BY: usize>(self) -> Self {
        let words: &[u32; 8] = const { &words_by(BY, 1) };
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe { Half32(_mm256_permutevar8x32_epi32(self.0, _mm256_loadu_si256(words.as_ptr().cast()))) }
    }

    #[inline(always)]
    unsafe fn or<const BIT: usize>(self, other: Self) -> Self {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe { Half32(chosen(self.0, other.0, const { &words_with(BIT, 1) })) }
    }

    #[inline(always)]
    unsafe fn split(self, most: Self, left: *mut u32, right: *mut u32) -> usize {
        // SAFETY: the caller guarantees that the processor has these instructions, and that the memory is valid.
        unsafe {
            let low = _mm256_cmpeq_epi32(_mm256_min_epu32(self.0, most.0), self.0);
            let above = 0xff & !_mm256_movemask_ps(_mm256_castsi256_ps(low));
            let x = Half32(permuted(self.0, &EIGHTS[above as usize]));
            x.store(left);
            x.store(right.sub(8));
            8 - above.count_ones() as usize
        }
    }
}
