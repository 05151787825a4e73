//! Cumulative sums and products.
//!
//! A lane is a 1-D slice along the scanned axis. Its elements are joined (added or multiplied) block by block, from the
//! start of the lane. A block has four quarters. Each quarter is scanned separately, and then the total of all elements
//! before the quarter is joined to the results of the quarter. If one lane is scanned, its four quarters are scanned in
//! parallel. If rows are scanned, whose elements belong to different lanes, the quarters are scanned one after another.
//! The results of a lane have the same bits in both cases.

use super::super::{
    OpContext,
    buffer::Buffer,
    convert::{Value, computed_in, convert, sum_dtype},
    copy,
    parallel::{self, CHEAP},
    raw::{RawArray, View},
    simd::versions,
    stream,
    turns::{Turn, in_turn},
};
use backend_core::{Complex, DType, DTypeKind, Element, Numeric, Result, rules, threads};
use std::{mem::MaybeUninit, ops::Range};

/// Cumulative sum along one axis, or of all elements.
pub fn cumulative_sum(on: OpContext<'_>, x: View<'_>, axis: Option<isize>, include_initial: bool) -> Result<RawArray> {
    copy::along_or_row(on.op, x, axis, |x, axis| scan(on.op, x, axis, include_initial, Scan::sums))
}

/// Cumulative product along one axis, or of all elements.
pub fn cumulative_prod(on: OpContext<'_>, x: View<'_>, axis: Option<isize>, include_initial: bool) -> Result<RawArray> {
    copy::along_or_row(on.op, x, axis, |x, axis| scan(on.op, x, axis, include_initial, Scan::products))
}

/// The operation that joins an accumulator and the next element: an addition or a multiplication.
trait Join: 'static {
    /// True if joining partial results of a lane may overflow or underflow although joining its elements in order does
    /// not. A product of large numbers may overflow before it is multiplied by 0 or by small numbers, and a product of
    /// small numbers may underflow before it is multiplied by large numbers.
    const LEAVES_RANGE: bool;

    fn identity<A: Numeric>() -> A;
    fn join<A: Numeric>(acc: A, x: A) -> A;
}

struct Adding;

impl Join for Adding {
    const LEAVES_RANGE: bool = false;

    #[inline(always)]
    fn identity<A: Numeric>() -> A {
        A::ZERO
    }

    #[inline(always)]
    fn join<A: Numeric>(acc: A, x: A) -> A {
        acc.plus(x)
    }
}

struct Multiplying;

impl Join for Multiplying {
    const LEAVES_RANGE: bool = true;

    #[inline(always)]
    fn identity<A: Numeric>() -> A {
        A::ONE
    }

    #[inline(always)]
    fn join<A: Numeric>(acc: A, x: A) -> A {
        acc.times(x)
    }
}

/// The loops of a scan in one dtype.
struct Scan {
    /// The result for no elements.
    identity: Value,
    /// True if rows are scanned by quarters, which is needed only if the order of operations changes the results.
    /// False for products of floats, whose elements are always joined one after another.
    by_quarters: bool,
    /// Joins `n` elements to `n` accumulators.
    row: unsafe fn(acc: *mut u8, x: *const u8, n: usize),
    /// Joins `n` elements to the accumulators `own` of a quarter. Then joins these accumulators to the totals of all
    /// elements before the quarter, which are in `before`, and writes the results to `out`.
    quarter: unsafe fn(own: *mut u8, before: *const u8, x: *const u8, out: *mut u8, n: usize),
    /// Scans `n` elements, starting from the value `carry`, and sets `carry` to the last result. `out` may equal `x`.
    block: unsafe fn(x: *const u8, out: *mut u8, n: usize, carry: *mut u8),
    /// True if [`Scan::block`] scans quarters, so that a block can be scanned before the total of the blocks before it
    /// is known.
    splits: bool,
    /// Writes the total of each of the four quarters of `n` elements.
    quarters: unsafe fn(x: *const u8, n: usize, values: *mut u8),
    /// Scans `count` contiguous lanes of `n` elements each. The lanes are consecutive in memory. The scan of each lane
    /// starts from the identity.
    lanes: unsafe fn(x: *const u8, out: *mut u8, n: usize, count: usize),
}

