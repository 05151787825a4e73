//! Tests of MRC files that the Python package `mrcfile` has written, and of files of our own.

mod common;

use backends::{DType, prelude::*};
use backends_images::{MrcFiles, MrcInfo, MrcReader};
use common::{B, are_equal, array, data, is_that_of_python, new_path};
use std::{fs, io::ErrorKind};

const DTYPES: [&str; 6] = ["int8", "int16", "uint16", "float16", "float32", "complex64"];

#[test]
fn every_dtype_of_a_file_from_python() {
    for name in DTYPES {
        let path = data(&format!("{name}.mrc"));
        let file = MrcReader::open(&path).unwrap();
        let dtype: DType = name.parse().unwrap();
        assert_eq!((file.shape(), file.dtype()), (&[2, 3, 4][..], dtype));
        is_that_of_python(&B.load_mrc_value(&path).unwrap(), dtype, &[2, 3, 4]);
        let info = file.info();
        assert_eq!((info.voxel_size, info.origin), (Some([4.0, 2.5, 1.5]), [30.0, 20.0, 10.0]), "{name}");
        assert_eq!((info.start, info.axes, info.space_group), ([-3, -2, -1], ['z', 'y', 'x'], Some(1)));
        assert_eq!(info.labels, ["a label"]);
    }
}

#[test]
fn stacks_images_and_big_endian_files_from_python() {
    let shapes = [("stack.mrc", DType::Int16, vec![2, 2, 3, 4]), ("image.mrc", DType::Float32, vec![1, 3, 4])];
    for (name, dtype, shape) in shapes {
        is_that_of_python(&B.load_mrc_value(data(name)).unwrap(), dtype, &shape);
    }
    // this file also has an extended header, and other axes
    is_that_of_python(&B.load_mrc_value(data("big_endian.mrc")).unwrap(), DType::Int16, &[2, 3, 4]);
    let file = MrcReader::open(data("big_endian.mrc")).unwrap();
    assert_eq!(file.info().axes, ['x', 'z', 'y']);
    assert_eq!(file.info().voxel_size, Some([1.5, 4.0, 2.5]));
    assert_eq!((file.info().origin, file.info().start), ([10.0, 30.0, 20.0], [-3, -2, -1]));
}

#[test]
fn bytes_of_imod_are_unsigned() {
    let mut bytes = fs::read(data("int8.mrc")).unwrap();
    bytes[152..156].copy_from_slice(&1_146_047_817_i32.to_le_bytes());
    bytes[1024] = 200;
    for (flags, dtype, value) in [(0, DType::UInt8, 200.0), (1, DType::Int8, -56.0)] {
        bytes[156] = flags;
        let mut file = MrcReader::from_bytes("x.mrc", bytes.clone()).unwrap();
        assert_eq!(file.dtype(), dtype);
        assert_eq!(file.read::<f32>(..).unwrap()[[0, 0, 0]], value);
    }
}

#[test]
fn axes_that_are_missing_or_wrong_are_the_usual_ones() {
    let good = fs::read(data("int8.mrc")).unwrap();
    for axes in [[0, 0, 0], [1, 1, 2], [1, 2, 4], [i32::MIN, 2, 3], [1, 2, i32::MAX]] {
        let mut bytes = good.clone();
        axes.iter().enumerate().for_each(|(k, n)| bytes[64 + 4 * k..68 + 4 * k].copy_from_slice(&n.to_le_bytes()));
        assert_eq!(MrcReader::from_bytes("x.mrc", bytes).unwrap().info().axes, ['z', 'y', 'x'], "{axes:?}");
    }
}

#[test]
fn parts_are_read_in_the_requested_dtype() {
    let mut file = MrcReader::open(data("int16.mrc")).unwrap();
    let whole = file.array::<_, f64>(&B, ..).unwrap();
    let part = file.array::<_, f64>(&B, slices![1..2, .., 1..3]).unwrap();
    assert_eq!(part, B.get(&whole, ix![1..2, .., 1..3]).unwrap());
    assert_eq!(file.read::<i32>([0..1, 0..1, 3..4]).unwrap()[[0, 0, 0]], -21);
    for (why, kind) in [
        (file.read::<i8>(..).unwrap_err(), "int8 does not hold elements of int16"),
        (file.read::<f32>([0..3, 0..3, 0..4]).unwrap_err(), "0..3"),
    ] {
        assert!(why.to_string().starts_with(&data("int16.mrc").display().to_string()), "{why}");
        assert!(why.to_string().contains(kind), "{why}");
    }
    assert!(B.load_mrc::<f32>(data("complex64.mrc")).is_err());
}

