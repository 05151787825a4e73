//! Tests a wrapper of one method: compares every op of the base table with NumPy, and checks that every op reaches the
//! method.

use backends::{Error, OPS, Value, prelude::*, runtime::available};
// `backends_dynamic` contains the compiled methods of `AnyBackend`, so they are not compiled again here
use backends_dynamic as _;
use demo_ops::calls::Calls;

backends::conformance! {
    backend = Calls::default().of(Numpyish::new()), type = AnyBackend, dtypes = ["int64", "float64", "complex128"]
}

/// Calls of methods, formulas and calls by name on one backend.
fn counts(within: impl Into<AnyBackend>) {
    let calls = Calls::default();
    let b = calls.of(within);
    let x = b.linspace(-1.0, 1.0, 5).unwrap();
    let y = b.exp(&b.multiply(b.square(&x).unwrap(), -2.0).unwrap()).unwrap();
    assert_eq!(b.shape(&y), [5]);
    // an array that is passed by value, an array that an op changes, and a second dtype
    let mut z = b.astype::<f32, _>(b.add(y, 1.0).unwrap()).unwrap();
    b.set(&mut z, slices![1..3], 7.0).unwrap();
    assert_eq!(b.to_vec(&z).unwrap()[1..3], [7.0; 2]);
    for op in ["linspace", "square", "multiply", "exp", "add", "astype", "set"] {
        assert_eq!(calls.counts().get(op), Some(&1), "{op}: {:?}", calls.counts());
    }
    // the method receives an op that is composed of other ops, and a formula, as calls of their inner ops
    b.outer(&x, &x).unwrap();
    expr!(b, x * x).unwrap();
    assert_eq!(calls.counts().get("multiply"), Some(&3), "{:?}", calls.counts());
    assert!(!calls.counts().contains_key("outer"));
    let sum = backends_dynamic::call(&b, "sum", &[Value::array::<f64>(x)], &[]).unwrap();
    assert_eq!((sum.as_array().unwrap().dtype(), calls.counts()["sum"]), (DType::Float64, 1));
    // an error of the op, and an array of another backend
    assert!(b.reshape(b.zeros::<f64>([2]).unwrap(), [3]).is_err());
}

#[test]
fn calls_are_counted_on_every_backend() {
    counts(Numpyish::new());
    counts(Calls::default().of(Numpyish::new()));
    if let Some(b) = available("torch", Torch::cpu()) {
        counts(b);
    }
    if let Some(b) = available("cuda", Cuda::new(0)) {
        counts(b);
    }
}

#[test]
fn every_op_has_a_name_in_the_table() {
    let calls = Calls::default();
    let b = calls.of(Numpyish::new());
    b.softmax(b.ones::<f64>([3]).unwrap(), 0).unwrap();
    assert!(calls.counts().keys().all(|op| OPS.iter().any(|info| info.name == *op)));
    let refused = b.softmax(b.ones::<f64>([3]).unwrap(), 1).unwrap_err();
    assert!(matches!(refused, Error::Axis { op: "softmax", .. }), "{refused}");
}
