//! Tests of the linear solvers: recorded results of Phi-ML and SciPy, comparisons with dense solves, and solves that
//! fail.

mod cases;
mod common;
mod gradients;
mod inconsistent;
mod preconditioners;
mod reference;
mod sparse;
mod truth;
