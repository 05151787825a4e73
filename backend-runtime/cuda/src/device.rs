//! A GPU: its context, its only stream, and the kernels loaded on it.

use super::{error::Checked, library::Library, loaded::Kernels, nvrtc::Target, pinned::Pinned, pool::Pool};
use backend_core::{Error, Result, threads};
use cudarc::driver::{CudaContext, CudaStream, result, sys};
use std::{
    ffi::c_void,
    sync::{Arc, Mutex, OnceLock},
};

/// A GPU of this process. There is one `Device` per ordinal. So all backends of a GPU share one stream, which orders
/// the work on their arrays.
#[derive(Debug)]
pub(crate) struct Device {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    /// The architecture that kernels are compiled for.
    pub(super) target: Target,
    pub(super) pool: Pool,
    pub(super) pinned: Pinned,
    pub(super) kernels: Kernels,
}

/// The devices in use. They live until the process ends, so that later backends reuse their loaded kernels and freed
/// memory.
static DEVICES: Mutex<Vec<Arc<Device>>> = Mutex::new(Vec::new());

impl Device {
    /// Opens the device with the driver's number `ordinal`. The error names the missing library or device.
    pub(crate) fn open(ordinal: usize) -> Result<Arc<Device>> {
        Library::Driver.load()?;
        Library::Nvrtc.load()?;
        let mut devices = DEVICES.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(device) = devices.iter().find(|device| device.context.ordinal() == ordinal) {
            return Ok(device.clone());
        }
        let device = Arc::new(Device::new(ordinal)?);
        devices.push(device.clone());
        Ok(device)
    }

    fn new(ordinal: usize) -> Result<Device> {
        threads::refuse_forked("cuda")?;
        threads::watch_forks();
        let unavailable = |error: result::DriverError| {
            Error::unavailable("cuda", format!("no device {ordinal}: the driver says {error}")).caused_by(error)
        };
        i32::try_from(ordinal).map_err(|_| {
            Error::argument("new", format!("the ordinal is {ordinal}, but must be the ordinal of a GPU"))
        })?;
        let context = CudaContext::new(ordinal).map_err(unavailable)?;
        // SAFETY: everything runs on one stream, so cudarc's events, which order work between streams, are not needed.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().map_err(unavailable)?;
        let capability = context.compute_capability().map_err(unavailable)?;
        let device = Device {
            target: Target::of((capability.0 as u32, capability.1 as u32))?,
            pool: Pool::new(),
            pinned: Pinned::default(),
            kernels: Kernels::default(),
            context,
            stream,
        };
        device.keep_freed_memory()?;
        Ok(device)
    }

    /// Configures the driver's pool to keep freed memory; by default, the pool returns memory to the system at every
    /// synchronisation.
    fn keep_freed_memory(&self) -> Result<()> {
        let Some(pool) = self.driver_pool("new")? else {
            return Ok(());
        };
        let mut threshold = u64::MAX;
        let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        let value = (&raw mut threshold).cast::<c_void>();
        // SAFETY: the pool belongs to the device, and the attribute is a 64-bit integer.
        unsafe { result::mem_pool::set_attribute(pool, attribute, value) }.checked("new")
    }

    fn driver_pool(&self, op: &'static str) -> Result<Option<sys::CUmemoryPool>> {
        if !self.has_pool() {
            return Ok(None);
        }
        // SAFETY: the device belongs to the context, and it supports memory pools.
        unsafe { result::device::get_default_mem_pool(self.context.cu_device()) }.checked(op).map(Some)
    }

    /// Returns an attribute of the driver's memory pool, in bytes; 0 if the driver has no pool.
    pub(super) fn pool_figure(&self, op: &'static str, which: sys::CUmemPool_attribute) -> Result<u64> {
        let Some(pool) = self.driver_pool(op)? else {
            return Ok(0);
        };
        let mut bytes = 0_u64;
        // SAFETY: the pool belongs to the device, and the attribute is a 64-bit integer.
        unsafe { result::mem_pool::get_attribute(pool, which, (&raw mut bytes).cast()) }.checked(op)?;
        Ok(bytes)
    }

    /// Makes the driver's pool return its unused memory to the system.
    pub(super) fn trim_pool(&self, op: &'static str) -> Result<()> {
        let Some(pool) = self.driver_pool(op)? else {
            return Ok(());
        };
        // SAFETY: the pool belongs to the device.
        unsafe { result::mem_pool::trim_to(pool, 0) }.checked(op)
    }

    /// The device's name, such as `cuda:0`.
    pub(crate) fn name(&self) -> String {
        format!("cuda:{}", self.context.ordinal())
    }

    /// Makes the device current on this thread, which every driver call needs.
    #[inline]
    pub(crate) fn bind(&self, op: &'static str) -> Result<()> {
        threads::refuse_forked("cuda")?;
        self.context.bind_to_thread().checked(op)
    }

    /// Returns whether the driver has a memory pool with stream-ordered allocation.
    pub(super) fn has_pool(&self) -> bool {
        self.context.has_async_alloc()
    }

    /// The context and the stream, which must stay alive until a module is unloaded.
    pub(super) fn context_and_stream(&self) -> (Arc<CudaContext>, Arc<CudaStream>) {
        (self.context.clone(), self.stream.clone())
    }

    /// The stream on which all kernels and copies of the device run.
    #[inline]
    pub(crate) fn stream(&self) -> sys::CUstream {
        self.stream.cu_stream()
    }

    /// The GPU's ordinal.
    pub(crate) fn ordinal(&self) -> usize {
        self.context.ordinal()
    }

    /// Waits for all work that this process has queued on the device, on any stream.
    pub(super) fn synchronize_all(&self, op: &'static str) -> Result<()> {
        self.bind(op)?;
        self.context.synchronize().checked(op)
    }

    /// Waits for the stream if `BACKENDS_CUDA_SYNC` is 1. Every op calls this method after each kernel or copy on the
    /// stream. With this variable, the op itself reports an error of its kernel or copy; otherwise, a later call would
    /// report it.
    #[inline]
    pub(crate) fn after_put(&self, op: &'static str) -> Result<()> {
        if waits_after_each() { self.synchronize(op) } else { Ok(()) }
    }

    /// Waits for all work on the stream.
    pub(crate) fn synchronize(&self, op: &'static str) -> Result<()> {
        self.bind(op)?;
        // SAFETY: the stream is alive.
        unsafe { result::stream::synchronize(self.stream()) }.checked(op)
    }
}

/// Returns whether `BACKENDS_CUDA_SYNC` is 1, so that each op waits for its work on the stream.
#[inline]
fn waits_after_each() -> bool {
    static WAITS: OnceLock<bool> = OnceLock::new();
    *WAITS.get_or_init(|| std::env::var_os("BACKENDS_CUDA_SYNC").is_some_and(|value| value == "1"))
}
