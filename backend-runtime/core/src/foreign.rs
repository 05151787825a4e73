//! ndarrays over foreign memory, which another library allocated. The elements are not copied.
//!
//! An ndarray frees its memory like a vector, and notifies nobody. For an ndarray over foreign memory, this module
//! therefore stores a second handle. Because of the stored handle, the user's handle is never the only handle, so
//! nothing writes to the memory or frees it. When the stored handle is the last handle, the memory is taken out of it
//! and returned to its owner. Nothing signals this moment, so the stored handles must be searched: from time to time by
//! functions that import foreign memory or allocate large results, and at once by [`release_unused`].
//!
//! The standard library does not guarantee that a vector may be made from foreign memory. The vector is never resized
//! and never dropped, so the allocator never sees it.

use crate::Element;
use ndarray::{ArcArray, Array, Axis, IxDyn, ShapeBuilder};
use std::{
    any::Any,
    mem,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

/// The owner of foreign memory. It determines which calls may return the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A library that this crate calls, such as libtorch. It frees the memory like the memory of its own arrays.
    Library,
    /// Another library. Its code may wait for a lock that the caller holds, such as Python's lock. The memory is
    /// therefore returned only in calls that exchange arrays.
    Foreign,
}

/// The stored handle of an array over foreign memory, of any dtype.
trait Kept: Send {
    /// Returns whether all other handles are gone.
    fn is_last(&self) -> bool;

    /// Takes the memory out of the array, which must have no other handle. Returns the memory's owner.
    fn end(self: Box<Self>) -> Box<dyn Any + Send>;
}

struct Entry<T> {
    array: ArcArray<T, IxDyn>,
    owner: Box<dyn Any + Send>,
}

impl<T: Element> Kept for Entry<T> {
    fn is_last(&self) -> bool {
        self.array.is_unique()
    }

    fn end(self: Box<Self>) -> Box<dyn Any + Send> {
        match self.array.try_into_owned_nocopy() {
            Ok(only) => mem::forget(only.into_raw_vec_and_offset()),
            // this was the only handle, so nobody can have cloned it in the meantime; if it was cloned nevertheless,
            // the memory is never freed
            Err(shared) => {
                mem::forget(shared);
                mem::forget(self.owner);
                return Box::new(());
            }
        }
        self.owner
    }
}

struct Registry {
    kept: Mutex<Vec<Box<dyn Kept>>>,
    /// Number of stored handles.
    count: AtomicUsize,
    /// Number of calls until the next search. Each search sets it to the number of stored handles, so that the average
    /// cost per call stays constant.
    due: AtomicUsize,
}

impl Registry {
    const fn new() -> Registry {
        Registry { kept: Mutex::new(Vec::new()), count: AtomicUsize::new(0), due: AtomicUsize::new(0) }
    }

    fn keep(&self, entry: Box<dyn Kept>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(entry);
        self.count.store(kept.len(), Ordering::Relaxed);
    }

    /// Searches for unused memory if a search is due. Does nothing if another thread is searching.
    #[cold]
    fn release_some(&self) {
        let due = self.due.fetch_sub(1, Ordering::Relaxed);
        // the counter may have wrapped below 0 while another thread was searching
        if (due == 0 || due > isize::MAX as usize)
            && let Ok(kept) = self.kept.try_lock()
        {
            self.release(kept);
        }
    }

    /// Returns unused memory to its owners. The result is true if there was unused memory.
    fn release(&self, mut kept: MutexGuard<'_, Vec<Box<dyn Kept>>>) -> bool {
        let ended: Vec<Box<dyn Kept>> = kept.extract_if(.., |entry| entry.is_last()).collect();
        self.count.store(kept.len(), Ordering::Relaxed);
        self.due.store(kept.len(), Ordering::Relaxed);
        // the lock is released first, because the code of an owner may import foreign memory into this crate, or wait
        // for another lock
        drop(kept);
        let some = !ended.is_empty();
        ended.into_iter().for_each(|entry| drop(entry.end()));
        some
    }

