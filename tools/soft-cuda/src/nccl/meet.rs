//! Connects the ranks of a communicator with each other, through Linux's abstract sockets, which leave no files.
//!
//! All ranks of a communicator get the same id, which one process makes. First, each rank connects to this process, and
//! sends its data: its number, the number of ranks, and its device. The process waits for all ranks and compares their
//! data. Then it sends the same error message to all ranks. If the message is empty, the ranks connect to each other.

use super::status::{Result, Status};
use std::{
    fs::File,
    io::{self, Read, Write},
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener, UnixStream},
    },
    thread,
    time::{Duration, Instant},
};

/// The longest time that ranks wait for each other.
const PATIENCE: Duration = Duration::from_secs(60);

/// The first bytes of an id.
const MAGIC: [u8; 8] = *b"softnccl";

/// A `ncclUniqueId`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Id {
    pub(super) bytes: [u8; 128],
}

impl Id {
    /// Makes an id. From now on, a thread of this process waits for connections from the ranks that have the id.
    pub(super) fn new() -> io::Result<Id> {
        let mut id = Id { bytes: [0; 128] };
        id.bytes[..8].copy_from_slice(&MAGIC);
        File::open("/dev/urandom")?.read_exact(&mut id.bytes[8..64])?;
        let listener = UnixListener::bind_addr(&id.address("root")?)?;
        thread::Builder::new().name("NCCL's bootstrap".into()).spawn(move || root(&id, &listener))?;
        Ok(id)
    }

    /// Returns the address of a socket. It contains only 16 bytes of the id. A process that connects must send other
    /// bytes of the id, to prove that it knows the id.
    fn address(&self, of: impl std::fmt::Display) -> io::Result<SocketAddr> {
        let name: String = self.bytes[8..24].iter().map(|byte| format!("{byte:02x}")).collect();
        SocketAddr::from_abstract_name(format!("soft-nccl-{name}-{of}"))
    }

    fn secret(&self) -> &[u8] {
        &self.bytes[24..64]
    }

    pub(super) fn is_own(&self) -> bool {
        self.bytes.starts_with(&MAGIC)
    }
}

/// The data that a rank sends: its rank, the number of ranks, and its device.
type Hello = [u32; 3];

fn send_hello(stream: &mut UnixStream, id: &Id, hello: Hello) -> io::Result<()> {
    let mut message = id.secret().to_vec();
    message.extend(hello.iter().flat_map(|number| number.to_le_bytes()));
    stream.write_all(&message)
}

/// Reads the data of a connecting process, after checking that it knows the id.
fn hello(stream: &mut UnixStream, id: &Id) -> io::Result<Hello> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut secret = vec![0; id.secret().len()];
    stream.read_exact(&mut secret)?;
    if secret != id.secret() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut numbers = [[0; 4]; 3];
    numbers.iter_mut().try_for_each(|number| stream.read_exact(number))?;
    Ok(numbers.map(u32::from_le_bytes))
}

/// Accepts the next connection from a process that knows the id.
fn accept(listener: &UnixListener, id: &Id, until: Instant) -> io::Result<(UnixStream, Hello)> {
    listener.set_nonblocking(true)?;
    loop {
        match listener.accept() {
            Ok((mut stream, _)) => {
                if let Ok(hello) = hello(&mut stream, id) {
                    return Ok((stream, hello));
                }
            }
            Err(why) if why.kind() != io::ErrorKind::WouldBlock => return Err(why),
            Err(_) if Instant::now() > until => return Err(io::ErrorKind::TimedOut.into()),
            Err(_) => thread::sleep(Duration::from_micros(200)),
        }
    }
}

