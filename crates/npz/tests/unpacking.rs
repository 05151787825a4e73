//! Tests that reading allocates memory only for requested data that the file really contains, whatever lengths the file
//! declares.

mod common;

use backends_npz::Npz;
use common::{Member, alone, crc, folder, npy, raw_archive, small, stored};
use flate2::{Compress, Compression, FlushCompress};
use std::fs;

const MIB: usize = 1 << 20;

/// Deflated data: `first`, followed by the given number of MiB of zeros.
fn and_zeros(first: &[u8], mebibytes: usize) -> Vec<u8> {
    let mut packer = Compress::new(Compression::best(), false);
    let mut block = |bytes: &[u8], flush| {
        let mut packed = Vec::with_capacity(MIB);
        packer.compress_vec(bytes, &mut packed, flush).unwrap();
        packed
    };
    let first = block(first, FlushCompress::Full);
    // after a full flush, deflated data do not refer to earlier data
    let zeros = block(&vec![0; MIB], FlushCompress::Full);
    let end = block(&[], FlushCompress::Finish);
    [first, zeros.repeat(mebibytes), end].concat()
}

#[test]
fn what_nobody_reads_is_not_unpacked() {
    let alone = alone();
    let (wanted, packed) = (small(), and_zeros(&[], 5 << 10));
    let huge = Member { name: "huge.npy", method: 8, crc: 0, packed: &packed, length: 5 << 30 };
    let file = raw_archive(&[huge, stored("x.npy", &wanted)]);
    let path = folder("huge").join("huge.npz");
    fs::write(&path, &file).unwrap();
    assert!(file.len() < 16 * MIB);
    let (x, memory) = alone.memory_of(|| Npz::open(&path).unwrap().vector("x").unwrap());
    assert_eq!(x, [1.0, 2.0]);
    assert!(memory < MIB, "{memory} bytes");
}

#[test]
fn no_more_is_unpacked_than_the_header_promises() {
    let alone = alone();
    let wanted = small();
    let packed = and_zeros(&wanted, 5 << 10);
    let length = wanted.len() as u64;
    // the zip file declares the length of all its data in the first case, and only the length of the array in the
    // second case
    for (said, why) in [(length + (5 << 30), "bytes of data for the shape [2]"), (length, "larger than its declared")] {
        let x = Member { name: "x.npy", method: 8, crc: crc(&wanted), packed: &packed, length: said };
        let file = raw_archive(&[x]);
        let (error, memory) =
            alone.memory_of(|| Npz::from_bytes("x.npz", file).unwrap().get::<f64>("x").unwrap_err().to_string());
        assert!(error.starts_with("x.npz: `x`: ") && error.contains(why), "{error}");
        assert!(memory < 8 * MIB, "{memory} bytes");
    }
}

#[test]
fn what_a_file_cannot_hold_is_refused_before_memory_is_asked_for() {
    let alone = alone();
    // both files declare 8 GiB of numbers, but contain only the header: compressed in the first case, stored in the
    // second
    let header = npy("<f8", false, "(1073741824,)", &[]);
    let length = header.len() as u64 + (8 << 30);
    let packed = and_zeros(&header, 0);
    for (method, packed) in [(8, &packed), (0, &header)] {
        let x = Member { name: "x.npy", method, crc: 0, packed, length };
        let file = raw_archive(&[x]);
        let (error, memory) =
            alone.memory_of(|| Npz::from_bytes("x.npz", file).unwrap().get::<f64>("x").unwrap_err().to_string());
        assert!(error.contains("it is too short for the 85899"), "{error}");
        assert!(memory < MIB, "{memory} bytes");
    }
}
