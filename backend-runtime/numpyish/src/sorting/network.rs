//! Sorts many short lanes (1-D slices along the last axis) at a time with a sorting network. A network makes the same
//! comparisons for all values. So each element of a vector register can belong to a different lane.

#[cfg(target_arch = "x86_64")]
use super::registers::Register;
use super::{
    super::{
        buffer::Buffer,
        copy,
        parallel::{self, COSTLY},
        raw::{RawArray, View},
        simd::versions,
    },
    keys::{Key, Loops},
    serial::Sortable,
    zeros,
};
use backend_core::{DType, Result};

/// Maximum length of a lane (1-D slice) that a network sorts.
pub const LONGEST: usize = 32;

/// Minimum number of lanes for which it is faster to sort several lanes at a time than one by one.
pub const WORTH: usize = 4;

/// Number of lanes (1-D slices) that are sorted at a time.
const TOGETHER: usize = 16;

/// The keys of [`TOGETHER`] lanes, one lane per column: row `i` has the key of element `i` of each lane.
type Tile<K> = [[K; TOGETHER]; LONGEST];

/// Pairs of rows of a [`Tile`], in the order in which they are compared. In each column, the first row of a pair gets
/// the smaller key, and the second row gets the larger key.
struct Network {
    pairs: [(u8, u8); MAX_PAIRS],
    many: usize,
}

/// Number of pairs of rows that the network for [`LONGEST`] rows compares.
const MAX_PAIRS: usize = 191;

impl Network {
    /// Creates the network for `n` rows, at most [`LONGEST`]. It is Batcher's merge exchange: algorithm M of section
    /// 5.2.2 of Knuth's "The Art of Computer Programming", volume 3.
    fn new(n: usize) -> Network {
        let mut network = Network { pairs: [(0, 0); MAX_PAIRS], many: 0 };
        let most = n.next_power_of_two() / 2;
        let mut p = most;
        while p > 0 {
            let (mut q, mut r, mut d) = (most, 0, p);
            loop {
                for i in (0..n - d).filter(|i| i & p == r) {
                    network.pairs[network.many] = (i as u8, (i + d) as u8);
                    network.many += 1;
                }
                if q == p {
                    break;
                }
                (d, q, r) = (q - p, q / 2, p);
            }
            p /= 2;
        }
        network
    }

    /// Sorts the keys in each column of a tile in ascending order. A column has the keys of one lane, so all lanes of
    /// the tile are sorted.
    fn sort<K: Sortable>(&self, tile: &mut Tile<K>) {
        let pairs = &self.pairs[..self.many];
        // SAFETY: `set` reports that the processor has the instructions; there are no other preconditions.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            if backend_core::numpyish::simd::set() > 1 {
                return sort_in_registers::<K::Wide>(pairs, tile);
            }
            sort_rows::<K>(pairs, tile);
        }
    }
}

/// Sorts along the last axis, which must have from one to [`LONGEST`] elements. Elements with equal keys must be equal,
/// except for the signs of zeros.
pub fn sorted<K: Sortable>(op: &'static str, x: View<'_>, descending: bool) -> Result<RawArray> {
    let len = x.shape.last().copied().unwrap_or(1);
    let network = Network::new(len);
    let loops = K::loops(x.dtype);
    let packed = copy::pack(op, x)?;
    let out = Buffer::new(op, x.len(), x.dtype)?;
    let ends = copy::Ends { from: packed.start(), to: out.start() };
    let lanes = x.len() / len;
    parallel::parallel(lanes.div_ceil(TOGETHER), (COSTLY / (TOGETHER * len)).max(1), |groups| {
        let ends = &ends;
        let (mut keys, mut tile) = ([K::default(); TOGETHER * LONGEST], [[K::default(); TOGETHER]; LONGEST]);
        for group in groups {
            let first = group * TOGETHER;
            let bytes = first * len * x.dtype.size();
            let group = Group { dtype: x.dtype, len, count: TOGETHER.min(lanes - first), descending };
            // SAFETY: in both arrays, these lanes belong to this task only.
            unsafe { group.sort(&loops, &network, ends.from.add(bytes), ends.to.add(bytes), &mut keys, &mut tile) };
        }
    });
    // SAFETY: every element has been written.
    unsafe { RawArray::new(op, x.shape.to_vec(), out) }
}

