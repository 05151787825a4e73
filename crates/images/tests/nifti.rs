//! Tests of NIfTI images that the Python package `nibabel` has written, and of files of our own.

mod common;

use backends::{DType, prelude::*};
use backends_images::{NiftiFiles, NiftiInfo, NiftiReader};
use common::{B, array, data, is_that_of_python, new_path, numbers, values};
use std::{fs, io::ErrorKind};

const DTYPES: &str = "uint8 int16 int32 float32 complex64 float64 int8 uint16 uint32 int64 uint64 complex128";

const AFFINE: [[f64; 4]; 3] = [[-2.0, 0.0, 0.0, 90.0], [0.0, 2.5, 0.0, -126.0], [0.0, 0.0, 3.0, -72.0]];

#[test]
fn every_dtype_of_a_file_from_python() {
    for name in DTYPES.split(' ') {
        let path = data(&format!("{name}.nii"));
        let file = NiftiReader::open(&path).unwrap();
        let dtype: DType = name.parse().unwrap();
        assert_eq!((file.shape(), file.dtype(), file.scaling()), (&[2, 3, 4][..], dtype, None));
        is_that_of_python(&B.load_nifti_value(&path).unwrap(), dtype, &[2, 3, 4]);
        assert_eq!(file.info().affine, Some(AFFINE), "{name}");
        assert_eq!(file.info().voxel_size, [2.0, 2.5, 3.0]);
    }
}

#[test]
fn versions_byte_orders_and_compression_of_files_from_python() {
    for name in ["version_2.nii", "big_endian.nii", "big_endian_2.nii"] {
        is_that_of_python(&B.load_nifti_value(data(name)).unwrap(), DType::Int16, &[2, 3, 4]);
        assert_eq!(NiftiReader::open(data(name)).unwrap().info().affine, Some(AFFINE), "{name}");
    }
    is_that_of_python(&B.load_nifti_value(data("time.nii.gz")).unwrap(), DType::Int16, &[2, 3, 4, 2]);
    let mut file = NiftiReader::open(data("time.nii.gz")).unwrap();
    let info = file.info();
    assert_eq!((info.space_unit, info.time_unit), (Some("mm"), Some("sec")));
    assert_eq!((&info.voxel_size[..], &info.description[..]), (&[2.0, 2.5, 3.0, 1.5][..], "a text"));
    let whole = file.array::<_, f32>(&B, ..).unwrap();
    let part = file.array::<_, f32>(&B, slices![.., 1..3, 2..3, ..]).unwrap();
    assert_eq!(part, B.get(&whole, ix![.., 1..3, 2..3, ..]).unwrap());
}

#[test]
fn an_affine_by_a_quaternion() {
    is_that_of_python(&B.load_nifti_value(data("quaternion.nii")).unwrap(), DType::Int16, &[2, 3, 4]);
    let affine = NiftiReader::open(data("quaternion.nii")).unwrap().info().affine.unwrap();
    let expected =
        [[1.910_672_98, -0.738_800_49, 0.0, 90.0], [0.591_040_4, 2.388_341_23, 0.0, -126.0], [0.0, 0.0, -3.0, -72.0]];
    for (row, expected) in affine.iter().zip(expected) {
        assert!(row.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-6), "{affine:?}");
    }
    // a half turn, without affine, and a vector that is longer than 1
    let mut bytes = fs::read(data("quaternion.nii")).unwrap();
    bytes[256..260].copy_from_slice(&1.000_001_f32.to_le_bytes());
    bytes[260..268].fill(0);
    let affine = NiftiReader::from_bytes("x.nii", bytes.clone()).unwrap().info().affine.unwrap();
    assert_eq!([affine[0][0], affine[1][1], affine[2][2]], [2.0, -2.5, 3.0]);
    bytes[252] = 0;
    assert_eq!(NiftiReader::from_bytes("x.nii", bytes).unwrap().info().affine, None);
}

#[test]
fn values_are_scaled() {
    let mut file = NiftiReader::open(data("scaled.nii")).unwrap();
    assert_eq!((file.dtype(), file.stored_dtype(), file.scaling()), (DType::Float64, DType::Int16, Some((0.5, 10.0))));
    let expected: Vec<_> = values(DType::Int16, 24).iter().map(|v| v * 0.5 + 10.0).collect();
    let value = file.value(&B).unwrap();
    let x = value.as_array().unwrap();
    assert_eq!((x.dtype(), numbers(x)), (DType::Float64, expected));
    assert_eq!(file.read::<f32>(..).unwrap()[[0, 0, 1]], 6.5);
    assert_eq!(file.read::<Complex<f32>>(..).unwrap()[[0, 0, 1]], Complex::new(6.5, 0.0));
    let why = file.read::<i16>(..).unwrap_err().to_string();
    assert!(why.contains("int16 does not hold elements of int16 that are scaled"), "{why}");
    let mut bytes = fs::read(data("complex64.nii")).unwrap();
    bytes[112..116].copy_from_slice(&2_f32.to_le_bytes());
    let mut file = NiftiReader::from_bytes("x.nii", bytes).unwrap();
    assert_eq!(file.dtype(), DType::Complex128);
    assert_eq!(file.read::<Complex<f64>>(..).unwrap()[[0, 0, 1]], Complex::new(-14.0, 2.0));
    assert!(file.read::<f64>(..).is_err());
}

