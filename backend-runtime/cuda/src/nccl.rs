//! Loads NCCL's functions, with cudarc's types. cudarc's own loader is not used: it looks for the file `libnccl.so` of
//! developer packages, and panics if this file is missing. Result codes are plain integers here, because a newer
//! library may have codes that an enum lacks.

use super::library::Library;
use backend_core::{Error, Result};
use cudarc::nccl::sys::{cudaStream_t, ncclComm_t, ncclUniqueId};
use std::{
    ffi::{CStr, c_char, c_int, c_void},
    sync::OnceLock,
};

/// An `ncclResult_t`. The code 0 means success.
pub(super) type Code = u32;

/// The data type "bytes". All messages are sent as bytes, because NCCL has no complex numbers, bools or 16-bit
/// integers.
const BYTES: u32 = cudarc::nccl::sys::ncclDataType_t::ncclUint8 as u32;

type Move<P> = unsafe extern "C" fn(P, usize, u32, c_int, ncclComm_t, cudaStream_t) -> Code;

/// Pointers to the functions of NCCL. The library is never unloaded.
pub(super) struct Nccl {
    get_version: unsafe extern "C" fn(*mut c_int) -> Code,
    get_unique_id: unsafe extern "C" fn(*mut ncclUniqueId) -> Code,
    comm_init_rank: unsafe extern "C" fn(*mut ncclComm_t, c_int, ncclUniqueId, c_int) -> Code,
    comm_destroy: unsafe extern "C" fn(ncclComm_t) -> Code,
    comm_abort: unsafe extern "C" fn(ncclComm_t) -> Code,
    comm_get_async_error: unsafe extern "C" fn(ncclComm_t, *mut Code) -> Code,
    get_error_string: unsafe extern "C" fn(Code) -> *const c_char,
    get_last_error: unsafe extern "C" fn(ncclComm_t) -> *const c_char,
    group_start: unsafe extern "C" fn() -> Code,
    group_end: unsafe extern "C" fn() -> Code,
    send: Move<*const c_void>,
    recv: Move<*mut c_void>,
}

static NCCL: OnceLock<Nccl> = OnceLock::new();

/// Loads NCCL, and returns its functions. The error names the missing library or function.
pub(super) fn load() -> Result<&'static Nccl> {
    Library::Nccl.load()?;
    match NCCL.get() {
        Some(nccl) => Ok(nccl),
        None => {
            let found = Nccl::find().map_err(|why| Error::unavailable("cuda", why.to_string()).caused_by(why))?;
            Ok(NCCL.get_or_init(|| found))
        }
    }
}

impl Nccl {
    /// Looks up the functions in the library. `Library::load` has already checked that the library has all of them.
    fn find() -> std::result::Result<Nccl, libloading::Error> {
        // SAFETY: NCCL's initialisers have no requirements. The types are those of `nccl.h` since 2.7, and the library
        // is never unloaded, so the functions stay valid.
        unsafe {
            let library = libloading::Library::new("libnccl.so.2")?;
            let nccl = Nccl {
                get_version: *library.get(b"ncclGetVersion")?,
                get_unique_id: *library.get(b"ncclGetUniqueId")?,
                comm_init_rank: *library.get(b"ncclCommInitRank")?,
                comm_destroy: *library.get(b"ncclCommDestroy")?,
                comm_abort: *library.get(b"ncclCommAbort")?,
                comm_get_async_error: *library.get(b"ncclCommGetAsyncError")?,
                get_error_string: *library.get(b"ncclGetErrorString")?,
                get_last_error: *library.get(b"ncclGetLastError")?,
                group_start: *library.get(b"ncclGroupStart")?,
                group_end: *library.get(b"ncclGroupEnd")?,
                send: *library.get(b"ncclSend")?,
                recv: *library.get(b"ncclRecv")?,
            };
            std::mem::forget(library);
            Ok(nccl)
        }
    }

    /// Returns an error with the library's message, unless the code is success.
    fn checked(&self, op: &'static str, call: &str, code: Code) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: both functions return NUL-terminated texts that stay valid until the next error. `get_last_error`
        // accepts a null communicator.
        let (words, last) = unsafe { ((self.get_error_string)(code), (self.get_last_error)(std::ptr::null_mut())) };
        let text = |text: *const c_char| match text.is_null() {
            true => String::new(),
            // SAFETY: the text is NUL-terminated, and stays valid until the next error.
            false => unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().to_owned(),
        };
        let (words, last) = (text(words), text(last));
        let more = if last.is_empty() { String::new() } else { format!(": {last}") };
        Err(Error::library(op, "cuda", format!("{call}: {words}{more}")))
    }

    /// The version as one number: 10000 * major + 100 * minor + patch.
    pub(super) fn version(&self) -> Result<u32> {
        let mut version = 0;
        // SAFETY: the pointer points to an integer, which the function writes.
        self.checked("link", "ncclGetVersion", unsafe { (self.get_version)(&mut version) })?;
        Ok(version.unsigned_abs())
    }

