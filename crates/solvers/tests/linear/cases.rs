//! Tests of linear solves in several dtypes, of batches and grids, and of solves that fail.

use crate::{common::*, on_every_backend, on_every_backend_and_cuda};
use backends::{Error, prelude::*};
use backends_solvers::linear::{GridBoundary, Laplacian, LinearOperator, MatrixFree, Method, Solve};
use std::ops::ControlFlow;

const ITERATIVE: [Method; 7] = [
    Method::Cg,
    Method::CgAdaptive,
    Method::BiCg,
    Method::BiCgStab(1),
    Method::BiCgStab(2),
    Method::BiCgStab(3),
    Method::Gmres,
];

fn needs_hermitian(method: Method) -> bool {
    matches!(method, Method::Cg | Method::CgAdaptive)
}

/// Solves by each method, in one dtype, and compares the results with the dense solve.
fn methods<B: Backend, T: WideFloat>(b: &B, rtol: f64, tolerance: f64) -> Checked {
    let n = 9;
    let (plain, definite) = (matrix::<B, T>(b, n, 1)?, definite::<B, T>(b, n, 2)?);
    let y = vector::<B, T>(b, &[n], 3)?;
    for method in ITERATIVE {
        let a = if needs_hermitian(method) { &definite } else { &plain };
        let found = Solve::new().method(method).rtol(rtol).restart(5).solve(b, a, &y)?.checked()?;
        near(b, &found.method, &found.x, &b.solve(a, &y)?, tolerance);
        let r = b.subtract(&y, b.matmul(a, &found.x)?)?;
        let length = b.item(b.vector_norm(r)?)?.to_f64();
        assert!(length <= 2.0 * found.tolerance[0], "{}: {length} and {}", found.method, found.tolerance[0]);
    }
    let found = Solve::new().solve(b, &plain, &y)?.checked()?;
    assert_eq!((found.method.as_str(), found.iterations[0]), ("direct", 0));
    near(b, "direct", &found.x, &b.solve(&plain, &y)?, tolerance);
    Ok(())
}

fn in_every_dtype<B: Backend>(b: &B) -> Checked {
    methods::<B, f64>(b, 1e-11, 1e-9)?;
    methods::<B, f32>(b, 1e-5, 1e-3)?;
    methods::<B, Complex<f64>>(b, 1e-11, 1e-9)?;
    methods::<B, Complex<f32>>(b, 1e-5, 1e-3)
}

#[test]
fn all_methods_in_all_dtypes() {
    on_every_backend!(in_every_dtype);
}

fn batches<B: Backend>(b: &B) -> Checked {
    let n = 7;
    let (plain, definite) = (matrix::<B, f64>(b, n, 11)?, definite::<B, f64>(b, n, 12)?);
    let y = vector::<B, f64>(b, &[2, 3, n], 13)?;
    // right sides of different sizes: one is zero (solved at the start), one is large, one is small, and one is NaN
    let scale = b.reshape(b.asarray([1.0, 0.0, 1e6, 1.0, f64::NAN, 1e-6])?, [2, 3, 1])?;
    let y = b.multiply(y, scale)?;
    for method in ITERATIVE {
        let a = if needs_hermitian(method) { &definite } else { &plain };
        let solve = || Solve::new().method(method).rtol(1e-9).restart(4).history(true);
        let found = solve().solve(b, a, &y)?;
        assert_eq!(found.converged, [true, true, true, true, false, true], "{}", found.method);
        assert_eq!(found.diverged, [false, false, false, false, true, false], "{}", found.method);
        assert_eq!((found.iterations[1], found.iterations[4]), (0, 0));
        for item in 0..6_usize {
            let yi = b.get(&y, ix![item / 3, item % 3])?;
            let one = solve().solve(b, a, &yi)?;
            assert_eq!(one.iterations[0], found.iterations[item], "{} {item}", found.method);
            assert_eq!(found.history[item].len(), found.iterations[item] + 1, "{} {item}", found.method);
            let xi = b.get(&found.x, ix![item / 3, item % 3])?;
            match item {
                1 => assert_eq!(b.to_vec(xi)?, vec![0.0; n]),
                4 => assert!(one.diverged[0]),
                _ => near(b, &found.method, &xi, &b.solve(a, &yi)?, 1e-7),
            }
        }
        let why = found.checked().unwrap_err().to_string();
        assert!(why.contains("diverged") && why.contains("system 4 of 6"), "{why}");
    }
    // a stack of matrices, each with its own right sides
    let stack = b.stack([&plain, &definite])?;
    let y = vector::<B, f64>(b, &[2, n], 14)?;
    let direct = Solve::new().solve(b, &stack, &y)?.into_x()?;
    let iterated = Solve::new().method(Method::Gmres).rtol(1e-11).solve(b, &stack, &y)?.into_x()?;
    near(b, "matrices", &iterated, &direct, 1e-8);
    near(b, "the second", &b.get(&direct, ix![1])?, &b.solve(&definite, b.get(&y, ix![1])?)?, 1e-12);
    Ok(())
}

