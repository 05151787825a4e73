//! The rows of `my_ops.toml` on the CPU, against NumPy.

use backends::prelude::*;
use demo_ops::*;

backends::conformance! {
    table = "my_ops.toml", trait = MyOps, golden = "tests/golden/my_ops.golden",
    backend = Numpyish::new(), type = Numpyish, formulas = true
}

#[test]
fn formulas_take_ops_of_ours_beside_those_of_the_base_table() {
    let b = Numpyish::new();
    let x = b.asarray([-2.0, 4.0]).unwrap();
    let y = expr_my_ops!(b, leaky(x, slope = 0.5) * 2 + x).unwrap();
    assert_eq!(y, b.asarray([-4.0, 12.0]).unwrap());
    let lazily = backends::lazy(&x).op1(my_ops::leaky { slope: 0.5 }) * 2 + &x;
    assert_eq!(lazily.eval(&b).unwrap(), y);
    assert_eq!(expr_my_ops!(b, leaky(x) + 1).unwrap(), b.asarray([0.98, 5.0]).unwrap());
    // operands of several dtypes, and a dtype that the caller names
    let mask = b.asarray([true, false]).unwrap();
    assert_eq!(expr_my_ops!(b, blend(mask, x * 0, 8, share = 0.25) + 1).unwrap(), b.asarray([3.0, 1.0]).unwrap());
    assert_eq!(expr_my_ops!(b, quantize::<i8>(x * 100, step = 0.5)).unwrap(), b.asarray([-128_i8, 127]).unwrap());
    assert_eq!(expr_my_ops!(b, quantize::<i64>(x) + 1).unwrap(), b.asarray([-1_i64, 5]).unwrap());
    assert_eq!(expr_my_ops!(b, spectral_energy(x - x)).unwrap(), b.asarray([0.0, 0.0]).unwrap());
}
