//! Each factorization against its definition, by plain loops.

use super::*;

/// Numbers that look random, in [-1, 1).
fn noise(seed: u64, n: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..n).map(next).collect()
}

fn reals(seed: u64, n: usize) -> Vec<f64> {
    noise(seed, n)
}

fn complexes(seed: u64, n: usize) -> Vec<c64> {
    noise(seed, 2 * n).chunks_exact(2).map(|x| c64::new(x[0], x[1])).collect()
}

/// `a` (m by k) times `b` (k by n), column by column.
fn product<T: Scalar + std::ops::Add<Output = T>>(a: &[T], b: &[T], m: usize, k: usize, n: usize) -> Vec<T> {
    let mut out = vec![T::default(); m * n];
    for j in 0..n {
        for i in 0..m {
            out[j * m + i] = (0..k).fold(T::default(), |sum, l| sum + a[l * m + i].times(b[j * k + l]));
        }
    }
    out
}

fn adjoint<T: Scalar>(a: &[T], m: usize, n: usize) -> Vec<T> {
    (0..m * n).map(|place| a[(place % n) * m + place / n].conj()).collect()
}

fn near<T: Scalar + std::ops::Sub<Output = T>>(a: &[T], b: &[T], what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    for (x, y) in a.iter().zip(b) {
        assert!((*x - *y).magnitude() < 1e-11, "{what}: {x:?} in place of {y:?}");
    }
}

fn identity<T: Scalar>(n: usize) -> Vec<T> {
    (0..n * n).map(|place| if place % (n + 1) == 0 { T::ONE } else { T::default() }).collect()
}

/// Sizes below and above the library's blocks.
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

mod checks {
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

    /// A Hermitian matrix above 0.
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
            // what is above the diagonal is not read
            (0..n).for_each(|j| l[j * n..j * n + j].fill(T::ONE.over(f64::MIN_POSITIVE)));
            T::cholesky(&mut l, n).unwrap();
            let back = product(&l, &adjoint(&l, n, n), n, n, n);
            near(&back, &a, what);
        }
        let mut zero = vec![T::default(); 9];
        assert_eq!(T::cholesky(&mut zero, 3), Err(Failure::NotPositiveDefinite));
        let mut unknown = vec![T::ONE.over(0.0).times(T::default()); 9];
        assert_eq!(T::cholesky(&mut unknown, 3), Err(Failure::NotPositiveDefinite));
    }

    pub fn systems<T: Field>(make: fn(u64, usize) -> Vec<T>, what: &str) {
        for (n, k) in [(0, 0), (0, 2), (1, 1), (3, 2), (40, 7), (70, 1)] {
            let (a, x) = (make(1, n * n), make(2, n * k));
            let mut b = product(&a, &x, n, n, k);
            T::solve(&mut a.clone(), &mut b, n, k).unwrap();
            near(&b, &x, what);
        }
        let mut singular = vec![T::ONE; 9];
        assert_eq!(T::solve(&mut singular, &mut [T::ONE; 3], 3, 1), Err(Failure::Singular));
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
                T::solve_triangular(&a, &mut b, n, k, lower, unit).unwrap();
                near(&b, &x, what);
            }
        }
        let a = [T::ONE, T::ONE, T::ONE, T::default()];
        assert_eq!(T::solve_triangular(&a, &mut [T::ONE; 2], 2, 1, true, false), Err(Failure::Singular));
        assert_eq!(T::solve_triangular(&a, &mut [T::ONE; 2], 2, 1, true, true), Ok(()));
    }

    pub fn determinants<T: Field>(make: fn(u64, usize) -> Vec<T>, what: &str) {
        let a = make(1, 4);
        let d = T::determinant(&mut a.clone(), 2).unwrap();
        near(&[d.value], &[a[0].times(a[3]) - a[1].times(a[2])], what);
        near(&[d.sign.times(T::ONE.over(1.0 / d.log.exp()))], &[d.value], what);
        let none = T::determinant(&mut [], 0).unwrap();
        assert_eq!(none, Determinant { value: T::ONE, sign: T::ONE, log: 0.0 });
        let singular = T::determinant(&mut [T::ONE; 9], 3).unwrap();
        assert_eq!((singular.value, singular.sign, singular.log), (T::default(), T::default(), f64::NEG_INFINITY));
        // one exchange of rows
        let swap = T::determinant(&mut [T::default(), T::ONE, T::ONE, T::default()], 2).unwrap();
        near(&[swap.value], &[T::ONE.over(-1.0)], what);
    }

    pub fn orthonormal_factors<T: Field>(make: fn(u64, usize) -> Vec<T>, what: &str) {
        for (m, n) in SIZES {
            for columns in [m.min(n), m] {
                let a = make(1, m * n);
                let (mut r, mut q) = (a.clone(), vec![T::default(); m * columns]);
                T::qr(&mut r, &mut q, m, n).unwrap();
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
            T::eigh(&mut lower, &mut w, Some(&mut v), n).unwrap();
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