/// At most [`TOGETHER`] lanes (1-D slices along the last axis), which are consecutive in memory.
struct Group {
    dtype: DType,
    len: usize,
    count: usize,
    descending: bool,
}

impl Group {
    /// Sorts the lanes.
    ///
    /// # Safety
    /// `from` must point to the elements of these lanes, and `to` must have room for them. The network must have as
    /// many rows as a lane has elements.
    unsafe fn sort<K: Sortable>(
        &self,
        loops: &Loops<K>,
        network: &Network,
        from: *const u8,
        to: *mut u8,
        keys: &mut [K; TOGETHER * LONGEST],
        tile: &mut Tile<K>,
    ) {
        let Group { dtype, len, count, descending } = *self;
        let n = count * len;
        // SAFETY: the caller guarantees `n` elements in both arrays, and `keys` has room for `n` keys.
        unsafe {
            let negative_zero = (loops.keys)(from, n, keys.as_mut_ptr(), descending);
            copy::transpose(keys.as_ptr(), (count, len), len, tile.as_mut_ptr().cast(), TOGETHER);
            network.sort(tile);
            copy::transpose(tile.as_ptr().cast::<K>(), (len, count), TOGETHER, keys.as_mut_ptr(), len);
            (loops.elements)(keys.as_ptr(), n, to, descending);
            if negative_zero {
                for lane in 0..count {
                    let bytes = lane * len * dtype.size();
                    zeros::restore(dtype, from.add(bytes), len, to.add(bytes));
                }
            }
        }
    }
}

/// Implements [`Network::sort`] with AVX-512.
///
/// # Safety
/// The processor must have AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn sort_in_registers<V: Register>(pairs: &[(u8, u8)], tile: &mut Tile<V::Key>) {
    for first in (0..TOGETHER).step_by(V::LANES) {
        for &(a, b) in pairs {
            let (a, b) = (usize::from(a) % LONGEST, usize::from(b) % LONGEST);
            // SAFETY: the length of a row is a multiple of the length of a register.
            unsafe {
                let (a, b) = (tile[a].as_mut_ptr().add(first), tile[b].as_mut_ptr().add(first));
                let (low, high) = V::load(a).in_order(V::load(b));
                low.store(a);
                high.store(b);
            }
        }
    }
}

versions! {
    /// Implements [`Network::sort`] without AVX-512.
    unsafe fn sort_rows[K: Key][K](pairs: &[(u8, u8)], tile: &mut Tile<K>) {
        for &(a, b) in pairs {
            let (a, b) = (usize::from(a) % LONGEST, usize::from(b) % LONGEST);
            let (low, high) = (tile[a], tile[b]);
            for k in 0..TOGETHER {
                (tile[a][k], tile[b][k]) = low[k].in_order(high[k]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<K: Sortable>() {
        for n in 1..=LONGEST {
            let key = |i: usize, k: usize| K::of(((i * 7919 + k * 104_729) % 23) as u64, false);
            let mut tile: Tile<K> = std::array::from_fn(|i| std::array::from_fn(|k| key(i, k)));
            let lanes = (0..TOGETHER).map(|k| tile[..n].iter().map(|row| row[k]).collect());
            let mut expected: Vec<Vec<K>> = lanes.collect();
            Network::new(n).sort(&mut tile);
            for (k, lane) in expected.iter_mut().enumerate() {
                lane.sort_unstable();
                assert!(tile[..n].iter().map(|row| row[k]).eq(lane.iter().copied()), "{n}");
            }
        }
    }

    #[test]
    fn rows_of_every_number() {
        backend_core::numpyish::simd::with_each(|_| {
            check::<u32>();
            check::<u64>();
        });
    }
}
