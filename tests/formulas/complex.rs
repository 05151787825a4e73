//! Complex operands beside real ones, in calls and in formulas.

use backends::{Result, grad::grad, grad::jvp, lazy, prelude::*};

/// Splits complex numbers into parts, in `f64`.
fn parts<B: Backend, T: Precision>(b: &B, z: &B::Array<T::Complex>) -> Result<Vec<(f64, f64)>> {
    Ok(b.to_vec(z)?.into_iter().map(|z| (z.real().to_f64(), z.imag().to_f64())).collect())
}

/// Checks that the numbers are close in the dtype `T`.
fn near<B: Backend, T: Precision>(b: &B, z: &B::Array<T::Complex>, expected: &[(f64, f64)]) -> Result<()> {
    let got = parts::<B, T>(b, z)?;
    let tolerance = if T::DTYPE == DType::Float32 { 2e-6 } else { 1e-14 };
    let is_near = |x: f64, y: f64| (x - y).abs() <= tolerance * (1.0 + y.abs());
    let all = got.iter().zip(expected).all(|(x, y)| is_near(x.0, y.0) && is_near(x.1, y.1));
    assert!(got.len() == expected.len() && all, "{got:?} is not near {expected:?}");
    Ok(())
}

/// Complex numbers `z`, and real numbers `x` that broadcast with them.
#[allow(clippy::type_complexity)] // two arrays
fn inputs<B: Backend, T: Precision>(b: &B) -> Result<(B::Array<T::Complex>, B::Array<T>)> {
    let re = b.asarray([1.0, -2.0, 0.5].map(T::of))?;
    let im = b.asarray([0.25, 1.5, -3.0].map(T::of))?;
    Ok((b.complex(&re, &im)?, b.asarray([2.0, 0.5, -1.5].map(T::of))?))
}

const Z: [(f64, f64); 3] = [(1.0, 0.25), (-2.0, 1.5), (0.5, -3.0)];
const X: [f64; 3] = [2.0, 0.5, -1.5];

type C64 = Complex<f64>;

/// The numbers that `f` computes from each `z` and `x`.
fn each(f: impl Fn(C64, f64) -> C64) -> Vec<(f64, f64)> {
    Z.iter().zip(X).map(|(&(re, im), x)| f(Complex::new(re, im), x)).map(|z| (z.re, z.im)).collect()
}

/// Calls of ops with a complex and a real operand, in both orders.
fn calls<B: Backend, T: Precision>(b: &B) -> Result<()> {
    let (z, x) = inputs::<B, T>(b)?;
    near::<B, T>(b, &b.add(&z, &x)?, &each(|z, x| z + x))?;
    near::<B, T>(b, &b.add(&x, &z)?, &each(|z, x| z + x))?;
    near::<B, T>(b, &b.subtract(&z, &x)?, &each(|z, x| z - x))?;
    near::<B, T>(b, &b.subtract(&x, &z)?, &each(|z, x| -z + x))?;
    near::<B, T>(b, &b.multiply(&z, &x)?, &each(|z, x| z * x))?;
    near::<B, T>(b, &b.multiply(&x, &z)?, &each(|z, x| z * x))?;
    near::<B, T>(b, &b.multiply(z.clone(), x.clone())?, &each(|z, x| z * x))?;
    near::<B, T>(b, &b.multiply(x.clone(), &z)?, &each(|z, x| z * x))?;
    near::<B, T>(b, &b.divide(&z, &x)?, &each(|z, x| z / x))?;
    near::<B, T>(b, &b.divide(&x, &z)?, &each(|z, x| x / z))?;
    near::<B, T>(b, &b.pow(&z, &x)?, &each(|z, x| z.powf(x)))?;
    near::<B, T>(b, &b.multiply(b.exp(&z)?, b.multiply(&x, 2.0)?)?, &each(|z, x| z.exp() * (2.0 * x)))?;
    // scalars, which have a dtype in generic code
    let c = T::ONE.complex(T::of(2.0));
    near::<B, T>(b, &b.multiply(&x, c)?, &each(|_, x| Complex::new(x, 2.0 * x)))?;
    near::<B, T>(b, &b.multiply(c, &x)?, &each(|_, x| Complex::new(x, 2.0 * x)))?;
    near::<B, T>(b, &b.subtract(3.0, &z)?, &each(|z, _| -z + 3.0))?;
    near::<B, T>(b, &b.multiply(&z, 3_usize)?, &each(|z, _| z * 3.0))?;
    // comparisons
    let real = b.complex(&x, T::ZERO)?;
    assert_eq!(b.to_vec(b.equal(&real, &x)?)?, [true; 3]);
    assert_eq!(b.to_vec(b.not_equal(&x, &z)?)?, [true; 3]);
    assert_eq!(b.to_vec(b.equal(&z, b.real(&z)?)?)?, [false; 3]);
    // shapes broadcast, and an error names the op
    let column = b.reshape(&x, [3, 1])?;
    assert_eq!(b.shape(&b.multiply(&column, &z)?), [3, 3]);
    let why = b.multiply(&z, &b.zeros::<T>([2])?).unwrap_err().to_string();
    assert!(why.starts_with("multiply: ") && why.contains("[3]") && why.contains("[2]"), "{why}");
    Ok(())
}

