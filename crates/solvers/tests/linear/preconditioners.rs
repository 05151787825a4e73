//! Tests that preconditioners reduce the iterations and do not change the solutions.

use crate::{common::*, on_every_backend, sparse::Triplets};
use backends::{Result, prelude::*};
use backends_solvers::linear::*;

fn on_grids<B: Backend>(b: &B) -> Checked {
    use GridBoundary::{Neumann, Periodic, Zero};
    let grids: [(&[GridBoundary], &[usize], f64); 7] = [
        (&[Zero, Zero], &[64, 64], 0.0),
        (&[Zero, Zero], &[31, 63], 0.0),
        (&[Periodic, Zero], &[32, 48], 0.0),
        (&[Neumann, Periodic], &[32, 64], 1e-3),
        (&[Zero], &[256], 0.1),
        (&[Zero, Neumann, Periodic], &[8, 16, 12], 0.0),
        (&[Zero, Periodic], &[24, 15], 0.0),
    ];
    for (boundaries, shape, shift) in grids {
        let a = Laplacian::new(boundaries.iter().copied()).shift(shift);
        let y = b.asarray(numbers(shape, 71))?;
        let plain = Solve::new().method(Method::Cg).rtol(1e-8).solve(b, &a, &y)?.checked()?;
        let multigrid = Multigrid::new(b, &a, shape)?;
        for method in [Method::Cg, Method::BiCgStab(2), Method::Gmres] {
            let solve = Solve::new().method(method).rtol(1e-8).preconditioner(multigrid.clone());
            let found = solve.solve(b, &a, &y)?.checked()?;
            assert!(found.method.ends_with("with multigrid"));
            near(b, &format!("{} {shape:?}", found.method), &found.x, &plain.x, 1e-5);
            let most = if method == Method::BiCgStab(2) { 8 } else { 22 };
            assert!(found.iterations[0] <= most, "{} {shape:?} {boundaries:?}: {:?}", found.method, found.iterations);
        }
        // the multigrid cycle `M` is symmetric: <u, M v> = <M u, v>
        let (u, v) = (b.asarray(numbers(shape, 72))?, b.asarray(numbers(shape, 73))?);
        let (mu, mv) = (multigrid.apply(b, &u)?, multigrid.apply(b, &v)?);
        let [left, right] = [b.item(expr!(b, sum(u * mv, ..))?)?, b.item(expr!(b, sum(mu * v, ..))?)?];
        assert!((left - right).abs() <= 1e-10 * left.abs().max(1.0), "{shape:?}: {left} and {right}");
    }
    Ok(())
}

#[test]
fn multigrid_makes_iterations_few_on_any_grid() {
    on_every_backend!(on_grids);
}

fn iterations_do_not_grow<B: Backend>(b: &B) -> Checked {
    let a = Laplacian::new([GridBoundary::Zero, GridBoundary::Zero]);
    let count = |n: usize| -> Result<usize> {
        let y = b.asarray(numbers(&[n, n], 74))?;
        let solve = Solve::new().method(Method::Cg).rtol(1e-8).preconditioner(Multigrid::new(b, &a, &[n, n])?);
        Ok(solve.solve(b, &a, &y)?.checked()?.iterations[0])
    };
    let (small, large) = (count(32)?, count(256)?);
    assert!(large <= small + 4, "{small} and {large}");
    Ok(())
}

#[test]
fn multigrid_does_not_mind_the_size() {
    iterations_do_not_grow(&Numpyish::new()).unwrap();
}

fn singular<B: Backend>(b: &B) -> Checked {
    let a = Laplacian::new([GridBoundary::Periodic, GridBoundary::Periodic]);
    let y = b.asarray(numbers(&[2, 32, 32], 75))?;
    let solve = Solve::new().rtol(1e-9).mean_free(true).preconditioner(Multigrid::new(b, &a, &[32, 32])?);
    let found = solve.solve(b, &a, &y)?.checked()?;
    assert!(found.iterations.iter().all(|&n| n < 22), "{:?}", found.iterations);
    let free = b.subtract(&y, b.mean_with(&y, [1, 2], MeanOptions::new().keepdims(true))?)?;
    near(b, "A x", &a.apply(b, &found.x)?, &free, 1e-7);
    Ok(())
}

#[test]
fn multigrid_of_periodic_grids() {
    on_every_backend!(singular);
}

