//! Helpers of the tests: archives that no library would write, and a measurement of the memory that reading takes.
#![allow(dead_code, reason = "no test uses all of it")]

use backends_npz::encode;
use flate2::Crc;
use ndarray::array;
use peak_alloc::PeakAlloc;
use std::{
    fs,
    io::{Cursor, Write},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Exclusive access to the memory statistics of the process. In a test file that measures memory, every test must hold
/// an `Alone` while it runs.
pub struct Alone(#[allow(dead_code, reason = "it is held")] MutexGuard<'static, ()>);

/// Waits until no other test measures memory.
pub fn alone() -> Alone {
    static ONE: Mutex<()> = Mutex::new(());
    Alone(ONE.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Alone {
    /// Runs `f`. Returns its result and the peak of the memory allocated during the call, in bytes.
    pub fn memory_of<R>(&self, f: impl FnOnce() -> R) -> (R, usize) {
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let result = f();
        (result, MEMORY.peak_usage().saturating_sub(before))
    }
}

/// Makes an empty folder for a test.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// The bytes of a `.npy` file of version 1.0.
pub fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

/// An archive like those that NumPy's `savez` and `savez_compressed` write.
pub fn archive(members: &[(&str, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(format!("{name}.npy"), SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A member of a zip file. The declared checksum and length may be wrong.
pub struct Member<'a> {
    pub name: &'a str,
    /// Compression method: 0 for stored, 8 for deflated, 12 for bzip2.
    pub method: u16,
    pub crc: u32,
    pub packed: &'a [u8],
    /// The declared length in bytes after decompression.
    pub length: u64,
}

/// A zip file with these members. Lengths are written as 64-bit numbers, in extra fields.
pub fn raw_archive(members: &[Member]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for member in members {
        let start = file.len() as u32;
        let mut common = Vec::new();
        // zip version 4.5, no flags
        common.extend([45_u16, 0, member.method, 0, 0].iter().flat_map(|n| n.to_le_bytes()));
        common.extend([member.crc, u32::MAX, u32::MAX].iter().flat_map(|n| n.to_le_bytes()));
        common.extend([member.name.len() as u16, 20].iter().flat_map(|n| n.to_le_bytes()));
        let mut extra = vec![1, 0, 16, 0];
        extra.extend(member.length.to_le_bytes());
        extra.extend((member.packed.len() as u64).to_le_bytes());
        file.extend([b"PK\x03\x04", &common[..], member.name.as_bytes(), &extra, member.packed].concat());
        let rest = [&[0; 10][..], &start.to_le_bytes()].concat();
        directory.extend([b"PK\x01\x02\x2d\x00", &common[..], &rest, member.name.as_bytes(), &extra].concat());
    }
    let (count, start) = ((members.len() as u16).to_le_bytes(), (file.len() as u32).to_le_bytes());
    let length = (directory.len() as u32).to_le_bytes();
    file.extend(directory);
    file.extend([b"PK\x05\x06\x00\x00\x00\x00", &count[..], &count, &length, &start, &[0, 0]].concat());
    file
}

/// The checksum of a member of a zip file.
pub fn crc(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// A `.npy` file of the numbers 1 and 2.
pub fn small() -> Vec<u8> {
    encode(&array![1.0, 2.0].into_dyn())
}

/// A member that is not compressed.
pub fn stored<'a>(name: &'a str, bytes: &'a [u8]) -> Member<'a> {
    Member { name, method: 0, crc: crc(bytes), packed: bytes, length: bytes.len() as u64 }
}
