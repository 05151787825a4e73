//! Checks that a shared library is complete. The loader maps as many bytes into memory as the headers state. If the
//! file is shorter, the process ends with SIGBUS at the first access beyond the end of the file. This module therefore
//! compares the headers with the length of the file before the library is loaded.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::Path,
};

/// Sizes in bytes in a 64-bit ELF file: the file header, a program header, a section header, and an entry of the
/// dynamic section.
const HEADER: usize = 64;
const PROGRAM: usize = 56;
const SECTION: usize = 64;
const DYNAMIC: usize = 16;

/// Maximum number of bytes to read of a dynamic section or of a table of names. In the largest libraries, each of the
/// two has a few megabytes.
const MAX_READ_BYTES: u64 = 256 << 20;

/// Checks that the file of a library is as long as the headers in it state. Returns the names of the libraries to which
/// this library is linked.
///
/// On systems whose libraries have another format, every library passes, because the loader itself checks lengths
/// there.
pub fn check(library: &Path) -> Result<Vec<String>, String> {
    if cfg!(any(not(unix), target_vendor = "apple", not(target_pointer_width = "64"))) {
        return Ok(Vec::new());
    }
    let mut file = File::open(library).map_err(|why| why.to_string())?;
    let length = file.metadata().map_err(|why| why.to_string())?.len();
    check_content(&mut file, length)
}

/// Checks a library (or a cubin, which has the same format) in memory, like [`check`].
pub fn check_image(image: &[u8]) -> Result<(), String> {
    check_content(&mut std::io::Cursor::new(image), image.len() as u64).map(drop)
}

/// A segment, as its program header describes it: kind, offset in the file, address in memory, and length in the file.
struct Segment {
    kind: u32,
    offset: u64,
    address: u64,
    length: u64,
}

const LOAD: u32 = 1;
const DYNAMIC_SECTION: u32 = 2;

fn check_content(file: &mut (impl Read + Seek), length: u64) -> Result<Vec<String>, String> {
    let mut content = Content { file, length };
    const MAGIC: &[u8] = b"\x7fELF";
    // a text file may be shorter than a header
    if !MAGIC.starts_with(&content.at(0, length.min(MAGIC.len() as u64), "header")?) {
        return Err("is not an ELF file".into());
    }
    let header = content.at(0, HEADER as u64, "header")?;
    let order = if cfg!(target_endian = "little") { 1 } else { 2 };
    if header[4] != 2 || header[5] != order {
        return Err("is an ELF file of another kind of machine".into());
    }
    let (programs, sections) = (u64_at(&header, 32), u64_at(&header, 40));
    let [program_size, program_count, section_size, section_count] = [54, 56, 58, 60].map(|at| u16_at(&header, at));
    if sections != 0 {
        // if the count is 0, the first section header holds the actual count
        let bytes = u64::from(section_size) * u64::from(section_count.max(1));
        content.holds(sections, bytes, "section table")?;
        if usize::from(section_size) < SECTION {
            return Err("has section headers that are too short".into());
        }
    }
    if program_count > 0 && usize::from(program_size) != PROGRAM {
        return Err("has program headers of another size".into());
    }
    let table = content.at(programs, PROGRAM as u64 * u64::from(program_count), "program headers")?;
    let segment = |entry: &[u8]| Segment {
        kind: u32_at(entry, 0),
        offset: u64_at(entry, 8),
        address: u64_at(entry, 16),
        length: u64_at(entry, 32),
    };
    let segments: Vec<Segment> = table.chunks_exact(PROGRAM).map(segment).collect();
    for segment in segments.iter().filter(|segment| segment.length > 0) {
        content.holds(segment.offset, segment.length, "segment")?;
    }
    content.needed(&segments)
}

/// A file that is read with bounds checks.
struct Content<'f, F> {
    file: &'f mut F,
    length: u64,
}

