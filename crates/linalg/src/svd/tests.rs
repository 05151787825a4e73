//! Tests of singular values without vectors: they are compared with the values that faer computes
//! with vectors, for matrices of many structures.

use super::{bidiagonal, dqds};
use crate::{
    Failure, Scalar, c64,
    instructions::Set,
    tests::{complexes, noise, reals},
};

/// The elements above the diagonal, and the diagonal.
type Bidiagonal = (Vec<f64>, Vec<f64>);

fn largest<'a>(x: impl IntoIterator<Item = &'a f64>) -> f64 {
    x.into_iter().fold(0.0, |largest, x| if x.is_nan() { f64::INFINITY } else { largest.max(x.abs()) })
}

/// The singular values that faer computes with vectors.
fn by_faer<T: Scalar>(a: &[T], m: usize, n: usize) -> Vec<f64> {
    let k = m.min(n);
    let (mut s, mut u, mut v) = (vec![f64::NAN; k], vec![T::default(); m * k], vec![T::default(); n * k]);
    T::svd(a, &mut s, Some([&mut u, &mut v]), m, n).unwrap();
    s
}

fn near(found: &[f64], expected: &[f64], factor: f64, what: &str) {
    assert!(found.is_sorted_by(|x, y| x >= y) && found.iter().all(|&x| x >= 0.0), "{what}: {found:?}");
    // subnormal numbers are multiples of 5e-324
    let unit = (factor * largest(expected) * f64::EPSILON).max(5e-324);
    for (x, y) in found.iter().zip(expected) {
        assert!((x - y).abs() <= unit, "{what}: {x:e} in place of {y:e}, {} units", (x - y).abs() / unit);
    }
}

/// Bidiagonal matrices of many structures.
fn structures(n: usize) -> Vec<(&'static str, Bidiagonal)> {
    let m = n - 1;
    let r = noise(n as u64, 2 * n);
    let (x, y) = (&r[..n], &r[n..][..m]);
    let list = |n: usize, f: &dyn Fn(usize) -> f64| (0..n).map(f).collect::<Vec<f64>>();
    let power = |i: usize, most: f64| 10_f64.powf(most * i as f64 / n as f64);
    let half = |i: usize, most: f64| power(i, 0.5 * most);
    let both = |f: &dyn Fn(usize) -> f64| (list(n, &|i| f(2 * i)), list(m, &|i| f(2 * i + 1)));
    // the Cholesky factor of a matrix with pairs of eigenvalues that agree to many digits
    let wilkinson = |i: usize| ((10.0 - (i % 21) as f64).abs() + 1.5_f64).sqrt();
    let glued = |glue: f64| (list(n, &wilkinson), list(m, &|i| if i % 21 == 20 { glue } else { 1.0 / wilkinson(i) }));
    vec![
        ("random", (x.to_vec(), y.to_vec())),
        ("zero", (vec![0.0; n], vec![0.0; m])),
        ("identity", (vec![1.0; n], vec![0.0; m])),
        ("diagonal", (x.to_vec(), vec![0.0; m])),
        ("zero diagonal", (vec![0.0; n], vec![1.0; m])),
        ("ones", (vec![1.0; n], vec![1.0; m])),
        ("one and minus one", (vec![1.0; n], vec![-1.0; m])),
        ("kahan", (list(n, &|i| power(i, -5.0)), list(m, &|i| -0.9 * power(i, -5.0)))),
        ("large above", (x.to_vec(), list(m, &|i| 100.0 * y[i]))),
        ("small above", (x.to_vec(), list(m, &|i| 1e-9 * y[i]))),
        ("one cluster", (list(n, &|i| 1.0 + 1e-15 * x[i]), list(m, &|i| 1e-15 * y[i]))),
        ("wide cluster", (list(n, &|i| 1.0 + 1e-8 * x[i]), list(m, &|i| 1e-8 * y[i]))),
        ("two clusters", (list(n, &|i| 1.0 + (i % 2) as f64), list(m, &|i| 1e-9 * y[i]))),
        ("copies", (list(n, &|i| x[i % 5 % n]), list(m, &|i| if i % 5 == 4 { 0.0 } else { y[i % 5 % m] }))),
        ("glued by 1", glued(1.0)),
        ("glued by 1e-8", glued(1e-8)),
        ("glued by 1e-14", glued(1e-14)),
        ("glued by 1e-200", glued(1e-200)),
        ("zeros on the diagonal", (list(n, &|i| if i % 4 == 3 { 0.0 } else { x[i] }), y.to_vec())),
        ("zeros above", (x.to_vec(), list(m, &|i| if i % 4 == 3 { 0.0 } else { y[i] }))),
        ("zero first", (list(n, &|i| if i == 0 { 0.0 } else { x[i] }), y.to_vec())),
        ("zero last", (list(n, &|i| if i == m { 0.0 } else { x[i] }), y.to_vec())),
        ("graded down", both(&|i| half(i, -8.0))),
        ("graded up", both(&|i| half(i, 8.0))),
        ("steep down", both(&|i| half(i, -150.0))),
        ("steep up", both(&|i| 1e-250 * half(i, 250.0))),
        ("hill", both(&|i| half(i.min(2 * n - i), 40.0))),
        ("valley", both(&|i| half(i.min(2 * n - i), -40.0))),
        ("wild", (list(n, &|i| x[i].powi(31)), list(m, &|i| y[i].powi(101)))),
        ("tiny", (list(n, &|i| 1e-300 * x[i]), list(m, &|i| 1e-300 * y[i]))),
        ("huge", (list(n, &|i| 1e300 * x[i]), list(m, &|i| 1e300 * y[i]))),
        ("subnormal", (list(n, &|i| 1e-310 * x[i]), list(m, &|i| 1e-310 * y[i]))),
        ("tiny next to 1", (list(n, &|i| if i == 0 { 1.0 } else { 1e-250 * x[i] }), list(m, &|i| 1e-250 * y[i]))),
    ]
}

