//! The kernels loaded on a device.

use super::program::Instance;
use backend_core::threads;
use cudarc::driver::{CudaContext, CudaStream, result, sys};
use std::{
    collections::HashMap,
    mem,
    sync::{Arc, RwLock},
};

/// A handle of a kernel that is loaded on a device. The kernel stays loaded while a handle exists.
#[derive(Clone, Debug)]
pub(crate) struct Kernel(Arc<Loaded>);

/// A kernel and the driver's module that contains it. The module is unloaded on drop.
#[derive(Debug)]
struct Loaded {
    function: sys::CUfunction,
    module: sys::CUmodule,
    context: Arc<CudaContext>,
    /// The stream on which the kernel is launched.
    stream: Arc<CudaStream>,
}

// SAFETY: the fields are handles of a module that is unloaded only when the last handle is dropped; the driver
// functions that take them are thread-safe.
unsafe impl Send for Loaded {}
// SAFETY: the driver functions that take these handles are thread-safe.
unsafe impl Sync for Loaded {}

impl Kernel {
    /// Wraps a function of a loaded module. The module has no other owner.
    pub(super) fn new(
        function: sys::CUfunction,
        module: sys::CUmodule,
        (context, stream): (Arc<CudaContext>, Arc<CudaStream>),
    ) -> Kernel {
        Kernel(Arc::new(Loaded { function, module, context, stream }))
    }

    /// The driver's handle, for calls made while `self` is alive.
    #[inline]
    pub(super) fn function(&self) -> sys::CUfunction {
        self.0.function
    }
}

impl Drop for Loaded {
    /// Waits until all launches have finished, and unloads the module. `drop` cannot return an error, so an error is
    /// reported by the next call on the device.
    fn drop(&mut self) {
        // in a forked process, the device's state belongs to the parent
        if threads::refuse_forked("cuda").is_err() || self.context.bind_to_thread().is_err() {
            return;
        }
        // SAFETY: the stream is alive. Nobody launches the kernel any more, and all launches have finished after the
        // wait for the stream. If the wait fails, the context is unusable, and the module is not unloaded.
        unsafe {
            if result::stream::synchronize(self.stream.cu_stream()).is_ok() {
                let _ = result::module::unload(self.module);
            }
        }
    }
}

/// Identifies a kernel: name and variant of its program, and its instance.
pub(super) type Key = (&'static str, &'static str, Instance);

/// The kernels loaded on a device.
#[derive(Debug, Default)]
pub(super) struct Kernels(RwLock<HashMap<Key, Kernel>>);

impl Kernels {
    /// The kernel, if it is loaded.
    pub(super) fn get(&self, key: &Key) -> Option<Kernel> {
        self.0.read().unwrap_or_else(|poisoned| poisoned.into_inner()).get(key).cloned()
    }

    /// Stores a loaded kernel under `key`.
    pub(super) fn insert(&self, key: Key, kernel: Kernel) {
        let replaced = self.0.write().unwrap_or_else(|poisoned| poisoned.into_inner()).insert(key, kernel);
        // another thread may have stored the same kernel in the meantime; the older copy is dropped here, after the
        // lock is released
        drop(replaced);
    }

    /// Unloads the kernels. A kernel that is still in use is unloaded when its last handle is dropped.
    pub(super) fn forget(&self) {
        let kernels = mem::take(&mut *self.0.write().unwrap_or_else(|poisoned| poisoned.into_inner()));
        drop(kernels);
    }
}
