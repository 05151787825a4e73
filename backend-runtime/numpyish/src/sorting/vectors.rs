//! Quicksort of keys with vector instructions, in place. The keys of a register are partitioned at the pivot by one
//! permutation. Parts that fit 16 registers are sorted by a network without branches (Batcher's bitonic sort, "Sorting
//! networks and their applications", 1968). The algorithms are described in Bramas, "A novel hybrid quicksort algorithm
//! vectorized using AVX-512 on Intel Skylake", 2017, and Blacher and others, "Vectorized and performance-portable
//! quicksort", 2022.

use super::{
    keys::Key,
    registers::{Half32, Half64, Register, Wide32, Wide64},
};
use backend_core::numpyish::simd;
use std::mem::MaybeUninit;

/// Minimum number of keys for which sorting with vector instructions is faster than without.
const FROM: usize = 24;

/// Maximum number of registers whose keys a network sorts.
const ROWS: usize = 16;

/// Number of registers that are read and partitioned at a time. The next keys are read from the end of the range that
/// has less room, so the read must wait until all keys of these registers are counted.
const AT_ONCE: usize = 8;

/// Number of lanes, that is, of keys, in the widest register.
const LANES: usize = 16;

/// In each block of `BLOCK` registers, compares every register of the first half with its mirror image in the second
/// half, lane by lane. The first register of a pair gets the smaller key of each lane.
///
/// # Safety
/// The conditions of the functions of [`Register`] hold.
#[inline(always)]
unsafe fn flip<V: Register, const BLOCK: usize, const N: usize>(x: &mut [V; N]) {
    for i in 0..N / 2 {
        let (block, k) = (i / (BLOCK / 2) * BLOCK, i % (BLOCK / 2));
        let (a, b) = (block + k, block + BLOCK - 1 - k);
        // SAFETY: the caller guarantees the register's instructions.
        (x[a], x[b]) = unsafe { x[a].in_order(x[b]) };
    }
}

/// In each block of `2 * DISTANCE` registers, compares every register of the first half with the register `DISTANCE`
/// places after it, lane by lane. The first register of a pair gets the smaller key of each lane.
///
/// # Safety
/// The conditions of the functions of [`Register`] hold.
#[inline(always)]
unsafe fn halve<V: Register, const DISTANCE: usize, const N: usize>(x: &mut [V; N]) {
    for i in 0..N / 2 {
        let a = i / DISTANCE * (2 * DISTANCE) + i % DISTANCE;
        // SAFETY: the caller guarantees the register's instructions.
        (x[a], x[a + DISTANCE]) = unsafe { x[a].in_order(x[a + DISTANCE]) };
    }
}

/// Sorts the keys of each lane. Register 0 gets the smallest key of each lane.
///
/// # Safety
/// The conditions of the functions of [`Register`] hold.
#[inline(always)]
unsafe fn columns<V: Register, const N: usize>(x: &mut [V; N]) {
    // SAFETY: the caller guarantees the register's instructions.
    unsafe {
        if N >= 2 {
            flip::<V, 2, N>(x);
        }
        if N >= 4 {
            flip::<V, 4, N>(x);
            halve::<V, 1, N>(x);
        }
        if N >= 8 {
            flip::<V, 8, N>(x);
            halve::<V, 2, N>(x);
            halve::<V, 1, N>(x);
        }
        if N >= 16 {
            flip::<V, 16, N>(x);
            halve::<V, 4, N>(x);
            halve::<V, 2, N>(x);
            halve::<V, 1, N>(x);
        }
    }
}

/// Sorts the keys of each lane, which must be a bitonic sequence. Register 0 gets the smallest key of each lane.
///
/// # Safety
/// The conditions of the functions of [`Register`] hold.
#[inline(always)]
unsafe fn bitonic_columns<V: Register, const N: usize>(x: &mut [V; N]) {
    // SAFETY: the caller guarantees the register's instructions.
    unsafe {
        if N >= 16 {
            halve::<V, 8, N>(x);
        }
        if N >= 8 {
            halve::<V, 4, N>(x);
        }
        if N >= 4 {
            halve::<V, 2, N>(x);
        }
        if N >= 2 {
            halve::<V, 1, N>(x);
        }
    }
}

