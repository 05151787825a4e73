//! Products of column-major matrices in device memory, computed by the definition as sums in double precision. The code
//! is independent of the backends, so that tests find mistakes of the backends.

use crate::{
    fault::{Access, Fault},
    memory::{Hint, Memory},
    stored::{Computed, Stored, aligned},
};
use half::{bf16, f16};
use num_complex::Complex;
use std::{ffi::c_void, fmt};

/// The dtype of the matrices of a product, which also determines the compute type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GemmDtype {
    Float16,
    BFloat16,
    Float32,
    Float64,
    Complex64,
    Complex128,
}

/// Returns the dtype for the numbers of a `cudaDataType` and a `cublasComputeType_t`; `None` if they cannot be
/// combined.
pub(super) fn kind(data: u32, compute: u32) -> Option<GemmDtype> {
    // compute type 68 has sums in 32 bits, and 70 in 64 bits; 69 and 71 are the "pedantic" variants of these types
    match (data, compute) {
        (2, 68 | 69) => Some(GemmDtype::Float16),
        (14, 68 | 69) => Some(GemmDtype::BFloat16),
        (0, 68 | 69) => Some(GemmDtype::Float32),
        (4, 68 | 69) => Some(GemmDtype::Complex64),
        (1, 70 | 71) => Some(GemmDtype::Float64),
        (5, 70 | 71) => Some(GemmDtype::Complex128),
        _ => None,
    }
}

/// The scalars `alpha` and `beta` of `C = alpha op(A) op(B) + beta C`, converted to complex numbers of double
/// precision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalars {
    alpha: Complex<f64>,
    beta: Complex<f64>,
}

impl Scalars {
    /// # Safety
    /// `alpha` and `beta` must point to numbers of the compute type of `kind`.
    pub(super) unsafe fn read(kind: GemmDtype, alpha: *const c_void, beta: *const c_void) -> Scalars {
        let read = |at: *const c_void| {
            // SAFETY: the caller guarantees that `alpha` and `beta` point to numbers of the compute type of `kind`.
            unsafe {
                match kind {
                    GemmDtype::Float16 | GemmDtype::BFloat16 | GemmDtype::Float32 => {
                        f64::from(at.cast::<f32>().read()).into()
                    }
                    GemmDtype::Float64 => at.cast::<f64>().read().into(),
                    GemmDtype::Complex64 => {
                        let [re, im] = at.cast::<[f32; 2]>().read();
                        Complex::new(f64::from(re), f64::from(im))
                    }
                    GemmDtype::Complex128 => {
                        let [re, im] = at.cast::<[f64; 2]>().read();
                        Complex::new(re, im)
                    }
                }
            }
        };
        Scalars { alpha: read(alpha), beta: read(beta) }
    }
}

/// The operation `op` that is applied to a stored matrix before the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    None,
    Transpose,
    Conjugate,
}

/// One operand of the products: a batch of stored matrices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    address: u64,
    operation: Operation,
    /// Distance between neighbouring columns, in elements.
    leading: i64,
    /// Distance between consecutive matrices of the batch, in elements.
    stride: i64,
}

impl Operand {
    /// Makes an operand from the arguments of a call; `operation` is the number of a `cublasOperation_t`. `None` if
    /// there is no such operation.
    pub(super) fn new(address: u64, operation: u32, leading: i64, stride: i64) -> Option<Operand> {
        let operation = match operation {
            0 => Operation::None,
            1 => Operation::Transpose,
            2 => Operation::Conjugate,
            _ => return None,
        };
        Some(Operand { address, operation, leading, stride })
    }

    /// Returns the numbers of rows and columns of the stored matrix, if the operand has the shape (`rows`, `columns`)
    /// after its operation.
    fn stored(&self, rows: i64, columns: i64) -> (i64, i64) {
        if self.operation == Operation::None { (rows, columns) } else { (columns, rows) }
    }

    /// Returns the address of a column of matrix number `batch`. An element has `size` bytes.
    fn column(&self, size: usize, batch: i64, column: i64) -> u64 {
        let elements = batch.wrapping_mul(self.stride).wrapping_add(column.wrapping_mul(self.leading));
        self.address.wrapping_add_signed(elements.wrapping_mul(size as i64))
    }
}

