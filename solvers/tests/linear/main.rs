//! Linear solvers, against recorded results of Phi-ML and SciPy, against dense solves, and on systems that fail.

mod cases;
mod common;
mod gradients;
mod inconsistent;
mod preconditioners;
mod reference;
mod sparse;
mod truth;
