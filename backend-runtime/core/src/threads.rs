//! The number of threads that the CPU's loops may use, which is 1 in a process made by `fork`.
//!
//! Loops run in the calling thread and on rayon's pool. rayon panics if the system refuses to start its threads, and a
//! process made by `fork` waits forever for threads that only its parent has. Therefore no loop calls rayon before
//! [`count`] has confirmed that there is a pool. Without a pool, [`count`] returns 1 and loops run in the calling
//! thread.

use std::{
    panic,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

/// True if this process was made by `fork` after its parent called [`watch_forks`].
static FORKED: AtomicBool = AtomicBool::new(false);

/// Returns the number of threads over which a loop of this thread may be split; 1 if the loop must run in this thread.
pub fn count() -> usize {
    if FORKED.load(Ordering::Relaxed) {
        return 1;
    }
    // a thread of the caller's own rayon pool uses that pool
    if rayon::current_thread_index().is_some() {
        return rayon::current_num_threads();
    }
    static POOL: OnceLock<usize> = OnceLock::new();
    *POOL.get_or_init(|| {
        watch_forks();
        match rayon::ThreadPoolBuilder::new().build_global() {
            Ok(()) => rayon::current_num_threads(),
            Err(why) if std::error::Error::source(&why).is_some() => 1, // the system refused to start threads
            // the program may already have started the pool, or have failed to start it; only a query can distinguish
            // these cases
            Err(_) => panic::catch_unwind(rayon::current_num_threads).unwrap_or(1),
        }
    })
}

/// Installs a handler that sets `FORKED` in every process forked afterwards.
pub fn watch_forks() {
    #[cfg(unix)]
    {
        static WATCHED: OnceLock<()> = OnceLock::new();
        extern "C" fn in_child() {
            FORKED.store(true, Ordering::Relaxed);
        }
        WATCHED.get_or_init(|| {
            // SAFETY: the handler only stores to an atomic, which is allowed in the child of a process with several
            // threads.
            unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        });
    }
}

/// Returns an error in a forked process, because the threads and the device of the library do not exist there.
#[inline(always)]
pub fn refuse_forked(backend: &'static str) -> crate::Result<()> {
    #[cold]
    fn forked(backend: &'static str) -> crate::Error {
        let why = "this process was made by `fork` from one that had used the backend, whose threads and device it does not \
                   have; fork before the first use, or start a new program";
        crate::Error::unavailable(backend, why)
    }
    if FORKED.load(Ordering::Relaxed) { Err(forked(backend)) } else { Ok(()) }
}
