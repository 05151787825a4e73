//! Sparse matrices: values over the arrays of any backend.
