//! Tests gradients at special values, and in cases in which squares or counts exceed the range of the dtype. The tests
//! run on every library, in reverse and forward mode.

#![allow(clippy::type_complexity, reason = "each type of a function under test is written once")]

use crate::common::*;
use backends::{
    Error, Result,
    grad::{Diff, Jvp, Var, grad, hessian, jvp},
    prelude::*,
};
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// Returns the gradient of `sum(f(x))` with respect to `x`, as float64.
fn slopes<B: Backend, T: Real>(
    b: &B,
    x: &[f64],
    f: impl FnOnce(&Diff<B>, &Var<B, T>) -> Result<Var<B, T>>,
) -> Result<Vec<f64>> {
    let x = b.asarray(x.iter().map(|&x| T::of(x)).collect::<Vec<T>>())?;
    let found = grad(b, |d, x| d.sum_as::<f32, T>(f(d, x)?, ..), &x)?;
    Ok(b.to_ndarray(&found)?.iter().map(|x| x.to_f64()).collect())
}

#[track_caller]
fn near(got: &[f64], want: &[f64], tolerance: f64) {
    let is_near = |(x, y): (&f64, &f64)| x.is_nan() && y.is_nan() || x == y || (x - y).abs() <= tolerance * y.abs();
    assert!(got.len() == want.len() && got.iter().zip(want).all(is_near), "{got:?} is not {want:?}");
}

/// Compares the derivative of each op at a point with the expected derivative. Each op is called once as a method and
/// in two formulas.
macro_rules! of_one {
    ($b:ident, $T:ty, $tolerance:expr, $($op:ident($x:expr) = $want:expr),* $(,)?) => {$(
        near(&slopes::<B, $T>($b, &[$x], |d, x| d.$op(x))?, &[$want], $tolerance);
        near(&slopes::<B, $T>($b, &[$x], |d, x| expr!(d, $op(x)))?, &[$want], $tolerance);
        near(&slopes::<B, $T>($b, &[$x], |d, x| expr!(d, $op(x) * 1.0))?, &[$want], $tolerance);
    )*};
}

