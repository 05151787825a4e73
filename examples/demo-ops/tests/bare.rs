//! Tests the ops of `MyOps` on a backend of another crate: ops with a function, composed ops, and ops that the backend
//! lacks.

use backends::{Error, Operand, Result, Value, ops, prelude::*};
use bare::Bare;
use demo_ops::{MyOps, backend_my_ops, my_ops};

#[path = "../../../tests/ui/shared/bare.rs"]
mod bare;

/// The functions that the backend implements.
mod kernels {
    use super::*;

    /// Implements an op of the base table.
    pub fn multiply<T: Numeric>(_: &Bare, x1: Operand<'_, Bare, T>, x2: Operand<'_, Bare, T>) -> Result<HostArray<T>> {
        let at = |x: &Operand<'_, Bare, T>, i: usize| match x {
            Operand::Array(x) => x.iter().nth(i).copied(),
            Operand::Scalar(s) => Some(*s),
        };
        let shape = [&x1, &x2].into_iter().find_map(|x| match x {
            Operand::Array(x) => Some(x.shape().to_vec()),
            Operand::Scalar(_) => None,
        });
        let shape = shape.unwrap_or_default();
        let products = (0..shape.iter().product()).map_while(|i| Some(at(&x1, i)?.times(at(&x2, i)?)));
        Ok(HostArray::from_shape_vec(shape, products.collect()).unwrap())
    }

    /// Implements an op of this crate's table.
    pub fn between<T: Precision>(_: &Bare, x1: &HostArray<T>, x2: &HostArray<T>, t: f64) -> Result<HostArray<T>> {
        let pairs = x1.iter().zip(x2.iter()).map(|(&a, &b)| a.plus(b.minus(a).times(T::from_f64(t))));
        Ok(HostArray::from_shape_vec(x1.shape(), pairs.collect()).unwrap())
    }
}

backends::backend! { overlay = "tests/bare.toml", partial = true }
backend_my_ops! { overlay = "tests/bare_my_ops.toml" }

#[test]
fn it_has_functions_of_its_own_and_compositions() {
    let b = Bare;
    let (x, y) = (arr([1.0_f32, 4.0]), arr([3.0_f32, 8.0]));
    assert_eq!(b.between(&x, &y).unwrap(), arr([2.0, 6.0]));
    // checks that the composition in the overlay replaces the one in the table
    assert_eq!(b.threshold(&x, 0.0, 1.0).unwrap(), arr([1.0, 16.0]));
}

#[test]
fn what_it_lacks_is_an_error_with_row_and_backend() {
    let (b, x) = (Bare, arr([1.0_f64, 4.0]));
    let mask = ndarray::arr1(&[true, false]).into_dyn().into_shared();
    let lacks = |why: Error, op: &str| {
        assert!(matches!(why, Error::Unsupported { op: of, backend: "bare", .. } if of == op), "{why}");
    };
    lacks(b.blend(&mask, &x, 1.0).unwrap_err(), "blend");
    lacks(b.power_mean(&x, ..).unwrap_err(), "power_mean");
    lacks(b.quantize::<i8, _>(&x).unwrap_err(), "quantize");
    lacks(b.seed_at(1, 2).unwrap_err(), "seed_at");
    // the error of a composed op names the inner op that the backend lacks
    lacks(b.normal_gate(&x).unwrap_err(), "erf");
    lacks(b.spectral_energy(&x).unwrap_err(), "fft");
}

/// Calls single ops by name. `call_my_ops` would compile all ops of both tables for this backend; the file `numpyish.rs`
/// tests it.
#[test]
fn by_name_too() {
    let x = Value::array::<f32>(arr([1.0, 4.0]));
    let half = my_ops::between::call(&Bare, &[x.clone(), x.clone()], &[]).unwrap();
    assert_eq!(half.as_array().and_then(DynArray::get::<f32>), Some(&arr([1.0, 4.0])));
    let product = ops::multiply::call(&Bare, &[x.clone(), x.clone()], &[]).unwrap();
    assert_eq!(product.as_array().and_then(DynArray::get::<f32>), Some(&arr([1.0, 16.0])));
    let why = my_ops::power_mean::call(&Bare, &[x], &[]).unwrap_err();
    assert!(matches!(why, Error::Unsupported { op: "power_mean", backend: "bare", .. }), "{why}");
}

fn arr<T: Element, const N: usize>(x: [T; N]) -> HostArray<T> {
    ndarray::arr1(&x).into_dyn().into_shared()
}