/// The arguments of a call, for `batches` products of an m x k matrix and a k x n matrix.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gemm {
    pub(super) m: i64,
    pub(super) n: i64,
    pub(super) k: i64,
    pub(super) batches: i64,
    pub(super) a: Operand,
    pub(super) b: Operand,
    pub(super) c: Operand,
}

impl fmt::Display for Gemm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Gemm { m, n, k, batches, a, b, c } = self;
        write!(f, "gemm m {m} n {n} k {k} batches {batches}")?;
        [("A", a), ("B", b), ("C", c)]
            .iter()
            .try_for_each(|(name, x)| write!(f, ", {name} {:?} ld {} stride {}", x.operation, x.leading, x.stride))
    }
}

impl Gemm {
    /// Returns whether cuBLAS accepts the arguments.
    pub(super) fn is_valid(&self) -> bool {
        let Gemm { m, n, k, batches, a, b, c } = *self;
        let fits = |x: &Operand, rows, columns| x.leading >= x.stored(rows, columns).0.max(1);
        let sizes = [m, n, k, batches].iter().all(|&size| size >= 0);
        let there =
            m == 0 || n == 0 || batches == 0 || (c.address != 0 && (k == 0 || (a.address != 0 && b.address != 0)));
        sizes && there && fits(&a, m, k) && fits(&b, k, n) && fits(&c, m, n)
    }

    /// Computes `C = alpha op(A) op(B) + beta C` for every batch.
    pub(super) fn run(&self, kind: GemmDtype, scalars: Scalars, memory: &mut Memory) -> Result<(), Fault> {
        if self.m == 0 || self.n == 0 || self.batches == 0 {
            return Ok(());
        }
        match kind {
            GemmDtype::Float16 => self.run_in::<f16>(scalars, memory),
            GemmDtype::BFloat16 => self.run_in::<bf16>(scalars, memory),
            GemmDtype::Float32 => self.run_in::<f32>(scalars, memory),
            GemmDtype::Float64 => self.run_in::<f64>(scalars, memory),
            GemmDtype::Complex64 => self.run_in::<Complex<f32>>(scalars, memory),
            GemmDtype::Complex128 => self.run_in::<Complex<f64>>(scalars, memory),
        }
    }

    fn run_in<T: Stored>(&self, scalars: Scalars, memory: &mut Memory) -> Result<(), Fault> {
        let Gemm { m, n, k, .. } = *self;
        let (alpha, beta) = (T::In::of(scalars.alpha), T::In::of(scalars.beta));
        let zero = T::In::of(Complex::ZERO);
        self.check_results(T::SIZE)?;
        let mut hint = Hint::default();
        for batch in 0..self.batches {
            // both factors are read in lines of k elements: rows of the left factor, and columns of the right factor
            let a = lines::<T>(&self.a, batch, m, k, Line::Row, memory)?;
            let b = lines::<T>(&self.b, batch, k, n, Line::Column, memory)?;
            for column in 0..n as usize {
                let right = &b[column * k as usize..][..k as usize];
                let address = self.c.column(T::SIZE, batch, column as i64);
                let bytes = memory.write(&mut hint, address, m as usize * T::SIZE)?;
                for (row, bytes) in bytes.chunks_exact_mut(T::SIZE).enumerate() {
                    let left = &a[row * k as usize..][..k as usize];
                    let product = left.iter().zip(right).fold(zero, |sum, (&x, &y)| sum + x * y);
                    let scaled = alpha * product;
                    // with beta = 0, C is not read, because it may contain NaN
                    T::put(if beta == zero { scaled } else { scaled + beta * T::get(bytes) }, bytes);
                }
            }
        }
        Ok(())
    }

    /// Checks that the columns of C do not overlap, and that C is aligned.
    fn check_results(&self, size: usize) -> Result<(), Fault> {
        let mut columns: Vec<u64> = (0..self.batches)
            .flat_map(|batch| (0..self.n).map(move |column| self.c.column(size, batch, column)))
            .collect();
        columns.sort_unstable();
        if columns.windows(2).any(|pair| pair[1] - pair[0] < self.m as u64 * size as u64) {
            return Err(Fault::Failed("columns of C overlap".to_string()));
        }
        aligned(Access::Write, self.c.address, size)
    }
}

