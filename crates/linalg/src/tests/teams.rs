//! Tests of matrices that are factorized in panels, on several teams: the results are correct, and their bits do not
//! depend on the team.

use super::*;
use crate::room::matrix;
use faer::traits::ComplexField;
use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

trait Field: checks::Field + ComplexField {}

impl<T: checks::Field + ComplexField> Field for T {}

/// Runs the tasks from the last to the first.
struct Backward;

impl Team for Backward {
    fn run(&self, tasks: usize, task: &(dyn Fn(usize) -> Result<()> + Sync)) -> Result<()> {
        (0..tasks).rev().try_for_each(task)
    }
}

/// Runs the tasks on this number of threads.
struct Threads(usize);

impl Team for Threads {
    fn run(&self, tasks: usize, task: &(dyn Fn(usize) -> Result<()> + Sync)) -> Result<()> {
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Ok(())));
        let work = || {
            while let Some(i) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&i| i < tasks) {
                task(i).unwrap_or_else(|why| *done.lock().unwrap() = Err(why));
            }
        };
        std::thread::scope(|scope| (0..self.0).for_each(|_| _ = scope.spawn(work)));
        done.into_inner().unwrap()
    }
}

/// Refuses to run any task.
struct Refusing;

impl Team for Refusing {
    fn run(&self, _: usize, _: &(dyn Fn(usize) -> Result<()> + Sync)) -> Result<()> {
        Err(Failure::Memory(7))
    }
}

/// The product of `a` (m by k) and `b` (k by n).
fn times<T: Field>(a: &[T], b: &[T], m: usize, k: usize, n: usize) -> Vec<T> {
    let product = matrix(a, m, k) * matrix(b, k, n);
    product.col_iter().flat_map(|column| column.iter().copied().collect::<Vec<T>>()).collect()
}

fn bits<T: Field>(a: &[T]) -> Vec<[u64; 2]> {
    a.iter().map(|x| [x.wide().re.to_bits(), x.wide().im.to_bits()]).collect()
}

/// Calls `f` with each team, requires results of equal bits, and returns the result.
fn on_every_team<T: Field>(what: &str, f: impl Fn(&dyn Team) -> Vec<T>) -> Vec<T> {
    let alone = f(&Alone);
    for (name, team) in [("backward", &Backward as &dyn Team), ("3 threads", &Threads(3))] {
        assert!(bits(&f(team)) == bits(&alone), "{what}: other bits {name}");
    }
    alone
}

/// Requires that the elements differ by at most `tolerance` times the largest magnitude in `b`, or 1.
fn within<T: Field>(a: &[T], b: &[T], tolerance: f64, what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    let largest = b.iter().fold(1.0_f64, |largest, x| largest.max(x.magnitude()));
    for (i, (&x, &y)) in a.iter().zip(b).enumerate() {
        assert!((x - y).magnitude() <= tolerance * largest, "{what}: {x:?} in place of {y:?}, element {i}");
    }
}

/// A matrix of random numbers with a larger diagonal.
fn regular<T: Field>(make: fn(u64, usize) -> Vec<T>, n: usize) -> Vec<T> {
    let mut a = make(n as u64, n * n);
    (0..n).for_each(|i| a[i * n + i] += T::ONE.by(3.0));
    a
}

/// A Hermitian positive definite matrix.
fn positive<T: Field>(make: fn(u64, usize) -> Vec<T>, n: usize) -> Vec<T> {
    let a = make(n as u64, n * n);
    let mut sum: Vec<T> = a.iter().zip(adjoint(&a, n, n)).map(|(&x, y)| x + y).collect();
    (0..n).for_each(|i| sum[i * n + i] += T::ONE.by(4.0 * (n as f64).sqrt()));
    sum
}

fn cholesky_of<T: Field>(make: fn(u64, usize) -> Vec<T>, sizes: &[usize]) {
    for &n in sizes {
        let (a, what) = (positive(make, n), format!("cholesky {n}"));
        let l = on_every_team(&what, |team| {
            let mut l = a.clone();
            // the elements above the diagonal are not read
            (0..n).for_each(|j| l[j * n..j * n + j].fill(T::ONE.over(0.0)));
            T::cholesky(&mut l, n, team).unwrap();
            l
        });
        within(&times(&l, &adjoint(&l, n, n), n, n, n), &a, 1e-14, &what);
        assert!((0..n).all(|j| l[j * n..j * n + j].iter().all(|&x| x == T::default())), "{what}");
        assert!((0..n).all(|j| l[j * n + j] == l[j * n + j].re()), "{what}");
    }
}

