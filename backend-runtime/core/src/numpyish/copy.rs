//! Copies arrays between memory layouts. Ops that pack, transpose, join, repeat, pad or slice arrays all use the loops
//! in this file.
//!
//! A copy only moves bits, so the loops are compiled once for each size and alignment of elements, and not for each
//! dtype.

use super::{
    buffer::Buffer,
    parallel::{self},
    raw::{RawArray, View},
    simd::{prefetch, versions},
};
use crate::{DType, Element, Result};
use std::mem::MaybeUninit;

/// The elements of an array in C order: borrowed from the array if its memory is in C order, and otherwise copied.
pub enum Packed<'a> {
    /// The array's own memory, which is in C order.
    Borrowed(View<'a>),
    /// A copy in C order.
    Owned(Buffer),
}

impl Packed<'_> {
    /// Address of the first element.
    pub fn start(&self) -> *const u8 {
        match self {
            Packed::Borrowed(x) => x.start,
            Packed::Owned(x) => x.start(),
        }
    }
}

impl Packed<'_> {
    /// Returns the elements as a slice of `n` elements of type `T`.
    ///
    /// # Safety
    /// The array has `n` elements of type `T`.
    pub unsafe fn slice<T: Element>(&self, n: usize) -> &[T] {
        // SAFETY: the caller guarantees `n` elements of type `T`, and no address is used if `n` is 0.
        if n == 0 { &[] } else { unsafe { std::slice::from_raw_parts(self.start().cast(), n) } }
    }
}

/// The elements of a view in C order: borrowed if the view is in C order in memory, else copied.
pub fn pack<'a>(op: &'static str, x: View<'a>) -> Result<Packed<'a>> {
    if x.is_c_order() { Ok(Packed::Borrowed(x)) } else { Ok(Packed::Owned(to_buffer(op, x)?)) }
}

/// Calls `result` with an array and an axis: with `x` and `axis` if `axis` is not `None`, and otherwise with the
/// flattened array (in C order) and axis 0.
pub fn along_or_row<R>(
    op: &'static str,
    x: View<'_>,
    axis: Option<isize>,
    result: impl FnOnce(View<'_>, isize) -> Result<R>,
) -> Result<R> {
    let Some(axis) = axis else {
        let packed = pack(op, x)?;
        return result(View { start: packed.start(), dtype: x.dtype, shape: &[x.len()], strides: &[1] }, 0);
    };
    result(x, axis)
}

/// Copies a view to new memory. If the view has no gaps in memory, the copy has the same memory order, and otherwise C
/// order.
pub fn duplicate(op: &'static str, x: View<'_>) -> Result<RawArray> {
    if x.is_c_order() {
        return to_raw(op, x);
    }
    // a view has no gaps if it is in C order after its axes are sorted by stride
    let mut order: Vec<usize> = (0..x.shape.len()).collect();
    order.sort_by_key(|&k| std::cmp::Reverse(x.strides[k]));
    let shape: Vec<usize> = order.iter().map(|&k| x.shape[k]).collect();
    let strides: Vec<isize> = order.iter().map(|&k| x.strides[k]).collect();
    let in_memory = View { shape: &shape, strides: &strides, ..x };
    if !in_memory.is_c_order() {
        return to_raw(op, x);
    }
    let mut back = order.clone();
    order.iter().enumerate().for_each(|(place, &k)| back[k] = place);
    Ok(to_raw(op, in_memory)?.permuted(&back))
}

/// Copies the elements of a view to a new array in C order.
pub fn to_raw(op: &'static str, x: View<'_>) -> Result<RawArray> {
    // SAFETY: `to_buffer` writes every element.
    unsafe { RawArray::new(op, x.shape.to_vec(), to_buffer(op, x)?) }
}

/// Copies the elements of a view to a new buffer in C order.
pub fn to_buffer(op: &'static str, x: View<'_>) -> Result<Buffer> {
    let n = crate::rules::count(op, x.shape, x.dtype.size())?;
    let buffer = Buffer::new(op, n, x.dtype)?;
    if x.is_c_order() {
        let (size, ends) = (x.dtype.size(), Ends { from: x.start, to: buffer.start() });
        parallel::parallel(n, parallel::CHEAP, |range| {
            let ends = &ends;
            // SAFETY: the range lies in the source and in the buffer, which do not overlap.
            unsafe {
                let (from, to) = (ends.from.add(range.start * size), ends.to.add(range.start * size));
                std::ptr::copy_nonoverlapping(from, to, range.len() * size);
            }
        });
        return Ok(buffer);
    }
    let strides = crate::rules::c_strides(x.shape);
    let axes = x.shape.iter().zip(x.strides).zip(strides).map(|((&len, &from), to)| Axis { len, from, to }).collect();
    // SAFETY: the target strides are the C-order strides of the shape, so the copy fills the whole buffer.
    unsafe { bits(x.dtype, axes, x.start, buffer.start()) };
    Ok(buffer)
}

/// Size and alignment of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementSize {
    /// One byte.
    Byte,
    /// Two bytes.
    TwoBytes,
    /// Four bytes.
    FourBytes,
    /// Eight bytes.
    EightBytes,
    /// Eight bytes, with the alignment of four.
    TwoFloats,
    /// Sixteen bytes, with the alignment of eight.
    TwoDoubles,
}

