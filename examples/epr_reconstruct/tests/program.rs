//! Tests of the example program `epr_reconstruct`. They start the program with arguments, like a user.

#[path = "../../../tests/common/near.rs"]
mod near;

use backends::{prelude::*, runtime::available};
use backends_npz::{Npz, encode};
use examples_common::trial::Program;
use ndarray::{ArrayD, arr1, arr2};
use std::{fs, path::Path, process::Command, sync::LazyLock};

static PROGRAM: LazyLock<Program> = LazyLock::new(|| Program {
    path: env!("CARGO_BIN_EXE_epr_reconstruct"),
    folder: Path::new(env!("CARGO_TARGET_TMPDIR")).join("epr_reconstruct"),
});

fn data(name: &str) -> String {
    format!("{}/../../tests/data/{name}.npz", env!("CARGO_MANIFEST_DIR"))
}

const SMALL: [&str; 6] = ["--shape", "50x25", "--delta", "0.064", "--iterations", "40"];

#[test]
fn a_measurement_becomes_images() {
    let out = PROGRAM.folder("two").join("new").join("out");
    let text = PROGRAM.succeeds(&SMALL, &out);
    assert!(text.contains("113 projections of 2000 samples"), "{text}");
    let results = Npz::open(&out).unwrap();
    assert_eq!(results.get::<f64>("fbp").unwrap().shape(), [50, 25]);
    assert_eq!(results.get::<f64>("tv").unwrap().shape(), [50, 25]);
    let energies = results.vector("tv_energy").unwrap();
    assert!(energies.len() == 3 && energies.is_sorted_by(|a, b| a > b), "{energies:?}");
    let mut names: Vec<_> = fs::read_dir(&out).unwrap().map(|f| f.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["fbp.npy", "fbp.png", "sinogram.png", "tv.npy", "tv.png", "tv_energy.npy"]);
    for name in names.iter().filter(|n| n.to_string_lossy().ends_with("png")) {
        assert!(fs::read(out.join(name)).unwrap().starts_with(b"\x89PNG"));
    }
}

#[test]
fn results_are_compared_with_a_reference() {
    let out = PROGRAM.folder("reference");
    let (phalanx, small) = (data("pyepri_phalanx_fbp_small"), data("pyepri_phalanx_tv_small"));
    let text =
        PROGRAM.succeeds(&["--method", "fbp", "--shape", "100x50", "--delta", "0.032", "--reference", &phalanx], &out);
    assert!(text.contains("fbp of pyepri_phalanx_fbp_small.npz: largest difference"), "{text}");
    assert!(!out.join("tv.npy").exists());
    PROGRAM.fails(&["--method", "fbp", "--reference", &data("mlp_4_16_1")], "none of the arrays fbp");
    PROGRAM
        .fails(&["--method", "fbp", "--reference", &phalanx], "`fbp` has the shape [100, 50], the result [400, 200]");
    PROGRAM.fails(&["--method", "tv", "--reference", &phalanx], "none of the arrays tv_u, tv_E");
    let longer = ["--shape", "100x50", "--iterations", "220", "--reference", &small];
    PROGRAM.fails(&longer, "`tv_E` has the shape [11], the result [12]");
    let tv = ["--method", "tv", "--shape", "100x50", "--delta", "0.032", "--iterations", "200", "--reference", &small];
    let text = PROGRAM.succeeds(&tv, &out);
    assert!(text.contains("tv_u of") && text.contains("tv_E of"), "{text}");
    // in a folder, references with a matching shape are compared, and all other references are listed
    let folder = PROGRAM.folder("references");
    fs::copy(phalanx, folder.join("a.npz")).unwrap();
    fs::copy(data("pyepri_fbp2d_small"), folder.join("b.npz")).unwrap();
    let arguments = ["--method", "fbp", "--shape", "100x50", "--delta", "0.032", "--reference"];
    let text = PROGRAM.succeeds(&[&arguments[..], &[folder.to_str().unwrap()]].concat(), &out);
    assert!(text.contains("fbp of a.npz: ") && text.contains("b.npz: `fbp` has the shape [24, 24]"), "{text}");
}

