//! Tests of systems without a solution, and of matrices with few different eigenvalues.

use crate::{common::*, on_every_backend};
use backends::{Result, prelude::*};
use backends_solvers::{
    linear::*,
    sparse::{Coo, Csr},
};

/// Returns a symmetric matrix `A` and the projection of `y` onto its range. `lost` eigenvalues of `A` are 0; the
/// magnitudes of the other eigenvalues are between 1 and 2, with both signs.
fn singular(n: usize, lost: usize, seed: u64, y: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let mut vectors: Vec<Vec<f64>> = vec![];
    for row in numbers(&[n, n], seed).rows() {
        let mut v = row.to_vec();
        for _ in 0..2 {
            for w in &vectors {
                let along = dot(&v, w);
                v.iter_mut().zip(w).for_each(|(v, w)| *v -= along * w);
            }
        }
        let length = dot(&v, &v).sqrt();
        v.iter_mut().for_each(|v| *v /= length);
        vectors.push(v);
    }
    let (mut a, mut of_range) = (vec![0.0; n * n], vec![0.0; n]);
    for (k, v) in vectors.iter().enumerate().skip(lost) {
        let value = (1.0 + k as f64 / n as f64) * if k % 2 == 0 { 1.0 } else { -1.0 };
        let along = dot(v, y);
        for i in 0..n {
            of_range[i] += along * v[i];
            (0..n).for_each(|j| a[i * n + j] += value * v[i.max(j)] * v[i.min(j)]);
        }
    }
    (a, of_range)
}

/// Checks that MINRES returns a least-squares solution of `A x = y`: its product with `A` is `of_range`, the
/// projection of `y` onto the range of `A`. For two of the cases, also checks that no method reports the system as
/// solved.
fn checked<B: Backend, T: WideFloat>(
    b: &B,
    what: &str,
    a: &dyn LinearOperator<B, T>,
    (y, of_range): (&B::Array<T>, &B::Array<T>),
    (longest, most): (f64, f64),
) -> Checked {
    let found = Solve::new().method(Method::Minres).rtol(1e-6).solve_operator(b, a, y)?;
    assert_eq!((found.reason[0], found.converged[0]), (Reason::Inconsistent, false), "{what}: {found:?}");
    near(b, what, &a.apply(b, &found.x)?, of_range, most);
    let length = |x: &B::Array<T>| error(b, &b.zeros_like(x).unwrap(), x) * largest(b, x);
    assert!(length(&found.x) <= longest * length(y), "{what}: {} and {}", length(&found.x), length(y));
    let why = found.into_x().err().map(|why| why.to_string()).unwrap_or_default();
    assert!(why.contains("the system has no solution, x is a least-squares solution"), "{why}");
    if !what.starts_with("[Periodic] [30] 1e0") && !what.starts_with("6 less 3 1e0") {
        return Ok(());
    }
    for method in
        [Method::Cg, Method::CgAdaptive, Method::Gmres, Method::BiCgStab(2), Method::BiCgStab(4), Method::Auto]
    {
        let found = Solve::new().method(method).rtol(1e-6).max_iter(60).solve_operator(b, a, y)?;
        assert!(!found.converged[0] && largest(b, &found.x).is_finite(), "{what}: {found:?}");
    }
    Ok(())
}

fn largest<B: Backend, T: WideFloat>(b: &B, x: &B::Array<T>) -> f64 {
    let x = b.to_vec(x).unwrap();
    x.into_iter().map(|x| x.abs().to_f64()).fold(0.0, |m: f64, x| if x.is_nan() { x } else { m.max(x) })
}

