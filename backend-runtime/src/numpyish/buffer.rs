//! Memory for results, and loops over it on several threads: what every other file of this backend builds on.
//!
//! A large result is mostly the price of its page faults, so every buffer comes from [`vec()`], which asks for huge pages.

use super::{NdArray, copy};
use crate::{Element, Error, Result, shape};
use ndarray::{Array, IxDyn};
use rayon::prelude::*;
use std::{borrow::Cow, mem::MaybeUninit, ops::Range, time::Instant};

/// Elements per task of loops that do little per element: below twice this many, one thread is faster.
pub const CHEAP: usize = 1 << 16;

/// Elements per task of loops that take many instructions per element: `exp`, sorting, random numbers.
pub const COSTLY: usize = 1 << 12;

/// An empty vector with room for exactly `n` elements.
pub fn vec<T>(op: &'static str, n: usize) -> Result<Vec<T>> {
    let mut v: Vec<T> = Vec::new();
    if v.try_reserve_exact(n).is_err() {
        return Err(no_memory(op, n.saturating_mul(size_of::<T>())));
    }
    advise(v.as_mut_ptr().cast(), n * size_of::<T>());
    Ok(v)
}

/// `n` elements written by `fill`.
///
/// # Safety
/// `fill` writes every element.
#[inline]
pub unsafe fn filled<T: Element>(
    op: &'static str,
    n: usize,
    fill: impl FnOnce(&mut [MaybeUninit<T>]),
) -> Result<Vec<T>> {
    let mut v = vec(op, n)?;
    fill(&mut v.spare_capacity_mut()[..n]);
    // SAFETY: the capacity is at least `n`, and the caller's `fill` wrote them all.
    unsafe { v.set_len(n) };
    Ok(v)
}

/// An array of this shape in C order, written by `fill`.
///
/// # Safety
/// `fill` writes every element.
#[inline]
pub unsafe fn build<T: Element>(
    op: &'static str,
    shape: &[usize],
    fill: impl FnOnce(&mut [MaybeUninit<T>]),
) -> Result<NdArray<T>> {
    let n = shape::count(op, shape, size_of::<T>())?;
    // SAFETY: the caller promises what `filled` asks for; the vector has as many elements as the shape.
    unsafe {
        let v = filled(op, n, fill)?;
        Ok(Array::from_shape_vec_unchecked(IxDyn(shape), v).into_shared())
    }
}

/// An array of this shape, in C order, of a vector's elements.
pub fn array<T: Element>(op: &'static str, shape: &[usize], v: Vec<T>) -> Result<NdArray<T>> {
    if shape::count(op, shape, size_of::<T>())? != v.len() {
        return Err(Error::shape(op, shape, format!("is not the shape of {} elements", v.len())));
    }
    // SAFETY: the shape has as many elements as the vector, and they fit `isize`.
    Ok(unsafe { Array::from_shape_vec_unchecked(IxDyn(shape), v) }.into_shared())
}

/// `n` zero elements, from pages that the system zeroes when they are first used.
pub fn zeroed<T: Element>(op: &'static str, n: usize) -> Result<Vec<T>> {
    let refused = || no_memory(op, n.saturating_mul(size_of::<T>()));
    let layout = std::alloc::Layout::array::<T>(n).map_err(|_| refused())?;
    if n == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the layout is not empty, and is that of a vector of `n` elements. Zero bytes are a value of every dtype.
    unsafe {
        let start = std::alloc::alloc_zeroed(layout);
        if start.is_null() {
            return Err(refused());
        }
        advise(start, layout.size());
        Ok(Vec::from_raw_parts(start.cast(), n, n))
    }
}

/// The elements in C order: borrowed where that is how they lie in memory, else copied.
#[inline]
pub fn packed<'a, T: Element>(op: &'static str, x: &'a NdArray<T>) -> Result<Cow<'a, [T]>> {
    match x.as_slice() {
        Some(slice) => Ok(Cow::Borrowed(slice)),
        None => Ok(Cow::Owned(copy::to_vec(op, x.view())?)),
    }
}

/// As [`packed`], always a copy.
pub fn owned<T: Element>(op: &'static str, x: &NdArray<T>) -> Result<Vec<T>> {
    match packed(op, x)? {
        Cow::Borrowed(slice) => copied(op, slice),
        Cow::Owned(elements) => Ok(elements),
    }
}

/// The elements of a slice in a vector of their own.
pub fn copied<T: Element>(op: &'static str, x: &[T]) -> Result<Vec<T>> {
    // SAFETY: the copy writes as many elements as the vector has.
    unsafe { filled(op, x.len(), |out| copy::slices(x, out)) }
}