#[test]
fn what_is_written_is_read() {
    let path = new_path("written.mrc");
    let info = MrcInfo::new().voxel_size([4.0, 2.5, 1.5]).origin([1.0, 2.0, 3.0]).start([4, 5, 6]).label("one");
    for name in DTYPES {
        for shape in [&[3, 4][..], &[2, 3, 4], &[2, 3, 4, 5]] {
            let x = array(name.parse().unwrap(), shape);
            B.save_mrc_value(&path, &x, &info).unwrap();
            let mut file = MrcReader::open(&path).unwrap();
            let expected = if shape.len() == 2 { vec![1, 3, 4] } else { shape.to_vec() };
            assert_eq!(file.shape(), expected);
            is_that_of_python(&file.value(&B).unwrap(), name.parse().unwrap(), &expected);
            let group = [0, 1, 401][shape.len() - 2];
            assert_eq!(*file.info(), info.clone().space_group(group));
        }
    }
    // an array that is not in C order, and other axes
    let mut info = MrcInfo::new().voxel_size([1.0, 2.0, 3.0]).origin([4.0, 5.0, 6.0]).space_group(401);
    info.axes = ['y', 'x', 'z'];
    let x = B.asarray([[[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]]]).unwrap();
    B.save_mrc(&path, B.permute_dims(&x, [2, 0, 1]).unwrap(), &info).unwrap();
    assert_eq!(B.load_mrc::<f32>(&path).unwrap(), B.permute_dims(&x, [2, 0, 1]).unwrap());
    assert_eq!(*MrcReader::open(&path).unwrap().info(), info.space_group(1));
    // the statistics, at bytes 76, 80, 84 and 216
    let bytes = fs::read(&path).unwrap();
    let number = |at: usize| f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!([76, 80, 84].map(number), [1.0, 6.0, 3.5]);
    assert!((number(216) - 1.707_825).abs() < 1e-6);
}

#[test]
fn arrays_of_any_backend_are_written() {
    let path = new_path("any.mrc");
    let b = AnyBackend::from(Numpyish::new());
    b.save_mrc(&path, b.ones::<f32>([2, 2, 2]).unwrap(), &MrcInfo::new()).unwrap();
    assert_eq!(b.item(b.sum(b.load_mrc::<f64>(&path).unwrap(), ..).unwrap()).unwrap(), 8.0);
    let value = b.load_mrc_value(&path).unwrap();
    b.save_mrc_value(&path, &value, &MrcInfo::new()).unwrap();
    are_equal(
        &B.load_mrc_value(&path).unwrap(),
        &backends::Value::Array(DynArray::of::<f32>(B.ones([2, 2, 2]).unwrap())),
    );
}

#[test]
fn what_the_format_does_not_have_is_refused() {
    let path = new_path("refused.mrc");
    let info = MrcInfo::new();
    let refused = |dtype, shape: &[usize], info: &MrcInfo, expected: &str| {
        let why = B.save_mrc_value(&path, &array(dtype, shape), info).unwrap_err();
        assert_eq!(why.kind(), ErrorKind::InvalidInput);
        assert!(
            why.to_string().starts_with(&path.display().to_string()) && why.to_string().contains(expected),
            "{why}"
        );
        assert!(!path.exists());
    };
    for dtype in [DType::Float64, DType::UInt8, DType::Bool, DType::Int64, DType::BFloat16, DType::Complex128] {
        refused(dtype, &[2, 2], &info, &format!("have no elements of {dtype}"));
    }
    for shape in [&[3][..], &[], &[0, 2, 2], &[1, 1, 1, 1, 1]] {
        refused(DType::Float32, shape, &info, "no arrays of the shape");
    }
    refused(DType::Float32, &[1, 1], &info.clone().label("ü"), "ASCII");
    refused(DType::Float32, &[1, 1], &(0..11).fold(info.clone(), |info, _| info.label("x")), "ten labels");
    let mut axes = info;
    axes.axes = ['x', 'x', 'z'];
    refused(DType::Float32, &[1, 1], &axes, "are not the axes");
}

#[test]
fn wrong_headers_are_named() {
    let good = fs::read(data("int16.mrc")).unwrap();
    let changed = |at: usize, number: i32| {
        let mut bytes = good.clone();
        bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        MrcReader::from_bytes("x.mrc", bytes).unwrap_err().to_string()
    };
    for (at, number, why) in [
        (0, 0, "the header declares the shape [2, 3, 0]"),
        (4, -3, "the header declares the shape [2, -3, 4]"),
        (8, i32::MAX, "48 bytes of data for the shape [2147483647, 3, 4] of 2-byte elements"),
        (12, 3, "elements of mode 3"),
        (12, 101, "elements of mode 101"),
        (92, -1, "an extended header of -1 bytes"),
        (92, 1, "47 bytes of data"),
        (208, 0, "the mark `MAP` is missing"),
    ] {
        let error = changed(at, number);
        assert!(error.starts_with("x.mrc: ") && error.contains(why), "{error}");
    }
    assert!(MrcReader::from_bytes("x.mrc", good[..1000].to_vec()).unwrap_err().to_string().contains("its header"));
    // a stack of volumes whose sections cannot be divided
    let mut bytes = fs::read(data("stack.mrc")).unwrap();
    bytes[36] = 3;
    assert!(MrcReader::from_bytes("x.mrc", bytes).unwrap_err().to_string().contains("volumes of 3 sections"));
    let why = MrcReader::open(std::env::temp_dir()).unwrap_err();
    assert_eq!(why.kind(), ErrorKind::InvalidInput);
    assert!(why.to_string().ends_with("not a regular file"));
    assert_eq!(MrcReader::open(new_path("nothing.mrc")).unwrap_err().kind(), ErrorKind::NotFound);
}
