//! Indices outside of their axis, which kernels meet: the first is noted on the device, and is the error of the next call that
//! waits for the device anyway. No op waits in order to look.
//!
//! A thread has its own note, so that it does not get the errors of others. Memory knows the thread that it was allocated by: whoever
//! takes up an array of another thread waits for the notes that are due there, so that what came of an index outside is not taken
//! for right.

use super::{device::Device, error::Checked};
use crate::{Earlier, Error, Result, rules};
use cudarc::driver::{result, sys};
use std::{
    cell::RefCell,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
};

/// The kernels' `Outside`: an index that is outside of its axis.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Outside {
    /// The op's number in [`OPS`], and one more; 0 if there is none.
    op: u64,
    index: i64,
    /// Or [`POINTERS`].
    axis: u64,
    len: u64,
}

/// In place of an axis: it is no index, but pointers of a sparse matrix do not ascend from 0 to `len`.
const POINTERS: u64 = u64::MAX;

/// The ops that have looked at indices.
static OPS: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

fn ops() -> MutexGuard<'static, Vec<&'static str>> {
    OPS.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The number of an op, from 1 on.
fn number_of(op: &'static str) -> u64 {
    let mut ops = ops();
    let place = ops.iter().position(|known| *known == op).unwrap_or_else(|| {
        ops.push(op);
        ops.len() - 1
    });
    place as u64 + 1
}

impl Outside {
    /// What a kernel notes, but for the index.
    pub(super) fn index(op: &'static str, axis: usize, len: usize) -> Outside {
        Outside { op: number_of(op), index: 0, axis: axis as u64, len: len as u64 }
    }

    /// The same for pointers of a matrix with so many elements.
    pub(super) fn pointers(op: &'static str, stored: usize) -> Outside {
        Outside { op: number_of(op), index: 0, axis: POINTERS, len: stored as u64 }
    }

    fn error(self) -> Option<Error> {
        let op = ops().get((self.op as usize).checked_sub(1)?).copied()?;
        let (axis, len) = (self.axis as usize, self.len as usize);
        if self.axis == POINTERS {
            return Some(rules::bad_pointers(op, len));
        }
        Some(Error::Index { op, index: self.index.into(), axis, len, earlier: Earlier(true) })
    }
}

/// What the ops of one thread note of indices on a device.
#[derive(Debug)]
pub(crate) struct Notes {
    device: Arc<Device>,
    /// Address of an [`Outside`] on the device, and how large its block is, once an op has looked at indices; else 0.
    place: Mutex<(sys::CUdeviceptr, usize)>,
    /// Whether there may be something that no one has looked at.
    due: AtomicBool,
}

thread_local! {
    /// The notes of this thread, one for each device.
    static NOTES: RefCell<Vec<Arc<Notes>>> = const { RefCell::new(Vec::new()) };
}

impl Notes {
    fn new(device: &Arc<Device>) -> Arc<Notes> {
        Arc::new(Notes { device: device.clone(), place: Mutex::default(), due: AtomicBool::new(false) })
    }

    /// Those of the thread that asks.
    pub(crate) fn of_this_thread(device: &Arc<Device>) -> Arc<Notes> {
        let found = NOTES.try_with(|notes| {
            let mut notes = notes.borrow_mut();
            if let Some(found) = notes.iter().find(|notes| Arc::ptr_eq(&notes.device, device)) {
                return found.clone();
            }
            notes.push(Notes::new(device));
            notes[notes.len() - 1].clone()
        });
        // a thread that ends has no place for them any more
        found.unwrap_or_else(|_| Notes::new(device))
    }

    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Whether something may have been noted that no one has looked at.
    pub(crate) fn are_due(&self) -> bool {
        self.due.load(Ordering::Acquire)
    }

    fn place(&self) -> MutexGuard<'_, (sys::CUdeviceptr, usize)> {
        self.place.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Lets `launch` put a kernel on the stream that notes an index: it gets the address of the note, and what to note.
    pub(super) fn note(
        &self,
        op: &'static str,
        outside: Outside,
        launch: impl FnOnce(sys::CUdeviceptr, [u64; 4]) -> Result<()>,
    ) -> Result<()> {
        let mut place = self.place();
        if place.0 == 0 {
            let (new, size) = self.device.block(op, size_of::<Outside>())?;
            // SAFETY: the block has room for one.
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
    /// There is room for an [`Outside`].
    unsafe fn clear(&self, op: &'static str, place: sys::CUdeviceptr) -> Result<()> {
        self.device.bind(op)?;
        // SAFETY: the caller's promise.
        unsafe { result::memset_d8_async(place, 0, size_of::<Outside>(), self.device.stream()) }.checked(op)
    }

    /// Waits for the device.
    ///
    /// # Errors
    /// The first index outside that was noted since the last call; it is said once.
    pub(crate) fn wait(&self, op: &'static str) -> Result<()> {
        if !self.are_due() {
            return self.device.synchronize(op);
        }
        let place = self.place();
        self.device.bind(op)?;
        let mut outside = Outside::default();
        // SAFETY: notes that are due have a place on the device, with an `Outside`, and so has the host; the stream is waited for
        // before it is looked at, or goes.
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
                // SAFETY: as above.
                unsafe { self.clear(op, place.0)? };
                Err(error)
            }
        }
    }

    /// As [`Notes::wait`], where something may have been noted; else nothing is done.
    pub(crate) fn wait_if_due(&self, op: &'static str) -> Result<()> {
        if self.are_due() { self.wait(op) } else { Ok(()) }
    }

    /// The same, for notes of another thread than the one that asks.
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