/// `n` times the same value.
pub fn repeated<T: Clone>(op: &'static str, n: usize, value: T) -> Result<Vec<T>> {
    let mut v = vec(op, n)?;
    v.resize(n, value);
    Ok(v)
}

/// Refuses to go on where a library is about to allocate up to `bytes` bytes by itself: libraries end the process where
/// memory is refused to them. The memory is asked for and given back at once.
pub fn room(op: &'static str, bytes: usize) -> Result<()> {
    Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| no_memory(op, bytes))
}

/// Runs `f` on parts of `0..n`, on several threads where there are two times `grain` or more.
#[inline]
pub fn parallel(n: usize, grain: usize, f: impl Fn(Range<usize>) + Sync) {
    if n / 2 < grain.max(1) { f(0..n) } else { split(0..n, grain.max(1), &f) }
}

/// As [`parallel`], for loops whose cost is not known: the first part is timed. Every index stands for `unit` elements.
#[inline]
pub fn parallel_timed(n: usize, unit: usize, f: impl Fn(Range<usize>) + Sync) {
    if n.saturating_mul(unit) < 4 * PROBE { f(0..n) } else { probe(n, unit.max(1), &f) }
}

/// Writes parts of `out` on several threads: `f` gets the first index of a part, and the part. A part begins at a
/// multiple of `unit` elements (a row), and has about `grain` elements or more.
#[inline]
pub fn chunks<T: Send>(out: &mut [T], unit: usize, grain: usize, f: impl Fn(usize, &mut [T]) + Sync) {
    let (n, unit) = (out.len(), unit.max(1));
    if n == 0 {
        return;
    }
    let shared = Shared::new(out);
    parallel(n.div_ceil(unit), (grain / unit).max(1), |r| {
        let part = r.start * unit..(r.end * unit).min(n);
        // SAFETY: parts of different tasks do not overlap, and all lie in `out`.
        f(part.start, unsafe { shared.part(part.clone()) });
    });
}

/// A slice that several threads write to, each its own elements.
#[derive(Clone, Copy)]
pub struct Shared<T> {
    start: *mut T,
    len: usize,
}

// SAFETY: it only hands out what its unsafe methods' callers promise to be disjoint.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The slice, to be written in parts. It must not be used before the last part is gone.
    pub fn new(out: &mut [T]) -> Shared<T> {
        Shared { start: out.as_mut_ptr(), len: out.len() }
    }

    /// A part of the slice.
    ///
    /// # Safety
    /// The slice that this was made from is alive, and no other part in use at the same time overlaps this one.
    #[allow(clippy::mut_from_ref)] // that is the point: the caller keeps parts apart
    pub unsafe fn part(&self, range: Range<usize>) -> &mut [T] {
        assert!(range.start <= range.end && range.end <= self.len, "a part lies in its slice");
        // SAFETY: in bounds by the check above; alive and disjoint as the caller promises.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(range.start), range.end - range.start) }
    }

    /// Where the slice begins, for loops that write no whole parts of it.
    pub fn as_ptr(&self) -> *mut T {
        self.start
    }
}

/// How many elements [`parallel_timed`] times.
const PROBE: usize = 1 << 12;

/// Handing a task to another thread takes about 5 microseconds; a task should take several times that.
const TASK_NANOSECONDS: u128 = 20_000;

#[inline(never)]
fn probe(n: usize, unit: usize, f: &(dyn Fn(Range<usize>) + Sync)) {
    let probed = PROBE.div_ceil(unit).min(n);
    let start = Instant::now();
    f(0..probed);
    let nanoseconds = start.elapsed().as_nanos().max(1);
    // no task is larger than a cheap one, whatever a coarse clock says
    let most = (CHEAP / unit).max(1);
    let grain = usize::try_from(TASK_NANOSECONDS * probed as u128 / nanoseconds).unwrap_or(most).clamp(1, most);
    if n - probed < 2 * grain { f(probed..n) } else { split(probed..n, grain, f) }
}

/// Takes a `dyn` closure so that the thread pool's code is compiled once, not once per op and dtype.
#[inline(never)]
fn split(range: Range<usize>, grain: usize, f: &(dyn Fn(Range<usize>) + Sync)) {
    let threads = rayon::current_num_threads();
    if threads == 1 {
        return f(range);
    }
    let n = range.end - range.start;
    // a few tasks per thread, so that a thread that is slowed down does not hold up the rest
    let size = n.div_ceil(threads * 4).max(grain);
    (0..n.div_ceil(size)).into_par_iter().for_each(|i| {
        let start = range.start + i * size;
        f(start..range.end.min(start + size));
    });
}

