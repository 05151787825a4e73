//! Factorizations of the matrices of a batch, and solutions of equations by factorizations, computed by
//! `backend-linalg` (the faer library).

use super::dense::{Order, Parts, Wide, array, by_columns, each, each_range, in_double, matrices, require_finite};
use backend_core::{
    Complex, DType, QrMode, Result,
    numpyish::{
        OpContext, buffer,
        raw::{RawArray, View},
    },
    rules::{self, System},
};
use backend_linalg::{Determinant, Scalar};

/// Number of matrices in the batch.
fn batch(leading: &[usize]) -> usize {
    leading.iter().product()
}

/// Lengths of the axes before the two axes of the matrices.
fn leading(shape: &[usize]) -> &[usize] {
    &shape[..shape.len() - 2]
}

/// Cholesky factors of Hermitian matrices. Only one triangle of each matrix is read.
pub fn cholesky(_: OpContext<'_>, x: View<'_>, upper: bool) -> Result<RawArray> {
    fn run<S: Wide>(x: View<'_>, upper: bool) -> Result<RawArray> {
        const OP: &str = "cholesky";
        let n = rules::square(OP, x.shape)?;
        // `S::cholesky` reads and writes lower triangles of column-major matrices; if an upper factor is requested, the
        // matrix is copied and returned in row-major order, where the same memory is its upper triangle
        let mut a = matrices::<S>(OP, x, leading(x.shape), if upper { Order::Rows } else { Order::Columns })?;
        let batch = batch(leading(x.shape));
        let written = a.len();
        let parts = Parts::of(&mut a, batch);
        // SAFETY: each matrix belongs to one call.
        each(OP, batch, n, written, |i, team| S::cholesky(unsafe { parts.at(i) }, n, team))?;
        let shape = x.shape.to_vec();
        if upper { array(OP, shape, a, x.dtype) } else { by_columns(OP, shape, a, x.dtype) }
    }
    in_double!(x.dtype, S => run::<S>(x, upper))
}

/// The right-hand sides of systems, as matrices. A vector becomes a matrix of one column.
fn right_sides<S: Wide>(op: &'static str, b: View<'_>, system: &System) -> Result<Vec<S>> {
    if system.is_vector {
        let (shape, strides) = ([b.shape[0], 1], [b.strides[0], 0]);
        return matrices(op, View { shape: &shape, strides: &strides, ..b }, &system.batches, Order::Columns);
    }
    matrices(op, b, &system.batches, Order::Columns)
}

/// Makes the result array of the solution, whose matrices are stored column by column.
fn solution<S: Wide>(op: &'static str, x: Vec<S>, system: &System, dtype: DType) -> Result<RawArray> {
    if system.is_vector { array(op, system.shape(), x, dtype) } else { by_columns(op, system.shape(), x, dtype) }
}

/// Solutions of systems of linear equations.
pub fn solve(_: OpContext<'_>, x1: View<'_>, x2: View<'_>) -> Result<RawArray> {
    fn run<S: Wide>(x1: View<'_>, x2: View<'_>) -> Result<RawArray> {
        const OP: &str = "solve";
        let system = System::square(OP, x1.shape, x2.shape, x1.dtype.size())?;
        let mut a = matrices::<S>(OP, x1, &system.batches, Order::Columns)?;
        let mut b = right_sides::<S>(OP, x2, &system)?;
        let (n, k, batch) = (system.rows, system.columns, batch(&system.batches));
        let written = b.len();
        let (of_a, of_b) = (Parts::of(&mut a, batch), Parts::of(&mut b, batch));
        each_range(OP, batch, n.max(k), written, |range, team| {
            // SAFETY: each matrix belongs to one call.
            let (a, b) = unsafe { (of_a.range(range.clone()), of_b.range(range)) };
            S::solve_all(a, b, n, k, team)
        })?;
        solution(OP, b, &system, x1.dtype)
    }
    in_double!(x1.dtype, S => run::<S>(x1, x2))
}

