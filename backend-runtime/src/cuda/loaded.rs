//! The kernels that a device has loaded.

use super::program::Instance;
use crate::threads;
use cudarc::driver::{CudaContext, CudaStream, result, sys};
use std::{
    collections::HashMap,
    mem,
    sync::{Arc, RwLock},
};

/// A kernel loaded on a device; it stays loaded as long as there is a handle of it.
#[derive(Clone, Debug)]
pub(crate) struct Kernel(Arc<Loaded>);

/// A kernel and its module, which is unloaded when this is dropped.
#[derive(Debug)]
struct Loaded {
    function: sys::CUfunction,
    module: sys::CUmodule,
    context: Arc<CudaContext>,
    /// All launches are on it.
    stream: Arc<CudaStream>,
}

// SAFETY: handles of a module that is unloaded by its last owner; the driver's functions that take them are thread-safe.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}

impl Kernel {
    /// A kernel of a module that has no other owner.
    pub(super) fn new(
        function: sys::CUfunction,
        module: sys::CUmodule,
        (context, stream): (Arc<CudaContext>, Arc<CudaStream>),
    ) -> Kernel {
        Kernel(Arc::new(Loaded { function, module, context, stream }))
    }

    /// The driver's handle, for calls that are made while this is alive.
    #[inline]
    pub(super) fn function(&self) -> sys::CUfunction {
        self.0.function
    }
}

impl Drop for Loaded {
    /// `drop` cannot return an error; the next call on the device reports it.
    fn drop(&mut self) {
        // what a forked process has of the device belongs to its parent
        if threads::refuse_forked("cuda").is_err() || self.context.bind_to_thread().is_err() {
            return;
        }
        // SAFETY: the stream is alive; nobody launches the kernel any more, and what was launched has run when the stream was
        // waited for. Where the wait fails, so has the context, and with it everything on it.
        unsafe {
            if result::stream::synchronize(self.stream.cu_stream()).is_ok() {
                let _ = result::module::unload(self.module);
            }
        }
    }
}

/// Key of a kernel: name and variant of its program, and the instance.
pub(super) type Key = (&'static str, &'static str, Instance);

/// The kernels that a device has loaded.
#[derive(Debug, Default)]
pub(super) struct Kernels(RwLock<HashMap<Key, Kernel>>);

impl Kernels {
    /// The kernel, if it is loaded.
    pub(super) fn get(&self, key: &Key) -> Option<Kernel> {
        self.0.read().unwrap_or_else(|poisoned| poisoned.into_inner()).get(key).cloned()
    }

    /// Keeps a kernel.
    pub(super) fn insert(&self, key: Key, kernel: Kernel) {
        let replaced = self.0.write().unwrap_or_else(|poisoned| poisoned.into_inner()).insert(key, kernel);
        // that of another thread which loaded it at the same time is unloaded after the lock
        drop(replaced);
    }

    /// Unloads the kernels, those in use as soon as they are not.
    pub(super) fn forget(&self) {
        let kernels = mem::take(&mut *self.0.write().unwrap_or_else(|poisoned| poisoned.into_inner()));
        drop(kernels);
    }
}