#[cold]
#[inline(never)]
fn no_memory(op: &'static str, bytes: usize) -> Error {
    Error::Memory { op, bytes }
}

/// Buffers of this many bytes ask for huge pages: a page fault per 2 MiB in place of one per 4 KiB.
const HUGE: usize = 1 << 20;

/// Asks the system to back a new buffer with huge pages. Only advice: a refusal changes nothing.
#[inline]
fn advise(start: *mut u8, bytes: usize) {
    if bytes >= HUGE {
        advise_huge(start, bytes);
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
fn advise_huge(start: *mut u8, bytes: usize) {
    const PAGE: usize = 4096;
    let skipped = start.align_offset(PAGE);
    if skipped < bytes {
        // SAFETY: the range lies in an allocation of ours, and this advice leaves contents as they are.
        unsafe { libc::madvise(start.add(skipped).cast(), bytes - skipped, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise_huge(_: *mut u8, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::ArrayD;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn sizes_that_no_memory_holds_are_errors() {
        let memory = |r: Result<NdArray<f64>>| matches!(r, Err(Error::Memory { op: "zeros", .. }));
        assert!(vec::<f64>("zeros", usize::MAX).is_err());
        assert!(vec::<f64>("zeros", (isize::MAX / 8) as usize).is_err());
        assert!(zeroed::<f64>("zeros", usize::MAX).is_err());
        assert!(zeroed::<f64>("zeros", (isize::MAX / 8) as usize).is_err());
        // SAFETY: the closure is not reached.
        assert!(memory(unsafe { build("zeros", &[usize::MAX, 2], |_| unreachable!()) }));
        // SAFETY: the closure is not reached.
        assert!(memory(unsafe { build("zeros", &[0, usize::MAX, 2], |_| unreachable!()) }));
        assert!(array("reshape", &[3], std::vec![1, 2]).is_err());
        assert_eq!(array("reshape", &[2, 1], std::vec![1, 2]).unwrap().shape(), [2, 1]);
    }

    #[test]
    fn large_buffers_hold_what_is_written() {
        let n = (HUGE / 8) * 3 + 5;
        assert!(zeroed::<f64>("zeros", n).unwrap().iter().all(|&x| x == 0.0));
        // SAFETY: the closure writes every element.
        let a: NdArray<u64> =
            unsafe { build("arange", &[n], |out| out.iter_mut().enumerate().for_each(|(i, o)| _ = o.write(i as u64))) }
                .unwrap();
        assert!(a.iter().enumerate().all(|(i, &x)| x == i as u64));
        assert_eq!(zeroed::<bool>("zeros", 0).unwrap(), []);
    }

    #[test]
    fn every_index_runs_once_on_any_number_of_threads() {
        for (n, grain) in [(0, 1), (1, 1), (7, 2), (1000, 1), (1000, 333), (100_000, CHEAP), (10, 0)] {
            let hits: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
            let hit = |r: Range<usize>| r.for_each(|i| _ = hits[i].fetch_add(1, Ordering::Relaxed));
            parallel(n, grain, hit);
            parallel_timed(n, grain % 7, hit);
            assert!(hits.iter().all(|h| h.load(Ordering::Relaxed) == 2), "{n} {grain}");
        }
    }

    #[test]
    fn nothing_is_no_part() {
        chunks(&mut [0_u8; 0], 1, 1, |_, _| panic!("there is nothing to write"));
    }

    #[test]
    fn chunks_begin_at_rows_and_cover_the_slice() {
        for (n, unit, grain) in [(0, 3, 1), (10, 3, 1), (1000, 7, 10), (1000, 1, 5000), (5, 0, 0)] {
            let mut out = std::vec![0; n];
            chunks(&mut out, unit, grain, |start, part| {
                assert_eq!(start % unit.max(1), 0);
                part.iter_mut().enumerate().for_each(|(i, o)| *o += start + i + 1);
            });
            assert!(out.iter().enumerate().all(|(i, &o)| o == i + 1));
        }
    }

    #[test]
    fn packing_copies_only_odd_layouts() {
        let a = ArrayD::from_shape_vec(IxDyn(&[2, 3]), (0..6).collect::<Vec<i32>>()).unwrap().into_shared();
        assert!(matches!(packed("sum", &a).unwrap(), Cow::Borrowed(_)));
        let t = a.t().to_shared();
        let view = a.clone().reversed_axes();
        assert_eq!(packed("sum", &view).unwrap()[..], [0, 3, 1, 4, 2, 5]);
        assert_eq!(t, view);
    }
}