/// Solutions of systems of linear equations with triangular matrices.
pub fn solve_triangular(
    _: OpContext<'_>,
    x1: View<'_>,
    x2: View<'_>,
    lower: bool,
    unit_diagonal: bool,
) -> Result<RawArray> {
    fn run<S: Wide>(x1: View<'_>, x2: View<'_>, lower: bool, unit: bool) -> Result<RawArray> {
        const OP: &str = "solve_triangular";
        let system = System::square(OP, x1.shape, x2.shape, x1.dtype.size())?;
        let mut a = matrices::<S>(OP, x1, &system.batches, Order::Columns)?;
        let mut b = right_sides::<S>(OP, x2, &system)?;
        let (n, k, batch) = (system.rows, system.columns, batch(&system.batches));
        let written = b.len();
        let (of_a, of_b) = (Parts::of(&mut a, batch), Parts::of(&mut b, batch));
        each(OP, batch, n.max(k), written, |i, team| {
            // SAFETY: each matrix belongs to one call.
            let (a, b) = unsafe { (of_a.at(i), of_b.at(i)) };
            S::solve_triangular(a, b, n, k, lower, unit, team)
        })?;
        solution(OP, b, &system, x1.dtype)
    }
    in_double!(x1.dtype, S => run::<S>(x1, x2, lower, unit_diagonal))
}

/// Inverses of square matrices.
pub fn inv(_: OpContext<'_>, x: View<'_>) -> Result<RawArray> {
    fn run<S: Wide>(x: View<'_>) -> Result<RawArray> {
        const OP: &str = "inv";
        let n = rules::square(OP, x.shape)?;
        let batch = batch(leading(x.shape));
        let mut a = matrices::<S>(OP, x, leading(x.shape), Order::Columns)?;
        let mut inverses = buffer::zeros::<S>(OP, a.len())?;
        let written = inverses.len();
        let (of_a, of_inverse) = (Parts::of(&mut a, batch), Parts::of(&mut inverses, batch));
        each_range(OP, batch, n, written, |range, team| {
            // SAFETY: each matrix belongs to one call.
            let (a, inverses) = unsafe { (of_a.range(range.clone()), of_inverse.range(range)) };
            S::inverse_all(a, inverses, n, team)
        })?;
        by_columns(OP, x.shape.to_vec(), inverses, x.dtype)
    }
    in_double!(x.dtype, S => run::<S>(x))
}

/// Determinants of the matrices in the last two axes.
pub fn det(_: OpContext<'_>, x: View<'_>) -> Result<RawArray> {
    let [value, _, _] = in_double!(x.dtype, S => determinants::<S>("det", x))?;
    Ok(value)
}

/// Signs of the determinants of matrices, and logarithms of the magnitudes of the determinants.
pub fn slogdet(_: OpContext<'_>, x: View<'_>) -> Result<[RawArray; 2]> {
    let [_, sign, log] = in_double!(x.dtype, S => determinants::<S>("slogdet", x))?;
    Ok([sign, log])
}

/// Number of determinants that are computed in one call: several groups of small matrices.
const PIECE: usize = 8 * backend_linalg::GROUP;

/// Determinants, their signs, and the logarithms of their magnitudes.
fn determinants<S: Wide>(op: &'static str, x: View<'_>) -> Result<[RawArray; 3]> {
    let n = rules::square(op, x.shape)?;
    let shape = leading(x.shape).to_vec();
    let batch = batch(&shape);
    let mut a = matrices::<S>(op, x, &shape, Order::Columns)?;
    let (mut values, mut signs) = (buffer::zeros::<S>(op, batch)?, buffer::zeros::<S>(op, batch)?);
    let mut logs = buffer::zeros::<f64>(op, batch)?;
    let (of_a, value) = (Parts::of(&mut a, batch), Parts::of(&mut values, batch));
    let (sign, log) = (Parts::of(&mut signs, batch), Parts::of(&mut logs, batch));
    each_range(op, batch, n, batch, |range, team| {
        for start in range.clone().step_by(PIECE) {
            let piece = start..range.end.min(start + PIECE);
            // SAFETY: each matrix belongs to one call.
            let a = unsafe { of_a.range(piece.clone()) };
            // SAFETY: as above.
            let (value, sign, log) =
                unsafe { (value.range(piece.clone()), sign.range(piece.clone()), log.range(piece.clone())) };
            let mut found = [Determinant::one(); PIECE];
            S::determinants(a, n, &mut found[..piece.len()], team)?;
            for (i, found) in found[..piece.len()].iter().enumerate() {
                (value[i], sign[i], log[i]) = (found.value, found.sign, found.log);
            }
        }
        Ok(())
    })?;
    let dtype = x.dtype;
    let logs = array(op, shape.clone(), logs, dtype.to_real())?;
    Ok([array(op, shape.clone(), values, dtype)?, array(op, shape, signs, dtype)?, logs])
}

