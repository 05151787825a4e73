//! Checks that the reports of a solution are true: the residual, convergence at any scale, and the reason for stopping.

use crate::{common::*, on_every_backend};
use backends::{Result, grad::grad, prelude::*};
use backends_solvers::{
    linear::*,
    sparse::{Coo, Csr},
};

const METHODS: [Method; 8] = [
    Method::Cg,
    Method::CgAdaptive,
    Method::BiCg,
    Method::BiCgStab(1),
    Method::BiCgStab(2),
    Method::BiCgStab(4),
    Method::Gmres,
    Method::Minres,
];

fn csr<B: Backend, T: WideFloat>(b: &B, a: &[&[f64]]) -> Result<Csr<B, T>> {
    let elements = a
        .iter()
        .enumerate()
        .flat_map(|(i, row)| row.iter().enumerate().map(move |(j, &v)| (i, j, T::from_real(T::Real::of(v)))));
    Coo::from_triplets(b, elements.filter(|(.., v)| *v != T::ZERO).collect::<Vec<_>>(), [a.len(), a[0].len()])?
        .to_csr(b)
}

/// `|y - A x|`, computed in double precision.
fn distance<B: Backend, T: WideFloat>(
    b: &B,
    a: &dyn LinearOperator<B, f64>,
    x: &B::Array<T>,
    y: &[f64],
) -> Result<f64> {
    let x64: Vec<f64> = b.to_vec::<T>(x)?.into_iter().map(|x| x.real().to_f64()).collect();
    let ax = b.to_vec::<f64>(&a.apply(b, &b.reshape(b.from_iter(x64)?, x.shape())?)?)?;
    Ok(ax.iter().zip(y).map(|(ax, y)| (y - ax).powi(2)).sum::<f64>().sqrt())
}

fn skew<B: Backend>(b: &B) -> Checked {
    let rows: [&[f64]; 4] = [&[0., -3., -1., 1.], &[3., 0., -5., -3.], &[1., 5., 0., 4.], &[-1., 3., -4., 0.]];
    let a = csr::<B, f64>(b, &rows)?;
    let y = [1.0, 2.0, 3.0, 1.0];
    for method in
        [Method::Auto, Method::BiCg, Method::BiCgStab(1), Method::BiCgStab(2), Method::BiCgStab(3), Method::Gmres]
    {
        let found = Solve::new().method(method).rtol(1e-9).solve(b, &a, &b.asarray(y)?)?;
        let truth = distance(b, &a, &found.x, &y)?;
        assert!(
            (truth - found.residual[0]).abs() < 1e-12 + 1e-6 * truth,
            "{}: {truth} {:?}",
            found.method,
            found.residual
        );
        assert_eq!(found.converged[0], found.residual[0] <= found.tolerance[0], "{}", found.method);
        assert!(found.is_converged() || method == Method::BiCgStab(1), "{}: {:?}", found.method, found.reason);
    }
    Ok(())
}

#[test]
fn skew_symmetric_systems() {
    on_every_backend!(skew);
}

fn single_precision<B: Backend>(b: &B) -> Checked {
    use GridBoundary::Zero;
    let a = Laplacian::new([Zero, Zero]);
    for (n, methods) in [(32, &METHODS[..]), (64, &[Method::BiCgStab(2), Method::Cg])] {
        let numbers: Vec<f64> = numbers(&[n, n], 7).iter().map(|&x| f64::from(x as f32)).collect();
        let y = b.reshape(b.from_iter(numbers.iter().map(|&x| x as f32))?, [n, n])?;
        for &method in methods {
            let found = Solve::new().method(method).rtol(1e-5).max_iter(1000).solve(b, &a, &y)?;
            let truth = distance(b, &a, &found.x, &numbers)?;
            assert_eq!(found.converged[0], found.residual[0] <= found.tolerance[0]);
            assert!((truth / found.residual[0] - 1.0).abs() < 0.5, "{} {n}: {truth} {found:?}", found.method);
            if found.converged[0] {
                assert!(truth < 1.3 * found.tolerance[0], "{} {n}: {truth} of {:?}", found.method, found.tolerance);
            }
        }
        // a solve with a tolerance below the dtype's precision ends soon, with stagnation
        let found = Solve::new().method(Method::Cg).rtol(1e-12).max_iter(100_000).solve(b, &a, &y)?;
        assert_eq!(found.reason, [Reason::Stagnation]);
        assert!(found.iterations[0] < 30 * n, "{:?}", found.iterations);
    }
    Ok(())
}

#[test]
fn residuals_in_single_precision_are_true() {
    single_precision(&Numpyish::new()).unwrap();
}