/// Compares keys with their mirror images within blocks, and puts the smaller key of each pair into the first half of
/// its block. A block consists of `MIRROR + 1` neighbouring lanes of all registers. The order of its keys is lane after
/// lane, and within a lane register after register. The second half begins at lane `HALF` of the block.
///
/// # Safety
/// The conditions of the functions of [`Register`] hold.
#[inline(always)]
unsafe fn flip_lanes<V: Register, const MIRROR: usize, const HALF: usize, const N: usize>(x: &mut [V; N]) {
    // SAFETY: the caller guarantees the register's instructions.
    unsafe {
        if N == 1 {
            let (low, high) = x[0].in_order(x[0].exchanged::<MIRROR>());
            x[0] = low.or::<HALF>(high);
            return;
        }
        for a in 0..N / 2 {
            let b = N - 1 - a;
            let (low, high) = x[a].in_order(x[b].exchanged::<MIRROR>());
            x[a] = low.or::<HALF>(high);
            x[b] = high.or::<HALF>(low).exchanged::<MIRROR>();
        }
    }
}

/// In each register, in each block of `2 * DISTANCE` lanes, compares every lane of the first half with the lane
/// `DISTANCE` places after it. The first lane of a pair gets the smaller key.
///
/// # Safety
/// The conditions of the functions of [`Register`] hold.
#[inline(always)]
unsafe fn halve_lanes<V: Register, const DISTANCE: usize, const N: usize>(x: &mut [V; N]) {
    for x in x {
        // SAFETY: the caller guarantees the register's instructions.
        unsafe {
            let (low, high) = x.in_order(x.exchanged::<DISTANCE>());
            *x = low.or::<DISTANCE>(high);
        }
    }
}

/// Sorts the keys of all registers. In the result, the keys of one lane are in order across the registers, and each
/// lane continues the lane before it.
///
/// # Safety
/// The conditions of the functions of [`Register`] hold.
#[inline(always)]
unsafe fn network<V: Register, const N: usize>(x: &mut [V; N]) {
    // SAFETY: the caller guarantees the register's instructions.
    unsafe {
        columns(x);
        flip_lanes::<V, 1, 1, N>(x);
        bitonic_columns(x);
        flip_lanes::<V, 3, 2, N>(x);
        halve_lanes::<V, 1, N>(x);
        bitonic_columns(x);
        if V::LANES >= 8 {
            flip_lanes::<V, 7, 4, N>(x);
            halve_lanes::<V, 2, N>(x);
            halve_lanes::<V, 1, N>(x);
            bitonic_columns(x);
        }
        if V::LANES >= 16 {
            flip_lanes::<V, 15, 8, N>(x);
            halve_lanes::<V, 4, N>(x);
            halve_lanes::<V, 2, N>(x);
            halve_lanes::<V, 1, N>(x);
            bitonic_columns(x);
        }
    }
}

/// Sorts keys that fit `N` registers. The remaining lanes of the registers are filled with the largest possible key.
///
/// # Safety
/// The conditions of the functions of [`Register`] hold.
#[inline(always)]
unsafe fn sort_few<V: Register, const N: usize>(keys: &mut [V::Key]) {
    let n = keys.len();
    let mut sorted = MaybeUninit::<[V::Key; ROWS * LANES]>::uninit();
    let sorted = sorted.as_mut_ptr().cast::<V::Key>();
    let keys = keys.as_mut_ptr();
    let (whole, most) = (n / V::LANES, V::Key::of(u64::MAX, false));
    // SAFETY: `sorted` has room for `N` registers, which can hold all keys.
    unsafe {
        V::all(most).store(sorted);
        keys.add(whole * V::LANES).copy_to_nonoverlapping(sorted, n % V::LANES);
        let mut x = [V::all(most); N];
        for (i, x) in x.iter_mut().enumerate() {
            if i < whole {
                *x = V::load(keys.add(i * V::LANES));
            } else if i == whole {
                *x = V::load(sorted);
            }
        }
        network(&mut x);
        for (i, x) in x.iter().enumerate() {
            x.store(sorted.add(i * V::LANES));
        }
        for i in 0..n {
            *keys.add(i) = *sorted.add(i % N * V::LANES + i / N);
        }
    }
}

