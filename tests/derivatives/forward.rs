//! Tests of forward mode, which computes tangents along one direction: ops, formulas, assignments in place, nested
//! derivatives, forward mode over gradients, and implicit equations.

use backends::{
    Error, Result,
    grad::{Dual, Jvp, grad, hessian, hvp, jacobian, jvp, vjp},
    prelude::*,
};

type R = HostArray<f64>;

#[track_caller]
fn near(x: &R, y: &R, tolerance: f64) {
    assert_eq!(x.shape(), y.shape());
    assert!(x.iter().zip(y).all(|(x, y)| (x - y).abs() <= tolerance), "{x:.12}\n{y:.12}");
}

/// Computes a scalar function of an array of three numbers, with formulas, a standard deviation, a cumulative product
/// and a maximum.
fn mixed<B: Backend>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
    let wave = expr!(b, sin(x) * exp(-0.5 * x * *2) + sqrt(abs(x) + 1.0))?;
    let spread = b.std(&wave, ..)?;
    let largest = b.max(b.cumulative_prod(&wave, 0)?, ..)?;
    expr!(b, spread * largest + sum(wave, ..))
}

fn input() -> R {
    ndarray::arr1(&[0.3, -1.2, 0.7]).into_dyn().into_shared()
}

fn direction() -> R {
    ndarray::arr1(&[1.0, 0.5, -2.0]).into_dyn().into_shared()
}

#[test]
fn as_the_gradient_along_the_direction() -> Result<()> {
    let b = Numpyish::new();
    let (x, v) = (input(), direction());
    let (y, tangent) = jvp(&b, mixed, &x, &v)?;
    assert_eq!(y, mixed(&b, &x)?);
    let g = grad(&b, mixed, &x)?;
    near(&tangent, &b.vecdot(&g, &v)?, 1e-13);
    Ok(())
}

#[test]
fn over_gradients_and_nested() -> Result<()> {
    let b = Numpyish::new();
    let (x, v) = (input(), direction());
    let h = hessian(&b, mixed, &x)?;
    let product = b.matmul(&h, &v)?;
    // forward mode over reverse mode, reverse over reverse, and reverse over forward
    let (g, along) = jvp(&b, |j, x| grad(j, mixed, x), &x, &v)?;
    near(&g, &grad(&b, mixed, &x)?, 1e-13);
    near(&along, &product, 1e-11);
    near(&hvp(&b, mixed, &x, &v)?, &product, 1e-11);
    let over = grad(&b, |d, x| Ok(jvp(d, mixed, x, &d.constant(v.clone()))?.1), &x)?;
    near(&over, &product, 1e-11);
    // forward mode over forward mode
    let second = jvp(&b, |j, x| Ok(jvp(j, mixed, x, &j.constant(v.clone()))?.1), &x, &v)?.1;
    near(&second, &b.vecdot(&v, &product)?, 1e-11);
    // computes each column of the Jacobian by one call of `jvp`
    let column =
        |k: usize| Ok::<_, Error>(jvp(&b, |j, x| j.square(x), &x, &b.one_hot::<f64>(b.asarray(k as i64)?, 3)?)?.1);
    let columns = [column(0)?, column(1)?, column(2)?];
    near(&b.stack(&columns)?, &jacobian(&b, |d, x| d.square(x), &x)?, 0.0);
    Ok(())
}

#[test]
fn changes_in_place_and_conversions() -> Result<()> {
    let b = Numpyish::new();
    let (x, v) = (input(), direction());
    fn f<B: Backend>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
        let mut y = b.zeros::<f64>([4])?;
        b.set(&mut y, ix![1..], b.square(x)?)?;
        b.set(&mut y, ix![1], 3.0)?;
        b.add_at(&mut y, ix![0], b.sum(x, ..)?)?;
        let single = b.astype::<f32, f64>(&y)?;
        b.astype::<f64, f32>(b.multiply(single, 2.0)?)
    }
    let (y, tangent) = jvp(&b, f, &x, &v)?;
    assert_eq!(y, f(&b, &x)?);
    near(&tangent, &b.asarray([2.0 * -0.5, 0.0, 4.0 * -1.2 * 0.5, 4.0 * 0.7 * -2.0])?, 1e-5);
    Ok(())
}