fn squares<B: Backend>(b: &B) -> Checked {
    // the derivatives of `asinh`, `atan` and `log10` are 1 / sqrt(1 + x^2), 1 / (1 + x^2) and 1 / (x log(10)); `sinc`
    // is sin(pi x) / (pi x)
    of_one!(b, f16, 4e-3, asinh(300.0) = 0.003_333_3, asinh(-300.0) = 0.003_333_3, asinh(6e4) = 1.666_7e-5);
    of_one!(
        b,
        f16,
        4e-3,
        asinh(0.0) = 1.0,
        asinh(1.0) = FRAC_1_SQRT_2,
        asinh(INF) = 0.0,
        atan(1.0) = 0.5,
        atan(0.0) = 1.0
    );
    of_one!(b, f16, 8e-3, atan(300.0) = 1.111_1e-5, atan(-INF) = 0.0, log10(6e4) = 7.238e-6, gelu(300.0) = 1.0);
    of_one!(b, f16, 8e-3, gelu(-300.0) = 0.0, gelu(INF) = 1.0, gelu(-INF) = 0.0, sinc(1.000_976_6e-3) = -0.003_293_1);
    of_one!(b, f16, 4e-3, sinc(6e4) = 1.666_7e-5, sinc(0.5) = -1.273_24, acosh(6e4) = 1.666_7e-5);
    of_one!(b, f32, 1e-6, asinh(1e25) = 1e-25, asinh(-1e-25) = 1.0, atan(1e15) = 1e-30, log10(1e25) = 4.342_945e-26);
    of_one!(b, f32, 1e-6, sinc(1e-25) = -3.289_868e-25, gelu(1e25) = 1.0, acosh(1e25) = 1e-25, atan(0.3) = 0.917_431_2);
    of_one!(b, f64, 1e-14, asinh(1e200) = 1e-200, atan(1e100) = 1e-200, atan(1e-200) = 1.0);
    let approximate = GeluOptions::new().approximate(true);
    near(&slopes::<B, f16>(b, &[300.0, -300.0], |d, x| d.gelu_with(x, approximate))?, &[1.0, 0.0], 0.0);
    near(&slopes::<B, f16>(b, &[300.0], |d, x| expr!(d, gelu(x, approximate = true)))?, &[1.0], 0.0);
    // the derivative of `atan2` with respect to its first argument, and then to its second; the other argument is 300
    let of_two = |d: &Diff<B>, x: &Var<B, f16>| d.atan2(x, f16::of(300.0));
    near(&slopes::<B, f16>(b, &[400.0], of_two)?, &[0.0012], 3e-3);
    near(&slopes::<B, f16>(b, &[400.0], |d, x| d.atan2(f16::of(300.0), x))?, &[-0.0012], 3e-3);
    near(&slopes::<B, f16>(b, &[400.0], |d, x| expr!(d, atan2(x, 300.0)))?, &[0.0012], 3e-3);
    near(&slopes::<B, f32>(b, &[1e-25], |d, x| d.atan2(x, 1e-25_f32))?, &[5e24], 1e-6);
    near(&slopes::<B, f32>(b, &[1e-25], |d, x| expr!(d, 1.0 * atan2(1e-25_f32, x)))?, &[-5e24], 1e-6);
    near(&slopes::<B, f32>(b, &[1.0], |d, x| d.atan2(x, f32::INFINITY))?, &[0.0], 0.0);
    near(&slopes::<B, f16>(b, &[6e4], |d, x| d.hypot(x, f16::of(6e4)))?, &[FRAC_1_SQRT_2], 1e-3);
    near(&slopes::<B, f16>(b, &[-6e4, 0.0, 3.0], |d, x| expr!(d, hypot(x, x)))?, &[-SQRT_2, 0.0, SQRT_2], 1e-3);
    near(&slopes::<B, f32>(b, &[0.0, INF, -3.0], |d, x| d.hypot(x, 4.0_f32))?, &[0.0, 1.0, -0.6], 1e-6);
    near(&slopes::<B, f16>(b, &[6e4], |d, x| d.logaddexp(x, f16::of(6e4)))?, &[0.5], 0.0);
    near(&slopes::<B, f16>(b, &[6e4, -6e4], |d, x| d.std(x, ..))?, &[0.5, -0.5], 1e-3);
    near(&slopes::<B, f32>(b, &[1e25, -1e25], |d, x| d.std(x, ..))?, &[0.5, -0.5], 1e-6);
    near(&slopes::<B, f32>(b, &[1e-25, -1e-25], |d, x| d.std(x, ..))?, &[0.5, -0.5], 1e-6);
    near(&slopes::<B, f16>(b, &[3e4, -4e4], |d, x| d.vector_norm(x))?, &[0.6, -0.8], 1e-3);
    near(&slopes::<B, f32>(b, &[3e25, -4e25, 0.0], |d, x| d.vector_norm(x))?, &[0.6, -0.8, 0.0], 1e-6);
    let cubic = VectorNormOptions::new().ord(3.0);
    near(&slopes::<B, f32>(b, &[1e-25, 1e-25], |d, x| d.vector_norm_with(x, cubic))?, &[0.629_960_5; 2], 1e-6);
    // the derivative of `gammainc(n, x)` is the density of a gamma distribution of order n, which at x = n is about 1 /
    // sqrt(2 pi n)
    near(&slopes::<B, f16>(b, &[300.0], |d, x| d.gammainc(f16::of(300.0), x))?, &[0.023_026_6], 1e-3);
    near(&slopes::<B, f32>(b, &[1e12], |d, x| d.gammaincc(1e12_f32, x))?, &[-3.989_423e-7], 1e-5);
    near(
        &slopes::<B, f64>(b, &[2.0, 0.0, INF], |d, x| d.gammainc(3.0, x))?,
        &[0.270_670_566_473_225_4, 0.0, 0.0],
        1e-13,
    );
    near(&slopes::<B, f64>(b, &[19.0], |d, x| d.gammainc(17.0, x))?, &[0.077_240_106_746_078_01], 1e-13);
    Ok(())
}

#[test]
fn whose_squares_are_beyond_the_dtype() {
    on_every_backend!(squares);
}

