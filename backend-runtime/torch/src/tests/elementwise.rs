//! Tests that compare libtorch's ops with this crate's functions of single elements, for integers and reals of any bit
//! pattern.

use super::{array, host, torch};
use crate::{OpContext, Tensor, Torch, TorchArray, casting, elementwise};
use backend_core::{
    Complex, Element, HostArray, Integer, Ordered, Real, RealNumeric, Result, bf16, f16,
    random::philox,
    raw::{RawElement, RawOperand, TypedArray},
};

/// Returns `4 n` random integers of various magnitudes, and edge cases of integer ops.
fn bits(n: usize) -> Vec<u64> {
    let random = (0..n as u64).flat_map(|i| {
        let w = philox(7, i);
        let wide = u64::from(w[0]) << 32 | u64::from(w[1]);
        [wide, u64::from(w[2] % 40), wide >> (w[3] % 64), (wide % 9).wrapping_neg()]
    });
    let edges = [0, 1, u64::MAX, i64::MIN as u64, i64::MAX as u64, 1 << 63, 1 << 31, u32::MAX.into(), 1 << 15, 1 << 7];
    random.chain(edges).collect()
}

/// Returns two operands for a binary op. Each value is paired with one value of the list. In addition, every pair of
/// the last 20 values occurs.
fn pairs<T: Element>(values: &[T]) -> (HostArray<T>, HostArray<T>) {
    let n = values.len();
    let edges = (0..400).map(|i| (values[n - 1 - i % 20], values[n - 1 - i / 20]));
    let (x, y): (Vec<T>, Vec<T>) = (0..n).map(|i| (values[i], values[(i * 7 + 3) % n])).chain(edges).unzip();
    (ndarray::arr1(&x).into_dyn().into_shared(), ndarray::arr1(&y).into_dyn().into_shared())
}

/// Returns whether an element of any dtype is NaN.
fn is_nan<T: Element>(x: T) -> bool {
    x.cast::<Complex<f64>>().is_nan()
}

