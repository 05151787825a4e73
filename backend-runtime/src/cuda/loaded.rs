//! The kernels that a device has loaded.

use super::program::Instance;
use cudarc::driver::sys;
use std::{collections::HashMap, sync::RwLock};

/// A kernel loaded on a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel(pub(super) sys::CUfunction);

// SAFETY: a handle of a module that is never unloaded; the driver's functions that take it are thread-safe.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

/// Key of a kernel: name and variant of its program, and the instance.
pub(super) type Key = (&'static str, &'static str, Instance);

/// The kernels that a device has loaded.
#[derive(Debug, Default)]
pub(super) struct Kernels(pub(super) RwLock<HashMap<Key, Kernel>>);
