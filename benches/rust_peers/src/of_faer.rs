//! Calls of faer: products and factorizations of matrices.

use crate::{
    arrays::{Arrays, Layout},
    call::{Call, Total, made},
};
use faer::{
    Mat, Side,
    linalg::solvers::{DenseSolveCore, Eigen, Llt, SelfAdjointEigen, Solve, SolveLstsq, Svd},
    traits::ComplexField,
};
use num_complex::Complex;

impl<T: Total> Total for Mat<T> {
    fn total(&self) -> f64 {
        (0..self.ncols()).flat_map(|j| self.col_as_slice(j)).map(Total::total).sum()
    }
}

impl Total for Llt<f64> {
    fn total(&self) -> f64 {
        self.L().to_owned().total()
    }
}

/// Sums only the singular values or eigenvalues of a decomposition, because the signs of its vectors are arbitrary.
macro_rules! values {
    ($($of:ty)*) => {$(
        impl Total for $of {
            fn total(&self) -> f64 {
                self.S().column_vector().iter().map(Total::total).sum()
            }
        }
    )*};
}

values!(Svd<f64> SelfAdjointEigen<f64> Eigen<f64>);

/// The matrices in an array with `axes` axes: one column if `axes` is 1, one matrix if it is 2, a list of matrices
/// along the first axis if it is 3.
fn matrices<T: Copy + 'static>(arrays: &Arrays, name: &str, axes: usize) -> Option<Vec<Mat<T>>> {
    let (elements, dims, layout) = arrays.get::<T>(name)?;
    if dims.len() != axes || layout != Layout::C {
        return None;
    }
    let (rows, columns) = match dims[..] {
        [n] => (n, 1),
        [.., rows, columns] => (rows, columns),
        [] => return None,
    };
    let of = |x: &[T]| Mat::from_fn(rows, columns, |i, j| x[i * columns + j]);
    Some(elements.chunks(rows * columns).map(of).collect())
}

pub fn call(text: &str, arrays: &Arrays) -> Option<Call> {
    products::<f64>(text, arrays)
        .or_else(|| products::<f32>(text, arrays))
        .or_else(|| products::<Complex<f64>>(text, arrays))
        .or_else(|| factorizations(text, arrays))
}

fn products<T: ComplexField + Total + Copy + 'static>(text: &str, arrays: &Arrays) -> Option<Call> {
    let one = |name: &str, axes| matrices::<T>(arrays, name, axes)?.pop();
    let all = |name: &str| matrices::<T>(arrays, name, 3);
    match text {
        "matmul(l, r)" => {
            let (l, r) = (one("l", 2)?, one("r", 2)?);
            made(move || &l * &r)
        }
        "matmul(a, c)" | "einsum('ij,jk->ik', [a, c])" => {
            let (a, c) = (one("a", 2)?, one("c", 2)?);
            made(move || &a * &c)
        }
        "matmul(l, x)" => {
            let (l, x) = (one("l", 2)?, one("x", 1)?);
            made(move || &l * &x)
        }
        "outer(x, y)" => {
            let (x, y) = (one("x", 1)?, one("y", 1)?);
            made(move || &x * y.transpose())
        }
        "matmul(many_l, many_r)" => {
            let (l, r) = (all("many_l")?, all("many_r")?);
            made(move || l.iter().zip(&r).map(|(l, r)| l * r).collect::<Vec<_>>())
        }
        "einsum('bij,bkj->bik', [many_l, many_r])" => {
            let (l, r) = (all("many_l")?, all("many_r")?);
            made(move || l.iter().zip(&r).map(|(l, r)| l * r.transpose()).collect::<Vec<_>>())
        }
        _ => None,
    }
}

fn factorizations(text: &str, arrays: &Arrays) -> Option<Call> {
    const DONE: &str = "the iteration ends";
    let one = |name: &str| matrices::<f64>(arrays, name, 2)?.pop();
    let all = |name: &str| matrices::<f64>(arrays, name, 3);
    let (a, c, spd) = (one("a")?, one("c")?, one("spd")?);
    match text {
        "solve(a, c)" => made(move || a.partial_piv_lu().solve(&c)),
        "inv(a)" => made(move || a.partial_piv_lu().inverse()),
        "det(a)" => made(move || a.determinant()),
        "cholesky(spd)" => made(move || spd.llt(Side::Lower).expect("positive definite")),
        "qr(a)" => made(move || {
            let qr = a.qr();
            (qr.compute_thin_Q(), qr.thin_R().to_owned())
        }),
        "svd(a)" => made(move || a.svd().expect(DONE)),
        "svdvals(a)" => made(move || a.singular_values().expect(DONE)),
        "eigh(spd)" => made(move || spd.self_adjoint_eigen(Side::Lower).expect(DONE)),
        "eig(a)" => made(move || a.eigen().expect(DONE)),
        "pinv(a)" => made(move || a.thin_svd().expect(DONE).pseudoinverse()),
        "lstsq(a, c)" => made(move || a.col_piv_qr().solve_lstsq(&c)),
        "solve_triangular(a, c)" => made(move || {
            let mut x = c.clone();
            a.solve_upper_triangular_in_place(&mut x);
            x
        }),
        "matrix_power(a, 5)" => made(move || {
            let square = &a * &a;
            &square * &square * &a
        }),
        "kron(a, q2)" => {
            let q2 = one("q2")?;
            made(move || a.kron(&q2))
        }
        "inv(many)" => {
            let many = all("many")?;
            made(move || many.iter().map(|x| x.partial_piv_lu().inverse()).collect::<Vec<_>>())
        }
        "svdvals(many)" => {
            let many = all("many")?;
            made(move || many.iter().map(|x| x.singular_values().expect(DONE)).collect::<Vec<_>>())
        }
        "eigh(many_spd)" => {
            let many = all("many_spd")?;
            made(move || many.iter().map(|x| x.self_adjoint_eigen(Side::Lower).expect(DONE)).collect::<Vec<_>>())
        }
        _ => None,
    }
}
