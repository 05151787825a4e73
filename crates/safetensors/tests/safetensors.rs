//! Tests of files that the Python package `safetensors` has written, of files of our own, and of damaged files.

use backends::{DType, DynArray, grad::StateDict, prelude::*};
use backends_safetensors::{from_bytes, load, notes, save, to_bytes};
use std::{collections::BTreeMap, io::ErrorKind, path::PathBuf};

const B: Numpyish = Numpyish::new();

fn data() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/dtypes.safetensors")
}

/// A path for a file of one test, which does not exist yet.
fn new_path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("backends-safetensors-{name}-{}.safetensors", std::process::id()))
}

#[test]
fn every_dtype_of_a_file_from_python() {
    let all = load(data()).unwrap();
    let names: Vec<&str> = all.keys().map(String::as_str).collect();
    let mut expected: Vec<String> = DType::ALL.iter().map(|dtype| dtype.to_string()).collect();
    expected.retain(|name| name != "complex128");
    expected.extend(["empty".into(), "scalar".into()]);
    expected.sort();
    assert_eq!(names, expected);
    for (name, x) in all.iter().filter(|(name, _)| !["empty", "scalar"].contains(&name.as_str())) {
        assert_eq!((x.dtype().to_string(), x.shape(&B)), (name.clone(), &[2, 3][..]));
        let expected: Vec<Complex<f64>> = [0, 1, 2, 100, 5, 7]
            .iter()
            .zip([100, 5, 7, 0, 1, 2])
            .map(|(&re, im)| match x.dtype() {
                DType::Bool => Complex::new(f64::from(re.min(1)), 0.0),
                DType::Complex64 => Complex::new(f64::from(re), f64::from(im)),
                _ => Complex::new(f64::from(re), 0.0),
            })
            .collect();
        assert_eq!(x.to_complex(&B).unwrap().iter().copied().collect::<Vec<_>>(), expected, "{name}");
    }
    assert_eq!(all["scalar"].get::<f64>().map(|x| x[[]]), Some(2.5));
    assert_eq!(all["empty"].shape(&B), [3, 0]);
    assert_eq!(notes(&std::fs::read(data()).unwrap()).unwrap()["format"], "np");
}

#[test]
fn what_is_written_is_read() {
    let mut all = load(data()).unwrap();
    let transposed = B.permute_dims(B.asarray([[1.0, 2.0], [3.0, 4.0]]).unwrap(), [1, 0]).unwrap();
    all.insert("transposed".into(), DynArray::of::<f64>(transposed.clone()));
    let path = new_path("written");
    save(&path, &all).unwrap();
    let again = load(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(again.len(), all.len());
    for (name, x) in &all {
        assert_eq!(again[name].dtype(), x.dtype());
        assert_eq!(again[name].shape(&B), x.shape(&B));
        assert_eq!(again[name].to_bytes(&B).unwrap(), x.to_bytes(&B).unwrap(), "{name}");
    }
    let told = BTreeMap::from([("format".to_string(), "pt".to_string())]);
    assert_eq!(notes(&to_bytes(&all, &told).unwrap()).unwrap(), told);
    assert!(from_bytes(&to_bytes(&StateDict::new(), &BTreeMap::new()).unwrap()).unwrap().is_empty());
}

#[test]
fn what_the_format_does_not_have_is_refused() {
    let z = B.asarray([Complex::new(1.0, 2.0)]).unwrap();
    let path = new_path("refused");
    let why = save(&path, &StateDict::from([("z".to_string(), DynArray::of::<Complex<f64>>(z))])).unwrap_err();
    assert_eq!(why.kind(), ErrorKind::InvalidInput);
    assert!(why.to_string().ends_with("the array `z`: the format has no complex128"), "{why}");
    assert!(!path.exists());
    let why = load(&path).unwrap_err();
    assert_eq!(why.kind(), ErrorKind::NotFound);
    assert!(why.to_string().starts_with(&path.display().to_string()), "{why}");
    let why = load(std::env::temp_dir()).unwrap_err();
    assert!(why.kind() == ErrorKind::InvalidInput && why.to_string().ends_with("this is not a file"), "{why}");
    // an array of floats of 8 bits
    let header = br#"{"x":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}}"#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header);
    bytes.extend([1, 2]);
    let why = from_bytes(&bytes).unwrap_err();
    assert_eq!((why.kind(), why.to_string()), (ErrorKind::InvalidData, "the array `x` has the dtype F8_E4M3".into()));
}

#[test]
fn damaged_files_are_errors() {
    let good = std::fs::read(data()).unwrap();
    for n in 0..good.len() {
        assert!(from_bytes(&good[..n]).is_err(), "{n} bytes");
    }
    // any changed byte of the header gives an error or an array, and no panic
    for n in 0..good.len() {
        for bit in [1, 0x20, 0x80] {
            let mut bytes = good.clone();
            bytes[n] ^= bit;
            let _ = from_bytes(&bytes);
        }
    }
    // a bool that is neither 0 nor 1
    let header = br#"{"x":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}}"#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header);
    bytes.extend([1, 2]);
    assert_eq!(from_bytes(&bytes).unwrap_err().kind(), ErrorKind::InvalidData);
}
