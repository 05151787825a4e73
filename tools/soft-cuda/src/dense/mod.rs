//! Factorizations of small dense matrices for the stand-ins of cuBLAS and cuSOLVER, by textbook methods in complex
//! double precision for every dtype. The code is independent of the backends, so that it does not repeat mistakes of
//! the backends.

mod factor;
mod jacobi;
mod schur;

use crate::{
    fault::{Access, Fault},
    memory::{Hint, Memory},
    stored::{Computed, Stored, aligned},
};
pub(crate) use factor::{cholesky, lu, orthonormal, qr, solve, solve_triangle};
pub(crate) use jacobi::{eigh, svd};
use num_complex::Complex;
pub(crate) use schur::eig;
use std::ops::{Index, IndexMut};

/// The number type of all computations in this module.
pub(crate) type C = Complex<f64>;

/// The dtypes of matrices in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DenseDtype {
    Float32,
    Float64,
    Complex64,
    Complex128,
}

impl DenseDtype {
    /// Returns the dtype for the number of a `cudaDataType`; `None` if there is no factorization in this dtype.
    pub(crate) fn of(code: u32) -> Option<DenseDtype> {
        match code {
            0 => Some(DenseDtype::Float32),
            1 => Some(DenseDtype::Float64),
            4 => Some(DenseDtype::Complex64),
            5 => Some(DenseDtype::Complex128),
            _ => None,
        }
    }

    /// Size of an element in bytes.
    pub(crate) fn size(self) -> usize {
        match self {
            DenseDtype::Float32 => 4,
            DenseDtype::Float64 | DenseDtype::Complex64 => 8,
            DenseDtype::Complex128 => 16,
        }
    }

    /// Returns the dtype of the real and imaginary parts.
    pub(crate) fn real(self) -> DenseDtype {
        if self.is_double() { DenseDtype::Float64 } else { DenseDtype::Float32 }
    }

    /// Returns the complex dtype of the same precision.
    pub(crate) fn complex(self) -> DenseDtype {
        if self.is_double() { DenseDtype::Complex128 } else { DenseDtype::Complex64 }
    }

    pub(crate) fn is_complex(self) -> bool {
        self == self.complex()
    }

    fn is_double(self) -> bool {
        matches!(self, DenseDtype::Float64 | DenseDtype::Complex128)
    }

    fn get(self, bytes: &[u8]) -> C {
        match self {
            DenseDtype::Float32 => f32::get(bytes).complex(),
            DenseDtype::Float64 => f64::get(bytes).complex(),
            DenseDtype::Complex64 => Complex::<f32>::get(bytes),
            DenseDtype::Complex128 => Complex::<f64>::get(bytes),
        }
    }

    fn put(self, x: C, bytes: &mut [u8]) {
        match self {
            DenseDtype::Float32 => f32::put(x.re, bytes),
            DenseDtype::Float64 => f64::put(x.re, bytes),
            DenseDtype::Complex64 => Complex::<f32>::put(x, bytes),
            DenseDtype::Complex128 => Complex::<f64>::put(x, bytes),
        }
    }
}

/// A matrix in column-major order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Columns {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    elements: Vec<C>,
}

impl Index<(usize, usize)> for Columns {
    type Output = C;

    fn index(&self, (row, column): (usize, usize)) -> &C {
        &self.elements[column * self.rows + row]
    }
}

impl IndexMut<(usize, usize)> for Columns {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut C {
        &mut self.elements[column * self.rows + row]
    }
}

impl Columns {
    pub(crate) fn zeros(rows: usize, columns: usize) -> Columns {
        Columns { rows, columns, elements: vec![C::ZERO; rows * columns] }
    }

    /// Returns the first `columns` columns of the identity matrix with `rows` rows.
    pub(crate) fn identity(rows: usize, columns: usize) -> Columns {
        Columns::made(rows, columns, |i, j| if i == j { C::ONE } else { C::ZERO })
    }

    /// Creates a matrix. Its element in row `i` and column `j` is `element(i, j)`.
    pub(crate) fn made(rows: usize, columns: usize, element: impl Fn(usize, usize) -> C) -> Columns {
        let mut out = Columns::zeros(rows, columns);
        for j in 0..columns {
            (0..rows).for_each(|i| out[(i, j)] = element(i, j));
        }
        out
    }

    pub(crate) fn column(&self, j: usize) -> &[C] {
        &self.elements[j * self.rows..][..self.rows]
    }

    pub(crate) fn column_mut(&mut self, j: usize) -> &mut [C] {
        &mut self.elements[j * self.rows..][..self.rows]
    }

    /// Returns the conjugate transpose.
    pub(crate) fn adjoint(&self) -> Columns {
        Columns::made(self.columns, self.rows, |i, j| self[(j, i)].conj())
    }

    /// Returns the product `self` times `other`.
    #[cfg(test)]
    pub(crate) fn times(&self, other: &Columns) -> Columns {
        let sum = |i: usize, j: usize| (0..self.columns).map(|k| self[(i, k)] * other[(k, j)]).sum();
        Columns::made(self.rows, other.columns, sum)
    }

