//! Tests of TIFF files that the Python package `tifffile` has written, and of files of our own.

mod common;

use backends::{DType, prelude::*};
use backends_images::{ResolutionUnit, TiffCompression, TiffFiles, TiffInfo, TiffReader};
use common::{B, array, data, is_that_of_python, new_path, numbers};
use std::io::ErrorKind;

const DTYPES: &str = "uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64";

#[test]
fn every_dtype_of_a_file_from_python() {
    for name in DTYPES.split(' ') {
        let path = data(&format!("{name}.tif"));
        let file = TiffReader::open(&path).unwrap();
        let dtype: DType = name.parse().unwrap();
        assert_eq!((file.shape().unwrap(), file.dtype().unwrap()), (vec![2, 3, 4], dtype));
        is_that_of_python(&B.load_tiff_value(&path).unwrap(), dtype, &[2, 3, 4]);
    }
}

#[test]
fn variants_of_files_from_python() {
    let large = vec![2, 40, 30];
    for (name, dtype, shape) in [
        ("big_endian", DType::Int16, vec![2, 3, 4]),
        ("bigtiff", DType::Int16, vec![2, 3, 4]),
        ("deflate", DType::UInt16, large.clone()),
        ("lzw", DType::UInt16, large.clone()),
        ("packbits", DType::UInt16, large.clone()),
        ("tiles", DType::UInt16, large.clone()),
        ("strips", DType::UInt16, large),
        ("float_predictor", DType::Float32, vec![1, 20, 30]),
        ("rgb", DType::UInt8, vec![2, 4, 5, 3]),
        ("bool", DType::Bool, vec![2, 3, 11]),
        ("white_is_zero", DType::UInt8, vec![1, 3, 4]),
        ("imagej", DType::UInt16, vec![3, 4, 5]),
    ] {
        is_that_of_python(&B.load_tiff_value(data(&format!("{name}.tif"))).unwrap(), dtype, &shape);
    }
    // the three planes of one page become the samples of its pixels
    let planes = B.reshape(B.load_tiff::<u8>(data("planes.tif")).unwrap(), [4, 5, 3]).unwrap();
    let planes = backends::Value::Array(DynArray::of::<u8>(B.permute_dims(planes, [2, 0, 1]).unwrap()));
    is_that_of_python(&planes, DType::UInt8, &[3, 4, 5]);
}

#[test]
fn information_of_files_from_python() {
    let info = |name: &str| TiffReader::open(data(name)).unwrap().info().clone();
    let expected = TiffInfo::new().resolution([1000.5, 2000.0], ResolutionUnit::Centimeter).description("a text");
    assert_eq!(info("resolution.tif"), expected);
    assert_eq!(info("deflate.tif").compression, TiffCompression::Deflate);
    assert!(info("imagej.tif").description.unwrap().contains("spacing=0.5"));
    // the first two pages of this file are equal, the third is not
    let mut file = TiffReader::open(data("mixed.tif")).unwrap();
    assert_eq!(file.pages().iter().map(|page| &page.shape[..]).collect::<Vec<_>>(), [[3, 4], [3, 4], [2, 2]]);
    let why = file.shape().unwrap_err().to_string();
    assert!(why.ends_with("page 0 has the shape [3, 4] and the dtype uint8, but page 2 has [2, 2] and uint8"), "{why}");
    assert!(file.value(&B).is_err() && file.dtype().is_err() && file.read::<f32>(..).is_err());
    assert_eq!(file.read::<u8>(..2).unwrap().shape(), [2, 3, 4]);
    assert_eq!(file.array::<_, f64>(&B, 2..=2).unwrap(), B.asarray([[[0.0, 7.0], [14.0, 21.0]]]).unwrap());
    #[allow(clippy::reversed_empty_ranges, reason = "it is refused")]
    for range in [1..4, 3..3, 2..1] {
        let why = file.read::<u8>(range).unwrap_err();
        assert!(why.to_string().contains("of 3 pages"), "{why}");
    }
    assert!(file.read::<i8>(..1).unwrap_err().to_string().contains("int8 does not hold elements of uint8"));
}

