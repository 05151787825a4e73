//! NCCL's error codes, and the message of the last error.

use std::{
    ffi::{CStr, CString},
    sync::{Mutex, PoisonError},
};

/// The result of an NCCL function; the error is a `ncclResult_t`.
pub(super) type Result<T> = std::result::Result<T, Status>;

/// An error code of NCCL: a `ncclResult_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Status(pub(super) u32);

impl Status {
    pub(super) const UNHANDLED_CUDA: Status = Status(1);
    pub(super) const SYSTEM: Status = Status(2);
    pub(super) const INVALID_ARGUMENT: Status = Status(4);
    pub(super) const INVALID_USAGE: Status = Status(5);
    pub(super) const REMOTE: Status = Status(6);

    /// Returns NCCL's text for the code.
    pub(super) fn words(self) -> &'static CStr {
        match self.0 {
            0 => c"no error",
            1 => c"unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
            2 => c"unhandled system error (run with NCCL_DEBUG=INFO for details)",
            3 => c"internal error - please report this issue to the NCCL developers",
            4 => c"invalid argument (run with NCCL_DEBUG=WARN for details)",
            5 => c"invalid usage (run with NCCL_DEBUG=WARN for details)",
            6 => c"remote process exited or there was a network error",
            7 => c"NCCL operation in progress",
            _ => c"unknown result code",
        }
    }

    /// Records `why` as the message that [`last`] returns; returns the error itself.
    pub(super) fn because(self, why: impl Into<String>) -> Status {
        let text: String = why.into().replace('\0', " ");
        eprintln!("soft-cuda: {text}");
        if let Ok(text) = CString::new(text) {
            // the text is leaked, because callers keep its address and errors are rare
            *lock() = Box::leak(text.into_boxed_c_str());
        }
        self
    }
}

static LAST: Mutex<&'static CStr> = Mutex::new(c"");

fn lock() -> std::sync::MutexGuard<'static, &'static CStr> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the message of the last error in this process.
pub(super) fn last() -> &'static CStr {
    *lock()
}
