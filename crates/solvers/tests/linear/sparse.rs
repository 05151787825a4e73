//! Tests of sparse matrices as operators, and of their factorizations.

use crate::{common::*, on_every_backend};
use backends::{
    Result,
    grad::{self, grad},
    prelude::*,
};
use backends_solvers::{
    linear::*,
    sparse::{Coo, Csr},
};

/// A sparse matrix as a list of elements.
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

    /// A matrix for diffusion on a grid of `n` by `n` cells, with one row per cell. The rows have different
    /// magnitudes. A flow of strength `stream` makes the matrix unsymmetric; without a flow it is Hermitian.
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

    /// A Hermitian tridiagonal matrix.
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

    pub fn on<B: Backend>(&self, b: &B) -> Csr<B, T> {
        let elements = self.rows.iter().zip(&self.columns).zip(&self.values).map(|((&i, &j), &v)| (i, j, v));
        Coo::from_triplets(b, elements.collect::<Vec<_>>(), [self.n, self.n]).unwrap().to_csr(b).unwrap()
    }
}

/// Uses a matrix in each sparse format as an operator, and compares the products with the products of the dense matrix.
fn layouts<B: Backend, T: WideFloat>(b: &B) -> Checked {
    let triplets = Triplets::<T>::convection(4, 0.7);
    let (csr, dense) = (triplets.on(b), triplets.dense(b));
    let dense = Dense::<B, T>::new(&dense);
    #[allow(clippy::type_complexity)] // names and operators
    let operators: [(&str, Box<dyn LinearOperator<B, T>>); 4] = [
        ("csr", Box::new(csr.clone())),
        ("coo", Box::new(csr.to_coo(b)?)),
        ("csc", Box::new(csr.to_csc(b)?)),
        ("dia", Box::new(csr.to_dia(b)?)),
    ];
    for shape in [&[16][..], &[3, 16], &[2, 3, 16], &[0, 16]] {
        let y = vector::<B, T>(b, shape, 95)?;
        for (name, a) in &operators {
            assert_eq!((a.shape(), a.unknown_ndim()), (Some([16, 16]), Some(1)));
            if y.is_empty() {
                assert_eq!(a.apply(b, &y)?.shape(), shape);
                continue;
            }
            near(b, name, &a.apply(b, &y)?, &dense.apply(b, &y)?, 1e-13);
            near(b, name, &a.apply_adjoint(b, &y)?.unwrap(), &dense.apply_adjoint(b, &y)?.unwrap(), 1e-13);
            let found = Solve::new().rtol(1e-12).solve_operator(b, &**a, &y)?.checked()?;
            assert_eq!(found.method, "biCG-stab(2)");
            near(b, name, &a.apply(b, &found.x)?, &y, 1e-10);
        }
    }
    for (name, a) in &operators {
        assert!(a.apply(b, &b.zeros([15])?).is_err() && a.apply(b, &b.zeros([0_usize; 0])?).is_err(), "{name}");
        assert!(Solve::new().solve_operator(b, &**a, &b.zeros([15])?).is_err());
        let Some(Matrix::Sparse(host)) = a.matrix(b)? else { panic!("{name}") };
        assert_eq!((host.shape(), host.diagonal()[3]), ([16, 16], T::from_complex(Complex::new(4.2 * 11.0, 0.0))));
    }
    // least squares with the first seven rows, which are not a square matrix
    let host = dense_of(b, &csr)?;
    let half = Csr::from_dense(b, &b.get(&host, ix![..7])?)?;
    let y = vector::<B, T>(b, &[2, 7], 96)?;
    let found = Solve::new().rtol(1e-12).solve(b, &half, &y)?.checked()?;
    let expected = Solve::new().solve(b, &b.get(&host, ix![..7])?, &y)?.checked()?;
    near(b, "least squares", &found.x, &expected.x, 1e-9);
    assert_eq!(found.x.shape(), [2, 16]);
    Ok(())
}

fn dense_of<B: Backend, T: WideFloat>(b: &B, a: &Csr<B, T>) -> Result<B::Array<T>> {
    a.to_dense(b)
}