#[test]
fn every_system_of_a_batch_is_its_own() {
    on_every_backend!(batches);
}

fn grids<B: Backend>(b: &B) -> Checked {
    use GridBoundary::{Neumann, Periodic, Zero};
    // a three-dimensional operator with mixed boundaries and spacings, compared with explicit loops
    let a = Laplacian::new([Zero, Periodic, Neumann]).spacing(&[0.5, 1.0, 2.0])?.shift(0.25);
    let v = numbers(&[2, 3, 4, 5], 21);
    let found = host(b, &a.apply(b, &b.asarray(v.clone())?)?);
    for (at, value) in found.indexed_iter() {
        let at = [at[0], at[1], at[2], at[3]];
        let moved = |axis: usize, by: isize| {
            let n = v.shape()[axis] as isize;
            let to = at[axis] as isize + by;
            let mut at = at;
            match (axis, (0..n).contains(&to)) {
                (_, true) => at[axis] = to as usize,
                (1, false) => return 0.0,
                (2, false) => at[axis] = to.rem_euclid(n) as usize,
                _ => {}
            }
            v[at]
        };
        let part = |axis: usize, h: f64| (moved(axis, -1) - 2.0 * v[at] + moved(axis, 1)) / (h * h);
        let expected = part(1, 0.5) + part(2, 1.0) + part(3, 2.0) - 0.25 * v[at];
        assert!((value - expected).abs() < 1e-13, "{at:?}: {value} and {expected}");
    }
    // the sparse matrix of the operator `a` gives the same products as `a` itself
    let csr = a.to_csr::<B, f64>(b, &[3, 4, 5])?;
    let rows = b.reshape(b.asarray(v.clone())?, [2, 60])?;
    let product = b.reshape(csr.apply(b, &rows)?, [2, 3, 4, 5])?;
    near(b, "matrix", &product, &a.apply(b, &b.asarray(v.clone())?)?, 1e-14);
    for (boundary, n) in [(Periodic, 1), (Periodic, 2), (Neumann, 1), (Zero, 1)] {
        let line = Laplacian::new([boundary]);
        let x = b.asarray(numbers(&[n], 23))?;
        let (product, expected) = (line.to_csr::<B, f64>(b, &[n])?.apply(b, &x)?, line.apply(b, &x)?);
        assert!(b.allclose(&product, &expected)?, "{boundary:?} {n}: {product:?} and {expected:?}");
    }
    assert!(a.to_csr::<B, f64>(b, &[3]).is_err() && a.apply(b, &b.zeros::<f64>([3])?).is_err());
    assert!(Laplacian::new([Zero]).spacing(&[0.0]).is_err() && Laplacian::new([Zero]).spacing(&[1.0, 1.0]).is_err());
    // a batch of grids; the second solve starts at the solution, so it takes no iterations
    let y = b.asarray(numbers(&[2, 3, 4, 5], 22))?;
    let solve = || Solve::new().rtol(1e-9);
    let first = solve().solve(b, &a, &y)?.checked()?;
    assert_eq!((first.method.as_str(), first.iterations.len()), ("CG", 2));
    let again = solve().rtol(1e-8).x0(&first.x).solve(b, &a, &y)?.checked()?;
    assert_eq!(again.iterations, [0, 0]);
    near(b, "A x", &a.apply(b, &first.x)?, &y, 1e-8);
    Ok(())
}

