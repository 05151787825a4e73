//! Systems of linear equations `A x = y`, where `A` is a matrix or a function that computes the product `A x`.
//!
//! [`Solve`] has the options and runs the [`Method`]s; [`Solution`] is the result, with a report. Operators are arrays,
//! sparse matrices, functions, or your own types with [`LinearOperator`]. [`Preconditioner`]s reduce the number of
//! iterations. Everything runs on any backend, and has gradients.

mod bicgstab;
mod cg;
mod csr;
mod direct;
mod gmres;
mod gradient;
mod grid;
mod method;
mod minres;
mod monitor;
mod operator;
mod pass;
mod passes;
mod precondition;
mod scale;
mod solution;
mod solve;
mod sparse;
mod system;

pub use csr::HostCsr;
pub use grid::{GridBoundary, Laplacian};
pub use method::Method;
pub use operator::{AFunction, AnArray, AnOperator, Dense, IntoOperator, LinearOperator, Matrix, MatrixFree};
pub use precondition::{IncompleteCholesky, IncompleteLu, Jacobi, Multigrid, Preconditioner};
pub use solution::{Progress, Reason, Solution};
pub use solve::Solve;

/// The name of the op in error messages.
const OP: &str = "Solve";
