//! Tests `AnyBackend`, the backend that is chosen at run time: every op in one dtype of each kind, and calls that it
//! rejects.

use backends::{Error, Result, prelude::*};
// `backends_dynamic` contains the calls by name, so they are not compiled again here
use backends_dynamic as _;

backends::conformance! {
    backend = AnyBackend::from(Numpyish::new()),
    type = AnyBackend,
    dtypes = ["bool", "int64", "float64", "complex128"],
    methods = true,
}

/// The ops of which rows are composed run in other kernels than on `Cuda` itself.
mod cuda {
    use super::*;

    backends::conformance! {
        backend = Cuda::new(0).map(AnyBackend::from), type = AnyBackend, dtypes = ["int64", "float32", "complex64"]
    }
}

#[test]
fn arrays_of_another_backend_are_refused_by_name() {
    let Ok(torch) = Torch::cpu() else { return };
    let (numpyish, torch) = (AnyBackend::from(Numpyish::new()), AnyBackend::from(torch));
    let (x, y) = (numpyish.zeros::<f64>([2]).unwrap(), torch.zeros::<f64>([2]).unwrap());
    let error = numpyish.add(&x, &y).unwrap_err();
    assert_eq!(error, Error::backend("add", "numpyish", "torch"));
    assert!(error.to_string().contains("to_backend"), "{error}");
    // does what the error text advises
    let y = torch.to_backend(&y, &numpyish).unwrap();
    assert_eq!(numpyish.shape(&numpyish.add(&x, &y).unwrap()), [2]);
}

#[test]
fn programs_choose_at_run_time() {
    fn norm<B: Backend, T: Float>(b: &B, x: &B::Array<T>) -> Result<B::Array<T::Magnitude>>
    where
        T::Magnitude: Float<Magnitude = T::Magnitude>,
    {
        let sum = b.sum(&b.square(&b.abs(x)?)?, ..)?;
        b.astype(&b.sqrt(&sum)?)
    }
    let b = AnyBackend::from(Numpyish::new());
    let x = b.asarray([Complex::new(3.0_f64, 4.0)]).unwrap();
    assert_eq!(b.to_ndarray(&norm(&b, &x).unwrap()).unwrap()[[]], 5.0);
    assert_eq!(b.name(), "numpyish");
}
