//! Tests of the eigenvectors of Hermitian matrices: residuals, orthogonality and order, for matrices of many
//! structures.

use super::divide;
use crate::{
    Failure, Scalar, c64,
    instructions::Set,
    tests::{adjoint, checks::Field, complexes, identity, noise, product, reals},
};

/// The largest residual and the largest error of orthogonality, as multiples of n eps |A| and n eps.
struct Errors {
    residual: f64,
    orthogonality: f64,
}

/// The diagonal and the elements below it.
type Tridiagonal = (Vec<f64>, Vec<f64>);

fn largest(x: impl IntoIterator<Item = f64>) -> f64 {
    x.into_iter().fold(0.0, |largest, x| if x.is_nan() { f64::INFINITY } else { largest.max(x.abs()) })
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn orthogonality(q: &[f64], n: usize) -> f64 {
    let columns: Vec<&[f64]> = q.chunks_exact(n).collect();
    let error = |i: usize, j: usize| dot(columns[i], columns[j]) - f64::from(i == j);
    largest((0..n).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| error(i, j)))
}

/// Computes eigenvectors with every instruction set of this processor, and compares their bits.
fn tridiagonal(d: &[f64], e: &[f64], what: &str) -> (Vec<f64>, Vec<f64>) {
    let n = d.len();
    let of = |set| {
        let (mut w, mut q) = (d.to_vec(), vec![f64::NAN; n * n]);
        divide::eigen(set, &mut w, e, &mut q).unwrap_or_else(|error| panic!("{what} {n}: {error:?}"));
        (w, q)
    };
    let (w, q) = of(Set::best());
    let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    // without optimization, larger matrices take too long to repeat
    for set in Set::all().into_iter().filter(|_| n <= 66) {
        let (others, vectors) = of(set);
        assert!(bits(&w) == bits(&others) && bits(&q) == bits(&vectors), "{what} {n}: {set:?}");
    }
    (w, q)
}

fn check_tridiagonal(d: &[f64], e: &[f64], what: &str) -> Errors {
    let n = d.len();
    let (w, q) = tridiagonal(d, e, what);
    assert!(w.is_sorted(), "{what} {n}: {w:?}");
    let size = largest(d.iter().chain(e).copied()).max(f64::MIN_POSITIVE);
    let unit = n as f64 * f64::EPSILON;
    let residual = |x: &[f64], w: f64, i: usize| {
        let above = if i > 0 { e[i - 1] * x[i - 1] } else { 0.0 };
        let below = if i + 1 < n { e[i] * x[i + 1] } else { 0.0 };
        (above + below + (d[i] - w) * x[i]) / size
    };
    let residuals = q.chunks_exact(n).zip(&w).flat_map(|(x, &w)| (0..n).map(move |i| residual(x, w, i)));
    Errors { residual: largest(residuals) / unit, orthogonality: orthogonality(&q, n) / unit }
}