/// Moves the keys that are not greater than `most` to the front, and returns the number of these keys.
///
/// # Safety
/// The conditions of the functions of [`Register`] hold, and the keys fill at least two times [`AT_ONCE`] registers.
#[inline(always)]
unsafe fn part<V: Register>(keys: &mut [V::Key], most: V::Key) -> usize {
    let (n, block) = (keys.len(), AT_ONCE * V::LANES);
    let keys = keys.as_mut_ptr();
    // saves the keys at both ends, to make room for writing: the first block, and the last block with the remainder
    let kept = block + block + n % block;
    let mut ends = MaybeUninit::<[V::Key; 3 * AT_ONCE * LANES]>::uninit();
    let ends = ends.as_mut_ptr().cast::<V::Key>();
    let (mut first, mut last) = (block, n - (kept - block));
    let (mut left, mut right) = (0, n);
    // SAFETY: the keys in `left..first` and `last..right` have been read, and these ranges have room for as many keys
    // as were saved. The next block is read from the end with less room, so that both ends have room for a block when
    // it is written.
    unsafe {
        keys.copy_to_nonoverlapping(ends, block);
        keys.add(last).copy_to_nonoverlapping(ends.add(block), kept - block);
        let limit = V::all(most);
        while first < last {
            let from = if right - last < first - left {
                last -= block;
                last
            } else {
                first += block;
                first - block
            };
            let mut x = [limit; AT_ONCE];
            for (i, x) in x.iter_mut().enumerate() {
                *x = V::load(keys.add(from + i * V::LANES));
            }
            for x in x {
                let low = x.split(limit, keys.add(left), keys.add(right));
                left += low;
                right -= V::LANES - low;
            }
        }
        // Writes the keys beyond the last whole register one by one first. Then the remaining keys fill whole
        // registers, and the last of these registers is written to the same address from both ends.
        let whole = kept / V::LANES * V::LANES;
        for i in whole..kept {
            let key = *ends.add(i);
            *keys.add(left) = key;
            *keys.add(right - 1) = key;
            let low = usize::from(key <= most);
            left += low;
            right -= 1 - low;
        }
        for i in (0..whole).step_by(V::LANES) {
            let low = V::load(ends.add(i)).split(limit, keys.add(left), keys.add(right));
            left += low;
            right -= V::LANES - low;
        }
    }
    left
}

/// The median of a sample of the keys. The sample is larger if there are many keys.
///
/// # Safety
/// The conditions of the functions of [`Register`] hold, and there must be at least four registers of keys.
#[inline(always)]
unsafe fn pivot<V: Register>(keys: &[V::Key]) -> V::Key {
    // SAFETY: the caller guarantees the register's instructions.
    unsafe { if keys.len() < 1024 { middle::<V, 1>(keys) } else { middle::<V, 4>(keys) } }
}

/// The median of a sample that fills `N` registers, with keys at equal distances.
///
/// # Safety
/// The conditions of the functions of [`Register`] hold, and there must be at least `N` registers of keys.
#[inline(always)]
unsafe fn middle<V: Register, const N: usize>(keys: &[V::Key]) -> V::Key {
    let mut some = [V::Key::default(); ROWS * LANES];
    let count = N * V::LANES;
    let step = keys.len() / count;
    for (some, keys) in some[..count].iter_mut().zip(keys.chunks_exact(step)) {
        *some = keys[step / 2];
    }
    // SAFETY: the caller guarantees the register's instructions, and `some` has room for the registers.
    unsafe {
        let mut x = [V::all(some[0]); N];
        for (i, x) in x.iter_mut().enumerate() {
            *x = V::load(some.as_ptr().add(i * V::LANES));
        }
        network(&mut x);
        x[N - 1].store(some.as_mut_ptr());
    }
    some[V::LANES / 2 - 1]
}

/// A division of the keys: no key before the cut is greater than a key after it. Each variant has the number of keys
/// before the cut.
enum Cut {
    At(usize),
    /// All keys after the cut are equal.
    BeforeEqual(usize),
}

