//! `Display` and `Debug` for sparse matrices.

use super::{coo::Coo, csc::Csc, csr::Csr, dia::Dia};
use backends::{Backend, Numeric};
use std::fmt;

/// Implements `Display`, which names shape, dtype, number of elements and format, and `Debug`, which shows the arrays.
macro_rules! shown {
    ($($matrix:ident $format:literal: $($part:ident),*;)*) => {$(
        impl<B: Backend, T: Numeric> fmt::Display for $matrix<B, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let [rows, columns] = self.shape();
                let (dtype, stored) = (self.dtype(), self.nnz());
                write!(f, "{rows} x {columns} sparse matrix of {dtype}, {stored} elements stored as {}", $format)
            }
        }

        impl<B: Backend, T: Numeric> fmt::Debug for $matrix<B, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($matrix))
                    .field("shape", &self.shape())
                    $(.field(stringify!($part), &self.$part()))*
                    .finish()
            }
        }
    )*};
}
shown! {
    Coo "COO": values, row_indices, column_indices;
    Csr "CSR": values, indices, indptr;
    Csc "CSC": values, indices, indptr;
    Dia "DIA": values, offsets;
}
