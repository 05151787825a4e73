//! Compares each factorization with its definition, which is computed by plain loops.

use super::*;

mod teams;

/// Pseudorandom numbers in [-1, 1).
pub(crate) fn noise(seed: u64, n: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..n).map(next).collect()
}

pub(crate) fn reals(seed: u64, n: usize) -> Vec<f64> {
    noise(seed, n)
}

pub(crate) fn complexes(seed: u64, n: usize) -> Vec<c64> {
    noise(seed, 2 * n).chunks_exact(2).map(|x| c64::new(x[0], x[1])).collect()
}

/// The product of `a` (m by k) and `b` (k by n), in column-major order.
pub(crate) fn product<T: Scalar + std::ops::Add<Output = T>>(a: &[T], b: &[T], m: usize, k: usize, n: usize) -> Vec<T> {
    let mut out = vec![T::default(); m * n];
    for j in 0..n {
        for i in 0..m {
            out[j * m + i] = (0..k).fold(T::default(), |sum, l| sum + a[l * m + i].times(b[j * k + l]));
        }
    }
    out
}

pub(crate) fn adjoint<T: Scalar>(a: &[T], m: usize, n: usize) -> Vec<T> {
    (0..m * n).map(|place| a[(place % n) * m + place / n].conj()).collect()
}

fn near<T: Scalar + std::ops::Sub<Output = T>>(a: &[T], b: &[T], what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    for (x, y) in a.iter().zip(b) {
        assert!((*x - *y).magnitude() < 1e-11, "{what}: {x:?} in place of {y:?}");
    }
}

pub(crate) fn identity<T: Scalar>(n: usize) -> Vec<T> {
    (0..n * n).map(|place| if place % (n + 1) == 0 { T::ONE } else { T::default() }).collect()
}

/// Rows and columns of the tested matrices, below and above faer's block size.
const SIZES: [(usize, usize); 8] = [(1, 1), (3, 3), (5, 3), (3, 5), (40, 40), (70, 33), (33, 70), (70, 70)];

macro_rules! of_both {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            checks::$name(reals, "real");
            checks::$name(complexes, "complex");
        }
    )*};
}
of_both!(cholesky systems triangles determinants orthonormal_factors singular_values hermitian_eigenvalues eigenvalues);

pub(crate) mod checks {
    use super::*;
    use std::ops::{Add, Sub};

    pub trait Field: Scalar + Add<Output = Self> + Sub<Output = Self> {
        fn wide(self) -> c64;
    }
    impl Field for f64 {
        fn wide(self) -> c64 {
            c64::new(self, 0.0)
        }
    }
    impl Field for c64 {
        fn wide(self) -> c64 {
            self
        }
    }

    /// A positive definite Hermitian matrix.
    fn positive<T: Field>(make: fn(u64, usize) -> Vec<T>, n: usize) -> Vec<T> {
        let x = make(7, n * n);
        let mut a = product(&x, &adjoint(&x, n, n), n, n, n);
        (0..n).for_each(|i| a[i * n + i] = a[i * n + i] + T::ONE);
        a
    }

    pub fn cholesky<T: Field>(make: fn(u64, usize) -> Vec<T>, what: &str) {
        for n in [0, 1, 4, 40, 70] {
            let a = positive(make, n);
            let mut l = a.clone();
            // `cholesky` does not read the elements above the diagonal, so they may have any values
            (0..n).for_each(|j| l[j * n..j * n + j].fill(T::ONE.over(f64::MIN_POSITIVE)));
            T::cholesky(&mut l, n, &Alone).unwrap();
            let back = product(&l, &adjoint(&l, n, n), n, n, n);
            near(&back, &a, what);
        }
        let mut zero = vec![T::default(); 9];
        assert_eq!(T::cholesky(&mut zero, 3, &Alone), Err(Failure::NotPositiveDefinite));
        let mut unknown = vec![T::ONE.over(0.0).times(T::default()); 9];
        assert_eq!(T::cholesky(&mut unknown, 3, &Alone), Err(Failure::NotPositiveDefinite));
    }

