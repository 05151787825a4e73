//! Tests an enum of three backends. This crate defines the enum and two of the backends. Every op of the base table
//! runs on the enum. Arrays of different backends cannot be mixed.

use backends::{Error, Result, Value, ops, prelude::*};
use demo_ops::{backend_my_ops, counted::Counted, naive::Naive};

backends::backend! { any = Mine, of = [Numpyish, Naive, Counted<Torch>] }
backend_my_ops! { any = Mine, of = [Numpyish, Naive, Counted<Torch>] }

backends::conformance! { backend = Mine::from(Numpyish::new()), type = Mine, dtypes = ["float64", "int64"] }

/// Computes the root mean square.
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
        let one = ops::exp::call(&b, &[Value::array::<f64>(b.asarray([0.0]).unwrap())], &[]).unwrap();
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

/// Tests the ops of `my_ops.toml` on the enum. Each op runs on the backend chosen at run time.
mod of_ours {
    use super::*;
    use demo_ops::*;

    backends::conformance! {
        table = "my_ops.toml", trait = MyOps, golden = "tests/golden/my_ops.golden",
        backend = Mine::from(Numpyish::new()), type = Mine, dtypes = ["float32", "int64"]
    }

    #[test]
    fn each_runs_on_the_one_that_was_chosen() {
        let mut all = vec![Mine::from(Numpyish::new()), Mine::from(Naive)];
        all.extend(backends::runtime::available("torch", Torch::cpu()).map(|b| Mine::from(Counted::new(b))));
        for b in all {
            let x = b.asarray([1.0_f32, -4.0]).unwrap();
            let y = b.between_with(&x, b.asarray([5.0, -8.0]).unwrap(), BetweenOptions::new().t(0.25)).unwrap();
            assert_eq!((y.backend(), b.to_vec(&y).unwrap()), (b.name(), vec![2.0, -5.0]));
            let mask = b.asarray([true, false]).unwrap();
            assert_eq!(b.to_vec(&b.blend(&mask, &x, 3.0).unwrap()).unwrap(), [2.0, -4.0]);
            assert_eq!(b.to_vec(&expr_my_ops!(b, leaky(x, slope = 0.5) * 2).unwrap()).unwrap(), [2.0, -4.0]);
            let named = my_ops::normal_gate::call(&b, &[Value::array::<f32>(x)], &[]).unwrap();
            assert_eq!(named.as_array().unwrap().shape(&b), [2]);
        }
        let (one, other) = (Mine::from(Numpyish::new()), Mine::from(Naive));
        let why = one.normal_gate(&other.asarray([1.0]).unwrap()).unwrap_err();
        assert!(matches!(why, Error::Backend { op: "normal_gate", .. }), "{why}");
        let why = other.spectral_energy(&other.asarray([1.0]).unwrap()).unwrap_err();
        assert!(matches!(why, Error::Unsupported { op: "fft", backend: "naive", .. }), "{why}");
    }
}