impl Scan {
    fn of<A: Numeric, F: Join>() -> Scan {
        Scan {
            identity: Value::of(F::identity::<A>()),
            by_quarters: is_rounded::<A>() && !F::LEAVES_RANGE,
            row: row::<A, F>,
            quarter: quarter::<A, F>,
            block: block::<A, F>,
            splits: quarter_of::<A, F>(BLOCK) > 0,
            quarters: quarters::<A, F>,
            lanes: lanes::<A, F>,
        }
    }

    #[inline(never)] // not inlined into calling crates, which would compile all these loops again
    fn sums(dtype: DType) -> Scan {
        Scan::new::<Adding>(dtype)
    }

    #[inline(never)] // not inlined, for the same reason as `sums`
    fn products(dtype: DType) -> Scan {
        Scan::new::<Multiplying>(dtype)
    }

    fn new<F: Join>(dtype: DType) -> Scan {
        match dtype {
            DType::Int64 | DType::UInt64 => Scan::of::<u64, F>(),
            DType::Float32 => Scan::of::<f32, F>(),
            DType::Float64 => Scan::of::<f64, F>(),
            DType::Complex64 => Scan::of::<Complex<f32>, F>(),
            DType::Complex128 => Scan::of::<Complex<f64>, F>(),
            other => unreachable!("scans are not computed in {other}"),
        }
    }
}

/// Returns whether results depend on the order of operations.
fn is_rounded<A: Element>() -> bool {
    A::DTYPE.kind() >= DTypeKind::Real
}

/// Number of columns of a tile, a range of columns that are scanned together. The accumulators of these columns stay
/// in the L1 cache.
const TILE: usize = 512;

/// Maximum length of lanes that are scanned several at a time.
const SHORT: usize = 64;

/// Number of elements of a block of a lane.
const BLOCK: usize = TILE;

/// Number of elements of a piece of a long lane. A piece fits a core's caches, because it is read twice if several
/// threads share a lane.
const PIECE: usize = 1 << 14;

/// Minimum size in bytes of contiguous results for which it is faster to bypass the caches.
const STREAMED: usize = 512;

/// Scratch memory for a tile of any dtype.
type Tile = [MaybeUninit<Value>; TILE];

/// Uninitialised scratch memory.
const NO_TILE: Tile = [const { MaybeUninit::uninit() }; TILE];

/// Scans along an axis, with results in the dtype of a sum. If other axes follow the scanned axis, all elements at
/// one index of the scanned axis (a row) are joined to the accumulators at once.
fn scan(
    op: &'static str,
    x: View<'_>,
    axis: isize,
    include_initial: bool,
    scan: fn(DType) -> Scan,
) -> Result<RawArray> {
    scan_through(op, x, axis, include_initial, scan, |bytes| stream::pays(bytes, stream::SHARE))
}