impl ElementSize {
    /// Size and alignment of an element of a dtype.
    pub fn of(dtype: DType) -> ElementSize {
        match dtype {
            DType::Bool | DType::Int8 | DType::UInt8 => ElementSize::Byte,
            DType::Int16 | DType::UInt16 | DType::Float16 | DType::BFloat16 => ElementSize::TwoBytes,
            DType::Int32 | DType::UInt32 | DType::Float32 => ElementSize::FourBytes,
            DType::Int64 | DType::UInt64 | DType::Float64 => ElementSize::EightBytes,
            DType::Complex64 => ElementSize::TwoFloats,
            DType::Complex128 => ElementSize::TwoDoubles,
        }
    }
}

/// Evaluates an expression in which `$u` is a type with the size and the alignment of a dtype. Every bit pattern is
/// valid for this type. Code that only moves elements is thus compiled once for each size, and not for each dtype.
#[macro_export]
macro_rules! by_bits {
    ($dtype:expr, $u:ident => $e:expr) => {
        match $crate::numpyish::copy::ElementSize::of($dtype) {
            $crate::numpyish::copy::ElementSize::Byte => {
                type $u = u8;
                $e
            }
            $crate::numpyish::copy::ElementSize::TwoBytes => {
                type $u = u16;
                $e
            }
            $crate::numpyish::copy::ElementSize::FourBytes => {
                type $u = u32;
                $e
            }
            $crate::numpyish::copy::ElementSize::EightBytes => {
                type $u = u64;
                $e
            }
            $crate::numpyish::copy::ElementSize::TwoFloats => {
                type $u = [u32; 2];
                $e
            }
            $crate::numpyish::copy::ElementSize::TwoDoubles => {
                type $u = [u64; 2];
                $e
            }
        }
    };
}
pub use by_bits;

/// Writes `n` copies of one element.
///
/// # Safety
/// `from` points to an element of the dtype, and `to` has room for `n` elements.
pub unsafe fn fill(dtype: DType, from: *const u8, to: *mut u8, n: usize) {
    unsafe fn all<U: Bits>(from: *const u8, to: *mut u8, n: usize) {
        // SAFETY: the caller guarantees the element and enough room, and the type has the size and the alignment of the
        // dtype.
        unsafe {
            std::slice::from_raw_parts_mut(to.cast::<MaybeUninit<U>>(), n).fill(MaybeUninit::new(*from.cast::<U>()))
        };
    }
    // SAFETY: the caller guarantees the element and enough room.
    unsafe { by_bits!(dtype, U => all::<U>(from, to, n)) }
}