fn scaled<B: Backend, T: WideFloat>(b: &B, scales: &[f64], tolerance: f64) -> Checked {
    let rows: [&[f64]; 2] = [&[4., 1.], &[1., 3.]];
    let number = |x: f64| T::from_real(T::Real::of(x));
    for method in METHODS.into_iter().chain([Method::Direct, Method::LeastSquares]) {
        for &size in scales {
            for (of_a, of_y) in [(1.0, size), (size, 1.0), (size, size)] {
                let scaled: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|v| v * of_a).collect()).collect();
                let a = csr::<B, T>(b, &scaled.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
                // a batch of two right sides of different magnitudes
                let y = b.from_iter([of_y, 2.0 * of_y, 1.0 / of_a.clamp(1e-3, 1.0), 0.0].map(number))?;
                let y = b.reshape(y, [2, 2])?;
                let found = Solve::new().method(method).rtol(1e-6).solve(b, &a, &y)?;
                let x = b.to_vec::<T>(&found.x)?;
                let what = format!("{} {of_a:e} {of_y:e}: {x:?} {:?}", found.method, found.reason);
                assert!(found.converged[0], "{what}");
                for (x, expected) in x.iter().zip([1.0 / 11.0, 7.0 / 11.0]) {
                    let expected = expected * (of_y / of_a);
                    assert!((x.real().to_f64() / expected - 1.0).abs() < tolerance, "{what}");
                }
            }
        }
    }
    Ok(())
}

fn of_all_scales<B: Backend>(b: &B) -> Checked {
    scaled::<B, f32>(b, &[1e-30, 1e-23, 1e-21, 1e19, 1e30], 1e-4)?;
    scaled::<B, Complex<f32>>(b, &[1e-23, 1e19], 1e-4)?;
    scaled::<B, f64>(b, &[1e-170, 1e155, 1e-290, 1e290], 1e-5)
}

#[test]
fn systems_of_all_scales() {
    on_every_backend!(of_all_scales);
}

fn tiny_gradients<B: Backend>(b: &B) -> Checked {
    let a = csr::<B, f32>(b, &[&[4., 1.], &[1., 3.]])?;
    let y = b.asarray([1.0_f32, 2.0])?;
    for method in METHODS.into_iter().chain([Method::Direct]) {
        let g = grad(
            b,
            |d, y| {
                let x = Solve::new().method(method).rtol(1e-6).solve(d, &a.constant_on(d), y)?.into_x()?;
                expr!(d, 1e-30 * sum(x, ..))
            },
            &y,
        )?;
        let g = b.to_vec::<f32>(&g)?;
        assert!(
            (g[0] / (2e-30 / 11.0) - 1.0).abs() < 1e-4 && (g[1] / (3e-30 / 11.0) - 1.0).abs() < 1e-4,
            "{method:?} {g:?}"
        );
    }
    Ok(())
}

#[test]
fn gradients_of_tiny_losses() {
    on_every_backend!(tiny_gradients);
}

fn breakdowns<B: Backend>(b: &B) -> Checked {
    let y = vector::<B, f64>(b, &[6], 3)?;
    for method in METHODS.into_iter().chain([Method::LeastSquares]) {
        let zeros = MatrixFree::new(|b: &B, x| b.multiply(x, 0.0)).hermitian();
        let found = Solve::new().method(method).max_iter(1000).solve(b, &zeros, &y)?;
        if method == Method::LeastSquares {
            // the operator is 0, so all unknowns have the same residual, and any unknowns are a least-squares solution
            assert!(found.is_converged());
            continue;
        }
        assert!(found.iterations[0] < 20 && !found.is_converged() && !found.diverged[0], "{found:?}");
        assert!(
            matches!(found.reason[0], Reason::Breakdown(_) | Reason::Stagnation | Reason::Inconsistent),
            "{found:?}"
        );
        let why = found.into_x().err().map(|why| why.to_string()).unwrap_or_default();
        assert!(why.contains("did not converge ("), "{why}");
    }
    // if the operator is a cyclic shift and the right side a unit vector, biCG-stab may find no step
    let n = 50;
    let shift = MatrixFree::new(|b: &B, x| b.roll(x, 1, -1));
    let unit = b.from_iter((0..n).map(|i| if i == 0 { 1.0 } else { 0.0 }))?;
    let found = Solve::new().method(Method::BiCgStab(2)).max_iter(4000).solve(b, &shift, &unit)?;
    assert!(found.is_converged() || found.iterations[0] < 400, "{found:?}");
    assert_eq!(found.converged[0], found.residual[0] <= found.tolerance[0]);
    Ok(())
}

#[test]
fn breakdowns_end_at_once() {
    on_every_backend!(breakdowns);
}

