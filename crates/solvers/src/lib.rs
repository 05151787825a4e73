//! Sparse matrices, linear solvers, minimisation and differential equations, over any backend, with gradients.

mod dtype;
pub mod linear;
pub mod minimize;
pub mod ode;
pub mod sparse;

/// Runs the examples of the guide `docs/solvers.md` as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/solvers.md")]
struct Guide;