type Binary = fn(OpContext<'_>, RawOperand<'_, Tensor>, RawOperand<'_, Tensor>) -> Result<Tensor>;

/// Copies the elements of a result to the host.
fn host_of<T: Element>(b: &Torch, x: Result<Tensor>) -> HostArray<T> {
    host(b, &TorchArray::from_raw("test", x.unwrap()).unwrap())
}

fn check2<T: Element>(
    b: &Torch,
    name: &'static str,
    f: Binary,
    values: &[T],
    word: fn(T, T) -> T,
    same: fn(T, T) -> bool,
) {
    let (x, y) = pairs(values);
    let (tx, ty) = (array(b, &x), array(b, &y));
    let got = host_of::<T>(b, f(b.on::<T>(name), RawOperand::Array(tx.tensor()), RawOperand::Array(ty.tensor())));
    for ((&x, &y), &g) in x.iter().zip(&y).zip(&got) {
        let want = word(x, y);
        assert!(same(g, want), "{name} of {x:?} and {y:?} in {}: {g:?} instead of {want:?}", T::DTYPE);
    }
    // the second operand is a number instead of an array
    let number = values[0];
    let scalar = RawOperand::Scalar(RawElement::of(number));
    let got = host_of::<T>(b, f(b.on::<T>(name), RawOperand::Array(tx.tensor()), scalar));
    assert!(x.iter().zip(&got).all(|(&x, &g)| same(g, word(x, number))), "{name} with a number in {}", T::DTYPE);
}

fn integers<T: Integer>(b: &Torch) {
    let values: Vec<T> = bits(500).into_iter().map(T::from_u64).collect();
    let same = |x: T, y: T| x == y;
    check2(b, "floor_divide", elementwise::floor_divide, &values, T::floor_divide, same);
    check2(b, "remainder", elementwise::remainder, &values, T::remainder, same);
    check2(b, "pow", elementwise::pow, &values, T::pow, same);
    check2(b, "bitwise_left_shift", elementwise::bitwise_left_shift, &values, T::shift_left, same);
    check2(b, "bitwise_right_shift", elementwise::bitwise_right_shift, &values, T::shift_right, same);
    clip::<T>(b, &values);
    let x = array(b, values.clone());
    let signs = host_of::<T>(b, elementwise::sign(b.on::<T>("sign"), x.tensor()));
    assert!(signs.iter().zip(&values).all(|(g, x)| *g == x.sign()));
    let sizes = host_of::<T::Magnitude>(b, elementwise::abs(b.on::<T>("abs"), x.tensor()));
    assert!(sizes.iter().zip(&values).all(|(g, x)| *g == x.abs()));
    casts(b, &values);
}

fn clip<T: Ordered>(b: &Torch, values: &[T]) {
    let [low, high] = [values[1], values[2]];
    let x = array(b, values.to_vec());
    let [from, to] = [low, high].map(|x| RawOperand::Scalar(RawElement::of(x)));
    let got = host_of::<T>(b, elementwise::clip(b.on::<T>("clip"), RawOperand::Array(x.tensor()), from, to));
    for (&x, &g) in values.iter().zip(&got) {
        let want = x.maximum(low).minimum(high);
        assert!(g == want || (is_nan(g) && is_nan(want)), "{x:?} between {low:?} and {high:?}: {g:?}");
    }
}

/// The elements of an array converted to another dtype.
fn astype<U: Element, T: Element>(b: &Torch, x: &TorchArray<T>) -> HostArray<U> {
    let on = OpContext::new(b, "astype", T::DTYPE).with_to(U::DTYPE);
    host(b, &on.array(casting::astype(on, x.tensor()).unwrap()).unwrap())
}

/// Tests `astype` to every dtype. The conversion of an integer to a 16-bit float may round twice, first to float32.
fn casts<T: Element>(b: &Torch, values: &[T]) {
    fn to<U: Element, T: Element>(b: &Torch, values: &[T]) {
        let got = astype::<U, T>(b, &array(b, values.to_vec()));
        for (&x, &g) in values.iter().zip(&got) {
            let direct: U = x.cast();
            let by_float: U = x.cast::<f32>().cast();
            let fits = |want: U| g == want || (is_nan(g) && is_nan(want));
            let narrow = matches!(U::DTYPE, backend_core::DType::BFloat16 | backend_core::DType::Float16);
            assert!(
                fits(direct) || (narrow && T::DTYPE.kind() < backend_core::DTypeKind::Real && fits(by_float)),
                "{x:?} from {} to {}: {g:?} instead of {direct:?}",
                T::DTYPE,
                U::DTYPE
            );
        }
    }
    to::<bool, T>(b, values);
    to::<i8, T>(b, values);
    to::<i16, T>(b, values);
    to::<i32, T>(b, values);
    to::<i64, T>(b, values);
    to::<u8, T>(b, values);
    to::<u16, T>(b, values);
    to::<u32, T>(b, values);
    to::<u64, T>(b, values);
    to::<f16, T>(b, values);
    to::<bf16, T>(b, values);
    to::<f32, T>(b, values);
    to::<f64, T>(b, values);
    to::<Complex<f32>, T>(b, values);
    to::<Complex<f64>, T>(b, values);
}

#[test]
fn integers_of_every_dtype() {
    let Some(b) = torch() else { return };
    integers::<i8>(&b);
    integers::<i16>(&b);
    integers::<i32>(&b);
    integers::<i64>(&b);
    integers::<u8>(&b);
    integers::<u16>(&b);
    integers::<u32>(&b);
    integers::<u64>(&b);
    clip::<bool>(&b, &[true, false, true, true, false]);
    casts::<bool>(&b, &[true, false, true]);
}

fn reals<T: Real>(b: &Torch, of_bits: fn(u64) -> T) {
    let special =
        [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300, 5e-324, 127.5, -0.3];
    let random = bits(500).into_iter().map(of_bits);
    let values: Vec<T> =
        random.chain(special.map(T::of)).chain((1..40).map(|i| T::of(f64::from(i) * 0.7 - 11.0))).collect();
    let same = |x: T, y: T| (x.is_nan() && y.is_nan()) || (x == y && x.signbit() == y.signbit());
    check2(b, "remainder", elementwise::remainder, &values, <T as RealNumeric>::remainder, same);
    clip::<T>(b, &values);
    casts(b, &values);
    let x = array(b, values.clone());
    let signs = host_of::<T>(b, elementwise::sign(b.on::<T>("sign"), x.tensor()));
    assert!(signs.iter().zip(&values).all(|(g, x)| *g == x.sign() || x.is_nan()));
}

#[test]
fn reals_of_every_dtype() {
    let Some(b) = torch() else { return };
    reals::<f16>(&b, |x| f16::from_bits(x as u16));
    reals::<bf16>(&b, |x| bf16::from_bits(x as u16));
    reals::<f32>(&b, |x| f32::from_bits(x as u32));
    reals::<f64>(&b, f64::from_bits);
}

#[test]
fn one_rounding_from_float64_to_16_bits() {
    let Some(b) = torch() else { return };
    // the first three numbers differ from the midpoint of two float16 numbers by less than float32 resolves
    let x = [
        1.0 + 2_f64.powi(-11) + 2_f64.powi(-40),
        -(1.0 + 2_f64.powi(-11) + 2_f64.powi(-40)),
        65519.999999,
        1e-8,
        f64::MAX,
    ];
    let got = astype::<f16, f64>(&b, &array(&b, x));
    let want = [1.0 + 2_f32.powi(-10), -(1.0 + 2_f32.powi(-10)), 65504.0, 0.0, f32::INFINITY].map(f16::from_f32);
    assert_eq!(got.as_slice().unwrap(), want);
}