/// Checks that the image on another backend equals PyEPRI's. In single precision, differences may be three times
/// PyEPRI's own float32 rounding errors.
fn gives_the_image(backend: &str) {
    let expected = Npz::open(data("pyepri_phalanx_tv_small")).unwrap();
    let small = ["--backend", backend, "--shape", "100x50", "--delta", "0.032", "--iterations", "200"];
    for (dtype, methods, tolerance) in [("float64", "both", 1e-6), ("float32", "tv", 3.0 * 0.000695)] {
        let out = PROGRAM.folder(&format!("{backend}_{dtype}"));
        let text = PROGRAM.succeeds(&[&small[..], &["--dtype", dtype, "--method", methods]].concat(), &out);
        assert!(text.contains(&format!("{dtype}, on {backend}")), "{text}");
        let found = Npz::open(&out).unwrap();
        near::near_l2("tv", &found.get::<f64>("tv").unwrap(), &expected.get::<f64>("tv_u").unwrap(), tolerance);
        if methods == "both" {
            let fbp = Npz::open(data("pyepri_phalanx_fbp_small")).unwrap().get::<f64>("fbp").unwrap();
            near::near("fbp", &found.get::<f64>("fbp").unwrap(), &fbp, 1e-9);
        }
    }
}

#[test]
fn libtorch_gives_the_image() {
    if available("torch", Torch::cpu()).is_some() {
        gives_the_image("torch");
    }
}

#[test]
fn a_gpu_gives_the_image() {
    if available("cuda", Cuda::new(0)).is_some() {
        gives_the_image("cuda");
    }
}

#[test]
fn a_volume_has_central_slices() {
    let out = PROGRAM.folder("three");
    let volume = data("pyepri_fbp3d_small");
    let shape = ["--shape", "12x10x8", "--delta", "0.06", "--cutoff", "0.35", "--lambda", "1e-6", "--iterations", "20"];
    PROGRAM.succeeds(&[&["--data", &volume, "--dtype", "float32"][..], &shape].concat(), &out);
    assert_eq!(Npz::open(&out).unwrap().get::<f64>("tv").unwrap().shape(), [12, 10, 8]);
    assert!(out.join("tv.png").exists());
    PROGRAM.fails(&["--data", &volume, "--shape", "12x10"], "2 lengths");
}

#[test]
fn wrong_arguments_are_explained() {
    for (arguments, why) in [
        (&["--backend", "numpy"][..], "the backends are"),
        (&["--dtype", "int8"], "float32 and float64"),
        (&["--method", "art"], "the methods are"),
        (&["--shape", "400"], "a shape is"),
        (&["--shape", "0x4"], "a shape is"),
        (&["--shape", "99999999999999999999x2"], "a shape is"),
        (&["--shape", "9999999999x9999999999"], "memory"),
        (&["--delta", "0"], "positive"),
        (&["--delta", "nan"], "positive"),
        (&["--cutoff", "1.5"], "0 .. 1"),
        (&["--lambda", "-1"], "positive"),
        (&["--delta", "inf"], "positive"),
        (&["--delta", "-0.008"], "positive"),
        (&["--delta", "5e-324"], "pixel size"),
        (&["--delta", "1e-90"], "pixel size"),
        (&["--delta", "1e308"], "pixel size"),
        (&["--delta", "1e-15", "--dtype", "float32"], "float32"),
        (&["--shape", "9999999999x1", "--method", "fbp"], "GiB"),
        (&["--shape", "1x9999999999"], "GiB"),
        (&["--shape", "2305843009213693952x8"], "memory"),
        (&["--shape", "2x2x2"], "3 lengths"),
        (&["--cutoff", "0"], "0 .. 1"),
        (&["--lambda", "inf"], "positive"),
        (&["--iterations", "many"], "number"),
        (&["--iterations", "0"], "at least 1"),
        (&["--iterations", "18446744073709551616"], "number"),
        (&["--out", ""], "path is empty"),
        (&["--data", ""], "path is empty"),
        (&["--reference", ""], "path is empty"),
        (&["--device", ""], "cpu"),
        (&["--device", "cuda:0"], "cpu"),
        (&["--speed", "high"], "speed"),
        (&["phalanx"], "phalanx"),
        (&["--data"], "data"),
    ] {
        PROGRAM.fails(arguments, why);
    }
    for lambda in ["5e-324", "1e308"] {
        PROGRAM.fails(&[&["--method", "tv", "--lambda", lambda][..], &SMALL].concat(), "step lengths");
    }
    let help = Command::new(PROGRAM.path).arg("--help").output().unwrap();
    assert!(help.status.success() && String::from_utf8_lossy(&help.stdout).contains("--iterations"));
}