/// Chooses a key as the pivot, and partitions the keys at the pivot.
///
/// # Safety
/// The conditions of [`part`] hold.
#[inline(always)]
unsafe fn cut<V: Register>(keys: &mut [V::Key]) -> Cut {
    // SAFETY: the caller guarantees the register's instructions.
    unsafe {
        let pivot = pivot::<V>(keys);
        let low = part::<V>(keys, pivot);
        if low < keys.len() {
            return Cut::At(low);
        }
        // no key is larger than the pivot, so the keys that equal the pivot are separated from the smaller keys
        Cut::BeforeEqual(pivot.before().map_or(0, |most| part::<V>(keys, most)))
    }
}

/// Sorts keys that fit [`ROWS`] registers.
///
/// # Safety
/// The conditions of the functions of [`Register`] hold.
#[inline(always)]
unsafe fn sort_rows<V: Register>(keys: &mut [V::Key]) {
    // SAFETY: the caller guarantees the register's instructions.
    unsafe {
        match keys.len().div_ceil(V::LANES) {
            0..=4 => sort_few::<V, 4>(keys),
            5..=8 => sort_few::<V, 8>(keys),
            _ => sort_few::<V, ROWS>(keys),
        }
    }
}

/// Maximum number of times that a part of the keys is cut in two before the standard library sorts it. So no input
/// takes longer than a multiple of `n log n`.
fn most_cuts(n: usize) -> u32 {
    2 * n.max(1).ilog2()
}

/// Sorts keys by quicksort. Parts that have been cut `cuts` times are sorted by the standard library.
///
/// # Safety
/// The conditions of the functions of [`Register`] hold.
#[inline(always)]
unsafe fn quicksort<V: Register>(keys: &mut [V::Key], cuts: u32) {
    // the larger part of each cut waits while the smaller part is sorted; so the number of waiting parts is at most the
    // number of bits of the length
    let mut waiting = [(0, 0, 0); usize::BITS as usize];
    waiting[0] = (0, keys.len(), cuts);
    let mut many = 1;
    while many > 0 {
        many -= 1;
        let (mut first, mut end, mut cuts) = waiting[many];
        loop {
            let here = &mut keys[first..end];
            if here.len() <= ROWS * V::LANES {
                // SAFETY: the caller guarantees the register's instructions, and the keys fit `ROWS` registers.
                unsafe { sort_rows::<V>(here) };
                break;
            }
            if cuts == 0 {
                here.sort_unstable();
                break;
            }
            cuts -= 1;
            // SAFETY: the caller guarantees the instructions, and there are more keys than `ROWS` registers can hold.
            match unsafe { cut::<V>(here) } {
                Cut::BeforeEqual(n) => end = first + n,
                Cut::At(n) => {
                    let middle = first + n;
                    let (small, large) = if n <= end - middle {
                        ((first, middle), (middle, end))
                    } else {
                        ((middle, end), (first, middle))
                    };
                    waiting[many] = (large.0, large.1, cuts);
                    many += 1;
                    (first, end) = small;
                }
            }
        }
    }
}

/// Moves the key of rank `place` to index `place`, by quickselect. After `cuts` cuts, the standard library continues.
///
/// # Safety
/// The conditions of the functions of [`Register`] hold.
#[inline(always)]
unsafe fn quickselect<V: Register>(keys: &mut [V::Key], place: usize, mut cuts: u32) {
    let (mut first, mut end) = (0, keys.len());
    loop {
        let here = &mut keys[first..end];
        if here.len() <= ROWS * V::LANES {
            // SAFETY: the caller guarantees the register's instructions, and the keys fit `ROWS` registers.
            return unsafe { sort_rows::<V>(here) };
        }
        if cuts == 0 {
            here.select_nth_unstable(place - first);
            return;
        }
        cuts -= 1;
        // SAFETY: the caller guarantees the instructions, and there are more keys than `ROWS` registers can hold.
        match unsafe { cut::<V>(here) } {
            Cut::BeforeEqual(n) if first + n <= place => return,
            Cut::BeforeEqual(n) => end = first + n,
            Cut::At(n) if first + n <= place => first += n,
            Cut::At(n) => end = first + n,
        }
    }
}

