//! Ordinary differential equations.
