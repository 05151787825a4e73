//! Sparse matrices, linear solvers, minimisation, differential equations and searches among points, over any backend.

mod dtype;
pub mod linear;
pub mod minimize;
pub mod ode;
pub mod sparse;
pub mod spatial;

/// Runs the examples of the guide `docs/solvers.md` as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/solvers.md")]
struct Guide;