/// Symmetric tridiagonal matrices of many structures.
fn structures(n: usize) -> Vec<(&'static str, Tridiagonal)> {
    let m = n - 1;
    let r = noise(n as u64, 2 * n);
    let (x, y) = (&r[..n], &r[n..][..m]);
    let list = |n: usize, f: &dyn Fn(usize) -> f64| (0..n).map(f).collect::<Vec<f64>>();
    let power = |i: usize, most: f64| 10_f64.powf(most * i as f64 / n as f64);
    let wilkinson = |i: usize| (10.0 - (i % 21) as f64).abs();
    let glued = |glue: f64| (list(n, &wilkinson), list(m, &|i| if i % 21 == 20 { glue } else { 1.0 }));
    let middle = |rest: f64, at: f64| (x.to_vec(), list(m, &|i| if i + 1 == n / 2 { at } else { rest * y[i] }));
    vec![
        ("random", (x.to_vec(), y.to_vec())),
        ("zero", (vec![0.0; n], vec![0.0; m])),
        ("identity", (vec![1.0; n], vec![0.0; m])),
        ("diagonal", (x.to_vec(), vec![0.0; m])),
        ("descending", (list(n, &|i| -(i as f64)), vec![0.0; m])),
        ("second difference", (vec![2.0; n], vec![-1.0; m])),
        ("zero diagonal", (vec![0.0; n], vec![1.0; m])),
        ("clement", (vec![0.0; n], list(m, &|i| (((i + 1) * (n - i - 1)) as f64).sqrt()))),
        ("laguerre", (list(n, &|i| 2.0 * i as f64 + 1.0), list(m, &|i| i as f64 + 1.0))),
        ("wilkinson", (list(n, &|i| (i as f64 - m as f64 / 2.0).abs()), vec![1.0; m])),
        ("glued by 1", glued(1.0)),
        ("glued by 1e-4", glued(1e-4)),
        ("glued by 1e-8", glued(1e-8)),
        ("glued by 1e-14", glued(1e-14)),
        ("glued by 1e-200", glued(1e-200)),
        ("copies", (list(n, &|i| x[i % 5 % n]), list(m, &|i| if i % 5 == 4 { 0.0 } else { y[i % 5 % m] }))),
        ("zeros", (x.to_vec(), list(m, &|i| if y[i] < 0.0 { 0.0 } else { y[i] }))),
        ("one cluster", (list(n, &|i| 1.0 + 1e-15 * x[i]), list(m, &|i| 1e-15 * y[i]))),
        ("near zeros", (list(n, &|i| 1e-14 * x[i]), list(m, &|i| if i % 7 == 0 { 1.0 } else { 1e-13 * y[i] }))),
        ("two clusters", (list(n, &|i| (i % 2) as f64), list(m, &|i| 1e-9 * y[i]))),
        ("integers", (list(n, &|i| (3.0 * x[i]).round()), list(m, &|i| (2.0 * y[i]).round()))),
        ("only the middle", middle(0.0, 1.0)),
        ("small middle", middle(1.0, 1e-13)),
        ("tiny middle", middle(1.0, 1e-300)),
        ("large middle", middle(1.0, 1e8)),
        ("graded down", (list(n, &|i| x[i] * power(i, -100.0)), list(m, &|i| y[i] * power(i, -100.0)))),
        ("graded up", (list(n, &|i| x[i] * power(i, 50.0)), list(m, &|i| y[i] * power(i, 50.0)))),
        ("steep", (list(n, &|i| power(i, -300.0)), list(m, &|i| power(i, -300.0)))),
        ("steep up", (list(n, &|i| 1e-250 * power(i, 260.0)), list(m, &|i| 1e-250 * power(i, 260.0)))),
        ("hill", (list(n, &|i| power(i.min(m - i), 200.0)), list(m, &|i| power(i.min(m - i), 200.0)))),
        ("valley", (list(n, &|i| power(i.min(m - i), -300.0)), list(m, &|i| power(i.min(m - i), -300.0)))),
        ("saw", (list(n, &|i| power(i * n / 3 % n, -200.0)), list(m, &|i| power(i * n / 3 % n, -200.0)))),
        ("steep, zero diagonal", (vec![0.0; n], list(m, &|i| power(i, -300.0)))),
        ("slightly graded", (list(n, &|i| power(i, -10.0)), list(m, &|i| 0.1 * power(i, -10.0)))),
        ("wild", (list(n, &|i| x[i].powi(31)), list(m, &|i| y[i].powi(101)))),
        ("tiny", (list(n, &|i| 1e-60 * x[i]), list(m, &|i| 1e-60 * y[i]))),
        ("huge", (list(n, &|i| 1e60 * x[i]), list(m, &|i| 1e60 * y[i]))),
        ("tiny next to 1", (list(n, &|i| if i < n / 3 { 1.0 } else { 1e-250 * x[i] }), list(m, &|i| 1e-250 * y[i]))),
        ("subnormal", (list(n, &|i| if i == 0 { 1.0 } else { 1e-310 * x[i] }), list(m, &|i| 1e-310 * y[i]))),
        ("rank 1", (list(n, &|i| if i < 2 { 0.5 } else { 0.0 }), list(m, &|i| if i == 0 { 0.5 } else { 0.0 }))),
        // B B' of a bidiagonal B with zeros on its diagonal
        ("singular", {
            let b = |i: usize| if i % 4 == 3 { 0.0 } else { x[i] };
            (list(n, &|i| b(i) * b(i) + if i > 0 { y[i - 1] * y[i - 1] } else { 0.0 }), list(m, &|i| y[i] * b(i)))
        }),
    ]
}

/// Sizes of matrices without joins, and with one or more levels of joins.
const SIZES: [usize; 10] = [1, 2, 3, 5, 17, 32, 33, 64, 66, 130];

