//! Files of arrays that others made, with or without good will.

mod common;

use backends_npz::{Npz, encode};
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
        (Member { length: whole.len() as u64, ..stored("x.npy", short) }, "data end before"),
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
        assert!(error.starts_with("x.npz: two arrays of the"), "{error}");
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