/// Like `scan`, but results bypass the caches if `is_streamed` returns true for the number of bytes read and written.
fn scan_through(
    op: &'static str,
    x: View<'_>,
    axis: isize,
    include_initial: bool,
    scan: fn(DType) -> Scan,
    is_streamed: fn(usize) -> bool,
) -> Result<RawArray> {
    let dtype = sum_dtype(x.dtype);
    let (axis, from, shape) = rules::scan(op, x.shape, axis, include_initial, dtype.size())?;
    let len = from[axis];
    let inner: usize = shape[axis + 1..].iter().product();
    let initial = include_initial as usize;
    let out = Buffer::new(op, rules::count(op, &shape, dtype.size())?, dtype)?;
    if out.len() > 0 {
        let packed = copy::pack(op, x)?;
        let (before, after) = (len * inner, (len + initial) * inner);
        let slabs = out.len() / after;
        let tiles = inner.div_ceil(TILE);
        let of = computed_in(dtype);
        let bytes = slabs * (before * x.dtype.size() + after * dtype.size());
        let run = if inner == 1 { len.min(BLOCK) } else { inner.min(TILE) };
        let lanes = Scanned {
            scan: scan(of),
            of,
            x: x.dtype,
            out: dtype,
            from: packed.start(),
            to: out.start(),
            is_streamed: dtype == of && run * dtype.size() >= STREAMED && is_streamed(bytes),
        };
        if inner == 1 && lanes.splits(len, slabs) {
            for slab in 0..slabs {
                // SAFETY: the lanes of both arrays have these lengths.
                unsafe { lanes.long_lane(slab * before, slab * after, len, initial) };
            }
            // SAFETY: every element has been written.
            return unsafe { RawArray::new(op, shape, out) };
        }
        parallel::parallel(slabs * tiles, CHEAP / (before / tiles).max(1), |range| {
            if inner == 1 && lanes.takes_lanes(len, initial) {
                // SAFETY: each task writes its own lanes.
                return unsafe { lanes.lanes(range, len) };
            }
            let (mut acc, mut own, mut wide) = (NO_TILE, NO_TILE, NO_TILE);
            for task in range {
                let (slab, tile) = (task / tiles, task % tiles);
                let first = tile * TILE;
                let width = TILE.min(inner - first);
                // SAFETY: each task writes its own columns of its own slab.
                unsafe {
                    if inner == 1 {
                        lanes.lane(slab * before, slab * after, len, initial, &mut wide);
                        continue;
                    }
                    lanes.start(&mut acc, width);
                    if include_initial {
                        lanes.write(&acc, slab * after + first, width);
                    }
                    let row =
                        |r: usize| (slab * before + r * inner + first, slab * after + (r + initial) * inner + first);
                    if !lanes.scan.by_quarters {
                        for (from, to) in (0..len).map(row) {
                            lanes.row(from, &mut acc, &mut wide, width);
                            lanes.write(&acc, to, width);
                        }
                        continue;
                    }
                    for block in (0..len).step_by(BLOCK) {
                        let end = len.min(block + BLOCK);
                        let quarter = (end - block) / 4;
                        for k in 0..4 {
                            let rows = block + k * quarter..block + (k + 1) * quarter;
                            lanes.quarter(rows.map(row), &mut own, &mut acc, &mut wide, width);
                        }
                        for (from, to) in (block + 4 * quarter..end).map(row) {
                            lanes.row(from, &mut acc, &mut wide, width);
                            lanes.write(&acc, to, width);
                        }
                    }
                }
            }
            lanes.finish();
        });
    }
    // SAFETY: every element has been written.
    unsafe { RawArray::new(op, shape, out) }
}

/// A scan that reads one array in C order and writes another.
struct Scanned {
    scan: Scan,
    /// The dtype of the computation; `x` and `out` are the dtypes of the input and output arrays.
    of: DType,
    x: DType,
    out: DType,
    from: *const u8,
    to: *mut u8,
    /// True if results bypass the caches. The results then have the dtype of the computation, and every thread that
    /// writes must call [`Scanned::finish`] after its last write.
    is_streamed: bool,
}

// SAFETY: tasks read shared elements, but write different elements.
unsafe impl Sync for Scanned {}

impl Scanned {
    /// Fills `width` accumulators with the identity.
    unsafe fn start(&self, acc: &mut Tile, width: usize) {
        // SAFETY: the identity has this dtype, and a tile has room for `width` values.
        unsafe { self.scan.identity.fill(self.of, acc.as_mut_ptr().cast(), width) };
    }