    pub fn systems<T: Field>(make: fn(u64, usize) -> Vec<T>, what: &str) {
        for (n, k) in [(0, 0), (0, 2), (1, 1), (3, 2), (40, 7), (70, 1)] {
            let (a, x) = (make(1, n * n), make(2, n * k));
            let mut b = product(&a, &x, n, n, k);
            T::solve(&mut a.clone(), &mut b, n, k, &Alone).unwrap();
            near(&b, &x, what);
        }
        let mut singular = vec![T::ONE; 9];
        assert_eq!(T::solve(&mut singular, &mut [T::ONE; 3], 3, 1, &Alone), Err(Failure::Singular));
    }

    pub fn triangles<T: Field>(make: fn(u64, usize) -> Vec<T>, what: &str) {
        for (n, k) in [(0, 1), (1, 1), (4, 2), (40, 3)] {
            for (lower, unit) in [(true, true), (true, false), (false, true), (false, false)] {
                let mut a: Vec<T> = make(1, n * n).into_iter().map(|x| x.over(n as f64)).collect();
                (0..n).for_each(|i| a[i * n + i] = a[i * n + i] + T::ONE);
                let x = make(2, n * k);
                let element = |place: usize| match (place % n, place / n) {
                    (i, j) if i == j && unit => T::ONE,
                    (i, j) if i == j || (i > j) == lower => a[place],
                    _ => T::default(),
                };
                let triangle: Vec<T> = (0..n * n).map(element).collect();
                let mut b = product(&triangle, &x, n, n, k);
                T::solve_triangular(&mut a.clone(), &mut b, n, k, lower, unit, &Alone).unwrap();
                near(&b, &x, what);
            }
        }
        let mut a = [T::ONE, T::ONE, T::ONE, T::default()];
        assert_eq!(T::solve_triangular(&mut a, &mut [T::ONE; 2], 2, 1, true, false, &Alone), Err(Failure::Singular));
        assert_eq!(T::solve_triangular(&mut a, &mut [T::ONE; 2], 2, 1, true, true, &Alone), Ok(()));
    }

    pub fn determinants<T: Field>(make: fn(u64, usize) -> Vec<T>, what: &str) {
        let a = make(1, 4);
        let d = T::determinant(&mut a.clone(), 2, &Alone).unwrap();
        near(&[d.value], &[a[0].times(a[3]) - a[1].times(a[2])], what);
        near(&[d.sign.times(T::ONE.over(1.0 / d.log.exp()))], &[d.value], what);
        let none = T::determinant(&mut [], 0, &Alone).unwrap();
        assert_eq!(none, Determinant { value: T::ONE, sign: T::ONE, log: 0.0 });
        let singular = T::determinant(&mut [T::ONE; 9], 3, &Alone).unwrap();
        assert_eq!((singular.value, singular.sign, singular.log), (T::default(), T::default(), f64::NEG_INFINITY));
        // a matrix that needs one exchange of rows
        let swap = T::determinant(&mut [T::default(), T::ONE, T::ONE, T::default()], 2, &Alone).unwrap();
        near(&[swap.value], &[T::ONE.over(-1.0)], what);
    }

    pub fn orthonormal_factors<T: Field>(make: fn(u64, usize) -> Vec<T>, what: &str) {
        for (m, n) in SIZES {
            for columns in [m.min(n), m] {
                let a = make(1, m * n);
                let (mut r, mut q) = (a.clone(), vec![T::default(); m * columns]);
                T::qr(&mut r, &mut q, m, n, &Alone).unwrap();
                near(&product(&adjoint(&q, m, columns), &q, columns, m, columns), &identity(columns), what);
                let upper: Vec<T> = (0..n).flat_map(|j| r[j * m..][..columns].to_vec()).collect();
                near(&product(&q, &upper, m, columns, n), &a, what);
                let below = (0..n).flat_map(|j| (j + 1..m).map(move |i| j * m + i));
                assert!(below.into_iter().all(|place| r[place] == T::default()), "{what}");
            }
        }
    }