    fn release_all(&self) -> bool {
        self.release(self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

static LIBRARY: Registry = Registry::new();
static FOREIGN: Registry = Registry::new();

impl Owner {
    fn registry(self) -> &'static Registry {
        match self {
            Owner::Library => &LIBRARY,
            Owner::Foreign => &FOREIGN,
        }
    }
}

/// Makes an ndarray over foreign memory. Its last handle must be passed to [`Kept::end`] and must not be dropped.
///
/// # Safety
/// The memory has elements of type `T` with this shape and these strides, beginning at `first`. The elements are
/// aligned, do not share addresses, and are not written to while a handle exists.
unsafe fn over<T: Element>(first: *const T, shape: &[usize], strides: &[isize]) -> ArcArray<T, IxDyn> {
    let axes = || shape.iter().zip(strides).map(|(&len, &stride)| if len > 1 { (len, stride) } else { (len, 1) });
    let reach = |(len, stride): (usize, isize)| (len - 1) * stride.unsigned_abs();
    let back: usize = axes().filter(|(_, stride)| *stride < 0).map(reach).sum();
    let span = 1 + axes().map(reach).sum::<usize>();
    let steps: Vec<usize> = axes().map(|(_, stride)| stride.unsigned_abs()).collect();
    // SAFETY: the caller guarantees that every element is valid, and the gaps between elements are not read. The vector
    // is taken out of the array before the array could free it. Until then nobody changes the vector, because a second
    // handle exists.
    let mut all = unsafe {
        let lowest = first.sub(back).cast_mut();
        let elements = Vec::from_raw_parts(lowest, span, span);
        Array::from_shape_vec_unchecked(IxDyn(shape).strides(IxDyn(&steps)), elements)
    };
    axes().enumerate().filter(|(_, (_, stride))| *stride < 0).for_each(|(axis, _)| all.invert_axis(Axis(axis)));
    all.into_shared()
}

/// Makes an ndarray over memory that lives as long as `owner`. The returned handle is never the only handle.
///
/// # Safety
/// The conditions of `over` hold until the owner is dropped, which may happen on any thread.
pub unsafe fn array<T: Element>(
    first: *const T,
    shape: &[usize],
    strides: &[isize],
    owner: Box<dyn Any + Send>,
    of: Owner,
) -> ArcArray<T, IxDyn> {
    // every import also releases memory that is no longer used
    release_some(of);
    // SAFETY: the caller guarantees the conditions of `over`. The stored handle is the last handle, and is passed to
    // `Kept::end`.
    let array = unsafe { over(first, shape, strides) };
    of.registry().keep(Box::new(Entry { array: array.clone(), owner }));
    array
}

/// Searches for unused foreign memory from time to time, and returns it. Functions that allocate memory call this.
#[inline]
pub fn release_some(of: Owner) {
    let registry = of.registry();
    if registry.count.load(Ordering::Relaxed) > 0 {
        registry.release_some();
    }
}

/// Returns foreign memory that no array uses any more to the libraries that own it. This also happens from time to time
/// when arrays are exchanged.
///
/// When the last CPU array over a DLPack tensor is dropped, the tensor's memory is not returned immediately, but by
/// this call or by a later exchange.
pub fn release_unused() {
    // returning the memory of one array may make other memory unused
    while LIBRARY.release_all() | FOREIGN.release_all() {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Held by each test that uses the shared registry, because a test returns memory that other tests dropped.
    static LOCK: Mutex<()> = Mutex::new(());

    /// Returns whether the memory is returned to its owner. The function tries many times, because a test of another
    /// module may be returning the memory at the same time.
    fn goes_back(owner: &Arc<()>) -> bool {
        (0..1_000_000).any(|_| {
            release_unused();
            std::thread::yield_now();
            Arc::strong_count(owner) == 1
        })
    }

    /// Returns the numbers 0 to n - 1 as foreign memory, and an `Arc` that counts the owners of this memory.
    fn foreign(n: usize) -> (Box<[u64]>, Arc<()>) {
        ((0..n as u64).collect(), Arc::new(()))
    }

    #[test]
    fn memory_goes_back_once_and_after_the_last_array() {
        let _alone = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut memory, owner) = foreign(24);
        let first = memory.as_mut_ptr().cast_const();
        // SAFETY: the memory outlives the arrays, because the test ends after the owner is released.
        let x = unsafe { array(first, &[4, 6], &[6, 1], Box::new(owner.clone()), Owner::Foreign) };
        assert_eq!((x.as_ptr(), x.is_unique(), x[[1, 2]]), (first, false, 8));
        release_unused();
        assert_eq!(Arc::strong_count(&owner), 2, "the array is there");
        let part = x.clone().slice_move(ndarray::s![2.., ..;2]).into_dyn();
        let mut changed = x.clone();
        changed[[0, 0]] = 7;
        assert!(changed.as_ptr() != first && x[[0, 0]] == 0, "nobody writes to it");
        let owned = x.into_owned();
        assert!(owned.as_ptr() != first && owned.sum() == 276);
        release_unused();
        assert_eq!((Arc::strong_count(&owner), part[[0, 1]]), (2, 14), "a view is there");
        drop(part);
        assert!(goes_back(&owner));
        release_unused();
        assert_eq!((Arc::strong_count(&owner), memory[23]), (1, 23));
    }

    #[test]
    fn nobody_has_to_ask_for_what_was_dropped() {
        let _alone = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        let (memory, owner) = foreign(1);
        for of in [Owner::Foreign, Owner::Library] {
            for _ in 0..100 {
                // SAFETY: the memory outlives the array, and the array has one element.
                drop(unsafe { array(memory.as_ptr(), &[1], &[1], Box::new(owner.clone()), of) });
                // memory is returned only from time to time, and possibly by another test, so some owners may still
                // exist
                assert!(Arc::strong_count(&owner) < 50, "{}", Arc::strong_count(&owner));
            }
        }
        assert!(goes_back(&owner));
    }

    #[test]
    fn any_strides() {
        let _alone = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        let (memory, owner) = foreign(24);
        let of = |at: usize, shape: &[usize], strides: &[isize]| {
            // SAFETY: the memory outlives the arrays, and every index is within the memory.
            unsafe { array(memory.as_ptr().wrapping_add(at), shape, strides, Box::new(owner.clone()), Owner::Foreign) }
        };
        let all = Array::from_iter(0..24_u64).into_shape_with_order((4, 6)).unwrap();
        assert_eq!(of(0, &[4, 6], &[6, 1]), all.view().into_dyn());
        assert_eq!(of(0, &[6, 4], &[1, 6]), all.t().into_dyn());
        assert_eq!(of(23, &[4, 6], &[-6, -1]), all.slice(ndarray::s![..;-1, ..;-1]).into_dyn());
        assert_eq!(of(5, &[2, 3], &[12, -2]), all.slice(ndarray::s![..;2, ..;-2]).into_dyn());
        assert_eq!(of(9, &[1, 2, 1], &[-99, 6, isize::MIN]), ndarray::arr3(&[[[9_u64], [15]]]).into_dyn());
        assert_eq!(of(3, &[], &[]), ndarray::arr0(3).into_dyn());
        assert!(goes_back(&owner));
    }

    #[test]
    fn what_is_held_costs_no_call_more_than_the_rest() {
        let (memory, owner) = foreign(4);
        let registry = Registry::new();
        let keep = |at: usize| {
            // SAFETY: the memory outlives the arrays, and each array has one element.
            let array = unsafe { over(memory.as_ptr().wrapping_add(at), &[1], &[1]) };
            registry.keep(Box::new(Entry { array: array.clone(), owner: Box::new(owner.clone()) }));
            array
        };
        let state = || {
            let of = |number: &AtomicUsize| number.load(Ordering::Relaxed);
            (Arc::strong_count(&owner), of(&registry.count), of(&registry.due))
        };
        let held = [keep(0), keep(1)];
        drop(keep(2));
        assert_eq!(state(), (4, 3, 0));
        registry.release_some();
        assert_eq!(state(), (3, 2, 2), "one was the last of its memory");
        drop(keep(3));
        registry.release_some();
        registry.release_some();
        assert_eq!(state(), (4, 3, 0), "nobody has looked");
        registry.release_some();
        assert_eq!(state(), (3, 2, 2));
        drop(held);
        assert!(registry.release_all() && !registry.release_all());
        assert_eq!(state(), (1, 0, 0));
    }
}
