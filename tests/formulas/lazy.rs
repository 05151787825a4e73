//! Tests that formulas built with operators give the same bits as `expr!`, on every backend.

use backends::{Error, Result, lazy, prelude::*};

const B: Numpyish = Numpyish::new();

fn bits(x: &HostArray<f64>) -> Vec<u64> {
    x.iter().map(|v| v.to_bits()).collect()
}

fn samples(n: usize) -> [HostArray<f64>; 3] {
    B.seed(n as u64);
    [0.5, 1.0, 2.0].map(|scale| B.random_normal_with([n], RandomNormalOptions::new().std(scale)).unwrap())
}

#[test]
fn the_bits_are_those_of_the_macro() -> Result<()> {
    for n in [0, 1, 7, 255, 256, 1000, 40_000] {
        let [x, y, z] = samples(n);
        let fused = expr!(B, 0.5 * exp(-square(x - y) / (2.0 * 1.5)) + sin(z * 1e7) * x)?;
        let lazily = 0.5 * (-(lazy(&x) - &y).square() / 3.0).exp() + (lazy(&z) * 1e7).sin() * &x;
        assert_eq!(bits(&lazily.eval(&B)?), bits(&fused), "{n}");
        // evaluating does not consume or change the formula
        assert_eq!(bits(&lazily.eval(&B)?), bits(&fused), "{n}");
    }
    Ok(())
}