/// QR factorizations. Returns the factors with orthonormal columns, and then the upper triangular factors.
pub fn qr(_: OpContext<'_>, x: View<'_>, mode: QrMode) -> Result<[RawArray; 2]> {
    fn run<S: Wide>(x: View<'_>, complete: bool) -> Result<[RawArray; 2]> {
        const OP: &str = "qr";
        let [of_q, of_r] = rules::qr(OP, x.shape, complete, x.dtype.size())?;
        let (m, n) = rules::matrix(OP, x.shape)?;
        let (inner, batch) = (of_r[of_r.len() - 2], batch(leading(x.shape)));
        let mut a = matrices::<S>(OP, x, leading(x.shape), Order::Columns)?;
        let mut q = buffer::zeros::<S>(OP, batch * m * inner)?;
        let written = a.len() + q.len();
        let (part_a, part_q) = (Parts::of(&mut a, batch), Parts::of(&mut q, batch));
        each(OP, batch, m.max(n), written, |i, team| {
            // SAFETY: each matrix belongs to one call.
            let (a, q) = unsafe { (part_a.at(i), part_q.at(i)) };
            S::qr(a, q, m, n, team)
        })?;
        if inner < m {
            // keep the first rows of each column
            let mut r = buffer::vec(OP, batch * inner * n)?;
            a.chunks_exact(m).for_each(|column| r.extend_from_slice(&column[..inner]));
            a = r;
        }
        Ok([by_columns(OP, of_q, q, x.dtype)?, by_columns(OP, of_r, a, x.dtype)?])
    }
    in_double!(x.dtype, S => run::<S>(x, mode == QrMode::Complete))
}

/// Singular value decompositions: left singular vectors, singular values and right singular vectors. If `full_matrices`
/// is true, the matrices of singular vectors are square.
pub fn svd(_: OpContext<'_>, x: View<'_>, full_matrices: bool) -> Result<[RawArray; 3]> {
    fn run<S: Wide>(x: View<'_>, full: bool) -> Result<[RawArray; 3]> {
        const OP: &str = "svd";
        let shapes = rules::Svd::of(OP, x.shape, full, x.dtype.size())?;
        let (m, n) = rules::matrix(OP, x.shape)?;
        let (of_u, of_v) = if full { (m, n) } else { (m.min(n), m.min(n)) };
        let batch = batch(leading(x.shape));
        let mut a = matrices::<S>(OP, x, leading(x.shape), Order::Columns)?;
        require_finite(OP, &a)?;
        let mut u = buffer::zeros::<S>(OP, batch * m * of_u)?;
        let mut v = buffer::zeros::<S>(OP, batch * n * of_v)?;
        let mut s = buffer::zeros::<f64>(OP, batch * m.min(n))?;
        let written = s.len() + u.len() + v.len();
        let (part_a, part_s) = (Parts::of(&mut a, batch), Parts::of(&mut s, batch));
        let (part_u, part_v) = (Parts::of(&mut u, batch), Parts::of(&mut v, batch));
        each(OP, batch, m.max(n), written, |i, _| {
            // SAFETY: each matrix belongs to one call.
            let (a, s, u, v) = unsafe { (part_a.at(i), part_s.at(i), part_u.at(i), part_v.at(i)) };
            S::svd(a, s, Some([&mut *u, &mut *v]), m, n)?;
            // `v` is stored column by column; read row by row, the same memory is the transpose of `v`, so only the
            // elements have to be conjugated
            v.iter_mut().for_each(|x| *x = Scalar::conj(*x));
            Ok(())
        })?;
        let s = array(OP, shapes.s, s, x.dtype.to_real())?;
        Ok([by_columns(OP, shapes.u, u, x.dtype)?, s, array(OP, shapes.vh, v, x.dtype)?])
    }
    in_double!(x.dtype, S => run::<S>(x, full_matrices))
}

/// Singular values of the matrices in the last two axes.
pub fn svdvals(_: OpContext<'_>, x: View<'_>) -> Result<RawArray> {
    fn run<S: Wide>(x: View<'_>) -> Result<RawArray> {
        const OP: &str = "svdvals";
        let shapes = rules::Svd::of(OP, x.shape, false, x.dtype.size())?;
        let (m, n) = rules::matrix(OP, x.shape)?;
        let batch = batch(leading(x.shape));
        let mut a = matrices::<S>(OP, x, leading(x.shape), Order::Columns)?;
        require_finite(OP, &a)?;
        let mut s = buffer::zeros::<f64>(OP, batch * m.min(n))?;
        let written = s.len();
        let (part_a, part_s) = (Parts::of(&mut a, batch), Parts::of(&mut s, batch));
        each(OP, batch, m.max(n), written, |i, _| {
            // SAFETY: each matrix belongs to one call.
            let (a, s) = unsafe { (part_a.at(i), part_s.at(i)) };
            S::svd(a, s, None, m, n)
        })?;
        array(OP, shapes.s, s, x.dtype.to_real())
    }
    in_double!(x.dtype, S => run::<S>(x))
}