#[test]
fn grids_of_three_dimensions() {
    on_every_backend!(grids);
}

/// Solves Poisson's equation with periodic and Neumann boundaries, which is singular: constants are in its null space.
fn singular<B: Backend>(b: &B) -> Checked {
    let a = Laplacian::new([GridBoundary::Periodic, GridBoundary::Neumann]);
    let y = b.asarray(numbers(&[8, 6], 31))?;
    let mean = b.mean(&y, ..)?;
    let free = b.subtract(&y, &mean)?;
    for method in [Method::Cg, Method::CgAdaptive, Method::BiCgStab(2), Method::Gmres] {
        // the mean of this right side is 0, so the system has a solution
        let x = Solve::new().method(method).rtol(1e-9).solve(b, &a, &free)?.into_x()?;
        near(b, "A x", &a.apply(b, &x)?, &free, 1e-7);
        // `mean_free` subtracts the mean of the right side, so that the system has a solution
        let found = Solve::new().method(method).rtol(1e-9).mean_free(true).solve(b, &a, &y)?.checked()?;
        near(b, "A x", &a.apply(b, &found.x)?, &free, 1e-7);
        assert!(b.item(b.mean(&found.x, ..)?)?.abs() < 1e-12);
        // without `mean_free`, a right side whose mean is not 0 has no solution
        let lost = Solve::new().method(method).rtol(1e-9).max_iter(200).solve(b, &a, &y)?;
        assert!(!lost.is_converged(), "{}", lost.method);
        assert!(lost.into_x().is_err());
    }
    Ok(())
}

#[test]
fn constants_that_have_no_product() {
    on_every_backend!(singular);
}