macro_rules! by_set {
    ($($(#[$doc:meta])* $name:ident $of:ident $key:ident: $half:ident $wide:ident, ($($arg:ident: $ty:ty)?);)*) => {$(
        $(#[$doc])*
        pub fn $name(keys: &mut [$key] $(, $arg: $ty)?) -> bool {
            #[target_feature(enable = "avx2,fma,f16c,popcnt")]
            unsafe fn half(keys: &mut [$key] $(, $arg: $ty)?, cuts: u32) {
                // SAFETY: the caller guarantees the register's instructions.
                unsafe { $of::<$half>(keys $(, $arg)?, cuts) }
            }
            #[target_feature(enable = "avx2,fma,f16c,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
            unsafe fn wide(keys: &mut [$key] $(, $arg: $ty)?, cuts: u32) {
                // SAFETY: the caller guarantees the register's instructions.
                unsafe { $of::<$wide>(keys $(, $arg)?, cuts) }
            }
            if keys.len() < FROM {
                return false;
            }
            let cuts = most_cuts(keys.len());
            // SAFETY: the processor has these instructions.
            unsafe {
                match simd::set() {
                    0 => return false,
                    1 => half(keys $(, $arg)?, cuts),
                    _ => wide(keys $(, $arg)?, cuts),
                }
            }
            true
        }
    )*};
}
by_set! {
    /// Sorts keys. Returns `false`, and changes nothing, if there are few keys or the processor lacks the instructions.
    sort32 quicksort u32: Half32 Wide32, ();
    /// Like [`sort32`], for 64-bit keys.
    sort64 quicksort u64: Half64 Wide64, ();
    /// Moves the key of rank `place` to index `place`. Then no key before that index is larger, and no key after it is
    /// smaller. Returns `false` in the same cases as [`sort32`].
    select32 quickselect u32: Half32 Wide32, (place: usize);
    /// Like [`select32`], for 64-bit keys.
    select64 quickselect u64: Half64 Wide64, (place: usize);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of several distributions, chosen by `kind`.
    fn keys<K: Key>(n: usize, kind: usize) -> Vec<K> {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(n as u64 + 1);
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let wide = |x: u64| if size_of::<K>() == 4 { x >> 32 } else { x };
        let key = |i: usize| match kind {
            0 => wide(next()),
            1 => next() % 5,
            2 => i as u64,
            3 => (n - i) as u64,
            4 => wide(u64::MAX) - next() % 3,
            5 => 7,
            _ => (i % 16) as u64,
        };
        (0..n).map(key).map(|x| K::of(x, false)).collect()
    }

    fn check<K: Key>(sort: fn(&mut [K]) -> bool, select: fn(&mut [K], usize) -> bool) {
        let lengths = (0..FROM).chain([31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 256, 257, 400]);
        for n in lengths.chain((1000..1040).step_by(3)).chain([5000, 33_333]) {
            for kind in 0..7 {
                let x = keys::<K>(n, kind);
                let mut expected = x.clone();
                expected.sort_unstable();
                let mut sorted = x.clone();
                if sort(&mut sorted) {
                    assert!(sorted == expected, "{n} {kind}");
                }
                for place in [0, n / 3, n.saturating_sub(1)] {
                    let mut chosen = x.clone();
                    if !select(&mut chosen, place) {
                        continue;
                    }
                    let key = expected[place];
                    assert!(chosen[place] == key, "{n} {kind} {place}");
                    assert!(chosen[..place].iter().all(|&k| k <= key) && chosen[place..].iter().all(|&k| k >= key));
                    chosen.sort_unstable();
                    assert!(chosen == expected, "{n} {kind} {place}");
                }
            }
        }
    }

    #[test]
    fn keys_of_every_distribution_and_length() {
        simd::with_each(|set| {
            assert_eq!(sort64(&mut [1; FROM]), set > 0);
            assert!(!sort64(&mut [1; FROM - 1]));
            check(sort32, select32);
            check(sort64, select64);
        });
    }

    #[test]
    fn another_sort_takes_over_where_cuts_do_not_help() {
        simd::with_each(|set| {
            if set < 2 {
                return;
            }
            for cuts in 0..4 {
                let mut x = keys::<u64>(5000, 0);
                let mut expected = x.clone();
                expected.sort_unstable();
                let mut chosen = x.clone();
                // SAFETY: the processor has these instructions.
                unsafe {
                    quicksort::<Wide64>(&mut x, cuts);
                    quickselect::<Wide64>(&mut chosen, 1700, cuts);
                }
                assert_eq!(x, expected);
                assert_eq!(chosen[1700], expected[1700]);
            }
        });
    }
}