/// Formulas with complex and real operands, in both orders.
fn formulas<B: Backend, T: Precision>(b: &B) -> Result<()> {
    let (z, x) = inputs::<B, T>(b)?;
    near::<B, T>(b, &expr!(b, z + x)?, &each(|z, x| z + x))?;
    near::<B, T>(b, &expr!(b, x - z)?, &each(|z, x| -z + x))?;
    near::<B, T>(b, &expr!(b, z * x)?, &each(|z, x| z * x))?;
    near::<B, T>(b, &expr!(b, x * z)?, &each(|z, x| z * x))?;
    near::<B, T>(b, &expr!(b, z / x)?, &each(|z, x| z / x))?;
    near::<B, T>(b, &expr!(b, x / z)?, &each(|z, x| x / z))?;
    near::<B, T>(b, &expr!(b, z * *x)?, &each(|z, x| z.powf(x)))?;
    near::<B, T>(b, &expr!(b, exp(-z * x) * cos(x) + x)?, &each(|z, x| (-z * x).exp() * x.cos() + x))?;
    near::<B, T>(b, &expr!(b, exp(1i * x))?, &each(|_, x| Complex::new(x.cos(), x.sin())))?;
    near::<B, T>(
        b,
        &expr!(b, exp(-2i * x) * (1 + 0.5i))?,
        &each(|_, x| Complex::cis(-2.0 * x) * Complex::new(1.0, 0.5)),
    )?;
    near::<B, T>(b, &expr!(b, exp(Complex::new(0, 1) * x))?, &each(|_, x| Complex::cis(x)))?;
    near::<B, T>(b, &expr!(b, exp(Complex::new(0.0, 1.0) * x))?, &each(|_, x| Complex::cis(x)))?;
    let (c, t, n) = (T::ONE.complex(T::of(2.0)), T::of(3.0), 5_usize);
    near::<B, T>(b, &expr!(b, c * x)?, &each(|_, x| Complex::new(x, 2.0 * x)))?;
    near::<B, T>(b, &expr!(b, x * c)?, &each(|_, x| Complex::new(x, 2.0 * x)))?;
    near::<B, T>(b, &expr!(b, c * x * t)?, &each(|_, x| Complex::new(3.0 * x, 6.0 * x)))?;
    near::<B, T>(b, &expr!(b, 1i * t * x + z * t)?, &each(|z, x| Complex::new(0.0, 3.0 * x) + z * 3.0))?;
    near::<B, T>(b, &expr!(b, z * n / 2.0)?, &each(|z, _| z * 2.5))?;
    near::<B, T>(b, &expr!(b, where(x > 0, z, x))?, &each(|z, x| if x > 0.0 { z } else { x.into() }))?;
    let sum = each(|z, x| z * x).iter().fold((0.0, 0.0), |sum, z| (sum.0 + z.0, sum.1 + z.1));
    near::<B, T>(b, &expr!(b, sum(z * x, ..))?, &[sum])?;
    assert_eq!(b.to_vec(&expr!(b, z == real(z))?)?, [false; 3]);
    assert_eq!(b.to_vec(&expr!(b, real(z) != z)?)?, [true; 3]);
    // variables whose type is a literal's: the formula decides
    let (half, two) = (0.5, 2);
    let y = expr!(b, z * half + x * two)?;
    assert_eq!(y.shape(), [3]);
    near::<B, T>(b, &y, &each(|z, x| z * 0.5 + 2.0 * x))?;
    // an assignment
    let mut y = z.clone();
    expr!(b, y *= x)?;
    near::<B, T>(b, &y, &each(|z, x| z * x))?;
    // formulas without a macro
    near::<B, T>(b, &(lazy(&z) * &x).eval(b)?, &each(|z, x| z * x))?;
    near::<B, T>(b, &(lazy(&x) / &z + &x).eval(b)?, &each(|z, x| x / z + x))?;
    near::<B, T>(b, &(lazy(&x) * Complex::new(0.0, 1.0)).exp().eval(b)?, &each(|_, x| Complex::cis(x)))?;
    Ok(())
}