#[test]
fn damaged_data_are_explained() {
    let here = PROGRAM.folder("damaged");
    let path = |name: &str| here.join(name).to_string_lossy().into_owned();
    let whole = fs::read(data("pyepri_fbp2d_small")).unwrap();
    PROGRAM.fails(&["--data", &path("missing.npz")], "missing.npz");
    PROGRAM.fails(&["--data", &path("")], "no such array");
    for (name, bytes) in [
        ("empty.npz", &[][..]),
        ("text.npz", b"not an archive"),
        ("short.npz", &whole[..whole.len() / 2]),
        ("headless.npz", &whole[100..]),
    ] {
        fs::write(path(name), bytes).unwrap();
        PROGRAM.fails(&["--data", &path(name)], &format!("{name}: not a complete .npz (zip) file"));
    }
    let mut flipped = whole;
    let middle = flipped.len() / 3;
    flipped[middle] ^= 0x10;
    fs::write(path("flipped.npz"), flipped).unwrap();
    PROGRAM.fails(&["--data", &path("flipped.npz"), "--shape", "24x24"], "flipped.npz");
}

#[test]
fn inconsistent_data_are_explained() {
    let here = PROGRAM.folder("inconsistent");
    let write = |name: &str, array: ArrayD<f64>| fs::write(here.join(name), encode(&array)).unwrap();
    let path = here.to_string_lossy().into_owned();
    let samples = |n: usize, f: fn(usize) -> f64| arr1(&(0..n).map(f).collect::<Vec<_>>()).into_dyn();
    let arguments = ["--data", &path, "--shape", "8x8", "--delta", "0.05", "--iterations", "20"];
    write("B.npy", samples(32, |i| i as f64));
    write("h.npy", samples(32, |i| (i as f64 - 15.3) * (-(i as f64 - 15.3).powi(2) / 9.0).exp()));
    write("fgrad.npy", arr2(&[[9.0, 0.0, 5.0], [0.0, 9.0, 5.0]]).into_dyn());
    PROGRAM.fails(&arguments, "`proj`: there is no such array");
    write("proj.npy", ArrayD::zeros(vec![3, 31]));
    PROGRAM.fails(&arguments, "`proj` has the shape [3, 31]");
    write("proj.npy", ArrayD::zeros(vec![0, 32]));
    PROGRAM.fails(&arguments, "`proj` has the shape [0, 32]");
    write("proj.npy", ArrayD::from_elem(vec![3, 32], 1e300));
    PROGRAM.fails(&arguments, "tv: the energy is inf");
    write("proj.npy", ArrayD::zeros(vec![3, 32]));
    PROGRAM.fails(&arguments, "sums to 0");
    write("proj.npy", ArrayD::from_elem(vec![3, 32], f64::NAN));
    PROGRAM.fails(&arguments, "NaN");
    write("proj.npy", ArrayD::from_shape_fn(vec![3, 32], |i| (i[0] as f64 + i[1] as f64).sin()));
    PROGRAM.succeeds(&arguments, &PROGRAM.folder("consistent"));
    write("h.npy", ArrayD::zeros(vec![32]));
    PROGRAM.fails(&arguments, "fbp: the data lead to values that are not finite");
    write("h.npy", ArrayD::from_elem(vec![32], f64::INFINITY));
    PROGRAM.fails(&arguments, "scan: a value is infinite or NaN, but all must be finite");
    write("h.npy", samples(31, |i| i as f64));
    PROGRAM.fails(&arguments, "the reference spectrum has 31 samples");
    write("h.npy", ArrayD::zeros(vec![32, 1]));
    PROGRAM.fails(&arguments, "`h` has the shape [32, 1]");
    write("h.npy", samples(32, |i| i as f64));
    write("fgrad.npy", arr2(&[[9.0, 0.0, 5.0]]).into_dyn());
    PROGRAM.fails(&arguments, "1 rows of gradients");
    write("fgrad.npy", arr2(&[[9.0, 0.0, 5.0], [0.0, 9.0, 5.0]]).into_dyn());
    write("B.npy", samples(32, |i| (i * i) as f64));
    PROGRAM.fails(&arguments, "evenly spaced");
}

#[test]
fn what_cannot_be_written_is_said_before_the_work() {
    let file = PROGRAM.folder("occupied").join("file");
    fs::write(&file, "x").unwrap();
    fs::create_dir_all(file.with_file_name("out/tv.npy")).unwrap();
    let out = file.with_file_name("out");
    for (folder, named) in [(&file, &file), (&file.join("inside"), &file.join("inside")), (&out, &out.join("tv.npy"))] {
        let output = PROGRAM.run(&SMALL, folder);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && output.stdout.is_empty());
        assert!(text.starts_with(&format!("error: cannot write to {}: ", named.display())), "{text}");
    }
    assert_eq!(fs::read(&file).unwrap(), b"x");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
}

