//! Checks that a library file on Linux is complete. The loader maps the lengths that the headers declare. If the file
//! is shorter, the process ends with SIGBUS at the first access beyond the end of the file.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::Path,
};

/// Length in bytes of the header of a 64-bit ELF file.
const HEADER: usize = 64;
/// Length in bytes of each program header.
const PROGRAM: usize = 56;

/// Compares the lengths that the library's headers declare with the length of the file. On systems with other library
/// formats, the loader checks lengths itself, so this function accepts every file.
pub(super) fn check(library: &Path) -> Result<(), String> {
    if cfg!(any(not(unix), target_vendor = "apple", not(target_pointer_width = "64"))) {
        return Ok(());
    }
    let mut file = File::open(library).map_err(|why| why.to_string())?;
    let length = file.metadata().map_err(|why| why.to_string())?.len();
    check_content(&mut file, length)
}

fn check_content(file: &mut (impl Read + Seek), length: u64) -> Result<(), String> {
    let damaged =
        |what: &str| format!("is damaged: its {what} ends after the end of the file, which has {length} bytes");
    let holds = |offset: u64, bytes: u64, what: &str| match offset.checked_add(bytes) {
        Some(end) if end <= length => Ok(()),
        _ => Err(damaged(what)),
    };
    let mut header = [0; HEADER];
    file.read_exact(&mut header).map_err(|_| "is not an ELF file".to_owned())?;
    if !header.starts_with(b"\x7fELF") {
        return Err("is not an ELF file".into());
    }
    let order = if cfg!(target_endian = "little") { 1 } else { 2 };
    if header[4] != 2 || header[5] != order {
        return Err("is an ELF file of another kind of machine".into());
    }
    let (programs, sections) = (long(&header, 32), long(&header, 40));
    let [program_size, count, section_size, section_count] = [54, 56, 58, 60].map(|at| short(&header, at));
    // a section count of 0 means that the first section header holds the actual count
    holds(sections, u64::from(section_size) * u64::from(section_count.max(1)), "section table")?;
    if usize::from(program_size) != PROGRAM {
        return Err("has program headers of another size".into());
    }
    holds(programs, PROGRAM as u64 * u64::from(count), "table of segments")?;
    let mut table = vec![0; PROGRAM * usize::from(count)];
    let read = file.seek(SeekFrom::Start(programs)).and_then(|_| file.read_exact(&mut table));
    read.map_err(|why| why.to_string())?;
    table.chunks_exact(PROGRAM).try_for_each(|segment| holds(long(segment, 8), long(segment, 32), "segment"))
}

/// Reads an integer in the byte order of this machine. The header check has confirmed that the file has this byte
/// order.
fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(std::array::from_fn(|i| bytes[at + i]))
}

fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes(std::array::from_fn(|i| bytes[at + i]))
}

#[cfg(all(test, target_os = "linux", target_pointer_width = "64"))]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn check_bytes(bytes: &[u8]) -> Result<(), String> {
        check_content(&mut Cursor::new(bytes), bytes.len() as u64)
    }

    #[test]
    fn wherever_a_library_is_cut_it_is_refused() {
        // an executable has the same headers as a library, so this program serves as the test file
        let program = std::env::current_exe().unwrap();
        check(&program).unwrap();
        let whole = std::fs::read(program).unwrap();
        for cut in (1..100).map(|part| whole.len() / 100 * part).chain([0, 63, 64, whole.len() - 1]) {
            let why = check_bytes(&whole[..cut]).unwrap_err();
            assert!(why.contains("damaged") || cut < 64 && why.contains("not an ELF"), "{cut}: {why}");
        }
        let mut other = whole.clone();
        other[4] = 1;
        assert!(check_bytes(&other).unwrap_err().contains("another kind"));
        assert!(check_bytes(b"GROUP ( libmpi.so.12 )").unwrap_err().contains("not an ELF"));
        // no damaged header may cause a panic or a large allocation
        let mut damaged = whole[..4096].to_vec();
        for at in 0..HEADER {
            let before = damaged[at];
            for value in [0, 1, 0x7f, 0xff] {
                damaged[at] = value;
                let _ = check_bytes(&damaged);
            }
            damaged[at] = before;
        }
    }
}
