//! The state of the driver: devices, and the objects that handles refer to.

use super::{
    config::Config,
    counts::Counts,
    error::{Code, Result},
    handles::{Event, Function, Loaded},
    work::{Stream, StreamKind},
};
use crate::{exec::Order, fault::Fault, memory::Memory};
use std::collections::BTreeMap;

/// The driver's state.
///
/// No handle is used twice, and no handle is an address of the host. All kinds of objects share one counter of handles,
/// so a handle of another kind or of a destroyed object is detected.
#[derive(Debug)]
pub struct Driver {
    pub(super) config: Config,
    pub(super) counts: Counts,
    pub(super) devices: Vec<Device>,
    pub(super) streams: BTreeMap<u64, Stream>,
    pub(super) events: BTreeMap<u64, Event>,
    pub(super) modules: BTreeMap<u64, Loaded>,
    pub(super) functions: BTreeMap<u64, Function>,
    /// Pinned host memory, by address.
    pub(super) pinned: BTreeMap<u64, Vec<u8>>,
    /// The order in which threads run. A random order uses one sequence of random numbers for all launches.
    pub(super) order: Order,
    /// The device and the address of each queued free. The key is the position of the free in the order of all enqueued
    /// work.
    pub(super) freeing: BTreeMap<u64, (usize, u64)>,
    /// The size in bytes of the host memory that queued copies hold.
    pub(super) staged: usize,
    /// The next allocations that are to fail.
    pub(super) failing: Failing,
    pub(super) next_order: u64,
    initialised: bool,
    next_handle: u64,
}

/// A device and its primary context, which is its only context.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) memory: Memory,
    /// Handle of the context.
    pub(super) context: u64,
    /// Handle of the device's memory pool.
    pub(super) pool: u64,
    /// Handle of the device's default stream, which callers never see.
    pub(super) default_stream: u64,
    /// The number of references to the context (retains minus releases). At 0 the context does not exist.
    pub(super) retained: u32,
    /// The error that every call in the context returns after work on the device has failed.
    pub(super) fault: Option<Code>,
    /// The allocations that callers have made, by address.
    pub(super) allocated: BTreeMap<u64, Lifetime>,
}

/// The state of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lifetime {
    /// The allocation may be used.
    Live,
    /// A free of the allocation is queued on a stream; calls made after the free must not use the allocation.
    Freeing,
}

/// The next allocations that are to fail: `count` allocations, after `after` allocations that succeed.
#[derive(Debug, Default)]
pub(super) struct Failing {
    /// The number of allocations before the first failing allocation.
    pub(super) after: u64,
    /// The number of failing allocations.
    pub(super) count: u64,
}

impl Failing {
    /// Counts an allocation, and returns whether it must fail.
    pub(super) fn take(&mut self) -> bool {
        if self.count == 0 {
            return false;
        }
        if self.after > 0 {
            self.after -= 1;
            return false;
        }
        self.count -= 1;
        true
    }
}

impl Driver {
    /// Creates a driver in its initial state.
    pub fn new(config: Config) -> Driver {
        let mut driver = Driver {
            counts: Counts::default(),
            devices: Vec::new(),
            streams: BTreeMap::new(),
            events: BTreeMap::new(),
            modules: BTreeMap::new(),
            functions: BTreeMap::new(),
            pinned: BTreeMap::new(),
            order: config.order,
            freeing: BTreeMap::new(),
            staged: 0,
            failing: Failing::default(),
            next_order: 1,
            initialised: false,
            // handles are above all host addresses and below all device addresses
            next_handle: 0x0400_0000_0000_0000,
            config,
        };
        for ordinal in 0..driver.config.devices {
            let device = Device {
                memory: Memory::new(ordinal, driver.config.memory),
                context: driver.handle(),
                pool: driver.handle(),
                default_stream: driver.handle(),
                retained: 0,
                fault: None,
                allocated: BTreeMap::new(),
            };
            driver.devices.push(device);
        }
        driver.fail_allocations(driver.config.fail_allocation.unwrap_or(0), 1);
        driver
    }

    /// Initialises the driver; returns an error if there is no device.
    pub fn initialise(&mut self) -> Result<()> {
        if self.devices.is_empty() {
            return Err(Code::NO_DEVICE);
        }
        self.initialised = true;
        Ok(())
    }

    pub(super) fn check_initialised(&self) -> Result<()> {
        self.initialised.then_some(()).ok_or(Code::NOT_INITIALIZED)
    }

    /// Returns a new handle, which was never used before.
    pub(crate) fn handle(&mut self) -> u64 {
        self.next_handle += 16;
        self.next_handle
    }

    /// Returns the index of the device of a context. Returns an error if the context does not exist or was destroyed.
    pub(crate) fn device_of(&self, context: u64) -> Result<usize> {
        let device = self.devices.iter().position(|device| device.context == context).ok_or(Code::INVALID_CONTEXT)?;
        if self.devices[device].retained == 0 { Err(Code::CONTEXT_IS_DESTROYED) } else { Ok(device) }
    }

    /// Returns the device's error if work on the device has failed.
    pub(crate) fn check(&self, device: usize) -> Result<()> {
        self.devices[device].fault.map_or(Ok(()), Err)
    }

    /// Prints the fault, discards the device's queued work, and makes every later call on the device fail.
    pub(super) fn fail(&mut self, device: usize, what: &str, fault: &Fault) {
        eprintln!("soft-cuda: {what}: {fault}");
        self.devices[device].fault = Some(Code(fault.code()));
        self.drop_work(device);
    }

    /// Retains the device's context, and returns its handle. The first retain creates the context.
    pub fn retain(&mut self, device: usize) -> Result<u64> {
        let state = self.devices.get_mut(device).ok_or(Code::INVALID_DEVICE)?;
        if state.retained == 0 {
            self.streams.insert(state.default_stream, Stream::new(device, StreamKind::Default));
        }
        state.retained += 1;
        Ok(state.context)
    }

    /// Releases the device's context. The last release destroys everything on the device.
    pub fn release(&mut self, device: usize) -> Result<()> {
        let state = self.devices.get_mut(device).ok_or(Code::INVALID_DEVICE)?;
        state.retained = state.retained.checked_sub(1).ok_or(Code::INVALID_CONTEXT)?;
        if state.retained == 0 {
            self.reset(device);
        }
        Ok(())
    }

    /// Destroys a device's context with all its handles and memory.
    fn reset(&mut self, device: usize) {
        self.drop_work(device);
        self.streams.retain(|_, stream| stream.device != device);
        self.events.retain(|_, event| event.device != device);
        self.modules.retain(|_, module| module.device != device);
        self.functions.retain(|_, function| function.device != device);
        let state = &mut self.devices[device];
        let addresses: Vec<u64> = state.memory.allocations().map(|(start, _)| start).collect();
        for address in addresses {
            state.memory.free(address);
        }
        state.allocated.clear();
        state.fault = None;
    }
}