/// Tests derivatives that are differences of nearly equal numbers. The expected values were computed by mpmath with 60
/// digits.
fn differences<B: Backend>(b: &B) -> Checked {
    // the derivatives of `i0e` and `i1e` are i1e(x) - sign(x) i0e(x) and i0e(x) - i1e(x) / x - sign(x) i1e(x); their
    // terms are nearly equal for large x
    of_one!(b, f64, 3e-14, i0e(0.5) = -0.488_614_467_264_278_4, i0e(5.0) = -0.019_568_545_664_785_996);
    of_one!(b, f64, 3e-14, i0e(39.0) = -8.270_703_500_962_113e-4, i0e(-41.0) = 7.669_230_573_007_253e-4);
    of_one!(b, f64, 3e-14, i0e(300.0) = -3.843_637_481_651_089e-5, i0e(1e6) = -1.994_712_150_024_640_4e-10);
    of_one!(b, f64, 3e-14, i0e(0.0) = 0.0, i0e(INF) = 0.0, i0e(-INF) = 0.0, i1e(INF) = 0.0, i1e(0.0) = 0.5);
    of_one!(b, f64, 3e-14, i1e(0.5) = 0.175_772_860_894_534_98, i1e(5.0) = -0.013_225_907_724_122_475);
    of_one!(b, f64, 3e-14, i1e(39.0) = -7.950_477_370_957_659e-4, i1e(-41.0) = -7.386_872_036_631_323e-4);
    of_one!(b, f64, 3e-14, i1e(300.0) = -3.824_403_198_438_561_1e-5, i1e(1e6) = -1.994_709_157_955_667_4e-10);
    of_one!(b, f32, 4e-6, i0e(9.5) = -7.113_013_159e-3, i0e(10.5) = -6.094_004_578e-3, i0e(1e25) = -6.307_831_3e-39);
    of_one!(b, f32, 4e-6, i1e(9.5) = -5.954_170_804e-3, i1e(10.5) = -5.198_915_887e-3, i1e(1e4) = -1.994_486_985e-7);
    of_one!(b, f16, 1e-3, i0e(5.0) = -0.019_568_546, i1e(-5.0) = -0.013_225_908, i0e(10.5) = -6.094_004_6e-3);
    // the derivative of `betaln` is digamma(a) - digamma(a + b); the derivative of `beta` is this difference times
    // beta(a, b)
    let of = |a: f64, b2: f64, of_beta: f64, of_log: f64| -> Checked {
        let second = b.asarray([b2])?;
        let one = |d: &Diff<B>| Ok::<_, Error>(d.constant(second.clone()));
        near(&slopes::<B, f64>(b, &[a], |d, x| d.beta(x, one(d)?))?, &[of_beta], 1e-13);
        near(&slopes::<B, f64>(b, &[a], |d, x| d.beta(b2, x))?, &[of_beta], 1e-13);
        near(&slopes::<B, f64>(b, &[a], |d, x| expr!(d, 1.0 * beta(x, b2)))?, &[of_beta], 1e-13);
        near(&slopes::<B, f64>(b, &[a], |d, x| d.betaln(x, one(d)?))?, &[of_log], 1e-13);
        near(&slopes::<B, f64>(b, &[a], |d, x| expr!(d, 1.0 * betaln(b2, x)))?, &[of_log], 1e-13);
        Ok(())
    };
    of(1.0, 1e-25, -1.644_934_066_848_226_4, -1.644_934_066_848_226_5e-25)?;
    of(1e-25, 1.0, -1e50, -1e25)?;
    of(1e10, 1e-10, -9.999_999_976_896_934e-11, -1.000_000_000_05e-20)?;
    of(300.0, 1e-3, -0.003_317_991_907_567_277_4, -3.338_889_487_622_147_2e-6)?;
    of(2.5, 1.5, -0.108_573_643_913_481_87, -0.552_961_027_786_557_3)?;
    of(0.3, -0.2, -12.669_234_031_107_562, 6.921_230_718_210_946)?;
    of(-0.5, 0.7, -5.337_875_676_538_548, 5.325_529_870_570_766)?;
    near(&slopes::<B, f32>(b, &[1e25], |d, x| d.beta(x, 1e-25_f32))?, &[-1e-25], 1e-6);
    near(&slopes::<B, f32>(b, &[1.0], |d, x| d.beta(x, 1e-25_f32))?, &[-1.644_934_1], 1e-6);
    near(&slopes::<B, f32>(b, &[1e-25], |d, x| d.betaln(x, 1e-25_f32))?, &[-5e24], 1e-6);
    near(&slopes::<B, f32>(b, &[3e38], |d, x| d.betaln(x, 3e38_f32))?, &[-2_f64.ln()], 1e-6);
    near(&slopes::<B, f16>(b, &[6e4], |d, x| d.beta(x, f16::of(1e-3)))?, &[-1.647_486_5e-5], 4e-3);
    // the derivative contains the logarithm of a quotient near 1
    near(&slopes::<B, f32>(b, &[1.000_000_119_209_29], |d, x| d.kl_div(x, 1.0))?, &[1.192_092_8e-7], 1e-6);
    near(
        &slopes::<B, f32>(b, &[1.000_000_119_209_29], |d, x| expr!(d, 2.0 * kl_div(1.0, x)))?,
        &[2.384_185_5e-7],
        1e-6,
    );
    Ok(())
}

