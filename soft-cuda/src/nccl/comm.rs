//! Communicators: a rank's streams to all others, and the messages that have come.

use super::{
    meet::{self, Id},
    status::{Result, Status},
};
use crate::driver;
use std::{
    collections::{BTreeMap, VecDeque},
    io::{self, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
};

/// A rank's end of a communicator.
pub(super) struct Comm {
    pub(super) rank: usize,
    pub(super) size: usize,
    pub(super) device: usize,
    /// To each other rank, for writing.
    streams: Vec<Option<Mutex<UnixStream>>>,
    inbox: Mutex<Inbox>,
}

/// What has come, and what has gone wrong.
struct Inbox {
    /// From each rank.
    messages: Vec<VecDeque<Vec<u8>>>,
    /// Which ranks send nothing any more.
    gone: Vec<bool>,
    error: Option<Status>,
}

static COMMS: Mutex<BTreeMap<u64, Arc<Comm>>> = Mutex::new(BTreeMap::new());

fn comms() -> MutexGuard<'static, BTreeMap<u64, Arc<Comm>>> {
    COMMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The communicator of a handle.
pub(super) fn find(handle: u64) -> Result<Arc<Comm>> {
    let why = || Status::INVALID_ARGUMENT.because(format!("{handle:#x} is no communicator, or was destroyed"));
    comms().get(&handle).cloned().ok_or_else(why)
}

/// Takes a handle away.
pub(super) fn remove(handle: u64) -> Result<Arc<Comm>> {
    let found = find(handle)?;
    comms().remove(&handle);
    Ok(found)
}

impl Comm {
    /// The communicator of a rank, when all have come; its handle.
    pub(super) fn open(id: &Id, rank: usize, size: usize, device: usize) -> Result<u64> {
        let streams = meet::meet(id, rank, size, device)?;
        let failed = |why: io::Error| Status::SYSTEM.because(format!("ncclCommInitRank: {why}"));
        let readers: Vec<Option<UnixStream>> = streams
            .iter()
            .map(|stream| stream.as_ref().map(UnixStream::try_clone).transpose())
            .collect::<io::Result<_>>()
            .map_err(failed)?;
        let inbox = Inbox { messages: vec![VecDeque::new(); size], gone: vec![false; size], error: None };
        let streams = streams.into_iter().map(|stream| stream.map(Mutex::new)).collect();
        let comm = Arc::new(Comm { rank, size, device, streams, inbox: Mutex::new(inbox) });
        let (came, news) = mpsc::channel();
        for (from, stream) in readers.into_iter().enumerate().filter_map(|(from, stream)| Some((from, stream?))) {
            let (comm, came) = (comm.clone(), came.clone());
            // it waits for nothing but messages, so that no rank waits for ever to write one
            let read = move || comm.read(from, stream, &came);
            thread::Builder::new().name(format!("NCCL from rank {from}")).spawn(read).map_err(failed)?;
        }
        let go_on = move || {
            while news.recv().is_ok() {
                driver::advance();
            }
        };
        thread::Builder::new().name("NCCL's progress".into()).spawn(go_on).map_err(failed)?;
        let handle = driver::lock().handle();
        comms().insert(handle, comm);
        Ok(handle)
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the messages of a rank until there are no more.
    fn read(&self, from: usize, mut stream: UnixStream, came: &mpsc::Sender<()>) {
        while let Ok(message) = next(&mut stream) {
            self.inbox().messages[from].push_back(message);
            let _ = came.send(());
        }
        self.inbox().gone[from] = true;
        let _ = came.send(());
    }

    /// Sends a message. A rank that is gone does not get it.
    pub(super) fn send(&self, to: usize, message: &[u8]) {
        let Some(stream) = &self.streams[to] else {
            self.inbox().messages[to].push_back(message.to_vec());
            return;
        };
        let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
        let written = stream.write_all(&(message.len() as u64).to_le_bytes()).and_then(|()| stream.write_all(message));
        if let Err(why) = written {
            self.fail(Status::REMOTE.because(format!("ncclSend to rank {to}: {why}")));
        }
    }

    /// Whether as many messages have come from a rank; an error where they never will.
    pub(super) fn has(&self, from: usize, count: usize) -> std::result::Result<bool, String> {
        let inbox = self.inbox();
        let has = inbox.messages[from].len();
        if has < count && inbox.gone[from] {
            return Err(format!(
                "ncclRecv: rank {from} is gone, and has not sent all that rank {} waits for",
                self.rank
            ));
        }
        Ok(has >= count)
    }

    /// The next message from a rank.
    pub(super) fn take(&self, from: usize) -> Option<Vec<u8>> {
        self.inbox().messages[from].pop_front()
    }

    /// Notes an error, which `ncclCommGetAsyncError` gives from now on.
    pub(super) fn fail(&self, status: Status) {
        self.inbox().error.get_or_insert(status);
    }

    /// What has gone wrong.
    pub(super) fn error(&self) -> Option<Status> {
        self.inbox().error
    }

    /// Sends nothing any more. What was sent comes, and what others send is taken until they end too.
    pub(super) fn close(&self) {
        self.shut(Shutdown::Write);
    }

    /// The same at once: what is under way may be lost.
    pub(super) fn abort(&self) {
        self.shut(Shutdown::Both);
    }

    fn shut(&self, how: Shutdown) {
        for stream in self.streams.iter().flatten() {
            // one that the other has closed needs nothing
            let _ = stream.lock().unwrap_or_else(PoisonError::into_inner).shutdown(how);
        }
    }
}

/// The next message of a stream.
fn next(stream: &mut UnixStream) -> io::Result<Vec<u8>> {
    let mut len = [0; 8];
    stream.read_exact(&mut len)?;
    let len = usize::try_from(u64::from_le_bytes(len)).map_err(io::Error::other)?;
    let mut message = Vec::new();
    message.try_reserve_exact(len).map_err(io::Error::other)?;
    message.resize(len, 0);
    stream.read_exact(&mut message)?;
    Ok(message)
}