#[test]
fn tridiagonal_matrices_of_every_structure() {
    for n in SIZES {
        for (what, (d, e)) in structures(n) {
            let errors = check_tridiagonal(&d, &e, what);
            // a single rotation has an error of about eps, which is a large part of n eps if n is small; so the limit
            // is 3 n eps
            assert!(errors.residual < 3.0, "{what} {n}: residual {}", errors.residual);
            assert!(errors.orthogonality < 3.0, "{what} {n}: orthogonality {}", errors.orthogonality);
        }
    }
}

#[test]
fn many_roots() {
    let n = 300;
    let r = noise(5, 2 * n);
    let errors = check_tridiagonal(&r[..n], &r[n..][..n - 1], "random");
    assert!(errors.residual < 0.5 && errors.orthogonality < 0.5);
}

#[test]
fn known_eigenvalues() {
    for n in [1, 2, 30, 33, 100] {
        let (w, _) = tridiagonal(&vec![2.0; n], &vec![-1.0; n - 1], "second difference");
        for (j, w) in w.iter().enumerate() {
            let angle = std::f64::consts::PI * (j + 1) as f64 / (n + 1) as f64;
            assert!((w - (2.0 - 2.0 * angle.cos())).abs() < 4e-15, "{n}: {w}");
        }
    }
}

/// A block far smaller than the largest element keeps its own relative accuracy.
#[test]
fn small_blocks_are_accurate() {
    let (n, scale) = (80, 1e-200);
    let mut d = vec![2.0 * scale; n];
    let mut e = vec![-scale; n - 1];
    (d[0], e[0]) = (1.0, 0.0);
    let (w, _) = tridiagonal(&d, &e, "small block");
    for (j, w) in w[..n - 1].iter().enumerate() {
        let expected = 2.0 - 2.0 * (std::f64::consts::PI * (j + 1) as f64 / n as f64).cos();
        assert!((w / scale - expected).abs() < 4e-15, "{w}");
    }
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    for n in [1, 2, 33, 70] {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let (mut d, e) = (vec![1.0; n], vec![0.5; n - 1]);
            d[n / 2] = bad;
            let result = divide::eigen(Set::best(), &mut d, &e, &mut vec![0.0; n * n]);
            assert_eq!(result, Err(Failure::NoConvergence));
        }
        // numbers that overflow are either refused or finite
        let (mut d, e) = (vec![f64::MAX; n], vec![f64::MAX; n - 1]);
        let mut q = vec![0.0; n * n];
        let result = divide::eigen(Set::best(), &mut d, &e, &mut q);
        assert!(result.is_err() || d.iter().chain(&q).all(|x| x.is_finite()), "{n}");
        let mut a = vec![c64::new(1.0, 0.0); n * n];
        a[n - 1] = c64::new(0.0, f64::NAN);
        let _ = c64::eigh(&mut a, &mut vec![0.0; n], Some(&mut vec![c64::default(); n * n]), n);
    }
    let (mut a, n) = (vec![f64::NAN; 70 * 70], 70);
    let result = f64::eigh(&mut a, &mut vec![0.0; n], Some(&mut vec![0.0; n * n]), n);
    assert_eq!(result, Err(Failure::NoConvergence));
}

#[test]
fn no_rows() {
    assert_eq!(divide::eigen(Set::best(), &mut [], &[], &mut []), Ok(()));
    assert_eq!(f64::eigh(&mut [], &mut [], Some(&mut []), 0), Ok(()));
}

