//! Sorts indices by their keys (argsort).
//!
//! The sort works on 64-bit entries, for which there are vector instructions. Each entry has the index of a key in its
//! lowest bits, and above the index as many of the key's highest bits as fit. So equal keys keep their order. Entries
//! with the same bits of the key are sorted again by the remaining bits of their keys.

use super::{
    super::{
        parallel::{self, CHEAP, Shared},
        simd::versions,
    },
    keys::{self, Key},
    merge, serial,
};
use backend_core::Result;

/// Writes the indices of all keys in sorted order. Equal keys keep the order of their indices. `spare` is scratch
/// memory that grows if needed.
pub fn order<K: Key>(op: &'static str, keys: &[K], out: &mut [u64], spare: &mut Vec<u64>) -> Result<()> {
    order_with(op, bits(keys.len().saturating_sub(1) as u64), keys, out, spare)
}

/// Like `order`, but with `index_bits` bits for the index in each entry.
fn order_with<K: Key>(
    op: &'static str,
    index_bits: u32,
    keys: &[K],
    out: &mut [u64],
    spare: &mut Vec<u64>,
) -> Result<()> {
    let n = keys.len();
    assert_eq!(n, out.len(), "every key has a place");
    if n == 0 {
        return Ok(());
    }
    let (least, most) = keys::range(keys);
    let least = least.cast::<u64>();
    let below = bits(most.cast::<u64>() - least).saturating_sub(64 - index_bits);
    let to = Shared::new(out);
    parallel::parallel(n, CHEAP, |range| {
        // SAFETY: each range of `to` belongs to one task only, and is as long as its range of keys.
        unsafe { pack(&keys[range.clone()], range.start, least, below, index_bits, to.part(range)) };
    });
    let moved = merge::sort(op, out, spare, index_bits as usize)?;
    let sorted = if moved { &mut spare[..n] } else { &mut *out };
    Keys { keys, least, index_bits }.sort_equals(op, sorted, &mut Vec::new(), below)?;
    if moved {
        for (out, &entry) in out.iter_mut().zip(&*spare) {
            *out = index(entry, index_bits);
        }
    } else {
        for entry in out {
            *entry = index(*entry, index_bits);
        }
    }
    Ok(())
}

/// Number of bits of `x` without its leading zeros.
const fn bits(x: u64) -> u32 {
    u64::BITS - x.leading_zeros()
}

/// The index that an entry contains.
#[inline(always)]
const fn index(entry: u64, index_bits: u32) -> u64 {
    entry & ((1 << index_bits) - 1)
}

versions! {
    /// Writes an entry for each key. The lowest `index_bits` bits are the index of the key. The bits above are the
    /// distance of the key from `least`, without the lowest `below` bits of this distance.
    unsafe fn pack[K: Key][K](keys: &[K], first: usize, least: u64, below: u32, index_bits: u32, entries: &mut [u64]) {
        for (i, (entry, key)) in entries.iter_mut().zip(keys).enumerate() {
            *entry = ((key.cast::<u64>().wrapping_sub(least) >> below) << index_bits) | (first + i) as u64;
        }
    }
}

/// The keys from which `pack` made entries, and the parameters of `pack`.
struct Keys<'a, K> {
    keys: &'a [K],
    least: u64,
    index_bits: u32,
}

impl<K: Key> Keys<'_, K> {
    /// Finds consecutive entries that contain the same bits of the key. Sorts them again by the lowest `rest` bits of
    /// the key, which the entries do not contain.
    fn sort_equals(&self, op: &'static str, entries: &mut [u64], spare: &mut Vec<u64>, rest: u32) -> Result<()> {
        if rest == 0 {
            return Ok(());
        }
        let same = |x: u64, y: u64| (x ^ y) >> self.index_bits == 0;
        let mut start = 0;
        while start < entries.len() {
            let behind = &entries[start..];
            let many = 1 + behind.windows(2).take_while(|pair| same(pair[0], pair[1])).count();
            if many > 1 {
                self.sort_rest(op, &mut entries[start..start + many], spare, rest)?;
            }
            start += many;
        }
        Ok(())
    }

    /// Sorts entries whose keys differ at most in the lowest `rest` bits.
    fn sort_rest(&self, op: &'static str, entries: &mut [u64], spare: &mut Vec<u64>, rest: u32) -> Result<()> {
        let below = rest.saturating_sub(64 - self.index_bits);
        let mut differ = 0;
        let first = self.above_least(entries[0]);
        for entry in &mut *entries {
            let key = self.above_least(*entry);
            differ |= key ^ first;
            // the higher bits of the key are the same in all these entries, so they may be lost in the shift
            *entry = ((key >> below) << self.index_bits) | index(*entry, self.index_bits);
        }
        if differ == 0 {
            return Ok(()); // equal keys are in the order of their indices already
        }
        if serial::sort(op, entries, spare, self.index_bits as usize)? {
            entries.copy_from_slice(&spare[..entries.len()]);
        }
        self.sort_equals(op, entries, spare, below)
    }

    fn above_least(&self, entry: u64) -> u64 {
        self.keys[index(entry, self.index_bits) as usize].cast::<u64>() - self.least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backend_core::numpyish::simd;

    fn check<K: Key>(keys: &[K], index_bits: u32) {
        let mut expected: Vec<u64> = (0..keys.len() as u64).collect();
        expected.sort_by_key(|&i| keys[i as usize]);
        // the result must not depend on old contents of the buffers
        let (mut order, mut spare) = (vec![77; keys.len()], vec![77; keys.len() / 2]);
        order_with("argsort", index_bits, keys, &mut order, &mut spare).unwrap();
        assert!(order == expected, "{} {index_bits}", keys.len());
    }

    /// Tests keys that differ in their highest bits, in their lowest bits, in both, or not at all. In some cases the
    /// index takes so many bits that only few bits of a key are compared at a time.
    #[test]
    fn equal_keys_keep_their_order() {
        simd::with_each(|_| {
            for n in [0_u64, 1, 2, 3, 40, 1000, 5000] {
                let least = bits(n.saturating_sub(1));
                for index_bits in [least, 20, 45, 60] {
                    let mixed = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15);
                    let all = |key: &dyn Fn(u64) -> u64| (0..n).map(key).collect::<Vec<u64>>();
                    check(&all(&mixed), index_bits);
                    check(&all(&|i| mixed(i) % 7), index_bits);
                    check(&all(&|i| mixed(i) >> 60 << 60 | mixed(i + 1) >> 61), index_bits);
                    check(&all(&|i| if i == n / 2 { 0 } else { u64::MAX - mixed(i) % 5 }), index_bits);
                    check(&all(&|_| 77), index_bits);
                    check(&all(&|i| n - i), index_bits);
                    let narrow: Vec<u32> = all(&mixed).iter().map(|&k| (k >> 40) as u32).collect();
                    check(&narrow, index_bits);
                    check(&narrow.iter().map(|k| k % 3).collect::<Vec<_>>(), index_bits);
                }
            }
        });
    }

    #[test]
    fn on_several_threads() {
        let keys: Vec<u64> =
            (0..200_000_u64).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 100_000) << 40).collect();
        check(&keys, bits(200_000 - 1));
    }
}
