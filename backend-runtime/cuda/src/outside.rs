//! Out-of-range indices that kernels find. The kernel notes the first such index on the device, and the next call that
//! waits for the device anyway returns an error. No op waits only to check indices.
//!
//! Each thread has its own note, so that it does not get the errors of other threads. Every block of memory refers to
//! the note of the thread that allocated it. Before a thread uses an array of another thread, it waits for the device,
//! and reports the error in the other thread's note. Otherwise, it could mistake the result of an out-of-range index
//! for a correct one.

use super::{device::Device, error::Checked};
use backend_core::{Error, Result, rules};
use cudarc::driver::{result, sys};
use std::{
    cell::RefCell,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
};

/// Counterpart of the C++ struct `Outside` in the kernels: a note of an out-of-range index.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Outside {
    /// The position of the op in [`OPS`], plus 1. It is 0 if no out-of-range index was noted.
    op: u64,
    index: i64,
    /// Axis to which the index belongs, or [`POINTERS`].
    axis: u64,
    len: u64,
}

/// The value of [`Outside::axis`] for another kind of error: the entries of `indptr` (the row starts of a sparse
/// matrix) do not ascend from 0 to `len`.
const POINTERS: u64 = u64::MAX;

/// The ops that check indices. An op is added on its first check.
static OPS: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

fn ops() -> MutexGuard<'static, Vec<&'static str>> {
    OPS.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The number of an op, starting from 1; assigned on first use.
fn number_of(op: &'static str) -> u64 {
    let mut ops = ops();
    let place = ops.iter().position(|known| *known == op).unwrap_or_else(|| {
        ops.push(op);
        ops.len() - 1
    });
    place as u64 + 1
}

impl Outside {
    /// An incomplete note of an out-of-range index; the kernel fills in the index.
    pub(super) fn index(op: &'static str, axis: usize, len: usize) -> Outside {
        Outside { op: number_of(op), index: 0, axis: axis as u64, len: len as u64 }
    }

    /// A note that entries of `indptr` are invalid, for a sparse matrix with `stored` elements.
    pub(super) fn pointers(op: &'static str, stored: usize) -> Outside {
        Outside { op: number_of(op), index: 0, axis: POINTERS, len: stored as u64 }
    }

    fn error(self) -> Option<Error> {
        let op = ops().get((self.op as usize).checked_sub(1)?).copied()?;
        let (axis, len) = (self.axis as usize, self.len as usize);
        if self.axis == POINTERS {
            return Some(rules::bad_pointers(op, len));
        }
        Some(Error::earlier_index(op, self.index, axis, len))
    }
}

/// The note of the out-of-range indices of one thread's ops on one device.
#[derive(Debug)]
pub(crate) struct Notes {
    device: Arc<Device>,
    /// Address of an [`Outside`] on the device, and size of its memory block. Both are 0 until an op checks indices.
    place: Mutex<(sys::CUdeviceptr, usize)>,
    /// Whether the device may hold an out-of-range index that has not been reported yet.
    due: AtomicBool,
}

thread_local! {
    /// The notes of this thread, one per device.
    static NOTES: RefCell<Vec<Arc<Notes>>> = const { RefCell::new(Vec::new()) };
}

impl Notes {
    fn new(device: &Arc<Device>) -> Arc<Notes> {
        Arc::new(Notes { device: device.clone(), place: Mutex::default(), due: AtomicBool::new(false) })
    }

    /// Returns the notes of the calling thread for a device.
    pub(crate) fn of_this_thread(device: &Arc<Device>) -> Arc<Notes> {
        let found = NOTES.try_with(|notes| {
            let mut notes = notes.borrow_mut();
            if let Some(found) = notes.iter().find(|notes| Arc::ptr_eq(&notes.device, device)) {
                return found.clone();
            }
            notes.push(Notes::new(device));
            notes[notes.len() - 1].clone()
        });
        // while a thread ends, its thread-local variable no longer exists, so each call makes new notes
        found.unwrap_or_else(|_| Notes::new(device))
    }

    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Returns whether the device may hold an out-of-range index that has not been reported yet.
    pub(crate) fn are_due(&self) -> bool {
        self.due.load(Ordering::Acquire)
    }

    fn place(&self) -> MutexGuard<'_, (sys::CUdeviceptr, usize)> {
        self.place.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Calls `launch`, which puts a kernel that checks indices on the stream. `launch` gets an address on the device
    /// and an incomplete note. If an index is out of range, the kernel completes the note and writes it to the address.
    pub(super) fn note(
        &self,
        op: &'static str,
        outside: Outside,
        launch: impl FnOnce(sys::CUdeviceptr, [u64; 4]) -> Result<()>,
    ) -> Result<()> {
        let mut place = self.place();
        if place.0 == 0 {
            let (new, size) = self.device.block(op, size_of::<Outside>())?;
            // SAFETY: the block has room for an `Outside`.
            if let Err(error) = unsafe { self.clear(op, new) } {
                self.device.free(new, size);
                return Err(error);
            }
            *place = (new, size);
        }
        let Outside { op, axis, len, .. } = outside;
        launch(place.0, [op, 0, axis, len])?;
        self.due.store(true, Ordering::Release);
        Ok(())
    }

    /// # Safety
    /// `place` has room for an [`Outside`].
    unsafe fn clear(&self, op: &'static str, place: sys::CUdeviceptr) -> Result<()> {
        self.device.bind(op)?;
        // SAFETY: the caller guarantees that `place` has room for an `Outside`.
        unsafe { result::memset_d8_async(place, 0, size_of::<Outside>(), self.device.stream()) }.checked(op)
    }

    /// Waits for the device.
    ///
    /// # Errors
    /// Returns an error for the first out-of-range index noted since the last call. Each is reported once.
    pub(crate) fn wait(&self, op: &'static str) -> Result<()> {
        if !self.are_due() {
            return self.device.synchronize(op);
        }
        let place = self.place();
        self.device.bind(op)?;
        let mut outside = Outside::default();
        // SAFETY: if notes are due, `place` is the address of an `Outside` on the device, and `outside` is one on the
        // host. The host waits for the stream before it reads or drops `outside`.
        let copied = unsafe {
            let to = (&raw mut outside).cast();
            sys::cuMemcpyDtoHAsync_v2(to, place.0, size_of::<Outside>(), self.device.stream()).result()
        };
        self.device.synchronize(op)?;
        copied.checked(op)?;
        self.due.store(false, Ordering::Release);
        match outside.error() {
            None => Ok(()),
            Some(error) => {
                // SAFETY: notes are due, so `place` is the address of an `Outside`.
                unsafe { self.clear(op, place.0)? };
                Err(error)
            }
        }
    }

    /// Calls [`Notes::wait`] if the device may hold an out-of-range index that has not been reported yet.
    pub(crate) fn wait_if_due(&self, op: &'static str) -> Result<()> {
        if self.are_due() { self.wait(op) } else { Ok(()) }
    }

    /// Like `wait_if_due`, but does nothing if the notes belong to the calling thread.
    pub(crate) fn wait_if_of_others(self: &Arc<Notes>, op: &'static str) -> Result<()> {
        if self.are_due() && !Arc::ptr_eq(self, &Notes::of_this_thread(&self.device)) { self.wait(op) } else { Ok(()) }
    }
}

impl Drop for Notes {
    fn drop(&mut self) {
        let (place, size) = *self.place();
        if place != 0 {
            self.device.free(place, size);
        }
    }
}