fn all<B: Backend>(b: &B) -> Result<()> {
    calls::<B, f64>(b)?;
    calls::<B, f32>(b)?;
    formulas::<B, f64>(b)?;
    formulas::<B, f32>(b)
}

#[test]
fn complex_and_real_operands() {
    on_every_backend!(all);
}

/// In a formula, a product of a complex and a real number multiplies both parts by the real number, and nothing by 0.
fn has_no_zero_parts<B: Backend>(b: &B) -> Result<()> {
    let (z, x) = (b.asarray([Complex::new(f64::INFINITY, 1.0)])?, b.asarray([2.0])?);
    let product = b.item(expr!(b, z * x)?)?;
    assert_eq!((product.re, product.im), (f64::INFINITY, 2.0));
    let quotient = b.item(expr!(b, z / x)?)?;
    assert_eq!((quotient.re, quotient.im), (f64::INFINITY, 0.5));
    Ok(())
}

#[test]
fn a_product_with_a_real_number_has_no_products_by_0() {
    on_every_backend!(has_no_zero_parts);
}

/// Concrete dtypes, where the compiler infers everything.
#[test]
fn dtypes_are_inferred() -> Result<()> {
    let b = Numpyish::new();
    let z = b.asarray([Complex::new(1.0_f32, 2.0)])?;
    let x = b.asarray([2.0_f32])?;
    assert_eq!(b.multiply(&z, &x)?, b.asarray([Complex::new(2.0_f32, 4.0)])?);
    assert_eq!(b.multiply(&x, &z)?, b.asarray([Complex::new(2.0_f32, 4.0)])?);
    assert_eq!(b.multiply(&x, Complex::new(0.0_f32, 1.0))?, b.asarray([Complex::new(0.0_f32, 2.0)])?);
    assert_eq!(b.multiply(&z, 2.0_f32)?, b.asarray([Complex::new(2.0_f32, 4.0)])?);
    assert_eq!(b.subtract(2.0_f32, z.clone())?, b.asarray([Complex::new(1.0_f32, -2.0)])?);
    assert_eq!(expr!(b, x * 1i)?, b.asarray([Complex::new(0.0_f32, 2.0)])?);
    assert_eq!(expr!(b, Complex::new(0.0, 1.0) * x)?, b.asarray([Complex::new(0.0_f32, 2.0)])?);
    assert_eq!(expr!(&b, z * 2.0 + 3_usize)?, b.asarray([Complex::new(5.0_f32, 4.0)])?);
    let half = b.asarray([f16::from_f32(2.0)])?;
    assert_eq!(expr!(b, half * 1i)?, b.asarray([Complex::new(0.0_f32, 2.0)])?);
    Ok(())
}

/// The gradient of `sum(|z x|^2)` with respect to `x` is `2 |z|^2 x`, in calls and in formulas.
fn gradients<B: Backend>(b: &B) -> Result<()> {
    let (z, x) = inputs::<B, f64>(b)?;
    let expected: Vec<f64> = Z.iter().zip(X).map(|(z, x)| 2.0 * (z.0 * z.0 + z.1 * z.1) * x).collect();
    let near = |g: &B::Array<f64>| -> Result<()> {
        let g = b.to_vec(g)?;
        assert!(g.iter().zip(&expected).all(|(x, y)| (x - y).abs() < 1e-12), "{g:?} {expected:?}");
        Ok(())
    };
    let by_calls = grad(b, |d, x| d.sum(d.square(d.abs(d.multiply(&d.constant(z.clone()), x)?)?)?, ..), &x)?;
    near(&by_calls)?;
    let by_formula = grad(
        b,
        |d, x| {
            let z = d.constant(z.clone());
            expr!(d, sum(square(abs(z * x)), ..))
        },
        &x,
    )?;
    near(&by_formula)?;
    // the gradient with respect to the complex operand, and a phase
    let by_z = grad(b, |d, z| expr!(d, sum(real(z * { d.constant(x.clone()) }), ..)), &z)?;
    let by_z = parts::<B, f64>(b, &by_z)?;
    assert_eq!(by_z, X.map(|x| (x, 0.0)));
    let phase = grad(b, |d, x| expr!(d, sum(imag(exp(1i * x)), ..)), &x)?;
    assert!(b.to_vec(&phase)?.iter().zip(X).all(|(g, x)| (g - x.cos()).abs() < 1e-12));
    // forward mode
    let (_, tangent) = jvp(b, |d, x| expr!(d, real(x * { d.constant(z.clone()) } + 2i * x)), &x, &b.ones([3])?)?;
    assert_eq!(b.to_vec(&tangent)?, Z.map(|z| z.0));
    Ok(())
}

#[test]
fn gradients_of_complex_and_real_operands() {
    on_every_backend!(gradients);
}