    pub fn singular_values<T: Field>(make: fn(u64, usize) -> Vec<T>, what: &str) {
        for (m, n) in SIZES {
            let (a, size) = (make(1, m * n), m.min(n));
            let mut alone = vec![0.0; size];
            T::svd(&a, &mut alone, None, m, n).unwrap();
            for (of_u, of_v) in [(size, size), (m, n)] {
                let (mut s, mut u, mut v) =
                    (vec![0.0; size], vec![T::default(); m * of_u], vec![T::default(); n * of_v]);
                T::svd(&a, &mut s, Some([&mut u, &mut v]), m, n).unwrap();
                assert!(s.is_sorted_by(|x, y| x >= y) && s.iter().all(|&x| x >= 0.0), "{what}");
                near(&s, &alone, what);
                near(&product(&adjoint(&u, m, of_u), &u, of_u, m, of_u), &identity(of_u), what);
                near(&product(&adjoint(&v, n, of_v), &v, of_v, n, of_v), &identity(of_v), what);
                let scaled: Vec<T> =
                    (0..m * size).map(|place| u[place].times(T::ONE.over(1.0 / s[place / m]))).collect();
                near(&product(&scaled, &adjoint(&v[..n * size], n, size), m, size, n), &a, what);
            }
        }
    }

    pub fn hermitian_eigenvalues<T: Field>(make: fn(u64, usize) -> Vec<T>, what: &str) {
        for n in [0, 1, 3, 40, 70] {
            let a = positive(make, n);
            let mut lower = a.clone();
            (0..n).for_each(|j| lower[j * n..j * n + j].fill(T::ONE.over(1e-30)));
            let (mut w, mut alone, mut v) = (vec![0.0; n], vec![0.0; n], vec![T::default(); n * n]);
            T::eigh(&mut lower.clone(), &mut w, Some(&mut v), n).unwrap();
            T::eigh(&mut lower, &mut alone, None, n).unwrap();
            assert!(w.is_sorted(), "{what}");
            let scale = w.last().map_or(1.0, |x| x.max(1.0));
            near(
                &w.iter().map(|x| x / scale).collect::<Vec<_>>(),
                &alone.iter().map(|x| x / scale).collect::<Vec<_>>(),
                what,
            );
            near(&product(&adjoint(&v, n, n), &v, n, n, n), &identity(n), what);
            let scaled: Vec<T> = (0..n * n).map(|place| v[place].times(T::ONE.over(1.0 / w[place / n]))).collect();
            near(&product(&scaled, &adjoint(&v, n, n), n, n, n), &a, what);
        }
    }

    pub fn eigenvalues<T: Field>(make: fn(u64, usize) -> Vec<T>, what: &str) {
        for n in [0, 1, 2, 3, 5, 20, 40] {
            let a = make(3, n * n);
            let wide: Vec<c64> = a.iter().map(|x| x.wide()).collect();
            let zero = c64::default();
            let (mut w, mut alone, mut v) = (vec![zero; n], vec![zero; n], vec![zero; n * n]);
            T::eig(&a, &mut w, Some(&mut v), n).unwrap();
            T::eig(&a, &mut alone, None, n).unwrap();
            let scaled: Vec<c64> = (0..n * n).map(|place| v[place] * w[place / n]).collect();
            near(&product(&wide, &v, n, n, n), &scaled, what);
            let trace = |w: &[c64]| w.iter().fold(zero, |sum, x| sum + x);
            near(&[trace(&w), trace(&alone)], &[(0..n).fold(zero, |sum, i| sum + wide[i * n + i]); 2], what);
            for column in v.chunks_exact(n.max(1)) {
                near(&[column.iter().map(|x| x.re * x.re + x.im * x.im).sum::<f64>()], &[1.0], what);
            }
        }
    }
}

/// Checks matrices of very large or very small numbers: their factors must equal the scaled factors of matrices of
/// numbers near 1.
mod scales {
    use super::*;

    const SCALES: [f64; 9] = [5e-324, 1e-310, 1e-200, 1e-155, 1e-70, 1e70, 1e153, 1e200, 1e307];

    fn all_near(a: &[f64], b: &[f64], tolerance: f64, what: &str) {
        for (x, y) in a.iter().zip(b) {
            assert!((x - y).abs() <= tolerance * y.abs(), "{what}: {a:?} in place of {b:?}");
        }
    }

