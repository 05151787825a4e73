//! Linux: a file in memory (`memfd_create`), whose length is sealed, and which others open as `/proc/PID/fd/N`.

use super::{SYSTEM, failed};
use backend_runtime::{Error, Result};
use memmap2::{Mmap, MmapOptions, MmapRaw};
use rustix::{
    fs::{FallocateFlags, MemfdFlags, OFlags, SealFlags},
    io::Errno,
};
use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind},
    os::{
        fd::AsRawFd,
        unix::fs::{FileExt, OpenOptionsExt},
    },
};

/// The seals of memory that is written to, and what an array has in addition.
const LENGTH: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

fn seals(writable: bool) -> SealFlags {
    if writable { LENGTH } else { LENGTH.union(SealFlags::WRITE) }
}

/// An error where the machine has not so much memory: pages of such files have no limit of their own, and asking for all of them would
/// end processes.
pub fn room(op: &'static str, bytes: usize) -> Result<()> {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kibibytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix(" kB")?.parse::<usize>().ok()
    };
    match (kibibytes("MemAvailable"), kibibytes("SwapFree")) {
        (Some(memory), swap) if bytes / 1024 >= memory + swap.unwrap_or(0) => Err(Error::Memory { op, bytes }),
        _ => Ok(()),
    }
}

/// New memory, without bytes.
pub fn create(op: &'static str, name: &str) -> Result<File> {
    let made = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING);
    made.map(File::from).map_err(|why| failed(op, 0, why.into()))
}

/// Gives memory zeros up to `length`, all of its pages at once: one that the system cannot give is an error here, where later it would end
/// the process.
pub fn reserve(file: &File, length: u64) -> io::Result<()> {
    Ok(rustix::io::retry_on_intr(|| rustix::fs::fallocate(file, FallocateFlags::empty(), 0, length))?)
}

/// Seals the length, and the bytes too if they are not to be written any more.
pub fn seal(op: &'static str, file: &File, writable: bool) -> Result<()> {
    rustix::fs::fcntl_add_seals(file, seals(writable)).map_err(|why| failed(op, 0, why.into()))
}

/// The number of the file in this process.
pub fn number(file: &File) -> u32 {
    file.as_raw_fd() as u32
}

/// Opens the memory of this name that a process has as the file of this number.
pub fn open(op: &'static str, process: u32, number: u32, name: &str, writable: bool) -> Result<File> {
    let path = format!("/proc/{process}/fd/{number}");
    let gone = || {
        let why = format!(
            "the process {process}, which shared it, has ended or holds it no longer (there is no {path} of {name})"
        );
        Error::unavailable(SYSTEM, why)
    };
    let refused = |why: io::Error| match why.kind() {
        ErrorKind::NotFound => gone(),
        ErrorKind::PermissionDenied => {
            Error::unavailable(SYSTEM, format!("{path} is that of another user, or may not be opened: {why}"))
                .caused_by(why)
        }
        _ => failed(op, 0, why),
    };
    let is_it = |path: &str| Ok(fs::read_link(path)?.as_os_str() == format!("/memfd:{name} (deleted)").as_str());
    // what has another name is not even opened: that of a pipe would wait
    if !is_it(&path).map_err(refused)? {
        return Err(gone());
    }
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file =
        OpenOptions::new().read(true).write(writable).custom_flags(flags.bits() as i32).open(&path).map_err(refused)?;
    // the process may have put something else there meanwhile
    if !is_it(&format!("/proc/self/fd/{}", file.as_raw_fd())).map_err(|why| failed(op, 0, why))? {
        return Err(gone());
    }
    let sealed = match rustix::fs::fcntl_get_seals(&file) {
        Ok(found) => found.contains(seals(writable)),
        Err(Errno::INVAL) => false,
        Err(why) => return Err(failed(op, 0, why.into())),
    };
    if !sealed {
        return Err(Error::argument(op, "the memory is not sealed: its process could change it while it is read"));
    }
    Ok(file)
}

/// The first bytes of the memory, as many as there are of these.
pub fn head(op: &'static str, file: &File, length: usize) -> Result<Vec<u8>> {
    let (mut head, mut have) = (vec![0; length], 0);
    while have < length {
        match file.read_at(&mut head[have..], have as u64) {
            Ok(0) => break,
            Ok(n) => have += n,
            Err(why) if why.kind() == ErrorKind::Interrupted => {}
            Err(why) => return Err(failed(op, 0, why)),
        }
    }
    head.truncate(have);
    Ok(head)
}

/// The bytes of memory that is sealed against writing.
pub type Map = Mmap;

/// Shows the bytes of memory that is sealed.
pub fn map(op: &'static str, file: &File, length: usize) -> Result<Map> {
    // SAFETY: the seals, which were set or looked for, let nobody change a byte or the length: what is mapped stays as it is.
    unsafe { MmapOptions::new().len(length).map_copy_read_only(file) }.map_err(|why| failed(op, length, why))
}

/// The memory itself, for reading and writing.
pub type MapMut = MmapRaw;

/// Shows memory that is written to.
pub fn map_mut(op: &'static str, file: &File, length: usize) -> Result<MapMut> {
    MmapOptions::new().len(length).map_raw(file).map_err(|why| failed(op, length, why))
}
