//! Tests that damaged `.npy` and `.npz` files cause no panic, no hang, and no allocation of more memory than a file's
//! content can need.
//!
//! Each run of the tests causes the same damage. To test other damage for a given number of seconds, run
//! `FUZZ_SECONDS=60 FUZZ_SEED=7 cargo test -p backends-npz --test fuzz`.

mod common;

use backend_runtime::{Complex, numpyish::Numpyish};
use backends_npz::{Npz, decode};
use common::{alone, archive, npy};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};
use zip::CompressionMethod;

/// Number of bytes that reading any file may allocate for buffers and for the state of the decompression.
const FIXED: usize = 1 << 20;

/// Number of bytes that reading may allocate per byte of a file: deflate expands one byte to up to 1032 bytes, and each
/// expanded byte may become an `f64`.
const FOR_EACH_BYTE: usize = 8 * 1032 + 1024;

/// Time after which reading counts as a hang. No small file takes nearly as long.
const HANGS: Duration = Duration::from_secs(20);

/// A counter-based random number generator (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// Damages a file at one random position.
fn mutate(file: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(file.len());
    let length = random.below(16).min(file.len() - at);
    match random.below(9) {
        0 => file.truncate(at),
        1 if !file.is_empty() => file[at] ^= 1 << random.below(8),
        2 if !file.is_empty() => file[at] = random.one_of(&[0, 1, 0x7f, 0x80, 0xff, b'9', b'\'', b'(']),
        3 => drop(file.drain(at..at + length)),
        4 => {
            let again = file[at..at + length].to_vec();
            let to = random.below(file.len() + 1);
            file.splice(to..to, again);
        }
        5 => {
            let noise: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
            file.splice(at..at + length, noise);
        }
        // replaces a number of 2, 4 or 8 bytes, which may be a length, an offset, a count or a signature
        6 | 7 => {
            let width = random.one_of(&[2, 4, 8]);
            let near = file.len() as u64;
            let numbers = [0, 1, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, u64::MAX >> 1, u64::MAX, near, near / 2];
            let bytes = random.one_of(&numbers).wrapping_add(random.one_of(&[0, 0, 1, u64::MAX])).to_le_bytes();
            let end = (at + width).min(file.len());
            file[at..end].copy_from_slice(&bytes[..end - at]);
        }
        // replaces a number in text
        _ => {
            let digit = (at..file.len()).find(|&i| file[i].is_ascii_digit());
            let other = random.one_of(&["", "0", "00", "99", "4294967296", "18446744073709551615", "-1", "1,", "1e9"]);
            if let Some(i) = digit {
                file.splice(i..i + 1, other.bytes());
            }
        }
    }
}

/// The number of tests that share the time of `FUZZ_SECONDS`.
const TESTS: u64 = 2;

/// Reads `rounds` damaged files, or as many as are possible within `FUZZ_SECONDS`.
fn fuzz(rounds: usize, whole: &[Vec<u8>], read: impl Fn(Vec<u8>)) {
    let number = |name| std::env::var(name).ok().map(|n| n.parse::<u64>().unwrap_or_else(|e| panic!("{name}: {e}")));
    let (seconds, seed) = (number("FUZZ_SECONDS"), number("FUZZ_SEED").unwrap_or(1));
    let (alone, start) = (alone(), Instant::now());
    let mut round = 0;
    while seconds.map_or(round < rounds, |s| start.elapsed().as_secs() < s.div_ceil(TESTS)) {
        let mut random =
            Random(seed.wrapping_mul(0x1000_0000).wrapping_add(round as u64).wrapping_mul(0xd134_2543_de82_ef95));
        let mut file = whole[random.below(whole.len())].clone();
        for _ in 0..=random.below(3) {
            mutate(&mut file, &mut random);
        }
        let (length, begin) = (file.len(), Instant::now());
        let kept = file.clone();
        let (outcome, memory) = alone.memory_of(|| catch_unwind(AssertUnwindSafe(|| read(file))));
        let slow = begin.elapsed() > HANGS;
        let large = memory > FIXED + FOR_EACH_BYTE * length;
        if outcome.is_err() || slow || large {
            let what = format!("panic: {}, {memory} bytes, {:?}", outcome.is_err(), begin.elapsed());
            panic!("FUZZ_SEED={seed}, round {round}: {what}, of the file {}", kept.escape_ascii());
        }
        round += 1;
    }
}

fn arrays() -> Vec<Vec<u8>> {
    vec![
        npy("<f8", false, "(3,)", &[1; 24]),
        npy(">f4", true, "(2, 3)", &[2; 24]),
        npy("|u1", false, "(5, 7)", &[3; 35]),
        npy("<i2", false, "()", &[4; 2]),
        npy("<f8", false, "(0, 9)", &[]),
        npy("|b1", false, "(100000,)", &[1; 100_000]),
        npy("<c16", true, "(2, 1)", &[5; 32]),
        npy(">V2", false, "(7,)", &[6; 14]),
    ]
}

#[test]
fn fuzz_npy() {
    fuzz(20_000, &arrays(), |file| {
        let _ = (decode::<f64>(&file), decode::<Complex<f32>>(&file), decode::<bool>(&file));
    });
}

#[test]
fn fuzz_npz() {
    let names = ["proj", "B", "h", "fgrad", "empty", "flags"];
    let members: Vec<_> = names.into_iter().zip(arrays()).collect();
    let whole = [
        archive(&members, CompressionMethod::Deflated),
        archive(&members[..5], CompressionMethod::Stored),
        archive(&members[..1], CompressionMethod::Deflated),
        archive(&[], CompressionMethod::Stored),
    ];
    fuzz(6_000, &whole, |file| {
        if let Ok(npz) = Npz::from_bytes("fuzz.npz", file) {
            for name in npz.names() {
                let _ = (npz.shape(name), npz.get::<f64>(name), npz.value(&Numpyish::new(), name));
            }
        }
    });
}
