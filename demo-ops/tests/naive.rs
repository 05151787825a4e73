//! The fourth backend: the rows of the base table that it has, against NumPy, and a row of ours that is composed of them.

use backends::{expr, prelude::*};
use demo_ops::naive::Naive;

// tensordot asks for products and reshapes that Naive has not, index_put for gathers; what the overlay lacks is known from it
backends::conformance! {
    backend = Naive, type = Naive, overlay = "naive.toml", partial = true, without = ["tensordot", "index_put"],
    dtypes = ["float64", "int64"]
}

#[test]
fn rows_that_are_composed_run_on_it() {
    let b = Naive;
    let x = b.asarray([1.0, 2.0]).unwrap();
    assert_eq!(b.outer(&x, &x).unwrap(), b.asarray([[1.0, 2.0], [2.0, 4.0]]).unwrap());
    assert!(matches!(b.fft(&x), Err(Error::Unsupported { op: "fft", backend: "naive" })));
}

#[test]
fn formulas_run_over_its_memory() {
    let x = Naive.asarray([-2.0, 4.0]).unwrap();
    assert_eq!(expr!(Naive, abs(x) * 2 + x).unwrap(), Naive.asarray([2.0, 12.0]).unwrap());
}