fn of_dtype<B: Backend, T: WideFloat>(b: &B, scales: &[(f64, f64)], most: f64) -> Checked {
    use GridBoundary::{Neumann, Periodic};
    let number = |x: f64| T::from_real(T::Real::of(x));
    for &(of_a, of_y) in scales {
        let grids: [(&[GridBoundary], &[usize]); 5] = [
            (&[Periodic], &[30]),
            (&[Periodic], &[31]),
            (&[Neumann], &[25]),
            (&[Periodic; 2], &[9, 12]),
            (&[Neumann; 2], &[10, 7]),
        ];
        for (ends, shape) in grids {
            let y = b.asarray(numbers(shape, 8).mapv(|x| number((x + 0.7) * of_y)))?;
            let free = expr!(b, y - mean(y, ..))?;
            let grid = Laplacian::new(ends.iter().copied());
            let a = MatrixFree::new(|b: &B, x: &B::Array<T>| b.multiply(grid.apply(b, x)?, number(of_a))).hermitian();
            checked(b, &format!("{ends:?} {shape:?} {of_a:e} {of_y:e}"), &a, (&y, &free), (200.0 / of_a, most))?;
        }
        for (n, lost) in [(40, 1), (40, 3), (6, 3), (3, 2), (2, 1), (1, 1)] {
            let y = numbers(&[n], 3 + n as u64).mapv(|x| x + 0.7).into_raw_vec_and_offset().0;
            let (a, of_range) = singular(n, lost, 5 + n as u64, &y);
            let a = b.reshape(b.from_iter(a.iter().map(|x| number(x * of_a)))?, [n, n])?;
            let a = MatrixFree::new(|b: &B, x: &B::Array<T>| b.matmul(&a, x)).hermitian();
            let array = |x: &[f64]| b.from_iter(x.iter().map(|x| number(x * of_y)).collect::<Vec<_>>());
            let what = format!("{n} less {lost} {of_a:e} {of_y:e}");
            if n == lost {
                let found = Solve::new().method(Method::Minres).solve(b, &a, &array(&y)?)?;
                assert!(found.reason[0] == Reason::Inconsistent && found.iterations[0] < 20, "{what}: {found:?}");
                continue;
            }
            checked(b, &what, &a, (&array(&y)?, &array(&of_range)?), (3.0 / of_a, most))?;
        }
    }
    Ok(())
}

#[test]
fn systems_without_a_solution() {
    let b = Numpyish::new();
    of_dtype::<_, f64>(&b, &[(1.0, 1e-150), (1e-120, 1e150)], 1e-6).unwrap();
    of_dtype::<_, f32>(&b, &[(1.0, 1.0), (1e-20, 1e-12)], 4e-3).unwrap();
}

fn periodic<B: Backend>(b: &B) -> Checked {
    let y = b.asarray(numbers(&[30], 8))?;
    let free = expr!(b, y - mean(y, ..))?;
    let a = Laplacian::new([GridBoundary::Periodic]);
    let found = Solve::new().method(Method::Minres).rtol(1e-6).solve(b, &a, &y)?;
    assert_eq!(found.reason, [Reason::Inconsistent]);
    near(b, "A x", &a.apply(b, &found.x)?, &free, 1e-6);
    Ok(())
}

#[test]
fn a_periodic_grid_with_a_mean_on_every_backend() {
    on_every_backend!(periodic);
}

#[test]
fn of_a_batch_each_system_has_its_reason() {
    let b = Numpyish::new();
    let a = Laplacian::new([GridBoundary::Periodic]);
    let y = b.asarray(numbers(&[3, 30], 8)).unwrap();
    let free = expr!(b, y - mean(y, axis = 1, keepdims = true)).unwrap();
    let last = b.getitem(&y, slices![1..2]).unwrap();
    let [first, third] = [0, 2].map(|k| b.getitem(&free, slices![k..k + 1]).unwrap());
    let y = b.concat([&first, &last, &third]).unwrap();
    let found = Solve::new().method(Method::Minres).rtol(1e-9).solve(&b, &a, &y).unwrap();
    assert_eq!(found.reason, [Reason::Converged, Reason::Inconsistent, Reason::Converged]);
    near(&b, "A x", &a.apply(&b, &found.x).unwrap(), &free, 1e-6);
}

/// A matrix with only `different` distinct eigenvalues: `S D S^-1` with a triangular `S`.
fn few_eigenvalues(n: usize, different: usize, seed: u64) -> Vec<f64> {
    let m = numbers(&[n, n], seed);
    let s = |i: usize, j: usize| match i.cmp(&j) {
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Greater => 0.5 * m[[i, j]],
        std::cmp::Ordering::Less => 0.0,
    };
    let mut a = vec![0.0; n * n];
    for i in 0..n {
        for j in (0..n).rev() {
            let rest: f64 = (j + 1..n).map(|k| a[i * n + k] * s(k, j)).sum();
            a[i * n + j] = s(i, j) * (1.0 + 2.0 * (j % different) as f64) - rest;
        }
    }
    a
}