    /// Relative tolerance for results of the size `scale`. Small results are rounded to multiples of the smallest
    /// double.
    fn tolerance(scale: f64) -> f64 {
        1e-14 + 1e-323 / scale
    }

    #[test]
    fn values_and_vectors() {
        let s = [3.618033988749895, 1.381966011250105];
        for scale in SCALES.into_iter().skip(1) {
            let (a, expected) = ([2.0, 1.0, 1.0, 3.0].map(|x| x * scale), s.map(|x| x * scale));
            let (near, what) = (tolerance(scale), format!("{scale}"));
            let (mut values, mut u, mut v) = ([0.0; 2], [0.0; 4], [0.0; 4]);
            f64::svd(&a, &mut values, Some([&mut u, &mut v]), 2, 2).unwrap();
            all_near(&values, &expected, near, &what);
            all_near(
                &u.map(f64::abs),
                &[0.5257311121191336, 0.8506508083520399, 0.8506508083520399, 0.5257311121191336],
                near,
                &what,
            );
            f64::eigh(&mut [a[0], a[1], f64::NAN, a[3]], &mut values, Some(&mut v), 2).unwrap();
            all_near(&values, &[expected[1], expected[0]], near, &what);
            let mut w = [c64::default(); 2];
            f64::eig(&a, &mut w, None, 2).unwrap();
            all_near(&[w[0].re.max(w[1].re), w[0].re.min(w[1].re)], &expected, near, &what);

            // a complex Hermitian matrix with the same singular values
            let i = c64::new(0.0, scale);
            let a = [c64::new(a[0], 0.0), i, -i, c64::new(a[3], 0.0)];
            c64::svd(&a, &mut values, None, 2, 2).unwrap();
            all_near(&values, &expected, near, &what);
            c64::eigh(&mut a.clone(), &mut values, None, 2).unwrap();
            all_near(&values, &[expected[1], expected[0]], near, &what);
            let mut vectors = [c64::default(); 4];
            c64::eig(&a, &mut w, Some(&mut vectors), 2).unwrap();
            all_near(&[w[0].re.max(w[1].re), w[0].re.min(w[1].re)], &expected, near, &what);
        }
        let mut values = [0.0; 2];
        f64::svd(&[1.17e154; 4], &mut values, None, 2, 2).unwrap();
        assert!((values[0] / 2.34e154 - 1.0).abs() < 1e-15 && values[1] < 1e139, "{values:?}");
    }

    #[test]
    fn systems() {
        for scale in SCALES {
            for of_b in SCALES {
                let (a, near) = ([4.0, 1.0, 2.0, 3.0].map(|x| x * scale), tolerance(scale) + tolerance(of_b));
                let mut b = [1.0, 2.0].map(|x| x * of_b);
                // compares only solutions that are well within the range of doubles
                let expected = [-0.1, 0.7].map(|x| x * (of_b / scale));
                if !expected.iter().all(|x| (1e-300..1e300).contains(&x.abs())) {
                    continue;
                }
                let what = format!("{of_b} by {scale}");
                f64::solve(&mut a.clone(), &mut b, 2, 1, &Alone).unwrap();
                all_near(&b, &expected, near, &what);
                let mut b = [1.0, 2.0].map(|x| c64::new(0.0, x * of_b));
                c64::solve(&mut a.map(|x| c64::new(0.0, x)), &mut b, 2, 1, &Alone).unwrap();
                all_near(&b.map(|x| x.re), &expected, near, &what);

                let mut b = [4.0, 2.0].map(|x| x * of_b);
                let half = [1.0, 0.5].map(|x| x * (of_b / scale));
                f64::solve_triangular(
                    &mut [4.0 * scale, 0.0, f64::NAN, 4.0 * scale],
                    &mut b,
                    2,
                    1,
                    true,
                    false,
                    &Alone,
                )
                .unwrap();
                all_near(&b, &half, near, &what);
                let diagonal = c64::new(0.0, 4.0 * scale);
                let mut b = [4.0, 2.0].map(|x| c64::new(0.0, x * of_b));
                let mut a = [diagonal, c64::new(f64::NAN, 0.0), c64::default(), diagonal];
                c64::solve_triangular(&mut a, &mut b, 2, 1, false, false, &Alone).unwrap();
                all_near(&b.map(|x| x.re), &half, near, &what);
            }
        }
        // the rows and columns of these matrices have different scales
        let mut b = [1e300, 1e-300];
        f64::solve(&mut [1e300, 0.0, 0.0, 1e-300], &mut b, 2, 1, &Alone).unwrap();
        all_near(&b, &[1.0, 1.0], 1e-15, "rows");
        let mut b = [1e-310, 1.0];
        f64::solve(&mut [1e-310, 1.0, 0.0, 1.0], &mut b, 2, 1, &Alone).unwrap();
        assert_eq!(b, [1.0, 0.0]);
    }