/// Eigenvalues and eigenvectors of Hermitian matrices. Only the lower triangle of each matrix is read.
pub fn eigh(_: OpContext<'_>, x: View<'_>) -> Result<[RawArray; 2]> {
    let (w, v) = in_double!(x.dtype, S => hermitian::<S>("eigh", x, true))?;
    Ok([w, v.ok_or_else(|| rules::failed("eigh"))?])
}

/// Eigenvalues of Hermitian matrices. Only the lower triangle of each matrix is read.
pub fn eigvalsh(_: OpContext<'_>, x: View<'_>) -> Result<RawArray> {
    in_double!(x.dtype, S => hermitian::<S>("eigvalsh", x, false)).map(|(w, _)| w)
}

fn hermitian<S: Wide>(op: &'static str, x: View<'_>, vectors: bool) -> Result<(RawArray, Option<RawArray>)> {
    let shape = rules::eigen(op, x.shape, x.dtype.size())?;
    let (n, batch) = (rules::square(op, x.shape)?, batch(leading(x.shape)));
    let mut a = matrices::<S>(op, x, leading(x.shape), Order::Columns)?;
    for (place, column) in a.chunks_exact(n.max(1)).enumerate() {
        require_finite(op, &column[place % n..])?;
    }
    let mut w = buffer::zeros::<f64>(op, batch * n)?;
    let mut v = buffer::zeros::<S>(op, if vectors { batch * n * n } else { 0 })?;
    let (part_a, part_w, part_v) = (Parts::of(&mut a, batch), Parts::of(&mut w, batch), Parts::of(&mut v, batch));
    each(op, batch, n, batch * n, |i, _| {
        // SAFETY: each matrix belongs to one call.
        let (a, w, v) = unsafe { (part_a.at(i), part_w.at(i), part_v.at(i)) };
        S::eigh(a, w, vectors.then_some(v), n)
    })?;
    let v = if vectors { Some(by_columns(op, x.shape.to_vec(), v, x.dtype)?) } else { None };
    Ok((array(op, shape, w, x.dtype.to_real())?, v))
}

/// Eigenvalues and eigenvectors of square matrices, as complex numbers. The matrices need not be Hermitian.
pub fn eig(_: OpContext<'_>, x: View<'_>) -> Result<[RawArray; 2]> {
    let (w, v) = in_double!(x.dtype, S => general::<S>("eig", x, true))?;
    Ok([w, v.ok_or_else(|| rules::failed("eig"))?])
}

/// Eigenvalues of square matrices, as complex numbers. The matrices need not be Hermitian.
pub fn eigvals(_: OpContext<'_>, x: View<'_>) -> Result<RawArray> {
    in_double!(x.dtype, S => general::<S>("eigvals", x, false)).map(|(w, _)| w)
}

fn general<S: Wide>(op: &'static str, x: View<'_>, vectors: bool) -> Result<(RawArray, Option<RawArray>)> {
    let complex = x.dtype.to_complex();
    let shape = rules::eigen(op, x.shape, complex.size())?;
    let (n, batch) = (rules::square(op, x.shape)?, batch(leading(x.shape)));
    let mut a = matrices::<S>(op, x, leading(x.shape), Order::Columns)?;
    require_finite(op, &a)?;
    let mut w = buffer::zeros::<Complex<f64>>(op, batch * n)?;
    let mut v = buffer::zeros::<Complex<f64>>(op, if vectors { batch * n * n } else { 0 })?;
    let (part_a, part_w, part_v) = (Parts::of(&mut a, batch), Parts::of(&mut w, batch), Parts::of(&mut v, batch));
    each(op, batch, n, batch * n, |i, _| {
        // SAFETY: each matrix belongs to one call.
        let (a, w, v) = unsafe { (part_a.at(i), part_w.at(i), part_v.at(i)) };
        S::eig(a, w, vectors.then_some(v), n)
    })?;
    let v = if vectors { Some(by_columns(op, x.shape.to_vec(), v, complex)?) } else { None };
    Ok((array(op, shape, w, complex)?, v))
}