fn of_matrices<B: Backend, T: WideFloat>(b: &B, hermitian: bool) -> Checked {
    let a = Triplets::<T>::convection(12, if hermitian { 0.0 } else { 0.7 }).on(b);
    let y = vector::<B, T>(b, &[2, 144], 81)?;
    let method = if hermitian { Method::Cg } else { Method::BiCgStab(1) };
    let solve = || Solve::new().method(method).rtol(1e-9).max_iter(2000);
    let plain = solve().solve(b, &a, &y)?.checked()?;
    let check = |solve: Solve<'_, B, T>, part: f64| -> Checked {
        let found = solve.solve(b, &a, &y)?.checked()?;
        near(b, &found.method, &found.x, &plain.x, 1e-6);
        let (n, most) = (found.iterations[0], plain.iterations[0]);
        assert!(n as f64 <= part * most as f64, "{}: {n} and {most}", found.method);
        Ok(())
    };
    check(solve().preconditioner(Jacobi::of(b, &a)?), 0.9)?;
    check(solve().preconditioner(IncompleteLu::of(b, &a)?), 0.67)?;
    check(solve().method(Method::Gmres).preconditioner(IncompleteLu::of(b, &a)?), 1.2)?;
    check(solve().method(Method::BiCg).preconditioner(IncompleteLu::of(b, &a)?), 0.67)?;
    check(solve().preconditioner(|b: &B, r: &B::Array<T>| expr!(b, 0.5 * r)), 1.2)?;
    if hermitian {
        check(solve().preconditioner(IncompleteCholesky::of(b, &a)?), 0.67)?;
    }
    Ok(())
}

fn of_every_kind<B: Backend>(b: &B) -> Checked {
    for hermitian in [true, false] {
        of_matrices::<B, f64>(b, hermitian)?;
        of_matrices::<B, Complex<f64>>(b, hermitian)?;
    }
    Ok(())
}

#[test]
fn incomplete_factors_and_jacobi() {
    on_every_backend!(of_every_kind);
}

/// A band matrix has no fill-in, so its incomplete factors are the complete factors.
#[test]
fn incomplete_factors_of_a_band_are_complete() {
    let b = Numpyish::new();
    let line = Triplets::<Complex<f64>>::line(10);
    let y = vector::<_, Complex<f64>>(&b, &[10], 82).unwrap();
    let dense = line.dense(&b);
    let expected = b.solve(&dense, &y).unwrap();
    let lu = IncompleteLu::of(&b, &line.on(&b)).unwrap();
    near(&b, "ILU(0)", &lu.apply(&b, &y).unwrap(), &expected, 1e-13);
    let transposed = b.solve(b.matrix_transpose(&dense).unwrap(), &y).unwrap();
    near(&b, "transposed", &lu.apply_transposed(&b, &y).unwrap().unwrap(), &transposed, 1e-13);
    let cholesky = IncompleteCholesky::of(&b, &line.on(&b)).unwrap();
    near(&b, "IC(0)", &cholesky.apply(&b, &y).unwrap(), &expected, 1e-13);
    near(&b, "transposed", &cholesky.apply_transposed(&b, &y).unwrap().unwrap(), &transposed, 1e-13);
}

#[test]
fn what_preconditioners_refuse() {
    let b = Numpyish::new();
    let csr = |indptr: &[usize], indices: &[usize], values: &[f64]| HostCsr::new([2, 2], indptr, indices, values);
    assert!(csr(&[0, 1], &[0], &[1.0]).is_err());
    assert!(csr(&[0, 1, 2], &[0, 2], &[1.0, 1.0]).is_err());
    assert!(csr(&[0, 2, 1], &[0], &[1.0]).is_err());
    assert!(csr(&[0, 1, 2], &[0, 1], &[1.0]).is_err());
    let summed = csr(&[0, 3, 4], &[1, 0, 1, 1], &[1.0, 2.0, 3.0, 5.0]).unwrap();
    assert_eq!(summed.row(0), (&[0, 1][..], &[2.0, 4.0][..]));
    let why = IncompleteLu::new(&csr(&[0, 1, 2], &[1, 1], &[1.0, 1.0]).unwrap()).unwrap_err().to_string();
    assert!(why.contains("(0, 0)"), "{why}");
    let why = IncompleteLu::new(&csr(&[0, 2, 4], &[0, 1, 0, 1], &[1.0; 4]).unwrap()).unwrap_err().to_string();
    assert!(why.contains("row 1"), "{why}");
    assert!(IncompleteCholesky::new(&csr(&[0, 1, 2], &[0, 1], &[1.0, -1.0]).unwrap()).is_err());
    assert!(IncompleteLu::new(&HostCsr::new([1, 2], &[0, 1], &[0], &[1.0]).unwrap()).is_err());
    let dense = b.eye::<f64>(3).unwrap();
    assert!(IncompleteLu::of(&b, &Dense::<Numpyish, f64>::new(&dense)).is_err());
    let a = Laplacian::new([GridBoundary::Zero]);
    assert!(Multigrid::<Numpyish, f64>::new(&b, &a, &[3, 3]).is_err());
    let multigrid = Multigrid::<Numpyish, f64>::new(&b, &a, &[8]).unwrap();
    let y = b.ones::<f64>([9]).unwrap();
    assert!(Solve::new().preconditioner(multigrid).solve(&b, &a, &y).is_err());
    assert!(Jacobi::<Numpyish, f64>::of(&b, &a).is_err());
}