#[test]
fn complex_numbers() -> Result<()> {
    let b = Numpyish::new();
    let (x, v) = (Complex::new(0.6, -0.8), Complex::new(0.5, 2.0));
    let (z, dz) = (b.asarray([x])?, b.asarray([v])?);
    let f = |z: Complex<f64>| z.conj() * z.norm() + z / z.norm() * z.arg() + z.re * z * z;
    let g = |j: &Jvp<Numpyish>, z: &Dual<Numpyish, Complex<f64>>| {
        let real = |x| j.astype::<Complex<f64>, f64>(x);
        let first = j.multiply(j.conj(z)?, real(j.abs(z)?)?)?;
        let second = j.multiply(j.sign(z)?, real(j.angle(z)?)?)?;
        j.add(j.add(first, second)?, j.multiply(real(j.real(z)?)?, j.square(z)?)?)
    };
    let (y, tangent) = jvp(&b, g, &z, &dz)?;
    assert!((y[[0]] - f(x)).norm() < 1e-14);
    let step = 1e-6;
    let slope = (f(x + v * step) - f(x - v * step)) / (2.0 * step);
    assert!((tangent[[0]] - slope).norm() < 1e-8, "{tangent} {slope}");
    Ok(())
}

#[test]
fn constants_and_mistakes() -> Result<()> {
    let b = Numpyish::new();
    let (x, v) = (input(), direction());
    let (_, tangent) = jvp(&b, |j, x| Ok(j.constant(x.value().clone())), &x, &v)?;
    assert_eq!(tangent, b.zeros([3])?);
    let (_, tangent) = jvp(&b, |j, x| j.multiply(x, &j.stop_gradient(x)), &x, &v)?;
    near(&tangent, &b.multiply(&x, &v)?, 1e-15);
    // integers and bools are piecewise constant functions of `x`, so their tangents are zero
    let (_, tangent) = jvp(&b, |j, x| j.astype::<f64, bool>(j.greater(x, 0.0)?), &x, &v)?;
    assert_eq!(tangent, b.zeros([3])?);

    let wrong = jvp(&b, |_, x| Ok(x.clone()), &x, &b.zeros([2])?).unwrap_err();
    assert_eq!(wrong.to_string(), "jvp: shapes [3] and [2] do not fit");
    // `outer` is an array of the outer call of `jvp`, so an op of the inner call refuses it
    let wrong = jvp(&b, |d, outer| jvp(&b, |j, x| j.add(x, outer), &x, &v).map(|(_, t)| d.constant(t)), &x, &v);
    assert!(wrong.unwrap_err().to_string().contains("another derivative"));
    let refused = jvp(&b, |j, x| j.digamma(j.abs(x)?), &x, &v).unwrap_err();
    assert!(refused.to_string().contains("there is no gradient by `x`"), "{refused}");
    // empty arrays
    let none = b.zeros::<f64>([0, 3])?;
    let (y, tangent) = jvp(&b, |j, x| j.softmax(x, 1), &none, &none)?;
    assert_eq!((y.shape(), tangent.shape()), (&[0, 3][..], &[0, 3][..]));
    Ok(())
}

#[test]
fn through_equations() -> Result<()> {
    let b = Numpyish::new();
    // solves x + x^3 / 2 = p for x by Newton's method; if `solves_what_it_is_given` is false, the solver for the
    // derivatives is deliberately wrong
    fn root<B: Backend>(b: &B, p: &B::Array<f64>, solves_what_it_is_given: bool) -> Result<B::Array<f64>> {
        let residual = |b: &B, x: &B::Array<f64>| expr!(b, x + 0.5 * x * *3 - p);
        b.implicit(
            "root",
            |b| {
                let mut x = b.zeros::<f64>(p.shape())?;
                for _ in 0..30 {
                    let r = residual(b, &x)?;
                    expr!(b, x -= r / (1.0 + 1.5 * x * *2))?;
                }
                Ok(x)
            },
            residual,
            // the Jacobian of the equation is diagonal, so its product with a vector of ones is its diagonal
            move |b, map, g| match solves_what_it_is_given {
                true => b.divide(g, map(b, &b.ones_like::<f64>(g)?)?),
                false => b.multiply(g, 5.0),
            },
        )
    }
    let (p, v) = (input(), direction());
    let (x, tangent) = jvp(&b, |j, p| root(j, p, true), &p, &v)?;
    let slope = expr!(&b, v / (1.0 + 1.5 * x * *2))?;
    near(&tangent, &slope, 1e-13);
    let (_, mut back) = vjp(&b, |d, p| root(d, p, true), &p)?;
    near(&back.pull(&v)?, &slope, 1e-13);
    let wrong = jvp(&b, |j, p| root(j, p, false), &p, &v).unwrap_err();
    assert!(wrong.to_string().contains("use `vjp`"), "{wrong}");
    Ok(())
}