impl<F: Read + Seek> Content<'_, F> {
    fn holds(&self, offset: u64, length: u64, what: &str) -> Result<(), String> {
        match offset.checked_add(length) {
            Some(end) if end <= self.length => Ok(()),
            _ => Err(format!("is damaged: its {what} ends after the end of the file, which has {} bytes", self.length)),
        }
    }

    fn at(&mut self, offset: u64, length: u64, what: &str) -> Result<Vec<u8>, String> {
        self.holds(offset, length, what)?;
        let mut bytes = vec![0; usize::try_from(length.min(MAX_READ_BYTES)).unwrap_or(0)];
        self.file.seek(SeekFrom::Start(offset)).map_err(|why| why.to_string())?;
        self.file.read_exact(&mut bytes).map_err(|why| why.to_string())?;
        Ok(bytes)
    }

    /// Returns the names of the libraries that this library is linked to.
    fn needed(&mut self, segments: &[Segment]) -> Result<Vec<String>, String> {
        const NEEDED: u64 = 1;
        const NAMES: u64 = 5;
        const NAMES_LENGTH: u64 = 10;
        let Some(section) = segments.iter().find(|segment| segment.kind == DYNAMIC_SECTION) else {
            return Ok(Vec::new());
        };
        let table = self.at(section.offset, section.length, "dynamic section")?;
        let entries = table.chunks_exact(DYNAMIC).map(|entry| (u64_at(entry, 0), u64_at(entry, 8)));
        let entries: Vec<(u64, u64)> = entries.take_while(|(tag, _)| *tag != 0).collect();
        let value = |tag| entries.iter().find(|(found, _)| *found == tag).map(|(_, value)| *value);
        let (Some(address), Some(length)) = (value(NAMES), value(NAMES_LENGTH)) else { return Ok(Vec::new()) };
        let holds = |segment: &&Segment| {
            segment.kind == LOAD && address.checked_sub(segment.address).is_some_and(|from| from < segment.length)
        };
        let segment = segments.iter().find(holds).ok_or("is damaged: no segment has its table of names")?;
        let names = self.at(segment.offset + (address - segment.address), length, "table of names")?;
        let name = |&(_, at): &(u64, u64)| {
            let bytes = names.get(usize::try_from(at).ok()?..)?;
            let end = bytes.iter().position(|&byte| byte == 0)?;
            Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
        };
        Ok(entries.iter().filter(|(tag, _)| *tag == NEEDED).filter_map(name).collect())
    }
}

/// Returns the `N` bytes from index `at` on, or zeros if they extend beyond the end. They have the byte order of this
/// machine, because the check of the header refuses other files.
fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..at + N).and_then(|part| part.try_into().ok()).unwrap_or([0; N])
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes(bytes_at(bytes, at))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes_at(bytes, at))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes_at(bytes, at))
}

#[cfg(all(test, target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
mod tests {
    use super::*;

    /// Returns the content of this test program, which has all the headers of a library.
    fn program() -> Vec<u8> {
        std::fs::read(std::env::current_exe().unwrap()).unwrap()
    }

    #[test]
    fn a_whole_library_passes_and_says_what_it_needs() {
        let needed = check(&std::env::current_exe().unwrap()).unwrap();
        assert!(needed.iter().any(|name| name.starts_with("libc.so")), "{needed:?}");
    }

    #[test]
    fn wherever_it_is_cut_it_is_refused() {
        let whole = program();
        check_image(&whole).unwrap();
        let cuts = (0..64).chain((1..100).map(|part| whole.len() / 100 * part)).chain([whole.len() - 1]);
        for cut in cuts {
            let error = check_image(&whole[..cut]).unwrap_err();
            assert!(error.contains("damaged"), "{cut}: {error}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        let mut other = program();
        assert!(check_image(&[b'x'; 100]).unwrap_err().contains("not an ELF"));
        assert!(check_image(b"GROUP ( libmpi.so.12 )").unwrap_err().contains("not an ELF"));
        other[4] = 1;
        assert!(check_image(&other).unwrap_err().contains("another kind"));
    }

    #[test]
    fn no_header_makes_it_panic_or_read_much() {
        let mut image = program();
        for at in 0..HEADER + 20 * PROGRAM {
            let before = image[at];
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                image[at] = value;
                let _ = check_image(&image);
            }
            image[at] = before;
        }
        check_image(&image).unwrap();
    }
}
