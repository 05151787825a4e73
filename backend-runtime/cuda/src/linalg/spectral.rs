//! Singular values and eigenvalues with cuSOLVER.

use super::{
    batched::{self, JACOBI},
    factor::leading,
    solver::{self, Vectors},
    stack::{Kept, Notes, Stack, identities, swapped, tidying, unpack_pairs},
};
use crate::{Cuda, OpContext, array::RawArray};
use backend_core::{DType, Result, rules};

/// Computes singular value decompositions: left singular vectors, singular values, right singular vectors.
pub fn svd(on: OpContext<'_>, x: &RawArray, full_matrices: bool) -> Result<[RawArray; 3]> {
    let which = if full_matrices { Vectors::Full } else { Vectors::Thin };
    let Singular { s, u, vh } = Singular::of(on.backend, on.op, x, which)?;
    Ok([u, s, vh])
}

/// Computes the singular values of matrices.
pub fn svdvals(on: OpContext<'_>, x: &RawArray) -> Result<RawArray> {
    Ok(Singular::of(on.backend, on.op, x, Vectors::None)?.s)
}

/// Singular values and vectors. If no vectors are requested, `u` and `vh` are empty arrays.
struct Singular {
    s: RawArray,
    u: RawArray,
    vh: RawArray,
}

impl Singular {
    fn of(b: &Cuda, op: &'static str, x: &RawArray, which: Vectors) -> Result<Singular> {
        let shapes = rules::Svd::of(op, &x.shape, which == Vectors::Full, x.dtype.size())?;
        let (m, n) = rules::matrix(op, &x.shape)?;
        let s = b.uninit_raw(op, x.dtype.to_real(), &shapes.s)?;
        if x.size() == 0 {
            let vectors = |shape: &[usize]| match which {
                Vectors::None => b.uninit_raw(op, x.dtype, &[0]),
                _ => identities(b, op, x.dtype, shape),
            };
            return Ok(Singular { s, u: vectors(&shapes.u)?, vh: vectors(&shapes.vh)? });
        }
        let notes = Notes::new(b, op)?;
        let batch: usize = leading(&x.shape).iter().product();
        let [u, vh] = match batch > 1 && m.max(n) <= JACOBI {
            true => jacobi(b, op, x, &s, which, &notes)?,
            false => one_by_one(b, op, x, &s, which, &notes)?,
        };
        notes.wait(b, op, rules::failed)?;
        Ok(Singular { s, u, vh })
    }
}

/// Decomposes many small matrices by Jacobi's method. Returns the singular vectors, and writes the singular values to
/// `s`.
fn jacobi(
    b: &Cuda,
    op: &'static str,
    x: &RawArray,
    s: &RawArray,
    which: Vectors,
    notes: &Notes,
) -> Result<[RawArray; 2]> {
    let outer = leading(&x.shape);
    let a = Stack::of(b, op, x, outer)?;
    a.tidy(b, Kept::All, tidying::REFUSE_NOT_FINITE, notes)?;
    let codes = a.numbers(b, DType::Int32, 1)?;
    if which == Vectors::None {
        batched::gesvdj(b, &a, s, None, &codes)?;
        notes.note(b, op, &codes)?;
        return none(b, op, x.dtype);
    }
    let (m, n, axis) = (a.rows, a.columns, outer.len());
    let u = Stack::new(b, op, x.dtype, outer, [m, m])?;
    let v = Stack::new(b, op, x.dtype, outer, [n, n])?;
    batched::gesvdj(b, &a, s, Some([&u, &v]), &codes)?;
    notes.note(b, op, &codes)?;
    // `v` is column-major: its memory, read in C order, holds the transpose of the matrix
    if x.dtype != x.dtype.to_real() {
        v.conjugate(b)?;
    }
    let (of_u, of_v) = if which == Vectors::Full { (m, n) } else { (m.min(n), m.min(n)) };
    Ok([u.matrices().sliced(axis + 1, 0, of_u, 1), v.array.sliced(axis, 0, of_v, 1)])
}

/// Two empty arrays, which are returned if no singular vectors are requested.
fn none(b: &Cuda, op: &'static str, dtype: DType) -> Result<[RawArray; 2]> {
    let none = b.uninit_raw(op, dtype, &[0])?;
    Ok([none.clone(), none])
}

