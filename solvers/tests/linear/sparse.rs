//! Sparse matrices as operators, and their factors.

use crate::common::*;
use backends::prelude::*;
use backends_solvers::linear::*;

/// A sparse matrix by its elements: products by gathering and adding, so that they are recorded for gradients.
pub struct Triplets<T> {
    n: usize,
    rows: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<T>,
}

impl<T: WideFloat> Triplets<T> {
    fn new(n: usize, elements: impl IntoIterator<Item = (usize, usize, Complex<f64>)>) -> Self {
        let mut a = Triplets { n, rows: vec![], columns: vec![], values: vec![] };
        for (i, j, v) in elements {
            a.rows.push(i);
            a.columns.push(j);
            a.values.push(T::from_complex(v));
        }
        a
    }

    /// Diffusion on a square of `n` by `n` cells with rows of different sizes, and a stream that makes it unsymmetric.
    pub fn convection(n: usize, stream: f64) -> Self {
        let mut elements = vec![];
        let size = |k: usize| 1.0 + (k * 7 % 11) as f64;
        for k in 0..n * n {
            let (i, j) = (k / n, k % n);
            elements.push((k, k, Complex::new(4.2 * size(k), 0.0)));
            let mut beside = |other: usize, way: f64| {
                let v = (size(k) * size(other)).sqrt();
                elements.push((k, other, Complex::new(-v * (1.0 + stream * way), 0.3 * v * way)));
            };
            if i > 0 {
                beside(k - n, -1.0);
            }
            if j > 0 {
                beside(k - 1, -1.0);
            }
            if j + 1 < n {
                beside(k + 1, 1.0);
            }
            if i + 1 < n {
                beside(k + n, 1.0);
            }
        }
        Triplets::new(n * n, elements)
    }

    /// A Hermitian band.
    pub fn line(n: usize) -> Self {
        let beside = (1..n).flat_map(|i| [(i, i - 1, Complex::new(1.0, 0.5)), (i - 1, i, Complex::new(1.0, -0.5))]);
        Triplets::new(n, (0..n).map(|i| (i, i, Complex::new(-3.0 - i as f64, 0.0))).chain(beside))
    }

    pub fn dense<B: Backend>(&self, b: &B) -> B::Array<T> {
        let mut elements = vec![T::ZERO; self.n * self.n];
        for ((&i, &j), &v) in self.rows.iter().zip(&self.columns).zip(&self.values) {
            elements[i * self.n + j] = elements[i * self.n + j] + v;
        }
        b.reshape(b.from_iter(elements).unwrap(), [self.n, self.n]).unwrap()
    }

    pub fn host(&self) -> HostCsr<T> {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|&k| self.rows[k]);
        let mut indptr = vec![0; self.n + 1];
        self.rows.iter().for_each(|&i| indptr[i + 1] += 1);
        (0..self.n).for_each(|i| indptr[i + 1] += indptr[i]);
        let indices: Vec<usize> = order.iter().map(|&k| self.columns[k]).collect();
        let values: Vec<T> = order.iter().map(|&k| self.values[k]).collect();
        HostCsr::new([self.n, self.n], &indptr, &indices, &values).unwrap()
    }
}

impl<B: Backend, T: WideFloat> LinearOperator<B, T> for Triplets<T> {
    fn apply(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        Dense::<B, T>::new(&self.dense(b)).apply(b, x)
    }

    fn apply_adjoint(&self, b: &B, y: &B::Array<T>) -> Result<Option<B::Array<T>>> {
        Dense::<B, T>::new(&self.dense(b)).apply_adjoint(b, y)
    }

    fn shape(&self) -> Option<[usize; 2]> {
        Some([self.n, self.n])
    }

    fn unknown_ndim(&self) -> Option<usize> {
        Some(1)
    }

    fn matrix(&self, _b: &B) -> Result<Option<Matrix<B, T>>> {
        Ok(Some(Matrix::Sparse(self.host())))
    }
}