/// Copies a view into `out`. The first element of the view goes to index `start` of `out`. Neighbouring elements along
/// axis k of the view go to indices of `out` that are `strides[k]` apart.
///
/// # Panics
/// Panics if an element would land outside `out`, or if the dtypes differ. Both are mistakes of the caller.
pub fn place(out: &mut Buffer, start: usize, strides: &[isize], x: View<'_>) {
    assert!(x.shape.len() == strides.len() && x.dtype == out.dtype(), "one stride per axis, and the same dtype");
    if x.len() == 0 {
        return;
    }
    let reach = |sign: isize| -> Option<isize> {
        x.shape
            .iter()
            .zip(strides)
            .filter(|&(_, s)| s.signum() == sign)
            .try_fold(start as isize, |end, (&d, &s)| end.checked_add(s.checked_mul(d as isize - 1)?))
    };
    let inside = matches!((reach(-1), reach(1)), (Some(low), Some(high)) if low >= 0 && high < out.len() as isize);
    assert!(inside, "the part lies in the result");
    let n = x.len();
    if n <= FEW && x.is_c_order() && (View { strides, ..x }).is_c_order() {
        let size = x.dtype.size();
        // SAFETY: the elements are contiguous in the view and in `out`, and `out` has room for all, as just checked.
        unsafe { std::ptr::copy_nonoverlapping(x.start, out.start().add(start * size), n * size) };
        return;
    }
    let axes = x.shape.iter().zip(x.strides).zip(strides);
    let axes = axes.map(|((&len, &from), &to)| Axis { len, from, to }).collect();
    // SAFETY: the axes reach only elements of the view, and `out` has room for each, as just checked.
    unsafe { bits(x.dtype, axes, x.start, out.start().add(start * x.dtype.size())) }
}

/// One axis of a copy: its length, and the strides of source and target in elements.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Number of elements.
    pub len: usize,
    /// Stride in the source, of any sign; 0 repeats the element.
    pub from: isize,
    /// Stride in the target, of any sign; not 0 if the axis is longer than 1.
    pub to: isize,
}

/// Copies the element at every index of `axes` from the source to the target.
///
/// # Safety
/// `from` and `to` point to the elements of `dtype` whose indices are all 0. At every index, the source element may be
/// read and the target element may be written. Different indices have different target elements.
pub unsafe fn bits(dtype: DType, axes: Vec<Axis>, from: *const u8, to: *mut u8) {
    // SAFETY: the types have the size and the alignment of the dtype, and every bit pattern is valid for them.
    unsafe { by_bits!(dtype, U => strided::<U>(axes, from.cast(), to.cast())) }
}

/// Transposes a small matrix. Neighbouring rows are `from_row` elements apart in the source, and `to_row` elements
/// apart in the target. Elements of 4 and 8 bytes are transposed in registers.
///
/// # Safety
/// `from` has `rows` rows of `columns` elements, `to` has room for `columns` rows of `rows` elements, and source and
/// target do not overlap.
pub unsafe fn transpose<U: Copy + Send + Sync + 'static>(
    from: *const U,
    (rows, columns): (usize, usize),
    from_row: usize,
    to: *mut U,
    to_row: usize,
) {
    let i = Axis { len: columns, from: 1, to: to_row as isize };
    let j = Axis { len: rows, from: from_row as isize, to: 1 };
    // SAFETY: the caller guarantees the elements of both matrices, which do not overlap.
    unsafe { tile(i, j, from, to) }
}

/// Copies along any number of axes. A large copy is split among several threads.
unsafe fn strided<U: Bits>(mut axes: Vec<Axis>, mut from: *const U, mut to: *mut U) {
    if axes.iter().any(|a| a.len == 0) {
        return;
    }
    for axis in axes.iter_mut().filter(|a| a.to < 0) {
        let last = axis.len as isize - 1;
        // SAFETY: the copy reaches the last element of the axis, so both offsets stay in their allocations.
        unsafe { (from, to) = (from.offset(axis.from * last), to.offset(axis.to * last)) };
        (axis.from, axis.to) = (-axis.from, -axis.to);
    }
    let axes = simplified(axes);
    // splits the outermost axis that is long enough, because each thread then writes one contiguous range
    let outermost = axes.iter().position(|axis| axis.len >= TASKS);
    let Some(split) = outermost.or_else(|| (0..axes.len()).max_by_key(|&i| axes[i].len)) else {
        // SAFETY: a copy without axes has exactly one element.
        return unsafe { *to = *from };
    };
    let Axis { len, from: from_step, to: to_step } = axes[split];
    let rest = axes.iter().map(|a| a.len).product::<usize>() / len;
    if rest * len <= FEW && axes.len() <= 2 {
        let (i, j) = if let [i, j] = axes[..] { (i, j) } else { (ONE, axes[split]) };
        // SAFETY: the copy has no axes except `i` and `j`, and the caller guarantees its elements.
        return unsafe { rows(i, j, from, to) };
    }
    let ends = Ends { from, to };
    parallel::parallel(len, (parallel::CHEAP / rest).max(1), |range| {
        let Ends { from, to } = ends.at(range.start as isize * from_step, range.start as isize * to_step);
        let mut part = axes.clone();
        part[split].len = range.len();
        // SAFETY: each task copies its own range of the split axis, so it reaches only elements of the copy, and no two
        // tasks write the same element.
        unsafe { serial(part, from, to) }
    });
}