    /// Creates an id, which all ranks of a communicator must pass to [`Nccl::init_rank`] to find each other.
    pub(super) fn unique_id(&self, op: &'static str) -> Result<ncclUniqueId> {
        let mut id = ncclUniqueId { internal: [0; 128] };
        // SAFETY: the pointer points to an id, which the function writes.
        self.checked(op, "ncclGetUniqueId", unsafe { (self.get_unique_id)(&mut id) })?;
        Ok(id)
    }

    /// Creates the communicator of rank `rank` on the current device. Waits until all ranks have called this function.
    pub(super) fn init_rank(&self, op: &'static str, id: ncclUniqueId, rank: usize, size: usize) -> Result<ncclComm_t> {
        let int = |n: usize| {
            c_int::try_from(n).map_err(|_| Error::argument(op, format!("{n} ranks are more than NCCL supports")))
        };
        let mut comm = std::ptr::null_mut();
        // SAFETY: the pointer points to a handle, which the function writes. The library refuses invalid ranks and
        // sizes.
        let code = unsafe { (self.comm_init_rank)(&mut comm, int(size)?, id, int(rank)?) };
        self.checked(op, "ncclCommInitRank", code)?;
        Ok(comm)
    }

    /// Waits until the operations of a communicator have finished, and closes it.
    ///
    /// # Safety
    /// The communicator is alive, and is not used again.
    pub(super) unsafe fn destroy(&self, comm: ncclComm_t) -> Result<()> {
        // SAFETY: the caller guarantees that the communicator is alive, and is not used again.
        self.checked("link", "ncclCommDestroy", unsafe { (self.comm_destroy)(comm) })
    }

    /// Closes a communicator immediately, without waiting for operations in progress.
    ///
    /// # Safety
    /// The communicator is alive, and is not used again.
    pub(super) unsafe fn abort(&self, comm: ncclComm_t) -> Result<()> {
        // SAFETY: the caller guarantees that the communicator is alive, and is not used again.
        self.checked("link", "ncclCommAbort", unsafe { (self.comm_abort)(comm) })
    }

    /// Returns the error of an asynchronous operation of the communicator, if there was one.
    ///
    /// # Safety
    /// The communicator is alive.
    pub(super) unsafe fn async_error(&self, op: &'static str, comm: ncclComm_t) -> Result<()> {
        let mut error = 0;
        // SAFETY: the caller guarantees that the communicator is alive. The pointer points to a code, which the
        // function writes.
        self.checked(op, "ncclCommGetAsyncError", unsafe { (self.comm_get_async_error)(comm, &mut error) })?;
        self.checked(op, "NCCL", error)
    }

    /// Begins a group: this thread's calls until [`Nccl::group_end`] are launched together.
    pub(super) fn group_start(&self, op: &'static str) -> Result<()> {
        // SAFETY: the function takes no arguments.
        self.checked(op, "ncclGroupStart", unsafe { (self.group_start)() })
    }

    /// Ends the group, and puts its operations on their streams.
    pub(super) fn group_end(&self, op: &'static str) -> Result<()> {
        // SAFETY: the function takes no arguments.
        self.checked(op, "ncclGroupEnd", unsafe { (self.group_end)() })
    }

    /// Sends bytes of device memory to rank `to`.
    ///
    /// # Safety
    /// The communicator and the stream are alive, and belong to the same device. The memory has `bytes` bytes. Until
    /// the stream has passed this operation, only work on this stream changes or frees them.
    pub(super) unsafe fn send(
        &self,
        op: &'static str,
        from: u64,
        bytes: usize,
        to: usize,
        comm: ncclComm_t,
        stream: cudaStream_t,
    ) -> Result<()> {
        let from = std::ptr::without_provenance(from as usize);
        // SAFETY: the caller guarantees that the handles are alive and that the memory has `bytes` bytes; the library
        // refuses an invalid rank.
        self.checked(op, "ncclSend", unsafe { (self.send)(from, bytes, BYTES, to as c_int, comm, stream) })
    }

    /// Receives bytes from rank `from` into device memory.
    ///
    /// # Safety
    /// The conditions of [`Nccl::send`] hold. In addition, until the stream has passed this operation, only work on
    /// this stream reads the bytes.
    pub(super) unsafe fn recv(
        &self,
        op: &'static str,
        to: u64,
        bytes: usize,
        from: usize,
        comm: ncclComm_t,
        stream: cudaStream_t,
    ) -> Result<()> {
        let to = std::ptr::without_provenance_mut(to as usize);
        // SAFETY: the caller guarantees that the handles are alive and that the memory has `bytes` bytes; the library
        // refuses an invalid rank.
        self.checked(op, "ncclRecv", unsafe { (self.recv)(to, bytes, BYTES, from as c_int, comm, stream) })
    }
}
