//! Checks the directories of a TIFF file before the decoder reads them. Each page has a directory: a list of entries,
//! of which some have a list of numbers elsewhere in the file. The decoder allocates memory for as many numbers as an
//! entry declares, so the lists have to lie within the file.

use crate::files::{Stream, explain};
use backend_runtime::encoded::damaged;
use std::io::{Result, SeekFrom};

/// The entries with the offsets and lengths of strips and tiles, which the decoder reads for every page.
const DATA: [u16; 4] = [273, 279, 324, 325];

/// The widths of the numbers in a file.
struct Widths {
    /// Number of bytes of the count of entries.
    count: usize,
    /// Number of bytes of an entry.
    entry: usize,
    /// Number of bytes of an offset.
    offset: usize,
}

/// Checks the directories of a file of `length` bytes.
pub fn check(from: &mut dyn Stream, length: u64) -> Result<()> {
    let mut header = [0; 16];
    read(from, &mut header[..8])?;
    let big = match &header[..2] {
        b"II" => false,
        b"MM" => true,
        _ => return Err(damaged("not a TIFF file: it begins with neither `II` nor `MM`")),
    };
    let (widths, first) = match number(&header[2..4], big) {
        42 => (Widths { count: 2, entry: 12, offset: 4 }, 4..8),
        43 => (Widths { count: 8, entry: 20, offset: 8 }, 8..16),
        other => return Err(damaged(format!("not a TIFF file: its version is {other}"))),
    };
    if first.end > 8 {
        read(from, &mut header[8..])?;
    }
    let mut at = number(&header[first], big);
    // directories do not overlap, nor do the lists of strips and tiles, so all of them together are not longer than the
    // file
    let (mut entries_left, mut data_left) = (length, length);
    let mut entry = [0; 20];
    while at != 0 {
        from.seek(SeekFrom::Start(at))?;
        read(from, &mut entry[..widths.count])?;
        let count = number(&entry[..widths.count], big);
        let used = count.saturating_mul(widths.entry as u64).saturating_add((widths.count + widths.offset) as u64);
        entries_left = entries_left.checked_sub(used).ok_or_else(|| {
            damaged(format!("the description of a page with {count} entries does not fit into the file"))
        })?;
        for _ in 0..count {
            let entry = &mut entry[..widths.entry];
            read(from, entry)?;
            let (tag, kind) = (number(&entry[..2], big) as u16, number(&entry[2..4], big));
            let values = number(&entry[4..4 + widths.offset], big).saturating_mul(width(kind));
            let mut whole = length;
            let left = if DATA.contains(&tag) { &mut data_left } else { &mut whole };
            *left = left.checked_sub(values).ok_or_else(|| {
                damaged(format!("the {values} bytes of the entry {tag} of a page do not fit into the file"))
            })?;
        }
        let next = &mut entry[..widths.offset];
        read(from, next)?;
        at = number(next, big);
    }
    Ok(())
}

fn read(from: &mut dyn Stream, bytes: &mut [u8]) -> Result<()> {
    from.read_exact(bytes).map_err(|e| explain(e, "the file ends within the description of a page"))
}

/// The number of bytes of a number of this type; 1 for unknown types, which the decoder does not read.
fn width(kind: u64) -> u64 {
    match kind {
        3 | 8 => 2,
        4 | 9 | 11 | 13 => 4,
        5 | 10 | 12 | 16 | 17 | 18 => 8,
        _ => 1,
    }
}

/// The number in up to eight bytes.
fn number(bytes: &[u8], big: bool) -> u64 {
    let join = |n: u64, byte: &u8| n << 8 | u64::from(*byte);
    if big { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) }
}