/// Maximum number of elements of a small copy. For small copies, the setup of the general loops would take longer than
/// the copy itself.
const FEW: usize = 1024;

/// Minimum length of an axis that is split among threads. If all axes are shorter, the longest axis is split.
const TASKS: usize = 64;

/// An axis of length 1.
const ONE: Axis = Axis { len: 1, from: 0, to: 0 };

/// The source and target addresses of a copy, which its threads share.
pub struct Ends<U> {
    /// Address that elements are read from.
    pub from: *const U,
    /// Address that elements are written to.
    pub to: *mut U,
}

// SAFETY: the tasks of a copy only read the source, and write different elements of the target.
unsafe impl<U: Send + Sync> Sync for Ends<U> {}

impl<U> Ends<U> {
    /// Moves both pointers by offsets in elements. The new pointers must stay inside their allocations.
    fn at(&self, from: isize, to: isize) -> Ends<U> {
        Ends { from: self.from.wrapping_offset(from), to: self.to.wrapping_offset(to) }
    }
}

/// A type with the size and alignment of an element. Copies move values of this type without interpreting their bits.
pub trait Bits: Copy + Send + Sync + 'static {}
impl<U: Copy + Send + Sync + 'static> Bits for U {}

/// Drops axes of length 1, sorts the remaining axes by descending target stride, and merges two neighbouring axes if
/// they form a single axis both in the source and in the target.
fn simplified(mut axes: Vec<Axis>) -> Vec<Axis> {
    axes.retain(|a| a.len != 1);
    axes.sort_by_key(|a| std::cmp::Reverse(a.to));
    let mut kept = 0;
    for i in 1..axes.len() {
        let (outer, inner) = (axes[kept], axes[i]);
        let joins = |outer: isize, inner_step: isize| outer == inner_step * inner.len as isize;
        if joins(outer.from, inner.from) && joins(outer.to, inner.to) {
            axes[kept] = Axis { len: outer.len * inner.len, ..inner };
        } else {
            kept += 1;
            axes[kept] = inner;
        }
    }
    axes.truncate(kept + 1);
    axes
}

/// Runs a copy on one thread. The two inner loops run over two axes, and an outer loop runs over all remaining axes.
unsafe fn serial<U: Bits>(mut axes: Vec<Axis>, from: *const U, to: *mut U) {
    let inner = axes.len() - 1;
    // `inner` is the axis with the smallest target stride, and `nearest` is the axis with the smallest source stride;
    // if these are two different axes, the copy transposes
    let nearest = (0..=inner).filter(|&i| axes[i].from != 0).min_by_key(|&i| axes[i].from.unsigned_abs());
    let transposes = nearest.filter(|&i| i != inner && axes[inner].from.unsigned_abs() > 1 && axes[inner].len > 4);
    let j = axes[inner];
    let second = transposes.or(inner.checked_sub(1));
    let i = second.map_or(ONE, |k| std::mem::replace(&mut axes[k], ONE));
    let outer = &axes[..inner];
    each_offset(outer, |f, t| {
        // SAFETY: `f` and `t` are the offsets of an index of the outer axes, so both pointers stay at elements of the
        // copy.
        unsafe {
            let (from, to) = (from.offset(f), to.offset(t));
            if transposes.is_some() { tiles(i, j, from, to) } else { rows(i, j, from, to) }
        }
    });
}

/// Calls `f` with the source and target offsets of every index of the axes.
fn each_offset(axes: &[Axis], mut f: impl FnMut(isize, isize)) {
    let mut index = vec![0; axes.len()];
    let (mut from, mut to) = (0, 0);
    loop {
        f(from, to);
        let mut k = axes.len();
        loop {
            let Some(next) = k.checked_sub(1) else { return };
            k = next;
            let Axis { len, from: from_step, to: to_step } = axes[k];
            index[k] += 1;
            from += from_step;
            to += to_step;
            if index[k] < len {
                break;
            }
            index[k] = 0;
            from -= from_step * len as isize;
            to -= to_step * len as isize;
        }
    }
}