/// Waits until all ranks with the id have connected, or until an error occurs. Then sends an error message to each
/// rank. If the message is empty, the ranks continue.
fn root(id: &Id, listener: &UnixListener) {
    let until = Instant::now() + PATIENCE;
    let mut all: Vec<(UnixStream, Hello)> = Vec::new();
    let wrong = loop {
        match accept(listener, id, until) {
            Ok(new) => all.push(new),
            Err(why) => break format!("ncclCommInitRank: {} ranks have joined: {why}", all.len()),
        }
        let wrong = what_is_wrong(&all.iter().map(|(_, hello)| *hello).collect::<Vec<_>>());
        if !wrong.is_empty() || all.len() == all[0].1[1] as usize {
            break wrong;
        }
    };
    for (mut stream, _) in all {
        // an error is ignored, because a rank that has disconnected needs no answer
        let _ = stream.write_all(wrong.as_bytes());
    }
}

/// Returns the mistake in the data of the ranks that have connected so far, or an empty text if there is no mistake.
fn what_is_wrong(all: &[Hello]) -> String {
    for (i, [rank, size, device]) in all.iter().enumerate() {
        for [other, others, on] in &all[..i] {
            if size != others {
                return format!("ncclCommInitRank: rank {rank} is one of {size}, rank {other} one of {others}");
            }
            if rank == other {
                return format!("ncclCommInitRank: rank {rank} has joined twice");
            }
            if device == on {
                return format!("Duplicate GPU detected : rank {rank} and rank {other} both on CUDA device {device:x}");
            }
        }
    }
    String::new()
}

/// Connects a rank with all other ranks. Returns a stream for each of the other ranks, and `None` for the rank itself.
pub(super) fn meet(id: &Id, rank: usize, size: usize, device: usize) -> Result<Vec<Option<UnixStream>>> {
    connect(id, rank, size, device)
        .unwrap_or_else(|why| Err(Status::SYSTEM.because(format!("ncclCommInitRank: {why}"))))
}

fn connect(id: &Id, rank: usize, size: usize, device: usize) -> io::Result<Result<Vec<Option<UnixStream>>>> {
    let listener = UnixListener::bind_addr(&id.address(rank)?)?;
    let mut root = UnixStream::connect_addr(&id.address("root")?)?;
    let own = [rank as u32, size as u32, device as u32];
    send_hello(&mut root, id, own)?;
    let mut wrong = String::new();
    root.set_read_timeout(Some(2 * PATIENCE))?;
    root.read_to_string(&mut wrong)?;
    if !wrong.is_empty() {
        return Ok(Err(Status::INVALID_USAGE.because(wrong)));
    }
    // all ranks are listening now
    let mut streams: Vec<Option<UnixStream>> = (0..size).map(|_| None).collect();
    for (other, place) in streams.iter_mut().enumerate().take(rank) {
        let mut stream = UnixStream::connect_addr(&id.address(other)?)?;
        send_hello(&mut stream, id, own)?;
        *place = Some(stream);
    }
    let until = Instant::now() + PATIENCE;
    for _ in rank + 1..size {
        let (stream, [other, ..]) = accept(&listener, id, until)?;
        stream.set_read_timeout(None)?;
        match streams.get_mut(other as usize) {
            Some(place) if other as usize > rank && place.is_none() => *place = Some(stream),
            _ => return Err(io::Error::other(format!("an unexpected rank {other}"))),
        }
    }
    Ok(Ok(streams))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ranks_say_of_themselves_has_to_fit() {
        assert_eq!(what_is_wrong(&[[0, 2, 0], [1, 2, 1]]), "");
        assert!(what_is_wrong(&[[0, 2, 0], [1, 2, 0]]).contains("Duplicate GPU"));
        assert!(what_is_wrong(&[[0, 2, 0], [0, 2, 1]]).contains("twice"));
        assert!(what_is_wrong(&[[0, 2, 0], [1, 3, 1]]).contains("one of 3"));
    }

    #[test]
    fn a_stranger_is_passed_over() {
        let id = Id::new().unwrap();
        let mut other = id;
        other.bytes[40] ^= 1;
        let mut stranger = UnixStream::connect_addr(&id.address("root").unwrap()).unwrap();
        send_hello(&mut stranger, &other, [0, 1, 0]).unwrap();
        assert!(meet(&id, 0, 1, 0).is_ok_and(|streams| streams.len() == 1));
        let mut answer = Vec::new();
        assert_eq!(stranger.read_to_end(&mut answer).unwrap_or(0), 0);
    }
}