    pub(crate) fn largest(&self) -> f64 {
        self.elements.iter().map(|x| x.norm()).fold(0.0, f64::max)
    }
}

/// Returns the quotient `x / y`. If `y` is real, the real and the imaginary part of `x` are each divided by this real
/// number.
pub(crate) fn quotient(x: C, y: C) -> C {
    if y.im == 0.0 { C::new(x.re / y.re, x.im / y.re) } else { x / y }
}

/// A column-major matrix in device memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) dtype: DenseDtype,
    pub(crate) address: u64,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Distance between columns in elements; at least the number of rows.
    pub(crate) leading: usize,
}

impl Place {
    /// Describes a list of `length` consecutive numbers as a matrix with one column.
    pub(crate) fn list(dtype: DenseDtype, address: u64, length: usize) -> Place {
        Place { dtype, address, rows: length, columns: usize::from(length > 0), leading: length }
    }

    /// Returns the `i`-th matrix after this one, in a batch of consecutive matrices.
    pub(crate) fn next(self, i: usize) -> Place {
        let bytes = i * self.leading * self.columns * self.dtype.size();
        Place { address: self.address + bytes as u64, ..self }
    }

    fn at(&self, column: usize) -> u64 {
        self.address + (column * self.leading * self.dtype.size()) as u64
    }

    pub(crate) fn read(&self, memory: &Memory) -> Result<Columns, Fault> {
        let (size, mut hint) = (self.dtype.size(), Hint::default());
        let mut out = Columns::zeros(self.rows, self.columns);
        if self.rows > 0 && self.columns > 0 {
            aligned(Access::Read, self.address, size)?;
        }
        for j in 0..self.columns {
            let bytes = memory.read(&mut hint, self.at(j), self.rows * size)?;
            out.column_mut(j).iter_mut().zip(bytes.chunks_exact(size)).for_each(|(x, b)| *x = self.dtype.get(b));
        }
        Ok(out)
    }

    pub(crate) fn write(&self, memory: &mut Memory, from: &Columns) -> Result<(), Fault> {
        let (size, mut hint) = (self.dtype.size(), Hint::default());
        if self.rows > 0 && self.columns > 0 {
            aligned(Access::Write, self.address, size)?;
        }
        for j in 0..self.columns {
            let bytes = memory.write(&mut hint, self.at(j), self.rows * size)?;
            bytes.chunks_exact_mut(size).zip(from.column(j)).for_each(|(b, &x)| self.dtype.put(x, b));
        }
        Ok(())
    }

    /// Writes a list of real numbers to this matrix, which must have one column.
    pub(crate) fn write_reals(&self, memory: &mut Memory, from: &[f64]) -> Result<(), Fault> {
        self.write(memory, &Columns { rows: self.rows, columns: 1, elements: from.iter().map(|&x| x.into()).collect() })
    }

    /// Writes a list of complex numbers to this matrix, which must have one column.
    pub(crate) fn write_list(&self, memory: &mut Memory, from: &[C]) -> Result<(), Fault> {
        self.write(memory, &Columns { rows: self.rows, columns: 1, elements: from.to_vec() })
    }
}

/// Writes integers of `size` bytes each.
pub(crate) fn write_integers(memory: &mut Memory, address: u64, size: usize, from: &[i64]) -> Result<(), Fault> {
    aligned(Access::Write, address, size)?;
    let bytes = memory.write(&mut Hint::default(), address, from.len() * size)?;
    let little = from.iter().flat_map(|x| x.to_le_bytes().into_iter().take(size));
    bytes.iter_mut().zip(little).for_each(|(to, from)| *to = from);
    Ok(())
}

/// Reads nonnegative integers of `size` bytes each.
pub(crate) fn read_integers(memory: &Memory, address: u64, size: usize, n: usize) -> Result<Vec<u64>, Fault> {
    aligned(Access::Read, address, size)?;
    let bytes = memory.read(&mut Hint::default(), address, n * size)?;
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
    Ok(bytes.chunks_exact(size).map(number).collect())
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{C, Columns};

    /// Pseudorandom numbers in [-1, 1), real or complex.
    pub(crate) fn noise(seed: u64, rows: usize, columns: usize, is_real: bool) -> Columns {
        let mut out = Columns::zeros(rows, columns);
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        for j in 0..columns {
            out.column_mut(j).iter_mut().for_each(|x| *x = C::new(next(), if is_real { 0.0 } else { next() }));
        }
        out
    }

    #[track_caller]
    pub(crate) fn near(x: &Columns, y: &Columns) {
        assert_eq!((x.rows, x.columns), (y.rows, y.columns));
        let off = x.elements.iter().zip(&y.elements).map(|(x, y)| (x - y).norm()).fold(0.0, f64::max);
        assert!(off < 1e-11, "off by {off}");
    }

    /// Numbers of rows and columns of matrices for tests.
    pub(crate) const SIZES: [(usize, usize); 7] = [(1, 1), (2, 2), (3, 3), (5, 3), (3, 5), (12, 12), (20, 7)];
}