/// For every index of axis `i`, copies a row along axis `j`.
unsafe fn rows<U: Bits>(i: Axis, j: Axis, from: *const U, to: *mut U) {
    // SAFETY: every offset belongs to an index within both axes.
    unsafe {
        match j.len {
            1 => return short_rows::<U, 1>(i, j, from, to),
            2 => return short_rows::<U, 2>(i, j, from, to),
            3 => return short_rows::<U, 3>(i, j, from, to),
            4 => return short_rows::<U, 4>(i, j, from, to),
            _ => {}
        }
        if (j.from, j.to) == (1, 1) {
            match j.len * size_of::<U>() {
                8..16 => return row_ends::<U, 8>(i, j, from, to),
                16..32 => return row_ends::<U, 16>(i, j, from, to),
                32..64 => return row_ends::<U, 32>(i, j, from, to),
                64..=128 => return row_ends::<U, 64>(i, j, from, to),
                _ => {}
            }
        }
        for k in 0..i.len as isize {
            let (from, to) = (from.offset(k * i.from), to.offset(k * i.to));
            match (j.from, j.to) {
                (1, 1) => std::ptr::copy_nonoverlapping(from, to, j.len),
                (0, 1) => {
                    std::slice::from_raw_parts_mut(to.cast::<MaybeUninit<U>>(), j.len).fill(MaybeUninit::new(*from))
                }
                // the strides are constants here, so that the loops vectorise
                (2, 1) => every_second::<U>(from, to, j.len),
                (-1, 1) => (0..j.len).for_each(|n| *to.add(n) = *from.sub(n)),
                (f, t) => (0..j.len as isize).for_each(|n| *to.offset(n * t) = *from.offset(n * f)),
            }
        }
    }
}

/// Copies contiguous rows, each of `N` to `2 * N` bytes, with two moves per row: the first `N` bytes, and the last `N`
/// bytes, which may overlap the first. This is faster than a call of `memcpy`.
unsafe fn row_ends<U: Bits, const N: usize>(i: Axis, j: Axis, from: *const U, to: *mut U) {
    let last = j.len * size_of::<U>() - N;
    for k in 0..i.len as isize {
        // SAFETY: the first and the last `N` bytes lie in the row, and source and target do not overlap.
        unsafe {
            let (from, to) = (from.offset(k * i.from).cast::<u8>(), to.offset(k * i.to).cast::<u8>());
            std::ptr::copy_nonoverlapping(from, to, N);
            std::ptr::copy_nonoverlapping(from.add(last), to.add(last), N);
        }
    }
}

versions! {
    /// Copies every second element of a row, and writes the copies next to each other.
    ///
    /// # Safety
    /// `from` has `n` elements at even indices, and `to` has room for `n` elements.
    unsafe fn every_second[U: Bits][U](from: *const U, to: *mut U, n: usize) {
        // SAFETY: the caller guarantees the elements and enough room.
        unsafe { (0..n).for_each(|k| *to.add(k) = *from.add(2 * k)) }
    }
}

/// Like [`rows`], for rows of `N` elements. The compiler unrolls the loop over a row, because `N` is a constant.
unsafe fn short_rows<U: Bits, const N: usize>(i: Axis, j: Axis, from: *const U, to: *mut U) {
    for k in 0..i.len as isize {
        for n in 0..N as isize {
            // SAFETY: the offset belongs to an index within both axes.
            unsafe { *to.offset(k * i.to + n * j.to) = *from.offset(k * i.from + n * j.from) };
        }
    }
}

/// Maximum lengths of a block of a transposing copy along the axes `i` and `j`. All cache lines of a block fit in the
/// first-level cache.
const BLOCK: (usize, usize) = (32, 64);

/// Side length, in elements, of the squares that are transposed at once.
const SIDE: usize = 4;

/// Distance by which prefetches run ahead of the copy, in squares whose sides are as long as a cache line. Prefetching
/// continues into the next block.
const AHEAD: usize = 2;

/// Runs a transposing copy block by block.
unsafe fn tiles<U: Bits>(i: Axis, j: Axis, from: *const U, to: *mut U) {
    for i0 in (0..i.len).step_by(BLOCK.0) {
        for j0 in (0..j.len).step_by(BLOCK.1) {
            let at = |i_step: isize, j_step: isize| i0 as isize * i_step + j0 as isize * j_step;
            let (ni, nj) = (BLOCK.0.min(i.len - i0), BLOCK.1.min(j.len - j0));
            let (i, j) = (Axis { len: ni, ..i }, Axis { len: nj, ..j });
            // SAFETY: the indices of the block lie within the axes.
            unsafe { tile(i, j, from.offset(at(i.from, j.from)), to.offset(at(i.to, j.to))) }
        }
    }
}