/// No file can be created in /proc, whatever its permissions are. The program must report this before it starts its
/// work.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_is_tried_before_the_work() {
    let output = PROGRAM.run(&SMALL, Path::new("/proc"));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(text.starts_with("error: cannot write to /proc: "), "{text}");
}

#[test]
fn a_failure_leaves_no_folders() {
    let here = PROGRAM.folder("unused");
    let output = PROGRAM.run(&["--shape", "2x2x2"], &here.join("a").join("b"));
    assert!(!output.status.success() && fs::read_dir(&here).unwrap().next().is_none());
}

/// If the reader of the output has closed the pipe, or the disk for the output is full, the results are still written.
#[cfg(target_os = "linux")]
#[test]
fn results_do_not_depend_on_who_listens() {
    let path = PROGRAM.path;
    let out = PROGRAM.folder("unheard");
    let arguments = format!("--backend numpyish --method fbp --out {} {}", out.display(), SMALL.join(" "));
    for (line, status, why) in [
        (format!("{path} {arguments} | head -1; exit ${{PIPESTATUS[0]}}"), 0, ""),
        (format!("{path} {arguments} | true; exit ${{PIPESTATUS[0]}}"), 0, ""),
        (format!("{path} {arguments} >&-"), 0, ""),
        (format!("{path} {arguments} >&- 2>&- <&-"), 0, ""),
        (format!("{path} {arguments} 2>/dev/full"), 0, ""),
        (format!("{path} {arguments} >/dev/full"), 1, "standard output"),
        (format!("{path} {arguments} >/dev/full 2>/dev/full"), 1, ""),
    ] {
        let _ = fs::remove_file(out.join("fbp.npy"));
        let output = Command::new("bash").args(["-c", &line]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{line}: {text}");
        assert!(text.contains(why) && !text.contains("panicked"), "{line}: {text}");
        assert!(out.join("fbp.npy").exists(), "{line}");
    }
    for (line, status) in [
        (format!("{path} --help >/dev/full"), 1),
        (format!("{path} --help | true; exit ${{PIPESTATUS[0]}}"), 0),
        (format!("{path} --speed 2>/dev/full"), 2),
        (format!("{path} --data missing 2>/dev/full"), 1),
    ] {
        let output = Command::new("bash").args(["-c", &line]).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_no_data() {
    let pipe = PROGRAM.folder("pipe").join("data.npz");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let pipe = pipe.to_str().unwrap();
    for path in [pipe, "/dev/zero", "/dev/null"] {
        PROGRAM.fails(&["--data", path], &format!("{path}: not a regular file"));
        PROGRAM.fails(&["--reference", path], &format!("{path}: not a regular file"));
    }
}

/// The same data in other encodings give the same image, bit for bit.
#[test]
fn data_are_read_in_every_notation() {
    let here = PROGRAM.folder("notations");
    let measured = Npz::open(data("pyepri_fbp2d_small")).unwrap();
    // version 3.0, big-endian, in Fortran order, with unusual white space
    let write = |name: &str| {
        let x = measured.get::<f64>(name).unwrap();
        let shape: String = x.shape().iter().map(|n| format!(" {n} ,")).collect();
        let header = format!(" {{\"shape\" :({shape} ),\"fortran_order\":True ,'descr': '>f8'}} ");
        let data: Vec<u8> = x.t().iter().flat_map(|v| v.to_be_bytes()).collect();
        let length = (header.len() as u32).to_le_bytes();
        let file = [b"\x93NUMPY\x03\x00", &length[..], header.as_bytes(), &data].concat();
        fs::write(here.join(format!("{name}.npy")), file).unwrap();
    };
    ["proj", "B", "h", "fgrad"].iter().for_each(|name| write(name));
    let image = |data: &str, out: &str| {
        let out = PROGRAM.folder(out);
        PROGRAM.succeeds(&["--data", data, "--method", "fbp", "--shape", "24x24", "--delta", "0.02"], &out);
        fs::read(out.join("fbp.npy")).unwrap()
    };
    let expected = image(&data("pyepri_fbp2d_small"), "notation_c");
    assert_eq!(image(here.to_str().unwrap(), "notation_fortran"), expected);
}