/// The order in which `lines` returns the elements of a matrix: row by row, or column by column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    Row,
    Column,
}

/// Reads one matrix of an operand as contiguous rows or columns. `rows` and `columns` give the shape of the matrix
/// after the operand's operation.
fn lines<T: Stored>(
    x: &Operand,
    batch: i64,
    rows: i64,
    columns: i64,
    line: Line,
    memory: &Memory,
) -> Result<Vec<T::In>, Fault> {
    aligned(Access::Read, x.address, T::SIZE)?;
    let (stored_rows, stored_columns) = x.stored(rows, columns);
    let mut stored = Vec::with_capacity((stored_rows * stored_columns) as usize);
    let mut hint = Hint::default();
    for column in 0..stored_columns {
        let bytes = memory.read(&mut hint, x.column(T::SIZE, batch, column), stored_rows as usize * T::SIZE)?;
        stored.extend(bytes.chunks_exact(T::SIZE).map(T::get));
    }
    if x.operation == Operation::Conjugate {
        stored.iter_mut().for_each(|x| *x = T::In::of(x.complex().conj()));
    }
    // if the operand is transposed, the stored columns are the rows of the operand
    if (line == Line::Column) == (x.operation == Operation::None) {
        return Ok(stored);
    }
    let (height, width) = (stored_rows as usize, stored_columns as usize);
    Ok((0..height).flat_map(|row| (0..width).map(move |column| row + column * height)).map(|at| stored[at]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::testing::{download, upload};

    fn real(alpha: f64, beta: f64) -> Scalars {
        Scalars { alpha: alpha.into(), beta: beta.into() }
    }

    /// Returns the element (row, column) of matrix number `batch` after the operand's operation. It is computed by the
    /// definition.
    fn at<V: Computed>(x: &[V], operand: &Operand, batch: i64, row: i64, column: i64) -> V {
        let (stored_row, stored_column) = operand.stored(row, column);
        let x = x[(batch * operand.stride + stored_row + stored_column * operand.leading) as usize];
        if operand.operation == Operation::Conjugate { V::of(x.complex().conj()) } else { x }
    }

    /// Compares products for all combinations of operations with the definition. In memory, there are gaps after the
    /// columns of a matrix and between the matrices of a batch.
    fn compare<T: Stored>(kind: GemmDtype, number: impl Fn(usize) -> T::In, scalars: Scalars) {
        let (m, n, k, batches) = (3, 4, 2, 2);
        let numbers = |count: usize, seed: usize| (0..count).map(|i| number(i + seed)).collect::<Vec<_>>();
        for operations in 0..9 {
            let mut memory = Memory::new(0, 1 << 20);
            let (x, y, z) = (numbers(60, 0), numbers(60, 7), numbers(60, 3));
            let [a, b, c] = [&x, &y, &z].map(|numbers| upload::<T>(&mut memory, numbers));
            let gemm = Gemm {
                m,
                n,
                k,
                batches,
                a: Operand::new(a, operations % 3, 5, 20).unwrap(),
                b: Operand::new(b, operations / 3, 6, 25).unwrap(),
                c: Operand::new(c, 0, 4, 21).unwrap(),
            };
            assert!(gemm.is_valid());
            gemm.run(kind, scalars, &mut memory).unwrap();
            let mut expected = z.clone();
            let (alpha, beta) = (T::In::of(scalars.alpha), T::In::of(scalars.beta));
            for batch in 0..batches {
                for row in 0..m {
                    for column in 0..n {
                        let term = |l| at(&x, &gemm.a, batch, row, l) * at(&y, &gemm.b, batch, l, column);
                        let sum = (0..k).map(term).fold(T::In::of(Complex::ZERO), |sum, term| sum + term);
                        let place = &mut expected[(batch * 21 + row + column * 4) as usize];
                        *place = alpha * sum + beta * *place;
                    }
                }
            }
            // the numbers are small integers, so the comparison is exact; the gaps between columns must keep their
            // values
            assert!(download::<T>(&memory, c, 60) == expected, "{gemm}");
        }
    }

    #[test]
    fn products_are_those_of_the_definition() {
        let small = |i: usize| (i * 7 % 11) as f64 - 5.0;
        let complex = |i: usize| Complex::new(small(i), small(i + 1));
        compare::<f32>(GemmDtype::Float32, small, real(1.0, 0.0));
        compare::<f32>(GemmDtype::Float32, small, real(2.0, -1.0));
        compare::<f16>(GemmDtype::Float16, small, real(1.0, 1.0));
        compare::<bf16>(GemmDtype::BFloat16, small, real(1.0, 0.0));
        compare::<f64>(GemmDtype::Float64, small, real(3.0, 2.0));
        let scalars = Scalars { alpha: Complex::new(1.0, 2.0), beta: Complex::new(0.0, -1.0) };
        compare::<Complex<f32>>(GemmDtype::Complex64, complex, scalars);
        compare::<Complex<f64>>(GemmDtype::Complex128, complex, scalars);
    }

    fn square(a: u64, b: u64, c: u64) -> Gemm {
        let [a, b, c] = [a, b, c].map(|address| Operand::new(address, 0, 2, 4).unwrap());
        Gemm { m: 2, n: 2, k: 2, batches: 1, a, b, c }
    }

    #[test]
    fn what_is_in_the_result_before_is_nothing_where_it_is_multiplied_with_0() {
        let mut memory = Memory::new(0, 1 << 20);
        let one = upload::<f32>(&mut memory, &[1.0, 0.0, 0.0, 1.0]);
        let c = upload::<f32>(&mut memory, &[f64::NAN; 4]);
        square(one, one, c).run(GemmDtype::Float32, real(1.0, 0.0), &mut memory).unwrap();
        assert_eq!(download::<f32>(&memory, c, 4), [1.0, 0.0, 0.0, 1.0]);
        let none = Gemm { k: 0, ..square(one, one, c) };
        none.run(GemmDtype::Float32, real(1.0, 2.0), &mut memory).unwrap();
        assert_eq!(download::<f32>(&memory, c, 4), [2.0, 0.0, 0.0, 2.0], "no terms");
    }

    #[test]
    fn accesses_beyond_the_memory_are_seen() {
        let mut memory = Memory::new(0, 1 << 20);
        let whole = upload::<f32>(&mut memory, &[1.0; 4]);
        let short = upload::<f32>(&mut memory, &[1.0; 3]);
        let mut run =
            |gemm: Gemm| gemm.run(GemmDtype::Float32, real(1.0, 0.0), &mut memory).map_err(|fault| fault.code());
        assert_eq!(run(square(whole, whole, whole)), Ok(()));
        for [a, b, c] in [[short, whole, whole], [whole, short, whole], [whole, whole, short]] {
            assert_eq!(run(square(a, b, c)), Err(700));
        }
        assert_eq!(run(square(whole + 2, whole, whole)), Err(716));
        let mut twice = Gemm { batches: 2, ..square(whole, whole, whole) };
        (twice.a.stride, twice.b.stride, twice.c.stride) = (0, 0, 0);
        assert_eq!(run(twice), Err(719), "both batches have one result");
    }

    #[test]
    fn arguments_that_the_library_refuses() {
        let good = square(16, 16, 16);
        assert!(good.is_valid());
        assert!(!Gemm { m: -1, ..good }.is_valid());
        assert!(!Gemm { batches: -1, ..good }.is_valid());
        assert!(!Gemm { m: 3, ..good }.is_valid(), "more rows than from column to column");
        assert!(Gemm { n: 9, ..good }.is_valid());
        assert!(!square(0, 16, 16).is_valid());
        assert!(Gemm { k: 0, ..square(0, 0, 16) }.is_valid());
        assert!(Operand::new(16, 3, 2, 4).is_none());
        assert_eq!(kind(0, 68), Some(GemmDtype::Float32));
        assert_eq!(kind(0, 70), None);
        assert_eq!(kind(3, 72), None);
    }
}