    /// Returns a pointer to the elements that begin at index `at`, in the dtype of the computation. If the array has
    /// this dtype, the pointer is into the array; otherwise, the elements are converted and stored in `wide`.
    unsafe fn load(&self, at: usize, wide: &mut Tile, width: usize) -> *const u8 {
        let wide = wide.as_mut_ptr().cast::<u8>();
        // SAFETY: the elements belong to the array, and a tile has room for `width` values.
        unsafe {
            let from = self.from.add(at * self.x.size());
            if self.x == self.of {
                return from;
            }
            convert(self.x, self.of, from, wide, width);
        }
        wide
    }

    /// Joins `width` elements, beginning at index `at`, to the accumulators.
    unsafe fn row(&self, at: usize, acc: &mut Tile, wide: &mut Tile, width: usize) {
        // SAFETY: the elements belong to the array, and tiles have room for `width` values.
        unsafe { (self.scan.row)(acc.as_mut_ptr().cast(), self.load(at, wide, width), width) };
    }

    /// Scans the rows of a quarter of a block. The scan starts from the accumulators `acc`. At the end, joins the total
    /// of the quarter to `acc`.
    unsafe fn quarter(
        &self,
        rows: impl Iterator<Item = (usize, usize)>,
        own: &mut Tile,
        acc: &mut Tile,
        wide: &mut Tile,
        width: usize,
    ) {
        let mut made = NO_TILE;
        // SAFETY: the elements belong to both arrays, and tiles have room for `width` values.
        unsafe {
            self.start(own, width);
            let (own, acc) = (own.as_mut_ptr().cast::<u8>(), acc.as_mut_ptr().cast::<u8>());
            for (from, to) in rows {
                let x = self.load(from, wide, width);
                if self.is_direct() {
                    (self.scan.quarter)(own, acc, x, self.to.add(to * self.out.size()), width);
                } else {
                    (self.scan.quarter)(own, acc, x, made.as_mut_ptr().cast(), width);
                    self.write(&made, to, width);
                }
            }
            (self.scan.row)(acc, own, width);
        }
    }

    /// Writes the accumulators to the elements of the result that begin at index `at`.
    unsafe fn write(&self, acc: &Tile, at: usize, width: usize) {
        let (acc, size) = (acc.as_ptr().cast::<u8>(), self.out.size());
        // SAFETY: the elements belong to the result.
        unsafe {
            let to = self.to.add(at * size);
            if self.is_streamed {
                stream::copy(acc, to, width * size);
            } else {
                convert(self.of, self.out, acc, to, width);
            }
        }
    }

    /// Returns whether the loops write results directly to the result array.
    fn is_direct(&self) -> bool {
        self.out == self.of && !self.is_streamed
    }

    /// Makes the writes of this thread visible to other threads.
    fn finish(&self) {
        if self.is_streamed {
            stream::finish();
        }
    }

    /// Returns whether [`Scanned::lanes`] can scan lanes of this length, several lanes at a time.
    fn takes_lanes(&self, len: usize, initial: usize) -> bool {
        len <= SHORT && initial == 0 && self.x == self.of && self.out == self.of
    }

    /// Scans lanes of `len` elements, which are consecutive in both arrays.
    unsafe fn lanes(&self, lanes: Range<usize>, len: usize) {
        let first = lanes.start * len * self.of.size();
        // SAFETY: the lanes belong to both arrays.
        unsafe { (self.scan.lanes)(self.from.add(first), self.to.add(first), len, lanes.len()) };
    }

    /// Scans one lane, one block at a time.
    unsafe fn lane(&self, from: usize, to: usize, len: usize, initial: usize, wide: &mut Tile) {
        let mut carry = self.scan.identity;
        // SAFETY: the lanes belong to both arrays.
        unsafe {
            if initial > 0 {
                self.initial(to);
            }
            for first in (0..len).step_by(BLOCK) {
                self.block(from + first, to + initial + first, BLOCK.min(len - first), &mut carry, wide);
            }
        }
    }

    /// Writes the identity to element `to` of the result.
    unsafe fn initial(&self, to: usize) {
        let to = to * self.out.size();
        // SAFETY: `to` is an element of the result.
        unsafe { convert(self.of, self.out, self.scan.identity.start(), self.to.add(to), 1) };
    }

