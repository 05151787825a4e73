//! Membership of elements in another array. If the wanted keys are close together, elements are looked up in a table of
//! bits. Otherwise they are searched among the sorted keys.

use super::{
    super::{
        buffer::{self, Buffer},
        copy,
        parallel::{self, COSTLY},
        raw::{HostView, RawArray, View},
        simd::versions,
    },
    all_keys,
    keys::{self, Key},
    merge,
    search::{self, BLOCK},
    serial::Sortable,
};
use backend_core::{DType, DTypeKind, Element, Result};

/// Returns, for each element of `x`, whether it equals one of `others`. With `invert`, returns whether it equals none
/// of them. NaN equals nothing. Returns `None` for complex numbers, which have no keys.
pub fn is_in<T: Element>(x: HostView<'_, T>, others: HostView<'_, T>, invert: bool) -> Result<Option<RawArray>> {
    let (x, others) = (x.view(), others.view());
    if x.dtype.kind() == DTypeKind::Complex {
        return Ok(None);
    }
    let wide = keys::is_wide(x.dtype);
    if wide { found::<u64>(x, others, invert) } else { found::<u32>(x, others, invert) }.map(Some)
}

/// The keys to look for.
enum Wanted<K> {
    /// A table with `count` bits, followed by a word of zeros. Bit `key - least` is set for each wanted key.
    Table { least: K, count: u64, bits: Vec<u64> },
    /// All wanted keys, sorted.
    Sorted(Vec<K>),
}

fn found<K: Sortable>(x: View<'_>, others: View<'_>, invert: bool) -> Result<RawArray> {
    const OP: &str = "isin";
    let (n, count) = (x.len(), others.len());
    let (x_start, others) = (copy::pack(OP, x)?, copy::pack(OP, others)?);
    // SAFETY: the packed copy has `count` elements.
    let mut wanted = unsafe { all_keys::<K>(OP, x.dtype, others.start(), count)? };
    if x.dtype.kind() == DTypeKind::Real {
        let nan = K::of(f32::NAN, false);
        wanted.retain(|&key| key != nan);
    }
    let wanted = Wanted::new(OP, wanted, n)?;
    let out = Buffer::new(OP, n, DType::Bool)?;
    let (loops, size) = (K::loops(x.dtype), x.dtype.size());
    let ends = copy::Ends { from: x_start.start(), to: out.start() };
    parallel::parallel(n, COSTLY, |range| {
        let ends = &ends;
        let mut keys = [K::default(); BLOCK];
        for start in range.clone().step_by(BLOCK) {
            let many = BLOCK.min(range.end - start);
            // SAFETY: the block of elements and results belongs to this task, and every result is 0 or 1.
            unsafe {
                (loops.keys)(ends.from.add(start * size), many, keys.as_mut_ptr(), false);
                let out = std::slice::from_raw_parts_mut(ends.to.add(start), many);
                wanted.mark(&keys, out, invert);
            }
        }
    });
    // SAFETY: every result has been written.
    unsafe { RawArray::new(OP, x.shape.to_vec(), out) }
}

