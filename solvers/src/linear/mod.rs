//! Systems of linear equations: `A x = y`, with matrices or with functions that multiply by one.
//!
//! [`Solve`] has the options and runs the [`Method`]s; [`Solution`] is what they give, and how they came to it. Operators are arrays, sparse matrices, functions, or types of
//! yours with [`LinearOperator`]. [`Preconditioner`]s make iterations fewer. Everything runs on any backend, and has gradients.

mod bicgstab;
mod cg;
mod csr;
mod direct;
mod gmres;
mod gradient;
mod grid;
mod minres;
mod monitor;
mod operator;
mod passes;
mod precondition;
mod scale;
mod solution;
mod solve;
mod sparse;
mod system;

pub use csr::HostCsr;
pub use grid::{GridBoundary, Laplacian};
pub use operator::{AFunction, AnArray, AnOperator, Dense, IntoOperator, LinearOperator, Matrix, MatrixFree};
pub use precondition::{IncompleteCholesky, IncompleteLu, Jacobi, Multigrid, Preconditioner};
pub use solution::{Progress, Reason, Solution};
pub use solve::{Method, Solve};

/// What errors call it.
const OP: &str = "Solve";