#[test]
fn bidiagonal_matrices_of_every_structure() {
    for n in [1, 2, 3, 4, 5, 8, 21, 42, 63, 130] {
        for (what, (d, e)) in structures(n) {
            let what = &format!("{what} {n}");
            let mut s = d.clone();
            dqds::singular_values(&mut s, &e).unwrap_or_else(|error| panic!("{what}: {error:?}"));
            let mut a = vec![0.0; n * n];
            (0..n).for_each(|i| a[i * n + i] = d[i]);
            (0..n - 1).for_each(|i| a[(i + 1) * n + i] = e[i]);
            near(&s, &by_faer(&a, n, n), 8.0 + n as f64, what);
        }
    }
}

/// The product of the singular values equals the product of the diagonal, so the small ones must be accurate too.
#[test]
fn small_singular_values_are_accurate() {
    for n in [2, 3, 5, 20, 60, 200] {
        for (what, (d, e)) in structures(n) {
            let logarithm = |x: &[f64]| x.iter().map(|x| x.abs().log2()).sum::<f64>();
            if d.contains(&0.0) || what == "subnormal" {
                continue;
            }
            let mut s = d.clone();
            dqds::singular_values(&mut s, &e).unwrap();
            // the sums are rounded too
            let size: f64 = s.iter().map(|x| x.log2().abs()).sum();
            let error = (logarithm(&s) - logarithm(&d)).abs();
            assert!(error <= f64::EPSILON * (8.0 * size + 20.0 * n as f64), "{what} {n}: {error:e}");
        }
    }
}

#[test]
fn known_singular_values() {
    for n in [1, 2, 3, 30, 100, 300] {
        // the second difference: a matrix of 1 on the diagonal and -1 above it
        let mut s = vec![1.0; n];
        dqds::singular_values(&mut s, &vec![-1.0; n - 1]).unwrap();
        let angle = |k: usize| std::f64::consts::PI * (n - k) as f64 / (2 * n + 1) as f64;
        let expected: Vec<f64> = (0..n).map(|k| 2.0 * (angle(k) - 0.5 * angle(n - 1)).sin()).collect();
        for (s, expected) in s.iter().zip(&expected) {
            assert!((s / expected - 1.0).abs() < 1e-14, "{n}: {s} in place of {expected}");
        }
    }
    let mut s = [3.0, 4.0];
    dqds::singular_values(&mut s, &[0.0]).unwrap();
    assert_eq!(s, [4.0, 3.0]);
}

#[test]
fn numbers_that_are_not_finite() {
    for n in [1, 2, 3, 10, 50] {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for place in [0, n / 2, n - 1] {
                let (mut s, mut e) = (noise(1, n), noise(2, n));
                s[place] = bad;
                assert_eq!(dqds::singular_values(&mut s.clone(), &e[..n - 1]), Err(Failure::NoConvergence));
                s[place] = 1.0;
                e[place] = bad;
                let expected = if place + 1 < n { Err(Failure::NoConvergence) } else { Ok(()) };
                assert_eq!(dqds::singular_values(&mut s, &e[..n - 1]), expected);
            }
            for (m, k) in [(n, n), (n, 3 * n), (3 * n, n), (n + 1, n)] {
                for place in [0, m * k / 2, m * k - 1] {
                    let mut a = noise(3, m * k);
                    a[place] = bad;
                    let found = f64::svd(&a, &mut vec![0.0; m.min(k)], None, m, k);
                    assert_eq!(found, Err(Failure::NoConvergence), "{m} x {k}: {bad} at {place}");
                    let mut a = complexes(3, m * k);
                    a[place].im = bad;
                    let found = c64::svd(&a, &mut vec![0.0; m.min(k)], None, m, k);
                    assert_eq!(found, Err(Failure::NoConvergence), "complex {m} x {k}: {bad} at {place}");
                }
            }
        }
    }
}