/// Hermitian matrices of many structures, in column-major order.
fn dense<T: Field>(make: fn(u64, usize) -> Vec<T>, n: usize) -> Vec<(&'static str, Vec<T>)> {
    let matrix = |f: &dyn Fn(usize, usize) -> T| (0..n * n).map(|place| f(place % n, place / n)).collect::<Vec<T>>();
    let diagonal = |f: &dyn Fn(usize) -> f64| matrix(&|i, j| if i == j { T::ONE.by(f(i)) } else { T::default() });
    let x = make(11, n * n);
    let hermitian = matrix(&|i, j| x[j * n + i] + x[i * n + j].conj());
    // a matrix of rank 3; its nonzero eigenvalues are not known
    let low_rank =
        matrix(&|i, j| (0..3.min(n)).fold(T::default(), |sum, l| sum + x[l * n + i].times(x[l * n + j].conj())));
    // the projection on the first column
    let square: f64 = x[..n].iter().map(|x| x.magnitude() * x.magnitude()).sum();
    let projection = matrix(&|i, j| x[i].times(x[j].conj()).over(square));
    let by = |a: &[T], factor: &dyn Fn(usize, usize) -> f64| matrix(&|i, j| a[j * n + i].by(factor(i, j)));
    let grade = |most: f64| move |i: usize| 10_f64.powf(most * (2.0 * i as f64 / n as f64 - 1.0));
    let (steep, slight) = (grade(100.0), grade(4.0));
    vec![
        ("zero", matrix(&|_, _| T::default())),
        ("identity", diagonal(&|_| 1.0)),
        ("multiple of the identity", diagonal(&|_| -3e5)),
        ("diagonal", diagonal(&|i| (i as f64).sin())),
        ("ones", matrix(&|_, _| T::ONE)),
        ("blocks", matrix(&|i, j| if i / 4 == j / 4 { hermitian[j % 4 % n * n + i % 4 % n] } else { T::default() })),
        ("reflection", matrix(&|i, j| T::ONE.by(f64::from(i == j)) - projection[j * n + i].by(2.0))),
        ("graded", by(&hermitian, &|i, j| slight(i) * slight(j))),
        ("steep", by(&hermitian, &|i, j| steep(i) * steep(j))),
        ("steep down", by(&hermitian, &|i, j| steep(n - 1 - i) * steep(n - 1 - j))),
        ("tiny", by(&hermitian, &|_, _| 1e-290)),
        ("huge", by(&hermitian, &|_, _| 1e290)),
        ("arrow", matrix(&|i, j| if i == j || i == 0 || j == 0 { hermitian[j * n + i] } else { T::default() })),
        ("random", hermitian),
        ("low rank", low_rank),
        ("projection", projection),
    ]
}

fn check_dense<T: Field>(a: &[T], n: usize, what: &str) {
    let lower: Vec<T> =
        (0..n * n).map(|place| if place % n < place / n { T::ONE.by(f64::NAN) } else { a[place] }).collect();
    let (mut w, mut v) = (vec![f64::NAN; n], vec![T::ONE.by(f64::NAN); n * n]);
    T::eigh(&mut lower.clone(), &mut w, Some(&mut v), n).unwrap();
    assert!(w.is_sorted(), "{what} {n}");
    let mut expected = vec![f64::NAN; n];
    T::eigh(&mut lower.clone(), &mut expected, None, n).unwrap();
    let size = largest(a.iter().map(|x| x.magnitude())).max(f64::MIN_POSITIVE);
    // the norm of the matrix may be n times `size`, which is its largest element
    let unit = (n as f64).max(4.0) * f64::EPSILON;
    for (w, expected) in w.iter().zip(&expected) {
        assert!(((w - expected) / size).abs() <= 4.0 * unit, "{what} {n}: {w} in place of {expected}");
    }
    let unit_a: Vec<T> = a.iter().map(|x| x.over(size)).collect();
    let scaled: Vec<T> = (0..n * n).map(|place| v[place].by(w[place / n] / size)).collect();
    let residual: Vec<f64> =
        product(&unit_a, &v, n, n, n).iter().zip(&scaled).map(|(&x, &y)| (x - y).magnitude()).collect();
    assert!(largest(residual.iter().copied()) <= 4.0 * unit, "{what} {n}: residual {}", largest(residual));
    let squares = product(&adjoint(&v, n, n), &v, n, n, n);
    let errors = squares.iter().zip(identity::<T>(n)).map(|(&x, y)| (x - y).magnitude());
    let error = largest(errors);
    assert!(error <= 4.0 * unit, "{what} {n}: orthogonality {error}");
}

fn check_all<T: Field>(make: fn(u64, usize) -> Vec<T>) {
    for n in [1, 2, 3, 8, 24, 33, 66] {
        for (what, a) in dense(make, n) {
            check_dense(&a, n, what);
        }
    }
    let (what, a) = dense(make, 130).swap_remove(13);
    check_dense(&a, 130, what);
}

#[test]
fn real_matrices_of_every_structure() {
    check_all(reals);
}

#[test]
fn complex_matrices_of_every_structure() {
    check_all(complexes);
}
