//! Compares the ops of `my_ops.toml` on the CPU with NumPy.

use backends::{Error, Value, prelude::*};
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
    // tests operands of different dtypes, and a result dtype that the caller names
    let mask = b.asarray([true, false]).unwrap();
    assert_eq!(expr_my_ops!(b, blend(mask, x * 0, 8, share = 0.25) + 1).unwrap(), b.asarray([3.0, 1.0]).unwrap());
    assert_eq!(expr_my_ops!(b, quantize::<i8>(x * 100, step = 0.5)).unwrap(), b.asarray([-128_i8, 127]).unwrap());
    assert_eq!(expr_my_ops!(b, quantize::<i64>(x) + 1).unwrap(), b.asarray([-1_i64, 5]).unwrap());
    assert_eq!(expr_my_ops!(b, spectral_energy(x - x)).unwrap(), b.asarray([0.0, 0.0]).unwrap());
}

/// Tests a reduction of this crate that has an optional parameter. The argument is a formula, whose values are reduced
/// while they are computed.
#[test]
fn formulas_are_reduced_by_rows_of_ours() {
    let b = Numpyish::seeded(1);
    let x = b.random_normal::<f64>([30, 700]).unwrap();
    let y = b.random_normal::<f64>([700]).unwrap();
    let whole = expr_my_ops!(b, x - y).unwrap();
    for axis in [0, 1] {
        assert_eq!(expr_my_ops!(b, power_mean(x - y, axis)).unwrap(), b.power_mean(&whole, axis).unwrap());
        let options = PowerMeanOptions::new().p(3.0).keepdims(true);
        let fused = expr_my_ops!(b, power_mean(x - y, axis, p = 3.0, keepdims = true)).unwrap();
        assert_eq!(fused, b.power_mean_with(&whole, axis, options).unwrap());
        let lazily = (backends::lazy(&x) - &y).reduce(my_ops::power_mean { p: 3.0 }, axis).keepdims(true);
        assert_eq!(lazily.eval(&b).unwrap(), fused);
    }
}

#[test]
fn ops_of_ours_and_of_the_base_table_are_called_by_name() {
    let b = Numpyish::new();
    let x = Value::array::<f32>(b.asarray([1.0, 4.0]).unwrap());
    for (op, expected) in [("between", [1.0, 4.0]), ("multiply", [1.0, 16.0])] {
        let result = call_my_ops(&b, op, &[x.clone(), x.clone()], &[]).unwrap();
        let expected = b.asarray(expected).unwrap();
        assert_eq!(result.as_array().and_then(DynArray::get::<f32>), Some(&expected), "{op}");
    }
    let why = call_my_ops(&b, "betwen", &[x.clone(), x], &[]).unwrap_err();
    assert!(matches!(why, Error::Argument { .. }), "{why}");
}