/// Matrices of many structures, in column-major order.
fn dense<T: Scalar>(make: fn(u64, usize) -> Vec<T>, m: usize, n: usize) -> Vec<(&'static str, Vec<T>)> {
    let x = make(11, m * n);
    let matrix = |f: &dyn Fn(usize, usize) -> T| (0..m * n).map(|place| f(place % m, place / m)).collect::<Vec<T>>();
    let by = |f: &dyn Fn(usize, usize) -> f64| matrix(&|i, j| x[j * m + i].by(f(i, j)));
    let grade = |most: f64, i: usize, of: usize| 10_f64.powf(most * (2.0 * i as f64 / of as f64 - 1.0));
    vec![
        ("random", x.clone()),
        ("zero", matrix(&|_, _| T::default())),
        ("identity", matrix(&|i, j| if i == j { T::ONE } else { T::default() })),
        ("ones", matrix(&|_, _| T::ONE)),
        ("rank 1", matrix(&|i, j| x[i].times(x[j * m]))),
        ("equal rows", matrix(&|_, j| x[j * m])),
        ("zero columns", by(&|_, j| f64::from(j % 3 == 1))),
        ("zero rows", by(&|i, _| f64::from(i % 3 == 1))),
        ("lower triangle", by(&|i, j| f64::from(i >= j))),
        ("upper triangle", by(&|i, j| f64::from(i <= j))),
        ("one element", by(&|i, j| f64::from(i + 1 == m && j + 1 == n))),
        ("graded", by(&|i, j| grade(4.0, i, m) * grade(-4.0, j, n))),
        ("steep columns", by(&|_, j| grade(100.0, j, n))),
        ("steep columns down", by(&|_, j| grade(-100.0, j, n))),
        ("steep rows", by(&|i, _| grade(100.0, i, m))),
        ("steep rows down", by(&|i, _| grade(-100.0, i, m))),
        ("steep", by(&|i, j| grade(70.0, i, m) * grade(70.0, j, n))),
        ("tiny rows", by(&|i, _| if i % 2 == 0 { 1e-170 } else { 1.0 })),
        ("tiny columns", by(&|_, j| if j % 2 == 0 { 1e-170 } else { 1.0 })),
        ("tiny but one", by(&|i, j| if i + j == 3 { 1.0 } else { 1e-140 })),
        ("subnormal but one", by(&|i, j| if i + j == 1 { 1.0 } else { 1e-310 })),
        ("tiny", by(&|_, _| 1e-300)),
        ("huge", by(&|_, _| 1e300)),
        ("tiny 1e-60", by(&|_, _| 1e-60)),
        ("huge 1e60", by(&|_, _| 1e60)),
    ]
}

fn check_dense<T: Scalar>(make: fn(u64, usize) -> Vec<T>) {
    for (m, n) in
        [(1, 1), (1, 7), (7, 1), (2, 2), (3, 2), (5, 5), (9, 8), (8, 14), (17, 16), (40, 20), (33, 70), (70, 66)]
    {
        for (what, a) in dense(make, m, n) {
            let mut s = vec![f64::NAN; m.min(n)];
            let what = &format!("{what} {m} x {n}");
            T::svd(&a, &mut s, None, m, n).unwrap_or_else(|error| panic!("{what}: {error:?}"));
            near(&s, &by_faer(&a, m, n), 8.0 + m.max(n) as f64, what);
        }
    }
}

#[test]
fn real_matrices_of_every_structure() {
    check_dense(reals);
}

#[test]
fn complex_matrices_of_every_structure() {
    check_dense(complexes);
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    for (m, n) in [(1, 1), (7, 3), (8, 8), (70, 33), (100, 99)] {
        let a = noise(5, m * n);
        let of = |set| {
            let (mut d, mut e) = (vec![f64::NAN; n], vec![f64::NAN; n - 1]);
            bidiagonal::reduce(set, &a, m, n, &mut d, &mut e).unwrap();
            d.iter().chain(&e).map(|x| x.to_bits()).collect::<Vec<_>>()
        };
        let expected = of(Set::best());
        assert!(Set::all().into_iter().all(|set| of(set) == expected), "{m} x {n}");
    }
}

#[test]
fn no_elements() {
    assert_eq!(dqds::singular_values(&mut [], &[]), Ok(()));
    for (m, n) in [(0, 0), (0, 3), (3, 0)] {
        assert_eq!(f64::svd(&[], &mut [], None, m, n), Ok(()));
    }
}