#[test]
fn what_is_written_is_read() {
    let info = NiftiInfo::new().affine(AFFINE).voxel_size([2.0, 2.5, 3.0, 1.5]).space_unit("mm").time_unit("sec");
    let info = info.description("a text");
    for (k, name) in DTYPES.split(' ').enumerate() {
        let path = new_path(if k % 2 == 0 { "written.nii" } else { "written.nii.gz" });
        for shape in [&[5][..], &[2, 3, 4], &[2, 3, 4, 2], &[1, 2, 1, 2, 1, 2, 1]] {
            B.save_nifti_value(&path, &array(name.parse().unwrap(), shape), &info).unwrap();
            let mut file = NiftiReader::open(&path).unwrap();
            is_that_of_python(&file.value(&B).unwrap(), name.parse().unwrap(), shape);
            let mut expected = info.clone();
            expected.voxel_size.resize(shape.len(), 1.0);
            assert_eq!(*file.info(), expected, "{name} {shape:?}");
        }
        assert_eq!(fs::read(&path).unwrap().starts_with(&[0x1f, 0x8b]), k % 2 == 1);
    }
    // a long axis needs version 2
    let path = new_path("long.nii");
    let x = B.arange::<f32>(0.0, 40_000.0, 1.0).unwrap();
    B.save_nifti(&path, &x, &info).unwrap();
    assert_eq!(fs::read(&path).unwrap()[..2], 540_i16.to_le_bytes());
    assert_eq!(B.load_nifti::<f32>(&path).unwrap(), x);
    assert_eq!(NiftiReader::open(&path).unwrap().info().affine, Some(AFFINE));
    assert_eq!(NiftiReader::open(&path).unwrap().info().space_unit, Some("mm"));
    // without information
    B.save_nifti(&path, B.ones::<f32>([2, 2]).unwrap(), &NiftiInfo::new()).unwrap();
    assert_eq!(*NiftiReader::open(&path).unwrap().info(), NiftiInfo::new().voxel_size([1.0, 1.0]));
}

#[test]
fn what_the_format_does_not_have_is_refused() {
    let path = new_path("refused.nii");
    let refused = |dtype, shape: &[usize], info: &NiftiInfo, expected: &str| {
        let why = B.save_nifti_value(&path, &array(dtype, shape), info).unwrap_err();
        assert_eq!(why.kind(), ErrorKind::InvalidInput);
        assert!(
            why.to_string().starts_with(&path.display().to_string()) && why.to_string().contains(expected),
            "{why}"
        );
        assert!(!path.exists());
    };
    let info = NiftiInfo::new();
    for dtype in [DType::Bool, DType::Float16, DType::BFloat16] {
        refused(dtype, &[2, 2], &info, &format!("have no elements of {dtype}"));
    }
    for shape in [&[][..], &[0, 2, 2], &[1; 8]] {
        refused(DType::Float32, shape, &info, "no arrays of the shape");
    }
    refused(DType::Float32, &[1, 1], &info.clone().description("x".repeat(81)), "at most 80");
    refused(DType::Float32, &[1, 1], &info.space_unit("furlong"), "`furlong` is not a unit");
}

#[test]
fn wrong_headers_are_named() {
    let good = fs::read(data("int16.nii")).unwrap();
    let changed = |at: usize, field: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + field.len()].copy_from_slice(field);
        NiftiReader::from_bytes("x.nii", bytes).unwrap_err().to_string()
    };
    for (at, field, why) in [
        (0, &[9, 0][..], "does not begin with the length of a header"),
        (40, &[0], "declares 0 axes"),
        (40, &[8], "declares 8 axes"),
        (42, &[0, 0x80], "[-32768, 3, 4]"),
        (42, &[0xff, 0x7f], "48 bytes of data for the shape [32767, 3, 4] of 2-byte elements"),
        (70, &[128], "the datatype 128"),
        (108, &(-1_f32).to_le_bytes(), "data at byte -1"),
        (108, &f32::NAN.to_le_bytes(), "data at byte NaN"),
        (108, &1e30_f32.to_le_bytes(), "data at byte"),
        (344, b"ni1", "another file (.img)"),
        (344, b"xyz", "the mark `n+1` or `n+2` is missing"),
    ] {
        let error = changed(at, field);
        assert!(error.starts_with("x.nii: ") && error.contains(why), "{error}");
    }
    let gz = fs::read(data("time.nii.gz")).unwrap();
    let mut wrong = gz.clone();
    let checksum = wrong.len() - 8;
    wrong[checksum] ^= 1;
    assert!(NiftiReader::from_bytes("x.nii.gz", wrong).unwrap_err().to_string().contains("corrupt"));
    assert_eq!(NiftiReader::open(new_path("nothing.nii")).unwrap_err().kind(), ErrorKind::NotFound);
}