fn of_both_kinds<B: Backend>(b: &B) -> Checked {
    layouts::<B, f64>(b)?;
    layouts::<B, Complex<f64>>(b)
}

#[test]
fn sparse_matrices_are_operators() {
    on_every_backend!(of_both_kinds);
}

/// Checks the gradients with respect to the right side and to the values of the matrix, without and with a
/// preconditioner. The backward pass has to transpose the preconditioner.
fn gradients<B: Backend>(b: &B) -> Checked {
    let triplets = Triplets::<f64>::convection(3, 0.4);
    let a = triplets.on(b);
    let y = vector::<B, f64>(b, &[9], 97)?;
    for preconditioned in [false, true] {
        let (by_a, by_y) = grad(
            b,
            |d, (a, y)| {
                let mut solve = Solve::new().method(Method::BiCgStab(1)).rtol(1e-13);
                if preconditioned {
                    solve = solve.preconditioner(IncompleteLu::of(d, a)?);
                }
                let x = solve.solve(d, a, y)?.into_x()?;
                expr!(d, sum(x * x * x, ..))
            },
            (&a, &y),
        )?;
        let dense = a.to_dense(b)?;
        let f = |d: &grad::Diff<B>, (a, y): &(grad::Var<B, f64>, grad::Var<B, f64>)| {
            let x = d.solve(a, y)?;
            expr!(d, sum(x * x * x, ..))
        };
        let expected = grad(b, f, (&dense, &y))?;
        near(b, "by the right side", &by_y, &expected.1, 1e-9);
        let there = b.not_equal(&dense, 0.0)?;
        near(b, "by the values", &by_a.to_dense(b)?, &b.r#where(there, &expected.0, 0.0)?, 1e-9);
    }
    Ok(())
}

#[test]
fn gradients_by_the_values() {
    on_every_backend!(gradients);
}

#[cfg(feature = "faer")]
mod direct {
    use super::*;

    fn factors<B: Backend, T: WideFloat>(b: &B, tolerance: f64) -> Checked {
        for (stream, hermitian) in [(0.0, true), (0.0, false), (0.7, false)] {
            let a = Triplets::<T>::convection(5, stream);
            let y = vector::<B, T>(b, &[3, 25], 91)?;
            let solve = Solve::new().method(Method::Direct).hermitian(hermitian);
            let found = solve.solve(b, &a.on(b), &y)?.checked()?;
            let dense = Solve::new().solve(b, &a.dense(b), &y)?.into_x()?;
            near(b, "factors", &found.x, &dense, tolerance);
            assert_eq!((found.iterations.as_slice(), found.method.as_str()), (&[0; 3][..], "direct"));
        }
        // a negative definite matrix, and an indefinite Hermitian one
        let line = Triplets::<T>::line(6);
        let y = vector::<B, T>(b, &[6], 92)?;
        let found = Solve::new().method(Method::Direct).hermitian(true).solve(b, &line.on(b), &y)?;
        near(b, "negative", &found.x, &b.solve(line.dense(b), &y)?, tolerance);
        let swap = Triplets::<T>::new(2, [(0, 1, Complex::new(2.0, 0.0)), (1, 0, Complex::new(2.0, 0.0))]);
        let y = vector::<B, T>(b, &[2], 93)?;
        let found = Solve::new().method(Method::Direct).hermitian(true).solve(b, &swap.on(b), &y)?;
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
            Solve::new().method(Method::Direct).solve(&b, &a.on(&b), &b.ones::<f64>([n]).unwrap())
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
                let x = Solve::new().method(Method::Direct).solve(d, &a.on(&b).constant_on(d), y)?.into_x()?;
                d.sum(d.pow(x, 3.0)?, ..)
            },
            &y,
        )
        .unwrap();
        let expected = grad(&b, |d, y| d.sum(d.pow(d.solve(&d.constant(dense.clone()), y)?, 3.0)?, ..), &y).unwrap();
        near(&b, "gradient", &found, &expected, 1e-12);
    }
}
