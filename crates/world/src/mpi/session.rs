//! The lifetime of MPI in this process: MPI is initialised once. Later it is finalised once, or all ranks are aborted.

use super::{
    functions::{self, Word},
    load::Loaded,
    reduce, slot,
};
use crate::{DType, Error, Join, Result, board::Board, environment::is_set, say::say, status};
use std::{
    ffi::c_int,
    io::Write,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    thread::{self, ThreadId},
    time::Duration,
};

/// The state of MPI. There is one per process.
pub(super) struct Session {
    pub loaded: Loaded,
    /// True if this crate has initialised the library, and therefore must finalise it.
    ours: bool,
    /// The thread that initialised MPI.
    thread: ThreadId,
    /// True if other threads may make calls, one at a time.
    any_thread: bool,
    /// The maximum number of elements of a call, if the library lacks the functions with 64-bit element counts.
    pub most: usize,
    /// The reduction operations that this crate has created in the library so far.
    operations: Mutex<Vec<((DType, Join), Word)>>,
    /// Communicators that must be freed later, because their handles were dropped.
    left_over: Mutex<Vec<Word>>,
    /// The board on which this rank publishes that it has left.
    board: OnceLock<Arc<Board>>,
}

static SESSION: OnceLock<Session> = OnceLock::new();

/// The time within which printed text is expected to reach the launcher.
const PRINTED: Duration = Duration::from_millis(100);

/// The time within which a launcher is expected to end all processes after one of them has called `MPI_Abort`.
const ENDED: Duration = Duration::from_secs(1);

/// True if MPI has been finalised.
static FINALIZED: AtomicBool = AtomicBool::new(false);

/// True if all ranks are about to end. If so, the `exit` handler does nothing.
static ENDING: AtomicBool = AtomicBool::new(false);

/// True if this rank has finished its work, so that MPI is finalised at `exit`. This happens if the last handle was
/// dropped on a thread that may not finalise MPI, or if a handle is never dropped.
static PARTED: AtomicBool = AtomicBool::new(false);

/// The rank of this process and the number of ranks, for the `exit` handler.
static RANK: AtomicUsize = AtomicUsize::new(0);
static SIZE: AtomicUsize = AtomicUsize::new(1);

