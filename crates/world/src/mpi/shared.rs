//! Shared memory of the processes of one machine, for the [`Board`](crate::board::Board). It is a file without a name:
//! the first process creates it, and the other processes open it by its file number in the first process. If this fails
//! on any process, no shared memory is used.

use crate::{DType, Transport, board::Slot, bytes};

/// The slots of all ranks of this machine, initially all bits 0. All these ranks must call this function.
#[cfg(target_os = "linux")]
pub(super) fn slots(machine: &dyn Transport) -> Option<&'static [Slot]> {
    use std::{
        fs::{File, OpenOptions},
        os::{
            fd::{AsRawFd, FromRawFd},
            unix::fs::{FileExt, MetadataExt, OpenOptionsExt},
        },
        sync::atomic::{AtomicU64, Ordering::Relaxed},
    };
    static SALT: AtomicU64 = AtomicU64::new(0);

    let (rank, size) = (machine.rank(), machine.size());
    let len = size_of::<Slot>() * size;
    // the file holds the slots and then a salt; the first process also sends the salt in a message, so that the other
    // processes can recognise the file
    let all = len + 16;
    let made = (rank == 0).then(|| -> std::io::Result<(File, [u64; 4])> {
        // SAFETY: the name ends with a zero, and the call returns a descriptor or -1.
        let number = unsafe { libc::memfd_create(c"ranks".as_ptr(), libc::MFD_CLOEXEC) };
        if number < 0 {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new, and nothing else owns it.
        let file = unsafe { File::from_raw_fd(number) };
        file.set_len(all as u64)?;
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let salt = [time.as_nanos() as u64, (&raw const SALT).addr() as u64 ^ SALT.fetch_add(1, Relaxed)];
        file.write_all_at(bytes::of(&salt), len as u64)?;
        Ok((file, [u64::from(std::process::id()), number as u64, salt[0], salt[1]]))
    });
    let mut told = match &made {
        Some(Ok((_, told))) => *told,
        _ => [0; 4],
    };
    machine.broadcast(bytes::of_mut(&mut told), DType::UInt64, 0).ok()?;
    let open = || -> Option<File> {
        let path = format!("/proc/{}/fd/{}", told[0], told[1]);
        let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(path).ok()?;
        let about = file.metadata().ok()?;
        // SAFETY: `geteuid` has no arguments and no preconditions.
        let user = unsafe { libc::geteuid() };
        let mut salt = [0_u64; 2];
        let is_it = about.is_file() && about.len() == all as u64 && about.uid() == user;
        (is_it && file.read_exact_at(bytes::of_mut(&mut salt), len as u64).is_ok() && salt == told[2..]).then_some(file)
    };
    let file = match made {
        Some(made) => made.ok().map(|(file, _)| file),
        None if told[0] == 0 => None,
        None => open(),
    };
    let mapped = file.as_ref().and_then(|file| {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the mapping is new, and its file has this length. The file never becomes shorter, because it has no
        // name, and only ranks have it open.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), all, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        (start != libc::MAP_FAILED).then_some(start.cast::<Slot>())
    });
    // waits until all processes have opened the file
    machine.barrier().ok()?;
    // SAFETY: the mapping begins at a page, is never unmapped, and has room for `size` slots. Slots are atomics, which
    // are valid for any bits.
    mapped.map(|start| unsafe { std::slice::from_raw_parts(start, size) })
}

/// Shared memory is implemented only on Linux.
#[cfg(not(target_os = "linux"))]
pub(super) fn slots(_: &dyn Transport) -> Option<&'static [Slot]> {
    None
}