#[test]
fn other_kinds_of_files_are_refused() {
    let why = TiffReader::open(data("zstd.tif")).unwrap_err();
    assert_eq!(why.kind(), ErrorKind::Unsupported);
    assert!(
        why.to_string().ends_with("zstd.tif: page 0: pages that are compressed by method 50000 are not read"),
        "{why}"
    );
    // a large file of ImageJ, which describes only its first page
    let path = new_path("imagej.tif");
    let info = TiffInfo::new().description("ImageJ=1.53\nimages=3\n");
    B.save_tiff(&path, B.ones::<u8>([2, 2]).unwrap(), &info).unwrap();
    assert!(TiffReader::open(&path).unwrap_err().to_string().contains("3 images after the description of one page"));
    for (bytes, why) in [
        (&b""[..], "the file ends within the description of a page"),
        (b"PNG.....", "neither `II` nor `MM`"),
        (b"II\x2b\x01\0\0\0\0", "its version is 299"),
    ] {
        let error = TiffReader::from_bytes("x.tif", bytes.to_vec()).unwrap_err().to_string();
        assert!(error.starts_with("x.tif: ") && error.contains(why), "{error}");
    }
    assert_eq!(TiffReader::open(new_path("nothing.tif")).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(TiffReader::open(std::env::temp_dir()).unwrap_err().to_string().ends_with("not a regular file"));
}

#[test]
fn what_is_written_is_read() {
    let path = new_path("written.tif");
    let methods = [TiffCompression::None, TiffCompression::Deflate, TiffCompression::Lzw, TiffCompression::PackBits];
    for (k, name) in DTYPES.split(' ').enumerate() {
        let info = TiffInfo::new().resolution([1.25, 3e-4], ResolutionUnit::Inch).description("a text");
        let info = info.compression(methods[k % 4]);
        for shape in [&[9, 5][..], &[3, 50, 40], &[2, 3, 4, 1], &[2, 3, 4, 2], &[1, 3, 4, 3], &[2, 3, 4, 4]] {
            B.save_tiff_value(&path, &array(name.parse().unwrap(), shape), &info).unwrap();
            let mut file = TiffReader::open(&path).unwrap();
            let expected = match *shape {
                [rows, columns] => vec![1, rows, columns],
                [pages, rows, columns, 1] => vec![pages, rows, columns],
                _ => shape.to_vec(),
            };
            is_that_of_python(&file.value(&B).unwrap(), name.parse().unwrap(), &expected);
            assert_eq!(*file.info(), info);
        }
    }
    // an array that is not in C order
    let x = B.permute_dims(B.asarray([[[1_u16, 2, 3], [4, 5, 6]]]).unwrap(), [2, 0, 1]).unwrap();
    B.save_tiff(&path, &x, &TiffInfo::new()).unwrap();
    assert_eq!(B.load_tiff::<u16>(&path).unwrap(), x);
    assert_eq!(numbers(B.load_tiff_value(&path).unwrap().as_array().unwrap()).len(), 6);
}

#[test]
fn what_the_format_does_not_have_is_refused() {
    let path = new_path("refused.tif");
    let refused = |dtype, shape: &[usize], info: &TiffInfo, expected: &str| {
        let why = B.save_tiff_value(&path, &array(dtype, shape), info).unwrap_err();
        assert_eq!(why.kind(), ErrorKind::InvalidInput);
        assert!(
            why.to_string().starts_with(&path.display().to_string()) && why.to_string().contains(expected),
            "{why}"
        );
        assert!(!path.exists());
    };
    let info = TiffInfo::new();
    for dtype in [DType::Bool, DType::BFloat16, DType::Complex64, DType::Complex128] {
        refused(dtype, &[2, 2], &info, &format!("have no elements of {dtype}"));
    }
    for shape in [&[3][..], &[], &[0, 2, 2], &[1, 1, 1, 5], &[1, 1, 1, 1, 1]] {
        refused(DType::Float32, shape, &info, "no arrays of the shape");
    }
    refused(DType::Float32, &[1, 1], &info.clone().description("ü"), "ASCII");
    for number in [0.0, -1.0, f64::NAN, 1e10] {
        let info = info.clone().resolution([1.0, number], ResolutionUnit::None);
        refused(DType::Float32, &[1, 1], &info, "is not positive and less than 2^32");
    }
}