#[test]
fn that_are_differences_of_equals() {
    on_every_backend!(differences);
}

/// Tests sums, products and exponents that overflow the dtype although the derivative (and often the value) does not.
fn within<B: Backend>(b: &B) -> Checked {
    // in most calls below, the exponent `n` is large: n - 1 is odd, but the dtype rounds it to an even number, which
    // would change the sign of x^(n - 1)
    fn powers<B: Backend, T: Real>(b: &B, x: f64, n: f64, want: f64) -> Checked {
        let exponent = b.asarray([T::of(n)])?;
        let tolerance = if T::DTYPE.size() == 2 { 8e-3 } else { 1e-6 };
        near(&slopes::<B, T>(b, &[x], |d, x| d.pow(x, T::of(n)))?, &[want], tolerance);
        near(&slopes::<B, T>(b, &[x], |d, x| d.pow(x, d.constant(exponent.clone())))?, &[want], tolerance);
        near(&slopes::<B, T>(b, &[x], |d, x| expr!(d, 1.0 * x * *n))?, &[want], tolerance);
        Ok(())
    }
    powers::<B, f16>(b, -1.0, 6e4, -6e4)?;
    powers::<B, f16>(b, -1.0, 300.0, -300.0)?;
    powers::<B, bf16>(b, -1.0, 512.0, -512.0)?;
    powers::<B, f32>(b, -1.0, 16_777_218.0, -16_777_218.0)?;
    powers::<B, f32>(b, -1.0, -16_777_218.0, 16_777_218.0)?;
    powers::<B, f64>(b, -1.0, 9_007_199_254_740_994.0, -9_007_199_254_740_994.0)?;
    powers::<B, f64>(b, 0.0, 2.0, 0.0)?;
    powers::<B, f64>(b, 0.0, 1.0, 1.0)?;
    powers::<B, f64>(b, 3.0, 0.0, 0.0)?;
    powers::<B, f64>(b, -2.0, 3.0, 12.0)?;
    // here the power itself overflows float16, although its derivative does not
    near(&slopes::<B, f16>(b, &[12000.0], |d, x| d.pow(f16::of(1.0 + 2_f64.powi(-10)), x))?, &[119.232], 1e-3);
    // the squares of differences from the mean overflow or underflow in float32
    for size in [1e-25, 1.0, 1e25] {
        let x = [size, NAN, -size, size, -size];
        near(&slopes::<B, f32>(b, &x, |d, x| d.nanstd(x, ..))?, &[0.25, 0.0, -0.25, 0.25, -0.25], 1e-6);
        // the correlation of the two rows below; its gradient is inversely proportional to `size`
        let x = b.asarray([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0]].map(|row| row.map(|x| (x * size) as f32)))?;
        let r = b.to_vec(b.flatten(b.corrcoef(&x)?)?)?;
        let want = 0.654_653_670_707_977_1_f64;
        near(&[r[1].into(), r[2].into()], &[want, want], 1e-6);
        let found = grad(b, |d, x| d.squeeze(d.getitem(d.corrcoef(x)?, slices![0..1, 1..2])?, [0, 1]), &x)?;
        let found: Vec<f64> = b.to_vec(b.flatten(found)?)?.into_iter().map(|x| f64::from(x) * size).collect();
        near(&found, &[0.218_217_89, -0.436_435_78, 0.218_217_89, -0.280_565_86, 0.187_043_91, 0.093_521_95], 1e-5);
    }
    near(&slopes::<B, f32>(b, &[2.0, 2.0], |d, x| d.nanstd(x, ..))?, &[0.0, 0.0], 0.0);
    // sums and products of large float16 numbers
    near(&slopes::<B, f16>(b, &[6e4, 6e4, -6e4], |d, x| d.trapezoid(x))?, &[0.5, 1.0, 0.5], 0.0);
    let y = b.asarray([6e4, 6e4, -6e4].map(f16::of))?;
    assert_eq!(b.item(b.trapezoid(&y)?)?.to_f64(), 60_000.0);
    assert_eq!(b.to_vec(b.cumulative_trapezoid(&y)?)?, [6e4, 6e4].map(f16::of));
    let points = TrapezoidOptions::new().x(b.asarray([0.0, 2.0_f64.powi(-10), 1.0].map(f16::of))?);
    near(&[b.item(b.trapezoid_with(&y, points)?)?.to_f64()], &[58.593_75], 1e-3);
    let (u, v) = (b.asarray([300.0, 300.0, 1.0].map(f16::of))?, b.asarray([300.0, 301.0, 2.0].map(f16::of))?);
    assert_eq!(b.to_vec(b.cross(&u, &v)?)?, [299.0, -300.0, 300.0].map(f16::of));
    let tall = b.reshape(&u, [3, 1])?;
    let across = b.cross_with(&tall, b.reshape(&v, [3, 1])?, CrossOptions::new().axis(0))?;
    assert_eq!(b.to_vec(b.flatten(across)?)?, [299.0, -300.0, 300.0].map(f16::of));
    Ok(())
}

