//! Passes arrays and views of ndarray directly to ops. The compiler's messages recommend `asarray`.

use backends::prelude::*;
use ndarray::{Array2, ArrayD};

fn main() {
    let b = Numpyish::new();
    let (x, y) = (Array2::<f64>::zeros((2, 2)), ArrayD::<f64>::zeros(vec![2, 2]));
    b.add(&x, 1.0).unwrap();
    b.sum(x.view(), ..).unwrap();
    b.exp(&y).unwrap();
    expr!(b, exp(x)).unwrap();
}