#[cfg(feature = "faer")]
mod direct {
    use super::*;
    use crate::on_every_backend;
    use backends::grad::grad;

    fn factors<B: Backend, T: WideFloat>(b: &B, tolerance: f64) -> Checked {
        for (stream, hermitian) in [(0.0, true), (0.0, false), (0.7, false)] {
            let a = Triplets::<T>::convection(5, stream);
            let y = vector::<B, T>(b, &[3, 25], 91)?;
            let solve = Solve::new().method(Method::Direct).hermitian(hermitian);
            let found = solve.solve(b, &a, &y)?.checked()?;
            let dense = Solve::new().solve(b, &a.dense(b), &y)?.into_x()?;
            near(b, "factors", &found.x, &dense, tolerance);
            assert_eq!((found.iterations.as_slice(), found.method.as_str()), (&[0; 3][..], "direct"));
        }
        // negative definite, and Hermitian without being definite
        let line = Triplets::<T>::line(6);
        let y = vector::<B, T>(b, &[6], 92)?;
        let found = Solve::new().method(Method::Direct).hermitian(true).solve(b, &line, &y)?;
        near(b, "negative", &found.x, &b.solve(line.dense(b), &y)?, tolerance);
        let swap = Triplets::<T>::new(2, [(0, 1, Complex::new(2.0, 0.0)), (1, 0, Complex::new(2.0, 0.0))]);
        let y = vector::<B, T>(b, &[2], 93)?;
        let found = Solve::new().method(Method::Direct).hermitian(true).solve(b, &swap, &y)?;
        near(b, "indefinite", &found.x, &b.solve(swap.dense(b), &y)?, tolerance);
        Ok(())
    }

    fn in_every_dtype<B: Backend>(b: &B) -> Checked {
        factors::<B, f64>(b, 1e-12)?;
        factors::<B, f32>(b, 1e-5)?;
        factors::<B, Complex<f64>>(b, 1e-12)?;
        factors::<B, Complex<f32>>(b, 1e-5)
    }

    #[test]
    fn factors_of_sparse_matrices() {
        on_every_backend!(in_every_dtype);
    }

    #[test]
    fn singular_matrices_and_empty_ones() {
        let b = Numpyish::new();
        let solve = |a: &Triplets<f64>, n: usize| {
            Solve::new().method(Method::Direct).solve(&b, a, &b.ones::<f64>([n]).unwrap())
        };
        let one = Complex::new(1.0, 0.0);
        for elements in [vec![(0, 0, one)], vec![(0, 0, one), (0, 1, one), (1, 0, one), (1, 1, one)], vec![]] {
            let why = solve(&Triplets::new(2, elements), 2).unwrap_err().to_string();
            assert!(why.contains("singular"), "{why}");
        }
        let why = solve(&Triplets::new(1, [(0, 0, one * f64::NAN)]), 1).unwrap_err().to_string();
        assert!(why.contains("NaN"), "{why}");
        assert_eq!(solve(&Triplets::new(0, []), 0).unwrap().x.shape(), [0]);
    }

    #[test]
    fn gradients_by_the_transposed_factors() {
        let b = Numpyish::new();
        let (a, dense) = (Triplets::<f64>::convection(3, 0.4), Triplets::<f64>::convection(3, 0.4).dense(&b));
        let y = vector::<_, f64>(&b, &[9], 94).unwrap();
        let found = grad(
            &b,
            |d, y| {
                let x = Solve::new().method(Method::Direct).solve(d, &a, y)?.into_x()?;
                d.sum(d.power(x, 3.0)?, ..)
            },
            &y,
        )
        .unwrap();
        let expected = grad(&b, |d, y| d.sum(d.power(d.solve(&d.constant(dense.clone()), y)?, 3.0)?, ..), &y).unwrap();
        near(&b, "gradient", &found, &expected, 1e-12);
    }
}