#[test]
fn cholesky() {
    cholesky_of(reals, &[383, 384, 449]);
    cholesky_of(complexes, &[400]);
}

#[test]
fn matrices_that_are_not_positive_definite() {
    let n = 450;
    let a = positive(reals, n);
    for (i, j) in [(0, 0), (70, 70), (n - 1, n - 1), (n - 2, n - 60), (300, 5)] {
        for value in [-1e3, f64::NAN] {
            let mut a = a.clone();
            a[j * n + i] = value;
            for team in [&Alone as &dyn Team, &Threads(2)] {
                assert_eq!(
                    f64::cholesky(&mut a.clone(), n, team),
                    Err(Failure::NotPositiveDefinite),
                    "{i} {j} {value}"
                );
            }
        }
    }
    // the Schur complement of the last pivot is 0
    let mut l = vec![0.0; n * n];
    (0..n - 1).for_each(|i| l[i * n + i] = 1.0);
    assert_eq!(f64::cholesky(&mut l, n, &Alone), Err(Failure::NotPositiveDefinite));
    let mut scaled: Vec<f64> = a.iter().map(|x| x * 1e-290).collect();
    f64::cholesky(&mut scaled, n, &Alone).unwrap();
    let mut l = a.clone();
    f64::cholesky(&mut l, n, &Alone).unwrap();
    let scaled: Vec<f64> = scaled.iter().map(|x| x * 1e145).collect();
    within(&scaled, &l, 1e-13, "tiny");
}

fn systems_of<T: Field>(make: fn(u64, usize) -> Vec<T>, sizes: &[(usize, usize)]) {
    for &(n, k) in sizes {
        let (a, b, what) = (regular(make, n), make(1, n * k), format!("solve {n} {k}"));
        let x = on_every_team(&what, |team| {
            let mut x = b.clone();
            T::solve(&mut a.clone(), &mut x, n, k, team).unwrap();
            x
        });
        within(&times(&a, &x, n, n, k), &b, 1e-11, &what);
    }
}

#[test]
fn systems() {
    systems_of(reals, &[(255, 2), (256, 1), (257, 130), (321, 3), (20, 6_000)]);
    systems_of(complexes, &[(260, 70)]);
}

fn inverses_of<T: Field>(make: fn(u64, usize) -> Vec<T>, sizes: &[usize]) {
    for &n in sizes {
        let (a, what) = (regular(make, n), format!("inverse {n}"));
        let x = on_every_team(&what, |team| {
            let mut x = vec![T::ONE.over(0.0); n * n];
            T::inverse(&mut a.clone(), &mut x, n, team).unwrap();
            x
        });
        within(&times(&a, &x, n, n, n), &identity(n), 1e-11, &what);
        let mut solution = identity(n);
        T::solve(&mut a.clone(), &mut solution, n, n, &Alone).unwrap();
        within(&x, &solution, 1e-12, &what);
    }
}

#[test]
fn inverses() {
    inverses_of(reals, &[0, 1, 2, 3, 40, 255, 256, 321]);
    inverses_of(complexes, &[1, 260]);
}

#[test]
fn inverses_of_any_scale() {
    let by = |x: f64, e: i32| x * 2.0_f64.powi(e / 2) * 2.0_f64.powi(e - e / 2);
    for (n, step) in [(2, 900), (7, 150), (60, 17), (300, 3)] {
        // rows and columns are multiplied by powers of two, by which the columns and rows of the inverse are divided
        let exponent = |i: usize| (i as i32 * step) % 1000 - 500;
        let scaled = |a: &[f64], of_row: &dyn Fn(usize) -> i32, of_column: &dyn Fn(usize) -> i32| -> Vec<f64> {
            a.iter().enumerate().map(|(place, &x)| by(x, of_row(place % n) + of_column(place / n))).collect()
        };
        let (a, mut plain, mut x) = (regular(reals, n), vec![0.0; n * n], vec![0.0; n * n]);
        f64::inverse(&mut a.clone(), &mut plain, n, &Alone).unwrap();
        let back = |i: usize| exponent(n - 1 - i);
        f64::inverse(&mut scaled(&a, &exponent, &back), &mut x, n, &Alone).unwrap();
        within(&scaled(&x, &back, &exponent), &plain, 1e-11, "scaled inverse");
    }
    for scale in [5e-324, 1e-310, 1e-300, 1e300, 1e308] {
        let mut x = [f64::NAN; 4];
        f64::inverse(&mut [scale, 0.0, 0.0, 1.0], &mut x, 2, &Alone).unwrap();
        let mut solution = identity(2);
        f64::solve(&mut [scale, 0.0, 0.0, 1.0], &mut solution, 2, 2, &Alone).unwrap();
        assert_eq!(x, *solution, "{scale}");
    }
}

