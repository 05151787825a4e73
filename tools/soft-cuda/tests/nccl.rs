//! Calls the functions of NCCL as C does. The ranks are either threads of one process, each with its own device, or
//! separate processes.
#![cfg(target_os = "linux")]

use soft_cuda::{
    driver::{context::*, copy::*, device::*, memory::*, stream::*},
    nccl::*,
};
use std::{
    env,
    ffi::{CStr, c_void},
    process::Command,
    ptr::null_mut,
    sync::mpsc,
    thread,
};

/// The environment variable that marks a child process with several devices.
const CHILD: &str = "SOFT_CUDA_NCCL_CHILD";

/// The environment variable with the id of a communicator in which this process is rank 1.
const ID: &str = "SOFT_CUDA_NCCL_ID";

const BYTES: u32 = 1;
const DOUBLES: u32 = 8;

/// Runs the test `test` of this file in a child process with three devices. Returns true inside that process.
fn with_devices(test: &str) -> bool {
    if env::var_os(CHILD).is_some() {
        assert_eq!(cuInit(0), 0);
        return true;
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env(CHILD, "1").env("SOFT_CUDA_DEVICES", "3");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    false
}

/// A rank of a communicator, with a stream on its device.
struct Rank {
    rank: usize,
    comm: *mut c_void,
    stream: *mut c_void,
}

fn new_id() -> Id {
    let mut id = std::mem::MaybeUninit::uninit();
    // SAFETY: the pointer is valid for writing an id, and the call initialises the id.
    unsafe {
        assert_eq!(ncclGetUniqueId(id.as_mut_ptr()), 0);
        id.assume_init()
    }
}

/// Makes a device's context current on this thread.
fn begin(device: i32) {
    let mut context = null_mut();
    // SAFETY: the pointer is valid for writing a handle.
    assert_eq!(unsafe { cuDevicePrimaryCtxRetain(&mut context, device) }, 0);
    assert_eq!(cuCtxSetCurrent(context), 0);
}

impl Rank {
    fn open(id: Id, rank: usize, size: usize, device: i32) -> Result<Rank, u32> {
        begin(device);
        let (mut stream, mut comm) = (null_mut(), null_mut());
        // SAFETY: the pointers are valid for writing handles.
        unsafe {
            assert_eq!(cuStreamCreate(&mut stream, 1), 0);
            match ncclCommInitRank(&mut comm, size as i32, id, rank as i32) {
                0 => Ok(Rank { rank, comm, stream }),
                code => Err(code),
            }
        }
    }

    fn memory(&self, content: &[u8]) -> u64 {
        let mut address = 0;
        // SAFETY: the first pointer is valid for writing an address, and the slice is valid for reading all its bytes.
        unsafe {
            assert_eq!(cuMemAlloc_v2(&mut address, content.len()), 0);
            assert_eq!(cuMemcpyHtoDAsync_v2(address, content.as_ptr().cast(), content.len(), self.stream), 0);
        }
        address
    }

    fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>, u32> {
        let mut content = vec![0; bytes];
        // SAFETY: the pointer is valid for writing as many bytes as the vector has room for.
        match unsafe { cuMemcpyDtoHAsync_v2(content.as_mut_ptr().cast(), address, bytes, self.stream) } {
            0 => Ok(content),
            code => Err(code),
        }
    }

    fn send(&self, address: u64, bytes: usize, to: usize) -> u32 {
        ncclSend(address as *const c_void, bytes, BYTES, to as i32, self.comm, self.stream)
    }

    fn recv(&self, address: u64, bytes: usize, from: usize) -> u32 {
        ncclRecv(address as *mut c_void, bytes, BYTES, from as i32, self.comm, self.stream)
    }

    fn async_error(&self) -> u32 {
        let mut error = 77;
        // SAFETY: the pointer is valid for writing a number.
        assert_eq!(unsafe { ncclCommGetAsyncError(self.comm, &mut error) }, 0);
        error
    }

    fn end(self) {
        assert_eq!(ncclCommDestroy(self.comm), 0);
        assert_eq!(ncclCommDestroy(self.comm), 4, "a handle ends once");
    }
}

/// Runs `f` on ranks that are threads, each with its own device.
fn on_threads<R: Send>(size: usize, f: impl Fn(Rank) -> R + Sync) -> Vec<R> {
    let id = new_id();
    let f = &f;
    thread::scope(|scope| {
        let rank = |rank| scope.spawn(move || f(Rank::open(id, rank, size, rank as i32).unwrap()));
        let all: Vec<_> = (0..size).map(rank).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Every rank sends `rank + 1` bytes to each rank.
fn exchange(b: &Rank, size: usize) {
    let own = b.memory(&vec![b.rank as u8; b.rank + 1]);
    let all: Vec<u64> = (0..size).map(|r| b.memory(&vec![99; r + 1])).collect();
    assert_eq!(ncclGroupStart(), 0);
    for (r, &at) in all.iter().enumerate() {
        assert_eq!(b.send(own, b.rank + 1, r), 0);
        assert_eq!(b.recv(at, r + 1, r), 0);
    }
    assert_eq!(ncclGroupEnd(), 0);
    // later work on the stream does not change the bytes that were sent
    assert_eq!(cuMemsetD8Async(own, 55, b.rank + 1, b.stream), 0);
    for (r, &at) in all.iter().enumerate() {
        assert_eq!(b.read(at, r + 1), Ok(vec![r as u8; r + 1]));
    }
}

#[test]
fn threads_exchange_what_they_have() {
    if !with_devices("threads_exchange_what_they_have") {
        return;
    }
    on_threads(3, |b| {
        exchange(&b, 3);
        exchange(&b, 3);
        b.end();
    });
    // a single rank exchanges with itself
    on_threads(1, |b| {
        exchange(&b, 1);
        b.end();
    });
}

#[test]
fn a_stream_goes_on_while_its_host_does_something_else() {
    if !with_devices("a_stream_goes_on_while_its_host_does_something_else") {
        return;
    }
    let (tell, told) = mpsc::channel::<()>();
    let (tell, told) = (std::sync::Mutex::new(Some(tell)), std::sync::Mutex::new(told));
    // each rank forwards the message that it receives: rank 0 to 1, 1 to 2, and 2 to 0
    on_threads(3, |b| {
        let (next, before) = ((b.rank + 1) % 3, (b.rank + 2) % 3);
        let at = b.memory(&[b.rank as u8; 8]);
        if b.rank > 0 {
            assert_eq!(b.recv(at, 8, before), 0);
        }
        assert_eq!(b.send(at, 8, next), 0);
        if b.rank == 0 {
            assert_eq!(b.recv(at, 8, before), 0);
            assert_eq!(b.read(at, 8), Ok(vec![0; 8]));
            // the other ranks have not waited for a stream yet
            drop(tell.lock().unwrap().take());
        } else {
            assert!(told.lock().unwrap().recv().is_err());
        }
        b.end();
    });
}

#[test]
fn processes_exchange_what_they_have() {
    if !with_devices("processes_exchange_what_they_have") {
        return;
    }
    if let Ok(text) = env::var(ID) {
        let bytes: Vec<u8> = (0..256).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect();
        // SAFETY: an id has 128 bytes, and any bytes are a valid id.
        let id = unsafe { bytes.as_ptr().cast::<Id>().read_unaligned() };
        let b = Rank::open(id, 1, 2, 1).unwrap();
        exchange(&b, 2);
        return b.end();
    }
    let id = new_id();
    // SAFETY: an id has 128 bytes.
    let bytes = unsafe { std::slice::from_raw_parts((&raw const id).cast::<u8>(), 128) };
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut other = Command::new(env::current_exe().unwrap());
    other.args(["processes_exchange_what_they_have", "--exact", "--nocapture"]).env(ID, text);
    let mut other = other.spawn().unwrap();
    let b = Rank::open(id, 0, 2, 0).unwrap();
    exchange(&b, 2);
    b.end();
    assert!(other.wait().unwrap().success());
}

fn last_error() -> String {
    // SAFETY: the function returns a text that ends with a NUL.
    unsafe { CStr::from_ptr(ncclGetLastError(null_mut())) }.to_string_lossy().into_owned()
}

#[test]
fn wrong_arguments_are_refused() {
    if !with_devices("wrong_arguments_are_refused") {
        return;
    }
    // SAFETY: each pointer is null or valid for writing a number, and each text ends with a NUL.
    unsafe {
        let mut version = 0;
        assert_eq!(ncclGetVersion(&mut version), 0);
        assert!(version > 20_000);
        assert_eq!(ncclGetVersion(null_mut()), 4);
        assert_eq!(ncclGetUniqueId(null_mut()), 4);
        assert!(CStr::from_ptr(ncclGetErrorString(4)).to_string_lossy().contains("invalid argument"));
        assert_eq!(ncclCommGetAsyncError(null_mut(), &mut 0), 4);
        assert_eq!(ncclCommInitRank(null_mut(), 1, new_id(), 0), 4);
    }
    assert_eq!(ncclGroupEnd(), 5);
    assert!(last_error().contains("not in a group"));
    assert_eq!(ncclCommDestroy(null_mut()), 4);
    let id = new_id();
    assert_eq!(Rank::open(id, 2, 2, 0).err(), Some(4));
    assert_eq!(Rank::open(id, 0, 0, 0).err(), Some(4));
    on_threads(2, |b| {
        let at = b.memory(&[1; 8]);
        assert_eq!(b.send(at, 8, 2), 4);
        assert_eq!(b.recv(at, 8, usize::MAX), 4);
        assert_eq!(b.send(at, 9, 0), 4, "beyond the end");
        assert_eq!(ncclSend(at as *const c_void, 2, DOUBLES, 0, b.comm, b.stream), 4);
        assert_eq!(ncclSend(at as *const c_void, 8, 12, 0, b.comm, b.stream), 4);
        assert_eq!(ncclSend(at as *const c_void, 8, BYTES, 0, null_mut(), b.stream), 4);
        assert_eq!(ncclSend(at as *const c_void, 8, BYTES, 0, b.comm, at as *mut c_void), 4);
        // a group with a wrong call does nothing
        assert_eq!(ncclGroupStart(), 0);
        assert_eq!(b.send(at, 8, 1 - b.rank), 0);
        assert_eq!(b.send(at, 9, 1 - b.rank), 4);
        assert_eq!(ncclGroupEnd(), 4);
        assert_eq!(b.async_error(), 0);
        exchange(&b, 2);
        b.end();
    });
}

#[test]
fn ranks_that_share_a_device_are_refused() {
    if !with_devices("ranks_that_share_a_device_are_refused") {
        return;
    }
    let id = new_id();
    let all = [0, 1].map(|rank| thread::spawn(move || Rank::open(id, rank, 2, 0).err()));
    assert_eq!(all.map(|thread| thread.join().unwrap()), [Some(5), Some(5)]);
    assert!(last_error().contains("Duplicate GPU detected"), "{}", last_error());
}

#[test]
fn counts_that_do_not_fit_and_ranks_that_are_gone_fail_and_do_not_hang() {
    if !with_devices("counts_that_do_not_fit_and_ranks_that_are_gone_fail_and_do_not_hang") {
        return;
    }
    on_threads(2, |b| {
        let at = b.memory(&[1; 8]);
        if b.rank == 0 {
            assert_eq!(b.send(at, 8, 1), 0);
            assert_eq!(b.async_error(), 0);
            // only one call may fail: the last error belongs to the process, so the message of a second failure would
            // replace the message that the other rank checks
            assert_eq!(ncclCommDestroy(b.comm), 0);
        } else {
            assert_eq!(b.recv(at, 4, 0), 0);
            assert_eq!(b.read(at, 4), Err(719));
            assert_eq!(b.async_error(), 5);
            assert!(last_error().contains("waits for 4 bytes of rank 0, which sends 8"), "{}", last_error());
            assert_eq!(ncclCommAbort(b.comm), 0);
        }
    });
    // the ranks take devices 0 and 2, because the device of the failed rank is unusable
    let id = new_id();
    let alive = thread::spawn(move || {
        let b = Rank::open(id, 0, 2, 0).unwrap();
        let at = b.memory(&[1; 8]);
        assert_eq!(b.recv(at, 8, 1), 0);
        assert_eq!(b.read(at, 8), Err(719));
        assert_eq!(b.async_error(), 6);
        assert_eq!(ncclCommAbort(b.comm), 0);
    });
    let gone = thread::spawn(move || assert_eq!(ncclCommAbort(Rank::open(id, 1, 2, 2).unwrap().comm), 0));
    alive.join().unwrap();
    gone.join().unwrap();
}