    /// Scans a block of a lane, starting from the value `carry`, and sets `carry` to the last result.
    unsafe fn block(&self, from: usize, to: usize, n: usize, carry: &mut Value, wide: &mut Tile) {
        // SAFETY: the elements belong to both arrays, and a tile has room for a block.
        unsafe {
            let block = self.load(from, wide, n);
            // the loop goes over the block twice, which is cheap while the block is in the cache
            if self.is_direct() {
                (self.scan.block)(block, self.to.add(to * self.out.size()), n, carry.start_mut());
            } else {
                (self.scan.block)(block, wide.as_mut_ptr().cast(), n, carry.start_mut());
                self.write(wide, to, n);
            }
        }
    }

    /// Returns whether several threads share each lane of `len` elements, because one thread per lane would leave at
    /// least half of the threads idle.
    fn splits(&self, len: usize, lanes: usize) -> bool {
        // threads that share a lane read its elements twice, so each lane must have at least two threads
        self.scan.splits && len >= 4 * PIECE && 2 * lanes <= threads::count().min(len / PIECE)
    }

    /// Like [`Scanned::lane`], on several threads.
    unsafe fn long_lane(&self, from: usize, to: usize, len: usize, initial: usize) {
        if initial > 0 {
            // SAFETY: `to` is the first element of the lane.
            unsafe { self.initial(to) };
        }
        in_turn(len.div_ceil(PIECE), self.scan.identity, |before| {
            let first = before.number() * PIECE;
            // SAFETY: the piece belongs to the lane in both arrays, and to one task only.
            unsafe { self.piece(from + first, to + initial + first, PIECE.min(len - first), before) };
        });
    }

    /// Scans a piece of a lane. First computes the totals of the quarters of all its blocks, which give the total
    /// before each block and before the next piece. Then scans the blocks.
    unsafe fn piece(&self, from: usize, to: usize, len: usize, before: Turn<'_, Value>) {
        let mut wide = NO_TILE;
        let mut quarters = [[Value::ZERO; 4]; PIECE / BLOCK];
        let quarters = &mut quarters[..len.div_ceil(BLOCK)];
        let length = |block: usize| BLOCK.min(len - block * BLOCK);
        for (block, values) in quarters.iter_mut().enumerate() {
            // SAFETY: the block belongs to the lane, and there is room for four values.
            unsafe {
                let x = self.load(from + block * BLOCK, &mut wide, length(block));
                (self.scan.quarters)(x, length(block), values.as_mut_ptr().cast());
            }
        }
        before.take(|before| {
            for values in &mut *quarters {
                let own = std::mem::replace(values, [*before; 4]);
                for k in 0..4 {
                    // SAFETY: both are values of the dtype, and `k` is the index of one of the four quarters.
                    unsafe {
                        (self.scan.row)(before.start_mut(), own.as_ptr().cast::<u8>().add(k * self.of.size()), 1)
                    };
                }
            }
        });
        for (block, [before, ..]) in quarters.iter_mut().enumerate() {
            let first = block * BLOCK;
            // SAFETY: the block belongs to the lane in both arrays.
            unsafe { self.block(from + first, to + first, length(block), before, &mut wide) };
        }
        self.finish();
    }
}