#[test]
fn operators_with_arrays_and_numbers_on_either_side() -> Result<()> {
    let (x, y) = (B.asarray([1.0, 2.0, 3.0])?, B.asarray([4.0, 5.0, 6.0])?);
    let is = |got: Result<HostArray<f64>>, expected: [f64; 3]| assert_eq!(got.unwrap(), B.asarray(expected).unwrap());
    is(((lazy(&x) + lazy(&y)) * 2.0).eval(&B), [10.0, 14.0, 18.0]);
    is((1 - lazy(&x)).eval(&B), [0.0, -1.0, -2.0]);
    is((6.0 / lazy(&x)).eval(&B), [6.0, 3.0, 2.0]);
    is((lazy(&y) % lazy(&x)).eval(&B), [0.0, 1.0, 0.0]);
    is((7 % lazy(&x)).eval(&B), [0.0, 1.0, 1.0]);
    is((-lazy(&x) * &y).eval(&B), [-4.0, -10.0, -18.0]);
    is(lazy(&x).maximum(2).eval(&B), [2.0, 2.0, 3.0]);
    is(lazy(&x).clip(1.5, &y).eval(&B), [1.5, 2.0, 3.0]);
    is(lazy(&x).clip(.., 2).eval(&B), [1.0, 2.0, 2.0]);
    is(lazy(&x).clip(2.5, ..).eval(&B), [2.5, 2.5, 3.0]);
    assert_eq!((lazy(&x) * &y).argmax(..).eval(&B)?, B.asarray(2_i64)?);
    is(lazy(&x).atan2(lazy(&y) * 0).eval(&B), [std::f64::consts::FRAC_PI_2; 3]);
    is((lazy(&x).greater(1.5)).r#where(&y, 0).eval(&B), [0.0, 5.0, 6.0]);
    is((lazy(&x) + 0.25).astype::<i64>().astype::<f64>().eval(&B), [1.0, 2.0, 3.0]);
    is(lazy(&x).eval(&B), [1.0, 2.0, 3.0]);
    let flags = (lazy(&x).greater(1) & lazy(&y).less(6) | !lazy(&x).less_equal(2)).eval(&B)?;
    assert_eq!(flags, B.asarray([false, true, true])?);
    let i = B.asarray([1, 2, 3])?;
    assert_eq!(((lazy(&i) << 1) + lazy(&i) * 2 - 1).eval(&B)?, B.asarray([3_i32, 7, 11])?);
    assert_eq!((lazy(&i) ^ 1).eval(&B)?, B.asarray([0, 3, 2])?);
    let z = B.asarray([Complex::new(3.0, 4.0), Complex::new(0.0, -2.0)])?;
    let w = B.asarray([1.0, 10.0])?;
    assert_eq!((lazy(&z).abs() * &w).eval(&B)?, B.asarray([5.0, 20.0])?);
    let turned = (lazy(&z) * Complex::new(0.0, 1.0)).eval(&B)?;
    assert_eq!(turned, B.asarray([Complex::new(-4.0, 3.0), Complex::new(2.0, 0.0)])?);
    Ok(())
}

#[test]
fn numbers_take_the_dtype_of_the_array() -> Result<()> {
    let x = B.asarray([1.0_f32, 2.0])?;
    let (s, t) = (0.1_f64, 0.1_f32);
    assert_eq!((lazy(&x) * s + 0.1).eval(&B)?, expr!(B, x * s + 0.1)?);
    assert_eq!((lazy(t) * &x).eval(&B)?, B.asarray([0.1_f32, 0.2])?);
    assert_eq!(((lazy(t) + 1) * &x).eval(&B)?, expr!(B, (t + 1) * x)?);
    let n = B.asarray([7_u8, 9])?;
    assert_eq!((lazy(&n) * 2 + 1).eval(&B)?, B.asarray([15_u8, 19])?);
    assert_eq!(((lazy(&n) + &n) * 300).eval(&B).unwrap_err().to_string(), "multiply: 300 does not fit uint8");
    assert_eq!((-1 - lazy(&n)).eval(&B).unwrap_err().to_string(), "subtract: -1 does not fit uint8");
    Ok(())
}

#[test]
fn shapes_broadcast_or_are_named() -> Result<()> {
    let x = B.reshape(B.arange(0.0, 600.0, 1.0)?, [20, 30])?;
    let turned = B.transpose(B.reshape(B.arange(0.0, 600.0, 1.0)?, [30, 20])?)?;
    let (row, col) = (B.arange(0.0, 30.0, 1.0)?, B.reshape(B.arange(0.0, 20.0, 1.0)?, [20, 1])?);
    let back = B.flip(&x, 1)?;
    let lazily = lazy(&x) * &turned - lazy(&back) / (lazy(&row) + 1) + &col;
    assert_eq!(lazily.eval(&B)?, expr!(B, x * turned - back / (row + 1) + col)?);
    let why = (lazy(&x) + &B.zeros::<f64>([7])?).eval(&B).unwrap_err().to_string();
    assert!(why.starts_with("expr: shapes") && why.contains("[20, 30]") && why.contains("[7]"), "{why}");
    Ok(())
}

/// Evaluates formulas with more arrays than a loop can read in one pass. Some of their subexpressions are computed
/// first.
fn many<B: Backend>(b: &B) -> Result<()> {
    let x: Vec<B::Array<f64>> = (0..20).map(|i| b.asarray([f64::from(i), 1.0])).collect::<Result<_>>()?;
    let l = |i: usize| lazy(&x[i]);
    let chain = l(0) + l(1) + l(2) + l(3) + l(4) + l(5) + l(6) + l(7) + l(8) + l(9) + l(10) + l(11);
    assert_eq!(b.to_vec(chain.eval(b)?)?, [66.0, 12.0]);
    let left = (l(0) + l(1) * l(2) + l(3) * l(4)) * (l(5) - l(6) - l(7));
    let both = left + (l(8) * l(9)) * (l(10) + l(11)) * 2.0;
    assert_eq!(b.to_vec(both.eval(b)?)?, [14.0 * -8.0 + 72.0 * 21.0 * 2.0, -3.0 + 4.0]);
    let twenty = chain * (l(12) + l(13) + l(14) + l(15)).exp().log() / (l(16) + l(17) + l(18) + l(19));
    let twenty = b.to_vec(twenty.eval(b)?)?;
    assert!(twenty.iter().zip([66.0 * 54.0 / 70.0, 12.0]).all(|(x, y)| (x - y).abs() < 1e-12), "{twenty:?}");
    let chosen = (chain + l(12)).greater(20).r#where(l(13) + l(14) + l(15), l(16)).astype::<f32>();
    assert_eq!(b.to_vec(chosen.eval(b)?)?, [42.0_f32, 1.0]);
    let clipped = (chain - 60).clip(l(12) - l(13), l(14)) + l(15) * lazy(2.0);
    assert_eq!(b.to_vec(clipped.eval(b)?)?, [6.0 + 30.0, 0.0 + 2.0]);
    let refused = (chain + &b.zeros::<f64>([3])?).eval(b).unwrap_err().to_string();
    assert!(refused.contains("[2]") && refused.contains("[3]"), "{refused}");
    Ok(())
}

/// A formula that is generic over the backend and the dtype.
fn gauss<B: Backend, T: Real>(b: &B, x: &B::Array<T>, mu: T, s: f64) -> Result<B::Array<T>> {
    (0.5 * (-(lazy(x) - lazy(mu)).square() / (2.0 * s * s)).exp() + x).eval(b)
}

fn by_macro<B: Backend, T: Real>(b: &B, x: &B::Array<T>, mu: T, s: f64) -> Result<B::Array<T>> {
    let c = 2.0 * s * s;
    expr!(b, 0.5 * exp(-square(x - mu) / c) + x)
}

fn all<B: Backend>(b: &B) -> Result<()> {
    let x = b.from_ndarray(samples(1000)[0].clone())?;
    assert_eq!(bits(&b.to_ndarray(&gauss(b, &x, 0.3, 1.5)?)?), bits(&b.to_ndarray(&by_macro(b, &x, 0.3, 1.5)?)?));
    let y = b.astype::<f32, _>(&x)?;
    assert_eq!(b.to_vec(gauss(b, &y, 0.3, 1.5)?)?, b.to_vec(by_macro(b, &y, 0.3, 1.5)?)?);
    // scalars before and after arrays, arrays of several dtypes, and an array that occurs twice
    let (s, t) = (0.25, 2.0);
    let (m, n) = (b.reshape(&x, [20, 50])?, b.transpose(b.reshape(&x, [50, 20])?)?);
    let flags = b.greater(&m, 0.5)?;
    let lazily = (lazy(s) * &m + lazy(&n) * lazy(t) - &m).sin();
    assert_eq!(b.to_vec(lazily.eval(b)?)?, b.to_vec(expr!(b, sin(s * m + n * t - m))?)?);
    let chosen = (lazy(&flags) & lazy(&n).less(s)).r#where(lazy(&m) / t, -1.5);
    let expected = expr!(b, where(flags & (n < s), m / t, -1.5))?;
    assert_eq!(b.to_vec(chosen.eval(b)?)?, b.to_vec(expected)?);
    many(b)
}

#[test]
fn on_every_backend() {
    on_every_backend!(all);
    on_every_backend!(reductions);
}

/// A reduction of a lazy formula has the same bits as the reduction in `expr!` and as the separate ops.
fn reductions<B: Backend>(b: &B) -> Result<()> {
    let [x, y, _] = samples(600);
    let x = b.reshape(b.from_ndarray(x)?, [20, 30])?;
    let y = b.reshape(b.from_ndarray(y)?, [20, 30])?;
    let lazily = (lazy(&x) - &y) * &x;
    macro_rules! same {
        ($($op:ident($axis:expr $(, $option:ident = $value:expr)*) $with:ident $options:ident;)*) => {$(
            let one = lazily.$with($axis, $options::new()$(.$option($value))*).eval(b)?;
            let other = expr!(b, $op((x - y) * x, $axis $(, $option = $value)*))?;
            assert_eq!(b.shape(&one), b.shape(&other), stringify!($op));
            assert_eq!(b.to_vec(one)?, b.to_vec(other)?, stringify!($op));
            assert!(!lazily.$op($axis).eval(b)?.is_empty(), stringify!($op));
        )*};
    }
    same! {
        sum(..) sum_with SumOptions;
        sum(0, keepdims = true) sum_with SumOptions;
        mean([0, 1]) mean_with MeanOptions;
        prod(1) prod_with ProdOptions;
        max(-1) max_with MaxOptions;
        min(0) min_with MinOptions;
        any(0) any_with AnyOptions;
        all(1) all_with AllOptions;
        count_nonzero(..) count_nonzero_with CountNonzeroOptions;
        var(0, correction = 1.0) var_with VarOptions;
        std(.., correction = 0.5, keepdims = true) std_with StdOptions;
        argmax(1, keepdims = true) argmax_with ArgmaxOptions;
        argmin(-2) argmin_with ArgminOptions;
    }
    assert_eq!(b.to_vec(lazy(&x).sum(0).eval(b)?)?, b.to_vec(b.sum(&x, 0)?)?, "of an array alone");
    assert_eq!(b.shape(&lazily.reduce(backends::ops::max {}, 0).keepdims(true).eval(b)?), [1, 30]);
    let one = b.asarray([1.0, 2.0])?;
    let l = || lazy(&one);
    let ten = l() + l() + l() + l() + l() + l() + l() + l() + l() + l();
    assert_eq!(b.to_vec(ten.sum(0).eval(b)?)?, [30.0], "more arrays than a pass is over");
    assert_eq!(lazily.sum(2).eval(b).unwrap_err(), b.sum(&x, 2).unwrap_err());
    assert_eq!(lazily.argmax(300).eval(b).unwrap_err(), b.argmax(&x, 300).unwrap_err());
    Ok(())
}

#[test]
fn on_a_backend_chosen_at_run_time() -> Result<()> {
    let b = AnyBackend::from(B);
    all(&b)?;
    if let Ok(torch) = Torch::cpu() {
        let other = AnyBackend::from(torch);
        all(&other)?;
        let (x, y) = (b.zeros::<f64>([2])?, other.zeros::<f64>([2])?);
        let why = (lazy(&x) + &y).eval(&b).unwrap_err();
        assert!(matches!(why, Error::Backend { .. }), "arrays of two backends are not mixed: {why}");
    }
    Ok(())
}

/// Every method of a lazy formula gives the same bits as the op of the same name.
#[test]
fn every_row_is_a_method() -> Result<()> {
    let [x, y, _] = samples(300);
    let (i, j) = (B.arange(-100_i64, 200, 1)?, B.remainder(B.arange(0_i64, 300, 1)?, 7_i64)?);
    macro_rules! same {
        ($x:ident, $y:ident: $($one:ident)*; $($two:ident)*) => {
            $(assert_eq!(B.show(lazy(&$x).$one().eval(&B)?)?, B.show(B.$one(&$x)?)?, stringify!($one));
            let same = B.equal(lazy(&$x).$one().eval(&B)?, B.$one(&$x)?)?;
            let nan = B.not_equal(B.$one(&$x)?, B.$one(&$x)?)?;
            assert!(B.item(B.all(B.logical_or(same, nan)?, ..)?)?, stringify!($one));)*
            $(let (one, other) = (lazy(&$x).$two(&$y).eval(&B)?, B.$two(&$x, &$y)?);
            assert!(B.item(B.all(B.logical_or(B.equal(&one, &other)?, B.not_equal(&other, &other)?)?, ..)?)?, stringify!($two));)*
        };
    }
    same!(x, y:
        logical_not negative positive abs sign square round real imag conj isfinite isinf isnan ceil floor trunc exp expm1 log log2 log10
        log1p sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh reciprocal angle signbit erf erfc sigmoid;
        add subtract multiply pow divide floor_divide remainder maximum minimum less less_equal greater greater_equal atan2 hypot logaddexp
        copysign nextafter complex equal not_equal logical_and logical_or logical_xor);
    same!(i, j:
        bitwise_invert negative abs sign square;
        add multiply pow floor_divide remainder maximum less bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift);
    Ok(())
}
