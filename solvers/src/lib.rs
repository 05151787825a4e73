//! Sparse matrices, linear solvers, minimisation and differential equations, over any backend, with gradients.

pub mod linear;
pub mod minimize;
pub mod ode;
pub mod sparse;