#[test]
fn whose_sums_and_products_are_beyond_the_dtype() {
    on_every_backend!(within);
}

fn counts<B: Backend>(b: &B) -> Checked {
    fn of<B: Backend, T: Real>(b: &B) -> Checked {
        let n = 70_000;
        let share = T::of(1.0 / n as f64).to_f64();
        let all = |f: fn(&Diff<B>, &Var<B, T>) -> Result<Var<B, T>>| -> Checked {
            let found = slopes::<B, T>(b, &vec![1.0; n], f)?;
            near(&found, &vec![share; n], 0.0);
            Ok(())
        };
        all(|d, x| d.mean(x, ..))?;
        all(|d, x| d.nanmean(x, ..))?;
        all(|d, x| d.average(x, ..))?;
        all(|d, x| d.max(x, ..))?;
        all(|d, x| d.nanmin(x, ..))?;
        all(|d, x| d.ptp(x, ..).and_then(|y| d.add(y, d.min(x, ..)?)))?;
        all(|d, x| d.avg_pool(d.reshape(x, [1, 1, -1])?, [70_000]))?;
        all(|d, x| d.segment_max(x, d.zeros::<i64>([70_000])?, 1))?;
        all(|d, x| d.segment_mean(x, d.zeros::<i64>([70_000])?, 1))?;
        all(|d, x| d.logsumexp(x, ..))?;
        let zeros = b.zeros::<T>([n])?;
        let read = |x: B::Array<T>| -> Result<f64> { Ok(b.to_vec(&x)?[0].to_f64()) };
        let log = T::of((n as f64).ln()).to_f64();
        assert_eq!(read(b.softmax(&zeros, ..)?)?, share);
        assert_eq!(read(b.log_softmax(&zeros, ..)?)?, -log);
        assert_eq!(read(b.logsumexp_with(&zeros, .., LogsumexpOptions::new().keepdims(true))?)?, log);
        let found = slopes::<B, T>(b, &vec![0.0; n], |d, x| d.log_softmax(x, ..))?;
        // the exact gradient is 0; the error of `found` comes from rounding the logarithm of the count, which is about
        // 11
        assert!(found.iter().all(|x| x.abs() < 0.04), "{:?}", found[0]);
        // sums of many elements into a single element, along a row and along columns
        let (halves, to) = (b.full([n], T::of(0.25))?, b.zeros::<i64>([n])?);
        let sum = T::of(0.25 * n as f64).to_f64();
        assert_eq!(read(b.segment_sum(&halves, &to, 1)?)?, sum);
        assert_eq!(read(b.scatter_add(b.zeros::<T>([2])?, &to, &halves, 0)?)?, sum);
        let columns = b.broadcast_to(b.reshape(&halves, [-1, 1])?, [n, 3])?;
        assert_eq!(read(b.flatten(b.segment_sum(columns, &to, 2)?)?)?, sum);
        let mut sums = b.zeros::<T>([3])?;
        b.add_at(&mut sums, ix![&to], &halves)?;
        assert_eq!(read(sums)?, sum);
        let found =
            slopes::<B, T>(b, &[1.0, 2.0], |d, x| d.multiply(d.take(x, &d.zeros::<i64>([70_000])?, 0)?, T::of(0.25)))?;
        assert_eq!(found, [sum, 0.0]);
        Ok(())
    }
    of::<B, f16>(b)?;
    of::<B, bf16>(b)
}

