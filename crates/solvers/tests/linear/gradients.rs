//! Gradients of solutions, compared with the gradients of the dense solve and with finite differences.

use crate::{common::*, on_every_backend};
use backends::{
    Result,
    grad::{self, grad, hessian, vjp},
    prelude::*,
};
use backends_solvers::linear::*;

const METHODS: [Method; 7] = [
    Method::Cg,
    Method::CgAdaptive,
    Method::BiCg,
    Method::BiCgStab(1),
    Method::BiCgStab(2),
    Method::Gmres,
    Method::Direct,
];

/// Solves by the given method, or by the op `solve` if `method` is `None`.
fn solved<B: Backend, T: WideFloat>(
    b: &B,
    method: Option<Method>,
    a: &B::Array<T>,
    y: &B::Array<T>,
) -> Result<B::Array<T>> {
    match method {
        Some(method) => Solve::new().method(method).rtol(1e-13).solve(b, a, y)?.into_x(),
        None if y.ndim() == 1 => b.solve(a, y),
        None => b.matrix_transpose(b.solve(a, b.matrix_transpose(y)?)?),
    }
}

fn symmetric<B: Backend, T: WideFloat>(b: &B, a: &B::Array<T>) -> Result<B::Array<T>> {
    b.matmul(a, b.matrix_transpose(b.conj(a)?)?)
}

fn by_all<B: Backend, T: WideFloat>(b: &B) -> Checked {
    let n = 5;
    let a = matrix::<B, T>(b, n, 101)?;
    for shape in [&[n][..], &[3, n]] {
        let (y, weights) = (vector::<B, T>(b, shape, 102)?, vector::<B, T>(b, shape, 103)?);
        let gradients = |method: Option<Method>| -> Result<(B::Array<T>, B::Array<T>)> {
            let f = |d: &grad::Diff<B>, (a, y): &(grad::Var<B, T>, grad::Var<B, T>)| {
                let a = if matches!(method, Some(Method::Cg | Method::CgAdaptive) | None) {
                    symmetric::<_, T>(d, a)?
                } else {
                    a.clone()
                };
                let x = solved::<_, T>(d, method, &a, y)?;
                d.multiply(&x, &x)
            };
            vjp(b, f, (&a, &y))?.1.pull(&weights)
        };
        let plain = |a: &B::Array<T>| -> Result<(B::Array<T>, B::Array<T>)> {
            let f = |d: &grad::Diff<B>, (a, y): &(grad::Var<B, T>, grad::Var<B, T>)| {
                let x = solved::<_, T>(d, None, a, y)?;
                d.multiply(&x, &x)
            };
            vjp(b, f, (a, &y))?.1.pull(&weights)
        };
        for method in METHODS {
            let (by_a, by_y) = gradients(Some(method))?;
            let expected =
                if matches!(method, Method::Cg | Method::CgAdaptive) { gradients(None)? } else { plain(&a)? };
            near(b, &format!("{method:?} by the right side"), &by_y, &expected.1, 1e-9);
            near(b, &format!("{method:?} by the matrix"), &by_a, &expected.0, 1e-9);
        }
    }
    Ok(())
}

fn real_and_complex<B: Backend>(b: &B) -> Checked {
    by_all::<B, f64>(b)?;
    by_all::<B, Complex<f64>>(b)
}

#[test]
fn gradients_are_those_of_the_dense_solve() {
    on_every_backend!(real_and_complex);
}

/// Solves `laplace(x) - field * x = y` on a grid, and returns the sum of the cubes of the solution's elements.
fn energy<B: Backend>(b: &B, field: &B::Array<f64>, y: &B::Array<f64>, preconditioned: bool) -> Result<B::Array<f64>> {
    let laplacian = Laplacian::new([GridBoundary::Zero, GridBoundary::Periodic]);
    let mut solve = Solve::new().method(Method::Cg).rtol(1e-12);
    if preconditioned {
        solve = solve.preconditioner(Multigrid::new(b, &laplacian, &[4, 8])?);
    }
    let x = solve.solve_matrix_free(
        b,
        |b, x| {
            let lx = laplacian.apply(b, x)?;
            expr!(b, lx - field * x)
        },
        y,
    )?;
    let x = x.into_x()?;
    expr!(b, sum(x * x * x, ..))
}

fn of_what_is_closed_over<B: Backend>(b: &B) -> Checked {
    let field = b.abs(b.asarray(numbers(&[4, 8], 111))?)?;
    let y = b.asarray(numbers(&[4, 8], 112))?;
    for preconditioned in [false, true] {
        let (by_field, by_y) = grad(b, |d, (field, y)| energy(d, field, y, preconditioned), (&field, &y))?;
        let (u, v) = (b.asarray(numbers(&[4, 8], 113))?, b.asarray(numbers(&[4, 8], 114))?);
        let h = 1e-4;
        let at = |h: f64| -> Result<f64> {
            b.item(energy(b, &expr!(b, field + h * u)?, &expr!(b, y + h * v)?, preconditioned)?)
        };
        let difference = (at(h)? - at(-h)?) / (2.0 * h);
        let along = b.item(expr!(b, sum(by_field * u + by_y * v, ..))?)?;
        assert!((along - difference).abs() < 1e-6 * difference.abs(), "{along} and {difference}");
    }
    Ok(())
}