fn hard<B: Backend>(b: &B) -> Checked {
    let n = 5;
    let a = definite::<B, f64>(b, n, 41)?;
    let y = vector::<B, f64>(b, &[n], 42)?;
    for method in ITERATIVE {
        let solve = || Solve::new().method(method);
        // no iterations are allowed
        let found = solve().max_iter(0).solve(b, &a, &y)?;
        assert_eq!((found.converged[0], found.diverged[0], found.iterations[0]), (false, false, 0));
        assert_eq!(b.to_vec(&found.x)?, vec![0.0; n]);
        let why = found.into_x().unwrap_err().to_string();
        assert!(
            why.starts_with("Solve: ") && why.contains("did not converge") && why.contains("after 0 iterations"),
            "{why}"
        );
        // a right side of zeros, with tolerances of 0
        let zeros = b.zeros::<f64>([n])?;
        let found = solve().rtol(0.0).solve(b, &a, &zeros)?.checked()?;
        assert_eq!((found.iterations[0], b.to_vec(found.x)?), (0, vec![0.0; n]));
        // the same right side, but a nonzero start: the iteration must return to zero
        let found = solve().rtol(0.0).atol(1e-9).x0(&y).solve(b, &a, &zeros)?.checked()?;
        assert!(b.item(b.max(b.abs(found.x)?, ..)?)? < 1e-8 && found.iterations[0] > 0);
        // an operator of zeros, and an operator of NaN
        let found = solve().max_iter(20).solve(b, &b.zeros::<f64>([n, n])?, &y)?;
        assert!(!found.is_converged() && !b.any(b.isnan(found.x)?, ..).and_then(|x| b.item(x))?, "{}", found.method);
        let found = solve().solve(b, &b.full::<f64>([n, n], f64::NAN)?, &y)?;
        assert!(found.diverged[0], "{}", found.method);
        // a system without unknowns, and an empty batch
        let nothing = b.zeros::<f64>([0, 0])?;
        let found = solve().solve(b, &nothing, &b.zeros::<f64>([0])?)?.checked()?;
        assert_eq!(found.x.shape(), [0]);
        let found = solve().solve(b, &a, &b.zeros::<f64>([0, n])?)?.checked()?;
        assert_eq!((found.x.shape(), found.converged.len()), (&[0, n][..], 0));
        // an operator that is not square
        let wide = b.zeros::<f64>([n, n + 1])?;
        let why = solve().solve(b, &wide, &y).unwrap_err().to_string();
        assert!(why.contains("not square"), "{why}");
        let why = solve().solve_matrix_free(b, |b, x| b.get(x, ix![1..]), &y).err().map(|why| why.to_string());
        assert!(why.is_some_and(|why| why.contains("[4]") || why.contains("conjugate transpose")));
        // arguments of wrong sizes, and invalid tolerances
        let why = solve().solve(b, &a, &b.zeros::<f64>([n + 1])?).unwrap_err();
        assert_eq!(why, Error::shapes("Solve", &[n, n], &[n + 1]));
        let why = solve().x0(&b.zeros::<f64>([n + 1])?).solve(b, &a, &y).unwrap_err();
        assert_eq!(why, Error::shapes("Solve", &[n + 1], &[n]));
        for (rtol, atol) in [(-1.0, 0.0), (0.0, f64::NAN)] {
            assert!(solve().rtol(rtol).atol(atol).solve(b, &a, &y).is_err());
        }
        assert!(solve().batch_ndim(2).solve(b, &a, &y).is_err());
        assert!(solve().solve(b, &a, &b.asarray(1.0)?).is_err());
    }
    assert!(Solve::new().method(Method::BiCgStab(0)).solve(b, &a, &y).is_err());
    assert!(Solve::new().method(Method::Gmres).restart(0).solve(b, &a, &y).is_err());
    let singular = Solve::new().solve(b, &b.zeros::<f64>([n, n])?, &y).unwrap_err().to_string();
    assert!(singular.contains("singular"), "{singular}");
    assert!(Solve::new().method(Method::Direct).solve_matrix_free(b, |_, x| Ok(x.clone()), &y).is_err());
    assert!(Solve::new().method(Method::BiCg).solve_matrix_free(b, |_, x| Ok(x.clone()), &y).is_err());
    Ok(())
}

#[test]
fn what_goes_wrong_is_said() {
    on_every_backend!(hard);
}

fn diverging<B: Backend>(b: &B) -> Checked {
    // conjugate gradients fail, because the matrix is not symmetric
    let a = b.asarray([[0.0, 1.0, 0.0], [-1.0, 0.0, 3.0], [0.0, -3.0, 0.01]])?;
    let found = Solve::new().method(Method::Cg).rtol(1e-12).solve(b, &a, &b.asarray([1.0, 2.0, 3.0])?)?;
    assert!(!found.is_converged() && found.into_x().is_err());
    // methods for general matrices solve the same system
    for method in [Method::BiCgStab(2), Method::Gmres, Method::BiCg] {
        let found = Solve::new().method(method).rtol(1e-10).solve(b, &a, &b.asarray([1.0, 2.0, 3.0])?)?;
        near(b, &found.method, &found.x, &b.solve(&a, b.asarray([1.0, 2.0, 3.0])?)?, 1e-6);
    }
    Ok(())
}

#[test]
fn methods_that_do_not_fit_the_operator_say_so() {
    on_every_backend!(diverging);
}