fn indefinite<B: Backend, T: WideFloat>(b: &B, rtol: f64) -> Checked {
    let n = 12;
    let a = definite::<B, T>(b, n, 5)?;
    // shifts the matrix, so that it has eigenvalues of both signs
    let middle = T::from_real(T::Real::of(30.0));
    let a = b.subtract(&a, b.multiply(b.eye::<T>(n)?, middle)?)?;
    let y = vector::<B, T>(b, &[2, n], 6)?;
    let direct = Solve::new().solve(b, &a, &y)?.into_x()?;
    let solve = || Solve::new().method(Method::Minres).rtol(rtol);
    let found = solve().solve(b, &a, &y)?.checked()?;
    near(b, "MINRES", &found.x, &direct, 1e4 * rtol);
    assert!(found.iterations.iter().all(|&k| k <= 3 * n), "{:?}", found.iterations);
    let scaled = solve().preconditioner(|b: &B, r: &B::Array<T>| b.multiply(r, T::from_real(T::Real::of(0.01))));
    near(b, "MINRES", &scaled.solve(b, &a, &y)?.into_x()?, &direct, 1e4 * rtol);
    Ok(())
}

fn minres<B: Backend>(b: &B) -> Checked {
    indefinite::<B, f64>(b, 1e-10)?;
    indefinite::<B, f32>(b, 1e-5)?;
    indefinite::<B, Complex<f64>>(b, 1e-10)?;
    // a singular matrix, with a right side in its range
    let a = Laplacian::new([GridBoundary::Periodic]);
    let y = b.asarray(numbers(&[30], 8))?;
    let free = expr!(b, y - mean(y, ..))?;
    let found = Solve::new().method(Method::Minres).rtol(1e-10).solve(b, &a, &free)?.checked()?;
    near(b, "A x", &a.apply(b, &found.x)?, &free, 1e-9);
    Ok(())
}

#[test]
fn minres_of_indefinite_systems() {
    on_every_backend!(minres);
}

#[cfg(feature = "faer")]
#[test]
fn direct_methods_say_what_they_did_not_solve() {
    let b = Numpyish::new();
    let a = csr::<_, f64>(&b, &[&[0.1, 0.2, 0.3], &[0.4, 0.5, 0.6], &[0.7, 0.8, 0.9]]).unwrap();
    let y = b.asarray([1.0, -1.0, 2.0]).unwrap();
    match Solve::new().method(Method::Direct).solve(&b, &a, &y) {
        Ok(found) => {
            assert_eq!((found.reason.as_slice(), found.converged[0]), (&[Reason::Singular][..], false));
            assert!(found.into_x().unwrap_err().to_string().contains("singular"));
        }
        Err(why) => assert!(why.to_string().contains("singular"), "{why}"),
    }
}

#[test]
fn multigrid_takes_grids_of_any_length_and_distances() {
    use GridBoundary::{Neumann, Periodic, Zero};
    let b = Numpyish::new();
    let count = |ends: &[GridBoundary], shape: &[usize], spacing: &[f64]| {
        let a = Laplacian::new(ends.iter().copied()).spacing(spacing).unwrap();
        let y = b.asarray(numbers(shape, 9)).unwrap();
        let y = if ends.contains(&Zero) { y } else { b.subtract(&y, b.mean(&y, ..).unwrap()).unwrap() };
        let multigrid = Multigrid::new(&b, &a, shape).unwrap();
        let solve = Solve::new().method(Method::Cg).rtol(1e-8).max_iter(100).preconditioner(multigrid);
        let found = solve.solve(&b, &a, &y).unwrap();
        assert!(found.is_converged() && found.iterations[0] < 15, "{ends:?} {shape:?} {spacing:?}: {found:?}");
    };
    for ends in [Zero, Neumann, Periodic] {
        for n in [1, 2, 3, 5, 64, 65, 97, 250] {
            count(&[ends; 2], &[n, n], &[1.0; 2]);
        }
        for n in [1, 2, 7, 250, 997, 1000] {
            count(&[ends], &[n], &[0.1]);
        }
        for (h, k) in [(1.0, 2.0), (1.0, 100.0), (100.0, 1.0), (1.0, 1000.0), (1000.0, 1.0), (1.0, 1.4)] {
            count(&[ends; 2], &[61, 48], &[h, k]);
        }
        count(&[ends; 3], &[17, 12, 23], &[1.0, 1.0, 1.0]);
        count(&[ends; 3], &[17, 12, 23], &[1.0, 10.0, 100.0]);
    }
    count(&[Zero, Neumann, Periodic], &[15, 13, 22], &[1.0, 30.0, 0.1]);
    count(&[Periodic, Neumann], &[31, 50], &[1000.0, 1.0]);
}
