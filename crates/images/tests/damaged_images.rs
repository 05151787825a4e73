//! Tests that damaged files cause no panic, no hang, and no allocation of more memory than a file's content can need.
//!
//! Each run of the tests causes the same damage. To test other damage for a given number of seconds, run
//! `FUZZ_SECONDS=60 FUZZ_SEED=7 cargo test -p backends-images --test damaged_images`.

mod common;

use backends_images::{MrcReader, NiftiReader, TiffReader};
use common::{B, data};
use peak_alloc::PeakAlloc;
use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Only one test at a time measures memory.
static ONE: Mutex<()> = Mutex::new(());

/// Number of bytes that reading any file may allocate for buffers and for the state of the decompression.
const FIXED: usize = 1 << 20;

/// Number of bytes that reading may allocate per byte of a file: LZW expands one byte to up to 2731 bytes. If these are
/// pixels of one bit, each of their bits takes a byte of the page, and a byte of the array.
const FOR_EACH_BYTE: usize = 2731 * (1 + 8 + 8);

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
    // the sizes are in the headers, which are the first or last bytes of small files
    let near = file.len().min(400);
    let at = match random.below(3) {
        0 => random.below(file.len()),
        1 => random.below(near),
        _ => file.len() - 1 - random.below(near),
    };
    let length = random.below(16).min(file.len() - at);
    match random.below(7) {
        0 => file.truncate(at.max(1)),
        1 => file[at] ^= 1 << random.below(8),
        2 => file[at] = random.one_of(&[0, 1, 0x7f, 0x80, 0xff]),
        3 if file.len() > length => drop(file.drain(at..at + length)),
        4 => {
            let noise: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
            file.splice(at..at + length, noise);
        }
        // replaces a number of 2, 4 or 8 bytes, which may be a length, an offset, a count or a type
        _ => {
            let width = random.one_of(&[2, 4, 8]);
            let near = file.len() as u64;
            let numbers = [0, 1, 8, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, u64::MAX >> 1, u64::MAX, near, near / 2];
            let number = random.one_of(&numbers).wrapping_add(random.one_of(&[0, 0, 1, u64::MAX]));
            let mut bytes = number.to_le_bytes();
            if random.below(4) == 0 {
                bytes[..width].reverse();
            }
            let end = (at + width).min(file.len());
            file[at..end].copy_from_slice(&bytes[..end - at]);
        }
    }
}

/// Reads a file, and checks that it causes no panic, takes little time, and needs little memory.
fn check(what: &str, file: Vec<u8>, read: impl Fn(Vec<u8>)) {
    let (kept, begin) = (file.clone(), Instant::now());
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let outcome = catch_unwind(AssertUnwindSafe(|| read(file)));
    let memory = MEMORY.peak_usage().saturating_sub(before);
    let (slow, large) = (begin.elapsed() > HANGS, memory > FIXED + FOR_EACH_BYTE * kept.len());
    if outcome.is_err() || slow || large {
        let is = format!("panic: {}, {memory} bytes, {:?}", outcome.is_err(), begin.elapsed());
        panic!("{what}: {is}, of the file {}", kept.escape_ascii());
    }
}

/// Reads files that are cut at each length, files with each bit changed, and `rounds` files with random damage, or as
/// many as are possible within `FUZZ_SECONDS`.
fn damage(end: &str, rounds: usize, read: impl Fn(Vec<u8>)) {
    let _alone = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let files = fs::read_dir(data("")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.to_string_lossy().ends_with(end)).collect();
    files.sort();
    let whole: Vec<Vec<u8>> = files.iter().map(|path| fs::read(path).unwrap()).collect();
    assert!(!whole.is_empty());
    for (path, file) in files.iter().zip(&whole).filter(|(_, file)| file.len() < 1300) {
        for n in 0..file.len() {
            check(&format!("{} cut to {n} bytes", path.display()), file[..n].to_vec(), &read);
            for bit in 0..8 {
                let mut other = file.clone();
                other[n] ^= 1 << bit;
                check(&format!("{}, bit {bit} of byte {n}", path.display()), other, &read);
            }
        }
    }
    let number = |name| std::env::var(name).ok().map(|n| n.parse::<u64>().unwrap_or_else(|e| panic!("{name}: {e}")));
    let (seconds, seed, start) = (number("FUZZ_SECONDS"), number("FUZZ_SEED").unwrap_or(1), Instant::now());
    let mut round = 0;
    while seconds.map_or(round < rounds, |s| start.elapsed().as_secs() < s.div_ceil(4)) {
        let mut random =
            Random(seed.wrapping_mul(0x1000_0000).wrapping_add(round as u64).wrapping_mul(0xd134_2543_de82_ef95));
        let mut file = whole[random.below(whole.len())].clone();
        for _ in 0..=random.below(3) {
            mutate(&mut file, &mut random);
        }
        check(&format!("FUZZ_SEED={seed}, round {round}"), file, &read);
        round += 1;
    }
}

#[test]
fn fuzz_mrc() {
    damage(".mrc", 5_000, |file| {
        if let Ok(mut file) = MrcReader::from_bytes("x.mrc", file) {
            let _ = (file.value(&B), file.read::<f32>(..));
        }
    });
}

#[test]
fn fuzz_nifti() {
    for end in [".nii", ".nii.gz"] {
        damage(end, 5_000, |file| {
            if let Ok(mut file) = NiftiReader::from_bytes("x.nii", file) {
                let _ = (file.value(&B), file.read::<f32>(..));
            }
        });
    }
}

#[test]
fn fuzz_tiff() {
    damage(".tif", 20_000, |file| {
        if let Ok(mut file) = TiffReader::from_bytes("x.tif", file) {
            let _ = (file.value(&B), file.read::<u8>(..1));
        }
    });
}

/// A file that is cut is an error. A TIFF file may have information of a page at its end, without which the pages have
/// all their elements.
#[test]
fn cut_files_are_errors_or_have_all_elements() {
    let whole = |name: &str| fs::read(data(name)).unwrap();
    for name in ["float32.mrc", "big_endian.mrc"] {
        let file = whole(name);
        assert!((0..file.len()).all(|n| MrcReader::from_bytes(name, file[..n].to_vec()).is_err()), "{name}");
    }
    for name in ["float32.nii", "version_2.nii", "time.nii.gz"] {
        let file = whole(name);
        assert!((0..file.len()).all(|n| NiftiReader::from_bytes(name, file[..n].to_vec()).is_err()), "{name}");
    }
    for name in ["float32.tif", "bigtiff.tif", "deflate.tif", "lzw.tif"] {
        let file = whole(name);
        let read = |n: usize| TiffReader::from_bytes(name, file[..n].to_vec())?.read::<f64>(..);
        let all = read(file.len()).unwrap();
        assert!((0..file.len()).all(|n| read(n).map_or(true, |x| x == all)), "{name}");
        assert!((0..file.len() - 16).all(|n| read(n).is_err()), "{name}");
    }
}