#[test]
fn singular_matrices() {
    let n = 290;
    let a = regular(reals, n);
    for of in [0, 64, n - 1] {
        for by in [1, n] {
            let a: Vec<f64> = a.iter().enumerate().map(|(i, &x)| if i / by % n == of { 0.0 } else { x }).collect();
            for team in [&Alone as &dyn Team, &Threads(2)] {
                assert_eq!(f64::solve(&mut a.clone(), &mut vec![1.0; n], n, 1, team), Err(Failure::Singular), "{of}");
                let inverse = f64::inverse(&mut a.clone(), &mut vec![0.0; n * n], n, team);
                assert_eq!(inverse, Err(Failure::Singular), "{of}");
                let d = f64::determinant(&mut a.clone(), n, team).unwrap();
                assert_eq!((d.value, d.sign, d.log), (0.0, 0.0, f64::NEG_INFINITY), "{of}");
            }
        }
    }
    assert_eq!(f64::inverse(&mut [1.0; 9], &mut [0.0; 9], 3, &Alone), Err(Failure::Singular));
    assert_eq!(f64::inverse(&mut [0.0], &mut [0.0], 1, &Alone), Err(Failure::Singular));
}

#[test]
fn unknown_and_infinite_elements() {
    for n in [3, 257] {
        for value in [f64::NAN, f64::INFINITY] {
            for (i, j) in [(0, 0), (n - 1, 0), (n / 2, n / 2 + 1)] {
                let mut a = regular(reals, n);
                a[j * n + i] = value;
                let (mut x, mut solution) = (vec![0.0; n * n], identity(n));
                let by_solve = f64::solve(&mut a.clone(), &mut solution, n, n, &Alone);
                assert_eq!(f64::inverse(&mut a.clone(), &mut x, n, &Alone), by_solve, "{n} {value} {i} {j}");
                if value.is_nan() {
                    assert!(x.iter().chain(&solution).all(|x| x.is_nan()), "{n} {i} {j}");
                }
                let d = f64::determinant(&mut a.clone(), n, &Alone).unwrap();
                assert!(!d.value.is_finite(), "{n} {value} {i} {j}: {d:?}");
                let mut q = vec![0.0; n * n];
                f64::qr(&mut a, &mut q, n, n, &Alone).unwrap();
                assert!(a.iter().any(|x| !x.is_finite()), "{n} {value} {i} {j}");
            }
        }
    }
}

#[test]
fn determinants() {
    for n in [256, 300] {
        let a = reals(n as u64, n * n);
        let d = f64::determinant(&mut a.clone(), n, &Alone).unwrap();
        let expected = matrix(&a, n, n).determinant();
        assert!((d.value / expected - 1.0).abs() < 1e-10 && d.sign == expected.signum(), "{n}: {d:?}, {expected}");
        assert!((d.log - expected.abs().ln()).abs() < 1e-10, "{n}: {d:?}");
        // a cyclic shift of the rows is n - 1 exchanges
        let mut shift: Vec<f64> = (0..n * n).map(|i| f64::from(i % n == (i / n + 1) % n)).collect();
        assert_eq!(f64::determinant(&mut shift, n, &Alone).unwrap().value, if n % 2 == 0 { -1.0 } else { 1.0 });
    }
}

fn triangles_of<T: Field>(make: fn(u64, usize) -> Vec<T>, n: usize, k: usize) {
    for (lower, unit) in [(true, true), (true, false), (false, true), (false, false)] {
        let mut a: Vec<T> = make(1, n * n).into_iter().map(|x| x.over(n as f64)).collect();
        (0..n).for_each(|i| a[i * n + i] += T::ONE);
        let (b, what) = (make(2, n * k), format!("triangle {lower} {unit}"));
        let x = on_every_team(&what, |team| {
            let mut x = b.clone();
            T::solve_triangular(&mut a.clone(), &mut x, n, k, lower, unit, team).unwrap();
            x
        });
        for (i, x) in a.iter_mut().enumerate() {
            let (row, column) = (i % n, i / n);
            if row != column && (row > column) != lower {
                *x = T::default();
            } else if row == column && unit {
                *x = T::ONE;
            }
        }
        within(&times(&a, &x, n, n, k), &b, 1e-12, &what);
    }
}

#[test]
fn triangles() {
    triangles_of(reals, 200, 333);
    triangles_of(complexes, 150, 129);
}