/// Copies one block of a transposing copy.
unsafe fn tile<U: Bits>(i: Axis, j: Axis, from: *const U, to: *mut U) {
    let squares = i.from == 1 && j.to == 1;
    let (whole_i, whole_j) = if squares { (i.len / SIDE * SIDE, j.len / SIDE * SIDE) } else { (0, 0) };
    // each cache line is used completely before the next one, because cache lines evict each other from the cache if
    // the distance between rows is a power of two
    let line = (64 / size_of::<U>()).max(SIDE);
    for i0 in (0..whole_i).step_by(line) {
        for j0 in (0..whole_j).step_by(line) {
            // prefetches explicitly, because every source row may be in a different page, and processors do not
            // prefetch across pages
            for j1 in (0..if i0 == 0 { line } else { 0 }).map(|j1| (AHEAD * line + j0 + j1) as isize) {
                let row = from.wrapping_offset(j1 * j.from);
                (0..i.len).step_by(line).for_each(|i1| prefetch(row.wrapping_add(i1)));
            }
            for i1 in (i0..whole_i.min(i0 + line)).step_by(SIDE) {
                for j1 in (j0..whole_j.min(j0 + line)).step_by(SIDE) {
                    let (i1, j1) = (i1 as isize, j1 as isize);
                    // SAFETY: the whole square lies in the block; the source is contiguous along `i`, and the target
                    // along `j`.
                    unsafe { square(from.offset(i1 + j1 * j.from), j.from, to.offset(i1 * i.to + j1), i.to) }
                }
            }
        }
    }
    let one = |i0: usize, j0: usize| {
        let (i0, j0) = (i0 as isize, j0 as isize);
        // SAFETY: the indices lie within both axes.
        unsafe { *to.offset(i0 * i.to + j0 * j.to) = *from.offset(i0 * i.from + j0 * j.from) }
    };
    for i0 in 0..i.len {
        let done = if i0 < whole_i { whole_j } else { 0 };
        (done..j.len).for_each(|j0| one(i0, j0));
    }
}

/// Transposes the square at `from` into the square at `to`. The rows of the squares are `from_row` elements apart in
/// the source, and `to_row` elements apart in the target.
#[inline(always)]
unsafe fn square<U: Bits>(from: *const U, from_row: isize, to: *mut U, to_row: isize) {
    // SAFETY: the caller guarantees `SIDE` rows of `SIDE` elements in the source and in the target.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        match size_of::<U>() {
            4 => return square_of_4_bytes(from.cast(), from_row, to.cast(), to_row),
            8 => return square_of_8_bytes(from.cast(), from_row, to.cast(), to_row),
            _ => {}
        }
        for c in 0..SIDE as isize {
            for r in 0..SIDE as isize {
                *to.offset(c * to_row + r) = *from.offset(r * from_row + c);
            }
        }
    }
}

/// Transposes a square of elements of 4 bytes in registers, like [`square`]. Every x86-64 processor has the
/// instructions used here, but the compiler does not generate them from a plain loop.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn square_of_4_bytes(from: *const [u8; 4], from_row: isize, to: *mut [u8; 4], to_row: isize) {
    use std::arch::x86_64::*;
    // SAFETY: the conditions of `square` hold, and these loads and stores need no alignment.
    unsafe {
        let [a, b, c, d] = [0, 1, 2, 3].map(|r| _mm_loadu_si128(from.offset(r * from_row).cast()));
        let (ab, cd) = (_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d));
        let (ab_high, cd_high) = (_mm_unpackhi_epi32(a, b), _mm_unpackhi_epi32(c, d));
        _mm_storeu_si128(to.cast(), _mm_unpacklo_epi64(ab, cd));
        _mm_storeu_si128(to.offset(to_row).cast(), _mm_unpackhi_epi64(ab, cd));
        _mm_storeu_si128(to.offset(2 * to_row).cast(), _mm_unpacklo_epi64(ab_high, cd_high));
        _mm_storeu_si128(to.offset(3 * to_row).cast(), _mm_unpackhi_epi64(ab_high, cd_high));
    }
}

