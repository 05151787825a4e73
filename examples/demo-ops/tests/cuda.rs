//! Compares the ops of `my_ops.toml` on the GPU with NumPy.

use backends::prelude::*;
use demo_ops::*;

backends::conformance! {
    table = "my_ops.toml", trait = MyOps, golden = "tests/golden/my_ops.golden",
    backend = Cuda::new(0), type = Cuda
}

#[test]
fn formulas_take_ops_of_ours_with_options() {
    let Some(b) = backends::runtime::available("cuda", Cuda::new(0)) else { return };
    let x = b.asarray([-2.0, 4.0]).unwrap();
    for slope in [0.5, 0.25] {
        let y = expr_my_ops!(b, leaky(x, slope = slope) * 2 + leaky(-x)).unwrap();
        let expected = [-4.0 * slope + 2.0, 8.0 - 0.04];
        assert_eq!(b.to_ndarray(&y).unwrap(), Numpyish::new().asarray(expected).unwrap());
    }
}

#[test]
fn formulas_are_reduced_by_rows_of_ours() {
    let Some(b) = backends::runtime::available("cuda", Cuda::new(0)) else { return };
    let x = b.from_ndarray(Numpyish::seeded(1).random_normal::<f64>([3, 70]).unwrap()).unwrap();
    let whole = expr_my_ops!(b, x * x - 0.5).unwrap();
    for p in [2.0, 3.0] {
        let fused = expr_my_ops!(b, power_mean(x * x - 0.5, 1, p = p)).unwrap();
        let plain = b.power_mean_with(&whole, 1, PowerMeanOptions::new().p(p)).unwrap();
        assert_eq!(b.to_ndarray(&fused).unwrap(), b.to_ndarray(&plain).unwrap());
    }
}
