//! Systems of linear equations.
