//! Many records sorted on several threads: in pieces, which are merged.

use super::keys::{self, Record};
use crate::{
    Result,
    numpyish::{
        buffer, layout,
        parallel::{self, CHEAP, Shared},
    },
    threads,
};
use std::ops::Range;

/// Records of a piece at least: a merge more is worth it.
const PIECE: usize = 1 << 15;

/// Sorts by key; records of equal keys keep their order. `spare` is scratch memory, grown where needed.
pub fn sort<R: Record>(op: &'static str, records: &mut Vec<R>, spare: &mut Vec<R>) -> Result<()> {
    let pieces = if records.len() < 2 * PIECE { 1 } else { threads::count().next_power_of_two() };
    sort_in(pieces.min(records.len() / PIECE), op, records, spare)
}

/// The same in so many pieces, if there are two or more.
fn sort_in<R: Record>(pieces: usize, op: &'static str, records: &mut Vec<R>, spare: &mut Vec<R>) -> Result<()> {
    let n = records.len();
    if pieces < 2 {
        return keys::sort(op, records, spare);
    }
    if spare.len() != n {
        *spare = buffer::vec(op, n)?;
        spare.resize(n, R::default());
    }
    let mut width = n.div_ceil(pieces);
    let (here, there) = (Shared::new(records), Shared::new(spare));
    layout::in_tasks(pieces, width, 1, &|range| {
        for piece in range {
            let piece = (piece * width).min(n)..((piece + 1) * width).min(n);
            // SAFETY: every piece is that of one task, in both slices.
            unsafe { keys::sort_slice(op, here.part(piece.clone()), there.part(piece))? };
        }
        Ok(())
    })?;
    while width < n {
        let to = Shared::new(spare);
        parallel::parallel(n, CHEAP / 2, |mut range| {
            while !range.is_empty() {
                let first = range.start / (2 * width) * (2 * width);
                let (middle, end) = ((first + width).min(n), (first + 2 * width).min(n));
                let here = range.start..range.end.min(end);
                // SAFETY: a part of the result, which no other task writes.
                let out = unsafe { to.part(here.clone()) };
                merge_part(&records[first..middle], &records[middle..end], here.start - first, out);
                range.start = here.end;
            }
        });
        std::mem::swap(records, spare);
        width *= 2;
    }
    Ok(())
}

/// Writes the part of two sorted slices as one that begins at this place.
fn merge_part<R: Record>(a: &[R], b: &[R], first: usize, out: &mut [R]) {
    let (start, end) = (before(a, b, first), before(a, b, first + out.len()));
    merge(&a[start..end], &b[first - start..first + out.len() - end], out);
}

/// How many of the first `k` records of both are of `a`: where keys are equal, those of `a` come first.
fn before<R: Record>(a: &[R], b: &[R], k: usize) -> usize {
    let Range { start: mut low, end: mut high } = k.saturating_sub(b.len())..k.min(a.len());
    while low < high {
        let middle = low.midpoint(high);
        if b[k - middle - 1].key() < a[middle].key() { high = middle } else { low = middle + 1 }
    }
    low
}

/// Merges two slices into one that is as long as both.
fn merge<R: Record>(a: &[R], b: &[R], out: &mut [R]) {
    assert_eq!(a.len() + b.len(), out.len(), "every record has a place");
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        // as many steps as neither can come to its end in
        for _ in 0..(a.len() - i).min(b.len() - j) {
            // SAFETY: below the lengths of the slices, by what was just looked at.
            unsafe {
                let (x, y) = (*a.get_unchecked(i), *b.get_unchecked(j));
                let second = y.key() < x.key();
                *out.get_unchecked_mut(i + j) = if second { y } else { x };
                j += usize::from(second);
                i += usize::from(!second);
            }
        }
    }
    let (left, right) = (&a[i..], &b[j..]);
    out[i + j..].copy_from_slice(if left.is_empty() { right } else { left });
}

#[cfg(test)]
mod tests {
    use super::{
        super::keys::{Indexed, Key},
        *,
    };

    /// Keys of few values, ends of lanes and pieces that differ in length or are empty.
    #[test]
    fn pieces_are_one_order() {
        fn check<K: Key>(n: usize, pieces: usize, values: u64) {
            let keys = (0..n as u64).map(|i| K::of::<u64>(i.wrapping_mul(2_654_435_761) % 1009 % values, false));
            let mut records: Vec<Indexed<K, u32>> = keys.enumerate().map(|(i, key)| Indexed::new(key, i)).collect();
            let mut expected = records.clone();
            expected.sort_by_key(|r| r.key);
            let mut spare = Vec::new();
            sort_in(pieces, "sort", &mut records, &mut spare).unwrap();
            assert_eq!(records, expected, "{n} in {pieces}");
            let mut alone: Vec<K> = records.iter().rev().map(|r| r.key).collect();
            sort_in(pieces, "sort", &mut alone, &mut Vec::new()).unwrap();
            assert!(alone.iter().eq(expected.iter().map(|r| &r.key)), "{n} in {pieces}");
        }
        for n in [2, 3, 9, 100, 1700, 4097] {
            for pieces in [1, 2, 4, 8] {
                check::<u32>(n, pieces, 1 + n as u64 % 7);
                check::<u64>(n, pieces, 1009);
            }
        }
    }

    #[test]
    fn parts_of_a_merge_follow_each_other() {
        let (a, b) = ([1_u32, 2, 2, 2, 5, 9], [2_u32, 2, 3, 4]);
        let mut whole = [0; 10];
        merge(&a, &b, &mut whole);
        assert_eq!(whole, [1, 2, 2, 2, 2, 2, 3, 4, 5, 9]);
        for k in 0..=10 {
            for n in 0..=10 - k {
                let mut part = vec![0; n];
                merge_part(&a, &b, k, &mut part);
                assert_eq!(part, whole[k..k + n], "{k} {n}");
            }
        }
        assert_eq!(
            (before(&a, &b, 3), before(&a, &b, 4), before(&a, &b, 5)),
            (3, 4, 4),
            "equal keys of the first come first"
        );
    }
}