impl<K: Sortable> Wanted<K> {
    /// Makes a table if it would be short compared to the number of keys plus the number `n` of elements to look up.
    /// Otherwise sorts the keys.
    fn new(op: &'static str, mut keys: Vec<K>, n: usize) -> Result<Wanted<K>> {
        const BITS_FOR_EACH: u64 = 64;
        let (least, most) = keys::range(&keys);
        let range = if keys.is_empty() { 0 } else { most.cast::<u64>() - least.cast::<u64>() };
        let worth = (keys.len().saturating_add(n) as u64).saturating_mul(BITS_FOR_EACH).max(1 << 16);
        if range >= worth {
            merge::sort_vec(op, &mut keys, &mut Vec::new(), 0)?;
            return Ok(Wanted::Sorted(keys));
        }
        let mut bits = buffer::zeros::<u64>(op, (range / 64) as usize + 2)?;
        for &key in &keys {
            let bit = key.cast::<u64>() - least.cast::<u64>();
            bits[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        Ok(Wanted::Table { least, count: range + 1, bits })
    }

    /// Writes 1 for each key that is wanted and 0 for each other key, or the reverse with `invert`. `out` determines
    /// the number of keys.
    fn mark(&self, keys: &[K; BLOCK], out: &mut [u8], invert: bool) {
        match self {
            // SAFETY: the table has a bit for each offset below `count`, and one more word.
            Wanted::Table { least, count, bits } => unsafe { look_up(bits, *least, *count, keys, out, invert) },
            Wanted::Sorted(sorted) => {
                let mut places = [0; BLOCK];
                search::key_places::<K, false>(sorted, keys, &mut places[..out.len()]);
                for ((out, key), &place) in out.iter_mut().zip(keys).zip(&places) {
                    *out = u8::from((sorted.get(place as usize) == Some(key)) != invert);
                }
            }
        }
    }
}

versions! {
    /// Implements [`Wanted::mark`] for a table.
    ///
    /// # Safety
    /// All words but the last must together have at least `count` bits, and the last word must be 0.
    unsafe fn look_up[K: Key][K](bits: &[u64], least: K, count: u64, keys: &[K; BLOCK], out: &mut [u8], invert: bool) {
        let least = least.cast::<u64>();
        let beyond = (bits.len() as u64 - 1) * 64;
        for (out, &key) in out.iter_mut().zip(keys) {
            let key = key.cast::<u64>();
            let bit = key.wrapping_sub(least);
            let bit = if bit < count { bit } else { beyond };
            // SAFETY: the index belongs to a word with bits below `count`, or to the last word.
            let word = unsafe { *bits.get_unchecked((bit / 64) as usize) };
            *out = (word >> (bit % 64)) as u8 & 1 ^ u8::from(invert);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backend_core::numpyish::{NdArray, simd, testing::layouts, typed::typed};
    use ndarray::{ArrayD, IxDyn, arr1};

    fn check<T: Element>(x: &[T], others: &[T]) {
        let x = ArrayD::from_shape_vec(IxDyn(&[2, x.len() / 2]), x.to_vec()).unwrap();
        let others = arr1(others).into_dyn().into_shared();
        for a in layouts(&x) {
            for invert in [false, true] {
                simd::with_each(|_| {
                    let found = is_in(HostView::of(&a), HostView::of(&others), invert).unwrap().unwrap();
                    let found: NdArray<bool> = typed(Ok(found)).unwrap();
                    assert_eq!(found.shape(), x.shape());
                    assert!(found.iter().zip(&x).all(|(&found, x)| found == (others.iter().any(|o| o == x) != invert)));
                });
            }
        }
    }

    #[test]
    fn close_together_and_far_apart() {
        let near: Vec<i64> = (0..600).map(|i| i * 7919 % 1000 - 500).collect();
        check(&near, &near[..40]);
        check(&near, &[]);
        check(&[], &near);
        check(&near, &[i64::MIN, i64::MAX, near[7], near[590]]);
        check(&[i64::MIN, -1, i64::MAX, 0], &[i64::MAX]);
        check(&[0_u64, u64::MAX, 1, 1 << 63], &[u64::MAX, 0]);
        check(&[u64::MAX, u64::MAX - 1], &[u64::MAX]);
        check(&[true, false, true, true], &[true]);
        check(&[3_i8, -128, 127, 0], &[127, -128]);
        check(&[u32::MAX, 0, 7, 8], &[u32::MAX, 7]);
        let floats: Vec<f64> = near.iter().map(|&i| i as f64 * 1e10).collect();
        check(&floats, &floats[100..500]);
        check(&[0.0, -0.0, f64::NAN, 1.0, f64::INFINITY, -1.0], &[-0.0, f64::NAN, f64::INFINITY]);
        check(&[f32::NAN, f32::INFINITY], &[f32::NAN]);
        let z = arr1(&[backend_core::Complex::new(0.0, 1.0)]).into_dyn().into_shared();
        assert!(is_in(HostView::of(&z), HostView::of(&z), false).unwrap().is_none());
    }
}
