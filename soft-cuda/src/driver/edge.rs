//! Between the exported functions and the driver.

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
        // nothing can be tested with a setting that is not understood
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
    /// The context that is current on this thread; 0 for none.
    static CURRENT: Cell<u64> = const { Cell::new(0) };
}

/// The driver, whatever happened to the thread that had it before.
pub(crate) fn lock() -> MutexGuard<'static, Driver> {
    DRIVER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// For how long nobody looks at what waits for other devices.
const PAUSE: Duration = Duration::from_millis(100);

/// Something has come from another device.
static CHANGED: Condvar = Condvar::new();

/// Goes on with the work that waits for other devices, as something has come from one.
pub(crate) fn advance() {
    lock().advance();
    CHANGED.notify_all();
}

/// Does the work up to the marks. The driver is free for others while that waits for other devices.
fn settle(mut driver: MutexGuard<'static, Driver>, goals: Vec<Mark>) -> MutexGuard<'static, Driver> {
    loop {
        driver.finish(goals.clone());
        if !goals.iter().any(|goal| driver.pending(*goal)) {
            return driver;
        }
        // now and then, too: another thread may have failed the device, and its work with it
        driver = CHANGED.wait_timeout(driver, PAUSE).unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// Waits for all work of a device.
pub(crate) fn finish_device(device: usize) {
    let driver = lock();
    let goals = driver.goals_of_device(device);
    drop(settle(driver, goals));
}

/// Lets the report be made when the process ends.
fn report_at_exit() {
    extern "C" fn report() {
        // a thread that is still at work has the lock: what it has counted so far is nothing to rely on
        if let Ok(driver) = DRIVER.try_lock() {
            driver.report();
        }
    }
    // SAFETY: the function is one of this library and takes nothing.
    unsafe { libc::atexit(report) };
}

/// The context that is current on this thread; 0 for none.
pub(crate) fn current() -> u64 {
    CURRENT.get()
}

/// Makes a context current on this thread.
pub(super) fn set_current(context: u64) {
    CURRENT.set(context);
}

/// The code of a result.
pub(super) fn code(result: Result<()>) -> u32 {
    result.map_or_else(|code| code.0, |()| 0)
}

/// A function that needs the driver to be initialised.
pub(super) fn call(f: impl FnOnce(&mut Driver) -> Result<()>) -> u32 {
    let mut driver = lock();
    code(driver.check_initialised().and_then(|()| f(&mut driver)))
}

/// A function that works in the context that is current on this thread: it gets the context's device.
pub(super) fn call_in_context(f: impl FnOnce(&mut Driver, usize) -> Result<()>) -> u32 {
    call(|driver| {
        let device = driver.device_of(current())?;
        driver.check(device)?;
        f(driver, device)
    })
}

/// The same of a function that waits for work: `goals` says for which.
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
        // the context may have gone meanwhile
        driver.device_of(current())?;
        driver.check(device)?;
        f(&mut driver, device)
    }))
}