versions! {
    unsafe fn row[A: Numeric, F: Join][A, F](acc: *mut u8, x: *const u8, n: usize) {
        let (acc, x) = (acc.cast::<A>(), x.cast::<A>());
        for i in 0..n {
            // SAFETY: both have `n` elements.
            unsafe { *acc.add(i) = F::join(*acc.add(i), *x.add(i)) };
        }
    }

    unsafe fn quarter[A: Numeric, F: Join][A, F](
        own: *mut u8,
        before: *const u8,
        x: *const u8,
        out: *mut u8,
        n: usize,
    ) {
        let (own, before, x, out) = (own.cast::<A>(), before.cast::<A>(), x.cast::<A>(), out.cast::<A>());
        for i in 0..n {
            // SAFETY: all four arrays have `n` elements.
            unsafe {
                *own.add(i) = F::join(*own.add(i), *x.add(i));
                *out.add(i) = F::join(*before.add(i), *own.add(i));
            }
        }
    }

    /// Scans four quarters in parallel, which hides the latency of the additions. Then joins the total of all elements
    /// before each quarter to the results of the quarter. Products of floats are joined one after another.
    unsafe fn block[A: Numeric, F: Join][A, F](x: *const u8, out: *mut u8, n: usize, carry: *mut u8) {
        let (x, out, carry) = (x.cast::<A>(), out.cast::<A>(), carry.cast::<A>());
        let quarter = quarter_of::<A, F>(n);
        let mut last = [F::identity::<A>(); 4];
        // SAFETY: both have `n` elements, and `carry` points to a value. Each element is read before its result is
        // written.
        unsafe {
            for i in 0..quarter {
                let x = [*x.add(i), *x.add(quarter + i), *x.add(2 * quarter + i), *x.add(3 * quarter + i)];
                for k in 0..4 {
                    last[k] = F::join(last[k], x[k]);
                    *out.add(k * quarter + i) = last[k];
                }
            }
            let mut before = *carry;
            for (k, last) in last.into_iter().enumerate() {
                for v in std::slice::from_raw_parts_mut(out.add(k * quarter), quarter) {
                    *v = F::join(before, *v);
                }
                before = F::join(before, last);
            }
            for i in 4 * quarter..n {
                before = F::join(before, *x.add(i));
                *out.add(i) = before;
            }
            *carry = before;
        }
    }

    /// Writes the totals of the four quarters.
    unsafe fn quarters[A: Numeric, F: Join][A, F](x: *const u8, n: usize, values: *mut u8) {
        let (x, quarter) = (x.cast::<A>(), n / 4);
        let mut last = [F::identity::<A>(); 4];
        // SAFETY: there are `n` elements, and room for four values.
        unsafe {
            for i in 0..quarter {
                for (k, last) in last.iter_mut().enumerate() {
                    *last = F::join(*last, *x.add(k * quarter + i));
                }
            }
            values.cast::<[A; 4]>().write(last);
        }
    }

    /// Scans short lanes, four at a time, so that the other lanes are computed during the latency of one lane.
    unsafe fn lanes[A: Numeric, F: Join][A, F](x: *const u8, out: *mut u8, n: usize, count: usize) {
        let (x, out) = (x.cast::<A>(), out.cast::<A>());
        let four = count / 4 * 4;
        // SAFETY: each lane has `n` elements in both arrays.
        unsafe {
            for lane in (0..four).step_by(4) {
                side_by_side::<A, F, 4>(x.add(lane * n), out.add(lane * n), n);
            }
            for lane in four..count {
                side_by_side::<A, F, 1>(x.add(lane * n), out.add(lane * n), n);
            }
        }
    }
}

/// Scans `W` lanes of `n` elements each, which are consecutive in memory.
///
/// # Safety
/// Both must have `W * n` elements.
#[inline(always)]
unsafe fn side_by_side<A: Numeric, F: Join, const W: usize>(x: *const A, out: *mut A, n: usize) {
    let quarter = quarter_of::<A, F>(n);
    let mut before = [F::identity::<A>(); W];
    let mut i = 0;
    // SAFETY: the caller guarantees `W * n` elements in both arrays.
    unsafe {
        while i < 4 * quarter {
            let mut own = [F::identity::<A>(); W];
            for i in i..i + quarter {
                for k in 0..W {
                    own[k] = F::join(own[k], *x.add(k * n + i));
                    *out.add(k * n + i) = F::join(before[k], own[k]);
                }
            }
            for (before, own) in before.iter_mut().zip(own) {
                *before = F::join(*before, own);
            }
            i += quarter;
        }
        for i in i..n {
            for (k, before) in before.iter_mut().enumerate() {
                *before = F::join(*before, *x.add(k * n + i));
                *out.add(k * n + i) = *before;
            }
        }
    }
}

