//! Allocates and frees device memory.

use super::{
    edge::{call, call_and_wait, call_in_context},
    error::{Code, Result, put},
    state::{Device, Driver, Failing, Lifetime},
    work::{Mark, Work},
};
use std::ffi::{c_int, c_void};

impl Driver {
    /// Allocates memory on a device. If the device is full, the device's queued work runs first, because it may free
    /// memory.
    pub fn allocate(&mut self, device: usize, bytes: usize) -> Result<u64> {
        if bytes == 0 {
            return Err(Code::INVALID_VALUE);
        }
        self.counts.allocated();
        if self.failing.take() {
            return Err(Code::OUT_OF_MEMORY);
        }
        let address = match self.devices[device].memory.allocate(bytes as u64) {
            Some(address) => address,
            None => {
                self.finish_device(device);
                self.check(device)?;
                self.devices[device].memory.allocate(bytes as u64).ok_or(Code::OUT_OF_MEMORY)?
            }
        };
        self.devices[device].allocated.insert(address, Lifetime::Live);
        Ok(address)
    }

    /// Makes `count` allocations fail, beginning with the `n`-th from now. If `n` or `count` is 0, no allocation fails.
    pub fn fail_allocations(&mut self, n: u64, count: u64) {
        self.failing = Failing { after: n.saturating_sub(1), count: if n == 0 { 0 } else { count } };
    }

    /// Returns the device of the live allocation that begins at `address`. If there is none, counts and prints a
    /// refused free.
    fn allocation(&mut self, address: u64) -> Result<usize> {
        let found = self.devices.iter().position(|device| device.allocated.get(&address) == Some(&Lifetime::Live));
        found.ok_or_else(|| {
            let freed = self.devices.iter().any(|device| device.allocated.contains_key(&address));
            let why = if freed { "it is freed already" } else { "no allocation that is alive begins there" };
            eprintln!("soft-cuda: free of {address:#x}: {why}");
            self.counts.refused += 1;
            Code::INVALID_VALUE
        })
    }

    /// Returns the device of the allocation that begins at `address`, even if a free of the allocation is queued.
    fn device_with(&self, address: u64) -> Option<usize> {
        self.devices.iter().position(|device| device.allocated.contains_key(&address))
    }

    /// Returns the positions up to which queued work must run before `bytes` bytes can be allocated. The list is empty
    /// if the device has enough free memory now.
    fn goals_of_room(&self, device: usize, bytes: usize) -> Vec<Mark> {
        let memory = &self.devices[device].memory;
        // if the allocation is larger than the whole memory, it is useless to wait
        let waits = bytes as u64 > memory.limit() - memory.used() && bytes as u64 <= memory.limit();
        if waits { self.goals_of_device(device) } else { Vec::new() }
    }

    /// Frees memory after all work of its device is done.
    pub fn free(&mut self, address: u64) -> Result<()> {
        if address == 0 {
            return Ok(());
        }
        let device = self.allocation(address)?;
        self.finish_device(device);
        self.check(device)?;
        self.devices[device].allocated.remove(&address);
        self.devices[device].memory.free(address);
        Ok(())
    }

    /// Frees memory when the stream has done all work that was enqueued before this call.
    pub fn free_on(&mut self, device: usize, address: u64, stream: u64) -> Result<()> {
        let stream = self.stream(device, stream)?;
        let on = self.allocation(address)?;
        self.devices[on].allocated.insert(address, Lifetime::Freeing);
        self.freeing.insert(self.next_order, (on, address));
        self.put_on(stream, "free", Work::Free(on, address), 0)
    }

    /// Returns the device with an allocation that contains all `bytes` bytes at `address`. Allocations with a queued
    /// free are ignored.
    pub(crate) fn holder(&self, address: u64, bytes: usize) -> Result<usize> {
        let has = |device: &Device| {
            let (start, size) = device.memory.allocation(address)?;
            let inside = bytes as u64 <= size - (address - start);
            (inside && device.allocated.get(&start) != Some(&Lifetime::Freeing)).then_some(())
        };
        self.devices.iter().position(|device| has(device).is_some()).ok_or(Code::INVALID_VALUE)
    }
}