/// Decomposes matrices one after the other. Returns the singular vectors, and writes the singular values to `s`.
fn one_by_one(
    b: &Cuda,
    op: &'static str,
    x: &RawArray,
    s: &RawArray,
    which: Vectors,
    notes: &Notes,
) -> Result<[RawArray; 2]> {
    let outer = leading(&x.shape);
    let (m, n) = rules::matrix(op, &x.shape)?;
    // the library refuses matrices with more columns than rows, so it gets the transposes of such matrices; they have
    // the same singular values
    let tall = m >= n;
    let a = if tall { Stack::of(b, op, x, outer)? } else { Stack::of_transposes(b, op, x, outer)? };
    a.tidy(b, Kept::All, tidying::REFUSE_NOT_FINITE, notes)?;
    let codes = a.numbers(b, DType::Int32, 1)?;
    if which == Vectors::None {
        solver::gesvd(b, &a, s, None, which, &codes)?;
        notes.note(b, op, &codes)?;
        return none(b, op, x.dtype);
    }
    let columns = if which == Vectors::Full { a.rows } else { a.columns };
    let u = Stack::new(b, op, x.dtype, outer, [a.rows, columns])?;
    let vt = Stack::new(b, op, x.dtype, outer, [a.columns, a.columns])?;
    solver::gesvd(b, &a, s, Some([&u, &vt]), which, &codes)?;
    notes.note(b, op, &codes)?;
    // the left singular vectors of a transpose are the right singular vectors of the matrix, and vice versa; in C
    // order, the columns of `vt` and `u` are read as rows
    Ok(if tall { [u.matrices(), vt.matrices()] } else { [vt.array, u.array] })
}

/// Eigenvalues and eigenvectors of Hermitian matrices; only the lower triangle is read.
pub fn eigh(on: OpContext<'_>, x: &RawArray) -> Result<[RawArray; 2]> {
    hermitian(on.backend, on.op, x, true)
}

/// Eigenvalues of Hermitian matrices; only the lower triangle is read.
pub fn eigvalsh(on: OpContext<'_>, x: &RawArray) -> Result<RawArray> {
    let [w, _] = hermitian(on.backend, on.op, x, false)?;
    Ok(w)
}

/// Computes the eigenvalues of Hermitian matrices. The second array has the eigenvectors if `vectors` is true, and is
/// meaningless otherwise.
fn hermitian(b: &Cuda, op: &'static str, x: &RawArray, vectors: bool) -> Result<[RawArray; 2]> {
    let shape = rules::eigen(op, &x.shape, x.dtype.size())?;
    let w = b.uninit_raw(op, x.dtype.to_real(), &shape)?;
    if x.size() == 0 {
        return Ok([w, b.uninit_raw(op, x.dtype, &x.shape)?]);
    }
    let a = Stack::of(b, op, x, leading(&x.shape))?;
    let notes = Notes::new(b, op)?;
    a.tidy(b, Kept::Lower, tidying::REFUSE_NOT_FINITE | tidying::REAL_DIAGONAL, &notes)?;
    let codes = a.numbers(b, DType::Int32, 1)?;
    solver::syev(b, &a, &w, vectors, &codes)?;
    notes.note(b, op, &codes)?;
    notes.wait(b, op, rules::failed)?;
    Ok([w, a.matrices()])
}

/// Eigenvalues and eigenvectors of square matrices.
pub fn eig(on: OpContext<'_>, x: &RawArray) -> Result<[RawArray; 2]> {
    general(on.backend, on.op, x, true)
}

/// Eigenvalues of square matrices.
pub fn eigvals(on: OpContext<'_>, x: &RawArray) -> Result<RawArray> {
    let [w, _] = general(on.backend, on.op, x, false)?;
    Ok(w)
}

/// Computes the eigenvalues of square matrices. The second array has the eigenvectors if `vectors` is true, and is
/// meaningless otherwise.
fn general(b: &Cuda, op: &'static str, x: &RawArray, vectors: bool) -> Result<[RawArray; 2]> {
    let complex = x.dtype.to_complex();
    let shape = rules::eigen(op, &x.shape, complex.size())?;
    let outer = leading(&x.shape);
    let w = b.uninit_raw(op, complex, &shape)?;
    if x.size() == 0 {
        return Ok([w, b.uninit_raw(op, complex, &x.shape)?]);
    }
    let a = Stack::of(b, op, x, outer)?;
    let notes = Notes::new(b, op)?;
    a.tidy(b, Kept::All, tidying::REFUSE_NOT_FINITE, &notes)?;
    let codes = a.numbers(b, DType::Int32, 1)?;
    let v = if vectors { Some(Stack::new(b, op, x.dtype, outer, [a.rows; 2])?) } else { None };
    solver::geev(b, &a, &w, v.as_ref(), &codes)?;
    notes.note(b, op, &codes)?;
    let v = match v {
        Some(v) if x.dtype != complex => swapped(&unpack_pairs(b, &v, &w, outer)?.array),
        Some(v) => v.matrices(),
        None => w.clone(),
    };
    notes.wait(b, op, rules::failed)?;
    Ok([w, v])
}