/// Number of elements of a quarter of a block of `n` elements; 0 if elements are joined one after another.
#[inline(always)]
fn quarter_of<A: Element, F: Join>(n: usize) -> usize {
    if F::LEAVES_RANGE && is_rounded::<A>() { 0 } else { n / 4 }
}

#[cfg(test)]
mod tests {
    use super::{
        super::typed::{cumulative_prod, cumulative_sum},
        *,
    };
    use backend_core::{
        Complex, bf16,
        numpyish::{
            Numpyish,
            raw::view,
            testing::{counting, layouts},
            typed::typed,
        },
    };
    use ndarray::{ArrayD, Axis, IxDyn, Slice};

    const B: Numpyish = Numpyish::new();

    #[test]
    fn products_stay_in_range_where_numpy_s_do() {
        let products = |x: &[f64]| {
            let x = ndarray::ArrayD::from_shape_vec(vec![x.len()], x.to_vec()).unwrap().into_shared();
            cumulative_prod(&Numpyish::new(), &x, Some(0), false).unwrap().into_iter().collect::<Vec<f64>>()
        };
        let zero = products(&[0.0, 1.0, 1e200, 1e200, 2.0, 2.0, 2.0, 2.0]);
        assert!(zero.iter().all(|&x| x == 0.0), "{zero:?}");
        let small = products(&[1e300, 1.0, 1e-200, 1e-200, 1.0, 1.0, 1.0, 1.0])[7];
        assert!((small / 1e-100 - 1.0).abs() < 1e-12, "{small}");
    }