/// Allocates memory on the current device.
///
/// # Safety
/// `address` must be null or valid for writing an address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(address: *mut u64, bytes: usize) -> u32 {
    let goals = |driver: &Driver, device| Ok(driver.goals_of_room(device, bytes));
    call_and_wait(goals, |driver, device| {
        if address.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: the caller guarantees that `address` is null or valid for writing an address.
        unsafe { put(address, driver.allocate(device, bytes)?) }
    })
}

/// Allocates memory on the device of a stream. Here the memory can be used at once, also on other streams.
///
/// # Safety
/// `address` must be null or valid for writing an address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocAsync(address: *mut u64, bytes: usize, stream: *mut c_void) -> u32 {
    let goals = |driver: &Driver, device| {
        let stream = driver.stream(device, stream as u64)?;
        Ok(driver.goals_of_room(driver.stream_device(stream), bytes))
    };
    call_and_wait(goals, |driver, device| {
        if address.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let stream = driver.stream(device, stream as u64)?;
        let device = driver.stream_device(stream);
        // SAFETY: the caller guarantees that `address` is null or valid for writing an address.
        unsafe { put(address, driver.allocate(device, bytes)?) }
    })
}

/// Frees memory, after waiting for its device.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemFree_v2(address: u64) -> u32 {
    let goals = |driver: &Driver, _| {
        Ok(driver.device_with(address).map_or(Vec::new(), |device| driver.goals_of_device(device)))
    };
    call_and_wait(goals, |driver, _| driver.free(address))
}

/// Frees memory when the stream has done all work that was enqueued before this call.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemFreeAsync(address: u64, stream: *mut c_void) -> u32 {
    call_in_context(|driver, device| driver.free_on(device, address, stream as u64))
}

/// Returns the free and the total memory in bytes.
///
/// # Safety
/// `free` and `total` must be null or valid for writing a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> u32 {
    call_in_context(|driver, device| {
        let memory = &driver.devices[device].memory;
        let (used, limit) = (memory.used() as usize, memory.limit() as usize);
        // SAFETY: the caller guarantees that `free` and `total` are null or valid for writing a number.
        unsafe { put(free, limit - used).and_then(|()| put(total, limit)) }
    })
}

/// Returns the default memory pool of a device.
///
/// # Safety
/// `pool` must be null or valid for writing a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetDefaultMemPool(pool: *mut *mut c_void, device: c_int) -> u32 {
    call(|driver| {
        let handle = driver.device(device)?.pool;
        // SAFETY: the caller guarantees that `pool` is null or valid for writing a handle.
        unsafe { put(pool, handle as *mut c_void) }
    })
}

fn with_pool(pool: *mut c_void, f: impl FnOnce() -> Result<()>) -> u32 {
    call(|driver| match driver.devices.iter().any(|device| device.pool == pool as u64) {
        true => f(),
        false => Err(Code::INVALID_VALUE),
    })
}

/// Sets an attribute of a pool, such as the amount of freed memory that it keeps for reuse. The call has no effect,
/// because pools keep no memory here.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemPoolSetAttribute(pool: *mut c_void, attribute: u32, value: *mut c_void) -> u32 {
    // attributes 1 to 4 determine which freed memory may be reused, and how much of it is kept
    let known = (1..=4).contains(&attribute) && !value.is_null();
    with_pool(pool, || if known { Ok(()) } else { Err(Code::INVALID_VALUE) })
}

/// Returns an attribute of a pool: the number of bytes that are reserved from the system, or that are allocated.
/// Because pools keep no memory, both are the number of bytes allocated on the device.
///
/// # Safety
/// `value` must be null or valid for writing a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolGetAttribute(pool: *mut c_void, attribute: u32, value: *mut c_void) -> u32 {
    const RESERVED: u32 = 5;
    const USED: u32 = 7;
    call(|driver| {
        let device = driver.devices.iter().find(|device| device.pool == pool as u64).ok_or(Code::INVALID_VALUE)?;
        if attribute != RESERVED && attribute != USED {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: the caller guarantees that `value` is null or valid for writing a number.
        unsafe { put(value.cast::<u64>(), device.memory.used()) }
    })
}

/// Releases freed memory that a pool keeps. The call has no effect, because pools keep no memory here.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemPoolTrimTo(pool: *mut c_void, _keep: usize) -> u32 {
    with_pool(pool, || Ok(()))
}
