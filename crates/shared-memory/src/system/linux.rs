//! The calls on Linux. Shared memory is a file in memory (`memfd_create`) with a sealed length, which other processes
//! open as `/proc/PID/fd/N`.

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

/// The seals of writable memory. The memory of an array has an additional seal against writing.
const LENGTH: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

fn seals(writable: bool) -> SealFlags {
    if writable { LENGTH } else { LENGTH.union(SealFlags::WRITE) }
}

/// Returns an error if the machine does not have enough memory. The system has no separate limit for the pages of files
/// in memory, and would kill processes if these pages used up all memory.
pub fn room(op: &'static str, bytes: usize) -> Result<()> {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kibibytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix(" kB")?.parse::<usize>().ok()
    };
    match (kibibytes("MemAvailable"), kibibytes("SwapFree")) {
        (Some(memory), swap) if bytes / 1024 >= memory + swap.unwrap_or(0) => Err(Error::memory(op, bytes)),
        _ => Ok(()),
    }
}

/// Creates a file in memory, of length 0.
pub fn create(op: &'static str, name: &str) -> Result<File> {
    let made = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING);
    made.map(File::from).map_err(|why| failed(op, 0, why.into()))
}

/// Extends the memory with zeros to `length`, and allocates all of its pages at once. A lack of memory is therefore an
/// error here, and does not kill the process later.
pub fn reserve(file: &File, length: u64) -> io::Result<()> {
    Ok(rustix::io::retry_on_intr(|| rustix::fs::fallocate(file, FallocateFlags::empty(), 0, length))?)
}

/// Seals the length of the memory. If the memory is not writable, also seals its bytes.
pub fn seal(op: &'static str, file: &File, writable: bool) -> Result<()> {
    rustix::fs::fcntl_add_seals(file, seals(writable)).map_err(|why| failed(op, 0, why.into()))
}

/// The number of the file descriptor in this process.
pub fn number(file: &File) -> u32 {
    file.as_raw_fd() as u32
}

/// Opens the memory `name` of another process. In that process, the memory has the file descriptor `number`.
pub fn open(op: &'static str, process: u32, number: u32, name: &str, writable: bool) -> Result<File> {
    let path = format!("/proc/{process}/fd/{number}");
    let gone = || {
        let why = format!(
            "the process {process}, which shared it, has ended or has closed it (there is no {path} of {name})"
        );
        Error::unavailable(SYSTEM, why)
    };
    let refused = |why: io::Error| match why.kind() {
        ErrorKind::NotFound => gone(),
        ErrorKind::PermissionDenied => {
            Error::unavailable(SYSTEM, format!("{path} belongs to another user, or may not be opened: {why}"))
                .caused_by(why)
        }
        _ => failed(op, 0, why),
    };
    let is_it = |path: &str| Ok(fs::read_link(path)?.as_os_str() == format!("/memfd:{name} (deleted)").as_str());
    // checks the name before opening, because opening a pipe would wait
    if !is_it(&path).map_err(refused)? {
        return Err(gone());
    }
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file =
        OpenOptions::new().read(true).write(writable).custom_flags(flags.bits() as i32).open(&path).map_err(refused)?;
    // the process may have replaced the file since the first check
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

/// Reads the first `length` bytes of the memory, or all bytes if there are fewer.
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

/// Mapped memory that is sealed against writing.
pub type Map = Mmap;

/// Maps sealed memory.
pub fn map(op: &'static str, file: &File, length: usize) -> Result<Map> {
    // SAFETY: the seals, which were set or checked, prevent all changes of the bytes and the length, so the mapped
    // memory does not change.
    unsafe { MmapOptions::new().len(length).map_copy_read_only(file) }.map_err(|why| failed(op, length, why))
}

/// Mapped memory for reading and writing.
pub type MapMut = MmapRaw;

/// Maps writable memory.
pub fn map_mut(op: &'static str, file: &File, length: usize) -> Result<MapMut> {
    MmapOptions::new().len(length).map_raw(file).map_err(|why| failed(op, length, why))
}