#[test]
fn gradients_by_what_the_operator_closes_over() {
    on_every_backend!(of_what_is_closed_over);
}

fn second<B: Backend>(b: &B) -> Checked {
    let a = definite::<B, f64>(b, 3, 121)?;
    let y = vector::<B, f64>(b, &[3], 122)?;
    let u = vector::<B, f64>(b, &[3], 123)?;
    for method in METHODS {
        // second derivatives with respect to the numbers `s` and `t`: the matrix is `a + s^2` times the identity, and
        // the right side is `y + t^2 u`
        let along = |d: &grad::Diff<grad::Diff<B>>, z: &grad::Var<grad::Diff<B>, f64>, method: Option<Method>| {
            let constant = |x: &B::Array<f64>| d.constant(d.within().constant(x.clone()));
            let (a, y, u) = (constant(&a), constant(&y), constant(&u));
            let (s, t) = (d.get(z, ix![0])?, d.get(z, ix![1])?);
            let identity = d.eye::<f64>(3)?;
            let matrix = expr!(d, a + s * s * identity)?;
            let right = expr!(d, y + t * t * u)?;
            let x = solved::<_, f64>(d, method, &matrix, &right)?;
            expr!(d, sum(x * x * x, ..))
        };
        let z = b.asarray([0.7, 1.3])?;
        let found = hessian(b, |d, z| along(d, z, Some(method)), &z)?;
        let expected = hessian(b, |d, z| along(d, z, None), &z)?;
        near(b, &format!("{method:?}"), &found, &expected, 1e-8);
    }
    Ok(())
}

#[test]
fn gradients_of_gradients() {
    on_every_backend!(second);
}

fn least_squares<B: Backend>(b: &B) -> Checked {
    let a = b.asarray(numbers(&[7, 3], 131))?;
    let y = b.asarray(numbers(&[7], 132))?;
    let value = |method_free: bool| -> Result<(B::Array<f64>, B::Array<f64>)> {
        grad(
            b,
            |d, (a, y)| {
                let x = if method_free {
                    let adjoint = d.matrix_transpose(a)?;
                    let operator = MatrixFree::new(|b: &grad::Diff<B>, x| b.matmul(a, x))
                        .adjoint(|b: &grad::Diff<B>, y| b.matmul(&adjoint, y));
                    Solve::new().method(Method::LeastSquares).rtol(1e-13).solve(d, &operator, y)?.into_x()?
                } else {
                    Solve::new().solve(d, a, y)?.into_x()?
                };
                expr!(d, sum(x * x * x, ..))
            },
            (&a, &y),
        )
    };
    let (free, dense) = (value(true)?, value(false)?);
    near(b, "by the matrix", &free.0, &dense.0, 1e-9);
    near(b, "by the right side", &free.1, &dense.1, 1e-9);
    Ok(())
}

#[test]
fn gradients_of_least_squares() {
    on_every_backend!(least_squares);
}

fn mean_free<B: Backend>(b: &B) -> Checked {
    let a = Laplacian::new([GridBoundary::Periodic, GridBoundary::Periodic]);
    let y = b.asarray(numbers(&[4, 6], 141))?;
    let f = |d: &grad::Diff<B>, y: &grad::Var<B, f64>| {
        let x = Solve::new().rtol(1e-12).mean_free(true).solve(d, &a, y)?.into_x()?;
        expr!(d, sum(x * x * x, ..))
    };
    let g = grad(b, f, &y)?;
    // the exact gradient, from the eigenvalues of the Laplacian
    let waves =
        |n: usize| (0..n).map(|k| 2.0 * (std::f64::consts::TAU * k as f64 / n as f64).cos() - 2.0).collect::<Vec<_>>();
    let eigenvalues: Vec<f64> = waves(4).iter().flat_map(|x| waves(6).into_iter().map(move |y| x + y)).collect();
    let inverse: Vec<Complex<f64>> =
        eigenvalues.iter().map(|&e| Complex::new(if e.abs() < 1e-9 { 0.0 } else { 1.0 / e }, 0.0)).collect();
    let inverse = b.reshape(b.from_iter(inverse)?, [4, 6])?;
    let exact = grad(
        b,
        |d, y| {
            let spectrum = d.multiply(d.fftn(d.complex(y, 0.0)?)?, &d.constant(inverse.clone()))?;
            let x = d.real(d.ifftn(spectrum)?)?;
            expr!(d, sum(x * x * x, ..))
        },
        &y,
    )?;
    near(b, "gradient", &g, &exact, 1e-8);
    Ok(())
}

#[test]
fn gradients_of_mean_free_solutions() {
    on_every_backend!(mean_free);
}

#[test]
fn a_way_back_that_does_not_converge_is_an_error() {
    let b = Numpyish::new();
    let a = Laplacian::new([GridBoundary::Zero]);
    let y = b.asarray(numbers(&[64], 151)).unwrap();
    let why = grad(
        &b,
        |d, y| {
            let x = Solve::new().rtol(1e-9).gradient_max_iter(3).solve(d, &a, y)?.into_x()?;
            d.sum(x, ..)
        },
        &y,
    );
    let why = why.unwrap_err().to_string();
    assert!(why.contains("transposed") && why.contains("after 3 iterations"), "{why}");
}