fn exhausted<B: Backend, T: WideFloat>(b: &B, rtol: f64) -> Checked {
    let number = |x: f64| T::from_real(T::Real::of(x));
    for (n, different) in [(1, 1), (2, 1), (2, 2), (3, 2), (4, 3), (5, 5), (10, 2), (30, 1), (30, 4), (30, 6)] {
        for seed in 0..2 {
            let elements = few_eigenvalues(n, different, 11 * seed + n as u64).into_iter().enumerate();
            let triplets = elements.map(|(k, x)| (k / n, k % n, number(x))).collect::<Vec<_>>();
            let a: Csr<B, T> = Coo::from_triplets(b, triplets, [n, n])?.to_csr(b)?;
            let y = b.asarray(numbers(&[n], 31 + seed).mapv(number))?;
            for l in [1, 2, 3, 4, 8] {
                let found = Solve::new().method(Method::BiCgStab(l)).rtol(rtol).solve(b, &a, &y)?;
                assert!(found.is_converged(), "{n} {different} {seed} {l}: {found:?}");
                near(b, "A x", &a.apply(b, &found.x)?, &y, 20.0 * rtol);
            }
        }
    }
    Ok(())
}

fn exhausted_in_all_dtypes<B: Backend>(b: &B) -> Checked {
    exhausted::<B, f32>(b, 1e-5)?;
    exhausted::<B, Complex<f64>>(b, 1e-10)
}

#[test]
fn bicgstab_with_more_directions_than_the_system_has() {
    on_every_backend!(exhausted_in_all_dtypes);
}

/// An operator that contradicts itself: its products contain a factor that its matrix and its adjoint do not contain.
struct Wrong<'a, B: Backend>(&'a B::Array<f64>, f64);

impl<B: Backend> LinearOperator<B, f64> for Wrong<'_, B> {
    fn apply(&self, b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
        b.multiply(Dense::new(self.0).apply(b, x)?, self.1)
    }

    fn apply_adjoint(&self, b: &B, y: &B::Array<f64>) -> Result<Option<B::Array<f64>>> {
        Dense::<B, f64>::new(self.0).apply_adjoint(b, y)
    }

    fn shape(&self) -> Option<[usize; 2]> {
        LinearOperator::<B, f64>::shape(&Dense::<B, f64>::new(self.0))
    }

    fn unknown_ndim(&self) -> Option<usize> {
        Some(1)
    }

    fn is_dense(&self) -> bool {
        true
    }

    fn matrix(&self, b: &B) -> Result<Option<Matrix<B, f64>>> {
        Dense::new(self.0).matrix(b)
    }
}

fn judged<B: Backend>(b: &B) -> Checked {
    let solve = || Solve::new().method(Method::LeastSquares);
    for scale in [1.0, 1e-150, 1e150] {
        let a = b.multiply(b.asarray([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]])?, scale)?;
        // a line fitted to points: NumPy's `polyfit` gives the coefficients 1.38 and 1.68
        let y = b.asarray([[1.0, 4.0, 4.0, 6.6], [1.0, 2.0, 3.0, 4.0]])?;
        let found = solve().solve(b, &a, &y)?.checked()?;
        let lines = b.divide(b.asarray([[1.38, 1.68], [1.0, 1.0]])?, scale)?;
        near(b, "lines", &found.x, &lines, 1e-12);
        let wrong = solve().solve_operator(b, &Wrong::<B>(&a, 2.0), &y)?;
        assert_eq!((wrong.reason.clone(), wrong.is_converged()), (vec![Reason::Singular; 2], false), "{wrong:?}");
        // a matrix of rank 1, with a right side outside its range
        let ones = b.full([3, 2], scale)?;
        let found = solve().solve(b, &ones, &b.asarray([1.0, 2.0, 6.0])?)?.checked()?;
        near(b, "of rank 1", &found.x, &b.full([2], 1.5 / scale)?, 1e-12);
    }
    let a = b.asarray([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])?;
    let found = solve().solve(b, &a, &b.asarray([1.0, f64::NAN, 1.0])?);
    assert!(found.is_err() || found.is_ok_and(|found| found.reason == [Reason::NotFinite]));
    Ok(())
}

#[test]
fn dense_least_squares_are_judged_by_their_residual() {
    on_every_backend!(judged);
}
