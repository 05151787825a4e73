//! Sorts many keys on several threads: divides the keys into pieces, sorts the pieces, and merges them.

use super::{
    keys::Key,
    serial::{self, Sortable},
};
use backend_core::{
    Result,
    numpyish::{
        buffer, layout,
        parallel::{self, CHEAP, Shared},
    },
    threads,
};
use std::ops::Range;

/// Minimum number of keys per piece. With fewer keys, the additional merge would take longer than the other thread
/// saves.
const PIECE: usize = 1 << 15;

/// Sorts keys. Returns `true` if the result is in `spare`, which is scratch memory that grows if needed. The keys
/// must already be sorted by their lowest `given` bits.
pub fn sort<K: Sortable>(op: &'static str, keys: &mut [K], spare: &mut Vec<K>, given: usize) -> Result<bool> {
    let pieces = if keys.len() < 2 * PIECE { 1 } else { threads::count().next_power_of_two() };
    sort_in(pieces.min(keys.len() / PIECE), op, keys, spare, given)
}

/// Like [`sort`], but the result is always in `keys`.
pub fn sort_vec<K: Sortable>(op: &'static str, keys: &mut Vec<K>, spare: &mut Vec<K>, given: usize) -> Result<()> {
    if sort(op, keys, spare, given)? {
        spare.truncate(keys.len());
        std::mem::swap(keys, spare);
    }
    Ok(())
}

/// Like [`sort`], but divides the keys into `pieces` pieces if that number is two or more.
fn sort_in<K: Sortable>(
    pieces: usize,
    op: &'static str,
    keys: &mut [K],
    spare: &mut Vec<K>,
    given: usize,
) -> Result<bool> {
    let n = keys.len();
    if pieces < 2 {
        return serial::sort(op, keys, spare, given);
    }
    if spare.len() < n {
        *spare = buffer::repeated(op, n, K::default())?;
    }
    let mut width = n.div_ceil(pieces);
    let (mut from, mut to) = (keys, &mut spare[..n]);
    let (here, there) = (Shared::new(from), Shared::new(to));
    layout::in_tasks(pieces, width, 1, &|range| {
        for piece in range {
            let piece = (piece * width).min(n)..((piece + 1) * width).min(n);
            // SAFETY: each piece belongs to one task, in both slices.
            let (keys, spare) = unsafe { (here.part(piece.clone()), there.part(piece)) };
            if serial::sort_slice(op, keys, spare, given)? {
                keys.copy_from_slice(spare);
            }
        }
        Ok(())
    })?;
    let mut swapped = false;
    while width < n {
        let out = Shared::new(to);
        parallel::parallel(n, CHEAP / 2, |mut range| {
            while !range.is_empty() {
                let first = range.start / (2 * width) * (2 * width);
                let (middle, end) = ((first + width).min(n), (first + 2 * width).min(n));
                let here = range.start..range.end.min(end);
                // SAFETY: no other task writes this part of the result.
                let out = unsafe { out.part(here.clone()) };
                merge_part(&from[first..middle], &from[middle..end], here.start - first, out);
                range.start = here.end;
            }
        });
        std::mem::swap(&mut from, &mut to);
        swapped = !swapped;
        width *= 2;
    }
    Ok(swapped)
}

/// Merges two sorted slices, but writes only a part of the result. The part begins at index `first`, and has the length
/// of `out`.
fn merge_part<K: Key>(a: &[K], b: &[K], first: usize, out: &mut [K]) {
    let (start, end) = (before(a, b, first), before(a, b, first + out.len()));
    merge(&a[start..end], &b[first - start..first + out.len() - end], out);
}

/// Number of keys from `a` among the first `k` keys of the merged slices. Among equal keys, keys of `a` come first.
fn before<K: Key>(a: &[K], b: &[K], k: usize) -> usize {
    let Range { start: mut low, end: mut high } = k.saturating_sub(b.len())..k.min(a.len());
    while low < high {
        let middle = low.midpoint(high);
        if b[k - middle - 1] < a[middle] { high = middle } else { low = middle + 1 }
    }
    low
}

/// Merges two slices into `out`, whose length must be the sum of their lengths.
fn merge<K: Key>(a: &[K], b: &[K], out: &mut [K]) {
    assert_eq!(a.len() + b.len(), out.len(), "every key has a place");
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        // neither slice can run out within this number of iterations
        for _ in 0..(a.len() - i).min(b.len() - j) {
            // SAFETY: both indices are less than the lengths, because of the number of iterations.
            unsafe {
                let (x, y) = (*a.get_unchecked(i), *b.get_unchecked(j));
                let second = y < x;
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
    use super::*;

    /// The keys have few different values. Pieces differ in length, or are empty.
    #[test]
    fn pieces_are_one_order() {
        fn check<K: Sortable>(n: usize, pieces: usize, values: u64) {
            let keys = (0..n as u64).map(|i| K::of::<u64>(i.wrapping_mul(2_654_435_761) % 1009 % values, false));
            let mut keys: Vec<K> = keys.collect();
            let mut expected = keys.clone();
            expected.sort_unstable();
            let mut spare = Vec::new();
            let moved = sort_in(pieces, "sort", &mut keys, &mut spare, 0).unwrap();
            assert!(if moved { spare } else { keys } == expected, "{n} in {pieces}");
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
