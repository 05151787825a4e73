//! Sparse matrices, stored in arrays of any backend.
//!
//! A matrix consists of a few arrays of the backend: the stored values, and their positions as arrays of `i64`. Every
//! method takes the backend, like an op, and runs on all backends, including `Diff`: gradients pass through the values.
//!
//! | type | stores | good for |
//! |---|---|---|
//! | [`Coo`] | value, row and column of each element | construction; duplicates are allowed, and add up |
//! | [`Csr`] | the rows one after another | products, selecting rows |
//! | [`Csc`] | the columns one after another | products with the transpose, selecting columns |
//! | [`Dia`] | whole diagonals | stencils on grids |
//!
//! ```
//! use backends::{Error, prelude::*};
//! use backends_solvers::sparse::Coo;
//!
//! let b = Numpyish::new();
//! // [[2, 0], [1, 3]]
//! let a = Coo::from_triplets(&b, [(0, 0, 2.0), (1, 0, 1.0), (1, 1, 3.0)], [2, 2])?.to_csr(&b)?;
//! assert_eq!(a.matmul(&b, &b.asarray([1.0, 10.0])?)?, b.asarray([2.0, 31.0])?);
//! # Ok::<(), Error>(())
//! ```
//!
//! The guide is `docs/sparse.md`.

mod arithmetic;
mod components;
mod coo;
mod csc;
mod csr;
mod dia;
mod gradients;
mod parts;
mod show;
mod structure;

pub use components::{Components, Connection, connected_components};
pub use coo::{Coo, kron};
pub use csc::Csc;
pub use csr::Csr;
pub use dia::Dia;

/// Runs the examples of the guide `docs/sparse.md` as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/sparse.md")]
struct Guide;