impl Session {
    /// Initialises the library, once per process.
    pub fn begin(loaded: Loaded) -> Result<&'static Session> {
        let f = &loaded.functions;
        let (mut done, mut gone, mut provided) = (0, 0, 0);
        // SAFETY: both functions may be called at any time.
        unsafe {
            (f.initialized)(&mut done);
            (f.finalized)(&mut gone);
        }
        if gone != 0 {
            return Err(Error::Mpi {
                call: "MPI_Init_thread",
                message: "MPI was finalised before, by other code".into(),
            });
        }
        let ours = done == 0;
        let code = if ours {
            // `MPI_THREAD_SERIALIZED`: calls come from one thread at a time, but not always from the same thread
            let serialized = loaded.abi.serialized;
            // SAFETY: MPI is not initialised yet, and the standard allows null arguments.
            unsafe { (f.init_thread)(std::ptr::null_mut(), std::ptr::null_mut(), serialized, &mut provided) }
        } else {
            // SAFETY: the library is initialised.
            unsafe { (f.query_thread)(&mut provided) }
        };
        check(f, "MPI_Init_thread", code)?;
        let any_thread = provided >= loaded.abi.serialized;
        let most = super::load::short_counts().unwrap_or(c_int::MAX as usize);
        let session = Session {
            loaded,
            ours,
            thread: thread::current().id(),
            any_thread,
            most,
            operations: Mutex::default(),
            left_over: Mutex::default(),
            board: OnceLock::new(),
        };
        let session = SESSION.get_or_init(|| session);
        if ours {
            // SAFETY: the handler uses nothing that has been dropped at exit. It is never unloaded, because it is part
            // of the program itself.
            unsafe { libc::atexit(left) };
        }
        Ok(session)
    }

    /// Returns the session of this process; `None` if `begin` has not been called yet.
    pub fn get() -> Option<&'static Session> {
        SESSION.get()
    }

    /// Sets the rank of this process and the number of ranks, once they are known.
    pub fn set_rank(&self, rank: usize, size: usize) {
        RANK.store(rank, Relaxed);
        SIZE.store(size, Relaxed);
    }

    /// Sets the board on which this rank publishes its state.
    pub fn set_board(&self, board: Arc<Board>) {
        let _ = self.board.set(board);
    }

    /// Converts the return code of a call to a result.
    pub fn check(&self, call: &'static str, code: c_int) -> Result<()> {
        if code == 0 { Ok(()) } else { check(&self.loaded.functions, call, code) }
    }

    /// Returns whether an error code means that a message was longer than the buffer of its receive.
    pub fn is_truncated(&self, code: c_int) -> bool {
        let mut class = 0;
        // SAFETY: the function accepts any code.
        code != 0
            && unsafe { (self.loaded.functions.error_class)(code, &mut class) } == 0
            && class == self.loaded.abi.truncated
    }

    /// If the library allows calls only on the thread that initialised it, returns an error on all other threads.
    pub fn on_right_thread(&self, call: &'static str) -> Result<()> {
        if self.any_thread || thread::current().id() == self.thread {
            return Ok(());
        }
        let message =
            "this library accepts calls only from the thread that initialised it, and this call is from another thread"
                .into();
        Err(Error::Mpi { call, message })
    }

    /// The MPI datatype and operation of a reduction that the caller has checked. If MPI does not define the
    /// reduction, the operation is created.
    pub fn reduction(&self, dtype: DType, join: Join) -> Result<(Word, Word)> {
        if let Some(own) = self.loaded.abi.joined(dtype, join) {
            return Ok(own);
        }
        let datatype = self.loaded.abi.moved(dtype);
        let mut made = self.operations.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, operation)) = made.iter().find(|(of, _)| *of == (dtype, join)) {
            return Ok((datatype, *operation));
        }
        let (short, long) = reduce::functions(dtype, join)?;
        let mut operation = 0;
        // SAFETY: the callback accepts the arguments that MPI passes for elements of this dtype, and is commutative, as
        // the argument 1 states.
        let code = unsafe {
            match &self.loaded.long {
                Some(table) => (table.op_create)(long, 1, &mut operation),
                None => (self.loaded.functions.op_create)(short, 1, &mut operation),
            }
        };
        self.check("MPI_Op_create", code)?;
        made.push(((dtype, join), operation));
        Ok((datatype, operation))
    }

    fn is_finalized(&self) -> bool {
        let mut done = 0;
        // SAFETY: the function may be called at any time.
        unsafe { (self.loaded.functions.finalized)(&mut done) };
        done != 0
    }

    /// Queues a communicator that will be freed later. It cannot be freed immediately, because its handle may be
    /// dropped on any thread, while another thread is in a call.
    pub fn leave(&self, comm: Word) {
        self.left_over.lock().unwrap_or_else(PoisonError::into_inner).push(comm);
    }

    /// Frees the queued communicators. It may be called only when MPI calls are allowed.
    pub fn free_left_over(&self) {
        for mut comm in self.left_over.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // SAFETY: no other object has this handle. No call is pending on it, because a pending call would keep the
            // world alive.
            unsafe { (self.loaded.functions.free)(&mut comm) };
        }
    }

    /// Ends the session after the last handle of the world has been dropped. Finalising waits for all ranks.
    pub fn end(&self) {
        if !self.ours || ENDING.load(Relaxed) {
            return;
        }
        if thread::current().id() != self.thread {
            // only the thread that initialised MPI may finalise it, and the `exit` handler runs on this thread
            return finish_at_exit();
        }
        self.finalize();
    }

    fn finalize(&self) {
        // other ranks that still wait for this rank see on the board that it has left, and end all ranks
        if let Some(board) = self.board.get() {
            board.leave();
            end_with_others(board.clone());
        }
        if !self.is_finalized() {
            // SAFETY: this crate initialised MPI, MPI is not finalised, and no call is running, because all handles
            // were dropped.
            unsafe { (self.loaded.functions.finalize)() };
        }
        FINALIZED.store(true, Relaxed);
    }

    /// Ends all ranks, from any thread, even while another thread is in a call.
    pub fn abort(&self, code: i32) -> ! {
        ENDING.store(true, Relaxed);
        if let Some(board) = self.board.get() {
            board.end(code);
        }
        let _ = std::io::stdout().flush();
        // launchers read output through pipes; when they are ordered to end, they discard the output that they have
        // not read
        thread::sleep(PRINTED);
        // if the library does not end this process, the process exits by itself, and launchers then end the other ranks
        let end = move || {
            thread::sleep(ENDED);
            // SAFETY: `_exit` ends the process without running handlers that could wait.
            unsafe { libc::_exit(code) }
        };
        let _guard = thread::Builder::new().name("end of ranks".into()).spawn(end);
        if !self.is_finalized() {
            // SAFETY: the library is initialised. Another thread may be in a call, but `abort` only needs to notify the
            // launcher.
            unsafe { (self.loaded.functions.abort)(self.loaded.abi.world, code) };
        }
        // SAFETY: `_exit` ends the process without running handlers that could wait.
        unsafe { libc::_exit(code) }
    }
}

/// Starts a thread that ends this process if another rank ends all ranks while this rank waits in `MPI_Finalize`. The
/// launcher should end this process; without the thread, a launcher that hangs would leave it behind.
fn end_with_others(board: Arc<Board>) {
    let end = move || {
        while !FINALIZED.load(Relaxed) {
            thread::sleep(ENDED);
            if let Some(status) = board.ending() {
                thread::sleep(ENDED);
                if !FINALIZED.load(Relaxed) {
                    // SAFETY: `_exit` ends the process without running handlers that could wait.
                    unsafe { libc::_exit(status) }
                }
            }
        }
    };
    // without the thread, only the launcher ends this process
    let _ = thread::Builder::new().name("end with others".into()).spawn(end);
}

fn check(f: &functions::Functions, call: &'static str, code: c_int) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    let message = functions::text(|text, length| {
        // SAFETY: the buffer is longer than any error message.
        unsafe { (f.error_string)(code, text, length) }
    });
    Err(Error::Mpi { call, message: if message.is_empty() { format!("error {code}") } else { message } })
}

/// Records that this rank has finished its work. From now on, `exit` is not reported as a failure, and finalises MPI.
pub(super) fn finish_at_exit() {
    PARTED.store(true, Relaxed);
}

/// Handler that runs at `exit`. Without it, if this rank has not finalised MPI, the other ranks would wait for this
/// rank, or the launcher would end them with a status of success.
extern "C" fn left() {
    let Some(session) = Session::get() else { return };
    if ENDING.load(Relaxed) || session.is_finalized() {
        return;
    }
    let (rank, size) = (RANK.load(Relaxed), SIZE.load(Relaxed));
    let is_expected = size == 1 || PARTED.load(Relaxed) || is_set("WORLD_TESTS");
    if is_expected && !slot::is_calling() && session.on_right_thread("MPI_Finalize").is_ok() {
        return session.finalize();
    }
    say(&format!("rank {rank} of {size} called exit before its end: all ranks end"));
    session.abort(status::LEFT)
}
