//! Rust numbers in formulas and calls: counts, conversions, elements of lists, fields, and constants of a dtype.

use backends::{Result, prelude::*};

struct Model<T> {
    alpha: T,
    weights: Vec<T>,
    steps: usize,
}

impl<T: Copy> Model<T> {
    fn weight(&self, i: usize) -> T {
        self.weights[i]
    }
}

/// Numbers of Rust in generic code, without braces.
fn numbers<B: Backend, T: Precision>(b: &B) -> Result<()> {
    let model = Model { alpha: T::of(0.5), weights: vec![T::of(2.0), T::of(4.0)], steps: 3 };
    let x = b.asarray([1.0, -2.0].map(T::of))?;
    let (n, i, rates, k) = (4_usize, 1_usize, [0.25, 0.5], 3_i64);
    let is = |y: B::Array<T>, expected: [f64; 2]| -> Result<()> {
        assert_eq!(b.to_vec(&y)?, expected.map(T::of));
        Ok(())
    };
    is(expr!(b, x * n)?, [4.0, -8.0])?;
    is(expr!(b, x / x.len())?, [0.5, -1.0])?;
    is(expr!(b, x * k - model.steps)?, [0.0, -9.0])?;
    is(expr!(b, x * n as f64)?, [4.0, -8.0])?;
    is(expr!(b, (x + 1) * (n / 3) as f64 + 2)?, [4.0, 1.0])?;
    is(expr!(b, x * rates[i] as f64 + model.alpha * model.weights[0])?, [1.5, 0.0])?;
    is(expr!(b, x * rates[n - 3] + model.weight(1))?, [4.5, 3.0])?;
    is(expr!(b, x * 7_u8 as f64)?, [7.0, -14.0])?;
    // an element of an array, and an element beyond the end of a list
    is(expr!(b, x + x[1])?, [-1.0, -4.0])?;
    is(expr!(b, x + x[i])?, [-1.0, -4.0])?;
    is(expr!(b, x + x[-2])?, [2.0, -1.0])?;
    let why = expr!(b, x * rates[n]).unwrap_err().to_string();
    assert!(why.contains("index 4 is out of range for a list of 2 elements"), "{why}");
    // calls take the same numbers
    is(b.multiply(&x, n)?, [4.0, -8.0])?;
    is(b.add(&x, k)?, [4.0, 1.0])?;
    is(b.full_like(&x, 0.5)?, [0.5, 0.5])?;
    is(b.full_like(&x, n)?, [4.0, 4.0])?;
    is(b.masked_fill(&x, b.less(&x, 0)?, 0.0)?, [1.0, 0.0])?;
    is(b.r#where(b.less(&x, 0)?, &x, 0.0)?, [0.0, -2.0])?;
    is(expr!(b, where(x < 0, model.alpha, 0.0))?, [0.0, 0.5])?;
    created(b, &x)
}

/// Ops that create arrays, with numbers of any type, and optional arrays that are formulas.
fn created<B: Backend, T: Precision>(b: &B, x: &B::Array<T>) -> Result<()> {
    let n = 2_usize;
    let is = |y: B::Array<T>, expected: &[f64]| -> Result<()> {
        assert_eq!(b.to_vec(&y)?, expected.iter().map(|x| T::of(*x)).collect::<Vec<T>>());
        Ok(())
    };
    is(expr!(b, linspace::<T>(-1, 1, 3))?, &[-1.0, 0.0, 1.0])?;
    is(expr!(b, linspace::<T>(0, n, 3, endpoint = false) * 3)?, &[0.0, 2.0, 4.0])?;
    is(expr!(b, arange::<T>(0, n, 0.5))?, &[0.0, 0.5, 1.0, 1.5])?;
    is(expr!(b, arange::<T>(T::ONE, -2, -1) + x[0])?, &[2.0, 1.0, 0.0])?;
    is(expr!(b, full::<T>([3], 0.5))?, &[0.5; 3])?;
    is(expr!(b, x @ eye::<T>(n) + zeros::<T>([n]))?, &[1.0, -2.0])?;
    is(expr!(b, fftfreq::<T>(n, d = 0.5))?, &[0.0, -1.0])?;
    is(expr!(b, one_hot::<T>(argmax(x, 0, keepdims = true), n)[0])?, &[1.0, 0.0])?;
    let places = b.asarray([1_i64, 1])?;
    is(expr!(b, bincount(places, weights = x * x))?, &[0.0, 5.0])?;
    is(expr!(b, bincount(places, weights = x))?, &[0.0, -1.0])?;
    is(expr!(b, bincount(places, weights = &x))?, &[0.0, -1.0])?;
    is(expr!(b, bincount::<T>(places, minlength = 3))?, &[0.0, 2.0, 0.0])?;
    // new axes
    assert_eq!(expr!(b, x[None])?.shape(), [1, 2]);
    assert_eq!(expr!(b, x[.., None] * x)?.shape(), [2, 2]);
    assert_eq!(b.get(x, ix![None, 0, None])?.shape(), [1, 1]);
    Ok(())
}

fn all<B: Backend>(b: &B) -> Result<()> {
    numbers::<B, f32>(b)?;
    numbers::<B, f64>(b)
}

#[test]
fn numbers_of_rust_in_generic_code() {
    on_every_backend!(all);
}

/// The constants of a real dtype.
fn constants<T: Real>() -> [f64; 8] {
    [T::EPSILON, T::MAX, T::MIN, T::MIN_POSITIVE, T::INFINITY, T::NEG_INFINITY, T::NAN, T::PI].map(T::to_f64)
}

#[test]
fn constants_of_a_dtype() {
    let [epsilon, max, min, tiny, inf, minus, nan, pi] = constants::<f32>();
    assert_eq!((epsilon, max, min), (f32::EPSILON.into(), f32::MAX.into(), f32::MIN.into()));
    assert_eq!((tiny, inf, minus), (f32::MIN_POSITIVE.into(), f64::INFINITY, f64::NEG_INFINITY));
    assert!(nan.is_nan() && pi == f64::from(std::f32::consts::PI));
    assert_eq!(constants::<f64>()[0], f64::EPSILON);
    assert_eq!((constants::<f16>()[0], constants::<f16>()[1]), (0.0009765625, 65504.0));
    assert_eq!(constants::<bf16>()[0], 0.0078125);
}
