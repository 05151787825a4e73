//! Stand-ins for the NCCL functions that the backend calls, with NCCL's conventions and errors. All ranks are threads
//! or processes of this machine.

mod comm;
mod group;
mod meet;
mod status;

pub use meet::Id;

use crate::driver::{current, finish_device, lock, put};
use comm::Comm;
use group::Transfer;
use status::{Result, Status};
use std::ffi::{c_char, c_int, c_void};

/// The NCCL version that the library reports: 2.30.3.
const VERSION: c_int = 23_003;

/// The number of datatypes.
const TYPES: u32 = 12;

fn status(result: Result<()>) -> u32 {
    result.map_or_else(|status| status.0, |()| 0)
}

/// Writes a value to a caller's address. If the address is null, the error names the function `call`.
///
/// # Safety
/// `at` must be null or valid for writing a `V`.
unsafe fn give<V>(call: &str, at: *mut V, value: V) -> Result<()> {
    // SAFETY: the caller guarantees that `at` is null or valid for writing a `V`.
    unsafe { put(at, value) }.map_err(|_| Status::INVALID_ARGUMENT.because(format!("{call}: an argument is NULL")))
}

/// Returns the version: 10000 times the major plus 100 times the minor number.
///
/// # Safety
/// `version` must be null or valid for writing a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetVersion(version: *mut c_int) -> u32 {
    // SAFETY: the caller guarantees that `version` is null or valid for writing a number.
    status(unsafe { give("ncclGetVersion", version, VERSION) })
}

/// Creates an id, by which ranks find each other. This process listens until all ranks with the id have connected.
///
/// # Safety
/// `id` must be null or valid for writing an id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclGetUniqueId(id: *mut Id) -> u32 {
    let new = Id::new().map_err(|why| Status::SYSTEM.because(format!("ncclGetUniqueId: {why}")));
    // SAFETY: the caller guarantees that `id` is null or valid for writing an id.
    status(new.and_then(|new| unsafe { give("ncclGetUniqueId", id, new) }))
}

/// Creates a rank's communicator on the current device, after all ranks have connected.
///
/// # Safety
/// `comm` must be null or valid for writing a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommInitRank(comm: *mut *mut c_void, ranks: c_int, id: Id, rank: c_int) -> u32 {
    let open = || {
        if comm.is_null() || !id.is_own() || ranks < 1 || !(0..ranks).contains(&rank) {
            return Err(
                Status::INVALID_ARGUMENT.because(format!("ncclCommInitRank: rank {rank} of {ranks}, or its id"))
            );
        }
        if group::is_open() {
            return Err(Status::INVALID_USAGE.because("ncclCommInitRank is not supported in a group"));
        }
        let device = lock().device_of(current());
        let device = device.map_err(|_| Status::UNHANDLED_CUDA.because("ncclCommInitRank: no device is current"))?;
        Comm::open(&id, rank as usize, ranks as usize, device)
    };
    // SAFETY: the caller guarantees that `comm` is null or valid for writing a handle.
    status(open().and_then(|handle| unsafe { give("ncclCommInitRank", comm, handle as *mut c_void) }))
}

/// Destroys a communicator after all work of its device is done.
#[unsafe(no_mangle)]
pub extern "C" fn ncclCommDestroy(comm: *mut c_void) -> u32 {
    status(comm::remove(comm as u64).map(|comm| {
        finish_device(comm.device);
        comm.close();
    }))
}

/// Destroys a communicator without waiting for its work.
#[unsafe(no_mangle)]
pub extern "C" fn ncclCommAbort(comm: *mut c_void) -> u32 {
    status(comm::remove(comm as u64).map(|comm| comm.abort()))
}

/// Returns the first error since the communicator was created.
///
/// # Safety
/// `error` must be null or valid for writing a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncclCommGetAsyncError(comm: *mut c_void, error: *mut u32) -> u32 {
    let found = comm::find(comm as u64).map(|comm| comm.error().map_or(0, |status| status.0));
    // SAFETY: the caller guarantees that `error` is null or valid for writing a number.
    status(found.and_then(|found| unsafe { give("ncclCommGetAsyncError", error, found) }))
}

/// Returns the English text of an error.
#[unsafe(no_mangle)]
pub extern "C" fn ncclGetErrorString(error: u32) -> *const c_char {
    Status(error).words().as_ptr()
}

/// Returns the message of the last error.
#[unsafe(no_mangle)]
pub extern "C" fn ncclGetLastError(_comm: *mut c_void) -> *const c_char {
    status::last().as_ptr()
}

/// Starts a group: all calls until `ncclGroupEnd` are enqueued together.
#[unsafe(no_mangle)]
pub extern "C" fn ncclGroupStart() -> u32 {
    group::start();
    0
}

/// Enqueues the calls since `ncclGroupStart` on their streams.
#[unsafe(no_mangle)]
pub extern "C" fn ncclGroupEnd() -> u32 {
    status(group::end())
}

/// Adds a send or receive to the open group, or enqueues it if no group is open. Checks the arguments as NCCL does, and
/// also that the buffer is on the communicator's device.
fn part(
    call: &str,
    address: u64,
    count: usize,
    datatype: u32,
    peer: c_int,
    comm: *mut c_void,
    stream: *mut c_void,
) -> u32 {
    let bytes_of = |datatype: u32| match datatype {
        0 | 1 | 10 | 11 => 1,
        6 | 9 => 2,
        4 | 5 | 8 => 8,
        _ => 4,
    };
    let checked = || {
        let refuse = |why: String| Status::INVALID_ARGUMENT.because(format!("{call}: {why}"));
        let comm = comm::find(comm as u64)?;
        if datatype >= TYPES {
            return Err(refuse(format!("there is no datatype {datatype}")));
        }
        let in_range = usize::try_from(peer).ok().filter(|&peer| peer < comm.size);
        let peer = in_range.ok_or_else(|| refuse(format!("there is no rank {peer} of {}", comm.size)))?;
        let bytes = count.checked_mul(bytes_of(datatype)).ok_or_else(|| refuse(format!("{count} elements")))?;
        let driver = lock();
        let stream = driver.stream_on(comm.device, stream as u64);
        let stream = stream.map_err(|_| refuse("the stream is none of the communicator's device".into()))?;
        if bytes > 0 && driver.holder(address, bytes) != Ok(comm.device) {
            return Err(refuse(format!("{bytes} bytes at {address:#x} are not on the communicator's device")));
        }
        drop(driver);
        group::add(comm, stream, Transfer { peer, address, bytes }, call == SEND)
    };
    let result = checked();
    if let Err(error) = result {
        group::note(error);
    }
    status(result)
}

const SEND: &str = "ncclSend";

/// Sends elements of device memory to a rank.
#[unsafe(no_mangle)]
pub extern "C" fn ncclSend(
    buffer: *const c_void,
    count: usize,
    datatype: u32,
    peer: c_int,
    comm: *mut c_void,
    stream: *mut c_void,
) -> u32 {
    part(SEND, buffer as u64, count, datatype, peer, comm, stream)
}

/// Receives elements from a rank into device memory.
#[unsafe(no_mangle)]
pub extern "C" fn ncclRecv(
    buffer: *mut c_void,
    count: usize,
    datatype: u32,
    peer: c_int,
    comm: *mut c_void,
    stream: *mut c_void,
) -> u32 {
    part("ncclRecv", buffer as u64, count, datatype, peer, comm, stream)
}