    #[test]
    fn long_lanes_have_the_same_bits_on_any_number_of_threads() {
        let x = counting::<f64>(&[2, 300_001]).mapv(|i| (i * 0.37).sin()).into_shared();
        let small = x.mapv(|x| x as f32).into_shared();
        let ints = x.mapv(|x| (x * 100.0) as i16).into_shared();
        let of = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let flat = cumulative_sum(&B, &x, None, true).unwrap().mapv(f64::to_bits);
                let rows = cumulative_sum(&B, &small, Some(1), false).unwrap().mapv(f32::to_bits);
                let ints = cumulative_prod(&B, &ints, None, false).unwrap();
                (flat, rows, ints, cumulative_prod(&B, &x, Some(1), false).unwrap().mapv(f64::to_bits))
            })
        };
        let one = of(1);
        assert!(of(3) == one && of(8) == one);
        let mut sum = 0.0;
        let exact = x
            .iter()
            .map(|x| {
                sum += x;
                sum
            })
            .collect::<Vec<f64>>();
        let flat = one.0.iter().skip(1).map(|bits| f64::from_bits(*bits));
        assert!(flat.zip(exact).all(|(a, b)| (a - b).abs() < 1e-8));
    }

    #[test]
    fn results_past_the_caches_have_the_same_bits() {
        for shape in [&[70_001][..], &[3, 5000], &[5000, 3], &[90, 700], &[9, 20, 80]] {
            let x = counting::<f64>(shape).mapv(|i| (i * 0.37).sin()).into_shared();
            let (single, ints) = (x.mapv(|x| x as f32).into_shared(), x.mapv(|x| (x * 9.0) as i16).into_shared());
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            for axis in 0..shape.len() as isize {
                for initial in [false, true] {
                    let of = |x: View<'_>, is_streamed| {
                        let by = || scan_through("scan", x, axis, initial, Scan::sums, is_streamed).unwrap();
                        (by(), pool.install(by))
                    };
                    fn same<T: Element>((one, three): (RawArray, RawArray), by: (RawArray, RawArray)) -> bool {
                        let bits = |array: RawArray| {
                            format!("{:?}", typed::<T>(Ok(array)).unwrap().iter().collect::<Vec<_>>())
                        };
                        let usual = bits(one);
                        [three, by.0, by.1].into_iter().all(|array| bits(array) == usual)
                    }
                    let (usual, streamed) = (|_| false, |_| true);
                    assert!(same::<f64>(of(view(&x), usual), of(view(&x), streamed)), "{shape:?} {axis}");
                    assert!(same::<f32>(of(view(&single), usual), of(view(&single), streamed)), "{shape:?} {axis}");
                    assert!(same::<i64>(of(view(&ints), usual), of(view(&ints), streamed)), "{shape:?} {axis}");
                }
            }
        }
    }

    #[test]
    fn running_sums_of_every_layout() {
        for shape in [&[3, 4, 5][..], &[2, 1200], &[1200, 3], &[7, 1000], &[300_001], &[700, 2, 300]] {
            let x = counting::<i32>(shape).mapv(|i| i.wrapping_mul(7919) % 101 - 50);
            let all = if x.len() > 100_000 { vec![x.clone().into_shared()] } else { layouts(&x) };
            for a in all {
                for axis in 0..shape.len() {
                    let mut expected = x.mapv(i64::from);
                    expected.accumulate_axis_inplace(Axis(axis), |&before, v| *v += before);
                    assert_eq!(cumulative_sum(&B, &a, Some(axis as isize), false).unwrap(), expected);
                    let with = cumulative_sum(&B, &a, Some(axis as isize), true).unwrap();
                    assert_eq!(with.slice_axis(Axis(axis), Slice::from(1..)), expected);
                    assert!(with.index_axis(Axis(axis), 0).iter().all(|&v| v == 0));
                    let mut expected = x.mapv(i64::from);
                    expected.accumulate_axis_inplace(Axis(axis), |&before, v| *v = v.wrapping_mul(before));
                    assert_eq!(cumulative_prod(&B, &a, Some(axis as isize), false).unwrap(), expected);
                }
            }
        }
    }

    #[test]
    fn running_sums_of_other_dtypes() {
        let ones = ArrayD::from_elem(IxDyn(&[1000]), bf16::ONE).into_shared();
        let s = cumulative_sum(&B, &ones, Some(0), false).unwrap();
        assert_eq!(s[[999]], bf16::from_f32(1000.0), "summed in bf16 it would stay at 256");
        let z = ArrayD::from_elem(IxDyn(&[3, 2]), Complex::new(0.0_f32, 1.0)).into_shared();
        let p = cumulative_prod(&B, &z, Some(0), true).unwrap();
        assert_eq!(p[[3, 1]], Complex::new(0.0, -1.0));
        let flags = ArrayD::from_elem(IxDyn(&[5]), true).into_shared();
        assert_eq!(cumulative_sum(&B, &flags, Some(0), false).unwrap()[[4]], 5_i64);
        assert_eq!(
            cumulative_sum(&B, &ArrayD::from_elem(IxDyn(&[300]), 255_u8).into_shared(), Some(0), false).unwrap()[[299]],
            76_500_u64
        );
    }

    #[test]
    fn empty_and_wrong() {
        let none = ArrayD::<f64>::zeros(IxDyn(&[0, 3])).into_shared();
        assert_eq!(cumulative_sum(&B, &none, Some(0), false).unwrap().shape(), [0, 3]);
        assert_eq!(cumulative_prod(&B, &none, Some(0), true).unwrap(), ArrayD::ones(IxDyn(&[1, 3])));
        assert_eq!(cumulative_prod(&B, &none, Some(1), true).unwrap().shape(), [0, 4]);
        let scalar = ArrayD::<f64>::zeros(IxDyn(&[])).into_shared();
        assert_eq!(cumulative_sum(&B, &scalar, Some(-1), true).unwrap().shape(), [2], "of one element, as in NumPy");
        assert_eq!(cumulative_sum(&B, &scalar, Some(1), false).unwrap_err().op(), Some("cumulative_sum"));
    }
}
