//! The layer between the exported functions and the driver: the driver of this process, its lock, and the current
//! context of each thread.

use super::{config::Config, error::Result, state::Driver, work::Mark};
use crate::exec::Order;
use std::{
    cell::Cell,
    env,
    sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The driver of this process.
static DRIVER: LazyLock<Mutex<Driver>> = LazyLock::new(|| {
    let config = Config::read(|name| env::var(name).ok()).unwrap_or_else(|wrong| {
        // the process ends, because no test is meaningful with an invalid setting
        eprintln!("soft-cuda: {wrong}");
        std::process::exit(2)
    });
    if let Order::Random(seed) = config.order {
        eprintln!("soft-cuda: SOFT_CUDA_ORDER=random:{seed}");
    }
    if config.counts.is_some() || config.leaks {
        report_at_exit();
    }
    Mutex::new(Driver::new(config))
});

thread_local! {
    /// The handle of the context that is current on this thread, or 0.
    static CURRENT: Cell<u64> = const { Cell::new(0) };
}

/// Locks the driver, even if a thread has panicked while it held the lock.
pub(crate) fn lock() -> MutexGuard<'static, Driver> {
    DRIVER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The time after which a thread that waits for other devices checks again whether its device has failed.
const PAUSE: Duration = Duration::from_millis(100);

/// The condition variable that is notified when data has arrived from another device.
static CHANGED: Condvar = Condvar::new();

/// Continues the work that waits for other devices. It is called when data has arrived from another device.
pub(crate) fn advance() {
    lock().advance();
    CHANGED.notify_all();
}

/// Runs the queued work up to the positions `goals`. Unlocks the driver while the work waits for other devices.
fn settle(mut driver: MutexGuard<'static, Driver>, goals: Vec<Mark>) -> MutexGuard<'static, Driver> {
    loop {
        driver.finish(goals.clone());
        if !goals.iter().any(|goal| driver.pending(*goal)) {
            return driver;
        }
        // the wait has a timeout, because another thread may have marked the device as failed and discarded its work
        driver = CHANGED.wait_timeout(driver, PAUSE).unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// Waits for all work of a device.
pub(crate) fn finish_device(device: usize) {
    let driver = lock();
    let goals = driver.goals_of_device(device);
    drop(settle(driver, goals));
}

/// Registers a function that writes the report at the end of the process.
fn report_at_exit() {
    extern "C" fn report() {
        // if another thread still holds the lock, nothing is reported, because the counts would be incomplete
        if let Ok(driver) = DRIVER.try_lock() {
            driver.report();
        }
    }
    // SAFETY: the function belongs to this library and takes no arguments.
    unsafe { libc::atexit(report) };
}

/// The handle of the context that is current on this thread, or 0.
pub(crate) fn current() -> u64 {
    CURRENT.get()
}

/// Makes a context current on this thread.
pub(super) fn set_current(context: u64) {
    CURRENT.set(context);
}

/// Returns the error code of a result; 0 for success.
pub(super) fn code(result: Result<()>) -> u32 {
    result.map_or_else(|code| code.0, |()| 0)
}

/// Calls `f` with the driver; returns the error code. It is an error if the driver is not initialised.
pub(super) fn call(f: impl FnOnce(&mut Driver) -> Result<()>) -> u32 {
    let mut driver = lock();
    code(driver.check_initialised().and_then(|()| f(&mut driver)))
}

/// Calls `f` with the driver and the device of the context that is current on this thread; returns the error code.
pub(super) fn call_in_context(f: impl FnOnce(&mut Driver, usize) -> Result<()>) -> u32 {
    call(|driver| {
        let device = driver.device_of(current())?;
        driver.check(device)?;
        f(driver, device)
    })
}

/// Like `call_in_context`, but first waits for the work up to the positions that `goals` returns.
pub(super) fn call_and_wait(
    goals: impl FnOnce(&Driver, usize) -> Result<Vec<Mark>>,
    f: impl FnOnce(&mut Driver, usize) -> Result<()>,
) -> u32 {
    let driver = lock();
    let found = driver.check_initialised().and_then(|()| {
        let device = driver.device_of(current())?;
        driver.check(device)?;
        Ok((device, goals(&driver, device)?))
    });
    code(found.and_then(|(device, goals)| {
        let mut driver = settle(driver, goals);
        // another thread may have destroyed the context during the wait
        driver.device_of(current())?;
        driver.check(device)?;
        f(&mut driver, device)
    }))
}
