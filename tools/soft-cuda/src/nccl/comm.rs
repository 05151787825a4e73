//! Communicators: the sockets from one rank to all other ranks, and the received messages.

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

/// The communicator of one rank.
pub(super) struct Comm {
    pub(super) rank: usize,
    pub(super) size: usize,
    pub(super) device: usize,
    /// The socket to each other rank, for writing; `None` for this rank.
    streams: Vec<Option<Mutex<UnixStream>>>,
    inbox: Mutex<Inbox>,
}

/// Received messages and errors.
struct Inbox {
    /// The messages received from each rank, the oldest first.
    messages: Vec<VecDeque<Vec<u8>>>,
    /// For each rank, whether it has stopped sending.
    gone: Vec<bool>,
    error: Option<Status>,
}

static COMMS: Mutex<BTreeMap<u64, Arc<Comm>>> = Mutex::new(BTreeMap::new());

fn comms() -> MutexGuard<'static, BTreeMap<u64, Arc<Comm>>> {
    COMMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the communicator of a handle.
pub(super) fn find(handle: u64) -> Result<Arc<Comm>> {
    let why = || Status::INVALID_ARGUMENT.because(format!("{handle:#x} is no communicator, or was destroyed"));
    comms().get(&handle).cloned().ok_or_else(why)
}

/// Removes a handle; returns its communicator.
pub(super) fn remove(handle: u64) -> Result<Arc<Comm>> {
    let found = find(handle)?;
    comms().remove(&handle);
    Ok(found)
}

impl Comm {
    /// Opens the communicator of a rank after all ranks have connected; returns its handle.
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
            // the new thread only reads messages and never writes, so a rank that writes a message is never blocked
            // forever
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

    /// Reads the messages of a rank until the stream ends.
    fn read(&self, from: usize, mut stream: UnixStream, came: &mpsc::Sender<()>) {
        while let Ok(message) = next(&mut stream) {
            self.inbox().messages[from].push_back(message);
            let _ = came.send(());
        }
        self.inbox().gone[from] = true;
        let _ = came.send(());
    }

    /// Sends a message to a rank. If the rank has closed its socket, the message is lost, and an error is recorded.
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

    /// Returns whether `count` messages have arrived from a rank; returns an error if they can no longer arrive.
    pub(super) fn has(&self, from: usize, count: usize) -> std::result::Result<bool, String> {
        let inbox = self.inbox();
        let has = inbox.messages[from].len();
        if has < count && inbox.gone[from] {
            return Err(format!(
                "ncclRecv: rank {from} has exited, and has not sent all data that rank {} waits for",
                self.rank
            ));
        }
        Ok(has >= count)
    }

    /// Takes the next message from a rank.
    pub(super) fn take(&self, from: usize) -> Option<Vec<u8>> {
        self.inbox().messages[from].pop_front()
    }

    /// Records an error; `ncclCommGetAsyncError` returns it from now on.
    pub(super) fn fail(&self, status: Status) {
        self.inbox().error.get_or_insert(status);
    }

    /// Returns the recorded error.
    pub(super) fn error(&self) -> Option<Status> {
        self.inbox().error
    }

    /// Stops sending. Messages already sent still arrive, and messages of other ranks are read until those ranks stop
    /// sending too.
    pub(super) fn close(&self) {
        self.shut(Shutdown::Write);
    }

    /// Stops sending and receiving immediately; messages in transit may be lost.
    pub(super) fn abort(&self) {
        self.shut(Shutdown::Both);
    }

    fn shut(&self, how: Shutdown) {
        for stream in self.streams.iter().flatten() {
            // an error is ignored, because it only means that the other rank has already closed the socket
            let _ = stream.lock().unwrap_or_else(PoisonError::into_inner).shutdown(how);
        }
    }
}

/// Reads the next message of a stream.
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