/// Requires that `q` has orthonormal columns, that `r` is upper triangular, and that their product is `a`.
fn is_factored<T: Field>(a: &[T], q: &[T], r: &[T], (m, n): (usize, usize), what: &str) {
    let columns = q.len() / m;
    let upper: Vec<T> = (0..n).flat_map(|j| r[j * m..][..columns].to_vec()).collect();
    within(&times(q, &upper, m, columns, n), a, 1e-12, what);
    within(&times(&adjoint(q, m, columns), q, columns, m, columns), &identity(columns), 1e-12, what);
    assert!((0..n).all(|j| r[j * m..(j + 1) * m].iter().skip(j + 1).all(|&x| x == T::default())), "{what}");
}

fn orthonormal_factors_of<T: Field>(a: &[T], (m, n): (usize, usize), complete: bool, what: &str) {
    let (what, columns) = (format!("{what} {m} {n} {complete}"), if complete { m } else { m.min(n) });
    let both = on_every_team(&what, |team| {
        let (mut r, mut q) = (a.to_vec(), vec![T::ONE.over(0.0); m * columns]);
        T::qr(&mut r, &mut q, m, n, team).unwrap();
        q.extend(r);
        q
    });
    is_factored(a, &both[..m * columns], &both[m * columns..], (m, n), &what);
}

#[test]
fn orthonormal_factors() {
    for (m, n) in [(255, 256), (256, 256), (257, 257), (260, 333), (350, 289)] {
        orthonormal_factors_of(&reals(1, m * n), (m, n), false, "random");
    }
    orthonormal_factors_of(&reals(1, 400 * 256), (400, 256), true, "random");
    orthonormal_factors_of(&complexes(1, 270 * 265), (270, 265), true, "complex");
}

#[test]
fn orthonormal_factors_of_matrices_without_full_rank() {
    let (m, n) = (300, 270);
    let size = (m, n);
    orthonormal_factors_of(&vec![0.0; m * n], size, false, "zero");
    orthonormal_factors_of(&vec![1.0; m * n], size, true, "ones");
    orthonormal_factors_of(&vec![c64::new(1.0, -2.0); m * n], size, false, "equal");
    let a = reals(3, m * n);
    let with = |f: &dyn Fn(usize, usize) -> f64| (0..m * n).map(|i| f(i % m, i / m)).collect::<Vec<f64>>();
    orthonormal_factors_of(&with(&|i, j| if j % 5 == 3 { 0.0 } else { a[j * m + i] }), size, false, "zero columns");
    orthonormal_factors_of(&with(&|i, j| a[j / 3 * m + i]), size, false, "repeated columns");
    orthonormal_factors_of(&with(&|i, j| if i < 40 { a[j * m + i] } else { 0.0 }), size, false, "rank 40");
    orthonormal_factors_of(&with(&|i, j| f64::from(i == j)), size, true, "identity");
    orthonormal_factors_of(&with(&|i, j| if i <= j { a[j * m + i] } else { 0.0 }), size, false, "triangle");
    let low = times(&reals(4, m * 33), &reals(5, 33 * n), m, 33, n);
    orthonormal_factors_of(&low, size, false, "rank 33");
    // columns of different scales
    let e = |j: usize| if j.is_multiple_of(2) { 1e-290 } else { 1e290 };
    let (mut r, mut q) = (with(&|i, j| a[j * m + i] * e(j)), vec![0.0; m * n]);
    f64::qr(&mut r, &mut q, m, n, &Threads(2)).unwrap();
    r.iter_mut().enumerate().for_each(|(i, x)| *x /= e(i / m));
    is_factored(&a, &q, &r, size, "scales");
}

#[test]
fn a_failure_of_the_team_is_returned() {
    let (n, failed) = (400, Err(Failure::Memory(7)));
    let (a, mut x) = (positive(reals, n), vec![0.0; n * n]);
    assert_eq!(f64::cholesky(&mut a.clone(), n, &Refusing), failed);
    assert_eq!(f64::solve(&mut a.clone(), &mut x[..n], n, 1, &Refusing), failed);
    assert_eq!(f64::inverse(&mut a.clone(), &mut x, n, &Refusing), failed);
    assert_eq!(f64::determinant(&mut a.clone(), n, &Refusing), Err(Failure::Memory(7)));
    assert_eq!(f64::qr(&mut a.clone(), &mut x, n, n, &Refusing), failed);
    assert_eq!(f64::solve_triangular(&mut a.clone(), &mut x, n, n, true, false, &Refusing), failed);
}
