//! Tests of valid and of malicious files that other programs wrote.

mod common;

use backends::{Error, Recorded, Script, prelude::*};
use backends_npz::{Npz, NpzWriter, ProgramFiles, SavedProgram, encode};
use common::{Member, archive, crc, folder, npy, raw_archive, small, stored};
use ndarray::array;
use std::{fs, path::Path, process::Command};
use zip::CompressionMethod;

#[test]
fn a_damaged_or_short_member_is_an_error() {
    let whole = small();
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let damaged = Member { crc: crc(&whole), ..stored("x.npy", &damaged) };
    let short = &whole[..whole.len() - 8];
    for (member, why) in [
        (damaged, "checksum"),
        (stored("x.npy", short), "8 bytes of data for the shape [2]"),
        (Member { length: whole.len() as u64, ..stored("x.npy", short) }, "the data are shorter"),
        (stored("x.npy", &[]), "not a .npy file"),
    ] {
        let error = Npz::from_bytes("x.npz", raw_archive(&[member])).unwrap().get::<f64>("x").unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn another_method_of_compression_matters_to_its_member_only() {
    let wanted = small();
    let other = Member { name: "other.npy", method: 12, crc: 0, packed: b"BZh9", length: 100 };
    let file = Npz::from_bytes("x.npz", raw_archive(&[other, stored("x.npy", &wanted)])).unwrap();
    assert_eq!(file.names(), ["other", "x"]);
    assert_eq!(file.vector("x").unwrap(), [1.0, 2.0]);
    let error = file.get::<f64>("other").unwrap_err().to_string();
    assert!(error.contains("`other`") && error.to_lowercase().contains("compression method"), "{error}");
}

#[test]
fn a_name_given_twice_is_an_error() {
    let (x, y) = (small(), encode(&array![3.0].into_dyn()));
    for names in [["x.npy", "x.npy"], ["x", "x.npy"]] {
        let file = raw_archive(&[stored(names[0], &x), stored(names[1], &y)]);
        let error = Npz::from_bytes("x.npz", file).unwrap_err().to_string();
        assert!(error.starts_with("x.npz: two arrays have the"), "{error}");
    }
}

#[test]
fn an_incomplete_archive_is_named() {
    let path = folder("short").join("short.npz");
    let whole = archive(&[("x", small())], CompressionMethod::Deflated);
    for length in [0, 1, 100, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        let error = Npz::open(&path).unwrap_err().to_string();
        let expected = format!("{}: not a complete .npz (zip) file: ", path.display());
        assert!(error.starts_with(&expected), "{error}");
    }
}

#[test]
fn shapes_are_known_without_the_data() {
    let file = archive(&[("x", small()), ("y", npy("<f4", true, "(2, 3)", &[0; 24]))], CompressionMethod::Stored);
    let file = Npz::from_bytes("x.npz", file).unwrap();
    assert_eq!(file.shape("x").unwrap(), [2]);
    assert_eq!(file.shape("y").unwrap(), [2, 3]);
    assert!(file.shape("z").unwrap_err().to_string().contains("no such array"));
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused() {
    let here = folder("pipe");
    let pipe = here.join("x.npy");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [pipe.as_path(), Path::new("/dev/zero"), Path::new("/dev/null")] {
        let error = Npz::open(path).unwrap_err().to_string();
        assert_eq!(error, format!("{}: not a regular file", path.display()));
    }
    fs::write(here.join("y.npy"), small()).unwrap();
    fs::create_dir(here.join("z.npy")).unwrap();
    let data = Npz::open(&here).unwrap();
    assert_eq!(data.vector("y").unwrap(), [1.0, 2.0]);
    for name in ["x", "z"] {
        let error = data.get::<f64>(name).unwrap_err().to_string();
        assert!(error.ends_with(&format!("`{name}`: not a regular file")), "{error}");
    }
}

/// Records a constant: an array of the dtype `T`. The text of the program names the constants `c0`, `c1` and so on.
fn constant<T: backends::Element>(b: &Recorded<Numpyish>, shape: &[usize], elements: Vec<T>) {
    b.from_ndarray(ndarray::ArrayD::from_shape_vec(shape, elements).unwrap().into_shared()).unwrap();
}

#[test]
fn a_program_is_the_same_after_a_file() {
    let path = folder("a program, größer; #1").join("saved program.npz");
    let b = Recorded::new(Numpyish::new());
    constant(&b, &[2], vec![true, false]);
    constant(&b, &[3], vec![i8::MIN, 0, i8::MAX]);
    constant(&b, &[1], vec![u64::MAX]);
    constant(&b, &[2], vec![i64::MIN, i64::MAX]);
    constant(&b, &[2], vec![f16::from_f64(-0.0), f16::MAX]);
    constant(&b, &[2], vec![bf16::from_f64(1.5), bf16::NAN]);
    constant(&b, &[2, 0], Vec::<f32>::new());
    constant(&b, &[], vec![f32::INFINITY]);
    constant(&b, &[2], vec![Complex::new(1.0_f32, -0.0), Complex::new(f32::NAN, 2.0)]);
    constant(&b, &[1, 1], vec![Complex::new(5e-324, -1e300)]);
    constant(&b, &[300, 500], (0..150_000).map(f64::from).collect());
    let x = b.asarray([1.0, 2.0]).unwrap();
    let y = expr!(b, exp(-x) * 2.0).unwrap();
    b.give("größe_2", &y);
    b.save_program(&path).unwrap();

    let saved = SavedProgram::open(&path).unwrap();
    assert_eq!(saved.text(), b.text());
    assert!(saved.text().contains("# exp(-x) * 2.0"));
    assert_eq!(saved.script::<Script>().unwrap(), b.script().unwrap());
    assert_eq!(saved.script::<Script>().unwrap().last_names(), ["größe_2"]);
    let plain = Numpyish::new();
    let (constants, read) = (b.constants(), saved.constants_on(&plain).unwrap());
    assert_eq!((constants.len(), read.len()), (12, 12));
    for (name, x) in &constants {
        let again = read[name].as_array().unwrap();
        assert_eq!(x.dtype(), again.dtype());
        backends::runtime::dispatch!(x.dtype(), T => {
            let (x, again) = (x.get::<T>().unwrap(), again.get::<T>().unwrap());
            // the bits are equal, including those of NaN
            assert_eq!(encode::<T>(x), encode::<T>(again), "{name}");
            Ok::<(), Error>(())
        })
        .unwrap();
    }
    let bytes = fs::read(&path).unwrap();
    assert_eq!(SavedProgram::from_bytes("bytes", bytes).unwrap().text(), b.text());
}

#[test]
fn a_file_that_is_no_program_or_a_damaged_one_is_named() {
    let path = folder("damaged program").join("p.npz");
    let b = Recorded::new(Numpyish::new());
    let x = b.asarray([1.0, 2.0, 3.0]).unwrap();
    b.give("y", &b.exp(&x).unwrap());
    b.save_program(&path).unwrap();
    let whole = fs::read(&path).unwrap();
    let named = |error: std::io::Error, why: &str| {
        let error = error.to_string();
        assert!(error.starts_with(&path.display().to_string()) && error.contains(why), "{error}");
    };
    for length in (0..whole.len()).step_by(7) {
        fs::write(&path, &whole[..length]).unwrap();
        named(SavedProgram::open(&path).unwrap_err(), "not a complete .npz (zip) file");
    }
    // changes a byte of the text, and a byte of the array
    let place = |part: &[u8]| whole.windows(part.len()).position(|bytes| bytes == part).unwrap();
    let mut other = whole.clone();
    other[place(b"asarray(c0)")] ^= 1;
    fs::write(&path, &other).unwrap();
    named(SavedProgram::open(&path).unwrap_err(), "`script.txt`: ");
    let mut other = whole.clone();
    other[place(&3.0_f64.to_le_bytes())] ^= 1;
    fs::write(&path, &other).unwrap();
    named(SavedProgram::open(&path).unwrap().constants_on(&Numpyish::new()).unwrap_err(), "`c0`: ");
    // the file contains only arrays, a text that is not a script, or bytes that are not text
    let write = |text: Option<&[u8]>| {
        let members: Vec<Member> = text.map(|text| stored("script.txt", text)).into_iter().collect();
        fs::write(&path, raw_archive(&members)).unwrap();
    };
    write(None);
    named(SavedProgram::open(&path).unwrap_err(), "there is no program in it: the member `script.txt` is missing");
    write(Some(b"y = exp(\n"));
    named(SavedProgram::open(&path).unwrap().script::<Script>().unwrap_err(), "line 1, column 9");
    write(Some(b"\xff"));
    named(SavedProgram::open(&path).unwrap_err(), "not UTF-8");
    let mut file = NpzWriter::create(&path).unwrap();
    file.add_text("script.txt", "").unwrap();
    assert!(file.add_text("script.txt", "").is_err(), "names stand once");
    // when the script is read, a name that is invalid in the script language gives an error that names the line
    b.give("my result", &x);
    b.save_program(&path).unwrap();
    named(SavedProgram::open(&path).unwrap().script::<Script>().unwrap_err(), "line 4");
}
