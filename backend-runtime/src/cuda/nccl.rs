//! NCCL's functions. The types are cudarc's, the loading is not: cudarc looks for `libnccl.so`, which only packages for developers have, and
//! panics where it is missing. The codes are numbers here, as a newer library may have more of them than an enum.

use super::library::Library;
use crate::{Error, Result};
use cudarc::nccl::sys::{cudaStream_t, ncclComm_t, ncclUniqueId};
use std::{
    ffi::{CStr, c_char, c_int, c_void},
    sync::OnceLock,
};

/// A `ncclResult_t`.
pub(super) type Code = u32;

/// Bytes: NCCL has no complex numbers, no bools and no 16-bit integers, and moves whatever they are.
const BYTES: u32 = cudarc::nccl::sys::ncclDataType_t::ncclUint8 as u32;

type Move<P> = unsafe extern "C" fn(P, usize, u32, c_int, ncclComm_t, cudaStream_t) -> Code;

/// The functions of the library, which stays loaded.
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

/// The library, or what is missing.
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
    /// Looks the functions up in the library, which was examined and found to have them.
    fn find() -> std::result::Result<Nccl, libloading::Error> {
        // SAFETY: NCCL's initialisers have no requirements; the types are those of `nccl.h` since 2.7, and the library stays loaded, so that
        // the functions do.
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

    /// An error with the library's words, unless the code is that of success.
    fn checked(&self, op: &'static str, call: &str, code: Code) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: both give texts that end with NUL and stay until the next error; the second takes no communicator in particular.
        let (words, last) = unsafe { ((self.get_error_string)(code), (self.get_last_error)(std::ptr::null_mut())) };
        let text = |text: *const c_char| match text.is_null() {
            true => String::new(),
            // SAFETY: as above.
            false => unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().to_owned(),
        };
        let (words, last) = (text(words), text(last));
        let more = if last.is_empty() { String::new() } else { format!(": {last}") };
        Err(Error::library(op, "cuda", format!("{call}: {words}{more}")))
    }

    /// The version, 10000 times the major one and 100 times the minor one.
    pub(super) fn version(&self) -> Result<u32> {
        let mut version = 0;
        // SAFETY: there is room for the number.
        self.checked("link", "ncclGetVersion", unsafe { (self.get_version)(&mut version) })?;
        Ok(version.unsigned_abs())
    }

    /// A new id, by which ranks find each other.
    pub(super) fn unique_id(&self, op: &'static str) -> Result<ncclUniqueId> {
        let mut id = ncclUniqueId { internal: [0; 128] };
        // SAFETY: there is room for the id.
        self.checked(op, "ncclGetUniqueId", unsafe { (self.get_unique_id)(&mut id) })?;
        Ok(id)
    }

    /// A rank's communicator on the device that is current. Waits for all ranks.
    pub(super) fn init_rank(&self, op: &'static str, id: ncclUniqueId, rank: usize, size: usize) -> Result<ncclComm_t> {
        let int = |n: usize| {
            c_int::try_from(n).map_err(|_| Error::argument(op, format!("{n} ranks are more than NCCL can count")))
        };
        let mut comm = std::ptr::null_mut();
        // SAFETY: there is room for the handle; the library refuses numbers that do not fit.
        let code = unsafe { (self.comm_init_rank)(&mut comm, int(size)?, id, int(rank)?) };
        self.checked(op, "ncclCommInitRank", code)?;
        Ok(comm)
    }

    /// Ends a communicator.
    ///
    /// # Safety
    /// It is alive, and not used again.
    pub(super) unsafe fn destroy(&self, comm: ncclComm_t) -> Result<()> {
        // SAFETY: the caller's promise.
        self.checked("link", "ncclCommDestroy", unsafe { (self.comm_destroy)(comm) })
    }

    /// Ends a communicator whatever is under way.
    ///
    /// # Safety
    /// As [`Nccl::destroy`].
    pub(super) unsafe fn abort(&self, comm: ncclComm_t) -> Result<()> {
        // SAFETY: the caller's promise.
        self.checked("link", "ncclCommAbort", unsafe { (self.comm_abort)(comm) })
    }

    /// What has gone wrong in the background.
    ///
    /// # Safety
    /// The communicator is alive.
    pub(super) unsafe fn async_error(&self, op: &'static str, comm: ncclComm_t) -> Result<()> {
        let mut error = 0;
        // SAFETY: the caller's promise; there is room for the code.
        self.checked(op, "ncclCommGetAsyncError", unsafe { (self.comm_get_async_error)(comm, &mut error) })?;
        self.checked(op, "NCCL", error)
    }

    /// What is called until [`Nccl::group_end`] by this thread goes together.
    pub(super) fn group_start(&self, op: &'static str) -> Result<()> {
        // SAFETY: it takes nothing.
        self.checked(op, "ncclGroupStart", unsafe { (self.group_start)() })
    }

    /// Puts it on the streams.
    pub(super) fn group_end(&self, op: &'static str) -> Result<()> {
        // SAFETY: it takes nothing.
        self.checked(op, "ncclGroupEnd", unsafe { (self.group_end)() })
    }

    /// Sends bytes of device memory to a rank.
    ///
    /// # Safety
    /// The communicator and the stream are alive, and of one device; there are so many bytes, which nothing but the stream's work changes or
    /// frees before it has come to this.
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
        // SAFETY: the caller's promise; the library refuses a rank that is none.
        self.checked(op, "ncclSend", unsafe { (self.send)(from, bytes, BYTES, to as c_int, comm, stream) })
    }

    /// Receives bytes of a rank in device memory.
    ///
    /// # Safety
    /// As [`Nccl::send`]; nothing else reads the bytes either.
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
        // SAFETY: as above.
        self.checked(op, "ncclRecv", unsafe { (self.recv)(to, bytes, BYTES, from as c_int, comm, stream) })
    }
}