#[test]
fn of_counts_beyond_the_dtype() {
    on_every_backend!(counts);
}

fn special<B: Backend>(b: &B) -> Checked {
    let of = |x: &[f64], want: &[f64], f: fn(&Diff<B>, &Var<B, f64>) -> Result<Var<B, f64>>| -> Checked {
        near(&slopes::<B, f64>(b, x, f)?, want, 1e-14);
        Ok(())
    };
    of(&[1.0, NAN, 3.0], &[-1.0, 0.0, 1.0], |d, x| d.nanvar(x, ..))?;
    of(&[1.0, NAN, 3.0], &[-0.5, 0.0, 0.5], |d, x| d.nanstd(x, ..))?;
    of(&[2.0, 0.0, 5.0], &[0.0, 10.0, 0.0], |d, x| d.prod(x, ..))?;
    of(&[2.0, 0.0, 5.0], &[0.0, 10.0, 0.0], |d, x| d.segment_prod(x, &d.zeros::<i64>([3])?, 1))?;
    of(&[0.0, 0.0, 5.0], &[0.0; 3], |d, x| d.segment_prod(x, &d.zeros::<i64>([3])?, 1))?;
    of(&[2.0, 3.0, 0.0, 4.0], &[3.0, 2.0, 4.0, 0.0], |d, x| d.segment_prod(x, &d.asarray(vec![0_i64, 0, 1, 1])?, 2))?;
    of(&[3.0, 0.0], &[0.0, 21.0], |d, x| d.scatter_mul(d.asarray([7.0])?, d.zeros::<i64>([2])?, x, 0))?;
    of(&[0.0, 0.0, 2.0], &[1.0, 1.0, 1.0], |d, x| d.kl_div(0.0, x))?;
    of(&[0.0, 2.0], &[1.0, 1.0], |d, x| expr!(d, 1.0 * kl_div(0.0, x)))?;
    of(&[1.0, INF, 2.0], &[0.0, NAN, 0.0], |d, x| d.logsumexp(x, ..))?;
    of(&[-INF, 1.0], &[0.0, 1.0], |d, x| d.logsumexp(x, ..))?;
    of(&[2.0, 2.0], &[0.0, 0.0], |d, x| d.std(x, ..))?;
    of(&[0.0, 0.0], &[0.0, 0.0], |d, x| d.vector_norm(x))?;
    of(&[NAN, 1.0], &[1.0, 0.0], |d, x| d.segment_max(x, &d.zeros::<i64>([2])?, 1))?;
    // `norm_scores` divides by a standard deviation; a standard deviation of 0 counts as 1
    of(&[0.0, 2.0], &[0.0, -1.0], |d, x| d.norm_scores(d.asarray([3.0, 8.0])?, x, d.asarray([0.0, 0.0])?, 2.0, 0.5))?;
    of(&[0.0, 2.0], &[0.5, 0.25], |d, x| d.norm_scores(x, d.asarray([0.0, 8.0])?, d.asarray([0.0, 0.0])?, 2.0, 0.5))?;
    fn above() -> CenterOfMassOptions {
        CenterOfMassOptions::new().cutoff(1.0)
    }
    near(&slopes::<B, f64>(b, &[0.0, 0.5], |d, x| d.center_of_mass_with(x, above()))?, &[0.0, 0.0], 0.0);
    near(&slopes::<B, f64>(b, &[2.0, 0.5, 2.0], |d, x| d.center_of_mass_with(x, above()))?, &[-0.25, 0.0, 0.25], 1e-15);
    of(&[0.0, 0.0], &[NAN, NAN], |d, x| d.center_of_mass(x))?;
    of(&[1.0, 1.0, 1.0, 2.0], &[NAN; 4], |d, x| d.corrcoef(d.reshape(x, [2, 2])?))?;
    // the second derivative of a product, first with one zero and then with two; the first derivative with respect to
    // an element is the product of the other elements
    let x = b.asarray([2.0, 0.0, 5.0])?;
    let by_two = hessian(b, |d, x| d.squeeze(d.segment_prod(x, &d.zeros::<i64>([3])?, 1)?, 0), &x)?;
    assert_eq!(b.to_vec(b.flatten(by_two)?)?, [0.0, 5.0, 0.0, 5.0, 0.0, 2.0, 0.0, 2.0, 0.0]);
    let x = b.asarray([0.0, 0.0, 5.0])?;
    let by_two = hessian(b, |d, x| d.squeeze(d.segment_prod(x, &d.zeros::<i64>([3])?, 1)?, 0), &x)?;
    assert_eq!(b.to_vec(b.flatten(by_two)?)?, [0.0, 5.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let x = b.asarray([0.0, 3.0])?;
    let bend = |f: fn(&Diff<Diff<B>>, &Var<Diff<B>, f64>) -> Result<Var<Diff<B>, f64>>| -> Result<Vec<f64>> {
        b.to_vec(b.flatten(hessian(b, |d, x| d.sum(f(d, x)?, ..), &x)?)?)
    };
    // the second derivatives of `atan` and `asinh` are -2 x / (1 + x^2)^2 and -x / (1 + x^2)^1.5
    near(&bend(|d, x| d.atan(x))?, &[0.0, 0.0, 0.0, -0.06], 1e-14);
    near(&bend(|d, x| d.asinh(x))?, &[0.0, 0.0, 0.0, -0.094_868_329_805_051_38], 1e-14);
    near(&bend(|d, x| d.hypot(x, 4.0))?, &[0.25, 0.0, 0.0, 0.128], 1e-14);
    near(&bend(|d, x| d.sinc(x))?, &[-3.289_868_133_696_453, 0.0, 0.0, 0.222_222_222_222_222_2], 1e-13);
    // forward mode gives the same derivatives as reverse mode
    let along =
        |x: &[f64], f: fn(&Jvp<B>, &<Jvp<B> as Arrays>::Array<f64>) -> Result<<Jvp<B> as Arrays>::Array<f64>>| {
            let x = b.asarray(x.to_vec())?;
            let v = b.add(b.multiply(&x, 0.0)?, 1.0)?;
            let v = b.r#where(b.isfinite(&x)?, v, 1.0)?;
            b.to_vec(b.flatten(jvp(b, f, &x, &v)?.1)?)
        };
    near(&along(&[2.0, 2.0], |j, x| j.std(x, ..))?, &[0.0], 0.0);
    near(&along(&[0.0, 0.0], |j, x| j.vector_norm(x))?, &[0.0], 0.0);
    near(&along(&[1.0, NAN, 4.0], |j, x| j.nanstd(x, ..))?, &[0.0], 0.0);
    near(&along(&[2.0, 0.0], |j, x| j.segment_prod(x, &j.zeros::<i64>([2])?, 1))?, &[2.0], 0.0);
    near(&along(&[-INF, 1.0], |j, x| j.logsumexp(x, ..))?, &[1.0], 0.0);
    near(
        &along(&[0.0, 2.0], |j, x| j.norm_scores(j.asarray([3.0, 8.0])?, x, j.asarray([0.0; 2])?, 2.0, 0.5))?,
        &[0.0, -1.0],
        0.0,
    );
    near(&along(&[0.0, 0.5], |j, x| j.center_of_mass_with(x, above()))?, &[0.0], 0.0);
    near(&along(&[0.0, 0.0], |j, x| j.center_of_mass(x))?, &[NAN], 0.0);
    near(&along(&[1.0, 1.0, 1.0, 2.0], |j, x| j.corrcoef(j.reshape(x, [2, 2])?))?, &[NAN, NAN, NAN, 0.0], 0.0);
    Ok(())
}

#[test]
fn at_zeros_ties_nan_and_infinities() {
    on_every_backend!(special);
}