/// Like [`square_of_4_bytes`], for elements of 8 bytes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn square_of_8_bytes(from: *const [u8; 8], from_row: isize, to: *mut [u8; 8], to_row: isize) {
    use std::arch::x86_64::*;
    for (r, c) in [(0, 0), (0, 2), (2, 0), (2, 2)] {
        // SAFETY: the conditions of `square` hold, and these loads and stores need no alignment.
        unsafe {
            let a = _mm_loadu_si128(from.offset(r * from_row + c).cast());
            let b = _mm_loadu_si128(from.offset((r + 1) * from_row + c).cast());
            _mm_storeu_si128(to.offset(c * to_row + r).cast(), _mm_unpacklo_epi64(a, b));
            _mm_storeu_si128(to.offset((c + 1) * to_row + r).cast(), _mm_unpackhi_epi64(a, b));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{NdArray, raw::view, testing::Dice, typed::typed},
        *,
    };
    use ndarray::{ArrayD, ArrayViewD, IxDyn, Slice};

    fn check<T: Element>(x: ArrayViewD<'_, T>) {
        let raw = View { start: x.as_ptr().cast(), dtype: T::DTYPE, shape: x.shape(), strides: x.strides() };
        let copied: NdArray<T> = typed(to_raw("copy", raw)).unwrap();
        assert!(copied.is_standard_layout());
        assert_eq!(copied, x, "{:?} {:?}", x.shape(), x.strides());
    }

    #[test]
    fn any_layout_packs_to_c_order() {
        let mut dice = Dice(1);
        for _ in 0..400 {
            check(dice.layout::<u8>(9).view());
            check(dice.layout::<i16>(9).view());
            check(dice.layout::<f32>(9).view());
            check(dice.layout::<i64>(9).view());
            check(dice.layout::<crate::Complex<f32>>(9).view());
            check(dice.layout::<crate::Complex<f64>>(9).view());
        }
    }

    #[test]
    fn packing_copies_only_odd_layouts() {
        let a = ArrayD::from_shape_vec(IxDyn(&[2, 3]), (0..6).collect::<Vec<i32>>()).unwrap().into_shared();
        assert!(matches!(pack("sum", view(&a)).unwrap(), Packed::Borrowed(_)));
        let t = a.clone().reversed_axes();
        let packed = pack("sum", view(&t)).unwrap();
        assert!(matches!(packed, Packed::Owned(_)));
        // SAFETY: the array has six elements of this dtype.
        assert_eq!(unsafe { packed.slice::<i32>(6) }, [0, 3, 1, 4, 2, 5]);
    }

    #[test]
    fn large_transposes_and_repeats_on_several_threads() {
        let a = ArrayD::from_shape_fn(IxDyn(&[517, 3, 259]), |i| (i[0] * 1000 + i[1] * 300 + i[2]) as f32);
        for order in [[0, 1, 2], [2, 1, 0], [0, 2, 1], [1, 0, 2], [2, 0, 1], [1, 2, 0]] {
            check(a.view().permuted_axes(IxDyn(&order)));
        }
        check(a.view().broadcast(IxDyn(&[2, 517, 3, 259])).unwrap());
        check(a.slice_axis(ndarray::Axis(2), Slice::new(0, Some(1), 1)).broadcast(IxDyn(&[517, 3, 300])).unwrap());
    }

    #[test]
    fn placing_leaves_the_rest_alone() {
        let x = ArrayD::from_shape_vec(IxDyn(&[2, 3]), vec![1, 2, 3, 4, 5, 6]).unwrap();
        let x = x.into_shared();
        let placed = |start, strides: &[isize]| -> Vec<i32> {
            let mut out = Buffer::zeroed("test", 14, DType::Int32).unwrap();
            place(&mut out, start, strides, view(&x));
            // SAFETY: every element is a zero or was written by `place`.
            unsafe { out.into_vec() }
        };
        assert_eq!(placed(1, &[6, 2]), [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 0]);
        assert_eq!(placed(13, &[-1, -4]), [0, 0, 0, 0, 6, 3, 0, 0, 5, 2, 0, 0, 4, 1]);
    }

    #[test]
    #[should_panic(expected = "the part lies in the result")]
    fn placing_outside_is_refused() {
        let x = ArrayD::from_elem(IxDyn(&[2, 3]), 1_u8).into_shared();
        place(&mut Buffer::zeroed("test", 5, DType::UInt8).unwrap(), 0, &[3, 1], view(&x));
    }
}
