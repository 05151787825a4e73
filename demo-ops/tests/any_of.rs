//! An enum of backends that this crate lists, with one of its own: every row of the base table on it, and how arrays are kept apart.

use backends::{call, expr, prelude::*};
use demo_ops::{counted::Counted, naive::Naive};

backends::backend! { any = Mine, of = [Numpyish, Naive, Counted<Torch>] }

backends::conformance! { backend = Mine::from(Numpyish::new()), type = Mine, dtypes = ["float64", "int64"] }

/// Root of the mean of squares.
fn rms<B: Backend>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
    let n = b.size(x) as f64;
    expr!(b, sqrt(sum(x * x, ..) / n))
}

#[test]
fn one_of_them_is_chosen_at_run_time() {
    for name in ["numpyish", "naive"] {
        let b = match name {
            "naive" => Mine::from(Naive),
            _ => Mine::from(Numpyish::new()),
        };
        assert_eq!(b.name(), name);
        let x = b.asarray([3.0, 4.0, 0.0, 0.0]).unwrap();
        assert_eq!(x.backend(), name);
        let r = rms(&b, &x).unwrap();
        assert_eq!(b.to_ndarray(&r).unwrap()[[]], 2.5);
        let one = call(&b, "exp", &[Value::array::<f64>(b.asarray([0.0]).unwrap())], &[]).unwrap();
        assert_eq!(one.as_array().unwrap().dtype(), DType::Float64);
    }
}

#[test]
fn arrays_of_two_of_them_are_not_mixed() {
    let (one, other) = (Mine::from(Numpyish::new()), Mine::from(Naive));
    let (x, y) = (one.asarray([1.0, 1.0]).unwrap(), other.asarray([1.0, 1.0]).unwrap());
    let why = one.add(&x, &y).unwrap_err();
    assert!(matches!(why, Error::Backend { op: "add", .. }), "{why}");
    assert!(why.to_string().contains("numpyish") && why.to_string().contains("naive"), "{why}");
    let moved = other.to_backend(&y, &one).unwrap();
    assert_eq!(one.to_ndarray(&one.add(&x, &moved).unwrap()).unwrap()[[1]], 2.0);
}
