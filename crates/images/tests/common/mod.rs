//! What the tests of the formats share.
#![allow(dead_code, reason = "each test program uses a part of it")]

use backends::{DType, DynArray, Value, prelude::*};
use std::path::{Path, PathBuf};

pub const B: Numpyish = Numpyish::new();

/// A file that a Python package has written (`tests/data/make.py`).
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// A path for a file of one test.
pub fn new_path(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("images");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

/// The elements that the script has written: the function `values` of `tests/data/make.py`.
pub fn values(dtype: DType, count: usize) -> Vec<Complex<f64>> {
    let name = dtype.name();
    let value = |i: usize| match name {
        "bool" => Complex::new(f64::from(u8::from(i % 3 == 1)), 0.0),
        _ => {
            let size = (7 * (i % 18)) as f64;
            let re = if i % 2 == 1 && !name.starts_with('u') { -size } else { size };
            Complex::new(re, if name.starts_with("complex") { (i % 5) as f64 } else { 0.0 })
        }
    };
    (0..count).map(value).collect()
}

/// The numbers of an array in C order.
pub fn numbers(x: &DynArray<Numpyish>) -> Vec<Complex<f64>> {
    x.to_complex(&B).unwrap().iter().copied().collect()
}

/// Checks that a value has the dtype and the shape, and the elements that the script has written.
pub fn is_that_of_python(value: &Value<Numpyish>, dtype: DType, shape: &[usize]) {
    let x = value.as_array().unwrap();
    assert_eq!((x.dtype(), x.shape(&B)), (dtype, shape));
    assert_eq!(numbers(x), values(dtype, shape.iter().product()));
}

/// An array of any dtype with the elements that the script has written.
pub fn array(dtype: DType, shape: &[usize]) -> Value<Numpyish> {
    let numbers = values(dtype, shape.iter().product());
    let cast = backends::runtime::dispatch!(dtype, T => {
        let elements: Vec<T> = numbers.iter().map(|v| backends::Element::cast::<T>(*v)).collect();
        let x = ndarray::ArrayD::from_shape_vec(shape, elements).unwrap();
        Ok::<_, backends::Error>(Value::Array(DynArray::of::<T>(x.into_shared())))
    });
    cast.unwrap()
}

/// Checks that both values have the same dtype, shape and elements.
pub fn are_equal(x: &Value<Numpyish>, y: &Value<Numpyish>) {
    let (x, y) = (x.as_array().unwrap(), y.as_array().unwrap());
    assert_eq!((x.dtype(), x.shape(&B)), (y.dtype(), y.shape(&B)));
    assert_eq!(x.to_bytes(&B).unwrap(), y.to_bytes(&B).unwrap());
}
