//! Compares gradients of the ops of `my_ops.toml` with finite differences. The ops cover all sources of gradients: the
//! op's scalar expression, a gradient that the table gives, and the ops of a composition.

use backends::{grad::grad, prelude::*};
use demo_ops::*;

backends::conformance! {
    table = "my_ops.toml", trait = MyOps, golden = "tests/golden/my_ops.golden",
    backend = Numpyish::new(), type = Numpyish, gradients = true
}

#[test]
fn ops_of_ours_stand_beside_those_of_the_base_table() {
    let b = Numpyish::new();
    let x = b.asarray([-2.0, 4.0]).unwrap();
    let g = grad(&b, |d, x| d.sum(d.square(d.leaky_with(x, LeakyOptions::new().slope(0.5))?)?, ..), &x).unwrap();
    assert_eq!(g, b.asarray([-1.0, 8.0]).unwrap());
}