    #[test]
    fn determinants() {
        let d = |diagonal: &[f64]| {
            let n = diagonal.len();
            let mut a: Vec<f64> = (0..n * n).map(|k| if k % (n + 1) == 0 { diagonal[k / n] } else { 0.0 }).collect();
            f64::determinant(&mut a, n, &Alone).unwrap()
        };
        let one = d(&[1e-200, 1e-200, 1e200, -1e200]);
        all_near(&[one.value, one.sign, 1.0 + one.log], &[-1.0, -1.0, 1.0], 1e-13, "1");
        let small = d(&[1e-160, 2e-150, 1.0]);
        all_near(&[small.value, small.log], &[2e-310, 2e-310_f64.ln()], 1e-13, "2e-310");
        let none = d(&[1e-200, 1e-200]);
        all_near(&[none.value, none.log], &[0.0, -400.0 * 10_f64.ln()], 1e-13, "0");
        let large = d(&[1e308, 1e308, 5e-324]);
        all_near(
            &[large.value, large.log],
            &[5e-324 * 1e308 * 1e308, (5e-324 * 1e308 * 1e308_f64).ln()],
            1e-13,
            "large",
        );
        let turned = c64::determinant(&mut [c64::new(0.0, 1e-310)], 1, &Alone).unwrap();
        all_near(&[turned.value.im, turned.sign.im], &[1e-310, 1.0], 1e-13, "i");
    }

    #[test]
    fn orthonormal_and_cholesky_factors() {
        for scale in SCALES.into_iter().skip(1) {
            let (near, what) = (tolerance(scale), format!("{scale}"));
            // the two columns may have different scales
            for other in SCALES.into_iter().skip(1) {
                let near = near + tolerance(other);
                let (mut r, mut q) = ([3.0 * scale, 4.0 * scale, other, 2.0 * other], [0.0; 4]);
                f64::qr(&mut r, &mut q, 2, 2, &Alone).unwrap();
                all_near(&q.map(f64::abs), &[0.6, 0.8, 0.8, 0.6], near, &what);
                all_near(&r.map(f64::abs), &[5.0 * scale, 0.0, 2.2 * other, 0.4 * other], 5.0 * near, &what);
                let mut r = [3.0 * scale, 4.0 * scale, other, 2.0 * other].map(|x| c64::new(0.0, x));
                let mut q = [c64::default(); 4];
                c64::qr(&mut r, &mut q, 2, 2, &Alone).unwrap();
                all_near(&q.map(|x| x.norm()), &[0.6, 0.8, 0.8, 0.6], near, &what);
                all_near(&r.map(|x| x.norm()), &[5.0 * scale, 0.0, 2.2 * other, 0.4 * other], 5.0 * near, &what);
            }
            let mut l = [4.0 * scale, 2.0 * scale, f64::NAN, 10.0 * scale];
            f64::cholesky(&mut l, 2, &Alone).unwrap();
            all_near(&l, &[2.0, 1.0, 0.0, 3.0].map(|x| x * scale.sqrt()), near, &what);
            let mut l = [4.0, 2.0, 0.0, 10.0].map(|x| c64::new(x * scale, 0.0));
            l[1] = c64::new(0.0, l[1].re);
            c64::cholesky(&mut l, 2, &Alone).unwrap();
            all_near(&l.map(|x| x.re + x.im), &[2.0, 1.0, 0.0, 3.0].map(|x| x * scale.sqrt()), near, &what);
        }
    }
}