fn callbacks<B: Backend>(b: &B) -> Checked {
    let a = Laplacian::new([GridBoundary::Zero]);
    let y = b.ones::<f64>([40])?;
    let mut seen = vec![];
    let solve = Solve::new().method(Method::Cg).rtol(1e-10).callback(|p| {
        seen.push((p.iteration, p.residual[0], p.x.is_some()));
        if p.iteration == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let found = solve.solve(b, &a, &y)?;
    drop(solve);
    assert_eq!((found.iterations[0], found.converged[0], found.diverged[0]), (5, false, false));
    assert_eq!(seen.len(), 5);
    assert!(seen.iter().enumerate().all(|(k, &(iteration, _, has_x))| iteration == k + 1 && has_x));
    assert_eq!(seen[4].1, found.residual[0]);
    Ok(())
}

#[test]
fn callbacks_see_every_iteration_and_may_stop() {
    on_every_backend!(callbacks);
}

fn least_squares<B: Backend>(b: &B) -> Checked {
    let (tall, wide) = (b.asarray(numbers(&[9, 4], 51))?, b.asarray(numbers(&[4, 9], 52))?);
    for (a, rows) in [(&tall, 9), (&wide, 4)] {
        let y = b.asarray(numbers(&[rows], 53))?;
        let dense = Solve::new().solve(b, a, &y)?.checked()?;
        let adjoint = b.matrix_transpose(a)?;
        let free = MatrixFree::new(|b: &B, x| b.matmul(a, x)).adjoint(|b: &B, y| b.matmul(&adjoint, y));
        let found = Solve::new().method(Method::LeastSquares).rtol(1e-12).solve(b, &free, &y)?.checked()?;
        // the iteration starts at zero, so it finds the solution of least norm
        near(b, "least squares", &found.x, &dense.x, 1e-9);
        assert!((found.residual[0] - dense.residual[0]).abs() < 1e-9, "{:?} {:?}", found.residual, dense.residual);
        let why = Solve::new().method(Method::LeastSquares).solve_matrix_free(b, |b, x| b.matmul(a, x), &y);
        assert!(why.unwrap_err().to_string().contains("conjugate transpose"));
    }
    // a batch of two systems, whose operator sums a grid of 2 by 3 unknowns along its last axis
    let operator = MatrixFree::new(|b: &B, x: &B::Array<f64>| b.sum(x, -1)).adjoint(|b: &B, y: &B::Array<f64>| {
        let y = b.expand_dims(y, -1)?;
        let [m, n] = [y.shape()[0], y.shape()[1]];
        b.broadcast_to(y, [m, n, 3])
    });
    let y = b.asarray([[3.0, 6.0], [0.0, 9.0]])?;
    let found =
        Solve::new().method(Method::LeastSquares).batch_ndim(1).rtol(1e-12).solve(b, &operator, &y)?.checked()?;
    assert_eq!((found.x.shape(), found.residual.len()), (&[2, 2, 3][..], 2));
    near(b, "thirds", &found.x, &b.broadcast_to(b.expand_dims(b.divide(&y, 3.0)?, -1)?, [2, 2, 3])?, 1e-12);
    Ok(())
}

#[test]
fn least_squares_by_both_ways() {
    on_every_backend!(least_squares);
}

/// Runs a few iterations of most methods on a system that is small enough for the software device.
fn reduced<B: Backend>(b: &B) -> Checked {
    let a = definite::<B, f64>(b, 4, 61)?;
    let y = vector::<B, f64>(b, &[2, 4], 62)?;
    let expected = b.matrix_transpose(b.solve(&a, b.matrix_transpose(&y)?)?)?;
    for method in [Method::Cg, Method::CgAdaptive, Method::BiCg, Method::BiCgStab(2), Method::Gmres] {
        let found = Solve::new().method(method).rtol(1e-10).solve(b, &a, &y)?.checked()?;
        near(b, &found.method, &found.x, &expected, 1e-8);
    }
    let line = Laplacian::new([GridBoundary::Zero]).shift(1.0);
    let y = b.asarray(numbers(&[8], 63))?;
    let x = Solve::new().rtol(1e-10).solve(b, &line, &y)?.into_x()?;
    near(b, "A x", &line.apply(b, &x)?, &y, 1e-9);
    let scaled = Solve::new().rtol(1e-10).method(Method::Cg).solve_matrix_free(b, |b, x| expr!(b, 2.0 * x), &y)?;
    assert_eq!(scaled.iterations, [1]);
    Ok(())
}

#[test]
fn on_a_device() {
    on_every_backend_and_cuda!(reduced);
}
